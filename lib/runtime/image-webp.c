/* WebP by libwebp; alpha is dropped. */
#include "runtime/image-internal.h"

#include <webp/decode.h>

#include "runtime/library.h"

#define FUNCTIONS(F) F(WebPGetInfo) F(WebPDecodeRGBInto)
ONNXL_LIBRARY("webp", ONNXL_SONAME_WEBP, "WebP images", FUNCTIONS)

bool
onnxl_image_decode_webp(OnnxlImage *image, const uint8_t *data, size_t size)
{
  int width, height;
  if (!onnxl_image_load(image, load_library))
    return false;
  if (!lib.WebPGetInfo(data, size, &width, &height) || width < 1 || height < 1 ||
      !onnxl_image_begin(image, (uint64_t)width, (uint64_t)height))
    return false;
  size_t bytes = (size_t)(image->width * image->height) * 3;
  return width <= INT_MAX / 3 && lib.WebPDecodeRGBInto(data, size, image->pixels, bytes, 3 * width);
}
