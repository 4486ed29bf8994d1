#include "explain.h"

#include "support/error.h"
#include "support/escape.h"

/* Longer contents are not written out. */
#define MAX_CONTENTS 16

typedef struct Explanation {
  const OnnxlInference *inference;
  const OnnxlIndex *index;
  OnnxlArena *arena;
  OnnxlOutput *out;
  uint32_t *queue; /* values to explain, each once */
  uint32_t n_queued;
  bool *seen;
  OnnxlMap met; /* symbols of what was explained */
} Explanation;

static void
enqueue(Explanation *e, uint32_t value)
{
  if (value == ONNXL_NONE || e->seen[value])
    return;
  e->seen[value] = true;
  e->queue[e->n_queued++] = value;
}

static void
meet(void *data, OnnxlExpr symbol)
{
  OnnxlStr name;
  if (onnxl_expr_is_symbol(symbol, &name))
    onnxl_map_put(data, name, 0, NULL);
}

static void
meet_list(const OnnxlInference *inference, const OnnxlExpr *items, uint32_t n, OnnxlMap *symbols)
{
  for (uint32_t i = 0; items && i < n; i++)
    if (items[i])
      onnxl_expr_symbols(inference->pool, items[i], meet, symbols);
}

static void
meet_value(const OnnxlInference *inference, uint32_t value, OnnxlMap *symbols)
{
  const OnnxlInfo *info = &inference->values[value];
  if (info->has_rank)
    meet_list(inference, info->dims, info->rank, symbols);
  meet_list(inference, info->contents, info->n_contents, symbols);
}

static void
print_shape(const Explanation *e, uint32_t value)
{
  const OnnxlInfo *info = &e->inference->values[value];
  onnxl_output_str(e->out, e->index->values[value].name);
  onnxl_output_text(e->out, ": ");
  onnxl_info_print(e->out, info, NULL);
  if (!info->contents || info->kind != ONNXL_KIND_TENSOR || info->n_contents > MAX_CONTENTS)
    return;
  onnxl_output_text(e->out, " = {");
  for (uint32_t i = 0; i < info->n_contents; i++) {
    onnxl_output_text(e->out, i > 0 ? "," : "");
    onnxl_expr_print(e->out, info->contents[i]);
  }
  onnxl_output_char(e->out, '}');
}

/* What else the declaration calls the dims. */
static void
print_shown(const Explanation *e, uint32_t value)
{
  const OnnxlInfo *info = &e->inference->values[value];
  const OnnxlExpr *shown = onnxl_inference_shown_dims(e->inference, value);
  bool differs = false;
  for (uint32_t i = 0; shown && i < info->rank; i++)
    differs = differs || shown[i] != info->dims[i];
  if (!differs)
    return;
  onnxl_output_text(e->out, ", declared as ");
  onnxl_info_print(e->out, info, shown);
}

static void
name_source(Explanation *e, uint32_t value, unsigned *count, OnnxlMap *symbols)
{
  if (value == ONNXL_NONE)
    return;
  onnxl_output_text(e->out, (*count)++ == 0 ? " from " : ", ");
  onnxl_output_str(e->out, e->index->values[value].name);
  meet_value(e->inference, value, symbols);
  enqueue(e, value);
}

/* Sizes that do not come from the inputs: the node makes them when it runs. */
static void
print_fresh(const Explanation *e, uint32_t value, const OnnxlMap *known)
{
  const OnnxlInfo *info = &e->inference->values[value];
  unsigned count = 0;
  for (uint32_t i = 0; info->has_rank && i < info->rank; i++) {
    OnnxlStr name;
    if (!info->dims[i] || !onnxl_expr_is_symbol(info->dims[i], &name) || onnxl_map_get(known, name) != ONNXL_MAP_NONE)
      continue;
    onnxl_output_printf(e->out, "%s%.*s", count++ == 0 ? "; new here: " : ", ", ONNXL_ARG(name));
  }
}

static void
explain_node(Explanation *e, uint32_t value, uint32_t id)
{
  const OnnxlIndexNode *node = &e->index->nodes[id];
  OnnxlMap known = onnxl_map_new(e->arena, 0);
  unsigned count = 0;
  onnxl_output_printf(e->out, " by %s", onnxl_index_node_path(e->index, id, e->arena));
  if (e->inference->calls[id])
    onnxl_output_text(e->out, ", a function,");
  else if (!e->inference->schemas[id])
    onnxl_output_text(e->out, ", an unknown operator,");
  for (uint32_t i = 0; i < node->n_inputs; i++)
    name_source(e, node->inputs[i], &count, &known);
  /* What a nested graph gives; of what it captures its own nodes tell. */
  for (uint32_t i = 0; i < node->n_subgraphs; i++) {
    const OnnxlIndexGraph *g = &e->index->graphs[node->first_subgraph + i];
    for (uint32_t k = 0; k < g->n_outputs; k++)
      name_source(e, g->outputs[k], &count, &known);
  }
  print_fresh(e, value, &known);
}

/* What stands in out is a line. */
static void
end_line(Explanation *e, OnnxlOutput *page)
{
  onnxl_output_escaped(page, onnxl_output_memory(e->out));
  onnxl_output_char(page, '\n');
  e->out->used = 0;
}

static void
explain_value(Explanation *e, uint32_t value)
{
  const OnnxlIndexValue *v = &e->index->values[value];
  meet_value(e->inference, value, &e->met);
  print_shape(e, value);
  if (v->producer != ONNXL_NONE) {
    explain_node(e, value, v->producer);
    print_shown(e, value);
    const OnnxlExpr *shown = onnxl_inference_shown_dims(e->inference, value);
    if (shown)
      meet_list(e->inference, shown, e->inference->values[value].rank, &e->met);
  } else if (v->graph != 0 && v->is_input) {
    uint32_t parent = e->index->graphs[v->graph].parent_node;
    const OnnxlIndexNode *node = &e->index->nodes[parent];
    unsigned count = 0;
    onnxl_output_printf(e->out, " is an input of %s", onnxl_index_graph_path(e->index, v->graph, e->arena));
    for (uint32_t i = 0; i < node->n_inputs; i++)
      name_source(e, node->inputs[i], &count, &(OnnxlMap){ .arena = e->arena });
  } else {
    onnxl_output_text(e->out, v->is_input ? " is an input" : " is an initializer");
  }
}

typedef struct MetSearch {
  const OnnxlMap *met;
  bool found;
} MetSearch;

static void
search_met(void *data, OnnxlExpr symbol)
{
  MetSearch *search = data;
  OnnxlStr name;
  search->found =
    search->found || (onnxl_expr_is_symbol(symbol, &name) && onnxl_map_get(search->met, name) != ONNXL_MAP_NONE);
}

static void
print_constraints(Explanation *e, OnnxlOutput *page)
{
  const OnnxlInference *inference = e->inference;
  for (size_t i = 0; i < inference->n_constraints; i++) {
    const OnnxlConstraint *c = &inference->constraints[i];
    MetSearch search = { &e->met, false };
    onnxl_expr_symbols(inference->pool, c->lhs, search_met, &search);
    onnxl_expr_symbols(inference->pool, c->rhs, search_met, &search);
    if (!search.found)
      continue;
    onnxl_constraint_print(e->out, c);
    end_line(e, page);
  }
}

bool
onnxl_shapes_explain(const OnnxlInference *inference, OnnxlStr value, OnnxlArena *arena, OnnxlOutput *out,
                     GError **error)
{
  const OnnxlIndex *index = inference->index;
  OnnxlOutput line;
  Explanation e = {
    .inference = inference,
    .index = index,
    .arena = arena,
    .out = &line,
    .queue = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_values),
    .seen = ONNXL_NEW_ARRAY(arena, bool, index->n_values),
    .met = onnxl_map_new(arena, 0),
  };
  if (!e.queue || !e.seen)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the explanation needs more metadata than --max-metadata allows");
  /* Nested graphs that are not in each other may use one name; the main graph goes before them. */
  for (uint32_t v = 0; v < index->n_values && e.n_queued == 0; v++)
    if (index->values[v].graph == 0 && onnxl_str_equal(index->values[v].name, value))
      enqueue(&e, v);
  for (uint32_t v = 0; v < index->n_values && e.n_queued == 0; v++)
    if (onnxl_str_equal(index->values[v].name, value))
      enqueue(&e, v);
  if (e.n_queued == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the model has no value '%.*s'", ONNXL_ARG(value));
  onnxl_output_init(&line, -1);
  for (uint32_t i = 0; i < e.n_queued; i++) {
    explain_value(&e, e.queue[i]);
    end_line(&e, out);
  }
  print_constraints(&e, out);
  onnxl_output_clear(&line);
  return true;
}
