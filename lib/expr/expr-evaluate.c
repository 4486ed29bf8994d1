/* Evaluation with 128-bit intermediates, and wider ones for sums that need them. */
#include "expr/expr-internal.h"

#include "support/error.h"

typedef enum Failure {
  FAILURE_NONE,
  FAILURE_SYMBOL,
  FAILURE_ZERO,
  FAILURE_REST,
  FAILURE_OVERFLOW,
} Failure;

typedef struct Evaluation {
  OnnxlExprLookup lookup;
  void *data;
  OnnxlStr symbol; /* the one without a value, on FAILURE_SYMBOL */
} Evaluation;

static Failure evaluate(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value);

static Failure
evaluate_product(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  /* A factor of 0 makes the product 0 whatever the others would overflow to, but their errors count. */
  Wide product = 1;
  bool overflow = false, zero = false;
  for (size_t i = 0; i < e->list.n; i++) {
    Wide factor;
    Failure failure = evaluate(evaluation, e->list.items[i], &factor);
    if (failure != FAILURE_NONE)
      return failure;
    zero = zero || factor == 0;
    overflow = overflow || __builtin_mul_overflow(product, factor, &product);
  }
  *ret_value = zero ? 0 : product;
  return overflow && !zero ? FAILURE_OVERFLOW : FAILURE_NONE;
}

/* A sum that fits although its terms do not: (a-b)*c*d with a == b, which the normal form has multiplied out. Two's
 * complement, wide enough for the largest monomial (MAX_DEGREE factors of 127 bits and a coefficient) and MAX_WEIGHT of
 * them. */
#define LIMBS (2 * MAX_DEGREE + 2)

typedef struct Huge {
  uint64_t limbs[LIMBS];
} Huge;

static void
huge_add(Huge *a, const Huge *b)
{
  unsigned __int128 carry = 0;
  for (size_t i = 0; i < LIMBS; i++) {
    carry += (unsigned __int128)a->limbs[i] + b->limbs[i];
    a->limbs[i] = (uint64_t)carry;
    carry >>= 64;
  }
}

static void
huge_negate(Huge *a)
{
  Huge one = { { 1 } };
  for (size_t i = 0; i < LIMBS; i++)
    a->limbs[i] = ~a->limbs[i];
  huge_add(a, &one);
}

/* a * b for magnitudes; b below 2^128. */
static void
huge_multiply(Huge *a, unsigned __int128 b)
{
  uint64_t parts[2] = { (uint64_t)b, (uint64_t)(b >> 64) };
  Huge result = { { 0 } };
  for (size_t part = 0; part < 2; part++) {
    unsigned __int128 carry = 0;
    for (size_t i = part; i < LIMBS; i++) {
      carry += (unsigned __int128)a->limbs[i - part] * parts[part] + result.limbs[i];
      result.limbs[i] = (uint64_t)carry;
      carry >>= 64;
    }
  }
  *a = result;
}

static Huge
huge_from(Wide value)
{
  Huge huge = { { (uint64_t)value, (uint64_t)(value >> 64) } };
  for (size_t i = 2; i < LIMBS; i++)
    huge.limbs[i] = value < 0 ? UINT64_MAX : 0;
  return huge;
}

/* Adds coefficient * product of factors to total. */
static void
huge_add_term(Huge *total, int64_t coefficient, const Wide *factors, size_t n)
{
  bool negative = coefficient < 0;
  Huge product = { { expr_magnitude(coefficient) } };
  for (size_t i = 0; i < n; i++) {
    negative ^= factors[i] < 0;
    huge_multiply(&product, factors[i] < 0 ? -(unsigned __int128)factors[i] : (unsigned __int128)factors[i]);
  }
  if (negative)
    huge_negate(&product);
  huge_add(total, &product);
}

static bool
huge_to_wide(const Huge *huge, Wide *ret_value)
{
  Wide value = (Wide)((unsigned __int128)huge->limbs[1] << 64 | huge->limbs[0]);
  for (size_t i = 2; i < LIMBS; i++)
    if (huge->limbs[i] != (value < 0 ? UINT64_MAX : 0))
      return false;
  *ret_value = value;
  return true;
}

/* Adds coefficient * product of factors to total. False: overflow, total is unchanged. */
static bool
wide_add_term(Wide *total, int64_t coefficient, const Wide *factors, size_t n)
{
  Wide product = coefficient;
  for (size_t i = 0; i < n; i++)
    if (__builtin_mul_overflow(product, factors[i], &product))
      return false;
  Wide sum;
  if (__builtin_add_overflow(*total, product, &sum))
    return false;
  *total = sum;
  return true;
}

static Failure
evaluate_sum(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  Wide total = e->sum.constant;
  Huge *huge = NULL; /* the total, once it or a term has left 128 bits */
  Failure failure = FAILURE_NONE;
  for (size_t i = 0; i < e->sum.n && failure == FAILURE_NONE; i++) {
    Term term = e->sum.terms[i];
    Wide values[MAX_DEGREE];
    size_t n;
    const OnnxlExpr *factors = monomial_factors(&term.monomial, &n);
    for (size_t k = 0; k < n && failure == FAILURE_NONE; k++)
      failure = evaluate(evaluation, factors[k], &values[k]);
    if (failure != FAILURE_NONE || (!huge && wide_add_term(&total, term.coefficient, values, n)))
      continue;
    if (!huge) {
      huge = g_new(Huge, 1);
      *huge = huge_from(total);
    }
    huge_add_term(huge, term.coefficient, values, n);
  }
  if (failure == FAILURE_NONE && huge && !huge_to_wide(huge, &total))
    failure = FAILURE_OVERFLOW;
  g_free(huge);
  *ret_value = total;
  return failure;
}

static Failure
evaluate_division(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  Wide a, b;
  Failure failure = evaluate(evaluation, e->pair.a, &a);
  if (failure == FAILURE_NONE)
    failure = evaluate(evaluation, e->pair.b, &b);
  if (failure != FAILURE_NONE)
    return failure;
  if (b == 0)
    return FAILURE_ZERO;
  if (b == -1 && __builtin_sub_overflow((Wide)0, a, &a))
    return FAILURE_OVERFLOW;
  if (b == -1)
    b = 1;
  if (e->kind == NODE_EXACT_DIV && a % b != 0)
    return FAILURE_REST;
  *ret_value = e->kind == NODE_MOD ? wide_floor_mod(a, b) : wide_floor_div(a, b);
  return FAILURE_NONE;
}

static Failure
evaluate_extremum(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  for (size_t i = 0; i < e->list.n; i++) {
    Wide value;
    Failure failure = evaluate(evaluation, e->list.items[i], &value);
    if (failure != FAILURE_NONE)
      return failure;
    if (i == 0 || (e->kind == NODE_MAX ? value > *ret_value : value < *ret_value))
      *ret_value = value;
  }
  return FAILURE_NONE;
}

static Failure
evaluate(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  int64_t value;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    *ret_value = e->value;
    return FAILURE_NONE;
  case NODE_SYMBOL:
    if (!evaluation->lookup || !evaluation->lookup(evaluation->data, e->symbol.name, &value)) {
      evaluation->symbol = e->symbol.name;
      return FAILURE_SYMBOL;
    }
    *ret_value = value;
    return FAILURE_NONE;
  case NODE_PRODUCT:
    return evaluate_product(evaluation, e, ret_value);
  case NODE_SUM:
    return evaluate_sum(evaluation, e, ret_value);
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    return evaluate_division(evaluation, e, ret_value);
  case NODE_MAX:
  case NODE_MIN:
    return evaluate_extremum(evaluation, e, ret_value);
  }
  return FAILURE_OVERFLOW;
}

bool
onnxl_expr_evaluate(OnnxlExpr e, OnnxlExprLookup lookup, void *data, int64_t *ret_value, GError **error)
{
  if (!e)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "an unknown size ('?') has no value");
  Evaluation evaluation = { lookup, data, { NULL, 0 } };
  Wide value = 0;
  Failure failure = evaluate(&evaluation, e, &value);
  if (failure == FAILURE_NONE && !wide_fits(value))
    failure = FAILURE_OVERFLOW;
  if (failure == FAILURE_NONE) {
    *ret_value = (int64_t)value;
    return true;
  }
  if (!error)
    return false;
  char *text = expr_message_text(e);
  char *name;
  switch (failure) {
  case FAILURE_SYMBOL:
    name = g_utf8_make_valid(evaluation.symbol.data, (gssize)MIN(evaluation.symbol.size, 200));
    onnxl_fail(error, ONNXL_ERROR_INVALID, "symbol '%s' has no value in '%s'", name, text);
    g_free(name);
    break;
  case FAILURE_ZERO:
    onnxl_fail(error, ONNXL_ERROR_INVALID, "division by zero in '%s'", text);
    break;
  case FAILURE_REST:
    onnxl_fail(error, ONNXL_ERROR_INVALID, "exact division leaves a rest in '%s'", text);
    break;
  default:
    onnxl_fail(error, ONNXL_ERROR_INVALID, "value of '%s' does not fit into 64 bits", text);
    break;
  }
  g_free(text);
  return false;
}
