#include "proto/text-write-internal.h"

/* Fields of ValueInfoProto and TypeProto.*.Dimension that the text says. */
enum {
  VALUE_GIVEN = TEXT_FIELD(1) | TEXT_FIELD(2),     /* name, type */
  DIMENSION_GIVEN = TEXT_FIELD(1) | TEXT_FIELD(2), /* dim_value, dim_param */
};
/* Of TypeProto: everything but denotation. */
#define TYPE_GIVEN (~TEXT_FIELD(6))

void
onnxl_text_element_type(TextPrinter *p, bool present, int32_t type)
{
  const char *name = present ? onnxl_data_type_name(type) : "!?";

  if (name)
    onnxl_output_text(p->out, name);
  else
    onnxl_output_printf(p->out, "!%d", type);
}

static void
dimension(TextPrinter *p, const OnnxlDimension *dim)
{
  if (dim->has_dim_value)
    onnxl_output_int64(p->out, dim->dim_value);
  else if (dim->dim_param.data)
    onnxl_text_name(p, dim->dim_param);
  else
    onnxl_output_char(p->out, '?');
  if (dim->denotation.data || dim->message.unknown.count > 0)
    onnxl_text_block(p, &onnxl_dimension_descriptor, dim, DIMENSION_GIVEN);
}

/* T[dims]; no brackets: rank 0; empty ones: no shape. */
static void
tensor_type(TextPrinter *p, const OnnxlTensorType *type)
{
  onnxl_text_element_type(p, type->has_elem_type, type->elem_type);
  if (!type->shape) {
    onnxl_text_literal(p, "[]");
  } else if (type->shape->dim.count > 0) {
    for (size_t i = 0; i < type->shape->dim.count; i++) {
      onnxl_output_char(p->out, i == 0 ? '[' : ',');
      dimension(p, &type->shape->dim.items[i]);
    }
    onnxl_output_char(p->out, ']');
  }
}

/* "domain, name"; the domain is left out when absent, and so is the name when both are. */
static void
opaque_type(TextPrinter *p, const OnnxlOpaqueType *type)
{
  onnxl_text_literal(p, "opaque(");
  if (type->domain.data) {
    onnxl_text_dotted(p, type->domain);
    onnxl_text_literal(p, ", ");
    onnxl_text_name(p, type->name);
  } else if (type->name.data) {
    onnxl_text_dotted(p, type->name);
  }
  onnxl_output_char(p->out, ')');
}

static bool
has_unknown(const OnnxlMessage *message)
{
  return message->unknown.count > 0;
}

static bool
tensor_type_is_plain(const OnnxlTensorType *type)
{
  return !has_unknown(&type->message) && !(type->shape && has_unknown(&type->shape->message));
}

bool
onnxl_text_type_is_plain(const OnnxlType *type)
{
  if (type->tensor_type)
    return tensor_type_is_plain(type->tensor_type);
  if (type->sparse_tensor_type)
    return tensor_type_is_plain(type->sparse_tensor_type);
  if (type->sequence_type)
    return !has_unknown(&type->sequence_type->message);
  if (type->optional_type)
    return !has_unknown(&type->optional_type->message);
  if (type->map_type)
    return !has_unknown(&type->map_type->message);
  return type->opaque_type && !has_unknown(&type->opaque_type->message);
}

static void
element(TextPrinter *p, const char *word, const OnnxlType *type)
{
  onnxl_output_text(p->out, word);
  if (type)
    onnxl_text_type(p, type);
  onnxl_output_char(p->out, ')');
}

void
onnxl_text_type(TextPrinter *p, const OnnxlType *type)
{
  if (!onnxl_text_type_is_plain(type)) {
    onnxl_text_literal(p, "!{");
    onnxl_text_fields(p, &onnxl_type_descriptor, type, 0);
    onnxl_output_char(p->out, '}');
    return;
  }
  if (type->tensor_type) {
    tensor_type(p, type->tensor_type);
  } else if (type->sequence_type) {
    element(p, "seq(", type->sequence_type->elem_type);
  } else if (type->optional_type) {
    element(p, "optional(", type->optional_type->elem_type);
  } else if (type->map_type) {
    onnxl_text_literal(p, "map(");
    onnxl_text_element_type(p, type->map_type->has_key_type, type->map_type->key_type);
    element(p, ", ", type->map_type->value_type);
  } else if (type->sparse_tensor_type) {
    onnxl_text_literal(p, "sparse_tensor(");
    tensor_type(p, type->sparse_tensor_type);
    onnxl_output_char(p->out, ')');
  } else {
    opaque_type(p, type->opaque_type);
  }
  if (type->denotation.data || has_unknown(&type->message))
    onnxl_text_block(p, &onnxl_type_descriptor, type, TYPE_GIVEN);
}

void
onnxl_text_value(TextPrinter *p, const OnnxlValueInfo *value)
{
  if (value->type && onnxl_text_portable_value_type(p, value)) {
    onnxl_text_type(p, value->type);
    onnxl_output_char(p->out, ' ');
    onnxl_text_name(p, value->name);
  } else {
    onnxl_text_untyped_name(p, value->name);
  }
  if (value->doc_string.data || value->metadata_props.count > 0 || has_unknown(&value->message))
    onnxl_text_block(p, &onnxl_value_info_descriptor, value, VALUE_GIVEN);
}
