/* Strings with a length, as the wire format has them: any bytes, NUL included, not terminated. */
#ifndef ONNXL_SUPPORT_STR_H
#define ONNXL_SUPPORT_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Borrowed bytes. data == NULL means "absent", which is not the same as present and empty. */
typedef struct OnnxlStr {
  const char *data;
  size_t size;
} OnnxlStr;

#define ONNXL_STR(literal) ((OnnxlStr){ (literal), sizeof(literal) - 1 })

/* For printf: "%.*s" with ONNXL_ARG(s). */
#define ONNXL_ARG(s) (int)((s).size > INT32_MAX ? INT32_MAX : (s).size), ((s).data ? (s).data : "")

static inline OnnxlStr
onnxl_str(const char *text)
{
  return (OnnxlStr){ text, text ? strlen(text) : 0 };
}

static inline OnnxlStr
onnxl_str_n(const char *data, size_t size)
{
  return (OnnxlStr){ data, size };
}

/* Equal bytes; absent equals empty. */
static inline bool
onnxl_str_equal(OnnxlStr a, OnnxlStr b)
{
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static inline bool
onnxl_str_is(OnnxlStr a, const char *text)
{
  return onnxl_str_equal(a, onnxl_str(text));
}

static inline bool
onnxl_str_is_empty(OnnxlStr a)
{
  return a.size == 0;
}

/* Byte order, shorter first when one is a prefix of the other. Returns <0, 0, >0. */
int onnxl_str_compare(OnnxlStr a, OnnxlStr b);

/* 64-bit hash, the same on every machine (but never let hash order reach an output). */
uint64_t onnxl_str_hash(OnnxlStr a);

/* True for valid UTF-8 (NUL is valid). */
bool onnxl_str_is_utf8(OnnxlStr a);

/* True for [A-Za-z_][A-Za-z0-9_]*. */
bool onnxl_str_is_identifier(OnnxlStr a);

/* Reads a whole text as a plain decimal number, digits only, no sign, no blanks. False: not such a number or above max.
 */
bool onnxl_str_to_uint64(OnnxlStr a, uint64_t max, uint64_t *ret_value);

#endif
