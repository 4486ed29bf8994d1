/* The model's functions by identity, and the check that none calls itself, directly or through others. */
#include "proto/index.h"

#include "support/error.h"

struct OnnxlFunctionTable {
  const OnnxlModel *model;
  OnnxlMap map; /* "domain\0name\0overload" to the index of the function */
};

/* The key of an identity. A NUL cannot make two identities equal: the sizes stand in front. */
static OnnxlStr
key_of(char *buffer, size_t size, OnnxlStr domain, OnnxlStr name, OnnxlStr overload, char **ret_long)
{
  domain = onnxl_domain_normal(domain);
  size_t total = 2 * sizeof(size_t) + domain.size + name.size + overload.size;
  char *key = total <= size ? buffer : (*ret_long = g_try_malloc(total));
  char *at = key;

  if (!key)
    return (OnnxlStr){ NULL, 0 };
  at = (char *)memcpy(at, &domain.size, sizeof(size_t)) + sizeof(size_t);
  at = (char *)memcpy(at, &name.size, sizeof(size_t)) + sizeof(size_t);
  OnnxlStr parts[] = { domain, name, overload };
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
    if (parts[i].size > 0)
      memcpy(at, parts[i].data, parts[i].size);
    at += parts[i].size;
  }
  return onnxl_str_n(key, total);
}

static uint32_t
find(const OnnxlFunctionTable *table, OnnxlStr domain, OnnxlStr name, OnnxlStr overload)
{
  char buffer[512];
  g_autofree char *heap = NULL;
  OnnxlStr key = key_of(buffer, sizeof buffer, domain, name, overload, &heap);

  return key.data && table->map.count > 0 ? onnxl_map_get(&table->map, key) : ONNXL_MAP_NONE;
}

const OnnxlFunction *
onnxl_function_table_find(const OnnxlFunctionTable *table, const OnnxlNode *node)
{
  uint32_t i = find(table, node->domain, node->op_type, node->overload);

  return i == ONNXL_MAP_NONE ? NULL : &table->model->proto.functions.items[i];
}

/* Walks the calls of a function depth first with a stack of its own: chains of calls may be as long as the model. */
typedef struct Frame {
  uint32_t function;
  uint32_t parent; /* frame index + 1, for the message */
  bool entered;
} Frame;

static void
push_calls(const OnnxlFunctionTable *table, const OnnxlNodeList *nodes, uint32_t parent, GArray *stack)
{
  for (size_t i = 0; i < nodes->count; i++) {
    const OnnxlNode *node = &nodes->items[i];
    uint32_t callee = find(table, node->domain, node->op_type, node->overload);
    if (callee != ONNXL_MAP_NONE) {
      Frame frame = { callee, parent, false };
      g_array_append_val(stack, frame);
    }
    for (size_t j = 0; j < node->attribute.count; j++) {
      const OnnxlAttribute *attribute = &node->attribute.items[j];
      if (attribute->g)
        push_calls(table, &attribute->g->node, parent, stack);
      for (size_t k = 0; k < attribute->graphs.count; k++)
        push_calls(table, &attribute->graphs.items[k].node, parent, stack);
    }
  }
}

static void
report_cycle(const OnnxlFunctionTable *table, const GArray *stack, uint32_t from, uint32_t again, OnnxlDiagSink *sink)
{
  const OnnxlFunction *functions = table->model->proto.functions.items;
  GString *text = g_string_new(NULL);

  g_string_printf(text, "%.*s::%.*s", ONNXL_ARG(functions[again].domain), ONNXL_ARG(functions[again].name));
  for (uint32_t i = from; i > 0; i = g_array_index(stack, Frame, i - 1).parent) {
    uint32_t id = g_array_index(stack, Frame, i - 1).function;
    g_autofree char *part =
      g_strdup_printf("%.*s::%.*s -> ", ONNXL_ARG(functions[id].domain), ONNXL_ARG(functions[id].name));
    g_string_prepend(text, part);
    if (id == again)
      break;
  }
  onnxl_diag(sink, ONNXL_DIAG_FUNCTION_CYCLE, NULL, "functions call each other in a cycle: %s", text->str);
  g_string_free(text, TRUE);
}

static void
check_cycles(const OnnxlFunctionTable *table, uint8_t *states, OnnxlDiagSink *sink)
{
  enum { NEW, OPEN, DONE };
  size_t n = table->model->proto.functions.count;
  GArray *stack = g_array_new(FALSE, FALSE, sizeof(Frame));

  for (uint32_t root = 0; root < n; root++) {
    Frame frame = { root, 0, false };
    if (states[root] != NEW)
      continue;
    g_array_append_val(stack, frame);
    while (stack->len > 0) {
      Frame *top = &g_array_index(stack, Frame, stack->len - 1);
      uint32_t id = top->function;
      if (top->entered || states[id] == DONE) {
        if (top->entered)
          states[id] = DONE;
        g_array_set_size(stack, stack->len - 1);
        continue;
      }
      if (states[id] == OPEN) {
        report_cycle(table, stack, top->parent, id, sink);
        g_array_set_size(stack, stack->len - 1);
        continue;
      }
      states[id] = OPEN;
      top->entered = true;
      push_calls(table, &table->model->proto.functions.items[id].node, stack->len, stack);
    }
  }
  g_array_free(stack, TRUE);
}

const OnnxlFunctionTable *
onnxl_function_table_new(const OnnxlModel *model, OnnxlArena *arena, OnnxlDiagSink *sink, GError **error)
{
  size_t n = model->proto.functions.count;
  uint32_t errors = onnxl_diag_errors(sink);
  OnnxlFunctionTable *table = ONNXL_NEW(arena, OnnxlFunctionTable);
  uint8_t *states = onnxl_arena_alloc(arena, n);

  if (table && states && n < ONNXL_NONE) {
    *table = (OnnxlFunctionTable){ model, onnxl_map_new(arena, n) };
    for (size_t i = 0; i < n && !onnxl_arena_exhausted(arena); i++) {
      const OnnxlFunction *function = &model->proto.functions.items[i];
      g_autofree char *heap = NULL;
      OnnxlStr key = key_of(NULL, 0, function->domain, function->name, function->overload, &heap);
      OnnxlStr copy = onnxl_arena_copy(arena, key);
      bool added = false;
      if (copy.data && onnxl_map_put(&table->map, copy, (uint32_t)i, &added) && !added)
        onnxl_diag(sink, ONNXL_DIAG_DUPLICATE_FUNCTION, NULL, "function '%.*s::%.*s' is defined twice",
                   ONNXL_ARG(function->domain), ONNXL_ARG(function->name));
    }
    if (!onnxl_arena_exhausted(arena))
      check_cycles(table, states, sink);
  }
  if (onnxl_arena_exhausted(arena) || !table || !states) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the functions need more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }
  if (onnxl_diag_errors(sink) > errors) {
    onnxl_fail(error, ONNXL_ERROR_INVALID, "the functions are not valid");
    return NULL;
  }
  return table;
}
