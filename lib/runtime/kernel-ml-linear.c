/* Linear models and support vector machines. */
#include <math.h>

#include "runtime/ml-internal.h"

/* What all four operators start with: the rows of the input. */
typedef struct Rows {
  const double *data;
  int64_t n;
  int64_t n_features;
} Rows;

static bool
get_rows(OnnxlKernelContext *context, Rows *rows, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  if (!onnxl_ml_rows(context, x, &rows->n, &rows->n_features, error))
    return false;
  rows->data = onnxl_ctx_doubles(context, x, error);
  return rows->data != NULL;
}

static double
dot(const double *x, const float *weights, int64_t n)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i] * weights[i];
  return sum;
}

static bool
check_product(const OnnxlKernelContext *context, const char *name, size_t count, int64_t a, int64_t b, GError **error)
{
  int64_t wanted;
  if (!__builtin_mul_overflow(a, b, &wanted) && wanted >= 0 && (uint64_t)wanted == count)
    return true;
  return onnxl_ctx_invalid(context, error,
                           "%s has %zu values when %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " are expected", name,
                           count, a, b);
}

static OnnxlValue *
score_output(OnnxlKernelContext *context, uint32_t i, int64_t rows, int64_t n, GError **error)
{
  return onnxl_ctx_output(context, i, ONNXL_TYPE_FLOAT, 2, (int64_t[]){ rows, n }, error);
}

/* --- linear --- */

typedef struct Linear {
  OnnxlFloatList weights; /* a row of features for each target */
  OnnxlFloatList intercepts;
  int64_t n_targets;
} Linear;

static void
linear_scores(const Linear *linear, const double *row, int64_t n_features, double *scores)
{
  for (int64_t t = 0; t < linear->n_targets; t++)
    scores[t] = dot(row, linear->weights.items + t * n_features, n_features) +
                (linear->intercepts.count > 0 ? linear->intercepts.items[t] : 0);
}

static bool
check_linear(const OnnxlKernelContext *context, const Linear *linear, int64_t n_features, GError **error)
{
  return check_product(context, "coefficients", linear->weights.count, linear->n_targets, n_features, error) &&
         (linear->intercepts.count == 0 ||
          check_product(context, "intercepts", linear->intercepts.count, linear->n_targets, 1, error));
}

static bool
run_ml_linear_regressor(OnnxlKernelContext *context, GError **error)
{
  Linear linear = { onnxl_ctx_floats(context, "coefficients"), onnxl_ctx_floats(context, "intercepts"),
                    onnxl_ctx_int(context, "targets") };
  OnnxlMlTransform transform;
  Rows rows;
  if (!onnxl_ml_transform(context, &transform, error) || !get_rows(context, &rows, error) ||
      !check_linear(context, &linear, rows.n_features, error))
    return false;
  double *scores = onnxl_ctx_scratch(context, (uint64_t)linear.n_targets, sizeof *scores, error);
  OnnxlValue *y = score_output(context, 0, rows.n, linear.n_targets, error);
  if (!scores || !y)
    return false;
  for (int64_t r = 0; r < rows.n; r++) {
    linear_scores(&linear, rows.data + r * rows.n_features, rows.n_features, scores);
    onnxl_ml_apply(transform, scores, linear.n_targets);
    onnxl_ml_store(y, r, scores, linear.n_targets);
  }
  return true;
}
ONNXL_KERNEL(ml_linear_regressor, EXACT);

/* One set of coefficients can serve two classes; otherwise each class has its own. */
static bool
run_ml_linear_classifier(OnnxlKernelContext *context, GError **error)
{
  Linear linear = { onnxl_ctx_floats(context, "coefficients"), onnxl_ctx_floats(context, "intercepts"), 0 };
  OnnxlMlTransform transform;
  OnnxlMlLabels labels;
  Rows rows;
  if (!onnxl_ml_transform(context, &transform, error) ||
      !onnxl_ml_labels(context, "classlabels_ints", &labels, error) || !get_rows(context, &rows, error))
    return false;
  bool shared = labels.n == 2 && linear.weights.count == (uint64_t)rows.n_features &&
                (rows.n_features > 0 || linear.intercepts.count == 1);
  linear.n_targets = shared ? 1 : labels.n;
  if (!check_linear(context, &linear, rows.n_features, error))
    return false;
  double *scores = onnxl_ctx_scratch(context, (uint64_t)MAX(labels.n, 2), sizeof *scores, error);
  OnnxlValue *y = onnxl_ml_label_output(context, &labels, rows.n, error);
  OnnxlValue *z = y ? score_output(context, 1, rows.n, labels.n, error) : NULL;
  if (!scores || !z)
    return false;
  for (int64_t r = 0; r < rows.n; r++) {
    linear_scores(&linear, rows.data + r * rows.n_features, rows.n_features, scores);
    onnxl_ml_set_label(&labels, y, r, onnxl_ml_classify(transform, &labels, linear.n_targets, scores));
    onnxl_ml_store(z, r, scores, labels.n);
  }
  return true;
}
ONNXL_KERNEL(ml_linear_classifier, EXACT);

/* --- support vector machines --- */

typedef enum SvmKernel { SVM_LINEAR, SVM_POLY, SVM_RBF, SVM_SIGMOID } SvmKernel;

typedef struct Svm {
  SvmKernel kernel;
  double gamma, coef0, degree;
  OnnxlFloatList vectors;
  OnnxlFloatList coefficients;
  OnnxlFloatList rho;
  int64_t n_vectors; /* 0: the coefficients are those of a linear model */
} Svm;

static bool
get_svm(OnnxlKernelContext *context, Svm *svm, GError **error)
{
  static const char names[][8] = {
    [SVM_LINEAR] = "LINEAR",
    [SVM_POLY] = "POLY",
    [SVM_RBF] = "RBF",
    [SVM_SIGMOID] = "SIGMOID",
  };
  OnnxlStr type = onnxl_ctx_string(context, "kernel_type");
  OnnxlFloatList params = onnxl_ctx_floats(context, "kernel_params");
  size_t kernel = 0;
  while (kernel < G_N_ELEMENTS(names) && !onnxl_str_is(type, names[kernel]))
    kernel++;
  if (kernel == G_N_ELEMENTS(names))
    return onnxl_ctx_invalid(context, error, "the kernel_type \"%.*s\" is unknown", ONNXL_ARG(type));
  if (params.count != 0 && params.count != 3)
    return onnxl_ctx_invalid(context, error, "kernel_params has %zu values when 3 are expected", params.count);
  *svm = (Svm){
    .kernel = (SvmKernel)kernel,
    .vectors = onnxl_ctx_floats(context, "support_vectors"),
    .coefficients = onnxl_ctx_floats(context, "coefficients"),
    .rho = onnxl_ctx_floats(context, "rho"),
  };
  if (params.count > 0) {
    svm->gamma = params.items[0];
    svm->coef0 = params.items[1];
    svm->degree = params.items[2];
  }
  return true;
}

static double
svm_kernel(const Svm *svm, const double *x, const float *vector, int64_t n)
{
  double sum = 0;
  switch (svm->kernel) {
  case SVM_LINEAR:
    return dot(x, vector, n);
  case SVM_POLY:
    return pow(svm->gamma * dot(x, vector, n) + svm->coef0, svm->degree);
  case SVM_RBF:
    for (int64_t i = 0; i < n; i++)
      sum += (x[i] - vector[i]) * (x[i] - vector[i]);
    return exp(-svm->gamma * sum);
  case SVM_SIGMOID:
    return tanh(svm->gamma * dot(x, vector, n) + svm->coef0);
  }
  return sum;
}

static void
svm_kernels(const Svm *svm, const double *row, int64_t n_features, double *kernels)
{
  for (int64_t v = 0; v < svm->n_vectors; v++)
    kernels[v] = svm_kernel(svm, row, svm->vectors.items + v * n_features, n_features);
}

static bool
run_ml_svm_regressor(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlTransform transform;
  Svm svm;
  Rows rows;
  if (!onnxl_ml_transform(context, &transform, error) || !get_svm(context, &svm, error) ||
      !get_rows(context, &rows, error))
    return false;
  svm.n_vectors = onnxl_ctx_int(context, "n_supports");
  bool one_class = onnxl_ctx_int(context, "one_class") != 0, linear = svm.n_vectors == 0;
  if (svm.n_vectors < 0)
    return onnxl_ctx_invalid(context, error, "n_supports is %" G_GINT64_FORMAT, svm.n_vectors);
  if (!check_product(context, "rho", svm.rho.count, 1, 1, error) ||
      !check_product(context, "coefficients", svm.coefficients.count, 1, linear ? rows.n_features : svm.n_vectors,
                     error) ||
      (!linear && !check_product(context, "support_vectors", svm.vectors.count, svm.n_vectors, rows.n_features, error)))
    return false;
  double *kernels = onnxl_ctx_scratch(context, (uint64_t)svm.n_vectors, sizeof *kernels, error);
  OnnxlValue *y = score_output(context, 0, rows.n, 1, error);
  if (!kernels || !y)
    return false;
  for (int64_t r = 0; r < rows.n; r++) {
    const double *row = rows.data + r * rows.n_features;
    svm_kernels(&svm, row, rows.n_features, kernels);
    double score = svm.rho.items[0] + (linear ? dot(row, svm.coefficients.items, rows.n_features)
                                              : dot(kernels, svm.coefficients.items, svm.n_vectors));
    if (one_class)
      score = score > 0 ? 1 : -1;
    onnxl_ml_apply(transform, &score, 1);
    onnxl_ml_store(y, r, &score, 1);
  }
  return true;
}
ONNXL_KERNEL(ml_svm_regressor, EXACT);

/* A classifier for each pair of classes, in the order 0-1, 0-2, …, 1-2, …; the coefficients of class i against class j
 * > i are in row j - 1, those of j against i in row i. */
typedef struct PairwiseSvm {
  Svm svm;
  int64_t n_classes;
  int64_t n_pairs;
  OnnxlInt64List per_class;
  OnnxlFloatList prob_a, prob_b;
} PairwiseSvm;

/* Scores of all pairs; a pair's winner gets its vote. */
static void
pair_scores(const PairwiseSvm *pairwise, const double *kernels, double *scores, int64_t *votes)
{
  const Svm *svm = &pairwise->svm;
  int64_t pair = 0, first_i = 0;
  memset(votes, 0, (size_t)pairwise->n_classes * sizeof *votes);
  for (int64_t i = 0; i < pairwise->n_classes; i++) {
    int64_t n_i = pairwise->per_class.items[i], first_j = first_i + n_i;
    for (int64_t j = i + 1; j < pairwise->n_classes; j++) {
      int64_t n_j = pairwise->per_class.items[j];
      double score = dot(kernels + first_i, svm->coefficients.items + (j - 1) * svm->n_vectors + first_i, n_i) +
                     dot(kernels + first_j, svm->coefficients.items + i * svm->n_vectors + first_j, n_j) +
                     svm->rho.items[pair];
      scores[pair++] = score;
      votes[score > 0 ? i : j]++;
      first_j += n_j;
    }
    first_i += n_i;
  }
}

/* Probabilities of classes from those of pairs: the second method of Wu, Lin and Weng, "Probability Estimates for
 * Multi-class Classification by Pairwise Coupling" (2004), with the bounds and the stop that LIBSVM chose, because the
 * iteration ends early enough for them to show. q: room for k * k; p gets k probabilities, followed by k of room. */
static void
couple_probabilities(const PairwiseSvm *pairwise, const double *scores, double *q, double *p)
{
  const double least = 1e-7;
  const int max_turns = 100;
  int64_t k = pairwise->n_classes, pair = 0;
  double *qp = p + k;
  memset(q, 0, (size_t)(k * k) * sizeof *q);
  for (int64_t i = 0; i < k; i++)
    for (int64_t j = i + 1; j < k; j++, pair++) {
      double value = scores[pair] * pairwise->prob_a.items[pair] + pairwise->prob_b.items[pair];
      double r = onnxl_ml_logistic(-value);
      r = CLAMP(r, least, 1 - least);
      q[i * k + j] = q[j * k + i] = -r * (1 - r);
      q[i * k + i] += (1 - r) * (1 - r);
      q[j * k + j] += r * r;
    }
  for (int64_t i = 0; i < k; i++)
    p[i] = 1 / (double)k;
  for (int turn = 0; turn < max_turns; turn++) {
    double pqp = 0, worst = 0;
    for (int64_t i = 0; i < k; i++) {
      qp[i] = 0;
      for (int64_t j = 0; j < k; j++)
        qp[i] += q[i * k + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (int64_t i = 0; i < k; i++)
      worst = MAX(worst, fabs(qp[i] - pqp));
    if (worst < 0.005 / (double)k)
      break;
    for (int64_t i = 0; i < k; i++) {
      double step = (pqp - qp[i]) / q[i * k + i];
      p[i] += step;
      pqp = (pqp + step * (step * q[i * k + i] + 2 * qp[i])) / ((1 + step) * (1 + step));
      for (int64_t j = 0; j < k; j++) {
        qp[j] = (qp[j] + step * q[i * k + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

static bool
get_pairwise(OnnxlKernelContext *context, const OnnxlMlLabels *labels, const Rows *rows, PairwiseSvm *pairwise,
             GError **error)
{
  Svm *svm = &pairwise->svm;
  pairwise->n_classes = labels->n;
  pairwise->per_class = onnxl_ctx_ints(context, "vectors_per_class");
  pairwise->prob_a = onnxl_ctx_floats(context, "prob_a");
  pairwise->prob_b = onnxl_ctx_floats(context, "prob_b");
  for (size_t i = 0; i < pairwise->per_class.count; i++) {
    int64_t n = pairwise->per_class.items[i];
    if (n < 0 || __builtin_add_overflow(svm->n_vectors, n, &svm->n_vectors))
      return onnxl_ctx_invalid(context, error, "vectors_per_class has the impossible number %" G_GINT64_FORMAT, n);
  }
  if (svm->n_vectors == 0) {
    svm->kernel = SVM_LINEAR;
    if (svm->rho.count == 0)
      return onnxl_ctx_invalid(context, error, "rho is missing");
    return check_product(context, "coefficients", svm->coefficients.count, labels->n, rows->n_features, error);
  }
  if (__builtin_mul_overflow(labels->n, labels->n - 1, &pairwise->n_pairs))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "%" G_GINT64_FORMAT " classes are too many", labels->n);
  pairwise->n_pairs /= 2;
  return check_product(context, "vectors_per_class", pairwise->per_class.count, labels->n, 1, error) &&
         check_product(context, "support_vectors", svm->vectors.count, svm->n_vectors, rows->n_features, error) &&
         check_product(context, "coefficients", svm->coefficients.count, labels->n - 1, svm->n_vectors, error) &&
         check_product(context, "rho", svm->rho.count, pairwise->n_pairs, 1, error) &&
         check_product(context, "prob_b", pairwise->prob_b.count, (int64_t)pairwise->prob_a.count, 1, error) &&
         (pairwise->prob_a.count == 0 ||
          check_product(context, "prob_a", pairwise->prob_a.count, pairwise->n_pairs, 1, error));
}

/* Without support vectors: a linear model for each class. */
static bool
classify_linear_svm(OnnxlKernelContext *context, const Svm *svm, const OnnxlMlLabels *labels, const Rows *rows,
                    OnnxlMlTransform transform, OnnxlValue *y, GError **error)
{
  double *scores = onnxl_ctx_scratch(context, (uint64_t)MAX(labels->n, 2), sizeof *scores, error);
  OnnxlValue *z = score_output(context, 1, rows->n, labels->n, error);
  if (!scores || !z)
    return false;
  for (int64_t r = 0; r < rows->n; r++) {
    const double *row = rows->data + r * rows->n_features;
    for (int64_t i = 0; i < labels->n; i++)
      scores[i] = dot(row, svm->coefficients.items + i * rows->n_features, rows->n_features) + svm->rho.items[0];
    onnxl_ml_set_label(labels, y, r, onnxl_ml_classify(transform, labels, labels->n, scores));
    onnxl_ml_store(z, r, scores, labels->n);
  }
  return true;
}

/* The scores are those of the pairs, or probabilities of classes. Two classes have one pair, whose score is that of the
 * first class; the row shows its negative first, as other operators show the score of the second class last. */
static bool
classify_pairwise(OnnxlKernelContext *context, const PairwiseSvm *pairwise, const OnnxlMlLabels *labels,
                  const Rows *rows, OnnxlMlTransform transform, OnnxlValue *y, GError **error)
{
  int64_t k = labels->n;
  bool probabilities = pairwise->prob_a.count > 0;
  int64_t n_scores = probabilities || k <= 2 ? k : pairwise->n_pairs;
  double *kernels = onnxl_ctx_scratch(context, (uint64_t)pairwise->svm.n_vectors, sizeof *kernels, error);
  double *pairs = onnxl_ctx_scratch(context, (uint64_t)MAX(pairwise->n_pairs, 2), sizeof *pairs, error);
  int64_t *votes = onnxl_ctx_scratch(context, (uint64_t)k, sizeof *votes, error);
  double *room = onnxl_ctx_scratch(context, probabilities ? (uint64_t)(k * k) : 0, sizeof *room, error);
  double *classes = onnxl_ctx_scratch(context, (uint64_t)k * 2, sizeof *classes, error);
  OnnxlValue *z = score_output(context, 1, rows->n, n_scores, error);
  if (!kernels || !pairs || !votes || !room || !classes || !z)
    return false;
  for (int64_t r = 0; r < rows->n; r++) {
    int64_t top = 0;
    double *scores = pairs;
    svm_kernels(&pairwise->svm, rows->data + r * rows->n_features, rows->n_features, kernels);
    pair_scores(pairwise, kernels, pairs, votes);
    for (int64_t i = 1; i < k; i++)
      if (votes[i] > votes[top])
        top = i;
    if (probabilities) {
      couple_probabilities(pairwise, pairs, room, classes);
      scores = classes;
    } else if (k == 2) {
      pairs[1] = pairs[0];
      pairs[0] = -pairs[0];
    } else if (k == 1)
      pairs[0] = 0;
    onnxl_ml_apply(transform, scores, n_scores);
    onnxl_ml_set_label(labels, y, r, top);
    onnxl_ml_store(z, r, scores, n_scores);
  }
  return true;
}

static bool
run_ml_svm_classifier(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlTransform transform;
  OnnxlMlLabels labels;
  PairwiseSvm pairwise = { 0 };
  Rows rows;
  if (!onnxl_ml_transform(context, &transform, error) ||
      !onnxl_ml_labels(context, "classlabels_ints", &labels, error) || !get_svm(context, &pairwise.svm, error) ||
      !get_rows(context, &rows, error) || !get_pairwise(context, &labels, &rows, &pairwise, error))
    return false;
  OnnxlValue *y = onnxl_ml_label_output(context, &labels, rows.n, error);
  if (!y)
    return false;
  if (pairwise.svm.n_vectors == 0)
    return classify_linear_svm(context, &pairwise.svm, &labels, &rows, transform, y, error);
  return classify_pairwise(context, &pairwise, &labels, &rows, transform, y, error);
}
ONNXL_KERNEL(ml_svm_classifier, EXACT);
