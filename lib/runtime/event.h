/* Events: what happens to values and nodes of a run, with the bytes that are live after it. */
#ifndef ONNXL_RUNTIME_EVENT_H
#define ONNXL_RUNTIME_EVENT_H

#include "runtime/value.h"
#include "shapes/infer.h"
#include "support/output.h"

typedef enum OnnxlEventAction {
  ONNXL_EVENT_ADD,
  ONNXL_EVENT_REPLACE,
  ONNXL_EVENT_REMOVE,
  ONNXL_EVENT_RUN_NODE
} OnnxlEventAction;
#define ONNXL_N_EVENT_ACTIONS 4

typedef enum OnnxlEventKind {
  ONNXL_EVENT_INPUT,
  ONNXL_EVENT_INITIALIZER,
  ONNXL_EVENT_INTERMEDIATE,
  ONNXL_EVENT_OUTPUT,
  ONNXL_EVENT_UNKNOWN,
} OnnxlEventKind;
#define ONNXL_N_EVENT_KINDS 5

/* Where in the model an event happens, when it is not in the main graph; the executor's. */
typedef struct OnnxlEventScope OnnxlEventScope;

typedef struct OnnxlEvent {
  OnnxlEventAction action;
  OnnxlEventKind kind;
  OnnxlStr name;           /* of the value; empty for RUN_NODE */
  const OnnxlValue *value; /* of ADD and REPLACE, else NULL */
  uint32_t id;             /* of that value in the index of the main graph or function body */
  int64_t node;            /* index of the producing or running node in its graph, -1 = none */
  const OnnxlNode *proto;  /* that node, or NULL */
  OnnxlValue *const
    *inputs; /* ADD of what a node computed: the node's inputs, NULL items for omitted ones; else NULL */
  uint32_t n_inputs;
  const OnnxlEventScope *scope; /* the nested graph or function body, NULL = the main graph */
  uint64_t timestamp_ns;        /* since the epoch; never goes back within a run */
  uint64_t start_ns;            /* RUN_NODE: when the node started, on the same clock */
  uint64_t duration_ns;
  uint64_t live_bytes, peak_bytes; /* right after the event */
  uint64_t workspace_bytes;        /* RUN_NODE: the most that the kernel held beside inputs and outputs */
} OnnxlEvent;

/* Sees an event as it happens. Returns false with error to stop the run. */
typedef bool (*OnnxlEventFunction)(void *data, const OnnxlEvent *event, GError **error);

/* The scope around a scope, NULL = the main graph. */
const OnnxlEventScope *onnxl_event_scope_outer(const OnnxlEventScope *scope);
/* Which run of a nested graph or function body it is, over all of them in a run of the model, from 1 on. */
uint64_t onnxl_event_scope_serial(const OnnxlEventScope *scope);

/* What was inferred for the graph that the event's value lies in: main, which is of the same model, or the inference of
 * a function body for the calls around. Its items are found by event->id. NULL when there is none. */
const OnnxlInference *onnxl_event_inference(const OnnxlEvent *event, const OnnxlInference *main);

/* Path of the nested graph or function body: "/if1/then_branch", "/call (f)/f"; "" in the main graph. Borrowed until
 * the event's function returns. */
const char *onnxl_event_graph(const OnnxlEvent *event);
/* The same with the number of the trip behind each graph that may run many times: "/loop1/body[3]". */
const char *onnxl_event_place(const OnnxlEvent *event);
/* Path of the event's node, with numbers of trips: "/loop1/body[3]/conv1 (Conv)"; of the graph when there is none.
 * Returns: owned. */
char *onnxl_event_node_path(const OnnxlEvent *event);

/* Elements of a tensor that an event's line shows at most. */
#define ONNXL_EVENT_VALUES 8

/* The domain of the node, "ai.onnx" for the default one. */
OnnxlStr onnxl_event_domain(const OnnxlEvent *event);

const char *onnxl_event_action_name(OnnxlEventAction action);
const char *onnxl_event_kind_name(OnnxlEventKind kind);

/* One line with a newline: the summary form, or a JSON object with every field. */
void onnxl_event_print_summary(OnnxlOutput *out, const OnnxlEvent *event);
void onnxl_event_print_json(OnnxlOutput *out, const OnnxlEvent *event);

#endif
