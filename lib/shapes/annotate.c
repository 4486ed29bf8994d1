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
  } else if ((dim->has_dim_value && dim->dim_value < 0) ||
             (!dim->has_dim_value && onnxl_str_is_empty(dim->dim_param))) {
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
    if (!type->shape || (info->rank > 0 && !ONNXL_EXTEND(model->arena, &type->shape->dim, info->rank)))
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
  if (depth > MAX_TYPE_DEPTH || (!element && !tensor) || (tensor && info->elem_type == 0) ||
      (element && !info->element))
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
  } else if (!fresh) {
    OnnxlElementType *declared = info->kind == ONNXL_KIND_SEQUENCE   ? t->sequence_type
                                 : info->kind == ONNXL_KIND_OPTIONAL ? t->optional_type
                                                                     : NULL;
    if (declared && declared->elem_type)
      put_type(model, pool, info->element, info->element->dims, depth + 1, &declared->elem_type);
  } else if (info->kind == ONNXL_KIND_MAP) {
    if ((t->map_type = ONNXL_NEW(model->arena, OnnxlMapType)))
      *t->map_type = (OnnxlMapType){ .has_key_type = true, .key_type = info->elem_type, .value_type = inner };
  } else {
    OnnxlElementType *e = ONNXL_NEW(model->arena, OnnxlElementType);
    if (e)
      e->elem_type = inner;
    *(info->kind == ONNXL_KIND_SEQUENCE ? &t->sequence_type : &t->optional_type) = e;
  }
  return true;
}

/* Types that were made, by element type and dims: most values of a large model have the type of another one, and
 * values share it. */
typedef struct TypeCache {
  OnnxlMap ids;
  OnnxlType **types;
  size_t n, capacity;
} TypeCache;

/* Ranks above this are not looked for. */
#define MAX_CACHED_RANK 8

/* Expressions are equal when their addresses are. */
typedef struct TypeKey {
  uint64_t elem_type, rank;
  OnnxlExpr dims[MAX_CACHED_RANK];
} TypeKey;

static OnnxlType *
new_tensor_type(OnnxlModel *model, const OnnxlInference *inference, TypeCache *cache, const OnnxlInfo *info,
                const OnnxlExpr *dims)
{
  TypeKey key = { .elem_type = (uint64_t)info->elem_type, .rank = info->rank };
  memcpy(key.dims, dims, info->rank * sizeof *dims);
  OnnxlStr bytes = onnxl_str_n((const char *)&key, offsetof(TypeKey, dims) + info->rank * sizeof *dims);
  uint32_t found = onnxl_map_get(&cache->ids, bytes);
  if (found != ONNXL_MAP_NONE)
    return cache->types[found];
  OnnxlType *type = NULL;
  if (!put_type(model, inference->pool, info, dims, 0, &type))
    return NULL;
  bytes = onnxl_arena_copy(model->arena, bytes);
  if (bytes.data && ONNXL_GROW(model->arena, &cache->types, cache->n, &cache->capacity) &&
      onnxl_map_put(&cache->ids, bytes, (uint32_t)cache->n, NULL))
    cache->types[cache->n++] = type;
  return type;
}

/* The type of a value that has no entry; NULL when not enough is known. */
static OnnxlType *
new_type(OnnxlModel *model, const OnnxlInference *inference, TypeCache *cache, uint32_t id)
{
  const OnnxlInfo *info = &inference->values[id];
  const OnnxlExpr *dims = onnxl_inference_shown_dims(inference, id);
  if (info->kind == ONNXL_KIND_TENSOR && info->has_rank && info->rank > 0 && info->rank <= MAX_CACHED_RANK)
    return new_tensor_type(model, inference, cache, info, dims);
  OnnxlType *type = NULL;
  return put_type(model, inference->pool, info, dims, 0, &type) ? type : NULL;
}

/* Inference and the model share these structs: what index calls constant is this model's own. Returns the
 * type of the value's entry, completed, or a new one; NULL when not enough is known. */
static OnnxlType *
completed_type(OnnxlModel *model, const OnnxlInference *inference, uint32_t id)
{
  OnnxlType *type = inference->index->values[id].info->type;
  if (type && !type->tensor_type && !type->sparse_tensor_type && !type->sequence_type && !type->optional_type &&
      !type->map_type && !type->opaque_type)
    type = NULL;
  bool known =
    put_type(model, inference->pool, &inference->values[id], onnxl_inference_shown_dims(inference, id), 0, &type);
  return known ? type : NULL;
}

/* Completes the entries that exist. Those that are to be added are counted by graph. */
static void
complete_entries(OnnxlModel *model, const OnnxlInference *inference, uint32_t *counts)
{
  const OnnxlIndex *index = inference->index;
  for (uint32_t id = 0; id < index->n_values; id++) {
    const OnnxlIndexValue *value = &index->values[id];
    bool input = value->kind == ONNXL_VALUE_INPUT && value->graph == 0;
    if (value->kind != ONNXL_VALUE_NODE_OUTPUT && !input)
      continue;
    OnnxlType *type = value->info ? completed_type(model, inference, id) : NULL;
    if (type)
      ((OnnxlValueInfo *)value->info)->type = type;
    counts[value->graph] += !value->info && !input;
  }
}

static void
add_entries(OnnxlModel *model, const OnnxlInference *inference, const uint32_t *counts, OnnxlValueInfo **next)
{
  const OnnxlIndex *index = inference->index;
  for (uint32_t g = 0; g < index->n_graphs; g++) {
    OnnxlGraph *graph = (OnnxlGraph *)index->graphs[g].proto;
    if (counts[g] > 0 && !(next[g] = ONNXL_EXTEND(model->arena, &graph->value_info, counts[g])))
      return;
  }
  TypeCache cache = { .ids = onnxl_map_new(model->arena, 0) };
  for (uint32_t id = 0; id < index->n_values; id++) {
    const OnnxlIndexValue *value = &index->values[id];
    bool missing = !value->info && value->kind == ONNXL_VALUE_NODE_OUTPUT;
    OnnxlType *type = missing ? new_type(model, inference, &cache, id) : NULL;
    if (!type)
      continue;
    next[value->graph]->name = value->name;
    next[value->graph]->type = type;
    next[value->graph]++;
  }
  /* Room that was kept for values of which nothing is known. */
  for (uint32_t g = 0; g < index->n_graphs; g++) {
    OnnxlGraph *graph = (OnnxlGraph *)index->graphs[g].proto;
    if (counts[g] > 0)
      graph->value_info.count = (size_t)(next[g] - graph->value_info.items);
  }
}

bool
onnxl_shapes_annotate(OnnxlModel *model, const OnnxlInference *inference, GError **error)
{
  uint32_t n = inference->index->n_graphs;
  uint32_t *counts = ONNXL_NEW_ARRAY(model->arena, uint32_t, n);
  OnnxlValueInfo **next = ONNXL_NEW_ARRAY(model->arena, OnnxlValueInfo *, n);
  if (counts && next) {
    complete_entries(model, inference, counts);
    add_entries(model, inference, counts, next);
  }
  return !onnxl_arena_exhausted(model->arena) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "the annotated model needs more metadata than --max-metadata allows");
}
