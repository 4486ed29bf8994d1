/* Seeded random models over every field of the schema table: absent, empty and set fields, unknown fields, NaN
 * payloads, bytes that are not UTF-8. They need not be valid models; tensors and attributes are regular most of the
 * time, so that the common forms are met as well as the odd ones. */
#ifndef ONNXL_TESTS_RANDOM_MODEL_H
#define ONNXL_TESTS_RANDOM_MODEL_H

#include "proto/packed.h"
#include "proto/schema.h"

typedef struct Random {
  uint64_t state;
  OnnxlArena *arena;
  int left;        /* messages that may still be made */
  uint32_t depth;  /* messages around */
  uint32_t sparse; /* a field is set once in this many times */
  bool plain;      /* only what any format can say: no unknown fields, no NaN payloads, UTF-8 in strings */
} Random;

enum { RANDOM_MAX_DEPTH = 14 };

/* splitmix64 */
static inline uint64_t
random_bits(Random *r)
{
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static inline uint32_t
random_below(Random *r, uint32_t n)
{
  return (uint32_t)(random_bits(r) % n);
}

static inline bool
random_chance(Random *r, uint32_t one_in)
{
  return random_below(r, one_in) == 0;
}

static inline int64_t
random_int(Random *r)
{
  static const int64_t corners[] = { 0, 1, -1, 2, 3, 7, 127, -128, 255, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
  return random_chance(r, 6) ? (int64_t)random_bits(r) : corners[random_below(r, G_N_ELEMENTS(corners))];
}

static inline OnnxlStr
random_string(Random *r)
{
  static const OnnxlStr corners[] = {
    ONNXL_STR(""),
    ONNXL_STR("x"),
    ONNXL_STR("y_1"),
    ONNXL_STR("Relu"),
    ONNXL_STR("float"),
    ONNXL_STR("seq"),
    ONNXL_STR("opaque"),
    ONNXL_STR("inf"),
    ONNXL_STR("NaN"),
    ONNXL_STR("Infinity"),
    ONNXL_STR("nan_x"),
    ONNXL_STR("_"),
    ONNXL_STR("a.b"),
    ONNXL_STR("ai.onnx"),
    ONNXL_STR(".a"),
    ONNXL_STR("a."),
    ONNXL_STR("a..b"),
    ONNXL_STR("1a"),
    ONNXL_STR("a/b:0"),
    ONNXL_STR("2*N"),
    ONNXL_STR("?"),
    ONNXL_STR("!"),
    ONNXL_STR("#: raw"),
    ONNXL_STR("say \"hi\" \\n"),
    ONNXL_STR("two\nlines"),
    ONNXL_STR("tab\there"),
    ONNXL_STR("cr\r"),
    ONNXL_STR("nul\0nul"),
    ONNXL_STR("\x7f"),
    ONNXL_STR("caf\xc3\xa9"),
    ONNXL_STR("caf\xe9"),
    ONNXL_STR("\xe2\x80\xae"
              "abc"),
    ONNXL_STR("\xf0\x9f\x99\x82"),
    ONNXL_STR("\xc2\x85\xef\xbb\xbf"),
    ONNXL_STR("\xed\xa0\x80"),
    ONNXL_STR("\xff\xfe\n\""),
    ONNXL_STR("then_branch"),
    ONNXL_STR("float[N]"),
    ONNXL_STR("=>"),
    ONNXL_STR("\xe2\x80"),
  };
  if (!random_chance(r, 10))
    return corners[random_below(r, random_chance(r, 2) ? 8 : G_N_ELEMENTS(corners))];
  size_t size = random_below(r, 24);
  char *bytes = onnxl_arena_alloc(r->arena, size);
  for (size_t i = 0; i < size; i++)
    bytes[i] = (char)random_bits(r);
  return onnxl_str_n(bytes, size);
}

static inline uint64_t
random_double_bits(Random *r)
{
  static const uint64_t corners[] = {
    0,
    UINT64_C(1) << 63,
    UINT64_C(0x3ff0000000000000),
    UINT64_C(0x3fb999999999999a),
    UINT64_C(0x7ff0000000000000),
    UINT64_C(0xfff0000000000000),
    UINT64_C(0x7ff8000000000000),
    UINT64_C(0xfff8000000000000),
    UINT64_C(0x7ff0000000000001),
    UINT64_C(0xfff8000000000123),
    1,
    UINT64_C(0x7fefffffffffffff),
  };
  uint64_t bits = random_chance(r, 2) ? random_bits(r) : corners[random_below(r, G_N_ELEMENTS(corners))];
  bool is_nan = (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
  return r->plain && is_nan ? UINT64_C(0x7ff8000000000000) : bits;
}

static inline uint32_t
random_float_bits(Random *r)
{
  static const uint32_t corners[] = {
    0,          0x80000000, 0x3f800000, 0x3dcccccd, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
    0x7f800001, 0x7fa00001, 0xffc00123, 1,          0x7f7fffff, 0x49742400, 0x4b189680, 0x38d1b717,
  };
  uint32_t bits = random_chance(r, 2) ? (uint32_t)random_bits(r) : corners[random_below(r, G_N_ELEMENTS(corners))];
  bool is_nan = (bits & INT32_MAX) > 0x7f800000;
  return r->plain && is_nan ? 0x7fc00000 : bits;
}

/* A string for a field of the kind. */
static inline OnnxlStr
random_text(Random *r, OnnxlFieldKind kind)
{
  OnnxlStr text = random_string(r);
  return r->plain && kind == ONNXL_FIELD_STRING && !onnxl_str_is_utf8(text) ? ONNXL_STR("latin") : text;
}

static inline OnnxlPacked
random_packed(Random *r, OnnxlFieldKind kind, uint32_t count)
{
  OnnxlPackedBuilder builder = { .arena = r->arena };

  for (uint32_t i = 0; i < count; i++) {
    uint32_t narrow = random_float_bits(r);
    uint64_t wide = random_double_bits(r);
    if (kind == ONNXL_FIELD_PACKED_FLOAT)
      onnxl_packed_append_bytes(&builder, &narrow, sizeof narrow);
    else if (kind == ONNXL_FIELD_PACKED_DOUBLE)
      onnxl_packed_append_bytes(&builder, &wide, sizeof wide);
    else if (kind == ONNXL_FIELD_PACKED_INT32)
      onnxl_packed_append_varint(&builder, (uint64_t)(int64_t)(int32_t)random_int(r));
    else
      onnxl_packed_append_varint(&builder, (uint64_t)random_int(r));
  }
  return onnxl_packed_finish(&builder);
}

/* The encoded fields of a group. */
static inline OnnxlStr
random_group(Random *r, uint32_t depth)
{
  OnnxlPackedBuilder builder = { .arena = r->arena };
  uint64_t bits;

  for (uint32_t n = random_below(r, 4); n > 0; n--) {
    static const uint8_t types[] = { 0, 1, 2, 3, 5 };
    uint32_t type = types[random_below(r, depth > 3 ? 3 : 5)];
    uint64_t number = 1 + random_below(r, 300);
    OnnxlStr text = type == 2 ? random_string(r) : type == 3 ? random_group(r, depth + 1) : ONNXL_STR("");
    onnxl_packed_append_varint(&builder, number << 3 | type);
    bits = random_bits(r);
    if (type == 0)
      onnxl_packed_append_varint(&builder, bits >> random_below(r, 64));
    else if (type == 1 || type == 5)
      onnxl_packed_append_bytes(&builder, &bits, type == 1 ? 8 : 4);
    else if (type == 2)
      onnxl_packed_append_varint(&builder, text.size);
    onnxl_packed_append_bytes(&builder, text.data, text.size);
    if (type == 3)
      onnxl_packed_append_varint(&builder, number << 3 | 4);
  }
  OnnxlPacked packed = onnxl_packed_finish(&builder);
  return packed.bytes.data ? packed.bytes : ONNXL_STR("");
}

static inline void
random_unknown(Random *r, OnnxlUnknownList *list)
{
  for (uint32_t n = 1 + random_below(r, 3); n > 0; n--) {
    static const uint8_t types[] = { 0, 1, 2, 3, 5 };
    OnnxlUnknownField *field = ONNXL_APPEND(r->arena, list);
    field->wire_type = types[random_below(r, 5)];
    field->number = random_chance(r, 8) ? (1u << 29) - 1 : 50 + random_below(r, 200);
    if (field->wire_type == 2)
      field->bytes = random_string(r);
    else if (field->wire_type == 3)
      field->bytes = random_group(r, 0);
    else
      field->value = field->wire_type == 5 ? (uint32_t)random_bits(r) : random_bits(r) >> random_below(r, 64);
  }
}

static inline void random_message(Random *r, const OnnxlMessageDescriptor *descriptor, void *message);

static inline uint32_t
random_count(Random *r)
{
  return random_chance(r, 8) ? 3 + random_below(r, 20) : 1 + random_below(r, 3);
}

/* A value for one field, which is not set yet. */
static inline void
random_field(Random *r, const OnnxlFieldDescriptor *field, void *message)
{
  void *member = onnxl_field_member(field, message);
  OnnxlStrList *strings = member;
  OnnxlInt64List *ints = member;
  OnnxlFloatList *floats = member;
  struct {
    void *items;
    size_t count;
  } *messages = member;
  uint32_t bits;

  if (field->repeated) {
    for (uint32_t n = random_count(r); n > 0; n--) {
      switch (field->kind) {
      case ONNXL_FIELD_STRING:
      case ONNXL_FIELD_BYTES:
        *ONNXL_APPEND(r->arena, strings) = random_text(r, field->kind);
        break;
      case ONNXL_FIELD_FLOAT:
        bits = random_float_bits(r);
        memcpy(ONNXL_APPEND(r->arena, floats), &bits, sizeof bits);
        break;
      case ONNXL_FIELD_MESSAGE:
        if (r->depth < RANDOM_MAX_DEPTH && r->left > 0)
          random_message(r, field->message,
                         onnxl_list_extend(r->arena, &messages->items, &messages->count, field->message->size, 1));
        break;
      default:
        *ONNXL_APPEND(r->arena, ints) = random_int(r);
        break;
      }
    }
    return;
  }
  if (field->has_offset)
    *(bool *)((char *)message + field->has_offset) = true;
  switch (field->kind) {
  case ONNXL_FIELD_STRING:
  case ONNXL_FIELD_BYTES:
    *(OnnxlStr *)member = random_text(r, field->kind);
    break;
  case ONNXL_FIELD_ENUM:
  case ONNXL_FIELD_INT32:
    *(int32_t *)member = random_chance(r, 6) ? (int32_t)random_int(r) : (int32_t)random_below(r, 28);
    break;
  case ONNXL_FIELD_INT64:
    *(int64_t *)member = random_int(r);
    break;
  case ONNXL_FIELD_FLOAT:
    bits = random_float_bits(r);
    memcpy(member, &bits, sizeof bits);
    break;
  case ONNXL_FIELD_MESSAGE:
    if (r->depth < RANDOM_MAX_DEPTH && r->left > 0) {
      *(void **)member = onnxl_arena_alloc(r->arena, field->message->size);
      random_message(r, field->message, *(void **)member);
    }
    break;
  default:
    *(OnnxlPacked *)member = random_packed(r, field->kind, random_count(r));
    break;
  }
}

static inline void
random_number(Random *r, const OnnxlMessageDescriptor *descriptor, uint32_t number, void *message)
{
  random_field(r, onnxl_field_by_number(descriptor, number), message);
}

/* A tensor of a known type whose values are where they belong. */
static inline void
random_regular_tensor(Random *r, OnnxlTensor *tensor)
{
  static const uint8_t typed_fields[ONNXL_N_TYPES] = {
    [ONNXL_TYPE_FLOAT] = 4, [ONNXL_TYPE_COMPLEX64] = 4, [ONNXL_TYPE_DOUBLE] = 10, [ONNXL_TYPE_COMPLEX128] = 10,
    [ONNXL_TYPE_INT64] = 7, [ONNXL_TYPE_UINT32] = 11,   [ONNXL_TYPE_UINT64] = 11, [ONNXL_TYPE_STRING] = 6,
  };
  tensor->has_data_type = true;
  tensor->data_type = 1 + (int32_t)random_below(r, ONNXL_N_TYPES - 1);
  int64_t size = random_chance(r, 20) ? 200 + random_below(r, 200) : random_below(r, 12);
  if (!random_chance(r, 4))
    *ONNXL_APPEND(r->arena, &tensor->dims) = size;
  else
    size = 1;
  uint64_t bytes;
  if (random_chance(r, 2) && onnxl_data_type_bytes(tensor->data_type, size, &bytes)) {
    char *raw = onnxl_arena_alloc(r->arena, bytes + 1);
    for (uint64_t i = 0; i < bytes; i++)
      raw[i] = (char)random_bits(r);
    tensor->raw_data = onnxl_str_n(raw, bytes);
    return;
  }
  uint8_t number = typed_fields[tensor->data_type] ? typed_fields[tensor->data_type] : 5;
  random_number(r, &onnxl_tensor_descriptor, number, tensor);
}

/* An attribute that says its type and holds a value of it, or nothing, or refers to one. */
static inline void
random_regular_attribute(Random *r, OnnxlAttribute *attribute)
{
  static const uint8_t numbers[] = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 22, 23, 14, 15 };
  attribute->has_type = true;
  attribute->type = 1 + (int32_t)random_below(r, ONNXL_N_ATTRIBUTE_TYPES - 1);
  if (random_chance(r, 12))
    random_number(r, &onnxl_attribute_descriptor, 21, attribute);
  else if (!random_chance(r, 12))
    random_number(r, &onnxl_attribute_descriptor, numbers[attribute->type - 1], attribute);
}

/* Sets some fields of a zeroed message. */
static inline void
random_message(Random *r, const OnnxlMessageDescriptor *descriptor, void *message)
{
  uint32_t oneof_count[8] = { 0 }, oneof_choice[8];

  r->left--;
  r->depth++;
  if (!r->plain && random_chance(r, 12 + r->sparse))
    random_unknown(r, &((OnnxlMessage *)message)->unknown);
  for (size_t i = 0; i < descriptor->n_fields; i++)
    oneof_count[descriptor->fields[i].oneof & 7]++;
  for (uint32_t i = 0; i < G_N_ELEMENTS(oneof_count); i++)
    oneof_choice[i] = random_below(r, oneof_count[i] + 1);

  bool regular_tensor = descriptor == &onnxl_tensor_descriptor && !random_chance(r, 4);
  bool regular_attribute = descriptor == &onnxl_attribute_descriptor && !random_chance(r, 4);
  if (regular_tensor)
    random_regular_tensor(r, message);
  if (regular_attribute)
    random_regular_attribute(r, message);
  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    /* At most one member of a oneof; besides a regular tensor's or attribute's values only what is not one. */
    bool set;
    if (field->oneof)
      set = oneof_choice[field->oneof]-- == 0;
    else if (onnxl_field_is_set(field, message))
      set = false;
    else if (regular_tensor)
      set = field->number == 8 ? random_chance(r, 2) : field->number >= 12 && random_chance(r, 20);
    else if (regular_attribute)
      set = field->number == 1 ? !random_chance(r, 20) : field->number == 13 && random_chance(r, 20);
    else
      set = random_chance(r, r->sparse);
    if (set)
      random_field(r, field, message);
  }
  r->depth--;
}

/* The model of a seed. Returns: owned. */
static inline OnnxlModel *
random_model_of(uint64_t seed, bool plain)
{
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);
  Random r = { .state = seed, .arena = model->arena, .plain = plain };

  r.left = 10 + (int)random_below(&r, 150);
  r.sparse = 1 + random_below(&r, 4);
  random_message(&r, &onnxl_model_descriptor, &model->proto);
  return model;
}

static inline OnnxlModel *
random_model(uint64_t seed)
{
  return random_model_of(seed, false);
}

#endif
