#include "unit.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "proto/text.h"
#include "random-model.h"
#include "support/error.h"

/* What a text is printed as: a whole model, a node of it, an entry of its list, a signature. */
typedef struct Row {
  const char *text;
  const char *canonical;
} Row;

#define NODE(text, canonical)                                         \
  {                                                                   \
    "g () => () { " text " }", "g () => ()\n{\n   " canonical "\n}\n" \
  }
#define ENTRY(text, canonical)                                                         \
  {                                                                                    \
    "g () => () <" text "> { }", "g () => ()\n   <\n      " canonical "\n   >\n{\n}\n" \
  }
#define HEAD(text, canonical)         \
  {                                   \
    text " { }", canonical "\n{\n}\n" \
  }
#define FUNCTION(text, canonical)                                              \
  {                                                                            \
    "g () => () { } " text " { }", "g () => ()\n{\n}\n\n" canonical "\n{\n}\n" \
  }
#define SAME_NODE(text) NODE(text, text)
#define SAME_ENTRY(text) ENTRY(text, text)
#define SAME_HEAD(text) HEAD(text, text)

static const OnnxlTextOptions inline_weights = { .weights = ONNXL_WEIGHTS_INLINE };

/* Reads text, which must be right. Returns: owned. */
static OnnxlModel *
read_text(OnnxlStr text)
{
  OnnxlModel *model = onnxl_model_new(1u << 30);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("text");
  GError *error = NULL;

  if (!onnxl_text_read(text, 200, model, sink, &error)) {
    fprintf(stderr, "%.*s\n", ONNXL_ARG(text));
    for (size_t i = 0; i < onnxl_diag_count(sink); i++)
      fprintf(stderr, "%u:%u: %s\n", onnxl_diag_get(sink, i)->location.line, onnxl_diag_get(sink, i)->location.column,
              onnxl_diag_get(sink, i)->message);
    CU_FAIL("the text was refused");
    g_clear_error(&error);
  }
  onnxl_diag_sink_free(sink);
  return model;
}

/* The text of a model in memory; clear out when done with it. */
static OnnxlStr
print(const OnnxlModel *model, const OnnxlTextOptions *options, OnnxlOutput *out)
{
  onnxl_output_init(out, -1);
  CU_ASSERT_TRUE(onnxl_text_write(out, model, options, NULL, NULL, NULL));
  return onnxl_output_memory(out);
}

static void
expect_text(OnnxlStr text, const char *expected)
{
  CU_ASSERT_TRUE(onnxl_str_is(text, expected));
  if (!onnxl_str_is(text, expected))
    fprintf(stderr, "printed:\n%.*sexpected:\n%s", ONNXL_ARG(text), expected);
}

static void
check_row(const Row *row, const OnnxlTextOptions *options)
{
  OnnxlModel *model = read_text(onnxl_str(row->text));
  OnnxlOutput out, again;
  OnnxlStr text = print(model, options, &out);

  expect_text(text, row->canonical);
  OnnxlModel *copy = read_text(text);
  CU_ASSERT_TRUE(onnxl_message_equal(&onnxl_model_descriptor, &model->proto, &copy->proto));
  CU_ASSERT_TRUE(onnxl_str_equal(print(copy, options, &again), text));
  onnxl_output_clear(&again);
  onnxl_output_clear(&out);
  onnxl_model_free(copy);
  onnxl_model_free(model);
}

static void
check_rows(const Row *rows, size_t n)
{
  for (size_t i = 0; i < n; i++)
    check_row(&rows[i], &inline_weights);
}

static void
test_values(void)
{
  static const Row rows[] = {
    HEAD("g (x) => (y)", "g (x) => (y)"),
    HEAD("g => ()", "g () => ()"),
    SAME_HEAD("g (float float, \"seq\", x) => ()"),
    SAME_HEAD("\"\" (float \"\", \"\") => ()"),
    HEAD("g () => () <>", "g () => ()"),
    HEAD("g (float[2] x = {1, 2}) => ()", "g (float[2] x) => ()\n   <\n      float[2] x = {1.0, 2.0}\n   >"),
    SAME_HEAD("g (float a, float[] b, float[?] c, float[\"\"] d) => ()"),
    HEAD("g (float[-1] a, float[007] b, float[inf] c, float [ N ] d) => ()",
         "g (float[-1] a, float[7] b, float[inf] c, float[N] d) => ()"),
    SAME_HEAD("g (sparse_tensor(float[]) a, seq(map(int64, string)) b) => ()"),
    SAME_HEAD("g (opaque(a.b) a, opaque(a.b, c) b, opaque() c) => ()"),
    SAME_HEAD("g (opaque(\"\", \"a b\") a, opaque(d, ?) b) => ()"),
    SAME_HEAD("g (!?[N] a, !77[2] b, !0 c, !{} d, !-1 e) => ()"),
    SAME_HEAD("g (seq() a, optional() b, map(!?, ) c) => ()"),
    SAME_HEAD("? (float[N] ?, ?) => (?)"),
    SAME_HEAD("g (float[N !{denotation: \"DATA_BATCH\"},3] !{denotation: \"IMAGE\"} x) => ()"),
    SAME_HEAD("g (float[N] x !{doc_string: \"pixels\"}) => ()"),
    SAME_HEAD("g (!{tensor_type: {elem_type: 1, shape: {dim: [{dim_value: 3}], 99/0: 1}}} x) => ()"),
    SAME_HEAD("g (x) => (y) !{doc_string: \"main\", quantization_annotation: [{tensor_name: \"x\", "
              "quant_parameter_tensor_names: [\"SCALE_TENSOR\": \"s\"]}]}"),
  };
  check_rows(rows, G_N_ELEMENTS(rows));
}

static void
test_nodes(void)
{
  static const Row rows[] = {
    NODE("[] y = Op (x) [\"\"] z = Op (x)", "[\"\"] y = Op (x)\n   [\"\"] z = Op (x)"),
    NODE("[a] = Op (x) = Op (x)", "[a] = Op (x)\n   = Op (x)"),
    SAME_NODE("y = (x)"),
    NODE("y = .Relu (x) z = .a.Relu (x)", "y = Relu (x)\n   z = a.Relu (x)"),
    NODE("y = ai . onnx . Op : v (x)", "y = ai.onnx.Op:v (x)"),
    NODE("= Op () = Op (\"\") = Op (,) = Op (x,) = Op (,x) = Op (x,,)",
         "= Op ()\n   = Op (\"\")\n   = Op (\"\")\n   = Op (x)\n   = Op (\"\", x)\n   = Op (x, \"\")"),
    NODE(", = Op (x) y, = Op (x)", "\"\" = Op (x)\n   y = Op (x)"),
    NODE("y = Neg (x), z = Neg (y)", "y = Neg (x)\n   \"\", z = Neg (y)"),
    NODE("y = Op (x) [n] z = Op (y)", "y = Op (x)\n   [n] z = Op (y)"),
    NODE("y = Op (x) <a = 1>", "y = Op <a = 1> (x)"),
    SAME_NODE("float = Op <int = 2, seq = 3> (seq, map, inf)"),
    SAME_NODE("y = \"com.ex-1/a\".\"FAKE!\":\"v 1\" <\"a b\" = 1> (x)"),
    SAME_NODE("y = ? (x)"),
    SAME_NODE("y = Op:\"\" (x)"),
    SAME_NODE("y = a.\"\" (x)"),
    SAME_NODE("y = Relu (x) !{doc_string: \"act\", metadata_props: [\"k\": \"v\"]}"),
    SAME_NODE("y = Op (x) !{device_configurations: [{sharding_spec: [{device: [0, 1], sharded_dim: [{axis: 0, "
              "simple_sharding: [{dim_param: \"N\", num_shards: 2}]}]}], pipeline_stage: 1}]}"),
    { "g () => () { #: -domain\n y = Relu (x) z = .Relu (y) w = .\"\" (y) }",
      "g () => ()\n{\n   #: -domain\n   y = Relu (x)\n   z = .Relu (y)\n   w = .\"\" (y)\n}\n" },
  };
  check_rows(rows, G_N_ELEMENTS(rows));
}

static void
test_attributes(void)
{
  static const Row rows[] = {
    SAME_NODE("y = Op <a = 2, a = 3> (x)"),
    NODE("y = Op <a = 2, b: float = 2, c: float = -0> (x)", "y = Op <a = 2, b = 2.0, c = -0.0> (x)"),
    NODE("y = Op <a = 5., b = 1.e3, c = 1E+5, d = 007, e = -0> (x)",
         "y = Op <a = 5.0, b = 1000.0, c = 100000.0, d = 7, e = 0> (x)"),
    NODE("y = Op <a = inf, b = INF, c = Infinity, d = -inf, e = NaN, f = -nan> (x)",
         "y = Op <a = inf, b = inf, c = inf, d = -inf, e = nan, f = -nan> (x)"),
    NODE("y = Op <a = 1e-46, b: float = 16777217> (x)", "y = Op <a = 0.0, b = 1.6777216e+07> (x)"),
    NODE("y = Op <a = [2.0, 1], b = [inf, 1.0], c: int = [1, 2]> (x)",
         "y = Op <a = [2.0, 1.0], b = [inf, 1.0], c = [1, 2]> (x)"),
    SAME_NODE("y = Op <a: ints = [], t: tensors = []> (x)"),
    SAME_NODE("y = Op <a = @r, b: int = @\"r s\", c = @\"\", d: sparse_tensor = @r> (x)"),
    SAME_NODE("y = Op <a: ?, b: !77, c: int, d: ? = 2.0, e: !0 = @r> (x)"),
    SAME_NODE("y = Op <a = float[3], b = float, c = ![float[3], seq(float[])]> (x)"),
    NODE("y = Op <a = float[3] {1, 2, 3}, b = float {1}> (x)",
         "y = Op <a = float[3] {1.0, 2.0, 3.0}, b = float {1.0}> (x)"),
    NODE("y = Op <a = float[3] t, b = float[3] => (x)", "y = Op <a = float[3] t {}, b = float[3] {}> (x)"),
    SAME_NODE("y = Op <a = float[2] = [\"location\": \"f\"]> (x)"),
    SAME_NODE("y = Op <a = float[1] \"t/1\" {1.0}> (x)"),
    NODE("y = Op <a = [float[1] {1}, float[1] {2}]> (x)", "y = Op <a = ![float[1] {1.0}, float[1] {2.0}]> (x)"),
    SAME_NODE("y = Op <alpha !{doc_string: \"slope\"} = 0.5, a !{i: 5}: float> (x)"),
    SAME_NODE("y = Op <a = !0x7fa00001, b = [!0xffc00001, -nan]> (x)"),
    NODE("y = Op <a = g1 () => () {}, b = nan_x () => () { }, c = \"inf\" () => () { }, d = 1> (x)",
         "y = Op (x) <\n      a = g1 () => ()\n      {\n      },\n      b = nan_x () => ()\n      {\n      },\n"
         "      c = \"inf\" () => ()\n      {\n      },\n      d = 1>"),
    /* A note before a list element, and between an attribute's block and its value. */
    NODE("#: raw\n y = Op <a = ![float[1] {1}, #: typed\n float[1] {2}]> (x)",
         "#: raw\n   y = Op <a = ![float[1] {1.0},\n   #: typed\n   float[1] {2.0}]> (x)"),
    NODE("#: raw -name\n y = Op <a !{tensors: [#: typed\n float {1.0}]} #: raw\n = float {1.0}> (x)",
         "#: raw -name\n   y = Op <a !{tensors: [\n   #: typed\n   float {1.0}]}\n   #: raw\n   = float {1.0}> (x)"),
  };
  check_rows(rows, G_N_ELEMENTS(rows));
}

static void
test_tensors(void)
{
  static const Row rows[] = {
    ENTRY("float[2] w = ", "float[2] w = {}"),
    ENTRY("float w =", "float w = {}"),
    SAME_ENTRY("w,\n      float[] v"),
    SAME_ENTRY("float[2] w = [\"l\": \"f\", \"offset\": \"0\"]"),
    SAME_ENTRY("float[1] w = []"),
    SAME_ENTRY("int4[3] a = {225, 3},\n      float16[1] b = {15360},\n      complex64[1] c = {1.0, 2.0}"),
    SAME_ENTRY("int8[1] a = {300},\n      bool[1] b = {2},\n      uint8[1] c = {-1}"),
    ENTRY("uint64[1] a = {-1}, uint32[1] b = {4294967296}",
          "uint64[1] a = {18446744073709551615},\n      uint32[1] b = {4294967296}"),
    ENTRY("string[2] s = {\"a\\\"b\", \"c\\nd\"}", "string[2] s = {\"a\\\"b\", \"cnd\"}"),
    SAME_ENTRY("string[2] s = {\"a\nb\", \"# no comment\"}"),
    SAME_ENTRY("string[1] s = {!\"caf\\xe9\\x00\\n\\u{202e}\\\\\\\"\"}"),
    ENTRY("float16[3] w = {0.1, inf, nan}", "float16[3] w = {11878, 31744, 32256}"),
    ENTRY("int4[3] w = ![1, -2, 3]", "int4[3] w = {225, 3}"),
    SAME_ENTRY("float[4] w = {1.0, 2.0} !{segment: {begin: 0, end: 2}, data_location: 0}"),
    SAME_ENTRY("float[1] w = {} !{float_data: [1.0], raw_data: !\"\\x00\\x00\\x80?\"}"),
    SAME_ENTRY("sparse_tensor(float[3,4]) w = {float[2] {1.5, 2.5}, int64[2] {1, 7}}"),
    SAME_ENTRY("#: raw\n      int8[2] a = {-1, 127},\n      uint16[1] b = {65535},\n      double[1] c = {0.1},\n"
               "      float[0] d = {},\n      string[1] e = {\"x\"},\n      #: typed\n      float[1] f = {}"),
    { "g () => () !{sparse_initializer: [{#: -name\n indices: int64[1] {0}, dims: [4]}]} { }",
      "g () => () !{sparse_initializer: [{\n#: -name\nindices: int64[1] {0}, dims: [4]}]}\n{\n}\n" },
  };
  check_rows(rows, G_N_ELEMENTS(rows));
}

static void
test_models(void)
{
  static const Row rows[] = {
    HEAD("<ir_version: 7, ir_version: 8> g () => ()", "<\n   ir_version: 8\n>\ng () => ()"),
    HEAD("<opset_import: [\"\": 1], opset_import: [\"a\": -1]> g () => ()",
         "<\n   opset_import: [\"\" : 1, \"a\" : -1]\n>\ng () => ()"),
    HEAD("<opset_import: [], metadata_props: [], producer_name: \"\"> g () => ()",
         "<\n   producer_name: \"\"\n>\ng () => ()"),
    HEAD("<#: -domain\n opset_import: [\"\": 17]> #: +doc\n g () => ()",
         "<\n   #: -domain\n   opset_import: [\"\" : 17]\n>\n#: +doc\ng () => ()"),
    { "<ir_version: 8, training_info: [{algorithm: a () => () { }, update_binding: [\"w\": \"w2\"]}], 100/2: "
      "\"future\", "
      "7/3: {1/0: 5, 2/1: 0x0000000000000001, 3/3: {}, 4/5: 0x0000002a}> ?",
      "<\n   ir_version: 8,\n   training_info: [{algorithm: a () => ()\n   {\n   }, update_binding: [\"w\": "
      "\"w2\"]}],\n"
      "   100/2: \"future\",\n   7/3: {1/0: 5, 2/1: 0x0000000000000001, 3/3: {}, 4/5: 0x0000002a}\n>\n?\n" },
    FUNCTION("f (x) => (y)", "f (x) => (y)"),
    FUNCTION("f <a, \"b c\", k: float = 2> (x) => (y)", "f <a, \"b c\", k = 2.0> (x) => (y)"),
    FUNCTION("f <k: int> (x) => (y)", "f <k: int> (x) => (y)"),
    FUNCTION("f <k: int => (x) => (y)", "f <k: int> (x) => (y)"),
    FUNCTION("f <k => (x) => (y)", "f <k: ?> (x) => (y)"),
    FUNCTION("f (float x, y) => (float z) <float t, u>",
             "f (x, y) => (z)\n   <\n      float x,\n      float z,\n      float t,\n      u\n   >"),
    FUNCTION("f (x, x) => (x) <>", "f (x, x) => (x)"),
    FUNCTION("<domain: \"d\", overload: \"\", opset_import: [\"\" : ?]> f (\"float\") => ()",
             "<\n   domain: \"d\",\n   overload: \"\",\n   opset_import: [\"\" : ?]\n>\nf (\"float\") => ()"),
  };
  check_rows(rows, G_N_ELEMENTS(rows));
}

/* The example of the format's description: header, lists, nested graphs, notes. */
static void
test_layout(void)
{
  static const char example[] =
    "<\n   ir_version: 8,\n   #: -domain\n   opset_import: [\"\" : 17]\n>\n"
    "g (bool b, float[N,4] x) => (float[N,4] y)\n   <\n      #: raw\n      float[4] w = {1.0, 2.0, 3.0, 4.0},\n"
    "      float[N,4] t\n   >\n{\n   [\"mul/0\"] t = Mul (x, w)\n   y = If (b) <\n"
    "      then_branch = yes () => (float[N,4] p)\n      {\n         p = Relu (t)\n      },\n"
    "      else_branch = no () => (float[N,4] q)\n      {\n         q = LeakyRelu <alpha = 0.2> (t)\n      }>\n}\n";
  static const char long_head[] =
    "graph_with_a_long_name (\n      float[batch,channels,height,width] the_first_input,\n"
    "      float[batch,channels,height,width] another)\n   => (\n      float[batch,channels,height,width] out)\n{\n}\n";
  static const Row rows[] = { { example, example }, { long_head, long_head } };
  OnnxlOutput out;

  check_rows(rows, G_N_ELEMENTS(rows));

  /* Numbers break before column 100 and go on at +6; nothing else does. */
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);
  model->proto.graph = ONNXL_NEW(model->arena, OnnxlGraph);
  OnnxlNode *node = ONNXL_APPEND(model->arena, &model->proto.graph->node);
  OnnxlAttribute *attribute = ONNXL_APPEND(model->arena, &node->attribute);
  attribute->has_type = true;
  attribute->type = ONNXL_ATTRIBUTE_INTS;
  for (int64_t i = 0; i < 100; i++)
    *ONNXL_APPEND(model->arena, &attribute->ints) = 1000000 + i;
  OnnxlStr text = print(model, &inline_weights, &out);
  size_t lines = 0, longest = 0;
  for (const char *at = text.data; at < text.data + text.size; lines++) {
    const char *end = memchr(at, '\n', (size_t)(text.data + text.size - at));
    CU_ASSERT_TRUE(end == at || end[-1] != ' ');
    if (strspn(at, " ") == 9)
      longest = MAX(longest, (size_t)(end - at));
    at = end + 1;
  }
  CU_ASSERT_EQUAL(lines, 4 + 9 + 2);
  CU_ASSERT_TRUE(longest > 90 && longest <= 100);
  onnxl_output_clear(&out);
  onnxl_model_free(model);
}

static void
test_elements(void)
{
  static const OnnxlTextOptions elements = { .weights = ONNXL_WEIGHTS_INLINE, .elements = true };
  static const Row rows[] = {
    SAME_ENTRY("int4[3] a = ![1, -2, 3],\n      uint2[5] b = ![0, 1, 2, 3, 1],\n      int2[2] c = ![-2, 1]"),
    SAME_ENTRY("float16[5] a = ![0.099975586, inf, nan, -nan, !0x7e01],\n      bfloat16[1] b = ![1.0],\n"
               "      float8e4m3fn[2] c = ![448.0, nan],\n      float4e2m1[3] d = ![0.5, -6.0, 1.5]"),
    /* Bits behind the last element, and a wrong number of them: only as they are stored. */
    SAME_ENTRY("int4[1] a = {33},\n      float16[2] b = {15360},\n      uint4[2] c = {300}"),
    SAME_ENTRY("float[1] a = {1.0},\n      int8[1] b = {1},\n      string[1] c = {\"x\"}"),
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    check_row(&rows[i], &elements);
}

static void
test_elide(void)
{
  static const OnnxlTextOptions elide = { .weights = ONNXL_WEIGHTS_ELIDE };
  static const Row rows[] = {
    ENTRY("#: raw\n float[257] a = {}, float[256] b = {}",
          "float[257] a = ...,\n      #: raw\n      float[256] b = {}"),
    ENTRY("string[129] a = {}, !{tensor_type: {}} b", "string[129] a = ...,\n      !?[] b"),
    SAME_ENTRY(
      "float[4294967296,4294967296,4294967296] a = ...,\n      float[-5] b = {},\n      float[0,1000000] c = {}"),
    SAME_ENTRY("float[1000] a = [\"location\": \"f\"]"),
    SAME_NODE("y = Op <a = float[1000] ..., b = float[1000] t ... !{doc_string: \"left out\"}> ()"),
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    OnnxlModel *model = read_text(onnxl_str(rows[i].text));
    OnnxlOutput out, again;
    OnnxlStr text = print(model, &elide, &out);
    expect_text(text, rows[i].canonical);
    OnnxlModel *copy = read_text(text);
    CU_ASSERT_TRUE(onnxl_str_equal(print(copy, &elide, &again), text));
    onnxl_output_clear(&again);
    onnxl_output_clear(&out);
    onnxl_model_free(copy);
    onnxl_model_free(model);
  }
}

/* A model whose float weights (count of them, as raw_data) lie in file. */
static OnnxlModel *
model_in_file(OnnxlFile *file, size_t offset, size_t count)
{
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);
  model->file = file;
  model->proto.graph = ONNXL_NEW(model->arena, OnnxlGraph);
  model->proto.graph->name = ONNXL_STR("g");
  OnnxlTensor *tensor = ONNXL_APPEND(model->arena, &model->proto.graph->initializer);
  tensor->name = ONNXL_STR("w");
  tensor->has_data_type = true;
  tensor->data_type = ONNXL_TYPE_FLOAT;
  *ONNXL_APPEND(model->arena, &tensor->dims) = (int64_t)count;
  tensor->raw_data = onnxl_str_n(file->data + offset, 4 * count);
  return model;
}

/* References to the file that was read: only below the folder of the text, only above 1024 bytes. */
static void
test_references(void)
{
  g_autofree char *folder = g_dir_make_tmp("text-write-XXXXXX", NULL);
  g_autofree char *inner = g_build_filename(folder, "in", NULL);
  g_autofree char *other = g_build_filename(folder, "other", NULL);
  g_autofree char *path = g_build_filename(inner, "m.onnx", NULL);
  g_autofree char *link = g_build_filename(other, "in", NULL);
  static const char zeros[4096] = "\x08\x08";
  struct {
    const char *folder;
    size_t count;
    const char *location;
  } rows[] = {
    { inner, 300, "m.onnx" }, { folder, 300, "in/m.onnx" }, { other, 300, NULL },
    { inner, 256, NULL },     { link, 300, "m.onnx" },
  };

  CU_ASSERT_FATAL(g_mkdir(inner, 0700) == 0 && g_mkdir(other, 0700) == 0 && symlink(inner, link) == 0 &&
                  g_file_set_contents(path, zeros, sizeof zeros, NULL));
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    OnnxlFile *file = onnxl_file_open(path, 1 << 20, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    OnnxlModel *model = model_in_file(file, 16, rows[i].count);
    OnnxlTextOptions options = { .weights = ONNXL_WEIGHTS_AUTO, .folder = rows[i].folder };
    OnnxlOutput out;
    OnnxlStr text = print(model, &options, &out);
    g_autofree char *wanted = g_strdup_printf(
      "g () => ()\n   <\n      #: raw embed\n      float[300] w = [\"location\": \"%s\", \"offset\": \"16\", "
      "\"length\": \"1200\"]\n   >\n{\n}\n",
      rows[i].location ? rows[i].location : "");
    if (rows[i].location)
      expect_text(text, wanted);
    else
      CU_ASSERT_PTR_NULL(g_strstr_len(text.data, (gssize)text.size, "location"));
    onnxl_output_clear(&out);
    onnxl_model_free(model);
  }
  /* A model reached through a link inside of the folder may lie elsewhere, where a reader would not look. */
  g_autofree char *through = g_build_filename(link, "m.onnx", NULL);
  OnnxlModel *model = model_in_file(onnxl_file_open(through, 1 << 20, NULL), 16, 300);
  OnnxlTextOptions options = { .weights = ONNXL_WEIGHTS_AUTO, .folder = other };
  OnnxlOutput out;
  OnnxlStr text = print(model, &options, &out);
  CU_ASSERT_PTR_NULL(g_strstr_len(text.data, (gssize)text.size, "location"));
  onnxl_output_clear(&out);
  onnxl_model_free(model);
  g_unlink(link);
  g_unlink(path);
  g_rmdir(inner);
  g_rmdir(other);
  g_rmdir(folder);
}

static bool
refuse_to_move(void *data, OnnxlStr payload, uint64_t *ret_offset, GError **error)
{
  int *calls = data;
  *ret_offset = 64;
  return ++*calls < 2 || (g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full"), false);
}

static void
test_moved_payloads(void)
{
  static const char text[] = "g () => () <#: raw\n float[1000] a = {}, float[2] b = {1.0, 2.0}> { }";
  OnnxlModel *model = read_text(ONNXL_STR(text));
  OnnxlTextOptions options = { .weights = ONNXL_WEIGHTS_FILE, .data_name = "w.bin" };
  char bytes[4000] = { 0 };
  OnnxlOutput out;
  GError *error = NULL;
  int calls = 0;

  model->proto.graph->initializer.items[0].raw_data = onnxl_str_n(bytes, sizeof bytes);
  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_text_write(&out, model, &options, refuse_to_move, &calls, NULL));
  expect_text(
    onnxl_output_memory(&out),
    "g () => ()\n   <\n      #: raw embed\n      float[1000] a = [\"location\": \"w.bin\", \"offset\": \"64\", "
    "\"length\": \"4000\"],\n      float[2] b = {1.0, 2.0}\n   >\n{\n}\n");
  CU_ASSERT_FALSE(onnxl_text_write(&out, model, &options, refuse_to_move, &calls, &error));
  CU_ASSERT_TRUE(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
  g_clear_error(&error);
  onnxl_output_clear(&out);
  onnxl_model_free(model);
}

/* What cannot be printed whole is not printed as if it were. */
static void
test_malformed(void)
{
  static const OnnxlStr bytes[] = { ONNXL_STR("\x80"), ONNXL_STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
                                    ONNXL_STR("abc") };
  for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
    OnnxlModel *model = read_text(ONNXL_STR("g () => () <int64[1] a = {}, float[1] b = {}> { }"));
    OnnxlTensor *tensors = model->proto.graph->initializer.items;
    OnnxlOutput out;
    GError *error = NULL;
    if (i < 2)
      tensors[0].int64_data.bytes = bytes[i];
    else
      tensors[1].float_data.bytes = bytes[i];
    onnxl_output_init(&out, -1);
    CU_ASSERT_FALSE(onnxl_text_write(&out, model, &inline_weights, NULL, NULL, &error));
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
    g_clear_error(&error);
    onnxl_output_clear(&out);
    onnxl_model_free(model);
  }
}

/* Any model is printed so that it reads back the same, field by field, and prints the same again. */
static void
test_round_trip(void)
{
  static const OnnxlTextOptions modes[] = {
    { .weights = ONNXL_WEIGHTS_INLINE },
    { .weights = ONNXL_WEIGHTS_INLINE, .elements = true },
    { .weights = ONNXL_WEIGHTS_ELIDE },
  };
  uint64_t first = g_getenv("ONNXL_SEED") ? g_ascii_strtoull(g_getenv("ONNXL_SEED"), NULL, 10) : 1;

  for (uint64_t seed = first; seed < first + 10000; seed++) {
    OnnxlModel *model = random_model(seed);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
      OnnxlOutput out, again;
      OnnxlStr text = print(model, &modes[i], &out);
      OnnxlModel *copy = read_text(text);
      bool equal = modes[i].weights == ONNXL_WEIGHTS_ELIDE ||
                   onnxl_message_equal(&onnxl_model_descriptor, &model->proto, &copy->proto);
      bool fixed = onnxl_str_equal(print(copy, &modes[i], &again), text);
      CU_ASSERT_TRUE(equal);
      CU_ASSERT_TRUE(fixed);
      if (!equal || !fixed)
        fprintf(stderr, "ONNXL_SEED=%" G_GUINT64_FORMAT ", mode %zu\n", seed, i);
      onnxl_output_clear(&again);
      onnxl_output_clear(&out);
      onnxl_model_free(copy);
    }
    onnxl_model_free(model);
  }
}

UNIT_MAIN("text-write", { "types and values", test_values }, { "nodes", test_nodes }, { "attributes", test_attributes },
          { "tensors", test_tensors }, { "headers and functions", test_models }, { "layout", test_layout },
          { "elements", test_elements }, { "elided weights", test_elide }, { "references", test_references },
          { "moved payloads", test_moved_payloads }, { "malformed numbers", test_malformed },
          { "round trip of random models", test_round_trip })
