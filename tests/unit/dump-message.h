/* A message as compact text, by the field table: {name:'g' node:[{op_type:'Neg'}]}. Only fields that are set, in the
 * order of onnx.proto, so that presence shows. Floats as numbers, NaNs as their bits; other bytes than ASCII as \xHH.
 */
#ifndef ONNXL_TESTS_DUMP_MESSAGE_H
#define ONNXL_TESTS_DUMP_MESSAGE_H

#include <math.h>

#include "proto/packed.h"
#include "proto/schema.h"

static inline void
dump_string(GString *out, OnnxlStr s)
{
  g_string_append_c(out, '\'');
  for (size_t i = 0; i < s.size; i++) {
    uint8_t c = (uint8_t)s.data[i];
    if (c < 0x20 || c >= 0x7f || c == '\'' || c == '\\')
      g_string_append_printf(out, "\\x%02x", c);
    else
      g_string_append_c(out, (char)c);
  }
  g_string_append_c(out, '\'');
}

static inline void
dump_double(GString *out, double value, uint64_t bits)
{
  if (isnan(value))
    g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", bits);
  else
    g_string_append_printf(out, "%.9g", value);
}

static inline void
dump_float(GString *out, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  dump_double(out, value, bits);
}

static inline void
dump_packed(GString *out, const OnnxlFieldDescriptor *field, OnnxlPacked packed)
{
  const char *at = packed.bytes.data, *end = at + packed.bytes.size;
  g_string_append_c(out, '[');
  for (bool first = true; at < end; first = false) {
    uint64_t bits = 0;
    if (!first)
      g_string_append_c(out, ' ');
    if (field->kind == ONNXL_FIELD_PACKED_FLOAT && end - at >= 4) {
      float value;
      memcpy(&value, at, 4);
      dump_float(out, value);
      at += 4;
    } else if (field->kind == ONNXL_FIELD_PACKED_DOUBLE && end - at >= 8) {
      double value;
      memcpy(&value, at, 8);
      memcpy(&bits, at, 8);
      dump_double(out, value, bits);
      at += 8;
    } else if (onnxl_packed_varint(&at, end, &bits)) {
      if (field->kind == ONNXL_FIELD_PACKED_UINT64)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT, bits);
      else
        g_string_append_printf(out, "%" G_GINT64_FORMAT, (int64_t)bits);
    } else {
      g_string_append(out, "malformed");
      break;
    }
  }
  g_string_append_c(out, ']');
}

static inline void dump_message(GString *out, const OnnxlMessageDescriptor *descriptor, const void *message);

/* One value of the field's kind at p; of a message the struct. */
static inline void
dump_value(GString *out, const OnnxlFieldDescriptor *field, const void *p)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    dump_string(out, *(const OnnxlStr *)p);
    break;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
    g_string_append_printf(out, "%d", *(const int32_t *)p);
    break;
  case ONNXL_FIELD_INT64:
    g_string_append_printf(out, "%" G_GINT64_FORMAT, *(const int64_t *)p);
    break;
  case ONNXL_FIELD_FLOAT:
    dump_float(out, *(const float *)p);
    break;
  case ONNXL_FIELD_MESSAGE:
    dump_message(out, field->message, p);
    break;
  default:
    dump_packed(out, field, *(const OnnxlPacked *)p);
    break;
  }
}

static inline size_t
dump_item_size(const OnnxlFieldDescriptor *field)
{
  return field->kind == ONNXL_FIELD_MESSAGE ? field->message->size
         : field->kind == ONNXL_FIELD_INT64 ? sizeof(int64_t)
         : field->kind == ONNXL_FIELD_FLOAT ? sizeof(float)
                                            : sizeof(OnnxlStr);
}

static inline void
dump_message(GString *out, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  const char *separator = "";
  g_string_append_c(out, '{');
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    const void *member = onnxl_field_member(field, message);
    if (!onnxl_field_is_set(field, message))
      continue;
    g_string_append_printf(out, "%s%s:", separator, field->name);
    separator = " ";
    if (field->repeated) {
      const OnnxlStrList *list = member; /* all lists are laid out alike */
      g_string_append_c(out, '[');
      for (size_t j = 0; j < list->count; j++) {
        if (j > 0)
          g_string_append_c(out, ' ');
        dump_value(out, field, (const char *)list->items + j * dump_item_size(field));
      }
      g_string_append_c(out, ']');
    } else {
      dump_value(out, field, field->kind == ONNXL_FIELD_MESSAGE ? *(void *const *)member : member);
    }
  }
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;
  for (size_t i = 0; i < unknown->count; i++) {
    const OnnxlUnknownField *field = &unknown->items[i];
    g_string_append_printf(out, "%s%u/%u:", separator, field->number, field->wire_type);
    separator = " ";
    if (field->wire_type == 2 || field->wire_type == 3)
      dump_string(out, field->bytes);
    else
      g_string_append_printf(out, "%" G_GUINT64_FORMAT, field->value);
  }
  g_string_append_c(out, '}');
}

#endif
