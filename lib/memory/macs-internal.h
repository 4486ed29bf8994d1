/* The count of MACs and operations of one node that has no nested graph. */
#ifndef ONNXL_MEMORY_MACS_INTERNAL_H
#define ONNXL_MEMORY_MACS_INTERNAL_H

#include "memory/cost-internal.h"
#include "memory/macs.h"

/* How a node reads its inputs. */
typedef enum OnnxlCostReads {
  ONNXL_READS_ALL,
  ONNXL_READS_SELECTED, /* of input 0 as many bytes as it writes, the others whole */
  ONNXL_READS_NOTHING,  /* the shape or length of an input only */
} OnnxlCostReads;

/* True when the operator has a row. */
bool onnxl_cost_is_known(const OnnxlOpSchema *schema);

/* True when its work can be told from the model, at least in part or as a bound. */
bool onnxl_cost_has_rule(const OnnxlOpSchema *schema);

/* MACs and operations (the other figures stay), and how it reads. An operator without a row has unknown counts and
 * reads everything. */
void onnxl_cost_of_node(const OnnxlCostNode *n, OnnxlCost *ret_cost, OnnxlCostReads *ret_reads);

/* MACs and operations of a Gradient in the main graph, from those of the nodes before it. Linear in the graph. Returns
 * false when the arena is exhausted. */
bool onnxl_cost_of_gradient(const OnnxlCostNode *n, uint32_t id, const OnnxlCost *nodes, OnnxlArena *arena,
                            OnnxlCost *ret_cost);

/* --- rules that need a file of their own -------------------------------------------------------------------------- */

typedef struct OnnxlCounts {
  OnnxlExpr macs;  /* left 0 by most */
  OnnxlExpr flops; /* beside those of the MACs */
  bool at_most;    /* the data decide: flops are an upper bound */
} OnnxlCounts;

/* The weight of the row is not used by these. */
OnnxlCounts onnxl_count_dft(const OnnxlCostNode *n, int64_t of);
OnnxlCounts onnxl_count_stft(const OnnxlCostNode *n, int64_t of);
OnnxlCounts onnxl_count_roi_align(const OnnxlCostNode *n, int64_t of);
OnnxlCounts onnxl_count_max_roi_pool(const OnnxlCostNode *n, int64_t of);
OnnxlCounts onnxl_count_non_max_suppression(const OnnxlCostNode *n, int64_t of);
OnnxlCounts onnxl_count_trees(const OnnxlCostNode *n, int64_t of);

#endif
