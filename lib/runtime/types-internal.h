/* Lists of element types for loops that are written once: X(TYPE, C type, unsigned type to compute in). Arithmetic on
 * integers wraps; it is done in an unsigned type, because signed overflow is undefined in C. */
#ifndef ONNXL_RUNTIME_TYPES_INTERNAL_H
#define ONNXL_RUNTIME_TYPES_INTERNAL_H

#include <stdint.h>

#define ONNXL_SIGNED_TYPES(X) \
  X(INT8, int8_t, uint32_t) X(INT16, int16_t, uint32_t) X(INT32, int32_t, uint32_t) X(INT64, int64_t, uint64_t)
#define ONNXL_UNSIGNED_TYPES(X) \
  X(UINT8, uint8_t, uint32_t) X(UINT16, uint16_t, uint32_t) X(UINT32, uint32_t, uint32_t) X(UINT64, uint64_t, uint64_t)
#define ONNXL_INTEGER_TYPES(X) ONNXL_SIGNED_TYPES(X) ONNXL_UNSIGNED_TYPES(X)
#define ONNXL_FLOAT_TYPES(X) X(FLOAT, float, float) X(DOUBLE, double, double)
#define ONNXL_REAL_TYPES(X) ONNXL_FLOAT_TYPES(X) ONNXL_INTEGER_TYPES(X)

/* Unsigned types that stand for any element of that many bytes, for kernels that only move: X(bytes, C type). */
typedef struct Bytes16 {
  uint64_t words[2];
} Bytes16;
#define ONNXL_MOVED_SIZES(X) X(1, uint8_t) X(2, uint16_t) X(4, uint32_t) X(8, uint64_t) X(16, Bytes16)

#endif
