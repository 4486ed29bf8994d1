/* Operators that ask for a tensor's shape or change it without touching the elements. */
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "shapes/broadcast.h"
#include "shapes/reshape.h"
#include "shapes/slice.h"

static bool
set_view(OnnxlKernelContext *context, OnnxlValue *x, uint32_t rank, const int64_t *dims)
{
  onnxl_ctx_set_output(context, 0, onnxl_value_new_view(x, x->elem_type, rank, dims));
  return true;
}

static bool
run_identity(OnnxlKernelContext *context, GError **error)
{
  onnxl_ctx_set_output(context, 0, onnxl_value_ref(onnxl_ctx_input(context, 0)));
  return true;
}
ONNXL_KERNEL(identity, EXACT);

static bool
run_shape(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t start = onnxl_ctx_int(context, "start"), end = x->rank, n;
  if (onnxl_ctx_attr(context, "end"))
    end = onnxl_ctx_int(context, "end");
  onnxl_slice_range(x->rank, start, end, 1, &start, &n);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, 1, &n, error);
  if (y && n > 0)
    memcpy(y->data, x->dims + start, (size_t)n * sizeof(int64_t));
  return y != NULL;
}
ONNXL_KERNEL(shape, EXACT);

static bool
run_size(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, 0, NULL, error);
  if (y)
    *(int64_t *)y->data = onnxl_ctx_input(context, 0)->count;
  return y != NULL;
}
ONNXL_KERNEL(size, EXACT);

static bool
run_reshape(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  const OnnxlValue *shape = onnxl_ctx_input(context, 1);
  OnnxlInt64List list = onnxl_ctx_ints(context, "shape");
  const int64_t *wanted = list.items;
  int64_t n = (int64_t)list.count;
  if (shape) {
    wanted = onnxl_ctx_int64s(context, shape, error);
    n = shape->count;
    if (!wanted)
      return false;
  }
  if (n > ONNXL_MAX_RANK)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a shape of rank %" G_GINT64_FORMAT " is not supported",
                          n);
  bool allow_zero = onnxl_ctx_int(context, "allowzero") != 0;
  int64_t dims[ONNXL_MAX_RANK];
  if (onnxl_reshape_dims(x->dims, x->rank, wanted, (size_t)n, allow_zero, dims))
    return set_view(context, x, (uint32_t)n, dims);
  char *from = onnxl_dims_text(x->dims, x->rank), *to = onnxl_dims_text(wanted, (size_t)n);
  onnxl_ctx_invalid(context, error, "the shape %s cannot be reshaped to %s", from, to);
  g_free(from);
  g_free(to);
  return false;
}
ONNXL_KERNEL(reshape, EXACT);

static bool
run_flatten(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t axis = onnxl_ctx_int(context, "axis"), dims[2] = { 1, 1 };
  if (axis < 0)
    axis += x->rank;
  if (axis < 0 || axis > x->rank)
    return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is outside a tensor of rank %u",
                             onnxl_ctx_int(context, "axis"), x->rank);
  for (int64_t i = 0; i < x->rank; i++)
    if (__builtin_mul_overflow(dims[i >= axis], x->dims[i], &dims[i >= axis]))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the flattened sizes do not fit 64 bits");
  return set_view(context, x, 2, dims);
}
ONNXL_KERNEL(flatten, EXACT);

/* The axes of Squeeze and Unsqueeze: from the second input, or from the attribute before opset 13. *ret_n is -1 when
 * there is neither. */
static bool
get_axes(OnnxlKernelContext *context, const int64_t **ret_axes, int64_t *ret_n, GError **error)
{
  const OnnxlValue *input = onnxl_ctx_input(context, 1);
  OnnxlInt64List list = onnxl_ctx_ints(context, "axes");
  *ret_axes = list.items;
  *ret_n = onnxl_ctx_attr(context, "axes") ? (int64_t)list.count : -1;
  if (!input)
    return true;
  *ret_n = input->count;
  *ret_axes = onnxl_ctx_int64s(context, input, error);
  return *ret_axes != NULL;
}

static bool
run_squeeze(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  const int64_t *axes;
  int64_t n, dims[ONNXL_MAX_RANK];
  bool dropped[ONNXL_MAX_RANK] = { false };
  uint32_t rank = 0;
  if (!get_axes(context, &axes, &n, error))
    return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t axis;
    if (!onnxl_ctx_axis(context, axes[i], x->rank, &axis, error))
      return false;
    if (x->dims[axis] != 1)
      return onnxl_ctx_invalid(context, error,
                               "axis %" G_GINT64_FORMAT " has size %" G_GINT64_FORMAT " when 1 is needed", axes[i],
                               x->dims[axis]);
    if (dropped[axis])
      return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " stands twice", axes[i]);
    dropped[axis] = true;
  }
  /* Without a list all axes of size 1; an empty one names none. */
  for (uint32_t i = 0; i < x->rank; i++)
    if (n < 0 ? x->dims[i] != 1 : !dropped[i])
      dims[rank++] = x->dims[i];
  return set_view(context, x, rank, dims);
}
ONNXL_KERNEL(squeeze, EXACT);

static bool
run_unsqueeze(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  const int64_t *axes;
  int64_t n, dims[ONNXL_MAX_RANK];
  bool added[ONNXL_MAX_RANK] = { false };
  if (!get_axes(context, &axes, &n, error))
    return false;
  if (n < 0)
    return onnxl_ctx_invalid(context, error, "no axes are given");
  if (n > ONNXL_MAX_RANK - x->rank)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a rank above %d is not supported", ONNXL_MAX_RANK);
  uint32_t rank = x->rank + (uint32_t)n, from = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t axis;
    if (!onnxl_ctx_axis(context, axes[i], rank, &axis, error))
      return false;
    if (added[axis])
      return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is named twice", axes[i]);
    added[axis] = true;
  }
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = added[i] ? 1 : x->dims[from++];
  return set_view(context, x, rank, dims);
}
ONNXL_KERNEL(unsqueeze, EXACT);

static bool
run_transpose(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlInt64List perm = onnxl_ctx_ints(context, "perm");
  int64_t dims[ONNXL_MAX_RANK], own[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK];
  bool seen[ONNXL_MAX_RANK] = { false };
  bool given = onnxl_ctx_attr(context, "perm") != NULL;
  if (given && perm.count != x->rank)
    return onnxl_ctx_invalid(context, error, "perm has %zu values when the input has rank %u", perm.count, x->rank);
  onnxl_strides(x->dims, x->rank, own);
  for (uint32_t i = 0; i < x->rank; i++) {
    int64_t axis = x->rank - 1 - i;
    if (given && !onnxl_ctx_axis(context, perm.items[i], x->rank, &axis, error))
      return false;
    if (seen[axis])
      return onnxl_ctx_invalid(context, error, "perm names axis %" G_GINT64_FORMAT " twice", axis);
    seen[axis] = true;
    dims[i] = x->dims[axis];
    strides[i] = own[axis];
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (y)
    onnxl_copy_strided(y->data, x->data, dims, x->rank, strides, onnxl_element_size(x));
  return y != NULL;
}
ONNXL_KERNEL(transpose, MOVES);

static bool
run_expand(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *shape = onnxl_ctx_input(context, 1);
  int64_t *wanted = onnxl_ctx_int64s(context, shape, error), dims[ONNXL_MAX_RANK];
  if (!wanted)
    return false;
  if (shape->count > ONNXL_MAX_RANK)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a rank above %d is not supported", ONNXL_MAX_RANK);
  uint32_t n = (uint32_t)shape->count, rank = MAX(n, x->rank);
  bool good = true;
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = 1;
  for (uint32_t i = 0; i < n; i++)
    good = good && wanted[i] >= 0;
  if (!good || !onnxl_broadcast_dims(dims, rank, x->dims, x->rank) || !onnxl_broadcast_dims(dims, rank, wanted, n)) {
    char *from = onnxl_dims_text(x->dims, x->rank), *to = onnxl_dims_text(wanted, n);
    onnxl_ctx_invalid(context, error, "the shape %s cannot be expanded to %s", from, to);
    g_free(from);
    g_free(to);
    return false;
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, rank, dims, error);
  if (!y)
    return false;
  OnnxlLoop loop;
  onnxl_loop_init(&loop, dims, rank);
  onnxl_loop_add(&loop, x);
  onnxl_copy_strided(y->data, x->data, dims, rank, loop.strides[0], onnxl_element_size(x));
  return true;
}
ONNXL_KERNEL(expand, MOVES);

static bool
run_tile(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *second = onnxl_ctx_input(context, 1);
  int64_t dims[ONNXL_MAX_RANK], nest[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK], own[ONNXL_MAX_RANK];
  int64_t repeats[ONNXL_MAX_RANK];
  if (2 * x->rank > ONNXL_MAX_RANK)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a rank of %u is not supported", x->rank);
  if (onnxl_ctx_schema(context)->since < 6) { /* scalars: how often, along which axis */
    int64_t times, axis;
    if (!onnxl_ctx_scalar_int(context, second, &times, error) ||
        !onnxl_ctx_scalar_int(context, onnxl_ctx_input(context, 2), &axis, error) ||
        !onnxl_ctx_axis(context, axis, x->rank, &axis, error))
      return false;
    for (uint32_t i = 0; i < x->rank; i++)
      repeats[i] = i == axis ? times : 1;
  } else {
    if (second->count != x->rank)
      return onnxl_ctx_invalid(context, error, "repeats has %" G_GINT64_FORMAT " values when the input has rank %u",
                               second->count, x->rank);
    onnxl_tensor_read_int64(second, 0, x->rank, repeats);
  }
  onnxl_strides(x->dims, x->rank, own);
  for (uint32_t i = 0; i < x->rank; i++) {
    if (repeats[i] < 0)
      return onnxl_ctx_invalid(context, error, "repeats has the negative value %" G_GINT64_FORMAT, repeats[i]);
    if (__builtin_mul_overflow(x->dims[i], repeats[i], &dims[i]))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the tiled sizes do not fit 64 bits");
    nest[2 * i] = repeats[i];
    nest[2 * i + 1] = x->dims[i];
    strides[2 * i] = 0;
    strides[2 * i + 1] = own[i];
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (y)
    onnxl_copy_strided(y->data, x->data, nest, 2 * x->rank, strides, onnxl_element_size(x));
  return y != NULL;
}
ONNXL_KERNEL(tile, MOVES);
