/* Rules for graphs and lists of nodes: names. */
#include "check/check-internal.h"

/* Every name has one definition, before its uses and in scope. */
static void
resolved(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  OnnxlCheckBody *body = check->body;
  GError *error = NULL;

  body->index = onnxl_index_new(body->model, body->function, body->arena, check->sink, &error);
  if (!body->index) {
    onnxl_check_fail(check, error);
    return;
  }
  body->types = ONNXL_NEW_ARRAY(body->arena, OnnxlCheckType, body->index->n_values);
  if (!body->types)
    onnxl_check_exhausted(check);
}
ONNXL_RULE(resolved, ON(BODY), NO_NEEDS, ONNXL_DIAG_UNDEFINED_VALUE, ONNXL_DIAG_DUPLICATE_VALUE,
           ONNXL_DIAG_SHADOWED_VALUE, ONNXL_DIAG_OUTER_OUTPUT);

static void
graph_name(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (at->graph->name.size == 0)
    onnxl_check_report(check, at, ONNXL_DIAG_GRAPH_NAME, "the graph has no name");
}
ONNXL_RULE(graph_name, ON(GRAPH), NO_NEEDS, ONNXL_DIAG_GRAPH_NAME);

static void
names(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlGraph *graph = at->graph;

  for (size_t i = 0; i < graph->input.count; i++)
    if (graph->input.items[i].name.size == 0)
      onnxl_check_report(check, at, ONNXL_DIAG_EMPTY_NAME, "input %zu has no name", i);
  for (size_t i = 0; i < graph->output.count; i++)
    if (graph->output.items[i].name.size == 0)
      onnxl_check_report(check, at, ONNXL_DIAG_EMPTY_NAME, "output %zu has no name", i);
  for (size_t i = 0; i < graph->initializer.count; i++)
    if (graph->initializer.items[i].name.size == 0)
      onnxl_check_report(check, at, ONNXL_DIAG_EMPTY_NAME, "initializer %zu has no name", i);
  for (size_t i = 0; i < graph->sparse_initializer.count; i++) {
    const OnnxlTensor *values = graph->sparse_initializer.items[i].values;
    if (!values || values->name.size == 0)
      onnxl_check_report(check, at, ONNXL_DIAG_EMPTY_NAME, "sparse initializer %zu has no name", i);
  }
}
ONNXL_RULE(names, ON(GRAPH), NO_NEEDS, ONNXL_DIAG_EMPTY_NAME);

static void
initializer_inputs(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (onnxl_check_ir(check) >= 4 || onnxl_check_is_nested(at) || at->graph->initializer.count == 0)
    return;
  OnnxlMap inputs = onnxl_map_new(check->body->arena, at->graph->input.count);
  for (size_t i = 0; i < at->graph->input.count; i++)
    onnxl_check_add(check, &inputs, at->graph->input.items[i].name);
  for (size_t i = 0; i < at->graph->initializer.count; i++) {
    OnnxlStr name = at->graph->initializer.items[i].name;
    if (onnxl_map_get(&inputs, name) == ONNXL_MAP_NONE)
      onnxl_check_report_part(
        check, at, name, ONNXL_DIAG_IR_FEATURE,
        "initializer '%.*s' is no input, which it must be before ir_version 4; the model has %" G_GINT64_FORMAT,
        ONNXL_ARG(name), onnxl_check_ir(check));
  }
}
ONNXL_RULE(initializer_inputs, ON(GRAPH), NEEDS(ir_version), ONNXL_DIAG_IR_FEATURE);

/* Exporters put what belongs into a function's value_info into that of the main graph, as "domain::function/name". */
static bool
is_in_function(OnnxlStr name)
{
  return name.size > 0 && memmem(name.data, name.size, "::", 2) != NULL;
}

static void
value_infos(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (at->infos->count == 0)
    return;
  OnnxlMap defined = onnxl_check_names(check, at), seen = onnxl_map_new(check->body->arena, at->infos->count);
  for (size_t i = 0; i < at->infos->count; i++) {
    OnnxlStr name = at->infos->items[i].name;
    if (!onnxl_check_add(check, &seen, name))
      onnxl_check_report_part(check, at, name, ONNXL_DIAG_VALUE_INFO, "value_info has '%.*s' twice", ONNXL_ARG(name));
    else if (onnxl_map_get(&defined, name) == ONNXL_MAP_NONE && !is_in_function(name))
      onnxl_check_report_part(check, at, name, ONNXL_DIAG_VALUE_INFO,
                              "value_info has '%.*s', which this graph does not define", ONNXL_ARG(name));
  }
}
ONNXL_RULE(value_infos, ON(GRAPH) | ON(FUNCTION), NO_NEEDS, ONNXL_DIAG_VALUE_INFO);

/* Of bodies only: a branch or loop body may return one value as several results. */
static void
outputs_once(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (onnxl_check_is_nested(at))
    return;
  OnnxlMap seen = onnxl_map_new(check->body->arena, at->graph->output.count);
  for (size_t i = 0; i < at->graph->output.count; i++) {
    OnnxlStr name = at->graph->output.items[i].name;
    if (!onnxl_check_add(check, &seen, name))
      onnxl_check_report_part(check, at, name, ONNXL_DIAG_OUTPUT_TWICE, "the graph lists output '%.*s' twice",
                              ONNXL_ARG(name));
  }
}
ONNXL_RULE(outputs_once, ON(GRAPH), NO_NEEDS, ONNXL_DIAG_OUTPUT_TWICE);

static void
node_names(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  OnnxlMap seen = onnxl_map_new(check->body->arena, at->nodes->count);

  for (size_t i = 0; i < at->nodes->count; i++) {
    const OnnxlNode *node = &at->nodes->items[i];
    if (node->name.size > 0 && !onnxl_check_add(check, &seen, node->name))
      onnxl_check_report_part(check, at, node->name, ONNXL_DIAG_NODE_NAME, "two nodes are named '%.*s'",
                              ONNXL_ARG(node->name));
  }
}
ONNXL_RULE(node_names, ON(GRAPH) | ON(FUNCTION), NO_NEEDS, ONNXL_DIAG_NODE_NAME);

static void
annotations(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (at->graph->quantization_annotation.count == 0)
    return;
  OnnxlMap defined = onnxl_check_names(check, at);
  for (size_t i = 0; i < at->graph->quantization_annotation.count; i++) {
    const OnnxlAnnotation *annotation = &at->graph->quantization_annotation.items[i];
    if (onnxl_map_get(&defined, annotation->tensor_name) == ONNXL_MAP_NONE)
      onnxl_check_report_part(check, at, annotation->tensor_name, ONNXL_DIAG_ANNOTATION,
                              "quantization_annotation names '%.*s', which the graph does not define",
                              ONNXL_ARG(annotation->tensor_name));
    for (size_t j = 0; j < annotation->quant_parameter_tensor_names.count; j++) {
      const OnnxlPair *parameter = &annotation->quant_parameter_tensor_names.items[j];
      if (onnxl_map_get(&defined, parameter->value) == ONNXL_MAP_NONE)
        onnxl_check_report_part(check, at, annotation->tensor_name, ONNXL_DIAG_ANNOTATION,
                                "%.*s of '%.*s' is '%.*s', which the graph does not define", ONNXL_ARG(parameter->key),
                                ONNXL_ARG(annotation->tensor_name), ONNXL_ARG(parameter->value));
    }
  }
}
ONNXL_RULE(annotations, ON(GRAPH), NO_NEEDS, ONNXL_DIAG_ANNOTATION);

/* Names that annotations use: parameters of quantization are values that no node need read. */
static OnnxlMap
annotated(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  OnnxlMap used = onnxl_map_new(check->body->arena, 0);

  for (size_t i = 0; at->kind == ONNXL_CHECK_GRAPH && i < at->graph->quantization_annotation.count; i++) {
    const OnnxlAnnotation *annotation = &at->graph->quantization_annotation.items[i];
    for (size_t j = 0; j < annotation->quant_parameter_tensor_names.count; j++)
      onnxl_check_add(check, &used, annotation->quant_parameter_tensor_names.items[j].value);
  }
  return used;
}

static bool
is_used(const OnnxlIndex *index, uint32_t id, const OnnxlMap *annotated_names)
{
  const OnnxlIndexValue *value = &index->values[id];

  return value->n_uses > 0 || value->is_output ||
         (annotated_names->count > 0 && onnxl_map_get(annotated_names, value->name) != ONNXL_MAP_NONE);
}

/* Training uses what inference does not, so models with both are left alone. */
static void
unused(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlIndex *index = check->body->index;
  const OnnxlIndexGraph *graph = &index->graphs[at->index_graph];

  if (check->proto->training_info.count > 0)
    return;
  OnnxlMap used = annotated(check, at);
  for (uint32_t i = 0; i < graph->n_initializers; i++) {
    uint32_t id = graph->initializers[i];
    if (id != ONNXL_NONE && !is_used(index, id, &used))
      onnxl_check_report_part(check, at, index->values[id].name, ONNXL_DIAG_UNUSED_INITIALIZER,
                              "initializer '%.*s' is not used", ONNXL_ARG(index->values[id].name));
  }
  for (uint32_t i = 0; i < graph->n_nodes; i++) {
    const OnnxlIndexNode *node = &index->nodes[graph->first_node + i];
    OnnxlCheckPlace place = { .around = at, .kind = ONNXL_CHECK_NODE, .position = i, .node = node->proto };
    uint32_t n_outputs = 0, n_used = 0;
    for (uint32_t j = 0; j < node->n_outputs; j++)
      if (node->outputs[j] != ONNXL_NONE) {
        n_outputs++;
        n_used += is_used(index, node->outputs[j], &used);
      }
    if (n_outputs > 0 && n_used == 0)
      onnxl_check_report(check, &place, ONNXL_DIAG_UNUSED_NODE, "no output of the node is used");
  }
}
ONNXL_RULE(unused, ON(GRAPH) | ON(FUNCTION), NEEDS(resolved), ONNXL_DIAG_UNUSED_INITIALIZER, ONNXL_DIAG_UNUSED_NODE);
