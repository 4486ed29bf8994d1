#include "runtime/window-internal.h"

#include "runtime/gemm.h"

static bool
check_list(const OnnxlKernelContext *context, const char *name, OnnxlInt64List list, size_t wanted, int64_t min,
           GError **error)
{
  if (list.count == 0)
    return true;
  if (list.count != wanted)
    return onnxl_ctx_invalid(context, error, "%s has %zu values when %zu are needed", name, list.count, wanted);
  for (size_t i = 0; i < list.count; i++)
    if (list.items[i] < min || list.items[i] > INT32_MAX)
      return onnxl_ctx_invalid(context, error, "%s has the value %" G_GINT64_FORMAT, name, list.items[i]);
  return true;
}

bool
onnxl_ctx_windows_read(OnnxlKernelContext *context, const OnnxlValue *x, const int64_t *kernel, OnnxlWindows *windows,
                       GError **error)
{
  if (x->rank < 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when at least 2 is needed", x->rank);
  uint32_t n = x->rank - 2;
  OnnxlInt64List shape = onnxl_ctx_ints(context, "kernel_shape"), strides = onnxl_ctx_ints(context, "strides");
  OnnxlInt64List dilations = onnxl_ctx_ints(context, "dilations"), pads = onnxl_ctx_ints(context, "pads");
  OnnxlAutoPad auto_pad;
  if (!onnxl_auto_pad_parse(onnxl_ctx_string(context, "auto_pad"), &auto_pad))
    return onnxl_ctx_invalid(context, error, "auto_pad is \"%.*s\"", ONNXL_ARG(onnxl_ctx_string(context, "auto_pad")));
  if (!check_list(context, "kernel_shape", shape, n, 1, error) ||
      !check_list(context, "strides", strides, n, 1, error) ||
      !check_list(context, "dilations", dilations, n, 1, error) ||
      !check_list(context, "pads", pads, 2 * (size_t)n, INT32_MIN, error))
    return false;
  if (!kernel && shape.count == 0 && n > 0)
    return onnxl_ctx_invalid(context, error, "kernel_shape is missing");
  *windows = (OnnxlWindows){ .n = n, .kernel_count = 1, .input_count = 1, .output_count = 1 };
  bool ceil = onnxl_ctx_int(context, "ceil_mode") != 0;
  for (uint32_t i = 0; i < n; i++) {
    int64_t size = kernel ? kernel[i] : shape.items[i];
    if (kernel && shape.count > 0 && shape.items[i] != size)
      return onnxl_ctx_invalid(context, error,
                               "kernel_shape has %" G_GINT64_FORMAT " where the weights have %" G_GINT64_FORMAT,
                               shape.items[i], size);
    if (size < 1)
      return onnxl_ctx_invalid(context, error, "a window has size %" G_GINT64_FORMAT, size);
    windows->axes[i] = (OnnxlWindow){ .kernel = size,
                                      .stride = strides.count ? strides.items[i] : 1,
                                      .dilation = dilations.count ? dilations.items[i] : 1,
                                      .pad_begin = pads.count ? pads.items[i] : 0,
                                      .pad_end = pads.count ? pads.items[i + n] : 0,
                                      .auto_pad = auto_pad,
                                      .ceil = ceil };
    windows->input[i] = x->dims[i + 2];
    if (__builtin_mul_overflow(windows->kernel_count, size, &windows->kernel_count))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the window is too large");
    windows->input_count *= x->dims[i + 2];
  }
  return true;
}

bool
onnxl_ctx_windows(OnnxlKernelContext *context, const OnnxlValue *x, const int64_t *kernel, OnnxlWindows *windows,
                  GError **error)
{
  if (!onnxl_ctx_windows_read(context, x, kernel, windows, error))
    return false;
  for (uint32_t i = 0; i < windows->n; i++) {
    if (!onnxl_window_output(&windows->axes[i], windows->input[i], &windows->output[i]))
      return onnxl_ctx_invalid(context, error,
                               "a window of %" G_GINT64_FORMAT " does not fit into axis %u of size %" G_GINT64_FORMAT,
                               windows->axes[i].kernel, i + 2, windows->input[i]);
    onnxl_window_pads(&windows->axes[i], windows->input[i], windows->output[i], &windows->begin[i], &windows->end[i]);
    if (__builtin_mul_overflow(windows->output_count, windows->output[i], &windows->output_count))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the output is too large");
  }
  return true;
}

bool
onnxl_index_next(int64_t *index, const int64_t *dims, uint32_t rank)
{
  for (uint32_t i = rank; i-- > 0;) {
    if (++index[i] < dims[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/* For each of the n columns its place in the output is known; each row adds the place in the window. */
#define PACK(bytes, T)                                                                                       \
  void onnxl_conv_pack_##bytes(const void *data, int64_t first, int64_t n, int64_t k, void *panel)           \
  {                                                                                                          \
    const OnnxlConvColumns *columns = data;                                                                  \
    const OnnxlWindows *w = columns->windows;                                                                \
    int64_t start[ONNXL_GEMM_COLUMNS][ONNXL_MAX_RANK], place[ONNXL_MAX_RANK] = { 0 }, sizes[ONNXL_MAX_RANK]; \
    T *to = panel, zero = (T)columns->zero;                                                                  \
    for (int64_t j = 0; j < n; j++) {                                                                        \
      int64_t rest = first + j;                                                                              \
      for (uint32_t i = w->n; i-- > 0; rest /= w->output[i])                                                 \
        start[j][i] = rest % w->output[i] * w->axes[i].stride - w->begin[i];                                 \
    }                                                                                                        \
    for (uint32_t i = 0; i < w->n; i++)                                                                      \
      sizes[i] = w->axes[i].kernel;                                                                          \
    const T *image = columns->image;                                                                         \
    for (int64_t p = 0; p < k; p++, to += ONNXL_GEMM_COLUMNS) {                                              \
      for (int64_t j = 0; j < ONNXL_GEMM_COLUMNS; j++) {                                                     \
        int64_t offset = 0;                                                                                  \
        bool inside = j < n;                                                                                 \
        for (uint32_t i = 0; inside && i < w->n; i++) {                                                      \
          int64_t at = start[j][i] + place[i] * w->axes[i].dilation;                                         \
          inside = at >= 0 && at < w->input[i];                                                              \
          offset = offset * w->input[i] + at;                                                                \
        }                                                                                                    \
        to[j] = inside ? image[offset] : zero;                                                               \
      }                                                                                                      \
      if (!onnxl_index_next(place, sizes, w->n))                                                             \
        image += w->input_count;                                                                             \
    }                                                                                                        \
  }
PACK(4, uint32_t)
PACK(8, uint64_t)

/* A window of one element without padding, at stride 1: the image itself is the right factor. */
static bool
is_pointwise(const OnnxlWindows *windows)
{
  for (uint32_t i = 0; i < windows->n; i++)
    if (windows->axes[i].kernel != 1 || windows->axes[i].stride != 1 || windows->begin[i] != 0 || windows->end[i] != 0)
      return false;
  return true;
}

#define ADD_BIAS(T, U)                      \
  for (int64_t m = 0; m < channels; m++)    \
    for (int64_t j = 0; j < positions; j++) \
      ((T *)y)[m * positions + j] = (T)((U)((T *)y)[m * positions + j] + (U)((const T *)bias)[m]);

static void
add_bias(int32_t type, void *y, const void *bias, int64_t channels, int64_t positions)
{
  if (type == ONNXL_TYPE_FLOAT)
    ADD_BIAS(float, float)
  else if (type == ONNXL_TYPE_DOUBLE)
    ADD_BIAS(double, double)
  else
    ADD_BIAS(int32_t, uint32_t)
}

bool
onnxl_convolve(OnnxlKernelContext *context, const OnnxlWindows *windows, int64_t group, const OnnxlValue *x,
               const OnnxlValue *w, const OnnxlValue *bias, OnnxlValue *y, GError **error)
{
  int64_t channels = x->dims[1] / group, outputs = w->dims[0] / group, k = channels * windows->kernel_count;
  int64_t size = onnxl_data_type_bits(x->elem_type) / 8, positions = windows->output_count;
  void *panel = onnxl_ctx_scratch(context, (uint64_t)k, (size_t)size * ONNXL_GEMM_COLUMNS, error);
  if (!panel)
    return false;
  bool pointwise = is_pointwise(windows);
  for (int64_t n = 0; n < x->dims[0]; n++)
    for (int64_t g = 0; g < group; g++) {
      const char *image = (const char *)x->data + (n * group + g) * channels * windows->input_count * size;
      const char *weights = (const char *)w->data + g * outputs * k * size;
      char *result = (char *)y->data + (n * group + g) * outputs * positions * size;
      OnnxlConvColumns columns = { windows, image, 0 };
      OnnxlGemmMatrix matrix = { image, windows->input_count, 1 };
      const void *data = pointwise ? (const void *)&matrix : &columns;
      OnnxlGemmPack pack4 = pointwise ? onnxl_gemm_pack_4 : onnxl_conv_pack_4;
      OnnxlGemmPack pack8 = pointwise ? onnxl_gemm_pack_8 : onnxl_conv_pack_8;
      if (x->elem_type == ONNXL_TYPE_FLOAT)
        onnxl_gemm_float(outputs, positions, k, (const float *)weights, k, 1, pack4, data, (float *)result, positions,
                         false, panel);
      else if (x->elem_type == ONNXL_TYPE_DOUBLE)
        onnxl_gemm_double(outputs, positions, k, (const double *)weights, k, 1, pack8, data, (double *)result,
                          positions, false, panel);
      else if (x->elem_type == ONNXL_TYPE_INT32)
        onnxl_gemm_uint32(outputs, positions, k, (const uint32_t *)weights, k, 1, pack4, data, (uint32_t *)result,
                          positions, false, panel);
      else
        return onnxl_ctx_unsupported_type(context, error, x->elem_type);
      if (bias)
        add_bias(x->elem_type, result, (const char *)bias->data + g * outputs * size, outputs, positions);
    }
  return true;
}

bool
onnxl_conv_prepare(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *w, const OnnxlValue *bias,
                   OnnxlWindows *windows, int64_t *ret_group, GError **error)
{
  int64_t group = onnxl_ctx_int(context, "group");
  bool good = x->rank >= 2 && w->rank == x->rank && group >= 1;
  good = good && x->dims[1] % group == 0 && w->dims[0] % group == 0 && w->dims[1] == x->dims[1] / group;
  if (!good) {
    char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(w->dims, w->rank);
    onnxl_ctx_invalid(context, error, "the input %s and the weights %s do not fit in %" G_GINT64_FORMAT " groups", a, b,
                      group);
    g_free(a);
    g_free(b);
    return false;
  }
  if (bias && (bias->rank != 1 || bias->dims[0] != w->dims[0]))
    return onnxl_ctx_invalid(context, error,
                             "the bias has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " channels", bias->count,
                             w->dims[0]);
  *ret_group = group;
  return onnxl_ctx_windows(context, x, w->dims + 2, windows, error);
}
