/* Numbers of the textual syntax. */
#include "proto/text-internal.h"

#include "support/number.h"

static bool
report_range(OnnxlReader *r, const char *type)
{
  return onnxl_reader_report_at(r, ONNXL_DIAG_INT_RANGE, &r->token, "%.*s does not fit in %s", ONNXL_ARG(r->token.text),
                                type);
}

/* 0x…: what the integer is in decimal. */
static bool
report_hex(OnnxlReader *r)
{
  OnnxlStr digits = r->token.text;
  uint64_t value = 0;

  for (size_t i = 0; i < digits.size && digits.size <= 16; i++)
    value = value << 4 | (uint64_t)g_ascii_xdigit_value(digits.data[i]);
  if (digits.size > 16)
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, &r->token, "integers are decimal");
  return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, &r->token, "integers are decimal: `%" G_GUINT64_FORMAT "`",
                                value);
}

bool
onnxl_text_is_word(OnnxlStr text, const char *word)
{
  return text.size == strlen(word) && g_ascii_strncasecmp(text.data, word, text.size) == 0;
}

bool
onnxl_reader_no_number(OnnxlReader *r, const char *what)
{
  const OnnxlToken *token = &r->token;
  const char *digits = r->at, *end = digits;

  while (end < r->end && g_ascii_isdigit(*end))
    end++;
  switch (token->kind) {
  case ONNXL_TOKEN_HEX:
    return report_hex(r);
  case '.':
    if (end > digits)
      return onnxl_reader_report(r, ONNXL_DIAG_NUMBER, token->start, end,
                                 "a number starts with a digit: write `0.%.*s`", (int)MIN(end - digits, 40), digits);
    break;
  case '+':
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, token, "a number has no plus sign");
  case '-':
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, token, "a number has no blank after the minus sign");
  case ONNXL_TOKEN_IDENTIFIER:
    if (onnxl_text_is_word(token->text, "true"))
      return onnxl_reader_report_at(r, ONNXL_DIAG_NO_BOOL, token, "there is no `%.*s`; write `1`",
                                    ONNXL_ARG(token->text));
    if (onnxl_text_is_word(token->text, "false"))
      return onnxl_reader_report_at(r, ONNXL_DIAG_NO_BOOL, token, "there is no `%.*s`; write `0`",
                                    ONNXL_ARG(token->text));
    break;
  default:
    break;
  }
  return onnxl_reader_expected(r, "%s", what);
}

bool
onnxl_text_magnitude(OnnxlStr digits, bool *ret_negative, uint64_t *ret_magnitude)
{
  const char *at = digits.data, *end = at + digits.size;
  uint64_t value = 0;

  *ret_negative = at < end && *at == '-';
  at += *ret_negative;
  /* 19 digits always fit. */
  if (end - at <= 19) {
    for (; at < end; at++)
      value = value * 10 + (uint64_t)(*at - '0');
    *ret_magnitude = value;
    return true;
  }
  return onnxl_str_to_uint64(onnxl_str_n(at, (size_t)(end - at)), UINT64_MAX, ret_magnitude);
}

static bool
read_integer(OnnxlReader *r, uint64_t most, uint64_t least, const char *type, uint64_t *ret_value)
{
  bool negative;
  uint64_t magnitude;

  if (!onnxl_reader_at(r, ONNXL_TOKEN_INT) && !onnxl_reader_at(r, ONNXL_TOKEN_NUMBERED))
    return onnxl_reader_no_number(r, "an integer");
  if (!onnxl_text_magnitude(r->token.text, &negative, &magnitude) || magnitude > (negative ? least : most))
    return report_range(r, type);
  *ret_value = negative ? -magnitude : magnitude;
  onnxl_reader_next(r);
  return true;
}

bool
onnxl_reader_int64(OnnxlReader *r, int64_t *ret_value)
{
  uint64_t value;

  if (!read_integer(r, INT64_MAX, (uint64_t)INT64_MAX + 1, "int64", &value))
    return false;
  *ret_value = (int64_t)value;
  return true;
}

bool
onnxl_reader_int32(OnnxlReader *r, int32_t *ret_value)
{
  uint64_t value;

  if (!read_integer(r, INT32_MAX, (uint64_t)INT32_MAX + 1, "int32", &value))
    return false;
  *ret_value = (int32_t)value;
  return true;
}

bool
onnxl_reader_uint64(OnnxlReader *r, uint64_t *ret_value)
{
  return read_integer(r, UINT64_MAX, 0, "uint64", ret_value);
}

bool
onnxl_reader_at_float(const OnnxlReader *r)
{
  return onnxl_reader_at(r, ONNXL_TOKEN_FLOAT) ||
         (onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER) && onnxl_text_is_special_float(r->token.text));
}

bool
onnxl_reader_bits(OnnxlReader *r, uint32_t digits, const char *what, uint64_t *ret_bits)
{
  OnnxlStr text = r->token.text;
  uint64_t bits = 0;

  if (text.size != digits)
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, &r->token, "the bits of a %s are %u hexadecimal digits", what,
                                  digits);
  for (size_t i = 0; i < text.size; i++)
    bits = bits << 4 | (uint64_t)g_ascii_xdigit_value(text.data[i]);
  *ret_bits = bits;
  onnxl_reader_next(r);
  return true;
}

static bool
report_float(OnnxlReader *r, OnnxlNumberStatus status, const char *type)
{
  if (status == ONNXL_NUMBER_RANGE)
    return onnxl_reader_report_at(r, ONNXL_DIAG_FLOAT_RANGE, &r->token, "%.*s does not fit in %s",
                                  ONNXL_ARG(r->token.text), type);
  return onnxl_reader_no_number(r, "a number");
}

bool
onnxl_reader_float(OnnxlReader *r, float *ret_value)
{
  uint64_t bits;

  if (onnxl_reader_at(r, ONNXL_TOKEN_BITS)) {
    if (!onnxl_reader_bits(r, 8, "float", &bits))
      return false;
    *ret_value = onnxl_float_from_bits((uint32_t)bits);
    return true;
  }
  if (!onnxl_reader_at(r, ONNXL_TOKEN_INT) && !onnxl_reader_at_float(r))
    return onnxl_reader_no_number(r, "a number");
  OnnxlNumberStatus status = onnxl_parse_float(r->token.text, ret_value);
  return status == ONNXL_NUMBER_OK ? onnxl_reader_next(r) : report_float(r, status, "float");
}

bool
onnxl_reader_double(OnnxlReader *r, double *ret_value)
{
  uint64_t bits;

  if (onnxl_reader_at(r, ONNXL_TOKEN_BITS)) {
    if (!onnxl_reader_bits(r, 16, "double", &bits))
      return false;
    memcpy(ret_value, &bits, sizeof bits);
    return true;
  }
  if (!onnxl_reader_at(r, ONNXL_TOKEN_INT) && !onnxl_reader_at_float(r))
    return onnxl_reader_no_number(r, "a number");
  OnnxlNumberStatus status = onnxl_parse_double(r->token.text, ret_value);
  return status == ONNXL_NUMBER_OK ? onnxl_reader_next(r) : report_float(r, status, "double");
}
