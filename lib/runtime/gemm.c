#include "runtime/gemm.h"

#include <string.h>

enum { ROWS = 4, COLUMNS = ONNXL_GEMM_COLUMNS };

/* The tile of ROWS x COLUMNS results stays in registers while p runs; vectors of GCC, which every target lowers. */
#define GEMM(name, T, LANES)                                                                                           \
  typedef T name##_vector __attribute__((vector_size(LANES * sizeof(T))));                                             \
  enum { name##_parts = COLUMNS / LANES };                                                                             \
                                                                                                                       \
  static inline __attribute__((always_inline)) void name##_tile(int64_t rows, int64_t columns, int64_t k, const T *a,  \
                                                                int64_t a_row, int64_t a_column, const T *panel, T *c, \
                                                                int64_t c_row, bool accumulate)                        \
  {                                                                                                                    \
    name##_vector sums[ROWS][name##_parts] = { { { 0 } } };                                                            \
    for (int64_t p = 0; p < k; p++) {                                                                                  \
      name##_vector b[name##_parts];                                                                                   \
      memcpy(b, panel + p * COLUMNS, sizeof b);                                                                        \
      for (int64_t i = 0; i < rows; i++)                                                                               \
        for (int v = 0; v < name##_parts; v++)                                                                         \
          sums[i][v] += a[i * a_row + p * a_column] * b[v];                                                            \
    }                                                                                                                  \
    for (int64_t i = 0; i < rows; i++) {                                                                               \
      T row[COLUMNS];                                                                                                  \
      memcpy(row, sums[i], sizeof row);                                                                                \
      for (int64_t j = 0; j < columns; j++)                                                                            \
        c[i * c_row + j] = accumulate ? c[i * c_row + j] + row[j] : row[j];                                            \
    }                                                                                                                  \
  }                                                                                                                    \
                                                                                                                       \
  void onnxl_gemm_##name(int64_t m, int64_t n, int64_t k, const T *a, int64_t a_row, int64_t a_column,                 \
                         OnnxlGemmPack pack, const void *pack_data, T *c, int64_t c_row, bool accumulate, T *panel)    \
  {                                                                                                                    \
    for (int64_t j = 0; j < n; j += COLUMNS) {                                                                         \
      int64_t columns = n - j < COLUMNS ? n - j : COLUMNS, i = 0;                                                      \
      pack(pack_data, j, columns, k, panel);                                                                           \
      for (; i + ROWS <= m; i += ROWS)                                                                                 \
        name##_tile(ROWS, columns, k, a + i * a_row, a_row, a_column, panel, c + i * c_row + j, c_row, accumulate);    \
      for (; i < m; i++)                                                                                               \
        name##_tile(1, columns, k, a + i * a_row, a_row, a_column, panel, c + i * c_row + j, c_row, accumulate);       \
    }                                                                                                                  \
  }

GEMM(float, float, 4)
GEMM(double, double, 2)
GEMM(uint32, uint32_t, 4)
GEMM(uint64, uint64_t, 2)

#define PACK(size, T)                                                                               \
  void onnxl_gemm_pack_##size(const void *matrix, int64_t first, int64_t n, int64_t k, void *panel) \
  {                                                                                                 \
    const OnnxlGemmMatrix *m = matrix;                                                              \
    T *to = panel;                                                                                  \
    for (int64_t p = 0; p < k; p++, to += COLUMNS) {                                                \
      const T *from = (const T *)m->b + p * m->row + first * m->column;                             \
      for (int64_t j = 0; j < COLUMNS; j++)                                                         \
        to[j] = j < n ? from[j * m->column] : 0;                                                    \
    }                                                                                               \
  }
PACK(4, uint32_t)
PACK(8, uint64_t)
