#include "proto/text-write-internal.h"

#include "support/error.h"
#include "support/escape.h"
#include "support/number.h"

/* What a byte is within a name or string. */
enum {
  BYTE_LETTER = 1 << 0,  /* may start an identifier */
  BYTE_DIGIT = 1 << 1,   /* may continue one */
  BYTE_ESCAPE = 1 << 2,  /* needs a backslash in a string */
  BYTE_BREAK = 1 << 3,   /* newline and tab: stand as they are in "…" */
  BYTE_CONTROL = 1 << 4, /* other control characters: only in !"…" */
  BYTE_HIGH = 1 << 5,    /* part of a longer UTF-8 sequence */
};

static const uint8_t byte_class[256] = {
  [0 ... '\b'] = BYTE_CONTROL, ['\t'] = BYTE_BREAK,  ['\n'] = BYTE_BREAK,        ['\v' ... 0x1f] = BYTE_CONTROL,
  ['"'] = BYTE_ESCAPE,         ['\\'] = BYTE_ESCAPE, ['0' ... '9'] = BYTE_DIGIT, ['A' ... 'Z'] = BYTE_LETTER,
  ['a' ... 'z'] = BYTE_LETTER, ['_'] = BYTE_LETTER,  [0x7f] = BYTE_CONTROL,      [0x80 ... 0xff] = BYTE_HIGH,
};

void
onnxl_text_malformed(TextPrinter *p)
{
  if (!p->error)
    onnxl_fail(&p->error, ONNXL_ERROR_INVALID,
               "a list of numbers or an unknown group is malformed: it ends inside of a value");
}

void
onnxl_text_newline(TextPrinter *p)
{
  onnxl_output_char(p->out, '\n');
  p->line_start = onnxl_output_position(p->out);
}

/* Writes the words that change, on a line of their own. */
static void
note(TextPrinter *p, TextNeeds needs)
{
  static const char *const words[][2] = {
    { "typed", "raw" }, { "external", "embed" }, { "+domain", "-domain" }, { "+name", "-name" }, { "+doc", "-doc" },
  };
  uint32_t changes = (p->notes ^ needs.words) & needs.mask;

  onnxl_output_spaces(p->out, p->indent);
  onnxl_output_text(p->out, "#:");
  for (uint32_t i = 0; i < G_N_ELEMENTS(words); i++) {
    if (!(changes >> i & 1))
      continue;
    onnxl_output_char(p->out, ' ');
    onnxl_output_text(p->out, words[i][needs.words >> i & 1]);
  }
  onnxl_text_newline(p);
  p->notes ^= changes;
}

void
onnxl_text_start_line(TextPrinter *p, uint32_t indent, TextNeeds needs)
{
  p->indent = indent;
  if ((p->notes ^ needs.words) & needs.mask && !p->options->lossy)
    note(p, needs);
  onnxl_output_spaces(p->out, indent);
}

bool
onnxl_text_is_identifier(OnnxlStr s)
{
  if (s.size == 0 || byte_class[(uint8_t)s.data[0]] != BYTE_LETTER)
    return false;
  for (size_t i = 1; i < s.size; i++)
    if (!(byte_class[(uint8_t)s.data[i]] & (BYTE_LETTER | BYTE_DIGIT)))
      return false;
  return true;
}

/* True when "…" cannot hold the string, or should not show it. */
static bool
needs_escapes(OnnxlStr s)
{
  for (size_t i = 0; i < s.size;) {
    uint8_t class = byte_class[(uint8_t)s.data[i]];
    if (class & BYTE_CONTROL)
      return true;
    if (!(class & BYTE_HIGH)) {
      i++;
      continue;
    }
    uint32_t c;
    size_t n = onnxl_utf8_next(onnxl_str_n(s.data + i, s.size - i), &c);
    if (n == 0 || onnxl_is_unsafe_char(c))
      return true;
    i += n;
  }
  return false;
}

static void
escaped_string(TextPrinter *p, OnnxlStr s)
{
  onnxl_output_text(p->out, "!\"");
  for (size_t i = 0; i < s.size;) {
    uint8_t byte = (uint8_t)s.data[i];
    uint8_t class = byte_class[byte];
    uint32_t c = byte;
    size_t n = class & BYTE_HIGH ? onnxl_utf8_next(onnxl_str_n(s.data + i, s.size - i), &c) : 1;
    if (n == 0 || class & (BYTE_CONTROL | BYTE_BREAK)) {
      if (byte == '\n' || byte == '\r' || byte == '\t')
        onnxl_output_printf(p->out, "\\%c", byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't');
      else
        onnxl_output_printf(p->out, "\\x%02x", byte);
      n = 1;
    } else if (class & BYTE_HIGH && onnxl_is_unsafe_char(c)) {
      onnxl_output_printf(p->out, "\\u{%x}", c);
    } else {
      if (class & BYTE_ESCAPE)
        onnxl_output_char(p->out, '\\');
      onnxl_output_write(p->out, s.data + i, n);
    }
    i += n;
  }
  onnxl_output_char(p->out, '"');
}

/* True when eight bytes at once are ASCII above the blank's row, neither quote, backslash nor DEL: what a string can
 * hold as it is. */
static bool
are_plain(const char *data)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
  uint64_t bytes;

  memcpy(&bytes, data, sizeof bytes);
#define HAS_ZERO(x) (((x)-ones) & ~(x))
  return !((bytes | ((bytes - ones * ' ') & ~bytes) | HAS_ZERO(bytes ^ ones * '"') | HAS_ZERO(bytes ^ ones * '\\') |
            HAS_ZERO(bytes ^ ones * 0x7f)) &
           high);
#undef HAS_ZERO
}

static void
present_string(TextPrinter *p, OnnxlStr s)
{
  uint8_t classes = 0;

  for (size_t i = 0; i < s.size;) {
    if (s.size - i >= 8 && are_plain(s.data + i)) {
      i += 8;
      continue;
    }
    classes |= byte_class[(uint8_t)s.data[i++]];
  }
  if (classes & (BYTE_CONTROL | BYTE_HIGH) && p->options->lossy) {
    onnxl_text_portable_string(p, s);
  } else if (classes & (BYTE_CONTROL | BYTE_HIGH) && needs_escapes(s)) {
    escaped_string(p, s);
    return;
  }
  onnxl_output_char(p->out, '"');
  if (!(classes & (BYTE_ESCAPE | BYTE_BREAK))) {
    onnxl_text_put(p, s.data, s.size);
  } else {
    for (size_t i = 0; i < s.size; i++) {
      if (s.data[i] == '\n') {
        onnxl_text_newline(p);
        continue;
      }
      if (byte_class[(uint8_t)s.data[i]] & BYTE_ESCAPE)
        onnxl_output_char(p->out, '\\');
      onnxl_output_char(p->out, s.data[i]);
    }
  }
  onnxl_output_char(p->out, '"');
}

void
onnxl_text_string(TextPrinter *p, OnnxlStr s)
{
  if (s.data || p->options->lossy)
    present_string(p, s);
  else
    onnxl_output_char(p->out, '?');
}

void
onnxl_text_name(TextPrinter *p, OnnxlStr name)
{
  if (onnxl_text_is_identifier(name))
    onnxl_text_put(p, name.data, name.size);
  else
    onnxl_text_string(p, name);
}

/* True for the words that start a type. */
static bool
is_type_word(OnnxlStr name)
{
  static const char *const words[] = { "seq", "map", "optional", "sparse_tensor", "opaque" };
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (onnxl_str_is(name, words[i]))
      return true;
  return onnxl_data_type_from_name(name) != ONNXL_TYPE_UNDEFINED;
}

static bool
is_number_word(OnnxlStr name)
{
  static const char *const words[] = { "inf", "infinity", "nan" };
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
    if (name.size == strlen(words[i]) && g_ascii_strncasecmp(name.data, words[i], name.size) == 0)
      return true;
  return false;
}

void
onnxl_text_untyped_name(TextPrinter *p, OnnxlStr name)
{
  if (is_type_word(name))
    present_string(p, name);
  else
    onnxl_text_name(p, name);
}

void
onnxl_text_graph_value_name(TextPrinter *p, OnnxlStr name)
{
  if (is_number_word(name))
    present_string(p, name);
  else
    onnxl_text_untyped_name(p, name);
}

void
onnxl_text_dotted(TextPrinter *p, OnnxlStr name)
{
  bool start = true;

  for (size_t i = 0; i < name.size; i++) {
    uint8_t class = byte_class[(uint8_t)name.data[i]];
    if (name.data[i] == '.' && !start) {
      start = true;
    } else if (class & BYTE_LETTER || (class & BYTE_DIGIT && !start)) {
      start = false;
    } else {
      onnxl_text_string(p, name);
      return;
    }
  }
  if (start) /* empty, absent, or a dot at the end */
    onnxl_text_string(p, name);
  else
    onnxl_text_put(p, name.data, name.size);
}

static size_t
hex_bits(char *text, uint64_t bits, unsigned digits)
{
  static const char hex[] = "0123456789abcdef";
  memcpy(text, "!0x", 3);
  for (unsigned i = 0; i < digits; i++)
    text[3 + i] = hex[bits >> 4 * (digits - 1 - i) & 15];
  return 3 + digits;
}

/* True when the bits of a NaN are written; portable text has but a name for it. */
static bool
keeps_nan_bits(TextPrinter *p)
{
  if (!p->options->lossy)
    return true;
  if (!p->nan_lost && !p->quiet)
    onnxl_diag(p->options->lossy, ONNXL_DIAG_LOSSY, NULL, "the bits of NaNs that are not the usual one are left out");
  p->nan_lost = true;
  return false;
}

size_t
onnxl_text_float(TextPrinter *p, char *text, float value)
{
  uint32_t bits = onnxl_float_bits(value);
  /* Only the quiet NaN without payload has a name. */
  if ((bits & 0x7fffffff) > 0x7f800000 && (bits & 0x7fffffff) != 0x7fc00000 && keeps_nan_bits(p))
    return hex_bits(text, bits, 8);
  return onnxl_print_float(text, value);
}

size_t
onnxl_text_double(TextPrinter *p, char *text, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t magnitude = bits & INT64_MAX;
  if (magnitude > UINT64_C(0x7ff0000000000000) && magnitude != UINT64_C(0x7ff8000000000000) &&
      keeps_nan_bits(p))
    return hex_bits(text, bits, 16);
  return onnxl_print_double(text, value);
}

void
onnxl_text_item(TextPrinter *p, bool first, const char *text, size_t size)
{
  if (!first) {
    onnxl_output_char(p->out, ',');
    /* A blank before the item, a comma or a bracket behind it. */
    if (onnxl_text_column(p) + 1 + size + 1 > TEXT_COLUMNS) {
      onnxl_text_newline(p);
      onnxl_output_spaces(p->out, p->indent + TEXT_ENTRY_INDENT);
    } else {
      onnxl_output_char(p->out, ' ');
    }
  }
  onnxl_text_put(p, text, size);
}

void
onnxl_text_uint_item(TextPrinter *p, bool first, uint64_t value)
{
  char digits[20];
  char *at = digits + sizeof digits;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  onnxl_text_item(p, first, at, (size_t)(digits + sizeof digits - at));
}

void
onnxl_text_int_item(TextPrinter *p, bool first, int64_t value)
{
  char digits[20];
  char *at = digits + sizeof digits;
  uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do {
    *--at = (char)('0' + magnitude % 10);
    magnitude /= 10;
  } while (magnitude > 0);
  if (value < 0)
    *--at = '-';
  onnxl_text_item(p, first, at, (size_t)(digits + sizeof digits - at));
}

void
onnxl_text_int_items(TextPrinter *p, const OnnxlInt64List *list)
{
  for (size_t i = 0; i < list->count; i++)
    onnxl_text_int_item(p, i == 0, list->items[i]);
}

void
onnxl_text_float_items(TextPrinter *p, const OnnxlFloatList *list)
{
  char text[ONNXL_NUMBER_SIZE];
  for (size_t i = 0; i < list->count; i++)
    onnxl_text_item(p, i == 0, text, onnxl_text_float(p, text, list->items[i]));
}

/* True after a note was written and a new line started for what needs it. */
static bool
break_for_note(TextPrinter *p, TextNeeds needs)
{
  if (!((p->notes ^ needs.words) & needs.mask) || p->options->lossy)
    return false;
  onnxl_text_newline(p);
  onnxl_text_start_line(p, p->indent, needs);
  return true;
}

void
onnxl_text_separate(TextPrinter *p, bool first, TextNeeds needs)
{
  if (!first)
    onnxl_output_char(p->out, ',');
  if (!break_for_note(p, needs) && !first)
    onnxl_output_char(p->out, ' ');
}

void
onnxl_text_blank(TextPrinter *p, TextNeeds needs)
{
  if (!break_for_note(p, needs))
    onnxl_output_char(p->out, ' ');
}
