/* Portable text: what ONNX's own parser reads, and nothing else. What only the extension can say is left out with a
 * finding; what cannot be left out either (the name of an operator) is refused. */
#include "proto/text-write-internal.h"

#include "support/error.h"
#include "support/escape.h"

/* The name of the message, to tell it from others of its kind. */
static OnnxlStr
name_of(const OnnxlMessageDescriptor *descriptor, const void *message)
{
  static const char *const keys[] = { "name", "key" };

  for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
    const OnnxlFieldDescriptor *field = onnxl_field_by_name(descriptor, onnxl_str(keys[i]));
    if (field && field->kind == ONNXL_FIELD_STRING && onnxl_field_is_set(field, message))
      return *(const OnnxlStr *)onnxl_field_member(field, message);
  }
  return ONNXL_STR("");
}

void
onnxl_text_lossy(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, const char *what)
{
  OnnxlStr name = name_of(descriptor, message);

  if (p->quiet)
    return;
  if (name.size > 0)
    onnxl_diag(p->options->lossy, ONNXL_DIAG_LOSSY, NULL, "%s of %s '%.*s' is left out", what, descriptor->name,
               ONNXL_ARG(name));
  else
    onnxl_diag(p->options->lossy, ONNXL_DIAG_LOSSY, NULL, "%s of %s is left out", what, descriptor->name);
}

void
onnxl_text_lossy_fields(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, TextFields given)
{
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;

  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (!(given & TEXT_FIELD(field->number)) && onnxl_field_is_set(field, message))
      onnxl_text_lossy(p, descriptor, message, field->name);
  }
  for (size_t i = 0; i < unknown->count; i++) {
    char what[32];
    g_snprintf(what, sizeof what, "field %u", unknown->items[i].number);
    onnxl_text_lossy(p, descriptor, message, what);
  }
}

static void
refuse(TextPrinter *p, const char *what, OnnxlStr name)
{
  if (!p->error)
    onnxl_fail(&p->error, ONNXL_ERROR_UNSUPPORTED, "portable text cannot say %s '%.*s'", what, ONNXL_ARG(name));
}

/* The parser takes any bytes between quotes, but texts end at a NUL, and names are UTF-8. */
void
onnxl_text_portable_string(TextPrinter *p, OnnxlStr s)
{
  uint32_t c;

  for (size_t i = 0, n; i < s.size; i += n) {
    n = onnxl_utf8_next(onnxl_str_n(s.data + i, s.size - i), &c);
    if (n == 0 || c == 0) {
      refuse(p, "a string with NUL or bytes that are not UTF-8:", s);
      return;
    }
  }
}

void
onnxl_text_require_identifier(TextPrinter *p, const char *what, OnnxlStr name)
{
  if (p->options->lossy && name.size > 0 && !onnxl_text_is_identifier(name))
    refuse(p, what, name);
}

/* Whether the type says what it has in its own syntax: every element type known, every inner type there. */
static bool
type_is_portable(const OnnxlType *type)
{
  if (!type || !onnxl_text_type_is_plain(type))
    return false;
  if (type->tensor_type)
    return type->tensor_type->has_elem_type && onnxl_data_type_name(type->tensor_type->elem_type);
  if (type->sparse_tensor_type)
    return type->sparse_tensor_type->has_elem_type && onnxl_data_type_name(type->sparse_tensor_type->elem_type);
  if (type->sequence_type)
    return type_is_portable(type->sequence_type->elem_type);
  if (type->optional_type)
    return type_is_portable(type->optional_type->elem_type);
  if (type->map_type)
    return type->map_type->has_key_type && onnxl_data_type_name(type->map_type->key_type) &&
           type_is_portable(type->map_type->value_type);
  return onnxl_text_is_identifier(type->opaque_type->name) &&
         (!type->opaque_type->domain.data || onnxl_text_is_identifier(type->opaque_type->domain));
}

bool
onnxl_text_portable_value_type(TextPrinter *p, const OnnxlValueInfo *value)
{
  if (!p->options->lossy || type_is_portable(value->type))
    return true;
  onnxl_text_lossy(p, &onnxl_value_info_descriptor, value, "type");
  return false;
}

/* A tensor says its values if its element type is known. */
static bool
tensor_is_portable(const OnnxlTensor *tensor)
{
  return tensor->has_data_type && onnxl_data_type_name(tensor->data_type) &&
         !(onnxl_tensor_is_external(tensor) && tensor->external_data.count == 0);
}

bool
onnxl_text_portable_tensor(TextPrinter *p, const OnnxlTensor *tensor)
{
  if (!p->options->lossy || tensor_is_portable(tensor))
    return true;
  refuse(p, "the element type or location of tensor", tensor->name);
  return false;
}

bool
onnxl_text_portable_attribute(const OnnxlAttribute *a, int32_t type, bool in_node)
{
  switch (type) {
  case ONNXL_ATTRIBUTE_FLOAT:
  case ONNXL_ATTRIBUTE_INT:
  case ONNXL_ATTRIBUTE_STRING:
  case ONNXL_ATTRIBUTE_GRAPH:
  case ONNXL_ATTRIBUTE_FLOATS:
  case ONNXL_ATTRIBUTE_INTS:
  case ONNXL_ATTRIBUTE_STRINGS:
    return true;
  case ONNXL_ATTRIBUTE_TENSOR:
    return tensor_is_portable(a->t);
  case ONNXL_ATTRIBUTE_TYPE_PROTO:
    return type_is_portable(a->tp);
  case ONNXL_ATTRIBUTE_UNDEFINED: /* a reference, an empty list of numbers or strings, a parameter of a function */
    return a->has_type && onnxl_attribute_type_name(a->type) &&
           (a->ref_attr_name.data || !in_node || a->type == ONNXL_ATTRIBUTE_FLOATS || a->type == ONNXL_ATTRIBUTE_INTS ||
            a->type == ONNXL_ATTRIBUTE_STRINGS);
  default: /* lists of tensors, graphs, types; sparse tensors */
    return false;
  }
}
