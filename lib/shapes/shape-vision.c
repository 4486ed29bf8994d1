/* Images, boxes and regions. */
#include <math.h>

#include "shapes/resize.h"
#include "shapes/shape-rules.h"

/* --- Resize and Upsample ------------------------------------------------------------------------------------------ */

/* What a scale makes of a dim. */
static OnnxlExpr
scaled(OnnxlShapeNode *n, OnnxlExpr size, double scale)
{
  int64_t number, result;
  if (!(scale > 0) || !isfinite(scale)) {
    onnxl_shape_error(n, "a scale is %g", scale);
    return NULL;
  }
  if (!size || !onnxl_expr_is_int(size, &number))
    return onnxl_resize_scaled_expr(n->pool, size, (float)scale);
  return onnxl_resize_scaled(number, (float)scale, &result) ? onnxl_shape_lit(n, result) : NULL;
}

static const double *
reals_of(const OnnxlShapeNode *n, uint32_t i, uint32_t *ret_count)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  if (!info || !info->reals)
    return NULL;
  *ret_count = info->n_contents;
  return info->reals;
}

/* The axes that scales or sizes are given for: all, or from opset 18 on a list. */
static bool
resize_axes(OnnxlShapeNode *n, uint32_t rank, uint32_t count, uint32_t *axes)
{
  OnnxlInt64List list = n->schema->since >= 18 ? onnxl_attr_ints(n->proto, "axes") : (OnnxlInt64List){ 0 };
  uint32_t expected = list.count > 0 ? (uint32_t)MIN(list.count, UINT32_MAX) : rank;
  if (count != expected || count > ONNXL_SHAPE_MAX_RANK) {
    onnxl_shape_error(n, "%u values are given for %u axes", count, expected);
    return false;
  }
  bool seen[ONNXL_SHAPE_MAX_RANK] = { false };
  for (uint32_t i = 0; i < count; i++) {
    axes[i] = i;
    if (list.count > 0 && !onnxl_shape_axis(n, list.items[i], rank, &axes[i]))
      return false;
    if (seen[axes[i]]) {
      onnxl_shape_error(n, "axis %u stands twice", axes[i]);
      return false;
    }
    seen[axes[i]] = true;
  }
  return true;
}

static void
resize_to_sizes(OnnxlShapeNode *n, const OnnxlInfo *input, OnnxlExpr *dims)
{
  uint32_t count, axes[ONNXL_SHAPE_MAX_RANK];
  int64_t length = onnxl_shape_length(n, 3), scales = onnxl_shape_length(n, 2);
  const OnnxlExpr *sizes = onnxl_shape_values(n, 3, &count);
  if (scales > 0 && length > 0) {
    onnxl_shape_error(n, "both scales and sizes are given");
    return;
  }
  if (!sizes && length >= 0)
    count = (uint32_t)MIN(length, UINT32_MAX);
  if ((!sizes && length < 0) || !resize_axes(n, input->rank, count, axes) || !sizes)
    return;
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  OnnxlAspect aspect = ONNXL_ASPECT_STRETCH;
  OnnxlStr policy =
    n->schema->since >= 18 ? onnxl_attr_string(n->schema, n->proto, "keep_aspect_ratio_policy") : (OnnxlStr){ 0 };
  if (!onnxl_aspect_parse(policy, &aspect)) {
    onnxl_shape_error(n, "keep_aspect_ratio_policy is '%.*s'", ONNXL_ARG(policy));
    return;
  }
  int64_t to[ONNXL_SHAPE_MAX_RANK], from[ONNXL_SHAPE_MAX_RANK], fitted[ONNXL_SHAPE_MAX_RANK];
  float unread[ONNXL_SHAPE_MAX_RANK];
  bool numbers = true;
  for (uint32_t i = 0; i < count && numbers; i++)
    numbers =
      sizes[i] && onnxl_expr_is_int(sizes[i], &to[i]) && dims[axes[i]] && onnxl_expr_is_int(dims[axes[i]], &from[i]);
  if (numbers && !onnxl_resize_fitted(from, to, count, aspect, fitted, unread)) {
    OnnxlInfo wanted = { .has_rank = true, .rank = count, .dims = sizes };
    onnxl_shape_error(n, "shape %s cannot get the sizes %s", onnxl_shape_text(n, input), onnxl_shape_text(n, &wanted));
    return;
  }
  for (uint32_t i = 0; i < count; i++)
    dims[axes[i]] = numbers ? onnxl_shape_lit(n, fitted[i]) : aspect == ONNXL_ASPECT_STRETCH ? sizes[i] : NULL;
}

static void
resize_by_scales(OnnxlShapeNode *n, uint32_t scales_input, const OnnxlInfo *input, OnnxlExpr *dims)
{
  uint32_t count = 0, axes[ONNXL_SHAPE_MAX_RANK];
  int64_t length = onnxl_shape_length(n, scales_input);
  const double *scales = reals_of(n, scales_input, &count);
  if (!scales && length >= 0)
    count = (uint32_t)MIN(length, UINT32_MAX);
  if ((!scales && length < 0) || !resize_axes(n, input->rank, count, axes) || !scales)
    return;
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  for (uint32_t i = 0; i < count; i++)
    dims[axes[i]] = scales[i] == 1 ? dims[axes[i]] : scaled(n, dims[axes[i]], scales[i]);
}

/* X, scales at opset 10; X, roi, scales, sizes later. */
void
onnxl_shape_rule_resize(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (n->schema->since < 11) {
    resize_by_scales(n, 1, input, dims);
    return;
  }
  const OnnxlInfo *sizes = onnxl_shape_input(n, 3);
  if (sizes && !onnxl_shape_is(onnxl_info_count(n->pool, sizes), 0)) {
    resize_to_sizes(n, input, dims);
    return;
  }
  if (!onnxl_shape_input(n, 2) && input->rank > 0) {
    onnxl_shape_error(n, "neither scales nor sizes are given");
    return;
  }
  resize_by_scales(n, 2, input, dims);
}

/* Scales: attributes of height and width, then a list, then an input. */
void
onnxl_shape_rule_upsample(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (n->schema->since >= 9) {
    resize_by_scales(n, 1, input, dims);
    return;
  }
  if (n->schema->since < 7 && !onnxl_shape_of_rank(n, 0, 4))
    return;
  const OnnxlAttribute *scales = onnxl_node_attribute(n->proto, "scales");
  if (n->schema->since >= 7 && scales && scales->floats.count != input->rank) {
    onnxl_shape_error(n, "%zu scales are given for rank %u", scales->floats.count, input->rank);
    return;
  }
  for (uint32_t i = 0; i < input->rank; i++) {
    double scale = 1;
    if (n->schema->since >= 7)
      scale = scales ? (double)scales->floats.items[i] : 0;
    else if (i + 2 == input->rank)
      scale = (double)onnxl_attr_float(n->schema, n->proto, "height_scale");
    else if (i + 1 == input->rank)
      scale = (double)onnxl_attr_float(n->schema, n->proto, "width_scale");
    dims[i] = scale == 1 ? input->dims[i] : scaled(n, input->dims[i], scale);
  }
}

/* --- regions ------------------------------------------------------------------------------------------------------ */

/* Each region, of that many numbers, gives [C, height, width]. */
static void
regions(OnnxlShapeNode *n, int64_t numbers, int64_t height, int64_t width)
{
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 4), *rois = onnxl_shape_ranked(n, 1);
  const OnnxlExpr region[] = { NULL, onnxl_shape_lit(n, numbers) };
  if (n->failed || !onnxl_shape_expect(n, 1, region, 2) || (rois && !onnxl_shape_expect(n, 2, rois->dims, 1)))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 4);
  dims[0] = rois ? rois->dims[0] : NULL;
  dims[1] = input ? input->dims[1] : NULL;
  dims[2] = height > 0 ? onnxl_shape_lit(n, height) : NULL;
  dims[3] = width > 0 ? onnxl_shape_lit(n, width) : NULL;
}

void
onnxl_shape_rule_roi_align(OnnxlShapeNode *n)
{
  regions(n, 4, onnxl_shape_int(n, "output_height"), onnxl_shape_int(n, "output_width"));
}

void
onnxl_shape_rule_max_roi_pool(OnnxlShapeNode *n)
{
  OnnxlInt64List shape = onnxl_attr_ints(n->proto, "pooled_shape");
  regions(n, 5, shape.count == 2 ? shape.items[0] : 0, shape.count == 2 ? shape.items[1] : 0);
}

void
onnxl_shape_rule_non_max_suppression(OnnxlShapeNode *n)
{
  const OnnxlInfo *boxes = onnxl_shape_of_rank(n, 0, 3), *scores = n->failed ? NULL : onnxl_shape_of_rank(n, 1, 3);
  const OnnxlExpr four[] = { NULL, NULL, onnxl_shape_lit(n, 4) };
  const OnnxlExpr each_class[] = { boxes ? boxes->dims[0] : NULL, NULL, boxes ? boxes->dims[1] : NULL };
  if (n->failed || !onnxl_shape_expect(n, 0, four, 3) || !onnxl_shape_expect(n, 1, each_class, 3))
    return;
  for (uint32_t i = 2; i < 5; i++)
    if (!onnxl_shape_expect_one(n, i))
      return;
  onnxl_shape_output(n, 0, 2)[1] = onnxl_shape_lit(n, 3);
  if (!boxes || !scores)
    return;
  /* Without a limit nothing is selected; each class of each picture selects a box once at most. */
  OnnxlExpr limit = onnxl_shape_input(n, 2) ? onnxl_shape_scalar(n, 2) : onnxl_shape_lit(n, 0);
  OnnxlExpr each = limit
                     ? onnxl_expr_min(n->pool, onnxl_expr_max(n->pool, limit, onnxl_shape_lit(n, 0)), boxes->dims[1])
                     : boxes->dims[1];
  onnxl_shape_at_most(n, 0, 0, onnxl_expr_mul(n->pool, each, onnxl_shape_product(n, scores->dims, 0, 2)));
}

/* --- grids and pictures ------------------------------------------------------------------------------------------- */

/* X [N, C, …] read at grid [N, out…, axes]. */
void
onnxl_shape_rule_grid_sample(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_ranked(n, 0), *grid = onnxl_shape_ranked(n, 1);
  if (!x || !grid)
    return;
  if (x->rank < 3 || grid->rank != x->rank || (n->schema->since < 20 && x->rank != 4) ||
      onnxl_shape_never_equal(n, x->dims[0], grid->dims[0]) ||
      onnxl_shape_never_equal(n, grid->dims[x->rank - 1], onnxl_shape_lit(n, x->rank - 2))) {
    onnxl_shape_error(n, "input %s and grid %s do not fit", onnxl_shape_text(n, x), onnxl_shape_text(n, grid));
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, x->rank);
  dims[0] = x->dims[0];
  dims[1] = x->dims[1];
  for (uint32_t i = 2; i < x->rank; i++)
    dims[i] = grid->dims[i - 1];
}

/* size: [N, C, H, W] or [N, C, D, H, W]; theta: [N, 2, 3] or [N, 3, 4]. */
void
onnxl_shape_rule_affine_grid(OnnxlShapeNode *n)
{
  uint32_t count;
  const OnnxlExpr *size = onnxl_shape_values(n, 1, &count);
  const OnnxlInfo *theta = onnxl_shape_of_rank(n, 0, 3);
  int64_t length = onnxl_shape_length(n, 1), rows;
  if (n->failed || (!onnxl_shape_of_rank(n, 1, 1) && n->failed))
    return;
  if (length < 0 && theta && theta->dims[1] && onnxl_expr_is_int(theta->dims[1], &rows) && (rows == 2 || rows == 3))
    length = rows + 2; /* size is of no known length, but can have only one */
  if (length != 4 && length != 5) {
    if (length >= 0)
      onnxl_shape_error(n, "size has %" G_GINT64_FORMAT " values", length);
    return;
  }
  const OnnxlExpr matrices[] = { size ? size[0] : NULL, onnxl_shape_lit(n, length - 2),
                                 onnxl_shape_lit(n, length - 1) };
  if (!onnxl_shape_expect(n, 0, matrices, 3))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, (uint32_t)length);
  for (int64_t i = 0; size && i + 1 < length; i++)
    dims[i] = size[i == 0 ? 0 : i + 1];
  if (theta && !dims[0])
    dims[0] = theta->dims[0];
  dims[length - 1] = onnxl_shape_lit(n, length - 2);
}

void
onnxl_shape_rule_image_decoder(OnnxlShapeNode *n)
{
  if (!onnxl_shape_of_rank(n, 0, 1) && n->failed)
    return;
  bool grey = onnxl_str_is(onnxl_attr_string(n->schema, n->proto, "pixel_format"), "Grayscale");
  onnxl_shape_output(n, 0, 3)[2] = onnxl_shape_lit(n, grey ? 1 : 3);
}
