/* Domain com.microsoft: embedding, normalization and activation of transformers. Attention: kernel-contrib-attention.c.
 */
#include <math.h>

#include "runtime/kernel.h"
#include "runtime/tensor.h"

/* A vector of parameters of that many values; input i may be missing. */
static bool
vector_of(OnnxlKernelContext *context, uint32_t i, const char *name, int64_t size, const float **ret_values,
          GError **error)
{
  const OnnxlValue *value = onnxl_ctx_input(context, i);
  *ret_values = value ? value->data : NULL;
  if (!value || value->count == size)
    return true;
  return onnxl_ctx_invalid(context, error, "%s has %" G_GINT64_FORMAT " values when %" G_GINT64_FORMAT " are needed",
                           name, value->count, size);
}

/* Layer normalization of one row; its statistics go to ret_mean and ret_inverse. */
static void
normalize(const float *x, int64_t n, double epsilon, const float *gamma, const float *beta, float *y, float *ret_mean,
          float *ret_inverse)
{
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < n; i++)
    mean += x[i];
  mean /= (double)n;
  for (int64_t i = 0; i < n; i++)
    variance += (x[i] - mean) * (x[i] - mean);
  double inverse = 1 / sqrt(variance / (double)n + epsilon);
  for (int64_t i = 0; i < n; i++)
    y[i] = (float)((x[i] - mean) * inverse * gamma[i] + (beta ? beta[i] : 0));
  *ret_mean = (float)mean;
  *ret_inverse = (float)inverse;
}

/* --- SkipLayerNormalization --- */

static bool
run_skip_layer_normalization(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *skip = onnxl_ctx_input(context, 1);
  const float *gamma, *beta, *bias;
  if (x->rank < 2 || skip->rank < 2 || skip->rank > x->rank)
    return onnxl_ctx_invalid(context, error, "input and skip have the ranks %u and %u", x->rank, skip->rank);
  int64_t size = x->dims[x->rank - 1];
  /* The skipped connection has the input's shape, or that of one batch. */
  bool fits = true;
  for (uint32_t i = 0; i < skip->rank; i++) {
    uint32_t axis = x->rank - skip->rank + i;
    fits = fits && (skip->dims[i] == x->dims[axis] || (axis == 0 && x->rank == 3 && skip->dims[i] == 1));
  }
  if (!fits)
    return onnxl_ctx_misfit(context, error, "the shapes do not fit");
  if (!vector_of(context, 2, "gamma", size, &gamma, error) || !vector_of(context, 3, "beta", size, &beta, error) ||
      !vector_of(context, 4, "bias", size, &bias, error))
    return false;
  int64_t dims[ONNXL_MAX_RANK];
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  dims[x->rank - 1] = 1;
  OnnxlValue *outputs[4] = { NULL };
  for (uint32_t i = 0; i < 4; i++)
    if (i == 0 || onnxl_ctx_wants(context, i)) {
      bool statistic = i == 1 || i == 2;
      outputs[i] = onnxl_ctx_output(context, i, ONNXL_TYPE_FLOAT, x->rank, statistic ? dims : x->dims, error);
      if (!outputs[i])
        return false;
    }
  float *row = onnxl_ctx_scratch(context, (uint64_t)size, sizeof *row, error), mean, inverse;
  for (int64_t at = 0, r = 0; row && at < x->count; at += size, r++) {
    const float *from = (const float *)x->data + at, *other = (const float *)skip->data + at % skip->count;
    for (int64_t i = 0; i < size; i++)
      row[i] = from[i] + other[i] + (bias ? bias[i] : 0);
    if (outputs[3])
      memcpy((float *)outputs[3]->data + at, row, (size_t)size * sizeof *row);
    normalize(row, size, onnxl_ctx_float(context, "epsilon"), gamma, beta, (float *)outputs[0]->data + at, &mean,
              &inverse);
    if (outputs[1])
      ((float *)outputs[1]->data)[r] = mean;
    if (outputs[2])
      ((float *)outputs[2]->data)[r] = inverse;
  }
  return row != NULL;
}
ONNXL_KERNEL(skip_layer_normalization, COMPUTES);

/* --- EmbedLayerNormalization --- */

/* A table of embeddings and the ids that pick its rows; ids NULL: the place in the sequence. */
typedef struct Embedding {
  const char *name;
  const OnnxlValue *table;
  const OnnxlValue *ids;
} Embedding;

static bool
add_embedding(OnnxlKernelContext *context, const Embedding *embedding, int64_t token, int64_t length, int64_t size,
              float *row, GError **error)
{
  if (!embedding->table)
    return true;
  int64_t id = token % length;
  if (embedding->ids)
    id = ((const int32_t *)embedding->ids->data)[embedding->ids->count == length ? id : token];
  if (id < 0 || id >= embedding->table->dims[0])
    return onnxl_ctx_invalid(context, error,
                             "the id %" G_GINT64_FORMAT " is outside the %" G_GINT64_FORMAT " rows of %s", id,
                             embedding->table->dims[0], embedding->name);
  const float *from = (const float *)embedding->table->data + id * size;
  for (int64_t i = 0; i < size; i++)
    row[i] += from[i];
  return true;
}

static bool
check_embeddings(OnnxlKernelContext *context, const OnnxlValue *ids, const Embedding embeddings[3], GError **error)
{
  if (ids->rank != 2)
    return onnxl_ctx_invalid(context, error, "input_ids has rank %u when 2 is needed", ids->rank);
  for (int i = 0; i < 3; i++) {
    const OnnxlValue *table = embeddings[i].table, *own = embeddings[i].ids;
    if (table && (table->rank != 2 || table->dims[1] != embeddings[0].table->dims[1]))
      return onnxl_ctx_invalid(context, error, "%s does not have the hidden size of the word embedding",
                               embeddings[i].name);
    bool shared = own && own->rank == 2 && own->dims[0] == 1 && own->dims[1] == ids->dims[1];
    if (own && !shared && (own->rank != 2 || memcmp(own->dims, ids->dims, 2 * sizeof *own->dims) != 0))
      return onnxl_ctx_invalid(context, error, "the ids of %s do not have the shape of input_ids", embeddings[i].name);
  }
  return true;
}

static bool
run_embed_layer_normalization(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *ids = onnxl_ctx_input(context, 0), *segments = onnxl_ctx_input(context, 1);
  const OnnxlValue *words = onnxl_ctx_input(context, 2), *mask = onnxl_ctx_input(context, 7);
  const Embedding embeddings[3] = {
    { "word_embedding", words, ids },
    { "position_embedding", onnxl_ctx_input(context, 3), onnxl_ctx_input(context, 8) },
    { "segment_embedding", segments ? onnxl_ctx_input(context, 4) : NULL, segments },
  };
  if (!check_embeddings(context, ids, embeddings, error))
    return false;
  int64_t length = ids->dims[1], size = words->dims[1], dims[3] = { ids->dims[0], length, size };
  const float *gamma, *beta;
  if (!vector_of(context, 5, "gamma", size, &gamma, error) || !vector_of(context, 6, "beta", size, &beta, error))
    return false;
  if (mask && (mask->rank != 2 || memcmp(mask->dims, ids->dims, 2 * sizeof *mask->dims) != 0))
    return onnxl_ctx_invalid(context, error, "the mask does not have the shape of input_ids");
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, 3, dims, error);
  OnnxlValue *counts = y ? onnxl_ctx_output(context, 1, ONNXL_TYPE_INT32, 1, dims, error) : NULL;
  OnnxlValue *sums = counts ? onnxl_ctx_output(context, 2, ONNXL_TYPE_FLOAT, 3, dims, error) : NULL;
  if (!sums)
    return false;
  if (counts->bytes > 0)
    memset(counts->data, 0, counts->bytes);
  for (int64_t i = 0; mask && i < mask->count; i++)
    ((int32_t *)counts->data)[i / length] += ((const int32_t *)mask->data)[i] == 1;
  float mean, inverse;
  for (int64_t token = 0; sums->count > 0 && token < ids->count; token++) {
    float *row = (float *)sums->data + token * size;
    memset(row, 0, (size_t)size * sizeof *row);
    for (int i = 0; i < 3; i++)
      if (!add_embedding(context, &embeddings[i], token, length, size, row, error))
        return false;
    normalize(row, size, onnxl_ctx_float(context, "epsilon"), gamma, beta, (float *)y->data + token * size, &mean,
              &inverse);
  }
  return true;
}
ONNXL_KERNEL(embed_layer_normalization, COMPUTES);

/* --- FastGelu --- */

static bool
run_fast_gelu(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *bias = onnxl_ctx_input(context, 1);
  if (bias && (bias->rank != 1 || x->rank < 1 || bias->count != x->dims[x->rank - 1]))
    return onnxl_ctx_invalid(context, error,
                             "the bias has %" G_GINT64_FORMAT " values, which does not fit the last axis", bias->count);
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  for (int64_t i = 0; y && i < x->count; i++) {
    double v = onnxl_tensor_double(x, i) + (bias ? onnxl_tensor_double(bias, i % bias->count) : 0);
    v = 0.5 * v * (1 + tanh(sqrt(2 / G_PI) * (v + 0.044715 * v * v * v)));
    onnxl_tensor_write_double(y, i, 1, &v);
  }
  return y != NULL;
}
ONNXL_KERNEL(fast_gelu, COMPUTES);
