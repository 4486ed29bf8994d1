/* The pool: interning of nodes, and the leaves. */
#include "expr/expr-internal.h"

OnnxlExprPool *
onnxl_expr_pool_new(OnnxlArena *arena)
{
  OnnxlExprPool *pool = g_new0(OnnxlExprPool, 1);
  pool->arena = arena;
  pool->capacity = 64;
  pool->slots = g_new0(OnnxlExprNode *, pool->capacity);
  pool->epoch = 1;
  return pool;
}

void
onnxl_expr_pool_free(OnnxlExprPool *pool)
{
  if (!pool)
    return;
  g_free(pool->slots);
  g_free(pool);
}

uint64_t
expr_gcd(uint64_t a, uint64_t b)
{
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t
mix(uint64_t hash, uint64_t value)
{
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ (hash >> 29);
}

static uint32_t
node_hash(const OnnxlExprNode *node)
{
  uint64_t hash = node->kind + 1u;
  switch ((NodeKind)node->kind) {
  case NODE_INT:
    hash = mix(hash, (uint64_t)node->value);
    break;
  case NODE_SYMBOL:
    hash = mix(hash, onnxl_str_hash(node->symbol.name));
    break;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    hash = mix(mix(hash, node->pair.a->id), node->pair.b->id);
    break;
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN:
    for (size_t i = 0; i < node->list.n; i++)
      hash = mix(hash, node->list.items[i]->id);
    break;
  case NODE_SUM:
    hash = mix(hash, (uint64_t)node->sum.constant);
    for (size_t i = 0; i < node->sum.n; i++)
      hash = mix(mix(hash, node->sum.terms[i].monomial->id), (uint64_t)node->sum.terms[i].coefficient);
    break;
  }
  return (uint32_t)(hash ^ (hash >> 32));
}

static bool
node_equal(const OnnxlExprNode *a, const OnnxlExprNode *b)
{
  if (a->kind != b->kind)
    return false;
  switch ((NodeKind)a->kind) {
  case NODE_INT:
    return a->value == b->value;
  case NODE_SYMBOL:
    return onnxl_str_equal(a->symbol.name, b->symbol.name);
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    return a->pair.a == b->pair.a && a->pair.b == b->pair.b;
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN:
    return a->list.n == b->list.n && memcmp(a->list.items, b->list.items, a->list.n * sizeof(OnnxlExpr)) == 0;
  case NODE_SUM:
    return a->sum.n == b->sum.n && a->sum.constant == b->sum.constant &&
           memcmp(a->sum.terms, b->sum.terms, a->sum.n * sizeof(Term)) == 0;
  }
  return false;
}

/* Adds a part to the depth and the weight of node. */
static void
add_part(uint16_t *depth, uint64_t *weight, OnnxlExpr part)
{
  *depth = MAX(*depth, (uint16_t)(part->depth + 1));
  *weight += part->weight + 3u;
}

/* Sets depth, weight and flags. Returns false when a limit is passed. */
static bool
measure(OnnxlExprNode *node)
{
  uint16_t depth = 1;
  uint64_t weight = 4;
  bool has_exact = false;
  switch ((NodeKind)node->kind) {
  case NODE_INT:
    break;
  case NODE_SYMBOL:
    weight += node->symbol.name.size;
    break;
  case NODE_EXACT_DIV:
    has_exact = true;
    /* fall through */
  case NODE_FLOOR_DIV:
  case NODE_MOD:
    add_part(&depth, &weight, node->pair.a);
    add_part(&depth, &weight, node->pair.b);
    break;
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN:
    for (size_t i = 0; i < node->list.n; i++) {
      add_part(&depth, &weight, node->list.items[i]);
      has_exact = has_exact || (node->kind == NODE_PRODUCT && node->list.items[i]->kind == NODE_EXACT_DIV);
    }
    break;
  case NODE_SUM:
    for (size_t i = 0; i < node->sum.n; i++)
      add_part(&depth, &weight, node->sum.terms[i].monomial);
    break;
  }
  if (depth > MAX_DEPTH || weight > (depth > DEEP ? MAX_DEEP_WEIGHT : MAX_WEIGHT))
    return false;
  node->depth = depth;
  node->weight = (uint32_t)weight;
  node->has_exact = has_exact;
  return true;
}

static void
mark(OnnxlExpr part)
{
  ((OnnxlExprNode *)part)->referenced = true;
}

/* Copies the arrays of node into the arena and marks its parts. Returns false when the arena is exhausted. */
static bool
adopt(OnnxlExprPool *pool, OnnxlExprNode *node)
{
  switch ((NodeKind)node->kind) {
  case NODE_INT:
    return true;
  case NODE_SYMBOL:
    if (!node->symbol.name.data)
      node->symbol.name = ONNXL_STR("");
    node->symbol.name = onnxl_arena_copy(pool->arena, node->symbol.name);
    return node->symbol.name.data != NULL;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    mark(node->pair.a);
    mark(node->pair.b);
    return true;
  case NODE_PRODUCT:
  case NODE_MAX:
  case NODE_MIN: {
    OnnxlExpr *items = ONNXL_NEW_ARRAY(pool->arena, OnnxlExpr, node->list.n);
    if (!items)
      return false;
    memcpy(items, node->list.items, node->list.n * sizeof(OnnxlExpr));
    node->list.items = items;
    for (size_t i = 0; i < node->list.n; i++)
      mark(items[i]);
    return true;
  }
  case NODE_SUM: {
    Term *terms = ONNXL_NEW_ARRAY(pool->arena, Term, node->sum.n);
    if (!terms)
      return false;
    memcpy(terms, node->sum.terms, node->sum.n * sizeof(Term));
    node->sum.terms = terms;
    for (size_t i = 0; i < node->sum.n; i++)
      mark(terms[i].monomial);
    return true;
  }
  }
  return false;
}

static void
grow_table(OnnxlExprPool *pool)
{
  size_t capacity = pool->capacity * 2;
  OnnxlExprNode **slots = g_new0(OnnxlExprNode *, capacity);
  for (size_t i = 0; i < pool->capacity; i++) {
    OnnxlExprNode *node = pool->slots[i];
    if (!node)
      continue;
    size_t at = node->hash & (capacity - 1);
    while (slots[at])
      at = (at + 1) & (capacity - 1);
    slots[at] = node;
  }
  g_free(pool->slots);
  pool->slots = slots;
  pool->capacity = capacity;
}

OnnxlExpr
expr_intern(OnnxlExprPool *pool, const OnnxlExprNode *key)
{
  uint32_t hash = node_hash(key);
  size_t at = hash & (pool->capacity - 1);
  for (; pool->slots[at]; at = (at + 1) & (pool->capacity - 1))
    if (pool->slots[at]->hash == hash && node_equal(pool->slots[at], key))
      return pool->slots[at];

  OnnxlExprNode fresh = *key;
  fresh.hash = hash;
  if (pool->count == UINT32_MAX || !measure(&fresh) || !adopt(pool, &fresh))
    return NULL;
  OnnxlExprNode *node = ONNXL_NEW(pool->arena, OnnxlExprNode);
  if (!node)
    return NULL;
  fresh.id = pool->count++;
  *node = fresh;
  pool->slots[at] = node;
  if (pool->count > pool->capacity / 4 * 3)
    grow_table(pool);
  return node;
}

OnnxlExpr
expr_intern_pair(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b)
    return NULL;
  return expr_intern(pool, &(OnnxlExprNode){ .kind = (uint8_t)kind, .pair = { a, b } });
}

OnnxlExpr
expr_intern_list(OnnxlExprPool *pool, NodeKind kind, const OnnxlExpr *items, size_t n)
{
  return expr_intern(pool, &(OnnxlExprNode){ .kind = (uint8_t)kind, .list = { items, n } });
}

OnnxlExpr
onnxl_expr_int(OnnxlExprPool *pool, int64_t value)
{
  bool small = value >= 0 && value < (int64_t)G_N_ELEMENTS(pool->literals);
  if (small && pool->literals[value])
    return pool->literals[value];
  OnnxlExpr e = expr_intern(pool, &(OnnxlExprNode){ .kind = NODE_INT, .value = value });
  if (small)
    pool->literals[value] = e;
  return e;
}

OnnxlExpr
expr_wide(OnnxlExprPool *pool, Wide value)
{
  return wide_fits(value) ? onnxl_expr_int(pool, (int64_t)value) : NULL;
}

OnnxlExpr
onnxl_expr_symbol(OnnxlExprPool *pool, OnnxlStr name)
{
  return expr_intern(pool, &(OnnxlExprNode){ .kind = NODE_SYMBOL, .symbol = { name, INT64_MIN, INT64_MAX } });
}

bool
onnxl_expr_is_int(OnnxlExpr e, int64_t *ret_value)
{
  if (!e || e->kind != NODE_INT)
    return false;
  if (ret_value)
    *ret_value = e->value;
  return true;
}

bool
onnxl_expr_is_symbol(OnnxlExpr e, OnnxlStr *ret_name)
{
  if (!e || e->kind != NODE_SYMBOL)
    return false;
  if (ret_name)
    *ret_name = e->symbol.name;
  return true;
}
