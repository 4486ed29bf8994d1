/* Portable bitmaps, graymaps and pixmaps, as text (P1, P2, P3) and binary (P4, P5, P6). Source: the manual pages of
 * Netpbm. */
#include "runtime/image-internal.h"

typedef struct Reader {
  const uint8_t *at, *end;
} Reader;

/* The next number, after blanks and comments. Returns false when there is none, or it is above max. */
static bool
read_number(Reader *r, uint32_t max, uint32_t *ret_number)
{
  while (r->at < r->end && (*r->at == '#' || g_ascii_isspace(*r->at)))
    if (*r->at++ == '#')
      while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
        r->at++;
  uint64_t number = 0;
  const uint8_t *start = r->at;
  for (; r->at < r->end && g_ascii_isdigit(*r->at) && number <= max; r->at++)
    number = number * 10 + (uint64_t)(*r->at - '0');
  *ret_number = (uint32_t)number;
  return r->at > start && number <= max;
}

/* A bit of a text bitmap, where blanks between bits may be missing. */
static bool
read_bit(Reader *r, uint32_t *ret_bit)
{
  while (r->at < r->end && g_ascii_isspace(*r->at))
    r->at++;
  if (r->at == r->end || (*r->at != '0' && *r->at != '1'))
    return false;
  *ret_bit = (uint32_t)(*r->at++ - '0');
  return true;
}

static bool
read_sample(Reader *r, int kind, uint32_t max, uint32_t *ret_sample)
{
  if (kind == 1)
    return read_bit(r, ret_sample);
  if (kind < 4)
    return read_number(r, max, ret_sample);
  size_t bytes = max > 255 ? 2 : 1;
  if ((size_t)(r->end - r->at) < bytes)
    return false;
  *ret_sample = bytes == 2 ? (uint32_t)(r->at[0] << 8 | r->at[1]) : r->at[0];
  r->at += bytes;
  return true;
}

static bool
decode_packed_bits(OnnxlImage *image, Reader *r)
{
  int64_t bytes = (image->width + 7) / 8;
  if (bytes * image->height > r->end - r->at)
    return false;
  for (int64_t y = 0; y < image->height; y++)
    for (int64_t x = 0; x < image->width; x++)
      memset(onnxl_image_row(image, y) + 3 * x, r->at[y * bytes + x / 8] >> (7 - x % 8) & 1 ? 0 : 255, 3);
  return true;
}

bool
onnxl_image_decode_pnm(OnnxlImage *image, const uint8_t *data, size_t size)
{
  Reader r = { data + 2, data + size };
  int kind = data[1] - '0';
  uint32_t width, height, max = 1;
  bool bitmap = kind == 1 || kind == 4, colors = kind == 3 || kind == 6;
  if (!read_number(&r, INT32_MAX, &width) || !read_number(&r, INT32_MAX, &height) ||
      (!bitmap && !read_number(&r, 65535, &max)) || max == 0)
    return false;
  if (kind >= 4 && (r.at == r.end || !g_ascii_isspace(*r.at++)))
    return false;
  /* Even the shortest encoding of a pixel has its length, which keeps a short file from asking for a huge image. */
  uint64_t samples = (uint64_t)width * height * (colors ? 3 : 1);
  if (samples / (kind == 4 ? 8 : 1) > (uint64_t)(r.end - r.at) || !onnxl_image_begin(image, width, height))
    return false;
  if (kind == 4)
    return decode_packed_bits(image, &r);
  for (int64_t i = 0; i < image->width * image->height; i++)
    for (int c = 0; c < (colors ? 3 : 1); c++) {
      uint32_t sample;
      if (!read_sample(&r, kind, max, &sample))
        return false;
      sample = MIN(sample, max);
      uint8_t value = kind == 1 ? (sample ? 0 : 255) : (uint8_t)((sample * 255 + max / 2) / max);
      memset(image->pixels + 3 * i + c, value, colors ? 1 : 3);
    }
  return true;
}
