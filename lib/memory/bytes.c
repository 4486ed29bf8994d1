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

/* names: of the default domain, with blanks between them. */
static bool
is_one_of(const OnnxlOpSchema *schema, const char *names)
{
  size_t length = schema && schema->domain[0] == '\0' ? strlen(schema->name) : 0;

  for (const char *at = length > 0 ? names : ""; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] != '\0'))
    if (strcspn(at, " ") == length && memcmp(at, schema->name, length) == 0)
      return true;
  return false;
}

/* Operators whose output 0 has all elements of input 0, and no others. */
static bool
moves_all(const OnnxlOpSchema *schema)
{
  return is_one_of(schema, "Flatten Identity Optional OptionalGetElement Reshape SplitToSequence Squeeze Transpose "
                           "Unsqueeze ConcatFromSequence");
}

/* NULL: left out. */
static const OnnxlInfo *
input_info(const OnnxlInference *inference, const OnnxlIndexNode *node, uint32_t i)
{
  return i < node->n_inputs && node->inputs[i] != ONNXL_NONE ? &inference->values[node->inputs[i]] : NULL;
}

/* Bytes of an input of the node that makes the value: of what is in it, not of the buffer that it may have taken over
 * (only tensors of known shapes do that). */
static OnnxlExpr
input_bytes(const OnnxlInference *inference, const OnnxlIndexNode *node, uint32_t i, const OnnxlKnownBytes *known)
{
  uint32_t value = i < node->n_inputs ? node->inputs[i] : ONNXL_NONE;

  if (value == ONNXL_NONE)
    return NULL;
  OnnxlExpr own = onnxl_info_bytes(inference->pool, &inference->values[value]);
  return own ? own : known->handed[value] ? NULL : known->bytes[value];
}

static OnnxlExpr
sum_of_inputs(const OnnxlInference *inference, const OnnxlIndexNode *node, const OnnxlKnownBytes *known)
{
  OnnxlExpr sum = onnxl_expr_int(inference->pool, 0);

  for (uint32_t i = 0; i < node->n_inputs; i++)
    sum = onnxl_expr_add(inference->pool, sum, input_bytes(inference, node, i, known));
  return sum;
}

/* The maps of ZipMap: in each the keys that the attributes list, and as many floats. */
static OnnxlExpr
zipped_bytes(const OnnxlInference *inference, const OnnxlIndexNode *node, const OnnxlNode *proto)
{
  OnnxlExprPool *pool = inference->pool;
  const OnnxlInfo *x = input_info(inference, node, 0);
  int64_t bytes = 0;

  for (size_t i = 0; proto && i < proto->attribute.count; i++) {
    const OnnxlAttribute *a = &proto->attribute.items[i];
    bytes += (int64_t)a->ints.count * 12 + (int64_t)a->strings.count * 4;
    for (size_t k = 0; k < a->strings.count; k++)
      bytes += (int64_t)a->strings.items[k].size;
  }
  if (!x || !x->has_rank || x->rank < 1 || x->rank > 2)
    return NULL;
  return onnxl_expr_mul(pool, x->rank == 1 ? onnxl_expr_int(pool, 1) : x->dims[0], onnxl_expr_int(pool, bytes));
}

/* From the elements that the sequence is made of, or from their number and the shape that all share. */
static OnnxlExpr
sequence_bytes(const OnnxlInference *inference, const OnnxlInfo *info, const OnnxlIndexNode *node, uint32_t id,
               const OnnxlKnownBytes *known)
{
  OnnxlExprPool *pool = inference->pool;
  const OnnxlOpSchema *schema = node ? inference->schemas[id] : NULL;

  if (is_one_of(schema, "SequenceConstruct"))
    return sum_of_inputs(inference, node, known);
  if (schema && strcmp(schema->name, "ZipMap") == 0)
    return zipped_bytes(inference, node, onnxl_inference_node(inference, id));
  if (info->has_contents && info->n_contents == 0)
    return onnxl_expr_int(pool, 0);
  OnnxlExpr bytes = info->has_contents && info->element ? onnxl_expr_mul(pool, onnxl_expr_int(pool, info->n_contents),
                                                                         onnxl_info_bytes(pool, info->element))
                                                        : NULL;
  if (!bytes && is_one_of(schema, "SequenceInsert"))
    return onnxl_expr_add(pool, input_bytes(inference, node, 0, known), input_bytes(inference, node, 1, known));
  return bytes;
}

/* Stored texts, and joined ones: StringConcat of equal shapes has each text once. */
static OnnxlExpr
texts_bytes(const OnnxlInference *inference, const OnnxlIndexValue *v, const OnnxlIndexNode *node,
            const OnnxlKnownBytes *known)
{
  const OnnxlOpSchema *schema = node ? inference->schemas[v->producer] : NULL;
  int64_t texts = v->kind == ONNXL_VALUE_INITIALIZER ? text_bytes(v->initializer) : -1;

  if (is_one_of(schema, "Constant"))
    texts = constant_text_bytes(onnxl_inference_node(inference, v->producer));
  if (texts >= 0)
    return onnxl_expr_int(inference->pool, texts);
  bool joins = is_one_of(schema, "Concat");
  if (is_one_of(schema, "StringConcat")) {
    const OnnxlInfo *a = input_info(inference, node, 0), *b = input_info(inference, node, 1);
    OnnxlExpr count = a && b ? onnxl_info_count(inference->pool, a) : NULL;
    joins = count && count == onnxl_info_count(inference->pool, b);
  }
  return joins ? sum_of_inputs(inference, node, known) : NULL;
}

/* Elements that are packed below 8 bits take more where they are fewer. */
static bool
is_packed(const OnnxlInfo *info)
{
  uint32_t bits = onnxl_data_type_bits(info->elem_type);

  return bits > 0 && bits < 8;
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
  bool moved = made && v->position == 0 && moves_all(schema) &&
               !(is_packed(info) && is_one_of(schema, "SplitToSequence ConcatFromSequence"));
  OnnxlExpr same = moved ? input_bytes(inference, node, 0, known) : NULL;
  if (same || bytes)
    return same ? same : bytes;
  if (info->kind == ONNXL_KIND_SEQUENCE)
    return sequence_bytes(inference, info, node, made ? v->producer : 0, known);
  if (info->kind == ONNXL_KIND_TENSOR && info->elem_type == ONNXL_TYPE_STRING)
    return texts_bytes(inference, v, node, known);
  if (info->kind == ONNXL_KIND_OPTIONAL && is_one_of(schema, "Optional") && node->n_inputs == 0)
    return onnxl_expr_int(inference->pool, 0);
  return NULL;
}

/* --- upper bounds ------------------------------------------------------------------------------------------------- */

/* Characters of a number as text, sign and exponent included. */
#define NUMBER_TEXT 32

static int64_t
longest(OnnxlStrList texts, int64_t at_least)
{
  for (size_t i = 0; i < texts.count; i++)
    at_least = MAX(at_least, (int64_t)texts.items[i].size);
  return at_least;
}

/* Of the texts that an operator of ai.onnx.ml takes from its attributes; "_Unused" is a default. */
static int64_t
longest_listed(const OnnxlNode *proto)
{
  int64_t length = strlen("_Unused");

  for (size_t i = 0; proto && i < proto->attribute.count; i++) {
    const OnnxlAttribute *a = &proto->attribute.items[i];
    length = longest(a->strings, MAX(length, (int64_t)a->s.size));
    length = a->t ? longest(a->t->string_data, length) : length;
  }
  return length;
}

static OnnxlExpr
most_text_bytes(const OnnxlInference *inference, uint32_t id, const OnnxlInfo *info, const OnnxlKnownBytes *known)
{
  static const char *const labels[] = { "CategoryMapper", "LabelEncoder", "LinearClassifier", "SVMClassifier",
                                        "TreeEnsembleClassifier" };
  const OnnxlIndexNode *node = &inference->index->nodes[id];
  const OnnxlOpSchema *schema = inference->schemas[id];
  OnnxlExprPool *pool = inference->pool;
  OnnxlExpr count = onnxl_info_count(pool, info);

  const OnnxlInfo *x = input_info(inference, node, 0);
  if (is_one_of(schema, "Cast CastLike") && x && x->elem_type != ONNXL_TYPE_STRING)
    return onnxl_expr_mul(pool, onnxl_expr_int(pool, NUMBER_TEXT), count);
  if (is_one_of(schema, "Cast CastLike Compress Slice StringSplit Unique"))
    return input_bytes(inference, node, 0, known);
  if (is_one_of(schema, "StringNormalizer")) /* a letter of the other case may take three times as many bytes */
    return onnxl_expr_mul(pool, onnxl_expr_int(pool, 3), input_bytes(inference, node, 0, known));
  for (size_t i = 0; schema && i < G_N_ELEMENTS(labels); i++)
    if (strcmp(schema->name, labels[i]) == 0)
      return onnxl_expr_mul(pool, onnxl_expr_int(pool, longest_listed(onnxl_inference_node(inference, id))), count);
  return NULL;
}

/* The larger of what the branches hand out, of shapes that do not fit each other. */
static OnnxlExpr
most_branch_bytes(const OnnxlInference *inference, const OnnxlIndexNode *node, uint32_t o)
{
  OnnxlExpr most = onnxl_expr_int(inference->pool, 0);

  for (uint32_t i = 0; i < node->n_subgraphs; i++) {
    uint32_t g = node->first_subgraph + i;
    const OnnxlIndexGraph *graph = &inference->index->graphs[g];
    uint32_t value = o < graph->n_outputs ? graph->outputs[o] : ONNXL_NONE;
    OnnxlExpr bytes = value == ONNXL_NONE ? NULL : onnxl_info_bytes(inference->pool, &inference->values[value]);
    most = onnxl_inference_is_local(inference, bytes, g) ? NULL : onnxl_expr_max(inference->pool, most, bytes);
  }
  return most;
}

OnnxlExpr
onnxl_most_bytes_of_value(const OnnxlInference *inference, uint32_t value, const OnnxlKnownBytes *known)
{
  const OnnxlInfo *info = &inference->values[value];
  const OnnxlIndexValue *v = &inference->index->values[value];

  if (v->kind != ONNXL_VALUE_NODE_OUTPUT)
    return NULL;
  const OnnxlIndexNode *node = &inference->index->nodes[v->producer];
  const OnnxlOpSchema *schema = inference->schemas[v->producer];
  if (is_one_of(schema, "If"))
    return most_branch_bytes(inference, node, v->position);
  if (is_one_of(schema, "SequenceAt SequenceErase"))
    return input_bytes(inference, node, 0, known);
  if (info->kind == ONNXL_KIND_TENSOR && info->elem_type == ONNXL_TYPE_STRING && v->position == 0)
    return most_text_bytes(inference, v->producer, info, known);
  return NULL;
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

OnnxlExpr
onnxl_memory_text_slots(const OnnxlInference *inference)
{
  OnnxlExprPool *pool = inference->pool;
  OnnxlExpr slot = onnxl_expr_int(pool, sizeof(OnnxlStr));
  g_autoptr(GPtrArray) slots = g_ptr_array_new();

  for (uint32_t v = 0; v < inference->index->n_values; v++) {
    const OnnxlInfo *info = &inference->values[v];
    if (inference->index->values[v].graph != 0 || info->kind != ONNXL_KIND_TENSOR ||
        info->elem_type != ONNXL_TYPE_STRING)
      continue;
    OnnxlExpr count = onnxl_info_count(pool, info);
    OnnxlExpr bytes = count ? onnxl_expr_mul(pool, slot, count) : NULL;
    if (!bytes)
      return NULL;
    g_ptr_array_add(slots, (gpointer)bytes);
  }
  return onnxl_expr_sum(pool, (const OnnxlExpr *)slots->pdata, slots->len);
}
