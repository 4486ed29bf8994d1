#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "support/error.h"

/* An unlinked file for what a pipe delivers: on disk where possible, since it may be bigger than the memory. */
static int
open_spool(void)
{
  const char *folder = g_getenv("TMPDIR");
  if (!folder || folder[0] != '/')
    folder = "/tmp";
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (fd < 0) {
    char *name = g_strconcat(folder, "/onnxl-XXXXXX", NULL);
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0)
      unlink(name);
    g_free(name);
  }
  return fd >= 0 ? fd : memfd_create("onnxl-spool", MFD_CLOEXEC);
}

static bool
write_all(int fd, const char *data, size_t size)
{
  while (size > 0) {
    ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    data += n;
    size -= (size_t)n;
  }
  return true;
}

/* Copies fd to its end into a new spool file, which replaces fd in file. */
static bool
spool(OnnxlFile *file, uint64_t max_spool, GError **error)
{
  enum { BLOCK = 256 << 10 };
  bool ok = false;
  char *block = NULL;
  int to = open_spool();
  if (to < 0)
    return onnxl_error_errno(error, errno, "cannot make a temporary file for %s", file->name);
  block = g_malloc(BLOCK);
  for (uint64_t total = 0;;) {
    ssize_t n = read(file->fd, block, BLOCK);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      struct pollfd wait = { .fd = file->fd, .events = POLLIN };
      poll(&wait, 1, -1);
      continue;
    }
    if (n < 0) {
      onnxl_error_errno(error, errno, "cannot read %s", file->name);
      break;
    }
    if (n == 0) {
      ok = true;
      break;
    }
    total += (uint64_t)n;
    if (total > max_spool) {
      onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s delivers more than %" G_GUINT64_FORMAT " bytes (--max-memory)",
                 file->name, max_spool);
      break;
    }
    if (!write_all(to, block, (size_t)n)) {
      onnxl_error_errno(error, errno, "cannot write the temporary file for %s", file->name);
      break;
    }
  }
  g_free(block);
  if (!ok) {
    close(to);
    return false;
  }
  if (file->path)
    close(file->fd);
  file->fd = to;
  file->spooled = true;
  if (fstat(to, &file->stat) < 0)
    return onnxl_error_errno(error, errno, "cannot look at the temporary file for %s", file->name);
  return true;
}

static bool
map(OnnxlFile *file, GError **error)
{
  file->size = (uint64_t)file->stat.st_size;
  if (file->size == 0)
    return true;
  if (file->size > PTRDIFF_MAX)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s is too large to be mapped", file->name);
  void *data = mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, file->fd, 0);
  if (data == MAP_FAILED)
    return onnxl_error_errno(error, errno, "cannot map %s", file->name);
  file->data = data;
  return true;
}

/* Terminals and the null device are harmless to read; other devices are never meant. */
static bool
is_readable_device(int fd, const struct stat *status)
{
  return S_ISCHR(status->st_mode) && (status->st_rdev == makedev(1, 3) || isatty(fd));
}

static bool
open_named(OnnxlFile *file, GError **error)
{
  if (*file->path == '\0')
    return onnxl_fail(error, ONNXL_ERROR_IO, "the name of the input is empty");
  /* Without O_NONBLOCK a FIFO that nobody writes, or a device, could hang here before its kind is known. */
  file->fd = open(file->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file->fd < 0 && errno == ENXIO)
    return onnxl_fail(error, ONNXL_ERROR_IO, "cannot open %s: it is a socket or a device without a driver", file->name);
  if (file->fd < 0)
    return onnxl_error_errno(error, errno, "cannot open %s", file->name);
  if (fstat(file->fd, &file->stat) < 0)
    return onnxl_error_errno(error, errno, "cannot look at %s", file->name);
  mode_t mode = file->stat.st_mode;
  if (S_ISDIR(mode))
    return onnxl_fail(error, ONNXL_ERROR_IO, "cannot read %s: it is a directory", file->name);
  if (S_ISSOCK(mode) || S_ISBLK(mode) || (S_ISCHR(mode) && !is_readable_device(file->fd, &file->stat)))
    return onnxl_fail(error, ONNXL_ERROR_IO, "cannot read %s: it is a %s", file->name,
                      S_ISSOCK(mode) ? "socket" : "device");
  /* Reading a FIFO before its writer came would look like the end; poll() waits for data or for a writer that left. */
  if (S_ISFIFO(mode)) {
    struct pollfd wait = { .fd = file->fd, .events = POLLIN };
    while (poll(&wait, 1, -1) < 0 && errno == EINTR)
      continue;
  }
  return true;
}

static bool
open_standard_input(OnnxlFile *file, GError **error)
{
  file->fd = STDIN_FILENO;
  if (fstat(file->fd, &file->stat) < 0)
    return onnxl_error_errno(error, errno, "cannot read standard input");
  if (S_ISDIR(file->stat.st_mode) || S_ISBLK(file->stat.st_mode))
    return onnxl_fail(error, ONNXL_ERROR_IO, "cannot read standard input: it is a %s",
                      S_ISDIR(file->stat.st_mode) ? "directory" : "device");
  return true;
}

/* A regular file that stands at its start is mapped in place. One of size 0 may be a pseudo file, which only reading
 * tells; standard input may have been read in part by someone else. */
static bool
is_mappable(const OnnxlFile *file)
{
  return S_ISREG(file->stat.st_mode) && file->stat.st_size > 0 && lseek(file->fd, 0, SEEK_CUR) == 0;
}

OnnxlFile *
onnxl_file_open(const char *path, uint64_t max_spool, GError **error)
{
  OnnxlFile *file = g_new0(OnnxlFile, 1);
  bool is_stdin = !path || strcmp(path, "-") == 0;
  file->fd = -1;
  file->path = is_stdin ? NULL : g_strdup(path);
  file->name = g_strdup(is_stdin ? "<stdin>" : path);
  if (!(is_stdin ? open_standard_input(file, error) : open_named(file, error)) ||
      (!is_mappable(file) && !spool(file, max_spool, error)) || !map(file, error)) {
    onnxl_file_free(file);
    return NULL;
  }
  return file;
}

void
onnxl_file_free(OnnxlFile *file)
{
  if (!file)
    return;
  if (file->data)
    munmap((void *)file->data, (size_t)file->size);
  if (file->fd > STDIN_FILENO || (file->fd == STDIN_FILENO && file->path))
    close(file->fd);
  g_free(file->name);
  g_free(file->path);
  g_free(file);
}

bool
onnxl_file_locate(const OnnxlFile *file, OnnxlStr bytes, uint64_t *ret_offset)
{
  uintptr_t start = (uintptr_t)file->data, at = (uintptr_t)bytes.data;
  if (!file->data || !bytes.data || at < start || at - start > file->size || bytes.size > file->size - (at - start))
    return false;
  *ret_offset = at - start;
  return true;
}

static bool
same_inode(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool
onnxl_path_same_entry(const char *a, const char *b)
{
  g_autofree char *name_a = g_path_get_basename(a), *name_b = g_path_get_basename(b);
  g_autofree char *folder_a = g_path_get_dirname(a), *folder_b = g_path_get_dirname(b);
  struct stat at_a, at_b;

  /* A file that has one name only cannot be found under two. */
  if (strcmp(name_a, name_b) != 0 && (lstat(a, &at_a) < 0 || S_ISDIR(at_a.st_mode) || at_a.st_nlink > 1 ||
                                      lstat(b, &at_b) < 0 || !same_inode(&at_a, &at_b)))
    return false;
  return stat(folder_a, &at_a) == 0 && stat(folder_b, &at_b) == 0 && same_inode(&at_a, &at_b);
}

bool
onnxl_path_same_file(const char *a, const char *b)
{
  struct stat at_a, at_b;

  return stat(a, &at_a) == 0 && stat(b, &at_b) == 0 && same_inode(&at_a, &at_b);
}

char *
onnxl_path_follow(const char *path)
{
  g_autofree char *target = g_file_read_link(path, NULL);

  if (!target || g_path_is_absolute(target))
    return g_steal_pointer(&target);
  g_autofree char *folder = g_path_get_dirname(path);
  return g_build_filename(folder, target, NULL);
}
