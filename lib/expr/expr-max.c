/* Maximum and minimum of any number of operands. */
#include "expr/expr-internal.h"
#include "support/sort.h"

/* Up to this many operands are compared with each other; above, only equal ones and literals are merged. */
#define MAX_COMPARED 32

/* True when a is never needed beside b: a <= b in a maximum, a >= b in a minimum. */
static bool
is_covered(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr a, OnnxlExpr b)
{
  OnnxlExprOrder order = onnxl_expr_compare(pool, a, b);
  if (order == ONNXL_EXPR_EQUAL)
    return true;
  return kind == NODE_MAX ? order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_LESS_EQUAL
                          : order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_GREATER_EQUAL;
}

/* An operand, and the argument it came from: those of one argument that is itself a maximum were compared before. */
typedef struct Item {
  OnnxlExpr e;
  size_t source;
} Item;

static int
compare_items(const void *a, const void *b)
{
  uint32_t x = ((const Item *)a)->e->id, y = ((const Item *)b)->e->id;
  return (x > y) - (x < y);
}

/* Keeps one literal, and each other operand once. */
static size_t
merge_equal(NodeKind kind, Item *items, size_t n)
{
  Item literal = { NULL, 0 };
  size_t kept = 0, unique = 0;
  for (size_t i = 0; i < n; i++) {
    OnnxlExpr e = items[i].e;
    if (!expr_is_literal(e))
      items[kept++] = items[i];
    else if (!literal.e || (kind == NODE_MAX ? e->value > literal.e->value : e->value < literal.e->value))
      literal = items[i];
  }
  if (literal.e)
    items[kept++] = literal;
  onnxl_sort(items, kept, sizeof(Item), compare_items);
  for (size_t i = 0; i < kept; i++)
    if (unique == 0 || items[unique - 1].e != items[i].e)
      items[unique++] = items[i];
  return unique;
}

static size_t
drop_covered(OnnxlExprPool *pool, NodeKind kind, Item *items, size_t n)
{
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    bool covered = false;
    for (size_t k = 0; k < n && !covered; k++) {
      bool present = k < kept || k > i; /* places kept..i hold what was dropped */
      if (present && items[k].source != items[i].source)
        covered = is_covered(pool, kind, items[i].e, items[k].e);
    }
    if (!covered)
      items[kept++] = items[i];
  }
  return kept;
}

static OnnxlExpr
extremum(OnnxlExprPool *pool, NodeKind kind, const OnnxlExpr *operands, size_t n)
{
  size_t total = 0;
  for (size_t i = 0; i < n; i++) {
    if (!operands[i])
      return NULL;
    total += operands[i]->kind == kind ? operands[i]->list.n : 1;
  }
  Item *items = total == 0 || total > MAX_WEIGHT ? NULL : g_try_new(Item, total);
  if (!items)
    return NULL;
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    bool nested = operands[i]->kind == kind;
    for (size_t k = 0; k < (nested ? operands[i]->list.n : 1); k++)
      items[count++] = (Item){ nested ? operands[i]->list.items[k] : operands[i], i };
  }
  count = merge_equal(kind, items, count);
  if (count <= MAX_COMPARED)
    count = drop_covered(pool, kind, items, count);
  OnnxlExpr result = items[0].e;
  if (count > 1) {
    OnnxlExpr *list = g_try_new(OnnxlExpr, count);
    for (size_t i = 0; list && i < count; i++)
      list[i] = items[i].e;
    result = list ? expr_intern_list(pool, kind, list, count) : NULL;
    g_free(list);
  }
  g_free(items);
  return result;
}

OnnxlExpr
onnxl_expr_max(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return extremum(pool, NODE_MAX, (const OnnxlExpr[]){ a, b }, 2);
}

OnnxlExpr
onnxl_expr_min(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return extremum(pool, NODE_MIN, (const OnnxlExpr[]){ a, b }, 2);
}

OnnxlExpr
onnxl_expr_max_of(OnnxlExprPool *pool, const OnnxlExpr *operands, size_t n)
{
  return extremum(pool, NODE_MAX, operands, n);
}

OnnxlExpr
onnxl_expr_min_of(OnnxlExprPool *pool, const OnnxlExpr *operands, size_t n)
{
  return extremum(pool, NODE_MIN, operands, n);
}
