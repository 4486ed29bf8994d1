/* Tokens of the textual syntax (docs/text-format.md, section 1). A token refers to the text; only strings with escapes
 * are copied. */
#include "proto/text-internal.h"

enum {
  BLANK = 1,  /* between tokens */
  LETTER = 2, /* starts an identifier */
  DIGIT = 4,
  GLUE = 8, /* starts no token behind a name, so that a name that goes on with it must have been meant to be quoted */
};

static const uint8_t classes[256] = {
  [' '] = BLANK,          ['\t'] = BLANK,         ['\n'] = BLANK, ['\v'] = BLANK,        ['\f'] = BLANK, ['\r'] = BLANK,
  ['A' ... 'Z'] = LETTER, ['a' ... 'z'] = LETTER, ['_'] = LETTER, ['0' ... '9'] = DIGIT, ['/'] = GLUE,   ['.'] = GLUE,
  [':'] = GLUE,           ['-'] = GLUE,           ['+'] = GLUE,   ['*'] = GLUE,          ['%'] = GLUE,   ['&'] = GLUE,
  ['@'] = GLUE,           ['~'] = GLUE,           ['|'] = GLUE,   ['^'] = GLUE,          ['$'] = GLUE,   ['\\'] = GLUE,
};

static inline bool
is(const OnnxlReader *r, const char *at, int class)
{
  return at < r->end && (classes[(uint8_t)*at] & class) != 0;
}

static const char *
skip(const OnnxlReader *r, const char *at, int class)
{
  while (is(r, at, class))
    at++;
  return at;
}

typedef struct NoteWord {
  const char *word;
  uint8_t clear;
  uint8_t set;
} NoteWord;

static const NoteWord note_words[] = {
  { "raw", 0, ONNXL_TEXT_NOTE_RAW },           { "typed", ONNXL_TEXT_NOTE_RAW, 0 },
  { "embed", 0, ONNXL_TEXT_NOTE_EMBED },       { "external", ONNXL_TEXT_NOTE_EMBED, 0 },
  { "-domain", 0, ONNXL_TEXT_NOTE_NO_DOMAIN }, { "+domain", ONNXL_TEXT_NOTE_NO_DOMAIN, 0 },
  { "-name", 0, ONNXL_TEXT_NOTE_NO_NAME },     { "+name", ONNXL_TEXT_NOTE_NO_NAME, 0 },
  { "-doc", 0, ONNXL_TEXT_NOTE_NO_DOC },       { "+doc", ONNXL_TEXT_NOTE_NO_DOC, 0 },
};

static const char *
note_candidate(const void *data, size_t i)
{
  return i < G_N_ELEMENTS(note_words) ? note_words[i].word : NULL;
}

/* Obeys the note between start, behind "#:", and end; one with an unknown word is an ordinary comment. */
static void
read_note(OnnxlReader *r, const char *start, const char *end)
{
  uint8_t notes = r->notes;

  for (const char *at = start;;) {
    while (at < end && (classes[(uint8_t)*at] & BLANK))
      at++;
    if (at == end)
      break;
    const char *word = at;
    while (at < end && !(classes[(uint8_t)*at] & BLANK))
      at++;
    OnnxlStr text = onnxl_str_n(word, (size_t)(at - word));
    size_t i = 0;
    while (i < G_N_ELEMENTS(note_words) && !onnxl_str_is(text, note_words[i].word))
      i++;
    if (i == G_N_ELEMENTS(note_words)) {
      const char *similar = onnxl_text_similar(text, note_candidate, NULL);
      onnxl_reader_report(r, ONNXL_DIAG_NOTE_WORD, word, at,
                          similar ? "unknown word `%.*s`, the line is a comment; did you mean `%s`?"
                                  : "unknown word `%.*s`, the line is a comment",
                          ONNXL_ARG(text), similar);
      return;
    }
    notes = (uint8_t)((notes & ~note_words[i].clear) | note_words[i].set);
  }
  r->notes = notes;
}

/* Skips blanks and comments. Returns whether there was a line break. */
static bool
skip_blanks(OnnxlReader *r)
{
  const char *at = r->at;
  bool line_break = at == r->text;

  for (;;) {
    while (is(r, at, BLANK))
      line_break |= *at++ == '\n';
    if (at == r->end || *at != '#')
      break;
    const char *end = memchr(at, '\n', (size_t)(r->end - at));
    if (!end)
      end = r->end;
    if (end - at > 1 && at[1] == ':')
      read_note(r, at + 2, end);
    at = end;
  }
  r->at = at;
  return line_break;
}

static void
set_bad(OnnxlToken *token, OnnxlBadToken bad, const char *at, const char *end)
{
  token->kind = ONNXL_TOKEN_BAD;
  token->bad = (uint8_t)bad;
  token->at = at;
  token->end = end;
}

/* A string that is closed nowhere ends with its line, so that what follows can still be looked at. Once there was one,
 * the quotes behind it cannot be told apart: then no string goes beyond its line. */
static void
set_unterminated(OnnxlReader *r, OnnxlToken *token)
{
  const char *end = memchr(token->start, '\n', (size_t)(r->end - token->start));

  r->unterminated = true;
  set_bad(token, ONNXL_BAD_UNTERMINATED, token->start, end ? end : r->end);
}

/* Finds the closing quote from at on. Returns NULL if there is none. */
static const char *
find_quote(const OnnxlReader *r, const char *at, bool *ret_escapes, bool *ret_ascii)
{
  uint8_t seen = 0;
  bool escapes = false;

  for (; at < r->end && *at != '"'; at++) {
    seen |= (uint8_t)*at;
    if (*at == '\\') {
      escapes = true;
      if (++at == r->end)
        return NULL;
      seen |= (uint8_t)*at;
    }
    if (*at == '\n' && r->unterminated)
      return NULL;
  }
  *ret_escapes = escapes;
  *ret_ascii = seen < 0x80;
  return at < r->end ? at : NULL;
}

/* Makes token the string whose text starts at from, as it stands. Returns room for the text without escapes; NULL when
 * it has none, when it is not closed, and when the arena is exhausted, which the parser finds out. */
static char *
begin_string(OnnxlReader *r, OnnxlToken *token, const char *from)
{
  bool escapes, ascii;
  const char *quote = find_quote(r, from, &escapes, &ascii);

  if (!quote) {
    set_unterminated(r, token);
    token->at = from - 1;
    return NULL;
  }
  token->kind = ONNXL_TOKEN_STRING;
  token->end = quote + 1;
  token->text = onnxl_str_n(from, (size_t)(quote - from));
  if (!ascii)
    token->not_utf8 = !onnxl_str_is_utf8(token->text);
  return escapes ? onnxl_arena_alloc(r->arena, token->text.size) : NULL;
}

/* "…": a backslash makes the next character literal. */
static void
lex_string(OnnxlReader *r, OnnxlToken *token)
{
  char *copy = begin_string(r, token, token->start + 1);
  const char *quote = token->end - 1;
  size_t n = 0;

  if (!copy)
    return;
  for (const char *at = token->text.data; at < quote; at++) {
    if (*at == '\\')
      at++;
    copy[n++] = *at;
  }
  token->text = onnxl_str_n(copy, n);
}

/* The value of up to 8 hexadecimal digits from at on. Returns their number. */
static size_t
hex_digits(const char *at, const char *end, uint32_t *ret_value)
{
  size_t n = 0;
  uint32_t value = 0;

  while (n < 8 && at + n < end && g_ascii_isxdigit(at[n]))
    value = value << 4 | (uint32_t)g_ascii_xdigit_value(at[n++]);
  *ret_value = value;
  return n;
}

/* The escape at the backslash at: appends its bytes at to. Returns the end of the escape, or NULL if it is none. */
static const char *
escape(const char *at, const char *end, char *to, size_t *n)
{
  uint32_t value;

  switch (at[1]) {
  case '\\':
  case '"':
    to[(*n)++] = at[1];
    return at + 2;
  case 'n':
    to[(*n)++] = '\n';
    return at + 2;
  case 'r':
    to[(*n)++] = '\r';
    return at + 2;
  case 't':
    to[(*n)++] = '\t';
    return at + 2;
  case 'x':
    if (hex_digits(at + 2, MIN(end, at + 4), &value) < 2)
      return NULL;
    to[(*n)++] = (char)value;
    return at + 4;
  case 'u': {
    if (end - at < 5 || at[2] != '{')
      return NULL;
    size_t digits = hex_digits(at + 3, end, &value);
    if (digits == 0 || at + 3 + digits >= end || at[3 + digits] != '}' || value > 0x10ffff ||
        (value >= 0xd800 && value < 0xe000))
      return NULL;
    /* Not longer than the escape itself: two bytes need no more than `\u{0}`. */
    *n += (size_t)g_unichar_to_utf8(value, to + *n);
    return at + 4 + digits;
  }
  default:
    return NULL;
  }
}

/* !"…": a string with escapes as in C. */
static void
lex_escaped_string(OnnxlReader *r, OnnxlToken *token)
{
  char *copy = begin_string(r, token, token->start + 2);
  const char *quote = token->end - 1;
  size_t n = 0;

  if (!copy)
    return;
  for (const char *at = token->text.data; at < quote;) {
    if (*at != '\\') {
      copy[n++] = *at++;
      continue;
    }
    const char *next = escape(at, quote, copy, &n);
    if (!next) {
      set_bad(token, ONNXL_BAD_ESCAPE, at, quote + 1);
      return;
    }
    at = next;
  }
  token->text = onnxl_str_n(copy, n);
}

/* A number that starts at the digits, which may follow a sign. */
static void
lex_number(OnnxlReader *r, OnnxlToken *token, const char *digits)
{
  const char *at = skip(r, digits, DIGIT);

  token->kind = ONNXL_TOKEN_INT;
  if (at - digits == 1 && *digits == '0' && at < r->end && (*at == 'x' || *at == 'X') && at + 1 < r->end &&
      g_ascii_isxdigit(at[1]) && digits == token->start) {
    digits = ++at;
    while (at < r->end && g_ascii_isxdigit(*at))
      at++;
    token->kind = ONNXL_TOKEN_HEX;
    token->text = onnxl_str_n(digits, (size_t)(at - digits));
    token->end = at;
    return;
  }
  if (at < r->end && *at == '.') {
    token->kind = ONNXL_TOKEN_FLOAT;
    at = skip(r, at + 1, DIGIT);
  }
  if (at < r->end && (*at == 'e' || *at == 'E')) {
    token->kind = ONNXL_TOKEN_FLOAT;
    at++;
    if (at < r->end && (*at == '+' || *at == '-'))
      at++;
    if (!is(r, at, DIGIT)) {
      set_bad(token, ONNXL_BAD_EXPONENT, token->start, skip(r, at, LETTER | DIGIT));
      return;
    }
    at = skip(r, at, DIGIT);
  }
  if (is(r, at, LETTER) || (at < r->end && *at == '.')) {
    while (is(r, at, LETTER | DIGIT) || (at < r->end && *at == '.'))
      at++;
    set_bad(token, ONNXL_BAD_NUMBER, token->start, at);
    return;
  }
  token->end = at;
  token->text = onnxl_str_n(token->start, (size_t)(at - token->start));
}

bool
onnxl_text_is_special_float(OnnxlStr word)
{
  return onnxl_text_is_word(word, "inf") || onnxl_text_is_word(word, "nan") || onnxl_text_is_word(word, "infinity");
}

static void
lex_minus(OnnxlReader *r, OnnxlToken *token)
{
  const char *from = token->start + 1;

  if (is(r, from, DIGIT)) {
    lex_number(r, token, from);
  } else if (is(r, from, LETTER)) {
    const char *at = skip(r, from, LETTER | DIGIT);
    if (!onnxl_text_is_special_float(onnxl_str_n(from, (size_t)(at - from)))) {
      set_bad(token, ONNXL_BAD_MINUS, token->start, at);
      return;
    }
    token->kind = ONNXL_TOKEN_FLOAT;
    token->end = at;
    token->text = onnxl_str_n(token->start, (size_t)(at - token->start));
  }
}

/* Tokens that start with an exclamation mark, which upstream refuses. */
static void
lex_bang(OnnxlReader *r, OnnxlToken *token)
{
  const char *from = token->start + 1;

  if (from == r->end)
    return;
  switch (*from) {
  case '"':
    lex_escaped_string(r, token);
    return;
  case '{':
    token->kind = ONNXL_TOKEN_OPEN_BLOCK;
    break;
  case '[':
    token->kind = ONNXL_TOKEN_OPEN_ELEMENTS;
    break;
  case '?':
    token->kind = ONNXL_TOKEN_ABSENT;
    break;
  default:
    if (is(r, from, DIGIT) || (*from == '-' && is(r, from + 1, DIGIT))) {
      OnnxlToken number = { .start = from, .end = from + 1 };
      lex_number(r, &number, from + (*from == '-'));
      token->kind = number.kind == ONNXL_TOKEN_INT   ? ONNXL_TOKEN_NUMBERED
                    : number.kind == ONNXL_TOKEN_HEX ? ONNXL_TOKEN_BITS
                                                     : ONNXL_TOKEN_BAD;
      token->bad = ONNXL_BAD_NUMBER;
      token->at = token->start;
      token->end = number.end;
      token->text = number.text;
    }
    return;
  }
  token->end = from + 1;
}

/* A character that starts no token: a whole one if it is UTF-8. */
static void
lex_other(OnnxlReader *r, OnnxlToken *token)
{
  gunichar c = g_utf8_get_char_validated(token->start, r->end - token->start);

  set_bad(token, ONNXL_BAD_CHAR, token->start,
          c < 0x110000 ? token->start + g_unichar_to_utf8(c, NULL) : token->start + 1);
}

bool
onnxl_reader_next(OnnxlReader *r)
{
  OnnxlToken *token = &r->token;

  r->last_end = token->end;
  bool first = skip_blanks(r);
  if (r->at == r->end) {
    /* Reported just behind the last token. */
    *token = (OnnxlToken){ .kind = ONNXL_TOKEN_END, .start = r->last_end, .end = r->last_end };
    return true;
  }
  /* The members that only some kinds have are left as they are: this runs for every token. */
  uint8_t c = (uint8_t)*r->at;
  token->kind = c;
  token->notes = r->notes;
  token->first_on_line = first;
  token->not_utf8 = false;
  token->start = r->at;
  token->end = r->at + 1;
  if (classes[c] == LETTER) {
    token->kind = ONNXL_TOKEN_IDENTIFIER;
    token->end = skip(r, r->at + 1, LETTER | DIGIT);
    token->text = onnxl_str_n(token->start, (size_t)(token->end - token->start));
  } else if (c == '"') {
    lex_string(r, token);
  } else if (classes[c] == DIGIT) {
    lex_number(r, token, token->start);
  } else if (c == '-') {
    lex_minus(r, token);
  } else if (c == '!') {
    lex_bang(r, token);
  } else if (c == '.') {
    if (r->end - r->at >= 3 && r->at[1] == '.' && r->at[2] == '.') {
      token->kind = ONNXL_TOKEN_ELIDED;
      token->end = r->at + 3;
    }
  } else if (c < ' ' || c >= 0x7f) {
    lex_other(r, token);
  }
  r->at = token->end;
  return true;
}

bool
onnxl_reader_glued(const OnnxlReader *r, const char *start, const char *at, bool separators, OnnxlStr *ret_run)
{
  if (!is(r, at, GLUE | LETTER | DIGIT) || (separators && (*at == ':' || *at == '.')))
    return false;
  while (is(r, at, GLUE | LETTER | DIGIT))
    at++;
  *ret_run = onnxl_str_n(start, (size_t)(at - start));
  return true;
}
