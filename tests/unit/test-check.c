/* The engine of the verifier, and the rules for models and graphs. */
#include "check-text.h"

#define HEAD "<ir_version: 10, opset_import: [\"\": 21]> "
#define GRAPH HEAD "g (float[N] x) => (float[N] y) "

static void
test_good_models(void)
{
  check_good_model(GRAPH "{ y = Neg (x) }");
  check_good_model(GRAPH "<float w = {2.0}, float[N] t> { t = Mul (x, w)  y = Neg (t) }");
  check_good_model("<ir_version: 3, opset_import: [\"\": 7]> g (float[2] x, float[2] w = {1.0, 2.0}) => (float[2] y)\n"
                   "{ y = Add (x, w) }");
  check_good_model(
    "<ir_version: 10, opset_import: [\"\": 21, \"d\": 1]> g (float[N] x) => (float[N] y)\n"
    "{ y = d.f <slope = 0.5> (x) }\n"
    "<domain: \"d\", opset_import: [\"\": 21]> f <slope> (a) => (b) { b = LeakyRelu <alpha: float = @slope> (a) }");
  check_good_model(HEAD "g (bool c, float[2] x) => (float[2] y) { h = Neg (x)\n"
                        "  y = If (c) <then_branch = t () => (float[2] p) { p = Abs (h) },\n"
                        "              else_branch = e () => (p) { p = Identity (x) }> }");
}

static void
test_model_rules(void)
{
  static const BadModel rows[] = {
    { "<opset_import: [\"\": 21]> g (float x) => (float y) { y = Neg (x) }", ONNXL_DIAG_IR_VERSION, "no ir_version",
      NULL },
    { "<ir_version: 0> g () => () { }", ONNXL_DIAG_IR_VERSION, "is 0", NULL },
    { "<ir_version: 99, opset_import: [\"\": 21]> g (float x) => (float y) { y = Neg (x) }", ONNXL_DIAG_IR_VERSION_NEW,
      "99", NULL },
    { "<ir_version: 10> g () => () { }", ONNXL_DIAG_OPSET_IMPORT, "imports no operator set", NULL },
    { "<ir_version: 10, opset_import: [\"\": 21, \"ai.onnx\": 21]> g () => () { }", ONNXL_DIAG_OPSET_IMPORT, "twice",
      NULL },
    { "<ir_version: 10, opset_import: [\"\": 0]> g () => () { }", ONNXL_DIAG_OPSET_VERSION, "is 0", NULL },
    { "<ir_version: 10, opset_import: [\"\": 999]> g () => () { }", ONNXL_DIAG_OPSET_VERSION_NEW, "999", NULL },
    { "<ir_version: 10, opset_import: [\"\": 21]> ?", ONNXL_DIAG_NO_GRAPH, "no graph", NULL },
    { "<ir_version: 10, opset_import: [\"\": 21], metadata_props: [\"k\": \"1\", \"k\": \"2\"]> g () => () { }",
      ONNXL_DIAG_METADATA_KEY, "'k'", NULL },
    { "<ir_version: 7, opset_import: [\"\": 13, \"d\": 1]> g (float x) => (float y) { y = d.f (x) }\n"
      "<domain: \"d\", opset_import: [\"\": 13]> f (a) => (b) { b = Neg (a) }",
      ONNXL_DIAG_IR_FEATURE, "functions", NULL },
    { "<ir_version: 3, opset_import: [\"\": 7]> g (float x) => (float y) <float w = {1.0}> { y = Add (x, w) }",
      ONNXL_DIAG_IR_FEATURE, "'w'", "/w" },
    { HEAD "g (float x) => (float y) { y = Neg (x) }\n"
           "<domain: \"d\", opset_import: [\"\": 21]> f <a, a> (p) => (q) { q = Neg (p) }",
      ONNXL_DIAG_FUNCTION_ATTRIBUTE, "'a'", "/f" },
    { HEAD "g (float x) => (float y) { y = Neg (x) }\n"
           "<domain: \"d\"> f (p) => (q) { q = Neg (p) }",
      ONNXL_DIAG_OPSET_IMPORT_FUNCTION, "only the model", "/f/#0 (Neg)" },
    { "<ir_version: 8, opset_import: [\"\": 21]> g (int4[2] x) => () { }", ONNXL_DIAG_IR_FEATURE_DATA, "int4", "/x" },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
}

static void
test_graph_rules(void)
{
  static const BadModel rows[] = {
    { GRAPH "{ y = Neg (z) }", ONNXL_DIAG_UNDEFINED_VALUE, "'z'", "/#0 (Neg)" },
    { HEAD "g (float x) => (float y) { y = Neg (x) }\n"
           "<domain: \"d\", opset_import: [\"\": 21]> f (p) => (q) { q = Neg (r) }",
      ONNXL_DIAG_UNDEFINED_VALUE, "'r'", "/f/#0 (Neg)" },
    { GRAPH "<float w = {1.0}> { y = Neg (x) }", ONNXL_DIAG_UNUSED_INITIALIZER, "'w'", "/w" },
    { GRAPH "{ [dead] t = Abs (x)  y = Neg (x) }", ONNXL_DIAG_UNUSED_NODE, "no output", "/dead (Abs)" },
    { GRAPH "{ [n] t = Abs (x)  [n] y = Neg (t) }", ONNXL_DIAG_NODE_NAME, "'n'", "/n" },
    { GRAPH "<float t> { y = Neg (x) }", ONNXL_DIAG_VALUE_INFO, "'t'", "/t" },
    { HEAD "g (float x) => (float y, float y) { y = Neg (x) }", ONNXL_DIAG_OUTPUT_TWICE, "'y'", "/y" },
    { HEAD "g (x) => (float y) { y = Neg (x) }", ONNXL_DIAG_VALUE_TYPE, "no type", "/x" },
    { HEAD "g (float[-1] x) => (float y) { y = Neg (x) }", ONNXL_DIAG_DIM, "-1", "/x" },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
}

/* What the text syntax cannot say is put into the model's structs. */
static void
test_edited_graphs(void)
{
  TextModel t = text_model(GRAPH "<float w = {1.0}> { y = Add (x, w) }");
  t.model->proto.graph->name = (OnnxlStr){ NULL, 0 };
  expect_finding(&t, ONNXL_DIAG_GRAPH_NAME, "no name", "/");
  text_model_clear(&t);

  t = text_model(GRAPH "{ y = Neg (x) }");
  t.model->proto.graph->input.items[0].name = ONNXL_STR("\xff");
  t.model->proto.graph->node.items[0].input.items[0] = ONNXL_STR("\xff");
  CU_ASSERT_FALSE(check_model(&t));
  CHECK_FINDINGS(&t, ONNXL_DIAG_UTF8_MODEL, ONNXL_DIAG_UTF8_MODEL);
  text_model_clear(&t);

  t = text_model(GRAPH "{ y = Neg (x) }");
  t.model->proto.graph->input.items[0].type->tensor_type->elem_type = 77;
  expect_finding(&t, ONNXL_DIAG_VALUE_TYPE, "77", "/x");
  text_model_clear(&t);

  t = text_model(HEAD "g (map(int64, float) m) => () { }");
  t.model->proto.graph->input.items[0].type->map_type->key_type = ONNXL_TYPE_FLOAT;
  expect_finding(&t, ONNXL_DIAG_VALUE_TYPE, "keys of a map", "/m");
  text_model_clear(&t);

  t = text_model(GRAPH "<float w = {1.0}> { y = Add (x, w) }");
  OnnxlAnnotation *annotation = ONNXL_APPEND(t.model->arena, &t.model->proto.graph->quantization_annotation);
  annotation->tensor_name = ONNXL_STR("gone");
  expect_finding(&t, ONNXL_DIAG_ANNOTATION, "'gone'", "/gone");
  text_model_clear(&t);
}

static void
test_training(void)
{
  static const char text[] = "<ir_version: 10, opset_import: [\"\": 21],\n"
                             "training_info: [{algorithm: a () => (float w2) { w2 = Neg (w) },\n"
                             "                 update_binding: [\"w\": \"w2\"]}]>\n"
                             "g (float x) => (float y) <float w = {1.0}> { y = Mul (x, w) }";
  static const BadModel rows[] = {
    { "<ir_version: 10, opset_import: [\"\": 21], training_info: [{update_binding: [\"no\": \"y\"],\n"
      "  algorithm: a () => (float y2) { y2 = Neg (y) }}]>\n"
      "g (float x) => (float y) { y = Neg (x) }",
      ONNXL_DIAG_TRAINING_BINDING, "'no'", "/training_info[0]" },
  };
  TextModel t = text_model(rows[0].text);

  check_good_model(text);
  /* Neither is the bound name an initializer, nor the value an output of the algorithm. */
  CU_ASSERT_FALSE(check_model(&t));
  CHECK_FINDINGS(&t, ONNXL_DIAG_TRAINING_BINDING, ONNXL_DIAG_TRAINING_BINDING);
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(t.sink, 0)->location.path, rows[0].path);
  text_model_clear(&t);
}

/* One failure is reported once; what does not need it is looked at all the same. */
static void
test_prerequisites(void)
{
  TextModel t =
    text_model("<ir_version: 10, opset_import: [\"\": 21]> g (float x, double d) => (float y)\n"
               "{ a = Nope <k = 1> (x, x, x, x)  b = Add (x)  c = Add (x, d)  y = Neg <k = 1> (undefined) }");

  CU_ASSERT_FALSE(check_model(&t));
  /* The types of Add (x, d) need the names, of which one is wrong. */
  CHECK_FINDINGS(&t, ONNXL_DIAG_UNDEFINED_VALUE, ONNXL_DIAG_UNKNOWN_OPERATOR, ONNXL_DIAG_NODE_ARITY,
                 ONNXL_DIAG_UNKNOWN_ATTRIBUTE);
  text_model_clear(&t);
}

/* Functions that are wrong do not make their calls unknown operators. */
static void
test_wrong_functions(void)
{
  TextModel t =
    text_model("<ir_version: 10, opset_import: [\"\": 21, \"d\": 1]> g (float x) => (float y) { y = d.f (x) }\n"
               "<domain: \"d\", opset_import: [\"d\": 1]> f (a) => (b) { b = d.f (a) }");

  CU_ASSERT_FALSE(check_model(&t));
  CHECK_FINDINGS(&t, ONNXL_DIAG_FUNCTION_CYCLE);
  text_model_clear(&t);
}

static void
test_switched_off(void)
{
  TextModel t = text_model(GRAPH "{ y = Nope (z) }");
  OnnxlExternalFiles *files = onnxl_external_files_new("/nonexistent", false);

  CU_ASSERT_TRUE(onnxl_diag_sink_configure(t.sink, "no-undefined-value"));
  onnxl_diag_sink_set_optional(t.sink, true);
  CU_ASSERT_FALSE(onnxl_check_model(t.model, files, SIZE_MAX, t.sink, &t.error));
  CHECK_FINDINGS(&t, ONNXL_DIAG_UNKNOWN_OPERATOR);
  onnxl_external_files_free(files);
  text_model_clear(&t);
}

static void
test_budget(void)
{
  TextModel t = text_model(GRAPH "{ a = Neg (x)  b = Neg (a)  c = Neg (b)  y = Neg (c) }");
  OnnxlExternalFiles *files = onnxl_external_files_new("/nonexistent", false);

  /* The work ends at another allocation each time. */
  for (size_t budget = 0; budget < 4096; budget += 32) {
    bool ok = onnxl_check_model(t.model, files, budget, t.sink, &t.error);
    CU_ASSERT(ok == (t.error == NULL) && (budget > 0 || !ok));
    CU_ASSERT(ok || g_error_matches(t.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
    g_clear_error(&t.error);
  }
  CU_ASSERT_EQUAL(onnxl_diag_count(t.sink), 0);
  CU_ASSERT_TRUE(onnxl_check_model(t.model, files, 1 << 20, t.sink, &t.error));
  onnxl_external_files_free(files);
  text_model_clear(&t);
}

static void
test_ids(void)
{
  bool checked[ONNXL_N_DIAGS];

  onnxl_check_ids(checked);
  CU_ASSERT(checked[ONNXL_DIAG_UNDEFINED_VALUE] && checked[ONNXL_DIAG_EXTERNAL_FILE] && checked[ONNXL_DIAG_SPARSE]);
  CU_ASSERT_FALSE(checked[ONNXL_DIAG_EXPECTED]);
}

UNIT_MAIN("check", { "good models", test_good_models }, { "model rules", test_model_rules },
          { "graph rules", test_graph_rules }, { "edited graphs", test_edited_graphs }, { "training", test_training },
          { "prerequisites", test_prerequisites }, { "wrong functions", test_wrong_functions },
          { "switched off", test_switched_off }, { "budget", test_budget }, { "ids", test_ids })
