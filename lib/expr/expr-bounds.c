/* Facts about symbols, and what follows from them: intervals and comparison. */
#include "expr/expr-internal.h"

/* Relaxations that one question may try; each makes a few nodes. */
#define MAX_RELAXATIONS 16
/* Sums above this size are judged by their interval only. */
#define MAX_RELAXED_TERMS 32

/* An interval; INT64_MIN and INT64_MAX stand for minus and plus infinity. */
typedef struct Range {
  int64_t min, max;
} Range;

#define EVERYTHING ((Range){ INT64_MIN, INT64_MAX })

static int64_t
clamp_min(Wide value)
{
  return value <= INT64_MIN ? INT64_MIN : value >= INT64_MAX ? INT64_MAX - 1 : (int64_t)value;
}

static int64_t
clamp_max(Wide value)
{
  return value >= INT64_MAX ? INT64_MAX : value <= INT64_MIN ? INT64_MIN + 1 : (int64_t)value;
}

static bool
is_infinite(int64_t bound)
{
  return bound == INT64_MIN || bound == INT64_MAX;
}

/* Infinities as values that stay outside of int64 when multiplied by a non-zero bound, and fit in Wide then. */
static Wide
widen(int64_t bound)
{
  return bound == INT64_MIN ? -((Wide)1 << 63) : bound == INT64_MAX ? (Wide)1 << 63 : bound;
}

/* The outermost values mean infinity, so a bound that happens to be one is widened by 1. */
static Range
bounded(int64_t min, int64_t max)
{
  return (Range){ MIN(min, INT64_MAX - 1), MAX(max, INT64_MIN + 1) };
}

static Range
range_multiply(Range a, Range b)
{
  Wide x[4] = { widen(a.min) * widen(b.min), widen(a.min) * widen(b.max), widen(a.max) * widen(b.min),
                widen(a.max) * widen(b.max) };
  Wide min = x[0], max = x[0];
  for (int i = 1; i < 4; i++) {
    min = MIN(min, x[i]);
    max = MAX(max, x[i]);
  }
  return (Range){ clamp_min(min), clamp_max(max) };
}

static Range
range_square(Range a)
{
  Range square = range_multiply(a, a);
  if (a.min < 0 && a.max > 0)
    square.min = 0;
  else
    square.min = MAX(square.min, 0);
  return square;
}

static Range
range_divide(Range a, Range b)
{
  if (b.max < 0) {
    b = (Range){ b.max == INT64_MIN ? INT64_MAX : -b.max, b.min == INT64_MIN ? INT64_MAX : -b.min };
    a = (Range){ a.max == INT64_MAX ? INT64_MIN : -a.max, a.min == INT64_MIN ? INT64_MAX : -a.min };
  }
  if (b.min < 0)
    return EVERYTHING;
  Wide least = MAX(b.min, 1), most = MAX(b.max, 1); /* a divisor of 0 has no value */
  Range result = EVERYTHING;
  if (a.min != INT64_MIN)
    result.min = clamp_min(a.min < 0           ? wide_floor_div(a.min, least)
                           : most == INT64_MAX ? 0
                                               : wide_floor_div(a.min, most));
  if (a.max != INT64_MAX)
    result.max = clamp_max(a.max >= 0          ? wide_floor_div(a.max, least)
                           : most == INT64_MAX ? -1
                                               : wide_floor_div(a.max, most));
  return result;
}

static Range
range_mod(Range a, Range b)
{
  Range result = { b.min >= 0           ? 0
                   : b.min == INT64_MIN ? INT64_MIN
                                        : b.min + 1,
                   b.max <= 0           ? 0
                   : b.max == INT64_MAX ? INT64_MAX
                                        : b.max - 1 };
  if (b.min >= 0 && a.min >= 0)
    result.max = MIN(result.max, a.max);
  return result;
}

static Range interval(OnnxlExprPool *pool, OnnxlExpr e);

static Range
interval_of_product(OnnxlExprPool *pool, OnnxlExpr e)
{
  Range result = { 1, 1 };
  for (size_t i = 0; i < e->list.n; i++) {
    Range factor = interval(pool, e->list.items[i]);
    if (i + 1 < e->list.n && e->list.items[i + 1] == e->list.items[i]) {
      factor = range_square(factor);
      i++;
    }
    result = range_multiply(result, factor);
  }
  return result;
}

static Range
interval_of_sum(OnnxlExprPool *pool, OnnxlExpr e)
{
  /* What a term is clamped to, so that 2^26 of them would be needed to overflow. */
  const Wide most = (Wide)1 << 100;
  Wide min = e->sum.constant, max = e->sum.constant;
  bool no_min = false, no_max = false;
  for (size_t i = 0; i < e->sum.n; i++) {
    Range term = interval(pool, e->sum.terms[i].monomial);
    Wide k = e->sum.terms[i].coefficient;
    int64_t least = k > 0 ? term.min : term.max, largest = k > 0 ? term.max : term.min;
    if (is_infinite(least) || least * k < -most)
      no_min = true;
    else
      min += MIN(least * k, most);
    if (is_infinite(largest) || largest * k > most)
      no_max = true;
    else
      max += MAX(largest * k, -most);
  }
  return (Range){ no_min ? INT64_MIN : clamp_min(min), no_max ? INT64_MAX : clamp_max(max) };
}

static Range
interval_of_list(OnnxlExprPool *pool, OnnxlExpr e)
{
  Range result = interval(pool, e->list.items[0]);
  for (size_t i = 1; i < e->list.n; i++) {
    Range item = interval(pool, e->list.items[i]);
    if (e->kind == NODE_MAX)
      result = (Range){ MAX(result.min, item.min), MAX(result.max, item.max) };
    else
      result = (Range){ MIN(result.min, item.min), MIN(result.max, item.max) };
  }
  return result;
}

static Range
interval(OnnxlExprPool *pool, OnnxlExpr e)
{
  if (e->epoch == pool->epoch)
    return (Range){ e->min, e->max };
  Range result = EVERYTHING;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    result = bounded(e->value, e->value);
    break;
  case NODE_SYMBOL:
    result = bounded(e->symbol.min, e->symbol.max);
    break;
  case NODE_PRODUCT:
    result = interval_of_product(pool, e);
    break;
  case NODE_SUM:
    result = interval_of_sum(pool, e);
    break;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
    result = range_divide(interval(pool, e->pair.a), interval(pool, e->pair.b));
    break;
  case NODE_MOD:
    result = range_mod(interval(pool, e->pair.a), interval(pool, e->pair.b));
    break;
  case NODE_MAX:
  case NODE_MIN:
    result = interval_of_list(pool, e);
    break;
  }
  OnnxlExprNode *node = (OnnxlExprNode *)e;
  node->epoch = pool->epoch;
  node->min = result.min;
  node->max = result.max;
  return result;
}

void
expr_interval(OnnxlExprPool *pool, OnnxlExpr e, int64_t *ret_min, int64_t *ret_max)
{
  Range range = interval(pool, e);
  *ret_min = range.min;
  *ret_max = range.max;
}

void
onnxl_expr_set_bounds(OnnxlExprPool *pool, OnnxlExpr symbol, int64_t min, int64_t max)
{
  if (!symbol || symbol->kind != NODE_SYMBOL)
    return;
  OnnxlExprNode *node = (OnnxlExprNode *)symbol;
  /* Facts only add up: what was simplified with the old ones stays true. */
  min = MAX(min, node->symbol.min);
  max = MIN(max, node->symbol.max);
  if (min > max || (min == node->symbol.min && max == node->symbol.max))
    return;
  node->symbol.min = min;
  node->symbol.max = max;
  node->epoch = 0;
  if (node->referenced)
    pool->epoch++;
}

/* scale * e with the term at index replaced by coefficient * by + constant. */
static OnnxlExpr
replace_term(OnnxlExprPool *pool, OnnxlExpr e, size_t index, Wide scale, OnnxlExpr by, Wide coefficient, Wide constant)
{
  PolyView view;
  poly_view(&view, e);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add_constant(&sum, scale * view.constant);
  sum_add_constant(&sum, constant);
  for (size_t i = 0; i < view.n; i++)
    if (i != index)
      sum_add(&sum, view.terms[i].monomial, scale * view.terms[i].coefficient);
  sum_add(&sum, by, coefficient);
  return sum_finish(&sum);
}

static int64_t lower_bound(OnnxlExprPool *pool, OnnxlExpr e, unsigned *budget);

/* The lower bound of scale * e with its term at index replaced; scale > 0. */
static int64_t
relaxed(OnnxlExprPool *pool, OnnxlExpr e, size_t index, Wide scale, OnnxlExpr by, Wide coefficient, Wide constant,
        unsigned *budget)
{
  if (*budget == 0)
    return INT64_MIN;
  --*budget;
  int64_t bound = lower_bound(pool, replace_term(pool, e, index, scale, by, coefficient, constant), budget);
  return bound == INT64_MIN ? bound : (int64_t)-wide_floor_div(-(Wide)bound, scale);
}

/* Replaces the divisor, modulus, or extremum at index of e by what bounds it from the right side. choices: one operand
 * of an extremum may be chosen, else all have to be looked at. Returns false when the term is not of such a kind. */
static bool
relax_term(OnnxlExprPool *pool, OnnxlExpr e, size_t index, Term term, bool choices, unsigned *budget,
           int64_t *ret_bound)
{
  OnnxlExpr atom = term.monomial;
  Wide k = term.coefficient;
  switch ((NodeKind)atom->kind) {
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV: {
    if (choices || !expr_is_literal(atom->pair.b))
      return false;
    /* a-(d-1) <= d*(a//d) <= a */
    Wide d = atom->pair.b->value;
    Wide loss = k > 0 && atom->kind == NODE_FLOOR_DIV ? -k * (d - 1) : 0;
    *ret_bound = relaxed(pool, e, index, d, atom->pair.a, k, loss, budget);
    return true;
  }
  case NODE_MOD:
    /* a % d <= a for a >= 0 */
    if (choices || k > 0 || interval(pool, atom->pair.a).min < 0 || interval(pool, atom->pair.b).min < 0)
      return false;
    *ret_bound = relaxed(pool, e, index, 1, atom->pair.a, k, 0, budget);
    return true;
  case NODE_MAX:
  case NODE_MIN:
    /* One operand is the value, so the worst of all bounds holds; on the convenient side every operand bounds it. */
    if (((atom->kind == NODE_MAX) == (k > 0)) != choices)
      return false;
    *ret_bound = choices ? INT64_MIN : INT64_MAX;
    for (size_t i = 0; i < atom->list.n; i++) {
      int64_t bound = relaxed(pool, e, index, 1, atom->list.items[i], k, 0, budget);
      *ret_bound = choices ? MAX(*ret_bound, bound) : MIN(*ret_bound, bound);
    }
    return true;
  default:
    return false;
  }
}

/* A lower bound of e that sees that parts of e depend on each other: an operation that is no polynomial is replaced by
 * a polynomial that bounds it, and what is left may cancel. INT64_MIN = none. */
static int64_t
lower_bound(OnnxlExprPool *pool, OnnxlExpr e, unsigned *budget)
{
  if (!e)
    return INT64_MIN;
  int64_t best = interval(pool, e).min;
  PolyView view;
  poly_view(&view, e);
  if (best >= 0 || view.n > MAX_RELAXED_TERMS)
    return best;
  /* Choices last: which operand is the right one may depend on the case. */
  for (int choices = 0; choices < 2; choices++) {
    for (size_t i = 0; i < view.n; i++) {
      int64_t bound;
      if (relax_term(pool, e, i, view.terms[i], choices, budget, &bound))
        return MAX(best, bound);
    }
  }
  return best;
}

static int64_t
sharp_min(OnnxlExprPool *pool, OnnxlExpr e)
{
  unsigned budget = MAX_RELAXATIONS;
  return lower_bound(pool, e, &budget);
}

static int64_t
sharp_max(OnnxlExprPool *pool, OnnxlExpr e)
{
  int64_t min = sharp_min(pool, onnxl_expr_neg(pool, e));
  return is_infinite(min) ? INT64_MAX : -min;
}

bool
expr_is_nonnegative(OnnxlExprPool *pool, OnnxlExpr e)
{
  return e && sharp_min(pool, e) >= 0;
}

void
onnxl_expr_bounds(OnnxlExprPool *pool, OnnxlExpr e, int64_t *ret_min, int64_t *ret_max)
{
  if (!e) {
    *ret_min = INT64_MIN;
    *ret_max = INT64_MAX;
    return;
  }
  Range range = interval(pool, e);
  *ret_min = MAX(range.min, sharp_min(pool, e));
  *ret_max = MIN(range.max, sharp_max(pool, e));
}

/* Adds k * (a // d), d > 0, with each coefficient of a and its constant reduced to 0..d-1, to sum. */
static void
add_reduced_floor(SumBuilder *sum, OnnxlExpr a, int64_t d, Wide k)
{
  PolyView view;
  poly_view(&view, a);
  SumBuilder rest;
  sum_init(&rest, sum->pool);
  sum_add_constant(&rest, wide_floor_mod(view.constant, d));
  sum_add_constant(sum, k * wide_floor_div(view.constant, d));
  for (size_t i = 0; i < view.n; i++) {
    Term term = view.terms[i];
    sum_add(&rest, term.monomial, wide_floor_mod(term.coefficient, d));
    sum_add(sum, term.monomial, k * wide_floor_div(term.coefficient, d));
  }
  sum_add(sum, onnxl_expr_floor_div(sum->pool, sum_finish(&rest), onnxl_expr_int(sum->pool, d)), k);
}

/* e written with as few operations as possible, so that equal ones meet: a%d as a-d*(a//d), (3*x+d)//d as x//d+x+1. */
static OnnxlExpr
unify(OnnxlExprPool *pool, OnnxlExpr e)
{
  if (!e)
    return NULL;
  PolyView view;
  poly_view(&view, e);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add_constant(&sum, view.constant);
  for (size_t i = 0; i < view.n; i++) {
    OnnxlExpr atom = view.terms[i].monomial;
    Wide k = view.terms[i].coefficient;
    if (atom->kind == NODE_FLOOR_DIV && expr_is_literal(atom->pair.b)) {
      add_reduced_floor(&sum, atom->pair.a, atom->pair.b->value, k);
    } else if (atom->kind == NODE_MOD && expr_is_literal(atom->pair.b)) {
      sum_add(&sum, atom->pair.a, k);
      add_reduced_floor(&sum, atom->pair.a, atom->pair.b->value, -k * atom->pair.b->value);
    } else if (atom->kind == NODE_MOD) {
      OnnxlExpr quotient = onnxl_expr_floor_div(pool, atom->pair.a, atom->pair.b);
      sum_add(&sum, atom->pair.a, k);
      sum_add(&sum, onnxl_expr_mul(pool, atom->pair.b, quotient), -k);
    } else {
      sum_add(&sum, atom, k);
    }
  }
  return sum_finish(&sum);
}

/* What is known of a - b. */
typedef struct Difference {
  int64_t min, max;
  uint64_t content;  /* greatest common divisor of the coefficients */
  int64_t remainder; /* the constant, or what is left of it modulo content: 0 when unknown */
  bool operations;   /* terms that are no products of symbols: a closer look may know more */
} Difference;

static OnnxlExprOrder
judge(const Difference *difference)
{
  /* 2*x+1 is never 0. */
  bool never = difference->content > 1 && expr_magnitude(difference->remainder) % difference->content != 0;
  if (difference->min == 0 && difference->max == 0)
    return ONNXL_EXPR_EQUAL;
  if (difference->min >= 0)
    return difference->min > 0 || never ? ONNXL_EXPR_GREATER : ONNXL_EXPR_GREATER_EQUAL;
  if (difference->max <= 0)
    return difference->max < 0 || never ? ONNXL_EXPR_LESS : ONNXL_EXPR_LESS_EQUAL;
  return never ? ONNXL_EXPR_NOT_EQUAL : ONNXL_EXPR_UNKNOWN;
}

static bool
is_plain(OnnxlExpr monomial)
{
  size_t n;
  const OnnxlExpr *factors = monomial_factors(&monomial, &n);
  for (size_t i = 0; i < n; i++)
    if (factors[i]->kind != NODE_SYMBOL)
      return false;
  return true;
}

/* a - b by intervals, without making a node: comparisons are many, and most are of this kind. Returns false on
 * overflow. */
static bool
difference_by_interval(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b, Difference *ret)
{
  PolyView x, y;
  poly_view(&x, a);
  poly_view(&y, b);
  Wide constant = (Wide)x.constant - y.constant, min = constant, max = constant;
  bool no_min = false, no_max = false;
  *ret = (Difference){ 0 };
  for (size_t i = 0, k = 0; i < x.n || k < y.n;) {
    OnnxlExpr monomial;
    Wide coefficient = 0;
    bool left = i < x.n && (k == y.n || x.terms[i].monomial->id <= y.terms[k].monomial->id);
    bool right = k < y.n && (i == x.n || y.terms[k].monomial->id <= x.terms[i].monomial->id);
    monomial = left ? x.terms[i].monomial : y.terms[k].monomial;
    if (left)
      coefficient += x.terms[i++].coefficient;
    if (right)
      coefficient -= y.terms[k++].coefficient;
    if (coefficient == 0)
      continue;
    if (!wide_is_coefficient(coefficient))
      return false;
    int64_t factor = (int64_t)coefficient;
    Range term = range_multiply(interval(pool, monomial), (Range){ factor, factor });
    no_min = no_min || term.min == INT64_MIN;
    no_max = no_max || term.max == INT64_MAX;
    min += term.min;
    max += term.max;
    ret->content = expr_gcd(ret->content, expr_magnitude(factor));
    ret->operations = ret->operations || !is_plain(monomial);
  }
  ret->min = no_min ? INT64_MIN : clamp_min(min);
  ret->max = no_max ? INT64_MAX : clamp_max(max);
  ret->remainder = ret->content > 1 ? (int64_t)(constant % (Wide)ret->content) : 0;
  return true;
}

static OnnxlExprOrder
compare_closely(OnnxlExprPool *pool, OnnxlExpr difference)
{
  if (!difference)
    return ONNXL_EXPR_UNKNOWN;
  PolyView view;
  poly_view(&view, difference);
  Difference found = { sharp_min(pool, difference), sharp_max(pool, difference), expr_content(difference, false),
                       view.constant, true };
  return judge(&found);
}

OnnxlExprOrder
onnxl_expr_compare(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b)
    return ONNXL_EXPR_UNKNOWN;
  if (a == b)
    return ONNXL_EXPR_EQUAL;
  Difference quick;
  if (!difference_by_interval(pool, a, b, &quick))
    return ONNXL_EXPR_UNKNOWN;
  OnnxlExprOrder order = judge(&quick);
  if (order != ONNXL_EXPR_UNKNOWN || !quick.operations)
    return order;
  OnnxlExpr difference = onnxl_expr_sub(pool, a, b);
  order = compare_closely(pool, difference);
  return order != ONNXL_EXPR_UNKNOWN ? order : compare_closely(pool, unify(pool, difference));
}
