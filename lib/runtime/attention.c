#include "runtime/attention-internal.h"

#include <math.h>

#include "runtime/loop.h"
#include "runtime/matmul-internal.h"
#include "runtime/tensor.h"

bool
onnxl_heads_of(const OnnxlKernelContext *context, const OnnxlValue *x, int64_t heads, const char *what, OnnxlHeads *ret,
               GError **error)
{
  const int64_t *d = x->dims;
  int64_t strides[ONNXL_MAX_RANK];
  onnxl_strides(d, x->rank, strides);
  if (x->rank == 4) {
    *ret = (OnnxlHeads){ x->data, d[0], d[1], d[2], d[3], strides[0], strides[1], strides[2] };
    return true;
  }
  if (x->rank != 3)
    return onnxl_ctx_invalid(context, error, "%s has rank %u when 3 or 4 is needed", what, x->rank);
  if (heads < 1 || d[2] % heads != 0)
    return onnxl_ctx_invalid(context, error,
                             "%s of size %" G_GINT64_FORMAT " cannot be split into %" G_GINT64_FORMAT " heads", what,
                             d[2], heads);
  *ret = (OnnxlHeads){ x->data, d[0], heads, d[1], d[2] / heads, strides[0], d[2] / heads, d[2] };
  return true;
}

bool
onnxl_heads_check(const OnnxlKernelContext *context, const OnnxlHeads *q, const OnnxlHeads *k, const OnnxlHeads *v,
                  GError **error)
{
  if (q->batches != k->batches || k->batches != v->batches)
    return onnxl_ctx_invalid(context, error,
                             "Q, K and V have the batch sizes %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                             " and %" G_GINT64_FORMAT,
                             q->batches, k->batches, v->batches);
  if (k->heads < 1 || k->heads != v->heads || q->heads % k->heads != 0)
    return onnxl_ctx_invalid(context, error,
                             "%" G_GINT64_FORMAT " heads of Q do not fit %" G_GINT64_FORMAT
                             " of K and %" G_GINT64_FORMAT " of V",
                             q->heads, k->heads, v->heads);
  if (q->size != k->size)
    return onnxl_ctx_invalid(context, error, "heads of Q have size %" G_GINT64_FORMAT ", those of K %" G_GINT64_FORMAT,
                             q->size, k->size);
  if (k->rows != v->rows)
    return onnxl_ctx_invalid(context, error, "K has %" G_GINT64_FORMAT " positions and V %" G_GINT64_FORMAT, k->rows,
                             v->rows);
  return true;
}

bool
onnxl_attention_scores(OnnxlKernelContext *context, int32_t type, const OnnxlHeads *q, const OnnxlHeads *k,
                       int64_t batch, int64_t head, void *scores, GError **error)
{
  int64_t size = onnxl_data_type_bits(type) / 8, shared = head / (q->heads / k->heads);
  void *mark = onnxl_ctx_mark(context);
  OnnxlMatmul product = {
    .m = q->rows,
    .n = k->rows,
    .k = q->size,
    .a = (const char *)q->data + onnxl_heads_offset(q, batch, head) * size,
    .a_row = q->row,
    .a_column = 1,
    .b = (const char *)k->data + onnxl_heads_offset(k, batch, shared) * size,
    .b_row = 1,
    .b_column = k->row,
    .c = scores,
    .c_row = k->rows,
  };
  bool good = onnxl_matmul_strided(context, type, &product, error);
  onnxl_ctx_rewind(context, mark);
  return good;
}

bool
onnxl_attention_mix(OnnxlKernelContext *context, int32_t type, const void *weights, int64_t rows, const OnnxlHeads *v,
                    int64_t batch, int64_t v_head, void *y, int64_t y_row, GError **error)
{
  int64_t size = onnxl_data_type_bits(type) / 8;
  void *mark = onnxl_ctx_mark(context);
  OnnxlMatmul product = {
    .m = rows,
    .n = v->size,
    .k = v->rows,
    .a = weights,
    .a_row = v->rows,
    .a_column = 1,
    .b = (const char *)v->data + onnxl_heads_offset(v, batch, v_head) * size,
    .b_row = v->row,
    .b_column = 1,
    .c = y,
    .c_row = y_row,
  };
  bool good = onnxl_matmul_strided(context, type, &product, error);
  onnxl_ctx_rewind(context, mark);
  return good;
}

#define SOFTMAX(T, exponential)                     \
  {                                                 \
    T *x = row, top = -INFINITY, sum = 0;           \
    for (int64_t i = 0; i < n; i++)                 \
      top = x[i] > top || isnan(x[i]) ? x[i] : top; \
    for (int64_t i = 0; i < n; i++)                 \
      sum += x[i] = exponential(x[i] - top);        \
    for (int64_t i = 0; i < n; i++)                 \
      x[i] /= sum;                                  \
  }

void
onnxl_softmax_row(int32_t type, void *row, int64_t n)
{
  if (type == ONNXL_TYPE_DOUBLE)
    SOFTMAX(double, exp)
  else
    SOFTMAX(float, expf)
}

OnnxlValue *
onnxl_attention_cast(OnnxlKernelContext *context, OnnxlValue *x, int32_t elem_type, GError **error)
{
  if (x->elem_type == elem_type)
    return onnxl_value_ref(x);
  const OnnxlCastOptions options = { .saturate = true };
  return onnxl_tensor_cast(onnxl_ctx_allocator(context), x, elem_type, &options, error);
}
