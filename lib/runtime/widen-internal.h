/* Around a kernel call: types are checked against the operator's row, and element types that the kernel's loops do not
 * take are converted on the way in and back on the way out. */
#ifndef ONNXL_RUNTIME_WIDEN_INTERNAL_H
#define ONNXL_RUNTIME_WIDEN_INTERNAL_H

#include "runtime/context-internal.h"

bool onnxl_run_kernel(OnnxlKernelContext *context, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The elements of a tensor of 4- or 2-bit elements, one a byte, as uint8; and the way back. Returns: owned; NULL with
 * error. */
OnnxlValue *onnxl_unpack_tensor(OnnxlAllocator *allocator, const OnnxlValue *tensor,
                                GError **error) G_GNUC_WARN_UNUSED_RESULT;
OnnxlValue *onnxl_pack_tensor(OnnxlAllocator *allocator, const OnnxlValue *bytes, int32_t elem_type,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
