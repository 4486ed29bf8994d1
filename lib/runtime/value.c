#include "runtime/value.h"

#include "support/error.h"
#include "support/size.h"

static OnnxlValue *
value_new(OnnxlAllocator *allocator, OnnxlTypeKind kind, int32_t elem_type, size_t rank, const int64_t *dims)
{
  OnnxlValue *value = g_malloc0(sizeof *value + rank * sizeof(int64_t));
  value->refs = 1;
  value->kind = kind;
  value->elem_type = elem_type;
  value->allocator = allocator;
  value->rank = (uint32_t)rank;
  if (rank > 0)
    memcpy(value->dims, dims, rank * sizeof(int64_t));
  return value;
}

static bool
tensor_bytes(int32_t elem_type, int64_t count, uint64_t *ret_bytes)
{
  if (elem_type != ONNXL_TYPE_STRING)
    return onnxl_data_type_bytes(elem_type, count, ret_bytes);
  return !__builtin_mul_overflow((uint64_t)count, sizeof(OnnxlStr), ret_bytes);
}

OnnxlValue *
onnxl_value_new_tensor(OnnxlAllocator *allocator, int32_t elem_type, size_t rank, const int64_t *dims, const char *what,
                       GError **error)
{
  int64_t count;
  uint64_t bytes;
  if (rank > ONNXL_MAX_RANK) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s has rank %zu when at most %d is supported", what, rank, ONNXL_MAX_RANK);
    return NULL;
  }
  if (!onnxl_shape_count(dims, rank, &count) || !tensor_bytes(elem_type, count, &bytes)) {
    char *text = onnxl_dims_text(dims, rank);
    bool negative = false;
    for (size_t i = 0; i < rank; i++)
      negative = negative || dims[i] < 0;
    onnxl_fail(error, negative ? ONNXL_ERROR_INVALID : ONNXL_ERROR_LIMIT,
               negative ? "%s would have the shape %s, which has a negative dimension"
                        : "%s would have the shape %s, whose size does not fit 64 bits",
               what, text);
    g_free(text);
    return NULL;
  }
  void *data = onnxl_allocator_get(allocator, bytes, what, error);
  if (!data)
    return NULL;
  OnnxlValue *value = value_new(allocator, ONNXL_KIND_TENSOR, elem_type, rank, dims);
  value->count = count;
  value->bytes = bytes;
  value->data = data;
  value->owned = true;
  if (elem_type == ONNXL_TYPE_STRING)
    for (int64_t i = 0; i < count; i++)
      ((OnnxlStr *)data)[i] = ONNXL_STR("");
  return value;
}

OnnxlValue *
onnxl_value_new_borrowed(OnnxlAllocator *allocator, int32_t elem_type, size_t rank, const int64_t *dims,
                         const void *data)
{
  OnnxlValue *value = value_new(allocator, ONNXL_KIND_TENSOR, elem_type, rank, dims);
  bool fits = onnxl_shape_count(dims, rank, &value->count) && tensor_bytes(elem_type, value->count, &value->bytes);
  g_assert(fits);
  value->data = (void *)data;
  return value;
}

OnnxlValue *
onnxl_value_new_view(OnnxlValue *tensor, int32_t elem_type, size_t rank, const int64_t *dims)
{
  OnnxlValue *value = onnxl_value_new_borrowed(tensor->allocator, elem_type, rank, dims, tensor->data);
  g_assert(value->bytes == tensor->bytes);
  value->base = onnxl_value_ref(tensor->base ? tensor->base : tensor);
  return value;
}

static void
set_items(OnnxlValue *value, OnnxlValue *const *items, size_t n_items)
{
  value->items = g_new0(OnnxlValue *, n_items);
  value->n_items = n_items;
  for (size_t i = 0; i < n_items; i++)
    value->items[i] = onnxl_value_ref(items[i]);
}

OnnxlValue *
onnxl_value_new_sequence(OnnxlAllocator *allocator, OnnxlTypeKind element_kind, int32_t elem_type,
                         OnnxlValue *const *items, size_t n_items)
{
  OnnxlValue *value = value_new(allocator, ONNXL_KIND_SEQUENCE, elem_type, 0, NULL);
  value->element_kind = element_kind;
  set_items(value, items, n_items);
  return value;
}

OnnxlValue *
onnxl_value_new_optional(OnnxlAllocator *allocator, OnnxlTypeKind element_kind, int32_t elem_type, OnnxlValue *item)
{
  OnnxlValue *value = value_new(allocator, ONNXL_KIND_OPTIONAL, elem_type, 0, NULL);
  value->element_kind = element_kind;
  set_items(value, &item, item ? 1 : 0);
  return value;
}

OnnxlValue *
onnxl_value_new_map(OnnxlAllocator *allocator, OnnxlValue *keys, OnnxlValue *values)
{
  OnnxlValue *value = value_new(allocator, ONNXL_KIND_MAP, keys->elem_type, 0, NULL);
  set_items(value, (OnnxlValue *[]){ keys, values }, 2);
  return value;
}

OnnxlValue *
onnxl_value_ref(OnnxlValue *value)
{
  value->refs++;
  return value;
}

void
onnxl_value_unref(OnnxlValue *value)
{
  if (!value || --value->refs > 0)
    return;
  if (value->owned)
    onnxl_allocator_put(value->allocator, value->data, value->bytes);
  onnxl_value_unref(value->base);
  for (size_t i = 0; i < value->n_items; i++)
    onnxl_value_unref(value->items[i]);
  g_free(value->items);
  g_free(value);
}

uint64_t
onnxl_value_bytes(const OnnxlValue *value)
{
  return value->kind == ONNXL_KIND_TENSOR && value->elem_type != ONNXL_TYPE_STRING ? value->bytes : 0;
}

uint64_t
onnxl_value_content_bytes(const OnnxlValue *value)
{
  uint64_t sum = onnxl_value_bytes(value);

  for (int64_t i = 0; value->kind == ONNXL_KIND_TENSOR && value->elem_type == ONNXL_TYPE_STRING && i < value->count;
       i++)
    sum += ((const OnnxlStr *)value->data)[i].size;
  for (size_t i = 0; i < value->n_items; i++)
    sum += onnxl_value_content_bytes(value->items[i]);
  return sum;
}

char *
onnxl_dims_text(const int64_t *dims, size_t rank)
{
  GString *text = g_string_new("[");
  for (size_t i = 0; i < rank; i++)
    g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "," : "", dims[i]);
  g_string_append_c(text, ']');
  return g_string_free(text, FALSE);
}

char *
onnxl_value_describe(const OnnxlValue *value)
{
  const char *type = onnxl_data_type_name(value->elem_type);
  char *text, *dims;
  type = type ? type : "?";
  switch (value->kind) {
  case ONNXL_KIND_TENSOR:
    dims = onnxl_dims_text(value->dims, value->rank);
    text = g_strconcat(type, value->rank > 0 ? dims : "", NULL);
    g_free(dims);
    return text;
  case ONNXL_KIND_SEQUENCE:
    return g_strconcat("seq(", value->element_kind == ONNXL_KIND_MAP ? "map" : type, ")", NULL);
  case ONNXL_KIND_OPTIONAL:
    return g_strconcat("optional(", value->element_kind == ONNXL_KIND_SEQUENCE ? "seq " : "", type, ")", NULL);
  default:
    return g_strconcat("map(", type, ")", NULL);
  }
}
