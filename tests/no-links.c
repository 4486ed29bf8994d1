/* Loaded in front of the C library: a file system without files that have no name, without hard links and without the
 * exchange of two files, such as FAT. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

int
open64(const char *path, int flags, ...)
{
  __typeof__(&open64) real = (__typeof__(&open64))dlsym(RTLD_NEXT, "open64");
  va_list args;

  va_start(args, flags);
  mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
  va_end(args);
  if ((flags & O_TMPFILE) != O_TMPFILE)
    return real(path, flags, mode);
  errno = EOPNOTSUPP;
  return -1;
}

int
link(const char *from, const char *to)
{
  (void)from;
  (void)to;
  errno = EPERM;
  return -1;
}

int
linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
  (void)from_folder;
  (void)to_folder;
  (void)flags;
  return link(from, to);
}

int
renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
  if (flags == 0)
    return renameat(from_folder, from, to_folder, to);
  errno = EINVAL;
  return -1;
}
