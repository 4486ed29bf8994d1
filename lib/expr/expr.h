/* Symbolic integers: the dims and byte counts of a model whose sizes are not known yet.
 *
 * Expressions are interned in a pool in canonical form, so equal canonical expressions are the same pointer. NULL is a
 * legal expression everywhere and means "unknown" (also what an overflow gives): an operation on NULL gives NULL.
 * Everything printed here is true: the text parses back to the same value for every assignment of its symbols. */
#ifndef ONNXL_EXPR_EXPR_H
#define ONNXL_EXPR_EXPR_H

#include <glib.h>

#include "support/arena.h"
#include "support/output.h"

typedef struct OnnxlExprPool OnnxlExprPool;
typedef struct OnnxlExprNode OnnxlExprNode;
typedef const OnnxlExprNode *OnnxlExpr;

/* Returns: owned; holds every expression made with it. Memory comes from arena, which must outlive the pool. */
OnnxlExprPool *onnxl_expr_pool_new(OnnxlArena *arena);
void onnxl_expr_pool_free(OnnxlExprPool *pool);

/* Leaves. A symbol's name may be any bytes ("p2o.D.0", "a b"); it is one symbol, never parsed. */
OnnxlExpr onnxl_expr_int(OnnxlExprPool *pool, int64_t value);
OnnxlExpr onnxl_expr_symbol(OnnxlExprPool *pool, OnnxlStr name);

/* Operations, simplified as far as is sound: the result equals the operation wherever that has a value. NULL: a literal
 * divisor 0, a coefficient beyond 64 bits, an expression too deep or too long to be written out. */
OnnxlExpr onnxl_expr_add(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);
OnnxlExpr onnxl_expr_sub(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);
OnnxlExpr onnxl_expr_mul(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);
OnnxlExpr onnxl_expr_neg(OnnxlExprPool *pool, OnnxlExpr a);
OnnxlExpr onnxl_expr_floor_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b); /* a // b, towards minus infinity */
OnnxlExpr onnxl_expr_exact_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b); /* a /: b, known to leave no rest */
OnnxlExpr onnxl_expr_ceil_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);
/* NULL unless the facts tell the sign of b, or b divides a. */
OnnxlExpr onnxl_expr_trunc_div(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b); /* towards zero, as ONNX's integer Div */
OnnxlExpr onnxl_expr_mod(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);       /* sign of the divisor, as Python */
OnnxlExpr onnxl_expr_max(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);
OnnxlExpr onnxl_expr_min(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);

/* The largest (smallest) of n >= 1 operands: one step where pairwise calls would copy the operands n times. */
OnnxlExpr onnxl_expr_max_of(OnnxlExprPool *pool, const OnnxlExpr *operands, size_t n);
OnnxlExpr onnxl_expr_min_of(OnnxlExprPool *pool, const OnnxlExpr *operands, size_t n);

/* The sum of n terms in time linear in their number (up to sorting). */
OnnxlExpr onnxl_expr_sum(OnnxlExprPool *pool, const OnnxlExpr *terms, size_t n);

/* True when e is a literal; then *ret_value (may be NULL) is its value. */
bool onnxl_expr_is_int(OnnxlExpr e, int64_t *ret_value);
/* True when e is one symbol; then *ret_name (may be NULL) is its name, borrowed from the pool. */
bool onnxl_expr_is_symbol(OnnxlExpr e, OnnxlStr *ret_name);

/* Facts about symbols, which simplification, bounds and comparison may use: min <= symbol <= max (INT64_MIN / INT64_MAX
 * = none). A dim symbol is >= 0: callers state it once per symbol, best before it is used. Facts add up: a later call
 * can only narrow the range, and one that contradicts it is ignored. */
void onnxl_expr_set_bounds(OnnxlExprPool *pool, OnnxlExpr symbol, int64_t min, int64_t max);

/* Bounds of e that hold for every assignment allowed by the facts; INT64_MIN / INT64_MAX = none. */
void onnxl_expr_bounds(OnnxlExprPool *pool, OnnxlExpr e, int64_t *ret_min, int64_t *ret_max);

typedef enum OnnxlExprOrder {
  ONNXL_EXPR_UNKNOWN, /* depends on the symbols, or is not known */
  ONNXL_EXPR_EQUAL,   /* a == b always */
  ONNXL_EXPR_LESS,    /* a < b always */
  ONNXL_EXPR_GREATER,
  ONNXL_EXPR_LESS_EQUAL, /* a <= b always, and neither EQUAL nor LESS is known */
  ONNXL_EXPR_GREATER_EQUAL,
  ONNXL_EXPR_NOT_EQUAL, /* a != b always, order unknown */
} OnnxlExprOrder;

OnnxlExprOrder onnxl_expr_compare(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b);

/* Values of symbols for evaluation and substitution. Returns false for a symbol without a value. */
typedef bool (*OnnxlExprLookup)(void *data, OnnxlStr name, int64_t *ret_value);

/* Evaluates with intermediates of at least 128 bits. Error ONNXL_ERROR_INVALID: unknown symbol, overflow, division by
 * zero, exact division with a rest, e is NULL; each message holds the expression's text. */
bool onnxl_expr_evaluate(OnnxlExpr e, OnnxlExprLookup lookup, void *data, int64_t *ret_value,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* e with every symbol for which replace() gives an expression replaced, simplified again. replace returns NULL to keep
 * it. */
typedef OnnxlExpr (*OnnxlExprReplace)(void *data, OnnxlStr name);
OnnxlExpr onnxl_expr_substitute(OnnxlExprPool *pool, OnnxlExpr e, OnnxlExprReplace replace, void *data);

/* An upper bound of e in which the symbols for which most() gives an upper bound are gone, as far as it can be shown: a
 * size of theirs is between the lower bound of its facts and most. Symbols in what most() returns are replaced in turn.
 * e itself when it has none of them; NULL when no bound is found. */
OnnxlExpr onnxl_expr_upper(OnnxlExprPool *pool, OnnxlExpr e, OnnxlExprReplace most, void *data);

/* True when test holds for a symbol in e, which is NULL or not. Stops at the first; the order is not fixed. */
bool onnxl_expr_any_symbol(OnnxlExpr e, bool (*test)(void *data, OnnxlExpr symbol), void *data);

/* Calls visit once for each different symbol in e, in order of first appearance in the text. */
void onnxl_expr_symbols(OnnxlExprPool *pool, OnnxlExpr e, void (*visit)(void *data, OnnxlExpr symbol), void *data);

/* Solves a == b for symbol, where one side is linear in it with a coefficient that divides exactly for every assignment
 * (+-1, or a common factor). Returns NULL when that is not possible. */
OnnxlExpr onnxl_expr_solve(OnnxlExprPool *pool, OnnxlExpr a, OnnxlExpr b, OnnxlExpr symbol);

/* Parses the grammar of the manual: ^ (max) & (min) + - * // /: % prefix signs, names, integers, "quoted names",
 * max(), min(), CeilToInt(n,d). At most max_depth levels. Returns NULL with error (ONNXL_ERROR_INVALID). */
OnnxlExpr onnxl_expr_parse(OnnxlExprPool *pool, OnnxlStr text, uint32_t max_depth,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Canonical text: terms in byte order, the constant last, max(a,b) and min(a,b) as functions. Unknown (NULL) prints as
 * "?". A lone symbol prints as it is; inside an expression a name that is no identifier stands in double quotes.
 * onnxl_expr_text: borrowed from the pool, NUL-terminated, cached. */
void onnxl_expr_print(OnnxlOutput *out, OnnxlExpr e);
OnnxlStr onnxl_expr_text(OnnxlExprPool *pool, OnnxlExpr e);

#endif
