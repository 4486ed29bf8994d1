#include "proto/json.h"

#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "proto/json-internal.h"
#include "proto/packed.h"
#include "support/error.h"
#include "support/number.h"

typedef struct Reader {
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  GString *path;  /* of the value being read */
  uint32_t depth; /* messages that may still be entered */
  bool too_deep;
} Reader;

/* What jansson may still allocate: a small text can describe very many values. */
static _Thread_local size_t json_left;
static _Thread_local bool json_refused; /* it wanted more; it does not always say so */

static void *
json_allocate(size_t size)
{
  void *memory = size <= json_left ? malloc(size) : NULL;

  if (memory)
    json_left -= MIN(json_left, malloc_usable_size(memory));
  else
    json_refused = true;
  return memory;
}

static void
json_release(void *memory)
{
  if (memory)
    json_left += malloc_usable_size(memory);
  free(memory);
}

G_GNUC_PRINTF(2, 3)
static bool
wrong(Reader *r, const char *format, ...)
{
  OnnxlLocation where = { .path = r->path->len > 0 ? r->path->str : "/" };
  va_list args;

  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  onnxl_diag(r->sink, ONNXL_DIAG_JSON, &where, "%s", message);
  return false;
}

static const char *
kind_of(const json_t *value)
{
  static const char *const names[] = {
    [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a string", [JSON_INTEGER] = "a number",
    [JSON_REAL] = "a number",    [JSON_TRUE] = "true",    [JSON_FALSE] = "false",     [JSON_NULL] = "null",
  };
  return names[json_typeof(value)];
}

static OnnxlStr
text_of(const json_t *value)
{
  return onnxl_str_n(json_string_value(value), json_string_length(value));
}

/* A copy in the arena; an empty string is present too. */
static bool
copy_bytes(Reader *r, const void *bytes, size_t size, OnnxlStr *ret_copy)
{
  char *copy = onnxl_arena_alloc(r->arena, size);

  if (!copy)
    return false;
  if (size > 0)
    memcpy(copy, bytes, size);
  *ret_copy = onnxl_str_n(copy, size);
  return true;
}

static bool
read_string(Reader *r, const json_t *value, OnnxlStr *ret_string)
{
  if (!json_is_string(value))
    return wrong(r, "expected a string, found %s", kind_of(value));
  return copy_bytes(r, json_string_value(value), json_string_length(value), ret_string);
}

/* Value of a base64 digit, in the usual or the URL alphabet; -1 for another character. */
static int
base64_digit(char c)
{
  if (c >= 'A' && c <= 'Z')
    return c - 'A';
  if (c >= 'a' && c <= 'z')
    return c - 'a' + 26;
  if (c >= '0' && c <= '9')
    return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool
read_base64(Reader *r, const json_t *value, OnnxlStr *ret_bytes)
{
  if (!json_is_string(value))
    return wrong(r, "expected bytes in base64, found %s", kind_of(value));
  OnnxlStr text = text_of(value);
  while (text.size > 0 && text.data[text.size - 1] == '=')
    text.size--;
  char *bytes = onnxl_arena_alloc(r->arena, text.size / 4 * 3 + 3);
  if (!bytes)
    return false;
  size_t n = 0;
  uint32_t bits = 0;
  for (size_t i = 0; i < text.size; i++) {
    int digit = base64_digit(text.data[i]);
    if (digit < 0)
      return wrong(r, "character %zu is none of base64", i + 1);
    bits = bits << 6 | (uint32_t)digit;
    if (i % 4 > 0)
      bytes[n++] = (char)(bits >> (6 - 2 * (i % 4)));
  }
  if (text.size % 4 == 1)
    return wrong(r, "base64 of %zu digits is cut", text.size);
  *ret_bytes = onnxl_str_n(bytes, n);
  return true;
}

/* A whole number as a number or as a string; numbers such as 1e3 are whole too. */
static bool
read_int64(Reader *r, const json_t *value, int64_t *ret_value)
{
  if (json_is_integer(value)) {
    *ret_value = json_integer_value(value);
    return true;
  }
  if (json_is_string(value) && onnxl_parse_int64(text_of(value), ret_value) == ONNXL_NUMBER_OK)
    return true;
  if (json_is_real(value)) {
    double number = json_real_value(value);
    if (number == floor(number) && number >= -0x1p63 && number < 0x1p63) {
      *ret_value = (int64_t)number;
      return true;
    }
  }
  return wrong(r, "expected an integer of 64 bits, found %s", kind_of(value));
}

static bool
read_uint64(Reader *r, const json_t *value, uint64_t *ret_value)
{
  int64_t number;

  if (json_is_string(value) && onnxl_parse_uint64(text_of(value), ret_value) == ONNXL_NUMBER_OK)
    return true;
  if (!read_int64(r, value, &number))
    return false;
  if (number < 0)
    return wrong(r, "%" G_GINT64_FORMAT " is negative", number);
  *ret_value = (uint64_t)number;
  return true;
}

static bool
read_int32(Reader *r, const json_t *value, int32_t *ret_value)
{
  int64_t number;

  if (!read_int64(r, value, &number))
    return false;
  if (number < INT32_MIN || number > INT32_MAX)
    return wrong(r, "%" G_GINT64_FORMAT " does not fit in 32 bits", number);
  *ret_value = (int32_t)number;
  return true;
}

static bool
read_enum(Reader *r, const OnnxlFieldDescriptor *field, const json_t *value, int32_t *ret_value)
{
  if (!json_is_string(value))
    return read_int32(r, value, ret_value);
  return onnxl_json_enum_value(field, text_of(value), ret_value) ||
         wrong(r, "there is no value \"%.*s\"", ONNXL_ARG(text_of(value)));
}

static bool
read_double(Reader *r, const json_t *value, double *ret_value)
{
  if (json_is_number(value)) {
    *ret_value = json_number_value(value);
    return true;
  }
  if (json_is_string(value) && onnxl_parse_double(text_of(value), ret_value) == ONNXL_NUMBER_OK)
    return true;
  return wrong(r, "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found %s", kind_of(value));
}

static bool
read_float(Reader *r, const json_t *value, float *ret_value)
{
  double number;

  if (json_is_string(value) && onnxl_parse_float(text_of(value), ret_value) == ONNXL_NUMBER_OK)
    return true;
  if (!read_double(r, value, &number))
    return false;
  *ret_value = (float)number;
  if (isinf(*ret_value) && !isinf(number))
    return wrong(r, "%g does not fit in float", number);
  return true;
}

static bool read_message(Reader *r, const OnnxlMessageDescriptor *descriptor, const json_t *value, void *message);

static bool
read_packed(Reader *r, const OnnxlFieldDescriptor *field, const json_t *value, OnnxlPackedBuilder *builder)
{
  uint64_t bits = 0;
  int32_t narrow = 0;
  double d;
  float f;

  switch (field->kind) {
  case ONNXL_FIELD_PACKED_FLOAT:
    return read_float(r, value, &f) && onnxl_packed_append_bytes(builder, &f, sizeof f);
  case ONNXL_FIELD_PACKED_DOUBLE:
    return read_double(r, value, &d) && onnxl_packed_append_bytes(builder, &d, sizeof d);
  case ONNXL_FIELD_PACKED_INT32:
    if (!read_int32(r, value, &narrow))
      return false;
    bits = (uint64_t)narrow;
    break;
  case ONNXL_FIELD_PACKED_INT64:
    if (!read_int64(r, value, (int64_t *)&bits))
      return false;
    break;
  default:
    if (!read_uint64(r, value, &bits))
      return false;
  }
  return onnxl_packed_append_varint(builder, bits);
}

/* One item of a list whose items have been made room for. */
static bool
read_item(Reader *r, const OnnxlFieldDescriptor *field, const json_t *value, void *items, size_t i)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
    return read_string(r, value, (OnnxlStr *)items + i);
  case ONNXL_FIELD_BYTES:
    return read_base64(r, value, (OnnxlStr *)items + i);
  case ONNXL_FIELD_FLOAT:
    return read_float(r, value, (float *)items + i);
  case ONNXL_FIELD_MESSAGE:
    return read_message(r, field->message, value, (char *)items + i * field->message->size);
  default:
    return read_int64(r, value, (int64_t *)items + i);
  }
}

static bool
read_list(Reader *r, const OnnxlFieldDescriptor *field, const json_t *value, void *member)
{
  OnnxlPackedBuilder builder = { .arena = r->arena };
  OnnxlStrList *list = member;
  size_t count = json_array_size(value), length = r->path->len;
  bool ok = true;

  if (!json_is_array(value))
    return wrong(r, "expected a list, found %s", kind_of(value));
  if (field->repeated && count > 0 &&
      !onnxl_list_extend(r->arena, (void **)&list->items, &list->count, onnxl_field_item_size(field), count))
    return false;
  for (size_t i = 0; i < count; i++) {
    const json_t *item = json_array_get(value, i);
    g_string_append_printf(r->path, "[%zu]", i);
    ok &= field->repeated ? read_item(r, field, item, list->items, i) : read_packed(r, field, item, &builder);
    g_string_truncate(r->path, length);
    if (onnxl_arena_exhausted(r->arena) || r->too_deep)
      return false;
  }
  if (!field->repeated)
    *(OnnxlPacked *)member = onnxl_packed_finish(&builder);
  return ok;
}

static bool
read_field(Reader *r, const OnnxlFieldDescriptor *field, const json_t *value, void *message)
{
  void *member = onnxl_field_member(field, message);

  if (field->repeated || field->kind >= ONNXL_FIELD_PACKED_FLOAT)
    return read_list(r, field, value, member);
  if (field->has_offset)
    *(bool *)((char *)message + field->has_offset) = true;
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
    return read_string(r, value, member);
  case ONNXL_FIELD_BYTES:
    return read_base64(r, value, member);
  case ONNXL_FIELD_INT32:
    return read_int32(r, value, member);
  case ONNXL_FIELD_ENUM:
    return read_enum(r, field, value, member);
  case ONNXL_FIELD_INT64:
    return read_int64(r, value, member);
  case ONNXL_FIELD_FLOAT:
    return read_float(r, value, member);
  default: {
    void *inner = onnxl_arena_alloc(r->arena, field->message->size);
    *(void **)member = inner;
    return inner && read_message(r, field->message, value, inner);
  }
  }
}

/* The field of a name, as onnx.proto or as JSON has it. */
static const OnnxlFieldDescriptor *
find_field(const OnnxlMessageDescriptor *descriptor, const char *key)
{
  char name[JSON_NAME_SIZE];

  for (size_t i = 0; i < descriptor->n_fields; i++) {
    onnxl_json_field_name(&descriptor->fields[i], name);
    if (strcmp(key, name) == 0 || strcmp(key, descriptor->fields[i].name) == 0)
      return &descriptor->fields[i];
  }
  return NULL;
}

static bool
read_member(Reader *r, const OnnxlMessageDescriptor *descriptor, const char *key, const json_t *value, void *message)
{
  const OnnxlFieldDescriptor *field = find_field(descriptor, key);

  if (!field)
    return wrong(r, "%s has no field of this name", descriptor->name);
  if (json_is_null(value))
    return true; /* the same as not given */
  if (onnxl_field_is_set(field, message))
    return wrong(r, "the field is given twice, under both of its names");
  for (size_t i = 0; field->oneof && i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *other = &descriptor->fields[i];
    if (other->oneof == field->oneof && onnxl_field_is_set(other, message))
      return wrong(r, "%s and %s exclude each other", field->name, other->name);
  }
  return read_field(r, field, value, message);
}

static bool
read_message(Reader *r, const OnnxlMessageDescriptor *descriptor, const json_t *value, void *message)
{
  size_t length = r->path->len;
  const char *key;
  json_t *member;
  bool ok = true;

  if (!json_is_object(value))
    return wrong(r, "expected an object, found %s", kind_of(value));
  if (r->depth == 0) {
    r->too_deep = true;
    return false;
  }
  r->depth--;
  json_object_foreach((json_t *)value, key, member)
  {
    g_string_append_printf(r->path, "%s%s", length > 0 ? "." : "", key);
    ok &= read_member(r, descriptor, key, member, message);
    g_string_truncate(r->path, length);
    if (onnxl_arena_exhausted(r->arena) || r->too_deep)
      break;
  }
  r->depth++;
  return ok;
}

/* The tree of the text, or NULL with a finding or an error. */
static json_t *
parse(OnnxlStr text, size_t budget, OnnxlDiagSink *sink, GError **error)
{
  json_error_t problem;

  json_left = budget;
  json_refused = false;
  json_set_alloc_funcs(json_allocate, json_release);
  json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &problem);
  if (root)
    return root;
  if (json_refused) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the JSON text needs more than %zu bytes of metadata (--max-metadata)",
               budget);
    return NULL;
  }
  if (json_error_code(&problem) == json_error_stack_overflow) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the JSON text is nested too deeply");
    return NULL;
  }
  OnnxlLocation where = { .line = (uint32_t)MAX(problem.line, 1), .column = (uint32_t)MAX(problem.column, 1) };
  onnxl_diag_sink_set_text(sink, text);
  onnxl_diag(sink, ONNXL_DIAG_JSON, &where, "%s", problem.text);
  onnxl_diag_sink_set_text(sink, (OnnxlStr){ NULL, 0 });
  onnxl_fail(error, ONNXL_ERROR_INVALID, "the JSON text is malformed");
  return NULL;
}

bool
onnxl_model_from_json(OnnxlStr text, uint32_t max_depth, OnnxlModel *model, OnnxlDiagSink *sink, GError **error)
{
  size_t budget = onnxl_arena_budget(model->arena);
  /* The depth limit counts messages below the model itself. */
  Reader r = { .arena = model->arena, .sink = sink, .depth = max_depth < UINT32_MAX ? max_depth + 1 : max_depth };

  if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
    text = onnxl_str_n(text.data + 3, text.size - 3);
  json_t *root = parse(text, budget, sink, error);
  if (!root)
    return false;
  r.path = g_string_new(NULL);
  bool ok = read_message(&r, &onnxl_model_descriptor, root, &model->proto);
  json_decref(root);
  g_string_free(r.path, TRUE);
  if (r.too_deep)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the model is nested deeper than %u messages (--max-depth)", max_depth);
  if (onnxl_arena_exhausted(model->arena))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the model needs more than %zu bytes of metadata (--max-metadata)",
                      budget);
  return ok || onnxl_fail(error, ONNXL_ERROR_INVALID, "the JSON text is not a model");
}
