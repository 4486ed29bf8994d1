/* Decoders of image files, one a format. */
#ifndef ONNXL_RUNTIME_IMAGE_INTERNAL_H
#define ONNXL_RUNTIME_IMAGE_INTERNAL_H

#include "runtime/kernel.h"

/* An image on its way to the output of ImageDecoder. */
typedef struct OnnxlImage {
  OnnxlKernelContext *context;
  GError **error;
  bool failed; /* error is set: not the image is at fault, a limit was reached */
  bool gray;   /* what is wanted in the end; pixels are RGB all the same */
  int64_t width, height;
  uint8_t *pixels; /* height rows of 3 * width bytes */
} OnnxlImage;

/* Fills image from the size bytes of a file. Returns false when they cannot be decoded, or image->failed is set. */
typedef bool (*OnnxlImageDecode)(OnnxlImage *image, const uint8_t *data, size_t size);

/* Sets the size and makes room for the pixels; a decoder calls it once, before it allocates anything of that size. */
bool onnxl_image_begin(OnnxlImage *image, uint64_t width, uint64_t height) G_GNUC_WARN_UNUSED_RESULT;

/* Loads the library of a decoder. Returns false with image->failed. */
bool onnxl_image_load(OnnxlImage *image, bool (*load)(GError **error)) G_GNUC_WARN_UNUSED_RESULT;

/* Scratch memory until the kernel returns, or NULL with image->failed. */
void *onnxl_image_scratch(OnnxlImage *image, uint64_t count, size_t item_size) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes that may still be allocated, for libraries that take a limit of their own. */
size_t onnxl_image_memory(const OnnxlImage *image);

static inline uint8_t *
onnxl_image_row(const OnnxlImage *image, int64_t y)
{
  return image->pixels + y * image->width * 3;
}

bool onnxl_image_decode_bmp(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_pnm(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_jpeg(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_jpeg2000(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_png(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_tiff(OnnxlImage *image, const uint8_t *data, size_t size);
bool onnxl_image_decode_webp(OnnxlImage *image, const uint8_t *data, size_t size);

#endif
