/* ImageDecoder: recognizes the format of an image file and hands it to its decoder. */
#include "runtime/image-internal.h"

#define BYTES(text) text, sizeof(text) - 1

/* A format starts with the bytes of magic, and has those of more at an offset. decode NULL: built without its library.
 */
typedef struct Format {
  const char *name;
  const char *library;
  const char *magic;
  size_t magic_size;
  const char *more;
  size_t more_size;
  size_t offset;
  OnnxlImageDecode decode;
} Format;

#ifdef ONNXL_HAVE_JPEG
#define DECODE_JPEG onnxl_image_decode_jpeg
#else
#define DECODE_JPEG NULL
#endif
#ifdef ONNXL_HAVE_JPEG2000
#define DECODE_JPEG2000 onnxl_image_decode_jpeg2000
#else
#define DECODE_JPEG2000 NULL
#endif
#ifdef ONNXL_HAVE_PNG
#define DECODE_PNG onnxl_image_decode_png
#else
#define DECODE_PNG NULL
#endif
#ifdef ONNXL_HAVE_TIFF
#define DECODE_TIFF onnxl_image_decode_tiff
#else
#define DECODE_TIFF NULL
#endif
#ifdef ONNXL_HAVE_WEBP
#define DECODE_WEBP onnxl_image_decode_webp
#else
#define DECODE_WEBP NULL
#endif

static const Format formats[] = {
  { "BMP", NULL, BYTES("BM"), BYTES(""), 0, onnxl_image_decode_bmp },
  { "JPEG", "libjpeg", BYTES("\xff\xd8\xff"), BYTES(""), 0, DECODE_JPEG },
  { "JPEG 2000", "OpenJPEG", BYTES("\0\0\0\x0cjP  \r\n\x87\n"), BYTES(""), 0, DECODE_JPEG2000 },
  { "JPEG 2000", "OpenJPEG", BYTES("\xff\x4f\xff\x51"), BYTES(""), 0, DECODE_JPEG2000 },
  { "PNG", "libpng", BYTES("\x89PNG\r\n\x1a\n"), BYTES(""), 0, DECODE_PNG },
  { "TIFF", "libtiff", BYTES("II*\0"), BYTES(""), 0, DECODE_TIFF },
  { "TIFF", "libtiff", BYTES("MM\0*"), BYTES(""), 0, DECODE_TIFF },
  { "TIFF", "libtiff", BYTES("II+\0"), BYTES(""), 0, DECODE_TIFF },
  { "TIFF", "libtiff", BYTES("MM\0+"), BYTES(""), 0, DECODE_TIFF },
  { "WebP", "libwebp", BYTES("RIFF"), BYTES("WEBP"), 8, DECODE_WEBP },
  { "PNM", NULL, BYTES("P1"), BYTES(""), 0, onnxl_image_decode_pnm },
  { "PNM", NULL, BYTES("P2"), BYTES(""), 0, onnxl_image_decode_pnm },
  { "PNM", NULL, BYTES("P3"), BYTES(""), 0, onnxl_image_decode_pnm },
  { "PNM", NULL, BYTES("P4"), BYTES(""), 0, onnxl_image_decode_pnm },
  { "PNM", NULL, BYTES("P5"), BYTES(""), 0, onnxl_image_decode_pnm },
  { "PNM", NULL, BYTES("P6"), BYTES(""), 0, onnxl_image_decode_pnm },
};

static const Format *
find_format(const uint8_t *data, size_t size)
{
  for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
    const Format *f = &formats[i];
    if (size >= MAX(f->magic_size, f->offset + f->more_size) && memcmp(data, f->magic, f->magic_size) == 0 &&
        memcmp(data + f->offset, f->more, f->more_size) == 0)
      return f;
  }
  return NULL;
}

bool
onnxl_image_begin(OnnxlImage *image, uint64_t width, uint64_t height)
{
  if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX)
    return false;
  image->width = (int64_t)width;
  image->height = (int64_t)height;
  if (image->gray) {
    image->pixels = onnxl_image_scratch(image, width * height, 3);
    return image->pixels != NULL;
  }
  const int64_t dims[3] = { image->height, image->width, 3 };
  OnnxlValue *y = onnxl_ctx_output(image->context, 0, ONNXL_TYPE_UINT8, 3, dims, image->error);
  image->failed = y == NULL;
  image->pixels = y ? y->data : NULL;
  return y != NULL;
}

bool
onnxl_image_load(OnnxlImage *image, bool (*load)(GError **error))
{
  image->failed = !onnxl_ctx_load(image->context, load, image->error);
  return !image->failed;
}

void *
onnxl_image_scratch(OnnxlImage *image, uint64_t count, size_t item_size)
{
  void *memory = onnxl_ctx_scratch(image->context, count, item_size, image->error);
  image->failed = image->failed || !memory;
  return memory;
}

size_t
onnxl_image_memory(const OnnxlImage *image)
{
  const OnnxlAllocator *allocator = onnxl_ctx_allocator(image->context);
  return (size_t)MIN(allocator->limit - MIN(allocator->live, allocator->limit), SIZE_MAX / 2);
}

/* Luma of ITU-R BT.601, in 16-bit fixed point. */
static uint8_t
luma(const uint8_t *rgb)
{
  return (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

static bool
run_image_decoder(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlStr wanted = onnxl_ctx_string(context, "pixel_format");
  bool gray = onnxl_str_is(wanted, "Grayscale"), bgr = onnxl_str_is(wanted, "BGR");
  if (!gray && !bgr && !onnxl_str_is(wanted, "RGB"))
    return onnxl_ctx_invalid(context, error, "pixel_format is \"%.*s\"", ONNXL_ARG(wanted));
  if (x->rank != 1)
    return onnxl_ctx_invalid(context, error, "the encoded stream has rank %u when 1 is needed", x->rank);
  const Format *format = find_format(x->data, (size_t)x->count);
  if (format && !format->decode)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_UNSUPPORTED,
                          "%s images need %s, which this program was built without", format->name, format->library);
  OnnxlImage image = { .context = context, .error = error, .gray = gray };
  bool decoded = format && format->decode(&image, x->data, (size_t)x->count);
  if (image.failed)
    return false;
  int64_t dims[3] = { image.height, image.width, gray ? 1 : 3 };
  if (!decoded) /* what cannot be decoded is an empty image by the standard */
    return onnxl_ctx_output(context, 0, ONNXL_TYPE_UINT8, 3, (const int64_t[]){ 0, 0, dims[2] }, error) != NULL;
  if (gray) {
    OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_UINT8, 3, dims, error);
    for (int64_t i = 0; y && i < y->count; i++)
      ((uint8_t *)y->data)[i] = luma(image.pixels + 3 * i);
    return y != NULL;
  }
  for (int64_t i = 0; bgr && i < image.width * image.height; i++) {
    uint8_t *pixel = image.pixels + 3 * i, red = pixel[0];
    pixel[0] = pixel[2];
    pixel[2] = red;
  }
  return true;
}
ONNXL_KERNEL(image_decoder, EXACT);
