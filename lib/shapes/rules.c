/* The rule of each row of the operator table. */
#include "shapes/shape-rules.h"

#define onnxl_shape_rule_NONE NULL

static const OnnxlShapeRule rules[ONNXL_N_OPS] = {
#define OP(domain, name, since, rule, ...) [ONNXL_OP_##domain##_##name##_##since] = onnxl_shape_rule_##rule,
#include "ops/all.def"
#undef OP
};

OnnxlShapeRule
onnxl_shape_rule(OnnxlOp op)
{
  return rules[op];
}
