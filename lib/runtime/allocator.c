#include "runtime/allocator.h"

#include "support/buffer.h"
#include "support/error.h"

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
  onnxl_arena_free(allocator->strings);
  g_free(allocator);
}

void *
onnxl_allocator_get(OnnxlAllocator *allocator, uint64_t size, const char *what, GError **error)
{
  void *buffer = onnxl_buffer_new(size, allocator->limit - allocator->live, what, error);
  if (!buffer)
    return NULL;
  allocator->live += size;
  allocator->peak = MAX(allocator->peak, allocator->live);
  return buffer;
}

void
onnxl_allocator_put(OnnxlAllocator *allocator, void *buffer, uint64_t size)
{
  if (!buffer)
    return;
  allocator->live -= size;
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
onnxl_allocator_reset_workspace(OnnxlAllocator *allocator)
{
  allocator->workspace_peak = allocator->workspace;
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
