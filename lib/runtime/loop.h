/* Nests of loops over tensors of which some are broadcast or permuted: the index arithmetic that kernels share.
 * Adjacent axes that every operand walks through in the same way are merged, so that the innermost loop is as long as
 * it can be. */
#ifndef ONNXL_RUNTIME_LOOP_H
#define ONNXL_RUNTIME_LOOP_H

#include "runtime/kernel.h"

#define ONNXL_LOOP_OPERANDS 4

typedef struct OnnxlLoop {
  uint32_t rank; /* at least 1 after onnxl_loop_finish() */
  uint32_t n;    /* operands */
  int64_t dims[ONNXL_MAX_RANK];
  int64_t strides[ONNXL_LOOP_OPERANDS][ONNXL_MAX_RANK]; /* in elements */
  int64_t offsets[ONNXL_LOOP_OPERANDS];                 /* of the current row, in elements */
  int64_t index[ONNXL_MAX_RANK];
} OnnxlLoop;

/* Elements that one step along each axis moves on, in row-major order. */
void onnxl_strides(const int64_t *dims, uint32_t rank, int64_t *ret_strides);

/* The common shape of tensors under multidirectional broadcasting. Fails naming the shapes. */
bool onnxl_ctx_broadcast(const OnnxlKernelContext *context, OnnxlValue *const *tensors, uint32_t n, uint32_t *ret_rank,
                         int64_t ret_dims[ONNXL_MAX_RANK], GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Starts a nest over dims without operands. */
void onnxl_loop_init(OnnxlLoop *loop, const int64_t *dims, uint32_t rank);
/* Adds an operand with strides of its own. */
void onnxl_loop_add_strided(OnnxlLoop *loop, const int64_t *strides);
/* Adds a tensor that is broadcast to the loop's dims, which it fits. */
void onnxl_loop_add(OnnxlLoop *loop, const OnnxlValue *tensor);
/* Merges axes. */
void onnxl_loop_finish(OnnxlLoop *loop);

/* for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop)): once for each row; loop.offsets tells
 * where each operand's row starts, onnxl_loop_row() its length, onnxl_loop_step() each operand's stride in it. */
bool onnxl_loop_start(OnnxlLoop *loop);
bool onnxl_loop_next(OnnxlLoop *loop);

static inline int64_t
onnxl_loop_row(const OnnxlLoop *loop)
{
  return loop->dims[loop->rank - 1];
}

static inline int64_t
onnxl_loop_step(const OnnxlLoop *loop, uint32_t operand)
{
  return loop->strides[operand][loop->rank - 1];
}

/* Copies elements of size bytes from a strided source to a dense destination. source: address of the element at index
 * 0. */
void onnxl_copy_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *strides,
                        size_t size);
/* The way back: dense source, strided destination. */
void onnxl_scatter_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *strides,
                           size_t size);

/* Both strided. */
void onnxl_move_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *dest_strides,
                        const int64_t *source_strides, size_t size);

/* Bytes of one element as kernels move it: strings count as their OnnxlStr. */
size_t onnxl_element_size(const OnnxlValue *tensor);

#endif
