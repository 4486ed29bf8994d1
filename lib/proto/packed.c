#include "proto/packed.h"

bool
onnxl_packed_varint(const char **at, const char *end, uint64_t *ret_value)
{
  const uint8_t *p = (const uint8_t *)*at;
  const uint8_t *limit = (const uint8_t *)end;
  uint64_t value = 0;

  for (uint32_t shift = 0; shift < 70 && p < limit; shift += 7) {
    uint8_t byte = *p++;
    value |= (uint64_t)(byte & 0x7f) << shift; /* of the tenth byte one bit is left, as in protobuf */
    if (byte < 0x80) {
      *at = (const char *)p;
      *ret_value = value;
      return true;
    }
  }
  return false;
}

bool
onnxl_packed_count(OnnxlPacked packed, uint32_t element_size, uint64_t *ret_count)
{
  uint64_t count = 0;

  if (element_size > 0) {
    *ret_count = packed.bytes.size / element_size;
    return packed.bytes.size % element_size == 0;
  }
  /* A varint ends with the first byte below 0x80. */
  for (size_t i = 0; i < packed.bytes.size; i++)
    count += (uint8_t)packed.bytes.data[i] < 0x80;
  *ret_count = count;
  return packed.bytes.size == 0 || (uint8_t)packed.bytes.data[packed.bytes.size - 1] < 0x80;
}

bool
onnxl_packed_append_bytes(OnnxlPackedBuilder *builder, const void *bytes, size_t size)
{
  while (builder->size + size > builder->capacity)
    if (!onnxl_arena_grow(builder->arena, (void **)&builder->bytes, builder->capacity, &builder->capacity, 1))
      return false;
  if (size > 0)
    memcpy(builder->bytes + builder->size, bytes, size);
  builder->size += size;
  return true;
}

bool
onnxl_packed_append_varint(OnnxlPackedBuilder *builder, uint64_t value)
{
  uint8_t bytes[10];
  size_t n = 0;

  do {
    bytes[n++] = (uint8_t)(value | 0x80);
    value >>= 7;
  } while (value > 0);
  bytes[n - 1] &= 0x7f;
  return onnxl_packed_append_bytes(builder, bytes, n);
}

OnnxlPacked
onnxl_packed_finish(const OnnxlPackedBuilder *builder)
{
  return (OnnxlPacked){ onnxl_str_n(builder->bytes, builder->size) };
}
