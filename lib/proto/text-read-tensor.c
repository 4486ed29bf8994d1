/* Tensors of the textual syntax: type and dims, values in the field that the type and the notes choose, references. */
#include "proto/text-internal.h"

#include "support/number.h"
#include "support/size.h"

/* The field that a type's values go to when they are not raw. */
typedef enum Storage {
  STORE_NONE,
  STORE_FLOAT,
  STORE_DOUBLE,
  STORE_INT32,
  STORE_INT64,
  STORE_UINT64,
  STORE_STRING
} Storage;

/* How values of a type are stored. A unit is what one literal stands for. */
typedef struct Layout {
  uint8_t storage;     /* Storage */
  uint8_t unit;        /* bytes of a unit in raw_data */
  uint8_t bits;        /* of an element that is smaller than a unit, else 0 */
  uint8_t per_element; /* units of an element, for complex types 2 */
  bool is_float;       /* float literals in a small type are values, which format says how to store */
  OnnxlFloatFormat format;
  int64_t least, most; /* integers that fit the unit, beyond which there is a warning */
} Layout;

#define INTEGER(storage_, unit_, least_, most_)                                          \
  {                                                                                      \
    .storage = storage_, .unit = unit_, .per_element = 1, .least = least_, .most = most_ \
  }
#define PACKED(bits_)                                                                              \
  {                                                                                                \
    .storage = STORE_INT32, .unit = 1, .bits = bits_, .per_element = 1, .least = -128, .most = 255 \
  }
#define SMALL(unit_, format_, most_)                                                                                   \
  {                                                                                                                    \
    .storage = STORE_INT32, .unit = unit_, .per_element = 1, .is_float = true, .format = ONNXL_FLOAT_FORMAT_##format_, \
    .most = most_                                                                                                      \
  }

static const Layout layouts[ONNXL_N_TYPES] = {
  [ONNXL_TYPE_FLOAT] = { .storage = STORE_FLOAT, .unit = 4, .per_element = 1 },
  [ONNXL_TYPE_COMPLEX64] = { .storage = STORE_FLOAT, .unit = 4, .per_element = 2 },
  [ONNXL_TYPE_DOUBLE] = { .storage = STORE_DOUBLE, .unit = 8, .per_element = 1 },
  [ONNXL_TYPE_COMPLEX128] = { .storage = STORE_DOUBLE, .unit = 8, .per_element = 2 },
  [ONNXL_TYPE_STRING] = { .storage = STORE_STRING, .per_element = 1 },
  [ONNXL_TYPE_BOOL] = INTEGER(STORE_INT32, 1, 0, 1),
  [ONNXL_TYPE_UINT8] = INTEGER(STORE_INT32, 1, 0, UINT8_MAX),
  [ONNXL_TYPE_INT8] = INTEGER(STORE_INT32, 1, INT8_MIN, INT8_MAX),
  [ONNXL_TYPE_UINT16] = INTEGER(STORE_INT32, 2, 0, UINT16_MAX),
  [ONNXL_TYPE_INT16] = INTEGER(STORE_INT32, 2, INT16_MIN, INT16_MAX),
  [ONNXL_TYPE_INT32] = INTEGER(STORE_INT32, 4, INT32_MIN, INT32_MAX),
  [ONNXL_TYPE_INT64] = INTEGER(STORE_INT64, 8, INT64_MIN, INT64_MAX),
  [ONNXL_TYPE_UINT32] = INTEGER(STORE_UINT64, 4, 0, UINT32_MAX),
  [ONNXL_TYPE_UINT64] = INTEGER(STORE_UINT64, 8, 0, INT64_MAX),
  [ONNXL_TYPE_FLOAT16] = SMALL(2, FLOAT16, UINT16_MAX),
  [ONNXL_TYPE_BFLOAT16] = SMALL(2, BFLOAT16, UINT16_MAX),
  [ONNXL_TYPE_FLOAT8E4M3FN] = SMALL(1, FLOAT8E4M3FN, UINT8_MAX),
  [ONNXL_TYPE_FLOAT8E4M3FNUZ] = SMALL(1, FLOAT8E4M3FNUZ, UINT8_MAX),
  [ONNXL_TYPE_FLOAT8E5M2] = SMALL(1, FLOAT8E5M2, UINT8_MAX),
  [ONNXL_TYPE_FLOAT8E5M2FNUZ] = SMALL(1, FLOAT8E5M2FNUZ, UINT8_MAX),
  [ONNXL_TYPE_FLOAT8E8M0] = SMALL(1, FLOAT8E8M0, UINT8_MAX),
  [ONNXL_TYPE_FLOAT4E2M1] = { .storage = STORE_INT32,
                              .unit = 1,
                              .bits = 4,
                              .per_element = 1,
                              .is_float = true,
                              .format = ONNXL_FLOAT_FORMAT_FLOAT4E2M1,
                              .least = -128,
                              .most = 255 },
  [ONNXL_TYPE_UINT4] = PACKED(4),
  [ONNXL_TYPE_INT4] = PACKED(4),
  [ONNXL_TYPE_UINT2] = PACKED(2),
  [ONNXL_TYPE_INT2] = PACKED(2),
};

static const Layout *
layout_of(const OnnxlTensor *tensor)
{
  return &layouts[tensor->data_type > 0 && tensor->data_type < ONNXL_N_TYPES ? tensor->data_type : 0];
}

static bool
is_signed(int32_t type)
{
  return type == ONNXL_TYPE_INT4 || type == ONNXL_TYPE_INT2;
}

/* A list of values that is being read. */
typedef struct Values {
  const OnnxlTensor *tensor;
  const char *type; /* its name */
  const Layout *layout;
  bool raw;
  bool elements;       /* `![…]`: every literal is a value */
  bool pack;           /* literals are elements smaller than a unit */
  const char *pattern; /* the first integer among literals of a small float, which is a bit pattern */
  size_t pattern_size;
  bool value;      /* there was a float literal */
  uint64_t count;  /* literals */
  uint32_t filled; /* bits of the byte that elements are packed into */
  uint8_t byte;
} Values;

/* Appends a unit with these low bits. */
static bool
store(OnnxlReader *r, const Values *values, uint64_t bits)
{
  uint64_t little = GUINT64_TO_LE(bits);

  return values->raw ? onnxl_reader_push(r, &little, values->layout->unit) : onnxl_reader_push_varint(r, bits);
}

static bool
store_packed(OnnxlReader *r, Values *values, uint8_t bits)
{
  values->byte |= (uint8_t)((bits & ((1u << values->layout->bits) - 1)) << values->filled);
  values->filled += values->layout->bits;
  if (values->filled < 8)
    return true;
  uint8_t byte = values->byte;
  values->byte = 0;
  values->filled = 0;
  return store(r, values, byte);
}

static bool
report_integer_range(OnnxlReader *r, OnnxlStr text, const char *type)
{
  return onnxl_reader_report_at(r, ONNXL_DIAG_INT_RANGE, &r->token, "%.*s does not fit in %s", ONNXL_ARG(text), type);
}

/* The range of the storage, by which an integer is refused. */
static bool
fits_storage(const Values *values, bool negative, uint64_t magnitude)
{
  if (values->raw) {
    uint32_t bits = values->layout->unit * 8u;
    return negative ? magnitude <= UINT64_C(1) << (bits - 1) : bits == 64 || magnitude >> bits == 0;
  }
  switch ((Storage)values->layout->storage) {
  case STORE_INT32:
    return magnitude <= (uint64_t)INT32_MAX + negative;
  case STORE_INT64:
    return magnitude <= (uint64_t)INT64_MAX + negative;
  default:
    return true;
  }
}

static const char *
storage_name(const Values *values)
{
  if (values->raw)
    return values->layout->unit == 1   ? "one byte"
           : values->layout->unit == 2 ? "two bytes"
           : values->layout->unit == 4 ? "four bytes"
                                       : "eight bytes";
  switch ((Storage)values->layout->storage) {
  case STORE_INT32:
    return "int32";
  case STORE_INT64:
    return "int64";
  default:
    return "uint64";
  }
}

/* Whether an integer is one of the type's values, in the typed field. */
static bool
fits_type(const Values *values, bool negative, uint64_t magnitude)
{
  const Layout *layout = values->layout;

  if (negative)
    return magnitude <= -(uint64_t)layout->least;
  return magnitude <= (uint64_t)layout->most || (layout->storage == STORE_UINT64 && layout->unit == 8);
}

/* An integer literal, stored as it is written. */
static bool
read_stored_integer(OnnxlReader *r, Values *values)
{
  OnnxlStr text = r->token.text;
  bool negative;
  uint64_t magnitude;

  if (!onnxl_text_magnitude(text, &negative, &magnitude) || !fits_storage(values, negative, magnitude))
    return report_integer_range(r, text, storage_name(values));
  if (!values->raw && !fits_type(values, negative, magnitude))
    onnxl_reader_report_at(r, ONNXL_DIAG_VALUE_RANGE, &r->token, "%.*s does not fit in %s (kept in %s_data)",
                           ONNXL_ARG(text), values->type, storage_name(values));
  return store(r, values, negative ? -magnitude : magnitude) && onnxl_reader_next(r);
}

/* An integer that is the element of a 4- or 2-bit type. */
static bool
read_packed_integer(OnnxlReader *r, Values *values)
{
  OnnxlStr text = r->token.text;
  uint32_t bits = values->layout->bits;
  bool negative, with_sign = is_signed(values->tensor->data_type);
  uint64_t magnitude;

  if (!onnxl_reader_at(r, ONNXL_TOKEN_INT))
    return onnxl_reader_no_number(r, "an integer");
  if (!onnxl_text_magnitude(text, &negative, &magnitude) ||
      magnitude > (with_sign  ? (UINT64_C(1) << (bits - 1)) - !negative
                   : negative ? 0
                              : (UINT64_C(1) << bits) - 1))
    return report_integer_range(r, text, values->type);
  return store_packed(r, values, (uint8_t)(negative ? -magnitude : magnitude)) && onnxl_reader_next(r);
}

static bool
report_mix(OnnxlReader *r, const Values *values)
{
  OnnxlStr text = onnxl_str_n(r->token.start, (size_t)(r->token.end - r->token.start));
  OnnxlStr pattern = onnxl_str_n(values->pattern, values->pattern_size);

  if (r->token.kind == ONNXL_TOKEN_INT)
    return onnxl_reader_report_at(r, ONNXL_DIAG_HALF_MIX, &r->token,
                                  "`%.*s` is a bit pattern here, the literals before it are values; write `%.*s.0`",
                                  ONNXL_ARG(text), ONNXL_ARG(text));
  return onnxl_reader_report_at(r, ONNXL_DIAG_HALF_MIX, &r->token,
                                "`%.*s` is a bit pattern here, `%.*s` a value; write `%.*s.0` or `![%.*s, %.*s]`",
                                ONNXL_ARG(pattern), ONNXL_ARG(text), ONNXL_ARG(pattern), ONNXL_ARG(pattern),
                                ONNXL_ARG(text));
}

/* A literal of a float type with less than 32 bits. */
static bool
read_small_float(OnnxlReader *r, Values *values)
{
  const Layout *layout = values->layout;
  bool integer = onnxl_reader_at(r, ONNXL_TOKEN_INT);
  uint16_t code;

  if (onnxl_reader_at(r, ONNXL_TOKEN_BITS) && layout->bits == 0) {
    uint64_t bits;
    return onnxl_reader_bits(r, layout->unit * 2u, values->type, &bits) && store(r, values, bits);
  }
  if (!integer && !onnxl_reader_at_float(r))
    return onnxl_reader_no_number(r, "a number");
  if (!values->elements) {
    if (integer ? values->value : values->pattern != NULL)
      return report_mix(r, values);
    if (integer) {
      if (!values->pattern) {
        values->pattern = r->token.start;
        values->pattern_size = r->token.text.size;
      }
      return read_stored_integer(r, values);
    }
    values->value = true;
    values->pack = layout->bits > 0;
  }
  OnnxlNumberStatus status = onnxl_parse_float_format(r->token.text, layout->format, &code);
  if (status != ONNXL_NUMBER_OK)
    return onnxl_reader_report_at(r, ONNXL_DIAG_FLOAT_RANGE, &r->token, "%.*s does not fit in %s",
                                  ONNXL_ARG(r->token.text), values->type);
  return (values->pack ? store_packed(r, values, (uint8_t)code) : store(r, values, code)) && onnxl_reader_next(r);
}

static bool
read_integer(OnnxlReader *r, Values *values)
{
  if (onnxl_reader_at(r, ONNXL_TOKEN_INT))
    return read_stored_integer(r, values);
  if (onnxl_reader_at_float(r))
    return onnxl_reader_report_at(r, ONNXL_DIAG_INT_LITERAL, &r->token, "%s takes integers", values->type);
  return onnxl_reader_no_number(r, "an integer");
}

static bool
read_literal(OnnxlReader *r, void *data)
{
  Values *values = data;
  OnnxlStr string;
  float f;
  double d;

  values->count++;
  switch ((Storage)values->layout->storage) {
  case STORE_FLOAT:
    if (!onnxl_reader_float(r, &f))
      return false;
    uint32_t f_bits = GUINT32_TO_LE(onnxl_float_bits(f));
    return onnxl_reader_push(r, &f_bits, sizeof f_bits);
  case STORE_DOUBLE:
    if (!onnxl_reader_double(r, &d))
      return false;
    uint64_t d_bits;
    memcpy(&d_bits, &d, sizeof d_bits);
    d_bits = GUINT64_TO_LE(d_bits);
    return onnxl_reader_push(r, &d_bits, sizeof d_bits);
  case STORE_STRING:
    if (!onnxl_reader_at(r, ONNXL_TOKEN_STRING))
      return onnxl_reader_expected(r, "a string");
    return onnxl_reader_string(r, "a string", &string) && onnxl_reader_push(r, &string, sizeof string);
  case STORE_NONE:
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_TYPE, &r->token,
                                  "values of an unknown element type are written in the tensor's block");
  default:
    if (values->layout->is_float)
      return read_small_float(r, values);
    return values->pack ? read_packed_integer(r, values) : read_integer(r, values);
  }
}

/* Puts the bytes where values of the type go. */
static void
set_payload(OnnxlTensor *tensor, const Layout *layout, bool raw, OnnxlStr bytes)
{
  if (raw) {
    tensor->raw_data = bytes;
    return;
  }
  switch ((Storage)layout->storage) {
  case STORE_FLOAT:
    tensor->float_data.bytes = bytes;
    break;
  case STORE_DOUBLE:
    tensor->double_data.bytes = bytes;
    break;
  case STORE_INT32:
    tensor->int32_data.bytes = bytes;
    break;
  case STORE_INT64:
    tensor->int64_data.bytes = bytes;
    break;
  case STORE_UINT64:
    tensor->uint64_data.bytes = bytes;
    break;
  case STORE_STRING:
  case STORE_NONE:
    break;
  }
}

/* {…} or ![…]; the opener is the token. */
static bool
read_values(OnnxlReader *r, uint8_t notes, OnnxlTensor *tensor, Values *values)
{
  size_t mark = r->scratch_used, size;
  const Layout *layout = layout_of(tensor);

  *values = (Values){
    .tensor = tensor,
    .type = onnxl_data_type_name(tensor->data_type),
    .layout = layout,
    .raw = (notes & ONNXL_TEXT_NOTE_RAW) && layout->unit > 0,
    .elements = onnxl_reader_at(r, ONNXL_TOKEN_OPEN_ELEMENTS),
  };
  if (values->elements && !layout->is_float && layout->bits == 0)
    return onnxl_reader_expected(r, "`{` with the values; `![…]` is for 2- and 4-bit types and small floats");
  values->pack = values->elements && layout->bits > 0;
  onnxl_reader_next(r);
  bool ok = onnxl_reader_list(r, values->elements ? ']' : '}', read_literal, values);
  if (values->filled > 0)
    ok = store(r, values, values->byte) && ok;
  if (layout->storage == STORE_STRING) {
    ONNXL_READER_POP(r, mark, &tensor->string_data);
    return ok;
  }
  const char *bytes = onnxl_reader_pop(r, mark, &size);
  set_payload(tensor, layout, values->raw, onnxl_str_n(bytes || !values->raw ? bytes : "", size));
  return ok;
}

/* Warns when the number of values does not fit the dims. place: of the values. */
static void
check_count(OnnxlReader *r, const OnnxlTensor *tensor, const Values *values, const OnnxlToken *place)
{
  const Layout *layout = values->layout;
  int64_t elements;

  if (layout->storage == STORE_NONE || !onnxl_shape_count(tensor->dims.items, tensor->dims.count, &elements))
    return;
  uint64_t wanted = (uint64_t)elements;
  if (layout->bits > 0 && !values->pack)
    wanted = wanted / (8u / layout->bits) + (wanted % (8u / layout->bits) != 0);
  if (__builtin_mul_overflow(wanted, (uint64_t)layout->per_element, &wanted) || wanted != values->count)
    onnxl_reader_report_at(r, ONNXL_DIAG_TENSOR_COUNT, place, "%" G_GUINT64_FORMAT " %s for %" G_GINT64_FORMAT " %s%s",
                           values->count, values->count == 1 ? "value" : "values", elements,
                           elements == 1 ? "element" : "elements",
                           layout->per_element > 1        ? " of two values each"
                           : wanted != (uint64_t)elements ? ", which are packed"
                                                          : "");
}

/* Values that a reference names, in the typed field. */
static bool
set_typed_bytes(OnnxlReader *r, OnnxlTensor *tensor, const Layout *layout, OnnxlStr bytes, const OnnxlToken *place)
{
  size_t mark = r->scratch_used, size;

  if (layout->unit == 0)
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_TYPE, place,
                                  "a tensor without a fixed-size element type cannot be embedded");
  if (bytes.size % layout->unit != 0)
    return onnxl_reader_report_at(r, ONNXL_DIAG_EMBED_RANGE, place,
                                  "the %zu bytes are not a multiple of %u, the size of a value", bytes.size,
                                  layout->unit);
  if (layout->storage == STORE_FLOAT || layout->storage == STORE_DOUBLE) {
    set_payload(tensor, layout, false, bytes);
    return true;
  }
  for (size_t i = 0; i < bytes.size; i += layout->unit) {
    uint64_t value = 0;
    memcpy(&value, bytes.data + i, layout->unit);
    value = GUINT64_FROM_LE(value);
    uint32_t shift = 64 - layout->unit * 8u;
    if (layout->least < 0 && layout->bits == 0)
      value = (uint64_t)((int64_t)(value << shift) >> shift);
    if (!onnxl_reader_push_varint(r, value))
      return false;
  }
  const char *packed = onnxl_reader_pop(r, mark, &size);
  set_payload(tensor, layout, false, onnxl_str_n(packed, size));
  return !r->error;
}

static bool
embed(OnnxlReader *r, uint8_t notes, const OnnxlPairList *entries, OnnxlTensor *tensor, const OnnxlToken *place)
{
  const Layout *layout = layout_of(tensor);
  OnnxlStr bytes;
  int64_t elements;
  uint64_t wanted;

  if (!onnxl_reader_embed(r, place, entries, &bytes))
    return false;
  if (notes & ONNXL_TEXT_NOTE_RAW)
    set_payload(tensor, layout, true, bytes);
  else if (!set_typed_bytes(r, tensor, layout, bytes, place))
    return false;
  if (onnxl_shape_count(tensor->dims.items, tensor->dims.count, &elements) &&
      onnxl_data_type_bytes(tensor->data_type, elements, &wanted) && wanted != bytes.size)
    onnxl_reader_report_at(r, ONNXL_DIAG_TENSOR_COUNT, place,
                           "%zu bytes for %" G_GINT64_FORMAT " elements, which take %" G_GUINT64_FORMAT, bytes.size,
                           elements, wanted);
  return true;
}

/* ["location": …]: an external tensor, or a reference whose bytes are stored. */
static bool
read_reference(OnnxlReader *r, uint8_t notes, OnnxlTensor *tensor)
{
  OnnxlToken place = r->token;
  OnnxlPairList entries = { 0 };
  bool location = false;

  if (!onnxl_reader_pairs(r, &entries))
    return false;
  for (size_t i = 0; i < entries.count; i++)
    location = location || (onnxl_str_is(entries.items[i].key, "location") && entries.items[i].value.data);
  if (notes & ONNXL_TEXT_NOTE_EMBED) {
    if (!location)
      return onnxl_reader_report_at(r, ONNXL_DIAG_NO_LOCATION, &place, "a reference without `location`");
    return embed(r, notes, &entries, tensor, &place);
  }
  if (!location)
    onnxl_reader_report_at(r, ONNXL_DIAG_NO_LOCATION_EXTERNAL, &place, "external data without `location`");
  tensor->has_data_location = true;
  tensor->data_location = ONNXL_LOCATION_EXTERNAL;
  tensor->external_data = entries;
  return true;
}

bool
onnxl_reader_tensor_data(OnnxlReader *r, uint8_t notes, OnnxlTensor *tensor)
{
  OnnxlToken place = r->token;
  Values values = { 0 };

  switch (r->token.kind) {
  case '{':
  case ONNXL_TOKEN_OPEN_ELEMENTS:
    if (!read_values(r, notes, tensor, &values))
      return false;
    break;
  case '[':
    if (!read_reference(r, notes, tensor))
      return false;
    break;
  case ONNXL_TOKEN_ELIDED:
    onnxl_reader_report_at(r, ONNXL_DIAG_ELIDED, &place, "the values were left out; the tensor has no payload");
    onnxl_reader_next(r);
    break;
  default:
    break;
  }
  bool block = onnxl_reader_at(r, ONNXL_TOKEN_OPEN_BLOCK);
  if (!onnxl_reader_block(r, &onnxl_tensor_descriptor, tensor, NULL))
    return false;
  /* In `{} !{float_data: …}` the values are in the block; a segment is a part of the values. */
  if (values.layout && !tensor->segment && (!block || values.count > 0))
    check_count(r, tensor, &values, &place);
  return true;
}

/* Whether the type says more than a tensor's type and dims can hold. */
static bool
says_more(const OnnxlType *type, const OnnxlTensorType *tensor_type)
{
  if (type->denotation.data || type->message.unknown.count > 0 || tensor_type->message.unknown.count > 0)
    return true;
  const OnnxlShapeProto *shape = tensor_type->shape;
  bool more = shape && shape->message.unknown.count > 0;
  for (size_t i = 0; shape && i < shape->dim.count; i++)
    more = more || shape->dim.items[i].denotation.data || shape->dim.items[i].message.unknown.count > 0;
  return more;
}

/* Takes the dims of the type of a tensor, dense or sparse. */
static bool
read_dims(OnnxlReader *r, const OnnxlType *type, const OnnxlTensorType *tensor_type, const OnnxlTypePlaces *places,
          OnnxlInt64List *dims)
{
  const OnnxlShapeProto *shape = tensor_type->shape;

  if (!shape) {
    const char *at = places->rank ? places->rank : places->start.start;
    return onnxl_reader_report(
      r, ONNXL_DIAG_TENSOR_RANK, at, at + 1,
      "a tensor with values needs a rank: `[]` is unknown rank; a scalar is `%.*s w`",
      ONNXL_ARG(places->start.kind == ONNXL_TOKEN_IDENTIFIER ? places->start.text : ONNXL_STR("float")));
  }
  if (places->dim_start)
    return onnxl_reader_report(r, ONNXL_DIAG_TENSOR_DIM, places->dim_start, places->dim_end,
                               "a tensor with values needs numeric dimensions");
  if (says_more(type, tensor_type))
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_FIELD, &places->start,
                                  "a tensor has no place for a block of its type or dimensions");
  size_t mark = r->scratch_used;
  for (size_t i = 0; i < shape->dim.count; i++) {
    if (!shape->dim.items[i].has_dim_value)
      return onnxl_reader_report_at(r, ONNXL_DIAG_TENSOR_DIM, &places->start,
                                    "a tensor with values needs numeric dimensions");
    onnxl_reader_push(r, &shape->dim.items[i].dim_value, sizeof(int64_t));
  }
  ONNXL_READER_POP(r, mark, dims);
  return !r->error;
}

bool
onnxl_reader_tensor_type(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places, OnnxlTensor *tensor)
{
  if (!type->tensor_type)
    return onnxl_reader_report_at(r, ONNXL_DIAG_INITIALIZER_TYPE, &places->start,
                                  "only a tensor type can have values here");
  tensor->has_data_type = type->tensor_type->has_elem_type;
  tensor->data_type = type->tensor_type->elem_type;
  return read_dims(r, type, type->tensor_type, places, &tensor->dims);
}

bool
onnxl_reader_at_tensor(const OnnxlReader *r)
{
  switch (r->token.kind) {
  case '{':
  case '=':
  case '?':
  case ONNXL_TOKEN_IDENTIFIER:
  case ONNXL_TOKEN_STRING:
  case ONNXL_TOKEN_OPEN_ELEMENTS:
  case ONNXL_TOKEN_ELIDED:
    return true;
  default:
    return false;
  }
}

/* The name of a tensor without one: empty, or with the note absent. */
static OnnxlStr
no_name(uint8_t notes)
{
  return notes & ONNXL_TEXT_NOTE_NO_NAME ? (OnnxlStr){ NULL, 0 } : ONNXL_STR("");
}

bool
onnxl_reader_tensor_value(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places, OnnxlTensor *tensor)
{
  uint8_t notes = places->start.notes;
  bool named =
    onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER) || onnxl_reader_at(r, ONNXL_TOKEN_STRING) || onnxl_reader_at(r, '?');

  tensor->name = no_name(notes);
  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok =
    (!named || onnxl_reader_name(r, "a name", &tensor->name)) && onnxl_reader_tensor_type(r, type, places, tensor);
  if (ok && (onnxl_reader_accept(r, '=') || named || !onnxl_reader_at(r, '[')))
    ok = onnxl_reader_tensor_data(r, notes, tensor);
  onnxl_reader_leave(r, 1);
  return ok;
}

bool
onnxl_reader_tensor(OnnxlReader *r, OnnxlTensor *tensor)
{
  OnnxlType type = { 0 };
  OnnxlTypePlaces places;

  if (!onnxl_reader_at_type(r))
    return onnxl_reader_expected(r, "a tensor: its type and values");
  return onnxl_reader_type(r, &type, &places) && onnxl_reader_tensor_value(r, &type, &places, tensor);
}

/* {values, indices} */
static bool
read_sparse_parts(OnnxlReader *r, OnnxlSparseTensor *sparse, OnnxlToken *ret_values)
{
  if (!onnxl_reader_expect(r, '{', "`{` with the values and indices of the sparse tensor"))
    return false;
  *ret_values = r->token;
  if (onnxl_reader_tensor(r, sparse->values) && onnxl_reader_expect(r, ',', "`,` between values and indices") &&
      onnxl_reader_tensor(r, sparse->indices) && onnxl_reader_expect(r, '}', "`}` behind the indices"))
    return true;
  onnxl_reader_recover_behind(r, '}');
  return false;
}

bool
onnxl_reader_sparse_data(OnnxlReader *r, const OnnxlType *type, const OnnxlTypePlaces *places, const OnnxlStr *name,
                         OnnxlSparseTensor *sparse)
{
  const OnnxlTensorType *tensor_type = type->sparse_tensor_type;
  OnnxlToken values;

  if (!read_dims(r, type, tensor_type, places, &sparse->dims))
    return false;
  sparse->values = ONNXL_NEW(r->arena, OnnxlTensor);
  sparse->indices = ONNXL_NEW(r->arena, OnnxlTensor);
  if (!sparse->values || !sparse->indices)
    return onnxl_reader_exhausted(r);
  if (!read_sparse_parts(r, sparse, &values))
    return false;
  if (tensor_type->has_elem_type != sparse->values->has_data_type ||
      tensor_type->elem_type != sparse->values->data_type)
    return onnxl_reader_report_at(r, ONNXL_DIAG_EXPECTED, &values,
                                  "expected values of the sparse tensor's own element type");
  if (name) {
    if (!onnxl_str_is_empty(sparse->values->name))
      return onnxl_reader_report_at(r, ONNXL_DIAG_FIELD_TWICE, &values, "the values are named by their entry");
    sparse->values->name = *name;
  }
  return onnxl_reader_block(r, &onnxl_sparse_tensor_descriptor, sparse, NULL);
}
