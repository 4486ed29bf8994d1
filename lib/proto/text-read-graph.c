/* Nodes, graphs and functions of the textual syntax. */
#include "proto/text-internal.h"

/* Fields of GraphProto that both a block and the text behind it can set. */
enum { GRAPH_NODE = 1, GRAPH_INITIALIZER = 5, GRAPH_VALUE_INFO = 13, GRAPH_SPARSE_INITIALIZER = 15 };

/* An empty name, or one that is written. */
static bool
read_list_name(OnnxlReader *r, uint32_t closer)
{
  OnnxlStr name = ONNXL_STR("");

  if (!onnxl_reader_at(r, ',') && !onnxl_reader_name(r, "a name", &name))
    return false;
  if (!onnxl_reader_at(r, ',') && !onnxl_reader_at(r, closer))
    return onnxl_reader_no_separator(r, closer);
  return onnxl_reader_push(r, &name, sizeof name);
}

/* Names separated by commas, up to the closer. Nothing before a comma is an empty name; nothing behind the last comma
 * is no name. recover: go on behind one that is wrong. */
static bool
read_names(OnnxlReader *r, uint32_t closer, bool recover, OnnxlStrList *list)
{
  size_t mark = r->scratch_used;
  bool ok = true;

  while (ok && !onnxl_reader_at(r, closer)) {
    ok = read_list_name(r, closer) || (recover && onnxl_reader_recover_list(r, closer));
    if (ok)
      onnxl_reader_accept(r, ',');
  }
  ONNXL_READER_POP(r, mark, list);
  return ok;
}

/* domain.op_type:overload; all may be missing. */
static bool
read_operator(OnnxlReader *r, OnnxlNode *node)
{
  OnnxlStr op = ONNXL_STR("");

  node->domain = r->token.notes & ONNXL_TEXT_NOTE_NO_DOMAIN ? (OnnxlStr){ NULL, 0 } : ONNXL_STR("");
  if (!onnxl_reader_at(r, '.') && !onnxl_reader_at(r, ':') && !onnxl_reader_at(r, '<') && !onnxl_reader_at(r, '(') &&
      !onnxl_reader_key(r, "an operator", &op))
    return false;
  for (bool first = true; onnxl_reader_accept(r, '.'); first = false) {
    node->domain = first ? op : onnxl_reader_join(r, node->domain, op);
    if (!onnxl_reader_key(r, "an operator behind the dot", &op))
      return false;
  }
  node->op_type = op;
  return !onnxl_reader_accept(r, ':') || onnxl_reader_key(r, "the name of an overload", &node->overload);
}

/* [label] in front of a node. */
static bool
read_label(OnnxlReader *r, OnnxlNode *node)
{
  node->name = ONNXL_STR("");
  return (onnxl_reader_at(r, ']') || onnxl_reader_name(r, "the node's name", &node->name)) &&
         onnxl_reader_expect(r, ']', "`]` behind the node's name");
}

static bool
at_node(const OnnxlReader *r)
{
  switch (r->token.kind) {
  case ')':
  case ']':
  case '>':
  case ';':
  case ONNXL_TOKEN_END:
    return false;
  default:
    return true;
  }
}

/* The node's first output is empty when a comma starts it: a separator, most likely. */
static void
warn_stray_comma(OnnxlReader *r)
{
  OnnxlToken comma = r->token;
  const char *at = r->at;

  while (at < r->end && g_ascii_isspace(*at))
    at++;
  size_t n = 0;
  while (at + n < r->end && n < 40 && (g_ascii_isalnum(at[n]) || at[n] == '_'))
    n++;
  if (n > 0)
    onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_COMMA, &comma, "this comma gives `%.*s = …` an empty first output",
                           (int)n, at);
  else
    onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_COMMA, &comma, "this comma gives the next node an empty first output");
}

static bool
read_node(OnnxlReader *r, bool first, OnnxlNode *node)
{
  bool attributes = false;

  if (onnxl_reader_at(r, ';'))
    return onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CHAR, &r->token, "nodes need no separator");
  if (!at_node(r))
    return onnxl_reader_expected(r, "a node or `}`");
  if (onnxl_reader_accept(r, '[')) {
    if (!read_label(r, node))
      return false;
  } else if (!first && onnxl_reader_at(r, ',')) {
    warn_stray_comma(r);
  }
  if (!read_names(r, '=', false, &node->output) || !onnxl_reader_next(r) || !read_operator(r, node))
    return false;
  if (onnxl_reader_accept(r, '<')) {
    attributes = true;
    if (!onnxl_reader_attributes(r, &node->attribute, NULL))
      return false;
  }
  if (!onnxl_reader_accept(r, '('))
    return onnxl_reader_expected(r, "`(` and the inputs of `%.*s`", ONNXL_ARG(node->op_type));
  if (!read_names(r, ')', true, &node->input))
    return false;
  onnxl_reader_next(r);
  if (onnxl_reader_at(r, '<')) {
    if (attributes)
      return onnxl_reader_report_at(r, ONNXL_DIAG_ATTRS_TWICE, &r->token,
                                    "attributes stand before or after the inputs, not both");
    onnxl_reader_next(r);
    if (!onnxl_reader_attributes(r, &node->attribute, NULL))
      return false;
  }
  return onnxl_reader_block(r, &onnxl_node_descriptor, node, NULL);
}

/* Room for the nodes of a big main graph, so that they are read where they stay: each takes an opening parenthesis, and
 * pages that no node comes to lie on cost nothing. Once a text, since it looks at all that follows. Returns their
 * number; 0 when it does not pay or is too much. */
static size_t
reserve_nodes(OnnxlReader *r, OnnxlNodeList *list)
{
  enum { BIG = 1 << 18 };
  size_t budget = onnxl_arena_budget(r->arena), used = onnxl_arena_used(r->arena), count = 0;

  if (r->reserved || r->end - r->at < BIG)
    return 0;
  r->reserved = true;
  for (const char *at = r->at; (at = memchr(at, '(', (size_t)(r->end - at))); at++)
    count++;
  if (used > budget || count > (budget - used) / 2 / sizeof *list->items)
    return 0;
  list->items = ONNXL_NEW_ARRAY(r->arena, OnnxlNode, count);
  return list->items ? count : 0;
}

/* Nodes up to the closing brace. */
static bool
read_nodes(OnnxlReader *r, OnnxlNodeList *list)
{
  size_t mark = r->scratch_used;
  size_t reserved = reserve_nodes(r, list);
  bool ok = true;

  list->count = 0;
  for (bool first = true; ok && !onnxl_reader_accept(r, '}'); first = false) {
    OnnxlNode local, *node = list->count < reserved ? &list->items[list->count] : &local;
    size_t item = r->scratch_used;
    memset(node, 0, sizeof *node);
    r->in_node = true;
    if (!read_node(r, first, node)) {
      r->scratch_used = item;
      ok = onnxl_reader_recover_node(r);
    } else if (reserved == 0) {
      ok = onnxl_reader_push(r, node, sizeof *node);
    } else if (list->count < reserved) { /* always: it had its parenthesis */
      list->count++;
    }
  }
  r->in_node = false;
  if (reserved == 0)
    ONNXL_READER_POP(r, mark, list);
  return ok && !r->error;
}

/* { nodes }; what and name say of what. A block that sets the nodes needs the body to be empty. */
static bool
read_body(OnnxlReader *r, const char *what, OnnxlStr name, OnnxlNodeList *nodes, const OnnxlBlockPlaces *places)
{
  OnnxlNodeList list;

  if (!onnxl_reader_accept(r, '{'))
    return onnxl_reader_expected(r, "`{` with the nodes of %s `%.*s`", what, ONNXL_ARG(name));
  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok = read_nodes(r, &list);
  onnxl_reader_leave(r, 1);
  if (list.count > 0 && nodes->count > 0)
    return onnxl_reader_set_in_block(r, places, "node", GRAPH_NODE);
  if (list.count > 0)
    *nodes = list;
  return ok;
}

static bool
read_arrow(OnnxlReader *r)
{
  OnnxlToken equals = r->token;

  if (onnxl_reader_at_arrow(r))
    return onnxl_reader_next(r) && onnxl_reader_next(r);
  /* Where what is meant is plain, the text is read on. */
  if (onnxl_reader_at(r, '-') && r->at < r->end && *r->at == '>') {
    onnxl_reader_report(r, ONNXL_DIAG_EXPECTED, equals.start, r->at + 1, "expected `=>`, found `->`");
    return onnxl_reader_next(r) && onnxl_reader_next(r);
  }
  if (!onnxl_reader_accept(r, '='))
    return onnxl_reader_expected(r, "`=>`");
  if (onnxl_reader_accept(r, '>')) {
    onnxl_reader_report_at(r, ONNXL_DIAG_ARROW, &equals, "`=` and `>` of `=>` must touch");
    return true;
  }
  return onnxl_reader_report_at(r, ONNXL_DIAG_EXPECTED, &equals, "expected `=>`, found `=`");
}

/* The lists of a graph that its inputs and entries fill. */
typedef struct Entries {
  OnnxlGraph *graph;
  bool inputs; /* the items are inputs, else entries of `<…>` */
  size_t initializer_capacity, sparse_capacity;
} Entries;

static bool
read_initializer(OnnxlReader *r, Entries *entries, const OnnxlValueInfo *value, const OnnxlTypePlaces *places)
{
  OnnxlGraph *graph = entries->graph;
  uint8_t notes = places->start.notes;
  bool ok;

  if (!value->type)
    return onnxl_reader_report_at(r, ONNXL_DIAG_INITIALIZER_TYPE, &places->start, "an initializer needs a type");
  if (!entries->inputs &&
      (value->doc_string.data || value->metadata_props.count > 0 || value->message.unknown.count > 0))
    return onnxl_reader_expected(r, "no values: the block of an initializer stands behind them");
  onnxl_reader_next(r);
  if (!onnxl_reader_enter(r, 1))
    return false;
  if (value->type->sparse_tensor_type) {
    OnnxlSparseTensor sparse = { 0 };
    ok = onnxl_reader_sparse_data(r, value->type, places, &value->name, &sparse);
    if (ok && ONNXL_GROW(r->arena, &graph->sparse_initializer.items, graph->sparse_initializer.count,
                         &entries->sparse_capacity))
      graph->sparse_initializer.items[graph->sparse_initializer.count++] = sparse;
  } else {
    OnnxlTensor tensor = { .name = value->name };
    ok = onnxl_reader_tensor_type(r, value->type, places, &tensor) && onnxl_reader_tensor_data(r, notes, &tensor);
    if (ok && ONNXL_GROW(r->arena, &graph->initializer.items, graph->initializer.count, &entries->initializer_capacity))
      graph->initializer.items[graph->initializer.count++] = tensor;
  }
  onnxl_reader_leave(r, 1);
  return ok;
}

/* An input, with the values of its initializer, or an entry of the graph's list. */
static bool
read_entry(OnnxlReader *r, void *data)
{
  Entries *entries = data;
  OnnxlValueInfo value = { 0 };
  OnnxlTypePlaces places;

  if (!onnxl_reader_value(r, &value, &places))
    return false;
  if (entries->inputs && onnxl_reader_at_arrow(r))
    return onnxl_reader_no_separator(r, ')');
  if (value.type && (onnxl_reader_at(r, '{') || onnxl_reader_at(r, ONNXL_TOKEN_OPEN_ELEMENTS)))
    return onnxl_reader_expected(r, "`=` between name and values");
  if (onnxl_reader_at(r, '=')) {
    if (!read_initializer(r, entries, &value, &places))
      return false;
    if (!entries->inputs)
      return true;
  }
  return onnxl_reader_push(r, &value, sizeof value);
}

static bool
read_output(OnnxlReader *r, void *data)
{
  OnnxlValueInfo value = { 0 };
  OnnxlTypePlaces places;

  if (!onnxl_reader_value(r, &value, &places))
    return false;
  if (onnxl_reader_at(r, '='))
    return onnxl_reader_report_at(r, ONNXL_DIAG_OUTPUT_VALUE, &r->token,
                                  "an output takes no value; list it in `<…>` behind the outputs");
  return onnxl_reader_push(r, &value, sizeof value);
}

static bool
read_outputs(OnnxlReader *r, OnnxlValueInfoList *outputs)
{
  size_t mark = r->scratch_used;

  if (!onnxl_reader_expect(r, '(', "`(` with the outputs"))
    return false;
  bool ok = onnxl_reader_list(r, ')', read_output, NULL);
  ONNXL_READER_POP(r, mark, outputs);
  return ok;
}

/* Entries behind a block, which may have set the same lists. */
static bool
read_entries(OnnxlReader *r, const OnnxlBlockPlaces *places, Entries *entries)
{
  OnnxlGraph *graph = entries->graph, block = *graph;
  size_t mark = r->scratch_used;
  OnnxlValueInfoList values;

  entries->inputs = false;
  if (places->at[GRAPH_INITIALIZER].data)
    graph->initializer.count = 0;
  if (places->at[GRAPH_SPARSE_INITIALIZER].data)
    graph->sparse_initializer.count = 0;
  bool ok = onnxl_reader_list(r, '>', read_entry, entries);
  ONNXL_READER_POP(r, mark, &values);
  if (places->at[GRAPH_INITIALIZER].data) {
    if (graph->initializer.count > 0)
      return onnxl_reader_set_in_block(r, places, "initializer", GRAPH_INITIALIZER);
    graph->initializer = block.initializer;
  }
  if (places->at[GRAPH_SPARSE_INITIALIZER].data) {
    if (graph->sparse_initializer.count > 0)
      return onnxl_reader_set_in_block(r, places, "sparse_initializer", GRAPH_SPARSE_INITIALIZER);
    graph->sparse_initializer = block.sparse_initializer;
  }
  if (values.count > 0 && places->at[GRAPH_VALUE_INFO].data)
    return onnxl_reader_set_in_block(r, places, "value_info", GRAPH_VALUE_INFO);
  if (values.count > 0)
    graph->value_info = values;
  return ok;
}

/* What stands between a graph's name and its nodes. */
static bool
read_graph_head(OnnxlReader *r, uint8_t notes, OnnxlGraph *graph, OnnxlBlockPlaces *places)
{
  Entries entries = { .graph = graph, .inputs = true };

  if (onnxl_reader_accept(r, '(')) {
    size_t mark = r->scratch_used;
    bool ok = onnxl_reader_list(r, ')', read_entry, &entries);
    ONNXL_READER_POP(r, mark, &graph->input);
    if (!ok)
      return false;
  }
  if (!read_arrow(r) || !read_outputs(r, &graph->output) ||
      !onnxl_reader_block(r, &onnxl_graph_descriptor, graph, places))
    return false;
  if (!graph->doc_string.data && !(notes & ONNXL_TEXT_NOTE_NO_DOC))
    graph->doc_string = ONNXL_STR("");
  return !onnxl_reader_accept(r, '<') || read_entries(r, places, &entries);
}

/* The main graph and functions are read on at their nodes when the head is wrong. */
static bool
recover_head(OnnxlReader *r)
{
  return r->depth == 1 && onnxl_reader_recover_body(r);
}

bool
onnxl_reader_graph_after_name(OnnxlReader *r, OnnxlStr name, uint8_t notes, OnnxlGraph *graph)
{
  OnnxlBlockPlaces places = { 0 };
  bool in_node = r->in_node;

  graph->name = name;
  if (!onnxl_reader_enter(r, 1))
    return false;
  r->in_node = false;
  bool ok = (read_graph_head(r, notes, graph, &places) || recover_head(r)) &&
            read_body(r, "graph", name, &graph->node, &places);
  r->in_node = in_node;
  onnxl_reader_leave(r, 1);
  return ok;
}

bool
onnxl_reader_graph(OnnxlReader *r, OnnxlGraph *graph)
{
  uint8_t notes = r->token.notes;
  OnnxlStr name = ONNXL_STR("");
  bool named = onnxl_reader_name(r, "a graph: its name, then `(inputs) => (outputs)` and `{nodes}`", &name);

  if (!named && (r->depth > 0 || !onnxl_reader_recover_body(r)))
    return false;
  if (named)
    return onnxl_reader_graph_after_name(r, name, notes, graph);
  return onnxl_reader_enter(r, 1) && read_body(r, "graph", name, &graph->node, NULL) &&
         (onnxl_reader_leave(r, 1), true);
}

/* The inputs or outputs of a function: names, of which those with a type have a value_info too. */
typedef struct Parameters {
  OnnxlFunction *function;
  size_t capacity; /* of its value_info */
} Parameters;

static bool
add_value_info(OnnxlReader *r, Parameters *parameters, const OnnxlValueInfo *value)
{
  OnnxlValueInfoList *list = &parameters->function->value_info;

  if (!ONNXL_GROW(r->arena, &list->items, list->count, &parameters->capacity))
    return onnxl_reader_exhausted(r);
  list->items[list->count++] = *value;
  return true;
}

static bool
read_parameter(OnnxlReader *r, void *data)
{
  Parameters *parameters = data;
  OnnxlValueInfo value = { 0 };
  OnnxlTypePlaces places;

  if (!onnxl_reader_value(r, &value, &places))
    return false;
  if (!value.type && (value.doc_string.data || value.metadata_props.count > 0 || value.message.unknown.count > 0))
    return onnxl_reader_report_at(r, ONNXL_DIAG_EXPECTED, &places.start,
                                  "expected a type: without one there is no ValueInfoProto for the block");
  return (!value.type || add_value_info(r, parameters, &value)) && onnxl_reader_push(r, &value.name, sizeof value.name);
}

static bool
read_function_value(OnnxlReader *r, void *data)
{
  OnnxlValueInfo value = { 0 };
  OnnxlTypePlaces places;

  return onnxl_reader_value(r, &value, &places) && add_value_info(r, data, &value);
}

static bool
read_parameters(OnnxlReader *r, const char *what, Parameters *parameters, OnnxlStrList *names)
{
  size_t mark = r->scratch_used;

  if (!onnxl_reader_expect(r, '(', what))
    return false;
  bool ok = onnxl_reader_list(r, ')', read_parameter, parameters);
  ONNXL_READER_POP(r, mark, names);
  return ok;
}

static bool
read_function_head(OnnxlReader *r, OnnxlFunction *function)
{
  Parameters parameters = { .function = function };

  if (onnxl_reader_accept(r, '<') && !onnxl_reader_attributes(r, &function->attribute_proto, &function->attribute))
    return false;
  return read_parameters(r, "`(` with the inputs of the function", &parameters, &function->input) && read_arrow(r) &&
         read_parameters(r, "`(` with the outputs of the function", &parameters, &function->output) &&
         (!onnxl_reader_accept(r, '<') || onnxl_reader_list(r, '>', read_function_value, &parameters));
}

bool
onnxl_reader_function(OnnxlReader *r, OnnxlFunction *function)
{
  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok = ((onnxl_reader_name(r, "the name of a function", &function->name) && read_function_head(r, function)) ||
             recover_head(r)) &&
            read_body(r, "function", function->name, &function->node, NULL);
  onnxl_reader_leave(r, 1);
  return ok;
}
