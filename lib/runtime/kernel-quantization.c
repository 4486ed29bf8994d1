/* Between real numbers and their quantized form: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear. */
#include <math.h>

#include "runtime/kernel.h"
#include "runtime/quantize-internal.h"
#include "runtime/tensor.h"
#include "support/float-formats.h"

enum { CHUNK = 256 }; /* elements at a time; whole bytes for packed types */

/* Which scale and zero point belong to an element: one for all, one for each position on an axis, or one for each block
 * of positions on an axis. */
typedef struct Granularity {
  int64_t size;   /* positions on the axis */
  int64_t block;  /* positions that share a parameter; 0 = all elements share one */
  int64_t inner;  /* elements inside one position */
  bool inner_own; /* they have parameters of their own */
} Granularity;

static bool
shapes_differ(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *scale, GError **error)
{
  char *a = onnxl_dims_text(x->dims, x->rank), *b = onnxl_dims_text(scale->dims, scale->rank);
  onnxl_ctx_invalid(context, error, "a scale of shape %s does not fit an input of shape %s", b, a);
  g_free(a);
  g_free(b);
  return false;
}

static bool
find_granularity(OnnxlKernelContext *context, const OnnxlValue *x, const OnnxlValue *scale, const OnnxlValue *zero,
                 Granularity *ret, GError **error)
{
  int32_t since = onnxl_ctx_schema(context)->since;
  int64_t block = onnxl_ctx_int(context, "block_size"), axis;
  *ret = (Granularity){ .size = 1, .inner = 1 };
  if (block < 0)
    return onnxl_ctx_invalid(context, error, "block_size is %" G_GINT64_FORMAT, block);
  if (zero && (zero->rank != scale->rank || memcmp(zero->dims, scale->dims, zero->rank * sizeof *zero->dims) != 0) &&
      (zero->count != 1 || scale->count != 1))
    return onnxl_ctx_invalid(context, error,
                             "scale has %" G_GINT64_FORMAT " values and the zero point %" G_GINT64_FORMAT, scale->count,
                             zero->count);
  if (scale->count == 1 && scale->rank <= 1)
    return true;
  if (since < 13 || (block == 0 && scale->rank != 1) || (block > 0 && scale->rank != x->rank))
    return shapes_differ(context, x, scale, error);
  if (!onnxl_ctx_axis(context, onnxl_ctx_int(context, "axis"), x->rank, &axis, error))
    return false;
  ret->size = x->dims[axis];
  ret->block = block > 0 ? block : 1;
  ret->inner_own = block > 0;
  for (uint32_t i = (uint32_t)axis + 1; i < x->rank; i++)
    ret->inner *= x->dims[i];
  bool fits = block > 0 || scale->count == ret->size;
  for (uint32_t i = 0; block > 0 && i < x->rank; i++) {
    int64_t wanted = i == axis ? x->dims[i] / block + (x->dims[i] % block != 0) : x->dims[i];
    fits = fits && scale->dims[i] == wanted;
  }
  return fits || shapes_differ(context, x, scale, error);
}

/* The parameter's index of elements first … first + n - 1. */
static void
parameter_indices(const Granularity *g, int64_t first, int64_t n, int64_t *ret_indices)
{
  if (g->block == 0) {
    memset(ret_indices, 0, (size_t)n * sizeof *ret_indices);
    return;
  }
  int64_t blocks = (g->size - 1) / g->block + 1;
  int64_t inner = first % g->inner, position = first / g->inner % g->size, outer = first / g->inner / g->size;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = position / g->block;
    ret_indices[i] = g->inner_own ? (outer * blocks + at) * g->inner + inner : at;
    if (++inner < g->inner)
      continue;
    inner = 0;
    if (++position == g->size) {
      position = 0;
      outer++;
    }
  }
}

/* Zero points as double; NULL stands for 0. Those of 8-bit floating point have no meaning and must be 0. */
static bool
read_zero_points(OnnxlKernelContext *context, const OnnxlValue *zero, double **ret_values, GError **error)
{
  *ret_values = NULL;
  if (!zero)
    return true;
  *ret_values = onnxl_ctx_doubles(context, zero, error);
  if (!*ret_values)
    return false;
  for (int64_t i = 0; onnxl_type_is_float(zero->elem_type) && i < zero->count; i++)
    if ((*ret_values)[i] != 0 && zero->elem_type != ONNXL_TYPE_FLOAT4E2M1)
      return onnxl_ctx_invalid(context, error, "the zero point of a float8 type must be 0");
  return true;
}

/* --- QuantizeLinear --- */

/* The format of a type that is quantized by rounding to its floating-point values. */
static bool
narrow_format(int32_t elem_type, OnnxlFloatFormat *ret_format)
{
  static const struct {
    int32_t elem_type;
    OnnxlFloatFormat format;
  } formats[] = {
    { ONNXL_TYPE_FLOAT8E4M3FN, ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN },
    { ONNXL_TYPE_FLOAT8E4M3FNUZ, ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ },
    { ONNXL_TYPE_FLOAT8E5M2, ONNXL_FLOAT_FORMAT_FLOAT8E5M2 },
    { ONNXL_TYPE_FLOAT8E5M2FNUZ, ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ },
    { ONNXL_TYPE_FLOAT4E2M1, ONNXL_FLOAT_FORMAT_FLOAT4E2M1 },
  };
  for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
    if (formats[i].elem_type == elem_type) {
      *ret_format = formats[i].format;
      return true;
    }
  return false;
}

static float
round_to(int32_t elem_type, float value)
{
  if (elem_type == ONNXL_TYPE_FLOAT16)
    return onnxl_half_to_float(onnxl_half_from_float(value));
  if (elem_type == ONNXL_TYPE_BFLOAT16)
    return onnxl_bfloat16_to_float(onnxl_bfloat16_from_float(value));
  return value;
}

/* x / scale in the arithmetic of a type. */
static double
quotient(int32_t precision, double x, double scale)
{
  if (precision == ONNXL_TYPE_DOUBLE || precision == ONNXL_TYPE_INT32)
    return x / scale;
  return round_to(precision, round_to(precision, (float)x) / round_to(precision, (float)scale));
}

static void
integer_range(int32_t elem_type, double *ret_low, double *ret_high)
{
  unsigned bits = onnxl_data_type_bits(elem_type);
  double half = ldexp(1, (int)bits - 1);
  *ret_low = onnxl_type_is_signed(elem_type) ? -half : 0;
  *ret_high = onnxl_type_is_signed(elem_type) ? half - 1 : 2 * half - 1;
}

/* n values that share scale and zero point, in the arithmetic of float. */
static void
quantize_shared(double *values, int64_t n, float scale, double zero, double low, double high)
{
  for (int64_t i = 0; i < n; i++)
    values[i] = onnxl_quantized((double)((float)values[i] / scale), zero, low, high);
}

static bool
quantized_type(OnnxlKernelContext *context, const OnnxlValue *zero, int32_t *ret_type, GError **error)
{
  int64_t wanted = onnxl_ctx_int(context, "output_dtype");
  *ret_type = zero ? zero->elem_type : wanted != 0 ? (int32_t)CLAMP(wanted, 0, INT32_MAX) : ONNXL_TYPE_UINT8;
  if (zero && wanted != 0 && wanted != zero->elem_type)
    return onnxl_ctx_invalid(context, error, "output_dtype is %" G_GINT64_FORMAT " when the zero point is %s", wanted,
                             onnxl_data_type_name(zero->elem_type));
  OnnxlFloatFormat format;
  int32_t type = *ret_type;
  bool known = narrow_format(type, &format) || type == ONNXL_TYPE_UINT16 || type == ONNXL_TYPE_INT16 ||
               type == ONNXL_TYPE_UINT8 || type == ONNXL_TYPE_INT8 || type == ONNXL_TYPE_UINT4 ||
               type == ONNXL_TYPE_INT4 || type == ONNXL_TYPE_UINT2 || type == ONNXL_TYPE_INT2;
  return known || onnxl_ctx_invalid(context, error, "output_dtype is %" G_GINT64_FORMAT, wanted);
}

static void
store_floats(OnnxlValue *y, OnnxlFloatFormat format, int64_t first, int64_t n, const double *values, bool saturate)
{
  uint8_t codes[CHUNK];
  for (int64_t i = 0; i < n; i++)
    codes[i] = (uint8_t)onnxl_float_encode(format, values[i], saturate);
  unsigned bits = onnxl_float_format_bits(format);
  uint8_t *to = (uint8_t *)y->data + first * bits / 8;
  if (bits == 8)
    memcpy(to, codes, (size_t)n);
  else
    onnxl_pack(codes, (size_t)n, bits, to);
}

static bool
run_quantize_linear(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *scale = onnxl_ctx_input(context, 1);
  const OnnxlValue *zero = onnxl_ctx_input(context, 2);
  Granularity granularity;
  int32_t type;
  int64_t precision = onnxl_ctx_int(context, "precision");
  if (precision == 0)
    precision = scale->elem_type;
  else if (precision != ONNXL_TYPE_FLOAT && precision != ONNXL_TYPE_FLOAT16 && precision != ONNXL_TYPE_BFLOAT16 &&
           precision != ONNXL_TYPE_DOUBLE)
    return onnxl_ctx_invalid(context, error, "precision is %" G_GINT64_FORMAT, precision);
  double *scales, *zeros;
  if (!quantized_type(context, zero, &type, error) || !find_granularity(context, x, scale, zero, &granularity, error) ||
      !(scales = onnxl_ctx_doubles(context, scale, error)) || !read_zero_points(context, zero, &zeros, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, type, x->rank, x->dims, error);
  OnnxlFloatFormat format = ONNXL_FLOAT_FORMAT_FLOAT16;
  bool to_float = narrow_format(type, &format), saturate = onnxl_ctx_int(context, "saturate") != 0;
  double low, high, values[CHUNK];
  int64_t indices[CHUNK];
  integer_range(type, &low, &high);
  bool shared = granularity.block == 0 && precision == ONNXL_TYPE_FLOAT && !to_float; /* the common case */
  for (int64_t first = 0; y && first < x->count; first += CHUNK) {
    int64_t n = MIN(x->count - first, CHUNK);
    onnxl_tensor_read_double(x, first, (size_t)n, values);
    if (shared)
      quantize_shared(values, n, (float)scales[0], zeros ? zeros[0] : 0, low, high);
    else
      parameter_indices(&granularity, first, n, indices);
    for (int64_t i = 0; !shared && i < n; i++) {
      double real = quotient((int32_t)precision, values[i], scales[indices[i]]), z = zeros ? zeros[indices[i]] : 0;
      values[i] = to_float ? real + z : onnxl_quantized(real, z, low, high);
    }
    if (to_float)
      store_floats(y, format, first, n, values, saturate);
    else
      onnxl_tensor_write_double(y, first, (size_t)n, values);
  }
  return y != NULL;
}
ONNXL_KERNEL(quantize_linear, EXACT);

/* --- DequantizeLinear --- */

static bool
run_dequantize_linear(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *scale = onnxl_ctx_input(context, 1);
  const OnnxlValue *zero = onnxl_ctx_input(context, 2);
  Granularity granularity;
  int64_t type = onnxl_ctx_int(context, "output_dtype");
  if (type == 0)
    type = scale->elem_type;
  if (type != ONNXL_TYPE_FLOAT && type != ONNXL_TYPE_FLOAT16 && type != ONNXL_TYPE_BFLOAT16)
    return onnxl_ctx_invalid(context, error, "the output cannot have the element type %" G_GINT64_FORMAT, type);
  double *scales, *zeros;
  if (!find_granularity(context, x, scale, zero, &granularity, error) ||
      !(scales = onnxl_ctx_doubles(context, scale, error)) || !read_zero_points(context, zero, &zeros, error))
    return false;
  OnnxlValue *y = onnxl_ctx_output(context, 0, (int32_t)type, x->rank, x->dims, error);
  double values[CHUNK];
  int64_t indices[CHUNK];
  for (int64_t first = 0; y && first < x->count; first += CHUNK) {
    int64_t n = MIN(x->count - first, CHUNK);
    onnxl_tensor_read_double(x, first, (size_t)n, values);
    parameter_indices(&granularity, first, n, indices);
    for (int64_t i = 0; i < n; i++)
      values[i] = (float)(values[i] - (zeros ? zeros[indices[i]] : 0)) * (float)scales[indices[i]];
    onnxl_tensor_write_double(y, first, (size_t)n, values);
  }
  return y != NULL;
}
ONNXL_KERNEL(dequantize_linear, EXACT);

/* --- DynamicQuantizeLinear --- */

static bool
run_dynamic_quantize_linear(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  const float *from = x->data;
  OnnxlValue *y = onnxl_ctx_output(context, 0, ONNXL_TYPE_UINT8, x->rank, x->dims, error);
  OnnxlValue *scale_out = y ? onnxl_ctx_output(context, 1, ONNXL_TYPE_FLOAT, 0, NULL, error) : NULL;
  OnnxlValue *zero_out = scale_out ? onnxl_ctx_output(context, 2, ONNXL_TYPE_UINT8, 0, NULL, error) : NULL;
  if (!zero_out)
    return false;
  /* The range is made to hold 0, so that zero has an exact image. */
  float low = 0, high = 0;
  for (int64_t i = 0; i < x->count; i++) {
    low = from[i] < low ? from[i] : low;
    high = from[i] > high ? from[i] : high;
  }
  float scale = high == low ? 1 : (high - low) / 255;
  double zero = onnxl_quantized(-low / scale, 0, 0, 255);
  for (int64_t i = 0; i < x->count; i++)
    ((uint8_t *)y->data)[i] = (uint8_t)onnxl_quantized(from[i] / scale, zero, 0, 255);
  *(float *)scale_out->data = scale;
  *(uint8_t *)zero_out->data = (uint8_t)zero;
  return true;
}
ONNXL_KERNEL(dynamic_quantize_linear, EXACT);
