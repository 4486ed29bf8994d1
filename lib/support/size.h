/* Checked size arithmetic. Every function returns false, and leaves *ret alone, when the true result does not fit. */
#ifndef ONNXL_SUPPORT_SIZE_H
#define ONNXL_SUPPORT_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool
onnxl_size_add(size_t a, size_t b, size_t *ret)
{
  size_t r;
  if (__builtin_add_overflow(a, b, &r))
    return false;
  *ret = r;
  return true;
}

static inline bool
onnxl_size_mul(size_t a, size_t b, size_t *ret)
{
  size_t r;
  if (__builtin_mul_overflow(a, b, &r))
    return false;
  *ret = r;
  return true;
}

/* Rounds up to a multiple of alignment, a power of two. */
static inline bool
onnxl_size_align(size_t a, size_t alignment, size_t *ret)
{
  size_t r;
  if (!onnxl_size_add(a, alignment - 1, &r))
    return false;
  *ret = r & ~(alignment - 1);
  return true;
}

/* Number of elements of a shape: the product of dims, 1 for rank 0. False: a negative dim, or above INT64_MAX. A zero
 * dim gives 0 whatever the other dims are. */
bool onnxl_shape_count(const int64_t *dims, size_t rank, int64_t *ret_count);

#endif
