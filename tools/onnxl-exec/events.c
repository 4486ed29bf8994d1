/* --events: the log, a line an event, written while the run goes on. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/table.h"
#include "exec.h"
#include "runtime/value-print.h"
#include "support/error.h"

/* How long a line for a regular file may stay in memory, in nanoseconds. Pipes and terminals get each at once. */
#define MAX_AGE UINT64_C(100000000)

typedef struct EventLog {
  Observer observer;
  const OnnxlRun *run;
  const char *path; /* NULL = standard output */
  int fd;           /* -1 until the first event */
  bool by_line;     /* somebody may be reading along */
  OnnxlOutput out;
  uint64_t flushed; /* when, as in OnnxlEvent.timestamp_ns */
  bool actions[ONNXL_N_EVENT_ACTIONS], kinds[ONNXL_N_EVENT_KINDS];
  bool filtered;
} EventLog;

static bool
parse_kinds(EventLog *log, const char *text, GError **error)
{
  char **words = g_strsplit(text, ",", -1);
  bool good = *text != '\0' || onnxl_fail(error, ONNXL_ERROR_USAGE, "--event-kinds: the list is empty");
  log->filtered = true;
  for (char **word = words; good && *word; word++) {
    bool known = false;
    for (int i = 0; i < ONNXL_N_EVENT_ACTIONS; i++)
      if (strcmp(*word, onnxl_event_action_name((OnnxlEventAction)i)) == 0)
        log->actions[i] = known = true;
    for (int i = 0; i < ONNXL_N_EVENT_KINDS; i++)
      if (strcmp(*word, onnxl_event_kind_name((OnnxlEventKind)i)) == 0)
        log->kinds[i] = known = true;
    if (!known)
      good =
        onnxl_fail(error, ONNXL_ERROR_USAGE, "--event-kinds: \"%s\" is neither an action nor a kind of event", *word);
  }
  g_strfreev(words);
  return good;
}

/* --- where the lines go --- */

/* Opened for the first event, so that what fails before leaves an older log alone. Then it is written in place: a log
 * is of use because it can be read while the run lasts and after it has failed. */
static bool
open_log(EventLog *log, GError **error)
{
  struct stat status;
  int standard = !log->path ? STDOUT_FILENO : strcmp(log->path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
  log->fd = standard >= 0 ? standard : open(log->path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
  if (log->fd < 0)
    return onnxl_error_errno(error, errno, "cannot write %s", log->path);
  log->by_line = fstat(log->fd, &status) < 0 || !S_ISREG(status.st_mode);
  onnxl_output_init(&log->out, log->fd);
  return true;
}

static bool
flush_log(EventLog *log, GError **error)
{
  return onnxl_output_flush(&log->out, log->path ? log->path : "standard output", error);
}

/* --- CSV: the keys of the JSON form as columns --- */

static const char csv_heading[] =
  "action,kind,name,dtype,shape,values,node,op,domain,duration_ns,live_bytes,peak_bytes,"
  "workspace_bytes,timestamp_ns,path\n";

static void
print_csv(OnnxlOutput *out, const OnnxlEvent *event)
{
  const OnnxlValue *tensor = event->value && event->value->kind == ONNXL_KIND_TENSOR ? event->value : NULL;
  bool runs = event->action == ONNXL_EVENT_RUN_NODE;
  onnxl_output_printf(out, "%s,%s,", onnxl_event_action_name(event->action), onnxl_event_kind_name(event->kind));
  onnxl_csv_field(out, event->name);
  onnxl_output_char(out, ',');
  if (tensor) {
    g_autofree char *dims = onnxl_dims_text(tensor->dims, tensor->rank);
    OnnxlOutput values;
    onnxl_output_init(&values, -1);
    onnxl_value_print_first(&values, tensor, ONNXL_EVENT_VALUES);
    onnxl_output_text(out, onnxl_data_type_name(tensor->elem_type));
    onnxl_output_char(out, ',');
    onnxl_csv_field(out, onnxl_str(dims));
    onnxl_output_char(out, ',');
    onnxl_csv_field(out, onnxl_output_memory(&values));
    onnxl_output_clear(&values);
  } else
    onnxl_output_text(out, ",,");
  onnxl_output_char(out, ',');
  if (event->node >= 0)
    onnxl_output_int64(out, event->node);
  onnxl_output_char(out, ',');
  onnxl_csv_field(out, runs ? event->proto->op_type : ONNXL_STR(""));
  onnxl_output_char(out, ',');
  onnxl_csv_field(out, runs ? onnxl_event_domain(event) : ONNXL_STR(""));
  const uint64_t numbers[] = { event->duration_ns, event->live_bytes, event->peak_bytes, event->workspace_bytes,
                               event->timestamp_ns };
  for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
    onnxl_output_char(out, ',');
    onnxl_output_uint64(out, numbers[i]);
  }
  onnxl_output_char(out, ',');
  onnxl_csv_field(out, onnxl_str(onnxl_event_place(event)));
  onnxl_output_char(out, '\n');
}

/* --- the observer --- */

static bool
log_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  EventLog *log = (EventLog *)observer;
  int format = log->run->common.format;

  if (log->fd < 0) {
    if (!open_log(log, error))
      return false;
    log->flushed = event->timestamp_ns;
    if (format == ONNXL_FORMAT_CSV)
      onnxl_output_text(&log->out, csv_heading);
  }
  if (log->filtered && !log->actions[event->action] && !log->kinds[event->kind])
    return true;
  if (format == ONNXL_FORMAT_JSON)
    onnxl_event_print_json(&log->out, event);
  else if (format == ONNXL_FORMAT_CSV)
    print_csv(&log->out, event);
  else
    onnxl_event_print_summary(&log->out, event);
  if (!log->by_line && event->timestamp_ns - log->flushed < MAX_AGE)
    return true;
  log->flushed = event->timestamp_ns;
  return flush_log(log, error);
}

static bool
log_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  EventLog *log = (EventLog *)observer;

  (void)out;
  /* A run without any event, of an empty model, has an empty log. */
  return (log->fd >= 0 || !completed || open_log(log, error)) && (log->fd < 0 || flush_log(log, error));
}

static void
log_free(Observer *observer)
{
  EventLog *log = (EventLog *)observer;

  onnxl_output_clear(&log->out);
  if (log->fd > STDERR_FILENO)
    close(log->fd);
  g_free(log);
}

bool
events_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  const char *path = exec_options.events;

  (void)session;
  if (!path)
    return true;
  EventLog *log = g_new0(EventLog, 1);
  log->path = *path && strcmp(path, "-") != 0 ? path : NULL;
  log->observer = (Observer){ .event = log_event,
                              .finish = log_finish,
                              .free = log_free,
                              .nested = exec_options.nested,
                              .takes_stdout = !log->path };
  log->run = run;
  log->fd = -1;
  onnxl_output_init(&log->out, -1);
  *ret_observer = &log->observer;
  return !exec_options.event_kinds || parse_kinds(log, exec_options.event_kinds, error);
}
