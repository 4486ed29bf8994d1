/* Convolutions, poolings, normalizations, dropout, losses. */
#include "shapes/shape-nn-internal.h"

#include "shapes/shape-rules.h"

/* --- windows ------------------------------------------------------------------------------------------------------ */

/* Item i of an integer attribute over the spatial axes; absent: fallback. */
static bool
spatial_ints(OnnxlShapeNode *n, const char *name, uint32_t count, int64_t fallback, int64_t min, int64_t *dest)
{
  OnnxlInt64List list = onnxl_attr_ints(n->proto, name);
  if (list.count > 0 && list.count != count) {
    onnxl_shape_error(n, "%s has %zu values for %u", name, list.count, count);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    dest[i] = list.count > 0 ? list.items[i] : fallback;
    if (dest[i] < min) {
      onnxl_shape_error(n, "%s has the value %" G_GINT64_FORMAT, name, dest[i]);
      return false;
    }
  }
  return true;
}

bool
onnxl_shape_windows(OnnxlShapeNode *n, uint32_t spatial, const OnnxlExpr *kernel, OnnxlWindow *windows)
{
  int64_t values[5][2 * ONNXL_SHAPE_MAX_RANK];
  OnnxlAutoPad auto_pad = ONNXL_PAD_NOTSET;
  OnnxlStr text = onnxl_attr_string(n->schema, n->proto, "auto_pad");
  if (!onnxl_auto_pad_parse(text, &auto_pad)) {
    onnxl_shape_error(n, "auto_pad is '%.*s'", ONNXL_ARG(text));
    return false;
  }
  OnnxlInt64List shape = onnxl_attr_ints(n->proto, "kernel_shape");
  if (!spatial_ints(n, "kernel_shape", spatial, 1, 1, values[0]) ||
      !spatial_ints(n, "strides", spatial, 1, 1, values[1]) ||
      !spatial_ints(n, "dilations", spatial, 1, 1, values[2]) ||
      !spatial_ints(n, "pads", 2 * spatial, 0, INT32_MIN, values[3]))
    return false;
  bool ceil = onnxl_shape_has(n, "ceil_mode") && onnxl_shape_int(n, "ceil_mode") != 0;
  if (shape.count == 0 && !kernel && spatial > 0) {
    onnxl_shape_error(n, "kernel_shape is missing");
    return false;
  }
  for (uint32_t i = 0; i < spatial; i++) {
    if (shape.count == 0 && (!kernel[i] || !onnxl_expr_is_int(kernel[i], &values[0][i])))
      values[0][i] = 0; /* not known */
    else if (values[0][i] < 1) {
      onnxl_shape_error(n, "a window has the size %" G_GINT64_FORMAT, values[0][i]);
      return false;
    }
    windows[i] = (OnnxlWindow){ .kernel = values[0][i],
                                .stride = values[1][i],
                                .dilation = values[2][i],
                                .pad_begin = values[3][i],
                                .pad_end = values[3][spatial + i],
                                .auto_pad = auto_pad,
                                .ceil = ceil };
  }
  return true;
}

/* The size along one axis; a window that never fits is reported. */
static OnnxlExpr
window_size(OnnxlShapeNode *n, const OnnxlWindow *window, OnnxlExpr input, OnnxlExpr kernel)
{
  bool same = window->auto_pad == ONNXL_PAD_SAME_LOWER || window->auto_pad == ONNXL_PAD_SAME_UPPER;
  if (window->kernel > 0)
    kernel = NULL;
  else if (!same && !kernel)
    return NULL;
  int64_t size, output;
  if (window->kernel > 0 && input && onnxl_expr_is_int(input, &size) && !onnxl_window_output(window, size, &output)) {
    onnxl_shape_error(n, "a window of %" G_GINT64_FORMAT " does not fit into %" G_GINT64_FORMAT, window->kernel, size);
    return NULL;
  }
  return onnxl_window_output_expr(n->pool, window, input, kernel);
}

/* X [N, C, …] and W [M, C / group, …]. */
void
onnxl_shape_convolution(OnnxlShapeNode *n, uint32_t x, uint32_t w)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, x), *weight = onnxl_shape_ranked(n, w);
  if (!input || input->rank < 2 || (weight && weight->rank != input->rank)) {
    if (input)
      onnxl_shape_error(n, "input %s and weight %s do not fit", onnxl_shape_text(n, input),
                        onnxl_shape_text(n, weight));
    return;
  }
  uint32_t spatial = input->rank - 2;
  const OnnxlExpr unknown[ONNXL_SHAPE_MAX_RANK] = { NULL };
  OnnxlWindow windows[ONNXL_SHAPE_MAX_RANK];
  if (!onnxl_shape_windows(n, spatial, weight ? weight->dims + 2 : unknown, windows))
    return;
  if (weight) {
    OnnxlExpr group = onnxl_shape_lit(n, onnxl_shape_int(n, "group"));
    onnxl_shape_equal(n, input->dims[1], onnxl_expr_mul(n->pool, weight->dims[1], group),
                      "channels of the input and of the weight");
    for (uint32_t i = 0; i < spatial; i++)
      if (windows[i].kernel > 0)
        onnxl_shape_equal(n, onnxl_shape_lit(n, windows[i].kernel), weight->dims[2 + i], "kernel_shape and weight");
    if (n->failed)
      return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  dims[0] = input->dims[0];
  dims[1] = weight ? weight->dims[0] : NULL;
  int64_t maps, groups = onnxl_shape_int(n, "group");
  if (groups < 1 || (dims[1] && onnxl_expr_is_int(dims[1], &maps) && maps % groups != 0)) {
    onnxl_shape_error(n, "weight %s does not fit into %" G_GINT64_FORMAT " groups", onnxl_shape_text(n, weight),
                      groups);
    return;
  }
  for (uint32_t i = 0; i < spatial; i++)
    dims[2 + i] = window_size(n, &windows[i], input->dims[2 + i], weight ? weight->dims[2 + i] : NULL);
}

void
onnxl_shape_expect_bias(OnnxlShapeNode *n, uint32_t i, uint32_t w, uint32_t axis, int64_t times)
{
  const OnnxlInfo *weight = onnxl_shape_ranked(n, w);
  if (!n->failed && weight && axis < weight->rank)
    onnxl_shape_expect_count(n, i, onnxl_expr_mul(n->pool, weight->dims[axis], onnxl_shape_lit(n, times)));
}

void
onnxl_shape_rule_conv(OnnxlShapeNode *n)
{
  onnxl_shape_convolution(n, 0, 1);
  onnxl_shape_expect_bias(n, 2, 1, 0, 1);
}

/* X, W, offset, B, mask. */
void
onnxl_shape_rule_deform_conv(OnnxlShapeNode *n)
{
  onnxl_shape_convolution(n, 0, 1);
  onnxl_shape_expect_bias(n, 3, 1, 0, 1);
}

/* output_shape is the spatial part, or in some models the whole shape. */
void
onnxl_shape_rule_conv_transpose(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0), *weight = onnxl_shape_ranked(n, 1);
  if (!input)
    return;
  if (input->rank < 2 || (weight && weight->rank != input->rank)) {
    onnxl_shape_error(n, "input %s and weight %s do not fit", onnxl_shape_text(n, input), onnxl_shape_text(n, weight));
    return;
  }
  uint32_t spatial = input->rank - 2;
  const OnnxlExpr unknown[ONNXL_SHAPE_MAX_RANK] = { NULL };
  OnnxlWindow windows[ONNXL_SHAPE_MAX_RANK];
  int64_t padding[ONNXL_SHAPE_MAX_RANK];
  if (!onnxl_shape_windows(n, spatial, weight ? weight->dims + 2 : unknown, windows) ||
      !spatial_ints(n, "output_padding", spatial, 0, 0, padding))
    return;
  OnnxlInt64List given = onnxl_attr_ints(n->proto, "output_shape");
  if (given.count > 0 && given.count != spatial && given.count != input->rank) {
    onnxl_shape_error(n, "output_shape has %zu values for %u", given.count, spatial);
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  dims[0] = input->dims[0];
  if (weight) {
    onnxl_shape_equal(n, input->dims[1], weight->dims[0], "channels of the input and of the weight");
    for (uint32_t i = 0; i < spatial; i++)
      if (windows[i].kernel > 0)
        onnxl_shape_equal(n, onnxl_shape_lit(n, windows[i].kernel), weight->dims[2 + i], "kernel_shape and weight");
    dims[1] = onnxl_expr_mul(n->pool, weight->dims[1], onnxl_shape_lit(n, onnxl_shape_int(n, "group")));
  }
  for (uint32_t i = 0; i < spatial; i++) {
    bool same = windows[i].auto_pad == ONNXL_PAD_SAME_LOWER || windows[i].auto_pad == ONNXL_PAD_SAME_UPPER;
    if (given.count > 0)
      dims[2 + i] = onnxl_shape_lit(n, given.items[given.count - spatial + i]);
    else if (windows[i].kernel > 0 || same)
      dims[2 + i] = onnxl_transposed_output_expr(n->pool, &windows[i], padding[i], input->dims[2 + i], NULL);
    else if (weight)
      dims[2 + i] =
        onnxl_transposed_output_expr(n->pool, &windows[i], padding[i], input->dims[2 + i], weight->dims[2 + i]);
  }
  onnxl_shape_expect_bias(n, 2, 1, 1, onnxl_shape_int(n, "group"));
}

static void
pool(OnnxlShapeNode *n, uint32_t outputs)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlWindow windows[ONNXL_SHAPE_MAX_RANK];
  if (!input)
    return;
  if (input->rank < 2) {
    onnxl_shape_error(n, "input %s has no spatial axes", onnxl_shape_text(n, input));
    return;
  }
  uint32_t spatial = input->rank - 2;
  OnnxlExpr sizes[ONNXL_SHAPE_MAX_RANK];
  if (!onnxl_shape_windows(n, spatial, NULL, windows))
    return;
  for (uint32_t i = 0; i < spatial; i++)
    sizes[i] = window_size(n, &windows[i], input->dims[2 + i], NULL);
  for (uint32_t k = 0; k < outputs; k++) {
    OnnxlExpr *dims = onnxl_shape_output(n, k, input->rank);
    dims[0] = input->dims[0];
    dims[1] = input->dims[1];
    for (uint32_t i = 0; i < spatial; i++)
      dims[2 + i] = sizes[i];
  }
}

void
onnxl_shape_rule_pool(OnnxlShapeNode *n)
{
  pool(n, 1);
}

/* The second output holds indices. */
void
onnxl_shape_rule_max_pool(OnnxlShapeNode *n)
{
  pool(n, 2);
}

void
onnxl_shape_rule_global_pool(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  if (!input)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = i < 2 ? input->dims[i] : onnxl_shape_lit(n, 1);
  if (onnxl_shape_is(onnxl_shape_product(n, input->dims, 2, input->rank), 0) &&
      onnxl_shape_min(n, onnxl_shape_product(n, input->dims, 0, 2)) > 0)
    onnxl_shape_error(n, "the images of input %s are empty", onnxl_shape_text(n, input));
}

/* The inverse of MaxPool; input 2 gives the whole shape. */
void
onnxl_shape_rule_max_unpool(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  OnnxlWindow windows[ONNXL_SHAPE_MAX_RANK];
  if (!input || !onnxl_shape_windows(n, input->rank - 2, NULL, windows) ||
      !onnxl_shape_expect_count(n, 1, onnxl_info_count(n->pool, input)) ||
      !onnxl_shape_expect_count(n, 2, onnxl_shape_lit(n, input->rank)))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  if (onnxl_shape_input(n, 2)) {
    uint32_t count;
    const OnnxlExpr *sizes = onnxl_shape_values(n, 2, &count);
    for (uint32_t i = 0; sizes && count == input->rank && i < count; i++)
      dims[i] = sizes[i];
    return;
  }
  dims[0] = input->dims[0];
  dims[1] = input->dims[1];
  for (uint32_t i = 0; i + 2 < input->rank; i++)
    if (windows[i].kernel > 0)
      dims[2 + i] = onnxl_transposed_output_expr(n->pool, &windows[i], 0, input->dims[2 + i], NULL);
}

/* The number of places that a block has in the image. */
static OnnxlExpr
blocks_in(OnnxlShapeNode *n, uint32_t spatial, const OnnxlExpr *image, const OnnxlExpr *block)
{
  OnnxlWindow windows[ONNXL_SHAPE_MAX_RANK];
  OnnxlExpr count = onnxl_shape_lit(n, 1);
  if (!onnxl_shape_windows(n, spatial, block, windows))
    return NULL;
  for (uint32_t i = 0; i < spatial && !n->failed; i++)
    count = onnxl_expr_mul(n->pool, count, window_size(n, &windows[i], image[i], block[i]));
  return count;
}

/* [N, C * blocks, L] to [N, C, image_shape…]. */
void
onnxl_shape_rule_col2im(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 3);
  uint32_t n_image, n_block;
  const OnnxlExpr *image = onnxl_shape_values(n, 1, &n_image), *block = onnxl_shape_values(n, 2, &n_block);
  int64_t spatial = onnxl_shape_length(n, 1);
  if (n->failed || spatial < 0 || spatial + 2 > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, (uint32_t)spatial + 2);
  for (uint32_t i = 0; image && i < spatial; i++)
    dims[2 + i] = image[i];
  if (!input || !onnxl_shape_expect_count(n, 2, onnxl_shape_lit(n, spatial)))
    return;
  dims[0] = input->dims[0];
  if (!block)
    return;
  OnnxlExpr elements = onnxl_shape_product(n, block, 0, n_block);
  int64_t channels, by;
  if (input->dims[1] && elements && onnxl_expr_is_int(input->dims[1], &channels) && onnxl_expr_is_int(elements, &by) &&
      (by < 1 || channels % by != 0)) {
    onnxl_shape_error(n, "input %s does not hold blocks of %" G_GINT64_FORMAT " elements", onnxl_shape_text(n, input),
                      by);
    return;
  }
  dims[1] = onnxl_expr_exact_div(n->pool, input->dims[1], elements);
  OnnxlExpr columns = image ? blocks_in(n, (uint32_t)spatial, image, block) : NULL;
  if (!n->failed)
    onnxl_shape_equal(n, input->dims[2], columns, "columns of the input and blocks in the image");
}

/* --- normalizations ----------------------------------------------------------------------------------------------- */

/* Further outputs are statistics, one value a channel. */
void
onnxl_shape_rule_batch_normalization(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  onnxl_shape_same(n, 0, input);
  if (!onnxl_shape_of_ranks(n, 0, 1, UINT32_MAX) && n->failed)
    return;
  OnnxlExpr channels = !input ? NULL : input->rank > 1 ? input->dims[1] : onnxl_shape_lit(n, 1);
  for (uint32_t i = 1; i < 5; i++)
    if (!onnxl_shape_expect(n, i, &channels, 1))
      return;
  for (uint32_t i = 1; i < n->n_outputs; i++)
    onnxl_shape_same(n, i, onnxl_shape_ranked(n, i <= 2 ? 2 + i : 1));
}

/* Mean and inverse deviation have 1 in the normalized axes. */
void
onnxl_shape_rule_layer_normalization(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  onnxl_shape_same(n, 0, input);
  int32_t stash = (int32_t)onnxl_shape_int(n, "stash_type");
  for (uint32_t i = 1; i < 3; i++)
    onnxl_shape_set_type(n, i, stash);
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis) ||
      !onnxl_shape_expect_within(n, 1, input->dims, input->rank) ||
      !onnxl_shape_expect_within(n, 2, input->dims, input->rank))
    return;
  for (uint32_t i = 1; i < 3; i++) {
    OnnxlExpr *dims = onnxl_shape_output(n, i, input->rank);
    for (uint32_t k = 0; k < input->rank; k++)
      dims[k] = k < axis ? input->dims[k] : onnxl_shape_lit(n, 1);
  }
}

void
onnxl_shape_rule_rms_normalization(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  onnxl_shape_same(n, 0, input);
  if (input && onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis))
    onnxl_shape_expect_within(n, 1, input->dims, input->rank);
}

/* Scale and bias belong to channels. */
void
onnxl_shape_rule_instance_normalization(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  if (input && onnxl_shape_expect(n, 1, &input->dims[1], 1))
    onnxl_shape_expect(n, 2, &input->dims[1], 1);
}

/* Scale and bias belong to groups at first, later to channels. */
void
onnxl_shape_rule_group_normalization(OnnxlShapeNode *n)
{
  int64_t groups = onnxl_shape_int(n, "num_groups"), channels;
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  if (!input)
    return;
  if (groups < 1 || (input->dims[1] && onnxl_expr_is_int(input->dims[1], &channels) && channels % groups != 0)) {
    onnxl_shape_error(n, "the channels of input %s do not fit into %" G_GINT64_FORMAT " groups",
                      onnxl_shape_text(n, input), groups);
    return;
  }
  OnnxlExpr count = n->schema->since < 21 ? onnxl_shape_lit(n, groups) : input->dims[1];
  if (onnxl_shape_expect(n, 1, &count, 1))
    onnxl_shape_expect(n, 2, &count, 1);
}

void
onnxl_shape_rule_lrn(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  if (onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX) && onnxl_shape_int(n, "size") < 1)
    onnxl_shape_error(n, "size is %" G_GINT64_FORMAT, onnxl_shape_int(n, "size"));
}

/* All of some axes; by default those of images but the channels. */
void
onnxl_shape_rule_mean_variance_normalization(OnnxlShapeNode *n)
{
  static const int64_t usual[] = { 0, 2, 3 };
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlInt64List axes = onnxl_attr_ints(n->proto, "axes");
  size_t count = axes.count > 0 ? axes.count : G_N_ELEMENTS(usual);
  uint32_t unread;
  onnxl_shape_same(n, 0, input);
  for (size_t i = 0; input && i < count; i++)
    if (!onnxl_shape_axis(n, axes.count > 0 ? axes.items[i] : usual[i], input->rank, &unread))
      return;
}

/* Outputs 0 and 1 (the mask) have the shape of the input. */
void
onnxl_shape_rule_dropout(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!onnxl_shape_expect_one(n, 1) || !onnxl_shape_expect_one(n, 2))
    return;
  for (uint32_t i = 0; i < 2; i++)
    onnxl_shape_same(n, i, input);
  if (n->n_outputs > 0 && onnxl_shape_input(n, 0))
    n->outputs[0].elem_type = n->inputs[0]->elem_type;
}

/* --- losses ------------------------------------------------------------------------------------------------------- */

/* Scores [N, C, d…] and classes [N, d…], perhaps with weights [C]. */
void
onnxl_shape_rule_loss(OnnxlShapeNode *n)
{
  const OnnxlInfo *scores = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX);
  OnnxlExpr classes[ONNXL_SHAPE_MAX_RANK];
  if (n->failed)
    return;
  for (uint32_t i = 0; scores && i + 1 < scores->rank; i++)
    classes[i] = scores->dims[i == 0 ? 0 : i + 1];
  if (scores &&
      (!onnxl_shape_expect(n, 1, classes, scores->rank - 1) || !onnxl_shape_expect_count(n, 2, scores->dims[1])))
    return;
  if (onnxl_str_is(onnxl_attr_string(n->schema, n->proto, "reduction"), "none"))
    onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 1));
  else
    onnxl_shape_output(n, 0, 0);
  onnxl_shape_same(n, 1, onnxl_shape_ranked(n, 0)); /* of SoftmaxCrossEntropyLoss: the logarithms */
}

/* --- convolution with a state ------------------------------------------------------------------------------------- */

/* input [B, C, L], weight [C, 1, K]; the state is the last K - 1 positions. */
void
onnxl_shape_rule_causal_conv(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 3), *weight = n->failed ? NULL : onnxl_shape_of_rank(n, 1, 3);
  if (!input || n->failed)
    return;
  const OnnxlExpr taps[] = { input->dims[1], onnxl_shape_lit(n, 1), NULL };
  if (!onnxl_shape_expect(n, 1, taps, 3))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 1, input->rank);
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  OnnxlExpr kernel = weight && weight->rank == input->rank ? weight->dims[weight->rank - 1] : NULL;
  dims[input->rank - 1] = onnxl_expr_sub(n->pool, kernel, onnxl_shape_lit(n, 1));
}
