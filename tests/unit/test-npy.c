/* .npy files: what is written reads back, in every type; foreign orders and hostile headers. */
#include <CUnit/Basic.h>
#include <string.h>

#include "runtime/npy.h"
#include "support/error.h"

static OnnxlAllocator *allocator;

static OnnxlValue *
round_trip(const OnnxlValue *value)
{
  OnnxlOutput out;
  GError *error = NULL;
  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_npy_write(&out, value, &error));
  OnnxlStr bytes = onnxl_output_memory(&out);
  CU_ASSERT_EQUAL((uint8_t)bytes.data[8] + 10, 128); /* the data are aligned */
  OnnxlValue *copy = onnxl_npy_read(allocator, bytes, value->elem_type, "memory", &error);
  CU_ASSERT_PTR_NULL(error);
  onnxl_output_clear(&out);
  return copy;
}

static void
every_type_reads_back(void)
{
  const int64_t dims[] = { 4, 2 }; /* fills whole bytes also with elements of 2 bits */
  for (int32_t type = 1; type < ONNXL_N_TYPES; type++) {
    OnnxlValue *value = onnxl_value_new_tensor(allocator, type, 2, dims, "a test", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    if (type == ONNXL_TYPE_STRING)
      ((OnnxlStr *)value->data)[4] = ONNXL_STR("caf\xc3\xa9");
    else
      for (uint64_t i = 0; i < value->bytes; i++)
        ((uint8_t *)value->data)[i] = type == ONNXL_TYPE_BOOL ? i & 1 : (uint8_t)(17 * i);
    OnnxlValue *copy = round_trip(value);
    CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
    CU_ASSERT_EQUAL(copy->elem_type, type);
    CU_ASSERT_EQUAL(copy->rank, 2);
    CU_ASSERT_EQUAL(copy->dims[0], 4);
    if (type == ONNXL_TYPE_STRING) {
      CU_ASSERT_TRUE(onnxl_str_is(((OnnxlStr *)copy->data)[4], "caf\xc3\xa9"));
    } else {
      CU_ASSERT_EQUAL(memcmp(copy->data, value->data, value->bytes), 0);
    }
    onnxl_value_unref(value);
    onnxl_value_unref(copy);
  }
}

/* A file of version 1 with this dict and data. */
static OnnxlValue *
read_made(const char *dict, const void *data, size_t size, GError **error)
{
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_output_write(&out, "\x93NUMPY\x01\x00", 8);
  onnxl_output_char(&out, (char)strlen(dict));
  onnxl_output_char(&out, 0);
  onnxl_output_text(&out, dict);
  onnxl_output_write(&out, data, size);
  OnnxlValue *value = onnxl_npy_read(allocator, onnxl_output_memory(&out), ONNXL_TYPE_UNDEFINED, "made", error);
  onnxl_output_clear(&out);
  return value;
}

static void
foreign_orders(void)
{
  const uint8_t big[] = { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6 };
  OnnxlValue *value = read_made("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", big, sizeof big, NULL);
  const int16_t wanted[] = { 1, 3, 5, 2, 4, 6 };
  CU_ASSERT_PTR_NOT_NULL_FATAL(value);
  CU_ASSERT_EQUAL(memcmp(value->data, wanted, sizeof wanted), 0);
  onnxl_value_unref(value);
}

static void
hostile_headers(void)
{
  static const struct {
    const char *dict;
    int code;
  } cases[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", ONNXL_ERROR_INVALID },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", ONNXL_ERROR_INVALID },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (2", ONNXL_ERROR_INVALID },
    { "{'descr': '<f4', 'shape': (2,), }", ONNXL_ERROR_INVALID },
    { "{'descr': '<x4', 'fortran_order': False, 'shape': (2,), }", ONNXL_ERROR_UNSUPPORTED },
    { "{'descr': '<f99999999999999999999', 'fortran_order': False, 'shape': (2,), }", ONNXL_ERROR_INVALID },
    { "{'descr': '<U4611686018427387904', 'fortran_order': False, 'shape': (2,), }", ONNXL_ERROR_INVALID },
  };
  const float data[] = { 1, 2 };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    GError *error = NULL;
    CU_ASSERT_PTR_NULL(read_made(cases[i].dict, data, sizeof data, &error));
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, cases[i].code));
    g_clear_error(&error);
  }
}

static void
cut_files(void)
{
  OnnxlOutput out;
  const int64_t dims[] = { 2 };
  OnnxlValue *value = onnxl_value_new_tensor(allocator, ONNXL_TYPE_INT8, 1, dims, "a test", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(value);
  memset(value->data, 0, value->bytes);
  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_npy_write(&out, value, NULL));
  OnnxlStr bytes = onnxl_output_memory(&out);
  for (size_t size = 0; size < bytes.size; size++)
    CU_ASSERT_PTR_NULL(onnxl_npy_read(allocator, onnxl_str_n(bytes.data, size), 0, "cut", NULL));
  onnxl_output_clear(&out);
  onnxl_value_unref(value);
}

int
main(void)
{
  allocator = onnxl_allocator_new(1 << 20);
  CU_initialize_registry();
  CU_pSuite suite = CU_add_suite("npy", NULL, NULL);
  CU_add_test(suite, "every type reads back", every_type_reads_back);
  CU_add_test(suite, "foreign orders", foreign_orders);
  CU_add_test(suite, "hostile headers", hostile_headers);
  CU_add_test(suite, "cut files", cut_files);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  onnxl_allocator_free(allocator);
  return failed > 0;
}
