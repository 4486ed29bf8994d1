/* What stands in for attention where the past is kept in a state of fixed size: LinearAttention, CausalConvWithState.
 */
#include <math.h>

#include "runtime/attention-internal.h"

/* --- LinearAttention --- */

typedef struct Rule {
  bool gated; /* the state decays */
  bool delta; /* what the state already says about a key is taken off the value */
} Rule;

static bool
read_rule(OnnxlKernelContext *context, Rule *ret_rule, GError **error)
{
  OnnxlStr name = onnxl_ctx_string(context, "update_rule");
  bool known = onnxl_str_is(name, "linear") || onnxl_str_is(name, "gated") || onnxl_str_is(name, "delta") ||
               onnxl_str_is(name, "gated_delta");
  *ret_rule = (Rule){ onnxl_str_is(name, "gated") || onnxl_str_is(name, "gated_delta"),
                      onnxl_str_is(name, "delta") || onnxl_str_is(name, "gated_delta") };
  if (!known)
    return onnxl_ctx_invalid(context, error, "update_rule is \"%.*s\"", ONNXL_ARG(name));
  if (ret_rule->gated != (onnxl_ctx_input(context, 4) != NULL))
    return onnxl_ctx_invalid(context, error, "update_rule \"%.*s\" %s decay", ONNXL_ARG(name),
                             ret_rule->gated ? "needs" : "forbids");
  if (ret_rule->delta != (onnxl_ctx_input(context, 5) != NULL))
    return onnxl_ctx_invalid(context, error, "update_rule \"%.*s\" %s beta", ONNXL_ARG(name),
                             ret_rule->delta ? "needs" : "forbids");
  return true;
}

typedef struct Recurrence {
  OnnxlHeads q, k, v;
  Rule rule;
  const float *decay; /* [batch, row, heads * decay_size] */
  const float *beta;  /* [batch, row, beta_heads] */
  int64_t decay_size; /* 1 or the size of a key */
  int64_t beta_heads; /* 1 or all */
  float scale;
} Recurrence;

/* state[key size, value size], read: what the state says about the key. */
static void
update_state(const Recurrence *r, int64_t batch, int64_t head, int64_t t, float *state, float *read)
{
  const float *k = (const float *)r->k.data + onnxl_heads_offset(&r->k, batch, head) + t * r->k.row;
  const float *v = (const float *)r->v.data + onnxl_heads_offset(&r->v, batch, head) + t * r->v.row;
  int64_t n = r->v.size, at = batch * r->k.rows + t;
  for (int64_t m = 0; m < n; m++)
    read[m] = 0;
  for (int64_t d = 0; d < r->k.size; d++) {
    float *row = state + d * n;
    if (r->rule.gated) {
      float keep = expf(r->decay[(at * r->k.heads + head) * r->decay_size + (r->decay_size > 1 ? d : 0)]);
      for (int64_t m = 0; m < n; m++)
        row[m] *= keep;
    }
    for (int64_t m = 0; r->rule.delta && m < n; m++)
      read[m] += row[m] * k[d];
  }
  float beta = r->rule.delta ? r->beta[at * r->beta_heads + (r->beta_heads > 1 ? head : 0)] : 1;
  for (int64_t m = 0; m < n; m++)
    read[m] = beta * (v[m] - read[m]);
  for (int64_t d = 0; d < r->k.size; d++)
    for (int64_t m = 0; m < n; m++)
      state[d * n + m] += k[d] * read[m];
}

static void
read_state(const Recurrence *r, const float *q, const float *state, float *y)
{
  for (int64_t m = 0; m < r->v.size; m++)
    y[m] = 0;
  for (int64_t d = 0; d < r->k.size; d++)
    for (int64_t m = 0; m < r->v.size; m++)
      y[m] += r->scale * q[d] * state[d * r->v.size + m];
}

/* Inputs 0 … 5 as float in ret_floats, NULL where they are missing; the caller owns them also after an error. */
static bool
float_inputs(OnnxlKernelContext *context, OnnxlValue *ret_floats[6], GError **error)
{
  for (uint32_t i = 0; i < 6; i++) {
    OnnxlValue *x = onnxl_ctx_input(context, i);
    if (x && !(ret_floats[i] = onnxl_attention_cast(context, x, ONNXL_TYPE_FLOAT, error)))
      return false;
  }
  return true;
}

static bool
prepare(OnnxlKernelContext *context, OnnxlValue *const in[6], Recurrence *r, GError **error)
{
  int64_t q_heads = onnxl_ctx_int(context, "q_num_heads"), heads = onnxl_ctx_int(context, "kv_num_heads");
  for (uint32_t i = 0; i < 6; i++)
    if (in[i] && i != 3 && in[i]->rank != 3)
      return onnxl_ctx_invalid(context, error, "input %u has rank %u when 3 is needed", i, in[i]->rank);
  if (!read_rule(context, &r->rule, error) || !onnxl_heads_of(context, in[0], q_heads, "query", &r->q, error) ||
      !onnxl_heads_of(context, in[1], heads, "key", &r->k, error) ||
      !onnxl_heads_of(context, in[2], heads, "value", &r->v, error) ||
      !onnxl_heads_check(context, &r->q, &r->k, &r->v, error))
    return false;
  if (r->q.rows != r->k.rows)
    return onnxl_ctx_invalid(context, error, "query has %" G_GINT64_FORMAT " positions and key %" G_GINT64_FORMAT,
                             r->q.rows, r->k.rows);
  for (uint32_t i = 4; i < 6; i++) {
    int64_t last = in[i] ? in[i]->dims[2] : 0;
    bool fits = !in[i] || (in[i]->dims[0] == r->k.batches && in[i]->dims[1] == r->k.rows &&
                           (last == heads || last == (i == 4 ? heads * r->k.size : 1)));
    if (!fits)
      return onnxl_ctx_invalid(context, error, "%s has the wrong shape", i == 4 ? "decay" : "beta");
  }
  r->decay = in[4] ? in[4]->data : NULL;
  r->decay_size = in[4] ? in[4]->dims[2] / heads : 1;
  r->beta = in[5] ? in[5]->data : NULL;
  r->beta_heads = in[5] ? in[5]->dims[2] : 1;
  r->scale = onnxl_ctx_float(context, "scale");
  if (r->scale == 0)
    r->scale = (float)(1 / sqrt((double)r->k.size));
  const int64_t *past = in[3] ? in[3]->dims : NULL;
  if (past &&
      (in[3]->rank != 4 || past[0] != r->k.batches || past[1] != heads || past[2] != r->k.size || past[3] != r->v.size))
    return onnxl_ctx_invalid(context, error,
                             "past_state must have the shape [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
                             ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "]",
                             r->k.batches, heads, r->k.size, r->v.size);
  return true;
}

/* y and states: FLOAT tensors of the outputs' shapes. */
static void
recur(const Recurrence *r, float *y, float *states, float *read)
{
  int64_t group = r->q.heads / r->k.heads;
  for (int64_t b = 0; b < r->k.batches; b++)
    for (int64_t h = 0; h < r->k.heads; h++) {
      float *state = states + (b * r->k.heads + h) * r->k.size * r->v.size;
      for (int64_t t = 0; t < r->k.rows; t++) {
        update_state(r, b, h, t, state, read);
        for (int64_t g = h * group; g < (h + 1) * group; g++)
          read_state(r, (const float *)r->q.data + onnxl_heads_offset(&r->q, b, g) + t * r->q.row, state,
                     y + ((b * r->q.rows + t) * r->q.heads + g) * r->v.size);
      }
    }
}

static bool
linear_attention(OnnxlKernelContext *context, OnnxlValue *const in[6], OnnxlValue *out[2], GError **error)
{
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  Recurrence r = { 0 };
  if (!prepare(context, in, &r, error))
    return false;
  int64_t y_dims[3] = { r.q.batches, r.q.rows, 0 }, state_dims[4] = { r.k.batches, r.k.heads, r.k.size, r.v.size };
  if (__builtin_mul_overflow(r.q.heads, r.v.size, &y_dims[2]))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the output is too large");
  float *read = onnxl_ctx_scratch(context, (uint64_t)r.v.size, sizeof *read, error);
  if (!read || !(out[0] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_FLOAT, 3, y_dims, "the output", error)) ||
      !(out[1] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_FLOAT, 4, state_dims, "the state", error)))
    return false;
  if (in[3])
    memcpy(out[1]->data, in[3]->data, out[1]->bytes);
  else
    memset(out[1]->data, 0, out[1]->bytes);
  if (out[0]->count > 0 || out[1]->count > 0)
    recur(&r, out[0]->data, out[1]->data, read);
  return true;
}

static bool
run_linear_attention(OnnxlKernelContext *context, GError **error)
{
  /* The arithmetic is that of float; the state keeps the type of the past one, without one that of the query. */
  OnnxlValue *in[6] = { NULL }, *out[2] = { NULL };
  const OnnxlValue *query = onnxl_ctx_input(context, 0), *past = onnxl_ctx_input(context, 3);
  bool good = float_inputs(context, in, error) && linear_attention(context, in, out, error);
  for (uint32_t i = 0; i < 2; i++) {
    OnnxlValue *y =
      good ? onnxl_attention_cast(context, out[i], i == 1 && past ? past->elem_type : query->elem_type, error) : NULL;
    good = y != NULL;
    if (y)
      onnxl_ctx_set_output(context, i, y);
  }
  for (uint32_t i = 0; i < 6; i++)
    onnxl_value_unref(in[i]);
  for (uint32_t i = 0; i < 2; i++)
    onnxl_value_unref(out[i]);
  return good;
}
ONNXL_KERNEL(linear_attention, EXACT);

/* --- CausalConvWithState --- */

static bool
run_causal_conv_with_state(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1);
  const OnnxlValue *bias = onnxl_ctx_input(context, 2), *past = onnxl_ctx_input(context, 3);
  OnnxlStr activation = onnxl_ctx_string(context, "activation");
  bool silu = onnxl_str_is(activation, "silu") || onnxl_str_is(activation, "swish");
  if (!silu && !onnxl_str_is(activation, "none") && activation.size > 0)
    return onnxl_ctx_invalid(context, error, "activation is \"%.*s\"", ONNXL_ARG(activation));
  if (x->rank != 3 || w->rank != 3 || w->dims[0] != x->dims[1] || w->dims[1] != 1 || w->dims[2] < 1)
    return onnxl_ctx_invalid(context, error,
                             "the weights must have the shape [channels, 1, taps] for an input of rank 3");
  int64_t channels = x->dims[1], length = x->dims[2], kept = w->dims[2] - 1;
  if (bias && bias->count != channels)
    return onnxl_ctx_invalid(context, error,
                             "the bias has %" G_GINT64_FORMAT " values for %" G_GINT64_FORMAT " channels", bias->count,
                             channels);
  const int64_t state_dims[3] = { x->dims[0], channels, kept };
  if (past && (past->rank != 3 || memcmp(past->dims, state_dims, sizeof state_dims) != 0))
    return onnxl_ctx_invalid(
      context, error, "past_state must have the shape [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "]",
      state_dims[0], channels, kept);
  int64_t padded;
  if (__builtin_add_overflow(length, kept, &padded))
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the padded input is too long");
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  OnnxlValue *state = y ? onnxl_ctx_output(context, 1, x->elem_type, 3, state_dims, error) : NULL;
  float *line = state ? onnxl_ctx_scratch(context, (uint64_t)padded, sizeof *line, error) : NULL;
  if (!line)
    return false;
  bool empty = y->count == 0 && state->count == 0; /* then the number of rows says nothing */
  for (int64_t row = 0; !empty && row < x->dims[0] * channels; row++) {
    const float *taps = (const float *)w->data + row % channels * w->dims[2];
    float *to = (float *)y->data + row * length;
    for (int64_t i = 0; i < kept; i++)
      line[i] = past ? ((const float *)past->data)[row * kept + i] : 0;
    if (length > 0)
      memcpy(line + kept, (const float *)x->data + row * length, (size_t)length * sizeof *line);
    for (int64_t i = 0; i < length; i++) {
      float sum = 0;
      for (int64_t j = 0; j <= kept; j++)
        sum += line[i + j] * taps[j];
      sum += bias ? ((const float *)bias->data)[row % channels] : 0;
      to[i] = silu ? sum / (1 + expf(-sum)) : sum;
    }
    if (kept > 0)
      memcpy((float *)state->data + row * kept, line + length, (size_t)kept * sizeof *line);
  }
  return true;
}
ONNXL_KERNEL(causal_conv_with_state, COMPUTES);
