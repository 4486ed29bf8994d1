#include "cli/options.h"

#include "support/error.h"
#include "unit.h"

static struct {
  bool flag, other;
  const char *output, *events, *pair;
  OnnxlStringList dims, warnings;
  uint64_t size;
  uint32_t count;
  double tolerance;
  int style;
} got;

static const OnnxlOption own[] = {
  ONNXL_FLAG('f', "force", &got.flag, "force"),
  ONNXL_OPTIONAL('e', "events", "FILE", &got.events, "events"),
  ONNXL_VALUES('d', "dim", "NAME=VALUE", &got.dims, "bind a dimension"),
  ONNXL_CHOICE(0, "style", "onnx|pretty|json", &got.style, "style"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption shared[] = {
  ONNXL_FLAG('v', "force", &got.other, "hidden by the one above, save for its letter"),
  ONNXL_STRING('o', NULL, "FILE", &got.output, "output"),
  ONNXL_SIZE('s', "size", &got.size, "size"),
  ONNXL_COUNT(0, "count", "N", &got.count, "count"),
  ONNXL_NUMBER(0, "rtol", "X", &got.tolerance, "tolerance"),
  ONNXL_VALUES('W', NULL, "[no-]ID", &got.warnings, "warnings"),
  ONNXL_FLAG('M', "MD", &got.other, "dependencies"),
  ONNXL_STRING('M', "MF", "FILE", &got.pair, "their file"),
  ONNXL_OPTIONS_END,
};

static const OnnxlOptionRule rules[] = {
  { "--count|-MF", "--size|--events", NULL },
  { "--dim", "--style=onnx", NULL },
  { "-f|--style=json", NULL, "-o|--rtol" },
  { NULL },
};

/* Parses a command line given as words. Returns: the message of the error, owned, or NULL; operands joined by '|'. */
static char *
parse(const char *line, char **ret_operands)
{
  const OnnxlOption *const tables[] = { own, shared };
  char *program_line = g_strconcat("tool ", line, NULL);
  static char **argv; /* results point into it */
  g_strfreev(argv);
  argv = g_strsplit(program_line, " ", -1);
  onnxl_string_list_clear(&got.dims);
  onnxl_string_list_clear(&got.warnings);
  memset(&got, 0, sizeof got);
  OnnxlStringList operands = { NULL, 0 };
  GError *error = NULL;
  char *message = NULL;
  g_autoptr(GPtrArray) given = NULL;
  bool ok = onnxl_options_parse(tables, 2, (int)g_strv_length(argv), argv, &operands, &given, &error) &&
            onnxl_options_check(tables, 2, given, rules, &error);
  CU_ASSERT_EQUAL(ok, error == NULL);
  if (error) {
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_USAGE));
    message = g_strdup(error->message);
    g_clear_error(&error);
  }
  if (ret_operands) {
    onnxl_string_list_add(&operands, NULL);
    *ret_operands = g_strjoinv("|", (char **)operands.items);
  }
  onnxl_string_list_clear(&operands);
  g_free(program_line);
  return message;
}

static void
accept(const char *line, const char *expected_operands)
{
  char *operands;
  char *message = parse(line, &operands);
  CU_ASSERT_PTR_NULL(message);
  if (message)
    printf("\n  %s: %s\n", line, message);
  CU_ASSERT_STRING_EQUAL(operands, expected_operands);
  g_free(operands);
  g_free(message);
}

static void
refuse(const char *line, const char *expected)
{
  char *message = parse(line, NULL);
  CU_ASSERT_PTR_NOT_NULL(message);
  if (message && strcmp(message, expected) != 0) {
    printf("\n  %s: %s\n  instead of %s\n", line, message, expected);
    CU_FAIL("another message");
  }
  g_free(message);
}

static void
test_forms(void)
{
  accept("a -o x b --dim=K=1 --dim M=2 c", "a|b|c");
  CU_ASSERT_STRING_EQUAL(got.output, "x");
  CU_ASSERT_EQUAL_FATAL(got.dims.count, 2);
  CU_ASSERT_STRING_EQUAL(got.dims.items[0], "K=1");
  CU_ASSERT_STRING_EQUAL(got.dims.items[1], "M=2");
  accept("-vox", "");
  CU_ASSERT_TRUE(got.other);
  CU_ASSERT_STRING_EQUAL(got.output, "x");
  accept("-v -o - -- -o --dim", "-o|--dim");
  CU_ASSERT_STRING_EQUAL(got.output, "-");
  accept("- -", "-|-");
  accept("--force", "");
  CU_ASSERT_TRUE(got.flag && !got.other);
  accept("-v", "");
  CU_ASSERT_TRUE(got.other);
}

static void
test_kinds(void)
{
  accept("--size=4K --count 7 --rtol=1e-3 --style pretty", "");
  CU_ASSERT_EQUAL(got.size, 4096);
  CU_ASSERT_EQUAL(got.count, 7);
  CU_ASSERT_EQUAL(got.tolerance, 1e-3);
  CU_ASSERT_EQUAL(got.style, 1);
  accept("--events x", "x");
  CU_ASSERT_STRING_EQUAL(got.events, "");
  accept("--events=x", "");
  CU_ASSERT_STRING_EQUAL(got.events, "x");
  accept("-Werror -Wno-elided -MD --events -MF x.d", "");
  CU_ASSERT_EQUAL_FATAL(got.warnings.count, 2);
  CU_ASSERT_STRING_EQUAL(got.warnings.items[1], "no-elided");
  CU_ASSERT_TRUE(got.other);
  CU_ASSERT_STRING_EQUAL(got.pair, "x.d");
  accept("-e -MFx.d", "");
  CU_ASSERT_STRING_EQUAL(got.pair, "x.d");
}

static void
test_messages(void)
{
  refuse("--focre", "unknown option '--focre'; did you mean '--force'?");
  refuse("--zebra", "unknown option '--zebra' (--help lists the options)");
  refuse("-fz", "unknown option '-z' (--help lists the options)");
  refuse("-MX", "unknown option '-MX' (--help lists the options)");
  refuse("--force=1", "--force takes no value");
  refuse("-o", "-o needs a value: FILE");
  refuse("--dim", "--dim needs a value: NAME=VALUE");
  refuse("--size=4Q", "--size: '4Q' is not a size such as 4096, 64K or 4G");
  refuse("--count=-1", "--count: '-1' is not a number from 0 to 4294967295");
  refuse("--count=4294967296", "--count: '4294967296' is not a number from 0 to 4294967295");
  refuse("--rtol=x", "--rtol: 'x' is not a number from 0 on");
  refuse("--rtol=inf", "--rtol: 'inf' is not a number from 0 on");
  refuse("--rtol=-1", "--rtol: '-1' is not a number from 0 on");
  refuse("--style=prety", "--style: 'prety' is not one of onnx, pretty, json; did you mean 'pretty'?");
}

static void
test_rules(void)
{
  refuse("--count=1", "--count needs --size or --events");
  refuse("-v -MF x --style=onnx", "-MF needs --size or --events");
  accept("--count=1 -e", "");
  accept("--size=1 --count=1 -MFx", "");
  /* A default counts as much as what is given. */
  accept("--dim=K=1", "");
  accept("--style=onnx --dim=K=1", "");
  refuse("--dim=K=1 --style=pretty", "--dim needs --style=onnx");
  /* What counts is the last word. */
  accept("--dim=K=1 --style=pretty --style=onnx", "");
  accept("-f --style=json", "");
  accept("--style=onnx -o x", "");
  refuse("-o x -f", "-f does nothing with -o, so they cannot be given together");
  refuse("--force -o x", "-f does nothing with -o, so they cannot be given together");
  refuse("--style=json --rtol=1", "--style=json does nothing with --rtol, so they cannot be given together");
}

static void
test_help(void)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_options_help(own, &out);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out),
                              "  -f, --force                 force\n"
                              "  -e, --events[=FILE]         events\n"
                              "  -d, --dim=NAME=VALUE        bind a dimension\n"
                              "      --style=onnx|pretty|json\n"
                              "                              style\n"));
  onnxl_output_clear(&out);
  onnxl_options_list(own, &out);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), "-f\t--force\tflag\t\tforce\n"
                                                         "-e\t--events\toptional\tFILE\tevents\n"
                                                         "-d\t--dim\tlist\tNAME=VALUE\tbind a dimension\n"
                                                         "\t--style\tchoice\tonnx|pretty|json\tstyle\n"));
  onnxl_output_clear(&out);
}

UNIT_MAIN("options",
  { "forms", test_forms },
  { "kinds", test_kinds },
  { "messages", test_messages },
  { "rules", test_rules },
  { "help", test_help })
