/* Resolution of names, depth first in model order, so that a node sees just what is defined before it and around it.
 * The ids of one graph's nodes are reserved when it is entered, which makes them consecutive. */
#include "proto/index.h"

#include "support/error.h"

typedef struct Builder {
  OnnxlArena *arena;
  OnnxlDiagSink *sink;
  OnnxlIndexValue *values;
  OnnxlIndexNode *nodes;
  OnnxlIndexGraph *graphs;
  uint32_t *ids; /* room for the inputs and outputs of all nodes and graphs */
  uint32_t n_values, n_nodes, n_graphs, n_ids;
  OnnxlMap scope;   /* names visible now, to value ids; ONNXL_NONE once their graph was left */
  GArray *captured; /* of the nodes around this place, a stack of value ids */
  uint32_t *stamps; /* by value: the last node that captured it, plus 1 */
  OnnxlMap **later; /* by graph: names to the last node that gives them, made when an undefined name asks */
  bool full;        /* the arena is exhausted */
} Builder;

/* What all graphs together need. */
typedef struct Totals {
  size_t values, nodes, graphs, ids;
} Totals;

static void count_nodes(const OnnxlNodeList *nodes, Totals *totals);

static void
count_graph(const OnnxlGraph *graph, Totals *totals)
{
  totals->graphs++;
  totals->values += graph->input.count + graph->initializer.count + graph->sparse_initializer.count;
  totals->ids += graph->input.count + graph->output.count + graph->initializer.count + graph->sparse_initializer.count;
  count_nodes(&graph->node, totals);
}

static void
count_nodes(const OnnxlNodeList *nodes, Totals *totals)
{
  totals->nodes += nodes->count;
  for (size_t i = 0; i < nodes->count; i++) {
    const OnnxlNode *node = &nodes->items[i];
    totals->values += node->output.count;
    totals->ids += node->input.count + node->output.count;
    for (size_t j = 0; j < node->attribute.count; j++) {
      const OnnxlAttribute *attribute = &node->attribute.items[j];
      if (attribute->g)
        count_graph(attribute->g, totals);
      for (size_t k = 0; k < attribute->graphs.count; k++)
        count_graph(&attribute->graphs.items[k], totals);
    }
  }
}

/* The path of a graph or node, written from the end. */
static void
append_path(GString *path, const OnnxlIndexGraph *graphs, const OnnxlIndexNode *nodes, uint32_t graph)
{
  const OnnxlIndexGraph *g = &graphs[graph];

  if (g->parent_node == ONNXL_NONE) {
    if (g->function)
      g_string_append_printf(path, "/%.*s", ONNXL_ARG(g->function->name));
    return;
  }
  const OnnxlIndexNode *node = &nodes[g->parent_node];
  const OnnxlIndexGraph *around = &graphs[node->graph];
  append_path(path, graphs, nodes, node->graph);
  if (node->proto->name.size > 0)
    g_string_append_printf(path, "/%.*s", ONNXL_ARG(node->proto->name));
  else
    g_string_append_printf(path, "/#%u", g->parent_node - around->first_node);
  g_string_append_printf(path, "/%.*s", ONNXL_ARG(g->attribute->name));
}

static char *
path_of(const OnnxlIndexGraph *graphs, const OnnxlIndexNode *nodes, uint32_t graph, uint32_t node)
{
  GString *path = g_string_new(NULL);

  append_path(path, graphs, nodes, graph);
  if (node != ONNXL_NONE) {
    const OnnxlNode *proto = nodes[node].proto;
    if (proto->name.size > 0)
      g_string_append_printf(path, "/%.*s", ONNXL_ARG(proto->name));
    else
      g_string_append_printf(path, "/#%u", node - graphs[graph].first_node);
    g_string_append_printf(path, " (%.*s)", ONNXL_ARG(proto->op_type));
  } else if (path->len == 0) {
    g_string_append_c(path, '/');
  }
  return g_string_free(path, FALSE);
}

const char *
onnxl_index_node_path(const OnnxlIndex *index, uint32_t node, OnnxlArena *arena)
{
  g_autofree char *path = path_of(index->graphs, index->nodes, index->nodes[node].graph, node);
  const char *copy = onnxl_arena_copy(arena, onnxl_str(path)).data;

  return copy ? copy : "";
}

const char *
onnxl_index_graph_path(const OnnxlIndex *index, uint32_t graph, OnnxlArena *arena)
{
  g_autofree char *path = path_of(index->graphs, index->nodes, graph, ONNXL_NONE);
  const char *copy = onnxl_arena_copy(arena, onnxl_str(path)).data;

  return copy ? copy : "";
}

static void G_GNUC_PRINTF(5, 6)
finding(Builder *b, OnnxlDiagId id, uint32_t graph, uint32_t node, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  g_autofree char *path = path_of(b->graphs, b->nodes, graph, node);
  OnnxlLocation where = { .path = path };
  onnxl_diag(b->sink, id, &where, "%s", message);
}

/* Defines a name in the graph. Returns: its value, or NULL when it is defined already (a finding) or memory ran out. */
static OnnxlIndexValue *
define(Builder *b, OnnxlStr name, OnnxlValueKind kind, uint32_t graph, uint32_t node, size_t position)
{
  uint32_t *slot = onnxl_map_put(&b->scope, name, ONNXL_NONE, NULL);

  if (!slot) {
    b->full = true;
    return NULL;
  }
  if (*slot != ONNXL_NONE) {
    bool here = b->values[*slot].graph == graph;
    finding(b, here ? ONNXL_DIAG_DUPLICATE_VALUE : ONNXL_DIAG_SHADOWED_VALUE, graph, node,
            here ? "value '%.*s' is defined twice" : "value '%.*s' hides one of the same name in a graph around it",
            ONNXL_ARG(name));
    return NULL;
  }
  *slot = b->n_values;
  OnnxlIndexValue *value = &b->values[b->n_values++];
  *value = (OnnxlIndexValue){
    .name = name,
    .kind = kind,
    .graph = graph,
    .producer = node,
    .position = (uint32_t)position,
  };
  return value;
}

static uint32_t
id_of(const Builder *b, const OnnxlIndexValue *value)
{
  return value ? (uint32_t)(value - b->values) : ONNXL_NONE;
}

/* The node from number from on that gives the name: then the order is wrong. */
static const OnnxlNode *
later_producer(Builder *b, uint32_t graph, const OnnxlNodeList *nodes, size_t from, OnnxlStr name)
{
  OnnxlMap **later = &b->later[graph];

  if (!*later) {
    *later = ONNXL_NEW(b->arena, OnnxlMap);
    if (*later)
      **later = onnxl_map_new(b->arena, 0);
    for (size_t i = 0; *later && i < nodes->count; i++)
      for (size_t j = 0; j < nodes->items[i].output.count; j++) {
        uint32_t *slot = onnxl_map_put(*later, nodes->items[i].output.items[j], 0, NULL);
        if (slot)
          *slot = (uint32_t)i;
      }
  }
  uint32_t last = *later ? onnxl_map_get(*later, name) : ONNXL_MAP_NONE;
  return last != ONNXL_MAP_NONE && last >= from ? &nodes->items[last] : NULL;
}

/* The value of a name that a node uses, noted as captured when it comes from a graph around this one. */
static uint32_t
use(Builder *b, OnnxlStr name, uint32_t graph, const OnnxlNodeList *nodes, size_t i)
{
  uint32_t id = onnxl_map_get(&b->scope, name);
  uint32_t node = b->graphs[graph].first_node + (uint32_t)i;

  if (id == ONNXL_MAP_NONE) {
    const OnnxlNode *producer = later_producer(b, graph, nodes, i, name);
    if (producer)
      finding(
        b, ONNXL_DIAG_UNDEFINED_VALUE, graph, node,
        "input '%.*s' is defined only by this node or a later one (%.*s): the nodes are not in order, or form a cycle",
        ONNXL_ARG(name), ONNXL_ARG(producer->op_type));
    else
      finding(b, ONNXL_DIAG_UNDEFINED_VALUE, graph, node, "input '%.*s' is not defined", ONNXL_ARG(name));
    return ONNXL_NONE;
  }
  if (b->values[id].graph != graph)
    g_array_append_val(b->captured, id);
  return id;
}

/* Room for n ids. */
static uint32_t *
take_ids(Builder *b, size_t n)
{
  uint32_t *ids = b->ids + b->n_ids;

  b->n_ids += (uint32_t)n;
  return ids;
}

static void index_graph(Builder *b, uint32_t graph, const OnnxlGraph *proto);

/* Indexes the nested graphs of a node and gathers what they capture. */
static void
index_subgraphs(Builder *b, uint32_t id)
{
  OnnxlIndexNode *node = &b->nodes[id];
  const OnnxlAttributeList *attributes = &node->proto->attribute;
  guint base = b->captured->len;

  node->first_subgraph = b->n_graphs;
  for (size_t i = 0; i < attributes->count; i++)
    node->n_subgraphs += (attributes->items[i].g != NULL) + (uint32_t)attributes->items[i].graphs.count;
  if (node->n_subgraphs == 0)
    return;
  b->n_graphs += node->n_subgraphs;

  uint32_t next = node->first_subgraph;
  for (size_t i = 0; i < attributes->count; i++) {
    const OnnxlAttribute *attribute = &attributes->items[i];
    size_t n = (attribute->g != NULL) + attribute->graphs.count;
    for (size_t j = 0; j < n; j++, next++) {
      const OnnxlGraph *proto =
        attribute->g && j == 0 ? attribute->g : &attribute->graphs.items[j - (attribute->g != NULL)];
      b->graphs[next] = (OnnxlIndexGraph){ .proto = proto, .parent_node = id, .attribute = attribute };
      index_graph(b, next, proto);
    }
  }

  /* Each once; what does not come from this node's own graph is captured by the node around it as well, and stays on
   * the stack for that one. */
  guint kept = base;
  uint32_t *unique = onnxl_arena_array(b->arena, b->captured->len - base, sizeof(uint32_t));
  if (!unique) {
    b->full = true;
    return;
  }
  for (guint i = base; i < b->captured->len; i++) {
    uint32_t value = g_array_index(b->captured, uint32_t, i);
    if (b->stamps[value] == id + 1)
      continue;
    b->stamps[value] = id + 1;
    unique[node->n_captures++] = value;
    if (b->values[value].graph != node->graph)
      g_array_index(b->captured, uint32_t, kept++) = value;
  }
  node->captures = unique;
  g_array_set_size(b->captured, kept);
}

static void
index_nodes(Builder *b, uint32_t graph, const OnnxlNodeList *nodes)
{
  uint32_t first = b->n_nodes;

  b->graphs[graph].first_node = first;
  b->graphs[graph].n_nodes = (uint32_t)nodes->count;
  b->n_nodes += (uint32_t)nodes->count;
  for (size_t i = 0; i < nodes->count; i++)
    b->nodes[first + i] = (OnnxlIndexNode){ .proto = &nodes->items[i], .graph = graph };
  for (size_t i = 0; i < nodes->count && !b->full; i++) {
    const OnnxlNode *proto = &nodes->items[i];
    uint32_t id = first + (uint32_t)i;
    OnnxlIndexNode *node = &b->nodes[id];
    uint32_t *inputs = take_ids(b, proto->input.count);
    uint32_t *outputs = take_ids(b, proto->output.count);

    node->inputs = inputs;
    node->outputs = outputs;
    node->n_inputs = (uint32_t)proto->input.count;
    node->n_outputs = (uint32_t)proto->output.count;
    for (size_t j = 0; j < proto->input.count; j++) {
      OnnxlStr name = proto->input.items[j];
      inputs[j] = name.size == 0 ? ONNXL_NONE : use(b, name, graph, nodes, i);
      if (inputs[j] != ONNXL_NONE)
        b->values[inputs[j]].n_uses++;
    }
    index_subgraphs(b, id);
    for (size_t j = 0; j < proto->output.count; j++) {
      OnnxlStr name = proto->output.items[j];
      outputs[j] = name.size == 0 ? ONNXL_NONE : id_of(b, define(b, name, ONNXL_VALUE_NODE_OUTPUT, graph, id, j));
    }
  }
}

/* The value that a graph output names. */
static uint32_t
find_output(Builder *b, uint32_t graph, OnnxlStr name)
{
  uint32_t id = onnxl_map_get(&b->scope, name);

  if (id == ONNXL_MAP_NONE) {
    finding(b, ONNXL_DIAG_UNDEFINED_VALUE, graph, ONNXL_NONE, "output '%.*s' is not defined", ONNXL_ARG(name));
    return ONNXL_NONE;
  }
  if (b->values[id].graph != graph) {
    finding(b, ONNXL_DIAG_OUTER_OUTPUT, graph, ONNXL_NONE,
            "output '%.*s' is a value of a graph around this one; pass it through an Identity node", ONNXL_ARG(name));
    return ONNXL_NONE;
  }
  b->values[id].is_output = true;
  return id;
}

/* An initializer is a value of its own or the default of an input. */
static uint32_t
define_initializer(Builder *b, uint32_t graph, OnnxlStr name, size_t position, const OnnxlTensor *tensor,
                   const OnnxlSparseTensor *sparse)
{
  uint32_t id = onnxl_map_get(&b->scope, name);
  OnnxlIndexValue *value;

  if (id != ONNXL_MAP_NONE && b->values[id].graph == graph && b->values[id].kind == ONNXL_VALUE_INPUT) {
    value = &b->values[id];
    value->kind = ONNXL_VALUE_INITIALIZER;
    value->position = (uint32_t)position;
  } else {
    value = define(b, name, ONNXL_VALUE_INITIALIZER, graph, ONNXL_NONE, position);
  }
  if (value) {
    value->initializer = tensor;
    value->sparse = sparse;
  }
  return id_of(b, value);
}

/* Names defined in the graph go out of sight; after the root nobody looks any more. */
static void
leave_scope(Builder *b, uint32_t graph, uint32_t first_value)
{
  if (b->graphs[graph].parent_node == ONNXL_NONE)
    return;
  for (uint32_t i = first_value; i < b->n_values; i++) {
    if (b->values[i].graph != graph)
      continue;
    uint32_t *slot = onnxl_map_put(&b->scope, b->values[i].name, ONNXL_NONE, NULL);
    if (slot)
      *slot = ONNXL_NONE;
  }
}

static void
attach_infos(Builder *b, uint32_t graph, const OnnxlValueInfoList *infos)
{
  for (size_t i = 0; i < infos->count; i++) {
    uint32_t id = onnxl_map_get(&b->scope, infos->items[i].name);
    if (id != ONNXL_MAP_NONE && b->values[id].graph == graph && !b->values[id].info)
      b->values[id].info = &infos->items[i];
  }
}

static void
index_graph(Builder *b, uint32_t graph, const OnnxlGraph *proto)
{
  OnnxlIndexGraph *g = &b->graphs[graph];
  uint32_t first_value = b->n_values;
  uint32_t *inputs = take_ids(b, proto->input.count);
  uint32_t *outputs = take_ids(b, proto->output.count);
  uint32_t *initializers = take_ids(b, proto->initializer.count + proto->sparse_initializer.count);

  g->inputs = inputs;
  g->outputs = outputs;
  g->initializers = initializers;
  g->n_inputs = (uint32_t)proto->input.count;
  g->n_outputs = (uint32_t)proto->output.count;
  g->n_initializers = (uint32_t)(proto->initializer.count + proto->sparse_initializer.count);
  for (size_t i = 0; i < proto->input.count && !b->full; i++) {
    OnnxlIndexValue *value = define(b, proto->input.items[i].name, ONNXL_VALUE_INPUT, graph, ONNXL_NONE, i);
    inputs[i] = id_of(b, value);
    if (value) {
      value->info = &proto->input.items[i];
      value->is_input = true;
    }
  }
  for (size_t i = 0; i < proto->initializer.count && !b->full; i++) {
    const OnnxlTensor *tensor = &proto->initializer.items[i];
    initializers[i] = define_initializer(b, graph, tensor->name, i, tensor, NULL);
  }
  for (size_t i = 0; i < proto->sparse_initializer.count && !b->full; i++) {
    const OnnxlSparseTensor *sparse = &proto->sparse_initializer.items[i];
    size_t position = proto->initializer.count + i;
    OnnxlStr name = sparse->values ? sparse->values->name : ONNXL_STR("");
    initializers[position] = define_initializer(b, graph, name, position, NULL, sparse);
  }
  index_nodes(b, graph, &proto->node);
  for (size_t i = 0; i < proto->output.count && !b->full; i++)
    outputs[i] = find_output(b, graph, proto->output.items[i].name);
  attach_infos(b, graph, &proto->output);
  attach_infos(b, graph, &proto->value_info);
  leave_scope(b, graph, first_value);
}

static void
index_function(Builder *b, const OnnxlFunction *function)
{
  OnnxlIndexGraph *g = &b->graphs[0];
  uint32_t *inputs = take_ids(b, function->input.count);
  uint32_t *outputs = take_ids(b, function->output.count);

  g->inputs = inputs;
  g->outputs = outputs;
  g->n_inputs = (uint32_t)function->input.count;
  g->n_outputs = (uint32_t)function->output.count;
  for (size_t i = 0; i < function->input.count && !b->full; i++) {
    OnnxlIndexValue *value = define(b, function->input.items[i], ONNXL_VALUE_INPUT, 0, ONNXL_NONE, i);
    inputs[i] = id_of(b, value);
    if (value)
      value->is_input = true;
  }
  index_nodes(b, 0, &function->node);
  for (size_t i = 0; i < function->output.count && !b->full; i++)
    outputs[i] = find_output(b, 0, function->output.items[i]);
  attach_infos(b, 0, &function->value_info);
}

/* Groups the users of each value; n_uses were counted on the way. */
static uint32_t *
group_uses(Builder *b)
{
  uint32_t total = 0;

  for (uint32_t i = 0; i < b->n_values; i++) {
    b->values[i].first_use = total;
    total += b->values[i].n_uses;
    b->values[i].n_uses = 0;
  }
  uint32_t *uses = onnxl_arena_array(b->arena, total, sizeof(uint32_t));
  for (uint32_t i = 0; uses && i < b->n_nodes; i++)
    for (uint32_t j = 0; j < b->nodes[i].n_inputs; j++) {
      uint32_t id = b->nodes[i].inputs[j];
      if (id != ONNXL_NONE)
        uses[b->values[id].first_use + b->values[id].n_uses++] = i;
    }
  return uses;
}

const OnnxlIndex *
onnxl_index_new(const OnnxlModel *model, const OnnxlFunction *function, OnnxlArena *arena, OnnxlDiagSink *sink,
                GError **error)
{
  const OnnxlGraph *graph = function ? NULL : model->proto.graph;
  uint32_t errors = onnxl_diag_errors(sink);
  Totals totals = { 0 };

  if (graph) {
    count_graph(graph, &totals);
  } else if (function) {
    totals = (Totals){ function->input.count, 0, 1, function->input.count + function->output.count };
    count_nodes(&function->node, &totals);
  } else {
    onnxl_diag(sink, ONNXL_DIAG_NO_GRAPH, NULL, "the model has no graph");
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the model has no graph");
    return NULL;
  }

  Builder b = { .arena = arena, .sink = sink };
  OnnxlIndex *index = ONNXL_NEW(arena, OnnxlIndex);
  bool fits = totals.values < ONNXL_NONE && totals.nodes < ONNXL_NONE && totals.ids < ONNXL_NONE;
  if (fits) {
    b.values = ONNXL_NEW_ARRAY(arena, OnnxlIndexValue, totals.values);
    b.nodes = ONNXL_NEW_ARRAY(arena, OnnxlIndexNode, totals.nodes);
    b.graphs = ONNXL_NEW_ARRAY(arena, OnnxlIndexGraph, totals.graphs);
    b.ids = ONNXL_NEW_ARRAY(arena, uint32_t, totals.ids);
    b.stamps = ONNXL_NEW_ARRAY(arena, uint32_t, totals.values);
    b.later = ONNXL_NEW_ARRAY(arena, OnnxlMap *, totals.graphs);
    b.scope = onnxl_map_new(arena, totals.values);
  }
  if (!fits || onnxl_arena_exhausted(arena)) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the names need more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }

  b.captured = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  b.n_graphs = 1;
  b.graphs[0] = (OnnxlIndexGraph){ .proto = graph, .function = function, .parent_node = ONNXL_NONE };
  if (graph)
    index_graph(&b, 0, graph);
  else
    index_function(&b, function);
  g_array_free(b.captured, TRUE);
  if (onnxl_diag_errors(sink) > errors) {
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the graph is not valid");
    return NULL;
  }

  *index = (OnnxlIndex){ model, b.values, b.nodes, b.graphs, group_uses(&b), b.n_values, b.n_nodes, b.n_graphs };
  if (b.full || onnxl_arena_exhausted(arena)) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the names need more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }
  return index;
}

int64_t
onnxl_opset_version(const OnnxlModel *model, const OnnxlFunction *function, OnnxlStr domain)
{
  const OnnxlOpsetList *lists[] = { function ? &function->opset_import : NULL, &model->proto.opset_import };
  OnnxlStr wanted = onnxl_domain_normal(domain);

  for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
    for (size_t j = 0; lists[i] && j < lists[i]->count; j++)
      if (onnxl_str_equal(onnxl_domain_normal(lists[i]->items[j].domain), wanted))
        return lists[i]->items[j].version;
  /* Before ir_version 3 there was but one operator set, which no model had to import. */
  return wanted.size == 0 && model->proto.has_ir_version && model->proto.ir_version < 3;
}
