/* --trace: what ran when, and the bytes that were live, in the trace event format of Chrome and Perfetto. */
#include "exec.h"
#include "support/json.h"

enum { PROCESS = 1, THREAD = 1 };

typedef struct Slice {
  const OnnxlNode *proto;
  const char *place; /* of the graph around it, "" = the main graph */
  int64_t index;
  uint64_t start_ns, duration_ns;
  uint64_t live_bytes, peak_bytes, workspace_bytes;
} Slice;

typedef struct Sample {
  uint64_t at_ns, live_bytes;
} Sample;

typedef struct Trace {
  Observer observer;
  OnnxlOutputFile file;
  bool open;
  char *title;
  GStringChunk *places;
  GArray *slices;  /* Slice */
  GArray *samples; /* Sample: whenever the live bytes changed */
  uint64_t start_ns;
} Trace;

static bool
trace_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Trace *trace = (Trace *)observer;
  guint n = trace->samples->len;

  (void)error;
  if (n == 0)
    trace->start_ns = event->action == ONNXL_EVENT_RUN_NODE ? event->start_ns : event->timestamp_ns;
  if (n == 0 || g_array_index(trace->samples, Sample, n - 1).live_bytes != event->live_bytes) {
    Sample sample = { event->timestamp_ns, event->live_bytes };
    g_array_append_val(trace->samples, sample);
  }
  if (event->action == ONNXL_EVENT_RUN_NODE) {
    Slice slice = { .proto = event->proto,
                    .place = g_string_chunk_insert_const(trace->places, onnxl_event_place(event)),
                    .index = event->node,
                    .start_ns = event->start_ns,
                    .duration_ns = event->duration_ns,
                    .live_bytes = event->live_bytes,
                    .peak_bytes = event->peak_bytes,
                    .workspace_bytes = event->workspace_bytes };
    g_array_append_val(trace->slices, slice);
  }
  return true;
}

/* By start; of those that start together, what encloses comes first. */
static int
by_start(const void *a, const void *b)
{
  const Slice *x = a, *y = b;
  if (x->start_ns != y->start_ns)
    return x->start_ns < y->start_ns ? -1 : 1;
  return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

/* Microseconds with all digits of the nanoseconds. */
static void
write_time(OnnxlJson *json, const char *key, uint64_t ns)
{
  char text[32];
  int size = g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT ".%03u", ns / 1000, (unsigned)(ns % 1000));

  onnxl_json_key(json, key);
  onnxl_json_raw(json, onnxl_str_n(text, (size_t)size));
}

static void
write_number(OnnxlJson *json, const char *key, uint64_t number)
{
  onnxl_json_key(json, key);
  onnxl_json_uint64(json, number);
}

static void
write_string(OnnxlJson *json, const char *key, OnnxlStr text)
{
  onnxl_json_key(json, key);
  onnxl_json_string(json, text.data ? text : ONNXL_STR(""));
}

/* What every event starts with. Its arguments follow, then end_event(). */
static void
begin_event(OnnxlJson *json, OnnxlStr name, const char *phase)
{
  onnxl_json_begin_object(json);
  write_string(json, "name", name);
  write_string(json, "ph", onnxl_str(phase));
  write_number(json, "pid", PROCESS);
  write_number(json, "tid", THREAD);
}

static void
begin_arguments(OnnxlJson *json)
{
  onnxl_json_key(json, "args");
  onnxl_json_begin_object(json);
}

static void
end_event(OnnxlJson *json)
{
  onnxl_json_end_object(json); /* of the arguments */
  onnxl_json_end_object(json);
}

static void
write_metadata(OnnxlJson *json, const char *what, const char *name)
{
  begin_event(json, onnxl_str(what), "M");
  begin_arguments(json);
  write_string(json, "name", onnxl_str(name));
  end_event(json);
}

static void
write_slice(OnnxlJson *json, const Trace *trace, const Slice *slice)
{
  begin_event(json, slice->proto->op_type, "X");
  write_string(json, "cat", ONNXL_STR("node"));
  write_time(json, "ts", slice->start_ns - trace->start_ns);
  write_time(json, "dur", slice->duration_ns);
  begin_arguments(json);
  write_number(json, "node", (uint64_t)slice->index);
  write_string(json, "name", slice->proto->name);
  write_string(json, "graph", onnxl_str(slice->place));
  write_number(json, "live_bytes", slice->live_bytes);
  write_number(json, "peak_bytes", slice->peak_bytes);
  write_number(json, "workspace_bytes", slice->workspace_bytes);
  end_event(json);
}

static void
write_sample(OnnxlJson *json, const Trace *trace, const Sample *sample)
{
  begin_event(json, ONNXL_STR("live memory"), "C");
  write_time(json, "ts", sample->at_ns - trace->start_ns);
  begin_arguments(json);
  write_number(json, "bytes", sample->live_bytes);
  end_event(json);
}

static bool
trace_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Trace *trace = (Trace *)observer;
  OnnxlJson json;

  (void)out;
  if (!completed)
    return true;
  g_array_sort(trace->slices, by_start);
  onnxl_json_init(&json, &trace->file.out, 2);
  onnxl_json_begin_object(&json);
  write_string(&json, "displayTimeUnit", ONNXL_STR("ns"));
  onnxl_json_key(&json, "traceEvents");
  onnxl_json_begin_array(&json);
  write_metadata(&json, "process_name", trace->title);
  write_metadata(&json, "thread_name", "executor 1, thread 1");
  for (guint i = 0; i < trace->slices->len; i++)
    write_slice(&json, trace, &g_array_index(trace->slices, Slice, i));
  for (guint i = 0; i < trace->samples->len; i++)
    write_sample(&json, trace, &g_array_index(trace->samples, Sample, i));
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
  trace->open = false;
  return onnxl_output_file_commit(&trace->file, error);
}

static void
trace_free(Observer *observer)
{
  Trace *trace = (Trace *)observer;

  if (trace->open)
    onnxl_output_file_abort(&trace->file);
  g_free(trace->title);
  g_string_chunk_free(trace->places);
  g_array_free(trace->slices, TRUE);
  g_array_free(trace->samples, TRUE);
  g_free(trace);
}

bool
trace_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  (void)session;
  if (!exec_options.trace)
    return true;
  Trace *trace = g_new0(Trace, 1);
  trace->observer = (Observer){ trace_event, trace_finish, trace_free, .nested = true };
  trace->title = g_strdup_printf("onnxl-exec %s", run->input ? run->input : "<stdin>");
  trace->places = g_string_chunk_new(4096);
  trace->slices = g_array_new(FALSE, FALSE, sizeof(Slice));
  trace->samples = g_array_new(FALSE, FALSE, sizeof(Sample));
  *ret_observer = &trace->observer;
  /* Before the run: a file that cannot be written should not cost one. */
  trace->open = onnxl_output_file_open(&trace->file, exec_options.trace, ONNXL_OUTPUT_NO_SYNC, error);
  return trace->open;
}
