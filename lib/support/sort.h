/* Sorting of what may be no array at all. */
#ifndef ONNXL_SUPPORT_SORT_H
#define ONNXL_SUPPORT_SORT_H

#include <stdlib.h>

/* qsort(), except that items may be NULL when n is 0, as an array is that was never needed. */
static inline void
onnxl_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *))
{
  if (n > 1)
    qsort(items, n, size, compare);
}

#endif
