/* What the parts of the text reader share: findings, going on behind one, lists, the scratch stack, the depth limit. */
#include "proto/text-internal.h"

#include <stdarg.h>

#include "support/size.h"

/* Finds the line of a place. Findings come nearly in order, so that counting from the last one is cheap. */
static void
find_line(OnnxlReader *r, const char *at)
{
  const char *line_break;

  while (at < r->line_start) {
    line_break = memrchr(r->text, '\n', (size_t)(r->line_start - 1 - r->text));
    r->line_at = r->line_start = line_break ? line_break + 1 : r->text;
    r->line--;
  }
  if (at <= r->line_at)
    return;
  while ((line_break = memchr(r->line_at, '\n', (size_t)(at - r->line_at)))) {
    r->line_at = r->line_start = line_break + 1;
    r->line++;
  }
  r->line_at = at;
}

bool
onnxl_reader_report(OnnxlReader *r, OnnxlDiagId id, const char *start, const char *end, const char *format, ...)
{
  va_list args;

  find_line(r, start);
  const char *line_break = memchr(start, '\n', (size_t)(end - start));
  OnnxlLocation where = {
    .line = r->line,
    .column = (uint32_t)MIN(start - r->line_start + 1, UINT32_MAX),
    .length = (uint32_t)MIN((line_break ? line_break : end) - start, UINT32_MAX),
  };
  va_start(args, format);
  char *message = g_strdup_vprintf(format, args);
  va_end(args);
  onnxl_diag(r->sink, id, &where, "%s", message);
  g_free(message);
  return false;
}

/* How a token is called in messages: at most this much of it is quoted. */
enum { QUOTED = 40 };

static void
describe(const OnnxlReader *r, char text[QUOTED + 32])
{
  const OnnxlToken *token = &r->token;
  size_t size = (size_t)(token->end - token->start);

  if (token->kind == ONNXL_TOKEN_END)
    strcpy(text, "end of file");
  else if (token->kind == ONNXL_TOKEN_STRING)
    strcpy(text, "a string");
  else
    g_snprintf(text, QUOTED + 32, size > QUOTED ? "`%.*s…`" : "`%.*s`", (int)MIN(size, QUOTED), token->start);
}

/* Non-ASCII characters that get into texts unseen, or look like one that is meant. */
static const struct {
  gunichar code;
  const char *name;
} characters[] = {
  { 0x00a0, "no-break space" },
  { 0x00ad, "soft hyphen" },
  { 0x2009, "thin space" },
  { 0x200b, "zero width space" },
  { 0x200e, "left-to-right mark" },
  { 0x200f, "right-to-left mark" },
  { 0x2010, "hyphen" },
  { 0x2013, "en dash" },
  { 0x2014, "em dash" },
  { 0x2018, "left single quotation mark" },
  { 0x2019, "right single quotation mark" },
  { 0x201c, "left double quotation mark" },
  { 0x201d, "right double quotation mark" },
  { 0x202f, "narrow no-break space" },
  { 0x2190, "leftwards arrow" },
  { 0x2192, "rightwards arrow" },
  { 0x21d2, "rightwards double arrow" },
  { 0x2212, "minus sign" },
  { 0x3000, "ideographic space" },
  { 0xfeff, "byte order mark" },
};

static bool
report_character(OnnxlReader *r)
{
  const OnnxlToken *token = &r->token;
  gunichar c = g_utf8_get_char_validated(token->start, token->end - token->start);

  if (c >= 0x110000)
    return onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CHAR, token, "byte %02X, which is not UTF-8, outside a string",
                                  (uint8_t)*token->start);
  for (size_t i = 0; i < G_N_ELEMENTS(characters); i++)
    if (characters[i].code == c)
      return onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CHAR, token, "U+%04X %s outside a string", c,
                                    characters[i].name);
  if (c < ' ' || c == 0x7f)
    return onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CHAR, token, "control character U+%04X outside a string", c);
  return onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CHAR, token,
                                "U+%04X outside a string; a name with such a character is quoted", c);
}

static bool
report_bad(OnnxlReader *r)
{
  const OnnxlToken *token = &r->token;
  OnnxlStr text = onnxl_str_n(token->start, (size_t)(token->end - token->start));

  switch ((OnnxlBadToken)token->bad) {
  case ONNXL_BAD_CHAR:
    return report_character(r);
  case ONNXL_BAD_EXPONENT:
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, token, "`%.*s` has an exponent without digits",
                                  ONNXL_ARG(text));
  case ONNXL_BAD_NUMBER:
  case ONNXL_BAD_MINUS:
    return onnxl_reader_report_at(r, ONNXL_DIAG_NUMBER, token, "`%.*s` is not a number", ONNXL_ARG(text));
  case ONNXL_BAD_ESCAPE:
    return onnxl_reader_report(r, ONNXL_DIAG_ESCAPE, token->at, token->at + 2,
                               "unknown escape `%.2s`; there are \\\\ \\\" \\n \\r \\t \\xHH \\u{H…}", token->at);
  case ONNXL_BAD_UNTERMINATED:
    break;
  }
  return onnxl_reader_report(r, ONNXL_DIAG_UNTERMINATED_STRING, token->at, token->at + 1,
                             "string not closed on any line");
}

bool
onnxl_reader_expected(OnnxlReader *r, const char *format, ...)
{
  char found[QUOTED + 32];
  va_list args;

  if (r->error)
    return false;
  if (onnxl_reader_at(r, ONNXL_TOKEN_BAD))
    return report_bad(r);
  if (onnxl_reader_at(r, '\''))
    return onnxl_reader_report_at(r, ONNXL_DIAG_SINGLE_QUOTE, &r->token, "strings and names use double quotes");
  describe(r, found);
  va_start(args, format);
  char *what = g_strdup_vprintf(format, args);
  va_end(args);
  bool stray = r->token.kind < 256 && strchr(";%^&|~$\\`*+", r->token.kind);
  onnxl_reader_report_at(r, stray ? ONNXL_DIAG_STRAY_CHAR : ONNXL_DIAG_EXPECTED, &r->token, "expected %s, found %s",
                         what, found);
  g_free(what);
  return false;
}

bool
onnxl_reader_expect(OnnxlReader *r, uint32_t kind, const char *what)
{
  return onnxl_reader_accept(r, kind) || onnxl_reader_expected(r, "%s", what);
}

bool
onnxl_reader_exhausted(OnnxlReader *r)
{
  if (!r->error)
    onnxl_fail(&r->error, ONNXL_ERROR_LIMIT, "the model needs more than %zu bytes of metadata (--max-metadata)",
               onnxl_arena_budget(r->arena));
  return false;
}

bool
onnxl_reader_enter(OnnxlReader *r, uint32_t levels)
{
  if (r->max_depth - r->depth >= levels) {
    r->depth += levels;
    return true;
  }
  if (!r->error) {
    find_line(r, r->token.start);
    onnxl_fail(&r->error, ONNXL_ERROR_LIMIT,
               "%s:%u:%zu: the model is nested more deeply than a depth of %u (--max-depth)",
               r->model->file ? r->model->file->name : "text", r->line, (size_t)(r->token.start - r->line_start + 1),
               r->max_depth);
  }
  return false;
}

static uint32_t
closer_of(uint32_t opener)
{
  switch (opener) {
  case '(':
    return ')';
  case '[':
  case ONNXL_TOKEN_OPEN_ELEMENTS:
    return ']';
  case '{':
  case ONNXL_TOKEN_OPEN_BLOCK:
    return '}';
  case '<':
    return '>';
  default:
    return 0;
  }
}

static bool
at_any_arrow(const OnnxlReader *r)
{
  return onnxl_reader_at_arrow(r) || (onnxl_reader_at(r, '-') && r->at < r->end && *r->at == '>');
}

/* What a recovery stops at, outside brackets that were opened since. */
typedef struct Stops {
  uint32_t kinds[2];
  bool line; /* the first token of a line, but not the one the recovery starts at */
} Stops;

/* Moves to a stop. A closer that does not fit the innermost open bracket closes nothing. */
static bool
recover(OnnxlReader *r, Stops stops)
{
  size_t mark = r->scratch_used;
  bool start = true;

  for (; !r->error && !onnxl_reader_at(r, ONNXL_TOKEN_END); start = false, onnxl_reader_next(r)) {
    uint32_t kind = r->token.kind;
    bool nested = r->scratch_used > mark;
    if (!nested &&
        (kind == stops.kinds[0] || kind == stops.kinds[1] || (stops.line && !start && r->token.first_on_line)))
      return true;
    char closer = (char)closer_of(kind);
    if (at_any_arrow(r))
      onnxl_reader_next(r); /* its `>` is no closer */
    else if (closer != 0)
      onnxl_reader_push(r, &closer, 1);
    else if (nested && kind == (uint8_t)r->scratch[r->scratch_used - 1])
      r->scratch_used--;
  }
  r->scratch_used = mark;
  return false;
}

bool
onnxl_reader_recover_list(OnnxlReader *r, uint32_t closer)
{
  /* A string that is not closed has swallowed the closers of the node; the next line is a better place to go on. */
  if (r->in_node && onnxl_reader_at(r, ONNXL_TOKEN_BAD) && r->token.bad == ONNXL_BAD_UNTERMINATED)
    return false;
  return recover(r, (Stops){ { ',', closer }, false });
}

bool
onnxl_reader_recover_behind(OnnxlReader *r, uint32_t closer)
{
  return recover(r, (Stops){ { closer, closer }, false }) && onnxl_reader_next(r);
}

bool
onnxl_reader_recover_node(OnnxlReader *r)
{
  return recover(r, (Stops){ { '}', '}' }, true });
}

bool
onnxl_reader_recover_body(OnnxlReader *r)
{
  return recover(r, (Stops){ { '{', '{' }, false });
}

bool
onnxl_reader_no_separator(OnnxlReader *r, uint32_t closer)
{
  switch (r->token.kind) {
  case ONNXL_TOKEN_IDENTIFIER:
  case ONNXL_TOKEN_STRING:
  case ONNXL_TOKEN_INT:
  case ONNXL_TOKEN_FLOAT:
  case ONNXL_TOKEN_BITS:
  case ONNXL_TOKEN_NUMBERED:
  case ONNXL_TOKEN_ABSENT:
  case '@':
    return onnxl_reader_report_at(r, ONNXL_DIAG_MISSING_COMMA, &r->token, "expected `,` or `%c` here", (int)closer);
  default:
    return onnxl_reader_expected(r, "`,` or `%c`", (int)closer);
  }
}

bool
onnxl_reader_list(OnnxlReader *r, uint32_t closer, OnnxlReadItem item, void *data)
{
  if (onnxl_reader_accept(r, closer))
    return true;
  for (;;) {
    size_t mark = r->scratch_used;
    bool ok = item(r, data);
    if (!ok)
      r->scratch_used = mark; /* what the item left half done */
    if (ok && !onnxl_reader_at(r, ',') && !onnxl_reader_at(r, closer))
      ok = onnxl_reader_no_separator(r, closer);
    if (!ok && !onnxl_reader_recover_list(r, closer))
      return false;
    if (onnxl_reader_accept(r, closer))
      return true;
    OnnxlToken comma = r->token;
    onnxl_reader_next(r);
    if (onnxl_reader_at(r, closer)) {
      onnxl_reader_report_at(r, ONNXL_DIAG_TRAILING_COMMA, &comma, "remove the comma before `%c`", (int)closer);
      return onnxl_reader_next(r);
    }
  }
}

/* Number of letters to insert, delete, replace or swap with their neighbour to get from a to b. */
static size_t
edit_distance(OnnxlStr a, const char *b, size_t b_size)
{
  enum { LONGEST = 40 };
  uint8_t rows[3][LONGEST + 1];
  uint8_t *before = rows[0], *last = rows[1], *row = rows[2];

  if (a.size > LONGEST || b_size > LONGEST)
    return SIZE_MAX;
  for (size_t j = 0; j <= b_size; j++)
    last[j] = (uint8_t)j;
  for (size_t i = 1; i <= a.size; i++) {
    row[0] = (uint8_t)i;
    for (size_t j = 1; j <= b_size; j++) {
      int cost = last[j - 1] + (a.data[i - 1] != b[j - 1]);
      cost = MIN(cost, MIN(last[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a.data[i - 1] == b[j - 2] && a.data[i - 2] == b[j - 1])
        cost = MIN(cost, before[j - 2] + 1);
      row[j] = (uint8_t)cost;
    }
    uint8_t *free_row = before;
    before = last;
    last = row;
    row = free_row;
  }
  return last[b_size];
}

const char *
onnxl_text_similar(OnnxlStr word, OnnxlCandidate candidate, const void *data)
{
  const char *best = NULL, *other;
  size_t best_distance = MIN(2, word.size / 2) + 1;

  for (size_t i = 0; (other = candidate(data, i)); i++) {
    size_t distance = edit_distance(word, other, strlen(other));
    if (distance < best_distance) {
      best = other;
      best_distance = distance;
    }
  }
  return best;
}

/* Makes room for size more bytes, within what the arena may still take. */
static bool
grow_scratch(OnnxlReader *r, size_t size)
{
  enum { LEAST = 8192 };
  size_t budget = onnxl_arena_budget(r->arena), used = onnxl_arena_used(r->arena), doubled, wanted;

  if (!onnxl_size_mul(MAX(r->scratch_size, LEAST), 2, &doubled) || !onnxl_size_add(doubled, size, &wanted) ||
      (doubled > 2 * LEAST && (used > budget || doubled > budget - used)))
    return onnxl_reader_exhausted(r);
  char *grown = g_try_realloc(r->scratch, wanted);
  if (!grown)
    return onnxl_reader_exhausted(r);
  r->scratch = grown;
  r->scratch_size = wanted;
  return true;
}

bool
onnxl_reader_push(OnnxlReader *r, const void *bytes, size_t size)
{
  if (size > r->scratch_size - r->scratch_used && !grow_scratch(r, size))
    return false;
  memcpy(r->scratch + r->scratch_used, bytes, size);
  r->scratch_used += size;
  return true;
}

bool
onnxl_reader_push_varint(OnnxlReader *r, uint64_t value)
{
  uint8_t bytes[10];
  size_t n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (uint8_t)(value | 0x80);
  bytes[n++] = (uint8_t)value;
  return onnxl_reader_push(r, bytes, n);
}

void *
onnxl_reader_pop(OnnxlReader *r, size_t mark, size_t *ret_size)
{
  size_t size = r->scratch_used - mark;
  void *copy = size > 0 ? onnxl_arena_alloc(r->arena, size) : NULL;

  if (copy)
    memcpy(copy, r->scratch + mark, size);
  else if (size > 0)
    onnxl_reader_exhausted(r);
  r->scratch_used = mark;
  *ret_size = copy ? size : 0;
  return copy;
}
