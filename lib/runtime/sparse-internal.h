/* Sparse tensors, which exist in models only: in a run they are dense. */
#ifndef ONNXL_RUNTIME_SPARSE_INTERNAL_H
#define ONNXL_RUNTIME_SPARSE_INTERNAL_H

#include "runtime/value.h"

/* Fills dense, of values' type, with zeros or empty texts and the values at their indices: int64, linear or one row for
 * each value. False with ONNXL_ERROR_INVALID, or ONNXL_ERROR_UNSUPPORTED for elements below 8 bits. */
bool onnxl_sparse_fill(OnnxlValue *dense, const OnnxlValue *values, const OnnxlValue *indices,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
