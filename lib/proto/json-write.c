#include "proto/json.h"

#include "proto/json-internal.h"
#include "proto/packed.h"
#include "support/error.h"
#include "support/float-formats.h"
#include "support/json.h"

typedef struct Writer {
  OnnxlJson json;
  uint64_t unknown; /* fields that were left out */
  uint64_t broken;  /* strings that are not UTF-8 */
  uint64_t nans;    /* NaNs with a sign or payload, which "NaN" does not have */
  bool malformed;   /* a list of numbers ends inside of one */
} Writer;

/* Each node, initializer and so on of the main graph gets a line. */
enum { BREAK_DEPTH = 3 };

static void
int64_value(Writer *w, int64_t value)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, value);
  onnxl_json_text(&w->json, text);
}

static void
uint64_value(Writer *w, uint64_t value)
{
  char text[24];
  g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, value);
  onnxl_json_text(&w->json, text);
}

/* True when the value had to be written as a word. */
static bool
special_value(Writer *w, double value)
{
  if (value - value == 0)
    return false;
  onnxl_json_text(&w->json, value != value ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  return true;
}

static void
float_value(Writer *w, float value)
{
  w->nans += value != value && onnxl_float_bits(value) != 0x7fc00000;
  if (!special_value(w, (double)value))
    onnxl_json_float(&w->json, value);
}

static void
double_value(Writer *w, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  w->nans += value != value && bits != UINT64_C(0x7ff8000000000000);
  if (!special_value(w, value))
    onnxl_json_double(&w->json, value);
}

static void
string_value(Writer *w, const OnnxlFieldDescriptor *field, OnnxlStr s)
{
  if (field->kind == ONNXL_FIELD_BYTES) {
    onnxl_json_base64(&w->json, s);
    return;
  }
  w->broken += !onnxl_str_is_utf8(s);
  onnxl_json_string(&w->json, s);
}

static void
packed_values(Writer *w, OnnxlFieldKind kind, OnnxlPacked packed)
{
  const char *at = packed.bytes.data;
  const char *end = at ? at + packed.bytes.size : at;

  onnxl_json_begin_array(&w->json);
  while (at < end) {
    uint64_t value;
    float f;
    double d;
    if (kind == ONNXL_FIELD_PACKED_FLOAT && (size_t)(end - at) >= sizeof f) {
      memcpy(&f, at, sizeof f);
      at += sizeof f;
      float_value(w, f);
    } else if (kind == ONNXL_FIELD_PACKED_DOUBLE && (size_t)(end - at) >= sizeof d) {
      memcpy(&d, at, sizeof d);
      at += sizeof d;
      double_value(w, d);
    } else if (kind == ONNXL_FIELD_PACKED_FLOAT || kind == ONNXL_FIELD_PACKED_DOUBLE ||
               !onnxl_packed_varint(&at, end, &value)) {
      w->malformed = true;
      break;
    } else if (kind == ONNXL_FIELD_PACKED_INT32) {
      onnxl_json_int64(&w->json, (int32_t)value);
    } else if (kind == ONNXL_FIELD_PACKED_INT64) {
      int64_value(w, (int64_t)value);
    } else {
      uint64_value(w, value);
    }
  }
  onnxl_json_end_array(&w->json);
}

static void message_value(Writer *w, const OnnxlMessageDescriptor *descriptor, const void *message);

static void
repeated_values(Writer *w, const OnnxlFieldDescriptor *field, const void *member)
{
  const OnnxlStrList *strings = member;
  const OnnxlFloatList *floats = member;
  const OnnxlInt64List *ints = member;
  const struct {
    char *items;
    size_t count;
  } *messages = member;

  onnxl_json_begin_array(&w->json);
  for (size_t i = 0; i < messages->count; i++) {
    switch (field->kind) {
    case ONNXL_FIELD_STRING:
    case ONNXL_FIELD_BYTES:
      string_value(w, field, strings->items[i]);
      break;
    case ONNXL_FIELD_FLOAT:
      float_value(w, floats->items[i]);
      break;
    case ONNXL_FIELD_MESSAGE:
      message_value(w, field->message, messages->items + i * field->message->size);
      break;
    default:
      int64_value(w, ints->items[i]);
      break;
    }
  }
  onnxl_json_end_array(&w->json);
}

static void
field_value(Writer *w, const OnnxlFieldDescriptor *field, const void *message)
{
  const void *member = onnxl_field_member(field, message);
  char name[JSON_NAME_SIZE];

  if (field->repeated) {
    repeated_values(w, field, member);
    return;
  }
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    string_value(w, field, *(const OnnxlStr *)member);
    break;
  case ONNXL_FIELD_ENUM:
    if (onnxl_json_enum_name(field, *(const int32_t *)member, name))
      onnxl_json_text(&w->json, name);
    else
      onnxl_json_int64(&w->json, *(const int32_t *)member);
    break;
  case ONNXL_FIELD_INT32:
    onnxl_json_int64(&w->json, *(const int32_t *)member);
    break;
  case ONNXL_FIELD_INT64:
    int64_value(w, *(const int64_t *)member);
    break;
  case ONNXL_FIELD_FLOAT:
    float_value(w, *(const float *)member);
    break;
  case ONNXL_FIELD_MESSAGE:
    message_value(w, field->message, *(const void *const *)member);
    break;
  default:
    packed_values(w, field->kind, *(const OnnxlPacked *)member);
    break;
  }
}

static void
message_value(Writer *w, const OnnxlMessageDescriptor *descriptor, const void *message)
{
  char name[JSON_NAME_SIZE];

  w->unknown += ((const OnnxlMessage *)message)->unknown.count;
  onnxl_json_begin_object(&w->json);
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (!onnxl_field_is_set(field, message))
      continue;
    onnxl_json_field_name(field, name);
    onnxl_json_key(&w->json, name);
    field_value(w, field, message);
  }
  onnxl_json_end_object(&w->json);
}

bool
onnxl_model_to_json(OnnxlOutput *out, const OnnxlModel *model, OnnxlDiagSink *sink, GError **error)
{
  Writer w = { 0 };

  onnxl_json_init(&w.json, out, BREAK_DEPTH);
  message_value(&w, &onnxl_model_descriptor, &model->proto);
  onnxl_json_end(&w.json);
  if (w.unknown > 0)
    onnxl_diag(sink, ONNXL_DIAG_LOSSY, NULL,
               "JSON has no place for %" G_GUINT64_FORMAT " unknown fields, which are left out", w.unknown);
  if (w.broken > 0)
    onnxl_diag(sink, ONNXL_DIAG_LOSSY, NULL,
               "%" G_GUINT64_FORMAT " strings are not UTF-8; what JSON cannot hold is replaced by U+FFFD", w.broken);
  if (w.nans > 0)
    onnxl_diag(sink, ONNXL_DIAG_LOSSY, NULL,
               "%" G_GUINT64_FORMAT " NaNs have a sign or bits of their own, which are left out", w.nans);
  return !w.malformed ||
         onnxl_fail(error, ONNXL_ERROR_INVALID, "a list of numbers is malformed: it ends inside of a value");
}
