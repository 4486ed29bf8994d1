/* Reductions over axes. */
#include "shapes/shape-rules.h"

static void
reduced_dims(OnnxlShapeNode *n, const OnnxlInfo *input, const bool *marks, bool keep)
{
  uint32_t rank = 0;
  for (uint32_t i = 0; i < input->rank; i++)
    rank += keep || !marks[i];
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0, k = 0; i < input->rank; i++)
    if (keep || !marks[i])
      dims[k++] = marks[i] ? onnxl_shape_lit(n, 1) : input->dims[i];
}

/* Returns true when everything is reduced. Axes are an attribute at first, from opset 18 (ReduceSum: 13) on an input.
 */
static bool
reduce(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  bool present, marks[ONNXL_SHAPE_MAX_RANK] = { false };
  bool keep = onnxl_shape_int(n, "keepdims") != 0;
  uint32_t count;
  const int64_t *axes = onnxl_shape_ints(n, "axes", 1, &count, &present);
  if (!input)
    return false;
  if (present && !axes) { /* known at run time only; an empty list may mean none or all */
    int64_t length = onnxl_shape_length(n, 1);
    if (keep)
      onnxl_shape_output(n, 0, input->rank);
    else if (length > 0 && length <= input->rank)
      onnxl_shape_output(n, 0, input->rank - (uint32_t)length);
    return false;
  }
  if (!present || count == 0) {
    bool noop = onnxl_shape_int(n, "noop_with_empty_axes") != 0;
    if (noop) {
      onnxl_shape_same(n, 0, input);
      return false;
    }
    for (uint32_t i = 0; i < input->rank; i++)
      marks[i] = true;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis;
    if (!onnxl_shape_axis(n, axes[i], input->rank, &axis))
      return false;
    if (marks[axis]) {
      onnxl_shape_error(n, "axis %" G_GINT64_FORMAT " stands twice", axes[i]);
      return false;
    }
    marks[axis] = true;
  }
  reduced_dims(n, input, marks, keep);
  for (uint32_t i = 0; i < input->rank; i++)
    if (!marks[i])
      return false;
  return true;
}

void
onnxl_shape_rule_reduce(OnnxlShapeNode *n)
{
  reduce(n);
}

typedef OnnxlExpr (*Fold)(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);

static void
fold(OnnxlShapeNode *n, Fold f, int64_t neutral)
{
  uint32_t count;
  const OnnxlExpr *values = onnxl_shape_values(n, 0, &count);
  if (!reduce(n) || !values || (count == 0 && (f == onnxl_expr_max || f == onnxl_expr_min)))
    return;
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, 1);
  OnnxlExpr result = count > 0 ? values[0] : onnxl_shape_lit(n, neutral);
  for (uint32_t i = 1; i < count; i++)
    result = f(n->pool, result, values[i]);
  if (contents)
    contents[0] = onnxl_shape_fit(n, result, n->inputs[0]->elem_type);
}

void
onnxl_shape_rule_reduce_sum(OnnxlShapeNode *n)
{
  fold(n, onnxl_expr_add, 0);
}

void
onnxl_shape_rule_reduce_prod(OnnxlShapeNode *n)
{
  fold(n, onnxl_expr_mul, 1);
}

void
onnxl_shape_rule_reduce_max(OnnxlShapeNode *n)
{
  fold(n, onnxl_expr_max, 0);
}

void
onnxl_shape_rule_reduce_min(OnnxlShapeNode *n)
{
  fold(n, onnxl_expr_min, 0);
}

void
onnxl_shape_rule_arg(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  bool marks[ONNXL_SHAPE_MAX_RANK] = { false };
  uint32_t axis;
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis))
    return;
  marks[axis] = true;
  reduced_dims(n, input, marks, onnxl_shape_int(n, "keepdims") != 0);
  if (onnxl_shape_is(input->dims[axis], 0) && n->n_outputs > 0 &&
      onnxl_shape_min(n, onnxl_info_count(n->pool, &n->outputs[0])) > 0)
    onnxl_shape_error(n, "axis %u of %s is empty", axis, onnxl_shape_text(n, input));
}
