/* Quantized types and operators on them. */
#include "shapes/shape-linalg-internal.h"
#include "shapes/shape-nn-internal.h"
#include "shapes/shape-rules.h"

static int32_t
type_of(const OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  return info ? info->elem_type : 0;
}

/* The type of the zero point, of output_dtype, else uint8. */
void
onnxl_shape_rule_quantize(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  int32_t type = n->schema->since >= 21 ? (int32_t)onnxl_shape_int(n, "output_dtype") : 0;
  if (onnxl_shape_input(n, 2))
    type = type_of(n, 2);
  onnxl_shape_set_type(n, 0, type != 0 || onnxl_shape_input(n, 2) ? type : ONNXL_TYPE_UINT8);
}

/* The type of output_dtype, else of the scale. */
void
onnxl_shape_rule_dequantize(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  int32_t type = n->schema->since >= 23 ? (int32_t)onnxl_shape_int(n, "output_dtype") : 0;
  onnxl_shape_set_type(n, 0, type != 0 ? type : type_of(n, 1));
}

/* y, and its scale and zero point. */
void
onnxl_shape_rule_dynamic_quantize(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  onnxl_shape_output(n, 1, 0);
  onnxl_shape_output(n, 2, 0);
}

void
onnxl_shape_rule_conv_integer(OnnxlShapeNode *n)
{
  onnxl_shape_convolution(n, 0, 1);
}

void
onnxl_shape_rule_qlinear_conv(OnnxlShapeNode *n)
{
  onnxl_shape_convolution(n, 0, 3);
  onnxl_shape_set_type(n, 0, type_of(n, 7));
}

void
onnxl_shape_rule_matmul_integer(OnnxlShapeNode *n)
{
  onnxl_shape_matmul(n, 0, 1);
}

void
onnxl_shape_rule_qlinear_matmul(OnnxlShapeNode *n)
{
  onnxl_shape_matmul(n, 0, 3);
  onnxl_shape_set_type(n, 0, type_of(n, 7));
}
