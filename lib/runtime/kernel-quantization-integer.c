/* Products of quantized tensors, which are summed up as integers: MatMulInteger, ConvInteger, QLinearMatMul,
 * QLinearConv. */
#include "runtime/loop.h"
#include "runtime/matmul-internal.h"
#include "runtime/quantize-internal.h"
#include "runtime/tensor.h"
#include "runtime/window-internal.h"

/* How a scale or zero point is broadcast over a tensor: one for all, a vector along an axis, or a shape of its own. */
static bool
parameter_strides(OnnxlKernelContext *context, const OnnxlValue *parameter, const int64_t *dims, uint32_t rank,
                  int64_t vector_axis, const char *what, int64_t *ret_strides, GError **error)
{
  memset(ret_strides, 0, ONNXL_MAX_RANK * sizeof *ret_strides);
  if (parameter->count == 1 && parameter->rank <= 1)
    return true;
  if (parameter->rank == 1 && vector_axis >= 0 && vector_axis < rank && parameter->count == dims[vector_axis]) {
    ret_strides[vector_axis] = 1;
    return true;
  }
  bool fits = parameter->rank == rank;
  int64_t stride = 1;
  for (uint32_t i = rank; fits && i-- > 0;) {
    fits = parameter->dims[i] == 1 || parameter->dims[i] == dims[i];
    ret_strides[i] = parameter->dims[i] == 1 ? 0 : stride;
    stride *= parameter->dims[i];
  }
  if (fits)
    return true;
  char *a = onnxl_dims_text(parameter->dims, parameter->rank), *b = onnxl_dims_text(dims, rank);
  onnxl_ctx_invalid(context, error, "%s of shape %s does not fit a tensor of shape %s", what, a, b);
  g_free(a);
  g_free(b);
  return false;
}

/* x minus its zero point (NULL = 0), in scratch memory: INT32, or DOUBLE for types of floating point. Returns: owned.
 */
static OnnxlValue *
centered(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *zero, int64_t vector_axis, GError **error)
{
  int64_t own[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK] = { 0 };
  double none = 0, *zeros = &none;
  if (zero && (!parameter_strides(context, zero, x->dims, x->rank, vector_axis, "a zero point", strides, error) ||
               !(zeros = onnxl_ctx_doubles(context, zero, error))))
    return NULL;
  bool real = onnxl_type_is_float(x->elem_type);
  void *data = onnxl_ctx_scratch(context, (uint64_t)x->count, real ? sizeof(double) : sizeof(int32_t), error);
  if (!data)
    return NULL;
  OnnxlLoop loop;
  onnxl_loop_init(&loop, x->dims, x->rank);
  onnxl_strides(x->dims, x->rank, own);
  onnxl_loop_add_strided(&loop, own);
  onnxl_loop_add_strided(&loop, strides);
  onnxl_loop_finish(&loop);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop)) {
    int64_t n = onnxl_loop_row(&loop), from = loop.offsets[0], step = onnxl_loop_step(&loop, 1);
    const double *z = zeros + loop.offsets[1];
    for (int64_t i = 0; i < n; i++, z += step)
      if (real)
        ((double *)data)[from + i] = onnxl_tensor_double(x, from + i) - *z;
      else if (x->elem_type == ONNXL_TYPE_UINT8)
        ((int32_t *)data)[from + i] = ((const uint8_t *)x->data)[from + i] - (int32_t)*z;
      else
        ((int32_t *)data)[from + i] = ((const int8_t *)x->data)[from + i] - (int32_t)*z;
  }
  return onnxl_value_new_borrowed(onnxl_ctx_allocator(context), real ? ONNXL_TYPE_DOUBLE : ONNXL_TYPE_INT32, x->rank,
                                  x->dims, data);
}

/* The product of inputs a and b, less their zero points. Returns: owned. */
static OnnxlValue *
product(OnnxlKernelContext *context, uint32_t a, uint32_t a_zero, uint32_t b, uint32_t b_zero, GError **error)
{
  const OnnxlValue *left = onnxl_ctx_input(context, a), *right = onnxl_ctx_input(context, b);
  if (onnxl_type_is_float(left->elem_type) != onnxl_type_is_float(right->elem_type)) {
    onnxl_ctx_invalid(context, error, "%s and %s cannot be multiplied", onnxl_data_type_name(left->elem_type),
                      onnxl_data_type_name(right->elem_type));
    return NULL;
  }
  OnnxlValue *x = centered(context, left, onnxl_ctx_input(context, a_zero), (int64_t)left->rank - 2, error);
  OnnxlValue *w =
    x ? centered(context, right, onnxl_ctx_input(context, b_zero), (int64_t)right->rank - 1, error) : NULL;
  OnnxlValue *result = NULL;
  bool good = w && onnxl_matmul(context, x, w, &result, error);
  onnxl_value_unref(x);
  onnxl_value_unref(w);
  return good ? result : NULL;
}

static bool
run_mat_mul_integer(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *y = product(context, 0, 2, 1, 3, error);
  if (y)
    onnxl_ctx_set_output(context, 0, y);
  return y != NULL;
}
ONNXL_KERNEL(mat_mul_integer, EXACT);

/* Makes y of dims and fills it with the convolution of the centered inputs. ret_y: owned. */
static bool
convolution(OnnxlKernelContext *context, uint32_t x_zero, uint32_t w, uint32_t w_zero, const OnnxlValue *bias,
            OnnxlValue **ret_y, GError **error)
{
  const OnnxlValue *x_in = onnxl_ctx_input(context, 0), *w_in = onnxl_ctx_input(context, w);
  const OnnxlValue *zero = onnxl_ctx_input(context, x_zero);
  OnnxlWindows windows;
  int64_t group, dims[ONNXL_MAX_RANK];
  if (zero && zero->count != 1)
    return onnxl_ctx_invalid(context, error, "the zero point of the input has %" G_GINT64_FORMAT " values",
                             zero->count);
  if (!onnxl_conv_prepare(context, x_in, w_in, bias, &windows, &group, error))
    return false;
  dims[0] = x_in->dims[0];
  dims[1] = w_in->dims[0];
  memcpy(dims + 2, windows.output, windows.n * sizeof *dims);
  OnnxlValue *xs = centered(context, x_in, zero, -1, error);
  OnnxlValue *ws = xs ? centered(context, w_in, onnxl_ctx_input(context, w_zero), 0, error) : NULL;
  OnnxlValue *y = ws ? onnxl_value_new_tensor(onnxl_ctx_allocator(context), ONNXL_TYPE_INT32, x_in->rank, dims,
                                              "the sums of a convolution", error)
                     : NULL;
  bool good = y && onnxl_convolve(context, &windows, group, xs, ws, bias, y, error);
  onnxl_value_unref(xs);
  onnxl_value_unref(ws);
  if (good)
    *ret_y = y;
  else
    onnxl_value_unref(y);
  return good;
}

static bool
run_conv_integer(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *y;
  if (!convolution(context, 2, 1, 3, NULL, &y, error))
    return false;
  onnxl_ctx_set_output(context, 0, y);
  return true;
}
ONNXL_KERNEL(conv_integer, EXACT);

/* A factor of the result that comes from an input, and how it is broadcast over the result. */
typedef struct Factor {
  uint32_t input;
  int64_t axis; /* of a vector */
  const char *what;
} Factor;

/* Scales and zero point of a row of results: a number for each, or one for all when the step is 0. */
typedef struct Row {
  const double *values[4];
  int64_t steps[4];
} Row;

static float
row_factor(const Row *row, int64_t j)
{
  return (float)row->values[0][j * row->steps[0]] * (float)row->values[1][j * row->steps[1]] /
         (float)row->values[2][j * row->steps[2]];
}

#define REQUANTIZE(T, low, high)                                                                                     \
  {                                                                                                                  \
    const int32_t *from = (const int32_t *)sums->data + at;                                                          \
    T *to = (T *)y->data + at;                                                                                       \
    if (row->steps[0] == 0 && row->steps[1] == 0 && row->steps[2] == 0 && row->steps[3] == 0) {                      \
      float factor = row_factor(row, 0);                                                                             \
      double zero = *row->values[3];                                                                                 \
      for (int64_t j = 0; j < n; j++)                                                                                \
        to[j] = (T)onnxl_quantized((double)((float)from[j] * factor), zero, low, high);                              \
    } else                                                                                                           \
      for (int64_t j = 0; j < n; j++)                                                                                \
        to[j] = (T)onnxl_quantized((double)((float)from[j] * row_factor(row, j)), row->values[3][j * row->steps[3]], \
                                   low, high);                                                                       \
  }

static void
requantize_row(const OnnxlValue *sums, OnnxlValue *y, int64_t at, int64_t n, const Row *row)
{
  if (y->elem_type == ONNXL_TYPE_UINT8)
    REQUANTIZE(uint8_t, 0, 255)
  else if (y->elem_type == ONNXL_TYPE_INT8)
    REQUANTIZE(int8_t, -128, 127)
  else
    for (int64_t j = 0; j < n; j++) {
      double value = (double)((float)onnxl_tensor_double(sums, at + j) * row_factor(row, j));
      onnxl_tensor_write_double(y, at + j, 1, &value);
    }
}

/* Output 0 from sums: times the first two scales, divided by the third, rounded to nearest even, plus the zero point of
 * input zero. */
static bool
requantize(OnnxlKernelContext *context, const OnnxlValue *sums, const Factor factors[3], uint32_t zero, GError **error)
{
  const OnnxlValue *zero_in = onnxl_ctx_input(context, zero);
  int64_t strides[ONNXL_MAX_RANK];
  double *values[4];
  OnnxlLoop loop;
  onnxl_loop_init(&loop, sums->dims, sums->rank);
  for (uint32_t i = 0; i < 4; i++) {
    const OnnxlValue *in = i < 3 ? onnxl_ctx_input(context, factors[i].input) : zero_in;
    const char *what = i < 3 ? factors[i].what : "the zero point of the output";
    if (!parameter_strides(context, in, sums->dims, sums->rank, factors[MIN(i, 2)].axis, what, strides, error) ||
        !(values[i] = onnxl_ctx_doubles(context, in, error)))
      return false;
    onnxl_loop_add_strided(&loop, strides);
  }
  onnxl_loop_finish(&loop);
  if (onnxl_type_is_float(sums->elem_type) != onnxl_type_is_float(zero_in->elem_type))
    return onnxl_ctx_invalid(context, error, "the product of %s cannot become %s",
                             onnxl_type_is_float(sums->elem_type) ? "floating-point numbers" : "integers",
                             onnxl_data_type_name(zero_in->elem_type));
  OnnxlValue *y = onnxl_ctx_output(context, 0, zero_in->elem_type, sums->rank, sums->dims, error);
  if (!y)
    return false;
  /* The rows come in row-major order, so the sums and results are simply counted through. */
  int64_t at = 0, n = onnxl_loop_row(&loop);
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop), at += n) {
    Row row;
    for (uint32_t i = 0; i < 4; i++) {
      row.values[i] = values[i] + loop.offsets[i];
      row.steps[i] = onnxl_loop_step(&loop, i);
    }
    requantize_row(sums, y, at, n, &row);
  }
  return true;
}

static bool
run_q_linear_mat_mul(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *sums = product(context, 0, 2, 3, 5, error);
  if (!sums)
    return false;
  int64_t row = (int64_t)sums->rank - 2, column = (int64_t)sums->rank - 1;
  const Factor factors[3] = { { 1, row, "a_scale" }, { 4, column, "b_scale" }, { 6, row, "y_scale" } };
  bool good = requantize(context, sums, factors, 7, error);
  onnxl_value_unref(sums);
  return good;
}
ONNXL_KERNEL(q_linear_mat_mul, EXACT);

static bool
run_q_linear_conv(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *sums;
  if (!convolution(context, 2, 3, 5, onnxl_ctx_input(context, 8), &sums, error))
    return false;
  const Factor factors[3] = { { 1, -1, "x_scale" }, { 4, 1, "w_scale" }, { 6, -1, "y_scale" } };
  bool good = requantize(context, sums, factors, 7, error);
  onnxl_value_unref(sums);
  return good;
}
ONNXL_KERNEL(q_linear_conv, EXACT);
