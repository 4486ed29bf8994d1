/* A model as a drawing for Graphviz. */
#ifndef ONNXL_PROTO_DOT_H
#define ONNXL_PROTO_DOT_H

#include "proto/model.h"
#include "support/output.h"

/* Writes the main graph in the language of dot: nodes as boxes, graph inputs and outputs as ellipses, values as edges;
 * nested graphs are clusters. Initializers are not drawn. Returns false with ONNXL_ERROR_LIMIT when memory runs out. */
bool onnxl_dot_write(OnnxlOutput *out, const OnnxlModel *model, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
