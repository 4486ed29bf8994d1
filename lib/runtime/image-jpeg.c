/* JPEG by libjpeg, whose default way to upsample chroma is the one that ONNX asks for. */
#include <stdio.h> /* before jpeglib.h, which does not include what it needs */

#include "runtime/image-internal.h"

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>

#include "runtime/library.h"

#define FUNCTIONS(F)                                                                                            \
  F(jpeg_CreateDecompress)                                                                                      \
  F(jpeg_mem_src) F(jpeg_read_header) F(jpeg_start_decompress) F(jpeg_read_scanlines) F(jpeg_finish_decompress) \
    F(jpeg_std_error) F(jpeg_destroy_decompress)
ONNXL_LIBRARY("jpeg", ONNXL_SONAME_JPEG, "JPEG images", FUNCTIONS)

enum { MAX_SCANS = 500 }; /* of a progressive file; each costs time for the whole image, however short it is */

typedef struct Decoder {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf escape;
} Decoder;

static void G_GNUC_NORETURN
fail_silently(j_common_ptr info)
{
  longjmp(((Decoder *)info->client_data)->escape, 1);
}

/* libjpeg goes on with gray where data are missing; here such a file is broken. */
static void
check_warning(j_common_ptr info, int level)
{
  int code = info->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
    fail_silently(info);
}

static void
check_scans(j_common_ptr info)
{
  if (((j_decompress_ptr)info)->input_scan_number > MAX_SCANS)
    fail_silently(info);
}

/* Inks to light. Adobe's files hold them inverted. */
static void
convert_inks(const uint8_t *inks, int64_t width, bool inverted, uint8_t *rgb)
{
  for (int64_t x = 0; x < width; x++)
    for (int c = 0; c < 3; c++) {
      unsigned ink = inks[4 * x + c], black = inks[4 * x + 3];
      if (!inverted) {
        ink = 255 - ink;
        black = 255 - black;
      }
      rgb[3 * x + c] = (uint8_t)((ink * black + 127) / 255);
    }
}

/* Runs under the caller's setjmp. */
static bool
decode(OnnxlImage *image, Decoder *d, const uint8_t *data, size_t size)
{
  lib.jpeg_CreateDecompress(&d->info, JPEG_LIB_VERSION, sizeof d->info);
  d->info.progress = &d->progress;
  lib.jpeg_mem_src(&d->info, data, size);
  lib.jpeg_read_header(&d->info, TRUE);
  bool has_inks = d->info.num_components == 4;
  d->info.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
  if (!onnxl_image_begin(image, d->info.image_width, d->info.image_height))
    return false;
  uint8_t *inks = has_inks ? onnxl_image_scratch(image, (uint64_t)image->width, 4) : NULL;
  if (has_inks && !inks)
    return false;
  d->info.mem->max_memory_to_use = (long)MIN(onnxl_image_memory(image), (size_t)LONG_MAX);
  lib.jpeg_start_decompress(&d->info);
  while (d->info.output_scanline < d->info.output_height) {
    uint8_t *row = onnxl_image_row(image, d->info.output_scanline);
    JSAMPROW to = has_inks ? inks : row;
    if (lib.jpeg_read_scanlines(&d->info, &to, 1) == 1 && has_inks)
      convert_inks(inks, image->width, d->info.saw_Adobe_marker, row);
  }
  lib.jpeg_finish_decompress(&d->info);
  return true;
}

bool
onnxl_image_decode_jpeg(OnnxlImage *image, const uint8_t *data, size_t size)
{
  if (!onnxl_image_load(image, load_library))
    return false;
  Decoder d = { .progress.progress_monitor = check_scans };
  volatile bool good = false;
  d.info.err = lib.jpeg_std_error(&d.errors);
  d.info.client_data = &d;
  d.errors.error_exit = fail_silently;
  d.errors.emit_message = check_warning;
  if (setjmp(d.escape) == 0)
    good = decode(image, &d, data, size);
  lib.jpeg_destroy_decompress(&d.info);
  return good;
}
