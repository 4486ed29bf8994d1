/* Recurrent layers: X [seq, batch, input], W [directions, gates * hidden, input], R [directions, gates * hidden,
 * hidden]. */
#include "shapes/shape-rules.h"

void
onnxl_shape_rule_rnn(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_of_rank(n, 0, 3);
  const OnnxlInfo *w = n->failed ? NULL : onnxl_shape_of_rank(n, 1, 3);
  const OnnxlInfo *r = n->failed ? NULL : onnxl_shape_of_rank(n, 2, 3);
  if (n->failed)
    return;
  if (x && w) {
    onnxl_shape_equal(n, x->dims[2], w->dims[2], "input sizes of X and W");
    if (n->failed)
      return;
  }
  bool batch_first = n->schema->since >= 14 && onnxl_shape_int(n, "layout") != 0;
  bool two = onnxl_str_is(onnxl_attr_string(n->schema, n->proto, "direction"), "bidirectional");
  OnnxlExpr directions = onnxl_shape_lit(n, two ? 2 : 1);
  OnnxlExpr hidden = NULL;
  if (onnxl_shape_has(n, "hidden_size"))
    hidden = onnxl_shape_lit(n, onnxl_shape_int(n, "hidden_size"));
  else if (r)
    hidden = r->dims[2];
  OnnxlExpr steps = x ? x->dims[batch_first] : NULL, batch = x ? x->dims[!batch_first] : NULL;
  const OnnxlExpr all[] = { batch_first ? batch : steps, batch_first ? steps : directions,
                            batch_first ? directions : batch, hidden };
  const OnnxlExpr last[] = { batch_first ? batch : directions, batch_first ? directions : batch, hidden };
  memcpy(onnxl_shape_output(n, 0, 4), all, sizeof all);
  for (uint32_t i = 1; i < n->n_outputs; i++)
    memcpy(onnxl_shape_output(n, i, 3), last, sizeof last);
}
