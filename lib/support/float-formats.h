/* The floating-point formats of ONNX that C does not have, and the packing of 4- and 2-bit elements. Sources: ONNX's
 * technical notes "Float stored in 8 bits" and "Float stored in 4 bits", OCP Microscaling Formats v1.0 for E8M0. */
#ifndef ONNXL_SUPPORT_FLOAT_FORMATS_H
#define ONNXL_SUPPORT_FLOAT_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum OnnxlFloatFormat {
  ONNXL_FLOAT_FORMAT_FLOAT16,
  ONNXL_FLOAT_FORMAT_BFLOAT16,
  ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN,
  ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ,
  ONNXL_FLOAT_FORMAT_FLOAT8E5M2,
  ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ,
  ONNXL_FLOAT_FORMAT_FLOAT8E8M0,
  ONNXL_FLOAT_FORMAT_FLOAT4E2M1,
} OnnxlFloatFormat;

/* How Cast rounds to FLOAT8E8M0, whose values are the powers of two. */
typedef enum OnnxlE8M0Rounding { ONNXL_E8M0_UP, ONNXL_E8M0_DOWN, ONNXL_E8M0_NEAREST } OnnxlE8M0Rounding;

/* The code of value, rounded once, to nearest even. saturate: as the attribute of Cast: beyond the largest finite
 * value, infinity included, gives that value, otherwise infinity, or NaN in a format without. It does not apply to
 * FLOAT16 and BFLOAT16 (never) and FLOAT4E2M1 (always). FLOAT8E8M0 as onnxl_float_encode_e8m0() to nearest. Where
 * ONNX's notes and its backend tests differ the tests count: a saturated infinity in the FNUZ formats, and NaN in
 * FLOAT4E2M1, which gives -0. */
uint16_t onnxl_float_encode(OnnxlFloatFormat format, double value, bool saturate);

/* As onnxl_float_encode(), and *ret_overflow says that value is not a NaN and lies beyond what the format can hold, an
 * infinity included where the format has none. */
uint16_t onnxl_float_encode_checked(OnnxlFloatFormat format, double value, bool saturate, bool *ret_overflow);

/* The code of the magnitude of value in FLOAT8E8M0; half way goes up. saturate: what lies outside of 2^-127 to 2^127,
 * zero and infinity included, gives the nearer end, otherwise NaN. */
uint8_t onnxl_float_encode_e8m0(double value, OnnxlE8M0Rounding rounding, bool saturate);

/* The value of a code; exact. Bits above the format's width are ignored. */
float onnxl_float_decode(OnnxlFloatFormat format, uint16_t code);

/* Width of a code in bits. */
unsigned onnxl_float_format_bits(OnnxlFloatFormat format);

static inline uint32_t
onnxl_float_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline float
onnxl_float_from_bits(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* FLOAT16 to float; exact, a NaN keeps its payload and becomes quiet. */
static inline float
onnxl_half_to_float(uint16_t half)
{
  uint32_t sign = (uint32_t)(half & 0x8000) << 16;
  uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00)
    return onnxl_float_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13 | (magnitude > 0x7c00 ? 0x400000 : 0));
  /* With the exponent read as if the bias were float's, the value is 2^112 too small; this scales denormals too. */
  float value = onnxl_float_from_bits(magnitude << 13) * 0x1p112f;
  return onnxl_float_from_bits(sign | onnxl_float_bits(value));
}

/* float to FLOAT16, to nearest even; above 65504 infinity, a NaN stays one. */
static inline uint16_t
onnxl_half_from_float(float value)
{
  uint32_t bits = onnxl_float_bits(value);
  uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x47800000) /* 65536 */
    return (uint16_t)(sign | 0x7c00);
  if (magnitude < 0x38800000) /* 2^-14: the addition rounds at the last bit of a half's denormals */
    return (uint16_t)(sign | (onnxl_float_bits(onnxl_float_from_bits(magnitude) + 0.5f) - 0x3f000000));
  return (uint16_t)(sign | ((magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13));
}

static inline float
onnxl_bfloat16_to_float(uint16_t bits)
{
  return onnxl_float_from_bits((uint32_t)bits << 16);
}

/* float to BFLOAT16, to nearest even; a NaN stays one. */
static inline uint16_t
onnxl_bfloat16_from_float(float value)
{
  uint32_t bits = onnxl_float_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Bytes of count elements of 4 or 2 bits. */
static inline size_t
onnxl_packed_size(size_t count, unsigned bits)
{
  size_t per_byte = 8 / bits;
  return count / per_byte + (count % per_byte != 0);
}

/* Element i of packed elements of bits (4 or 2) bits; the first one lies in the low bits of the first byte. */
static inline uint8_t
onnxl_packed_get(const uint8_t *packed, size_t i, unsigned bits)
{
  size_t per_byte = 8 / bits;
  return (uint8_t)(packed[i / per_byte] >> (i % per_byte * bits) & ((1u << bits) - 1));
}

/* Unpacks count elements into one byte each; is_signed: two's complement, the sign is spread over the byte. */
void onnxl_unpack(const uint8_t *packed, size_t count, unsigned bits, bool is_signed, uint8_t *ret_elements);

/* Packs the low bits of count elements; unused bits of the last byte are 0. ret_packed: onnxl_packed_size() bytes. */
void onnxl_pack(const uint8_t *elements, size_t count, unsigned bits, uint8_t *ret_packed);

#endif
