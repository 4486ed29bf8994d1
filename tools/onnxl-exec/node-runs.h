/* What the nodes of the main graph took, in all runs that count. */
#ifndef ONNXL_EXEC_NODE_RUNS_H
#define ONNXL_EXEC_NODE_RUNS_H

#include "runtime/event.h"

typedef struct NodeRun {
  const OnnxlNode *proto;
  uint64_t duration_ns, min_ns; /* median and least of the runs; of node_runs_finish() */
  uint64_t live_bytes, peak_bytes, workspace_bytes;
} NodeRun;

typedef struct NodeRuns {
  NodeRun *nodes; /* by index */
  uint32_t n_nodes;
  GArray *durations; /* uint64_t: of all nodes in the first run, then in the next one */
} NodeRuns;

void node_runs_init(NodeRuns *runs, uint32_t n_nodes);
void node_runs_clear(NodeRuns *runs);
/* Takes in a RUN_NODE event of the main graph. */
void node_runs_add(NodeRuns *runs, const OnnxlEvent *event);
/* Once all runs have been completed. */
void node_runs_finish(NodeRuns *runs);
uint64_t node_runs_total(const NodeRuns *runs);

#endif
