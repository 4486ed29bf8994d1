/* What every unit test shares: a table of test functions and a main() that runs it. */
#ifndef ONNXL_TESTS_UNIT_H
#define ONNXL_TESTS_UNIT_H

#include <stdio.h>
#include <stdlib.h>

#include <CUnit/Basic.h>

/* Runs a NULL-terminated table of tests as one suite. Returns the exit status: 1 when an assertion failed or nothing
 * ran. */
static inline int
unit_run(const char *suite_name, const CU_TestInfo *tests)
{
  CU_pSuite suite;
  if (CU_initialize_registry() != CUE_SUCCESS || !(suite = CU_add_suite(suite_name, NULL, NULL)))
    return EXIT_FAILURE;
  for (; tests->pName; tests++)
    if (!CU_add_test(suite, tests->pName, tests->pTestFunc))
      return EXIT_FAILURE;
  CU_basic_set_mode(CU_BRM_NORMAL);
  CU_ErrorCode result = CU_basic_run_tests();
  int failed = result != CUE_SUCCESS || CU_get_number_of_failures() > 0 || CU_get_number_of_tests_run() == 0;
  CU_cleanup_registry();
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* UNIT_MAIN("suite", { "name", function }, …) defines main(). */
#define UNIT_MAIN(suite, ...)                                              \
  int main(void)                                                           \
  {                                                                        \
    static const CU_TestInfo tests[] = { __VA_ARGS__, CU_TEST_INFO_NULL }; \
    return unit_run(suite, tests);                                         \
  }

#endif
