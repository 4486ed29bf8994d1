#include "memory/workspace.h"

#include "memory/convert-internal.h"
#include "memory/workspace-internal.h"
#include "support/error.h"

typedef struct Walk {
  const OnnxlMemory *memory;
  OnnxlExprPool *pool;
} Walk;

static OnnxlExpr node_bound(const Walk *w, uint32_t id);

static OnnxlExpr
graph_bound(const Walk *w, uint32_t graph)
{
  const OnnxlIndexGraph *g = &w->memory->inference->index->graphs[graph];
  OnnxlExpr largest = onnxl_expr_int(w->pool, 0);

  for (uint32_t i = 0; i < g->n_nodes; i++)
    largest = onnxl_expr_max(w->pool, largest, node_bound(w, g->first_node + i));
  return largest;
}

/* Bytes of the outputs whose kernel may have to write somewhere else first. */
static OnnxlExpr
overtaken(const Walk *w, uint32_t id)
{
  const OnnxlInference *inference = w->memory->inference;
  const OnnxlIndexNode *node = &inference->index->nodes[id];
  OnnxlExpr sum = onnxl_expr_int(w->pool, 0);

  for (uint32_t o = 0; o < node->n_outputs; o++) {
    uint32_t v = node->outputs[o];
    if (v != ONNXL_NONE && w->memory->reuse[v] != ONNXL_NONE)
      sum = onnxl_expr_add(w->pool, sum, onnxl_info_bytes(w->pool, &inference->values[v]));
  }
  return sum;
}

static OnnxlExpr
node_bound(const Walk *w, uint32_t id)
{
  const OnnxlInference *inference = w->memory->inference;
  const OnnxlIndexNode *node = &inference->index->nodes[id];
  const OnnxlMemory *call = onnxl_memory_call(w->memory, id);
  OnnxlExpr bound = overtaken(w, id), nested = onnxl_expr_int(w->pool, 0);
  OnnxlCostNode n = { inference, w->pool, node, onnxl_inference_node(inference, id), inference->schemas[id] };

  if (call) {
    Walk callee = { call, w->pool };
    return onnxl_expr_add(w->pool, bound, graph_bound(&callee, 0));
  }
  if (!n.schema || !n.proto)
    return NULL;
  bound = onnxl_expr_add(w->pool, bound, onnxl_workspace_of_kernel(&n));
  bound = onnxl_expr_add(w->pool, bound, onnxl_converted_bytes(&n));
  for (uint32_t i = 0; i < node->n_subgraphs; i++)
    nested = onnxl_expr_max(w->pool, nested, graph_bound(w, node->first_subgraph + i));
  return onnxl_expr_add(w->pool, bound, nested);
}

const OnnxlExpr *
onnxl_workspaces_new(const OnnxlMemory *memory, OnnxlArena *arena, GError **error)
{
  const Walk walk = { memory, memory->inference->pool };
  OnnxlExpr *bounds = ONNXL_NEW_ARRAY(arena, OnnxlExpr, memory->n_nodes);

  for (uint32_t i = 0; bounds && i < memory->n_nodes; i++)
    bounds[i] = node_bound(&walk, i);
  if (onnxl_arena_exhausted(arena)) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }
  return bounds;
}
