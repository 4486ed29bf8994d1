/* Calls of model functions: the body is inferred with the shapes, contents and attributes of each call. */
#include "shapes/shape-internal.h"

#include "support/error.h"

static bool
refers(const OnnxlNode *node)
{
  for (size_t i = 0; i < node->attribute.count; i++)
    if (!onnxl_str_is_empty(node->attribute.items[i].ref_attr_name))
      return true;
  return false;
}

static const OnnxlAttribute *
find(const OnnxlAttributeList *list, OnnxlStr name)
{
  for (size_t i = 0; i < list->count; i++)
    if (onnxl_str_equal(list->items[i].name, name))
      return &list->items[i];
  return NULL;
}

const OnnxlNode *
onnxl_shape_bind(OnnxlShapeScope *scope, const OnnxlNode *node)
{
  if (!scope->function || !refers(node))
    return node;
  OnnxlArena *arena = scope->run->arena;
  OnnxlNode *bound = ONNXL_NEW(arena, OnnxlNode);
  OnnxlAttribute *items = ONNXL_NEW_ARRAY(arena, OnnxlAttribute, node->attribute.count);
  if (!bound || !items)
    return NULL;
  *bound = *node;
  bound->attribute.items = items;
  bound->attribute.count = 0;
  for (size_t i = 0; i < node->attribute.count; i++) {
    OnnxlAttribute attribute = node->attribute.items[i];
    if (!onnxl_str_is_empty(attribute.ref_attr_name)) {
      const OnnxlAttribute *value = scope->call ? find(&scope->call->attribute, attribute.ref_attr_name) : NULL;
      if (!value)
        value = find(&scope->function->attribute_proto, attribute.ref_attr_name);
      if (!value) /* not given and without a default: as if it were not written */
        continue;
      OnnxlStr name = attribute.name;
      attribute = *value;
      attribute.name = name;
    }
    items[bound->attribute.count++] = attribute;
  }
  return bound;
}

static const OnnxlIndex *
index_of(OnnxlShapeRun *run, const OnnxlFunction *function)
{
  size_t i = (size_t)(function - run->model->proto.functions.items);
  if (!run->function_indexes[i])
    run->function_indexes[i] = onnxl_index_new(run->model, function, run->arena, run->sink, &run->error);
  return run->function_indexes[i];
}

void
onnxl_shape_call(OnnxlShapeNode *n, const OnnxlFunction *function)
{
  OnnxlShapeRun *run = n->run;
  if (run->n_calls++ >= ONNXL_SHAPE_MAX_CALLS) {
    onnxl_fail(&run->error, ONNXL_ERROR_LIMIT, "functions are called more than %d times", ONNXL_SHAPE_MAX_CALLS);
    return;
  }
  const OnnxlIndex *index = index_of(run, function);
  OnnxlShapeScope *scope = index ? onnxl_shape_scope_new(run, index, function) : NULL;
  if (!scope) {
    if (!run->error)
      onnxl_fail(&run->error, ONNXL_ERROR_LIMIT, "shape inference needs more metadata than --max-metadata allows");
    return;
  }
  const char *path = onnxl_index_node_path(n->scope->index, n->id, n->arena);
  scope->call = n->proto;
  scope->caller = n->scope;
  scope->caller_graph = n->node->graph;
  scope->path = onnxl_arena_printf(n->arena, "%s%s", n->scope->path, path ? path : "").data;
  if (!scope->path)
    scope->path = "";
  scope->conditional = n->scope->conditional || n->node->graph != 0;
  n->scope->calls[n->id] = &scope->inference;
  const OnnxlIndexGraph *g = &index->graphs[0];
  for (uint32_t i = 0; i < g->n_inputs; i++) {
    const OnnxlInfo *input = onnxl_shape_input(n, i);
    if (input)
      scope->values[g->inputs[i]] = *input;
    else
      scope->omitted[g->inputs[i]] = true;
  }
  if (n->n_inputs > g->n_inputs) {
    onnxl_shape_error(n, "%u inputs are given where the function takes %u", n->n_inputs, g->n_inputs);
    return;
  }
  if (!onnxl_shape_walk(scope, 0))
    return;
  for (uint32_t i = 0; i < n->n_outputs && i < g->n_outputs; i++)
    if (g->outputs[i] != ONNXL_NONE)
      n->outputs[i] = scope->values[g->outputs[i]];
}
