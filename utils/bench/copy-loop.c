/* copy-loop range|splice SOURCE DEST SKIP [reserve] [sync]: copies a file without its first SKIP bytes in a bare loop
 * of copy_file_range(), 4 MiB a call, or of splice() through a pipe of 1 MiB, into blocks that were reserved when that
 * is said: what the system can do without a program around it. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 4 << 20, PIPE = 1 << 20 };

static _Noreturn void
stop(const char *what)
{
  perror(what);
  exit(2);
}

static ssize_t
splice_some(int from, off_t *from_at, int to, const int pipe[2])
{
  ssize_t taken = splice(from, from_at, pipe[1], NULL, PIPE, SPLICE_F_MOVE);

  for (ssize_t left = taken, n; left > 0; left -= n)
    if ((n = splice(pipe[0], NULL, to, NULL, (size_t)left, SPLICE_F_MOVE)) <= 0)
      stop("splice");
  return taken;
}

static bool
is_said(char **argv, const char *word)
{
  for (; *argv; argv++)
    if (strcmp(*argv, word) == 0)
      return true;
  return false;
}

int
main(int argc, char **argv)
{
  int from, to, pipe[2];
  struct stat info;
  off_t at;
  ssize_t n;

  if (argc < 5 || (strcmp(argv[1], "range") != 0 && strcmp(argv[1], "splice") != 0)) {
    fprintf(stderr, "usage: copy-loop range|splice SOURCE DEST SKIP [reserve] [sync]\n");
    return 2;
  }
  at = atol(argv[4]);
  if ((from = open(argv[2], O_RDONLY)) < 0)
    stop(argv[2]);
  if ((to = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0)
    stop(argv[3]);
  /* A file that has its size from the start is written faster than one that grows. */
  if (fstat(from, &info) < 0 || ftruncate(to, info.st_size - at) < 0)
    stop("ftruncate");
  if (is_said(argv + 5, "reserve") && fallocate(to, 0, 0, info.st_size - at) < 0)
    stop("fallocate");
  if (pipe2(pipe, O_CLOEXEC) < 0 || fcntl(pipe[1], F_SETPIPE_SZ, PIPE) < 0)
    stop("pipe");
  do
    n = argv[1][0] == 'r' ? copy_file_range(from, &at, to, NULL, CHUNK, 0) : splice_some(from, &at, to, pipe);
  while (n > 0);
  if (n < 0)
    stop(argv[1]);
  if (is_said(argv + 5, "sync") && fsync(to) < 0)
    stop("fsync");
  return 0;
}
