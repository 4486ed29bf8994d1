#include "solution.h"

typedef struct Symbol {
  int64_t value;
  bool known;
  uint32_t mentions; /* index of the last one, plus 1 */
} Symbol;

/* A symbol stands in an equality that had several unknowns when it was looked at first. */
typedef struct Mention {
  uint32_t constraint;
  uint32_t next; /* of the same symbol, as above */
} Mention;

struct OnnxlShapesSolution {
  const OnnxlInference *inference;
  OnnxlArena *arena;
  OnnxlMap ids;       /* from names to indices of symbols */
  GArray *symbols;    /* Symbol */
  GArray *mentions;   /* Mention */
  GArray *queue;      /* uint32_t: equalities to look at */
  bool *queued;       /* by constraint */
  bool *seen;         /* by constraint */
  GPtrArray *unknown; /* symbols of the one that is looked at */
};

static OnnxlExpr
replace(void *data, OnnxlStr name)
{
  const OnnxlShapesSolution *solution = data;
  uint32_t id = onnxl_map_get(&solution->ids, name);
  const Symbol *symbol = id == ONNXL_MAP_NONE ? NULL : &g_array_index(solution->symbols, Symbol, id);
  return symbol && symbol->known ? onnxl_expr_int(solution->inference->pool, symbol->value) : NULL;
}

OnnxlExpr
onnxl_shapes_solution_evaluate(const OnnxlShapesSolution *solution, OnnxlExpr e)
{
  return onnxl_expr_substitute(solution->inference->pool, e, replace, (void *)solution);
}

/* NULL: there is no memory for its name, and nothing follows from it. */
static Symbol *
symbol_of(OnnxlShapesSolution *solution, OnnxlStr name)
{
  const Symbol fresh = { 0 };
  bool added = false;
  const uint32_t *id = onnxl_map_put(&solution->ids, name, solution->symbols->len, &added);
  if (!id)
    return NULL;
  if (added)
    g_array_append_val(solution->symbols, fresh);
  return &g_array_index(solution->symbols, Symbol, *id);
}

static void
enqueue(OnnxlShapesSolution *solution, uint32_t constraint)
{
  if (solution->queued[constraint])
    return;
  solution->queued[constraint] = true;
  g_array_append_val(solution->queue, constraint);
}

static void
set_value(OnnxlShapesSolution *solution, Symbol *symbol, int64_t value)
{
  if (symbol->known)
    return;
  symbol->known = true;
  symbol->value = value;
  for (uint32_t m = symbol->mentions; m > 0; m = g_array_index(solution->mentions, Mention, m - 1).next)
    enqueue(solution, g_array_index(solution->mentions, Mention, m - 1).constraint);
}

static void
mention_unknown(OnnxlShapesSolution *solution, uint32_t constraint)
{
  for (guint i = 0; i < solution->unknown->len; i++) {
    OnnxlStr name;
    Symbol *symbol = onnxl_expr_is_symbol(solution->unknown->pdata[i], &name) ? symbol_of(solution, name) : NULL;
    if (!symbol)
      continue;
    const Mention mention = { constraint, symbol->mentions };
    g_array_append_val(solution->mentions, mention);
    symbol->mentions = solution->mentions->len;
  }
}

static void
add_unknown(void *data, OnnxlExpr symbol)
{
  g_ptr_array_add(data, (gpointer)symbol);
}

static void
look_at(OnnxlShapesSolution *solution, uint32_t constraint)
{
  OnnxlExprPool *pool = solution->inference->pool;
  const OnnxlConstraint *c = &solution->inference->constraints[constraint];
  OnnxlExpr lhs = onnxl_shapes_solution_evaluate(solution, c->lhs);
  OnnxlExpr rhs = onnxl_shapes_solution_evaluate(solution, c->rhs);
  bool first = !solution->seen[constraint];
  solution->seen[constraint] = true;
  if (!lhs || !rhs)
    return;
  g_ptr_array_set_size(solution->unknown, 0);
  onnxl_expr_symbols(pool, lhs, add_unknown, solution->unknown);
  onnxl_expr_symbols(pool, rhs, add_unknown, solution->unknown);
  if (solution->unknown->len != 1) {
    if (first)
      mention_unknown(solution, constraint);
    return;
  }
  OnnxlExpr unknown = solution->unknown->pdata[0], found = onnxl_expr_solve(pool, lhs, rhs, unknown);
  OnnxlStr name;
  int64_t value;
  Symbol *symbol = found && onnxl_expr_is_int(found, &value) && onnxl_expr_is_symbol(unknown, &name)
                     ? symbol_of(solution, name)
                     : NULL;
  if (symbol)
    set_value(solution, symbol, value);
}

OnnxlShapesSolution *
onnxl_shapes_solution_new(const OnnxlInference *inference, const OnnxlBindings *bindings)
{
  OnnxlShapesSolution *solution = g_new0(OnnxlShapesSolution, 1);
  solution->inference = inference;
  solution->arena = onnxl_arena_new(SIZE_MAX);
  solution->ids = onnxl_map_new(solution->arena, bindings->count);
  solution->symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));
  solution->mentions = g_array_new(FALSE, FALSE, sizeof(Mention));
  solution->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  solution->queued = g_new0(bool, inference->n_constraints + 1);
  solution->seen = g_new0(bool, inference->n_constraints + 1);
  solution->unknown = g_ptr_array_new();
  for (size_t i = 0; i < bindings->count; i++) {
    Symbol *symbol = symbol_of(solution, bindings->items[i].name);
    if (symbol)
      set_value(solution, symbol, bindings->items[i].values[0]);
  }
  for (size_t i = 0; i < inference->n_constraints; i++)
    if (inference->constraints[i].relation == ONNXL_REL_EQ)
      enqueue(solution, (uint32_t)i);
  /* Each symbol becomes known once, so that the queue is no longer than the equalities and the mentions together. */
  for (guint i = 0; i < solution->queue->len; i++) {
    uint32_t constraint = g_array_index(solution->queue, uint32_t, i);
    solution->queued[constraint] = false;
    look_at(solution, constraint);
  }
  return solution;
}

void
onnxl_shapes_solution_free(OnnxlShapesSolution *solution)
{
  if (!solution)
    return;
  g_array_free(solution->symbols, TRUE);
  g_array_free(solution->mentions, TRUE);
  g_array_free(solution->queue, TRUE);
  g_free(solution->queued);
  g_free(solution->seen);
  g_ptr_array_free(solution->unknown, TRUE);
  onnxl_arena_free(solution->arena);
  g_free(solution);
}
