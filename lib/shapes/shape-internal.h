/* What the rules of shape inference see: one node with what is known of its inputs. Rules live in shape-<family>.c, the
 * families are those of lib/ops; the walk over the model is infer.c. */
#ifndef ONNXL_SHAPES_SHAPE_INTERNAL_H
#define ONNXL_SHAPES_SHAPE_INTERNAL_H

#include "shapes/infer.h"

/* Larger ranks are treated as unknown, so that rules can use arrays on the stack. */
#define ONNXL_SHAPE_MAX_RANK 64

/* Contents of tensors above this count are not followed. */
#define ONNXL_SHAPE_MAX_CONTENTS 512

/* Nesting of graphs and calls, whatever --max-depth says: the walk recurses. */
#define ONNXL_SHAPE_MAX_DEPTH 400

/* Calls of functions in one model, those of repeated bodies each time: each has memory of its own. */
#define ONNXL_SHAPE_MAX_CALLS 100000

typedef struct OnnxlShapeFinding {
  OnnxlDiagId id;
  const char *path;
  const char *message;
} OnnxlShapeFinding;

typedef enum OnnxlSymbolKind {
  ONNXL_SYMBOL_INPUT,    /* stands in the type of a graph input: given from outside */
  ONNXL_SYMBOL_DECLARED, /* stands in another declaration only: means what it first stood for */
  ONNXL_SYMBOL_FRESH,    /* ours, for a size that only a run shows */
} OnnxlSymbolKind;

typedef struct OnnxlShapeScope OnnxlShapeScope;

typedef struct OnnxlShapeSymbol {
  OnnxlStr name;
  OnnxlExpr expr;
  OnnxlSymbolKind kind;
  OnnxlExpr most;               /* upper bound of a size that only a run shows, or NULL */
  OnnxlExpr meaning;            /* of a declared symbol: what it was first seen to equal, or NULL */
  const OnnxlShapeScope *scope; /* of a fresh symbol: where its value lives */
  uint32_t graph;
} OnnxlShapeSymbol;

/* What one inference shares between the main graph and the bodies of called functions. */
typedef struct OnnxlShapeRun {
  const OnnxlModel *model;
  OnnxlInferOptions options;
  OnnxlArena *arena;
  OnnxlExprPool *pool;
  OnnxlDiagSink *sink;
  GError *error; /* a limit; ends the walk */
  const OnnxlFunctionTable *functions;
  const OnnxlIndex **function_indexes; /* by position in the model's functions, made when first called */
  OnnxlMap symbol_ids;
  OnnxlMap suffix_ids; /* by name: the last suffix that made it another one */
  OnnxlShapeSymbol *symbols;
  size_t n_symbols, symbols_capacity;
  OnnxlConstraint *constraints;
  size_t n_constraints, constraints_capacity;
  size_t n_required; /* the first constraints are what the caller requires */
  OnnxlMap constraint_ids;
  OnnxlShapeFinding *findings; /* pending: a later pass over a loop body takes back those of an earlier one */
  size_t n_findings, findings_capacity;
  uint64_t n_mismatches;  /* nodes that cannot fit, so far, findings that were taken back included */
  bool any_fresh;         /* there is a symbol for a size that only a run shows */
  bool any_most;          /* a symbol has an upper bound */
  uint32_t undecided;     /* branches around the walk whose condition is not known */
  uint32_t dead;          /* branches around the walk that are never taken */
  OnnxlMap broadcast_ids; /* from the expression of a broadcast dim to its operands, see broadcast.c */
  struct OnnxlBroadcastSet *broadcast_sets;
  size_t n_broadcast_sets, broadcast_sets_capacity;
  uint64_t steps;     /* nodes visited, those of repeated bodies each time */
  uint64_t max_steps; /* beyond, loops are not refined any more */
  uint32_t n_calls;   /* of functions, so far */
  uint32_t depth;
} OnnxlShapeRun;

/* One graph with its nested graphs, or one call of a function. */
struct OnnxlShapeScope {
  OnnxlInference inference; /* first: the public face */
  OnnxlShapeRun *run;
  const OnnxlIndex *index;
  const OnnxlFunction *function; /* NULL: the main graph */
  const OnnxlNode *call;         /* the calling node with its own attribute references resolved, or NULL */
  const OnnxlShapeScope *caller;
  uint32_t caller_graph; /* graph of the calling node in caller */
  const char *path;      /* of the calling node, in front of paths of nodes here; "" for the main graph */
  bool conditional;      /* the call stands in a branch or loop body, which may never run */
  OnnxlInfo *values;
  struct OnnxlFreshDims **fresh; /* by value id: symbols made for its dims, by axis; NULL = none yet */
  OnnxlExpr *bytes;              /* by value id: symbols made for its bytes; NULL = none yet */
  OnnxlExpr **shown;             /* by value id: dims with declared symbols, NULL = as inferred */
  bool *omitted;                 /* by value id: a function input that the call leaves out; NULL for the main graph */
  const OnnxlOpSchema **schemas;
  OnnxlInference **calls;
  int64_t opset; /* of the default domain */
};

/* Dim axis of an output is at most this, if it turns out to be a size that only a run shows. */
typedef struct OnnxlShapeMost {
  uint32_t output, axis;
  OnnxlExpr most;
} OnnxlShapeMost;

/* The node under inference. */
typedef struct OnnxlShapeNode {
  OnnxlShapeScope *scope;
  OnnxlShapeRun *run;
  OnnxlExprPool *pool;
  OnnxlArena *arena;
  const OnnxlIndexNode *node;
  uint32_t id;
  const OnnxlNode *proto; /* attribute references resolved */
  const OnnxlOpSchema *schema;
  const OnnxlInfo *const *inputs; /* NULL items: omitted */
  uint32_t n_inputs;
  OnnxlInfo *outputs; /* zeroed = unknown; types that the schema determines need not be set */
  uint32_t n_outputs;
  OnnxlShapeMost *most;
  size_t n_most, most_capacity;
  bool failed; /* a finding was made: the outputs do not matter */
} OnnxlShapeNode;

typedef void (*OnnxlShapeRule)(OnnxlShapeNode *n);

/* The rule of an operator, NULL when it has none. */
OnnxlShapeRule onnxl_shape_rule(OnnxlOp op);

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* Input i, NULL when omitted or beyond the node's inputs. */
const OnnxlInfo *onnxl_shape_input(const OnnxlShapeNode *n, uint32_t i);

/* Input i as a tensor of known rank, else NULL. */
const OnnxlInfo *onnxl_shape_ranked(const OnnxlShapeNode *n, uint32_t i);

/* Contents of input i: count known, values in part. NULL when nothing is known. */
const OnnxlExpr *onnxl_shape_values(const OnnxlShapeNode *n, uint32_t i, uint32_t *ret_count);

/* The single element of input i; NULL = unknown. */
OnnxlExpr onnxl_shape_scalar(const OnnxlShapeNode *n, uint32_t i);

/* The same, also of a floating-point tensor, whose element is truncated as in the kernels. */
OnnxlExpr onnxl_shape_number(const OnnxlShapeNode *n, uint32_t i);

/* All contents of input i as literals in the arena; NULL when not all are. */
const int64_t *onnxl_shape_literals(OnnxlShapeNode *n, uint32_t i, uint32_t *ret_count);

/* An integer list that is an attribute in old versions and input i in new ones. present tells omitted from unknown:
 * false = omitted; true and NULL = given but not known. */
const int64_t *onnxl_shape_ints(OnnxlShapeNode *n, const char *attribute, uint32_t i, uint32_t *ret_count,
                                bool *ret_present);

/* Number of elements of a list when it is a literal, -1 otherwise. As in the kernels a list may have any rank. */
int64_t onnxl_shape_length(const OnnxlShapeNode *n, uint32_t i);

/* --- what operands must be (fit.c); omitted and unknown ones fit ----------------------------------------------------
 */

/* Like onnxl_shape_ranked(), and reports another rank, or one outside [min,max] (then NULL). */
const OnnxlInfo *onnxl_shape_of_rank(OnnxlShapeNode *n, uint32_t i, uint32_t rank);
const OnnxlInfo *onnxl_shape_of_ranks(OnnxlShapeNode *n, uint32_t i, uint32_t min, uint32_t max);

/* True when a and b differ in every run; neither is known to when one is NULL. */
bool onnxl_shape_never_equal(const OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b);

/* Input i must have the shape dims (NULL items: any size), which is listed among the constraints; broadcast to it
 * without making it larger; have count elements; have one. False: it cannot, which is reported. */
bool onnxl_shape_expect(OnnxlShapeNode *n, uint32_t i, const OnnxlExpr *dims, uint32_t rank);
bool onnxl_shape_expect_within(OnnxlShapeNode *n, uint32_t i, const OnnxlExpr *dims, uint32_t rank);
bool onnxl_shape_expect_count(OnnxlShapeNode *n, uint32_t i, OnnxlExpr count);
bool onnxl_shape_expect_one(OnnxlShapeNode *n, uint32_t i);

/* Reports two inputs that do not go together. */
void onnxl_shape_misfit(OnnxlShapeNode *n, uint32_t a, uint32_t b);

/* No dim of an output may be negative. */
bool onnxl_shape_expect_sizes(OnnxlShapeNode *n);

/* --- attributes --------------------------------------------------------------------------------------------------- */

int64_t onnxl_shape_int(const OnnxlShapeNode *n, const char *name);
bool onnxl_shape_has(const OnnxlShapeNode *n, const char *name);

/* Normalizes an axis in [-rank, rank); reports others and returns false. */
bool onnxl_shape_axis(OnnxlShapeNode *n, int64_t axis, uint32_t rank, uint32_t *ret_axis);

/* --- outputs ------------------------------------------------------------------------------------------------------ */

/* Makes output i a tensor of rank unknown dims and returns them to be filled. Never NULL, also when the node lacks
 * output i. */
OnnxlExpr *onnxl_shape_output(OnnxlShapeNode *n, uint32_t i, uint32_t rank);

/* Output i has the shape (not the contents) of info, which may be NULL. */
void onnxl_shape_same(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *info);

void onnxl_shape_set_type(OnnxlShapeNode *n, uint32_t i, int32_t elem_type);

/* Room for the contents of output i, all unknown; NULL when they are too many to follow. */
OnnxlExpr *onnxl_shape_contents(OnnxlShapeNode *n, uint32_t i, uint64_t count);

/* A new symbol for an axis of output i, for sizes that several outputs share. NULL when the node lacks that output. */
OnnxlExpr onnxl_shape_new_size(OnnxlShapeNode *n, uint32_t i, uint32_t axis);

/* States an upper bound of a dim that stays unknown, or is a new size. most may be NULL. */
void onnxl_shape_at_most(OnnxlShapeNode *n, uint32_t i, uint32_t axis, OnnxlExpr most);

/* --- expressions -------------------------------------------------------------------------------------------------- */

OnnxlExpr onnxl_shape_lit(const OnnxlShapeNode *n, int64_t value);

/* Product of dims [from, to). */
OnnxlExpr onnxl_shape_product(const OnnxlShapeNode *n, const OnnxlExpr *dims, uint32_t from, uint32_t to);

/* True when e is the literal value. */
bool onnxl_shape_is(OnnxlExpr e, int64_t value);

/* Bounds as onnxl_expr_bounds(), for NULL none. */
int64_t onnxl_shape_min(const OnnxlShapeNode *n, OnnxlExpr e);
int64_t onnxl_shape_max(const OnnxlShapeNode *n, OnnxlExpr e);

/* Lists among the constraints that a and b (NULL = unknown) are equal. False: they differ in every run, which is the
 * caller's to report. */
bool onnxl_shape_list_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b);

/* Both sides are one size in every run that succeeds, which is listed among the constraints: the better known of them.
 * Reports it when they cannot be equal. */
OnnxlExpr onnxl_shape_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b, const char *what);

/* Takes lhs relation rhs for granted and lists it among the constraints. False: it cannot be (the node may never run in
 * a run that succeeds), so the caller must not rely on it. */
bool onnxl_shape_assume(OnnxlShapeNode *n, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs);

/* --- broadcasting (broadcast.c) ----------------------------------------------------------------------------------- */

/* The size that two dims broadcast to, NULL = unknown. False: they never fit. */
bool onnxl_shape_broadcast_dim(OnnxlShapeRun *run, OnnxlExpr a, OnnxlExpr b, OnnxlExpr *ret_dim);

/* Output i gets the broadcast shape of the first count inputs. False: a finding was made. */
bool onnxl_shape_broadcast_inputs(OnnxlShapeNode *n, uint32_t i, const uint32_t *inputs, uint32_t count);

/* Broadcasts two lists of dims into dims, whose rank is the larger one. False: a finding was made. */
bool onnxl_shape_broadcast(OnnxlShapeNode *n, const OnnxlExpr *a, uint32_t a_rank, const OnnxlExpr *b, uint32_t b_rank,
                           OnnxlExpr *dims);

/* --- infos (info.c) ----------------------------------------------------------------------------------------------- */

/* The info of a declared type; its symbols as onnxl_shape_declared() makes them. */
void onnxl_info_from_type(OnnxlShapeRun *run, const OnnxlType *type, OnnxlSymbolKind kind, OnnxlInfo *ret_info);

/* The info of a stored tensor: type, dims, small contents. */
void onnxl_info_from_tensor(OnnxlShapeRun *run, const OnnxlTensor *tensor, OnnxlInfo *ret_info);
void onnxl_info_from_sparse(OnnxlShapeRun *run, const OnnxlSparseTensor *sparse, OnnxlInfo *ret_info);

/* What holds of a value that is either a or b: differing dims, contents, ranks and types become unknown. */
void onnxl_info_join(OnnxlShapeRun *run, const OnnxlInfo *a, const OnnxlInfo *b, OnnxlInfo *ret_info);
bool onnxl_info_equal(const OnnxlInfo *a, const OnnxlInfo *b);

/* --- symbols (symbols.c) ------------------------------------------------------------------------------------------ */

/* The dim that a declaration states; NULL = none. */
OnnxlExpr onnxl_shape_declared(OnnxlShapeRun *run, const OnnxlDimension *dim, OnnxlSymbolKind kind);

/* Collects the symbols of the graph inputs, before any of them is read. False: out of memory. */
bool onnxl_shape_collect_symbols(OnnxlShapeRun *run);

/* The fresh symbol for an axis of a value; the same one each time it is asked for. prefix: the operator, or empty. */
OnnxlExpr onnxl_shape_fresh(OnnxlShapeScope *scope, uint32_t value, uint32_t axis, uint32_t rank, OnnxlStr prefix);

/* Upper bounds of the sizes of a value that only a run shows: forgets those that a pass before found, and sets one for
 * the symbol that a dim is. */
void onnxl_shape_forget_most(OnnxlShapeScope *scope, uint32_t value);
void onnxl_shape_set_most(OnnxlShapeScope *scope, uint32_t value, uint32_t axis, OnnxlExpr most);

/* True when e holds a fresh symbol of a value inside graph (of scope) or what is nested in it. */
bool onnxl_shape_is_local(OnnxlShapeRun *run, OnnxlExpr e, const OnnxlShapeScope *scope, uint32_t graph);

/* Fails with ONNXL_ERROR_USAGE: no dimension has that name; names: those that there are. Returns false. */
bool onnxl_shape_no_name(OnnxlStr name, const char *const *names, size_t n, GError **error);
/* Fails so unless a symbol of the run has the name. */
bool onnxl_shape_check_symbol(OnnxlShapeRun *run, OnnxlStr name, GError **error);

/* info with everything unknown that depends on values inside graph. */
void onnxl_shape_leave(OnnxlShapeRun *run, OnnxlInfo *info, const OnnxlShapeScope *scope, uint32_t graph);

void onnxl_shape_add_constraint(OnnxlShapeRun *run, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs);

/* --- requirements (require.c) ------------------------------------------------------------------------------------- */

/* Takes the run's requirements for granted; the symbols of the inputs are known. False: run->error is set. */
bool onnxl_shape_require(OnnxlShapeRun *run);

/* Reports requirements that are wrong now that it is known what the names of outputs stand for. */
void onnxl_shape_check_required(OnnxlShapeRun *run);

/* --- declared against inferred (anchor.c) ------------------------------------------------------------------------- */

/* Compares an inferred value with its declaration and takes from that what inference does not know. */
void onnxl_shape_anchor(OnnxlShapeScope *scope, uint32_t value, OnnxlInfo *info);

/* --- the walk (infer.c) ------------------------------------------------------------------------------------------- */

void onnxl_shape_finding(OnnxlShapeScope *scope, uint32_t node, OnnxlDiagId id, const char *format, ...)
  G_GNUC_PRINTF(4, 5);

/* A finding of this node: its inputs cannot fit. */
void onnxl_shape_error(OnnxlShapeNode *n, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* "[2,3]" for messages; in the arena. */
const char *onnxl_shape_text(const OnnxlShapeNode *n, const OnnxlInfo *info);

/* Infers the nodes of a graph whose inputs are set. False: the walk ended by an error. */
bool onnxl_shape_walk(OnnxlShapeScope *scope, uint32_t graph);

/* Sets what is known of a value, with names for its unknown dims. */
void onnxl_shape_set_value(OnnxlShapeScope *scope, uint32_t value, const OnnxlInfo *info, OnnxlStr prefix);

/* The initializers of a graph. */
void onnxl_shape_set_initializers(OnnxlShapeScope *scope, uint32_t graph);

OnnxlShapeScope *onnxl_shape_scope_new(OnnxlShapeRun *run, const OnnxlIndex *index, const OnnxlFunction *function);

/* A call of a function: its body inferred with the inputs of n (functions.c). */
void onnxl_shape_call(OnnxlShapeNode *n, const OnnxlFunction *function);

/* The node with references to attributes of the function replaced by what the call gives; the node itself when it has
 * none. NULL: out of memory. */
const OnnxlNode *onnxl_shape_bind(OnnxlShapeScope *scope, const OnnxlNode *node);

#endif
