/* Names, types and values (ValueInfoProto) of the textual syntax. */
#include "proto/text-internal.h"

/* A string that holds invalid UTF-8 is kept as it is. */
static OnnxlStr
take_string(OnnxlReader *r)
{
  OnnxlStr text = r->token.text;

  if (r->token.not_utf8)
    onnxl_reader_report_at(r, ONNXL_DIAG_UTF8, &r->token, "the string holds bytes that are not UTF-8");
  onnxl_reader_next(r);
  return text;
}

static bool
report_unquoted(OnnxlReader *r, OnnxlStr run)
{
  return onnxl_reader_report(r, ONNXL_DIAG_QUOTE_NAME, run.data, run.data + run.size,
                             "a name like this is quoted: write `\"%.*s\"`", ONNXL_ARG(run));
}

/* A bad number or a number in place of a name. */
static bool
at_number(const OnnxlReader *r)
{
  switch (r->token.kind) {
  case ONNXL_TOKEN_INT:
  case ONNXL_TOKEN_FLOAT:
  case ONNXL_TOKEN_HEX:
    return true;
  case ONNXL_TOKEN_BAD:
    return r->token.bad == ONNXL_BAD_NUMBER || r->token.bad == ONNXL_BAD_EXPONENT || r->token.bad == ONNXL_BAD_MINUS;
  default:
    return false;
  }
}

static bool
read_name(OnnxlReader *r, const char *what, bool separators, OnnxlStr *ret_name)
{
  OnnxlStr run;

  switch (r->token.kind) {
  case ONNXL_TOKEN_IDENTIFIER:
    if (onnxl_reader_glued(r, r->token.start, r->at, separators, &run))
      return report_unquoted(r, run);
    *ret_name = r->token.text;
    return onnxl_reader_next(r);
  case ONNXL_TOKEN_STRING:
    *ret_name = take_string(r);
    return true;
  case '?':
    *ret_name = (OnnxlStr){ NULL, 0 };
    return onnxl_reader_next(r);
  default:
    if (at_number(r) || onnxl_reader_at(r, '/')) {
      if (!onnxl_reader_glued(r, r->token.start, r->at, separators, &run))
        run = onnxl_str_n(r->token.start, (size_t)(r->token.end - r->token.start));
      return report_unquoted(r, run);
    }
    return onnxl_reader_expected(r, "%s", what);
  }
}

bool
onnxl_reader_name(OnnxlReader *r, const char *what, OnnxlStr *ret_name)
{
  return read_name(r, what, false, ret_name);
}

bool
onnxl_reader_key(OnnxlReader *r, const char *what, OnnxlStr *ret_name)
{
  return read_name(r, what, true, ret_name);
}

bool
onnxl_reader_string(OnnxlReader *r, const char *what, OnnxlStr *ret_string)
{
  if (onnxl_reader_at(r, ONNXL_TOKEN_STRING)) {
    *ret_string = take_string(r);
    return true;
  }
  *ret_string = (OnnxlStr){ NULL, 0 };
  return onnxl_reader_accept(r, '?') || onnxl_reader_expected(r, "%s", what);
}

OnnxlStr
onnxl_reader_join(OnnxlReader *r, OnnxlStr a, OnnxlStr b)
{
  if (a.size == 0)
    return b;
  /* Written without blanks or quotes, the parts with their dot are a piece of the text. */
  if (a.data + a.size + 1 == b.data && a.data >= r->text && b.data <= r->end && a.data[a.size] == '.')
    return onnxl_str_n(a.data, a.size + 1 + b.size);
  char *joined = onnxl_arena_alloc(r->arena, a.size + 1 + b.size);
  if (!joined)
    return (OnnxlStr){ NULL, 0 };
  memcpy(joined, a.data, a.size);
  joined[a.size] = '.';
  if (b.size > 0)
    memcpy(joined + a.size + 1, b.data, b.size);
  return onnxl_str_n(joined, a.size + 1 + b.size);
}

/* The part of opaque(…): names joined by dots, `?` or nothing for an absent one. */
static bool
read_dotted(OnnxlReader *r, OnnxlStr *ret_name)
{
  OnnxlStr part;

  *ret_name = (OnnxlStr){ NULL, 0 };
  if (onnxl_reader_at(r, ')') || onnxl_reader_accept(r, '?'))
    return true;
  if (!onnxl_reader_key(r, "a name", ret_name))
    return false;
  while (onnxl_reader_accept(r, '.')) {
    if (!onnxl_reader_key(r, "a name after the dot", &part))
      return false;
    *ret_name = onnxl_reader_join(r, *ret_name, part);
  }
  return true;
}

typedef enum TypeWord { WORD_NONE, WORD_SEQ, WORD_MAP, WORD_OPTIONAL, WORD_SPARSE, WORD_OPAQUE, N_WORDS } TypeWord;

static const char *const type_words[N_WORDS] = {
  [WORD_SEQ] = "seq",       [WORD_MAP] = "map", [WORD_OPTIONAL] = "optional", [WORD_SPARSE] = "sparse_tensor",
  [WORD_OPAQUE] = "opaque",
};

static TypeWord
type_word(OnnxlStr word)
{
  for (TypeWord i = WORD_NONE + 1; i < N_WORDS; i++)
    if (onnxl_str_is(word, type_words[i]))
      return i;
  return WORD_NONE;
}

/* Whether some type starts with the letter, which most names do not. */
static bool
starts_type(char c)
{
  return memchr("bcdfimosu", c, 9) != NULL;
}

bool
onnxl_reader_at_type(const OnnxlReader *r)
{
  switch (r->token.kind) {
  case ONNXL_TOKEN_IDENTIFIER:
    if (!starts_type(*r->token.start))
      return false;
    return onnxl_data_type_from_name(r->token.text) != ONNXL_TYPE_UNDEFINED || type_word(r->token.text) != WORD_NONE;
  case ONNXL_TOKEN_ABSENT:
  case ONNXL_TOKEN_NUMBERED:
  case ONNXL_TOKEN_OPEN_BLOCK:
    return true;
  default:
    return false;
  }
}

static const char *
type_candidate(const void *data, size_t i)
{
  if (i < ONNXL_N_TYPES - 1)
    return onnxl_data_type_name((int32_t)i + 1);
  i -= ONNXL_N_TYPES - 1;
  return i < N_WORDS - 1 ? type_words[i + 1] : NULL;
}

/* Names that other tools use. */
static const char *const type_aliases[][2] = {
  { "float32", "float" },  { "float64", "double" }, { "half", "float16" },      { "fp16", "float16" },
  { "fp32", "float" },     { "fp64", "double" },    { "bf16", "bfloat16" },     { "int", "int64" },
  { "long", "int64" },     { "str", "string" },     { "boolean", "bool" },      { "sequence", "seq" },
  { "tensor", "float[]" }, { "dict", "map" },       { "complex", "complex64" },
};

const char *
onnxl_text_similar_type(OnnxlStr word)
{
  for (size_t i = 0; i < G_N_ELEMENTS(type_aliases); i++)
    if (onnxl_str_is(word, type_aliases[i][0]))
      return type_aliases[i][1];
  return onnxl_text_similar(word, type_candidate, NULL);
}

bool
onnxl_reader_unknown_type(OnnxlReader *r, const OnnxlToken *word)
{
  const char *similar = onnxl_text_similar_type(word->text);

  return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_TYPE, word,
                                similar ? "unknown type `%.*s`; did you mean `%s`?" : "unknown type `%.*s`",
                                ONNXL_ARG(word->text), similar);
}

/* An expression, or another text, in place of a dimension, up to the comma or bracket behind it. */
static bool
report_dimension(OnnxlReader *r, const OnnxlToken *start)
{
  const char *at = start->start, *end = at;

  for (uint32_t depth = 0; at < r->end && *at != '\n' && *at != '"' && *at != '#'; at++) {
    if (depth == 0 && (*at == ',' || *at == ']' || *at == ')'))
      break;
    depth += (*at == '(') - (*at == ')');
    if (*at != ' ')
      end = at + 1;
  }
  return onnxl_reader_report(r, ONNXL_DIAG_DIM_EXPR, start->start, end, "quote an expression: `\"%.*s\"`",
                             (int)(end - start->start), start->start);
}

static bool
at_dimension_end(const OnnxlReader *r)
{
  return onnxl_reader_at(r, ',') || onnxl_reader_at(r, ']') || onnxl_reader_at(r, ONNXL_TOKEN_OPEN_BLOCK);
}

static bool
starts_expression(const OnnxlReader *r)
{
  if (onnxl_reader_at(r, ONNXL_TOKEN_BAD))
    return r->token.bad == ONNXL_BAD_NUMBER || r->token.bad == ONNXL_BAD_MINUS;
  return r->token.kind < 256 && strchr("(-+*/%", r->token.kind);
}

typedef struct Shape {
  OnnxlShapeProto *shape;
  OnnxlTypePlaces *places;
} Shape;

static bool
read_dimension(OnnxlReader *r, void *data)
{
  Shape *shape = data;
  OnnxlDimension dim = { 0 };
  OnnxlToken start = r->token;

  switch (r->token.kind) {
  case ONNXL_TOKEN_INT:
    if (!onnxl_reader_int64(r, &dim.dim_value))
      return false;
    dim.has_dim_value = true;
    break;
  case ONNXL_TOKEN_IDENTIFIER:
    dim.dim_param = r->token.text;
    onnxl_reader_next(r);
    break;
  case ONNXL_TOKEN_STRING:
    dim.dim_param = take_string(r);
    break;
  case '?':
    onnxl_reader_next(r);
    break;
  case ONNXL_TOKEN_FLOAT:
    return onnxl_reader_report_at(r, ONNXL_DIAG_DIM_INT, &r->token, "a dimension is an integer, a name or `?`");
  default:
    return starts_expression(r) ? report_dimension(r, &start)
                                : onnxl_reader_expected(r, "a dimension: an integer, a name or `?`");
  }
  if (!at_dimension_end(r) && start.kind != '?' && start.kind != ONNXL_TOKEN_STRING &&
      (starts_expression(r) || (start.kind == ONNXL_TOKEN_IDENTIFIER && onnxl_reader_at(r, '.'))))
    return report_dimension(r, &start);
  if (!dim.has_dim_value && !shape->places->dim_start) {
    shape->places->dim_start = start.start;
    shape->places->dim_end = start.end;
  }
  return onnxl_reader_block(r, &onnxl_dimension_descriptor, &dim, NULL) && onnxl_reader_push(r, &dim, sizeof dim);
}

/* [dims] behind an element type: without them rank 0, empty for an unknown rank. */
static bool
read_shape(OnnxlReader *r, OnnxlTensorType *type, OnnxlTypePlaces *places)
{
  OnnxlToken bracket = r->token;

  if (onnxl_reader_at(r, '[') && onnxl_reader_next(r) && onnxl_reader_accept(r, ']')) {
    places->rank = bracket.start;
    return true;
  }
  type->shape = ONNXL_NEW(r->arena, OnnxlShapeProto);
  if (!type->shape)
    return onnxl_reader_exhausted(r);
  if (bracket.kind != '[')
    return true;
  size_t mark = r->scratch_used;
  Shape shape = { type->shape, places };
  bool ok = onnxl_reader_list(r, ']', read_dimension, &shape);
  ONNXL_READER_POP(r, mark, &type->shape->dim);
  return ok;
}

/* Element type and dims. */
static bool
read_tensor_type(OnnxlReader *r, OnnxlTensorType *type, OnnxlTypePlaces *places)
{
  OnnxlToken start = r->token;

  type->has_elem_type = true;
  switch (r->token.kind) {
  case ONNXL_TOKEN_ABSENT:
    type->has_elem_type = false;
    onnxl_reader_next(r);
    break;
  case ONNXL_TOKEN_NUMBERED:
    if (!onnxl_reader_int32(r, &type->elem_type))
      return false;
    break;
  case ONNXL_TOKEN_IDENTIFIER:
    type->elem_type = (int32_t)onnxl_data_type_from_name(start.text);
    if (type->elem_type == ONNXL_TYPE_UNDEFINED)
      return onnxl_reader_unknown_type(r, &start);
    onnxl_reader_next(r);
    break;
  default:
    return onnxl_reader_expected(r, "an element type");
  }
  return read_shape(r, type, places);
}

static bool read_type(OnnxlReader *r, OnnxlType *type, OnnxlTypePlaces *places);

/* A type, or nothing, before the closing parenthesis. */
static bool
read_inner_type(OnnxlReader *r, OnnxlType **ret_type)
{
  OnnxlTypePlaces places = { 0 };

  if (onnxl_reader_at(r, ')'))
    return true;
  *ret_type = ONNXL_NEW(r->arena, OnnxlType);
  if (!*ret_type)
    return onnxl_reader_exhausted(r);
  return read_type(r, *ret_type, &places);
}

static bool
read_element_type(OnnxlReader *r, OnnxlElementType **ret_type)
{
  *ret_type = ONNXL_NEW(r->arena, OnnxlElementType);
  if (!*ret_type)
    return onnxl_reader_exhausted(r);
  return read_inner_type(r, &(*ret_type)->elem_type);
}

static bool
read_map_type(OnnxlReader *r, OnnxlType *type)
{
  OnnxlMapType *map = type->map_type = ONNXL_NEW(r->arena, OnnxlMapType);

  if (!map)
    return onnxl_reader_exhausted(r);
  if (!onnxl_reader_accept(r, ONNXL_TOKEN_ABSENT)) {
    map->has_key_type = true;
    if (onnxl_reader_at(r, ONNXL_TOKEN_NUMBERED)) {
      if (!onnxl_reader_int32(r, &map->key_type))
        return false;
    } else if (!onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER)) {
      return onnxl_reader_expected(r, "the type of the map's keys");
    } else {
      map->key_type = (int32_t)onnxl_data_type_from_name(r->token.text);
      if (map->key_type == ONNXL_TYPE_UNDEFINED && type_word(r->token.text) == WORD_NONE)
        return onnxl_reader_unknown_type(r, &r->token);
      if (map->key_type == ONNXL_TYPE_UNDEFINED)
        return onnxl_reader_report_at(r, ONNXL_DIAG_MAP_KEY, &r->token,
                                      "a map key is an element type such as `int64` or `string`");
      onnxl_reader_next(r);
    }
  }
  return onnxl_reader_expect(r, ',', "`,` between the types of keys and values") &&
         read_inner_type(r, &map->value_type);
}

/* One part is the name; of two the first is the domain. */
static bool
read_opaque_type(OnnxlReader *r, OnnxlType *type)
{
  OnnxlOpaqueType *opaque = type->opaque_type = ONNXL_NEW(r->arena, OnnxlOpaqueType);

  if (!opaque)
    return onnxl_reader_exhausted(r);
  if (!read_dotted(r, &opaque->name))
    return false;
  if (!onnxl_reader_accept(r, ','))
    return true;
  opaque->domain = opaque->name;
  return onnxl_reader_accept(r, '?') ? (opaque->name = (OnnxlStr){ NULL, 0 }, true)
                                     : onnxl_reader_name(r, "the opaque type's name", &opaque->name);
}

/* What stands in the parentheses behind a word. */
static bool
read_word_type(OnnxlReader *r, TypeWord word, OnnxlType *type, OnnxlTypePlaces *places)
{
  switch (word) {
  case WORD_SEQ:
    return read_element_type(r, &type->sequence_type);
  case WORD_OPTIONAL:
    return read_element_type(r, &type->optional_type);
  case WORD_MAP:
    return read_map_type(r, type);
  case WORD_OPAQUE:
    return read_opaque_type(r, type);
  default:
    type->sparse_tensor_type = ONNXL_NEW(r->arena, OnnxlTensorType);
    if (!type->sparse_tensor_type)
      return onnxl_reader_exhausted(r);
    return read_tensor_type(r, type->sparse_tensor_type, places);
  }
}

/* The message in a TypeProto that is not all block. */
static bool
read_type_kind(OnnxlReader *r, OnnxlType *type, OnnxlTypePlaces *places)
{
  TypeWord word = onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER) ? type_word(r->token.text) : WORD_NONE;

  if (word != WORD_NONE) {
    onnxl_reader_next(r);
    if (!onnxl_reader_expect(r, '(', "`(`"))
      return false;
    return (read_word_type(r, word, type, places) && onnxl_reader_expect(r, ')', "`)`")) ||
           onnxl_reader_recover_behind(r, ')');
  }
  type->tensor_type = ONNXL_NEW(r->arena, OnnxlTensorType);
  return type->tensor_type ? read_tensor_type(r, type->tensor_type, places) : onnxl_reader_exhausted(r);
}

static bool
read_type(OnnxlReader *r, OnnxlType *type, OnnxlTypePlaces *places)
{
  bool ok = true;

  places->start = r->token;
  if (!onnxl_reader_enter(r, 1))
    return false;
  if (!onnxl_reader_at(r, ONNXL_TOKEN_OPEN_BLOCK)) {
    ok = onnxl_reader_enter(r, 1);
    if (ok) {
      ok = read_type_kind(r, type, places);
      onnxl_reader_leave(r, 1);
    }
  }
  ok = ok && onnxl_reader_block(r, &onnxl_type_descriptor, type, NULL);
  onnxl_reader_leave(r, 1);
  return ok;
}

bool
onnxl_reader_type(OnnxlReader *r, OnnxlType *type, OnnxlTypePlaces *ret_places)
{
  *ret_places = (OnnxlTypePlaces){ 0 };
  return read_type(r, type, ret_places);
}

/* Behind a type: what must come is a name. */
static bool
report_no_name(OnnxlReader *r, const OnnxlToken *type)
{
  if (type->kind == ONNXL_TOKEN_IDENTIFIER &&
      (onnxl_reader_at(r, ',') || onnxl_reader_at(r, ')') || onnxl_reader_at(r, '>') || onnxl_reader_at(r, '=')))
    return onnxl_reader_report_at(r, ONNXL_DIAG_NAME_MISSING, type,
                                  "the type `%.*s` is not followed by a name; a value called `%.*s` is written "
                                  "`\"%.*s\"`",
                                  ONNXL_ARG(type->text), ONNXL_ARG(type->text), ONNXL_ARG(type->text));
  return onnxl_reader_expected(r, "a name behind the type");
}

bool
onnxl_reader_value(OnnxlReader *r, OnnxlValueInfo *value, OnnxlTypePlaces *ret_places)
{
  OnnxlToken start = r->token;

  *ret_places = (OnnxlTypePlaces){ .start = start };
  if (onnxl_reader_at_type(r)) {
    value->type = ONNXL_NEW(r->arena, OnnxlType);
    if (!value->type)
      return onnxl_reader_exhausted(r);
    if (!onnxl_reader_type(r, value->type, ret_places))
      return false;
    if (!onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER) && !onnxl_reader_at(r, ONNXL_TOKEN_STRING) &&
        !onnxl_reader_at(r, '?') && !at_number(r))
      return report_no_name(r, &start);
  }
  if (!onnxl_reader_name(r, "a type or name", &value->name))
    return false;
  /* A word that is no type and has a name or bracket behind it was meant as one. */
  if (!value->type && start.kind == ONNXL_TOKEN_IDENTIFIER) {
    bool name = onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER) || onnxl_reader_at(r, ONNXL_TOKEN_STRING);
    if (onnxl_reader_at(r, '[') || onnxl_reader_at(r, '(') || (name && onnxl_text_similar_type(start.text)))
      return onnxl_reader_unknown_type(r, &start);
  }
  return onnxl_reader_block(r, &onnxl_value_info_descriptor, value, NULL);
}
