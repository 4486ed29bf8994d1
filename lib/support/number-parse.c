#include "support/number.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>

typedef enum Kind { KIND_FINITE, KIND_INFINITY, KIND_NAN } Kind;

/* Significant digits that are looked at: more can only be on one side of a half-way point, which takes at most 767. */
enum { MAX_DIGITS = 800, WORD_DIGITS = 19, EXPONENT_LIMIT = 100000 };

typedef struct Scanned {
  Kind kind;
  bool negative;
  uint64_t word;     /* value = word * 10^exponent when the number has up to WORD_DIGITS significant digits */
  int64_t exponent;  /* of the last of the digits counted below */
  size_t digits;     /* significant digits, at most MAX_DIGITS */
  bool sticky;       /* digits that are not zero lie behind those */
  const char *first; /* the first significant digit; a point may stand among the digits */
} Scanned;

static bool
is_digit(const char *p, const char *end)
{
  return p < end && *p >= '0' && *p <= '9';
}

static bool
is_word(OnnxlStr text, const char *word)
{
  return text.size == strlen(word) && g_ascii_strncasecmp(text.data, word, text.size) == 0;
}

/* Digits of the whole and of the fractional part, up to what is not one. */
static const char *
scan_digits(const char *p, const char *end, bool fraction, Scanned *number)
{
  for (; is_digit(p, end); p++) {
    if (number->digits == 0 && *p == '0') {
      number->exponent -= fraction;
      continue;
    }
    if (number->digits == 0)
      number->first = p;
    if (number->digits < MAX_DIGITS) {
      number->digits++;
      number->exponent -= fraction;
      if (number->digits <= WORD_DIGITS)
        number->word = number->word * 10 + (uint64_t)(*p - '0');
    } else {
      number->sticky = number->sticky || *p != '0';
      number->exponent += !fraction;
    }
  }
  return p;
}

static bool
scan(OnnxlStr text, Scanned *ret_number)
{
  Scanned number = { .kind = KIND_FINITE };
  const char *p = text.data, *end = p + text.size;
  if (text.size == 0)
    return false;
  if (*p == '-') {
    number.negative = true;
    p++;
  }
  if (!is_digit(p, end)) {
    OnnxlStr word = onnxl_str_n(p, (size_t)(end - p));
    bool infinity = is_word(word, "inf") || is_word(word, "infinity");
    number.kind = infinity ? KIND_INFINITY : KIND_NAN;
    *ret_number = number;
    return infinity || is_word(word, "nan");
  }
  p = scan_digits(p, end, false, &number);
  if (p < end && *p == '.')
    p = scan_digits(p + 1, end, true, &number);
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (!is_digit(p, end))
      return false;
    int64_t exponent = 0;
    for (; is_digit(p, end); p++)
      if (exponent < INT64_MAX / 4 / 10)
        exponent = exponent * 10 + (*p - '0');
    number.exponent += negative ? -exponent : exponent;
  }
  *ret_number = number;
  return p == end;
}

/* strtod() of the number in the C locale: correctly rounded in the rounding mode that is set. */
static double
convert(const Scanned *number)
{
  static gsize c_locale;
  if (g_once_init_enter(&c_locale))
    g_once_init_leave(&c_locale, (gsize)newlocale(LC_ALL_MASK, "C", (locale_t)0));
  char text[MAX_DIGITS + 32];
  size_t n = 0;
  for (const char *p = number->first; n < number->digits; p++)
    if (*p != '.')
      text[n++] = *p;
  int64_t exponent = number->exponent;
  if (number->sticky) {
    text[n++] = '1';
    exponent--;
  }
  /* Far beyond every double in both directions, whatever the digits are. */
  g_snprintf(text + n, sizeof text - n, "e%d", (int)CLAMP(exponent, -EXPONENT_LIMIT, EXPONENT_LIMIT));
  return c_locale ? strtod_l(text, NULL, (locale_t)c_locale) : g_ascii_strtod(text, NULL);
}

static double
step(double value, int64_t units)
{
  int64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits += units;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool
is_odd(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits & 1;
}

/* The magnitude as a double. to_odd: not to nearest, but an inexact result has an odd last bit; rounding that to a
 * format with at least two bits less is then the single rounding of the number itself. */
static double
magnitude(const Scanned *number, bool to_odd)
{
  static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
  if (number->digits == 0)
    return 0;
  /* Two exact operands and one operation: rounded to nearest, and fma() tells on which side the number lies. */
  if (number->digits <= WORD_DIGITS && number->word <= UINT64_C(1) << 53 && number->exponent >= -22 &&
      number->exponent <= 22) {
    double word = (double)number->word;
    bool divide = number->exponent < 0;
    double ten = tens[divide ? -number->exponent : number->exponent];
    double value = divide ? word / ten : word * ten;
    if (!to_odd || is_odd(value))
      return value;
    double rest = divide ? fma(-value, ten, word) : fma(word, ten, -value);
    return rest == 0 ? value : step(value, rest > 0 ? 1 : -1);
  }
  if (!to_odd)
    return convert(number);
  int mode = fegetround();
  fesetround(FE_DOWNWARD);
  double below = convert(number);
  fesetround(FE_UPWARD);
  double above = convert(number);
  fesetround(mode);
  return below == above || is_odd(below) ? below : above;
}

OnnxlNumberStatus
onnxl_parse_double(OnnxlStr text, double *ret_value)
{
  Scanned number;
  if (!scan(text, &number))
    return ONNXL_NUMBER_SYNTAX;
  double value = number.kind == KIND_NAN ? NAN : number.kind == KIND_INFINITY ? INFINITY : magnitude(&number, false);
  if (number.kind == KIND_FINITE && isinf(value))
    return ONNXL_NUMBER_RANGE;
  *ret_value = number.negative ? -value : value;
  return ONNXL_NUMBER_OK;
}

OnnxlNumberStatus
onnxl_parse_float(OnnxlStr text, float *ret_value)
{
  Scanned number;
  if (!scan(text, &number))
    return ONNXL_NUMBER_SYNTAX;
  float value = number.kind == KIND_NAN        ? NAN
                : number.kind == KIND_INFINITY ? INFINITY
                                               : (float)magnitude(&number, true);
  if (number.kind == KIND_FINITE && isinf(value))
    return ONNXL_NUMBER_RANGE;
  *ret_value = number.negative ? -value : value;
  return ONNXL_NUMBER_OK;
}

OnnxlNumberStatus
onnxl_parse_float_format(OnnxlStr text, OnnxlFloatFormat format, uint16_t *ret_code)
{
  Scanned number;
  bool overflow;
  if (!scan(text, &number))
    return ONNXL_NUMBER_SYNTAX;
  /* E8M0 holds powers of two only, FLOAT4E2M1 no NaN. */
  if (format == ONNXL_FLOAT_FORMAT_FLOAT8E8M0 && number.kind != KIND_NAN && (number.negative || number.digits == 0))
    return ONNXL_NUMBER_RANGE;
  if (format == ONNXL_FLOAT_FORMAT_FLOAT4E2M1 && number.kind == KIND_NAN)
    return ONNXL_NUMBER_RANGE;
  double value = number.kind == KIND_NAN ? NAN : number.kind == KIND_INFINITY ? INFINITY : magnitude(&number, true);
  uint16_t code = onnxl_float_encode_checked(format, number.negative ? -value : value, false, &overflow);
  if (overflow)
    return ONNXL_NUMBER_RANGE;
  *ret_code = code;
  return ONNXL_NUMBER_OK;
}

static OnnxlNumberStatus
parse_integer(OnnxlStr text, uint64_t max, uint64_t *ret_value)
{
  uint64_t value = 0;
  bool overflow = false;
  if (text.size == 0)
    return ONNXL_NUMBER_SYNTAX;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] < '0' || text.data[i] > '9')
      return ONNXL_NUMBER_SYNTAX;
    overflow = overflow || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
               __builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value);
  }
  if (overflow || value > max)
    return ONNXL_NUMBER_RANGE;
  *ret_value = value;
  return ONNXL_NUMBER_OK;
}

OnnxlNumberStatus
onnxl_parse_uint64(OnnxlStr text, uint64_t *ret_value)
{
  return parse_integer(text, UINT64_MAX, ret_value);
}

OnnxlNumberStatus
onnxl_parse_int64(OnnxlStr text, int64_t *ret_value)
{
  bool negative = text.size > 0 && text.data[0] == '-';
  uint64_t magnitude_value;
  OnnxlNumberStatus status = parse_integer(negative ? onnxl_str_n(text.data + 1, text.size - 1) : text,
                                           negative ? UINT64_C(1) << 63 : INT64_MAX, &magnitude_value);
  if (status == ONNXL_NUMBER_OK)
    *ret_value = negative ? (int64_t)(0 - magnitude_value) : (int64_t)magnitude_value;
  return status;
}
