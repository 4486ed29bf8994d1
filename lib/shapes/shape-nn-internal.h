/* Windows of convolutions, for the families that have some. */
#ifndef ONNXL_SHAPES_SHAPE_NN_INTERNAL_H
#define ONNXL_SHAPES_SHAPE_NN_INTERNAL_H

#include "shapes/pooling.h"
#include "shapes/shape-internal.h"

/* The windows along spatial axes from the node's attributes; kernel: sizes to take when there is no kernel_shape (NULL:
 * there must be one), a kernel of 0 then means unknown. False: a finding was made. */
bool onnxl_shape_windows(OnnxlShapeNode *n, uint32_t spatial, const OnnxlExpr *kernel, OnnxlWindow *windows);

/* A convolution of input x by the weight w. */
void onnxl_shape_convolution(OnnxlShapeNode *n, uint32_t x, uint32_t w);

/* Input i must have times the size of a dim of the weight w: a value for each map that comes out. */
void onnxl_shape_expect_bias(OnnxlShapeNode *n, uint32_t i, uint32_t w, uint32_t axis, int64_t times);

#endif
