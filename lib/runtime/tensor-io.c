#include "runtime/tensor-io.h"

#include "proto/packed.h"
#include "proto/wire.h"
#include "runtime/context-internal.h"
#include "support/error.h"

enum { MAX_DEPTH = 64 };

/* The messages around tensors are few and small, so they are read field by field here. */
typedef struct Reader {
  OnnxlAllocator *allocator;
  const char *what;
  uint32_t depth;
} Reader;

typedef struct Field {
  uint32_t number, wire_type;
  uint64_t number_value;
  OnnxlStr bytes;
} Field;

static bool
truncated(const Reader *reader, GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_INVALID, "%s: the bytes are not the expected message", reader->what);
}

/* Reads the next field of rest. *ret_more false: there is none. */
static bool
next_field(const Reader *reader, OnnxlStr *rest, Field *field, bool *ret_more, GError **error)
{
  const char *at = rest->data, *end = rest->data + rest->size;
  uint64_t key, size;
  *ret_more = rest->size > 0;
  if (!*ret_more)
    return true;
  if (!onnxl_packed_varint(&at, end, &key) || key > UINT32_MAX)
    return truncated(reader, error);
  *field = (Field){ .number = (uint32_t)(key >> 3), .wire_type = key & 7 };
  switch (field->wire_type) {
  case 0:
    if (!onnxl_packed_varint(&at, end, &field->number_value))
      return truncated(reader, error);
    break;
  case 1:
  case 5:
    size = field->wire_type == 1 ? 8 : 4;
    if (size > (uint64_t)(end - at))
      return truncated(reader, error);
    at += size;
    break;
  case 2:
    if (!onnxl_packed_varint(&at, end, &size) || size > (uint64_t)(end - at))
      return truncated(reader, error);
    field->bytes = onnxl_str_n(at, (size_t)size);
    at += size;
    break;
  default:
    return truncated(reader, error);
  }
  *rest = onnxl_str_n(at, (size_t)(end - at));
  return true;
}

/* A value that borrows nothing: bytes and texts are copied. */
static OnnxlValue *
detach(const Reader *reader, OnnxlValue *value, GError **error)
{
  if (!value || (value->owned && value->elem_type != ONNXL_TYPE_STRING))
    return value;
  OnnxlValue *copy =
    onnxl_value_new_tensor(reader->allocator, value->elem_type, value->rank, value->dims, reader->what, error);
  bool good = copy != NULL;
  if (good && value->elem_type != ONNXL_TYPE_STRING)
    memcpy(copy->data, value->data, value->bytes);
  else
    for (int64_t i = 0; good && i < value->count; i++)
      good =
        onnxl_allocator_text(reader->allocator, ((const OnnxlStr *)value->data)[i], (OnnxlStr *)copy->data + i, error);
  onnxl_value_unref(value);
  if (!good)
    g_clear_pointer(&copy, onnxl_value_unref);
  return copy;
}

static OnnxlValue *
read_tensor(const Reader *reader, OnnxlStr bytes, GError **error)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlDiagSink *sink = onnxl_diag_sink_new(reader->what);
  OnnxlTensor tensor = { .data_type = 0 };
  const OnnxlLimits limits = { .max_memory = reader->allocator->limit,
                               .max_metadata = SIZE_MAX,
                               .max_depth = MAX_DEPTH };
  GError *failed = NULL;
  OnnxlValue *value = NULL;
  if (onnxl_wire_read(&onnxl_tensor_descriptor, bytes, 0, &limits, arena, &tensor, sink, &failed))
    value = onnxl_value_from_tensor(reader->allocator, NULL, &tensor, reader->what, &failed);
  else if (onnxl_diag_count(sink) > 0) {
    g_clear_error(&failed);
    onnxl_fail(&failed, ONNXL_ERROR_INVALID, "%s: %s", reader->what, onnxl_diag_get(sink, 0)->message);
  }
  if (failed)
    g_propagate_error(error, failed);
  value = detach(reader, value, error);
  onnxl_diag_sink_free(sink);
  onnxl_arena_free(arena);
  return value;
}

static OnnxlValue *read_value(Reader *reader, OnnxlStr bytes, const OnnxlType *type, GError **error);

static OnnxlValue *
pack_items(const Reader *reader, const OnnxlType *element, GPtrArray *items)
{
  OnnxlValue *first = items->len > 0 ? g_ptr_array_index(items, 0) : NULL;
  int32_t elem_type = first ? first->elem_type : element && element->tensor_type ? element->tensor_type->elem_type : 0;
  OnnxlTypeKind kind = first ? first->kind : element && element->map_type ? ONNXL_KIND_MAP : ONNXL_KIND_TENSOR;
  return onnxl_value_new_sequence(reader->allocator, kind, elem_type, (OnnxlValue **)items->pdata, items->len);
}

/* The next value in a SequenceProto or OptionalProto, whose numbers are alike: tensor 3, sequence 5, map 6, optional 7.
 * *ret_item: owned; NULL: no other one follows. */
static bool
next_item(Reader *reader, OnnxlStr *bytes, const OnnxlType *element, OnnxlValue **ret_item, GError **error)
{
  Field field;
  bool more;
  *ret_item = NULL;
  do {
    if (!next_field(reader, bytes, &field, &more, error))
      return false;
    if (!more)
      return true;
  } while (field.wire_type != 2 || field.number < 3 || field.number == 4 || field.number > 7);
  *ret_item =
    field.number == 3 ? read_tensor(reader, field.bytes, error) : read_value(reader, field.bytes, element, error);
  return *ret_item != NULL;
}

static OnnxlValue *
read_sequence(Reader *reader, OnnxlStr bytes, const OnnxlType *element, GError **error)
{
  GPtrArray *items = g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_value_unref);
  OnnxlValue *result = NULL, *item;
  bool good;
  while ((good = next_item(reader, &bytes, element, &item, error)) && item)
    g_ptr_array_add(items, item);
  if (good)
    result = pack_items(reader, element, items);
  g_ptr_array_free(items, TRUE);
  return result;
}

static OnnxlValue *
read_optional(Reader *reader, OnnxlStr bytes, const OnnxlType *element, GError **error)
{
  OnnxlValue *item = NULL, *next;
  bool good;
  /* Of several the last one counts, as everywhere in protobuf. */
  while ((good = next_item(reader, &bytes, element, &next, error)) && next) {
    onnxl_value_unref(item);
    item = next;
  }
  if (!good) {
    onnxl_value_unref(item);
    return NULL;
  }
  bool sequence = element && element->sequence_type;
  const OnnxlType *inner = sequence ? element->sequence_type->elem_type : element;
  int32_t elem_type = item ? item->elem_type : inner && inner->tensor_type ? inner->tensor_type->elem_type : 0;
  OnnxlValue *result =
    onnxl_value_new_optional(reader->allocator, sequence ? ONNXL_KIND_SEQUENCE : ONNXL_KIND_TENSOR, elem_type, item);
  onnxl_value_unref(item);
  return result;
}

/* Joins the scalars of a sequence into one tensor of one axis. */
static OnnxlValue *
join_scalars(const Reader *reader, const OnnxlValue *sequence, GError **error)
{
  int64_t n = (int64_t)sequence->n_items;
  int32_t type = n > 0 ? sequence->items[0]->elem_type : sequence->elem_type ? sequence->elem_type : ONNXL_TYPE_FLOAT;
  OnnxlValue *result = onnxl_value_new_tensor(reader->allocator, type, 1, &n, reader->what, error);
  for (int64_t i = 0; result && i < n; i++) {
    const OnnxlValue *item = sequence->items[i];
    if (item->kind != ONNXL_KIND_TENSOR || item->elem_type != type || item->count != 1) {
      onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: maps of anything but scalars are not supported", reader->what);
      onnxl_value_unref(result);
      return NULL;
    }
    memcpy((char *)result->data + (size_t)i * item->bytes, item->data, item->bytes);
  }
  return result;
}

static OnnxlValue *
map_keys(const Reader *reader, int64_t key_type, const GArray *numbers, const GArray *texts, GError **error)
{
  bool text = key_type == ONNXL_TYPE_STRING;
  int64_t n = text ? texts->len : numbers->len;
  OnnxlValue *keys =
    onnxl_value_new_tensor(reader->allocator, text ? ONNXL_TYPE_STRING : ONNXL_TYPE_INT64, 1, &n, reader->what, error);
  bool good = keys != NULL;
  for (int64_t i = 0; good && i < n; i++)
    if (text)
      good =
        onnxl_allocator_text(reader->allocator, g_array_index(texts, OnnxlStr, i), (OnnxlStr *)keys->data + i, error);
    else
      ((int64_t *)keys->data)[i] = g_array_index(numbers, int64_t, i);
  if (!good)
    g_clear_pointer(&keys, onnxl_value_unref);
  return keys;
}

static OnnxlValue *
read_map(Reader *reader, OnnxlStr bytes, const OnnxlType *type, GError **error)
{
  GArray *numbers = g_array_new(FALSE, FALSE, sizeof(int64_t)), *texts = g_array_new(FALSE, FALSE, sizeof(OnnxlStr));
  OnnxlValue *values = NULL, *keys = NULL, *joined = NULL, *result = NULL;
  int64_t key_type = type->map_type->key_type;
  bool good = true, more = true;
  while (good && more) {
    Field field;
    uint64_t number;
    good = next_field(reader, &bytes, &field, &more, error);
    if (!good || !more)
      break;
    if (field.number == 2 && field.wire_type == 0)
      key_type = (int64_t)field.number_value;
    else if (field.number == 3 && field.wire_type == 0)
      g_array_append_val(numbers, field.number_value);
    else if (field.number == 3 && field.wire_type == 2)
      for (const char *at = field.bytes.data, *end = at + field.bytes.size; good && at < end;) {
        good = onnxl_packed_varint(&at, end, &number) || truncated(reader, error);
        g_array_append_val(numbers, number);
      }
    else if (field.number == 4 && field.wire_type == 2)
      g_array_append_val(texts, field.bytes);
    else if (field.number == 5 && field.wire_type == 2) {
      onnxl_value_unref(values);
      values = read_sequence(reader, field.bytes, type->map_type->value_type, error);
      good = values != NULL;
    }
  }
  if (good && (keys = map_keys(reader, key_type, numbers, texts, error)) &&
      (values || (values = read_sequence(reader, ONNXL_STR(""), type->map_type->value_type, error))) &&
      (joined = join_scalars(reader, values, error))) {
    if (joined->count == keys->count)
      result = onnxl_value_new_map(reader->allocator, keys, joined);
    else
      truncated(reader, error);
  }
  onnxl_value_unref(keys);
  onnxl_value_unref(values);
  onnxl_value_unref(joined);
  g_array_free(numbers, TRUE);
  g_array_free(texts, TRUE);
  return result;
}

static OnnxlValue *
read_value(Reader *reader, OnnxlStr bytes, const OnnxlType *type, GError **error)
{
  OnnxlValue *value;
  if (++reader->depth > MAX_DEPTH) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s: nested too deeply", reader->what);
    value = NULL;
  } else if (type && type->sequence_type)
    value = read_sequence(reader, bytes, type->sequence_type->elem_type, error);
  else if (type && type->optional_type)
    value = read_optional(reader, bytes, type->optional_type->elem_type, error);
  else if (type && type->map_type)
    value = read_map(reader, bytes, type, error);
  else if (type && type->sparse_tensor_type) {
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: sparse tensors are not read", reader->what);
    value = NULL;
  } else
    value = read_tensor(reader, bytes, error);
  reader->depth--;
  return value;
}

OnnxlValue *
onnxl_value_parse(OnnxlAllocator *allocator, OnnxlStr bytes, const OnnxlType *type, const char *what, GError **error)
{
  Reader reader = { .allocator = allocator, .what = what };
  return read_value(&reader, bytes, type, error);
}

OnnxlValue *
onnxl_value_load(OnnxlAllocator *allocator, const char *path, const OnnxlType *type, GError **error)
{
  OnnxlFile *file = onnxl_file_open(path, allocator->limit, error);
  if (!file)
    return NULL;
  OnnxlValue *value =
    onnxl_value_parse(allocator, onnxl_str_n(file->data ? file->data : "", (size_t)file->size), type, path, error);
  onnxl_file_free(file);
  return value;
}
