#include "proto/index.h"

#include "model-text.h"
#include "support/error.h"

static uint32_t
find(const OnnxlIndex *index, const char *name)
{
  for (uint32_t i = 0; i < index->n_values; i++)
    if (onnxl_str_is(index->values[i].name, name))
      return i;
  return ONNXL_NONE;
}

static const OnnxlIndex *
index_main(TextModel *t)
{
  return onnxl_index_new(t->model, NULL, t->model->arena, t->sink, &t->error);
}

static void
test_values_and_uses(void)
{
  TextModel t = text_model("g (float[N] x, float[2] w = {1.0, 2.0}) => (float[N] y) <float two = {2.0}, float[N] a>\n"
                           "{ a = Mul (x, two)  b, , c = Op (a, \"\", a)  y = Add (b, w) }");
  const OnnxlIndex *index = index_main(&t);

  CU_ASSERT_PTR_NOT_NULL_FATAL(index);
  CU_ASSERT(index->n_values == 7 && index->n_nodes == 3 && index->n_graphs == 1);
  const OnnxlIndexValue *w = &index->values[find(index, "w")], *a = &index->values[find(index, "a")];
  CU_ASSERT(w->kind == ONNXL_VALUE_INITIALIZER && w->is_input && w->initializer != NULL);
  CU_ASSERT(a->kind == ONNXL_VALUE_NODE_OUTPUT && a->producer == 0 && a->n_uses == 2 && a->info != NULL);
  CU_ASSERT(index->uses[a->first_use] == 1 && index->uses[a->first_use + 1] == 1);
  CU_ASSERT_EQUAL(index->nodes[1].inputs[1], ONNXL_NONE);
  CU_ASSERT_EQUAL(index->nodes[1].outputs[1], ONNXL_NONE);
  CU_ASSERT_EQUAL(index->nodes[1].outputs[2], find(index, "c"));
  CU_ASSERT_TRUE(index->values[find(index, "y")].is_output);
  CU_ASSERT_EQUAL(index->graphs[0].outputs[0], find(index, "y"));
  text_model_clear(&t);
}

static const char nested[] = "g (bool c, float[2] x) => (float[2] y)\n"
                             "{ h = Neg (x)\n"
                             "  k = Abs (x)\n"
                             "  [outer] y = If (c) <then_branch = t () => (p) {\n"
                             "      [inner] p = If (c) <then_branch = t2 () => (q) { q = Add (h, x)  },\n"
                             "                          else_branch = e2 () => (q) { q = Mul (h, h) }>\n"
                             "    }, else_branch = e () => (p) { p = Identity (k) }> }";

static void
test_nested_graphs(void)
{
  TextModel t = text_model(nested);
  const OnnxlIndex *index = index_main(&t);

  CU_ASSERT_PTR_NOT_NULL_FATAL(index);
  CU_ASSERT(index->n_graphs == 5 && index->n_nodes == 7);
  const OnnxlIndexNode *outer = &index->nodes[2];
  CU_ASSERT(outer->n_subgraphs == 2 && outer->first_subgraph == 1);
  /* In order of use, each once: c and h and x from the inner If, then k. */
  CU_ASSERT_EQUAL_FATAL(outer->n_captures, 4);
  const char *names[] = { "c", "h", "x", "k" };
  for (uint32_t i = 0; i < 4; i++)
    CU_ASSERT_EQUAL(outer->captures[i], find(index, names[i]));
  const OnnxlIndexGraph *then_branch = &index->graphs[1];
  CU_ASSERT(then_branch->parent_node == 2 && onnxl_str_is(then_branch->attribute->name, "then_branch"));
  const OnnxlIndexNode *inner = &index->nodes[then_branch->first_node];
  CU_ASSERT(inner->n_captures == 2 && inner->captures[0] == find(index, "h"));
  CU_ASSERT_STRING_EQUAL(
    onnxl_index_node_path(index, inner->first_subgraph ? index->graphs[inner->first_subgraph].first_node : 0,
                          t.model->arena),
    "/outer/then_branch/inner/then_branch/#0 (Add)");
  text_model_clear(&t);
}

static void
check_bad(const char *text, OnnxlDiagId id, const char *named)
{
  TextModel t = text_model(text);

  CU_ASSERT_PTR_NULL(index_main(&t));
  CU_ASSERT_TRUE(g_error_matches(t.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CHECK_FINDINGS(&t, id);
  if (onnxl_diag_count(t.sink) > 0)
    CU_ASSERT_PTR_NOT_NULL(strstr(onnxl_diag_get(t.sink, 0)->message, named));
  text_model_clear(&t);
}

static void
test_invalid_graphs(void)
{
  check_bad("g () => (y) { y = Neg (x) }", ONNXL_DIAG_UNDEFINED_VALUE, "'x'");
  check_bad("g () => (y) { y = Neg (y) }", ONNXL_DIAG_UNDEFINED_VALUE, "'y'");
  check_bad("g (x) => (y) { y = Neg (a)  a = Abs (x) }", ONNXL_DIAG_UNDEFINED_VALUE, "not in order");
  check_bad("g (x) => (y) { a = Neg (x) }", ONNXL_DIAG_UNDEFINED_VALUE, "output 'y'");
  check_bad("g (x) => (y) { y = Neg (x)  y = Abs (x) }", ONNXL_DIAG_DUPLICATE_VALUE, "'y'");
  check_bad("g (x, x) => () { }", ONNXL_DIAG_DUPLICATE_VALUE, "'x'");
  check_bad("g () => () <float w = {1}, float w = {2}> { }", ONNXL_DIAG_DUPLICATE_VALUE, "'w'");
  check_bad("g (c, x) => (y) { h = Abs (x)  y = If (c) <then_branch = t () => (p) { h = Neg (x)  p = Abs (h) }> }",
            ONNXL_DIAG_SHADOWED_VALUE, "'h'");
  check_bad("g (c, x) => (y) { y = If (c) <then_branch = t () => (x) { }> }", ONNXL_DIAG_OUTER_OUTPUT, "Identity");
  check_bad("<ir_version: 8> ?", ONNXL_DIAG_NO_GRAPH, "no graph");
}

static void
test_same_name_in_branches(void)
{
  TextModel t = text_model("g (c, x) => (y, z) { y = If (c) <then_branch = t () => (p) { p = Neg (x) },\n"
                           "  else_branch = e () => (p) { p = Abs (x) }>  z = Neg (y) }");
  const OnnxlIndex *index = index_main(&t);

  CU_ASSERT_PTR_NOT_NULL_FATAL(index);
  CU_ASSERT_EQUAL(index->n_values, 6);
  text_model_clear(&t);
}

static void
test_functions(void)
{
  TextModel t = text_model("<opset_import: [\"d\": 1]> g (x) => (y) { y = d.f (x) }\n"
                           "<domain: \"d\"> f (a) => (b) { b = g (a) }\n"
                           "<domain: \"d\", overload: \"two\"> f (a) => (b) { b = Neg (a) }\n");
  const OnnxlFunctionTable *table = onnxl_function_table_new(t.model, t.model->arena, t.sink, &t.error);

  CU_ASSERT_PTR_NOT_NULL_FATAL(table);
  const OnnxlFunction *f = onnxl_function_table_find(table, &t.model->proto.graph->node.items[0]);
  CU_ASSERT_PTR_EQUAL(f, &t.model->proto.functions.items[0]);
  CU_ASSERT_PTR_NULL(onnxl_function_table_find(table, &f->node.items[0]));
  const OnnxlIndex *index = onnxl_index_new(t.model, f, t.model->arena, t.sink, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(index);
  CU_ASSERT(index->n_values == 2 && index->graphs[0].n_outputs == 1);
  CU_ASSERT_EQUAL(onnxl_opset_version(t.model, NULL, ONNXL_STR("d")), 1);
  CU_ASSERT_EQUAL(onnxl_opset_version(t.model, NULL, ONNXL_STR("ai.onnx")), 0);
  text_model_clear(&t);
}

static void
test_opset_of_old_models(void)
{
  TextModel t = text_model("<ir_version: 2> g (x) => (y) { y = Relu (x) }\n");
  CU_ASSERT_EQUAL(onnxl_opset_version(t.model, NULL, ONNXL_STR("")), 1);
  CU_ASSERT_EQUAL(onnxl_opset_version(t.model, NULL, ONNXL_STR("d")), 0);
  text_model_clear(&t);
  t = text_model("<ir_version: 3> g (x) => (y) { y = Relu (x) }\n");
  CU_ASSERT_EQUAL(onnxl_opset_version(t.model, NULL, ONNXL_STR("")), 0);
  text_model_clear(&t);
}

static void
test_function_cycle(void)
{
  TextModel t = text_model("g (x) => (y) { y = d.f (x) }\n"
                           "<domain: \"d\"> f (a) => (b) { b = d.g (a) }\n"
                           "<domain: \"d\"> g (a) => (b) { c = Neg (a)  b = d.f (c) }\n");

  CU_ASSERT_PTR_NULL(onnxl_function_table_new(t.model, t.model->arena, t.sink, &t.error));
  CHECK_FINDINGS(&t, ONNXL_DIAG_FUNCTION_CYCLE);
  CU_ASSERT_PTR_NOT_NULL(strstr(onnxl_diag_get(t.sink, 0)->message, "d::f -> d::g -> d::f"));
  text_model_clear(&t);
}

UNIT_MAIN("index", { "values and uses", test_values_and_uses }, { "nested graphs", test_nested_graphs },
          { "invalid graphs", test_invalid_graphs }, { "same name in branches", test_same_name_in_branches },
          { "functions", test_functions }, { "opset of old models", test_opset_of_old_models },
          { "function cycle", test_function_cycle })
