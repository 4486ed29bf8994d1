#include "runtime/plan.h"

#include "proto/tensor.h"
#include "runtime/constant-internal.h"
#include "support/error.h"

typedef struct Builder {
  OnnxlPlan *plan;
  OnnxlDiagSink *sink;
  OnnxlParamType *types[ONNXL_N_OPS]; /* shared by all nodes of an operator */
} Builder;

static bool
exhausted(const Builder *builder, GError **error)
{
  if (!onnxl_arena_exhausted(builder->plan->arena))
    return false;
  onnxl_fail(error, ONNXL_ERROR_LIMIT,
             "the plan needs more than the %zu bytes of metadata that are allowed "
             "(--max-metadata)",
             onnxl_arena_budget(builder->plan->arena));
  return true;
}

/* "tensor(float)" written out, or the name of a constraint. */
static OnnxlParamType
param_type(const OnnxlOpSchema *schema, const OnnxlOpParam *param)
{
  OnnxlStr text = onnxl_str(param->type);
  for (uint32_t i = 0; i < schema->n_constraints; i++) {
    const OnnxlOpConstraint *constraint = &schema->constraints[i];
    if (onnxl_str_is(text, constraint->name))
      return (OnnxlParamType){ .constraint = param->heterogeneous ? -1 : (int16_t)i,
                               .tensor = constraint->tensor,
                               .sequence = constraint->sequence,
                               .optional_tensor = constraint->optional_tensor,
                               .optional_sequence = constraint->optional_sequence,
                               .others = constraint->others != NULL };
  }
  const char *prefix = "tensor(";
  size_t n = strlen(prefix);
  if (text.size > n && strncmp(text.data, prefix, n) == 0) {
    OnnxlDataType type = onnxl_data_type_from_name(onnxl_str_n(text.data + n, text.size - n - 1));
    return (OnnxlParamType){ .constraint = -1, .tensor = UINT32_C(1) << type };
  }
  return (OnnxlParamType){ .constraint = -2 };
}

static const OnnxlParamType *
param_types(Builder *builder, const OnnxlOpSchema *schema)
{
  OnnxlParamType **types = &builder->types[schema->op];
  if (*types)
    return *types;
  *types = ONNXL_NEW_ARRAY(builder->plan->arena, OnnxlParamType, (size_t)schema->n_inputs + schema->n_outputs + 1);
  for (uint32_t i = 0; *types && i < schema->n_inputs; i++)
    (*types)[i] = param_type(schema, &schema->inputs[i]);
  for (uint32_t i = 0; *types && i < schema->n_outputs; i++)
    (*types)[schema->n_inputs + i] = param_type(schema, &schema->outputs[i]);
  return *types;
}

/* A finding at a node; its path is only made when there is one. */
static void node_diag(const Builder *builder, const OnnxlBody *body, uint32_t id, OnnxlDiagId what, const char *format,
                      ...) G_GNUC_PRINTF(5, 6);

static void
node_diag(const Builder *builder, const OnnxlBody *body, uint32_t id, OnnxlDiagId what, const char *format, ...)
{
  OnnxlLocation where = { .path = onnxl_index_node_path(body->index, id, builder->plan->arena) };
  va_list args;
  va_start(args, format);
  char *message = g_strdup_vprintf(format, args);
  va_end(args);
  onnxl_diag(builder->sink, what, &where, "%s", message);
  g_free(message);
}

/* Inputs and attributes against the operator's row, so that kernels need not look. */
static void
check_node(Builder *builder, const OnnxlBody *body, uint32_t id, const OnnxlOpSchema *schema)
{
  const OnnxlIndexNode *node = &body->index->nodes[id];
  uint32_t n_inputs = node->n_inputs;
  while (n_inputs > 0 && node->inputs[n_inputs - 1] == ONNXL_NONE)
    n_inputs--;
  if (n_inputs < (uint32_t)schema->min_inputs || n_inputs > (uint32_t)schema->max_inputs)
    node_diag(builder, body, id, ONNXL_DIAG_NODE_ARITY, "%u inputs are given when %s-%d takes %d to %d", n_inputs,
              schema->name, schema->since, schema->min_inputs, schema->max_inputs);
  for (uint32_t i = 0; i < n_inputs && i < schema->n_inputs; i++)
    if (node->inputs[i] == ONNXL_NONE && schema->inputs[i].option == ONNXL_PARAM_SINGLE)
      node_diag(builder, body, id, ONNXL_DIAG_NODE_ARITY, "the input %s is left out", schema->inputs[i].name);
  for (uint32_t i = schema->n_inputs > 0 ? schema->n_inputs - 1u : 0; i < n_inputs; i++)
    if (node->inputs[i] == ONNXL_NONE && schema->inputs[schema->n_inputs - 1].option == ONNXL_PARAM_VARIADIC &&
        i + 1 < n_inputs)
      node_diag(builder, body, id, ONNXL_DIAG_NODE_ARITY, "input %u is left out", i);
  if (node->n_outputs == 0 && schema->min_outputs > 0)
    node_diag(builder, body, id, ONNXL_DIAG_NODE_ARITY, "the node has no output");
  if (node->n_outputs > (uint32_t)schema->max_outputs)
    node_diag(builder, body, id, ONNXL_DIAG_NODE_ARITY, "%u outputs are named when %s-%d has at most %d",
              node->n_outputs, schema->name, schema->since, schema->max_outputs);
  for (uint32_t i = 0; i < schema->n_attributes; i++) {
    const OnnxlOpAttribute *known = &schema->attributes[i];
    const OnnxlAttribute *attribute = onnxl_node_attribute(node->proto, known->name);
    if (!attribute && known->required)
      node_diag(builder, body, id, ONNXL_DIAG_NODE_ATTRIBUTE, "the attribute %s is missing", known->name);
    if (attribute && attribute->has_type && attribute->type != (int32_t)known->type)
      node_diag(builder, body, id, ONNXL_DIAG_NODE_ATTRIBUTE, "the attribute %s has type %s when %s is expected",
                known->name,
                onnxl_attribute_type_name(attribute->type) ? onnxl_attribute_type_name(attribute->type) : "?",
                onnxl_attribute_type_name((int32_t)known->type));
  }
}

/* Only the body of a function can refer to what a caller gives. */
static void
check_references(Builder *builder, const OnnxlBody *body, uint32_t id)
{
  const OnnxlAttributeList *list = &body->index->nodes[id].proto->attribute;
  for (size_t i = 0; i < list->count && !body->function; i++)
    if (list->items[i].ref_attr_name.size > 0)
      node_diag(builder, body, id, ONNXL_DIAG_ATTRIBUTE_REFERENCE,
                "the attribute %.*s refers to '%.*s' outside of a function", ONNXL_ARG(list->items[i].name),
                ONNXL_ARG(list->items[i].ref_attr_name));
}

static bool
choose_kernel(Builder *builder, const OnnxlBody *body, uint32_t id, OnnxlStep *step, GError **error)
{
  const OnnxlNode *node = body->index->nodes[id].proto;
  OnnxlStr domain = onnxl_domain_normal(node->domain);
  OnnxlStr shown = domain.size > 0 ? domain : ONNXL_STR("ai.onnx");
  int64_t opset = onnxl_opset_version(builder->plan->model, body->function, domain);
  step->schema = onnxl_op_find(domain, node->op_type, opset);
  step->kernel = step->schema ? onnxl_kernel_of(step->schema->op) : NULL;
  const char *path = step->kernel ? "" : onnxl_index_node_path(body->index, id, builder->plan->arena);
  path = path ? path : "?";
  if (!step->schema)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED,
                      "%s: no operator %.*s is known in domain %.*s, opset %" G_GINT64_FORMAT, path,
                      ONNXL_ARG(node->op_type), ONNXL_ARG(shown), opset);
  if (!step->kernel)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: operator %.*s-%d of domain %.*s cannot be run", path,
                      ONNXL_ARG(node->op_type), step->schema->since, ONNXL_ARG(shown));
  step->types = param_types(builder, step->schema);
  check_node(builder, body, id, step->schema);
  check_references(builder, body, id);
  return true;
}

/* Appends the values of graph g that node reads last (itself or in its nested graphs), and its outputs that nobody
 * reads. */
static void
find_releases(Builder *builder, OnnxlBody *body, uint32_t id, uint32_t *last_use)
{
  const OnnxlIndex *index = body->index;
  const OnnxlIndexNode *node = &index->nodes[id];
  uint32_t room = node->n_inputs + node->n_captures + node->n_outputs, n = 0;
  uint32_t *release = room > 0 ? ONNXL_NEW_ARRAY(builder->plan->arena, uint32_t, room) : NULL;
  if (!release)
    return;
  const uint32_t *const lists[] = { node->inputs, node->captures, node->outputs };
  const uint32_t counts[] = { node->n_inputs, node->n_captures, node->n_outputs };
  for (size_t list = 0; list < G_N_ELEMENTS(lists); list++)
    for (uint32_t i = 0; i < counts[list]; i++) {
      uint32_t v = lists[list][i];
      if (v == ONNXL_NONE || last_use[v] != id)
        continue;
      const OnnxlIndexValue *value = &index->values[v];
      if (value->kind != ONNXL_VALUE_NODE_OUTPUT || value->is_output || value->graph != node->graph)
        continue;
      release[n++] = v;
      last_use[v] = ONNXL_NONE; /* listed once, though the node may read it several times */
    }
  body->steps[id].release = release;
  body->steps[id].n_release = n;
}

static bool
find_lifetimes(Builder *builder, OnnxlBody *body, GError **error)
{
  const OnnxlIndex *index = body->index;
  uint32_t *last_use = ONNXL_NEW_ARRAY(builder->plan->arena, uint32_t, (size_t)index->n_values + 1);
  if (!last_use)
    return !exhausted(builder, error);
  for (uint32_t v = 0; v < index->n_values; v++)
    last_use[v] = index->values[v].producer;
  for (uint32_t id = 0; id < index->n_nodes; id++) {
    const OnnxlIndexNode *node = &index->nodes[id];
    for (uint32_t i = 0; i < node->n_inputs + node->n_captures; i++) {
      uint32_t v = i < node->n_inputs ? node->inputs[i] : node->captures[i - node->n_inputs];
      /* Only a use in the value's own graph ends its life; one further in shows up as a capture there. */
      if (v != ONNXL_NONE && index->values[v].graph == node->graph)
        last_use[v] = id;
    }
  }
  for (uint32_t id = 0; id < index->n_nodes; id++)
    find_releases(builder, body, id, last_use);
  return !exhausted(builder, error);
}

static bool
load_constants(Builder *builder, OnnxlBody *body, GError **error)
{
  const OnnxlIndex *index = body->index;
  bool good = true;
  for (uint32_t v = 0; v < index->n_values; v++) {
    const OnnxlIndexValue *value = &index->values[v];
    if (value->initializer)
      good = onnxl_constant_load(builder->plan, value->initializer, builder->sink, &body->constants[v], error);
    else if (value->sparse)
      good = onnxl_constant_load_sparse(builder->plan, value->sparse, builder->sink, &body->constants[v], error);
    if (!good)
      return false;
  }
  return true;
}

static OnnxlBody *
add_body(Builder *builder, const OnnxlFunction *function, GError **error)
{
  OnnxlPlan *plan = builder->plan;
  const OnnxlIndex *index = onnxl_index_new(plan->model, function, plan->arena, builder->sink, error);
  if (!index)
    return NULL;
  OnnxlBody *body = ONNXL_NEW(plan->arena, OnnxlBody);
  if (!body || !(body->steps = ONNXL_NEW_ARRAY(plan->arena, OnnxlStep, (size_t)index->n_nodes + 1)) ||
      !(body->constants = ONNXL_NEW_ARRAY(plan->arena, OnnxlValue *, (size_t)index->n_values + 1))) {
    exhausted(builder, error);
    return NULL;
  }
  body->function = function;
  body->index = index;
  body->next = plan->bodies;
  plan->bodies = body;
  return body;
}

/* Prepares every body that the main graph can reach, each once; bodies found on the way join the end of a work list. */
static bool
build_bodies(Builder *builder, GError **error)
{
  OnnxlPlan *plan = builder->plan;
  GHashTable *by_function = g_hash_table_new(NULL, NULL);
  GPtrArray *work = g_ptr_array_new();
  plan->main = add_body(builder, NULL, error);
  bool good = plan->main != NULL;
  if (good)
    g_ptr_array_add(work, plan->main);
  for (guint w = 0; good && w < work->len; w++) {
    OnnxlBody *body = g_ptr_array_index(work, w);
    good = load_constants(builder, body, error) && find_lifetimes(builder, body, error);
    for (uint32_t id = 0; good && id < body->index->n_nodes; id++) {
      const OnnxlFunction *function = onnxl_function_table_find(plan->functions, body->index->nodes[id].proto);
      if (!function) {
        good = choose_kernel(builder, body, id, &body->steps[id], error);
        continue;
      }
      OnnxlBody *callee = g_hash_table_lookup(by_function, function);
      if (!callee && (callee = add_body(builder, function, error))) {
        g_hash_table_insert(by_function, (gpointer)function, callee);
        g_ptr_array_add(work, callee);
      }
      body->steps[id].callee = callee;
      good = callee != NULL;
    }
  }
  g_ptr_array_free(work, TRUE);
  g_hash_table_destroy(by_function);
  return good && !exhausted(builder, error);
}

OnnxlPlan *
onnxl_plan_new(const OnnxlModel *model, const OnnxlPlanOptions *options, OnnxlDiagSink *sink, GError **error)
{
  OnnxlPlan *plan = g_new0(OnnxlPlan, 1);
  plan->model = model;
  plan->arena = onnxl_arena_new(options->max_metadata);
  plan->allocator = onnxl_allocator_new(options->max_memory);
  plan->external =
    onnxl_external_files_new(options->data_folder ? options->data_folder : model->folder, options->allow_symlinks);
  Builder *builder = g_new0(Builder, 1);
  *builder = (Builder){ .plan = plan, .sink = sink };
  uint32_t errors = onnxl_diag_errors(sink);
  plan->functions = onnxl_function_table_new(model, plan->arena, sink, error);
  bool good = plan->functions && onnxl_constant_check_all(model, sink, error) && build_bodies(builder, error);
  if (good && onnxl_diag_errors(sink) > errors)
    good = onnxl_fail(error, ONNXL_ERROR_INVALID, "the model is not valid");
  g_free(builder);
  if (good)
    return plan;
  onnxl_plan_free(plan);
  return NULL;
}

void
onnxl_plan_free(OnnxlPlan *plan)
{
  if (!plan)
    return;
  for (OnnxlBody *body = plan->bodies; body; body = body->next) {
    for (uint32_t id = 0; id < body->index->n_nodes; id++)
      onnxl_value_unref(body->steps[id].cache);
    for (uint32_t v = 0; v < body->index->n_values; v++)
      onnxl_value_unref(body->constants[v]);
  }
  onnxl_allocator_free(plan->allocator);
  onnxl_external_files_free(plan->external);
  onnxl_arena_free(plan->arena);
  g_free(plan);
}
