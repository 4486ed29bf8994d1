/* Pooling over windows and over whole images. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/window-internal.h"

typedef enum Pool { POOL_AVERAGE, POOL_MAX, POOL_LP } Pool;

typedef struct Pooling {
  Pool kind;
  OnnxlWindows windows;
  bool include_pad;  /* AVERAGE: padding counts in the divisor */
  int64_t p;         /* LP: the norm */
  bool column_major; /* MAX: indices count in column-major order */
  int64_t *indices;  /* MAX: where the maxima lie in the whole input, or NULL */
} Pooling;

/* One window: from first[i], clipped to the input. The index of the maximum is counted from base. */
static double
pool_window(const Pooling *pooling, const OnnxlValue *x, int64_t base, const int64_t *first, int64_t *ret_index)
{
  const OnnxlWindows *w = &pooling->windows;
  int64_t place[ONNXL_MAX_RANK] = { 0 }, sizes[ONNXL_MAX_RANK], counted = 0, padded = 0;
  double sum = pooling->kind == POOL_MAX ? -INFINITY : 0;
  bool found = false;
  for (uint32_t i = 0; i < w->n; i++)
    sizes[i] = w->axes[i].kernel;
  do {
    int64_t offset = 0;
    bool inside = true, in_padding = true;
    for (uint32_t i = 0; i < w->n; i++) {
      int64_t at = first[i] + place[i] * w->axes[i].dilation;
      inside = inside && at >= 0 && at < w->input[i];
      in_padding = in_padding && at < w->input[i] + w->end[i];
      offset = offset * w->input[i] + at;
    }
    padded += in_padding;
    if (!inside)
      continue;
    double value = onnxl_tensor_double(x, base + offset);
    counted++;
    if (pooling->kind == POOL_AVERAGE)
      sum += value;
    else if (pooling->kind == POOL_LP)
      sum += pooling->p == 1 ? fabs(value) : pooling->p == 2 ? value * value : pow(fabs(value), (double)pooling->p);
    else if (!found || value > sum || (isnan(value) && !isnan(sum))) {
      sum = value;
      *ret_index = offset;
      found = true;
    }
  } while (onnxl_index_next(place, sizes, w->n));
  if (pooling->kind == POOL_AVERAGE)
    return sum / (double)(pooling->include_pad ? padded : counted);
  if (pooling->kind == POOL_LP)
    return pooling->p == 1 ? sum : pooling->p == 2 ? sqrt(sum) : pow(sum, 1.0 / (double)pooling->p);
  return sum;
}

static int64_t
column_major_index(const OnnxlWindows *w, int64_t index)
{
  int64_t result = 0, at[ONNXL_MAX_RANK];
  for (uint32_t i = w->n; i-- > 0; index /= w->input[i])
    at[i] = index % w->input[i];
  for (uint32_t i = w->n; i-- > 0;)
    result = result * w->input[i] + at[i];
  return result;
}

static void
pool_images(const Pooling *pooling, const OnnxlValue *x, OnnxlValue *y)
{
  const OnnxlWindows *w = &pooling->windows;
  int64_t result = 0;
  for (int64_t image = 0; image < x->dims[0] * x->dims[1]; image++) {
    int64_t base = image * w->input_count, position[ONNXL_MAX_RANK] = { 0 };
    do {
      int64_t first[ONNXL_MAX_RANK], index = 0;
      for (uint32_t i = 0; i < w->n; i++)
        first[i] = position[i] * w->axes[i].stride - w->begin[i];
      double value = pool_window(pooling, x, base, first, &index);
      onnxl_tensor_write_double(y, result, 1, &value);
      if (pooling->indices)
        pooling->indices[result] = base + (pooling->column_major ? column_major_index(w, index) : index);
      result++;
    } while (onnxl_index_next(position, w->output, w->n));
  }
}

static bool
pool(OnnxlKernelContext *context, Pooling *pooling, GError **error)
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
  if (pooling->kind == POOL_MAX && onnxl_ctx_wants(context, 1)) {
    OnnxlValue *indices = onnxl_ctx_output(context, 1, ONNXL_TYPE_INT64, x->rank, dims, error);
    if (!indices)
      return false;
    pooling->indices = indices->data;
  }
  if (y->count > 0)
    pool_images(pooling, x, y);
  return true;
}

static bool
run_average_pool(OnnxlKernelContext *context, GError **error)
{
  return pool(context,
              &(Pooling){ .kind = POOL_AVERAGE, .include_pad = onnxl_ctx_int(context, "count_include_pad") != 0 },
              error);
}
ONNXL_KERNEL(average_pool, COMPUTES);

static bool
run_max_pool(OnnxlKernelContext *context, GError **error)
{
  return pool(context, &(Pooling){ .kind = POOL_MAX, .column_major = onnxl_ctx_int(context, "storage_order") != 0 },
              error);
}
ONNXL_KERNEL(max_pool, COMPUTES);

/* p was a float in version 1. */
static int64_t
norm_of(const OnnxlKernelContext *context)
{
  return onnxl_ctx_schema(context)->since < 2 ? (int64_t)onnxl_ctx_float(context, "p") : onnxl_ctx_int(context, "p");
}

static bool
run_lp_pool(OnnxlKernelContext *context, GError **error)
{
  return pool(context, &(Pooling){ .kind = POOL_LP, .p = norm_of(context) }, error);
}
ONNXL_KERNEL(lp_pool, COMPUTES);

/* A global pool is one window over the whole image. */
static bool
global_pool(OnnxlKernelContext *context, Pooling *pooling, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlWindows *windows = &pooling->windows;
  int64_t dims[ONNXL_MAX_RANK];
  if (x->rank < 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when at least 2 is needed", x->rank);
  *windows = (OnnxlWindows){ .n = x->rank - 2, .kernel_count = 1, .input_count = 1, .output_count = 1 };
  for (uint32_t i = 0; i < x->rank; i++)
    dims[i] = i < 2 ? x->dims[i] : 1;
  for (uint32_t i = 0; i < windows->n; i++) {
    windows->input[i] = x->dims[i + 2];
    windows->output[i] = 1;
    windows->axes[i] = (OnnxlWindow){ .kernel = x->dims[i + 2], .stride = 1, .dilation = 1 };
    windows->input_count *= x->dims[i + 2];
  }
  if (windows->input_count == 0 && x->dims[0] * x->dims[1] > 0)
    return onnxl_ctx_invalid(context, error, "the images are empty");
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (y && y->count > 0)
    pool_images(pooling, x, y);
  return y != NULL;
}

static bool
run_global_average_pool(OnnxlKernelContext *context, GError **error)
{
  return global_pool(context, &(Pooling){ .kind = POOL_AVERAGE }, error);
}
ONNXL_KERNEL(global_average_pool, COMPUTES);

static bool
run_global_max_pool(OnnxlKernelContext *context, GError **error)
{
  return global_pool(context, &(Pooling){ .kind = POOL_MAX }, error);
}
ONNXL_KERNEL(global_max_pool, COMPUTES);

static bool
run_global_lp_pool(OnnxlKernelContext *context, GError **error)
{
  return global_pool(context, &(Pooling){ .kind = POOL_LP, .p = norm_of(context) }, error);
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
