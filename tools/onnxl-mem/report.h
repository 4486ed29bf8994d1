/* What onnxl-mem prints. */
#ifndef ONNXL_MEM_REPORT_H
#define ONNXL_MEM_REPORT_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "cli/table.h"
#include "memory/layout.h"
#include "support/json.h"

/* One assignment of a grid: which value of each name. Also the data of onnxl_mem_lookup(). */
typedef struct OnnxlAssignment {
  const OnnxlBindings *grid;
  size_t *choice;
  const bool *at_most; /* by node: the total is an upper bound; NULL before onnxl_mem_for_each() */
} OnnxlAssignment;

bool onnxl_mem_lookup(void *data, OnnxlStr name, int64_t *ret_value);

/* The next assignment, the last name fastest. False after the last one, also of an empty grid. */
bool onnxl_mem_next_assignment(OnnxlAssignment *assignment);

/* An expression: null, a number or its text; an assignment: an object. */
void onnxl_mem_json_expr(OnnxlJson *json, OnnxlExprPool *pool, OnnxlExpr e);
void onnxl_mem_json_dims(OnnxlJson *json, const OnnxlAssignment *assignment);

/* The next cell: a number of bytes, "<= " and an upper bound where it depends on sizes that only a run shows and they have
 * one, "?" when it is not known. In JSON two cells: the number or null, the bound or null. */
void onnxl_mem_table_amount(OnnxlTable *table, const OnnxlInference *inference, OnnxlExpr e, OnnxlReportFormat format);

/* Calls row for each assignment (one for an empty grid) with the evaluated totals. */
typedef void (*OnnxlMemRow)(void *data, const OnnxlAssignment *assignment, const int64_t *totals, int64_t peak);
bool onnxl_mem_for_each(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlMemRow row, void *data,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* False when an assignment makes a dimension negative: the model cannot run with it. */
bool onnxl_mem_check_sizes(const OnnxlMemory *memory, const OnnxlBindings *grid,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* True when the peak of an assignment is an upper bound: no node whose total is exact reaches it. */
bool onnxl_mem_peak_at_most(const OnnxlAssignment *assignment, const int64_t *totals, uint32_t n_nodes, int64_t peak);

/* The per-node table of expressions and the peak, or in JSON both and the rows of the grid (which may be empty). rows:
 * node ids in the order to print, NULL for all. workspaces: bounds of the scratch memory by node id, one column more;
 * or NULL. */
bool onnxl_mem_report(const OnnxlMemory *memory, const OnnxlBindings *grid, const uint32_t *rows, uint32_t n_rows,
                      const OnnxlExpr *workspaces, OnnxlReportFormat format, OnnxlOutput *out,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The values whose bytes are not known before the run, and why: a line for each, an array of objects. */
void onnxl_mem_unknown_text(const OnnxlMemory *memory, OnnxlOutput *out);
void onnxl_mem_unknown_json(const OnnxlMemory *memory, OnnxlJson *json);

/* The evaluated totals, one row an assignment of the grid: the first name varies slowest. As table or CSV. */
bool onnxl_mem_report_grid(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlReportFormat format,
                           OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Ids of the first n nodes by operator, in the order of names, and of one operator in the order of the graph. Returns:
 * owned. */
uint32_t *onnxl_mem_nodes_by_op(const OnnxlIndexNode *nodes, uint32_t n);

/* --by=op and --by=tag: bytes that are made, summed up. top: that many rows at most, 0 for all. */
typedef enum OnnxlMemBy { ONNXL_MEM_BY_NODE, ONNXL_MEM_BY_OP, ONNXL_MEM_BY_TAG } OnnxlMemBy;
bool onnxl_mem_report_by(const OnnxlMemory *memory, OnnxlMemBy by, uint32_t top, OnnxlReportFormat format,
                         OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --macs: what the nodes compute and move, for each assignment of the grid; as expressions when it is empty. by_op:
 * summed up by operator. top: that many rows at most, those with most MACs first; 0 for all. */
bool onnxl_mem_report_macs(const OnnxlInference *inference, const OnnxlBindings *grid, bool by_op, uint32_t top,
                           OnnxlReportFormat format, OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --nested: the peaks of the main graph, of nested graphs and of the bodies of functions, a row for each place. */
bool onnxl_mem_report_nested(const OnnxlMemory *memory, OnnxlReportFormat format, OnnxlOutput *out,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The nodes with the largest totals, largest first. ret_rows: owned, *ret_n of them, at most top. Fails when the order
 * depends on the symbols. */
bool onnxl_mem_top(const OnnxlMemory *memory, uint32_t top, uint32_t **ret_rows, uint32_t *ret_n,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --plan: the buffers and their places. */
void onnxl_mem_report_layout(const OnnxlMemory *memory, const OnnxlLayout *layout, OnnxlReportFormat format,
                             OnnxlOutput *out);

/* What the buffer is called: the value that lives in it first, or the node whose scratch it is. room: may be used for
 * it. */
#define ONNXL_MEM_NAME_SIZE 40
OnnxlStr onnxl_mem_buffer_name(const OnnxlMemory *memory, const OnnxlLayoutBuffer *buffer,
                               char room[ONNXL_MEM_NAME_SIZE]);

/* --plan with --plot: the buffers as a map, as SVG or as text. Their sizes must be numbers. */
bool onnxl_mem_map(const OnnxlMemory *memory, const OnnxlLayout *layout, bool svg, OnnxlOutput *out,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The shade of bytes with a tag in pictures. */
unsigned onnxl_mem_shade(OnnxlTag tag);

/* --budget: a finding for each assignment whose peak is above it. */
bool onnxl_mem_check_budget(OnnxlRun *run, const OnnxlMemory *memory, const OnnxlBindings *grid, uint64_t budget,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --solve: prints the largest value of the symbol whose peak fits the budget; other symbols have the only value of
 * their name in grid. *ret_fits: there is one. */
bool onnxl_mem_solve(const OnnxlMemory *memory, const OnnxlBindings *grid, const char *symbol, uint64_t budget,
                     OnnxlReportFormat format, OnnxlOutput *out, bool *ret_fits,
                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A model and what is known of it. */
typedef struct OnnxlMemAnalysis {
  OnnxlModel *model;
  OnnxlInference *inference;
  const OnnxlMemory *memory;
  OnnxlMemoryOptions options; /* of memory */
} OnnxlMemAnalysis;

/* --reorder: looks for an order of the model's nodes with a lower peak, for each assignment of the grid or, without
 * one, whatever the symbols are. When there is one, the model is in it afterwards and analysed anew. out: for the peaks
 * in both orders, or NULL. */
bool onnxl_mem_reorder(OnnxlMemAnalysis *analysis, const OnnxlBindings *grid, OnnxlReportFormat format,
                       OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --plot: the live bytes over the nodes, a curve for each assignment, as SVG or as text. */
bool onnxl_mem_plot(const OnnxlMemory *memory, const OnnxlBindings *grid, bool svg, OnnxlOutput *out,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
