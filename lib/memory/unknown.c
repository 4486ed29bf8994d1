#include "memory/unknown.h"

static const struct {
  const char *name, *text;
} reasons[ONNXL_N_UNKNOWN] = {
  [ONNXL_UNKNOWN_TYPE] = { "type", "its type is not known" },
  [ONNXL_UNKNOWN_RANK] = { "rank", "its rank is not known" },
  [ONNXL_UNKNOWN_DIMS] = { "dims", "some of its dims are not known" },
  [ONNXL_UNKNOWN_TEXTS] = { "texts", "the lengths of its texts are those of a run" },
  [ONNXL_UNKNOWN_ELEMENTS] = { "elements", "number or shapes of its elements are those of a run" },
  [ONNXL_UNKNOWN_ENTRIES] = { "entries", "the number of its entries is that of a run" },
};

const char *
onnxl_unknown_name(OnnxlUnknown reason)
{
  return reasons[reason].name;
}

const char *
onnxl_unknown_text(OnnxlUnknown reason)
{
  return reasons[reason].text;
}

static OnnxlUnknown
reason_of(const OnnxlInfo *info)
{
  switch (info->kind) {
  case ONNXL_KIND_SEQUENCE:
  case ONNXL_KIND_OPTIONAL:
    return ONNXL_UNKNOWN_ELEMENTS;
  case ONNXL_KIND_MAP:
  case ONNXL_KIND_SPARSE_TENSOR:
    return ONNXL_UNKNOWN_ENTRIES;
  case ONNXL_KIND_TENSOR:
    if (info->elem_type == ONNXL_TYPE_STRING)
      return ONNXL_UNKNOWN_TEXTS;
    if (info->elem_type != ONNXL_TYPE_UNDEFINED)
      return info->has_rank ? ONNXL_UNKNOWN_DIMS : ONNXL_UNKNOWN_RANK;
    break;
  default:
    break;
  }
  return ONNXL_UNKNOWN_TYPE;
}

/* The node of the main graph around a graph; ONNXL_NONE: it is the main graph. */
static uint32_t
node_around(const OnnxlIndex *index, uint32_t graph)
{
  uint32_t node = ONNXL_NONE;

  for (; graph != 0; graph = index->nodes[node].graph)
    node = index->graphs[graph].parent_node;
  return node;
}

/* main_node: of the call that memory is of, ONNXL_NONE for the main graph itself. As deep as calls are, which has a
 * limit. */
static void
list(const OnnxlMemory *memory, uint32_t main_node, OnnxlUnknownFunction found, void *data)
{
  const OnnxlInference *inference = memory->inference;
  const OnnxlIndex *index = inference->index;

  for (int nested = 0; nested < 2; nested++)
    for (uint32_t v = 0; v < index->n_values; v++) {
      OnnxlExpr symbol = onnxl_inference_has_bytes_symbol(inference, v);
      if ((index->values[v].graph != 0) != nested || memory->handed[v] ||
          (memory->bytes[v] && memory->bytes[v] != symbol))
        continue;
      uint32_t at = nested ? node_around(index, index->values[v].graph) : index->values[v].producer;
      found(data, &(OnnxlUnknownValue){ inference, v, main_node == ONNXL_NONE ? at : main_node,
                                        reason_of(&inference->values[v]), memory->bytes[v] });
    }
  for (uint32_t id = 0; id < index->n_nodes; id++) {
    uint32_t around = node_around(index, index->nodes[id].graph);
    const OnnxlMemory *call = onnxl_memory_call(memory, id);
    if (call && !call->peak)
      list(call, main_node != ONNXL_NONE ? main_node : around == ONNXL_NONE ? id : around, found, data);
  }
}

void
onnxl_memory_unknown(const OnnxlMemory *memory, OnnxlUnknownFunction found, void *data)
{
  list(memory, ONNXL_NONE, found, data);
}
