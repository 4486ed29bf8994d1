#include "cli/bindings.h"

#include "cli/depfile.h"
#include "support/error.h"
#include "unit.h"

static bool
parse(OnnxlBindings *bindings, bool many, const char *a, const char *b)
{
  OnnxlStringList texts = { NULL, 0 };
  GError *error = NULL;
  onnxl_string_list_add(&texts, a);
  if (b)
    onnxl_string_list_add(&texts, b);
  bool ok = onnxl_bindings_parse(bindings, "--dim", &texts, many, &error);
  CU_ASSERT_EQUAL(ok, error == NULL);
  CU_ASSERT_TRUE(!error || g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_USAGE));
  g_clear_error(&error);
  onnxl_string_list_clear(&texts);
  return ok;
}

static void
test_bindings(void)
{
  OnnxlBindings bindings = { NULL, 0 };
  CU_ASSERT_TRUE(parse(&bindings, false, "a=b=8", "N=0"));
  CU_ASSERT_EQUAL_FATAL(bindings.count, 2);
  CU_ASSERT_TRUE(onnxl_str_is(bindings.items[0].name, "a=b"));
  CU_ASSERT_EQUAL(bindings.items[0].values[0], 8);
  CU_ASSERT_EQUAL(bindings.items[1].values[0], 0);
  onnxl_bindings_clear(&bindings);
  CU_ASSERT_TRUE(parse(&bindings, true, "N=1,8,32", "N=64"));
  CU_ASSERT_EQUAL_FATAL(bindings.count, 1);
  CU_ASSERT_EQUAL(bindings.items[0].n_values, 4);
  CU_ASSERT_EQUAL(bindings.items[0].values[3], 64);
  onnxl_bindings_clear(&bindings);
  static const char *const wrong[] = { "", "N", "=1", "N=", "N=x", "N=-1", "N=9223372036854775808", "N=1,2", "N=1.5" };
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
    CU_ASSERT_FALSE(parse(&bindings, false, wrong[i], NULL));
  CU_ASSERT_FALSE(parse(&bindings, true, "N=1,", NULL));
  CU_ASSERT_FALSE(parse(&bindings, true, "N=,1", NULL));
  CU_ASSERT_FALSE(parse(&bindings, false, "N=1", "N=1"));
}

static void
test_free(void)
{
  const char *texts[] = { "N=1", "a=b=2" };
  const OnnxlStringList dims = { texts, 2 };
  GError *error = NULL;
  CU_ASSERT_TRUE(onnxl_binding_check_free(ONNXL_STR("M"), "--eval", &dims, "--dim", &error));
  CU_ASSERT_TRUE(onnxl_binding_check_free(ONNXL_STR("a"), "--eval", &dims, "--dim", &error));
  CU_ASSERT_FALSE(onnxl_binding_check_free(ONNXL_STR("a=b"), "--eval", &dims, "--dim", &error));
  CU_ASSERT_STRING_EQUAL(error->message, "--eval a=b: --dim a=b=2 gives that symbol a value");
  g_clear_error(&error);
}

static void
test_depfile(void)
{
  const char *targets[] = { "out.onnx", "b" };
  const char *inputs[] = { "a b.onnx", "w$1#.data", "a b.onnx", "c\\ d" };
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_depfile_write(&out, &(OnnxlStringList){ targets, 2 }, &(OnnxlStringList){ inputs, 4 });
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), "out.onnx b: a\\ b.onnx \\\n w$$1\\#.data \\\n c\\\\\\ d\n"
                                                         "\na\\ b.onnx:\n\nw$$1\\#.data:\n\nc\\\\\\ d:\n"));
  onnxl_output_clear(&out);
}

static void
test_depfile_name(void)
{
  static const char *const names[][2] = {
    { "out.onnx", "out.d" }, { "a.b/out", "a.b/out.d" }, { "a/.x", "a/.x.d" }, { "x.tar.gz", "x.tar.d" }
  };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    char *name = onnxl_depfile_name(names[i][0]);
    CU_ASSERT_STRING_EQUAL(name, names[i][1]);
    g_free(name);
  }
}

UNIT_MAIN("bindings",
  { "bindings", test_bindings },
  { "free names", test_free },
  { "dependency file", test_depfile },
  { "name of the dependency file", test_depfile_name })
