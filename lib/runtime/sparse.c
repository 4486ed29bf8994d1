#include "runtime/sparse-internal.h"

#include "runtime/loop.h"
#include "support/error.h"

/* Position of one value in row-major order, -1 when it lies outside. */
static int64_t
position(const OnnxlValue *dense, const int64_t *index, bool linear)
{
  int64_t at = 0;
  if (linear)
    return *index < dense->count ? *index : -1;
  for (uint32_t d = 0; d < dense->rank; d++) {
    if (index[d] < 0 || index[d] >= dense->dims[d])
      return -1;
    at = at * dense->dims[d] + index[d];
  }
  return at;
}

bool
onnxl_sparse_fill(OnnxlValue *dense, const OnnxlValue *values, const OnnxlValue *indices, GError **error)
{
  size_t size = onnxl_element_size(dense);
  bool linear = indices->rank == 1;
  int64_t width = linear ? 1 : dense->rank;
  if (size == 0)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "sparse values of type %s are not taken",
                      onnxl_data_type_name(dense->elem_type));
  if (indices->elem_type != ONNXL_TYPE_INT64)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the indices of the sparse value have type %s when int64 is needed",
                      onnxl_data_type_name(indices->elem_type));
  if (indices->count != values->count * width)
    return onnxl_fail(error, ONNXL_ERROR_INVALID,
                      "the sparse value has %" G_GINT64_FORMAT " indices for %" G_GINT64_FORMAT " values",
                      indices->count, values->count);
  if (dense->elem_type != ONNXL_TYPE_STRING)
    memset(dense->data, 0, dense->bytes);
  for (int64_t i = 0; i < values->count; i++) {
    int64_t at = position(dense, (const int64_t *)indices->data + i * width, linear);
    if (at < 0)
      return onnxl_fail(error, ONNXL_ERROR_INVALID, "an index of the sparse value lies outside its dims");
    memcpy((char *)dense->data + (size_t)at * size, (const char *)values->data + (size_t)i * size, size);
  }
  return true;
}
