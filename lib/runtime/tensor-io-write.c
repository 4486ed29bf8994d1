#include "runtime/tensor-io.h"

/* The messages are written as they are walked, so that the bytes of tensors go out from where they lie; their sizes,
 * which stand in front of them, are computed by the same walk without an output. */
typedef struct Writer {
  OnnxlOutput *out; /* NULL: only count */
  uint64_t size;
} Writer;

enum { VARINT = 0, BYTES = 2 };

static void
put_bytes(Writer *writer, const void *bytes, uint64_t size)
{
  if (writer->out)
    onnxl_output_write(writer->out, bytes, size);
  writer->size += size;
}

static void
put_varint(Writer *writer, uint64_t value)
{
  uint8_t bytes[10];
  size_t n = 0;
  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (uint8_t)(value | 0x80);
  bytes[n++] = (uint8_t)value;
  put_bytes(writer, bytes, n);
}

static void
put_number(Writer *writer, uint32_t field, uint64_t value)
{
  put_varint(writer, field << 3 | VARINT);
  put_varint(writer, value);
}

static void
put_slice(Writer *writer, uint32_t field, const void *bytes, uint64_t size)
{
  put_varint(writer, field << 3 | BYTES);
  put_varint(writer, size);
  put_bytes(writer, bytes, size);
}

static void put_value(Writer *writer, const OnnxlValue *value);

/* A field that is a message. put: writes its fields. */
static void
put_message(Writer *writer, uint32_t field, void (*put)(Writer *writer, const OnnxlValue *value),
            const OnnxlValue *value)
{
  Writer count = { 0 };
  put(&count, value);
  put_varint(writer, field << 3 | BYTES);
  put_varint(writer, count.size);
  if (writer->out)
    put(writer, value);
  else
    writer->size += count.size;
}

static void
put_tensor(Writer *writer, const OnnxlValue *tensor)
{
  for (uint32_t i = 0; i < tensor->rank; i++)
    put_number(writer, 1, (uint64_t)tensor->dims[i]);
  put_number(writer, 2, (uint64_t)tensor->elem_type);
  if (tensor->elem_type == ONNXL_TYPE_STRING)
    for (int64_t i = 0; i < tensor->count; i++) {
      OnnxlStr text = ((const OnnxlStr *)tensor->data)[i];
      put_slice(writer, 6, text.data, text.size);
    }
  else
    put_slice(writer, 9, tensor->data, tensor->bytes);
}

/* The DataType of SequenceProto and OptionalProto, and the field of either in which such values stand. */
static uint32_t
element_code(OnnxlTypeKind kind, uint32_t *ret_field)
{
  static const struct {
    OnnxlTypeKind kind;
    uint32_t code, field;
  } rows[] = {
    { ONNXL_KIND_TENSOR, 1, 3 }, { ONNXL_KIND_SEQUENCE, 3, 5 }, { ONNXL_KIND_MAP, 4, 6 }, { ONNXL_KIND_OPTIONAL, 5, 7 }
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    if (rows[i].kind == kind) {
      *ret_field = rows[i].field;
      return rows[i].code;
    }
  *ret_field = 0;
  return 0;
}

static void
put_items(Writer *writer, const OnnxlValue *value)
{
  uint32_t field;
  put_number(writer, 2, element_code(value->n_items > 0 ? value->items[0]->kind : value->element_kind, &field));
  for (size_t i = 0; i < value->n_items; i++) {
    element_code(value->items[i]->kind, &field);
    put_message(writer, field, put_value, value->items[i]);
  }
}

/* The values of a map as the SequenceProto of scalars that MapProto wants. */
static void
put_scalars(Writer *writer, const OnnxlValue *values)
{
  uint64_t size = values->count > 0 ? values->bytes / (uint64_t)values->count : 0;
  put_number(writer, 2, 1);
  for (int64_t i = 0; i < values->count; i++) {
    OnnxlValue *scalar = onnxl_value_new_borrowed(values->allocator, values->elem_type, 0, NULL,
                                                  (const char *)values->data + (size_t)i * size);
    put_message(writer, 3, put_tensor, scalar);
    onnxl_value_unref(scalar);
  }
}

static void
put_map(Writer *writer, const OnnxlValue *map)
{
  const OnnxlValue *keys = map->items[0];
  bool text = keys->elem_type == ONNXL_TYPE_STRING;
  put_number(writer, 2, (uint64_t)keys->elem_type);
  for (int64_t i = 0; i < keys->count; i++)
    if (text) {
      OnnxlStr key = ((const OnnxlStr *)keys->data)[i];
      put_slice(writer, 4, key.data, key.size);
    } else
      put_number(writer, 3, (uint64_t)((const int64_t *)keys->data)[i]);
  put_message(writer, 5, put_scalars, map->items[1]);
}

static void
put_value(Writer *writer, const OnnxlValue *value)
{
  switch (value->kind) {
  case ONNXL_KIND_TENSOR:
    put_tensor(writer, value);
    break;
  case ONNXL_KIND_MAP:
    put_map(writer, value);
    break;
  default:
    put_items(writer, value);
  }
}

void
onnxl_value_write(OnnxlOutput *out, const OnnxlValue *value)
{
  Writer writer = { .out = out };
  put_value(&writer, value);
}
