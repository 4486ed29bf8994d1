/* Convolution, and its transpose. */
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/window-internal.h"

static bool
run_conv(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1), *b = onnxl_ctx_input(context, 2);
  OnnxlWindows windows;
  int64_t group, dims[ONNXL_MAX_RANK];
  if (!onnxl_conv_prepare(context, x, w, b, &windows, &group, error))
    return false;
  dims[0] = x->dims[0];
  dims[1] = w->dims[0];
  memcpy(dims + 2, windows.output, windows.n * sizeof *dims);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  return y && onnxl_convolve(context, &windows, group, x, w, b, y, error);
}
ONNXL_KERNEL(conv, COMPUTES);

/* Output sizes from output_shape, or from the window and output_padding; the pads follow. */
static bool
transposed_sizes(OnnxlKernelContext *context, OnnxlWindows *w, GError **error)
{
  OnnxlInt64List shape = onnxl_ctx_ints(context, "output_shape"), extra = onnxl_ctx_ints(context, "output_padding");
  if (extra.count != 0 && extra.count != w->n)
    return onnxl_ctx_invalid(context, error, "output_padding has %zu values when %u are needed", extra.count, w->n);
  for (size_t i = 0; i < extra.count; i++)
    if (extra.items[i] < 0)
      return onnxl_ctx_invalid(context, error, "output_padding has the value %" G_GINT64_FORMAT, extra.items[i]);
  /* The output shape may name all axes, or the spatial ones only. */
  if (shape.count != 0 && shape.count != w->n && shape.count != w->n + 2)
    return onnxl_ctx_invalid(context, error, "output_shape has %zu values when %u are needed", shape.count, w->n);
  for (uint32_t i = 0; i < w->n; i++) {
    OnnxlWindow *axis = &w->axes[i];
    int64_t more = extra.count ? extra.items[i] : 0;
    int64_t full = axis->stride * (w->input[i] - 1) + more + (axis->kernel - 1) * axis->dilation + 1;
    w->begin[i] = axis->pad_begin;
    if (shape.count > 0)
      w->output[i] = shape.items[i + (shape.count - w->n)];
    else if (!onnxl_transposed_output(axis, more, w->input[i], &w->output[i]))
      return onnxl_ctx_invalid(context, error, "axis %u would have a negative size", i + 2);
    if (w->output[i] < 0)
      return onnxl_ctx_invalid(context, error, "axis %u would have the size %" G_GINT64_FORMAT, i + 2, w->output[i]);
    if (shape.count > 0 || axis->auto_pad == ONNXL_PAD_SAME_UPPER || axis->auto_pad == ONNXL_PAD_SAME_LOWER) {
      int64_t total = MAX(full - w->output[i], 0);
      w->begin[i] = axis->auto_pad == ONNXL_PAD_SAME_UPPER ? total / 2 : total - total / 2;
    } else if (axis->auto_pad == ONNXL_PAD_VALID)
      w->begin[i] = 0;
    if (__builtin_mul_overflow(w->output_count, w->output[i], &w->output_count))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the output is too large");
  }
  return true;
}

/* Every input element, times a window of weights, is added to the output. */
#define TRANSPOSED(name, T)                                                                        \
  static void name(const OnnxlWindows *w, const T *x, const T *weight, T *y)                       \
  {                                                                                                \
    int64_t from[ONNXL_MAX_RANK] = { 0 }, sizes[ONNXL_MAX_RANK], source = 0;                       \
    for (uint32_t i = 0; i < w->n; i++)                                                            \
      sizes[i] = w->axes[i].kernel;                                                                \
    do {                                                                                           \
      int64_t place[ONNXL_MAX_RANK] = { 0 }, k = 0;                                                \
      do {                                                                                         \
        int64_t to = 0;                                                                            \
        bool inside = true;                                                                        \
        for (uint32_t i = 0; inside && i < w->n; i++) {                                            \
          int64_t at = from[i] * w->axes[i].stride + place[i] * w->axes[i].dilation - w->begin[i]; \
          inside = at >= 0 && at < w->output[i];                                                   \
          to = to * w->output[i] + at;                                                             \
        }                                                                                          \
        if (inside)                                                                                \
          y[to] += x[source] * weight[k];                                                          \
        k++;                                                                                       \
      } while (onnxl_index_next(place, sizes, w->n));                                              \
      source++;                                                                                    \
    } while (onnxl_index_next(from, w->input, w->n));                                              \
  }
TRANSPOSED(transposed_float, float)
TRANSPOSED(transposed_double, double)

static bool
run_conv_transpose(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1), *b = onnxl_ctx_input(context, 2);
  OnnxlWindows windows;
  int64_t group = onnxl_ctx_int(context, "group"), dims[ONNXL_MAX_RANK];
  bool is_float = x->elem_type == ONNXL_TYPE_FLOAT;
  if (x->rank < 2 || w->rank != x->rank || group < 1 || x->dims[1] != w->dims[0] || x->dims[1] % group != 0) {
    char *p = onnxl_dims_text(x->dims, x->rank), *q = onnxl_dims_text(w->dims, w->rank);
    onnxl_ctx_invalid(context, error, "the input %s and the weights %s do not fit in %" G_GINT64_FORMAT " groups", p, q,
                      group);
    g_free(p);
    g_free(q);
    return false;
  }
  if (!is_float && x->elem_type != ONNXL_TYPE_DOUBLE)
    return onnxl_ctx_unsupported_type(context, error, x->elem_type);
  if (!onnxl_ctx_windows_read(context, x, w->dims + 2, &windows, error) || !transposed_sizes(context, &windows, error))
    return false;
  int64_t channels = x->dims[1] / group, outputs = w->dims[1];
  if (b && b->count != outputs * group)
    return onnxl_ctx_invalid(context, error,
                             "the bias has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " channels", b->count,
                             outputs * group);
  dims[0] = x->dims[0];
  dims[1] = outputs * group;
  memcpy(dims + 2, windows.output, windows.n * sizeof *dims);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  for (int64_t i = 0; i < y->count; i++) {
    int64_t channel = i / windows.output_count % dims[1];
    if (is_float)
      ((float *)y->data)[i] = b ? ((const float *)b->data)[channel] : 0;
    else
      ((double *)y->data)[i] = b ? ((const double *)b->data)[channel] : 0;
  }
  for (int64_t n = 0; x->count > 0 && n < dims[0]; n++)
    for (int64_t c = 0; c < x->dims[1]; c++)
      for (int64_t m = 0; m < outputs; m++) {
        int64_t from = (n * x->dims[1] + c) * windows.input_count, weight = (c * outputs + m) * windows.kernel_count;
        int64_t to = (n * dims[1] + c / channels * outputs + m) * windows.output_count;
        if (is_float)
          transposed_float(&windows, (const float *)x->data + from, (const float *)w->data + weight,
                           (float *)y->data + to);
        else
          transposed_double(&windows, (const double *)x->data + from, (const double *)w->data + weight,
                            (double *)y->data + to);
      }
  return true;
}
ONNXL_KERNEL(conv_transpose, COMPUTES);
