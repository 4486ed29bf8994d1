#include "runtime/constant-internal.h"

#include "proto/tensor.h"
#include "runtime/context-internal.h"
#include "runtime/sparse-internal.h"
#include "support/error.h"

/* Bool elements must be 0 or 1 for the kernels; hostile bytes are not. */
static void
normalize_bools(OnnxlValue *value)
{
  uint8_t *bytes = value->data;
  for (uint64_t i = 0; i < value->bytes; i++)
    bytes[i] = bytes[i] != 0;
}

/* A tensor over bytes laid out as raw_data: borrowed where the type's loads allow it, else copied. */
static OnnxlValue *
from_bytes(OnnxlAllocator *allocator, const OnnxlTensorView *view, const char *bytes, const char *what, GError **error)
{
  const OnnxlInt64List *dims = &view->tensor->dims;
  uint32_t bits = onnxl_data_type_bits(view->data_type);
  uintptr_t alignment = bits <= 8 ? 1 : MIN(bits / 8, 8);
  if (view->data_type != ONNXL_TYPE_BOOL && view->bytes > 0 && (uintptr_t)bytes % alignment == 0)
    return onnxl_value_new_borrowed(allocator, view->data_type, dims->count, dims->items, bytes);
  OnnxlValue *value = onnxl_value_new_tensor(allocator, view->data_type, dims->count, dims->items, what, error);
  if (!value)
    return NULL;
  if (value->bytes > 0)
    memcpy(value->data, bytes, value->bytes);
  if (view->data_type == ONNXL_TYPE_BOOL)
    normalize_bools(value);
  return value;
}

static OnnxlValue *
from_fields(OnnxlAllocator *allocator, const OnnxlTensorView *view, const char *what, GError **error)
{
  const OnnxlTensor *tensor = view->tensor;
  OnnxlValue *value =
    onnxl_value_new_tensor(allocator, view->data_type, tensor->dims.count, tensor->dims.items, what, error);
  if (!value)
    return NULL;
  if (view->data_type == ONNXL_TYPE_STRING) {
    for (int64_t i = 0; i < value->count; i++)
      ((OnnxlStr *)value->data)[i] = tensor->string_data.items[i].data ? tensor->string_data.items[i] : ONNXL_STR("");
    return value;
  }
  if (value->count > 0 && !onnxl_tensor_decode(view, value->data)) {
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the values of %s cannot be read", what);
    onnxl_value_unref(value);
    return NULL;
  }
  if (view->data_type == ONNXL_TYPE_BOOL)
    normalize_bools(value);
  return value;
}

static OnnxlValue *
from_external(OnnxlAllocator *allocator, OnnxlExternalFiles *files, const OnnxlTensorView *view, const char *what,
              OnnxlDiagSink *sink, GError **error)
{
  OnnxlExternalRange range;
  OnnxlStr bytes;
  if (!files) {
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: external data is not taken here", what);
    return NULL;
  }
  if (!onnxl_external_range(files, view->tensor, NULL, sink, &range, error))
    return NULL;
  if (range.length < view->bytes) {
    onnxl_fail(error, ONNXL_ERROR_INVALID,
               "%s has %" G_GUINT64_FORMAT " bytes of external data when %" G_GUINT64_FORMAT " are needed", what,
               range.length, view->bytes);
    return NULL;
  }
  if (!onnxl_external_map(files, &range, &bytes, error))
    return NULL;
  return from_bytes(allocator, view, bytes.data, what, error);
}

static OnnxlValue *
load(OnnxlAllocator *allocator, OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *what,
     OnnxlDiagSink *sink, GError **error)
{
  OnnxlTensorView view;
  if (!onnxl_tensor_view(tensor, NULL, sink, &view, error))
    return NULL;
  if (view.storage == ONNXL_STORAGE_EXTERNAL)
    return from_external(allocator, files, &view, what, sink, error);
  if (view.storage == ONNXL_STORAGE_RAW)
    return from_bytes(allocator, &view, tensor->raw_data.data, what, error);
  return from_fields(allocator, &view, what, error);
}

OnnxlValue *
onnxl_value_from_tensor(OnnxlAllocator *allocator, OnnxlExternalFiles *files, const OnnxlTensor *tensor,
                        const char *what, GError **error)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  GError *failed = NULL;
  OnnxlValue *value = load(allocator, files, tensor, what, sink, &failed);
  if (!value) {
    onnxl_fail(error, (OnnxlErrorCode)failed->code, "%s: %s", what,
               onnxl_diag_count(sink) > 0 ? onnxl_diag_get(sink, 0)->message : failed->message);
    g_error_free(failed);
  }
  onnxl_diag_sink_free(sink);
  return value;
}

bool
onnxl_constant_load(OnnxlPlan *plan, const OnnxlTensor *tensor, OnnxlDiagSink *sink, OnnxlValue **ret_value,
                    GError **error)
{
  char *what = g_strdup_printf("the initializer %.*s", ONNXL_ARG(tensor->name));
  *ret_value = load(plan->allocator, plan->external, tensor, what, sink, error);
  g_free(what);
  return *ret_value != NULL;
}

bool
onnxl_constant_load_sparse(OnnxlPlan *plan, const OnnxlSparseTensor *sparse, OnnxlDiagSink *sink,
                           OnnxlValue **ret_value, GError **error)
{
  OnnxlValue *values = NULL, *indices = NULL, *dense = NULL;
  if (!sparse->values || !sparse->indices)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "a sparse initializer lacks values or indices");
  OnnxlStr name = sparse->values->name;
  char *what = g_strdup_printf("the initializer %.*s", ONNXL_ARG(name));
  GError *failed = NULL;
  if (onnxl_constant_load(plan, sparse->values, sink, &values, error) &&
      onnxl_constant_load(plan, sparse->indices, sink, &indices, error))
    dense =
      onnxl_value_new_tensor(plan->allocator, values->elem_type, sparse->dims.count, sparse->dims.items, what, error);
  if (dense && !onnxl_sparse_fill(dense, values, indices, &failed)) {
    onnxl_fail(error, (OnnxlErrorCode)failed->code, "%s: %s", what, failed->message);
    g_clear_error(&failed);
    g_clear_pointer(&dense, onnxl_value_unref);
  }
  onnxl_value_unref(values);
  onnxl_value_unref(indices);
  g_free(what);
  *ret_value = dense;
  return dense != NULL;
}

static bool
check_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  OnnxlTensorView view;
  GError *failed = NULL;
  if (onnxl_tensor_view(tensor, path, data, &view, &failed))
    return true;
  /* All wrong tensors are reported in one run. */
  bool go_on = g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_INVALID);
  if (go_on)
    g_error_free(failed);
  else
    g_propagate_error(error, failed);
  return go_on;
}

bool
onnxl_constant_check_all(const OnnxlModel *model, OnnxlDiagSink *sink, GError **error)
{
  uint32_t errors = onnxl_diag_errors(sink);
  /* The visitor hands out tensors that may be edited; checking only looks at them. */
  if (!onnxl_model_visit_tensors((OnnxlModel *)model, check_tensor, sink, error))
    return false;
  return onnxl_diag_errors(sink) == errors || onnxl_fail(error, ONNXL_ERROR_INVALID, "a tensor is not valid");
}
