/* Functions of one element, shared by elementwise operators and activations. */
#ifndef ONNXL_RUNTIME_UNARY_INTERNAL_H
#define ONNXL_RUNTIME_UNARY_INTERNAL_H

#include "runtime/kernel.h"

/* The kernel of that name: each element x becomes the expression of its type, of FLOAT or DOUBLE. declarations: of what
 * both expressions use besides, such as attributes, without the last semicolon. */
#define ONNXL_REAL_FUNCTION(name, declarations, float_expression, double_expression)                            \
  static bool run_##name(OnnxlKernelContext *context, GError **error)                                           \
  {                                                                                                             \
    OnnxlValue *input = onnxl_ctx_input(context, 0), *output = onnxl_ctx_output_like(context, 0, input, error); \
    declarations;                                                                                               \
    if (!output)                                                                                                \
      return false;                                                                                             \
    if (input->elem_type == ONNXL_TYPE_DOUBLE)                                                                  \
      for (int64_t i = 0; i < input->count; i++) {                                                              \
        double x = ((const double *)input->data)[i];                                                            \
        ((double *)output->data)[i] = (double_expression);                                                      \
      }                                                                                                         \
    else if (input->elem_type == ONNXL_TYPE_FLOAT)                                                              \
      for (int64_t i = 0; i < input->count; i++) {                                                              \
        float x = ((const float *)input->data)[i];                                                              \
        ((float *)output->data)[i] = (float_expression);                                                        \
      }                                                                                                         \
    else                                                                                                        \
      return onnxl_ctx_unsupported_type(context, error, input->elem_type);                                      \
    return true;                                                                                                \
  }                                                                                                             \
  ONNXL_KERNEL(name, COMPUTES)

#endif
