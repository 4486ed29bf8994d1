/* Preparation of features: scaling, normalizing, thresholds, missing values, selection and joining of columns. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/ml-internal.h"
#include "runtime/tensor.h"

static bool
run_ml_binarizer(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  double threshold = onnxl_ctx_float(context, "threshold");
  const double *values = onnxl_ctx_doubles(context, x, error);
  OnnxlValue *y = values ? onnxl_ctx_output_like(context, 0, x, error) : NULL;
  for (int64_t i = 0; y && i < x->count; i++)
    onnxl_tensor_write_double(y, i, 1, &(double){ values[i] > threshold });
  return y != NULL;
}
ONNXL_KERNEL(ml_binarizer, EXACT);

/* A list that holds one number for all features, or one for each. */
static bool
check_per_feature(const OnnxlKernelContext *context, const char *name, size_t count, int64_t n_features, GError **error)
{
  if (count <= 1 || count == (uint64_t)n_features)
    return true;
  return onnxl_ctx_invalid(context, error, "%s has %zu values when 1 or %" G_GINT64_FORMAT " are expected", name, count,
                           n_features);
}

static int64_t
last_dim(const OnnxlValue *x)
{
  return x->rank == 0 ? 1 : x->dims[x->rank - 1];
}

static bool
run_ml_scaler(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlFloatList offset = onnxl_ctx_floats(context, "offset"), scale = onnxl_ctx_floats(context, "scale");
  int64_t n = last_dim(x);
  if (!check_per_feature(context, "offset", offset.count, n, error) ||
      !check_per_feature(context, "scale", scale.count, n, error))
    return false;
  const double *values = onnxl_ctx_doubles(context, x, error);
  OnnxlValue *y = values ? onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, x->rank, x->dims, error) : NULL;
  for (int64_t i = 0; y && i < x->count; i++) {
    int64_t feature = i % n;
    double less = offset.count == 0 ? 0 : offset.items[offset.count == 1 ? 0 : feature];
    double factor = scale.count == 0 ? 1 : scale.items[scale.count == 1 ? 0 : feature];
    ((float *)y->data)[i] = (float)((values[i] - less) * factor);
  }
  return y != NULL;
}
ONNXL_KERNEL(ml_scaler, EXACT);

typedef enum Norm { NORM_MAX, NORM_L1, NORM_L2 } Norm;

/* What the row is divided by. */
static double
row_norm(Norm norm, const double *row, int64_t n)
{
  double value = norm == NORM_MAX ? -INFINITY : 0;
  for (int64_t i = 0; i < n; i++)
    if (norm == NORM_MAX)
      value = MAX(value, row[i]);
    else
      value += norm == NORM_L1 ? fabs(row[i]) : row[i] * row[i];
  return norm == NORM_L2 ? sqrt(value) : value;
}

static bool
run_ml_normalizer(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStr name = onnxl_ctx_string(context, "norm");
  Norm norm = onnxl_str_is(name, "L1") ? NORM_L1 : onnxl_str_is(name, "L2") ? NORM_L2 : NORM_MAX;
  int64_t n_rows, n;
  if (norm == NORM_MAX && !onnxl_str_is(name, "MAX"))
    return onnxl_ctx_invalid(context, error, "the norm \"%.*s\" is unknown", ONNXL_ARG(name));
  if (!onnxl_ml_rows(context, x, &n_rows, &n, error))
    return false;
  const double *values = onnxl_ctx_doubles(context, x, error);
  OnnxlValue *y = values ? onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, x->rank, x->dims, error) : NULL;
  for (int64_t r = 0; y && r < n_rows && n > 0; r++) {
    double divisor = row_norm(norm, values + r * n, n);
    for (int64_t i = r * n; i < (r + 1) * n; i++)
      ((float *)y->data)[i] = (float)(divisor != 0 ? values[i] / divisor : values[i]);
  }
  return y != NULL;
}
ONNXL_KERNEL(ml_normalizer, EXACT);

static bool
run_ml_imputer(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool is_float = onnxl_type_is_float(x->elem_type);
  OnnxlFloatList floats = onnxl_ctx_floats(context, "imputed_value_floats");
  OnnxlInt64List ints = onnxl_ctx_ints(context, "imputed_value_int64s");
  const char *name = is_float ? "imputed_value_floats" : "imputed_value_int64s";
  size_t count = is_float ? floats.count : ints.count;
  int64_t n = last_dim(x);
  if (count == 0)
    return onnxl_ctx_invalid(context, error, "%s is missing", name);
  if (!check_per_feature(context, name, count, n, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  if (!y || y->count == 0)
    return y != NULL;
  memcpy(y->data, x->data, x->bytes);
  float old = onnxl_ctx_float(context, "replaced_value_float");
  int64_t old_int = onnxl_ctx_int(context, "replaced_value_int64");
  for (int64_t i = 0; i < x->count; i++) {
    int64_t at = count == 1 ? 0 : i % n;
    if (is_float) {
      double value = onnxl_tensor_double(x, i);
      if (value == old || (isnan(value) && isnan(old)))
        onnxl_tensor_write_double(y, i, 1, &(double){ floats.items[at] });
    } else if (x->elem_type == ONNXL_TYPE_INT32) {
      if (((const int32_t *)x->data)[i] == old_int)
        ((int32_t *)y->data)[i] = (int32_t)ints.items[at];
    } else if (((const int64_t *)x->data)[i] == old_int)
      ((int64_t *)y->data)[i] = ints.items[at];
  }
  return true;
}
ONNXL_KERNEL(ml_imputer, EXACT);

static bool
run_ml_array_feature_extractor(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  int64_t dims[ONNXL_MAX_RANK];
  uint32_t rank = MAX(x->rank, 2);
  if (x->rank == 0)
    return onnxl_ctx_invalid(context, error, "the input is a scalar");
  int64_t n = last_dim(x);
  const int64_t *picked = indices->data;
  for (int64_t i = 0; i < indices->count; i++)
    if (picked[i] < 0 || picked[i] >= n)
      return onnxl_ctx_invalid(context, error,
                               "the index %" G_GINT64_FORMAT " lies outside the last axis of size %" G_GINT64_FORMAT,
                               picked[i], n);
  dims[0] = 1; /* a vector gives one row */
  memcpy(dims, x->dims, (x->rank - 1) * sizeof *dims);
  dims[rank - 1] = indices->count;
  OnnxlValue *z = onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error);
  if (!z || z->count == 0)
    return z != NULL;
  size_t size = onnxl_element_size(x);
  char *to = z->data;
  for (int64_t row = 0; row < x->count; row += n)
    for (int64_t i = 0; i < indices->count; i++, to += size)
      memcpy(to, (const char *)x->data + (size_t)(row + picked[i]) * size, size);
  return true;
}
ONNXL_KERNEL(ml_array_feature_extractor, EXACT);

/* Rows and columns of an input of FeatureVectorizer; axes from the second on count as one. */
static void
vector_shape(const OnnxlValue *x, int64_t *ret_rows, int64_t *ret_columns)
{
  *ret_rows = x->rank < 2 ? 1 : x->dims[0];
  if (x->rank == 2)
    *ret_columns = x->dims[1];
  else /* the dims of an empty tensor may be too large to be multiplied */
    *ret_columns = *ret_rows == 0 ? 0 : x->count / *ret_rows;
}

/* Inputs with fewer columns than inputdimensions states are filled up with zeros, those with more are cut. */
static bool
run_ml_feature_vectorizer(OnnxlKernelContext *context, GError **error)
{
  OnnxlInt64List widths = onnxl_ctx_ints(context, "inputdimensions");
  uint32_t n = onnxl_ctx_n_inputs(context);
  int64_t rows, columns, total = 0, at = 0;
  if (widths.count > 0 && widths.count != n)
    return onnxl_ctx_invalid(context, error, "inputdimensions has %zu values for %u inputs", widths.count, n);
  vector_shape(onnxl_ctx_input(context, 0), &rows, &columns);
  for (uint32_t i = 0; i < n; i++) {
    int64_t n_rows, width;
    vector_shape(onnxl_ctx_input(context, i), &n_rows, &width);
    width = widths.count > 0 ? widths.items[i] : width;
    if (n_rows != rows)
      return onnxl_ctx_invalid(context, error, "the inputs have %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " rows",
                               rows, n_rows);
    if (width < 0 || __builtin_add_overflow(total, width, &total))
      return onnxl_ctx_invalid(context, error, "inputdimensions has the impossible size %" G_GINT64_FORMAT, width);
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, 2, (int64_t[]){ rows, total }, error);
  if (!y || y->count == 0)
    return y != NULL;
  memset(y->data, 0, y->bytes);
  for (uint32_t i = 0; i < n; i++) {
    const OnnxlValue *x = onnxl_ctx_input(context, i);
    vector_shape(x, &rows, &columns);
    int64_t width = widths.count > 0 ? widths.items[i] : columns, taken = MIN(width, columns);
    for (int64_t r = 0; r < rows; r++)
      for (int64_t c = 0; c < taken; c++)
        ((float *)y->data)[r * total + at + c] = (float)onnxl_tensor_double(x, r * columns + c);
    at += width;
  }
  return true;
}
ONNXL_KERNEL(ml_feature_vectorizer, EXACT);
