/* Attention and what surrounds it in transformers. */
#include "shapes/shape-control-internal.h"
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
    int64_t size;
    if (!count || (info->dims[2] && onnxl_expr_is_int(info->dims[2], &size) && size % heads != 0)) {
      onnxl_shape_error(n, "input %u of shape %s cannot be split into %" G_GINT64_FORMAT " heads", i,
                        onnxl_shape_text(n, info), heads);
      return h;
    }
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

/* Queries, keys and values: one number of batches; sizes of queries and keys, rows and heads of keys and values are
 * equal, and heads of queries share those of keys evenly. */
static bool
read_heads(OnnxlShapeNode *n, const char *q_heads, const char *kv_heads, Heads h[3])
{
  static const char *const what[] = { "the batches of queries and keys", "the batches of keys and values",
                                      "the sizes of queries and keys", "the numbers of keys and values",
                                      "the heads of keys and values" };
  for (uint32_t i = 0; i < 3 && !n->failed; i++)
    h[i] = heads_of(n, i, i == 0 ? q_heads : kv_heads);
  const OnnxlExpr pairs[][2] = { { h[0].batch, h[1].batch },
                                 { h[1].batch, h[2].batch },
                                 { h[0].size, h[1].size },
                                 { h[1].sequence, h[2].sequence },
                                 { h[1].heads, h[2].heads } };
  for (size_t i = 0; i < G_N_ELEMENTS(pairs) && !n->failed; i++)
    onnxl_shape_equal(n, pairs[i][0], pairs[i][1], what[i]);
  int64_t queries, keys;
  if (!n->failed && h[0].heads && h[1].heads && onnxl_expr_is_int(h[0].heads, &queries) &&
      onnxl_expr_is_int(h[1].heads, &keys) && (keys < 1 ? queries != keys : queries % keys != 0))
    onnxl_shape_error(n, "%" G_GINT64_FORMAT " heads of queries cannot share %" G_GINT64_FORMAT " heads of keys",
                      queries, keys);
  return !n->failed;
}

void
onnxl_shape_rule_attention(OnnxlShapeNode *n)
{
  Heads h[3] = { 0 };
  if (!read_heads(n, "q_num_heads", "kv_num_heads", h))
    return;
  Heads q = h[0], k = h[1], v = h[2];
  for (uint32_t i = 4; i < 6; i++) {
    const Heads *now = &h[i - 3];
    const OnnxlExpr kept[] = { now->batch, now->heads, NULL, now->size };
    if (now->rank && !onnxl_shape_expect(n, i, kept, 4))
      return;
  }
  if (q.rank == 0)
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

/* The graphs that change scores and probabilities get them in the type of softmax_precision. */
void
onnxl_shape_rule_flex_attention(OnnxlShapeNode *n)
{
  static const char *const graphs[] = { "score_mod", "prob_mod" };
  Heads h[3] = { 0 };
  if (!read_heads(n, NULL, NULL, h))
    return;
  if (h[0].rank)
    put_heads(n, 0, &h[0], h[0].sequence, h[2].size);
  const OnnxlInfo *q = onnxl_shape_input(n, 0);
  int64_t precision = onnxl_shape_int(n, "softmax_precision");
  if (precision <= 0 || precision >= ONNXL_N_TYPES)
    precision = q && q->elem_type == ONNXL_TYPE_DOUBLE ? ONNXL_TYPE_DOUBLE : ONNXL_TYPE_FLOAT;
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, 4);
  if (!dims)
    return;
  memcpy(dims, (const OnnxlExpr[]){ h[0].batch, h[0].heads, h[0].sequence, h[1].sequence }, 4 * sizeof *dims);
  const OnnxlInfo scores = {
    .kind = ONNXL_KIND_TENSOR, .elem_type = (int32_t)precision, .has_rank = true, .rank = 4, .dims = dims
  };
  for (size_t i = 0; i < G_N_ELEMENTS(graphs); i++) {
    uint32_t graph = onnxl_shape_subgraph(n, graphs[i]);
    if (graph != ONNXL_NONE && !onnxl_shape_run_graph(n, graph, &scores, 1))
      return;
  }
}

/* Packed [B, T, H * D] operands; the state is [B, heads, key size, value size]. */
void
onnxl_shape_rule_linear_attention(OnnxlShapeNode *n)
{
  Heads h[3] = { 0 };
  for (uint32_t i = 0; i < 6; i++)
    if (i != 3 && !onnxl_shape_of_rank(n, i, 3) && n->failed)
      return;
  if (!read_heads(n, "q_num_heads", "kv_num_heads", h) || h[0].rank == 0)
    return;
  Heads q = h[0], k = h[1], v = h[2];
  put_heads(n, 0, &q, q.sequence, v.size);
  if (k.rank == 0 || v.rank == 0)
    return;
  const OnnxlExpr state[] = { k.batch, k.heads, k.size, v.size };
  memcpy(onnxl_shape_output(n, 1, 4), state, sizeof state);
  if (!onnxl_shape_input(n, 3)) /* nothing else fixes the type of the state then */
    onnxl_shape_set_type(n, 1, n->inputs[0]->elem_type);
}

/* X as heads; without position_ids caches of [B, S, half], with them tables [positions, half] and ids [B, S]. */
void
onnxl_shape_rule_rotary_embedding(OnnxlShapeNode *n)
{
  int64_t turned = onnxl_shape_int(n, "rotary_embedding_dim"), size;
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  Heads x = heads_of(n, 0, "num_heads");
  if (n->failed || x.rank == 0)
    return;
  bool known = x.size && onnxl_expr_is_int(x.size, &size);
  if (turned < 0 || turned % 2 != 0 || (known && (turned > size || (turned == 0 && size % 2 != 0)))) {
    onnxl_shape_error(n, "%" G_GINT64_FORMAT " numbers of a head of input %s cannot be rotated in pairs", turned,
                      onnxl_shape_text(n, onnxl_shape_ranked(n, 0)));
    return;
  }
  OnnxlExpr half = turned > 0 ? onnxl_shape_lit(n, turned / 2) : known ? onnxl_shape_lit(n, size / 2) : NULL;
  const OnnxlExpr each[] = { x.batch, x.sequence, half }, table[] = { NULL, half };
  bool by_id = onnxl_shape_input(n, 3) != NULL;
  for (uint32_t i = 1; i < 3; i++)
    if (!onnxl_shape_expect(n, i, by_id ? table : each, by_id ? 2 : 3))
      return;
  onnxl_shape_expect(n, 3, each, 2);
}
