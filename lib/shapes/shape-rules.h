/* The rules, one prototype for each name in the operator table's column, in the files shape-<family>.c. */
#ifndef ONNXL_SHAPES_SHAPE_RULES_H
#define ONNXL_SHAPES_SHAPE_RULES_H

#include "shapes/contents.h"

#define OP(domain, name, since, rule, ...) void onnxl_shape_rule_##rule(OnnxlShapeNode *n);
#include "ops/all.def"
#undef OP

#endif
