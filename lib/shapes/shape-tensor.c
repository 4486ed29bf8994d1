/* Shapes themselves and what changes a shape but no value: Shape, Size, Identity, Reshape, Flatten, Squeeze, Unsqueeze,
 * Transpose, Expand, Tile, DepthToSpace, SpaceToDepth. */
#include "shapes/shape-rules.h"

/* Everything that is known of input 0 holds of output 0. */
void
onnxl_shape_rule_identity(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (input && n->n_outputs > 0)
    n->outputs[0] = *input;
}

static int64_t
clamp(int64_t value, int64_t min, int64_t max)
{
  return value < min ? min : value > max ? max : value;
}

void
onnxl_shape_rule_shape(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 1);
  if (!input)
    return;
  int64_t rank = input->rank, start = 0, end = rank;
  if (onnxl_shape_has(n, "start"))
    start = onnxl_shape_int(n, "start");
  if (onnxl_shape_has(n, "end"))
    end = onnxl_shape_int(n, "end");
  start = clamp(start < 0 ? start + rank : start, 0, rank);
  end = clamp(end < 0 ? end + rank : end, start, rank);
  dims[0] = onnxl_shape_lit(n, end - start);
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, (uint64_t)(end - start));
  for (int64_t i = start; contents && i < end; i++)
    contents[i - start] = input->dims[i];
}

void
onnxl_shape_rule_size(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  onnxl_shape_output(n, 0, 0);
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, 1);
  if (contents && input)
    contents[0] = onnxl_info_count(n->pool, input);
}

/* Reshape. An entry of the target is a size, 0 (which copies the input's dim at its place, unless allowzero is set) or
 * -1 (what is left). A symbolic entry may be 0 in a run, and then copies too; see zero_entries(). */

typedef struct Target {
  const OnnxlInfo *input; /* NULL: rank unknown */
  const OnnxlExpr *entries;
  uint32_t rank;
  bool allow_zero;
  int32_t rest;    /* the place of -1, or -1 */
  OnnxlExpr *dims; /* the result */
  bool *entry;     /* by place: dims came from the entry, not copied */
} Target;

static OnnxlExpr
copied(const Target *t, uint32_t i)
{
  return t->input && i < t->input->rank ? t->input->dims[i] : NULL;
}

/* One entry, 0 and -1 apart. Negative in some runs: taken for a size, on the condition that it is one. */
static OnnxlExpr
entry_size(OnnxlShapeNode *n, OnnxlExpr e)
{
  if (!e || onnxl_shape_min(n, e) >= 0)
    return e;
  return onnxl_shape_assume(n, e, ONNXL_REL_GE, onnxl_shape_lit(n, 0)) ? e : NULL;
}

static bool
read_entries(OnnxlShapeNode *n, Target *t)
{
  for (uint32_t i = 0; i < t->rank; i++) {
    int64_t value;
    OnnxlExpr e = t->entries[i];
    if (!e || !onnxl_expr_is_int(e, &value)) {
      t->dims[i] = entry_size(n, e);
      t->entry[i] = true;
    } else if (value == 0 && !t->allow_zero) {
      if (t->input && i >= t->input->rank) {
        onnxl_shape_error(n, "entry %u of the shape is 0, but the input has rank %u only", i, t->input->rank);
        return false;
      }
      t->dims[i] = copied(t, i);
    } else if (value == -1) {
      if (t->rest >= 0) {
        onnxl_shape_error(n, "the shape has -1 twice");
        return false;
      }
      t->rest = (int32_t)i;
    } else if (value < -1) {
      onnxl_shape_error(n, "entry %u of the shape is %" G_GINT64_FORMAT, i, value);
      return false;
    } else {
      t->dims[i] = e;
      t->entry[i] = true;
    }
  }
  return true;
}

/* What a symbolic entry that is 0 in a run means: it copies the input's dim d there. That is the same when d is 0 as
 * well, or when such a run fails:
 *  - next to a -1 it is fine if d is 0 too, since nothing can be inferred then; otherwise it is ruled out by a
 * constraint;
 *  - where the element counts are equal as expressions, the run fails unless another entry is 0 as well; two such
 * entries are ruled out by a constraint. Else the size is e if e >= 1 and d otherwise: e + d * (1 - min(e, 1)). */
static void
zero_entries(OnnxlShapeNode *n, Target *t)
{
  if (t->allow_zero || !t->input)
    return;
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  OnnxlExpr all = t->rest < 0 ? onnxl_shape_product(n, t->dims, 0, t->rank) : NULL;
  bool counts_equal = all && all == onnxl_info_count(n->pool, t->input);
  for (uint32_t i = 0; i < t->rank; i++) {
    OnnxlExpr e = t->dims[i], d = copied(t, i);
    if (!t->entry[i] || !e || e == d || onnxl_shape_min(n, e) >= 1)
      continue;
    if (i >= t->input->rank) /* a 0 there is an error */
      continue;
    if (t->rest >= 0) {
      if (!onnxl_shape_assume(n, e, ONNXL_REL_GE, one))
        t->dims[i] = NULL;
      continue;
    }
    if (counts_equal) {
      bool sound = true;
      for (uint32_t k = 0; k < t->rank && sound; k++)
        if (k != i && t->dims[k] && onnxl_shape_min(n, t->dims[k]) < 1)
          sound = onnxl_shape_assume(n, onnxl_expr_add(n->pool, e, t->dims[k]), ONNXL_REL_GE, one);
      if (sound)
        continue;
    }
    OnnxlExpr absent = onnxl_expr_sub(n->pool, one, onnxl_expr_min(n->pool, e, one));
    t->dims[i] = onnxl_expr_add(n->pool, e, onnxl_expr_mul(n->pool, d, absent));
  }
}

/* The count of the input over the product of the other entries; equal factors cancel first, so that unknown or very
 * large ones do no harm. A run in which they are 0 fails: nothing can be inferred. */
static void
infer_rest(OnnxlShapeNode *n, Target *t)
{
  OnnxlExpr upper = onnxl_shape_lit(n, 1), lower = upper;
  bool used[ONNXL_SHAPE_MAX_RANK] = { false };
  if (!t->input)
    return;
  for (uint32_t i = 0; i < t->rank; i++) {
    if ((int32_t)i == t->rest)
      continue;
    bool cancelled = false;
    for (uint32_t k = 0; k < t->input->rank && !cancelled; k++)
      if (!used[k] && t->dims[i] && t->dims[i] == t->input->dims[k])
        used[k] = cancelled = true;
    if (!cancelled)
      lower = onnxl_expr_mul(n->pool, lower, t->dims[i]);
  }
  for (uint32_t k = 0; k < t->input->rank; k++)
    if (!used[k])
      upper = onnxl_expr_mul(n->pool, upper, t->input->dims[k]);
  int64_t divisor, count;
  if (lower && onnxl_expr_is_int(lower, &divisor)) {
    if (divisor == 0)
      return;
    if (upper && onnxl_expr_is_int(upper, &count) && count % divisor != 0) {
      onnxl_shape_error(n, "%" G_GINT64_FORMAT " elements cannot be split over %" G_GINT64_FORMAT, count, divisor);
      return;
    }
  }
  t->dims[t->rest] = onnxl_expr_exact_div(n->pool, upper, lower);
}

static void
check_counts(OnnxlShapeNode *n, const Target *t)
{
  OnnxlExpr all = onnxl_shape_product(n, t->dims, 0, t->rank), count = onnxl_info_count(n->pool, t->input);
  if (!all || !count)
    return;
  OnnxlExprOrder order = onnxl_expr_compare(n->pool, all, count);
  if (order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_NOT_EQUAL) {
    OnnxlInfo info = { .has_rank = true, .rank = t->rank, .dims = t->dims };
    onnxl_shape_error(n, "shape %s cannot become %s", onnxl_shape_text(n, t->input), onnxl_shape_text(n, &info));
  }
}

static void
reshape(OnnxlShapeNode *n, const OnnxlExpr *entries, uint32_t rank, bool allow_zero)
{
  if (rank > ONNXL_SHAPE_MAX_RANK)
    return;
  bool entry[ONNXL_SHAPE_MAX_RANK] = { false };
  Target t = {
    .input = onnxl_shape_ranked(n, 0),
    .entries = entries,
    .rank = rank,
    .allow_zero = allow_zero,
    .rest = -1,
    .dims = onnxl_shape_output(n, 0, rank),
    .entry = entry,
  };
  if (!read_entries(n, &t))
    return;
  zero_entries(n, &t);
  if (t.rest >= 0)
    infer_rest(n, &t);
  else if (t.input)
    check_counts(n, &t);
  if (t.input)
    onnxl_shape_move(n, 0, t.input, NULL, t.input->n_contents);
}

void
onnxl_shape_rule_reshape(OnnxlShapeNode *n)
{
  uint32_t count;
  if (n->schema->since < 5) {
    OnnxlInt64List list = onnxl_attr_ints(n->proto, "shape");
    OnnxlExpr *entries = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, list.count);
    for (size_t i = 0; entries && i < list.count; i++)
      entries[i] = onnxl_shape_lit(n, list.items[i]);
    if (entries && list.count <= ONNXL_SHAPE_MAX_RANK)
      reshape(n, entries, (uint32_t)list.count, false);
    return;
  }
  bool allow_zero = n->schema->since >= 14 && onnxl_shape_int(n, "allowzero") != 0;
  const OnnxlExpr *entries = onnxl_shape_values(n, 1, &count);
  if (entries) {
    reshape(n, entries, count, allow_zero);
    return;
  }
  int64_t rank = onnxl_shape_length(n, 1);
  if (rank >= 0 && rank <= ONNXL_SHAPE_MAX_RANK)
    onnxl_shape_output(n, 0, (uint32_t)rank);
}

void
onnxl_shape_rule_flatten(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  if (!input)
    return;
  int64_t axis = onnxl_shape_int(n, "axis");
  if (axis < -(int64_t)input->rank || axis > (int64_t)input->rank) {
    onnxl_shape_error(n, "axis %" G_GINT64_FORMAT " is out of range for rank %u", axis, input->rank);
    return;
  }
  uint32_t at = (uint32_t)(axis < 0 ? axis + input->rank : axis);
  dims[0] = onnxl_shape_product(n, input->dims, 0, at);
  dims[1] = onnxl_shape_product(n, input->dims, at, input->rank);
  onnxl_shape_move(n, 0, input, NULL, input->n_contents);
}

/* Marks the axes of a list. False: one is out of range or stands twice, which is reported. */
static bool
mark_axes(OnnxlShapeNode *n, const int64_t *axes, uint32_t count, uint32_t rank, bool *marks)
{
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis;
    if (!onnxl_shape_axis(n, axes[i], rank, &axis))
      return false;
    if (marks[axis]) {
      onnxl_shape_error(n, "axis %" G_GINT64_FORMAT " stands twice", axes[i]);
      return false;
    }
    marks[axis] = true;
  }
  return true;
}

void
onnxl_shape_rule_squeeze(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  bool present, marks[ONNXL_SHAPE_MAX_RANK] = { false };
  uint32_t count, rank = 0;
  const int64_t *axes = onnxl_shape_ints(n, "axes", 1, &count, &present);
  if (!input)
    return;
  if (present && !axes) {
    int64_t length = onnxl_shape_length(n, 1);
    if (length >= 0 && length <= input->rank)
      onnxl_shape_output(n, 0, input->rank - (uint32_t)length);
    return;
  }
  if (present && !mark_axes(n, axes, count, input->rank, marks))
    return;
  for (uint32_t i = 0; i < input->rank; i++) {
    if (!present) { /* all dims of 1: the rank depends on the symbols */
      if (onnxl_shape_min(n, input->dims[i]) <= 1 && onnxl_shape_max(n, input->dims[i]) >= 1 &&
          !onnxl_expr_is_int(input->dims[i], NULL))
        return;
      marks[i] = onnxl_shape_is(input->dims[i], 1);
    } else if (marks[i] && (onnxl_shape_min(n, input->dims[i]) > 1 || onnxl_shape_max(n, input->dims[i]) < 1)) {
      onnxl_shape_error(n, "axis %u of %s is not 1", i, onnxl_shape_text(n, input));
      return;
    }
    rank += !marks[i];
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0, k = 0; i < input->rank; i++)
    if (!marks[i])
      dims[k++] = input->dims[i];
  onnxl_shape_move(n, 0, input, NULL, input->n_contents);
}

void
onnxl_shape_rule_unsqueeze(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  bool present, marks[ONNXL_SHAPE_MAX_RANK] = { false };
  uint32_t count;
  const int64_t *axes = onnxl_shape_ints(n, "axes", 1, &count, &present);
  if (!input)
    return;
  int64_t added = axes ? count : onnxl_shape_length(n, 1);
  if (added < 0 || added + input->rank > ONNXL_SHAPE_MAX_RANK)
    return;
  uint32_t rank = input->rank + (uint32_t)added;
  if (axes && !mark_axes(n, axes, count, rank, marks))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0, k = 0; axes && i < rank; i++)
    dims[i] = marks[i] ? onnxl_shape_lit(n, 1) : input->dims[k++];
  onnxl_shape_move(n, 0, input, NULL, input->n_contents);
}

static void
move_transposed(OnnxlShapeNode *n, const OnnxlInfo *input, const uint32_t *order)
{
  int64_t dims[ONNXL_SHAPE_MAX_RANK];
  uint32_t strides[ONNXL_SHAPE_MAX_RANK], index[ONNXL_SHAPE_MAX_RANK] = { 0 };
  if ((!input->has_contents && !input->reals) || !onnxl_shape_literal_dims(input, dims))
    return;
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, input->n_contents);
  if (!map)
    return;
  uint32_t stride = 1;
  for (uint32_t i = input->rank; i > 0; i--) {
    strides[i - 1] = stride;
    stride *= (uint32_t)dims[i - 1];
  }
  for (uint32_t k = 0; k < input->n_contents; k++) {
    for (uint32_t i = 0; i < input->rank; i++)
      map[k] += index[i] * strides[order[i]];
    for (uint32_t i = input->rank; i > 0 && ++index[i - 1] == dims[order[i - 1]]; i--)
      index[i - 1] = 0;
  }
  onnxl_shape_move(n, 0, input, map, input->n_contents);
}

void
onnxl_shape_rule_transpose(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlInt64List perm = onnxl_attr_ints(n->proto, "perm");
  bool present = onnxl_shape_has(n, "perm"), marks[ONNXL_SHAPE_MAX_RANK] = { false };
  uint32_t order[ONNXL_SHAPE_MAX_RANK];
  if (!input) {
    if (present && perm.count > 0 && perm.count <= ONNXL_SHAPE_MAX_RANK)
      onnxl_shape_output(n, 0, (uint32_t)perm.count);
    return;
  }
  uint32_t rank = input->rank;
  if (present && perm.count != rank && !(perm.count == 0 && rank > 0)) {
    onnxl_shape_error(n, "perm has %zu values when the input has rank %u", perm.count, rank);
    return;
  }
  present = present && perm.count > 0;
  if (present && !mark_axes(n, perm.items, rank, rank, marks))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0; i < rank; i++) {
    order[i] = rank - 1 - i;
    if (present)
      order[i] = (uint32_t)(perm.items[i] < 0 ? perm.items[i] + rank : perm.items[i]);
    dims[i] = input->dims[order[i]];
  }
  move_transposed(n, input, order);
}

static void
move_broadcast(OnnxlShapeNode *n, const OnnxlInfo *input)
{
  int64_t count = input->has_contents || input->reals ? onnxl_shape_small(n, 0) : -1;
  const uint32_t *map = count >= 0 ? onnxl_shape_broadcast_map(n, 0, input, (uint32_t)count) : NULL;
  if (map)
    onnxl_shape_move(n, 0, input, map, (uint64_t)count);
}

void
onnxl_shape_rule_expand(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  int64_t length = onnxl_shape_length(n, 1);
  if (!input || length < 0 || length > ONNXL_SHAPE_MAX_RANK)
    return;
  uint32_t count;
  const OnnxlExpr *entries = onnxl_shape_values(n, 1, &count);
  OnnxlExpr sizes[ONNXL_SHAPE_MAX_RANK] = { NULL };
  for (int64_t i = 0; entries && i < length; i++) {
    int64_t value;
    if (entries[i] && onnxl_expr_is_int(entries[i], &value) && value < 0) {
      onnxl_shape_error(n, "entry %" G_GINT64_FORMAT " of the shape is %" G_GINT64_FORMAT, i, value);
      return;
    }
    sizes[i] = entries[i];
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, MAX(input->rank, (uint32_t)length));
  if (onnxl_shape_broadcast(n, input->dims, input->rank, sizes, (uint32_t)length, dims))
    move_broadcast(n, input);
}

void
onnxl_shape_rule_tile(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input) {
    int64_t length = n->schema->since >= 6 ? onnxl_shape_length(n, 1) : -1;
    if (length >= 0 && length <= ONNXL_SHAPE_MAX_RANK)
      onnxl_shape_output(n, 0, (uint32_t)length);
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (n->schema->since < 6) { /* how often, and along which axis: two scalars */
    int64_t axis;
    uint32_t at;
    OnnxlExpr times = onnxl_shape_scalar(n, 1), where = onnxl_shape_scalar(n, 2);
    if (!where || !onnxl_expr_is_int(where, &axis) || !onnxl_shape_axis(n, axis, input->rank, &at))
      return;
    for (uint32_t i = 0; i < input->rank; i++)
      dims[i] = i == at ? onnxl_expr_mul(n->pool, input->dims[i], times) : input->dims[i];
    return;
  }
  uint32_t count;
  const OnnxlExpr *repeats = onnxl_shape_values(n, 1, &count);
  int64_t length = onnxl_shape_length(n, 1);
  if (length >= 0 && length != input->rank) {
    onnxl_shape_error(n, "%" G_GINT64_FORMAT " repeats are given for an input of rank %u", length, input->rank);
    return;
  }
  for (uint32_t i = 0; repeats && i < count && i < input->rank; i++)
    dims[i] = onnxl_expr_mul(n->pool, input->dims[i], repeats[i]);
  /* The common case of contents: one row, repeated. */
  int64_t small = input->has_contents || input->reals ? onnxl_shape_small(n, 0) : -1;
  if (input->rank != 1 || small < 0 || input->n_contents == 0)
    return;
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, (size_t)small);
  for (int64_t i = 0; map && i < small; i++)
    map[i] = (uint32_t)(i % input->n_contents);
  if (map)
    onnxl_shape_move(n, 0, input, map, (uint64_t)small);
}

static const OnnxlInfo *
block_input(OnnxlShapeNode *n, int64_t *ret_size)
{
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 4);
  *ret_size = onnxl_shape_int(n, "blocksize");
  if (!n->failed && (*ret_size < 1 || *ret_size > INT32_MAX)) {
    onnxl_shape_error(n, "blocksize is %" G_GINT64_FORMAT, *ret_size);
    return NULL;
  }
  return input;
}

/* The exact quotient; a literal that leaves a remainder is an error. */
static OnnxlExpr
block_quotient(OnnxlShapeNode *n, OnnxlExpr dim, int64_t by)
{
  int64_t value;
  if (dim && onnxl_expr_is_int(dim, &value) && value % by != 0) {
    onnxl_shape_error(n, "%" G_GINT64_FORMAT " is not a multiple of %" G_GINT64_FORMAT, value, by);
    return NULL;
  }
  return onnxl_expr_exact_div(n->pool, dim, onnxl_shape_lit(n, by));
}

void
onnxl_shape_rule_depth_to_space(OnnxlShapeNode *n)
{
  int64_t size;
  const OnnxlInfo *input = block_input(n, &size);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 4);
  if (!input)
    return;
  dims[0] = input->dims[0];
  dims[1] = block_quotient(n, input->dims[1], size * size);
  for (uint32_t i = 2; i < 4; i++)
    dims[i] = onnxl_expr_mul(n->pool, input->dims[i], onnxl_shape_lit(n, size));
}

void
onnxl_shape_rule_space_to_depth(OnnxlShapeNode *n)
{
  int64_t size;
  const OnnxlInfo *input = block_input(n, &size);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 4);
  if (!input)
    return;
  dims[0] = input->dims[0];
  dims[1] = onnxl_expr_mul(n->pool, input->dims[1], onnxl_shape_lit(n, size * size));
  for (uint32_t i = 2; i < 4; i++)
    dims[i] = block_quotient(n, input->dims[i], size);
}
