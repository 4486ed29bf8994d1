/* Private to lib/memory. */
#ifndef ONNXL_MEMORY_LAYOUT_INTERNAL_H
#define ONNXL_MEMORY_LAYOUT_INTERNAL_H

#include "support/str.h"

/* How large the values of onnxl_layout_sample() are: the first is for most models, smaller ones are for products of many
 * symbols, larger ones for sizes such as N-2000. */
#define ONNXL_N_SAMPLES 5

/* An OnnxlExprLookup with a value for each symbol that no other expression of a model is likely to be a multiple of.
 * data: address of an unsigned below ONNXL_N_SAMPLES. */
bool onnxl_layout_sample(void *data, OnnxlStr name, int64_t *ret_value);

#endif
