/* Every operator on random inputs and attributes: an error that names the node, or results of the inferred types and
 * shapes; nothing crashes and nothing stays behind. ONNXL_RANDOM_RUNS: runs an operator (default 100), spread over its
 * versions; ONNXL_RANDOM_SEED: of the first run; ONNXL_RANDOM_OP: only this operator, each model being shown before it
 * runs; ONNXL_RANDOM_UNSEEN: list what is refused at run time when inference, which knows all shapes, finds no fault.
 */
#include "random-run.h"
#include "shapes/infer.h"
#include "support/error.h"

enum { MAX_MEMORY = 64 << 20, MAX_SHOWN = 20, MAX_SECONDS = 20 };

typedef struct Tally {
  unsigned runs, results, errors, failures;
} Tally;

static void G_GNUC_PRINTF(4, 5)
report(Tally *tally, const RandomNode *n, uint64_t seed, const char *format, ...)
{
  va_list args;
  if (tally->failures++ >= MAX_SHOWN)
    return;
  show_model(n, seed);
  fprintf(stderr, "%s-%d, seed %" G_GUINT64_FORMAT ": ", n->schema->name, n->schema->since, seed);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

/* Sizes of the symbols that random_declaration() makes. */
static bool
declared_size(void *data, OnnxlStr name, int64_t *ret_size)
{
  const RandomNode *n = data;
  unsigned i, axis;
  int end = 0;
  g_autofree char *text = g_strndup(name.data, name.size);
  if (sscanf(text, "s%u_%u%n", &i, &axis, &end) != 2 || text[end] != '\0' || i >= n->n_inputs ||
      axis >= n->inputs[i].tensors[0].dims.count)
    return false;
  *ret_size = n->inputs[i].tensors[0].dims.items[axis];
  return true;
}

static void
check_output(Tally *tally, RandomNode *n, uint64_t seed, const OnnxlInfo *info, const OnnxlValue *value, OnnxlStr name)
{
  g_autofree char *text = onnxl_value_describe(value);
  if (info->kind != ONNXL_KIND_UNKNOWN && info->kind != value->kind)
    report(tally, n, seed, "%.*s is %s when another kind of value was inferred", ONNXL_ARG(name), text);
  if (info->kind != ONNXL_KIND_TENSOR || value->kind != ONNXL_KIND_TENSOR)
    return;
  bool same =
    (info->elem_type == 0 || info->elem_type == value->elem_type) && (!info->has_rank || info->rank == value->rank);
  for (uint32_t i = 0; same && info->has_rank && i < info->rank; i++) {
    int64_t size;
    if (info->dims[i] && onnxl_expr_evaluate(info->dims[i], declared_size, n, &size, NULL))
      same = size == value->dims[i];
  }
  if (same)
    return;
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_info_print(&out, info, NULL);
  OnnxlStr inferred = onnxl_output_memory(&out);
  report(tally, n, seed, "%.*s is %s when %.*s was inferred", ONNXL_ARG(name), text, ONNXL_ARG(inferred));
  onnxl_output_clear(&out);
}

/* A run that ends well fulfils what inference lists as constraints. */
static void
check_constraints(Tally *tally, RandomNode *n, uint64_t seed, const OnnxlInference *inference)
{
  for (size_t i = 0; i < inference->n_constraints; i++) {
    const OnnxlConstraint *c = &inference->constraints[i];
    int64_t lhs, rhs;
    if (!onnxl_expr_evaluate(c->lhs, declared_size, n, &lhs, NULL) ||
        !onnxl_expr_evaluate(c->rhs, declared_size, n, &rhs, NULL))
      continue;
    const bool holds[] = {
      [ONNXL_REL_EQ] = (lhs == rhs), [ONNXL_REL_NE] = (lhs != rhs), [ONNXL_REL_LE] = (lhs <= rhs),
      [ONNXL_REL_GE] = (lhs >= rhs), [ONNXL_REL_LT] = (lhs < rhs),  [ONNXL_REL_GT] = (lhs > rhs),
    };
    OnnxlStr left = onnxl_expr_text(inference->pool, c->lhs), right = onnxl_expr_text(inference->pool, c->rhs);
    if (!holds[c->relation])
      report(tally, n, seed,
             "runs when the constraint on %.*s and %.*s does not hold: %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
             ONNXL_ARG(left), ONNXL_ARG(right), lhs, rhs);
  }
}

static void
check_shapes(Tally *tally, RandomNode *n, uint64_t seed, const OnnxlExecutor *executor, OnnxlValue *const *outputs)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("random");
  GError *error = NULL;
  OnnxlInference *inference = onnxl_infer(n->model, &(OnnxlInferOptions){ 0 }, arena, sink, &error);
  if (!inference)
    report(tally, n, seed, "runs when inference says: %s",
           onnxl_diag_count(sink) > 0 ? onnxl_diag_get(sink, 0)->message : error->message);
  for (uint32_t i = 0; inference && i < onnxl_executor_n_outputs(executor); i++) {
    OnnxlStr name = onnxl_executor_output(executor, i)->name;
    for (uint32_t v = 0; v < inference->index->n_values; v++)
      if (onnxl_str_equal(inference->index->values[v].name, name))
        check_output(tally, n, seed, &inference->values[v], outputs[i], name);
  }
  g_clear_error(&error);
  if (inference)
    check_constraints(tally, n, seed, inference);
  onnxl_inference_free(inference);
  onnxl_diag_sink_free(sink);
  onnxl_arena_free(arena);
}

static bool
has_static_inputs(const RandomNode *n)
{
  const OnnxlGraph *graph = n->model->proto.graph;
  for (size_t i = 0; i < graph->input.count; i++) {
    const OnnxlType *type = graph->input.items[i].type;
    if (type->tensor_type &&
        (type->tensor_type->elem_type == ONNXL_TYPE_INT64 || type->tensor_type->elem_type == ONNXL_TYPE_INT32))
      return false; /* may decide shapes */
    const OnnxlShapeProto *shape = type->tensor_type ? type->tensor_type->shape : NULL;
    for (size_t d = 0; shape && d < shape->dim.count; d++)
      if (!shape->dim.items[d].has_dim_value)
        return false;
    if (!shape)
      return false;
  }
  return true;
}

/* What only the elements can tell is among these. */
static void
list_unseen(const RandomNode *n, uint64_t seed, const GError *refusal)
{
  if (refusal->code != ONNXL_ERROR_INVALID || !has_static_inputs(n))
    return;
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("random");
  OnnxlInference *inference = onnxl_infer(n->model, &(OnnxlInferOptions){ 0 }, arena, sink, NULL);
  if (inference)
    printf("unseen: %s-%d, seed %" G_GUINT64_FORMAT ": %s\n", n->schema->name, n->schema->since, seed,
           refusal->message);
  onnxl_inference_free(inference);
  onnxl_diag_sink_free(sink);
  onnxl_arena_free(arena);
}

static void
run_plan(Tally *tally, RandomNode *n, uint64_t seed, OnnxlPlan *plan)
{
  OnnxlValue *inputs[RANDOM_MAX_NODE_INPUTS] = { NULL }, *outputs[RANDOM_MAX_NODE_OUTPUTS] = { NULL };
  OnnxlExecutor *executor = onnxl_executor_new(plan, &(OnnxlExecutorOptions){ .seed = 1 });
  GError *error = NULL;
  uint64_t before = plan->allocator->live;
  uint32_t next = make_inputs(n, plan->allocator, inputs);
  CU_ASSERT_EQUAL(next, onnxl_executor_n_inputs(executor));
  gint64 start = g_get_monotonic_time();
  bool good = onnxl_executor_run(executor, inputs, outputs, &error);
  if (g_get_monotonic_time() - start > MAX_SECONDS * G_USEC_PER_SEC)
    report(tally, n, seed, "takes %d ms", (int)((g_get_monotonic_time() - start) / 1000));
  if (good) {
    tally->results++;
    check_shapes(tally, n, seed, executor, outputs);
  } else {
    tally->errors++;
    if (!error)
      report(tally, n, seed, "fails without an error");
    else if (strncmp(error->message, "/n", 2) != 0 && !strstr(error->message, "was not computed") &&
             !strstr(error->message, "the input x"))
      report(tally, n, seed, "does not name the node: %s", error->message);
    if (error && getenv("ONNXL_RANDOM_UNSEEN"))
      list_unseen(n, seed, error);
  }
  g_clear_error(&error);
  for (uint32_t i = 0; i < RANDOM_MAX_NODE_OUTPUTS; i++)
    onnxl_value_unref(outputs[i]);
  for (uint32_t i = 0; i < next; i++)
    onnxl_value_unref(inputs[i]);
  g_clear_pointer(&plan->main->steps[0].cache, onnxl_value_unref);
  if (plan->allocator->live != before || plan->allocator->workspace != 0)
    report(tally, n, seed, "leaves %" G_GUINT64_FORMAT " bytes behind", plan->allocator->live - before);
  onnxl_executor_free(executor);
}

static void
run_once(Tally *tally, const OnnxlOpSchema *schema, uint64_t seed, bool show)
{
  RandomNode n;
  random_node(&n, schema, seed, NULL);
  if (show)
    show_model(&n, seed);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("random");
  GError *error = NULL;
  OnnxlPlan *plan =
    onnxl_plan_new(n.model, &(OnnxlPlanOptions){ .max_memory = MAX_MEMORY, .max_metadata = 1 << 24 }, sink, &error);
  tally->runs++;
  if (plan)
    run_plan(tally, &n, seed, plan);
  else if (!error || (error->code == ONNXL_ERROR_INVALID && onnxl_diag_errors(sink) == 0))
    report(tally, &n, seed, "is refused without a finding: %s", error ? error->message : "");
  else
    tally->errors++;
  g_clear_error(&error);
  onnxl_plan_free(plan);
  onnxl_diag_sink_free(sink);
  random_node_clear(&n);
}

static void
test_operators(void)
{
  g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR); /* an error set twice */
  uint64_t runs = from_environment("ONNXL_RANDOM_RUNS", 100);
  uint64_t seed = from_environment("ONNXL_RANDOM_SEED", 1);
  const char *only = getenv("ONNXL_RANDOM_OP");
  Tally all = { 0 };
  for (uint32_t first = 0, next; first < ONNXL_N_OPS; first = next) {
    const OnnxlOpSchema *schema = onnxl_op_schema(first);
    for (next = first + 1; next < ONNXL_N_OPS; next++)
      if (strcmp(onnxl_op_schema(next)->name, schema->name) != 0 ||
          strcmp(onnxl_op_schema(next)->domain, schema->domain) != 0)
        break;
    if (only && strcmp(only, schema->name) != 0)
      continue;
    /* The last name of a log that ends early is the culprit's. */
    printf("%s\n", schema->name);
    fflush(stdout);
    Tally tally = { 0 };
    for (uint64_t i = 0; i < runs; i++)
      run_once(&tally, onnxl_op_schema(first + (uint32_t)(i % (next - first))), seed + i, only != NULL);
    printf("%s: %u of %u ran to a result\n", schema->name, tally.results, tally.runs);
    if (tally.failures > 0)
      fprintf(stderr, "%s: %u of %u runs failed\n", schema->name, tally.failures, tally.runs);
    CU_ASSERT_EQUAL(tally.failures, 0);
    all.runs += tally.runs;
    all.results += tally.results;
    all.errors += tally.errors;
  }
  printf("first seed %" G_GUINT64_FORMAT ": %u runs, %u results, %u errors\n", seed, all.runs, all.results, all.errors);
  CU_ASSERT_TRUE(all.runs > 0);
}

UNIT_MAIN("kernel-random", { "operators", test_operators })
