#include "support/str.h"

#include "support/str-internal.h"

int
onnxl_str_compare(OnnxlStr a, OnnxlStr b)
{
  size_t common = a.size < b.size ? a.size : b.size;
  int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
  return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* The two halves of the 128-bit product: every input bit reaches every output bit. */
static inline uint64_t
fold(uint64_t a, uint64_t b)
{
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t
load64(const char *p)
{
  uint64_t v;
  memcpy(&v, p, sizeof v);
  return v;
}

uint64_t
onnxl_str_hash_seeded(OnnxlStr a, uint64_t seed)
{
  /* Odd constants with balanced bits: fractions of pi. Both factors depend on the seed, so that no known block makes a
   * factor zero and thereby erases the other one. */
  const uint64_t left = UINT64_C(0x243f6a8885a308d3) ^ seed;
  const uint64_t right = UINT64_C(0x13198a2e03707345) + seed;
  const char *p = a.data;
  size_t n = a.size;
  uint64_t h = fold((uint64_t)n ^ left, right);
  for (; n > 16; p += 16, n -= 16)
    h = fold(load64(p) ^ left, load64(p + 8) ^ h);
  uint64_t first = 0, second = 0;
  if (n >= 8) {
    first = load64(p);
    second = load64(p + n - 8);
  } else if (n > 0) {
    memcpy(&first, p, n);
  }
  return fold(fold(first ^ left, second ^ h), right);
}

uint64_t
onnxl_str_hash(OnnxlStr a)
{
  return onnxl_str_hash_seeded(a, 0);
}

/* Length of the valid sequence at p, or 0. Overlong forms, surrogates and values above U+10FFFF are not valid. */
static size_t
utf8_sequence(const unsigned char *p, const unsigned char *end)
{
  size_t left = (size_t)(end - p);
  if (p[0] < 0xc2)
    return 0;
  if (p[0] < 0xe0)
    return left >= 2 && (p[1] & 0xc0) == 0x80 ? 2 : 0;
  if (p[0] < 0xf0) {
    if (left < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
      return 0;
    return (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ? 0 : 3;
  }
  if (p[0] > 0xf4 || left < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
    return 0;
  return (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90) ? 0 : 4;
}

bool
onnxl_str_is_utf8(OnnxlStr a)
{
  const unsigned char *p = (const unsigned char *)a.data;
  const unsigned char *end = p + a.size;
  if (a.size == 0)
    return true;
  while (p < end) {
    while (end - p >= 8 && (load64((const char *)p) & UINT64_C(0x8080808080808080)) == 0)
      p += 8;
    while (p < end && *p < 0x80)
      p++;
    if (p == end)
      break;
    size_t n = utf8_sequence(p, end);
    if (n == 0)
      return false;
    p += n;
  }
  return true;
}

static inline bool
is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool
onnxl_str_is_identifier(OnnxlStr a)
{
  if (a.size == 0 || !is_letter(a.data[0]))
    return false;
  for (size_t i = 1; i < a.size; i++)
    if (!is_letter(a.data[i]) && !(a.data[i] >= '0' && a.data[i] <= '9'))
      return false;
  return true;
}

bool
onnxl_str_to_uint64(OnnxlStr a, uint64_t max, uint64_t *ret_value)
{
  uint64_t value = 0;
  if (a.size == 0)
    return false;
  for (size_t i = 0; i < a.size; i++) {
    if (a.data[i] < '0' || a.data[i] > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
        __builtin_add_overflow(value, (uint64_t)(a.data[i] - '0'), &value))
      return false;
  }
  if (value > max)
    return false;
  *ret_value = value;
  return true;
}
