/* Gradient. The nodes between xs, zs and y are run once more on the values that the node is given, then differentiated
 * from y back to xs, in double. */
#include "runtime/context-internal.h"
#include "runtime/gradient-internal.h"
#include "runtime/tensor.h"
#include "runtime/widen-internal.h"
#include "support/map.h"

typedef struct Gradient {
  OnnxlKernelContext *context;
  const OnnxlIndex *index;
  uint32_t *wanted;       /* value ids of xs, zs, y */
  uint32_t n_xs, n_given; /* xs; xs and zs */
  uint8_t *needed;        /* by node: y depends on it */
  uint8_t *active;        /* by value: it depends on one of xs */
  uint8_t *given;         /* by value: it is one of xs and zs */
  OnnxlValue **now;       /* by value: what it is, in double where active */
  OnnxlValue **gradients; /* by value */
} Gradient;

static bool
is_visible(const OnnxlIndex *index, uint32_t from, uint32_t graph)
{
  while (from != graph && index->graphs[from].parent_node != ONNXL_NONE)
    from = index->nodes[index->graphs[from].parent_node].graph;
  return from == graph;
}

/* Finds the values that xs, zs and y name. */
static bool
resolve_names(Gradient *g, GError **error)
{
  OnnxlKernelContext *context = g->context;
  OnnxlStrList lists[3] = { onnxl_ctx_strings(context, "xs"), onnxl_ctx_strings(context, "zs"), { 0 } };
  OnnxlStr y = onnxl_ctx_string(context, "y");
  lists[2] = (OnnxlStrList){ &y, 1 };
  size_t n = lists[0].count + lists[1].count;
  if (n != onnxl_ctx_n_inputs(context) || context->n_outputs > lists[0].count)
    return onnxl_ctx_invalid(context, error, "xs and zs have %zu names for %u inputs and %u outputs", n,
                             onnxl_ctx_n_inputs(context), context->n_outputs);
  g->n_xs = (uint32_t)lists[0].count;
  g->n_given = (uint32_t)n;
  g->wanted = onnxl_ctx_scratch(context, n + 1, sizeof *g->wanted, error);
  if (!g->wanted)
    return false;
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlMap names = onnxl_map_new(arena, g->index->n_values);
  uint32_t graph = g->index->nodes[context->node].graph;
  bool good = true;
  for (uint32_t v = 0; good && v < g->index->n_values; v++)
    if (is_visible(g->index, graph, g->index->values[v].graph))
      good = onnxl_map_put(&names, g->index->values[v].name, v, NULL) != NULL;
  for (size_t l = 0, at = 0; good && l < 3; l++)
    for (size_t i = 0; good && i < lists[l].count; i++, at++) {
      g->wanted[at] = onnxl_map_get(&names, lists[l].items[i]);
      if (g->wanted[at] == ONNXL_MAP_NONE)
        good = onnxl_ctx_invalid(context, error, "there is no value \"%.*s\"", ONNXL_ARG(lists[l].items[i]));
    }
  onnxl_arena_free(arena);
  return good;
}

/* A node's inputs come from nodes with smaller ids, so one walk down and one up do. */
static bool
mark(Gradient *g, GError **error)
{
  const OnnxlIndex *index = g->index;
  g->needed = onnxl_ctx_scratch(g->context, index->n_nodes, 1, error);
  g->active = onnxl_ctx_scratch(g->context, index->n_values, 1, error);
  g->given = onnxl_ctx_scratch(g->context, index->n_values, 1, error);
  g->now = onnxl_ctx_scratch(g->context, index->n_values, sizeof *g->now, error);
  g->gradients = onnxl_ctx_scratch(g->context, index->n_values, sizeof *g->gradients, error);
  if (!g->needed || !g->active || !g->given || !g->now || !g->gradients)
    return false;
  memset(g->needed, 0, index->n_nodes);
  memset(g->active, 0, index->n_values);
  memset(g->given, 0, index->n_values);
  memset(g->now, 0, index->n_values * sizeof *g->now);
  memset(g->gradients, 0, index->n_values * sizeof *g->gradients);
  for (uint32_t i = 0; i < g->n_given; i++) {
    g->given[g->wanted[i]] = true;
    g->active[g->wanted[i]] |= i < g->n_xs;
  }
  uint32_t y = g->wanted[g->n_given];
  if (!g->given[y] && index->values[y].producer != ONNXL_NONE)
    g->needed[index->values[y].producer] = true;
  for (uint32_t id = index->n_nodes; id-- > 0;)
    for (uint32_t i = 0; g->needed[id] && i < index->nodes[id].n_inputs; i++) {
      uint32_t v = index->nodes[id].inputs[i];
      if (v != ONNXL_NONE && !g->given[v] && index->values[v].producer != ONNXL_NONE)
        g->needed[index->values[v].producer] = true;
    }
  for (uint32_t id = 0; id < index->n_nodes; id++) {
    const OnnxlIndexNode *node = &index->nodes[id];
    bool active = false;
    for (uint32_t i = 0; g->needed[id] && i < node->n_inputs; i++)
      active |= node->inputs[i] != ONNXL_NONE && g->active[node->inputs[i]];
    for (uint32_t i = 0; active && i < node->n_outputs; i++)
      if (node->outputs[i] != ONNXL_NONE && !g->given[node->outputs[i]])
        g->active[node->outputs[i]] = true;
  }
  return true;
}

/* --- forward --- */

static OnnxlValue *
value_now(const Gradient *g, uint32_t v)
{
  if (v == ONNXL_NONE)
    return NULL;
  return g->now[v] ? g->now[v] : g->context->frame->values[v];
}

static void
context_clear(OnnxlKernelContext *context)
{
  onnxl_ctx_rewind(context, NULL);
  for (uint32_t i = 0; i < context->n_kept; i++)
    onnxl_value_unref(context->kept[i]);
  g_free(context->kept);
  for (uint32_t i = 0; i < context->n_inputs; i++)
    onnxl_value_unref(context->inputs[i]);
  for (uint32_t i = 0; i < context->n_outputs; i++)
    onnxl_value_unref(context->outputs[i]);
  g_free(context->inputs);
  g_free(context->outputs);
}

static OnnxlKernelContext
context_for(const Gradient *g, uint32_t id)
{
  const OnnxlIndexNode *node = &g->index->nodes[id];
  OnnxlStep *step = &g->context->frame->body->steps[id];
  OnnxlKernelContext context = {
    .executor = g->context->executor,
    .frame = g->context->frame,
    .node = id,
    .step = step,
    .n_inputs = node->n_inputs,
    .n_outputs = MAX(node->n_outputs, step->schema ? step->schema->n_outputs : 0u),
  };
  context.inputs = g_new0(OnnxlValue *, context.n_inputs);
  context.outputs = g_new0(OnnxlValue *, context.n_outputs);
  return context;
}

static bool
run_forward(Gradient *g, uint32_t id, GError **error)
{
  const OnnxlIndexNode *node = &g->index->nodes[id];
  OnnxlKernelContext context = context_for(g, id);
  bool good = true;
  /* Among them another Gradient: each would run all those before it, twice as long a time for every one. */
  if (!context.step->schema || node->n_subgraphs > 0 || context.step->schema->nondeterministic ||
      context.step->kernel == g->context->step->kernel)
    good = onnxl_ctx_fail(&context, error, ONNXL_ERROR_UNSUPPORTED, "no gradient of this operator");
  for (uint32_t i = 0; good && i < node->n_inputs; i++) {
    OnnxlValue *value = value_now(g, node->inputs[i]);
    if (node->inputs[i] != ONNXL_NONE && !value)
      good = onnxl_ctx_invalid(g->context, error, "y needs the value %.*s, which is not among xs and zs",
                               ONNXL_ARG(g->index->values[node->inputs[i]].name));
    context.inputs[i] = value ? onnxl_value_ref(value) : NULL;
  }
  good = good && onnxl_run_kernel(&context, error);
  for (uint32_t i = 0; good && i < node->n_outputs; i++)
    if (node->outputs[i] != ONNXL_NONE && !g->given[node->outputs[i]]) {
      g->now[node->outputs[i]] = context.outputs[i];
      context.outputs[i] = NULL;
    }
  context_clear(&context);
  return good;
}

/* --- backward --- */

/* Takes the reference to gradient. */
static void
accumulate(Gradient *g, uint32_t v, OnnxlValue *gradient)
{
  if (!g->gradients[v]) {
    g->gradients[v] = gradient;
    return;
  }
  double *to = g->gradients[v]->data;
  for (int64_t i = 0; i < gradient->count; i++)
    to[i] += ((const double *)gradient->data)[i];
  onnxl_value_unref(gradient);
}

static OnnxlValue *
as_double(const Gradient *g, const OnnxlValue *value, GError **error)
{
  if (value->kind != ONNXL_KIND_TENSOR) {
    onnxl_ctx_invalid(g->context, error, "a value between xs and y is no tensor");
    return NULL;
  }
  return onnxl_tensor_cast(onnxl_ctx_allocator(g->context), value, ONNXL_TYPE_DOUBLE, &(OnnxlCastOptions){ 0 }, error);
}

static bool
run_backward(Gradient *g, uint32_t id, GError **error)
{
  const OnnxlIndexNode *node = &g->index->nodes[id];
  uint32_t out = node->n_outputs > 0 ? node->outputs[0] : ONNXL_NONE;
  bool active = false;
  for (uint32_t i = 0; i < node->n_outputs; i++)
    active |= node->outputs[i] != ONNXL_NONE && g->active[node->outputs[i]] && g->gradients[node->outputs[i]];
  if (!active)
    return true;
  OnnxlKernelContext context = context_for(g, id);
  const OnnxlGradientRule *rule = onnxl_gradient_rule(context.step->schema);
  OnnxlValue *output = NULL;
  bool good = rule && node->n_outputs == 1
                ? true
                : onnxl_ctx_fail(&context, error, ONNXL_ERROR_UNSUPPORTED, "no gradient of this operator");
  for (uint32_t i = 0; good && i < node->n_inputs; i++)
    if (node->inputs[i] != ONNXL_NONE)
      good = (context.inputs[i] = as_double(g, value_now(g, node->inputs[i]), error)) != NULL;
  good = good && (output = as_double(g, value_now(g, out), error));
  for (uint32_t i = 0; good && i < node->n_inputs; i++) {
    uint32_t v = node->inputs[i];
    if (v == ONNXL_NONE || !g->active[v])
      continue;
    OnnxlGradientNode part = { &context, context.inputs, node->n_inputs, output, g->gradients[out] };
    OnnxlValue *gradient = onnxl_gradient_apply(rule, &part, i, error);
    good = gradient != NULL;
    if (good)
      accumulate(g, v, gradient);
  }
  onnxl_value_unref(output);
  context_clear(&context);
  return good;
}

/* y may have any shape; the gradient is that of the sum of its elements. */
static bool
start_backward(Gradient *g, GError **error)
{
  uint32_t y = g->wanted[g->n_given];
  OnnxlValue *value = value_now(g, y);
  if (!value)
    return onnxl_ctx_invalid(g->context, error, "y is not there");
  OnnxlValue *ones = as_double(g, value, error);
  for (int64_t i = 0; ones && i < ones->count; i++)
    ((double *)ones->data)[i] = 1;
  g->gradients[y] = ones;
  return ones != NULL;
}

/* What y does not depend on has the gradient 0. */
static bool
give_results(Gradient *g, GError **error)
{
  for (uint32_t i = 0; i < g->context->n_outputs; i++) {
    const OnnxlValue *x = onnxl_ctx_input(g->context, i), *gradient = g->gradients[g->wanted[i]];
    OnnxlValue *output = onnxl_ctx_output_like(g->context, i, x, error);
    if (!output)
      return false;
    if (output->count > 0 && gradient)
      onnxl_tensor_write_double(output, 0, (size_t)output->count, gradient->data);
    else if (output->count > 0)
      memset(output->data, 0, output->bytes);
  }
  return true;
}

static bool
check_xs(const Gradient *g, GError **error)
{
  for (uint32_t i = 0; i < g->n_given; i++) {
    OnnxlValue *x = onnxl_ctx_input(g->context, i);
    if (i < g->n_xs && (x->kind != ONNXL_KIND_TENSOR || !onnxl_type_is_float(x->elem_type)))
      return onnxl_ctx_invalid(g->context, error, "a gradient by what is no tensor of floating point is asked for");
  }
  return true;
}

static bool
run_gradient(OnnxlKernelContext *context, GError **error)
{
  Gradient g = { .context = context, .index = context->frame->body->index };
  if (!resolve_names(&g, error) || !check_xs(&g, error) || !mark(&g, error))
    return false;
  for (uint32_t i = 0; i < g.n_given; i++)
    if (!g.now[g.wanted[i]])
      g.now[g.wanted[i]] = onnxl_value_ref(onnxl_ctx_input(context, i));
  bool good = true;
  for (uint32_t id = 0; good && id < g.index->n_nodes; id++)
    good = !g.needed[id] || run_forward(&g, id, error);
  good = good && start_backward(&g, error);
  for (uint32_t id = g.index->n_nodes; good && id-- > 0;)
    good = !g.needed[id] || run_backward(&g, id, error);
  good = good && give_results(&g, error);
  for (uint32_t v = 0; v < g.index->n_values; v++) {
    onnxl_value_unref(g.now[v]);
    onnxl_value_unref(g.gradients[v]);
  }
  return good;
}
ONNXL_KERNEL(gradient, EXACT);
