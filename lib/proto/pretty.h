/* The listing of a model that people skim: one line an input, initializer, node, output. Not to be read back. */
#ifndef ONNXL_PROTO_PRETTY_H
#define ONNXL_PROTO_PRETTY_H

#include "proto/model.h"
#include "support/output.h"

/* Writes what stands behind a node on its line, such as its shapes; no line break. function: whose body the node is in,
 * NULL for the main graph. node: its index there. */
typedef void (*OnnxlPrettySuffix)(void *data, const OnnxlFunction *function, size_t node, OnnxlOutput *out);

typedef struct OnnxlPrettyOptions {
  bool with_attributes;
  OnnxlPrettySuffix suffix; /* NULL: none */
  void *suffix_data;
} OnnxlPrettyOptions;

/* Writes the listing of the model's graph and functions. Graphs within nodes are not listed. */
void onnxl_pretty_write(OnnxlOutput *out, const OnnxlModel *model, const OnnxlPrettyOptions *options);

/* Writes a type as the listing has it: "float[N,4]", "seq(int64[])", "map(string, float[])"; nothing for an empty type.
 */
void onnxl_pretty_type(OnnxlOutput *out, const OnnxlType *type);

/* Writes a text in Python's quotes: 'a', "it's", 'a\n'. */
void onnxl_pretty_quoted(OnnxlOutput *out, OnnxlStr text);

#endif
