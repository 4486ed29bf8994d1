#include "cli/report.h"

#include "support/error.h"
#include "unit.h"

static const OnnxlReportStyle plain = { .tool = "onnxl-x", .max_errors = 20 };

static bool
reports(const OnnxlReportStyle *style, const OnnxlDiagSink *sink, const char *expected)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_report_diags(&out, style, sink);
  OnnxlStr text = onnxl_output_memory(&out);
  bool same = onnxl_str_is(text, expected);
  if (!same)
    printf("\n  reported\n%s  instead of\n%s", text.data, expected);
  onnxl_output_clear(&out);
  return same;
}

static bool
excerpt_is(const char *source, uint32_t column, uint32_t length, const char *expected)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new("f");
  onnxl_diag_sink_set_text(sink, onnxl_str(source));
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 1, .column = column, .length = length }, "m");
  char *all = g_strdup_printf("onnxl-x: f:1:%u: error: m [number]\n%s", column, expected);
  bool same = reports(&plain, sink, all);
  g_free(all);
  onnxl_diag_sink_free(sink);
  return same;
}

static void
test_excerpts(void)
{
  CU_ASSERT_TRUE(excerpt_is("g (float32 x)", 4, 7, "g (float32 x)\n   ^~~~~~~\n"));
  CU_ASSERT_TRUE(excerpt_is("ab", 3, 0, "ab\n  ^\n"));
  CU_ASSERT_TRUE(excerpt_is("é€ x\r\n", 7, 1, "é€ x\n   ^\n"));
  CU_ASSERT_TRUE(excerpt_is("a\tb", 3, 1, "a       b\n        ^\n"));
  CU_ASSERT_TRUE(excerpt_is("日本x", 4, 3, "日本x\n  ^~\n"));
  CU_ASSERT_TRUE(excerpt_is("\x1b[31m\xffx", 7, 1, "?[31m?x\n      ^\n"));
  CU_ASSERT_TRUE(excerpt_is("abc", 2, 100, "abc\n ^~\n"));
}

static void
test_long_line(void)
{
  char line[2001], expected[512], dashes[60];
  memset(line, '-', sizeof line - 1);
  line[2000] = '\0';
  line[1000] = 'X';
  memset(dashes, '-', sizeof dashes);
  snprintf(expected, sizeof expected, "...%.50sX%.49s\n%53s^\n", dashes, dashes, "");
  CU_ASSERT_TRUE(excerpt_is(line, 1001, 1, expected));
}

static void
test_places(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .file = "f", .has_offset = true, .offset = 0x1f }, "a");
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, &(OnnxlLocation){ .file = "f", .path = "/then/conv\n1 (Conv)" }, "b");
  onnxl_diag_note(sink, NULL, "c");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .file = "f" }, "d\x1b");
  CU_ASSERT_TRUE(reports(&plain, sink,
                         "onnxl-x: f:@0x1f: error: a [number]\n"
                         "onnxl-x: f:/then/conv\\n1 (Conv): warning: b [elided]\n"
                         "onnxl-x: note: c [elided]\n"
                         "onnxl-x: f: error: d\\x1b [number]\n"));
  OnnxlReportStyle quiet = plain;
  quiet.quiet = true;
  CU_ASSERT_TRUE(reports(&quiet, sink,
                         "onnxl-x: f:@0x1f: error: a [number]\n"
                         "onnxl-x: f: error: d\\x1b [number]\n"));
  OnnxlReportStyle json = plain;
  json.json = true;
  json.quiet = true;
  CU_ASSERT_TRUE(reports(&json, sink,
                         "{\"tool\": \"onnxl-x\", \"severity\": \"error\", \"id\": \"number\", \"file\": \"f\", "
                         "\"offset\": 31, \"message\": \"a\"}\n"
                         "{\"tool\": \"onnxl-x\", \"severity\": \"error\", \"id\": \"number\", \"file\": \"f\", "
                         "\"message\": \"d\\u001b\"}\n"));
  onnxl_diag_sink_free(sink);
}

static void
test_more_errors(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  OnnxlReportStyle one = plain;
  one.max_errors = 1;
  onnxl_diag_sink_set_max_errors(sink, 1);
  for (int i = 0; i < 3; i++)
    onnxl_diag(sink, ONNXL_DIAG_NUMBER, NULL, "a");
  CU_ASSERT_TRUE(
    reports(&one, sink, "onnxl-x: error: a [number]\nonnxl-x: 2 more errors (--max-errors=0 shows all)\n"));
  onnxl_diag_sink_free(sink);
}

static void
test_error(void)
{
  OnnxlOutput out;
  GError *error = NULL;
  OnnxlReportStyle json = plain;
  json.json = true;
  onnxl_fail(&error, ONNXL_ERROR_IO, "cannot open %s", "a\nb");
  onnxl_output_init(&out, -1);
  onnxl_report_error(&out, &plain, error);
  onnxl_report_error(&out, &json, error);
  CU_ASSERT_TRUE(
    onnxl_str_is(onnxl_output_memory(&out),
                 "onnxl-x: cannot open a\\nb\n{\"tool\": \"onnxl-x\", \"severity\": \"error\", \"id\": null, "
                 "\"message\": \"cannot open a\\nb\"}\n"));
  onnxl_output_clear(&out);
  g_clear_error(&error);
}

UNIT_MAIN("report", { "excerpts", test_excerpts }, { "a long line", test_long_line }, { "places", test_places },
          { "more errors", test_more_errors }, { "error", test_error })
