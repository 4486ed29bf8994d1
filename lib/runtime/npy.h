/* numpy's .npy files. Types that numpy lacks are stored as raw bytes (V1, V2; numpy.load(…).view(ml_dtypes.bfloat16)
 * has the values), 4- and 2-bit elements one a byte, texts as UTF-32 (U), all as long as the longest. */
#ifndef ONNXL_RUNTIME_NPY_H
#define ONNXL_RUNTIME_NPY_H

#include "runtime/value.h"
#include "support/output.h"

/* Reads an array from the bytes of a file. wanted: the element type that raw bytes stand for, or UNDEFINED. name: for
 * messages. Returns: owned; NULL with ONNXL_ERROR_INVALID, ONNXL_ERROR_UNSUPPORTED or ONNXL_ERROR_LIMIT. */
OnnxlValue *onnxl_npy_read(OnnxlAllocator *allocator, OnnxlStr bytes, int32_t wanted, const char *name,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes a tensor. Write errors stick in out. Returns false with ONNXL_ERROR_UNSUPPORTED when it is no tensor,
 * ONNXL_ERROR_LIMIT when texts would take more than the limit of memory. */
bool onnxl_npy_write(OnnxlOutput *out, const OnnxlValue *tensor, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
