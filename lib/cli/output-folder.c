#include "cli/output-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output-file-internal.h"
#include "cli/temporary-internal.h"
#include "support/error.h"

static void
clear(OnnxlOutputFolder *folder)
{
  onnxl_temporary_forget(folder->slot);
  g_free(folder->path);
  g_free(folder->temporary);
  *folder = (OnnxlOutputFolder){ .slot = -1 };
}

bool
onnxl_output_folder_open(OnnxlOutputFolder *folder, const char *path, GError **error)
{
  *folder = (OnnxlOutputFolder){ .path = g_strdup(path), .slot = -1 };
  int saved_errno = EEXIST;
  for (int attempt = 0; saved_errno == EEXIST && attempt < 16; attempt++) {
    g_free(folder->temporary);
    folder->temporary = onnxl_temporary_name(path);
    folder->slot = onnxl_temporary_remember(folder->temporary);
    if (mkdir(folder->temporary, 0777) == 0)
      return true;
    saved_errno = errno;
    onnxl_temporary_forget(folder->slot);
    folder->slot = -1;
  }
  onnxl_error_errno(error, saved_errno, "cannot make the folder %s", path);
  clear(folder);
  return false;
}

/* Calls fsync() for every file of the folder and for the folder. */
static bool
sync_files(const char *path, GError **error)
{
  DIR *dir = opendir(path);
  int saved_errno = dir ? 0 : errno;
  for (const struct dirent *entry; dir && saved_errno == 0 && (entry = readdir(dir));) {
    if (entry->d_name[0] == '.')
      continue;
    int fd = openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
      saved_errno = errno;
    if (fd >= 0)
      close(fd);
  }
  /* Some file systems cannot sync a folder. */
  if (dir && saved_errno == 0 && fsync(dirfd(dir)) < 0 && errno != EINVAL && errno != EROFS)
    saved_errno = errno;
  if (dir)
    closedir(dir);
  return saved_errno == 0 || onnxl_error_errno(error, saved_errno, "cannot sync the folder %s", path);
}

static bool
is_file(int dir, const char *name)
{
  struct stat status;
  return fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

/* A folder is replaced only by one that has all of its files: what somebody else put there would be lost. */
static bool
check_replaced(const OnnxlOutputFolder *folder, GError **error)
{
  DIR *old = opendir(folder->path), *new = old ? opendir(folder->temporary) : NULL;
  bool good = new || onnxl_error_errno(error, errno, "cannot replace the folder %s", folder->path);
  for (const struct dirent *entry; good && (entry = readdir(old));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
        !(is_file(dirfd(old), entry->d_name) && is_file(dirfd(new), entry->d_name)))
      good =
        onnxl_fail(error, ONNXL_ERROR_USAGE, "the folder %s is not replaced, as it holds %s, which is not written anew",
                   folder->path, entry->d_name);
  if (old)
    closedir(old);
  if (new)
    closedir(new);
  return good;
}

/* The folder that stood there gets the temporary name, or another one where names cannot be exchanged. */
static bool
replace(OnnxlOutputFolder *folder, GError **error)
{
  if (!check_replaced(folder, error))
    return false;
  if (renameat2(AT_FDCWD, folder->temporary, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0)
    return true;
  g_autofree char *aside = onnxl_temporary_name(folder->path);
  if (rename(folder->path, aside) < 0)
    return onnxl_error_errno(error, errno, "cannot replace the folder %s", folder->path);
  if (rename(folder->temporary, folder->path) < 0) {
    int saved_errno = errno;
    (void)rename(aside, folder->path); /* the old one back */
    return onnxl_error_errno(error, saved_errno, "cannot replace the folder %s", folder->path);
  }
  onnxl_temporary_remove(aside);
  return true;
}

bool
onnxl_output_folder_commit(OnnxlOutputFolder *folder, GError **error)
{
  bool good = sync_files(folder->temporary, error);
  if (good && rename(folder->temporary, folder->path) < 0)
    good = errno == ENOTEMPTY || errno == EEXIST
             ? replace(folder, error)
             : onnxl_error_errno(error, errno, "cannot make the folder %s", folder->path);
  good = good && onnxl_output_sync_folder(folder->path, error);
  onnxl_output_folder_abort(folder);
  return good;
}

void
onnxl_output_folder_abort(OnnxlOutputFolder *folder)
{
  /* After a commit this is the folder that was replaced, or nothing. */
  if (folder->temporary)
    onnxl_temporary_remove(folder->temporary);
  clear(folder);
}
