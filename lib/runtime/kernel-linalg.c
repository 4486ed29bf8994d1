/* Matrix products. */
#include "runtime/gemm.h"
#include "runtime/loop.h"
#include "runtime/matmul-internal.h"
#include "runtime/tensor.h"

bool
onnxl_matmul_strided(OnnxlKernelContext *context, int32_t type, const OnnxlMatmul *p, GError **error)
{
  size_t size = onnxl_data_type_bits(type) / 8;
  void *panel = onnxl_ctx_scratch(context, (uint64_t)p->k, size * ONNXL_GEMM_COLUMNS, error);
  if (!panel)
    return false;
  OnnxlGemmMatrix b = { p->b, p->b_row, p->b_column };
#define MULTIPLY(name, T, bytes)                                                                                \
  onnxl_gemm_##name(p->m, p->n, p->k, p->a, p->a_row, p->a_column, onnxl_gemm_pack_##bytes, &b, p->c, p->c_row, \
                    p->accumulate, panel)
  switch (type) {
  case ONNXL_TYPE_FLOAT:
    MULTIPLY(float, float, 4);
    return true;
  case ONNXL_TYPE_DOUBLE:
    MULTIPLY(double, double, 8);
    return true;
  case ONNXL_TYPE_INT32:
  case ONNXL_TYPE_UINT32:
    MULTIPLY(uint32, uint32_t, 4);
    return true;
  case ONNXL_TYPE_INT64:
  case ONNXL_TYPE_UINT64:
    MULTIPLY(uint64, uint64_t, 8);
    return true;
  default:
    return onnxl_ctx_unsupported_type(context, error, type);
  }
#undef MULTIPLY
}

static bool
bad_shapes(const OnnxlKernelContext *context, const OnnxlValue *a, const OnnxlValue *b, GError **error)
{
  char *x = onnxl_dims_text(a->dims, a->rank), *y = onnxl_dims_text(b->dims, b->rank);
  onnxl_ctx_invalid(context, error, "the shapes %s and %s cannot be multiplied", x, y);
  g_free(x);
  g_free(y);
  return false;
}

bool
onnxl_matmul(OnnxlKernelContext *context, const OnnxlValue *a, const OnnxlValue *b, OnnxlValue **ret_result,
             GError **error)
{
  if (a->rank == 0 || b->rank == 0)
    return bad_shapes(context, a, b, error);
  /* A vector is a matrix of one row on the left, of one column on the right; that axis is dropped again. */
  int64_t m = a->rank == 1 ? 1 : a->dims[a->rank - 2], k = a->dims[a->rank - 1];
  int64_t n = b->rank == 1 ? 1 : b->dims[b->rank - 1];
  if (k != (b->rank == 1 ? b->dims[0] : b->dims[b->rank - 2]))
    return bad_shapes(context, a, b, error);
  uint32_t batch_a = a->rank > 2 ? a->rank - 2 : 0, batch_b = b->rank > 2 ? b->rank - 2 : 0;
  uint32_t rank = MAX(batch_a, batch_b);
  int64_t dims[ONNXL_MAX_RANK + 2], strides_a[ONNXL_MAX_RANK], strides_b[ONNXL_MAX_RANK], strides_c[ONNXL_MAX_RANK];
  int64_t step_a = m * k, step_b = k * n, step_c = m * n;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t da = i < rank - batch_a ? 1 : a->dims[i - (rank - batch_a)];
    int64_t db = i < rank - batch_b ? 1 : b->dims[i - (rank - batch_b)];
    if (da != db && da != 1 && db != 1)
      return bad_shapes(context, a, b, error);
    dims[i] = da == 1 ? db : da;
  }
  uint32_t out_rank = rank;
  if (a->rank > 1)
    dims[out_rank++] = m;
  if (b->rank > 1)
    dims[out_rank++] = n;
  OnnxlValue *c =
    onnxl_value_new_tensor(onnxl_ctx_allocator(context), a->elem_type, out_rank, dims, "a matrix product", error);
  if (!c)
    return false;
  *ret_result = c;
  if (c->count == 0)
    return true;
  for (uint32_t i = rank; i-- > 0;) {
    int64_t da = i < rank - batch_a ? 1 : a->dims[i - (rank - batch_a)];
    int64_t db = i < rank - batch_b ? 1 : b->dims[i - (rank - batch_b)];
    strides_a[i] = da == 1 ? 0 : step_a;
    strides_b[i] = db == 1 ? 0 : step_b;
    strides_c[i] = step_c;
    step_a *= da;
    step_b *= db;
    step_c *= dims[i];
  }
  OnnxlLoop loop;
  onnxl_loop_init(&loop, dims, rank);
  onnxl_loop_add_strided(&loop, strides_a);
  onnxl_loop_add_strided(&loop, strides_b);
  onnxl_loop_add_strided(&loop, strides_c);
  onnxl_loop_finish(&loop);
  int64_t size = (int64_t)onnxl_element_size(a);
  void *mark = onnxl_ctx_mark(context);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop))
    for (int64_t i = 0; i < onnxl_loop_row(&loop); i++) {
      OnnxlMatmul product = {
        .m = m,
        .n = n,
        .k = k,
        .a = (const char *)a->data + (loop.offsets[0] + i * onnxl_loop_step(&loop, 0)) * size,
        .a_row = k,
        .a_column = 1,
        .b = (const char *)b->data + (loop.offsets[1] + i * onnxl_loop_step(&loop, 1)) * size,
        .b_row = n,
        .b_column = 1,
        .c = (char *)c->data + (loop.offsets[2] + i * onnxl_loop_step(&loop, 2)) * size,
        .c_row = n,
      };
      if (!onnxl_matmul_strided(context, a->elem_type, &product, error)) {
        onnxl_value_unref(c);
        return false;
      }
      onnxl_ctx_rewind(context, mark);
    }
  return true;
}

static bool
run_mat_mul(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *result;
  if (!onnxl_matmul(context, onnxl_ctx_input(context, 0), onnxl_ctx_input(context, 1), &result, error))
    return false;
  onnxl_ctx_set_output(context, 0, result);
  return true;
}
ONNXL_KERNEL(mat_mul, COMPUTES);

/* y = alpha * product + beta * c, c broadcast to y. */
#define COMBINE(type, T, U)                                                  \
  case ONNXL_TYPE_##type:                                                    \
    for (int64_t i = 0; i < m; i++)                                          \
      for (int64_t j = 0; j < n; j++) {                                      \
        T *y = (T *)result->data + i * n + j;                                \
        *y = alpha == 1 ? *y : (T)(alpha * (float)*y);                       \
        if (c) {                                                             \
          T bias = ((const T *)c->data)[i * c_row + j * c_column];           \
          *y = (T)((U)*y + (U)(beta == 1 ? bias : (T)(beta * (float)bias))); \
        }                                                                    \
      }                                                                      \
    return true;

static bool
run_gemm(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *a = onnxl_ctx_input(context, 0), *b = onnxl_ctx_input(context, 1), *c = onnxl_ctx_input(context, 2);
  bool trans_a = onnxl_ctx_int(context, "transA") != 0, trans_b = onnxl_ctx_int(context, "transB") != 0;
  if (a->rank != 2 || b->rank != 2)
    return bad_shapes(context, a, b, error);
  int64_t m = a->dims[trans_a], k = a->dims[!trans_a], n = b->dims[!trans_b];
  if (b->dims[trans_b] != k)
    return bad_shapes(context, a, b, error);
  int64_t c_row = 0, c_column = 0;
  if (c) {
    int64_t rows = c->rank > 1 ? c->dims[c->rank - 2] : 1, columns = c->rank > 0 ? c->dims[c->rank - 1] : 1;
    if (c->rank > 2 || (rows != 1 && rows != m) || (columns != 1 && columns != n)) {
      char *text = onnxl_dims_text(c->dims, c->rank);
      onnxl_ctx_invalid(context, error,
                        "the shape %s cannot be broadcast to [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "]", text, m, n);
      g_free(text);
      return false;
    }
    c_row = rows == 1 ? 0 : columns;
    c_column = columns == 1 ? 0 : 1;
  }
  OnnxlValue *result = onnxl_ctx_output(context, 0, a->elem_type, 2, (int64_t[]){ m, n }, error);
  if (!result)
    return false;
  OnnxlMatmul product = { .m = m,
                          .n = n,
                          .k = k,
                          .a = a->data,
                          .a_row = trans_a ? 1 : k,
                          .a_column = trans_a ? m : 1,
                          .b = b->data,
                          .b_row = trans_b ? 1 : n,
                          .b_column = trans_b ? k : 1,
                          .c = result->data,
                          .c_row = n };
  if (!onnxl_matmul_strided(context, a->elem_type, &product, error))
    return false;
  float alpha = onnxl_ctx_float(context, "alpha"), beta = onnxl_ctx_float(context, "beta");
  switch (a->elem_type) {
    COMBINE(FLOAT, float, float)
    COMBINE(DOUBLE, double, double)
    COMBINE(INT32, int32_t, uint32_t)
    COMBINE(UINT32, uint32_t, uint32_t)
    COMBINE(INT64, int64_t, uint64_t)
    COMBINE(UINT64, uint64_t, uint64_t)
  default:
    return onnxl_ctx_unsupported_type(context, error, a->elem_type);
  }
}
ONNXL_KERNEL(gemm, COMPUTES);

/* Determinant by elimination with the largest pivot, in double. */
static double
determinant(double *m, int64_t n)
{
  double result = 1;
  for (int64_t column = 0; column < n; column++) {
    int64_t pivot = column;
    for (int64_t i = column + 1; i < n; i++)
      if (ABS(m[i * n + column]) > ABS(m[pivot * n + column]))
        pivot = i;
    if (pivot != column) {
      result = -result;
      for (int64_t j = 0; j < n; j++) {
        double swapped = m[pivot * n + j];
        m[pivot * n + j] = m[column * n + j];
        m[column * n + j] = swapped;
      }
    }
    result *= m[column * n + column];
    /* Of a singular matrix the rest has no part in the result, but for a NaN in it. */
    for (int64_t i = column + 1; i < n && m[column * n + column] != 0; i++) {
      double factor = m[i * n + column] / m[column * n + column];
      for (int64_t j = column; j < n; j++)
        m[i * n + j] -= factor * m[column * n + j];
    }
  }
  return result;
}

static bool
run_det(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  if (x->rank < 2 || x->dims[x->rank - 1] != x->dims[x->rank - 2]) {
    char *text = onnxl_dims_text(x->dims, x->rank);
    onnxl_ctx_invalid(context, error, "the shape %s is not one of square matrices", text);
    g_free(text);
    return false;
  }
  int64_t n = x->dims[x->rank - 1];
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank - 2, x->dims, error);
  double *matrix = y ? onnxl_ctx_scratch(context, (uint64_t)(n * n), sizeof *matrix, error) : NULL;
  for (int64_t i = 0; matrix && i < y->count; i++) {
    onnxl_tensor_read_double(x, i * n * n, (size_t)(n * n), matrix);
    double value = determinant(matrix, n);
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return matrix != NULL;
}
ONNXL_KERNEL(det, COMPUTES);
