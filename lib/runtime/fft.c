#include "runtime/fft.h"

#include <math.h>

/* Lengths whose prime factors are small are transformed by one pass for each factor (Stockham's self-sorting form,
 * which needs no bit reversal); all others as a convolution with a chirp (Bluestein 1970), by transforms of a power of
 * two. */

enum { LARGEST_RADIX = 13, MAX_FACTORS = 64 };

typedef struct Complex {
  double re, im;
} Complex;

struct OnnxlFft {
  int64_t n;
  int factors[MAX_FACTORS];
  int n_factors;
  Complex *turns; /* n roots of unity, in the direction of the transform */
  Complex *room;  /* n */
  /* Bluestein */
  OnnxlFft *forward, *backward; /* of a power of two; NULL: small factors do */
  Complex *chirp;               /* n */
  Complex *kernel;              /* transformed, of the power of two */
  Complex *padded;              /* the same size */
};

static Complex
multiply(Complex a, Complex b)
{
  return (Complex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

static Complex
add(Complex a, Complex b)
{
  return (Complex){ a.re + b.re, a.im + b.im };
}

static Complex
subtract(Complex a, Complex b)
{
  return (Complex){ a.re - b.re, a.im - b.im };
}

static Complex
unit(double angle)
{
  return (Complex){ cos(angle), sin(angle) };
}

/* One pass over transforms of length `length` that lie `stride` apart: each becomes radix of them. */
static void
pass(const OnnxlFft *fft, const Complex *from, Complex *to, int radix, int64_t length, int64_t stride)
{
  int64_t part = length / radix, root = fft->n / radix;
  for (int64_t q = 0; q < part; q++)
    for (int64_t r = 0; r < stride; r++) {
      Complex in[LARGEST_RADIX];
      Complex *out = to + r + stride * radix * q;
      for (int k = 0; k < radix; k++)
        in[k] = from[r + stride * (q + part * k)];
      if (radix == 2) {
        out[0] = add(in[0], in[1]);
        out[stride] = multiply(subtract(in[0], in[1]), fft->turns[q * stride]);
        continue;
      }
      for (int j = 0; j < radix; j++) {
        Complex sum = in[0];
        for (int k = 1; k < radix; k++)
          sum = add(sum, multiply(in[k], fft->turns[j * k % radix * root]));
        out[stride * j] = multiply(sum, fft->turns[q * j * stride]);
      }
    }
}

static void
run_passes(OnnxlFft *fft, Complex *data)
{
  Complex *from = data, *to = fft->room;
  int64_t length = fft->n, stride = 1;
  for (int i = 0; i < fft->n_factors; i++) {
    int radix = fft->factors[i];
    pass(fft, from, to, radix, length, stride);
    length /= radix;
    stride *= radix;
    Complex *swap = from;
    from = to;
    to = swap;
  }
  if (from != data)
    memcpy(data, from, (size_t)fft->n * sizeof *data);
}

static void
run_chirp(OnnxlFft *fft, Complex *data)
{
  int64_t m = fft->forward->n;
  for (int64_t i = 0; i < fft->n; i++)
    fft->padded[i] = multiply(data[i], fft->chirp[i]);
  memset(fft->padded + fft->n, 0, (size_t)(m - fft->n) * sizeof *data);
  run_passes(fft->forward, fft->padded);
  for (int64_t i = 0; i < m; i++)
    fft->padded[i] = multiply(fft->padded[i], fft->kernel[i]);
  run_passes(fft->backward, fft->padded);
  for (int64_t i = 0; i < fft->n; i++)
    data[i] = multiply(fft->padded[i], fft->chirp[i]);
}

void
onnxl_fft_run(OnnxlFft *fft, double *data)
{
  if (fft->forward)
    run_chirp(fft, (Complex *)data);
  else
    run_passes(fft, (Complex *)data);
}

/* Returns what is left of n when all small factors are out. */
static int64_t
find_factors(OnnxlFft *fft)
{
  int64_t rest = fft->n;
  for (int radix = 2; radix <= LARGEST_RADIX; radix++)
    for (; rest % radix == 0; rest /= radix)
      fft->factors[fft->n_factors++] = radix;
  return rest;
}

static bool
prepare_passes(OnnxlKernelContext *context, OnnxlFft *fft, double sign, GError **error)
{
  fft->turns = onnxl_ctx_scratch(context, (uint64_t)fft->n, sizeof *fft->turns, error);
  fft->room = onnxl_ctx_scratch(context, (uint64_t)fft->n, sizeof *fft->room, error);
  if (!fft->turns || !fft->room)
    return false;
  for (int64_t i = 0; i < fft->n; i++)
    fft->turns[i] = unit(sign * 2 * G_PI * ((double)i / (double)fft->n));
  return true;
}

static bool
prepare_chirp(OnnxlKernelContext *context, OnnxlFft *fft, double sign, GError **error)
{
  int64_t n = fft->n, m = 1;
  if (n > INT64_MAX / 8)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a transform of length %" G_GINT64_FORMAT " is too long",
                          n);
  while (m < 2 * n - 1)
    m *= 2;
  fft->chirp = onnxl_ctx_scratch(context, (uint64_t)n, sizeof *fft->chirp, error);
  fft->kernel = onnxl_ctx_scratch(context, (uint64_t)m, sizeof *fft->kernel, error);
  fft->padded = onnxl_ctx_scratch(context, (uint64_t)m, sizeof *fft->padded, error);
  if (!fft->chirp || !fft->kernel || !fft->padded || !(fft->forward = onnxl_fft_new(context, m, false, error)) ||
      !(fft->backward = onnxl_fft_new(context, m, true, error)))
    return false;
  /* i * i modulo 2 n, from one i to the next, keeps the angle small and exact. */
  memset(fft->kernel, 0, (size_t)m * sizeof *fft->kernel);
  for (int64_t i = 0, square = 0; i < n; square = (square + 2 * i + 1) % (2 * n), i++) {
    Complex turn = unit(sign * G_PI * ((double)square / (double)n));
    Complex conjugate = { turn.re / (double)m, -turn.im / (double)m };
    fft->chirp[i] = turn;
    fft->kernel[i] = conjugate;
    if (i > 0)
      fft->kernel[m - i] = conjugate;
  }
  run_passes(fft->forward, fft->kernel);
  return true;
}

OnnxlFft *
onnxl_fft_new(OnnxlKernelContext *context, int64_t n, bool inverse, GError **error)
{
  OnnxlFft *fft = onnxl_ctx_scratch(context, 1, sizeof *fft, error);
  double sign = inverse ? 1 : -1;
  if (!fft)
    return NULL;
  *fft = (OnnxlFft){ .n = n };
  bool small = find_factors(fft) == 1;
  return (small ? prepare_passes(context, fft, sign, error) : prepare_chirp(context, fft, sign, error)) ? fft : NULL;
}
