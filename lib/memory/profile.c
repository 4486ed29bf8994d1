/* One pass over the nodes of a graph with running sums of what is live. Nested graphs and function bodies are profiled
 * the same way where their node stands; their peak is what the node needs while it runs. */
#include "memory/profile.h"

#include "memory/bytes-internal.h"
#include "memory/inplace-internal.h"
#include "memory/peak-internal.h"
#include "memory/possible-internal.h"
#include "memory/stored-internal.h"
#include "support/error.h"

/* A sum by tag that values enter and leave. Unknown sizes are counted apart, so that a sum is known again once they
 * left. */
typedef struct Live {
  OnnxlBucket shown; /* NULL for a tag with unknown sizes */
  OnnxlExpr sums[ONNXL_N_TAGS];
  uint32_t unknown[ONNXL_N_TAGS];
  OnnxlExpr total;           /* over the tags of shown */
  const OnnxlBucket *bucket; /* shown, in the arena */
  bool stale;                /* total and bucket are of earlier amounts: most nodes change few */
} Live;

typedef struct Profiler {
  const OnnxlInference *inference;
  const OnnxlMemoryOptions *options;
  OnnxlExprPool *pool;
  OnnxlExpr zero;
  Live nothing; /* live: no bytes with any tag */
  OnnxlArena *arena;
  GError **error;
  OnnxlTag *tags;
  uint32_t *reuse;
  uint32_t *last_use;
  OnnxlExpr *bytes; /* by value id: of the buffer it lives in; NULL = unknown */
  bool *handed;
  bool *freed; /* by value id */
  const OnnxlMemory **calls;
  OnnxlGraphPeak *graphs;
  const uint32_t *peak_nodes; /* of the main graph */
  uint32_t n_peak_nodes;
  const OnnxlBucket *recent[64]; /* by hash */
} Profiler;

/* What is live at a place of a graph. */
typedef struct State {
  Live inputs;
  Live initializers;
  Live intermediates;
} State;

static bool
fail_exhausted(const OnnxlArena *arena, GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
                    onnxl_arena_budget(arena));
}

/* The bucket in the arena, the same one again for the same amounts as far as it is remembered. NULL: exhausted. */
static const OnnxlBucket *
share(Profiler *p, const OnnxlBucket *bucket)
{
  uint64_t hash = 0;

  for (int tag = 0; tag < ONNXL_N_TAGS; tag++)
    hash = (hash ^ (uintptr_t)bucket->amounts[tag]) * UINT64_C(0x9e3779b97f4a7c15);
  const OnnxlBucket **slot = &p->recent[hash >> 58];
  if (*slot && memcmp(*slot, bucket, sizeof *bucket) == 0)
    return *slot;
  OnnxlBucket *copy = ONNXL_NEW(p->arena, OnnxlBucket);
  if (copy)
    *copy = *bucket;
  *slot = copy;
  return copy;
}

static void
set(Live *live, OnnxlTag tag, OnnxlExpr sum)
{
  live->sums[tag] = sum;
  live->shown.amounts[tag] = live->unknown[tag] > 0 ? NULL : sum;
  live->stale = true;
}

static void
enter(const Profiler *p, Live *live, OnnxlTag tag, OnnxlExpr bytes)
{
  live->unknown[tag] += !bytes;
  set(live, tag, bytes ? onnxl_expr_add(p->pool, live->sums[tag], bytes) : live->sums[tag]);
}

static void
leave(const Profiler *p, Live *live, OnnxlTag tag, OnnxlExpr bytes)
{
  live->unknown[tag] -= !bytes;
  set(live, tag, bytes ? onnxl_expr_sub(p->pool, live->sums[tag], bytes) : live->sums[tag]);
}

/* Brings total and bucket up to date. Returns: live. */
static const Live *
settle(Profiler *p, Live *live)
{
  if (!live->stale)
    return live;
  live->total = p->zero;
  for (int tag = 0; tag < ONNXL_N_TAGS; tag++)
    if (live->shown.amounts[tag] != p->zero)
      live->total = onnxl_expr_add(p->pool, live->total, live->shown.amounts[tag]);
  live->bucket = share(p, &live->shown);
  live->stale = false;
  return live;
}

/* Bytes of a value; an error when they are known but do not fit in 64 bits: of an initializer that nobody can have
 * stored, else of a model that is larger than can be counted. */
static bool
value_bytes(Profiler *p, uint32_t value)
{
  const OnnxlKnownBytes before = { p->bytes, p->handed };
  OnnxlExpr bytes = onnxl_bytes_of_value(p->inference, value, &before);

  p->bytes[value] = p->handed[value] ? p->zero : bytes;
  if (bytes)
    return true;
  const OnnxlInfo *info = &p->inference->values[value];
  bool known = info->kind == ONNXL_KIND_TENSOR && info->has_rank && onnxl_data_type_bits(info->elem_type) > 0;
  for (uint32_t i = 0; known && i < info->rank; i++)
    known = info->dims[i] != NULL;
  bool typed = info->kind != ONNXL_KIND_UNKNOWN && (info->kind != ONNXL_KIND_TENSOR || info->elem_type != 0);
  if (!known && typed && !p->handed[value])
    p->bytes[value] =
      onnxl_inference_bytes_symbol(p->inference, value, onnxl_most_bytes_of_value(p->inference, value, &before));
  if (!known)
    return true;
  if (onnxl_arena_exhausted(p->arena))
    return fail_exhausted(p->arena, p->error);
  const OnnxlIndexValue *v = &p->inference->index->values[value];
  if (v->kind == ONNXL_VALUE_INITIALIZER)
    return onnxl_fail(p->error, ONNXL_ERROR_INVALID, "the size of the initializer '%.*s' does not fit in 64 bits",
                      ONNXL_ARG(v->name));
  return onnxl_fail(p->error, ONNXL_ERROR_LIMIT, "the bytes of value '%.*s' do not fit in 64 bits", ONNXL_ARG(v->name));
}

/* Last node of each value's own graph that needs it, directly or inside a nested graph. */
static void
find_last_uses(Profiler *p)
{
  const OnnxlIndex *index = p->inference->index;

  for (uint32_t i = 0; i < index->n_values; i++)
    p->last_use[i] = ONNXL_NONE;
  for (uint32_t i = 0; i < index->n_nodes; i++) {
    const OnnxlIndexNode *node = &index->nodes[i];
    for (uint32_t j = 0; j < node->n_inputs; j++)
      if (node->inputs[j] != ONNXL_NONE && index->values[node->inputs[j]].graph == node->graph)
        p->last_use[node->inputs[j]] = i;
    for (uint32_t j = 0; j < node->n_captures; j++)
      if (index->values[node->captures[j]].graph == node->graph)
        p->last_use[node->captures[j]] = i;
  }
}

bool
onnxl_memory_is_constant(const OnnxlIndexNode *node)
{
  return onnxl_str_is(node->proto->op_type, "Constant") && onnxl_domain_normal(node->proto->domain).size == 0;
}

/* True when the buffer of the value may be given away or freed after its last use. */
static bool
is_mortal(const Profiler *p, const OnnxlIndexValue *value)
{
  if (value->is_output || value->kind == ONNXL_VALUE_INITIALIZER)
    return false;
  if (value->kind == ONNXL_VALUE_INPUT)
    return p->options->free_inputs && value->graph == 0;
  return !onnxl_memory_is_constant(&p->inference->index->nodes[value->producer]);
}

/* True when input k of the node dies with it, and is not read in any other way. */
static bool
dies_here(const Profiler *p, uint32_t id, uint32_t k)
{
  const OnnxlIndex *index = p->inference->index;
  const OnnxlIndexNode *node = &index->nodes[id];
  uint32_t value = node->inputs[k];

  if (value == ONNXL_NONE || index->values[value].graph != node->graph || p->last_use[value] != id ||
      !is_mortal(p, &index->values[value]))
    return false;
  for (uint32_t j = 0; j < node->n_inputs; j++)
    if (j != k && node->inputs[j] == value)
      return false;
  for (uint32_t j = 0; j < node->n_captures; j++)
    if (node->captures[j] == value)
      return false;
  return true;
}

/* Texts and containers have no buffer to be given away, or to be put into. */
static bool
has_buffer(const Profiler *p, uint32_t value)
{
  const OnnxlInfo *info = &p->inference->values[value];

  return info->kind == ONNXL_KIND_TENSOR && onnxl_data_type_bits(info->elem_type) > 0;
}

/* Bytes of the buffer at k against those of output o: equal for every assignment, or (second pass) larger in numbers.
 */
static bool
structural_pair(const Profiler *p, uint32_t id, uint32_t k, uint32_t o, bool larger)
{
  const OnnxlIndexNode *node = &p->inference->index->nodes[id];
  OnnxlExpr in = p->bytes[node->inputs[k]], out = p->bytes[node->outputs[o]];
  int64_t have, need;

  if (!in || !out || !has_buffer(p, node->inputs[k]) || !has_buffer(p, node->outputs[o]))
    return false;
  if (!larger)
    return in == out;
  return onnxl_expr_is_int(in, &have) && onnxl_expr_is_int(out, &need) && have > need;
}

static bool
is_taken(const Profiler *p, const OnnxlIndexNode *node, uint32_t in)
{
  for (uint32_t o = 0; o < node->n_outputs; o++)
    if (node->outputs[o] != ONNXL_NONE && p->reuse[node->outputs[o]] == in)
      return true;
  return false;
}

static void
take_over(Profiler *p, uint32_t out, uint32_t in)
{
  p->reuse[out] = in;
  if (!p->handed[out])
    p->bytes[out] = p->bytes[in];
}

/* The pairs that the node's metadata names; each must be one that would be right. */
static bool
take_stored(Profiler *p, uint32_t id)
{
  const OnnxlIndexNode *node = &p->inference->index->nodes[id];
  OnnxlStr text = onnxl_stored_inplace(node->proto);
  uint32_t o, k;

  for (OnnxlStr rest = text; rest.size > 0;) {
    bool good = onnxl_stored_pair(&rest, &o, &k) && o < node->n_outputs && k < node->n_inputs &&
                node->outputs[o] != ONNXL_NONE && node->inputs[k] != ONNXL_NONE &&
                p->reuse[node->outputs[o]] == ONNXL_NONE && dies_here(p, id, k) &&
                !is_taken(p, node, node->inputs[k]) &&
                (onnxl_inplace_safe(p->inference, id, k, o) || structural_pair(p, id, k, o, false) ||
                 structural_pair(p, id, k, o, true));
    if (!good)
      return onnxl_fail(p->error, ONNXL_ERROR_INVALID,
                        "node %u (%.*s): the plan \"%.*s\" does not fit the model (onnxl-mem -o makes a new one)", id,
                        ONNXL_ARG(node->proto->op_type), ONNXL_ARG(text));
    take_over(p, node->outputs[o], node->inputs[k]);
  }
  return true;
}

/* Chooses for each output of the node the dying input whose buffer it takes, each input once. */
static bool
plan_reuse(Profiler *p, uint32_t id)
{
  const OnnxlIndexNode *node = &p->inference->index->nodes[id];
  bool structural = p->options->inplace == ONNXL_INPLACE_STRUCTURAL;

  for (uint32_t o = 0; o < node->n_outputs; o++)
    if (node->outputs[o] != ONNXL_NONE)
      p->reuse[node->outputs[o]] = ONNXL_NONE;
  if (onnxl_memory_is_constant(node))
    return true;
  if (p->options->stored)
    return take_stored(p, id);
  if (p->options->inplace == ONNXL_INPLACE_OFF)
    return true;
  uint32_t n_outputs = structural ? node->n_outputs : MIN(node->n_outputs, ONNXL_INPLACE_OUTPUTS);
  uint32_t n_inputs = structural ? node->n_inputs : MIN(node->n_inputs, ONNXL_INPLACE_INPUTS);
  for (int pass = 0; pass < (structural ? 2 : 1); pass++)
    for (uint32_t o = 0; o < n_outputs; o++) {
      uint32_t out = node->outputs[o];
      if (out == ONNXL_NONE || p->reuse[out] != ONNXL_NONE)
        continue;
      for (uint32_t k = 0; k < n_inputs; k++) {
        uint32_t in = node->inputs[k];
        if (in == ONNXL_NONE ||
            !(structural ? structural_pair(p, id, k, o, pass == 1) : onnxl_inplace_safe(p->inference, id, k, o)) ||
            !dies_here(p, id, k) || is_taken(p, node, in))
          continue;
        take_over(p, out, in);
        break;
      }
    }
  return true;
}

static bool profile_graph(Profiler *p, uint32_t graph, OnnxlNodeMemory *nodes, OnnxlExpr *ret_peak,
                          uint32_t *ret_peak_node);

static const OnnxlMemory *memory_new(const OnnxlInference *inference, const OnnxlMemoryOptions *options,
                                     const OnnxlIndexNode *caller, OnnxlArena *arena, GError **error);

/* Peak of the body of a function that the node calls. */
static bool
call_scratch(Profiler *p, uint32_t id, OnnxlExpr *ret_peak)
{
  const OnnxlInference *body = p->inference->calls ? p->inference->calls[id] : NULL;
  const OnnxlMemoryOptions options = { .inplace = p->options->inplace };

  *ret_peak = p->zero;
  if (!body)
    return true;
  const OnnxlMemory *call = memory_new(body, &options, &p->inference->index->nodes[id], p->arena, p->error);
  if (!call)
    return false;
  if (!p->calls && !(p->calls = ONNXL_NEW_ARRAY(p->arena, const OnnxlMemory *, p->inference->index->n_nodes)))
    return fail_exhausted(p->arena, p->error);
  p->calls[id] = call;
  *ret_peak = call->peak;
  return true;
}

/* What the node needs only while it runs: its largest nested graph, one trip, or the body of the function it calls. */
static bool
scratch_bytes(Profiler *p, uint32_t id, OnnxlExpr *ret_bytes)
{
  const OnnxlIndexNode *node = &p->inference->index->nodes[id];

  if (!call_scratch(p, id, ret_bytes))
    return false;
  for (uint32_t i = 0; i < node->n_subgraphs; i++) {
    OnnxlExpr peak;
    uint32_t peak_node;
    if (!profile_graph(p, node->first_subgraph + i, NULL, &peak, &peak_node))
      return false;
    *ret_bytes = onnxl_expr_max(p->pool, *ret_bytes, peak);
  }
  return true;
}

/* Inputs and initializers of the graph, live from the start. */
static bool
enter_graph(Profiler *p, uint32_t graph, State *state)
{
  const OnnxlIndexGraph *g = &p->inference->index->graphs[graph];

  *state = (State){ p->nothing, p->nothing, p->nothing };
  for (uint32_t i = 0; i < g->n_inputs; i++) {
    uint32_t value = g->inputs[i];
    if (p->inference->index->values[value].kind == ONNXL_VALUE_INITIALIZER)
      continue;
    if (!value_bytes(p, value))
      return false;
    enter(p, &state->inputs, p->tags[value], p->bytes[value]);
  }
  for (uint32_t i = 0; i < g->n_initializers; i++) {
    uint32_t value = g->initializers[i];
    if (!value_bytes(p, value))
      return false;
    enter(p, &state->initializers, p->tags[value], p->bytes[value]);
  }
  return true;
}

/* Where a value is counted while it is live. */
static Live *
place_of(const Profiler *p, State *state, uint32_t value)
{
  const OnnxlIndexValue *v = &p->inference->index->values[value];

  switch (v->kind) {
  case ONNXL_VALUE_INPUT:
    return &state->inputs;
  case ONNXL_VALUE_INITIALIZER:
    return &state->initializers;
  case ONNXL_VALUE_NODE_OUTPUT:
    break;
  }
  return onnxl_memory_is_constant(&p->inference->index->nodes[v->producer]) ? &state->initializers
                                                                            : &state->intermediates;
}

/* Frees what the node was the last to need, then keeps those of its outputs that somebody will need. */
static void
leave_node(Profiler *p, State *state, uint32_t id)
{
  const OnnxlIndex *index = p->inference->index;
  const OnnxlIndexNode *node = &index->nodes[id];
  const uint32_t *lists[] = { node->inputs, node->captures };
  const uint32_t counts[] = { node->n_inputs, node->n_captures };

  for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
    for (uint32_t i = 0; i < counts[list]; i++) {
      uint32_t value = lists[list][i];
      if (value == ONNXL_NONE || p->last_use[value] != id || p->freed[value] ||
          index->values[value].graph != node->graph || !is_mortal(p, &index->values[value]))
        continue;
      leave(p, place_of(p, state, value), p->tags[value], p->bytes[value]);
      p->freed[value] = true; /* once, also when it stands in several places */
    }
  for (uint32_t o = 0; o < node->n_outputs; o++) {
    uint32_t value = node->outputs[o];
    if (value != ONNXL_NONE &&
        (index->values[value].is_output || p->last_use[value] != ONNXL_NONE || onnxl_memory_is_constant(node)))
      enter(p, place_of(p, state, value), p->tags[value], p->bytes[value]);
  }
}

static bool
profile_node(Profiler *p, State *state, uint32_t id, OnnxlNodeMemory *memory)
{
  const OnnxlIndexNode *node = &p->inference->index->nodes[id];
  Live outputs = p->nothing;
  OnnxlExpr scratch;

  memory->inputs = settle(p, &state->inputs)->bucket;
  memory->initializers = settle(p, &state->initializers)->bucket;
  memory->intermediates = settle(p, &state->intermediates)->bucket;
  OnnxlExpr given = onnxl_expr_add(p->pool, state->inputs.total, state->initializers.total);
  memory->already_allocated = onnxl_expr_add(p->pool, given, state->intermediates.total);
  for (uint32_t o = 0; o < node->n_outputs; o++)
    if (node->outputs[o] != ONNXL_NONE && !value_bytes(p, node->outputs[o]))
      return false;
  if (!plan_reuse(p, id))
    return false;
  for (uint32_t o = 0; o < node->n_outputs; o++) {
    uint32_t value = node->outputs[o];
    if (value != ONNXL_NONE && p->reuse[value] == ONNXL_NONE)
      enter(p, &outputs, p->tags[value], p->bytes[value]);
  }
  if (!scratch_bytes(p, id, &scratch))
    return false;
  if (scratch != p->zero)
    enter(p, &outputs, ONNXL_TAG_SCRATCH, scratch);
  memory->outputs = settle(p, &outputs)->bucket;
  memory->output_allocation = outputs.total;
  memory->total = onnxl_expr_add(p->pool, memory->already_allocated, memory->output_allocation);
  leave_node(p, state, id);
  return !onnxl_arena_exhausted(p->arena) || fail_exhausted(p->arena, p->error);
}

/* The amounts of the peak are in the order of the first nodes that have them. */
static bool
find_peak_nodes(Profiler *p, const OnnxlPeak *peak, const OnnxlNodeMemory *nodes, uint32_t n_nodes)
{
  size_t count = peak->unknown ? 0 : peak->count;
  uint32_t *found = ONNXL_NEW_ARRAY(p->arena, uint32_t, count);

  if (!found)
    return fail_exhausted(p->arena, p->error);
  p->n_peak_nodes = 0;
  for (uint32_t i = 0; i < n_nodes && p->n_peak_nodes < count; i++)
    if (nodes[i].total == peak->items[p->n_peak_nodes])
      found[p->n_peak_nodes++] = i;
  p->peak_nodes = found;
  return true;
}

/* Profiles a graph. nodes: filled by position in the graph, may be NULL. */
static bool
profile_graph(Profiler *p, uint32_t graph, OnnxlNodeMemory *nodes, OnnxlExpr *ret_peak, uint32_t *ret_peak_node)
{
  const OnnxlIndexGraph *g = &p->inference->index->graphs[graph];
  OnnxlPeak totals = { .pool = p->pool, .arena = p->arena };
  State state;
  uint32_t largest = ONNXL_NONE;
  OnnxlExpr largest_total = NULL;

  if (!enter_graph(p, graph, &state))
    return false;
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    OnnxlNodeMemory memory;
    if (!profile_node(p, &state, g->first_node + i, &memory) || !onnxl_peak_add(&totals, memory.total, p->error))
      return false;
    if (totals.count == 1 && totals.items[0] == memory.total && largest_total != memory.total) {
      largest = i;
      largest_total = memory.total;
    }
    if (nodes)
      nodes[i] = memory;
  }
  *ret_peak = onnxl_peak_get(&totals);
  *ret_peak_node = *ret_peak && totals.count == 1 ? largest : ONNXL_NONE;
  p->graphs[graph] = (OnnxlGraphPeak){ *ret_peak, *ret_peak_node };
  return !nodes || find_peak_nodes(p, &totals, nodes, g->n_nodes);
}

/* Values of nested graphs that the node around them counts, and of a function body that its caller does. */
static void
find_handed(Profiler *p, const OnnxlIndexNode *caller)
{
  const OnnxlIndex *index = p->inference->index;

  for (uint32_t g = caller ? 0 : 1; g < index->n_graphs; g++) {
    const OnnxlIndexGraph *graph = &index->graphs[g];
    const OnnxlIndexNode *node = g == 0 ? caller : &index->nodes[graph->parent_node];
    /* The first output of a loop's body is the condition, which goes nowhere. */
    uint32_t first = g > 0 && onnxl_str_is(node->proto->op_type, "Loop") ? 1 : 0;
    for (uint32_t i = first; i < graph->n_outputs && i - first < node->n_outputs; i++) {
      uint32_t value = graph->outputs[i];
      if (node->outputs[i - first] != ONNXL_NONE && index->values[value].graph == g &&
          index->values[value].kind == ONNXL_VALUE_NODE_OUTPUT)
        p->handed[value] = true;
    }
    for (uint32_t i = 0; g == 0 && i < graph->n_inputs; i++)
      p->handed[graph->inputs[i]] = true;
  }
}

/* caller: of a function body, else NULL. */
static const OnnxlMemory *
memory_new(const OnnxlInference *inference, const OnnxlMemoryOptions *options, const OnnxlIndexNode *caller,
           OnnxlArena *arena, GError **error)
{
  const OnnxlIndex *index = inference->index;
  OnnxlMemory *memory = ONNXL_NEW(arena, OnnxlMemory);
  OnnxlNodeMemory *nodes = ONNXL_NEW_ARRAY(arena, OnnxlNodeMemory, index->graphs[0].n_nodes);
  Profiler p = {
    .inference = inference,
    .options = options,
    .pool = inference->pool,
    .zero = onnxl_expr_int(inference->pool, 0),
    .arena = arena,
    .error = error,
    .tags = onnxl_memory_tags(inference, arena),
    .reuse = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_values),
    .last_use = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_values),
    .bytes = ONNXL_NEW_ARRAY(arena, OnnxlExpr, index->n_values),
    .handed = ONNXL_NEW_ARRAY(arena, bool, index->n_values),
    .freed = ONNXL_NEW_ARRAY(arena, bool, index->n_values),
    .graphs = ONNXL_NEW_ARRAY(arena, OnnxlGraphPeak, index->n_graphs),
  };

  if (onnxl_arena_exhausted(arena)) {
    fail_exhausted(arena, error);
    return NULL;
  }
  for (uint32_t i = 0; i < index->n_values; i++)
    p.reuse[i] = ONNXL_NONE;
  find_last_uses(&p);
  find_handed(&p, caller);
  p.nothing = (Live){ .total = p.zero, .stale = true };
  for (int tag = 0; tag < ONNXL_N_TAGS; tag++)
    p.nothing.shown.amounts[tag] = p.nothing.sums[tag] = p.zero;
  *memory = (OnnxlMemory){
    .inference = inference,
    .free_inputs = options->free_inputs,
    .nodes = nodes,
    .n_nodes = index->graphs[0].n_nodes,
    .graphs = p.graphs,
    .tags = p.tags,
    .reuse = p.reuse,
    .last_use = p.last_use,
    .bytes = p.bytes,
    .handed = p.handed,
  };
  if (!profile_graph(&p, 0, nodes, &memory->peak, &memory->peak_node))
    return NULL;
  memory->calls = p.calls;
  memory->peak_nodes = p.peak_nodes;
  memory->n_peak_nodes = p.n_peak_nodes;
  if (onnxl_possible_find(memory, arena))
    return memory;
  fail_exhausted(arena, error);
  return NULL;
}

const OnnxlMemory *
onnxl_memory_new(const OnnxlInference *inference, const OnnxlMemoryOptions *options, OnnxlArena *arena, GError **error)
{
  return memory_new(inference, options, NULL, arena, error);
}
