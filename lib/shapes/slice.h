/* Slice along one axis in numbers. Shape inference and the kernel both use this, so they cannot disagree; what holds of
 * symbols is in slice.c. */
#ifndef ONNXL_SHAPES_SLICE_H
#define ONNXL_SHAPES_SLICE_H

#include <stdint.h>

/* The first index and the number of elements from start to before end, in steps of step (not 0) on an axis of size.
 * Negative bounds count from its end, and what lies outside is clamped as ONNX says: for a positive step both to
 * [0,size], for a negative one start to [0,size-1] and end to [-1,size-1]. */
void onnxl_slice_range(int64_t size, int64_t start, int64_t end, int64_t step, int64_t *ret_first, int64_t *ret_count);

#endif
