/* Shapes themselves and what changes a shape but no value: Shape, Size, Identity, Flatten, Squeeze, Unsqueeze,
 * Transpose, Expand, Tile, DepthToSpace, SpaceToDepth. */
#include "shapes/shape-rules.h"
#include "shapes/slice.h"

/* Everything that is known of input 0 holds of output 0. */
void
onnxl_shape_rule_identity(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (input && n->n_outputs > 0)
    n->outputs[0] = *input;
}

void
onnxl_shape_rule_shape(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 1);
  if (!input)
    return;
  int64_t start = 0, end = input->rank, first, count;
  if (onnxl_shape_has(n, "start"))
    start = onnxl_shape_int(n, "start");
  if (onnxl_shape_has(n, "end"))
    end = onnxl_shape_int(n, "end");
  onnxl_slice_range(input->rank, start, end, 1, &first, &count);
  dims[0] = onnxl_shape_lit(n, count);
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, (uint64_t)count);
  for (int64_t i = 0; contents && i < count; i++)
    contents[i] = input->dims[first + i];
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

static bool
may_be_one(const OnnxlShapeNode *n, OnnxlExpr dim)
{
  return onnxl_shape_min(n, dim) <= 1 && onnxl_shape_max(n, dim) >= 1;
}

/* So many axes go, it is not known which: where there are just as many dims that can be 1, those. */
static void
squeeze_some(OnnxlShapeNode *n, const OnnxlInfo *input, uint32_t count)
{
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank - count);
  uint32_t ones = 0;
  for (uint32_t i = 0; i < input->rank; i++)
    ones += may_be_one(n, input->dims[i]);
  for (uint32_t i = 0, k = 0; ones == count && i < input->rank; i++)
    if (!may_be_one(n, input->dims[i]))
      dims[k++] = input->dims[i];
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
      squeeze_some(n, input, (uint32_t)length);
    return;
  }
  if (present && !mark_axes(n, axes, count, input->rank, marks))
    return;
  for (uint32_t i = 0; i < input->rank; i++) {
    if (!present) { /* all dims of 1: the rank depends on the symbols */
      if (may_be_one(n, input->dims[i]) && !onnxl_expr_is_int(input->dims[i], NULL))
        return;
      marks[i] = onnxl_shape_is(input->dims[i], 1);
    } else if (marks[i] && !may_be_one(n, input->dims[i])) {
      onnxl_shape_error(n, "axis %u of %s is not 1", i, onnxl_shape_text(n, input));
      return;
    } else if (marks[i]) {
      onnxl_shape_assume(n, input->dims[i], ONNXL_REL_EQ, onnxl_shape_lit(n, 1));
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
  if (present && perm.count != rank) {
    onnxl_shape_error(n, "perm has %zu values when the input has rank %u", perm.count, rank);
    return;
  }
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
    if (!onnxl_shape_expect_one(n, 1) || !onnxl_shape_expect_one(n, 2))
      return;
    OnnxlExpr times = onnxl_shape_number(n, 1), where = onnxl_shape_number(n, 2);
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
