/* The blocked matrix product against the definition, bit for bit, with every remainder of rows and columns. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "runtime/gemm.h"

enum { LARGEST = 11 };

static void
equals_the_definition(void)
{
  float a[LARGEST * LARGEST], b[LARGEST * LARGEST], c[LARGEST * LARGEST], panel[LARGEST * ONNXL_GEMM_COLUMNS];
  srand(1);
  for (int i = 0; i < LARGEST * LARGEST; i++) {
    a[i] = (float)(rand() % 17 - 8);
    b[i] = (float)(rand() % 17 - 8);
  }
  for (int64_t m = 0; m <= LARGEST; m++)
    for (int64_t n = 0; n <= LARGEST; n++)
      for (int64_t k = 0; k <= LARGEST; k += 3)
        for (int transposed = 0; transposed < 2; transposed++) {
          OnnxlGemmMatrix right = { b, transposed ? 1 : n, transposed ? k : 1 };
          for (int i = 0; i < LARGEST * LARGEST; i++)
            c[i] = 1;
          onnxl_gemm_float(m, n, k, a, k, 1, onnxl_gemm_pack_4, &right, c, n, transposed, panel);
          for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
              float sum = 0;
              for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * right.row + j * right.column];
              CU_ASSERT_EQUAL(c[i * n + j], transposed ? 1 + sum : sum);
            }
          if (m * n < LARGEST * LARGEST)
            CU_ASSERT_EQUAL(c[m * n], 1);
        }
}

static void
integers_wrap(void)
{
  const uint32_t a[] = { 0x80000000u, 3 }, b[] = { 2, 0xffffffffu };
  uint32_t c, panel[2 * ONNXL_GEMM_COLUMNS];
  OnnxlGemmMatrix right = { b, 1, 1 };
  onnxl_gemm_uint32(1, 1, 2, a, 2, 1, onnxl_gemm_pack_4, &right, &c, 1, false, panel);
  CU_ASSERT_EQUAL((int32_t)c, -3);
}

int
main(void)
{
  CU_initialize_registry();
  CU_pSuite suite = CU_add_suite("gemm", NULL, NULL);
  CU_add_test(suite, "equals the definition", equals_the_definition);
  CU_add_test(suite, "integers wrap", integers_wrap);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  return failed > 0;
}
