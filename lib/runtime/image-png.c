/* PNG by libpng. Gamma is left alone, alpha is dropped, 16 bits are cut to 8. */
#include "runtime/image-internal.h"

#include <png.h>

#include "runtime/library.h"

#define FUNCTIONS(F)                                                                                                   \
  F(png_get_io_ptr)                                                                                                    \
  F(png_error) F(png_longjmp) F(png_set_user_limits) F(png_set_chunk_malloc_max) F(png_read_info)                      \
    F(png_get_image_width) F(png_get_image_height) F(png_set_expand) F(png_set_strip_16) F(png_set_strip_alpha)        \
      F(png_set_gray_to_rgb) F(png_set_interlace_handling) F(png_read_update_info) F(png_get_rowbytes) F(png_read_row) \
        F(png_read_end) F(png_create_read_struct) F(png_create_info_struct) F(png_set_read_fn) F(png_set_longjmp_fn)   \
          F(png_destroy_read_struct)
ONNXL_LIBRARY("png", ONNXL_SONAME_PNG, "PNG images", FUNCTIONS)

typedef struct Source {
  const uint8_t *at;
  size_t left;
} Source;

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
  Source *source = lib.png_get_io_ptr(png);
  if (n > source->left)
    lib.png_error(png, "the file is too short");
  memcpy(to, source->at, n);
  source->at += n;
  source->left -= n;
}

static void G_GNUC_NORETURN
fail_silently(png_structp png, png_const_charp message)
{
  lib.png_longjmp(png, 1);
}

static void
warn_silently(png_structp png, png_const_charp message)
{
}

/* Runs under the caller's setjmp: an error inside libpng ends it. */
static bool
decode(OnnxlImage *image, png_structp png, png_infop info)
{
  lib.png_set_user_limits(png, INT32_MAX, INT32_MAX);
  lib.png_set_chunk_malloc_max(png, 8 << 20);
  lib.png_read_info(png, info);
  if (!onnxl_image_begin(image, lib.png_get_image_width(png, info), lib.png_get_image_height(png, info)))
    return false;
  lib.png_set_expand(png);
  lib.png_set_strip_16(png);
  lib.png_set_strip_alpha(png);
  lib.png_set_gray_to_rgb(png);
  int passes = lib.png_set_interlace_handling(png);
  lib.png_read_update_info(png, info);
  if (lib.png_get_rowbytes(png, info) != (size_t)image->width * 3)
    return false;
  memset(image->pixels, 0, (size_t)(image->width * image->height) * 3); /* passes are put over each other */
  for (int pass = 0; pass < passes; pass++)
    for (int64_t y = 0; y < image->height; y++)
      lib.png_read_row(png, onnxl_image_row(image, y), NULL);
  lib.png_read_end(png, NULL);
  return true;
}

bool
onnxl_image_decode_png(OnnxlImage *image, const uint8_t *data, size_t size)
{
  if (!onnxl_image_load(image, load_library))
    return false;
  Source source = { data, size };
  png_structp png = lib.png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail_silently, warn_silently);
  png_infop info = png ? lib.png_create_info_struct(png) : NULL;
  volatile bool good = false;
  if (info) {
    lib.png_set_read_fn(png, &source, read_bytes);
    if (setjmp(*lib.png_set_longjmp_fn(png, longjmp, sizeof(jmp_buf))) == 0) /* as png_jmpbuf() does */
      good = decode(image, png, info);
  }
  lib.png_destroy_read_struct(&png, &info, NULL);
  return good;
}
