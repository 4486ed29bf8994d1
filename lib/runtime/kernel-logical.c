/* Comparisons, boolean and bitwise logic, selection. */
#include <math.h>
#include <string.h>

#include "runtime/binary-internal.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

/* Comparisons give bool for every real type; bool itself is compared as a byte. */
#define COMPARED_TYPES(X) ONNXL_REAL_TYPES(X) X(BOOL, uint8_t, uint32_t)

#define COMPARISON(name, operation)                                                                                    \
  COMPARED_TYPES(name##_ROW)                                                                                           \
  static void name##_texts(const void *a, int64_t sa, const void *b, int64_t sb, void *c, int64_t n)                   \
  {                                                                                                                    \
    for (int64_t i = 0; i < n; i++)                                                                                    \
      ((uint8_t *)c)[i] = onnxl_str_compare(((const OnnxlStr *)a)[i * sa], ((const OnnxlStr *)b)[i * sb]) operation 0; \
  }                                                                                                                    \
  ONNXL_BINARY_TABLE(name, COMPARED_TYPES)                                                                             \
  static bool run_##name(OnnxlKernelContext *context, GError **error)                                                  \
  {                                                                                                                    \
    int32_t type = onnxl_ctx_input(context, 0)->elem_type;                                                             \
    OnnxlBinaryRow row = type == ONNXL_TYPE_STRING ? name##_texts : name##_row(type);                                  \
    return onnxl_binary(context, row, ONNXL_TYPE_BOOL, error);                                                         \
  }                                                                                                                    \
  ONNXL_KERNEL(name, COMPUTES)

#define equal_ROW(type, T, U) ONNXL_BINARY_ROW(equal_##type, T, uint8_t, a == b)
#define equal_CASE(type, T, U) ONNXL_BINARY_CASE(type, equal_##type)
COMPARISON(equal, ==);
#define less_ROW(type, T, U) ONNXL_BINARY_ROW(less_##type, T, uint8_t, a < b)
#define less_CASE(type, T, U) ONNXL_BINARY_CASE(type, less_##type)
COMPARISON(less, <);
#define less_or_equal_ROW(type, T, U) ONNXL_BINARY_ROW(less_or_equal_##type, T, uint8_t, a <= b)
#define less_or_equal_CASE(type, T, U) ONNXL_BINARY_CASE(type, less_or_equal_##type)
COMPARISON(less_or_equal, <=);
#define greater_ROW(type, T, U) ONNXL_BINARY_ROW(greater_##type, T, uint8_t, a > b)
#define greater_CASE(type, T, U) ONNXL_BINARY_CASE(type, greater_##type)
COMPARISON(greater, >);
#define greater_or_equal_ROW(type, T, U) ONNXL_BINARY_ROW(greater_or_equal_##type, T, uint8_t, a >= b)
#define greater_or_equal_CASE(type, T, U) ONNXL_BINARY_CASE(type, greater_or_equal_##type)
COMPARISON(greater_or_equal, >=);

ONNXL_BINARY_ROW(and_row, uint8_t, uint8_t, a &b)
ONNXL_BINARY_ROW(or_row, uint8_t, uint8_t, a | b)
ONNXL_BINARY_ROW(xor_row, uint8_t, uint8_t, a ^ b)

#define LOGIC(name)                                                   \
  static bool run_##name(OnnxlKernelContext *context, GError **error) \
  {                                                                   \
    return onnxl_binary(context, name##_row, ONNXL_TYPE_BOOL, error); \
  }                                                                   \
  ONNXL_KERNEL(name, COMPUTES)

LOGIC(and);
LOGIC(or);
LOGIC(xor);

static bool
run_not(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0), *y = onnxl_ctx_output_like(context, 0, x, error);
  for (int64_t i = 0; y && i < x->count; i++)
    ((uint8_t *)y->data)[i] = !((const uint8_t *)x->data)[i];
  return y != NULL;
}
ONNXL_KERNEL(not, COMPUTES);

#define BITWISE(name)                                                 \
  ONNXL_INTEGER_TYPES(name##_ROW)                                     \
  ONNXL_BINARY_TABLE(name, ONNXL_INTEGER_TYPES)                       \
  static bool run_##name(OnnxlKernelContext *context, GError **error) \
  {                                                                   \
    int32_t type = onnxl_ctx_input(context, 0)->elem_type;            \
    return onnxl_binary(context, name##_row(type), type, error);      \
  }                                                                   \
  ONNXL_KERNEL(name, COMPUTES)

#define bitwise_and_ROW(type, T, U) ONNXL_BINARY_ROW(bitwise_and_##type, T, T, a &b)
#define bitwise_and_CASE(type, T, U) ONNXL_BINARY_CASE(type, bitwise_and_##type)
BITWISE(bitwise_and);
#define bitwise_or_ROW(type, T, U) ONNXL_BINARY_ROW(bitwise_or_##type, T, T, a | b)
#define bitwise_or_CASE(type, T, U) ONNXL_BINARY_CASE(type, bitwise_or_##type)
BITWISE(bitwise_or);
#define bitwise_xor_ROW(type, T, U) ONNXL_BINARY_ROW(bitwise_xor_##type, T, T, a ^ b)
#define bitwise_xor_CASE(type, T, U) ONNXL_BINARY_CASE(type, bitwise_xor_##type)
BITWISE(bitwise_xor);

/* A shift by the width or more leaves nothing; in C it is undefined. */
#define left_ROW(type, T, U) ONNXL_BINARY_ROW(left_##type, T, T, b >= 8 * sizeof(T) ? 0 : (U)a << b)
#define left_CASE(type, T, U) ONNXL_BINARY_CASE(type, left_##type)
#define right_ROW(type, T, U) ONNXL_BINARY_ROW(right_##type, T, T, b >= 8 * sizeof(T) ? 0 : a >> b)
#define right_CASE(type, T, U) ONNXL_BINARY_CASE(type, right_##type)
ONNXL_UNSIGNED_TYPES(left_ROW)
ONNXL_UNSIGNED_TYPES(right_ROW)
ONNXL_BINARY_TABLE(left, ONNXL_UNSIGNED_TYPES)
ONNXL_BINARY_TABLE(right, ONNXL_UNSIGNED_TYPES)

static bool
run_bit_shift(OnnxlKernelContext *context, GError **error)
{
  int32_t type = onnxl_ctx_input(context, 0)->elem_type;
  OnnxlStr direction = onnxl_ctx_string(context, "direction");
  if (onnxl_str_is(direction, "LEFT"))
    return onnxl_binary(context, left_row(type), type, error);
  if (onnxl_str_is(direction, "RIGHT"))
    return onnxl_binary(context, right_row(type), type, error);
  return onnxl_ctx_invalid(context, error, "direction is \"%.*s\" when LEFT or RIGHT is expected",
                           ONNXL_ARG(direction));
}
ONNXL_KERNEL(bit_shift, COMPUTES);

static bool
run_bitwise_not(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0), *y = onnxl_ctx_output_like(context, 0, x, error);
  for (uint64_t i = 0; y && i < x->bytes; i++)
    ((uint8_t *)y->data)[i] = (uint8_t) ~((const uint8_t *)x->data)[i];
  return y != NULL;
}
ONNXL_KERNEL(bitwise_not, COMPUTES);

static bool
run_is_nan(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_BOOL, x->rank, x->dims, error);
  for (int64_t i = 0; y && i < x->count; i++)
    ((uint8_t *)y->data)[i] = x->elem_type == ONNXL_TYPE_DOUBLE ? isnan(((const double *)x->data)[i]) != 0
                                                                : isnan(((const float *)x->data)[i]) != 0;
  return y != NULL;
}
ONNXL_KERNEL(is_nan, COMPUTES);

static bool
run_is_inf(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_BOOL, x->rank, x->dims, error);
  bool positive = onnxl_ctx_int(context, "detect_positive") != 0,
       negative = onnxl_ctx_int(context, "detect_negative") != 0;
  for (int64_t i = 0; y && i < x->count; i++) {
    double value = x->elem_type == ONNXL_TYPE_DOUBLE ? ((const double *)x->data)[i] : ((const float *)x->data)[i];
    ((uint8_t *)y->data)[i] = isinf(value) && (value > 0 ? positive : negative);
  }
  return y != NULL;
}
ONNXL_KERNEL(is_inf, COMPUTES);

static bool
run_where(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *inputs[3];
  uint32_t rank;
  int64_t dims[ONNXL_MAX_RANK];
  for (uint32_t i = 0; i < 3; i++)
    inputs[i] = onnxl_ctx_input(context, i);
  if (!onnxl_ctx_broadcast(context, inputs, 3, &rank, dims, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, inputs[1]->elem_type, rank, dims, error);
  if (!y)
    return false;
  OnnxlLoop loop;
  onnxl_loop_init(&loop, dims, rank);
  for (uint32_t i = 0; i < 3; i++)
    onnxl_loop_add(&loop, inputs[i]);
  onnxl_loop_add(&loop, y);
  onnxl_loop_finish(&loop);
  int64_t n = onnxl_loop_row(&loop), sc = onnxl_loop_step(&loop, 0), sa = onnxl_loop_step(&loop, 1),
          sb = onnxl_loop_step(&loop, 2);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop)) {
    const uint8_t *condition = (const uint8_t *)inputs[0]->data + loop.offsets[0];
    switch (onnxl_element_size(y)) {
#define SELECT(bytes, T)                                                                                          \
  case bytes: {                                                                                                   \
    const T *a = (const T *)inputs[1]->data + loop.offsets[1], *b = (const T *)inputs[2]->data + loop.offsets[2]; \
    T *c = (T *)y->data + loop.offsets[3];                                                                        \
    for (int64_t i = 0; i < n; i++)                                                                               \
      c[i] = condition[i * sc] ? a[i * sa] : b[i * sb];                                                           \
    break;                                                                                                        \
  }
      ONNXL_MOVED_SIZES(SELECT)
#undef SELECT
    }
  }
  return true;
}
ONNXL_KERNEL(where, MOVES);
