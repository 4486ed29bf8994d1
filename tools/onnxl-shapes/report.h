/* What onnxl-shapes --print prints. */
#ifndef ONNXL_TOOLS_SHAPES_REPORT_H
#define ONNXL_TOOLS_SHAPES_REPORT_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "shapes/infer.h"

typedef struct OnnxlShapesReport {
  OnnxlReportFormat format;
  const OnnxlBindings *bindings; /* values of symbols, may be empty */
  bool nested;                   /* list the values of nested graphs and of function bodies too */
} OnnxlShapesReport;

/* Writes values and constraints. With bindings the symbols are replaced by their values, and constraints that hold then
 * are left out; one that does not is a finding in sink. Paths of nested graphs live in arena. Error ONNXL_ERROR_USAGE:
 * an unknown symbol. */
bool onnxl_shapes_report(const OnnxlInference *inference, const OnnxlShapesReport *options, OnnxlArena *arena,
                         OnnxlOutput *out, OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
