/* Evaluation with 128-bit intermediates. */
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

static Failure
evaluate_sum(Evaluation *evaluation, OnnxlExpr e, Wide *ret_value)
{
  Wide total = e->sum.constant;
  for (size_t i = 0; i < e->sum.n; i++) {
    Wide value;
    Failure failure = evaluate(evaluation, e->sum.terms[i].monomial, &value);
    if (failure != FAILURE_NONE)
      return failure;
    if (__builtin_mul_overflow(value, (Wide)e->sum.terms[i].coefficient, &value) ||
        __builtin_add_overflow(total, value, &total))
      return FAILURE_OVERFLOW;
  }
  *ret_value = total;
  return FAILURE_NONE;
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
