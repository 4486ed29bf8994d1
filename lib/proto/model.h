/* An ONNX model in memory: one struct for each message of onnx.proto, one member for each field, under the field's
 * name.
 *
 * Nothing is lost: an absent field is told from an empty one, and fields that onnx.proto does not know are kept.
 * Strings and payloads are slices of the mapped input (or of the arena), never copies, so weights cost nothing until
 * they are read. All memory belongs to the model's arena. The structs are plain data: whoever edits a model sets
 * members and allocates with the model's arena.
 *
 * Presence: a string or bytes field is absent when .data is NULL; a message when the pointer is NULL; a number when its
 * has_ member is false; a list when its count is 0.
 *
 * Numbers and names follow onnx.proto, IR version 14. */
#ifndef ONNXL_PROTO_MODEL_H
#define ONNXL_PROTO_MODEL_H

#include <glib.h>

#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/limits.h"

/* A list of T in one block of the arena. Pointers to items hold until the list grows. */
#define ONNXL_LIST(T) \
  struct {            \
    T *items;         \
    size_t count;     \
  }

/* A field that onnx.proto does not have, as it stood on the wire. */
typedef struct OnnxlUnknownField {
  uint32_t number;
  uint32_t wire_type; /* 0 varint, 1 fixed64, 2 bytes, 3 group, 5 fixed32 */
  uint64_t value;     /* of types 0, 1, 5 */
  OnnxlStr bytes;     /* of type 2; of type 3: the group's fields, without the end tag */
} OnnxlUnknownField;

typedef ONNXL_LIST(OnnxlUnknownField) OnnxlUnknownList;
typedef ONNXL_LIST(OnnxlStr) OnnxlStrList;
typedef ONNXL_LIST(int64_t) OnnxlInt64List;
typedef ONNXL_LIST(float) OnnxlFloatList;

/* A packed list of numbers as on the wire (varints, or little-endian 4 or 8 byte values), not decoded: read it with the
 * functions of proto/packed.h. Empty and absent are the same, as for every list. */
typedef struct OnnxlPacked {
  OnnxlStr bytes;
} OnnxlPacked;

/* First in every message struct. */
typedef struct OnnxlMessage {
  OnnxlUnknownList unknown;
} OnnxlMessage;

typedef struct OnnxlModelProto OnnxlModelProto;
typedef struct OnnxlGraph OnnxlGraph;
typedef struct OnnxlNode OnnxlNode;
typedef struct OnnxlAttribute OnnxlAttribute;
typedef struct OnnxlTensor OnnxlTensor;
typedef struct OnnxlSparseTensor OnnxlSparseTensor;
typedef struct OnnxlType OnnxlType;
typedef struct OnnxlFunction OnnxlFunction;

/* TensorProto.DataType. */
typedef enum OnnxlDataType {
  ONNXL_TYPE_UNDEFINED = 0,
  ONNXL_TYPE_FLOAT = 1,
  ONNXL_TYPE_UINT8 = 2,
  ONNXL_TYPE_INT8 = 3,
  ONNXL_TYPE_UINT16 = 4,
  ONNXL_TYPE_INT16 = 5,
  ONNXL_TYPE_INT32 = 6,
  ONNXL_TYPE_INT64 = 7,
  ONNXL_TYPE_STRING = 8,
  ONNXL_TYPE_BOOL = 9,
  ONNXL_TYPE_FLOAT16 = 10,
  ONNXL_TYPE_DOUBLE = 11,
  ONNXL_TYPE_UINT32 = 12,
  ONNXL_TYPE_UINT64 = 13,
  ONNXL_TYPE_COMPLEX64 = 14,
  ONNXL_TYPE_COMPLEX128 = 15,
  ONNXL_TYPE_BFLOAT16 = 16,
  ONNXL_TYPE_FLOAT8E4M3FN = 17,
  ONNXL_TYPE_FLOAT8E4M3FNUZ = 18,
  ONNXL_TYPE_FLOAT8E5M2 = 19,
  ONNXL_TYPE_FLOAT8E5M2FNUZ = 20,
  ONNXL_TYPE_UINT4 = 21,
  ONNXL_TYPE_INT4 = 22,
  ONNXL_TYPE_FLOAT4E2M1 = 23,
  ONNXL_TYPE_FLOAT8E8M0 = 24,
  ONNXL_TYPE_UINT2 = 25,
  ONNXL_TYPE_INT2 = 26,
  ONNXL_N_TYPES,
} OnnxlDataType;

/* AttributeProto.AttributeType. */
typedef enum OnnxlAttributeType {
  ONNXL_ATTRIBUTE_UNDEFINED = 0,
  ONNXL_ATTRIBUTE_FLOAT = 1,
  ONNXL_ATTRIBUTE_INT = 2,
  ONNXL_ATTRIBUTE_STRING = 3,
  ONNXL_ATTRIBUTE_TENSOR = 4,
  ONNXL_ATTRIBUTE_GRAPH = 5,
  ONNXL_ATTRIBUTE_FLOATS = 6,
  ONNXL_ATTRIBUTE_INTS = 7,
  ONNXL_ATTRIBUTE_STRINGS = 8,
  ONNXL_ATTRIBUTE_TENSORS = 9,
  ONNXL_ATTRIBUTE_GRAPHS = 10,
  ONNXL_ATTRIBUTE_SPARSE_TENSOR = 11,
  ONNXL_ATTRIBUTE_SPARSE_TENSORS = 12,
  ONNXL_ATTRIBUTE_TYPE_PROTO = 13,
  ONNXL_ATTRIBUTE_TYPE_PROTOS = 14,
  ONNXL_N_ATTRIBUTE_TYPES,
} OnnxlAttributeType;

typedef enum OnnxlDataLocation { ONNXL_LOCATION_DEFAULT = 0, ONNXL_LOCATION_EXTERNAL = 1 } OnnxlDataLocation;

/* StringStringEntryProto */
typedef struct OnnxlPair {
  OnnxlMessage message;
  OnnxlStr key;
  OnnxlStr value;
} OnnxlPair;
typedef ONNXL_LIST(OnnxlPair) OnnxlPairList;

/* OperatorSetIdProto */
typedef struct OnnxlOpset {
  OnnxlMessage message;
  OnnxlStr domain;
  bool has_version;
  int64_t version;
} OnnxlOpset;
typedef ONNXL_LIST(OnnxlOpset) OnnxlOpsetList;

/* TensorShapeProto.Dimension; dim_value and dim_param exclude each other. */
typedef struct OnnxlDimension {
  OnnxlMessage message;
  bool has_dim_value;
  int64_t dim_value;
  OnnxlStr dim_param;
  OnnxlStr denotation;
} OnnxlDimension;

/* TensorShapeProto */
typedef struct OnnxlShapeProto {
  OnnxlMessage message;
  ONNXL_LIST(OnnxlDimension) dim;
} OnnxlShapeProto;

/* TypeProto.Tensor and TypeProto.SparseTensor */
typedef struct OnnxlTensorType {
  OnnxlMessage message;
  bool has_elem_type;
  int32_t elem_type;
  OnnxlShapeProto *shape;
} OnnxlTensorType;

/* TypeProto.Sequence and TypeProto.Optional */
typedef struct OnnxlElementType {
  OnnxlMessage message;
  OnnxlType *elem_type;
} OnnxlElementType;

/* TypeProto.Map */
typedef struct OnnxlMapType {
  OnnxlMessage message;
  bool has_key_type;
  int32_t key_type;
  OnnxlType *value_type;
} OnnxlMapType;

/* TypeProto.Opaque */
typedef struct OnnxlOpaqueType {
  OnnxlMessage message;
  OnnxlStr domain;
  OnnxlStr name;
} OnnxlOpaqueType;

/* TypeProto; at most one of the six pointers is set. */
struct OnnxlType {
  OnnxlMessage message;
  OnnxlTensorType *tensor_type;
  OnnxlElementType *sequence_type;
  OnnxlMapType *map_type;
  OnnxlElementType *optional_type;
  OnnxlTensorType *sparse_tensor_type;
  OnnxlOpaqueType *opaque_type;
  OnnxlStr denotation;
};

/* ValueInfoProto */
typedef struct OnnxlValueInfo {
  OnnxlMessage message;
  OnnxlStr name;
  OnnxlType *type;
  OnnxlStr doc_string;
  OnnxlPairList metadata_props;
} OnnxlValueInfo;
typedef ONNXL_LIST(OnnxlValueInfo) OnnxlValueInfoList;

/* TensorProto.Segment */
typedef struct OnnxlSegment {
  OnnxlMessage message;
  bool has_begin;
  int64_t begin;
  bool has_end;
  int64_t end;
} OnnxlSegment;

/* TensorProto */
struct OnnxlTensor {
  OnnxlMessage message;
  OnnxlInt64List dims;
  bool has_data_type;
  int32_t data_type;
  OnnxlSegment *segment;
  OnnxlPacked float_data;
  OnnxlPacked int32_data;
  OnnxlStrList string_data;
  OnnxlPacked int64_data;
  OnnxlStr name;
  OnnxlStr doc_string;
  OnnxlStr raw_data;
  OnnxlPairList external_data;
  bool has_data_location;
  int32_t data_location;
  OnnxlPacked double_data;
  OnnxlPacked uint64_data;
  OnnxlPairList metadata_props;
};
typedef ONNXL_LIST(OnnxlTensor) OnnxlTensorList;

/* SparseTensorProto */
struct OnnxlSparseTensor {
  OnnxlMessage message;
  OnnxlTensor *values;
  OnnxlTensor *indices;
  OnnxlInt64List dims;
};
typedef ONNXL_LIST(OnnxlSparseTensor) OnnxlSparseTensorList;

/* AttributeProto */
struct OnnxlAttribute {
  OnnxlMessage message;
  OnnxlStr name;
  OnnxlStr ref_attr_name;
  OnnxlStr doc_string;
  bool has_type;
  bool has_f;
  bool has_i;
  int32_t type;
  float f;
  int64_t i;
  OnnxlStr s;
  OnnxlTensor *t;
  OnnxlGraph *g;
  OnnxlSparseTensor *sparse_tensor;
  OnnxlType *tp;
  OnnxlFloatList floats;
  OnnxlInt64List ints;
  OnnxlStrList strings;
  OnnxlTensorList tensors;
  ONNXL_LIST(OnnxlGraph) graphs;
  OnnxlSparseTensorList sparse_tensors;
  ONNXL_LIST(OnnxlType) type_protos;
};
typedef ONNXL_LIST(OnnxlAttribute) OnnxlAttributeList;

/* IntIntListEntryProto */
typedef struct OnnxlIntIntList {
  OnnxlMessage message;
  bool has_key;
  int64_t key;
  OnnxlInt64List value;
} OnnxlIntIntList;

/* SimpleShardedDimProto; dim_value and dim_param exclude each other. */
typedef struct OnnxlSimpleShardedDim {
  OnnxlMessage message;
  bool has_dim_value;
  int64_t dim_value;
  OnnxlStr dim_param;
  bool has_num_shards;
  int64_t num_shards;
} OnnxlSimpleShardedDim;

/* ShardedDimProto */
typedef struct OnnxlShardedDim {
  OnnxlMessage message;
  bool has_axis;
  int64_t axis;
  ONNXL_LIST(OnnxlSimpleShardedDim) simple_sharding;
} OnnxlShardedDim;

/* ShardingSpecProto */
typedef struct OnnxlShardingSpec {
  OnnxlMessage message;
  OnnxlStr tensor_name;
  OnnxlInt64List device;
  ONNXL_LIST(OnnxlIntIntList) index_to_device_group_map;
  ONNXL_LIST(OnnxlShardedDim) sharded_dim;
} OnnxlShardingSpec;

/* NodeDeviceConfigurationProto */
typedef struct OnnxlNodeDevice {
  OnnxlMessage message;
  OnnxlStr configuration_id;
  ONNXL_LIST(OnnxlShardingSpec) sharding_spec;
  bool has_pipeline_stage;
  int32_t pipeline_stage;
} OnnxlNodeDevice;

/* NodeProto */
struct OnnxlNode {
  OnnxlMessage message;
  OnnxlStrList input;
  OnnxlStrList output;
  OnnxlStr name;
  OnnxlStr op_type;
  OnnxlStr domain;
  OnnxlStr overload;
  OnnxlAttributeList attribute;
  OnnxlStr doc_string;
  OnnxlPairList metadata_props;
  ONNXL_LIST(OnnxlNodeDevice) device_configurations;
};
typedef ONNXL_LIST(OnnxlNode) OnnxlNodeList;

/* TensorAnnotation */
typedef struct OnnxlAnnotation {
  OnnxlMessage message;
  OnnxlStr tensor_name;
  OnnxlPairList quant_parameter_tensor_names;
} OnnxlAnnotation;

/* GraphProto */
struct OnnxlGraph {
  OnnxlMessage message;
  OnnxlNodeList node;
  OnnxlStr name;
  OnnxlTensorList initializer;
  OnnxlSparseTensorList sparse_initializer;
  OnnxlStr doc_string;
  OnnxlValueInfoList input;
  OnnxlValueInfoList output;
  OnnxlValueInfoList value_info;
  ONNXL_LIST(OnnxlAnnotation) quantization_annotation;
  OnnxlPairList metadata_props;
};

/* FunctionProto */
struct OnnxlFunction {
  OnnxlMessage message;
  OnnxlStr name;
  OnnxlStrList input;
  OnnxlStrList output;
  OnnxlStrList attribute;
  OnnxlAttributeList attribute_proto;
  OnnxlNodeList node;
  OnnxlStr doc_string;
  OnnxlOpsetList opset_import;
  OnnxlStr domain;
  OnnxlStr overload;
  OnnxlValueInfoList value_info;
  OnnxlPairList metadata_props;
};

/* TrainingInfoProto */
typedef struct OnnxlTrainingInfo {
  OnnxlMessage message;
  OnnxlGraph *initialization;
  OnnxlGraph *algorithm;
  OnnxlPairList initialization_binding;
  OnnxlPairList update_binding;
} OnnxlTrainingInfo;

/* DeviceConfigurationProto */
typedef struct OnnxlDevice {
  OnnxlMessage message;
  OnnxlStr name;
  bool has_num_devices;
  int32_t num_devices;
  OnnxlStrList device;
} OnnxlDevice;

/* ModelProto */
struct OnnxlModelProto {
  OnnxlMessage message;
  bool has_ir_version;
  int64_t ir_version;
  OnnxlOpsetList opset_import;
  OnnxlStr producer_name;
  OnnxlStr producer_version;
  OnnxlStr domain;
  bool has_model_version;
  int64_t model_version;
  OnnxlStr doc_string;
  OnnxlGraph *graph;
  OnnxlPairList metadata_props;
  ONNXL_LIST(OnnxlTrainingInfo) training_info;
  ONNXL_LIST(OnnxlFunction) functions;
  ONNXL_LIST(OnnxlDevice) configuration;
};

/* A model with what it was read from. */
typedef struct OnnxlModel {
  OnnxlModelProto proto;
  OnnxlArena *arena;     /* owns everything in proto */
  OnnxlFile *file;       /* the mapped input, owned; NULL for a model made in memory */
  char *folder;          /* where external data is looked up, owned: the model file's folder, "." for standard input */
  GPtrArray *data_files; /* of OnnxlFile, owned: mapped files that the references of a text name, of which payloads are
                          * slices; NULL when there are none */
} OnnxlModel;

/* A model without a field set. budget: of its arena, in bytes. Returns: owned. */
OnnxlModel *onnxl_model_new(size_t budget);
void onnxl_model_free(OnnxlModel *model);

/* Reads a model from path (NULL or "-" = standard input): binary, text or JSON, told apart by content. Findings about
 * the input go to sink. Returns: owned; NULL with error: ONNXL_ERROR_INVALID when findings say why, else what failed.
 */
OnnxlModel *onnxl_model_load(const char *path, const OnnxlLimits *limits, OnnxlDiagSink *sink,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for looking at tensors, and for writing the model as binary: the nodes of a binary model may then be there
 * as onnxl_wire_read_weights() has them. */
OnnxlModel *onnxl_model_load_weights(const char *path, const OnnxlLimits *limits, OnnxlDiagSink *sink,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The open file that bytes of the model lie in: the input, or one that a text refers to; *ret_offset is their place.
 * NULL: in none. */
const OnnxlFile *onnxl_model_file_of(const OnnxlModel *model, OnnxlStr bytes, uint64_t *ret_offset);

/* Adds n zeroed items to a list of the model's arena, by copying it once into a larger block: to add many, add them at
 * once. Evaluates to the address of the first new item; NULL when the arena is exhausted. */
#define ONNXL_EXTEND(arena, list, n)                                                              \
  ((__typeof__((list)->items))onnxl_list_extend((arena), (void **)&(list)->items, &(list)->count, \
                                                sizeof(*(list)->items), (n)))
#define ONNXL_APPEND(arena, list) ONNXL_EXTEND((arena), (list), 1)
void *onnxl_list_extend(OnnxlArena *arena, void **items, size_t *count, size_t item_size, size_t n);

/* Name of an element type as in the text syntax ("float", "int64", …), or NULL for a number that has none. */
const char *onnxl_data_type_name(int32_t type);
/* The type of that name; ONNXL_TYPE_UNDEFINED when there is none. */
OnnxlDataType onnxl_data_type_from_name(OnnxlStr name);
/* Bits of one element: 2, 4, 8, … 128; 0 for strings, UNDEFINED and unknown numbers. */
uint32_t onnxl_data_type_bits(int32_t type);
/* Bytes that count elements take, packed as in raw_data. False: no fixed size, negative count or overflow. */
bool onnxl_data_type_bytes(int32_t type, int64_t count, uint64_t *ret_bytes);

const char *onnxl_attribute_type_name(int32_t type);
OnnxlAttributeType onnxl_attribute_type_from_name(OnnxlStr name);

/* The attribute of that name, or NULL. */
const OnnxlAttribute *onnxl_node_attribute(const OnnxlNode *node, const char *name);

/* True when the payload of tensor lies in another file (data_location EXTERNAL). */
static inline bool
onnxl_tensor_is_external(const OnnxlTensor *tensor)
{
  return tensor->has_data_location && tensor->data_location == ONNXL_LOCATION_EXTERNAL;
}

/* "" and "ai.onnx" are one domain: returns "" for both, else the domain itself. */
OnnxlStr onnxl_domain_normal(OnnxlStr domain);

#endif
