/* Findings and errors as a person or a program reads them. */
#ifndef ONNXL_CLI_REPORT_H
#define ONNXL_CLI_REPORT_H

#include "support/diag.h"
#include "support/output.h"

typedef struct OnnxlReportStyle {
  const char *tool; /* the name in front of each line */
  bool json;        /* one JSON object a line */
  bool color;
  bool quiet;          /* no warnings and no notes to them */
  uint32_t max_errors; /* for the line that says how many more there are */
} OnnxlReportStyle;

/* Writes all findings of sink: "TOOL: FILE:WHERE: error: message [id]", for a place in a text with its line and carets.
 */
void onnxl_report_diags(OnnxlOutput *out, const OnnxlReportStyle *style, const OnnxlDiagSink *sink);

/* Writes one line for an operation that failed: "TOOL: message". */
void onnxl_report_error(OnnxlOutput *out, const OnnxlReportStyle *style, const GError *error);

#endif
