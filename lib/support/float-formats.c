#include "support/float-formats.h"

#include <math.h>

typedef enum Special {
  SPECIAL_IEEE, /* the highest exponent holds infinity and NaNs */
  SPECIAL_FN,   /* only the highest code is NaN, no infinity */
  SPECIAL_FNUZ, /* minus zero is NaN, no infinity */
  SPECIAL_NONE, /* neither */
} Special;

static const struct Layout {
  uint8_t exponent_bits;
  uint8_t mantissa_bits;
  uint8_t bias;
  uint8_t special;
} layouts[] = {
  [ONNXL_FLOAT_FORMAT_FLOAT16] = { 5, 10, 15, SPECIAL_IEEE },
  [ONNXL_FLOAT_FORMAT_BFLOAT16] = { 8, 7, 127, SPECIAL_IEEE },
  [ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN] = { 4, 3, 7, SPECIAL_FN },
  [ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ] = { 4, 3, 8, SPECIAL_FNUZ },
  [ONNXL_FLOAT_FORMAT_FLOAT8E5M2] = { 5, 2, 15, SPECIAL_IEEE },
  [ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ] = { 5, 2, 16, SPECIAL_FNUZ },
  [ONNXL_FLOAT_FORMAT_FLOAT8E8M0] = { 8, 0, 127, SPECIAL_FN },
  [ONNXL_FLOAT_FORMAT_FLOAT4E2M1] = { 2, 1, 1, SPECIAL_NONE },
};

/* E8M0 has neither sign nor zero and needs its own code. */
enum { E8M0_NAN = 0xff, E8M0_MAX = 0xfe, E8M0_BIAS = 127 };

unsigned
onnxl_float_format_bits(OnnxlFloatFormat format)
{
  return format == ONNXL_FLOAT_FORMAT_FLOAT8E8M0 ? 8
                                                 : 1u + layouts[format].exponent_bits + layouts[format].mantissa_bits;
}

uint8_t
onnxl_float_encode_e8m0(double value, OnnxlE8M0Rounding rounding, bool saturate)
{
  if (isnan(value))
    return E8M0_NAN;
  if (isinf(value))
    return saturate ? E8M0_MAX : E8M0_NAN;
  int exponent;
  double fraction = frexp(fabs(value), &exponent); /* in [1/2, 1), or 0 */
  bool up = rounding == ONNXL_E8M0_UP ? fraction > 0.5 : rounding == ONNXL_E8M0_NEAREST ? fraction >= 0.75 : false;
  int code = fraction == 0 ? -1 : exponent - 1 + E8M0_BIAS + up;
  if (code < 0 || code > E8M0_MAX)
    return !saturate ? E8M0_NAN : code < 0 ? 0 : E8M0_MAX;
  return (uint8_t)code;
}

/* The code of the magnitude of a finite value as if the exponent had no upper end. */
static uint64_t
round_magnitude(const struct Layout *layout, double magnitude)
{
  int exponent;
  double fraction = frexp(magnitude, &exponent);
  if (fraction == 0)
    return 0;
  exponent--; /* magnitude = 1.xxx * 2^exponent */
  int smallest = 1 - layout->bias;
  int unit = (exponent > smallest ? exponent : smallest) - layout->mantissa_bits;
  /* In units of the last place: an exact scaling, then one rounding to nearest even. Rounding up to the next power of
   * two carries into the exponent by itself. */
  uint64_t units = (uint64_t)rint(ldexp(magnitude, -unit));
  return units + (exponent > smallest ? (uint64_t)(exponent - smallest) << layout->mantissa_bits : 0);
}

uint16_t
onnxl_float_encode_checked(OnnxlFloatFormat format, double value, bool saturate, bool *ret_overflow)
{
  const struct Layout *layout = &layouts[format];
  if (format == ONNXL_FLOAT_FORMAT_FLOAT8E8M0) {
    *ret_overflow = !isnan(value) && onnxl_float_encode_e8m0(value, ONNXL_E8M0_NEAREST, false) == E8M0_NAN;
    return onnxl_float_encode_e8m0(value, ONNXL_E8M0_NEAREST, saturate);
  }
  unsigned width = 1u + layout->exponent_bits + layout->mantissa_bits;
  uint16_t sign_bit = (uint16_t)(1u << (width - 1));
  uint16_t sign = signbit(value) ? sign_bit : 0;
  uint16_t top = (uint16_t)((1u << (width - 1)) - 1); /* the highest magnitude */
  uint16_t infinity = (uint16_t)(((1u << layout->exponent_bits) - 1) << layout->mantissa_bits);
  uint16_t largest = layout->special == SPECIAL_IEEE ? infinity - 1 : layout->special == SPECIAL_FN ? top - 1 : top;
  *ret_overflow = false;
  if (isnan(value)) {
    switch ((Special)layout->special) {
    case SPECIAL_IEEE:
      return sign | infinity | (uint16_t)(1u << (layout->mantissa_bits - 1));
    case SPECIAL_FN:
      return sign | top;
    case SPECIAL_FNUZ:
      return sign_bit;
    case SPECIAL_NONE:
      return sign_bit;
    }
  }
  uint64_t code = isinf(value) ? UINT64_MAX : round_magnitude(layout, fabs(value));
  if (code <= largest)
    return code == 0 && layout->special == SPECIAL_FNUZ ? 0 : sign | (uint16_t)code;
  *ret_overflow = layout->special != SPECIAL_IEEE || !isinf(value);
  if (format <= ONNXL_FLOAT_FORMAT_BFLOAT16)
    return sign | infinity;
  if (saturate || layout->special == SPECIAL_NONE)
    return sign | largest;
  if (layout->special == SPECIAL_FNUZ)
    return sign_bit;
  return sign | (layout->special == SPECIAL_IEEE ? infinity : top);
}

uint16_t
onnxl_float_encode(OnnxlFloatFormat format, double value, bool saturate)
{
  bool overflow;
  return onnxl_float_encode_checked(format, value, saturate, &overflow);
}

float
onnxl_float_decode(OnnxlFloatFormat format, uint16_t code)
{
  const struct Layout *layout = &layouts[format];
  if (format == ONNXL_FLOAT_FORMAT_FLOAT16)
    return onnxl_half_to_float(code);
  if (format == ONNXL_FLOAT_FORMAT_BFLOAT16)
    return onnxl_bfloat16_to_float(code);
  if (format == ONNXL_FLOAT_FORMAT_FLOAT8E8M0)
    return (code & 0xff) == E8M0_NAN ? NAN : ldexpf(1, (code & 0xff) - E8M0_BIAS);
  unsigned width = 1u + layout->exponent_bits + layout->mantissa_bits;
  unsigned magnitude = code & ((1u << (width - 1)) - 1);
  unsigned exponent = magnitude >> layout->mantissa_bits;
  unsigned mantissa = magnitude & ((1u << layout->mantissa_bits) - 1);
  bool negative = code >> (width - 1) & 1;
  float value;
  if (layout->special == SPECIAL_FNUZ && negative && magnitude == 0)
    return NAN;
  if (layout->special == SPECIAL_FN && magnitude == (1u << (width - 1)) - 1)
    value = NAN;
  else if (layout->special == SPECIAL_IEEE && exponent == (1u << layout->exponent_bits) - 1)
    value = mantissa == 0 ? INFINITY : NAN;
  else if (exponent == 0)
    value = ldexpf((float)mantissa, 1 - layout->bias - layout->mantissa_bits);
  else
    value =
      ldexpf((float)(mantissa | 1u << layout->mantissa_bits), (int)exponent - layout->bias - layout->mantissa_bits);
  return negative ? -value : value;
}

void
onnxl_unpack(const uint8_t *packed, size_t count, unsigned bits, bool is_signed, uint8_t *ret_elements)
{
  uint8_t sign = (uint8_t)(is_signed ? 1u << (bits - 1) : 0);
  for (size_t i = 0; i < count; i++)
    ret_elements[i] = (uint8_t)((onnxl_packed_get(packed, i, bits) ^ sign) - sign);
}

void
onnxl_pack(const uint8_t *elements, size_t count, unsigned bits, uint8_t *ret_packed)
{
  size_t per_byte = 8 / bits;
  memset(ret_packed, 0, onnxl_packed_size(count, bits));
  for (size_t i = 0; i < count; i++)
    ret_packed[i / per_byte] |= (uint8_t)((elements[i] & ((1u << bits) - 1)) << (i % per_byte * bits));
}
