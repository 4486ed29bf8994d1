/* Values as text for people, in numpy's look, and as JSON. */
#ifndef ONNXL_RUNTIME_VALUE_PRINT_H
#define ONNXL_RUNTIME_VALUE_PRINT_H

#include "runtime/value.h"
#include "support/json.h"

/* "float[2,2] = [[0. 1.] [2. 3.]]": type and values; of a tensor above 1000 elements only the first and last three
 * along each axis. No line break. */
void onnxl_value_print(OnnxlOutput *out, const OnnxlValue *value);

/* As onnxl_value_print(), with every element. */
void onnxl_value_print_full(OnnxlOutput *out, const OnnxlValue *value);

/* The first n elements of a tensor in row-major order: "[0. 1. 2.]". */
void onnxl_value_print_first(OnnxlOutput *out, const OnnxlValue *tensor, int64_t n);

/* The keys dtype, shape and values of an open object. At most limit values (INT64_MAX = all). value NULL: null, null
 * and an empty list. A sequence's values are objects of the same three keys, an optional's one or none, a map's pairs.
 */
void onnxl_value_json_fields(OnnxlJson *json, const OnnxlValue *value, int64_t limit);

#endif
