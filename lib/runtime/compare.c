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
      return differs(ret_message, "part %" G_GINT64_FORMAT " is %.9g when %.9g is expected", i, a, b);
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
      return differs(ret_message, "element %" G_GINT64_FORMAT " is %.9g when %.9g is expected", i, a, b);
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
