/* Loading of initializers into values. */
#ifndef ONNXL_RUNTIME_CONSTANT_INTERNAL_H
#define ONNXL_RUNTIME_CONSTANT_INTERNAL_H

#include "runtime/plan.h"

/* Makes the value of an initializer: mapped where it lies when it is aligned, copied otherwise; a sparse one becomes
 * dense. Returns false with error. */
bool onnxl_constant_load(OnnxlPlan *plan, const OnnxlTensor *tensor, OnnxlDiagSink *sink, OnnxlValue **ret_value,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool onnxl_constant_load_sparse(OnnxlPlan *plan, const OnnxlSparseTensor *sparse, OnnxlDiagSink *sink,
                                OnnxlValue **ret_value, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks every tensor of the model, used or not, against its dims and type. Returns false with ONNXL_ERROR_INVALID
 * after findings. */
bool onnxl_constant_check_all(const OnnxlModel *model, OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
