/* --test: cases with known answers. */
#include <dirent.h>
#include <errno.h>
#include <math.h>

#include "exec.h"
#include "runtime/compare.h"
#include "runtime/test-case.h"
#include "support/error.h"

/* Folders in folders. */
enum { MAX_DEPTH = 16 };

typedef struct Tally {
  OnnxlRun *run;
  const OnnxlTestOptions *options;
  OnnxlOutput *out;
  uint32_t counts[3];
  uint32_t n_cases, n_unreadable;
} Tally;

static void
add_result(Tally *tally, OnnxlTestResult result, const char *name, const char *message)
{
  static const char *const words[] = { "PASS", "FAIL", "UNSUPPORTED" };
  tally->counts[result]++;
  onnxl_output_printf(tally->out, "%s %s", words[result], name);
  if (message)
    onnxl_output_printf(tally->out, result == ONNXL_TEST_PASS ? " (%s)" : ": %s", message);
  onnxl_output_char(tally->out, '\n');
}

static void
run_case(Tally *tally, const char *folder, const char *name)
{
  g_autofree char *message = NULL;
  OnnxlTestResult result = onnxl_test_run(folder, tally->options, &message);
  tally->n_cases++;
  add_result(tally, result, name, message);
}

static int
by_name(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What stands in a folder, sorted; NULL with error when it cannot be read. */
static GPtrArray *
list_folder(const char *folder, GError **error)
{
  DIR *dir = opendir(folder);
  if (!dir) {
    onnxl_error_errno(error, errno, "cannot read the folder %s", folder);
    return NULL;
  }
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  for (const struct dirent *entry; (entry = readdir(dir));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      g_ptr_array_add(names, g_strdup(entry->d_name));
  closedir(dir);
  g_ptr_array_sort(names, by_name);
  return names;
}

/* A folder is a case, or holds cases, or folders of them. name: the path from the folder that was asked for, which is
 * how the case is called. One that cannot be read does not keep the others from being run. */
static void
run_folder(Tally *tally, const char *folder, const char *name, uint32_t depth)
{
  if (onnxl_test_is_case(folder)) {
    run_case(tally, folder, name);
    return;
  }
  GError *error = NULL;
  GPtrArray *names = list_folder(folder, &error);
  if (!names) {
    onnxl_run_failed(tally->run, &error);
    tally->n_unreadable++;
    return;
  }
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, i), NULL);
    g_autofree char *inner =
      depth == 0 ? g_strdup(g_ptr_array_index(names, i)) : g_build_filename(name, g_ptr_array_index(names, i), NULL);
    /* Links further down could lead around in circles. */
    if (depth < MAX_DEPTH && g_file_test(path, G_FILE_TEST_IS_DIR) &&
        (depth == 0 || !g_file_test(path, G_FILE_TEST_IS_SYMLINK)))
      run_folder(tally, path, inner, depth + 1);
  }
  g_ptr_array_free(names, TRUE);
}

/* What a shell makes of "cases" and a star may be other files, too: they are named and skipped. */
static void
run_operand(Tally *tally, const char *operand)
{
  g_autofree char *name = g_path_get_basename(operand);
  uint32_t before = tally->n_cases + tally->n_unreadable;

  if (g_file_test(operand, G_FILE_TEST_EXISTS) && !g_file_test(operand, G_FILE_TEST_IS_DIR)) {
    add_result(tally, ONNXL_TEST_UNSUPPORTED, name, "it is no folder");
    return;
  }
  run_folder(tally, operand, name, 0);
  if (tally->n_cases + tally->n_unreadable == before)
    add_result(tally, ONNXL_TEST_UNSUPPORTED, name, "it holds no test case");
}

bool
run_tests(OnnxlRun *run, GError **error)
{
  OnnxlOutput out;
  const OnnxlTestOptions options = { .tolerance = { isnan(exec_options.rtol) ? 1e-3 : exec_options.rtol,
                                                    isnan(exec_options.atol) ? 1e-7 : exec_options.atol },
                                     .limits = run->common.limits,
                                     .allow_symlinks = run->common.allow_symlinks };
  Tally tally = { .run = run, .options = &options, .out = &out };
  if (run->operands.count == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--test needs folders of cases");
  onnxl_output_init(&out, STDOUT_FILENO);
  for (size_t i = 0; i < run->operands.count; i++)
    run_operand(&tally, run->operands.items[i]);
  onnxl_output_printf(&out, "%u passed, %u failed, %u skipped\n", tally.counts[ONNXL_TEST_PASS],
                      tally.counts[ONNXL_TEST_FAIL], tally.counts[ONNXL_TEST_UNSUPPORTED]);
  run->differs = tally.counts[ONNXL_TEST_FAIL] > 0;
  bool good = onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  /* Nobody is to take a wrong name for success. */
  if (good && tally.n_cases + tally.n_unreadable == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s%s holds no test case", run->operands.items[0],
                      run->operands.count > 1 ? " and what follows" : "");
  return good;
}
