/* Nested graphs, for the operators that run some. */
#ifndef ONNXL_SHAPES_SHAPE_CONTROL_INTERNAL_H
#define ONNXL_SHAPES_SHAPE_CONTROL_INTERNAL_H

#include "shapes/shape-internal.h"

/* The node's graph of that attribute, ONNXL_NONE when it has none. */
uint32_t onnxl_shape_subgraph(const OnnxlShapeNode *n, const char *attribute);

/* Infers a nested graph with its first n_inputs inputs set. False: the walk ended. */
bool onnxl_shape_run_graph(OnnxlShapeNode *n, uint32_t graph, const OnnxlInfo *inputs, uint32_t n_inputs);

/* What was found of its output i, NULL when it has none. */
const OnnxlInfo *onnxl_shape_graph_output(const OnnxlShapeNode *n, uint32_t graph, uint32_t i);

#endif
