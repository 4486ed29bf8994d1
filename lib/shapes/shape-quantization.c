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

/* Scale and zero point: one for all, a list along an axis, or from opset 21 on one for each block along it. */
static void
check_scales(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_ranked(n, 0), *scale = onnxl_shape_ranked(n, 1), *zero = onnxl_shape_ranked(n, 2);
  int64_t block = n->schema->since >= 21 ? onnxl_shape_int(n, "block_size") : 0;
  OnnxlExpr one = onnxl_shape_lit(n, 1), count = scale ? onnxl_info_count(n->pool, scale) : NULL;
  uint32_t axis;
  if (block < 0) {
    onnxl_shape_error(n, "block_size is %" G_GINT64_FORMAT, block);
    return;
  }
  if (!scale)
    return;
  if (onnxl_shape_never_equal(n, count, one) && !onnxl_shape_expect(n, 2, scale->dims, scale->rank))
    return;
  if (zero && onnxl_shape_never_equal(n, onnxl_info_count(n->pool, zero), count)) {
    onnxl_shape_misfit(n, 1, 2);
    return;
  }
  if (!x || (scale->rank <= 1 && !onnxl_shape_never_equal(n, count, one)))
    return;
  if (n->schema->since < 13 || (block == 0 && scale->rank != 1) || (block > 0 && scale->rank != x->rank)) {
    onnxl_shape_misfit(n, 0, 1);
    return;
  }
  if (!onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), x->rank, &axis))
    return;
  OnnxlExpr wanted[ONNXL_SHAPE_MAX_RANK];
  memcpy(wanted, x->dims, x->rank * sizeof *wanted);
  if (block > 0)
    wanted[axis] = onnxl_expr_ceil_div(n->pool, wanted[axis], onnxl_shape_lit(n, block));
  onnxl_shape_expect(n, 1, block > 0 ? wanted : wanted + axis, block > 0 ? x->rank : 1);
}

/* The type of the zero point, of output_dtype, else uint8. */
void
onnxl_shape_rule_quantize(OnnxlShapeNode *n)
{
  check_scales(n);
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
  check_scales(n);
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
  onnxl_shape_expect_bias(n, 8, 3, 0, 1);
  onnxl_shape_set_type(n, 0, type_of(n, 7));
}

/* Input i, a scale or zero point of a matrix product's operand: one number, a list along an axis (counted from the
 * last), or one that broadcasts to the operand. */
static bool
expect_parameter(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *of, uint32_t axis)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  if (!info || !of || !of->has_rank)
    return true;
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  if (info->rank == 0 || (info->rank == 1 && !onnxl_shape_never_equal(n, info->dims[0], one)))
    return true;
  if (info->rank == 1 && axis < of->rank && !onnxl_shape_never_equal(n, info->dims[0], of->dims[of->rank - 1 - axis]))
    return true;
  if (info->rank == of->rank)
    return onnxl_shape_expect_within(n, i, of->dims, of->rank);
  onnxl_shape_error(n, "input %u of shape %s does not fit a tensor of shape %s", i, onnxl_shape_text(n, info),
                    onnxl_shape_text(n, of));
  return false;
}

/* Rows of the left operand and columns of the right one. */
void
onnxl_shape_rule_matmul_integer(OnnxlShapeNode *n)
{
  onnxl_shape_matmul(n, 0, 1);
  if (!n->failed && expect_parameter(n, 2, onnxl_shape_ranked(n, 0), 1))
    expect_parameter(n, 3, onnxl_shape_ranked(n, 1), 0);
}

void
onnxl_shape_rule_qlinear_matmul(OnnxlShapeNode *n)
{
  onnxl_shape_matmul(n, 0, 3);
  const OnnxlInfo *product = n->n_outputs > 0 ? &n->outputs[0] : NULL;
  const struct {
    const OnnxlInfo *of;
    uint32_t axis;
  } parameters[] = { { product, 1 },                    /* a_scale */
                     { onnxl_shape_ranked(n, 0), 1 },   /* a_zero_point */
                     { NULL, 0 },                       /* b */
                     { product, 0 },                    /* b_scale */
                     { onnxl_shape_ranked(n, 3), 0 } }; /* b_zero_point */
  for (uint32_t i = 0; i < G_N_ELEMENTS(parameters) && !n->failed; i++)
    expect_parameter(n, i + 1, parameters[i].of, parameters[i].axis);
  onnxl_shape_set_type(n, 0, type_of(n, 7));
}
