/* --test: cases with known answers. */
#include <math.h>

#include "exec.h"
#include "runtime/compare.h"
#include "runtime/test-case.h"
#include "support/error.h"

/* Folders in folders. */
enum { MAX_DEPTH = 16 };

typedef struct Tally {
  const OnnxlTestOptions *options;
  OnnxlOutput *out;
  uint32_t counts[3];
} Tally;

static void
run_case(Tally *tally, const char *folder, const char *name)
{
  static const char *const words[] = { "PASS", "FAIL", "UNSUPPORTED" };
  g_autofree char *message = NULL;
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

/* What stands in a folder, sorted; NULL when it cannot be read. */
static GPtrArray *
list_folder(const char *folder)
{
  GDir *dir = g_dir_open(folder, 0, NULL);
  if (!dir)
    return NULL;
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; (name = g_dir_read_name(dir));)
    g_ptr_array_add(names, g_strdup(name));
  g_dir_close(dir);
  g_ptr_array_sort(names, by_name);
  return names;
}

/* A folder is a case, or holds cases, or folders of them. name: the path from the folder that was asked for, which is
 * how the case is called. *any is set when there is one. */
static bool
run_folder(Tally *tally, const char *folder, const char *name, uint32_t depth, bool *any, GError **error)
{
  if (onnxl_test_is_case(folder)) {
    run_case(tally, folder, name);
    *any = true;
    return true;
  }
  GPtrArray *names = list_folder(folder);
  if (!names)
    return onnxl_fail(error, ONNXL_ERROR_IO, "%s is not a folder that can be read", folder);
  bool good = true;
  for (guint i = 0; good && i < names->len; i++) {
    g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, i), NULL);
    g_autofree char *inner =
      depth == 0 ? g_strdup(g_ptr_array_index(names, i)) : g_build_filename(name, g_ptr_array_index(names, i), NULL);
    /* Links further down could lead around in circles. */
    if (depth < MAX_DEPTH && g_file_test(path, G_FILE_TEST_IS_DIR) &&
        (depth == 0 || !g_file_test(path, G_FILE_TEST_IS_SYMLINK)))
      good = run_folder(tally, path, inner, depth + 1, any, error);
  }
  g_ptr_array_free(names, TRUE);
  return good;
}

static bool
run_operand(Tally *tally, const char *folder, GError **error)
{
  g_autofree char *name = g_path_get_basename(folder);
  bool any = false;
  return run_folder(tally, folder, name, 0, &any, error) &&
         (any || onnxl_fail(error, ONNXL_ERROR_USAGE, "%s holds no test case", folder));
}

bool
run_tests(OnnxlRun *run, GError **error)
{
  OnnxlOutput out;
  const OnnxlTestOptions options = { .tolerance = { isnan(exec_options.rtol) ? 1e-3 : exec_options.rtol,
                                                    isnan(exec_options.atol) ? 1e-7 : exec_options.atol },
                                     .limits = run->common.limits,
                                     .allow_symlinks = run->common.allow_symlinks };
  Tally tally = { .options = &options, .out = &out };
  if (run->operands.count == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--test needs folders of cases");
  onnxl_output_init(&out, STDOUT_FILENO);
  bool good = true;
  for (size_t i = 0; good && i < run->operands.count; i++)
    good = run_operand(&tally, run->operands.items[i], error);
  if (good)
    onnxl_output_printf(&out, "%u passed, %u failed, %u skipped\n", tally.counts[ONNXL_TEST_PASS],
                        tally.counts[ONNXL_TEST_FAIL], tally.counts[ONNXL_TEST_UNSUPPORTED]);
  run->differs = tally.counts[ONNXL_TEST_FAIL] > 0;
  good = onnxl_output_flush(&out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&out);
  return good;
}
