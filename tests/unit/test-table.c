#include "cli/table.h"

#include <math.h>

#include "unit.h"

static bool
writes(const OnnxlTable *table, OnnxlReportFormat format, const char *expected)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_table_write(table, format, &out);
  OnnxlStr text = onnxl_output_memory(&out);
  bool same = onnxl_str_is(text, expected);
  if (!same)
    printf("\n  wrote\n%s  instead of\n%s", text.data, expected);
  onnxl_output_clear(&out);
  return same;
}

static void
test_formats(void)
{
  static const OnnxlColumn columns[] = { { "name", false }, { "bytes", true }, { "note", false } };
  OnnxlTable *table = onnxl_table_new(columns, 3);
  onnxl_table_text(table, ONNXL_STR("日本"));
  onnxl_table_int64(table, 7);
  onnxl_table_none(table);
  onnxl_table_printf(table, "a%s", ",\"b\"");
  onnxl_table_double(table, 1234.5);
  onnxl_table_bool(table, true);
  onnxl_table_text(table, ONNXL_STR("x\ny"));
  onnxl_table_double(table, -NAN);
  onnxl_table_double(table, -INFINITY);
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_TABLE, "name    bytes  note\n"
                                                   "日本        7\n"
                                                   "a,\"b\"  1234.5  true\n"
                                                   "x\\ny     -nan  -inf\n"));
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_CSV, "name,bytes,note\n"
                                                 "日本,7,\n"
                                                 "\"a,\"\"b\"\"\",1234.5,true\n"
                                                 "\"x\ny\",-nan,-inf\n"));
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_JSON, "[\n"
                                                  " {\"name\": \"日本\", \"bytes\": 7, \"note\": null},\n"
                                                  " {\"name\": \"a,\\\"b\\\"\", \"bytes\": 1234.5, \"note\": true},\n"
                                                  " {\"name\": \"x\\ny\", \"bytes\": \"nan\", \"note\": \"-inf\"}\n"
                                                  "]\n"));
  onnxl_table_free(table);
}

static void
test_empty(void)
{
  static const OnnxlColumn columns[] = { { "a", false } };
  OnnxlTable *table = onnxl_table_new(columns, 1);
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_TABLE, "a\n"));
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_CSV, "a\n"));
  CU_ASSERT_TRUE(writes(table, ONNXL_FORMAT_JSON, "[]\n"));
  onnxl_table_free(table);
}

/* A table with one cell: n times a text. */
static bool
shows(const char *text, size_t n, const char *shown, size_t n_shown, const char *below)
{
  static const OnnxlColumn columns[] = { { "a", false } };
  OnnxlTable *table = onnxl_table_new(columns, 1);
  g_autoptr(GString) cell = g_string_new(NULL), expected = g_string_new("a\n"), csv = g_string_new("a\n");
  for (size_t i = 0; i < n; i++)
    g_string_append(cell, text);
  for (size_t i = 0; i < n_shown; i++)
    g_string_append(expected, shown);
  g_string_append(expected, below);
  g_string_append_printf(csv, "%s\n", cell->str);
  onnxl_table_text(table, onnxl_str(cell->str));
  bool same =
    writes(table, ONNXL_FORMAT_TABLE, expected->str) && (text[0] == '\n' || writes(table, ONNXL_FORMAT_CSV, csv->str));
  onnxl_table_free(table);
  return same;
}

static void
test_cut(void)
{
#define CUT "...\n1 cell is wider than 4000 columns, cut where '...' stands: --format=csv has all\n"
  CU_ASSERT_TRUE(shows("x", 4000, "x", 4000, "\n"));
  CU_ASSERT_TRUE(shows("x", 4001, "x", 3997, CUT));
  CU_ASSERT_TRUE(shows("x", 1000000, "x", 3997, CUT));
  /* Two columns each, of which none is cut in two; what is escaped counts as it is shown. */
  CU_ASSERT_TRUE(shows("日", 2000, "日", 2000, "\n"));
  CU_ASSERT_TRUE(shows("日", 2001, "日", 1998, CUT));
  CU_ASSERT_TRUE(shows("\n", 2000, "\\n", 2000, "\n"));
  CU_ASSERT_TRUE(shows("ß", 4001, "ß", 3997, CUT));
}

UNIT_MAIN("table", { "formats", test_formats }, { "empty", test_empty }, { "cut", test_cut })
