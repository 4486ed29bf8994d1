/* What a model computes and moves, node by node, as expressions over its symbols.
 *
 * A multiply-accumulate (MAC) is one product that is added to a running sum over a dimension that vanishes: those of
 * convolutions, matrix products, Einsum, attention, recurrent cells, linear models and Fourier transforms. Biases and
 * everything element-wise are none. An operation (FLOP, whatever the element type) is half a MAC, or one step of what
 * other operators do with an element: macs-rules.c says how many. Moving, selecting and converting elements counts 0.
 *
 * Bytes read are those of each different input, once; written are those of the outputs: what has to be moved if nothing
 * is kept in a cache and nothing happens in place. Operators that select (Gather, Slice) read of their data as much as
 * they write; Shape and its like read nothing.
 *
 * Parameters are the elements of initializers and of Constant nodes that are not shapes or axes, at the first node that
 * reads them. Loop and Scan count their body once for each trip (parameters once), If its larger branch, a function its
 * body. */
#ifndef ONNXL_MEMORY_MACS_H
#define ONNXL_MEMORY_MACS_H

#include "shapes/infer.h"

/* NULL where it is not known. */
typedef struct OnnxlCost {
  OnnxlExpr macs;
  OnnxlExpr flops;
  OnnxlExpr parameters;
  OnnxlExpr read;     /* bytes */
  OnnxlExpr written;  /* bytes */
  bool at_most;       /* a branch or the end of a loop is chosen while running: all but parameters are upper bounds */
  bool flops_at_most; /* the data decide how much is computed beside the MACs: an upper bound */
} OnnxlCost;

typedef struct OnnxlCosts {
  const OnnxlCost *nodes; /* by node id of the main graph */
  uint32_t n_nodes;
} OnnxlCosts;

/* The costs of the nodes of an inference's main graph. Returns: in the arena; NULL with ONNXL_ERROR_LIMIT when it is
 * exhausted. */
const OnnxlCosts *onnxl_costs_new(const OnnxlInference *inference, OnnxlArena *arena,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The sum of the costs of n nodes (by their ids; NULL: the first n), figure by figure, without those that are not
 * known. ret_unknown: nodes that have such a figure. Linear in n. Returns false with ONNXL_ERROR_LIMIT. */
bool onnxl_costs_sum(const OnnxlCosts *costs, OnnxlExprPool *pool, const uint32_t *nodes, uint32_t n,
                     OnnxlCost *ret_sum, uint32_t *ret_unknown, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
