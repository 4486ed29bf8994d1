/* Functions of one element, and casts. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"
#include "runtime/unary-internal.h"

/* A kernel from an expression over x in float and in double. */
#define REAL_FUNCTION(name, float_expression, double_expression) \
  ONNXL_REAL_FUNCTION(name, , float_expression, double_expression)

REAL_FUNCTION(acos, acosf(x), acos(x));
REAL_FUNCTION(acosh, acoshf(x), acosh(x));
REAL_FUNCTION(asin, asinf(x), asin(x));
REAL_FUNCTION(asinh, asinhf(x), asinh(x));
REAL_FUNCTION(atan, atanf(x), atan(x));
REAL_FUNCTION(atanh, atanhf(x), atanh(x));
REAL_FUNCTION(ceil, ceilf(x), ceil(x));
REAL_FUNCTION(cos, cosf(x), cos(x));
REAL_FUNCTION(cosh, coshf(x), cosh(x));
REAL_FUNCTION(exp, expf(x), exp(x));
REAL_FUNCTION(floor, floorf(x), floor(x));
REAL_FUNCTION(log, logf(x), log(x));
REAL_FUNCTION(reciprocal, 1 / x, 1 / x);
REAL_FUNCTION(round, rintf(x), rint(x)); /* half to even, the default mode */
REAL_FUNCTION(sin, sinf(x), sin(x));
REAL_FUNCTION(sinh, sinhf(x), sinh(x));
REAL_FUNCTION(sqrt, sqrtf(x), sqrt(x));
REAL_FUNCTION(tan, tanf(x), tan(x));
REAL_FUNCTION(tanh, tanhf(x), tanh(x));

/* A kernel from the expressions name_FLOAT, name_SIGNED and name_UNSIGNED over x. */
#define NUMBER_FUNCTION(name)                                                                                   \
  static bool run_##name(OnnxlKernelContext *context, GError **error)                                           \
  {                                                                                                             \
    OnnxlValue *input = onnxl_ctx_input(context, 0), *output = onnxl_ctx_output_like(context, 0, input, error); \
    if (!output)                                                                                                \
      return false;                                                                                             \
    switch (input->elem_type) {                                                                                 \
      ONNXL_FLOAT_TYPES(name##_FLOAT)                                                                           \
      ONNXL_SIGNED_TYPES(name##_SIGNED)                                                                         \
      ONNXL_UNSIGNED_TYPES(name##_UNSIGNED)                                                                     \
    default:                                                                                                    \
      return onnxl_ctx_unsupported_type(context, error, input->elem_type);                                      \
    }                                                                                                           \
    return true;                                                                                                \
  }                                                                                                             \
  ONNXL_KERNEL(name, COMPUTES)

#define EACH(type, T, expression)                \
  case ONNXL_TYPE_##type:                        \
    for (int64_t i = 0; i < input->count; i++) { \
      T x = ((const T *)input->data)[i];         \
      ((T *)output->data)[i] = (T)(expression);  \
    }                                            \
    break;

#define abs_FLOAT(type, T, U) EACH(type, T, fabs(x))
#define abs_SIGNED(type, T, U) EACH(type, T, x < 0 ? 0 - (U)x : (U)x)
#define abs_UNSIGNED(type, T, U) EACH(type, T, x)
NUMBER_FUNCTION(abs);

#define neg_FLOAT(type, T, U) EACH(type, T, -x)
#define neg_SIGNED(type, T, U) EACH(type, T, 0 - (U)x)
#define neg_UNSIGNED(type, T, U) EACH(type, T, 0 - (U)x)
NUMBER_FUNCTION(neg);

#define sign_FLOAT(type, T, U) EACH(type, T, x > 0 ? 1 : x < 0 ? -1 : x)
#define sign_SIGNED(type, T, U) EACH(type, T, (x > 0) - (x < 0))
#define sign_UNSIGNED(type, T, U) EACH(type, T, x > 0)
NUMBER_FUNCTION(sign);

#define relu_FLOAT(type, T, U) EACH(type, T, x < 0 ? 0 : x)
#define relu_SIGNED(type, T, U) EACH(type, T, x < 0 ? 0 : x)
#define relu_UNSIGNED(type, T, U) EACH(type, T, x)
NUMBER_FUNCTION(relu);

/* Also taken by integers, for which it is computed in double and truncated. */
static bool
run_erf(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *input = onnxl_ctx_input(context, 0), *output = onnxl_ctx_output_like(context, 0, input, error);
  for (int64_t i = 0; output && i < input->count; i++) {
    if (input->elem_type == ONNXL_TYPE_FLOAT) {
      ((float *)output->data)[i] = erff(((const float *)input->data)[i]);
      continue;
    }
    double value = erf(onnxl_tensor_double(input, i));
    onnxl_tensor_write_double(output, i, 1, &value);
  }
  return output != NULL;
}
ONNXL_KERNEL(erf, COMPUTES);

/* Clip: the bounds are attributes before opset 11 and optional inputs since. NaN stays, and max wins over min. */
#define CLIP(type, T, U)                                                             \
  case ONNXL_TYPE_##type: {                                                          \
    T low = min ? *(const T *)min->data : 0, high = max ? *(const T *)max->data : 0; \
    if (by_attribute) {                                                              \
      low = (T)attribute_min;                                                        \
      high = (T)attribute_max;                                                       \
    }                                                                                \
    for (int64_t i = 0; i < input->count; i++) {                                     \
      T x = ((const T *)input->data)[i];                                             \
      x = has_min && x < low ? low : x;                                              \
      ((T *)output->data)[i] = has_max && x > high ? high : x;                       \
    }                                                                                \
    return true;                                                                     \
  }

static bool
run_clip(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *input = onnxl_ctx_input(context, 0), *min = NULL, *max = NULL;
  bool by_attribute = onnxl_ctx_schema(context)->since < 11;
  float attribute_min = onnxl_ctx_float(context, "min"), attribute_max = onnxl_ctx_float(context, "max");
  bool has_min, has_max;
  if (by_attribute) {
    has_min = onnxl_ctx_attr(context, "min") != NULL;
    has_max = onnxl_ctx_attr(context, "max") != NULL;
  } else {
    min = onnxl_ctx_input(context, 1);
    max = onnxl_ctx_input(context, 2);
    if ((min && min->count != 1) || (max && max->count != 1))
      return onnxl_ctx_invalid(context, error, "min and max must have one element each");
    has_min = min != NULL;
    has_max = max != NULL;
  }
  OnnxlValue *output = onnxl_ctx_output_like(context, 0, input, error);
  if (!output)
    return false;
  switch (input->elem_type) {
    ONNXL_REAL_TYPES(CLIP)
  default:
    return onnxl_ctx_unsupported_type(context, error, input->elem_type);
  }
}
ONNXL_KERNEL(clip, COMPUTES);

static bool
cast_to(OnnxlKernelContext *context, int64_t type, GError **error)
{
  const OnnxlValue *input = onnxl_ctx_input(context, 0);
  if (type <= 0 || type >= ONNXL_N_TYPES)
    return onnxl_ctx_invalid(context, error, "the target type %" G_GINT64_FORMAT " is unknown", type);
  OnnxlStr round_mode = onnxl_ctx_string(context, "round_mode");
  if (round_mode.size > 0 && !onnxl_str_is(round_mode, "up") && !onnxl_str_is(round_mode, "down") &&
      !onnxl_str_is(round_mode, "nearest"))
    return onnxl_ctx_invalid(context, error, "round_mode is \"%.*s\"", ONNXL_ARG(round_mode));
  const OnnxlCastOptions options = { .saturate =
                                       onnxl_ctx_schema(context)->since < 19 || onnxl_ctx_int(context, "saturate") != 0,
                                     .round_mode = round_mode };
  GError *failed = NULL;
  OnnxlValue *output = onnxl_tensor_cast(onnxl_ctx_allocator(context), input, (int32_t)type, &options, &failed);
  if (!output) {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
    return false;
  }
  onnxl_ctx_set_output(context, 0, output);
  return true;
}

static bool
run_cast(OnnxlKernelContext *context, GError **error)
{
  int64_t type = onnxl_ctx_int(context, "to");
  if (onnxl_ctx_schema(context)->since < 6) { /* the type was a text such as FLOAT16 */
    OnnxlStr text = onnxl_ctx_string(context, "to");
    char *name = g_ascii_strdown(text.data, (gssize)text.size);
    type = onnxl_data_type_from_name(onnxl_str(name));
    g_free(name);
  }
  return cast_to(context, type, error);
}
ONNXL_KERNEL(cast, EXACT);

static bool
run_cast_like(OnnxlKernelContext *context, GError **error)
{
  return cast_to(context, onnxl_ctx_input(context, 1)->elem_type, error);
}
ONNXL_KERNEL(cast_like, EXACT);

static bool
run_bit_cast(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *input = onnxl_ctx_input(context, 0);
  int64_t type = onnxl_ctx_int(context, "to");
  if (type <= 0 || type >= ONNXL_N_TYPES || onnxl_data_type_bits((int32_t)type) == 0 ||
      onnxl_data_type_bits((int32_t)type) != onnxl_data_type_bits(input->elem_type))
    return onnxl_ctx_invalid(context, error,
                             "elements of type %s do not have the size of type %" G_GINT64_FORMAT " (%s)",
                             onnxl_data_type_name(input->elem_type), type,
                             type > 0 && type < ONNXL_N_TYPES ? onnxl_data_type_name((int32_t)type) : "unknown");
  OnnxlValue *output = onnxl_ctx_output(context, 0, (int32_t)type, input->rank, input->dims, error);
  if (!output)
    return false;
  memmove(output->data, input->data, input->bytes); /* they may be the same */
  /* Any bits may come in, but a bool is 0 or 1 everywhere else. */
  for (uint64_t i = 0; type == ONNXL_TYPE_BOOL && i < output->bytes; i++)
    ((uint8_t *)output->data)[i] = ((uint8_t *)output->data)[i] != 0;
  return true;
}
ONNXL_KERNEL(bit_cast, EXACT);
