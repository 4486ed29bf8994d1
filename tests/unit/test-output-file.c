#include "cli/output-file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "files.h"
#include "support/error.h"
#include "unit.h"

static char folder[] = "/tmp/onnxl-test-XXXXXX";
static char *target;

static bool
target_is(const char *expected)
{
  return file_holds(target, expected);
}

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  target = g_build_filename(folder, "out", NULL);
}

static void
test_appears_whole(void)
{
  OnnxlOutputFile file;
  GError *error = NULL;
  struct stat status;
  mode_t mask = umask(027);
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, target, ONNXL_OUTPUT_BINARY, &error));
  onnxl_output_text(&file.out, "first");
  CU_ASSERT_FALSE(g_file_test(target, G_FILE_TEST_EXISTS));
  CU_ASSERT_TRUE(onnxl_output_file_commit(&file, &error));
  umask(mask);
  CU_ASSERT_TRUE(target_is("first"));
  CU_ASSERT_EQUAL(stat(target, &status), 0);
  CU_ASSERT_EQUAL(status.st_mode & 07777, 0640);
  CU_ASSERT_EQUAL(files_in(folder), 1);
}

static void
test_abort_keeps_the_old_file(void)
{
  OnnxlOutputFile file;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, target, 0, &error));
  onnxl_output_text(&file.out, "second");
  (void)!onnxl_output_flush(&file.out, "x", NULL);
  onnxl_output_file_abort(&file);
  CU_ASSERT_TRUE(target_is("first"));
  CU_ASSERT_EQUAL(files_in(folder), 1);
  onnxl_output_file_abort(&file);
}

static void
test_replace_through_a_link(void)
{
  OnnxlOutputFile file;
  GError *error = NULL;
  struct stat status;
  char *name = g_build_filename(folder, "link", NULL);
  CU_ASSERT_EQUAL(symlink("out", name), 0);
  CU_ASSERT_EQUAL(chmod(target, 0604), 0);
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, name, ONNXL_OUTPUT_NO_SYNC, &error));
  onnxl_output_text(&file.out, "third");
  CU_ASSERT_TRUE(onnxl_output_file_commit(&file, &error));
  CU_ASSERT_TRUE(target_is("third"));
  CU_ASSERT_TRUE(g_file_test(name, G_FILE_TEST_IS_SYMLINK));
  CU_ASSERT_EQUAL(stat(target, &status), 0);
  CU_ASSERT_EQUAL(status.st_mode & 07777, 0604);
  CU_ASSERT_EQUAL(files_in(folder), 2);
  unlink(name);
  g_free(name);
}

/* Root can keep the owner; others have no other one to keep. */
static void
test_replace_keeps_the_owner(void)
{
  OnnxlOutputFile file;
  struct stat status;
  uid_t owner = geteuid() == 0 ? 1234 : geteuid();
  CU_ASSERT_EQUAL(chown(target, owner, getegid()), 0);
  CU_ASSERT_EQUAL(chmod(target, 04604), 0);
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, target, ONNXL_OUTPUT_NO_SYNC, NULL));
  CU_ASSERT_TRUE(onnxl_output_file_commit(&file, NULL));
  CU_ASSERT_EQUAL(stat(target, &status), 0);
  CU_ASSERT_EQUAL(status.st_uid, owner);
  CU_ASSERT_EQUAL(status.st_mode & 07777, 0604);
}

static void
test_descriptors(void)
{
  static const char *const descriptors[] = { "/dev/stdout", "/dev/fd/3", "/proc/self/fd/1" };
  static const char *const files[] = { "/dev/shm/model.onnx", "/dev/stdout2", "stdout", "/tmp/dev/fd/3" };
  for (size_t i = 0; i < G_N_ELEMENTS(descriptors); i++)
    CU_ASSERT_TRUE(onnxl_output_is_descriptor(descriptors[i]));
  for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
    CU_ASSERT_FALSE(onnxl_output_is_descriptor(files[i]));
}

static void
test_devices(void)
{
  OnnxlOutputFile file;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, "/dev/null", ONNXL_OUTPUT_BINARY, &error));
  onnxl_output_text(&file.out, "x");
  CU_ASSERT_TRUE(onnxl_output_file_commit(&file, &error));
  CU_ASSERT_TRUE_FATAL(onnxl_output_file_open(&file, "/dev/full", 0, &error));
  onnxl_output_text(&file.out, "x");
  CU_ASSERT_FALSE(onnxl_output_file_commit(&file, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
  g_clear_error(&error);
  CU_ASSERT_FALSE(g_file_test("/dev/null", G_FILE_TEST_IS_REGULAR));
}

static void
test_refused(void)
{
  OnnxlOutputFile file;
  GError *error = NULL;
  static const char *const wrong[] = { "/nonexistent/file", "/tmp", "" };
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    CU_ASSERT_FALSE(onnxl_output_file_open(&file, wrong[i], 0, &error));
    CU_ASSERT_PTR_NOT_NULL(error);
    g_clear_error(&error);
  }
  CU_ASSERT_EQUAL(files_in(folder), 1);
}

static void
test_clean_up(void)
{
  g_unlink(target);
  CU_ASSERT_EQUAL(rmdir(folder), 0);
  g_free(target);
}

UNIT_MAIN("output file",
  { "set up", test_set_up },
  { "appears whole", test_appears_whole },
  { "abort keeps the old file", test_abort_keeps_the_old_file },
  { "replace through a link", test_replace_through_a_link },
  { "replace keeps the owner", test_replace_keeps_the_owner },
  { "descriptors", test_descriptors },
  { "devices", test_devices },
  { "refused", test_refused },
  { "clean up: nothing is left", test_clean_up })
