/* Floor division, exact division, rest.
 *
 * Rule for every rewrite here: the result equals the operation for every assignment under which the operation can be
 * evaluated. So a factor of the divisor may be taken as non-zero, and the numerator of an exact division as a multiple
 * of its divisor; nothing else is assumed of symbols beyond the facts of the pool. */
#include "expr/expr-internal.h"

static OnnxlExpr divide(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr p, OnnxlExpr d);

static OnnxlExpr
divide_literals(OnnxlExprPool *pool, NodeKind kind, int64_t p, int64_t d)
{
  switch (kind) {
  case NODE_MOD:
    return expr_wide(pool, wide_floor_mod(p, d));
  case NODE_EXACT_DIV:
    /* An inexact one stays as it is, so that its evaluation can say so. */
    if ((Wide)p % d != 0)
      return expr_intern_pair(pool, kind, onnxl_expr_int(pool, p), onnxl_expr_int(pool, d));
    /* fall through */
  default:
    return expr_wide(pool, wide_floor_div(p, d));
  }
}

/* e with each coefficient divided by content and the constant by content, rounded down. */
static OnnxlExpr
divide_content(OnnxlExprPool *pool, OnnxlExpr e, int64_t content)
{
  PolyView view;
  poly_view(&view, e);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add_constant(&sum, wide_floor_div(view.constant, content));
  for (size_t i = 0; i < view.n && !sum.failed; i++)
    sum_add(&sum, view.terms[i].monomial, view.terms[i].coefficient / content);
  return sum_finish(&sum);
}

/* (a//m + c) // d is (a + c*m) // (m*d) for positive m and d; the same for a/:m. Returns false when p is no such sum.
 */
static bool
flatten(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr p, int64_t d, OnnxlExpr *ret_result)
{
  PolyView view;
  poly_view(&view, p);
  if (view.n != 1 || view.terms[0].coefficient != 1)
    return false;
  OnnxlExpr inner = view.terms[0].monomial;
  bool possible = inner->kind == NODE_EXACT_DIV || (inner->kind == NODE_FLOOR_DIV && kind == NODE_FLOOR_DIV);
  if (!possible || !expr_is_literal(inner->pair.b))
    return false;
  int64_t m = inner->pair.b->value, product;
  if (__builtin_mul_overflow(m, d, &product))
    return false;
  OnnxlExpr numerator = expr_scale(pool, inner->pair.a, 1, (Wide)view.constant * m);
  if (!numerator)
    return false;
  *ret_result = divide(pool, kind, numerator, onnxl_expr_int(pool, product));
  return true;
}

/* p divided by a literal d > 1, p no literal. */
static OnnxlExpr
divide_by_literal(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr p, int64_t d)
{
  int64_t common = (int64_t)expr_gcd(expr_content(p, kind == NODE_EXACT_DIV), (uint64_t)d);
  if (common > 1)
    return divide(pool, kind, divide_content(pool, p, common), onnxl_expr_int(pool, d / common));
  PolyView view;
  poly_view(&view, p);
  Wide whole = wide_floor_div(view.constant, d);
  if (kind == NODE_EXACT_DIV) {
    /* k*d can be taken out; any other constant has to stay with the terms that make it a multiple. */
    if (whole != 0 && view.constant % d == 0)
      return expr_scale(pool, divide(pool, kind, expr_scale(pool, p, 1, -(Wide)view.constant), onnxl_expr_int(pool, d)),
                        1, whole);
    if (view.n == 1 && view.constant == 0 && view.terms[0].coefficient < 0)
      return onnxl_expr_neg(pool, divide(pool, kind, onnxl_expr_neg(pool, p), onnxl_expr_int(pool, d)));
  }
  OnnxlExpr flat;
  if (flatten(pool, kind, p, d, &flat))
    return flat;
  if (kind == NODE_EXACT_DIV)
    return expr_intern_pair(pool, kind, p, onnxl_expr_int(pool, d));

  int64_t min, max;
  expr_interval(pool, p, &min, &max);
  if (min != INT64_MIN && max != INT64_MAX && wide_floor_div(min, d) == wide_floor_div(max, d))
    return expr_wide(pool, wide_floor_div(min, d));
  /* (x+d)//d stays: the canonical text keeps windows that slide by one step recognisable. */
  if (view.constant == d || view.constant == -d)
    whole = 0;
  OnnxlExpr numerator = whole == 0 ? p : expr_scale(pool, p, 1, -whole * d);
  return expr_scale(pool, expr_intern_pair(pool, kind, numerator, onnxl_expr_int(pool, d)), 1, whole);
}

/* The representative of a residue nearest to 0. */
static Wide
nearest_residue(Wide value, int64_t d)
{
  Wide rest = wide_floor_mod(value, d);
  return rest > d / 2 ? rest - d : rest;
}

/* p modulo d with small coefficients: whole multiples of d go, and so does a modulus that is a multiple of d. */
static OnnxlExpr
reduce_modulo(OnnxlExprPool *pool, OnnxlExpr p, int64_t d)
{
  PolyView view;
  poly_view(&view, p);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add_constant(&sum, nearest_residue(view.constant, d));
  for (size_t i = 0; i < view.n && !sum.failed; i++) {
    OnnxlExpr e = view.terms[i].monomial;
    while (e->kind == NODE_MOD && expr_is_literal(e->pair.b) && e->pair.b->value % d == 0)
      e = e->pair.a;
    sum_add(&sum, e, nearest_residue(view.terms[i].coefficient, d));
  }
  return sum_finish(&sum);
}

/* When the facts say that p stays between two neighbouring multiples of d > 0, sets p % d. */
static bool
mod_by_interval(OnnxlExprPool *pool, OnnxlExpr p, int64_t d, OnnxlExpr *ret_rest)
{
  int64_t min, max;
  expr_interval(pool, p, &min, &max);
  if (min == INT64_MIN || max == INT64_MAX || wide_floor_div(min, d) != wide_floor_div(max, d))
    return false;
  *ret_rest = expr_scale(pool, p, 1, -wide_floor_div(min, d) * d);
  return true;
}

/* p modulo a literal d > 1, p no literal. */
static OnnxlExpr
mod_by_literal(OnnxlExprPool *pool, OnnxlExpr p, int64_t d)
{
  OnnxlExpr rest;
  if (mod_by_interval(pool, p, d, &rest))
    return rest;
  /* A reduction can make terms meet again (an inner modulus that went), so it is repeated; each turn makes p smaller.
   */
  OnnxlExpr reduced = reduce_modulo(pool, p, d);
  while (reduced && reduced != p) {
    p = reduced;
    reduced = reduce_modulo(pool, p, d);
  }
  if (!reduced)
    return NULL;
  if (mod_by_interval(pool, p, d, &rest))
    return rest;
  int64_t common = (int64_t)expr_gcd(expr_content(p, false), (uint64_t)d);
  if (common > 1) {
    PolyView view;
    poly_view(&view, p);
    OnnxlExpr inner = divide(pool, NODE_MOD, divide_content(pool, p, common), onnxl_expr_int(pool, d / common));
    return expr_scale(pool, inner, common, wide_floor_mod(view.constant, common));
  }
  return expr_intern_pair(pool, NODE_MOD, p, onnxl_expr_int(pool, d));
}

/* Splits p into multiples of the monomial term d and the rest: p == whole * d + rest. */
static void
split_by_term(OnnxlExprPool *pool, OnnxlExpr p, Term d, OnnxlExpr *ret_whole, OnnxlExpr *ret_rest)
{
  PolyView view;
  poly_view(&view, p);
  size_t d_n;
  const OnnxlExpr *d_factors = monomial_factors(&d.monomial, &d_n);
  SumBuilder whole, rest;
  sum_init(&whole, pool);
  sum_init(&rest, pool);
  sum_add_constant(&rest, view.constant);
  for (size_t i = 0; i < view.n; i++) {
    Term term = view.terms[i];
    OnnxlExpr left[MAX_DEGREE];
    size_t left_n;
    if (term.coefficient % d.coefficient == 0 && monomial_without(term.monomial, d_factors, d_n, left, &left_n))
      sum_add(&whole, expr_product(pool, left, left_n), term.coefficient / d.coefficient);
    else
      sum_add(&rest, term.monomial, term.coefficient);
  }
  *ret_whole = sum_finish(&whole);
  *ret_rest = sum_finish(&rest);
}

/* Divides p and d by what all their terms have in common, a negative single-term d made positive. Returns that. */
static OnnxlExpr
cancel(OnnxlExprPool *pool, OnnxlExpr *p, OnnxlExpr *d)
{
  OnnxlExpr factors[MAX_DEGREE], other[MAX_DEGREE];
  size_t n = expr_common_factors(*p, factors);
  size_t other_n = expr_common_factors(*d, other), kept = 0;
  for (size_t i = 0, k = 0; i < n && k < other_n;) {
    if (factors[i] == other[k]) {
      factors[kept++] = factors[i++];
      k++;
    } else if (factors[i]->id < other[k]->id) {
      i++;
    } else {
      k++;
    }
  }
  int64_t content = (int64_t)expr_gcd(expr_content(*p, true), expr_content(*d, true));
  PolyView view;
  poly_view(&view, *d);
  if (view.n == 1 && view.constant == 0 && view.terms[0].coefficient < 0)
    content = -content;
  if (kept > 0 || content != 1) {
    *p = expr_divide_terms(pool, *p, content, factors, kept);
    *d = expr_divide_terms(pool, *d, content, factors, kept);
  }
  return expr_scale(pool, expr_product(pool, factors, kept), content, 0);
}

/* When the facts say that p lies in 0..d-1 or in -d..-1, sets the floor of p/d. */
static bool
quotient_by_facts(OnnxlExprPool *pool, OnnxlExpr p, OnnxlExpr d, int *ret_quotient)
{
  *ret_quotient = 0;
  if (expr_is_nonnegative(pool, p))
    return expr_is_nonnegative(pool, expr_scale(pool, onnxl_expr_sub(pool, d, p), 1, -1));
  *ret_quotient = -1;
  return expr_is_nonnegative(pool, expr_scale(pool, p, -1, -1)) &&
         expr_is_nonnegative(pool, onnxl_expr_add(pool, d, p));
}

/* Neither p nor d is a literal, or only p is. */
static OnnxlExpr
divide_by_expression(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr p, OnnxlExpr d)
{
  OnnxlExpr common = cancel(pool, &p, &d);
  if (!common || !p || !d)
    return NULL;
  if (!expr_is_literal(common)) {
    OnnxlExpr result = divide(pool, kind, p, d);
    return kind == NODE_MOD ? onnxl_expr_mul(pool, common, result) : result;
  }
  /* Only a literal was in common; d still holds a symbol. */
  PolyView view;
  poly_view(&view, d);
  OnnxlExpr whole = onnxl_expr_int(pool, 0);
  if (view.n == 1 && view.constant == 0) {
    split_by_term(pool, p, view.terms[0], &whole, &p);
  } else {
    OnnxlExpr quotient = expr_polynomial_quotient(pool, p, d);
    if (quotient) {
      whole = quotient;
      p = onnxl_expr_int(pool, 0);
    }
  }
  if (!p || !whole)
    return NULL;
  bool exact = expr_is_literal(p) && p->value == 0;
  int quotient = 0;
  bool known = exact || (kind != NODE_EXACT_DIV && quotient_by_facts(pool, p, d, &quotient));
  if (kind == NODE_MOD) {
    OnnxlExpr rest;
    if (!known)
      rest = expr_intern_pair(pool, kind, p, d);
    else
      rest = quotient == 0 ? p : onnxl_expr_add(pool, p, d);
    return onnxl_expr_mul(pool, common, rest);
  }
  if (known)
    return expr_scale(pool, whole, 1, quotient);
  return onnxl_expr_add(pool, whole, expr_intern_pair(pool, kind, p, d));
}

static OnnxlExpr
divide(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr p, OnnxlExpr d)
{
  if (!p || !d)
    return NULL;
  if (!expr_is_literal(d)) {
    if (expr_is_literal(p) && p->value == 0)
      return p;
    return divide_by_expression(pool, kind, p, d);
  }
  int64_t divisor = d->value;
  if (divisor == 0)
    return NULL;
  if (expr_is_literal(p))
    return divide_literals(pool, kind, p->value, divisor);
  if (divisor < 0) {
    OnnxlExpr result = divide(pool, kind, onnxl_expr_neg(pool, p), expr_wide(pool, -(Wide)divisor));
    return kind == NODE_MOD ? onnxl_expr_neg(pool, result) : result;
  }
  if (divisor == 1)
    return kind == NODE_MOD ? onnxl_expr_int(pool, 0) : p;
  return kind == NODE_MOD ? mod_by_literal(pool, p, divisor) : divide_by_literal(pool, kind, p, divisor);
}

OnnxlExpr
onnxl_expr_floor_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return divide(pool, NODE_FLOOR_DIV, a, b);
}

OnnxlExpr
onnxl_expr_exact_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return divide(pool, NODE_EXACT_DIV, a, b);
}

OnnxlExpr
onnxl_expr_mod(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return divide(pool, NODE_MOD, a, b);
}

OnnxlExpr
onnxl_expr_ceil_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b)
    return NULL;
  /* A divisor of 0 fails in both forms, so >= 0 is as good as > 0. */
  if (expr_is_nonnegative(pool, b) && !(expr_is_literal(a) && expr_is_literal(b))) {
    OnnxlExpr numerator = expr_scale(pool, onnxl_expr_add(pool, a, b), 1, -1);
    if (numerator)
      return onnxl_expr_floor_div(pool, numerator, b);
  }
  if (expr_is_literal(a) && expr_is_literal(b))
    return b->value == 0 ? NULL : expr_wide(pool, -wide_floor_div(-(Wide)a->value, b->value));
  return onnxl_expr_neg(pool, onnxl_expr_floor_div(pool, onnxl_expr_neg(pool, a), b));
}

OnnxlExpr
onnxl_expr_trunc_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b)
    return NULL;
  if (expr_is_literal(a) && expr_is_literal(b))
    return b->value == 0 ? NULL : expr_wide(pool, (Wide)a->value / b->value);
  /* Without a rest all divisions agree. */
  OnnxlExpr rest = onnxl_expr_mod(pool, a, b);
  if (rest && expr_is_literal(rest) && rest->value == 0)
    return onnxl_expr_floor_div(pool, a, b);
  OnnxlExpr minus_a = onnxl_expr_neg(pool, a), minus_b = onnxl_expr_neg(pool, b);
  if (!minus_a || !minus_b)
    return NULL;
  if (!expr_is_nonnegative(pool, b)) {
    if (!expr_is_nonnegative(pool, minus_b))
      return NULL; /* the grammar has no division that rounds by the sign of both sides */
    return onnxl_expr_trunc_div(pool, minus_a, minus_b);
  }
  if (expr_is_nonnegative(pool, a))
    return onnxl_expr_floor_div(pool, a, b);
  if (expr_is_nonnegative(pool, minus_a))
    return onnxl_expr_neg(pool, onnxl_expr_floor_div(pool, minus_a, b));
  OnnxlExpr zero = onnxl_expr_int(pool, 0);
  return onnxl_expr_sub(pool, onnxl_expr_floor_div(pool, onnxl_expr_max(pool, a, zero), b),
                        onnxl_expr_floor_div(pool, onnxl_expr_max(pool, minus_a, zero), b));
}
