#include "shapes/annotate.h"

#include "support/error.h"

/* Types nest (sequences of optionals of …); deeper ones are left alone. */
#define MAX_TYPE_DEPTH 16

static void
put_dim(OnnxlExprPool *pool, OnnxlExpr e, OnnxlDimension *dim)
{
  int64_t value;
  bool literal = e && onnxl_expr_is_int(e, &value);
  if (!e)
    return;
  if (literal) {
    dim->has_dim_value = true;
    dim->dim_value = value;
    dim->dim_param = (OnnxlStr){ 0 };
  } else if ((dim->has_dim_value && dim->dim_value < 0) || (!dim->has_dim_value && onnxl_str_is_empty(dim->dim_param))) {
    dim->has_dim_value = false;
    dim->dim_param = onnxl_expr_text(pool, e);
  }
}

static void
put_shape(OnnxlModel *model, OnnxlExprPool *pool, const OnnxlInfo *info, const OnnxlExpr *dims, OnnxlTensorType *type)
{
  if (!type->has_elem_type || type->elem_type == 0) {
    type->has_elem_type = true;
    type->elem_type = info->elem_type;
  }
  if (!info->has_rank)
    return;
  if (!type->shape || type->shape->dim.count != info->rank) {
    type->shape = ONNXL_NEW(model->arena, OnnxlShapeProto);
    for (uint32_t i = 0; type->shape && i < info->rank; i++)
      if (!ONNXL_APPEND(model->arena, &type->shape->dim))
        return;
  }
  for (uint32_t i = 0; type->shape && i < info->rank; i++)
    put_dim(pool, dims[i], &type->shape->dim.items[i]);
}

/* False: not enough is known to write a type. */
static bool
put_type(OnnxlModel *model, OnnxlExprPool *pool, const OnnxlInfo *info, const OnnxlExpr *dims, unsigned depth,
         OnnxlType **type)
{
  bool element = info->kind == ONNXL_KIND_SEQUENCE || info->kind == ONNXL_KIND_OPTIONAL || info->kind == ONNXL_KIND_MAP;
  bool tensor = info->kind == ONNXL_KIND_TENSOR || info->kind == ONNXL_KIND_SPARSE_TENSOR;
  if (depth > MAX_TYPE_DEPTH || (!element && !tensor) || (tensor && info->elem_type == 0) || (element && !info->element))
    return false;
  OnnxlType *inner = NULL;
  if (element && !*type && !put_type(model, pool, info->element, info->element->dims, depth + 1, &inner))
    return false;
  bool fresh = !*type;
  if (fresh && !(*type = ONNXL_NEW(model->arena, OnnxlType)))
    return false;
  OnnxlType *t = *type;
  if (info->kind == ONNXL_KIND_TENSOR) {
    if (fresh)
      t->tensor_type = ONNXL_NEW(model->arena, OnnxlTensorType);
    if (t->tensor_type)
      put_shape(model, pool, info, dims, t->tensor_type);
  } else if (info->kind == ONNXL_KIND_SPARSE_TENSOR) {
    if (fresh)
      t->sparse_tensor_type = ONNXL_NEW(model->arena, OnnxlTensorType);
    if (t->sparse_tensor_type)
      put_shape(model, pool, info, dims, t->sparse_tensor_type);
  } else if (fresh && info->kind == ONNXL_KIND_MAP) {
    if ((t->map_type = ONNXL_NEW(model->arena, OnnxlMapType)))
      *t->map_type = (OnnxlMapType){ .has_key_type = true, .key_type = info->elem_type, .value_type = inner };
  } else if (fresh) {
    OnnxlElementType *e = ONNXL_NEW(model->arena, OnnxlElementType);
    if (e)
      e->elem_type = inner;
    *(info->kind == ONNXL_KIND_SEQUENCE ? &t->sequence_type : &t->optional_type) = e;
  }
  return true;
}

/* Inference and the model share these structs: what index calls constant is this model's own. */
static void
annotate_value(OnnxlModel *model, const OnnxlInference *inference, uint32_t id)
{
  const OnnxlIndexValue *value = &inference->index->values[id];
  OnnxlValueInfo *entry = (OnnxlValueInfo *)value->info;
  OnnxlType *type = entry ? entry->type : NULL;
  if (type && !type->tensor_type && !type->sparse_tensor_type && !type->sequence_type && !type->optional_type
      && !type->map_type && !type->opaque_type)
    type = NULL;
  if (!put_type(model, inference->pool, &inference->values[id], onnxl_inference_shown_dims(inference, id), 0, &type))
    return;
  if (!entry) {
    OnnxlGraph *graph = (OnnxlGraph *)inference->index->graphs[value->graph].proto;
    entry = ONNXL_APPEND(model->arena, &graph->value_info);
    if (!entry)
      return;
    entry->name = value->name;
  }
  entry->type = type;
}

bool
onnxl_shapes_annotate(OnnxlModel *model, const OnnxlInference *inference, GError **error)
{
  const OnnxlIndex *index = inference->index;
  /* Entries are appended to lists whose items the index points at, so those that exist come first. */
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t id = 0; id < index->n_values; id++) {
      const OnnxlIndexValue *value = &index->values[id];
      bool input = value->kind == ONNXL_VALUE_INPUT && value->info && value->graph == 0;
      if ((value->kind == ONNXL_VALUE_NODE_OUTPUT || input) && (value->info != NULL) == (pass == 0))
        annotate_value(model, inference, id);
    }
  return !onnxl_arena_exhausted(model->arena)
         || onnxl_fail(error, ONNXL_ERROR_LIMIT, "the annotated model needs more metadata than --max-metadata allows");
}
