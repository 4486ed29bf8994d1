/* Shortest decimal text of a float. The method is Schubfach (R. Giulietti, "The Schubfach way to render doubles",
 * 2020): the interval of the numbers that read back as the value is scaled by a power of ten so that it holds a
 * multiple of ten or one or two integers, and three products with that power, each rounded to odd, decide exactly which
 * of them lie inside. */
#include "support/number.h"

typedef unsigned __int128 Wide;

/* g(n) = floor(10^n * 2^(125 - floor(log2(10^n)))) + 1, 126 bits in two halves of 63, for every n that a double needs.
 */
enum { FIRST_POWER = -292, LAST_POWER = 324 };
static struct Power {
  uint64_t high;
  uint64_t low;
} powers[LAST_POWER - FIRST_POWER + 1];

#define LOW_63 (UINT64_MAX >> 1)

/* A big integer to derive the table with: 1120 bits hold 2^1120 / 10^292 with more than 126 bits. */
enum { LIMBS = 36, SCALE = 32 * (LIMBS - 1) };

static void
set_power(int n, const uint32_t limbs[LIMBS])
{
  int top = LIMBS - 1;
  while (limbs[top] == 0)
    top--;
  int highest = 32 * top + 31 - __builtin_clz(limbs[top]);
  Wide g = 0;
  /* Bits below bit 0 of the integer are zeros. */
  for (int bit = highest; bit > highest - 126; bit--)
    g = g << 1 | (bit >= 0 ? limbs[bit / 32] >> (bit % 32) & 1 : 0);
  g++;
  powers[n - FIRST_POWER] = (struct Power){ (uint64_t)(g >> 63), (uint64_t)g & LOW_63 };
}

/* Both directions are exact: floor(floor(x / 10) / 10) is floor(x / 100). */
static void
derive_powers(void)
{
  uint32_t limbs[LIMBS] = { 1 };
  for (int n = 0; n <= LAST_POWER; n++) {
    set_power(n, limbs);
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
      carry += (uint64_t)limbs[i] * 10;
      limbs[i] = (uint32_t)carry;
      carry >>= 32;
    }
  }
  memset(limbs, 0, sizeof limbs);
  limbs[SCALE / 32] = 1;
  for (int n = -1; n >= FIRST_POWER; n--) {
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
      rest = rest << 32 | limbs[i];
      limbs[i] = (uint32_t)(rest / 10);
      rest %= 10;
    }
    set_power(n, limbs);
  }
}

static const struct Power *
power_of_ten(int n)
{
  static gsize derived;
  if (g_once_init_enter(&derived)) {
    derive_powers();
    g_once_init_leave(&derived, 1);
  }
  return &powers[n - FIRST_POWER];
}

/* floor(log10(2^e)), floor(log10(3/4 * 2^e)) and floor(log2(10^n)), right for |e| < 1100 and |n| < 345. */
static inline int
floor_log10_pow2(int e)
{
  return (e * 315653) >> 20;
}

static inline int
floor_log10_three_quarters_pow2(int e)
{
  return (e * 315653 - 131008) >> 20;
}

static inline int
floor_log2_pow10(int n)
{
  return (n * 108853) >> 15;
}

/* g * factor / 2^127, rounded to odd: exact when even, so that comparisons with integers decide right. */
static inline uint64_t
scale_double(const struct Power *g, uint64_t factor)
{
  Wide high = (Wide)g->high * factor;
  uint64_t low = (uint64_t)((Wide)g->low * factor >> 64);
  uint64_t middle = ((uint64_t)high >> 1) + low;
  return ((uint64_t)(high >> 64) + (middle >> 63)) | ((middle & LOW_63) != 0);
}

/* The same with the upper half of g, enough for the 24 bits of a float. */
static inline uint64_t
scale_float(const struct Power *g, uint64_t factor)
{
  uint64_t product = (uint64_t)((Wide)(g->high + 1) * factor >> 64);
  return product >> 31 | ((product & 0x7fffffff) != 0);
}

typedef struct Decimal {
  uint64_t digits;
  int exponent; /* value = digits * 10^exponent */
} Decimal;

/* Shortest decimal of c * 2^q. is_lowest: the number below is only half as far away, as at a power of two. */
static inline Decimal
shortest(uint64_t c, int q, bool is_lowest, bool is_double)
{
  int k = is_lowest ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
  const struct Power *g = power_of_ten(-k);
  int shift = q + floor_log2_pow10(-k) + (is_double ? 2 : 33);
  /* In quarters of the unit 10^k: the value and the ends of the interval. Ends belong to it when c is even. */
  uint64_t open = c & 1;
  uint64_t centre = 4 * c << shift, left = (4 * c - 2 + is_lowest) << shift, right = (4 * c + 2) << shift;
  uint64_t v = is_double ? scale_double(g, centre) : scale_float(g, centre);
  uint64_t lower = (is_double ? scale_double(g, left) : scale_float(g, left)) + open;
  uint64_t upper = (is_double ? scale_double(g, right) : scale_float(g, right)) - open;
  uint64_t s = v / 4;
  if (s >= 10) {
    uint64_t below = s / 10 * 10, above = below + 10;
    bool below_inside = lower <= 4 * below, above_inside = 4 * above <= upper;
    if (below_inside != above_inside)
      return (Decimal){ below_inside ? below : above, k };
  }
  bool s_inside = lower <= 4 * s, next_inside = 4 * (s + 1) <= upper;
  if (s_inside != next_inside)
    return (Decimal){ s_inside ? s : s + 1, k };
  uint64_t middle = 4 * s + 2;
  return (Decimal){ v < middle || (v == middle && s % 2 == 0) ? s : s + 1, k };
}

static const char digit_pairs[201] =
  "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
  "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
  "9899";

/* Writes the decimal digits of value so that they end before end; returns where they start. */
static inline char *
write_digits(char *end, uint64_t value)
{
  while (value >= 100) {
    end -= 2;
    memcpy(end, digit_pairs + value % 100 * 2, 2);
    value /= 100;
  }
  if (value >= 10) {
    end -= 2;
    memcpy(end, digit_pairs + value * 2, 2);
  } else {
    *--end = (char)('0' + value);
  }
  return end;
}

/* Lays the digits out, positional while the first digit stands for 10^-4 up to 10^max_positional. */
static inline char *
lay_out(char *p, Decimal decimal, int max_positional)
{
  char buffer[24];
  char *end = buffer + sizeof buffer;
  while (decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    decimal.exponent++;
  }
  char *digits = write_digits(end, decimal.digits);
  int n = (int)(end - digits);
  int first = decimal.exponent + n - 1;
  if (first < -4 || first > max_positional) {
    *p++ = *digits++;
    if (n > 1) {
      *p++ = '.';
      memcpy(p, digits, (size_t)(n - 1));
      p += n - 1;
    }
    *p++ = 'e';
    *p++ = first < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(first < 0 ? -first : first);
    if (magnitude >= 100)
      *p++ = (char)('0' + magnitude / 100);
    memcpy(p, digit_pairs + magnitude % 100 * 2, 2);
    return p + 2;
  }
  if (first < 0) {
    memcpy(p, "0.000", 5);
    p += 1 - first;
    memcpy(p, digits, (size_t)n);
    return p + n;
  }
  int whole = first + 1;
  if (n <= whole) {
    memcpy(p, digits, (size_t)n);
    memset(p + n, '0', (size_t)(whole - n));
    memcpy(p + whole, ".0", 2);
    return p + whole + 2;
  }
  memcpy(p, digits, (size_t)whole);
  p[whole] = '.';
  memcpy(p + whole + 1, digits + whole, (size_t)(n - whole));
  return p + n + 1;
}

static size_t
print(char *text, bool negative, bool is_nan, bool is_infinite, uint64_t c, int q, bool is_lowest, bool is_double)
{
  char *p = text;
  if (negative)
    *p++ = '-';
  if (is_nan || is_infinite || c == 0) {
    memcpy(p, is_nan ? "nan" : is_infinite ? "inf" : "0.0", 3);
    p += 3;
  } else {
    p = lay_out(p, shortest(c, q, is_lowest, is_double), is_double ? 15 : 6);
  }
  return (size_t)(p - text);
}

size_t
onnxl_print_float(char text[ONNXL_NUMBER_SIZE], float value)
{
  uint32_t bits = onnxl_float_bits(value);
  uint32_t mantissa = bits & 0x7fffff, exponent = bits >> 23 & 0xff;
  uint32_t c = exponent > 0 ? mantissa | 0x800000 : mantissa;
  int q = (exponent > 0 ? (int)exponent : 1) - 150;
  return print(text, bits >> 31, exponent == 0xff && mantissa > 0, exponent == 0xff && mantissa == 0, c, q,
               mantissa == 0 && exponent > 1, false);
}

size_t
onnxl_print_double(char text[ONNXL_NUMBER_SIZE], double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  uint32_t exponent = bits >> 52 & 0x7ff;
  uint64_t c = exponent > 0 ? mantissa | UINT64_C(1) << 52 : mantissa;
  int q = (exponent > 0 ? (int)exponent : 1) - 1075;
  return print(text, bits >> 63, exponent == 0x7ff && mantissa > 0, exponent == 0x7ff && mantissa == 0, c, q,
               mantissa == 0 && exponent > 1, true);
}

void
onnxl_output_float(OnnxlOutput *out, float value)
{
  char *text = onnxl_output_reserve(out, ONNXL_NUMBER_SIZE);
  if (text)
    out->used += onnxl_print_float(text, value);
}

void
onnxl_output_double(OnnxlOutput *out, double value)
{
  char *text = onnxl_output_reserve(out, ONNXL_NUMBER_SIZE);
  if (text)
    out->used += onnxl_print_double(text, value);
}
