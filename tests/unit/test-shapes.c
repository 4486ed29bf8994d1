/* The walk: inputs, declarations, constraints, nested graphs, functions, findings. */
#include "shapes-text.h"
#include "support/error.h"

#define MODEL "<ir_version: 8, opset_import: [\"\" : 18, \"my.domain\" : 1]> g "

static bool
has_constraint(const TextShapes *t, const char *lhs, OnnxlRelation relation, const char *rhs)
{
  for (size_t i = 0; i < t->inference->n_constraints; i++) {
    const OnnxlConstraint *c = &t->inference->constraints[i];
    if (c->relation == relation && onnxl_str_is(onnxl_expr_text(t->inference->pool, c->lhs), lhs) &&
        onnxl_str_is(onnxl_expr_text(t->inference->pool, c->rhs), rhs))
      return true;
  }
  return false;
}

static void
test_declared_symbols(void)
{
  TextShapes t = text_shapes(MODEL "(float[N,4] x) => (float[M,2] y, float[M,3] z) <int64[2] s = {-1, 2}>\n"
                                   "{ y = Reshape (x, s)  w = Neg (y)  z = Concat <axis = 0> (x, x) }");

  CU_ASSERT_PTR_NOT_NULL_FATAL(t.inference);
  check_shape(&t, "y", "float[M,2]");
  check_shape(&t, "w", "float[2*N,2]");
  CU_ASSERT_TRUE(has_constraint(&t, "2*N", ONNXL_REL_EQ, "M"));
  CU_ASSERT_EQUAL(t.inference->n_constraints, 1);
  /* What is used for sizes of memory is what M means. */
  CU_ASSERT_TRUE(onnxl_str_is(
    onnxl_expr_text(t.inference->pool, t.inference->values[value_named(t.inference, "y")].dims[0]), "2*N"));
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_DECLARED_SHAPE); /* z has 4 columns */
  text_shapes_clear(&t);
}

/* A name that first stands for an unknown size is that size's name; for another unknown size it is not. */
static void
test_declared_unknown_sizes(void)
{
  TextShapes t = text_shapes(MODEL "(float[N] x, bool[N] c) => (float[K] y, float[K] z, float[N] w)\n"
                                   "{ y = Compress <axis = 0> (x, c)  z = Compress <axis = 0> (y, c)\n"
                                   "  w = Compress <axis = 0> (z, c) }");

  check_shape(&t, "y", "float[K]");
  check_shape(&t, "z", "float[compress_z_0]");
  check_shape(&t, "w", "float[compress_w_0]");
  CU_ASSERT_EQUAL(t.inference->n_constraints, 0);
  text_shapes_clear(&t);
}

static void
test_inputs(void)
{
  TextShapes t =
    text_shapes(MODEL "(float[N,\"2*N\",?,-3,\"batch-size\",\"p.0\"] x, float[] y, float z, u) => (float[] o)\n"
                      "{ o = Concat <axis = 4> (x, x)  p = Concat <axis = 5> (x, x) }");

  check_shape(&t, "x", "float[N,2*N,x_2,x_3,batch-size,p.0]");
  check_shape(&t, "y", "float[]");
  check_shape(&t, "z", "float");
  check_shape(&t, "u", "?");
  check_shape(&t, "o", "float[N,2*N,x_2,x_3,2*\"batch-size\",p.0]");
  check_shape(&t, "p", "float[N,2*N,x_2,x_3,batch-size,2*\"p.0\"]");
  text_shapes_clear(&t);
}

/* An initializer that is also an input is a default from IR version 4 on, a constant before. */
static void
test_default_inputs(void)
{
  static const char *const versions[] = { "<ir_version: 3, opset_import: [\"\" : 18]>",
                                          "<ir_version: 4, opset_import: [\"\" : 18]>" };
  static const char *const expected[] = { "float[2,N]", "float[reshape_y_0,reshape_y_1]" };

  for (int i = 0; i < 2; i++) {
    char *text =
      g_strconcat(versions[i], "g (float[N,2] x, int64[2] s = {2,-1}) => (float[] y) { y = Reshape (x, s) }", NULL);
    TextShapes t = text_shapes(text);
    check_shape(&t, "y", expected[i]);
    text_shapes_clear(&t);
    g_free(text);
  }
}

static void
test_unknown_operator(void)
{
  static const char text[] =
    MODEL "(float[N] x) => (float[K,3] y, float[] z, float[] v)\n"
          "{ y = my.domain.Mystery (x)  z = my.domain.Mystery (y)  v = Relu (y)  w = Relu (z) }";
  TextShapes t = text_shapes(text);

  check_shape(&t, "y", "float[K,3]");
  check_shape(&t, "v", "float[K,3]");
  check_shape(&t, "z", "float[]");
  check_shape(&t, "w", "float[]");
  CU_ASSERT_EQUAL(onnxl_diag_count(t.text.sink), 0);
  text_shapes_clear(&t);
  t = text_shapes_with(text, &(OnnxlInferOptions){ .strict = true });
  CU_ASSERT_PTR_NULL(t.inference);
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_NO_SHAPE_RULE, ONNXL_DIAG_NO_SHAPE_RULE);
  text_shapes_clear(&t);
}

static void
test_all_errors_are_found(void)
{
  TextShapes t = text_shapes(MODEL "(float[2,3] a, float[4,5] b, double[2,3] d) => (y)\n"
                                   "{ [m] p = MatMul (a, b)  q = Neg (p)  [s] r = Add (a, b)  [t] y = Sub (a, d) }");

  CU_ASSERT_PTR_NULL(t.inference);
  CU_ASSERT_TRUE(g_error_matches(t.text.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_SHAPE_MISMATCH, ONNXL_DIAG_SHAPE_MISMATCH, ONNXL_DIAG_TYPE_MISMATCH);
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(t.text.sink, 0)->location.path, "/m (MatMul)");
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(t.text.sink, 0)->message, "MatMul: shapes [2,3] and [4,5] do not match");
  text_shapes_clear(&t);
}

static void
test_check(void)
{
  static const char text[] = MODEL "(float[2,3] x) => (float[3,3] y) { y = Neg (x) }";
  TextShapes t = text_shapes(text);

  check_shape(&t, "y", "float[2,3]");
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_DECLARED_SHAPE);
  text_shapes_clear(&t);
  t = text_shapes_with(text, &(OnnxlInferOptions){ .check = true });
  CU_ASSERT_PTR_NULL(t.inference);
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_DECLARED_SHAPE_CHECK);
  text_shapes_clear(&t);
}

#define BRANCHES(t, e) " <then_branch = bt () => (p) { p = " t " }, else_branch = be () => (q) { q = " e " }>"

static void
test_if(void)
{
  TextShapes t = text_shapes(
    MODEL
    "(bool c, float[N,3] x, float[2,3] w) => (float[] same, float[] rank, float[] dim, float[] one, float[] only)\n"
    "<bool true = {1}> { same = If (c)" BRANCHES("Neg (x)", "Abs (x)") " rank = If (c)" BRANCHES(
      "Neg (x)",
      "Flatten "
      "<axis = "
      "1> (same)") " dim = If (c)" BRANCHES("Neg (x)",
                                            "Concat <axis = 0> (x, x)") " one = If (true)" BRANCHES("Neg (x)",
                                                                                                    "Neg (w)") " only "
                                                                                                               "= If "
                                                                                                               "(c"
                                                                                                               ")" BRANCHES("MatMul (w, w)",
                                                                                                                            "Concat <axis = 1> "
                                                                                                                            "(x, x)") " v = "
                                                                                                                                      "ReduceSum"
                                                                                                                                      " <"
                                                                                                                                      "keepdims "
                                                                                                                                      "= 0> (x)"
                                                                                                                                      " other = "
                                                                                                                                      "If "
                                                                                                                                      "(c"
                                                                                                                                      ")" BRANCHES(
                                                                                                                                        "Neg "
                                                                                                                                        "(v)",
                                                                                                                                        "Neg "
                                                                                                                                        "(x)") " }");

  check_shape(&t, "same", "float[N,3]");
  check_shape(&t, "rank", "float[N,3]");
  check_shape(&t, "dim", "float[if_dim_0,3]");
  check_shape(&t, "one", "float[N,3]");
  check_shape(&t, "only", "float[N,6]"); /* the other branch cannot run */
  check_shape(&t, "other", "float[]");
  CHECK_FINDINGS(&t.text, ONNXL_DIAG_SHAPE_MISMATCH_BRANCH);
  text_shapes_clear(&t);
}

static void
test_loop(void)
{
  TextShapes t = text_shapes(
    MODEL
    "(int64 m, bool c, float[N,3] x) => (float[] grows, float[] kept, float[] ks)\n"
    "<bool true = {1}, int64 five = {5}> {\n"
    "  grows, gs = Loop (m, true, x) <body = b (int64 i, bool ci, float[] a) => (bool co, float[] b1, float[] s) {\n"
    "    co = Identity (ci)  b1 = Concat <axis = 0> (a, a)  s = Neg (x) }>\n"
    "  kept, ks = Loop (five, true, x) <body = b2 (int64 j, bool cj, float[] d) => (bool cp, float[] e, float[] s2) {\n"
    "    cp = Identity (cj)  e = Neg (d)  s2 = ReduceSum <keepdims = 0> (d) }>\n"
    "  early, es = Loop (five, c, x) <body = b3 (int64 k, bool ck, float[] f) => (bool cq, float[] h, float[] s3) {\n"
    "    cq = Identity (ck)  h = Neg (f)  z = NonZero (f)  s3 = Cast <to = 1> (z) }> }");

  check_shape(&t, "grows", "float[loop_grows_0,3]");
  check_shape(&t, "gs", "float[loop_gs_0,N,3]");
  check_shape(&t, "kept", "float[N,3]");
  check_shape(&t, "ks", "float[5]");
  check_shape(&t, "es", "float[loop_es_0,2,loop_es_2]"); /* the size inside the body is another one each trip */
  CU_ASSERT_EQUAL(onnxl_diag_count(t.text.sink), 0);
  text_shapes_clear(&t);
}

/* Without a trip the scan output has no rows; the rest of its shape is that of what a trip would give. */
static void
test_loop_without_trips(void)
{
  TextShapes t = text_shapes(MODEL "(float[T] r, float[N] x) => (float[] y)\n"
                                   "<bool true = {1}, int64[0] none = {}> {\n"
                                   "  s = Shape (r)  m = Reshape (s, none)\n"
                                   "  y = Loop (m, true) <body = b (int64 i, bool c) => (bool co, float[] o) {\n"
                                   "    co = Identity (c)  o = Neg (x) }> }");

  check_shape(&t, "y", "float[T,N]");
  text_shapes_clear(&t);
  t = text_shapes(MODEL "(int64 m, float[N] x) => (float[] y) <bool false = {0}> {\n"
                        "  y = Loop (m, false) <body = b (int64 i, bool c) => (bool co, float[] o) {\n"
                        "    co = Identity (c)  o = Neg (x) }> }");

  check_shape(&t, "y", "float[0,N]");
  text_shapes_clear(&t);
}

static void
test_scan(void)
{
  TextShapes t = text_shapes(MODEL "(float[B] s0, float[T,B] x) => (float[] s, float[] y) {\n"
                                   "  s, y = Scan (s0, x) <num_scan_inputs = 1, scan_output_axes = [1],\n"
                                   "    body = b (float[] a, float[] e) => (float[] o, float[] r) {\n"
                                   "      o = Add (a, e)  r = Neg (o) }> }");

  check_shape(&t, "s", "float[B]");
  check_shape(&t, "y", "float[B,T]");
  text_shapes_clear(&t);
}

static void
test_function(void)
{
  TextShapes t =
    text_shapes(MODEL "(float[N,3] x) => (float[] a, float[] b, float[] c)\n"
                      "{ a = my.domain.join <axis = 0> (x)  b = my.domain.join (x)  c = my.domain.outer (x) }\n"
                      "<opset_import: [\"\" : 18], domain: \"my.domain\"> join <axis: int = 1> (p, q) => (r)\n"
                      "{ n = NonZero (p)  r = Concat <axis: int = @axis> (p, p) }\n"
                      "<opset_import: [\"my.domain\" : 1], domain: \"my.domain\"> outer (p) => (r)\n"
                      "{ r = my.domain.join <axis = 0> (p) }");

  check_shape(&t, "a", "float[2*N,3]");
  check_shape(&t, "b", "float[N,6]");
  check_shape(&t, "c", "float[2*N,3]");
  const OnnxlInference *call = t.inference->calls[2];
  CU_ASSERT_PTR_NOT_NULL_FATAL(call);
  CU_ASSERT_PTR_NOT_NULL(call->calls[0]);
  /* Sizes that only a run shows are different ones in each call. */
  CU_ASSERT_PTR_NOT_EQUAL(t.inference->calls[0]->values[value_named(t.inference->calls[0], "n")].dims[1],
                          t.inference->calls[1]->values[value_named(t.inference->calls[1], "n")].dims[1]);
  text_shapes_clear(&t);
}

/* Text that doubles with each operator is cut, so time and output stay small. */
static void
test_growth_is_bounded(void)
{
  GString *text = g_string_new(MODEL "(float[A,B,C] x0) => (float[] y) {\n");
  for (int i = 0; i < 200; i++)
    g_string_append_printf(
      text,
      "s%d = Shape (x%d) t%d = Transpose (x%d) u%d = Shape (t%d) v%d = Mul (s%d, u%d) w%d = Add (v%d, s%d)\n"
      "x%d = ConstantOfShape (w%d)\n",
      i, i, i, i, i, i, i, i, i, i, i, i, i + 1, i);
  g_string_append(text, "y = Neg (x200) }");
  TextShapes t = text_shapes(text->str);
  CU_ASSERT_PTR_NOT_NULL_FATAL(t.inference);
  const OnnxlInfo *y = &t.inference->values[value_named(t.inference, "y")];
  CU_ASSERT_EQUAL_FATAL(y->rank, 3);
  CU_ASSERT_TRUE(onnxl_expr_text(t.inference->pool, y->dims[0]).size < 4096);
  text_shapes_clear(&t);
  g_string_free(text, TRUE);
}

UNIT_MAIN("shapes", { "declared symbols", test_declared_symbols },
          { "declared unknown sizes", test_declared_unknown_sizes }, { "inputs", test_inputs },
          { "default inputs", test_default_inputs }, { "unknown operator", test_unknown_operator },
          { "all errors", test_all_errors_are_found }, { "check", test_check }, { "if", test_if },
          { "loop", test_loop }, { "loop without trips", test_loop_without_trips }, { "scan", test_scan },
          { "function", test_function }, { "growth", test_growth_is_bounded })
