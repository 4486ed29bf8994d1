#include "proto/text-write-internal.h"

#include "proto/packed.h"
#include "support/error.h"
#include "support/number.h"

/* Payloads above this size become references or are left out where the weights are not inline. */
enum { LARGE_PAYLOAD = 1024 };

/* Field numbers of TensorProto. */
enum {
  FIELD_DIMS = 1,
  FIELD_DATA_TYPE = 2,
  FIELD_FLOAT_DATA = 4,
  FIELD_INT32_DATA = 5,
  FIELD_STRING_DATA = 6,
  FIELD_INT64_DATA = 7,
  FIELD_NAME = 8,
  FIELD_RAW_DATA = 9,
  FIELD_DOUBLE_DATA = 10,
  FIELD_UINT64_DATA = 11,
  FIELD_EXTERNAL_DATA = 13,
  FIELD_DATA_LOCATION = 14,
};

#define PAYLOAD_FIELDS                                                                           \
  (TEXT_FIELD(FIELD_FLOAT_DATA) | TEXT_FIELD(FIELD_INT32_DATA) | TEXT_FIELD(FIELD_STRING_DATA) | \
   TEXT_FIELD(FIELD_INT64_DATA) | TEXT_FIELD(FIELD_RAW_DATA) | TEXT_FIELD(FIELD_DOUBLE_DATA) |   \
   TEXT_FIELD(FIELD_UINT64_DATA))

/* How the values of a tensor are written. */
typedef enum DataForm {
  DATA_VALUES,    /* {…}; also for none, and when the payloads are in the block */
  DATA_ELEMENTS,  /* ![…] */
  DATA_REFERENCE, /* ["location": …] under embed */
  DATA_EXTERNAL,  /* the same under external */
  DATA_ELIDED,    /* ... */
} DataForm;

typedef struct TensorData {
  DataForm form;
  uint32_t field;   /* number of the payload field that the text says, 0 = none */
  OnnxlStr payload; /* its bytes; not of string_data */
} TensorData;

/* One literal as it lies in raw_data. */
typedef enum RawUnit {
  UNIT_NONE,
  UNIT_U8,
  UNIT_S8,
  UNIT_U16,
  UNIT_S16,
  UNIT_S32,
  UNIT_U32,
  UNIT_S64,
  UNIT_U64,
  UNIT_F32,
  UNIT_F64
} RawUnit;

static const uint8_t unit_sizes[] = {
  [UNIT_U8] = 1,  [UNIT_S8] = 1,  [UNIT_U16] = 2, [UNIT_S16] = 2, [UNIT_S32] = 4,
  [UNIT_U32] = 4, [UNIT_S64] = 8, [UNIT_U64] = 8, [UNIT_F32] = 4, [UNIT_F64] = 8,
};

/* An element type: how its values lie in raw_data and which field holds them otherwise. */
typedef struct TypeStorage {
  uint8_t unit;
  uint8_t typed_field;
} TypeStorage;

static const TypeStorage type_storage[ONNXL_N_TYPES] = {
  [ONNXL_TYPE_FLOAT] = { UNIT_F32, FIELD_FLOAT_DATA },
  [ONNXL_TYPE_UINT8] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT8] = { UNIT_S8, FIELD_INT32_DATA },
  [ONNXL_TYPE_UINT16] = { UNIT_U16, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT16] = { UNIT_S16, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT32] = { UNIT_S32, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT64] = { UNIT_S64, FIELD_INT64_DATA },
  [ONNXL_TYPE_STRING] = { UNIT_NONE, FIELD_STRING_DATA },
  [ONNXL_TYPE_BOOL] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT16] = { UNIT_U16, FIELD_INT32_DATA },
  [ONNXL_TYPE_DOUBLE] = { UNIT_F64, FIELD_DOUBLE_DATA },
  [ONNXL_TYPE_UINT32] = { UNIT_U32, FIELD_UINT64_DATA },
  [ONNXL_TYPE_UINT64] = { UNIT_U64, FIELD_UINT64_DATA },
  [ONNXL_TYPE_COMPLEX64] = { UNIT_F32, FIELD_FLOAT_DATA },
  [ONNXL_TYPE_COMPLEX128] = { UNIT_F64, FIELD_DOUBLE_DATA },
  [ONNXL_TYPE_BFLOAT16] = { UNIT_U16, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT8E4M3FN] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT8E4M3FNUZ] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT8E5M2] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT8E5M2FNUZ] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_UINT4] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT4] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT4E2M1] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_FLOAT8E8M0] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_UINT2] = { UNIT_U8, FIELD_INT32_DATA },
  [ONNXL_TYPE_INT2] = { UNIT_U8, FIELD_INT32_DATA },
};

static TypeStorage
storage_of(const OnnxlTensor *tensor)
{
  bool known = tensor->has_data_type && onnxl_data_type_name(tensor->data_type);
  return known ? type_storage[tensor->data_type] : (TypeStorage){ UNIT_NONE, 0 };
}

/* The only payload field that is set, and its bytes; 0 when there are none or several. */
static uint32_t
single_payload(const OnnxlTensor *tensor, OnnxlStr *ret_bytes)
{
  uint32_t field = 0, count = 0;
#define LOOK(is_set, number, slice) \
  if (is_set) {                     \
    count++;                        \
    field = number;                 \
    *ret_bytes = slice;             \
  }
#define LOOK_PACKED(member, number) LOOK(tensor->member.bytes.size > 0, number, tensor->member.bytes)
  LOOK(tensor->raw_data.data, FIELD_RAW_DATA, tensor->raw_data)
  LOOK(tensor->string_data.count > 0, FIELD_STRING_DATA, ONNXL_STR(""))
  LOOK_PACKED(float_data, FIELD_FLOAT_DATA)
  LOOK_PACKED(int32_data, FIELD_INT32_DATA)
  LOOK_PACKED(int64_data, FIELD_INT64_DATA)
  LOOK_PACKED(double_data, FIELD_DOUBLE_DATA)
  LOOK_PACKED(uint64_data, FIELD_UINT64_DATA)
#undef LOOK_PACKED
#undef LOOK
  return count == 1 ? field : 0;
}

/* Number of elements; false when a dim is negative. A number beyond 64 bits is the largest one. */
static bool
count_elements(const OnnxlTensor *tensor, uint64_t *ret_count)
{
  uint64_t count = 1;
  bool empty = false;

  for (size_t i = 0; i < tensor->dims.count; i++) {
    int64_t dim = tensor->dims.items[i];
    if (dim < 0)
      return false;
    empty |= dim == 0;
    if (!empty && __builtin_mul_overflow(count, (uint64_t)dim, &count))
      count = UINT64_MAX;
  }
  *ret_count = empty ? 0 : count;
  return true;
}

static bool
is_large(const OnnxlTensor *tensor)
{
  uint32_t bits = 0;
  uint64_t count;

  if (tensor->has_data_type)
    bits = tensor->data_type == ONNXL_TYPE_STRING ? 64 : onnxl_data_type_bits(tensor->data_type);
  return bits > 0 && count_elements(tensor, &count) && count > (uint64_t)LARGE_PAYLOAD * 8 / bits;
}

/* True when the payload lies as one run of fixed-size values, in a place that a reference can name. */
static bool
is_referable(const TextPrinter *p, const TensorData *data)
{
  uint64_t offset;

  if (data->payload.size <= LARGE_PAYLOAD ||
      (data->field != FIELD_RAW_DATA && data->field != FIELD_FLOAT_DATA && data->field != FIELD_DOUBLE_DATA))
    return false;
  if (p->options->weights == ONNXL_WEIGHTS_FILE)
    return true;
  return p->options->weights == ONNXL_WEIGHTS_AUTO && p->location &&
         onnxl_file_locate(p->model->file, data->payload, &offset);
}

static bool elements_are_regular(const OnnxlTensor *tensor, const TensorData *data);

static TensorData
look_at_data(const TextPrinter *p, const OnnxlTensor *tensor)
{
  TensorData data = { DATA_VALUES, 0, { NULL, 0 } };
  TypeStorage storage = storage_of(tensor);

  if (onnxl_tensor_is_external(tensor)) {
    data.form = DATA_EXTERNAL;
    return data;
  }
  if (p->options->weights == ONNXL_WEIGHTS_ELIDE && is_large(tensor)) {
    data.form = DATA_ELIDED;
    return data;
  }
  data.field = single_payload(tensor, &data.payload);
  if (data.field == FIELD_RAW_DATA) {
    if (storage.unit == UNIT_NONE || data.payload.size % unit_sizes[storage.unit] != 0)
      data.field = 0;
  } else if (data.field != storage.typed_field) {
    data.field = 0;
  }
  if (data.field != 0 && is_referable(p, &data))
    data.form = DATA_REFERENCE;
  else if (data.field != 0 && p->options->elements && elements_are_regular(tensor, &data))
    data.form = DATA_ELEMENTS;
  return data;
}

TextNeeds
onnxl_text_tensor_needs(const TextPrinter *p, const OnnxlTensor *tensor, TextTensorPlace place)
{
  TensorData data = look_at_data(p, tensor);
  uint32_t raw = data.field == FIELD_RAW_DATA ? TEXT_NOTE_RAW : 0;
  TextNeeds needs = { 0, 0 };

  switch (data.form) {
  case DATA_VALUES:
  case DATA_ELEMENTS:
    /* Strings are string_data whatever the note says. */
    if (!(tensor->has_data_type && tensor->data_type == ONNXL_TYPE_STRING))
      needs = (TextNeeds){ TEXT_NOTE_RAW, raw };
    break;
  case DATA_REFERENCE:
    needs = (TextNeeds){ TEXT_NOTE_RAW | TEXT_NOTE_EMBED, raw | TEXT_NOTE_EMBED };
    break;
  case DATA_EXTERNAL:
    needs = (TextNeeds){ TEXT_NOTE_EMBED, 0 };
    break;
  case DATA_ELIDED:
    break;
  }
  if (place == TEXT_TENSOR_VALUE && tensor->name.size == 0) {
    needs.mask |= TEXT_NOTE_NO_NAME;
    needs.words |= tensor->name.data ? 0 : TEXT_NOTE_NO_NAME;
  }
  return needs;
}

static void
float_values(TextPrinter *p, OnnxlStr bytes)
{
  char text[ONNXL_NUMBER_SIZE];
  float value;

  for (size_t at = 0; at + sizeof value <= bytes.size; at += sizeof value) {
    memcpy(&value, bytes.data + at, sizeof value);
    onnxl_text_item(p, at == 0, text, onnxl_text_float(p, text, value));
  }
  if (bytes.size % sizeof value != 0)
    onnxl_text_malformed(p);
}

static void
double_values(TextPrinter *p, OnnxlStr bytes)
{
  char text[ONNXL_NUMBER_SIZE];
  double value;

  for (size_t at = 0; at + sizeof value <= bytes.size; at += sizeof value) {
    memcpy(&value, bytes.data + at, sizeof value);
    onnxl_text_item(p, at == 0, text, onnxl_text_double(p, text, value));
  }
  if (bytes.size % sizeof value != 0)
    onnxl_text_malformed(p);
}

static void
raw_values(TextPrinter *p, RawUnit unit, OnnxlStr bytes)
{
  size_t size = unit_sizes[unit];

  if (unit == UNIT_F32) {
    float_values(p, bytes);
    return;
  }
  if (unit == UNIT_F64) {
    double_values(p, bytes);
    return;
  }
  for (size_t at = 0; at < bytes.size; at += size) {
    uint64_t value = 0;
    memcpy(&value, bytes.data + at, size);
    switch (unit) {
    case UNIT_S8:
      onnxl_text_int_item(p, at == 0, (int8_t)value);
      break;
    case UNIT_S16:
      onnxl_text_int_item(p, at == 0, (int16_t)value);
      break;
    case UNIT_S32:
      onnxl_text_int_item(p, at == 0, (int32_t)value);
      break;
    case UNIT_S64:
      onnxl_text_int_item(p, at == 0, (int64_t)value);
      break;
    default:
      onnxl_text_uint_item(p, at == 0, value);
    }
  }
}

static void
values(TextPrinter *p, const OnnxlTensor *tensor, const TensorData *data)
{
  switch (data->field) {
  case FIELD_RAW_DATA:
    raw_values(p, type_storage[tensor->data_type].unit, data->payload);
    break;
  case FIELD_FLOAT_DATA:
    float_values(p, data->payload);
    break;
  case FIELD_DOUBLE_DATA:
    double_values(p, data->payload);
    break;
  case FIELD_STRING_DATA:
    for (size_t i = 0; i < tensor->string_data.count; i++) {
      OnnxlStr s = tensor->string_data.items[i];
      if (i > 0)
        onnxl_text_literal(p, ", ");
      onnxl_text_string(p, s.data ? s : ONNXL_STR(""));
    }
    break;
  case FIELD_INT32_DATA:
    onnxl_text_packed_items(p, ONNXL_FIELD_PACKED_INT32, tensor->int32_data);
    break;
  case FIELD_INT64_DATA:
    onnxl_text_packed_items(p, ONNXL_FIELD_PACKED_INT64, tensor->int64_data);
    break;
  case FIELD_UINT64_DATA:
    onnxl_text_packed_items(p, ONNXL_FIELD_PACKED_UINT64, tensor->uint64_data);
    break;
  default: /* none, or in the block */
    break;
  }
}

/* The element types that ![…] is for: those whose storage units are not their values. */
static bool
has_elements(int32_t type, bool *ret_is_float, OnnxlFloatFormat *ret_format)
{
  static const uint8_t formats[ONNXL_N_TYPES] = {
    [ONNXL_TYPE_FLOAT16] = 1 + ONNXL_FLOAT_FORMAT_FLOAT16,
    [ONNXL_TYPE_BFLOAT16] = 1 + ONNXL_FLOAT_FORMAT_BFLOAT16,
    [ONNXL_TYPE_FLOAT8E4M3FN] = 1 + ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN,
    [ONNXL_TYPE_FLOAT8E4M3FNUZ] = 1 + ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ,
    [ONNXL_TYPE_FLOAT8E5M2] = 1 + ONNXL_FLOAT_FORMAT_FLOAT8E5M2,
    [ONNXL_TYPE_FLOAT8E5M2FNUZ] = 1 + ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ,
    [ONNXL_TYPE_FLOAT8E8M0] = 1 + ONNXL_FLOAT_FORMAT_FLOAT8E8M0,
    [ONNXL_TYPE_FLOAT4E2M1] = 1 + ONNXL_FLOAT_FORMAT_FLOAT4E2M1,
  };

  uint32_t bits = onnxl_data_type_bits(type);

  *ret_is_float = formats[type] > 0;
  if (*ret_is_float)
    *ret_format = formats[type] - 1;
  return *ret_is_float || (bits > 0 && bits < 8);
}

/* Reads the storage units of a payload one by one: from raw_data, or from int32_data. */
typedef struct UnitReader {
  const char *at;
  const char *end;
  size_t raw_size; /* 0 = varints */
} UnitReader;

static UnitReader
unit_reader(const OnnxlTensor *tensor, const TensorData *data)
{
  bool raw = data->field == FIELD_RAW_DATA;
  return (UnitReader){ data->payload.data, data->payload.data + data->payload.size,
                       raw ? unit_sizes[type_storage[tensor->data_type].unit] : 0 };
}

/* Returns: false at the end. */
static bool
next_unit(UnitReader *reader, uint64_t *ret_unit)
{
  *ret_unit = 0;
  if (reader->at >= reader->end)
    return false;
  if (reader->raw_size == 0)
    return onnxl_packed_varint(&reader->at, reader->end, ret_unit);
  memcpy(ret_unit, reader->at, reader->raw_size);
  reader->at += reader->raw_size;
  return true;
}

/* True when the units are exactly what writing the elements would store: as many as the dims say, none beyond its
 * width, no bits behind the last element. */
static bool
elements_are_regular(const OnnxlTensor *tensor, const TensorData *data)
{
  uint64_t count, unit, units = 0, last = 0, expected;
  OnnxlFloatFormat format;
  bool is_float;

  if (!has_elements(tensor->data_type, &is_float, &format) || !count_elements(tensor, &count) || count == 0)
    return false;
  uint32_t bits = onnxl_data_type_bits(tensor->data_type);
  uint32_t per_unit = bits < 8 ? 8 / bits : 1;
  uint64_t limit = bits < 8 ? 0xff : (UINT64_C(1) << bits) - 1;
  for (UnitReader reader = unit_reader(tensor, data); next_unit(&reader, &unit); units++) {
    if (unit > limit)
      return false;
    last = unit;
  }
  expected = count / per_unit + (count % per_unit != 0);
  return units == expected && (count % per_unit == 0 || last >> count % per_unit * bits == 0);
}

static size_t
small_float(char *text, OnnxlFloatFormat format, uint16_t code)
{
  /* What the words nan and -nan are read as; every other NaN is written by its bits. */
  static const uint16_t nans[][2] = {
    [ONNXL_FLOAT_FORMAT_FLOAT16] = { 0x7e00, 0xfe00 },  [ONNXL_FLOAT_FORMAT_BFLOAT16] = { 0x7fc0, 0xffc0 },
    [ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN] = { 0x7f, 0xff }, [ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ] = { 0x80, 0x80 },
    [ONNXL_FLOAT_FORMAT_FLOAT8E5M2] = { 0x7e, 0xfe },   [ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ] = { 0x80, 0x80 },
    [ONNXL_FLOAT_FORMAT_FLOAT8E8M0] = { 0xff, 0xff },   [ONNXL_FLOAT_FORMAT_FLOAT4E2M1] = { 0, 0 },
  };
  float value = onnxl_float_decode(format, code);
  if (value == value)
    return onnxl_print_float(text, value);
  if (code == nans[format][0])
    return g_strlcpy(text, "nan", ONNXL_NUMBER_SIZE);
  if (code == nans[format][1])
    return g_strlcpy(text, "-nan", ONNXL_NUMBER_SIZE);
  return (size_t)g_snprintf(text, ONNXL_NUMBER_SIZE, onnxl_float_format_bits(format) == 16 ? "!0x%04x" : "!0x%02x",
                            code);
}

static void
element_values(TextPrinter *p, const OnnxlTensor *tensor, const TensorData *data)
{
  OnnxlFloatFormat format = 0;
  bool is_float;
  uint64_t count = 0, unit = 0;
  char text[ONNXL_NUMBER_SIZE];

  has_elements(tensor->data_type, &is_float, &format);
  count_elements(tensor, &count);
  uint32_t bits = onnxl_data_type_bits(tensor->data_type);
  uint32_t per_unit = bits < 8 ? 8 / bits : 1;
  uint32_t sign = tensor->data_type == ONNXL_TYPE_INT4 || tensor->data_type == ONNXL_TYPE_INT2 ? 1u << (bits - 1) : 0;
  UnitReader reader = unit_reader(tensor, data);
  for (uint64_t i = 0; i < count; i++, unit >>= bits) {
    if (i % per_unit == 0 && !next_unit(&reader, &unit))
      return;
    uint32_t code = (uint32_t)unit & ((1u << bits) - 1);
    if (is_float)
      onnxl_text_item(p, i == 0, text, small_float(text, format, (uint16_t)code));
    else
      onnxl_text_int_item(p, i == 0, (int64_t)(code ^ sign) - sign);
  }
}

/* ["location": …, "offset": "…", "length": "…"] */
static void
reference(TextPrinter *p, const TensorData *data)
{
  const char *location = p->location;
  uint64_t offset = 0;

  if (p->options->weights == ONNXL_WEIGHTS_FILE) {
    location = p->options->data_name;
    if (!p->error && !p->move_payload(p->move_data, data->payload, &offset, &p->error) && !p->error)
      onnxl_fail(&p->error, ONNXL_ERROR_IO, "cannot move the values of a tensor to %s", location);
  } else {
    onnxl_file_locate(p->model->file, data->payload, &offset);
  }
  onnxl_text_literal(p, "[\"location\": ");
  onnxl_text_string(p, onnxl_str(location));
  onnxl_output_printf(p->out, ", \"offset\": \"%" G_GUINT64_FORMAT "\", \"length\": \"%zu\"]", offset,
                      data->payload.size);
}

void
onnxl_text_tensor(TextPrinter *p, const OnnxlTensor *tensor, TextTensorPlace place)
{
  TensorData data = look_at_data(p, tensor);
  TextFields given = TEXT_FIELD(FIELD_DIMS) | TEXT_FIELD(FIELD_DATA_TYPE) | TEXT_FIELD(FIELD_NAME);
  bool pairs = data.form == DATA_REFERENCE || data.form == DATA_EXTERNAL;
  bool named = place == TEXT_TENSOR_ENTRY || (place == TEXT_TENSOR_VALUE && tensor->name.size > 0);

  if (!onnxl_text_portable_tensor(p, tensor))
    return;
  if (p->options->lossy && place == TEXT_TENSOR_VALUE && named && !onnxl_text_is_identifier(tensor->name)) {
    onnxl_text_lossy(p, &onnxl_tensor_descriptor, tensor, "name");
    named = false;
  }
  onnxl_text_element_type(p, tensor->has_data_type, tensor->data_type);
  for (size_t i = 0; i < tensor->dims.count; i++) {
    onnxl_output_char(p->out, i == 0 ? '[' : ',');
    onnxl_output_int64(p->out, tensor->dims.items[i]);
  }
  if (tensor->dims.count > 0)
    onnxl_output_char(p->out, ']');
  if (named) {
    onnxl_output_char(p->out, ' ');
    onnxl_text_name(p, tensor->name);
  }
  onnxl_output_text(p->out, place == TEXT_TENSOR_ENTRY || pairs ? " = " : " ");
  switch (data.form) {
  case DATA_VALUES:
    onnxl_output_char(p->out, '{');
    values(p, tensor, &data);
    onnxl_output_char(p->out, '}');
    break;
  case DATA_ELEMENTS:
    onnxl_text_literal(p, "![");
    element_values(p, tensor, &data);
    onnxl_output_char(p->out, ']');
    break;
  case DATA_REFERENCE:
    reference(p, &data);
    break;
  case DATA_EXTERNAL:
    onnxl_text_pairs(p, &tensor->external_data);
    given |= TEXT_FIELD(FIELD_EXTERNAL_DATA) | TEXT_FIELD(FIELD_DATA_LOCATION);
    break;
  case DATA_ELIDED:
    onnxl_text_literal(p, "...");
    given |= PAYLOAD_FIELDS;
    break;
  }
  onnxl_text_block(p, &onnxl_tensor_descriptor, tensor, given | (data.field ? TEXT_FIELD(data.field) : 0));
}

bool
onnxl_text_sparse_is_plain(const OnnxlSparseTensor *sparse, bool initializer)
{
  return sparse->values && sparse->indices && (sparse->values->name.data || !initializer) &&
         sparse->values->has_data_type && onnxl_data_type_name(sparse->values->data_type);
}

TextNeeds
onnxl_text_sparse_needs(const TextPrinter *p, const OnnxlSparseTensor *sparse, bool initializer)
{
  return onnxl_text_tensor_needs(p, sparse->values, initializer ? TEXT_TENSOR_VALUES : TEXT_TENSOR_VALUE);
}

void
onnxl_text_sparse(TextPrinter *p, const OnnxlSparseTensor *sparse, bool initializer)
{
  const OnnxlTensor *values_tensor = sparse->values;

  onnxl_text_literal(p, "sparse_tensor(");
  onnxl_text_element_type(p, true, values_tensor->data_type);
  for (size_t i = 0; i < sparse->dims.count; i++) {
    onnxl_output_char(p->out, i == 0 ? '[' : ',');
    onnxl_output_int64(p->out, sparse->dims.items[i]);
  }
  onnxl_output_text(p->out, sparse->dims.count > 0 ? "]) " : ") ");
  if (initializer) {
    onnxl_text_name(p, values_tensor->name);
    onnxl_text_literal(p, " = ");
  }
  onnxl_output_char(p->out, '{');
  onnxl_text_tensor(p, values_tensor, initializer ? TEXT_TENSOR_VALUES : TEXT_TENSOR_VALUE);
  onnxl_text_separate(p, false, onnxl_text_tensor_needs(p, sparse->indices, TEXT_TENSOR_VALUE));
  onnxl_text_tensor(p, sparse->indices, TEXT_TENSOR_VALUE);
  onnxl_output_char(p->out, '}');
  onnxl_text_block(p, &onnxl_sparse_tensor_descriptor, sparse, TEXT_FIELD(1) | TEXT_FIELD(2) | TEXT_FIELD(3));
}
