/* Joining and cutting of tensors, shared by the tensor, sequence and control-flow kernels. */
#ifndef ONNXL_RUNTIME_JOIN_INTERNAL_H
#define ONNXL_RUNTIME_JOIN_INTERNAL_H

#include "runtime/kernel.h"

/* Makes output 0 the n >= 1 tensors joined along an axis of theirs. */
bool onnxl_concat(OnnxlKernelContext *context, OnnxlValue *const *inputs, uint32_t n, int64_t axis,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Elements start … start + length - 1 along axis, which lie inside x. Returns: owned; NULL with error. */
OnnxlValue *onnxl_slice_axis(OnnxlAllocator *allocator, const OnnxlValue *x, int64_t axis, int64_t start,
                             int64_t length, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
