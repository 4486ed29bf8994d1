#include "support/buffer.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "support/error.h"
#include "support/size.h"

static void
fail_refused(uint64_t size, const char *what, GError **error)
{
  onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s needs %" G_GUINT64_FORMAT " bytes, which the system refuses", what, size);
}

void *
onnxl_buffer_new(uint64_t size, uint64_t limit, const char *what, GError **error)
{
  if (size > limit) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT,
               "%s needs %" G_GUINT64_FORMAT " bytes when %" G_GUINT64_FORMAT " are allowed (--max-memory)", what, size,
               limit);
    return NULL;
  }
  size_t rounded;
  void *buffer = NULL;
  if (size <= PTRDIFF_MAX && onnxl_size_align(size > 0 ? (size_t)size : 1, ONNXL_BUFFER_ALIGNMENT, &rounded))
    buffer = aligned_alloc(ONNXL_BUFFER_ALIGNMENT, rounded);
  if (!buffer)
    fail_refused(size, what, error);
  return buffer;
}

void
onnxl_buffer_free(void *buffer)
{
  free(buffer);
}

void *
onnxl_buffer_map(void *old, uint64_t old_size, uint64_t size, const char *what, GError **error)
{
  void *buffer = MAP_FAILED;
  bool fits = size > 0 && size <= PTRDIFF_MAX;
  if (fits && old)
    buffer = mremap(old, (size_t)old_size, (size_t)size, MREMAP_MAYMOVE);
  if (old && buffer == MAP_FAILED)
    onnxl_buffer_unmap(old, old_size);
  if (fits && buffer == MAP_FAILED)
    buffer = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer != MAP_FAILED)
    return buffer;
  fail_refused(size, what, error);
  return NULL;
}

void
onnxl_buffer_unmap(void *buffer, uint64_t size)
{
  munmap(buffer, (size_t)size);
}
