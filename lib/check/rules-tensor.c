/* Rules for the values of tensors, inline and in other files. */
#include "check/check-internal.h"

#include "proto/packed.h"
#include "support/error.h"
#include "support/size.h"

/* Dims, type and payload fit together; external data lie in a file that can be opened. */
static void
payload(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const char *path = onnxl_check_path(check, at);
  OnnxlExternalRange range;
  OnnxlTensorView view;
  GError *error = NULL;

  if (onnxl_tensor_is_external(at->tensor)
        ? onnxl_external_range(check->files, at->tensor, path, check->sink, &range, &error)
        : onnxl_tensor_view(at->tensor, path, check->sink, &view, &error))
    return;
  if (g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO)) {
    onnxl_check_report(check, at, ONNXL_DIAG_EXTERNAL_FILE, "%s", error->message);
    g_error_free(error);
  } else {
    onnxl_check_fail(check, error);
  }
}
ONNXL_RULE(payload, ON(TENSOR), NO_NEEDS, ONNXL_DIAG_DATA_TYPE, ONNXL_DIAG_TENSOR_DIMS, ONNXL_DIAG_PAYLOAD,
           ONNXL_DIAG_EXTERNAL, ONNXL_DIAG_EXTERNAL_RANGE, ONNXL_DIAG_EXTERNAL_LENGTH, ONNXL_DIAG_EXTERNAL_FILE);

/* Indices of the values that are not zero, one after the other: numbers in the flat tensor, or a coordinate for each
 * dimension. */
typedef struct Indices {
  const OnnxlSparseTensor *sparse;
  size_t rank;        /* of the tensor */
  size_t n_dims;      /* of the indices: 1 or 2 */
  int64_t dense;      /* elements of the whole tensor */
  size_t count;       /* numbers in the indices */
  const char *raw;    /* as in raw_data; or */
  const char *packed; /* the varints that are left, and their end */
  const char *end;
} Indices;

static int64_t
next_index(Indices *indices)
{
  int64_t value;

  if (indices->raw) {
    memcpy(&value, indices->raw, sizeof value);
    indices->raw += sizeof value;
    return value;
  }
  uint64_t number = 0;
  /* The payload has been counted: there is one. */
  (void)!onnxl_packed_varint(&indices->packed, indices->end, &number);
  return (int64_t)number;
}

/* Each must lie inside and behind the one before. */
static void
check_order(OnnxlCheck *check, const OnnxlCheckPlace *at, Indices *indices)
{
  size_t width = indices->n_dims == 1 ? 1 : indices->rank;
  uint64_t before = 0;

  for (size_t i = 0; width > 0 && i < indices->count / width; i++) {
    uint64_t flat = 0;
    for (size_t j = 0; j < width; j++) {
      int64_t size = indices->n_dims == 1 ? indices->dense : indices->sparse->dims.items[j];
      int64_t value = next_index(indices);
      if (value < 0 || value >= size) {
        onnxl_check_report(check, at, ONNXL_DIAG_SPARSE,
                           "index %zu of the sparse tensor is %" G_GINT64_FORMAT " when the size is %" G_GINT64_FORMAT,
                           i, value, size);
        return;
      }
      flat = flat * (uint64_t)size + (uint64_t)value; /* below the number of elements, which fits */
    }
    if (i > 0 && flat <= before) {
      onnxl_check_report(check, at, ONNXL_DIAG_SPARSE, "index %zu of the sparse tensor is not behind the one before",
                         i);
      return;
    }
    before = flat;
  }
}

/* Where the indices' numbers lie. False: nowhere, or their file cannot be mapped. */
static bool
open_indices(OnnxlCheck *check, const OnnxlTensor *tensor, Indices *indices)
{
  GError *error = NULL;

  if (onnxl_tensor_is_external(tensor)) {
    OnnxlExternalRange range;
    OnnxlStr bytes;
    /* Its findings have been reported with the tensor. */
    OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
    bool ok = onnxl_external_range(check->files, tensor, NULL, sink, &range, &error) &&
              onnxl_external_map(check->files, &range, &bytes, &error);
    onnxl_diag_sink_free(sink);
    if (!ok) {
      onnxl_check_fail(check, error);
      return false;
    }
    indices->raw = bytes.data;
  } else if (tensor->raw_data.data) {
    indices->raw = tensor->raw_data.data;
  } else {
    indices->packed = tensor->int64_data.bytes.data;
    indices->end = indices->packed + tensor->int64_data.bytes.size;
  }
  return true;
}

static bool
wrong(OnnxlCheck *check, const OnnxlCheckPlace *at, const char *what)
{
  onnxl_check_report(check, at, ONNXL_DIAG_SPARSE, "%s", what);
  return false;
}

static bool
check_parts(OnnxlCheck *check, const OnnxlCheckPlace *at, Indices *ret_indices)
{
  const OnnxlSparseTensor *sparse = at->sparse;
  const OnnxlTensor *values = sparse->values, *indices = sparse->indices;
  int64_t dense;

  if (!values)
    return wrong(check, at, "the sparse tensor has no values");
  if (values->dims.count != 1)
    return wrong(check, at, "the values of the sparse tensor are not one-dimensional");
  if (sparse->dims.count == 0 || !onnxl_shape_count(sparse->dims.items, sparse->dims.count, &dense) || dense == 0)
    return wrong(check, at, "the dims of the sparse tensor are missing, not positive or too large");
  int64_t n_values = values->dims.items[0];
  if (!indices)
    return n_values == 0 || wrong(check, at, "the sparse tensor has values and no indices");
  if (indices->data_type != ONNXL_TYPE_INT64)
    return wrong(check, at, "the indices of the sparse tensor are not int64");
  size_t n_dims = indices->dims.count;
  bool fits =
    (n_dims == 1 && indices->dims.items[0] == n_values) ||
    (n_dims == 2 && indices->dims.items[0] == n_values && indices->dims.items[1] == (int64_t)sparse->dims.count);
  if (!fits)
    return wrong(check, at, "the indices of the sparse tensor have neither one number nor one for each dim a value");
  *ret_indices = (Indices){
    .sparse = sparse,
    .rank = sparse->dims.count,
    .n_dims = n_dims,
    .dense = dense,
    .count = (size_t)n_values * (n_dims == 1 ? 1 : sparse->dims.count),
  };
  return true;
}

static void
sparse(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  Indices indices = { 0 };

  if (check_parts(check, at, &indices) && indices.count > 0 && open_indices(check, at->sparse->indices, &indices))
    check_order(check, at, &indices);
}
ONNXL_RULE(sparse, ON(SPARSE), NEEDS(payload), ONNXL_DIAG_SPARSE);
