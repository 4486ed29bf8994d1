/* Reductions over axes, and the places of extremes. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

typedef enum Reduction {
  REDUCE_L1,
  REDUCE_L2,
  REDUCE_LOG_SUM,
  REDUCE_LOG_SUM_EXP,
  REDUCE_MAX,
  REDUCE_MEAN,
  REDUCE_MIN,
  REDUCE_PROD,
  REDUCE_SUM,
  REDUCE_SUM_SQUARE,
} Reduction;

/* Sums of floating point run in double, those of integers wrap in 64 bits. Loops over one row: */
#define REDUCE_FLOAT_ROW(type, T, U)                                                                                 \
  static void reduce_##type(Reduction kind, const void *data, int64_t stride, int64_t n, double shift, double *real, \
                            uint64_t *whole)                                                                         \
  {                                                                                                                  \
    const T *x = data;                                                                                               \
    double sum = *real;                                                                                              \
    switch (kind) {                                                                                                  \
    case REDUCE_L1:                                                                                                  \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum += fabs((double)x[i * stride]);                                                                          \
      break;                                                                                                         \
    case REDUCE_L2:                                                                                                  \
    case REDUCE_SUM_SQUARE:                                                                                          \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum += (double)x[i * stride] * (double)x[i * stride];                                                        \
      break;                                                                                                         \
    case REDUCE_LOG_SUM_EXP:                                                                                         \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum += exp((double)x[i * stride] - shift);                                                                   \
      break;                                                                                                         \
    case REDUCE_MAX:                                                                                                 \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum = x[i * stride] > sum || isnan(x[i * stride]) ? x[i * stride] : sum;                                     \
      break;                                                                                                         \
    case REDUCE_MIN:                                                                                                 \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum = x[i * stride] < sum || isnan(x[i * stride]) ? x[i * stride] : sum;                                     \
      break;                                                                                                         \
    case REDUCE_PROD:                                                                                                \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum *= x[i * stride];                                                                                        \
      break;                                                                                                         \
    default:                                                                                                         \
      for (int64_t i = 0; i < n; i++)                                                                                \
        sum += x[i * stride];                                                                                        \
    }                                                                                                                \
    *real = sum;                                                                                                     \
  }
#define REDUCE_INTEGER_ROW(type, T, U)                                                                               \
  static void reduce_##type(Reduction kind, const void *data, int64_t stride, int64_t n, double shift, double *real, \
                            uint64_t *whole)                                                                         \
  {                                                                                                                  \
    const T *x = data;                                                                                               \
    uint64_t sum = *whole;                                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                                                \
      T value = x[i * stride];                                                                                       \
      uint64_t bits = (uint64_t)value;                                                                               \
      switch (kind) {                                                                                                \
      case REDUCE_L1:                                                                                                \
        sum += (T)-1 < (T)1 && (int64_t)bits < 0 ? 0 - bits : bits;                                                  \
        break;                                                                                                       \
      case REDUCE_L2:                                                                                                \
        *real += (double)value * (double)value;                                                                      \
        break;                                                                                                       \
      case REDUCE_SUM_SQUARE:                                                                                        \
        sum += bits * bits;                                                                                          \
        break;                                                                                                       \
      case REDUCE_LOG_SUM_EXP:                                                                                       \
        *real += exp((double)value - shift);                                                                         \
        break;                                                                                                       \
      case REDUCE_LOG_SUM:                                                                                           \
        *real += (double)value;                                                                                      \
        break;                                                                                                       \
      case REDUCE_MAX:                                                                                               \
        sum = value > (T)sum ? bits : sum;                                                                           \
        break;                                                                                                       \
      case REDUCE_MIN:                                                                                               \
        sum = value < (T)sum ? bits : sum;                                                                           \
        break;                                                                                                       \
      case REDUCE_PROD:                                                                                              \
        sum *= bits;                                                                                                 \
        break;                                                                                                       \
      default:                                                                                                       \
        sum += bits;                                                                                                 \
      }                                                                                                              \
    }                                                                                                                \
    *whole = sum;                                                                                                    \
  }
ONNXL_FLOAT_TYPES(REDUCE_FLOAT_ROW)
ONNXL_INTEGER_TYPES(REDUCE_INTEGER_ROW)

typedef void (*ReduceRow)(Reduction kind, const void *data, int64_t stride, int64_t n, double shift, double *real,
                          uint64_t *whole);

/* The loop for a type and the ends of its range, which are what the maximum and minimum of nothing are. */
static ReduceRow
reduce_row(int32_t elem_type, uint64_t *ret_lowest, uint64_t *ret_highest)
{
  switch (elem_type) {
#define PICK_SIGNED(type, T, U)          \
  case ONNXL_TYPE_##type:                \
    *ret_lowest = (uint64_t)type##_MIN;  \
    *ret_highest = (uint64_t)type##_MAX; \
    return reduce_##type;
#define PICK_UNSIGNED(type, T, U) \
  case ONNXL_TYPE_##type:         \
    *ret_lowest = 0;              \
    *ret_highest = type##_MAX;    \
    return reduce_##type;
    ONNXL_SIGNED_TYPES(PICK_SIGNED)
    ONNXL_UNSIGNED_TYPES(PICK_UNSIGNED)
  case ONNXL_TYPE_BOOL:
    *ret_lowest = 0;
    *ret_highest = 1;
    return reduce_UINT8;
  case ONNXL_TYPE_FLOAT:
    return reduce_FLOAT;
  case ONNXL_TYPE_DOUBLE:
    return reduce_DOUBLE;
  default:
    return NULL;
  }
}

/* Which axes go: from the attribute, or from the second input. *ret_none: none is named, and that means "do nothing".
 */
static bool
find_axes(OnnxlKernelContext *context, const OnnxlValue *x, bool reduced[ONNXL_MAX_RANK], bool *ret_none,
          GError **error)
{
  const OnnxlValue *input = onnxl_ctx_input(context, 1);
  OnnxlInt64List list = onnxl_ctx_ints(context, "axes");
  const int64_t *axes = list.items;
  size_t n = list.count;
  if (input) {
    axes = onnxl_ctx_int64s(context, input, error);
    n = (size_t)input->count;
    if (!axes)
      return false;
  }
  memset(reduced, 0, ONNXL_MAX_RANK * sizeof *reduced);
  *ret_none = n == 0 && onnxl_ctx_int(context, "noop_with_empty_axes") != 0;
  for (uint32_t i = 0; i < x->rank && n == 0; i++)
    reduced[i] = !*ret_none;
  for (size_t i = 0; i < n; i++) {
    int64_t axis;
    if (!onnxl_ctx_axis(context, axes[i], x->rank, &axis, error))
      return false;
    if (reduced[axis])
      return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " stands twice", axes[i]);
    reduced[axis] = true;
  }
  return true;
}

/* The outer nest walks the results, the inner one what goes into each. */
static void
make_loops(const OnnxlValue *x, const bool reduced[ONNXL_MAX_RANK], OnnxlLoop *outer, OnnxlLoop *inner)
{
  int64_t strides[ONNXL_MAX_RANK], dims[2][ONNXL_MAX_RANK], steps[2][ONNXL_MAX_RANK];
  uint32_t ranks[2] = { 0, 0 };
  onnxl_strides(x->dims, x->rank, strides);
  for (uint32_t i = 0; i < x->rank; i++) {
    uint32_t which = reduced[i];
    dims[which][ranks[which]] = x->dims[i];
    steps[which][ranks[which]++] = strides[i];
  }
  onnxl_loop_init(outer, dims[0], ranks[0]);
  onnxl_loop_add_strided(outer, steps[0]);
  onnxl_loop_finish(outer);
  onnxl_loop_init(inner, dims[1], ranks[1]);
  onnxl_loop_add_strided(inner, steps[1]);
  onnxl_loop_finish(inner);
}

static void
run_rows(ReduceRow row, Reduction kind, OnnxlLoop *inner, const char *data, size_t size, double shift, double *real,
         uint64_t *whole)
{
  for (bool more = onnxl_loop_start(inner); more; more = onnxl_loop_next(inner))
    row(kind, data + inner->offsets[0] * (int64_t)size, onnxl_loop_step(inner, 0), onnxl_loop_row(inner), shift, real,
        whole);
}

static void
store_result(OnnxlValue *y, int64_t i, double real, uint64_t whole)
{
  switch (y->elem_type) {
  case ONNXL_TYPE_FLOAT:
    ((float *)y->data)[i] = (float)real;
    return;
  case ONNXL_TYPE_DOUBLE:
    ((double *)y->data)[i] = real;
    return;
  case ONNXL_TYPE_BOOL:
    ((uint8_t *)y->data)[i] = (uint8_t)whole;
    return;
#define STORE(type, T, U)         \
  case ONNXL_TYPE_##type:         \
    ((T *)y->data)[i] = (T)whole; \
    return;
    ONNXL_INTEGER_TYPES(STORE)
#undef STORE
  }
}

/* One result from the values at data; n of them. */
static void
reduce_one(Reduction kind, ReduceRow row, OnnxlLoop *inner, const char *data, const OnnxlValue *x, int64_t n,
           uint64_t lowest, uint64_t highest, OnnxlValue *y, int64_t to)
{
  bool is_float = onnxl_type_is_float(x->elem_type);
  size_t size = onnxl_element_size(x);
  double real = kind == REDUCE_PROD ? 1 : kind == REDUCE_MAX ? -INFINITY : kind == REDUCE_MIN ? INFINITY : 0, shift = 0;
  uint64_t whole = kind == REDUCE_PROD ? 1 : kind == REDUCE_MAX ? lowest : kind == REDUCE_MIN ? highest : 0;
  if (kind == REDUCE_LOG_SUM_EXP && is_float && n > 0) {
    /* Subtracting the maximum keeps the exponentials finite. */
    shift = -INFINITY;
    run_rows(row, REDUCE_MAX, inner, data, size, 0, &shift, &whole);
    if (isinf(shift))
      shift = 0;
  }
  run_rows(row, kind, inner, data, size, shift, &real, &whole);
  bool by_real = false; /* an integer type whose result was computed in real */
  switch (kind) {
  case REDUCE_L2:
    real = sqrt(real);
    by_real = true;
    break;
  case REDUCE_LOG_SUM:
    real = log(real);
    by_real = true;
    break;
  case REDUCE_LOG_SUM_EXP:
    real = log(real) + shift;
    by_real = true;
    break;
  case REDUCE_MEAN:
    real = n > 0 ? real / (double)n : NAN;
    if (!is_float)
      whole = n == 0 ? 0 : onnxl_type_is_signed(x->elem_type) ? (uint64_t)((int64_t)whole / n) : whole / (uint64_t)n;
    break;
  default:
    break;
  }
  if (by_real && !is_float)
    onnxl_tensor_write_double(y, to, 1, &real);
  else
    store_result(y, to, real, whole);
}

static bool
reduce(OnnxlKernelContext *context, Reduction kind, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool keep = onnxl_ctx_int(context, "keepdims") != 0, none, reduced[ONNXL_MAX_RANK];
  uint64_t lowest = 0, highest = 0;
  ReduceRow row = reduce_row(x->elem_type, &lowest, &highest);
  if (!row)
    return onnxl_ctx_unsupported_type(context, error, x->elem_type);
  if (!find_axes(context, x, reduced, &none, error))
    return false;
  int64_t dims[ONNXL_MAX_RANK], n = 1, result = 0;
  uint32_t rank = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!reduced[i])
      dims[rank++] = x->dims[i];
    else {
      n = x->dims[i] == 0 ? 0 : n * x->dims[i];
      if (keep)
        dims[rank++] = 1;
    }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  OnnxlLoop outer, inner;
  make_loops(x, reduced, &outer, &inner);
  size_t size = onnxl_element_size(x);
  for (bool more = onnxl_loop_start(&outer); more; more = onnxl_loop_next(&outer))
    for (int64_t i = 0; i < onnxl_loop_row(&outer); i++)
      reduce_one(kind, row, &inner,
                 (const char *)x->data + (outer.offsets[0] + i * onnxl_loop_step(&outer, 0)) * (int64_t)size, x, n,
                 lowest, highest, y, result++);
  return true;
}

#define REDUCTION(name, kind)                                         \
  static bool run_##name(OnnxlKernelContext *context, GError **error) \
  {                                                                   \
    return reduce(context, kind, error);                              \
  }                                                                   \
  ONNXL_KERNEL(name, COMPUTES)

REDUCTION(reduce_l1, REDUCE_L1);
REDUCTION(reduce_l2, REDUCE_L2);
REDUCTION(reduce_log_sum, REDUCE_LOG_SUM);
REDUCTION(reduce_log_sum_exp, REDUCE_LOG_SUM_EXP);
REDUCTION(reduce_max, REDUCE_MAX);
REDUCTION(reduce_mean, REDUCE_MEAN);
REDUCTION(reduce_min, REDUCE_MIN);
REDUCTION(reduce_prod, REDUCE_PROD);
REDUCTION(reduce_sum, REDUCE_SUM);
REDUCTION(reduce_sum_square, REDUCE_SUM_SQUARE);

/* --- the places of extremes: those of the values that ReduceMax and ReduceMin give, and so of NaN where there is one
 * --- */

#define ARG_LOOP(type, T, U)                                             \
  case ONNXL_TYPE_##type: {                                              \
    const T *v = (const T *)x->data + start;                             \
    for (int64_t j = 1; j < n; j++) {                                    \
      T a = v[j * stride], b = v[best * stride];                         \
      bool a_nan = a != a, b_nan = b != b;                               \
      bool wins = a_nan ? !b_nan : !b_nan && (smallest ? a < b : a > b); \
      if (wins || (last && (a == b || (a_nan && b_nan))))                \
        best = j;                                                        \
    }                                                                    \
    break;                                                               \
  }

static bool
arg_extreme(OnnxlKernelContext *context, bool smallest, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool keep = onnxl_ctx_int(context, "keepdims") != 0, last = onnxl_ctx_int(context, "select_last_index") != 0;
  int64_t axis, dims[ONNXL_MAX_RANK], stride = 1;
  uint32_t rank = 0;
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  int64_t n = x->dims[axis];
  for (int64_t i = 0; i < x->rank; i++)
    if (i != axis)
      dims[rank++] = x->dims[i];
    else if (keep)
      dims[rank++] = 1;
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  if (n == 0)
    return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is empty, so no place in it can be named",
                             axis);
  for (int64_t i = axis + 1; i < x->rank; i++)
    stride *= x->dims[i];
  for (int64_t i = 0; i < y->count; i++) {
    int64_t start = i / stride * stride * n + i % stride, best = 0;
    switch (x->elem_type) {
      ONNXL_REAL_TYPES(ARG_LOOP)
    default:
      return onnxl_ctx_unsupported_type(context, error, x->elem_type);
    }
    ((int64_t *)y->data)[i] = best;
  }
  return true;
}

static bool
run_arg_max(OnnxlKernelContext *context, GError **error)
{
  return arg_extreme(context, false, error);
}
ONNXL_KERNEL(arg_max, COMPUTES);

static bool
run_arg_min(OnnxlKernelContext *context, GError **error)
{
  return arg_extreme(context, true, error);
}
ONNXL_KERNEL(arg_min, COMPUTES);
