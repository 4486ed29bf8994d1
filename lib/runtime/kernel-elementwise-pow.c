/* Pow, whose two inputs may have different types. */
#include <math.h>

#include "runtime/binary-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

/* Exact for integers; wraps. A negative exponent gives 0 except for bases 1 and -1. */
static int64_t
integer_power(int64_t base, int64_t exponent)
{
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = (uint64_t)base;
  for (uint64_t e = (uint64_t)exponent; e > 0; e >>= 1, square *= square)
    if (e & 1)
      result *= square;
  return (int64_t)result;
}

#define LOAD_FLOAT(type, T, U) \
  case ONNXL_TYPE_##type:      \
    return (double)((const T *)data)[i];
#define LOAD_INTEGER(type, T, U) \
  case ONNXL_TYPE_##type:        \
    return (int64_t)((const T *)data)[i];

static double
load_double(int32_t elem_type, const void *data, int64_t i)
{
  switch (elem_type) {
    ONNXL_REAL_TYPES(LOAD_FLOAT)
  default:
    return NAN;
  }
}

static int64_t
load_integer(int32_t elem_type, const void *data, int64_t i)
{
  switch (elem_type) {
    ONNXL_INTEGER_TYPES(LOAD_INTEGER)
  default:
    return 0;
  }
}

#define STORE_FLOAT(type, T, U)   \
  case ONNXL_TYPE_##type:         \
    ((T *)y->data)[i] = (T)power; \
    return;
#define STORE_INTEGER(type, T, U) \
  case ONNXL_TYPE_##type:         \
    ((T *)y->data)[i] = (T)whole; \
    return;

static void
power_element(const OnnxlValue *x, int64_t from, const OnnxlValue *exponent, int64_t by, OnnxlValue *y, int64_t i)
{
  if (onnxl_type_is_float(x->elem_type)) {
    double b = load_double(exponent->elem_type, exponent->data, by), a = load_double(x->elem_type, x->data, from);
    double power = b == 2 ? a * a : x->elem_type == ONNXL_TYPE_FLOAT ? powf((float)a, (float)b) : pow(a, b);
    switch (y->elem_type) {
      ONNXL_FLOAT_TYPES(STORE_FLOAT)
    }
    return;
  }
  int64_t base = load_integer(x->elem_type, x->data, from), whole;
  if (onnxl_type_is_float(exponent->elem_type)) {
    double power = pow((double)base, load_double(exponent->elem_type, exponent->data, by));
    onnxl_tensor_write_double(y, i, 1, &power);
    return;
  }
  whole = integer_power(base, load_integer(exponent->elem_type, exponent->data, by));
  switch (y->elem_type) {
    ONNXL_INTEGER_TYPES(STORE_INTEGER)
  }
}

static bool
run_pow(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0), *exponent = onnxl_ctx_input(context, 1), *view = NULL;
  uint32_t rank;
  int64_t dims[ONNXL_MAX_RANK], result = 0;
  if (onnxl_ctx_schema(context)->since < 7 && !(exponent = view = onnxl_legacy_operand(context, x, exponent, error)))
    return false;
  bool good = onnxl_ctx_broadcast(context, (OnnxlValue *[]){ x, exponent }, 2, &rank, dims, error);
  OnnxlValue *y = good ? onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error) : NULL;
  if (y) {
    OnnxlLoop loop;
    onnxl_loop_init(&loop, dims, rank);
    onnxl_loop_add(&loop, x);
    onnxl_loop_add(&loop, exponent);
    onnxl_loop_finish(&loop);
    for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
      for (int64_t i = 0; i < onnxl_loop_row(&loop); i++)
        power_element(x, loop.offsets[0] + i * onnxl_loop_step(&loop, 0), exponent,
                      loop.offsets[1] + i * onnxl_loop_step(&loop, 1), y, result++);
  }
  onnxl_value_unref(view);
  return y != NULL;
}
ONNXL_KERNEL(pow, COMPUTES);
