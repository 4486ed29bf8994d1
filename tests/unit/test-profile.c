#include "memory/profile.h"

#include "model-text.h"
#include "support/error.h"

typedef struct Profiled {
  TextModel t;
  OnnxlInference *inference;
  const OnnxlMemory *memory;
} Profiled;

static Profiled
profile(const char *text, OnnxlInplace inplace, bool free_inputs)
{
  Profiled p = { text_model(text), NULL, NULL };

  p.inference = onnxl_infer(p.t.model, &(OnnxlInferOptions){ 0 }, p.t.model->arena, p.t.sink, &p.t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(p.inference);
  p.memory = onnxl_memory_new(p.inference, &(OnnxlMemoryOptions){ .inplace = inplace, .free_inputs = free_inputs },
                              p.t.model->arena, &p.t.error);
  return p;
}

static void
clear(Profiled *p)
{
  onnxl_inference_free(p->inference);
  text_model_clear(&p->t);
}

/* Totals of the nodes and the peak, blank-separated. */
static void
check_totals(const char *text, OnnxlInplace inplace, bool free_inputs, const char *expected)
{
  Profiled p = profile(text, inplace, free_inputs);
  GString *totals = g_string_new(NULL);

  CU_ASSERT_PTR_NOT_NULL_FATAL(p.memory);
  for (uint32_t i = 0; i < p.memory->n_nodes; i++)
    g_string_append_printf(totals, "%s ", onnxl_expr_text(p.inference->pool, p.memory->nodes[i].total).data);
  g_string_append(totals, onnxl_expr_text(p.inference->pool, p.memory->peak).data);
  if (strcmp(totals->str, expected) != 0)
    printf("\n%s\n  %s\nis not\n  %s\n", text, totals->str, expected);
  CU_ASSERT_STRING_EQUAL(totals->str, expected);
  g_string_free(totals, TRUE);
  clear(&p);
}

#define HEAD "<ir_version: 8, opset_import: [\"\": 18]> "

static const char chain[] = HEAD "g (float[N] x) => (float[N] y) { a = Neg (x)  b = Relu (a)  y = Exp (b) }";

static void
test_chain(void)
{
  check_totals(chain, ONNXL_INPLACE_OFF, false, "8*N 12*N 12*N 12*N");
  check_totals(chain, ONNXL_INPLACE_OFF, true, "8*N 8*N 8*N 8*N");
  check_totals(chain, ONNXL_INPLACE_SAFE, false, "8*N 8*N 8*N 8*N");
  check_totals(chain, ONNXL_INPLACE_SAFE, true, "4*N 4*N 4*N 4*N");
}

static void
test_inplace_rules(void)
{
  /* MatMul reads rows again; by sizes alone it might overwrite. */
  const char *matmul = HEAD "g (float[4,4] x) => (float[4,4] y) { a = Neg (x)  y = MatMul (a, a) }";
  check_totals(matmul, ONNXL_INPLACE_SAFE, false, "128 192 192");
  /* An input that stands twice is not given away. */
  check_totals(matmul, ONNXL_INPLACE_STRUCTURAL, false, "128 192 192");
  /* A scalar operand is no buffer for the result, the other one is. */
  check_totals(HEAD "g (float[4] x, float s) => (float[4] y) { a = Neg (s)  b = Neg (x)  y = Add (a, b) }",
               ONNXL_INPLACE_SAFE, false, "24 40 40 40");
  /* A cast to another width does not fit; to the same width it does. */
  check_totals(HEAD "g (float[N] x) => (int32[N] y) { a = Neg (x)  y = Cast <to = 6> (a) }", ONNXL_INPLACE_SAFE, false,
               "8*N 8*N 8*N");
  /* Equal bytes are not enough: four bools are no float. */
  check_totals(HEAD "g (float[4] x, float[1] s) => (bool[4] y) { a = Neg (s)  y = Greater (x, a) }", ONNXL_INPLACE_SAFE,
               false, "24 28 28");
  /* Structural also takes a larger buffer. */
  check_totals(HEAD "g (float[8] x) => (float[2] y) <int64[1] b = {0}, int64[1] e = {2}>\n"
                    "{ a = Neg (x)  y = Slice (a, b, e) }",
               ONNXL_INPLACE_STRUCTURAL, false, "80 80 80");
}

static void
test_lifetimes(void)
{
  /* A graph output stays; an output that nobody reads counts at its node only. */
  check_totals(HEAD "g (float[4] x) => (float[4] a, float[4] y) { a = Neg (x)  dead = Abs (x)  y = Exp (a) }",
               ONNXL_INPLACE_SAFE, false, "32 48 48 48");
  /* A Constant node stays to the end, and nothing is written over it. */
  check_totals(HEAD "g (float[2] x) => (float[2] y) { k = Constant <value = float[2] {1, 2}> ()\n"
                    "  a = Neg (k)  y = Add (a, x) }",
               ONNXL_INPLACE_SAFE, false, "16 24 24 24");
  check_totals(HEAD "g (float[4] x) => (float[4] x) { }", ONNXL_INPLACE_SAFE, false, "0");
}

static void
test_nested(void)
{
  /* b lives until the If that captures it; the larger branch counts as scratch. */
  const char *text = HEAD "g (bool c, float[N] x) => (float[N] y) { b = Neg (x)  r = Relu (b)\n"
                          "  y = If (c) <then_branch = t () => (float[N] p) { q = Add (b, r)  p = Exp (q) },\n"
                          "              else_branch = e () => (float[N] p) { p = Sub (b, r) }> }";
  Profiled p = profile(text, ONNXL_INPLACE_SAFE, false);

  CU_ASSERT_PTR_NOT_NULL_FATAL(p.memory);
  const OnnxlNodeMemory *last = &p.memory->nodes[2];
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(p.inference->pool, last->already_allocated).data, "12*N+1");
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(p.inference->pool, last->outputs->amounts[ONNXL_TAG_SCRATCH]).data, "4*N");
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(p.inference->pool, last->outputs->amounts[ONNXL_TAG_WEIGHT]).data, "4*N");
  clear(&p);
}

static void
test_function_call(void)
{
  Profiled p = profile(HEAD "g (float[N] x) => (float[N] y) { y = d.f (x) }\n"
                            "<domain: \"d\", opset_import: [\"\": 18]> f (a) => (b) { t = Neg (a)  b = Exp (t) }",
                       ONNXL_INPLACE_OFF, false);

  CU_ASSERT_PTR_NOT_NULL_FATAL(p.memory);
  CU_ASSERT_STRING_EQUAL(
    onnxl_expr_text(p.inference->pool, p.memory->nodes[0].outputs->amounts[ONNXL_TAG_SCRATCH]).data,
    "4*N"); /* t; the result is the node's output */
  clear(&p);
}

static void
test_tags(void)
{
  Profiled p =
    profile(HEAD "g (float[N,4] x) => (y) <int64[1] axes = {0}> { s = Shape (x)  t = Concat <axis = 0> (s, s)\n"
                 "  r = Reshape (x, s)  u = Unsqueeze (r, axes)  y = Identity (u) }",
            ONNXL_INPLACE_SAFE, false);
  struct {
    const char *name;
    OnnxlTag tag;
  } expected[] = { { "x", ONNXL_TAG_WEIGHT }, { "axes", ONNXL_TAG_AXES }, { "s", ONNXL_TAG_SHAPE },
                   { "t", ONNXL_TAG_SHAPE },  { "r", ONNXL_TAG_WEIGHT },  { "y", ONNXL_TAG_WEIGHT } };

  for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
    for (uint32_t v = 0; v < p.inference->index->n_values; v++)
      if (onnxl_str_is(p.inference->index->values[v].name, expected[i].name))
        CU_ASSERT_EQUAL(p.memory->tags[v], expected[i].tag);
  clear(&p);
}

static void
test_unknown_and_overflow(void)
{
  Profiled p = profile(HEAD "g (float[N] x) => (y) { y = d.Unknown (x) }", ONNXL_INPLACE_SAFE, false);

  CU_ASSERT_PTR_NOT_NULL_FATAL(p.memory);
  CU_ASSERT_PTR_NULL(p.memory->nodes[0].total);
  CU_ASSERT_PTR_NULL(p.memory->peak);
  clear(&p);
  p = profile(HEAD "g (float[4611686018427387904,N] x) => (y) { y = Neg (x) }", ONNXL_INPLACE_SAFE, false);
  CU_ASSERT_PTR_NULL(p.memory);
  CU_ASSERT_TRUE(g_error_matches(p.t.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  clear(&p);
}

static bool
lookup_n(void *data, OnnxlStr name, int64_t *ret_value)
{
  *ret_value = *(int64_t *)data;
  return onnxl_str_is(name, "N");
}

static void
test_evaluate(void)
{
  Profiled p = profile(chain, ONNXL_INPLACE_OFF, false);
  int64_t n = 10, totals[3], peak;

  CU_ASSERT_TRUE_FATAL(onnxl_memory_evaluate(p.memory, lookup_n, &n, totals, NULL, &peak, &p.t.error));
  CU_ASSERT(totals[0] == 80 && totals[2] == 120 && peak == 120);
  n = INT64_MAX / 8;
  CU_ASSERT_FALSE(onnxl_memory_evaluate(p.memory, lookup_n, &n, totals, NULL, &peak, &p.t.error));
  CU_ASSERT_TRUE(g_error_matches(p.t.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  clear(&p);
  p = profile(HEAD "g (float[M] x) => (y) { y = Neg (x) }", ONNXL_INPLACE_OFF, false);
  CU_ASSERT_FALSE(onnxl_memory_evaluate(p.memory, lookup_n, &n, totals, NULL, &peak, &p.t.error));
  CU_ASSERT_TRUE(g_error_matches(p.t.error, ONNXL_ERROR, ONNXL_ERROR_USAGE));
  clear(&p);
}

UNIT_MAIN("profile", { "a chain", test_chain }, { "in-place rules", test_inplace_rules },
          { "lifetimes", test_lifetimes }, { "nested graphs", test_nested }, { "function call", test_function_call },
          { "tags", test_tags }, { "unknown and overflow", test_unknown_and_overflow }, { "evaluate", test_evaluate })
