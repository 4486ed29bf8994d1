#include <string.h>

#include "runtime/context-internal.h"
#include "runtime/tensor.h"
#include "support/number.h"
#include "support/size.h"

const OnnxlOpSchema *
onnxl_ctx_schema(const OnnxlKernelContext *context)
{
  return context->step->schema;
}

const OnnxlNode *
onnxl_ctx_node(const OnnxlKernelContext *context)
{
  return context->frame->body->index->nodes[context->node].proto;
}

OnnxlAllocator *
onnxl_ctx_allocator(const OnnxlKernelContext *context)
{
  return context->executor->plan->allocator;
}

OnnxlValue *
onnxl_ctx_input(const OnnxlKernelContext *context, uint32_t i)
{
  return i < context->n_inputs ? context->inputs[i] : NULL;
}

uint32_t
onnxl_ctx_n_inputs(const OnnxlKernelContext *context)
{
  return context->n_inputs;
}

uint32_t
onnxl_ctx_n_outputs(const OnnxlKernelContext *context)
{
  return context->n_outputs;
}

bool
onnxl_ctx_wants(const OnnxlKernelContext *context, uint32_t i)
{
  const OnnxlIndexNode *node = &context->frame->body->index->nodes[context->node];
  return i < node->n_outputs && node->outputs[i] != ONNXL_NONE;
}

/* The buffer of the input that output 0 may take over, under the output's dims; NULL when somebody else sees it as well
 * or it has another size. */
static OnnxlValue *
take_over(const OnnxlKernelContext *context, int32_t elem_type, size_t rank, const int64_t *dims)
{
  uint32_t k = context->overwritten;
  OnnxlValue *in = k == ONNXL_NONE ? NULL : context->inputs[k];
  int64_t count;

  if (!in || in->kind != ONNXL_KIND_TENSOR || rank > ONNXL_MAX_RANK || !onnxl_shape_count(dims, rank, &count) ||
      count != in->count || onnxl_data_type_bits(elem_type) == 0 ||
      onnxl_data_type_bits(elem_type) != onnxl_data_type_bits(in->elem_type))
    return NULL;
  /* The frame holds the value beside the context, unless it was converted for the kernel. */
  uint32_t node_input = context->frame->body->index->nodes[context->node].inputs[k];
  uint32_t holders = context->frame->values[node_input] == in ? 2 : 1;
  const OnnxlValue *owner = in->base ? in->base : in;
  if (in->refs != holders || !owner->owned || (in->base && in->base->refs != 1))
    return NULL;
  return onnxl_value_new_view(in, elem_type, rank, dims);
}

OnnxlValue *
onnxl_ctx_output(OnnxlKernelContext *context, uint32_t i, int32_t elem_type, size_t rank, const int64_t *dims,
                 GError **error)
{
  GError *failed = NULL;
  OnnxlValue *value = i == 0 ? take_over(context, elem_type, rank, dims) : NULL;
  if (!value)
    value = onnxl_value_new_tensor(onnxl_ctx_allocator(context), elem_type, rank, dims, "an output", &failed);
  if (!value) {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
    return NULL;
  }
  onnxl_ctx_set_output(context, i, value);
  return value;
}

OnnxlValue *
onnxl_ctx_output_like(OnnxlKernelContext *context, uint32_t i, const OnnxlValue *like, GError **error)
{
  return onnxl_ctx_output(context, i, like->elem_type, like->rank, like->dims, error);
}

void
onnxl_ctx_set_output(OnnxlKernelContext *context, uint32_t i, OnnxlValue *value)
{
  g_assert(i < context->n_outputs);
  onnxl_value_unref(context->outputs[i]);
  context->outputs[i] = value;
}

OnnxlValue *
onnxl_ctx_get_output(const OnnxlKernelContext *context, uint32_t i)
{
  return i < context->n_outputs ? context->outputs[i] : NULL;
}

void *
onnxl_ctx_scratch(OnnxlKernelContext *context, uint64_t count, size_t item_size, GError **error)
{
  uint64_t bytes;
  GError *failed = NULL;
  if (__builtin_mul_overflow(count, item_size, &bytes) || bytes > UINT64_MAX - ONNXL_BUFFER_HEADER) {
    onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "workspace of %" G_GUINT64_FORMAT " x %zu bytes is too large",
                   count, item_size);
    return NULL;
  }
  bytes += ONNXL_BUFFER_HEADER;
  char *buffer = onnxl_allocator_get_workspace(onnxl_ctx_allocator(context), bytes, "workspace", &failed);
  if (!buffer) {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
    return NULL;
  }
  Scratch *scratch = (Scratch *)buffer;
  *scratch = (Scratch){ context->scratch, bytes };
  context->scratch = scratch;
  return buffer + ONNXL_BUFFER_HEADER;
}

void *
onnxl_ctx_mark(const OnnxlKernelContext *context)
{
  return context->scratch;
}

void
onnxl_ctx_rewind(OnnxlKernelContext *context, void *mark)
{
  while (context->scratch && context->scratch != mark) {
    Scratch *scratch = context->scratch;
    context->scratch = scratch->next;
    onnxl_allocator_put_workspace(onnxl_ctx_allocator(context), scratch, scratch->size);
  }
}

static const OnnxlAttribute *
find_attribute(const OnnxlAttributeList *list, OnnxlStr name)
{
  for (size_t i = 0; i < list->count; i++)
    if (onnxl_str_equal(list->items[i].name, name))
      return &list->items[i];
  return NULL;
}

const OnnxlAttribute *
onnxl_frame_attribute(const OnnxlFrame *frame, const OnnxlNode *node, OnnxlStr wanted)
{
  for (;;) {
    const OnnxlAttribute *attribute = find_attribute(&node->attribute, wanted);
    if (!attribute || attribute->ref_attr_name.size == 0)
      return attribute;
    if (!frame->caller)
      return NULL;
    /* The function's caller gives the value, or may hand it on from a call further out; else the function's default. */
    wanted = attribute->ref_attr_name;
    if (!find_attribute(&frame->call->attribute, wanted))
      return find_attribute(&frame->body->function->attribute_proto, wanted);
    node = frame->call;
    frame = frame->caller;
  }
}

const OnnxlAttribute *
onnxl_ctx_attr(const OnnxlKernelContext *context, const char *name)
{
  return onnxl_frame_attribute(context->frame, onnxl_ctx_node(context), onnxl_str(name));
}

static OnnxlStr
default_text(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlOpSchema *schema = context->step->schema;
  for (uint32_t i = 0; schema && i < schema->n_attributes; i++)
    if (strcmp(schema->attributes[i].name, name) == 0)
      return onnxl_str(schema->attributes[i].default_text);
  return (OnnxlStr){ NULL, 0 };
}

int64_t
onnxl_ctx_int(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  if (attribute)
    return attribute->i;
  int64_t value = 0;
  OnnxlStr text = default_text(context, name);
  return text.data && onnxl_parse_int64(text, &value) == ONNXL_NUMBER_OK ? value : 0;
}

float
onnxl_ctx_float(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  if (attribute)
    return attribute->f;
  float value = 0;
  OnnxlStr text = default_text(context, name);
  return text.data && onnxl_parse_float(text, &value) == ONNXL_NUMBER_OK ? value : 0;
}

OnnxlStr
onnxl_ctx_string(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  if (attribute)
    return attribute->s.data ? attribute->s : ONNXL_STR("");
  OnnxlStr text = default_text(context, name);
  if (text.size >= 2 && text.data[0] == '"')
    return onnxl_str_n(text.data + 1, text.size - 2);
  return ONNXL_STR("");
}

OnnxlInt64List
onnxl_ctx_ints(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  return attribute ? attribute->ints : (OnnxlInt64List){ NULL, 0 };
}

OnnxlFloatList
onnxl_ctx_floats(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  return attribute ? attribute->floats : (OnnxlFloatList){ NULL, 0 };
}

OnnxlStrList
onnxl_ctx_strings(const OnnxlKernelContext *context, const char *name)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  return attribute ? attribute->strings : (OnnxlStrList){ NULL, 0 };
}

OnnxlValue *
onnxl_ctx_attr_tensor(OnnxlKernelContext *context, const OnnxlTensor *tensor, GError **error)
{
  GError *failed = NULL;
  OnnxlValue *value = tensor ? onnxl_value_from_tensor(onnxl_ctx_allocator(context), context->executor->plan->external,
                                                       tensor, "an attribute", &failed)
                             : NULL;
  if (!value) {
    onnxl_ctx_fail(context, error, failed ? (OnnxlErrorCode)failed->code : ONNXL_ERROR_INVALID, "%s",
                   failed ? failed->message : "an attribute lacks its tensor");
    g_clear_error(&failed);
    return NULL;
  }
  context->kept = g_renew(OnnxlValue *, context->kept, context->n_kept + 1);
  context->kept[context->n_kept++] = value;
  return value;
}

OnnxlValue *
onnxl_ctx_tensor(OnnxlKernelContext *context, const char *name, GError **error)
{
  const OnnxlAttribute *attribute = onnxl_ctx_attr(context, name);
  return attribute && attribute->t ? onnxl_ctx_attr_tensor(context, attribute->t, error) : NULL;
}

/* The path of the call that a frame is of, and of those around it. */
static void
append_calls(GString *path, const OnnxlFrame *frame, OnnxlArena *arena)
{
  if (!frame->caller)
    return;
  append_calls(path, frame->caller, arena);
  g_string_append(path, onnxl_index_node_path(frame->caller->body->index, frame->caller_node, arena));
}

static char *
frame_path(const OnnxlFrame *frame, uint32_t node, uint32_t g)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  GString *path = g_string_new(NULL);
  append_calls(path, frame, arena);
  g_string_append(path, node != ONNXL_NONE ? onnxl_index_node_path(frame->body->index, node, arena)
                                           : onnxl_index_graph_path(frame->body->index, g, arena));
  onnxl_arena_free(arena);
  return g_string_free(path, FALSE);
}

char *
onnxl_frame_node_path(const OnnxlFrame *frame, uint32_t node)
{
  return frame_path(frame, node, 0);
}

char *
onnxl_frame_graph_path(const OnnxlFrame *frame, uint32_t g)
{
  return frame_path(frame, ONNXL_NONE, g);
}

bool
onnxl_ctx_fail(const OnnxlKernelContext *context, GError **error, OnnxlErrorCode code, const char *format, ...)
{
  va_list args;
  if (error && *error) /* of the first of several things that a kernel asked for at once */
    return false;
  va_start(args, format);
  char *message = g_strdup_vprintf(format, args);
  va_end(args);
  g_free(context->executor->failed_path);
  context->executor->failed_path = onnxl_frame_node_path(context->frame, context->node);
  onnxl_fail(error, code, "%s: %s", context->executor->failed_path, message);
  g_free(message);
  return false;
}

void
onnxl_ctx_name_failure(const OnnxlKernelContext *context, GError **error)
{
  OnnxlExecutor *executor = context->executor;
  if (executor->failed_path || executor->ended || !error || !*error)
    return;
  executor->failed_path = onnxl_frame_node_path(context->frame, context->node);
  g_prefix_error(error, "%s: ", executor->failed_path);
}

bool
onnxl_ctx_misfit(const OnnxlKernelContext *context, GError **error, const char *format, ...)
{
  const OnnxlOpSchema *schema = onnxl_ctx_schema(context);
  va_list args;
  va_start(args, format);
  GString *message = g_string_new(NULL);
  g_string_vprintf(message, format, args);
  va_end(args);
  const char *separator = ": ";
  for (uint32_t i = 0; i < context->n_inputs && i < schema->n_inputs; i++) {
    const OnnxlValue *value = context->inputs[i];
    if (!value || value->kind != ONNXL_KIND_TENSOR)
      continue;
    g_autofree char *dims = onnxl_dims_text(value->dims, value->rank);
    g_string_append_printf(message, "%s%s %s", separator, schema->inputs[i].name, dims);
    separator = ", ";
  }
  onnxl_ctx_invalid(context, error, "%s", message->str);
  g_string_free(message, TRUE);
  return false;
}

bool
onnxl_ctx_load(const OnnxlKernelContext *context, bool (*load)(GError **error), GError **error)
{
  g_autoptr(GError) failed = NULL;
  return load(&failed) || onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
}

bool
onnxl_ctx_unsupported_type(const OnnxlKernelContext *context, GError **error, int32_t elem_type)
{
  const char *name = onnxl_data_type_name(elem_type);
  return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED, "element type %s is not supported here",
                        name ? name : "unknown");
}

uint32_t
onnxl_ctx_subgraph(const OnnxlKernelContext *context, const char *attribute)
{
  const OnnxlIndex *index = context->frame->body->index;
  const OnnxlIndexNode *node = &index->nodes[context->node];
  for (uint32_t g = 0; g < node->n_subgraphs; g++)
    if (onnxl_str_is(index->graphs[node->first_subgraph + g].attribute->name, attribute))
      return g;
  return ONNXL_NONE;
}

static const OnnxlIndexGraph *
subgraph(const OnnxlKernelContext *context, uint32_t g)
{
  const OnnxlIndex *index = context->frame->body->index;
  return &index->graphs[index->nodes[context->node].first_subgraph + g];
}

uint32_t
onnxl_ctx_subgraph_n_inputs(const OnnxlKernelContext *context, uint32_t g)
{
  return subgraph(context, g)->n_inputs;
}

uint32_t
onnxl_ctx_subgraph_n_outputs(const OnnxlKernelContext *context, uint32_t g)
{
  return subgraph(context, g)->n_outputs;
}

bool
onnxl_ctx_run_subgraph(OnnxlKernelContext *context, uint32_t g, OnnxlValue *const *inputs, uint32_t n_inputs,
                       OnnxlValue **ret_outputs, GError **error)
{
  OnnxlFrame *frame = context->frame;
  const OnnxlIndexGraph *graph = subgraph(context, g);
  uint32_t id = frame->body->index->nodes[context->node].first_subgraph + g;
  if (n_inputs != graph->n_inputs)
    return onnxl_ctx_invalid(context, error, "the graph %.*s has %u inputs when %u values are given",
                             ONNXL_ARG(graph->attribute->name), graph->n_inputs, n_inputs);
  for (uint32_t i = 0; i < n_inputs; i++) {
    const OnnxlValueInfo *info = frame->body->index->values[graph->inputs[i]].info;
    const OnnxlTensorType *declared = info && info->type ? info->type->tensor_type : NULL;
    if (declared && declared->elem_type != 0 && inputs[i] && inputs[i]->kind == ONNXL_KIND_TENSOR &&
        declared->elem_type != inputs[i]->elem_type) {
      g_autofree char *text = onnxl_value_describe(inputs[i]);
      const char *name = onnxl_data_type_name(declared->elem_type);
      return onnxl_ctx_invalid(context, error, "the body declares its input '%.*s' as %s and is given %s",
                               ONNXL_ARG(info->name), name ? name : "unknown", text);
    }
    OnnxlValue **slot = &frame->values[graph->inputs[i]];
    OnnxlValue *old = *slot;
    *slot = onnxl_value_ref(inputs[i]);
    onnxl_value_unref(old);
  }
  context->trips = g == context->trip_graph ? context->trips + 1 : 0;
  context->trip_graph = g;
  if (!onnxl_executor_run_graph(context->executor, frame, id, context->trips, error))
    return false;
  /* A body may return one value twice, or hand back an input: each output gets a reference of its own. */
  for (uint32_t i = 0; i < graph->n_outputs; i++)
    ret_outputs[i] = onnxl_value_ref(frame->values[graph->outputs[i]]);
  const OnnxlIndex *index = frame->body->index;
  for (uint32_t i = 0; i < graph->n_outputs; i++)
    if (index->values[graph->outputs[i]].kind != ONNXL_VALUE_INITIALIZER &&
        index->values[graph->outputs[i]].graph == id)
      g_clear_pointer(&frame->values[graph->outputs[i]], onnxl_value_unref);
  for (uint32_t i = 0; i < n_inputs; i++)
    g_clear_pointer(&frame->values[graph->inputs[i]], onnxl_value_unref);
  return true;
}

OnnxlRandom *
onnxl_ctx_random(OnnxlKernelContext *context, OnnxlRandom *own)
{
  const OnnxlAttribute *seed = onnxl_ctx_attr(context, "seed");
  if (!seed)
    return &context->executor->random;
  /* The seed is a float, except where it is an integer. */
  uint32_t bits;
  float f = seed->type == ONNXL_ATTRIBUTE_INT ? (float)seed->i : seed->f;
  memcpy(&bits, &f, sizeof bits);
  *own = (OnnxlRandom){ bits, 0 };
  return own;
}

bool
onnxl_ctx_check_items(const OnnxlKernelContext *context, uint64_t n, GError **error)
{
  enum { BYTES_OF_A_VALUE = 256 };
  const OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  if (n <= (allocator->limit - allocator->live) / BYTES_OF_A_VALUE)
    return true;
  return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT,
                        "%" G_GUINT64_FORMAT " values need more memory than is allowed "
                        "(--max-memory)",
                        n);
}

OnnxlValue **
onnxl_ctx_cache(OnnxlKernelContext *context)
{
  const OnnxlNode *node = onnxl_ctx_node(context);
  for (size_t i = 0; i < node->attribute.count; i++)
    if (node->attribute.items[i].ref_attr_name.size > 0)
      return NULL;
  return &context->step->cache;
}

bool
onnxl_ctx_axis(const OnnxlKernelContext *context, int64_t axis, uint32_t rank, int64_t *ret_axis, GError **error)
{
  int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive >= rank)
    return onnxl_ctx_invalid(context, error, "axis %" G_GINT64_FORMAT " is outside a tensor of rank %u", axis, rank);
  *ret_axis = positive;
  return true;
}

int64_t *
onnxl_ctx_int64s(OnnxlKernelContext *context, const OnnxlValue *tensor, GError **error)
{
  int64_t *values = onnxl_ctx_scratch(context, (uint64_t)tensor->count, sizeof *values, error);
  if (values)
    onnxl_tensor_read_int64(tensor, 0, (size_t)tensor->count, values);
  return values;
}

double *
onnxl_ctx_doubles(OnnxlKernelContext *context, const OnnxlValue *tensor, GError **error)
{
  double *values = onnxl_ctx_scratch(context, (uint64_t)tensor->count, sizeof *values, error);
  if (values)
    onnxl_tensor_read_double(tensor, 0, (size_t)tensor->count, values);
  return values;
}

static bool
check_scalar(const OnnxlKernelContext *context, const OnnxlValue *tensor, GError **error)
{
  if (tensor->kind == ONNXL_KIND_TENSOR && tensor->count == 1 && tensor->elem_type != ONNXL_TYPE_STRING)
    return true;
  char *text = onnxl_value_describe(tensor);
  onnxl_ctx_invalid(context, error, "one number is expected where the value is %s", text);
  g_free(text);
  return false;
}

bool
onnxl_ctx_scalar_int(const OnnxlKernelContext *context, const OnnxlValue *tensor, int64_t *ret_value, GError **error)
{
  if (!check_scalar(context, tensor, error))
    return false;
  *ret_value = onnxl_tensor_int64(tensor, 0);
  return true;
}

bool
onnxl_ctx_scalar_double(const OnnxlKernelContext *context, const OnnxlValue *tensor, double *ret_value, GError **error)
{
  if (!check_scalar(context, tensor, error))
    return false;
  *ret_value = onnxl_tensor_double(tensor, 0);
  return true;
}
