/* Symbolic shape inference: type, shape and (small) contents of every value of a model.
 *
 * What is promised: a dim expression found here equals the dim met at run time, for every assignment of the symbols
 * under which the run succeeds. NULL is an unknown dim. */
#ifndef ONNXL_SHAPES_INFER_H
#define ONNXL_SHAPES_INFER_H

#include "expr/expr.h"
#include "ops/ops.h"
#include "proto/index.h"

typedef enum OnnxlTypeKind {
  ONNXL_KIND_UNKNOWN,
  ONNXL_KIND_TENSOR,
  ONNXL_KIND_SPARSE_TENSOR,
  ONNXL_KIND_SEQUENCE,
  ONNXL_KIND_OPTIONAL,
  ONNXL_KIND_MAP,
  ONNXL_KIND_OPAQUE,
} OnnxlTypeKind;

/* What is known of a value. */
typedef struct OnnxlInfo OnnxlInfo;
struct OnnxlInfo {
  OnnxlTypeKind kind;
  int32_t elem_type; /* OnnxlDataType of tensors and sparse tensors, 0 = unknown; of a map: its key type */
  bool has_rank;     /* false: dims is meaningless */
  uint32_t rank;
  const OnnxlExpr *dims;    /* NULL items are unknown */
  const OnnxlInfo *element; /* of sequence and optional; of a map its value; NULL = unknown */
  bool has_contents;        /* an integer or bool tensor of known count whose values are known in part, or a sequence of
                               known length */
  uint32_t n_contents;      /* the count, or the length */
  const OnnxlExpr *contents; /* values in row-major order, NULL items unknown */
  const double *reals;       /* values of a small floating-point tensor (n_contents of them), or NULL */
};

/* lhs OP rhs over the model's symbols: found equalities, and assumptions that printed expressions need. */
typedef enum OnnxlRelation {
  ONNXL_REL_EQ,
  ONNXL_REL_NE,
  ONNXL_REL_LE,
  ONNXL_REL_GE,
  ONNXL_REL_LT,
  ONNXL_REL_GT
} OnnxlRelation;
typedef struct OnnxlConstraint {
  OnnxlExpr lhs, rhs;
  OnnxlRelation relation;
} OnnxlConstraint;

typedef struct OnnxlInference {
  const OnnxlModel *model;
  const OnnxlIndex *index;
  OnnxlExprPool *pool;
  const OnnxlInfo *values;             /* by value id of index */
  const OnnxlOpSchema *const *schemas; /* by node id; NULL: unknown operator, or a call of a function */
  struct OnnxlInference *const *calls; /* by node id: the body of the called function for this call, or NULL */
  const OnnxlConstraint *constraints;
  size_t n_constraints;
} OnnxlInference;

typedef struct OnnxlInferOptions {
  bool strict; /* an operator without a rule is an error */
  bool check;  /* a declared shape that contradicts the inferred one is an error, not a warning */
  /* Reads the values of a small external integer tensor (a target shape may be stored so): size bytes as in raw_data.
   * NULL, or false: they stay unknown. */
  bool (*read_external)(void *data, const OnnxlTensor *tensor, void *dest, size_t size);
  void *read_external_data;
  /* What the caller knows of the symbols: texts "EXPR OP EXPR" with OP as in OnnxlRelation ("N >= 1"). They are taken
   * for granted and listed first among the constraints. */
  const char *const *requirements;
  size_t n_requirements;
} OnnxlInferOptions;

/* Infers over the model's main graph. Memory comes from arena; the pool dies with the inference. Findings: operators
 * whose inputs cannot fit (error), declared against inferred shapes, requirements that the model contradicts (error).
 * Returns: owned, free with onnxl_inference_free(); NULL with ONNXL_ERROR_INVALID after findings of severity error,
 * ONNXL_ERROR_USAGE for a requirement that is none or contradicts the others, or another error. */
OnnxlInference *onnxl_infer(const OnnxlModel *model, const OnnxlInferOptions *options, OnnxlArena *arena,
                            OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_inference_free(OnnxlInference *inference);

/* "2*N == M"; a name that is no identifier stands in double quotes. */
void onnxl_constraint_print(OnnxlOutput *out, const OnnxlConstraint *constraint);

/* The path of a nested graph, or of a called function's body, from the model's main graph on ("/if1/then_branch"); "/"
 * for the main graph itself. Returns: in arena. */
const char *onnxl_inference_graph_path(const OnnxlInference *inference, uint32_t graph, OnnxlArena *arena);

/* The node; in the body of a function with the attributes that the call gives in place of references to them. Returns:
 * borrowed; NULL when the arena is exhausted. */
const OnnxlNode *onnxl_inference_node(const OnnxlInference *inference, uint32_t node);

/* Fails with ONNXL_ERROR_USAGE unless there is a symbol of that name: of an input, another declaration, or made by
 * inference. The message names what it may be a misspelling of. */
bool onnxl_inference_check_symbol(const OnnxlInference *inference, OnnxlStr name,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A symbol for the bytes of a value of the main graph that only a run shows ("x_bytes"), the same one each time. most: an
 * upper bound of them, when the symbol is made, or NULL. NULL for a value of a nested graph or a function's body, which
 * may be another one in each trip, and when the arena is exhausted. */
OnnxlExpr onnxl_inference_bytes_symbol(const OnnxlInference *inference, uint32_t value, OnnxlExpr most);
/* That symbol if it was made, else NULL. */
OnnxlExpr onnxl_inference_has_bytes_symbol(const OnnxlInference *inference, uint32_t value);

/* The upper bound of a size that only a run shows (an expression, which may hold others of that kind), NULL without
 * one, as for all other symbols. */
OnnxlExpr onnxl_inference_most(const OnnxlInference *inference, OnnxlStr name);
/* True when some symbol has one. */
bool onnxl_inference_has_most(const OnnxlInference *inference);

/* True when e holds a symbol for a size that arises inside a nested graph, and so may be another one in each trip. */
bool onnxl_inference_is_local(const OnnxlInference *inference, OnnxlExpr e, uint32_t graph);

/* The dims of a tensor as they are shown: a declared symbol stands in place of the expression it equals (the
 * constraints say so). NULL when the rank is unknown; else info.rank items, borrowed. */
const OnnxlExpr *onnxl_inference_shown_dims(const OnnxlInference *inference, uint32_t value);

/* The name that inference gives to an input's dim that has none, so that it can be bound before: "x_0". Returns: in the
 * arena. */
OnnxlStr onnxl_shape_default_name(OnnxlArena *arena, OnnxlStr prefix, OnnxlStr value, uint32_t axis);

/* Number of elements and of bytes of a tensor; NULL when not known (unknown rank or dim, strings, overflow). */
OnnxlExpr onnxl_info_count(OnnxlExprPool *pool, const OnnxlInfo *info);
OnnxlExpr onnxl_info_bytes(OnnxlExprPool *pool, const OnnxlInfo *info);

/* In the text syntax: "float[N,4]", "float" for rank 0, "float[]" for unknown rank, "seq(float[N])", "?" for what is
 * not known. dims: in place of those of info (as onnxl_inference_shown_dims()), or NULL. */
void onnxl_info_print(OnnxlOutput *out, const OnnxlInfo *info, const OnnxlExpr *dims);

#endif
