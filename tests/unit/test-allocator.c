/* Buffers of a run: that none is handed out twice, and that what is kept stays within the peak. */
#include "runtime/allocator.h"
#include "support/error.h"
#include "unit.h"

enum { N_BUFFERS = 24, N_STEPS = 4000, MAX_BYTES = 1 << 20 };

typedef struct Buffer {
  uint8_t *data;
  uint64_t size;
  uint8_t mark;
} Buffer;

static bool
is_marked(const Buffer *buffer)
{
  /* The ends, and one byte a page: pages are what could be mixed up. */
  for (uint64_t i = 0; i < buffer->size; i += 4096)
    if (buffer->data[i] != buffer->mark)
      return false;
  return buffer->data[buffer->size - 1] == buffer->mark;
}

static void
buffers_stay_apart(void)
{
  OnnxlAllocator *allocator = onnxl_allocator_new(UINT64_MAX);
  Buffer buffers[N_BUFFERS] = { 0 };
  g_autoptr(GRand) random = g_rand_new_with_seed(20);
  uint64_t live = 0;
  for (int step = 0; step < N_STEPS; step++) {
    Buffer *buffer = &buffers[g_rand_int_range(random, 0, N_BUFFERS)];
    if (buffer->data) {
      CU_ASSERT_TRUE_FATAL(is_marked(buffer));
      onnxl_allocator_put(allocator, buffer->data, buffer->size);
      live -= buffer->size;
      *buffer = (Buffer){ 0 };
    } else {
      /* Few different sizes, as in a model, so that buffers are found again. */
      buffer->size = (uint64_t)g_rand_int_range(random, 1, 17) * (MAX_BYTES / 16) - (uint64_t)(step % 3);
      buffer->data = onnxl_allocator_get(allocator, buffer->size, "a buffer", NULL);
      CU_ASSERT_PTR_NOT_NULL_FATAL(buffer->data);
      buffer->mark = (uint8_t)step;
      memset(buffer->data, buffer->mark, buffer->size);
      live += buffer->size;
    }
    CU_ASSERT_EQUAL(allocator->live, live);
    CU_ASSERT_TRUE(allocator->used_bytes + allocator->kept_bytes <= allocator->used_peak);
  }
  for (int i = 0; i < N_BUFFERS; i++)
    onnxl_allocator_put(allocator, buffers[i].data, buffers[i].size);
  CU_ASSERT_EQUAL(allocator->live, 0);
  CU_ASSERT_EQUAL(allocator->used_bytes, 0);
  onnxl_allocator_trim(allocator);
  CU_ASSERT_EQUAL(allocator->kept_bytes, 0);
  onnxl_allocator_free(allocator);
}

static void
limits_hold(void)
{
  OnnxlAllocator *allocator = onnxl_allocator_new(MAX_BYTES);
  g_autoptr(GError) error = NULL;
  void *buffer = onnxl_allocator_get(allocator, MAX_BYTES, "a buffer", NULL);
  CU_ASSERT_PTR_NOT_NULL(buffer);
  CU_ASSERT_PTR_NULL(onnxl_allocator_get(allocator, 1, "another", &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  onnxl_allocator_put(allocator, buffer, MAX_BYTES);
  /* What is kept is not live: it is no reason to refuse anything. */
  buffer = onnxl_allocator_get_workspace(allocator, MAX_BYTES, "workspace", NULL);
  CU_ASSERT_PTR_NOT_NULL(buffer);
  CU_ASSERT_EQUAL(allocator->workspace_peak, MAX_BYTES);
  onnxl_allocator_put_workspace(allocator, buffer, MAX_BYTES);
  CU_ASSERT_EQUAL(allocator->peak, MAX_BYTES);
  g_clear_error(&error);
  CU_ASSERT_PTR_NULL(onnxl_allocator_get(allocator, UINT64_MAX, "all there is", &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  onnxl_allocator_free(allocator);
}

UNIT_MAIN("allocator", { "buffers stay apart", buffers_stay_apart }, { "limits hold", limits_hold })
