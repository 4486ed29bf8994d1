#include "cli/temporary-internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { SLOTS = 1024 };

/* Names lie in blocks that stay where they are once they are made, since a handler may come at any moment. The first is
 * enough for all but models in very many files. What is not used of a block is never touched. */
typedef struct Block {
  struct {
    char name[PATH_MAX];
    _Atomic bool used;
  } slots[SLOTS];
  struct Block *_Atomic next;
} Block;

static Block first;
static int lowest; /* no slot below it is free */

char *
onnxl_temporary_name(const char *path)
{
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = (uint64_t)g_get_monotonic_time() ^ (uint64_t)getpid() << 32;
  char *folder = g_path_get_dirname(path);
  char *name = g_strdup_printf("%s/.onnxl-%016" G_GINT64_MODIFIER "x", folder, random);
  g_free(folder);
  return name;
}

static Block *
next_block(Block *block)
{
  Block *next = atomic_load(&block->next);
  if (!next && (next = calloc(1, sizeof *next)))
    atomic_store(&block->next, next);
  return next;
}

int
onnxl_temporary_remember(const char *name)
{
  int slot = 0;
  if (strlen(name) >= PATH_MAX)
    return -1;
  for (Block *block = &first; block; block = next_block(block)) {
    for (int i = MIN(MAX(lowest - slot, 0), SLOTS); i < SLOTS; i++) {
      if (!atomic_load(&block->slots[i].used)) {
        strcpy(block->slots[i].name, name);
        atomic_store(&block->slots[i].used, true);
        lowest = slot + i + 1;
        return slot + i;
      }
    }
    slot += SLOTS;
  }
  return -1;
}

void
onnxl_temporary_forget(int slot)
{
  Block *block = &first;
  if (slot < 0)
    return;
  for (int i = slot; i >= SLOTS; i -= SLOTS)
    block = atomic_load(&block->next);
  atomic_store(&block->slots[slot % SLOTS].used, false);
  lowest = MIN(lowest, slot);
}

/* opendir() allocates memory, which a handler may not. What is removed moves the rest, so it looks until nothing goes
 * away. */
static void
remove_entries(int fd)
{
  _Alignas(struct dirent64) char buffer[4096];
  bool removed = true;
  while (removed) {
    ssize_t n;
    removed = false;
    lseek(fd, 0, SEEK_SET);
    while ((n = getdents64(fd, buffer, sizeof buffer)) > 0)
      for (ssize_t at = 0; at < n;) {
        const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
          removed = unlinkat(fd, entry->d_name, 0) == 0 || removed;
        at += entry->d_reclen;
      }
  }
}

void
onnxl_temporary_remove(const char *name)
{
  if (unlink(name) == 0 || errno != EISDIR)
    return;
  int fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0) {
    remove_entries(fd);
    close(fd);
  }
  rmdir(name);
}

void
onnxl_temporary_remove_all(void)
{
  for (Block *block = &first; block; block = atomic_load(&block->next))
    for (int i = 0; i < SLOTS; i++)
      if (atomic_load(&block->slots[i].used))
        onnxl_temporary_remove(block->slots[i].name);
}
