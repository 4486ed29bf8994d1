/* Regions of images and boxes: what the data decide has an upper bound, for regions that lie inside the image. */
#include "memory/macs-internal.h"

/* Four products and sums for each sample, and one to take it into the mean or maximum. */
#define SAMPLE 9
/* Corners and sides of what two boxes share (8), three areas (7), their quotient and a comparison (4). */
#define OVERLAP 19

/* Samples along one side of a bin, without sampling_ratio one for each pixel. */
static OnnxlExpr
samples(const OnnxlCostNode *n, int64_t axis)
{
  int64_t ratio = CLAMP(attribute(n, "sampling_ratio"), 0, INT32_MAX);

  return ratio > 0 ? literal(n, ratio) : onnxl_expr_ceil_div(n->pool, dim(n, 0, axis), dim_of(output(n, 0), axis));
}

OnnxlCounts
onnxl_count_roi_align(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  const OnnxlInfo *y = output(n, 0);
  OnnxlExpr bins = y ? onnxl_info_count(n->pool, y) : NULL;

  return (OnnxlCounts){
    .macs = literal(n, 0),
    .flops = times(n, SAMPLE, mul(n, bins, mul(n, samples(n, 2), samples(n, 3)))),
    .at_most = attribute(n, "sampling_ratio") <= 0,
  };
}

/* A comparison for each pixel of a region; bins that follow each other share a row or column. */
OnnxlCounts
onnxl_count_max_roi_pool(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  const OnnxlInfo *y = output(n, 0);
  OnnxlExpr rows = add(n, dim(n, 0, 2), dim_of(y, 2)), columns = add(n, dim(n, 0, 3), dim_of(y, 3));

  return (OnnxlCounts){
    .macs = literal(n, 0),
    .flops = mul(n, mul(n, dim_of(y, 0), dim_of(y, 1)), mul(n, rows, columns)),
    .at_most = true,
  };
}

/* Each box of each class has its score compared with the threshold, then meets the boxes that were chosen before it. */
OnnxlCounts
onnxl_count_non_max_suppression(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  OnnxlExpr boxes = dim(n, 1, 2), chosen = boxes, candidates = mul(n, mul(n, dim(n, 1, 0), dim(n, 1, 1)), boxes);

  if (!input(n, 2))
    chosen = literal(n, 0);
  else if (scalar(n, 2))
    chosen = onnxl_expr_min(n->pool, boxes, onnxl_expr_max(n->pool, scalar(n, 2), literal(n, 0)));
  return (OnnxlCounts){
    .macs = literal(n, 0),
    .flops = mul(n, candidates, add(n, literal(n, 1), times(n, OVERLAP, chosen))),
    .at_most = true,
  };
}
