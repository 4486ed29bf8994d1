#include "shapes/broadcast.h"

#include "shapes/shape-internal.h"

bool
onnxl_broadcast_dim(int64_t a, int64_t b, int64_t *ret_dim)
{
  if (a != b && a != 1 && b != 1)
    return false;
  *ret_dim = a == 1 ? b : a;
  return true;
}

bool
onnxl_broadcast_dims(int64_t *result, size_t result_rank, const int64_t *dims, size_t rank)
{
  if (rank > result_rank)
    return false;
  for (size_t i = 0; i < rank; i++)
    if (!onnxl_broadcast_dim(result[result_rank - rank + i], dims[i], &result[result_rank - rank + i]))
      return false;
  return true;
}

void
onnxl_broadcast_strides(const int64_t *dims, size_t rank, int64_t *ret_strides, size_t result_rank)
{
  int64_t stride = 1;
  for (size_t i = 0; i < result_rank; i++) {
    size_t at = result_rank - 1 - i;
    if (i >= rank) {
      ret_strides[at] = 0;
      continue;
    }
    int64_t dim = dims[rank - 1 - i];
    ret_strides[at] = dim == 1 ? 0 : stride;
    /* No overflow: the tensor exists, or it is empty and its strides are never used. */
    stride = dim > 0 && stride <= INT64_MAX / dim ? stride * dim : 0;
  }
}

/* Symbolic. Sizes a, b, … that broadcast are, in a run that succeeds, 1 or one common size. Then
 *
 *     max(a,b,…) * min(1,a,b,…)
 *
 * is that size: without a 0 among them the second factor is 1; with one the others are 0 or 1, and the result is 0.
 * Nothing is assumed. So that the sizes of a broadcast broadcast again do not nest, the operands of each such
 * expression are kept. */

/* More operands than this become a size of its own. */
#define MAX_OPERANDS 6

typedef struct OnnxlBroadcastSet {
  uint32_t n;
  OnnxlExpr items[MAX_OPERANDS];
} OnnxlBroadcastSet;

static OnnxlStr
key_of(OnnxlShapeRun *run, const OnnxlExpr *e, bool keep)
{
  OnnxlStr key = onnxl_str_n((const char *)e, sizeof *e);
  return keep ? onnxl_arena_copy(run->arena, key) : key;
}

static bool
add_operand(OnnxlBroadcastSet *set, OnnxlExpr e)
{
  for (uint32_t i = 0; i < set->n; i++)
    if (set->items[i] == e)
      return true;
  if (set->n == MAX_OPERANDS)
    return false;
  set->items[set->n++] = e;
  return true;
}

static bool
add_operands(OnnxlShapeRun *run, OnnxlBroadcastSet *set, OnnxlExpr e)
{
  uint32_t id = onnxl_map_get(&run->broadcast_ids, key_of(run, &e, false));
  if (id == ONNXL_MAP_NONE)
    return add_operand(set, e);
  OnnxlBroadcastSet known = run->broadcast_sets[id];
  for (uint32_t i = 0; i < known.n; i++)
    if (!add_operand(set, known.items[i]))
      return false;
  return true;
}

static OnnxlExpr
size_of_set(OnnxlShapeRun *run, const OnnxlBroadcastSet *set)
{
  OnnxlExpr largest = set->items[0], least = onnxl_expr_int(run->pool, 1);
  for (uint32_t i = 1; i < set->n; i++)
    largest = onnxl_expr_max(run->pool, largest, set->items[i]);
  for (uint32_t i = 0; i < set->n; i++)
    least = onnxl_expr_min(run->pool, least, set->items[i]);
  /* e*min(1,e) is e: so it is when one operand is at least as large as all others, as N beside min(3,N). */
  int64_t min = INT64_MIN, max;
  if (largest)
    onnxl_expr_bounds(run->pool, largest, &min, &max);
  if (min >= 0 && least == onnxl_expr_min(run->pool, onnxl_expr_int(run->pool, 1), largest))
    return largest;
  OnnxlExpr size = onnxl_expr_mul(run->pool, largest, least);
  if (!size || onnxl_expr_is_int(size, NULL) || set->n < 2)
    return size;
  OnnxlStr key = key_of(run, &size, true);
  if (key.data && ONNXL_GROW(run->arena, &run->broadcast_sets, run->n_broadcast_sets, &run->broadcast_sets_capacity) &&
      onnxl_map_put(&run->broadcast_ids, key, (uint32_t)run->n_broadcast_sets, NULL))
    run->broadcast_sets[run->n_broadcast_sets++] = *set;
  return size;
}

static bool
above_one(OnnxlShapeRun *run, OnnxlExpr e)
{
  int64_t min = INT64_MIN, max;
  if (e)
    onnxl_expr_bounds(run->pool, e, &min, &max);
  return min > 1;
}

bool
onnxl_shape_broadcast_dim(OnnxlShapeRun *run, OnnxlExpr a, OnnxlExpr b, OnnxlExpr *ret_dim)
{
  int64_t x, y;
  bool a_int = a && onnxl_expr_is_int(a, &x), b_int = b && onnxl_expr_is_int(b, &y);
  *ret_dim = a;
  if (a == b)
    return true;
  if (a_int && b_int) {
    int64_t dim;
    if (!onnxl_broadcast_dim(x, y, &dim))
      return false;
    *ret_dim = dim == x ? a : b;
    return true;
  }
  /* 1 gives the other one; any other literal stays, since the other one can only be equal or 1. */
  if (a_int || b_int) {
    bool one = a_int ? x == 1 : y == 1;
    *ret_dim = a_int == one ? b : a;
    return true;
  }
  if (above_one(run, a) && above_one(run, b)) {
    OnnxlExprOrder order = onnxl_expr_compare(run->pool, a, b);
    return order != ONNXL_EXPR_LESS && order != ONNXL_EXPR_GREATER && order != ONNXL_EXPR_NOT_EQUAL;
  }
  if (above_one(run, a))
    return true;
  if (above_one(run, b)) {
    *ret_dim = b;
    return true;
  }
  *ret_dim = NULL;
  if (!a || !b)
    return true;
  OnnxlBroadcastSet set = { 0 };
  if (add_operands(run, &set, a) && add_operands(run, &set, b))
    *ret_dim = size_of_set(run, &set);
  return true;
}

bool
onnxl_shape_broadcast(OnnxlShapeNode *n, const OnnxlExpr *a, uint32_t a_rank, const OnnxlExpr *b, uint32_t b_rank,
                      OnnxlExpr *dims)
{
  uint32_t rank = MAX(a_rank, b_rank);
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  for (uint32_t i = 0; i < rank; i++) {
    OnnxlExpr x = i + a_rank >= rank ? a[i + a_rank - rank] : one;
    OnnxlExpr y = i + b_rank >= rank ? b[i + b_rank - rank] : one;
    OnnxlExpr dim;
    if (!onnxl_shape_broadcast_dim(n->run, x, y, &dim)) {
      OnnxlInfo left = { .has_rank = true, .rank = a_rank, .dims = a };
      OnnxlInfo right = { .has_rank = true, .rank = b_rank, .dims = b };
      onnxl_shape_error(n, "shapes %s and %s do not broadcast", onnxl_shape_text(n, &left),
                        onnxl_shape_text(n, &right));
      return false;
    }
    dims[i] = dim;
  }
  return true;
}

bool
onnxl_shape_broadcast_inputs(OnnxlShapeNode *n, uint32_t i, const uint32_t *inputs, uint32_t count)
{
  const OnnxlInfo *result = onnxl_shape_ranked(n, inputs[0]);
  if (!result)
    return true;
  OnnxlInfo so_far = *result;
  for (uint32_t k = 1; k < count; k++) {
    const OnnxlInfo *next = onnxl_shape_ranked(n, inputs[k]);
    if (!next)
      return true;
    bool same = next->rank == so_far.rank && (next->rank == 0 || next->dims == so_far.dims ||
                                              memcmp(next->dims, so_far.dims, next->rank * sizeof *next->dims) == 0);
    if (same)
      continue;
    OnnxlExpr *dims = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, MAX(next->rank, so_far.rank));
    if (!dims || !onnxl_shape_broadcast(n, so_far.dims, so_far.rank, next->dims, next->rank, dims))
      return false;
    so_far.dims = dims;
    so_far.rank = MAX(next->rank, so_far.rank);
  }
  onnxl_shape_same(n, i, &so_far);
  return true;
}
