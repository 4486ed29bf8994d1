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

/* MACs and operations, and how it reads. An operator without a row has unknown counts and reads everything. */
void onnxl_cost_of_node(const OnnxlCostNode *n, OnnxlExpr *ret_macs, OnnxlExpr *ret_flops, OnnxlCostReads *ret_reads);

#endif
