#include "support/str.h"

#include "support/escape.h"
#include "support/nearest.h"
#include "unit.h"

static void
test_compare(void)
{
  CU_ASSERT_TRUE(onnxl_str_compare(ONNXL_STR("a"), ONNXL_STR("b")) < 0);
  CU_ASSERT_TRUE(onnxl_str_compare(ONNXL_STR("ab"), ONNXL_STR("a")) > 0);
  CU_ASSERT_TRUE(onnxl_str_compare(ONNXL_STR("\x80"), ONNXL_STR("a")) > 0);
  CU_ASSERT_EQUAL(onnxl_str_compare(onnxl_str(NULL), ONNXL_STR("")), 0);
  CU_ASSERT_TRUE(onnxl_str_equal(onnxl_str(NULL), ONNXL_STR("")));
  CU_ASSERT_FALSE(onnxl_str_equal(onnxl_str_n("a\0b", 3), onnxl_str_n("a\0c", 3)));
}

/* Different texts of every length get different hashes, and each bit of each byte counts. */
static void
test_hash(void)
{
  char text[64];
  size_t failures = 0;
  for (size_t size = 0; size < sizeof text; size++) {
    memset(text, 0, sizeof text);
    uint64_t hash = onnxl_str_hash(onnxl_str_n(text, size));
    failures += hash != onnxl_str_hash(onnxl_str_n(text, size));
    failures += size > 0 && hash == onnxl_str_hash(onnxl_str_n(text, size - 1));
    for (size_t bit = 0; bit < size * 8; bit++) {
      text[bit / 8] ^= (char)(1 << bit % 8);
      failures += hash == onnxl_str_hash(onnxl_str_n(text, size));
      text[bit / 8] = 0;
    }
  }
  CU_ASSERT_EQUAL(failures, 0);
}

static void
test_utf8(void)
{
  static const char *const good[] = { "", "plain text of more than eight bytes", "é", "€", "𝄞", "\xed\x9f\xbf",
                                      "\xf4\x8f\xbf\xbf", "12345678é" };
  static const char *const bad[] = { "\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                     "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "12345678\xff", "1234567\xe2\x82" };
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    CU_ASSERT_TRUE(onnxl_str_is_utf8(onnxl_str(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    CU_ASSERT_FALSE(onnxl_str_is_utf8(onnxl_str(bad[i])));
  CU_ASSERT_TRUE(onnxl_str_is_utf8(onnxl_str_n("a\0b", 3)));
  CU_ASSERT_TRUE(onnxl_str_is_utf8(onnxl_str(NULL)));
}

static void
test_identifiers_and_numbers(void)
{
  uint64_t value = 0;
  CU_ASSERT_TRUE(onnxl_str_is_identifier(ONNXL_STR("_a1")));
  CU_ASSERT_FALSE(onnxl_str_is_identifier(ONNXL_STR("1a")));
  CU_ASSERT_FALSE(onnxl_str_is_identifier(ONNXL_STR("")));
  CU_ASSERT_FALSE(onnxl_str_is_identifier(ONNXL_STR("a.b")));
  CU_ASSERT_TRUE(onnxl_str_to_uint64(ONNXL_STR("00255"), 255, &value));
  CU_ASSERT_EQUAL(value, 255);
  CU_ASSERT_TRUE(onnxl_str_to_uint64(ONNXL_STR("18446744073709551615"), UINT64_MAX, &value));
  CU_ASSERT_FALSE(onnxl_str_to_uint64(ONNXL_STR("18446744073709551616"), UINT64_MAX, &value));
  CU_ASSERT_FALSE(onnxl_str_to_uint64(ONNXL_STR("256"), 255, &value));
  CU_ASSERT_FALSE(onnxl_str_to_uint64(ONNXL_STR("-1"), 255, &value));
  CU_ASSERT_FALSE(onnxl_str_to_uint64(ONNXL_STR(""), 255, &value));
  CU_ASSERT_EQUAL(value, UINT64_MAX);
}

static void
test_escape(void)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_output_escaped(&out, ONNXL_STR("é\n\t\x1b[31m\xff\xe2\x80\xae\xc2\x85z"));
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), "é\\n\\t\\x1b[31m\\xff\\u{202e}\\u{85}z"));
  onnxl_output_clear(&out);
}

static void
test_nearest(void)
{
  static const char *const names[] = { "float", "double", NULL, "int64", "ir_version" };
  CU_ASSERT_STRING_EQUAL(onnxl_nearest(ONNXL_STR("flaot"), names, 5), "float");
  CU_ASSERT_STRING_EQUAL(onnxl_nearest(ONNXL_STR("float32"), names, 5), "float");
  CU_ASSERT_STRING_EQUAL(onnxl_nearest(ONNXL_STR("ir_verison"), names, 5), "ir_version");
  CU_ASSERT_STRING_EQUAL(onnxl_nearest(ONNXL_STR("INT64"), names, 5), "int64");
  CU_ASSERT_PTR_NULL(onnxl_nearest(ONNXL_STR("zebra"), names, 5));
  CU_ASSERT_PTR_NULL(onnxl_nearest(ONNXL_STR(""), names, 5));
}

UNIT_MAIN("str",
  { "compare", test_compare },
  { "hash", test_hash },
  { "UTF-8", test_utf8 },
  { "identifiers and numbers", test_identifiers_and_numbers },
  { "escape", test_escape },
  { "nearest", test_nearest })
