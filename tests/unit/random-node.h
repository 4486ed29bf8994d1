/* A seeded model of one node: an operator of the table with inputs and attributes that fit about as often as not. */
#ifndef ONNXL_TESTS_RANDOM_NODE_H
#define ONNXL_TESTS_RANDOM_NODE_H

#include <math.h>

#include "ops/ops.h"
#include "random-model.h"

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

typedef struct RandomInput {
  RandomGiven given;
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
  int64_t dims[RANDOM_MAX_RANK]; /* that most inputs have something to do with */
  uint32_t rank;
  int32_t bound[32]; /* element type that each constraint has taken */
} RandomNode;

#define RANDOM_NEW(r, type, n) ONNXL_NEW_ARRAY((r)->random.arena, type, (n) > 0 ? (n) : 1)

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
random_type(Random *r, uint32_t set)
{
  int32_t types[ONNXL_N_TYPES], n = 0;
  for (int32_t type = 1; type < ONNXL_N_TYPES; type++)
    if (set >> type & 1)
      types[n++] = type;
  return n == 0 || random_chance(r, 40) ? 1 + (int32_t)random_below(r, ONNXL_N_TYPES - 1)
                                        : types[random_below(r, (uint32_t)n)];
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

/* --- attributes --- */

static inline OnnxlGraph *
random_body(RandomNode *n, const char *name)
{
  Random *r = &n->random;
  OnnxlGraph *graph = ONNXL_NEW(r->arena, OnnxlGraph);
  bool is_loop = strcmp(n->schema->name, "Loop") == 0, is_if = strcmp(n->schema->name, "If") == 0;
  uint32_t n_inputs = is_if ? 0 : n->n_inputs, n_outputs = n->n_outputs + is_loop;
  if (random_chance(r, 8))
    n_inputs = random_below(r, 4);
  if (random_chance(r, 8))
    n_outputs = random_below(r, 4);
  graph->name = onnxl_str(name);
  graph->input.items = RANDOM_NEW(n, OnnxlValueInfo, n_inputs);
  graph->input.count = n_inputs;
  graph->output.items = RANDOM_NEW(n, OnnxlValueInfo, n_outputs);
  graph->output.count = n_outputs;
  graph->node.items = RANDOM_NEW(n, OnnxlNode, n_outputs);
  graph->node.count = n_outputs;
  graph->initializer.items = RANDOM_NEW(n, OnnxlTensor, 1);
  for (uint32_t i = 0; i < n_inputs; i++)
    graph->input.items[i].name = onnxl_arena_printf(r->arena, "%s_in%u", name, i);
  if (n_inputs == 0) {
    int64_t dims[RANDOM_MAX_RANK];
    uint32_t rank = random_dims(n, false, dims);
    graph->initializer.items[0] = random_tensor(n, onnxl_arena_printf(r->arena, "%s_c", name),
                                                random_type(r, UINT32_C(1) << ONNXL_TYPE_FLOAT), dims, rank);
    graph->initializer.count = 1;
  }
  for (uint32_t i = 0; i < n_outputs; i++) {
    OnnxlNode *node = &graph->node.items[i];
    node->op_type = ONNXL_STR("Identity");
    node->input.items = RANDOM_NEW(n, OnnxlStr, 1);
    node->input.count = node->output.count = 1;
    node->input.items[0] =
      n_inputs > 0 ? graph->input.items[(i + is_loop) % n_inputs].name : graph->initializer.items[0].name;
    node->output.items = RANDOM_NEW(n, OnnxlStr, 1);
    graph->output.items[i].name = node->output.items[0] = onnxl_arena_printf(r->arena, "%s_out%u", name, i);
  }
  return graph;
}

static inline OnnxlAttribute
random_attribute(RandomNode *n, const OnnxlOpAttribute *known)
{
  static const char *const words[] = {
    "NOTSET",
    "VALID",
    "SAME_UPPER",
    "SAME_LOWER",
    "constant",
    "reflect",
    "edge",
    "wrap",
    "nearest",
    "linear",
    "cubic",
    "bilinear",
    "asymmetric",
    "align_corners",
    "tf_crop_and_resize",
    "half_pixel",
    "floor",
    "ceil",
    "none",
    "add",
    "mul",
    "min",
    "max",
    "mean",
    "sum",
    "avg",
    "forward",
    "reverse",
    "bidirectional",
    "ij,jk->ik",
    "ii->i",
    "...i,...i->...",
    "Tanh",
    "Relu",
    "LOGISTIC",
    "SOFTMAX",
    "SOFTMAX_ZERO",
    "PROBIT",
    "NONE",
    "LEAF",
    "BRANCH_LEQ",
    "BRANCH_EQ",
    "RBF",
    "LINEAR",
    "POLY",
    "TF",
    "IDF",
    "TFIDF",
    "L1",
    "L2",
    "MAX",
    "TO_FLOAT",
    "DENSE",
    "SPARSE",
    "DCR",
    "CRD",
    "tanh",
    "LOWER",
    "right",
    "zeros",
    "border",
    "a",
    "",
    "(a+)b",
  };
  Random *r = &n->random;
  OnnxlAttribute a = { .name = onnxl_str(known->name), .has_type = true, .type = (int32_t)known->type };
  uint32_t count = random_chance(r, 2) ? n->rank : random_below(r, 7);
  if (random_chance(r, 60))
    a.type = 1 + (int32_t)random_below(r, 8);
  a.has_i = a.type == ONNXL_ATTRIBUTE_INT;
  a.has_f = a.type == ONNXL_ATTRIBUTE_FLOAT;
  switch (a.type) {
  case ONNXL_ATTRIBUTE_INT:
    a.i = random_small(r);
    break;
  case ONNXL_ATTRIBUTE_FLOAT:
    a.f = random_real(r);
    break;
  case ONNXL_ATTRIBUTE_STRING:
    a.s = random_word(r, words, G_N_ELEMENTS(words));
    /* The default, without its quotes, is a word that means something here. */
    if (known->default_text[0] == '"' && random_chance(r, 3))
      a.s = onnxl_str_n(known->default_text + 1, strlen(known->default_text) - 2);
    break;
  case ONNXL_ATTRIBUTE_INTS:
    a.ints.items = RANDOM_NEW(n, int64_t, count);
    a.ints.count = count;
    for (uint32_t i = 0; i < count; i++)
      a.ints.items[i] = random_chance(r, 3) ? 1 : random_small(r);
    break;
  case ONNXL_ATTRIBUTE_FLOATS:
    a.floats.items = RANDOM_NEW(n, float, count);
    a.floats.count = count;
    for (uint32_t i = 0; i < count; i++)
      a.floats.items[i] = random_real(r);
    break;
  case ONNXL_ATTRIBUTE_STRINGS:
    a.strings.items = RANDOM_NEW(n, OnnxlStr, count);
    a.strings.count = count;
    for (uint32_t i = 0; i < count; i++)
      a.strings.items[i] = random_word(r, words, G_N_ELEMENTS(words));
    break;
  case ONNXL_ATTRIBUTE_TENSOR: {
    int64_t dims[RANDOM_MAX_RANK];
    uint32_t rank = random_dims(n, true, dims);
    a.t = ONNXL_NEW(r->arena, OnnxlTensor);
    *a.t = random_tensor(n, (OnnxlStr){ 0 }, random_type(r, UINT32_MAX), dims, rank);
    break;
  }
  case ONNXL_ATTRIBUTE_GRAPH:
    a.g = random_body(n, known->name);
    break;
  default:
    break;
  }
  return a;
}

static inline void
random_attributes(RandomNode *n, OnnxlNode *node)
{
  node->attribute.items = RANDOM_NEW(n, OnnxlAttribute, n->schema->n_attributes);
  for (uint32_t i = 0; i < n->schema->n_attributes; i++) {
    const OnnxlOpAttribute *known = &n->schema->attributes[i];
    if (known->required ? !random_chance(&n->random, 40) : random_chance(&n->random, 3))
      node->attribute.items[node->attribute.count++] = random_attribute(n, known);
  }
}

/* --- inputs --- */

static inline const OnnxlOpConstraint *
constraint_of(const OnnxlOpSchema *schema, const OnnxlOpParam *param, uint32_t *ret_index)
{
  for (uint32_t i = 0; i < schema->n_constraints; i++)
    if (strcmp(schema->constraints[i].name, param->type) == 0) {
      *ret_index = i;
      return &schema->constraints[i];
    }
  return NULL;
}

static inline OnnxlTensor
random_item(RandomNode *n, int32_t type, OnnxlStr name, bool is_list)
{
  int64_t dims[RANDOM_MAX_RANK];
  uint32_t rank = random_dims(n, is_list, dims);
  return random_tensor(n, name, type, dims, rank);
}

/* Keys and values of equal length. */
static inline void
random_map(RandomNode *n, RandomInput *input, const char *const *texts)
{
  uint32_t n_texts = 0;
  while (texts[n_texts])
    n_texts++;
  const char *text = texts[random_below(&n->random, n_texts)];
  bool string_key = strstr(text, "map(string") != NULL;
  int32_t value = strstr(text, " float")    ? ONNXL_TYPE_FLOAT
                  : strstr(text, " double") ? ONNXL_TYPE_DOUBLE
                  : strstr(text, " string") ? ONNXL_TYPE_STRING
                                            : ONNXL_TYPE_INT64;
  int64_t length = random_size(&n->random);
  input->given = GIVEN_MAP;
  input->elem_type = string_key ? ONNXL_TYPE_STRING : ONNXL_TYPE_INT64;
  input->tensors[0] = random_tensor(n, (OnnxlStr){ 0 }, input->elem_type, &length, 1);
  input->tensors[1] = random_tensor(n, (OnnxlStr){ 0 }, value, &length, 1);
  input->n_tensors = 2;
}

static inline void
random_input(RandomNode *n, uint32_t i)
{
  Random *r = &n->random;
  const OnnxlOpParam *param = &n->schema->inputs[MIN(i, n->schema->n_inputs - 1u)];
  RandomInput *input = &n->inputs[i];
  uint32_t c = 0;
  const OnnxlOpConstraint *constraint = constraint_of(n->schema, param, &c);
  /* An unbounded loop is what the model asks for, so trips are few. */
  if (strcmp(n->schema->name, "Loop") == 0 && i == 0) {
    int64_t trips = (int64_t)random_below(r, 4);
    input->given = GIVEN_INITIALIZER;
    input->elem_type = ONNXL_TYPE_INT64;
    input->n_tensors = 1;
    input->tensors[0] = random_tensor(n, ONNXL_STR("x0"), ONNXL_TYPE_INT64, NULL, 0);
    char *bytes = RANDOM_NEW(n, char, sizeof trips);
    memcpy(bytes, &trips, sizeof trips);
    input->tensors[0].raw_data = onnxl_str_n(bytes, sizeof trips);
    return;
  }
  if (random_chance(r, param->option == ONNXL_PARAM_OPTIONAL ? 3 : 60))
    return;
  uint32_t tensors = constraint ? constraint->tensor | constraint->optional_tensor : 0;
  uint32_t sequences = constraint ? constraint->sequence | constraint->optional_sequence : 0;
  if (constraint && constraint->others && !random_chance(r, 30)) {
    random_map(n, input, constraint->others);
    return;
  }
  if (!constraint && strncmp(param->type, "tensor(", 7) == 0)
    tensors = UINT32_C(1) << onnxl_data_type_from_name(onnxl_str_n(param->type + 7, strlen(param->type) - 8));
  bool sequence = sequences != 0 && (tensors == 0 || random_chance(r, 3));
  if (constraint && !param->heterogeneous && n->bound[c] != 0 && !random_chance(r, 60))
    input->elem_type = n->bound[c];
  else
    input->elem_type = random_type(r, sequence ? sequences : tensors);
  if (constraint)
    n->bound[c] = input->elem_type;
  bool optional =
    constraint && (constraint->optional_tensor | constraint->optional_sequence) != 0 && random_chance(r, 2);
  input->given = sequence              ? GIVEN_SEQUENCE
                 : optional            ? GIVEN_OPTIONAL
                 : random_chance(r, 2) ? GIVEN_INITIALIZER
                                       : GIVEN_TENSOR;
  input->n_tensors = sequence ? random_below(r, RANDOM_MAX_ITEMS + 1) : optional ? random_below(r, 2) : 1;
  const uint32_t index_types = UINT32_C(1) << ONNXL_TYPE_INT64 | UINT32_C(1) << ONNXL_TYPE_INT32;
  bool is_list = (tensors & ~index_types) == 0 && tensors != 0;
  for (uint32_t k = 0; k < input->n_tensors; k++)
    input->tensors[k] = random_item(n, input->elem_type, onnxl_arena_printf(r->arena, "x%u", i), is_list);
}

/* The declared type of input i: the shape in numbers, in symbols s<input>_<axis>, or not at all. */
static inline OnnxlType *
random_declaration(RandomNode *n, uint32_t i)
{
  Random *r = &n->random;
  const RandomInput *input = &n->inputs[i];
  OnnxlType *type = ONNXL_NEW(r->arena, OnnxlType), *item = type;
  if (input->given == GIVEN_MAP) {
    type->map_type = ONNXL_NEW(r->arena, OnnxlMapType);
    *type->map_type = (OnnxlMapType){ .has_key_type = true, .key_type = input->elem_type };
    type->map_type->value_type = item = ONNXL_NEW(r->arena, OnnxlType);
  } else if (input->given != GIVEN_TENSOR) {
    OnnxlElementType *element = ONNXL_NEW(r->arena, OnnxlElementType);
    element->elem_type = item = ONNXL_NEW(r->arena, OnnxlType);
    *(input->given == GIVEN_SEQUENCE ? &type->sequence_type : &type->optional_type) = element;
  }
  item->tensor_type = ONNXL_NEW(r->arena, OnnxlTensorType);
  item->tensor_type->has_elem_type = true;
  item->tensor_type->elem_type = input->given == GIVEN_MAP ? input->tensors[1].data_type : input->elem_type;
  if (input->given != GIVEN_TENSOR || random_chance(r, 6))
    return type;
  const OnnxlInt64List *dims = &input->tensors[0].dims;
  OnnxlShapeProto *shape = item->tensor_type->shape = ONNXL_NEW(r->arena, OnnxlShapeProto);
  bool symbols = random_chance(r, 2);
  shape->dim.items = RANDOM_NEW(n, OnnxlDimension, dims->count);
  shape->dim.count = dims->count;
  for (uint32_t d = 0; d < dims->count; d++)
    if (symbols)
      shape->dim.items[d].dim_param = onnxl_arena_printf(r->arena, "s%u_%u", i, d);
    else
      shape->dim.items[d] = (OnnxlDimension){ .has_dim_value = true, .dim_value = dims->items[d] };
  return type;
}

static inline uint32_t
random_arity(Random *r, int32_t min, int32_t max, uint32_t most)
{
  uint32_t low = (uint32_t)MAX(min, 0), high = max > (int32_t)low + 3 && max == INT32_MAX ? low + 3 : (uint32_t)max;
  high = MIN(high, most);
  return random_chance(r, 60) ? random_below(r, 4) : low + random_below(r, high - MIN(low, high) + 1);
}

/* Makes the model; the same seed and operator give the same one. */
static inline void
random_node(RandomNode *n, const OnnxlOpSchema *schema, uint64_t seed)
{
  memset(n, 0, sizeof *n);
  n->model = onnxl_model_new(1 << 24);
  n->random = (Random){ .state = seed, .arena = n->model->arena };
  n->schema = schema;
  Random *r = &n->random;
  n->rank = random_chance(r, 4) ? random_below(r, RANDOM_MAX_RANK + 1) : 1 + random_below(r, 4);
  for (uint32_t i = 0; i < n->rank; i++)
    n->dims[i] = random_size(r);
  n->n_inputs =
    schema->n_inputs == 0 ? 0 : random_arity(r, schema->min_inputs, schema->max_inputs, RANDOM_MAX_NODE_INPUTS);
  n->n_outputs = MAX(random_arity(r, schema->min_outputs, schema->max_outputs, RANDOM_MAX_NODE_OUTPUTS), 1u);

  OnnxlModelProto *proto = &n->model->proto;
  OnnxlGraph *graph = proto->graph = ONNXL_NEW(r->arena, OnnxlGraph);
  bool other_domain = schema->domain[0] != '\0';
  proto->has_ir_version = true;
  proto->ir_version = 10;
  proto->opset_import.items = RANDOM_NEW(n, OnnxlOpset, 2);
  proto->opset_import.count = 1 + other_domain;
  proto->opset_import.items[0] =
    (OnnxlOpset){ .domain = ONNXL_STR(""), .has_version = true, .version = other_domain ? 21 : schema->since };
  proto->opset_import.items[1] =
    (OnnxlOpset){ .domain = onnxl_str(schema->domain), .has_version = true, .version = schema->since };
  graph->name = ONNXL_STR("g");
  graph->node.items = RANDOM_NEW(n, OnnxlNode, 1);
  graph->node.count = 1;
  OnnxlNode *node = &graph->node.items[0];
  node->op_type = onnxl_str(schema->name);
  node->domain = onnxl_str(schema->domain);
  node->name = ONNXL_STR("n");
  node->input.items = RANDOM_NEW(n, OnnxlStr, n->n_inputs);
  node->input.count = n->n_inputs;
  graph->input.items = RANDOM_NEW(n, OnnxlValueInfo, n->n_inputs);
  graph->initializer.items = RANDOM_NEW(n, OnnxlTensor, n->n_inputs);
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    random_input(n, i);
    node->input.items[i] = n->inputs[i].given == GIVEN_NOTHING ? ONNXL_STR("") : onnxl_arena_printf(r->arena, "x%u", i);
    if (n->inputs[i].given == GIVEN_INITIALIZER)
      graph->initializer.items[graph->initializer.count++] = n->inputs[i].tensors[0];
    else if (n->inputs[i].given != GIVEN_NOTHING)
      graph->input.items[graph->input.count++] =
        (OnnxlValueInfo){ .name = node->input.items[i], .type = random_declaration(n, i) };
  }
  random_attributes(n, node);
  node->output.items = RANDOM_NEW(n, OnnxlStr, n->n_outputs);
  node->output.count = n->n_outputs;
  graph->output.items = RANDOM_NEW(n, OnnxlValueInfo, n->n_outputs);
  for (uint32_t i = 0; i < n->n_outputs; i++) {
    node->output.items[i] = i > 0 && random_chance(r, 4) ? ONNXL_STR("") : onnxl_arena_printf(r->arena, "y%u", i);
    if (node->output.items[i].size > 0)
      graph->output.items[graph->output.count++].name = node->output.items[i];
  }
}

static inline void
random_node_clear(RandomNode *n)
{
  onnxl_model_free(n->model);
}

#endif
