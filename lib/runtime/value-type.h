/* The type of a value, as a model declares it. */
#ifndef ONNXL_RUNTIME_VALUE_TYPE_H
#define ONNXL_RUNTIME_VALUE_TYPE_H

#include "runtime/value.h"

/* The type with all that is known: of tensors the element type and the dims, of containers the type of the first item,
 * without dims. Returns: in arena; NULL when that is exhausted. */
OnnxlType *onnxl_value_type(const OnnxlValue *value, OnnxlArena *arena);

#endif
