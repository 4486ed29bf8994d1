/* Attention: the softmax of queries times keys weighs the values. */
#include <math.h>

#include "runtime/attention-internal.h"
#include "runtime/tensor.h"

/* Which keys a query may look at, and what is added to its scores. */
typedef struct Bias {
  const OnnxlValue *mask; /* NULL: none */
  int64_t strides[4];     /* of mask over [batch, head, query, key] */
  int64_t mask_keys;      /* keys that the mask knows; those behind are out of reach */
  const int64_t *lengths; /* valid keys of each batch, or NULL */
  bool causal;
  int64_t past;        /* keys before the first query, without lengths */
  int64_t left, right; /* how far a window reaches; -1: without end */
} Bias;

static bool
read_mask(OnnxlKernelContext *context, const OnnxlValue *mask, const int64_t dims[4], Bias *bias, GError **error)
{
  bias->mask = mask;
  bias->mask_keys = dims[3];
  bool fits = mask->rank <= 4;
  int64_t stride = 1;
  for (uint32_t i = 4; fits && i-- > 0;) {
    uint32_t from = i + mask->rank;
    if (from < 4)
      break;
    int64_t size = mask->dims[from - 4];
    /* From opset 24 on a mask may be too short, and then is continued by what hides; before, one key stood for all. */
    bool is_short = i == 3 && size < dims[3] && onnxl_ctx_schema(context)->since >= 24;
    fits = size == dims[i] || size == 1 || is_short;
    if (is_short)
      bias->mask_keys = size;
    bias->strides[i] = size == dims[i] || is_short ? stride : 0;
    stride *= size;
  }
  if (fits)
    return true;
  char *a = onnxl_dims_text(mask->dims, mask->rank), *b = onnxl_dims_text(dims, 4);
  onnxl_ctx_invalid(context, error, "a mask of shape %s does not fit scores of shape %s", a, b);
  g_free(a);
  g_free(b);
  return false;
}

static bool
read_bias(OnnxlKernelContext *context, const int64_t dims[4], int64_t past, bool has_past, Bias *bias, GError **error)
{
  const OnnxlValue *mask = onnxl_ctx_input(context, 3), *lengths = onnxl_ctx_input(context, 6);
  bool windows = onnxl_ctx_schema(context)->since >= 25;
  *bias = (Bias){ .causal = onnxl_ctx_int(context, "is_causal") != 0,
                  .past = past,
                  .left = windows ? onnxl_ctx_int(context, "left_window_size") : -1,
                  .right = windows ? onnxl_ctx_int(context, "right_window_size") : -1 };
  if (mask && !read_mask(context, mask, dims, bias, error))
    return false;
  if (!lengths)
    return true;
  if (lengths->count != dims[0])
    return onnxl_ctx_invalid(context, error,
                             "nonpad_kv_seqlen has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " batches",
                             lengths->count, dims[0]);
  bias->lengths = lengths->data;
  for (int64_t i = 0; i < lengths->count; i++)
    if (bias->lengths[i] < 0 || bias->lengths[i] > dims[3])
      return onnxl_ctx_invalid(context, error,
                               "nonpad_kv_seqlen has the value %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT " keys",
                               bias->lengths[i], dims[3]);
  /* With a cache inside the operator the queries follow the past keys; otherwise they are the last valid ones. */
  if (has_past)
    return true;
  bias->past = INT64_MIN;
  return true;
}

/* What is added to the scores of one query. Returns false when it hides every key. */
static bool
bias_row(const Bias *bias, int64_t batch, int64_t head, int64_t query, int64_t n_queries, int64_t keys, double *row)
{
  int64_t length = bias->lengths ? bias->lengths[batch] : keys;
  int64_t position = query + (bias->past == INT64_MIN ? length - n_queries : bias->past);
  const int64_t *s = bias->strides;
  int64_t from = batch * s[0] + head * s[1] + query * s[2];
  bool is_bool = bias->mask && bias->mask->elem_type == ONNXL_TYPE_BOOL, visible = false;
  for (int64_t j = 0; j < keys; j++) {
    double add = 0;
    if (j >= length || (bias->causal && j > position) || (bias->left >= 0 && position - j > bias->left) ||
        (bias->right >= 0 && j - position > bias->right) || (bias->mask && j >= bias->mask_keys))
      add = -INFINITY;
    else if (is_bool)
      add = ((const uint8_t *)bias->mask->data)[from + j * s[3]] ? 0 : -INFINITY;
    else if (bias->mask)
      add = onnxl_tensor_double(bias->mask, from + j * s[3]);
    row[j] = add;
    visible = visible || add != -INFINITY;
  }
  return visible;
}

/* Keys or values with those of the past before them, as output i. */
static bool
join_past(OnnxlKernelContext *context, uint32_t i, const OnnxlValue *past, const OnnxlValue *now, OnnxlHeads *heads,
          GError **error)
{
  if (!past && !onnxl_ctx_wants(context, i))
    return true;
  int64_t before = past && past->rank == 4 ? past->dims[2] : 0;
  if (past && (past->rank != 4 || past->dims[0] != heads->batches || past->dims[1] != heads->heads ||
               past->dims[3] != heads->size)) {
    char *a = onnxl_dims_text(past->dims, past->rank);
    onnxl_ctx_invalid(context, error,
                      "the past of shape %s does not fit %" G_GINT64_FORMAT " batches of %" G_GINT64_FORMAT
                      " heads of size %" G_GINT64_FORMAT,
                      a, heads->batches, heads->heads, heads->size);
    g_free(a);
    return false;
  }
  int64_t dims[4] = { heads->batches, heads->heads, 0, heads->size };
  if (__builtin_add_overflow(before, heads->rows, &dims[2]))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the past is too long");
  OnnxlValue *y = onnxl_ctx_output(context, i, now->elem_type, 4, dims, error);
  if (!y)
    return false;
  int64_t size = onnxl_data_type_bits(now->elem_type) / 8;
  size_t bytes = (size_t)(heads->size * size);
  char *to = y->data;
  for (int64_t b = 0; y->count > 0 && b < heads->batches; b++)
    for (int64_t h = 0; h < heads->heads; h++) {
      if (before > 0)
        memcpy(to, (const char *)past->data + (size_t)((b * heads->heads + h) * before) * bytes,
               (size_t)before * bytes);
      to += (size_t)before * bytes;
      for (int64_t r = 0; r < heads->rows; r++, to += bytes)
        memcpy(to, (const char *)heads->data + (onnxl_heads_offset(heads, b, h) + r * heads->row) * size, bytes);
    }
  return onnxl_heads_of(context, y, 0, "the joined past", heads, error);
}

/* Which stage of the scores the fourth output shows. */
typedef enum Stage { STAGE_SCALED, STAGE_CAPPED, STAGE_BIASED, STAGE_SOFTMAX } Stage;

typedef struct Scaling {
  double scale;
  double softcap; /* 0: none */
} Scaling;

/* One row of scores on its way to weights; show: where the stage is copied to, or NULL. */
#define SCORE_ROW(T, name, tangent, TYPE)                                                                           \
  static void name(T *x, int64_t n, const Scaling *scaling, const double *bias, bool visible, Stage stage, T *show) \
  {                                                                                                                 \
    size_t bytes = (size_t)n * sizeof *x;                                                                           \
    T scale = (T)scaling->scale, cap = (T)scaling->softcap;                                                         \
    for (int64_t j = 0; j < n; j++)                                                                                 \
      x[j] *= scale;                                                                                                \
    if (show && stage == STAGE_SCALED)                                                                              \
      memcpy(show, x, bytes);                                                                                       \
    for (int64_t j = 0; j < n && cap > 0; j++)                                                                      \
      x[j] = tangent(x[j] / cap) * cap;                                                                             \
    if (show && stage == STAGE_CAPPED)                                                                              \
      memcpy(show, x, bytes);                                                                                       \
    for (int64_t j = 0; j < n; j++)                                                                                 \
      x[j] += (T)bias[j];                                                                                           \
    if (show && stage == STAGE_BIASED)                                                                              \
      memcpy(show, x, bytes);                                                                                       \
    /* A query that sees nothing has no weights, where the softmax would make NaN of it. */                         \
    if (visible)                                                                                                    \
      onnxl_softmax_row(ONNXL_TYPE_##TYPE, x, n);                                                                   \
    else                                                                                                            \
      memset(x, 0, bytes);                                                                                          \
    if (show && stage == STAGE_SOFTMAX)                                                                             \
      memcpy(show, x, bytes);                                                                                       \
  }
SCORE_ROW(float, score_row_float, tanhf, FLOAT)
SCORE_ROW(double, score_row_double, tanh, DOUBLE)

/* y: laid out as q, heads of v's size. show: the fourth output or NULL. */
static bool
attend(OnnxlKernelContext *context, int32_t type, const OnnxlHeads *q, const OnnxlHeads *k, const OnnxlHeads *v,
       const Bias *bias, const Scaling *scaling, OnnxlValue *y, const OnnxlHeads *places, OnnxlValue *show,
       GError **error)
{
  int64_t size = onnxl_data_type_bits(type) / 8, group = q->heads / k->heads;
  Stage stage = (Stage)onnxl_ctx_int(context, "qk_matmul_output_mode");
  uint64_t count;
  if (y->count == 0 && (!show || show->count == 0))
    return true;
  if (__builtin_mul_overflow((uint64_t)q->rows, (uint64_t)k->rows, &count))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "there are too many scores");
  char *scores = onnxl_ctx_scratch(context, count, (size_t)size, error);
  double *row = scores ? onnxl_ctx_scratch(context, (uint64_t)k->rows, sizeof *row, error) : NULL;
  if (!row)
    return false;
  for (int64_t b = 0; b < q->batches; b++)
    for (int64_t h = 0; h < q->heads; h++) {
      if (!onnxl_attention_scores(context, type, q, k, b, h, scores, error))
        return false;
      for (int64_t i = 0; i < q->rows; i++) {
        bool visible = bias_row(bias, b, h, i, q->rows, k->rows, row);
        char *x = scores + i * k->rows * size;
        char *to = show ? (char *)show->data + ((b * q->heads + h) * q->rows + i) * k->rows * size : NULL;
        if (type == ONNXL_TYPE_DOUBLE)
          score_row_double((double *)x, k->rows, scaling, row, visible, stage, (double *)to);
        else
          score_row_float((float *)x, k->rows, scaling, row, visible, stage, (float *)to);
      }
      if (!onnxl_attention_mix(context, type, scores, q->rows, v, b, h / group,
                               (char *)y->data + onnxl_heads_offset(places, b, h) * size, places->row, error))
        return false;
    }
  return true;
}

static bool
run_attention(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *q_in = onnxl_ctx_input(context, 0), *k_in = onnxl_ctx_input(context, 1);
  const OnnxlValue *v_in = onnxl_ctx_input(context, 2), *past_k = onnxl_ctx_input(context, 4);
  const OnnxlValue *past_v = onnxl_ctx_input(context, 5);
  int64_t q_heads = onnxl_ctx_int(context, "q_num_heads"), kv_heads = onnxl_ctx_int(context, "kv_num_heads");
  int64_t mode = onnxl_ctx_int(context, "qk_matmul_output_mode");
  OnnxlHeads q, k, v, places;
  Bias bias;
  if (mode < 0 || mode > 3)
    return onnxl_ctx_invalid(context, error, "qk_matmul_output_mode is %" G_GINT64_FORMAT, mode);
  if (q_in->rank != k_in->rank || k_in->rank != v_in->rank)
    return onnxl_ctx_invalid(context, error, "Q, K and V have the ranks %u, %u and %u", q_in->rank, k_in->rank,
                             v_in->rank);
  if (!onnxl_heads_of(context, q_in, q_heads, "Q", &q, error) ||
      !onnxl_heads_of(context, k_in, kv_heads, "K", &k, error) ||
      !onnxl_heads_of(context, v_in, kv_heads, "V", &v, error) || !onnxl_heads_check(context, &q, &k, &v, error) ||
      !join_past(context, 1, past_k, k_in, &k, error) || !join_past(context, 2, past_v, v_in, &v, error) ||
      !onnxl_heads_check(context, &q, &k, &v, error))
    return false;
  const int64_t scores[4] = { q.batches, q.heads, q.rows, k.rows };
  if (!read_bias(context, scores, past_k ? past_k->dims[2] : 0, past_k != NULL, &bias, error))
    return false;
  int64_t dims[4] = { q.batches, q.heads, q.rows, v.size };
  if (q_in->rank == 3) {
    dims[1] = q.rows;
    if (__builtin_mul_overflow(q.heads, v.size, &dims[2]))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the output is too large");
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, q_in->elem_type, q_in->rank, dims, error);
  OnnxlValue *show =
    y && onnxl_ctx_wants(context, 3) ? onnxl_ctx_output(context, 3, q_in->elem_type, 4, scores, error) : NULL;
  if (!y || (onnxl_ctx_wants(context, 3) && !show) || !onnxl_heads_of(context, y, q.heads, "Y", &places, error))
    return false;
  Scaling scaling = { 1 / sqrt((double)q.size), onnxl_ctx_float(context, "softcap") };
  if (onnxl_ctx_attr(context, "scale"))
    scaling.scale = onnxl_ctx_float(context, "scale");
  /* V may have a type of its own; the arithmetic is that of Q. */
  OnnxlValue *values = v.data == v_in->data ? (OnnxlValue *)v_in : onnxl_ctx_get_output(context, 2);
  OnnxlValue *same = onnxl_attention_cast(context, values, q_in->elem_type, error);
  if (!same)
    return false;
  v.data = same->data;
  bool good = attend(context, q_in->elem_type, &q, &k, &v, &bias, &scaling, y, &places, show, error);
  onnxl_value_unref(same);
  return good;
}
ONNXL_KERNEL(attention, COMPUTES);
