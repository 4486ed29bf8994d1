/* --profile: what each node, or each operator, took. */
#include <math.h>

#include "cli/table.h"
#include "exec.h"

/* A node that has run. */
typedef struct NodeRun {
  const OnnxlNode *proto;
  int64_t index;
  uint64_t duration_ns, live_bytes, peak_bytes, workspace_bytes;
} NodeRun;

typedef struct Profile {
  Observer observer;
  const OnnxlRun *run;
  GArray *nodes; /* NodeRun */
} Profile;

static bool
profile_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Profile *profile = (Profile *)observer;

  (void)error;
  if (event->action == ONNXL_EVENT_RUN_NODE) {
    NodeRun node = { event->proto,      event->node,       event->duration_ns,
                     event->live_bytes, event->peak_bytes, event->workspace_bytes };
    g_array_append_val(profile->nodes, node);
  }
  return true;
}

static int
slower_first(const void *a, const void *b)
{
  const NodeRun *x = a, *y = b;
  if (x->duration_ns != y->duration_ns)
    return x->duration_ns < y->duration_ns ? 1 : -1;
  return (x->index > y->index) - (x->index < y->index);
}

static void
print_nodes(Profile *profile, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "node", true },        { "op", false },  { "name", false },
                                         { "duration_ns", true }, { "live", true }, { "peak", true },
                                         { "workspace", true } };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  if (exec_options.top > 0)
    g_array_sort(profile->nodes, slower_first);
  for (guint i = 0; i < profile->nodes->len && (exec_options.top == 0 || i < exec_options.top); i++) {
    const NodeRun *node = &g_array_index(profile->nodes, NodeRun, i);
    onnxl_table_int64(table, node->index);
    onnxl_table_text(table, node->proto->op_type);
    onnxl_table_text(table, node->proto->name.data ? node->proto->name : ONNXL_STR(""));
    onnxl_table_int64(table, (int64_t)node->duration_ns);
    onnxl_table_int64(table, (int64_t)node->live_bytes);
    onnxl_table_int64(table, (int64_t)node->peak_bytes);
    onnxl_table_int64(table, (int64_t)node->workspace_bytes);
  }
  onnxl_table_write(table, profile->run->common.format, out);
  onnxl_table_free(table);
}

static int
by_operator(const void *a, const void *b)
{
  const NodeRun *x = a, *y = b;
  int order = onnxl_str_compare(x->proto->domain, y->proto->domain);
  return order != 0 ? order : onnxl_str_compare(x->proto->op_type, y->proto->op_type);
}

static void
print_operators(Profile *profile, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = {
    { "op", false }, { "nodes", true }, { "duration_ns", true }, { "percent", true }
  };
  GArray *sums = g_array_new(FALSE, FALSE, sizeof(NodeRun)); /* index: number of nodes */
  uint64_t total = 0;
  g_array_sort(profile->nodes, by_operator);
  for (guint i = 0; i < profile->nodes->len; i++) {
    NodeRun node = g_array_index(profile->nodes, NodeRun, i);
    NodeRun *last = sums->len > 0 ? &g_array_index(sums, NodeRun, sums->len - 1) : NULL;
    total += node.duration_ns;
    if (last && by_operator(last, &node) == 0) {
      last->duration_ns += node.duration_ns;
      last->index++;
      continue;
    }
    node.index = 1;
    g_array_append_val(sums, node);
  }
  g_array_sort(sums, slower_first);
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < sums->len && (exec_options.top == 0 || i < exec_options.top); i++) {
    const NodeRun *sum = &g_array_index(sums, NodeRun, i);
    onnxl_table_text(table, sum->proto->op_type);
    onnxl_table_int64(table, sum->index);
    onnxl_table_int64(table, (int64_t)sum->duration_ns);
    onnxl_table_double(table, total > 0 ? round(1000.0 * (double)sum->duration_ns / (double)total) / 10 : 0);
  }
  onnxl_table_write(table, profile->run->common.format, out);
  onnxl_table_free(table);
  g_array_free(sums, TRUE);
}

static bool
profile_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Profile *profile = (Profile *)observer;

  (void)error;
  if (completed && exec_options.profile_by == 1)
    print_operators(profile, out);
  else if (completed)
    print_nodes(profile, out);
  return true;
}

static void
profile_free(Observer *observer)
{
  Profile *profile = (Profile *)observer;

  g_array_free(profile->nodes, TRUE);
  g_free(profile);
}

bool
profile_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  (void)session;
  (void)error;
  if (!exec_options.profile)
    return true;
  Profile *profile = g_new0(Profile, 1);
  profile->observer = (Observer){ profile_event, profile_finish, profile_free, true };
  profile->run = run;
  profile->nodes = g_array_new(FALSE, FALSE, sizeof(NodeRun));
  *ret_observer = &profile->observer;
  return true;
}
