/* The walk over a model: inputs and initializers, then node after node, each by the rule of its operator. */
#include "shapes/shape-internal.h"

#include "support/error.h"

#define SMALL 16

void
onnxl_shape_finding(OnnxlShapeScope *scope, uint32_t node, OnnxlDiagId id, const char *format, ...)
{
  OnnxlShapeRun *run = scope->run;
  if (id == ONNXL_DIAG_SHAPE_MISMATCH)
    run->n_mismatches++;
  if (run->dead > 0)
    return;
  if (id == ONNXL_DIAG_SHAPE_MISMATCH && run->undecided > 0)
    id = ONNXL_DIAG_SHAPE_MISMATCH_BRANCH;
  if (!ONNXL_GROW(run->arena, &run->findings, run->n_findings, &run->findings_capacity))
    return;
  char message[1024];
  va_list args;
  va_start(args, format);
  int size = g_vsnprintf(message, sizeof message, format, args);
  va_end(args);
  const char *path = onnxl_index_node_path(scope->index, node, run->arena);
  if (*scope->path)
    path = onnxl_arena_printf(run->arena, "%s%s", scope->path, path ? path : "").data;
  OnnxlShapeFinding *finding = &run->findings[run->n_findings];
  *finding = (OnnxlShapeFinding){
    .id = id,
    .path = path,
    .message = onnxl_arena_copy(run->arena, onnxl_str_n(message, MIN((size_t)size, sizeof message - 1))).data,
  };
  if (finding->message)
    run->n_findings++;
}

/* Types of inputs and outputs that the schema ties together: mismatches are found, outputs that the rule left open set.
 */

static bool
type_text_is_tensor(const char *text)
{
  return strncmp(text, "tensor(", 7) == 0;
}

static const OnnxlOpParam *
param(const OnnxlOpParam *params, uint8_t n, uint32_t i)
{
  if (i < n)
    return &params[i];
  return n > 0 && params[n - 1].option == ONNXL_PARAM_VARIADIC ? &params[n - 1] : NULL;
}

static const OnnxlOpConstraint *
constraint_of(const OnnxlOpSchema *schema, const char *type)
{
  for (uint8_t i = 0; i < schema->n_constraints; i++)
    if (strcmp(schema->constraints[i].name, type) == 0)
      return &schema->constraints[i];
  return NULL;
}

static bool
ties(const OnnxlOpParam *p)
{
  return !(p->option == ONNXL_PARAM_VARIADIC && p->heterogeneous);
}

/* The first input that the type variable of an output stands for, when its element type is known. */
static const OnnxlInfo *
input_of_type(const OnnxlShapeNode *n, const char *type)
{
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    const OnnxlOpParam *p = param(n->schema->inputs, n->schema->n_inputs, i);
    if (!p)
      break;
    if (n->inputs[i] && ties(p) && strcmp(p->type, type) == 0 && n->inputs[i]->kind == ONNXL_KIND_TENSOR &&
        n->inputs[i]->elem_type != 0)
      return n->inputs[i];
  }
  return NULL;
}

static void
check_input_types(OnnxlShapeNode *n)
{
  const OnnxlOpSchema *schema = n->schema;
  for (uint32_t i = 1; i < n->n_inputs; i++) {
    const OnnxlOpParam *p = param(schema->inputs, schema->n_inputs, i);
    const OnnxlInfo *info = n->inputs[i];
    if (!p)
      return;
    if (!info || info->kind != ONNXL_KIND_TENSOR || info->elem_type == 0 || !ties(p))
      continue;
    const OnnxlInfo *first = input_of_type(n, p->type);
    if (first && first->elem_type != info->elem_type) {
      const char *a = onnxl_data_type_name(first->elem_type), *b = onnxl_data_type_name(info->elem_type);
      onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_TYPE_MISMATCH, "%s: inputs of type %s are both %s and %s",
                          schema->name, p->type, a ? a : "unknown", b ? b : "unknown");
      n->failed = true;
      return;
    }
    if (p->option == ONNXL_PARAM_VARIADIC && i > 4096)
      return; /* very wide nodes: each look-up starts at the first input */
  }
}

/* Inputs of one axis: shapes, axes, counts and the like. */
static void
check_lists(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < n->schema->n_inputs; i++)
    if (n->schema->inputs[i].is_list)
      onnxl_shape_of_rank(n, i, 1);
}

/* Rules take it for granted that inputs that are not optional are there. */
static void
check_arity(OnnxlShapeNode *n)
{
  const OnnxlOpSchema *schema = n->schema;
  uint32_t count = n->n_inputs;
  while (count > 0 && n->node->inputs[count - 1] == ONNXL_NONE)
    count--;
  if (count < (uint32_t)schema->min_inputs) {
    onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_NODE_ARITY, "%s: %u inputs are given when at least %d are needed",
                        schema->name, count, schema->min_inputs);
    n->failed = true;
  } else if (count > (uint32_t)schema->max_inputs) {
    onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_NODE_ARITY, "%s: %u inputs are given when at most %d are taken",
                        schema->name, count, schema->max_inputs);
    n->failed = true;
  }
  if (n->n_outputs > (uint32_t)schema->max_outputs) {
    onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_NODE_ARITY, "%s: %u outputs are named when there are at most %d",
                        schema->name, n->n_outputs, schema->max_outputs);
    n->failed = true;
  }
  for (uint32_t i = 0; !n->failed && i < count && i < schema->n_inputs; i++)
    if (n->node->inputs[i] == ONNXL_NONE && schema->inputs[i].option == ONNXL_PARAM_SINGLE) {
      onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_NODE_ARITY, "%s: the input %s is left out", schema->name,
                          schema->inputs[i].name);
      n->failed = true;
    }
}

static int32_t
single_type(uint32_t set)
{
  return set && (set & (set - 1)) == 0 ? __builtin_ctz(set) : 0;
}

static void
set_output_types(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    const OnnxlOpParam *p = param(n->schema->outputs, n->schema->n_outputs, i);
    OnnxlInfo *info = &n->outputs[i];
    if (!p || (info->kind != ONNXL_KIND_UNKNOWN && info->elem_type != 0))
      continue;
    if (type_text_is_tensor(p->type)) {
      size_t size = strlen(p->type);
      if (info->kind == ONNXL_KIND_UNKNOWN)
        info->kind = ONNXL_KIND_TENSOR;
      if (info->kind == ONNXL_KIND_TENSOR)
        info->elem_type = onnxl_data_type_from_name(onnxl_str_n(p->type + 7, size - 8));
      continue;
    }
    const OnnxlOpConstraint *constraint = constraint_of(n->schema, p->type);
    if (!constraint)
      continue;
    if (info->kind == ONNXL_KIND_UNKNOWN && constraint->tensor && !constraint->sequence &&
        !constraint->optional_tensor && !constraint->optional_sequence && !constraint->others)
      info->kind = ONNXL_KIND_TENSOR;
    if (info->kind != ONNXL_KIND_TENSOR || info->elem_type != 0)
      continue;
    const OnnxlInfo *source = ties(p) ? input_of_type(n, p->type) : NULL;
    info->elem_type = source ? source->elem_type : single_type(constraint->tensor);
  }
}

/* Contents whose count contradicts the dims would mislead later rules. */
static void
check_contents(OnnxlShapeRun *run, OnnxlInfo *info)
{
  if ((!info->has_contents && !info->reals) || info->kind == ONNXL_KIND_SEQUENCE)
    return;
  int64_t count;
  OnnxlExpr dims = info->kind == ONNXL_KIND_TENSOR ? onnxl_info_count(run->pool, info) : NULL;
  if (dims && onnxl_expr_is_int(dims, &count) && count == info->n_contents)
    return;
  info->has_contents = false;
  info->contents = NULL;
  info->reals = NULL;
  info->n_contents = 0;
}

/* Expressions grow with every operator, exponentially in the worst case: one whose text is longer than this is taken as
 * unknown, so that its value gets a name of its own. */
#define MAX_TEXT 500

static bool
is_open(OnnxlShapeRun *run, OnnxlExpr e)
{
  return !e || (!onnxl_expr_is_int(e, NULL) && onnxl_expr_text(run->pool, e).size > MAX_TEXT);
}

static void
cut_contents(OnnxlShapeRun *run, OnnxlInfo *info)
{
  OnnxlExpr *copy = NULL;
  for (uint32_t i = 0; info->contents && i < info->n_contents; i++) {
    if (!info->contents[i] || !is_open(run, info->contents[i]))
      continue;
    if (!copy && (copy = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, info->n_contents)))
      memcpy(copy, info->contents, info->n_contents * sizeof *copy);
    if (copy)
      copy[i] = NULL;
  }
  if (copy)
    info->contents = copy;
}

void
onnxl_shape_set_value(OnnxlShapeScope *scope, uint32_t value, const OnnxlInfo *from, OnnxlStr prefix)
{
  OnnxlShapeRun *run = scope->run;
  OnnxlInfo info = *from;
  if (info.has_rank && info.rank > ONNXL_SHAPE_MAX_RANK)
    info = (OnnxlInfo){ .kind = info.kind, .elem_type = info.elem_type };
  bool open = false;
  if (info.has_rank)
    for (uint32_t i = 0; i < info.rank; i++)
      open = open || is_open(run, info.dims[i]);
  if (open) {
    OnnxlExpr *dims = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, info.rank);
    if (dims) {
      for (uint32_t i = 0; i < info.rank; i++)
        dims[i] = is_open(run, info.dims[i]) ? onnxl_shape_fresh(scope, value, i, info.rank, prefix) : info.dims[i];
      info.dims = dims;
    }
  }
  check_contents(run, &info);
  cut_contents(run, &info);
  scope->values[value] = info;
}

static void
set_outputs(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    uint32_t value = n->node->outputs[i];
    if (value == ONNXL_NONE)
      continue;
    OnnxlInfo info = n->outputs[i];
    if (n->failed) /* nothing is believed, so that one mistake makes one finding */
      info = (OnnxlInfo){ .kind = info.kind, .elem_type = info.elem_type };
    if (n->scope->index->values[value].info)
      onnxl_shape_anchor(n->scope, value, &info);
    onnxl_shape_forget_most(n->scope, value);
    onnxl_shape_set_value(n->scope, value, &info, n->proto->op_type);
    OnnxlExpr *shown = n->scope->shown[value];
    for (uint32_t k = 0; shown && k < info.rank; k++)
      if (!shown[k])
        shown[k] = n->scope->values[value].dims[k];
  }
  for (size_t k = 0; k < n->n_most; k++) {
    uint32_t value = n->node->outputs[n->most[k].output];
    if (value == ONNXL_NONE)
      continue;
    const OnnxlInfo *set = &n->scope->values[value];
    if (set->has_rank && n->most[k].axis < set->rank)
      onnxl_shape_set_most(n->scope, value, n->most[k].axis, n->most[k].most);
  }
}

static int64_t
opset_of(const OnnxlShapeScope *scope, OnnxlStr domain)
{
  if (onnxl_str_is_empty(onnxl_domain_normal(domain)))
    return scope->opset;
  return onnxl_opset_version(scope->run->model, scope->function, domain);
}

/* Only the body of a function can refer to what a caller gives. */
static void
check_references(OnnxlShapeNode *n)
{
  const OnnxlAttributeList *list = &n->proto->attribute;
  for (size_t i = 0; !n->scope->function && i < list->count; i++)
    if (!onnxl_str_is_empty(list->items[i].ref_attr_name)) {
      onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_ATTRIBUTE_REFERENCE,
                          "attribute '%.*s' refers to '%.*s' outside of a function", ONNXL_ARG(list->items[i].name),
                          ONNXL_ARG(list->items[i].ref_attr_name));
      n->failed = true;
    }
}

static void
apply(OnnxlShapeNode *n)
{
  check_references(n);
  const OnnxlFunction *function = onnxl_function_table_find(n->run->functions, n->proto);
  if (function) {
    onnxl_shape_call(n, function);
    set_outputs(n);
    return;
  }
  OnnxlShapeScope *scope = n->scope;
  n->schema = onnxl_op_find(n->proto->domain, n->proto->op_type, opset_of(scope, n->proto->domain));
  scope->schemas[n->id] = n->schema;
  OnnxlShapeRule rule = n->schema ? onnxl_shape_rule(n->schema->op) : NULL;
  if (n->schema) {
    check_arity(n);
    check_input_types(n);
    check_lists(n);
  }
  if (rule && !n->failed)
    rule(n);
  else if (!rule && n->run->options.strict)
    onnxl_shape_finding(scope, n->id, ONNXL_DIAG_NO_SHAPE_RULE, "operator %.*s%s%.*s has no shape rule",
                        ONNXL_ARG(n->proto->domain), n->proto->domain.size > 0 ? "." : "",
                        ONNXL_ARG(n->proto->op_type));
  if (!n->failed)
    onnxl_shape_expect_sizes(n);
  if (n->schema)
    set_output_types(n);
  set_outputs(n);
}

static bool
infer_node(OnnxlShapeScope *scope, uint32_t id)
{
  OnnxlShapeRun *run = scope->run;
  const OnnxlIndexNode *node = &scope->index->nodes[id];
  const OnnxlInfo *small_inputs[SMALL];
  OnnxlInfo small_outputs[SMALL];
  const OnnxlInfo **inputs = small_inputs;
  OnnxlInfo *outputs = small_outputs;
  run->steps++;
  if (node->n_inputs > SMALL)
    inputs = ONNXL_NEW_ARRAY(run->arena, const OnnxlInfo *, node->n_inputs);
  if (node->n_outputs > SMALL)
    outputs = ONNXL_NEW_ARRAY(run->arena, OnnxlInfo, node->n_outputs);
  else
    memset(small_outputs, 0, node->n_outputs * sizeof *small_outputs);
  const OnnxlNode *proto = onnxl_shape_bind(scope, node->proto);
  if (!inputs || !outputs || !proto || onnxl_arena_exhausted(run->arena)) {
    if (!run->error)
      onnxl_fail(&run->error, ONNXL_ERROR_LIMIT, "shape inference needs more metadata than --max-metadata allows");
    return false;
  }
  for (uint32_t i = 0; i < node->n_inputs; i++) {
    uint32_t value = node->inputs[i];
    bool omitted = value == ONNXL_NONE || (scope->omitted && scope->omitted[value]);
    inputs[i] = omitted ? NULL : &scope->values[value];
  }
  OnnxlShapeNode n = {
    .scope = scope,
    .run = run,
    .pool = run->pool,
    .arena = run->arena,
    .node = node,
    .id = id,
    .proto = proto,
    .inputs = inputs,
    .n_inputs = node->n_inputs,
    .outputs = outputs,
    .n_outputs = node->n_outputs,
  };
  apply(&n);
  return run->error == NULL;
}

bool
onnxl_shape_walk(OnnxlShapeScope *scope, uint32_t graph)
{
  OnnxlShapeRun *run = scope->run;
  const OnnxlIndexGraph *g = &scope->index->graphs[graph];
  if (run->depth >= ONNXL_SHAPE_MAX_DEPTH) {
    if (!run->error)
      onnxl_fail(&run->error, ONNXL_ERROR_LIMIT, "graphs and function calls are nested more than %d deep",
                 ONNXL_SHAPE_MAX_DEPTH);
    return false;
  }
  run->depth++;
  bool ok = true;
  for (uint32_t i = 0; ok && i < g->n_nodes; i++)
    ok = infer_node(scope, g->first_node + i);
  run->depth--;
  return ok;
}

void
onnxl_shape_set_initializers(OnnxlShapeScope *scope, uint32_t graph)
{
  const OnnxlIndexGraph *g = &scope->index->graphs[graph];
  for (uint32_t i = 0; i < g->n_initializers; i++) {
    uint32_t id = g->initializers[i];
    const OnnxlIndexValue *value = &scope->index->values[id];
    OnnxlInfo info = { 0 };
    if (value->initializer)
      onnxl_info_from_tensor(scope->run, value->initializer, &info);
    else if (value->sparse)
      onnxl_info_from_sparse(scope->run, value->sparse, &info);
    onnxl_shape_set_value(scope, id, &info, ONNXL_STR(""));
  }
}

/* From IR version 4 on, an initializer that is also an input is a default the caller may replace: by values of the same
 * type and declared shape, but not of the same contents. */
static void
set_inputs(OnnxlShapeScope *scope)
{
  const OnnxlModel *model = scope->run->model;
  const OnnxlIndexGraph *g = &scope->index->graphs[0];
  for (uint32_t i = 0; i < g->n_inputs; i++) {
    uint32_t id = g->inputs[i];
    const OnnxlIndexValue *value = &scope->index->values[id];
    bool constant = value->initializer || value->sparse;
    if (constant && model->proto.ir_version < 4)
      continue;
    OnnxlInfo info = { 0 };
    if (value->info && value->info->type)
      onnxl_info_from_type(scope->run, value->info->type, ONNXL_SYMBOL_INPUT, &info);
    onnxl_shape_set_value(scope, id, &info, ONNXL_STR(""));
  }
}

OnnxlShapeScope *
onnxl_shape_scope_new(OnnxlShapeRun *run, const OnnxlIndex *index, const OnnxlFunction *function)
{
  OnnxlArena *arena = run->arena;
  OnnxlShapeScope *scope = ONNXL_NEW(arena, OnnxlShapeScope);
  if (!scope)
    return NULL;
  scope->run = run;
  scope->index = index;
  scope->function = function;
  scope->path = "";
  scope->values = ONNXL_NEW_ARRAY(arena, OnnxlInfo, index->n_values);
  scope->fresh = ONNXL_NEW_ARRAY(arena, struct OnnxlFreshDims *, index->n_values);
  scope->shown = ONNXL_NEW_ARRAY(arena, OnnxlExpr *, index->n_values);
  scope->omitted = function ? ONNXL_NEW_ARRAY(arena, bool, index->n_values) : NULL;
  scope->schemas = ONNXL_NEW_ARRAY(arena, const OnnxlOpSchema *, index->n_nodes);
  scope->calls = ONNXL_NEW_ARRAY(arena, OnnxlInference *, index->n_nodes);
  scope->opset = onnxl_opset_version(run->model, function, ONNXL_STR(""));
  if (onnxl_arena_exhausted(arena))
    return NULL;
  scope->inference = (OnnxlInference){
    .model = run->model,
    .index = index,
    .pool = run->pool,
    .values = scope->values,
    .schemas = scope->schemas,
    .calls = scope->calls,
  };
  return scope;
}

const OnnxlExpr *
onnxl_inference_shown_dims(const OnnxlInference *inference, uint32_t value)
{
  const OnnxlShapeScope *scope = (const OnnxlShapeScope *)inference;
  const OnnxlInfo *info = &scope->values[value];
  if (!info->has_rank)
    return NULL;
  return scope->shown[value] ? scope->shown[value] : info->dims;
}

const OnnxlNode *
onnxl_inference_node(const OnnxlInference *inference, uint32_t node)
{
  return onnxl_shape_bind((OnnxlShapeScope *)inference, inference->index->nodes[node].proto);
}

bool
onnxl_inference_is_local(const OnnxlInference *inference, OnnxlExpr e, uint32_t graph)
{
  const OnnxlShapeScope *scope = (const OnnxlShapeScope *)inference;
  return onnxl_shape_is_local(scope->run, e, scope, graph);
}

const char *
onnxl_inference_graph_path(const OnnxlInference *inference, uint32_t graph, OnnxlArena *arena)
{
  const OnnxlShapeScope *scope = (const OnnxlShapeScope *)inference;
  const char *path = onnxl_index_graph_path(scope->index, graph, arena);
  if (!*scope->path)
    return path;
  /* "/call (f)" and "/f/if1/then_branch" */
  const char *text = onnxl_arena_printf(arena, "%s%s", scope->path, path).data;
  return text ? text : "";
}

static bool
report(OnnxlShapeRun *run, GError **error)
{
  uint32_t errors = onnxl_diag_errors(run->sink);
  for (size_t i = 0; i < run->n_findings; i++) {
    OnnxlLocation where = { .path = run->findings[i].path };
    onnxl_diag(run->sink, run->findings[i].id, &where, "%s", run->findings[i].message);
  }
  if (run->error) {
    g_propagate_error(error, run->error);
    return false;
  }
  onnxl_shape_check_required(run);
  if (onnxl_diag_errors(run->sink) > errors)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the shapes of the model do not fit");
  return true;
}

OnnxlInference *
onnxl_infer(const OnnxlModel *model, const OnnxlInferOptions *options, OnnxlArena *arena, OnnxlDiagSink *sink,
            GError **error)
{
  const OnnxlFunctionTable *functions = onnxl_function_table_new(model, arena, sink, error);
  if (!functions)
    return NULL;
  const OnnxlIndex *index = onnxl_index_new(model, NULL, arena, sink, error);
  if (!index)
    return NULL;
  OnnxlShapeRun *run = ONNXL_NEW(arena, OnnxlShapeRun);
  if (!run) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "shape inference needs more metadata than --max-metadata allows");
    return NULL;
  }
  *run = (OnnxlShapeRun){
    .model = model,
    .options = *options,
    .arena = arena,
    .pool = onnxl_expr_pool_new(arena),
    .sink = sink,
    .functions = functions,
    .function_indexes = ONNXL_NEW_ARRAY(arena, const OnnxlIndex *, model->proto.functions.count),
    .symbol_ids = onnxl_map_new(arena, 0),
    .suffix_ids = onnxl_map_new(arena, 0),
    .constraint_ids = onnxl_map_new(arena, 0),
    .broadcast_ids = onnxl_map_new(arena, 0),
    .max_steps = 20000 + 16 * (uint64_t)index->n_nodes,
  };
  OnnxlShapeScope *scope = onnxl_shape_scope_new(run, index, NULL);
  bool ok = scope && onnxl_shape_collect_symbols(run);
  if (ok) {
    onnxl_shape_set_initializers(scope, 0);
    set_inputs(scope);
    ok = onnxl_shape_require(run) && onnxl_shape_walk(scope, 0);
  }
  if ((!ok || onnxl_arena_exhausted(arena)) && !run->error)
    onnxl_fail(&run->error, ONNXL_ERROR_LIMIT, "shape inference needs more metadata than --max-metadata allows");
  if (!report(run, error)) {
    onnxl_expr_pool_free(run->pool);
    return NULL;
  }
  scope->inference.constraints = run->constraints;
  scope->inference.n_constraints = run->n_constraints;
  return &scope->inference;
}

void
onnxl_inference_free(OnnxlInference *inference)
{
  if (inference)
    onnxl_expr_pool_free(inference->pool);
}
