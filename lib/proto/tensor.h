/* TensorProto as a tensor: where its values lie, whether they fit its dims and type, and decoding them. */
#ifndef ONNXL_PROTO_TENSOR_H
#define ONNXL_PROTO_TENSOR_H

#include "proto/model.h"

typedef enum OnnxlStorage {
  ONNXL_STORAGE_NONE,     /* no payload field is set */
  ONNXL_STORAGE_RAW,      /* raw_data */
  ONNXL_STORAGE_TYPED,    /* float_data, int32_data, int64_data, double_data or uint64_data */
  ONNXL_STORAGE_STRINGS,  /* string_data */
  ONNXL_STORAGE_EXTERNAL, /* another file */
} OnnxlStorage;

/* The entries of external_data. */
typedef struct OnnxlExternal {
  OnnxlStr location;
  uint64_t offset;
  bool has_length;
  uint64_t length;
  OnnxlStr checksum;
} OnnxlExternal;

/* The checked view of a tensor: element type known, dims not negative, exactly one value field, of the right kind and
 * with exactly the right number of elements (external data: by the entries; the file is not looked at). */
typedef struct OnnxlTensorView {
  const OnnxlTensor *tensor;
  int32_t data_type;
  int64_t count;  /* elements */
  uint64_t bytes; /* of the values as in raw_data; 0 for strings */
  OnnxlStorage storage;
  OnnxlExternal external; /* with ONNXL_STORAGE_EXTERNAL, else empty */
} OnnxlTensorView;

/* Checks the tensor. path: where it stands, for findings (may be NULL: then its name). Returns false with
 * ONNXL_ERROR_INVALID and a finding that names the tensor. */
bool onnxl_tensor_view(const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink, OnnxlTensorView *ret_view,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes the values as in raw_data (little-endian, packed below 8 bits) to dest, view->bytes bytes. Not for strings and
 * external tensors. Returns false when a packed varint is malformed. */
bool onnxl_tensor_decode(const OnnxlTensorView *view, void *dest) G_GNUC_WARN_UNUSED_RESULT;

/* The first count values of an integer or bool tensor as int64 (uint64 reinterpreted). Not external. */
bool onnxl_tensor_int64s(const OnnxlTensorView *view, int64_t *dest, size_t count) G_GNUC_WARN_UNUSED_RESULT;

/* The first count values of a floating-point tensor as double. Not external. */
bool onnxl_tensor_doubles(const OnnxlTensorView *view, double *dest, size_t count) G_GNUC_WARN_UNUSED_RESULT;

/* Parses the entries: location present, without NUL; offset and length plain decimal numbers whose sum fits 63 bits;
 * the last of two equal keys counts, but a second location may not differ from the first; unknown keys are left alone.
 * Returns false with ONNXL_ERROR_INVALID and a finding. */
bool onnxl_tensor_external(const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink,
                           OnnxlExternal *ret_external, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Calls visit for every tensor of the model with its path: initializers, sparse parts, attributes, at any depth, in the
 * main graph, functions and training graphs, in model order. Stops and returns false when visit does. */
typedef bool (*OnnxlTensorVisit)(void *data, OnnxlTensor *tensor, const char *path, GError **error);
bool onnxl_model_visit_tensors(OnnxlModel *model, OnnxlTensorVisit visit, void *data,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
