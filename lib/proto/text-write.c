#include "proto/text-write-internal.h"

#include "support/error.h"

/* Fields of the messages that the text says outside of blocks. */
enum {
  GRAPH_NAME = 2,
  GRAPH_INITIALIZER = 5,
  GRAPH_DOC_STRING = 10,
  GRAPH_SPARSE_INITIALIZER = 15,
  GRAPH_GIVEN = TEXT_FIELD(1) | TEXT_FIELD(GRAPH_NAME) | TEXT_FIELD(GRAPH_INITIALIZER) | TEXT_FIELD(11) |
                TEXT_FIELD(12) | TEXT_FIELD(13), /* node, input, output, value_info */
  OPSET_GIVEN = TEXT_FIELD(1) | TEXT_FIELD(2),   /* domain, version */
};

/* What stands before `=> (…)` and in it: values of a graph, or names of a function. */
typedef struct Signature {
  const OnnxlValueInfoList *values;
  const OnnxlStrList *names;
} Signature;

TextNeeds
onnxl_text_graph_needs(const OnnxlGraph *graph)
{
  if (graph->doc_string.size > 0)
    return TEXT_NO_NEEDS;
  return (TextNeeds){ TEXT_NOTE_NO_DOC, graph->doc_string.data ? 0 : TEXT_NOTE_NO_DOC };
}

static void
signature_item(TextPrinter *p, Signature signature, size_t i)
{
  if (signature.values)
    onnxl_text_value(p, &signature.values->items[i]);
  else
    onnxl_text_untyped_name(p, signature.names->items[i].data ? signature.names->items[i] : ONNXL_STR(""));
}

static size_t
signature_count(Signature signature)
{
  return signature.values ? signature.values->count : signature.names->count;
}

static void
signature_on_line(TextPrinter *p, Signature signature)
{
  onnxl_output_char(p->out, '(');
  for (size_t i = 0; i < signature_count(signature); i++) {
    if (i > 0)
      onnxl_text_literal(p, ", ");
    signature_item(p, signature, i);
  }
  onnxl_output_char(p->out, ')');
}

static void
signature_on_lines(TextPrinter *p, Signature signature, uint32_t indent)
{
  onnxl_output_char(p->out, '(');
  for (size_t i = 0; i < signature_count(signature); i++) {
    if (i > 0)
      onnxl_output_char(p->out, ',');
    onnxl_text_newline(p);
    onnxl_text_start_line(p, indent + TEXT_ENTRY_INDENT, TEXT_NO_NEEDS);
    signature_item(p, signature, i);
  }
  onnxl_output_char(p->out, ')');
}

/* Renders "(inputs) => (outputs)" aside. False when it does not fit room bytes or holds a line break. */
static bool
render_signature(TextPrinter *p, Signature inputs, Signature outputs, uint64_t room, OnnxlOutput *aside)
{
  TextPrinter inner = *p;

  /* Each item takes a byte and ", " at least: a long list is not rendered to find that out. */
  if (signature_count(inputs) + signature_count(outputs) > TEXT_COLUMNS / 3)
    return false;
  inner.out = aside;
  inner.line_start = 0;
  signature_on_line(&inner, inputs);
  onnxl_output_text(aside, " => ");
  signature_on_line(&inner, outputs);
  return inner.line_start == 0 && aside->saved_errno == 0 && onnxl_output_position(aside) <= room;
}

/* Portable text: finds what the items cannot say. */
static void
report_losses(TextPrinter *p, Signature signature)
{
  TextPrinter inner = *p;
  OnnxlOutput scratch;

  onnxl_output_init(&scratch, -1);
  inner.out = &scratch;
  for (size_t i = 0; i < signature_count(signature); i++) {
    scratch.used = 0;
    signature_item(&inner, signature, i);
  }
  onnxl_output_clear(&scratch);
  p->error = inner.error;
}

/* " (inputs) => (outputs)" behind a name. */
static void
signature(TextPrinter *p, Signature inputs, Signature outputs)
{
  uint32_t indent = p->indent;
  bool quiet = p->quiet;
  OnnxlOutput aside;

  if (p->options->lossy) {
    report_losses(p, inputs);
    report_losses(p, outputs);
    p->quiet = true; /* it may be written twice */
  }
  onnxl_output_char(p->out, ' ');
  uint64_t column = onnxl_text_column(p);
  onnxl_output_init(&aside, -1);
  if (column < TEXT_COLUMNS && render_signature(p, inputs, outputs, TEXT_COLUMNS - column, &aside)) {
    onnxl_output_str(p->out, onnxl_output_memory(&aside));
  } else {
    signature_on_lines(p, inputs, indent);
    onnxl_text_newline(p);
    onnxl_text_start_line(p, indent + TEXT_INDENT, TEXT_NO_NEEDS);
    onnxl_text_literal(p, "=> ");
    signature_on_lines(p, outputs, indent);
  }
  onnxl_output_clear(&aside);
  p->indent = indent;
  p->quiet = quiet;
}

/* Starts an entry of a graph's list, and the list with the first one. */
static void
entry(TextPrinter *p, bool *first, uint32_t indent, TextNeeds needs)
{
  if (*first) {
    onnxl_text_newline(p);
    onnxl_text_start_line(p, indent + TEXT_INDENT, TEXT_NO_NEEDS);
    onnxl_output_char(p->out, '<');
  } else {
    onnxl_output_char(p->out, ',');
  }
  onnxl_text_newline(p);
  onnxl_text_start_line(p, indent + TEXT_ENTRY_INDENT, needs);
  *first = false;
}

static void
end_entries(TextPrinter *p, bool none, uint32_t indent)
{
  if (!none) {
    onnxl_text_newline(p);
    onnxl_text_start_line(p, indent + TEXT_INDENT, TEXT_NO_NEEDS);
    onnxl_output_char(p->out, '>');
  }
  p->indent = indent;
}

static void
value_entries(TextPrinter *p, const OnnxlValueInfoList *list, bool *first, uint32_t indent)
{
  for (size_t i = 0; i < list->count; i++) {
    entry(p, first, indent, TEXT_NO_NEEDS);
    onnxl_text_value(p, &list->items[i]);
  }
}

/* The nodes in braces, on lines of their own. */
static void
body(TextPrinter *p, const OnnxlNodeList *nodes, uint32_t indent)
{
  onnxl_text_newline(p);
  onnxl_text_start_line(p, indent, TEXT_NO_NEEDS);
  onnxl_output_char(p->out, '{');
  onnxl_text_newline(p);
  for (size_t i = 0; i < nodes->count && !p->error; i++) {
    p->indent = indent + TEXT_INDENT;
    onnxl_text_node(p, &nodes->items[i]);
  }
  onnxl_text_start_line(p, indent, TEXT_NO_NEEDS);
  onnxl_output_char(p->out, '}');
}

static bool
sparse_initializers_are_plain(const OnnxlGraph *graph)
{
  for (size_t i = 0; i < graph->sparse_initializer.count; i++)
    if (!onnxl_text_sparse_is_plain(&graph->sparse_initializer.items[i], true))
      return false;
  return true;
}

void
onnxl_text_graph(TextPrinter *p, const OnnxlGraph *graph, bool as_value)
{
  uint32_t indent = p->indent;
  bool plain_sparse = !p->options->lossy && sparse_initializers_are_plain(graph), first = true;
  TextFields given = GRAPH_GIVEN | (plain_sparse ? TEXT_FIELD(GRAPH_SPARSE_INITIALIZER) : 0) |
                     (graph->doc_string.size == 0 ? TEXT_FIELD(GRAPH_DOC_STRING) : 0);

  if (as_value)
    onnxl_text_require_identifier(p, "graph", graph->name);
  if (as_value)
    onnxl_text_graph_value_name(p, graph->name);
  else
    onnxl_text_name(p, graph->name);
  signature(p, (Signature){ .values = &graph->input }, (Signature){ .values = &graph->output });
  onnxl_text_block(p, &onnxl_graph_descriptor, graph, given);
  for (size_t i = 0; i < graph->initializer.count && !p->error; i++) {
    const OnnxlTensor *tensor = &graph->initializer.items[i];
    entry(p, &first, indent, onnxl_text_tensor_needs(p, tensor, TEXT_TENSOR_ENTRY));
    onnxl_text_tensor(p, tensor, TEXT_TENSOR_ENTRY);
  }
  for (size_t i = 0; i < graph->sparse_initializer.count && plain_sparse; i++) {
    const OnnxlSparseTensor *sparse = &graph->sparse_initializer.items[i];
    entry(p, &first, indent, onnxl_text_sparse_needs(p, sparse, true));
    onnxl_text_sparse(p, sparse, true);
  }
  value_entries(p, &graph->value_info, &first, indent);
  end_entries(p, first, indent);
  body(p, &graph->node, indent);
}

static TextNeeds
opset_needs(const OnnxlOpset *opset)
{
  if (opset->domain.size > 0)
    return TEXT_NO_NEEDS;
  return (TextNeeds){ TEXT_NOTE_NO_DOMAIN, opset->domain.data ? 0 : TEXT_NOTE_NO_DOMAIN };
}

static void
opsets(TextPrinter *p, const OnnxlOpsetList *list)
{
  onnxl_output_char(p->out, '[');
  for (size_t i = 0; i < list->count; i++) {
    const OnnxlOpset *opset = &list->items[i];
    onnxl_text_separate(p, i == 0, opset_needs(opset));
    onnxl_text_string(p, opset->domain.data ? opset->domain : ONNXL_STR(""));
    onnxl_text_literal(p, " : ");
    if (opset->has_version)
      onnxl_output_int64(p->out, opset->version);
    else
      onnxl_output_char(p->out, p->options->lossy ? '0' : '?');
    onnxl_text_block(p, &onnxl_opset_descriptor, opset, OPSET_GIVEN);
  }
  onnxl_output_char(p->out, ']');
}

/* What the first of several opset imports needs; others get their note where they stand. */
static TextNeeds
opsets_need(const OnnxlOpsetList *list)
{
  return list->count > 0 ? opset_needs(&list->items[0]) : TEXT_NO_NEEDS;
}

/* Starts a line of a header, and the header with the first one. */
static void
header_line(TextPrinter *p, bool *first, TextNeeds needs)
{
  onnxl_output_char(p->out, *first ? '<' : ',');
  onnxl_text_newline(p);
  onnxl_text_start_line(p, TEXT_INDENT, needs);
  *first = false;
}

static void
header_key(TextPrinter *p, bool *first, const OnnxlMessageDescriptor *descriptor, const void *message, uint32_t number)
{
  const OnnxlFieldDescriptor *field = onnxl_field_by_number(descriptor, number);

  if (!onnxl_field_is_set(field, message))
    return;
  bool is_opsets = field->message == &onnxl_opset_descriptor;
  const void *member = onnxl_field_member(field, message);
  header_line(p, first, is_opsets ? opsets_need(member) : TEXT_NO_NEEDS);
  onnxl_output_text(p->out, field->name);
  onnxl_text_literal(p, ": ");
  if (is_opsets)
    opsets(p, member);
  else
    onnxl_text_field_value(p, field, message);
}

/* The header of a model or function: the fields of the given numbers, then the unknown ones. */
static void
header(TextPrinter *p, const OnnxlMessageDescriptor *descriptor, const void *message, const uint8_t *numbers,
       size_t count)
{
  const OnnxlUnknownList *unknown = &((const OnnxlMessage *)message)->unknown;
  bool first = true;

  for (size_t i = 0; i < count; i++)
    header_key(p, &first, descriptor, message, numbers[i]);
  for (size_t i = 0; i < unknown->count && !p->options->lossy; i++) {
    header_line(p, &first, TEXT_NO_NEEDS);
    onnxl_text_unknown(p, &unknown->items[i]);
  }
  p->indent = 0;
  if (first)
    return;
  onnxl_text_newline(p);
  onnxl_output_char(p->out, '>');
  onnxl_text_newline(p);
}

/* What portable text cannot say in the header. */
enum {
  MODEL_LOSSY = TEXT_FIELD(20) | TEXT_FIELD(26), /* training_info, configuration */
  FUNCTION_LOSSY = TEXT_FIELD(14),               /* metadata_props */
};

static void
function_attributes(TextPrinter *p, const OnnxlFunction *function, bool on_lines)
{
  size_t n_protos = onnxl_text_attributes_written(p, &function->attribute_proto, false);

  if (function->attribute.count + n_protos == 0)
    return;
  onnxl_text_literal(p, " <");
  for (size_t i = 0; i < function->attribute.count; i++) {
    OnnxlStr name = function->attribute.items[i];
    if (i > 0)
      onnxl_text_literal(p, ", ");
    onnxl_text_name(p, name.data ? name : ONNXL_STR(""));
  }
  if (function->attribute.count > 0 && n_protos > 0)
    onnxl_output_text(p->out, on_lines ? "," : ", ");
  onnxl_text_attribute_list(p, &function->attribute_proto, on_lines, false);
  onnxl_output_char(p->out, '>');
}

static void
write_function(TextPrinter *p, const OnnxlFunction *function)
{
  /* domain, overload, opset_import, doc_string, metadata_props */
  static const uint8_t numbers[] = { 10, 13, 9, 8, 14 };
  bool on_lines = false, first = true;
  TextNeeds needs = TEXT_NO_NEEDS;

  if (p->options->lossy)
    onnxl_text_lossy_fields(p, &onnxl_function_descriptor, function, ~(TextFields)FUNCTION_LOSSY);
  header(p, &onnxl_function_descriptor, function, numbers, p->options->lossy ? 4 : sizeof numbers);
  for (size_t i = 0; i < function->attribute_proto.count; i++)
    on_lines |= onnxl_text_attribute_has_graph(&function->attribute_proto.items[i]);
  for (size_t i = 0; i < function->attribute_proto.count && !on_lines && needs.mask == 0; i++)
    needs = onnxl_text_attribute_needs(p, &function->attribute_proto.items[i]);
  onnxl_text_start_line(p, 0, needs);
  onnxl_text_name(p, function->name);
  function_attributes(p, function, on_lines);
  signature(p, (Signature){ .names = &function->input }, (Signature){ .names = &function->output });
  value_entries(p, &function->value_info, &first, 0);
  end_entries(p, first, 0);
  body(p, &function->node, 0);
  onnxl_text_newline(p);
}

static void
write_model(TextPrinter *p)
{
  /* ir_version, opset_import, producer_name, producer_version, domain, model_version, doc_string, metadata_props,
   * configuration, training_info */
  static const uint8_t numbers[] = { 1, 8, 2, 3, 4, 5, 6, 14, 26, 20 };
  const OnnxlModelProto *model = &p->model->proto;

  if (p->options->lossy)
    onnxl_text_lossy_fields(p, &onnxl_model_descriptor, model, ~(TextFields)MODEL_LOSSY);
  header(p, &onnxl_model_descriptor, model, numbers, p->options->lossy ? 8 : sizeof numbers);
  if (!model->graph && p->options->lossy) {
    onnxl_fail(&p->error, ONNXL_ERROR_UNSUPPORTED, "portable text cannot say a model without a graph");
  } else if (model->graph) {
    onnxl_text_start_line(p, 0, onnxl_text_graph_needs(model->graph));
    onnxl_text_graph(p, model->graph, false);
  } else {
    onnxl_output_char(p->out, '?');
  }
  onnxl_text_newline(p);
  for (size_t i = 0; i < model->functions.count && !p->error; i++) {
    onnxl_text_newline(p);
    write_function(p, &model->functions.items[i]);
  }
}

bool
onnxl_text_write(OnnxlOutput *out, const OnnxlModel *model, const OnnxlTextOptions *options,
                 OnnxlMovePayload move_payload, void *move_data, GError **error)
{
  g_autofree char *location =
    options->weights == ONNXL_WEIGHTS_AUTO ? onnxl_text_reference_location(model->file, options->folder) : NULL;
  TextPrinter p = {
    .out = out,
    .model = model,
    .options = options,
    .move_payload = move_payload,
    .move_data = move_data,
    .location = location,
    .notes = TEXT_NOTE_NO_DOC,
    .line_start = onnxl_output_position(out),
  };

  write_model(&p);
  if (!p.error)
    return true;
  g_propagate_error(error, p.error);
  return false;
}
