#include "cli/output-file-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/temporary-internal.h"
#include "support/error.h"

static void
forget(OnnxlOutputFile *file)
{
  onnxl_temporary_forget(file->slot);
  file->slot = -1;
}

static void
clear(OnnxlOutputFile *file)
{
  onnxl_output_clear(&file->out);
  if (file->fd > STDERR_FILENO)
    close(file->fd);
  forget(file);
  g_free(file->name);
  g_free(file->path);
  g_free(file->temporary);
  *file = (OnnxlOutputFile){ .fd = -1, .slot = -1 };
}

static void
descriptor_link(int fd, char link[64])
{
  g_snprintf(link, 64, "/proc/self/fd/%d", fd);
}

/* A file without a name in the folder of path; -1 where the file system, or a missing /proc, does not allow it. */
static int
open_unnamed(const char *path)
{
  char link[64];
  char *folder = g_path_get_dirname(path);
  int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  int saved_errno = errno;
  g_free(folder);
  if (fd >= 0) {
    descriptor_link(fd, link);
    if (access(link, F_OK) < 0) {
      close(fd);
      fd = -1;
      saved_errno = EOPNOTSUPP;
    }
  }
  errno = saved_errno;
  return fd;
}

/* Opens the temporary file: without a name where possible, so that not even SIGKILL leaves one behind. */
static bool
open_temporary(OnnxlOutputFile *file, GError **error)
{
  file->fd = open_unnamed(file->path);
  int saved_errno = errno;
  for (int attempt = 0; file->fd < 0 && saved_errno != EACCES && saved_errno != ENOENT && attempt < 16; attempt++) {
    g_free(file->temporary);
    file->temporary = onnxl_temporary_name(file->path);
    file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    saved_errno = errno;
    if (file->fd < 0 && saved_errno != EEXIST)
      break;
  }
  if (file->fd < 0)
    return onnxl_error_errno(error, saved_errno, "cannot write %s", file->name);
  if (file->temporary)
    file->slot = onnxl_temporary_remember(file->temporary);
  return true;
}

static bool
open_in_place(OnnxlOutputFile *file, const char *path, GError **error)
{
  file->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return file->fd >= 0 || onnxl_error_errno(error, errno, "cannot write %s", file->name);
}

bool
onnxl_output_is_descriptor(const char *path)
{
  static const char *const names[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(path, names[i]) == 0)
      return true;
  return g_str_has_prefix(path, "/dev/fd/") || g_str_has_prefix(path, "/proc/");
}

/* A symbolic link that someone made. */
static bool
is_own_link(const char *path)
{
  struct stat status;
  return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && !onnxl_output_is_descriptor(path);
}

static bool
open_path(OnnxlOutputFile *file, const char *path, GError **error)
{
  struct stat status;
  if (path[0] == '\0')
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the name of the output is empty");
  if (stat(path, &status) < 0) {
    if (errno != ENOENT)
      return onnxl_error_errno(error, errno, "cannot write %s", file->name);
    file->path = g_strdup(path);
    return open_temporary(file, error);
  }
  if (S_ISDIR(status.st_mode))
    return onnxl_fail(error, ONNXL_ERROR_IO, "cannot write %s: it is a directory", file->name);
  if (!S_ISREG(status.st_mode))
    return open_in_place(file, path, error);
  if ((file->flags & ONNXL_OUTPUT_REPLACE_LINK) && is_own_link(path)) {
    file->path = g_strdup(path);
    return open_temporary(file, error);
  }
  /* Renaming would get around the permissions of the file itself. */
  if (access(path, W_OK) < 0)
    return onnxl_error_errno(error, errno, "cannot write %s", file->name);
  char *resolved = realpath(path, NULL);
  if (!resolved)
    return onnxl_error_errno(error, errno, "cannot write %s", file->name);
  file->path = g_strdup(resolved);
  free(resolved);
  file->mode = status.st_mode & 0777;
  file->owner = status.st_uid;
  file->group = status.st_gid;
  return open_temporary(file, error);
}

bool
onnxl_output_file_open(OnnxlOutputFile *file, const char *path, int flags, GError **error)
{
  bool standard = !path || strcmp(path, "-") == 0;
  *file = (OnnxlOutputFile){ .fd = -1, .slot = -1, .flags = flags };
  file->name = g_strdup(standard ? "standard output" : path);
  if (standard)
    file->fd = STDOUT_FILENO;
  else if (!open_path(file, path, error)) {
    clear(file);
    return false;
  }
  if ((flags & ONNXL_OUTPUT_BINARY) && !(flags & ONNXL_OUTPUT_FORCE) && !file->path && isatty(file->fd)) {
    onnxl_fail(error, ONNXL_ERROR_USAGE,
               "%s is a terminal, which is no place for a binary (-f writes it there, -o FILE elsewhere)", file->name);
    clear(file);
    return false;
  }
  onnxl_output_init(&file->out, file->fd);
  return true;
}

/* A link cannot replace an existing file, so the file needs a name that can be renamed. */
bool
onnxl_output_file_name(OnnxlOutputFile *file, GError **error)
{
  char link[64];
  if (file->temporary)
    return true;
  descriptor_link(file->fd, link);
  for (int attempt = 0; attempt < 16; attempt++) {
    char *name = onnxl_temporary_name(file->path);
    file->slot = onnxl_temporary_remember(name);
    if (linkat(AT_FDCWD, link, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
      file->temporary = name;
      return true;
    }
    int saved_errno = errno;
    forget(file);
    g_free(name);
    if (saved_errno != EEXIST)
      return onnxl_error_errno(error, saved_errno, "cannot write %s", file->name);
  }
  return onnxl_fail(error, ONNXL_ERROR_IO, "cannot write %s: no free name for a temporary file", file->name);
}

bool
onnxl_output_sync_folder(const char *path, GError **error)
{
  char *folder = g_path_get_dirname(path);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* Some file systems cannot sync a folder; the file itself is safe by now. */
  bool ok = fd < 0 || fsync(fd) == 0 || errno == EINVAL || errno == EROFS;
  if (!ok)
    onnxl_error_errno(error, errno, "cannot sync the folder of %s", path);
  if (fd >= 0)
    close(fd);
  g_free(folder);
  return ok;
}

/* Who has the rights of the file that is replaced is to keep them; only root can give a file away. */
static void
keep_owner(const OnnxlOutputFile *file)
{
  if (fchown(file->fd, file->owner, file->group) < 0)
    (void)!fchown(file->fd, (uid_t)-1, file->group);
}

bool
onnxl_output_file_finish(OnnxlOutputFile *file, GError **error)
{
  if (!onnxl_output_flush(&file->out, file->name, error))
    return false;
  onnxl_output_clear(&file->out); /* whoever writes two files needs one buffer at a time */
  if (file->mode != 0)
    keep_owner(file);
  if (file->mode != 0 && fchmod(file->fd, file->mode) < 0)
    return onnxl_error_errno(error, errno, "cannot set the mode of %s", file->name);
  if (file->path && !(file->flags & ONNXL_OUTPUT_NO_SYNC) && fsync(file->fd) < 0)
    return onnxl_error_errno(error, errno, "cannot write %s", file->name);
  return true;
}

static bool
put_in_place(OnnxlOutputFile *file, GError **error)
{
  if (!onnxl_output_file_name(file, error))
    return false;
  if (rename(file->temporary, file->path) < 0)
    return onnxl_error_errno(error, errno, "cannot write %s", file->name);
  g_clear_pointer(&file->temporary, g_free);
  forget(file);
  return (file->flags & ONNXL_OUTPUT_NO_SYNC) || onnxl_output_sync_folder(file->path, error);
}

bool
onnxl_output_file_commit(OnnxlOutputFile *file, GError **error)
{
  bool ok = onnxl_output_file_finish(file, error) && (!file->path || put_in_place(file, error));
  if (ok && !file->path && file->fd > STDERR_FILENO) {
    /* Some devices and file systems report a failed write only here. */
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) < 0)
      ok = onnxl_error_errno(error, errno, "cannot write %s", file->name);
  }
  onnxl_output_file_abort(file);
  return ok;
}

void
onnxl_output_file_abort(OnnxlOutputFile *file)
{
  if (file->temporary)
    unlink(file->temporary);
  clear(file);
}
