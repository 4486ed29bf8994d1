/* Folders that appear whole: filled beside their place, put there by renaming, removed by a signal. */
#include "cli/output-folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "cli/temporary-internal.h"
#include "files.h"
#include "support/error.h"
#include "unit.h"

static char top[] = "/tmp/onnxl-test-XXXXXX";
static char *target;

static void
put(const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename(folder, name, NULL);
  CU_ASSERT_TRUE(g_file_set_contents(path, text, -1, NULL));
}

static bool
target_has(const char *name, const char *expected)
{
  g_autofree char *path = g_build_filename(target, name, NULL);
  return file_holds(path, expected);
}

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
  target = g_build_filename(top, "out", NULL);
}

static void
test_appears_whole(void)
{
  OnnxlOutputFolder folder;
  CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, target, NULL));
  put(folder.temporary, "a", "1");
  put(folder.temporary, "b", "2");
  CU_ASSERT_FALSE(g_file_test(target, G_FILE_TEST_EXISTS));
  CU_ASSERT_TRUE(onnxl_output_folder_commit(&folder, NULL));
  CU_ASSERT_TRUE(target_has("a", "1"));
  CU_ASSERT_EQUAL(files_in(target), 2);
  CU_ASSERT_EQUAL(files_in(top), 1);
}

static void
test_replaces(void)
{
  OnnxlOutputFolder folder;
  CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, target, NULL));
  put(folder.temporary, "a", "new");
  put(folder.temporary, "b", "2");
  put(folder.temporary, "c", "3");
  CU_ASSERT_TRUE(target_has("a", "1"));
  CU_ASSERT_TRUE(onnxl_output_folder_commit(&folder, NULL));
  CU_ASSERT_TRUE(target_has("a", "new"));
  CU_ASSERT_TRUE(target_has("c", "3"));
  CU_ASSERT_EQUAL(files_in(target), 3);
  CU_ASSERT_EQUAL(files_in(top), 1);
}

/* A file of the old folder would be lost that the new one lacks, or has as a file where there was a folder. */
static void
test_keeps_what_others_put_there(void)
{
  static const char *const others[] = { "precious", "d" };
  g_autofree char *inner = g_build_filename(target, "d", NULL), *file = g_build_filename(target, "precious", NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
    OnnxlOutputFolder folder;
    GError *error = NULL;
    if (i == 0)
      put(target, others[i], "mine");
    else
      CU_ASSERT_EQUAL(g_mkdir(inner, 0777), 0);
    CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, target, NULL));
    put(folder.temporary, "a", "newer");
    put(folder.temporary, "b", "2");
    put(folder.temporary, "c", "3");
    if (i > 0)
      put(folder.temporary, "d", "4");
    CU_ASSERT_FALSE(onnxl_output_folder_commit(&folder, &error));
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_USAGE));
    CU_ASSERT_PTR_NOT_NULL(strstr(error->message, others[i]));
    g_clear_error(&error);
    CU_ASSERT_TRUE(target_has("a", "new"));
    CU_ASSERT_EQUAL(files_in(target), 4);
    CU_ASSERT_EQUAL(files_in(top), 1);
    CU_ASSERT_EQUAL(i == 0 ? g_unlink(file) : g_rmdir(inner), 0);
  }
}

static void
test_abort_leaves_the_old_one(void)
{
  OnnxlOutputFolder folder;
  CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, target, NULL));
  put(folder.temporary, "d", "4");
  onnxl_output_folder_abort(&folder);
  CU_ASSERT_TRUE(target_has("c", "3"));
  CU_ASSERT_EQUAL(files_in(top), 1);
}

/* More files than one look at the folder shows. */
static void
test_a_signal_removes_it(void)
{
  OnnxlOutputFolder folder;
  CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, target, NULL));
  for (int i = 0; i < 500; i++) {
    g_autofree char *name = g_strdup_printf("a-long-name-of-a-file-%d", i);
    put(folder.temporary, name, "");
  }
  onnxl_temporary_remove_all();
  CU_ASSERT_EQUAL(files_in(top), 1);
  onnxl_output_folder_abort(&folder);
}

static void
test_errors(void)
{
  OnnxlOutputFolder folder;
  GError *error = NULL;
  g_autofree char *nowhere = g_build_filename(top, "none", "out", NULL), *file = g_build_filename(top, "file", NULL);
  CU_ASSERT_FALSE(onnxl_output_folder_open(&folder, nowhere, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
  g_clear_error(&error);
  put(top, "file", "old");
  CU_ASSERT_TRUE_FATAL(onnxl_output_folder_open(&folder, file, NULL));
  CU_ASSERT_FALSE(onnxl_output_folder_commit(&folder, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
  g_clear_error(&error);
  CU_ASSERT_TRUE(g_file_test(file, G_FILE_TEST_IS_REGULAR));
  CU_ASSERT_EQUAL(files_in(top), 2);
}

static void
test_tear_down(void)
{
  g_autofree char *command = g_strdup_printf("rm -rf %s", top);
  CU_ASSERT_EQUAL(system(command), 0);
  g_free(target);
}

UNIT_MAIN("output folder",
  { "set up", test_set_up },
  { "appears whole", test_appears_whole },
  { "replaces", test_replaces },
  { "keeps what others put there", test_keeps_what_others_put_there },
  { "abort leaves the old one", test_abort_leaves_the_old_one },
  { "a signal removes it", test_a_signal_removes_it },
  { "errors", test_errors },
  { "tear down", test_tear_down })
