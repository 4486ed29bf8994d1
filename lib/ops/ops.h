/* The operator table: every operator of every opset, one row a version. Other libraries expand the same rows (lib/ops/
 * *.def) for their own tables and index them by OnnxlOp. */
#ifndef ONNXL_OPS_OPS_H
#define ONNXL_OPS_OPS_H

#include "proto/model.h"

/* Dense ids of all rows in the order of ops/all.def: ONNXL_OP_<DOMAIN>_<Name>_<since>, such as
 * ONNXL_OP_ONNX_Softmax_13. The versions of an operator follow each other, oldest first. */
typedef enum OnnxlOp {
#define OP(domain, name, since, ...) ONNXL_OP_##domain##_##name##_##since,
#include "ops/all.def"
#undef OP
  ONNXL_N_OPS,
} OnnxlOp;

typedef enum OnnxlParamOption { ONNXL_PARAM_SINGLE, ONNXL_PARAM_OPTIONAL, ONNXL_PARAM_VARIADIC } OnnxlParamOption;

/* Texts lie inside the structs: pointers to them would be relocated, and their pages copied, whenever a tool starts. */

/* An input or output. type: a constraint's name ("T") or a type text ("tensor(int64)"). Only the last is variadic. */
typedef struct OnnxlOpParam {
  char name[32];
  char type[16];
  OnnxlParamOption option;
  bool heterogeneous; /* variadic: the values may have different types */
  bool is_list;       /* an input of one axis */
} OnnxlOpParam;

typedef struct OnnxlOpAttribute {
  char name[32];
  char default_text[24]; /* as in the text syntax: "1", "0.5", "\"constant\"", "[0, 1]"; "" = none */
  OnnxlAttributeType type;
  bool required;
} OnnxlOpAttribute;

/* A type constraint: its name and the types it allows, a bit set over element types for each kind of value. */
typedef struct OnnxlOpConstraint {
  char name[8];
  uint32_t tensor;            /* bit = OnnxlDataType: tensor(T) */
  uint32_t sequence;          /* seq(tensor(T)) */
  uint32_t optional_tensor;   /* optional(tensor(T)) */
  uint32_t optional_sequence; /* optional(seq(tensor(T))) */
  const char *const *others;  /* texts of what does not fit these, NULL-terminated, or NULL */
} OnnxlOpConstraint;

typedef struct OnnxlOpSchema {
  OnnxlOp op;
  char domain[32]; /* "" for ai.onnx */
  char name[32];
  int32_t since;
  int32_t min_inputs, max_inputs; /* max INT32_MAX = any number */
  int32_t min_outputs, max_outputs;
  bool deprecated;
  bool has_function_body; /* the standard defines it by other operators */
  bool nondeterministic;
  const OnnxlOpParam *inputs;
  const OnnxlOpParam *outputs;
  const OnnxlOpAttribute *attributes;
  const OnnxlOpConstraint *constraints;
  uint8_t n_inputs, n_outputs, n_attributes, n_constraints;
  uint32_t inplace;    /* bit i: output 0 may overwrite input i, which the kernel reads element by element, when
                        * both have the same number of elements and the same size of an element */
  char shape_rule[32]; /* the column's text: a name or "NONE" */
  char kernel[32];
} OnnxlOpSchema;

/* The row of an id, which must be below ONNXL_N_OPS. */
const OnnxlOpSchema *onnxl_op_schema(OnnxlOp op);

/* The row in force for (domain, op_type) in an opset: the highest since <= opset. NULL: no such operator, or not yet,
 * or opset 0 (not imported). A deprecated row is returned as such. */
const OnnxlOpSchema *onnxl_op_find(OnnxlStr domain, OnnxlStr op_type, int64_t opset);

/* The newest opset of a domain in the table, 0 for an unknown domain. */
int32_t onnxl_op_newest(OnnxlStr domain);

/* Typed access to a node's attributes. A missing attribute, one of another type and a reference to a function's
 * attribute give the schema's default (schema may be NULL: no defaults), without one 0 or the absent string. */
int64_t onnxl_attr_int(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name);
float onnxl_attr_float(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name);
OnnxlStr onnxl_attr_string(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name);
/* Integer list, borrowed; absent: count 0 (defaults of lists are the caller's). */
OnnxlInt64List onnxl_attr_ints(const OnnxlNode *node, const char *name);

#endif
