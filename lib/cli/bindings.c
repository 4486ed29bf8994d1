#include "cli/bindings.h"

#include "support/error.h"
#include "support/number.h"

bool
onnxl_binding_split(const char *text, OnnxlStr *ret_name, const char **ret_value)
{
  const char *equals = strrchr(text, '=');
  if (!equals || equals == text)
    return false;
  *ret_name = onnxl_str_n(text, (size_t)(equals - text));
  *ret_value = equals + 1;
  return true;
}

static OnnxlBinding *
find(OnnxlBindings *bindings, OnnxlStr name)
{
  for (size_t i = 0; i < bindings->count; i++)
    if (onnxl_str_equal(bindings->items[i].name, name))
      return &bindings->items[i];
  return NULL;
}

static OnnxlBinding *
add(OnnxlBindings *bindings, OnnxlStr name)
{
  bindings->items = g_renew(OnnxlBinding, bindings->items, bindings->count + 1);
  bindings->items[bindings->count] = (OnnxlBinding){ .name = name };
  return &bindings->items[bindings->count++];
}

static bool
add_value(OnnxlBinding *binding, const char *option, const char *text, OnnxlStr number, GError **error)
{
  int64_t value;
  switch (onnxl_parse_int64(number, &value)) {
  case ONNXL_NUMBER_SYNTAX:
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: '%.*s' is not an integer", option, text, ONNXL_ARG(number));
  case ONNXL_NUMBER_RANGE:
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: '%.*s' does not fit in int64", option, text, ONNXL_ARG(number));
  case ONNXL_NUMBER_OK:
    break;
  }
  if (value < 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: a dimension is not negative", option, text);
  binding->values = g_renew(int64_t, binding->values, binding->n_values + 1);
  binding->values[binding->n_values++] = value;
  return true;
}

static bool
parse_one(OnnxlBindings *bindings, const char *option, const char *text, bool many, GError **error)
{
  OnnxlStr name;
  const char *value;
  if (!onnxl_binding_split(text, &name, &value))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: expected NAME=VALUE", option, text);
  OnnxlBinding *binding = find(bindings, name);
  if (binding && !many)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: '%.*s' is bound twice", option, text, ONNXL_ARG(name));
  if (!binding)
    binding = add(bindings, name);
  for (;;) {
    size_t size = many ? strcspn(value, ",") : strlen(value);
    if (!add_value(binding, option, text, onnxl_str_n(value, size), error))
      return false;
    if (value[size] == '\0')
      return true;
    value += size + 1;
  }
}

bool
onnxl_bindings_parse(OnnxlBindings *ret_bindings, const char *option, const OnnxlStringList *texts, bool many,
                     GError **error)
{
  OnnxlBindings bindings = { NULL, 0 };
  for (size_t i = 0; i < texts->count; i++) {
    if (!parse_one(&bindings, option, texts->items[i], many, error)) {
      onnxl_bindings_clear(&bindings);
      return false;
    }
  }
  *ret_bindings = bindings;
  return true;
}

bool
onnxl_binding_check_free(OnnxlStr name, const char *option, const OnnxlStringList *texts, const char *other,
                         GError **error)
{
  OnnxlStr bound;
  const char *value;
  for (size_t i = 0; i < texts->count; i++)
    if (onnxl_binding_split(texts->items[i], &bound, &value) && onnxl_str_equal(bound, name))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %.*s: %s %s gives that symbol a value", option, ONNXL_ARG(name),
                        other, texts->items[i]);
  return true;
}

void
onnxl_bindings_clear(OnnxlBindings *bindings)
{
  for (size_t i = 0; i < bindings->count; i++)
    g_free(bindings->items[i].values);
  g_free(bindings->items);
  *bindings = (OnnxlBindings){ NULL, 0 };
}
