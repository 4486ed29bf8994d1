/* What the executor keeps of the nested graph that runs, for its events. */
#ifndef ONNXL_RUNTIME_EVENT_INTERNAL_H
#define ONNXL_RUNTIME_EVENT_INTERNAL_H

#include "runtime/context-internal.h"

struct OnnxlEventScope {
  OnnxlEventScope *outer; /* NULL = the main graph */
  const OnnxlFrame *frame;
  uint32_t graph;
  uint64_t serial;
  uint64_t trip;        /* how often the node ran this graph before, in one execution */
  char *path, *place; /* made when first asked for */
};

/* The body of a node that may run it many times: that of a Loop, not a branch and not a function. */
bool onnxl_event_scope_repeats(const OnnxlEventScope *scope);
void onnxl_event_scope_clear(OnnxlEventScope *scope);

#endif
