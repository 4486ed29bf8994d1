#include "memory/bytes-internal.h"

#include "memory/profile.h"

/* Lengths of the texts of a tensor, -1 when it holds none. */
static int64_t
text_bytes(const OnnxlTensor *tensor)
{
  int64_t sum = 0;

  if (!tensor || tensor->data_type != ONNXL_TYPE_STRING)
    return -1;
  for (size_t i = 0; i < tensor->string_data.count; i++)
    sum += (int64_t)tensor->string_data.items[i].size;
  return sum;
}

static int64_t
constant_text_bytes(const OnnxlNode *node)
{
  for (size_t i = 0; i < node->attribute.count; i++) {
    const OnnxlAttribute *a = &node->attribute.items[i];
    int64_t sum = 0;
    if (onnxl_str_is(a->name, "value"))
      return text_bytes(a->t);
    if (onnxl_str_is(a->name, "value_string"))
      return (int64_t)a->s.size;
    for (size_t k = 0; onnxl_str_is(a->name, "value_strings") && k < a->strings.count; k++)
      sum += (int64_t)a->strings.items[k].size;
    if (onnxl_str_is(a->name, "value_strings"))
      return sum;
  }
  return -1;
}

/* Operators whose output 0 has all elements of input 0, and no others. */
static bool
moves_all(const OnnxlOpSchema *schema)
{
  static const char *const names[] = { "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze" };

  for (size_t i = 0; schema && schema->domain[0] == '\0' && i < G_N_ELEMENTS(names); i++)
    if (strcmp(schema->name, names[i]) == 0)
      return true;
  return false;
}

static bool
is_made_by(const OnnxlOpSchema *schema, const char *name)
{
  return schema && schema->domain[0] == '\0' && strcmp(schema->name, name) == 0;
}

/* Bytes of an input of the node that makes the value: of what is in it, not of the buffer that it may have taken over.
 */
static OnnxlExpr
input_bytes(const OnnxlInference *inference, const OnnxlIndexNode *node, uint32_t i, const OnnxlKnownBytes *known)
{
  uint32_t value = i < node->n_inputs ? node->inputs[i] : ONNXL_NONE;

  if (value == ONNXL_NONE)
    return NULL;
  const OnnxlInfo *info = &inference->values[value];
  OnnxlExpr own = onnxl_info_bytes(inference->pool, info);
  return own || onnxl_data_type_bits(info->elem_type) > 0 ? own : known->handed[value] ? NULL : known->bytes[value];
}

/* From the elements that the sequence is made of, or from their number and the shape that all share. */
static OnnxlExpr
sequence_bytes(const OnnxlInference *inference, const OnnxlInfo *info, const OnnxlIndexNode *node,
               const OnnxlOpSchema *schema, const OnnxlKnownBytes *known)
{
  OnnxlExprPool *pool = inference->pool;

  if (is_made_by(schema, "SequenceConstruct")) {
    OnnxlExpr sum = onnxl_expr_int(pool, 0);
    for (uint32_t i = 0; i < node->n_inputs; i++)
      sum = onnxl_expr_add(pool, sum, input_bytes(inference, node, i, known));
    return sum;
  }
  if (info->has_contents && info->n_contents == 0)
    return onnxl_expr_int(pool, 0);
  if (!info->has_contents || !info->element)
    return NULL;
  return onnxl_expr_mul(pool, onnxl_expr_int(pool, info->n_contents), onnxl_info_bytes(pool, info->element));
}

OnnxlExpr
onnxl_bytes_of_value(const OnnxlInference *inference, uint32_t value, const OnnxlKnownBytes *known)
{
  const OnnxlInfo *info = &inference->values[value];
  OnnxlExpr bytes = onnxl_info_bytes(inference->pool, info);

  if (bytes && !onnxl_inference_is_local(inference, bytes, 0))
    return bytes;
  const OnnxlIndexValue *v = &inference->index->values[value];
  bool made = v->kind == ONNXL_VALUE_NODE_OUTPUT;
  const OnnxlIndexNode *node = made ? &inference->index->nodes[v->producer] : NULL;
  const OnnxlOpSchema *schema = made ? inference->schemas[v->producer] : NULL;
  bool moved = made && v->position == 0 && moves_all(schema);
  if (info->kind == ONNXL_KIND_SEQUENCE && !moved)
    return sequence_bytes(inference, info, node, schema, known);
  if (info->kind == ONNXL_KIND_TENSOR && info->elem_type == ONNXL_TYPE_STRING && !moved) {
    int64_t texts = v->kind == ONNXL_VALUE_INITIALIZER ? text_bytes(v->initializer)
                    : is_made_by(schema, "Constant") ? constant_text_bytes(onnxl_inference_node(inference, v->producer))
                                                     : -1;
    return texts < 0 ? NULL : onnxl_expr_int(inference->pool, texts);
  }
  OnnxlExpr same = moved ? input_bytes(inference, node, 0, known) : NULL;
  return same ? same : bytes;
}

OnnxlExpr
onnxl_memory_external(const OnnxlInference *inference)
{
  OnnxlExpr sum = onnxl_expr_int(inference->pool, 0);

  for (uint32_t i = 0; i < inference->index->n_values; i++) {
    const OnnxlTensor *tensor = inference->index->values[i].initializer;
    if (tensor && onnxl_tensor_is_external(tensor))
      sum = onnxl_expr_add(inference->pool, sum, onnxl_info_bytes(inference->pool, &inference->values[i]));
  }
  return sum;
}
