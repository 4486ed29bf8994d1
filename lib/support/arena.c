#include "support/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <glib.h>

#include "support/output.h"
#include "support/size.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

/* The first chunk is small, because most tools look at small models and must start at once; later ones double. */
enum { ALIGNMENT = 16, FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 4 << 20 };

/* Of chunks from this size on all pages are asked for at once: a fault for each takes a third of the time of reading a
 * large model. (Huge pages would take fewer, but finding them on a busy machine takes longer than it saves.) */
enum { POPULATED_CHUNK = 1 << 20, PAGE = 4096 };

typedef struct Chunk {
  struct Chunk *next;
  size_t size; /* usable bytes at data */
  size_t used;
  size_t reserved;
  char data[];
} Chunk;

struct OnnxlArena {
  Chunk *chunks; /* the first one is the one being filled */
  size_t next_chunk;
  size_t budget;
  size_t used;
  char *last; /* the latest allocation of the first chunk, which may grow in place */
  bool exhausted;
};

OnnxlArena *
onnxl_arena_new(size_t budget)
{
  OnnxlArena *arena = g_new0(OnnxlArena, 1);
  arena->budget = budget;
  arena->next_chunk = FIRST_CHUNK;
  return arena;
}

void
onnxl_arena_free(OnnxlArena *arena)
{
  if (!arena)
    return;
  for (Chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
    next = chunk->next;
    ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
    free(chunk);
  }
  g_free(arena);
}

void
onnxl_arena_set_budget(OnnxlArena *arena, size_t budget)
{
  arena->budget = budget;
}

size_t
onnxl_arena_budget(const OnnxlArena *arena)
{
  return arena->budget;
}

size_t
onnxl_arena_used(const OnnxlArena *arena)
{
  return arena->used;
}

bool
onnxl_arena_exhausted(const OnnxlArena *arena)
{
  return arena->exhausted;
}

static void *
exhaust(OnnxlArena *arena)
{
  arena->exhausted = true;
  return NULL;
}

/* Takes size bytes, a multiple of ALIGNMENT, from the budget. */
static bool
charge(OnnxlArena *arena, size_t size)
{
  if (arena->used > arena->budget || size > arena->budget - arena->used)
    return false;
  arena->used += size;
  return true;
}

/* A hint: it may fail, and small models do not come here. */
static void
populate(char *start, size_t size)
{
#ifdef MADV_POPULATE_WRITE
  uintptr_t first = ((uintptr_t)start + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
  uintptr_t end = ((uintptr_t)start + size) & ~(uintptr_t)(PAGE - 1);
  (void)madvise((void *)first, end - first, MADV_POPULATE_WRITE);
#endif
}

/* calloc() gives big chunks as fresh zero pages. */
static Chunk *
chunk_new(size_t size)
{
  Chunk *chunk = size <= SIZE_MAX - sizeof(Chunk) ? calloc(1, sizeof(Chunk) + size) : NULL;
  if (chunk) {
    if (size >= POPULATED_CHUNK)
      populate(chunk->data, size);
    chunk->size = size;
    ASAN_POISON_MEMORY_REGION(chunk->data, size);
  }
  return chunk;
}

void *
onnxl_arena_alloc(OnnxlArena *arena, size_t size)
{
  size_t rounded;
  _Static_assert(sizeof(Chunk) % ALIGNMENT == 0, "data must be aligned");
  if (!onnxl_size_align(size > 0 ? size : 1, ALIGNMENT, &rounded) || !charge(arena, rounded))
    return exhaust(arena);
  Chunk *chunk = arena->chunks;
  if (!chunk || rounded > chunk->size - chunk->used) {
    bool own = rounded > arena->next_chunk / 4;
    chunk = chunk_new(own ? rounded : arena->next_chunk);
    if (!chunk)
      return exhaust(arena);
    if (own && arena->chunks) {
      /* A big block has a chunk of its own behind the current one, whose rest stays in use. */
      chunk->next = arena->chunks->next;
      arena->chunks->next = chunk;
      chunk->used = rounded;
      ASAN_UNPOISON_MEMORY_REGION(chunk->data, size);
      return chunk->data;
    }
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    if (!own && arena->next_chunk < LARGEST_CHUNK)
      arena->next_chunk *= 2;
  }
  char *block = chunk->data + chunk->used;
  chunk->used += rounded;
  arena->last = block;
  ASAN_UNPOISON_MEMORY_REGION(block, size);
  return block;
}

void *
onnxl_arena_array(OnnxlArena *arena, size_t count, size_t size)
{
  size_t bytes;
  return onnxl_size_mul(count, size, &bytes) ? onnxl_arena_alloc(arena, bytes) : exhaust(arena);
}

OnnxlStr
onnxl_arena_copy(OnnxlArena *arena, OnnxlStr text)
{
  if (!text.data)
    return (OnnxlStr){ NULL, 0 };
  char *copy = text.size < SIZE_MAX ? onnxl_arena_alloc(arena, text.size + 1) : exhaust(arena);
  if (!copy)
    return (OnnxlStr){ NULL, 0 };
  memcpy(copy, text.data, text.size);
  return (OnnxlStr){ copy, text.size };
}

OnnxlStr
onnxl_arena_uint64(OnnxlArena *arena, uint64_t value)
{
  char digits[ONNXL_DIGITS];
  size_t size = onnxl_print_uint64(digits, value);
  return onnxl_arena_copy(arena, onnxl_str_n(digits, size));
}

OnnxlStr
onnxl_arena_printf(OnnxlArena *arena, const char *format, ...)
{
  char small[256];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  char *text = length >= 0 ? onnxl_arena_alloc(arena, (size_t)length + 1) : exhaust(arena);
  if (!text)
    return (OnnxlStr){ NULL, 0 };
  if ((size_t)length < sizeof small) {
    memcpy(text, small, (size_t)length + 1);
  } else {
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
  }
  return (OnnxlStr){ text, (size_t)length };
}

bool
onnxl_arena_grow(OnnxlArena *arena, void **items, size_t count, size_t *capacity, size_t item_size)
{
  if (count < *capacity)
    return true;
  size_t wanted, old_bytes, new_bytes, old_rounded, new_rounded;
  if (!onnxl_size_mul(*capacity, 2, &wanted) || !onnxl_size_mul(*capacity, item_size, &old_bytes) ||
      !onnxl_size_mul(wanted = wanted > 0 ? wanted : 4, item_size, &new_bytes) ||
      !onnxl_size_align(new_bytes, ALIGNMENT, &new_rounded))
    return exhaust(arena) != NULL;
  old_rounded = (old_bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
  Chunk *chunk = arena->chunks;
  if (*items && old_bytes > 0 && *items == arena->last && new_rounded - old_rounded <= chunk->size - chunk->used &&
      charge(arena, new_rounded - old_rounded)) {
    chunk->used += new_rounded - old_rounded;
    ASAN_UNPOISON_MEMORY_REGION(*items, new_bytes);
    *capacity = wanted;
    return true;
  }
  void *grown = onnxl_arena_alloc(arena, new_bytes);
  if (!grown)
    return false;
  if (count > 0)
    memcpy(grown, *items, count * item_size);
  *items = grown;
  *capacity = wanted;
  return true;
}
