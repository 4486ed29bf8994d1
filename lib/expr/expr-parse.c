/* Text to expression, by recursive descent:
 *
 *   max     = min { "^" min }
 *   min     = sum { "&" sum }
 *   sum     = product { ("+" | "-") product }
 *   product = prefix { ("*" | "//" | "/:" | "%") prefix }
 *   prefix  = { "+" | "-" } atom
 *   atom    = integer | name | '"' name '"' | function "(" max { "," max } ")" | "(" max ")"
 *
 * Chains are loops, so that only parentheses and calls nest. */
#include "expr/expr-internal.h"

#include "support/error.h"

typedef enum TokenKind {
  TOKEN_END,
  TOKEN_INTEGER,
  TOKEN_NAME,
  TOKEN_QUOTED,
  TOKEN_FLOOR_DIV,
  TOKEN_EXACT_DIV,
  TOKEN_CHARACTER, /* one of + - * % ^ & ( ) , */
} TokenKind;

typedef struct Parser {
  OnnxlExprPool *pool;
  OnnxlStr text;
  size_t at;
  TokenKind kind;
  OnnxlStr token;
  uint64_t integer;
  uint32_t depth;
  uint32_t max_depth;
  GError **error;
} Parser;

/* A parse function returns false after setting the error; an expression of NULL is a value that cannot be held. */
static bool parse_max(Parser *parser, OnnxlExpr *ret_e);

static bool
fail(Parser *parser, const char *format, OnnxlStr about)
{
  char *valid = g_utf8_make_valid(about.data ? about.data : "", (gssize)MIN(about.size, 100));
  onnxl_fail(parser->error, ONNXL_ERROR_INVALID, format, valid);
  g_free(valid);
  return false;
}

static bool
is_name_start(char c)
{
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool
is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool
scan_integer(Parser *parser)
{
  uint64_t value = 0;
  size_t start = parser->at;
  for (; parser->at < parser->text.size && is_digit(parser->text.data[parser->at]); parser->at++) {
    unsigned digit = (unsigned)(parser->text.data[parser->at] - '0');
    if (value > ((uint64_t)INT64_MAX + 1 - digit) / 10)
      return fail(parser, "integer literal out of range in expression '%s'", parser->text);
    value = value * 10 + digit;
  }
  parser->kind = TOKEN_INTEGER;
  parser->token = onnxl_str_n(parser->text.data + start, parser->at - start);
  parser->integer = value;
  return true;
}

static bool
scan_quoted(Parser *parser)
{
  size_t start = ++parser->at;
  for (; parser->at < parser->text.size; parser->at++) {
    char c = parser->text.data[parser->at];
    if (c == '"') {
      parser->kind = TOKEN_QUOTED;
      parser->token = onnxl_str_n(parser->text.data + start, parser->at - start);
      parser->at++;
      return true;
    }
    if (c == '\\') {
      parser->at++;
      if (parser->at == parser->text.size)
        break;
      if (parser->text.data[parser->at] != '"' && parser->text.data[parser->at] != '\\')
        return fail(parser, "unexpected '\\%s' in quoted name", onnxl_str_n(parser->text.data + parser->at, 1));
    }
  }
  return fail(parser, "quoted name without end in expression '%s'", parser->text);
}

static bool
advance(Parser *parser)
{
  OnnxlStr text = parser->text;
  while (parser->at < text.size &&
         (text.data[parser->at] == ' ' || (text.data[parser->at] >= '\t' && text.data[parser->at] <= '\r')))
    parser->at++;
  size_t start = parser->at;
  if (start == text.size) {
    parser->kind = TOKEN_END;
    parser->token = ONNXL_STR("");
    return true;
  }
  char c = text.data[start];
  if (is_digit(c))
    return scan_integer(parser);
  if (c == '"')
    return scan_quoted(parser);
  if (is_name_start(c)) {
    while (parser->at < text.size && (is_name_start(text.data[parser->at]) || is_digit(text.data[parser->at])))
      parser->at++;
    parser->kind = TOKEN_NAME;
  } else if (c == '/' && start + 1 < text.size && (text.data[start + 1] == '/' || text.data[start + 1] == ':')) {
    parser->kind = text.data[start + 1] == '/' ? TOKEN_FLOOR_DIV : TOKEN_EXACT_DIV;
    parser->at += 2;
  } else if (c != '\0' && strchr("+-*%^&(),", c)) {
    parser->kind = TOKEN_CHARACTER;
    parser->at++;
  } else {
    return fail(parser, "unexpected character '%s' in expression", onnxl_str_n(text.data + start, 1));
  }
  parser->token = onnxl_str_n(text.data + start, parser->at - start);
  return true;
}

static bool
at_character(const Parser *parser, char c)
{
  return parser->kind == TOKEN_CHARACTER && parser->token.data[0] == c;
}

static bool
unexpected(Parser *parser)
{
  return fail(parser, "unexpected token '%s' in expression", parser->token);
}

static bool
expect(Parser *parser, char c)
{
  return at_character(parser, c) ? advance(parser) : unexpected(parser);
}

/* A growing list of operands; unknown stays set once a NULL was added. */
typedef struct Operands {
  OnnxlExpr *items;
  size_t n, capacity;
  bool unknown;
} Operands;

static void
operands_add(Operands *operands, OnnxlExpr e)
{
  if (operands->n == operands->capacity) {
    /* At most one operand a byte of text. */
    operands->capacity = operands->capacity ? operands->capacity * 2 : 4;
    operands->items = g_renew(OnnxlExpr, operands->items, operands->capacity);
  }
  operands->items[operands->n++] = e;
  operands->unknown = operands->unknown || !e;
}

static OnnxlExpr
operands_extremum(Parser *parser, const Operands *operands, bool maximum)
{
  if (operands->unknown)
    return NULL;
  return maximum ? onnxl_expr_max_of(parser->pool, operands->items, operands->n)
                 : onnxl_expr_min_of(parser->pool, operands->items, operands->n);
}

static bool
call(Parser *parser, OnnxlStr function, const Operands *arguments, OnnxlExpr *ret_e)
{
  bool max = onnxl_str_is(function, "max") || onnxl_str_is(function, "Max");
  bool min = onnxl_str_is(function, "min") || onnxl_str_is(function, "Min");
  if (max || min) {
    *ret_e = operands_extremum(parser, arguments, max);
    return true;
  }
  if (!onnxl_str_is(function, "CeilToInt"))
    return fail(parser, "unknown function '%s' in expression", function);
  if (arguments->n != 2)
    return fail(parser, "function '%s' needs 2 arguments", function);
  if (onnxl_expr_is_int(arguments->items[1], NULL) && arguments->items[1]->value == 0)
    return fail(parser, "division by zero in expression '%s'", parser->text);
  *ret_e = onnxl_expr_ceil_div(parser->pool, arguments->items[0], arguments->items[1]);
  return true;
}

/* The parser stands behind the opening parenthesis. */
static bool
parse_call(Parser *parser, OnnxlStr function, OnnxlExpr *ret_e)
{
  Operands arguments = { 0 };
  bool ok = true;
  for (bool more = true; more && ok;) {
    OnnxlExpr argument;
    ok = parse_max(parser, &argument);
    if (!ok)
      break;
    operands_add(&arguments, argument);
    more = at_character(parser, ',');
    if (more)
      ok = advance(parser);
  }
  ok = ok && expect(parser, ')') && call(parser, function, &arguments, ret_e);
  g_free(arguments.items);
  return ok;
}

static OnnxlExpr
quoted_symbol(Parser *parser)
{
  GString *name = g_string_sized_new(parser->token.size);
  for (size_t i = 0; i < parser->token.size; i++) {
    if (parser->token.data[i] == '\\')
      i++;
    g_string_append_c(name, parser->token.data[i]);
  }
  OnnxlExpr symbol = onnxl_expr_symbol(parser->pool, onnxl_str_n(name->str, name->len));
  g_string_free(name, TRUE);
  return symbol;
}

static bool
parse_atom(Parser *parser, OnnxlExpr *ret_e)
{
  OnnxlStr name = parser->token;
  switch (parser->kind) {
  case TOKEN_INTEGER:
    if (parser->integer > INT64_MAX)
      return fail(parser, "integer literal out of range in expression '%s'", parser->text);
    *ret_e = onnxl_expr_int(parser->pool, (int64_t)parser->integer);
    return advance(parser);
  case TOKEN_QUOTED:
    *ret_e = quoted_symbol(parser);
    return advance(parser);
  case TOKEN_NAME:
    if (!advance(parser))
      return false;
    if (!at_character(parser, '(')) {
      *ret_e = onnxl_expr_symbol(parser->pool, name);
      return true;
    }
    break;
  default:
    if (!at_character(parser, '('))
      return unexpected(parser);
    name = (OnnxlStr){ NULL, 0 };
  }
  if (parser->depth == parser->max_depth) {
    onnxl_fail(parser->error, ONNXL_ERROR_INVALID, "expression is nested more than %u levels deep", parser->max_depth);
    return false;
  }
  parser->depth++;
  bool ok =
    advance(parser) && (name.data ? parse_call(parser, name, ret_e) : parse_max(parser, ret_e) && expect(parser, ')'));
  parser->depth--;
  return ok;
}

static bool
parse_prefix(Parser *parser, OnnxlExpr *ret_e)
{
  bool negative = false;
  while (at_character(parser, '+') || at_character(parser, '-')) {
    negative ^= parser->token.data[0] == '-';
    if (!advance(parser))
      return false;
  }
  /* The only literal that exists with a minus and not without. */
  if (negative && parser->kind == TOKEN_INTEGER && parser->integer == (uint64_t)INT64_MAX + 1) {
    *ret_e = onnxl_expr_int(parser->pool, INT64_MIN);
    return advance(parser);
  }
  if (!parse_atom(parser, ret_e))
    return false;
  if (negative)
    *ret_e = onnxl_expr_neg(parser->pool, *ret_e);
  return true;
}

static bool
parse_product(Parser *parser, OnnxlExpr *ret_e)
{
  OnnxlExpr value;
  if (!parse_prefix(parser, &value))
    return false;
  /* Literal factors wait for each other: a long sum is then multiplied once. */
  OnnxlExpr literal = NULL;
  for (;;) {
    TokenKind kind = parser->kind;
    char c = kind == TOKEN_CHARACTER ? parser->token.data[0] : '\0';
    if (kind != TOKEN_FLOOR_DIV && kind != TOKEN_EXACT_DIV && c != '*' && c != '%')
      break;
    OnnxlExpr operand;
    if (!advance(parser) || !parse_prefix(parser, &operand))
      return false;
    if (c == '*') {
      if (!onnxl_expr_is_int(operand, NULL))
        value = onnxl_expr_mul(parser->pool, value, operand);
      else if (!literal)
        literal = operand;
      else if (!(literal = onnxl_expr_mul(parser->pool, literal, operand)))
        value = NULL;
      continue;
    }
    if (literal)
      value = onnxl_expr_mul(parser->pool, value, literal);
    literal = NULL;
    if (onnxl_expr_is_int(operand, NULL) && operand->value == 0)
      return fail(parser, "division by zero in expression '%s'", parser->text);
    if (kind == TOKEN_FLOOR_DIV)
      value = onnxl_expr_floor_div(parser->pool, value, operand);
    else if (kind == TOKEN_EXACT_DIV)
      value = onnxl_expr_exact_div(parser->pool, value, operand);
    else
      value = onnxl_expr_mod(parser->pool, value, operand);
  }
  *ret_e = literal ? onnxl_expr_mul(parser->pool, value, literal) : value;
  return true;
}

static bool
parse_sum(Parser *parser, OnnxlExpr *ret_e)
{
  OnnxlExpr operand;
  if (!parse_product(parser, &operand))
    return false;
  if (!at_character(parser, '+') && !at_character(parser, '-')) {
    *ret_e = operand;
    return true;
  }
  SumBuilder sum;
  sum_init(&sum, parser->pool);
  sum_add(&sum, operand, 1);
  bool ok = true;
  while (ok && (at_character(parser, '+') || at_character(parser, '-'))) {
    int sign = parser->token.data[0] == '-' ? -1 : 1;
    ok = advance(parser) && parse_product(parser, &operand);
    if (ok)
      sum_add(&sum, operand, sign);
  }
  *ret_e = sum_finish(&sum);
  return ok;
}

/* A chain of one operator whose operands are parsed by next. */
static bool
parse_extremum(Parser *parser, char operator, bool (*next)(Parser *, OnnxlExpr *), OnnxlExpr *ret_e)
{
  OnnxlExpr operand;
  if (!next(parser, &operand))
    return false;
  if (!at_character(parser, operator)) {
    *ret_e = operand;
    return true;
  }
  Operands operands = { 0 };
  operands_add(&operands, operand);
  bool ok = true;
  while (ok && at_character(parser, operator)) {
    ok = advance(parser) && next(parser, &operand);
    if (ok)
      operands_add(&operands, operand);
  }
  if (ok)
    *ret_e = operands_extremum(parser, &operands, operator== '^');
  g_free(operands.items);
  return ok;
}

static bool
parse_min(Parser *parser, OnnxlExpr *ret_e)
{
  return parse_extremum(parser, '&', parse_sum, ret_e);
}

static bool
parse_max(Parser *parser, OnnxlExpr *ret_e)
{
  return parse_extremum(parser, '^', parse_min, ret_e);
}

OnnxlExpr
onnxl_expr_parse(OnnxlExprPool *pool, OnnxlStr text, uint32_t max_depth, GError **error)
{
  Parser parser = { .pool = pool, .text = text, .max_depth = MIN(max_depth, MAX_DEPTH), .error = error };
  OnnxlExpr e = NULL;
  if (!advance(&parser) || !parse_max(&parser, &e))
    return NULL;
  if (parser.kind != TOKEN_END) {
    fail(&parser, "unexpected token '%s' after expression", parser.token);
    return NULL;
  }
  if (!e)
    fail(&parser, "expression '%s' has values that do not fit into 64 bits, or is too large", text);
  return e;
}
