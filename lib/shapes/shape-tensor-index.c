/* Parts of tensors: Gather and its kin, Scatter, Concat, Split, Pad, and what selects elements by their values. */
#include "shapes/shape-rules.h"
#include "shapes/sizes.h"

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
  for (uint32_t i = 0; data && indices && i < data->rank; i++)
    if (i != axis && onnxl_shape_min(n, indices->dims[i]) > onnxl_shape_max(n, data->dims[i])) {
      onnxl_shape_misfit(n, 0, 1);
      return;
    }
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
  for (uint32_t i = 0; i < batch; i++)
    if (onnxl_shape_never_equal(n, data->dims[i], indices->dims[i])) {
      onnxl_shape_misfit(n, 0, 1);
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

/* Indices and updates have one shape, which is no larger than the data but on the axis. */
void
onnxl_shape_rule_scatter_elements(OnnxlShapeNode *n)
{
  const OnnxlInfo *data = onnxl_shape_ranked(n, 0), *indices = onnxl_shape_ranked(n, 1);
  uint32_t axis;
  onnxl_shape_same(n, 0, data);
  if (!data || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), data->rank, &axis) ||
      (!onnxl_shape_of_rank(n, 1, data->rank) && n->failed) || !indices)
    return;
  for (uint32_t i = 0; i < data->rank; i++)
    if (i != axis && onnxl_shape_min(n, indices->dims[i]) > onnxl_shape_max(n, data->dims[i])) {
      onnxl_shape_misfit(n, 0, 1);
      return;
    }
  onnxl_shape_expect(n, 2, indices->dims, indices->rank);
}

/* Data [d…], indices [i…, k], updates [i…, d… from k on]. */
void
onnxl_shape_rule_scatter_nd(OnnxlShapeNode *n)
{
  const OnnxlInfo *data = onnxl_shape_ranked(n, 0), *indices = onnxl_shape_of_ranks(n, 1, 1, UINT32_MAX);
  OnnxlExpr updates[2 * ONNXL_SHAPE_MAX_RANK];
  int64_t depth;
  onnxl_shape_same(n, 0, data);
  if (!data || !indices || !indices->dims[indices->rank - 1] ||
      !onnxl_expr_is_int(indices->dims[indices->rank - 1], &depth))
    return;
  if (depth > data->rank) {
    onnxl_shape_misfit(n, 0, 1);
    return;
  }
  uint32_t rank = 0;
  for (uint32_t i = 0; i + 1 < indices->rank; i++)
    updates[rank++] = indices->dims[i];
  for (int64_t i = depth; i < data->rank; i++)
    updates[rank++] = data->dims[i];
  onnxl_shape_expect(n, 2, updates, rank);
}

/* The update has the shape of the cache but on the axis, where it is no longer; a position for each batch. */
void
onnxl_shape_rule_tensor_scatter(OnnxlShapeNode *n)
{
  const OnnxlInfo *cache = onnxl_shape_ranked(n, 0), *update = onnxl_shape_ranked(n, 1);
  uint32_t axis;
  onnxl_shape_same(n, 0, cache);
  if (!cache || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), cache->rank, &axis))
    return;
  OnnxlExpr wanted[ONNXL_SHAPE_MAX_RANK];
  memcpy(wanted, cache->dims, cache->rank * sizeof *wanted);
  wanted[axis] = NULL;
  if (axis == 0)
    onnxl_shape_error(n, "axis 0 of %s is that of the batches", onnxl_shape_text(n, cache));
  else if (onnxl_shape_expect(n, 1, wanted, cache->rank) && update &&
           onnxl_shape_min(n, update->dims[axis]) > onnxl_shape_max(n, cache->dims[axis]))
    onnxl_shape_misfit(n, 0, 1);
  else if (!n->failed)
    onnxl_shape_expect_count(n, 2, cache->dims[0]);
}

/* Batches and time are the first two axes, in any order. */
void
onnxl_shape_rule_reverse_sequence(OnnxlShapeNode *n)
{
  int64_t batch = onnxl_shape_int(n, "batch_axis"), time = onnxl_shape_int(n, "time_axis");
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  if (n->failed)
    return;
  if (batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time)
    onnxl_shape_error(n, "batch_axis is %" G_GINT64_FORMAT " and time_axis %" G_GINT64_FORMAT, batch, time);
  else if (input)
    onnxl_shape_expect_count(n, 1, input->dims[batch]);
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

/* The part [from, from + length) of the contents of rank 1, in which it lies. */
static void
move_part(OnnxlShapeNode *n, uint32_t output, const OnnxlInfo *input, int64_t from, int64_t length)
{
  if ((!input->has_contents && !input->reals) || input->rank != 1)
    return;
  uint32_t *map = ONNXL_NEW_ARRAY(n->arena, uint32_t, (size_t)length);
  for (int64_t i = 0; map && i < length; i++)
    map[i] = (uint32_t)(from + i);
  if (map)
    onnxl_shape_move(n, output, input, map, (uint64_t)length);
}

/* Sizes of the parts: given, or equal ones. */
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
  if (n->schema->since < 18) {
    if (d && onnxl_expr_is_int(d, &value) && value % parts != 0) {
      onnxl_shape_error(n, "%" G_GINT64_FORMAT " cannot be split into %u equal parts", value, parts);
      return false;
    }
    for (uint32_t i = 0; i < parts; i++)
      sizes[i] = onnxl_expr_exact_div(n->pool, d, onnxl_shape_lit(n, parts));
    return true;
  }
  if (onnxl_shape_has(n, "num_outputs") && onnxl_shape_int(n, "num_outputs") != parts) {
    onnxl_shape_error(n, "num_outputs is %" G_GINT64_FORMAT " for %u outputs", onnxl_shape_int(n, "num_outputs"),
                      parts);
    return false;
  }
  for (uint32_t i = 0; i < parts; i++)
    sizes[i] = onnxl_split_part_expr(n->pool, d, parts, i);
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
  /* Where the contents of a part start; a sum of symbols would get longer from part to part. */
  int64_t from = 0;
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    OnnxlExpr *dims = onnxl_shape_output(n, i, input->rank);
    for (uint32_t k = 0; k < input->rank; k++)
      dims[k] = k == axis ? sizes[i] : input->dims[k];
    onnxl_shape_at_most(n, i, axis, input->dims[axis]);
    int64_t length;
    if (from >= 0 && sizes[i] && onnxl_expr_is_int(sizes[i], &length) && length >= 0 &&
        length <= input->n_contents - from) {
      move_part(n, i, input, from, length);
      from += length;
    } else {
      from = -1;
    }
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
  if (!onnxl_shape_expect_one(n, 2))
    return;
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
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis) ||
      (n->schema->since >= 10 && !onnxl_shape_expect_one(n, 1)))
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
  for (uint32_t i = 0; i < 2; i++)
    onnxl_shape_at_most(n, i, axis, input->dims[axis]);
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
  onnxl_shape_at_most(n, 0, 1, onnxl_info_count(n->pool, input));
}

void
onnxl_shape_rule_compress(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!onnxl_shape_has(n, "axis")) {
    onnxl_shape_output(n, 0, 1);
    onnxl_shape_at_most(n, 0, 0, input ? onnxl_info_count(n->pool, input) : NULL);
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
  onnxl_shape_at_most(n, 0, axis, input->dims[axis]);
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
  onnxl_shape_at_most(n, 0, axis, along ? input->dims[axis] : input ? onnxl_info_count(n->pool, input) : NULL);
}

void
onnxl_shape_rule_one_hot(OnnxlShapeNode *n)
{
  const OnnxlInfo *indices = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  if (!indices || indices->rank >= ONNXL_SHAPE_MAX_RANK ||
      !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), indices->rank + 1, &axis))
    return;
  if (!onnxl_shape_expect_one(n, 1) || !onnxl_shape_expect_count(n, 2, onnxl_shape_lit(n, 2)))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, indices->rank + 1);
  for (uint32_t i = 0, k = 0; i <= indices->rank; i++)
    dims[i] = i == axis ? onnxl_shape_number(n, 1) : indices->dims[k++];
}
