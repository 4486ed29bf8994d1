/* Strided copies and merged loops against plain index arithmetic. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "runtime/loop.h"

/* Copies with one index computation an element. */
static void
plain_copy(int32_t *to, const int32_t *from, const int64_t *dims, uint32_t rank, const int64_t *strides)
{
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    count *= dims[i];
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, at = 0;
    for (uint32_t d = rank; d-- > 0; rest /= dims[d])
      at += rest % dims[d] * strides[d];
    to[i] = from[at];
  }
}

static void
random_strides(void)
{
  int32_t from[200], wanted[200], got[200];
  srand(7);
  for (int i = 0; i < 200; i++)
    from[i] = i;
  for (int turn = 0; turn < 500; turn++) {
    int64_t dims[4], strides[4];
    uint32_t rank = (uint32_t)rand() % 5;
    for (uint32_t i = 0; i < rank; i++) {
      dims[i] = rand() % 4;
      strides[i] = rand() % 13;
    }
    if (rank > 1 && turn % 2) /* axes that merge */
      strides[0] = strides[1] * dims[1];
    plain_copy(wanted, from, dims, rank, strides);
    memset(got, -1, sizeof got);
    onnxl_copy_strided(got, from, dims, rank, strides, sizeof(int32_t));
    int64_t count = 1;
    for (uint32_t i = 0; i < rank; i++)
      count *= dims[i];
    CU_ASSERT_EQUAL(memcmp(got, wanted, (size_t)count * sizeof *got), 0);
    CU_ASSERT_EQUAL(got[count], -1);
  }
}

static void
merges_axes(void)
{
  OnnxlLoop loop;
  const int64_t dims[] = { 2, 1, 3, 4 }, dense[] = { 12, 12, 4, 1 }, row[] = { 0, 0, 0, 1 };
  onnxl_loop_init(&loop, dims, 4);
  onnxl_loop_add_strided(&loop, dense);
  onnxl_loop_finish(&loop);
  CU_ASSERT_EQUAL(loop.rank, 1);
  CU_ASSERT_EQUAL(onnxl_loop_row(&loop), 24);
  onnxl_loop_init(&loop, dims, 4);
  onnxl_loop_add_strided(&loop, dense);
  onnxl_loop_add_strided(&loop, row);
  onnxl_loop_finish(&loop);
  CU_ASSERT_EQUAL(loop.rank, 2);
  int rows = 0;
  for (bool more = onnxl_loop_start(&loop); more; more = onnxl_loop_next(&loop), rows++)
    CU_ASSERT_EQUAL(loop.offsets[0], 4 * rows);
  CU_ASSERT_EQUAL(rows, 6);
}

int
main(void)
{
  CU_initialize_registry();
  CU_pSuite suite = CU_add_suite("loop", NULL, NULL);
  CU_add_test(suite, "random strides", random_strides);
  CU_add_test(suite, "merges axes", merges_axes);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  return failed > 0;
}
