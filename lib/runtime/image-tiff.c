/* TIFF by libtiff, through the function that turns every kind of TIFF into red, green and blue. */
#include "runtime/image-internal.h"

#include <tiffio.h>

#include "runtime/library.h"

#define FUNCTIONS(F)                                                                                            \
  F(TIFFGetField)                                                                                               \
  F(TIFFRGBAImageOK) F(TIFFReadRGBAImageOriented) F(TIFFOpenOptionsAlloc) F(TIFFOpenOptionsSetErrorHandlerExtR) \
    F(TIFFOpenOptionsSetWarningHandlerExtR) F(TIFFOpenOptionsSetMaxSingleMemAlloc) F(TIFFClientOpenExt)         \
      F(TIFFOpenOptionsFree) F(TIFFClose)
ONNXL_LIBRARY("tiff", ONNXL_SONAME_TIFF, "TIFF images", FUNCTIONS)

typedef struct Source {
  const uint8_t *data;
  uint64_t size, at;
} Source;

static tmsize_t
read_bytes(thandle_t handle, void *to, tmsize_t n)
{
  Source *source = handle;
  uint64_t left = source->at < source->size ? source->size - source->at : 0;
  tmsize_t count = n < 0 ? 0 : (tmsize_t)MIN((uint64_t)n, left);
  memcpy(to, source->data + (count > 0 ? source->at : 0), (size_t)count);
  source->at += (uint64_t)count;
  return count;
}

static tmsize_t
refuse_write(thandle_t handle, void *from, tmsize_t n)
{
  return 0;
}

static toff_t
seek(thandle_t handle, toff_t offset, int whence)
{
  Source *source = handle;
  uint64_t base = whence == SEEK_CUR ? source->at : whence == SEEK_END ? source->size : 0;
  source->at = base + offset;
  return source->at;
}

static int
close_source(thandle_t handle)
{
  return 0;
}

static toff_t
size_of(thandle_t handle)
{
  return ((Source *)handle)->size;
}

static int
be_silent(TIFF *tiff, void *data, const char *module, const char *format, va_list args)
{
  return 1; /* handled */
}

static bool
decode(OnnxlImage *image, TIFF *tiff)
{
  uint32_t width = 0, height = 0;
  char message[1024];
  if (!lib.TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !lib.TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) ||
      !lib.TIFFRGBAImageOK(tiff, message) || !onnxl_image_begin(image, width, height))
    return false;
  uint32_t *raster = onnxl_image_scratch(image, (uint64_t)width * height, sizeof *raster);
  if (!raster || !lib.TIFFReadRGBAImageOriented(tiff, width, height, raster, ORIENTATION_TOPLEFT, 1))
    return false;
  for (uint64_t i = 0; i < (uint64_t)width * height; i++) {
    image->pixels[3 * i] = (uint8_t)TIFFGetR(raster[i]);
    image->pixels[3 * i + 1] = (uint8_t)TIFFGetG(raster[i]);
    image->pixels[3 * i + 2] = (uint8_t)TIFFGetB(raster[i]);
  }
  return true;
}

bool
onnxl_image_decode_tiff(OnnxlImage *image, const uint8_t *data, size_t size)
{
  if (!onnxl_image_load(image, load_library))
    return false;
  Source source = { data, size, 0 };
  TIFFOpenOptions *options = lib.TIFFOpenOptionsAlloc();
  if (!options)
    return false;
  lib.TIFFOpenOptionsSetErrorHandlerExtR(options, be_silent, NULL);
  lib.TIFFOpenOptionsSetWarningHandlerExtR(options, be_silent, NULL);
  lib.TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)MAX(onnxl_image_memory(image), 1));
  /* "m": no attempt to map a file into memory. */
  TIFF *tiff = lib.TIFFClientOpenExt("image", "rm", &source, read_bytes, refuse_write, seek, close_source, size_of,
                                     NULL, NULL, options);
  lib.TIFFOpenOptionsFree(options);
  bool good = tiff && decode(image, tiff);
  if (tiff)
    lib.TIFFClose(tiff);
  return good;
}
