/* What reading and writing JSON share: names of fields and of enum values. */
#ifndef ONNXL_PROTO_JSON_INTERNAL_H
#define ONNXL_PROTO_JSON_INTERNAL_H

#include "proto/schema.h"

/* Room for the name of any field. */
#define JSON_NAME_SIZE 64

/* The field's name in lowerCamelCase, as protobuf makes it: an underscore goes, and the letter behind it becomes large.
 */
void onnxl_json_field_name(const OnnxlFieldDescriptor *field, char name[JSON_NAME_SIZE]);

/* The name of an enum's value ("FLOAT", "EXTERNAL"), or false when it has none. */
bool onnxl_json_enum_name(const OnnxlFieldDescriptor *field, int32_t value, char name[JSON_NAME_SIZE]);
bool onnxl_json_enum_value(const OnnxlFieldDescriptor *field, OnnxlStr name, int32_t *ret_value);

#endif
