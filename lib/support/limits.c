#include "support/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DEFAULT_MAX_DEPTH = 200 };

OnnxlLimits
onnxl_limits_default(void)
{
  return (OnnxlLimits){ .max_memory = onnxl_limits_memory(), .max_depth = DEFAULT_MAX_DEPTH };
}

/* Reads a small pseudo file whole. */
static bool
slurp(const char *path, char *buffer, size_t size)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  size_t used = 0;
  ssize_t n;
  while (used < size - 1 && ((n = read(fd, buffer + used, size - 1 - used)) > 0 || (n < 0 && errno == EINTR)))
    used += n > 0 ? (size_t)n : 0;
  close(fd);
  buffer[used] = '\0';
  return true;
}

/* The number at the start of text; text such as "max" is no limit. */
static uint64_t
leading_number(const char *text)
{
  uint64_t value = UINT64_MAX;
  size_t digits = strspn(text, "0123456789");
  (void)onnxl_str_to_uint64(onnxl_str_n(text, digits), UINT64_MAX, &value);
  return value;
}

/* A cgroup limits all its descendants: the smallest value from path, a folder below root, up to root. path is cut. */
static uint64_t
cgroup_limit(const char *root, char *path, const char *file)
{
  uint64_t smallest = UINT64_MAX;
  for (;;) {
    char name[4352], value[64];
    if (g_snprintf(name, sizeof name, "%s%s/%s", root, path, file) < (int)sizeof name &&
        slurp(name, value, sizeof value))
      smallest = MIN(smallest, leading_number(value));
    char *slash = strrchr(path, '/');
    if (!slash)
      return smallest;
    *slash = '\0';
  }
}

static uint64_t
cgroup_memory(void)
{
  char groups[4096];
  uint64_t smallest = UINT64_MAX;
  if (!slurp("/proc/self/cgroup", groups, sizeof groups))
    return smallest;
  /* Lines "ID:CONTROLLERS:PATH"; version 2 is "0::PATH", version 1 names the controller. */
  for (char *line = groups, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next)
      *next++ = '\0';
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
      continue;
    *path++ = '\0';
    controllers++;
    uint64_t limit = UINT64_MAX;
    if (*controllers == '\0')
      limit = cgroup_limit("/sys/fs/cgroup", path, "memory.max");
    else if (strcmp(controllers, "memory") == 0)
      limit = cgroup_limit("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    smallest = MIN(smallest, limit);
  }
  return smallest;
}

uint64_t
onnxl_limits_memory(void)
{
  uint64_t smallest = cgroup_memory();
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    smallest = MIN(smallest, (uint64_t)limit.rlim_cur);
  char meminfo[4096];
  if (slurp("/proc/meminfo", meminfo, sizeof meminfo)) {
    const char *available = strstr(meminfo, "MemAvailable:");
    if (available) {
      available += strlen("MemAvailable:");
      uint64_t kib = leading_number(available + strspn(available, " \t"));
      if (kib <= UINT64_MAX / 1024)
        smallest = MIN(smallest, kib * 1024 / 4 * 3);
    }
  }
  return smallest;
}

uint64_t
onnxl_limits_metadata(const OnnxlLimits *limits, uint64_t input_bytes)
{
  if (limits->max_metadata > 0)
    return limits->max_metadata;
  uint64_t scaled;
  if (__builtin_mul_overflow(input_bytes, ONNXL_METADATA_FACTOR, &scaled))
    scaled = UINT64_MAX;
  return MAX(ONNXL_METADATA_MIN, scaled);
}

bool
onnxl_parse_size(const char *text, uint64_t *ret_size)
{
  size_t digits = strspn(text, "0123456789");
  unsigned shift = 0;
  switch (text[digits]) {
  case '\0':
    break;
  case 'k':
  case 'K':
    shift = 10;
    break;
  case 'm':
  case 'M':
    shift = 20;
    break;
  case 'g':
  case 'G':
    shift = 30;
    break;
  default:
    return false;
  }
  uint64_t value;
  if ((shift > 0 && text[digits + 1] != '\0') ||
      !onnxl_str_to_uint64(onnxl_str_n(text, digits), UINT64_MAX >> shift, &value))
    return false;
  *ret_size = value << shift;
  return true;
}
