"""Compares two ONNX models on the wire, written apart from lib/proto so that the one checks the other.

Equal means: every field of every message is present in both or in neither, with the same value; repeated fields have the
same elements in the same order; unknown fields are the same bytes. What protobuf leaves open makes no difference: the
order of different fields, packed or unpacked numbers, the length of varints, a message in several pieces.
"""

# Message: fields as NUMBER NAME KIND. KIND: i = 64-bit varint, n = 32-bit varint, f, d = float, double, s = bytes, or a
# message; * = repeated; | = member of the message's oneof.
SCHEMA = {
    "ModelProto": "1 ir_version i, 8 opset_import *OperatorSetIdProto, 2 producer_name s, 3 producer_version s,"
                  "4 domain s, 5 model_version i, 6 doc_string s, 7 graph GraphProto,"
                  "14 metadata_props *StringStringEntryProto, 20 training_info *TrainingInfoProto,"
                  "25 functions *FunctionProto, 26 configuration *DeviceConfigurationProto",
    "GraphProto": "1 node *NodeProto, 2 name s, 5 initializer *TensorProto, 15 sparse_initializer *SparseTensorProto,"
                  "10 doc_string s, 11 input *ValueInfoProto, 12 output *ValueInfoProto, 13 value_info *ValueInfoProto,"
                  "14 quantization_annotation *TensorAnnotation, 16 metadata_props *StringStringEntryProto",
    "NodeProto": "1 input *s, 2 output *s, 3 name s, 4 op_type s, 7 domain s, 8 overload s, 5 attribute *AttributeProto,"
                 "6 doc_string s, 9 metadata_props *StringStringEntryProto,"
                 "10 device_configurations *NodeDeviceConfigurationProto",
    "AttributeProto": "1 name s, 21 ref_attr_name s, 13 doc_string s, 20 type n, 2 f f, 3 i i, 4 s s, 5 t TensorProto,"
                      "6 g GraphProto, 22 sparse_tensor SparseTensorProto, 14 tp TypeProto, 7 floats *f, 8 ints *i,"
                      "9 strings *s, 10 tensors *TensorProto, 11 graphs *GraphProto,"
                      "23 sparse_tensors *SparseTensorProto, 15 type_protos *TypeProto",
    "ValueInfoProto": "1 name s, 2 type TypeProto, 3 doc_string s, 4 metadata_props *StringStringEntryProto",
    "TensorProto": "1 dims *i, 2 data_type n, 3 segment Segment, 4 float_data *f, 5 int32_data *n, 6 string_data *s,"
                   "7 int64_data *i, 8 name s, 12 doc_string s, 9 raw_data s, 13 external_data *StringStringEntryProto,"
                   "14 data_location n, 10 double_data *d, 11 uint64_data *i, 16 metadata_props *StringStringEntryProto",
    "Segment": "1 begin i, 2 end i",
    "SparseTensorProto": "1 values TensorProto, 2 indices TensorProto, 3 dims *i",
    "TensorShapeProto": "1 dim *Dimension",
    "Dimension": "1 dim_value |i, 2 dim_param |s, 3 denotation s",
    "TypeProto": "1 tensor_type |TensorType, 4 sequence_type |ElementType, 5 map_type |MapType,"
                 "9 optional_type |ElementType, 8 sparse_tensor_type |TensorType, 7 opaque_type |OpaqueType,"
                 "6 denotation s",
    "TensorType": "1 elem_type n, 2 shape TensorShapeProto",
    "ElementType": "1 elem_type TypeProto",
    "MapType": "1 key_type n, 2 value_type TypeProto",
    "OpaqueType": "1 domain s, 2 name s",
    "OperatorSetIdProto": "1 domain s, 2 version i",
    "StringStringEntryProto": "1 key s, 2 value s",
    "FunctionProto": "1 name s, 4 input *s, 5 output *s, 6 attribute *s, 11 attribute_proto *AttributeProto,"
                     "7 node *NodeProto, 8 doc_string s, 9 opset_import *OperatorSetIdProto, 10 domain s, 13 overload s,"
                     "12 value_info *ValueInfoProto, 14 metadata_props *StringStringEntryProto",
    "TrainingInfoProto": "1 initialization GraphProto, 2 algorithm GraphProto,"
                         "3 initialization_binding *StringStringEntryProto, 4 update_binding *StringStringEntryProto",
    "TensorAnnotation": "1 tensor_name s, 2 quant_parameter_tensor_names *StringStringEntryProto",
    "DeviceConfigurationProto": "1 name s, 2 num_devices n, 3 device *s",
    "NodeDeviceConfigurationProto": "1 configuration_id s, 2 sharding_spec *ShardingSpecProto, 3 pipeline_stage n",
    "ShardingSpecProto": "1 tensor_name s, 2 device *i, 3 index_to_device_group_map *IntIntListEntryProto,"
                         "4 sharded_dim *ShardedDimProto",
    "IntIntListEntryProto": "1 key i, 2 value *i",
    "ShardedDimProto": "1 axis i, 2 simple_sharding *SimpleShardedDimProto",
    "SimpleShardedDimProto": "1 dim_value |i, 2 dim_param |s, 3 num_shards i",
    "SequenceProto": "1 name s, 2 elem_type n, 3 tensor_values *TensorProto, 4 sparse_tensor_values *SparseTensorProto,"
                     "5 sequence_values *SequenceProto, 6 map_values *MapProto, 7 optional_values *OptionalProto",
    "OptionalProto": "1 name s, 2 elem_type n, 3 tensor_value TensorProto, 4 sparse_tensor_value SparseTensorProto,"
                     "5 sequence_value SequenceProto, 6 map_value MapProto, 7 optional_value OptionalProto",
    "MapProto": "1 name s, 2 key_type n, 3 keys *i, 4 string_keys *s, 5 values SequenceProto",
}

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
WIRE_TYPE = {"i": VARINT, "n": VARINT, "f": FIXED32, "d": FIXED64}
WIDTH = {FIXED32: 4, FIXED64: 8}


class Field:
    def __init__(self, text):
        number, self.name, kind = text.split()
        self.number = int(number)
        self.repeated = kind[0] == "*"
        self.oneof = kind[0] == "|"
        self.kind = kind.lstrip("*|")
        self.wire_type = WIRE_TYPE.get(self.kind, BYTES)


FIELDS = {message: {field.number: field for field in map(Field, text.split(","))} for message, text in SCHEMA.items()}


class Malformed(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("varint at %d" % at)
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1), at
        shift += 7


def value_at(data, at, wire_type, number):
    """-> (value, end): an int for a varint, else bytes (of a group: all to its end tag)."""
    if wire_type == VARINT:
        return varint(data, at)
    if wire_type == GROUP:
        start = at
        while True:
            key, at = varint(data, at)
            if key & 7 == END_GROUP:
                if key >> 3 != number:
                    raise Malformed("end of group at %d" % at)
                return bytes(data[start:at]), at
            _, at = value_at(data, at, key & 7, key >> 3)
    if wire_type == BYTES:
        size, at = varint(data, at)
    elif wire_type in WIDTH:
        size = WIDTH[wire_type]
    else:
        raise Malformed("wire type %d at %d" % (wire_type, at))
    if size > len(data) - at:
        raise Malformed("length %d at %d" % (size, at))
    return bytes(data[at:at + size]), at + size


def parse(data, message="ModelProto"):
    """-> {field name: value, or list for a repeated one}; unknown fields under "?NUMBER"."""
    fields, result, pieces, at = FIELDS[message], {}, {}, 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire_type = key >> 3, key & 7
        value, at = value_at(data, at, wire_type, number)
        field = fields.get(number)
        packed = field and field.repeated and field.wire_type != BYTES and wire_type == BYTES
        if not field or not (packed or wire_type == field.wire_type):
            result.setdefault("?%d" % number, []).append((wire_type, value))
            continue
        if field.oneof:
            for other in fields.values():
                if other.oneof and other is not field:
                    result.pop(other.name, None)
                    pieces.pop(other.number, None)
        if packed:
            values, place = result.get(field.name, []), 0
            while place < len(value):
                item, place = value_at(value, place, field.wire_type, number)
                values.append(number_of(field, item))
            if values:              # a packed field without elements says nothing
                result[field.name] = values
        elif field.kind in FIELDS and not field.repeated:
            pieces[number] = pieces.get(number, b"") + value
            result[field.name] = None
        else:
            item = parse(value, field.kind) if field.kind in FIELDS else number_of(field, value)
            if field.repeated:
                result.setdefault(field.name, []).append(item)
            else:
                result[field.name] = item
    for number, value in pieces.items():
        result[fields[number].name] = parse(value, fields[number].kind)
    return result


def encoded(value):
    """A varint."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def edited(data, change):
    """data with change(number, value) in place of each field that is bytes; None leaves the field out."""
    out, at = bytearray(), 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        value, at = value_at(data, at, key & 7, key >> 3)
        new = change(key >> 3, value) if key & 7 == BYTES else value
        if new is value:
            out += data[start:at]
        elif new is not None:
            out += encoded(key) + encoded(len(new)) + new
    return bytes(out)


def number_of(field, value):
    return value & (2**32 - 1) if field.kind == "n" else value


def difference(a, b, path=""):
    """None when equal, else a text that names the first difference."""
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted(a.keys() | b.keys()):
            here = "%s.%s" % (path, name) if path else name
            if name not in a or name not in b:
                return "%s: only in the %s" % (here, "first" if name in a else "second")
            found = difference(a[name], b[name], here)
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return "%s: %d and %d elements" % (path, len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return difference(x, y, "%s[%d]" % (path, i))
        return None
    return None if a == b else "%s: %.60r and %.60r" % (path, a, b)


def compare_files(first, second):
    """None when the two model files are equal field by field, else a text."""
    models = []
    for path in (first, second):
        with open(path, "rb") as file:
            data = file.read()
        try:
            models.append(parse(data))
        except Malformed as error:
            return "%s: malformed %s" % (path, error)
    return difference(*models)
