/* If, Loop and Scan. The nested graph is inferred with what flows into it from outside; a loop's body until what is
 * carried from trip to trip does not change any more, so that what is found holds in every trip. */
#include "shapes/shape-control-internal.h"

#include "shapes/shape-rules.h"

uint32_t
onnxl_shape_subgraph(const OnnxlShapeNode *n, const char *attribute)
{
  const OnnxlIndex *index = n->scope->index;
  for (uint32_t i = 0; i < n->node->n_subgraphs; i++) {
    uint32_t graph = n->node->first_subgraph + i;
    if (index->graphs[graph].attribute && onnxl_str_is(index->graphs[graph].attribute->name, attribute))
      return graph;
  }
  return ONNXL_NONE;
}

/* What a body is given must have the element type that it declares. */
static bool
takes_type(OnnxlShapeNode *n, uint32_t value, const OnnxlInfo *given)
{
  const OnnxlValueInfo *info = n->scope->index->values[value].info;
  const OnnxlTensorType *declared = info && info->type ? info->type->tensor_type : NULL;
  if (!declared || declared->elem_type == 0 || given->kind != ONNXL_KIND_TENSOR || given->elem_type == 0 ||
      declared->elem_type == given->elem_type)
    return true;
  const char *a = onnxl_data_type_name(declared->elem_type), *b = onnxl_data_type_name(given->elem_type);
  onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_TYPE_MISMATCH,
                      "%.*s: the body declares its input '%.*s' as %s and is given %s", ONNXL_ARG(n->proto->op_type),
                      ONNXL_ARG(info->name), a ? a : "unknown", b ? b : "unknown");
  n->failed = true;
  return false;
}

/* Findings of a pass that is repeated are taken back. */
bool
onnxl_shape_run_graph(OnnxlShapeNode *n, uint32_t graph, const OnnxlInfo *inputs, uint32_t n_inputs)
{
  OnnxlShapeScope *scope = n->scope;
  const OnnxlIndexGraph *g = &scope->index->graphs[graph];
  onnxl_shape_set_initializers(scope, graph);
  for (uint32_t i = 0; i < g->n_inputs; i++) {
    OnnxlInfo info = { 0 };
    const OnnxlValueInfo *declared = scope->index->values[g->inputs[i]].info;
    if (i < n_inputs)
      info = inputs[i];
    if (!takes_type(n, g->inputs[i], &info))
      return false;
    if (info.elem_type == 0 && declared && declared->type && declared->type->tensor_type &&
        info.kind <= ONNXL_KIND_TENSOR) {
      info.kind = ONNXL_KIND_TENSOR;
      info.elem_type = declared->type->tensor_type->elem_type;
    }
    onnxl_shape_set_value(scope, g->inputs[i], &info, ONNXL_STR(""));
  }
  return onnxl_shape_walk(scope, graph);
}

const OnnxlInfo *
onnxl_shape_graph_output(const OnnxlShapeNode *n, uint32_t graph, uint32_t i)
{
  const OnnxlIndexGraph *g = &n->scope->index->graphs[graph];
  return i < g->n_outputs && g->outputs[i] != ONNXL_NONE ? &n->scope->values[g->outputs[i]] : NULL;
}

/* A branch that is known never to be taken is inferred too, for those who look into it, but makes no findings. One that
 * is taken in no run that succeeds, since a node in it cannot fit, says nothing about the outputs. */
void
onnxl_shape_rule_if(OnnxlShapeNode *n)
{
  const uint32_t branches[] = { onnxl_shape_subgraph(n, "then_branch"), onnxl_shape_subgraph(n, "else_branch") };
  if (!onnxl_shape_expect_one(n, 0))
    return;
  OnnxlExpr condition = onnxl_shape_scalar(n, 0);
  bool decided = condition && onnxl_expr_is_int(condition, NULL);
  bool possible[2] = { true, true };
  for (int k = 0; k < 2; k++) {
    if (branches[k] == ONNXL_NONE)
      return;
    uint32_t *around = NULL;
    if (!decided)
      around = &n->run->undecided;
    else if (onnxl_shape_is(condition, 0) == (k == 0))
      around = &n->run->dead;
    uint64_t mismatches = n->run->n_mismatches;
    if (around)
      ++*around;
    bool ok = onnxl_shape_run_graph(n, branches[k], NULL, 0);
    if (around)
      --*around;
    if (!ok)
      return;
    possible[k] = around != &n->run->dead && n->run->n_mismatches == mismatches;
    uint32_t count = n->scope->index->graphs[branches[k]].n_outputs;
    if (count != n->n_outputs) {
      onnxl_shape_error(n, "%s has %u outputs for %u", k == 0 ? "then_branch" : "else_branch", count, n->n_outputs);
      return;
    }
  }
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    const OnnxlInfo *a = onnxl_shape_graph_output(n, branches[0], i), *b = onnxl_shape_graph_output(n, branches[1], i);
    if (!a || !b)
      continue;
    if (possible[0] != possible[1])
      n->outputs[i] = possible[0] ? *a : *b;
    else
      onnxl_info_join(n->run, a, b, &n->outputs[i]);
    for (uint32_t k = 0; possible[0] && possible[1] && n->outputs[i].has_rank && k < n->outputs[i].rank; k++)
      if (!n->outputs[i].dims[k])
        onnxl_shape_at_most(n, i, k, onnxl_expr_max(n->pool, a->dims[k], b->dims[k]));
  }
}

/* --- loops -------------------------------------------------------------------------------------------------------- */

/* Passes over a body before what still changes is given up. Each pass turns at least one known fact into an unknown
 * one. */
#define MAX_PASSES 12

static bool
keeps_type(OnnxlShapeNode *n, uint32_t body, uint32_t input, const OnnxlInfo *before, const OnnxlInfo *after)
{
  if (before->kind != ONNXL_KIND_TENSOR || after->kind != ONNXL_KIND_TENSOR || before->elem_type == 0 ||
      after->elem_type == 0 || before->elem_type == after->elem_type)
    return true;
  const OnnxlIndex *index = n->scope->index;
  const char *a = onnxl_data_type_name(before->elem_type), *b = onnxl_data_type_name(after->elem_type);
  OnnxlStr name = index->values[index->graphs[body].inputs[input]].name;
  onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_TYPE_MISMATCH,
                      "%.*s: carried value '%.*s' is %s before a trip and %s after it", ONNXL_ARG(n->proto->op_type),
                      ONNXL_ARG(name), a ? a : "unknown", b ? b : "unknown");
  n->failed = true;
  return false;
}

/* Runs the body until state, the body's carried inputs at place first, holds before every trip. carried outputs stand
 * from place out_first. False: the walk ended. */
static bool
find_fixed_point(OnnxlShapeNode *n, uint32_t body, OnnxlInfo *inputs, uint32_t n_inputs, uint32_t first,
                 uint32_t carried, uint32_t out_first)
{
  OnnxlShapeRun *run = n->run;
  size_t findings = run->n_findings;
  for (unsigned pass = 0;; pass++) {
    bool give_up = pass >= MAX_PASSES || run->steps > run->max_steps;
    for (uint32_t i = 0; give_up && i < carried; i++)
      inputs[first + i] = (OnnxlInfo){ .kind = inputs[first + i].kind, .elem_type = inputs[first + i].elem_type };
    run->n_findings = findings;
    if (!onnxl_shape_run_graph(n, body, inputs, n_inputs))
      return false;
    bool stable = true;
    for (uint32_t i = 0; i < carried; i++) {
      const OnnxlInfo *after = onnxl_shape_graph_output(n, body, out_first + i);
      OnnxlInfo out = after ? *after : (OnnxlInfo){ 0 }, joined;
      if (!keeps_type(n, body, first + i, &inputs[first + i], &out))
        return false;
      onnxl_shape_leave(run, &out, n->scope, body);
      onnxl_info_join(run, &inputs[first + i], &out, &joined);
      if (joined.elem_type == 0 && joined.kind == inputs[first + i].kind)
        joined.elem_type = inputs[first + i].elem_type; /* the type of what is carried cannot change */
      if (!onnxl_info_equal(&joined, &inputs[first + i])) {
        inputs[first + i] = joined;
        stable = false;
      }
    }
    if (stable || give_up)
      return true;
  }
}

/* An output that stacks count values of the body along a new axis. */
static void
stack(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *item, uint32_t body, OnnxlExpr count, uint32_t axis)
{
  if (!item || !item->has_rank || item->rank >= ONNXL_SHAPE_MAX_RANK) {
    if (item)
      onnxl_shape_set_type(n, i, item->elem_type);
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, i, item->rank + 1);
  for (uint32_t k = 0, from = 0; k <= item->rank; k++) {
    OnnxlExpr dim = k == axis ? count : item->dims[from];
    from += k != axis;
    dims[k] = k != axis && onnxl_shape_is_local(n->run, dim, n->scope, body) ? NULL : dim;
  }
  onnxl_shape_set_type(n, i, item->elem_type);
}

/* Body: iteration, condition, carried… -> condition, carried…, scanned…. */
void
onnxl_shape_rule_loop(OnnxlShapeNode *n)
{
  uint32_t body = onnxl_shape_subgraph(n, "body");
  if (body == ONNXL_NONE)
    return;
  const OnnxlIndexGraph *g = &n->scope->index->graphs[body];
  uint32_t carried = n->n_inputs > 2 ? n->n_inputs - 2 : 0;
  if (!onnxl_shape_expect_one(n, 0) || !onnxl_shape_expect_one(n, 1))
    return;
  if (g->n_inputs < 2 + carried || g->n_outputs < 1 + carried || g->n_outputs - 1 < n->n_outputs) {
    onnxl_shape_error(n, "a body with %u inputs and %u outputs for %u carried values and %u outputs", g->n_inputs,
                      g->n_outputs, carried, n->n_outputs);
    return;
  }
  OnnxlInfo *inputs = ONNXL_NEW_ARRAY(n->arena, OnnxlInfo, 2 + (size_t)carried);
  OnnxlExpr *condition = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, 1);
  if (!inputs || !condition)
    return;
  inputs[0] = (OnnxlInfo){ .kind = ONNXL_KIND_TENSOR, .elem_type = ONNXL_TYPE_INT64, .has_rank = true };
  inputs[1] = (OnnxlInfo){ .kind = ONNXL_KIND_TENSOR, .elem_type = ONNXL_TYPE_BOOL, .has_rank = true };
  /* The body runs only when the condition held, but what it computes from it must hold in the last trip as well. */
  condition[0] = onnxl_shape_input(n, 1) ? onnxl_shape_scalar(n, 1) : onnxl_shape_lit(n, 1);
  inputs[1].has_contents = true;
  inputs[1].n_contents = 1;
  inputs[1].contents = condition;
  for (uint32_t i = 0; i < carried; i++)
    if (n->inputs[2 + i])
      inputs[2 + i] = *n->inputs[2 + i];
  if (!find_fixed_point(n, body, inputs, 2 + carried, 1, 1 + carried, 0))
    return;
  for (uint32_t i = 0; i < carried && i < n->n_outputs; i++)
    n->outputs[i] = inputs[2 + i];
  /* With a condition that always holds the trip count M says how many values are stacked. */
  bool endless = inputs[1].contents && onnxl_shape_is(inputs[1].contents[0], 1);
  OnnxlExpr trips = onnxl_shape_input(n, 0) && endless ? onnxl_shape_scalar(n, 0) : NULL;
  if (onnxl_shape_input(n, 1) && onnxl_shape_is(onnxl_shape_scalar(n, 1), 0))
    trips = onnxl_shape_lit(n, 0);
  trips = onnxl_expr_max(n->pool, trips, onnxl_shape_lit(n, 0));
  OnnxlExpr most = onnxl_shape_input(n, 0) ? onnxl_shape_scalar(n, 0) : NULL;
  most = onnxl_expr_max(n->pool, most, onnxl_shape_lit(n, 0));
  if (!trips && n->n_outputs > carried)
    trips = onnxl_shape_new_size(n, carried, 0);
  for (uint32_t i = carried; i < n->n_outputs; i++) {
    stack(n, i, onnxl_shape_graph_output(n, body, 1 + i), body, trips, 0);
    onnxl_shape_at_most(n, i, 0, most);
  }
}

/* --- Scan --------------------------------------------------------------------------------------------------------- */

static int64_t
list_item(const OnnxlShapeNode *n, const char *name, uint32_t i)
{
  OnnxlInt64List list = onnxl_attr_ints(n->proto, name);
  return i < list.count ? list.items[i] : 0;
}

/* One slice of a scanned input; its axis gives the number of trips. lead: axes in front that every operand has (batch).
 */
static void
slice_input(OnnxlShapeNode *n, const OnnxlInfo *input, int64_t axis, uint32_t lead, OnnxlInfo *slice, OnnxlExpr *trips)
{
  uint32_t at;
  *slice = (OnnxlInfo){ .kind = ONNXL_KIND_TENSOR, .elem_type = input ? input->elem_type : 0 };
  if (!input || !input->has_rank || input->rank <= lead)
    return;
  if (!onnxl_shape_axis(n, axis, input->rank - lead, &at))
    return;
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, input->rank);
  if (!dims)
    return;
  *trips = onnxl_shape_equal(n, *trips, input->dims[lead + at], "lengths of scanned inputs");
  uint32_t rank = 0;
  for (uint32_t i = lead; i < input->rank; i++)
    if (i != lead + at)
      dims[rank++] = input->dims[i];
  slice->has_rank = true;
  slice->rank = rank;
  slice->dims = dims;
}

/* info without the batch axis in front. */
static OnnxlInfo
without_batch(const OnnxlInfo *info)
{
  OnnxlInfo result = { .kind = ONNXL_KIND_TENSOR, .elem_type = info->elem_type };
  if (info->has_rank && info->rank > 0) {
    result.has_rank = true;
    result.rank = info->rank - 1;
    result.dims = info->dims + 1;
  }
  return result;
}

static void
with_batch(OnnxlShapeNode *n, uint32_t i, OnnxlExpr batch)
{
  if (!n->outputs[i].has_rank || n->outputs[i].rank >= ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlInfo before = n->outputs[i];
  OnnxlExpr *dims = onnxl_shape_output(n, i, before.rank + 1);
  n->outputs[i].has_contents = false;
  n->outputs[i].reals = NULL;
  dims[0] = batch;
  if (before.rank > 0)
    memcpy(dims + 1, before.dims, before.rank * sizeof *dims);
}

/* Body: states…, slices… -> states…, scanned…. Opset 8 has sequence_lens in front and a batch axis on everything. */
void
onnxl_shape_rule_scan(OnnxlShapeNode *n)
{
  uint32_t body = onnxl_shape_subgraph(n, "body");
  uint32_t lead = n->schema->since < 9;
  int64_t scanned = onnxl_shape_int(n, "num_scan_inputs");
  if (body == ONNXL_NONE)
    return;
  if (scanned < 1 || scanned > (int64_t)n->n_inputs - lead) {
    onnxl_shape_error(n, "num_scan_inputs is %" G_GINT64_FORMAT " for %u inputs", scanned, n->n_inputs);
    return;
  }
  const OnnxlIndexGraph *g = &n->scope->index->graphs[body];
  uint32_t n_slices = (uint32_t)scanned, states = n->n_inputs - lead - n_slices;
  if (g->n_inputs != states + n_slices || g->n_outputs != n->n_outputs || n->n_outputs < states) {
    onnxl_shape_error(n, "a body with %u inputs and %u outputs for %u states, %u scanned inputs and %u outputs",
                      g->n_inputs, g->n_outputs, states, n_slices, n->n_outputs);
    return;
  }
  OnnxlInfo *inputs = ONNXL_NEW_ARRAY(n->arena, OnnxlInfo, states + (size_t)n_slices);
  if (!inputs)
    return;
  OnnxlExpr trips = NULL, batch = NULL;
  for (uint32_t i = 0; i < states; i++)
    if (onnxl_shape_input(n, lead + i))
      inputs[i] = lead ? without_batch(n->inputs[lead + i]) : *n->inputs[lead + i];
  for (uint32_t i = 0; i < n_slices; i++) {
    const OnnxlInfo *input = onnxl_shape_input(n, lead + states + i);
    int64_t axis = lead ? 0 : list_item(n, "scan_input_axes", i);
    slice_input(n, input, axis, lead, &inputs[states + i], &trips);
    if (lead && input && input->has_rank && input->rank > 0)
      batch = input->dims[0];
    if (n->failed)
      return;
  }
  if (!find_fixed_point(n, body, inputs, states + n_slices, 0, states, 0))
    return;
  for (uint32_t i = 0; i < states; i++)
    n->outputs[i] = inputs[i];
  for (uint32_t i = states; i < n->n_outputs; i++) {
    const OnnxlInfo *item = onnxl_shape_graph_output(n, body, i);
    uint32_t axis = 0;
    int64_t wanted = lead ? 0 : list_item(n, "scan_output_axes", i - states);
    if (item && item->has_rank && !onnxl_shape_axis(n, wanted, item->rank + 1, &axis))
      return;
    stack(n, i, item, body, trips, axis);
  }
  for (uint32_t i = 0; lead && i < n->n_outputs; i++)
    with_batch(n, i, batch);
}
