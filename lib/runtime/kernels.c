/* The operator table's kernel column, expanded: a row that names a kernel nobody wrote does not link. */
#include "runtime/kernel.h"

#define OP(domain, name, since, rule, inplace, kernel, ...) extern const OnnxlKernel onnxl_kernel_##kernel;
#include "ops/all.def"
#undef OP

#define onnxl_kernel_NONE (*(const OnnxlKernel *)NULL)

static const OnnxlKernel *const kernels[ONNXL_N_OPS] = {
#define OP(domain, name, since, rule, inplace, kernel, ...) \
  [ONNXL_OP_##domain##_##name##_##since] = &onnxl_kernel_##kernel,
#include "ops/all.def"
#undef OP
};

const OnnxlKernel *
onnxl_kernel_of(OnnxlOp op)
{
  return kernels[op];
}
