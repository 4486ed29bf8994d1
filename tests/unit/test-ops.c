#include "ops/list.h"
#include "ops/ops.h"

#include "unit.h"

static const OnnxlOpSchema *
find(const char *domain, const char *name, int64_t opset)
{
  return onnxl_op_find(onnxl_str(domain), onnxl_str(name), opset);
}

/* The next numbers change with every row that is added, and are meant to: no row gets lost unnoticed. */
static void
test_counts(void)
{
  uint32_t inputs = 0, outputs = 0, attributes = 0, constraints = 0, deprecated = 0, functions = 0, random = 0;
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema(op);
    inputs += schema->n_inputs;
    outputs += schema->n_outputs;
    attributes += schema->n_attributes;
    constraints += schema->n_constraints;
    deprecated += schema->deprecated;
    functions += schema->has_function_body;
    random += schema->nondeterministic;
  }
  CU_ASSERT_EQUAL(ONNXL_N_OPS, 646);
  CU_ASSERT_EQUAL(inputs + outputs, 1880 + 33);
  CU_ASSERT_EQUAL(attributes, 1326 + 11);
  CU_ASSERT_EQUAL(constraints, 928);
  CU_ASSERT_EQUAL(deprecated, 5);
  CU_ASSERT_EQUAL(functions, 72 + 1);
  CU_ASSERT_EQUAL(random, 48);
}

static bool
is_terminated(const char *text, size_t size)
{
  return memchr(text, '\0', size) != NULL;
}
#define TERMINATED(array) is_terminated(array, sizeof(array))

static void
check_params(const OnnxlOpSchema *schema, const OnnxlOpParam *params, uint8_t n, int32_t min, int32_t max)
{
  bool many = n > 0 && params[n - 1].option == ONNXL_PARAM_VARIADIC;
  CU_ASSERT_EQUAL(max, many ? INT32_MAX : n);
  CU_ASSERT_TRUE(min >= 0 && min <= max);
  for (uint8_t i = 0; i < n; i++) {
    const OnnxlOpParam *param = &params[i];
    CU_ASSERT_TRUE(TERMINATED(param->name) && TERMINATED(param->type));
    CU_ASSERT_TRUE(i + 1 == n || param->option != ONNXL_PARAM_VARIADIC);
    CU_ASSERT_TRUE(param->option != ONNXL_PARAM_SINGLE || i < min);
    CU_ASSERT_TRUE(!param->heterogeneous || param->option == ONNXL_PARAM_VARIADIC);
    bool known = g_str_has_prefix(param->type, "tensor(");
    for (uint8_t j = 0; j < schema->n_constraints; j++)
      known |= strcmp(schema->constraints[j].name, param->type) == 0;
    CU_ASSERT_TRUE(known);
  }
}

/* What the compiler cannot check in a row. */
static void
test_rows_are_sound(void)
{
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema(op);
    CU_ASSERT_EQUAL(schema->op, op);
    CU_ASSERT_TRUE(schema->since > 0);
    CU_ASSERT_TRUE(TERMINATED(schema->domain) && TERMINATED(schema->name));
    CU_ASSERT_TRUE(TERMINATED(schema->shape_rule) && TERMINATED(schema->kernel));
    check_params(schema, schema->inputs, schema->n_inputs, schema->min_inputs, schema->max_inputs);
    check_params(schema, schema->outputs, schema->n_outputs, schema->min_outputs, schema->max_outputs);
    CU_ASSERT_TRUE(schema->inplace == 0 || schema->inplace == UINT32_MAX || schema->inplace >> schema->n_inputs == 0);
    for (uint8_t i = 0; i < schema->n_attributes; i++) {
      const OnnxlOpAttribute *attribute = &schema->attributes[i];
      CU_ASSERT_TRUE(TERMINATED(attribute->name) && TERMINATED(attribute->default_text));
      CU_ASSERT_PTR_NULL(strchr(attribute->default_text, '\\'));
      if (attribute->type == ONNXL_ATTRIBUTE_STRING && attribute->default_text[0])
        CU_ASSERT_TRUE(attribute->default_text[0] == '"' && g_str_has_suffix(attribute->default_text, "\""));
      CU_ASSERT_FALSE(attribute->required && attribute->default_text[0]);
    }
    for (uint8_t i = 0; i < schema->n_constraints; i++) {
      const OnnxlOpConstraint *constraint = &schema->constraints[i];
      CU_ASSERT_TRUE(TERMINATED(constraint->name));
      CU_ASSERT_TRUE(constraint->tensor || constraint->sequence || constraint->optional_tensor || constraint->others);
    }
  }
}

/* Look-up relies on an operator's versions standing together, oldest first, nowhere else. */
static void
test_every_version_is_found(void)
{
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema(op);
    CU_ASSERT_PTR_EQUAL(find(schema->domain, schema->name, schema->since), schema);
    const OnnxlOpSchema *older = find(schema->domain, schema->name, schema->since - 1);
    CU_ASSERT_TRUE(older == NULL || older == schema - 1);
  }
}

static void
test_find(void)
{
  CU_ASSERT_EQUAL(find("", "Softmax", 12)->op, ONNXL_OP_ONNX_Softmax_11);
  CU_ASSERT_EQUAL(find("ai.onnx", "Softmax", 13)->op, ONNXL_OP_ONNX_Softmax_13);
  CU_ASSERT_EQUAL(find("", "Softmax", INT64_MAX)->op, ONNXL_OP_ONNX_Softmax_13);
  CU_ASSERT_PTR_NULL(find("", "Softmax", 0));
  CU_ASSERT_PTR_NULL(find("", "Softmax", -1));
  CU_ASSERT_PTR_NULL(find("", "Mish", 17));
  CU_ASSERT_PTR_NULL(find("", "softmax", 13));
  CU_ASSERT_PTR_NULL(find("", "", 13));
  CU_ASSERT_PTR_NULL(find("ai.onnx.ml", "Softmax", 13));
  CU_ASSERT_PTR_NULL(find("com.example", "Softmax", 13));
  CU_ASSERT_EQUAL(find("", "Attention", 23)->op, ONNXL_OP_ONNX_Attention_23);
  CU_ASSERT_EQUAL(find("com.microsoft", "Attention", 1)->op, ONNXL_OP_MICROSOFT_Attention_1);
  CU_ASSERT_TRUE(find("", "Upsample", 10)->deprecated);
  CU_ASSERT_PTR_NULL(onnxl_op_find(ONNXL_STR("ai.onnx"), onnxl_str_n("Softmax\0", 8), 13));
}

static void
test_newest(void)
{
  CU_ASSERT_EQUAL(onnxl_op_newest(ONNXL_STR("")), 28);
  CU_ASSERT_EQUAL(onnxl_op_newest(ONNXL_STR("ai.onnx")), 28);
  CU_ASSERT_EQUAL(onnxl_op_newest(ONNXL_STR("ai.onnx.ml")), 5);
  CU_ASSERT_EQUAL(onnxl_op_newest(ONNXL_STR("com.microsoft")), 1);
  CU_ASSERT_EQUAL(onnxl_op_newest(ONNXL_STR("com.example")), 0);
}

static void
test_schema(void)
{
  const OnnxlOpSchema *clip = find("", "Clip", 13);
  CU_ASSERT_EQUAL(clip->min_inputs, 1);
  CU_ASSERT_EQUAL(clip->max_inputs, 3);
  CU_ASSERT_STRING_EQUAL(clip->inputs[1].name, "min");
  CU_ASSERT_EQUAL(clip->inputs[1].option, ONNXL_PARAM_OPTIONAL);
  CU_ASSERT_STRING_EQUAL(clip->outputs[0].type, "T");
  CU_ASSERT_TRUE(clip->constraints[0].tensor & 1u << ONNXL_TYPE_BFLOAT16);
  CU_ASSERT_FALSE(clip->constraints[0].tensor & 1u << ONNXL_TYPE_STRING);
  CU_ASSERT_EQUAL(clip->inplace, 1);

  const OnnxlOpSchema *loop = find("", "Loop", 13);
  CU_ASSERT_EQUAL(loop->max_inputs, INT32_MAX);
  CU_ASSERT_TRUE(loop->inputs[2].heterogeneous);
  CU_ASSERT_TRUE(loop->constraints[0].sequence != 0);

  const OnnxlOpSchema *zip = find("ai.onnx.ml", "ZipMap", 1);
  CU_ASSERT_STRING_EQUAL(zip->constraints[0].others[0], "seq(map(int64, float))");

  const OnnxlOpSchema *rnn = find("", "RNN", 22);
  for (uint8_t i = 0; i < rnn->n_attributes; i++)
    if (strcmp(rnn->attributes[i].name, "activations") == 0)
      CU_ASSERT_STRING_EQUAL(rnn->attributes[i].default_text, "[\"Tanh\", \"Tanh\"]");

  CU_ASSERT_EQUAL(find("", "Add", 14)->inplace, 3);
  CU_ASSERT_EQUAL(find("", "Where", 16)->inplace, 7);
  CU_ASSERT_EQUAL(find("", "Sum", 13)->inplace, UINT32_MAX);
  CU_ASSERT_EQUAL(find("", "MatMul", 13)->inplace, 0);
}

static void
test_attributes(void)
{
  const OnnxlOpSchema *gemm = find("", "Gemm", 13);
  const OnnxlOpSchema *pad = find("", "Pad", 19);
  int64_t list[] = { 3, 4 };
  OnnxlAttribute attributes[] = {
    { .name = ONNXL_STR("transA"), .has_type = true, .type = ONNXL_ATTRIBUTE_INT, .has_i = true, .i = 7 },
    { .name = ONNXL_STR("beta"), .has_f = true, .f = 0.25f },
    { .name = ONNXL_STR("alpha"), .has_type = true, .type = ONNXL_ATTRIBUTE_INT, .has_i = true, .i = 2 },
    { .name = ONNXL_STR("transB"), .has_type = true, .type = ONNXL_ATTRIBUTE_INT, .ref_attr_name = ONNXL_STR("t") },
    { .name = ONNXL_STR("axes"), .has_type = true, .type = ONNXL_ATTRIBUTE_INTS, .ints = { list, 2 } },
    { .name = ONNXL_STR("text"), .has_type = true, .type = ONNXL_ATTRIBUTE_STRING, .s = ONNXL_STR("edge") },
  };
  OnnxlNode empty = { 0 };
  OnnxlNode node = { .attribute = { attributes, G_N_ELEMENTS(attributes) } };

  CU_ASSERT_EQUAL(onnxl_attr_int(gemm, &node, "transA"), 7);
  CU_ASSERT_EQUAL(onnxl_attr_float(gemm, &node, "beta"), 0.25f);
  CU_ASSERT_EQUAL(onnxl_attr_float(gemm, &node, "alpha"), 1.0f); /* of the wrong type */
  CU_ASSERT_EQUAL(onnxl_attr_int(gemm, &node, "transB"), 0);
  CU_ASSERT_EQUAL(onnxl_attr_ints(&node, "axes").count, 2);
  CU_ASSERT_EQUAL(onnxl_attr_ints(&node, "pads").count, 0);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_attr_string(pad, &node, "text"), "edge"));

  CU_ASSERT_TRUE(onnxl_str_is(onnxl_attr_string(pad, &empty, "mode"), "constant"));
  CU_ASSERT_PTR_NULL(onnxl_attr_string(pad, &empty, "none").data);
  CU_ASSERT_EQUAL(onnxl_attr_float(find("", "Selu", 6), &empty, "gamma"), 1.05070102214813232421875f);
  CU_ASSERT_EQUAL(onnxl_attr_int(find("", "TopK", 11), &empty, "axis"), -1);
  CU_ASSERT_EQUAL(onnxl_attr_int(NULL, &empty, "axis"), 0);
}

static char *
listing(OnnxlOpsFormat format)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_ops_list(&out, format);
  char *text = g_strdup(onnxl_output_memory(&out).data);
  onnxl_output_clear(&out);
  return text;
}

static void
test_list(void)
{
  char *table = listing(ONNXL_OPS_TABLE);
  char **lines = g_strsplit(table, "\n", -1);
  CU_ASSERT_TRUE(g_str_has_prefix(lines[0], "domain "));
  CU_ASSERT_TRUE(g_str_has_prefix(lines[1], "ai.onnx "));
  CU_ASSERT_PTR_NOT_NULL(strstr(lines[1], "  Abs  "));
  CU_ASSERT_PTR_NOT_NULL(strstr(lines[1], "  1,6,13  "));
  CU_ASSERT_EQUAL(g_strv_length(lines), 1 + 231 + 1);
  CU_ASSERT_PTR_NOT_NULL(strstr(table, "\ncom.microsoft"));
  g_strfreev(lines);
  g_free(table);

  char *csv = listing(ONNXL_OPS_CSV);
  CU_ASSERT_TRUE(g_str_has_prefix(csv, "domain,name,versions,shape,inplace,kernel\nai.onnx,Abs,1 6 13,"));
  g_free(csv);

  char *json = listing(ONNXL_OPS_JSON);
  CU_ASSERT_TRUE(
    g_str_has_prefix(json, "{\"operators\":[\n{\"domain\":\"ai.onnx\",\"name\":\"Abs\",\"versions\":[1,6,13],"));
  CU_ASSERT_PTR_NOT_NULL(strstr(json, "\"inplace\":[1,6,13]"));
  CU_ASSERT_TRUE(g_str_has_suffix(json, "]}\n]}\n"));
  g_free(json);
}

UNIT_MAIN("ops", { "counts", test_counts }, { "rows are sound", test_rows_are_sound },
          { "every version is found", test_every_version_is_found }, { "find", test_find }, { "newest", test_newest },
          { "schema", test_schema }, { "attributes", test_attributes }, { "list", test_list })
