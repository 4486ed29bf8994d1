/* WebP by libwebp; alpha is dropped. */
#include "runtime/image-internal.h"

#include <webp/decode.h>

bool
onnxl_image_decode_webp(OnnxlImage *image, const uint8_t *data, size_t size)
{
  int width, height;
  if (!WebPGetInfo(data, size, &width, &height) || width < 1 || height < 1 ||
      !onnxl_image_begin(image, (uint64_t)width, (uint64_t)height))
    return false;
  size_t bytes = (size_t)(image->width * image->height) * 3;
  return width <= INT_MAX / 3 && WebPDecodeRGBInto(data, size, image->pixels, bytes, 3 * width);
}
