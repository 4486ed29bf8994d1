/* Element types that the loops of a kernel do not take are converted around it: the copies are scratch memory. */
#ifndef ONNXL_MEMORY_CONVERT_INTERNAL_H
#define ONNXL_MEMORY_CONVERT_INTERNAL_H

#include "memory/cost-internal.h"

/* Bits of an element as the operator's kernel sees it; 0 for texts and unknown types. */
uint32_t onnxl_converted_bits(const OnnxlOpSchema *schema, int32_t elem_type);

/* Bytes of the converted copies of the node's inputs, and of its outputs before they are converted back. NULL: the
 * sizes are not known. */
OnnxlExpr onnxl_converted_bytes(const OnnxlCostNode *n);

#endif
