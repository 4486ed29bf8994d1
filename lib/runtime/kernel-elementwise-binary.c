/* Operators of two inputs with broadcasting, and the variadic ones that fold them. */
#include "runtime/binary-internal.h"

#include <math.h>

#include "runtime/tensor.h"
#include "runtime/types-internal.h"

bool
onnxl_binary_into(OnnxlValue *result, const OnnxlValue *a, const OnnxlValue *b, OnnxlBinaryRow row)
{
  OnnxlLoop loop;
  size_t size_a = onnxl_element_size(a), size_b = onnxl_element_size(b), size_c = onnxl_element_size(result);
  onnxl_loop_init(&loop, result->dims, result->rank);
  onnxl_loop_add(&loop, a);
  onnxl_loop_add(&loop, b);
  onnxl_loop_add(&loop, result);
  onnxl_loop_finish(&loop);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
    row((const char *)a->data + loop.offsets[0] * (int64_t)size_a, onnxl_loop_step(&loop, 0),
        (const char *)b->data + loop.offsets[1] * (int64_t)size_b, onnxl_loop_step(&loop, 1),
        (char *)result->data + loop.offsets[2] * (int64_t)size_c, onnxl_loop_row(&loop));
  return true;
}

OnnxlValue *
onnxl_legacy_operand(OnnxlKernelContext *context, OnnxlValue *a, OnnxlValue *b, GError **error)
{
  if (onnxl_ctx_int(context, "broadcast") == 0) {
    bool same = a->rank == b->rank && (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
    if (!same)
      onnxl_ctx_misfit(context, error, "the shapes differ and the attribute broadcast is 0");
    return same ? onnxl_value_ref(b) : NULL;
  }
  int64_t axis = b->rank <= a->rank ? a->rank - b->rank : 0, dims[ONNXL_MAX_RANK];
  if (onnxl_ctx_attr(context, "axis"))
    axis = onnxl_ctx_int(context, "axis");
  if (axis < 0)
    axis += a->rank;
  if (axis < 0 || axis > (int64_t)a->rank - (int64_t)b->rank) {
    onnxl_ctx_invalid(context, error,
                      "the second input of rank %u does not fit at axis %" G_GINT64_FORMAT " of rank %u", b->rank, axis,
                      a->rank);
    return NULL;
  }
  for (uint32_t i = 0; i < a->rank; i++) {
    dims[i] = i >= axis && i < axis + b->rank ? b->dims[i - axis] : 1;
    if (dims[i] != 1 && dims[i] != a->dims[i]) {
      char *wide = onnxl_dims_text(a->dims, a->rank), *narrow = onnxl_dims_text(b->dims, b->rank);
      onnxl_ctx_invalid(context, error,
                        "the second input %s is not broadcast to the first one %s at axis %" G_GINT64_FORMAT, narrow,
                        wide, axis);
      g_free(wide);
      g_free(narrow);
      return NULL;
    }
  }
  return onnxl_value_new_view(b, b->elem_type, a->rank, dims);
}

bool
onnxl_binary(OnnxlKernelContext *context, OnnxlBinaryRow row, int32_t result_type, GError **error)
{
  OnnxlValue *a = onnxl_ctx_input(context, 0), *b = onnxl_ctx_input(context, 1);
  uint32_t rank;
  int64_t dims[ONNXL_MAX_RANK];
  bool legacy = onnxl_ctx_schema(context)->since < 7 && onnxl_ctx_schema(context)->domain[0] == '\0';
  if (!row)
    return onnxl_ctx_unsupported_type(context, error, a->elem_type);
  OnnxlValue *view = legacy ? onnxl_legacy_operand(context, a, b, error) : NULL;
  OnnxlValue *other = legacy ? view : b; /* not a reference more: the result may be written over it */
  if (!other)
    return false;
  bool good = onnxl_ctx_broadcast(context, (OnnxlValue *[]){ a, other }, 2, &rank, dims, error);
  OnnxlValue *result = good ? onnxl_ctx_output(context, 0, result_type, rank, dims, error) : NULL;
  good = result && onnxl_binary_into(result, a, other, row);
  onnxl_value_unref(view);
  return good;
}

#define ARITHMETIC(name)                                              \
  ONNXL_BINARY_TABLE(name, ONNXL_REAL_TYPES)                          \
  static bool run_##name(OnnxlKernelContext *context, GError **error) \
  {                                                                   \
    int32_t type = onnxl_ctx_input(context, 0)->elem_type;            \
    return onnxl_binary(context, name##_row(type), type, error);      \
  }                                                                   \
  ONNXL_KERNEL(name, COMPUTES)

#define add_ROW(type, T, U) ONNXL_BINARY_ROW(add_##T, T, T, (U)a + (U)b)
#define add_CASE(type, T, U) ONNXL_BINARY_CASE(type, add_##T)
ONNXL_REAL_TYPES(add_ROW)
ARITHMETIC(add);

#define sub_ROW(type, T, U) ONNXL_BINARY_ROW(sub_##T, T, T, (U)a - (U)b)
#define sub_CASE(type, T, U) ONNXL_BINARY_CASE(type, sub_##T)
ONNXL_REAL_TYPES(sub_ROW)
ARITHMETIC(sub);

#define mul_ROW(type, T, U) ONNXL_BINARY_ROW(mul_##T, T, T, (U)a *(U)b)
#define mul_CASE(type, T, U) ONNXL_BINARY_CASE(type, mul_##T)
ONNXL_REAL_TYPES(mul_ROW)
ARITHMETIC(mul);

/* Integers have no quotient by 0. */
static bool
check_divisor(const OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *a = onnxl_ctx_input(context, 0), *b = onnxl_ctx_input(context, 1);
  static const uint64_t zero;
  size_t size = onnxl_element_size(b);
  if (onnxl_type_is_float(b->elem_type) || a->count == 0)
    return true;
  for (int64_t i = 0; i < b->count; i++)
    if (memcmp((const char *)b->data + (size_t)i * size, &zero, size) == 0)
      return onnxl_ctx_misfit(context, error, "integers are divided by element %" G_GINT64_FORMAT " of B, which is 0",
                              i);
  return true;
}

/* Integers truncate, and the smallest value by -1 wraps to itself, where C traps. */
#define div_FLOAT_ROW(type, T, U) ONNXL_BINARY_ROW(div_##T, T, T, a / b)
#define div_UNSIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(div_##T, T, T, a / b)
#define div_SIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(div_##T, T, T, b == -1 ? (T)(0 - (U)a) : a / b)
#define div_CASE(type, T, U) ONNXL_BINARY_CASE(type, div_##T)
ONNXL_FLOAT_TYPES(div_FLOAT_ROW)
ONNXL_UNSIGNED_TYPES(div_UNSIGNED_ROW)
ONNXL_SIGNED_TYPES(div_SIGNED_ROW)
ONNXL_BINARY_TABLE(div, ONNXL_REAL_TYPES)

static bool
run_div(OnnxlKernelContext *context, GError **error)
{
  int32_t type = onnxl_ctx_input(context, 0)->elem_type;
  return check_divisor(context, error) && onnxl_binary(context, div_row(type), type, error);
}
ONNXL_KERNEL(div, COMPUTES);

/* NaN wins over numbers. */
#define maximum_FLOAT_ROW(type, T, U) ONNXL_BINARY_ROW(maximum_##T, T, T, a > b || a != a ? a : b)
#define minimum_FLOAT_ROW(type, T, U) ONNXL_BINARY_ROW(minimum_##T, T, T, a < b || a != a ? a : b)
#define maximum_ROW(type, T, U) ONNXL_BINARY_ROW(maximum_##T, T, T, a > b ? a : b)
#define minimum_ROW(type, T, U) ONNXL_BINARY_ROW(minimum_##T, T, T, a < b ? a : b)
ONNXL_FLOAT_TYPES(maximum_FLOAT_ROW)
ONNXL_FLOAT_TYPES(minimum_FLOAT_ROW)
ONNXL_INTEGER_TYPES(maximum_ROW)
ONNXL_INTEGER_TYPES(minimum_ROW)

#define maximum_CASE(type, T, U) ONNXL_BINARY_CASE(type, maximum_##T)
#define minimum_CASE(type, T, U) ONNXL_BINARY_CASE(type, minimum_##T)
ONNXL_BINARY_TABLE(maximum, ONNXL_REAL_TYPES)
ONNXL_BINARY_TABLE(minimum, ONNXL_REAL_TYPES)

/* Folds all inputs from the left; each step is written over the result, which has the final shape from the start. */
static bool
fold(OnnxlKernelContext *context, OnnxlBinaryRow row, OnnxlValue **ret_result, GError **error)
{
  uint32_t n = onnxl_ctx_n_inputs(context), rank;
  int64_t dims[ONNXL_MAX_RANK];
  OnnxlValue *first = onnxl_ctx_input(context, 0);
  if (!row)
    return onnxl_ctx_unsupported_type(context, error, first->elem_type);
  OnnxlValue **inputs = onnxl_ctx_scratch(context, n, sizeof *inputs, error);
  if (!inputs)
    return false;
  for (uint32_t i = 0; i < n; i++)
    inputs[i] = onnxl_ctx_input(context, i);
  if (!onnxl_ctx_broadcast(context, inputs, n, &rank, dims, error))
    return false;
  OnnxlValue *result = onnxl_ctx_output(context, 0, first->elem_type, rank, dims, error);
  if (!result)
    return false;
  /* The result may lie over one of the first two inputs, so these are combined before anything is written. */
  if (n > 1)
    onnxl_binary_into(result, first, inputs[1], row);
  else if (result->data != first->data)
    memcpy(result->data, first->data, first->bytes);
  for (uint32_t i = 2; i < n; i++)
    onnxl_binary_into(result, result, inputs[i], row);
  *ret_result = result;
  return true;
}

#define VARIADIC(name, table)                                                            \
  static bool run_##name(OnnxlKernelContext *context, GError **error)                    \
  {                                                                                      \
    OnnxlValue *result;                                                                  \
    return fold(context, table(onnxl_ctx_input(context, 0)->elem_type), &result, error); \
  }                                                                                      \
  ONNXL_KERNEL(name, COMPUTES)

VARIADIC(max, maximum_row);
VARIADIC(min, minimum_row);
VARIADIC(sum, add_row);

static bool
run_mean(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *sum, *first = onnxl_ctx_input(context, 0);
  if (!fold(context, add_row(first->elem_type), &sum, error))
    return false;
  uint32_t n = onnxl_ctx_n_inputs(context);
  if (sum->elem_type == ONNXL_TYPE_DOUBLE)
    for (int64_t i = 0; i < sum->count; i++)
      ((double *)sum->data)[i] /= n;
  else
    for (int64_t i = 0; i < sum->count; i++)
      ((float *)sum->data)[i] /= (float)n;
  return true;
}
ONNXL_KERNEL(mean, COMPUTES);

/* fmod = 0: the sign of the divisor, as Python; 1: that of the dividend, as C. */
#define floor_mod_FLOAT_ROW(type, T, U) ONNXL_BINARY_ROW(floor_mod_##T, T, T, floor_mod_real(a, b))
#define floor_mod_UNSIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(floor_mod_##T, T, T, a % b)
#define floor_mod_SIGNED_ROW(type, T, U) \
  ONNXL_BINARY_ROW(floor_mod_##T, T, T, b == -1 ? 0 : a % b != 0 && ((a % b < 0) != (b < 0)) ? a % b + b : a % b)
#define trunc_mod_FLOAT_ROW(type, T, U) ONNXL_BINARY_ROW(trunc_mod_##T, T, T, fmod(a, b))
#define trunc_mod_UNSIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(trunc_mod_##T, T, T, b == 0 ? 0 : a % b)
#define trunc_mod_SIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(trunc_mod_##T, T, T, b == -1 ? 0 : a % b)
#define floor_mod_CASE(type, T, U) ONNXL_BINARY_CASE(type, floor_mod_##T)
#define trunc_mod_CASE(type, T, U) ONNXL_BINARY_CASE(type, trunc_mod_##T)

static double
floor_mod_real(double a, double b)
{
  double rest = fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

ONNXL_FLOAT_TYPES(floor_mod_FLOAT_ROW)
ONNXL_UNSIGNED_TYPES(floor_mod_UNSIGNED_ROW)
ONNXL_SIGNED_TYPES(floor_mod_SIGNED_ROW)
ONNXL_FLOAT_TYPES(trunc_mod_FLOAT_ROW)
ONNXL_UNSIGNED_TYPES(trunc_mod_UNSIGNED_ROW)
ONNXL_SIGNED_TYPES(trunc_mod_SIGNED_ROW)
ONNXL_BINARY_TABLE(floor_mod, ONNXL_REAL_TYPES)
ONNXL_BINARY_TABLE(trunc_mod, ONNXL_REAL_TYPES)

static bool
run_mod(OnnxlKernelContext *context, GError **error)
{
  int32_t type = onnxl_ctx_input(context, 0)->elem_type;
  OnnxlBinaryRow row = onnxl_ctx_int(context, "fmod") != 0 ? trunc_mod_row(type) : floor_mod_row(type);
  return check_divisor(context, error) && onnxl_binary(context, row, type, error);
}
ONNXL_KERNEL(mod, COMPUTES);

/* PRelu: the slope is broadcast to the input; before opset 7 it is one value a channel, or one for all. */
#define prelu_ROW(type, T, U) ONNXL_BINARY_ROW(prelu_##T, T, T, a < 0 ? (T)((U)a * (U)b) : a)
#define prelu_UNSIGNED_ROW(type, T, U) ONNXL_BINARY_ROW(prelu_##T, T, T, ((void)b, a))
#define prelu_CASE(type, T, U) ONNXL_BINARY_CASE(type, prelu_##T)
ONNXL_FLOAT_TYPES(prelu_ROW)
ONNXL_SIGNED_TYPES(prelu_ROW)
ONNXL_UNSIGNED_TYPES(prelu_UNSIGNED_ROW)
ONNXL_BINARY_TABLE(prelu, ONNXL_REAL_TYPES)

static bool
run_prelu(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0), *slope = onnxl_ctx_input(context, 1);
  OnnxlBinaryRow row = prelu_row(x->elem_type);
  if (!row)
    return onnxl_ctx_unsupported_type(context, error, x->elem_type);
  int64_t dims[ONNXL_MAX_RANK];
  uint32_t rank;
  OnnxlValue *view = NULL;
  if (onnxl_ctx_schema(context)->since < 7 && slope->rank == 1 && slope->count > 1 && x->rank > 2) {
    for (uint32_t i = 0; i + 1 < x->rank; i++)
      dims[i] = i == 0 ? slope->dims[0] : 1;
    view = onnxl_value_new_view(slope, slope->elem_type, x->rank - 1, dims);
    slope = view;
  }
  bool good = onnxl_ctx_broadcast(context, (OnnxlValue *[]){ x, slope }, 2, &rank, dims, error);
  if (good && (rank != x->rank || memcmp(dims, x->dims, rank * sizeof *dims) != 0))
    good = onnxl_ctx_invalid(context, error, "the slope is larger than the input");
  OnnxlValue *result = good ? onnxl_ctx_output_like(context, 0, x, error) : NULL;
  good = result && onnxl_binary_into(result, x, slope, row);
  onnxl_value_unref(view);
  return good;
}
ONNXL_KERNEL(prelu, COMPUTES);
