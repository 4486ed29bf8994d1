/* A rule looks at one kind of thing in the model. The walk (walk.c) comes to each thing with its place; the engine
 * (engine.c) runs the rules for it in an order in which a rule comes after those it needs, and leaves it out where one
 * of these failed on the same thing or on one around it: a rule may assume what the rules that it needs have proved. */
#ifndef ONNXL_CHECK_CHECK_INTERNAL_H
#define ONNXL_CHECK_CHECK_INTERNAL_H

#include "check/check.h"
#include "ops/ops.h"
#include "proto/index.h"

typedef enum OnnxlCheckKind {
  ONNXL_CHECK_MODEL,
  ONNXL_CHECK_TRAINING, /* a training_info */
  ONNXL_CHECK_BODY,     /* names resolved together: the main graph, a function, a training graph */
  ONNXL_CHECK_GRAPH,    /* of a body or of an attribute */
  ONNXL_CHECK_FUNCTION, /* as a list of nodes: what a graph is for the other bodies */
  ONNXL_CHECK_NODE,
  ONNXL_CHECK_ATTRIBUTE, /* of a node, or the default of a function's attribute */
  ONNXL_CHECK_INPUT,     /* ValueInfoProto of a graph's input */
  ONNXL_CHECK_OUTPUT,
  ONNXL_CHECK_VALUE_INFO,
  ONNXL_CHECK_TENSOR,
  ONNXL_CHECK_SPARSE,
  ONNXL_N_CHECK_KINDS,
} OnnxlCheckKind;

#define ON(kind) (1u << ONNXL_CHECK_##kind)

/* One thing in the model. Places live on the stack of the walk. */
typedef struct OnnxlCheckPlace OnnxlCheckPlace;
struct OnnxlCheckPlace {
  const OnnxlCheckPlace *around; /* NULL for the model */
  OnnxlCheckKind kind;
  uint64_t failed; /* rules that failed here or around, or were left out, by bit */
  size_t position; /* in its list */
  union {
    const void *message; /* the struct of model.h; NULL for a body */
    const OnnxlTrainingInfo *training;
    const OnnxlGraph *graph;
    const OnnxlFunction *function;
    const OnnxlNode *node;
    const OnnxlAttribute *attribute;
    const OnnxlValueInfo *info;
    const OnnxlTensor *tensor;
    const OnnxlSparseTensor *sparse;
  };
  const char *label; /* BODY: its part of the path, or NULL */

  /* Of a GRAPH or FUNCTION */
  const OnnxlNodeList *nodes;
  const OnnxlValueInfoList *infos;
  const OnnxlPairList *metadata; /* also of all other things that have some */
  uint32_t index_graph;          /* its number and its first node's in the body's index */
  uint32_t first_node;

  /* Of a NODE */
  uint32_t id;                 /* in the body's index */
  int64_t version;             /* of the operator set, 0 when there is no import */
  const OnnxlOpSchema *schema; /* its operator, or */
  const OnnxlFunction *callee; /* the function that it calls; both NULL when neither is known */
};

/* Element type and kind of a value, as far as they are declared or follow from the operators. */
typedef enum OnnxlCheckForm {
  ONNXL_FORM_UNKNOWN,
  ONNXL_FORM_TENSOR,
  ONNXL_FORM_SEQUENCE,          /* of tensors */
  ONNXL_FORM_OPTIONAL,          /* a tensor or nothing */
  ONNXL_FORM_OPTIONAL_SEQUENCE, /* a sequence of tensors or nothing */
  ONNXL_FORM_OTHER,
} OnnxlCheckForm;

typedef struct OnnxlCheckType {
  uint8_t form; /* OnnxlCheckForm */
  uint8_t elem; /* OnnxlDataType, 0 when unknown */
} OnnxlCheckType;

/* What is known of the body that is being walked. */
typedef struct OnnxlCheckBody {
  const OnnxlModel *model;       /* whose graph is this body's; for a training algorithm both graphs in one */
  const OnnxlFunction *function; /* or NULL */
  bool is_training;
  OnnxlArena *arena;       /* freed when the body has been walked */
  const OnnxlIndex *index; /* NULL when a name is wrong */
  OnnxlCheckType *types;   /* by value id */
  OnnxlMap domains;        /* used without an import, and reported */
} OnnxlCheckBody;

typedef struct OnnxlCheck {
  OnnxlModel *model;
  const OnnxlModelProto *proto;
  OnnxlExternalFiles *files;
  OnnxlDiagSink *sink;
  OnnxlArena *arena;
  size_t budget;
  const OnnxlFunctionTable *functions; /* NULL when they are wrong */
  OnnxlMap attributes;                 /* of the functions, "NUMBER attribute"; made at the first question */
  OnnxlMap operators;                  /* unknown ones that were reported */
  OnnxlMap configurations;             /* of devices: from the name to the position */
  OnnxlCheckBody *body;                /* NULL outside of bodies */
  bool graph_resolved;                 /* all names of the main graph are right */
  bool failed;                         /* the rule that runs */
  GError *error;                       /* the work cannot go on */
  GString *path;                       /* scratch of onnxl_check_path() */
} OnnxlCheck;

typedef struct OnnxlCheckRule {
  unsigned on; /* kinds of things, ON() */
  void (*run)(OnnxlCheck *check, const OnnxlCheckPlace *at);
  uint64_t needs;         /* NEEDS() */
  const OnnxlDiagId *ids; /* of its findings */
  size_t n_ids;
} OnnxlCheckRule;

typedef enum OnnxlCheckRuleNumber {
#define RULE(name) ONNXL_RULE_##name,
#include "check/rules.def"
#undef RULE
  ONNXL_N_RULES,
} OnnxlCheckRuleNumber;

#define RULE(name) extern const OnnxlCheckRule onnxl_rule_##name;
#include "check/rules.def"
#undef RULE

#define NO_NEEDS 0
#define NEEDS(name) ((uint64_t)1 << ONNXL_RULE_##name)

/* The row of a rule, right behind its function: ONNXL_RULE(name, ON(…) | …, NEEDS(…) | …, ids of its findings…). */
#define ONNXL_RULE(name, kinds, requirements, ...)                                                            \
  const OnnxlCheckRule onnxl_rule_##name = { kinds, name, requirements, (const OnnxlDiagId[]){ __VA_ARGS__ }, \
                                             sizeof((const OnnxlDiagId[]){ __VA_ARGS__ }) / sizeof(OnnxlDiagId) }

/* Runs the rules for a thing and notes in at->failed which failed. */
void onnxl_check_run(OnnxlCheck *check, OnnxlCheckPlace *at);

/* Walks the whole model. */
void onnxl_check_walk(OnnxlCheck *check);

/* A finding of the running rule about the thing, which fails the rule when the id's severity is error. */
void onnxl_check_report(OnnxlCheck *check, const OnnxlCheckPlace *at, OnnxlDiagId id, const char *format, ...)
  G_GNUC_PRINTF(4, 5);

/* The same about a named part of the thing, such as a value of a graph. */
void onnxl_check_report_part(OnnxlCheck *check, const OnnxlCheckPlace *at, OnnxlStr part, OnnxlDiagId id,
                             const char *format, ...) G_GNUC_PRINTF(5, 6);

/* The running rule fails by a function that has reported: what is no finding ends the work. */
void onnxl_check_fail(OnnxlCheck *check, GError *error);

/* The budget did not do. */
void onnxl_check_exhausted(OnnxlCheck *check);

/* Path of a thing: "/if1/then_branch/conv1 (Conv)". Returns: good until the next call. */
const char *onnxl_check_path(OnnxlCheck *check, const OnnxlCheckPlace *at);

/* True for a graph that is not the graph of a body. */
bool onnxl_check_is_nested(const OnnxlCheckPlace *graph);

/* All names that a graph or function defines. Lives in the body's arena. */
OnnxlMap onnxl_check_names(OnnxlCheck *check, const OnnxlCheckPlace *at);

/* Adds a name to a set. Returns false when it was there. */
bool onnxl_check_add(OnnxlCheck *check, OnnxlMap *set, OnnxlStr name);

/* True when the function has the attribute, with a default or without. */
bool onnxl_check_function_has(OnnxlCheck *check, const OnnxlFunction *function, OnnxlStr attribute);

/* A domain as messages show it. */
static inline OnnxlStr
onnxl_check_domain(OnnxlStr domain)
{
  return onnxl_domain_normal(domain).size == 0 ? ONNXL_STR("ai.onnx") : domain;
}

/* Reports the use of something that the model's ir_version does not have. */
void onnxl_check_since(OnnxlCheck *check, const OnnxlCheckPlace *at, int64_t version, OnnxlDiagId id, const char *what);

/* ir_version of the model, 0 when it is not set. */
static inline int64_t
onnxl_check_ir(const OnnxlCheck *check)
{
  return check->proto->has_ir_version ? check->proto->ir_version : 0;
}

/* The newest ir_version that onnx.proto of this project knows. */
enum { ONNXL_NEWEST_IR = 14 };

#endif
