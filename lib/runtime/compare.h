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

/* What values of an element type may differ by when two programs compute the same: 1e-3 and 1e-7, as --test has them,
 * and for types of fewer digits two units in the last place and at least their smallest number. */
OnnxlTolerance onnxl_tolerance_of(int32_t elem_type);

/* The numbers of a tensor; NaN and infinities are only counted. A complex number is two. */
typedef struct OnnxlStatistics {
  double min, max, mean; /* NaN when there are no numbers */
  uint64_t numbers, nans, infinities;
} OnnxlStatistics;

/* How two tensors of numbers differ, element by element; of complex ones, part by part. */
typedef struct OnnxlDifference {
  uint64_t count, beyond;           /* elements; of these, beyond the tolerance */
  double absolute, relative;        /* the largest differences of pairs of numbers; relative to what is wanted */
  int64_t absolute_at, relative_at; /* where, -1 = nowhere */
  OnnxlStatistics got, want;
} OnnxlDifference;

/* Fills in ret_difference. Returns false when they are not two tensors of numbers of one shape. */
bool onnxl_value_difference(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance,
                            OnnxlDifference *ret_difference);

#endif
