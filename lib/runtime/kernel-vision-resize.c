/* Resize and Upsample: where each output position lies in the input, and what is made of its neighbours there. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"
#include "shapes/resize.h"

typedef enum Mode { MODE_NEAREST, MODE_LINEAR, MODE_CUBIC } Mode;

typedef enum Transform {
  TRANSFORM_HALF_PIXEL,
  TRANSFORM_HALF_PIXEL_SYMMETRIC,
  TRANSFORM_PYTORCH_HALF_PIXEL,
  TRANSFORM_HALF_PIXEL_FOR_NEAREST,
  TRANSFORM_ALIGN_CORNERS,
  TRANSFORM_ASYMMETRIC,
  TRANSFORM_CROP,
} Transform;

typedef enum Rounding { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL, ROUND_BY_DIRECTION } Rounding;

typedef struct Resize {
  Mode mode;
  Transform transform;
  Rounding rounding; /* of MODE_NEAREST; by direction: up when the axis shrinks, down else, as before opset 11 */
  bool antialias;
  bool exclude_outside;
  double cubic_a;
  double extrapolation;
  int64_t out[ONNXL_MAX_RANK];
  float scale[ONNXL_MAX_RANK];
  float start[ONNXL_MAX_RANK], end[ONNXL_MAX_RANK]; /* region of interest, of TRANSFORM_CROP */
} Resize;

/* --- attributes and inputs --- */

static bool
pick(const OnnxlKernelContext *context, const char *attribute, OnnxlStr name, const char *const *names, size_t n,
     int *ret_choice, GError **error)
{
  for (size_t i = 0; i < n; i++)
    if (names[i] && onnxl_str_is(name, names[i])) {
      *ret_choice = (int)i;
      return true;
    }
  return onnxl_ctx_invalid(context, error, "%s is \"%.*s\"", attribute, ONNXL_ARG(name));
}

static bool
read_modes(OnnxlKernelContext *context, Resize *r, GError **error)
{
  static const char *const modes[] = { "nearest", "linear", "cubic" };
  static const char *const transforms[] = { "half_pixel",           "half_pixel_symmetric", "pytorch_half_pixel",
                                            "tf_half_pixel_for_nn", "align_corners",        "asymmetric",
                                            "tf_crop_and_resize" };
  static const char *const roundings[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil" };
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  int choice;
  if (onnxl_str_is(mode, "bilinear") && onnxl_ctx_schema(context)->since == 1)
    mode = ONNXL_STR("linear");
  if (!pick(context, "mode", mode, modes, G_N_ELEMENTS(modes), &choice, error))
    return false;
  r->mode = (Mode)choice;
  if (onnxl_ctx_schema(context)->since < 11) {
    r->transform = TRANSFORM_ASYMMETRIC;
    r->rounding = ROUND_BY_DIRECTION;
    return true;
  }
  OnnxlStr transform = onnxl_ctx_string(context, "coordinate_transformation_mode");
  if (!pick(context, "coordinate_transformation_mode", transform, transforms, G_N_ELEMENTS(transforms), &choice, error))
    return false;
  r->transform = (Transform)choice;
  OnnxlStr rounding = onnxl_ctx_string(context, "nearest_mode");
  if (!pick(context, "nearest_mode", rounding, roundings, G_N_ELEMENTS(roundings), &choice, error))
    return false;
  r->rounding = (Rounding)choice;
  r->cubic_a = onnxl_ctx_float(context, "cubic_coeff_a");
  r->exclude_outside = onnxl_ctx_int(context, "exclude_outside") != 0;
  r->extrapolation = onnxl_ctx_float(context, "extrapolation_value");
  r->antialias = onnxl_ctx_int(context, "antialias") != 0;
  if (r->antialias && r->mode == MODE_NEAREST)
    return onnxl_ctx_invalid(context, error, "antialias has no meaning in the mode \"nearest\"");
  return true;
}

static bool
scale_axis(const OnnxlKernelContext *context, Resize *r, int64_t axis, int64_t size, float scale, GError **error)
{
  if (!(scale > 0) || !isfinite(scale))
    return onnxl_ctx_invalid(context, error, "the scale of axis %" G_GINT64_FORMAT " is %g", axis, (double)scale);
  r->scale[axis] = scale;
  if (!onnxl_resize_scaled(size, scale, &r->out[axis]))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "axis %" G_GINT64_FORMAT " would be too long", axis);
  return true;
}

/* Sizes that are given, of n axes. */
static bool
fit_sizes(OnnxlKernelContext *context, Resize *r, const OnnxlValue *x, const int64_t *axes, int64_t n,
          const OnnxlValue *sizes, GError **error)
{
  OnnxlStr policy = onnxl_ctx_string(context, "keep_aspect_ratio_policy");
  OnnxlAspect aspect;
  int64_t from[ONNXL_MAX_RANK], to[ONNXL_MAX_RANK], fitted[ONNXL_MAX_RANK];
  float scales[ONNXL_MAX_RANK];
  if (!onnxl_aspect_parse(policy, &aspect))
    return onnxl_ctx_invalid(context, error, "keep_aspect_ratio_policy is \"%.*s\"", ONNXL_ARG(policy));
  onnxl_tensor_read_int64(sizes, 0, (size_t)n, to);
  for (int64_t i = 0; i < n; i++)
    from[i] = x->dims[axes[i]];
  if (!onnxl_resize_fitted(from, to, (size_t)n, aspect, fitted, scales)) {
    char *text = onnxl_dims_text(from, (size_t)n), *wanted = onnxl_dims_text(to, (size_t)n);
    onnxl_ctx_invalid(context, error, "axes of the sizes %s cannot get the sizes %s", text, wanted);
    g_free(text);
    g_free(wanted);
    return false;
  }
  for (int64_t i = 0; i < n; i++) {
    r->out[axes[i]] = fitted[i];
    r->scale[axes[i]] = scales[i];
  }
  return true;
}

static bool
read_axes(const OnnxlKernelContext *context, uint32_t rank, int64_t axes[ONNXL_MAX_RANK], int64_t *ret_n,
          GError **error)
{
  OnnxlInt64List list = onnxl_ctx_ints(context, "axes");
  bool seen[ONNXL_MAX_RANK] = { false };
  if (list.count > rank)
    return onnxl_ctx_invalid(context, error, "%zu axes are named of a tensor of rank %u", list.count, rank);
  *ret_n = list.count > 0 ? (int64_t)list.count : rank;
  for (int64_t i = 0; i < *ret_n; i++) {
    axes[i] = i;
    if (list.count > 0 && !onnxl_ctx_axis(context, list.items[i], rank, &axes[i], error))
      return false;
    if (seen[axes[i]])
      return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is named twice", axes[i]);
    seen[axes[i]] = true;
  }
  return true;
}

static bool
read_sizes(OnnxlKernelContext *context, const OnnxlValue *x, Resize *r, GError **error)
{
  int32_t since = onnxl_ctx_schema(context)->since;
  const OnnxlValue *roi = since >= 11 ? onnxl_ctx_input(context, 1) : NULL;
  const OnnxlValue *scales = onnxl_ctx_input(context, since >= 11 ? 2 : 1), *sizes = onnxl_ctx_input(context, 3);
  OnnxlFloatList list = onnxl_ctx_floats(context, "scales");
  int64_t axes[ONNXL_MAX_RANK], n = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    r->out[i] = x->dims[i];
    r->scale[i] = 1;
    r->start[i] = 0;
    r->end[i] = 1;
  }
  if (since == 1) {
    if (x->rank != 4)
      return onnxl_ctx_invalid(context, error, "the input has rank %u when 4 is needed", x->rank);
    return scale_axis(context, r, 2, x->dims[2], onnxl_ctx_float(context, "height_scale"), error) &&
           scale_axis(context, r, 3, x->dims[3], onnxl_ctx_float(context, "width_scale"), error);
  }
  if (!read_axes(context, x->rank, axes, &n, error))
    return false;
  bool has_scales = scales ? scales->count > 0 : list.count > 0, has_sizes = sizes && sizes->count > 0;
  int64_t count = has_sizes ? sizes->count : scales ? scales->count : (int64_t)list.count;
  if (has_scales && has_sizes)
    return onnxl_ctx_invalid(context, error, "both scales and sizes are given");
  if (count != n)
    return onnxl_ctx_invalid(context, error, "%s has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " axes",
                             has_sizes ? "sizes" : "scales", count, n);
  if (has_sizes && !fit_sizes(context, r, x, axes, n, sizes, error))
    return false;
  for (int64_t i = 0; !has_sizes && i < n; i++)
    if (!scale_axis(context, r, axes[i], x->dims[axes[i]], scales ? ((const float *)scales->data)[i] : list.items[i],
                    error))
      return false;
  if (r->transform != TRANSFORM_CROP)
    return true;
  if (!roi || roi->count != 2 * n)
    return onnxl_ctx_invalid(context, error, "roi has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " axes",
                             roi ? roi->count : 0, n);
  for (int64_t i = 0; i < n; i++) {
    r->start[axes[i]] = (float)onnxl_tensor_double(roi, i);
    r->end[axes[i]] = (float)onnxl_tensor_double(roi, n + i);
  }
  return true;
}

/* --- coordinates --- */

/* Where position x of the output lies on an axis of the input. In float, as the scales are. */
static float
source_coordinate(const Resize *r, uint32_t axis, int64_t in, int64_t x)
{
  float scale = r->scale[axis], length = (float)in, out = (float)r->out[axis], at = (float)x;
  float exact = scale * length; /* the length before it was cut to whole positions */
  switch (r->transform) {
  case TRANSFORM_HALF_PIXEL:
    return (at + 0.5f) / scale - 0.5f;
  case TRANSFORM_HALF_PIXEL_SYMMETRIC: {
    /* The centers meet, also when the output had to be rounded to whole positions. */
    float adjustment = out / exact;
    return length / 2 * (1 - adjustment) + (at + 0.5f) / scale - 0.5f;
  }
  case TRANSFORM_PYTORCH_HALF_PIXEL:
    return r->out[axis] > 1 ? (at + 0.5f) / scale - 0.5f : 0;
  case TRANSFORM_HALF_PIXEL_FOR_NEAREST:
    return (at + 0.5f) / scale;
  case TRANSFORM_ALIGN_CORNERS:
    return r->out[axis] > 1 ? at * (length - 1) / (exact - 1) : 0;
  case TRANSFORM_ASYMMETRIC:
    return at / scale;
  default:
    if (r->out[axis] > 1)
      return r->start[axis] * (length - 1) + at * (r->end[axis] - r->start[axis]) * (length - 1) / (exact - 1);
    return 0.5f * (r->start[axis] + r->end[axis]) * (length - 1);
  }
}

/* Whether the position is cut off by the region of interest, so that it gets the extrapolation value. */
static bool
is_outside(const Resize *r, int64_t in, float x)
{
  return r->transform == TRANSFORM_CROP && !(x >= 0 && x <= (float)(in - 1));
}

static int64_t
nearest_index(const Resize *r, uint32_t axis, int64_t in, float x)
{
  Rounding rounding = r->rounding;
  if (rounding == ROUND_BY_DIRECTION)
    rounding = r->scale[axis] < 1 ? ROUND_CEIL : ROUND_FLOOR;
  double v = rounding == ROUND_FLOOR         ? floor(x)
             : rounding == ROUND_CEIL        ? ceil(x)
             : rounding == ROUND_PREFER_CEIL ? floor((double)x + 0.5)
                                             : ceil((double)x - 0.5);
  return v >= 0 ? (int64_t)MIN(v, (double)(in - 1)) : 0;
}

/* An axis that is not resized. Taken literally tf_half_pixel_for_nn would shift it by half a position. */
static bool
is_identity(const Resize *r, uint32_t axis, int64_t in)
{
  return r->out[axis] == in && r->scale[axis] == 1 &&
         (r->transform != TRANSFORM_CROP || (r->start[axis] == 0 && r->end[axis] == 1));
}

/* --- nearest neighbour --- */

/* Copies one row; at: offset of its first element in x, or -1; table: offsets on the last axis, or -1. */
static void
copy_row(char *to, const char *from, int64_t at, const int64_t *table, int64_t n, const char *constant, size_t size)
{
#define COPY(bytes, T)                                                                                   \
  if (size == bytes) {                                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                      \
      memcpy(to + i * bytes, at < 0 || table[i] < 0 ? constant : from + (at + table[i]) * bytes, bytes); \
    return;                                                                                              \
  }
  ONNXL_MOVED_SIZES(COPY)
#undef COPY
}

static bool
resize_nearest(OnnxlKernelContext *context, const Resize *r, const OnnxlValue *x, OnnxlValue *y, GError **error)
{
  int64_t *tables[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK], index[ONNXL_MAX_RANK] = { 0 };
  size_t size = onnxl_element_size(x);
  char constant[sizeof(Bytes16)] = { 0 };
  if (x->rank == 0) {
    memcpy(y->data, x->data, size);
    return true;
  }
  if (x->elem_type == ONNXL_TYPE_STRING)
    memcpy(constant, &ONNXL_STR(""), sizeof(OnnxlStr));
  else if (r->extrapolation != 0) {
    OnnxlValue *number = onnxl_value_new_tensor(onnxl_ctx_allocator(context), x->elem_type, 0, NULL, "a number", error);
    if (!number)
      return false;
    memset(number->data, 0, number->bytes);
    onnxl_tensor_set_part(number, 0, r->extrapolation);
    memcpy(constant, number->data, size);
    onnxl_value_unref(number);
  }
  onnxl_strides(x->dims, x->rank, strides);
  for (uint32_t i = 0; i < x->rank; i++) {
    tables[i] = onnxl_ctx_scratch(context, (uint64_t)r->out[i], sizeof *tables[i], error);
    if (!tables[i])
      return false;
    for (int64_t j = 0; j < r->out[i]; j++) {
      float at = is_identity(r, i, x->dims[i]) ? 0 : source_coordinate(r, i, x->dims[i], j);
      int64_t from = is_identity(r, i, x->dims[i]) ? j : nearest_index(r, i, x->dims[i], at);
      tables[i][j] = is_outside(r, x->dims[i], at) ? -1 : from * strides[i];
    }
  }
  uint32_t last = x->rank - 1;
  int64_t row = r->out[last];
  for (int64_t done = 0; done < y->count; done += row) {
    int64_t at = 0;
    for (uint32_t i = 0; i < last; i++)
      at = at < 0 || tables[i][index[i]] < 0 ? -1 : at + tables[i][index[i]];
    copy_row((char *)y->data + done * (int64_t)size, x->data, at, tables[last], row, constant, size);
    for (uint32_t i = last; i-- > 0 && ++index[i] == r->out[i];)
      index[i] = 0;
  }
  return true;
}

/* --- interpolation --- */

/* What each position of an axis is made of: a run of input positions and their weights. */
typedef struct Taps {
  int64_t *first;
  int64_t *count;
  double *weights; /* max of them for each position */
  int64_t max;
  bool *outside;
} Taps;

static double
cubic_weight(double a, double distance)
{
  double x = fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double
weight(const Resize *r, double distance)
{
  return r->mode == MODE_CUBIC ? cubic_weight(r->cubic_a, distance) : MAX(1 - fabs(distance), 0);
}

/* Weights around x. Those outside the axis go to its ends, or are left out and the rest made to sum up to 1. */
static void
weigh(const Resize *r, int64_t in, double x, double stretch, Taps *taps, int64_t j)
{
  double radius = (r->mode == MODE_CUBIC ? 2 : 1) * stretch;
  double low = ceil(x - radius), high = floor(x + radius), end = (double)(in - 1), sum = 0;
  int64_t first = (int64_t)CLAMP(low, 0, end), last = (int64_t)CLAMP(high, 0, end);
  double *w = taps->weights + j * taps->max;
  taps->first[j] = first;
  taps->count[j] = last - first + 1;
  memset(w, 0, (size_t)taps->count[j] * sizeof *w);
  for (double i = low; i <= high; i++) {
    if (r->exclude_outside && (i < 0 || i > end))
      continue;
    double value = weight(r, (i - x) / stretch);
    w[(int64_t)CLAMP(i, 0, end) - first] += value;
    sum += value;
  }
  for (int64_t i = 0; (r->exclude_outside || r->antialias) && sum != 0 && i < taps->count[j]; i++)
    w[i] /= sum;
}

static bool
make_taps(OnnxlKernelContext *context, const Resize *r, uint32_t axis, int64_t in, Taps *taps, GError **error)
{
  int64_t out = r->out[axis];
  double stretch = r->antialias && r->scale[axis] < 1 ? 1 / (double)r->scale[axis] : 1;
  double span = 2 * (r->mode == MODE_CUBIC ? 2 : 1) * stretch + 2;
  taps->max = (int64_t)MIN(span, (double)in);
  taps->first = onnxl_ctx_scratch(context, (uint64_t)out, sizeof *taps->first, error);
  taps->count = taps->first ? onnxl_ctx_scratch(context, (uint64_t)out, sizeof *taps->count, error) : NULL;
  taps->outside = taps->count ? onnxl_ctx_scratch(context, (uint64_t)out, sizeof *taps->outside, error) : NULL;
  uint64_t count;
  if (__builtin_mul_overflow((uint64_t)out, (uint64_t)taps->max, &count))
    count = UINT64_MAX;
  taps->weights = taps->outside ? onnxl_ctx_scratch(context, count, sizeof *taps->weights, error) : NULL;
  for (int64_t j = 0; taps->weights && j < out; j++) {
    float x = source_coordinate(r, axis, in, j);
    taps->outside[j] = is_outside(r, in, x);
    /* What lies far outside sees only the end of the axis; this also keeps the numbers small. */
    weigh(r, in, taps->outside[j] ? 0 : CLAMP((double)x, -2 * stretch - 2, (double)in + 2 * stretch + 2), stretch, taps,
          j);
  }
  return taps->weights != NULL;
}

/* to[outer, out, inner] from from[outer, in, inner]. parts: numbers of an element, of which extrapolation is the first.
 */
static void
interpolate_axis(const Taps *taps, double extrapolation, const double *from, double *to, int64_t outer, int64_t in,
                 int64_t out, int64_t inner, int64_t parts)
{
  for (int64_t o = 0; o < outer; o++)
    for (int64_t j = 0; j < out; j++) {
      double *row = to + (o * out + j) * inner;
      for (int64_t i = 0; i < inner; i++)
        row[i] = taps->outside[j] && i % parts == 0 ? extrapolation : 0;
      for (int64_t t = 0; !taps->outside[j] && t < taps->count[j]; t++) {
        const double *source = from + (o * in + taps->first[j] + t) * inner;
        double w = taps->weights[j * taps->max + t];
        for (int64_t i = 0; i < inner; i++)
          row[i] += w * source[i];
      }
    }
}

static bool
resize_smooth(OnnxlKernelContext *context, const Resize *r, const OnnxlValue *x, OnnxlValue *y, GError **error)
{
  if (x->elem_type == ONNXL_TYPE_STRING)
    return onnxl_ctx_invalid(context, error, "strings cannot be interpolated: mode must be \"nearest\"");
  /* The parts of complex numbers lie side by side like a last axis of two. */
  const int64_t parts = onnxl_type_is_complex(x->elem_type) ? 2 : 1;
  int64_t inner = parts, outer = x->count;
  double *from = onnxl_ctx_scratch(context, (uint64_t)onnxl_tensor_n_parts(x), sizeof *from, error);
  for (int64_t i = 0; from && i < onnxl_tensor_n_parts(x); i++)
    from[i] = onnxl_tensor_part(x, i);
  for (uint32_t i = x->rank; from && i-- > 0;) {
    outer /= x->dims[i];
    if (is_identity(r, i, x->dims[i])) {
      inner *= x->dims[i];
      continue;
    }
    Taps taps;
    uint64_t count;
    if (__builtin_mul_overflow((uint64_t)outer, (uint64_t)r->out[i], &count) ||
        __builtin_mul_overflow(count, (uint64_t)inner, &count))
      count = UINT64_MAX;
    double *to = onnxl_ctx_scratch(context, count, sizeof *to, error);
    if (!to || !make_taps(context, r, i, x->dims[i], &taps, error))
      return false;
    interpolate_axis(&taps, r->extrapolation, from, to, outer, x->dims[i], r->out[i], inner, parts);
    inner *= r->out[i];
    from = to;
  }
  for (int64_t i = 0; from && i < onnxl_tensor_n_parts(y); i++)
    onnxl_tensor_set_part(y, i, from[i]);
  return from != NULL;
}

static bool
run_resize(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  Resize r = { 0 };
  if (!read_modes(context, &r, error) || !read_sizes(context, x, &r, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, r.out, error);
  if (!y || y->count == 0)
    return y != NULL;
  if (x->count == 0)
    return onnxl_ctx_invalid(context, error, "an empty input has nothing to fill the output with");
  return r.mode == MODE_NEAREST ? resize_nearest(context, &r, x, y, error) : resize_smooth(context, &r, x, y, error);
}
ONNXL_KERNEL(resize, EXACT);
