#include "runtime/compare.h"

#include <math.h>

#include "runtime/tensor.h"

static bool differs(char **ret_message, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool
differs(char **ret_message, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  *ret_message = g_strdup_vprintf(format, args);
  va_end(args);
  return false;
}

/* what: "element" or "part". NaNs are shown without a sign. */
static bool
differs_at(char **ret_message, const char *what, int64_t i, double got, double want)
{
  return differs(ret_message, "%s %" G_GINT64_FORMAT " is %.9g when %.9g is expected", what, i,
                 isnan(got) ? (double)NAN : got, isnan(want) ? (double)NAN : want);
}

static bool
close_enough(double got, double want, const OnnxlTolerance *tolerance)
{
  if (isnan(want) || isnan(got))
    return isnan(want) && isnan(got);
  if (isinf(want) || isinf(got))
    return want == got;
  return fabs(got - want) <= tolerance->atol + tolerance->rtol * fabs(want);
}

/* Complex elements are compared as pairs. */
static bool
compare_parts(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance, char **ret_message)
{
  for (int64_t i = 0; i < onnxl_tensor_n_parts(want); i++) {
    double a = onnxl_tensor_part(got, i), b = onnxl_tensor_part(want, i);
    if (!close_enough(a, b, tolerance))
      return differs_at(ret_message, "part", i, a, b);
  }
  return true;
}

static bool
compare_values(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance, char **ret_message)
{
  if (onnxl_type_is_complex(want->elem_type))
    return compare_parts(got, want, tolerance, ret_message);
  for (int64_t i = 0; i < want->count; i++) {
    if (want->elem_type == ONNXL_TYPE_STRING) {
      OnnxlStr a = ((const OnnxlStr *)got->data)[i], b = ((const OnnxlStr *)want->data)[i];
      if (!onnxl_str_equal(a, b))
        return differs(ret_message, "element %" G_GINT64_FORMAT " is \"%.*s\" when \"%.*s\" is expected", i,
                       ONNXL_ARG(a), ONNXL_ARG(b));
      continue;
    }
    bool is_integer = !onnxl_type_is_float(want->elem_type);
    if (is_integer && onnxl_tensor_int64(got, i) == onnxl_tensor_int64(want, i))
      continue;
    double a = onnxl_tensor_double(got, i), b = onnxl_tensor_double(want, i);
    if (!close_enough(a, b, tolerance))
      return differs_at(ret_message, "element", i, a, b);
  }
  return true;
}

bool
onnxl_value_compare(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance, char **ret_message)
{
  bool same = got->kind == want->kind;
  if (same && want->kind == ONNXL_KIND_TENSOR)
    same = got->elem_type == want->elem_type && got->rank == want->rank &&
           (want->rank == 0 || memcmp(got->dims, want->dims, want->rank * sizeof *want->dims) == 0);
  else if (same)
    same = got->n_items == want->n_items;
  if (!same) {
    g_autofree char *a = onnxl_value_describe(got), *b = onnxl_value_describe(want);
    if (got->kind != want->kind || want->kind == ONNXL_KIND_TENSOR)
      return differs(ret_message, "%s when %s is expected", a, b);
    return differs(ret_message, "%s with %zu items when %s with %zu items is expected", a, got->n_items, b,
                   want->n_items);
  }
  if (want->kind == ONNXL_KIND_TENSOR)
    return !tolerance || compare_values(got, want, tolerance, ret_message);
  for (size_t i = 0; i < want->n_items; i++) {
    char *inner = NULL;
    if (onnxl_value_compare(got->items[i], want->items[i], tolerance, &inner))
      continue;
    differs(ret_message, "item %zu: %s", i, inner);
    g_free(inner);
    return false;
  }
  return true;
}

OnnxlTolerance
onnxl_tolerance_of(int32_t elem_type)
{
  switch (elem_type) {
  case ONNXL_TYPE_FLOAT16:
    return (OnnxlTolerance){ 0x1p-9, 1e-7 };
  case ONNXL_TYPE_BFLOAT16:
    return (OnnxlTolerance){ 0x1p-6, 1e-7 };
  case ONNXL_TYPE_FLOAT8E4M3FN:
    return (OnnxlTolerance){ 0x1p-2, 0x1p-9 };
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
    return (OnnxlTolerance){ 0x1p-2, 0x1p-10 };
  case ONNXL_TYPE_FLOAT8E5M2:
    return (OnnxlTolerance){ 0x1p-1, 0x1p-16 };
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
    return (OnnxlTolerance){ 0x1p-1, 0x1p-17 };
  case ONNXL_TYPE_FLOAT8E8M0:
    return (OnnxlTolerance){ 1, 0 };
  case ONNXL_TYPE_FLOAT4E2M1:
    return (OnnxlTolerance){ 1, 0.5 };
  default:
    return (OnnxlTolerance){ 1e-3, 1e-7 };
  }
}

/* --- differences --- */

static void
count_number(OnnxlStatistics *statistics, double x)
{
  if (isnan(x))
    statistics->nans++;
  else if (isinf(x))
    statistics->infinities++;
  else {
    statistics->min = statistics->numbers == 0 ? x : fmin(statistics->min, x);
    statistics->max = statistics->numbers == 0 ? x : fmax(statistics->max, x);
    statistics->mean += x; /* the sum, until the end */
    statistics->numbers++;
  }
}

static void
finish_statistics(OnnxlStatistics *statistics)
{
  if (statistics->numbers == 0)
    statistics->min = statistics->max = statistics->mean = NAN;
  else
    statistics->mean /= (double)statistics->numbers;
}

static void
count_pair(OnnxlDifference *difference, int64_t i, double got, double want)
{
  if (!isfinite(got) || !isfinite(want) || got == want)
    return;
  double absolute = fabs(got - want), relative = want == 0 ? INFINITY : absolute / fabs(want);
  if (difference->absolute_at < 0 || absolute > difference->absolute) {
    difference->absolute = absolute;
    difference->absolute_at = i;
  }
  if (difference->relative_at < 0 || relative > difference->relative) {
    difference->relative = relative;
    difference->relative_at = i;
  }
}

bool
onnxl_value_difference(const OnnxlValue *got, const OnnxlValue *want, const OnnxlTolerance *tolerance,
                       OnnxlDifference *ret_difference)
{
  OnnxlDifference *difference = ret_difference;
  *difference = (OnnxlDifference){ .absolute_at = -1, .relative_at = -1 };
  bool complex = onnxl_type_is_complex(want->elem_type);
  if (got->kind != ONNXL_KIND_TENSOR || want->kind != ONNXL_KIND_TENSOR || got->elem_type != want->elem_type ||
      want->elem_type == ONNXL_TYPE_STRING || got->rank != want->rank ||
      (want->rank > 0 && memcmp(got->dims, want->dims, want->rank * sizeof *want->dims) != 0))
    return false;
  bool exact = !complex && !onnxl_type_is_float(want->elem_type);
  int64_t n = complex ? onnxl_tensor_n_parts(want) : want->count;
  difference->count = (uint64_t)n;
  for (int64_t i = 0; i < n; i++) {
    double a = complex ? onnxl_tensor_part(got, i) : onnxl_tensor_double(got, i);
    double b = complex ? onnxl_tensor_part(want, i) : onnxl_tensor_double(want, i);
    bool equal = exact && onnxl_tensor_int64(got, i) == onnxl_tensor_int64(want, i);
    count_number(&difference->got, a);
    count_number(&difference->want, b);
    count_pair(difference, i, a, b);
    difference->beyond += !equal && !close_enough(a, b, tolerance);
  }
  finish_statistics(&difference->got);
  finish_statistics(&difference->want);
  return true;
}
