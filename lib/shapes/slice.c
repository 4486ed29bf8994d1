#include "shapes/slice.h"

#include "shapes/shape-rules.h"

void
onnxl_slice_range(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *ret_first, int64_t *ret_count)
{
  /* What is this far below stays below. */
  if (start < 0 && start >= -size)
    start += size;
  if (end < 0)
    end = end >= -size ? end + size : -1;
  uint64_t by = step > 0 ? (uint64_t)step : -(uint64_t)step;
  int64_t distance;
  if (step > 0) {
    start = CLAMP(start, 0, size);
    distance = CLAMP(end, 0, size) - start;
  } else {
    start = MIN(MAX(start, 0), size - 1);
    distance = start - MIN(end, size - 1);
  }
  *ret_first = distance > 0 ? start : 0;
  *ret_count = distance > 0 ? (int64_t)(((uint64_t)distance - 1) / by + 1) : 0;
}

/* --- symbols ------------------------------------------------------------------------------------------------------ */

/* A start or end counts from the end of the axis when negative; of an unknown sign: v + d * [v < 0]. */
static OnnxlExpr
from_front(OnnxlShapeNode *n, OnnxlExpr v, OnnxlExpr d)
{
  if (!v || onnxl_shape_min(n, v) >= 0)
    return v;
  if (onnxl_shape_max(n, v) < 0)
    return onnxl_expr_add(n->pool, v, d);
  OnnxlExpr zero = onnxl_shape_lit(n, 0), one = onnxl_shape_lit(n, 1);
  OnnxlExpr above = onnxl_expr_max(n->pool, zero, onnxl_expr_add(n->pool, v, one)); /* 0 just for v < 0 */
  OnnxlExpr negative = onnxl_expr_sub(n->pool, one, onnxl_expr_min(n->pool, one, above));
  return onnxl_expr_add(n->pool, v, onnxl_expr_mul(n->pool, d, negative));
}

/* Bounds that exporters write for "to the end": 2^63-1, 2^31-1, 10^9 and the like. An axis beyond is ruled out. */
#define FAR_AWAY 1000000000

static bool
beyond(OnnxlShapeNode *n, OnnxlExpr v, OnnxlExpr d)
{
  int64_t value;
  if (!v || !d || !onnxl_expr_is_int(v, &value) || onnxl_expr_is_int(d, NULL))
    return false;
  if (value == INT64_MAX || value <= INT64_MIN + 1)
    return true;
  if (value > -FAR_AWAY && value < FAR_AWAY)
    return false;
  return onnxl_shape_assume(n, d, ONNXL_REL_LE, onnxl_shape_lit(n, value < 0 ? -value : value));
}

/* Elements from s to before e, both clamped to [0, d]. The forms by sign avoid nested clamps. */
static OnnxlExpr
forward_length(OnnxlShapeNode *n, OnnxlExpr d, OnnxlExpr s, OnnxlExpr e)
{
  OnnxlExprPool *pool = n->pool;
  OnnxlExpr zero = onnxl_shape_lit(n, 0);
  int64_t start, end;
  bool start_literal = onnxl_expr_is_int(s, &start);
  bool start_front = onnxl_shape_min(n, s) >= 0, start_back = onnxl_shape_max(n, s) < 0;
  bool end_front = onnxl_shape_min(n, e) >= 0, end_back = onnxl_shape_max(n, e) < 0;
  if ((end_back && beyond(n, e, d)) || (start_front && s != d && beyond(n, s, d)))
    return zero;
  bool to_end = e == d || (onnxl_expr_is_int(e, &end) && end > 0 && beyond(n, e, d));
  if (to_end && start_literal && start == 0)
    return d;
  if (to_end && start_front)
    return onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, d, s));
  if (to_end && start_back)
    return start_literal && beyond(n, s, d) ? d : onnxl_expr_min(pool, d, onnxl_expr_neg(pool, s));
  if (start_literal && start < 0 && beyond(n, s, d)) {
    s = zero;
    start_front = true;
    start_back = false;
  }
  if (start_front && end_back) {
    OnnxlExpr left = onnxl_expr_add(pool, d, onnxl_expr_sub(pool, e, s));
    return onnxl_expr_max(pool, zero, left);
  }
  if (start_front && end_front) {
    OnnxlExpr rest = onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, d, s));
    OnnxlExpr wanted = onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, e, s));
    return onnxl_expr_min(pool, rest, wanted);
  }
  if (start_back && end_back) {
    OnnxlExpr rest = onnxl_expr_max(pool, zero, onnxl_expr_add(pool, d, e));
    OnnxlExpr wanted = onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, e, s));
    return onnxl_expr_min(pool, rest, wanted);
  }
  s = onnxl_expr_min(pool, d, onnxl_expr_max(pool, zero, from_front(n, s, d)));
  e = onnxl_expr_min(pool, d, onnxl_expr_max(pool, zero, from_front(n, e, d)));
  return onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, e, s));
}

/* Elements from s down to after e; s clamped to [0, d-1] (-1 for an empty axis), e to [-1, d-1]. */
static OnnxlExpr
backward_length(OnnxlShapeNode *n, OnnxlExpr d, OnnxlExpr s, OnnxlExpr e)
{
  OnnxlExprPool *pool = n->pool;
  OnnxlExpr zero = onnxl_shape_lit(n, 0), minus_one = onnxl_shape_lit(n, -1);
  OnnxlExpr last = onnxl_expr_sub(pool, d, onnxl_shape_lit(n, 1));
  int64_t start, end;
  bool from_last = onnxl_expr_is_int(s, &start) && (start == -1 || (start > 0 && beyond(n, s, d)));
  bool to_first = onnxl_expr_is_int(e, &end) && end < 0 && beyond(n, e, d);
  if (onnxl_expr_is_int(s, &start) && start < 0 && beyond(n, s, d))
    s = zero; /* clamped to the first element */
  s = from_last ? last : onnxl_expr_min(pool, last, onnxl_expr_max(pool, zero, from_front(n, s, d)));
  e = to_first ? minus_one : onnxl_expr_min(pool, last, onnxl_expr_max(pool, minus_one, from_front(n, e, d)));
  return onnxl_expr_max(pool, zero, onnxl_expr_sub(pool, s, e));
}

static OnnxlExpr
slice_length(OnnxlShapeNode *n, OnnxlExpr d, OnnxlExpr s, OnnxlExpr e, OnnxlExpr step)
{
  int64_t by, size, start, end, first, count;
  if (!d || !s || !e || !step || !onnxl_expr_is_int(step, &by) || by == 0)
    return NULL;
  if (onnxl_expr_is_int(d, &size) && onnxl_expr_is_int(s, &start) && onnxl_expr_is_int(e, &end)) {
    onnxl_slice_range(size, start, end, by, &first, &count);
    return onnxl_shape_lit(n, count);
  }
  OnnxlExpr length = by > 0 ? forward_length(n, d, s, e) : backward_length(n, d, s, e);
  if (by == 1 || by == -1)
    return length;
  return by == INT64_MIN ? NULL : onnxl_expr_ceil_div(n->pool, length, onnxl_shape_lit(n, by > 0 ? by : -by));
}

/* The contents of a slice; starts and steps by axis, NULL where they are not literal. */
static void
move_slice(OnnxlShapeNode *n, const OnnxlInfo *input, const OnnxlExpr *starts, const OnnxlExpr *steps)
{
  int64_t dims[ONNXL_SHAPE_MAX_RANK], out[ONNXL_SHAPE_MAX_RANK], first[ONNXL_SHAPE_MAX_RANK], by[ONNXL_SHAPE_MAX_RANK];
  int64_t index[ONNXL_SHAPE_MAX_RANK] = { 0 };
  int64_t count = input->has_contents || input->reals ? onnxl_shape_small(n, 0) : -1;
  if (count < 0 || !onnxl_shape_literal_dims(input, dims) || !onnxl_shape_literal_dims(&n->outputs[0], out))
    return;
  for (uint32_t d = 0; d < input->rank; d++) {
    int64_t start, to_end;
    if (!starts[d] || !steps[d] || !onnxl_expr_is_int(starts[d], &start) || !onnxl_expr_is_int(steps[d], &by[d]))
      return;
    onnxl_slice_range(dims[d], start, by[d] > 0 ? INT64_MAX : INT64_MIN, by[d], &first[d], &to_end);
  }
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, (size_t)count);
  if (!map)
    return;
  for (int64_t k = 0; k < count; k++) {
    int64_t at = 0;
    for (uint32_t d = 0; d < input->rank; d++) {
      /* The step matters only when there is a second element, and then it is smaller than the axis. */
      int64_t place = first[d] + (index[d] > 0 ? index[d] * by[d] : 0);
      if (place < 0 || place >= dims[d])
        return;
      at = at * dims[d] + place;
    }
    map[k] = (uint32_t)at;
    for (uint32_t d = input->rank; d > 0 && ++index[d - 1] == out[d - 1]; d--)
      index[d - 1] = 0;
  }
  onnxl_shape_move(n, 0, input, map, (uint64_t)count);
}

static const OnnxlExpr *
expressions(OnnxlShapeNode *n, const char *attribute, uint32_t i, uint32_t *ret_count)
{
  if (n->schema->since >= 10)
    return onnxl_shape_values(n, i, ret_count);
  OnnxlInt64List list = onnxl_attr_ints(n->proto, attribute);
  OnnxlExpr *items = list.count <= ONNXL_SHAPE_MAX_RANK ? ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, list.count) : NULL;
  for (size_t k = 0; items && k < list.count; k++)
    items[k] = onnxl_shape_lit(n, list.items[k]);
  *ret_count = (uint32_t)list.count;
  return items;
}

void
onnxl_shape_rule_slice(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  uint32_t n_starts = 0, n_ends = 0, n_steps = 0, n_axes;
  bool axes_present;
  bool new = n->schema->since >= 10;
  const int64_t *axes = onnxl_shape_ints(n, new ? NULL : "axes", 3, &n_axes, &axes_present);
  const OnnxlExpr *starts = expressions(n, "starts", 1, &n_starts), *ends = expressions(n, "ends", 2, &n_ends);
  const OnnxlExpr *steps = new ? onnxl_shape_values(n, 4, &n_steps) : NULL;
  OnnxlExpr one = onnxl_shape_lit(n, 1), zero = onnxl_shape_lit(n, 0);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  for (uint32_t i = 0; i < input->rank; i++)
    onnxl_shape_at_most(n, 0, i, input->dims[i]);
  int64_t count = axes ? n_axes : onnxl_shape_length(n, 1);
  if (!new)
    count = n_starts;
  if ((axes_present && !axes) || count < 0)
    return;
  if (count > input->rank) {
    onnxl_shape_error(n, "%" G_GINT64_FORMAT " starts for input %s", count, onnxl_shape_text(n, input));
    return;
  }
  if (axes && n_axes != count) {
    onnxl_shape_error(n, "%u axes have %" G_GINT64_FORMAT " starts", n_axes, count);
    return;
  }
  bool steps_present = new &&onnxl_shape_input(n, 4) != NULL;
  if ((starts && n_starts != count) || (ends && n_ends != count) || (steps && n_steps != count)) {
    onnxl_shape_error(n, "starts, ends, axes and steps have %u, %u, %" G_GINT64_FORMAT " and %u values", n_starts,
                      n_ends, count, steps ? n_steps : (uint32_t)count);
    return;
  }
  OnnxlExpr first[ONNXL_SHAPE_MAX_RANK], by[ONNXL_SHAPE_MAX_RANK];
  bool seen[ONNXL_SHAPE_MAX_RANK] = { false };
  for (uint32_t i = 0; i < input->rank; i++) {
    dims[i] = input->dims[i];
    first[i] = zero;
    by[i] = one;
  }
  for (int64_t i = 0; i < count; i++) {
    uint32_t axis = (uint32_t)i;
    if (axes && !onnxl_shape_axis(n, axes[i], input->rank, &axis))
      return;
    if (seen[axis]) {
      onnxl_shape_error(n, "axis %u is sliced twice", axis);
      return;
    }
    seen[axis] = true;
    OnnxlExpr step = steps ? steps[i] : steps_present ? NULL : one;
    first[axis] = starts ? starts[i] : NULL;
    by[axis] = step;
    if (onnxl_shape_is(step, 0)) {
      onnxl_shape_error(n, "the step of axis %u is 0", axis);
      return;
    }
    dims[axis] = starts && ends ? slice_length(n, dims[axis], starts[i], ends[i], step) : NULL;
  }
  move_slice(n, input, first, by);
}
