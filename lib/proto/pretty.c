#include "proto/pretty.h"

#include "support/escape.h"
#include "support/number.h"

void
onnxl_pretty_quoted(OnnxlOutput *out, OnnxlStr text)
{
  bool single = text.size > 0 && memchr(text.data, '\'', text.size);
  char quote = single && !memchr(text.data, '"', text.size) ? '"' : '\'';

  onnxl_output_char(out, quote);
  for (size_t i = 0; i < text.size;) {
    uint8_t byte = (uint8_t)text.data[i];
    uint32_t c = byte;
    size_t size = byte < 0x80 ? 1 : onnxl_utf8_next(onnxl_str_n(text.data + i, text.size - i), &c);
    if (byte == (uint8_t)quote || byte == '\\')
      onnxl_output_printf(out, "\\%c", byte);
    else if (byte == '\n' || byte == '\r' || byte == '\t')
      onnxl_output_printf(out, "\\%c", byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't');
    else if (size == 0 || byte < ' ' || byte == 0x7f)
      onnxl_output_printf(out, "\\x%02x", byte);
    else if (size > 1 && !g_unichar_isprint(c))
      onnxl_output_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    else
      onnxl_output_write(out, text.data + i, size);
    i += MAX(size, 1);
  }
  onnxl_output_char(out, quote);
}

static void
element_type(OnnxlOutput *out, int32_t type)
{
  const char *name = onnxl_data_type_name(type);
  onnxl_output_text(out, name ? name : "undefined");
}

/* The reference listing does not tell a scalar from a value without a shape; both have empty brackets. */
static void
tensor_type(OnnxlOutput *out, const OnnxlTensorType *type)
{
  element_type(out, type->elem_type);
  onnxl_output_char(out, '[');
  for (size_t i = 0; type->shape && i < type->shape->dim.count; i++) {
    const OnnxlDimension *dim = &type->shape->dim.items[i];
    if (i > 0)
      onnxl_output_char(out, ',');
    if (dim->dim_param.size > 0)
      onnxl_output_escaped(out, dim->dim_param);
    else
      onnxl_output_int64(out, dim->has_dim_value ? dim->dim_value : 0); /* nothing known: 0, as in the reference */
  }
  onnxl_output_char(out, ']');
}

static void
nested_type(OnnxlOutput *out, const char *word, const OnnxlType *type)
{
  onnxl_output_text(out, word);
  if (type)
    onnxl_pretty_type(out, type);
  onnxl_output_char(out, ')');
}

void
onnxl_pretty_type(OnnxlOutput *out, const OnnxlType *type)
{
  if (type->tensor_type) {
    tensor_type(out, type->tensor_type);
  } else if (type->sparse_tensor_type) {
    onnxl_output_text(out, "sparse_tensor(");
    tensor_type(out, type->sparse_tensor_type);
    onnxl_output_char(out, ')');
  } else if (type->sequence_type) {
    nested_type(out, "seq(", type->sequence_type->elem_type);
  } else if (type->optional_type) {
    nested_type(out, "optional(", type->optional_type->elem_type);
  } else if (type->map_type) {
    onnxl_output_text(out, "map(");
    element_type(out, type->map_type->key_type);
    nested_type(out, ", ", type->map_type->value_type);
  } else if (type->opaque_type) {
    onnxl_output_text(out, "opaque(");
    onnxl_output_escaped(out, type->opaque_type->domain);
    onnxl_output_text(out, ", ");
    onnxl_output_escaped(out, type->opaque_type->name);
    onnxl_output_char(out, ')');
  }
}

/* "input: float[N,4] x" */
static void
values(OnnxlOutput *out, const char *what, const OnnxlValueInfoList *list)
{
  for (size_t i = 0; i < list->count; i++) {
    onnxl_output_text(out, what);
    if (list->items[i].type) {
      uint64_t start = onnxl_output_position(out);
      onnxl_pretty_type(out, list->items[i].type);
      if (onnxl_output_position(out) > start)
        onnxl_output_char(out, ' ');
    }
    onnxl_output_escaped(out, list->items[i].name);
    onnxl_output_char(out, '\n');
  }
}

static void
untyped_values(OnnxlOutput *out, const char *what, const OnnxlStrList *list)
{
  for (size_t i = 0; i < list->count; i++) {
    onnxl_output_text(out, what);
    onnxl_output_escaped(out, list->items[i]);
    onnxl_output_char(out, '\n');
  }
}

static void
dims(OnnxlOutput *out, const OnnxlInt64List *list, char separator)
{
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0)
      onnxl_output_char(out, separator);
    onnxl_output_int64(out, list->items[i]);
  }
}

static void
names(OnnxlOutput *out, const OnnxlStrList *list)
{
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0)
      onnxl_output_text(out, ", ");
    onnxl_output_escaped(out, list->items[i]);
  }
}

static void
tensor(OnnxlOutput *out, const OnnxlTensor *t)
{
  onnxl_output_printf(out, "onnx.TensorProto:%d:", t->data_type);
  dims(out, &t->dims, 'x');
  onnxl_output_char(out, ':');
  onnxl_output_escaped(out, t->name);
}

static void
float_value(OnnxlOutput *out, float value)
{
  if (value != value)
    onnxl_output_text(out, "nan"); /* Python does not show the sign */
  else
    onnxl_output_double(out, (double)value);
}

/* [a, b] of whatever writes item i. */
#define WRITE_LIST(out, n, write_item)  \
  do {                                  \
    onnxl_output_char((out), '[');      \
    for (size_t i = 0; i < (n); i++) {  \
      if (i > 0)                        \
        onnxl_output_text((out), ", "); \
      write_item;                       \
    }                                   \
    onnxl_output_char((out), ']');      \
  } while (0)

static void
attribute(OnnxlOutput *out, const OnnxlAttribute *a)
{
  onnxl_output_escaped(out, a->name);
  onnxl_output_char(out, '=');
  if (a->has_f)
    float_value(out, a->f);
  else if (a->has_i)
    onnxl_output_int64(out, a->i);
  else if (a->s.data)
    onnxl_pretty_quoted(out, a->s);
  else if (a->t)
    tensor(out, a->t);
  else if (a->g)
    onnxl_output_text(out, "<graph>");
  else if (a->graphs.count > 0)
    onnxl_output_printf(out, "<%zu graphs>", a->graphs.count);
  else if (a->sparse_tensor)
    onnxl_output_text(out, "<sparse_tensor>");
  else if (a->sparse_tensors.count > 0)
    onnxl_output_printf(out, "<%zu sparse_tensors>", a->sparse_tensors.count);
  else if (a->tp)
    onnxl_pretty_type(out, a->tp);
  else if (a->floats.count > 0)
    WRITE_LIST(out, a->floats.count, float_value(out, a->floats.items[i]));
  else if (a->strings.count > 0)
    WRITE_LIST(out, a->strings.count, onnxl_pretty_quoted(out, a->strings.items[i]));
  else if (a->tensors.count > 0)
    WRITE_LIST(out, a->tensors.count, tensor(out, &a->tensors.items[i]));
  else if (a->type_protos.count > 0)
    WRITE_LIST(out, a->type_protos.count, onnxl_pretty_type(out, &a->type_protos.items[i]));
  else
    WRITE_LIST(out, a->ints.count, onnxl_output_int64(out, a->ints.items[i])); /* also an empty list of any kind */
}

/* One attribute stands on the node's line, several on lines of their own below it. References are not shown. */
static void
attributes(OnnxlOutput *out, const OnnxlNode *node, uint32_t indent, bool own_lines)
{
  size_t shown = 0;

  for (size_t i = 0; i < node->attribute.count; i++)
    shown += node->attribute.items[i].ref_attr_name.size == 0;
  if (shown == 0 || own_lines != (shown > 1))
    return;
  for (size_t i = 0; i < node->attribute.count; i++) {
    if (node->attribute.items[i].ref_attr_name.size > 0)
      continue;
    if (own_lines)
      onnxl_output_spaces(out, indent + 4);
    else
      onnxl_output_text(out, "  ---  ");
    attribute(out, &node->attribute.items[i]);
    if (own_lines)
      onnxl_output_char(out, '\n');
  }
}

/* "0: Mul(x, two) -> z" */
static void
nodes(OnnxlOutput *out, const OnnxlFunction *function, const OnnxlNodeList *list, const OnnxlPrettyOptions *options)
{
  for (size_t i = 0; i < list->count; i++) {
    const OnnxlNode *node = &list->items[i];
    OnnxlStr domain = onnxl_domain_normal(node->domain);
    uint64_t start = onnxl_output_position(out);
    onnxl_output_uint64(out, i);
    onnxl_output_text(out, ": ");
    uint32_t indent = (uint32_t)(onnxl_output_position(out) - start);
    if (domain.size > 0) {
      onnxl_output_escaped(out, domain);
      onnxl_output_char(out, '.');
    }
    onnxl_output_escaped(out, node->op_type);
    onnxl_output_char(out, '(');
    names(out, &node->input);
    onnxl_output_text(out, ") -> ");
    names(out, &node->output);
    if (options->with_attributes)
      attributes(out, node, indent, false);
    if (options->suffix)
      options->suffix(options->suffix_data, function, i, out);
    onnxl_output_char(out, '\n');
    if (options->with_attributes)
      attributes(out, node, indent, true);
  }
}

void
onnxl_pretty_write(OnnxlOutput *out, const OnnxlModel *model, const OnnxlPrettyOptions *options)
{
  const OnnxlModelProto *proto = &model->proto;
  const OnnxlGraph *graph = proto->graph;

  for (size_t i = 0; i < proto->opset_import.count; i++) {
    onnxl_output_text(out, "opset: domain=");
    onnxl_pretty_quoted(out, proto->opset_import.items[i].domain);
    onnxl_output_text(out, " version=");
    onnxl_output_int64(out, proto->opset_import.items[i].version);
    onnxl_output_char(out, '\n');
  }
  if (graph) {
    if (graph->name.size > 0) {
      onnxl_output_text(out, "graph: name=");
      onnxl_pretty_quoted(out, graph->name);
      onnxl_output_char(out, '\n');
    }
    values(out, "input: ", &graph->input);
    for (size_t i = 0; i < graph->initializer.count; i++) {
      const OnnxlTensor *initializer = &graph->initializer.items[i];
      onnxl_output_text(out, "init: ");
      element_type(out, initializer->data_type);
      onnxl_output_char(out, '[');
      dims(out, &initializer->dims, ',');
      onnxl_output_text(out, "] ");
      onnxl_output_escaped(out, initializer->name);
      onnxl_output_char(out, '\n');
    }
    nodes(out, NULL, &graph->node, options);
    values(out, "output: ", &graph->output);
  }
  for (size_t i = 0; i < proto->functions.count; i++) {
    const OnnxlFunction *function = &proto->functions.items[i];
    onnxl_output_text(out, "\nfunction: ");
    onnxl_output_escaped(out, function->name);
    onnxl_output_char(out, '[');
    onnxl_output_escaped(out, function->domain);
    onnxl_output_text(out, "]\n");
    untyped_values(out, "input: ", &function->input);
    nodes(out, function, &function->node, options);
    untyped_values(out, "output: ", &function->output);
  }
}
