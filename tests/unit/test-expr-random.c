/* Random expressions, evaluated by a small evaluator of its own before, and by the library after
 * text -> canonical form -> text -> canonical form. ONNXL_EXPR_SEEDS = expressions for each mix of operators,
 * ONNXL_EXPR_SEED = where the random numbers start. */
#include "expr/expr.h"

#include <inttypes.h>

#include "unit.h"

#define DEFAULT_SEEDS 20000
#define SYMBOLS 4
#define ASSIGNMENTS 10
/* Pools are renewed after this many expressions, so that memory stays bounded. */
#define POOL_LIFE 500

static uint64_t state;

static uint32_t
random_below(uint32_t n)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state >> 11) % n);
}

typedef struct Tree {
  char op; /* 'n' literal, 's' symbol, + - * f(//) e(/:) % ^ & c(CeilToInt) m(prefix -) */
  int64_t value;
  struct Tree *left, *right;
} Tree;

typedef struct Forest {
  Tree nodes[128];
  size_t n;
} Forest;

static Tree *
random_tree(Forest *forest, const char *operators, unsigned depth)
{
  static const int64_t literals[] = { 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 64, 1024, 1000003 };
  Tree *tree = &forest->nodes[forest->n++];
  *tree = (Tree){ 0 };
  if (depth == 0 || random_below(6) == 0) {
    if (random_below(3) == 0) {
      tree->op = 'n';
      tree->value = literals[random_below(random_below(4) ? 7 : G_N_ELEMENTS(literals))];
    } else {
      tree->op = 's';
      tree->value = random_below(SYMBOLS);
    }
    return tree;
  }
  tree->op = operators[random_below((uint32_t)strlen(operators))];
  tree->left = random_tree(forest, operators, depth - 1);
  if (tree->op != 'm')
    tree->right = random_tree(forest, operators, depth - 1);
  return tree;
}

static void
write_tree(GString *out, const Tree *tree)
{
  const char *op = "";
  char one[2] = { tree->op, '\0' };
  switch (tree->op) {
  case 'n':
    g_string_append_printf(out, "%" PRId64, tree->value);
    return;
  case 's':
    g_string_append_c(out, (char)('a' + tree->value));
    return;
  case 'm':
    g_string_append(out, "(-");
    write_tree(out, tree->left);
    g_string_append_c(out, ')');
    return;
  case 'c':
    op = ",";
    g_string_append(out, "CeilToInt");
    break;
  case 'f':
    op = "//";
    break;
  case 'e':
    op = "/:";
    break;
  default:
    op = one;
  }
  g_string_append_c(out, '(');
  write_tree(out, tree->left);
  g_string_append(out, op);
  write_tree(out, tree->right);
  g_string_append_c(out, ')');
}

/* False: the tree has no value here. Values beyond 2^120 count as that, which leaves room for what the canonical form
 * may have to add up in between. */
static bool
evaluate_tree(const Tree *tree, const int64_t *values, __int128 *ret)
{
  const __int128 limit = (__int128)1 << 120;
  __int128 a, b = 0, q;
  if (tree->op == 'n' || tree->op == 's') {
    *ret = tree->op == 'n' ? tree->value : values[tree->value];
    return true;
  }
  if (!evaluate_tree(tree->left, values, &a) || (tree->right && !evaluate_tree(tree->right, values, &b)))
    return false;
  switch (tree->op) {
  case '+':
    *ret = a + b;
    break;
  case '-':
    *ret = a - b;
    break;
  case 'm':
    *ret = -a;
    break;
  case '*':
    if (__builtin_mul_overflow(a, b, ret))
      return false;
    break;
  case '^':
    *ret = a > b ? a : b;
    break;
  case '&':
    *ret = a < b ? a : b;
    break;
  default:
    if (b == 0 || (tree->op == 'e' && a % b != 0))
      return false;
    q = a / b;
    if (tree->op == 'c')
      *ret = q + (a % b != 0 && (a < 0) == (b < 0));
    else {
      q -= a % b != 0 && (a < 0) != (b < 0);
      *ret = tree->op == '%' ? a - q * b : q;
    }
  }
  return *ret<limit && * ret> - limit;
}

static bool
look_up(void *data, OnnxlStr name, int64_t *ret_value)
{
  *ret_value = ((const int64_t *)data)[name.data[0] - 'a'];
  return true;
}

static int64_t
random_value(bool natural)
{
  int64_t value;
  switch (random_below(8)) {
  case 0:
    return 0;
  case 1:
    return 1;
  case 2:
    return natural ? 1 : -1;
  case 3:
    value = random_below(1 << 20);
    break;
  case 4:
    value = (int64_t)random_below(UINT32_MAX) << random_below(8);
    break;
  default:
    value = random_below(24);
  }
  return natural || random_below(2) ? value : -value;
}

typedef struct Workbench {
  OnnxlArena *arena;
  OnnxlExprPool *pool;
} Workbench;

/* natural: all symbols are >= 0, and the pool knows. */
static void
workbench_open(Workbench *bench, bool natural)
{
  bench->arena = onnxl_arena_new(SIZE_MAX);
  bench->pool = onnxl_expr_pool_new(bench->arena);
  for (char c = 'a'; natural && c < 'a' + SYMBOLS; c++)
    onnxl_expr_set_bounds(bench->pool, onnxl_expr_symbol(bench->pool, onnxl_str_n(&c, 1)), c == 'd', INT64_MAX);
}

static void
workbench_close(Workbench *bench)
{
  onnxl_expr_pool_free(bench->pool);
  onnxl_arena_free(bench->arena);
}

typedef struct Figures {
  uint64_t expressions, unknown, checked, different, restless, refused;
} Figures;

static void
report(const char *what, const GString *source, const char *text, const int64_t *values)
{
  fprintf(stderr, "%s: %s -> %s at", what, source->str, text);
  for (int i = 0; values && i < SYMBOLS; i++)
    fprintf(stderr, " %c=%" PRId64, 'a' + i, values[i]);
  fprintf(stderr, "\n");
}

static bool
agrees(OnnxlExpr e, int64_t *values, int64_t expected)
{
  int64_t value;
  return onnxl_expr_evaluate(e, look_up, values, &value, NULL) && value == expected;
}

/* A substitution can make a product of sums that is too long to multiply out. One of its factors may then be beyond 128
 * bits where another is 0: evaluation refuses that, which is no wrong value. */
static bool
agrees_or_refuses(OnnxlExpr e, int64_t *values, int64_t expected, uint64_t *refused)
{
  int64_t value;
  GError *error = NULL;
  if (onnxl_expr_evaluate(e, look_up, values, &value, &error))
    return value == expected;
  bool too_large = strstr(error->message, "64 bits") != NULL;
  *refused += too_large;
  g_error_free(error);
  return too_large;
}

static bool
is_inside(OnnxlExprPool *pool, OnnxlExpr e, int64_t value)
{
  int64_t min, max;
  onnxl_expr_bounds(pool, e, &min, &max);
  return value >= min && value <= max;
}

static bool
order_holds(OnnxlExprOrder order, __int128 a, __int128 b)
{
  switch (order) {
  case ONNXL_EXPR_EQUAL:
    return a == b;
  case ONNXL_EXPR_LESS:
    return a < b;
  case ONNXL_EXPR_GREATER:
    return a > b;
  case ONNXL_EXPR_LESS_EQUAL:
    return a <= b;
  case ONNXL_EXPR_GREATER_EQUAL:
    return a >= b;
  case ONNXL_EXPR_NOT_EQUAL:
    return a != b;
  case ONNXL_EXPR_UNKNOWN:
    break;
  }
  return true;
}

static OnnxlExpr
parse_tree(OnnxlExprPool *pool, const Tree *tree, GString *text)
{
  g_string_truncate(text, 0);
  write_tree(text, tree);
  return onnxl_expr_parse(pool, onnxl_str_n(text->str, text->len), 200, NULL);
}

static OnnxlExpr
replace_a(void *data, OnnxlStr name)
{
  return name.data[0] == 'a' ? *(const OnnxlExpr *)data : NULL;
}

/* One expression in all its forms. */
typedef struct Subject {
  const Tree *tree;
  OnnxlExpr e, again;   /* canonical; printed and read again by another pool */
  OnnxlExpr left;       /* of the operand of the tree, NULL for a leaf */
  OnnxlExpr truncated;  /* left trunc_div right, where there is such a thing */
  OnnxlExpr replaced;   /* e with left in the place of the symbol a */
  OnnxlExprOrder order; /* of e and left */
} Subject;

static bool
derived_agree(const Subject *subject, bool natural, int64_t *values, int64_t expected, uint64_t *refused)
{
  __int128 left, right, replaced;
  if (!subject->left || !evaluate_tree(subject->tree->left, values, &left))
    return true;
  if (!order_holds(subject->order, expected, left))
    return false;
  if (subject->truncated && evaluate_tree(subject->tree->right, values, &right) && right != 0) {
    __int128 quotient = left / right;
    if (quotient == (int64_t)quotient && !agrees(subject->truncated, values, (int64_t)quotient))
      return false;
  }
  if (!subject->replaced || left != (int64_t)left || (natural && left < 0))
    return true;
  int64_t others[SYMBOLS];
  memcpy(others, values, sizeof others);
  others[0] = (int64_t)left;
  return !evaluate_tree(subject->tree, others, &replaced) || replaced != (int64_t)replaced ||
         agrees_or_refuses(subject->replaced, values, (int64_t)replaced, refused);
}

static void
try_one(Workbench *first, Workbench *second, const char *operators, bool natural, Figures *figures)
{
  Forest forest = { .n = 0 };
  Subject subject = { .tree = random_tree(&forest, operators, 1 + random_below(4)) };
  GString *source = g_string_new(NULL);
  if (subject.tree->left)
    subject.left = parse_tree(first->pool, subject.tree->left, source);
  if (subject.tree->right)
    subject.truncated =
      onnxl_expr_trunc_div(first->pool, subject.left, parse_tree(first->pool, subject.tree->right, source));
  subject.e = parse_tree(first->pool, subject.tree, source);
  OnnxlStr text = onnxl_expr_text(first->pool, subject.e);
  figures->expressions++;
  if (subject.e) {
    subject.order = onnxl_expr_compare(first->pool, subject.e, subject.left);
    if (subject.left)
      subject.replaced = onnxl_expr_substitute(first->pool, subject.e, replace_a, &subject.left);
    subject.again = onnxl_expr_parse(second->pool, text, 200, NULL);
    figures->different += !subject.again;
    if (!subject.again)
      report("not read again", source, text.data, NULL);
    else if (!onnxl_str_equal(onnxl_expr_text(second->pool, subject.again), text))
      figures->restless++;
  }
  bool has_value = false;
  for (unsigned i = 0; i < ASSIGNMENTS; i++) {
    int64_t values[SYMBOLS];
    __int128 expected;
    for (unsigned k = 0; k < SYMBOLS; k++)
      values[k] = random_value(natural);
    if (natural && values[SYMBOLS - 1] == 0)
      values[SYMBOLS - 1] = 1;
    if (!evaluate_tree(subject.tree, values, &expected) || expected != (int64_t)expected)
      continue;
    has_value = true;
    if (!subject.again)
      break;
    figures->checked++;
    int64_t value = (int64_t)expected;
    const char *wrong = NULL;
    if (!agrees(subject.e, values, value) || !agrees(subject.again, values, value))
      wrong = "different";
    else if (!is_inside(first->pool, subject.e, value))
      wrong = "outside of its bounds";
    else if (!derived_agree(&subject, natural, values, value, &figures->refused))
      wrong = "comparison, truncating division or substitution differs";
    if (wrong)
      report(wrong, source, text.data, values);
    figures->different += wrong != NULL;
  }
  figures->unknown += !subject.e && has_value;
  g_string_free(source, TRUE);
}

static uint64_t
seeds(void)
{
  const char *text = g_getenv("ONNXL_EXPR_SEEDS");
  uint64_t n = text ? g_ascii_strtoull(text, NULL, 10) : 0;
  return n > 0 ? n : DEFAULT_SEEDS;
}

static void
run_mix(const char *name, const char *operators)
{
  Workbench first[2], second[2];
  Figures figures = { 0 };
  const char *text = g_getenv("ONNXL_EXPR_SEED");
  uint64_t start = text ? g_ascii_strtoull(text, NULL, 10) : 1;
  state = start * UINT64_C(0x9e3779b97f4a7c15) | 1;
  uint64_t n = seeds();
  for (uint64_t i = 0; i < n; i++) {
    bool natural = i % 2;
    if (i % POOL_LIFE == 0) {
      for (int k = 0; k < 2; k++) {
        if (i > 0) {
          workbench_close(&first[k]);
          workbench_close(&second[k]);
        }
        workbench_open(&first[k], k);
        workbench_open(&second[k], k);
      }
    }
    try_one(&first[natural], &second[natural], operators, natural, &figures);
  }
  for (int k = 0; k < 2; k++) {
    workbench_close(&first[k]);
    workbench_close(&second[k]);
  }
  printf("\n  %s (seed %" PRIu64 "): %" PRIu64 " expressions, %" PRIu64 " values, %" PRIu64 " differ, %" PRIu64
         " unknown, %" PRIu64 " texts change when read again",
         name, start, figures.expressions, figures.checked, figures.different, figures.unknown, figures.restless);
  fflush(stdout);
  CU_ASSERT_EQUAL(figures.different, 0);
  CU_ASSERT_TRUE(figures.refused <= figures.checked / 100000);
  /* Not promised, but what is read again should not wander. */
  CU_ASSERT_TRUE(figures.restless <= figures.expressions / 1000);
  CU_ASSERT_TRUE(figures.checked > figures.expressions);
  /* Only values beyond 64 bits may be given up. */
  CU_ASSERT_TRUE(figures.unknown <= figures.expressions / 50);
}

static void
test_ring(void)
{
  run_mix("+ - *", "++-**m");
}

static void
test_floor_division(void)
{
  run_mix("+ - * //", "+-**ffm");
}

static void
test_rest(void)
{
  run_mix("+ - * %", "+-**%%m");
}

static void
test_extrema(void)
{
  run_mix("+ - * ^ &", "+-**^&m");
}

static void
test_exact_division(void)
{
  run_mix("+ - * /:", "+-***em");
}

static void
test_all(void)
{
  run_mix("all", "+-*+-**ffe%%^&cm");
}

UNIT_MAIN("expr-random", { "ring", test_ring }, { "floor division", test_floor_division }, { "rest", test_rest },
          { "maximum and minimum", test_extrema }, { "exact division", test_exact_division },
          { "all operators", test_all })
