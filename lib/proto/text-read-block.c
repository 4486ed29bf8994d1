/* Blocks `!{field: value, …}` of the textual syntax: any field of any message, by the field table. */
#include "proto/text-internal.h"

#include "support/number.h"

/* Room for an item of any list of messages. */
typedef union AnyMessage {
  OnnxlAttribute attribute;
  OnnxlFunction function;
  OnnxlGraph graph;
  OnnxlNode node;
  OnnxlTensor tensor;
  OnnxlTrainingInfo training_info;
} AnyMessage;

static bool read_fields(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message,
                        OnnxlBlockPlaces *places);

/* A message: some have a syntax of their own, the others are {field: value, …}. */
static bool
read_message(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message)
{
  OnnxlTypePlaces places;

  if (descriptor == &onnxl_type_descriptor) {
    if (!onnxl_reader_at_type(r))
      return onnxl_reader_expected(r, "a type");
    return onnxl_reader_type(r, message, &places);
  }
  if (descriptor == &onnxl_tensor_descriptor)
    return onnxl_reader_tensor(r, message);
  if (descriptor == &onnxl_graph_descriptor)
    return onnxl_reader_graph(r, message);
  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok =
    onnxl_reader_expect(r, '{', "`{` with the fields of the message") && read_fields(r, descriptor, message, NULL);
  onnxl_reader_leave(r, 1);
  return ok;
}

/* key: value with its block */
static bool
read_pair(OnnxlReader *r, void *data)
{
  OnnxlPair pair = { 0 };

  return onnxl_reader_string(r, "a string, the key", &pair.key) &&
         onnxl_reader_expect(r, ':', "`:` between key and value") &&
         onnxl_reader_string(r, "a string, the value", &pair.value) &&
         onnxl_reader_block(r, &onnxl_pair_descriptor, &pair, NULL) && onnxl_reader_push(r, &pair, sizeof pair);
}

bool
onnxl_reader_pairs(OnnxlReader *r, OnnxlPairList *pairs)
{
  size_t mark = r->scratch_used;
  OnnxlPairList added;

  if (!onnxl_reader_expect(r, '[', "`[` with pairs `\"key\": \"value\"`"))
    return false;
  bool ok = onnxl_reader_list(r, ']', read_pair, NULL);
  ONNXL_READER_POP(r, mark, &added);
  if (pairs->count == 0) {
    *pairs = added;
  } else if (added.count > 0) {
    OnnxlPair *to = ONNXL_EXTEND(r->arena, pairs, added.count);
    if (!to)
      return onnxl_reader_exhausted(r);
    memcpy(to, added.items, added.count * sizeof *to);
  }
  return ok;
}

/* An item of a list, pushed as the list stores it. */
static bool
read_item(OnnxlReader *r, void *data)
{
  const OnnxlFieldDescriptor *field = data;
  AnyMessage message;
  OnnxlStr string;
  int64_t i;
  int32_t i32;
  uint64_t u;
  float f;
  double d;

  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (!onnxl_reader_at(r, ONNXL_TOKEN_STRING))
      return onnxl_reader_expected(r, "a string");
    return onnxl_reader_string(r, "a string", &string) && onnxl_reader_push(r, &string, sizeof string);
  case ONNXL_FIELD_INT64:
    return onnxl_reader_int64(r, &i) && onnxl_reader_push(r, &i, sizeof i);
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
    return onnxl_reader_int32(r, &i32) && onnxl_reader_push(r, &i32, sizeof i32);
  case ONNXL_FIELD_FLOAT:
    return onnxl_reader_float(r, &f) && onnxl_reader_push(r, &f, sizeof f);
  case ONNXL_FIELD_PACKED_INT32:
    return onnxl_reader_int32(r, &i32) && onnxl_reader_push_varint(r, (uint64_t)(int64_t)i32);
  case ONNXL_FIELD_PACKED_INT64:
    return onnxl_reader_int64(r, &i) && onnxl_reader_push_varint(r, (uint64_t)i);
  case ONNXL_FIELD_PACKED_UINT64:
    return onnxl_reader_uint64(r, &u) && onnxl_reader_push_varint(r, u);
  case ONNXL_FIELD_PACKED_FLOAT:
    if (!onnxl_reader_float(r, &f))
      return false;
    uint32_t f_bits = GUINT32_TO_LE(onnxl_float_bits(f));
    return onnxl_reader_push(r, &f_bits, sizeof f_bits);
  case ONNXL_FIELD_PACKED_DOUBLE:
    if (!onnxl_reader_double(r, &d))
      return false;
    memcpy(&u, &d, sizeof u);
    u = GUINT64_TO_LE(u);
    return onnxl_reader_push(r, &u, sizeof u);
  case ONNXL_FIELD_MESSAGE:
    g_assert(field->message->size <= sizeof message);
    memset(&message, 0, field->message->size);
    return read_message(r, field->message, &message) && onnxl_reader_push(r, &message, field->message->size);
  }
  return false;
}

static bool
is_packed(const OnnxlFieldDescriptor *field)
{
  switch (field->kind) {
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
  case ONNXL_FIELD_PACKED_INT32:
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    return true;
  default:
    return false;
  }
}

static bool
read_list(OnnxlReader *r, const OnnxlFieldDescriptor *field, void *member)
{
  size_t mark = r->scratch_used, size;

  if (field->message == &onnxl_pair_descriptor)
    return onnxl_reader_pairs(r, member);
  if (!onnxl_reader_expect(r, '[', "`[` with the values of the field"))
    return false;
  bool ok = onnxl_reader_list(r, ']', read_item, (void *)field);
  void *items = onnxl_reader_pop(r, mark, &size);
  if (is_packed(field)) {
    ((OnnxlPacked *)member)->bytes = onnxl_str_n(items, size);
  } else {
    /* All lists are laid out alike. */
    OnnxlStrList *list = member;
    list->items = items;
    list->count = size / onnxl_field_item_size(field);
  }
  return ok;
}

bool
onnxl_reader_field(OnnxlReader *r, const OnnxlFieldDescriptor *field, void *message)
{
  void *member = onnxl_field_member(field, message);
  bool ok;

  if (field->repeated || is_packed(field))
    return read_list(r, field, member);
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    if (!onnxl_reader_at(r, ONNXL_TOKEN_STRING))
      return onnxl_reader_expected(r, "a string");
    return onnxl_reader_string(r, "a string", member);
  case ONNXL_FIELD_MESSAGE:
    *(void **)member = onnxl_arena_alloc(r->arena, field->message->size);
    if (!*(void **)member)
      return onnxl_reader_exhausted(r);
    return read_message(r, field->message, *(void **)member);
  case ONNXL_FIELD_INT64:
    ok = onnxl_reader_int64(r, member);
    break;
  case ONNXL_FIELD_FLOAT:
    ok = onnxl_reader_float(r, member);
    break;
  default:
    ok = onnxl_reader_int32(r, member);
    break;
  }
  *(bool *)((char *)message + field->has_offset) = ok;
  return ok;
}

/* Whether the wire type is the one of the field, so that it could not be unknown. */
static bool
is_wire_type(const OnnxlFieldDescriptor *field, uint32_t wire_type)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
  case ONNXL_FIELD_MESSAGE:
    return wire_type == 2;
  case ONNXL_FIELD_FLOAT:
    return wire_type == 5 || (wire_type == 2 && field->repeated);
  case ONNXL_FIELD_PACKED_FLOAT:
    return wire_type == 5 || wire_type == 2;
  case ONNXL_FIELD_PACKED_DOUBLE:
    return wire_type == 1 || wire_type == 2;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT64:
    return wire_type == 0 || (wire_type == 2 && field->repeated);
  default:
    return wire_type == 0 || wire_type == 2;
  }
}

static bool read_group(OnnxlReader *r, OnnxlStr *ret_bytes);

/* NUMBER/WIRETYPE: value. descriptor: of the message that does not know it; NULL in a group. */
static bool
read_unknown(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, OnnxlUnknownField *field)
{
  OnnxlToken start = r->token, type;
  uint64_t number, wire_type;

  if (!onnxl_reader_uint64(r, &number) || !onnxl_reader_expect(r, '/', "`/` and the wire type"))
    return false;
  type = r->token;
  if (!onnxl_reader_uint64(r, &wire_type))
    return false;
  if (number == 0 || number > 0x1fffffff)
    return onnxl_reader_report_at(r, ONNXL_DIAG_INT_RANGE, &start, "field numbers are 1 to 536870911");
  if (wire_type > 5 || wire_type == 4)
    return onnxl_reader_report_at(r, ONNXL_DIAG_INT_RANGE, &type, "wire types are 0, 1, 2, 3 and 5");
  field->number = (uint32_t)number;
  field->wire_type = (uint32_t)wire_type;
  const OnnxlFieldDescriptor *known = descriptor ? onnxl_field_by_number(descriptor, field->number) : NULL;
  if (known && is_wire_type(known, field->wire_type))
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_FIELD, &start, "field %u of %s is `%s`", field->number,
                                  descriptor->name, known->name);
  if (!onnxl_reader_expect(r, ':', "`:` before the value"))
    return false;
  switch (wire_type) {
  case 0:
    return onnxl_reader_uint64(r, &field->value);
  case 1:
  case 5:
    if (!onnxl_reader_at(r, ONNXL_TOKEN_HEX))
      return onnxl_reader_expected(r, "`0x` and %d digits", wire_type == 1 ? 16 : 8);
    return onnxl_reader_bits(r, wire_type == 1 ? 16 : 8, wire_type == 1 ? "64-bit field" : "32-bit field",
                             &field->value);
  case 2:
    if (!onnxl_reader_at(r, ONNXL_TOKEN_STRING))
      return onnxl_reader_expected(r, "a string");
    return onnxl_reader_string(r, "a string", &field->bytes);
  default:
    return read_group(r, &field->bytes);
  }
}

static bool
push_bytes_le(OnnxlReader *r, uint64_t value, size_t size)
{
  value = GUINT64_TO_LE(value);
  return onnxl_reader_push(r, &value, size);
}

/* A field of a group, pushed in its wire encoding. */
static bool
read_group_field(OnnxlReader *r, void *data)
{
  OnnxlUnknownField field = { 0 };

  if (!read_unknown(r, NULL, &field) || !onnxl_reader_push_varint(r, field.number << 3 | field.wire_type))
    return false;
  switch (field.wire_type) {
  case 0:
    return onnxl_reader_push_varint(r, field.value);
  case 1:
    return push_bytes_le(r, field.value, 8);
  case 5:
    return push_bytes_le(r, field.value, 4);
  case 2:
    return onnxl_reader_push_varint(r, field.bytes.size) && onnxl_reader_push(r, field.bytes.data, field.bytes.size);
  default:
    return onnxl_reader_push(r, field.bytes.data, field.bytes.size) &&
           onnxl_reader_push_varint(r, field.number << 3 | 4);
  }
}

/* {NUMBER/WIRETYPE: value, …} */
static bool
read_group(OnnxlReader *r, OnnxlStr *ret_bytes)
{
  size_t mark = r->scratch_used, size;

  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok = onnxl_reader_expect(r, '{', "`{` with the fields of the group") &&
            onnxl_reader_list(r, '}', read_group_field, NULL);
  onnxl_reader_leave(r, 1);
  const char *bytes = onnxl_reader_pop(r, mark, &size);
  *ret_bytes = onnxl_str_n(bytes ? bytes : "", size);
  return ok;
}

bool
onnxl_reader_unknown_field(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor)
{
  OnnxlUnknownField field = { 0 };

  return read_unknown(r, descriptor, &field) && onnxl_reader_push(r, &field, sizeof field);
}

static const char *
field_candidate(const void *data, size_t i)
{
  const OnnxlMessageDescriptor *descriptor = data;

  return i < descriptor->n_fields ? descriptor->fields[i].name : NULL;
}

typedef struct Block {
  const OnnxlMessageDescriptor *descriptor;
  void *message;
  OnnxlBlockPlaces *places;
  uint64_t set; /* indices of the fields set in this block */
} Block;

/* Whether the field may be set: it is not set yet, nor another field of its oneof. */
static bool
check_settable(OnnxlReader *r, const Block *block, const OnnxlFieldDescriptor *field)
{
  const OnnxlMessageDescriptor *descriptor = block->descriptor;

  if (block->set & UINT64_C(1) << (field - descriptor->fields))
    return onnxl_reader_report_at(r, ONNXL_DIAG_FIELD_TWICE, &r->token, "`%s` is set twice", field->name);
  if (onnxl_field_is_set(field, block->message))
    return onnxl_reader_report_at(r, ONNXL_DIAG_FIELD_TWICE, &r->token, "`%s` is given by the text", field->name);
  for (size_t i = 0; field->oneof != 0 && i < descriptor->n_fields; i++)
    if (descriptor->fields[i].oneof == field->oneof && onnxl_field_is_set(&descriptor->fields[i], block->message))
      return onnxl_reader_report_at(r, ONNXL_DIAG_FIELD_TWICE, &r->token, "`%s` and `%s` exclude each other",
                                    descriptor->fields[i].name, field->name);
  return true;
}

/* field: value */
static bool
read_block_field(OnnxlReader *r, void *data)
{
  Block *block = data;
  OnnxlToken key = r->token;

  if (onnxl_reader_at(r, ONNXL_TOKEN_INT))
    return onnxl_reader_unknown_field(r, block->descriptor);
  if (!onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER))
    return onnxl_reader_expected(r, "a field of %s", block->descriptor->name);
  const OnnxlFieldDescriptor *field = onnxl_field_by_name(block->descriptor, key.text);
  if (!field) {
    const char *similar = onnxl_text_similar(key.text, field_candidate, block->descriptor);
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_FIELD, &key,
                                  similar ? "%s has no field `%.*s`; did you mean `%s`?" : "%s has no field `%.*s`",
                                  block->descriptor->name, ONNXL_ARG(key.text), similar);
  }
  if (!check_settable(r, block, field))
    return false;
  block->set |= UINT64_C(1) << (field - block->descriptor->fields);
  if (block->places && field->number < ONNXL_BLOCK_FIELDS)
    block->places->at[field->number] = key.text;
  onnxl_reader_next(r);
  return onnxl_reader_expect(r, ':', "`:` before the field's value") && onnxl_reader_field(r, field, block->message);
}

/* field: value, … up to the closing brace */
static bool
read_fields(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message, OnnxlBlockPlaces *places)
{
  Block block = { descriptor, message, places, 0 };
  size_t mark = r->scratch_used;

  bool ok = onnxl_reader_list(r, '}', read_block_field, &block);
  ONNXL_READER_POP(r, mark, &((OnnxlMessage *)message)->unknown);
  return ok;
}

bool
onnxl_reader_block(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message,
                   OnnxlBlockPlaces *ret_places)
{
  return !onnxl_reader_accept(r, ONNXL_TOKEN_OPEN_BLOCK) || read_fields(r, descriptor, message, ret_places);
}

bool
onnxl_reader_set_in_block(OnnxlReader *r, const OnnxlBlockPlaces *places, const char *name, uint32_t number)
{
  OnnxlStr key = places->at[number];

  return onnxl_reader_report(r, ONNXL_DIAG_FIELD_TWICE, key.data, key.data + key.size,
                             "`%s` is given by the text behind the block", name);
}
