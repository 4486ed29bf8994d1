/* The symbols of an inference: given by graph inputs, met in other declarations, or made for sizes that only a run
 * shows. */
#include "shapes/shape-internal.h"

#include "support/error.h"
#include "support/nearest.h"

/* Nesting of an expression in a dim_param. */
#define MAX_EXPR_DEPTH 64

typedef struct OnnxlFreshDims {
  uint32_t n;
  OnnxlExpr items[];
} FreshDims;

static OnnxlExpr
add_symbol(OnnxlShapeRun *run, OnnxlStr name, OnnxlSymbolKind kind, const OnnxlShapeScope *scope, uint32_t graph)
{
  if (!ONNXL_GROW(run->arena, &run->symbols, run->n_symbols, &run->symbols_capacity))
    return NULL;
  OnnxlExpr expr = onnxl_expr_symbol(run->pool, name);
  if (!expr || !onnxl_map_put(&run->symbol_ids, name, (uint32_t)run->n_symbols, NULL))
    return NULL;
  onnxl_expr_set_bounds(run->pool, expr, 0, INT64_MAX);
  run->symbols[run->n_symbols++] =
    (OnnxlShapeSymbol){ .name = name, .expr = expr, .kind = kind, .scope = scope, .graph = graph };
  run->any_fresh = run->any_fresh || kind == ONNXL_SYMBOL_FRESH;
  return expr;
}

static OnnxlShapeSymbol *
find_symbol(OnnxlShapeRun *run, OnnxlStr name)
{
  uint32_t id = onnxl_map_get(&run->symbol_ids, name);
  return id == ONNXL_MAP_NONE ? NULL : &run->symbols[id];
}

static void
check_known(void *data, OnnxlExpr symbol)
{
  OnnxlStr name;
  void **context = data;
  if (!onnxl_expr_is_symbol(symbol, &name) || !find_symbol(context[0], name))
    *(bool *)context[1] = false;
}

/* The text as an expression over symbols that are known by themselves; NULL when it is not one. So "2*N" next to a dim
 * "N" is twice N, and "batch-size" is a name unless there are dims "batch" and "size". */
static OnnxlExpr
parse_over_known(OnnxlShapeRun *run, OnnxlStr text)
{
  GError *error = NULL;
  OnnxlExpr expr = onnxl_expr_parse(run->pool, text, MAX_EXPR_DEPTH, &error);
  g_clear_error(&error);
  if (!expr)
    return NULL;
  bool known = true;
  void *context[] = { run, &known };
  onnxl_expr_symbols(run->pool, expr, check_known, context);
  return known ? expr : NULL;
}

OnnxlExpr
onnxl_shape_declared(OnnxlShapeRun *run, const OnnxlDimension *dim, OnnxlSymbolKind kind)
{
  if (dim->has_dim_value)
    return dim->dim_value < 0 ? NULL : onnxl_expr_int(run->pool, dim->dim_value);
  if (onnxl_str_is_empty(dim->dim_param))
    return NULL;
  OnnxlShapeSymbol *symbol = find_symbol(run, dim->dim_param);
  if (symbol)
    return symbol->expr;
  if (!onnxl_str_is_identifier(dim->dim_param)) {
    OnnxlExpr expr = parse_over_known(run, dim->dim_param);
    int64_t value;
    if (expr && !(onnxl_expr_is_int(expr, &value) && value < 0))
      return expr;
  }
  return add_symbol(run, dim->dim_param, kind, NULL, 0);
}

static bool
collect(OnnxlShapeRun *run, const OnnxlValueInfoList *list, OnnxlSymbolKind kind)
{
  for (size_t i = 0; i < list->count; i++) {
    const OnnxlType *type = list->items[i].type;
    if (!type || !type->tensor_type || !type->tensor_type->shape)
      continue;
    const OnnxlShapeProto *shape = type->tensor_type->shape;
    for (size_t k = 0; k < shape->dim.count; k++) {
      const OnnxlDimension *dim = &shape->dim.items[k];
      if (!dim->has_dim_value && onnxl_str_is_identifier(dim->dim_param) && !find_symbol(run, dim->dim_param) &&
          !add_symbol(run, dim->dim_param, kind, NULL, 0))
        return false;
    }
  }
  return true;
}

bool
onnxl_shape_collect_symbols(OnnxlShapeRun *run)
{
  const OnnxlGraph *graph = run->model->proto.graph;
  return collect(run, &graph->input, ONNXL_SYMBOL_INPUT) && collect(run, &graph->output, ONNXL_SYMBOL_DECLARED) &&
         collect(run, &graph->value_info, ONNXL_SYMBOL_DECLARED);
}

/* Makes an identifier of a text, its first digit apart. text may be NULL. */
static void
clean_name(char *text, size_t size)
{
  for (size_t i = 0; text && i < size; i++)
    if (!g_ascii_isalnum(text[i]))
      text[i] = '_';
}

static OnnxlStr
after_digit(OnnxlArena *arena, OnnxlStr name)
{
  return name.data && g_ascii_isdigit(name.data[0]) ? onnxl_arena_printf(arena, "_%.*s", ONNXL_ARG(name)) : name;
}

OnnxlStr
onnxl_shape_default_name(OnnxlArena *arena, OnnxlStr prefix, OnnxlStr value, uint32_t axis)
{
  OnnxlStr name =
    onnxl_arena_printf(arena, "%.*s%s%.*s_%u", ONNXL_ARG(prefix), prefix.size > 0 ? "_" : "", ONNXL_ARG(value), axis);
  char *text = (char *)name.data;

  clean_name(text, name.size);
  for (size_t i = 0; text && i < MIN(prefix.size, name.size); i++)
    text[i] = g_ascii_tolower(text[i]);
  return after_digit(arena, name);
}

static OnnxlStr
unused_name(OnnxlShapeRun *run, OnnxlStr name)
{
  if (!find_symbol(run, name))
    return name;
  uint32_t *last = onnxl_map_put(&run->suffix_ids, name, 1, NULL);
  while (last && !onnxl_arena_exhausted(run->arena)) {
    OnnxlStr candidate = onnxl_arena_printf(run->arena, "%.*s_%u", ONNXL_ARG(name), ++*last);
    if (!find_symbol(run, candidate))
      return candidate;
  }
  return name;
}

OnnxlExpr
onnxl_shape_fresh(OnnxlShapeScope *scope, uint32_t value, uint32_t axis, uint32_t rank, OnnxlStr prefix)
{
  OnnxlShapeRun *run = scope->run;
  FreshDims *dims = scope->fresh[value];
  if (!dims || dims->n < rank) {
    FreshDims *more = onnxl_arena_alloc(run->arena, sizeof *more + rank * sizeof *more->items);
    if (!more)
      return NULL;
    more->n = rank;
    if (dims)
      memcpy(more->items, dims->items, dims->n * sizeof *dims->items);
    scope->fresh[value] = dims = more;
  }
  if (!dims->items[axis]) {
    const OnnxlIndexValue *v = &scope->index->values[value];
    OnnxlStr name = unused_name(run, onnxl_shape_default_name(run->arena, prefix, v->name, axis));
    OnnxlSymbolKind kind =
      v->kind == ONNXL_VALUE_INPUT && v->graph == 0 && !scope->function ? ONNXL_SYMBOL_INPUT : ONNXL_SYMBOL_FRESH;
    dims->items[axis] = name.data ? add_symbol(run, name, kind, scope, v->graph) : NULL;
  }
  return dims->items[axis];
}

void
onnxl_shape_forget_most(OnnxlShapeScope *scope, uint32_t value)
{
  const FreshDims *dims = scope->fresh[value];
  OnnxlStr name;
  for (uint32_t i = 0; dims && i < dims->n; i++)
    if (dims->items[i] && onnxl_expr_is_symbol(dims->items[i], &name))
      find_symbol(scope->run, name)->most = NULL;
}

/* A symbol of the value itself, or the name that a declaration in the main graph gave its size. Others may have been
 * made in a pass over a loop's body that does not count any more. */
static bool
is_of_value(const OnnxlShapeScope *scope, uint32_t value, const OnnxlShapeSymbol *symbol)
{
  const FreshDims *dims = scope->fresh[value];
  for (uint32_t i = 0; dims && i < dims->n; i++)
    if (dims->items[i] == symbol->expr)
      return true;
  return symbol->kind == ONNXL_SYMBOL_DECLARED && !scope->function && scope->index->values[value].graph == 0;
}

void
onnxl_shape_set_most(OnnxlShapeScope *scope, uint32_t value, uint32_t axis, OnnxlExpr most)
{
  OnnxlExpr dim = scope->values[value].dims[axis];
  OnnxlStr name;
  OnnxlShapeSymbol *symbol = dim && onnxl_expr_is_symbol(dim, &name) ? find_symbol(scope->run, name) : NULL;
  if (symbol && !symbol->most && dim != most && is_of_value(scope, value, symbol)) {
    symbol->most = most;
    scope->run->any_most = true;
  }
}

OnnxlExpr
onnxl_inference_bytes_symbol(const OnnxlInference *inference, uint32_t value, OnnxlExpr most)
{
  OnnxlShapeScope *scope = (OnnxlShapeScope *)inference;
  OnnxlShapeRun *run = scope->run;

  if (scope->function || scope->index->values[value].graph != 0)
    return NULL;
  if (!scope->bytes && !(scope->bytes = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, scope->index->n_values)))
    return NULL;
  if (!scope->bytes[value]) {
    OnnxlStr name = onnxl_arena_printf(run->arena, "%.*s_bytes", ONNXL_ARG(scope->index->values[value].name));
    clean_name((char *)name.data, name.size);
    name = name.data ? unused_name(run, after_digit(run->arena, name)) : name;
    scope->bytes[value] = name.data ? add_symbol(run, name, ONNXL_SYMBOL_FRESH, scope, 0) : NULL;
    if (scope->bytes[value] && most && most != scope->bytes[value]) {
      find_symbol(run, name)->most = most;
      run->any_most = true;
    }
  }
  return scope->bytes[value];
}

OnnxlExpr
onnxl_inference_has_bytes_symbol(const OnnxlInference *inference, uint32_t value)
{
  const OnnxlShapeScope *scope = (const OnnxlShapeScope *)inference;

  return scope->bytes ? scope->bytes[value] : NULL;
}

OnnxlExpr
onnxl_inference_most(const OnnxlInference *inference, OnnxlStr name)
{
  OnnxlShapeRun *run = ((const OnnxlShapeScope *)inference)->run;
  const OnnxlShapeSymbol *symbol = run->any_most ? find_symbol(run, name) : NULL;
  return symbol ? symbol->most : NULL;
}

bool
onnxl_inference_has_most(const OnnxlInference *inference)
{
  return ((const OnnxlShapeScope *)inference)->run->any_most;
}

typedef struct LocalSearch {
  OnnxlShapeRun *run;
  const OnnxlShapeScope *scope;
  uint32_t graph;
} LocalSearch;

static bool
is_inside(const LocalSearch *search, const OnnxlShapeScope *scope, uint32_t graph)
{
  for (; scope; graph = scope->caller_graph, scope = scope->caller) {
    if (scope != search->scope)
      continue;
    while (graph != search->graph) {
      uint32_t node = scope->index->graphs[graph].parent_node;
      if (node == ONNXL_NONE)
        return false;
      graph = scope->index->nodes[node].graph;
    }
    return true;
  }
  return false;
}

static bool
is_local(void *data, OnnxlExpr expr)
{
  const LocalSearch *search = data;
  OnnxlStr name;
  const OnnxlShapeSymbol *symbol = onnxl_expr_is_symbol(expr, &name) ? find_symbol(search->run, name) : NULL;
  return symbol && symbol->kind == ONNXL_SYMBOL_FRESH && is_inside(search, symbol->scope, symbol->graph);
}

/* Names that are shown when none is near. */
#define MAX_SHOWN 8

bool
onnxl_shape_no_name(OnnxlStr name, const char *const *names, size_t n, GError **error)
{
  const char *nearest = onnxl_nearest(name, names, n), *shown[MAX_SHOWN];
  if (nearest)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "no dimension of the model is named '%.*s'; did you mean '%s'?",
                      ONNXL_ARG(name), nearest);
  size_t n_shown = 0;
  for (size_t i = 0; i < n && n_shown < MAX_SHOWN; i++) {
    bool fresh = true;
    for (size_t k = 0; k < n_shown && fresh; k++)
      fresh = strcmp(shown[k], names[i]) != 0;
    if (fresh)
      shown[n_shown++] = names[i];
  }
  GString *list = g_string_new(n_shown == 0 ? "none has a name" : n_shown == 1 ? "there is " : "there are ");
  for (size_t i = 0; i < n_shown; i++)
    g_string_append_printf(list, "%s'%s'", i > 0 ? ", " : "", shown[i]);
  if (n_shown == MAX_SHOWN)
    g_string_append(list, ", \xe2\x80\xa6");
  onnxl_fail(error, ONNXL_ERROR_USAGE, "no dimension of the model is named '%.*s' (%s)", ONNXL_ARG(name), list->str);
  g_string_free(list, TRUE);
  return false;
}

bool
onnxl_shape_check_symbol(OnnxlShapeRun *run, OnnxlStr name, GError **error)
{
  if (find_symbol(run, name))
    return true;
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; i < run->n_symbols; i++)
    g_ptr_array_add(names, g_strndup(run->symbols[i].name.data, run->symbols[i].name.size));
  onnxl_shape_no_name(name, (const char *const *)names->pdata, names->len, error);
  g_ptr_array_free(names, TRUE);
  return false;
}

bool
onnxl_inference_check_symbol(const OnnxlInference *inference, OnnxlStr name, GError **error)
{
  return onnxl_shape_check_symbol(((const OnnxlShapeScope *)inference)->run, name, error);
}

bool
onnxl_shape_is_local(OnnxlShapeRun *run, OnnxlExpr e, const OnnxlShapeScope *scope, uint32_t graph)
{
  LocalSearch search = { run, scope, graph };
  return run->any_fresh && onnxl_expr_any_symbol(e, is_local, &search);
}

static const OnnxlExpr *
leave_list(OnnxlShapeRun *run, const OnnxlExpr *items, uint32_t n, const OnnxlShapeScope *scope, uint32_t graph)
{
  OnnxlExpr *copy = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, n);
  for (uint32_t i = 0; copy && i < n; i++)
    copy[i] = onnxl_shape_is_local(run, items[i], scope, graph) ? NULL : items[i];
  return copy;
}

void
onnxl_shape_leave(OnnxlShapeRun *run, OnnxlInfo *info, const OnnxlShapeScope *scope, uint32_t graph)
{
  if (info->has_rank && !(info->dims = leave_list(run, info->dims, info->rank, scope, graph)))
    info->has_rank = false;
  if (info->contents && !(info->contents = leave_list(run, info->contents, info->n_contents, scope, graph)))
    info->has_contents = false;
  if (info->element) {
    OnnxlInfo *element = ONNXL_NEW(run->arena, OnnxlInfo);
    if (element) {
      *element = *info->element;
      onnxl_shape_leave(run, element, scope, graph);
    }
    info->element = element;
  }
}

/* Expressions are interned, so that their addresses tell them apart. */
typedef struct ConstraintKey {
  OnnxlExpr sides[2];
  uint64_t relation; /* without padding, which would be hashed */
} ConstraintKey;

/* Many nodes ask for the same: only what is new is copied. */
static bool
is_new_constraint(OnnxlShapeRun *run, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs)
{
  bool swaps = relation == ONNXL_REL_EQ && (uintptr_t)rhs < (uintptr_t)lhs;
  const ConstraintKey key = { { swaps ? rhs : lhs, swaps ? lhs : rhs }, relation };
  OnnxlStr bytes = onnxl_str_n((const char *)&key, sizeof key);

  if (onnxl_map_get(&run->constraint_ids, bytes) != ONNXL_MAP_NONE)
    return false;
  bytes = onnxl_arena_copy(run->arena, bytes);
  return bytes.data && onnxl_map_put(&run->constraint_ids, bytes, 0, NULL);
}

void
onnxl_shape_add_constraint(OnnxlShapeRun *run, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs)
{
  if (!is_new_constraint(run, lhs, relation, rhs) ||
      !ONNXL_GROW(run->arena, &run->constraints, run->n_constraints, &run->constraints_capacity))
    return;
  bool swaps =
    relation == ONNXL_REL_EQ && onnxl_str_compare(onnxl_expr_text(run->pool, rhs), onnxl_expr_text(run->pool, lhs)) < 0;
  run->constraints[run->n_constraints++] =
    (OnnxlConstraint){ .lhs = swaps ? rhs : lhs, .rhs = swaps ? lhs : rhs, .relation = relation };
}
