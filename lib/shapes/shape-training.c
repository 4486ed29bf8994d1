/* Domain ai.onnx.preview.training. The optimizers take R, T, then the tensors X, their gradients and their states, and
 * give the new X and states: outputs in the order of the inputs without the gradients. */
#include "shapes/shape-rules.h"

static void
optimizer(OnnxlShapeNode *n, uint32_t states)
{
  if (n->n_inputs < 2 || (n->n_inputs - 2) % (2 + states) != 0)
    return;
  uint32_t tensors = (n->n_inputs - 2) / (2 + states);
  for (uint32_t i = 0; i < n->n_outputs && i < tensors * (1 + states); i++) {
    uint32_t from = 2 + (i < tensors ? i : i + tensors);
    const OnnxlInfo *info = onnxl_shape_ranked(n, from);
    onnxl_shape_same(n, i, info);
    if (info)
      n->outputs[i].elem_type = info->elem_type;
  }
}

void
onnxl_shape_rule_optimizer_1(OnnxlShapeNode *n)
{
  optimizer(n, 1);
}

void
onnxl_shape_rule_optimizer_2(OnnxlShapeNode *n)
{
  optimizer(n, 2);
}

/* Output i is the derivative by input i. */
void
onnxl_shape_rule_gradient(OnnxlShapeNode *n)
{
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    const OnnxlInfo *info = onnxl_shape_ranked(n, i);
    onnxl_shape_same(n, i, info);
    if (info)
      n->outputs[i].elem_type = info->elem_type;
  }
}
