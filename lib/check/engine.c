#include "check/check-internal.h"

#include <stdarg.h>

#include "support/error.h"

G_STATIC_ASSERT(ONNXL_N_RULES <= 64);

static const OnnxlCheckRule *const rules[ONNXL_N_RULES] = {
#define RULE(name) [ONNXL_RULE_##name] = &onnxl_rule_##name,
#include "check/rules.def"
#undef RULE
};

/* All rules, each behind those it needs. */
static uint8_t order[ONNXL_N_RULES];

static void
order_rules(void)
{
  uint64_t done = 0;

  for (size_t n = 0; n < ONNXL_N_RULES;) {
    size_t before = n;
    for (uint8_t i = 0; i < ONNXL_N_RULES; i++)
      if (!(done >> i & 1) && (rules[i]->needs & ~done) == 0) {
        order[n++] = i;
        done |= (uint64_t)1 << i;
      }
    g_assert(n > before); /* the needs have no cycle */
  }
}

void
onnxl_check_run(OnnxlCheck *check, OnnxlCheckPlace *at)
{
  for (size_t i = 0; i < ONNXL_N_RULES && !check->error; i++) {
    const OnnxlCheckRule *rule = rules[order[i]];
    if (!(rule->on & 1u << at->kind))
      continue;
    check->failed = (rule->needs & at->failed) != 0;
    if (!check->failed)
      rule->run(check, at);
    if (check->failed)
      at->failed |= (uint64_t)1 << order[i];
  }
}

bool
onnxl_check_is_nested(const OnnxlCheckPlace *graph)
{
  return graph->around->kind == ONNXL_CHECK_ATTRIBUTE;
}

static void
append_name(GString *path, OnnxlStr name)
{
  if (name.size > 0)
    g_string_append_printf(path, "/%.*s", ONNXL_ARG(name));
}

/* is_end: the path ends here, and a node's operator stands behind its name. */
static void
append_path(GString *path, const OnnxlCheckPlace *at, bool is_end)
{
  if (!at)
    return;
  append_path(path, at->around, is_end && at->kind == ONNXL_CHECK_ATTRIBUTE);
  switch (at->kind) {
  case ONNXL_CHECK_BODY:
    if (at->label)
      g_string_append_printf(path, "/%s", at->label);
    break;
  case ONNXL_CHECK_TRAINING:
    g_string_append_printf(path, "/training_info[%zu]", at->position);
    break;
  case ONNXL_CHECK_FUNCTION:
    append_name(path, at->function->name);
    break;
  case ONNXL_CHECK_NODE:
    if (at->node->name.size > 0)
      append_name(path, at->node->name);
    else
      g_string_append_printf(path, "/#%zu", at->position);
    if (is_end)
      g_string_append_printf(path, " (%.*s)", ONNXL_ARG(at->node->op_type));
    break;
  case ONNXL_CHECK_ATTRIBUTE:
    if (!is_end)
      append_name(path, at->attribute->name);
    break;
  case ONNXL_CHECK_INPUT:
  case ONNXL_CHECK_OUTPUT:
  case ONNXL_CHECK_VALUE_INFO:
    append_name(path, at->info->name);
    break;
  case ONNXL_CHECK_TENSOR:
    append_name(path, at->tensor->name);
    break;
  case ONNXL_CHECK_SPARSE:
    if (at->sparse->values)
      append_name(path, at->sparse->values->name);
    break;
  case ONNXL_CHECK_MODEL:
  case ONNXL_CHECK_GRAPH:
  case ONNXL_N_CHECK_KINDS:
    break;
  }
}

const char *
onnxl_check_path(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  g_string_truncate(check->path, 0);
  append_path(check->path, at, true);
  return check->path->len > 0 ? check->path->str : "/";
}

static void G_GNUC_PRINTF(4, 0)
report(OnnxlCheck *check, const char *path, OnnxlDiagId id, const char *format, va_list args)
{
  OnnxlLocation where = { .path = path };
  g_autofree char *message = g_strdup_vprintf(format, args);

  onnxl_diag(check->sink, id, &where, "%s", message);
  check->failed |= onnxl_diag_id_severity(id) == ONNXL_SEVERITY_ERROR;
}

void
onnxl_check_report(OnnxlCheck *check, const OnnxlCheckPlace *at, OnnxlDiagId id, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  report(check, at->kind == ONNXL_CHECK_MODEL ? NULL : onnxl_check_path(check, at), id, format, args);
  va_end(args);
}

void
onnxl_check_report_part(OnnxlCheck *check, const OnnxlCheckPlace *at, OnnxlStr part, OnnxlDiagId id, const char *format,
                        ...)
{
  va_list args;

  g_string_truncate(check->path, 0);
  append_path(check->path, at, false);
  append_name(check->path, part);
  va_start(args, format);
  report(check, check->path->len > 0 ? check->path->str : "/", id, format, args);
  va_end(args);
}

void
onnxl_check_fail(OnnxlCheck *check, GError *error)
{
  check->failed = true;
  if (g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID) || check->error)
    g_error_free(error);
  else
    check->error = error;
}

void
onnxl_check_exhausted(OnnxlCheck *check)
{
  if (!check->error)
    onnxl_fail(&check->error, ONNXL_ERROR_LIMIT, "checking needs more than the limit of %zu bytes (--max-metadata)",
               check->budget);
  check->failed = true;
}

bool
onnxl_check_add(OnnxlCheck *check, OnnxlMap *set, OnnxlStr name)
{
  bool added;

  if (onnxl_map_put(set, name, 0, &added))
    return added;
  onnxl_check_exhausted(check);
  return true;
}

OnnxlMap
onnxl_check_names(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  OnnxlMap names = onnxl_map_new(check->body->arena, 0);

  if (at->kind == ONNXL_CHECK_GRAPH) {
    const OnnxlGraph *graph = at->graph;
    for (size_t i = 0; i < graph->input.count; i++)
      onnxl_check_add(check, &names, graph->input.items[i].name);
    for (size_t i = 0; i < graph->initializer.count; i++)
      onnxl_check_add(check, &names, graph->initializer.items[i].name);
    for (size_t i = 0; i < graph->sparse_initializer.count; i++)
      if (graph->sparse_initializer.items[i].values)
        onnxl_check_add(check, &names, graph->sparse_initializer.items[i].values->name);
  } else {
    for (size_t i = 0; i < at->function->input.count; i++)
      onnxl_check_add(check, &names, at->function->input.items[i]);
  }
  for (size_t i = 0; i < at->nodes->count; i++)
    for (size_t j = 0; j < at->nodes->items[i].output.count; j++)
      onnxl_check_add(check, &names, at->nodes->items[i].output.items[j]);
  return names;
}

static void
add_attribute(OnnxlCheck *check, size_t function, OnnxlStr name)
{
  OnnxlStr key = onnxl_arena_printf(check->arena, "%zu %.*s", function, ONNXL_ARG(name));

  if (key.data)
    onnxl_check_add(check, &check->attributes, key);
  else
    onnxl_check_exhausted(check);
}

bool
onnxl_check_function_has(OnnxlCheck *check, const OnnxlFunction *function, OnnxlStr attribute)
{
  const OnnxlFunction *functions = check->proto->functions.items;

  if (!check->attributes.arena) {
    check->attributes = onnxl_map_new(check->arena, 0);
    for (size_t i = 0; i < check->proto->functions.count; i++) {
      for (size_t j = 0; j < functions[i].attribute.count; j++)
        add_attribute(check, i, functions[i].attribute.items[j]);
      for (size_t j = 0; j < functions[i].attribute_proto.count; j++)
        add_attribute(check, i, functions[i].attribute_proto.items[j].name);
    }
  }
  g_autofree char *key = g_strdup_printf("%zu %.*s", (size_t)(function - functions), ONNXL_ARG(attribute));
  return onnxl_map_get(&check->attributes, onnxl_str(key)) != ONNXL_MAP_NONE;
}

bool
onnxl_check_model(OnnxlModel *model, OnnxlExternalFiles *files, size_t budget, OnnxlDiagSink *sink, GError **error)
{
  OnnxlCheck check = { .model = model, .proto = &model->proto, .files = files, .sink = sink, .budget = budget };
  uint32_t errors = onnxl_diag_errors(sink);

  order_rules();
  check.arena = onnxl_arena_new(budget);
  check.operators = onnxl_map_new(check.arena, 0);
  check.path = g_string_new(NULL);
  onnxl_check_walk(&check);
  g_string_free(check.path, TRUE);
  onnxl_arena_free(check.arena);
  if (check.error) {
    g_propagate_error(error, check.error);
    return false;
  }
  if (onnxl_diag_errors(sink) > errors)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the model is not valid");
  return true;
}

void
onnxl_check_ids(bool ret_ids[ONNXL_N_DIAGS])
{
  memset(ret_ids, 0, ONNXL_N_DIAGS * sizeof *ret_ids);
  for (size_t i = 0; i < ONNXL_N_RULES; i++)
    for (size_t j = 0; j < rules[i]->n_ids; j++)
      ret_ids[rules[i]->ids[j]] = true;
}
