/* GridSample: an image looked up at arbitrary places; AffineGrid: the places of a transformed image. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"

enum { MAX_AXES = 8, MAX_TAPS = 4 };

typedef enum Mode { MODE_NEAREST = 1, MODE_LINEAR = 2, MODE_CUBIC = 4 } Mode; /* how many neighbours along an axis */

typedef enum Padding { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION } Padding;

typedef struct Sampler {
  Mode mode;
  Padding padding;
  bool align_corners;
  uint32_t axes;
  int64_t sizes[MAX_AXES];
} Sampler;

/* The neighbours of a place along one axis; index -1: outside, where there is zero. */
typedef struct Neighbours {
  int64_t index[MAX_TAPS];
  double weight[MAX_TAPS];
} Neighbours;

static double
reflect(double x, double low, double high)
{
  double range = high - low;
  if (!(range > 0))
    return low;
  if (x >= low && x <= high)
    return x;
  double distance = x < low ? low - x : x - high, times = floor(distance / range), rest = distance - times * range;
  bool even = fmod(times, 2) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

static int64_t
pad_index(const Sampler *s, uint32_t axis, double i)
{
  double end = (double)(s->sizes[axis] - 1);
  if (i >= 0 && i <= end)
    return (int64_t)i;
  if (s->padding == PADDING_ZEROS)
    return -1;
  if (s->padding == PADDING_REFLECTION)
    i = trunc(s->align_corners ? reflect(i, 0, end) : reflect(i, -0.5, end + 0.5));
  return (int64_t)CLAMP(i, 0, end);
}

/* The cubic convolution of Keys with a = -0.75. */
static double
cubic(double distance)
{
  const double a = -0.75;
  double x = fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/* place: from -1 to 1 over the axis. */
static void
find_neighbours(const Sampler *s, uint32_t axis, double place, Neighbours *ret)
{
  double end = (double)(s->sizes[axis] - 1);
  float exact = (float)(s->align_corners ? (place + 1) / 2 * end : ((place + 1) * (end + 1) - 1) / 2);
  double x = exact;
  if (s->mode == MODE_NEAREST)
    x = rint(x);
  double low = s->align_corners ? 0 : -0.5, high = s->align_corners ? end : end + 0.5;
  if (!isfinite(x))
    x = s->padding == PADDING_ZEROS ? -MAX_TAPS : x > 0 ? end : 0;
  else if (x < low || x > high) {
    if (s->padding == PADDING_BORDER)
      x = CLAMP(x, 0, end);
    else if (s->padding == PADDING_REFLECTION)
      x = reflect(x, low, high);
  }
  if (s->mode == MODE_NEAREST) {
    ret->index[0] = pad_index(s, axis, trunc(x));
    ret->weight[0] = 1;
    return;
  }
  double base = floor(x) - (s->mode == MODE_CUBIC ? 1 : 0);
  for (int i = 0; i < (int)s->mode; i++) {
    double at = base + i;
    ret->index[i] = pad_index(s, axis, at);
    ret->weight[i] = s->mode == MODE_CUBIC ? cubic(at - x) : 1 - fabs(at - x);
  }
}

/* The sum over all neighbours on all axes, of which the first has tap pick % mode, and so on. part: 0 or 1, which of
 * the numbers of a complex element. */
static double
interpolate(const Sampler *s, const OnnxlValue *x, int64_t image, int64_t part, const Neighbours *n)
{
  int64_t parts = onnxl_type_is_complex(x->elem_type) ? 2 : 1;
  int64_t all = 1;
  double sum = 0;
  for (uint32_t i = 0; i < s->axes; i++)
    all *= s->mode;
  for (int64_t pick = 0; pick < all; pick++) {
    int64_t rest = pick, offset = 0;
    double weight = 1;
    for (uint32_t i = 0; i < s->axes && offset >= 0; i++, rest /= s->mode) {
      int64_t tap = rest % s->mode;
      offset = n[i].index[tap] < 0 ? -1 : offset * s->sizes[i] + n[i].index[tap];
      weight *= n[i].weight[tap];
    }
    if (offset >= 0 && weight != 0)
      sum += weight * onnxl_tensor_part(x, (image + offset) * parts + part);
  }
  return sum;
}

static bool
read_sampler(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *grid, Sampler *s, GError **error)
{
  OnnxlStr mode = onnxl_ctx_string(context, "mode"), padding = onnxl_ctx_string(context, "padding_mode");
  bool old = onnxl_ctx_schema(context)->since < 20; /* when the names were those of images with two axes */
  *s = (Sampler){ .align_corners = onnxl_ctx_int(context, "align_corners") != 0 };
  if (onnxl_str_is(mode, "nearest"))
    s->mode = MODE_NEAREST;
  else if (onnxl_str_is(mode, old ? "bilinear" : "linear"))
    s->mode = MODE_LINEAR;
  else if (onnxl_str_is(mode, old ? "bicubic" : "cubic"))
    s->mode = MODE_CUBIC;
  else
    return onnxl_ctx_invalid(context, error, "mode is \"%.*s\"", ONNXL_ARG(mode));
  s->padding = onnxl_str_is(padding, "border")       ? PADDING_BORDER
               : onnxl_str_is(padding, "reflection") ? PADDING_REFLECTION
                                                     : PADDING_ZEROS;
  if (s->padding == PADDING_ZEROS && !onnxl_str_is(padding, "zeros"))
    return onnxl_ctx_invalid(context, error, "padding_mode is \"%.*s\"", ONNXL_ARG(padding));
  if (x->rank > MAX_AXES + 2)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED, "images of more than %d axes are not supported",
                          MAX_AXES);
  s->axes = x->rank - 2;
  bool fits = x->rank >= 3 && grid->rank == x->rank && grid->dims[0] == x->dims[0] &&
              grid->dims[grid->rank - 1] == (int64_t)s->axes && (!old || x->rank == 4);
  for (uint32_t i = 0; fits && i < s->axes; i++)
    s->sizes[i] = x->dims[i + 2];
  if (fits)
    return true;
  char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(grid->dims, grid->rank);
  onnxl_ctx_invalid(context, error, "a grid of shape %s does not fit an image of shape %s", b, a);
  g_free(a);
  g_free(b);
  return false;
}

static bool
run_grid_sample(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *grid = onnxl_ctx_input(context, 1);
  Sampler s;
  int64_t dims[ONNXL_MAX_RANK], pixels = 1;
  if (!read_sampler(context, x, grid, &s, error))
    return false;
  if (x->elem_type == ONNXL_TYPE_STRING && s.mode != MODE_NEAREST)
    return onnxl_ctx_invalid(context, error, "strings cannot be interpolated: mode must be \"nearest\"");
  memcpy(dims, x->dims, 2 * sizeof *dims);
  memcpy(dims + 2, grid->dims + 1, s.axes * sizeof *dims);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  if (x->count == 0)
    return onnxl_ctx_invalid(context, error, "an empty image cannot be sampled");
  for (uint32_t i = 0; i < s.axes; i++)
    pixels *= s.sizes[i];
  int64_t places = y->count / dims[0] / dims[1], parts = onnxl_type_is_complex(x->elem_type) ? 2 : 1;
  size_t size = onnxl_element_size(x);
  for (int64_t b = 0; b < dims[0]; b++)
    for (int64_t p = 0; p < places; p++) {
      Neighbours n[MAX_AXES];
      /* The grid names the last axis first. */
      for (uint32_t i = 0; i < s.axes; i++)
        find_neighbours(&s, i, onnxl_tensor_double(grid, (b * places + p) * s.axes + (s.axes - 1 - i)), &n[i]);
      int64_t offset = 0;
      for (uint32_t i = 0; i < s.axes; i++)
        offset = offset < 0 || n[i].index[0] < 0 ? -1 : offset * s.sizes[i] + n[i].index[0];
      for (int64_t c = 0; c < dims[1]; c++) {
        int64_t image = (b * dims[1] + c) * pixels, to = (b * dims[1] + c) * places + p;
        if (s.mode != MODE_NEAREST) {
          for (int64_t part = 0; part < parts; part++)
            onnxl_tensor_set_part(y, to * parts + part, interpolate(&s, x, image, part, n));
        } else if (offset >= 0)
          memcpy((char *)y->data + (size_t)to * size, (const char *)x->data + (size_t)(image + offset) * size, size);
        else if (x->elem_type != ONNXL_TYPE_STRING) /* whose elements are empty texts already */
          memset((char *)y->data + (size_t)to * size, 0, size);
      }
    }
  return true;
}
ONNXL_KERNEL(grid_sample, EXACT);

/* --- AffineGrid --- */

/* The i-th of n places on an axis, from -1 to 1: at the corners, or in the middle of equal cells. */
static double
axis_place(int64_t i, int64_t n, bool align_corners)
{
  if (align_corners)
    return n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : -1;
  return -1 + (2 * (double)i + 1) / (double)n;
}

static bool
run_affine_grid(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *theta = onnxl_ctx_input(context, 0), *size = onnxl_ctx_input(context, 1);
  bool align_corners = onnxl_ctx_int(context, "align_corners") != 0;
  int64_t n = size->count - 2;
  if (size->rank != 1 || (n != 2 && n != 3) || theta->rank != 3 || theta->dims[1] != n || theta->dims[2] != n + 1)
    return onnxl_ctx_invalid(context, error,
                             "theta and size must have the shapes [N, 2, 3] and [4], or [N, 3, 4] and [5]");
  const int64_t *sizes = size->data;
  if (sizes[0] != theta->dims[0])
    return onnxl_ctx_invalid(context, error,
                             "size asks for %" G_GINT64_FORMAT " grids of %" G_GINT64_FORMAT " transformations",
                             sizes[0], theta->dims[0]);
  int64_t dims[5] = { sizes[0] };
  memcpy(dims + 1, sizes + 2, (size_t)n * sizeof *dims);
  dims[n + 1] = n;
  OnnxlValue *y = onnxl_ctx_output(context, 0, theta->elem_type, (size_t)n + 2, dims, error);
  double *factors = y ? onnxl_ctx_doubles(context, theta, error) : NULL;
  if (!factors || y->count == 0)
    return factors != NULL;
  int64_t places = y->count / dims[0] / n;
  for (int64_t b = 0; b < dims[0]; b++)
    for (int64_t p = 0; p < places; p++) {
      double at[4], result[3];
      int64_t rest = p;
      /* The last axis of the image is x, the first coordinate. */
      for (int64_t i = n; i > 0; rest /= dims[i], i--)
        at[n - i] = axis_place(rest % dims[i], dims[i], align_corners);
      at[n] = 1;
      for (int64_t i = 0; i < n; i++) {
        result[i] = 0;
        for (int64_t j = 0; j <= n; j++)
          result[i] += factors[(b * n + i) * (n + 1) + j] * at[j];
      }
      onnxl_tensor_write_double(y, (b * places + p) * n, (size_t)n, result);
    }
  return true;
}
ONNXL_KERNEL(affine_grid, COMPUTES);
