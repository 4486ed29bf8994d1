/* What onnxl-shapes --print prints. */
#ifndef ONNXL_TOOLS_SHAPES_REPORT_H
#define ONNXL_TOOLS_SHAPES_REPORT_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "shapes/infer.h"

/* Writes values and constraints. With bindings (may be empty) the symbols are replaced by their values, and constraints
 * that hold then are left out; one that does not is a finding in sink. Error ONNXL_ERROR_USAGE: an unknown symbol. */
bool onnxl_shapes_report(const OnnxlInference *inference, const OnnxlBindings *bindings, OnnxlReportFormat format,
                         OnnxlOutput *out, OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
