#include "support/output.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "support/error.h"
#include "support/size.h"

enum { BUFFER_SIZE = 64 << 10 };

void
onnxl_output_init(OnnxlOutput *out, int fd)
{
  *out = (OnnxlOutput){ .fd = fd };
}

void
onnxl_output_clear(OnnxlOutput *out)
{
  g_free(out->buffer);
  *out = (OnnxlOutput){ .fd = -1 };
}

/* Writes bytes to the descriptor, unless an earlier write failed. */
static void
put_bytes(OnnxlOutput *out, const char *data, size_t size)
{
  out->flushed += size;
  while (size > 0 && out->saved_errno == 0) {
    ssize_t n = write(out->fd, data, size);
    if (n > 0) {
      data += n;
      size -= (size_t)n;
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      /* Someone made the descriptor non-blocking for another process too, so it stays so: wait. */
      struct pollfd wait = { .fd = out->fd, .events = POLLOUT };
      poll(&wait, 1, -1);
    } else if (n == 0 || errno != EINTR) {
      out->saved_errno = n == 0 ? EIO : errno;
    }
  }
}

static void
drain(OnnxlOutput *out)
{
  put_bytes(out, out->buffer, out->used);
  out->used = 0;
}

bool
onnxl_output_flush(OnnxlOutput *out, const char *name, GError **error)
{
  if (out->fd >= 0)
    drain(out);
  if (out->saved_errno != 0)
    return onnxl_error_errno(error, out->saved_errno, "cannot write %s", name);
  return true;
}

/* In memory the failure to grow drops what was written, so that small writes still have room; the error sticks. */
static bool
grow(OnnxlOutput *out, size_t n)
{
  size_t wanted = MAX(out->capacity, (size_t)BUFFER_SIZE / 64), needed;
  char *buffer = NULL;
  if (onnxl_size_add(out->used, n, &needed)) {
    while (wanted < needed && wanted <= SIZE_MAX / 2)
      wanted *= 2;
    buffer = wanted >= needed ? g_try_realloc(out->buffer, wanted) : NULL;
  }
  if (!buffer) {
    out->saved_errno = ENOMEM;
    out->used = 0;
    return n <= out->capacity;
  }
  out->buffer = buffer;
  out->capacity = wanted;
  return true;
}

char *
onnxl_output_reserve(OnnxlOutput *out, size_t n)
{
  if (out->fd >= 0) {
    if (!out->buffer) {
      out->buffer = g_malloc(BUFFER_SIZE);
      out->capacity = BUFFER_SIZE;
    }
    if (n > out->capacity - out->used)
      drain(out);
  }
  if (n > out->capacity - out->used && !grow(out, n))
    return NULL;
  return out->buffer + out->used;
}

void
onnxl_output_write(OnnxlOutput *out, const void *data, size_t size)
{
  if (size == 0)
    return;
  if (size > out->capacity - out->used) {
    if (out->fd >= 0 && size >= BUFFER_SIZE) {
      drain(out);
      put_bytes(out, data, size);
      return;
    }
    if (!onnxl_output_reserve(out, size))
      return;
  }
  memcpy(out->buffer + out->used, data, size);
  out->used += size;
}

void
onnxl_output_printf(OnnxlOutput *out, const char *format, ...)
{
  char small[512];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (length < 0)
    return;
  if ((size_t)length < sizeof small) {
    onnxl_output_write(out, small, (size_t)length);
    return;
  }
  char *room = onnxl_output_reserve(out, (size_t)length + 1);
  if (!room)
    return;
  va_start(args, format);
  vsnprintf(room, (size_t)length + 1, format, args);
  va_end(args);
  out->used += (size_t)length;
}

size_t
onnxl_print_uint64(char text[ONNXL_DIGITS], uint64_t value)
{
  char digits[ONNXL_DIGITS];
  char *end = digits + sizeof digits, *p = end;
  do {
    *--p = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  memcpy(text, p, (size_t)(end - p));
  return (size_t)(end - p);
}

void
onnxl_output_uint64(OnnxlOutput *out, uint64_t value)
{
  char digits[ONNXL_DIGITS];
  onnxl_output_write(out, digits, onnxl_print_uint64(digits, value));
}

void
onnxl_output_int64(OnnxlOutput *out, int64_t value)
{
  if (value < 0)
    onnxl_output_char(out, '-');
  onnxl_output_uint64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void
onnxl_output_spaces(OnnxlOutput *out, uint32_t n)
{
  static const char blanks[] = "                                                                ";
  if (n < sizeof blanks && out->capacity - out->used >= sizeof blanks) {
    memcpy(out->buffer + out->used, blanks, sizeof blanks); /* a constant size is one or two instructions */
    out->used += n;
    return;
  }
  for (; n > 0; n -= MIN(n, (uint32_t)sizeof blanks - 1))
    onnxl_output_write(out, blanks, MIN(n, (uint32_t)sizeof blanks - 1));
}

OnnxlStr
onnxl_output_memory(OnnxlOutput *out)
{
  char *end = onnxl_output_reserve(out, 1);
  if (!end)
    return ONNXL_STR("");
  *end = '\0';
  return (OnnxlStr){ out->buffer, out->used };
}
