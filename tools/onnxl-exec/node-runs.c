#include "node-runs.h"

#include <stdlib.h>

void
node_runs_init(NodeRuns *runs, uint32_t n_nodes)
{
  *runs = (NodeRuns){ g_new0(NodeRun, n_nodes), n_nodes, g_array_new(FALSE, FALSE, sizeof(uint64_t)) };
}

void
node_runs_clear(NodeRuns *runs)
{
  g_free(runs->nodes);
  g_array_free(runs->durations, TRUE);
}

void
node_runs_add(NodeRuns *runs, const OnnxlEvent *event)
{
  runs->nodes[event->node] = (NodeRun){ .proto = event->proto,
                                        .live_bytes = event->live_bytes,
                                        .peak_bytes = event->peak_bytes,
                                        .workspace_bytes = event->workspace_bytes };
  g_array_append_val(runs->durations, event->duration_ns);
}

static int
compare_durations(const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

void
node_runs_finish(NodeRuns *runs)
{
  guint n_runs = runs->n_nodes > 0 ? runs->durations->len / runs->n_nodes : 0;
  g_autofree uint64_t *times = g_new(uint64_t, n_runs);

  for (uint32_t n = 0; n < runs->n_nodes && n_runs > 0; n++) {
    for (guint i = 0; i < n_runs; i++)
      times[i] = g_array_index(runs->durations, uint64_t, i * runs->n_nodes + n);
    qsort(times, n_runs, sizeof *times, compare_durations);
    runs->nodes[n].duration_ns = times[n_runs / 2];
    runs->nodes[n].min_ns = times[0];
  }
}

uint64_t
node_runs_total(const NodeRuns *runs)
{
  uint64_t total = 0;

  for (uint32_t n = 0; n < runs->n_nodes; n++)
    total += runs->nodes[n].duration_ns;
  return total;
}
