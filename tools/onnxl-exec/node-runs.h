/* What nodes took, in all runs that count: those of the main graph, and of nested graphs and functions when their
 * events come, too. */
#ifndef ONNXL_EXEC_NODE_RUNS_H
#define ONNXL_EXEC_NODE_RUNS_H

#include "runtime/event.h"

typedef struct NodeRun {
  const OnnxlNode *proto;
  const char *graph; /* path of the nested graph or function body; "" = the main graph */
  int64_t index;     /* in its graph */
  uint64_t trips;    /* how often it ran in the last run in which it did */
  uint64_t start_ns; /* of its first trip in the first run in which it ran */
  /* Median and least of the runs, all trips of one summed up; own: without the nodes inside it. Of node_runs_finish().
   */
  uint64_t duration_ns, min_ns, own_ns, own_min_ns;
  uint64_t live_bytes, peak_bytes, workspace_bytes; /* the most of its trips */
} NodeRun;

typedef struct NodeRuns {
  NodeRun *nodes;   /* those of the main graph by index, then the nested ones */
  uint32_t n_nodes; /* of the main graph */
  uint32_t n_all;
  struct NodeRunsState *state; /* while runs last */
} NodeRuns;

void node_runs_init(NodeRuns *runs, uint32_t n_nodes);
void node_runs_clear(NodeRuns *runs);
/* Takes in a RUN_NODE event. */
void node_runs_add(NodeRuns *runs, const OnnxlEvent *event);
/* Once all runs have been completed. */
void node_runs_finish(NodeRuns *runs);
/* Nanoseconds of the main graph's nodes. */
uint64_t node_runs_total(const NodeRuns *runs);

#endif
