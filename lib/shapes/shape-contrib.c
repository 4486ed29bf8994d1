/* Domain com.microsoft: operators of optimized transformer models. */
#include "shapes/shape-rules.h"

/* input [B, S, H], weights [H, 3 * hidden] (or the three sizes of qkv_hidden_sizes), past [2, B, heads, past, size]. */
void
onnxl_shape_rule_ms_attention(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 3), *weights = n->failed ? NULL : onnxl_shape_of_rank(n, 1, 2);
  OnnxlInt64List sizes = onnxl_attr_ints(n->proto, "qkv_hidden_sizes");
  if (n->failed || !input)
    return;
  if (weights && !onnxl_shape_never_equal(n, weights->dims[0], input->dims[2]))
    onnxl_shape_expect_count(n, 2, weights->dims[1]);
  else if (weights)
    onnxl_shape_misfit(n, 0, 1);
  if (n->failed)
    return;
  OnnxlExpr hidden = NULL;
  if (sizes.count == 3)
    hidden = onnxl_shape_lit(n, sizes.items[2]);
  else if (weights)
    hidden = onnxl_expr_exact_div(n->pool, weights->dims[1], onnxl_shape_lit(n, 3));
  const OnnxlExpr dims[] = { input->dims[0], input->dims[1], hidden };
  memcpy(onnxl_shape_output(n, 0, 3), dims, sizeof dims);
  const OnnxlInfo *past = onnxl_shape_ranked(n, 4);
  OnnxlExpr *present = onnxl_shape_output(n, 1, 5), heads = onnxl_shape_lit(n, onnxl_shape_int(n, "num_heads"));
  present[0] = onnxl_shape_lit(n, 2);
  present[1] = input->dims[0];
  present[2] = heads;
  present[4] = onnxl_expr_exact_div(n->pool, hidden, heads);
  if (onnxl_shape_int(n, "past_present_share_buffer") != 0)
    present[3] = past && past->rank == 5 ? past->dims[3] : NULL;
  else if (!onnxl_shape_input(n, 4))
    present[3] = input->dims[1];
  else
    present[3] = past && past->rank == 5 ? onnxl_expr_add(n->pool, past->dims[3], input->dims[1]) : NULL;
  /* A mask of a value for each key has as many as there are keys. */
  const OnnxlInfo *mask = onnxl_shape_ranked(n, 3);
  if (!mask || (mask->rank != 2 && mask->rank != 3) || onnxl_shape_int(n, "past_present_share_buffer") != 0)
    return;
  OnnxlExpr keys = mask->dims[mask->rank - 1];
  onnxl_shape_equal(n, present[3], keys, "the number of keys and the last dim of mask_index");
}

void
onnxl_shape_rule_ms_embed_layer_normalization(OnnxlShapeNode *n)
{
  const OnnxlInfo *ids = onnxl_shape_of_rank(n, 0, 2), *words = n->failed ? NULL : onnxl_shape_of_rank(n, 2, 2);
  if (n->failed)
    return;
  const OnnxlExpr dims[] = { ids ? ids->dims[0] : NULL, ids ? ids->dims[1] : NULL, words ? words->dims[1] : NULL };
  memcpy(onnxl_shape_output(n, 0, 3), dims, sizeof dims);
  onnxl_shape_output(n, 1, 1)[0] = dims[0];
  memcpy(onnxl_shape_output(n, 2, 3), dims, sizeof dims);
}

/* Outputs 1 and 2 are statistics of each row, 3 the sum before normalizing. */
void
onnxl_shape_rule_ms_skip_layer_normalization(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX), *skip = onnxl_shape_of_ranks(n, 1, 2, UINT32_MAX);
  onnxl_shape_same(n, 0, input);
  onnxl_shape_same(n, 3, input);
  if (n->failed || !input)
    return;
  for (uint32_t i = 2; i < 5; i++)
    if (!onnxl_shape_expect_count(n, i, input->dims[input->rank - 1]))
      return;
  if (skip && !onnxl_shape_expect_within(n, 1, input->dims, input->rank))
    return;
  for (uint32_t i = 1; i < 3; i++) {
    OnnxlExpr *dims = onnxl_shape_output(n, i, input->rank);
    for (uint32_t k = 0; k < input->rank; k++)
      dims[k] = k + 1 < input->rank ? input->dims[k] : onnxl_shape_lit(n, 1);
  }
}

/* The bias has a value for each element of the last axis. */
void
onnxl_shape_rule_ms_fast_gelu(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  onnxl_shape_same(n, 0, input);
  if (input && onnxl_shape_input(n, 1) && onnxl_shape_of_ranks(n, 0, 1, UINT32_MAX))
    onnxl_shape_expect(n, 1, &input->dims[input->rank - 1], 1);
}
