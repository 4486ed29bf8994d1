/* Normalizations. Rows are computed in double, whatever the element type. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"

/* A tensor of parameters, one a channel. NULL with error when the count is wrong. */
static double *
parameters(OnnxlKernelContext *context, uint32_t i, int64_t count, GError **error)
{
  const OnnxlValue *value = onnxl_ctx_input(context, i);
  if (value->rank == 1 && value->count == count)
    return onnxl_ctx_doubles(context, value, error);
  char *dims = onnxl_dims_text(value->dims, value->rank);
  onnxl_ctx_invalid(context, error, "input %u has the shape %s when [%" G_GINT64_FORMAT "] is needed", i, dims, count);
  g_free(dims);
  return NULL;
}

static void
mean_and_variance(const double *row, int64_t n, double *ret_mean, double *ret_variance)
{
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < n; i++)
    mean += row[i];
  mean /= (double)n;
  for (int64_t i = 0; i < n; i++)
    variance += (row[i] - mean) * (row[i] - mean);
  *ret_mean = mean;
  *ret_variance = variance / (double)n;
}

/* Mean and variance of each channel over batch and positions, and what the running ones become. */
static bool
batch_statistics(OnnxlKernelContext *context, const OnnxlValue *x, int64_t channels, int64_t positions, double *mean,
                 double *variance, GError **error)
{
  double momentum = onnxl_ctx_float(context, "momentum");
  int64_t batch = x->dims[0];
  double *row = onnxl_ctx_scratch(context, (uint64_t)(batch * positions), sizeof *row, error);
  OnnxlValue *running[2] = { NULL, NULL };
  for (uint32_t i = 0; row && i < 2; i++)
    if (onnxl_ctx_wants(context, i + 1)) {
      const OnnxlValue *given = onnxl_ctx_input(context, i + 3);
      running[i] = onnxl_ctx_output(context, i + 1, given->elem_type, 1, &channels, error);
      if (!running[i])
        return false;
    }
  for (int64_t c = 0; row && c < channels; c++) {
    double new_mean, new_variance;
    for (int64_t n = 0; n < batch; n++)
      onnxl_tensor_read_double(x, (n * channels + c) * positions, (size_t)positions, row + n * positions);
    mean_and_variance(row, batch * positions, &new_mean, &new_variance);
    double values[2] = { mean[c] * momentum + new_mean * (1 - momentum),
                         variance[c] * momentum + new_variance * (1 - momentum) };
    for (int i = 0; i < 2; i++)
      if (running[i])
        onnxl_tensor_write_double(running[i], c, 1, &values[i]);
    mean[c] = new_mean;
    variance[c] = new_variance;
  }
  return row != NULL;
}

static bool
run_batch_normalization(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int32_t since = onnxl_ctx_schema(context)->since;
  int64_t channels = x->rank > 1 ? x->dims[1] : 1, positions = 1;
  double epsilon = onnxl_ctx_float(context, "epsilon");
  if (x->rank < 1)
    return onnxl_ctx_invalid(context, error, "the input is a scalar");
  for (uint32_t i = 2; i < x->rank; i++)
    positions *= x->dims[i];
  if (since < 9 && onnxl_ctx_int(context, "spatial") == 0) {
    channels *= positions; /* statistics for each place of the image */
    positions = 1;
  }
  double *scale = parameters(context, 1, channels, error),
         *bias = scale ? parameters(context, 2, channels, error) : NULL;
  double *mean = bias ? parameters(context, 3, channels, error) : NULL;
  double *variance = mean ? parameters(context, 4, channels, error) : NULL;
  OnnxlValue *y = variance ? onnxl_ctx_output_like(context, 0, x, error) : NULL;
  double *row = y ? onnxl_ctx_scratch(context, (uint64_t)positions, sizeof *row, error) : NULL;
  if (!row)
    return false;
  bool trains = since >= 14 ? onnxl_ctx_int(context, "training_mode") != 0
                            : onnxl_ctx_wants(context, 1) || onnxl_ctx_wants(context, 2);
  if (trains && x->count > 0 && !batch_statistics(context, x, channels, positions, mean, variance, error))
    return false;
  for (int64_t i = 0; x->count > 0 && i < x->dims[0] * channels; i++) {
    int64_t c = i % channels;
    double factor = scale[c] / sqrt(variance[c] + epsilon);
    onnxl_tensor_read_double(x, i * positions, (size_t)positions, row);
    for (int64_t j = 0; j < positions; j++)
      row[j] = (row[j] - mean[c]) * factor + bias[c];
    onnxl_tensor_write_double(y, i * positions, (size_t)positions, row);
  }
  return true;
}
ONNXL_KERNEL(batch_normalization, COMPUTES);

/* Normalizes groups of channels of each image; per_group: scale and bias belong to groups, not channels. */
static bool
group_normalization(OnnxlKernelContext *context, int64_t groups, bool per_group, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  double epsilon = onnxl_ctx_float(context, "epsilon");
  int64_t channels = x->rank > 1 ? x->dims[1] : 0, positions = 1;
  if (x->rank < 2 || groups < 1 || channels % groups != 0)
    return onnxl_ctx_invalid(
      context, error, "%" G_GINT64_FORMAT " channels do not fit into %" G_GINT64_FORMAT " groups", channels, groups);
  for (uint32_t i = 2; i < x->rank; i++)
    positions *= x->dims[i];
  int64_t size = channels / groups * positions, count = per_group ? groups : channels;
  double *scale = parameters(context, 1, count, error), *bias = scale ? parameters(context, 2, count, error) : NULL;
  OnnxlValue *y = bias ? onnxl_ctx_output_like(context, 0, x, error) : NULL;
  double *row = y ? onnxl_ctx_scratch(context, (uint64_t)size, sizeof *row, error) : NULL;
  if (!row)
    return false;
  for (int64_t i = 0; x->count > 0 && i < x->dims[0] * groups; i++) {
    double mean, variance;
    onnxl_tensor_read_double(x, i * size, (size_t)size, row);
    mean_and_variance(row, size, &mean, &variance);
    for (int64_t j = 0; j < size; j++) {
      int64_t p = per_group ? i % groups : i % groups * (channels / groups) + j / positions;
      row[j] = (row[j] - mean) / sqrt(variance + epsilon) * scale[p] + bias[p];
    }
    onnxl_tensor_write_double(y, i * size, (size_t)size, row);
  }
  return true;
}

static bool
run_instance_normalization(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t groups = x->rank > 1 ? x->dims[1] : 1;
  return group_normalization(context, MAX(groups, 1), false, error);
}
ONNXL_KERNEL(instance_normalization, COMPUTES);

static bool
run_group_normalization(OnnxlKernelContext *context, GError **error)
{
  return group_normalization(context, onnxl_ctx_int(context, "num_groups"), onnxl_ctx_schema(context)->since < 21,
                             error);
}
ONNXL_KERNEL(group_normalization, COMPUTES);

/* A parameter of LayerNormalization is broadcast to the input; here its value for each element of a row. */
static double *
row_parameter(OnnxlKernelContext *context, const OnnxlValue *parameter, const OnnxlValue *x, int64_t axis, int64_t size,
              int64_t *ret_rows, GError **error)
{
  int64_t dims[ONNXL_MAX_RANK];
  uint32_t rank;
  if (!onnxl_ctx_broadcast(context, (OnnxlValue *[]){ (OnnxlValue *)x, (OnnxlValue *)parameter }, 2, &rank, dims,
                           error))
    return NULL;
  if (rank != x->rank || memcmp(dims, x->dims, rank * sizeof *dims) != 0) {
    onnxl_ctx_invalid(context, error, "a parameter is larger than the input");
    return NULL;
  }
  OnnxlLoop loop;
  onnxl_loop_init(&loop, x->dims, rank);
  onnxl_loop_add(&loop, parameter);
  /* When it does not vary outside the normalized axes, one row serves all. */
  bool same = true;
  for (int64_t i = 0; i < axis; i++)
    same = same && loop.strides[0][i] == 0;
  uint32_t first = same ? (uint32_t)axis : 0;
  int64_t count = same ? size : x->count;
  double *values = onnxl_ctx_scratch(context, (uint64_t)count, sizeof *values, error);
  double *own = values ? onnxl_ctx_doubles(context, parameter, error) : NULL;
  if (!own)
    return NULL;
  onnxl_copy_strided(values, own, x->dims + first, rank - first, loop.strides[0] + first, sizeof *values);
  *ret_rows = same ? 0 : size;
  return values;
}

/* Rows are everything from the axis on. centered: LayerNormalization; else RMSNormalization. */
static bool
normalize_rows(OnnxlKernelContext *context, bool centered, int32_t result_type, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *bias = onnxl_ctx_input(context, 2);
  double epsilon = onnxl_ctx_float(context, "epsilon");
  int64_t axis, rows = 1, size = 1, dims[ONNXL_MAX_RANK], scale_rows = 0, bias_rows = 0;
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  for (int64_t i = 0; i < x->rank; i++) {
    *(i < axis ? &rows : &size) *= x->dims[i];
    dims[i] = i < axis ? x->dims[i] : 1;
  }
  int64_t stash = onnxl_ctx_int(context, "stash_type");
  if (stash != ONNXL_TYPE_FLOAT && stash != ONNXL_TYPE_BFLOAT16)
    return onnxl_ctx_invalid(context, error, "stash_type is %" G_GINT64_FORMAT " when 1 or 16 is possible", stash);
  OnnxlValue *y = onnxl_ctx_output(context, 0, result_type, x->rank, x->dims, error);
  double *scale = y ? row_parameter(context, onnxl_ctx_input(context, 1), x, axis, size, &scale_rows, error) : NULL;
  double *shift = scale && bias ? row_parameter(context, bias, x, axis, size, &bias_rows, error) : NULL;
  double *row = scale && (shift || !bias) ? onnxl_ctx_scratch(context, (uint64_t)size, sizeof *row, error) : NULL;
  if (!row)
    return false;
  OnnxlValue *statistics[2] = { NULL, NULL };
  for (uint32_t i = 0; i < 2; i++)
    if (onnxl_ctx_wants(context, i + 1)) {
      statistics[i] = onnxl_ctx_output(context, i + 1, (int32_t)stash, x->rank, dims, error);
      if (!statistics[i])
        return false;
    }
  bool any = x->count > 0 || statistics[0] || statistics[1];
  for (int64_t i = 0; i < rows && any; i++) {
    double mean = 0, variance = 0;
    onnxl_tensor_read_double(x, i * size, (size_t)size, row);
    if (centered)
      mean_and_variance(row, size, &mean, &variance);
    else {
      for (int64_t j = 0; j < size; j++)
        variance += row[j] * row[j];
      variance /= (double)size;
    }
    double inverse = 1 / sqrt(variance + epsilon);
    for (int64_t j = 0; j < size; j++)
      row[j] = (row[j] - mean) * inverse * scale[i * scale_rows + j] + (shift ? shift[i * bias_rows + j] : 0);
    onnxl_tensor_write_double(y, i * size, (size_t)size, row);
    if (statistics[0])
      onnxl_tensor_write_double(statistics[0], i, 1, &mean);
    if (statistics[1])
      onnxl_tensor_write_double(statistics[1], i, 1, &inverse);
  }
  return true;
}

static bool
run_layer_normalization(OnnxlKernelContext *context, GError **error)
{
  return normalize_rows(context, true, onnxl_ctx_input(context, 0)->elem_type, error);
}
ONNXL_KERNEL(layer_normalization, COMPUTES);

static bool
run_rms_normalization(OnnxlKernelContext *context, GError **error)
{
  return normalize_rows(context, false, onnxl_ctx_input(context, 1)->elem_type, error);
}
ONNXL_KERNEL(rms_normalization, COMPUTES);

static bool
run_lrn(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  double alpha = onnxl_ctx_float(context, "alpha"), beta = onnxl_ctx_float(context, "beta");
  double bias = onnxl_ctx_float(context, "bias");
  int64_t size = onnxl_ctx_int(context, "size"), positions = 1;
  if (x->rank < 2 || size < 1)
    return onnxl_ctx_invalid(context, error, "size is %" G_GINT64_FORMAT " for an input of rank %u", size, x->rank);
  for (uint32_t i = 2; i < x->rank; i++)
    positions *= x->dims[i];
  int64_t channels = x->dims[1], before = (size - 1) / 2, after = size - 1 - before;
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  for (int64_t i = 0; y && i < x->count; i++) {
    int64_t c = i / positions % channels;
    double sum = 0;
    for (int64_t k = MAX(c - before, 0); k <= MIN(c + after, channels - 1); k++) {
      double other = onnxl_tensor_double(x, i + (k - c) * positions);
      sum += other * other;
    }
    double value = onnxl_tensor_double(x, i) / pow(bias + alpha / (double)size * sum, beta);
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return y != NULL;
}
ONNXL_KERNEL(lrn, COMPUTES);

static bool
run_lp_normalization(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t axis, p = onnxl_ctx_int(context, "p"), stride = 1;
  if (p != 1 && p != 2)
    return onnxl_ctx_invalid(context, error, "p is %" G_GINT64_FORMAT " where 1 or 2 is needed", p);
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  for (int64_t i = axis + 1; i < x->rank; i++)
    stride *= x->dims[i];
  int64_t n = x->dims[axis];
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  for (int64_t i = 0; y && x->count > 0 && i < x->count / n; i++) {
    int64_t start = i / stride * stride * n + i % stride;
    double norm = 0;
    for (int64_t j = 0; j < n; j++) {
      double value = onnxl_tensor_double(x, start + j * stride);
      norm += p == 1 ? fabs(value) : value * value;
    }
    norm = p == 1 ? norm : sqrt(norm);
    for (int64_t j = 0; j < n; j++) {
      double value = norm == 0 ? 0 : onnxl_tensor_double(x, start + j * stride) / norm;
      onnxl_tensor_write_double(y, start + j * stride, 1, &value);
    }
  }
  return y != NULL;
}
ONNXL_KERNEL(lp_normalization, COMPUTES);

/* (x - mean) / (deviation + 1e-9) over the axes; the mean is taken over what the axes span. */
static bool
run_mean_variance_normalization(OnnxlKernelContext *context, GError **error)
{
  static const int64_t usual[] = { 0, 2, 3 };
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlInt64List axes = onnxl_ctx_ints(context, "axes");
  bool spans[ONNXL_MAX_RANK] = { false };
  size_t n_axes = axes.count > 0 ? axes.count : G_N_ELEMENTS(usual);
  for (size_t i = 0; i < n_axes; i++) {
    int64_t axis;
    if (!onnxl_ctx_axis(context, axes.count > 0 ? axes.items[i] : usual[i], x->rank, &axis, error))
      return false;
    spans[axis] = true;
  }
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  if (!y || x->count == 0)
    return y != NULL;
  int64_t own[ONNXL_MAX_RANK], dims[2][ONNXL_MAX_RANK], strides[2][ONNXL_MAX_RANK], size = 1;
  uint32_t ranks[2] = { 0, 0 };
  onnxl_strides(x->dims, x->rank, own);
  for (uint32_t i = 0; i < x->rank; i++) {
    dims[spans[i]][ranks[spans[i]]] = x->dims[i];
    strides[spans[i]][ranks[spans[i]]++] = own[i];
    size *= spans[i] ? x->dims[i] : 1;
  }
  OnnxlLoop outer;
  onnxl_loop_init(&outer, dims[0], ranks[0]);
  onnxl_loop_add_strided(&outer, strides[0]);
  onnxl_loop_finish(&outer);
  double *all = onnxl_ctx_doubles(context, x, error);
  double *row = all ? onnxl_ctx_scratch(context, (uint64_t)size, sizeof *row, error) : NULL;
  if (!row)
    return false;
  for (bool more = onnxl_loop_start(&outer); more; more = onnxl_loop_next(&outer))
    for (int64_t i = 0; i < onnxl_loop_row(&outer); i++) {
      double *start = all + outer.offsets[0] + i * onnxl_loop_step(&outer, 0), mean, variance;
      onnxl_copy_strided(row, start, dims[1], ranks[1], strides[1], sizeof *row);
      mean_and_variance(row, size, &mean, &variance);
      for (int64_t j = 0; j < size; j++)
        row[j] = (row[j] - mean) / (sqrt(variance) + 1e-9);
      onnxl_scatter_strided(start, row, dims[1], ranks[1], strides[1], sizeof *row);
    }
  onnxl_tensor_write_double(y, 0, (size_t)y->count, all);
  return true;
}
ONNXL_KERNEL(mean_variance_normalization, COMPUTES);

/* Outside training Dropout hands its input on. */
static bool
run_dropout(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  const OnnxlValue *ratio_input = onnxl_ctx_input(context, 1), *mode = onnxl_ctx_input(context, 2);
  int32_t since = onnxl_ctx_schema(context)->since;
  double ratio = since < 12 ? onnxl_ctx_float(context, "ratio") : 0.5;
  int64_t trains = 0;
  if ((ratio_input && !onnxl_ctx_scalar_double(context, ratio_input, &ratio, error)) ||
      (mode && !onnxl_ctx_scalar_int(context, mode, &trains, error)))
    return false;
  OnnxlValue *mask = NULL, *y;
  if (onnxl_ctx_wants(context, 1)) {
    mask = onnxl_ctx_output(context, 1, since < 10 ? x->elem_type : ONNXL_TYPE_BOOL, x->rank, x->dims, error);
    if (!mask)
      return false;
    for (int64_t i = 0; i < mask->count; i++)
      onnxl_tensor_write_double(mask, i, 1, &(double){ 1 });
  }
  if (trains == 0 || ratio == 0) {
    onnxl_ctx_set_output(context, 0, onnxl_value_ref(x));
    return true;
  }
  y = onnxl_ctx_output_like(context, 0, x, error);
  OnnxlRandom own, *stream = onnxl_ctx_random(context, &own);
  for (int64_t i = 0; y && i < x->count; i++) {
    bool kept = onnxl_random_unit(stream) >= ratio;
    double value = kept ? onnxl_tensor_double(x, i) / (1 - ratio) : 0;
    onnxl_tensor_write_double(y, i, 1, &value);
    if (mask)
      ((uint8_t *)mask->data)[i] = kept;
  }
  return y != NULL;
}
ONNXL_KERNEL(dropout, COMPUTES);
