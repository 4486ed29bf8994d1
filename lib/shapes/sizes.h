/* Output sizes that one formula gives, of numbers and of symbols. Shape inference and kernels both use these functions,
 * so they cannot disagree; windows, Reshape, Slice and Resize have files of their own. */
#ifndef ONNXL_SHAPES_SIZES_H
#define ONNXL_SHAPES_SIZES_H

#include "expr/expr.h"

/* Length of Range: max(ceil((limit - start) / delta), 0). Returns false when delta is 0, something is no number, or the
 * length is 2^62 or more. The real one is computed in double. */
bool onnxl_range_length(int64_t start, int64_t limit, int64_t delta, int64_t *ret_length) G_GNUC_WARN_UNUSED_RESULT;
bool onnxl_real_range_length(double start, double limit, double delta, int64_t *ret_length) G_GNUC_WARN_UNUSED_RESULT;

/* For a literal delta, neither 0 nor INT64_MIN. */
OnnxlExpr onnxl_range_length_expr(OnnxlExprPool *pool, OnnxlExpr start, OnnxlExpr limit, int64_t delta);

/* Size of part i when Split cuts an axis into n: ceil(size / n) each as long as there are any left. */
int64_t onnxl_split_part(int64_t size, uint32_t n, uint32_t i);
OnnxlExpr onnxl_split_part_expr(OnnxlExprPool *pool, OnnxlExpr size, uint32_t n, uint32_t i);

/* Bins that a one-sided transform of that length keeps. */
int64_t onnxl_dft_half(int64_t length);
OnnxlExpr onnxl_dft_half_expr(OnnxlExprPool *pool, OnnxlExpr length);

/* The length that the inverse of a one-sided transform has when none is given. */
int64_t onnxl_dft_whole(int64_t half);
OnnxlExpr onnxl_dft_whole_expr(OnnxlExprPool *pool, OnnxlExpr half);

/* Frames of STFT: frame <= length, step >= 1. */
int64_t onnxl_stft_frames(int64_t length, int64_t frame, int64_t step);
OnnxlExpr onnxl_stft_frames_expr(OnnxlExprPool *pool, OnnxlExpr length, OnnxlExpr frame, OnnxlExpr step);

#endif
