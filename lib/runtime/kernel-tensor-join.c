/* Taking tensors apart and putting them together: Concat, Split, Slice, Pad. */
#include "runtime/join-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"
#include "shapes/sizes.h"
#include "shapes/slice.h"
#include "support/float-formats.h"

bool
onnxl_concat(OnnxlKernelContext *context, OnnxlValue *const *inputs, uint32_t n, int64_t axis, GError **error)
{
  const OnnxlValue *first = inputs[0];
  int64_t dims[ONNXL_MAX_RANK], outer = 1, inner = 1;
  memcpy(dims, first->dims, first->rank * sizeof *dims);
  dims[axis] = 0;
  for (uint32_t t = 0; t < n; t++) {
    bool fits = inputs[t]->rank == first->rank && inputs[t]->elem_type == first->elem_type;
    for (uint32_t i = 0; fits && i < first->rank; i++)
      fits = i == axis || inputs[t]->dims[i] == first->dims[i];
    if (!fits) {
      char *a = onnxl_value_describe(first), *b = onnxl_value_describe(inputs[t]);
      onnxl_ctx_invalid(context, error, "%s and %s cannot be joined along axis %" G_GINT64_FORMAT, a, b, axis);
      g_free(a);
      g_free(b);
      return false;
    }
    if (__builtin_add_overflow(dims[axis], inputs[t]->dims[axis], &dims[axis]))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the joined size does not fit 64 bits");
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, first->elem_type, first->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  for (uint32_t i = 0; i < first->rank; i++)
    if (i < axis)
      outer *= dims[i];
    else if (i > axis)
      inner *= dims[i];
  size_t size = onnxl_element_size(first), row = (size_t)(dims[axis] * inner) * size, at = 0;
  for (uint32_t t = 0; t < n; t++) {
    size_t part = (size_t)(inputs[t]->dims[axis] * inner) * size;
    for (int64_t o = 0; part > 0 && o < outer; o++)
      memcpy((char *)y->data + (size_t)o * row + at, (const char *)inputs[t]->data + (size_t)o * part, part);
    at += part;
  }
  return true;
}

static bool
run_concat(OnnxlKernelContext *context, GError **error)
{
  uint32_t n = onnxl_ctx_n_inputs(context);
  int64_t axis = onnxl_ctx_int(context, "axis");
  if (onnxl_ctx_schema(context)->since < 4 && !onnxl_ctx_attr(context, "axis"))
    axis = 1;
  OnnxlValue **inputs = onnxl_ctx_scratch(context, n, sizeof *inputs, error);
  for (uint32_t i = 0; inputs && i < n; i++)
    inputs[i] = onnxl_ctx_input(context, i);
  return inputs && onnxl_ctx_axis(context, axis, inputs[0]->rank, &axis, error) &&
         onnxl_concat(context, inputs, n, axis, error);
}
ONNXL_KERNEL(concat, MOVES);

/* The elements of y, which are those of x from start on along axis, when they are smaller than a byte. */
static bool
slice_packed(OnnxlAllocator *allocator, const OnnxlValue *x, int64_t axis, int64_t start, OnnxlValue *y,
             GError **error)
{
  unsigned bits = onnxl_data_type_bits(x->elem_type);
  OnnxlValue *codes = onnxl_value_new_tensor(allocator, ONNXL_TYPE_UINT8, 1, &y->count, "a part of a tensor", error);
  if (!codes)
    return false;
  int64_t run = y->dims[axis], step = x->dims[axis];
  for (int64_t i = axis + 1; i < x->rank; i++) {
    run *= x->dims[i];
    step *= x->dims[i];
  }
  int64_t first = step / x->dims[axis] * start;
  for (int64_t i = 0; i < y->count; i++)
    ((uint8_t *)codes->data)[i] = onnxl_packed_get(x->data, (size_t)(i / run * step + first + i % run), bits);
  onnxl_pack(codes->data, (size_t)y->count, bits, y->data);
  onnxl_value_unref(codes);
  return true;
}

OnnxlValue *
onnxl_slice_axis(OnnxlAllocator *allocator, const OnnxlValue *x, int64_t axis, int64_t start, int64_t length,
                 GError **error)
{
  int64_t dims[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK];
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  dims[axis] = length;
  OnnxlValue *y = onnxl_value_new_tensor(allocator, x->elem_type, x->rank, dims, "a part of a tensor", error);
  if (!y || y->count == 0)
    return y;
  size_t size = onnxl_element_size(x);
  if (size == 0) {
    if (!slice_packed(allocator, x, axis, start, y, error))
      g_clear_pointer(&y, onnxl_value_unref);
    return y;
  }
  onnxl_strides(x->dims, x->rank, strides);
  onnxl_copy_strided(y->data, (const char *)x->data + start * strides[axis] * (int64_t)size, dims, x->rank, strides,
                     size);
  return y;
}

/* The lengths of the n parts of an axis: given, or equal ones with a shorter last. */
static bool
split_lengths(OnnxlKernelContext *context, int64_t size, uint32_t n, int64_t *lengths, GError **error)
{
  int32_t since = onnxl_ctx_schema(context)->since;
  const OnnxlValue *input = onnxl_ctx_input(context, 1);
  OnnxlInt64List list = onnxl_ctx_ints(context, "split");
  if (input || onnxl_ctx_attr(context, "split")) {
    int64_t count = input ? input->count : (int64_t)list.count, sum = 0;
    if (count != n)
      return onnxl_ctx_invalid(context, error, "%" G_GINT64_FORMAT " lengths are given for %u outputs", count, n);
    for (uint32_t i = 0; i < n; i++) {
      lengths[i] = input ? onnxl_tensor_int64(input, i) : list.items[i];
      if (lengths[i] < 0 || lengths[i] > size - sum)
        return onnxl_ctx_invalid(context, error,
                                 "the length %" G_GINT64_FORMAT " of output %u does not fit what is left of "
                                 "the axis of size %" G_GINT64_FORMAT,
                                 lengths[i], i, size);
      sum += lengths[i];
    }
    if (sum != size)
      return onnxl_ctx_invalid(context, error,
                               "the lengths sum up to %" G_GINT64_FORMAT " when the axis has size %" G_GINT64_FORMAT,
                               sum, size);
    return true;
  }
  if (since < 18 && size % n != 0)
    return onnxl_ctx_invalid(context, error,
                             "the axis of size %" G_GINT64_FORMAT " cannot be split into %u equal parts", size, n);
  for (uint32_t i = 0; i < n; i++)
    lengths[i] = onnxl_split_part(size, n, i);
  return true;
}

static bool
run_split(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  const OnnxlNode *node = onnxl_ctx_node(context);
  uint32_t n = (uint32_t)node->output.count;
  int64_t axis, start = 0;
  if (onnxl_ctx_attr(context, "num_outputs") && onnxl_ctx_int(context, "num_outputs") != n)
    return onnxl_ctx_invalid(context, error, "num_outputs is %" G_GINT64_FORMAT " when the node has %u outputs",
                             onnxl_ctx_int(context, "num_outputs"), n);
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  int64_t *lengths = onnxl_ctx_scratch(context, n, sizeof *lengths, error);
  if (!lengths || !split_lengths(context, x->dims[axis], n, lengths, error))
    return false;
  for (uint32_t i = 0; i < n; i++) {
    OnnxlValue *y = onnxl_slice_axis(onnxl_ctx_allocator(context), x, axis, start, lengths[i], error);
    if (!y)
      return false;
    onnxl_ctx_set_output(context, i, y);
    start += lengths[i];
  }
  return true;
}
ONNXL_KERNEL(split, MOVES);

static bool
slice_operand(OnnxlKernelContext *context, uint32_t i, const char *attribute, const int64_t **ret_values,
              int64_t *ret_n, GError **error)
{
  const OnnxlValue *input = onnxl_ctx_input(context, i);
  OnnxlInt64List list = onnxl_ctx_ints(context, attribute);
  static const int64_t none;
  *ret_values = list.count > 0 ? list.items : onnxl_ctx_attr(context, attribute) ? &none : NULL;
  *ret_n = (int64_t)list.count;
  if (!input)
    return true;
  *ret_n = input->count;
  *ret_values = onnxl_ctx_int64s(context, input, error);
  return *ret_values != NULL;
}

static bool
run_slice(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  const int64_t *starts, *ends, *axes, *steps;
  int64_t n, n_ends, n_axes, n_steps;
  if (!slice_operand(context, 1, "starts", &starts, &n, error) ||
      !slice_operand(context, 2, "ends", &ends, &n_ends, error) ||
      !slice_operand(context, 3, "axes", &axes, &n_axes, error) ||
      !slice_operand(context, 4, "steps", &steps, &n_steps, error))
    return false;
  if (n_ends != n || (axes && n_axes != n) || (steps && n_steps != n) || n > x->rank)
    return onnxl_ctx_invalid(context, error,
                             "starts has %" G_GINT64_FORMAT " values, ends %" G_GINT64_FORMAT ", axes %" G_GINT64_FORMAT
                             ", steps %" G_GINT64_FORMAT " for a tensor of rank %u",
                             n, n_ends, n_axes, n_steps, x->rank);
  int64_t dims[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK], offset = 0;
  bool seen[ONNXL_MAX_RANK] = { false };
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  onnxl_strides(x->dims, x->rank, strides);
  for (int64_t i = 0; i < n; i++) {
    int64_t axis, first, step = steps ? steps[i] : 1;
    if (!onnxl_ctx_axis(context, axes ? axes[i] : i, x->rank, &axis, error))
      return false;
    if (seen[axis])
      return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is sliced twice", axis);
    if (step == 0)
      return onnxl_ctx_invalid(context, error, "the step of axis %" G_GINT64_FORMAT " is 0", axis);
    seen[axis] = true;
    onnxl_slice_range(x->dims[axis], starts[i], ends[i], step, &first, &dims[axis]);
    offset += first * strides[axis];
    /* A step over the end is taken at most once, so its size does not matter. */
    strides[axis] *= dims[axis] > 1 ? step : 1;
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  size_t size = onnxl_element_size(x);
  if (y && y->count > 0)
    onnxl_copy_strided(y->data, (const char *)x->data + offset * (int64_t)size, dims, x->rank, strides, size);
  return y != NULL;
}
ONNXL_KERNEL(slice, MOVES);

/* --- Pad --- */

typedef enum PadMode { PAD_CONSTANT, PAD_REFLECT, PAD_EDGE, PAD_WRAP } PadMode;

/* Where position i of an axis of size n (which may lie outside) comes from; -1 = the constant. */
static int64_t
pad_source(PadMode mode, int64_t i, int64_t n)
{
  if (i >= 0 && i < n)
    return i;
  switch (mode) {
  case PAD_EDGE:
    return i < 0 ? 0 : n - 1;
  case PAD_WRAP:
    return (i % n + n) % n;
  case PAD_REFLECT: {
    if (n == 1)
      return 0;
    int64_t period = 2 * (n - 1), place = (i % period + period) % period;
    return place < n ? place : period - place;
  }
  default:
    return -1;
  }
}

static bool
pad_amounts(OnnxlKernelContext *context, const OnnxlValue *x, int64_t before[ONNXL_MAX_RANK],
            int64_t after[ONNXL_MAX_RANK], GError **error)
{
  int32_t since = onnxl_ctx_schema(context)->since;
  const OnnxlValue *input = onnxl_ctx_input(context, 1), *axes = onnxl_ctx_input(context, 3);
  OnnxlInt64List list = onnxl_ctx_ints(context, since < 2 ? "paddings" : "pads");
  int64_t n = axes ? axes->count : x->rank, count = since < 11 ? (int64_t)list.count : input->count;
  memset(before, 0, ONNXL_MAX_RANK * sizeof *before);
  memset(after, 0, ONNXL_MAX_RANK * sizeof *after);
  if (count != 2 * n)
    return onnxl_ctx_invalid(
      context, error, "pads has %" G_GINT64_FORMAT " values when %" G_GINT64_FORMAT " axes need two each", count, n);
  for (int64_t i = 0; i < n; i++) {
    int64_t axis = i;
    if (axes && !onnxl_ctx_axis(context, onnxl_tensor_int64(axes, i), x->rank, &axis, error))
      return false;
    before[axis] = since < 11 ? list.items[i] : onnxl_tensor_int64(input, i);
    after[axis] = since < 11 ? list.items[i + n] : onnxl_tensor_int64(input, i + n);
  }
  return true;
}

/* Copies along axis and everything inside it. source -1: outside the input, only the constant is left. */
static void
pad_axis(const OnnxlValue *x, OnnxlValue *y, uint32_t axis, int64_t from, int64_t *to, const int64_t *const *sources,
         const int64_t *strides, const char *constant, size_t size)
{
  for (int64_t i = 0; i < y->dims[axis]; i++) {
    int64_t source = from < 0 ? -1 : sources[axis][i];
    int64_t next = source < 0 ? -1 : from + source * strides[axis];
    if (axis + 1 < y->rank) {
      pad_axis(x, y, axis + 1, next, to, sources, strides, constant, size);
      continue;
    }
    memcpy((char *)y->data + *to * (int64_t)size, next < 0 ? constant : (const char *)x->data + next * (int64_t)size,
           size);
    ++*to;
  }
}

static bool
run_pad(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *value = onnxl_ctx_input(context, 2);
  OnnxlStr name = onnxl_ctx_string(context, "mode");
  int64_t before[ONNXL_MAX_RANK], after[ONNXL_MAX_RANK], dims[ONNXL_MAX_RANK], strides[ONNXL_MAX_RANK], to = 0;
  const int64_t *sources[ONNXL_MAX_RANK];
  size_t size = onnxl_element_size(x);
  PadMode mode = onnxl_str_is(name, "reflect") ? PAD_REFLECT
                 : onnxl_str_is(name, "edge")  ? PAD_EDGE
                 : onnxl_str_is(name, "wrap")  ? PAD_WRAP
                                               : PAD_CONSTANT;
  if (mode == PAD_CONSTANT && !onnxl_str_is(name, "constant"))
    return onnxl_ctx_invalid(context, error, "the mode \"%.*s\" is unknown", ONNXL_ARG(name));
  if (value && value->count != 1)
    return onnxl_ctx_invalid(context, error, "constant_value must have one element");
  if (!pad_amounts(context, x, before, after, error))
    return false;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (__builtin_add_overflow(x->dims[i], before[i], &dims[i]) || __builtin_add_overflow(dims[i], after[i], &dims[i]))
      return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "the padded size does not fit 64 bits");
    if (dims[i] > 0 && x->dims[i] == 0 && mode != PAD_CONSTANT)
      return onnxl_ctx_invalid(context, error, "axis %u is empty, so there is nothing to pad it with", i);
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, x->elem_type, x->rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  for (uint32_t i = 0; i < x->rank; i++) {
    int64_t *source = onnxl_ctx_scratch(context, (uint64_t)dims[i], sizeof *source, error);
    if (!source)
      return false;
    for (int64_t j = 0; j < dims[i]; j++)
      source[j] = pad_source(mode, j - before[i], x->dims[i]);
    sources[i] = source;
  }
  char constant[sizeof(Bytes16)] = { 0 };
  if (value)
    memcpy(constant, value->data, size);
  else if (x->elem_type == ONNXL_TYPE_STRING)
    memcpy(constant, &ONNXL_STR(""), sizeof(OnnxlStr));
  else if (onnxl_ctx_float(context, "value") != 0) { /* before opset 11, for floating point */
    OnnxlValue *number = onnxl_value_new_tensor(onnxl_ctx_allocator(context), x->elem_type, 0, NULL, "a number", error);
    if (!number)
      return false;
    onnxl_tensor_write_double(number, 0, 1, &(double){ onnxl_ctx_float(context, "value") });
    memcpy(constant, number->data, size);
    onnxl_value_unref(number);
  }
  onnxl_strides(x->dims, x->rank, strides);
  if (x->rank == 0)
    memcpy(y->data, x->data, size);
  else
    pad_axis(x, y, 0, 0, &to, sources, strides, constant, size);
  return true;
}
ONNXL_KERNEL(pad, MOVES);
