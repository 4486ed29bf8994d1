/* Activation functions, and softmax along an axis. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/unary-internal.h"

/* A kernel from an expression over x, alpha and beta (the attributes named first and second), for float and double.
 * F(name) is the C function of the type. */
#define F32(name) name##f
#define F64(name) name
#define ACTIVATION(name, first, second, expression_of)                                                        \
  ONNXL_REAL_FUNCTION(name, float alpha G_GNUC_UNUSED = onnxl_ctx_float(context, first);                      \
                      float beta G_GNUC_UNUSED = onnxl_ctx_float(context, second), expression_of(F32, float), \
                      expression_of(F64, double))

#define CELU(F, T) (x > 0 ? x : alpha * F(expm1)(x / alpha))
ACTIVATION(celu, "alpha", "beta", CELU);

#define ELU(F, T) (x < 0 ? alpha * F(expm1)(x) : x)
ACTIVATION(elu, "alpha", "beta", ELU);

/* Not by fmin() and fmax(), which turn a NaN into a bound. */
#define HARD_SIGMOID(F, T) CLAMP(alpha * x + beta, 0, 1)
ACTIVATION(hard_sigmoid, "alpha", "beta", HARD_SIGMOID);

#define HARD_SWISH(F, T) x *F(fmax)(0, F(fmin)(1, x / 6 + (T)0.5))
ACTIVATION(hard_swish, "alpha", "beta", HARD_SWISH);

#define LEAKY_RELU(F, T) (x < 0 ? alpha * x : x)
ACTIVATION(leaky_relu, "alpha", "beta", LEAKY_RELU);

#define MISH(F, T) x *F(tanh)(SOFTPLUS(F, T))
#define SOFTPLUS(F, T) (F(fmax)(x, 0) + F(log1p)(F(exp)(-F(fabs)(x)))) /* log(1 + e^x) without overflow */
ACTIVATION(mish, "alpha", "beta", MISH);

#define SELU(F, T) (x > 0 ? beta * x : beta * (alpha * F(exp)(x) - alpha))
ACTIVATION(selu, "alpha", "gamma", SELU);

#define SIGMOID(F, T) 1 / (1 + F(exp)(-x))
ACTIVATION(sigmoid, "alpha", "beta", SIGMOID);

ACTIVATION(softplus, "alpha", "beta", SOFTPLUS);

#define SOFTSIGN(F, T) x / (1 + F(fabs)(x))
ACTIVATION(softsign, "alpha", "beta", SOFTSIGN);

#define SWISH(F, T) x / (1 + F(exp)(-alpha * x))
ACTIVATION(swish, "alpha", "beta", SWISH);

#define THRESHOLDED_RELU(F, T) (x > alpha ? x : 0)
ACTIVATION(thresholded_relu, "alpha", "beta", THRESHOLDED_RELU);

#define GELU_ERF(F, T) (T)0.5 * x *(1 + F(erf)(x * (T)M_SQRT1_2))
#define GELU_TANH(F, T) (T)0.5 * x *(1 + F(tanh)((T)0.7978845608028654 * (x + (T)0.044715 * x * x * x)))
ACTIVATION(gelu_erf, "alpha", "beta", GELU_ERF);
ACTIVATION(gelu_tanh, "alpha", "beta", GELU_TANH);

static bool
run_gelu(OnnxlKernelContext *context, GError **error)
{
  OnnxlStr approximate = onnxl_ctx_string(context, "approximate");
  if (onnxl_str_is(approximate, "tanh"))
    return run_gelu_tanh(context, error);
  if (!onnxl_str_is(approximate, "none"))
    return onnxl_ctx_invalid(context, error, "approximate is \"%.*s\"", ONNXL_ARG(approximate));
  return run_gelu_erf(context, error);
}
ONNXL_KERNEL(gelu, COMPUTES);

/* Shrink takes integers, too. */
static bool
run_shrink(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0), *y = onnxl_ctx_output_like(context, 0, x, error);
  float lambd = onnxl_ctx_float(context, "lambd"), bias = onnxl_ctx_float(context, "bias");
  for (int64_t i = 0; y && i < x->count; i++) {
    double value = onnxl_tensor_double(x, i);
    value = value < -lambd ? value + bias : value > lambd ? value - bias : 0;
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return y != NULL;
}
ONNXL_KERNEL(shrink, COMPUTES);

static bool
run_swi_glu(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *a = onnxl_ctx_input(context, 0), *b = onnxl_ctx_input(context, 1);
  float alpha = onnxl_ctx_float(context, "alpha");
  if (a->rank != b->rank || (a->rank > 0 && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0))
    return onnxl_ctx_invalid(context, error, "A and B have different shapes");
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, a, error);
  for (int64_t i = 0; y && i < a->count; i++)
    if (a->elem_type == ONNXL_TYPE_DOUBLE) {
      double x = ((const double *)a->data)[i];
      ((double *)y->data)[i] = SWISH(F64, double) * ((const double *)b->data)[i];
    } else {
      float x = ((const float *)a->data)[i];
      ((float *)y->data)[i] = SWISH(F32, float) * ((const float *)b->data)[i];
    }
  return y != NULL;
}
ONNXL_KERNEL(swi_glu, COMPUTES);

/* --- softmax: over n values with a stride; sums in double --- */

typedef enum Softmax { SOFTMAX, LOG_SOFTMAX, HARDMAX } Softmax;

#define SOFTMAX_LOOP(name, T)                                                                                      \
  static void name(Softmax kind, const T *x, T *y, int64_t n, int64_t stride)                                      \
  {                                                                                                                \
    int64_t best = 0;                                                                                              \
    for (int64_t i = 1; i < n; i++)                                                                                \
      if (x[i * stride] > x[best * stride] || (isnan(x[i * stride]) && !isnan(x[best * stride])))                  \
        best = i;                                                                                                  \
    T max = x[best * stride];                                                                                      \
    if (kind == HARDMAX) {                                                                                         \
      for (int64_t i = 0; i < n; i++)                                                                              \
        y[i * stride] = i == best;                                                                                 \
      return;                                                                                                      \
    }                                                                                                              \
    double sum = 0;                                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                                              \
      T e = (T)(sizeof(T) == sizeof(float) ? (T)expf((float)(x[i * stride] - max)) : (T)exp(x[i * stride] - max)); \
      y[i * stride] = e;                                                                                           \
      sum += (double)e;                                                                                            \
    }                                                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                                \
      y[i * stride] = kind == SOFTMAX ? (T)(y[i * stride] / sum) : (T)(x[i * stride] - max - log(sum));            \
  }
SOFTMAX_LOOP(softmax_float, float)
SOFTMAX_LOOP(softmax_double, double)

static bool
softmax(OnnxlKernelContext *context, Softmax kind, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool flattens = onnxl_ctx_schema(context)->since < 13; /* everything from the axis on is one vector */
  int64_t axis = onnxl_ctx_int(context, "axis"), outer = 1, n = 1, inner = 1;
  if (x->elem_type != ONNXL_TYPE_FLOAT && x->elem_type != ONNXL_TYPE_DOUBLE)
    return onnxl_ctx_unsupported_type(context, error, x->elem_type);
  if (flattens && axis == x->rank)
    ; /* vectors of one element */
  else if ((x->rank > 0 || axis > 0 || axis < -1) && !onnxl_ctx_axis(context, axis, x->rank, &axis, error))
    return false;
  for (int64_t i = 0; i < x->rank; i++)
    if (i < axis)
      outer *= x->dims[i];
    else if (i == axis || flattens)
      n *= x->dims[i];
    else
      inner *= x->dims[i];
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  if (!y)
    return false;
  for (int64_t o = 0; x->count > 0 && o < outer; o++)
    for (int64_t i = 0; i < inner; i++)
      if (x->elem_type == ONNXL_TYPE_FLOAT)
        softmax_float(kind, (const float *)x->data + o * n * inner + i, (float *)y->data + o * n * inner + i, n, inner);
      else
        softmax_double(kind, (const double *)x->data + o * n * inner + i, (double *)y->data + o * n * inner + i, n,
                       inner);
  return true;
}

static bool
run_softmax(OnnxlKernelContext *context, GError **error)
{
  return softmax(context, SOFTMAX, error);
}
ONNXL_KERNEL(softmax, COMPUTES);

static bool
run_log_softmax(OnnxlKernelContext *context, GError **error)
{
  return softmax(context, LOG_SOFTMAX, error);
}
ONNXL_KERNEL(log_softmax, COMPUTES);

static bool
run_hardmax(OnnxlKernelContext *context, GError **error)
{
  return softmax(context, HARDMAX, error);
}
ONNXL_KERNEL(hardmax, COMPUTES);
