/* Discrete Fourier transforms of any length, in double precision. */
#ifndef ONNXL_RUNTIME_FFT_H
#define ONNXL_RUNTIME_FFT_H

#include "runtime/kernel.h"

typedef struct OnnxlFft OnnxlFft;

/* Prepares transforms of n >= 1 complex numbers. inverse: the exponents are positive; nothing is divided by n. Returns:
 * scratch memory of the context; NULL with ONNXL_ERROR_LIMIT. */
OnnxlFft *onnxl_fft_new(OnnxlKernelContext *context, int64_t n, bool inverse, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Transforms n complex numbers (real and imaginary parts in turn) in place. */
void onnxl_fft_run(OnnxlFft *fft, double *data);

#endif
