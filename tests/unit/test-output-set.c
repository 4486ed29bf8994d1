#include "cli/output-set.h"

#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "files.h"
#include "support/error.h"
#include "unit.h"

static char folder[] = "/tmp/onnxl-test-XXXXXX";

static const char *
at(const char *name)
{
  return file_in(folder, name);
}

static bool
holds(const char *name, const char *expected)
{
  return file_holds(at(name), expected);
}

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

/* The main file is the list of its companions' names. */
typedef struct Writer {
  int calls;
  int fail_at;  /* the call that fails, 0 = none */
  bool interim; /* the first call saw an interim name, under which the companion was there */
} Writer;

static bool
write_names(void *data, const char *const *paths, OnnxlOutput *out, GError **error)
{
  Writer *writer = data;
  if (++writer->calls == writer->fail_at)
    return onnxl_fail(error, ONNXL_ERROR_IO, "no more");
  writer->interim |=
    writer->calls == 1 && g_str_has_suffix(paths[0], ".new") && g_file_test(paths[0], G_FILE_TEST_EXISTS);
  for (; *paths; paths++) {
    char *name = g_path_get_basename(*paths);
    onnxl_output_text(out, name);
    onnxl_output_char(out, ';');
    g_free(name);
  }
  return true;
}

static bool
publish(const char *content, Writer *writer)
{
  GError *error = NULL;
  OnnxlOutputSet *set = onnxl_output_set_new(at("main"), 0, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(set);
  for (int i = 0; i < 2; i++) {
    int fd = onnxl_output_set_add(set, at(i == 0 ? "data" : "data.1"), &error);
    CU_ASSERT_TRUE_FATAL(fd >= 0);
    CU_ASSERT_EQUAL(write(fd, content, strlen(content)), (ssize_t)strlen(content));
  }
  bool ok = onnxl_output_set_commit(set, write_names, writer, &error);
  CU_ASSERT_EQUAL(ok, error == NULL);
  g_clear_error(&error);
  onnxl_output_set_free(set);
  return ok;
}

static void
test_new(void)
{
  Writer writer = { 0 };
  CU_ASSERT_TRUE(publish("one", &writer));
  CU_ASSERT_TRUE(holds("main", "data;data.1;") && holds("data", "one") && holds("data.1", "one"));
  CU_ASSERT_EQUAL(files_in(folder), 3);
  CU_ASSERT_EQUAL(writer.calls, 1);
}

/* Both old: written twice, once for the step in between. Other names of the old files keep their bytes. */
static void
test_over_old(void)
{
  Writer writer = { 0 };
  struct stat status;
  CU_ASSERT_EQUAL(link(at("data"), at("hard")), 0);
  CU_ASSERT_EQUAL(chmod(at("data"), 0640), 0);
  CU_ASSERT_TRUE(publish("two", &writer));
  CU_ASSERT_TRUE(holds("main", "data;data.1;") && holds("data", "two") && holds("data.1", "two") &&
                 holds("hard", "one"));
  CU_ASSERT_TRUE(stat(at("data"), &status) == 0 && (status.st_mode & 07777) == 0640);
  CU_ASSERT_EQUAL(files_in(folder), 4);
  CU_ASSERT_EQUAL(writer.calls, 2);
  CU_ASSERT_TRUE(writer.interim);
  CU_ASSERT_EQUAL(g_unlink(at("hard")), 0);
}

static void
test_failures(void)
{
  for (int fail_at = 1; fail_at <= 2; fail_at++) {
    Writer writer = { .fail_at = fail_at };
    CU_ASSERT_FALSE(publish("three", &writer));
    CU_ASSERT_TRUE(holds("main", "data;data.1;") && holds("data", "two") && holds("data.1", "two"));
    CU_ASSERT_EQUAL(files_in(folder), 3);
  }
}

/* A folder that went away before the end. */
static void
test_folder_gone(void)
{
  Writer writer = { 0 };
  GError *error = NULL;
  OnnxlOutputSet *set = onnxl_output_set_new(at("main"), 0, &error);
  CU_ASSERT_TRUE(onnxl_output_set_add(set, at("data"), &error) >= 0);
  CU_ASSERT_TRUE(onnxl_output_set_add(set, at("folder/data"), &error) < 0);
  g_clear_error(&error);
  CU_ASSERT_EQUAL(g_mkdir(at("folder"), 0700), 0);
  CU_ASSERT_TRUE(onnxl_output_set_add(set, at("folder"), &error) < 0);
  CU_ASSERT_TRUE(error && strstr(error->message, "directory"));
  g_clear_error(&error);
  CU_ASSERT_TRUE(onnxl_output_set_add(set, at("folder/data"), &error) >= 0);
  CU_ASSERT_EQUAL(g_rmdir(at("folder")), 0);
  CU_ASSERT_FALSE(onnxl_output_set_commit(set, write_names, &writer, &error));
  CU_ASSERT_PTR_NOT_NULL(error);
  g_clear_error(&error);
  onnxl_output_set_free(set);
  CU_ASSERT_TRUE(holds("main", "data;data.1;") && holds("data", "two") && holds("data.1", "two"));
  CU_ASSERT_EQUAL(files_in(folder), 3);
}

static void
test_refusals(void)
{
  GError *error = NULL;
  OnnxlOutputSet *set = onnxl_output_set_new(at("main"), 0, &error);
  char *detour = g_strdup_printf("%s/../%s/main", folder, folder + strlen("/tmp/"));
  CU_ASSERT_TRUE(onnxl_output_set_add(set, detour, &error) < 0);
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_USAGE));
  g_clear_error(&error);
  CU_ASSERT_TRUE(onnxl_output_set_add(set, "/dev/null", &error) < 0);
  g_clear_error(&error);
  onnxl_output_set_free(set);
  g_free(detour);
  CU_ASSERT_EQUAL(files_in(folder), 3);
}

/* Symbolic links in the place of outputs are replaced; what they name stays. */
static void
test_links(void)
{
  Writer writer = { 0 };
  struct stat status;
  CU_ASSERT_EQUAL(g_rename(at("data"), at("victim")), 0);
  CU_ASSERT_EQUAL(symlink("victim", at("data")), 0);
  CU_ASSERT_EQUAL(g_rename(at("main"), at("old")), 0);
  CU_ASSERT_EQUAL(symlink("old", at("main")), 0);
  CU_ASSERT_TRUE(publish("four", &writer));
  CU_ASSERT_TRUE(holds("main", "data;data.1;") && holds("data", "four") && holds("victim", "two"));
  CU_ASSERT_TRUE(lstat(at("data"), &status) == 0 && S_ISREG(status.st_mode));
  CU_ASSERT_TRUE(lstat(at("main"), &status) == 0 && S_ISREG(status.st_mode));
  CU_ASSERT_EQUAL(files_in(folder), 5);
}

static void
test_tear_down(void)
{
  static const char *const names[] = { "main", "data", "data.1", "old", "victim" };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    CU_ASSERT_EQUAL(g_unlink(at(names[i])), 0);
  CU_ASSERT_EQUAL(g_rmdir(folder), 0);
}

UNIT_MAIN("output-set", { "set up", test_set_up }, { "new", test_new }, { "over old files", test_over_old },
          { "failures", test_failures }, { "folder gone", test_folder_gone }, { "refusals", test_refusals },
          { "links", test_links }, { "tear down", test_tear_down })
