/* Whether a result is the expected one, by the rules of ONNX's own test runner. */
#ifndef ONNXL_RUNTIME_COMPARE_H
#define ONNXL_RUNTIME_COMPARE_H

#include "runtime/value.h"

typedef struct OnnxlTolerance {
  double rtol, atol; /* |got - want| <= atol + rtol * |want| */
} OnnxlTolerance;

/* Kind, element type, dims; then the values unless tolerance is NULL. Infinities must be equal, NaN equals NaN; strings
 * are compared exactly. Returns: true, or false with *ret_message (owned) saying what differs. */
bool onnxl_value_compare(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance,
                         char **ret_message);

#endif
