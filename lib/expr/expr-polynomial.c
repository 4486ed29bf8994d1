/* Division of polynomials: content, common factors, exact quotients. */
#include "expr/expr-internal.h"

/* Steps of a long division; the terms in between are interned, so this bounds memory as well. */
#define MAX_STEPS 64
/* Sums above this size are not divided. */
#define MAX_TERMS 1024

uint64_t
expr_content(OnnxlExpr e, bool with_constant)
{
  PolyView view;
  poly_view(&view, e);
  uint64_t content = with_constant ? expr_magnitude(view.constant) : 0;
  for (size_t i = 0; i < view.n && content != 1; i++)
    content = expr_gcd(content, expr_magnitude(view.terms[i].coefficient));
  return content;
}

size_t
expr_common_factors(OnnxlExpr e, OnnxlExpr *ret_factors)
{
  PolyView view;
  poly_view(&view, e);
  if (view.n == 0 || view.constant != 0)
    return 0;
  size_t n;
  const OnnxlExpr *first = monomial_factors(&view.terms[0].monomial, &n);
  memcpy(ret_factors, first, n * sizeof(OnnxlExpr));
  for (size_t i = 1; i < view.n && n > 0; i++) {
    size_t count, kept = 0;
    const OnnxlExpr *factors = monomial_factors(&view.terms[i].monomial, &count);
    for (size_t a = 0, b = 0; a < n && b < count;) {
      if (ret_factors[a] == factors[b]) {
        ret_factors[kept++] = ret_factors[a++];
        b++;
      } else if (ret_factors[a]->id < factors[b]->id) {
        a++;
      } else {
        b++;
      }
    }
    n = kept;
  }
  return n;
}

/* Lexicographic order of monomials, the atom with the smallest id first: it is kept by multiplication, which long
 * division needs. */
static int
compare_monomials(OnnxlExpr a, OnnxlExpr b)
{
  size_t a_n, b_n;
  const OnnxlExpr *a_factors = monomial_factors(&a, &a_n);
  const OnnxlExpr *b_factors = monomial_factors(&b, &b_n);
  for (size_t i = 0; i < a_n && i < b_n; i++)
    if (a_factors[i] != b_factors[i])
      return a_factors[i]->id < b_factors[i]->id ? 1 : -1;
  return (a_n > b_n) - (a_n < b_n);
}

static Term
leading_term(const PolyView *view)
{
  Term best = view->terms[0];
  for (size_t i = 1; i < view->n; i++)
    if (compare_monomials(view->terms[i].monomial, best.monomial) > 0)
      best = view->terms[i];
  return best;
}

/* a / b as a term, NULL when it is none. */
static OnnxlExpr
divide_term(OnnxlExprPool *pool, Term a, Term b)
{
  if (a.coefficient % b.coefficient != 0)
    return NULL;
  OnnxlExpr rest[MAX_DEGREE];
  size_t n, rest_n;
  const OnnxlExpr *factors = monomial_factors(&b.monomial, &n);
  if (!monomial_without(a.monomial, factors, n, rest, &rest_n))
    return NULL;
  return expr_scale(pool, expr_product(pool, rest, rest_n), a.coefficient / b.coefficient, 0);
}

OnnxlExpr
expr_polynomial_quotient(OnnxlExprPool *pool, OnnxlExpr p, OnnxlExpr d)
{
  if (p == d)
    return onnxl_expr_int(pool, 1);
  PolyView divisor;
  poly_view(&divisor, d);
  /* A product has no fewer than two terms when a factor has two, and its constant is the product of the constants. */
  PolyView rest_view;
  poly_view(&rest_view, p);
  if (rest_view.n > MAX_TERMS || divisor.n > MAX_TERMS)
    return NULL;
  if (rest_view.n + (rest_view.constant != 0) < 2 && divisor.n + (divisor.constant != 0) > 1)
    return NULL;
  if (divisor.constant == 0 ? rest_view.constant != 0 : rest_view.constant % divisor.constant != 0)
    return NULL;
  Term leading = leading_term(&divisor);
  OnnxlExpr rest = p, quotient = onnxl_expr_int(pool, 0);
  for (unsigned step = 0; step < MAX_STEPS && rest && quotient; step++) {
    poly_view(&rest_view, rest);
    if (rest_view.n == 0)
      return rest_view.constant == 0 ? quotient : NULL;
    OnnxlExpr term = divide_term(pool, leading_term(&rest_view), leading);
    if (!term)
      return NULL;
    quotient = onnxl_expr_add(pool, quotient, term);
    rest = onnxl_expr_sub(pool, rest, onnxl_expr_mul(pool, term, d));
  }
  return NULL;
}
