/* Broadcasting and windows: symbols against numbers, over all small cases. */
#include "shapes-text.h"
#include "shapes/broadcast.h"
#include "shapes/pooling.h"

/* Window positions counted one by one: they start at -pad_begin, and the last one must fit into the padded input, or
 * with ceil start before the padding on the right. */
static int64_t
count_windows(const OnnxlWindow *w, int64_t input)
{
  int64_t extent = (w->kernel - 1) * w->dilation + 1, count = 0;
  for (int64_t start = -w->pad_begin;; start += w->stride, count++) {
    bool fits = start + extent <= input + w->pad_end;
    /* With ceil a window may reach beyond by less than a stride. */
    bool partly = w->ceil && start < input && start + extent - w->stride < input + w->pad_end;
    if (!fits && !partly)
      return count;
    if (w->ceil && start >= input)
      return count;
  }
}

static void
test_windows(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlExprPool *pool = onnxl_expr_pool_new(arena);
  OnnxlExpr symbol = onnxl_expr_symbol(pool, ONNXL_STR("A")), kernel = onnxl_expr_symbol(pool, ONNXL_STR("B"));
  onnxl_expr_set_bounds(pool, symbol, 0, INT64_MAX);
  unsigned tried = 0;

  for (int code = 0; code < 4 * 3 * 2 * 3 * 3 * 2; code++) {
    int c = code;
    OnnxlWindow w = { 0 };
    w.kernel = 1 + c % 4, c /= 4;
    w.stride = 1 + c % 3, c /= 3;
    w.dilation = 1 + c % 2, c /= 2;
    w.pad_begin = c % 3, c /= 3;
    w.pad_end = c % 3, c /= 3;
    w.ceil = c % 2;
    int64_t extent = (w.kernel - 1) * w.dilation + 1;
    if (w.pad_begin >= extent || w.pad_end >= extent)
      continue;
    OnnxlExpr expr = onnxl_window_output_expr(pool, &w, symbol, NULL);
    for (int64_t input = 1; input < 12; input++) {
      int64_t size, value;
      if (input + w.pad_begin + w.pad_end < extent)
        continue;
      CU_ASSERT_TRUE_FATAL(onnxl_window_output(&w, input, &size));
      CU_ASSERT_EQUAL(size, count_windows(&w, input));
      CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(expr, letter_value, &input, &value, NULL));
      CU_ASSERT_EQUAL(size, value);
      tried++;
      if (w.ceil)
        continue;
      int64_t values[] = { input, w.kernel };
      OnnxlExpr by_kernel = onnxl_window_output_expr(pool, &w, symbol, kernel);
      CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(by_kernel, letter_value, values, &value, NULL));
      CU_ASSERT_EQUAL(size, value);
    }
  }
  CU_ASSERT_TRUE(tried > 2000);
  onnxl_expr_pool_free(pool);
  onnxl_arena_free(arena);
}

static void
test_window_limits(void)
{
  int64_t size, begin, end;
  OnnxlWindow huge = { .kernel = INT64_MAX, .stride = 1, .dilation = INT64_MAX };
  OnnxlWindow same = { .kernel = 3, .stride = 2, .dilation = 1, .auto_pad = ONNXL_PAD_SAME_LOWER };
  OnnxlWindow wide = { .kernel = 5, .stride = 1, .dilation = 1 };

  CU_ASSERT_FALSE(onnxl_window_output(&huge, 10, &size));
  CU_ASSERT_FALSE(onnxl_window_output(&wide, 3, &size));
  CU_ASSERT_FALSE(onnxl_transposed_output(&huge, 0, 10, &size));
  CU_ASSERT_TRUE(onnxl_window_output(&same, 7, &size));
  CU_ASSERT_EQUAL(size, 4);
  onnxl_window_pads(&same, 8, 4, &begin, &end);
  CU_ASSERT(begin == 1 && end == 0);
  CU_ASSERT_TRUE(
    onnxl_transposed_output(&(OnnxlWindow){ .kernel = 3, .stride = 2, .dilation = 1, .pad_begin = 1 }, 1, 4, &size));
  CU_ASSERT_EQUAL(size, 9);
}

static void
test_broadcast_numbers(void)
{
  int64_t result[3] = { 1, 1, 1 }, strides[3];

  CU_ASSERT_TRUE(onnxl_broadcast_dims(result, 3, (const int64_t[]){ 4, 1 }, 2));
  CU_ASSERT_TRUE(onnxl_broadcast_dims(result, 3, (const int64_t[]){ 2, 1, 5 }, 3));
  CU_ASSERT(result[0] == 2 && result[1] == 4 && result[2] == 5);
  CU_ASSERT_FALSE(onnxl_broadcast_dims(result, 3, (const int64_t[]){ 3 }, 1));
  onnxl_broadcast_strides((const int64_t[]){ 4, 1 }, 2, strides, 3);
  CU_ASSERT(strides[0] == 0 && strides[1] == 1 && strides[2] == 0);
  onnxl_broadcast_strides((const int64_t[]){ 4, 5 }, 2, strides, 3);
  CU_ASSERT(strides[0] == 0 && strides[1] == 5 && strides[2] == 1);
}

/* Sizes of unknown symbols: right wherever they fit, zeros included. */
static void
test_broadcast_symbols(void)
{
  TextShapes t =
    text_shapes("<ir_version: 8, opset_import: [\"\" : 18]> g (float[A,3] a, float[B,C] b, float[B] c, float[1] d)\n"
                "=> (float[] y) { x = Add (a, b)  y = Max (x, b, d)  z = Add (a, a)  w = Add (x, c) }");

  CU_ASSERT_PTR_NOT_NULL_FATAL(t.inference);
  check_shape(&t, "z", "float[A,3]");
  OnnxlExpr x = t.inference->values[value_named(t.inference, "x")].dims[0];
  CU_ASSERT_PTR_EQUAL(t.inference->values[value_named(t.inference, "x")].dims[1],
                      t.inference->values[value_named(t.inference, "a")].dims[1]);
  CU_ASSERT_PTR_EQUAL(t.inference->values[value_named(t.inference, "y")].dims[0], x);
  for (int64_t a = 0; a < 5; a++)
    for (int64_t b = 0; b < 5; b++) {
      int64_t size, value, values[] = { a, b };
      if (!onnxl_broadcast_dim(a, b, &size))
        continue;
      CU_ASSERT_TRUE(onnxl_expr_evaluate(x, letter_value, values, &value, NULL));
      CU_ASSERT_EQUAL(value, size);
    }
  CU_ASSERT_EQUAL(t.inference->n_constraints, 0);
  text_shapes_clear(&t);
}

UNIT_MAIN("shapes-sizes", { "windows", test_windows }, { "window limits", test_window_limits },
          { "broadcasting numbers", test_broadcast_numbers }, { "broadcasting symbols", test_broadcast_symbols })
