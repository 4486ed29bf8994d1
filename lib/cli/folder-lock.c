#include "cli/folder-lock-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/error.h"

/* In milliseconds. */
enum { PAUSE = 10, NOTICE = 1000, LONGEST = 60000 };

/* Whether the open file behind a descriptor of this process has an exclusive lock of its own. */
static bool
holds_lock(const char *descriptor)
{
  g_autofree char *path = g_strconcat("/proc/self/fdinfo/", descriptor, NULL);
  FILE *file = fopen(path, "re");
  char line[256];
  bool locked = false;
  while (file && !locked && fgets(line, sizeof line, file))
    locked = g_str_has_prefix(line, "lock:") && strstr(line, " FLOCK ") && strstr(line, " WRITE ");
  if (file)
    fclose(file);
  return locked;
}

/* "flock FOLDER onnxl-align ..." and scripts like it hand their lock down as an open descriptor. */
static bool
is_inherited(int folder)
{
  struct stat wanted, status;
  GDir *descriptors = fstat(folder, &wanted) == 0 ? g_dir_open("/proc/self/fd", 0, NULL) : NULL;
  bool inherited = false;
  for (const char *name; descriptors && !inherited && (name = g_dir_read_name(descriptors));)
    inherited = fstat(atoi(name), &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino &&
                holds_lock(name);
  if (descriptors)
    g_dir_close(descriptors);
  return inherited;
}

static bool
is_taken(int folder)
{
  return flock(folder, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || errno == EINTR);
}

bool
onnxl_folder_lock(const char *path, OnnxlWaiting *waiting, void *data, int *ret_lock, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(path);
  int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool taken = fd >= 0 && is_taken(fd);
  *ret_lock = fd;
  if (taken && is_inherited(fd)) {
    close(fd);
    *ret_lock = -1;
    return true;
  }
  for (int waited = 0; taken && waited < LONGEST; waited += PAUSE) {
    if (waited == NOTICE && waiting)
      waiting(data, folder);
    g_usleep(PAUSE * 1000);
    taken = is_taken(fd);
  }
  if (!taken)
    return true;
  close(fd);
  *ret_lock = -1;
  return onnxl_fail(error, ONNXL_ERROR_IO, "cannot write %s: another process has locked the folder %s for a minute",
                    path, folder);
}
