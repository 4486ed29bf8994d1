/* What onnxl-mem prints. */
#ifndef ONNXL_MEM_REPORT_H
#define ONNXL_MEM_REPORT_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "memory/profile.h"

/* The per-node table of expressions and the peak, or in JSON both and the rows of the grid (which may be empty). */
bool onnxl_mem_report(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlReportFormat format, OnnxlOutput *out,
                      GError **error);

/* The evaluated totals, one row an assignment of the grid: the first name varies slowest. As table or CSV. */
bool onnxl_mem_report_grid(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlReportFormat format,
                           OnnxlOutput *out, GError **error);

#endif
