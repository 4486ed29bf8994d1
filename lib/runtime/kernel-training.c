/* Optimizers: one step of Adagrad, Adam or Momentum on any number of tensors. */
#include <math.h>

#include "runtime/kernel.h"
#include "runtime/tensor.h"

enum { MAX_STATES = 2 };

/* What a step knows beside the tensors. */
typedef struct Step {
  double rate;   /* R */
  int64_t count; /* T, updates so far */
  double norm, norm_post, epsilon;
  double alpha, beta;
  bool nesterov;
} Step;

/* New values of one number and its states, in place. gradient is regularized already. */
typedef void (*Update)(const Step *step, double *x, double gradient, double states[MAX_STATES]);

static void
update_adagrad(const Step *step, double *x, double gradient, double states[MAX_STATES])
{
  states[0] += gradient * gradient;
  *x -= step->rate * gradient / (sqrt(states[0]) + step->epsilon);
}

static void
update_adam(const Step *step, double *x, double gradient, double states[MAX_STATES])
{
  states[0] = step->alpha * states[0] + (1 - step->alpha) * gradient;
  states[1] = step->beta * states[1] + (1 - step->beta) * gradient * gradient;
  *x -= step->rate * states[0] / (sqrt(states[1]) + step->epsilon);
  *x *= 1 - step->norm_post;
}

static void
update_momentum(const Step *step, double *x, double gradient, double states[MAX_STATES])
{
  double beta = step->count > 0 ? step->beta : 1;
  states[0] = step->alpha * states[0] + beta * gradient;
  *x -= step->rate * (step->nesterov ? gradient + step->alpha * states[0] : states[0]);
}

static bool
check_same(const OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *other, GError **error)
{
  if (other->elem_type == x->elem_type && other->rank == x->rank &&
      memcmp(other->dims, x->dims, x->rank * sizeof *x->dims) == 0)
    return true;
  char *a = onnxl_value_describe(x), *b = onnxl_value_describe(other);
  onnxl_ctx_invalid(context, error, "a tensor is %s and what belongs to it %s", a, b);
  g_free(a);
  g_free(b);
  return false;
}

/* Tensor i of n: inputs are R, T, the n tensors, their gradients, and their states, one kind after the other. */
static bool
update_tensor(OnnxlKernelContext *context, const Step *step, Update update, uint32_t i, uint32_t n, uint32_t n_states,
              GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 2 + i), *gradient = onnxl_ctx_input(context, 2 + n + i);
  const OnnxlValue *states[MAX_STATES] = { NULL };
  OnnxlValue *outputs[1 + MAX_STATES];
  if (!check_same(context, x, gradient, error))
    return false;
  for (uint32_t s = 0; s < n_states; s++) {
    states[s] = onnxl_ctx_input(context, 2 + (2 + s) * n + i);
    if (!check_same(context, x, states[s], error))
      return false;
  }
  for (uint32_t s = 0; s <= n_states; s++)
    if (!(outputs[s] = onnxl_ctx_output_like(context, s * n + i, x, error)))
      return false;
  for (int64_t e = 0; e < x->count; e++) {
    double value = onnxl_tensor_double(x, e), now[MAX_STATES] = { 0 };
    for (uint32_t s = 0; s < n_states; s++)
      now[s] = onnxl_tensor_double(states[s], e);
    update(step, &value, step->norm * value + onnxl_tensor_double(gradient, e), now);
    onnxl_tensor_write_double(outputs[0], e, 1, &value);
    for (uint32_t s = 0; s < n_states; s++)
      onnxl_tensor_write_double(outputs[1 + s], e, 1, &now[s]);
  }
  return true;
}

static bool
start_step(OnnxlKernelContext *context, Step *step, GError **error)
{
  *step = (Step){
    .norm = onnxl_ctx_float(context, "norm_coefficient"),
    .norm_post = onnxl_ctx_float(context, "norm_coefficient_post"),
    .epsilon = onnxl_ctx_float(context, "epsilon"),
    .alpha = onnxl_ctx_float(context, "alpha"),
    .beta = onnxl_ctx_float(context, "beta"),
  };
  return onnxl_ctx_scalar_double(context, onnxl_ctx_input(context, 0), &step->rate, error) &&
         onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 1), &step->count, error);
}

static bool
update_all(OnnxlKernelContext *context, const Step *step, Update update, uint32_t n_states, GError **error)
{
  uint32_t given = onnxl_ctx_n_inputs(context) - 2, n = given / (2 + n_states);
  if (given % (2 + n_states) != 0 || onnxl_ctx_n_outputs(context) != n * (1 + n_states))
    return onnxl_ctx_invalid(context, error,
                             "%u inputs and %u outputs do not make up tensors with a gradient and %u states", given + 2,
                             onnxl_ctx_n_outputs(context), n_states);
  for (uint32_t i = 0; i < n; i++)
    if (!update_tensor(context, step, update, i, n, n_states, error))
      return false;
  return true;
}

static bool
run_adagrad(OnnxlKernelContext *context, GError **error)
{
  Step step;
  if (!start_step(context, &step, error))
    return false;
  step.rate /= 1 + (double)step.count * onnxl_ctx_float(context, "decay_factor");
  return update_all(context, &step, update_adagrad, 1, error);
}
ONNXL_KERNEL(adagrad, EXACT);

static bool
run_adam(OnnxlKernelContext *context, GError **error)
{
  Step step;
  if (!start_step(context, &step, error))
    return false;
  if (step.count > 0)
    step.rate *= sqrt(1 - pow(step.beta, (double)step.count)) / (1 - pow(step.alpha, (double)step.count));
  return update_all(context, &step, update_adam, 2, error);
}
ONNXL_KERNEL(adam, EXACT);

static bool
run_momentum(OnnxlKernelContext *context, GError **error)
{
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  Step step;
  if (!start_step(context, &step, error))
    return false;
  step.nesterov = onnxl_str_is(mode, "nesterov");
  if (!step.nesterov && !onnxl_str_is(mode, "standard"))
    return onnxl_ctx_invalid(context, error, "the mode \"%.*s\" is unknown", ONNXL_ARG(mode));
  return update_all(context, &step, update_momentum, 1, error);
}
ONNXL_KERNEL(momentum, EXACT);
