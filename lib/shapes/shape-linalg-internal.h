#ifndef ONNXL_SHAPES_SHAPE_LINALG_INTERNAL_H
#define ONNXL_SHAPES_SHAPE_LINALG_INTERNAL_H

#include "shapes/shape-internal.h"

/* Output 0 is the matrix product of two inputs. */
void onnxl_shape_matmul(OnnxlShapeNode *n, uint32_t left, uint32_t right);

#endif
