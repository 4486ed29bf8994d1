/* Constraints as text, and requirements: what the caller knows of a model's symbols, such as N >= 1. */
#include "shapes/shape-internal.h"

#include "support/error.h"

/* Nesting of an expression in a requirement. */
#define MAX_EXPR_DEPTH 64

static const char *const relations[] = {
  [ONNXL_REL_EQ] = "==", [ONNXL_REL_NE] = "!=", [ONNXL_REL_LE] = "<=",
  [ONNXL_REL_GE] = ">=", [ONNXL_REL_LT] = "<",  [ONNXL_REL_GT] = ">",
};

static void
print_side(OnnxlOutput *out, OnnxlExpr e)
{
  OnnxlStr name;
  if (!onnxl_expr_is_symbol(e, &name) || onnxl_str_is_identifier(name)) {
    onnxl_expr_print(out, e);
    return;
  }
  onnxl_output_char(out, '"');
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == '"' || name.data[i] == '\\')
      onnxl_output_char(out, '\\');
    onnxl_output_char(out, name.data[i]);
  }
  onnxl_output_char(out, '"');
}

void
onnxl_constraint_print(OnnxlOutput *out, const OnnxlConstraint *constraint)
{
  print_side(out, constraint->lhs);
  onnxl_output_printf(out, " %s ", relations[constraint->relation]);
  print_side(out, constraint->rhs);
}

typedef enum Verdict { OPEN, ALWAYS, NEVER } Verdict;

static Verdict
verdict(OnnxlShapeRun *run, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs)
{
  /* For each order that may be known of lhs and rhs: what it says of "==", "!=", "<=", ">=", "<", ">". */
  static const Verdict table[][G_N_ELEMENTS(relations)] = {
    [ONNXL_EXPR_UNKNOWN] = { OPEN, OPEN, OPEN, OPEN, OPEN, OPEN },
    [ONNXL_EXPR_EQUAL] = { ALWAYS, NEVER, ALWAYS, ALWAYS, NEVER, NEVER },
    [ONNXL_EXPR_LESS] = { NEVER, ALWAYS, ALWAYS, NEVER, ALWAYS, NEVER },
    [ONNXL_EXPR_GREATER] = { NEVER, ALWAYS, NEVER, ALWAYS, NEVER, ALWAYS },
    [ONNXL_EXPR_LESS_EQUAL] = { OPEN, OPEN, ALWAYS, OPEN, OPEN, NEVER },
    [ONNXL_EXPR_GREATER_EQUAL] = { OPEN, OPEN, OPEN, ALWAYS, NEVER, OPEN },
    [ONNXL_EXPR_NOT_EQUAL] = { NEVER, ALWAYS, OPEN, OPEN, OPEN, OPEN },
  };
  return table[onnxl_expr_compare(run->pool, lhs, rhs)][relation];
}

static OnnxlStr
trimmed(OnnxlStr text)
{
  while (text.size > 0 && g_ascii_isspace(text.data[0]))
    text = onnxl_str_n(text.data + 1, text.size - 1);
  while (text.size > 0 && g_ascii_isspace(text.data[text.size - 1]))
    text.size--;
  return text;
}

/* Splits a text at its relation, which no name in double quotes holds. */
static bool
split(OnnxlStr text, OnnxlStr *ret_lhs, OnnxlRelation *ret_relation, OnnxlStr *ret_rhs)
{
  bool quoted = false;
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] == '\\' && quoted)
      i++;
    else if (text.data[i] == '"')
      quoted = !quoted;
    else if (!quoted && strchr("=!<>", text.data[i])) {
      size_t size = i + 1 < text.size && text.data[i + 1] == '=' ? 2 : 1;
      OnnxlStr sign = onnxl_str_n(text.data + i, size);
      for (OnnxlRelation r = 0; r < G_N_ELEMENTS(relations); r++)
        if (onnxl_str_is(sign, relations[r])) {
          *ret_lhs = trimmed(onnxl_str_n(text.data, i));
          *ret_relation = r;
          *ret_rhs = trimmed(onnxl_str_n(text.data + i + size, text.size - i - size));
          return true;
        }
      return false;
    }
  }
  return false;
}

typedef struct Search {
  OnnxlShapeRun *run;
  OnnxlStr unknown; /* a name that no dim has */
} Search;

static void
check_known(void *data, OnnxlExpr symbol)
{
  Search *search = data;
  OnnxlStr name;
  if (onnxl_expr_is_symbol(symbol, &name) && onnxl_map_get(&search->run->symbol_ids, name) == ONNXL_MAP_NONE)
    search->unknown = name;
}

/* One side of a requirement; a symbol may stand as it is, also when its name is no identifier. */
static OnnxlExpr
side(OnnxlShapeRun *run, OnnxlStr text)
{
  uint32_t id = onnxl_map_get(&run->symbol_ids, text);
  if (id != ONNXL_MAP_NONE)
    return run->symbols[id].expr;
  OnnxlExpr e = onnxl_expr_parse(run->pool, text, MAX_EXPR_DEPTH, &run->error);
  if (!e) {
    g_clear_error(&run->error);
    onnxl_fail(&run->error, ONNXL_ERROR_USAGE, "'%.*s' in a requirement is no expression", ONNXL_ARG(text));
    return NULL;
  }
  Search search = { .run = run };
  onnxl_expr_symbols(run->pool, e, check_known, &search);
  return search.unknown.size == 0 || onnxl_shape_check_symbol(run, search.unknown, &run->error) ? e : NULL;
}

static OnnxlRelation
mirrored(OnnxlRelation relation)
{
  static const OnnxlRelation mirrors[] = {
    [ONNXL_REL_EQ] = ONNXL_REL_EQ, [ONNXL_REL_NE] = ONNXL_REL_NE, [ONNXL_REL_LE] = ONNXL_REL_GE,
    [ONNXL_REL_GE] = ONNXL_REL_LE, [ONNXL_REL_LT] = ONNXL_REL_GT, [ONNXL_REL_GT] = ONNXL_REL_LT,
  };
  return mirrors[relation];
}

/* Between a symbol and a number a requirement is a bound, which everything inferred from now on may use. */
static void
set_bound(OnnxlShapeRun *run, const OnnxlConstraint *c)
{
  OnnxlExpr symbol = c->lhs, limit = c->rhs;
  OnnxlRelation relation = c->relation;
  int64_t value;
  if (!onnxl_expr_is_symbol(symbol, NULL)) {
    symbol = c->rhs;
    limit = c->lhs;
    relation = mirrored(relation);
  }
  if (!onnxl_expr_is_symbol(symbol, NULL) || !onnxl_expr_is_int(limit, &value))
    return;
  int64_t min = INT64_MIN, max = INT64_MAX;
  if (relation == ONNXL_REL_GE || relation == ONNXL_REL_EQ)
    min = value;
  if (relation == ONNXL_REL_LE || relation == ONNXL_REL_EQ)
    max = value;
  if (relation == ONNXL_REL_GT && value < INT64_MAX)
    min = value + 1;
  if (relation == ONNXL_REL_LT && value > INT64_MIN)
    max = value - 1;
  onnxl_expr_set_bounds(run->pool, symbol, min, max);
}

static bool
contradiction(OnnxlShapeRun *run, const OnnxlConstraint *c)
{
  OnnxlStr lhs = onnxl_expr_text(run->pool, c->lhs), rhs = onnxl_expr_text(run->pool, c->rhs);
  return onnxl_fail(&run->error, ONNXL_ERROR_USAGE, "%.*s %s %.*s cannot hold: it contradicts what else is required",
                    ONNXL_ARG(lhs), relations[c->relation], ONNXL_ARG(rhs));
}

bool
onnxl_shape_require(OnnxlShapeRun *run)
{
  for (size_t i = 0; i < run->options.n_requirements; i++) {
    const char *text = run->options.requirements[i];
    OnnxlConstraint c;
    OnnxlStr lhs, rhs;
    if (!split(onnxl_str(text), &lhs, &c.relation, &rhs))
      return onnxl_fail(&run->error, ONNXL_ERROR_USAGE, "'%s' is no requirement such as N>=1", text);
    if (!(c.lhs = side(run, lhs)) || !(c.rhs = side(run, rhs)))
      return false;
    Verdict known = verdict(run, c.lhs, c.relation, c.rhs);
    if (known == NEVER)
      return contradiction(run, &c);
    if (known == ALWAYS)
      continue;
    onnxl_shape_add_constraint(run, c.lhs, c.relation, c.rhs);
    set_bound(run, &c);
  }
  run->n_required = run->n_constraints;
  /* A bound may come after what it contradicts. */
  for (size_t i = 0; i < run->n_required; i++)
    if (verdict(run, run->constraints[i].lhs, run->constraints[i].relation, run->constraints[i].rhs) == NEVER)
      return contradiction(run, &run->constraints[i]);
  return true;
}

/* What a name of an output stands for. */
static OnnxlExpr
meaning_of(void *data, OnnxlStr name)
{
  OnnxlShapeRun *run = data;
  uint32_t id = onnxl_map_get(&run->symbol_ids, name);
  return id == ONNXL_MAP_NONE ? NULL : run->symbols[id].meaning;
}

void
onnxl_shape_check_required(OnnxlShapeRun *run)
{
  for (size_t i = 0; i < run->n_required; i++) {
    const OnnxlConstraint *c = &run->constraints[i];
    OnnxlExpr lhs = onnxl_expr_substitute(run->pool, c->lhs, meaning_of, run);
    OnnxlExpr rhs = onnxl_expr_substitute(run->pool, c->rhs, meaning_of, run);
    if (!lhs || !rhs || verdict(run, lhs, c->relation, rhs) != NEVER)
      continue;
    OnnxlStr left = onnxl_expr_text(run->pool, c->lhs), right = onnxl_expr_text(run->pool, c->rhs);
    OnnxlStr a = onnxl_expr_text(run->pool, lhs), b = onnxl_expr_text(run->pool, rhs);
    onnxl_diag(run->sink, ONNXL_DIAG_SHAPE_MISMATCH, NULL,
               "%.*s %s %.*s is required, but in this model the sides are %.*s and %.*s", ONNXL_ARG(left),
               relations[c->relation], ONNXL_ARG(right), ONNXL_ARG(a), ONNXL_ARG(b));
  }
}
