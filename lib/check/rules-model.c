/* Rules for the model as a whole: versions, imports, functions, training, metadata. */
#include "check/check-internal.h"
#include "proto/schema.h"

static void
ir_version(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  int64_t version = onnxl_check_ir(check);

  if (!check->proto->has_ir_version)
    onnxl_check_report(check, at, ONNXL_DIAG_IR_VERSION, "the model has no ir_version");
  else if (version < 1)
    onnxl_check_report(check, at, ONNXL_DIAG_IR_VERSION, "ir_version is %" G_GINT64_FORMAT " when the first is 1",
                       version);
  else if (version > ONNXL_NEWEST_IR)
    onnxl_check_report(check, at, ONNXL_DIAG_IR_VERSION_NEW,
                       "ir_version is %" G_GINT64_FORMAT " when the newest known is %d", version, ONNXL_NEWEST_IR);
}
ONNXL_RULE(ir_version, ON(MODEL), NO_NEEDS, ONNXL_DIAG_IR_VERSION, ONNXL_DIAG_IR_VERSION_NEW);

void
onnxl_check_since(OnnxlCheck *check, const OnnxlCheckPlace *at, int64_t version, OnnxlDiagId id, const char *what)
{
  int64_t has = onnxl_check_ir(check);

  if (has < version)
    onnxl_check_report(check, at, id, "%s came with ir_version %" G_GINT64_FORMAT ", the model has %" G_GINT64_FORMAT,
                       what, version, has);
}

/* Each of what a thing can have that not every version has. */
static void
ir_features(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlDiagId id = ONNXL_DIAG_IR_FEATURE;

  switch (at->kind) {
  case ONNXL_CHECK_MODEL:
    if (check->proto->functions.count > 0)
      onnxl_check_since(check, at, 8, id, "functions");
    if (check->proto->training_info.count > 0)
      onnxl_check_since(check, at, 7, id, "training_info");
    if (check->proto->configuration.count > 0)
      onnxl_check_since(check, at, 11, id, "configuration");
    break;
  case ONNXL_CHECK_GRAPH:
    if (at->graph->sparse_initializer.count > 0)
      onnxl_check_since(check, at, 6, id, "sparse_initializer");
    if (at->graph->quantization_annotation.count > 0)
      onnxl_check_since(check, at, 5, id, "quantization_annotation");
    break;
  case ONNXL_CHECK_FUNCTION:
    if (at->function->attribute_proto.count > 0)
      onnxl_check_since(check, at, 9, ONNXL_DIAG_IR_FEATURE_DATA, "attribute_proto");
    if (at->function->overload.size > 0)
      onnxl_check_since(check, at, 10, id, "overload");
    break;
  case ONNXL_CHECK_NODE:
    if (at->node->overload.size > 0)
      onnxl_check_since(check, at, 10, id, "overload");
    if (at->node->device_configurations.count > 0)
      onnxl_check_since(check, at, 11, id, "device_configurations");
    break;
  default:
    break;
  }
}
ONNXL_RULE(ir_features, ON(MODEL) | ON(GRAPH) | ON(FUNCTION) | ON(NODE), NEEDS(ir_version), ONNXL_DIAG_IR_FEATURE,
           ONNXL_DIAG_IR_FEATURE_DATA);

/* Of a model or a function. */
static void
opset_imports(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlOpsetList *imports =
    at->kind == ONNXL_CHECK_MODEL ? &check->proto->opset_import : &at->function->opset_import;
  OnnxlMap seen = onnxl_map_new(check->arena, imports->count);

  for (size_t i = 0; i < imports->count; i++) {
    OnnxlStr domain = imports->items[i].domain;
    int64_t version = imports->items[i].version, newest = onnxl_op_newest(domain);
    if (!onnxl_check_add(check, &seen, onnxl_domain_normal(domain)))
      onnxl_check_report(check, at, ONNXL_DIAG_OPSET_IMPORT, "the operator set of %.*s is imported twice",
                         ONNXL_ARG(onnxl_check_domain(domain)));
    if (version < 1)
      onnxl_check_report(check, at, ONNXL_DIAG_OPSET_VERSION,
                         "the version of the operator set %.*s is %" G_GINT64_FORMAT " when the first is 1",
                         ONNXL_ARG(onnxl_check_domain(domain)), version);
    else if (newest > 0 && version > newest)
      onnxl_check_report(check, at, ONNXL_DIAG_OPSET_VERSION_NEW,
                         "the version of the operator set %.*s is %" G_GINT64_FORMAT
                         " when the newest known is %" G_GINT64_FORMAT,
                         ONNXL_ARG(onnxl_check_domain(domain)), version, newest);
  }
  if (at->kind == ONNXL_CHECK_MODEL && imports->count == 0 && onnxl_check_ir(check) >= 3)
    onnxl_check_report(check, at, ONNXL_DIAG_OPSET_IMPORT, "the model imports no operator set");
}
ONNXL_RULE(opset_imports, ON(MODEL) | ON(FUNCTION), NO_NEEDS, ONNXL_DIAG_OPSET_IMPORT, ONNXL_DIAG_OPSET_VERSION,
           ONNXL_DIAG_OPSET_VERSION_NEW);

static void
graph(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (!check->proto->graph)
    onnxl_check_report(check, at, ONNXL_DIAG_NO_GRAPH, "the model has no graph");
}
ONNXL_RULE(graph, ON(MODEL), NO_NEEDS, ONNXL_DIAG_NO_GRAPH);

static void
functions(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  GError *error = NULL;

  check->functions = onnxl_function_table_new(check->model, check->arena, check->sink, &error);
  if (!check->functions)
    onnxl_check_fail(check, error);
}
ONNXL_RULE(functions, ON(MODEL), NO_NEEDS, ONNXL_DIAG_DUPLICATE_FUNCTION, ONNXL_DIAG_FUNCTION_CYCLE);

static void
function_identity(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlFunction *function = at->function;
  size_t n_required = function->attribute.count;
  OnnxlMap seen = onnxl_map_new(check->body->arena, n_required + function->attribute_proto.count);

  if (function->name.size == 0)
    onnxl_check_report(check, at, ONNXL_DIAG_EMPTY_NAME, "a function has no name");
  for (size_t i = 0; i < n_required + function->attribute_proto.count; i++) {
    OnnxlStr name =
      i < n_required ? function->attribute.items[i] : function->attribute_proto.items[i - n_required].name;
    if (!onnxl_check_add(check, &seen, name))
      onnxl_check_report(check, at, ONNXL_DIAG_FUNCTION_ATTRIBUTE, "the function has attribute '%.*s' twice",
                         ONNXL_ARG(name));
  }
}
ONNXL_RULE(function_identity, ON(FUNCTION), NO_NEEDS, ONNXL_DIAG_EMPTY_NAME, ONNXL_DIAG_FUNCTION_ATTRIBUTE);

static void
add_initializers(OnnxlCheck *check, OnnxlMap *names, const OnnxlGraph *of)
{
  for (size_t i = 0; of && i < of->initializer.count; i++)
    onnxl_check_add(check, names, of->initializer.items[i].name);
}

/* Each binding sets an initializer of the model or of the algorithm, once, to an output of the graph. */
static void
check_bindings(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlPairList *bindings, const OnnxlGraph *from,
               const char *what)
{
  OnnxlMap targets = onnxl_map_new(check->arena, 0), outputs = onnxl_map_new(check->arena, 0);
  OnnxlMap bound = onnxl_map_new(check->arena, 0);

  add_initializers(check, &targets, check->proto->graph);
  add_initializers(check, &targets, at->training->algorithm);
  for (size_t i = 0; from && i < from->output.count; i++)
    onnxl_check_add(check, &outputs, from->output.items[i].name);
  for (size_t i = 0; i < bindings->count; i++) {
    const OnnxlPair *binding = &bindings->items[i];
    if (onnxl_map_get(&targets, binding->key) == ONNXL_MAP_NONE)
      onnxl_check_report(check, at, ONNXL_DIAG_TRAINING_BINDING, "%s sets '%.*s', which is no initializer", what,
                         ONNXL_ARG(binding->key));
    else if (!onnxl_check_add(check, &bound, binding->key))
      onnxl_check_report(check, at, ONNXL_DIAG_TRAINING_BINDING, "%s sets '%.*s' twice", what, ONNXL_ARG(binding->key));
    if (onnxl_map_get(&outputs, binding->value) == ONNXL_MAP_NONE)
      onnxl_check_report(check, at, ONNXL_DIAG_TRAINING_BINDING, "%s takes '%.*s', which is no output of its graph",
                         what, ONNXL_ARG(binding->value));
  }
}

static void
training(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  check_bindings(check, at, &at->training->initialization_binding, at->training->initialization,
                 "initialization_binding");
  check_bindings(check, at, &at->training->update_binding, at->training->algorithm, "update_binding");
}
ONNXL_RULE(training, ON(TRAINING), NO_NEEDS, ONNXL_DIAG_TRAINING_BINDING);

static void
metadata(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (!at->metadata || at->metadata->count == 0)
    return;
  OnnxlMap seen = onnxl_map_new(check->body ? check->body->arena : check->arena, at->metadata->count);
  for (size_t i = 0; i < at->metadata->count; i++)
    if (!onnxl_check_add(check, &seen, at->metadata->items[i].key))
      onnxl_check_report(check, at,
                         at->kind == ONNXL_CHECK_MODEL ? ONNXL_DIAG_METADATA_KEY : ONNXL_DIAG_METADATA_KEY_INNER,
                         "metadata_props have key '%.*s' twice", ONNXL_ARG(at->metadata->items[i].key));
  if (at->kind != ONNXL_CHECK_MODEL)
    onnxl_check_since(check, at, 10, ONNXL_DIAG_IR_FEATURE_DATA, "metadata_props below the model");
}
ONNXL_RULE(metadata, ~0u, NEEDS(ir_version), ONNXL_DIAG_METADATA_KEY, ONNXL_DIAG_METADATA_KEY_INNER,
           ONNXL_DIAG_IR_FEATURE_DATA);

/* Messages that the walk comes to by itself. */
static bool
is_walked(const OnnxlMessageDescriptor *descriptor)
{
  return descriptor == &onnxl_graph_descriptor || descriptor == &onnxl_node_descriptor ||
         descriptor == &onnxl_attribute_descriptor || descriptor == &onnxl_value_info_descriptor ||
         descriptor == &onnxl_tensor_descriptor || descriptor == &onnxl_sparse_tensor_descriptor ||
         descriptor == &onnxl_function_descriptor;
}

static void
check_text(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlFieldDescriptor *field, OnnxlStr text)
{
  if (!onnxl_str_is_utf8(text))
    onnxl_check_report(check, at, ONNXL_DIAG_UTF8_MODEL, "%s is not UTF-8", field->name);
}

/* Types nest as deeply as the reader's limit allows. */
static void
check_texts(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    const void *member = onnxl_field_member(field, message);
    if (field->kind == ONNXL_FIELD_STRING && !field->repeated) {
      check_text(check, at, field, *(const OnnxlStr *)member);
    } else if (field->kind == ONNXL_FIELD_STRING) {
      const OnnxlStrList *list = member;
      for (size_t j = 0; j < list->count; j++)
        check_text(check, at, field, list->items[j]);
    } else if (field->kind == ONNXL_FIELD_MESSAGE && !is_walked(field->message)) {
      const ONNXL_LIST(char) *list = member;
      const char *const *single = member;
      const char *items = field->repeated ? list->items : *single;
      size_t count = field->repeated ? list->count : *single != NULL;
      for (size_t j = 0; j < count; j++)
        check_texts(check, at, field->message, items + j * field->message->size);
    }
  }
}

static void
texts(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  static const OnnxlMessageDescriptor *const descriptors[ONNXL_N_CHECK_KINDS] = {
    [ONNXL_CHECK_MODEL] = &onnxl_model_descriptor,         [ONNXL_CHECK_GRAPH] = &onnxl_graph_descriptor,
    [ONNXL_CHECK_FUNCTION] = &onnxl_function_descriptor,   [ONNXL_CHECK_NODE] = &onnxl_node_descriptor,
    [ONNXL_CHECK_ATTRIBUTE] = &onnxl_attribute_descriptor, [ONNXL_CHECK_INPUT] = &onnxl_value_info_descriptor,
    [ONNXL_CHECK_OUTPUT] = &onnxl_value_info_descriptor,   [ONNXL_CHECK_VALUE_INFO] = &onnxl_value_info_descriptor,
    [ONNXL_CHECK_TENSOR] = &onnxl_tensor_descriptor,
  };

  check_texts(check, at, descriptors[at->kind], at->message);
}
ONNXL_RULE(texts,
           ON(MODEL) | ON(GRAPH) | ON(FUNCTION) | ON(NODE) | ON(ATTRIBUTE) | ON(INPUT) | ON(OUTPUT) | ON(VALUE_INFO) |
             ON(TENSOR),
           NO_NEEDS, ONNXL_DIAG_UTF8_MODEL);
