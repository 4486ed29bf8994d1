#include "proto/schema.h"

#include "proto/packed.h"

/* Declarations first: messages refer to each other in cycles. The structs behind them are those of model.h. */
#define MESSAGES(M)                                                                                                    \
  M(attribute, "AttributeProto", OnnxlAttribute)                                                                       \
  M(value_info, "ValueInfoProto", OnnxlValueInfo)                                                                      \
  M(node, "NodeProto", OnnxlNode)                                                                                      \
  M(int_int_list, "IntIntListEntryProto", OnnxlIntIntList)                                                             \
  M(node_device, "NodeDeviceConfigurationProto", OnnxlNodeDevice)                                                      \
  M(sharding_spec, "ShardingSpecProto", OnnxlShardingSpec)                                                             \
  M(sharded_dim, "ShardedDimProto", OnnxlShardedDim)                                                                   \
  M(simple_sharded_dim, "SimpleShardedDimProto", OnnxlSimpleShardedDim)                                                \
  M(training_info, "TrainingInfoProto", OnnxlTrainingInfo)                                                             \
  M(model, "ModelProto", OnnxlModelProto)                                                                              \
  M(device, "DeviceConfigurationProto", OnnxlDevice)                                                                   \
  M(pair, "StringStringEntryProto", OnnxlPair)                                                                         \
  M(annotation, "TensorAnnotation", OnnxlAnnotation)                                                                   \
  M(graph, "GraphProto", OnnxlGraph)                                                                                   \
  M(tensor, "TensorProto", OnnxlTensor)                                                                                \
  M(segment, "TensorProto.Segment", OnnxlSegment)                                                                      \
  M(sparse_tensor, "SparseTensorProto", OnnxlSparseTensor)                                                             \
  M(shape, "TensorShapeProto", OnnxlShapeProto)                                                                        \
  M(dimension, "TensorShapeProto.Dimension", OnnxlDimension)                                                           \
  M(type, "TypeProto", OnnxlType)                                                                                      \
  M(tensor_type, "TypeProto.Tensor", OnnxlTensorType)                                                                  \
  M(sequence_type, "TypeProto.Sequence", OnnxlElementType)                                                             \
  M(map_type, "TypeProto.Map", OnnxlMapType)                                                                           \
  M(optional_type, "TypeProto.Optional", OnnxlElementType)                                                             \
  M(sparse_tensor_type, "TypeProto.SparseTensor", OnnxlTensorType)                                                     \
  M(opaque_type, "TypeProto.Opaque", OnnxlOpaqueType)                                                                  \
  M(opset, "OperatorSetIdProto", OnnxlOpset)                                                                           \
  M(function, "FunctionProto", OnnxlFunction)

#define DECLARE(id, text, type) extern const OnnxlMessageDescriptor onnxl_##id##_descriptor;
MESSAGES(DECLARE)
#undef DECLARE

/* Rows: single value with presence in the pointer; number with a has_ member; list; single message; list of messages. */
#define ROW(T, member, number, kind, repeated, oneof, has_offset, presence, message)                                   \
  { #member, number, ONNXL_FIELD_##kind, repeated, oneof, offsetof(T, member), has_offset, offsetof(T, presence), message }
#define TEXT(T, member, number, kind) ROW(T, member, number, kind, false, 0, 0, member.data, NULL)
#define NUMBER(T, member, number, kind)                                                                                \
  ROW(T, member, number, kind, false, 0, offsetof(T, has_##member), has_##member, NULL)
#define LIST(T, member, number, kind) ROW(T, member, number, kind, true, 0, 0, member.count, NULL)
#define PACKED(T, member, number, kind) ROW(T, member, number, PACKED_##kind, false, 0, 0, member.bytes.size, NULL)
#define MESSAGE(T, member, number, id) ROW(T, member, number, MESSAGE, false, 0, 0, member, &onnxl_##id##_descriptor)
#define MESSAGES_OF(T, member, number, id)                                                                             \
  ROW(T, member, number, MESSAGE, true, 0, 0, member.count, &onnxl_##id##_descriptor)
/* The same as a member of the message's oneof. */
#define ONEOF_TEXT(T, member, number, kind) ROW(T, member, number, kind, false, 1, 0, member.data, NULL)
#define ONEOF_NUMBER(T, member, number, kind)                                                                          \
  ROW(T, member, number, kind, false, 1, offsetof(T, has_##member), has_##member, NULL)
#define ONEOF_MESSAGE(T, member, number, id)                                                                           \
  ROW(T, member, number, MESSAGE, false, 1, 0, member, &onnxl_##id##_descriptor)

static const OnnxlFieldDescriptor attribute_fields[] = {
  TEXT(OnnxlAttribute, name, 1, STRING),
  TEXT(OnnxlAttribute, ref_attr_name, 21, STRING),
  TEXT(OnnxlAttribute, doc_string, 13, STRING),
  NUMBER(OnnxlAttribute, type, 20, ENUM),
  NUMBER(OnnxlAttribute, f, 2, FLOAT),
  NUMBER(OnnxlAttribute, i, 3, INT64),
  TEXT(OnnxlAttribute, s, 4, BYTES),
  MESSAGE(OnnxlAttribute, t, 5, tensor),
  MESSAGE(OnnxlAttribute, g, 6, graph),
  MESSAGE(OnnxlAttribute, sparse_tensor, 22, sparse_tensor),
  MESSAGE(OnnxlAttribute, tp, 14, type),
  LIST(OnnxlAttribute, floats, 7, FLOAT),
  LIST(OnnxlAttribute, ints, 8, INT64),
  LIST(OnnxlAttribute, strings, 9, BYTES),
  MESSAGES_OF(OnnxlAttribute, tensors, 10, tensor),
  MESSAGES_OF(OnnxlAttribute, graphs, 11, graph),
  MESSAGES_OF(OnnxlAttribute, sparse_tensors, 23, sparse_tensor),
  MESSAGES_OF(OnnxlAttribute, type_protos, 15, type),
};

static const OnnxlFieldDescriptor value_info_fields[] = {
  TEXT(OnnxlValueInfo, name, 1, STRING),
  MESSAGE(OnnxlValueInfo, type, 2, type),
  TEXT(OnnxlValueInfo, doc_string, 3, STRING),
  MESSAGES_OF(OnnxlValueInfo, metadata_props, 4, pair),
};

static const OnnxlFieldDescriptor node_fields[] = {
  LIST(OnnxlNode, input, 1, STRING),
  LIST(OnnxlNode, output, 2, STRING),
  TEXT(OnnxlNode, name, 3, STRING),
  TEXT(OnnxlNode, op_type, 4, STRING),
  TEXT(OnnxlNode, domain, 7, STRING),
  TEXT(OnnxlNode, overload, 8, STRING),
  MESSAGES_OF(OnnxlNode, attribute, 5, attribute),
  TEXT(OnnxlNode, doc_string, 6, STRING),
  MESSAGES_OF(OnnxlNode, metadata_props, 9, pair),
  MESSAGES_OF(OnnxlNode, device_configurations, 10, node_device),
};

static const OnnxlFieldDescriptor int_int_list_fields[] = {
  NUMBER(OnnxlIntIntList, key, 1, INT64),
  LIST(OnnxlIntIntList, value, 2, INT64),
};

static const OnnxlFieldDescriptor node_device_fields[] = {
  TEXT(OnnxlNodeDevice, configuration_id, 1, STRING),
  MESSAGES_OF(OnnxlNodeDevice, sharding_spec, 2, sharding_spec),
  NUMBER(OnnxlNodeDevice, pipeline_stage, 3, INT32),
};

static const OnnxlFieldDescriptor sharding_spec_fields[] = {
  TEXT(OnnxlShardingSpec, tensor_name, 1, STRING),
  LIST(OnnxlShardingSpec, device, 2, INT64),
  MESSAGES_OF(OnnxlShardingSpec, index_to_device_group_map, 3, int_int_list),
  MESSAGES_OF(OnnxlShardingSpec, sharded_dim, 4, sharded_dim),
};

static const OnnxlFieldDescriptor sharded_dim_fields[] = {
  NUMBER(OnnxlShardedDim, axis, 1, INT64),
  MESSAGES_OF(OnnxlShardedDim, simple_sharding, 2, simple_sharded_dim),
};

static const OnnxlFieldDescriptor simple_sharded_dim_fields[] = {
  ONEOF_NUMBER(OnnxlSimpleShardedDim, dim_value, 1, INT64),
  ONEOF_TEXT(OnnxlSimpleShardedDim, dim_param, 2, STRING),
  NUMBER(OnnxlSimpleShardedDim, num_shards, 3, INT64),
};

static const OnnxlFieldDescriptor training_info_fields[] = {
  MESSAGE(OnnxlTrainingInfo, initialization, 1, graph),
  MESSAGE(OnnxlTrainingInfo, algorithm, 2, graph),
  MESSAGES_OF(OnnxlTrainingInfo, initialization_binding, 3, pair),
  MESSAGES_OF(OnnxlTrainingInfo, update_binding, 4, pair),
};

static const OnnxlFieldDescriptor model_fields[] = {
  NUMBER(OnnxlModelProto, ir_version, 1, INT64),
  MESSAGES_OF(OnnxlModelProto, opset_import, 8, opset),
  TEXT(OnnxlModelProto, producer_name, 2, STRING),
  TEXT(OnnxlModelProto, producer_version, 3, STRING),
  TEXT(OnnxlModelProto, domain, 4, STRING),
  NUMBER(OnnxlModelProto, model_version, 5, INT64),
  TEXT(OnnxlModelProto, doc_string, 6, STRING),
  MESSAGE(OnnxlModelProto, graph, 7, graph),
  MESSAGES_OF(OnnxlModelProto, metadata_props, 14, pair),
  MESSAGES_OF(OnnxlModelProto, training_info, 20, training_info),
  MESSAGES_OF(OnnxlModelProto, functions, 25, function),
  MESSAGES_OF(OnnxlModelProto, configuration, 26, device),
};

static const OnnxlFieldDescriptor device_fields[] = {
  TEXT(OnnxlDevice, name, 1, STRING),
  NUMBER(OnnxlDevice, num_devices, 2, INT32),
  LIST(OnnxlDevice, device, 3, STRING),
};

static const OnnxlFieldDescriptor pair_fields[] = {
  TEXT(OnnxlPair, key, 1, STRING),
  TEXT(OnnxlPair, value, 2, STRING),
};

static const OnnxlFieldDescriptor annotation_fields[] = {
  TEXT(OnnxlAnnotation, tensor_name, 1, STRING),
  MESSAGES_OF(OnnxlAnnotation, quant_parameter_tensor_names, 2, pair),
};

static const OnnxlFieldDescriptor graph_fields[] = {
  MESSAGES_OF(OnnxlGraph, node, 1, node),
  TEXT(OnnxlGraph, name, 2, STRING),
  MESSAGES_OF(OnnxlGraph, initializer, 5, tensor),
  MESSAGES_OF(OnnxlGraph, sparse_initializer, 15, sparse_tensor),
  TEXT(OnnxlGraph, doc_string, 10, STRING),
  MESSAGES_OF(OnnxlGraph, input, 11, value_info),
  MESSAGES_OF(OnnxlGraph, output, 12, value_info),
  MESSAGES_OF(OnnxlGraph, value_info, 13, value_info),
  MESSAGES_OF(OnnxlGraph, quantization_annotation, 14, annotation),
  MESSAGES_OF(OnnxlGraph, metadata_props, 16, pair),
};

static const OnnxlFieldDescriptor tensor_fields[] = {
  LIST(OnnxlTensor, dims, 1, INT64),
  NUMBER(OnnxlTensor, data_type, 2, INT32),
  MESSAGE(OnnxlTensor, segment, 3, segment),
  PACKED(OnnxlTensor, float_data, 4, FLOAT),
  PACKED(OnnxlTensor, int32_data, 5, INT32),
  LIST(OnnxlTensor, string_data, 6, BYTES),
  PACKED(OnnxlTensor, int64_data, 7, INT64),
  TEXT(OnnxlTensor, name, 8, STRING),
  TEXT(OnnxlTensor, doc_string, 12, STRING),
  TEXT(OnnxlTensor, raw_data, 9, BYTES),
  MESSAGES_OF(OnnxlTensor, external_data, 13, pair),
  NUMBER(OnnxlTensor, data_location, 14, ENUM),
  PACKED(OnnxlTensor, double_data, 10, DOUBLE),
  PACKED(OnnxlTensor, uint64_data, 11, UINT64),
  MESSAGES_OF(OnnxlTensor, metadata_props, 16, pair),
};

static const OnnxlFieldDescriptor segment_fields[] = {
  NUMBER(OnnxlSegment, begin, 1, INT64),
  NUMBER(OnnxlSegment, end, 2, INT64),
};

static const OnnxlFieldDescriptor sparse_tensor_fields[] = {
  MESSAGE(OnnxlSparseTensor, values, 1, tensor),
  MESSAGE(OnnxlSparseTensor, indices, 2, tensor),
  LIST(OnnxlSparseTensor, dims, 3, INT64),
};

static const OnnxlFieldDescriptor shape_fields[] = {
  MESSAGES_OF(OnnxlShapeProto, dim, 1, dimension),
};

static const OnnxlFieldDescriptor dimension_fields[] = {
  ONEOF_NUMBER(OnnxlDimension, dim_value, 1, INT64),
  ONEOF_TEXT(OnnxlDimension, dim_param, 2, STRING),
  TEXT(OnnxlDimension, denotation, 3, STRING),
};

static const OnnxlFieldDescriptor type_fields[] = {
  ONEOF_MESSAGE(OnnxlType, tensor_type, 1, tensor_type),
  ONEOF_MESSAGE(OnnxlType, sequence_type, 4, sequence_type),
  ONEOF_MESSAGE(OnnxlType, map_type, 5, map_type),
  ONEOF_MESSAGE(OnnxlType, optional_type, 9, optional_type),
  ONEOF_MESSAGE(OnnxlType, sparse_tensor_type, 8, sparse_tensor_type),
  ONEOF_MESSAGE(OnnxlType, opaque_type, 7, opaque_type),
  TEXT(OnnxlType, denotation, 6, STRING),
};

static const OnnxlFieldDescriptor tensor_type_fields[] = {
  NUMBER(OnnxlTensorType, elem_type, 1, INT32),
  MESSAGE(OnnxlTensorType, shape, 2, shape),
};

static const OnnxlFieldDescriptor sequence_type_fields[] = {
  MESSAGE(OnnxlElementType, elem_type, 1, type),
};

static const OnnxlFieldDescriptor map_type_fields[] = {
  NUMBER(OnnxlMapType, key_type, 1, INT32),
  MESSAGE(OnnxlMapType, value_type, 2, type),
};

static const OnnxlFieldDescriptor optional_type_fields[] = {
  MESSAGE(OnnxlElementType, elem_type, 1, type),
};

static const OnnxlFieldDescriptor sparse_tensor_type_fields[] = {
  NUMBER(OnnxlTensorType, elem_type, 1, INT32),
  MESSAGE(OnnxlTensorType, shape, 2, shape),
};

static const OnnxlFieldDescriptor opaque_type_fields[] = {
  TEXT(OnnxlOpaqueType, domain, 1, STRING),
  TEXT(OnnxlOpaqueType, name, 2, STRING),
};

static const OnnxlFieldDescriptor opset_fields[] = {
  TEXT(OnnxlOpset, domain, 1, STRING),
  NUMBER(OnnxlOpset, version, 2, INT64),
};

static const OnnxlFieldDescriptor function_fields[] = {
  TEXT(OnnxlFunction, name, 1, STRING),
  LIST(OnnxlFunction, input, 4, STRING),
  LIST(OnnxlFunction, output, 5, STRING),
  LIST(OnnxlFunction, attribute, 6, STRING),
  MESSAGES_OF(OnnxlFunction, attribute_proto, 11, attribute),
  MESSAGES_OF(OnnxlFunction, node, 7, node),
  TEXT(OnnxlFunction, doc_string, 8, STRING),
  MESSAGES_OF(OnnxlFunction, opset_import, 9, opset),
  TEXT(OnnxlFunction, domain, 10, STRING),
  TEXT(OnnxlFunction, overload, 13, STRING),
  MESSAGES_OF(OnnxlFunction, value_info, 12, value_info),
  MESSAGES_OF(OnnxlFunction, metadata_props, 14, pair),
};

#define ID(id, text, type) ID_##id,
enum { MESSAGES(ID) N_MESSAGES };
#undef ID
_Static_assert((int)N_MESSAGES == (int)ONNXL_N_MESSAGES, "schema.h says how many messages there are");

#define DEFINE(id, text, type)                                                                                         \
  const OnnxlMessageDescriptor onnxl_##id##_descriptor = { text, ID_##id, sizeof(type), id##_fields,                   \
                                                           G_N_ELEMENTS(id##_fields) };
MESSAGES(DEFINE)
#undef DEFINE

#define REFER(id, text, type) &onnxl_##id##_descriptor,
const OnnxlMessageDescriptor *const onnxl_message_descriptors[] = { MESSAGES(REFER) };
#undef REFER

size_t
onnxl_field_item_size(const OnnxlFieldDescriptor *field)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    return sizeof(OnnxlStr);
  case ONNXL_FIELD_MESSAGE:
    return field->message->size;
  case ONNXL_FIELD_INT64:
    return sizeof(int64_t);
  case ONNXL_FIELD_FLOAT:
    return sizeof(float);
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
    return sizeof(int32_t);
  default:
    return 1;
  }
}

const OnnxlFieldDescriptor *
onnxl_field_by_number(const OnnxlMessageDescriptor *message, uint32_t number)
{
  for (size_t i = 0; i < message->n_fields; i++)
    if (message->fields[i].number == number)
      return &message->fields[i];
  return NULL;
}

const OnnxlFieldDescriptor *
onnxl_field_by_name(const OnnxlMessageDescriptor *message, OnnxlStr name)
{
  for (size_t i = 0; i < message->n_fields; i++)
    if (onnxl_str_is(name, message->fields[i].name))
      return &message->fields[i];
  return NULL;
}

static bool
varints_equal(OnnxlPacked a, OnnxlPacked b, bool narrow)
{
  const char *at_a = a.bytes.data, *end_a = at_a + a.bytes.size;
  const char *at_b = b.bytes.data, *end_b = at_b + b.bytes.size;

  if (onnxl_str_equal(a.bytes, b.bytes))
    return true;
  while (at_a < end_a && at_b < end_b) {
    uint64_t x, y;
    if (!onnxl_packed_varint(&at_a, end_a, &x) || !onnxl_packed_varint(&at_b, end_b, &y))
      return false;
    if (narrow ? (uint32_t)x != (uint32_t)y : x != y)
      return false;
  }
  return at_a == end_a && at_b == end_b;
}

static bool
unknown_equal(const OnnxlUnknownList *a, const OnnxlUnknownList *b)
{
  if (a->count != b->count)
    return false;
  for (size_t i = 0; i < a->count; i++)
    if (a->items[i].number != b->items[i].number || a->items[i].wire_type != b->items[i].wire_type ||
        a->items[i].value != b->items[i].value || !onnxl_str_equal(a->items[i].bytes, b->items[i].bytes))
      return false;
  return true;
}

static bool
list_equal(const OnnxlFieldDescriptor *field, const void *a, const void *b)
{
  const OnnxlStrList *x = a, *y = b;

  if (x->count != y->count)
    return false;
  if (x->count == 0)
    return true;
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    for (size_t i = 0; i < x->count; i++)
      if (!onnxl_str_equal(x->items[i], y->items[i]))
        return false;
    return true;
  case ONNXL_FIELD_MESSAGE:
    for (size_t i = 0; i < x->count; i++)
      if (!onnxl_message_equal(field->message, (const char *)x->items + i * field->message->size,
                               (const char *)y->items + i * field->message->size))
        return false;
    return true;
  case ONNXL_FIELD_FLOAT:
    return memcmp(x->items, y->items, x->count * sizeof(float)) == 0;
  default:
    return memcmp(x->items, y->items, x->count * sizeof(int64_t)) == 0;
  }
}

static bool
single_equal(const OnnxlFieldDescriptor *field, const void *a, const void *b)
{
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    return onnxl_str_equal(*(const OnnxlStr *)a, *(const OnnxlStr *)b);
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_FLOAT:
    return memcmp(a, b, 4) == 0;
  case ONNXL_FIELD_INT64:
    return memcmp(a, b, 8) == 0;
  case ONNXL_FIELD_MESSAGE:
    return onnxl_message_equal(field->message, *(void *const *)a, *(void *const *)b);
  case ONNXL_FIELD_PACKED_FLOAT:
  case ONNXL_FIELD_PACKED_DOUBLE:
    return onnxl_str_equal(((const OnnxlPacked *)a)->bytes, ((const OnnxlPacked *)b)->bytes);
  case ONNXL_FIELD_PACKED_INT32:
    return varints_equal(*(const OnnxlPacked *)a, *(const OnnxlPacked *)b, true);
  case ONNXL_FIELD_PACKED_INT64:
  case ONNXL_FIELD_PACKED_UINT64:
    return varints_equal(*(const OnnxlPacked *)a, *(const OnnxlPacked *)b, false);
  }
  return false;
}

bool
onnxl_message_equal(const OnnxlMessageDescriptor *descriptor, const void *a, const void *b)
{
  if (!unknown_equal(&((const OnnxlMessage *)a)->unknown, &((const OnnxlMessage *)b)->unknown))
    return false;
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    const void *x = onnxl_field_member(field, a), *y = onnxl_field_member(field, b);

    if (field->repeated) {
      if (!list_equal(field, x, y))
        return false;
      continue;
    }
    if (onnxl_field_is_set(field, a) != onnxl_field_is_set(field, b))
      return false;
    if (onnxl_field_is_set(field, a) && !single_equal(field, x, y))
      return false;
  }
  return true;
}
