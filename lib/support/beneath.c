#include "support/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/error.h"

/* O_NONBLOCK: a FIFO without a writer must not hold us up before its kind is known. */
enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

/* True when the path, taken as text, is absolute or leaves the folder it starts in at any point. */
static bool
leaves(const char *path)
{
  size_t depth = 0;

  if (*path == '/')
    return true;
  for (size_t n; *path; path += n + (path[n] == '/')) {
    n = strcspn(path, "/");
    if (n == 0 || (n == 1 && path[0] == '.'))
      continue;
    if (n != 2 || path[0] != '.' || path[1] != '.')
      depth++;
    else if (depth-- == 0)
      return true;
  }
  return false;
}

/* For kernels without openat2(): a step at a time, so that no step can be a link. */
static int
open_in_steps(int folder, const char *path)
{
  char **steps = g_strsplit(path, "/", -1);
  int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);

  for (size_t i = 0; steps[i] && at >= 0; i++) {
    bool last = !steps[i + 1];
    if (!last && steps[i][0] == '\0')
      continue;
    int next = openat(at, steps[i], O_NOFOLLOW | (last ? FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC));
    int saved_errno = errno;
    close(at);
    errno = saved_errno;
    at = next;
  }
  g_strfreev(steps);
  return at;
}

static int
open_path(const char *folder, const char *path, bool allow_symlinks)
{
  struct open_how how = { .flags = FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
  int base = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

  if (base < 0)
    return -1;
  int fd = allow_symlinks ? openat(base, path, FLAGS) : (int)syscall(SYS_openat2, base, path, &how, sizeof how);
  /* Filters of system calls answer EPERM for one they do not know. */
  if (fd < 0 && !allow_symlinks && (errno == ENOSYS || errno == EPERM))
    fd = open_in_steps(base, path);
  int saved_errno = errno;
  close(base);
  errno = saved_errno;
  return fd;
}

int
onnxl_beneath_open(const char *folder, OnnxlStr path, bool allow_symlinks, struct stat *ret_stat, GError **error)
{
  if (path.size == 0 || path.size >= 4096 || memchr(path.data, '\0', path.size)) {
    onnxl_fail(error, ONNXL_ERROR_IO, "`%.*s` is not the name of a file", (int)MIN(path.size, 80), path.data);
    return -1;
  }
  char *name = g_strndup(path.data, path.size);
  int fd = -1;
  if (leaves(name)) {
    onnxl_fail(error, ONNXL_ERROR_IO, "cannot open %s: the path leads out of the folder", name);
  } else if ((fd = open_path(folder, name, allow_symlinks)) < 0) {
    int saved_errno = errno;
    if (saved_errno == ELOOP && !allow_symlinks)
      onnxl_fail(error, ONNXL_ERROR_IO, "cannot open %s: there is a symbolic link on its path (--allow-symlinks)",
                 name);
    else
      onnxl_error_errno(error, saved_errno, "cannot open %s", name);
  } else if (fstat(fd, ret_stat) < 0 || !S_ISREG(ret_stat->st_mode)) {
    onnxl_fail(error, ONNXL_ERROR_IO, "cannot read %s: it is not a regular file", name);
    close(fd);
    fd = -1;
  }
  g_free(name);
  return fd;
}
