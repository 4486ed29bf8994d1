/* Sequences and optionals. Of a sequence the element type is known, and its shape as far as all elements share it; its
 * length where it is the same in every run (n_contents, when has_contents is set). */
#include "shapes/shape-control-internal.h"
#include "shapes/shape-rules.h"

static const OnnxlInfo *
sequence(const OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  return info && info->kind == ONNXL_KIND_SEQUENCE ? info : NULL;
}

/* What an element of a sequence may keep of a tensor: contents differ from element to element. */
static OnnxlInfo *
element_of(OnnxlShapeNode *n, const OnnxlInfo *tensor)
{
  OnnxlInfo *element = ONNXL_NEW(n->arena, OnnxlInfo);
  if (!element)
    return NULL;
  *element = *tensor;
  if (element->kind == ONNXL_KIND_TENSOR) {
    element->has_contents = false;
    element->contents = NULL;
    element->reals = NULL;
    element->n_contents = 0;
  }
  return element;
}

static void
put_sequence(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *element, int64_t length)
{
  if (i >= n->n_outputs)
    return;
  n->outputs[i] = (OnnxlInfo){ .kind = ONNXL_KIND_SEQUENCE, .element = element };
  if (length >= 0 && length <= INT32_MAX) {
    n->outputs[i].has_contents = true;
    n->outputs[i].n_contents = (uint32_t)length;
  }
}

static int64_t
length_of(const OnnxlInfo *s)
{
  return s && s->has_contents ? (int64_t)s->n_contents : -1;
}

void
onnxl_shape_rule_sequence_construct(OnnxlShapeNode *n)
{
  OnnxlInfo *element = n->n_inputs > 0 && n->inputs[0] ? element_of(n, n->inputs[0]) : NULL;
  for (uint32_t i = 1; i < n->n_inputs && element; i++) {
    OnnxlInfo joined = { 0 };
    if (n->inputs[i])
      onnxl_info_join(n->run, element, n->inputs[i], &joined);
    *element = joined;
  }
  put_sequence(n, 0, element, n->n_inputs);
}

void
onnxl_shape_rule_sequence_empty(OnnxlShapeNode *n)
{
  OnnxlInfo element = { .kind = ONNXL_KIND_TENSOR, .elem_type = ONNXL_TYPE_FLOAT };
  if (onnxl_shape_has(n, "dtype"))
    element.elem_type = (int32_t)onnxl_shape_int(n, "dtype");
  put_sequence(n, 0, element_of(n, &element), 0);
}

void
onnxl_shape_rule_sequence_at(OnnxlShapeNode *n)
{
  const OnnxlInfo *s = sequence(n, 0);
  if (s && s->element && n->n_outputs > 0)
    n->outputs[0] = *s->element;
}

void
onnxl_shape_rule_sequence_insert(OnnxlShapeNode *n)
{
  const OnnxlInfo *s = sequence(n, 0), *tensor = onnxl_shape_input(n, 1);
  int64_t length = length_of(s);
  OnnxlInfo *element = tensor ? element_of(n, tensor) : NULL;
  if (element && length != 0) {
    OnnxlInfo joined = { 0 };
    if (s && s->element)
      onnxl_info_join(n->run, element, s->element, &joined);
    *element = joined;
  }
  put_sequence(n, 0, element, length < 0 ? -1 : length + 1);
}

void
onnxl_shape_rule_sequence_erase(OnnxlShapeNode *n)
{
  const OnnxlInfo *s = sequence(n, 0);
  int64_t length = length_of(s);
  put_sequence(n, 0, s ? s->element : NULL, length < 1 ? -1 : length - 1);
}

void
onnxl_shape_rule_sequence_length(OnnxlShapeNode *n)
{
  int64_t length = length_of(sequence(n, 0));
  onnxl_shape_output(n, 0, 0);
  OnnxlExpr *contents = length >= 0 ? onnxl_shape_contents(n, 0, 1) : NULL;
  if (contents)
    contents[0] = onnxl_shape_lit(n, length);
}

/* A size of parts is positive, sizes make up the axis. */
static bool
parts_fit(OnnxlShapeNode *n, const int64_t *sizes, uint32_t count, bool scalar, OnnxlExpr d)
{
  int64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    if (sizes[i] < scalar || __builtin_add_overflow(sum, sizes[i], &sum)) {
      onnxl_shape_error(n, "a part has the size %" G_GINT64_FORMAT, sizes[i]);
      return false;
    }
  if (!scalar)
    onnxl_shape_equal(n, onnxl_shape_lit(n, sum), d, "the sum of the parts and the axis");
  return !n->failed;
}

/* Parts of equal size (a scalar split, or 1 without), or of given sizes. */
void
onnxl_shape_rule_split_to_sequence(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0), *split = onnxl_shape_input(n, 1);
  uint32_t axis, count;
  int32_t whole_type = onnxl_shape_input(n, 0) ? n->inputs[0]->elem_type : 0;
  OnnxlInfo element = { .kind = ONNXL_KIND_TENSOR, .elem_type = whole_type };
  if (!input || !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), input->rank, &axis)) {
    put_sequence(n, 0, element_of(n, &element), -1);
    return;
  }
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, input->rank), d = input->dims[axis];
  if (!dims)
    return;
  const int64_t *sizes = split ? onnxl_shape_literals(n, 1, &count) : NULL;
  bool scalar = split && split->has_rank && split->rank == 0;
  bool drop = !split && onnxl_shape_int(n, "keepdims") == 0;
  int64_t whole, length = -1;
  if (sizes && !parts_fit(n, sizes, count, scalar, d))
    return;
  OnnxlExpr size = split ? NULL : onnxl_shape_lit(n, 1);
  bool literal = d && onnxl_expr_is_int(d, &whole);
  if (!split) {
    length = literal ? whole : -1;
  } else if (sizes && scalar && sizes[0] > 0) {
    length = literal ? whole / sizes[0] + (whole % sizes[0] != 0) : -1;
    size = literal && whole % sizes[0] == 0 ? onnxl_shape_lit(n, sizes[0]) : NULL;
  } else if (split->has_rank && split->rank == 1) {
    length = onnxl_shape_length(n, 1);
    for (uint32_t i = 0; sizes && i < count; i++)
      size = i == 0 || (size && sizes[i] == sizes[0]) ? onnxl_shape_lit(n, sizes[0]) : NULL;
  }
  element.has_rank = true;
  element.dims = dims;
  for (uint32_t i = 0; i < input->rank; i++)
    if (i != axis)
      dims[element.rank++] = input->dims[i];
    else if (!drop)
      dims[element.rank++] = size;
  put_sequence(n, 0, element_of(n, &element), length);
}

void
onnxl_shape_rule_concat_from_sequence(OnnxlShapeNode *n)
{
  const OnnxlInfo *s = sequence(n, 0), *element = s ? s->element : NULL;
  bool stacked = onnxl_shape_int(n, "new_axis") != 0;
  uint32_t axis;
  if (!element)
    return;
  onnxl_shape_set_type(n, 0, element->elem_type);
  uint32_t rank = element->rank + stacked;
  if (!element->has_rank || rank > ONNXL_SHAPE_MAX_RANK ||
      !onnxl_shape_axis(n, onnxl_shape_int(n, "axis"), rank, &axis))
    return;
  OnnxlExpr length = length_of(s) >= 0 ? onnxl_shape_lit(n, length_of(s)) : NULL;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  for (uint32_t i = 0, k = 0; i < rank; i++) {
    if (i == axis && stacked)
      dims[i] = length;
    else if (i == axis)
      dims[i] = onnxl_expr_mul(n->pool, element->dims[k++], length);
    else
      dims[i] = element->dims[k++];
  }
}

/* The body runs once for each element of the first sequence. */
void
onnxl_shape_rule_sequence_map(OnnxlShapeNode *n)
{
  uint32_t body = onnxl_shape_subgraph(n, "body");
  OnnxlInfo *inputs = ONNXL_NEW_ARRAY(n->arena, OnnxlInfo, n->n_inputs);
  if (body == ONNXL_NONE || !inputs)
    return;
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    const OnnxlInfo *info = n->inputs[i];
    if (info && info->kind == ONNXL_KIND_SEQUENCE)
      inputs[i] = info->element ? *info->element : (OnnxlInfo){ 0 };
    else if (info)
      inputs[i] = *info;
  }
  if (!onnxl_shape_run_graph(n, body, inputs, n->n_inputs))
    return;
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    const OnnxlInfo *out = onnxl_shape_graph_output(n, body, i);
    OnnxlInfo *element = out ? element_of(n, out) : NULL;
    if (element)
      onnxl_shape_leave(n->run, element, n->scope, body);
    put_sequence(n, i, element, length_of(sequence(n, 0)));
  }
}

/* --- optionals ---------------------------------------------------------------------------------------------------- */

void
onnxl_shape_rule_optional(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  const OnnxlAttribute *type = onnxl_node_attribute(n->proto, "type");
  OnnxlInfo *element = ONNXL_NEW(n->arena, OnnxlInfo);
  if (!element || n->n_outputs == 0)
    return;
  if (input)
    *element = *input;
  else if (type && type->tp)
    onnxl_info_from_type(n->run, type->tp, ONNXL_SYMBOL_DECLARED, element);
  n->outputs[0] = (OnnxlInfo){ .kind = ONNXL_KIND_OPTIONAL, .element = element };
}

void
onnxl_shape_rule_optional_get(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (!input || n->n_outputs == 0)
    return;
  if (input->kind != ONNXL_KIND_OPTIONAL)
    n->outputs[0] = *input;
  else if (input->element)
    n->outputs[0] = *input->element;
}

void
onnxl_shape_rule_optional_has(OnnxlShapeNode *n)
{
  onnxl_shape_output(n, 0, 0);
}
