/* What onnxl-shapes --explain prints. */
#ifndef ONNXL_TOOLS_SHAPES_EXPLAIN_H
#define ONNXL_TOOLS_SHAPES_EXPLAIN_H

#include "shapes/infer.h"

/* Writes a line for the value of that name and for each value its shape was inferred from, back to inputs and
 * initializers, then the constraints over the symbols that were met. A name that several nested graphs have means the
 * first. Paths live in arena. Error ONNXL_ERROR_USAGE: no such value in the main graph or a graph nested in it. */
bool onnxl_shapes_explain(const OnnxlInference *inference, OnnxlStr value, OnnxlArena *arena, OnnxlOutput *out,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
