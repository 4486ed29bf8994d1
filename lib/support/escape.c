#include "support/escape.h"

bool
onnxl_is_unsafe_char(uint32_t c)
{
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t
onnxl_utf8_next(OnnxlStr text, uint32_t *ret_char)
{
  const unsigned char *p = (const unsigned char *)text.data;
  size_t size = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
  if (size > text.size || !onnxl_str_is_utf8(onnxl_str_n(text.data, size)))
    return 0;
  uint32_t c = size == 1 ? p[0] : p[0] & (0x7f >> size);
  for (size_t i = 1; i < size; i++)
    c = c << 6 | (p[i] & 0x3f);
  *ret_char = c;
  return size;
}

size_t
onnxl_str_plain(OnnxlStr text)
{
  const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
  size_t n = 0;
  /* Eight at a time: none is from 0x80 on, and neither less 0x20 nor plus 1 does one become so. */
  for (uint64_t eight; n + sizeof eight <= text.size; n += sizeof eight) {
    memcpy(&eight, text.data + n, sizeof eight);
    if ((eight | (eight - ones * ' ') | (eight + ones)) & high)
      break;
  }
  while (n < text.size && text.data[n] >= ' ' && text.data[n] < 0x7f)
    n++;
  return n;
}

/* The character at the start, which is not plain. Returns its size in bytes. */
static size_t
output_special(OnnxlOutput *out, OnnxlStr text)
{
  uint32_t c;
  size_t size = onnxl_utf8_next(text, &c);
  if (size > 0 && !onnxl_is_unsafe_char(c))
    onnxl_output_write(out, text.data, size);
  else if (size == 1 && (c == '\n' || c == '\t' || c == '\r'))
    onnxl_output_printf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
  else if (size <= 1)
    onnxl_output_printf(out, "\\x%02x", (unsigned char)text.data[0]);
  else
    onnxl_output_printf(out, "\\u{%x}", c);
  return MAX(size, (size_t)1);
}

void
onnxl_output_escaped(OnnxlOutput *out, OnnxlStr text)
{
  while (text.size > 0) {
    size_t size = onnxl_str_plain(text);
    if (size > 0)
      onnxl_output_write(out, text.data, size);
    else
      size = output_special(out, text);
    text.data += size;
    text.size -= size;
  }
}
