/* onnxl-exec: runs a model. */
#include <stdio.h>

#include "cli/main.h"
#include "runtime/test-case.h"
#include "support/error.h"

static bool test;
static double rtol = 1e-3, absolute = 1e-7;

static const OnnxlOption options[] = {
  ONNXL_FLAG(0, "test", &test, "run the test cases in the folders that are named"),
  ONNXL_NUMBER(0, "rtol", "R", &rtol, "relative tolerance of --test"),
  ONNXL_NUMBER(0, "atol", "A", &absolute, "absolute tolerance of --test"),
  ONNXL_OPTIONS_END
};

static bool
run(OnnxlRun *run_, GError **error)
{
  OnnxlTestOptions topt = { .tolerance = { rtol, absolute }, .limits = run_->common.limits };
  int n[3] = { 0 };
  for (size_t i = 0; i < run_->operands.count; i++) {
    char *message;
    OnnxlTestResult r = onnxl_test_run(run_->operands.items[i], &topt, &message);
    n[r]++;
    printf("%s %s%s%s\n", r == 0 ? "PASS" : r == 1 ? "FAIL" : "UNSUPPORTED", run_->operands.items[i], message ? ": " : "", message ? message : "");
    g_free(message);
  }
  printf("%d passed, %d failed, %d skipped\n", n[0], n[1], n[2]);
  run_->differs = n[1] > 0;
  return true;
}

static const OnnxlTool tool = {
  .name = "onnxl-exec", .usage = "[options] [MODEL]", .summary = "Runs a model.", .examples = "", .options = options,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_FORMAT, .max_operands = SIZE_MAX, .run = run,
};
ONNXL_MAIN(tool)
