/* Matrix multiplication: the one loop that MatMul, Gemm, convolution and attention share. */
#ifndef ONNXL_RUNTIME_GEMM_H
#define ONNXL_RUNTIME_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Columns of b that are packed and multiplied at a time. */
#define ONNXL_GEMM_COLUMNS 8

/* Writes columns first … first + n - 1 of the right factor into panel, whose row p (of k) holds ONNXL_GEMM_COLUMNS
 * elements, those beyond n zero. */
typedef void (*OnnxlGemmPack)(const void *data, int64_t first, int64_t n, int64_t k, void *panel);

/* c[m, n] = a[m, k] x b[k, n]; with accumulate c += …. a: element (i, p) at a[i * a_row + p * a_column]; c: rows of
 * c_row elements. b comes through pack. panel: k * ONNXL_GEMM_COLUMNS elements of scratch. Every sum runs over p in
 * increasing order, whatever the blocking. Signed integers are multiplied through the unsigned variants. */
#define ONNXL_GEMM_DECLARE(name, T)                                                                    \
  void onnxl_gemm_##name(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, int64_t a_column, \
                         OnnxlGemmPack pack, const void *pack_data, T *c, int64_t c_row, bool accumulate, T *panel);
ONNXL_GEMM_DECLARE(float, float)
ONNXL_GEMM_DECLARE(double, double)
ONNXL_GEMM_DECLARE(uint32, uint32_t)
ONNXL_GEMM_DECLARE(uint64, uint64_t)

/* A right factor in memory: element (p, j) at b[p * row + j * column]. */
typedef struct OnnxlGemmMatrix {
  const void *b;
  int64_t row, column;
} OnnxlGemmMatrix;

/* pack functions for OnnxlGemmMatrix, by size of an element in bytes. */
void onnxl_gemm_pack_4(const void *matrix, int64_t first, int64_t n, int64_t k, void *panel);
void onnxl_gemm_pack_8(const void *matrix, int64_t first, int64_t n, int64_t k, void *panel);

#endif
