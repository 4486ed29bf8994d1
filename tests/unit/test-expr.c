#include "expr/expr.h"

#include "support/error.h"

#include <time.h>

#include "unit.h"

static OnnxlArena *arena;
static OnnxlExprPool *pool;

static void
begin(void)
{
  arena = onnxl_arena_new(SIZE_MAX);
  pool = onnxl_expr_pool_new(arena);
}

static void
end(void)
{
  onnxl_expr_pool_free(pool);
  onnxl_arena_free(arena);
}

static OnnxlExpr
parse(const char *text)
{
  GError *error = NULL;
  OnnxlExpr e = onnxl_expr_parse(pool, onnxl_str(text), 200, &error);
  if (!e) {
    fprintf(stderr, "%s: %s\n", text, error->message);
    g_error_free(error);
  }
  return e;
}

static const char *
text_of(OnnxlExpr e)
{
  return onnxl_expr_text(pool, e).data;
}

static void
check_text(const char *input, const char *expected)
{
  const char *text = text_of(parse(input));
  if (strcmp(text, expected) != 0)
    fprintf(stderr, "%s: got %s, expected %s\n", input, text, expected);
  CU_ASSERT_STRING_EQUAL(text, expected);
}

/* Symbols are one letter here; values holds that of 'a' at index 0. */
typedef struct Values {
  int64_t of[128];
} Values;

static bool
look_up(void *data, OnnxlStr name, int64_t *ret_value)
{
  if (name.size != 1)
    return false;
  *ret_value = ((const Values *)data)->of[(unsigned char)name.data[0] & 127];
  return true;
}

static bool
fails_with(OnnxlExpr e, Values *values, const char *fragment)
{
  GError *error = NULL;
  int64_t value;
  if (onnxl_expr_evaluate(e, values ? look_up : NULL, values, &value, &error))
    return false;
  bool found = g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID) && strstr(error->message, fragment);
  if (!found)
    fprintf(stderr, "message: %s\n", error->message);
  g_error_free(error);
  return found;
}

static int64_t
value_of(OnnxlExpr e, Values *values)
{
  GError *error = NULL;
  int64_t value = INT64_MIN;
  if (!onnxl_expr_evaluate(e, look_up, values, &value, &error)) {
    CU_FAIL("evaluation failed");
    fprintf(stderr, "%s\n", error->message);
    g_clear_error(&error);
  }
  return value;
}

static void
test_canonical_text(void)
{
  static const char *const cases[][2] = {
    { "x - y + y", "x" },
    { "2*x+3*x-x", "4*x" },
    { "5+x-2+3", "x+6" },
    { "x-x", "0" },
    { "2*batch//batch", "2" },
    { "2^2", "2" },
    { "2&3", "2" },
    { "2*batch//batch^2", "2" },
    { "1-x", "-x+1" },
    { "(x*(y+1))//(y+1)", "x" },
    { "((c)//(2))", "c//2" },
    { "(4*a+2*b)//2", "2*a+b" },
    { "(2*a-2*b)//2", "a-b" },
    { "(2*a+4*b+6*c)//2", "2*b+3*c+a" },
    { "(2*b+2*c+1)//2", "b+c" },
    { "(2*b+3*c)//2", "(2*b+3*c)//2" },
    { "(sequence-10)//5", "sequence//5-2" },
    { "2*(H//2)", "2*(H//2)" },
    { "(3*H)//3", "H" },
    { "2*(n//2)+1", "2*(n//2)+1" },
    { "(a-3)//2+1", "(a-1)//2" },
    { "x//5//2", "x//10" },
    { "(x//a)//2", "x//a//2" },
    { "b+c-CeilToInt(b+c,2)+CeilToInt(b+c,2)", "b+c" },
    { "CeilToInt(b+c,2)", "(1+b+c)//2" },
    { "(x+5)//3+(x+6)//3+(x+7)//3", "x+5" },
    { "x//3+(x+1)//3", "(1+x)//3+x//3" },
    { "a//2+(a+2)//2", "(2+a)//2+a//2" },
    { "1024*(a+b)//1024*2", "2*a+2*b" },
    { "4096*a*b+8*a*b", "4104*a*b" },
    { "time*1024*batch/:(time*64*batch)", "16" },
    { "2*(H/:2)", "H" },
    { "(1024*a)/:2", "512*a" },
    { "6*a//4", "3*a//2" },
    { "d//5//2", "d//10" },
    { "(s-10)/:5", "s/:5-2" },
    { "2*(a+b)", "2*a+2*b" },
    { "a*c+a*d-a*(c+d)", "0" },
    { "past*16384*batch", "16384*batch*past" },
    { "16*N+64+2*16*N", "48*N+64" },
    { "48*N+64+16", "48*N+80" },
    { "-1//2", "-1" },
    /* our own */
    { "b*(a/:b)", "a" },
    { "6*(x/:4)*y", "3*(x/:2)*y" },
    { "((H+1)//2+1)//2", "(3+H)//4" },
    { "x//(-2)", "(-x)//2" },
    { "(5*x+7)%3", "(1-x)%3" },
    { "(x%6)%3", "x%3" },
    { "(6*x+4)%8", "2*((2-x)%4)" },
    { "(a*b)%b", "0" },
    { "(a*b)%(a*c)", "a*(b%c)" },
    { "(a*b+c)//b", "a+c//b" },
    { "(-6*a)/:4", "-(3*a/:2)" },
    { "max(x,y,x)", "max(x,y)" },
    { "x^y^3^5", "max(5,x,y)" },
    { "max(x+1,x)", "x+1" },
    { "min(x+1,x)", "x" },
    { "x^(y+1)", "max(x,y+1)" },
    { "\"p2o.D.0\"*2+\"a \\\"\\\\b\"", "\"a \\\"\\\\b\"+2*\"p2o.D.0\"" },
    { "-9223372036854775808", "-9223372036854775808" },
    { "max(x,-9223372036854775808)", "max(-9223372036854775808,x)" },
    { "- -x", "x" },
    { "+ - + 3", "-3" },
    { "(x)*(y)\t*\n2", "2*x*y" },
  };
  begin();
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    check_text(cases[i][0], cases[i][1]);
    check_text(cases[i][1], cases[i][1]);
    CU_ASSERT_PTR_EQUAL(parse(cases[i][0]), parse(cases[i][1]));
  }
  CU_ASSERT_STRING_EQUAL(text_of(NULL), "?");
  end();
}

static void
test_parentheses_keep_the_value(void)
{
  static const struct {
    const char *input, *text;
    int x, y, z, value;
  } cases[] = {
    { "x*(x//3)", "x*(x//3)", 7, 0, 0, 14 },
    { "3-x//y", "-(x//y)+3", 8, 5, 0, 2 },
    { "-(x//2)", "-(x//2)", 1, 0, 0, 0 },
    { "y*(z//4)+2", "y*(z//4)+2", 0, 4, 6, 6 },
    { "(y%3)*x", "x*(y%3)", 3, 1, 0, 3 },
    { "Max(x,y)+3", "max(x,y)+3", 2, 1, 0, 5 },
    { "2*Max(x,y)", "2*max(x,y)", 0, 1, 0, 2 },
    { "y//(y//2)", "y//(y//2)", 0, 3, 0, 3 },
    { "(x*y)//(x//2)", "x*y//(x//2)", 3, 5, 0, 15 },
    { "y-x//2", "-(x//2)+y", 3, 5, 0, 4 },
    { "y%(x*2)", "y%(2*x)", 2, 7, 0, 3 },
    { "x//(y//z)", "x//(y//z)", 9, 4, 2, 4 },
    { "(0-x)//2", "(-x)//2", 1, 0, 0, -1 },
    { "(x%y)%z", "x%y%z", 9, 5, 3, 1 },
    { "2*(x&y)*(x^y)", "2*max(x,y)*min(x,y)", 3, 4, 0, 24 },
  };
  begin();
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    check_text(cases[i].input, cases[i].text);
    Values values = { 0 };
    values.of['x'] = cases[i].x;
    values.of['y'] = cases[i].y;
    values.of['z'] = cases[i].z;
    CU_ASSERT_EQUAL(value_of(parse(cases[i].input), &values), cases[i].value);
    CU_ASSERT_EQUAL(value_of(parse(text_of(parse(cases[i].input))), &values), cases[i].value);
  }
  end();
}

static void
test_evaluation(void)
{
  begin();
  Values values = { 0 };
  values.of['x'] = -37;
  CU_ASSERT_EQUAL(value_of(parse("x//5//2"), &values), -4);
  CU_ASSERT_EQUAL(value_of(parse("x%5"), &values), 3);
  CU_ASSERT_EQUAL(value_of(parse("x%(-5)"), &values), -2);
  CU_ASSERT_EQUAL(value_of(parse("CeilToInt(x,5)"), &values), -7);
  CU_ASSERT_EQUAL(value_of(parse("CeilToInt(x,y-2)"), &values), 19);
  CU_ASSERT_TRUE(fails_with(parse("7/:2"), &values, "7/:2"));
  CU_ASSERT_TRUE(fails_with(parse("(2*x+1)/:2"), &values, "exact division"));
  CU_ASSERT_TRUE(fails_with(parse("3+x//y"), &values, "division by zero in 'x//y+3'"));
  CU_ASSERT_TRUE(fails_with(parse("3+x%y"), &values, "division by zero in 'x%y+3'"));
  CU_ASSERT_TRUE(fails_with(parse("3+x"), NULL, "symbol 'x' has no value in 'x+3'"));
  CU_ASSERT_TRUE(fails_with(NULL, &values, "?"));
  values.of['x'] = INT64_MAX;
  values.of['y'] = INT64_MIN;
  values.of['z'] = INT64_MAX;
  CU_ASSERT_TRUE(fails_with(parse("x+1"), &values, "64 bits"));
  CU_ASSERT_TRUE(fails_with(parse("x*x*x"), &values, "64 bits"));
  CU_ASSERT_TRUE(fails_with(parse("-y"), &values, "64 bits"));
  CU_ASSERT_EQUAL(value_of(parse("(x*z)//x"), &values), INT64_MAX);
  CU_ASSERT_EQUAL(value_of(parse("x*x-x*x+x*z//(z+1)"), &values), INT64_MAX - 1);
  values.of['z'] = 0;
  CU_ASSERT_EQUAL(value_of(parse("x*x*x*x*z"), &values), 0);
  /* Multiplied out, with terms far beyond 128 bits. */
  values.of['a'] = INT64_MAX;
  values.of['b'] = INT64_MAX - 2;
  values.of['c'] = INT64_MIN;
  CU_ASSERT_EQUAL(value_of(parse("(a-b-2)*x*y*x*c"), &values), 0);
  CU_ASSERT_EQUAL(value_of(parse("(a-b-2)*c*c*c*c*c*c*c-7"), &values), -7);
  CU_ASSERT_EQUAL(value_of(parse("(a-b)*(a-b)*(c+a)*(a-b)*(c+a)*(c+a)"), &values), -8);
  CU_ASSERT_TRUE(fails_with(parse("(a-b)*x*y*x*c"), &values, "64 bits"));
  end();
}

static void
test_overflow_is_unknown(void)
{
  begin();
  OnnxlExpr x = parse("x"), big = onnxl_expr_int(pool, INT64_MAX), low = onnxl_expr_int(pool, INT64_MIN);
  CU_ASSERT_PTR_NULL(onnxl_expr_add(pool, big, onnxl_expr_int(pool, 1)));
  CU_ASSERT_PTR_NULL(onnxl_expr_neg(pool, low));
  CU_ASSERT_PTR_NULL(onnxl_expr_mul(pool, big, big));
  CU_ASSERT_PTR_NULL(onnxl_expr_trunc_div(pool, low, onnxl_expr_int(pool, -1)));
  CU_ASSERT_PTR_NULL(onnxl_expr_floor_div(pool, low, onnxl_expr_int(pool, -1)));
  CU_ASSERT_PTR_NULL(onnxl_expr_mul(pool, onnxl_expr_mul(pool, x, big), onnxl_expr_int(pool, 2)));
  CU_ASSERT_PTR_NULL(onnxl_expr_add(pool, onnxl_expr_add(pool, x, big), onnxl_expr_add(pool, x, big)));
  CU_ASSERT_PTR_NULL(onnxl_expr_floor_div(pool, x, onnxl_expr_int(pool, 0)));
  CU_ASSERT_PTR_NULL(onnxl_expr_mod(pool, x, onnxl_expr_int(pool, 0)));
  CU_ASSERT_PTR_NULL(onnxl_expr_exact_div(pool, x, onnxl_expr_int(pool, 0)));
  CU_ASSERT_PTR_NULL(onnxl_expr_ceil_div(pool, x, onnxl_expr_int(pool, 0)));
  CU_ASSERT_PTR_NULL(onnxl_expr_trunc_div(pool, x, onnxl_expr_int(pool, 0)));
  CU_ASSERT_PTR_EQUAL(onnxl_expr_floor_div(pool, onnxl_expr_mul(pool, x, big), big), x);
  CU_ASSERT_PTR_EQUAL(onnxl_expr_sub(pool, onnxl_expr_add(pool, x, big), big), x);
  /* Unknown stays unknown. */
  CU_ASSERT_PTR_NULL(onnxl_expr_add(pool, x, NULL));
  CU_ASSERT_PTR_NULL(onnxl_expr_mul(pool, NULL, x));
  CU_ASSERT_PTR_NULL(onnxl_expr_floor_div(pool, NULL, x));
  CU_ASSERT_PTR_NULL(onnxl_expr_max(pool, x, NULL));
  CU_ASSERT_PTR_NULL(onnxl_expr_sum(pool, (const OnnxlExpr[]){ x, NULL }, 2));
  CU_ASSERT_EQUAL(onnxl_expr_compare(pool, x, NULL), ONNXL_EXPR_UNKNOWN);
  int64_t min, max;
  onnxl_expr_bounds(pool, NULL, &min, &max);
  CU_ASSERT_TRUE(min == INT64_MIN && max == INT64_MAX);
  end();
}

static void
test_parse_errors(void)
{
  static const char *const cases[][2] = {
    { "", "unexpected token ''" },
    { "2*", "unexpected token ''" },
    { "(x", "unexpected token ''" },
    { "x)", "unexpected token ')' after expression" },
    { "x y", "unexpected token 'y' after expression" },
    { "2 3", "unexpected token '3' after expression" },
    { "x/2", "unexpected character '/'" },
    { "a.b", "unexpected character '.'" },
    { "x::y", "unexpected character ':'" },
    { "1.5", "unexpected character '.'" },
    { "x**2", "unexpected token '*'" },
    { "f(x)", "unknown function 'f'" },
    { "max()", "unexpected token ')'" },
    { "max(x,)", "unexpected token ')'" },
    { "CeilToInt(x)", "needs 2 arguments" },
    { "CeilToInt(x,0)", "division by zero" },
    { "x//0", "division by zero" },
    { "x%(1-1)", "division by zero" },
    { "9223372036854775808", "out of range" },
    { "99999999999999999999999", "out of range" },
    { "x-9223372036854775808", "out of range" },
    { "9223372036854775807*x*2", "64 bits" },
    { "\"a", "without end" },
    { "\"a\\", "without end" },
    { "\"a\\n\"", "unexpected '\\n'" },
  };
  begin();
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(onnxl_expr_parse(pool, onnxl_str(cases[i][0]), 200, &error));
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
    if (!error || !strstr(error->message, cases[i][1])) {
      fprintf(stderr, "%s: %s\n", cases[i][0], error ? error->message : "no error");
      CU_FAIL("message");
    }
    g_clear_error(&error);
  }
  GError *error = NULL;
  CU_ASSERT_PTR_NULL(onnxl_expr_parse(pool, onnxl_str_n("x\0y", 3), 200, &error));
  CU_ASSERT_PTR_NOT_NULL_FATAL(error);
  g_clear_error(&error);
  CU_ASSERT_PTR_NULL(onnxl_expr_parse(pool, ONNXL_STR("((x))"), 1, NULL));
  CU_ASSERT_PTR_NOT_NULL(onnxl_expr_parse(pool, ONNXL_STR("((x))"), 2, NULL));
  end();
}

static void
test_symbols_are_any_bytes(void)
{
  begin();
  OnnxlExpr odd = onnxl_expr_symbol(pool, ONNXL_STR("p2o.D.0")), n = parse("N");
  CU_ASSERT_STRING_EQUAL(text_of(odd), "p2o.D.0");
  OnnxlExpr sum = onnxl_expr_add(pool, onnxl_expr_mul(pool, odd, n), onnxl_expr_symbol(pool, ONNXL_STR("2*N")));
  CU_ASSERT_STRING_EQUAL(text_of(sum), "\"2*N\"+\"p2o.D.0\"*N");
  CU_ASSERT_PTR_EQUAL(parse(text_of(sum)), sum);
  OnnxlExpr nul = onnxl_expr_mul(pool, onnxl_expr_symbol(pool, onnxl_str_n("a\0\"\\", 4)), n);
  CU_ASSERT_PTR_EQUAL(onnxl_expr_parse(pool, onnxl_expr_text(pool, nul), 200, NULL), nul);
  OnnxlExpr word = onnxl_expr_mul(pool, onnxl_expr_symbol(pool, ONNXL_STR("max")), n);
  CU_ASSERT_PTR_EQUAL(parse(text_of(word)), word);
  OnnxlStr name;
  CU_ASSERT_TRUE(onnxl_expr_is_symbol(odd, &name) && onnxl_str_is(name, "p2o.D.0"));
  CU_ASSERT_FALSE(onnxl_expr_is_symbol(sum, NULL));
  CU_ASSERT_FALSE(onnxl_expr_is_symbol(NULL, NULL));
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_expr_print(&out, sum);
  onnxl_expr_print(&out, NULL);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), "\"2*N\"+\"p2o.D.0\"*N?"));
  onnxl_output_clear(&out);
  end();
}

/* What is printed must not depend on the order in which expressions were made. */
static void
test_text_is_independent_of_order(void)
{
  static const char *const terms[] = { "b*c", "3*a", "(a+b)//2", "c%3", "max(a,c)", "7" };
  begin();
  OnnxlExpr forward = NULL, backward = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(terms); i++)
    forward = i == 0 ? parse(terms[i]) : onnxl_expr_add(pool, forward, parse(terms[i]));
  char *text = g_strdup(text_of(forward));
  end();
  begin();
  for (size_t i = G_N_ELEMENTS(terms); i-- > 0;)
    backward = !backward ? parse(terms[i]) : onnxl_expr_add(pool, backward, parse(terms[i]));
  CU_ASSERT_STRING_EQUAL(text_of(backward), text);
  CU_ASSERT_STRING_EQUAL(text, "(a+b)//2+3*a+b*c+c%3+max(a,c)+7");
  g_free(text);
  end();
}

static void
bound(const char *name, int64_t min, int64_t max)
{
  onnxl_expr_set_bounds(pool, parse(name), min, max);
}

static void
test_facts(void)
{
  begin();
  int64_t min, max;
  OnnxlExpr early = parse("max(N,0)+N//3");
  bound("N", 0, INT64_MAX);
  bound("M", 1, 100);
  bound("S", -5, 5);
  check_text("max(N,0)", "N");
  check_text("min(N,0)", "0");
  check_text("max(N,N//2)", "N");
  check_text("min(N,N-N%4)", "N-N%4");
  check_text("max(M,N+M)", "M+N");
  check_text("max(N,M)", "max(M,N)");
  check_text("M%200", "M");
  check_text("M//200", "0");
  check_text("M//(M+N+1)", "0");
  check_text("M%(M+N+1)", "M");
  check_text("(M*N+M-1)//M", "N");
  check_text("(-1)%M", "M-1");
  check_text("CeilToInt(M*N,M)", "N");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_ceil_div(pool, parse("K"), parse("M"))), "(K-1)//M+1");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_ceil_div(pool, parse("K"), parse("J"))), "-((-K)//J)");
  onnxl_expr_bounds(pool, parse("N-N//2"), &min, &max);
  CU_ASSERT_TRUE(min == 0 && max == INT64_MAX);
  onnxl_expr_bounds(pool, parse("S*S"), &min, &max);
  CU_ASSERT_TRUE(min == 0 && max == 25);
  onnxl_expr_bounds(pool, parse("3-2*S"), &min, &max);
  CU_ASSERT_TRUE(min == -7 && max == 13);
  onnxl_expr_bounds(pool, parse("K%7"), &min, &max);
  CU_ASSERT_TRUE(min == 0 && max == 6);
  onnxl_expr_bounds(pool, parse("min(K,9)"), &min, &max);
  CU_ASSERT_TRUE(min == INT64_MIN && max == 9);
  onnxl_expr_bounds(pool, early, &min, &max);
  CU_ASSERT_TRUE(min == 0 && max == INT64_MAX);
  /* What is beyond 64 bits stays there, whatever is taken off it. */
  bound("H", INT64_C(1) << 62, INT64_MAX);
  onnxl_expr_bounds(pool, parse("12*H-24"), &min, &max);
  CU_ASSERT_TRUE(min == INT64_MAX - 1 && max == INT64_MAX);
  onnxl_expr_bounds(pool, parse("24-12*H"), &min, &max);
  CU_ASSERT_TRUE(min == INT64_MIN && max == INT64_MIN + 1);
  /* Facts add up, a contradiction is ignored. */
  bound("N", -10, 50);
  bound("N", 60, 70);
  onnxl_expr_bounds(pool, early, &min, &max);
  CU_ASSERT_TRUE(min == 0 && max == 66);
  end();
}

static void
test_compare(void)
{
  static const struct {
    const char *a, *b;
    OnnxlExprOrder order;
  } cases[] = {
    { "N+M", "M+N", ONNXL_EXPR_EQUAL },
    { "(N+2)//2", "N//2+1", ONNXL_EXPR_EQUAL },
    { "N%4", "N-4*(N//4)", ONNXL_EXPR_EQUAL },
    { "(4*N+M)//4", "N+M//4", ONNXL_EXPR_EQUAL },
    { "(2*N+3*M)//2", "N+M+M//2", ONNXL_EXPR_EQUAL },
    { "(6-N)%4", "(2+3*N)%4", ONNXL_EXPR_EQUAL },
    { "N", "N+1", ONNXL_EXPR_LESS },
    { "N+M+1", "N", ONNXL_EXPR_GREATER },
    { "2*N", "N", ONNXL_EXPR_GREATER_EQUAL },
    { "N//2", "N", ONNXL_EXPR_LESS_EQUAL },
    { "4*(N//4)", "N+1", ONNXL_EXPR_LESS },
    { "N", "max(M,N)", ONNXL_EXPR_LESS_EQUAL },
    { "min(M,N)+1", "max(M,N)", ONNXL_EXPR_UNKNOWN },
    { "min(M,N)", "max(M,N)", ONNXL_EXPR_LESS_EQUAL },
    { "N", "M", ONNXL_EXPR_UNKNOWN },
    { "2*N+1", "2*M", ONNXL_EXPR_NOT_EQUAL },
    { "x", "2*x", ONNXL_EXPR_UNKNOWN },
    { "3", "4", ONNXL_EXPR_LESS },
    { "9223372036854775807", "-9223372036854775808", ONNXL_EXPR_GREATER },
  };
  begin();
  bound("N", 0, INT64_MAX);
  bound("M", 0, INT64_MAX);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    OnnxlExprOrder order = onnxl_expr_compare(pool, parse(cases[i].a), parse(cases[i].b));
    if (order != cases[i].order)
      fprintf(stderr, "%s ? %s: %d\n", cases[i].a, cases[i].b, order);
    CU_ASSERT_EQUAL(order, cases[i].order);
  }
  end();
}

static void
test_trunc_div(void)
{
  begin();
  bound("N", 0, INT64_MAX);
  bound("K", INT64_MIN, -1);
  OnnxlExpr x = parse("x"), n = parse("N"), k = parse("K"), three = onnxl_expr_int(pool, 3);
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_trunc_div(pool, n, three)), "N//3");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_trunc_div(pool, n, k)), "-((-N)//K)");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_trunc_div(pool, k, three)), "-((-K)//3)");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_trunc_div(pool, parse("3*x"), three)), "x");
  CU_ASSERT_STRING_EQUAL(text_of(onnxl_expr_trunc_div(pool, parse("x*y"), parse("y"))), "x");
  CU_ASSERT_PTR_NULL(onnxl_expr_trunc_div(pool, n, x));
  for (int64_t divisor = -3; divisor <= 3; divisor++) {
    if (divisor == 0)
      continue;
    OnnxlExpr e = onnxl_expr_trunc_div(pool, x, onnxl_expr_int(pool, divisor));
    for (int64_t i = -10; i <= 10; i++) {
      Values values = { 0 };
      values.of['x'] = i;
      CU_ASSERT_EQUAL(value_of(e, &values), i / divisor);
      int64_t constant;
      CU_ASSERT_TRUE(onnxl_expr_is_int(
        onnxl_expr_trunc_div(pool, onnxl_expr_int(pool, i), onnxl_expr_int(pool, divisor)), &constant));
      CU_ASSERT_EQUAL(constant, i / divisor);
    }
  }
  end();
}

static OnnxlExpr
replace_n(void *data, OnnxlStr name)
{
  return onnxl_str_is(name, "N") ? *(const OnnxlExpr *)data : NULL;
}

static OnnxlExpr
substitute_n(OnnxlExpr e, OnnxlExpr by)
{
  return onnxl_expr_substitute(pool, e, replace_n, &by);
}

static bool
is_named(void *data, OnnxlExpr symbol)
{
  OnnxlStr name;
  return onnxl_expr_is_symbol(symbol, &name) && onnxl_str_is(name, data);
}

static void
collect(void *data, OnnxlExpr symbol)
{
  OnnxlStr name;
  CU_ASSERT_TRUE(onnxl_expr_is_symbol(symbol, &name));
  g_string_append_printf(data, "%.*s ", ONNXL_ARG(name));
}

static void
test_substitute_and_symbols(void)
{
  begin();
  OnnxlExpr e = parse("N*(M+1)+N//2+max(N,M)+(N*M)/:2-N%4");
  OnnxlExpr replaced = substitute_n(e, parse("4*K"));
  CU_ASSERT_STRING_EQUAL(text_of(replaced), "6*K+6*K*M+max(4*K,M)");
  CU_ASSERT_STRING_EQUAL(text_of(substitute_n(e, parse("8"))), "12*M+max(8,M)+12");
  CU_ASSERT_PTR_EQUAL(substitute_n(parse("M+K"), parse("8")), parse("K+M"));
  /* All at once: what replaces N is not replaced again. */
  CU_ASSERT_STRING_EQUAL(text_of(substitute_n(parse("N*N"), parse("N+1"))), "2*N+N*N+1");
  CU_ASSERT_PTR_NULL(substitute_n(parse("M//N"), parse("0")));
  CU_ASSERT_PTR_NULL(substitute_n(NULL, parse("0")));
  GString *names = g_string_new(NULL);
  onnxl_expr_symbols(pool, parse("b*c+max(a,\"x y\"*b)+7"), collect, names);
  onnxl_expr_symbols(pool, onnxl_expr_symbol(pool, ONNXL_STR("1 2")), collect, names);
  onnxl_expr_symbols(pool, parse("7"), collect, names);
  CU_ASSERT_STRING_EQUAL(names->str, "b c x y a 1 2 ");
  g_string_free(names, TRUE);
  static const char *const with_y[] = {
    "y", "2*x+y", "x*y", "x//y", "y%2", "(x*y)/:2", "max(x,3*y+1)", "min(x,y//2)+x"
  };
  for (size_t i = 0; i < G_N_ELEMENTS(with_y); i++) {
    CU_ASSERT_TRUE(onnxl_expr_any_symbol(parse(with_y[i]), is_named, "y"));
    CU_ASSERT_FALSE(onnxl_expr_any_symbol(parse(with_y[i]), is_named, "z"));
  }
  CU_ASSERT_FALSE(onnxl_expr_any_symbol(parse("7"), is_named, "y"));
  CU_ASSERT_FALSE(onnxl_expr_any_symbol(NULL, is_named, "y"));
  end();
}

static void
test_solve(void)
{
  static const char *const cases[][4] = {
    { "2*N", "M", "M", "2*N" },       { "2*N", "M", "N", NULL },        { "2*N", "4*M+2", "N", "2*M+1" },
    { "N+3", "M-N+1", "M", "2*N+2" }, { "-N", "M//2", "N", "-(M//2)" }, { "N*L", "M*L", "N", "M" },
    { "N*K", "M*K", "N", NULL },      { "N//2", "M", "N", NULL },       { "N*N", "M", "N", NULL },
    { "N", "N", "N", NULL },          { "N*L+N", "3*L+3", "N", "3" },   { "K", "M", "N", NULL },
  };
  begin();
  bound("L", 1, INT64_MAX);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    OnnxlExpr found = onnxl_expr_solve(pool, parse(cases[i][0]), parse(cases[i][1]), parse(cases[i][2]));
    const char *expected = cases[i][3] ? cases[i][3] : "?";
    if (strcmp(text_of(found), expected) != 0)
      fprintf(stderr, "%s == %s for %s: %s\n", cases[i][0], cases[i][1], cases[i][2], text_of(found));
    CU_ASSERT_STRING_EQUAL(text_of(found), expected);
  }
  end();
}

static double
seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void
test_long_sums_are_fast(void)
{
  enum { N = 100000 };
  begin();
  OnnxlExpr *terms = g_new(OnnxlExpr, N);
  for (int i = 0; i < N; i++) {
    OnnxlExpr symbol = onnxl_expr_symbol(pool, onnxl_arena_printf(arena, "n%d", (i * 7919) % N));
    onnxl_expr_set_bounds(pool, symbol, 0, INT64_MAX);
    terms[i] = onnxl_expr_mul(pool, symbol, onnxl_expr_int(pool, i + 1));
  }
  double start = seconds();
  OnnxlExpr sum = onnxl_expr_sum(pool, terms, N);
  double added = seconds();
  OnnxlStr text = onnxl_expr_text(pool, sum);
  double printed = seconds();
  CU_ASSERT_PTR_EQUAL(onnxl_expr_parse(pool, text, 200, NULL), sum);
  double parsed = seconds();
  int64_t min, max;
  onnxl_expr_bounds(pool, sum, &min, &max);
  CU_ASSERT_EQUAL(min, 0);
  CU_ASSERT_TRUE(onnxl_expr_compare(pool, sum, terms[17]) == ONNXL_EXPR_GREATER_EQUAL);
  CU_ASSERT_PTR_NOT_NULL(onnxl_expr_floor_div(pool, sum, onnxl_expr_int(pool, 7)));
  printf("\n  100000 terms: sum %.0f ms, print %.0f ms, parse %.0f ms, rest %.0f ms\n", (added - start) * 1e3,
         (printed - added) * 1e3, (parsed - printed) * 1e3, (seconds() - parsed) * 1e3);
  /* Generous, for slow and instrumented machines; a quadratic method would take minutes. */
  CU_ASSERT_TRUE(seconds() - start < 10);
  /* 100,000 equal terms are one. */
  for (int i = 0; i < N; i++)
    terms[i] = terms[0];
  CU_ASSERT_PTR_EQUAL(onnxl_expr_sum(pool, terms, N), onnxl_expr_mul(pool, terms[0], onnxl_expr_int(pool, N)));
  g_free(terms);
  end();
}

static void
test_hostile_sizes(void)
{
  begin();
  OnnxlExpr e = parse("x");
  OnnxlExpr last = NULL;
  unsigned levels = 0;
  for (; e && levels < 100000; levels++) {
    last = e;
    e = onnxl_expr_add(pool, onnxl_expr_mod(pool, onnxl_expr_symbol(pool, ONNXL_STR("y")), e), parse("z"));
  }
  CU_ASSERT_PTR_NULL(e);
  CU_ASSERT_TRUE(levels > 100 && levels < 2000);
  Values values = { 0 };
  values.of['y'] = 100;
  values.of['z'] = 1;
  CU_ASSERT_PTR_NOT_NULL(text_of(last));
  values.of['x'] = 7;
  CU_ASSERT_TRUE(value_of(last, &values) >= 0);
  GString *names = g_string_new(NULL);
  onnxl_expr_symbols(pool, last, collect, names);
  CU_ASSERT_STRING_EQUAL(names->str, "y x z ");
  g_string_free(names, TRUE);
  CU_ASSERT_PTR_EQUAL(substitute_n(last, NULL), last);
  /* Doubling: small as a graph, exponential as a text. */
  e = parse("x");
  for (levels = 0; e && levels < 1000; levels++)
    e = onnxl_expr_max(pool, onnxl_expr_floor_div(pool, e, parse("y")), onnxl_expr_mod(pool, e, parse("z")));
  CU_ASSERT_PTR_NULL(e);
  /* Powers. */
  e = parse("x");
  for (levels = 0; e && levels < 1000; levels++)
    e = onnxl_expr_mul(pool, e, e);
  CU_ASSERT_PTR_NULL(e);
  /* Text nested beyond the limit, and long flat text. */
  GString *text = g_string_new(NULL);
  for (int i = 0; i < 100000; i++)
    g_string_append_c(text, '(');
  CU_ASSERT_PTR_NULL(onnxl_expr_parse(pool, onnxl_str_n(text->str, text->len), UINT32_MAX, NULL));
  g_string_truncate(text, 0);
  for (int i = 0; i < 100000; i++)
    g_string_append_c(text, '-');
  g_string_append(text, "x");
  CU_ASSERT_PTR_EQUAL(parse(text->str), parse("x"));
  g_string_assign(text, "x");
  for (int i = 0; i < 100000; i++)
    g_string_append(text, "^x*1");
  CU_ASSERT_PTR_EQUAL(parse(text->str), parse("x"));
  g_string_free(text, TRUE);
  end();
  /* An exhausted arena makes things unknown, nothing else. */
  arena = onnxl_arena_new(4096);
  pool = onnxl_expr_pool_new(arena);
  e = onnxl_expr_int(pool, 0);
  for (int i = 0; i < 1000; i++)
    e = onnxl_expr_add(pool, e, onnxl_expr_symbol(pool, onnxl_arena_printf(arena, "s%d", i)));
  CU_ASSERT_PTR_NULL(e);
  CU_ASSERT_TRUE(onnxl_arena_exhausted(arena));
  end();
}

static OnnxlExpr
most_of(void *data G_GNUC_UNUSED, OnnxlStr name)
{
  return onnxl_str_is(name, "s") ? parse("2*N") : onnxl_str_is(name, "t") ? parse("s+1") : NULL;
}

/* s <= 2*N, t <= s + 1; both are sizes, and so is N. */
static void
test_upper_bounds(void)
{
  static const char *const cases[][2] = {
    { "N", "N" },         { "s", "2*N" },         { "t", "2*N+1" },       { "4*s+N", "9*N" },
    { "N-s", "N" },       { "s*t", "2*N+4*N*N" }, { "max(s,N)", "2*N" },  { "min(s,8)", "min(2*N,8)" },
    { "s//3", "2*N//3" }, { "s%7", "6" },         { "(N-3)*s", "2*N*N" }, { "N//(s+1)", NULL },
  };

  begin();
  for (const char *name = "Nst"; *name; name++)
    onnxl_expr_set_bounds(pool, onnxl_expr_symbol(pool, onnxl_str_n(name, 1)), 0, INT64_MAX);
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    OnnxlExpr upper = onnxl_expr_upper(pool, parse(cases[i][0]), most_of, NULL);
    OnnxlExpr expected = cases[i][1] ? parse(cases[i][1]) : NULL;
    if (upper != expected)
      printf("\n%s: %s is not %s\n", cases[i][0], text_of(upper), text_of(expected));
    CU_ASSERT_PTR_EQUAL(upper, expected);
  }
  end();
}

UNIT_MAIN("expr", { "upper bounds", test_upper_bounds }, { "canonical text", test_canonical_text },
          { "parentheses keep the value", test_parentheses_keep_the_value }, { "evaluation", test_evaluation },
          { "overflow is unknown", test_overflow_is_unknown }, { "parse errors", test_parse_errors },
          { "symbols are any bytes", test_symbols_are_any_bytes },
          { "text is independent of order", test_text_is_independent_of_order }, { "facts", test_facts },
          { "compare", test_compare }, { "trunc_div", test_trunc_div },
          { "substitute and symbols", test_substitute_and_symbols }, { "solve", test_solve },
          { "long sums are fast", test_long_sums_are_fast }, { "hostile sizes", test_hostile_sizes })
