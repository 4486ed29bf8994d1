/* Pooling of images, row by row. */
#ifndef ONNXL_RUNTIME_POOL_INTERNAL_H
#define ONNXL_RUNTIME_POOL_INTERNAL_H

#include "runtime/window-internal.h"

typedef enum OnnxlPool { ONNXL_POOL_AVERAGE, ONNXL_POOL_MAX, ONNXL_POOL_LP } OnnxlPool;

typedef struct OnnxlPooling {
  OnnxlPool kind;
  OnnxlWindows windows; /* at least one axis; the output has a place at least */
  bool include_pad;     /* AVERAGE: padding counts in the divisor */
  int64_t p;            /* LP: the norm */
  bool column_major;    /* MAX: indices count in column-major order */
  int64_t *indices;     /* MAX: where the maxima lie in the whole input, or NULL */
} OnnxlPooling;

/* Pools each image of x[N, C, in…] into one of y[N, C, out…], of the same real type. Sums are of doubles, in the
 * row-major order of the window. A maximum is the first of equal ones and NaN where there is one; without any element
 * it is -inf with index 0. */
void onnxl_pool_images(const OnnxlPooling *pooling, const OnnxlValue *x, OnnxlValue *y);

#endif
