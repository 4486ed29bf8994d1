/* --watch: every element of some values, printed as they are made. */
#include <unistd.h>

#include "exec.h"
#include "runtime/value-print.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/json.h"
#include "support/nearest.h"

typedef struct Watch {
  Observer observer;
  const OnnxlRun *run;
  OnnxlOutput out;
} Watch;

static bool
is_watched(OnnxlStr name)
{
  for (size_t i = 0; i < exec_options.watch.count; i++)
    if (onnxl_str_is(name, exec_options.watch.items[i]))
      return true;
  return false;
}

static void
print_json(OnnxlOutput *out, const OnnxlEvent *event)
{
  OnnxlJson json;
  onnxl_json_init(&json, out, 0);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "name");
  onnxl_json_string(&json, event->name);
  onnxl_value_json_fields(&json, event->value, INT64_MAX);
  if (event->scope) {
    onnxl_json_key(&json, "path");
    onnxl_json_text(&json, onnxl_event_place(event));
  }
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

static bool
watch_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Watch *watch = (Watch *)observer;

  /* What a body hands back was made before. */
  if (event->action != ONNXL_EVENT_ADD || event->kind == ONNXL_EVENT_OUTPUT || !is_watched(event->name))
    return true;
  if (watch->run->common.format == ONNXL_FORMAT_JSON)
    print_json(&watch->out, event);
  else {
    onnxl_output_escaped(&watch->out, event->name);
    onnxl_output_text(&watch->out, ": ");
    onnxl_value_print_full(&watch->out, event->value);
    if (event->scope) {
      onnxl_output_text(&watch->out, " in ");
      onnxl_output_escaped(&watch->out, onnxl_str(onnxl_event_place(event)));
    }
    onnxl_output_char(&watch->out, '\n');
  }
  return onnxl_output_flush(&watch->out, "standard output", error);
}

static void
watch_free(Observer *observer)
{
  Watch *watch = (Watch *)observer;

  onnxl_output_clear(&watch->out);
  g_free(watch);
}

/* A name that no graph and no function of the model has would wait for ever. */
static bool
check_names(const OnnxlPlan *plan, GError **error)
{
  GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *list = g_ptr_array_new(); /* the same in order, so that the hint is always the same */
  for (const OnnxlBody *body = plan->bodies; body; body = body->next)
    for (uint32_t v = 0; v < body->index->n_values; v++) {
      char *name = g_strndup(body->index->values[v].name.data, body->index->values[v].name.size);
      if (g_hash_table_add(names, name))
        g_ptr_array_add(list, name);
    }
  bool good = true;
  for (size_t i = 0; good && i < exec_options.watch.count; i++) {
    const char *name = exec_options.watch.items[i];
    if (g_hash_table_contains(names, name))
      continue;
    const char *nearest = onnxl_nearest(onnxl_str(name), (const char *const *)list->pdata, list->len);
    good = onnxl_fail(error, ONNXL_ERROR_USAGE, "--watch %s: the model has no such value%s%s%s", name,
                      nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  }
  g_ptr_array_free(list, TRUE);
  g_hash_table_destroy(names);
  return good;
}

bool
watch_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  if (exec_options.watch.count == 0)
    return true;
  Watch *watch = g_new0(Watch, 1);
  watch->observer = (Observer){
    .event = watch_event, .free = watch_free, .nested = true, .takes_stdout = run->common.format == ONNXL_FORMAT_JSON
  };
  watch->run = run;
  onnxl_output_init(&watch->out, STDOUT_FILENO);
  *ret_observer = &watch->observer;
  return check_names(session->plan, error);
}
