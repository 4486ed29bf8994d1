/* Hostile bytes on their way to a terminal: names and messages come from the input and must not drive the terminal. */
#ifndef ONNXL_SUPPORT_ESCAPE_H
#define ONNXL_SUPPORT_ESCAPE_H

#include "support/output.h"

/* True for control characters and for those that turn the direction of text or cannot be seen. c: a code point. */
bool onnxl_is_unsafe_char(uint32_t c);

/* Takes the character at the start of a text that is not empty. Returns its size in bytes and sets *ret_char, or
 * returns 0 when the first byte starts no valid UTF-8 sequence. */
size_t onnxl_utf8_next(OnnxlStr text, uint32_t *ret_char);

/* How many bytes at the start are printable ASCII, which a terminal shows as they are, one column each. */
size_t onnxl_str_plain(OnnxlStr text);

/* Writes text with unsafe characters as \n, \t, \r, \xhh or \u{h} and stray bytes as \xhh. */
void onnxl_output_escaped(OnnxlOutput *out, OnnxlStr text);

#endif
