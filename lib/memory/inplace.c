#include "memory/inplace-internal.h"

/* True when both have as many elements for every assignment. */
static bool
same_count(OnnxlExprPool *pool, const OnnxlInfo *a, const OnnxlInfo *b)
{
  bool same = a->has_rank && b->has_rank && a->rank == b->rank;

  for (uint32_t i = 0; same && i < a->rank; i++)
    same = a->dims[i] && a->dims[i] == b->dims[i];
  if (same)
    return true;
  OnnxlExpr n = onnxl_info_count(pool, a);
  return n && n == onnxl_info_count(pool, b);
}

bool
onnxl_inplace_safe(const OnnxlInference *inference, uint32_t id, uint32_t k, uint32_t o)
{
  const OnnxlIndexNode *node = &inference->index->nodes[id];
  const OnnxlOpSchema *schema = inference->schemas[id];
  const OnnxlInfo *in = &inference->values[node->inputs[k]], *out = &inference->values[node->outputs[o]];

  if (!schema || o >= ONNXL_INPLACE_OUTPUTS || k >= ONNXL_INPLACE_INPUTS || !(schema->inplace >> k & 1))
    return false;
  return onnxl_data_type_bits(in->elem_type) == onnxl_data_type_bits(out->elem_type) &&
         same_count(inference->pool, in, out);
}
