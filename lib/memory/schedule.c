#include "memory/schedule-internal.h"

#include "memory/inplace-internal.h"
#include "support/error.h"

/* Of a node, and inputs that are looked at for them: more than any operator that writes over an input has. */
#define MAX_PAIRS 32

typedef struct Builder {
  const OnnxlMemory *memory;
  const OnnxlIndex *index;
  OnnxlInplace inplace;
  OnnxlExprLookup lookup;
  void *data;
  OnnxlArena *arena;
  ScheduleNode *nodes;
  ScheduleValue *values;
  uint32_t *stamps; /* by value id: 1 + the node that was seen to need it */
} Builder;

static bool
is_mortal(const Builder *b, uint32_t v)
{
  const OnnxlIndexValue *value = &b->index->values[v];

  if (value->is_output || value->kind == ONNXL_VALUE_INITIALIZER)
    return false;
  if (value->kind == ONNXL_VALUE_INPUT)
    return b->memory->free_inputs;
  return !onnxl_memory_is_constant(&b->index->nodes[value->producer]);
}

/* False: it does not fit into an equal share of 64 bits, which is what keeps the sums within them. */
static bool
number(const Builder *b, OnnxlExpr e, int64_t *ret)
{
  int64_t share = INT64_MAX / ((int64_t)b->index->n_values + b->index->n_nodes + 1);

  *ret = 0;
  return !e || (onnxl_expr_evaluate(e, b->lookup, b->data, ret, NULL) && *ret >= 0 && *ret <= share);
}

static void
add_need(const Builder *b, uint32_t id, uint32_t v, uint32_t *needs)
{
  ScheduleNode *node = &b->nodes[id];

  if (v == ONNXL_NONE || b->index->values[v].graph != 0 || b->stamps[v] == id + 1)
    return;
  b->stamps[v] = id + 1;
  needs[node->n_needs++] = v;
  b->values[v].n_users++;
}

/* True when the node reads input k in no other way, so that it may be overwritten when nobody reads it later. */
static bool
is_read_once(const OnnxlIndexNode *node, uint32_t k)
{
  for (uint32_t i = 0; i < node->n_inputs; i++)
    if (i != k && node->inputs[i] == node->inputs[k])
      return false;
  for (uint32_t i = 0; i < node->n_captures; i++)
    if (node->captures[i] == node->inputs[k])
      return false;
  return true;
}

static bool
may_overwrite(const Builder *b, uint32_t id, uint32_t k, uint32_t o)
{
  const OnnxlIndexNode *node = &b->index->nodes[id];
  uint32_t in = node->inputs[k], out = node->outputs[o];

  if (in == ONNXL_NONE || b->index->values[in].graph != 0 || !b->values[in].mortal || !is_read_once(node, k))
    return false;
  if (b->inplace == ONNXL_INPLACE_SAFE)
    return onnxl_inplace_safe(b->memory->inference, id, k, o);
  return b->memory->bytes[in] && b->memory->bytes[in] == b->memory->bytes[out];
}

static bool
add_pairs(const Builder *b, uint32_t id)
{
  const OnnxlIndexNode *node = &b->index->nodes[id];
  SchedulePair found[MAX_PAIRS];
  uint32_t n = 0, n_inputs = MIN(node->n_inputs, (uint32_t)MAX_PAIRS);

  if (b->inplace == ONNXL_INPLACE_OFF || onnxl_memory_is_constant(node))
    return true;
  for (uint32_t o = 0; o < node->n_outputs; o++)
    for (uint32_t k = 0; k < n_inputs && node->outputs[o] != ONNXL_NONE && n < MAX_PAIRS; k++)
      if (may_overwrite(b, id, k, o))
        found[n++] = (SchedulePair){ node->outputs[o], node->inputs[k] };
  SchedulePair *pairs = ONNXL_NEW_ARRAY(b->arena, SchedulePair, n);
  if (!pairs)
    return false;
  memcpy(pairs, found, n * sizeof *pairs);
  b->nodes[id].pairs = pairs;
  b->nodes[id].n_pairs = n;
  return true;
}

static bool
add_node(const Builder *b, uint32_t id)
{
  const OnnxlIndexNode *node = &b->index->nodes[id];
  ScheduleNode *made = &b->nodes[id];
  uint32_t *needs = ONNXL_NEW_ARRAY(b->arena, uint32_t, node->n_inputs + node->n_captures);
  uint32_t *makes = ONNXL_NEW_ARRAY(b->arena, uint32_t, node->n_outputs);

  if (!needs || !makes)
    return false;
  for (uint32_t i = 0; i < node->n_inputs; i++)
    add_need(b, id, node->inputs[i], needs);
  for (uint32_t i = 0; i < node->n_captures; i++)
    add_need(b, id, node->captures[i], needs);
  for (uint32_t o = 0; o < node->n_outputs; o++)
    if (node->outputs[o] != ONNXL_NONE)
      makes[made->n_makes++] = node->outputs[o];
  made->needs = needs;
  made->makes = makes;
  return number(b, b->memory->nodes[id].outputs->amounts[ONNXL_TAG_SCRATCH], &made->scratch) && add_pairs(b, id);
}

static bool
add_users(const Builder *b)
{
  for (uint32_t v = 0; v < b->index->n_values; v++) {
    b->values[v].users = ONNXL_NEW_ARRAY(b->arena, uint32_t, b->values[v].n_users);
    b->values[v].n_users = 0;
    if (!b->values[v].users)
      return false;
  }
  for (uint32_t id = 0; id < b->memory->n_nodes; id++)
    for (uint32_t i = 0; i < b->nodes[id].n_needs; i++) {
      ScheduleValue *value = &b->values[b->nodes[id].needs[i]];
      ((uint32_t *)value->users)[value->n_users++] = id;
    }
  return true;
}

const Schedule *
schedule_new(const OnnxlMemory *memory, OnnxlInplace inplace, OnnxlExprLookup lookup, void *data, OnnxlArena *arena,
             GError **error)
{
  const OnnxlIndex *index = memory->inference->index;
  Schedule *schedule = ONNXL_NEW(arena, Schedule);
  Builder b = {
    .memory = memory,
    .index = index,
    .inplace = inplace,
    .lookup = lookup,
    .data = data,
    .arena = arena,
    .nodes = ONNXL_NEW_ARRAY(arena, ScheduleNode, memory->n_nodes),
    .values = ONNXL_NEW_ARRAY(arena, ScheduleValue, index->n_values),
    .stamps = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_values),
  };
  bool good = !onnxl_arena_exhausted(arena);

  for (uint32_t v = 0; good && v < index->n_values; v++) {
    if (index->values[v].graph != 0)
      continue;
    b.values[v].producer = index->values[v].producer;
    b.values[v].mortal = is_mortal(&b, v);
    good = number(&b, memory->bytes[v], &b.values[v].bytes);
  }
  for (uint32_t id = 0; good && id < memory->n_nodes; id++)
    good = add_node(&b, id);
  good = good && add_users(&b);
  if (onnxl_arena_exhausted(arena))
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
  else if (!good)
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the sizes do not fit in 64 bits, or depend on a symbol without a value");
  if (!good)
    return NULL;
  *schedule = (Schedule){ b.nodes, b.values, memory->n_nodes, index->n_values };
  return schedule;
}

/* --- running --- */

void
schedule_start(ScheduleRun *run, const Schedule *schedule, uint32_t *left)
{
  *run = (ScheduleRun){ .schedule = schedule, .left = left };
  for (uint32_t v = 0; v < schedule->n_values; v++) {
    left[v] = schedule->values[v].n_users;
    if (schedule->values[v].producer == ONNXL_NONE)
      run->live += schedule->values[v].bytes;
  }
}

/* Bytes of outputs that take over the buffer of an input: the first input for each output, each input once. */
static int64_t
taken_over(const ScheduleRun *run, const ScheduleNode *node)
{
  uint32_t outs[MAX_PAIRS], ins[MAX_PAIRS], n = 0;
  int64_t bytes = 0;

  for (uint32_t i = 0; i < node->n_pairs; i++) {
    const SchedulePair *pair = &node->pairs[i];
    bool free = run->left[pair->in] == 1;
    for (uint32_t j = 0; free && j < n; j++)
      free = outs[j] != pair->out && ins[j] != pair->in;
    if (!free)
      continue;
    outs[n] = pair->out;
    ins[n++] = pair->in;
    bytes += run->schedule->values[pair->out].bytes;
  }
  return bytes;
}

int64_t
schedule_look(const ScheduleRun *run, uint32_t id, int64_t *ret_change)
{
  const ScheduleNode *node = &run->schedule->nodes[id];
  const ScheduleValue *values = run->schedule->values;
  int64_t made = 0, freed = 0;

  for (uint32_t i = 0; i < node->n_makes; i++) {
    const ScheduleValue *value = &values[node->makes[i]];
    made += value->bytes;
    if (value->mortal && value->n_users == 0)
      freed += value->bytes;
  }
  for (uint32_t i = 0; i < node->n_needs; i++)
    if (run->left[node->needs[i]] == 1 && values[node->needs[i]].mortal)
      freed += values[node->needs[i]].bytes;
  *ret_change = made - freed;
  return run->live + made - taken_over(run, node) + node->scratch;
}

int64_t
schedule_step(ScheduleRun *run, uint32_t id)
{
  const ScheduleNode *node = &run->schedule->nodes[id];
  int64_t change, step = schedule_look(run, id, &change);

  for (uint32_t i = 0; i < node->n_needs; i++)
    run->left[node->needs[i]]--;
  run->live += change;
  return step;
}

void
schedule_undo(ScheduleRun *run, uint32_t id, int64_t change)
{
  const ScheduleNode *node = &run->schedule->nodes[id];

  for (uint32_t i = 0; i < node->n_needs; i++)
    run->left[node->needs[i]]++;
  run->live -= change;
}

int64_t
schedule_peak(const Schedule *schedule, const uint32_t *order, int64_t *steps, uint32_t *left)
{
  ScheduleRun run;
  int64_t peak = 0;

  schedule_start(&run, schedule, left);
  for (uint32_t i = 0; i < schedule->n_nodes; i++) {
    int64_t step = schedule_step(&run, order[i]);
    if (steps)
      steps[i] = step;
    peak = MAX(peak, step);
  }
  return peak;
}
