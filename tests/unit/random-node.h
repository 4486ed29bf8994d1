/* A seeded model of one node: an operator of the table with inputs and attributes that fit about as often as not, or as
 * well as its recipe knows. */
#ifndef ONNXL_TESTS_RANDOM_NODE_H
#define ONNXL_TESTS_RANDOM_NODE_H

#include "random-value.h"

/* --- attributes --- */

/* A body hands on its inputs; one of If hands on what it captures, or a constant. */
static inline OnnxlGraph *
random_body(RandomNode *n, const char *name)
{
  Random *r = &n->random;
  OnnxlGraph *graph = ONNXL_NEW(r->arena, OnnxlGraph);
  bool is_loop = strcmp(n->schema->name, "Loop") == 0, is_if = strcmp(n->schema->name, "If") == 0;
  bool is_old_scan = strcmp(n->schema->name, "Scan") == 0 && n->schema->since < 9; /* with sequence_lens */
  uint32_t n_inputs = is_if ? 0 : n->n_inputs - MIN(n->n_inputs, is_old_scan), n_outputs = n->n_outputs + is_loop;
  if (random_misfit(n, 8))
    n_inputs = random_below(r, 4);
  if (random_misfit(n, 8))
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
  OnnxlStr outer = n->captures ? onnxl_arena_printf(r->arena, "x%u", n->n_inputs) : ONNXL_STR("");
  if (n_inputs == 0 && !n->captures) {
    int64_t dims[RANDOM_MAX_RANK];
    uint32_t rank = random_dims(n, false, dims);
    outer = onnxl_arena_printf(r->arena, "%s_c", name);
    graph->initializer.items[0] =
      random_tensor(n, outer, random_type(n, UINT32_C(1) << ONNXL_TYPE_FLOAT), dims, rank);
    graph->initializer.count = 1;
  }
  for (uint32_t i = 0; i < n_outputs; i++) {
    OnnxlNode *node = &graph->node.items[i];
    node->op_type = ONNXL_STR("Identity");
    node->input.items = RANDOM_NEW(n, OnnxlStr, 1);
    node->input.count = node->output.count = 1;
    node->input.items[0] = n_inputs > 0 ? graph->input.items[(i + is_loop) % n_inputs].name : outer;
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
  OnnxlStr text;
  if (recipe_find(n->recipe, known->name, '=', &text) && recipe_attribute(n, text, &a))
    return a;
  a = (OnnxlAttribute){ .name = a.name, .has_type = true, .type = a.type };
  uint32_t count = random_chance(r, 2) ? n->rank : random_below(r, 7);
  if (random_misfit(n, 60))
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
    *a.t = random_tensor(n, (OnnxlStr){ 0 }, random_type(n, UINT32_MAX), dims, rank);
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
    OnnxlStr text;
    bool listed = recipe_find(n->recipe, known->name, '=', &text);
    if (known->required || listed ? !random_misfit(n, 40) : random_chance(&n->random, n->recipe.size > 0 ? 12 : 3))
      node->attribute.items[node->attribute.count++] = random_attribute(n, known);
  }
}

/* --- inputs --- */

static inline OnnxlTensor
random_item(RandomNode *n, int32_t type, OnnxlStr name, OnnxlStr recipe, bool is_list)
{
  if (recipe.size > 0)
    return recipe_tensor(n, name, type, recipe);
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

/* What the recipe says of input i, which is the k-th of a variadic one. */
static inline OnnxlStr
input_recipe(RandomNode *n, const OnnxlOpParam *param, uint32_t k)
{
  OnnxlStr text = ONNXL_STR("");
  g_autofree char *numbered = g_strdup_printf("%s.%u", param->name, k);
  if (!recipe_find(n->recipe, numbered, '[', &text))
    recipe_find(n->recipe, param->name, '[', &text);
  return text;
}

/* What an input of that shell is given. */
static inline void
random_shell(RandomNode *n, RandomInput *input, RandomShell shell)
{
  Random *r = &n->random;
  bool is_optional = shell == SHELL_OPTIONAL || shell == SHELL_OPTIONAL_SEQUENCE;
  input->of_sequence = shell == SHELL_OPTIONAL_SEQUENCE;
  input->given = is_optional               ? GIVEN_OPTIONAL
                 : shell == SHELL_SEQUENCE ? GIVEN_SEQUENCE
                 : random_chance(r, 2)     ? GIVEN_INITIALIZER
                                           : GIVEN_TENSOR;
  input->n_tensors = shell == SHELL_TENSOR     ? 1
                     : shell == SHELL_OPTIONAL ? random_below(r, 2)
                                               : random_below(r, RANDOM_MAX_ITEMS + 1);
}

/* Draws the type of an input of a constraint; what the input is given follows from it. */
static inline void
random_input_type(RandomNode *n, const OnnxlOpParam *param, RandomInput *input)
{
  Random *r = &n->random;
  uint32_t c = 0;
  const OnnxlOpConstraint *constraint = constraint_of(n->schema, param->type, strlen(param->type), &c);
  uint32_t tensors = constraint ? constraint->tensor : 0, sequences = constraint ? constraint->sequence : 0;
  uint32_t optional_tensors = constraint ? constraint->optional_tensor : 0;
  uint32_t optional_sequences = constraint ? constraint->optional_sequence : 0;
  if (!constraint && strncmp(param->type, "tensor(", 7) == 0)
    tensors = UINT32_C(1) << onnxl_data_type_from_name(onnxl_str_n(param->type + 7, strlen(param->type) - 8));
  uint32_t sets[] = { tensors, sequences, optional_tensors, optional_sequences };
  bool bound = constraint && n->bound[c] != 0 && !(param->heterogeneous ? random_chance(r, 5) : random_misfit(n, 60));
  bool wanted = n->wanted && constraint && c == n->wanted->constraint;
  uint32_t shell = (uint32_t)random_below(r, 4);
  while (sets[shell] == 0 && (sets[0] | sets[1] | sets[2] | sets[3]) != 0)
    shell = (shell + 1) % 4;
  if (wanted)
    shell = n->wanted->shell;
  input->elem_type = wanted ? n->wanted->elem_type : bound ? n->bound[c] : random_type(n, sets[shell]);
  if (constraint)
    n->bound[c] = input->elem_type;
  random_shell(n, input, (RandomShell)shell);
}

/* Something of the wanted type for the branches of If, which has no input of it. */
static inline void
random_captured(RandomNode *n)
{
  RandomInput *input = &n->inputs[n->n_inputs];
  input->elem_type = n->wanted->elem_type;
  random_shell(n, input, n->wanted->shell);
  for (uint32_t k = 0; k < input->n_tensors; k++)
    input->tensors[k] = random_item(n, input->elem_type, onnxl_arena_printf(n->random.arena, "x%u", n->n_inputs),
                                    ONNXL_STR(""), false);
}

static inline void
random_input(RandomNode *n, uint32_t i)
{
  Random *r = &n->random;
  const OnnxlOpParam *param = &n->schema->inputs[MIN(i, n->schema->n_inputs - 1u)];
  RandomInput *input = &n->inputs[i];
  uint32_t c = 0;
  const OnnxlOpConstraint *constraint = constraint_of(n->schema, param->type, strlen(param->type), &c);
  /* An unbounded loop is what the model asks for, so trips are few. */
  if (strcmp(n->schema->name, "Loop") == 0 && i == 0) {
    *input = (RandomInput){ .given = GIVEN_INITIALIZER, .elem_type = ONNXL_TYPE_INT64, .n_tensors = 1 };
    input->tensors[0] = recipe_tensor(n, ONNXL_STR("x0"), ONNXL_TYPE_INT64, ONNXL_STR("[]{0..4}"));
    return;
  }
  OnnxlStr recipe = input_recipe(n, param, i - MIN(i, n->schema->n_inputs - 1u));
  bool unlisted = n->recipe.size > 0 && recipe.size == 0;
  if (param->option == ONNXL_PARAM_OPTIONAL ? random_chance(r, unlisted ? 1 : 3) : random_misfit(n, 60))
    return;
  bool only_others = constraint && constraint->others && (!n->wanted || n->wanted->constraint != c);
  if (only_others && !random_misfit(n, 30)) {
    random_map(n, input, constraint->others);
    return;
  }
  random_input_type(n, param, input);
  const uint32_t index_types = UINT32_C(1) << ONNXL_TYPE_INT64 | UINT32_C(1) << ONNXL_TYPE_INT32;
  bool is_list = input->given <= GIVEN_TENSOR && (constraint ? (constraint->tensor & ~index_types) == 0
                                                             : (UINT32_C(1) << input->elem_type & index_types) != 0);
  for (uint32_t k = 0; k < input->n_tensors; k++)
    input->tensors[k] =
      random_item(n, input->elem_type, onnxl_arena_printf(r->arena, "x%u", i), recipe, is_list);
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
    if (input->of_sequence) {
      item->sequence_type = ONNXL_NEW(r->arena, OnnxlElementType);
      item->sequence_type->elem_type = ONNXL_NEW(r->arena, OnnxlType);
      item = item->sequence_type->elem_type;
    }
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
random_arity(RandomNode *n, int32_t min, int32_t max, uint32_t most)
{
  uint32_t low = (uint32_t)MAX(min, 0), high = max > (int32_t)low + 3 && max == INT32_MAX ? low + 3 : (uint32_t)max;
  high = MIN(high, most);
  return random_misfit(n, 60) ? random_below(&n->random, 4)
                              : low + random_below(&n->random, high - MIN(low, high) + 1);
}

/* As many as the recipe lists of a variadic input, or any allowed number. */
static inline uint32_t
random_n_inputs(RandomNode *n)
{
  const OnnxlOpSchema *schema = n->schema;
  if (schema->n_inputs == 0)
    return 0;
  OnnxlStr text;
  const OnnxlOpParam *last = &schema->inputs[schema->n_inputs - 1];
  for (uint32_t k = 0;; k++) {
    g_autofree char *numbered = g_strdup_printf("%s.%u", last->name, k);
    if (recipe_find(n->recipe, numbered, '[', &text))
      continue;
    return k > 0 ? schema->n_inputs - 1 + k
                 : random_arity(n, schema->min_inputs, schema->max_inputs, RANDOM_MAX_NODE_INPUTS);
  }
}

/* Makes the model; the same arguments give the same one. wanted: a type that a constraint is to take, where nothing is
 * done on purpose that does not fit; or NULL. */
static inline void
random_node(RandomNode *n, const OnnxlOpSchema *schema, uint64_t seed, const RandomType *wanted)
{
  memset(n, 0, sizeof *n);
  n->model = onnxl_model_new(1 << 24);
  n->random = (Random){ .state = seed, .arena = n->model->arena };
  n->schema = schema;
  n->wanted = wanted;
  if (wanted)
    n->bound[wanted->constraint] = wanted->elem_type;
  Random *r = &n->random;
  n->rank = random_chance(r, 4) ? random_below(r, RANDOM_MAX_RANK + 1) : 1 + random_below(r, 4);
  for (uint32_t i = 0; i < n->rank; i++)
    n->dims[i] = random_size(r);
  n->recipe = random_misfit(n, 3) ? ONNXL_STR("") : random_recipe(r, schema->domain, schema->name);
  n->n_inputs = random_n_inputs(n);
  n->n_outputs = MAX(random_arity(n, schema->min_outputs, schema->max_outputs, RANDOM_MAX_NODE_OUTPUTS), 1u);
  n->captures = wanted && strcmp(schema->name, "If") == 0 && n->n_inputs < RANDOM_MAX_NODE_INPUTS;
  n->sizes = (RandomSizes){ .random = r, .n_outputs = n->n_outputs };

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
  graph->input.items = RANDOM_NEW(n, OnnxlValueInfo, n->n_inputs + 1);
  graph->initializer.items = RANDOM_NEW(n, OnnxlTensor, n->n_inputs + 1);
  for (uint32_t i = 0; i < n->n_inputs + n->captures; i++) {
    if (i < n->n_inputs)
      random_input(n, i);
    else
      random_captured(n);
    bool given = n->inputs[i].given != GIVEN_NOTHING;
    OnnxlStr name = given ? onnxl_arena_printf(r->arena, "x%u", i) : ONNXL_STR("");
    if (i < n->n_inputs)
      node->input.items[i] = name;
    if (n->inputs[i].given == GIVEN_INITIALIZER)
      graph->initializer.items[graph->initializer.count++] = n->inputs[i].tensors[0];
    else if (given)
      graph->input.items[graph->input.count++] = (OnnxlValueInfo){ .name = name, .type = random_declaration(n, i) };
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
