/* --test: cases with known answers; --compare: two models on the same inputs. */
#include <dirent.h>

#include "exec.h"
#include "runtime/compare.h"
#include "runtime/test-case.h"
#include "support/error.h"

typedef struct Tally {
  const OnnxlTestOptions *options;
  OnnxlOutput *out;
  uint32_t counts[3];
} Tally;

static void
run_case(Tally *tally, const char *folder)
{
  static const char *const words[] = { "PASS", "FAIL", "UNSUPPORTED" };
  g_autofree char *name = g_path_get_basename(folder), *message = NULL;
  OnnxlTestResult result = onnxl_test_run(folder, tally->options, &message);
  tally->counts[result]++;
  onnxl_output_printf(tally->out, "%s %s", words[result], name);
  if (message)
    onnxl_output_printf(tally->out, result == ONNXL_TEST_PASS ? " (%s)" : ": %s", message);
  onnxl_output_char(tally->out, '\n');
}

static int
by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder is a case, or holds cases. */
static bool
run_folder(Tally *tally, const char *folder, GError **error)
{
  if (onnxl_test_is_case(folder)) {
    run_case(tally, folder);
    return true;
  }
  GDir *dir = g_dir_open(folder, 0, NULL);
  if (!dir)
    return onnxl_fail(error, ONNXL_ERROR_IO, "%s is not a folder that can be read", folder);
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; (name = g_dir_read_name(dir));)
    g_ptr_array_add(names, g_build_filename(folder, name, NULL));
  g_dir_close(dir);
  g_ptr_array_sort(names, by_name);
  bool any = false;
  for (guint i = 0; i < names->len; i++)
    if (onnxl_test_is_case(g_ptr_array_index(names, i))) {
      run_case(tally, g_ptr_array_index(names, i));
      any = true;
    }
  g_ptr_array_free(names, TRUE);
  return any || onnxl_fail(error, ONNXL_ERROR_USAGE, "%s holds no test case", folder);
}

bool
run_tests(OnnxlRun *run, GError **error)
{
  OnnxlOutput out;
  const OnnxlTestOptions options = { .tolerance = { exec_options.rtol, exec_options.atol },
                                     .limits = run->common.limits,
                                     .allow_symlinks = run->common.allow_symlinks };
  Tally tally = { .options = &options, .out = &out };
  if (run->operands.count == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--test needs folders of cases");
  onnxl_output_init(&out, STDOUT_FILENO);
  bool good = true;
  for (size_t i = 0; good && i < run->operands.count; i++)
    good = run_folder(&tally, run->operands.items[i], error);
  if (good)
    onnxl_output_printf(&out, "%u passed, %u failed, %u skipped\n", tally.counts[ONNXL_TEST_PASS],
                        tally.counts[ONNXL_TEST_FAIL], tally.counts[ONNXL_TEST_UNSUPPORTED]);
  run->differs = tally.counts[ONNXL_TEST_FAIL] > 0;
  good = onnxl_output_flush(&out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&out);
  return good;
}

/* --- --compare --- */

static const OnnxlValue *
find_value(const Dump *dump, const char *name)
{
  for (guint i = 0; i < dump->names->len; i++)
    if (strcmp(g_ptr_array_index(dump->names, i), name) == 0)
      return g_ptr_array_index(dump->values, i);
  return NULL;
}

static bool
compare_sessions(OnnxlRun *run, Session sessions[2], Dump *const dumps[2], OnnxlOutput *out, GError **error)
{
  const OnnxlTolerance tolerance = { exec_options.rtol, exec_options.atol };
  uint32_t n = onnxl_executor_n_outputs(sessions[0].executor);
  uint32_t compared = 0;
  if (n != onnxl_executor_n_outputs(sessions[1].executor))
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the models have %u and %u outputs", n,
                      onnxl_executor_n_outputs(sessions[1].executor));
  for (guint i = 0; i < dumps[0]->names->len + n; i++) {
    bool is_output = i >= dumps[0]->names->len;
    uint32_t o = is_output ? i - dumps[0]->names->len : 0;
    OnnxlStr output = is_output ? onnxl_executor_output(sessions[0].executor, o)->name : ONNXL_STR("");
    g_autofree char *name =
      is_output ? g_strndup(output.data, output.size) : g_strdup(g_ptr_array_index(dumps[0]->names, i));
    const OnnxlValue *a = is_output ? sessions[0].outputs[o] : g_ptr_array_index(dumps[0]->values, i);
    const OnnxlValue *b = is_output ? sessions[1].outputs[o] : find_value(dumps[1], name);
    g_autofree char *message = NULL;
    if (!b)
      continue;
    compared++;
    if (onnxl_value_compare(b, a, &tolerance, &message))
      continue;
    onnxl_output_printf(out, "%s differs: %s\n", name, message);
    run->differs = true;
    return true;
  }
  onnxl_output_printf(out, "%u values are equal within the tolerance\n", compared);
  return true;
}

bool
run_compare(OnnxlRun *run, GError **error)
{
  Session sessions[2] = { 0 };
  Dump *dumps[2];
  OnnxlOutput out;
  const char *paths[2] = { run->input, exec_options.compare };
  bool good = true;
  onnxl_output_init(&out, STDOUT_FILENO);
  for (int i = 0; i < 2; i++) {
    dumps[i] = dump_new(true);
    session_watch(&sessions[i], &dumps[i]->observer);
    GError *failed = NULL;
    good = good && session_open(&sessions[i], run, paths[i], &failed) &&
           session_read_command_inputs(&sessions[i], run, &failed) && session_run(&sessions[i], &failed);
    if (failed)
      session_explain(&sessions[i], run, failed, error);
  }
  good = good && compare_sessions(run, sessions, dumps, &out, error);
  good = onnxl_output_flush(&out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&out);
  for (int i = 0; i < 2; i++)
    session_close(&sessions[i]);
  return good;
}
