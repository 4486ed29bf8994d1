/* Gradient: the nodes between what the derivatives are of and what they are by run once more on the values that are
 * given, and for each product of theirs there are two more, a derivative by each factor. */
#include "memory/macs-internal.h"
#include "support/map.h"

typedef struct Between {
  const OnnxlIndex *index;
  OnnxlMap names; /* of the values of the main graph */
  uint8_t *marks; /* by value id */
  bool *needed;   /* by node id: y depends on it */
} Between;

enum { GIVEN = 1, DIFFERENTIATED = 2 };

static const OnnxlAttribute *
find(const OnnxlNode *node, const char *name)
{
  for (size_t i = 0; i < node->attribute.count; i++)
    if (onnxl_str_is(node->attribute.items[i].name, name))
      return &node->attribute.items[i];
  return NULL;
}

static bool
mark(const Between *b, const OnnxlAttribute *names, uint8_t mark)
{
  for (size_t i = 0; names && i < names->strings.count; i++) {
    uint32_t v = onnxl_map_get(&b->names, names->strings.items[i]);
    if (v == ONNXL_MAP_NONE)
      return false;
    b->marks[v] |= mark;
  }
  return true;
}

/* A node's inputs come from nodes with smaller ids, so one walk down and one up do. */
static bool
walk_down(const Between *b, uint32_t id, uint32_t y)
{
  const OnnxlIndex *index = b->index;

  if (!(b->marks[y] & GIVEN) && index->values[y].producer != ONNXL_NONE)
    b->needed[index->values[y].producer] = true;
  for (uint32_t k = index->graphs[0].n_nodes; k-- > 0;)
    for (uint32_t i = 0; b->needed[k] && i < index->nodes[k].n_inputs; i++) {
      uint32_t v = index->nodes[k].inputs[i];
      if (v != ONNXL_NONE && !(b->marks[v] & GIVEN) && index->values[v].producer != ONNXL_NONE)
        b->needed[index->values[v].producer] = true;
    }
  for (uint32_t k = id; k < index->graphs[0].n_nodes; k++)
    if (b->needed[k]) /* its cost is not known yet; nobody can run that */
      return false;
  return true;
}

/* times the figures of the node's work. */
static void
add_work(OnnxlExprPool *pool, const OnnxlCost *node, int64_t times, OnnxlCost *sum)
{
  OnnxlExpr factor = onnxl_expr_int(pool, times);

  sum->macs = onnxl_expr_add(pool, sum->macs, onnxl_expr_mul(pool, factor, node->macs));
  sum->flops = onnxl_expr_add(pool, sum->flops, onnxl_expr_mul(pool, factor, node->flops));
  sum->at_most = sum->at_most || node->at_most;
  sum->flops_at_most = sum->flops_at_most || node->flops_at_most;
}

static void
walk_up(const Between *b, uint32_t id, OnnxlExprPool *pool, const OnnxlCost *nodes, OnnxlCost *sum)
{
  for (uint32_t k = 0; k < id; k++) {
    const OnnxlIndexNode *node = &b->index->nodes[k];
    uint8_t marks = 0;
    for (uint32_t i = 0; b->needed[k] && i < node->n_inputs; i++)
      marks |= node->inputs[i] == ONNXL_NONE ? 0 : b->marks[node->inputs[i]];
    for (uint32_t o = 0; marks && o < node->n_outputs; o++)
      if (node->outputs[o] != ONNXL_NONE && !(b->marks[node->outputs[o]] & GIVEN))
        b->marks[node->outputs[o]] |= marks;
    if (marks)
      add_work(pool, &nodes[k], marks & DIFFERENTIATED ? 3 : 1, sum);
  }
}

bool
onnxl_cost_of_gradient(const OnnxlCostNode *n, uint32_t id, const OnnxlCost *nodes, OnnxlArena *arena,
                       OnnxlCost *ret_cost)
{
  const OnnxlIndex *index = n->inference->index;
  const OnnxlAttribute *xs = find(n->proto, "xs"), *zs = find(n->proto, "zs"), *y = find(n->proto, "y");
  Between b = {
    .index = index,
    .names = onnxl_map_new(arena, index->n_values),
    .marks = ONNXL_NEW_ARRAY(arena, uint8_t, index->n_values),
    .needed = ONNXL_NEW_ARRAY(arena, bool, index->n_nodes),
  };

  ret_cost->macs = ret_cost->flops = literal(n, 0);
  for (uint32_t v = 0; !onnxl_arena_exhausted(arena) && v < index->n_values; v++)
    if (index->values[v].graph == 0)
      onnxl_map_put(&b.names, index->values[v].name, v, NULL);
  if (onnxl_arena_exhausted(arena))
    return false;
  uint32_t result = y ? onnxl_map_get(&b.names, y->s) : ONNXL_MAP_NONE;
  if (result != ONNXL_MAP_NONE && mark(&b, xs, GIVEN | DIFFERENTIATED) && mark(&b, zs, GIVEN) &&
      walk_down(&b, id, result))
    walk_up(&b, id, n->pool, nodes, ret_cost);
  else
    ret_cost->macs = ret_cost->flops = NULL;
  return true;
}
