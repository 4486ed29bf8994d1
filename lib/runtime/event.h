/* The event log: what happens to values and nodes of the main graph, with the bytes that are live after it. */
#ifndef ONNXL_RUNTIME_EVENT_H
#define ONNXL_RUNTIME_EVENT_H

#include "runtime/value.h"
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

typedef struct OnnxlEvent {
  OnnxlEventAction action;
  OnnxlEventKind kind;
  OnnxlStr name;           /* of the value; empty for RUN_NODE */
  const OnnxlValue *value; /* of ADD and REPLACE, else NULL */
  int64_t node;            /* index of the producing or running node, -1 = none */
  const OnnxlNode *proto;  /* of RUN_NODE, else NULL */
  uint64_t duration_ns;
  uint64_t live_bytes, peak_bytes; /* right after the event */
  uint64_t workspace_bytes;        /* RUN_NODE: the most scratch memory the kernel held */
} OnnxlEvent;

/* Sees an event as it happens. Returns false with error to stop the run. */
typedef bool (*OnnxlEventFunction)(void *data, const OnnxlEvent *event, GError **error);

const char *onnxl_event_action_name(OnnxlEventAction action);
const char *onnxl_event_kind_name(OnnxlEventKind kind);

/* One line with a newline: the summary form, or a JSON object with every field. */
void onnxl_event_print_summary(OnnxlOutput *out, const OnnxlEvent *event);
void onnxl_event_print_json(OnnxlOutput *out, const OnnxlEvent *event);

#endif
