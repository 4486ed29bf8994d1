#include "memory/reorder.h"

#include "memory/schedule-internal.h"
#include "model-text.h"

#define HEAD "<ir_version: 8, opset_import: [\"\": 18]> "

/* Values for all symbols. */
static bool
size(void *data G_GNUC_UNUSED, OnnxlStr name, int64_t *ret_value)
{
  *ret_value = 3 + name.data[0] % 5;
  return true;
}

typedef struct Analysed {
  TextModel t;
  OnnxlInference *inference;
  const OnnxlMemory *memory;
  int64_t peak;
} Analysed;

static void
analyse(Analysed *a, const OnnxlMemoryOptions *options)
{
  onnxl_inference_free(a->inference);
  a->inference = onnxl_infer(a->t.model, &(OnnxlInferOptions){ 0 }, a->t.model->arena, a->t.sink, &a->t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(a->inference);
  a->memory = onnxl_memory_new(a->inference, options, a->t.model->arena, &a->t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(a->memory);
  int64_t *totals = g_new(int64_t, a->memory->n_nodes);
  CU_ASSERT_TRUE_FATAL(onnxl_memory_evaluate(a->memory, size, NULL, totals, NULL, &a->peak, &a->t.error));
  g_free(totals);
}

static Analysed
analysed(const char *text, const OnnxlMemoryOptions *options)
{
  Analysed a = { text_model(text), NULL, NULL, 0 };

  analyse(&a, options);
  return a;
}

static void
clear(Analysed *a)
{
  onnxl_inference_free(a->inference);
  text_model_clear(&a->t);
}

/* A graph of random shape, with constants, wide branches and values that are read again late. */
static char *
random_graph(GRand *rand, int n)
{
  GString *text =
    g_string_new(HEAD "g (float[A,4] v0, float[B] v1, float[3,B] v2, bool c) => (float[] out, float[] w3) {");

  for (int i = 3; i < n + 3; i++) {
    int from = g_rand_int_range(rand, 0, i), kind = g_rand_int_range(rand, 0, 7);
    if (kind == 0)
      g_string_append_printf(text, " w%d = Concat <axis = 0> (v%d, v%d)", i, from, from);
    else if (kind == 1)
      g_string_append_printf(text, " s%d = Shape (v%d) w%d = Cast <to = 1> (s%d)", i, from, i, i);
    else if (kind == 2)
      g_string_append_printf(text, " w%d = Constant <value = float[5] {1, 2, 3, 4, 5}> ()", i);
    else if (kind == 3)
      g_string_append_printf(text, " w%d = ReduceSum (v%d)", i, from);
    else if (kind == 4)
      g_string_append_printf(
        text,
        " w%d = If (c) <then_branch = t () => (float[] a%d) { b%d = Softmax (v%d) a%d = Neg (b%d) }, "
        "else_branch = e () => (float[] d%d) { d%d = Softmax (v%d) }>",
        i, i, i, from, i, i, i, i, from);
    else
      g_string_append_printf(text, " w%d = %s (v%d)", i, kind == 5 ? "Neg" : "Softmax", from);
    g_string_append_printf(text, " v%d = Sigmoid (w%d)", i, i);
  }
  g_string_append_printf(text, " out = Neg (v%d) }", n + 2);
  return g_string_free(text, FALSE);
}

static void
random_options(GRand *rand, OnnxlMemoryOptions *ret)
{
  *ret = (OnnxlMemoryOptions){ .inplace = g_rand_boolean(rand) ? ONNXL_INPLACE_SAFE : ONNXL_INPLACE_OFF,
                               .free_inputs = g_rand_boolean(rand) };
}

/* The lowest peak of all orders, by trying them. */
static int64_t
lowest(ScheduleRun *run, uint64_t done, int64_t so_far, int64_t best)
{
  const Schedule *schedule = run->schedule;

  if (done == (UINT64_C(1) << schedule->n_nodes) - 1)
    return so_far;
  for (uint32_t id = 0; id < schedule->n_nodes; id++) {
    const ScheduleNode *node = &schedule->nodes[id];
    bool ready = !(done >> id & 1);
    int64_t change;
    for (uint32_t i = 0; ready && i < node->n_needs; i++) {
      uint32_t producer = schedule->values[node->needs[i]].producer;
      ready = producer == ONNXL_NONE || done >> producer & 1;
    }
    int64_t step = ready ? schedule_look(run, id, &change) : 0;
    if (!ready || MAX(step, so_far) >= best)
      continue;
    schedule_step(run, id);
    best = lowest(run, done | UINT64_C(1) << id, MAX(step, so_far), best);
    schedule_undo(run, id, change);
  }
  return best;
}

/* The schedule costs what the profile says, small graphs get the lowest peak there is, and no graph a higher one. */
static void
test_random_graphs(void)
{
  GRand *rand = g_rand_new_with_seed(7);
  int improved = 0;

  for (int round = 0; round < 105; round++) {
    char *text = random_graph(rand, round < 100 ? g_rand_int_range(rand, 1, 6) : g_rand_int_range(rand, 20, 100));
    OnnxlMemoryOptions options;
    random_options(rand, &options);
    Analysed a = analysed(text, &options);
    OnnxlArena *arena = a.t.model->arena;
    const Schedule *schedule = schedule_new(a.memory, options.inplace, size, NULL, arena, &a.t.error);
    const uint32_t *order;
    CU_ASSERT_PTR_NOT_NULL_FATAL(schedule);
    uint32_t *left = g_new(uint32_t, schedule->n_values), *given = g_new(uint32_t, schedule->n_nodes);
    for (uint32_t i = 0; i < schedule->n_nodes; i++)
      given[i] = i;
    CU_ASSERT_EQUAL(schedule_peak(schedule, given, NULL, left), a.peak);
    CU_ASSERT_TRUE_FATAL(onnxl_reorder_find(a.memory, &options, size, NULL, arena, &order, &a.t.error));
    int64_t expected = order ? schedule_peak(schedule, order, NULL, left) : a.peak, before = a.peak;
    if (schedule->n_nodes <= 12) {
      ScheduleRun run;
      schedule_start(&run, schedule, left);
      CU_ASSERT_EQUAL(expected, lowest(&run, 0, 0, a.peak + 1));
    }
    if (order) {
      CU_ASSERT_TRUE(onnxl_reorder_apply(a.t.model, order, &a.t.error));
      analyse(&a, &options);
      CU_ASSERT_EQUAL(a.peak, expected);
      CU_ASSERT(a.peak < before);
      improved++;
    }
    g_free(left);
    g_free(given);
    clear(&a);
    g_free(text);
  }
  CU_ASSERT(improved > 20);
  g_rand_free(rand);
}

static void
check_peak(const char *text, int64_t given, int64_t found)
{
  const OnnxlMemoryOptions options = { .inplace = ONNXL_INPLACE_SAFE };
  Analysed a = analysed(text, &options);
  const uint32_t *order;

  CU_ASSERT_EQUAL(a.peak, given);
  CU_ASSERT_TRUE_FATAL(onnxl_reorder_find(a.memory, &options, size, NULL, a.t.model->arena, &order, &a.t.error));
  CU_ASSERT_EQUAL(order == NULL, given == found);
  if (order && onnxl_reorder_apply(a.t.model, order, &a.t.error))
    analyse(&a, &options);
  CU_ASSERT_EQUAL(a.peak, found);
  clear(&a);
}

static void
test_known(void)
{
  /* One branch after the other instead of both side by side. */
  check_peak(HEAD "g (float[4] x) => (float z) { a = Concat <axis = 0> (x, x, x)  b = Concat <axis = 0> (x, x, x)\n"
                  "  c = ReduceMax <keepdims = 0> (a)  d = ReduceMax <keepdims = 0> (b)  z = Add (c, d) }",
             16 + 48 + 48 + 4, 16 + 48 + 4 + 4);
  /* A chain has one order, and a graph without nodes none. */
  check_peak(HEAD "g (float[4] x) => (float[4] z) { a = Neg (x)  b = Softmax (a)  z = Softmax (b) }", 48, 48);
  check_peak(HEAD "g (float[4] x) => (float[4] x) { }", 0, 0);
}

UNIT_MAIN("reorder", { "known graphs", test_known }, { "random graphs", test_random_graphs })
