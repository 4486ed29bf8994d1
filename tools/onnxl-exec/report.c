/* What a run is watched for: the event log, the profile, a trace, the range of values. */
#include <math.h>

#include "cli/table.h"
#include "exec.h"
#include "runtime/tensor.h"
#include "support/error.h"
#include "support/json.h"

/* A node that has run. */
typedef struct NodeRun {
  const OnnxlNode *proto;
  int64_t index;
  uint64_t duration_ns, live_bytes, peak_bytes, workspace_bytes;
} NodeRun;

/* What --check-values knows of a value. */
typedef struct Range {
  char *name;
  double min, max, mean;
  uint64_t nans, infinities;
} Range;

struct Report {
  const OnnxlRun *run;
  bool log; /* --events */
  bool log_to_file;
  OnnxlOutputFile file;
  OnnxlOutput memory; /* the log, when it goes to standard output */
  bool actions[ONNXL_N_EVENT_ACTIONS], kinds[ONNXL_N_EVENT_KINDS];
  bool filtered;
  GArray *nodes;  /* NodeRun */
  GArray *ranges; /* Range */
  char *failure;  /* the value that --fail-on found */
};

static bool
parse_kinds(Report *report, const char *text, GError **error)
{
  char **words = g_strsplit(text, ",", -1);
  bool good = true;
  report->filtered = true;
  for (char **word = words; good && *word; word++) {
    bool known = false;
    for (int i = 0; i < ONNXL_N_EVENT_ACTIONS; i++)
      if (strcmp(*word, onnxl_event_action_name((OnnxlEventAction)i)) == 0)
        report->actions[i] = known = true;
    for (int i = 0; i < ONNXL_N_EVENT_KINDS; i++)
      if (strcmp(*word, onnxl_event_kind_name((OnnxlEventKind)i)) == 0)
        report->kinds[i] = known = true;
    if (!known)
      good =
        onnxl_fail(error, ONNXL_ERROR_USAGE, "--event-kinds: \"%s\" is neither an action nor a kind of event", *word);
  }
  g_strfreev(words);
  return good;
}

Report *
report_new(const OnnxlRun *run, GError **error)
{
  Report *report = g_new0(Report, 1);
  report->run = run;
  report->nodes = g_array_new(FALSE, FALSE, sizeof(NodeRun));
  report->ranges = g_array_new(FALSE, FALSE, sizeof(Range));
  report->log = exec_options.events != NULL;
  report->log_to_file = report->log && *exec_options.events;
  onnxl_output_init(&report->memory, -1);
  bool good = !exec_options.event_kinds || parse_kinds(report, exec_options.event_kinds, error);
  if (good && report->log_to_file) {
    good = onnxl_output_file_open(&report->file, exec_options.events, ONNXL_OUTPUT_NO_SYNC, error);
    report->log_to_file = good;
  }
  if (good)
    return report;
  report_free(report);
  return NULL;
}

static void
check_value(Report *report, const OnnxlEvent *event)
{
  const OnnxlValue *value = event->value;
  if (value->kind != ONNXL_KIND_TENSOR || value->elem_type == ONNXL_TYPE_STRING || report->failure)
    return;
  Range range = { .min = INFINITY, .max = -INFINITY };
  double sum = 0;
  for (int64_t i = 0; i < value->count; i++) {
    double x = onnxl_tensor_double(value, i);
    range.nans += isnan(x) != 0;
    range.infinities += isinf(x) != 0;
    range.min = fmin(range.min, x);
    range.max = fmax(range.max, x);
    sum += x;
  }
  range.mean = value->count == 0 || isnan(sum) ? NAN : sum / (double)value->count; /* without a NaN's sign */
  range.name = g_strndup(event->name.data, event->name.size);
  g_array_append_val(report->ranges, range);
  if ((exec_options.fail_on == 1 && range.nans > 0) || (exec_options.fail_on == 2 && range.infinities > 0))
    report->failure = g_strdup_printf("the value %s has %" G_GUINT64_FORMAT " %s, made by node %" G_GINT64_FORMAT,
                                      range.name, exec_options.fail_on == 1 ? range.nans : range.infinities,
                                      exec_options.fail_on == 1 ? "NaN" : "infinities", event->node);
}

void
report_event(Report *report, const OnnxlEvent *event)
{
  if (report->log && (!report->filtered || report->actions[event->action] || report->kinds[event->kind])) {
    OnnxlOutput *out = report->log_to_file ? &report->file.out : &report->memory;
    if (report->run->common.format == ONNXL_FORMAT_JSON)
      onnxl_event_print_json(out, event);
    else
      onnxl_event_print_summary(out, event);
  }
  if (event->action == ONNXL_EVENT_RUN_NODE && (exec_options.profile || exec_options.trace)) {
    NodeRun node = { event->proto,      event->node,       event->duration_ns,
                     event->live_bytes, event->peak_bytes, event->workspace_bytes };
    g_array_append_val(report->nodes, node);
  }
  if (event->action == ONNXL_EVENT_ADD && (exec_options.check_values || exec_options.fail_on))
    check_value(report, event);
}

bool
report_takes_stdout(const Report *report)
{
  return (report->log && !report->log_to_file) || exec_options.profile || exec_options.check_values;
}

bool
report_failed(const Report *report)
{
  return report->failure != NULL;
}

/* --- profile --- */

static int
slower_first(const void *a, const void *b)
{
  const NodeRun *x = a, *y = b;
  if (x->duration_ns != y->duration_ns)
    return x->duration_ns < y->duration_ns ? 1 : -1;
  return (x->index > y->index) - (x->index < y->index);
}

static void
print_nodes(Report *report, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "node", true },        { "op", false },  { "name", false },
                                         { "duration_ns", true }, { "live", true }, { "peak", true },
                                         { "workspace", true } };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  if (exec_options.top > 0)
    g_array_sort(report->nodes, slower_first);
  for (guint i = 0; i < report->nodes->len && (exec_options.top == 0 || i < exec_options.top); i++) {
    const NodeRun *node = &g_array_index(report->nodes, NodeRun, i);
    onnxl_table_int64(table, node->index);
    onnxl_table_text(table, node->proto->op_type);
    onnxl_table_text(table, node->proto->name.data ? node->proto->name : ONNXL_STR(""));
    onnxl_table_int64(table, (int64_t)node->duration_ns);
    onnxl_table_int64(table, (int64_t)node->live_bytes);
    onnxl_table_int64(table, (int64_t)node->peak_bytes);
    onnxl_table_int64(table, (int64_t)node->workspace_bytes);
  }
  onnxl_table_write(table, report->run->common.format, out);
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
print_operators(Report *report, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = {
    { "op", false }, { "nodes", true }, { "duration_ns", true }, { "percent", true }
  };
  GArray *sums = g_array_new(FALSE, FALSE, sizeof(NodeRun)); /* index: number of nodes */
  uint64_t total = 0;
  g_array_sort(report->nodes, by_operator);
  for (guint i = 0; i < report->nodes->len; i++) {
    NodeRun node = g_array_index(report->nodes, NodeRun, i);
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
  onnxl_table_write(table, report->run->common.format, out);
  onnxl_table_free(table);
  g_array_free(sums, TRUE);
}

static void
print_ranges(const Report *report, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "name", false }, { "min", true }, { "max", true },
                                         { "mean", true },  { "nan", true }, { "inf", true } };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < report->ranges->len; i++) {
    const Range *range = &g_array_index(report->ranges, Range, i);
    onnxl_table_text(table, onnxl_str(range->name));
    onnxl_table_double(table, range->min);
    onnxl_table_double(table, range->max);
    onnxl_table_double(table, range->mean);
    onnxl_table_int64(table, (int64_t)range->nans);
    onnxl_table_int64(table, (int64_t)range->infinities);
  }
  onnxl_table_write(table, report->run->common.format, out);
  onnxl_table_free(table);
}

/* Chrome's trace events: complete events on one thread, times in microseconds. */
static bool
write_trace(const Report *report, GError **error)
{
  OnnxlOutputFile file;
  OnnxlJson json;
  uint64_t start = 0;
  if (!onnxl_output_file_open(&file, exec_options.trace, ONNXL_OUTPUT_NO_SYNC, error))
    return false;
  onnxl_json_init(&json, &file.out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "traceEvents");
  onnxl_json_begin_array(&json);
  for (guint i = 0; i < report->nodes->len; i++) {
    const NodeRun *node = &g_array_index(report->nodes, NodeRun, i);
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "name");
    onnxl_json_string(&json, node->proto->op_type);
    onnxl_json_key(&json, "cat");
    onnxl_json_text(&json, "node");
    onnxl_json_key(&json, "ph");
    onnxl_json_text(&json, "X");
    onnxl_json_key(&json, "ts");
    onnxl_json_double(&json, (double)start / 1e3);
    onnxl_json_key(&json, "dur");
    onnxl_json_double(&json, (double)node->duration_ns / 1e3);
    onnxl_json_key(&json, "pid");
    onnxl_json_int64(&json, 1);
    onnxl_json_key(&json, "tid");
    onnxl_json_int64(&json, 1);
    onnxl_json_key(&json, "args");
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "node");
    onnxl_json_int64(&json, node->index);
    onnxl_json_key(&json, "name");
    onnxl_json_string(&json, node->proto->name.data ? node->proto->name : ONNXL_STR(""));
    onnxl_json_key(&json, "live_bytes");
    onnxl_json_uint64(&json, node->live_bytes);
    onnxl_json_end_object(&json);
    onnxl_json_end_object(&json);
    start += node->duration_ns;
  }
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
  return onnxl_output_file_commit(&file, error);
}

bool
report_finish(Report *report, OnnxlOutput *out, GError **error)
{
  if (report->log_to_file) {
    report->log_to_file = false;
    if (!onnxl_output_file_commit(&report->file, error))
      return false;
  } else if (report->log)
    onnxl_output_str(out, onnxl_output_memory(&report->memory));
  if (exec_options.trace && !write_trace(report, error))
    return false;
  if (exec_options.profile && exec_options.profile_by == 1)
    print_operators(report, out);
  else if (exec_options.profile)
    print_nodes(report, out);
  if (exec_options.check_values)
    print_ranges(report, out);
  if (report->failure)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "%s", report->failure);
  return true;
}

void
report_free(Report *report)
{
  if (!report)
    return;
  if (report->log_to_file)
    onnxl_output_file_abort(&report->file);
  onnxl_output_clear(&report->memory);
  for (guint i = 0; i < report->ranges->len; i++)
    g_free(g_array_index(report->ranges, Range, i).name);
  g_array_free(report->ranges, TRUE);
  g_array_free(report->nodes, TRUE);
  g_free(report->failure);
  g_free(report);
}
