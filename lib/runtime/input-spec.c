#include "runtime/input-spec.h"

#include <math.h>

#include "expr/expr.h"
#include "runtime/npy.h"
#include "runtime/npz.h"
#include "runtime/tensor-io.h"
#include "runtime/tensor.h"
#include "shapes/infer.h"
#include "support/error.h"
#include "support/file.h"
#include "support/number.h"

static const OnnxlTensorType *
tensor_type(const OnnxlIndexValue *place)
{
  return place->info && place->info->type ? place->info->type->tensor_type : NULL;
}

static int32_t
declared_type(const OnnxlIndexValue *place)
{
  const OnnxlTensorType *type = tensor_type(place);
  if (!type && place->initializer)
    return place->initializer->data_type;
  return type ? type->elem_type : ONNXL_TYPE_UNDEFINED;
}

/* --- filling --- */

enum { FILL_BLOCK = 512 }; /* whole bytes of types below 8 bits */

static bool
symbol_size(const OnnxlInputContext *context, const OnnxlIndexValue *place, OnnxlStr name, int64_t *ret_size,
            GError **error)
{
  if (context->symbol(context->symbol_data, name, ret_size))
    return true;
  /* A dimension may be an expression over symbols. */
  OnnxlArena *arena = onnxl_arena_new(1 << 20);
  OnnxlExprPool *pool = onnxl_expr_pool_new(arena);
  OnnxlExpr e = onnxl_str_is_identifier(name) ? NULL : onnxl_expr_parse(pool, name, 100, NULL);
  bool good = e && onnxl_expr_evaluate(e, context->symbol, context->symbol_data, ret_size, NULL);
  onnxl_expr_pool_free(pool);
  onnxl_arena_free(arena);
  return good || onnxl_fail(error, ONNXL_ERROR_USAGE,
                            "the size of %.*s, a dimension of the input %.*s, is not known: give it "
                            "as --dim %.*s=…",
                            ONNXL_ARG(name), ONNXL_ARG(place->name), ONNXL_ARG(name));
}

static bool
declared_dims(const OnnxlInputContext *context, const OnnxlIndexValue *place, uint32_t *ret_rank,
              int64_t dims[ONNXL_MAX_RANK], GError **error)
{
  const OnnxlTensorType *type = tensor_type(place);
  const OnnxlShapeProto *shape = type ? type->shape : NULL;
  if (!shape || shape->dim.count > ONNXL_MAX_RANK)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %.*s has no declared shape to fill", ONNXL_ARG(place->name));
  *ret_rank = (uint32_t)shape->dim.count;
  for (uint32_t i = 0; i < *ret_rank; i++) {
    const OnnxlDimension *dim = &shape->dim.items[i];
    if (dim->has_dim_value && dim->dim_value >= 0) {
      dims[i] = dim->dim_value;
      continue;
    }
    OnnxlArena *arena = onnxl_arena_new(1 << 20);
    OnnxlStr name = dim->dim_param;
    if (name.size == 0)
      name = onnxl_shape_default_name(arena, ONNXL_STR(""), place->name, i);
    bool good = symbol_size(context, place, name, &dims[i], error);
    onnxl_arena_free(arena);
    if (!good)
      return false;
  }
  return true;
}

typedef enum Fill { FILL_ZEROS, FILL_ONES, FILL_ARANGE, FILL_RANDOM } Fill;

/* splitmix64: the same seed and input give the same values. */
static double
random_unit(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static OnnxlValue *
fill(const OnnxlInputContext *context, const OnnxlIndexValue *place, Fill how, GError **error)
{
  int32_t type = declared_type(place);
  uint32_t rank;
  int64_t dims[ONNXL_MAX_RANK];
  if (!onnxl_type_is_float(type) && !onnxl_type_is_integer(type) && type != ONNXL_TYPE_BOOL) {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %.*s cannot be filled with numbers", ONNXL_ARG(place->name));
    return NULL;
  }
  if (!declared_dims(context, place, &rank, dims, error))
    return NULL;
  char *what = g_strdup_printf("the input %.*s", ONNXL_ARG(place->name));
  OnnxlValue *value = onnxl_value_new_tensor(context->allocator, type, rank, dims, what, error);
  g_free(what);
  uint64_t state = context->seed ^ onnxl_str_hash(place->name);
  /* Through double, so that every type is filled in the same way; a block at a time, so that it takes no memory. */
  for (int64_t first = 0; value && first < value->count; first += FILL_BLOCK) {
    double block[FILL_BLOCK];
    size_t n = (size_t)MIN(value->count - first, FILL_BLOCK);
    for (size_t i = 0; i < n; i++)
      if (how == FILL_RANDOM)
        block[i] = onnxl_type_is_float(type) ? 2 * random_unit(&state) - 1
                   : type == ONNXL_TYPE_BOOL ? random_unit(&state) < 0.5
                                             : floor(random_unit(&state) * 2);
      else
        block[i] = how == FILL_ZEROS ? 0 : how == FILL_ONES ? 1 : (double)(first + (int64_t)i);
    onnxl_tensor_write_double(value, first, n, block);
  }
  return value;
}

/* --- literals --- */

typedef struct Literal {
  const OnnxlInputContext *context;
  OnnxlStr name; /* of the input */
  const char *at;
  uint32_t rank; /* known at the first element */
  bool has_rank;
  int64_t dims[ONNXL_MAX_RANK];
  GArray *numbers; /* OnnxlStr: a number's text, or a string's contents */
} Literal;

static void
skip_blanks(Literal *literal)
{
  while (g_ascii_isspace(*literal->at))
    literal->at++;
}

static bool
literal_fail(const Literal *literal, const char *what, GError **error)
{
  return onnxl_fail(error, ONNXL_ERROR_USAGE, "the value of the input %.*s: %s at \"%.20s\"", ONNXL_ARG(literal->name),
                    what, literal->at);
}

/* A text in double quotes; \\ stands before a quote and before itself, and \\n, \\t are what they are in C. */
static bool
parse_text(Literal *literal, OnnxlStr *ret_text, GError **error)
{
  static const char escapes[] = "\\\"nt", meanings[] = "\\\"\n\t";
  const char *at = literal->at + 1;
  GString *text = g_string_new(NULL);
  bool known = true;
  for (; known && *at != '"' && *at != '\0'; at++) {
    const char *escape = *at == '\\' && at[1] != '\0' ? strchr(escapes, at[1]) : NULL;
    known = *at != '\\' || escape;
    g_string_append_c(text, escape ? meanings[escape - escapes] : *at);
    at += escape != NULL;
  }
  bool good;
  if (!known)
    good = literal_fail(literal, "an unknown escape in a text", error);
  else if (*at == '\0')
    good = literal_fail(literal, "a text without end", error);
  else
    good = onnxl_allocator_text(literal->context->allocator, onnxl_str_n(text->str, text->len), ret_text, error);
  literal->at = at + 1;
  g_string_free(text, TRUE);
  return good;
}

static bool
parse_element(Literal *literal, uint32_t depth, GError **error)
{
  const char *start = literal->at;
  OnnxlStr item;
  if (literal->has_rank && literal->rank != depth)
    return literal_fail(literal, "elements stand at different depths", error);
  literal->has_rank = true;
  literal->rank = depth;
  if (*start == '"') {
    if (!parse_text(literal, &item, error))
      return false;
  } else {
    literal->at += strcspn(start, " \t\n,]");
    item = onnxl_str_n(start, (size_t)(literal->at - start));
    if (item.size == 0)
      return literal_fail(literal, "a value is missing", error);
  }
  g_array_append_val(literal->numbers, item);
  return true;
}

static bool
parse_list(Literal *literal, uint32_t depth, GError **error)
{
  skip_blanks(literal);
  if (*literal->at != '[')
    return parse_element(literal, depth, error);
  if (depth >= ONNXL_MAX_RANK)
    return literal_fail(literal, "too many brackets", error);
  int64_t n = 0;
  literal->at++;
  for (skip_blanks(literal); *literal->at != ']'; skip_blanks(literal), n++) {
    if (*literal->at == '\0')
      return literal_fail(literal, "a ']' is missing", error);
    if (n > 0 && *literal->at == ',')
      literal->at++;
    if (!parse_list(literal, depth + 1, error))
      return false;
  }
  literal->at++;
  if (n == 0 && !literal->has_rank) {
    literal->has_rank = true;
    literal->rank = depth + 1;
  }
  if (literal->dims[depth] >= 0 && literal->dims[depth] != n)
    return literal_fail(literal, "lists of different lengths", error);
  literal->dims[depth] = n;
  return true;
}

static OnnxlValue *
literal_value(const Literal *literal, int32_t type, GError **error)
{
  OnnxlAllocator *allocator = literal->context->allocator;
  int64_t dims[ONNXL_MAX_RANK];
  for (uint32_t i = 0; i < literal->rank; i++)
    dims[i] = MAX(literal->dims[i], 0);
  OnnxlValue *texts = onnxl_value_new_tensor(allocator, ONNXL_TYPE_STRING, literal->rank, dims, "a literal", error);
  if (!texts)
    return NULL;
  for (int64_t i = 0; i < texts->count; i++) {
    OnnxlStr item = g_array_index(literal->numbers, OnnxlStr, i);
    if (type == ONNXL_TYPE_BOOL)
      item = onnxl_str_is(item, "true") || onnxl_str_is(item, "True")     ? ONNXL_STR("1")
             : onnxl_str_is(item, "false") || onnxl_str_is(item, "False") ? ONNXL_STR("0")
                                                                          : item;
    ((OnnxlStr *)texts->data)[i] = item;
  }
  if (type == ONNXL_TYPE_STRING)
    return texts;
  const OnnxlCastOptions options = { .saturate = true };
  GError *failed = NULL;
  OnnxlValue *value = onnxl_tensor_cast(allocator, texts, type, &options, &failed);
  onnxl_value_unref(texts);
  if (!value) {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the value of the input %.*s: %s", ONNXL_ARG(literal->name), failed->message);
    g_error_free(failed);
  }
  return value;
}

static OnnxlValue *
parse_literal(const OnnxlInputContext *context, const OnnxlIndexValue *place, const char *spec, GError **error)
{
  Literal literal = {
    .context = context, .name = place->name, .at = spec, .numbers = g_array_new(FALSE, FALSE, sizeof(OnnxlStr))
  };
  int32_t type = declared_type(place);
  OnnxlValue *value = NULL;
  memset(literal.dims, -1, sizeof literal.dims);
  if (type == ONNXL_TYPE_UNDEFINED)
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %.*s is no tensor that a literal could give",
               ONNXL_ARG(place->name));
  else if (parse_list(&literal, 0, error)) {
    skip_blanks(&literal);
    if (*literal.at != '\0')
      literal_fail(&literal, "something follows", error);
    else
      value = literal_value(&literal, type, error);
  }
  g_array_free(literal.numbers, TRUE);
  return value;
}

/* --- files --- */

void
onnxl_input_context_clear(OnnxlInputContext *context)
{
#ifdef ONNXL_HAVE_ZIP
  g_clear_pointer(&context->archive, onnxl_npz_free);
#endif
}

/* FILE.npz:KEY or FILE.npz. *ret_path: owned, NULL for another path; *ret_key: borrowed from path, NULL for none. */
static void
split_archive(const char *path, char **ret_path, const char **ret_key)
{
  const char *colon = g_strrstr(path, ".npz:");
  *ret_path = colon                            ? g_strndup(path, (gsize)(colon - path) + 4)
              : g_str_has_suffix(path, ".npz") ? g_strdup(path)
                                               : NULL;
  *ret_key = colon ? colon + 5 : NULL;
}

static OnnxlValue *
read_archive(OnnxlInputContext *context, int32_t elem_type, OnnxlStr name, const char *path, const char *key,
             GError **error)
{
#ifdef ONNXL_HAVE_ZIP
  g_autofree char *own_key = key ? NULL : g_strndup(name.data, name.size);
  if (!context->archive || strcmp(onnxl_npz_path(context->archive), path) != 0) {
    onnxl_input_context_clear(context);
    context->archive = onnxl_npz_open(path, context->allocator->limit, error);
  }
  return context->archive ? onnxl_npz_read(context->archive, context->allocator, key ? key : own_key, elem_type, error)
                          : NULL;
#else
  onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: this build has no libzip, which .npz archives need", path);
  return NULL;
#endif
}

static OnnxlValue *
read_plain(const OnnxlInputContext *context, const OnnxlType *type, int32_t elem_type, const char *path, GError **error)
{
  OnnxlFile *file = onnxl_file_open(path, context->allocator->limit, error);
  if (!file)
    return NULL;
  OnnxlStr bytes = onnxl_str_n(file->data ? file->data : "", (size_t)file->size);
  bool npy = bytes.size >= 6 && memcmp(bytes.data, "\x93NUMPY", 6) == 0;
  OnnxlValue *value = NULL;
  if (npy)
    value = onnxl_npy_read(context->allocator, bytes, elem_type, file->name, error);
  else if (g_str_has_suffix(path, ".npy"))
    onnxl_fail(error, ONNXL_ERROR_INVALID, "%s is not a .npy file", path);
  else
    value = onnxl_value_parse(context->allocator, bytes, type, file->name, error);
  onnxl_file_free(file);
  return value;
}

char *
onnxl_input_file(const char *path)
{
  g_autofree char *archive = NULL;
  const char *key;
  if (strcmp(path, "-") == 0)
    return NULL;
  split_archive(path, &archive, &key);
  return archive ? g_steal_pointer(&archive) : g_strdup(path);
}

OnnxlValue *
onnxl_input_read_file(OnnxlInputContext *context, const OnnxlType *type, int32_t elem_type, OnnxlStr name,
                      const char *path, GError **error)
{
  g_autofree char *archive = NULL;
  const char *key;
  if (strcmp(path, "-") == 0 && context->no_stdin) {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "@- cannot be the value of %.*s: it is one file for many runs",
               ONNXL_ARG(name));
    return NULL;
  }
  split_archive(path, &archive, &key);
  return archive ? read_archive(context, elem_type, name, archive, key, error)
                 : read_plain(context, type, elem_type, path, error);
}

OnnxlValue *
onnxl_input_read(OnnxlInputContext *context, const OnnxlIndexValue *place, const char *spec, char **ret_file,
                 GError **error)
{
  static const char *const fills[] = { "zeros", "ones", "arange", "random" };
  *ret_file = *spec == '@' ? onnxl_input_file(spec + 1) : NULL;
  if (*spec == '@')
    return onnxl_input_read_file(context, place->info ? place->info->type : NULL, declared_type(place), place->name,
                                 spec + 1, error);
  for (size_t i = 0; i < G_N_ELEMENTS(fills); i++)
    if (strcmp(spec, fills[i]) == 0)
      return fill(context, place, (Fill)i, error);
  return parse_literal(context, place, spec, error);
}
