#include "memory/convert-internal.h"

#include "runtime/kernel.h"
#include "unit.h"

/* What lib/memory says of an operator is what its kernel says. */
static void
test_kernels(void)
{
  static const struct {
    int32_t type;
    uint32_t bits[3]; /* by OnnxlKernelTypes */
  } types[] = {
    { ONNXL_TYPE_FLOAT, { 32, 32, 32 } },    { ONNXL_TYPE_FLOAT16, { 16, 16, 32 } },
    { ONNXL_TYPE_BFLOAT16, { 16, 16, 32 } }, { ONNXL_TYPE_FLOAT8E5M2, { 8, 8, 32 } },
    { ONNXL_TYPE_FLOAT4E2M1, { 4, 8, 32 } }, { ONNXL_TYPE_INT16, { 16, 16, 16 } },
    { ONNXL_TYPE_INT4, { 4, 8, 8 } },        { ONNXL_TYPE_UINT2, { 2, 8, 8 } },
    { ONNXL_TYPE_STRING, { 0, 0, 0 } },
  };

  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema((OnnxlOp)op);
    const OnnxlKernel *kernel = onnxl_kernel_of((OnnxlOp)op);
    for (size_t i = 0; kernel && i < G_N_ELEMENTS(types); i++) {
      uint32_t bits = onnxl_converted_bits(schema, types[i].type);
      if (bits != types[i].bits[kernel->types])
        printf("\n%s-%d: %s arrives with %u bits, not %u\n", schema->name, schema->since,
               onnxl_data_type_name(types[i].type), types[i].bits[kernel->types], bits);
      CU_ASSERT_EQUAL(bits, types[i].bits[kernel->types]);
    }
  }
}

UNIT_MAIN("conversions around kernels", { "types of kernels", test_kernels })
