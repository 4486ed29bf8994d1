/* Symbols of an expression: listing, replacing, solving for one. */
#include "expr/expr-internal.h"

typedef struct Substitution {
  OnnxlExprPool *pool;
  OnnxlExprReplace replace;
  void *data;
  GHashTable *done; /* node -> result, so that shared parts are visited once */
} Substitution;

static OnnxlExpr substitute(Substitution *substitution, OnnxlExpr e);

static OnnxlExpr
substitute_list(Substitution *substitution, OnnxlExpr e)
{
  OnnxlExpr *items = g_try_new(OnnxlExpr, e->list.n);
  if (!items)
    return NULL;
  bool known = true, changed = false;
  for (size_t i = 0; i < e->list.n; i++) {
    items[i] = substitute(substitution, e->list.items[i]);
    known = known && items[i];
    changed = changed || items[i] != e->list.items[i];
  }
  OnnxlExpr result = NULL;
  if (!changed) {
    result = e;
  } else if (!known) {
    result = NULL;
  } else if (e->kind == NODE_PRODUCT) {
    result = items[0];
    for (size_t i = 1; i < e->list.n; i++)
      result = onnxl_expr_mul(substitution->pool, result, items[i]);
  } else if (e->kind == NODE_MAX) {
    result = onnxl_expr_max_of(substitution->pool, items, e->list.n);
  } else {
    result = onnxl_expr_min_of(substitution->pool, items, e->list.n);
  }
  g_free(items);
  return result;
}

static OnnxlExpr
substitute_sum(Substitution *substitution, OnnxlExpr e)
{
  SumBuilder sum;
  sum_init(&sum, substitution->pool);
  sum_add_constant(&sum, e->sum.constant);
  for (size_t i = 0; i < e->sum.n && !sum.failed; i++)
    sum_add(&sum, substitute(substitution, e->sum.terms[i].monomial), e->sum.terms[i].coefficient);
  return sum_finish(&sum);
}

static OnnxlExpr
substitute_pair(Substitution *substitution, OnnxlExpr e)
{
  OnnxlExpr a = substitute(substitution, e->pair.a);
  OnnxlExpr b = substitute(substitution, e->pair.b);
  if (a == e->pair.a && b == e->pair.b)
    return e;
  if (e->kind == NODE_FLOOR_DIV)
    return onnxl_expr_floor_div(substitution->pool, a, b);
  if (e->kind == NODE_EXACT_DIV)
    return onnxl_expr_exact_div(substitution->pool, a, b);
  return onnxl_expr_mod(substitution->pool, a, b);
}

static OnnxlExpr
substitute(Substitution *substitution, OnnxlExpr e)
{
  if (e->kind == NODE_INT)
    return e;
  void *found;
  if (g_hash_table_lookup_extended(substitution->done, e, NULL, &found))
    return found;
  OnnxlExpr result = e;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    break;
  case NODE_SYMBOL:
    result = substitution->replace(substitution->data, e->symbol.name);
    if (!result)
      result = e;
    break;
  case NODE_SUM:
    result = substitute_sum(substitution, e);
    break;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    result = substitute_pair(substitution, e);
    break;
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN:
    result = substitute_list(substitution, e);
    break;
  }
  g_hash_table_insert(substitution->done, (void *)e, (void *)result);
  return result;
}

OnnxlExpr
onnxl_expr_substitute(OnnxlExprPool *pool, OnnxlExpr e, OnnxlExprReplace replace, void *data)
{
  if (!e)
    return NULL;
  Substitution substitution = { pool, replace, data, g_hash_table_new(NULL, NULL) };
  OnnxlExpr result = substitute(&substitution, e);
  g_hash_table_destroy(substitution.done);
  return result;
}

/* Reads the name that starts at *at (an identifier or a quoted name), and moves *at behind it. */
static OnnxlExpr
read_symbol(OnnxlExprPool *pool, OnnxlStr text, size_t *at)
{
  GString *name = g_string_new(NULL);
  bool quoted = text.data[*at] == '"';
  if (quoted)
    ++*at;
  for (; *at < text.size; ++*at) {
    char c = text.data[*at];
    if (quoted ? c == '"' : !g_ascii_isalnum(c) && c != '_')
      break;
    if (quoted && c == '\\')
      ++*at;
    g_string_append_c(name, text.data[*at]);
  }
  if (quoted)
    ++*at;
  OnnxlExpr symbol = NULL;
  if (quoted || *at == text.size || text.data[*at] != '(') /* else max( or min( */
    symbol = onnxl_expr_symbol(pool, onnxl_str_n(name->str, name->len));
  g_string_free(name, TRUE);
  return symbol;
}

void
onnxl_expr_symbols(OnnxlExprPool *pool, OnnxlExpr e, void (*visit)(void *data, OnnxlExpr symbol), void *data)
{
  if (!e)
    return;
  if (e->kind == NODE_SYMBOL) {
    visit(data, e);
    return;
  }
  /* The text decides the order, so it is the text that is read. */
  OnnxlStr text = onnxl_expr_text(pool, e);
  GHashTable *seen = g_hash_table_new(NULL, NULL);
  for (size_t at = 0; at < text.size;) {
    char c = text.data[at];
    if (g_ascii_isdigit(c) || !(g_ascii_isalpha(c) || c == '_' || c == '"')) {
      at++;
      continue;
    }
    OnnxlExpr symbol = read_symbol(pool, text, &at);
    if (symbol && g_hash_table_add(seen, (void *)symbol))
      visit(data, symbol);
  }
  g_hash_table_destroy(seen);
}

bool
onnxl_expr_any_symbol(OnnxlExpr e, bool (*test)(void *data, OnnxlExpr symbol), void *data)
{
  if (!e)
    return false;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    return false;
  case NODE_SYMBOL:
    return test(data, e);
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    return onnxl_expr_any_symbol(e->pair.a, test, data) || onnxl_expr_any_symbol(e->pair.b, test, data);
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN:
    for (size_t i = 0; i < e->list.n; i++)
      if (onnxl_expr_any_symbol(e->list.items[i], test, data))
        return true;
    return false;
  case NODE_SUM:
    for (size_t i = 0; i < e->sum.n; i++)
      if (onnxl_expr_any_symbol(e->sum.terms[i].monomial, test, data))
        return true;
    return false;
  }
  return false;
}

static bool
is_same(void *data, OnnxlExpr symbol)
{
  return symbol == data;
}

static bool
contains(OnnxlExpr e, OnnxlExpr symbol)
{
  return onnxl_expr_any_symbol(e, is_same, (void *)symbol);
}

/* Splits e into coefficient * symbol + rest. Returns false when e is not linear in symbol. */
static bool
split_linear(OnnxlExprPool *pool, OnnxlExpr e, OnnxlExpr symbol, OnnxlExpr *ret_coefficient, OnnxlExpr *ret_rest)
{
  PolyView view;
  poly_view(&view, e);
  SumBuilder coefficient, rest;
  sum_init(&coefficient, pool);
  sum_init(&rest, pool);
  sum_add_constant(&rest, view.constant);
  bool linear = true;
  for (size_t i = 0; i < view.n && linear; i++) {
    OnnxlExpr left[MAX_DEGREE];
    size_t left_n;
    if (!contains(view.terms[i].monomial, symbol)) {
      sum_add(&rest, view.terms[i].monomial, view.terms[i].coefficient);
    } else {
      linear = monomial_without(view.terms[i].monomial, &symbol, 1, left, &left_n);
      for (size_t k = 0; k < left_n && linear; k++)
        linear = !contains(left[k], symbol);
      if (linear)
        sum_add(&coefficient, expr_product(pool, left, left_n), view.terms[i].coefficient);
    }
  }
  *ret_coefficient = sum_finish(&coefficient);
  *ret_rest = sum_finish(&rest);
  return linear && *ret_coefficient && *ret_rest;
}

OnnxlExpr
onnxl_expr_solve(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b, OnnxlExpr symbol)
{
  if (!a || !b || !symbol || symbol->kind != NODE_SYMBOL)
    return NULL;
  OnnxlExpr difference = onnxl_expr_sub(pool, a, b);
  OnnxlExpr coefficient, rest;
  if (!difference || !split_linear(pool, difference, symbol, &coefficient, &rest))
    return NULL;
  /* A coefficient that may be 0 determines nothing. */
  OnnxlExprOrder order = onnxl_expr_compare(pool, coefficient, onnxl_expr_int(pool, 0));
  if (order != ONNXL_EXPR_LESS && order != ONNXL_EXPR_GREATER && order != ONNXL_EXPR_NOT_EQUAL)
    return NULL;
  OnnxlExpr numerator = onnxl_expr_neg(pool, rest);
  OnnxlExpr remainder = onnxl_expr_mod(pool, numerator, coefficient);
  int64_t value;
  if (!onnxl_expr_is_int(remainder, &value) || value != 0)
    return NULL;
  return onnxl_expr_floor_div(pool, numerator, coefficient);
}
