/* RotaryEmbedding: pairs of numbers of a head are turned by angles that depend on the position. */
#include "runtime/attention-internal.h"

typedef struct Rotation {
  const float *cosines; /* rows of half numbers: one a position, or one a place of the batch */
  const float *sines;
  int64_t half;
  int64_t table;            /* rows of the tables when positions pick them */
  const int64_t *positions; /* [batch, row], or NULL */
  bool interleaved;         /* pairs are neighbours; else one half of the numbers and the other */
} Rotation;

static bool
rotate_head(OnnxlKernelContext *context, const Rotation *r, const OnnxlHeads *x, int64_t batch, int64_t head, float *to,
            GError **error)
{
  int64_t offset = onnxl_heads_offset(x, batch, head), step = r->interleaved ? 2 : 1,
          apart = r->interleaved ? 1 : r->half;
  for (int64_t i = 0; i < x->rows; i++) {
    const float *from = (const float *)x->data + offset + i * x->row;
    float *y = to + offset + i * x->row;
    int64_t at = batch * x->rows + i;
    if (r->positions) {
      int64_t position = r->positions[at];
      at = position < 0 ? position + r->table : position;
      if (at < 0 || at >= r->table)
        return onnxl_ctx_invalid(context, error,
                                 "the position %" G_GINT64_FORMAT " is outside a table of %" G_GINT64_FORMAT " rows",
                                 position, r->table);
    }
    const float *c = r->cosines + at * r->half, *s = r->sines + at * r->half;
    for (int64_t j = 0; j < r->half; j++) {
      float a = from[j * step], b = from[j * step + apart];
      y[j * step] = c[j] * a - s[j] * b;
      y[j * step + apart] = s[j] * a + c[j] * b;
    }
    for (int64_t j = 2 * r->half; j < x->size; j++)
      y[j] = from[j];
  }
  return true;
}

static bool
run_rotary_embedding(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x_in = onnxl_ctx_input(context, 0), *cosines = onnxl_ctx_input(context, 1);
  const OnnxlValue *sines = onnxl_ctx_input(context, 2), *positions = onnxl_ctx_input(context, 3);
  int64_t turned = onnxl_ctx_int(context, "rotary_embedding_dim");
  OnnxlHeads x;
  if (!onnxl_heads_of(context, x_in, onnxl_ctx_int(context, "num_heads"), "X", &x, error))
    return false;
  turned = turned == 0 ? x.size : turned;
  if (turned < 0 || turned > x.size || turned % 2 != 0)
    return onnxl_ctx_invalid(context, error,
                             "%" G_GINT64_FORMAT " of the %" G_GINT64_FORMAT " numbers of a head cannot be "
                             "rotated in pairs",
                             turned, x.size);
  Rotation r = { cosines->data,
                 sines->data,
                 turned / 2,
                 cosines->rank > 0 ? cosines->dims[0] : 0,
                 positions ? positions->data : NULL,
                 onnxl_ctx_int(context, "interleaved") != 0 };
  const int64_t dims[3] = { x.batches, x.rows, r.half };
  uint32_t first = positions ? 1 : 0;
  for (uint32_t i = 0; i < 2; i++) {
    const OnnxlValue *cache = i == 0 ? cosines : sines;
    bool fits = cache->rank == 3 - first && (!positions || cache->dims[0] == r.table);
    for (uint32_t j = first; fits && j < cache->rank; j++)
      fits = cache->dims[j] == dims[first ? 2 : j];
    if (!fits) {
      char *text = onnxl_dims_text(cache->dims, cache->rank);
      onnxl_ctx_invalid(context, error, "%s has the shape %s for %" G_GINT64_FORMAT " pairs",
                        i ? "sin_cache" : "cos_cache", text, r.half);
      g_free(text);
      return false;
    }
  }
  if (positions && (positions->rank != 2 || positions->dims[0] != x.batches || positions->dims[1] != x.rows))
    return onnxl_ctx_invalid(context, error,
                             "position_ids must have the shape [%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT "]", x.batches,
                             x.rows);
  OnnxlValue *y = onnxl_ctx_output_like(context, 0, x_in, error);
  for (int64_t b = 0; y && y->count > 0 && b < x.batches; b++)
    for (int64_t h = 0; h < x.heads; h++)
      if (!rotate_head(context, &r, &x, b, h, y->data, error))
        return false;
  return y != NULL;
}
ONNXL_KERNEL(rotary_embedding, COMPUTES);
