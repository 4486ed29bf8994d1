/* If, Loop and Scan. */
#include "runtime/join-internal.h"
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/value-type.h"
#include "runtime/widen-internal.h"

/* Values that a loop collects, to be stacked at its end. */
static void
free_values(GPtrArray *values)
{
  if (values)
    g_ptr_array_free(values, TRUE);
}

static GPtrArray *
new_values(void)
{
  return g_ptr_array_new_with_free_func((GDestroyNotify)onnxl_value_unref);
}

static bool
collect(OnnxlKernelContext *context, GPtrArray *values, OnnxlValue *value, GError **error)
{
  g_ptr_array_add(values, value);
  if (value->kind != ONNXL_KIND_TENSOR)
    return onnxl_ctx_invalid(context, error, "a scan output is not a tensor");
  return onnxl_ctx_check_items(context, values->len, error);
}

/* Stacks equal-shaped tensors along a new axis of length total (the rest is zero). like: type and dims when there is
 * none. */
static OnnxlValue *
stack(OnnxlKernelContext *context, const GPtrArray *values, int64_t axis, int64_t total, bool reversed,
      const OnnxlType *like, GError **error)
{
  OnnxlValue *first = values->len > 0 ? g_ptr_array_index(values, 0) : NULL;
  const OnnxlTensorType *type = like ? like->tensor_type : NULL;
  int64_t dims[ONNXL_MAX_RANK + 1], inner[ONNXL_MAX_RANK];
  uint32_t rank = first ? first->rank : type && type->shape ? (uint32_t)MIN(type->shape->dim.count, ONNXL_MAX_RANK) : 0;
  int32_t elem_type = first ? first->elem_type : type ? type->elem_type : 0;
  if (elem_type == 0) {
    onnxl_ctx_invalid(context, error, "nothing tells the type of a scan output, and the body never ran");
    return NULL;
  }
  if (axis < 0)
    axis += rank + 1;
  if (axis < 0 || axis > rank) {
    onnxl_ctx_invalid(context, error, "a scan output of rank %u cannot be stacked along axis %" G_GINT64_FORMAT, rank,
                      axis);
    return NULL;
  }
  for (uint32_t i = 0; i < rank; i++) {
    inner[i] = first                                     ? first->dims[i]
               : type->shape->dim.items[i].has_dim_value ? type->shape->dim.items[i].dim_value
                                                         : 0;
    dims[i + (i >= axis)] = MAX(inner[i], 0);
  }
  dims[axis] = total;
  GError *failed = NULL;
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  bool packed = onnxl_data_type_bits(elem_type) > 0 && onnxl_data_type_bits(elem_type) < 8;
  OnnxlValue *y =
    onnxl_value_new_tensor(allocator, packed ? ONNXL_TYPE_UINT8 : elem_type, rank + 1, dims, "a scan output", &failed);
  if (!y) {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
    return NULL;
  }
  size_t size = onnxl_element_size(y);
  if (elem_type != ONNXL_TYPE_STRING && total > (int64_t)values->len)
    memset(y->data, 0, y->bytes);
  int64_t strides[ONNXL_MAX_RANK], own[ONNXL_MAX_RANK];
  onnxl_strides(dims, rank + 1, own);
  for (uint32_t i = 0; i < rank; i++)
    strides[i] = own[i + (i >= axis)];
  bool good = true;
  for (guint t = 0; good && t < values->len; t++) {
    const OnnxlValue *value = g_ptr_array_index(values, t);
    good = value->elem_type == elem_type && value->rank == rank &&
           (rank == 0 || memcmp(value->dims, first->dims, rank * sizeof *dims) == 0);
    if (!good) {
      g_autofree char *a = onnxl_value_describe(first), *b = onnxl_value_describe(value);
      onnxl_ctx_invalid(context, error, "scan outputs %s and %s cannot be stacked", a, b);
      break;
    }
    OnnxlValue *bytes = packed ? onnxl_unpack_tensor(allocator, value, error) : NULL;
    good = !packed || bytes;
    int64_t at = reversed ? (int64_t)values->len - 1 - t : t;
    if (good && value->count > 0)
      onnxl_scatter_strided((char *)y->data + at * own[axis] * (int64_t)size, bytes ? bytes->data : value->data, inner,
                            rank, strides, size);
    onnxl_value_unref(bytes);
  }
  OnnxlValue *result = good && !packed ? onnxl_value_ref(y) : NULL;
  if (good && packed)
    result = onnxl_pack_tensor(allocator, y, elem_type, error);
  onnxl_value_unref(y);
  return result;
}

static bool
condition_of(OnnxlKernelContext *context, const OnnxlValue *value, bool *ret_condition, GError **error)
{
  *ret_condition = false;
  if (!onnxl_value_is_tensor(value, ONNXL_TYPE_BOOL) || value->count != 1)
    return onnxl_ctx_invalid(context, error, "the condition is not one bool");
  *ret_condition = *(const uint8_t *)value->data != 0;
  return true;
}

static bool
run_if(OnnxlKernelContext *context, GError **error)
{
  bool condition;
  if (!condition_of(context, onnxl_ctx_input(context, 0), &condition, error))
    return false;
  uint32_t g = onnxl_ctx_subgraph(context, condition ? "then_branch" : "else_branch");
  if (g == ONNXL_NONE)
    return onnxl_ctx_invalid(context, error, "a branch is missing");
  uint32_t n = (uint32_t)onnxl_ctx_node(context)->output.count,
           other = onnxl_ctx_subgraph(context, condition ? "else_branch" : "then_branch");
  if (other == ONNXL_NONE || onnxl_ctx_subgraph_n_outputs(context, g) != n ||
      onnxl_ctx_subgraph_n_outputs(context, other) != n)
    return onnxl_ctx_invalid(context, error, "a branch does not have the %u outputs of the node", n);
  OnnxlValue **outputs = onnxl_ctx_scratch(context, n, sizeof *outputs, error);
  if (!outputs || !onnxl_ctx_run_subgraph(context, g, NULL, 0, outputs, error))
    return false;
  for (uint32_t i = 0; i < n; i++)
    onnxl_ctx_set_output(context, i, outputs[i]);
  return true;
}
ONNXL_KERNEL(if, EXACT);

/* --- Loop --- */

typedef struct LoopState {
  uint32_t graph;
  uint32_t n_states;   /* values carried from trip to trip */
  uint32_t n_scans;    /* values collected in each trip */
  OnnxlValue **inputs; /* of the body: trip, condition, states */
  OnnxlValue **results;
  GPtrArray **scans;
  bool condition;
} LoopState;

/* What is carried may change its shape, not its type; an optional may come back as what it holds. */
static bool
keeps_type(const OnnxlKernelContext *context, uint32_t i, const OnnxlValue *before, const OnnxlValue *after,
           GError **error)
{
  if (before->kind == ONNXL_KIND_OPTIONAL && after->kind == before->element_kind)
    return true;
  if (before->kind == after->kind && (before->kind != ONNXL_KIND_TENSOR || before->elem_type == after->elem_type))
    return true;
  g_autofree char *a = onnxl_value_describe(before), *b = onnxl_value_describe(after);
  return onnxl_ctx_invalid(context, error, "carried value %u is %s before a trip and %s after it", i, a, b);
}

static bool
loop_trip(OnnxlKernelContext *context, LoopState *loop, int64_t trip, GError **error)
{
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  onnxl_value_unref(loop->inputs[0]);
  onnxl_value_unref(loop->inputs[1]);
  loop->inputs[1] = NULL;
  loop->inputs[0] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_INT64, 0, NULL, "the trip count", error);
  if (!loop->inputs[0])
    return false;
  loop->inputs[1] = onnxl_value_new_tensor(allocator, ONNXL_TYPE_BOOL, 0, NULL, "the condition", error);
  if (!loop->inputs[1])
    return false;
  *(int64_t *)loop->inputs[0]->data = trip;
  *(uint8_t *)loop->inputs[1]->data = loop->condition;
  if (!onnxl_ctx_run_subgraph(context, loop->graph, loop->inputs, loop->n_states + 2, loop->results, error))
    return false;
  bool good = true;
  for (uint32_t i = 0; i < loop->n_states; i++) {
    good = good && keeps_type(context, i, loop->inputs[i + 2], loop->results[i + 1], error);
    onnxl_value_unref(loop->inputs[i + 2]);
    loop->inputs[i + 2] = loop->results[i + 1];
  }
  good = good && condition_of(context, loop->results[0], &loop->condition, error);
  onnxl_value_unref(loop->results[0]);
  for (uint32_t i = 0; i < loop->n_scans; i++) {
    OnnxlValue *value = loop->results[loop->n_states + 1 + i];
    if (good)
      good = collect(context, loop->scans[i], value, error);
    else
      onnxl_value_unref(value);
  }
  return good;
}

/* Types of the body's outputs for a loop without a trip. */
static const OnnxlType *const *
loop_types(OnnxlKernelContext *context, const LoopState *loop, OnnxlArena *arena)
{
  OnnxlType **inputs = ONNXL_NEW_ARRAY(arena, OnnxlType *, onnxl_ctx_subgraph_n_inputs(context, loop->graph));
  for (uint32_t i = 2; inputs && i < loop->n_states + 2; i++)
    inputs[i] = loop->inputs[i] ? onnxl_value_type(loop->inputs[i], arena) : NULL;
  return inputs ? onnxl_ctx_subgraph_types(context, loop->graph, inputs, arena) : NULL;
}

static bool
loop_outputs(OnnxlKernelContext *context, LoopState *loop, GError **error)
{
  /* Outputs at the end may be left out. */
  uint32_t named = (uint32_t)onnxl_ctx_node(context)->output.count;
  for (uint32_t i = 0; i < loop->n_states && i < named; i++)
    onnxl_ctx_set_output(context, i, onnxl_value_ref(loop->inputs[i + 2]));
  OnnxlArena *arena = onnxl_arena_new(ONNXL_TYPES_BUDGET);
  const OnnxlType *const *types =
    loop->n_scans > 0 && loop->scans[0]->len == 0 ? loop_types(context, loop, arena) : NULL;
  bool good = true;
  for (uint32_t i = 0; good && i < loop->n_scans && loop->n_states + i < named; i++) {
    const OnnxlType *type = types ? types[loop->n_states + 1 + i] : NULL;
    OnnxlValue *y = stack(context, loop->scans[i], 0, loop->scans[i]->len, false, type, error);
    good = y != NULL;
    onnxl_ctx_set_output(context, loop->n_states + i, y);
  }
  onnxl_arena_free(arena);
  return good;
}

static bool
run_loop(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *trips = onnxl_ctx_input(context, 0), *condition = onnxl_ctx_input(context, 1);
  LoopState loop = { .graph = onnxl_ctx_subgraph(context, "body"), .condition = true };
  int64_t max_trips = INT64_MAX;
  if (loop.graph == ONNXL_NONE)
    return onnxl_ctx_invalid(context, error, "the body is missing");
  if ((trips && !onnxl_ctx_scalar_int(context, trips, &max_trips, error)) ||
      (condition && !condition_of(context, condition, &loop.condition, error)))
    return false;
  uint32_t n_inputs = onnxl_ctx_subgraph_n_inputs(context, loop.graph), given = onnxl_ctx_n_inputs(context);
  uint32_t n_outputs = onnxl_ctx_subgraph_n_outputs(context, loop.graph);
  loop.n_states = given > 2 ? given - 2 : 0;
  size_t named = onnxl_ctx_node(context)->output.count;
  if (n_inputs < loop.n_states + 2 || n_outputs < loop.n_states + 1 || named > n_outputs - 1)
    return onnxl_ctx_invalid(context, error,
                             "the body has %u inputs and %u outputs when %u values are carried and the node has %zu "
                             "outputs",
                             n_inputs, n_outputs, loop.n_states, named);
  loop.n_scans = n_outputs - 1 - loop.n_states;
  loop.inputs = g_new0(OnnxlValue *, loop.n_states + 2);
  loop.results = g_new0(OnnxlValue *, n_outputs);
  loop.scans = g_new0(GPtrArray *, loop.n_scans);
  for (uint32_t i = 0; i < loop.n_states; i++)
    loop.inputs[i + 2] = onnxl_value_ref(onnxl_ctx_input(context, i + 2));
  for (uint32_t i = 0; i < loop.n_scans; i++)
    loop.scans[i] = new_values();
  bool good = true;
  for (int64_t trip = 0; good && trip < max_trips && loop.condition; trip++)
    good = loop_trip(context, &loop, trip, error);
  good = good && loop_outputs(context, &loop, error);
  for (uint32_t i = 0; i < loop.n_states + 2; i++)
    onnxl_value_unref(loop.inputs[i]);
  for (uint32_t i = 0; i < loop.n_scans; i++)
    free_values(loop.scans[i]);
  g_free(loop.inputs);
  g_free(loop.results);
  g_free(loop.scans);
  return good;
}
ONNXL_KERNEL(loop, EXACT);

/* --- Scan --- */

typedef struct ScanState {
  uint32_t graph;
  uint32_t n_states, n_inputs, n_outputs; /* carried, scanned, collected */
  OnnxlValue **states;
  OnnxlValue **scanned; /* whole tensors */
  int64_t *axes;        /* of each scanned input */
  bool *backwards;
  GPtrArray **collected;
  OnnxlArena *arena;             /* of the types; NULL: nobody has asked for them */
  const OnnxlType *const *types; /* of the body's outputs, or NULL */
} ScanState;

static OnnxlValue *
take(OnnxlKernelContext *context, const OnnxlValue *x, int64_t axis, int64_t at, GError **error)
{
  int64_t dims[ONNXL_MAX_RANK];
  uint32_t rank = 0;
  OnnxlValue *part = onnxl_slice_axis(onnxl_ctx_allocator(context), x, axis, at, 1, error);
  if (!part)
    return NULL;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis)
      dims[rank++] = x->dims[i];
  OnnxlValue *view = onnxl_value_new_view(part, part->elem_type, rank, dims);
  onnxl_value_unref(part);
  return view;
}

/* Finds the types of the body's outputs when there is no step: a scanned input gives it all axes but one. */
static const OnnxlType *const *
find_scan_types(OnnxlKernelContext *context, const ScanState *scan)
{
  OnnxlType **inputs = ONNXL_NEW_ARRAY(scan->arena, OnnxlType *, scan->n_states + scan->n_inputs);
  for (uint32_t i = 0; inputs && i < scan->n_states; i++)
    inputs[i] = onnxl_value_type(scan->states[i], scan->arena);
  for (uint32_t i = 0; inputs && i < scan->n_inputs; i++) {
    OnnxlType *type = onnxl_value_type(scan->scanned[i], scan->arena);
    if (!type)
      return NULL;
    OnnxlShapeProto *shape = type->tensor_type->shape;
    for (size_t k = (size_t)scan->axes[i] + 1; k < shape->dim.count; k++)
      shape->dim.items[k - 1] = shape->dim.items[k];
    shape->dim.count--;
    inputs[scan->n_states + i] = type;
  }
  return inputs ? onnxl_ctx_subgraph_types(context, scan->graph, inputs, scan->arena) : NULL;
}

/* They are the same for all outputs, and in each entry of a batch. */
static const OnnxlType *const *
scan_types(OnnxlKernelContext *context, ScanState *scan)
{
  if (!scan->arena) {
    scan->arena = onnxl_arena_new(ONNXL_TYPES_BUDGET);
    scan->types = find_scan_types(context, scan);
  }
  return scan->types;
}

/* The collected values of output i, or nothing, stacked. */
static OnnxlValue *
scan_stack(OnnxlKernelContext *context, ScanState *scan, uint32_t i, int64_t axis, int64_t total, bool reversed,
           GError **error)
{
  const OnnxlType *const *types = scan->collected[i]->len == 0 ? scan_types(context, scan) : NULL;
  return stack(context, scan->collected[i], axis, total, reversed, types ? types[scan->n_states + i] : NULL, error);
}

/* Runs the body for steps 0 … steps - 1, on scanned inputs whose axis has that length or more. */
static bool
scan_steps(OnnxlKernelContext *context, ScanState *scan, int64_t steps, GError **error)
{
  uint32_t n = scan->n_states + scan->n_inputs;
  OnnxlValue **inputs = g_new0(OnnxlValue *, n), **results = g_new0(OnnxlValue *, scan->n_states + scan->n_outputs);
  bool good = true;
  for (int64_t t = 0; good && t < steps; t++) {
    for (uint32_t i = 0; i < scan->n_states; i++)
      inputs[i] = onnxl_value_ref(scan->states[i]);
    for (uint32_t i = 0; good && i < scan->n_inputs; i++) {
      inputs[scan->n_states + i] =
        take(context, scan->scanned[i], scan->axes[i], scan->backwards[i] ? steps - 1 - t : t, error);
      good = inputs[scan->n_states + i] != NULL;
    }
    good = good && onnxl_ctx_run_subgraph(context, scan->graph, inputs, n, results, error);
    for (uint32_t i = 0; i < n; i++)
      g_clear_pointer(&inputs[i], onnxl_value_unref);
    if (!good)
      break;
    for (uint32_t i = 0; i < scan->n_states; i++) {
      good = good && keeps_type(context, i, scan->states[i], results[i], error);
      onnxl_value_unref(scan->states[i]);
      scan->states[i] = results[i];
    }
    for (uint32_t i = 0; i < scan->n_outputs; i++)
      if (good)
        good = collect(context, scan->collected[i], results[scan->n_states + i], error);
      else
        onnxl_value_unref(results[scan->n_states + i]);
  }
  g_free(inputs);
  g_free(results);
  return good;
}

static int64_t
list_item(OnnxlInt64List list, size_t i)
{
  return i < list.count ? list.items[i] : 0;
}

static void
scan_clear(ScanState *scan)
{
  for (uint32_t i = 0; i < scan->n_states; i++)
    onnxl_value_unref(scan->states[i]);
  for (uint32_t i = 0; i < scan->n_inputs; i++)
    onnxl_value_unref(scan->scanned[i]);
  for (uint32_t i = 0; i < scan->n_outputs; i++)
    free_values(scan->collected[i]);
  g_free(scan->states);
  g_free(scan->scanned);
  g_free(scan->axes);
  g_free(scan->backwards);
  g_free(scan->collected);
  onnxl_arena_free(scan->arena);
}

/* first: the node's input that the first state is. */
static bool
scan_init(OnnxlKernelContext *context, ScanState *scan, uint32_t first, GError **error)
{
  int64_t scanned = onnxl_ctx_int(context, "num_scan_inputs"), given = (int64_t)onnxl_ctx_n_inputs(context) - first;
  *scan = (ScanState){ .graph = onnxl_ctx_subgraph(context, "body") };
  if (scan->graph == ONNXL_NONE)
    return onnxl_ctx_invalid(context, error, "the body is missing");
  uint32_t n_results = onnxl_ctx_subgraph_n_outputs(context, scan->graph);
  if (scanned < 1 || scanned > given || n_results < given - scanned ||
      n_results != onnxl_ctx_node(context)->output.count)
    return onnxl_ctx_invalid(context, error,
                             "num_scan_inputs is %" G_GINT64_FORMAT " for %" G_GINT64_FORMAT " inputs and %u outputs",
                             scanned, given, n_results);
  uint32_t n_taken = onnxl_ctx_subgraph_n_inputs(context, scan->graph);
  if (n_taken != given)
    return onnxl_ctx_invalid(context, error, "the body has %u inputs when %" G_GINT64_FORMAT " are given", n_taken,
                             given);
  scan->n_inputs = (uint32_t)scanned;
  scan->n_states = (uint32_t)(given - scanned);
  scan->n_outputs = n_results - scan->n_states;
  scan->states = g_new0(OnnxlValue *, scan->n_states);
  scan->scanned = g_new0(OnnxlValue *, scan->n_inputs);
  scan->axes = g_new0(int64_t, scan->n_inputs);
  scan->backwards = g_new0(bool, scan->n_inputs);
  scan->collected = g_new0(GPtrArray *, scan->n_outputs);
  for (uint32_t i = 0; i < scan->n_outputs; i++)
    scan->collected[i] = new_values();
  return true;
}

static bool
scan_all(OnnxlKernelContext *context, ScanState *scan, GError **error)
{
  OnnxlInt64List axes = onnxl_ctx_ints(context, "scan_input_axes");
  OnnxlInt64List directions = onnxl_ctx_ints(context, "scan_input_directions");
  OnnxlInt64List output_axes = onnxl_ctx_ints(context, "scan_output_axes");
  OnnxlInt64List output_directions = onnxl_ctx_ints(context, "scan_output_directions");
  int64_t steps = 0;
  for (uint32_t i = 0; i < scan->n_states; i++)
    scan->states[i] = onnxl_value_ref(onnxl_ctx_input(context, i));
  for (uint32_t i = 0; i < scan->n_inputs; i++) {
    OnnxlValue *x = onnxl_ctx_input(context, scan->n_states + i);
    scan->scanned[i] = onnxl_value_ref(x);
    scan->backwards[i] = list_item(directions, i) != 0;
    if (x->kind != ONNXL_KIND_TENSOR)
      return onnxl_ctx_invalid(context, error, "scanned input %u is no tensor", i);
    if (!onnxl_ctx_axis(context, list_item(axes, i), x->rank, &scan->axes[i], error))
      return false;
    if (i > 0 && x->dims[scan->axes[i]] != steps)
      return onnxl_ctx_invalid(context, error, "scanned inputs have lengths %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                               steps, x->dims[scan->axes[i]]);
    steps = x->dims[scan->axes[i]];
  }
  if (!scan_steps(context, scan, steps, error))
    return false;
  for (uint32_t i = 0; i < scan->n_states; i++)
    onnxl_ctx_set_output(context, i, onnxl_value_ref(scan->states[i]));
  for (uint32_t i = 0; i < scan->n_outputs; i++) {
    OnnxlValue *y =
      scan_stack(context, scan, i, list_item(output_axes, i), steps, list_item(output_directions, i) != 0, error);
    if (!y)
      return false;
    onnxl_ctx_set_output(context, scan->n_states + i, y);
  }
  return true;
}

static bool
run_scan(OnnxlKernelContext *context, GError **error)
{
  ScanState scan;
  bool good = scan_init(context, &scan, 0, error) && scan_all(context, &scan, error);
  scan_clear(&scan);
  return good;
}
ONNXL_KERNEL(scan, EXACT);

/* Version 8 has a batch axis in front and may stop early in each batch entry. */
static bool
scan_batch(OnnxlKernelContext *context, ScanState *scan, int64_t entry, int64_t length, GError **error)
{
  OnnxlInt64List directions = onnxl_ctx_ints(context, "directions");
  const OnnxlValue *lengths = onnxl_ctx_input(context, 0);
  int64_t steps = lengths ? onnxl_tensor_int64(lengths, entry) : length;
  if (steps < 0 || steps > length)
    return onnxl_ctx_invalid(context, error, "a sequence has length %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, steps,
                             length);
  for (uint32_t i = 0; i < scan->n_states + scan->n_inputs; i++) {
    OnnxlValue *x = onnxl_ctx_input(context, i + 1), *part = take(context, x, 0, entry, error);
    OnnxlValue **slot = i < scan->n_states ? &scan->states[i] : &scan->scanned[i - scan->n_states];
    if (!part)
      return false;
    onnxl_value_unref(*slot);
    *slot = part;
    if (i >= scan->n_states)
      scan->backwards[i - scan->n_states] = list_item(directions, i - scan->n_states) != 0;
  }
  for (uint32_t i = 0; i < scan->n_outputs; i++)
    g_ptr_array_set_size(scan->collected[i], 0);
  return scan_steps(context, scan, steps, error);
}

static bool
scan_batches(OnnxlKernelContext *context, ScanState *scan, GPtrArray **results, GError **error)
{
  const OnnxlValue *lengths = onnxl_ctx_input(context, 0);
  int64_t batch = -1, length = -1;
  for (uint32_t i = 0; i < scan->n_states + scan->n_inputs; i++) {
    const OnnxlValue *x = onnxl_ctx_input(context, i + 1);
    bool scanned = i >= scan->n_states;
    if (x->kind != ONNXL_KIND_TENSOR || x->rank < 1u + scanned || (batch >= 0 && x->dims[0] != batch) ||
        (scanned && length >= 0 && x->dims[1] != length))
      return onnxl_ctx_invalid(context, error, "input %u does not fit the others in batch and length", i + 1);
    batch = x->dims[0];
    length = scanned ? x->dims[1] : length;
  }
  if (lengths && lengths->count != batch)
    return onnxl_ctx_invalid(context, error, "%" G_GINT64_FORMAT " lengths are given for a batch of %" G_GINT64_FORMAT,
                             lengths->count, batch);
  for (int64_t b = 0; b < batch; b++) {
    if (!scan_batch(context, scan, b, length, error))
      return false;
    for (uint32_t i = 0; i < scan->n_states; i++)
      g_ptr_array_add(results[i], onnxl_value_ref(scan->states[i]));
    for (uint32_t i = 0; i < scan->n_outputs; i++) {
      OnnxlValue *y = scan_stack(context, scan, i, 0, length, false, error);
      if (!y)
        return false;
      g_ptr_array_add(results[scan->n_states + i], y);
    }
  }
  for (uint32_t i = 0; i < scan->n_states + scan->n_outputs; i++) {
    OnnxlValue *y = stack(context, results[i], 0, batch, false, NULL, error);
    if (!y)
      return false;
    onnxl_ctx_set_output(context, i, y);
  }
  return true;
}

static bool
run_scan_8(OnnxlKernelContext *context, GError **error)
{
  ScanState scan;
  bool good = scan_init(context, &scan, 1, error);
  uint32_t n = scan.n_states + scan.n_outputs;
  GPtrArray **results = g_new0(GPtrArray *, n);
  for (uint32_t i = 0; i < n; i++)
    results[i] = new_values();
  good = good && scan_batches(context, &scan, results, error);
  for (uint32_t i = 0; i < n; i++)
    free_values(results[i]);
  g_free(results);
  scan_clear(&scan);
  return good;
}
ONNXL_KERNEL(scan_8, EXACT);
