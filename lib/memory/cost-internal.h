/* What the rules about one node are made of: those of its work (macs-rules.c) and of its scratch memory (workspace.c).
 */
#ifndef ONNXL_MEMORY_COST_INTERNAL_H
#define ONNXL_MEMORY_COST_INTERNAL_H

#include "shapes/infer.h"

typedef struct OnnxlCostNode {
  const OnnxlInference *inference;
  OnnxlExprPool *pool;
  const OnnxlIndexNode *node;
  const OnnxlNode *proto; /* attribute references resolved */
  const OnnxlOpSchema *schema;
} OnnxlCostNode;

/* Expressions are NULL where a number is not known, and so is what is made of them. */

static inline OnnxlExpr
literal(const OnnxlCostNode *n, int64_t value)
{
  return onnxl_expr_int(n->pool, value);
}

static inline OnnxlExpr
add(const OnnxlCostNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return onnxl_expr_add(n->pool, a, b);
}

static inline OnnxlExpr
mul(const OnnxlCostNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return onnxl_expr_mul(n->pool, a, b);
}

static inline OnnxlExpr
times(const OnnxlCostNode *n, int64_t factor, OnnxlExpr e)
{
  return mul(n, literal(n, factor), e);
}

/* NULL: left out. */
static inline const OnnxlInfo *
input(const OnnxlCostNode *n, uint32_t i)
{
  return i < n->node->n_inputs && n->node->inputs[i] != ONNXL_NONE ? &n->inference->values[n->node->inputs[i]] : NULL;
}

static inline const OnnxlInfo *
output(const OnnxlCostNode *n, uint32_t i)
{
  return i < n->node->n_outputs && n->node->outputs[i] != ONNXL_NONE ? &n->inference->values[n->node->outputs[i]]
                                                                     : NULL;
}

/* Dim axis of a value, from the end when negative. */
static inline OnnxlExpr
dim_of(const OnnxlInfo *info, int64_t axis)
{
  if (!info || !info->has_rank)
    return NULL;
  axis += axis < 0 ? (int64_t)info->rank : 0;
  return axis >= 0 && axis < (int64_t)info->rank ? info->dims[axis] : NULL;
}

static inline OnnxlExpr
dim(const OnnxlCostNode *n, uint32_t i, int64_t axis)
{
  return dim_of(input(n, i), axis);
}

/* The one element of input i, NULL when it is not known. */
static inline OnnxlExpr
scalar(const OnnxlCostNode *n, uint32_t i)
{
  const OnnxlInfo *info = input(n, i);

  return info && info->kind == ONNXL_KIND_TENSOR && info->has_contents && info->n_contents == 1 && info->contents
           ? info->contents[0]
           : NULL;
}

static inline int64_t
attribute(const OnnxlCostNode *n, const char *name)
{
  return onnxl_attr_int(n->schema, n->proto, name);
}

#endif
