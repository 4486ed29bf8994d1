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
  int64_t gates = strcmp(n->schema->name, "LSTM") == 0 ? 4 : strcmp(n->schema->name, "GRU") == 0 ? 3 : 1;
  OnnxlExpr rows = onnxl_expr_mul(n->pool, hidden, onnxl_shape_lit(n, gates));
  OnnxlExpr both = onnxl_expr_mul(n->pool, rows, onnxl_shape_lit(n, 2));
  OnnxlExpr peepholes = onnxl_expr_mul(n->pool, hidden, onnxl_shape_lit(n, 3));
  const OnnxlExpr last[] = { batch_first ? batch : directions, batch_first ? directions : batch, hidden };
  if (!onnxl_shape_expect(n, 1, (const OnnxlExpr[]){ directions, rows, x ? x->dims[2] : NULL }, 3) ||
      !onnxl_shape_expect(n, 2, (const OnnxlExpr[]){ directions, rows, hidden }, 3) ||
      !onnxl_shape_expect(n, 3, (const OnnxlExpr[]){ directions, both }, 2) || !onnxl_shape_expect(n, 5, last, 3) ||
      (gates == 4 && (!onnxl_shape_expect(n, 6, last, 3) ||
                      !onnxl_shape_expect(n, 7, (const OnnxlExpr[]){ directions, peepholes }, 2))))
    return;
  memcpy(onnxl_shape_output(n, 0, 4), all, sizeof all);
  for (uint32_t i = 1; i < n->n_outputs; i++)
    memcpy(onnxl_shape_output(n, i, 3), last, sizeof last);
}
