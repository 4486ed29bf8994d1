#include "support/size.h"

#include "support/buffer.h"
#include "support/error.h"
#include "support/limits.h"
#include "unit.h"

static void
test_checked(void)
{
  size_t r = 7;
  CU_ASSERT_FALSE(onnxl_size_add(SIZE_MAX, 1, &r));
  CU_ASSERT_FALSE(onnxl_size_mul(SIZE_MAX / 2, 3, &r));
  CU_ASSERT_FALSE(onnxl_size_align(SIZE_MAX - 3, 16, &r));
  CU_ASSERT_EQUAL(r, 7);
  CU_ASSERT_TRUE(onnxl_size_align(17, 16, &r));
  CU_ASSERT_EQUAL(r, 32);
}

static void
test_shape_count(void)
{
  int64_t count = -1;
  CU_ASSERT_TRUE(onnxl_shape_count(NULL, 0, &count));
  CU_ASSERT_EQUAL(count, 1);
  CU_ASSERT_TRUE(onnxl_shape_count((int64_t[]){ 2, 3, 4 }, 3, &count));
  CU_ASSERT_EQUAL(count, 24);
  CU_ASSERT_TRUE(onnxl_shape_count((int64_t[]){ INT64_MAX, INT64_MAX, 0 }, 3, &count));
  CU_ASSERT_EQUAL(count, 0);
  CU_ASSERT_FALSE(onnxl_shape_count((int64_t[]){ INT64_MAX, 2 }, 2, &count));
  CU_ASSERT_FALSE(onnxl_shape_count((int64_t[]){ 0, -1 }, 2, &count));
}

static void
test_parse_size(void)
{
  uint64_t size = 0;
  CU_ASSERT_TRUE(onnxl_parse_size("4096", &size));
  CU_ASSERT_EQUAL(size, 4096);
  CU_ASSERT_TRUE(onnxl_parse_size("4k", &size));
  CU_ASSERT_EQUAL(size, 4096);
  CU_ASSERT_TRUE(onnxl_parse_size("3G", &size));
  CU_ASSERT_EQUAL(size, UINT64_C(3) << 30);
  CU_ASSERT_TRUE(onnxl_parse_size("17179869183G", &size));
  static const char *const wrong[] = { "", "K", "4T", "4KB", "-1", "1.5G", "17179869184G", "18446744073709551616" };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CU_ASSERT_FALSE(onnxl_parse_size(wrong[i], &size));
}

static void
test_limits(void)
{
  OnnxlLimits limits = onnxl_limits_default();
  CU_ASSERT_EQUAL(limits.max_depth, 200);
  CU_ASSERT_TRUE(limits.max_memory > 0);
  CU_ASSERT_EQUAL(onnxl_limits_metadata(&limits, 1000), UINT64_C(256) << 20);
  CU_ASSERT_EQUAL(onnxl_limits_metadata(&limits, UINT64_C(1) << 30), UINT64_C(16) << 30);
  CU_ASSERT_EQUAL(onnxl_limits_metadata(&limits, UINT64_MAX), UINT64_MAX);
  limits.max_metadata = 5;
  CU_ASSERT_EQUAL(onnxl_limits_metadata(&limits, 1000), 5);
}

static void
test_buffer(void)
{
  GError *error = NULL;
  void *buffer = onnxl_buffer_new(1000, 1000, "tensor x", &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
  CU_ASSERT_EQUAL((uintptr_t)buffer % ONNXL_BUFFER_ALIGNMENT, 0);
  memset(buffer, 1, 1000);
  onnxl_buffer_free(buffer);
  buffer = onnxl_buffer_new(0, 0, "tensor x", &error);
  CU_ASSERT_PTR_NOT_NULL(buffer);
  onnxl_buffer_free(buffer);
  CU_ASSERT_PTR_NULL(onnxl_buffer_new(1001, 1000, "tensor x", &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  g_clear_error(&error);
  CU_ASSERT_PTR_NULL(onnxl_buffer_new(UINT64_MAX - 5, UINT64_MAX, "tensor x", &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  g_clear_error(&error);
}

UNIT_MAIN("size",
  { "checked arithmetic", test_checked },
  { "shape count", test_shape_count },
  { "sizes on the command line", test_parse_size },
  { "limits", test_limits },
  { "buffer", test_buffer })
