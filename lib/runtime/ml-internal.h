/* What the operators of ai.onnx.ml share: rows of features, class labels, and transforms of scores. */
#ifndef ONNXL_RUNTIME_ML_INTERNAL_H
#define ONNXL_RUNTIME_ML_INTERNAL_H

#include "runtime/kernel.h"

/* Numbered as the attribute post_transform of TreeEnsemble. */
typedef enum OnnxlMlTransform {
  ONNXL_ML_NONE,
  ONNXL_ML_SOFTMAX,
  ONNXL_ML_LOGISTIC,
  ONNXL_ML_SOFTMAX_ZERO,
  ONNXL_ML_PROBIT,
} OnnxlMlTransform;

/* The attribute post_transform, a text. */
bool onnxl_ml_transform(const OnnxlKernelContext *context, OnnxlMlTransform *ret_transform,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Transforms the n scores of one row in place. */
void onnxl_ml_apply(OnnxlMlTransform transform, double *scores, int64_t n);

double onnxl_ml_logistic(double value);

/* x is [N,C], or [C] for one row. */
bool onnxl_ml_rows(const OnnxlKernelContext *context, const OnnxlValue *x, int64_t *ret_rows, int64_t *ret_features,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Class labels: ints or strings, the other list is empty. */
typedef struct OnnxlMlLabels {
  OnnxlInt64List ints;
  OnnxlStrList strings;
  int64_t n;
} OnnxlMlLabels;

/* From the attribute called ints and from classlabels_strings; exactly one of them must be given. */
bool onnxl_ml_labels(const OnnxlKernelContext *context, const char *ints, OnnxlMlLabels *ret_labels,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes output 0 the labels' tensor of one dimension. Returns: borrowed; NULL with error. */
OnnxlValue *onnxl_ml_label_output(OnnxlKernelContext *context, const OnnxlMlLabels *labels, int64_t rows,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Element row becomes the label of class index; -1 = none of the classes, which is 0 or the empty text. */
void onnxl_ml_set_label(const OnnxlMlLabels *labels, OnnxlValue *y, int64_t row, int64_t index);

/* The index of the class of a row that has a score for each label: that of the first largest as they are returned,
 * which is rounded to float. A single score is for one or two classes: the last one when it is positive. scores has
 * room for two at least and gets labels->n transformed scores. */
int64_t onnxl_ml_classify(OnnxlMlTransform transform, const OnnxlMlLabels *labels, int64_t n_scores, double *scores);

/* Rounds a row of scores to a tensor of floats. */
void onnxl_ml_store(OnnxlValue *z, int64_t row, const double *scores, int64_t n);

#endif
