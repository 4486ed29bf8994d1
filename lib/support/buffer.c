#include "support/buffer.h"

#include <stdlib.h>

#include "support/error.h"
#include "support/size.h"

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
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "%s needs %" G_GUINT64_FORMAT " bytes, which the system refuses", what, size);
  return buffer;
}

void
onnxl_buffer_free(void *buffer)
{
  free(buffer);
}
