/* Operators that make tensors from attributes, shapes or random numbers. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/sparse-internal.h"
#include "runtime/tensor.h"
#include "shapes/sizes.h"

/* A constant given by one of the short attributes. */
static OnnxlValue *
short_constant(OnnxlKernelContext *context, const char *name, const OnnxlAttribute *attribute, GError **error)
{
  bool is_list = attribute->type == ONNXL_ATTRIBUTE_FLOATS || attribute->type == ONNXL_ATTRIBUTE_INTS ||
                 attribute->type == ONNXL_ATTRIBUTE_STRINGS;
  bool is_float = g_str_has_prefix(name, "value_float"), is_int = g_str_has_prefix(name, "value_int");
  int64_t n = is_float ? (int64_t)attribute->floats.count
              : is_int ? (int64_t)attribute->ints.count
                       : (int64_t)attribute->strings.count;
  int32_t type = is_float ? ONNXL_TYPE_FLOAT : is_int ? ONNXL_TYPE_INT64 : ONNXL_TYPE_STRING;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, is_list, &n, error);
  for (int64_t i = 0; y && i < y->count; i++)
    if (is_float)
      ((float *)y->data)[i] = is_list ? attribute->floats.items[i] : attribute->f;
    else if (is_int)
      ((int64_t *)y->data)[i] = is_list ? attribute->ints.items[i] : attribute->i;
    else {
      OnnxlStr text = is_list ? attribute->strings.items[i] : attribute->s;
      ((OnnxlStr *)y->data)[i] = text.data ? text : ONNXL_STR("");
    }
  return y;
}

static OnnxlValue *
dense_from_sparse(OnnxlKernelContext *context, const OnnxlSparseTensor *sparse, GError **error)
{
  OnnxlValue *values = onnxl_ctx_attr_tensor(context, sparse->values, error);
  OnnxlValue *indices = values ? onnxl_ctx_attr_tensor(context, sparse->indices, error) : NULL;
  OnnxlValue *y =
    indices ? onnxl_ctx_output(context, 0, values->elem_type, sparse->dims.count, sparse->dims.items, error) : NULL;
  GError *failed = NULL;
  if (!y || onnxl_sparse_fill(y, values, indices, &failed))
    return y;
  onnxl_ctx_fail(context, error, (OnnxlErrorCode)failed->code, "%s", failed->message);
  g_error_free(failed);
  return NULL;
}

static bool
run_constant(OnnxlKernelContext *context, GError **error)
{
  static const char *const names[] = { "value",      "value_float",  "value_floats",  "value_int",
                                       "value_ints", "value_string", "value_strings", "sparse_value" };
  OnnxlValue **cache = onnxl_ctx_cache(context), *made = NULL;
  if (cache && *cache) {
    onnxl_ctx_set_output(context, 0, onnxl_value_ref(*cache));
    return true;
  }
  uint32_t n_given = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    n_given += onnxl_ctx_attr(context, names[i]) != NULL;
  if (n_given != 1)
    return onnxl_ctx_invalid(context, error, "%u attributes give a value when one must", n_given);
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    const OnnxlAttribute *attribute = onnxl_ctx_attr(context, names[i]);
    if (!attribute)
      continue;
    if (attribute->t) {
      made = onnxl_ctx_attr_tensor(context, attribute->t, error);
      if (made)
        onnxl_ctx_set_output(context, 0, onnxl_value_ref(made));
    } else if (attribute->sparse_tensor)
      made = dense_from_sparse(context, attribute->sparse_tensor, error);
    else
      made = short_constant(context, names[i], attribute, error);
    if (made && cache)
      *cache = onnxl_value_ref(made);
    break;
  }
  return made != NULL;
}
ONNXL_KERNEL(constant, EXACT);

static bool
get_dims(OnnxlKernelContext *context, const OnnxlValue *shape, int64_t dims[ONNXL_MAX_RANK], GError **error)
{
  if (shape->count > ONNXL_MAX_RANK)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "a rank above %d is not supported", ONNXL_MAX_RANK);
  onnxl_tensor_read_int64(shape, 0, (size_t)shape->count, dims);
  return true;
}

static bool
run_constant_of_shape(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *shape = onnxl_ctx_input(context, 0);
  GError *failed = NULL;
  OnnxlValue *value = onnxl_ctx_tensor(context, "value", &failed);
  int64_t dims[ONNXL_MAX_RANK];
  if (failed) {
    g_propagate_error(error, failed);
    return false;
  }
  if (value && value->count != 1)
    return onnxl_ctx_invalid(context, error, "value has %" G_GINT64_FORMAT " elements when 1 is needed", value->count);
  if (!get_dims(context, shape, dims, error))
    return false;
  int32_t type = value ? value->elem_type : ONNXL_TYPE_FLOAT;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, (size_t)shape->count, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  uint32_t bits = onnxl_data_type_bits(type);
  if (!value)
    memset(y->data, 0, y->bytes);
  else if (bits > 0 && bits < 8) { /* the one element fills its byte by doubling */
    unsigned byte = *(const uint8_t *)value->data & ((1u << bits) - 1);
    for (unsigned width = bits; width < 8; width *= 2)
      byte |= byte << width;
    memset(y->data, (int)byte, y->bytes);
  } else {
    int64_t strides[ONNXL_MAX_RANK] = { 0 };
    onnxl_copy_strided(y->data, value->data, dims, y->rank, strides, onnxl_element_size(value));
  }
  return true;
}
ONNXL_KERNEL(constant_of_shape, EXACT);

/* The type from the attribute dtype, else that of x. */
static bool
result_type(OnnxlKernelContext *context, const OnnxlValue *x, int32_t *ret_type, GError **error)
{
  int64_t type = onnxl_ctx_attr(context, "dtype") || !x ? onnxl_ctx_int(context, "dtype") : x->elem_type;
  if (type <= 0 || type >= ONNXL_N_TYPES || onnxl_data_type_bits((int32_t)type) < 8 ||
      (type != ONNXL_TYPE_BOOL && !onnxl_type_is_integer((int32_t)type) && !onnxl_type_is_float((int32_t)type)))
    return onnxl_ctx_invalid(context, error, "dtype is %" G_GINT64_FORMAT, type);
  *ret_type = (int32_t)type;
  return true;
}

static bool
run_eye_like(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int32_t type;
  int64_t k = onnxl_ctx_int(context, "k");
  if (x->rank != 2)
    return onnxl_ctx_invalid(context, error, "the input has rank %u when 2 is needed", x->rank);
  if (!result_type(context, x, &type, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, 2, x->dims, error);
  if (!y)
    return false;
  memset(y->data, 0, y->bytes);
  for (int64_t i = 0; i < x->dims[0]; i++) {
    int64_t j;
    if (!__builtin_add_overflow(i, k, &j) && j >= 0 && j < x->dims[1])
      onnxl_tensor_write_double(y, i * x->dims[1] + j, 1, &(double){ 1 });
  }
  return true;
}
ONNXL_KERNEL(eye_like, EXACT);

static bool
run_range(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *in[3];
  for (uint32_t i = 0; i < 3; i++) {
    in[i] = onnxl_ctx_input(context, i);
    if (in[i]->count != 1)
      return onnxl_ctx_invalid(context, error, "start, limit and delta must be scalars");
  }
  bool is_float = onnxl_type_is_float(in[0]->elem_type), good;
  double start = onnxl_tensor_double(in[0], 0), limit = onnxl_tensor_double(in[1], 0);
  double delta = onnxl_tensor_double(in[2], 0);
  int64_t first = 0, step = 0, n = 0;
  if (delta == 0 || isnan(start) || isnan(limit) || isnan(delta))
    return onnxl_ctx_invalid(context, error, "there is no range from %g to %g in steps of %g", start, limit, delta);
  if (is_float) {
    good = onnxl_real_range_length(start, limit, delta, &n);
  } else {
    first = onnxl_tensor_int64(in[0], 0);
    step = onnxl_tensor_int64(in[2], 0);
    good = onnxl_range_length(first, onnxl_tensor_int64(in[1], 0), step, &n);
  }
  if (!good)
    return onnxl_ctx_fail(context, error, ONNXL_ERROR_LIMIT, "%g elements are too many", (limit - start) / delta);
  OnnxlValue *y = onnxl_ctx_output(context, 0, in[0]->elem_type, 1, &n, error);
  for (int64_t i = 0; y && i < n; i++)
    switch (y->elem_type) {
    case ONNXL_TYPE_FLOAT:
      ((float *)y->data)[i] = (float)start + (float)i * (float)delta;
      break;
    case ONNXL_TYPE_INT16:
      ((int16_t *)y->data)[i] = (int16_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
      break;
    case ONNXL_TYPE_INT32:
      ((int32_t *)y->data)[i] = (int32_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
      break;
    case ONNXL_TYPE_INT64:
      ((int64_t *)y->data)[i] = (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
      break;
    default: {
      double value = is_float ? start + (double)i * delta : (double)first + (double)i * (double)step;
      onnxl_tensor_write_double(y, i, 1, &value);
    }
    }
  return y != NULL;
}
ONNXL_KERNEL(range, COMPUTES);

/* --- random numbers --- */

static double
random_normal(OnnxlRandom *stream)
{
  /* Box and Muller, "A note on the generation of random normal deviates", 1958. */
  double u = 1 - onnxl_random_unit(stream), v = onnxl_random_unit(stream);
  return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* by_input: the shape is the first input's; else the attribute shape's. */
static bool
fill_random(OnnxlKernelContext *context, bool normal, bool by_input, GError **error)
{
  const OnnxlValue *x = by_input ? onnxl_ctx_input(context, 0) : NULL;
  OnnxlInt64List shape = onnxl_ctx_ints(context, "shape");
  int32_t type;
  if (!result_type(context, x, &type, error))
    return false;
  OnnxlValue *y = by_input ? onnxl_ctx_output(context, 0, type, x->rank, x->dims, error)
                           : onnxl_ctx_output(context, 0, type, shape.count, shape.items, error);
  OnnxlRandom own, *stream = onnxl_ctx_random(context, &own);
  double a = onnxl_ctx_float(context, normal ? "mean" : "low"), b = onnxl_ctx_float(context, normal ? "scale" : "high");
  for (int64_t i = 0; y && i < y->count; i++) {
    double value = normal ? a + b * random_normal(stream) : a + (b - a) * onnxl_random_unit(stream);
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return y != NULL;
}

#define RANDOM(name, normal, by_input)                                \
  static bool run_##name(OnnxlKernelContext *context, GError **error) \
  {                                                                   \
    return fill_random(context, normal, by_input, error);             \
  }                                                                   \
  ONNXL_KERNEL(name, EXACT)

RANDOM(random_normal, true, false);
RANDOM(random_normal_like, true, true);
RANDOM(random_uniform, false, false);
RANDOM(random_uniform_like, false, true);

static bool
run_bernoulli(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int32_t type;
  if (!result_type(context, x, &type, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, x->rank, x->dims, error);
  OnnxlRandom own, *stream = onnxl_ctx_random(context, &own);
  for (int64_t i = 0; y && i < x->count; i++) {
    double value = onnxl_random_unit(stream) < onnxl_tensor_double(x, i);
    onnxl_tensor_write_double(y, i, 1, &value);
  }
  return y != NULL;
}
ONNXL_KERNEL(bernoulli, EXACT);

/* Draws classes from rows of unnormalized log probabilities. */
static bool
run_multinomial(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int32_t type;
  int64_t samples = onnxl_ctx_int(context, "sample_size");
  if (x->rank != 2 || samples < 0 || (x->dims[1] == 0 && x->dims[0] > 0 && samples > 0))
    return onnxl_ctx_misfit(context, error, "%" G_GINT64_FORMAT " samples need an input of the shape [rows,classes]",
                            samples);
  if (!result_type(context, NULL, &type, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, 2, (int64_t[]){ x->dims[0], samples }, error);
  int64_t classes = x->dims[1];
  double *p = y ? onnxl_ctx_scratch(context, (uint64_t)classes, sizeof *p, error) : NULL;
  OnnxlRandom own, *stream = onnxl_ctx_random(context, &own);
  for (int64_t row = 0; p && row < x->dims[0] && classes > 0; row++) {
    double max = -INFINITY, sum = 0;
    onnxl_tensor_read_double(x, row * classes, (size_t)classes, p);
    for (int64_t c = 0; c < classes; c++)
      max = fmax(max, p[c]);
    for (int64_t c = 0; c < classes; c++)
      sum += p[c] = exp(p[c] - max);
    for (int64_t s = 0; s < samples; s++) {
      double target = onnxl_random_unit(stream) * sum;
      int64_t c = 0;
      for (double seen = p[0]; c + 1 < classes && target >= seen; seen += p[c])
        c++;
      onnxl_tensor_write_double(y, row * samples + s, 1, &(double){ (double)c });
    }
  }
  return p != NULL;
}
ONNXL_KERNEL(multinomial, EXACT);
