/* Losses over classes. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"

typedef enum Reduction { REDUCTION_NONE, REDUCTION_SUM, REDUCTION_MEAN } Reduction;

typedef struct Loss {
  const OnnxlValue *target, *weight;
  int64_t batch, classes, positions; /* scores are [batch, classes, positions] */
  bool has_ignored;
  int64_t ignored;
  Reduction reduction;
} Loss;

static bool
loss_init(OnnxlKernelContext *context, Loss *loss, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStr reduction = onnxl_ctx_string(context, "reduction");
  *loss = (Loss){ .target = onnxl_ctx_input(context, 1),
                  .weight = onnxl_ctx_input(context, 2),
                  .positions = 1,
                  .has_ignored = onnxl_ctx_attr(context, "ignore_index") != NULL,
                  .ignored = onnxl_ctx_int(context, "ignore_index") };
  bool fits = x->rank >= 2 && loss->target->rank == x->rank - 1 && loss->target->dims[0] == x->dims[0];
  for (uint32_t i = 2; fits && i < x->rank; i++) {
    fits = loss->target->dims[i - 1] == x->dims[i];
    loss->positions *= x->dims[i];
  }
  if (!fits) {
    char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(loss->target->dims, loss->target->rank);
    onnxl_ctx_invalid(context, error, "the scores %s and the classes %s do not fit", a, b);
    g_free(a);
    g_free(b);
    return false;
  }
  loss->batch = x->dims[0];
  loss->classes = x->dims[1];
  if (loss->weight && loss->weight->count != loss->classes)
    return onnxl_ctx_invalid(context, error, "%" G_GINT64_FORMAT " weights are given for %" G_GINT64_FORMAT " classes",
                             loss->weight->count, loss->classes);
  if (onnxl_str_is(reduction, "none"))
    loss->reduction = REDUCTION_NONE;
  else if (onnxl_str_is(reduction, "sum"))
    loss->reduction = REDUCTION_SUM;
  else if (onnxl_str_is(reduction, "mean"))
    loss->reduction = REDUCTION_MEAN;
  else
    return onnxl_ctx_invalid(context, error, "the reduction \"%.*s\" is unknown", ONNXL_ARG(reduction));
  return true;
}

/* Output 0 from log probabilities: minus the weighted one of the right class, perhaps summed up. */
static bool
loss_from_logs(OnnxlKernelContext *context, const Loss *loss, const double *logs, GError **error)
{
  int32_t type = onnxl_ctx_input(context, 0)->elem_type;
  bool none = loss->reduction == REDUCTION_NONE;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, none ? loss->target->rank : 0, loss->target->dims, error);
  double sum = 0, weights = 0;
  for (int64_t i = 0; y && i < loss->target->count; i++) {
    int64_t class = onnxl_tensor_int64(loss->target, i), b = i / loss->positions;
    double value = 0;
    if (!loss->has_ignored || class != loss->ignored) {
      if (class < 0 || class >= loss->classes)
        return onnxl_ctx_invalid(context, error, "the class %" G_GINT64_FORMAT " is not one of %" G_GINT64_FORMAT,
                                 class, loss->classes);
      double weight = loss->weight ? onnxl_tensor_double(loss->weight, class) : 1;
      value = -weight * logs[(b * loss->classes + class) * loss->positions + i % loss->positions];
      weights += weight;
    }
    sum += value;
    if (none)
      onnxl_tensor_write_double(y, i, 1, &value);
  }
  if (y && !none) {
    sum = loss->reduction == REDUCTION_MEAN ? sum / weights : sum;
    onnxl_tensor_write_double(y, 0, 1, &sum);
  }
  return y != NULL;
}

static bool
run_negative_log_likelihood_loss(OnnxlKernelContext *context, GError **error)
{
  Loss loss;
  if (!loss_init(context, &loss, error))
    return false;
  double *logs = onnxl_ctx_doubles(context, onnxl_ctx_input(context, 0), error);
  return logs && loss_from_logs(context, &loss, logs, error);
}
ONNXL_KERNEL(negative_log_likelihood_loss, COMPUTES);

static bool
run_softmax_cross_entropy_loss(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  Loss loss;
  if (!loss_init(context, &loss, error))
    return false;
  double *logs = onnxl_ctx_doubles(context, x, error);
  if (!logs)
    return false;
  for (int64_t i = 0; i < loss.batch * loss.positions; i++) {
    double *row = logs + i / loss.positions * loss.classes * loss.positions + i % loss.positions;
    double max = -INFINITY, sum = 0;
    for (int64_t c = 0; c < loss.classes; c++)
      max = fmax(max, row[c * loss.positions]);
    for (int64_t c = 0; c < loss.classes; c++)
      sum += exp(row[c * loss.positions] - max);
    for (int64_t c = 0; c < loss.classes; c++)
      row[c * loss.positions] -= max + log(sum);
  }
  if (onnxl_ctx_wants(context, 1)) {
    OnnxlValue *output = onnxl_ctx_output_like(context, 1, x, error);
    if (!output)
      return false;
    onnxl_tensor_write_double(output, 0, (size_t)output->count, logs);
  }
  return loss_from_logs(context, &loss, logs, error);
}
ONNXL_KERNEL(softmax_cross_entropy_loss, COMPUTES);
