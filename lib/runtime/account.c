#include "runtime/account-internal.h"

#include "runtime/sizes.h"
#include "support/error.h"

bool
onnxl_account_start(OnnxlExecutor *executor, OnnxlValue *const *inputs, GError **error)
{
  const OnnxlMemory *memory = executor->options.memory;

  executor->account = (OnnxlAccount){ 0 };
  executor->live_buffers = 0;
  if (!memory)
    return true;
  executor->sizes = onnxl_sizes_new();
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(executor); i++) {
    const OnnxlInfo *info = &memory->inference->values[memory->inference->index->graphs[0].inputs[i]];
    if (inputs[i] && !onnxl_sizes_bind(executor->sizes, info, inputs[i]))
      return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  }
  return true;
}

void
onnxl_account_stop(OnnxlExecutor *executor)
{
  g_clear_pointer(&executor->sizes, onnxl_sizes_free);
}

/* --- frames --- */

bool
onnxl_account_open(OnnxlExecutor *executor, OnnxlFrame *frame, GError **error)
{
  if (!executor->options.memory)
    return true;
  const OnnxlFrame *caller = frame->caller;
  frame->memory = !caller          ? executor->options.memory
                  : caller->memory ? onnxl_memory_call(caller->memory, frame->caller_node)
                                   : NULL;
  frame->buffers = g_try_new0(uint64_t, (gsize)frame->body->index->n_values + 1);
  return frame->buffers ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for the table of %u values", frame->body->index->n_values);
}

void
onnxl_account_close(OnnxlFrame *frame)
{
  g_clear_pointer(&frame->buffers, g_free);
}

/* --- values --- */

static bool
is_main(const OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t v)
{
  return frame == &executor->main && frame->body->index->values[v].graph == 0;
}

/* Bytes of a value in its graph; 0 for what is counted elsewhere. */
static uint64_t
counted_bytes(const OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t v)
{
  const OnnxlIndexValue *place = &frame->body->index->values[v];

  if (frame->memory)
    return frame->memory->handed[v] ? 0 : onnxl_value_content_bytes(frame->values[v]);
  if (executor->options.memory || !is_main(executor, frame, v) || place->kind == ONNXL_VALUE_INPUT || place->is_output)
    return 0;
  return onnxl_value_bytes(frame->values[v]);
}

/* Sizes that only the run shows may be in what the plan sets aside for branches. */
static bool
note_sizes(OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t v, GError **error)
{
  const OnnxlInference *inference = frame->memory->inference;
  const OnnxlValue *value = frame->values[v];
  OnnxlExpr bytes = onnxl_inference_has_bytes_symbol(inference, v);
  OnnxlStr name;

  if (onnxl_sizes_bind(executor->sizes, &inference->values[v], value) &&
      (!bytes || !onnxl_expr_is_symbol(bytes, &name) ||
       onnxl_sizes_set(executor->sizes, name, (int64_t)onnxl_value_content_bytes(value))))
    return true;
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
}

bool
onnxl_account_add(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t v, GError **error)
{
  OnnxlAccount *account = &executor->account;
  uint64_t bytes = counted_bytes(executor, frame, v);

  if (frame->memory && is_main(executor, frame, v) && frame->body->index->n_graphs > 1 &&
      !note_sizes(executor, frame, v, error))
    return false;
  if (frame->memory) {
    uint32_t from = frame->memory->reuse[v];
    bool moves = from != ONNXL_NONE && !frame->memory->handed[v];
    frame->buffers[v] = moves ? frame->buffers[from] : bytes;
    if (moves) {
      frame->buffers[from] = 0;
      return true;
    }
  }
  if (bytes > 0 && executor->options.max_buffers > 0 && executor->live_buffers >= executor->options.max_buffers) {
    executor->shortage = ONNXL_SHORTAGE_BUFFERS;
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the value %.*s needs a buffer when all %u of --max-buffers are in use",
                      ONNXL_ARG(frame->body->index->values[v].name), executor->options.max_buffers);
  }
  account->live += bytes;
  account->peak = MAX(account->peak, account->live);
  executor->live_buffers += bytes > 0;
  return true;
}

uint64_t
onnxl_account_bytes(const OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t v)
{
  return frame->memory ? frame->buffers[v] : counted_bytes(executor, frame, v);
}

void
onnxl_account_remove(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t v)
{
  uint64_t bytes = onnxl_account_bytes(executor, frame, v);

  if (frame->memory)
    frame->buffers[v] = 0;
  executor->account.live -= bytes;
  executor->live_buffers -= bytes > 0;
}

bool
onnxl_account_releases(const OnnxlFrame *frame, uint32_t v)
{
  const OnnxlIndexValue *value = &frame->body->index->values[v];

  return !frame->memory || value->kind != ONNXL_VALUE_NODE_OUTPUT ||
         !onnxl_memory_is_constant(&frame->body->index->nodes[value->producer]);
}

/* --- nodes and bodies --- */

/* What the plan sets aside for the bodies of a node of the main graph: also for the branch that is not taken. */
static uint64_t
reserved_bytes(const OnnxlExecutor *executor, uint32_t node)
{
  OnnxlExpr scratch = executor->options.memory->nodes[node].outputs->amounts[ONNXL_TAG_SCRATCH];
  int64_t bytes;

  if (!scratch || !onnxl_expr_evaluate(scratch, onnxl_sizes_lookup, executor->sizes, &bytes, NULL))
    return 0;
  return (uint64_t)MAX(bytes, 0);
}

uint64_t
onnxl_account_node_ran(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t id)
{
  const OnnxlIndexNode *node = &frame->body->index->nodes[id];
  OnnxlAccount *account = &executor->account;
  uint64_t temporary = 0;

  if (!frame->memory)
    return 0;
  if (frame == &executor->main && node->graph == 0)
    account->scratch = MAX(account->scratch, reserved_bytes(executor, id));
  account->live += account->scratch;
  account->peak = MAX(account->peak, account->live);
  for (uint32_t o = 0; o < node->n_outputs; o++) {
    uint32_t v = node->outputs[o], from = v == ONNXL_NONE ? ONNXL_NONE : frame->memory->reuse[v];
    if (from != ONNXL_NONE && frame->values[v] && frame->values[from] &&
        frame->values[v]->data != frame->values[from]->data)
      temporary += onnxl_value_bytes(frame->values[v]);
  }
  return temporary;
}

void
onnxl_account_node_ended(OnnxlExecutor *executor)
{
  executor->account.live -= executor->account.scratch;
  executor->account.scratch = 0;
}

bool
onnxl_account_enter(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, OnnxlAccount *ret_outer, GError **error)
{
  const OnnxlIndexGraph *graph = &frame->body->index->graphs[g];

  *ret_outer = executor->account;
  if (!executor->options.memory)
    return true;
  executor->account =
    (OnnxlAccount){ .outer_live = ret_outer->outer_live + ret_outer->live,
                    .outer_peak = MAX(ret_outer->outer_peak, ret_outer->outer_live + ret_outer->peak) };
  for (uint32_t i = 0; i < graph->n_inputs; i++)
    if (frame->values[graph->inputs[i]] && frame->body->index->values[graph->inputs[i]].kind == ONNXL_VALUE_INPUT &&
        !onnxl_account_add(executor, frame, graph->inputs[i], error))
      return false;
  for (uint32_t i = 0; i < graph->n_initializers; i++)
    if (!onnxl_account_add(executor, frame, graph->initializers[i], error))
      return false;
  return true;
}

void
onnxl_account_leave(OnnxlExecutor *executor, const OnnxlAccount *outer)
{
  uint64_t needed = executor->account.peak;

  if (!executor->options.memory)
    return;
  executor->account = *outer;
  executor->account.scratch = MAX(executor->account.scratch, needed);
}

/* --- in place --- */

uint32_t
onnxl_account_overwritten(const OnnxlFrame *frame, uint32_t id)
{
  const OnnxlIndexNode *node = &frame->body->index->nodes[id];
  const OnnxlOpSchema *schema = frame->body->steps[id].schema;
  uint32_t v = node->n_outputs > 0 ? node->outputs[0] : ONNXL_NONE;
  uint32_t from = frame->memory && v != ONNXL_NONE ? frame->memory->reuse[v] : ONNXL_NONE;
  /* An operator with any number of inputs reads those behind the second one after it has written. */
  uint32_t mask = !schema ? 0 : schema->inplace == UINT32_MAX ? 3 : schema->inplace;

  for (uint32_t k = 0; from != ONNXL_NONE && k < node->n_inputs && k < 32; k++)
    if (node->inputs[k] == from)
      return mask >> k & 1 ? k : ONNXL_NONE;
  return ONNXL_NONE;
}
