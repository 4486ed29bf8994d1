/* Values from and to files of ONNX messages: TensorProto, SequenceProto, OptionalProto, MapProto. */
#ifndef ONNXL_RUNTIME_TENSOR_IO_H
#define ONNXL_RUNTIME_TENSOR_IO_H

#include "runtime/value.h"
#include "support/output.h"

/* Reads the message of a type (NULL or unknown = a tensor) from bytes. Nothing of bytes is borrowed. what: names it in
 * messages. Returns: owned; NULL with ONNXL_ERROR_INVALID or ONNXL_ERROR_LIMIT. */
OnnxlValue *onnxl_value_parse(OnnxlAllocator *allocator, OnnxlStr bytes, const OnnxlType *type, const char *what,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same from a file. */
OnnxlValue *onnxl_value_load(OnnxlAllocator *allocator, const char *path, const OnnxlType *type,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes the message of a value: tensors as raw bytes, from where they lie. Write errors stick in out. */
void onnxl_value_write(OnnxlOutput *out, const OnnxlValue *value);

#endif
