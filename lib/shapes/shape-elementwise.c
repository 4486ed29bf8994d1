/* Element by element: unary, binary with broadcasting, variadic, comparison, selection, casts. */
#include "shapes/shape-rules.h"

/* Output 0 has the shape of input 0. */
void
onnxl_shape_rule_same(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
}

/* The same, along an axis that the attribute of that name chooses. */
void
onnxl_shape_rule_along_axis(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_ranked(n, 0);
  uint32_t axis;
  if (x && !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), x->rank, &axis))
    return;
  onnxl_shape_same(n, 0, x);
}

typedef OnnxlExpr (*Unary)(OnnxlShapeNode *n, OnnxlExpr a);
typedef OnnxlExpr (*Binary)(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b);

static void
unary(OnnxlShapeNode *n, Unary f)
{
  onnxl_shape_rule_same(n);
  uint32_t count;
  const OnnxlExpr *values = onnxl_shape_values(n, 0, &count);
  OnnxlExpr *contents = values ? onnxl_shape_contents(n, 0, count) : NULL;
  for (uint32_t k = 0; contents && k < count; k++)
    contents[k] = values[k] ? f(n, values[k]) : NULL;
}

static OnnxlExpr
negated(OnnxlShapeNode *n, OnnxlExpr a)
{
  return onnxl_shape_fit(n, onnxl_expr_neg(n->pool, a), n->inputs[0]->elem_type);
}

static OnnxlExpr
absolute(OnnxlShapeNode *n, OnnxlExpr a)
{
  return onnxl_shape_fit(n, onnxl_expr_max(n->pool, a, onnxl_expr_neg(n->pool, a)), n->inputs[0]->elem_type);
}

static OnnxlExpr
sign_of(OnnxlShapeNode *n, OnnxlExpr a)
{
  return onnxl_expr_max(n->pool, onnxl_shape_lit(n, -1), onnxl_expr_min(n->pool, onnxl_shape_lit(n, 1), a));
}

static OnnxlExpr
logical_not(OnnxlShapeNode *n, OnnxlExpr a)
{
  return onnxl_expr_sub(n->pool, onnxl_shape_lit(n, 1), a);
}

void
onnxl_shape_rule_neg(OnnxlShapeNode *n)
{
  unary(n, negated);
}

void
onnxl_shape_rule_abs(OnnxlShapeNode *n)
{
  unary(n, absolute);
}

void
onnxl_shape_rule_sign(OnnxlShapeNode *n)
{
  unary(n, sign_of);
}

void
onnxl_shape_rule_not(OnnxlShapeNode *n)
{
  unary(n, logical_not);
}

/* Before opset 7 the second operand broadcasts to the first one only. */
static bool
broadcasts_one_way(const OnnxlShapeNode *n)
{
  return n->schema->since < 7;
}

/* Both have one shape, or the attribute broadcast lets the second one lie on axes of the first: by default the last. */
static void
one_way(OnnxlShapeNode *n)
{
  const OnnxlInfo *a = onnxl_shape_ranked(n, 0), *b = onnxl_shape_ranked(n, 1);
  onnxl_shape_same(n, 0, a);
  if (!a || !b)
    return;
  if (onnxl_shape_int(n, "broadcast") == 0) {
    onnxl_shape_expect(n, 1, a->dims, a->rank);
    return;
  }
  int64_t last = (int64_t)a->rank - b->rank, axis = onnxl_shape_has(n, "axis") ? onnxl_shape_int(n, "axis") : last;
  if (axis < 0)
    axis += a->rank;
  bool fits = last >= 0 && axis >= 0 && axis <= last;
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  for (uint32_t i = 0; fits && i < b->rank; i++)
    fits = !onnxl_shape_never_equal(n, b->dims[i], one) || !onnxl_shape_never_equal(n, b->dims[i], a->dims[axis + i]);
  if (!fits)
    onnxl_shape_error(n, "shapes %s and %s do not broadcast at axis %" G_GINT64_FORMAT, onnxl_shape_text(n, a),
                      onnxl_shape_text(n, b), axis);
}

static void
two_inputs(OnnxlShapeNode *n)
{
  static const uint32_t inputs[] = { 0, 1 };
  if (!broadcasts_one_way(n)) {
    onnxl_shape_broadcast_inputs(n, 0, inputs, 2);
    return;
  }
  one_way(n);
}

static void
binary(OnnxlShapeNode *n, Binary f)
{
  two_inputs(n);
  uint32_t a_count, b_count;
  const OnnxlExpr *a = onnxl_shape_values(n, 0, &a_count), *b = onnxl_shape_values(n, 1, &b_count);
  if (n->failed || !a || !b || n->n_outputs == 0)
    return;
  int64_t count = onnxl_shape_small(n, 0);
  if (count < 0 || (broadcasts_one_way(n) && onnxl_shape_has(n, "axis")))
    return;
  const uint32_t *a_map = onnxl_shape_broadcast_map(n, 0, n->inputs[0], (uint32_t)count);
  const uint32_t *b_map = onnxl_shape_broadcast_map(n, 0, n->inputs[1], (uint32_t)count);
  OnnxlExpr *contents = a_map && b_map ? onnxl_shape_contents(n, 0, (uint64_t)count) : NULL;
  for (int64_t k = 0; contents && k < count; k++)
    contents[k] = f(n, a[a_map[k]], b[b_map[k]]);
}

static OnnxlExpr
fit(OnnxlShapeNode *n, OnnxlExpr e)
{
  return onnxl_shape_fit(n, e, n->inputs[0]->elem_type);
}

static OnnxlExpr
sum(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return fit(n, onnxl_expr_add(n->pool, a, b));
}

static OnnxlExpr
difference(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return fit(n, onnxl_expr_sub(n->pool, a, b));
}

static OnnxlExpr
product(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  /* Zero times an unknown number. */
  if (onnxl_shape_is(a, 0) || onnxl_shape_is(b, 0))
    return onnxl_shape_lit(n, 0);
  return fit(n, onnxl_expr_mul(n->pool, a, b));
}

/* True when the divisor is never 0 in a run that succeeds. A division by 0 of integers gives an error or any value. */
static bool
divides(OnnxlShapeNode *n, OnnxlExpr b)
{
  return onnxl_shape_min(n, b) > 0 || onnxl_shape_max(n, b) < 0 ||
         (onnxl_shape_min(n, b) == 0 && onnxl_shape_assume(n, b, ONNXL_REL_GE, onnxl_shape_lit(n, 1)));
}

static OnnxlExpr
quotient(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b || !divides(n, b))
    return NULL;
  return fit(n, onnxl_expr_trunc_div(n->pool, a, b));
}

static OnnxlExpr
modulo(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b || !divides(n, b))
    return NULL;
  if (onnxl_shape_int(n, "fmod") == 0)
    return onnxl_expr_mod(n->pool, a, b);
  /* The sign of the dividend: the same as long as neither is negative. */
  return onnxl_shape_min(n, a) >= 0 && onnxl_shape_min(n, b) > 0 ? onnxl_expr_mod(n->pool, a, b) : NULL;
}

static OnnxlExpr
power(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  int64_t exponent;
  if (!a || !b || !onnxl_expr_is_int(b, &exponent) || exponent < 0 || exponent > 8)
    return NULL;
  OnnxlExpr result = onnxl_shape_lit(n, 1);
  for (int64_t i = 0; i < exponent; i++)
    result = product(n, result, a);
  return result;
}

static OnnxlExpr
larger(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return onnxl_expr_max(n->pool, a, b);
}

static OnnxlExpr
smaller(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return onnxl_expr_min(n->pool, a, b);
}

/* Comparisons are 1, 0 or unknown. */

static OnnxlExpr
equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  switch (a && b ? onnxl_expr_compare(n->pool, a, b) : ONNXL_EXPR_UNKNOWN) {
  case ONNXL_EXPR_EQUAL:
    return onnxl_shape_truth(n, 1);
  case ONNXL_EXPR_LESS:
  case ONNXL_EXPR_GREATER:
  case ONNXL_EXPR_NOT_EQUAL:
    return onnxl_shape_truth(n, 0);
  default:
    return NULL;
  }
}

static OnnxlExpr
less(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  switch (a && b ? onnxl_expr_compare(n->pool, a, b) : ONNXL_EXPR_UNKNOWN) {
  case ONNXL_EXPR_LESS:
    return onnxl_shape_truth(n, 1);
  case ONNXL_EXPR_EQUAL:
  case ONNXL_EXPR_GREATER:
  case ONNXL_EXPR_GREATER_EQUAL:
    return onnxl_shape_truth(n, 0);
  default:
    return NULL;
  }
}

static OnnxlExpr
greater(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return less(n, b, a);
}

static OnnxlExpr
less_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  OnnxlExpr more = less(n, b, a);
  return more ? logical_not(n, more) : NULL;
}

static OnnxlExpr
greater_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return less_equal(n, b, a);
}

static OnnxlExpr
both(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  if (onnxl_shape_is(a, 0) || onnxl_shape_is(b, 0))
    return onnxl_shape_lit(n, 0);
  return onnxl_expr_min(n->pool, a, b);
}

static OnnxlExpr
either(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  if (onnxl_shape_is(a, 1) || onnxl_shape_is(b, 1))
    return onnxl_shape_lit(n, 1);
  return onnxl_expr_max(n->pool, a, b);
}

static OnnxlExpr
nothing(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  return NULL;
}

#define BINARY(name, f)                           \
  void onnxl_shape_rule_##name(OnnxlShapeNode *n) \
  {                                               \
    binary(n, f);                                 \
  }
BINARY(add, sum)
BINARY(sub, difference)
BINARY(mul, product)
BINARY(div, quotient)
BINARY(mod, modulo)
BINARY(pow, power)
BINARY(equal, equal)
BINARY(less, less)
BINARY(greater, greater)
BINARY(less_equal, less_equal)
BINARY(greater_equal, greater_equal)
BINARY(and, both)
BINARY(or, either)
BINARY(binary, nothing)

/* Max, Min, Sum, Mean over any number of inputs; before opset 8 all have one shape. */
static void
variadic(OnnxlShapeNode *n, Binary f)
{
  uint32_t *inputs = ONNXL_NEW_ARRAY(n->arena, uint32_t, n->n_inputs);
  if (!inputs || n->n_inputs == 0)
    return;
  for (uint32_t i = 0; i < n->n_inputs; i++)
    inputs[i] = i;
  if (!onnxl_shape_broadcast_inputs(n, 0, inputs, n->n_inputs) || !f)
    return;
  int64_t count = onnxl_shape_small(n, 0);
  for (uint32_t i = 0; i < n->n_inputs; i++)
    if (!n->inputs[i] || !n->inputs[i]->contents)
      return;
  OnnxlExpr *contents = count >= 0 ? onnxl_shape_contents(n, 0, (uint64_t)count) : NULL;
  if (!contents)
    return;
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    const uint32_t *map = onnxl_shape_broadcast_map(n, 0, n->inputs[i], (uint32_t)count);
    for (int64_t k = 0; k < count; k++) {
      OnnxlExpr value = map ? n->inputs[i]->contents[map[k]] : NULL;
      contents[k] = i == 0 ? value : f(n, contents[k], value);
    }
  }
}

void
onnxl_shape_rule_max(OnnxlShapeNode *n)
{
  variadic(n, larger);
}

void
onnxl_shape_rule_min(OnnxlShapeNode *n)
{
  variadic(n, smaller);
}

void
onnxl_shape_rule_variadic(OnnxlShapeNode *n)
{
  variadic(n, NULL);
}

void
onnxl_shape_rule_where(OnnxlShapeNode *n)
{
  static const uint32_t inputs[] = { 0, 1, 2 };
  if (!onnxl_shape_broadcast_inputs(n, 0, inputs, 3))
    return;
  int64_t count = onnxl_shape_small(n, 0);
  for (uint32_t i = 0; i < 3; i++)
    if (!onnxl_shape_input(n, i) || !n->inputs[i]->contents)
      return;
  if (count < 0)
    return;
  const uint32_t *maps[3];
  for (uint32_t i = 0; i < 3; i++)
    if (!(maps[i] = onnxl_shape_broadcast_map(n, 0, n->inputs[i], (uint32_t)count)))
      return;
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, (uint64_t)count);
  for (int64_t k = 0; contents && k < count; k++) {
    OnnxlExpr condition = n->inputs[0]->contents[maps[0][k]];
    OnnxlExpr a = n->inputs[1]->contents[maps[1][k]], b = n->inputs[2]->contents[maps[2][k]];
    if (a == b)
      contents[k] = a;
    else if (condition && onnxl_expr_is_int(condition, NULL))
      contents[k] = onnxl_shape_is(condition, 0) ? b : a;
  }
}

/* From opset 11 on min and max are inputs. */
void
onnxl_shape_rule_clip(OnnxlShapeNode *n)
{
  onnxl_shape_rule_same(n);
  if (!onnxl_shape_expect_one(n, 1) || !onnxl_shape_expect_one(n, 2))
    return;
  uint32_t count;
  const OnnxlExpr *values = onnxl_shape_values(n, 0, &count);
  OnnxlExpr *contents = values ? onnxl_shape_contents(n, 0, count) : NULL;
  for (uint32_t k = 0; contents && k < count; k++) {
    contents[k] = values[k];
    if (onnxl_shape_input(n, 1))
      contents[k] = onnxl_expr_max(n->pool, contents[k], onnxl_shape_scalar(n, 1));
    if (onnxl_shape_input(n, 2))
      contents[k] = onnxl_expr_min(n->pool, contents[k], onnxl_shape_scalar(n, 2));
  }
}

static bool
is_integer(int32_t type)
{
  return type == ONNXL_TYPE_INT64 || type == ONNXL_TYPE_INT32 || type == ONNXL_TYPE_INT16 || type == ONNXL_TYPE_INT8 ||
         type == ONNXL_TYPE_UINT64 || type == ONNXL_TYPE_UINT32 || type == ONNXL_TYPE_UINT16 ||
         type == ONNXL_TYPE_UINT8;
}

/* Numbers that every floating-point type but the 8-bit ones holds exactly. */
#define MAX_EXACT 256

static void
cast_to_reals(OnnxlShapeNode *n)
{
  uint32_t count;
  const int64_t *literals = onnxl_shape_literals(n, 0, &count);
  double *reals = literals ? ONNXL_NEW_ARRAY(n->arena, double, count) : NULL;
  if (!reals || n->n_outputs == 0)
    return;
  for (uint32_t k = 0; k < count; k++) {
    if (literals[k] < -MAX_EXACT || literals[k] > MAX_EXACT)
      return;
    reals[k] = (double)literals[k];
  }
  n->outputs[0].reals = reals;
  n->outputs[0].n_contents = count;
}

static void
cast_from_reals(OnnxlShapeNode *n, const OnnxlInfo *input, int32_t to)
{
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, input->n_contents);
  for (uint32_t k = 0; contents && k < input->n_contents; k++)
    if (input->reals[k] > -1e15 && input->reals[k] < 1e15)
      contents[k] = onnxl_shape_fit(n, onnxl_shape_lit(n, (int64_t)input->reals[k]), to);
}

static void
cast(OnnxlShapeNode *n, int32_t to)
{
  onnxl_shape_rule_same(n);
  onnxl_shape_set_type(n, 0, to);
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (!input)
    return;
  if (input->reals && is_integer(to))
    cast_from_reals(n, input, to);
  if (!input->contents)
    return;
  if (!is_integer(to) && to != ONNXL_TYPE_BOOL) {
    if (to == ONNXL_TYPE_FLOAT || to == ONNXL_TYPE_DOUBLE || to == ONNXL_TYPE_FLOAT16)
      cast_to_reals(n);
    return;
  }
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, input->n_contents);
  for (uint32_t k = 0; contents && k < input->n_contents; k++) {
    OnnxlExpr value = input->contents[k];
    if (to == ONNXL_TYPE_BOOL) {
      OnnxlExpr zero = equal(n, value, onnxl_shape_lit(n, 0));
      contents[k] = zero ? logical_not(n, zero) : NULL;
    } else {
      contents[k] = onnxl_shape_fit(n, value, to);
    }
  }
}

void
onnxl_shape_rule_cast(OnnxlShapeNode *n)
{
  const OnnxlAttribute *to = onnxl_node_attribute(n->proto, "to");
  int32_t type = to ? (int32_t)to->i : 0;
  if (to && to->s.data && n->schema->since < 6) { /* opset 1 names the type: "FLOAT" */
    OnnxlStr name = onnxl_arena_copy(n->arena, to->s);
    for (size_t i = 0; name.data && i < name.size; i++)
      ((char *)name.data)[i] = g_ascii_tolower(name.data[i]);
    type = onnxl_data_type_from_name(name);
  }
  cast(n, type);
}

void
onnxl_shape_rule_cast_like(OnnxlShapeNode *n)
{
  const OnnxlInfo *like = onnxl_shape_input(n, 1);
  cast(n, like ? like->elem_type : 0);
}

/* The bits of a tensor under another type of the same width. */
void
onnxl_shape_rule_bit_cast(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_input(n, 0);
  onnxl_shape_rule_same(n);
  onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, "to"));
  int64_t to = onnxl_shape_int(n, "to");
  uint32_t bits = to > 0 && to < ONNXL_N_TYPES ? onnxl_data_type_bits((int32_t)to) : 0;
  if (x && x->elem_type != 0 && (bits == 0 || bits != onnxl_data_type_bits(x->elem_type)))
    onnxl_shape_error(n, "%s and type %" G_GINT64_FORMAT " have different sizes", onnxl_data_type_name(x->elem_type),
                      to);
}

/* The slope broadcasts to the input; before opset 7 a list of slopes belongs to the channels. */
void
onnxl_shape_rule_prelu(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_ranked(n, 0), *slope = onnxl_shape_ranked(n, 1);
  onnxl_shape_same(n, 0, x);
  if (!x || !slope)
    return;
  if (n->schema->since < 7 && slope->rank == 1 && x->rank > 2) {
    if (onnxl_shape_min(n, slope->dims[0]) > 1)
      onnxl_shape_equal(n, slope->dims[0], x->dims[1], "slopes and channels");
  } else {
    onnxl_shape_expect_within(n, 1, x->dims, x->rank);
  }
}

/* A and B have one shape. */
void
onnxl_shape_rule_swiglu(OnnxlShapeNode *n)
{
  const OnnxlInfo *a = onnxl_shape_ranked(n, 0);
  onnxl_shape_same(n, 0, a);
  if (a)
    onnxl_shape_expect(n, 1, a->dims, a->rank);
}

/* Before opset 13 what lies from the axis on is one vector, which may be of no axes. */
void
onnxl_shape_rule_softmax(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_ranked(n, 0);
  int64_t axis = onnxl_shape_int(n, "axis");
  uint32_t unread;
  bool flattens = n->schema->since < 13;
  onnxl_shape_same(n, 0, x);
  if (!x || (flattens && axis == x->rank) || (x->rank == 0 && (axis == 0 || axis == -1)))
    return;
  onnxl_shape_axis(n, axis, x->rank, &unread);
}
