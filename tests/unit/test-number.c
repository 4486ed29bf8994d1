#include "support/number.h"

#include <math.h>

#include "unit.h"

static bool
float_prints(float value, const char *expected)
{
  char text[ONNXL_NUMBER_SIZE];
  size_t n = onnxl_print_float(text, value);
  bool same = onnxl_str_is(onnxl_str_n(text, n), expected);
  if (!same)
    printf("\n  printed %.*s, expected %s\n", (int)n, text, expected);
  return same;
}

static bool
double_prints(double value, const char *expected)
{
  char text[ONNXL_NUMBER_SIZE];
  size_t n = onnxl_print_double(text, value);
  bool same = onnxl_str_is(onnxl_str_n(text, n), expected);
  if (!same)
    printf("\n  printed %.*s, expected %s\n", (int)n, text, expected);
  return same;
}

static void
test_style(void)
{
  CU_ASSERT_TRUE(float_prints(0.0f, "0.0"));
  CU_ASSERT_TRUE(float_prints(-0.0f, "-0.0"));
  CU_ASSERT_TRUE(float_prints(2.0f, "2.0"));
  CU_ASSERT_TRUE(float_prints(0.2f, "0.2"));
  CU_ASSERT_TRUE(float_prints(-1.5f, "-1.5"));
  CU_ASSERT_TRUE(float_prints(0.0001f, "0.0001"));
  CU_ASSERT_TRUE(float_prints(0.00012345f, "0.00012345"));
  CU_ASSERT_TRUE(float_prints(0.00001f, "1e-05"));
  CU_ASSERT_TRUE(float_prints(1.25e-5f, "1.25e-05"));
  CU_ASSERT_TRUE(float_prints(1234567.0f, "1234567.0"));
  CU_ASSERT_TRUE(float_prints(1200000.0f, "1200000.0"));
  CU_ASSERT_TRUE(float_prints(12345.5f, "12345.5"));
  CU_ASSERT_TRUE(float_prints(1e7f, "1e+07"));
  CU_ASSERT_TRUE(float_prints(1e20f, "1e+20"));
  CU_ASSERT_TRUE(float_prints(16777216.0f, "1.6777216e+07"));
  CU_ASSERT_TRUE(float_prints(INFINITY, "inf"));
  CU_ASSERT_TRUE(float_prints(-INFINITY, "-inf"));
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(0x7fc00000), "nan"));
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(0xffc00000), "-nan"));
  CU_ASSERT_TRUE(double_prints(0.1, "0.1"));
  CU_ASSERT_TRUE(double_prints(123456789012345680.0, "1.2345678901234568e+17"));
  CU_ASSERT_TRUE(double_prints(1234567890123456.0, "1234567890123456.0"));
  CU_ASSERT_TRUE(double_prints(1e15, "1000000000000000.0"));
  CU_ASSERT_TRUE(double_prints(1e16, "1e+16"));
  CU_ASSERT_TRUE(double_prints(1e-100, "1e-100"));
}

/* Values at which printers fail: ends of the range, powers of two, exact ties, the boundary cases of the literature. */
static void
test_edges(void)
{
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(1), "1e-45"));
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(0x007fffff), "1.1754942e-38"));
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(0x00800000), "1.1754944e-38"));
  CU_ASSERT_TRUE(float_prints(onnxl_float_from_bits(0x7f7fffff), "3.4028235e+38"));
  CU_ASSERT_TRUE(float_prints(8388608.0f, "8388608.0"));
  CU_ASSERT_TRUE(float_prints(33554432.0f, "3.3554432e+07"));
  CU_ASSERT_TRUE(float_prints(9.5367431640625e-7f, "9.536743e-07"));
  CU_ASSERT_TRUE(double_prints(4.9406564584124654e-324, "5e-324"));
  CU_ASSERT_TRUE(double_prints(2.2250738585072014e-308, "2.2250738585072014e-308"));
  CU_ASSERT_TRUE(double_prints(1.7976931348623157e308, "1.7976931348623157e+308"));
  CU_ASSERT_TRUE(double_prints(9007199254740993.0, "9007199254740992.0"));
  CU_ASSERT_TRUE(double_prints(2e23, "2e+23"));
  CU_ASSERT_TRUE(double_prints(5e-324 * 2, "1e-323"));
  CU_ASSERT_TRUE(double_prints(0x1p-1074 * 1048577, "5.18066e-318"));
}

/* The digits read back, and no text with one digit less does. */
static size_t
check_float(uint32_t bits)
{
  float value = onnxl_float_from_bits(bits), back;
  char text[ONNXL_NUMBER_SIZE + 1], shorter[64];
  size_t n = onnxl_print_float(text, value);
  text[n] = '\0';
  if (onnxl_parse_float(onnxl_str_n(text, n), &back) != ONNXL_NUMBER_OK || onnxl_float_bits(back) != bits ||
      onnxl_float_bits(strtof(text, NULL)) != bits)
    return 1;
  int digits = 0;
  bool leading = true;
  int zeros = 0;
  for (const char *p = text; *p && *p != 'e'; p++) {
    if (*p < '0' || *p > '9' || (leading && *p == '0'))
      continue;
    leading = false;
    digits++;
    zeros = *p == '0' ? zeros + 1 : 0;
  }
  digits -= zeros;
  if (digits < 2)
    return 0;
  snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
  return onnxl_float_bits(strtof(shorter, NULL)) == bits;
}

static void
test_random_floats(void)
{
  size_t failures = 0;
  uint32_t state = 12345;
  for (int i = 0; i < 400000; i++) {
    state = state * 1664525 + 1013904223;
    uint32_t bits = state ^ state >> 15;
    if ((bits & 0x7f800000) != 0x7f800000)
      failures += check_float(bits);
  }
  for (uint32_t exponent = 0; exponent < 255; exponent++)
    for (uint32_t low = 0; low < 4; low++)
      failures += check_float((exponent << 23) + low) + (exponent > 0 ? check_float((exponent << 23) - 1 - low) : 0);
  CU_ASSERT_EQUAL(failures, 0);
}

static void
test_random_doubles(void)
{
  size_t failures = 0;
  uint64_t state = 88172645463325252;
  for (int i = 0; i < 200000; i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    uint64_t bits = i % 4 == 0 ? state & UINT64_C(0xfff0000000000000) : state;
    double value, back = 0;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value))
      continue;
    char text[ONNXL_NUMBER_SIZE + 1];
    size_t n = onnxl_print_double(text, value);
    text[n] = '\0';
    failures += onnxl_parse_double(onnxl_str_n(text, n), &back) != ONNXL_NUMBER_OK ||
                memcmp(&back, &value, sizeof back) != 0 || strtod(text, NULL) != value;
  }
  CU_ASSERT_EQUAL(failures, 0);
}

static bool
reads(const char *text, float expected)
{
  float value;
  return onnxl_parse_float(onnxl_str(text), &value) == ONNXL_NUMBER_OK &&
         onnxl_float_bits(value) == onnxl_float_bits(expected);
}

static void
test_parse_float(void)
{
  CU_ASSERT_TRUE(reads("1", 1.0f));
  CU_ASSERT_TRUE(reads("-0", -0.0f));
  CU_ASSERT_TRUE(reads("1.", 1.0f));
  CU_ASSERT_TRUE(reads("1e3", 1000.0f));
  CU_ASSERT_TRUE(reads("001.50E+01", 15.0f));
  CU_ASSERT_TRUE(reads("InFinity", INFINITY));
  CU_ASSERT_TRUE(reads("-inf", -INFINITY));
  CU_ASSERT_TRUE(reads("nan", onnxl_float_from_bits(0x7fc00000)));
  CU_ASSERT_TRUE(reads("-nan", onnxl_float_from_bits(0xffc00000)));
  CU_ASSERT_TRUE(reads("1e-60", 0.0f));
  CU_ASSERT_TRUE(reads("1e-999999999999999999999999", 0.0f));
  CU_ASSERT_TRUE(reads("0e999999999999999999999999", 0.0f));
  CU_ASSERT_TRUE(reads("3.4028235677973366163753939545814e38", 3.4028235e38f));
  /* Rounding first to double and then to float would go wrong on these. */
  CU_ASSERT_TRUE(reads("1.00000017881393432617187499", 0x1.000002p0f));
  CU_ASSERT_TRUE(reads("1.00000017881393432617187500", 0x1.000004p0f));
  CU_ASSERT_TRUE(reads("1.00000017881393432617187501", 0x1.000004p0f));
  CU_ASSERT_TRUE(reads("1.00000005960464477539062499999999999999999999", 1.0f));
  CU_ASSERT_TRUE(reads("1.000000059604644775390625", 1.0f));
  CU_ASSERT_TRUE(reads("1.00000005960464477539062500000000000000000001", 0x1.000002p0f));
  CU_ASSERT_TRUE(reads("7.0064923216240853546186479164495e-46", 0.0f));
  CU_ASSERT_TRUE(reads("7.0064923216240853546186479164496e-46", 0x1p-149f));
  float value = 7;
  CU_ASSERT_EQUAL(onnxl_parse_float(ONNXL_STR("1e39"), &value), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float(ONNXL_STR("3.4028236e38"), &value), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float(ONNXL_STR("1e99999999999999999999999"), &value), ONNXL_NUMBER_RANGE);
  static const char *const wrong[] = { "",     "-",  ".5", "+5",  "1e",  "1e+",   "0x10", "- 5",   "1.5f",
                                       "infx", "1 ", " 1", "1,5", "--1", "1e5.0", "e5",   "nan(1)" };
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
    CU_ASSERT_EQUAL(onnxl_parse_float(onnxl_str(wrong[i]), &value), ONNXL_NUMBER_SYNTAX);
  CU_ASSERT_EQUAL(value, 7);
}

/* More digits than are looked at: the rest still decides a tie; zeros before the first digit do not count. */
static void
test_parse_long(void)
{
  GString *text = g_string_new("1.000000059604644775390625");
  float value;
  double wide;
  for (int i = 0; i < 2000; i++)
    g_string_append_c(text, '0');
  CU_ASSERT_TRUE(reads(text->str, 1.0f));
  g_string_append_c(text, '1');
  CU_ASSERT_TRUE(reads(text->str, 0x1.000002p0f));
  g_string_assign(text, "0.");
  for (int i = 0; i < 5000; i++)
    g_string_append_c(text, '0');
  g_string_append(text, "25e5001");
  CU_ASSERT_EQUAL(onnxl_parse_double(onnxl_str(text->str), &wide), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(wide, 2.5);
  g_string_assign(text, "25");
  for (int i = 0; i < 5000; i++)
    g_string_append_c(text, '0');
  g_string_append(text, "e-5001");
  CU_ASSERT_EQUAL(onnxl_parse_float(onnxl_str(text->str), &value), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(value, 2.5f);
  g_string_free(text, TRUE);
}

static void
test_parse_formats(void)
{
  uint16_t code = 0;
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("1.5"), ONNXL_FLOAT_FORMAT_FLOAT16, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0x3e00);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("65519.9"), ONNXL_FLOAT_FORMAT_FLOAT16, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0x7bff);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("65520"), ONNXL_FLOAT_FORMAT_FLOAT16, &code), ONNXL_NUMBER_RANGE);
  /* A tie in half, and a text just above it that is the tie itself when read as a float first. */
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("1.00048828125"), ONNXL_FLOAT_FORMAT_FLOAT16, &code),
                  ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0x3c00);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("1.000488281250000000001"), ONNXL_FLOAT_FORMAT_FLOAT16, &code),
                  ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0x3c01);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("-inf"), ONNXL_FLOAT_FORMAT_BFLOAT16, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0xff80);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("inf"), ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN, &code),
                  ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("448"), ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0x7e);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("480"), ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN, &code),
                  ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("-6.0"), ONNXL_FLOAT_FORMAT_FLOAT4E2M1, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 0xf);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("nan"), ONNXL_FLOAT_FORMAT_FLOAT4E2M1, &code), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("-1"), ONNXL_FLOAT_FORMAT_FLOAT8E8M0, &code), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_float_format(ONNXL_STR("0.5"), ONNXL_FLOAT_FORMAT_FLOAT8E8M0, &code), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(code, 126);
}

static void
test_parse_integers(void)
{
  int64_t value = 0;
  uint64_t word = 0;
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("9223372036854775807"), &value), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(value, INT64_MAX);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("-9223372036854775808"), &value), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(value, INT64_MIN);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("-0012"), &value), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(value, -12);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("9223372036854775808"), &value), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("-9223372036854775809"), &value), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("1.0"), &value), ONNXL_NUMBER_SYNTAX);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("-"), &value), ONNXL_NUMBER_SYNTAX);
  CU_ASSERT_EQUAL(onnxl_parse_int64(ONNXL_STR("99999999999999999999x"), &value), ONNXL_NUMBER_SYNTAX);
  CU_ASSERT_EQUAL(onnxl_parse_uint64(ONNXL_STR("18446744073709551615"), &word), ONNXL_NUMBER_OK);
  CU_ASSERT_EQUAL(word, UINT64_MAX);
  CU_ASSERT_EQUAL(onnxl_parse_uint64(ONNXL_STR("18446744073709551616"), &word), ONNXL_NUMBER_RANGE);
  CU_ASSERT_EQUAL(onnxl_parse_uint64(ONNXL_STR("-1"), &word), ONNXL_NUMBER_SYNTAX);
}

UNIT_MAIN("number", { "style", test_style }, { "edges", test_edges }, { "random floats", test_random_floats },
          { "random doubles", test_random_doubles }, { "parse float", test_parse_float },
          { "parse many digits", test_parse_long }, { "parse small formats", test_parse_formats },
          { "parse integers", test_parse_integers })
