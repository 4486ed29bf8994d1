/* FlexAttention: attention whose scores and weights may be changed by graphs. */
#include <math.h>

#include "runtime/attention-internal.h"
#include "runtime/tensor.h"

/* Replaces *values, [batch, heads, queries, keys], by what the graph of an attribute makes of them, if there is one.
 * precision: the element type that the graph works with; type: that of values. */
static bool
modify(OnnxlKernelContext *context, const char *attribute, int32_t precision, OnnxlValue **values, GError **error)
{
  uint32_t g = onnxl_ctx_subgraph(context, attribute);
  if (g == ONNXL_NONE)
    return true;
  if (onnxl_ctx_subgraph_n_inputs(context, g) != 1 || onnxl_ctx_subgraph_n_outputs(context, g) != 1)
    return onnxl_ctx_invalid(context, error, "%s must have one input and one output", attribute);
  OnnxlValue *before = onnxl_attention_cast(context, *values, precision, error), *after = NULL;
  bool good = before && onnxl_ctx_run_subgraph(context, g, &before, 1, &after, error);
  onnxl_value_unref(before);
  if (!good)
    return false;
  bool fits = after && after->kind == ONNXL_KIND_TENSOR && onnxl_type_is_float(after->elem_type) && after->rank == 4 &&
              memcmp(after->dims, (*values)->dims, 4 * sizeof *after->dims) == 0;
  if (!fits) {
    char *text = after ? onnxl_value_describe(after) : NULL;
    onnxl_ctx_invalid(context, error, "%s gives %s, which is not the shape it was given", attribute,
                      text ? text : "nothing");
    g_free(text);
    onnxl_value_unref(after);
    return false;
  }
  /* A copy in any case: others may hold what the graph returned. */
  const OnnxlCastOptions options = { .saturate = true };
  OnnxlValue *copy = onnxl_tensor_cast(onnxl_ctx_allocator(context), after, (*values)->elem_type, &options, error);
  onnxl_value_unref(after);
  if (!copy)
    return false;
  onnxl_value_unref(*values);
  *values = copy;
  return true;
}

/* in: Q, K, V of one type, FLOAT or DOUBLE. scores: the caller's, freed by it. */
static bool
flex(OnnxlKernelContext *context, OnnxlValue *const in[3], int32_t precision, OnnxlValue **scores, OnnxlValue **ret_y,
     GError **error)
{
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  int32_t type = in[0]->elem_type;
  int64_t size = onnxl_data_type_bits(type) / 8;
  OnnxlHeads q, k, v;
  for (uint32_t i = 0; i < 3; i++)
    if (in[i]->rank != 4)
      return onnxl_ctx_invalid(context, error, "Q, K and V must have rank 4");
  if (!onnxl_heads_of(context, in[0], 0, "Q", &q, error) || !onnxl_heads_of(context, in[1], 0, "K", &k, error) ||
      !onnxl_heads_of(context, in[2], 0, "V", &v, error) || !onnxl_heads_check(context, &q, &k, &v, error))
    return false;
  int64_t dims[4] = { q.batches, q.heads, q.rows, k.rows }, matrix;
  *scores = onnxl_value_new_tensor(allocator, type, 4, dims, "the scores", error);
  if (!*scores)
    return false;
  double scale = onnxl_ctx_attr(context, "scale") ? onnxl_ctx_float(context, "scale") : 1 / sqrt((double)q.size);
  matrix = q.rows * k.rows;
  for (int64_t i = 0; (*scores)->count > 0 && i < q.batches * q.heads; i++)
    if (!onnxl_attention_scores(context, type, &q, &k, i / q.heads, i % q.heads,
                                (char *)(*scores)->data + i * matrix * size, error))
      return false;
  for (int64_t i = 0; i < (*scores)->count; i++)
    if (type == ONNXL_TYPE_DOUBLE)
      ((double *)(*scores)->data)[i] *= scale;
    else
      ((float *)(*scores)->data)[i] *= (float)scale;
  if (!modify(context, "score_mod", precision, scores, error))
    return false;
  for (int64_t i = 0; i < (*scores)->count; i += k.rows)
    onnxl_softmax_row(type, (char *)(*scores)->data + i * size, k.rows);
  if (!modify(context, "prob_mod", precision, scores, error))
    return false;
  dims[3] = v.size;
  OnnxlValue *y = *ret_y = onnxl_value_new_tensor(allocator, type, 4, dims, "the output", error);
  for (int64_t i = 0; y && y->count > 0 && i < q.batches * q.heads; i++)
    if (!onnxl_attention_mix(context, type, (char *)(*scores)->data + i * matrix * size, q.rows, &v, i / q.heads,
                             i % q.heads / (q.heads / v.heads), (char *)y->data + i * q.rows * v.size * size, v.size,
                             error))
      return false;
  return y != NULL;
}

static bool
run_flex_attention(OnnxlKernelContext *context, GError **error)
{
  int32_t own = onnxl_ctx_input(context, 0)->elem_type;
  int64_t precision = onnxl_ctx_int(context, "softmax_precision");
  if (precision == 0)
    precision = own == ONNXL_TYPE_DOUBLE ? ONNXL_TYPE_DOUBLE : ONNXL_TYPE_FLOAT;
  if (precision != ONNXL_TYPE_FLOAT && precision != ONNXL_TYPE_DOUBLE && precision != ONNXL_TYPE_FLOAT16 &&
      precision != ONNXL_TYPE_BFLOAT16)
    return onnxl_ctx_invalid(context, error, "softmax_precision is %" G_GINT64_FORMAT, precision);
  int32_t type = own == ONNXL_TYPE_DOUBLE || precision == ONNXL_TYPE_DOUBLE ? ONNXL_TYPE_DOUBLE : ONNXL_TYPE_FLOAT;
  OnnxlValue *in[3] = { NULL }, *scores = NULL, *y = NULL;
  bool good = true;
  for (uint32_t i = 0; good && i < 3; i++)
    good = (in[i] = onnxl_attention_cast(context, onnxl_ctx_input(context, i), type, error)) != NULL;
  good = good && flex(context, in, (int32_t)precision, &scores, &y, error);
  OnnxlValue *result = good ? onnxl_attention_cast(context, y, own, error) : NULL;
  if (result)
    onnxl_ctx_set_output(context, 0, result);
  for (uint32_t i = 0; i < 3; i++)
    onnxl_value_unref(in[i]);
  onnxl_value_unref(scores);
  onnxl_value_unref(y);
  return result != NULL;
}
ONNXL_KERNEL(flex_attention, EXACT);
