/* Names and sizes of element types and attribute types. */
#include "proto/model.h"

static const struct {
  const char *name;
  uint32_t bits;
} data_types[ONNXL_N_TYPES] = {
  [ONNXL_TYPE_FLOAT] = { "float", 32 },
  [ONNXL_TYPE_UINT8] = { "uint8", 8 },
  [ONNXL_TYPE_INT8] = { "int8", 8 },
  [ONNXL_TYPE_UINT16] = { "uint16", 16 },
  [ONNXL_TYPE_INT16] = { "int16", 16 },
  [ONNXL_TYPE_INT32] = { "int32", 32 },
  [ONNXL_TYPE_INT64] = { "int64", 64 },
  [ONNXL_TYPE_STRING] = { "string", 0 },
  [ONNXL_TYPE_BOOL] = { "bool", 8 },
  [ONNXL_TYPE_FLOAT16] = { "float16", 16 },
  [ONNXL_TYPE_DOUBLE] = { "double", 64 },
  [ONNXL_TYPE_UINT32] = { "uint32", 32 },
  [ONNXL_TYPE_UINT64] = { "uint64", 64 },
  [ONNXL_TYPE_COMPLEX64] = { "complex64", 64 },
  [ONNXL_TYPE_COMPLEX128] = { "complex128", 128 },
  [ONNXL_TYPE_BFLOAT16] = { "bfloat16", 16 },
  [ONNXL_TYPE_FLOAT8E4M3FN] = { "float8e4m3fn", 8 },
  [ONNXL_TYPE_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", 8 },
  [ONNXL_TYPE_FLOAT8E5M2] = { "float8e5m2", 8 },
  [ONNXL_TYPE_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", 8 },
  [ONNXL_TYPE_UINT4] = { "uint4", 4 },
  [ONNXL_TYPE_INT4] = { "int4", 4 },
  [ONNXL_TYPE_FLOAT4E2M1] = { "float4e2m1", 4 },
  [ONNXL_TYPE_FLOAT8E8M0] = { "float8e8m0", 8 },
  [ONNXL_TYPE_UINT2] = { "uint2", 2 },
  [ONNXL_TYPE_INT2] = { "int2", 2 },
};

static const char *const attribute_types[ONNXL_N_ATTRIBUTE_TYPES] = {
  [ONNXL_ATTRIBUTE_FLOAT] = "float",
  [ONNXL_ATTRIBUTE_INT] = "int",
  [ONNXL_ATTRIBUTE_STRING] = "string",
  [ONNXL_ATTRIBUTE_TENSOR] = "tensor",
  [ONNXL_ATTRIBUTE_GRAPH] = "graph",
  [ONNXL_ATTRIBUTE_FLOATS] = "floats",
  [ONNXL_ATTRIBUTE_INTS] = "ints",
  [ONNXL_ATTRIBUTE_STRINGS] = "strings",
  [ONNXL_ATTRIBUTE_TENSORS] = "tensors",
  [ONNXL_ATTRIBUTE_GRAPHS] = "graphs",
  [ONNXL_ATTRIBUTE_SPARSE_TENSOR] = "sparse_tensor",
  [ONNXL_ATTRIBUTE_SPARSE_TENSORS] = "sparse_tensors",
  [ONNXL_ATTRIBUTE_TYPE_PROTO] = "type_proto",
  [ONNXL_ATTRIBUTE_TYPE_PROTOS] = "type_protos",
};

const char *
onnxl_data_type_name(int32_t type)
{
  return type > 0 && type < ONNXL_N_TYPES ? data_types[type].name : NULL;
}

OnnxlDataType
onnxl_data_type_from_name(OnnxlStr name)
{
  for (int32_t type = 1; type < ONNXL_N_TYPES; type++)
    if (onnxl_str_is(name, data_types[type].name))
      return type;
  return ONNXL_TYPE_UNDEFINED;
}

uint32_t
onnxl_data_type_bits(int32_t type)
{
  return type > 0 && type < ONNXL_N_TYPES ? data_types[type].bits : 0;
}

bool
onnxl_data_type_bytes(int32_t type, int64_t count, uint64_t *ret_bytes)
{
  uint64_t bits = onnxl_data_type_bits(type);
  uint64_t total;

  if (bits == 0 || count < 0)
    return false;
  if (bits >= 8) {
    if (__builtin_mul_overflow((uint64_t)count, bits / 8, &total))
      return false;
  } else {
    uint64_t per_byte = 8 / bits;
    total = (uint64_t)count / per_byte + ((uint64_t)count % per_byte != 0);
  }
  *ret_bytes = total;
  return true;
}

const char *
onnxl_attribute_type_name(int32_t type)
{
  return type > 0 && type < ONNXL_N_ATTRIBUTE_TYPES ? attribute_types[type] : NULL;
}

OnnxlAttributeType
onnxl_attribute_type_from_name(OnnxlStr name)
{
  for (int32_t type = 1; type < ONNXL_N_ATTRIBUTE_TYPES; type++)
    if (onnxl_str_is(name, attribute_types[type]))
      return type;
  return ONNXL_ATTRIBUTE_UNDEFINED;
}
