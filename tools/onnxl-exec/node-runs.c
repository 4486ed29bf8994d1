#include "node-runs.h"
#include "support/sort.h"

typedef struct Times {
  uint64_t duration_ns, own_ns, trips;
} Times;

/* A node that has run, and perhaps is inside one that still does. */
typedef struct Done {
  uint64_t start_ns, duration_ns;
} Done;

typedef struct NodeRunsState {
  GArray *nodes;      /* NodeRun; behind runs->nodes */
  GHashTable *graphs; /* path of a nested graph -> GArray of uint32_t: by index, place in nodes; 0 = none yet */
  GArray *now;        /* Times of the run that lasts, by place in nodes */
  GPtrArray *past;    /* those of completed runs, shorter where a node had not been met yet */
  GArray *done;       /* Done */
} NodeRunsState;

static void
free_array(gpointer array)
{
  g_array_free(array, TRUE);
}

void
node_runs_init(NodeRuns *runs, uint32_t n_nodes)
{
  NodeRunsState *state = g_new0(NodeRunsState, 1);

  state->nodes = g_array_new(FALSE, TRUE, sizeof(NodeRun));
  state->graphs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_array);
  state->now = g_array_new(FALSE, TRUE, sizeof(Times));
  state->past = g_ptr_array_new_with_free_func(free_array);
  state->done = g_array_new(FALSE, FALSE, sizeof(Done));
  g_array_set_size(state->nodes, n_nodes);
  g_array_set_size(state->now, n_nodes);
  *runs = (NodeRuns){ (NodeRun *)state->nodes->data, n_nodes, n_nodes, state };
}

void
node_runs_clear(NodeRuns *runs)
{
  NodeRunsState *state = runs->state;

  g_array_free(state->nodes, TRUE);
  g_hash_table_destroy(state->graphs);
  g_array_free(state->now, TRUE);
  g_ptr_array_free(state->past, TRUE);
  g_array_free(state->done, TRUE);
  g_free(state);
}

/* The place of a node of a nested graph, which is made when it is met first. *ret_graph: the path, as the nodes share
 * it. */
static uint32_t
nested_place(NodeRuns *runs, const OnnxlEvent *event, const char **ret_graph)
{
  NodeRunsState *state = runs->state;
  gpointer key, places;

  if (!g_hash_table_lookup_extended(state->graphs, onnxl_event_graph(event), &key, &places)) {
    key = g_strdup(onnxl_event_graph(event));
    places = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    g_hash_table_insert(state->graphs, key, places);
  }
  GArray *known = places;
  if (event->node >= known->len)
    g_array_set_size(known, (guint)event->node + 1);
  uint32_t *place = &g_array_index(known, uint32_t, event->node);
  if (*place == 0) { /* the main graph, which has this nested one, has a node at 0 */
    *place = runs->n_all++;
    g_array_set_size(state->nodes, runs->n_all);
    g_array_set_size(state->now, runs->n_all);
    runs->nodes = (NodeRun *)state->nodes->data;
  }
  *ret_graph = key;
  return *place;
}

/* The time of what ran inside a node that started then. */
static uint64_t
time_inside(GArray *done, uint64_t start_ns)
{
  uint64_t sum = 0;

  while (done->len > 0 && g_array_index(done, Done, done->len - 1).start_ns >= start_ns) {
    sum += g_array_index(done, Done, done->len - 1).duration_ns;
    g_array_set_size(done, done->len - 1);
  }
  return sum;
}

static void
end_run(NodeRunsState *state)
{
  guint n = state->now->len;

  g_ptr_array_add(state->past, state->now);
  state->now = g_array_new(FALSE, TRUE, sizeof(Times));
  g_array_set_size(state->now, n);
  g_array_set_size(state->done, 0);
}

void
node_runs_add(NodeRuns *runs, const OnnxlEvent *event)
{
  NodeRunsState *state = runs->state;
  const char *graph = "";
  uint32_t place = event->scope ? nested_place(runs, event, &graph) : (uint32_t)event->node;
  NodeRun *node = &runs->nodes[place];
  Times *times = &g_array_index(state->now, Times, place);
  Done done = { event->start_ns, event->duration_ns };

  if (!node->proto)
    *node = (NodeRun){ .proto = event->proto, .graph = graph, .index = event->node, .start_ns = event->start_ns };
  node->trips = ++times->trips;
  node->live_bytes = MAX(node->live_bytes, event->live_bytes);
  node->peak_bytes = MAX(node->peak_bytes, event->peak_bytes);
  node->workspace_bytes = MAX(node->workspace_bytes, event->workspace_bytes);
  times->duration_ns += event->duration_ns;
  uint64_t inside = time_inside(state->done, event->start_ns);
  times->own_ns += event->duration_ns - MIN(inside, event->duration_ns);
  g_array_append_val(state->done, done);
  if (!event->scope && (uint64_t)event->node + 1 == runs->n_nodes)
    end_run(state);
}

static int
compare_times(const void *a, const void *b)
{
  const uint64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

void
node_runs_finish(NodeRuns *runs)
{
  const GPtrArray *past = runs->state->past;
  g_autofree uint64_t *durations = g_new(uint64_t, past->len), *own = g_new(uint64_t, past->len);

  for (uint32_t n = 0; n < runs->n_all && past->len > 0; n++) {
    for (guint i = 0; i < past->len; i++) {
      const GArray *run = g_ptr_array_index(past, i);
      const Times *times = n < run->len ? &g_array_index(run, Times, n) : &(Times){ 0 };
      durations[i] = times->duration_ns;
      own[i] = times->own_ns;
    }
    onnxl_sort(durations, past->len, sizeof *durations, compare_times);
    onnxl_sort(own, past->len, sizeof *own, compare_times);
    runs->nodes[n].duration_ns = durations[past->len / 2];
    runs->nodes[n].min_ns = durations[0];
    runs->nodes[n].own_ns = own[past->len / 2];
    runs->nodes[n].own_min_ns = own[0];
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
