/* Output sizes of windows that slide along one axis: convolutions and poolings, of numbers and of symbols. Shape
 * inference and kernels both use these functions, so they cannot disagree. */
#ifndef ONNXL_SHAPES_POOLING_H
#define ONNXL_SHAPES_POOLING_H

#include "expr/expr.h"

typedef enum OnnxlAutoPad {
  ONNXL_PAD_NOTSET,     /* pads are given */
  ONNXL_PAD_VALID,      /* no padding */
  ONNXL_PAD_SAME_UPPER, /* output = ceil(input / stride), an odd rest of the padding goes to the end */
  ONNXL_PAD_SAME_LOWER, /* … to the beginning */
} OnnxlAutoPad;

/* One axis. kernel, stride and dilation are at least 1. */
typedef struct OnnxlWindow {
  int64_t kernel, stride, dilation;
  int64_t pad_begin, pad_end; /* for NOTSET only */
  OnnxlAutoPad auto_pad;
  bool ceil; /* ceil_mode: a last window may reach beyond the padded input, but starts inside the input or its left
                padding */
} OnnxlWindow;

/* Reads "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER" or an empty text. False: something else. */
bool onnxl_auto_pad_parse(OnnxlStr text, OnnxlAutoPad *ret_auto_pad) G_GNUC_WARN_UNUSED_RESULT;

/* Number of window positions over an input of that size. False: the window does not fit once, or overflow. */
bool onnxl_window_output(const OnnxlWindow *window, int64_t input, int64_t *ret_output) G_GNUC_WARN_UNUSED_RESULT;

/* The padding in effect, which auto_pad SAME_* derives from the sizes. */
void onnxl_window_pads(const OnnxlWindow *window, int64_t input, int64_t output, int64_t *ret_begin, int64_t *ret_end);

/* The same as an expression; NULL when input is. kernel: the size of the kernel in place of window->kernel where it is
 * not a number (then without ceil), or NULL. */
OnnxlExpr onnxl_window_output_expr(OnnxlExprPool *pool, const OnnxlWindow *window, OnnxlExpr input, OnnxlExpr kernel);

/* Output size of a transposed convolution: stride * (input - 1) + output_padding + (kernel - 1) * dilation + 1 less the
 * pads; with auto_pad SAME_* input * stride. */
bool onnxl_transposed_output(const OnnxlWindow *window, int64_t output_padding, int64_t input,
                             int64_t *ret_output) G_GNUC_WARN_UNUSED_RESULT;
OnnxlExpr onnxl_transposed_output_expr(OnnxlExprPool *pool, const OnnxlWindow *window, int64_t output_padding,
                                       OnnxlExpr input, OnnxlExpr kernel);

#endif
