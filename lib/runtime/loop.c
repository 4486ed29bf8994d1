#include "runtime/loop.h"

#include "runtime/types-internal.h"
#include "shapes/broadcast.h"

void
onnxl_strides(const int64_t *dims, uint32_t rank, int64_t *ret_strides)
{
  int64_t stride = 1;
  for (uint32_t i = rank; i-- > 0;) {
    ret_strides[i] = stride;
    /* Only an empty tensor may overflow here, and its strides are never used. */
    if (__builtin_mul_overflow(stride, dims[i], &stride))
      stride = 0;
  }
}

bool
onnxl_ctx_broadcast(const OnnxlKernelContext *context, OnnxlValue *const *tensors, uint32_t n, uint32_t *ret_rank,
                    int64_t ret_dims[ONNXL_MAX_RANK], GError **error)
{
  uint32_t rank = 0;
  for (uint32_t t = 0; t < n; t++)
    rank = MAX(rank, tensors[t]->rank);
  for (uint32_t i = 0; i < rank; i++)
    ret_dims[i] = 1;
  for (uint32_t t = 0; t < n; t++)
    if (!onnxl_broadcast_dims(ret_dims, rank, tensors[t]->dims, tensors[t]->rank)) {
      char *dims = onnxl_dims_text(tensors[t]->dims, tensors[t]->rank), *others = onnxl_dims_text(ret_dims, rank);
      onnxl_ctx_invalid(context, error, "the shape %s cannot be broadcast with %s", dims, others);
      g_free(dims);
      g_free(others);
      return false;
    }
  *ret_rank = rank;
  return true;
}

void
onnxl_loop_init(OnnxlLoop *loop, const int64_t *dims, uint32_t rank)
{
  loop->rank = rank;
  loop->n = 0;
  if (rank > 0)
    memcpy(loop->dims, dims, rank * sizeof *dims);
}

void
onnxl_loop_add_strided(OnnxlLoop *loop, const int64_t *strides)
{
  if (loop->rank > 0)
    memcpy(loop->strides[loop->n], strides, loop->rank * sizeof *strides);
  loop->n++;
}

void
onnxl_loop_add(OnnxlLoop *loop, const OnnxlValue *tensor)
{
  int64_t strides[ONNXL_MAX_RANK];
  onnxl_broadcast_strides(tensor->dims, tensor->rank, strides, loop->rank);
  onnxl_loop_add_strided(loop, strides);
}

void
onnxl_loop_finish(OnnxlLoop *loop)
{
  uint32_t rank = 0;
  /* The other dims of an empty nest may be as large as they like. */
  for (uint32_t i = 0; i < loop->rank; i++)
    if (loop->dims[i] == 0) {
      loop->dims[0] = 0;
      loop->rank = 1;
      return;
    }
  for (uint32_t i = 0; i < loop->rank; i++) {
    if (loop->dims[i] == 1)
      continue;
    bool merges = rank > 0;
    for (uint32_t k = 0; k < loop->n && merges; k++)
      merges = loop->strides[k][rank - 1] == loop->strides[k][i] * loop->dims[i];
    uint32_t to = merges ? rank - 1 : rank;
    loop->dims[to] = merges ? loop->dims[to] * loop->dims[i] : loop->dims[i];
    for (uint32_t k = 0; k < loop->n; k++)
      loop->strides[k][to] = loop->strides[k][i];
    rank = to + 1;
  }
  if (rank == 0) {
    loop->dims[0] = 1;
    for (uint32_t k = 0; k < loop->n; k++)
      loop->strides[k][0] = 0;
    rank = 1;
  }
  loop->rank = rank;
}

bool
onnxl_loop_start(OnnxlLoop *loop)
{
  for (uint32_t k = 0; k < loop->n; k++)
    loop->offsets[k] = 0;
  for (uint32_t i = 0; i < loop->rank; i++) {
    loop->index[i] = 0;
    if (loop->dims[i] == 0)
      return false;
  }
  return true;
}

bool
onnxl_loop_next(OnnxlLoop *loop)
{
  for (uint32_t i = loop->rank - 1; i-- > 0;) {
    if (++loop->index[i] < loop->dims[i]) {
      for (uint32_t k = 0; k < loop->n; k++)
        loop->offsets[k] += loop->strides[k][i];
      return true;
    }
    loop->index[i] = 0;
    for (uint32_t k = 0; k < loop->n; k++)
      loop->offsets[k] -= loop->strides[k][i] * (loop->dims[i] - 1);
  }
  return false;
}

size_t
onnxl_element_size(const OnnxlValue *tensor)
{
  if (tensor->elem_type == ONNXL_TYPE_STRING)
    return sizeof(OnnxlStr);
  return onnxl_data_type_bits(tensor->elem_type) / 8;
}

void
onnxl_move_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *dest_strides,
                   const int64_t *source_strides, size_t size)
{
  OnnxlLoop loop;
  onnxl_loop_init(&loop, dims, rank);
  onnxl_loop_add_strided(&loop, dest_strides);
  onnxl_loop_add_strided(&loop, source_strides);
  onnxl_loop_finish(&loop);
  int64_t n = onnxl_loop_row(&loop), to = onnxl_loop_step(&loop, 0), from = onnxl_loop_step(&loop, 1);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop)) {
    char *d = (char *)dest + loop.offsets[0] * (int64_t)size;
    const char *s = (const char *)source + loop.offsets[1] * (int64_t)size;
    if (to == 1 && from == 1) {
      memcpy(d, s, (size_t)n * size);
      continue;
    }
    switch (size) {
#define MOVE(bytes, ctype)                                 \
  case bytes:                                              \
    for (int64_t i = 0; i < n; i++)                        \
      ((ctype *)d)[i * to] = ((const ctype *)s)[i * from]; \
    break;
      ONNXL_MOVED_SIZES(MOVE)
#undef MOVE
    }
  }
}

void
onnxl_copy_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *strides,
                   size_t size)
{
  int64_t dense[ONNXL_MAX_RANK];
  onnxl_strides(dims, rank, dense);
  onnxl_move_strided(dest, source, dims, rank, dense, strides, size);
}

void
onnxl_scatter_strided(void *dest, const void *source, const int64_t *dims, uint32_t rank, const int64_t *strides,
                      size_t size)
{
  int64_t dense[ONNXL_MAX_RANK];
  onnxl_strides(dims, rank, dense);
  onnxl_move_strided(dest, source, dims, rank, strides, dense, size);
}
