#include "proto/summary.h"

#include "proto/tensor.h"
#include "proto/text-write-internal.h"
#include "proto/wire.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/map.h"
#include "support/sort.h"

enum { LARGEST_TENSORS = 10 };

/* How often a name occurs; in order of first occurrence until sorted. */
typedef struct Tally {
  OnnxlStr name;
  uint64_t count;
} Tally;

typedef struct Tallies {
  OnnxlMap map;
  Tally *items;
  size_t count;
  size_t capacity;
} Tallies;

typedef struct LargeTensor {
  const OnnxlTensor *tensor;
  OnnxlStr path;
  uint64_t bytes;
} LargeTensor;

typedef struct TypeTotal {
  uint64_t tensors;
  uint64_t elements;
  uint64_t bytes;
} TypeTotal;

typedef struct Summary {
  OnnxlArena *arena; /* of the summary itself */
  Tallies operators;
  Tallies symbols;
  uint64_t graphs;
  uint64_t nodes;
  TypeTotal types[ONNXL_N_TYPES + 1]; /* the last one: types without a name */
  uint64_t external_bytes;
  LargeTensor largest[LARGEST_TENSORS];
  size_t n_largest;
} Summary;

static void
tally(Summary *summary, Tallies *tallies, OnnxlStr name)
{
  bool added;
  uint32_t *index = onnxl_map_put(&tallies->map, name, (uint32_t)tallies->count, &added);

  if (!index || (added && !ONNXL_GROW(summary->arena, &tallies->items, tallies->count, &tallies->capacity)))
    return; /* the arena is exhausted, which is looked at in the end */
  if (added)
    tallies->items[tallies->count++] = (Tally){ name, 0 };
  tallies->items[*index].count++;
}

static void
collect_symbols(Summary *summary, const OnnxlType *type)
{
  for (; type; type = type->sequence_type   ? type->sequence_type->elem_type
                      : type->optional_type ? type->optional_type->elem_type
                      : type->map_type      ? type->map_type->value_type
                                            : NULL) {
    const OnnxlTensorType *tensor = type->tensor_type ? type->tensor_type : type->sparse_tensor_type;
    for (size_t i = 0; tensor && tensor->shape && i < tensor->shape->dim.count; i++)
      if (tensor->shape->dim.items[i].dim_param.size > 0)
        tally(summary, &summary->symbols, tensor->shape->dim.items[i].dim_param);
  }
}

static void
collect_values(Summary *summary, const OnnxlValueInfoList *list)
{
  for (size_t i = 0; i < list->count; i++)
    collect_symbols(summary, list->items[i].type);
}

static void collect_nodes(Summary *summary, const OnnxlNodeList *list);

static void
collect_graph(Summary *summary, const OnnxlGraph *graph)
{
  summary->graphs++;
  collect_values(summary, &graph->input);
  collect_values(summary, &graph->output);
  collect_values(summary, &graph->value_info);
  collect_nodes(summary, &graph->node);
}

static void
collect_nodes(Summary *summary, const OnnxlNodeList *list)
{
  for (size_t i = 0; i < list->count; i++) {
    const OnnxlNode *node = &list->items[i];
    OnnxlStr domain = onnxl_domain_normal(node->domain), name = node->op_type;
    if (domain.size > 0)
      name = onnxl_arena_printf(summary->arena, "%.*s.%.*s", ONNXL_ARG(domain), ONNXL_ARG(name));
    summary->nodes++;
    tally(summary, &summary->operators, name);
    for (size_t j = 0; j < node->attribute.count; j++) {
      const OnnxlAttribute *attribute = &node->attribute.items[j];
      if (attribute->g)
        collect_graph(summary, attribute->g);
      for (size_t k = 0; k < attribute->graphs.count; k++)
        collect_graph(summary, &attribute->graphs.items[k]);
    }
  }
}

/* Bytes of the values of a tensor: by dims and type, of strings by the strings themselves; 0 when there is no telling.
 */
static uint64_t
tensor_bytes(const OnnxlTensor *tensor, int64_t count)
{
  uint64_t bytes = 0;

  if (tensor->data_type == ONNXL_TYPE_STRING) {
    for (size_t i = 0; i < tensor->string_data.count; i++)
      bytes += tensor->string_data.items[i].size;
    return bytes;
  }
  return onnxl_data_type_bytes(tensor->data_type, count, &bytes) ? bytes : 0;
}

static bool
visit_tensor(void *data, OnnxlTensor *tensor, const char *path, GError **error)
{
  Summary *summary = data;
  bool known = onnxl_data_type_name(tensor->data_type) != NULL;
  TypeTotal *total = &summary->types[known ? tensor->data_type : ONNXL_N_TYPES];
  int64_t count = 1;

  for (size_t i = 0; i < tensor->dims.count; i++)
    if (tensor->dims.items[i] < 0 || __builtin_mul_overflow(count, tensor->dims.items[i], &count))
      count = 0;
  uint64_t bytes = tensor_bytes(tensor, count);
  total->tensors++;
  total->elements += (uint64_t)count;
  total->bytes += bytes;
  if (onnxl_tensor_is_external(tensor))
    summary->external_bytes += bytes;

  /* Insertion into the few largest, the earlier one first among equals. */
  size_t at = summary->n_largest;
  while (at > 0 && summary->largest[at - 1].bytes < bytes)
    at--;
  if (at == LARGEST_TENSORS)
    return true;
  size_t moved = MIN(summary->n_largest, LARGEST_TENSORS - 1) - at;
  memmove(&summary->largest[at + 1], &summary->largest[at], moved * sizeof summary->largest[0]);
  summary->largest[at] = (LargeTensor){ tensor, onnxl_arena_copy(summary->arena, onnxl_str(path)), bytes };
  summary->n_largest = MIN(summary->n_largest + 1, (size_t)LARGEST_TENSORS);
  return true;
}

static int
compare_tallies(const void *a, const void *b)
{
  const Tally *x = a, *y = b;
  if (x->count != y->count)
    return x->count < y->count ? 1 : -1;
  return onnxl_str_compare(x->name, y->name);
}

static void
row(OnnxlOutput *out, uint64_t number, const char *text)
{
  onnxl_output_printf(out, "  %14" G_GUINT64_FORMAT "  %s", number, text);
}

static void
write_values(OnnxlOutput *out, const char *title, const OnnxlValueInfoList *list)
{
  static const OnnxlTextOptions options;
  TextPrinter printer = { .out = out, .options = &options };

  onnxl_output_printf(out, "\n%s\n", title);
  for (size_t i = 0; i < list->count; i++) {
    onnxl_output_text(out, "  ");
    onnxl_output_escaped(out, list->items[i].name);
    onnxl_output_text(out, ": ");
    if (list->items[i].type)
      onnxl_text_type(&printer, list->items[i].type);
    else
      onnxl_output_char(out, '?');
    onnxl_output_char(out, '\n');
  }
}

static void
write_line(OnnxlOutput *out, const char *key, OnnxlStr value)
{
  if (value.size == 0)
    return;
  onnxl_output_printf(out, "%-10s", key);
  onnxl_output_escaped(out, value);
  onnxl_output_char(out, '\n');
}

static void
write_head(OnnxlOutput *out, const OnnxlModelProto *proto, const Summary *summary)
{
  if (proto->has_ir_version)
    onnxl_output_printf(out, "%-10s%" G_GINT64_FORMAT "\n", "ir", proto->ir_version);
  for (size_t i = 0; i < proto->opset_import.count; i++) {
    const OnnxlOpset *opset = &proto->opset_import.items[i];
    onnxl_output_printf(out, "%-10s", "opset");
    onnxl_output_escaped(out, opset->domain.size > 0 ? opset->domain : ONNXL_STR("ai.onnx"));
    onnxl_output_printf(out, " %" G_GINT64_FORMAT "\n", opset->version);
  }
  write_line(out, "producer", proto->producer_name);
  write_line(out, "version", proto->producer_version);
  if (proto->graph)
    write_line(out, "graph", proto->graph->name);
  onnxl_output_printf(out, "%-10s%" G_GUINT64_FORMAT " in %" G_GUINT64_FORMAT " graphs and %zu functions\n", "nodes",
                      summary->nodes, summary->graphs, proto->functions.count);
  for (size_t i = 0; i < summary->symbols.count; i++) {
    if (i == 0)
      onnxl_output_printf(out, "%-10s", "symbols");
    else
      onnxl_output_text(out, ", ");
    onnxl_output_escaped(out, summary->symbols.items[i].name);
  }
  if (summary->symbols.count > 0)
    onnxl_output_char(out, '\n');
}

/* Encoded bytes of the items of a list of messages. */
static uint64_t
list_size(const OnnxlMessageDescriptor *descriptor, const void *items, size_t count)
{
  uint64_t total = 0, size;

  for (size_t i = 0; i < count; i++)
    if (onnxl_wire_size(descriptor, (const char *)items + i * descriptor->size, &size))
      total += size;
  return total;
}

static void
write_size(OnnxlOutput *out, const OnnxlModelProto *proto, uint64_t total, const Summary *summary)
{
  const OnnxlGraph *graph = proto->graph;
  const OnnxlFieldDescriptor *training = onnxl_field_by_number(&onnxl_model_descriptor, 20);
  struct {
    const char *name;
    uint64_t bytes;
  } parts[] = {
    { "initializers", graph ? list_size(&onnxl_tensor_descriptor, graph->initializer.items, graph->initializer.count) +
                                list_size(&onnxl_sparse_tensor_descriptor, graph->sparse_initializer.items,
                                          graph->sparse_initializer.count)
                            : 0 },
    { "nodes", graph ? list_size(&onnxl_node_descriptor, graph->node.items, graph->node.count) : 0 },
    { "value types", graph ? list_size(&onnxl_value_info_descriptor, graph->value_info.items, graph->value_info.count) +
                               list_size(&onnxl_value_info_descriptor, graph->input.items, graph->input.count) +
                               list_size(&onnxl_value_info_descriptor, graph->output.items, graph->output.count)
                           : 0 },
    { "functions", list_size(&onnxl_function_descriptor, proto->functions.items, proto->functions.count) },
    { "training", list_size(training->message, proto->training_info.items, proto->training_info.count) },
  };
  uint64_t rest = total;

  onnxl_output_text(out, "\nsize by part\n");
  for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
    rest -= parts[i].bytes;
    if (parts[i].bytes == 0)
      continue;
    row(out, parts[i].bytes, parts[i].name);
    onnxl_output_char(out, '\n');
  }
  row(out, rest, "everything else\n");
  row(out, total, "in all\n");
  if (summary->external_bytes > 0)
    row(out, summary->external_bytes, "besides, in external data\n");
}

static void
write_weights(OnnxlOutput *out, const Summary *summary)
{
  if (summary->n_largest == 0)
    return;
  onnxl_output_text(out, "\nweights by type\n");
  for (int32_t type = 0; type <= ONNXL_N_TYPES; type++) {
    const TypeTotal *total = &summary->types[type];
    const char *name = onnxl_data_type_name(type);
    if (total->tensors == 0)
      continue;
    row(out, total->bytes, name ? name : "of unknown type");
    onnxl_output_printf(out, ", %" G_GUINT64_FORMAT " tensors, %" G_GUINT64_FORMAT " elements\n", total->tensors,
                        total->elements);
  }
  onnxl_output_text(out, "\nlargest tensors\n");
  for (size_t i = 0; i < summary->n_largest; i++) {
    const LargeTensor *large = &summary->largest[i];
    const char *name = onnxl_data_type_name(large->tensor->data_type);
    row(out, large->bytes, name ? name : "undefined");
    onnxl_output_char(out, '[');
    for (size_t j = 0; j < large->tensor->dims.count; j++) {
      if (j > 0)
        onnxl_output_char(out, ',');
      onnxl_output_int64(out, large->tensor->dims.items[j]);
    }
    onnxl_output_text(out, "] ");
    onnxl_output_escaped(out, large->path);
    onnxl_output_text(out, onnxl_tensor_is_external(large->tensor) ? " (external)\n" : "\n");
  }
}

static void
write_operators(OnnxlOutput *out, Summary *summary)
{
  if (summary->operators.count == 0)
    return;
  onnxl_sort(summary->operators.items, summary->operators.count, sizeof(Tally), compare_tallies);
  onnxl_output_text(out, "\noperators\n");
  for (size_t i = 0; i < summary->operators.count; i++) {
    row(out, summary->operators.items[i].count, "");
    onnxl_output_escaped(out, summary->operators.items[i].name);
    onnxl_output_char(out, '\n');
  }
}

bool
onnxl_summary_write(OnnxlOutput *out, const OnnxlModel *model, GError **error)
{
  const OnnxlModelProto *proto = &model->proto;
  Summary summary = { .arena = onnxl_arena_new(onnxl_arena_budget(model->arena)) };
  uint64_t total;

  summary.operators.map = onnxl_map_new(summary.arena, 0);
  summary.symbols.map = onnxl_map_new(summary.arena, 0);
  if (proto->graph)
    collect_graph(&summary, proto->graph);
  for (size_t i = 0; i < proto->functions.count; i++)
    collect_nodes(&summary, &proto->functions.items[i].node);
  /* The walk hands tensors out for writing too; here they are only read. */
  bool ok = onnxl_model_visit_tensors((OnnxlModel *)model, visit_tensor, &summary, error);
  if (ok && (onnxl_arena_exhausted(summary.arena) || !onnxl_wire_size(&onnxl_model_descriptor, proto, &total)))
    ok = onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory is left for the summary (see --max-metadata)");
  if (ok) {
    write_head(out, proto, &summary);
    if (proto->graph) {
      write_values(out, "inputs", &proto->graph->input);
      write_values(out, "outputs", &proto->graph->output);
    }
    write_size(out, proto, total, &summary);
    write_weights(out, &summary);
    write_operators(out, &summary);
  }
  onnxl_arena_free(summary.arena);
  return ok;
}
