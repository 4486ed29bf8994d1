/* --trace: what ran when, for the viewers of Chrome and Perfetto. */
#include "exec.h"
#include "support/json.h"

typedef struct TracedNode {
  const OnnxlNode *proto;
  int64_t index;
  uint64_t duration_ns, live_bytes;
} TracedNode;

typedef struct Trace {
  Observer observer;
  GArray *nodes; /* TracedNode */
} Trace;

static bool
trace_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Trace *trace = (Trace *)observer;

  (void)error;
  if (event->action == ONNXL_EVENT_RUN_NODE) {
    TracedNode node = { event->proto, event->node, event->duration_ns, event->live_bytes };
    g_array_append_val(trace->nodes, node);
  }
  return true;
}

/* Chrome's trace events: complete events on one thread, times in microseconds. */
static bool
write_trace(const Trace *trace, GError **error)
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
  for (guint i = 0; i < trace->nodes->len; i++) {
    const TracedNode *node = &g_array_index(trace->nodes, TracedNode, i);
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

static bool
trace_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  (void)out;
  return !completed || write_trace((const Trace *)observer, error);
}

static void
trace_free(Observer *observer)
{
  Trace *trace = (Trace *)observer;

  g_array_free(trace->nodes, TRUE);
  g_free(trace);
}

bool
trace_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  (void)run;
  (void)session;
  (void)error;
  if (!exec_options.trace)
    return true;
  Trace *trace = g_new0(Trace, 1);
  trace->observer = (Observer){ .event = trace_event, .finish = trace_finish, .free = trace_free };
  trace->nodes = g_array_new(FALSE, FALSE, sizeof(TracedNode));
  *ret_observer = &trace->observer;
  return true;
}
