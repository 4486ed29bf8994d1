/* Sums and products: the polynomial normal form. */
#include "expr/expr-internal.h"
#include "support/sort.h"

void
sum_init(SumBuilder *sum, OnnxlExprPool *pool)
{
  /* Not few, which would be cleared in vain. */
  sum->pool = pool;
  sum->terms = sum->few;
  sum->n = 0;
  sum->capacity = G_N_ELEMENTS(sum->few);
  sum->constant = 0;
  sum->failed = false;
}

static void
clear(SumBuilder *sum)
{
  if (sum->terms != sum->few)
    g_free(sum->terms);
}

static void
push(SumBuilder *sum, OnnxlExpr monomial, Wide coefficient)
{
  if (sum->n == sum->capacity) {
    size_t capacity = sum->capacity * 2;
    bool first = sum->terms == sum->few;
    WideTerm *terms = capacity > MAX_WEIGHT ? NULL : g_try_renew(WideTerm, first ? NULL : sum->terms, capacity);
    if (!terms) {
      sum->failed = true;
      return;
    }
    if (first)
      memcpy(terms, sum->few, sizeof sum->few);
    sum->terms = terms;
    sum->capacity = capacity;
  }
  sum->terms[sum->n++] = (WideTerm){ monomial, coefficient };
}

void
sum_add_constant(SumBuilder *sum, Wide value)
{
  if (__builtin_add_overflow(sum->constant, value, &sum->constant))
    sum->failed = true;
}

void
sum_add(SumBuilder *sum, OnnxlExpr e, Wide factor)
{
  if (!e)
    sum->failed = true;
  if (sum->failed || factor == 0)
    return;
  PolyView view;
  poly_view(&view, e);
  Wide constant;
  if (__builtin_mul_overflow(factor, (Wide)view.constant, &constant)) {
    sum->failed = true;
    return;
  }
  sum_add_constant(sum, constant);
  for (size_t i = 0; i < view.n && !sum->failed; i++) {
    Wide coefficient;
    if (__builtin_mul_overflow(factor, (Wide)view.terms[i].coefficient, &coefficient))
      sum->failed = true;
    else
      push(sum, view.terms[i].monomial, coefficient);
  }
}

static int
compare_terms(const void *a, const void *b)
{
  uint32_t x = ((const WideTerm *)a)->monomial->id;
  uint32_t y = ((const WideTerm *)b)->monomial->id;
  return (x > y) - (x < y);
}

static void
sort_terms(WideTerm *terms, size_t n)
{
  bool sorted = true;
  for (size_t i = 1; i < n && sorted; i++)
    sorted = terms[i - 1].monomial->id < terms[i].monomial->id;
  if (sorted)
    return;
  if (n > 16) {
    onnxl_sort(terms, n, sizeof *terms, compare_terms);
    return;
  }
  /* Few, as nearly always: a call of qsort() would take longer. */
  for (size_t i = 1; i < n; i++) {
    WideTerm term = terms[i];
    size_t k = i;
    for (; k > 0 && terms[k - 1].monomial->id > term.monomial->id; k--)
      terms[k] = terms[k - 1];
    terms[k] = term;
  }
}

static void
sort_and_merge(SumBuilder *sum)
{
  sort_terms(sum->terms, sum->n);
  size_t kept = 0;
  for (size_t i = 0; i < sum->n;) {
    WideTerm term = sum->terms[i];
    for (i++; i < sum->n && sum->terms[i].monomial == term.monomial; i++)
      if (__builtin_add_overflow(term.coefficient, sum->terms[i].coefficient, &term.coefficient))
        sum->failed = true;
    if (term.coefficient != 0)
      sum->terms[kept++] = term;
  }
  sum->n = kept;
}

/* 6*(x/:4) is 3*(x/:2): an exact division by a literal shares its divisor's factors with the coefficient. Returns true
 * when a term was replaced. */
static bool
reduce_exact_terms(SumBuilder *sum)
{
  bool changed = false;
  size_t n = sum->n;
  for (size_t i = 0; i < n && !sum->failed; i++) {
    WideTerm *term = &sum->terms[i];
    if (!term->monomial->has_exact || !wide_is_coefficient(term->coefficient))
      continue;
    size_t count;
    OnnxlExpr monomial = term->monomial;
    const OnnxlExpr *factors = monomial_factors(&monomial, &count);
    for (size_t k = 0; k < count; k++) {
      OnnxlExpr factor = factors[k];
      if (factor->kind != NODE_EXACT_DIV || !expr_is_literal(factor->pair.b))
        continue;
      int64_t divisor = factor->pair.b->value;
      int64_t common = (int64_t)expr_gcd(expr_magnitude((int64_t)term->coefficient), expr_magnitude(divisor));
      if (common == 1)
        continue;
      OnnxlExpr rest[MAX_DEGREE];
      size_t rest_n;
      monomial_without(monomial, &factor, 1, rest, &rest_n);
      OnnxlExpr quotient = onnxl_expr_exact_div(sum->pool, factor->pair.a, onnxl_expr_int(sum->pool, divisor / common));
      Wide coefficient = term->coefficient / common;
      term->coefficient = 0;
      sum_add(sum, onnxl_expr_mul(sum->pool, quotient, expr_product(sum->pool, rest, rest_n)), coefficient);
      changed = true;
      break;
    }
  }
  return changed;
}

/* A term k * ((base + residue) // divisor), for the search of complete sets of residues. */
typedef struct RingEntry {
  OnnxlExpr base;
  int64_t divisor;
  int64_t residue; /* 0 <= residue < divisor */
  Wide shift;      /* the numerator's constant is residue + shift * divisor */
  size_t term;
} RingEntry;

static int
compare_rings(const void *a, const void *b)
{
  const RingEntry *x = a, *y = b;
  if (x->divisor != y->divisor)
    return x->divisor < y->divisor ? -1 : 1;
  if (x->base->id != y->base->id)
    return x->base->id < y->base->id ? -1 : 1;
  if (x->residue != y->residue)
    return x->residue < y->residue ? -1 : 1;
  return (x->term > y->term) - (x->term < y->term);
}

/* x//n + (x+1)//n + ... + (x+n-1)//n is x (Hermite's identity). Returns true when terms were replaced. */
static bool
reduce_rings(SumBuilder *sum)
{
  size_t floors = 0;
  for (size_t i = 0; i < sum->n; i++)
    floors += sum->terms[i].monomial->kind == NODE_FLOOR_DIV;
  if (floors < 2)
    return false;
  RingEntry *entries = g_try_new(RingEntry, floors);
  if (!entries) {
    sum->failed = true;
    return false;
  }
  size_t n = 0;
  for (size_t i = 0; i < sum->n; i++) {
    OnnxlExpr e = sum->terms[i].monomial;
    if (e->kind != NODE_FLOOR_DIV || !expr_is_literal(e->pair.b) || (uint64_t)e->pair.b->value > floors)
      continue;
    PolyView numerator;
    poly_view(&numerator, e->pair.a);
    int64_t divisor = e->pair.b->value;
    OnnxlExpr base = expr_scale(sum->pool, e->pair.a, 1, -(Wide)numerator.constant);
    if (base)
      entries[n++] = (RingEntry){ base, divisor, (int64_t)wide_floor_mod(numerator.constant, divisor),
                                  wide_floor_div(numerator.constant, divisor), i };
  }
  onnxl_sort(entries, n, sizeof(RingEntry), compare_rings);
  bool changed = false;
  for (size_t start = 0, end; start < n; start = end) {
    const RingEntry *first = &entries[start];
    for (end = start + 1; end < n && entries[end].base == first->base && entries[end].divisor == first->divisor; end++)
      ;
    if (end - start != (uint64_t)first->divisor)
      continue;
    bool positive = sum->terms[first->term].coefficient > 0;
    Wide common = 0, shift = 0;
    bool complete = true;
    for (size_t i = start; i < end && complete; i++) {
      Wide coefficient = sum->terms[entries[i].term].coefficient;
      complete = entries[i].residue == (int64_t)(i - start) && (coefficient > 0) == positive;
      Wide size = positive ? coefficient : -coefficient;
      common = i == start ? size : MIN(common, size);
      shift += entries[i].shift;
    }
    if (!complete || !wide_is_coefficient(common))
      continue;
    if (!positive)
      common = -common;
    for (size_t i = start; i < end; i++)
      sum->terms[entries[i].term].coefficient -= common;
    sum_add(sum, first->base, common);
    sum_add_constant(sum, common * shift);
    changed = true;
  }
  g_free(entries);
  return changed;
}

static OnnxlExpr
intern_sum(SumBuilder *sum)
{
  if (sum->n == 0)
    return expr_wide(sum->pool, sum->constant);
  if (sum->n == 1 && sum->constant == 0 && sum->terms[0].coefficient == 1)
    return sum->terms[0].monomial;
  if (!wide_is_coefficient(sum->constant))
    return NULL;
  Term few[16];
  Term *terms = sum->n <= G_N_ELEMENTS(few) ? few : g_try_new(Term, sum->n);
  if (!terms)
    return NULL;
  bool fits = true;
  for (size_t i = 0; i < sum->n && fits; i++) {
    fits = wide_is_coefficient(sum->terms[i].coefficient);
    terms[i] = (Term){ sum->terms[i].monomial, (int64_t)sum->terms[i].coefficient };
  }
  OnnxlExpr result = NULL;
  if (fits)
    result =
      expr_intern(sum->pool, &(OnnxlExprNode){ .kind = NODE_SUM, .sum = { terms, sum->n, (int64_t)sum->constant } });
  if (terms != few)
    g_free(terms);
  return result;
}

OnnxlExpr
sum_finish(SumBuilder *sum)
{
  OnnxlExpr result = NULL;
  bool changed = true;
  while (changed && !sum->failed) {
    sort_and_merge(sum);
    changed = !sum->failed && (reduce_exact_terms(sum) || reduce_rings(sum));
  }
  if (!sum->failed)
    result = intern_sum(sum);
  clear(sum);
  return result;
}

OnnxlExpr
expr_scale(OnnxlExprPool *pool, OnnxlExpr e, Wide factor, Wide constant)
{
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add(&sum, e, factor);
  sum_add_constant(&sum, constant);
  return sum_finish(&sum);
}

/* a + factor * b */
static OnnxlExpr
combine(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b, int factor)
{
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add(&sum, a, 1);
  sum_add(&sum, b, factor);
  return sum_finish(&sum);
}

static OnnxlExpr multiply(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);

static OnnxlExpr
operate(OnnxlExprPool *pool, char operation, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b)
    return NULL;
  if (expr_is_literal(b) && b->value == (operation == '*'))
    return a;
  if (expr_is_literal(a) && a->value == (operation == '*') && operation != '-')
    return b;
  uint32_t mixed = a->id * 0x9e3779b1u + b->id * 0x85ebca6bu + (uint32_t)operation * 0xc2b2ae35u;
  Memo *memo = &pool->memos[mixed >> 16 & (N_MEMOS - 1)];
  if (memo->a == a && memo->b == b && memo->operation == operation && memo->epoch == pool->epoch)
    return memo->result;
  OnnxlExpr result = operation == '*' ? multiply(pool, a, b) : combine(pool, a, b, operation == '+' ? 1 : -1);
  *memo = (Memo){ a, b, result, pool->epoch, operation };
  return result;
}

OnnxlExpr
onnxl_expr_add(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return operate(pool, '+', a, b);
}

OnnxlExpr
onnxl_expr_sub(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return operate(pool, '-', a, b);
}

OnnxlExpr
onnxl_expr_mul(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  return operate(pool, '*', a, b);
}

OnnxlExpr
onnxl_expr_neg(OnnxlExprPool *pool, OnnxlExpr a)
{
  return expr_scale(pool, a, -1, 0);
}

OnnxlExpr
onnxl_expr_sum(OnnxlExprPool *pool, const OnnxlExpr *terms, size_t n)
{
  if (n == 1)
    return terms[0];
  if (n == 2) /* which are remembered */
    return onnxl_expr_add(pool, terms[0], terms[1]);
  SumBuilder sum;
  sum_init(&sum, pool);
  size_t many = 64; /* mostly of the same monomials: merged early they stay few */
  for (size_t i = 0; i < n && !sum.failed; i++) {
    sum_add(&sum, terms[i], 1);
    if (sum.n < many)
      continue;
    sort_and_merge(&sum);
    many = MAX(2 * sum.n, (size_t)64);
  }
  return sum_finish(&sum);
}

bool
monomial_without(OnnxlExpr monomial, const OnnxlExpr *factors, size_t n, OnnxlExpr *ret_rest, size_t *ret_n)
{
  size_t count, taken = 0;
  const OnnxlExpr *all = monomial_factors(&monomial, &count);
  *ret_n = 0;
  for (size_t i = 0; i < count; i++) {
    if (taken < n && all[i] == factors[taken])
      taken++;
    else
      ret_rest[(*ret_n)++] = all[i];
  }
  return taken == n;
}

/* Sorted intersection of two sorted lists. */
static size_t
intersect(const OnnxlExpr *a, size_t a_n, const OnnxlExpr *b, size_t b_n, OnnxlExpr *ret)
{
  size_t n = 0;
  for (size_t i = 0, k = 0; i < a_n && k < b_n;) {
    if (a[i] == b[k]) {
      ret[n++] = a[i];
      i++;
      k++;
    } else if (a[i]->id < b[k]->id) {
      i++;
    } else {
      k++;
    }
  }
  return n;
}

/* b*(a/:b) is a: an exact division in a product loses the factors of its divisor that stand beside it. Returns false
 * when there is nothing to cancel. */
static bool
cancel_exact_factor(OnnxlExprPool *pool, const OnnxlExpr *factors, size_t n, OnnxlExpr *ret_product)
{
  for (size_t i = 0; i < n; i++) {
    if (factors[i]->kind != NODE_EXACT_DIV)
      continue;
    PolyView divisor;
    poly_view(&divisor, factors[i]->pair.b);
    if (divisor.n != 1 || divisor.constant != 0)
      continue;
    OnnxlExpr others[MAX_DEGREE], common[MAX_DEGREE], rest[MAX_DEGREE];
    size_t others_n = 0, rest_n, divisor_n;
    for (size_t k = 0; k < n; k++)
      if (k != i)
        others[others_n++] = factors[k];
    const OnnxlExpr *divisor_factors = monomial_factors(&divisor.terms[0].monomial, &divisor_n);
    size_t common_n = intersect(others, others_n, divisor_factors, divisor_n, common);
    if (common_n == 0)
      continue;
    monomial_without(divisor.terms[0].monomial, common, common_n, rest, &rest_n);
    OnnxlExpr left = expr_scale(pool, expr_product(pool, rest, rest_n), divisor.terms[0].coefficient, 0);
    OnnxlExpr quotient = onnxl_expr_exact_div(pool, factors[i]->pair.a, left);
    rest_n = 0;
    for (size_t k = 0, taken = 0; k < others_n; k++) {
      if (taken < common_n && others[k] == common[taken])
        taken++;
      else
        rest[rest_n++] = others[k];
    }
    *ret_product = onnxl_expr_mul(pool, quotient, expr_product(pool, rest, rest_n));
    return true;
  }
  return false;
}

OnnxlExpr
expr_product(OnnxlExprPool *pool, const OnnxlExpr *factors, size_t n)
{
  if (n == 0)
    return onnxl_expr_int(pool, 1);
  if (n == 1)
    return factors[0];
  if (n > MAX_DEGREE)
    return NULL;
  OnnxlExpr product;
  if (cancel_exact_factor(pool, factors, n, &product))
    return product;
  return expr_intern_list(pool, NODE_PRODUCT, factors, n);
}

/* The product of two monomials (or of sums that are kept as factors). */
static OnnxlExpr
multiply_monomials(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  OnnxlExpr factors[2 * MAX_DEGREE];
  size_t a_n, b_n, n = 0, i = 0, k = 0;
  const OnnxlExpr *a_factors = monomial_factors(&a, &a_n);
  const OnnxlExpr *b_factors = monomial_factors(&b, &b_n);
  while (i < a_n || k < b_n) {
    if (k == b_n || (i < a_n && a_factors[i]->id <= b_factors[k]->id))
      factors[n++] = a_factors[i++];
    else
      factors[n++] = b_factors[k++];
  }
  return expr_product(pool, factors, n);
}

static OnnxlExpr
multiply(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b)
{
  if (expr_is_literal(a))
    return expr_scale(pool, b, a->value, 0);
  if (expr_is_literal(b))
    return expr_scale(pool, a, b->value, 0);
  PolyView x, y;
  poly_view(&x, a);
  poly_view(&y, b);
  if (x.n > 1 && y.n > 1 && (x.n > MAX_EXPANSION || y.n > MAX_EXPANSION / x.n))
    return multiply_monomials(pool, a, b);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add(&sum, a, y.constant);
  sum_add(&sum, b, x.constant);
  sum_add_constant(&sum, -(Wide)x.constant * y.constant);
  for (size_t i = 0; i < x.n; i++)
    for (size_t k = 0; k < y.n && !sum.failed; k++)
      sum_add(&sum, multiply_monomials(pool, x.terms[i].monomial, y.terms[k].monomial),
              (Wide)x.terms[i].coefficient * y.terms[k].coefficient);
  return sum_finish(&sum);
}

OnnxlExpr
expr_divide_terms(OnnxlExprPool *pool, OnnxlExpr e, int64_t content, const OnnxlExpr *factors, size_t n)
{
  PolyView view;
  poly_view(&view, e);
  SumBuilder sum;
  sum_init(&sum, pool);
  sum_add_constant(&sum, (Wide)view.constant / content);
  for (size_t i = 0; i < view.n && !sum.failed; i++) {
    OnnxlExpr rest[MAX_DEGREE];
    size_t rest_n;
    monomial_without(view.terms[i].monomial, factors, n, rest, &rest_n);
    sum_add(&sum, expr_product(pool, rest, rest_n), view.terms[i].coefficient / content);
  }
  return sum_finish(&sum);
}
