/* Fourier transforms, as their definition has them: each number that comes out is a sum over the whole length. */
#include "memory/macs-internal.h"

/* Each real or imaginary part that comes out sums products with each part that goes in, over length numbers. */
static OnnxlExpr
sums(const OnnxlCostNode *n, OnnxlExpr length, OnnxlExpr parts)
{
  const OnnxlInfo *y = output(n, 0);

  return mul(n, y ? onnxl_info_count(n->pool, y) : NULL, mul(n, length, parts));
}

OnnxlCounts
onnxl_count_dft(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  bool half = attribute(n, "onesided") != 0 && attribute(n, "inverse") == 0; /* of the spectrum is left out */
  OnnxlExpr axis = n->schema->since < 20 ? literal(n, attribute(n, "axis"))
                   : input(n, 2)         ? scalar(n, 2)
                                         : literal(n, -2);
  int64_t at;

  if (!axis || !onnxl_expr_is_int(axis, &at))
    return (OnnxlCounts){ .macs = NULL };
  OnnxlExpr length = !half ? dim_of(output(n, 0), at) : input(n, 1) ? scalar(n, 1) : dim(n, 0, at);
  return (OnnxlCounts){ .macs = sums(n, length, dim(n, 0, -1)), .flops = literal(n, 0) };
}

/* A product with the window, if there is one, then a transform of each frame. */
OnnxlCounts
onnxl_count_stft(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  const OnnxlInfo *x = input(n, 0), *y = output(n, 0);
  OnnxlExpr length = input(n, 3) ? scalar(n, 3) : input(n, 2) ? dim(n, 2, 0) : dim(n, 0, 1);
  OnnxlExpr parts = x && x->has_rank && x->rank == 2 ? literal(n, 1) : dim(n, 0, 2);
  OnnxlExpr frames = mul(n, dim_of(y, 0), dim_of(y, 1));
  OnnxlExpr windowed = input(n, 2) ? mul(n, frames, mul(n, length, parts)) : literal(n, 0);

  return (OnnxlCounts){ .macs = sums(n, length, parts), .flops = windowed };
}
