/* JPEG 2000 by OpenJPEG: files (JP2) and bare codestreams. */
#include "runtime/image-internal.h"

#include <openjpeg.h>

#include "runtime/library.h"

#define FUNCTIONS(F)                                                                                   \
  F(opj_set_default_decoder_parameters)                                                                \
  F(opj_setup_decoder) F(opj_read_header) F(opj_decode) F(opj_end_decompress) F(opj_create_decompress) \
    F(opj_stream_create) F(opj_stream_set_user_data) F(opj_stream_set_user_data_length)                \
      F(opj_stream_set_read_function) F(opj_stream_set_skip_function) F(opj_stream_set_seek_function)  \
        F(opj_image_destroy) F(opj_stream_destroy) F(opj_destroy_codec)
ONNXL_LIBRARY("jpeg2000", ONNXL_SONAME_JPEG2000, "JPEG 2000 images", FUNCTIONS)

typedef struct Source {
  const uint8_t *data;
  size_t size, at;
} Source;

static OPJ_SIZE_T
read_bytes(void *to, OPJ_SIZE_T n, void *data)
{
  Source *source = data;
  size_t count = MIN(n, source->size - source->at);
  if (count == 0)
    return (OPJ_SIZE_T)-1;
  memcpy(to, source->data + source->at, count);
  source->at += count;
  return count;
}

static OPJ_OFF_T
skip_bytes(OPJ_OFF_T n, void *data)
{
  Source *source = data;
  if (n < 0 || source->at == source->size)
    return -1;
  size_t count = MIN((size_t)n, source->size - source->at);
  source->at += count;
  return (OPJ_OFF_T)count;
}

static OPJ_BOOL
seek(OPJ_OFF_T offset, void *data)
{
  Source *source = data;
  if (offset < 0 || (size_t)offset > source->size)
    return OPJ_FALSE;
  source->at = (size_t)offset;
  return OPJ_TRUE;
}

/* A sample at a pixel of the image as 0 to 255; chroma may have fewer samples than the image has pixels. */
static int
sample(const opj_image_comp_t *component, int64_t x, int64_t y)
{
  int64_t column = MIN(x / component->dx, component->w - 1), row = MIN(y / component->dy, component->h - 1);
  int64_t value = component->data[row * component->w + column], max = (INT64_C(1) << component->prec) - 1;
  value += component->sgnd ? INT64_C(1) << (component->prec - 1) : 0;
  value = CLAMP(value, 0, max);
  return (int)(component->prec > 8 ? value >> (component->prec - 8) : component->prec == 8 ? value : value * 255 / max);
}

static bool
has_good_components(const opj_image_t *decoded)
{
  for (uint32_t i = 0; i < decoded->numcomps; i++) {
    const opj_image_comp_t *c = &decoded->comps[i];
    if (!c->data || c->w < 1 || c->h < 1 || c->dx < 1 || c->dy < 1 || c->prec < 1 || c->prec > 31)
      return false;
  }
  return decoded->numcomps > 0;
}

static void
copy_pixels(OnnxlImage *image, const opj_image_t *decoded)
{
  bool colors = decoded->numcomps >= 3;
  /* Chroma with fewer samples is never red or blue, whatever the file says or leaves out. */
  bool luma = colors && (decoded->color_space == OPJ_CLRSPC_SYCC ||
                         (decoded->comps[0].dx == 1 && (decoded->comps[1].dx > 1 || decoded->comps[2].dx > 1)));
  for (int64_t y = 0; y < image->height; y++) {
    uint8_t *to = onnxl_image_row(image, y);
    for (int64_t x = 0; x < image->width; x++, to += 3) {
      int a = sample(&decoded->comps[0], x, y), b = colors ? sample(&decoded->comps[1], x, y) : a;
      int c = colors ? sample(&decoded->comps[2], x, y) : a;
      if (luma) { /* ITU-R BT.601, in 16-bit fixed point */
        int blue = b - 128, red = c - 128, first = a * 65536 + 32768;
        a = (first + 91881 * red) >> 16;
        c = first + 116130 * blue;
        b = (first - 22554 * blue - 46802 * red) >> 16;
        c >>= 16;
      }
      to[0] = (uint8_t)CLAMP(a, 0, 255);
      to[1] = (uint8_t)CLAMP(b, 0, 255);
      to[2] = (uint8_t)CLAMP(c, 0, 255);
    }
  }
}

/* ret_decoded: freed by the caller, also after a failure. */
static bool
decode(OnnxlImage *image, opj_codec_t *codec, opj_stream_t *stream, opj_image_t **ret_decoded)
{
  opj_dparameters_t parameters;
  lib.opj_set_default_decoder_parameters(&parameters);
  if (!lib.opj_setup_decoder(codec, &parameters) || !lib.opj_read_header(stream, codec, ret_decoded))
    return false;
  const opj_image_t *header = *ret_decoded;
  if (header->x1 <= header->x0 || header->y1 <= header->y0)
    return false;
  uint64_t width = header->x1 - header->x0, height = header->y1 - header->y0;
  /* The library holds four bytes for each sample, twice while it decodes. */
  if (width * height > onnxl_image_memory(image) / 8 / MAX(header->numcomps, 1)) {
    image->failed = true;
    return onnxl_ctx_fail(image->context, image->error, ONNXL_ERROR_LIMIT,
                          "an image of %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT " pixels is too large", width,
                          height);
  }
  return onnxl_image_begin(image, width, height) && lib.opj_decode(codec, stream, *ret_decoded) &&
         lib.opj_end_decompress(codec, stream) && has_good_components(*ret_decoded);
}

bool
onnxl_image_decode_jpeg2000(OnnxlImage *image, const uint8_t *data, size_t size)
{
  if (!onnxl_image_load(image, load_library))
    return false;
  Source source = { data, size, 0 };
  opj_codec_t *codec = lib.opj_create_decompress(data[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  opj_stream_t *stream = lib.opj_stream_create(MIN(size, 1 << 20), OPJ_TRUE);
  opj_image_t *decoded = NULL;
  bool good = false;
  if (codec && stream) {
    lib.opj_stream_set_user_data(stream, &source, NULL);
    lib.opj_stream_set_user_data_length(stream, size);
    lib.opj_stream_set_read_function(stream, read_bytes);
    lib.opj_stream_set_skip_function(stream, skip_bytes);
    lib.opj_stream_set_seek_function(stream, seek);
    good = decode(image, codec, stream, &decoded);
    if (good)
      copy_pixels(image, decoded);
  }
  lib.opj_image_destroy(decoded);
  if (stream)
    lib.opj_stream_destroy(stream);
  if (codec)
    lib.opj_destroy_codec(codec);
  return good;
}
