/* Reading packed lists of numbers one by one, where they lie. */
#ifndef ONNXL_PROTO_PACKED_H
#define ONNXL_PROTO_PACKED_H

#include "proto/model.h"

/* Number of values: of fixed-size values in constant time, of varints by looking at each byte. False: the bytes end
 * inside a value. element_size: 4 or 8 for fixed-size values, 0 for varints. */
bool onnxl_packed_count(OnnxlPacked packed, uint32_t element_size, uint64_t *ret_count);

/* Reads the varint at *at and moves *at behind it. False: no whole varint before end. */
bool onnxl_packed_varint(const char **at, const char *end, uint64_t *ret_value);

/* Appends to a growing packed list made in memory. */
typedef struct OnnxlPackedBuilder {
  OnnxlArena *arena;
  char *bytes;
  size_t size;
  size_t capacity;
} OnnxlPackedBuilder;

bool onnxl_packed_append_varint(OnnxlPackedBuilder *builder, uint64_t value);
bool onnxl_packed_append_bytes(OnnxlPackedBuilder *builder, const void *bytes, size_t size);
OnnxlPacked onnxl_packed_finish(const OnnxlPackedBuilder *builder);

#endif
