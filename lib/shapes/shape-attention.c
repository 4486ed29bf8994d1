/* Attention and what surrounds it in transformers. */
#include "shapes/shape-rules.h"

/* An operand as heads of vectors: [batch, heads, sequence, size], or [batch, sequence, heads * size] with the number of
 * heads in an attribute. */
typedef struct Heads {
  OnnxlExpr batch, heads, sequence, size;
  uint32_t rank; /* 3 or 4; 0: not known */
} Heads;

static Heads
heads_of(OnnxlShapeNode *n, uint32_t i, const char *attribute)
{
  Heads h = { 0 };
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  if (!info)
    return h;
  if (info->rank == 4) {
    h = (Heads){ info->dims[0], info->dims[1], info->dims[2], info->dims[3], 4 };
  } else if (info->rank == 3 && attribute) {
    int64_t heads = onnxl_shape_int(n, attribute);
    OnnxlExpr count = heads > 0 ? onnxl_shape_lit(n, heads) : NULL;
    h = (Heads){ info->dims[0], count, info->dims[1], onnxl_expr_exact_div(n->pool, info->dims[2], count), 3 };
  } else {
    onnxl_shape_error(n, "input %u has shape %s", i, onnxl_shape_text(n, info));
  }
  return h;
}

static void
put_heads(OnnxlShapeNode *n, uint32_t i, const Heads *like, OnnxlExpr sequence, OnnxlExpr size)
{
  if (like->rank == 4) {
    const OnnxlExpr dims[] = { like->batch, like->heads, sequence, size };
    memcpy(onnxl_shape_output(n, i, 4), dims, sizeof dims);
  } else if (like->rank == 3) {
    const OnnxlExpr dims[] = { like->batch, sequence, onnxl_expr_mul(n->pool, like->heads, size) };
    memcpy(onnxl_shape_output(n, i, 3), dims, sizeof dims);
  }
}

void
onnxl_shape_rule_attention(OnnxlShapeNode *n)
{
  Heads q = heads_of(n, 0, "q_num_heads"), k = { 0 }, v = { 0 };
  if (!n->failed)
    k = heads_of(n, 1, "kv_num_heads");
  if (!n->failed)
    v = heads_of(n, 2, "kv_num_heads");
  if (n->failed || q.rank == 0)
    return;
  put_heads(n, 0, &q, q.sequence, v.rank ? v.size : NULL);
  OnnxlExpr total = k.sequence;
  const OnnxlInfo *past = onnxl_shape_ranked(n, 4);
  if (onnxl_shape_input(n, 4))
    total = past && past->rank == 4 ? onnxl_expr_add(n->pool, past->dims[2], k.sequence) : NULL;
  if (k.rank == 0 || v.rank == 0)
    return;
  const OnnxlExpr keys[] = { k.batch, k.heads, total, k.size }, values[] = { v.batch, v.heads, total, v.size };
  const OnnxlExpr scores[] = { q.batch, q.heads, q.sequence, total };
  memcpy(onnxl_shape_output(n, 1, 4), keys, sizeof keys);
  memcpy(onnxl_shape_output(n, 2, 4), values, sizeof values);
  memcpy(onnxl_shape_output(n, 3, 4), scores, sizeof scores);
}

void
onnxl_shape_rule_flex_attention(OnnxlShapeNode *n)
{
  Heads q = heads_of(n, 0, NULL), v = { 0 };
  if (!n->failed)
    v = heads_of(n, 2, NULL);
  if (!n->failed && q.rank)
    put_heads(n, 0, &q, q.sequence, v.size);
}

/* Packed [B, T, H * D] operands; the state is [B, heads, key size, value size]. */
void
onnxl_shape_rule_linear_attention(OnnxlShapeNode *n)
{
  Heads q = heads_of(n, 0, "q_num_heads"), k = { 0 }, v = { 0 };
  if (!n->failed)
    k = heads_of(n, 1, "kv_num_heads");
  if (!n->failed)
    v = heads_of(n, 2, "kv_num_heads");
  if (n->failed || q.rank == 0)
    return;
  put_heads(n, 0, &q, q.sequence, v.size);
  if (k.rank == 0 || v.rank == 0)
    return;
  const OnnxlExpr state[] = { k.batch, k.heads, k.size, v.size };
  memcpy(onnxl_shape_output(n, 1, 4), state, sizeof state);
  if (!onnxl_shape_input(n, 3)) /* nothing else fixes the type of the state then */
    onnxl_shape_set_type(n, 1, n->inputs[0]->elem_type);
}
