/* One pass over the bytes, driven by the field table: each message is walked twice at its own level, first to count the
 * items of its lists, then to fill them, so that a list is one exact block and nothing is ever moved. */
#include "proto/wire.h"

#include <inttypes.h>

#include "proto/packed.h"
#include "support/error.h"
#include "support/size.h"

enum {
  WIRE_VARINT = 0,
  WIRE_FIXED64 = 1,
  WIRE_BYTES = 2,
  WIRE_GROUP = 3,
  WIRE_END_GROUP = 4,
  WIRE_FIXED32 = 5,
};

/* Payloads below this size count as metadata when the budget is set. */
#define PAYLOAD_SIZE 1024

/* More than any message has. */
#define MAX_FIELDS 24

typedef struct Reader {
  const char *start; /* of the whole input */
  uint64_t base;
  const OnnxlLimits *limits;
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  GError **error;
} Reader;

/* One field as it stands on the wire. */
typedef struct Field {
  uint32_t number;
  uint32_t wire_type;
  uint64_t value; /* of numbers */
  OnnxlStr bytes; /* of bytes, and of a group without its end tag */
  const char *at; /* its tag */
} Field;

static bool
invalid(Reader *reader, const char *at, OnnxlDiagId id, const char *message)
{
  OnnxlLocation where = { .has_offset = true, .offset = reader->base + (uint64_t)(at - reader->start) };

  onnxl_diag(reader->sink, id, &where, "%s", message);
  return onnxl_fail(reader->error, ONNXL_ERROR_INVALID, "the input is not a valid protobuf message");
}

static bool
too_deep(Reader *reader)
{
  return onnxl_fail(reader->error, ONNXL_ERROR_LIMIT,
                    "messages are nested more deeply than the limit of %u (--max-depth)", reader->limits->max_depth);
}

static bool
exhausted(Reader *reader)
{
  return onnxl_fail(reader->error, ONNXL_ERROR_LIMIT, "the metadata need more than the limit of %zu bytes (--max-metadata)",
                    onnxl_arena_budget(reader->arena));
}

static bool
read_varint(Reader *reader, const char **at, const char *end, uint64_t *ret_value)
{
  const char *p = *at;

  if (p < end && (uint8_t)*p < 0x80) {
    *ret_value = (uint8_t)*p;
    *at = p + 1;
    return true;
  }
  if (onnxl_packed_varint(at, end, ret_value))
    return true;
  if (end - p < 10)
    return invalid(reader, p, ONNXL_DIAG_TRUNCATED, "truncated field: the bytes end inside a number");
  return invalid(reader, p, ONNXL_DIAG_WIRE, "a number is longer than 10 bytes");
}

static bool read_field(Reader *reader, const char **at, const char *end, uint32_t depth, Field *field);

/* Finds the end of a group, whose start tag was read: *at goes behind the end tag, field->bytes is what lies between. */
static bool
read_group(Reader *reader, const char **at, const char *end, uint32_t depth, Field *group)
{
  const char *start = *at;

  if (depth >= reader->limits->max_depth)
    return too_deep(reader);
  for (;;) {
    const char *before = *at;
    Field inner;

    if (before == end)
      return invalid(reader, group->at, ONNXL_DIAG_TRUNCATED, "truncated field: a group without an end");
    if (!read_field(reader, at, end, depth + 1, &inner))
      return false;
    if (inner.wire_type != WIRE_END_GROUP)
      continue;
    if (inner.number != group->number)
      return invalid(reader, before, ONNXL_DIAG_WIRE, "the end of a group that was not started");
    group->bytes = onnxl_str_n(start, (size_t)(before - start));
    return true;
  }
}

/* Reads the field at *at and moves *at behind it. depth: of the message that holds it. */
static bool
read_field(Reader *reader, const char **at, const char *end, uint32_t depth, Field *field)
{
  uint64_t tag;

  field->at = *at;
  field->value = 0;
  field->bytes = (OnnxlStr){ NULL, 0 };
  if (!read_varint(reader, at, end, &tag))
    return false;
  if (tag >> 3 == 0 || tag > UINT32_MAX)
    return invalid(reader, field->at, ONNXL_DIAG_WIRE, "a field number is 0 or above 536870911");
  field->number = (uint32_t)(tag >> 3);
  field->wire_type = tag & 7;
  switch (field->wire_type) {
  case WIRE_VARINT:
    return read_varint(reader, at, end, &field->value);
  case WIRE_FIXED64:
  case WIRE_FIXED32: {
    size_t size = field->wire_type == WIRE_FIXED64 ? 8 : 4;

    if ((size_t)(end - *at) < size)
      return invalid(reader, field->at, ONNXL_DIAG_TRUNCATED, "truncated field: the bytes end inside a number");
    memcpy(&field->value, *at, size);
    *at += size;
    return true;
  }
  case WIRE_BYTES: {
    uint64_t size;

    if (!read_varint(reader, at, end, &size))
      return false;
    if (size > (uint64_t)(end - *at)) {
      g_autofree char *message =
        g_strdup_printf("truncated field: its length is %" PRIu64 " when %" PRIu64 " bytes are left", size,
                        (uint64_t)(end - *at));
      return invalid(reader, field->at, ONNXL_DIAG_TRUNCATED, message);
    }
    field->bytes = onnxl_str_n(*at, (size_t)size);
    *at += size;
    return true;
  }
  case WIRE_GROUP:
    return read_group(reader, at, end, depth, field);
  case WIRE_END_GROUP:
    return true;
  default: {
    g_autofree char *message = g_strdup_printf("wire type %u does not exist", field->wire_type);
    return invalid(reader, field->at, ONNXL_DIAG_WIRE, message);
  }
  }
}

static bool
is_packed(const OnnxlFieldDescriptor *field)
{
  return field->kind >= ONNXL_FIELD_PACKED_FLOAT;
}

/* The wire type of one value of the field. */
static uint32_t
wire_type_of(const OnnxlFieldDescriptor *field)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
  case ONNXL_FIELD_MESSAGE:
    return WIRE_BYTES;
  case ONNXL_FIELD_FLOAT:
  case ONNXL_FIELD_PACKED_FLOAT:
    return WIRE_FIXED32;
  case ONNXL_FIELD_PACKED_DOUBLE:
    return WIRE_FIXED64;
  default:
    return WIRE_VARINT;
  }
}

/* The row of a field on the wire; NULL when it is to be kept as unknown, as protobuf does for an unexpected wire type. */
static const OnnxlFieldDescriptor *
known_field(const OnnxlMessageDescriptor *descriptor, const Field *field)
{
  const OnnxlFieldDescriptor *known = onnxl_field_by_number(descriptor, field->number);

  if (!known)
    return NULL;
  if (field->wire_type == wire_type_of(known))
    return known;
  /* A list of numbers may be packed or not, whatever onnx.proto says. */
  if (field->wire_type == WIRE_BYTES && (is_packed(known) || known->repeated))
    return known;
  return NULL;
}

/* Room for n more items in a list of the message; items already there (the message came in two pieces) are kept. */
static bool
make_room(Reader *reader, OnnxlStrList *list, size_t item_size, size_t n)
{
  size_t total;
  void *items = onnxl_size_add(list->count, n, &total) ? onnxl_arena_array(reader->arena, total, item_size) : NULL;

  if (!items)
    return exhausted(reader);
  if (list->count > 0)
    memcpy(items, list->items, list->count * item_size);
  list->items = items;
  return true;
}

static size_t
item_size(const OnnxlFieldDescriptor *field)
{
  switch (field->kind) {
  case ONNXL_FIELD_MESSAGE:
    return field->message->size;
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    return sizeof(OnnxlStr);
  case ONNXL_FIELD_FLOAT:
    return sizeof(float);
  default:
    return sizeof(int64_t);
  }
}

/* Bytes that a value of a packed list, found unpacked, takes in it. */
static size_t
packed_size(const Field *field)
{
  if (field->wire_type != WIRE_VARINT)
    return field->wire_type == WIRE_FIXED32 ? 4 : 8;
  size_t n = 1;
  for (uint64_t value = field->value; value >= 0x80; value >>= 7)
    n++;
  return n;
}

/* A packed list in one piece stays where it lies (data is NULL until then). One that comes in several, or unpacked, gets
 * one block for all its bytes, to which add_packed() appends. */
static bool
make_packed_room(Reader *reader, OnnxlPacked *packed, size_t pieces, bool unpacked, size_t size)
{
  size_t total;

  if (pieces == 0 || (pieces == 1 && !unpacked && packed->bytes.size == 0))
    return true;
  char *bytes =
    onnxl_size_add(packed->bytes.size, size, &total) ? onnxl_arena_alloc(reader->arena, total) : NULL;
  if (!bytes)
    return exhausted(reader);
  if (packed->bytes.size > 0)
    memcpy(bytes, packed->bytes.data, packed->bytes.size);
  packed->bytes.data = bytes;
  return true;
}

/* What the first walk learns of a field. */
typedef struct Tally {
  size_t count; /* items; of a packed list: pieces */
  size_t bytes; /* of a packed list */
  bool unpacked;
} Tally;

/* Number of values of a list of numbers that is packed on the wire though it need not be. */
static bool
count_values(Reader *reader, const OnnxlFieldDescriptor *known, const Field *field, uint64_t *ret_count)
{
  if (onnxl_packed_count((OnnxlPacked){ field->bytes }, known->kind == ONNXL_FIELD_FLOAT ? 4 : 0, ret_count))
    return true;
  return invalid(reader, field->at, ONNXL_DIAG_TRUNCATED, "truncated field: a packed list ends inside a number");
}

/* First walk: counts the items of each list and makes room for them. */
static bool
count_lists(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth, void *message)
{
  const char *at = bytes.data, *end = at + bytes.size;
  Tally tallies[MAX_FIELDS] = { 0 };
  size_t n_unknown = 0;

  while (at < end) {
    Field field;

    if (!read_field(reader, &at, end, depth, &field))
      return false;
    if (field.wire_type == WIRE_END_GROUP)
      return invalid(reader, field.at, ONNXL_DIAG_WIRE, "the end of a group that was not started");
    const OnnxlFieldDescriptor *known = known_field(descriptor, &field);
    if (!known) {
      n_unknown++;
      continue;
    }
    Tally *tally = &tallies[known - descriptor->fields];
    if (is_packed(known)) {
      bool unpacked = field.wire_type != WIRE_BYTES;
      tally->count++;
      tally->unpacked |= unpacked;
      tally->bytes += unpacked ? packed_size(&field) : field.bytes.size;
    } else if (known->repeated) {
      uint64_t n = 1;
      if (field.wire_type != wire_type_of(known) && !count_values(reader, known, &field, &n))
        return false;
      tally->count += n;
    }
  }
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    const Tally *tally = &tallies[i];
    void *member = onnxl_field_member(field, message);

    if (tally->count == 0)
      continue;
    if (is_packed(field) ? !make_packed_room(reader, member, tally->count, tally->unpacked, tally->bytes)
                         : !make_room(reader, member, item_size(field), tally->count))
      return false;
  }
  return n_unknown == 0 || make_room(reader, (OnnxlStrList *)&((OnnxlMessage *)message)->unknown,
                                     sizeof(OnnxlUnknownField), n_unknown);
}

/* Setting one member of a oneof takes away the others. */
static void
clear_oneof(const OnnxlMessageDescriptor *descriptor, const OnnxlFieldDescriptor *set, void *message)
{
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (field == set || field->oneof != set->oneof)
      continue;
    if (field->kind == ONNXL_FIELD_MESSAGE)
      *(void **)onnxl_field_member(field, message) = NULL;
    else if (field->kind == ONNXL_FIELD_STRING)
      *(OnnxlStr *)onnxl_field_member(field, message) = (OnnxlStr){ NULL, 0 };
    else
      *((bool *)message + field->has_offset) = false;
  }
}

/* Adds a piece to a packed list: see make_packed_room(). */
static bool
add_packed(Reader *reader, const OnnxlFieldDescriptor *known, const Field *field, OnnxlPacked *packed)
{
  char *end = (char *)packed->bytes.data + packed->bytes.size;

  if (field->wire_type == WIRE_BYTES) {
    uint32_t size = known->kind == ONNXL_FIELD_PACKED_FLOAT ? 4 : known->kind == ONNXL_FIELD_PACKED_DOUBLE ? 8 : 0;
    uint64_t n;
    /* Only the last byte decides whether varints are whole: the others are not touched. */
    bool whole = size > 0 ? onnxl_packed_count((OnnxlPacked){ field->bytes }, size, &n)
                          : field->bytes.size == 0 || (uint8_t)field->bytes.data[field->bytes.size - 1] < 0x80;
    if (!whole)
      return invalid(reader, field->at, ONNXL_DIAG_TRUNCATED, "truncated field: a packed list ends inside a number");
    if (!packed->bytes.data)
      packed->bytes = field->bytes;
    else
      memcpy(end, field->bytes.data, field->bytes.size), packed->bytes.size += field->bytes.size;
    return true;
  }
  size_t size = packed_size(field);
  if (field->wire_type == WIRE_VARINT) {
    uint64_t value = field->value;
    for (size_t i = 0; i < size; i++, value >>= 7)
      end[i] = (char)((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
  } else {
    memcpy(end, &field->value, size);
  }
  packed->bytes.size += size;
  return true;
}

static bool read_message(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth,
                         void *message);

/* Appends the values of a list of numbers, one or a packed run. */
static void
add_numbers(const OnnxlFieldDescriptor *known, const Field *field, OnnxlInt64List *list)
{
  const char *at = field->bytes.data, *end = at + field->bytes.size;
  OnnxlFloatList *floats = (OnnxlFloatList *)list;
  uint64_t value = field->value;

  if (field->wire_type != WIRE_BYTES) {
    if (known->kind == ONNXL_FIELD_FLOAT)
      memcpy(&floats->items[floats->count++], &value, sizeof(float));
    else
      list->items[list->count++] = (int64_t)value;
  } else if (known->kind == ONNXL_FIELD_FLOAT) {
    if (field->bytes.size > 0)
      memcpy(&floats->items[floats->count], at, field->bytes.size);
    floats->count += field->bytes.size / sizeof(float);
  } else {
    while (at < end && onnxl_packed_varint(&at, end, &value))
      list->items[list->count++] = (int64_t)value;
  }
}

/* A payload is no metadata: what it takes of the input does not raise the budget. */
static void
exclude_payload(Reader *reader, OnnxlStr bytes)
{
  size_t budget = onnxl_arena_budget(reader->arena);
  size_t share;

  if (reader->limits->max_metadata == 0 && bytes.size >= PAYLOAD_SIZE &&
      onnxl_size_mul(bytes.size, ONNXL_METADATA_FACTOR, &share) &&
      budget >= ONNXL_METADATA_MIN && budget - ONNXL_METADATA_MIN >= share)
    onnxl_arena_set_budget(reader->arena, budget - share);
}

/* Sets what field holds in the message; lists have room. */
static bool
set_field(Reader *reader, const OnnxlMessageDescriptor *descriptor, const OnnxlFieldDescriptor *known,
          const Field *field, uint32_t depth, void *message)
{
  void *member = onnxl_field_member(known, message);
  OnnxlStrList *list = member;

  if (known->oneof)
    clear_oneof(descriptor, known, message);
  switch (known->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (known->repeated)
      list->items[list->count++] = field->bytes;
    else
      *(OnnxlStr *)member = field->bytes;
    if (known->kind == ONNXL_FIELD_BYTES)
      exclude_payload(reader, field->bytes);
    return true;
  case ONNXL_FIELD_MESSAGE: {
    void *inner;

    if (known->repeated)
      inner = (char *)list->items + list->count++ * known->message->size;
    else if (*(void **)member)
      inner = *(void **)member; /* a message in two pieces is merged, as in protobuf */
    else if (!(inner = *(void **)member = onnxl_arena_alloc(reader->arena, known->message->size)))
      return exhausted(reader);
    return read_message(reader, known->message, field->bytes, depth + 1, inner);
  }
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
  case ONNXL_FIELD_PACKED_INT32:
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    exclude_payload(reader, field->bytes);
    return add_packed(reader, known, field, member);
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
  case ONNXL_FIELD_FLOAT:
    break;
  }
  if (known->repeated) {
    add_numbers(known, field, member);
    return true;
  }
  *((bool *)message + known->has_offset) = true;
  if (known->kind == ONNXL_FIELD_INT64)
    *(int64_t *)member = (int64_t)field->value;
  else
    memcpy(member, &(uint32_t){ (uint32_t)field->value }, 4);
  return true;
}

/* Second walk: fills the message. */
static bool
read_message(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth, void *message)
{
  const char *at = bytes.data, *end = at + bytes.size;
  OnnxlUnknownList *unknown = &((OnnxlMessage *)message)->unknown;

  if (depth > reader->limits->max_depth)
    return too_deep(reader);
  if (!count_lists(reader, descriptor, bytes, depth, message))
    return false;
  while (at < end) {
    Field field;

    if (!read_field(reader, &at, end, depth, &field))
      return false;
    const OnnxlFieldDescriptor *known = known_field(descriptor, &field);
    if (!known)
      unknown->items[unknown->count++] =
        (OnnxlUnknownField){ field.number, field.wire_type, field.value, field.bytes };
    else if (!set_field(reader, descriptor, known, &field, depth, message))
      return false;
  }
  return true;
}

bool
onnxl_wire_read(const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint64_t base, const OnnxlLimits *limits,
                OnnxlArena *arena, void *message, OnnxlDiagSink *sink, GError **error)
{
  /* An empty string at the end of the input still needs a pointer, or it would look absent. */
  OnnxlStr input = { bytes.data ? bytes.data : "", bytes.size };
  Reader reader = { input.data, base, limits, arena, sink, error };

  g_assert(descriptor->n_fields <= MAX_FIELDS);
  return read_message(&reader, descriptor, input, 0, message);
}
