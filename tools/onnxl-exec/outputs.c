/* Where the results go: standard output, .npy and .pb files. */
#include <errno.h>
#include <sys/stat.h>

#include "outputs.h"
#include "proto/save.h"
#include "runtime/npy.h"
#include "runtime/tensor-io.h"
#include "runtime/value-print.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/sort.h"

static bool
dump_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Dump *dump = (Dump *)observer;
  bool wanted = dump->all && event->kind == ONNXL_EVENT_INTERMEDIATE;

  (void)error;
  for (size_t i = 0; i < exec_options.dump.count && !wanted; i++)
    wanted = onnxl_str_is(event->name, exec_options.dump.items[i]);
  if (!wanted || event->action != ONNXL_EVENT_ADD)
    return true;
  g_ptr_array_add(dump->names, g_strndup(event->name.data, event->name.size));
  /* Values are never changed, so keeping one alive is all that a dump does. */
  g_ptr_array_add(dump->values, onnxl_value_ref((OnnxlValue *)event->value));
  return true;
}

static void
dump_free(Observer *observer)
{
  Dump *dump = (Dump *)observer;

  g_ptr_array_free(dump->names, TRUE);
  g_ptr_array_free(dump->values, TRUE);
  g_free(dump);
}

void
dump_clear(Dump *dump)
{
  g_ptr_array_set_size(dump->names, 0);
  g_ptr_array_set_size(dump->values, 0);
}

Dump *
dump_new(bool all)
{
  Dump *dump = g_new0(Dump, 1);

  dump->observer = (Observer){ .event = dump_event, .free = dump_free };
  dump->names = g_ptr_array_new_with_free_func(g_free);
  dump->values = g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_value_unref);
  dump->all = all;
  for (size_t i = 0; i < exec_options.dump.count; i++)
    dump->all = dump->all || strcmp(exec_options.dump.items[i], "all") == 0;
  return dump;
}

static uint32_t
n_dumped(const Dump *dump)
{
  return dump ? dump->names->len : 0;
}

/* A name that is safe in a folder: letters, digits, '.', '_' and '-'; another value's name gets a number. taken: each
 * name that is, with the number that was tried for it last. */
static char *
safe_name(const char *name, GHashTable *taken)
{
  GString *safe = g_string_new(NULL);
  for (const char *c = name; *c; c++)
    g_string_append_c(safe, g_ascii_isalnum(*c) || *c == '_' || *c == '-' || (*c == '.' && c != name) ? *c : '_');
  if (safe->len == 0)
    g_string_append_c(safe, '_');
  g_string_truncate(safe, MIN(safe->len, 200));
  size_t length = safe->len;
  if (g_hash_table_contains(taken, safe->str)) {
    g_autofree char *first = g_strdup(safe->str);
    uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(taken, first));
    do {
      g_string_truncate(safe, length);
      g_string_append_printf(safe, "-%u", ++n);
    } while (g_hash_table_contains(taken, safe->str));
    g_hash_table_insert(taken, g_strdup(first), GUINT_TO_POINTER(n));
  }
  g_hash_table_insert(taken, g_strdup(safe->str), GUINT_TO_POINTER(1));
  return g_string_free(safe, FALSE);
}

/* As .npy, or as the message of ONNX where the name asks for it, or where there is no name to ask and the value is no
 * array. */
static bool
write_value(const OnnxlValue *value, const char *path, int flags, GError **error)
{
  OnnxlOutputFile file;
  bool message = g_str_has_suffix(path, ".pb") || (value->kind != ONNXL_KIND_TENSOR && strcmp(path, "-") == 0);
  if (!onnxl_output_file_open(&file, path, ONNXL_OUTPUT_BINARY | flags, error))
    return false;
  bool good = message || onnxl_npy_write(&file.out, value, error);
  if (message)
    onnxl_value_write(&file.out, value);
  if (good)
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return false;
}

/* Of a run that was stopped: output i had not been made yet. */
static bool
is_missing(const Session *session, uint32_t i)
{
  return i < onnxl_executor_n_outputs(session->executor) && !session->outputs[i];
}

/* NAME=@FILE: the longest output or dumped name that is followed by "=@". */
static bool
write_named(const Session *session, const Dump *dump, const char *text, GError **error)
{
  const OnnxlValue *found = NULL;
  size_t longest = 0, size = strlen(text);
  uint32_t n_outputs = onnxl_executor_n_outputs(session->executor);
  for (uint32_t i = 0; i < n_outputs + n_dumped(dump); i++) {
    bool is_output = i < n_outputs;
    OnnxlStr name = is_output ? onnxl_executor_output(session->executor, i)->name
                              : onnxl_str(g_ptr_array_index(dump->names, i - n_outputs));
    if (name.size >= longest && name.size + 1 < size && memcmp(name.data, text, name.size) == 0 &&
        strncmp(text + name.size, "=@", 2) == 0) {
      found = is_output ? session->outputs[i] : g_ptr_array_index(dump->values, i - n_outputs);
      longest = name.size;
    }
  }
  if (!found && session->stopped)
    return true;
  if (!found)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--output %s: NAME=@FILE is needed, with the name of an output", text);
  return write_value(found, text + longest + 2, 0, error);
}

/* The names of outputs, then of dumped values, as files without an end. dump NULL: only the outputs. Returns: owned. */
static GPtrArray *
file_names(const Session *session, const Dump *dump)
{
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  GHashTable *taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  uint32_t n_outputs = onnxl_executor_n_outputs(session->executor);
  for (uint32_t i = 0; i < n_outputs + n_dumped(dump); i++) {
    OnnxlStr name = i < n_outputs ? onnxl_executor_output(session->executor, i)->name
                                  : onnxl_str(g_ptr_array_index(dump->names, i - n_outputs));
    g_autofree char *text = g_strndup(name.data, name.size);
    g_ptr_array_add(names, safe_name(text, taken));
  }
  g_hash_table_destroy(taken);
  return names;
}

bool
outputs_write_folder(const Session *session, const Dump *dump, const char *folder, int flags, GError **error)
{
  GPtrArray *names = file_names(session, dump);
  uint32_t n_outputs = onnxl_executor_n_outputs(session->executor);
  bool good = true;
  for (uint32_t i = 0; good && i < names->len; i++) {
    if (is_missing(session, i))
      continue;
    const OnnxlValue *value = i < n_outputs ? session->outputs[i] : g_ptr_array_index(dump->values, i - n_outputs);
    g_autofree char *path = g_strdup_printf("%s/%s.%s", folder, (const char *)g_ptr_array_index(names, i),
                                            value->kind == ONNXL_KIND_TENSOR ? "npy" : "pb");
    good = write_value(value, path, flags, error);
  }
  g_ptr_array_free(names, TRUE);
  return good;
}

bool
outputs_are_in(const Session *session, const char *folder)
{
  GPtrArray *names = file_names(session, NULL);
  bool all = true;
  for (uint32_t i = 0; all && i < names->len; i++) {
    g_autofree char *npy = g_strdup_printf("%s/%s.npy", folder, (const char *)g_ptr_array_index(names, i));
    g_autofree char *message = g_strdup_printf("%s/%s.pb", folder, (const char *)g_ptr_array_index(names, i));
    all = g_file_test(npy, G_FILE_TEST_IS_REGULAR) || g_file_test(message, G_FILE_TEST_IS_REGULAR);
  }
  g_ptr_array_free(names, TRUE);
  return all;
}

bool
outputs_make_folder(const char *folder, GError **error)
{
  return mkdir(folder, 0777) == 0 || errno == EEXIST ||
         onnxl_error_errno(error, errno, "cannot make the folder %s", folder);
}

static int
compare_durations(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* key: stands in front of each line, or NULL. */
static void
print_text(const Session *session, const Dump *dump, const char *key, OnnxlOutput *out)
{
  uint32_t n_outputs = onnxl_executor_n_outputs(session->executor);
  for (uint32_t i = 0; i < n_outputs + n_dumped(dump); i++) {
    bool is_output = i < n_outputs;
    if (is_missing(session, i))
      continue;
    if (key)
      onnxl_output_printf(out, "%s ", key);
    onnxl_output_escaped(out, is_output ? onnxl_executor_output(session->executor, i)->name
                                        : onnxl_str(g_ptr_array_index(dump->names, i - n_outputs)));
    onnxl_output_text(out, ": ");
    onnxl_value_print(out, is_output ? session->outputs[i] : g_ptr_array_index(dump->values, i - n_outputs));
    onnxl_output_char(out, '\n');
  }
}

static void
print_item(OnnxlJson *json, OnnxlStr name, const OnnxlValue *value)
{
  onnxl_json_begin_object(json);
  onnxl_json_key(json, "name");
  onnxl_json_string(json, name);
  onnxl_value_json_fields(json, value, INT64_MAX);
  onnxl_json_end_object(json);
}

/* key: the value of "key", on one line with all the rest, or NULL. */
static void
print_json(const Session *session, const Dump *dump, const char *key, OnnxlOutput *out)
{
  OnnxlJson json;
  onnxl_json_init(&json, out, key ? 0 : 2);
  onnxl_json_begin_object(&json);
  if (key) {
    onnxl_json_key(&json, "key");
    onnxl_json_text(&json, key);
  }
  if (session->stopped) {
    onnxl_json_key(&json, "error");
    onnxl_json_text(&json, session->stopped);
  }
  onnxl_json_key(&json, "outputs");
  onnxl_json_begin_array(&json);
  for (uint32_t i = 0; i < onnxl_executor_n_outputs(session->executor); i++)
    if (!is_missing(session, i))
      print_item(&json, onnxl_executor_output(session->executor, i)->name, session->outputs[i]);
  onnxl_json_end_array(&json);
  if (n_dumped(dump) > 0) {
    onnxl_json_key(&json, "dump");
    onnxl_json_begin_array(&json);
    for (guint i = 0; i < n_dumped(dump); i++)
      print_item(&json, onnxl_str(g_ptr_array_index(dump->names, i)), g_ptr_array_index(dump->values, i));
    onnxl_json_end_array(&json);
  }
  if (exec_options.repeat > 0 && session->n_durations > 0) {
    onnxl_json_key(&json, "time_ns");
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "min");
    onnxl_json_uint64(&json, session->durations[0]);
    onnxl_json_key(&json, "median");
    onnxl_json_uint64(&json, session->durations[session->n_durations / 2]);
    onnxl_json_key(&json, "runs");
    onnxl_json_uint64(&json, session->n_durations);
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

static void
swap(GPtrArray *array, guint i, guint j)
{
  gpointer item = array->pdata[i];
  array->pdata[i] = array->pdata[j];
  array->pdata[j] = item;
}

/* Outputs are shown anyway. */
static void
drop_outputs(const Session *session, const Dump *dump)
{
  if (n_dumped(dump) == 0)
    return;
  GHashTable *outputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  guint kept = 0;
  for (uint32_t o = 0; o < onnxl_executor_n_outputs(session->executor); o++) {
    OnnxlStr name = onnxl_executor_output(session->executor, o)->name;
    g_hash_table_add(outputs, g_strndup(name.data, name.size));
  }
  for (guint i = 0; i < n_dumped(dump); i++)
    if (!g_hash_table_contains(outputs, g_ptr_array_index(dump->names, i))) {
      swap(dump->names, kept, i);
      swap(dump->values, kept++, i);
    }
  g_ptr_array_set_size(dump->names, (gint)kept);
  g_ptr_array_set_size(dump->values, (gint)kept);
  g_hash_table_destroy(outputs);
}

bool
outputs_settle_dump(const Session *session, const Dump *dump, GError **error)
{
  for (size_t i = 0; i < exec_options.dump.count && !dump->all && !session->stopped; i++) {
    bool found = false;
    for (guint k = 0; k < n_dumped(dump) && !found; k++)
      found = strcmp(g_ptr_array_index(dump->names, k), exec_options.dump.items[i]) == 0;
    if (!found)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--dump %s: no such value was computed", exec_options.dump.items[i]);
  }
  drop_outputs(session, dump);
  return true;
}

void
outputs_print_line(const OnnxlRun *run, const Session *session, const Dump *dump, const char *key, OnnxlOutput *out)
{
  if (run->common.format == ONNXL_FORMAT_JSON)
    print_json(session, dump, key, out);
  else
    print_text(session, dump, key, out);
}

/* "NAME=@FILE", of which names may hold "=@" as well: no FILE may be the model or hold its weights. That of an input
 * may be replaced, as a state is by the next one: it has been read. */
static bool
check_named(OnnxlRun *run, const Session *session, const char *text, GError **error)
{
  for (const char *path = text; (path = strstr(path, "=@"));) {
    path += strlen("=@");
    if (!onnxl_run_claim_output(run, "--output", path, error))
      return false;
    if (onnxl_model_is_at(session->model, path))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--output %s: it is the model that is read", text);
    if (!onnxl_model_check_output(session->model, run->common.data_dir, path, error))
      return false;
  }
  return true;
}

/* A folder is made when there is something to put in; what cannot become one is refused before the run. */
static bool
check_folder(GError **error)
{
  const char *folder = exec_options.output_dir;
  struct stat status;
  if (!folder || stat(folder, &status) < 0)
    return !folder || *folder != '\0' ||
           onnxl_fail(error, ONNXL_ERROR_USAGE, "--output-dir: the name of the folder is empty");
  return S_ISDIR(status.st_mode) || onnxl_fail(error, ONNXL_ERROR_IO, "--output-dir %s: it is no folder", folder);
}

bool
outputs_check(OnnxlRun *run, const Session *session, GError **error)
{
  const struct {
    const char *option, *path;
  } files[] = { { "--events", exec_options.events },
                { "--trace", exec_options.trace },
                { "--plot", exec_options.plot },
                { "--record", exec_options.record } };
  if (!check_folder(error))
    return false;
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
    if (!onnxl_run_claim_output(run, files[i].option, files[i].path, error) ||
        !onnxl_run_check_output(run, files[i].option, files[i].path, error) ||
        !onnxl_model_check_output(session->model, run->common.data_dir, files[i].path, error))
      return false;
  for (size_t i = 0; i < exec_options.outputs.count; i++)
    if (!check_named(run, session, exec_options.outputs.items[i], error))
      return false;
  return true;
}

bool
write_outputs(const OnnxlRun *run, const Session *session, const Dump *dump, OnnxlOutput *out, GError **error)
{
  if (!outputs_settle_dump(session, dump, error))
    return false;
  bool to_stdout = false;
  for (size_t i = 0; i < exec_options.outputs.count; i++) {
    to_stdout = to_stdout || g_str_has_suffix(exec_options.outputs.items[i], "=@-");
    if (!write_named(session, dump, exec_options.outputs.items[i], error))
      return false;
  }
  if (exec_options.output_dir && (!outputs_make_folder(exec_options.output_dir, error) ||
                                  !outputs_write_folder(session, dump, exec_options.output_dir, 0, error)))
    return false;
  if (!out || to_stdout)
    return true;
  onnxl_sort(session->durations, session->n_durations, sizeof *session->durations, compare_durations);
  if (run->common.format == ONNXL_FORMAT_JSON) {
    print_json(session, dump, NULL, out);
    return true;
  }
  if (!exec_options.output_dir)
    print_text(session, dump, NULL, out);
  if (exec_options.repeat > 0 && session->n_durations > 0)
    onnxl_output_printf(out, "time: min %.3f ms, median %.3f ms, %u runs\n", (double)session->durations[0] / 1e6,
                        (double)session->durations[session->n_durations / 2] / 1e6, session->n_durations);
  return true;
}
