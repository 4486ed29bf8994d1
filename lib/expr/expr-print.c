/* Canonical text.
 *
 * Terms and factors stand in the byte order of their texts. The constant of a sum comes last, inside a numerator or a
 * divisor a positive one comes first: 2*b+3*c+a+1, (1+b+c)//2. Parentheses stand around every division that is
 * multiplied, negated in front of a sum, or divided by. */
#include "expr/expr-internal.h"

#include <stdlib.h>

/* Longest expression quoted in a message, in bytes. */
#define MESSAGE_LENGTH 200

static void write_expression(GString *out, OnnxlExpr e);

static bool
is_operation(OnnxlExpr e)
{
  return e->kind == NODE_FLOOR_DIV || e->kind == NODE_EXACT_DIV || e->kind == NODE_MOD || e->kind == NODE_SUM;
}

static void
write_name(GString *out, OnnxlStr name)
{
  if (onnxl_str_is_identifier(name)) {
    g_string_append_len(out, name.data, (gssize)name.size);
    return;
  }
  g_string_append_c(out, '"');
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == '"' || name.data[i] == '\\')
      g_string_append_c(out, '\\');
    g_string_append_c(out, name.data[i]);
  }
  g_string_append_c(out, '"');
}

/* Texts of the parts of one expression, to be sorted. */
typedef struct Part {
  size_t start, size; /* in Parts.text */
  bool negative;
  bool parentheses;
} Part;

typedef struct Parts {
  GString *text;
  Part *items;
  size_t n;
} Parts;

static void
parts_init(Parts *parts, size_t n)
{
  parts->text = g_string_new(NULL);
  parts->items = g_new0(Part, n);
  parts->n = 0;
}

static void
parts_clear(Parts *parts)
{
  g_string_free(parts->text, TRUE);
  g_free(parts->items);
}

static Part *
parts_begin(Parts *parts)
{
  Part *part = &parts->items[parts->n++];
  part->start = parts->text->len;
  return part;
}

static int
compare_parts(const void *a, const void *b, void *data)
{
  const Part *x = a, *y = b;
  const GString *text = ((const Parts *)data)->text;
  return onnxl_str_compare(onnxl_str_n(text->str + x->start, x->size), onnxl_str_n(text->str + y->start, y->size));
}

static void
parts_sort(Parts *parts)
{
  for (size_t i = 0; i < parts->n; i++) {
    size_t end = i + 1 < parts->n ? parts->items[i + 1].start : parts->text->len;
    parts->items[i].size = end - parts->items[i].start;
  }
  if (parts->n > 1)
    qsort_r(parts->items, parts->n, sizeof(Part), compare_parts, parts);
}

static void
parts_append(const Parts *parts, size_t index, GString *out)
{
  const Part *part = &parts->items[index];
  if (part->parentheses)
    g_string_append_c(out, '(');
  g_string_append_len(out, parts->text->str + part->start, (gssize)part->size);
  if (part->parentheses)
    g_string_append_c(out, ')');
}

static void
write_list(GString *out, OnnxlExpr e, char separator)
{
  Parts parts;
  parts_init(&parts, e->list.n);
  for (size_t i = 0; i < e->list.n; i++) {
    parts_begin(&parts)->parentheses = e->kind == NODE_PRODUCT && is_operation(e->list.items[i]);
    write_expression(parts.text, e->list.items[i]);
  }
  parts_sort(&parts);
  for (size_t i = 0; i < parts.n; i++) {
    if (i > 0)
      g_string_append_c(out, separator);
    parts_append(&parts, i, out);
  }
  parts_clear(&parts);
}

static void write_sum(GString *out, const Term *terms, size_t n, int64_t constant, bool constant_first);

/* One term, without its sign: "3*a*b", "2*(n//2)". */
static void
write_term(GString *out, Term term)
{
  if (term.coefficient != 1 && term.coefficient != -1) {
    g_string_append_printf(out, "%" G_GUINT64_FORMAT "*", (guint64)expr_magnitude(term.coefficient));
    if (is_operation(term.monomial)) {
      g_string_append_c(out, '(');
      write_expression(out, term.monomial);
      g_string_append_c(out, ')');
      return;
    }
  }
  write_expression(out, term.monomial);
}

/* terms + constant to the left of // /: %. */
static void
write_numerator(GString *out, const Term *terms, size_t n, int64_t constant)
{
  if (n == 1 && constant == 0 && terms[0].coefficient > 0) {
    write_term(out, terms[0]);
  } else if (n == 0 && constant >= 0) {
    g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)constant);
  } else {
    g_string_append_c(out, '(');
    write_sum(out, terms, n, constant, true);
    g_string_append_c(out, ')');
  }
}

static void
write_divisor(GString *out, OnnxlExpr e)
{
  bool plain =
    e->kind == NODE_SYMBOL || e->kind == NODE_MAX || e->kind == NODE_MIN || (e->kind == NODE_INT && e->value >= 0);
  PolyView view;
  poly_view(&view, e);
  if (!plain)
    g_string_append_c(out, '(');
  if (e->kind == NODE_SUM)
    write_sum(out, view.terms, view.n, view.constant, true);
  else
    write_expression(out, e);
  if (!plain)
    g_string_append_c(out, ')');
}

/* e, a division, with another constant in its numerator. */
static void
write_division(GString *out, OnnxlExpr e, int64_t constant)
{
  PolyView view;
  poly_view(&view, e->pair.a);
  write_numerator(out, view.terms, view.n, constant);
  g_string_append(out, e->kind == NODE_FLOOR_DIV ? "//" : e->kind == NODE_EXACT_DIV ? "/:" : "%");
  write_divisor(out, e->pair.b);
}

/* (a+1)//2-1 reads better as (a-1)//2. Stored numerators have their constant reduced, so that equal values meet; here
 * the constant of the sum goes back into the numerator if that makes the text simpler. Returns the index of the term
 * that takes it, or n, and the numerator's constant. */
static size_t
find_fold(const Term *terms, size_t n, int64_t constant, int64_t *ret_constant)
{
  size_t found = n;
  for (size_t i = 0; constant != 0 && i < n; i++) {
    OnnxlExpr e = terms[i].monomial;
    if (e->kind != NODE_FLOOR_DIV || !expr_is_literal(e->pair.b) || constant % terms[i].coefficient != 0)
      continue;
    int64_t divisor = e->pair.b->value, steps = constant / terms[i].coefficient;
    if (!(n == 1 && terms[i].coefficient == 1) && steps != -1)
      continue;
    PolyView numerator;
    poly_view(&numerator, e->pair.a);
    Wide folded = numerator.constant + (Wide)steps * divisor;
    if (numerator.constant % divisor == 0 || !wide_is_coefficient(folded))
      continue;
    if (found < n)
      return n; /* two could take it: leave it alone */
    found = i;
    *ret_constant = (int64_t)folded;
  }
  return found;
}

static void
write_sum(GString *out, const Term *terms, size_t n, int64_t constant, bool constant_first)
{
  int64_t folded = 0;
  size_t fold = find_fold(terms, n, constant, &folded);
  if (fold < n)
    constant = 0;
  Parts parts;
  parts_init(&parts, n);
  for (size_t i = 0; i < n; i++) {
    Part *part = parts_begin(&parts);
    part->negative = terms[i].coefficient < 0;
    if (i != fold) {
      write_term(parts.text, terms[i]);
    } else if (terms[i].coefficient == 1 || terms[i].coefficient == -1) {
      write_division(parts.text, terms[i].monomial, folded);
    } else {
      g_string_append_printf(parts.text, "%" G_GUINT64_FORMAT "*(", (guint64)expr_magnitude(terms[i].coefficient));
      write_division(parts.text, terms[i].monomial, folded);
      g_string_append_c(parts.text, ')');
    }
    /* Only a leading minus would take hold of the numerator alone; harmless elsewhere, and decided before the sort. */
    part->parentheses = terms[i].coefficient == -1 && is_operation(terms[i].monomial);
  }
  parts_sort(&parts);
  bool first = true;
  if (constant_first && constant > 0) {
    g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)constant);
    constant = 0;
    first = false;
  }
  for (size_t i = 0; i < parts.n; i++) {
    if (parts.items[i].negative)
      g_string_append_c(out, '-');
    else if (!first)
      g_string_append_c(out, '+');
    if (!first)
      parts.items[i].parentheses = false;
    parts_append(&parts, i, out);
    first = false;
  }
  if (constant != 0 || first)
    g_string_append_printf(out, first ? "%" G_GINT64_FORMAT : "%+" G_GINT64_FORMAT, (gint64)constant);
  parts_clear(&parts);
}

static void
write_expression(GString *out, OnnxlExpr e)
{
  PolyView view;
  switch ((NodeKind)e->kind) {
  case NODE_INT:
    g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)e->value);
    return;
  case NODE_SYMBOL:
    write_name(out, e->symbol.name);
    return;
  case NODE_PRODUCT:
    write_list(out, e, '*');
    return;
  case NODE_SUM:
    write_sum(out, e->sum.terms, e->sum.n, e->sum.constant, false);
    return;
  case NODE_FLOOR_DIV:
  case NODE_EXACT_DIV:
  case NODE_MOD:
    poly_view(&view, e->pair.a);
    write_division(out, e, view.constant);
    return;
  case NODE_MAX:
  case NODE_MIN:
    g_string_append(out, e->kind == NODE_MAX ? "max(" : "min(");
    write_list(out, e, ',');
    g_string_append_c(out, ')');
    return;
  }
}

static GString *
to_text(OnnxlExpr e)
{
  GString *text = g_string_new(NULL);
  if (!e)
    g_string_append_c(text, '?');
  else if (e->kind == NODE_SYMBOL)
    g_string_append_len(text, e->symbol.name.data, (gssize)e->symbol.name.size);
  else
    write_expression(text, e);
  return text;
}

void
onnxl_expr_print(OnnxlOutput *out, OnnxlExpr e)
{
  if (e && e->text.data) {
    onnxl_output_str(out, e->text);
    return;
  }
  GString *text = to_text(e);
  onnxl_output_write(out, text->str, text->len);
  g_string_free(text, TRUE);
}

OnnxlStr
onnxl_expr_text(OnnxlExprPool *pool, OnnxlExpr e)
{
  if (!e)
    return ONNXL_STR("?");
  if (e->kind == NODE_SYMBOL)
    return e->symbol.name;
  if (!e->text.data) {
    GString *text = to_text(e);
    ((OnnxlExprNode *)e)->text = onnxl_arena_copy(pool->arena, onnxl_str_n(text->str, text->len));
    g_string_free(text, TRUE);
  }
  /* An exhausted arena is its owner's to report; until then the size is as good as unknown. */
  return e->text.data ? e->text : ONNXL_STR("?");
}

char *
expr_message_text(OnnxlExpr e)
{
  GString *text = to_text(e);
  if (text->len > MESSAGE_LENGTH) {
    g_string_truncate(text, MESSAGE_LENGTH);
    g_string_append(text, "...");
  }
  char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
  g_string_free(text, TRUE);
  return valid;
}
