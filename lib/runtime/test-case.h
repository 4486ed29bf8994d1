/* Runs test cases in the layout of ONNX's backend tests: a folder with model.onnx and folders test_data_set_* of inputs
 * and expected outputs. */
#ifndef ONNXL_RUNTIME_TEST_CASE_H
#define ONNXL_RUNTIME_TEST_CASE_H

#include "runtime/compare.h"
#include "runtime/plan.h"
#include "support/limits.h"

typedef enum OnnxlTestResult { ONNXL_TEST_PASS, ONNXL_TEST_FAIL, ONNXL_TEST_UNSUPPORTED } OnnxlTestResult;

typedef struct OnnxlTestOptions {
  OnnxlTolerance tolerance; /* where the case's tolerance.json or data.json says nothing */
  OnnxlLimits limits;
  bool allow_symlinks;
} OnnxlTestOptions;

/* True when folder holds a model. */
bool onnxl_test_is_case(const char *folder);

/* Runs all data sets of a case. Where expected values are random (another seed gives other results), types and shapes
 * are compared; where floating point is recorded in another width than the model declares for an output, and the run
 * gives the declared one, the values are compared in that. *ret_message: why it did not pass, or which of these made it
 * pass, owned; else NULL. */
OnnxlTestResult onnxl_test_run(const char *folder, const OnnxlTestOptions *options, char **ret_message);

#endif
