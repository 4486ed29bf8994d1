/* Which output may take over the buffer of which input, as far as that does not depend on who reads it later. */
#ifndef ONNXL_MEMORY_INPLACE_INTERNAL_H
#define ONNXL_MEMORY_INPLACE_INTERNAL_H

#include "memory/profile.h"

/* Only the first outputs are written over inputs, and only over the first of them. */
enum { ONNXL_INPLACE_INPUTS = 32, ONNXL_INPLACE_OUTPUTS = 1 };

/* By what the kernel does: output o of the node may be written over input k, which has as many elements of the same
 * size for every assignment. Both are there. */
bool onnxl_inplace_safe(const OnnxlInference *inference, uint32_t id, uint32_t k, uint32_t o);

#endif
