/* Events of nested graphs and functions: places, what was inferred for their values, and that a run can be ended at any
 * of them. */
#include "memory/profile.h"
#include "proto/text.h"
#include "runtime/executor.h"
#include "support/error.h"
#include "unit.h"

static const char text[] =
  "<ir_version: 10, opset_import: [\"\" : 18, \"d\" : 1]>"
  "g (float[2] x, bool c) => (float[2] y, float[T,2] z) <int64 n = {2}, bool t = {1}> {"
  "  a = d.twice (x)"
  "  [loop] y, z = Loop (n, t, a) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] s2, float[2] q) {"
  "    k2 = Identity (k)"
  "    u = If (c) <then_branch = th () => (float[2] p) { p = d.twice (s) }, else_branch = el () => (float[2] r) { r = "
  "Neg (s) }>"
  "    s2 = Identity (u)"
  "    q = Neg (u)"
  "  }>"
  "}"
  "<domain: \"d\", opset_import: [\"\" : 18]> twice (x) => (y) { w = Add (x, x) y = Neg (w) }";

typedef struct Fixture {
  OnnxlModel *model;
  OnnxlDiagSink *sink;
  OnnxlPlan *plan;
  OnnxlInference *inference;
  OnnxlValue *inputs[2], *outputs[2];
  uint32_t n_events, stop_at;
  uint32_t n_nested, n_shapes;
  uint64_t last_serial;
  GString *places; /* of the nodes named Add, one a line */
} Fixture;

static void
open_fixture(Fixture *fixture)
{
  static const int64_t two = 2;
  GError *error = NULL;
  *fixture = (Fixture){ .model = onnxl_model_new(1 << 24), .sink = onnxl_diag_sink_new("text"), .stop_at = UINT32_MAX };
  fixture->places = g_string_new(NULL);
  OnnxlPlanOptions options = { .max_memory = 1 << 20, .max_metadata = 1 << 24 };
  CU_ASSERT_TRUE_FATAL(onnxl_text_read(onnxl_str(text), 200, fixture->model, fixture->sink, &error));
  fixture->plan = onnxl_plan_new(fixture->model, &options, fixture->sink, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->plan);
  fixture->inference =
    onnxl_infer(fixture->model, &(OnnxlInferOptions){ 0 }, fixture->model->arena, fixture->sink, &error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(fixture->inference);
  OnnxlAllocator *allocator = fixture->plan->allocator;
  fixture->inputs[0] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_FLOAT, 1, &two, "a test", NULL);
  fixture->inputs[1] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_BOOL, 0, NULL, "a test", NULL);
  ((float *)fixture->inputs[0]->data)[0] = 1;
  ((float *)fixture->inputs[0]->data)[1] = 2;
  *(uint8_t *)fixture->inputs[1]->data = 1;
}

static void
drop_outputs(Fixture *fixture)
{
  for (int i = 0; i < 2; i++)
    g_clear_pointer(&fixture->outputs[i], onnxl_value_unref);
}

static void
close_fixture(Fixture *fixture)
{
  drop_outputs(fixture);
  for (int i = 0; i < 2; i++)
    onnxl_value_unref(fixture->inputs[i]);
  g_string_free(fixture->places, TRUE);
  onnxl_inference_free(fixture->inference);
  onnxl_plan_free(fixture->plan);
  onnxl_diag_sink_free(fixture->sink);
  onnxl_model_free(fixture->model);
}

static void
look_at(Fixture *fixture, const OnnxlEvent *event)
{
  if (event->scope) {
    fixture->n_nested++;
    CU_ASSERT_TRUE(onnxl_event_scope_serial(event->scope) >= 1);
    fixture->last_serial = MAX(fixture->last_serial, onnxl_event_scope_serial(event->scope));
  } else {
    CU_ASSERT_STRING_EQUAL(onnxl_event_graph(event), "");
  }
  if (event->action == ONNXL_EVENT_RUN_NODE && onnxl_str_is(event->proto->op_type, "Add")) {
    g_autofree char *path = onnxl_event_node_path(event);
    g_string_append_printf(fixture->places, "%s %s\n", onnxl_event_graph(event), path);
  }
  if (event->action != ONNXL_EVENT_ADD)
    return;
  /* The inference of a call's body has the value of the event under its id. */
  const OnnxlInference *inference = onnxl_event_inference(event, fixture->inference);
  CU_ASSERT_PTR_NOT_NULL_FATAL(inference);
  CU_ASSERT_TRUE_FATAL(event->id < inference->index->n_values);
  CU_ASSERT_TRUE(onnxl_str_equal(inference->index->values[event->id].name, event->name));
  const OnnxlInfo *info = &inference->values[event->id];
  int64_t size;
  if (info->has_rank && info->rank == 1 && onnxl_expr_is_int(info->dims[0], &size)) {
    CU_ASSERT_EQUAL(size, event->value->dims[0]);
    fixture->n_shapes++;
  }
}

static bool
hear(void *data, const OnnxlEvent *event, GError **error)
{
  Fixture *fixture = data;
  look_at(fixture, event);
  return fixture->n_events++ != fixture->stop_at || onnxl_fail(error, ONNXL_ERROR_INVALID, "heard enough");
}

static OnnxlExecutor *
new_executor(Fixture *fixture, uint64_t max_steps, const volatile sig_atomic_t *interrupt)
{
  const OnnxlExecutorOptions options = { .max_steps = max_steps, .interrupt = interrupt };
  return onnxl_executor_new(fixture->plan, &options);
}

static void
nested_places(void)
{
  Fixture fixture;
  open_fixture(&fixture);
  OnnxlExecutor *executor = new_executor(&fixture, 0, NULL);
  onnxl_executor_listen(executor, hear, &fixture, true);
  CU_ASSERT_TRUE(onnxl_executor_run(executor, fixture.inputs, fixture.outputs, NULL));
  CU_ASSERT_STRING_EQUAL(
    fixture.places->str,
    "/#0 (twice)/twice /#0 (twice)/twice/#0 (Add)\n"
    "/loop/body/#1/then_branch/#0 (twice)/twice /loop/body[0]/#1/then_branch/#0 (twice)/twice/#0 (Add)\n"
    "/loop/body/#1/then_branch/#0 (twice)/twice /loop/body[1]/#1/then_branch/#0 (twice)/twice/#0 (Add)\n");
  /* The function, and in each of two trips the body, the branch and the function. */
  CU_ASSERT_EQUAL(fixture.last_serial, 1 + 2 * 3);
  CU_ASSERT_TRUE(fixture.n_shapes > 20);
  uint32_t n_events = fixture.n_events, n_nested = fixture.n_nested;
  drop_outputs(&fixture);
  fixture.n_events = fixture.n_nested = 0;
  onnxl_executor_listen(executor, hear, &fixture, false);
  CU_ASSERT_TRUE(onnxl_executor_run(executor, fixture.inputs, fixture.outputs, NULL));
  CU_ASSERT_EQUAL(fixture.n_nested, 0);
  CU_ASSERT_EQUAL(fixture.n_events, n_events - n_nested);
  onnxl_executor_free(executor);
  close_fixture(&fixture);
}

/* Whoever listens may end the run at any event: its error comes back, and nothing stays behind. */
static void
stops_anywhere(void)
{
  Fixture fixture;
  open_fixture(&fixture);
  OnnxlExecutor *executor = new_executor(&fixture, 0, NULL);
  onnxl_executor_listen(executor, hear, &fixture, true);
  uint64_t live = fixture.plan->allocator->live;
  bool ran = false;
  uint32_t stops = 0;
  for (; !ran && stops < 1000; stops++) {
    GError *error = NULL;
    fixture.n_events = 0;
    fixture.stop_at = stops;
    ran = onnxl_executor_run(executor, fixture.inputs, fixture.outputs, &error);
    if (!ran)
      CU_ASSERT_STRING_EQUAL(error->message, "heard enough");
    g_clear_error(&error);
    drop_outputs(&fixture);
    CU_ASSERT_EQUAL(fixture.plan->allocator->live, live);
  }
  CU_ASSERT_TRUE(ran && stops > 60);
  onnxl_executor_free(executor);
  close_fixture(&fixture);
}

/* So may the number of steps, and a flag. */
static void
counts_steps(void)
{
  /* Three calls with two nodes each; two trips with four nodes, a branch and its one node; two nodes of the main graph.
   */
  enum { STEPS = 3 * (1 + 2) + 2 * (1 + 4 + 1 + 1) + 2 };
  static volatile sig_atomic_t interrupt;
  Fixture fixture;
  open_fixture(&fixture);
  uint64_t live = fixture.plan->allocator->live;
  for (uint64_t steps = 1; steps <= STEPS; steps++) {
    OnnxlExecutor *executor = new_executor(&fixture, steps, NULL);
    GError *error = NULL;
    bool ran = onnxl_executor_run(executor, fixture.inputs, fixture.outputs, &error);
    CU_ASSERT_EQUAL(ran, steps == STEPS);
    CU_ASSERT_TRUE(ran || g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
    g_clear_error(&error);
    drop_outputs(&fixture);
    CU_ASSERT_EQUAL(fixture.plan->allocator->live, live);
    onnxl_executor_free(executor);
  }
  OnnxlExecutor *executor = new_executor(&fixture, 0, &interrupt);
  GError *error = NULL;
  interrupt = 1;
  CU_ASSERT_FALSE(onnxl_executor_run(executor, fixture.inputs, fixture.outputs, &error));
  CU_ASSERT_STRING_EQUAL(error->message, "interrupted before /#0 (twice), after 0 steps");
  g_clear_error(&error);
  interrupt = 0;
  CU_ASSERT_TRUE(onnxl_executor_run(executor, fixture.inputs, fixture.outputs, NULL));
  onnxl_executor_free(executor);
  close_fixture(&fixture);
}

UNIT_MAIN("event", { "nested places", nested_places }, { "stops anywhere", stops_anywhere },
          { "counts steps", counts_steps })
