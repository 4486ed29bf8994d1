/* Pooling row by row against its definition element by element, bit for bit: random windows, paddings and dilations. */
#include "runtime/pool-internal.h"

#include <math.h>

#include "runtime/tensor.h"
#include "unit.h"

enum { N_CASES = 3000, MAX_AXES = 3 };

/* --- the definition --- */

/* One window, which begins at first[i]. */
static double
pool_window(const OnnxlPooling *pooling, const OnnxlValue *x, int64_t base, const int64_t *first, int64_t *ret_index)
{
  const OnnxlWindows *w = &pooling->windows;
  int64_t place[ONNXL_MAX_RANK] = { 0 }, sizes[ONNXL_MAX_RANK], counted = 0, padded = 0;
  double sum = pooling->kind == ONNXL_POOL_MAX ? -INFINITY : 0;
  bool found = false;
  for (uint32_t i = 0; i < w->n; i++)
    sizes[i] = w->axes[i].kernel;
  do {
    int64_t offset = 0;
    bool inside = true, in_padding = true;
    for (uint32_t i = 0; i < w->n; i++) {
      int64_t at = first[i] + place[i] * w->axes[i].dilation;
      inside = inside && at >= 0 && at < w->input[i];
      in_padding = in_padding && at < w->input[i] + w->end[i];
      offset = offset * w->input[i] + at;
    }
    padded += in_padding;
    if (!inside)
      continue;
    double value = onnxl_tensor_double(x, base + offset);
    counted++;
    if (pooling->kind == ONNXL_POOL_AVERAGE)
      sum += value;
    else if (pooling->kind == ONNXL_POOL_LP)
      sum += pooling->p == 1 ? fabs(value) : pooling->p == 2 ? value * value : pow(fabs(value), (double)pooling->p);
    else if (!found || value > sum || (isnan(value) && !isnan(sum))) {
      sum = value;
      *ret_index = offset;
      found = true;
    }
  } while (onnxl_index_next(place, sizes, w->n));
  if (pooling->kind == ONNXL_POOL_AVERAGE)
    return sum / (double)(pooling->include_pad ? padded : counted);
  if (pooling->kind == ONNXL_POOL_LP)
    return pooling->p == 1 ? sum : pooling->p == 2 ? sqrt(sum) : pow(sum, 1.0 / (double)pooling->p);
  return sum;
}

static int64_t
column_major_index(const OnnxlWindows *w, int64_t index)
{
  int64_t result = 0, at[ONNXL_MAX_RANK];
  for (uint32_t i = w->n; i-- > 0; index /= w->input[i])
    at[i] = index % w->input[i];
  for (uint32_t i = w->n; i-- > 0;)
    result = result * w->input[i] + at[i];
  return result;
}

static void
pool_images(const OnnxlPooling *pooling, const OnnxlValue *x, OnnxlValue *y)
{
  const OnnxlWindows *w = &pooling->windows;
  int64_t result = 0;
  for (int64_t image = 0; image < x->dims[0] * x->dims[1]; image++) {
    int64_t base = image * w->input_count, position[ONNXL_MAX_RANK] = { 0 };
    do {
      int64_t first[ONNXL_MAX_RANK], index = 0;
      for (uint32_t i = 0; i < w->n; i++)
        first[i] = position[i] * w->axes[i].stride - w->begin[i];
      double value = pool_window(pooling, x, base, first, &index);
      onnxl_tensor_write_double(y, result, 1, &value);
      if (pooling->indices)
        pooling->indices[result] = base + (pooling->column_major ? column_major_index(w, index) : index);
      result++;
    } while (onnxl_index_next(position, w->output, w->n));
  }
}

/* --- cases --- */

static int64_t
between(GRand *random, int64_t least, int64_t most)
{
  return g_rand_int_range(random, (gint32)least, (gint32)most + 1);
}

/* wide: the innermost axis is longer than what is worked on at a time. */
static void
random_axis(GRand *random, OnnxlWindows *w, uint32_t i, bool wide)
{
  OnnxlWindow *axis = &w->axes[i];
  w->input[i] = wide ? between(random, 200, 3000) : between(random, 1, 9);
  axis->kernel = wide && between(random, 0, 1) ? between(random, 1, w->input[i]) : between(random, 1, 5);
  axis->stride = wide && between(random, 0, 3) == 0 ? between(random, 1, 1500) : between(random, 1, 3);
  axis->dilation = wide && between(random, 0, 3) == 0 ? between(random, 1, 1500) : between(random, 1, 3);
  int64_t reach = (axis->kernel - 1) * axis->dilation + 1;
  /* Negative padding crops; much of it makes windows without any element. */
  w->begin[i] = between(random, -1, 4);
  w->end[i] = between(random, -1, 4);
  int64_t lack = reach - (w->input[i] + w->begin[i] + w->end[i]);
  if (lack > 0)
    w->end[i] += lack;
  w->output[i] = (w->input[i] + w->begin[i] + w->end[i] - reach) / axis->stride + 1 + between(random, 0, 1);
  w->kernel_count *= axis->kernel;
  w->input_count *= w->input[i];
  w->output_count *= w->output[i];
}

static OnnxlPooling
random_pooling(GRand *random, bool wide)
{
  OnnxlPooling pooling = { .kind = (OnnxlPool)between(random, 0, 2),
                           .include_pad = between(random, 0, 1),
                           .p = between(random, 1, 3),
                           .column_major = between(random, 0, 1),
                           .windows = { .n = (uint32_t)between(random, 1, wide ? 2 : MAX_AXES),
                                        .kernel_count = 1,
                                        .input_count = 1,
                                        .output_count = 1 } };
  for (uint32_t i = 0; i < pooling.windows.n; i++)
    random_axis(random, &pooling.windows, i, wide && i + 1 == pooling.windows.n);
  return pooling;
}

static void
fill(GRand *random, OnnxlValue *x)
{
  static const double special[] = { NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e30, 0.1 };
  bool tame = between(random, 0, 1);
  for (int64_t i = 0; i < x->count; i++) {
    double value = tame || between(random, 0, 3) > 0 ? (double)between(random, -9, 9) * 0.37
                                                     : special[between(random, 0, G_N_ELEMENTS(special) - 1)];
    if (x->elem_type == ONNXL_TYPE_UINT8)
      value = (double)between(random, 0, 9);
    onnxl_tensor_write_double(x, i, 1, &value);
  }
}

static OnnxlValue *
new_tensor(OnnxlAllocator *allocator, int32_t type, const OnnxlWindows *w, const int64_t *spatial)
{
  int64_t dims[2 + MAX_AXES] = { 1, 2 };
  memcpy(dims + 2, spatial, w->n * sizeof *dims);
  OnnxlValue *value = onnxl_value_new_tensor(allocator, type, 2 + w->n, dims, "a test", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(value);
  return value;
}

/* The same bits. Of two NaNs the sign is the compiler's choice, as it may swap what it adds. */
static bool
same_values(const OnnxlValue *a, const OnnxlValue *b)
{
  size_t size = a->bytes / (size_t)a->count;
  for (int64_t i = 0; i < a->count; i++) {
    bool nans = isnan(onnxl_tensor_double(a, i)) && isnan(onnxl_tensor_double(b, i));
    if (!nans &&
        memcmp((const char *)a->data + i * (int64_t)size, (const char *)b->data + i * (int64_t)size, size) != 0)
      return false;
  }
  return true;
}

static bool
equals_the_definition(OnnxlAllocator *allocator, uint32_t seed, bool wide)
{
  static const int32_t types[] = { ONNXL_TYPE_FLOAT, ONNXL_TYPE_DOUBLE, ONNXL_TYPE_FLOAT16, ONNXL_TYPE_UINT8 };
  GRand *random = g_rand_new_with_seed(seed);
  OnnxlPooling pooling = random_pooling(random, wide);
  const OnnxlWindows *w = &pooling.windows;
  int32_t type = types[between(random, 0, pooling.kind == ONNXL_POOL_MAX ? 3 : 2)];
  OnnxlValue *x = new_tensor(allocator, type, w, w->input), *y = new_tensor(allocator, type, w, w->output);
  OnnxlValue *expected = new_tensor(allocator, type, w, w->output);
  g_autofree int64_t *indices = g_new(int64_t, y->count), *expected_indices = g_new(int64_t, y->count);
  bool indexed = pooling.kind == ONNXL_POOL_MAX && between(random, 0, 1);
  fill(random, x);
  pooling.indices = indexed ? expected_indices : NULL;
  pool_images(&pooling, x, expected);
  pooling.indices = indexed ? indices : NULL;
  onnxl_pool_images(&pooling, x, y);
  bool same = same_values(y, expected) &&
              (!indexed || memcmp(indices, expected_indices, (size_t)y->count * sizeof *indices) == 0);
  onnxl_value_unref(x);
  onnxl_value_unref(y);
  onnxl_value_unref(expected);
  g_rand_free(random);
  return same;
}

static void
run_cases(uint32_t first_seed, uint32_t n, bool wide)
{
  OnnxlAllocator *allocator = onnxl_allocator_new(1 << 28);
  for (uint32_t seed = first_seed; seed < first_seed + n; seed++) {
    bool same = equals_the_definition(allocator, seed, wide);
    CU_ASSERT_TRUE(same);
    if (!same)
      fprintf(stderr, "seed %u differs\n", seed);
  }
  onnxl_allocator_free(allocator);
}

static void
test_small(void)
{
  run_cases(0, N_CASES, false);
}

static void
test_wide(void)
{
  run_cases(N_CASES, 60, true);
}

UNIT_MAIN("pool", { "small images", test_small }, { "rows longer than what is worked on at a time", test_wide })
