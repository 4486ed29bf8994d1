/* The walk over nodes, nested graphs and the bodies of functions. */
#include "memory/macs.h"

#include "memory/macs-internal.h"
#include "memory/profile.h"
#include "support/error.h"
#include "support/sort.h"

typedef struct Walk {
  const OnnxlInference *inference;
  OnnxlExprPool *pool;
  OnnxlArena *arena;
  OnnxlExpr zero;
  const OnnxlTag *tags;
  bool *counted;          /* by value id: its elements are parameters of an earlier node */
  const OnnxlCost *nodes; /* of the main graph, as far as the walk is */
  uint32_t n_gradients;   /* nodes so far that looked at all nodes before them */
} Walk;

/* More of them stay unknown, so that the walk is linear. */
#define MAX_GRADIENTS 16

static OnnxlCost
nothing(const Walk *w)
{
  return (OnnxlCost){ w->zero, w->zero, w->zero, w->zero, w->zero, false, false };
}

static bool graph_cost(Walk *w, uint32_t graph, OnnxlCost *ret_cost);
static bool node_costs(const OnnxlInference *inference, OnnxlArena *arena, OnnxlCost *ret_nodes);

/* --- sums and choices of costs ------------------------------------------------------------------------------------ */

/* The figures of a cost, to treat them alike. */
static OnnxlExpr *
figure(OnnxlCost *cost, size_t i)
{
  OnnxlExpr *const figures[] = { &cost->macs, &cost->flops, &cost->parameters, &cost->read, &cost->written };

  return figures[i];
}
#define N_FIGURES 5

/* The sum of n costs. known_only: without figures that are not known, instead of an unknown sum. */
static bool
sum(OnnxlExprPool *pool, const OnnxlCost *costs, const uint32_t *nodes, uint32_t n, bool known_only, OnnxlCost *ret_sum)
{
  g_autofree OnnxlExpr *terms = g_try_new(OnnxlExpr, MAX(n, 1));

  *ret_sum = (OnnxlCost){ .at_most = false };
  for (size_t f = 0; terms && f < N_FIGURES; f++) {
    uint32_t n_terms = 0;
    bool known = true;
    for (uint32_t i = 0; i < n; i++) {
      OnnxlCost cost = costs[nodes ? nodes[i] : i];
      OnnxlExpr term = *figure(&cost, f);
      int64_t value;
      known = known && term;
      if (term && !(onnxl_expr_is_int(term, &value) && value == 0))
        terms[n_terms++] = term;
      ret_sum->at_most = ret_sum->at_most || cost.at_most;
      ret_sum->flops_at_most = ret_sum->flops_at_most || cost.flops_at_most;
    }
    *figure(ret_sum, f) = !known && !known_only ? NULL
                          : n_terms > 0         ? onnxl_expr_sum(pool, terms, n_terms)
                                                : onnxl_expr_int(pool, 0);
  }
  return terms != NULL;
}

/* Parameters do not multiply: a body has them once. */
static void
repeat(const Walk *w, OnnxlCost *cost, OnnxlExpr times, uint32_t graph)
{
  for (size_t f = 0; f < N_FIGURES; f++) {
    OnnxlExpr *e = figure(cost, f);
    if (e == &cost->parameters || *e == w->zero)
      continue;
    /* A size of its own in each trip cannot be multiplied. */
    *e = onnxl_inference_is_local(w->inference, *e, graph) ? NULL : onnxl_expr_mul(w->pool, *e, times);
  }
}

/* Either of two: all parameters, of the rest the larger. */
static OnnxlCost
larger(const Walk *w, OnnxlCost *a, OnnxlCost *b)
{
  OnnxlCost cost = { .at_most = a->at_most || b->at_most, .flops_at_most = a->flops_at_most || b->flops_at_most };

  for (size_t f = 0; f < N_FIGURES; f++) {
    OnnxlExpr x = *figure(a, f), y = *figure(b, f), *e = figure(&cost, f);
    bool both = e == &cost.parameters;
    *e = both ? onnxl_expr_add(w->pool, x, y) : onnxl_expr_max(w->pool, x, y);
    cost.at_most = cost.at_most || (!both && x != y);
  }
  return cost;
}

static void
add_cost(const Walk *w, OnnxlCost *cost, OnnxlCost *more)
{
  for (size_t f = 0; f < N_FIGURES; f++)
    *figure(cost, f) = onnxl_expr_add(w->pool, *figure(cost, f), *figure(more, f));
  cost->at_most = cost->at_most || more->at_most;
  cost->flops_at_most = cost->flops_at_most || more->flops_at_most;
}

/* --- nested graphs ------------------------------------------------------------------------------------------------ */

static uint32_t
subgraph(const Walk *w, const OnnxlIndexNode *node, const char *attribute)
{
  for (uint32_t i = 0; i < node->n_subgraphs; i++) {
    const OnnxlIndexGraph *graph = &w->inference->index->graphs[node->first_subgraph + i];
    if (graph->attribute && onnxl_str_is(graph->attribute->name, attribute))
      return node->first_subgraph + i;
  }
  return ONNXL_NONE;
}

/* The one element of a value, NULL when it is not known. */
static OnnxlExpr
only_element(const Walk *w, uint32_t value)
{
  const OnnxlInfo *info = value == ONNXL_NONE ? NULL : &w->inference->values[value];

  return info && info->kind == ONNXL_KIND_TENSOR && info->has_contents && info->n_contents == 1 && info->contents
           ? info->contents[0]
           : NULL;
}

static uint32_t
input_id(const OnnxlIndexNode *node, uint32_t i)
{
  return i < node->n_inputs ? node->inputs[i] : ONNXL_NONE;
}

static bool
if_cost(Walk *w, const OnnxlIndexNode *node, OnnxlCost *ret_cost)
{
  uint32_t then_branch = subgraph(w, node, "then_branch"), else_branch = subgraph(w, node, "else_branch");
  OnnxlExpr condition = only_element(w, input_id(node, 0));
  OnnxlCost costs[] = { nothing(w), nothing(w) };
  int64_t taken;

  if ((then_branch != ONNXL_NONE && !graph_cost(w, then_branch, &costs[0])) ||
      (else_branch != ONNXL_NONE && !graph_cost(w, else_branch, &costs[1])))
    return false;
  if (condition && onnxl_expr_is_int(condition, &taken))
    *ret_cost = costs[taken ? 0 : 1];
  else
    *ret_cost = larger(w, &costs[0], &costs[1]);
  return true;
}

/* Trips of a Loop: M, or fewer when the condition may end it. */
static OnnxlExpr
loop_trips(const Walk *w, const OnnxlIndexNode *node, uint32_t body, bool *ret_at_most)
{
  const OnnxlIndexGraph *graph = &w->inference->index->graphs[body];
  OnnxlExpr condition = graph->n_inputs > 1 ? only_element(w, graph->inputs[1]) : NULL;
  int64_t value;

  *ret_at_most = !(condition && onnxl_expr_is_int(condition, &value) && value != 0);
  return onnxl_expr_max(w->pool, only_element(w, input_id(node, 0)), w->zero);
}

/* Trips of a Scan: the length of its last input, which is scanned, times the batch that Scan-8 has in front. */
static OnnxlExpr
scan_trips(const Walk *w, const OnnxlIndexNode *node, const OnnxlOpSchema *schema, const OnnxlNode *proto)
{
  uint32_t value = node->n_inputs > 0 ? node->inputs[node->n_inputs - 1] : ONNXL_NONE;
  const OnnxlInfo *info = value == ONNXL_NONE ? NULL : &w->inference->values[value];
  OnnxlInt64List axes = onnxl_attr_ints(proto, "scan_input_axes");
  int64_t axis = axes.count > 0 ? axes.items[axes.count - 1] : 0;

  if (!info || !info->has_rank)
    return NULL;
  if (schema->since < 9)
    return info->rank >= 2 ? onnxl_expr_mul(w->pool, info->dims[0], info->dims[1]) : NULL;
  axis += axis < 0 ? (int64_t)info->rank : 0;
  return axis >= 0 && axis < (int64_t)info->rank ? info->dims[axis] : NULL;
}

static OnnxlExpr
sequence_length(const Walk *w, const OnnxlIndexNode *node)
{
  uint32_t value = input_id(node, 0);
  const OnnxlInfo *info = value == ONNXL_NONE ? NULL : &w->inference->values[value];

  return info && info->kind == ONNXL_KIND_SEQUENCE && info->has_contents ? onnxl_expr_int(w->pool, info->n_contents)
                                                                         : NULL;
}

/* A node with nested graphs, whose own inputs and outputs are moved by the nodes in there. */
static bool
nested_cost(Walk *w, uint32_t id, const OnnxlNode *proto, OnnxlCost *ret_cost)
{
  const OnnxlIndexNode *node = &w->inference->index->nodes[id];
  const OnnxlOpSchema *schema = w->inference->schemas[id];
  uint32_t body = subgraph(w, node, "body");
  bool at_most = false;
  OnnxlExpr trips = NULL;

  *ret_cost = nothing(w);
  if (schema && onnxl_str_is(onnxl_str(schema->name), "If"))
    return if_cost(w, node, ret_cost);
  if (!schema || body == ONNXL_NONE) {
    for (uint32_t i = 0; i < node->n_subgraphs; i++) {
      OnnxlCost cost;
      if (!graph_cost(w, node->first_subgraph + i, &cost))
        return false;
      add_cost(w, ret_cost, &cost);
    }
    return true;
  }
  if (!graph_cost(w, body, ret_cost))
    return false;
  if (onnxl_str_is(onnxl_str(schema->name), "Loop"))
    trips = loop_trips(w, node, body, &at_most);
  else if (onnxl_str_is(onnxl_str(schema->name), "Scan"))
    trips = scan_trips(w, node, schema, proto);
  else if (onnxl_str_is(onnxl_str(schema->name), "SequenceMap"))
    trips = sequence_length(w, node);
  repeat(w, ret_cost, trips, body);
  ret_cost->at_most = ret_cost->at_most || at_most;
  return true;
}

/* --- nodes -------------------------------------------------------------------------------------------------------- */

static OnnxlExpr
bytes_of(const Walk *w, uint32_t value)
{
  return onnxl_info_bytes(w->pool, &w->inference->values[value]);
}

static bool
is_parameter(const Walk *w, uint32_t value)
{
  const OnnxlIndexValue *v = &w->inference->index->values[value];

  if (w->tags[value] == ONNXL_TAG_SHAPE || w->tags[value] == ONNXL_TAG_AXES)
    return false;
  return v->kind == ONNXL_VALUE_INITIALIZER ||
         (v->kind == ONNXL_VALUE_NODE_OUTPUT && onnxl_memory_is_constant(&w->inference->index->nodes[v->producer]));
}

/* Elements of the parameters that no node before this one has read. */
static OnnxlExpr
parameters_of(Walk *w, const OnnxlIndexNode *node)
{
  OnnxlExpr elements = w->zero;

  for (uint32_t i = 0; i < node->n_inputs; i++) {
    uint32_t value = node->inputs[i];
    if (value == ONNXL_NONE || w->counted[value] || !is_parameter(w, value))
      continue;
    w->counted[value] = true;
    elements = onnxl_expr_add(w->pool, elements, onnxl_info_count(w->pool, &w->inference->values[value]));
  }
  return elements;
}

/* Sorted, so that an input that stands in several places is read once. */
static int
by_id(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

  return x < y ? -1 : x > y;
}

static bool
moved_bytes(const Walk *w, const OnnxlIndexNode *node, OnnxlCostReads reads, OnnxlCost *cost)
{
  g_autofree uint32_t *inputs = g_try_new(uint32_t, MAX(node->n_inputs, 1));
  g_autofree OnnxlExpr *terms = g_try_new(OnnxlExpr, (size_t)MAX(node->n_inputs, node->n_outputs) + 1);
  size_t n = 0;

  if (!inputs || !terms)
    return false;
  terms[n++] = w->zero;
  for (uint32_t o = 0; o < node->n_outputs; o++)
    if (node->outputs[o] != ONNXL_NONE)
      terms[n++] = bytes_of(w, node->outputs[o]);
  cost->written = onnxl_expr_sum(w->pool, terms, n);
  cost->read = w->zero;
  if (reads == ONNXL_READS_NOTHING)
    return true;
  uint32_t n_inputs = 0, selected = reads == ONNXL_READS_SELECTED ? input_id(node, 0) : ONNXL_NONE;
  for (uint32_t i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != ONNXL_NONE && node->inputs[i] != selected)
      inputs[n_inputs++] = node->inputs[i];
  onnxl_sort(inputs, n_inputs, sizeof *inputs, by_id);
  n = 0;
  terms[n++] = selected == ONNXL_NONE ? w->zero : cost->written;
  for (uint32_t i = 0; i < n_inputs; i++)
    if (i == 0 || inputs[i] != inputs[i - 1])
      terms[n++] = bytes_of(w, inputs[i]);
  cost->read = onnxl_expr_sum(w->pool, terms, n);
  return true;
}

static bool
plain_cost(Walk *w, uint32_t id, const OnnxlNode *proto, OnnxlCost *ret_cost)
{
  const OnnxlIndexNode *node = &w->inference->index->nodes[id];
  const OnnxlCostNode n = { w->inference, w->pool, node, proto, w->inference->schemas[id] };
  OnnxlCostReads reads;

  *ret_cost = nothing(w);
  if (onnxl_memory_is_constant(node))
    return true; /* a weight, which is read where it is used */
  onnxl_cost_of_node(&n, ret_cost, &reads);
  if (n.schema && onnxl_str_is(onnxl_str(n.schema->name), "Gradient") && node->graph == 0 &&
      w->n_gradients++ < MAX_GRADIENTS && !onnxl_cost_of_gradient(&n, id, w->nodes, w->arena, ret_cost))
    return false;
  return moved_bytes(w, node, reads, ret_cost);
}

static bool
call_cost(Walk *w, const OnnxlInference *body, OnnxlCost *ret_cost)
{
  uint32_t n = body->index->graphs[0].n_nodes;
  OnnxlCost *costs = ONNXL_NEW_ARRAY(w->arena, OnnxlCost, n);

  return costs && node_costs(body, w->arena, costs) && sum(w->pool, costs, NULL, n, false, ret_cost);
}

static bool
node_cost(Walk *w, uint32_t id, OnnxlCost *ret_cost)
{
  const OnnxlIndexNode *node = &w->inference->index->nodes[id];
  const OnnxlInference *body = w->inference->calls ? w->inference->calls[id] : NULL;
  const OnnxlNode *proto = onnxl_inference_node(w->inference, id);
  OnnxlExpr parameters = parameters_of(w, node);

  if (!proto)
    return false;
  if (body                    ? !call_cost(w, body, ret_cost)
      : node->n_subgraphs > 0 ? !nested_cost(w, id, proto, ret_cost)
                              : !plain_cost(w, id, proto, ret_cost))
    return false;
  ret_cost->parameters = onnxl_expr_add(w->pool, ret_cost->parameters, parameters);
  return true;
}

static bool
graph_cost(Walk *w, uint32_t graph, OnnxlCost *ret_cost)
{
  const OnnxlIndexGraph *g = &w->inference->index->graphs[graph];
  OnnxlCost *costs = ONNXL_NEW_ARRAY(w->arena, OnnxlCost, g->n_nodes);

  if (!costs)
    return false;
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (!node_cost(w, g->first_node + i, &costs[i]))
      return false;
  return sum(w->pool, costs, NULL, g->n_nodes, false, ret_cost);
}

/* The nodes of the main graph, or of a function's body. */
static bool
node_costs(const OnnxlInference *inference, OnnxlArena *arena, OnnxlCost *ret_nodes)
{
  Walk w = {
    .inference = inference,
    .pool = inference->pool,
    .arena = arena,
    .zero = onnxl_expr_int(inference->pool, 0),
    .tags = onnxl_memory_tags(inference, arena),
    .counted = ONNXL_NEW_ARRAY(arena, bool, inference->index->n_values),
    .nodes = ret_nodes,
  };

  if (onnxl_arena_exhausted(arena))
    return false;
  for (uint32_t i = 0; i < inference->index->graphs[0].n_nodes; i++)
    if (!node_cost(&w, i, &ret_nodes[i]))
      return false;
  return true;
}

const OnnxlCosts *
onnxl_costs_new(const OnnxlInference *inference, OnnxlArena *arena, GError **error)
{
  uint32_t n = inference->index->graphs[0].n_nodes;
  OnnxlCosts *costs = ONNXL_NEW(arena, OnnxlCosts);
  OnnxlCost *nodes = ONNXL_NEW_ARRAY(arena, OnnxlCost, n);

  if (!costs || !nodes || !node_costs(inference, arena, nodes)) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }
  *costs = (OnnxlCosts){ nodes, n };
  return costs;
}

bool
onnxl_costs_sum(const OnnxlCosts *costs, OnnxlExprPool *pool, const uint32_t *nodes, uint32_t n, OnnxlCost *ret_sum,
                uint32_t *ret_unknown, GError **error)
{
  *ret_unknown = 0;
  for (uint32_t i = 0; i < n; i++) {
    OnnxlCost cost = costs->nodes[nodes ? nodes[i] : i];
    bool known = true;
    for (size_t f = 0; f < N_FIGURES; f++)
      known = known && *figure(&cost, f);
    *ret_unknown += !known;
  }
  return sum(pool, costs->nodes, nodes, n, true, ret_sum) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for the sum of %u nodes", n);
}
