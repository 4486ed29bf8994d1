/* Convolution with moved sampling points, and the way back from columns to an image. */
#include <math.h>

#include "runtime/combine-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/window-internal.h"

/* Value between the pixels of [height, width], 0 outside; each corner counts by its nearness. */
static double
sample(const double *image, int64_t height, int64_t width, double y, double x)
{
  if (!(y > -1 && y < (double)height && x > -1 && x < (double)width))
    return 0;
  int64_t top = (int64_t)floor(y), left = (int64_t)floor(x);
  double dy = y - (double)top, dx = x - (double)left, sum = 0;
  for (int64_t i = 0; i < 2; i++)
    for (int64_t j = 0; j < 2; j++)
      if (top + i >= 0 && top + i < height && left + j >= 0 && left + j < width)
        sum += (i ? dy : 1 - dy) * (j ? dx : 1 - dx) * image[(top + i) * width + left + j];
  return sum;
}

typedef struct Deform {
  OnnxlWindows windows;
  int64_t group, offset_group;
  const double *x, *w, *offset, *mask;
} Deform;

/* One output: image n, output channel m, position (oy, ox). */
static double
deform_one(const Deform *p, const OnnxlValue *x, const OnnxlValue *w, int64_t n, int64_t m, int64_t oy, int64_t ox)
{
  const OnnxlWindows *s = &p->windows;
  int64_t channels = x->dims[1], per_group = w->dims[1], first = m / (w->dims[0] / p->group) * per_group;
  int64_t kh = s->axes[0].kernel, kw = s->axes[1].kernel, place = oy * s->output[1] + ox;
  double sum = 0;
  for (int64_t c = first; c < first + per_group; c++) {
    int64_t g = c / (channels / p->offset_group);
    const double *image = p->x + (n * channels + c) * s->input_count;
    for (int64_t k = 0; k < kh * kw; k++) {
      int64_t point = (n * p->offset_group + g) * kh * kw + k;
      double dy = p->offset[2 * point * s->output_count + place];
      double dx = p->offset[(2 * point + 1) * s->output_count + place];
      double y = (double)(oy * s->axes[0].stride - s->begin[0] + k / kw * s->axes[0].dilation) + dy;
      double at = (double)(ox * s->axes[1].stride - s->begin[1] + k % kw * s->axes[1].dilation) + dx;
      double value = sample(image, s->input[0], s->input[1], y, at);
      sum += value * (p->mask ? p->mask[point * s->output_count + place] : 1) *
             p->w[(m * per_group + c - first) * kh * kw + k];
    }
  }
  return sum;
}

static bool
run_deform_conv(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1);
  const OnnxlValue *offset = onnxl_ctx_input(context, 2), *bias = onnxl_ctx_input(context, 3);
  const OnnxlValue *mask = onnxl_ctx_input(context, 4);
  Deform p = { .offset_group = onnxl_ctx_int(context, "offset_group") };
  if (x->rank != 4)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED, "images of %u axes are not supported", x->rank);
  if (!onnxl_conv_prepare(context, x, w, bias, &p.windows, &p.group, error))
    return false;
  int64_t points = p.windows.kernel_count, places = p.windows.output_count;
  bool fits = p.offset_group >= 1 && x->dims[1] % p.offset_group == 0 &&
              offset->count == x->dims[0] * p.offset_group * 2 * points * places &&
              (!mask || mask->count == x->dims[0] * p.offset_group * points * places);
  if (!fits)
    return onnxl_ctx_invalid(context, error, "offset or mask does not fit %" G_GINT64_FORMAT " offset groups",
                             p.offset_group);
  int64_t dims[] = { x->dims[0], w->dims[0], p.windows.output[0], p.windows.output[1] };
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, 4, dims, error);
  p.x = y ? onnxl_ctx_doubles(context, x, error) : NULL;
  p.w = p.x ? onnxl_ctx_doubles(context, w, error) : NULL;
  p.offset = p.w ? onnxl_ctx_doubles(context, offset, error) : NULL;
  p.mask = p.offset && mask ? onnxl_ctx_doubles(context, mask, error) : NULL;
  if (!p.offset || (mask && !p.mask))
    return false;
  for (int64_t i = 0; i < y->count; i++) {
    int64_t m = i / places % dims[1];
    double value = deform_one(&p, x, w, i / places / dims[1], m, i / dims[3] % dims[2], i % dims[3]);
    value += bias ? onnxl_tensor_double(bias, m) : 0;
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return true;
}
ONNXL_KERNEL(deform_conv, COMPUTES);

/* Axis i of an attribute list, or a default. */
static int64_t
list_item(OnnxlInt64List list, size_t i, int64_t usual)
{
  return i < list.count ? list.items[i] : usual;
}

/* Reads image and block sizes; columns: how many positions a block can take, which the input must have. */
static bool
col2im_windows(OnnxlKernelContext *context, OnnxlWindows *s, int64_t *ret_columns, GError **error)
{
  const OnnxlValue *image = onnxl_ctx_input(context, 1), *block = onnxl_ctx_input(context, 2);
  OnnxlInt64List strides = onnxl_ctx_ints(context, "strides"), dilations = onnxl_ctx_ints(context, "dilations");
  OnnxlInt64List pads = onnxl_ctx_ints(context, "pads");
  if (image->count != block->count || image->count < 1 || image->count > ONNXL_MAX_RANK - 2)
    return onnxl_ctx_invalid(context, error, "the image has %" G_GINT64_FORMAT " axes, the block %" G_GINT64_FORMAT,
                             image->count, block->count);
  size_t n = (size_t)image->count;
  if ((strides.count > 0 && strides.count != n) || (dilations.count > 0 && dilations.count != n) ||
      (pads.count > 0 && pads.count != 2 * n))
    return onnxl_ctx_invalid(context, error, "strides, dilations and pads have %zu, %zu and %zu values for %zu axes",
                             strides.count, dilations.count, pads.count, n);
  *s = (OnnxlWindows){ .n = (uint32_t)n, .kernel_count = 1, .input_count = 1, .output_count = 1 };
  *ret_columns = 1;
  for (uint32_t i = 0; i < s->n; i++) {
    s->input[i] = onnxl_tensor_int64(image, i);
    s->axes[i] = (OnnxlWindow){ .kernel = onnxl_tensor_int64(block, i),
                                .stride = list_item(strides, i, 1),
                                .dilation = list_item(dilations, i, 1),
                                .pad_begin = list_item(pads, i, 0),
                                .pad_end = list_item(pads, i + s->n, 0) };
    const OnnxlWindow *axis = &s->axes[i];
    if (axis->kernel < 1 || axis->kernel > INT32_MAX || axis->stride < 1 || axis->stride > INT32_MAX ||
        axis->dilation < 1 || axis->dilation > INT32_MAX || s->input[i] < 0 ||
        !onnxl_window_output(axis, s->input[i], &s->output[i]))
      return onnxl_ctx_invalid(context, error,
                               "a block of %" G_GINT64_FORMAT " does not fit into axis %u of size %" G_GINT64_FORMAT,
                               axis->kernel, i, s->input[i]);
    s->begin[i] = axis->pad_begin;
    if (__builtin_mul_overflow(s->kernel_count, axis->kernel, &s->kernel_count) ||
        __builtin_mul_overflow(s->input_count, s->input[i], &s->input_count) ||
        __builtin_mul_overflow(*ret_columns, s->output[i], ret_columns))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the image is too large");
  }
  return true;
}

static bool
run_col2_im(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlWindows s;
  int64_t columns, dims[ONNXL_MAX_RANK], sizes[ONNXL_MAX_RANK];
  if (!col2im_windows(context, &s, &columns, error))
    return false;
  if (x->rank != 3 || x->dims[1] % s.kernel_count != 0 || x->dims[2] != columns) {
    char *text = onnxl_dims_text(x->dims, x->rank);
    onnxl_ctx_invalid(context, error,
                      "the input %s does not hold %" G_GINT64_FORMAT " columns of blocks of %" G_GINT64_FORMAT, text,
                      columns, s.kernel_count);
    g_free(text);
    return false;
  }
  dims[0] = x->dims[0];
  dims[1] = x->dims[1] / s.kernel_count;
  for (uint32_t i = 0; i < s.n; i++) {
    dims[i + 2] = s.input[i];
    sizes[i] = s.axes[i].kernel;
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, s.n + 2, dims, error);
  if (!y || !onnxl_combine_check(context, ONNXL_COMBINE_ADD, x, error))
    return false;
  memset(y->data, 0, y->bytes);
  for (int64_t row = 0; x->count > 0 && row < x->dims[0] * x->dims[1]; row++) {
    int64_t place[ONNXL_MAX_RANK], position[ONNXL_MAX_RANK] = { 0 }, k = row % s.kernel_count, column = 0;
    for (uint32_t i = s.n; i-- > 0; k /= sizes[i])
      place[i] = k % sizes[i];
    do {
      int64_t to = row / s.kernel_count;
      bool inside = true;
      for (uint32_t i = 0; i < s.n; i++) {
        int64_t at = position[i] * s.axes[i].stride + place[i] * s.axes[i].dilation - s.begin[i];
        inside = inside && at >= 0 && at < s.input[i];
        to = to * s.input[i] + at;
      }
      if (inside)
        onnxl_combine(ONNXL_COMBINE_ADD, y, to, x, row * columns + column, 1);
      column++;
    } while (onnxl_index_next(position, s.output, s.n));
  }
  return true;
}
ONNXL_KERNEL(col2_im, COMPUTES);
