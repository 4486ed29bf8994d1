/* The field table and onnx.proto say the same: protobuf-c's descriptors, compiled from the latter, are the witness. */
#include "proto/schema.h"

#include <protobuf-c/protobuf-c.h>

#include "onnx.pb-c.h"
#include "unit.h"

/* The structures behind both tables are found by walking down from ModelProto. */
typedef struct Seen {
  const OnnxlMessageDescriptor *ours[64];
  const ProtobufCMessageDescriptor *theirs[64];
  size_t count;
} Seen;

static void
collect(Seen *seen, const OnnxlMessageDescriptor *ours, const ProtobufCMessageDescriptor *theirs)
{
  for (size_t i = 0; i < seen->count; i++)
    if (seen->ours[i] == ours)
      return;
  CU_ASSERT_FATAL(seen->count < G_N_ELEMENTS(seen->ours));
  seen->ours[seen->count] = ours;
  seen->theirs[seen->count++] = theirs;
  for (size_t i = 0; i < ours->n_fields; i++) {
    const ProtobufCFieldDescriptor *field =
      protobuf_c_message_descriptor_get_field(theirs, ours->fields[i].number);
    if (field && ours->fields[i].kind == ONNXL_FIELD_MESSAGE && field->type == PROTOBUF_C_TYPE_MESSAGE)
      collect(seen, ours->fields[i].message, field->descriptor);
  }
}

static ProtobufCType
their_type(OnnxlFieldKind kind)
{
  switch (kind) {
  case ONNXL_FIELD_STRING:
    return PROTOBUF_C_TYPE_STRING;
  case ONNXL_FIELD_BYTES:
    return PROTOBUF_C_TYPE_BYTES;
  case ONNXL_FIELD_INT32:
  case ONNXL_FIELD_PACKED_INT32:
    return PROTOBUF_C_TYPE_INT32;
  case ONNXL_FIELD_ENUM:
    return PROTOBUF_C_TYPE_ENUM;
  case ONNXL_FIELD_INT64:
  case ONNXL_FIELD_PACKED_INT64:
    return PROTOBUF_C_TYPE_INT64;
  case ONNXL_FIELD_PACKED_UINT64:
    return PROTOBUF_C_TYPE_UINT64;
  case ONNXL_FIELD_FLOAT:
  case ONNXL_FIELD_PACKED_FLOAT:
    return PROTOBUF_C_TYPE_FLOAT;
  case ONNXL_FIELD_PACKED_DOUBLE:
    return PROTOBUF_C_TYPE_DOUBLE;
  case ONNXL_FIELD_MESSAGE:
    return PROTOBUF_C_TYPE_MESSAGE;
  }
  return PROTOBUF_C_TYPE_BOOL;
}

static void
check_message(const OnnxlMessageDescriptor *ours, const ProtobufCMessageDescriptor *theirs)
{
  const char *name = theirs->name + strlen("onnx.");

  CU_ASSERT_STRING_EQUAL(ours->name, name);
  CU_ASSERT_EQUAL(ours->n_fields, theirs->n_fields);
  for (size_t i = 0; i < ours->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &ours->fields[i];
    const ProtobufCFieldDescriptor *other = protobuf_c_message_descriptor_get_field(theirs, field->number);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    CU_ASSERT_STRING_EQUAL(field->name, other->name);
    CU_ASSERT_EQUAL(other->type, their_type(field->kind));
    CU_ASSERT_EQUAL(field->repeated || field->kind >= ONNXL_FIELD_PACKED_FLOAT,
                    other->label == PROTOBUF_C_LABEL_REPEATED);
    CU_ASSERT_EQUAL(field->kind >= ONNXL_FIELD_PACKED_FLOAT, (other->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0);
    CU_ASSERT_EQUAL(field->oneof != 0, (other->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0);
    CU_ASSERT_PTR_EQUAL(onnxl_field_by_name(ours, onnxl_str(field->name)), field);
    CU_ASSERT_PTR_EQUAL(onnxl_field_by_number(ours, field->number), field);
    CU_ASSERT(field->offset < ours->size);
  }
  CU_ASSERT_PTR_NULL(onnxl_field_by_number(ours, 9999));
}

static void
test_same_as_onnx_proto(void)
{
  Seen seen = { .count = 0 };

  collect(&seen, &onnxl_model_descriptor, &onnx__model_proto__descriptor);
  CU_ASSERT_EQUAL(seen.count, ONNXL_N_MESSAGES);
  for (size_t i = 0; i < seen.count; i++)
    check_message(seen.ours[i], seen.theirs[i]);
}

static void
test_enums(void)
{
  const ProtobufCEnumDescriptor *types = &onnx__attribute_proto__attribute_type__descriptor;

  CU_ASSERT_EQUAL(types->n_values, ONNXL_N_ATTRIBUTE_TYPES);
  for (int32_t i = 1; i < ONNXL_N_ATTRIBUTE_TYPES; i++) {
    g_autofree char *upper = g_ascii_strup(onnxl_attribute_type_name(i), -1);
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(types, i);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    CU_ASSERT_STRING_EQUAL(value->name, upper);
    CU_ASSERT_EQUAL(onnxl_attribute_type_from_name(onnxl_str(onnxl_attribute_type_name(i))), i);
  }
  types = &onnx__tensor_proto__data_type__descriptor;
  CU_ASSERT_EQUAL(types->n_values, ONNXL_N_TYPES);
  for (int32_t i = 1; i < ONNXL_N_TYPES; i++) {
    g_autofree char *upper = g_ascii_strup(onnxl_data_type_name(i), -1);
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(types, i);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    CU_ASSERT_STRING_EQUAL(value->name, upper);
    CU_ASSERT_EQUAL(onnxl_data_type_from_name(onnxl_str(onnxl_data_type_name(i))), i);
  }
}

UNIT_MAIN("schema", { "the field table is onnx.proto's", test_same_as_onnx_proto }, { "enums", test_enums })
