/* How expressions are stored. Private to lib/expr.
 *
 * Every expression is a polynomial with int64 coefficients over atoms: symbols and the operations that are not
 * polynomial (divisions, rest, max, min). A node is one of
 *   INT, SYMBOL, FLOOR_DIV, EXACT_DIV, MOD, MAX, MIN,
 *   PRODUCT  two or more factors sorted by id (a factor that occurs twice is listed twice),
 *   SUM      constant + coefficient * monomial, ..., sorted by the id of the monomial; never a bare monomial.
 * A monomial is an atom or a PRODUCT. Only a product that would expand to too many terms has SUM factors.
 *
 * The order by id is only used to find equal nodes; texts are ordered by their bytes when printed, so that no output
 * depends on the order in which expressions were made. */
#ifndef ONNXL_EXPR_EXPR_INTERNAL_H
#define ONNXL_EXPR_EXPR_INTERNAL_H

#include "expr/expr.h"

/* Nodes below each other. Bounds the recursion of everything that walks an expression. */
#define MAX_DEPTH 1000
/* Size of an expression written out (sharing undone), in bytes of text approximately. An expression of few levels needs
 * as many inputs as it has terms; a deep one can double with each operation, so it gets less. */
#define MAX_WEIGHT ((uint64_t)1 << 24)
#define MAX_DEEP_WEIGHT ((uint64_t)1 << 18)
#define DEEP 5
/* Factors of one monomial. */
#define MAX_DEGREE 64
/* Terms that a product of two sums may expand to. */
#define MAX_EXPANSION 1024

/* Coefficients and constants of a SUM stay in this symmetric range, so that each has a negative and prints as a literal
 * that the grammar allows. Only a lone INT may be INT64_MIN. */
#define COEFFICIENT_MAX INT64_MAX

typedef __int128 Wide;

typedef enum NodeKind {
  NODE_INT,
  NODE_SYMBOL,
  NODE_PRODUCT,
  NODE_SUM,
  NODE_FLOOR_DIV,
  NODE_EXACT_DIV,
  NODE_MOD,
  NODE_MAX,
  NODE_MIN,
} NodeKind;

typedef struct Term {
  OnnxlExpr monomial;
  int64_t coefficient;
} Term;

struct OnnxlExprNode {
  uint8_t kind;
  bool referenced; /* some other node holds it */
  bool has_exact;  /* an EXACT_DIV, or a PRODUCT with one among its factors */
  uint16_t depth;
  uint32_t id;
  uint32_t weight;
  uint32_t epoch; /* of the facts that min and max were derived from; 0 = not derived */
  uint32_t hash;
  int64_t min, max; /* interval; INT64_MIN / INT64_MAX = none */
  OnnxlStr text;    /* cached, data NULL until asked for */
  union {
    int64_t value; /* INT */
    struct {
      OnnxlStr name;
      int64_t min, max;
    } symbol;
    struct { /* FLOOR_DIV, EXACT_DIV, MOD */
      OnnxlExpr a, b;
    } pair;
    struct { /* PRODUCT, MAX, MIN */
      const OnnxlExpr *items;
      size_t n;
    } list;
    struct {
      const Term *terms;
      size_t n;
      int64_t constant;
    } sum;
  };
};

/* A sum, difference or product that was asked for lately: amounts that come and go give the same ones again and again.
 */
typedef struct Memo {
  OnnxlExpr a, b, result;
  uint32_t epoch; /* of the facts that the result was simplified with; 0 = no memo */
  char operation; /* '+', '-', '*' */
} Memo;

#define N_MEMOS 1024 /* a power of two */

struct OnnxlExprPool {
  OnnxlArena *arena;
  OnnxlExprNode **slots; /* open addressing, capacity a power of two */
  size_t capacity;
  uint32_t count;
  uint32_t epoch;         /* starts at 1, counts changes of facts about symbols that are in use */
  OnnxlExpr literals[16]; /* 0 and up, NULL until asked for */
  Memo memos[N_MEMOS];
};

/* expr.c: returns the node equal to key (whose arrays are borrowed and copied when it is new), NULL at a limit. */
OnnxlExpr expr_intern(OnnxlExprPool *pool, const OnnxlExprNode *key);
OnnxlExpr expr_intern_pair(OnnxlExprPool *pool, NodeKind kind, OnnxlExpr a, OnnxlExpr b);
OnnxlExpr expr_intern_list(OnnxlExprPool *pool, NodeKind kind, const OnnxlExpr *items, size_t n);
/* A literal of any 64-bit value, NULL when the value does not fit. */
OnnxlExpr expr_wide(OnnxlExprPool *pool, Wide value);

static inline bool
expr_is_literal(OnnxlExpr e)
{
  return e->kind == NODE_INT;
}

/* Any expression seen as constant + terms. A view points into itself: initialise in place, do not copy. */
typedef struct PolyView {
  const Term *terms;
  size_t n;
  int64_t constant;
  Term single;
} PolyView;

static inline void
poly_view(PolyView *view, OnnxlExpr e)
{
  view->constant = 0;
  view->n = 0;
  view->terms = &view->single;
  if (e->kind == NODE_INT) {
    view->constant = e->value;
  } else if (e->kind == NODE_SUM) {
    view->constant = e->sum.constant;
    view->terms = e->sum.terms;
    view->n = e->sum.n;
  } else {
    view->single = (Term){ e, 1 };
    view->n = 1;
  }
}

/* The factors of a monomial; *ret_n of them. monomial: address of the pointer, which serves as the list of one factor.
 */
static inline const OnnxlExpr *
monomial_factors(const OnnxlExpr *monomial, size_t *ret_n)
{
  if ((*monomial)->kind == NODE_PRODUCT) {
    *ret_n = (*monomial)->list.n;
    return (*monomial)->list.items;
  }
  *ret_n = 1;
  return monomial;
}

static inline Wide
wide_floor_div(Wide a, Wide b)
{
  Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* Sign of b, as in Python. */
static inline Wide
wide_floor_mod(Wide a, Wide b)
{
  Wide r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline bool
wide_fits(Wide value)
{
  return value >= INT64_MIN && value <= INT64_MAX;
}

static inline bool
wide_is_coefficient(Wide value)
{
  return value >= -COEFFICIENT_MAX && value <= COEFFICIENT_MAX;
}

/* Greatest common divisor of the absolute values; gcd(0, b) = |b|. The result of two INT64_MIN does not fit in int64.
 */
uint64_t expr_gcd(uint64_t a, uint64_t b);

static inline uint64_t
expr_magnitude(int64_t a)
{
  return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

/* expr-sum.c: collects constant + terms in any order; sum_finish() gives the canonical expression and frees. */
typedef struct WideTerm {
  OnnxlExpr monomial;
  Wide coefficient;
} WideTerm;

typedef struct SumBuilder {
  OnnxlExprPool *pool;
  WideTerm *terms; /* few, or allocated: do not copy a builder */
  size_t n;
  size_t capacity;
  Wide constant;
  bool failed; /* overflow, limit or unknown operand: the sum is unknown */
  WideTerm few[8];
} SumBuilder;

void sum_init(SumBuilder *sum, OnnxlExprPool *pool);
/* Adds factor * e; e NULL makes the sum unknown. */
void sum_add(SumBuilder *sum, OnnxlExpr e, Wide factor);
void sum_add_constant(SumBuilder *sum, Wide value);
OnnxlExpr sum_finish(SumBuilder *sum);

/* The product of factors (atoms, sorted by id), 1 for none. */
OnnxlExpr expr_product(OnnxlExprPool *pool, const OnnxlExpr *factors, size_t n);
/* factor * e + constant. */
OnnxlExpr expr_scale(OnnxlExprPool *pool, OnnxlExpr e, Wide factor, Wide constant);
/* e / (content * product of factors), where the caller knows that each term can be divided. */
OnnxlExpr expr_divide_terms(OnnxlExprPool *pool, OnnxlExpr e, int64_t content, const OnnxlExpr *factors, size_t n);
/* Takes the n sorted factors out of the monomial; *ret_rest has room for MAX_DEGREE. False when one is missing. */
bool monomial_without(OnnxlExpr monomial, const OnnxlExpr *factors, size_t n, OnnxlExpr *ret_rest, size_t *ret_n);

/* expr-polynomial.c: the quotient when d * quotient == p identically, NULL when there is none. d is no literal. */
OnnxlExpr expr_polynomial_quotient(OnnxlExprPool *pool, OnnxlExpr p, OnnxlExpr d);
/* Factors that each term of e has, at most MAX_DEGREE; 0 when e has a constant. */
size_t expr_common_factors(OnnxlExpr e, OnnxlExpr *ret_factors);
/* Greatest common divisor of the coefficients and the constant. */
uint64_t expr_content(OnnxlExpr e, bool with_constant);

/* expr-bounds.c: the interval, from cached intervals of the parts: fast, not sharp. */
void expr_interval(OnnxlExprPool *pool, OnnxlExpr e, int64_t *ret_min, int64_t *ret_max);
/* True when e >= 0 for every assignment under which it can be evaluated. */
bool expr_is_nonnegative(OnnxlExprPool *pool, OnnxlExpr e);

/* expr-print.c: text of e for messages, shortened and valid UTF-8. Returns: owned. */
char *expr_message_text(OnnxlExpr e);

#endif
