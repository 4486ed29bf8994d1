#include "support/file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/error.h"
#include "unit.h"

static char folder[] = "/tmp/onnxl-test-XXXXXX";

static char *
path_of(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

static void
test_regular(void)
{
  char *path = path_of("regular");
  GError *error = NULL;
  uint64_t offset = 0;
  CU_ASSERT_TRUE(g_file_set_contents(path, "hello", 5, NULL));
  OnnxlFile *file = onnxl_file_open(path, 0, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  CU_ASSERT_EQUAL(file->size, 5);
  CU_ASSERT_EQUAL(memcmp(file->data, "hello", 5), 0);
  CU_ASSERT_FALSE(file->spooled);
  CU_ASSERT_TRUE(onnxl_file_locate(file, onnxl_str_n(file->data + 2, 3), &offset));
  CU_ASSERT_EQUAL(offset, 2);
  CU_ASSERT_FALSE(onnxl_file_locate(file, onnxl_str_n(file->data + 2, 4), &offset));
  CU_ASSERT_FALSE(onnxl_file_locate(file, ONNXL_STR("hello"), &offset));
  onnxl_file_free(file);
  CU_ASSERT_TRUE(g_file_set_contents(path, "", 0, NULL));
  file = onnxl_file_open(path, 0, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  CU_ASSERT_EQUAL(file->size, 0);
  onnxl_file_free(file);
  g_free(path);
}

/* A process writes size bytes into a FIFO after a moment. */
static pid_t
start_writer(const char *path, size_t size)
{
  pid_t pid = fork();
  if (pid == 0) {
    usleep(50000);
    int fd = open(path, O_WRONLY);
    for (size_t i = 0; fd >= 0 && i < size; i++)
      if (write(fd, "x", 1) != 1)
        break;
    _exit(0);
  }
  return pid;
}

static void
test_fifo(void)
{
  char *path = path_of("fifo");
  GError *error = NULL;
  CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
  pid_t writer = start_writer(path, 1000);
  OnnxlFile *file = onnxl_file_open(path, 1000, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  CU_ASSERT_TRUE(file->spooled);
  CU_ASSERT_EQUAL(file->size, 1000);
  CU_ASSERT_TRUE(file->size == 1000 && file->data[999] == 'x');
  onnxl_file_free(file);
  waitpid(writer, NULL, 0);
  writer = start_writer(path, 1001);
  CU_ASSERT_PTR_NULL(onnxl_file_open(path, 1000, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  g_clear_error(&error);
  waitpid(writer, NULL, 0);
  unlink(path);
  g_free(path);
}

static void
refused(const char *path, const char *why)
{
  GError *error = NULL;
  OnnxlFile *file = onnxl_file_open(path, 1000, &error);
  CU_ASSERT_PTR_NULL(file);
  CU_ASSERT_TRUE(error && error->domain == ONNXL_ERROR && error->code == ONNXL_ERROR_IO);
  CU_ASSERT_TRUE(error && strstr(error->message, why) != NULL);
  g_clear_error(&error);
}

static void
test_refused(void)
{
  char *path = path_of("socket");
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  g_strlcpy(address.sun_path, path, sizeof address.sun_path);
  refused(folder, "directory");
  refused("/dev/zero", "device");
  refused("/nonexistent/file", "No such file");
  CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
  refused(path, "socket");
  close(fd);
  unlink(path);
  g_free(path);
}

/* Standard input that somebody has read a part of begins where that one stopped. */
static void
test_standard_input(void)
{
  char *path = path_of("input");
  GError *error = NULL;
  CU_ASSERT_TRUE(g_file_set_contents(path, "skipped|rest", 12, NULL));
  int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
  dup2(fd, STDIN_FILENO);
  close(fd);
  OnnxlFile *file = onnxl_file_open("-", 100, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  CU_ASSERT_FALSE(file->spooled);
  CU_ASSERT_EQUAL(file->size, 12);
  CU_ASSERT_PTR_NULL(file->path);
  CU_ASSERT_STRING_EQUAL(file->name, "<stdin>");
  onnxl_file_free(file);
  lseek(STDIN_FILENO, 8, SEEK_SET);
  file = onnxl_file_open(NULL, 100, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(file);
  CU_ASSERT_TRUE(file->spooled);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_str_n(file->data, file->size), "rest"));
  onnxl_file_free(file);
  dup2(saved, STDIN_FILENO);
  close(saved);
  unlink(path);
  g_free(path);
}

static void
test_same(void)
{
  g_autofree char *path = path_of("regular"), *hard = path_of("hard"), *symbolic = path_of("symbolic");
  g_autofree char *detour = path_of("./regular"), *absent = path_of("absent");
  CU_ASSERT_EQUAL(link(path, hard), 0);
  CU_ASSERT_EQUAL(symlink("hard", symbolic), 0);
  CU_ASSERT_TRUE(onnxl_path_same_entry(path, detour));
  CU_ASSERT_TRUE(onnxl_path_same_file(path, detour));
  CU_ASSERT_FALSE(onnxl_path_same_entry(path, hard));
  CU_ASSERT_TRUE(onnxl_path_same_file(path, hard));
  CU_ASSERT_FALSE(onnxl_path_same_entry(path, symbolic));
  CU_ASSERT_TRUE(onnxl_path_same_file(path, symbolic));
  CU_ASSERT_TRUE(onnxl_path_same_entry(absent, absent));
  CU_ASSERT_FALSE(onnxl_path_same_file(absent, absent));
  CU_ASSERT_FALSE(onnxl_path_same_file(path, folder));
  unlink(hard);
  unlink(symbolic);
}

static void
test_clean_up(void)
{
  char *path = path_of("regular");
  unlink(path);
  CU_ASSERT_EQUAL(rmdir(folder), 0);
  g_free(path);
}

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

UNIT_MAIN("file",
  { "set up", test_set_up },
  { "regular", test_regular },
  { "FIFO", test_fifo },
  { "refused", test_refused },
  { "standard input", test_standard_input },
  { "the same file or entry", test_same },
  { "clean up: nothing is left", test_clean_up })
