/* Strings. */
#include "shapes/shape-rules.h"

/* Stop words are removed, so the count is known at run time only; a result without any string becomes one empty string.
 */
void
onnxl_shape_rule_string_normalizer(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  if (input->rank < 1 || input->rank > 2) {
    onnxl_shape_error(n, "input %s has neither rank 1 nor rank 2", onnxl_shape_text(n, input));
    return;
  }
  if (input->rank == 2 && onnxl_shape_never_equal(n, input->dims[0], onnxl_shape_lit(n, 1))) {
    onnxl_shape_error(n, "input %s has more than one row", onnxl_shape_text(n, input));
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank), last = input->dims[input->rank - 1];
  dims[0] = input->rank == 2 ? onnxl_shape_lit(n, 1) : NULL;
  const OnnxlAttribute *stop = onnxl_node_attribute(n->proto, "stopwords");
  if ((!stop || stop->strings.count == 0) && onnxl_shape_min(n, last) >= 1)
    dims[input->rank - 1] = last;
}

/* The longest split decides the last dim of Y; Z counts. */
void
onnxl_shape_rule_string_split(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  onnxl_shape_same(n, 1, input);
  if (!input || input->rank >= ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank + 1);
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
}

void
onnxl_shape_rule_tf_idf(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlInt64List indexes = onnxl_attr_ints(n->proto, "ngram_indexes");
  int64_t last = -1;
  for (size_t i = 0; i < indexes.count; i++)
    last = MAX(last, indexes.items[i]);
  if (!input || last >= INT32_MAX)
    return;
  if (input->rank < 1 || input->rank > 2) {
    onnxl_shape_error(n, "input %s has neither rank 1 nor rank 2", onnxl_shape_text(n, input));
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  dims[0] = input->dims[0];
  dims[input->rank - 1] = onnxl_shape_lit(n, last + 1);
}
