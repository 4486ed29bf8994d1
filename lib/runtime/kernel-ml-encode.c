/* Categories: texts and numbers replaced by each other or by columns of zeros and ones. */
#include "runtime/ml-lookup-internal.h"
#include "runtime/tensor.h"

/* Fails unless keys and the input can be compared, and counts agree. */
static bool
check_mapping(const OnnxlKernelContext *context, const OnnxlMlColumn *keys, const OnnxlMlColumn *values, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  if (keys->count != values->count)
    return onnxl_ctx_invalid(context, error, "there are %" G_GINT64_FORMAT " keys and %" G_GINT64_FORMAT " values",
                             keys->count, values->count);
  if (!onnxl_ml_comparable(keys->elem_type, x->elem_type))
    return onnxl_ctx_invalid(context, error, "the keys are of type %s and the input of type %s",
                             onnxl_data_type_name(keys->elem_type), onnxl_data_type_name(x->elem_type));
  return true;
}

/* Output 0: the value of each element's key, fallback (one element of the values' type) where there is none. */
static bool
map_elements(OnnxlKernelContext *context, OnnxlMlColumn keys, const OnnxlMlColumn *values, const void *fallback,
             GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlMlColumn items = onnxl_ml_column(x);
  OnnxlMlLookup lookup;
  if (!check_mapping(context, &keys, values, error) || !onnxl_ml_lookup_init(context, &lookup, keys, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, values->elem_type, x->rank, x->dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  size_t size = y->bytes / (size_t)y->count;
  for (int64_t i = 0; i < x->count; i++) {
    int64_t found = onnxl_ml_lookup_find(&lookup, &items, i);
    memcpy((char *)y->data + (size_t)i * size, found < 0 ? fallback : (const char *)values->data + (size_t)found * size,
           size);
  }
  return true;
}

static bool
run_ml_category_mapper(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlColumn ints = onnxl_ml_column_of_ints(onnxl_ctx_ints(context, "cats_int64s"));
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "cats_strings"));
  OnnxlStr fallback = onnxl_ctx_string(context, "default_string");
  if (onnxl_ctx_input(context, 0)->elem_type == ONNXL_TYPE_STRING)
    return map_elements(context, texts, &ints, &(int64_t){ onnxl_ctx_int(context, "default_int64") }, error);
  return map_elements(context, ints, &texts, &fallback, error);
}
ONNXL_KERNEL(ml_category_mapper, EXACT);

/* LabelEncoder-1 has one list of texts and maps between them and their places. */
static bool
run_ml_label_encoder_1(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "classes_strings"));
  OnnxlStr fallback = onnxl_ctx_string(context, "default_string");
  int64_t *places = onnxl_ctx_scratch(context, (uint64_t)texts.count, sizeof *places, error);
  if (!places)
    return false;
  for (int64_t i = 0; i < texts.count; i++)
    places[i] = i;
  OnnxlMlColumn ints = { ONNXL_TYPE_INT64, texts.count, places };
  if (onnxl_ctx_input(context, 0)->elem_type == ONNXL_TYPE_STRING)
    return map_elements(context, texts, &ints, &(int64_t){ onnxl_ctx_int(context, "default_int64") }, error);
  return map_elements(context, ints, &texts, &fallback, error);
}
ONNXL_KERNEL(ml_label_encoder_1, EXACT);

/* The one attribute of keys_… or values_… that is given. */
static bool
one_column(OnnxlKernelContext *context, const char *prefix, OnnxlMlColumn *ret_column, GError **error)
{
  static const char suffixes[4][12] = { "floats", "int64s", "strings", "tensor" };
  int given = 0;
  for (int i = 0; i < 4; i++) {
    char name[24];
    g_snprintf(name, sizeof name, "%s_%s", prefix, suffixes[i]);
    if (!onnxl_ctx_attr(context, name))
      continue;
    given++;
    if (i == 0)
      *ret_column = onnxl_ml_column_of_floats(onnxl_ctx_floats(context, name));
    else if (i == 1)
      *ret_column = onnxl_ml_column_of_ints(onnxl_ctx_ints(context, name));
    else if (i == 2)
      *ret_column = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, name));
    else {
      OnnxlValue *tensor = onnxl_ctx_tensor(context, name, error);
      if (!tensor)
        return false;
      *ret_column = onnxl_ml_column(tensor);
    }
  }
  if (given != 1)
    return onnxl_ctx_invalid(context, error, "exactly one of the attributes %s_* must be given, not %d", prefix, given);
  switch (ret_column->elem_type) {
  case ONNXL_TYPE_STRING:
  case ONNXL_TYPE_INT16:
  case ONNXL_TYPE_INT32:
  case ONNXL_TYPE_INT64:
  case ONNXL_TYPE_FLOAT:
  case ONNXL_TYPE_DOUBLE:
    return true;
  default:
    return onnxl_ctx_unsupported_type(context, error, ret_column->elem_type);
  }
}

/* Room for an element of any type that LabelEncoder gives. */
typedef union Fallback {
  int16_t i16;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  OnnxlStr text;
} Fallback;

static bool
find_fallback(OnnxlKernelContext *context, int32_t elem_type, Fallback *ret_fallback, GError **error)
{
  GError *failed = NULL;
  const OnnxlValue *tensor = onnxl_ctx_tensor(context, "default_tensor", &failed);
  if (failed) {
    g_propagate_error(error, failed);
    return false;
  }
  if (tensor) {
    if (tensor->elem_type != elem_type || tensor->count != 1)
      return onnxl_ctx_invalid(context, error, "default_tensor must hold one element of the values' type");
    memcpy(ret_fallback, tensor->data, tensor->bytes);
    return true;
  }
  int64_t number = onnxl_ctx_int(context, "default_int64");
  float real = onnxl_ctx_float(context, "default_float");
  switch (elem_type) {
  case ONNXL_TYPE_STRING:
    ret_fallback->text = onnxl_ctx_string(context, "default_string");
    break;
  case ONNXL_TYPE_INT16:
    ret_fallback->i16 = (int16_t)number;
    break;
  case ONNXL_TYPE_INT32:
    ret_fallback->i32 = (int32_t)number;
    break;
  case ONNXL_TYPE_INT64:
    ret_fallback->i64 = number;
    break;
  case ONNXL_TYPE_FLOAT:
    ret_fallback->f32 = real;
    break;
  default:
    ret_fallback->f64 = real;
  }
  return true;
}

static bool
run_ml_label_encoder(OnnxlKernelContext *context, GError **error)
{
  OnnxlMlColumn keys, values;
  Fallback fallback;
  return one_column(context, "keys", &keys, error) && one_column(context, "values", &values, error) &&
         find_fallback(context, values.elem_type, &fallback, error) &&
         map_elements(context, keys, &values, &fallback, error);
}
ONNXL_KERNEL(ml_label_encoder, EXACT);

/* The input as something that can be looked up in the categories: numbers are cast to integers. */
static bool
category_items(OnnxlKernelContext *context, OnnxlMlColumn *ret_items, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  *ret_items = onnxl_ml_column(x);
  if (x->elem_type == ONNXL_TYPE_STRING)
    return true;
  int64_t *numbers = onnxl_ctx_int64s(context, x, error);
  *ret_items = (OnnxlMlColumn){ ONNXL_TYPE_INT64, x->count, numbers };
  return numbers != NULL;
}

static bool
run_ml_one_hot_encoder(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  OnnxlMlColumn ints = onnxl_ml_column_of_ints(onnxl_ctx_ints(context, "cats_int64s"));
  OnnxlMlColumn texts = onnxl_ml_column_of_strings(onnxl_ctx_strings(context, "cats_strings"));
  bool use_texts = texts.count > 0, zeros = onnxl_ctx_int(context, "zeros") != 0;
  OnnxlMlColumn items;
  OnnxlMlLookup lookup;
  int64_t dims[ONNXL_MAX_RANK + 1];
  if (use_texts == (ints.count > 0))
    return onnxl_ctx_invalid(context, error, "exactly one of cats_int64s and cats_strings must be given");
  if (use_texts != (x->elem_type == ONNXL_TYPE_STRING))
    return onnxl_ctx_invalid(context, error, "the categories are %s when the input holds %s",
                             use_texts ? "texts" : "integers", use_texts ? "numbers" : "texts");
  if (!onnxl_ml_lookup_init(context, &lookup, use_texts ? texts : ints, error) ||
      !category_items(context, &items, error))
    return false;
  int64_t n = lookup.keys.count;
  memcpy(dims, x->dims, x->rank * sizeof *dims);
  dims[x->rank] = n;
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_FLOAT, x->rank + 1, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  memset(y->data, 0, y->bytes);
  for (int64_t i = 0; i < x->count; i++) {
    int64_t found = onnxl_ml_lookup_find(&lookup, &items, i);
    if (found >= 0)
      ((float *)y->data)[i * n + found] = 1;
    else if (!zeros)
      return onnxl_ctx_invalid(context, error, "element %" G_GINT64_FORMAT " of the input is none of the categories",
                               i);
  }
  return true;
}
ONNXL_KERNEL(ml_one_hot_encoder, EXACT);
