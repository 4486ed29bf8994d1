/* A buffered writer to a descriptor or to memory. Errors stick: write freely, look once at the end. */
#ifndef ONNXL_SUPPORT_OUTPUT_H
#define ONNXL_SUPPORT_OUTPUT_H

#include <glib.h>

#include "support/str.h"

typedef struct OnnxlOutput {
  char *buffer;
  size_t used;
  size_t capacity;
  int fd;           /* -1 = to memory, the buffer grows */
  int saved_errno;  /* of the first failed write, else 0 */
  uint64_t flushed; /* bytes that left the buffer */
  uint32_t column;  /* kept by callers that wrap lines */
} OnnxlOutput;

/* fd: borrowed, not closed; -1 collects in memory. */
void onnxl_output_init(OnnxlOutput *out, int fd);
void onnxl_output_clear(OnnxlOutput *out);

/* Writes out what is buffered. Returns: false with error when this or an earlier write failed. name: for the message.
 */
bool onnxl_output_flush(OnnxlOutput *out, const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Makes room for n more bytes (n may exceed the buffer); the caller writes up to n bytes there and adds to used.
 * Returns: NULL only when memory for a large n runs out. */
char *onnxl_output_reserve(OnnxlOutput *out, size_t n);

void onnxl_output_write(OnnxlOutput *out, const void *data, size_t size);
void onnxl_output_printf(OnnxlOutput *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
void onnxl_output_int64(OnnxlOutput *out, int64_t value);
void onnxl_output_uint64(OnnxlOutput *out, uint64_t value);

/* Digits of the largest 64-bit number. */
enum { ONNXL_DIGITS = 20 };

/* Writes value in decimal and returns the number of digits, not terminated. */
size_t onnxl_print_uint64(char text[ONNXL_DIGITS], uint64_t value);
void onnxl_output_spaces(OnnxlOutput *out, uint32_t n);

static inline void
onnxl_output_char(OnnxlOutput *out, char c)
{
  if (out->used < out->capacity)
    out->buffer[out->used++] = c;
  else
    onnxl_output_write(out, &c, 1);
}

static inline void
onnxl_output_str(OnnxlOutput *out, OnnxlStr s)
{
  onnxl_output_write(out, s.data, s.size);
}

static inline void
onnxl_output_text(OnnxlOutput *out, const char *text)
{
  onnxl_output_write(out, text, strlen(text));
}

/* Bytes written so far, flushed or not. */
static inline uint64_t
onnxl_output_position(const OnnxlOutput *out)
{
  return out->flushed + out->used;
}

/* To memory only: the bytes so far, NUL-terminated behind the end; borrowed until the next write. */
OnnxlStr onnxl_output_memory(OnnxlOutput *out);

#endif
