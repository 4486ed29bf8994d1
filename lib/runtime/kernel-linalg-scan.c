/* Running sums and products. */
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

#define SCAN(type, T, U)                                                                        \
  case ONNXL_TYPE_##type: {                                                                     \
    U total = is_product;                                                                       \
    for (int64_t i = 0; i < n; i++) {                                                           \
      int64_t at = start + (reverse ? n - 1 - i : i) * stride;                                  \
      U value = (U)((const T *)x->data)[at], next = is_product ? total * value : total + value; \
      ((T *)y->data)[at] = (T)(exclusive ? total : next);                                       \
      total = next;                                                                             \
    }                                                                                           \
    break;                                                                                      \
  }

static bool
scan_axis(OnnxlKernelContext *context, bool is_product, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool exclusive = onnxl_ctx_int(context, "exclusive") != 0, reverse = onnxl_ctx_int(context, "reverse") != 0;
  int64_t axis, stride = 1;
  if (!onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 1), &axis, error) ||
      !onnxl_ctx_axis(context, axis, x->rank, &axis, error))
    return false;
  int64_t n = x->dims[axis];
  for (int64_t i = axis + 1; i < x->rank; i++)
    stride *= x->dims[i];
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  for (int64_t v = 0; y && x->count > 0 && v < x->count / n; v++) {
    int64_t start = v / stride * stride * n + v % stride;
    switch (x->elem_type) {
      ONNXL_REAL_TYPES(SCAN)
    default:
      return onnxl_ctx_unsupported_type(context, error, x->elem_type);
    }
  }
  return y != NULL;
}

static bool
run_cum_sum(OnnxlKernelContext *context, GError **error)
{
  return scan_axis(context, false, error);
}
ONNXL_KERNEL(cum_sum, COMPUTES);

static bool
run_cum_prod(OnnxlKernelContext *context, GError **error)
{
  return scan_axis(context, true, error);
}
ONNXL_KERNEL(cum_prod, COMPUTES);
