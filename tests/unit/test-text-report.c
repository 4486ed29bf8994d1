#include "unit.h"

#include "proto/text.h"
#include "support/error.h"

/* Texts with one finding: the tables of the format's page (section 5); from FIRST_WARNING on it is a warning. */
typedef struct Row {
  int row;
  const char *text;
  uint32_t line, column;
  const char *id;
  const char *message;
} Row;

enum { FIRST_WARNING = 52 };

/* clang-format off */
static const Row rows[] = {
  { 1, "g (x) => (y)", 1, 13, "expected",
    "expected `{` with the nodes of graph `g`, found end of file" },
  { 2, "g (x) -> (y) { }", 1, 7, "expected",
    "expected `=>`, found `->`" },
  { 3, "g (x) = > (y) { }", 1, 7, "arrow",
    "`=` and `>` of `=>` must touch" },
  { 4, "g () => () { } }", 1, 16, "stray-close",
    "nothing is open that `}` could close" },
  { 5, "g (float32[2] x) => () { }", 1, 4, "unknown-type",
    "unknown type `float32`; did you mean `float`?" },
  { 6, "g (map(seq(float), float) x) => () { }", 1, 8, "map-key",
    "a map key is an element type such as `int64` or `string`" },
  { 7, "g (float[2*N] x) => () { }", 1, 10, "dim-expr",
    "quote an expression: `\"2*N\"`" },
  { 8, "g (float[1.0] x) => () { }", 1, 10, "dim-int",
    "a dimension is an integer, a name or `?`" },
  { 9, "g (float[N,] x) => () { }", 1, 11, "trailing-comma",
    "remove the comma before `]`" },
  { 10, "g (float x, ) => () { }", 1, 11, "trailing-comma",
    "remove the comma before `)`" },
  { 11, "g (float) => () { }", 1, 4, "name-missing",
    "the type `float` is not followed by a name; a value called `float` is written `\"float\"`" },
  { 12, "g () => (float y = {1}) { }", 1, 18, "output-value",
    "an output takes no value; list it in `<…>` behind the outputs" },
  { 13, "g () => () { y = Neg (a/b) }", 1, 23, "quote-name",
    "a name like this is quoted: write `\"a/b\"`" },
  { 14, "g () => () { 13 = Neg (x) }", 1, 14, "quote-name",
    "a name like this is quoted: write `\"13\"`" },
  { 15, "g () => () { y = Neg ('x') }", 1, 23, "single-quote",
    "strings and names use double quotes" },
  { 16, "<opset_import: ['' : 15]> g () => () { }", 1, 17, "single-quote",
    "strings and names use double quotes" },
  { 17, "<ir_version = 8> g () => () { }", 1, 13, "expected",
    "expected `:` after a header key, found `=`" },
  { 18, "<ir_verison: 8> g () => () { }", 1, 2, "unknown-key",
    "unknown header key `ir_verison`; did you mean `ir_version`?" },
  { 19, "<ir_version: \"8\"> g () => () { }", 1, 14, "header-value",
    "`ir_version` takes an integer" },
  { 20, "<opset_import: [ai.onnx : 15]> g () => () { }", 1, 17, "header-value",
    "a domain is a string: `\"ai.onnx\"`" },
  { 21, "<opset_import: [\"\" : 17] producer_name: \"p\"> g () => () { }", 1, 26, "missing-comma",
    "expected `,` or `>` here" },
  { 22, "<> g () => () { }", 1, 2, "empty-list",
    "leave an empty header out" },
  { 23, "g () => () { y = Op <> (x) }", 1, 22, "empty-list",
    "leave an empty attribute list out" },
  { 24, "g () => () { y = Op <a = [1, 2.0]> (x) }", 1, 30, "list-mix",
    "a list of ints (from `1`) holds a float; write `1.0` first or annotate `floats`" },
  { 25, "g () => () { y = Op <a = []> (x) }", 1, 26, "empty-list-type",
    "an empty list needs a type: write `a: ints = []` (or floats, strings, …)" },
  { 26, "g () => () { y = Op <a: ints = 5> (x) }", 1, 32, "attr-type",
    "`ints` wants a list: `[5]`" },
  { 27, "g () => () { y = Op <a: int32 = 5> (x) }", 1, 25, "attr-type-name",
    "attribute types are `int`, `float`, …; `int32` is an element type" },
  { 28, "g () => () { y = Op <a = true> (x) }", 1, 26, "no-bool",
    "there is no boolean attribute; write `1`" },
  { 29, "g () => () { y = Op <a = 1e> (x) }", 1, 26, "number",
    "`1e` has an exponent without digits" },
  { 30, "g () => () { y = Op <a = .5> (x) }", 1, 26, "number",
    "a number starts with a digit: write `0.5`" },
  { 31, "g () => () { y = Op <a = +5> (x) }", 1, 26, "number",
    "a number has no plus sign" },
  { 32, "g () => () { y = Op <a = - 5> (x) }", 1, 26, "number",
    "a number has no blank after the minus sign" },
  { 33, "g () => () { y = Op <a = 0x10> (x) }", 1, 26, "number",
    "integers are decimal: `16`" },
  { 34, "g () => () { y = Op <a = 9223372036854775808> (x) }", 1, 26, "int-range",
    "9223372036854775808 does not fit in int64" },
  { 35, "g () => () { y = Op <a = 1e39> (x) }", 1, 26, "float-range",
    "1e39 does not fit in float" },
  { 36, "g () => () { y = Op <a = \"x> (x) }", 1, 26, "unterminated-string",
    "string not closed on any line" },
  { 37, "g () => () { y = Op <a = [@r]> (x) }", 1, 27, "ref-in-list",
    "a reference cannot stand in a list" },
  { 38, "g () => () { y = Op <a = 1> (x) <b = 2> }", 1, 33, "attrs-twice",
    "attributes stand before or after the inputs, not both" },
  { 39, "g () => () { y = Neg (x); }", 1, 25, "stray-char",
    "nodes need no separator" },
  { 40, "g () => () { y = Neg[x] }", 1, 21, "expected",
    "expected `(` and the inputs of `Neg`, found `[`" },
  { 41, "g () => () < float[N] w = {1} > { }", 1, 20, "tensor-dim",
    "a tensor with values needs numeric dimensions" },
  { 42, "g () => () < float[] w = {1} > { }", 1, 19, "tensor-rank",
    "a tensor with values needs a rank: `[]` is unknown rank; a scalar is `float w`" },
  { 43, "g () => () < w = {1} > { }", 1, 14, "initializer-type",
    "an initializer needs a type" },
  { 44, "g () => () < int32[1] w = {1.5} > { }", 1, 28, "int-literal",
    "int32 takes integers" },
  { 45, "g () => () < int32[1] w = {2147483648} > { }", 1, 28, "int-range",
    "2147483648 does not fit in int32" },
  { 46, "g () => () < float16[2] w = {1, 0.5} > { }", 1, 33, "half-mix",
    "`1` is a bit pattern here, `0.5` a value; write `1.0` or `![1, 0.5]`" },
  { 47, "g () => () < float[2] w {1, 2} > { }", 1, 25, "expected",
    "expected `=` between name and values, found `{`" },
  { 48, "g () => () { y = Op (x) !{foo: 1} }", 1, 27, "unknown-field",
    "NodeProto has no field `foo`" },
  { 49, "g () => () { y = Op (x) !{doc_string: \"a\", doc_string: \"b\"} }", 1, 44, "field-twice",
    "`doc_string` is set twice" },
  { 50, "g () => () { y = Op (x) !{op_type: \"Q\"} }", 1, 27, "field-twice",
    "`op_type` is given by the text" },
  { 51, "g () => () { y = Op (!\"\\q\") }", 1, 24, "escape",
    "unknown escape `\\q`; there are \\\\ \\\" \\n \\r \\t \\xHH \\u{H…}" },
  { 52, "#: rwa\ng () => () { }", 1, 4, "note-word",
    "unknown word `rwa`, the line is a comment; did you mean `raw`?" },
  { 53, "g () => () { y = Neg (x), z = Neg (y) }", 1, 25, "stray-comma",
    "this comma gives `z = …` an empty first output" },
  { 54, "g () => () < int8[1] w = {300} > { }", 1, 27, "value-range",
    "300 does not fit in int8 (kept in int32_data)" },
  { 55, "g () => () < float[3] w = {1, 2} > { }", 1, 27, "tensor-count",
    "2 values for 3 elements" },
  { 56, "g () => () { y = Op <a: int = [1, 2]> (x) }", 1, 25, "attr-type",
    "a list is `ints`" },
  { 57, "g () => () { y = Op <a = 1, a = 2> (x) }", 1, 29, "attr-twice",
    "attribute `a` appears twice" },
  { 58, "<ir_version: 7, ir_version: 8> g () => () { }", 1, 17, "key-twice",
    "`ir_version` is given twice; the last one counts" },
  { 59, "g () => () < float[2] w = [\"offset\": \"0\"] > { }", 1, 27, "no-location",
    "external data without `location`" },
  { 60, "g () => () < float[2] w = ... > { }", 1, 27, "elided",
    "the values were left out; the tensor has no payload" },
};
/* clang-format on */

/* A text with several findings, and where they are: "LINE:COLUMN ID". */
typedef struct Several {
  const char *text;
  const char *findings[12];
} Several;

#define NODES(text) "g () => () { " text " }"
#define ATTRIBUTES(text) "g () => () { y = Op <" text "> (x) }"
#define ENTRIES(text) "g () => () <" text "> { }"

/* clang-format off */
static const Several several[] = {
  { "g (float32[2] x) => (float[2*N] y) {\n   y = Neg (a/b)\n   z = Op <a = .5> (y);\n}\n",
    { "1:4 unknown-type", "1:28 dim-expr", "2:13 quote-name", "3:16 number", "3:23 stray-char" } },
  /* In a list the next comma ends what is skipped, in a node the next line, in brackets their closer. */
  { NODES("y = Op (a/b, c/d, e)\nz = Op (a:0)\n w/1 = Op ()\n x y = Op () z/1 = Op ()\n y = Op/2 ()\n"
          " y = Op <b/2 = 1> ()"),
    { "1:22 quote-name", "1:27 quote-name", "2:9 quote-name", "3:2 quote-name", "4:4 missing-comma", "5:6 quote-name",
      "6:10 quote-name" } },
  { NODES("y = Op (x) %\nz = Op () %"), { "1:25 stray-char", "2:11 stray-char" } },
  { NODES("y = Op [1, (2, 3] z/1, {\n w/1 = Op () }\n) ]\n v/1 = Op ()"), { "1:21 expected", "4:2 quote-name" } },
  { NODES("y = If <b = h (float32[1] x) => () { z/1 = Op () }, c = .5> (x)\nw/1 = Op ()"),
    { "1:29 unknown-type", "1:51 quote-name", "1:70 number", "2:1 quote-name" } },
  { "g (map(foo, float) x, seq(foo[1], 2) y, opaque(1) z) => () { }",
    { "1:8 unknown-type", "1:27 unknown-type", "1:48 quote-name" } },
  { "g (x => (y) { a/1 = Op () }", { "1:6 expected" } },
  { "g (x) => y { a/1 = Op () } f (x) = (y) { b/1 = Op () } } 5 { c/1 = Op () }",
    { "1:10 expected", "1:14 quote-name", "1:34 expected", "1:42 quote-name", "1:56 stray-close", "1:58 quote-name",
      "1:62 quote-name" } },
  { "hello, this is not a model", { "1:6 expected" } },
  { "", { "1:1 expected" } },
  { "# nothing\n\n", { "1:1 expected" } },
  { NODES("y = Op (x"), { "1:24 expected" } },
  { NODES("y = Op <s = \"abc> (x)\nz = Op (a/b)") "\n", { "1:26 unterminated-string", "2:9 quote-name" } },
  /* Positions are those of bytes; a byte order mark counts for nothing. */
  { "\xef\xbb\xbfg (\"\xc3\xa9\", a/b) => () { }", { "1:10 quote-name" } },
  { NODES("y = Op (x\xc2\xa0) z = Op (\xe2\x80\x9cx\xe2\x80\x9d)\ny = Op (\xff)"),
    { "1:23 stray-char", "1:35 stray-char", "2:9 stray-char" } },
  /* Headers. */
  { "<ir_version: x, producer_name: 3, opset_import: [\"\": \"x\", com.ms: 1], foo: 1, graph: 2> g () => () { }",
    { "1:14 header-value", "1:32 header-value", "1:54 header-value", "1:59 header-value", "1:71 unknown-key",
      "1:79 unknown-key" } },
  { "g () => () { } <domain: 1, ir_version: 2, name: \"f\"> f () => () { }",
    { "1:25 header-value", "1:28 unknown-key", "1:43 unknown-key" } },
  /* Attributes. */
  { ATTRIBUTES("a = [1, \"x\"], b = [\"x\", 1], c: ints = [1.5], d: string = 1, e: float = [], f: ints = [@r], "
               "g: int, h"),
    { "1:30 list-mix", "1:46 list-mix", "1:61 attr-type", "1:79 attr-type", "1:93 attr-type", "1:108 ref-in-list",
      "1:122 expected" } },
  { ATTRIBUTES("a = foo, b = foo[2], c = True, d = 1.5.2, e = 12abc, f = -x, g = 0x10, h = 1e+, i: foo = 1"),
    { "1:26 expected", "1:35 unknown-type", "1:47 no-bool", "1:57 number", "1:68 number", "1:79 number", "1:87 number",
      "1:97 number", "1:105 attr-type-name" } },
  { ATTRIBUTES("a = !\"\\u{d800}\", b = !\"\\xZ\", c = ! , d = 'x'"),
    { "1:28 escape", "1:45 escape", "1:55 expected", "1:63 single-quote" } },
  /* Tensors. */
  { ENTRIES("float[2] !{denotation: \"X\"} w = {1, 2}, float x !{doc_string: \"d\"} = {1}, seq(float) s = {1}, "
            "int8[1] i = {true}, int4[1] j = ![8], float[1] k = ![1], !77[1] l = {1}"),
    { "1:13 unknown-field", "1:80 expected", "1:87 initializer-type", "1:120 no-bool", "1:141 int-range",
      "1:158 expected", "1:176 unknown-type" } },
  { ENTRIES("float16[1] a = {65520.0}, float8e4m3fn[1] b = {500.0}, float[1] c = {!0x12}, int64[1] d = {1.0}, "
            "double[1] e = {1e999}, float16[2] f = {0.5, 1}"),
    { "1:29 float-range", "1:60 float-range", "1:82 number", "1:104 int-literal", "1:125 float-range",
      "1:154 half-mix" } },
  { ENTRIES("\n#: raw\nint8[1] a = {256}, int8[1] b = {-129}, uint64[1] c = {18446744073709551616}"),
    { "3:14 int-range", "3:33 int-range", "3:55 int-range" } },
  { ENTRIES("sparse_tensor(float[3]) w = {float[1] {1}, int64[1] 0}, "
            "sparse_tensor(int8[3]) v = {float[1] {1}, int64[1] {0}}"),
    { "1:65 expected", "1:97 expected" } },
  /* Blocks. */
  { NODES("y = Op (x) !{doc: \"a\", input: [\"b\"], 4/2: \"x\", 9/4: 1, 0/0: 1, metadata_props: [\"a\"], name: 1}"),
    { "1:27 unknown-field", "1:37 field-twice", "1:51 unknown-field", "1:63 int-range", "1:69 int-range",
      "1:97 expected", "1:106 expected" } },
  { "g (float[N !{dim_value: 1}] x, !{tensor_type: {}, map_type: {}} y) => () { }",
    { "1:14 field-twice", "1:51 field-twice" } },
  { "g () => () !{initializer: [float[1] a {1}], node: [{op_type: \"X\"}]} <float[1] w = {1}> { y = Op (x) }",
    { "1:14 field-twice", "1:45 field-twice" } },
  { ATTRIBUTES("a !{i: 5} = 3, b !{type: 1}: int"), { "1:26 field-twice", "1:41 field-twice" } },
};
/* clang-format on */

typedef struct Read {
  OnnxlModel *model;
  OnnxlDiagSink *sink;
  GError *error;
  bool ok;
} Read;

static Read
read_text(const char *text, const char *option)
{
  Read read = { onnxl_model_new(1 << 22), onnxl_diag_sink_new(NULL), NULL, false };

  onnxl_diag_sink_set_max_errors(read.sink, 0);
  if (option)
    CU_ASSERT_TRUE(onnxl_diag_sink_configure(read.sink, option));
  read.ok = onnxl_text_read(onnxl_str(text), 200, read.model, read.sink, &read.error);
  if (!read.ok)
    CU_ASSERT_TRUE(g_error_matches(read.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  return read;
}

static void
read_clear(Read *read)
{
  onnxl_model_free(read->model);
  onnxl_diag_sink_free(read->sink);
  g_clear_error(&read->error);
}

static void
check_row(const Row *row)
{
  Read read = read_text(row->text, NULL);
  OnnxlSeverity severity = row->row < FIRST_WARNING ? ONNXL_SEVERITY_ERROR : ONNXL_SEVERITY_WARNING;
  const OnnxlDiag *diag = onnxl_diag_count(read.sink) > 0 ? onnxl_diag_get(read.sink, 0) : NULL;

  bool right = diag && onnxl_diag_count(read.sink) == 1 && diag->severity == severity &&
               diag->location.line == row->line && diag->location.column == row->column &&
               strcmp(onnxl_diag_id_text(diag->id), row->id) == 0 && strcmp(diag->message, row->message) == 0 &&
               read.ok == (severity == ONNXL_SEVERITY_WARNING);
  CU_ASSERT_TRUE(right);
  if (!right)
    fprintf(stderr, "row %d: %s\n  %zu findings, first %u:%u %s\n", row->row, row->text, onnxl_diag_count(read.sink),
            diag ? diag->location.line : 0, diag ? diag->location.column : 0, diag ? diag->message : "");
  read_clear(&read);
}

static void
test_rows(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    check_row(&rows[i]);
}

/* A warning that -Werror makes an error is at the same place, and the text is refused. */
static void
test_warnings_as_errors(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    if (rows[i].row < FIRST_WARNING)
      continue;
    char *option = g_strconcat("error=", rows[i].id, NULL);
    Read read = read_text(rows[i].text, option);
    CU_ASSERT_FALSE(read.ok);
    CU_ASSERT_EQUAL(onnxl_diag_errors(read.sink), 1);
    CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, 0)->location.column, rows[i].column);
    read_clear(&read);
    g_free(option);
  }
}

static void
check_several(const Several *row)
{
  Read read = read_text(row->text, NULL);
  GString *found = g_string_new(NULL), *wanted = g_string_new(NULL);

  for (size_t i = 0; i < onnxl_diag_count(read.sink); i++) {
    const OnnxlDiag *diag = onnxl_diag_get(read.sink, i);
    if (diag->severity == ONNXL_SEVERITY_ERROR)
      g_string_append_printf(found, "%u:%u %s\n", diag->location.line, diag->location.column,
                             onnxl_diag_id_text(diag->id));
  }
  for (size_t i = 0; i < G_N_ELEMENTS(row->findings) && row->findings[i]; i++)
    g_string_append_printf(wanted, "%s\n", row->findings[i]);
  CU_ASSERT_STRING_EQUAL(found->str, wanted->str);
  if (strcmp(found->str, wanted->str) != 0)
    fprintf(stderr, "%s\nfound:\n%swanted:\n%s", row->text, found->str, wanted->str);
  g_string_free(found, TRUE);
  g_string_free(wanted, TRUE);
  read_clear(&read);
}

static void
test_several(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(several); i++)
    check_several(&several[i]);
}

/* Each of very many findings takes the same time, on lines of their own or all on one. */
static void
expect_many(const char *separator)
{
  enum { LINES = 100000 };
  GString *text = g_string_new("g () => () {\n");

  for (int i = 0; i < LINES; i++)
    g_string_append_printf(text, "y = Op (\"\\\"\", a/b)%s", separator);
  g_string_append(text, "}");
  Read read = { onnxl_model_new(1 << 26), onnxl_diag_sink_new(NULL), NULL, false };
  CU_ASSERT_FALSE(onnxl_text_read(onnxl_str(text->str), 200, read.model, read.sink, &read.error));
  CU_ASSERT_EQUAL(onnxl_diag_errors(read.sink), LINES);
  CU_ASSERT_EQUAL(onnxl_diag_count(read.sink), 20);
  CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, 19)->location.line, separator[0] == '\n' ? 21 : 2);
  read_clear(&read);
  g_string_free(text, TRUE);
}

static void
test_many(void)
{
  expect_many("\n");
  expect_many(" ");
}

/* Bytes that are no UTF-8 are kept, with a warning where the string is; escapes say that they are meant. */
static void
test_utf8(void)
{
  Read read = read_text("g () => () { y = Op <s = \"caf\xe9\", t = !\"caf\\xe9\"> (\"\xc3\xa9\", \"\xff\") }", NULL);

  CU_ASSERT_TRUE_FATAL(read.ok);
  CU_ASSERT_EQUAL_FATAL(onnxl_diag_count(read.sink), 2);
  for (size_t i = 0; i < 2; i++)
    CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, i)->id, ONNXL_DIAG_UTF8);
  CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, 0)->location.column, 26);
  CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, 1)->location.column, 57);
  const OnnxlNode *node = &read.model->proto.graph->node.items[0];
  CU_ASSERT_TRUE(onnxl_str_is(node->attribute.items[0].s, "caf\xe9"));
  CU_ASSERT_TRUE(onnxl_str_is(node->attribute.items[1].s, "caf\xe9"));
  CU_ASSERT_TRUE(onnxl_str_is(node->input.items[1], "\xff"));
  read_clear(&read);
}

UNIT_MAIN("text-report", { "rows", test_rows }, { "warnings as errors", test_warnings_as_errors },
          { "several", test_several }, { "many", test_many }, { "utf8", test_utf8 })
