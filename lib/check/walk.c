/* The way through the model: each thing gets a place, on which the rules run before the walk goes on to what is inside.
 */
#include "check/check-internal.h"

static void walk_graph(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlGraph *graph, uint32_t index_graph,
                       uint32_t first_node);

static OnnxlCheckPlace
place(const OnnxlCheckPlace *around, OnnxlCheckKind kind, const void *message, size_t position)
{
  OnnxlCheckPlace at = { .around = around, .kind = kind, .failed = around->failed, .position = position };

  at.message = message;
  return at;
}

/* Returns the rules that failed. */
static uint64_t
walk_tensor(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlTensor *tensor, size_t position)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_TENSOR, tensor, position);

  at.metadata = &tensor->metadata_props;
  onnxl_check_run(check, &at);
  return at.failed;
}

/* A sparse tensor is looked at after its parts: the rules for it need what theirs prove. */
static void
walk_sparse(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlSparseTensor *sparse, size_t position)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_SPARSE, sparse, position);
  uint64_t failed = 0;

  if (sparse->values)
    failed |= walk_tensor(check, around, sparse->values, 0);
  if (sparse->indices)
    failed |= walk_tensor(check, around, sparse->indices, 1);
  at.failed |= failed;
  onnxl_check_run(check, &at);
}

static void
walk_values(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlValueInfoList *infos, OnnxlCheckKind kind)
{
  for (size_t i = 0; i < infos->count; i++) {
    OnnxlCheckPlace at = place(around, kind, &infos->items[i], i);
    at.metadata = &infos->items[i].metadata_props;
    onnxl_check_run(check, &at);
  }
}

/* next_graph: number of the next nested graph of the node, which has one whenever names are resolved. */
static void
walk_nested(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlGraph *graph, uint32_t *next_graph)
{
  const OnnxlIndex *index = check->body ? check->body->index : NULL;

  walk_graph(check, around, graph, *next_graph, index ? index->graphs[*next_graph].first_node : 0);
  ++*next_graph;
}

static void
walk_attributes(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlAttributeList *attributes,
                uint32_t next_graph)
{
  for (size_t i = 0; i < attributes->count; i++) {
    const OnnxlAttribute *attribute = &attributes->items[i];
    OnnxlCheckPlace at = place(around, ONNXL_CHECK_ATTRIBUTE, attribute, i);
    onnxl_check_run(check, &at);
    if (attribute->t)
      walk_tensor(check, &at, attribute->t, 0);
    for (size_t j = 0; j < attribute->tensors.count; j++)
      walk_tensor(check, &at, &attribute->tensors.items[j], j);
    if (attribute->sparse_tensor)
      walk_sparse(check, &at, attribute->sparse_tensor, 0);
    for (size_t j = 0; j < attribute->sparse_tensors.count; j++)
      walk_sparse(check, &at, &attribute->sparse_tensors.items[j], j);
    if (attribute->g)
      walk_nested(check, &at, attribute->g, &next_graph);
    for (size_t j = 0; j < attribute->graphs.count; j++)
      walk_nested(check, &at, &attribute->graphs.items[j], &next_graph);
  }
}

/* The function or operator that a node names. */
static void
resolve(const OnnxlCheck *check, OnnxlCheckPlace *at)
{
  const OnnxlNode *node = at->node;

  at->version = onnxl_opset_version(check->model, check->body->function, node->domain);
  if (check->functions)
    at->callee = onnxl_function_table_find(check->functions, node);
  if (!at->callee)
    at->schema = onnxl_op_find(node->domain, node->op_type, at->version);
}

static void
walk_nodes(OnnxlCheck *check, const OnnxlCheckPlace *around)
{
  const OnnxlIndex *index = check->body->index;

  for (size_t i = 0; i < around->nodes->count && !check->error; i++) {
    const OnnxlNode *node = &around->nodes->items[i];
    OnnxlCheckPlace at = place(around, ONNXL_CHECK_NODE, node, i);
    at.metadata = &node->metadata_props;
    at.id = around->first_node + (uint32_t)i;
    resolve(check, &at);
    onnxl_check_run(check, &at);
    walk_attributes(check, &at, &node->attribute, index ? index->nodes[at.id].first_subgraph : 0);
  }
}

static void
walk_graph(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlGraph *graph, uint32_t index_graph,
           uint32_t first_node)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_GRAPH, graph, 0);

  at.nodes = &graph->node;
  at.infos = &graph->value_info;
  at.metadata = &graph->metadata_props;
  at.index_graph = index_graph;
  at.first_node = first_node;
  onnxl_check_run(check, &at);
  walk_values(check, &at, &graph->input, ONNXL_CHECK_INPUT);
  walk_values(check, &at, &graph->output, ONNXL_CHECK_OUTPUT);
  walk_values(check, &at, &graph->value_info, ONNXL_CHECK_VALUE_INFO);
  for (size_t i = 0; i < graph->initializer.count; i++)
    walk_tensor(check, &at, &graph->initializer.items[i], i);
  for (size_t i = 0; i < graph->sparse_initializer.count; i++)
    walk_sparse(check, &at, &graph->sparse_initializer.items[i], i);
  walk_nodes(check, &at);
}

/* Names in graphs that are defaults of a function's attributes resolve only where the function is called. */
static void
walk_defaults(OnnxlCheck *check, const OnnxlCheckPlace *function, const OnnxlAttributeList *attributes)
{
  OnnxlCheckPlace at = *function;
  const OnnxlIndex *index = check->body->index;

  at.failed |= NEEDS(resolved);
  check->body->index = NULL;
  walk_attributes(check, &at, attributes, 0);
  check->body->index = index;
}

static void
walk_function(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlFunction *function)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_FUNCTION, function, 0);

  at.nodes = &function->node;
  at.infos = &function->value_info;
  at.metadata = &function->metadata_props;
  onnxl_check_run(check, &at);
  walk_values(check, &at, &function->value_info, ONNXL_CHECK_VALUE_INFO);
  walk_defaults(check, &at, &function->attribute_proto);
  walk_nodes(check, &at);
}

/* One of graph and function is set. first_node: of the graph in the model that names are resolved in. Returns true when
 * they all were. */
static bool
walk_body(OnnxlCheck *check, const OnnxlCheckPlace *around, OnnxlCheckBody *body, const OnnxlGraph *graph,
          size_t first_node, const char *label)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_BODY, NULL, 0);

  if (check->error)
    return false;
  at.label = label;
  body->arena = onnxl_arena_new(check->budget);
  body->domains = onnxl_map_new(body->arena, 0);
  check->body = body;
  onnxl_check_run(check, &at);
  if (body->function)
    walk_function(check, &at, body->function);
  else
    walk_graph(check, &at, graph, 0, (uint32_t)first_node);
  check->body = NULL;
  onnxl_arena_free(body->arena);
  return !(at.failed & NEEDS(resolved));
}

/* The lists of two graphs one behind the other. */
#define JOIN(arena, a, b, field)                                                                                \
  do {                                                                                                          \
    __typeof__((a)->field) *list = &(a)->field;                                                                 \
    const __typeof__((a)->field) *more = &(b)->field;                                                           \
    __typeof__(list->items) items = onnxl_arena_array((arena), list->count + more->count, sizeof *list->items); \
    if (items && list->count > 0)                                                                               \
      memcpy(items, list->items, list->count * sizeof *items);                                                  \
    if (items && more->count > 0)                                                                               \
      memcpy(items + list->count, more->items, more->count * sizeof *items);                                    \
    list->count += items ? more->count : 0;                                                                     \
    list->items = items ? items : list->items;                                                                  \
  } while (0)

/* The standard puts the algorithm behind the model's own graph: what it uses may be defined there. */
static void
walk_algorithm(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlGraph *algorithm)
{
  OnnxlModel model = *check->model;
  OnnxlGraph both = *model.proto.graph;
  OnnxlCheckBody body = { .model = &model, .is_training = true };

  JOIN(check->arena, &both, algorithm, input);
  JOIN(check->arena, &both, algorithm, output);
  JOIN(check->arena, &both, algorithm, value_info);
  JOIN(check->arena, &both, algorithm, initializer);
  JOIN(check->arena, &both, algorithm, sparse_initializer);
  JOIN(check->arena, &both, algorithm, node);
  model.proto.graph = &both;
  if (onnxl_arena_exhausted(check->arena))
    onnxl_check_exhausted(check);
  walk_body(check, around, &body, algorithm, check->proto->graph->node.count, "algorithm");
}

static void
walk_training(OnnxlCheck *check, const OnnxlCheckPlace *around, const OnnxlTrainingInfo *training, size_t i)
{
  OnnxlCheckPlace at = place(around, ONNXL_CHECK_TRAINING, training, i);

  onnxl_check_run(check, &at);
  if (training->initialization) {
    OnnxlModel model = *check->model;
    OnnxlCheckBody body = { .model = &model, .is_training = true };
    model.proto.graph = training->initialization;
    walk_body(check, &at, &body, training->initialization, 0, "initialization");
  }
  if (training->algorithm && check->proto->graph && check->graph_resolved)
    walk_algorithm(check, &at, training->algorithm);
}

void
onnxl_check_walk(OnnxlCheck *check)
{
  OnnxlCheckPlace model = { .kind = ONNXL_CHECK_MODEL, .metadata = &check->proto->metadata_props };

  model.message = check->proto;
  onnxl_check_run(check, &model);
  if (check->proto->graph) {
    OnnxlCheckBody body = { .model = check->model };
    check->graph_resolved = walk_body(check, &model, &body, check->proto->graph, 0, NULL);
  }
  for (size_t i = 0; i < check->proto->functions.count; i++) {
    OnnxlCheckBody body = { .model = check->model, .function = &check->proto->functions.items[i] };
    walk_body(check, &model, &body, NULL, 0, NULL);
  }
  for (size_t i = 0; i < check->proto->training_info.count; i++)
    walk_training(check, &model, &check->proto->training_info.items[i], i);
}
