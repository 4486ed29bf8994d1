/* Sequences and optionals. */
#include "runtime/join-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/value-type.h"

static OnnxlValue *
new_sequence(OnnxlKernelContext *context, OnnxlTypeKind kind, int32_t elem_type, OnnxlValue *const *items, size_t n)
{
  return onnxl_value_new_sequence(onnxl_ctx_allocator(context), kind, elem_type, items, n);
}

static bool
need_sequence(const OnnxlKernelContext *context, const OnnxlValue *value, GError **error)
{
  return value->kind == ONNXL_KIND_SEQUENCE || onnxl_ctx_invalid(context, error, "the input is not a sequence");
}

/* A position in a sequence of n, counted from the end when negative; limit: the largest that is allowed. */
static bool
get_position(OnnxlKernelContext *context, const OnnxlValue *input, size_t n, size_t limit, size_t *ret_at,
             GError **error)
{
  int64_t at;
  if (!onnxl_ctx_scalar_int(context, input, &at, error))
    return false;
  int64_t positive = at < 0 ? at + (int64_t)n : at;
  if (positive < 0 || (uint64_t)positive >= limit)
    return onnxl_ctx_invalid(context, error, "position %" G_GINT64_FORMAT " is outside a sequence of %zu", at, n);
  *ret_at = (size_t)positive;
  return true;
}

static bool
run_sequence_construct(OnnxlKernelContext *context, GError **error)
{
  uint32_t n = onnxl_ctx_n_inputs(context);
  OnnxlValue **items = onnxl_ctx_scratch(context, n, sizeof *items, error);
  if (!items)
    return false;
  for (uint32_t i = 0; i < n; i++)
    items[i] = onnxl_ctx_input(context, i);
  onnxl_ctx_set_output(context, 0, new_sequence(context, ONNXL_KIND_TENSOR, items[0]->elem_type, items, n));
  return true;
}
ONNXL_KERNEL(sequence_construct, EXACT);

static bool
run_sequence_empty(OnnxlKernelContext *context, GError **error)
{
  int64_t type = onnxl_ctx_attr(context, "dtype") ? onnxl_ctx_int(context, "dtype") : ONNXL_TYPE_FLOAT;
  if (type <= 0 || type >= ONNXL_N_TYPES)
    return onnxl_ctx_invalid(context, error, "dtype is %" G_GINT64_FORMAT, type);
  onnxl_ctx_set_output(context, 0, new_sequence(context, ONNXL_KIND_TENSOR, (int32_t)type, NULL, 0));
  return true;
}
ONNXL_KERNEL(sequence_empty, EXACT);

static bool
run_sequence_length(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *sequence = onnxl_ctx_input(context, 0);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_INT64, 0, NULL, error);
  if (y)
    *(int64_t *)y->data = (int64_t)sequence->n_items;
  return y && need_sequence(context, sequence, error);
}
ONNXL_KERNEL(sequence_length, EXACT);

static bool
run_sequence_at(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *sequence = onnxl_ctx_input(context, 0);
  size_t at;
  if (!need_sequence(context, sequence, error) ||
      !get_position(context, onnxl_ctx_input(context, 1), sequence->n_items, sequence->n_items, &at, error))
    return false;
  onnxl_ctx_set_output(context, 0, onnxl_value_ref(sequence->items[at]));
  return true;
}
ONNXL_KERNEL(sequence_at, EXACT);

static bool
run_sequence_insert(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *sequence = onnxl_ctx_input(context, 0), *position = onnxl_ctx_input(context, 2);
  OnnxlValue *tensor = onnxl_ctx_input(context, 1);
  if (!need_sequence(context, sequence, error))
    return false;
  size_t n = sequence->n_items, at = n;
  if (position && !get_position(context, position, n, n + 1, &at, error))
    return false;
  if (n > 0 && sequence->elem_type != tensor->elem_type)
    return onnxl_ctx_invalid(context, error, "a sequence holds tensors of one type");
  OnnxlValue **items = onnxl_ctx_scratch(context, n + 1, sizeof *items, error);
  if (!items || !onnxl_ctx_check_items(context, n + 1, error))
    return false;
  for (size_t i = 0; i <= n; i++)
    items[i] = i == at ? tensor : sequence->items[i - (i > at)];
  onnxl_ctx_set_output(context, 0, new_sequence(context, ONNXL_KIND_TENSOR, tensor->elem_type, items, n + 1));
  return true;
}
ONNXL_KERNEL(sequence_insert, EXACT);

static bool
run_sequence_erase(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *sequence = onnxl_ctx_input(context, 0), *position = onnxl_ctx_input(context, 1);
  if (!need_sequence(context, sequence, error))
    return false;
  size_t n = sequence->n_items, at = n > 0 ? n - 1 : 0;
  if (n == 0)
    return onnxl_ctx_invalid(context, error, "the sequence is empty");
  if (position && !get_position(context, position, n, n, &at, error))
    return false;
  OnnxlValue **items = onnxl_ctx_scratch(context, n, sizeof *items, error);
  if (!items)
    return false;
  for (size_t i = 0; i + 1 < n; i++)
    items[i] = sequence->items[i + (i >= at)];
  onnxl_ctx_set_output(context, 0, new_sequence(context, sequence->element_kind, sequence->elem_type, items, n - 1));
  return true;
}
ONNXL_KERNEL(sequence_erase, EXACT);

static bool
run_concat_from_sequence(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *sequence = onnxl_ctx_input(context, 0);
  bool adds = onnxl_ctx_int(context, "new_axis") != 0;
  int64_t axis;
  if (!need_sequence(context, sequence, error))
    return false;
  if (sequence->n_items == 0)
    return onnxl_ctx_invalid(context, error, "the sequence is empty");
  uint32_t rank = sequence->items[0]->rank;
  if (rank + adds > ONNXL_MAX_RANK)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a rank above %d is not supported", ONNXL_MAX_RANK);
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), rank + adds, &axis, error))
    return false;
  if (!adds)
    return onnxl_concat(context, sequence->items, (uint32_t)sequence->n_items, axis, error);
  OnnxlValue **views = g_new0(OnnxlValue *, sequence->n_items);
  for (size_t i = 0; i < sequence->n_items; i++) {
    OnnxlValue *item = sequence->items[i];
    int64_t dims[ONNXL_MAX_RANK];
    uint32_t n = item->rank == rank ? rank + 1 : item->rank; /* another rank is refused when they are joined */
    for (uint32_t d = 0; d < n; d++)
      dims[d] = item->rank != rank ? item->dims[d] : d == axis ? 1 : item->dims[d - (d > axis)];
    views[i] = onnxl_value_new_view(item, item->elem_type, n, dims);
  }
  bool good = onnxl_concat(context, views, (uint32_t)sequence->n_items, axis, error);
  for (size_t i = 0; i < sequence->n_items; i++)
    onnxl_value_unref(views[i]);
  g_free(views);
  return good;
}
ONNXL_KERNEL(concat_from_sequence, EXACT);

/* Appends part [start, start + length) of x to items. */
static bool
add_part(OnnxlKernelContext *context, GPtrArray *items, const OnnxlValue *x, int64_t axis, int64_t start,
         int64_t length, bool keep, GError **error)
{
  if (length < 0 || length > x->dims[axis] - start)
    return onnxl_ctx_invalid(context, error,
                             "a part of %" G_GINT64_FORMAT " does not fit into axis %" G_GINT64_FORMAT
                             " of size %" G_GINT64_FORMAT,
                             length, axis, x->dims[axis]);
  OnnxlValue *part = onnxl_slice_axis(onnxl_ctx_allocator(context), x, axis, start, length, error);
  if (!part)
    return false;
  if (!keep) {
    int64_t dims[ONNXL_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++)
      if (i != axis)
        dims[rank++] = x->dims[i];
    OnnxlValue *view = onnxl_value_new_view(part, part->elem_type, rank, dims);
    onnxl_value_unref(part);
    part = view;
  }
  g_ptr_array_add(items, part);
  return true;
}

static bool
run_split_to_sequence(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *split = onnxl_ctx_input(context, 1);
  bool keep = split || onnxl_ctx_int(context, "keepdims") != 0;
  int64_t axis, chunk = 1, start = 0;
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  bool by_list = split && split->rank > 0;
  if (split && !by_list &&
      (!onnxl_ctx_scalar_int(context, split, &chunk, error) ||
       (chunk < 1 && !onnxl_ctx_invalid(context, error, "split is %" G_GINT64_FORMAT, chunk))))
    return false;
  int64_t n = by_list ? split->count : x->dims[axis] / chunk + (x->dims[axis] % chunk != 0);
  if (!onnxl_ctx_check_items(context, (uint64_t)n, error))
    return false;
  GPtrArray *items = g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_value_unref);
  bool good = true;
  for (int64_t i = 0; good && i < n; i++) {
    int64_t length = by_list ? onnxl_tensor_int64(split, i) : MIN(chunk, x->dims[axis] - start);
    good = add_part(context, items, x, axis, start, length, keep, error);
    start += good ? length : 0;
  }
  if (good && start != x->dims[axis])
    good = onnxl_ctx_invalid(context, error,
                             "the parts sum up to %" G_GINT64_FORMAT " when the axis has size %" G_GINT64_FORMAT, start,
                             x->dims[axis]);
  if (good)
    onnxl_ctx_set_output(
      context, 0, new_sequence(context, ONNXL_KIND_TENSOR, x->elem_type, (OnnxlValue **)items->pdata, items->len));
  g_ptr_array_free(items, TRUE);
  return good;
}
ONNXL_KERNEL(split_to_sequence, EXACT);

/* Types of the body's outputs when the sequences are empty. */
static const OnnxlType *const *
mapped_types(OnnxlKernelContext *context, uint32_t g, OnnxlArena *arena)
{
  uint32_t n = onnxl_ctx_n_inputs(context);
  OnnxlType **inputs = ONNXL_NEW_ARRAY(arena, OnnxlType *, MAX(n, onnxl_ctx_subgraph_n_inputs(context, g)));
  for (uint32_t i = 0; inputs && i < n; i++) {
    const OnnxlValue *input = onnxl_ctx_input(context, i);
    inputs[i] = input ? onnxl_value_type(input, arena) : NULL;
    if (inputs[i] && inputs[i]->sequence_type)
      inputs[i] = inputs[i]->sequence_type->elem_type;
  }
  return inputs ? onnxl_ctx_subgraph_types(context, g, inputs, arena) : NULL;
}

/* Runs the body on the i-th elements of the sequences; other inputs are the same each time. */
static bool
run_sequence_map(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *first = onnxl_ctx_input(context, 0);
  uint32_t n = onnxl_ctx_n_inputs(context), g = onnxl_ctx_subgraph(context, "body");
  if (g == ONNXL_NONE)
    return onnxl_ctx_invalid(context, error, "the body is missing");
  if (!need_sequence(context, first, error))
    return false;
  uint32_t n_outputs = onnxl_ctx_subgraph_n_outputs(context, g);
  if (n_outputs != onnxl_ctx_node(context)->output.count)
    return onnxl_ctx_invalid(context, error, "the body has %u outputs when the node has %zu", n_outputs,
                             onnxl_ctx_node(context)->output.count);
  OnnxlValue **inputs = onnxl_ctx_scratch(context, n, sizeof *inputs, error);
  OnnxlValue **outputs = inputs ? onnxl_ctx_scratch(context, n_outputs, sizeof *outputs, error) : NULL;
  GPtrArray **collected = g_new0(GPtrArray *, n_outputs);
  for (uint32_t i = 0; i < n_outputs; i++)
    collected[i] = g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_value_unref);
  bool good = outputs != NULL;
  for (size_t step = 0; good && step < first->n_items; step++) {
    for (uint32_t i = 0; good && i < n; i++) {
      inputs[i] = onnxl_ctx_input(context, i);
      if (inputs[i]->kind != ONNXL_KIND_SEQUENCE)
        continue;
      good = inputs[i]->n_items == first->n_items ||
             onnxl_ctx_invalid(context, error, "the sequences have %zu and %zu elements", first->n_items,
                               inputs[i]->n_items);
      inputs[i] = good ? inputs[i]->items[step] : NULL;
    }
    good = good && onnxl_ctx_run_subgraph(context, g, inputs, n, outputs, error);
    for (uint32_t i = 0; good && i < n_outputs; i++)
      g_ptr_array_add(collected[i], outputs[i]);
  }
  OnnxlArena *arena = onnxl_arena_new(ONNXL_TYPES_BUDGET);
  const OnnxlType *const *types = good && first->n_items == 0 ? mapped_types(context, g, arena) : NULL;
  for (uint32_t i = 0; i < n_outputs; i++) {
    const OnnxlType *type = types ? types[i] : NULL;
    int32_t elem_type = type && type->tensor_type ? type->tensor_type->elem_type : 0;
    if (collected[i]->len > 0)
      elem_type = ((OnnxlValue *)g_ptr_array_index(collected[i], 0))->elem_type;
    if (good)
      onnxl_ctx_set_output(
        context, i,
        new_sequence(context, ONNXL_KIND_TENSOR, elem_type, (OnnxlValue **)collected[i]->pdata, collected[i]->len));
    g_ptr_array_free(collected[i], TRUE);
  }
  onnxl_arena_free(arena);
  g_free(collected);
  return good;
}
ONNXL_KERNEL(sequence_map, EXACT);

static bool
run_optional(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, "type");
  const OnnxlType *type = attribute ? attribute->tp : NULL;
  OnnxlTypeKind kind = x ? x->kind : type && type->sequence_type ? ONNXL_KIND_SEQUENCE : ONNXL_KIND_TENSOR;
  int32_t elem_type = x ? x->elem_type : 0;
  if (type && type->sequence_type)
    type = type->sequence_type->elem_type;
  if (!x && type && type->tensor_type)
    elem_type = type->tensor_type->elem_type;
  if (!x && !attribute)
    return onnxl_ctx_invalid(context, error, "neither an input nor the attribute type is given");
  onnxl_ctx_set_output(context, 0, onnxl_value_new_optional(onnxl_ctx_allocator(context), kind, elem_type, x));
  return true;
}
ONNXL_KERNEL(optional, EXACT);

static bool
run_optional_has_element(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_BOOL, 0, NULL, error);
  if (y)
    *(uint8_t *)y->data = x && (x->kind != ONNXL_KIND_OPTIONAL || x->n_items > 0);
  return y != NULL;
}
ONNXL_KERNEL(optional_has_element, EXACT);

static bool
run_optional_get_element(OnnxlKernelContext *context, GError **error)
{
  OnnxlValue *x = onnxl_ctx_input(context, 0);
  if (x->kind == ONNXL_KIND_OPTIONAL && x->n_items == 0)
    return onnxl_ctx_invalid(context, error, "the optional is empty");
  onnxl_ctx_set_output(context, 0, onnxl_value_ref(x->kind == ONNXL_KIND_OPTIONAL ? x->items[0] : x));
  return true;
}
ONNXL_KERNEL(optional_get_element, EXACT);
