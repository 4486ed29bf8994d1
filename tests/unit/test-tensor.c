#include "proto/tensor.h"

#include "model-text.h"
#include "support/error.h"

/* The view of the model's first initializer. */
static bool
view_first(TextModel *t, OnnxlTensorView *ret_view)
{
  return onnxl_tensor_view(&t->model->proto.graph->initializer.items[0], NULL, t->sink, ret_view, &t->error);
}

static void
check_bytes(const char *text, OnnxlStorage storage, const void *bytes, size_t size)
{
  TextModel t = text_model(text);
  OnnxlTensorView view;
  char dest[64] = { 0 };

  CU_ASSERT_TRUE_FATAL(view_first(&t, &view));
  CU_ASSERT_EQUAL(view.storage, storage);
  CU_ASSERT_EQUAL_FATAL(view.bytes, size);
  CU_ASSERT_TRUE(onnxl_tensor_decode(&view, dest));
  CU_ASSERT_EQUAL(memcmp(dest, bytes, size), 0);
  text_model_clear(&t);
}

static void
test_decode(void)
{
  check_bytes("g () => () <float[2] w = {1.0, -2.0}> { }", ONNXL_STORAGE_TYPED, (float[]){ 1, -2 }, 8);
  check_bytes("#: raw\ng () => () <float[2] w = {1.0, -2.0}> { }", ONNXL_STORAGE_RAW, (float[]){ 1, -2 }, 8);
  check_bytes("g () => () <int64[2] w = {-1, 5}> { }", ONNXL_STORAGE_TYPED, (int64_t[]){ -1, 5 }, 16);
  check_bytes("g () => () <int8[3] w = {-1, 5, 127}> { }", ONNXL_STORAGE_TYPED, (int8_t[]){ -1, 5, 127 }, 3);
  check_bytes("g () => () <uint32[1] w = {4294967295}> { }", ONNXL_STORAGE_TYPED, (uint32_t[]){ UINT32_MAX }, 4);
  check_bytes("g () => () <float16[2] w = {15360, 1}> { }", ONNXL_STORAGE_TYPED, (uint16_t[]){ 15360, 1 }, 4);
  check_bytes("g () => () <int4[3] w = {225, 3}> { }", ONNXL_STORAGE_TYPED, (uint8_t[]){ 225, 3 }, 2);
  check_bytes("g () => () <complex64[1] w = {1.0, 2.0}> { }", ONNXL_STORAGE_TYPED, (float[]){ 1, 2 }, 8);
  check_bytes("g () => () <float[0,7] w = {}> { }", ONNXL_STORAGE_NONE, "", 0);
}

static void
test_int64s(void)
{
  TextModel t = text_model("g () => () <int32[3] w = {-7, 0, 2147483647}, bool[2] b = {1, 0}> { }");
  OnnxlTensorView view;
  int64_t values[3];

  CU_ASSERT_TRUE_FATAL(view_first(&t, &view));
  CU_ASSERT_TRUE(onnxl_tensor_int64s(&view, values, 3));
  CU_ASSERT(values[0] == -7 && values[1] == 0 && values[2] == INT32_MAX);
  CU_ASSERT_FALSE(onnxl_tensor_int64s(&view, values, 4));
  text_model_clear(&t);
}

static void
check_bad(const char *text, OnnxlDiagId id)
{
  TextModel t = text_model(text);
  OnnxlTensorView view;
  size_t before = onnxl_diag_count(t.sink);

  CU_ASSERT_FALSE(view_first(&t, &view));
  CU_ASSERT_TRUE(g_error_matches(t.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CU_ASSERT_EQUAL_FATAL(onnxl_diag_count(t.sink), before + 1);
  CU_ASSERT_EQUAL(onnxl_diag_get(t.sink, before)->id, id);
  CU_ASSERT_PTR_NOT_NULL(strstr(onnxl_diag_get(t.sink, before)->message, "'w'"));
  text_model_clear(&t);
}

static void
test_misfits(void)
{
  check_bad("g () => () <float[3] w = {1.0, 2.0}> { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[1] w = {1.0, 2.0}> { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[2] w = > { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[-1] w = {1.0}> { }", ONNXL_DIAG_TENSOR_DIMS);
  check_bad("g () => () <float[4611686018427387904,4611686018427387904] w = {1.0}> { }", ONNXL_DIAG_TENSOR_DIMS);
  check_bad("g () => () <!77[1] w = {} !{int32_data: [1]}> { }", ONNXL_DIAG_DATA_TYPE);
  check_bad("g () => () <float[1] w = {} !{int32_data: [1]}> { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[1] w = {} !{float_data: [1.0], raw_data: !\"\\x00\\x00\\x80?\"}> { }",
            ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[1] w = {} !{raw_data: \"abc\"}> { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <string[1] w = {} !{raw_data: \"abcd\"}> { }", ONNXL_DIAG_PAYLOAD);
  check_bad("g () => () <float[2] w = [\"location\": \"f\", \"length\": \"4\"]> { }", ONNXL_DIAG_EXTERNAL);
  check_bad("g () => () <float[2] w = [\"location\": \"f\", \"offset\": \"-1\"]> { }", ONNXL_DIAG_EXTERNAL);
  check_bad(
    "g () => () <float[2] w = [\"location\": \"f\", \"offset\": \"9223372036854775807\", \"length\": \"8\"]> { }",
    ONNXL_DIAG_EXTERNAL);
  check_bad("g () => () <float[2] w = [\"offset\": \"0\"]> { }", ONNXL_DIAG_EXTERNAL);
}

static bool
collect_path(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  g_string_append_printf(data, "%s ", path);
  return true;
}

static void
test_visit(void)
{
  TextModel t = text_model("g (c) => (y) <float w = {1}> {\n"
                           "  k = Constant <value = float[1] {1.0}> ()\n"
                           "  [branch] y = If (c) <then_branch = t () => (a) <float u = {2}> { a = Neg (u) }> }\n"
                           "<domain: \"d\"> f () => (b) { [inner] b = Constant <value = float v {1.0}> () }");
  GString *paths = g_string_new(NULL);

  CU_ASSERT_TRUE(onnxl_model_visit_tensors(t.model, collect_path, paths, &t.error));
  CU_ASSERT_STRING_EQUAL(paths->str, "/w /#0/value /branch/then_branch/u /f/inner/value/v ");
  g_string_free(paths, TRUE);
  text_model_clear(&t);
}

UNIT_MAIN("tensor", { "decode", test_decode }, { "int64s", test_int64s }, { "misfits", test_misfits },
          { "visit", test_visit })
