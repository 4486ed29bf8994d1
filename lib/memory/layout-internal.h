/* Private to lib/memory. */
#ifndef ONNXL_MEMORY_LAYOUT_INTERNAL_H
#define ONNXL_MEMORY_LAYOUT_INTERNAL_H

#include "support/str.h"

/* An OnnxlExprLookup with a value for each symbol that no other expression of a model is likely to be a multiple of. */
bool onnxl_layout_sample(void *data, OnnxlStr name, int64_t *ret_value);

#endif
