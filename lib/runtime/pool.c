#include "runtime/pool-internal.h"

#include <math.h>

#include "runtime/tensor.h"

/* Elements of a row of the input, as doubles, and results of a row of the output that are worked on at a time. */
enum { SEGMENT = 1024, BLOCK = 128 };

/* What becomes of an element of a window. */
typedef enum Step { STEP_SUM, STEP_ABSOLUTE, STEP_SQUARE, STEP_POWER, STEP_MAX, STEP_MAX_INDEX } Step;

/* Results that stand next to each other, and the part of a row that they take elements from. */
typedef struct Block {
  const OnnxlPooling *pooling;
  int64_t first, count; /* places along the innermost axis */
  double results[BLOCK];
  int64_t indices[BLOCK]; /* STEP_MAX_INDEX: places in the image, -1 = none yet */
  double values[SEGMENT];
  int64_t start, end; /* of the values in their row */
  int64_t row;        /* place of the row in the image */
} Block;

static int64_t
divide_up(int64_t a, int64_t b)
{
  return a <= 0 ? 0 : (a + b - 1) / b;
}

/* The places of a window that begins at first and lie in [start, end). False: there are none. */
static bool
places_within(const OnnxlWindow *axis, int64_t first, int64_t start, int64_t end, int64_t *ret_from, int64_t *ret_to)
{
  bool all = first >= start && first + (axis->kernel - 1) * axis->dilation < end;
  *ret_from = all ? 0 : divide_up(start - first, axis->dilation);
  *ret_to = all ? axis->kernel : MIN(axis->kernel, divide_up(end - first, axis->dilation));
  return *ret_from < *ret_to;
}

static inline __attribute__((always_inline)) void
take(Step step, const Block *block, int64_t at, double *result, int64_t *index)
{
  double value = block->values[at - block->start];
  bool larger = value > *result || (isnan(value) && !isnan(*result));
  switch (step) {
  case STEP_SUM:
    *result += value;
    return;
  case STEP_ABSOLUTE:
    *result += fabs(value);
    return;
  case STEP_SQUARE:
    *result += value * value;
    return;
  case STEP_POWER:
    *result += pow(fabs(value), (double)block->pooling->p);
    return;
  case STEP_MAX:
    *result = larger ? value : *result;
    return;
  case STEP_MAX_INDEX:
    if (larger || *index < 0) {
      *result = value;
      *index = block->row + at;
    }
  }
}

/* The same place of the windows of all results: a loop without dependences. */
static inline __attribute__((always_inline)) void
take_place(Step step, Block *block, int64_t first, int64_t stride)
{
  int64_t from = divide_up(block->start - first, stride), to = MIN(block->count, divide_up(block->end - first, stride));
  for (int64_t i = from; i < to; i++)
    take(step, block, first + i * stride, &block->results[i], &block->indices[i]);
}

/* Places [from, to) of the windows. Either order of the loops takes the elements of a window in the same order. */
static inline __attribute__((always_inline)) void
take_places(Step step, Block *block, int64_t from, int64_t to)
{
  const OnnxlWindows *w = &block->pooling->windows;
  const OnnxlWindow *axis = &w->axes[w->n - 1];
  int64_t first = block->first * axis->stride - w->begin[w->n - 1] + from * axis->dilation;
  if (block->count >= to - from) {
    for (int64_t place = from; place < to; place++, first += axis->dilation)
      if (axis->stride == 1)
        take_place(step, block, first, 1);
      else
        take_place(step, block, first, axis->stride);
    return;
  }
  const OnnxlWindow part = { .kernel = to - from, .dilation = axis->dilation };
  for (int64_t i = 0; i < block->count; i++, first += axis->stride) {
    double result = block->results[i];
    int64_t index = block->indices[i], begin, end;
    if (!places_within(&part, first, block->start, block->end, &begin, &end))
      continue;
    for (int64_t place = begin; place < end; place++)
      take(step, block, first + place * axis->dilation, &result, &index);
    block->results[i] = result;
    block->indices[i] = index;
  }
}

static void
take_segment(Step step, Block *block, int64_t from, int64_t to)
{
  switch (step) {
#define CASE(name)                      \
  case name:                            \
    take_places(name, block, from, to); \
    return;
    CASE(STEP_SUM)
    CASE(STEP_ABSOLUTE)
    CASE(STEP_SQUARE)
    CASE(STEP_POWER)
    CASE(STEP_MAX)
    CASE(STEP_MAX_INDEX)
#undef CASE
  }
}

/* A row of the image, which lies at element base + block->row of x. */
static void
take_row(Step step, Block *block, const OnnxlValue *x, int64_t base)
{
  const OnnxlWindows *w = &block->pooling->windows;
  const OnnxlWindow *axis = &w->axes[w->n - 1];
  int64_t first = block->first * axis->stride - w->begin[w->n - 1], span = (block->count - 1) * axis->stride + 1;
  int64_t size = w->input[w->n - 1], n_places = (SEGMENT - span) / axis->dilation + 1;
  /* Places that lie in the row for one of the results at least. */
  int64_t from = divide_up(1 - first - span, axis->dilation);
  int64_t end = MIN(axis->kernel, divide_up(size - first, axis->dilation));
  for (; from < end; from += n_places) {
    int64_t to = MIN(end, from + n_places), start = first + from * axis->dilation;
    block->end = MIN(start + span + (to - 1 - from) * axis->dilation, size);
    block->start = MAX(start, 0);
    onnxl_tensor_read_double(x, base + block->row + block->start, (size_t)(block->end - block->start), block->values);
    take_segment(step, block, from, to);
  }
}

static double
finish(const OnnxlPooling *pooling, double sum, int64_t counted)
{
  switch (pooling->kind) {
  case ONNXL_POOL_AVERAGE:
    return sum / (double)counted;
  case ONNXL_POOL_LP:
    return pooling->p == 1 ? sum : pooling->p == 2 ? sqrt(sum) : pow(sum, 1.0 / (double)pooling->p);
  default:
    return sum;
  }
}

/* Elements along axis i of the window at a position that the divisor of an average counts. */
static int64_t
count_places(const OnnxlPooling *pooling, uint32_t i, int64_t position)
{
  const OnnxlWindows *w = &pooling->windows;
  int64_t first = position * w->axes[i].stride - w->begin[i], from, to;
  bool some = pooling->include_pad ? places_within(&w->axes[i], first, first, w->input[i] + w->end[i], &from, &to)
                                   : places_within(&w->axes[i], first, 0, w->input[i], &from, &to);
  return some ? to - from : 0;
}

static Step
step_of(const OnnxlPooling *pooling)
{
  switch (pooling->kind) {
  case ONNXL_POOL_AVERAGE:
    return STEP_SUM;
  case ONNXL_POOL_MAX:
    return pooling->indices ? STEP_MAX_INDEX : STEP_MAX;
  default:
    return pooling->p == 1 ? STEP_ABSOLUTE : pooling->p == 2 ? STEP_SQUARE : STEP_POWER;
  }
}

/* The rows of the image that windows at position, of the outer axes, reach. */
static void
take_rows(Step step, Block *block, const OnnxlValue *x, int64_t base, const int64_t *position)
{
  const OnnxlWindows *w = &block->pooling->windows;
  int64_t first[ONNXL_MAX_RANK], sizes[ONNXL_MAX_RANK], place[ONNXL_MAX_RANK] = { 0 };
  uint32_t outer = w->n - 1;
  for (uint32_t i = 0; i < outer; i++) {
    int64_t from, to;
    first[i] = position[i] * w->axes[i].stride - w->begin[i];
    if (!places_within(&w->axes[i], first[i], 0, w->input[i], &from, &to))
      return;
    first[i] += from * w->axes[i].dilation;
    sizes[i] = to - from;
  }
  do {
    block->row = 0;
    for (uint32_t i = 0; i < outer; i++)
      block->row = block->row * w->input[i] + first[i] + place[i] * w->axes[i].dilation;
    block->row *= w->input[outer];
    take_row(step, block, x, base);
  } while (onnxl_index_next(place, sizes, outer));
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

/* Elements [to, …) of y, and their indices. */
static void
store_block(Block *block, OnnxlValue *y, int64_t to, int64_t base, const int64_t *position)
{
  const OnnxlPooling *pooling = block->pooling;
  const OnnxlWindows *w = &pooling->windows;
  int64_t counted = 1;
  for (uint32_t i = 0; i + 1 < w->n; i++)
    counted *= count_places(pooling, i, position[i]);
  for (int64_t i = 0; i < block->count; i++) {
    int64_t along = pooling->kind == ONNXL_POOL_AVERAGE ? count_places(pooling, w->n - 1, block->first + i) : 0;
    block->results[i] = finish(pooling, block->results[i], counted * along);
  }
  onnxl_tensor_write_double(y, to, (size_t)block->count, block->results);
  for (int64_t i = 0; pooling->indices && i < block->count; i++) {
    int64_t index = MAX(block->indices[i], 0);
    pooling->indices[to + i] = base + (pooling->column_major ? column_major_index(w, index) : index);
  }
}

void
onnxl_pool_images(const OnnxlPooling *pooling, const OnnxlValue *x, OnnxlValue *y)
{
  const OnnxlWindows *w = &pooling->windows;
  Block block = { .pooling = pooling };
  Step step = step_of(pooling);
  int64_t to = 0, width = w->output[w->n - 1];
  /* So that what their windows' first places span leaves room for more places in a segment. */
  int64_t most = MAX(MIN(BLOCK, SEGMENT / 2 / w->axes[w->n - 1].stride), 1);
  for (int64_t image = 0; image < x->dims[0] * x->dims[1]; image++) {
    int64_t base = image * w->input_count, position[ONNXL_MAX_RANK] = { 0 };
    do
      for (block.first = 0; block.first < width; block.first += block.count, to += block.count) {
        block.count = MIN(most, width - block.first);
        for (int64_t i = 0; i < block.count; i++) {
          block.results[i] = pooling->kind == ONNXL_POOL_MAX ? -INFINITY : 0;
          block.indices[i] = -1;
        }
        take_rows(step, &block, x, base, position);
        store_block(&block, y, to, base, position);
      }
    while (onnxl_index_next(position, w->output, w->n - 1));
  }
}
