#include "runtime/allocator.h"

#include "support/buffer.h"
#include "support/error.h"

enum { PAGE = 4096, LARGE = 128 << 10 };

/* The address sanitizer sees the bounds of what malloc() gave, and no others. */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { USES_PAGES = false };
#else
enum { USES_PAGES = true };
#endif

OnnxlAllocator *
onnxl_allocator_new(uint64_t limit)
{
  OnnxlAllocator *allocator = g_new0(OnnxlAllocator, 1);
  allocator->limit = limit;
  allocator->strings = onnxl_arena_new(limit > SIZE_MAX ? SIZE_MAX : (size_t)limit);
  return allocator;
}

void
onnxl_allocator_free(OnnxlAllocator *allocator)
{
  if (!allocator)
    return;
  onnxl_allocator_trim(allocator);
  onnxl_arena_free(allocator->strings);
  g_free(allocator);
}

/* --- large buffers --- */

static bool
is_large(uint64_t size)
{
  return USES_PAGES && size >= LARGE && size <= PTRDIFF_MAX - PAGE;
}

static uint64_t
page_bytes(uint64_t size)
{
  return (size + PAGE - 1) / PAGE * PAGE;
}

static OnnxlKeptBuffer
take_kept(OnnxlAllocator *allocator, uint32_t i)
{
  OnnxlKeptBuffer taken = allocator->kept[i];
  allocator->n_kept--;
  allocator->kept_bytes -= taken.size;
  memmove(&allocator->kept[i], &allocator->kept[i + 1], (allocator->n_kept - i) * sizeof taken);
  return taken;
}

static void
drop_oldest(OnnxlAllocator *allocator)
{
  OnnxlKeptBuffer oldest = take_kept(allocator, 0);
  onnxl_buffer_unmap(oldest.pages, oldest.size);
}

void
onnxl_allocator_trim(OnnxlAllocator *allocator)
{
  while (allocator->n_kept > 0)
    drop_oldest(allocator);
}

/* The smallest that suffices, else the largest: what it lacks or has too much is mapped or unmapped. */
static OnnxlKeptBuffer
best_kept(OnnxlAllocator *allocator, uint64_t size)
{
  uint32_t best = 0;
  if (allocator->n_kept == 0)
    return (OnnxlKeptBuffer){ NULL, 0 };
  for (uint32_t i = 1; i < allocator->n_kept; i++) {
    uint64_t a = allocator->kept[best].size, b = allocator->kept[i].size;
    if (a < size ? b > a : b >= size && b < a)
      best = i;
  }
  return take_kept(allocator, best);
}

static void *
get_large(OnnxlAllocator *allocator, uint64_t size, const char *what, GError **error)
{
  OnnxlKeptBuffer kept = best_kept(allocator, page_bytes(size));
  uint64_t used = allocator->used_bytes + page_bytes(size), peak = MAX(allocator->used_peak, used);
  /* Room first, so that not even for a moment more is held than the peak. */
  while (allocator->n_kept > 0 && used + allocator->kept_bytes > peak)
    drop_oldest(allocator);
  void *buffer = onnxl_buffer_map(kept.pages, kept.size, page_bytes(size), what, error);
  if (!buffer)
    return NULL;
  allocator->used_bytes = used;
  allocator->used_peak = peak;
  return buffer;
}

static void
put_large(OnnxlAllocator *allocator, void *buffer, uint64_t size)
{
  if (allocator->n_kept == G_N_ELEMENTS(allocator->kept))
    drop_oldest(allocator);
  allocator->kept[allocator->n_kept++] = (OnnxlKeptBuffer){ buffer, page_bytes(size) };
  allocator->kept_bytes += page_bytes(size);
  allocator->used_bytes -= page_bytes(size);
}

/* --- buffers --- */

void *
onnxl_allocator_get(OnnxlAllocator *allocator, uint64_t size, const char *what, GError **error)
{
  uint64_t left = allocator->limit - allocator->live;
  void *buffer = is_large(size) && size <= left ? get_large(allocator, size, what, error)
                                                : onnxl_buffer_new(size, left, what, error);
  if (!buffer) {
    allocator->refused = true;
    return NULL;
  }
  allocator->live += size;
  allocator->peak = MAX(allocator->peak, allocator->live);
  allocator->recent_peak = MAX(allocator->recent_peak, allocator->live);
  return buffer;
}

void
onnxl_allocator_put(OnnxlAllocator *allocator, void *buffer, uint64_t size)
{
  if (!buffer)
    return;
  allocator->live -= size;
  if (is_large(size))
    put_large(allocator, buffer, size);
  else
    onnxl_buffer_free(buffer);
}

void *
onnxl_allocator_get_workspace(OnnxlAllocator *allocator, uint64_t size, const char *what, GError **error)
{
  void *buffer = onnxl_allocator_get(allocator, size, what, error);
  if (!buffer)
    return NULL;
  allocator->workspace += size;
  allocator->workspace_peak = MAX(allocator->workspace_peak, allocator->workspace);
  return buffer;
}

void
onnxl_allocator_put_workspace(OnnxlAllocator *allocator, void *buffer, uint64_t size)
{
  if (!buffer)
    return;
  allocator->workspace -= size;
  onnxl_allocator_put(allocator, buffer, size);
}

void
onnxl_allocator_reset_peaks(OnnxlAllocator *allocator)
{
  allocator->workspace_peak = allocator->workspace;
  allocator->recent_peak = allocator->live;
}

bool
onnxl_allocator_text(OnnxlAllocator *allocator, OnnxlStr text, OnnxlStr *ret_copy, GError **error)
{
  if (text.size == 0) {
    *ret_copy = ONNXL_STR("");
    return true;
  }
  OnnxlStr copy = onnxl_arena_copy(allocator->strings, text);
  if (!copy.data)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT,
                      "texts of string tensors need more than the %" G_GUINT64_FORMAT
                      " bytes that are allowed (--max-memory)",
                      allocator->limit);
  *ret_copy = copy;
  return true;
}
