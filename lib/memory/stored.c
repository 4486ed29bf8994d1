#include "memory/stored.h"

#include "memory/stored-internal.h"
#include "support/number.h"

static OnnxlStr
find(const OnnxlPairList *pairs, const char *key)
{
  for (size_t i = 0; i < pairs->count; i++)
    if (onnxl_str_is(pairs->items[i].key, key))
      return pairs->items[i].value;
  return (OnnxlStr){ NULL, 0 };
}

OnnxlStr
onnxl_stored_inplace(const OnnxlNode *node)
{
  return find(&node->metadata_props, "onnxl.inplace");
}

/* The part of *rest up to separator, which is taken off with it. */
static OnnxlStr
take(OnnxlStr *rest, char separator)
{
  const char *end = memchr(rest->data, separator, rest->size);
  OnnxlStr part = onnxl_str_n(rest->data, end ? (size_t)(end - rest->data) : rest->size);
  size_t taken = part.size + (end ? 1 : 0);

  *rest = onnxl_str_n(rest->data + taken, rest->size - taken);
  return part;
}

bool
onnxl_stored_pair(OnnxlStr *rest, uint32_t *ret_output, uint32_t *ret_input)
{
  OnnxlStr input = take(rest, ';');
  uint64_t o, k;

  if (!memchr(input.data, ':', input.size))
    return false;
  OnnxlStr output = take(&input, ':');
  if (onnxl_parse_uint64(output, &o) != ONNXL_NUMBER_OK || onnxl_parse_uint64(input, &k) != ONNXL_NUMBER_OK ||
      o >= ONNXL_NONE || k >= ONNXL_NONE)
    return false;
  *ret_output = (uint32_t)o;
  *ret_input = (uint32_t)k;
  return true;
}

bool
onnxl_memory_stored(const OnnxlModel *model, OnnxlMemoryOptions *ret_options)
{
  const OnnxlGraph *graph = model->proto.graph;
  OnnxlStr asked = graph ? find(&graph->metadata_props, "onnxl.plan") : (OnnxlStr){ NULL, 0 };
  bool found = asked.size > 0;

  for (size_t i = 0; graph && !found && i < graph->node.count; i++) {
    const OnnxlPairList *pairs = &graph->node.items[i].metadata_props;
    found = find(pairs, "onnxl.inplace").data || find(pairs, "onnxl.release").data;
  }
  *ret_options = (OnnxlMemoryOptions){ .inplace = ONNXL_INPLACE_SAFE, .stored = true };
  while (asked.size > 0) {
    OnnxlStr word = take(&asked, ';');
    if (onnxl_str_is(word, "structural"))
      ret_options->inplace = ONNXL_INPLACE_STRUCTURAL;
    else if (onnxl_str_is(word, "none"))
      ret_options->inplace = ONNXL_INPLACE_OFF;
    else if (onnxl_str_is(word, "free-inputs"))
      ret_options->free_inputs = true;
  }
  return found;
}
