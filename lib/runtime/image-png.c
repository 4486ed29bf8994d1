/* PNG by libpng. Gamma is left alone, alpha is dropped, 16 bits are cut to 8. */
#include "runtime/image-internal.h"

#include <png.h>

typedef struct Source {
  const uint8_t *at;
  size_t left;
} Source;

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
  Source *source = png_get_io_ptr(png);
  if (n > source->left)
    png_error(png, "the file is too short");
  memcpy(to, source->at, n);
  source->at += n;
  source->left -= n;
}

static void G_GNUC_NORETURN
fail_silently(png_structp png, png_const_charp message)
{
  png_longjmp(png, 1);
}

static void
warn_silently(png_structp png, png_const_charp message)
{
}

/* Runs under the caller's setjmp: an error inside libpng ends it. */
static bool
decode(OnnxlImage *image, png_structp png, png_infop info)
{
  png_set_user_limits(png, INT32_MAX, INT32_MAX);
  png_set_chunk_malloc_max(png, 8 << 20);
  png_read_info(png, info);
  if (!onnxl_image_begin(image, png_get_image_width(png, info), png_get_image_height(png, info)))
    return false;
  png_set_expand(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_gray_to_rgb(png);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != (size_t)image->width * 3)
    return false;
  memset(image->pixels, 0, (size_t)(image->width * image->height) * 3); /* passes are put over each other */
  for (int pass = 0; pass < passes; pass++)
    for (int64_t y = 0; y < image->height; y++)
      png_read_row(png, onnxl_image_row(image, y), NULL);
  png_read_end(png, NULL);
  return true;
}

bool
onnxl_image_decode_png(OnnxlImage *image, const uint8_t *data, size_t size)
{
  Source source = { data, size };
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail_silently, warn_silently);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  volatile bool good = false;
  if (info) {
    png_set_read_fn(png, &source, read_bytes);
    if (setjmp(png_jmpbuf(png)) == 0)
      good = decode(image, png, info);
  }
  png_destroy_read_struct(&png, &info, NULL);
  return good;
}
