/* Matrix products on tensors, for the kernels that are made of them. */
#ifndef ONNXL_RUNTIME_MATMUL_INTERNAL_H
#define ONNXL_RUNTIME_MATMUL_INTERNAL_H

#include "runtime/kernel.h"

/* c[m, n] = a[m, k] x b[k, n], or += with accumulate. Strides in elements. */
typedef struct OnnxlMatmul {
  int64_t m, n, k;
  const void *a;
  int64_t a_row, a_column;
  const void *b;
  int64_t b_row, b_column;
  void *c;
  int64_t c_row;
  bool accumulate;
} OnnxlMatmul;

/* type: FLOAT, DOUBLE, or an integer type of 32 or 64 bits. */
bool onnxl_matmul_strided(OnnxlKernelContext *context, int32_t type, const OnnxlMatmul *product,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* numpy's matmul: stacks of matrices, broadcast. a and b have one type. ret_result: owned. */
bool onnxl_matmul(OnnxlKernelContext *context, const OnnxlValue *a, const OnnxlValue *b, OnnxlValue **ret_result,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
