#include "unit.h"

#include "proto/json.h"
#include "random-model.h"
#include "support/error.h"

static OnnxlStr
print(const OnnxlModel *model, OnnxlDiagSink *sink, OnnxlOutput *out)
{
  onnxl_output_init(out, -1);
  CU_ASSERT_TRUE(onnxl_model_to_json(out, model, sink, NULL));
  return onnxl_output_memory(out);
}

/* Reads text; wanted: the id of the only finding, or NULL when there must be none. Returns: owned, NULL when refused.
 */
static OnnxlModel *
read_json(OnnxlStr text, const char *wanted, const char *path)
{
  OnnxlModel *model = onnxl_model_new(1u << 30);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("json");
  GError *error = NULL;
  bool ok = onnxl_model_from_json(text, 200, model, sink, &error);

  CU_ASSERT_EQUAL(ok, wanted == NULL);
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), wanted ? 1 : 0);
  if (wanted && onnxl_diag_count(sink) > 0) {
    const OnnxlDiag *diag = onnxl_diag_get(sink, 0);
    CU_ASSERT_STRING_EQUAL(onnxl_diag_id_text(diag->id), wanted);
    CU_ASSERT_TRUE(g_strcmp0(diag->location.path, path) == 0);
    if (g_strcmp0(diag->location.path, path) != 0)
      fprintf(stderr, "%.*s: at %s, expected %s\n", ONNXL_ARG(text), diag->location.path, path);
  }
  g_clear_error(&error);
  onnxl_diag_sink_free(sink);
  if (ok)
    return model;
  onnxl_model_free(model);
  return NULL;
}

static void
test_mapping(void)
{
  static const char text[] =
    "{\n \"irVersion\": \"9223372036854775807\",\n \"graph\": {\n  \"node\": [\n   {\"name\": \"\", \"attribute\": ["
    "{\"type\": \"FLOAT\", \"f\": 0.1}, {\"type\": 77, \"s\": \"+/8=\"}, {\"f\": \"NaN\", \"floats\": [\"-Infinity\", "
    "-0.0], "
    "\"typeProtos\": [{\"tensorType\": {\"elemType\": 1}}]}]}\n  ],\n  \"initializer\": [\n   {\"int32Data\": [-1], "
    "\"int64Data\": [\"-1\"], \"rawData\": \"\", \"dataLocation\": \"EXTERNAL\", \"doubleData\": [1e+300], "
    "\"uint64Data\": [\"18446744073709551615\"]}\n  ]\n }\n}\n";
  OnnxlModel *model = read_json(ONNXL_STR(text), NULL, NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(model);
  const OnnxlAttributeList *attributes = &model->proto.graph->node.items[0].attribute;
  OnnxlDiagSink *sink = onnxl_diag_sink_new("json");
  OnnxlOutput out;

  CU_ASSERT_EQUAL(model->proto.ir_version, INT64_MAX);
  CU_ASSERT_EQUAL(attributes->items[0].f, 0.1f);
  CU_ASSERT_EQUAL(attributes->items[1].type, 77);
  CU_ASSERT_TRUE(onnxl_str_equal(attributes->items[1].s, ONNXL_STR("\xfb\xff")));
  CU_ASSERT_PTR_NOT_NULL(model->proto.graph->node.items[0].name.data);
  CU_ASSERT_TRUE(onnxl_str_is(print(model, sink, &out), text));
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 0);
  onnxl_output_clear(&out);
  onnxl_diag_sink_free(sink);
  onnxl_model_free(model);
}

/* Other ways to say the same that the mapping allows. */
static void
test_leniency(void)
{
  static const char *const texts[] = {
    "{\"ir_version\": 8, \"graph\": {\"initializer\": [{\"rawData\": \"-_8\", \"dims\": [2e0]}]}}",
    "\xef\xbb\xbf {\"irVersion\": \"8\", \"docString\": null, \"graph\": {\"initializer\": [{\"raw_data\": \"+/8\", "
    "\"dims\": [2], \"floatData\": []}]}}",
    "{\"irVersion\": 8.0, \"graph\": {\"initializer\": [{\"rawData\": \"+/8=\", \"dims\": [\"2\"]}]}}",
  };
  OnnxlModel *first = read_json(onnxl_str(texts[0]), NULL, NULL);

  for (size_t i = 1; i < G_N_ELEMENTS(texts); i++) {
    OnnxlModel *model = read_json(onnxl_str(texts[i]), NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model);
    CU_ASSERT_TRUE(onnxl_message_equal(&onnxl_model_descriptor, &first->proto, &model->proto));
    onnxl_model_free(model);
  }
  onnxl_model_free(first);
}

static void
test_refusals(void)
{
  static const struct {
    const char *text;
    const char *path; /* NULL: a place in the text */
  } rows[] = {
    { "{\"irVersion\": 8,}", NULL },
    { "{\"irVersion\": 8", NULL },
    { "{\"irVersion\": 8, \"irVersion\": 9}", NULL },
    { "{\"irVersion\": 8, \"ir_version\": 9}", "ir_version" },
    { "{\"irVersoin\": 8}", "irVersoin" },
    { "{\"irVersion\": 8.5}", "irVersion" },
    { "{\"irVersion\": \"eight\"}", "irVersion" },
    { "{\"irVersion\": \"9223372036854775808\"}", "irVersion" },
    { "{\"producerName\": 1}", "producerName" },
    { "{\"graph\": []}", "graph" },
    { "{\"graph\": {\"node\": {}}}", "graph.node" },
    { "{\"graph\": {\"node\": [null]}}", "graph.node[0]" },
    { "{\"graph\": {\"node\": [{}, {\"attribute\": [{\"type\": \"FLOTA\"}]}]}}", "graph.node[1].attribute[0].type" },
    { "{\"graph\": {\"node\": [{\"attribute\": [{\"f\": 1e39}]}]}}", "graph.node[0].attribute[0].f" },
    { "{\"graph\": {\"node\": [{\"attribute\": [{\"s\": \"a*\"}]}]}}", "graph.node[0].attribute[0].s" },
    { "{\"graph\": {\"node\": [{\"attribute\": [{\"s\": \"abcde\"}]}]}}", "graph.node[0].attribute[0].s" },
    { "{\"graph\": {\"initializer\": [{\"dataType\": 2147483648}]}}", "graph.initializer[0].dataType" },
    { "{\"graph\": {\"initializer\": [{\"uint64Data\": [-1]}]}}", "graph.initializer[0].uint64Data[0]" },
    { "{\"graph\": {\"input\": [{\"type\": {\"tensorType\": {}, \"mapType\": {}}}]}}", "graph.input[0].type.mapType" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    CU_ASSERT_PTR_NULL(read_json(onnxl_str(rows[i].text), "json", rows[i].path));
}

/* What a small text can make us allocate is bounded, and so is the nesting. */
static void
test_limits(void)
{
  GString *text = g_string_new("{\"graph\": {\"node\": [");
  OnnxlDiagSink *sink = onnxl_diag_sink_new("json");
  GError *error = NULL;

  for (int i = 0; i < 100000; i++)
    g_string_append(text, i > 0 ? ",{}" : "{}");
  g_string_append(text, "]}}");
  OnnxlModel *model = onnxl_model_new(1 << 20);
  CU_ASSERT_FALSE(onnxl_model_from_json(onnxl_str_n(text->str, text->len), 200, model, sink, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  g_clear_error(&error);
  onnxl_model_free(model);

  g_string_assign(text, "{\"graph\": ");
  for (int i = 0; i < 5; i++)
    g_string_append(text, "{\"node\": [{\"attribute\": [{\"g\": ");
  g_string_append(text, "{}");
  for (int i = 0; i < 5; i++)
    g_string_append(text, "}]}]}");
  g_string_append(text, "}");
  for (uint32_t depth = 15; depth <= 16; depth++) {
    model = onnxl_model_new(1 << 20);
    CU_ASSERT_EQUAL(onnxl_model_from_json(onnxl_str_n(text->str, text->len), depth, model, sink, &error), depth == 16);
    CU_ASSERT_EQUAL(error != NULL && g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT), depth < 16);
    g_clear_error(&error);
    onnxl_model_free(model);
  }
  onnxl_diag_sink_free(sink);
  g_string_free(text, TRUE);
}

static void
test_round_trip(void)
{
  for (uint64_t seed = 1; seed <= 10000; seed++) {
    OnnxlModel *model = random_model_of(seed, true);
    OnnxlDiagSink *sink = onnxl_diag_sink_new("json");
    OnnxlOutput out;
    OnnxlStr text = print(model, sink, &out);
    OnnxlModel *copy = read_json(text, NULL, NULL);
    CU_ASSERT_EQUAL(onnxl_diag_count(sink), 0);
    bool equal = copy && onnxl_message_equal(&onnxl_model_descriptor, &model->proto, &copy->proto);
    CU_ASSERT_TRUE(equal);
    if (!equal)
      fprintf(stderr, "seed %" G_GUINT64_FORMAT "\n", seed);
    onnxl_output_clear(&out);
    onnxl_diag_sink_free(sink);
    onnxl_model_free(copy);
    onnxl_model_free(model);
  }
}

/* What cannot be said is warned of, and the rest is there. */
static void
test_losses(void)
{
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("json");
  OnnxlOutput out;

  *ONNXL_APPEND(model->arena, &model->proto.message.unknown) = (OnnxlUnknownField){ .number = 99, .value = 1 };
  model->proto.producer_name = ONNXL_STR("caf\xe9");
  OnnxlStr text = print(model, sink, &out);
  CU_ASSERT_TRUE(onnxl_str_is(text, "{\n \"producerName\": \"caf\xef\xbf\xbd\"\n}\n"));
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 2);
  CU_ASSERT_STRING_EQUAL(onnxl_diag_id_text(onnxl_diag_get(sink, 0)->id), "lossy");
  onnxl_output_clear(&out);
  onnxl_diag_sink_free(sink);
  onnxl_model_free(model);
}

UNIT_MAIN("json-model", { "mapping", test_mapping }, { "leniency", test_leniency }, { "refusals", test_refusals },
          { "limits", test_limits }, { "round trip of random models", test_round_trip }, { "losses", test_losses })
