/* --events: the log, a line an event. */
#include "exec.h"
#include "support/error.h"

typedef struct EventLog {
  Observer observer;
  const OnnxlRun *run;
  bool to_file;
  OnnxlOutputFile file;
  OnnxlOutput memory; /* the log, when it goes to standard output */
  bool actions[ONNXL_N_EVENT_ACTIONS], kinds[ONNXL_N_EVENT_KINDS];
  bool filtered;
} EventLog;

static bool
parse_kinds(EventLog *log, const char *text, GError **error)
{
  char **words = g_strsplit(text, ",", -1);
  bool good = true;
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

static bool
log_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  EventLog *log = (EventLog *)observer;
  OnnxlOutput *out = log->to_file ? &log->file.out : &log->memory;

  (void)error;
  if (log->filtered && !log->actions[event->action] && !log->kinds[event->kind])
    return true;
  if (log->run->common.format == ONNXL_FORMAT_JSON)
    onnxl_event_print_json(out, event);
  else
    onnxl_event_print_summary(out, event);
  return true;
}

static bool
log_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  EventLog *log = (EventLog *)observer;

  if (!completed)
    return true;
  if (!log->to_file) {
    onnxl_output_str(out, onnxl_output_memory(&log->memory));
    return true;
  }
  log->to_file = false;
  return onnxl_output_file_commit(&log->file, error);
}

static void
log_free(Observer *observer)
{
  EventLog *log = (EventLog *)observer;

  if (log->to_file)
    onnxl_output_file_abort(&log->file);
  onnxl_output_clear(&log->memory);
  g_free(log);
}

bool
events_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  (void)session;
  if (!exec_options.events)
    return true;
  EventLog *log = g_new0(EventLog, 1);
  bool to_file = *exec_options.events != '\0';
  log->observer = (Observer){ log_event, log_finish, log_free, !to_file };
  log->run = run;
  onnxl_output_init(&log->memory, -1);
  bool good = (!exec_options.event_kinds || parse_kinds(log, exec_options.event_kinds, error)) &&
              (!to_file || onnxl_output_file_open(&log->file, exec_options.events, ONNXL_OUTPUT_NO_SYNC, error));
  log->to_file = good && to_file;
  *ret_observer = &log->observer;
  return good;
}
