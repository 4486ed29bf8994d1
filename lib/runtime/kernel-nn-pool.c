/* Pooling over windows and over whole images. */
#include "runtime/loop.h"
#include "runtime/pool-internal.h"
#include "runtime/tensor.h"

/* One window over an image whose elements stand in a row. */
static OnnxlWindows
whole_image(int64_t count)
{
  return (OnnxlWindows){ .n = 1,
                         .input = { count },
                         .output = { 1 },
                         .axes = { { .kernel = count, .stride = 1, .dilation = 1 } },
                         .kernel_count = count,
                         .input_count = count,
                         .output_count = 1 };
}

static bool
pool(OnnxlKernelContext *context, OnnxlPooling *pooling, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlWindows *windows = &pooling->windows;
  int64_t dims[ONNXL_MAX_RANK];
  if (!onnxl_ctx_windows(context, x, NULL, windows, error))
    return false;
  memcpy(dims, x->dims, 2 * sizeof *dims);
  memcpy(dims + 2, windows->output, windows->n * sizeof *dims);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y)
    return false;
  if (pooling->kind == ONNXL_POOL_MAX && onnxl_ctx_wants(context, 1)) {
    OnnxlValue *indices = onnxl_ctx_output(context, 1, ONNXL_TYPE_INT64, x->rank, dims, error);
    if (!indices)
      return false;
    pooling->indices = indices->data;
  }
  if (windows->n == 0) /* each element is an image with one window */
    *windows = whole_image(1);
  if (y->count > 0)
    onnxl_pool_images(pooling, x, y);
  return true;
}

static bool
run_average_pool(OnnxlKernelContext *context, GError **error)
{
  return pool(
    context,
    &(OnnxlPooling){ .kind = ONNXL_POOL_AVERAGE, .include_pad = onnxl_ctx_int(context, "count_include_pad") != 0 },
    error);
}
ONNXL_KERNEL(average_pool, COMPUTES);

static bool
run_max_pool(OnnxlKernelContext *context, GError **error)
{
  return pool(context,
              &(OnnxlPooling){ .kind = ONNXL_POOL_MAX, .column_major = onnxl_ctx_int(context, "storage_order") != 0 },
              error);
}
ONNXL_KERNEL(max_pool, COMPUTES);

/* p was a float in version 1. */
static bool
norm_of(const OnnxlKernelContext *context, int64_t *ret_p, GError **error)
{
  bool is_float = onnxl_ctx_schema(context)->since < 2;
  *ret_p = is_float ? (int64_t)onnxl_ctx_float(context, "p") : onnxl_ctx_int(context, "p");
  return *ret_p >= 1 ||
         onnxl_ctx_invalid(context, error, "p is %" G_GINT64_FORMAT " when at least 1 is needed", *ret_p);
}

static bool
run_lp_pool(OnnxlKernelContext *context, GError **error)
{
  OnnxlPooling pooling = { .kind = ONNXL_POOL_LP };
  return norm_of(context, &pooling.p, error) && pool(context, &pooling, error);
}
ONNXL_KERNEL(lp_pool, COMPUTES);

/* A global pool is one window over the whole image. */
static bool
global_pool(OnnxlKernelContext *context, OnnxlPooling *pooling, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t dims[ONNXL_MAX_RANK];
  if (x->rank < 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when at least 2 is needed", x->rank);
  int64_t images = x->dims[0] * x->dims[1], count = images > 0 ? x->count / images : 0;
  for (uint32_t i = 0; i < x->rank; i++)
    dims[i] = i < 2 ? x->dims[i] : 1;
  if (images > 0 && count == 0)
    return onnxl_ctx_invalid(context, error, "the images are empty");
  pooling->windows = whole_image(count);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (y && y->count > 0)
    onnxl_pool_images(pooling, x, y);
  return y != NULL;
}

static bool
run_global_average_pool(OnnxlKernelContext *context, GError **error)
{
  return global_pool(context, &(OnnxlPooling){ .kind = ONNXL_POOL_AVERAGE }, error);
}
ONNXL_KERNEL(global_average_pool, COMPUTES);

static bool
run_global_max_pool(OnnxlKernelContext *context, GError **error)
{
  return global_pool(context, &(OnnxlPooling){ .kind = ONNXL_POOL_MAX }, error);
}
ONNXL_KERNEL(global_max_pool, COMPUTES);

static bool
run_global_lp_pool(OnnxlKernelContext *context, GError **error)
{
  OnnxlPooling pooling = { .kind = ONNXL_POOL_LP };
  return norm_of(context, &pooling.p, error) && global_pool(context, &pooling, error);
}
ONNXL_KERNEL(global_lp_pool, COMPUTES);

/* Puts each value back at its index into an output of zeros. */
static bool
run_max_unpool(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  const OnnxlValue *shape = onnxl_ctx_input(context, 2);
  OnnxlWindows windows;
  int64_t dims[ONNXL_MAX_RANK], small[ONNXL_MAX_RANK];
  if (!onnxl_ctx_windows_read(context, x, NULL, &windows, error))
    return false;
  if (indices->count != x->count)
    return onnxl_ctx_invalid(context, error, "%" G_GINT64_FORMAT " indices are given for %" G_GINT64_FORMAT " values",
                             indices->count, x->count);
  memcpy(small, x->dims, x->rank * sizeof *small);
  for (uint32_t i = 0; i < windows.n; i++) {
    const OnnxlWindow *axis = &windows.axes[i];
    small[i + 2] = (windows.input[i] - 1) * axis->stride + axis->kernel - axis->pad_begin - axis->pad_end;
  }
  memcpy(dims, small, x->rank * sizeof *dims);
  if (shape) {
    if (shape->count != x->rank)
      return onnxl_ctx_invalid(context, error, "output_shape has %" G_GINT64_FORMAT " values for rank %u", shape->count,
                               x->rank);
    onnxl_tensor_read_int64(shape, 0, x->rank, dims);
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y)
    return false;
  memset(y->data, 0, y->bytes);
  size_t size = onnxl_element_size(x);
  int64_t bound = 1;
  for (uint32_t i = 0; i < x->rank; i++)
    if (small[i] < 0 || __builtin_mul_overflow(bound, small[i], &bound))
      return onnxl_ctx_invalid(context, error, "the output would have a negative or too large size");
  for (int64_t i = 0; i < x->count; i++) {
    /* The indices count in the shape that the window gives; a larger output_shape keeps the coordinates. */
    int64_t index = ((const int64_t *)indices->data)[i], at[ONNXL_MAX_RANK], to = 0;
    if (index < 0 || index >= bound)
      return onnxl_ctx_invalid(context, error,
                               "the index %" G_GINT64_FORMAT " is outside %" G_GINT64_FORMAT " elements", index, bound);
    for (uint32_t d = x->rank; d-- > 0; index /= small[d])
      at[d] = index % small[d];
    for (uint32_t d = 0; d < x->rank; d++) {
      if (at[d] >= dims[d])
        return onnxl_ctx_invalid(context, error, "an index lies outside output_shape");
      to = to * dims[d] + at[d];
    }
    memcpy((char *)y->data + to * (int64_t)size, (const char *)x->data + i * (int64_t)size, size);
  }
  return true;
}
ONNXL_KERNEL(max_unpool, COMPUTES);
