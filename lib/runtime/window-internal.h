/* Windows that slide over the spatial axes of [N, C, spatial…]: attributes read and checked once for convolution,
 * pooling and their quantized forms. Sizes come from shapes/pooling.h, so that shape inference agrees. */
#ifndef ONNXL_RUNTIME_WINDOW_INTERNAL_H
#define ONNXL_RUNTIME_WINDOW_INTERNAL_H

#include "runtime/kernel.h"
#include "shapes/pooling.h"

typedef struct OnnxlWindows {
  uint32_t n;                    /* spatial axes */
  int64_t input[ONNXL_MAX_RANK]; /* sizes */
  int64_t output[ONNXL_MAX_RANK];
  int64_t begin[ONNXL_MAX_RANK]; /* padding in effect */
  int64_t end[ONNXL_MAX_RANK];
  OnnxlWindow axes[ONNXL_MAX_RANK];
  int64_t kernel_count; /* elements of a window */
  int64_t input_count;  /* elements of the spatial input */
  int64_t output_count;
} OnnxlWindows;

/* Reads strides, dilations, pads, auto_pad and ceil_mode for x of rank n + 2, the window being kernel (NULL: the
 * attribute kernel_shape). Computes output sizes. Fails naming what does not fit. */
bool onnxl_ctx_windows(OnnxlKernelContext *context, const OnnxlValue *x, const int64_t *kernel,
                       OnnxlWindows *ret_windows, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same without the output sizes, for operators that compute them otherwise. */
bool onnxl_ctx_windows_read(OnnxlKernelContext *context, const OnnxlValue *x, const int64_t *kernel,
                            OnnxlWindows *ret_windows, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Advances a row-major index over dims. Returns false behind the last one. */
bool onnxl_index_next(int64_t *index, const int64_t *dims, uint32_t rank);

/* Columns of a convolution's right factor, gathered from the image on demand: row p = (channel, place in the window),
 * column j = output position. */
typedef struct OnnxlConvColumns {
  const OnnxlWindows *windows;
  const void *image; /* the group's channels */
  int64_t zero;      /* what padding holds, as bits of an element */
} OnnxlConvColumns;
void onnxl_conv_pack_4(const void *columns, int64_t first, int64_t n, int64_t k, void *panel);
void onnxl_conv_pack_8(const void *columns, int64_t first, int64_t n, int64_t k, void *panel);

/* y[N, M, out…] = convolution of x[N, C, in…] and w[M, C / group, kernel…], plus bias[M] or NULL. Types FLOAT, DOUBLE,
 * INT32; y is made by the caller with windows->output. */
bool onnxl_convolve(OnnxlKernelContext *context, const OnnxlWindows *windows, int64_t group, const OnnxlValue *x,
                    const OnnxlValue *w, const OnnxlValue *bias, OnnxlValue *y,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checks x, w and the bias of a convolution against each other and reads its attributes. */
bool onnxl_conv_prepare(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *w, const OnnxlValue *bias,
                        OnnxlWindows *ret_windows, int64_t *ret_group, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
