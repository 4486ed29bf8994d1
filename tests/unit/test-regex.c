#include "runtime/regex-internal.h"

#include "unit.h"

static GString *out;

/* What PCRE2 gets for a pattern in RE2's syntax, or the reason for which it is refused. */
static const char *
translate(const char *pattern)
{
  size_t at = 0;
  const char *wrong = onnxl_regex_translate(onnxl_str(pattern), out, &at);
  CU_ASSERT_TRUE(at <= strlen(pattern));
  return wrong ? wrong : out->str;
}

static void
test_same_in_both(void)
{
  static const char *const patterns[] = {
    "",
    "abc",
    "a|b",
    "(a|b)*c+?d{2}e{2,}f{2,3}?",
    "(?i)a(?-i:b)(?sU:c)",
    "[a-z_]",
    "[^]a]",
    "[]a]",
    "[[:alpha:][:^digit:]]",
    "\\d\\D\\w\\W\\n\\t\\.\\\\",
    "\\pL\\p{Greek}\\P{^Lu}",
    "^a$",
    "\\Aa\\b\\B\\z",
    "\xc3\xa4+",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++)
    CU_ASSERT_STRING_EQUAL(translate(patterns[i]), patterns[i]);
}

static void
test_translated(void)
{
  CU_ASSERT_STRING_EQUAL(translate("\\s\\S"), "[\\t\\n\\f\\r ][^\\t\\n\\f\\r ]");
  CU_ASSERT_STRING_EQUAL(translate("[\\s]"), "[\\t\\n\\f\\r ]");
  CU_ASSERT_STRING_EQUAL(translate("[^\\S]"), "[^\\S\\x{b}]");
  CU_ASSERT_STRING_EQUAL(translate("\\v"), "\\x{b}");
  CU_ASSERT_STRING_EQUAL(translate("\\x41\\x{10FFFF}\\101\\0"), "\\x{41}\\x{10ffff}\\x{41}\\x{0}");
  CU_ASSERT_STRING_EQUAL(translate("\\1012"), "\\x{41}2");
  CU_ASSERT_STRING_EQUAL(translate("\\Qa.(\\E*"), "a\\.\\(*");
  CU_ASSERT_STRING_EQUAL(translate("\\Qa"), "a");
  CU_ASSERT_STRING_EQUAL(translate("(?P<n>a)(?<m>b)"), "(a)(b)");
  CU_ASSERT_STRING_EQUAL(translate("a{,2}{x}"), "a\\{,2}\\{x}");
  CU_ASSERT_STRING_EQUAL(translate("[[.a.]]"), "[\\[.a.]]");
  CU_ASSERT_STRING_EQUAL(translate("[:a:]"), "[:a:]");
}

static void
test_refused(void)
{
  CU_ASSERT_STRING_EQUAL(translate("(a)\\1"), "back references are not supported");
  CU_ASSERT_STRING_EQUAL(translate("\\"), "unknown escape");
  CU_ASSERT_STRING_EQUAL(translate("[\\b]"), "unknown escape");
  CU_ASSERT_STRING_EQUAL(translate("\\x{110000}"), "bad hexadecimal escape");
  CU_ASSERT_STRING_EQUAL(translate("\\xg0"), "bad hexadecimal escape");
  CU_ASSERT_STRING_EQUAL(translate("\\p{Greek"), "bad character property");
  CU_ASSERT_STRING_EQUAL(translate("[a"), "missing ]");
  CU_ASSERT_STRING_EQUAL(translate("[]"), "missing ]");
  CU_ASSERT_STRING_EQUAL(translate("(a"), "missing )");
  CU_ASSERT_STRING_EQUAL(translate("a)"), "unexpected )");
  CU_ASSERT_STRING_EQUAL(translate("(*ACCEPT)"), "verbs are not supported");
  CU_ASSERT_STRING_EQUAL(translate("(?=a)"), "this kind of group is not supported");
  CU_ASSERT_STRING_EQUAL(translate("(?<=a)"), "this kind of group is not supported");
  CU_ASSERT_STRING_EQUAL(translate("(?P<>a)"), "bad name of a group");
  CU_ASSERT_STRING_EQUAL(translate("a*+"), "nothing to repeat");
  CU_ASSERT_STRING_EQUAL(translate("a|*"), "nothing to repeat");
  CU_ASSERT_STRING_EQUAL(translate("a{1001}"), "too many repetitions");
  CU_ASSERT_STRING_EQUAL(translate("\xff"), "the pattern is no UTF-8");
}

/* Every group needs PCRE2's stack. */
static void
test_deep(void)
{
  GString *deep = g_string_new(NULL);
  for (int i = 0; i < 201; i++)
    g_string_append_c(deep, '(');
  CU_ASSERT_STRING_EQUAL(translate(deep->str), "groups are nested too deeply");
  g_string_free(deep, TRUE);
}

int
main(void)
{
  static CU_TestInfo tests[] = {
    { "same in both", test_same_in_both },
    { "translated", test_translated },
    { "refused", test_refused },
    { "deep", test_deep },
    CU_TEST_INFO_NULL,
  };
  out = g_string_new(NULL);
  int status = unit_run("regex", tests);
  g_string_free(out, TRUE);
  return status;
}
