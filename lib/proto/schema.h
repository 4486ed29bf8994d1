/* The field table of onnx.proto: one row a field. The wire reader and writer, the blocks of the text syntax, JSON and
 * comparison are all driven by it, so a new field of ONNX is one member in model.h and one row in schema.c. */
#ifndef ONNXL_PROTO_SCHEMA_H
#define ONNXL_PROTO_SCHEMA_H

#include "proto/model.h"

typedef enum OnnxlFieldKind {
  ONNXL_FIELD_STRING,       /* OnnxlStr, text */
  ONNXL_FIELD_BYTES,        /* OnnxlStr, any bytes */
  ONNXL_FIELD_INT32,        /* int32_t */
  ONNXL_FIELD_ENUM,         /* int32_t, open: any number is kept */
  ONNXL_FIELD_INT64,        /* int64_t */
  ONNXL_FIELD_FLOAT,        /* float */
  ONNXL_FIELD_MESSAGE,      /* pointer; in a list: the structs themselves */
  ONNXL_FIELD_PACKED_FLOAT, /* OnnxlPacked of 4-byte values */
  ONNXL_FIELD_PACKED_DOUBLE,
  ONNXL_FIELD_PACKED_INT32, /* OnnxlPacked of varints */
  ONNXL_FIELD_PACKED_INT64,
  ONNXL_FIELD_PACKED_UINT64,
} OnnxlFieldKind;

typedef struct OnnxlMessageDescriptor OnnxlMessageDescriptor;

typedef struct OnnxlFieldDescriptor {
  const char *name;
  uint32_t number;
  OnnxlFieldKind kind;
  bool repeated;       /* an ONNXL_LIST of strings, int64_t, float or messages (never set for PACKED kinds) */
  uint8_t oneof;       /* not 0: fields of the message with the same number exclude each other */
  uint16_t offset;     /* of the member */
  uint16_t has_offset; /* of its has_ member, for single numbers, else 0 */
  uint16_t presence;   /* of others: of the pointer or size in the member that is not 0 when it is set */
  const OnnxlMessageDescriptor *message; /* of kind MESSAGE */
} OnnxlFieldDescriptor;

struct OnnxlMessageDescriptor {
  const char *name;                   /* "NodeProto" */
  size_t id;                          /* position in onnxl_message_descriptors */
  size_t size;                        /* of the struct */
  const OnnxlFieldDescriptor *fields; /* in the order of onnx.proto */
  size_t n_fields;
};

/* All messages, in the order of onnx.proto. */
enum { ONNXL_N_MESSAGES = 28 };
extern const OnnxlMessageDescriptor *const onnxl_message_descriptors[ONNXL_N_MESSAGES];

extern const OnnxlMessageDescriptor onnxl_model_descriptor;
extern const OnnxlMessageDescriptor onnxl_graph_descriptor;
extern const OnnxlMessageDescriptor onnxl_node_descriptor;
extern const OnnxlMessageDescriptor onnxl_attribute_descriptor;
extern const OnnxlMessageDescriptor onnxl_tensor_descriptor;
extern const OnnxlMessageDescriptor onnxl_sparse_tensor_descriptor;
extern const OnnxlMessageDescriptor onnxl_type_descriptor;
extern const OnnxlMessageDescriptor onnxl_value_info_descriptor;
extern const OnnxlMessageDescriptor onnxl_function_descriptor;
extern const OnnxlMessageDescriptor onnxl_opset_descriptor;
extern const OnnxlMessageDescriptor onnxl_pair_descriptor;
extern const OnnxlMessageDescriptor onnxl_dimension_descriptor;

const OnnxlFieldDescriptor *onnxl_field_by_number(const OnnxlMessageDescriptor *message, uint32_t number);

const OnnxlFieldDescriptor *onnxl_field_by_name(const OnnxlMessageDescriptor *message, OnnxlStr name);

/* True when the field is set in the message struct: present, or a list that is not empty. */
static inline bool
onnxl_field_is_set(const OnnxlFieldDescriptor *field, const void *message)
{
  uintptr_t presence;

  if (field->has_offset)
    return *((const bool *)message + field->has_offset);
  memcpy(&presence, (const char *)message + field->presence, sizeof(presence));
  return presence != 0;
}

/* Address of the member. */
static inline void *
onnxl_field_member(const OnnxlFieldDescriptor *field, const void *message)
{
  return (char *)message + field->offset;
}

/* Bytes of an item in a list: the field is repeated, or packed, which is a list of bytes. */
size_t onnxl_field_item_size(const OnnxlFieldDescriptor *field);

/* True when two messages are equal field by field: presence, order in lists, unknown fields; packed numbers by value.
 */
bool onnxl_message_equal(const OnnxlMessageDescriptor *descriptor, const void *a, const void *b);

#endif
