#include "runtime/executor.h"

#include <time.h>

#include "runtime/account-internal.h"
#include "runtime/event-internal.h"
#include "runtime/live-set-internal.h"
#include "runtime/tensor.h"
#include "runtime/widen-internal.h"
#include "support/error.h"

enum { FEW = 16 };

static uint64_t
clock_ns(clockid_t clock)
{
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Since the epoch, by the clock that nobody sets: what an event says stands in the order in which it happened. */
static uint64_t
now_ns(const OnnxlExecutor *executor)
{
  return executor->epoch_ns + clock_ns(CLOCK_MONOTONIC);
}

OnnxlExecutor *
onnxl_executor_new(OnnxlPlan *plan, const OnnxlExecutorOptions *options)
{
  OnnxlExecutor *executor = g_new0(OnnxlExecutor, 1);
  executor->plan = plan;
  executor->options = *options;
  if (executor->options.max_depth == 0)
    executor->options.max_depth = 200;
  if (executor->options.max_steps == 0)
    executor->options.max_steps = ONNXL_MAX_STEPS;
  return executor;
}

void
onnxl_executor_free(OnnxlExecutor *executor)
{
  if (!executor)
    return;
  g_free(executor->failed_path);
  g_free(executor);
}

void
onnxl_executor_listen(OnnxlExecutor *executor, OnnxlEventFunction event, void *data, bool nested)
{
  executor->event = event;
  executor->event_data = data;
  executor->nested = nested;
}

const char *
onnxl_executor_failed_path(const OnnxlExecutor *executor)
{
  return executor->failed_path;
}

static const OnnxlIndexGraph *
main_graph(const OnnxlExecutor *executor)
{
  return &executor->plan->main->index->graphs[0];
}

uint32_t
onnxl_executor_n_inputs(const OnnxlExecutor *executor)
{
  return main_graph(executor)->n_inputs;
}

const OnnxlIndexValue *
onnxl_executor_input(const OnnxlExecutor *executor, uint32_t i)
{
  return &executor->plan->main->index->values[main_graph(executor)->inputs[i]];
}

uint32_t
onnxl_executor_n_outputs(const OnnxlExecutor *executor)
{
  return main_graph(executor)->n_outputs;
}

const OnnxlIndexValue *
onnxl_executor_output(const OnnxlExecutor *executor, uint32_t i)
{
  return &executor->plan->main->index->values[main_graph(executor)->outputs[i]];
}

uint64_t
onnxl_executor_peak(const OnnxlExecutor *executor)
{
  return executor->account.peak;
}

/* --- events --- */

/* Cold, so that the code of a run in which nobody listens is laid out as if there were no events. */
static bool emit(OnnxlExecutor *executor, OnnxlEvent event, GError **error) G_GNUC_NO_INLINE __attribute__((cold));

static bool
emit(OnnxlExecutor *executor, OnnxlEvent event, GError **error)
{
  const OnnxlAccount *account = &executor->account;
  event.live_bytes = account->outer_live + account->live;
  event.peak_bytes = MAX(account->outer_peak, account->outer_live + account->peak);
  event.scope = executor->scope;
  event.timestamp_ns = now_ns(executor);
  executor->ended |= !executor->event(executor->event_data, &event, error);
  return !executor->ended;
}

/* Somebody listens to what happens in the graph that runs. */
static inline bool
is_heard(const OnnxlExecutor *executor)
{
  return executor->event && (executor->nested || executor->depth <= 1);
}

static bool
emit_value(OnnxlExecutor *executor, const OnnxlFrame *frame, OnnxlEventKind kind, uint32_t v, GError **error)
{
  return emit(executor,
              (OnnxlEvent){ .action = ONNXL_EVENT_ADD,
                            .kind = kind,
                            .name = frame->body->index->values[v].name,
                            .value = frame->values[v],
                            .id = v,
                            .node = -1 },
              error);
}

static bool
release_value(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t v, GError **error)
{
  OnnxlValue *value = frame->values[v];
  const OnnxlIndexValue *place = &frame->body->index->values[v];
  if (!value || !onnxl_account_releases(frame, v))
    return true;
  onnxl_account_remove(executor, frame, v);
  frame->values[v] = NULL;
  onnxl_value_unref(value);
  return !is_heard(executor) ||
         emit(
           executor,
           (OnnxlEvent){ .action = ONNXL_EVENT_REMOVE, .kind = ONNXL_EVENT_UNKNOWN, .name = place->name, .node = -1 },
           error);
}

/* --- frames --- */

static bool
open_frame(OnnxlExecutor *executor, OnnxlFrame *frame, GError **error)
{
  const OnnxlIndex *index = frame->body->index;
  frame->values = g_try_new0(OnnxlValue *, (gsize)index->n_values + 1);
  if (!frame->values)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for the table of %u values", index->n_values);
  for (uint32_t v = 0; v < index->n_values; v++)
    if (frame->body->constants[v])
      frame->values[v] = onnxl_value_ref(frame->body->constants[v]);
  return onnxl_account_open(executor, frame, error);
}

static void
close_frame(OnnxlFrame *frame)
{
  for (uint32_t v = 0; frame->values && v < frame->body->index->n_values; v++)
    onnxl_value_unref(frame->values[v]);
  g_clear_pointer(&frame->values, g_free);
  onnxl_account_close(frame);
}

/* --- nodes --- */

static bool
run_call(OnnxlKernelContext *context, GError **error)
{
  OnnxlFrame frame = { .body = context->step->callee,
                       .caller = context->frame,
                       .caller_node = context->node,
                       .call = onnxl_ctx_node(context) };
  const OnnxlIndexGraph *graph = &frame.body->index->graphs[0];
  if (context->n_inputs > graph->n_inputs)
    return onnxl_ctx_invalid(context, error, "%u inputs are given when the function has %u", context->n_inputs,
                             graph->n_inputs);
  if (context->n_outputs > graph->n_outputs)
    return onnxl_ctx_invalid(context, error, "%u outputs are named when the function has %u", context->n_outputs,
                             graph->n_outputs);
  if (!open_frame(context->executor, &frame, error)) {
    close_frame(&frame);
    return false;
  }
  for (uint32_t i = 0; i < context->n_inputs; i++)
    if (context->inputs[i])
      frame.values[graph->inputs[i]] = onnxl_value_ref(context->inputs[i]);
  bool good = onnxl_executor_run_graph(context->executor, &frame, 0, 0, error);
  for (uint32_t i = 0; good && i < context->n_outputs; i++)
    if (frame.values[graph->outputs[i]])
      onnxl_ctx_set_output(context, i, onnxl_value_ref(frame.values[graph->outputs[i]]));
  close_frame(&frame);
  return good;
}

static void
drop_scratch(OnnxlKernelContext *context)
{
  onnxl_ctx_rewind(context, NULL);
  for (uint32_t i = 0; i < context->n_kept; i++)
    onnxl_value_unref(context->kept[i]);
  g_clear_pointer(&context->kept, g_free);
  context->n_kept = 0;
}

/* Moves the outputs of a finished node into the frame. */
static bool
store_outputs(OnnxlKernelContext *context, GError **error)
{
  OnnxlExecutor *executor = context->executor;
  OnnxlFrame *frame = context->frame;
  const OnnxlIndex *index = frame->body->index;
  const OnnxlIndexNode *node = &index->nodes[context->node];
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    uint32_t v = node->outputs[i];
    if (v == ONNXL_NONE || !context->outputs[i])
      continue;
    OnnxlValue *old = frame->values[v];
    frame->values[v] = context->outputs[i];
    context->outputs[i] = NULL;
    onnxl_value_unref(old);
    if (!onnxl_account_add(executor, frame, v, error)) {
      g_clear_pointer(&frame->values[v], onnxl_value_unref);
      return false;
    }
    if (!is_heard(executor))
      continue;
    OnnxlEvent event = { .action = ONNXL_EVENT_ADD,
                         .kind = ONNXL_EVENT_INTERMEDIATE,
                         .name = index->values[v].name,
                         .value = frame->values[v],
                         .id = v,
                         .node = context->node - index->graphs[node->graph].first_node,
                         .proto = node->proto,
                         .inputs = context->inputs,
                         .n_inputs = context->n_inputs };
    if (!emit(executor, event, error))
      return false;
  }
  return true;
}

/* Bytes that the node held at one time beside what it leaves behind and what its bodies count with: scratch memory, and
 * tensors that are gone. Of a node with bodies it cannot be told from what they hold unless they are accounted for. */
static uint64_t
workspace_of(const OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t id)
{
  const OnnxlAllocator *allocator = executor->plan->allocator;
  uint64_t beside = allocator->recent_peak - MIN(allocator->live, allocator->recent_peak);
  if (frame->body->index->nodes[id].n_subgraphs == 0 && !frame->body->steps[id].callee)
    return beside;
  uint64_t bodies = frame->memory ? MIN(executor->account.scratch, beside) : beside;
  return MAX(allocator->workspace_peak - allocator->workspace, beside - bodies);
}

static bool
run_node(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t id, GError **error)
{
  const OnnxlIndexNode *node = &frame->body->index->nodes[id];
  OnnxlStep *step = &frame->body->steps[id];
  OnnxlValue *few[2 * FEW] = { NULL };
  /* A kernel may set every output that its row has, wanted or not. */
  uint32_t n_outputs = node->n_outputs;
  if (step->schema && step->schema->n_outputs > n_outputs)
    n_outputs = step->schema->n_outputs;
  OnnxlValue **many =
    node->n_inputs > FEW || n_outputs > FEW ? g_new0(OnnxlValue *, (gsize)node->n_inputs + n_outputs) : NULL;
  OnnxlKernelContext context = { .executor = executor,
                                 .frame = frame,
                                 .node = id,
                                 .step = step,
                                 .trip_graph = ONNXL_NONE,
                                 .inputs = many ? many : few,
                                 .n_inputs = node->n_inputs,
                                 .n_outputs = n_outputs,
                                 .overwritten = onnxl_account_overwritten(frame, id) };
  context.outputs = many ? many + node->n_inputs : few + FEW;
  for (uint32_t i = 0; i < node->n_inputs; i++) {
    OnnxlValue *value = node->inputs[i] == ONNXL_NONE ? NULL : frame->values[node->inputs[i]];
    context.inputs[i] = value ? onnxl_value_ref(value) : NULL;
  }

  bool heard = is_heard(executor);
  OnnxlAllocator *allocator = executor->plan->allocator;
  uint64_t outer_workspace = allocator->workspace_peak, outer_peak = allocator->recent_peak;
  uint64_t start = heard ? now_ns(executor) : 0;
  if (heard)
    onnxl_allocator_reset_peaks(allocator);
  bool good = step->callee ? run_call(&context, error) : onnxl_run_kernel(&context, error);
  uint64_t duration = heard ? now_ns(executor) - start : 0;
  drop_scratch(&context);
  good = good && store_outputs(&context, error);
  if (!good) {
    onnxl_ctx_name_failure(&context, error);
    onnxl_live_set_explain(executor, frame, error);
  }
  uint64_t temporary = good ? onnxl_account_node_ran(executor, frame, id) : 0;
  for (uint32_t i = 0; i < node->n_inputs; i++)
    onnxl_value_unref(context.inputs[i]);
  for (uint32_t i = 0; i < n_outputs; i++)
    onnxl_value_unref(context.outputs[i]);
  g_free(many);
  if (good && heard) {
    uint64_t workspace = workspace_of(executor, frame, id) + temporary;
    OnnxlEvent event = { .action = ONNXL_EVENT_RUN_NODE,
                         .kind = ONNXL_EVENT_UNKNOWN,
                         .node = id - frame->body->index->graphs[node->graph].first_node,
                         .proto = node->proto,
                         .start_ns = start,
                         .duration_ns = duration,
                         .workspace_bytes = workspace };
    /* What a nested node needs, the node around it needs. */
    allocator->workspace_peak = MAX(allocator->workspace + workspace, outer_workspace);
    allocator->recent_peak = MAX(allocator->recent_peak, outer_peak);
    good = emit(executor, event, error);
  }
  onnxl_account_node_ended(executor);
  return good;
}

/* Inputs of the main graph that the node is the last to read, where the plan lets them die. */
static bool
release_inputs(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t id, GError **error)
{
  const OnnxlIndex *index = frame->body->index;
  const OnnxlIndexNode *node = &index->nodes[id];
  for (uint32_t i = 0; i < node->n_inputs + node->n_captures; i++) {
    uint32_t v = i < node->n_inputs ? node->inputs[i] : node->captures[i - node->n_inputs];
    if (v != ONNXL_NONE && index->values[v].kind == ONNXL_VALUE_INPUT && index->values[v].graph == 0 &&
        !index->values[v].is_output && frame->memory->last_use[v] == id && !release_value(executor, frame, v, error))
      return false;
  }
  return true;
}

/* Counts a step, before the node, or before graph g when node is ONNXL_NONE. */
static bool
take_step(OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t node, uint32_t g, GError **error)
{
  const OnnxlExecutorOptions *options = &executor->options;
  bool interrupted = options->interrupt && *options->interrupt;
  if (G_LIKELY(!interrupted && executor->steps < options->max_steps)) {
    executor->steps++;
    return true;
  }
  executor->ended = true;
  g_autofree char *path = node != ONNXL_NONE ? onnxl_frame_node_path(frame, node) : onnxl_frame_graph_path(frame, g);
  if (interrupted)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "interrupted before %s, after %" G_GUINT64_FORMAT " steps", path,
                      executor->steps);
  return onnxl_fail(error, ONNXL_ERROR_LIMIT,
                    "%s would be a step more than the %" G_GUINT64_FORMAT " that are allowed (--max-steps)", path,
                    options->max_steps);
}

static bool
run_nodes(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, GError **error)
{
  const OnnxlIndexGraph *graph = &frame->body->index->graphs[g];
  bool keep = executor->options.keep && frame == &executor->main && g == 0;
  for (uint32_t id = graph->first_node; id < graph->first_node + graph->n_nodes; id++) {
    if (!take_step(executor, frame, id, g, error) || !run_node(executor, frame, id, error))
      return false;
    const OnnxlStep *step = &frame->body->steps[id];
    for (uint32_t i = 0; !keep && i < step->n_release; i++)
      if (!release_value(executor, frame, step->release[i], error))
        return false;
    if (frame->memory && frame->memory->free_inputs && g == 0 && !release_inputs(executor, frame, id, error))
      return false;
  }
  for (uint32_t i = 0; i < graph->n_outputs; i++)
    if (!frame->values[graph->outputs[i]]) {
      const OnnxlIndexValue *place = &frame->body->index->values[graph->outputs[i]];
      /* A function may have optional outputs; a graph may not. */
      if (!graph->function)
        return onnxl_fail(error, ONNXL_ERROR_INVALID, "the graph output %.*s was not computed", ONNXL_ARG(place->name));
    }
  return true;
}

/* What a nested graph or function body starts with, and what it hands back. */
static bool
announce_inputs(OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t g, GError **error)
{
  const OnnxlIndexGraph *graph = &frame->body->index->graphs[g];
  for (uint32_t i = 0; i < graph->n_inputs; i++)
    if (frame->values[graph->inputs[i]] && !emit_value(executor, frame, ONNXL_EVENT_INPUT, graph->inputs[i], error))
      return false;
  for (uint32_t i = 0; i < graph->n_initializers; i++)
    if (!frame->body->index->values[graph->initializers[i]].is_input &&
        !emit_value(executor, frame, ONNXL_EVENT_INITIALIZER, graph->initializers[i], error))
      return false;
  return true;
}

static bool
announce_outputs(OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t g, GError **error)
{
  const OnnxlIndexGraph *graph = &frame->body->index->graphs[g];
  for (uint32_t i = 0; i < graph->n_outputs; i++)
    if (frame->values[graph->outputs[i]] && !emit_value(executor, frame, ONNXL_EVENT_OUTPUT, graph->outputs[i], error))
      return false;
  return true;
}

static bool
run_body(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, uint64_t trip, GError **error)
{
  OnnxlAccount outer = executor->account;
  OnnxlEventScope scope = { .outer = executor->scope, .frame = frame, .graph = g, .trip = trip };
  bool heard = is_heard(executor);
  if (heard) {
    scope.serial = ++executor->n_bodies;
    executor->scope = &scope;
  }
  bool good = take_step(executor, frame, ONNXL_NONE, g, error) &&
              onnxl_account_enter(executor, frame, g, &outer, error) &&
              (!heard || announce_inputs(executor, frame, g, error)) && run_nodes(executor, frame, g, error) &&
              (!heard || announce_outputs(executor, frame, g, error));
  onnxl_account_leave(executor, &outer);
  if (heard) {
    executor->scope = scope.outer;
    onnxl_event_scope_clear(&scope);
  }
  return good;
}

bool
onnxl_executor_run_graph(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, uint64_t trip, GError **error)
{
  /* Nested graphs and function calls recur here, so this is what bounds the stack. */
  if (executor->depth >= executor->options.max_depth)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT,
                      "graphs and function calls are nested to a depth of more than %u "
                      "(--max-depth)",
                      executor->options.max_depth);
  executor->depth++;
  bool is_body = frame != &executor->main || g != 0;
  bool good = is_body ? run_body(executor, frame, g, trip, error) : run_nodes(executor, frame, g, error);
  executor->depth--;
  return good;
}

/* --- inputs --- */

/* The sizes that symbols have taken so far: dim_param texts of the main graph's inputs. */
typedef struct Symbols {
  OnnxlArena *arena;
  OnnxlMap map;
  int64_t *sizes;
  OnnxlStr *inputs; /* where each was first seen */
  size_t count, capacity, input_capacity;
} Symbols;

static bool
bind_symbol(Symbols *symbols, const OnnxlIndexValue *place, uint32_t axis, OnnxlStr name, int64_t size, GError **error)
{
  bool added;
  uint32_t *slot = onnxl_map_put(&symbols->map, name, (uint32_t)symbols->count, &added);
  if (!slot)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  if (!added) {
    if (symbols->sizes[*slot] == size)
      return true;
    return onnxl_fail(
      error, ONNXL_ERROR_INVALID,
      "the symbol %.*s is %" G_GINT64_FORMAT " in the input %.*s and %" G_GINT64_FORMAT " in axis %u of the input %.*s",
      ONNXL_ARG(name), symbols->sizes[*slot], ONNXL_ARG(symbols->inputs[*slot]), size, axis, ONNXL_ARG(place->name));
  }
  if (!ONNXL_GROW(symbols->arena, &symbols->sizes, symbols->count, &symbols->capacity) ||
      !ONNXL_GROW(symbols->arena, &symbols->inputs, symbols->count, &symbols->input_capacity))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  symbols->sizes[symbols->count] = size;
  symbols->inputs[symbols->count++] = place->name;
  return true;
}

static bool
fits_type(const OnnxlType *type, const OnnxlValue *value)
{
  if (type->tensor_type)
    return value->kind == ONNXL_KIND_TENSOR &&
           (!type->tensor_type->has_elem_type || type->tensor_type->elem_type == 0 ||
            type->tensor_type->elem_type == value->elem_type);
  if (type->sequence_type)
    return value->kind == ONNXL_KIND_SEQUENCE;
  if (type->optional_type) /* a plain value is taken as a present one */
    return true;
  if (type->map_type)
    return value->kind == ONNXL_KIND_MAP;
  return !type->sparse_tensor_type;
}

static bool
check_input(const OnnxlIndexValue *place, const OnnxlValue *value, Symbols *symbols, GError **error)
{
  const OnnxlType *type = place->info ? place->info->type : NULL;
  if (!type)
    return true;
  if (!fits_type(type, value)) {
    char *text = onnxl_value_describe(value);
    const char *wanted =
      type->tensor_type ? onnxl_data_type_name(type->tensor_type->elem_type) : "another kind of value";
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the input %.*s is %s when %s is declared", ONNXL_ARG(place->name), text,
               wanted ? wanted : "an unknown type");
    g_free(text);
    return false;
  }
  const OnnxlShapeProto *shape = type->tensor_type ? type->tensor_type->shape : NULL;
  if (!shape)
    return true;
  bool good = shape->dim.count == value->rank;
  for (uint32_t i = 0; good && i < value->rank; i++) {
    const OnnxlDimension *dim = &shape->dim.items[i];
    if (dim->has_dim_value && dim->dim_value >= 0)
      good = dim->dim_value == value->dims[i];
    else if (dim->dim_param.size > 0 && !bind_symbol(symbols, place, i, dim->dim_param, value->dims[i], error))
      return false;
  }
  if (good)
    return true;
  GString *declared = g_string_new("[");
  for (size_t i = 0; i < shape->dim.count && i < ONNXL_MAX_RANK; i++) {
    const OnnxlDimension *dim = &shape->dim.items[i];
    g_string_append(declared, i > 0 ? "," : "");
    if (dim->has_dim_value && dim->dim_value >= 0)
      g_string_append_printf(declared, "%" G_GINT64_FORMAT, dim->dim_value);
    else
      g_string_append_printf(declared, "%.*s", ONNXL_ARG(dim->dim_param.size > 0 ? dim->dim_param : ONNXL_STR("?")));
  }
  char *given = onnxl_dims_text(value->dims, value->rank);
  onnxl_fail(error, ONNXL_ERROR_INVALID, "the input %.*s has the shape %s when %s] is declared", ONNXL_ARG(place->name),
             given, declared->str);
  g_string_free(declared, TRUE);
  g_free(given);
  return false;
}

static bool
bind_inputs(OnnxlExecutor *executor, OnnxlValue *const *inputs, GError **error)
{
  OnnxlFrame *frame = &executor->main;
  const OnnxlIndexGraph *graph = main_graph(executor);
  Symbols symbols = { .arena = onnxl_arena_new(SIZE_MAX) };
  symbols.map = onnxl_map_new(symbols.arena, 0);
  bool good = true;
  for (uint32_t i = 0; good && i < graph->n_inputs; i++) {
    const OnnxlIndexValue *place = onnxl_executor_input(executor, i);
    OnnxlValue **slot = &frame->values[graph->inputs[i]];
    if (!inputs[i]) {
      good =
        *slot != NULL || onnxl_fail(error, ONNXL_ERROR_INVALID, "the input %.*s has no value", ONNXL_ARG(place->name));
      continue;
    }
    good = check_input(place, inputs[i], &symbols, error);
    onnxl_value_unref(*slot);
    *slot = onnxl_value_ref(inputs[i]);
    good = good && onnxl_account_add(executor, frame, graph->inputs[i], error);
    if (good && executor->event)
      good = emit_value(executor, frame, ONNXL_EVENT_INPUT, graph->inputs[i], error);
  }
  onnxl_arena_free(symbols.arena);
  return good;
}

static bool
announce_initializers(OnnxlExecutor *executor, GError **error)
{
  OnnxlFrame *frame = &executor->main;
  const OnnxlIndexGraph *graph = main_graph(executor);
  for (uint32_t i = 0; i < graph->n_initializers; i++) {
    uint32_t v = graph->initializers[i];
    if (frame->values[v] != frame->body->constants[v]) /* the caller gave a value of its own */
      continue;
    if (!onnxl_account_add(executor, frame, v, error))
      return false;
    if (executor->event && !emit_value(executor, frame, ONNXL_EVENT_INITIALIZER, v, error))
      return false;
  }
  return true;
}

bool
onnxl_executor_run(OnnxlExecutor *executor, OnnxlValue *const *inputs, OnnxlValue **ret_outputs, GError **error)
{
  const OnnxlIndexGraph *graph = main_graph(executor);
  executor->main = (OnnxlFrame){ .body = executor->plan->main };
  if (executor->event)
    executor->epoch_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
  executor->depth = 0;
  executor->steps = 0;
  executor->n_bodies = 0;
  executor->ended = false;
  executor->scope = NULL;
  executor->shortage = ONNXL_SHORTAGE_NONE;
  executor->plan->allocator->refused = false;
  g_clear_pointer(&executor->failed_path, g_free);
  executor->random = (OnnxlRandom){ executor->options.seed, 0 };
  bool good = onnxl_account_start(executor, inputs, error) && open_frame(executor, &executor->main, error) &&
              bind_inputs(executor, inputs, error) && announce_initializers(executor, error) &&
              onnxl_executor_run_graph(executor, &executor->main, 0, 0, error);
  if (!good && executor->main.values)
    onnxl_live_set_explain(executor, &executor->main, error);
  for (uint32_t i = 0; i < graph->n_outputs; i++) {
    OnnxlValue *made = executor->main.values ? executor->main.values[graph->outputs[i]] : NULL;
    ret_outputs[i] = made ? onnxl_value_ref(made) : NULL;
  }
  close_frame(&executor->main);
  onnxl_account_stop(executor);
  return good;
}
