/* Upper bounds of expressions over symbols of which only an upper bound is known. */
#include "expr/expr-internal.h"

/* Bounds of symbols by other symbols, one inside the other; and all recursion, since each of them may be as deep as an
 * expression can be. */
#define MAX_CHAIN 32
#define MAX_RECURSION (2 * MAX_DEPTH)

typedef struct Upper {
  OnnxlExprPool *pool;
  OnnxlExprReplace most;
  void *data;
  GHashTable *done[2]; /* node -> lower and upper bound, so that shared parts are visited once */
  unsigned chain;
  unsigned depth;
} Upper;

typedef enum Side { LOWER, UPPER } Side;

static OnnxlExpr bound(Upper *u, OnnxlExpr e, Side side);

static OnnxlExpr
least(Upper *u, OnnxlExpr e)
{
  int64_t min, max;

  expr_interval(u->pool, e, &min, &max);
  return min == INT64_MIN ? NULL : onnxl_expr_int(u->pool, min);
}

static OnnxlExpr
bound_symbol(Upper *u, OnnxlExpr e, Side side)
{
  OnnxlExpr most = u->most(u->data, e->symbol.name);

  if (!most)
    return e;
  if (side == LOWER)
    return least(u, e);
  if (u->chain >= MAX_CHAIN)
    return NULL;
  u->chain++;
  OnnxlExpr result = bound(u, most, UPPER);
  u->chain--;
  return result;
}

static OnnxlExpr
bound_sum(Upper *u, OnnxlExpr e, Side side)
{
  SumBuilder sum;

  sum_init(&sum, u->pool);
  sum_add_constant(&sum, e->sum.constant);
  for (size_t i = 0; i < e->sum.n && !sum.failed; i++) {
    int64_t factor = e->sum.terms[i].coefficient;
    sum_add(&sum, bound(u, e->sum.terms[i].monomial, factor < 0 ? !side : side), factor);
  }
  return sum_finish(&sum);
}

/* Factors that are not negative, and so are not their bounds. */
static OnnxlExpr
bound_product(Upper *u, OnnxlExpr e, Side side)
{
  OnnxlExpr zero = onnxl_expr_int(u->pool, 0), product = onnxl_expr_int(u->pool, 1);
  bool changed = false, nonnegative = true;

  for (size_t i = 0; i < e->list.n; i++) {
    OnnxlExpr factor = bound(u, e->list.items[i], side);
    changed = changed || factor != e->list.items[i];
    nonnegative = nonnegative && expr_is_nonnegative(u->pool, e->list.items[i]);
    if (factor && side == LOWER && factor != e->list.items[i])
      factor = onnxl_expr_max(u->pool, factor, zero);
    product = onnxl_expr_mul(u->pool, product, factor);
  }
  return !changed ? e : nonnegative ? product : NULL;
}

static OnnxlExpr
bound_pair(Upper *u, OnnxlExpr e, Side side)
{
  OnnxlExpr a = bound(u, e->pair.a, side), b = bound(u, e->pair.b, side);
  int64_t min, max;

  if (a == e->pair.a && b == e->pair.b)
    return e;
  expr_interval(u->pool, e->pair.b, &min, &max);
  if (b != e->pair.b || min < 1)
    return NULL;
  if (e->kind == NODE_MOD)
    return side == UPPER ? onnxl_expr_sub(u->pool, b, onnxl_expr_int(u->pool, 1)) : onnxl_expr_int(u->pool, 0);
  if (e->kind == NODE_EXACT_DIV && side == LOWER)
    return onnxl_expr_ceil_div(u->pool, a, b);
  return onnxl_expr_floor_div(u->pool, a, b);
}

static OnnxlExpr
bound_list(Upper *u, OnnxlExpr e, Side side)
{
  OnnxlExpr *items = g_try_new(OnnxlExpr, e->list.n), result = NULL;
  bool changed = false, known = items != NULL;

  for (size_t i = 0; known && i < e->list.n; i++) {
    items[i] = bound(u, e->list.items[i], side);
    changed = changed || items[i] != e->list.items[i];
    known = items[i] != NULL;
  }
  if (known && !changed)
    result = e;
  else if (known)
    result =
      e->kind == NODE_MAX ? onnxl_expr_max_of(u->pool, items, e->list.n) : onnxl_expr_min_of(u->pool, items, e->list.n);
  g_free(items);
  return result;
}

static OnnxlExpr
bound(Upper *u, OnnxlExpr e, Side side)
{
  void *found;
  OnnxlExpr result = e;

  if (e->kind == NODE_INT)
    return e;
  if (g_hash_table_lookup_extended(u->done[side], e, NULL, &found))
    return found;
  if (u->depth >= MAX_RECURSION)
    return NULL;
  u->depth++;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    break;
  case NODE_SYMBOL:
    result = bound_symbol(u, e, side);
    break;
  case NODE_SUM:
    result = bound_sum(u, e, side);
    break;
  case NODE_PRODUCT:
    result = bound_product(u, e, side);
    break;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    result = bound_pair(u, e, side);
    break;
  case NODE_MAX:
  case NODE_MIN:
    result = bound_list(u, e, side);
    break;
  }
  u->depth--;
  g_hash_table_insert(u->done[side], (void *)e, (void *)result);
  return result;
}

OnnxlExpr
onnxl_expr_upper(OnnxlExprPool *pool, OnnxlExpr e, OnnxlExprReplace most, void *data)
{
  if (!e)
    return NULL;
  Upper u = { pool, most, data, { g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL) }, 0, 0 };
  OnnxlExpr result = bound(&u, e, UPPER);
  for (int side = LOWER; side <= UPPER; side++)
    g_hash_table_destroy(u.done[side]);
  return result;
}
