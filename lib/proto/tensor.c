#include "proto/tensor.h"

#include "proto/packed.h"
#include "support/error.h"
#include "support/size.h"

static bool G_GNUC_PRINTF(6, 7)
invalid(const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink, OnnxlDiagId id, GError **error,
        const char *format, ...)
{
  OnnxlLocation where = { .path = path };
  va_list args;

  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  onnxl_diag(sink, id, &where, "tensor '%.*s': %s", ONNXL_ARG(tensor->name), message);
  return onnxl_fail(error, ONNXL_ERROR_INVALID, "tensor '%.*s' is not valid", ONNXL_ARG(tensor->name));
}

/* The field that holds typed values of the element type, and the size of one value there (0: varints). */
typedef enum TypedField {
  TYPED_NONE,
  TYPED_FLOAT,
  TYPED_INT32,
  TYPED_INT64,
  TYPED_DOUBLE,
  TYPED_UINT64,
  TYPED_STRING,
  N_TYPED,
} TypedField;

static TypedField
typed_field(int32_t type)
{
  switch (type) {
  case ONNXL_TYPE_FLOAT:
  case ONNXL_TYPE_COMPLEX64:
    return TYPED_FLOAT;
  case ONNXL_TYPE_DOUBLE:
  case ONNXL_TYPE_COMPLEX128:
    return TYPED_DOUBLE;
  case ONNXL_TYPE_INT64:
    return TYPED_INT64;
  case ONNXL_TYPE_UINT32:
  case ONNXL_TYPE_UINT64:
    return TYPED_UINT64;
  case ONNXL_TYPE_STRING:
    return TYPED_STRING;
  default:
    return TYPED_INT32;
  }
}

static const char *const typed_names[N_TYPED] = {
  "raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data",
};

static OnnxlPacked
typed_payload(const OnnxlTensor *tensor, TypedField field)
{
  switch (field) {
  case TYPED_FLOAT:
    return tensor->float_data;
  case TYPED_DOUBLE:
    return tensor->double_data;
  case TYPED_INT64:
    return tensor->int64_data;
  case TYPED_UINT64:
    return tensor->uint64_data;
  default:
    return tensor->int32_data;
  }
}

/* Values in the typed field for count elements: complex numbers take two, packed types share one. */
static bool
typed_count(int32_t type, int64_t count, uint64_t *ret_values)
{
  switch (type) {
  case ONNXL_TYPE_COMPLEX64:
  case ONNXL_TYPE_COMPLEX128:
    return !__builtin_mul_overflow((uint64_t)count, 2, ret_values);
  case ONNXL_TYPE_UINT4:
  case ONNXL_TYPE_INT4:
  case ONNXL_TYPE_FLOAT4E2M1:
  case ONNXL_TYPE_UINT2:
  case ONNXL_TYPE_INT2:
    return onnxl_data_type_bytes(type, count, ret_values);
  default:
    *ret_values = (uint64_t)count;
    return true;
  }
}

/* A set of the value fields that are present. */
static uint32_t
fields_present(const OnnxlTensor *tensor)
{
  uint32_t set = 0;

  if (tensor->raw_data.data)
    set |= 1u << TYPED_NONE;
  if (tensor->string_data.count > 0)
    set |= 1u << TYPED_STRING;
  for (TypedField field = TYPED_FLOAT; field <= TYPED_UINT64; field++)
    if (typed_payload(tensor, field).bytes.size > 0)
      set |= 1u << field;
  return set;
}

static bool
check_typed(const OnnxlTensor *tensor, TypedField field, int64_t count, const char *path, OnnxlDiagSink *sink,
            GError **error)
{
  uint64_t stored, wanted;

  if (!typed_count(tensor->data_type, count, &wanted))
    return invalid(tensor, path, sink, ONNXL_DIAG_TENSOR_DIMS, error, "its dims are too large");
  if (field == TYPED_STRING)
    stored = tensor->string_data.count;
  else if (!onnxl_packed_count(typed_payload(tensor, field), field == TYPED_FLOAT    ? 4
                                                             : field == TYPED_DOUBLE ? 8
                                                                                     : 0,
                               &stored))
    return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "%s ends inside a number", typed_names[field]);
  if (stored != wanted)
    return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error,
                   "%s has %" G_GUINT64_FORMAT " values when its dims and type need %" G_GUINT64_FORMAT,
                   typed_names[field], stored, wanted);
  return true;
}

bool
onnxl_tensor_view(const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink, OnnxlTensorView *ret_view,
                  GError **error)
{
  OnnxlTensorView view = { .tensor = tensor, .data_type = tensor->has_data_type ? tensor->data_type : 0 };
  TypedField field = typed_field(view.data_type);
  uint32_t present = fields_present(tensor);

  if (!onnxl_data_type_name(view.data_type))
    return invalid(tensor, path, sink, ONNXL_DIAG_DATA_TYPE, error, "unknown data_type %d", view.data_type);
  if (!onnxl_shape_count(tensor->dims.items, tensor->dims.count, &view.count))
    return invalid(tensor, path, sink, ONNXL_DIAG_TENSOR_DIMS, error, "its dims are negative or too large");
  if (view.data_type != ONNXL_TYPE_STRING && !onnxl_data_type_bytes(view.data_type, view.count, &view.bytes))
    return invalid(tensor, path, sink, ONNXL_DIAG_TENSOR_DIMS, error, "its dims are too large");

  if (onnxl_tensor_is_external(tensor)) {
    const OnnxlExternal *external = &view.external;
    if (present != 0)
      return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "values both inline and in external data");
    if (view.data_type == ONNXL_TYPE_STRING)
      return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "strings cannot lie in external data");
    if (!onnxl_tensor_external(tensor, path, sink, &view.external, error))
      return false;
    if (external->has_length && external->length < view.bytes)
      return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error,
                     "length is %" G_GUINT64_FORMAT " when its dims and type need %" G_GUINT64_FORMAT " bytes",
                     external->length, view.bytes);
    view.storage = ONNXL_STORAGE_EXTERNAL;
  } else if (present == 0) {
    if (view.count > 0)
      return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error,
                     "no values when its dims need %" G_GINT64_FORMAT, view.count);
    view.storage = ONNXL_STORAGE_NONE;
  } else if (present & (present - 1)) {
    return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "values in more than one field");
  } else if (tensor->raw_data.data) {
    if (view.data_type == ONNXL_TYPE_STRING)
      return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "strings cannot lie in raw_data");
    if (tensor->raw_data.size != view.bytes)
      return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error,
                     "raw_data has %zu bytes when its dims and type need %" G_GUINT64_FORMAT, tensor->raw_data.size,
                     view.bytes);
    view.storage = ONNXL_STORAGE_RAW;
  } else if (present != 1u << field) {
    return invalid(tensor, path, sink, ONNXL_DIAG_PAYLOAD, error, "values in %s when %s belong in %s",
                   typed_names[__builtin_ctz(present)], onnxl_data_type_name(view.data_type), typed_names[field]);
  } else {
    if (!check_typed(tensor, field, view.count, path, sink, error))
      return false;
    view.storage = field == TYPED_STRING ? ONNXL_STORAGE_STRINGS : ONNXL_STORAGE_TYPED;
  }
  *ret_view = view;
  return true;
}

/* Writes varints as little-endian values of size bytes. */
static bool
decode_varints(OnnxlStr bytes, uint32_t size, char *dest, uint64_t dest_size)
{
  const char *at = bytes.data, *end = at + bytes.size;

  for (uint64_t used = 0; used + size <= dest_size; used += size) {
    uint64_t value;
    if (!onnxl_packed_varint(&at, end, &value))
      return false;
    memcpy(dest + used, &value, size);
  }
  return true;
}

bool
onnxl_tensor_decode(const OnnxlTensorView *view, void *dest)
{
  const OnnxlTensor *tensor = view->tensor;

  switch (view->storage) {
  case ONNXL_STORAGE_NONE:
    return true;
  case ONNXL_STORAGE_RAW:
    if (view->bytes > 0)
      memcpy(dest, tensor->raw_data.data, view->bytes);
    return true;
  case ONNXL_STORAGE_TYPED: {
    TypedField field = typed_field(view->data_type);
    OnnxlPacked packed = typed_payload(tensor, field);
    if (field == TYPED_FLOAT || field == TYPED_DOUBLE) {
      if (view->bytes > 0)
        memcpy(dest, packed.bytes.data, view->bytes);
      return true;
    }
    uint32_t bits = onnxl_data_type_bits(view->data_type);
    return decode_varints(packed.bytes, bits < 8 ? 1 : bits / 8, dest, view->bytes);
  }
  case ONNXL_STORAGE_STRINGS:
  case ONNXL_STORAGE_EXTERNAL:
    break;
  }
  return false;
}

/* Widens one element at index i of raw values. */
static int64_t
int64_at(int32_t type, const char *raw, size_t i)
{
  switch (type) {
  case ONNXL_TYPE_INT64:
  case ONNXL_TYPE_UINT64: {
    int64_t value;
    memcpy(&value, raw + 8 * i, 8);
    return value;
  }
  case ONNXL_TYPE_INT32: {
    int32_t value;
    memcpy(&value, raw + 4 * i, 4);
    return value;
  }
  case ONNXL_TYPE_UINT32: {
    uint32_t value;
    memcpy(&value, raw + 4 * i, 4);
    return value;
  }
  case ONNXL_TYPE_INT16: {
    int16_t value;
    memcpy(&value, raw + 2 * i, 2);
    return value;
  }
  case ONNXL_TYPE_UINT16: {
    uint16_t value;
    memcpy(&value, raw + 2 * i, 2);
    return value;
  }
  case ONNXL_TYPE_INT8:
    return (int8_t)raw[i];
  default:
    return (uint8_t)raw[i];
  }
}

static bool
is_integer(int32_t type)
{
  return (type >= ONNXL_TYPE_UINT8 && type <= ONNXL_TYPE_INT64) || type == ONNXL_TYPE_BOOL ||
         type == ONNXL_TYPE_UINT32 || type == ONNXL_TYPE_UINT64;
}

bool
onnxl_tensor_int64s(const OnnxlTensorView *view, int64_t *dest, size_t count)
{
  if (!is_integer(view->data_type) || count > (uint64_t)view->count)
    return false;
  if (view->storage == ONNXL_STORAGE_RAW) {
    for (size_t i = 0; i < count; i++)
      dest[i] = int64_at(view->data_type, view->tensor->raw_data.data, i);
    return true;
  }
  if (view->storage != ONNXL_STORAGE_TYPED)
    return count == 0;
  OnnxlStr bytes = typed_payload(view->tensor, typed_field(view->data_type)).bytes;
  const char *at = bytes.data, *end = at + bytes.size;
  for (size_t i = 0; i < count; i++) {
    uint64_t value;
    char raw[8];
    if (!onnxl_packed_varint(&at, end, &value))
      return false;
    memcpy(raw, &value, sizeof raw);
    dest[i] = int64_at(view->data_type, raw, 0);
  }
  return true;
}

bool
onnxl_tensor_doubles(const OnnxlTensorView *view, double *dest, size_t count)
{
  const char *raw = view->storage == ONNXL_STORAGE_RAW ? view->tensor->raw_data.data
                    : view->storage == ONNXL_STORAGE_TYPED
                      ? typed_payload(view->tensor, typed_field(view->data_type)).bytes.data
                      : NULL;

  if ((view->data_type != ONNXL_TYPE_FLOAT && view->data_type != ONNXL_TYPE_DOUBLE) || count > (uint64_t)view->count)
    return false;
  if (!raw)
    return count == 0;
  for (size_t i = 0; i < count; i++) {
    if (view->data_type == ONNXL_TYPE_DOUBLE) {
      memcpy(&dest[i], raw + 8 * i, 8);
    } else {
      float value;
      memcpy(&value, raw + 4 * i, 4);
      dest[i] = value;
    }
  }
  return true;
}

bool
onnxl_tensor_external(const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink, OnnxlExternal *ret_external,
                      GError **error)
{
  OnnxlExternal external = { { NULL, 0 }, 0, false, 0, { NULL, 0 } };
  bool has_location = false;

  for (size_t i = 0; i < tensor->external_data.count; i++) {
    const OnnxlPair *entry = &tensor->external_data.items[i];
    bool is_offset = onnxl_str_is(entry->key, "offset"), is_length = onnxl_str_is(entry->key, "length");
    if (onnxl_str_is(entry->key, "location")) {
      if (has_location && !onnxl_str_equal(external.location, entry->value)) /* readers differ in which they take */
        return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error,
                       "external data has two locations, '%.*s' and '%.*s'", ONNXL_ARG(external.location),
                       ONNXL_ARG(entry->value));
      external.location = entry->value;
      has_location = true;
    } else if (onnxl_str_is(entry->key, "checksum")) {
      external.checksum = entry->value;
    } else if (is_offset || is_length) {
      if (!onnxl_str_to_uint64(entry->value, INT64_MAX, is_offset ? &external.offset : &external.length))
        return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error,
                       "%s is '%.*s' when a plain decimal number is needed", is_offset ? "offset" : "length",
                       ONNXL_ARG(entry->value));
      external.has_length |= is_length;
    }
  }
  if (external.location.size == 0)
    return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error, "external data without a location");
  if (memchr(external.location.data, '\0', external.location.size))
    return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error, "the location '%.*s' of external data holds a NUL",
                   (int)strnlen(external.location.data, external.location.size), external.location.data);
  if (external.length > (uint64_t)INT64_MAX - external.offset)
    return invalid(tensor, path, sink, ONNXL_DIAG_EXTERNAL, error,
                   "offset %" G_GUINT64_FORMAT " + length %" G_GUINT64_FORMAT " is too large", external.offset,
                   external.length);
  *ret_external = external;
  return true;
}
