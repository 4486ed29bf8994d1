/* Opening a model and running it. */
#include <time.h>

#include "exec.h"
#include "proto/save.h"
#include "shapes/annotate.h"
#include "support/error.h"
#include "support/number.h"

void
session_watch(Session *session, Observer *observer)
{
  if (!session->observers) {
    session->observers = g_ptr_array_new();
    session->listening = g_ptr_array_new();
  }
  g_ptr_array_add(session->observers, observer);
}

static bool
forward_event(void *data, const OnnxlEvent *event, GError **error)
{
  Session *session = data;

  for (guint i = 0; i < session->listening->len; i++) {
    Observer *observer = g_ptr_array_index(session->listening, i);
    GError *failed = NULL;
    if ((!observer->nested && event->scope) || observer->event(observer, event, &failed))
      continue;
    /* What was made until a check ended the run is a result; when something broke there is none. */
    if (g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_INVALID))
      session->stopped = g_strdup(failed->message);
    g_propagate_error(error, failed);
    return false;
  }
  return true;
}

bool
session_finish(Session *session, bool completed, OnnxlOutput *out, GError **error)
{
  bool good = true;

  for (guint i = 0; session->observers && i < session->observers->len; i++) {
    Observer *observer = g_ptr_array_index(session->observers, i);
    if (observer->finish && !observer->finish(observer, completed, out, good ? error : NULL))
      good = false;
  }
  return good;
}

bool
session_takes_stdout(const Session *session)
{
  for (guint i = 0; session->observers && i < session->observers->len; i++)
    if (((const Observer *)g_ptr_array_index(session->observers, i))->takes_stdout)
      return true;
  return false;
}

static bool
symbol_size(void *data, OnnxlStr name, int64_t *ret_size)
{
  const OnnxlBindings *bindings = data;
  for (size_t i = 0; i < bindings->count; i++)
    if (onnxl_str_equal(bindings->items[i].name, name)) {
      *ret_size = bindings->items[i].values[0];
      return true;
    }
  return false;
}

bool
session_open(Session *session, OnnxlRun *run, const char *path, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  uint64_t seed = 0;
  if (exec_options.random && *exec_options.random &&
      onnxl_parse_uint64(onnxl_str(exec_options.random), &seed) != ONNXL_NUMBER_OK)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--random=%s: the seed is not a number", exec_options.random);
  if (!onnxl_bindings_parse(&session->dims, "--dim", &exec_options.dims, false, error))
    return false;
  session->model = onnxl_model_load(path, &common->limits, run->sink, error);
  if (!session->model)
    return false;
  OnnxlPlanOptions plan_options = {
    .max_memory = common->limits.max_memory,
    .max_metadata =
      (size_t)onnxl_limits_metadata(&common->limits, session->model->file ? session->model->file->size : 0),
    .data_folder = common->data_dir,
    .allow_symlinks = common->allow_symlinks,
  };
  session->plan = onnxl_plan_new(session->model, &plan_options, run->sink, error);
  if (!session->plan)
    return false;
  if (!memory_plan_open(session, run, error))
    return false;
  OnnxlExecutorOptions executor_options = { .keep = exec_options.no_release,
                                            .max_buffers = exec_options.max_buffers,
                                            .max_depth = common->limits.max_depth,
                                            .max_steps =
                                              exec_options.max_steps > 0 ? exec_options.max_steps : UINT64_MAX,
                                            .interrupt = &interrupt_signal,
                                            .seed = seed,
                                            .memory = session->obeys_memory ? session->memory : NULL };
  session->executor = onnxl_executor_new(session->plan, &executor_options);
  session->context = (OnnxlInputContext){
    .allocator = session->plan->allocator, .symbol = symbol_size, .symbol_data = &session->dims, .seed = seed
  };
  session->inputs = g_new0(OnnxlValue *, onnxl_executor_n_inputs(session->executor));
  session->given = g_new0(bool, onnxl_executor_n_inputs(session->executor));
  session->outputs = g_new0(OnnxlValue *, onnxl_executor_n_outputs(session->executor));
  onnxl_run_add_input(run, path && strcmp(path, "-") != 0 ? path : NULL);
  onnxl_run_add_files(run, session->model->data_files);
  for (size_t i = 0; i < onnxl_external_files_count(session->plan->external); i++) {
    g_autofree char *name = onnxl_external_files_path(session->plan->external, i);
    onnxl_run_add_input(run, name);
  }
  return onnxl_run_check_output(run, "-MF", common->dependency_file, error) &&
         onnxl_model_check_output(session->model, common->data_dir, common->dependency_file, error);
}

bool
session_check_dims(const Session *sessions, size_t n, GError **error)
{
  for (size_t i = 0; i < sessions[0].dims.count; i++) {
    GError *unknown = NULL;
    bool known = false;
    for (size_t s = 0; s < n && !known; s++)
      known = onnxl_shapes_check_name(sessions[s].model, sessions[0].dims.items[i].name, unknown ? NULL : &unknown);
    if (!known) {
      g_propagate_error(error, unknown);
      return false;
    }
    g_clear_error(&unknown);
  }
  return true;
}

/* What the model's data got wrong becomes a finding at its node. */
bool
session_explain(const Session *session, OnnxlRun *run, GError *failed, GError **error)
{
  const char *path = session->executor ? onnxl_executor_failed_path(session->executor) : NULL;
  if (g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_INVALID) && onnxl_diag_errors(run->sink) == 0) {
    bool at_node = path && g_str_has_prefix(failed->message, path);
    OnnxlLocation where = { .path = at_node ? path : NULL };
    onnxl_diag(run->sink, ONNXL_DIAG_RUN, &where, "%s", failed->message + (at_node ? strlen(path) + 2 : 0));
  }
  g_propagate_error(error, failed);
  return false;
}

/* Lets those observers hear the next run that want to. */
static void
listen(Session *session, bool counts, bool last)
{
  bool nested = false;
  if (!session->observers)
    return;
  g_ptr_array_set_size(session->listening, 0);
  for (guint i = 0; counts && i < session->observers->len; i++) {
    Observer *observer = g_ptr_array_index(session->observers, i);
    if (!last && !observer->every_run)
      continue;
    g_ptr_array_add(session->listening, observer);
    nested = nested || observer->nested;
  }
  onnxl_executor_listen(session->executor, session->listening->len > 0 ? forward_event : NULL, session, nested);
}

static bool
run_once(Session *session, GError **error)
{
  for (uint32_t o = 0; o < onnxl_executor_n_outputs(session->executor); o++)
    g_clear_pointer(&session->outputs[o], onnxl_value_unref);
  return onnxl_executor_run(session->executor, session->inputs, session->outputs, error);
}

bool
session_run_once(Session *session, GError **error)
{
  listen(session, true, true);
  return memory_plan_check(session, session->plan->allocator->limit, error) && run_once(session, error);
}

/* Room is made as the runs come: --repeat may be any number, and Ctrl-C its end. */
static void
add_duration(Session *session, uint64_t duration)
{
  uint32_t n = session->n_durations;
  if ((n & (n - 1)) == 0)
    session->durations = g_renew(uint64_t, session->durations, MAX(2 * (size_t)n, 1));
  session->durations[session->n_durations++] = duration;
}

static bool
run_all(Session *session, GError **error)
{
  uint64_t total = (uint64_t)exec_options.warmup + MAX(exec_options.repeat, 1);
  if (!memory_plan_check(session, session->plan->allocator->limit, error))
    return false;
  for (uint64_t i = 0; i < total; i++) {
    struct timespec start, end;
    listen(session, i >= exec_options.warmup, i + 1 == total);
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (!run_once(session, error))
      return false;
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (i >= exec_options.warmup)
      add_duration(session,
                   (uint64_t)((end.tv_sec - start.tv_sec) * INT64_C(1000000000) + end.tv_nsec - start.tv_nsec));
  }
  return true;
}

bool
session_run(Session *session, GError **error)
{
  interrupt_catch();
  bool good = run_all(session, error);
  interrupt_release();
  return good;
}

void
session_close(Session *session)
{
  for (guint i = 0; session->observers && i < session->observers->len; i++) {
    Observer *observer = g_ptr_array_index(session->observers, i);
    observer->free(observer);
  }
  g_clear_pointer(&session->observers, g_ptr_array_unref);
  g_clear_pointer(&session->listening, g_ptr_array_unref);
  for (uint32_t i = 0; session->executor && i < onnxl_executor_n_inputs(session->executor); i++)
    onnxl_value_unref(session->inputs[i]);
  for (uint32_t i = 0; session->executor && i < onnxl_executor_n_outputs(session->executor); i++)
    onnxl_value_unref(session->outputs[i]);
  onnxl_input_context_clear(&session->context);
  onnxl_bindings_clear(&session->dims);
  g_free(session->stopped);
  g_free(session->inputs);
  g_free(session->given);
  g_free(session->outputs);
  g_free(session->durations);
  onnxl_executor_free(session->executor);
  onnxl_inference_free(session->inference);
  onnxl_plan_free(session->plan);
  onnxl_model_free(session->model);
}
