/* What --eval makes of sizes: values that the user gives to symbols, and those that follow. */
#ifndef ONNXL_TOOLS_SHAPES_SOLUTION_H
#define ONNXL_TOOLS_SHAPES_SOLUTION_H

#include "cli/bindings.h"
#include "shapes/infer.h"

typedef struct OnnxlShapesSolution OnnxlShapesSolution;

/* Takes the values of bindings; equalities of inference with one unknown left give its value: 2*N == M with M = 8 says
 * N. Names are borrowed. */
OnnxlShapesSolution *onnxl_shapes_solution_new(const OnnxlInference *inference, const OnnxlBindings *bindings);
void onnxl_shapes_solution_free(OnnxlShapesSolution *solution);

/* e, which is not NULL, with the values put in. Returns: NULL when that does not fit in 64 bits. */
OnnxlExpr onnxl_shapes_solution_evaluate(const OnnxlShapesSolution *solution, OnnxlExpr e);

#endif
