#include "runtime/regex-internal.h"

#include <string.h>

/* Nested groups and repetitions beyond these RE2 refuses too. */
enum { MAX_DEPTH = 200, MAX_REPEAT = 1000 };

typedef struct Translator {
  OnnxlStr in;
  size_t at;
  GString *out;
  int depth;
  bool repeatable; /* what comes before can be repeated */
} Translator;

/* The byte n after the current one, NUL after the end. NUL inside the pattern is no special character, so the two need
 * not be told apart by those who look for one. */
static char
peek(const Translator *t, size_t n)
{
  return t->in.size - t->at > n ? t->in.data[t->at + n] : '\0';
}

static bool
starts_with(const Translator *t, const char *text)
{
  size_t n = strlen(text);
  return t->in.size - t->at >= n && memcmp(t->in.data + t->at, text, n) == 0;
}

static void
copy(Translator *t, size_t n)
{
  g_string_append_len(t->out, t->in.data + t->at, (gssize)n);
  t->at += n;
}

static void
replace(Translator *t, size_t n, const char *text)
{
  g_string_append(t->out, text);
  t->at += n;
}

static void
put_code(Translator *t, unsigned code)
{
  g_string_append_printf(t->out, "\\x{%x}", code);
}

static bool
is_octal(char c)
{
  return c >= '0' && c <= '7';
}

/* \0, \012: up to three octal digits in all. */
static void
put_octal(Translator *t)
{
  unsigned code = 0;
  int n = 0;
  for (t->at++; n < 3 && is_octal(peek(t, 0)); n++, t->at++)
    code = code * 8 + (unsigned)(peek(t, 0) - '0');
  put_code(t, code);
}

/* \x7F or \x{10FFFF}. */
static const char *
put_hex(Translator *t)
{
  unsigned code = 0;
  if (peek(t, 2) == '{') {
    size_t n = 3;
    for (; g_ascii_isxdigit(peek(t, n)) && code <= 0x10ffff; n++)
      code = code * 16 + (unsigned)g_ascii_xdigit_value(peek(t, n));
    if (n == 3 || peek(t, n) != '}' || code > 0x10ffff)
      return "bad hexadecimal escape";
    t->at += n + 1;
  } else {
    if (!g_ascii_isxdigit(peek(t, 2)) || !g_ascii_isxdigit(peek(t, 3)))
      return "bad hexadecimal escape";
    code = (unsigned)(g_ascii_xdigit_value(peek(t, 2)) * 16 + g_ascii_xdigit_value(peek(t, 3)));
    t->at += 4;
  }
  put_code(t, code);
  return NULL;
}

/* \pN or \p{Greek}; PCRE2 checks the name. */
static const char *
copy_property(Translator *t)
{
  size_t n = 3;
  if (peek(t, 2) == '{') {
    while (peek(t, n) == '^' || g_ascii_isalnum(peek(t, n)) || peek(t, n) == '_')
      n++;
    if (peek(t, n) != '}')
      return "bad character property";
    n++;
  } else if (!g_ascii_isalpha(peek(t, 2)))
    return "bad character property";
  copy(t, n);
  return NULL;
}

/* \Q…\E: the text between stands for itself. */
static void
copy_quoted(Translator *t)
{
  t->at += 2;
  while (t->at < t->in.size && !starts_with(t, "\\E")) {
    if (g_ascii_ispunct(peek(t, 0)))
      g_string_append_c(t->out, '\\');
    copy(t, 1);
    t->repeatable = true;
  }
  t->at = MIN(t->at + 2, t->in.size);
}

/* An escape that means the same inside a class and outside. */
static const char *
put_escape(Translator *t)
{
  char c = peek(t, 1);
  switch (c) {
  case '1' ... '7':
    if (!is_octal(peek(t, 2)))
      return "back references are not supported";
    put_octal(t);
    return NULL;
  case '0':
    put_octal(t);
    return NULL;
  case 'x':
    return put_hex(t);
  case 'p':
  case 'P':
    return copy_property(t);
  case 'v': /* PCRE2 means all vertical space */
    replace(t, 2, "\\x{b}");
    return NULL;
  case 'a':
  case 'f':
  case 'n':
  case 'r':
  case 't':
  case 'd':
  case 'D':
  case 'w':
  case 'W':
    copy(t, 2);
    return NULL;
  default:
    if (!g_ascii_ispunct(c))
      return "unknown escape";
    copy(t, 2);
    return NULL;
  }
}

/* [:alpha:] inside a class; PCRE2 checks the name. Without an end the bracket stands for itself. */
static void
copy_named_class(Translator *t)
{
  size_t n = 2;
  while (g_ascii_isalpha(peek(t, n)) || peek(t, n) == '^')
    n++;
  if (peek(t, n) == ':' && peek(t, n + 1) == ']')
    copy(t, n + 2);
  else
    replace(t, 1, "\\[");
}

/* […]; PCRE2's \s has a vertical tab, RE2's has not. */
static const char *
copy_class(Translator *t)
{
  const char *wrong = NULL;
  copy(t, 1);
  if (peek(t, 0) == '^')
    copy(t, 1);
  for (bool first = true; !wrong && (first || peek(t, 0) != ']'); first = false) {
    if (t->at >= t->in.size)
      return "missing ]";
    if (starts_with(t, "[:"))
      copy_named_class(t);
    else if (peek(t, 0) == '[')
      replace(t, 1, "\\[");
    else if (starts_with(t, "\\s"))
      replace(t, 2, "\\t\\n\\f\\r ");
    else if (starts_with(t, "\\S"))
      replace(t, 2, "\\S\\x{b}");
    else if (peek(t, 0) == '\\')
      wrong = put_escape(t);
    else
      copy(t, 1);
  }
  if (!wrong)
    copy(t, 1);
  t->repeatable = true;
  return wrong;
}

/* Opens a group: (…), (?P<name>…), (?<name>…), (?flags), (?flags:…). */
static const char *
open_group(Translator *t)
{
  size_t n = 2;
  bool off = false;
  t->repeatable = false;
  if (peek(t, 1) == '*')
    return "verbs are not supported";
  if (peek(t, 1) != '?') {
    copy(t, 1);
    t->depth++;
    return NULL;
  }
  if (starts_with(t, "(?P<") || (starts_with(t, "(?<") && peek(t, 3) != '=' && peek(t, 3) != '!')) {
    size_t name = peek(t, 2) == 'P' ? 4 : 3;
    for (n = name; g_ascii_isalnum(peek(t, n)) || peek(t, n) == '_'; n++)
      ;
    if (n == name || peek(t, n) != '>')
      return "bad name of a group";
    /* The name has no use in a match, and PCRE2 takes fewer than RE2. */
    replace(t, n + 1, "(");
    t->depth++;
    return NULL;
  }
  for (;; n++) {
    char c = peek(t, n);
    if (c == ':' || c == ')')
      break;
    if (c == '-' && !off)
      off = true;
    else if (c != 'i' && c != 'm' && c != 's' && c != 'U')
      return "this kind of group is not supported";
  }
  if (peek(t, n) == ':')
    t->depth++;
  copy(t, n + 1);
  return NULL;
}

/* {n}, {n,}, {n,m}. Returns its length, 0 = the brace stands for itself. */
static size_t
repetition_size(const Translator *t, bool *ret_too_many)
{
  size_t n = 1;
  for (int i = 0; i < 2; i++) {
    unsigned value = 0;
    size_t first = n;
    for (; g_ascii_isdigit(peek(t, n)); n++)
      value = MIN(value * 10 + (unsigned)(peek(t, n) - '0'), MAX_REPEAT + 1);
    *ret_too_many |= value > MAX_REPEAT;
    if (n == first && i == 0)
      return 0;
    if (peek(t, n) != ',' || i == 1)
      break;
    n++;
  }
  return peek(t, n) == '}' ? n + 1 : 0;
}

/* *, +, ?, {…} and after it perhaps a ? */
static const char *
copy_repetition(Translator *t, size_t n)
{
  if (!t->repeatable)
    return "nothing to repeat";
  copy(t, n);
  if (peek(t, 0) == '?')
    copy(t, 1);
  t->repeatable = false; /* a++ and a** are errors to RE2, the first one possessive to PCRE2 */
  return NULL;
}

static const char *
translate_escape(Translator *t)
{
  t->repeatable = true;
  switch (peek(t, 1)) {
  case 'A':
  case 'z':
  case 'b':
  case 'B':
    copy(t, 2);
    return NULL;
  case 's':
    replace(t, 2, "[\\t\\n\\f\\r ]");
    return NULL;
  case 'S':
    replace(t, 2, "[^\\t\\n\\f\\r ]");
    return NULL;
  case 'Q':
    copy_quoted(t);
    return NULL;
  default:
    return put_escape(t);
  }
}

static const char *
translate_one(Translator *t)
{
  bool too_many = false;
  size_t n;
  switch (peek(t, 0)) {
  case '\\':
    return translate_escape(t);
  case '[':
    return copy_class(t);
  case '(':
    return t->depth == MAX_DEPTH ? "groups are nested too deeply" : open_group(t);
  case ')':
    if (t->depth-- == 0)
      return "unexpected )";
    copy(t, 1);
    t->repeatable = true;
    return NULL;
  case '|':
    copy(t, 1);
    t->repeatable = false;
    return NULL;
  case '*':
  case '+':
  case '?':
    return copy_repetition(t, 1);
  case '{':
    n = repetition_size(t, &too_many);
    if (n > 0)
      return too_many ? "too many repetitions" : copy_repetition(t, n);
    replace(t, 1, "\\{");
    t->repeatable = true;
    return NULL;
  default:
    copy(t, 1);
    t->repeatable = true;
    return NULL;
  }
}

const char *
onnxl_regex_translate(OnnxlStr pattern, GString *ret_pattern, size_t *ret_at)
{
  Translator t = { .in = pattern, .out = ret_pattern };
  const char *wrong = onnxl_str_is_utf8(pattern) ? NULL : "the pattern is no UTF-8";
  g_string_truncate(ret_pattern, 0);
  while (!wrong && t.at < pattern.size) {
    *ret_at = t.at;
    wrong = translate_one(&t);
  }
  if (!wrong && t.depth > 0) {
    *ret_at = pattern.size;
    wrong = "missing )";
  }
  return wrong;
}
