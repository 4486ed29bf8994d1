#include "proto/text-write-internal.h"

#include "support/number.h"

/* The fields of AttributeProto that hold a value, by its type; 0 for UNDEFINED. */
static const uint8_t value_fields[ONNXL_N_ATTRIBUTE_TYPES] = {
  [ONNXL_ATTRIBUTE_FLOAT] = 2,          [ONNXL_ATTRIBUTE_INT] = 3,
  [ONNXL_ATTRIBUTE_STRING] = 4,         [ONNXL_ATTRIBUTE_TENSOR] = 5,
  [ONNXL_ATTRIBUTE_GRAPH] = 6,          [ONNXL_ATTRIBUTE_FLOATS] = 7,
  [ONNXL_ATTRIBUTE_INTS] = 8,           [ONNXL_ATTRIBUTE_STRINGS] = 9,
  [ONNXL_ATTRIBUTE_TENSORS] = 10,       [ONNXL_ATTRIBUTE_GRAPHS] = 11,
  [ONNXL_ATTRIBUTE_SPARSE_TENSOR] = 22, [ONNXL_ATTRIBUTE_SPARSE_TENSORS] = 23,
  [ONNXL_ATTRIBUTE_TYPE_PROTO] = 14,    [ONNXL_ATTRIBUTE_TYPE_PROTOS] = 15,
};

enum {
  ATTRIBUTE_NAME = 1,
  ATTRIBUTE_TYPE = 20,
  ATTRIBUTE_REF = 21,
};

/* Fields of NodeProto that the text says. */
enum {
  NODE_GIVEN = TEXT_FIELD(1) | TEXT_FIELD(2) | TEXT_FIELD(3) | TEXT_FIELD(4) | TEXT_FIELD(5) | TEXT_FIELD(7) |
               TEXT_FIELD(8), /* input, output, name, op_type, attribute, domain, overload */
};

/* The fields of AttributeProto that hold values and are set. */
static TextFields
values_set(const OnnxlAttribute *a)
{
#define SET(type, is_set) ((is_set) ? TEXT_FIELD(value_fields[ONNXL_ATTRIBUTE_##type]) : 0)
  return SET(FLOAT, a->has_f) | SET(INT, a->has_i) | SET(STRING, a->s.data) | SET(TENSOR, a->t) | SET(GRAPH, a->g) |
         SET(FLOATS, a->floats.count) | SET(INTS, a->ints.count) | SET(STRINGS, a->strings.count) |
         SET(TENSORS, a->tensors.count) | SET(GRAPHS, a->graphs.count) | SET(SPARSE_TENSOR, a->sparse_tensor) |
         SET(SPARSE_TENSORS, a->sparse_tensors.count) | SET(TYPE_PROTO, a->tp) | SET(TYPE_PROTOS, a->type_protos.count);
#undef SET
}

static bool
sparse_values_are_plain(const OnnxlAttribute *a, int32_t type)
{
  if (type == ONNXL_ATTRIBUTE_SPARSE_TENSOR)
    return onnxl_text_sparse_is_plain(a->sparse_tensor, false);
  for (size_t i = 0; i < a->sparse_tensors.count; i++)
    if (!onnxl_text_sparse_is_plain(&a->sparse_tensors.items[i], false))
      return false;
  return true;
}

/* The type whose value the text says after `=`: that of the type field, or, without one, that of the only value there
 * is; UNDEFINED when there is none. set: the result of values_set(). */
static int32_t
plain_value_type(const OnnxlAttribute *a, TextFields set)
{
  int32_t type = a->has_type && onnxl_attribute_type_name(a->type) ? a->type : ONNXL_ATTRIBUTE_UNDEFINED;

  if (!a->has_type && set != 0 && (set & (set - 1)) == 0)
    for (type = 1; set != TEXT_FIELD(value_fields[type]);)
      type++;
  if (type == ONNXL_ATTRIBUTE_UNDEFINED || !(set & TEXT_FIELD(value_fields[type])))
    return ONNXL_ATTRIBUTE_UNDEFINED;
  if ((type == ONNXL_ATTRIBUTE_SPARSE_TENSOR || type == ONNXL_ATTRIBUTE_SPARSE_TENSORS) &&
      !sparse_values_are_plain(a, type))
    return ONNXL_ATTRIBUTE_UNDEFINED;
  return type;
}

bool
onnxl_text_attribute_has_graph(const OnnxlAttribute *attribute)
{
  return attribute->g || attribute->graphs.count > 0;
}

TextNeeds
onnxl_text_attribute_needs(const TextPrinter *p, const OnnxlAttribute *a)
{
  switch (plain_value_type(a, values_set(a))) {
  case ONNXL_ATTRIBUTE_TENSOR:
    return onnxl_text_tensor_needs(p, a->t, TEXT_TENSOR_VALUE);
  case ONNXL_ATTRIBUTE_TENSORS:
    return onnxl_text_tensor_needs(p, &a->tensors.items[0], TEXT_TENSOR_VALUE);
  case ONNXL_ATTRIBUTE_GRAPH:
    return onnxl_text_graph_needs(a->g);
  case ONNXL_ATTRIBUTE_GRAPHS:
    return onnxl_text_graph_needs(&a->graphs.items[0]);
  case ONNXL_ATTRIBUTE_SPARSE_TENSOR:
    return onnxl_text_sparse_needs(p, a->sparse_tensor, false);
  case ONNXL_ATTRIBUTE_SPARSE_TENSORS:
    return onnxl_text_sparse_needs(p, &a->sparse_tensors.items[0], false);
  default:
    return TEXT_NO_NEEDS;
  }
}

/* Lists of what is not a number or a string start with ![, so that the reference parser refuses rather than drops them.
 */
static void
list_value(TextPrinter *p, const OnnxlAttribute *a, int32_t type)
{
  switch (type) {
  case ONNXL_ATTRIBUTE_FLOATS:
    onnxl_output_char(p->out, '[');
    onnxl_text_float_items(p, &a->floats);
    break;
  case ONNXL_ATTRIBUTE_INTS:
    onnxl_output_char(p->out, '[');
    onnxl_text_int_items(p, &a->ints);
    break;
  case ONNXL_ATTRIBUTE_STRINGS:
    for (size_t i = 0; i < a->strings.count; i++) {
      onnxl_output_text(p->out, i == 0 ? "[" : ", ");
      onnxl_text_string(p, a->strings.items[i].data ? a->strings.items[i] : ONNXL_STR(""));
    }
    break;
  case ONNXL_ATTRIBUTE_TENSORS:
    onnxl_text_literal(p, "![");
    for (size_t i = 0; i < a->tensors.count; i++) {
      onnxl_text_separate(p, i == 0, onnxl_text_tensor_needs(p, &a->tensors.items[i], TEXT_TENSOR_VALUE));
      onnxl_text_tensor(p, &a->tensors.items[i], TEXT_TENSOR_VALUE);
    }
    break;
  case ONNXL_ATTRIBUTE_GRAPHS:
    onnxl_text_literal(p, "![");
    for (size_t i = 0; i < a->graphs.count; i++) {
      onnxl_text_separate(p, i == 0, onnxl_text_graph_needs(&a->graphs.items[i]));
      onnxl_text_graph(p, &a->graphs.items[i], true);
    }
    break;
  case ONNXL_ATTRIBUTE_SPARSE_TENSORS:
    onnxl_text_literal(p, "![");
    for (size_t i = 0; i < a->sparse_tensors.count; i++) {
      onnxl_text_separate(p, i == 0, onnxl_text_sparse_needs(p, &a->sparse_tensors.items[i], false));
      onnxl_text_sparse(p, &a->sparse_tensors.items[i], false);
    }
    break;
  default: /* ONNXL_ATTRIBUTE_TYPE_PROTOS */
    onnxl_text_literal(p, "![");
    for (size_t i = 0; i < a->type_protos.count; i++) {
      if (i > 0)
        onnxl_text_literal(p, ", ");
      onnxl_text_type(p, &a->type_protos.items[i]);
    }
    break;
  }
  onnxl_output_char(p->out, ']');
}

static void
plain_value(TextPrinter *p, const OnnxlAttribute *a, int32_t type)
{
  char text[ONNXL_NUMBER_SIZE];

  switch (type) {
  case ONNXL_ATTRIBUTE_FLOAT:
    onnxl_output_write(p->out, text, onnxl_text_float(p, text, a->f));
    break;
  case ONNXL_ATTRIBUTE_INT:
    onnxl_output_int64(p->out, a->i);
    break;
  case ONNXL_ATTRIBUTE_STRING:
    onnxl_text_string(p, a->s);
    break;
  case ONNXL_ATTRIBUTE_TENSOR:
    onnxl_text_tensor(p, a->t, TEXT_TENSOR_VALUE);
    break;
  case ONNXL_ATTRIBUTE_GRAPH:
    onnxl_text_graph(p, a->g, true);
    break;
  case ONNXL_ATTRIBUTE_SPARSE_TENSOR:
    onnxl_text_sparse(p, a->sparse_tensor, false);
    break;
  case ONNXL_ATTRIBUTE_TYPE_PROTO:
    onnxl_text_type(p, a->tp);
    break;
  default:
    list_value(p, a, type);
    break;
  }
}

static bool
is_list_type(int32_t type)
{
  switch (type) {
  case ONNXL_ATTRIBUTE_FLOATS:
  case ONNXL_ATTRIBUTE_INTS:
  case ONNXL_ATTRIBUTE_STRINGS:
  case ONNXL_ATTRIBUTE_TENSORS:
  case ONNXL_ATTRIBUTE_GRAPHS:
  case ONNXL_ATTRIBUTE_SPARSE_TENSORS:
  case ONNXL_ATTRIBUTE_TYPE_PROTOS:
    return true;
  default:
    return false;
  }
}

/* ": type", ": !N" or ": ?". */
static void
annotation(TextPrinter *p, const OnnxlAttribute *a)
{
  const char *name = a->has_type ? onnxl_attribute_type_name(a->type) : "?";

  onnxl_text_literal(p, ": ");
  if (name)
    onnxl_output_text(p->out, name);
  else
    onnxl_output_printf(p->out, "!%d", a->type);
}

void
onnxl_text_attribute(TextPrinter *p, const OnnxlAttribute *a)
{
  TextFields set = values_set(a);
  int32_t type = plain_value_type(a, set);
  TextFields given = TEXT_FIELD(ATTRIBUTE_NAME) | TEXT_FIELD(ATTRIBUTE_TYPE);

  /* What the text says after the name: a value, else a reference, else an empty list, else nothing. A list that cannot
   * be written after `=` stands in the block, so it is no empty one. */
  bool is_reference = type == ONNXL_ATTRIBUTE_UNDEFINED && a->ref_attr_name.data;
  bool is_empty_list = type == ONNXL_ATTRIBUTE_UNDEFINED && !is_reference && a->has_type && is_list_type(a->type) &&
                       !(a->type == ONNXL_ATTRIBUTE_SPARSE_TENSORS && a->sparse_tensors.count > 0);
  if (type != ONNXL_ATTRIBUTE_UNDEFINED)
    given |= TEXT_FIELD(value_fields[type]);
  else if (is_reference)
    given |= TEXT_FIELD(ATTRIBUTE_REF);

  onnxl_text_require_identifier(p, "attribute", a->name);
  onnxl_text_name(p, a->name);
  bool has_block =
    set & ~given || a->doc_string.data || (a->ref_attr_name.data && !is_reference) || a->message.unknown.count > 0;
  if (has_block)
    onnxl_text_block(p, &onnxl_attribute_descriptor, a, given);
  if (type != ONNXL_ATTRIBUTE_UNDEFINED) {
    if (!a->has_type && !p->options->lossy)
      annotation(p, a);
    /* The block may have changed the notes. */
    onnxl_text_blank(p, has_block ? onnxl_text_attribute_needs(p, a) : TEXT_NO_NEEDS);
    onnxl_text_literal(p, "= ");
    plain_value(p, a, type);
  } else if (is_reference) {
    if (a->has_type)
      annotation(p, a);
    onnxl_text_literal(p, " = @");
    onnxl_text_name(p, a->ref_attr_name);
  } else {
    annotation(p, a);
    if (is_empty_list)
      onnxl_text_literal(p, " = []");
  }
}

static void
names(TextPrinter *p, const OnnxlStrList *list)
{
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0)
      onnxl_text_literal(p, ", ");
    onnxl_text_name(p, list->items[i].data ? list->items[i] : ONNXL_STR(""));
  }
}

/* "domain.Op:overload". An empty operator of the default domain is nothing at all. */
static void
operator(TextPrinter *p, const OnnxlNode *node)
{
  bool dot = node->domain.data && (node->domain.size > 0 || p->notes & TEXT_NOTE_NO_DOMAIN);

  onnxl_text_require_identifier(p, "operator", node->op_type);
  if (node->overload.data)
    onnxl_text_require_identifier(p, "overload", node->overload);
  if (node->domain.size > 0)
    onnxl_text_dotted(p, node->domain);
  if (dot)
    onnxl_output_char(p->out, '.');
  if (dot || !node->op_type.data || node->op_type.size > 0)
    onnxl_text_name(p, node->op_type);
  if (node->overload.data && (node->overload.size > 0 || !p->options->lossy)) {
    onnxl_output_char(p->out, ':');
    onnxl_text_name(p, node->overload);
  }
}

/* What the note before a node is for: its domain and, unless attributes have lines of their own, its first tensor. */
static TextNeeds
node_needs(const TextPrinter *p, const OnnxlNode *node, bool attributes_on_lines)
{
  TextNeeds needs = { 0, 0 };

  for (size_t i = 0; i < node->attribute.count && !attributes_on_lines && needs.mask == 0; i++)
    needs = onnxl_text_attribute_needs(p, &node->attribute.items[i]);
  if (!node->domain.data) {
    needs.mask |= TEXT_NOTE_NO_DOMAIN;
    needs.words |= TEXT_NOTE_NO_DOMAIN;
  }
  return needs;
}

bool
onnxl_text_attribute_is_written(const TextPrinter *p, const OnnxlAttribute *a, bool in_node)
{
  return !p->options->lossy || onnxl_text_portable_attribute(a, plain_value_type(a, values_set(a)), in_node);
}

size_t
onnxl_text_attributes_written(TextPrinter *p, const OnnxlAttributeList *list, bool in_node)
{
  size_t count = 0;

  if (!p->options->lossy)
    return list->count;
  for (size_t i = 0; i < list->count; i++) {
    const OnnxlAttribute *attribute = &list->items[i];
    if (onnxl_text_attribute_is_written(p, attribute, in_node))
      count++;
    else
      onnxl_text_lossy(p, &onnxl_attribute_descriptor, attribute, "the value");
  }
  return count;
}

void
onnxl_text_attribute_list(TextPrinter *p, const OnnxlAttributeList *list, bool on_lines, bool in_node)
{
  uint32_t indent = p->indent;

  for (size_t i = 0, written = 0; i < list->count; i++) {
    const OnnxlAttribute *attribute = &list->items[i];
    if (!onnxl_text_attribute_is_written(p, attribute, in_node))
      continue;
    TextNeeds needs = onnxl_text_attribute_needs(p, attribute);
    if (on_lines) {
      if (written > 0)
        onnxl_output_char(p->out, ',');
      onnxl_text_newline(p);
      onnxl_text_start_line(p, indent + TEXT_INDENT, needs);
    } else {
      onnxl_text_separate(p, written == 0, needs);
    }
    onnxl_text_attribute(p, attribute);
    written++;
  }
  p->indent = indent;
}

void
onnxl_text_node(TextPrinter *p, const OnnxlNode *node)
{
  bool on_lines = false;
  size_t n_attributes = onnxl_text_attributes_written(p, &node->attribute, true);

  for (size_t i = 0; i < node->attribute.count; i++)
    on_lines |= onnxl_text_attribute_has_graph(&node->attribute.items[i]) &&
                onnxl_text_attribute_is_written(p, &node->attribute.items[i], true);
  onnxl_text_start_line(p, p->indent, node_needs(p, node, on_lines));
  if (node->name.data) {
    onnxl_output_char(p->out, '[');
    onnxl_text_name(p, node->name);
    onnxl_text_literal(p, "] ");
  }
  names(p, &node->output);
  onnxl_output_text(p->out, node->output.count > 0 ? " = " : "= ");
  uint64_t start = onnxl_output_position(p->out);
  operator(p, node);
  bool blank = onnxl_output_position(p->out) > start;
  if (n_attributes > 0 && !on_lines) {
    onnxl_output_text(p->out, blank ? " <" : "<");
    onnxl_text_attribute_list(p, &node->attribute, false, true);
    onnxl_output_char(p->out, '>');
    blank = true;
  }
  onnxl_output_text(p->out, blank ? " (" : "(");
  names(p, &node->input);
  onnxl_output_char(p->out, ')');
  if (on_lines) {
    onnxl_text_literal(p, " <");
    onnxl_text_attribute_list(p, &node->attribute, true, true);
    onnxl_output_char(p->out, '>');
  }
  if (node->doc_string.data || node->metadata_props.count > 0 || node->device_configurations.count > 0 ||
      node->message.unknown.count > 0)
    onnxl_text_block(p, &onnxl_node_descriptor, node, NODE_GIVEN);
  onnxl_text_newline(p);
}
