/* Rounding to quantized integers. */
#ifndef ONNXL_RUNTIME_QUANTIZE_INTERNAL_H
#define ONNXL_RUNTIME_QUANTIZE_INTERNAL_H

/* The integer nearest to real, ties to even, moved by the zero point; what lies outside of low to high becomes the
 * nearer end, NaN low. low, high and zero are integers of at most 32 bits. */
static inline double
onnxl_quantized(double real, double zero, double low, double high)
{
  double least = low - zero, most = high - zero;
  double value = real > least ? (real < most ? real : most) : least;
  /* 1.5 * 2^52 leaves no room for a fraction, so the addition rounds; unlike rint() this vectorizes on every machine.
   */
  return value + 0x1.8p52 - 0x1.8p52 + zero;
}

#endif
