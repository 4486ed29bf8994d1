#include "support/size.h"

bool
onnxl_shape_count(const int64_t *dims, size_t rank, int64_t *ret_count)
{
  int64_t count = 1;
  bool zero = false, overflow = false;
  /* A zero dim makes the count 0 even when the others overflow, but a negative one is always wrong: look at all. */
  for (size_t i = 0; i < rank; i++) {
    if (dims[i] < 0)
      return false;
    zero = zero || dims[i] == 0;
    overflow = overflow || __builtin_mul_overflow(count, dims[i], &count);
  }
  if (overflow && !zero)
    return false;
  *ret_count = zero ? 0 : count;
  return true;
}
