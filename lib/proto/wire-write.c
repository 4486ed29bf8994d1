/* One pass from the end of the model to its start, so that the length of a message is known when it is to stand in
 * front of it. The encoded metadata are collected in chunks, filled from the back; a payload is only noted as a slice,
 * so that weights take no memory. */
#include "proto/packed.h"
#include "proto/wire.h"

#include <stdlib.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_GROUP = 3, WIRE_END_GROUP = 4, WIRE_FIXED32 = 5 };

enum {
  MAX_VARINT = 10,
  SLICE_SIZE = 1024, /* strings from this size on are not copied into a chunk */
};

typedef struct Chunk {
  struct Chunk *next;
  char bytes[(16 << 10) - sizeof(struct Chunk *)];
} Chunk;

typedef struct Writer {
  Chunk *chunk; /* that is being filled; the others follow */
  char *at;     /* in it: what lies before is free, what lies from here to end is encoded and no piece yet */
  char *end;
  OnnxlStr *pieces; /* runs of chunks, and slices of the model; the last one comes first in the output */
  size_t n_pieces;
  size_t capacity;
  uint64_t total; /* bytes of all pieces */
  bool counting;  /* only total matters: the one chunk is filled again and again, and no piece is kept */
  bool failed;    /* out of memory, or the size does not fit in 64 bits */
} Writer;

static void
use_chunk(Writer *writer, Chunk *chunk)
{
  writer->chunk = chunk;
  writer->at = writer->end = chunk->bytes + sizeof(chunk->bytes);
}

static void
add_piece(Writer *writer, OnnxlStr bytes)
{
  if (__builtin_add_overflow(writer->total, bytes.size, &writer->total))
    writer->failed = true;
  if (writer->counting || writer->failed)
    return;
  if (writer->n_pieces == writer->capacity) {
    size_t capacity = MAX(64, writer->capacity * 2);
    OnnxlStr *pieces = g_try_renew(OnnxlStr, writer->pieces, capacity);
    if (!pieces) {
      writer->failed = true;
      return;
    }
    writer->pieces = pieces;
    writer->capacity = capacity;
  }
  writer->pieces[writer->n_pieces++] = bytes;
}

/* What is encoded in the chunk becomes a piece; the chunk goes on in front of it. */
static void
end_piece(Writer *writer)
{
  add_piece(writer, onnxl_str_n(writer->at, (size_t)(writer->end - writer->at)));
  writer->end = writer->at;
}

/* When there is no memory, the chunk is filled again: what it says does not matter any more, and nobody has to look
 * before he writes. */
static void
next_chunk(Writer *writer)
{
  Chunk *chunk = writer->counting || writer->failed ? NULL : malloc(sizeof(Chunk));

  end_piece(writer);
  if (chunk)
    chunk->next = writer->chunk;
  else
    writer->failed |= !writer->counting;
  use_chunk(writer, chunk ? chunk : writer->chunk);
}

/* Room for n bytes in front of what is encoded; the caller moves at. */
static inline void
reserve(Writer *writer, size_t n)
{
  if ((size_t)(writer->at - writer->chunk->bytes) < n)
    next_chunk(writer);
}

static inline uint64_t
position(const Writer *writer)
{
  return writer->total + (uint64_t)(writer->end - writer->at);
}

static inline void
put_varint(Writer *writer, uint64_t value)
{
  reserve(writer, MAX_VARINT);
  if (value < 0x80) {
    *--writer->at = (char)value;
    return;
  }
  size_t size = (size_t)(63 - __builtin_clzll(value)) / 7 + 1;
  char *at = writer->at -= size;
  for (; value >= 0x80; value >>= 7)
    *at++ = (char)(value | 0x80);
  *at = (char)value;
}

static inline void
put_tag(Writer *writer, uint32_t number, uint32_t wire_type)
{
  put_varint(writer, (uint64_t)number << 3 | wire_type);
}

/* Counting leaves the bytes alone: some lie in mapped files, whose pages would be fetched, and holes in memory filled.
 */
static inline void
fill(const Writer *writer, char *at, const void *bytes, size_t size)
{
  if (size > 0 && !writer->counting)
    memcpy(at, bytes, size);
}

/* size: at most SLICE_SIZE. */
static inline void
put(Writer *writer, const void *bytes, size_t size)
{
  reserve(writer, size);
  writer->at -= size;
  fill(writer, writer->at, bytes, size);
}

static void
put_slice(Writer *writer, OnnxlStr bytes)
{
  end_piece(writer);
  add_piece(writer, bytes);
}

/* Tag and length in front of what was encoded. */
static inline void
put_head(Writer *writer, uint32_t number, uint64_t size)
{
  put_varint(writer, size);
  put_tag(writer, number, WIRE_BYTES);
}

static inline void
put_bytes(Writer *writer, uint32_t number, OnnxlStr bytes)
{
  /* A name, with one byte for the tag and one for the length. */
  if (number < 16 && bytes.size < 0x80 && (size_t)(writer->at - writer->chunk->bytes) >= bytes.size + 2) {
    char *at = writer->at - bytes.size;
    fill(writer, at, bytes.data, bytes.size);
    at[-1] = (char)bytes.size;
    at[-2] = (char)(number << 3 | WIRE_BYTES);
    writer->at = at - 2;
    return;
  }
  if (bytes.size < SLICE_SIZE)
    put(writer, bytes.data, bytes.size);
  else
    put_slice(writer, bytes);
  put_head(writer, number, bytes.size);
}

static void put_message(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message);

static inline void
put_nested(Writer *writer, const OnnxlFieldDescriptor *field, const void *message)
{
  uint64_t end = position(writer);

  put_message(writer, field->message, message);
  put_head(writer, field->number, position(writer) - end);
}

/* Negative int32 values take ten bytes, as in protobuf. */
static uint64_t
int_value(const OnnxlFieldDescriptor *field, const void *member)
{
  return field->kind == ONNXL_FIELD_INT64 ? *(const uint64_t *)member : (uint64_t)(int64_t) * (const int32_t *)member;
}

static inline void
put_field(Writer *writer, const OnnxlFieldDescriptor *field, const void *member)
{
  const OnnxlStrList *list = member;

  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (!field->repeated)
      put_bytes(writer, field->number, *(const OnnxlStr *)member);
    else
      for (size_t i = list->count; i-- > 0;)
        put_bytes(writer, field->number, list->items[i]);
    break;
  case ONNXL_FIELD_MESSAGE:
    if (!field->repeated)
      put_nested(writer, field, *(void *const *)member);
    else
      for (size_t i = list->count; i-- > 0 && !writer->failed;)
        put_nested(writer, field, (const char *)list->items + i * field->message->size);
    break;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
    for (size_t i = field->repeated ? list->count : 1; i-- > 0;) {
      put_varint(writer, field->repeated ? ((const uint64_t *)(const void *)list->items)[i] : int_value(field, member));
      put_tag(writer, field->number, WIRE_VARINT);
    }
    break;
  case ONNXL_FIELD_FLOAT:
    for (size_t i = field->repeated ? list->count : 1; i-- > 0;) {
      put(writer, field->repeated ? &((const float *)(const void *)list->items)[i] : (const float *)member, 4);
      put_tag(writer, field->number, WIRE_FIXED32);
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
  switch (field->wire_type) {
  case WIRE_BYTES:
    put_bytes(writer, field->number, field->bytes);
    return;
  case WIRE_VARINT:
    put_varint(writer, field->value);
    break;
  case WIRE_GROUP:
    put_tag(writer, field->number, WIRE_END_GROUP);
    put_slice(writer, field->bytes);
    break;
  default:
    put(writer, &field->value, field->wire_type == WIRE_FIXED64 ? 8 : 4);
    break;
  }
  put_tag(writer, field->number, field->wire_type);
}

/* Whether an unknown field is an item of the list, which was not read: see onnxl_wire_read_weights(). */
static inline bool
is_closed_item(const OnnxlFieldDescriptor *list, const OnnxlUnknownField *field)
{
  return list->number == field->number && list->kind == ONNXL_FIELD_MESSAGE && field->wire_type == WIRE_BYTES;
}

static bool
is_closed(const OnnxlMessageDescriptor *descriptor, const OnnxlUnknownField *field)
{
  for (size_t i = 0; i < descriptor->n_fields; i++)
    if (is_closed_item(&descriptor->fields[i], field))
      return true;
  return false;
}

static void
put_closed(Writer *writer, const OnnxlFieldDescriptor *list, const OnnxlUnknownList *unknown)
{
  for (size_t i = unknown->count; i-- > 0;)
    if (is_closed_item(list, &unknown->items[i]))
      put_unknown(writer, &unknown->items[i]);
}

static void
put_message(Writer *writer, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;

  for (size_t i = unknown->count; i-- > 0;)
    if (!is_closed(descriptor, &unknown->items[i]))
      put_unknown(writer, &unknown->items[i]);
  for (const OnnxlFieldDescriptor *field = descriptor->fields + descriptor->n_fields; field != descriptor->fields;) {
    field--;
    if (onnxl_field_is_set(field, message))
      put_field(writer, field, onnxl_field_member(field, message));
    if (unknown->count > 0)
      put_closed(writer, field, unknown);
  }
}

bool
onnxl_wire_size(const OnnxlMessageDescriptor *descriptor, const void *message, uint64_t *ret_size)
{
  Chunk chunk;
  Writer writer = { .counting = true };

  use_chunk(&writer, &chunk);
  put_message(&writer, descriptor, message);
  end_piece(&writer);
  *ret_size = writer.total;
  return !writer.failed;
}

/* Hands the pieces out in the order of the file. */
static bool
deliver(const Writer *writer, const OnnxlWireTarget *target)
{
  bool ok = !target->begin || target->begin(target->data, writer->total);

  for (size_t i = writer->n_pieces; i-- > 0 && ok;) {
    OnnxlStr piece = writer->pieces[i];
    ok = piece.size < ONNXL_WIRE_LARGE ? target->write(target->data, piece.data, piece.size)
                                       : target->payload(target->data, piece);
  }
  return ok;
}

bool
onnxl_wire_write(const OnnxlMessageDescriptor *descriptor, const void *message, const OnnxlWireTarget *target)
{
  _Static_assert(sizeof(Chunk) <= ONNXL_WIRE_LARGE, "a run of a chunk must not look like a payload");
  Chunk *chunk = malloc(sizeof(Chunk));
  Writer writer = { 0 };

  if (!chunk)
    return false;
  chunk->next = NULL;
  use_chunk(&writer, chunk);
  put_message(&writer, descriptor, message);
  end_piece(&writer);
  bool ok = !writer.failed && deliver(&writer, target);
  for (Chunk *next; (chunk = writer.chunk); writer.chunk = next) {
    next = chunk->next;
    free(chunk);
  }
  g_free(writer.pieces);
  return ok;
}
