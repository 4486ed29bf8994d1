/* The first look at a model: what it takes, what is in it and how it is called. */
#ifndef ONNXL_PROTO_SUMMARY_H
#define ONNXL_PROTO_SUMMARY_H

#include "proto/model.h"
#include "support/output.h"

/* Writes opsets, inputs and outputs, symbols, size by part, operators by frequency, weights by type and the largest
 * tensors; all sizes are in bytes. External data counts by its entries; its files are not looked at. Returns false with
 * ONNXL_ERROR_LIMIT when memory runs out. */
bool onnxl_summary_write(OnnxlOutput *out, const OnnxlModel *model, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
