/* Plans and runs of small models: results, accounts of memory, failures, and that nothing stays behind. */
#include <CUnit/Basic.h>

#include "memory/profile.h"
#include "proto/text.h"
#include "runtime/executor.h"
#include "support/error.h"

typedef struct Fixture {
  OnnxlModel *model;
  OnnxlDiagSink *sink;
  OnnxlPlan *plan;
  OnnxlExecutor *executor;
  uint64_t peak; /* largest peak_bytes of events */
  uint32_t removed;
} Fixture;

static bool
watch(void *data, const OnnxlEvent *event, GError **error)
{
  Fixture *fixture = data;
  (void)error;
  fixture->peak = MAX(fixture->peak, event->peak_bytes);
  fixture->removed += event->action == ONNXL_EVENT_REMOVE;
  return true;
}

static bool
open_text(Fixture *fixture, const char *text, uint64_t max_memory, GError **error)
{
  *fixture = (Fixture){ .model = onnxl_model_new(1 << 24), .sink = onnxl_diag_sink_new("text") };
  OnnxlPlanOptions options = { .max_memory = max_memory, .max_metadata = 1 << 24 };
  if (!onnxl_text_read(onnxl_str(text), 200, fixture->model, fixture->sink, error) ||
      !(fixture->plan = onnxl_plan_new(fixture->model, &options, fixture->sink, error)))
    return false;
  fixture->executor = onnxl_executor_new(fixture->plan, &(OnnxlExecutorOptions){ 0 });
  onnxl_executor_listen(fixture->executor, watch, fixture, false);
  return true;
}

static void
close_text(Fixture *fixture)
{
  onnxl_executor_free(fixture->executor);
  onnxl_plan_free(fixture->plan);
  onnxl_diag_sink_free(fixture->sink);
  onnxl_model_free(fixture->model);
}

static OnnxlValue *
floats(Fixture *fixture, int64_t n, const float *values)
{
  OnnxlValue *value = onnxl_value_new_tensor(fixture->plan->allocator, ONNXL_TYPE_FLOAT, 1, &n, "a test", NULL);
  for (int64_t i = 0; value && i < n; i++)
    ((float *)value->data)[i] = values[i];
  return value;
}

static const char chain[] =
  "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N] x) => (float[N] y) <float two = {2.0}>"
  "{ a = Mul (x, two) b = Neg (a) y = Add (b, x) }";

static void
runs_and_releases(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(open_text(&fixture, chain, 1 << 20, &error));
  OnnxlValue *x = floats(&fixture, 2, (float[]){ 1, -3 }), *y = NULL;
  uint64_t live = fixture.plan->allocator->live;
  for (int run = 0; run < 2; run++) {
    CU_ASSERT_TRUE(onnxl_executor_run(fixture.executor, &x, &y, &error));
    CU_ASSERT_EQUAL(((float *)y->data)[0], -1);
    CU_ASSERT_EQUAL(((float *)y->data)[1], 3);
    onnxl_value_unref(y);
    /* The constant, and two intermediates at one time; the output is the caller's. */
    CU_ASSERT_EQUAL(onnxl_executor_peak(fixture.executor), 4 + 8 + 8);
    CU_ASSERT_EQUAL(fixture.plan->allocator->live, live);
  }
  CU_ASSERT_EQUAL(fixture.removed, 4);
  onnxl_value_unref(x);
  close_text(&fixture);
}

static void
refuses_inputs(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(open_text(&fixture,
                                 "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N] x, float[N] z) => (float[N] y)"
                                 "{ y = Add (x, z) }",
                                 1 << 20, &error));
  OnnxlValue *inputs[] = { floats(&fixture, 2, (float[]){ 1, 2 }), floats(&fixture, 1, (float[]){ 1 }) }, *y;
  CU_ASSERT_FALSE(onnxl_executor_run(fixture.executor, inputs, &y, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "the symbol N is 2 in the input x and 1"));
  g_clear_error(&error);
  onnxl_value_unref(inputs[1]);
  inputs[1] = NULL;
  CU_ASSERT_FALSE(onnxl_executor_run(fixture.executor, inputs, &y, &error));
  CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "the input z has no value"));
  g_clear_error(&error);
  onnxl_value_unref(inputs[0]);
  close_text(&fixture);
}

/* Fails in the middle of a loop in a branch: everything is given back. */
static void
failure_gives_back(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(
    open_text(&fixture,
              "<ir_version: 8, opset_import: [\"\" : 13]> g (float[N] x) => (float[] y)"
              "<bool t = {1}, int64 n = {5}, int64[1] bad = {7}>"
              "{ y = If (t) <then_branch = a () => (r) { r = Loop (n, t, x) <body = b (i, c, v) => (d, w) {"
              " d = Identity (c) u = Neg (v) w = Reshape (u, bad) }> }, else_branch = e () => (q) { q = Abs (x) }> }",
              1 << 20, &error));
  OnnxlValue *x = floats(&fixture, 2, (float[]){ 1, 2 }), *y = NULL;
  uint64_t live = fixture.plan->allocator->live;
  CU_ASSERT_FALSE(onnxl_executor_run(fixture.executor, &x, &y, &error));
  CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "cannot be reshaped to [7]"));
  CU_ASSERT_PTR_NOT_NULL(onnxl_executor_failed_path(fixture.executor));
  CU_ASSERT_EQUAL(fixture.plan->allocator->live, live);
  g_clear_error(&error);
  onnxl_value_unref(x);
  close_text(&fixture);
}

static void
limits_hold(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(open_text(&fixture,
                                 "<ir_version: 8, opset_import: [\"\" : 13]> g (float[1] x) => (float[] y)"
                                 "<int64[1] many = {1000000}> { y = Expand (x, many) }",
                                 1000, &error));
  OnnxlValue *x = floats(&fixture, 1, (float[]){ 1 }), *y = NULL;
  CU_ASSERT_FALSE(onnxl_executor_run(fixture.executor, &x, &y, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  CU_ASSERT_TRUE(fixture.plan->allocator->peak <= 1000);
  g_clear_error(&error);
  onnxl_value_unref(x);
  close_text(&fixture);
}

static void
unknown_operators(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_FALSE(open_text(&fixture,
                            "<ir_version: 8, opset_import: [\"\" : 13, \"d\" : 1]> g (float[1] x) => (float[1] y)"
                            "{ [n] y = d.Odd (x) }",
                            1000, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_UNSUPPORTED));
  CU_ASSERT_PTR_NOT_NULL(strstr(error->message, "/n (Odd)"));
  g_clear_error(&error);
  close_text(&fixture);
}

/* Buffers are written over for real: the tracked allocator never holds more than the plan says. */
static void
obeys_a_plan_of_memory(void)
{
  Fixture fixture;
  GError *error = NULL;
  CU_ASSERT_TRUE_FATAL(open_text(&fixture, chain, 1 << 20, &error));
  OnnxlInference *inference =
    onnxl_infer(fixture.model, &(OnnxlInferOptions){ 0 }, fixture.model->arena, fixture.sink, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(inference);
  const OnnxlMemory *memory =
    onnxl_memory_new(inference, &(OnnxlMemoryOptions){ .inplace = ONNXL_INPLACE_SAFE }, fixture.model->arena, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
  OnnxlExecutor *executor = onnxl_executor_new(fixture.plan, &(OnnxlExecutorOptions){ .memory = memory });
  enum { N = 1000 };
  float values[N];
  for (int i = 0; i < N; i++)
    values[i] = (float)i;
  OnnxlValue *x = floats(&fixture, N, values), *y = NULL;
  uint64_t before = fixture.plan->allocator->live;
  fixture.plan->allocator->peak = before;
  CU_ASSERT_TRUE_FATAL(onnxl_executor_run(executor, &x, &y, &error));
  for (int i = 0; i < N; i++)
    CU_ASSERT_EQUAL(((float *)y->data)[i], -(float)i);
  CU_ASSERT_EQUAL(onnxl_executor_peak(executor),
                  4 + 2 * sizeof values); /* the constant, x, and one buffer for the rest */
  CU_ASSERT_EQUAL(fixture.plan->allocator->peak, before + sizeof values);
  CU_ASSERT_EQUAL(((float *)x->data)[3], 3);
  onnxl_value_unref(y);
  onnxl_value_unref(x);
  onnxl_executor_free(executor);
  onnxl_inference_free(inference);
  close_text(&fixture);
}

int
main(void)
{
  CU_initialize_registry();
  CU_pSuite suite = CU_add_suite("executor", NULL, NULL);
  CU_add_test(suite, "runs and releases", runs_and_releases);
  CU_add_test(suite, "refuses inputs", refuses_inputs);
  CU_add_test(suite, "obeys a plan of memory", obeys_a_plan_of_memory);
  CU_add_test(suite, "failure gives back", failure_gives_back);
  CU_add_test(suite, "limits hold", limits_hold);
  CU_add_test(suite, "unknown operators", unknown_operators);
  CU_basic_run_tests();
  unsigned failed = CU_get_number_of_failures();
  CU_cleanup_registry();
  return failed > 0;
}
