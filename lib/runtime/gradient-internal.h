/* How operators are differentiated, for the operator Gradient. */
#ifndef ONNXL_RUNTIME_GRADIENT_INTERNAL_H
#define ONNXL_RUNTIME_GRADIENT_INTERNAL_H

#include "runtime/kernel.h"

/* A node that has been run, its tensors as double. */
typedef struct OnnxlGradientNode {
  OnnxlKernelContext *context; /* of this node: its attributes, and its name in messages */
  OnnxlValue *const *inputs;   /* NULL: omitted */
  uint32_t n_inputs;
  const OnnxlValue *output; /* its first one */
  OnnxlValue *gradient;     /* of the result by the output */
} OnnxlGradientNode;

typedef struct OnnxlGradientRule OnnxlGradientRule;

/* The rule for an operator's version, or NULL. */
const OnnxlGradientRule *onnxl_gradient_rule(const OnnxlOpSchema *schema);

/* The gradient of the result by input i, in the shape of the input. Returns: owned; NULL with error. */
OnnxlValue *onnxl_gradient_apply(const OnnxlGradientRule *rule, const OnnxlGradientNode *node, uint32_t i,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
