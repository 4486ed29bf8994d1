#include "support/diag.h"

#include "unit.h"

static void
test_findings(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new("a.onnxtxt");
  onnxl_diag_sink_set_text(sink, ONNXL_STR("one\ntwo\r\nthree"));
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 3, .column = 2 }, "value %d", 5);
  onnxl_diag_note(sink, NULL, "why");
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, &(OnnxlLocation){ .path = "/a", .file = "b" }, "w");
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 3);
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 1);
  CU_ASSERT_EQUAL(onnxl_diag_warnings(sink), 1);
  const OnnxlDiag *diag = onnxl_diag_get(sink, 0);
  CU_ASSERT_STRING_EQUAL(diag->message, "value 5");
  CU_ASSERT_STRING_EQUAL(diag->location.file, "a.onnxtxt");
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_str_n(diag->source, diag->source_size), "three"));
  CU_ASSERT_EQUAL(onnxl_diag_get(sink, 1)->severity, ONNXL_SEVERITY_NOTE);
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(sink, 2)->location.file, "b");
  CU_ASSERT_STRING_EQUAL(onnxl_diag_get(sink, 2)->location.path, "/a");
  CU_ASSERT_STRING_EQUAL(onnxl_diag_id_text(diag->id), "number");
  onnxl_diag_sink_free(sink);
}

static void
test_options(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  CU_ASSERT_FALSE(onnxl_diag_sink_configure(sink, "no-such-thing"));
  CU_ASSERT_FALSE(onnxl_diag_sink_configure(sink, "error=nothing"));
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "no-elided"));
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, NULL, "dropped");
  onnxl_diag_note(sink, NULL, "dropped with it");
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 0);
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "elided"));
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, NULL, "back");
  CU_ASSERT_EQUAL(onnxl_diag_warnings(sink), 1);
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "error=elided"));
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, NULL, "now an error");
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 1);
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "error"));
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "no-error=elided"));
  onnxl_diag(sink, ONNXL_DIAG_ELIDED, NULL, "not an error");
  onnxl_diag(sink, ONNXL_DIAG_KEY_TWICE, NULL, "an error");
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 2);
  /* An id that starts with "no-", and an error, which cannot be dropped. */
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "no-bool"));
  CU_ASSERT_TRUE(onnxl_diag_sink_configure(sink, "no-no-bool"));
  onnxl_diag(sink, ONNXL_DIAG_NO_BOOL, NULL, "an error");
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 3);
  onnxl_diag_sink_free(sink);
}

static void
test_max_errors(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  for (int i = 0; i < 30; i++) {
    onnxl_diag(sink, ONNXL_DIAG_NUMBER, NULL, "%d", i);
    onnxl_diag_note(sink, NULL, "note %d", i);
  }
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 30);
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 40);
  onnxl_diag_sink_set_max_errors(sink, 0);
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, NULL, "kept");
  CU_ASSERT_EQUAL(onnxl_diag_count(sink), 41);
  onnxl_diag_sink_free(sink);
}

static void
test_sort(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 9, .column = 1 }, "d");
  onnxl_diag_note(sink, &(OnnxlLocation){ .line = 1, .column = 1 }, "d note");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .path = "/x" }, "stays second");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 2, .column = 7 }, "b");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 2, .column = 3 }, "a");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 2, .column = 7 }, "c");
  onnxl_diag_sort(sink);
  static const char *const expected[] = { "a", "stays second", "b", "c", "d", "d note" };
  CU_ASSERT_EQUAL_FATAL(onnxl_diag_count(sink), 6);
  for (size_t i = 0; i < 6; i++)
    CU_ASSERT_STRING_EQUAL(onnxl_diag_get(sink, i)->message, expected[i]);
  onnxl_diag_sink_free(sink);
}

/* Huge messages and lines, and places beyond the text. */
static void
test_hostile(void)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  GString *text = g_string_new(NULL);
  for (int i = 0; i < 20000; i++)
    g_string_append(text, "é");
  onnxl_diag_sink_set_text(sink, onnxl_str_n(text->str, text->len));
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 1, .column = 30001, .length = UINT32_MAX }, "%s",
             text->str);
  const OnnxlDiag *diag = onnxl_diag_get(sink, 0);
  CU_ASSERT_TRUE(strlen(diag->message) <= 4096);
  CU_ASSERT_TRUE(onnxl_str_is_utf8(onnxl_str(diag->message)));
  CU_ASSERT_TRUE(diag->source_size <= 2048 && diag->source_size > 0);
  CU_ASSERT_EQUAL(diag->source_column, 30001 - 512);
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 99, .column = 1 }, "no such line");
  onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 1, .column = UINT32_MAX }, "no such column");
  CU_ASSERT_PTR_NULL(onnxl_diag_get(sink, 1)->source);
  CU_ASSERT_PTR_NULL(onnxl_diag_get(sink, 2)->source);
  onnxl_diag_sink_set_max_errors(sink, 0);
  for (int i = 0; i < 50000; i++)
    onnxl_diag(sink, ONNXL_DIAG_NUMBER, &(OnnxlLocation){ .line = 1, .column = 1 }, "%.5000s", text->str);
  CU_ASSERT_EQUAL(onnxl_diag_errors(sink), 50003);
  CU_ASSERT_TRUE(onnxl_diag_count(sink) < 50000);
  onnxl_diag_sink_free(sink);
  g_string_free(text, TRUE);
}

/* Rows with the same id stand next to each other, and every row says something. */
static void
test_table(void)
{
  for (int i = 0; i < ONNXL_N_DIAGS; i++) {
    CU_ASSERT_TRUE(strlen(onnxl_diag_id_summary((OnnxlDiagId)i)) > 0);
    for (int j = i + 2; j < ONNXL_N_DIAGS; j++)
      CU_ASSERT_STRING_NOT_EQUAL(onnxl_diag_id_text((OnnxlDiagId)i), onnxl_diag_id_text((OnnxlDiagId)j));
  }
}

UNIT_MAIN("diag", { "findings", test_findings }, { "-W options", test_options }, { "--max-errors", test_max_errors },
          { "sort", test_sort }, { "hostile", test_hostile }, { "table", test_table })
