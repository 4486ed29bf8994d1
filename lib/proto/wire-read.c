/* One walk over the bytes, driven by the field table. Lists are exact blocks that are never moved in the usual case,
 * where the items of a list stand one after the other: the first one looks ahead and counts them. */
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

/* More than any message has, and above any of its field numbers. */
#define MAX_FIELDS 24
#define MAX_NUMBER 32

typedef struct Reader {
  const char *start; /* of the whole input */
  uint64_t base;
  const OnnxlLimits *limits;
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  GError **error;
  uint8_t (*rows)[MAX_NUMBER]; /* by message and field number: position in its rows plus 1, or 0 */
  bool weights_only;
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
  return onnxl_fail(reader->error, ONNXL_ERROR_LIMIT,
                    "the metadata need more than the limit of %zu bytes (--max-metadata)",
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

static bool read_any_field(Reader *reader, const char **at, const char *end, uint32_t depth, Field *field);

/* Finds the end of a group, whose start tag was read: *at goes behind the end tag, field->bytes is what lies between.
 */
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
    if (!read_any_field(reader, at, end, depth + 1, &inner))
      return false;
    if (inner.wire_type != WIRE_END_GROUP)
      continue;
    if (inner.number != group->number)
      return invalid(reader, before, ONNXL_DIAG_WIRE, "the end of a group that was not started");
    group->bytes = onnxl_str_n(start, (size_t)(before - start));
    return true;
  }
}

static bool
read_any_field(Reader *reader, const char **at, const char *end, uint32_t depth, Field *field)
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
      g_autofree char *message = g_strdup_printf(
        "truncated field: its length is %" PRIu64 " when %" PRIu64 " bytes are left", size, (uint64_t)(end - *at));
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

/* Reads the field at *at and moves *at behind it. depth: of the message that holds it. */
static inline bool
read_field(Reader *reader, const char **at, const char *end, uint32_t depth, Field *field)
{
  const uint8_t *p = (const uint8_t *)*at;
  size_t left = (size_t)(end - *at);

  /* Most fields by far are a string or a message with one byte for the tag and one for the length. */
  if (left >= 2 && p[0] >= 8 && p[0] < 0x80 && (p[0] & 7) == WIRE_BYTES && p[1] < 0x80 && p[1] <= left - 2) {
    *field = (Field){ (uint32_t)p[0] >> 3, WIRE_BYTES, 0, { *at + 2, p[1] }, *at };
    *at += 2 + p[1];
    return true;
  }
  return read_any_field(reader, at, end, depth, field);
}

static inline bool
is_packed(const OnnxlFieldDescriptor *field)
{
  return field->kind >= ONNXL_FIELD_PACKED_FLOAT;
}

/* The wire type of one value of the field. */
static inline uint32_t
wire_type_of(const OnnxlFieldDescriptor *field)
{
  static const uint8_t types[] = {
    [ONNXL_FIELD_STRING] = WIRE_BYTES,          [ONNXL_FIELD_BYTES] = WIRE_BYTES,
    [ONNXL_FIELD_INT32] = WIRE_VARINT,          [ONNXL_FIELD_ENUM] = WIRE_VARINT,
    [ONNXL_FIELD_INT64] = WIRE_VARINT,          [ONNXL_FIELD_FLOAT] = WIRE_FIXED32,
    [ONNXL_FIELD_MESSAGE] = WIRE_BYTES,         [ONNXL_FIELD_PACKED_FLOAT] = WIRE_FIXED32,
    [ONNXL_FIELD_PACKED_DOUBLE] = WIRE_FIXED64, [ONNXL_FIELD_PACKED_INT32] = WIRE_VARINT,
    [ONNXL_FIELD_PACKED_INT64] = WIRE_VARINT,   [ONNXL_FIELD_PACKED_UINT64] = WIRE_VARINT,
  };
  return types[field->kind];
}

/* The row of a field on the wire; NULL when it is to be kept as unknown, as protobuf does for an unexpected wire type.
 */
static inline const OnnxlFieldDescriptor *
known_field(const Reader *reader, const OnnxlMessageDescriptor *descriptor, const Field *field)
{
  uint8_t row = field->number < MAX_NUMBER ? reader->rows[descriptor->id][field->number] : 0;

  if (row == 0)
    return NULL;
  const OnnxlFieldDescriptor *known = &descriptor->fields[row - 1];
  if (field->wire_type == wire_type_of(known))
    return known;
  /* A list of numbers may be packed or not, whatever onnx.proto says. */
  if (field->wire_type == WIRE_BYTES && (is_packed(known) || known->repeated))
    return known;
  return NULL;
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

/* Items that a field adds to its list: bytes of a packed list, numbers of another list of numbers, else one. */
static inline size_t
items_of(const OnnxlFieldDescriptor *known, const Field *field)
{
  uint64_t n = 1;

  if (!known)
    return 1;
  if (is_packed(known))
    return field->wire_type == WIRE_BYTES ? field->bytes.size : packed_size(field);
  if (field->wire_type != wire_type_of(known))
    (void)onnxl_packed_count((OnnxlPacked){ field->bytes }, known->kind == ONNXL_FIELD_FLOAT ? 4 : 0, &n);
  return (size_t)n;
}

/* A message that is being read. */
typedef struct Walk {
  const OnnxlMessageDescriptor *descriptor;
  void *message;
  const char *at, *end;
  uint32_t depth;
  const OnnxlFieldDescriptor *run; /* the list whose items stand here one after the other */
  size_t run_left;                 /* room for the rest of them */
  bool scattered;                  /* some list goes on behind another field: see room[], which is not set before */
  size_t room[MAX_FIELDS + 1];     /* by row; the last one is for unknown fields */
} Walk;

/* Counts the items of a list (known NULL: of the unknown fields) from the walk's place on: all, or those that follow
 * the field just met. */
static bool
count_items(Reader *reader, const Walk *walk, const OnnxlFieldDescriptor *known, const Field *met, bool all,
            size_t *ret_count)
{
  const char *at = walk->at;
  size_t count = 0;

  while (at < walk->end) {
    Field field;

    if (!all && *at != *met->at)
      break; /* another tag: most lists end so */

    if (!read_field(reader, &at, walk->end, walk->depth, &field))
      return false;
    if (known_field(reader, walk->descriptor, &field) == known && field.wire_type != WIRE_END_GROUP)
      count += items_of(known, &field); /* at most the number of bytes */
    else if (!all)
      break;
  }
  *ret_count = count;
  return true;
}

/* Makes room for the n items of the field just met, and for what else it can tell of their list. */
static bool
extend_list(Reader *reader, Walk *walk, const OnnxlFieldDescriptor *known, const Field *met, OnnxlStrList *list,
            size_t n)
{
  /* A list that was left and is met again is counted to the end of the message, once; pieces of a packed list and
   * unknown fields are rare enough to be counted so at once. */
  bool all = !known || is_packed(known) || list->count > 0;
  size_t size = known ? onnxl_field_item_size(known) : sizeof(OnnxlUnknownField);
  size_t more, total;

  if (!count_items(reader, walk, known, met, all, &more))
    return false;
  void *items = onnxl_size_add(list->count, n, &total) && onnxl_size_add(total, more, &total)
                  ? onnxl_arena_array(reader->arena, total, size)
                  : NULL;
  if (!items)
    return exhausted(reader);
  if (list->count > 0)
    memcpy(items, list->items, list->count * size);
  list->items = items;
  if (!all) {
    walk->run = known;
    walk->run_left = more;
    return true;
  }
  if (!walk->scattered)
    memset(walk->room, 0, sizeof(walk->room));
  walk->scattered = true;
  walk->room[known ? known - walk->descriptor->fields : MAX_FIELDS] = more;
  return true;
}

/* Makes sure that the items of the field just met fit in their list. */
static inline bool
make_room(Reader *reader, Walk *walk, const OnnxlFieldDescriptor *known, const Field *field, void *list)
{
  size_t n = items_of(known, field);

  if (n == 0)
    return true;
  if (walk->run == known && known && walk->run_left >= n) {
    walk->run_left -= n;
    return true;
  }
  size_t *room = &walk->room[known ? known - walk->descriptor->fields : MAX_FIELDS];
  if (walk->scattered && *room >= n) {
    *room -= n;
    return true;
  }
  return extend_list(reader, walk, known, field, list, n);
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

/* Whether the bytes of a packed list are whole numbers. Of a large list of varints only the end is looked at, since it
 * may be weights: whoever reads the numbers finds what is wrong with one. */
static bool
check_packed(Reader *reader, const OnnxlFieldDescriptor *known, const Field *field)
{
  bool is_float = known->kind == ONNXL_FIELD_FLOAT || known->kind == ONNXL_FIELD_PACKED_FLOAT;
  uint32_t size = is_float ? 4 : known->kind == ONNXL_FIELD_PACKED_DOUBLE ? 8 : 0;
  const char *at = field->bytes.data, *end = at + field->bytes.size;
  uint64_t n;

  if (size > 0 ? !onnxl_packed_count((OnnxlPacked){ field->bytes }, size, &n) : at < end && (uint8_t)end[-1] >= 0x80)
    return invalid(reader, field->at, ONNXL_DIAG_TRUNCATED, "truncated field: a packed list ends inside a number");
  if (size > 0 || (is_packed(known) && field->bytes.size >= PAYLOAD_SIZE))
    return true;
  while (at < end)
    if (!onnxl_packed_varint(&at, end, &n))
      return invalid(reader, at, ONNXL_DIAG_WIRE, "a number is longer than 10 bytes");
  return true;
}

/* Adds a piece to a packed list. The first one stays where it lies; others, and numbers that are not packed, are put
 * together in a block. */
static bool
add_packed(Reader *reader, Walk *walk, const OnnxlFieldDescriptor *known, const Field *field, OnnxlPacked *packed)
{
  if (field->wire_type == WIRE_BYTES) {
    if (!check_packed(reader, known, field))
      return false;
    if (packed->bytes.size == 0) {
      packed->bytes = field->bytes;
      return true;
    }
  }
  if (!make_room(reader, walk, known, field, packed))
    return false;
  char *end = (char *)packed->bytes.data + packed->bytes.size;
  size_t size = items_of(known, field);

  if (field->wire_type == WIRE_BYTES) {
    if (size > 0)
      memcpy(end, field->bytes.data, size);
  } else if (field->wire_type == WIRE_VARINT) {
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

/* Appends the values of a list of numbers, one or a packed run, for which there is room. */
static bool
add_numbers(Reader *reader, const OnnxlFieldDescriptor *known, const Field *field, OnnxlInt64List *list)
{
  const char *at = field->bytes.data, *end = at + field->bytes.size;
  OnnxlFloatList *floats = (OnnxlFloatList *)list;
  uint64_t value = field->value;

  if (field->wire_type != WIRE_BYTES) {
    if (known->kind == ONNXL_FIELD_FLOAT)
      memcpy(&floats->items[floats->count++], &value, sizeof(float));
    else
      list->items[list->count++] = (int64_t)value;
    return true;
  }
  if (!check_packed(reader, known, field))
    return false;
  if (known->kind == ONNXL_FIELD_FLOAT) {
    if (field->bytes.size > 0)
      memcpy(&floats->items[floats->count], at, field->bytes.size);
    floats->count += field->bytes.size / sizeof(float);
  } else {
    while (at < end && onnxl_packed_varint(&at, end, &value))
      list->items[list->count++] = (int64_t)value;
  }
  return true;
}

/* A payload is no metadata: what it takes of the input does not raise the budget. */
static void
exclude_payload(Reader *reader, OnnxlStr bytes)
{
  size_t budget = onnxl_arena_budget(reader->arena);
  size_t share;

  if (reader->limits->max_metadata == 0 && bytes.size >= PAYLOAD_SIZE &&
      onnxl_size_mul(bytes.size, ONNXL_METADATA_FACTOR, &share) && budget >= ONNXL_METADATA_MIN &&
      budget - ONNXL_METADATA_MIN >= share)
    onnxl_arena_set_budget(reader->arena, budget - share);
}

/* Sets what field holds in the message. */
static inline bool
set_field(Reader *reader, Walk *walk, const OnnxlFieldDescriptor *known, const Field *field)
{
  void *member = onnxl_field_member(known, walk->message);
  OnnxlStrList *list = member;

  if (known->oneof)
    clear_oneof(walk->descriptor, known, walk->message);
  if (known->repeated && !make_room(reader, walk, known, field, list))
    return false;
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
    return read_message(reader, known->message, field->bytes, walk->depth + 1, inner);
  }
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
  case ONNXL_FIELD_PACKED_INT32:
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    exclude_payload(reader, field->bytes);
    return add_packed(reader, walk, known, field, member);
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
  case ONNXL_FIELD_FLOAT:
    break;
  }
  if (known->repeated)
    return add_numbers(reader, known, field, member);
  *((bool *)walk->message + known->has_offset) = true;
  if (known->kind == ONNXL_FIELD_INT64)
    *(int64_t *)member = (int64_t)field->value;
  else
    memcpy(member, &(uint32_t){ (uint32_t)field->value }, 4);
  return true;
}

/* Checks a message as read_message() does, without keeping anything, up to the first tensor or graph in it. */
static bool
find_weights(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth, bool *ret_found)
{
  const char *at = bytes.data, *end = bytes.data + bytes.size;

  *ret_found = descriptor == &onnxl_tensor_descriptor || descriptor == &onnxl_graph_descriptor;
  if (depth > reader->limits->max_depth)
    return too_deep(reader);
  while (at < end && !*ret_found) {
    Field field;

    if (!read_field(reader, &at, end, depth, &field))
      return false;
    const OnnxlFieldDescriptor *known = known_field(reader, descriptor, &field);
    if (!known && field.wire_type == WIRE_END_GROUP)
      return invalid(reader, field.at, ONNXL_DIAG_WIRE, "the end of a group that was not started");
    if (!known || field.wire_type != WIRE_BYTES)
      continue;
    if (known->kind == ONNXL_FIELD_MESSAGE) {
      if (!find_weights(reader, known->message, field.bytes, depth + 1, ret_found))
        return false;
    } else if (wire_type_of(known) != WIRE_BYTES && !check_packed(reader, known, &field)) {
      return false;
    }
  }
  return true;
}

/* The list of nodes that a graph or function has; NULL for other messages. */
static const OnnxlFieldDescriptor *
node_list(const OnnxlMessageDescriptor *descriptor)
{
  for (size_t i = 0; i < descriptor->n_fields; i++)
    if (descriptor->fields[i].message == &onnxl_node_descriptor)
      return &descriptor->fields[i];
  return NULL;
}

/* Whether the nodes of a message may stay as they are: none of them holds a tensor or a graph. */
static bool
nodes_stay_closed(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth,
                  bool *ret_closed)
{
  const char *at = bytes.data, *end = bytes.data + bytes.size;
  bool found = false;

  while (at < end && !found) {
    Field field;

    if (!read_field(reader, &at, end, depth, &field))
      return false;
    const OnnxlFieldDescriptor *known = known_field(reader, descriptor, &field);
    if (known && known->message == &onnxl_node_descriptor &&
        !find_weights(reader, known->message, field.bytes, depth + 1, &found))
      return false;
  }
  *ret_closed = !found;
  return true;
}

static bool
read_fields(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth, void *message)
{
  OnnxlUnknownList *unknown = &((OnnxlMessage *)message)->unknown;
  Walk walk; /* without room[], which few messages need */

  walk.descriptor = descriptor;
  walk.message = message;
  walk.at = bytes.data;
  walk.end = bytes.data + bytes.size;
  walk.depth = depth;
  walk.run = NULL;
  walk.run_left = 0;
  walk.scattered = false;
  while (walk.at < walk.end) {
    Field field;

    if (!read_field(reader, &walk.at, walk.end, depth, &field))
      return false;
    const OnnxlFieldDescriptor *known = known_field(reader, descriptor, &field);
    if (known) {
      if (!set_field(reader, &walk, known, &field))
        return false;
      continue;
    }
    if (field.wire_type == WIRE_END_GROUP)
      return invalid(reader, field.at, ONNXL_DIAG_WIRE, "the end of a group that was not started");
    if (!make_room(reader, &walk, NULL, &field, unknown))
      return false;
    unknown->items[unknown->count++] = (OnnxlUnknownField){ field.number, field.wire_type, field.value, field.bytes };
  }
  return true;
}

static bool
read_message(Reader *reader, const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint32_t depth, void *message)
{
  const OnnxlFieldDescriptor *nodes = reader->weights_only ? node_list(descriptor) : NULL;
  bool closed = false;

  if (depth > reader->limits->max_depth)
    return too_deep(reader);
  /* A message in two pieces has its closed nodes first, since they are written so. */
  if (nodes && ((OnnxlStrList *)onnxl_field_member(nodes, message))->count == 0 &&
      !nodes_stay_closed(reader, descriptor, bytes, depth, &closed))
    return false;
  if (!closed)
    return read_fields(reader, descriptor, bytes, depth, message);
  /* Without a row they are unknown fields. No message of this kind is in this one, since it could only be in a node. */
  uint8_t *row = &reader->rows[descriptor->id][nodes->number], saved = *row;
  *row = 0;
  bool done = read_fields(reader, descriptor, bytes, depth, message);
  *row = saved;
  return done;
}

static bool
read_input(const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint64_t base, const OnnxlLimits *limits,
           bool weights_only, OnnxlArena *arena, void *message, OnnxlDiagSink *sink, GError **error)
{
  /* An empty string at the end of the input still needs a pointer, or it would look absent. */
  OnnxlStr input = { bytes.data ? bytes.data : "", bytes.size };
  uint8_t rows[ONNXL_N_MESSAGES][MAX_NUMBER] = { 0 };
  Reader reader = { input.data, base, limits, arena, sink, error, rows, weights_only };

  for (size_t i = 0; i < ONNXL_N_MESSAGES; i++) {
    const OnnxlMessageDescriptor *known = onnxl_message_descriptors[i];
    g_assert(known->n_fields <= MAX_FIELDS);
    for (size_t j = 0; j < known->n_fields; j++) {
      g_assert(known->fields[j].number < MAX_NUMBER);
      rows[i][known->fields[j].number] = (uint8_t)(j + 1);
    }
  }
  return read_message(&reader, descriptor, input, 0, message);
}

bool
onnxl_wire_read(const OnnxlMessageDescriptor *descriptor, OnnxlStr bytes, uint64_t base, const OnnxlLimits *limits,
                OnnxlArena *arena, void *message, OnnxlDiagSink *sink, GError **error)
{
  return read_input(descriptor, bytes, base, limits, false, arena, message, sink, error);
}

bool
onnxl_wire_read_weights(OnnxlStr bytes, const OnnxlLimits *limits, OnnxlArena *arena, OnnxlModelProto *model,
                        OnnxlDiagSink *sink, GError **error)
{
  return read_input(&onnxl_model_descriptor, bytes, 0, limits, true, arena, model, sink, error);
}
