#include "support/output.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/error.h"
#include "unit.h"

static void
test_memory(void)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), ""));
  onnxl_output_int64(&out, INT64_MIN);
  onnxl_output_char(&out, ' ');
  onnxl_output_uint64(&out, UINT64_MAX);
  onnxl_output_int64(&out, 0);
  onnxl_output_printf(&out, "%s", "!");
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_output_memory(&out), "-9223372036854775808 184467440737095516150!"));
  onnxl_output_printf(&out, "%3000d", 1);
  onnxl_output_spaces(&out, 1000);
  CU_ASSERT_EQUAL(onnxl_output_position(&out), 43 + 3000 + 1000);
  CU_ASSERT_EQUAL(out.buffer[43 + 2999], '1');
  onnxl_output_clear(&out);
}

/* Small and large writes arrive in order. */
static void
test_descriptor(void)
{
  char name[] = "/tmp/onnxl-test-XXXXXX";
  int fd = mkstemp(name);
  OnnxlOutput out;
  GError *error = NULL;
  size_t failures = 0;
  CU_ASSERT_TRUE_FATAL(fd >= 0);
  unlink(name);
  char *large = malloc(200000);
  memset(large, 'x', 200000);
  onnxl_output_init(&out, fd);
  for (int i = 0; i < 20; i++) {
    onnxl_output_int64(&out, i % 10);
    onnxl_output_write(&out, large, (size_t)i * 10000);
  }
  uint64_t size = onnxl_output_position(&out);
  CU_ASSERT_TRUE(onnxl_output_flush(&out, "file", &error));
  CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), (off_t)size);
  off_t at = 0;
  for (int i = 0; i < 20; i++) {
    char c = 0;
    failures += pread(fd, &c, 1, at) != 1 || c != '0' + i % 10;
    at += 1 + i * 10000;
  }
  CU_ASSERT_EQUAL(failures, 0);
  onnxl_output_clear(&out);
  free(large);
  close(fd);
}

static void
test_failure_sticks(void)
{
  OnnxlOutput out;
  GError *error = NULL;
  int fd = open("/dev/full", O_WRONLY);
  CU_ASSERT_TRUE_FATAL(fd >= 0);
  onnxl_output_init(&out, fd);
  onnxl_output_text(&out, "x");
  CU_ASSERT_FALSE(onnxl_output_flush(&out, "the file", &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
  CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "the file"));
  g_clear_error(&error);
  CU_ASSERT_FALSE(onnxl_output_flush(&out, "the file", &error));
  g_clear_error(&error);
  onnxl_output_clear(&out);
  close(fd);
}

UNIT_MAIN("output",
  { "memory", test_memory },
  { "descriptor", test_descriptor },
  { "a failure sticks", test_failure_sticks })
