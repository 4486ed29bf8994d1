/* Choosing, ordering and rearranging elements. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

static bool
run_compress(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *condition = onnxl_ctx_input(context, 1);
  bool flat = !onnxl_ctx_attr(context, "axis");
  int64_t axis = 0, dims[ONNXL_MAX_RANK], outer = 1, inner = 1;
  if (!flat && !onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  int64_t n = flat ? x->count : x->dims[axis], kept = 0, limit = MIN(condition->count, n);
  const uint8_t *keep = condition->data;
  for (int64_t i = 0; i < limit; i++)
    kept += keep[i] != 0;
  for (int64_t i = limit; i < condition->count; i++)
    if (keep[i])
      return onnxl_ctx_invalid(context, error,
                               "the condition chooses element %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, i, n);
  for (uint32_t i = 0; i < x->rank && !flat; i++) {
    dims[i] = i == axis ? kept : x->dims[i];
    *(i < axis ? &outer : &inner) *= i == axis ? 1 : x->dims[i];
  }
  if (flat)
    dims[0] = kept;
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, flat ? 1 : x->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  size_t part = (size_t)inner * onnxl_element_size(x);
  char *to = y->data;
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = 0; i < limit; i++)
      if (keep[i]) {
        memcpy(to, (const char *)x->data + (size_t)(o * n + i) * part, part);
        to += part;
      }
  return true;
}
ONNXL_KERNEL(compress, MOVES);

static bool
is_nonzero(const OnnxlValue *x, int64_t i)
{
  if (x->elem_type == ONNXL_TYPE_STRING)
    return ((const OnnxlStr *)x->data)[i].size > 0;
  if (onnxl_type_is_float(x->elem_type))
    return onnxl_tensor_double(x, i) != 0;
  return onnxl_tensor_int64(x, i) != 0;
}

static bool
run_non_zero(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t n = 0, found = 0;
  for (int64_t i = 0; i < x->count; i++)
    n += is_nonzero(x, i);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, 2, (int64_t[]){ x->rank, n }, error);
  for (int64_t i = 0; y && i < x->count; i++) {
    if (!is_nonzero(x, i))
      continue;
    int64_t rest = i;
    for (uint32_t d = x->rank; d-- > 0; rest /= x->dims[d])
      ((int64_t *)y->data)[d * n + found] = rest % x->dims[d];
    found++;
  }
  return y != NULL;
}
ONNXL_KERNEL(non_zero, COMPUTES);

static bool
run_trilu(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *k_input = onnxl_ctx_input(context, 1);
  bool upper = onnxl_ctx_int(context, "upper") != 0;
  int64_t k = 0;
  if (x->rank < 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when at least 2 is needed", x->rank);
  if (k_input && !onnxl_ctx_scalar_int(context, k_input, &k, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  int64_t rows = x->dims[x->rank - 2], columns = x->dims[x->rank - 1];
  size_t size = onnxl_element_size(x);
  k = CLAMP(k, -rows, columns); /* further out the result is the same */
  for (int64_t i = 0; y && i < x->count; i++) {
    int64_t row = i / columns % rows, column = i % columns;
    char *to = (char *)y->data + (size_t)i * size;
    if (upper ? column - row >= k : column - row <= k)
      memcpy(to, (const char *)x->data + (size_t)i * size, size);
    else
      memset(to, 0, size);
  }
  return y != NULL;
}
ONNXL_KERNEL(trilu, MOVES);

static bool
run_reverse_sequence(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *lengths = onnxl_ctx_input(context, 1);
  int64_t batch = onnxl_ctx_int(context, "batch_axis"), time = onnxl_ctx_int(context, "time_axis");
  if (x->rank < 2 || batch < 0 || batch > 1 || time < 0 || time > 1 || batch == time ||
      lengths->count != x->dims[batch])
    return onnxl_ctx_misfit(context, error,
                            "batch_axis %" G_GINT64_FORMAT " and time_axis %" G_GINT64_FORMAT " do not fit the shapes",
                            batch, time);
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  if (!y || y->count == 0)
    return y != NULL;
  size_t part = x->bytes / (size_t)(x->dims[0] * x->dims[1]);
  for (int64_t i = 0; i < x->dims[0]; i++)
    for (int64_t j = 0; j < x->dims[1]; j++) {
      int64_t b = batch == 0 ? i : j, t = batch == 0 ? j : i, length = onnxl_tensor_int64(lengths, b);
      if (length < 0 || length > x->dims[time])
        return onnxl_ctx_invalid(context, error, "a sequence has length %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                                 length, x->dims[time]);
      int64_t from = t < length ? length - 1 - t : t;
      int64_t place = batch == 0 ? b * x->dims[1] + from : from * x->dims[1] + b;
      memcpy((char *)y->data + (size_t)(i * x->dims[1] + j) * part, (const char *)x->data + (size_t)place * part, part);
    }
  return true;
}
ONNXL_KERNEL(reverse_sequence, MOVES);

/* Both directions are one permutation of six axes. */
static bool
run_depth_to_space(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t b = onnxl_ctx_int(context, "blocksize");
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  bool crd = onnxl_str_is(mode, "CRD");
  if (!crd && mode.size > 0 && !onnxl_str_is(mode, "DCR")) /* old versions have no mode */
    return onnxl_ctx_invalid(context, error, "the mode \"%.*s\" is unknown", ONNXL_ARG(mode));
  if (x->rank != 4 || b < 1 || b > INT32_MAX || x->dims[1] % (b * b) != 0)
    return onnxl_ctx_misfit(context, error, "blocksize %" G_GINT64_FORMAT " does not fit the shape", b);
  int64_t n = x->dims[0], c = x->dims[1] / (b * b), h = x->dims[2], w = x->dims[3];
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, 4, (int64_t[]){ n, c, h * b, w * b }, error);
  if (!y || y->count == 0)
    return y != NULL;
  int64_t image = h * w, block_row = (crd ? b : b * c) * image, block = (crd ? 1 : c) * image;
  int64_t dims[] = { n, c, h, b, w, b };
  int64_t strides[] = { c * b * b * image, (crd ? b * b : 1) * image, w, block_row, 1, block };
  onnxl_copy_strided(y->data, x->data, dims, 6, strides, onnxl_element_size(x));
  return true;
}
ONNXL_KERNEL(depth_to_space, MOVES);

static bool
run_space_to_depth(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t b = onnxl_ctx_int(context, "blocksize");
  if (x->rank != 4 || b < 1 || b > INT32_MAX || x->dims[2] % b != 0 || x->dims[3] % b != 0)
    return onnxl_ctx_misfit(context, error, "blocksize %" G_GINT64_FORMAT " does not fit the shape", b);
  int64_t n = x->dims[0], c = x->dims[1], h = x->dims[2] / b, w = x->dims[3] / b, width = x->dims[3];
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, 4, (int64_t[]){ n, c * b * b, h, w }, error);
  if (!y || y->count == 0)
    return y != NULL;
  int64_t dims[] = { n, b, b, c, h, w };
  int64_t strides[] = { c * x->dims[2] * width, width, 1, x->dims[2] * width, b * width, b };
  onnxl_copy_strided(y->data, x->data, dims, 6, strides, onnxl_element_size(x));
  return true;
}
ONNXL_KERNEL(space_to_depth, MOVES);

/* Cuts or pads each axis around its middle. */
static bool
run_center_crop_pad(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *shape = onnxl_ctx_input(context, 1);
  OnnxlInt64List axes = onnxl_ctx_ints(context, "axes");
  int64_t *wanted = onnxl_ctx_int64s(context, shape, error), dims[ONNXL_MAX_RANK], part[ONNXL_MAX_RANK];
  int64_t from = 0, to = 0, source[ONNXL_MAX_RANK], target[ONNXL_MAX_RANK];
  if (!wanted)
    return false;
  bool given = onnxl_ctx_attr(context, "axes") != NULL;
  size_t n = given ? axes.count : x->rank;
  if (shape->count != (int64_t)n)
    return onnxl_ctx_invalid(context, error, "the shape has %" G_GINT64_FORMAT " values for %zu axes", shape->count, n);
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  for (size_t i = 0; i < n; i++) {
    int64_t axis = (int64_t)i;
    if (given && !onnxl_ctx_axis(context, axes.items[i], x->rank, &axis, error))
      return false;
    dims[axis] = wanted[i];
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  onnxl_strides(x->dims, x->rank, source);
  onnxl_strides(dims, x->rank, target);
  for (uint32_t i = 0; i < x->rank; i++) {
    part[i] = MIN(dims[i], x->dims[i]);
    from += (x->dims[i] - part[i]) / 2 * source[i];
    to += (dims[i] - part[i]) / 2 * target[i];
  }
  if (x->elem_type != ONNXL_TYPE_STRING)
    memset(y->data, 0, y->bytes);
  if (x->count == 0)
    return true;
  size_t size = onnxl_element_size(x);
  onnxl_move_strided((char *)y->data + to * (int64_t)size, (const char *)x->data + from * (int64_t)size, part, x->rank,
                     target, source, size);
  return true;
}
ONNXL_KERNEL(center_crop_pad, MOVES);

/* --- ordering: NaN is larger than every number --- */

typedef struct Order {
  const OnnxlValue *x;
  int64_t start, stride; /* of the vector */
} Order;

static int
compare_reals(double a, double b)
{
  if (isnan(a) || isnan(b))
    return (isnan(a) != 0) - (isnan(b) != 0);
  return (a > b) - (a < b);
}

static int
compare_elements(const OnnxlValue *x, int64_t a, int64_t b)
{
  if (x->elem_type == ONNXL_TYPE_STRING)
    return onnxl_str_compare(((const OnnxlStr *)x->data)[a], ((const OnnxlStr *)x->data)[b]);
  if (onnxl_type_is_float(x->elem_type))
    return compare_reals(onnxl_tensor_double(x, a), onnxl_tensor_double(x, b));
  int64_t p = onnxl_tensor_int64(x, a), q = onnxl_tensor_int64(x, b);
  if (x->elem_type == ONNXL_TYPE_UINT64)
    return ((uint64_t)p > (uint64_t)q) - ((uint64_t)p < (uint64_t)q);
  return (p > q) - (p < q);
}

static int
ascending(const void *a, const void *b, void *data)
{
  const Order *order = data;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int result = compare_elements(order->x, order->start + i * order->stride, order->start + j * order->stride);
  return result != 0 ? result : (i > j) - (i < j);
}

/* Largest first; of equal ones the first one. */
static int
descending(const void *a, const void *b, void *data)
{
  const Order *order = data;
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int result = compare_elements(order->x, order->start + j * order->stride, order->start + i * order->stride);
  return result != 0 ? result : (i > j) - (i < j);
}

static bool
run_top_k(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *k_input = onnxl_ctx_input(context, 1);
  int32_t since = onnxl_ctx_schema(context)->since;
  bool largest = since < 11 || onnxl_ctx_int(context, "largest") != 0;
  int64_t axis, k = onnxl_ctx_int(context, "k"), dims[ONNXL_MAX_RANK], stride = 1;
  if ((since >= 10 && !onnxl_ctx_scalar_int(context, k_input, &k, error)) ||
      !onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  int64_t n = x->dims[axis];
  if (k < 0 || k > n)
    return onnxl_ctx_invalid(context, error, "k is %" G_GINT64_FORMAT " for an axis of size %" G_GINT64_FORMAT, k, n);
  for (int64_t i = axis + 1; i < x->rank; i++)
    stride *= x->dims[i];
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  dims[axis] = k;
  OnnxlValue *values = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  OnnxlValue *indices = values ? onnxl_ctx_output(context, 1, ONNXL_TYPE_INT64, x->rank, dims, error) : NULL;
  int64_t *places = indices ? onnxl_ctx_scratch(context, (uint64_t)n, sizeof *places, error) : NULL;
  if (!places || values->count == 0)
    return places != NULL;
  size_t size = onnxl_element_size(x);
  for (int64_t v = 0; v < x->count / n; v++) {
    Order order = { x, v / stride * stride * n + v % stride, stride };
    int64_t to = v / stride * stride * k + v % stride;
    for (int64_t i = 0; i < n; i++)
      places[i] = i;
    qsort_r(places, (size_t)n, sizeof *places, largest ? descending : ascending, &order);
    for (int64_t i = 0; i < k; i++) {
      ((int64_t *)indices->data)[to + i * stride] = places[i];
      memcpy((char *)values->data + (size_t)(to + i * stride) * size,
             (const char *)x->data + (size_t)(order.start + places[i] * stride) * size, size);
    }
  }
  return true;
}
ONNXL_KERNEL(top_k, COMPUTES);

/* --- Unique: slices along an axis, or all elements --- */

typedef struct Slices {
  const OnnxlValue *x;
  int64_t outer, n, inner; /* slice i: elements (o * n + i) * inner + j */
} Slices;

static int
compare_slices(const Slices *slices, int64_t a, int64_t b)
{
  for (int64_t o = 0; o < slices->outer; o++)
    for (int64_t j = 0; j < slices->inner; j++) {
      int order =
        compare_elements(slices->x, (o * slices->n + a) * slices->inner + j, (o * slices->n + b) * slices->inner + j);
      if (order != 0)
        return order;
    }
  return 0;
}

static int
slice_order(const void *a, const void *b, void *data)
{
  int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
  int order = compare_slices(data, i, j);
  return order != 0 ? order : (i > j) - (i < j);
}

static int
first_order(const void *a, const void *b, void *data)
{
  const int64_t *firsts = data;
  int64_t i = firsts[*(const int64_t *)a], j = firsts[*(const int64_t *)b];
  return (i > j) - (i < j);
}

/* What Unique finds: for each group of equal slices its first place and size, and the group of each slice. */
typedef struct Groups {
  int64_t n;
  int64_t *firsts, *counts, *of_slice;
  int64_t *rank; /* groups in the order of the output */
} Groups;

static bool
find_groups(OnnxlKernelContext *context, Slices *slices, bool sorted, Groups *groups, GError **error)
{
  int64_t n = slices->n, **const arrays[] = { &groups->firsts, &groups->counts, &groups->of_slice, &groups->rank };
  for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
    if (!(*arrays[i] = onnxl_ctx_scratch(context, (uint64_t)n, sizeof(int64_t), error)))
      return false;
  int64_t *order = onnxl_ctx_scratch(context, (uint64_t)n, sizeof *order, error);
  if (!order)
    return false;
  for (int64_t i = 0; i < n; i++)
    order[i] = i;
  qsort_r(order, (size_t)n, sizeof *order, slice_order, slices);
  groups->n = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || compare_slices(slices, order[i - 1], order[i]) != 0) {
      groups->firsts[groups->n] = order[i];
      groups->counts[groups->n++] = 0;
    }
    groups->counts[groups->n - 1]++;
    groups->of_slice[order[i]] = groups->n - 1;
  }
  for (int64_t i = 0; i < groups->n; i++)
    groups->rank[i] = i;
  if (!sorted)
    qsort_r(groups->rank, (size_t)groups->n, sizeof *order, first_order, groups->firsts);
  return true;
}

static OnnxlValue *
unique_indices(OnnxlKernelContext *context, uint32_t output, const Groups *groups, int64_t n, GError **error)
{
  OnnxlValue *y = onnxl_ctx_output(context, output, ONNXL_TYPE_INT64, 1, &n, error);
  for (int64_t i = 0; y && i < groups->n; i++) {
    int64_t group = groups->rank[i];
    if (output == 1)
      ((int64_t *)y->data)[i] = groups->firsts[group];
    else if (output == 3)
      ((int64_t *)y->data)[i] = groups->counts[group];
  }
  return y;
}

static bool
run_unique(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  bool flat = !onnxl_ctx_attr(context, "axis");
  int64_t axis = 0, dims[ONNXL_MAX_RANK];
  Slices slices = { x, 1, x->count, 1 };
  Groups groups = { 0 };
  if (!flat && !onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  if (!flat)
    slices.n = x->dims[axis];
  for (uint32_t i = 0; i < x->rank && !flat; i++) {
    dims[i] = x->dims[i];
    *(i < axis ? &slices.outer : &slices.inner) *= i == axis ? 1 : x->dims[i];
  }
  if (!find_groups(context, &slices, onnxl_ctx_int(context, "sorted") != 0, &groups, error))
    return false;
  dims[flat ? 0 : axis] = groups.n;
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, flat ? 1 : x->rank, dims, error);
  if (!y || !unique_indices(context, 1, &groups, groups.n, error) ||
      !unique_indices(context, 3, &groups, groups.n, error))
    return false;
  OnnxlValue *inverse = unique_indices(context, 2, &groups, slices.n, error);
  int64_t *places = inverse ? onnxl_ctx_scratch(context, (uint64_t)groups.n, sizeof *places, error) : NULL;
  if (!places)
    return false;
  for (int64_t i = 0; i < groups.n; i++)
    places[groups.rank[i]] = i;
  for (int64_t i = 0; i < slices.n; i++)
    ((int64_t *)inverse->data)[i] = places[groups.of_slice[i]];
  size_t part = (size_t)slices.inner * onnxl_element_size(x);
  for (int64_t o = 0; o < slices.outer && part > 0; o++)
    for (int64_t i = 0; i < groups.n; i++)
      memcpy((char *)y->data + (size_t)(o * groups.n + i) * part,
             (const char *)x->data + (size_t)(o * slices.n + groups.firsts[groups.rank[i]]) * part, part);
  return true;
}
ONNXL_KERNEL(unique, COMPUTES);
