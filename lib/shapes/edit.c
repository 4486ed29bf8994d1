/* Changes of declared shapes: bind, rename and replace dims. */
#include "shapes/annotate.h"
#include "shapes/shape-internal.h"
#include "support/error.h"

/* Nesting of types and of expressions. */
#define MAX_TYPE_DEPTH 16
#define MAX_EXPR_DEPTH 64

/* A symbol becomes a number or another symbol; or nothing changes and all names are collected. */
typedef struct Change {
  OnnxlModel *model;
  OnnxlStr name;
  bool bind;
  int64_t value;
  OnnxlStr other;
  OnnxlExprPool *pool; /* made for the first expression */
  bool found;
  GPtrArray *names; /* of char *, or NULL */
} Change;

static void
collect(void *data, OnnxlExpr symbol)
{
  Change *change = data;
  OnnxlStr name;
  if (!onnxl_expr_is_symbol(symbol, &name))
    return;
  change->found = change->found || onnxl_str_equal(name, change->name);
  g_ptr_array_add(change->names, g_strndup(name.data, name.size));
}

static OnnxlExpr
parsed(Change *change, OnnxlStr text)
{
  if (!change->pool)
    change->pool = onnxl_expr_pool_new(change->model->arena);
  return onnxl_expr_parse(change->pool, text, MAX_EXPR_DEPTH, NULL);
}

static void
collect_dim(Change *change, const OnnxlDimension *dim)
{
  OnnxlExpr e = onnxl_str_is_identifier(dim->dim_param) ? NULL : parsed(change, dim->dim_param);
  change->found = change->found || onnxl_str_equal(dim->dim_param, change->name);
  if (e)
    onnxl_expr_symbols(change->pool, e, collect, change);
  else
    g_ptr_array_add(change->names, g_strndup(dim->dim_param.data, dim->dim_param.size));
}

static OnnxlExpr
replacement(void *data, OnnxlStr name)
{
  Change *change = data;
  if (!onnxl_str_equal(name, change->name))
    return NULL;
  change->found = true;
  return change->bind ? onnxl_expr_int(change->pool, change->value) : onnxl_expr_symbol(change->pool, change->other);
}

static void
put_number(OnnxlDimension *dim, int64_t value)
{
  dim->has_dim_value = true;
  dim->dim_value = value;
  dim->dim_param = (OnnxlStr){ 0 };
}

static void
change_dim(Change *change, OnnxlDimension *dim)
{
  if (dim->has_dim_value || onnxl_str_is_empty(dim->dim_param))
    return;
  if (change->names) {
    collect_dim(change, dim);
    return;
  }
  if (onnxl_str_equal(dim->dim_param, change->name)) {
    change->found = true;
    if (change->bind)
      put_number(dim, change->value);
    else
      dim->dim_param = change->other;
    return;
  }
  if (onnxl_str_is_identifier(dim->dim_param))
    return;
  OnnxlExpr e = parsed(change, dim->dim_param), to;
  bool before = change->found;
  change->found = false;
  to = e ? onnxl_expr_substitute(change->pool, e, replacement, change) : NULL;
  int64_t value;
  if (to && change->found) {
    if (onnxl_expr_is_int(to, &value))
      put_number(dim, value);
    else
      dim->dim_param = onnxl_arena_copy(change->model->arena, onnxl_expr_text(change->pool, to));
  }
  change->found = change->found || before;
}

static void
change_type(Change *change, OnnxlType *type, unsigned depth)
{
  if (!type || depth > MAX_TYPE_DEPTH)
    return;
  OnnxlTensorType *tensor = type->tensor_type ? type->tensor_type : type->sparse_tensor_type;
  for (size_t i = 0; tensor && tensor->shape && i < tensor->shape->dim.count; i++)
    change_dim(change, &tensor->shape->dim.items[i]);
  if (type->sequence_type)
    change_type(change, type->sequence_type->elem_type, depth + 1);
  if (type->optional_type)
    change_type(change, type->optional_type->elem_type, depth + 1);
  if (type->map_type)
    change_type(change, type->map_type->value_type, depth + 1);
}

static void
change_list(Change *change, OnnxlValueInfoList *list)
{
  for (size_t i = 0; i < list->count; i++)
    change_type(change, list->items[i].type, 0);
}

/* Recursion is as deep as the model, which loading has limited. */
static void
change_graph(Change *change, OnnxlGraph *graph)
{
  change_list(change, &graph->input);
  change_list(change, &graph->output);
  change_list(change, &graph->value_info);
  for (size_t i = 0; i < graph->node.count; i++)
    for (size_t k = 0; k < graph->node.items[i].attribute.count; k++) {
      OnnxlAttribute *a = &graph->node.items[i].attribute.items[k];
      if (a->g)
        change_graph(change, a->g);
      for (size_t j = 0; j < a->graphs.count; j++)
        change_graph(change, &a->graphs.items[j]);
    }
}

static bool
apply(Change *change, GError **error)
{
  if (change->model->proto.graph)
    change_graph(change, change->model->proto.graph);
  if (change->pool)
    onnxl_expr_pool_free(change->pool);
  return change->found || onnxl_shapes_check_name(change->model, change->name, error);
}

/* The names of dims of inputs that have none. */
static void
collect_default_names(Change *change)
{
  const OnnxlGraph *graph = change->model->proto.graph;
  for (size_t i = 0; graph && i < graph->input.count; i++) {
    const OnnxlType *type = graph->input.items[i].type;
    const OnnxlShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    for (size_t k = 0; shape && k < shape->dim.count; k++) {
      const OnnxlDimension *dim = &shape->dim.items[k];
      if ((dim->has_dim_value && dim->dim_value >= 0) || !onnxl_str_is_empty(dim->dim_param))
        continue;
      OnnxlStr name =
        onnxl_shape_default_name(change->model->arena, ONNXL_STR(""), graph->input.items[i].name, (uint32_t)k);
      change->found = change->found || onnxl_str_equal(name, change->name);
      g_ptr_array_add(change->names, g_strndup(name.data, name.size));
    }
  }
}

bool
onnxl_shapes_check_name(OnnxlModel *model, OnnxlStr name, GError **error)
{
  Change change = { .model = model, .name = name, .names = g_ptr_array_new_with_free_func(g_free) };
  if (model->proto.graph)
    change_graph(&change, model->proto.graph);
  collect_default_names(&change);
  if (change.pool)
    onnxl_expr_pool_free(change.pool);
  if (!change.found)
    onnxl_shape_no_name(name, (const char *const *)change.names->pdata, change.names->len, error);
  g_ptr_array_free(change.names, TRUE);
  return change.found;
}

bool
onnxl_shapes_bind(OnnxlModel *model, OnnxlStr name, int64_t value, GError **error)
{
  Change change = { .model = model, .name = name, .bind = true, .value = value };
  return apply(&change, error);
}

bool
onnxl_shapes_rename(OnnxlModel *model, OnnxlStr from, OnnxlStr to, GError **error)
{
  Change change = { .model = model, .name = from, .other = onnxl_arena_copy(model->arena, to) };
  return apply(&change, error);
}

bool
onnxl_shapes_name_inputs(OnnxlModel *model, GError **error)
{
  OnnxlGraph *graph = model->proto.graph;
  for (size_t i = 0; graph && i < graph->input.count; i++) {
    OnnxlType *type = graph->input.items[i].type;
    OnnxlShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
    for (size_t k = 0; shape && k < shape->dim.count; k++) {
      OnnxlDimension *dim = &shape->dim.items[k];
      if ((dim->has_dim_value && dim->dim_value >= 0) || !onnxl_str_is_empty(dim->dim_param))
        continue;
      dim->has_dim_value = false;
      dim->dim_param = onnxl_shape_default_name(model->arena, ONNXL_STR(""), graph->input.items[i].name, (uint32_t)k);
    }
  }
  return !onnxl_arena_exhausted(model->arena) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "the model needs more metadata than --max-metadata allows");
}

static bool
put_text(OnnxlModel *model, OnnxlDimension *dim, OnnxlStr text)
{
  uint64_t value;
  *dim = (OnnxlDimension){ 0 };
  if (onnxl_str_is(text, "?"))
    return true;
  if (onnxl_str_to_uint64(text, INT64_MAX, &value)) {
    put_number(dim, (int64_t)value);
    return true;
  }
  if (text.size == 0 || g_ascii_isdigit(text.data[0]) || text.data[0] == '-' || text.data[0] == '+')
    return false;
  dim->dim_param = onnxl_arena_copy(model->arena, text);
  return true;
}

bool
onnxl_shapes_set(OnnxlModel *model, OnnxlStr input, OnnxlStr shape, GError **error)
{
  OnnxlGraph *graph = model->proto.graph;
  OnnxlType *type = NULL;
  bool found = false;
  for (size_t i = 0; graph && i < graph->input.count && !found; i++) {
    found = onnxl_str_equal(graph->input.items[i].name, input);
    type = graph->input.items[i].type;
  }
  if (!found)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the model has no input '%.*s'", ONNXL_ARG(input));
  if (!type || !type->tensor_type)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the input '%.*s' is not a tensor", ONNXL_ARG(input));
  OnnxlShapeProto *proto = ONNXL_NEW(model->arena, OnnxlShapeProto);
  for (size_t start = 0, i = 0; proto && shape.size > 0 && i <= shape.size; i++) {
    if (i < shape.size && shape.data[i] != ',')
      continue;
    OnnxlDimension *dim = ONNXL_APPEND(model->arena, &proto->dim);
    if (dim && !put_text(model, dim, onnxl_str_n(shape.data + start, i - start)))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "'%.*s' is not a shape: numbers, names and '?', separated by commas",
                        ONNXL_ARG(shape));
    start = i + 1;
  }
  type->tensor_type->shape = proto;
  return !onnxl_arena_exhausted(model->arena) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "the model needs more metadata than --max-metadata allows");
}
