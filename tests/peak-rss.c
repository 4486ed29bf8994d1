/* Runs a command and prints its peak resident memory in KiB as the last line of standard error. In C, since a child
 * inherits the peak of the process that started it, and that of an interpreter hides what a small tool needs. At addresses
 * that are always the same, since the kernel maps neighbours of a page along with it, some hundred KiB more or less. */
#include <stdio.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
  if (argc < 2) {
    fprintf(stderr, "usage: peak-rss COMMAND [ARGUMENT]...\n");
    return 2;
  }
  pid_t child = fork();
  if (child == 0) {
    personality(ADDR_NO_RANDOMIZE);
    execvp(argv[1], argv + 1);
    perror(argv[1]);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) {
    perror("peak-rss");
    return 2;
  }
  fprintf(stderr, "%ld\n", usage.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
