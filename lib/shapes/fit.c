/* What the operands of a node must be. Each function reports an operand that cannot be that in any run, with its shape
 * and the one that is needed. */
#include "shapes/shape-internal.h"

static const char *
dims_text(OnnxlShapeNode *n, const OnnxlExpr *dims, uint32_t rank)
{
  return onnxl_shape_text(n, &(OnnxlInfo){ .has_rank = true, .rank = rank, .dims = dims });
}

const OnnxlInfo *
onnxl_shape_of_ranks(OnnxlShapeNode *n, uint32_t i, uint32_t min, uint32_t max)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  if (!info || (info->rank >= min && info->rank <= max))
    return info;
  const char *text = onnxl_shape_text(n, info);
  if (min == max)
    onnxl_shape_error(n, "input %u has shape %s where rank %u is needed", i, text, min);
  else if (max == UINT32_MAX)
    onnxl_shape_error(n, "input %u has shape %s where rank %u or more is needed", i, text, min);
  else
    onnxl_shape_error(n, "input %u has shape %s where rank %u to %u is needed", i, text, min, max);
  return NULL;
}

const OnnxlInfo *
onnxl_shape_of_rank(OnnxlShapeNode *n, uint32_t i, uint32_t rank)
{
  return onnxl_shape_of_ranks(n, i, rank, rank);
}

bool
onnxl_shape_never_equal(const OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  OnnxlExprOrder order = a && b && a != b ? onnxl_expr_compare(n->pool, a, b) : ONNXL_EXPR_UNKNOWN;
  return order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_NOT_EQUAL;
}

bool
onnxl_shape_expect(OnnxlShapeNode *n, uint32_t i, const OnnxlExpr *dims, uint32_t rank)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  bool fits = !info || info->rank == rank;
  for (uint32_t k = 0; info && fits && k < rank; k++)
    fits = onnxl_shape_list_equal(n, info->dims[k], dims[k]);
  if (!fits)
    onnxl_shape_error(n, "input %u has shape %s where %s is needed", i, onnxl_shape_text(n, info),
                      dims_text(n, dims, rank));
  return fits;
}

bool
onnxl_shape_expect_within(OnnxlShapeNode *n, uint32_t i, const OnnxlExpr *dims, uint32_t rank)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  bool fits = !info || info->rank <= rank;
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  for (uint32_t k = 0; info && fits && k < info->rank; k++)
    fits = !onnxl_shape_never_equal(n, info->dims[k], one) ||
           !onnxl_shape_never_equal(n, info->dims[k], dims[rank - info->rank + k]);
  if (!fits)
    onnxl_shape_error(n, "input %u has shape %s, which does not broadcast to %s", i, onnxl_shape_text(n, info),
                      dims_text(n, dims, rank));
  return fits;
}

bool
onnxl_shape_expect_count(OnnxlShapeNode *n, uint32_t i, OnnxlExpr count)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  if (!info || !onnxl_shape_never_equal(n, onnxl_info_count(n->pool, info), count))
    return true;
  OnnxlStr text = onnxl_expr_text(n->pool, count);
  onnxl_shape_error(n, "input %u has shape %s where %.*s elements are needed", i, onnxl_shape_text(n, info),
                    ONNXL_ARG(text));
  return false;
}

bool
onnxl_shape_expect_one(OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  if (!info || !onnxl_shape_never_equal(n, onnxl_info_count(n->pool, info), onnxl_shape_lit(n, 1)))
    return true;
  onnxl_shape_error(n, "input %u has shape %s where one element is needed", i, onnxl_shape_text(n, info));
  return false;
}

void
onnxl_shape_misfit(OnnxlShapeNode *n, uint32_t a, uint32_t b)
{
  onnxl_shape_error(n, "input %u of shape %s and input %u of shape %s do not fit", a,
                    onnxl_shape_text(n, onnxl_shape_ranked(n, a)), b, onnxl_shape_text(n, onnxl_shape_ranked(n, b)));
}

bool
onnxl_shape_expect_sizes(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    const OnnxlInfo *out = &n->outputs[i];
    int64_t size;
    for (uint32_t k = 0; out->kind == ONNXL_KIND_TENSOR && out->has_rank && k < out->rank; k++)
      if (out->dims[k] && onnxl_expr_is_int(out->dims[k], &size) && size < 0) {
        onnxl_shape_error(n, "output %u would have shape %s", i, onnxl_shape_text(n, out));
        return false;
      }
  }
  return true;
}
