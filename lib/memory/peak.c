#include "memory/peak-internal.h"

#include "support/error.h"

/* Beyond this many a new amount is compared with the newest ones only. The peak stays right, it just is printed longer.
 */
#define MAX_COMPARED 64

static bool
never_below(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  OnnxlExprOrder order = onnxl_expr_compare(pool, a, b);

  return order == ONNXL_EXPR_EQUAL || order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_GREATER_EQUAL;
}

bool
onnxl_peak_add(OnnxlPeak *peak, OnnxlExpr amount, GError **error)
{
  size_t from = peak->count > MAX_COMPARED ? peak->count - MAX_COMPARED : 0;

  if (!amount) {
    peak->unknown = true;
    return true;
  }
  OnnxlExpr *seen = &peak->seen[(uintptr_t)amount * UINT64_C(0x9e3779b97f4a7c15) >> 56];
  if (*seen == amount)
    return true;
  *seen = amount;
  for (size_t i = from; i < peak->count; i++)
    if (never_below(peak->pool, peak->items[i], amount))
      return true;
  size_t kept = from;
  for (size_t i = from; i < peak->count; i++)
    if (!never_below(peak->pool, amount, peak->items[i]))
      peak->items[kept++] = peak->items[i];
  peak->count = kept;
  if (!ONNXL_GROW(peak->arena, &peak->items, peak->count, &peak->capacity))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
                      onnxl_arena_budget(peak->arena));
  peak->items[peak->count++] = amount;
  return true;
}

OnnxlExpr
onnxl_peak_get(const OnnxlPeak *peak)
{
  if (peak->unknown)
    return NULL;
  return peak->count > 0 ? onnxl_expr_max_of(peak->pool, peak->items, peak->count) : onnxl_expr_int(peak->pool, 0);
}
