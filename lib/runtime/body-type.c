/* What a nested graph that never ran would have handed back: inferred from the types of what it would have been given.
 */
#include "runtime/context-internal.h"
#include "runtime/value-type.h"

/* Lists of integers that are given to inference as they are: shapes, axes and the like. */
#define MAX_CONTENTS 64

static bool
decides_shapes(const OnnxlValue *value)
{
  return (onnxl_value_is_tensor(value, ONNXL_TYPE_INT64) || onnxl_value_is_tensor(value, ONNXL_TYPE_INT32)) &&
         value->rank <= 1 && value->count <= MAX_CONTENTS;
}

/* A value from outside becomes an initializer where its numbers may decide shapes, else an input. The lists have room.
 */
static void
add_captured(OnnxlGraph *graph, OnnxlStr name, OnnxlValue *value, OnnxlArena *arena)
{
  if (decides_shapes(value))
    graph->initializer.items[graph->initializer.count++] =
      (OnnxlTensor){ .name = name,
                     .has_data_type = true,
                     .data_type = value->elem_type,
                     .dims = { .items = value->dims, .count = value->rank },
                     .raw_data = { .data = value->data, .size = value->bytes } };
  else
    graph->input.items[graph->input.count++] = (OnnxlValueInfo){ .name = name, .type = onnxl_value_type(value, arena) };
}

/* Nodes in which the calls around them have put the values of the attributes that they refer to. */
static void
resolve_references(const OnnxlFrame *frame, OnnxlNodeList *nodes, OnnxlArena *arena)
{
  OnnxlNode *items = ONNXL_NEW_ARRAY(arena, OnnxlNode, nodes->count);
  for (size_t i = 0; items && i < nodes->count; i++) {
    const OnnxlAttributeList *list = &nodes->items[i].attribute;
    OnnxlAttribute *attributes = ONNXL_NEW_ARRAY(arena, OnnxlAttribute, list->count);
    items[i] = nodes->items[i];
    items[i].attribute = (OnnxlAttributeList){ .items = attributes };
    for (size_t k = 0; attributes && k < list->count; k++) {
      const OnnxlAttribute *attribute = &list->items[k];
      if (!onnxl_str_is_empty(attribute->ref_attr_name))
        attribute = onnxl_frame_attribute(frame, &nodes->items[i], list->items[k].name);
      if (!attribute)
        continue;
      OnnxlAttribute *copy = &attributes[items[i].attribute.count++];
      *copy = *attribute;
      copy->name = list->items[k].name;
      bool nested = copy->g && attribute == &list->items[k];
      OnnxlGraph *graph = nested ? ONNXL_NEW(arena, OnnxlGraph) : NULL;
      if (!graph)
        continue;
      *graph = *copy->g;
      resolve_references(frame, &graph->node, arena);
      copy->g = graph;
    }
  }
  nodes->items = items;
}

/* The body as a main graph: its inputs typed, what it takes from around it among them. */
static OnnxlGraph *
standing_alone(const OnnxlKernelContext *context, const OnnxlIndexGraph *body, OnnxlType *const *inputs,
               OnnxlArena *arena)
{
  const OnnxlIndex *index = context->frame->body->index;
  const OnnxlIndexNode *node = &index->nodes[context->node];
  OnnxlGraph *graph = ONNXL_NEW(arena, OnnxlGraph);
  if (!graph)
    return NULL;
  *graph = *body->proto;
  /* Copies, with room for what is captured. */
  if (!ONNXL_EXTEND(arena, &graph->initializer, node->n_captures + 1) ||
      !ONNXL_EXTEND(arena, &graph->input, node->n_captures + 1))
    return NULL;
  graph->initializer.count = body->proto->initializer.count;
  graph->input.count = body->proto->input.count;
  for (uint32_t i = 0; i < body->n_inputs; i++)
    if (inputs[i])
      graph->input.items[i].type = inputs[i];
  for (uint32_t i = 0; i < node->n_captures; i++) {
    OnnxlValue *value = context->frame->values[node->captures[i]];
    if (value)
      add_captured(graph, index->values[node->captures[i]].name, value, arena);
  }
  if (context->frame->call)
    resolve_references(context->frame, &graph->node, arena);
  return onnxl_arena_exhausted(arena) ? NULL : graph;
}

static OnnxlInference *
infer_alone(const OnnxlKernelContext *context, OnnxlGraph *graph, OnnxlArena *arena)
{
  const OnnxlFunction *function = context->frame->body->function;
  OnnxlModel *model = ONNXL_NEW(arena, OnnxlModel);
  if (!model)
    return NULL;
  *model = *context->executor->plan->model;
  model->proto.graph = graph;
  if (function)
    model->proto.opset_import = function->opset_import;
  OnnxlDiagSink *ignored = onnxl_diag_sink_new(NULL); /* the body did not run: what is wrong in it is no matter */
  OnnxlInference *inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, arena, ignored, NULL);
  onnxl_diag_sink_free(ignored);
  return inference;
}

static OnnxlType *
type_of(const OnnxlInfo *info, OnnxlArena *arena)
{
  OnnxlType *type = ONNXL_NEW(arena, OnnxlType);
  OnnxlTensorType *tensor = type ? ONNXL_NEW(arena, OnnxlTensorType) : NULL;
  if (!tensor)
    return NULL;
  *type = (OnnxlType){ .tensor_type = tensor };
  *tensor = (OnnxlTensorType){ .has_elem_type = true, .elem_type = info->elem_type };
  OnnxlShapeProto *shape = info->has_rank ? ONNXL_NEW(arena, OnnxlShapeProto) : NULL;
  if (!shape || (info->rank > 0 && !ONNXL_EXTEND(arena, &shape->dim, info->rank)))
    return type;
  for (uint32_t k = 0; k < info->rank; k++) {
    OnnxlDimension *dim = &shape->dim.items[k];
    dim->has_dim_value = info->dims[k] && onnxl_expr_is_int(info->dims[k], &dim->dim_value) && dim->dim_value >= 0;
  }
  tensor->shape = shape;
  return type;
}

const OnnxlType *const *
onnxl_ctx_subgraph_types(const OnnxlKernelContext *context, uint32_t g, OnnxlType *const *inputs, OnnxlArena *arena)
{
  const OnnxlBody *around = context->frame->body;
  const OnnxlIndexGraph *body = &around->index->graphs[around->index->nodes[context->node].first_subgraph + g];
  const OnnxlType **types = ONNXL_NEW_ARRAY(arena, const OnnxlType *, body->n_outputs);
  if (!types)
    return NULL;
  for (uint32_t i = 0; i < body->n_outputs; i++)
    types[i] = body->proto->output.items[i].type;
  OnnxlGraph *graph = standing_alone(context, body, inputs, arena);
  OnnxlInference *inference = graph ? infer_alone(context, graph, arena) : NULL;
  if (!inference)
    return types;
  for (uint32_t i = 0; i < body->n_outputs; i++) {
    const OnnxlInfo *info = &inference->values[inference->index->graphs[0].outputs[i]];
    OnnxlType *type = info->kind == ONNXL_KIND_TENSOR && info->elem_type != 0 ? type_of(info, arena) : NULL;
    if (type)
      types[i] = type;
  }
  onnxl_inference_free(inference);
  return types;
}
