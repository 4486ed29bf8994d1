/* Models in JSON, by protobuf's official mapping: names in lowerCamelCase, 64-bit integers as strings, bytes in base64,
 * enums by name. Unlike the text syntax it has no place for unknown fields. */
#ifndef ONNXL_PROTO_JSON_H
#define ONNXL_PROTO_JSON_H

#include "proto/model.h"
#include "support/output.h"

/* Writes the model. What JSON cannot say (unknown fields, strings that are not UTF-8) is left out or replaced with a
 * finding (lossy). Write errors stick in out. Returns false with ONNXL_ERROR_INVALID when a packed list of numbers is
 * malformed. */
bool onnxl_model_to_json(OnnxlOutput *out, const OnnxlModel *model, OnnxlDiagSink *sink,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads text into model, which is empty; nothing in it refers to text afterwards. Names are accepted as in onnx.proto
 * too. Findings name the place as a path, such as "graph.node[3].opType". Returns false with ONNXL_ERROR_INVALID after
 * findings, or ONNXL_ERROR_LIMIT (depth or budget). */
bool onnxl_model_from_json(OnnxlStr text, uint32_t max_depth, OnnxlModel *model, OnnxlDiagSink *sink,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
