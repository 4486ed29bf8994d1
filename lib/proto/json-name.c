#include "proto/json-internal.h"

void
onnxl_json_field_name(const OnnxlFieldDescriptor *field, char name[JSON_NAME_SIZE])
{
  size_t n = 0;

  for (const char *at = field->name; *at && n + 1 < JSON_NAME_SIZE; at++)
    name[n++] = *at == '_' && at[1] ? g_ascii_toupper(*++at) : *at;
  name[n] = '\0';
}

/* There are two enums in onnx.proto: the types of attributes and where tensors lie. */
static bool
is_location(const OnnxlFieldDescriptor *field)
{
  return strcmp(field->name, "data_location") == 0;
}

bool
onnxl_json_enum_name(const OnnxlFieldDescriptor *field, int32_t value, char name[JSON_NAME_SIZE])
{
  static const char *const locations[] = { "DEFAULT", "EXTERNAL" };
  const char *text;

  if (is_location(field))
    text = value >= 0 && value < (int32_t)G_N_ELEMENTS(locations) ? locations[value] : NULL;
  else
    text = value == ONNXL_ATTRIBUTE_UNDEFINED ? "UNDEFINED" : onnxl_attribute_type_name(value);
  if (!text)
    return false;
  size_t n = 0;
  for (; text[n] && n + 1 < JSON_NAME_SIZE; n++)
    name[n] = g_ascii_toupper(text[n]); /* the text syntax has the same names in small letters */
  name[n] = '\0';
  return true;
}

bool
onnxl_json_enum_value(const OnnxlFieldDescriptor *field, OnnxlStr name, int32_t *ret_value)
{
  char text[JSON_NAME_SIZE];

  for (int32_t value = 0; value < ONNXL_N_ATTRIBUTE_TYPES; value++) {
    if (onnxl_json_enum_name(field, value, text) && onnxl_str_is(name, text)) {
      *ret_value = value;
      return true;
    }
  }
  return false;
}
