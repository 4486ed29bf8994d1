#include "proto/text-write-internal.h"

#include "proto/packed.h"
#include "support/number.h"

void
onnxl_text_pairs(TextPrinter *p, const OnnxlPairList *pairs)
{
  onnxl_output_char(p->out, '[');
  for (size_t i = 0; i < pairs->count; i++) {
    const OnnxlPair *pair = &pairs->items[i];
    if (i > 0)
      onnxl_text_literal(p, ", ");
    onnxl_text_string(p, pair->key);
    onnxl_text_literal(p, ": ");
    onnxl_text_string(p, pair->value);
    onnxl_text_block(p, &onnxl_pair_descriptor, pair, TEXT_FIELD(1) | TEXT_FIELD(2));
  }
  onnxl_output_char(p->out, ']');
}

/* Reads one field of a group from *at. False: it is malformed. */
static bool
group_field(const char **at, const char *end, uint64_t tag, OnnxlUnknownField *ret_field)
{
  OnnxlUnknownField field = { .number = (uint32_t)(tag >> 3), .wire_type = (uint32_t)(tag & 7) };
  size_t fixed = field.wire_type == 1 ? 8 : field.wire_type == 5 ? 4 : 0;

  if (fixed > 0) {
    if ((size_t)(end - *at) < fixed)
      return false;
    memcpy(&field.value, *at, fixed);
    *at += fixed;
  } else if (!onnxl_packed_varint(at, end, &field.value)) {
    return false;
  } else if (field.wire_type == 2) {
    if (field.value > (size_t)(end - *at))
      return false;
    field.bytes = onnxl_str_n(*at, (size_t)field.value);
    *at += field.value;
  }
  *ret_field = field;
  return true;
}

/* The fields of a group, which lie encoded in bytes. Groups in it nest as brackets do, so their depth is a counter. */
static void
unknown_group(TextPrinter *p, OnnxlStr bytes)
{
  const char *at = bytes.data;
  const char *end = at ? at + bytes.size : at;
  size_t depth = 1;
  bool first = true;
  OnnxlUnknownField field;
  uint64_t tag;

  onnxl_output_char(p->out, '{');
  while (at < end && onnxl_packed_varint(&at, end, &tag)) {
    if ((tag & 7) == 4 && depth > 1) {
      onnxl_output_char(p->out, '}');
      depth--;
      first = false;
      continue;
    }
    if (!first)
      onnxl_text_literal(p, ", ");
    first = (tag & 7) == 3;
    if (first) {
      onnxl_output_printf(p->out, "%" G_GUINT64_FORMAT "/3: {", tag >> 3);
      depth++;
    } else if ((tag & 7) < 6 && (tag & 7) != 4 && group_field(&at, end, tag, &field)) {
      onnxl_text_unknown(p, &field);
    } else {
      break;
    }
  }
  if (at < end || depth > 1)
    onnxl_text_malformed(p);
  onnxl_output_char(p->out, '}');
}

void
onnxl_text_unknown(TextPrinter *p, const OnnxlUnknownField *field)
{
  onnxl_output_printf(p->out, "%u/%u: ", field->number, field->wire_type);
  switch (field->wire_type) {
  case 1:
    onnxl_output_printf(p->out, "0x%016" G_GINT64_MODIFIER "x", field->value);
    break;
  case 2:
    onnxl_text_string(p, field->bytes.data ? field->bytes : ONNXL_STR(""));
    break;
  case 3:
    unknown_group(p, field->bytes);
    break;
  case 5:
    onnxl_output_printf(p->out, "0x%08x", (uint32_t)field->value);
    break;
  default:
    onnxl_output_uint64(p->out, field->value);
    break;
  }
}

void
onnxl_text_packed_items(TextPrinter *p, OnnxlFieldKind kind, OnnxlPacked packed)
{
  const char *at = packed.bytes.data;
  const char *end = at ? at + packed.bytes.size : at;
  char text[ONNXL_NUMBER_SIZE];

  for (bool first = true; at < end; first = false) {
    uint64_t value;
    float f;
    double d;
    if (kind == ONNXL_FIELD_PACKED_FLOAT && (size_t)(end - at) >= sizeof f) {
      memcpy(&f, at, sizeof f);
      at += sizeof f;
      onnxl_text_item(p, first, text, onnxl_text_float(p, text, f));
    } else if (kind == ONNXL_FIELD_PACKED_DOUBLE && (size_t)(end - at) >= sizeof d) {
      memcpy(&d, at, sizeof d);
      at += sizeof d;
      onnxl_text_item(p, first, text, onnxl_text_double(p, text, d));
    } else if (kind == ONNXL_FIELD_PACKED_FLOAT || kind == ONNXL_FIELD_PACKED_DOUBLE ||
               !onnxl_packed_varint(&at, end, &value)) {
      onnxl_text_malformed(p);
      return;
    } else if (kind == ONNXL_FIELD_PACKED_UINT64) {
      onnxl_text_uint_item(p, first, value);
    } else {
      onnxl_text_int_item(p, first, kind == ONNXL_FIELD_PACKED_INT32 ? (int32_t)value : (int64_t)value);
    }
  }
}

/* What the first thing in a message needs, when it stands as the value of a field. */
static TextNeeds
message_needs(const TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  if (descriptor == &onnxl_tensor_descriptor)
    return onnxl_text_tensor_needs(p, message, TEXT_TENSOR_VALUE);
  if (descriptor == &onnxl_graph_descriptor)
    return onnxl_text_graph_needs(message);
  return TEXT_NO_NEEDS;
}

static TextNeeds
field_needs(const TextPrinter *p, const OnnxlFieldDescriptor *field, const void *message)
{
  if (field->kind != ONNXL_FIELD_MESSAGE || field->repeated)
    return TEXT_NO_NEEDS;
  return message_needs(p, field->message, *(const void *const *)onnxl_field_member(field, message));
}

static void
message_value(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  if (descriptor == &onnxl_type_descriptor) {
    onnxl_text_type(p, message);
  } else if (descriptor == &onnxl_tensor_descriptor) {
    onnxl_text_tensor(p, message, TEXT_TENSOR_VALUE);
  } else if (descriptor == &onnxl_graph_descriptor) {
    onnxl_text_graph(p, message, false);
  } else {
    onnxl_output_char(p->out, '{');
    onnxl_text_fields(p, descriptor, message, 0);
    onnxl_output_char(p->out, '}');
  }
}

static void
repeated_value(TextPrinter *p, const OnnxlFieldDescriptor *field, const void *member)
{
  const OnnxlStrList *strings = member;
  const struct {
    char *items;
    size_t count;
  } *messages = member;

  onnxl_output_char(p->out, '[');
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    for (size_t i = 0; i < strings->count; i++) {
      if (i > 0)
        onnxl_text_literal(p, ", ");
      onnxl_text_string(p, strings->items[i].data ? strings->items[i] : ONNXL_STR(""));
    }
    break;
  case ONNXL_FIELD_FLOAT:
    onnxl_text_float_items(p, member);
    break;
  case ONNXL_FIELD_MESSAGE:
    for (size_t i = 0; i < messages->count; i++) {
      const void *item = messages->items + i * field->message->size;
      onnxl_text_separate(p, i == 0, message_needs(p, field->message, item));
      message_value(p, field->message, item);
    }
    break;
  default:
    onnxl_text_int_items(p, member);
    break;
  }
  onnxl_output_char(p->out, ']');
}

void
onnxl_text_field_value(TextPrinter *p, const OnnxlFieldDescriptor *field, const void *message)
{
  const void *member = onnxl_field_member(field, message);
  char text[ONNXL_NUMBER_SIZE];

  if (field->message == &onnxl_pair_descriptor && field->repeated) {
    onnxl_text_pairs(p, member);
    return;
  }
  if (field->repeated) {
    repeated_value(p, field, member);
    return;
  }
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    onnxl_text_string(p, *(const OnnxlStr *)member);
    break;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
    onnxl_output_int64(p->out, *(const int32_t *)member);
    break;
  case ONNXL_FIELD_INT64:
    onnxl_output_int64(p->out, *(const int64_t *)member);
    break;
  case ONNXL_FIELD_FLOAT:
    onnxl_output_write(p->out, text, onnxl_text_float(p, text, *(const float *)member));
    break;
  case ONNXL_FIELD_MESSAGE:
    message_value(p, field->message, *(const void *const *)member);
    break;
  default:
    onnxl_output_char(p->out, '[');
    onnxl_text_packed_items(p, field->kind, *(const OnnxlPacked *)member);
    onnxl_output_char(p->out, ']');
  }
}

/* The fields of a block. opening: written before the first one. */
static bool
fields(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given,
       const char *opening)
{
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;
  bool first = true;

  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (given & TEXT_FIELD(field->number) || !onnxl_field_is_set(field, message))
      continue;
    if (first)
      onnxl_output_text(p->out, opening);
    onnxl_text_separate(p, first, field_needs(p, field, message));
    first = false;
    onnxl_output_text(p->out, field->name);
    onnxl_text_literal(p, ": ");
    onnxl_text_field_value(p, field, message);
  }
  for (size_t i = 0; i < unknown->count; i++) {
    onnxl_output_text(p->out, first ? opening : ", ");
    first = false;
    onnxl_text_unknown(p, &unknown->items[i]);
  }
  return !first;
}

bool
onnxl_text_fields(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given)
{
  return fields(p, descriptor, message, given, "");
}

void
onnxl_text_block(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given)
{
  if (p->options->lossy)
    onnxl_text_lossy_fields(p, descriptor, message, given);
  else if (fields(p, descriptor, message, given, " !{"))
    onnxl_output_char(p->out, '}');
}
