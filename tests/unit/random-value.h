/* What a random node is made of: its tensors, at random or as its recipe has them, and the attributes of a recipe. */
#ifndef ONNXL_TESTS_RANDOM_VALUE_H
#define ONNXL_TESTS_RANDOM_VALUE_H

#include <math.h>

#include "ops/ops.h"
#include "proto/packed.h"
#include "random-recipe.h"
#include "support/float-formats.h"

enum { RANDOM_MAX_ITEMS = 3, RANDOM_MAX_NODE_INPUTS = 24, RANDOM_MAX_NODE_OUTPUTS = 16, RANDOM_MAX_RANK = 5 };

/* What an input is given. */
typedef enum RandomGiven {
  GIVEN_NOTHING,
  GIVEN_INITIALIZER,
  GIVEN_TENSOR,
  GIVEN_SEQUENCE,
  GIVEN_OPTIONAL,
  GIVEN_MAP
} RandomGiven;

/* The type that a constraint takes: an element type and what is made of it. */
typedef enum RandomShell { SHELL_TENSOR, SHELL_SEQUENCE, SHELL_OPTIONAL, SHELL_OPTIONAL_SEQUENCE } RandomShell;

typedef struct RandomType {
  uint32_t constraint;
  RandomShell shell;
  int32_t elem_type;
} RandomType;

typedef struct RandomInput {
  RandomGiven given;
  bool of_sequence; /* an optional one */
  int32_t elem_type;
  OnnxlTensor tensors[RANDOM_MAX_ITEMS]; /* the tensor; items of the sequence or optional; keys and values of the map */
  uint32_t n_tensors;
} RandomInput;

typedef struct RandomNode {
  Random random;
  OnnxlModel *model;
  const OnnxlOpSchema *schema;
  RandomInput inputs[RANDOM_MAX_NODE_INPUTS];
  uint32_t n_inputs, n_outputs;
  bool captures; /* the input behind those of the node is one of the graph, which bodies capture */
  int64_t dims[RANDOM_MAX_RANK]; /* that most inputs have something to do with */
  uint32_t rank;
  int32_t bound[32]; /* element type that each constraint has taken */
  const RandomType *wanted; /* that one is asked for, and everything else is to fit; or NULL */
  OnnxlStr recipe;
  RandomSizes sizes;
} RandomNode;

#define RANDOM_NEW(r, type, n) ONNXL_NEW_ARRAY((r)->random.arena, type, (n) > 0 ? (n) : 1)

/* Something that does not fit is done, unless all has to. */
static inline bool
random_misfit(RandomNode *n, uint32_t one_in)
{
  return !n->wanted && random_chance(&n->random, one_in);
}

static inline int64_t
random_size(Random *r)
{
  return random_chance(r, 12) ? 0 : 1 + (int64_t)random_below(r, 4);
}

/* Mostly small, as axes, indices, shapes and counts are. */
static inline int64_t
random_small(Random *r)
{
  return random_chance(r, 15) ? random_int(r) : (int64_t)random_below(r, 7) - (random_chance(r, 2) ? 2 : 0);
}

static inline float
random_real(Random *r)
{
  static const float corners[] = { 0, -0.0f, 1, -1, 0.5f, 2, 1e-5f, 1e30f, INFINITY, -INFINITY, NAN };
  return random_chance(r, 4) ? corners[random_below(r, G_N_ELEMENTS(corners))]
                             : (float)random_below(r, 1000) / 250.0f - 1.5f;
}

static inline OnnxlStr
random_word(Random *r, const char *const *words, size_t n)
{
  return onnxl_str(words[random_below(r, (uint32_t)n)]);
}

/* A type of a set; now and then any other. */
static inline int32_t
random_type(RandomNode *n, uint32_t set)
{
  Random *r = &n->random;
  int32_t types[ONNXL_N_TYPES];
  uint32_t n_types = 0;
  for (int32_t type = 1; type < ONNXL_N_TYPES; type++)
    if (set >> type & 1)
      types[n_types++] = type;
  return n_types == 0 || random_misfit(n, 40) ? 1 + (int32_t)random_below(r, ONNXL_N_TYPES - 1)
                                              : types[random_below(r, n_types)];
}

static inline void
random_payload(RandomNode *n, OnnxlTensor *tensor, int64_t count)
{
  static const char *const words[] = { "", "a", "b", "A b", "1", "-2.5", "x,y", "caf\xc3\xa9", "\xff" };
  Random *r = &n->random;
  if (tensor->data_type == ONNXL_TYPE_STRING) {
    tensor->string_data.items = RANDOM_NEW(n, OnnxlStr, (size_t)count);
    tensor->string_data.count = (size_t)count;
    for (int64_t i = 0; i < count; i++)
      tensor->string_data.items[i] = random_word(r, words, G_N_ELEMENTS(words));
    return;
  }
  uint32_t bits = onnxl_data_type_bits(tensor->data_type);
  size_t size = ((size_t)count * bits + 7) / 8;
  char *bytes = RANDOM_NEW(n, char, size + 16);
  for (int64_t i = 0; (size_t)i * MAX(bits / 8, 1u) < size; i++) {
    char *at = bytes + (size_t)i * MAX(bits / 8, 1u);
    int64_t integer = random_small(r);
    float real = random_real(r);
    double wide = random_real(r);
    switch (tensor->data_type) {
    case ONNXL_TYPE_FLOAT:
      memcpy(at, &real, sizeof real);
      break;
    case ONNXL_TYPE_DOUBLE:
      memcpy(at, &wide, sizeof wide);
      break;
    case ONNXL_TYPE_BOOL:
      *at = integer & 1;
      break;
    case ONNXL_TYPE_COMPLEX64:
    case ONNXL_TYPE_COMPLEX128:
      for (uint32_t k = 0; k < bits / 8; k += 4)
        memcpy(at + k, &real, sizeof real);
      break;
    case ONNXL_TYPE_FLOAT16:
      integer = random_chance(r, 2) ? 0x3c00 + (int64_t)random_below(r, 8) * 256 : (int64_t)random_bits(r);
      memcpy(at, &integer, sizeof(uint16_t));
      break;
    default:
      integer = onnxl_data_type_bits(tensor->data_type) <= 16 ? (int64_t)random_bits(r) & 0x7f : integer;
      memcpy(at, &integer, MAX(bits / 8, 1u));
    }
  }
  tensor->raw_data = onnxl_str_n(bytes, size);
}

static inline OnnxlTensor
random_tensor(RandomNode *n, OnnxlStr name, int32_t type, const int64_t *dims, uint32_t rank)
{
  OnnxlTensor tensor = { .name = name, .has_data_type = true, .data_type = type };
  int64_t count = 1;
  tensor.dims.items = RANDOM_NEW(n, int64_t, rank);
  tensor.dims.count = rank;
  for (uint32_t i = 0; i < rank; i++)
    count *= tensor.dims.items[i] = dims[i];
  random_payload(n, &tensor, count);
  return tensor;
}

/* Like the shape that the node's inputs share, broadcast to it, along one axis of it, or anything. */
static inline uint32_t
random_dims(RandomNode *n, bool is_list, int64_t *ret_dims)
{
  Random *r = &n->random;
  uint32_t rank = n->rank, way = random_below(r, 20);
  if (is_list ? way < 14 : way == 19) {
    ret_dims[0] = random_chance(r, 2) ? n->rank : random_size(r);
    return 1;
  }
  if (way >= 16) {
    rank = random_below(r, RANDOM_MAX_RANK + 1);
    for (uint32_t i = 0; i < rank; i++)
      ret_dims[i] = random_size(r);
    return rank;
  }
  if (way == 15)
    return 0;
  if (way >= 12 && rank > 0) {
    ret_dims[0] = n->dims[random_below(r, rank)];
    return 1;
  }
  uint32_t first = way >= 9 && rank > 0 ? random_below(r, rank) : 0;
  for (uint32_t i = first; i < rank; i++)
    ret_dims[i - first] = way >= 8 && random_chance(r, 3) ? 1 : n->dims[i];
  return rank - first;
}

/* --- recipes --- */

static inline const OnnxlOpConstraint *
constraint_of(const OnnxlOpSchema *schema, const char *name, size_t size, uint32_t *ret_index)
{
  for (uint32_t i = 0; i < schema->n_constraints; i++)
    if (strlen(schema->constraints[i].name) == size && memcmp(schema->constraints[i].name, name, size) == 0) {
      *ret_index = i;
      return &schema->constraints[i];
    }
  return NULL;
}

static inline void
store_number(RandomNode *n, OnnxlTensor *tensor, int64_t i, int64_t value)
{
  static const int8_t formats[ONNXL_N_TYPES] = {
    [ONNXL_TYPE_FLOAT16] = ONNXL_FLOAT_FORMAT_FLOAT16 + 1,
    [ONNXL_TYPE_BFLOAT16] = ONNXL_FLOAT_FORMAT_BFLOAT16 + 1,
    [ONNXL_TYPE_FLOAT8E4M3FN] = ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN + 1,
    [ONNXL_TYPE_FLOAT8E4M3FNUZ] = ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ + 1,
    [ONNXL_TYPE_FLOAT8E5M2] = ONNXL_FLOAT_FORMAT_FLOAT8E5M2 + 1,
    [ONNXL_TYPE_FLOAT8E5M2FNUZ] = ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ + 1,
    [ONNXL_TYPE_FLOAT8E8M0] = ONNXL_FLOAT_FORMAT_FLOAT8E8M0 + 1,
    [ONNXL_TYPE_FLOAT4E2M1] = ONNXL_FLOAT_FORMAT_FLOAT4E2M1 + 1,
  };
  int32_t type = tensor->data_type;
  if (type == ONNXL_TYPE_STRING) {
    tensor->string_data.items[i] = onnxl_arena_printf(n->random.arena, "%d", (int)value);
    return;
  }
  char *bytes = (char *)tensor->raw_data.data;
  uint32_t bits = onnxl_data_type_bits(type);
  float single = (float)value;
  double wide = (double)value;
  if (formats[type])
    value = onnxl_float_encode(formats[type] - 1, wide, true);
  if (bits < 8) {
    uint32_t shift = (uint32_t)i * bits % 8, mask = (1u << bits) - 1;
    char *at = bytes + (size_t)i * bits / 8;
    *at = (char)((*at & ~(mask << shift)) | ((uint32_t)value & mask) << shift);
  } else if (type == ONNXL_TYPE_FLOAT || type == ONNXL_TYPE_COMPLEX64) {
    memcpy(bytes + (size_t)i * bits / 8, &single, sizeof single);
  } else if (type == ONNXL_TYPE_DOUBLE || type == ONNXL_TYPE_COMPLEX128) {
    memcpy(bytes + (size_t)i * bits / 8, &wide, sizeof wide);
  } else {
    memcpy(bytes + (size_t)i * bits / 8, &value, bits / 8);
  }
}

/* The tensor that a recipe's "[DIM,DIM]{A,B}" describes; now and then a dim is another. */
static inline OnnxlTensor
recipe_tensor(RandomNode *n, OnnxlStr name, int32_t type, OnnxlStr text)
{
  int64_t dims[RANDOM_MAX_RANK + 3];
  uint32_t rank = 0;
  for (recipe_skip(&text, "["); !recipe_skip(&text, "]"); recipe_skip(&text, ",")) {
    if (recipe_skip(&text, "...")) {
      for (uint32_t i = 0; i < MIN(n->rank, 2); i++)
        dims[rank++] = MAX(n->dims[i], 1);
      continue;
    }
    dims[rank++] = recipe_number(&n->sizes, &text);
    if (random_misfit(n, 30))
      dims[rank - 1] = random_size(&n->random);
  }
  OnnxlTensor tensor = random_tensor(n, name, type, dims, rank);
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    count *= dims[i];
  if (random_misfit(n, 12) || !recipe_skip(&text, "{"))
    return tensor;
  OnnxlStr list = text;
  int64_t first = recipe_number(&n->sizes, &text);
  if (recipe_skip(&text, "..")) {
    int64_t end = recipe_number(&n->sizes, &text);
    for (int64_t i = 0; i < count; i++)
      store_number(n, &tensor, i, first + (int64_t)random_below(&n->random, (uint32_t)MAX(end - first, 1)));
    return tensor;
  }
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || recipe_skip(&text, "}"))
      text = list;
    store_number(n, &tensor, i, recipe_number(&n->sizes, &text));
    recipe_skip(&text, ",");
  }
  return tensor;
}

/* "@T": the element type that constraint T has taken or takes now; or a type by its name. */
static inline int32_t
recipe_type(RandomNode *n, OnnxlStr *text)
{
  uint32_t c;
  size_t size = 1;
  while (size < text->size && text->data[size] != '[')
    size++;
  OnnxlStr name = onnxl_str_n(text->data + 1, size - 1);
  *text = onnxl_str_n(text->data + size, text->size - size);
  const OnnxlOpConstraint *constraint = constraint_of(n->schema, name.data, name.size, &c);
  if (!constraint)
    return onnxl_data_type_from_name(name);
  if (n->bound[c] == 0)
    n->bound[c] = random_type(n, constraint->tensor ? constraint->tensor : constraint->sequence);
  return n->bound[c];
}

/* The attribute that "=…" describes. False: the version has it with another type. */
static inline bool
recipe_attribute(RandomNode *n, OnnxlStr text, OnnxlAttribute *a)
{
  enum { MAX_LIST = 16 };
  recipe_advance(&text);
  bool is_list = recipe_skip(&text, "["), is_type = text.data[0] == '@', is_text = text.data[0] == '"';
  int32_t type = is_type ? recipe_type(n, &text) : 0;
  switch (a->type) {
  case ONNXL_ATTRIBUTE_INT:
    a->has_i = true;
    a->i = is_type ? type : is_text ? 0 : recipe_number(&n->sizes, &text);
    return !is_list && !is_text;
  case ONNXL_ATTRIBUTE_FLOAT:
    a->has_f = true;
    a->f = is_text || is_type ? 0 : (float)recipe_number(&n->sizes, &text);
    return !is_list && !is_text && !is_type;
  case ONNXL_ATTRIBUTE_STRING:
    a->s = is_text ? recipe_word(&text) : onnxl_str(onnxl_data_type_name(type));
    if (is_type) { /* as Cast-1 writes it */
      g_autofree char *upper = g_ascii_strup(a->s.data, (gssize)a->s.size);
      a->s = onnxl_arena_printf(n->random.arena, "%s", upper);
    }
    return !is_list && (is_text || is_type);
  case ONNXL_ATTRIBUTE_INTS:
    a->ints.items = RANDOM_NEW(n, int64_t, MAX_LIST);
    for (; is_list && !is_text && !recipe_skip(&text, "]"); recipe_skip(&text, ","))
      a->ints.items[a->ints.count++] = recipe_number(&n->sizes, &text);
    return is_list && !is_text;
  case ONNXL_ATTRIBUTE_FLOATS:
    a->floats.items = RANDOM_NEW(n, float, MAX_LIST);
    for (; is_list && !is_text && !recipe_skip(&text, "]"); recipe_skip(&text, ","))
      a->floats.items[a->floats.count++] = (float)recipe_number(&n->sizes, &text);
    return is_list && !is_text;
  case ONNXL_ATTRIBUTE_STRINGS:
    a->strings.items = RANDOM_NEW(n, OnnxlStr, MAX_LIST);
    for (; is_text && is_list && !recipe_skip(&text, "]"); recipe_skip(&text, ","))
      a->strings.items[a->strings.count++] = recipe_word(&text);
    return is_list && is_text;
  case ONNXL_ATTRIBUTE_TENSOR:
    a->t = ONNXL_NEW(n->random.arena, OnnxlTensor);
    *a->t = recipe_tensor(n, (OnnxlStr){ 0 }, type, text);
    return is_type;
  default:
    return false;
  }
}

#endif
