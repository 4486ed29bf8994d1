/* Windows bitmaps. Source: the structures BITMAPFILEHEADER to BITMAPV5HEADER of the Windows API. */
#include "runtime/image-internal.h"

typedef enum Compression { COMPRESSION_NONE, COMPRESSION_RLE8, COMPRESSION_RLE4, COMPRESSION_FIELDS } Compression;

typedef struct Bitmap {
  const uint8_t *palette; /* entries of palette_step bytes: blue, green, red */
  uint32_t palette_step, palette_count;
  const uint8_t *pixels;
  size_t pixels_size;
  uint32_t bits;
  Compression compression;
  bool top_down;
  uint32_t masks[3]; /* of red, green, blue in pixels of 16 or 32 bits */
} Bitmap;

static uint32_t
read_16(const uint8_t *at)
{
  return at[0] | (uint32_t)at[1] << 8;
}

static uint32_t
read_32(const uint8_t *at)
{
  return read_16(at) | read_16(at + 2) << 16;
}

static bool
read_compression(const uint8_t *header, uint32_t header_size, size_t left, Bitmap *b)
{
  uint32_t code = header_size >= 40 ? read_32(header + 16) : 0;
  b->masks[0] = b->bits == 16 ? 0x7c00 : 0xff0000;
  b->masks[1] = b->bits == 16 ? 0x3e0 : 0xff00;
  b->masks[2] = b->bits == 16 ? 0x1f : 0xff;
  switch (code) {
  case 0:
    b->compression = COMPRESSION_NONE;
    return true;
  case 1:
    b->compression = COMPRESSION_RLE8;
    return b->bits == 8 && !b->top_down;
  case 2:
    b->compression = COMPRESSION_RLE4;
    return b->bits == 4 && !b->top_down;
  case 3:
  case 6: /* with a mask for alpha, which is not used */
    b->compression = COMPRESSION_FIELDS;
    /* The masks lie behind the oldest header, and inside the later ones. */
    if ((b->bits != 16 && b->bits != 32) || left < 52)
      return false;
    for (int i = 0; i < 3; i++)
      b->masks[i] = read_32(header + 40 + 4 * i);
    return true;
  default:
    return false;
  }
}

/* The headers; ret_width and ret_height: of the image. */
static bool
read_headers(const uint8_t *data, size_t size, Bitmap *b, uint32_t *ret_width, uint32_t *ret_height)
{
  if (size < 14 + 12)
    return false;
  uint32_t offset = read_32(data + 10), header_size = read_32(data + 14);
  const uint8_t *header = data + 14;
  size_t left = size - 14;
  if ((header_size != 12 && header_size < 40) || header_size > left || offset > size)
    return false;
  *b = (Bitmap){ .pixels = data + offset, .pixels_size = size - offset };
  uint32_t colors = 0;
  if (header_size == 12) {
    *ret_width = read_16(header + 4);
    *ret_height = read_16(header + 6);
    b->bits = read_16(header + 10);
  } else {
    *ret_width = read_32(header + 4);
    *ret_height = read_32(header + 8);
    b->bits = read_16(header + 14);
    colors = read_32(header + 32);
    b->top_down = *ret_height > INT32_MAX;
    if (b->top_down)
      *ret_height = -*ret_height;
  }
  if (!read_compression(header, header_size, left, b))
    return false;
  size_t before = 14 + (size_t)header_size + (b->compression == COMPRESSION_FIELDS && header_size == 40 ? 12 : 0);
  b->palette_step = header_size == 12 ? 3 : 4;
  if (b->bits <= 8) {
    b->palette_count = colors > 0 && colors <= 1u << b->bits ? colors : 1u << b->bits;
    b->palette_count = (uint32_t)MIN(b->palette_count, before < size ? (size - before) / b->palette_step : 0);
    b->palette = data + MIN(before, size);
  }
  return b->bits == 1 || b->bits == 4 || b->bits == 8 || b->bits == 16 || b->bits == 24 || b->bits == 32;
}

/* An index outside the palette is black. */
static void
put_index(const Bitmap *b, uint8_t *to, uint32_t index)
{
  if (index >= b->palette_count) {
    memset(to, 0, 3);
    return;
  }
  const uint8_t *color = b->palette + index * b->palette_step;
  to[0] = color[2];
  to[1] = color[1];
  to[2] = color[0];
}

/* The bits of pixel under mask, stretched to 0 to 255. */
static uint8_t
field(uint32_t pixel, uint32_t mask)
{
  if (mask == 0)
    return 0;
  int shift = __builtin_ctz(mask);
  uint64_t max = mask >> shift, value = (pixel & mask) >> shift;
  return (uint8_t)((value * 255 + max / 2) / max);
}

static void
put_pixel(const Bitmap *b, uint8_t *to, const uint8_t *row, int64_t x)
{
  switch (b->bits) {
  case 1:
    put_index(b, to, row[x / 8] >> (7 - x % 8) & 1);
    return;
  case 4:
    put_index(b, to, x % 2 ? row[x / 2] & 15 : row[x / 2] >> 4);
    return;
  case 8:
    put_index(b, to, row[x]);
    return;
  case 24:
    to[0] = row[3 * x + 2];
    to[1] = row[3 * x + 1];
    to[2] = row[3 * x];
    return;
  default: {
    uint32_t pixel = b->bits == 16 ? read_16(row + 2 * x) : read_32(row + 4 * x);
    for (int i = 0; i < 3; i++)
      to[i] = field(pixel, b->masks[i]);
  }
  }
}

static bool
decode_plain(OnnxlImage *image, const Bitmap *b)
{
  for (int64_t y = 0; y < image->height; y++) {
    size_t stride = ((size_t)image->width * b->bits + 31) / 32 * 4;
    int64_t line = b->top_down ? y : image->height - 1 - y;
    for (int64_t x = 0; x < image->width; x++)
      put_pixel(b, onnxl_image_row(image, y) + 3 * x, b->pixels + (size_t)line * stride, x);
  }
  return true;
}

/* Runs of equal pixels, literal pixels, and jumps; what is jumped over has colour 0. */
static bool
decode_runs(OnnxlImage *image, const Bitmap *b)
{
  const uint8_t *at = b->pixels, *end = at + b->pixels_size;
  int64_t x = 0, y = image->height - 1;
  uint32_t per_byte = 8 / b->bits;
  for (int64_t i = 0; i < image->width * image->height; i++)
    put_index(b, image->pixels + 3 * i, 0);
  while (end - at >= 2 && y >= 0) {
    uint32_t count = *at++, code = *at++;
    bool literal = count == 0 && code > 2;
    if (count == 0 && code == 0) {
      x = 0;
      y--;
    } else if (count == 0 && code == 1)
      return true;
    else if (count == 0 && code == 2) {
      if (end - at < 2)
        return false;
      x += *at++;
      y -= *at++;
    }
    uint32_t n = literal ? code : count;
    size_t bytes = literal ? (n + per_byte - 1) / per_byte : 0;
    if (literal && (size_t)(end - at) < bytes)
      return false;
    for (uint32_t i = 0; i < n; i++, x++) {
      uint8_t packed = literal ? at[i / per_byte] : (uint8_t)code;
      uint32_t index = b->bits == 8 ? packed : i % 2 ? packed & 15 : packed >> 4;
      if (x < image->width)
        put_index(b, onnxl_image_row(image, y) + 3 * x, index);
    }
    at += MIN(bytes + bytes % 2, (size_t)(end - at));
  }
  return y < 0;
}

bool
onnxl_image_decode_bmp(OnnxlImage *image, const uint8_t *data, size_t size)
{
  Bitmap b;
  uint32_t width, height;
  if (!read_headers(data, size, &b, &width, &height) || width > INT32_MAX || height > INT32_MAX)
    return false;
  bool runs = b.compression == COMPRESSION_RLE8 || b.compression == COMPRESSION_RLE4;
  uint64_t least = ((uint64_t)width * b.bits + 31) / 32 * 4;
  /* The rows must be there, and of runs at least a line end for each, before room is made for the pixels. */
  if (__builtin_mul_overflow(runs ? 1 : least, (uint64_t)height, &least) || least > b.pixels_size ||
      !onnxl_image_begin(image, width, height))
    return false;
  return runs ? decode_runs(image, &b) : decode_plain(image, &b);
}
