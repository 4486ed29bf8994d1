#include "support/float-formats.h"

#include <math.h>

#include "unit.h"

static const OnnxlFloatFormat all[] = {
  ONNXL_FLOAT_FORMAT_FLOAT16,    ONNXL_FLOAT_FORMAT_BFLOAT16,       ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN,
  ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ, ONNXL_FLOAT_FORMAT_FLOAT8E5M2, ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ,
  ONNXL_FLOAT_FORMAT_FLOAT8E8M0, ONNXL_FLOAT_FORMAT_FLOAT4E2M1,
};
enum { N_FORMATS = sizeof all / sizeof all[0] };

/* Every code reads back as itself; half way between two neighbours the even one wins, beside it the nearer one. */
static void
test_codes(void)
{
  for (size_t f = 0; f < N_FORMATS; f++) {
    size_t failures = 0;
    unsigned count = 1u << onnxl_float_format_bits(all[f]);
    for (unsigned code = 0; code < count; code++) {
      float value = onnxl_float_decode(all[f], (uint16_t)code);
      if (isnan(value)) {
        failures += !isnan(onnxl_float_decode(all[f], onnxl_float_encode(all[f], value, true)));
        continue;
      }
      failures += onnxl_float_encode(all[f], value, false) != code;
      float next = code + 1 < count ? onnxl_float_decode(all[f], (uint16_t)(code + 1)) : NAN;
      if (!isfinite(next) || !isfinite(value) || signbit(next) != signbit(value) ||
          all[f] == ONNXL_FLOAT_FORMAT_FLOAT8E8M0)
        continue;
      double middle = ((double)value + next) / 2;
      failures += onnxl_float_encode(all[f], middle, false) != code + (code & 1);
      failures += onnxl_float_encode(all[f], nextafter(middle, value), false) != code;
      failures += onnxl_float_encode(all[f], nextafter(middle, next), false) != code + 1;
    }
    CU_ASSERT_EQUAL(failures, 0);
  }
}

/* The inline conversions agree with the general ones on all halves and on many floats. */
static void
test_fast_paths(void)
{
  size_t failures = 0;
  for (uint32_t bits = 0; bits < 0xffffff00u; bits += 9973) {
    float value = onnxl_float_from_bits(bits);
    if (isnan(value)) {
      failures += !isnan(onnxl_half_to_float(onnxl_half_from_float(value))) ||
                  !isnan(onnxl_bfloat16_to_float(onnxl_bfloat16_from_float(value)));
      continue;
    }
    failures += onnxl_half_from_float(value) != onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT16, value, false);
    failures += onnxl_bfloat16_from_float(value) != onnxl_float_encode(ONNXL_FLOAT_FORMAT_BFLOAT16, value, false);
  }
  CU_ASSERT_EQUAL(failures, 0);
  CU_ASSERT_EQUAL(onnxl_half_from_float(65519.996f), 0x7bff);
  CU_ASSERT_EQUAL(onnxl_half_from_float(65520.0f), 0x7c00);
  CU_ASSERT_EQUAL(onnxl_half_from_float(0x1p-25f), 0);
  CU_ASSERT_EQUAL(onnxl_half_from_float(0x1.000002p-25f), 1);
  CU_ASSERT_EQUAL(onnxl_half_to_float(0x0001), 0x1p-24f);
  CU_ASSERT_EQUAL(onnxl_half_to_float(0x3555), 0x1.554p-2f);
  CU_ASSERT_EQUAL(onnxl_bfloat16_from_float(0x1.01p0f), 0x3f80);
  CU_ASSERT_EQUAL(onnxl_bfloat16_from_float(0x1.03p0f), 0x3f82);
}

/* The tables of ONNX's note on float 8, save for infinity in the FNUZ formats, which the backend tests saturate. */
static void
test_saturation(void)
{
  static const struct {
    OnnxlFloatFormat format;
    double max;
    uint8_t largest, saturated_infinity, infinity, beyond, nan, minus_zero;
  } rows[] = {
    { ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN, 448, 0x7e, 0x7e, 0x7f, 0x7f, 0x7f, 0x80 },
    { ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ, 240, 0x7f, 0x7f, 0x80, 0x80, 0x80, 0x00 },
    { ONNXL_FLOAT_FORMAT_FLOAT8E5M2, 57344, 0x7b, 0x7b, 0x7c, 0x7c, 0x7e, 0x80 },
    { ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ, 57344, 0x7f, 0x7f, 0x80, 0x80, 0x80, 0x00 },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    OnnxlFloatFormat f = rows[i].format;
    CU_ASSERT_EQUAL(onnxl_float_encode(f, rows[i].max, false), rows[i].largest);
    CU_ASSERT_EQUAL(onnxl_float_decode(f, rows[i].largest), rows[i].max);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, rows[i].max * 2, true), rows[i].largest);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, rows[i].max * 2, false), rows[i].beyond);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, INFINITY, true), rows[i].saturated_infinity);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, INFINITY, false), rows[i].infinity);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, NAN, true), rows[i].nan);
    CU_ASSERT_EQUAL(onnxl_float_encode(f, -0.0, true), rows[i].minus_zero);
  }
  CU_ASSERT_EQUAL(onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, INFINITY, false), 7);
  CU_ASSERT_EQUAL(onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, -100, false), 15);
  CU_ASSERT_EQUAL(onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, NAN, false), 8);
  CU_ASSERT_EQUAL(onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, 2.5, false), 4);
}

static void
test_e8m0(void)
{
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(1.0, ONNXL_E8M0_UP, true), 127);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(1.01, ONNXL_E8M0_UP, true), 128);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(1.99, ONNXL_E8M0_DOWN, true), 127);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(1.49, ONNXL_E8M0_NEAREST, true), 127);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(1.5, ONNXL_E8M0_NEAREST, true), 128);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0x1.8p127, ONNXL_E8M0_UP, true), 254);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0x1.8p127, ONNXL_E8M0_UP, false), 255);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0.0, ONNXL_E8M0_UP, true), 0);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0x1p-140, ONNXL_E8M0_UP, true), 0);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0.0, ONNXL_E8M0_NEAREST, false), 255);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(0x1p-140, ONNXL_E8M0_NEAREST, false), 255);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(INFINITY, ONNXL_E8M0_UP, true), 254);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(INFINITY, ONNXL_E8M0_NEAREST, false), 255);
  CU_ASSERT_EQUAL(onnxl_float_encode_e8m0(NAN, ONNXL_E8M0_UP, true), 255);
  CU_ASSERT_EQUAL(onnxl_float_decode(ONNXL_FLOAT_FORMAT_FLOAT8E8M0, 0), 0x1p-127f);
}

static void
test_packing(void)
{
  static const uint8_t elements[] = { 1, 2, 0xff, 0xf8, 7 };
  uint8_t packed[3], back[5];
  CU_ASSERT_EQUAL(onnxl_packed_size(5, 4), 3);
  onnxl_pack(elements, 5, 4, packed);
  CU_ASSERT_EQUAL(memcmp(packed, "\x21\x8f\x07", 3), 0);
  onnxl_unpack(packed, 5, 4, true, back);
  CU_ASSERT_EQUAL(memcmp(back, elements, 5), 0);
  onnxl_unpack(packed, 5, 4, false, back);
  CU_ASSERT_EQUAL(memcmp(back, "\x01\x02\x0f\x08\x07", 5), 0);
  CU_ASSERT_EQUAL(onnxl_packed_size(5, 2), 2);
  onnxl_pack((const uint8_t *)"\x00\x01\xfe\xff\x01", 5, 2, packed);
  CU_ASSERT_EQUAL(memcmp(packed, "\xe4\x01", 2), 0);
  onnxl_unpack(packed, 5, 2, true, back);
  CU_ASSERT_EQUAL(memcmp(back, "\x00\x01\xfe\xff\x01", 5), 0);
}

UNIT_MAIN("float formats",
  { "every code", test_codes },
  { "fast paths", test_fast_paths },
  { "saturation", test_saturation },
  { "e8m0", test_e8m0 },
  { "packing", test_packing })
