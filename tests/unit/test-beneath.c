#include "unit.h"

#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/beneath.h"
#include "support/error.h"

/* A folder with: file, sub/file, link to file, away to the parent, fifo. */
static char *folder;

static char *
path_of(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

static void
set_up(void)
{
  folder = g_dir_make_tmp("onnxl-beneath-XXXXXX", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
  char *file = path_of("file"), *sub = path_of("sub"), *sub_file = path_of("sub/file");
  char *link = path_of("link"), *away = path_of("away"), *fifo = path_of("fifo");
  CU_ASSERT_TRUE(g_file_set_contents(file, "abc", 3, NULL));
  CU_ASSERT_EQUAL(g_mkdir(sub, 0700), 0);
  CU_ASSERT_TRUE(g_file_set_contents(sub_file, "abcd", 4, NULL));
  CU_ASSERT_EQUAL(symlink("file", link), 0);
  CU_ASSERT_EQUAL(symlink("..", away), 0);
  CU_ASSERT_EQUAL(mkfifo(fifo, 0600), 0);
  g_free(file);
  g_free(sub);
  g_free(sub_file);
  g_free(link);
  g_free(away);
  g_free(fifo);
}

static void
tear_down(void)
{
  static const char *const names[] = { "file", "sub/file", "sub", "link", "away", "fifo" };

  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    char *path = path_of(names[i]);
    CU_ASSERT_EQUAL(g_remove(path), 0);
    g_free(path);
  }
  CU_ASSERT_EQUAL(g_rmdir(folder), 0);
  g_free(folder);
}

/* Size of the file that path opens; -1 when it is refused, with an error that says why. */
static int
open_size(OnnxlStr path, bool allow_symlinks, const char *why)
{
  struct stat status;
  GError *error = NULL;
  int fd = onnxl_beneath_open(folder, path, allow_symlinks, &status, &error);

  if (fd >= 0) {
    CU_ASSERT_PTR_NULL(error);
    close(fd);
    return (int)status.st_size;
  }
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
  CU_ASSERT_PTR_NOT_NULL(why ? strstr(error->message, why) : NULL);
  g_clear_error(&error);
  return -1;
}

static void
test_opens(void)
{
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("file"), false, NULL), 3);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("./sub//file"), false, NULL), 4);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("sub/../file"), false, NULL), 3);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("sub/.././sub/file"), false, NULL), 4);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("link"), true, NULL), 3);
}

static void
test_refuses(void)
{
  CU_ASSERT_EQUAL(open_size(ONNXL_STR(""), false, "not the name"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("file\0x"), false, "not the name"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("/etc/passwd"), true, "out of the folder"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR(".."), false, "out of the folder"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("sub/../../file"), true, "out of the folder"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("../file"), false, "out of the folder"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("link"), false, "symbolic link"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("away/file"), false, "symbolic link"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("fifo"), false, "regular"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("sub"), false, "regular"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("."), false, "regular"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("missing"), false, "No such file"), -1);
  CU_ASSERT_EQUAL(open_size(ONNXL_STR("file/x"), false, "Not a directory"), -1);
}

UNIT_MAIN("beneath", { "set up", set_up }, { "opens", test_opens }, { "refuses", test_refuses },
          { "tear down", tear_down })
