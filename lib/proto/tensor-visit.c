/* The walk over every tensor of a model. The path is one buffer that grows and shrinks along the way. */
#include "proto/tensor.h"

typedef struct Walk {
  GString *path;
  OnnxlTensorVisit visit;
  void *data;
  GError **error;
} Walk;

static bool walk_graph(Walk *walk, OnnxlGraph *graph);

/* The caller truncates the path again. What follows a NUL in a name is left out. */
static void
enter(Walk *walk, OnnxlStr name)
{
  g_string_append_c(walk->path, '/');
  if (name.size > 0)
    g_string_append_len(walk->path, name.data, (gssize)strnlen(name.data, name.size));
}

static bool
visit_tensor(Walk *walk, OnnxlTensor *tensor)
{
  gsize length = walk->path->len;

  if (tensor->name.size > 0)
    enter(walk, tensor->name);
  bool go_on = walk->visit(walk->data, tensor, walk->path->len > 0 ? walk->path->str : "/", walk->error);
  g_string_truncate(walk->path, length);
  return go_on;
}

static bool
visit_sparse(Walk *walk, OnnxlSparseTensor *sparse)
{
  return (!sparse->values || visit_tensor(walk, sparse->values)) &&
         (!sparse->indices || visit_tensor(walk, sparse->indices));
}

static bool
walk_attribute(Walk *walk, OnnxlAttribute *attribute)
{
  bool go_on = (!attribute->t || visit_tensor(walk, attribute->t)) &&
               (!attribute->g || walk_graph(walk, attribute->g)) &&
               (!attribute->sparse_tensor || visit_sparse(walk, attribute->sparse_tensor));

  for (size_t i = 0; go_on && i < attribute->tensors.count; i++)
    go_on = visit_tensor(walk, &attribute->tensors.items[i]);
  for (size_t i = 0; go_on && i < attribute->graphs.count; i++)
    go_on = walk_graph(walk, &attribute->graphs.items[i]);
  for (size_t i = 0; go_on && i < attribute->sparse_tensors.count; i++)
    go_on = visit_sparse(walk, &attribute->sparse_tensors.items[i]);
  return go_on;
}

static bool
walk_attributes(Walk *walk, OnnxlAttributeList *attributes)
{
  for (size_t i = 0; i < attributes->count; i++) {
    gsize length = walk->path->len;
    enter(walk, attributes->items[i].name);
    bool go_on = walk_attribute(walk, &attributes->items[i]);
    g_string_truncate(walk->path, length);
    if (!go_on)
      return false;
  }
  return true;
}

static bool
walk_nodes(Walk *walk, OnnxlNodeList *nodes)
{
  for (size_t i = 0; i < nodes->count; i++) {
    OnnxlNode *node = &nodes->items[i];
    gsize length = walk->path->len;

    if (node->attribute.count == 0)
      continue;
    if (node->name.size > 0)
      enter(walk, node->name);
    else
      g_string_append_printf(walk->path, "/#%zu", i);
    bool go_on = walk_attributes(walk, &node->attribute);
    g_string_truncate(walk->path, length);
    if (!go_on)
      return false;
  }
  return true;
}

static bool
walk_graph(Walk *walk, OnnxlGraph *graph)
{
  bool go_on = true;

  for (size_t i = 0; go_on && i < graph->initializer.count; i++)
    go_on = visit_tensor(walk, &graph->initializer.items[i]);
  for (size_t i = 0; go_on && i < graph->sparse_initializer.count; i++)
    go_on = visit_sparse(walk, &graph->sparse_initializer.items[i]);
  return go_on && walk_nodes(walk, &graph->node);
}

bool
onnxl_model_visit_tensors(OnnxlModel *model, OnnxlTensorVisit visit, void *data, GError **error)
{
  Walk walk = { g_string_new(NULL), visit, data, error };
  OnnxlModelProto *proto = &model->proto;
  bool go_on = !proto->graph || walk_graph(&walk, proto->graph);

  for (size_t i = 0; go_on && i < proto->functions.count; i++) {
    OnnxlFunction *function = &proto->functions.items[i];
    enter(&walk, function->name);
    go_on = walk_attributes(&walk, &function->attribute_proto) && walk_nodes(&walk, &function->node);
    g_string_truncate(walk.path, 0);
  }
  for (size_t i = 0; go_on && i < proto->training_info.count; i++) {
    OnnxlTrainingInfo *info = &proto->training_info.items[i];
    go_on = (!info->initialization || walk_graph(&walk, info->initialization)) &&
            (!info->algorithm || walk_graph(&walk, info->algorithm));
  }
  g_string_free(walk.path, TRUE);
  return go_on;
}
