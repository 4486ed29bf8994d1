#include "shapes/sizes.h"

#include <math.h>

/* --- Range -------------------------------------------------------------------------------------------------------- */

#define MAX_LENGTH (INT64_C(1) << 62)

bool
onnxl_range_length(int64_t start, int64_t limit, int64_t delta, int64_t *ret_length)
{
  if (delta == 0)
    return false;
  __int128 distance = (__int128)limit - start, by = delta;
  if (by < 0) {
    distance = -distance;
    by = -by;
  }
  __int128 length = distance > 0 ? (distance + by - 1) / by : 0;
  if (length >= MAX_LENGTH)
    return false;
  *ret_length = (int64_t)length;
  return true;
}

bool
onnxl_real_range_length(double start, double limit, double delta, int64_t *ret_length)
{
  double length = ceil((limit - start) / delta);
  if (delta == 0 || !(length < (double)MAX_LENGTH)) /* NaN as well */
    return false;
  *ret_length = length > 0 ? (int64_t)length : 0;
  return true;
}

OnnxlExpr
onnxl_range_length_expr(OnnxlExprPool *pool, OnnxlExpr start, OnnxlExpr limit, int64_t delta)
{
  OnnxlExpr span = delta > 0 ? onnxl_expr_sub(pool, limit, start) : onnxl_expr_sub(pool, start, limit);
  OnnxlExpr by = onnxl_expr_int(pool, delta > 0 ? delta : -delta);
  return onnxl_expr_max(pool, onnxl_expr_int(pool, 0), onnxl_expr_ceil_div(pool, span, by));
}

/* --- Split -------------------------------------------------------------------------------------------------------- */

int64_t
onnxl_split_part(int64_t size, uint32_t n, uint32_t i)
{
  int64_t part = size / n + (size % n != 0), before;
  return __builtin_mul_overflow(part, i, &before) ? 0 : CLAMP(size - before, 0, part);
}

OnnxlExpr
onnxl_split_part_expr(OnnxlExprPool *pool, OnnxlExpr size, uint32_t n, uint32_t i)
{
  OnnxlExpr part = onnxl_expr_ceil_div(pool, size, onnxl_expr_int(pool, n));
  OnnxlExpr left = onnxl_expr_sub(pool, size, onnxl_expr_mul(pool, onnxl_expr_int(pool, i), part));
  if (i == 0)
    return part;
  if (n == 2) /* 0 <= size - ceil(size / 2) <= ceil(size / 2) */
    return left;
  return onnxl_expr_max(pool, onnxl_expr_int(pool, 0), onnxl_expr_min(pool, part, left));
}

/* --- transforms --------------------------------------------------------------------------------------------------- */

int64_t
onnxl_dft_half(int64_t length)
{
  return length / 2 + 1;
}

OnnxlExpr
onnxl_dft_half_expr(OnnxlExprPool *pool, OnnxlExpr length)
{
  return onnxl_expr_add(pool, onnxl_expr_floor_div(pool, length, onnxl_expr_int(pool, 2)), onnxl_expr_int(pool, 1));
}

int64_t
onnxl_dft_whole(int64_t half)
{
  return 2 * (half - 1);
}

OnnxlExpr
onnxl_dft_whole_expr(OnnxlExprPool *pool, OnnxlExpr half)
{
  return onnxl_expr_mul(pool, onnxl_expr_int(pool, 2), onnxl_expr_sub(pool, half, onnxl_expr_int(pool, 1)));
}

int64_t
onnxl_stft_frames(int64_t length, int64_t frame, int64_t step)
{
  return (length - frame) / step + 1;
}

OnnxlExpr
onnxl_stft_frames_expr(OnnxlExprPool *pool, OnnxlExpr length, OnnxlExpr frame, OnnxlExpr step)
{
  OnnxlExpr room = onnxl_expr_sub(pool, length, frame);
  return onnxl_expr_add(pool, onnxl_expr_floor_div(pool, room, step), onnxl_expr_int(pool, 1));
}
