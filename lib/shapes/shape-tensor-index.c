/* Parts of tensors: Slice, Gather and its kin, Scatter, Concat, Split, Pad, and what selects elements by their values.
 */
#include "shapes/shape-rules.h"

/* --- Slice -------------------------------------------------------------------------------------------------------- */

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
  int64_t by;
  if (!d || !s || !e || !step || !onnxl_expr_is_int(step, &by) || by == 0)
    return NULL;
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
    if (!starts[d] || !steps[d] || !onnxl_expr_is_int(starts[d], &first[d]) || !onnxl_expr_is_int(steps[d], &by[d]))
      return;
    if (first[d] < 0)
      first[d] = first[d] < -dims[d] ? 0 : first[d] + dims[d];
    first[d] = MIN(first[d], by[d] > 0 ? dims[d] : dims[d] - 1);
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
  int64_t count = axes ? n_axes : onnxl_shape_length(n, 1);
  if (!new)
    count = n_starts;
  if ((axes_present && !axes) || count < 0 || (!axes && count > input->rank))
    return;
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
  for (uint32_t i = 0; i < input->rank; i++) {
    dims[i] = input->dims[i];
    first[i] = zero;
    by[i] = one;
  }
  for (int64_t i = 0; i < count; i++) {
    uint32_t axis = (uint32_t)i;
    if (axes && !onnxl_shape_axis(n, axes[i], input->rank, &axis))
      return;
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

/* --- Gather and Scatter ------------------------------------------------------------------------------------------- */

static void
move_gathered(OnnxlShapeNode *n, const OnnxlInfo *data, uint32_t axis)
{
  int64_t dims[ONNXL_SHAPE_MAX_RANK];
  uint32_t n_indices;
  const int64_t *indices = data->has_contents || data->reals ? onnxl_shape_literals(n, 1, &n_indices) : NULL;
  int64_t count = indices ? onnxl_shape_small(n, 0) : -1;
  if (count < 0 || !onnxl_shape_literal_dims(data, dims))
    return;
  int64_t outer = 1, inner = 1;
  for (uint32_t i = 0; i < axis; i++)
    outer *= dims[i];
  for (uint32_t i = axis + 1; i < data->rank; i++)
    inner *= dims[i];
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, (size_t)count);
  if (!map || outer * inner * n_indices != count)
    return;
  for (int64_t k = 0; k < count; k++) {
    int64_t index = indices[k / inner % n_indices];
    if (index < 0)
      index += dims[axis];
    if (index < 0 || index >= dims[axis])
      return; /* the run fails, or does not come here */
    map[k] = (uint32_t)((k / inner / n_indices * dims[axis] + index) * inner + k % inner);
  }
  onnxl_shape_move(n, 0, data, map, (uint64_t)count);
}

void
onnxl_shape_rule_gather(OnnxlShapeNode *n)
{
  const OnnxlInfo *data = onnxl_shape_ranked(n, 0), *indices = onnxl_shape_ranked(n, 1);
  uint32_t axis;
  if (!data || !indices || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), data->rank, &axis))
    return;
  uint32_t rank = data->rank - 1 + indices->rank;
  if (rank > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  uint32_t k = 0;
  for (uint32_t i = 0; i < axis; i++)
    dims[k++] = data->dims[i];
  for (uint32_t i = 0; i < indices->rank; i++)
    dims[k++] = indices->dims[i];
  for (uint32_t i = axis + 1; i < data->rank; i++)
    dims[k++] = data->dims[i];
  move_gathered(n, data, axis);
}

void
onnxl_shape_rule_gather_elements(OnnxlShapeNode *n)
{
  const OnnxlInfo *data = onnxl_shape_ranked(n, 0), *indices = onnxl_shape_ranked(n, 1);
  if (data && indices && data->rank != indices->rank) {
    onnxl_shape_error(n, "data %s and indices %s have different ranks", onnxl_shape_text(n, data),
                      onnxl_shape_text(n, indices));
    return;
  }
  uint32_t axis;
  if (data && !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), data->rank, &axis))
    return;
  onnxl_shape_same(n, 0, indices);
}

void
onnxl_shape_rule_gather_nd(OnnxlShapeNode *n)
{
  const OnnxlInfo *data = onnxl_shape_ranked(n, 0), *indices = onnxl_shape_ranked(n, 1);
  int64_t depth, batch = n->schema->since >= 12 ? onnxl_shape_int(n, "batch_dims") : 0;
  if (!data || !indices)
    return;
  if (indices->rank < 1 || data->rank < 1 || batch < 0 || batch >= MIN(data->rank, indices->rank)) {
    onnxl_shape_error(n, "data %s, indices %s and batch_dims %" G_GINT64_FORMAT " do not fit",
                      onnxl_shape_text(n, data), onnxl_shape_text(n, indices), batch);
    return;
  }
  OnnxlExpr last = indices->dims[indices->rank - 1];
  if (!last || !onnxl_expr_is_int(last, &depth))
    return;
  if (depth < 1 || depth > data->rank - batch) {
    onnxl_shape_error(n, "indices of %" G_GINT64_FORMAT " values for data %s with batch_dims %" G_GINT64_FORMAT, depth,
                      onnxl_shape_text(n, data), batch);
    return;
  }
  uint32_t rest = (uint32_t)(data->rank - batch - depth), rank = indices->rank - 1 + rest;
  if (rank > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0; i + 1 < indices->rank; i++)
    dims[i] = indices->dims[i];
  for (uint32_t i = 0; i < rest; i++)
    dims[indices->rank - 1 + i] = data->dims[data->rank - rest + i];
}

/* --- Concat and Split --------------------------------------------------------------------------------------------- */

static void
move_joined(OnnxlShapeNode *n)
{
  int64_t count = onnxl_shape_small(n, 0);
  bool any = false;
  for (uint32_t i = 0; i < n->n_inputs; i++)
    any = any || (n->inputs[i] && n->inputs[i]->has_contents);
  OnnxlExpr *contents = any && count >= 0 ? onnxl_shape_contents(n, 0, (uint64_t)count) : NULL;
  bool reals = !any && count >= 0;
  for (uint32_t i = 0; i < n->n_inputs; i++)
    reals = reals && n->inputs[i] && n->inputs[i]->reals;
  double *values = reals ? ONNXL_NEW_ARRAY(n->arena, double, (size_t)count) : NULL;
  int64_t at = 0;
  for (uint32_t i = 0; (contents || values) && i < n->n_inputs; i++) {
    int64_t length = onnxl_shape_length(n, i);
    if (length < 0 || length > count - at)
      return;
    for (int64_t k = 0; k < length; k++, at++) {
      if (values)
        values[at] = n->inputs[i]->reals[k];
      else
        contents[at] = n->inputs[i]->has_contents ? n->inputs[i]->contents[k] : NULL;
    }
  }
  if (values) {
    n->outputs[0].reals = values;
    n->outputs[0].n_contents = (uint32_t)count;
  }
}

void
onnxl_shape_rule_concat(OnnxlShapeNode *n)
{
  const OnnxlInfo *first = NULL;
  bool complete = true;
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    const OnnxlInfo *info = onnxl_shape_ranked(n, i);
    complete = complete && info;
    if (info && !first)
      first = info;
    if (info && info->rank != first->rank) {
      onnxl_shape_error(n, "inputs %s and %s have different ranks", onnxl_shape_text(n, first),
                        onnxl_shape_text(n, info));
      return;
    }
  }
  uint32_t axis;
  int64_t wanted = n->schema->since < 4 && !onnxl_shape_has(n, "axis") ? 1 : onnxl_shape_int(n, "axis");
  if (!first || !onnxl_shape_axis(n, wanted, first->rank, &axis))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, first->rank);
  for (uint32_t k = 0; k < first->rank; k++) {
    if (k == axis)
      continue;
    for (uint32_t i = 0; i < n->n_inputs && !n->failed; i++) {
      const OnnxlInfo *info = onnxl_shape_ranked(n, i);
      if (info)
        dims[k] = onnxl_shape_equal(n, dims[k], info->dims[k], "sizes beside the axis");
    }
  }
  OnnxlExpr *parts = complete ? ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, n->n_inputs) : NULL;
  if (!parts)
    return;
  for (uint32_t i = 0; i < n->n_inputs; i++)
    parts[i] = n->inputs[i]->dims[axis];
  dims[axis] = onnxl_expr_sum(n->pool, parts, n->n_inputs);
  if (first->rank == 1)
    move_joined(n);
}

/* The part [from, from + length) of rank-1 contents. */
static void
move_part(OnnxlShapeNode *n, uint32_t output, const OnnxlInfo *input, OnnxlExpr from, OnnxlExpr length)
{
  int64_t start, count;
  if ((!input->has_contents && !input->reals) || input->rank != 1 || !from || !length ||
      !onnxl_expr_is_int(from, &start) || !onnxl_expr_is_int(length, &count) || start < 0 || count < 0 ||
      count > input->n_contents || start > (int64_t)input->n_contents - count)
    return;
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, (size_t)count);
  for (int64_t i = 0; map && i < count; i++)
    map[i] = (uint32_t)(start + i);
  if (map)
    onnxl_shape_move(n, output, input, map, (uint64_t)count);
}

/* Sizes of the parts: given, or equal ones. With num_outputs each has ceil(d / num_outputs) elements, as long as there
 * are any left. */
static bool
split_sizes(OnnxlShapeNode *n, OnnxlExpr d, OnnxlExpr *sizes)
{
  uint32_t count, parts = n->n_outputs;
  const OnnxlExpr *given = NULL;
  bool present = false;
  OnnxlInt64List list = onnxl_attr_ints(n->proto, "split");
  if (n->schema->since >= 13 || n->schema->since == 1) {
    present = onnxl_shape_input(n, 1) != NULL;
    given = onnxl_shape_values(n, 1, &count);
  }
  if (!present && onnxl_shape_has(n, "split") && n->schema->since < 13) {
    if (list.count != parts) {
      onnxl_shape_error(n, "split has %zu sizes for %u outputs", list.count, parts);
      return false;
    }
    for (uint32_t i = 0; i < parts; i++)
      sizes[i] = onnxl_shape_lit(n, list.items[i]);
    onnxl_shape_equal(n, onnxl_expr_sum(n->pool, sizes, parts), d, "the sum of the parts and the axis");
    return !n->failed;
  }
  if (present) {
    if (given && count != parts) {
      onnxl_shape_error(n, "split has %u sizes for %u outputs", count, parts);
      return false;
    }
    for (uint32_t i = 0; given && i < parts; i++)
      sizes[i] = given[i];
    onnxl_shape_equal(n, given ? onnxl_expr_sum(n->pool, sizes, parts) : NULL, d, "the sum of the parts and the axis");
    return !n->failed;
  }
  int64_t value;
  OnnxlExpr k = onnxl_shape_lit(n, parts);
  if (n->schema->since < 18) {
    if (d && onnxl_expr_is_int(d, &value) && value % parts != 0) {
      onnxl_shape_error(n, "%" G_GINT64_FORMAT " cannot be split into %u equal parts", value, parts);
      return false;
    }
    for (uint32_t i = 0; i < parts; i++)
      sizes[i] = onnxl_expr_exact_div(n->pool, d, k);
    return true;
  }
  if (onnxl_shape_has(n, "num_outputs") && onnxl_shape_int(n, "num_outputs") != parts) {
    onnxl_shape_error(n, "num_outputs is %" G_GINT64_FORMAT " for %u outputs", onnxl_shape_int(n, "num_outputs"),
                      parts);
    return false;
  }
  OnnxlExpr chunk = onnxl_expr_ceil_div(n->pool, d, k), zero = onnxl_shape_lit(n, 0);
  for (uint32_t i = 0; i < parts; i++) {
    OnnxlExpr left = onnxl_expr_sub(n->pool, d, onnxl_expr_mul(n->pool, onnxl_shape_lit(n, i), chunk));
    if (i == 0)
      sizes[i] = chunk;
    else if (parts == 2) /* 0 <= d - ceil(d / 2) <= ceil(d / 2) */
      sizes[i] = left;
    else
      sizes[i] = onnxl_expr_max(n->pool, zero, onnxl_expr_min(n->pool, chunk, left));
  }
  return true;
}

void
onnxl_shape_rule_split(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  OnnxlExpr *sizes = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, n->n_outputs);
  if (!input || !sizes || n->n_outputs == 0 || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis) ||
      !split_sizes(n, input->dims[axis], sizes))
    return;
  OnnxlExpr from = onnxl_shape_lit(n, 0);
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    OnnxlExpr *dims = onnxl_shape_output(n, i, input->rank);
    for (uint32_t k = 0; k < input->rank; k++)
      dims[k] = k == axis ? sizes[i] : input->dims[k];
    move_part(n, i, input, from, sizes[i]);
    from = onnxl_expr_add(n->pool, from, sizes[i]);
  }
}

/* --- Pad ---------------------------------------------------------------------------------------------------------- */

/* Begins of all axes, then ends; the attribute was called paddings at first. */
static const OnnxlExpr *
pads_of(OnnxlShapeNode *n, uint32_t *ret_count)
{
  if (n->schema->since >= 11)
    return onnxl_shape_values(n, 1, ret_count);
  OnnxlInt64List list = onnxl_attr_ints(n->proto, n->schema->since < 2 ? "paddings" : "pads");
  OnnxlExpr *pads = list.count <= 2 * ONNXL_SHAPE_MAX_RANK ? ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, list.count) : NULL;
  for (size_t i = 0; pads && i < list.count; i++)
    pads[i] = onnxl_shape_lit(n, list.items[i]);
  *ret_count = (uint32_t)list.count;
  return pads;
}

void
onnxl_shape_rule_pad(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  uint32_t n_pads = 0, n_axes = input->rank;
  bool axes_present = false;
  const int64_t *axes = n->schema->since >= 18 ? onnxl_shape_ints(n, NULL, 3, &n_axes, &axes_present) : NULL;
  const OnnxlExpr *pads = pads_of(n, &n_pads);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (axes_present && !axes)
    return;
  if (!axes_present)
    n_axes = input->rank;
  if (pads && n_pads != 2 * n_axes) {
    onnxl_shape_error(n, "%u pads are given for %u axes", n_pads, n_axes);
    return;
  }
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  for (uint32_t i = 0; i < n_axes; i++) {
    uint32_t axis = i;
    if (axes && !onnxl_shape_axis(n, axes[i], input->rank, &axis))
      return;
    OnnxlExpr both = pads ? onnxl_expr_add(n->pool, pads[i], pads[i + n_axes]) : NULL;
    dims[axis] = onnxl_expr_add(n->pool, dims[axis], both);
  }
}

void
onnxl_shape_rule_center_crop_pad(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t count, n_axes;
  bool present;
  const OnnxlExpr *sizes = onnxl_shape_values(n, 1, &count);
  const int64_t *axes = onnxl_shape_ints(n, "axes", UINT32_MAX, &n_axes, &present);
  if (!input)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (present && !axes)
    return;
  if (!present)
    n_axes = input->rank;
  if (sizes && count != n_axes) {
    onnxl_shape_error(n, "%u sizes are given for %u axes", count, n_axes);
    return;
  }
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  for (uint32_t i = 0; i < n_axes; i++) {
    uint32_t axis = i;
    if (axes && !onnxl_shape_axis(n, axes[i], input->rank, &axis))
      return;
    dims[axis] = sizes ? sizes[i] : NULL;
  }
}

/* --- selection by values ------------------------------------------------------------------------------------------ */

void
onnxl_shape_rule_top_k(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis))
    return;
  OnnxlExpr k = n->schema->since >= 10 ? onnxl_shape_scalar(n, 1) : onnxl_shape_lit(n, onnxl_shape_int(n, "k"));
  int64_t wanted, size;
  if (k && input->dims[axis] && onnxl_expr_is_int(k, &wanted) && onnxl_expr_is_int(input->dims[axis], &size) &&
      (wanted < 0 || wanted > size)) {
    onnxl_shape_error(n, "k is %" G_GINT64_FORMAT " for an axis of %" G_GINT64_FORMAT, wanted, size);
    return;
  }
  if (!k && input->dims[axis])
    k = onnxl_shape_new_size(n, 0, axis);
  for (uint32_t i = 0; i < 2; i++) {
    OnnxlExpr *dims = onnxl_shape_output(n, i, input->rank);
    for (uint32_t d = 0; d < input->rank; d++)
      dims[d] = d == axis ? k : input->dims[d];
  }
}

void
onnxl_shape_rule_non_zero(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  if (!input)
    return;
  dims[0] = onnxl_shape_lit(n, input->rank);
  uint32_t count;
  const int64_t *values = onnxl_shape_literals(n, 0, &count);
  int64_t found = 0;
  for (uint32_t i = 0; values && i < count; i++)
    found += values[i] != 0;
  if (values)
    dims[1] = onnxl_shape_lit(n, found);
}

void
onnxl_shape_rule_compress(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!onnxl_shape_has(n, "axis")) {
    onnxl_shape_output(n, 0, 1);
    return;
  }
  uint32_t axis, count;
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  const int64_t *values = onnxl_shape_literals(n, 1, &count);
  int64_t found = 0;
  for (uint32_t i = 0; values && i < count; i++)
    found += values[i] != 0;
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = i != axis ? input->dims[i] : values ? onnxl_shape_lit(n, found) : NULL;
}

/* Y, indices and counts share the number of different elements. */
void
onnxl_shape_rule_unique(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t axis = 0;
  bool along = onnxl_shape_has(n, "axis");
  if (along && (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis)))
    along = false;
  OnnxlExpr found = onnxl_shape_new_size(n, 0, axis);
  if (along) {
    OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
    for (uint32_t i = 0; i < input->rank; i++)
      dims[i] = i == axis ? found : input->dims[i];
  } else if (!onnxl_shape_has(n, "axis")) {
    onnxl_shape_output(n, 0, 1)[0] = found;
  }
  onnxl_shape_output(n, 1, 1)[0] = found;
  onnxl_shape_output(n, 2, 1)[0] = along ? input->dims[axis] : input ? onnxl_info_count(n->pool, input) : NULL;
  onnxl_shape_output(n, 3, 1)[0] = found;
}

void
onnxl_shape_rule_one_hot(OnnxlShapeNode *n)
{
  const OnnxlInfo *indices = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  if (!indices || indices->rank >= ONNXL_SHAPE_MAX_RANK ||
      !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), indices->rank + 1, &axis))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, indices->rank + 1);
  for (uint32_t i = 0, k = 0; i <= indices->rank; i++)
    dims[i] = i == axis ? onnxl_shape_scalar(n, 1) : indices->dims[k++];
}
