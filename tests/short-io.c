/* Loaded in front of the C library: reads, writes and copies that are interrupted, or do less than they were asked for,
 * as the system is free to do. SHORT_IO_SEED says in which order. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* A step of xorshift; small numbers are as good as any here. */
static unsigned
draw(void)
{
  static unsigned state;
  if (state == 0) {
    const char *seed = getenv("SHORT_IO_SEED");
    state = 2654435761u * (unsigned)(seed ? atoi(seed) + 1 : 1);
  }
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

/* Every fourth call is interrupted; the others get a part of size, at least one byte. Returns 0 for an interruption. */
static size_t
shorten(size_t size)
{
  if (size == 0)
    return 1;
  if (draw() % 4 == 0) {
    errno = EINTR;
    return 0;
  }
  return 1 + draw() % size;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t
pread64(int fd, void *buffer, size_t size, off64_t offset)
{
  REAL(pread64);
  size_t n = shorten(size);
  return n == 0 ? -1 : real(fd, buffer, n < size ? n : size, offset);
}

ssize_t
pwrite64(int fd, const void *buffer, size_t size, off64_t offset)
{
  REAL(pwrite64);
  size_t n = shorten(size);
  return n == 0 ? -1 : real(fd, buffer, n < size ? n : size, offset);
}

ssize_t
write(int fd, const void *buffer, size_t size)
{
  REAL(write);
  size_t n = shorten(size);
  return n == 0 ? -1 : real(fd, buffer, n < size ? n : size);
}

ssize_t
copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags)
{
  REAL(copy_file_range);
  size_t n = shorten(size);
  return n == 0 ? -1 : real(from, from_offset, to, to_offset, n < size ? n : size, flags);
}

ssize_t
splice(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t size, unsigned flags)
{
  REAL(splice);
  size_t n = shorten(size);
  return n == 0 ? -1 : real(from, from_offset, to, to_offset, n < size ? n : size, flags);
}
