/* The rules of the verifier for nodes, attributes, types and tensors. */
#include "check-text.h"

#define HEAD "<ir_version: 10, opset_import: [\"\": 21, \"ai.onnx.ml\": 5, \"my\": 1]> "
#define GRAPH HEAD "g (float[N] x) => (float[N] y) "

static void
test_operators(void)
{
  static const BadModel rows[] = {
    { GRAPH "{ y = Nope (x) }", ONNXL_DIAG_UNKNOWN_OPERATOR, "opset 21 of ai.onnx has no operator Nope", "/#0 (Nope)" },
    { "<ir_version: 8, opset_import: [\"\": 13]> g (float[N] x) => (float[N] y) { y = Mish (x) }",
      ONNXL_DIAG_UNKNOWN_OPERATOR, "Mish came with opset 18 of ai.onnx, the model imports 13", NULL },
    { GRAPH "{ y = my.Op (x) }", ONNXL_DIAG_UNKNOWN_OPERATOR_CUSTOM, "Op of domain my", "/#0 (Op)" },
    /* Each unknown operator of a domain once. */
    { GRAPH "{ t = my.Op (x)  y = my.Op (t) }", ONNXL_DIAG_UNKNOWN_OPERATOR_CUSTOM, "Op of domain my", "/#0 (Op)" },
    { GRAPH "{ t = other.A (x)  y = other.B (t) }", ONNXL_DIAG_OPSET_IMPORT, "domain other", "/#0 (A)" },
    { "<ir_version: 8, opset_import: [\"\": 13]> g (float[4] x, int64[2] i, float[2] u) => (float[4] y)\n"
      "{ y = Scatter (x, i, u) }",
      ONNXL_DIAG_DEPRECATED_OPERATOR, "Scatter is deprecated since opset 11", NULL },
    { "<ir_version: 8, opset_import: [\"\": 18]> g (float[1,2] x, float[1] s) => (float[1,2] y)\n"
      "{ y = GroupNormalization <num_groups = 1> (x, s, s) }",
      ONNXL_DIAG_DEPRECATED_OPERATOR_VERSION, "version 18 of GroupNormalization", NULL },
    { GRAPH "{ y = Add (x) }", ONNXL_DIAG_NODE_ARITY, "1 input when Add needs at least 2", NULL },
    { GRAPH "{ y = Neg (x, x) }", ONNXL_DIAG_NODE_ARITY, "2 inputs when Neg has at most 1", NULL },
    { GRAPH "{ y = Add (x, \"\") }", ONNXL_DIAG_NODE_ARITY, "input 1 (B) is left out", NULL },
    { "<ir_version: 10, opset_import: [\"\": 21, \"d\": 1]> g (float[N] x) => (float[N] y) { y = d.f (x, x) }\n"
      "<domain: \"d\", opset_import: [\"\": 21]> f (a) => (b) { b = Neg (a) }",
      ONNXL_DIAG_NODE_ARITY, "2 inputs when f has at most 1", NULL },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
}

static void
test_attributes(void)
{
  static const BadModel rows[] = {
    { GRAPH "{ y = Neg <k = 1> (x) }", ONNXL_DIAG_UNKNOWN_ATTRIBUTE, "Neg has no attribute 'k'", "/#0 (Neg)" },
    { GRAPH "{ y = LeakyRelu <alpha = 1> (x) }", ONNXL_DIAG_NODE_ATTRIBUTE, "attribute 'alpha' is int when", NULL },
    { GRAPH "{ y = Cast (x) }", ONNXL_DIAG_NODE_ATTRIBUTE, "attribute 'to' is missing", NULL },
    { GRAPH "{ y = Concat <axis = 0, axis = 0> (x, x) }", ONNXL_DIAG_ATTR_TWICE_MODEL, "'axis'", NULL },
    { GRAPH "{ y = Concat <axis: int = @a> (x, x) }", ONNXL_DIAG_ATTRIBUTE_REFERENCE, "outside of a function", NULL },
    { GRAPH "{ y = Neg (x) }\n"
            "<domain: \"my\", opset_import: [\"\": 21]> f <a> (p) => (q) { q = Concat <axis: int = @b> (p) }",
      ONNXL_DIAG_ATTRIBUTE_REFERENCE, "'b', which function f does not have", "/f/#0 (Concat)" },
    { GRAPH "{ y = my.f <k = 1> (x) }\n"
            "<domain: \"my\", opset_import: [\"\": 21]> f (a) => (b) { b = Neg (a) }",
      ONNXL_DIAG_UNKNOWN_ATTRIBUTE_FUNCTION, "function f has no attribute 'k'", NULL },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
}

static OnnxlAttribute *
axis_of(TextModel *t)
{
  *t = text_model(GRAPH "{ y = Concat <axis = 0> (x, x) }");
  return &t->model->proto.graph->node.items[0].attribute.items[0];
}

static void
test_attribute_values(void)
{
  TextModel t;
  OnnxlAttribute *axis = axis_of(&t);

  axis->has_f = true;
  expect_finding(&t, ONNXL_DIAG_ATTRIBUTE_VALUE, "values in two fields, float and int", NULL);
  text_model_clear(&t);

  axis = axis_of(&t);
  axis->has_i = false;
  axis->s = ONNXL_STR("0");
  expect_finding(&t, ONNXL_DIAG_ATTRIBUTE_VALUE, "is int and has its value in string", NULL);
  text_model_clear(&t);

  axis = axis_of(&t);
  axis->has_type = false;
  expect_finding(&t, ONNXL_DIAG_ATTRIBUTE_VALUE, "has no type", NULL);
  text_model_clear(&t);

  /* Writers of proto3 leave out zeros. */
  axis = axis_of(&t);
  axis->has_i = false;
  CU_ASSERT_TRUE(check_model(&t));
  text_model_clear(&t);

  t = text_model(GRAPH "{ c = Constant <value = float {1.0}> ()  y = Add (x, c) }");
  t.model->proto.graph->node.items[0].attribute.items[0].t = NULL;
  expect_finding(&t, ONNXL_DIAG_ATTRIBUTE_VALUE, "has no value", "/#0 (Constant)");
  text_model_clear(&t);
}

static void
test_subgraphs(void)
{
  static const BadModel rows[] = {
    { HEAD "g (bool c, float x) => (float y) { y = If (c) <then_branch = t (float a) => (p) { p = Neg (x) },\n"
           "  else_branch = e () => (p) { p = Abs (x) }> }",
      ONNXL_DIAG_SUBGRAPH, "then_branch has 1 inputs when the node gives it 0", "/#0 (If)" },
    { HEAD "g (bool c, float x) => (float y) { y = If (c) <then_branch = t () => (p, q) { p = Neg (x) q = Abs (x) },\n"
           "  else_branch = e () => (p) { p = Abs (x) }> }",
      ONNXL_DIAG_SUBGRAPH, "then_branch has 2 outputs when the node needs 1", NULL },
    { HEAD "g (int64 n, bool c, float x) => (float y) { y = Loop (n, c, x)\n"
           "  <body = b (int64 i, bool k) => (k2, z) { k2 = Identity (k)  z = Neg (x) }> }",
      ONNXL_DIAG_SUBGRAPH, "body has 2 inputs when the node gives it 3", NULL },
    { HEAD "g (float[3] x) => (float[3] y) { y = Scan <num_scan_inputs = 1,\n"
           "  body = b (float e) => () { }> (x) }",
      ONNXL_DIAG_SUBGRAPH, "body has 0 outputs when the node needs at least 1", NULL },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
  check_good_model(HEAD "g (int64 n, bool c, float x) => (float y) { y = Loop (n, c, x)\n"
                        "  <body = b (int64 i, bool k, float v) => (k2, z) { k2 = Identity (k)  z = Neg (v) }> }");
}

static void
test_types(void)
{
  static const BadModel rows[] = {
    { HEAD "g (float x, double d) => (float y) { y = Add (x, d) }", ONNXL_DIAG_TYPE_MISMATCH,
      "input 'd' (B) is tensor(double) when T of Add is tensor(float) already", "/#0 (Add)" },
    { HEAD "g (float x) => (double y) { y = Neg (x) }", ONNXL_DIAG_TYPE_MISMATCH, "output 'y'", NULL },
    { HEAD "g (string x) => (string y) { y = Neg (x) }", ONNXL_DIAG_OPERAND_TYPE, "input 'x' (X) is tensor(string)",
      NULL },
    { HEAD "g (float x, float s) => (float y) { y = Reshape (x, s) }", ONNXL_DIAG_OPERAND_TYPE, "'s' (shape)", NULL },
    /* The type of a value that nobody declares follows from its node. */
    { HEAD "g (float x, double d) => (float y) { h = Neg (d)  y = Add (x, h) }", ONNXL_DIAG_TYPE_MISMATCH, "'h'",
      "/#1 (Add)" },
    { HEAD "g (seq(float) x) => (float y) { y = Neg (x) }", ONNXL_DIAG_OPERAND_TYPE, "seq(tensor(float))", NULL },
    { HEAD "g (float x) => (float y) { y = If (x) <then_branch = t () => (p) { p = Neg (x) },\n"
           "  else_branch = e () => (p) { p = Abs (x) }> }",
      ONNXL_DIAG_OPERAND_TYPE, "'x' (cond) is tensor(float)", NULL },
  };

  check_bad_models(rows, G_N_ELEMENTS(rows));
}

static void
test_initializer_type(void)
{
  TextModel t = text_model(HEAD "g (float[1] w = {1.0}) => (float[1] y) { y = Identity (w) }");
  OnnxlTensor *w = &t.model->proto.graph->initializer.items[0];

  w->data_type = ONNXL_TYPE_INT32;
  w->float_data.bytes = (OnnxlStr){ NULL, 0 };
  w->int32_data.bytes = ONNXL_STR("\x01");
  CU_ASSERT_FALSE(check_model(&t));
  CHECK_FINDINGS(&t, ONNXL_DIAG_TYPE_MISMATCH, ONNXL_DIAG_TYPE_MISMATCH);
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(t.sink, 0)->message, "initializer 'w' is int32 and declared as float");
  text_model_clear(&t);
}

static void
test_tensors(void)
{
  TextModel t = text_model(GRAPH "<float[2] w = {1.0, 2.0}> { y = Add (x, w) }");
  OnnxlTensor *w = &t.model->proto.graph->initializer.items[0];
  OnnxlPair entry = { .key = ONNXL_STR("location"), .value = ONNXL_STR("gone.bin") };

  w->dims.items[0] = 3;
  expect_finding(&t, ONNXL_DIAG_PAYLOAD, "2 values", "/w");
  g_clear_error(&t.error);

  w->dims.items[0] = -1;
  expect_finding(&t, ONNXL_DIAG_TENSOR_DIMS, "negative", "/w");
  g_clear_error(&t.error);

  w->dims.items[0] = 2;
  w->float_data.bytes = (OnnxlStr){ NULL, 0 };
  w->has_data_location = true;
  w->data_location = ONNXL_LOCATION_EXTERNAL;
  expect_finding(&t, ONNXL_DIAG_EXTERNAL, "location", "/w");
  g_clear_error(&t.error);
  *ONNXL_APPEND(t.model->arena, &w->external_data) = entry;
  expect_finding(&t, ONNXL_DIAG_EXTERNAL_FILE, "gone.bin", "/w");
  text_model_clear(&t);

  t = text_model(GRAPH "{ c = Constant <value = float[2] {1.0, 2.0}> ()  y = Add (x, c) }");
  t.model->proto.graph->node.items[0].attribute.items[0].t->data_type = 99;
  expect_finding(&t, ONNXL_DIAG_DATA_TYPE, "99", "/#0/value");
  text_model_clear(&t);
}

/* A sparse [3,4] of two values in an attribute, whose indices are given. */
static void
check_indices(const int64_t *indices, int64_t n, bool two_dims, const char *message)
{
  TextModel t = text_model(GRAPH "{ c = Constant <value = float[2] {1.0, 2.0}> ()  y = Add (x, c) }");
  OnnxlArena *arena = t.model->arena;
  OnnxlAttribute *attribute = &t.model->proto.graph->node.items[0].attribute.items[0];
  OnnxlSparseTensor *sparse = ONNXL_NEW(arena, OnnxlSparseTensor);

  sparse->values = attribute->t;
  sparse->indices = ONNXL_NEW(arena, OnnxlTensor);
  sparse->indices->has_data_type = true;
  sparse->indices->data_type = ONNXL_TYPE_INT64;
  sparse->indices->raw_data = onnxl_str_n((const char *)indices, (size_t)n * sizeof *indices);
  int64_t *dims = ONNXL_EXTEND(arena, &sparse->indices->dims, two_dims ? 2 : 1);
  dims[0] = two_dims ? n / 2 : n;
  if (two_dims)
    dims[1] = 2;
  int64_t *shape = ONNXL_EXTEND(arena, &sparse->dims, 2);
  shape[0] = 3;
  shape[1] = 4;
  attribute->name = ONNXL_STR("sparse_value");
  attribute->type = ONNXL_ATTRIBUTE_SPARSE_TENSOR;
  attribute->t = NULL;
  attribute->sparse_tensor = sparse;
  if (message)
    expect_finding(&t, ONNXL_DIAG_SPARSE, message, "/#0/sparse_value");
  else
    CU_ASSERT_TRUE(check_model(&t));
  text_model_clear(&t);
}

static void
test_sparse(void)
{
  check_indices((const int64_t[]){ 1, 11 }, 2, false, NULL);
  check_indices((const int64_t[]){ 0, 3, 2, 0 }, 4, true, NULL);
  check_indices((const int64_t[]){ 1, 12 }, 2, false, "is 12 when the size is 12");
  check_indices((const int64_t[]){ -1, 2 }, 2, false, "is -1");
  check_indices((const int64_t[]){ 5, 5 }, 2, false, "not behind");
  check_indices((const int64_t[]){ 2, 0, 0, 3 }, 4, true, "not behind");
  check_indices((const int64_t[]){ 0, 4, 2, 0 }, 4, true, "is 4 when the size is 4");
  check_indices((const int64_t[]){ 1, 2, 3 }, 3, false, "neither");
}

static void
test_devices(void)
{
#define SHARDED(configuration, devices)                                       \
  "<ir_version: 11, opset_import: [\"\": 23], configuration: [" configuration \
  "]> g (float[4] x) => (float[4] y) { y = Neg (x) !{device_configurations: [" devices "]} }"
#define TWO "{name: \"c\", num_devices: 2, device: [\"a\", \"b\"]}"
  static const BadModel rows[] = {
    { SHARDED("{num_devices: 2}", ""), ONNXL_DIAG_DEVICE, "configuration 0 has no name", NULL },
    { SHARDED("{name: \"c\"}", ""), ONNXL_DIAG_DEVICE, "'c' has 0 devices", NULL },
    { SHARDED("{name: \"c\", num_devices: 2, device: [\"a\"]}", ""), ONNXL_DIAG_DEVICE, "names 1 devices when it has 2",
      NULL },
    { SHARDED(TWO ", " TWO, ""), ONNXL_DIAG_DEVICE, "two configurations are named 'c'", NULL },
    { SHARDED(TWO, "{configuration_id: \"d\"}"), ONNXL_DIAG_DEVICE, "the model has no configuration 'd'", "/#0 (Neg)" },
    { SHARDED(TWO, "{configuration_id: \"c\", sharding_spec: [{tensor_name: \"q\"}]}"), ONNXL_DIAG_DEVICE,
      "'q' is sharded, but no input or output", "/#0 (Neg)" },
    { SHARDED(TWO, "{configuration_id: \"c\", sharding_spec: [{tensor_name: \"x\", device: [0, 2]}]}"),
      ONNXL_DIAG_DEVICE, "device 2 is not among the 2 of configuration 'c'", NULL },
    { SHARDED(TWO, "{configuration_id: \"c\", sharding_spec: [{tensor_name: \"x\", device: [7],"
                   " index_to_device_group_map: [{key: 7, value: [0, -1]}]}]}"),
      ONNXL_DIAG_DEVICE, "device -1 is not among", NULL },
    { SHARDED(TWO, "{configuration_id: \"c\", sharding_spec: [{tensor_name: \"y\", device: [0, 1],"
                   " sharded_dim: [{axis: 0, simple_sharding: [{dim_value: 4, num_shards: 0}]}]}]}"),
      ONNXL_DIAG_DEVICE, "axis 0 of 'y' is cut into 0 shards", NULL },
  };
  TextModel t = text_model(SHARDED(TWO, "{configuration_id: \"c\", pipeline_stage: 1, sharding_spec:"
                                        " [{tensor_name: \"x\", device: [0, 7], index_to_device_group_map:"
                                        " [{key: 7, value: [0, 1]}], sharded_dim: [{axis: 0,"
                                        " simple_sharding: [{dim_value: 4, num_shards: 2}]}]}]}"));

  check_bad_models(rows, G_N_ELEMENTS(rows));
  CU_ASSERT_TRUE(check_model(&t));
  text_model_clear(&t);
#undef TWO
#undef SHARDED
}

UNIT_MAIN("check rules", { "operators", test_operators }, { "attributes", test_attributes },
          { "attribute values", test_attribute_values }, { "subgraphs", test_subgraphs }, { "types", test_types },
          { "initializer type", test_initializer_type }, { "tensors", test_tensors }, { "sparse", test_sparse },
          { "devices", test_devices })
