/* Names resolved: the values, nodes and nested graphs of a main graph or of one function body under dense ids, with
 * scopes, uses and captures. Built once in linear time; names are hashed once. The analysis libraries work on ids only.
 */
#ifndef ONNXL_PROTO_INDEX_H
#define ONNXL_PROTO_INDEX_H

#include "proto/model.h"
#include "support/map.h"

/* "No value" (an omitted optional input), "no node", "no graph". */
#define ONNXL_NONE UINT32_MAX

typedef enum OnnxlValueKind {
  ONNXL_VALUE_INPUT,       /* of a graph or function */
  ONNXL_VALUE_INITIALIZER, /* also listed as input or not */
  ONNXL_VALUE_NODE_OUTPUT,
} OnnxlValueKind;

typedef struct OnnxlIndexValue {
  OnnxlStr name;
  OnnxlValueKind kind;
  uint32_t graph;                  /* that defines it */
  uint32_t producer;               /* node id, for node outputs, else ONNXL_NONE */
  uint32_t position;               /* in the producer's outputs, the graph's inputs or its initializers */
  bool is_input;                   /* listed among the graph's inputs (an initializer may be) */
  bool is_output;                  /* listed among the graph's outputs */
  const OnnxlValueInfo *info;      /* its input, output or value_info entry, or NULL */
  const OnnxlTensor *initializer;  /* or NULL */
  const OnnxlSparseTensor *sparse; /* sparse initializer, or NULL */
  uint32_t first_use;              /* into OnnxlIndex.uses */
  uint32_t n_uses;                 /* direct uses as node inputs, in any graph; as graph outputs: is_output */
} OnnxlIndexValue;

typedef struct OnnxlIndexNode {
  const OnnxlNode *proto;
  uint32_t graph;
  const uint32_t *inputs; /* value ids, ONNXL_NONE for an omitted one */
  const uint32_t *outputs;
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t first_subgraph; /* its nested graphs have consecutive graph ids, in attribute order */
  uint32_t n_subgraphs;
  const uint32_t
    *captures; /* values from outside that its nested graphs use, at any depth, each once, in order of use */
  uint32_t n_captures;
} OnnxlIndexNode;

typedef struct OnnxlIndexGraph {
  const OnnxlGraph *proto;         /* NULL for a function body */
  const OnnxlFunction *function;   /* NULL for a graph */
  uint32_t parent_node;            /* ONNXL_NONE for the root */
  const OnnxlAttribute *attribute; /* that holds it, NULL for the root */
  uint32_t first_node;             /* its nodes have consecutive ids, in model order; the root's start at 0 */
  uint32_t n_nodes;
  const uint32_t *inputs; /* value ids, in order; includes initializers that are listed as inputs */
  const uint32_t *outputs;
  const uint32_t *initializers; /* dense ones in order, then sparse ones */
  uint32_t n_inputs;
  uint32_t n_outputs;
  uint32_t n_initializers;
} OnnxlIndexGraph;

typedef struct OnnxlIndex {
  const OnnxlModel *model;
  const OnnxlIndexValue *values;
  const OnnxlIndexNode *nodes;
  const OnnxlIndexGraph *graphs; /* 0 is the root; a nested graph has a higher id than the graph around it */
  const uint32_t *uses;          /* node ids, grouped by value, ascending */
  uint32_t n_values;
  uint32_t n_nodes;
  uint32_t n_graphs;
} OnnxlIndex;

/* Indexes the main graph (function NULL) or a function body. Memory comes from arena. Findings: no graph, a value
 * defined twice, an undefined value (also one that a later node defines: nodes out of order, or a cycle), a name in a
 * nested graph that hides an outer one, a graph output that nothing in the graph defines. Returns: in the arena; NULL
 * with ONNXL_ERROR_INVALID after findings, or ONNXL_ERROR_LIMIT. */
const OnnxlIndex *onnxl_index_new(const OnnxlModel *model, const OnnxlFunction *function, OnnxlArena *arena,
                                  OnnxlDiagSink *sink, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Version that a graph imports of a domain ("" and "ai.onnx" are one); function not NULL: what the function imports,
 * else the model. 0 when it is not imported; before ir_version 3 that is 1 for the default domain. */
int64_t onnxl_opset_version(const OnnxlModel *model, const OnnxlFunction *function, OnnxlStr domain);

/* The model's functions by (domain, name, overload). */
typedef struct OnnxlFunctionTable OnnxlFunctionTable;

/* Findings: two functions of one identity, functions that call each other in a cycle (named as "d::f -> d::g -> d::f").
 * Returns: in the arena, NULL with error. */
const OnnxlFunctionTable *onnxl_function_table_new(const OnnxlModel *model, OnnxlArena *arena, OnnxlDiagSink *sink,
                                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The function that the node calls, or NULL. */
const OnnxlFunction *onnxl_function_table_find(const OnnxlFunctionTable *table, const OnnxlNode *node);

/* Path of a node for messages: "/if1/then_branch/conv1 (Conv)"; an unnamed node by its index: "/#3 (Conv)"; in a
 * function's body below its name: "/f/conv1 (Conv)". Returns: in the arena. */
const char *onnxl_index_node_path(const OnnxlIndex *index, uint32_t node, OnnxlArena *arena);

/* Path of a graph: "/if1/then_branch", a function's body "/f", the main graph "/". Returns: in the arena. */
const char *onnxl_index_graph_path(const OnnxlIndex *index, uint32_t graph, OnnxlArena *arena);

#endif
