/* Signal processing. */
#include "shapes/shape-rules.h"
#include "shapes/sizes.h"

void
onnxl_shape_rule_window(OnnxlShapeNode *n)
{
  if (!onnxl_shape_expect_one(n, 0))
    return;
  onnxl_shape_output(n, 0, 1)[0] = onnxl_shape_scalar(n, 0);
  onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, "output_datatype"));
}

/* The last dim of the signal holds the 1 or 2 parts of a number. */
static bool
holds_numbers(OnnxlShapeNode *n, const OnnxlInfo *signal, uint32_t min_rank, bool real)
{
  OnnxlExpr parts = signal->rank >= min_rank ? signal->dims[signal->rank - 1] : NULL;
  bool fits = signal->rank >= min_rank && (!onnxl_shape_never_equal(n, parts, onnxl_shape_lit(n, 1)) ||
                                           (!real && !onnxl_shape_never_equal(n, parts, onnxl_shape_lit(n, 2))));
  if (!fits)
    onnxl_shape_error(n, "input %s holds no %s numbers in its last dim", onnxl_shape_text(n, signal),
                      real ? "real" : "real or complex");
  return fits;
}

/* The last dim is 1 (real) or 2 (complex). Onesided, the forward transform keeps half of the axis, and the inverse one
 * makes a real signal of the whole. */
void
onnxl_shape_rule_dft(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  bool onesided = onnxl_shape_int(n, "onesided") != 0, inverse = onnxl_shape_int(n, "inverse") != 0;
  int64_t wanted = -2;
  uint32_t axis;
  if (!input || !holds_numbers(n, input, 2, onesided && !inverse) || !onnxl_shape_expect_one(n, 1) ||
      (n->schema->since >= 20 && !onnxl_shape_expect_one(n, 2)))
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank);
  bool axis_known = true;
  if (n->schema->since < 20) {
    wanted = onnxl_shape_int(n, "axis");
  } else if (onnxl_shape_input(n, 2)) {
    OnnxlExpr e = onnxl_shape_scalar(n, 2);
    axis_known = e && onnxl_expr_is_int(e, &wanted);
  }
  if (axis_known && !onnxl_shape_axis(n, wanted, input->rank, &axis))
    return;
  if (axis_known && axis == input->rank - 1) {
    onnxl_shape_error(n, "the last axis of %s holds the parts of a number", onnxl_shape_text(n, input));
    return;
  }
  /* No axis changes its length when the transform has the length of the signal and all of its bins. */
  bool same_length = !onesided && !onnxl_shape_input(n, 1);
  for (uint32_t i = 0; i < input->rank && (axis_known || same_length); i++)
    dims[i] = input->dims[i];
  if (!axis_known) {
    if (input->rank > 0)
      dims[input->rank - 1] = onnxl_shape_lit(n, onesided && inverse ? 1 : 2);
    return;
  }
  OnnxlExpr length = input->dims[axis];
  if (onnxl_shape_input(n, 1))
    length = onnxl_shape_scalar(n, 1);
  else if (onesided && inverse)
    length = onnxl_dft_whole_expr(n->pool, length);
  if (length && onnxl_shape_max(n, length) < 1) {
    onnxl_shape_error(n, "a transform of input %s of a length below 1", onnxl_shape_text(n, input));
    return;
  }
  dims[axis] = onesided && !inverse ? onnxl_dft_half_expr(n->pool, length) : length;
  dims[input->rank - 1] = onnxl_shape_lit(n, onesided && inverse ? 1 : 2);
}

/* signal [B, L, 1 or 2] -> [B, frames, bins, 2]. */
void
onnxl_shape_rule_stft(OnnxlShapeNode *n)
{
  const OnnxlInfo *signal = onnxl_shape_of_rank(n, 0, 3), *window = n->failed ? NULL : onnxl_shape_of_rank(n, 2, 1);
  if (n->failed || (signal && !holds_numbers(n, signal, 3, onnxl_shape_int(n, "onesided") != 0)) ||
      !onnxl_shape_expect_one(n, 1) || !onnxl_shape_expect_one(n, 3))
    return;
  OnnxlExpr step = onnxl_shape_scalar(n, 1), length = NULL;
  if (onnxl_shape_input(n, 3))
    length = onnxl_shape_scalar(n, 3);
  else if (window && window->rank == 1)
    length = window->dims[0];
  else if (!onnxl_shape_input(n, 2) && signal)
    length = signal->dims[1];
  if (signal && onnxl_shape_min(n, length) > onnxl_shape_max(n, signal->dims[1])) {
    OnnxlStr frame = onnxl_expr_text(n->pool, length);
    onnxl_shape_error(n, "a frame of %.*s is longer than the signal of %s", ONNXL_ARG(frame),
                      onnxl_shape_text(n, signal));
    return;
  }
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 4);
  dims[0] = signal && signal->rank > 0 ? signal->dims[0] : NULL;
  if (signal && signal->rank > 1 && onnxl_shape_min(n, step) > 0)
    dims[1] = onnxl_stft_frames_expr(n->pool, signal->dims[1], length, step);
  dims[2] = onnxl_shape_int(n, "onesided") != 0 ? onnxl_dft_half_expr(n->pool, length) : length;
  dims[3] = onnxl_shape_lit(n, 2);
}

void
onnxl_shape_rule_mel_weight_matrix(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < 5; i++)
    if (!onnxl_shape_expect_one(n, i))
      return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  dims[0] = onnxl_dft_half_expr(n->pool, onnxl_shape_scalar(n, 1));
  dims[1] = onnxl_shape_scalar(n, 0);
  onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, "output_datatype"));
}
