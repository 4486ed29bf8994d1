#include "shapes/resize.h"

#include <math.h>

/* 2^62 */
#define MAX_SIZE 0x1p62f

#define DENOMINATOR 1024

/* scale as numerator / DENOMINATOR. */
static bool
is_short(float scale, int64_t *ret_numerator)
{
  float numerator = scale * DENOMINATOR;
  if (!(scale > 0) || scale > 65536 || numerator != floorf(numerator))
    return false;
  *ret_numerator = (int64_t)numerator;
  return true;
}

bool
onnxl_resize_scaled(int64_t size, float scale, int64_t *ret_size)
{
  int64_t numerator;
  if (is_short(scale, &numerator)) {
    __int128 scaled = (__int128)size * numerator / DENOMINATOR;
    *ret_size = (int64_t)MIN(scaled, INT64_MAX);
    return scaled < (__int128)1 << 62;
  }
  float scaled = floorf((float)size * scale);
  if (!(scale > 0) || !isfinite(scale) || !(scaled < MAX_SIZE))
    return false;
  *ret_size = (int64_t)scaled;
  return true;
}

OnnxlExpr
onnxl_resize_scaled_expr(OnnxlExprPool *pool, OnnxlExpr size, float scale)
{
  int64_t numerator, denominator = DENOMINATOR;
  if (!is_short(scale, &numerator))
    return NULL;
  while (numerator % 2 == 0 && denominator > 1) {
    numerator /= 2;
    denominator /= 2;
  }
  OnnxlExpr product = onnxl_expr_mul(pool, size, onnxl_expr_int(pool, numerator));
  return onnxl_expr_floor_div(pool, product, onnxl_expr_int(pool, denominator));
}

bool
onnxl_aspect_parse(OnnxlStr text, OnnxlAspect *ret_aspect)
{
  static const char *const names[] = { "stretch", "not_larger", "not_smaller" };
  *ret_aspect = ONNXL_ASPECT_STRETCH;
  if (onnxl_str_is_empty(text))
    return true;
  for (int i = 0; i < 3; i++)
    if (onnxl_str_is(text, names[i])) {
      *ret_aspect = (OnnxlAspect)i;
      return true;
    }
  return false;
}

bool
onnxl_resize_fitted(const int64_t *dims, const int64_t *sizes, size_t n, OnnxlAspect aspect, int64_t *ret_dims,
                    float *ret_scales)
{
  float common = aspect == ONNXL_ASPECT_NOT_LARGER ? INFINITY : 0;
  for (size_t i = 0; i < n; i++) {
    if (sizes[i] < 0 || (dims[i] == 0 && sizes[i] > 0))
      return false;
    ret_dims[i] = sizes[i];
    ret_scales[i] = dims[i] > 0 ? (float)sizes[i] / (float)dims[i] : 1;
    common = aspect == ONNXL_ASPECT_NOT_LARGER ? MIN(common, ret_scales[i]) : MAX(common, ret_scales[i]);
  }
  for (size_t i = 0; aspect != ONNXL_ASPECT_STRETCH && i < n; i++) {
    float scaled = floorf(common * (float)dims[i] + 0.5f); /* halves are rounded up */
    if (!(scaled < MAX_SIZE))
      return false;
    ret_dims[i] = (int64_t)scaled;
    ret_scales[i] = common;
  }
  return true;
}
