/* Tensors of attention heads, shared by the operators that split a hidden axis into heads. */
#ifndef ONNXL_RUNTIME_ATTENTION_INTERNAL_H
#define ONNXL_RUNTIME_ATTENTION_INTERNAL_H

#include "runtime/kernel.h"

/* [batch, heads, rows, size], or [batch, rows, heads * size]: rows of a head lie apart in memory. Strides in elements.
 */
typedef struct OnnxlHeads {
  const void *data;
  int64_t batches, heads, rows, size;
  int64_t batch, head, row;
} OnnxlHeads;

/* Splits x of rank 4, or of rank 3 with a number of heads. Fails naming what. */
bool onnxl_heads_of(const OnnxlKernelContext *context, const OnnxlValue *x, int64_t heads, const char *what,
                    OnnxlHeads *ret_heads, GError **error) G_GNUC_WARN_UNUSED_RESULT;

static inline int64_t
onnxl_heads_offset(const OnnxlHeads *heads, int64_t batch, int64_t head)
{
  return batch * heads->batch + head * heads->head;
}

/* Queries take part in groups: each head of keys and values serves the same number of them. Checks that the four sizes
 * fit. */
bool onnxl_heads_check(const OnnxlKernelContext *context, const OnnxlHeads *q, const OnnxlHeads *k, const OnnxlHeads *v,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* scores[q rows, k rows] = q k^T of one head. type: FLOAT or DOUBLE, of all. */
bool onnxl_attention_scores(OnnxlKernelContext *context, int32_t type, const OnnxlHeads *q, const OnnxlHeads *k,
                            int64_t batch, int64_t head, void *scores, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Rows of y, y_row elements apart, = weights[rows, v rows] v of the head of v that serves the query head. */
bool onnxl_attention_mix(OnnxlKernelContext *context, int32_t type, const void *weights, int64_t rows,
                         const OnnxlHeads *v, int64_t batch, int64_t v_head, void *y, int64_t y_row,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The softmax of n numbers in place. type: FLOAT or DOUBLE. */
void onnxl_softmax_row(int32_t type, void *row, int64_t n);

/* x as elem_type. Returns: owned, x itself with one more reference when it is that already. */
OnnxlValue *onnxl_attention_cast(OnnxlKernelContext *context, OnnxlValue *x, int32_t elem_type,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
