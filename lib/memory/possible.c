/* Sizes that are negative for some values of the symbols (N-5): a run with those ends with an error, and what the sums
 * come to means nothing. */
#include "memory/possible-internal.h"
#include "memory/profile.h"

#include "support/error.h"

typedef struct Finder {
  OnnxlExprPool *pool;
  OnnxlArena *arena;
  GHashTable *seen; /* expressions */
  OnnxlDoubt *doubts;
  size_t count, capacity;
} Finder;

static bool
add(Finder *f, OnnxlExpr size, uint32_t node)
{
  int64_t min, max;

  if (!size || onnxl_expr_is_int(size, NULL) || onnxl_expr_is_symbol(size, NULL) ||
      !g_hash_table_add(f->seen, (gpointer)size))
    return true;
  onnxl_expr_bounds(f->pool, size, &min, &max);
  if (min >= 0)
    return true;
  if (!ONNXL_GROW(f->arena, &f->doubts, f->count, &f->capacity))
    return false;
  f->doubts[f->count++] = (OnnxlDoubt){ size, node };
  return true;
}

/* Nested graphs stay out: what would fail may be a branch that is not taken. */
static bool
add_node(Finder *f, const OnnxlInference *inference, uint32_t id, const OnnxlMemory *call)
{
  const OnnxlIndexNode *node = &inference->index->nodes[id];

  for (uint32_t o = 0; o < node->n_outputs; o++) {
    const OnnxlInfo *info = node->outputs[o] == ONNXL_NONE ? NULL : &inference->values[node->outputs[o]];
    for (uint32_t i = 0; info && info->has_rank && i < info->rank; i++)
      if (!add(f, info->dims[i], id))
        return false;
  }
  for (size_t i = 0; call && i < call->n_doubts; i++)
    if (!add(f, call->doubts[i].size, id))
      return false;
  return true;
}

bool
onnxl_possible_find(OnnxlMemory *memory, OnnxlArena *arena)
{
  Finder f = {
    .pool = memory->inference->pool,
    .arena = arena,
    .seen = g_hash_table_new(NULL, NULL),
  };
  bool good = true;

  for (uint32_t id = 0; good && id < memory->n_nodes; id++)
    good = add_node(&f, memory->inference, id, onnxl_memory_call(memory, id));
  g_hash_table_destroy(f.seen);
  memory->doubts = f.doubts;
  memory->n_doubts = f.count;
  return good;
}

bool
onnxl_memory_check_sizes(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, GError **error)
{
  const OnnxlIndexNode *nodes = memory->inference->index->nodes;
  int64_t size;

  for (size_t i = 0; i < memory->n_doubts; i++) {
    const OnnxlDoubt *doubt = &memory->doubts[i];
    if (onnxl_expr_evaluate(doubt->size, lookup, data, &size, NULL) && size < 0)
      return onnxl_fail(error, ONNXL_ERROR_USAGE,
                        "node %u (%.*s): the dimension %s would be %" G_GINT64_FORMAT ", so the model cannot run",
                        doubt->node, ONNXL_ARG(nodes[doubt->node].proto->op_type),
                        onnxl_expr_text(memory->inference->pool, doubt->size).data, size);
  }
  return true;
}
