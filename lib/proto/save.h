/* Writing a whole model, in the binary format or as text. */
#ifndef ONNXL_PROTO_SAVE_H
#define ONNXL_PROTO_SAVE_H

#include "proto/model.h"
#include "support/output.h"

/* Writes the model in the binary format: the same model always gives the same bytes. Large slices of the file that the
 * model was read from are copied by the kernel. A model of more than ONNXL_WIRE_MAX_PORTABLE bytes is refused with
 * ONNXL_ERROR_UNSUPPORTED unless allow_large. Write errors stick in out, which the caller flushes. */
bool onnxl_model_write(const OnnxlModel *model, OnnxlOutput *out, bool allow_large, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

/* What a tool's -S chooses: the canonical text with all values (text), else onnxl_model_write(). */
bool onnxl_model_save(const OnnxlModel *model, OnnxlOutput *out, bool text, bool allow_large, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

#endif
