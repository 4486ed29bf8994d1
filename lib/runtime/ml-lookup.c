#include "runtime/ml-lookup-internal.h"

#include <math.h>

#include "runtime/tensor.h"

OnnxlMlColumn
onnxl_ml_column(const OnnxlValue *tensor)
{
  return (OnnxlMlColumn){ tensor->elem_type, tensor->count, tensor->data };
}

OnnxlMlColumn
onnxl_ml_column_of_ints(OnnxlInt64List list)
{
  return (OnnxlMlColumn){ ONNXL_TYPE_INT64, (int64_t)list.count, list.items };
}

OnnxlMlColumn
onnxl_ml_column_of_floats(OnnxlFloatList list)
{
  return (OnnxlMlColumn){ ONNXL_TYPE_FLOAT, (int64_t)list.count, list.items };
}

OnnxlMlColumn
onnxl_ml_column_of_strings(OnnxlStrList list)
{
  return (OnnxlMlColumn){ ONNXL_TYPE_STRING, (int64_t)list.count, list.items };
}

static int64_t
column_int(const OnnxlMlColumn *column, int64_t i)
{
  switch (column->elem_type) {
  case ONNXL_TYPE_INT16:
    return ((const int16_t *)column->data)[i];
  case ONNXL_TYPE_INT32:
    return ((const int32_t *)column->data)[i];
  default:
    return ((const int64_t *)column->data)[i];
  }
}

static double
column_real(const OnnxlMlColumn *column, int64_t i)
{
  return column->elem_type == ONNXL_TYPE_FLOAT ? (double)((const float *)column->data)[i]
                                               : ((const double *)column->data)[i];
}

/* A total order, with NaN at the end. */
static int
compare_elements(const OnnxlMlColumn *a, int64_t i, const OnnxlMlColumn *b, int64_t j)
{
  if (a->elem_type == ONNXL_TYPE_STRING)
    return onnxl_str_compare(((const OnnxlStr *)a->data)[i], ((const OnnxlStr *)b->data)[j]);
  if (onnxl_type_is_float(a->elem_type)) {
    double x = column_real(a, i), y = column_real(b, j);
    if (isnan(x) || isnan(y))
      return isnan(x) - isnan(y);
    return (x > y) - (x < y);
  }
  int64_t x = column_int(a, i), y = column_int(b, j);
  return (x > y) - (x < y);
}

static int
compare_indices(const void *a, const void *b, void *data)
{
  const OnnxlMlColumn *keys = data;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int order = compare_elements(keys, i, keys, j);
  return order != 0 ? order : (j > i) - (j < i);
}

bool
onnxl_ml_lookup_init(OnnxlKernelContext *context, OnnxlMlLookup *lookup, OnnxlMlColumn keys, GError **error)
{
  lookup->keys = keys;
  lookup->order = onnxl_ctx_scratch(context, (uint64_t)keys.count, sizeof *lookup->order, error);
  if (!lookup->order)
    return false;
  for (int64_t i = 0; i < keys.count; i++)
    lookup->order[i] = i;
  if (keys.count > 0)
    qsort_r(lookup->order, (size_t)keys.count, sizeof *lookup->order, compare_indices, &lookup->keys);
  return true;
}

int64_t
onnxl_ml_lookup_find(const OnnxlMlLookup *lookup, const OnnxlMlColumn *items, int64_t i)
{
  int64_t low = 0, high = lookup->keys.count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (compare_elements(&lookup->keys, lookup->order[middle], items, i) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == lookup->keys.count || compare_elements(&lookup->keys, lookup->order[low], items, i) != 0)
    return -1;
  return lookup->order[low];
}

static int
nature(int32_t elem_type)
{
  return elem_type == ONNXL_TYPE_STRING ? 0 : onnxl_type_is_float(elem_type) ? 1 : 2;
}

bool
onnxl_ml_comparable(int32_t a, int32_t b)
{
  return nature(a) == nature(b);
}
