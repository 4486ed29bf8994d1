/* Output sizes of Resize and Upsample. Shape inference and the kernel both use these functions, so they cannot
 * disagree.
 *
 * The region of interest has no part in them: ONNX's text multiplies a size by the length of the region as well, but
 * neither its own inference nor its reference implementation does. */
#ifndef ONNXL_SHAPES_RESIZE_H
#define ONNXL_SHAPES_RESIZE_H

#include "expr/expr.h"

/* floor(size * scale): exact for a scale p / 1024 with a whole p, which is what symbols need; the product of any other
 * scale is rounded to float, as ONNX's inference does. Returns false for a scale that is not positive and finite, and
 * for 2^62 and more. */
bool onnxl_resize_scaled(int64_t size, float scale, int64_t *ret_size) G_GNUC_WARN_UNUSED_RESULT;

/* The same of a symbol; NULL for a scale of the other kind. */
OnnxlExpr onnxl_resize_scaled_expr(OnnxlExprPool *pool, OnnxlExpr size, float scale);

/* keep_aspect_ratio_policy. */
typedef enum OnnxlAspect {
  ONNXL_ASPECT_STRETCH,     /* each axis gets its size */
  ONNXL_ASPECT_NOT_LARGER,  /* one scale for all, so that no axis exceeds its size */
  ONNXL_ASPECT_NOT_SMALLER, /* … falls short of it */
} OnnxlAspect;

/* Reads "stretch", "not_larger", "not_smaller" or an empty text. False: something else. */
bool onnxl_aspect_parse(OnnxlStr text, OnnxlAspect *ret_aspect) G_GNUC_WARN_UNUSED_RESULT;

/* The dims and scales of n axes for which sizes are wanted. Returns false for a negative size, for an empty axis that
 * is to get elements, and for sizes of 2^62 and more. */
bool onnxl_resize_fitted(const int64_t *dims, const int64_t *sizes, size_t n, OnnxlAspect aspect, int64_t *ret_dims,
                         float *ret_scales) G_GNUC_WARN_UNUSED_RESULT;

#endif
