/* Attributes of the textual syntax, of nodes and of functions. */
#include "proto/text-internal.h"

/* The type of one element of a list type, else the type itself. */
static OnnxlAttributeType
element_type(int32_t type)
{
  switch (type) {
  case ONNXL_ATTRIBUTE_FLOATS:
    return ONNXL_ATTRIBUTE_FLOAT;
  case ONNXL_ATTRIBUTE_INTS:
    return ONNXL_ATTRIBUTE_INT;
  case ONNXL_ATTRIBUTE_STRINGS:
    return ONNXL_ATTRIBUTE_STRING;
  case ONNXL_ATTRIBUTE_TENSORS:
    return ONNXL_ATTRIBUTE_TENSOR;
  case ONNXL_ATTRIBUTE_GRAPHS:
    return ONNXL_ATTRIBUTE_GRAPH;
  case ONNXL_ATTRIBUTE_SPARSE_TENSORS:
    return ONNXL_ATTRIBUTE_SPARSE_TENSOR;
  case ONNXL_ATTRIBUTE_TYPE_PROTOS:
    return ONNXL_ATTRIBUTE_TYPE_PROTO;
  default:
    return (OnnxlAttributeType)type;
  }
}

static OnnxlAttributeType
list_type(OnnxlAttributeType element)
{
  for (int32_t type = ONNXL_ATTRIBUTE_UNDEFINED + 1; type < ONNXL_N_ATTRIBUTE_TYPES; type++)
    if (type != (int32_t)element && element_type(type) == element)
      return (OnnxlAttributeType)type;
  return ONNXL_ATTRIBUTE_UNDEFINED;
}

/* A graph with its name read already; otherwise the word is no value. */
static bool
read_graph_value(OnnxlReader *r, const OnnxlToken *word, OnnxlStr name, OnnxlAttribute *value)
{
  value->type = ONNXL_ATTRIBUTE_GRAPH;
  value->g = ONNXL_NEW(r->arena, OnnxlGraph);
  if (!value->g)
    return onnxl_reader_exhausted(r);
  return onnxl_reader_graph_after_name(r, name, word->notes, value->g);
}

static bool
at_graph(const OnnxlReader *r)
{
  return onnxl_reader_at(r, '(') || onnxl_reader_at(r, '=');
}

/* An identifier that is neither a type nor a number. */
static bool
read_word_value(OnnxlReader *r, OnnxlAttribute *value)
{
  OnnxlToken word = r->token;
  OnnxlStr name;

  if (!onnxl_reader_name(r, "a value", &name))
    return false;
  if (at_graph(r))
    return read_graph_value(r, &word, name, value);
  if (onnxl_reader_at(r, '['))
    return onnxl_reader_unknown_type(r, &word);
  if (onnxl_text_is_word(name, "true") || onnxl_text_is_word(name, "false"))
    return onnxl_reader_report_at(r, ONNXL_DIAG_NO_BOOL, &word, "there is no boolean attribute; write `%c`",
                                  name.size == strlen("true") ? '1' : '0');
  return onnxl_reader_report_at(r, ONNXL_DIAG_EXPECTED, &word,
                                "expected a value, found `%.*s`; a string is quoted, a graph goes on with `(` or `=>`",
                                ONNXL_ARG(word.text));
}

/* A type, or the tensor that starts with it. */
static bool
read_type_value(OnnxlReader *r, OnnxlAttribute *value)
{
  OnnxlTypePlaces places;
  OnnxlType *type = ONNXL_NEW(r->arena, OnnxlType);

  if (!type)
    return onnxl_reader_exhausted(r);
  if (!onnxl_reader_type(r, type, &places))
    return false;
  if (type->sparse_tensor_type && onnxl_reader_at(r, '{')) {
    value->type = ONNXL_ATTRIBUTE_SPARSE_TENSOR;
    value->sparse_tensor = ONNXL_NEW(r->arena, OnnxlSparseTensor);
    if (!value->sparse_tensor)
      return onnxl_reader_exhausted(r);
    if (!onnxl_reader_enter(r, 1))
      return false;
    bool ok = onnxl_reader_sparse_data(r, type, &places, NULL, value->sparse_tensor);
    onnxl_reader_leave(r, 1);
    return ok;
  }
  if (!onnxl_reader_at_tensor(r)) {
    value->type = ONNXL_ATTRIBUTE_TYPE_PROTO;
    value->tp = type;
    return true;
  }
  value->type = ONNXL_ATTRIBUTE_TENSOR;
  value->t = ONNXL_NEW(r->arena, OnnxlTensor);
  return value->t ? onnxl_reader_tensor_value(r, type, &places, value->t) : onnxl_reader_exhausted(r);
}

/* One value; its type goes to value->type. as_float: an integer stands for a float. */
static bool
read_single(OnnxlReader *r, bool as_float, OnnxlAttribute *value)
{
  OnnxlToken start = r->token;
  OnnxlStr string;

  if ((onnxl_reader_at(r, ONNXL_TOKEN_INT) && as_float) || onnxl_reader_at_float(r) ||
      onnxl_reader_at(r, ONNXL_TOKEN_BITS)) {
    value->type = ONNXL_ATTRIBUTE_FLOAT;
    return value->has_f = onnxl_reader_float(r, &value->f);
  }
  switch (r->token.kind) {
  case ONNXL_TOKEN_INT:
    value->type = ONNXL_ATTRIBUTE_INT;
    return value->has_i = onnxl_reader_int64(r, &value->i);
  case ONNXL_TOKEN_STRING:
    if (!onnxl_reader_string(r, "a value", &string))
      return false;
    if (at_graph(r))
      return read_graph_value(r, &start, string, value);
    value->type = ONNXL_ATTRIBUTE_STRING;
    value->s = string;
    return true;
  case '?':
    onnxl_reader_next(r);
    return read_graph_value(r, &start, (OnnxlStr){ NULL, 0 }, value);
  default:
    break;
  }
  if (onnxl_reader_at_type(r))
    return read_type_value(r, value);
  if (onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER))
    return read_word_value(r, value);
  return onnxl_reader_no_number(r, "a value");
}

/* The elements of a list value. */
typedef struct Elements {
  int32_t annotation;      /* type of an element by the annotation, 0 = none */
  OnnxlAttributeType type; /* of the elements so far, 0 = none yet */
  OnnxlStr first;          /* the first one's first token */
} Elements;

/* In front of the type's name. */
static const char *
article(int32_t type)
{
  return type == ONNXL_ATTRIBUTE_INT || type == ONNXL_ATTRIBUTE_INTS ? "an " : "a ";
}

static bool
report_mix(OnnxlReader *r, const Elements *list, const OnnxlToken *element, OnnxlAttributeType type)
{
  const char *held = onnxl_attribute_type_name((int32_t)list->type);

  if (list->annotation != ONNXL_ATTRIBUTE_UNDEFINED)
    return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE, element, "a list annotated as `%ss` holds %s%s",
                                  onnxl_attribute_type_name(list->annotation), article((int32_t)type),
                                  onnxl_attribute_type_name((int32_t)type));
  if (list->type == ONNXL_ATTRIBUTE_INT && type == ONNXL_ATTRIBUTE_FLOAT)
    return onnxl_reader_report_at(r, ONNXL_DIAG_LIST_MIX, element,
                                  "a list of ints (from `%.*s`) holds a float; write `%.*s.0` first or annotate "
                                  "`floats`",
                                  ONNXL_ARG(list->first), ONNXL_ARG(list->first));
  return onnxl_reader_report_at(r, ONNXL_DIAG_LIST_MIX, element, "a list of %ss holds %s%s", held,
                                article((int32_t)type), onnxl_attribute_type_name((int32_t)type));
}

static bool
push_element(OnnxlReader *r, const OnnxlAttribute *value)
{
  switch ((OnnxlAttributeType)value->type) {
  case ONNXL_ATTRIBUTE_FLOAT:
    return onnxl_reader_push(r, &value->f, sizeof value->f);
  case ONNXL_ATTRIBUTE_INT:
    return onnxl_reader_push(r, &value->i, sizeof value->i);
  case ONNXL_ATTRIBUTE_STRING:
    return onnxl_reader_push(r, &value->s, sizeof value->s);
  case ONNXL_ATTRIBUTE_TENSOR:
    return onnxl_reader_push(r, value->t, sizeof *value->t);
  case ONNXL_ATTRIBUTE_GRAPH:
    return onnxl_reader_push(r, value->g, sizeof *value->g);
  case ONNXL_ATTRIBUTE_SPARSE_TENSOR:
    return onnxl_reader_push(r, value->sparse_tensor, sizeof *value->sparse_tensor);
  default:
    return onnxl_reader_push(r, value->tp, sizeof *value->tp);
  }
}

static bool
read_element(OnnxlReader *r, void *data)
{
  Elements *list = data;
  OnnxlToken start = r->token;
  OnnxlAttributeType expected =
    list->annotation != ONNXL_ATTRIBUTE_UNDEFINED ? (OnnxlAttributeType)list->annotation : list->type;
  OnnxlAttribute value;

  if (onnxl_reader_at(r, '@'))
    return onnxl_reader_report_at(r, ONNXL_DIAG_REF_IN_LIST, &start, "a reference cannot stand in a list");
  value.type = ONNXL_ATTRIBUTE_UNDEFINED;
  if (!read_single(r, expected == ONNXL_ATTRIBUTE_FLOAT, &value))
    return false;
  if (expected != ONNXL_ATTRIBUTE_UNDEFINED && (OnnxlAttributeType)value.type != expected)
    return report_mix(r, list, &start, (OnnxlAttributeType)value.type);
  if (list->type == ONNXL_ATTRIBUTE_UNDEFINED)
    list->first = onnxl_str_n(start.start, (size_t)(start.end - start.start));
  list->type = (OnnxlAttributeType)value.type;
  return push_element(r, &value);
}

/* Takes the elements since mark off the stack into the list of their type. */
static void
pop_elements(OnnxlReader *r, size_t mark, OnnxlAttributeType type, OnnxlAttribute *attribute)
{
  switch (type) {
  case ONNXL_ATTRIBUTE_FLOAT:
    ONNXL_READER_POP(r, mark, &attribute->floats);
    break;
  case ONNXL_ATTRIBUTE_INT:
    ONNXL_READER_POP(r, mark, &attribute->ints);
    break;
  case ONNXL_ATTRIBUTE_STRING:
    ONNXL_READER_POP(r, mark, &attribute->strings);
    break;
  case ONNXL_ATTRIBUTE_TENSOR:
    ONNXL_READER_POP(r, mark, &attribute->tensors);
    break;
  case ONNXL_ATTRIBUTE_GRAPH:
    ONNXL_READER_POP(r, mark, &attribute->graphs);
    break;
  case ONNXL_ATTRIBUTE_SPARSE_TENSOR:
    ONNXL_READER_POP(r, mark, &attribute->sparse_tensors);
    break;
  case ONNXL_ATTRIBUTE_TYPE_PROTO:
    ONNXL_READER_POP(r, mark, &attribute->type_protos);
    break;
  default:
    r->scratch_used = mark;
    break;
  }
}

/* What an attribute is said to be. */
typedef struct Annotation {
  bool given;  /* there is one */
  bool absent; /* `?`: the attribute has no type */
  int32_t type;
  OnnxlToken token;
} Annotation;

/* […] or ![…]; the bracket is the token. */
static bool
read_list(OnnxlReader *r, const Annotation *annotation, OnnxlStr name, OnnxlAttribute *attribute)
{
  OnnxlToken bracket = r->token;
  int32_t type = annotation->type;
  Elements list = { .annotation = (int32_t)element_type(type) };
  bool is_list = (int32_t)list.annotation != type;
  size_t mark = r->scratch_used;

  onnxl_reader_next(r);
  if (onnxl_reader_at(r, ']') && type == ONNXL_ATTRIBUTE_UNDEFINED)
    return onnxl_reader_report_at(r, ONNXL_DIAG_EMPTY_LIST_TYPE, &bracket,
                                  "an empty list needs a type: write `%.*s: ints = []` (or floats, strings, …)",
                                  ONNXL_ARG(name));
  if (onnxl_reader_at(r, ']') && !is_list)
    return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE, &bracket, "`%s` does not take a list",
                                  onnxl_attribute_type_name(type));
  if (!onnxl_reader_list(r, ']', read_element, &list))
    return false;
  pop_elements(r, mark, list.type, attribute);
  attribute->type = is_list ? type : (int32_t)list_type(list.type);
  if (annotation->given && !annotation->absent && !is_list && list.type != ONNXL_ATTRIBUTE_UNDEFINED)
    onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE_LIST, &annotation->token, "a list is `%s`",
                           onnxl_attribute_type_name(attribute->type));
  return true;
}

static bool
report_type(OnnxlReader *r, const OnnxlToken *start, int32_t annotation, int32_t type)
{
  OnnxlStr text = onnxl_str_n(start->start, (size_t)(start->end - start->start));
  const char *wanted = onnxl_attribute_type_name(annotation);

  if ((int32_t)element_type(annotation) == type)
    return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE, start, "`%s` wants a list: `[%.*s]`", wanted,
                                  ONNXL_ARG(text));
  return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE, start, "the value is %s%s, not %s%s", article(type),
                                onnxl_attribute_type_name(type), article(annotation), wanted);
}

/* The value behind the `=`. */
static bool
read_value(OnnxlReader *r, const Annotation *annotation, OnnxlStr name, OnnxlAttribute *attribute)
{
  OnnxlToken start = r->token;

  if (onnxl_reader_accept(r, '@')) {
    attribute->has_type = annotation->given && !annotation->absent;
    attribute->type = annotation->type;
    return onnxl_reader_name(r, "the name of the function's attribute", &attribute->ref_attr_name);
  }
  if (annotation->given && !annotation->absent &&
      (annotation->type <= ONNXL_ATTRIBUTE_UNDEFINED || annotation->type >= ONNXL_N_ATTRIBUTE_TYPES))
    return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE, &start, "an attribute of type %d has no form for its value",
                                  annotation->type);
  attribute->has_type = !annotation->absent;
  if (onnxl_reader_at(r, '[') || onnxl_reader_at(r, ONNXL_TOKEN_OPEN_ELEMENTS))
    return read_list(r, annotation, name, attribute);
  bool as_float = annotation->type == ONNXL_ATTRIBUTE_FLOAT;
  if (!read_single(r, as_float, attribute))
    return false;
  if (annotation->type != ONNXL_ATTRIBUTE_UNDEFINED && annotation->type != attribute->type)
    return report_type(r, &start, annotation->type, attribute->type);
  return true;
}

static const char *
type_candidate(const void *data, size_t i)
{
  return i < ONNXL_N_ATTRIBUTE_TYPES - 1 ? onnxl_attribute_type_name((int32_t)i + 1) : NULL;
}

/* The type behind the colon. */
static bool
read_annotation(OnnxlReader *r, Annotation *annotation)
{
  OnnxlToken word = annotation->token = r->token;

  annotation->given = true;
  switch (r->token.kind) {
  case '?':
    annotation->absent = true;
    return onnxl_reader_next(r);
  case ONNXL_TOKEN_NUMBERED:
    return onnxl_reader_int32(r, &annotation->type);
  case ONNXL_TOKEN_IDENTIFIER:
    annotation->type = (int32_t)onnxl_attribute_type_from_name(word.text);
    if (annotation->type != ONNXL_ATTRIBUTE_UNDEFINED)
      return onnxl_reader_next(r);
    if (onnxl_data_type_from_name(word.text) != ONNXL_TYPE_UNDEFINED)
      return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE_NAME, &word,
                                    "attribute types are `int`, `float`, …; `%.*s` is an element type",
                                    ONNXL_ARG(word.text));
    const char *similar = onnxl_text_similar(word.text, type_candidate, NULL);
    return onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TYPE_NAME, &word,
                                  similar ? "unknown attribute type `%.*s`; did you mean `%s`?"
                                          : "unknown attribute type `%.*s`",
                                  ONNXL_ARG(word.text), similar);
  default:
    return onnxl_reader_expected(r, "an attribute type");
  }
}

typedef struct Attributes {
  bool function;
  size_t mark;     /* of the attributes on the stack */
  OnnxlStr *names; /* of a function, without a type or value */
  size_t n_names, names_capacity;
  OnnxlMap seen; /* names of a node's attributes, when there are many */
} Attributes;

static bool
at_item_end(const OnnxlReader *r)
{
  return onnxl_reader_at(r, ',') || onnxl_reader_at(r, '>');
}

/* [":" type] ["=" value] */
static bool
read_rest(OnnxlReader *r, bool function, bool block, OnnxlAttribute *attribute)
{
  Annotation annotation = { 0 };

  if (onnxl_reader_accept(r, ':') && !read_annotation(r, &annotation))
    return false;
  if (onnxl_reader_accept(r, '=')) {
    if (!function || !at_item_end(r))
      return read_value(r, &annotation, attribute->name, attribute);
  } else if (!annotation.given && !(function && block)) {
    return onnxl_reader_expected(r, "`=` and the value of attribute `%.*s`", ONNXL_ARG(attribute->name));
  }
  attribute->has_type = annotation.given && !annotation.absent;
  attribute->type = annotation.type;
  return true;
}

/* Moves the fields that are set in from to attribute, where a block may have set them already. */
static bool
merge(OnnxlReader *r, const OnnxlBlockPlaces *places, const OnnxlAttribute *from, OnnxlAttribute *attribute)
{
  const OnnxlMessageDescriptor *descriptor = &onnxl_attribute_descriptor;
  OnnxlAttribute merged = *from;

  for (size_t i = 0; i < descriptor->n_fields; i++) {
    const OnnxlFieldDescriptor *field = &descriptor->fields[i];
    if (!onnxl_field_is_set(field, attribute) || field->offset == offsetof(OnnxlAttribute, name))
      continue;
    if (onnxl_field_is_set(field, from))
      return onnxl_reader_set_in_block(r, places, field->name, field->number);
    size_t size = field->repeated || field->kind == ONNXL_FIELD_STRING || field->kind == ONNXL_FIELD_BYTES
                    ? sizeof(OnnxlStr)
                  : field->kind == ONNXL_FIELD_MESSAGE || field->kind == ONNXL_FIELD_INT64 ? 8
                                                                                           : 4;
    memcpy(onnxl_field_member(field, &merged), onnxl_field_member(field, attribute), size);
    if (field->has_offset)
      *(bool *)((char *)&merged + field->has_offset) = true;
  }
  merged.message = attribute->message;
  *attribute = merged;
  return true;
}

/* Warns when a node has the attribute already. */
static bool
check_twice(OnnxlReader *r, Attributes *list, const OnnxlToken *place, OnnxlStr name)
{
  enum { FEW = 16 };
  const OnnxlAttribute *items = (const OnnxlAttribute *)(r->scratch + list->mark);
  size_t n = (r->scratch_used - list->mark) / sizeof *items;
  bool twice = false;

  if (n < FEW) {
    for (size_t i = 0; i < n; i++)
      twice = twice || onnxl_str_equal(items[i].name, name);
  } else {
    bool added;
    for (size_t i = 0; n == FEW && i < n; i++)
      if (!onnxl_map_put(&list->seen, items[i].name, 0, NULL))
        return onnxl_reader_exhausted(r);
    if (!onnxl_map_put(&list->seen, name, 0, &added))
      return onnxl_reader_exhausted(r);
    twice = !added;
  }
  if (twice)
    onnxl_reader_report_at(r, ONNXL_DIAG_ATTR_TWICE, place, "attribute `%.*s` appears twice", ONNXL_ARG(name));
  return true;
}

static bool
read_attribute(OnnxlReader *r, void *data)
{
  Attributes *list = data;
  OnnxlToken place = r->token;
  OnnxlAttribute attribute = { 0 };
  OnnxlBlockPlaces places;
  bool block;

  if (!onnxl_reader_key(r, "the name of an attribute", &attribute.name))
    return false;
  if (list->function && at_item_end(r)) {
    if (!ONNXL_GROW(r->arena, &list->names, list->n_names, &list->names_capacity))
      return onnxl_reader_exhausted(r);
    list->names[list->n_names++] = attribute.name;
    return true;
  }
  block = onnxl_reader_at(r, ONNXL_TOKEN_OPEN_BLOCK);
  if (block) {
    OnnxlAttribute rest = { .name = attribute.name };
    if (!onnxl_reader_block(r, &onnxl_attribute_descriptor, &attribute, &places) ||
        !read_rest(r, list->function, true, &rest) || !merge(r, &places, &rest, &attribute))
      return false;
  } else if (!read_rest(r, list->function, false, &attribute)) {
    return false;
  }
  if (!list->function && !check_twice(r, list, &place, attribute.name))
    return false;
  return onnxl_reader_push(r, &attribute, sizeof attribute);
}

bool
onnxl_reader_attributes(OnnxlReader *r, OnnxlAttributeList *ret_attributes, OnnxlStrList *ret_names)
{
  Attributes list = { .function = ret_names != NULL, .mark = r->scratch_used, .seen = onnxl_map_new(r->arena, 0) };

  if (onnxl_reader_at(r, '>')) {
    onnxl_reader_report_at(r, ONNXL_DIAG_EMPTY_LIST, &r->token, "leave an empty attribute list out");
    return onnxl_reader_next(r);
  }
  if (!onnxl_reader_enter(r, 1))
    return false;
  bool ok = onnxl_reader_list(r, '>', read_attribute, &list);
  onnxl_reader_leave(r, 1);
  ONNXL_READER_POP(r, list.mark, ret_attributes);
  if (ret_names) {
    ret_names->items = list.names;
    ret_names->count = list.n_names;
  }
  return ok;
}
