/* Sizes first, bottom up, then the bytes in one pass. Sizes of nested messages are kept in the order in which the second
 * pass needs them, so that each is computed once. */
#include "proto/packed.h"
#include "proto/wire.h"

#include "support/size.h"

typedef struct Writer {
  uint64_t *sizes; /* of messages, in writing order */
  size_t n_sizes;
  size_t capacity;
  size_t next; /* to be consumed by the second pass */
  bool failed;
  const OnnxlWireTarget *target;
  char buffer[4096];
  size_t used;
} Writer;

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_GROUP = 3, WIRE_END_GROUP = 4, WIRE_FIXED32 = 5 };

static size_t
varint_size(uint64_t value)
{
  return (size_t)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

static size_t
tag_size(uint32_t number)
{
  return varint_size((uint64_t)number << 3);
}

/* Negative int32 values take ten bytes, as in protobuf. */
static uint64_t
int_value(const OnnxlFieldDescriptor *field, const void *member)
{
  return field->kind == ONNXL_FIELD_INT64 ? *(const uint64_t *)member : (uint64_t)(int64_t) * (const int32_t *)member;
}

static uint64_t message_size(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message);

static void
add(Writer *writer, uint64_t *total, uint64_t size)
{
  if (__builtin_add_overflow(*total, size, total))
    writer->failed = true;
}

/* Size of a length-delimited field with its tag and length. */
static void
add_bytes(Writer *writer, uint64_t *total, uint32_t number, uint64_t size)
{
  add(writer, total, tag_size(number) + varint_size(size));
  add(writer, total, size);
}

static uint64_t
unknown_size(Writer *writer, const OnnxlUnknownList *list)
{
  uint64_t total = 0;

  for (size_t i = 0; i < list->count; i++) {
    const OnnxlUnknownField *field = &list->items[i];
    switch (field->wire_type) {
    case WIRE_VARINT:
      add(writer, &total, tag_size(field->number) + varint_size(field->value));
      break;
    case WIRE_FIXED64:
      add(writer, &total, tag_size(field->number) + 8);
      break;
    case WIRE_FIXED32:
      add(writer, &total, tag_size(field->number) + 4);
      break;
    case WIRE_GROUP:
      add(writer, &total, 2 * tag_size(field->number) + field->bytes.size);
      break;
    default:
      add_bytes(writer, &total, field->number, field->bytes.size);
      break;
    }
  }
  return total;
}

/* Size of a field that is set, tags included. */
static uint64_t
field_size(Writer *writer, const OnnxlFieldDescriptor *field, const void *member)
{
  const OnnxlStrList *list = member;
  uint64_t total = 0;

  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (!field->repeated)
      add_bytes(writer, &total, field->number, ((const OnnxlStr *)member)->size);
    else
      for (size_t i = 0; i < list->count; i++)
        add_bytes(writer, &total, field->number, list->items[i].size);
    break;
  case ONNXL_FIELD_MESSAGE:
    if (!field->repeated)
      add_bytes(writer, &total, field->number, message_size(writer, field->message, *(void *const *)member));
    else
      for (size_t i = 0; i < list->count; i++)
        add_bytes(writer, &total, field->number,
                  message_size(writer, field->message, (const char *)list->items + i * field->message->size));
    break;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
    if (!field->repeated)
      total = tag_size(field->number) + varint_size(int_value(field, member));
    else
      for (size_t i = 0; i < list->count; i++)
        total += tag_size(field->number) + varint_size(((const uint64_t *)(const void *)list->items)[i]);
    break;
  case ONNXL_FIELD_FLOAT:
    total = (uint64_t)(tag_size(field->number) + 4) * (field->repeated ? list->count : 1);
    break;
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
  case ONNXL_FIELD_PACKED_INT32:
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    add_bytes(writer, &total, field->number, ((const OnnxlPacked *)member)->bytes.size);
    break;
  }
  return total;
}

static uint64_t
message_size(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  size_t slot = writer->n_sizes++;
  uint64_t total = 0;

  if (slot == writer->capacity) {
    size_t capacity = MAX(64, writer->capacity * 2);
    uint64_t *sizes = g_try_renew(uint64_t, writer->sizes, capacity);
    if (!sizes) {
      writer->failed = true;
      writer->n_sizes--;
      return 0;
    }
    writer->sizes = sizes;
    writer->capacity = capacity;
  }
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (onnxl_field_is_set(field, message))
      add(writer, &total, field_size(writer, field, onnxl_field_member(field, message)));
  }
  add(writer, &total, unknown_size(writer, &((const OnnxlMessage *)message)->unknown));
  /* The slot may have been left out when memory ran out below. */
  if (slot < writer->n_sizes)
    writer->sizes[slot] = total;
  return total;
}

bool
onnxl_wire_size(const OnnxlMessageDescriptor *descriptor, const void *message, uint64_t *ret_size)
{
  Writer writer = { 0 };

  *ret_size = message_size(&writer, descriptor, message);
  g_free(writer.sizes);
  return !writer.failed;
}

static void
flush(Writer *writer)
{
  if (writer->used > 0 && !writer->failed && !writer->target->write(writer->target->data, writer->buffer, writer->used))
    writer->failed = true;
  writer->used = 0;
}

static void
put(Writer *writer, const void *bytes, size_t size)
{
  if (size > sizeof(writer->buffer) - writer->used)
    flush(writer);
  if (size > sizeof(writer->buffer)) {
    if (!writer->failed && !writer->target->write(writer->target->data, bytes, size))
      writer->failed = true;
    return;
  }
  if (size > 0)
    memcpy(writer->buffer + writer->used, bytes, size);
  writer->used += size;
}

static void
put_varint(Writer *writer, uint64_t value)
{
  if (writer->used + 10 > sizeof(writer->buffer))
    flush(writer);
  do {
    uint8_t byte = value & 0x7f;
    value >>= 7;
    writer->buffer[writer->used++] = (char)(byte | (value > 0 ? 0x80 : 0));
  } while (value > 0);
}

static void
put_tag(Writer *writer, uint32_t number, uint32_t wire_type)
{
  put_varint(writer, (uint64_t)number << 3 | wire_type);
}

static void
put_bytes(Writer *writer, uint32_t number, OnnxlStr bytes)
{
  put_tag(writer, number, WIRE_BYTES);
  put_varint(writer, bytes.size);
  if (bytes.size < ONNXL_WIRE_LARGE) {
    put(writer, bytes.data, bytes.size);
    return;
  }
  flush(writer);
  if (!writer->failed && !writer->target->payload(writer->target->data, bytes))
    writer->failed = true;
}

static void put_message(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message);

static void
put_nested(Writer *writer, const OnnxlFieldDescriptor *field, const void *message)
{
  put_tag(writer, field->number, WIRE_BYTES);
  put_varint(writer, writer->sizes[writer->next]);
  put_message(writer, field->message, message);
}

static void
put_field(Writer *writer, const OnnxlFieldDescriptor *field, const void *member)
{
  const OnnxlStrList *list = member;

  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (!field->repeated)
      put_bytes(writer, field->number, *(const OnnxlStr *)member);
    else
      for (size_t i = 0; i < list->count; i++)
        put_bytes(writer, field->number, list->items[i]);
    break;
  case ONNXL_FIELD_MESSAGE:
    if (!field->repeated)
      put_nested(writer, field, *(void *const *)member);
    else
      for (size_t i = 0; i < list->count; i++)
        put_nested(writer, field, (const char *)list->items + i * field->message->size);
    break;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
    for (size_t i = 0; i < (field->repeated ? list->count : 1); i++) {
      put_tag(writer, field->number, WIRE_VARINT);
      put_varint(writer, field->repeated ? ((const uint64_t *)(const void *)list->items)[i] : int_value(field, member));
    }
    break;
  case ONNXL_FIELD_FLOAT:
    for (size_t i = 0; i < (field->repeated ? list->count : 1); i++) {
      put_tag(writer, field->number, WIRE_FIXED32);
      put(writer, field->repeated ? &((const float *)(const void *)list->items)[i] : (const float *)member, 4);
    }
    break;
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
  case ONNXL_FIELD_PACKED_INT32:
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    put_bytes(writer, field->number, ((const OnnxlPacked *)member)->bytes);
    break;
  }
}

static void
put_unknown(Writer *writer, const OnnxlUnknownField *field)
{
  if (field->wire_type == WIRE_BYTES) {
    put_bytes(writer, field->number, field->bytes);
    return;
  }
  put_tag(writer, field->number, field->wire_type);
  switch (field->wire_type) {
  case WIRE_VARINT:
    put_varint(writer, field->value);
    break;
  case WIRE_GROUP:
    put(writer, field->bytes.data, field->bytes.size);
    put_tag(writer, field->number, WIRE_END_GROUP);
    break;
  default:
    put(writer, &field->value, field->wire_type == WIRE_FIXED64 ? 8 : 4);
    break;
  }
}

static void
put_message(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;

  writer->next++;
  for (size_t i = 0; i < descriptor->n_fields && !writer->failed; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (onnxl_field_is_set(field, message))
      put_field(writer, field, onnxl_field_member(field, message));
  }
  for (size_t i = 0; i < unknown->count && !writer->failed; i++)
    put_unknown(writer, &unknown->items[i]);
}

bool
onnxl_wire_write(const OnnxlMessageDescriptor *descriptor, const void *message, const OnnxlWireTarget *target)
{
  Writer writer = { .target = target };

  (void)message_size(&writer, descriptor, message);
  if (!writer.failed) {
    put_message(&writer, descriptor, message);
    flush(&writer);
  }
  g_free(writer.sizes);
  return !writer.failed;
}
