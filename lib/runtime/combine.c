#include "runtime/combine-internal.h"

#include <complex.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

const char *
onnxl_combine_name(OnnxlCombine combine)
{
  static const char *const names[] = { "none", "add", "mul", "max", "min" };
  return names[combine];
}

bool
onnxl_combine_check(const OnnxlKernelContext *context, OnnxlCombine combine, const OnnxlValue *value, GError **error)
{
  bool is_complex = onnxl_type_is_complex(value->elem_type);
  bool orders = combine == ONNXL_COMBINE_MAX || combine == ONNXL_COMBINE_MIN;
  if (combine != ONNXL_COMBINE_NONE && (value->elem_type == ONNXL_TYPE_STRING || (is_complex && orders)))
    return onnxl_ctx_invalid(context, error, "elements of type %s cannot be combined by \"%s\"",
                             onnxl_data_type_name(value->elem_type), onnxl_combine_name(combine));
  return true;
}

/* Where neither is larger nor smaller one is NaN, and so is the sum. */
#define EXTREME(x, y, op, T, U) ((x)op(y) ? (x) : (y)op(x) || (x) == (y) ? (y) : (T)((U)(x) + (U)(y)))
#define COMBINE(type, T, U)                                                         \
  case ONNXL_TYPE_##type: {                                                         \
    T *y = (T *)to->data + at;                                                      \
    const T *x = (const T *)from->data + first;                                     \
    for (int64_t i = 0; i < n; i++)                                                 \
      y[i] = combine == ONNXL_COMBINE_ADD   ? (T)((U)y[i] + (U)x[i])                \
             : combine == ONNXL_COMBINE_MUL ? (T)((U)y[i] * (U)x[i])                \
             : combine == ONNXL_COMBINE_MAX ? EXTREME(x[i], y[i], >, T, U)          \
                                            : EXTREME(x[i], y[i], <, T, U);         \
    return;                                                                         \
  }
#define COMBINE_COMPLEX(type, T)                                       \
  case ONNXL_TYPE_##type: {                                            \
    T *y = (T *)to->data + at;                                         \
    const T *x = (const T *)from->data + first;                        \
    for (int64_t i = 0; i < n; i++)                                    \
      y[i] = combine == ONNXL_COMBINE_ADD ? y[i] + x[i] : y[i] * x[i]; \
    return;                                                            \
  }

void
onnxl_combine(OnnxlCombine combine, OnnxlValue *to, int64_t at, const OnnxlValue *from, int64_t first, int64_t n)
{
  size_t size = onnxl_element_size(to);
  if (combine == ONNXL_COMBINE_NONE) {
    memcpy((char *)to->data + (size_t)at * size, (const char *)from->data + (size_t)first * size, (size_t)n * size);
    return;
  }
  switch (to->elem_type) {
    ONNXL_REAL_TYPES(COMBINE)
    COMBINE_COMPLEX(COMPLEX64, float complex)
    COMBINE_COMPLEX(COMPLEX128, double complex)
  case ONNXL_TYPE_BOOL:
    for (int64_t i = 0; i < n; i++) {
      uint8_t *y = (uint8_t *)to->data + at + i, x = ((const uint8_t *)from->data)[first + i];
      *y = combine == ONNXL_COMBINE_ADD || combine == ONNXL_COMBINE_MAX ? *y | x : *y & x;
    }
    return;
  default:
    g_assert_not_reached();
  }
}
