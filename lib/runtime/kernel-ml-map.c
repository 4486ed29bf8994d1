/* Maps made into tensors, and tensors into maps. */
#include "runtime/loop.h"
#include "runtime/ml-lookup-internal.h"
#include "runtime/tensor.h"

/* The input's keys and values. The row allows any value here, as it names its maps by text. */
static bool
get_map(const OnnxlKernelContext *context, const OnnxlValue **ret_keys, const OnnxlValue **ret_values, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  if (x->kind != ONNXL_KIND_MAP)
    return onnxl_ctx_invalid(context, error, "the input is no map");
  *ret_keys = x->items[0];
  *ret_values = x->items[1];
  return true;
}

static bool
run_ml_cast_map(OnnxlKernelContext *context, GError **error)
{
  OnnxlStr to = onnxl_ctx_string(context, "cast_to"), form = onnxl_ctx_string(context, "map_form");
  int32_t elem_type = onnxl_str_is(to, "TO_FLOAT")    ? ONNXL_TYPE_FLOAT
                      : onnxl_str_is(to, "TO_INT64")  ? ONNXL_TYPE_INT64
                      : onnxl_str_is(to, "TO_STRING") ? ONNXL_TYPE_STRING
                                                      : 0;
  bool sparse = onnxl_str_is(form, "SPARSE");
  const OnnxlValue *keys, *values;
  OnnxlMlLookup lookup;
  if (elem_type == 0)
    return onnxl_ctx_invalid(context, error, "cast_to \"%.*s\" is unknown", ONNXL_ARG(to));
  if (!sparse && !onnxl_str_is(form, "DENSE"))
    return onnxl_ctx_invalid(context, error, "map_form \"%.*s\" is unknown", ONNXL_ARG(form));
  if (!get_map(context, &keys, &values, error))
    return false;
  if (keys->elem_type != ONNXL_TYPE_INT64)
    return onnxl_ctx_invalid(context, error, "the map's keys are no int64 numbers");
  if (!onnxl_ml_lookup_init(context, &lookup, onnxl_ml_column(keys), error))
    return false;
  int64_t n = sparse ? onnxl_ctx_int(context, "max_map") : keys->count;
  GError *failed = NULL;
  OnnxlValue *cast =
    onnxl_tensor_cast(onnxl_ctx_allocator(context), values, elem_type, &(OnnxlCastOptions){ 0 }, &failed);
  if (!cast) {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
    return false;
  }
  OnnxlValue *y = onnxl_ctx_output(context, 0, elem_type, 2, (int64_t[]){ 1, n }, error);
  bool good = y != NULL;
  size_t size = onnxl_element_size(cast);
  if (good && elem_type != ONNXL_TYPE_STRING && y->bytes > 0)
    memset(y->data, 0, y->bytes);
  for (int64_t i = 0; good && i < keys->count; i++) {
    int64_t from = lookup.order[i], key = ((const int64_t *)keys->data)[from];
    if (sparse && key < 0)
      good = onnxl_ctx_invalid(context, error, "the map has the negative key %" G_GINT64_FORMAT, key);
    else if (!sparse || key < n) /* keys beyond max_map are dropped, as other runtimes do */
      memcpy((char *)y->data + (size_t)(sparse ? key : i) * size, (const char *)cast->data + (size_t)from * size, size);
  }
  onnxl_value_unref(cast);
  return good;
}
ONNXL_KERNEL(ml_cast_map, EXACT);

static bool
run_ml_dict_vectorizer(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlColumn ints = onnxl_ml_column_of_ints(onnxl_ctx_ints(context, "int64_vocabulary"));
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "string_vocabulary"));
  const OnnxlMlColumn *vocabulary = texts.count > 0 ? &texts : &ints;
  const OnnxlValue *keys, *values;
  OnnxlMlLookup lookup;
  if (texts.count > 0 && ints.count > 0)
    return onnxl_ctx_invalid(context, error, "only one of int64_vocabulary and string_vocabulary may be given");
  if (!get_map(context, &keys, &values, error))
    return false;
  if (keys->elem_type != vocabulary->elem_type)
    return onnxl_ctx_invalid(context, error, "the map's keys are not of the vocabulary's type");
  if (!onnxl_ml_lookup_init(context, &lookup, onnxl_ml_column(keys), error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, values->elem_type, 2, (int64_t[]){ 1, vocabulary->count }, error);
  if (!y || y->count == 0)
    return y != NULL;
  size_t size = onnxl_element_size(y);
  if (y->elem_type != ONNXL_TYPE_STRING)
    memset(y->data, 0, y->bytes);
  for (int64_t i = 0; i < vocabulary->count; i++) {
    int64_t found = onnxl_ml_lookup_find(&lookup, vocabulary, i);
    if (found >= 0)
      memcpy((char *)y->data + (size_t)i * size, (const char *)values->data + (size_t)found * size, size);
  }
  return true;
}
ONNXL_KERNEL(ml_dict_vectorizer, EXACT);

/* One map of a row. Maps have no order; keys come out ascending. */
static OnnxlValue *
row_map(OnnxlAllocator *allocator, const OnnxlMlLookup *lookup, const float *row, GError **error)
{
  int64_t n = lookup->keys.count;
  OnnxlValue *keys = onnxl_value_new_tensor(allocator, lookup->keys.elem_type, 1, &n, "keys of a map", error);
  OnnxlValue *values =
    keys ? onnxl_value_new_tensor(allocator, ONNXL_TYPE_FLOAT, 1, &n, "values of a map", error) : NULL;
  OnnxlValue *map = NULL;
  if (values) {
    size_t size = onnxl_element_size(keys);
    for (int64_t i = 0; i < n; i++) {
      memcpy((char *)keys->data + (size_t)i * size, (const char *)lookup->keys.data + (size_t)lookup->order[i] * size,
             size);
      ((float *)values->data)[i] = row[lookup->order[i]];
    }
    map = onnxl_value_new_map(allocator, keys, values);
  }
  onnxl_value_unref(keys);
  onnxl_value_unref(values);
  return map;
}

static bool
run_ml_zip_map(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  OnnxlMlColumn ints = onnxl_ml_column_of_ints(onnxl_ctx_ints(context, "classlabels_int64s"));
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "classlabels_strings"));
  OnnxlMlColumn keys = texts.count > 0 ? texts : ints;
  OnnxlMlLookup lookup;
  GError *failed = NULL;
  if ((texts.count > 0) == (ints.count > 0))
    return onnxl_ctx_invalid(context, error, "exactly one of classlabels_int64s and classlabels_strings must be given");
  if (x->rank != 1 && x->rank != 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when 1 or 2 is expected", x->rank);
  if (x->dims[x->rank - 1] != keys.count)
    return onnxl_ctx_invalid(context, error, "the input has %" G_GINT64_FORMAT " columns for %" G_GINT64_FORMAT " keys",
                             x->dims[x->rank - 1], keys.count);
  int64_t rows = x->rank == 1 ? 1 : x->dims[0];
  OnnxlValue **maps = onnxl_ctx_scratch(context, (uint64_t)rows, sizeof *maps, error);
  if (!maps || !onnxl_ml_lookup_init(context, &lookup, keys, error))
    return false;
  for (int64_t i = 1; i < keys.count; i++)
    if (onnxl_ml_lookup_find(&lookup, &keys, lookup.order[i]) != lookup.order[i])
      return onnxl_ctx_invalid(context, error, "key %" G_GINT64_FORMAT " is there twice", lookup.order[i]);
  int64_t made = 0;
  while (made < rows && (maps[made] = row_map(allocator, &lookup, (const float *)x->data + made * keys.count, &failed)))
    made++;
  if (made == rows)
    onnxl_ctx_set_output(context, 0,
                         onnxl_value_new_sequence(allocator, ONNXL_KIND_MAP, keys.elem_type, maps, (size_t)rows));
  else {
    onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
    g_error_free(failed);
  }
  for (int64_t i = 0; i < made; i++)
    onnxl_value_unref(maps[i]);
  return made == rows;
}
ONNXL_KERNEL(ml_zip_map, EXACT);
