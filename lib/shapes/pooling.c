#include "shapes/pooling.h"

bool
onnxl_auto_pad_parse(OnnxlStr text, OnnxlAutoPad *ret_auto_pad)
{
  static const char *const names[] = { "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER" };
  *ret_auto_pad = ONNXL_PAD_NOTSET;
  if (onnxl_str_is_empty(text))
    return true;
  for (int i = 0; i < 4; i++)
    if (onnxl_str_is(text, names[i])) {
      *ret_auto_pad = (OnnxlAutoPad)i;
      return true;
    }
  return false;
}

static bool
is_same(const OnnxlWindow *window)
{
  return window->auto_pad == ONNXL_PAD_SAME_UPPER || window->auto_pad == ONNXL_PAD_SAME_LOWER;
}

/* Every output size is ceil((input + offset) / stride):
 *   floor((in + pads - extent) / s) + 1 = ceil((in + pads - extent + 1) / s)
 *   ceil_mode: the smaller of ceil((in + pads - extent) / s) + 1 = ceil((in + pads - extent + s) / s) and the number of
 *   windows that start before the right padding, ceil((in + pad_begin) / s).
 * With VALID, ceil_mode makes no difference (the specification gives one formula for both). False: overflow. */
static bool
offset_of(const OnnxlWindow *window, int64_t *ret_offset)
{
  int64_t extent, pads, offset;
  if (is_same(window)) {
    *ret_offset = 0;
    return true;
  }
  if (__builtin_mul_overflow(window->kernel - 1, window->dilation, &extent) ||
      __builtin_add_overflow(extent, 1, &extent))
    return false;
  bool valid = window->auto_pad == ONNXL_PAD_VALID;
  int64_t begin = valid ? 0 : window->pad_begin, end = valid ? 0 : window->pad_end;
  if (__builtin_add_overflow(begin, end, &pads) || __builtin_sub_overflow(pads, extent, &offset) ||
      __builtin_add_overflow(offset, window->ceil && !valid ? window->stride : 1, &offset))
    return false;
  *ret_offset = window->ceil && !valid && offset > begin ? begin : offset;
  return true;
}

bool
onnxl_window_output(const OnnxlWindow *window, int64_t input, int64_t *ret_output)
{
  int64_t offset, sum;
  if (!offset_of(window, &offset) || __builtin_add_overflow(input, offset, &sum) || sum < 0)
    return false;
  *ret_output = sum / window->stride + (sum % window->stride != 0);
  return true;
}

void
onnxl_window_pads(const OnnxlWindow *window, int64_t input, int64_t output, int64_t *ret_begin, int64_t *ret_end)
{
  *ret_begin = window->auto_pad == ONNXL_PAD_NOTSET ? window->pad_begin : 0;
  *ret_end = window->auto_pad == ONNXL_PAD_NOTSET ? window->pad_end : 0;
  if (!is_same(window))
    return;
  int64_t reach, extent, total;
  if (__builtin_mul_overflow(output - 1, window->stride, &reach) ||
      __builtin_mul_overflow(window->kernel - 1, window->dilation, &extent) ||
      __builtin_add_overflow(reach, extent + 1, &reach) || __builtin_sub_overflow(reach, input, &total) || total <= 0)
    return;
  int64_t half = total / 2;
  *ret_begin = window->auto_pad == ONNXL_PAD_SAME_UPPER ? half : total - half;
  *ret_end = total - *ret_begin;
}

/* How far the last element of a kernel lies from the first. */
static OnnxlExpr
reach_of(OnnxlExprPool *pool, OnnxlExpr kernel, int64_t dilation)
{
  OnnxlExpr more = onnxl_expr_sub(pool, kernel, onnxl_expr_int(pool, 1));
  return onnxl_expr_mul(pool, more, onnxl_expr_int(pool, dilation));
}

OnnxlExpr
onnxl_window_output_expr(OnnxlExprPool *pool, const OnnxlWindow *window, OnnxlExpr input, OnnxlExpr kernel)
{
  int64_t offset;
  OnnxlWindow least = *window;
  bool symbolic = kernel && !is_same(window);
  if (symbolic)
    least.kernel = 1;
  if (!input || !offset_of(&least, &offset) || (symbolic && window->ceil))
    return NULL;
  OnnxlExpr sum = onnxl_expr_add(pool, input, onnxl_expr_int(pool, offset));
  if (symbolic)
    sum = onnxl_expr_sub(pool, sum, reach_of(pool, kernel, window->dilation));
  return onnxl_expr_ceil_div(pool, sum, onnxl_expr_int(pool, window->stride));
}

/* Output = stride * input + offset. */
static bool
transposed_offset(const OnnxlWindow *window, int64_t output_padding, int64_t *ret_offset)
{
  if (is_same(window)) {
    *ret_offset = 0;
    return true;
  }
  int64_t extent, offset;
  if (__builtin_mul_overflow(window->kernel - 1, window->dilation, &extent) ||
      __builtin_add_overflow(extent, output_padding, &offset) || __builtin_add_overflow(offset, 1, &offset) ||
      __builtin_sub_overflow(offset, window->stride, &offset))
    return false;
  if (window->auto_pad == ONNXL_PAD_NOTSET && (__builtin_sub_overflow(offset, window->pad_begin, &offset) ||
                                               __builtin_sub_overflow(offset, window->pad_end, &offset)))
    return false;
  *ret_offset = offset;
  return true;
}

bool
onnxl_transposed_output(const OnnxlWindow *window, int64_t output_padding, int64_t input, int64_t *ret_output)
{
  int64_t offset, size;
  if (!transposed_offset(window, output_padding, &offset) || __builtin_mul_overflow(input, window->stride, &size) ||
      __builtin_add_overflow(size, offset, &size) || size < 0)
    return false;
  *ret_output = size;
  return true;
}

OnnxlExpr
onnxl_transposed_output_expr(OnnxlExprPool *pool, const OnnxlWindow *window, int64_t output_padding, OnnxlExpr input,
                             OnnxlExpr kernel)
{
  int64_t offset;
  OnnxlWindow least = *window;
  bool symbolic = kernel && !is_same(window);
  if (symbolic)
    least.kernel = 1;
  if (!input || !transposed_offset(&least, output_padding, &offset))
    return NULL;
  OnnxlExpr size = onnxl_expr_mul(pool, input, onnxl_expr_int(pool, window->stride));
  if (symbolic)
    size = onnxl_expr_add(pool, size, reach_of(pool, kernel, window->dilation));
  return onnxl_expr_add(pool, size, onnxl_expr_int(pool, offset));
}
