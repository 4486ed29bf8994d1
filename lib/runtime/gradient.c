#include "runtime/gradient-internal.h"

#include <math.h>

#include "runtime/loop.h"
#include "runtime/matmul-internal.h"

typedef double (*Partial)(double a, double b, double y);

struct OnnxlGradientRule {
  char name[16];
  int32_t since; /* the first version it holds for */
  OnnxlValue *(*apply)(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error);
  Partial partials[2]; /* of operators that work element by element: derivative by each operand */
};

static OnnxlValue *
new_tensor(const OnnxlGradientNode *node, size_t rank, const int64_t *dims, GError **error)
{
  return onnxl_value_new_tensor(onnxl_ctx_allocator(node->context), ONNXL_TYPE_DOUBLE, rank, dims, "a gradient", error);
}

/* --- element by element, with broadcasting --- */

static double
one(double a, double b, double y)
{
  return 1;
}

static double
minus_one(double a, double b, double y)
{
  return -1;
}

static double
second(double a, double b, double y)
{
  return b;
}

static double
first(double a, double b, double y)
{
  return a;
}

static double
div_first(double a, double b, double y)
{
  return 1 / b;
}

static double
div_second(double a, double b, double y)
{
  return -a / (b * b);
}

static double
pow_first(double a, double b, double y)
{
  return b == 0 ? 0 : b * pow(a, b - 1);
}

static double
pow_second(double a, double b, double y)
{
  return a == 0 ? 0 : y * log(a);
}

static double
result(double a, double b, double y)
{
  return y;
}

static double
log_first(double a, double b, double y)
{
  return 1 / a;
}

static double
sqrt_first(double a, double b, double y)
{
  return 0.5 / y;
}

static double
tanh_first(double a, double b, double y)
{
  return 1 - y * y;
}

static double
sigmoid_first(double a, double b, double y)
{
  return y * (1 - y);
}

static double
softplus_first(double a, double b, double y)
{
  return 1 / (1 + exp(-a));
}

static double
relu_first(double a, double b, double y)
{
  return a > 0;
}

static double
abs_first(double a, double b, double y)
{
  return (a > 0) - (a < 0);
}

static double
reciprocal_first(double a, double b, double y)
{
  return -y * y;
}

static double
sin_first(double a, double b, double y)
{
  return cos(a);
}

static double
cos_first(double a, double b, double y)
{
  return -sin(a);
}

/* Sums over the axes along which the input was broadcast. Sum has any number of inputs with the same derivative. */
static OnnxlValue *
apply_elementwise(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  const OnnxlValue *a = node->inputs[0], *b = node->n_inputs > 1 ? node->inputs[1] : a, *x = node->inputs[i];
  Partial partial = rule->partials[MIN(i, 1)];
  OnnxlValue *gradient = new_tensor(node, x->rank, x->dims, error);
  if (!gradient || gradient->count == 0)
    return gradient;
  OnnxlLoop loop;
  double *to = gradient->data;
  const double *from = node->gradient->data, *y = node->output->data;
  memset(to, 0, gradient->bytes);
  onnxl_loop_init(&loop, node->output->dims, node->output->rank);
  onnxl_loop_add(&loop, node->output);
  onnxl_loop_add(&loop, a);
  onnxl_loop_add(&loop, b);
  onnxl_loop_add(&loop, gradient);
  onnxl_loop_finish(&loop);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
    for (int64_t k = 0; k < onnxl_loop_row(&loop); k++) {
      int64_t at[4];
      for (uint32_t o = 0; o < 4; o++)
        at[o] = loop.offsets[o] + k * onnxl_loop_step(&loop, o);
      to[at[3]] += from[at[0]] * partial(((const double *)a->data)[at[1]], ((const double *)b->data)[at[2]], y[at[0]]);
    }
  return gradient;
}

/* --- moves --- */

/* The data operand keeps its elements in their order; shapes and axes have no gradient, which is zero. */
static OnnxlValue *
apply_reshape(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  const OnnxlValue *x = node->inputs[i];
  OnnxlValue *gradient = new_tensor(node, x->rank, x->dims, error);
  if (gradient && gradient->count > 0) {
    memset(gradient->data, 0, gradient->bytes);
    if (i == 0)
      memcpy(gradient->data, node->gradient->data, gradient->bytes);
  }
  return gradient;
}

static OnnxlValue *
apply_transpose(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  const OnnxlValue *x = node->inputs[0];
  OnnxlInt64List perm = onnxl_ctx_ints(node->context, "perm");
  OnnxlValue *gradient = new_tensor(node, x->rank, x->dims, error);
  int64_t strides[ONNXL_MAX_RANK], moved[ONNXL_MAX_RANK];
  if (!gradient || gradient->count == 0)
    return gradient;
  onnxl_strides(x->dims, x->rank, strides);
  for (uint32_t k = 0; k < x->rank; k++) {
    int64_t axis = perm.count > 0 ? perm.items[k] : x->rank - 1 - k; /* the forward run has checked perm */
    moved[k] = strides[axis < 0 ? axis + x->rank : axis];
  }
  onnxl_scatter_strided(gradient->data, node->gradient->data, node->gradient->dims, x->rank, moved, sizeof(double));
  return gradient;
}

/* --- reductions --- */

/* Each element gets the gradient of the sum that it went into; of a mean, its part. */
static OnnxlValue *
reduction_gradient(const OnnxlGradientNode *node, bool mean, GError **error)
{
  const OnnxlValue *x = node->inputs[0], *axes = node->n_inputs > 1 ? node->inputs[1] : NULL;
  OnnxlInt64List list = onnxl_ctx_ints(node->context, "axes");
  int64_t n = axes ? axes->count : (int64_t)list.count, strides[ONNXL_MAX_RANK], own[ONNXL_MAX_RANK],
          dims[ONNXL_MAX_RANK];
  bool all = n == 0 && onnxl_ctx_int(node->context, "noop_with_empty_axes") == 0;
  double scale = mean && x->count > 0 ? (double)node->output->count / (double)x->count : 1;
  OnnxlValue *gradient = new_tensor(node, x->rank, x->dims, error);
  OnnxlLoop loop;
  if (!gradient || gradient->count == 0)
    return gradient;
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  for (uint32_t k = 0; all && k < x->rank; k++)
    dims[k] = 1;
  for (int64_t k = 0; k < n; k++) {
    int64_t axis = axes ? (int64_t)((const double *)axes->data)[k] : list.items[k];
    dims[axis < 0 ? axis + x->rank : axis] = 1;
  }
  /* Without keepdims the output's elements lie as if the dims of size 1 were there. */
  onnxl_strides(dims, x->rank, strides);
  onnxl_strides(x->dims, x->rank, own);
  for (uint32_t k = 0; k < x->rank; k++)
    strides[k] = dims[k] == 1 ? 0 : strides[k];
  onnxl_loop_init(&loop, x->dims, x->rank);
  onnxl_loop_add_strided(&loop, own);
  onnxl_loop_add_strided(&loop, strides);
  onnxl_loop_finish(&loop);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
    for (int64_t k = 0; k < onnxl_loop_row(&loop); k++)
      ((double *)gradient->data)[loop.offsets[0] + k * onnxl_loop_step(&loop, 0)] =
        scale * ((const double *)node->gradient->data)[loop.offsets[1] + k * onnxl_loop_step(&loop, 1)];
  return gradient;
}

static OnnxlValue *
apply_sum(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  return i == 0 ? reduction_gradient(node, false, error) : apply_reshape(rule, node, i, error);
}

static OnnxlValue *
apply_mean(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  return i == 0 ? reduction_gradient(node, true, error) : apply_reshape(rule, node, i, error);
}

/* --- products of matrices --- */

/* x with its last two axes exchanged. */
static OnnxlValue *
exchange_last(const OnnxlGradientNode *node, const OnnxlValue *x, GError **error)
{
  int64_t dims[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK];
  uint32_t a = x->rank - 2, b = x->rank - 1;
  onnxl_strides(x->dims, x->rank, strides);
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  dims[a] = x->dims[b];
  dims[b] = x->dims[a];
  int64_t step = strides[a];
  strides[a] = strides[b];
  strides[b] = step;
  OnnxlValue *y = new_tensor(node, x->rank, dims, error);
  if (y && y->count > 0)
    onnxl_copy_strided(y->data, x->data, dims, x->rank, strides, sizeof(double));
  return y;
}

/* gradient summed over the axes that dims lacks or has as 1. Takes the reference to gradient. */
static OnnxlValue *
sum_to(const OnnxlGradientNode *node, OnnxlValue *gradient, const OnnxlValue *x, GError **error)
{
  OnnxlValue *sum = new_tensor(node, x->rank, x->dims, error);
  if (sum && sum->count > 0) {
    OnnxlLoop loop;
    memset(sum->data, 0, sum->bytes);
    onnxl_loop_init(&loop, gradient->dims, gradient->rank);
    onnxl_loop_add(&loop, gradient);
    onnxl_loop_add(&loop, sum);
    onnxl_loop_finish(&loop);
    for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
      for (int64_t k = 0; k < onnxl_loop_row(&loop); k++)
        ((double *)sum->data)[loop.offsets[1] + k * onnxl_loop_step(&loop, 1)] +=
          ((const double *)gradient->data)[loop.offsets[0] + k * onnxl_loop_step(&loop, 0)];
  }
  onnxl_value_unref(gradient);
  return sum;
}

/* Matrices only, or stacks of them: dA = dY B^T, dB = A^T dY. */
static OnnxlValue *
apply_matmul(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  const OnnxlValue *a = node->inputs[0], *b = node->inputs[1];
  if (a->rank < 2 || b->rank < 2) {
    onnxl_ctx_fail(node->context, error, ONNXL_ERROR_UNSUPPORTED, "no gradient of products with vectors");
    return NULL;
  }
  OnnxlValue *product = NULL, *turned = exchange_last(node, i == 0 ? b : a, error);
  bool good = turned && (i == 0 ? onnxl_matmul(node->context, node->gradient, turned, &product, error)
                                : onnxl_matmul(node->context, turned, node->gradient, &product, error));
  onnxl_value_unref(turned);
  return good ? sum_to(node, product, node->inputs[i], error) : NULL;
}

static const OnnxlGradientRule rules[] = {
  { "Abs", 6, apply_elementwise, { abs_first } },
  { "Add", 7, apply_elementwise, { one, one } },
  { "Cos", 7, apply_elementwise, { cos_first } },
  { "Div", 7, apply_elementwise, { div_first, div_second } },
  { "Exp", 6, apply_elementwise, { result } },
  { "Flatten", 1, apply_reshape, { NULL } },
  { "Identity", 1, apply_reshape, { NULL } },
  { "Log", 6, apply_elementwise, { log_first } },
  { "MatMul", 1, apply_matmul, { NULL } },
  { "Mul", 7, apply_elementwise, { second, first } },
  { "Neg", 6, apply_elementwise, { minus_one } },
  { "Pow", 7, apply_elementwise, { pow_first, pow_second } },
  { "Reciprocal", 6, apply_elementwise, { reciprocal_first } },
  { "ReduceMean", 1, apply_mean, { NULL } },
  { "ReduceSum", 1, apply_sum, { NULL } },
  { "Relu", 6, apply_elementwise, { relu_first } },
  { "Reshape", 5, apply_reshape, { NULL } },
  { "Sigmoid", 6, apply_elementwise, { sigmoid_first } },
  { "Sin", 7, apply_elementwise, { sin_first } },
  { "Softplus", 1, apply_elementwise, { softplus_first } },
  { "Sqrt", 6, apply_elementwise, { sqrt_first } },
  { "Squeeze", 1, apply_reshape, { NULL } },
  { "Sub", 7, apply_elementwise, { one, minus_one } },
  { "Sum", 8, apply_elementwise, { one, one } },
  { "Tanh", 6, apply_elementwise, { tanh_first } },
  { "Transpose", 1, apply_transpose, { NULL } },
  { "Unsqueeze", 1, apply_reshape, { NULL } },
};

const OnnxlGradientRule *
onnxl_gradient_rule(const OnnxlOpSchema *schema)
{
  for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
    if (schema->domain[0] == '\0' && strcmp(schema->name, rules[i].name) == 0)
      return schema->since >= rules[i].since ? &rules[i] : NULL;
  return NULL;
}

OnnxlValue *
onnxl_gradient_apply(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i, GError **error)
{
  return rule->apply(rule, node, i, error);
}
