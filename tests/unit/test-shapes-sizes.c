/* Sizes of symbols against those of numbers: broadcasting, windows, Resize, Range, Split, transforms. */
#include <math.h>

#include "shapes-text.h"
#include "shapes/broadcast.h"
#include "shapes/pooling.h"
#include "shapes/reshape.h"
#include "shapes/resize.h"
#include "shapes/sizes.h"
#include "shapes/slice.h"

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

/* The expressions of lib/shapes/sizes.h, over the symbols A, B, C. */
typedef struct Formulas {
  OnnxlArena *arena;
  OnnxlExprPool *pool;
  OnnxlExpr a, b, c;
} Formulas;

static Formulas
formulas(void)
{
  Formulas f = { .arena = onnxl_arena_new(SIZE_MAX) };
  f.pool = onnxl_expr_pool_new(f.arena);
  f.a = onnxl_expr_symbol(f.pool, ONNXL_STR("A"));
  f.b = onnxl_expr_symbol(f.pool, ONNXL_STR("B"));
  f.c = onnxl_expr_symbol(f.pool, ONNXL_STR("C"));
  onnxl_expr_set_bounds(f.pool, f.a, 0, INT64_MAX);
  return f;
}

static void
formulas_clear(Formulas *f)
{
  onnxl_expr_pool_free(f->pool);
  onnxl_arena_free(f->arena);
}

static void
check_value(OnnxlExpr e, const int64_t *values, int64_t expected)
{
  int64_t value;
  CU_ASSERT_PTR_NOT_NULL_FATAL(e);
  CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(e, letter_value, (void *)values, &value, NULL));
  CU_ASSERT_EQUAL(value, expected);
}

static void
test_formulas(void)
{
  Formulas f = formulas();
  for (int64_t delta = -4; delta <= 4; delta++)
    for (int64_t start = -7; start < 8; start++)
      for (int64_t limit = -7; limit < 8 && delta != 0; limit++) {
        int64_t length, real, count = 0;
        for (int64_t i = start; delta > 0 ? i < limit : i > limit; i += delta)
          count++;
        CU_ASSERT_TRUE_FATAL(onnxl_range_length(start, limit, delta, &length));
        CU_ASSERT_TRUE_FATAL(onnxl_real_range_length((double)start, (double)limit, (double)delta, &real));
        CU_ASSERT(length == count && real == count);
        check_value(onnxl_range_length_expr(f.pool, f.a, f.b, delta), (int64_t[]){ start, limit }, count);
      }
  for (int64_t size = 0; size < 40; size++) {
    for (uint32_t n = 1; n < 7; n++)
      for (uint32_t i = 0; i < n; i++)
        check_value(onnxl_split_part_expr(f.pool, f.a, n, i), &size, onnxl_split_part(size, n, i));
    check_value(onnxl_dft_half_expr(f.pool, f.a), &size, onnxl_dft_half(size));
    check_value(onnxl_dft_whole_expr(f.pool, f.a), &size, onnxl_dft_whole(size));
    for (int64_t frame = 1; frame <= size; frame++)
      for (int64_t step = 1; step < 5; step++)
        check_value(onnxl_stft_frames_expr(f.pool, f.a, f.b, f.c), (int64_t[]){ size, frame, step },
                    onnxl_stft_frames(size, frame, step));
  }
  formulas_clear(&f);
}

static void
test_formula_limits(void)
{
  int64_t length;
  CU_ASSERT_FALSE(onnxl_range_length(0, 1, 0, &length));
  CU_ASSERT_FALSE(onnxl_range_length(INT64_MIN, INT64_MAX, 1, &length));
  CU_ASSERT_TRUE(onnxl_range_length(INT64_MAX, INT64_MIN, INT64_MIN, &length));
  CU_ASSERT_EQUAL(length, 2);
  CU_ASSERT_FALSE(onnxl_real_range_length(0, 1, 0, &length));
  CU_ASSERT_FALSE(onnxl_real_range_length(0, NAN, 1, &length));
  CU_ASSERT_FALSE(onnxl_real_range_length(0, 1e30, 1, &length));
  CU_ASSERT_TRUE(onnxl_real_range_length(0, -INFINITY, 1, &length));
  CU_ASSERT_EQUAL(length, 0);
  CU_ASSERT_EQUAL(onnxl_split_part(5, UINT32_MAX, UINT32_MAX - 1), 0);

  int64_t first, count;
  onnxl_slice_range(INT64_MAX, INT64_MIN, INT64_MAX, 1, &first, &count);
  CU_ASSERT(first == 0 && count == INT64_MAX);
  onnxl_slice_range(INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, &first, &count);
  CU_ASSERT(first == INT64_MAX - 1 && count == 1);
  onnxl_slice_range(5, -100, INT64_MIN, -1, &first, &count); /* a start before the axis is its first element */
  CU_ASSERT(first == 0 && count == 1);

  int64_t dims[3];
  const int64_t huge[] = { INT64_C(1) << 40, INT64_C(1) << 40, 0 };
  CU_ASSERT_TRUE(onnxl_reshape_dims(huge, 3, (int64_t[]){ 0, 7, 5 }, 2, true, dims)); /* none into none */
  CU_ASSERT(dims[0] == 0 && dims[1] == 7);
  CU_ASSERT_FALSE(onnxl_reshape_dims(huge, 2, (int64_t[]){ -1 }, 1, false, dims));
  CU_ASSERT_FALSE(onnxl_reshape_dims(huge, 3, (int64_t[]){ 0, -1 }, 2, true, dims));
  CU_ASSERT_FALSE(onnxl_reshape_dims(NULL, 0, (int64_t[]){ 0 }, 1, false, dims));
  CU_ASSERT_FALSE(onnxl_reshape_dims((int64_t[]){ 6 }, 1, (int64_t[]){ -2, -3 }, 2, false, dims));
  CU_ASSERT_TRUE(onnxl_reshape_dims((int64_t[]){ 6 }, 1, (int64_t[]){ 2, -1 }, 2, false, dims));
  CU_ASSERT(dims[0] == 2 && dims[1] == 3);
}

static void
test_resize(void)
{
  static const float exact[] = { 0.0009765625f, 0.125f, 0.5f, 0.75f, 1, 1.5f, 2, 3.25f, 65536 };
  static const int64_t sizes[] = { 0, 1, 2, 7, 100, (1 << 24) + 1, (1 << 25) + 1, INT64_C(1) << 40 };
  Formulas f = formulas();
  for (size_t i = 0; i < G_N_ELEMENTS(exact); i++)
    for (size_t k = 0; k < G_N_ELEMENTS(sizes); k++) {
      int64_t size;
      CU_ASSERT_TRUE_FATAL(onnxl_resize_scaled(sizes[k], exact[i], &size));
      CU_ASSERT_EQUAL(size, (int64_t)floorl((long double)sizes[k] * (long double)exact[i]));
      check_value(onnxl_resize_scaled_expr(f.pool, f.a, exact[i]), &sizes[k], size);
    }
  int64_t size;
  CU_ASSERT_PTR_NULL(onnxl_resize_scaled_expr(f.pool, f.a, 0.3f));
  CU_ASSERT_TRUE(onnxl_resize_scaled(10, 0.7f, &size));
  CU_ASSERT_EQUAL(size, 7); /* as a float; 0.7f is a little less than 0.7 */
  CU_ASSERT_FALSE(onnxl_resize_scaled(10, 0, &size));
  CU_ASSERT_FALSE(onnxl_resize_scaled(10, -1, &size));
  CU_ASSERT_FALSE(onnxl_resize_scaled(10, NAN, &size));
  CU_ASSERT_FALSE(onnxl_resize_scaled(10, INFINITY, &size));
  CU_ASSERT_FALSE(onnxl_resize_scaled(INT64_MAX, 65536, &size));
  CU_ASSERT_FALSE(onnxl_resize_scaled(INT64_MAX, 1e30f, &size));
  formulas_clear(&f);

  int64_t dims[2];
  float scales[2];
  const int64_t from[] = { 4, 10 }, to[] = { 8, 15 };
  CU_ASSERT_TRUE(onnxl_resize_fitted(from, to, 2, ONNXL_ASPECT_STRETCH, dims, scales));
  CU_ASSERT(dims[0] == 8 && dims[1] == 15 && scales[0] == 2 && scales[1] == 1.5f);
  CU_ASSERT_TRUE(onnxl_resize_fitted(from, to, 2, ONNXL_ASPECT_NOT_LARGER, dims, scales));
  CU_ASSERT(dims[0] == 6 && dims[1] == 15 && scales[0] == 1.5f);
  CU_ASSERT_TRUE(onnxl_resize_fitted(from, to, 2, ONNXL_ASPECT_NOT_SMALLER, dims, scales));
  CU_ASSERT(dims[0] == 8 && dims[1] == 20 && scales[1] == 2);
  CU_ASSERT_FALSE(onnxl_resize_fitted((int64_t[]){ 0 }, (int64_t[]){ 1 }, 1, ONNXL_ASPECT_STRETCH, dims, scales));
  CU_ASSERT_FALSE(onnxl_resize_fitted((int64_t[]){ 1 }, (int64_t[]){ -1 }, 1, ONNXL_ASPECT_STRETCH, dims, scales));
  CU_ASSERT_FALSE(onnxl_resize_fitted((int64_t[]){ 1, INT64_MAX }, (int64_t[]){ 9, INT64_MAX }, 2,
                                      ONNXL_ASPECT_NOT_SMALLER, dims, scales));
  OnnxlAspect aspect;
  CU_ASSERT_TRUE(onnxl_aspect_parse(ONNXL_STR("not_smaller"), &aspect));
  CU_ASSERT_EQUAL(aspect, ONNXL_ASPECT_NOT_SMALLER);
  CU_ASSERT_FALSE(onnxl_aspect_parse(ONNXL_STR("larger"), &aspect));
}

UNIT_MAIN("shapes-sizes", { "windows", test_windows }, { "window limits", test_window_limits },
          { "formulas", test_formulas }, { "formula limits", test_formula_limits }, { "resize", test_resize },
          { "broadcasting numbers", test_broadcast_numbers }, { "broadcasting symbols", test_broadcast_symbols })
