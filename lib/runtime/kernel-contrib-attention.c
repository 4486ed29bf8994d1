/* com.microsoft.Attention: one product makes queries, keys and values of the input. */
#include <float.h>
#include <math.h>

#include "runtime/attention-internal.h"
#include "runtime/matmul-internal.h"
#include "runtime/tensor.h"

typedef struct Shape {
  int64_t batch, length, hidden, heads;
  int64_t qk, v; /* hidden sizes of queries and keys, and of values */
  int64_t past;  /* positions before the input */
  int64_t total;
} Shape;

static bool
read_shape(OnnxlKernelContext *context, Shape *s, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1),
                   *bias = onnxl_ctx_input(context, 2);
  const OnnxlValue *past = onnxl_ctx_input(context, 4);
  OnnxlInt64List sizes = onnxl_ctx_ints(context, "qkv_hidden_sizes");
  int64_t heads = onnxl_ctx_int(context, "num_heads"), sum;
  if (onnxl_ctx_int(context, "do_rotary") != 0 || onnxl_ctx_int(context, "past_present_share_buffer") != 0)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED,
                          "do_rotary and past_present_share_buffer are not supported");
  if (x->rank != 3 || w->rank != 2 || w->dims[0] != x->dims[2])
    return onnxl_ctx_invalid(context, error, "the weights do not fit the input");
  if (sizes.count != 0 && sizes.count != 3)
    return onnxl_ctx_invalid(context, error, "qkv_hidden_sizes has %zu values when 3 are needed", sizes.count);
  *s = (Shape){ .batch = x->dims[0],
                .length = x->dims[1],
                .hidden = x->dims[2],
                .heads = heads,
                .qk = sizes.count ? sizes.items[0] : w->dims[1] / 3,
                .v = sizes.count ? sizes.items[2] : w->dims[1] / 3 };
  bool fits = s->qk >= 0 && s->v >= 0 && (sizes.count == 0 || sizes.items[1] == s->qk) &&
              !__builtin_add_overflow(s->qk, s->qk, &sum) && !__builtin_add_overflow(sum, s->v, &sum) &&
              sum == w->dims[1];
  if (!fits || heads < 1 || s->qk % heads != 0 || s->v % heads != 0)
    return onnxl_ctx_invalid(context, error,
                             "the %" G_GINT64_FORMAT " columns of the weights cannot be split into queries, keys "
                             "and values of %" G_GINT64_FORMAT " heads",
                             w->dims[1], heads);
  if (bias && bias->count != sum)
    return onnxl_ctx_invalid(
      context, error, "the bias has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " columns", bias->count, sum);
  if (past) {
    const int64_t *d = past->dims;
    if (past->rank != 5 || d[0] != 2 || d[1] != s->batch || d[2] != heads || d[4] != s->qk / heads)
      return onnxl_ctx_invalid(context, error, "the shape of past does not fit batch, heads and head size");
    s->past = d[3];
  }
  if ((past || onnxl_ctx_wants(context, 1)) && s->qk != s->v)
    return onnxl_ctx_invalid(context, error, "keys and values of different sizes cannot be kept in one tensor");
  if (__builtin_add_overflow(s->past, s->length, &s->total))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the past is too long");
  return true;
}

/* The forms that mask_index has: a bit for each key, or where the keys of a batch end, or start and end. */
static bool
check_mask(OnnxlKernelContext *context, const Shape *s, GError **error)
{
  const OnnxlValue *mask = onnxl_ctx_input(context, 3), *bias = onnxl_ctx_input(context, 5);
  const int64_t *d = mask ? mask->dims : NULL;
  bool fits = !mask || (mask->rank == 1 && (d[0] == s->batch || d[0] == 2 * s->batch)) ||
              (mask->rank == 2 && d[0] == s->batch && d[1] == s->total) ||
              (mask->rank == 3 && d[0] == s->batch && d[1] == s->length && d[2] == s->total) ||
              (mask->rank == 4 && d[0] == s->batch && d[1] == 1 && d[2] == d[3] && d[2] >= s->total);
  if (!fits)
    return onnxl_ctx_invalid(context, error,
                             "the shape of mask_index does not fit %" G_GINT64_FORMAT " batches, %" G_GINT64_FORMAT
                             " queries and %" G_GINT64_FORMAT " keys",
                             s->batch, s->length, s->total);
  d = bias ? bias->dims : NULL;
  fits = !bias || (bias->rank == 4 && (d[0] == 1 || d[0] == s->batch) && (d[1] == 1 || d[1] == s->heads) &&
                   d[2] == s->length && d[3] == s->total);
  return fits || onnxl_ctx_invalid(context, error, "the shape of attention_bias does not fit the scores");
}

static bool
is_masked(const OnnxlValue *mask, const Shape *s, int64_t batch, int64_t query, int64_t key)
{
  const int32_t *bits = mask->data;
  switch (mask->rank) {
  case 1:
    return key >= bits[batch] || (mask->count > s->batch && key < bits[s->batch + batch]);
  case 2:
    return bits[batch * s->total + key] <= 0;
  case 3:
    return bits[(batch * s->length + query) * s->total + key] <= 0;
  default:
    return bits[(batch * mask->dims[2] + s->past + query) * mask->dims[2] + key] <= 0;
  }
}

static void
finish_scores(OnnxlKernelContext *context, const Shape *s, int64_t batch, int64_t head, float scale, float *scores)
{
  const OnnxlValue *mask = onnxl_ctx_input(context, 3), *bias = onnxl_ctx_input(context, 5);
  bool causal = onnxl_ctx_int(context, "unidirectional") != 0;
  float filter = onnxl_ctx_attr(context, "mask_filter_value") ? onnxl_ctx_float(context, "mask_filter_value") : -10000;
  for (int64_t i = 0; i < s->length; i++, scores += s->total) {
    for (int64_t j = 0; j < s->total; j++) {
      float add = mask && is_masked(mask, s, batch, i, j) ? filter : 0;
      /* The future is hidden more strictly than padding, so that a row of padding still looks at the past only. */
      if (causal && j > s->past + i)
        add = -FLT_MAX;
      if (bias) {
        int64_t b = bias->dims[0] == 1 ? 0 : batch, h = bias->dims[1] == 1 ? 0 : head;
        add += ((const float *)bias->data)[((b * bias->dims[1] + h) * s->length + i) * s->total + j];
      }
      scores[j] = scores[j] * scale + add;
    }
    onnxl_softmax_row(ONNXL_TYPE_FLOAT, scores, s->total);
  }
}

/* Input times weights plus bias: [batch, length, qk + qk + v] in scratch memory. */
static float *
project(OnnxlKernelContext *context, const Shape *s, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1),
                   *bias = onnxl_ctx_input(context, 2);
  int64_t rows = s->batch * s->length, columns = w->dims[1];
  uint64_t count;
  if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)columns, &count))
    count = UINT64_MAX;
  float *result = onnxl_ctx_scratch(context, count, sizeof *result, error);
  OnnxlMatmul product = {
    .m = rows,
    .n = columns,
    .k = s->hidden,
    .a = x->data,
    .a_row = s->hidden,
    .a_column = 1,
    .b = w->data,
    .b_row = columns,
    .b_column = 1,
    .c = result,
    .c_row = columns,
  };
  if (!result || !onnxl_matmul_strided(context, ONNXL_TYPE_FLOAT, &product, error))
    return NULL;
  for (int64_t i = 0; bias && columns > 0 && i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      result[i * columns + j] += ((const float *)bias->data)[j];
  return result;
}

/* Past and new keys (part 0) or values (part 1) of all batches and heads, in part of present; heads shows them. */
static void
join_past(const OnnxlValue *past, const Shape *s, int64_t part, float *present, OnnxlHeads *heads)
{
  int64_t size = heads->size, block = s->batch * s->heads;
  float *to = present + part * block * s->total * size;
  const float *old = past ? (const float *)past->data + part * block * s->past * size : NULL;
  OnnxlHeads joined = { to, s->batch, s->heads, s->total, size, s->heads * s->total * size, s->total * size, size };
  for (int64_t i = 0; i < block; i++) {
    if (s->past > 0)
      memcpy(to, old + i * s->past * size, (size_t)(s->past * size) * sizeof *to);
    to += s->past * size;
    const float *from = (const float *)heads->data + onnxl_heads_offset(heads, i / s->heads, i % s->heads);
    for (int64_t r = 0; r < s->length; r++, to += size)
      memcpy(to, from + r * heads->row, (size_t)size * sizeof *to);
  }
  *heads = joined;
}

static bool
run_contrib_attention(OnnxlKernelContext *context, GError **error)
{
  Shape s;
  if (!read_shape(context, &s, error) || !check_mask(context, &s, error))
    return false;
  const OnnxlValue *past = onnxl_ctx_input(context, 4);
  int64_t y_dims[3] = { s.batch, s.length, s.v }, dims[5] = { 2, s.batch, s.heads, s.total, s.qk / s.heads };
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, 3, y_dims, error);
  OnnxlValue *present =
    y && (past || onnxl_ctx_wants(context, 1)) ? onnxl_ctx_output(context, 1, ONNXL_TYPE_FLOAT, 5, dims, error) : NULL;
  if (!y || ((past || onnxl_ctx_wants(context, 1)) && !present))
    return false;
  if (y->count == 0 && (!present || present->count == 0))
    return true;
  float *projected = project(context, &s, error);
  uint64_t count;
  if (__builtin_mul_overflow((uint64_t)s.length, (uint64_t)s.total, &count))
    count = UINT64_MAX;
  float *scores = projected ? onnxl_ctx_scratch(context, count, sizeof *scores, error) : NULL;
  if (!scores)
    return false;
  int64_t row = 2 * s.qk + s.v, size = s.qk / s.heads, v_size = s.v / s.heads;
  OnnxlHeads q = { projected, s.batch, s.heads, s.length, size, s.length * row, size, row };
  OnnxlHeads k = q, v = { projected + 2 * s.qk, s.batch, s.heads, s.length, v_size, s.length * row, v_size, row };
  k.data = projected + s.qk;
  if (present && present->count > 0) {
    join_past(past, &s, 0, present->data, &k);
    join_past(past, &s, 1, present->data, &v);
  }
  float scale = onnxl_ctx_float(context, "scale");
  scale = scale != 0 ? scale : (float)(1 / sqrt((double)size));
  for (int64_t i = 0; y->count > 0 && i < s.batch * s.heads; i++) {
    int64_t b = i / s.heads, h = i % s.heads;
    if (!onnxl_attention_scores(context, ONNXL_TYPE_FLOAT, &q, &k, b, h, scores, error))
      return false;
    finish_scores(context, &s, b, h, scale, scores);
    if (!onnxl_attention_mix(context, ONNXL_TYPE_FLOAT, scores, s.length, &v, b, h,
                             (float *)y->data + b * s.length * s.v + h * v_size, s.v, error))
      return false;
  }
  return true;
}
ONNXL_KERNEL(contrib_attention, COMPUTES);
