#include "shapes/contents.h"

#include "shapes/broadcast.h"

bool
onnxl_shape_literal_dims(const OnnxlInfo *info, int64_t *ret_dims)
{
  if (!info->has_rank || info->rank > ONNXL_SHAPE_MAX_RANK)
    return false;
  for (uint32_t i = 0; i < info->rank; i++)
    if (!info->dims[i] || !onnxl_expr_is_int(info->dims[i], &ret_dims[i]) || ret_dims[i] < 0)
      return false;
  return true;
}

void
onnxl_shape_move(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *source, const uint32_t *map, uint64_t count)
{
  if (i >= n->n_outputs || !source || count > ONNXL_SHAPE_MAX_CONTENTS)
    return;
  OnnxlInfo *out = &n->outputs[i];
  if (source->contents) {
    OnnxlExpr *contents = onnxl_shape_contents(n, i, count);
    for (uint64_t k = 0; contents && k < count; k++)
      contents[k] = source->contents[map ? map[k] : k];
  } else if (source->reals) {
    double *reals = ONNXL_NEW_ARRAY(n->arena, double, count);
    for (uint64_t k = 0; reals && k < count; k++)
      reals[k] = source->reals[map ? map[k] : k];
    out->reals = reals;
    out->n_contents = reals ? (uint32_t)count : 0;
  }
}

int64_t
onnxl_shape_small(const OnnxlShapeNode *n, uint32_t i)
{
  int64_t count;
  if (i >= n->n_outputs || !n->outputs[i].has_rank)
    return -1;
  /* Most tensors are large or symbolic: look at the dims before a product is made. */
  for (uint32_t k = 0; k < n->outputs[i].rank; k++) {
    OnnxlExpr dim = n->outputs[i].dims[k];
    if (!dim || !onnxl_expr_is_int(dim, &count) || count > ONNXL_SHAPE_MAX_CONTENTS)
      return -1;
  }
  OnnxlExpr product = onnxl_info_count(n->pool, &n->outputs[i]);
  return product && onnxl_expr_is_int(product, &count) && count <= ONNXL_SHAPE_MAX_CONTENTS ? count : -1;
}

const uint32_t *
onnxl_shape_broadcast_map(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *input, uint32_t count)
{
  int64_t dims[ONNXL_SHAPE_MAX_RANK], out[ONNXL_SHAPE_MAX_RANK], strides[ONNXL_SHAPE_MAX_RANK];
  int64_t index[ONNXL_SHAPE_MAX_RANK] = { 0 };
  uint32_t rank = n->outputs[i].rank;
  if (!onnxl_shape_literal_dims(&n->outputs[i], out) || !onnxl_shape_literal_dims(input, dims) || input->rank > rank)
    return NULL;
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, count);
  if (!map)
    return NULL;
  onnxl_broadcast_strides(dims, input->rank, strides, rank);
  for (uint32_t k = 0; k < count; k++) {
    int64_t at = 0;
    for (uint32_t d = 0; d < rank; d++)
      at += index[d] * strides[d];
    if (at >= input->n_contents)
      return NULL;
    map[k] = (uint32_t)at;
    for (uint32_t d = rank; d > 0 && ++index[d - 1] == out[d - 1]; d--)
      index[d - 1] = 0;
  }
  return map;
}

OnnxlExpr
onnxl_shape_fit(OnnxlShapeNode *n, OnnxlExpr e, int32_t elem_type)
{
  static const struct {
    int64_t min, max;
  } ranges[ONNXL_N_TYPES] = {
    [ONNXL_TYPE_BOOL] = { 0, 1 },
    [ONNXL_TYPE_UINT8] = { 0, UINT8_MAX },
    [ONNXL_TYPE_INT8] = { INT8_MIN, INT8_MAX },
    [ONNXL_TYPE_UINT16] = { 0, UINT16_MAX },
    [ONNXL_TYPE_INT16] = { INT16_MIN, INT16_MAX },
    [ONNXL_TYPE_UINT32] = { 0, UINT32_MAX },
    [ONNXL_TYPE_INT32] = { INT32_MIN, INT32_MAX },
    [ONNXL_TYPE_UINT64] = { 0, INT64_MAX },
    [ONNXL_TYPE_INT64] = { INT64_MIN, INT64_MAX },
  };
  if (!e || elem_type <= 0 || elem_type >= ONNXL_N_TYPES || ranges[elem_type].max == 0)
    return NULL;
  int64_t min = onnxl_shape_min(n, e), max = onnxl_shape_max(n, e);
  if (min >= ranges[elem_type].min && max <= ranges[elem_type].max)
    return e;
  if (onnxl_expr_is_int(e, NULL))
    return NULL;
  /* Sizes are followed through int32 arithmetic, which exporters use for shapes, on the condition that they fit. */
  if (elem_type == ONNXL_TYPE_INT32 && min >= INT32_MIN) {
    onnxl_shape_add_constraint(n->run, e, ONNXL_REL_LE, onnxl_shape_lit(n, INT32_MAX));
    return e;
  }
  /* Sums and products of sizes stay below 2^63 in every run that can have such tensors. */
  return elem_type == ONNXL_TYPE_INT64 || (elem_type == ONNXL_TYPE_UINT64 && min >= 0) ? e : NULL;
}

OnnxlExpr
onnxl_shape_truth(const OnnxlShapeNode *n, int known)
{
  return known < 0 ? NULL : onnxl_shape_lit(n, known);
}
