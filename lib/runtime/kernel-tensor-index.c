/* Gathering and scattering by index. */
#include "runtime/combine-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"

/* An index in [0, n), negative ones counted from the end. */
static bool
get_index(const OnnxlKernelContext *context, int64_t index, int64_t n, int64_t *ret_index, GError **error)
{
  int64_t positive = index < 0 ? index + n : index;
  *ret_index = 0;
  if (positive < 0 || positive >= n)
    return onnxl_ctx_invalid(context, error,
                             "the index %" G_GINT64_FORMAT " is outside an axis of size %" G_GINT64_FORMAT, index, n);
  *ret_index = positive;
  return true;
}

static int64_t
product(const int64_t *dims, int64_t first, int64_t end)
{
  int64_t result = 1;
  for (int64_t i = first; i < end; i++)
    result *= dims[i];
  return result;
}

static bool
run_gather(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  int64_t axis, dims[2 * ONNXL_MAX_RANK];
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  uint32_t rank = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis)
      dims[rank++] = x->dims[i];
    else
      for (uint32_t j = 0; j < indices->rank; j++)
        dims[rank++] = indices->dims[j];
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error);
  int64_t *list = y ? onnxl_ctx_int64s(context, indices, error) : NULL;
  if (!list)
    return false;
  for (int64_t i = 0; i < indices->count; i++)
    if (!get_index(context, list[i], x->dims[axis], &list[i], error))
      return false;
  int64_t outer = product(x->dims, 0, axis), inner = product(x->dims, axis + 1, x->rank);
  size_t part = (size_t)inner * onnxl_element_size(x);
  char *to = y->data;
  for (int64_t o = 0; y->count > 0 && o < outer; o++)
    for (int64_t i = 0; i < indices->count; i++, to += part)
      memcpy(to, (const char *)x->data + (size_t)(o * x->dims[axis] + list[i]) * part, part);
  return true;
}
ONNXL_KERNEL(gather, MOVES);

static bool
run_gather_elements(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  int64_t axis, strides[ONNXL_MAX_RANK];
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  bool fits = indices->rank == x->rank;
  for (uint32_t i = 0; fits && i < x->rank; i++)
    fits = i == axis || indices->dims[i] <= x->dims[i];
  if (!fits)
    return onnxl_ctx_misfit(context, error, "the shapes do not fit along axis %" G_GINT64_FORMAT, axis);
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, indices->rank, indices->dims, error);
  int64_t *list = y ? onnxl_ctx_int64s(context, indices, error) : NULL;
  if (!list)
    return false;
  onnxl_strides(x->dims, x->rank, strides);
  size_t size = onnxl_element_size(x);
  for (int64_t i = 0; i < indices->count; i++) {
    int64_t from = 0, rest = i, at;
    for (uint32_t d = x->rank; d-- > 0; rest /= indices->dims[d])
      from += d == axis ? 0 : rest % indices->dims[d] * strides[d];
    if (!get_index(context, list[i], x->dims[axis], &at, error))
      return false;
    memcpy((char *)y->data + (size_t)i * size, (const char *)x->data + (size_t)(from + at * strides[axis]) * size,
           size);
  }
  return true;
}
ONNXL_KERNEL(gather_elements, MOVES);

/* The place of the slice that the k indices at list name in x from axis first on. */
static bool
slice_place(const OnnxlKernelContext *context, const OnnxlValue *x, int64_t first, const int64_t *list, int64_t k,
            int64_t *ret_place, GError **error)
{
  int64_t place = 0;
  for (int64_t i = 0; i < k; i++) {
    int64_t at;
    if (!get_index(context, list[i], x->dims[first + i], &at, error))
      return false;
    place = place * x->dims[first + i] + at;
  }
  *ret_place = place;
  return true;
}

static bool
run_gather_nd(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  int64_t batch = onnxl_ctx_int(context, "batch_dims"), dims[2 * ONNXL_MAX_RANK];
  int64_t k = indices->rank > 0 ? indices->dims[indices->rank - 1] : -1;
  bool fits = batch >= 0 && batch < indices->rank && batch < x->rank && k >= 1 && batch + k <= x->rank;
  for (int64_t i = 0; fits && i < batch; i++)
    fits = x->dims[i] == indices->dims[i];
  if (!fits) {
    char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(indices->dims, indices->rank);
    onnxl_ctx_invalid(context, error, "the data %s and the indices %s do not fit with batch_dims %" G_GINT64_FORMAT, a,
                      b, batch);
    g_free(a);
    g_free(b);
    return false;
  }
  uint32_t rank = 0;
  for (uint32_t i = 0; i + 1 < indices->rank; i++)
    dims[rank++] = indices->dims[i];
  for (uint32_t i = (uint32_t)(batch + k); i < x->rank; i++)
    dims[rank++] = x->dims[i];
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error);
  int64_t *list = y ? onnxl_ctx_int64s(context, indices, error) : NULL;
  if (!list)
    return false;
  int64_t tuples = product(indices->dims, 0, indices->rank - 1), batches = product(x->dims, 0, batch);
  int64_t inner = product(x->dims, batch + k, x->rank), block = product(x->dims, batch, x->rank);
  size_t part = (size_t)inner * onnxl_element_size(x);
  for (int64_t i = 0; y->count > 0 && i < tuples; i++) {
    int64_t place;
    if (!slice_place(context, x, batch, list + i * k, k, &place, error))
      return false;
    int64_t b = i / (tuples / batches);
    memcpy((char *)y->data + (size_t)i * part,
           (const char *)x->data + (size_t)(b * block) * onnxl_element_size(x) + (size_t)place * part, part);
  }
  return true;
}
ONNXL_KERNEL(gather_nd, MOVES);

/* --- scattering, plain or combined with what is there --- */

static bool
get_combine(const OnnxlKernelContext *context, const OnnxlValue *x, OnnxlCombine *ret_combine, GError **error)
{
  OnnxlStr name = onnxl_ctx_string(context, "reduction");
  *ret_combine = ONNXL_COMBINE_NONE;
  if (name.size == 0)
    return true;
  for (OnnxlCombine i = ONNXL_COMBINE_NONE; i <= ONNXL_COMBINE_MIN; i++)
    if (onnxl_str_is(name, onnxl_combine_name(i))) {
      *ret_combine = i;
      return onnxl_combine_check(context, i, x, error);
    }
  return onnxl_ctx_invalid(context, error, "the reduction \"%.*s\" is unknown", ONNXL_ARG(name));
}

static OnnxlValue *
copy_input(OnnxlKernelContext *context, const OnnxlValue *x, GError **error)
{
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x, error);
  if (y)
    memcpy(y->data, x->data, x->bytes);
  return y;
}

static bool
run_scatter_elements(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  const OnnxlValue *updates = onnxl_ctx_input(context, 2);
  int64_t axis, strides[ONNXL_MAX_RANK];
  OnnxlCombine combine;
  if (!get_combine(context, x, &combine, error) ||
      !onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  bool fits = indices->rank == x->rank && updates->rank == x->rank;
  for (uint32_t i = 0; fits && i < x->rank; i++)
    fits = updates->dims[i] == indices->dims[i] && (i == axis || indices->dims[i] <= x->dims[i]);
  if (!fits)
    return onnxl_ctx_misfit(context, error, "the shapes do not fit along axis %" G_GINT64_FORMAT, axis);
  OnnxlValue *y = copy_input(context, x, error);
  int64_t *list = y ? onnxl_ctx_int64s(context, indices, error) : NULL;
  if (!list)
    return false;
  onnxl_strides(x->dims, x->rank, strides);
  for (int64_t i = 0; i < indices->count; i++) {
    int64_t to = 0, rest = i, at;
    for (uint32_t d = x->rank; d-- > 0; rest /= indices->dims[d])
      to += d == axis ? 0 : rest % indices->dims[d] * strides[d];
    if (!get_index(context, list[i], x->dims[axis], &at, error))
      return false;
    onnxl_combine(combine, y, to + at * strides[axis], updates, i, 1);
  }
  return true;
}
ONNXL_KERNEL(scatter_elements, COMPUTES);

static bool
run_scatter_nd(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *indices = onnxl_ctx_input(context, 1);
  const OnnxlValue *updates = onnxl_ctx_input(context, 2);
  OnnxlCombine combine;
  if (!get_combine(context, x, &combine, error))
    return false;
  int64_t k = indices->rank > 0 ? indices->dims[indices->rank - 1] : -1;
  bool fits = k >= 0 && k <= x->rank && updates->rank == indices->rank - 1 + x->rank - k;
  for (uint32_t i = 0; fits && i < updates->rank; i++)
    fits = updates->dims[i] == (i + 1 < indices->rank ? indices->dims[i] : x->dims[i - (indices->rank - 1) + k]);
  if (!fits) {
    char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(indices->dims, indices->rank);
    char *c = onnxl_dims_text(updates->dims, updates->rank);
    onnxl_ctx_invalid(context, error, "the data %s, indices %s and updates %s do not fit", a, b, c);
    g_free(a);
    g_free(b);
    g_free(c);
    return false;
  }
  OnnxlValue *y = copy_input(context, x, error);
  int64_t *list = y ? onnxl_ctx_int64s(context, indices, error) : NULL;
  if (!list)
    return false;
  int64_t tuples = product(indices->dims, 0, indices->rank - 1), inner = product(x->dims, k, x->rank);
  for (int64_t i = 0; updates->count > 0 && i < tuples; i++) {
    int64_t place;
    if (!slice_place(context, x, 0, list + i * k, k, &place, error))
      return false;
    onnxl_combine(combine, y, place * inner, updates, i * inner, inner);
  }
  return true;
}
ONNXL_KERNEL(scatter_nd, COMPUTES);

/* Writes updates into a cache at a position of each batch entry. */
static bool
run_tensor_scatter(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *updates = onnxl_ctx_input(context, 1);
  const OnnxlValue *starts = onnxl_ctx_input(context, 2);
  OnnxlStr mode = onnxl_ctx_string(context, "mode");
  bool circular = onnxl_str_is(mode, "circular");
  int64_t axis;
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  bool fits = updates->rank == x->rank && axis > 0;
  for (uint32_t i = 0; fits && i < x->rank; i++)
    fits = i == axis ? updates->dims[i] <= x->dims[i] : updates->dims[i] == x->dims[i];
  if (!fits || (starts && starts->count != x->dims[0]))
    return onnxl_ctx_misfit(context, error, "the shapes do not fit along axis %" G_GINT64_FORMAT, axis);
  OnnxlValue *y = copy_input(context, x, error);
  if (!y || updates->count == 0)
    return y != NULL;
  int64_t outer = product(x->dims, 1, axis), inner = product(x->dims, axis + 1, x->rank), n = updates->dims[axis];
  size_t part = (size_t)inner * onnxl_element_size(x);
  for (int64_t b = 0; b < x->dims[0]; b++)
    for (int64_t t = 0; t < n; t++) {
      int64_t start = starts ? onnxl_tensor_int64(starts, b) : 0, at;
      if (__builtin_add_overflow(start, t, &at) || start < 0 || (!circular && at >= x->dims[axis]))
        return onnxl_ctx_invalid(context, error,
                                 "position %" G_GINT64_FORMAT " plus %" G_GINT64_FORMAT
                                 " is outside the cache of %" G_GINT64_FORMAT,
                                 start, t, x->dims[axis]);
      at %= x->dims[axis];
      for (int64_t o = 0; o < outer; o++)
        memcpy((char *)y->data + (size_t)((b * outer + o) * x->dims[axis] + at) * part,
               (const char *)updates->data + (size_t)((b * outer + o) * n + t) * part, part);
    }
  return true;
}
ONNXL_KERNEL(tensor_scatter, MOVES);

static bool
run_one_hot(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *indices = onnxl_ctx_input(context, 0), *depth_input = onnxl_ctx_input(context, 1);
  const OnnxlValue *values = onnxl_ctx_input(context, 2);
  int64_t axis, depth, dims[ONNXL_MAX_RANK + 1];
  if (!onnxl_ctx_scalar_int(context, depth_input, &depth, error) ||
      !onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), indices->rank + 1, &axis, error))
    return false;
  if (depth < 0)
    return onnxl_ctx_invalid(context, error, "the depth is %" G_GINT64_FORMAT, depth);
  if (values->count != 2)
    return onnxl_ctx_invalid(
      context, error, "values has %" G_GINT64_FORMAT " elements when two, off and on, are needed", values->count);
  for (uint32_t i = 0; i <= indices->rank; i++)
    dims[i] = i == axis ? depth : indices->dims[i - (i > axis)];
  OnnxlValue *y = onnxl_ctx_output(context, 0, values->elem_type, indices->rank + 1, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  size_t size = onnxl_element_size(y);
  int64_t inner = product(indices->dims, axis, indices->rank);
  for (int64_t i = 0; i < y->count; i++)
    memcpy((char *)y->data + (size_t)i * size, values->data, size);
  for (int64_t i = 0; i < indices->count; i++) {
    int64_t at = onnxl_tensor_int64(indices, i);
    at = at < 0 ? at + depth : at;
    if (at >= 0 && at < depth) /* an index outside leaves the "off" value everywhere */
      memcpy((char *)y->data + (size_t)((i / inner * depth + at) * inner + i % inner) * size,
             (const char *)values->data + size, size);
  }
  return true;
}
ONNXL_KERNEL(one_hot, MOVES);
