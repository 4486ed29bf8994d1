#include "memory/layout.h"

#include "model-text.h"

#define HEAD "<ir_version: 8, opset_import: [\"\": 18]> "

typedef struct LaidOut {
  TextModel t;
  OnnxlInference *inference;
  const OnnxlMemory *memory;
  const OnnxlLayout *layout;
} LaidOut;

static LaidOut
lay_out(const char *text)
{
  LaidOut l = { text_model(text), NULL, NULL, NULL };
  OnnxlArena *arena = l.t.model->arena;

  l.inference = onnxl_infer(l.t.model, &(OnnxlInferOptions){ 0 }, arena, l.t.sink, &l.t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(l.inference);
  l.memory = onnxl_memory_new(l.inference, &(OnnxlMemoryOptions){ .inplace = ONNXL_INPLACE_SAFE }, arena, &l.t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(l.memory);
  l.layout = onnxl_layout_new(l.memory, NULL, NULL, arena, &l.t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(l.layout);
  return l;
}

static void
clear(LaidOut *l)
{
  onnxl_inference_free(l->inference);
  text_model_clear(&l->t);
}

static void
check_sizes(const char *text, const char *size, const char *bound)
{
  LaidOut l = lay_out(text);

  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(l.inference->pool, l.layout->size).data, size);
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(l.inference->pool, l.layout->lower_bound).data, bound);
  clear(&l);
}

static void
test_sizes(void)
{
  /* Written over: one buffer for all. */
  check_sizes(HEAD "g (float[N] x) => (float[N] y) { a = Neg (x)  b = Relu (a)  y = Exp (b) }", "4*N", "4*N");
  /* Softmax needs a second one, and the first is free again after it. */
  check_sizes(HEAD "g (float[N] x) => (float[N] z)\n"
                   "{ a = Neg (x)  b = Softmax (a)  c = Softmax (b)  z = Softmax (c) }",
              "8*N", "8*N");
  /* Multiples of each other share space; what depends on the symbols in another way does not. */
  check_sizes(HEAD "g (float[N,4] x, float[M] v) => (float[N,4] z, float[M] w)\n"
                   "{ a = Concat <axis = 0> (x, x)  b = Softmax (a)  z = Softmax (x)  w = Neg (v) }",
              "4*M+64*N", "max(16*N+4*M,64*N)");
  /* Inputs and constants are not in the block. */
  check_sizes(HEAD "g (float[2] x) => (float[2] y) { c = Constant <value = float[2] {1, 2}> ()  y = Add (x, c) }", "8",
              "8");
}

static bool
some_size(void *data, OnnxlStr name, int64_t *ret_value)
{
  *ret_value = (name.data[0] - 'A' + 1) * *(int64_t *)data;
  return true;
}

static int64_t
number(OnnxlExpr e, int64_t *scale)
{
  int64_t value = -1;

  CU_ASSERT(onnxl_expr_evaluate(e, some_size, scale, &value, NULL));
  return value;
}

/* Buffers that are live at the same time never share a byte, and all are inside the block, whatever the symbols are. */
static void
check_disjoint(const OnnxlLayout *layout, int64_t scale)
{
  int64_t size = number(layout->size, &scale);

  CU_ASSERT(size >= number(layout->lower_bound, &scale));
  for (uint32_t i = 0; i < layout->n_buffers; i++) {
    const OnnxlLayoutBuffer *a = &layout->buffers[i];
    int64_t start = number(a->offset, &scale), end = start + number(a->bytes, &scale);
    CU_ASSERT(start >= 0 && end <= size);
    for (uint32_t j = 0; j < i; j++) {
      const OnnxlLayoutBuffer *b = &layout->buffers[j];
      int64_t other = number(b->offset, &scale), other_end = other + number(b->bytes, &scale);
      bool together = a->first <= b->last && b->first <= a->last;
      CU_ASSERT(!together || end <= other || other_end <= start || start == end || other == other_end);
    }
  }
}

/* A graph of random shape: each node reads values made before, so that lives overlap in all ways, also from inside
 * branches, which need memory of their own. */
static char *
random_graph(GRand *rand)
{
  GString *text = g_string_new(HEAD "g (float[A,4] v0, float[B] v1, float[3,B] v2, bool c) => (float[] out) {");
  int n = g_rand_int_range(rand, 1, 40);

  for (int i = 3; i < n + 3; i++) {
    int from = g_rand_int_range(rand, 0, i), kind = g_rand_int_range(rand, 0, 5);
    if (kind == 0)
      g_string_append_printf(text, " v%d = Concat <axis = 0> (v%d, v%d)", i, from, from);
    else if (kind == 1)
      g_string_append_printf(text, " s%d = Shape (v%d) v%d = Cast <to = 1> (s%d)", i, from, i, i);
    else if (kind == 4)
      g_string_append_printf(
        text,
        " v%d = If (c) <then_branch = t () => (float[] a%d) { b%d = Softmax (v%d) a%d = Neg (b%d) }, "
        "else_branch = e () => (float[] d%d) { d%d = Softmax (v%d) }>",
        i, i, i, from, i, i, i, i, g_rand_int_range(rand, 0, i));
    else
      g_string_append_printf(text, " v%d = %s (v%d)", i, kind == 2 ? "Neg" : "Softmax", from);
  }
  g_string_append_printf(text, " out = Neg (v%d) }", n + 2);
  return g_string_free(text, FALSE);
}

/* What is written over an input lies where the input lay. Returns the number of buffers of nested graphs. */
static uint32_t
check_shared(const OnnxlMemory *memory, const OnnxlLayout *layout)
{
  uint32_t scratch = 0;

  for (uint32_t v = 0; v < memory->inference->index->n_values; v++)
    if (memory->inference->index->values[v].graph == 0 && memory->reuse[v] != ONNXL_NONE)
      CU_ASSERT_EQUAL(layout->places[v], layout->places[memory->reuse[v]]);
  for (uint32_t i = 0; i < layout->n_buffers; i++)
    scratch += layout->buffers[i].value == ONNXL_NONE;
  return scratch;
}

static void
test_random_graphs(void)
{
  GRand *rand = g_rand_new_with_seed(20);
  uint32_t nested = 0;

  for (int round = 0; round < 60; round++) {
    char *text = random_graph(rand);
    TextModel t = text_model(text);
    OnnxlInference *inference = onnxl_infer(t.model, &(OnnxlInferOptions){ 0 }, t.model->arena, t.sink, &t.error);
    if (inference) {
      for (int mode = ONNXL_INPLACE_SAFE; mode <= ONNXL_INPLACE_OFF; mode++) {
        const OnnxlMemoryOptions options = { .inplace = (OnnxlInplace)mode, .free_inputs = round % 2 == 0 };
        const OnnxlMemory *memory = onnxl_memory_new(inference, &options, t.model->arena, &t.error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
        const OnnxlLayout *layout = onnxl_layout_new(memory, NULL, NULL, t.model->arena, &t.error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(layout);
        CU_ASSERT(layout->n_buffers > 0);
        nested += check_shared(memory, layout);
        check_disjoint(layout, 1);
        check_disjoint(layout, 7);
        /* As a run binds them, where all sizes are one family. */
        int64_t scale = 5;
        const OnnxlLayout *bound = onnxl_layout_new(memory, some_size, &scale, t.model->arena, &t.error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(bound);
        CU_ASSERT_TRUE(onnxl_expr_is_int(bound->size, NULL));
        check_disjoint(bound, scale);
      }
    }
    CU_ASSERT_PTR_NOT_NULL(inference);
    onnxl_inference_free(inference);
    text_model_clear(&t);
    g_free(text);
  }
  CU_ASSERT(nested > 100);
  g_rand_free(rand);
}

UNIT_MAIN("layout", { "sizes", test_sizes }, { "random graphs", test_random_graphs })
