/* Following the values of small tensors, which shapes are computed from. */
#ifndef ONNXL_SHAPES_CONTENTS_H
#define ONNXL_SHAPES_CONTENTS_H

#include "shapes/shape-internal.h"

/* The dims of info as numbers. False: not all are literals. */
bool onnxl_shape_literal_dims(const OnnxlInfo *info, int64_t *ret_dims);

/* Output i has the elements of source in the order of map, count indices into its contents (NULL: the same order). Does
 * nothing when they are not followed. */
void onnxl_shape_move(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *source, const uint32_t *map, uint64_t count);

/* The number of elements of output i when its dims are literals and it is small enough to follow, else -1. */
int64_t onnxl_shape_small(const OnnxlShapeNode *n, uint32_t i);

/* For the element-wise rules: for each of count elements of output i the index into an input's contents. NULL when the
 * input does not broadcast to it. */
const uint32_t *onnxl_shape_broadcast_map(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *input, uint32_t count);

/* e as an element of a type: NULL when it may not fit, so that it would wrap. */
OnnxlExpr onnxl_shape_fit(OnnxlShapeNode *n, OnnxlExpr e, int32_t elem_type);

/* 1, 0, or NULL when not known. */
OnnxlExpr onnxl_shape_truth(const OnnxlShapeNode *n, int known);

#endif
