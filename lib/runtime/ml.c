#include "runtime/ml-internal.h"

#include <math.h>

bool
onnxl_ml_transform(const OnnxlKernelContext *context, OnnxlMlTransform *ret_transform, GError **error)
{
  static const char names[][16] = {
    [ONNXL_ML_NONE] = "NONE",         [ONNXL_ML_SOFTMAX] = "SOFTMAX",
    [ONNXL_ML_LOGISTIC] = "LOGISTIC", [ONNXL_ML_SOFTMAX_ZERO] = "SOFTMAX_ZERO",
    [ONNXL_ML_PROBIT] = "PROBIT",
  };
  OnnxlStr text = onnxl_ctx_string(context, "post_transform");
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (onnxl_str_is(text, names[i])) {
      *ret_transform = (OnnxlMlTransform)i;
      return true;
    }
  return onnxl_ctx_invalid(context, error, "the post_transform \"%.*s\" is unknown", ONNXL_ARG(text));
}

double
onnxl_ml_logistic(double value)
{
  double v = 1 / (1 + exp(-fabs(value)));
  return value < 0 ? 1 - v : v;
}

/* The inverse of the normal distribution, with Winitzki's approximation of the inverse error function (2008): the
 * runtimes that models are trained against use it too, and its error of up to 0.2 % is part of their results. */
static double
probit(double value)
{
  const double a = 0.147;
  double x = 2 * value - 1, logarithm = log((1 - x) * (1 + x)), half = 2 / (G_PI * a) + logarithm / 2;
  return copysign(G_SQRT2 * sqrt(sqrt(half * half - logarithm / a) - half), x);
}

static void
softmax(double *scores, int64_t n, bool keep_zeros)
{
  const double zero = 1e-7; /* what SOFTMAX_ZERO takes for no score at all */
  double highest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++)
    highest = MAX(highest, scores[i]);
  for (int64_t i = 0; i < n; i++) {
    bool is_zero = keep_zeros && fabs(scores[i]) <= zero;
    scores[i] = is_zero ? 0 : exp(scores[i] - highest);
    sum += scores[i];
  }
  for (int64_t i = 0; i < n && sum != 0; i++)
    scores[i] /= sum;
}

void
onnxl_ml_apply(OnnxlMlTransform transform, double *scores, int64_t n)
{
  switch (transform) {
  case ONNXL_ML_NONE:
    break;
  case ONNXL_ML_SOFTMAX:
  case ONNXL_ML_SOFTMAX_ZERO:
    softmax(scores, n, transform == ONNXL_ML_SOFTMAX_ZERO);
    break;
  case ONNXL_ML_LOGISTIC:
    for (int64_t i = 0; i < n; i++)
      scores[i] = onnxl_ml_logistic(scores[i]);
    break;
  case ONNXL_ML_PROBIT:
    for (int64_t i = 0; i < n; i++)
      scores[i] = probit(scores[i]);
    break;
  }
}

bool
onnxl_ml_rows(const OnnxlKernelContext *context, const OnnxlValue *x, int64_t *ret_rows, int64_t *ret_features,
              GError **error)
{
  if (x->rank != 1 && x->rank != 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when 1 or 2 is expected", x->rank);
  *ret_rows = x->rank == 1 ? 1 : x->dims[0];
  *ret_features = x->dims[x->rank - 1];
  return true;
}

bool
onnxl_ml_labels(const OnnxlKernelContext *context, const char *ints, OnnxlMlLabels *ret_labels, GError **error)
{
  *ret_labels = (OnnxlMlLabels){
    .ints = onnxl_ctx_ints(context, ints),
    .strings = onnxl_ctx_strings(context, "classlabels_strings"),
  };
  if ((ret_labels->ints.count > 0) == (ret_labels->strings.count > 0))
    return onnxl_ctx_invalid(context, error, "exactly one of %s and classlabels_strings must be given", ints);
  ret_labels->n = (int64_t)MAX(ret_labels->ints.count, ret_labels->strings.count);
  return true;
}

OnnxlValue *
onnxl_ml_label_output(OnnxlKernelContext *context, const OnnxlMlLabels *labels, int64_t rows, GError **error)
{
  return onnxl_ctx_output(context, 0, labels->strings.count > 0 ? ONNXL_TYPE_STRING : ONNXL_TYPE_INT64, 1, &rows,
                          error);
}

/* Texts of attributes live as long as the model, so they need no copy. */
void
onnxl_ml_set_label(const OnnxlMlLabels *labels, OnnxlValue *y, int64_t row, int64_t index)
{
  if (labels->strings.count > 0)
    ((OnnxlStr *)y->data)[row] = index < 0 ? ONNXL_STR("") : labels->strings.items[index];
  else
    ((int64_t *)y->data)[row] = index < 0 ? 0 : labels->ints.items[index];
}

/* A single score, which stands for the last class when it is positive. */
static int64_t
classify_one(OnnxlMlTransform transform, const OnnxlMlLabels *labels, double scores[2])
{
  bool positive = scores[0] > 0;
  scores[1] = scores[0];
  if (labels->n > 1)
    scores[0] = -scores[0];
  onnxl_ml_apply(transform, scores, labels->n);
  return positive ? labels->n - 1 : labels->n - 2;
}

/* The first largest of the scores as floats. */
static int64_t
top_of(const double *scores, int64_t n)
{
  int64_t top = 0;
  for (int64_t i = 1; i < n; i++)
    if ((float)scores[i] > (float)scores[top])
      top = i;
  return top;
}

int64_t
onnxl_ml_classify(OnnxlMlTransform transform, const OnnxlMlLabels *labels, int64_t n_scores, double *scores)
{
  if (n_scores == 1)
    return classify_one(transform, labels, scores);
  int64_t top = top_of(scores, labels->n);
  onnxl_ml_apply(transform, scores, labels->n);
  return top;
}

void
onnxl_ml_store(OnnxlValue *z, int64_t row, const double *scores, int64_t n)
{
  float *to = (float *)z->data + row * n;
  for (int64_t i = 0; i < n; i++)
    to[i] = (float)scores[i];
}
