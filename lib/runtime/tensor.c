#include "runtime/tensor.h"

#include <math.h>

#include "support/error.h"
#include "support/float-formats.h"
#include "support/number.h"

enum { BLOCK = 256 };

bool
onnxl_type_is_float(int32_t elem_type)
{
  switch (elem_type) {
  case ONNXL_TYPE_FLOAT:
  case ONNXL_TYPE_DOUBLE:
  case ONNXL_TYPE_FLOAT16:
  case ONNXL_TYPE_BFLOAT16:
  case ONNXL_TYPE_FLOAT8E4M3FN:
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
  case ONNXL_TYPE_FLOAT8E5M2:
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
  case ONNXL_TYPE_FLOAT8E8M0:
  case ONNXL_TYPE_FLOAT4E2M1:
    return true;
  default:
    return false;
  }
}

bool
onnxl_type_is_signed(int32_t elem_type)
{
  return elem_type == ONNXL_TYPE_INT8 || elem_type == ONNXL_TYPE_INT16 || elem_type == ONNXL_TYPE_INT32 ||
         elem_type == ONNXL_TYPE_INT64 || elem_type == ONNXL_TYPE_INT4 || elem_type == ONNXL_TYPE_INT2;
}

bool
onnxl_type_is_integer(int32_t elem_type)
{
  return onnxl_type_is_signed(elem_type) || elem_type == ONNXL_TYPE_UINT8 || elem_type == ONNXL_TYPE_UINT16 ||
         elem_type == ONNXL_TYPE_UINT32 || elem_type == ONNXL_TYPE_UINT64 || elem_type == ONNXL_TYPE_UINT4 ||
         elem_type == ONNXL_TYPE_UINT2;
}

static OnnxlFloatFormat
float_format(int32_t elem_type)
{
  switch (elem_type) {
  case ONNXL_TYPE_FLOAT16:
    return ONNXL_FLOAT_FORMAT_FLOAT16;
  case ONNXL_TYPE_BFLOAT16:
    return ONNXL_FLOAT_FORMAT_BFLOAT16;
  case ONNXL_TYPE_FLOAT8E4M3FN:
    return ONNXL_FLOAT_FORMAT_FLOAT8E4M3FN;
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
    return ONNXL_FLOAT_FORMAT_FLOAT8E4M3FNUZ;
  case ONNXL_TYPE_FLOAT8E5M2:
    return ONNXL_FLOAT_FORMAT_FLOAT8E5M2;
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
    return ONNXL_FLOAT_FORMAT_FLOAT8E5M2FNUZ;
  case ONNXL_TYPE_FLOAT8E8M0:
    return ONNXL_FLOAT_FORMAT_FLOAT8E8M0;
  default:
    return ONNXL_FLOAT_FORMAT_FLOAT4E2M1;
  }
}

/* Integer types of whole bytes with their C types; bool is kept as 0 or 1 in a byte. */
#define INTEGER_TYPES(X)                                                                                          \
  X(INT8, int8_t)                                                                                                 \
  X(UINT8, uint8_t) X(INT16, int16_t) X(UINT16, uint16_t) X(INT32, int32_t) X(UINT32, uint32_t) X(INT64, int64_t) \
    X(UINT64, uint64_t) X(BOOL, uint8_t)

static int64_t
sign_extend(uint8_t code, unsigned bits)
{
  return (int64_t)code - (code >> (bits - 1) ? (int64_t)1 << bits : 0);
}

/* Towards zero, without the undefined behaviour of C: NaN gives 0, what is too large the nearest end. */
static int64_t
truncate_double(double value)
{
  if (isnan(value))
    return 0;
  if (value >= 0x1p63)
    return value < 0x1p64 ? (int64_t)(uint64_t)value : INT64_MAX;
  return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

void
onnxl_tensor_read_int64(const OnnxlValue *tensor, int64_t first, size_t n, int64_t *ret_values)
{
  switch (tensor->elem_type) {
#define READ(type, ctype)                                                         \
  case ONNXL_TYPE_##type:                                                         \
    for (size_t i = 0; i < n; i++)                                                \
      ret_values[i] = (int64_t)((const ctype *)tensor->data)[first + (int64_t)i]; \
    return;
    INTEGER_TYPES(READ)
#undef READ
  case ONNXL_TYPE_UINT4:
  case ONNXL_TYPE_INT4:
  case ONNXL_TYPE_UINT2:
  case ONNXL_TYPE_INT2: {
    unsigned bits = onnxl_data_type_bits(tensor->elem_type);
    bool is_signed = onnxl_type_is_signed(tensor->elem_type);
    for (size_t i = 0; i < n; i++) {
      uint8_t code = onnxl_packed_get(tensor->data, (size_t)first + i, bits);
      ret_values[i] = is_signed ? sign_extend(code, bits) : code;
    }
    return;
  }
  default:
    for (size_t i = 0; i < n; i++) {
      double value;
      onnxl_tensor_read_double(tensor, first + (int64_t)i, 1, &value);
      ret_values[i] = truncate_double(value);
    }
  }
}

void
onnxl_tensor_read_double(const OnnxlValue *tensor, int64_t first, size_t n, double *ret_values)
{
  switch (tensor->elem_type) {
#define READ(type, ctype)                                                        \
  case ONNXL_TYPE_##type:                                                        \
    for (size_t i = 0; i < n; i++)                                               \
      ret_values[i] = (double)((const ctype *)tensor->data)[first + (int64_t)i]; \
    return;
    INTEGER_TYPES(READ)
    READ(FLOAT, float)
    READ(DOUBLE, double)
#undef READ
  case ONNXL_TYPE_FLOAT16:
    for (size_t i = 0; i < n; i++)
      ret_values[i] = onnxl_half_to_float(((const uint16_t *)tensor->data)[first + (int64_t)i]);
    return;
  case ONNXL_TYPE_BFLOAT16:
    for (size_t i = 0; i < n; i++)
      ret_values[i] = onnxl_bfloat16_to_float(((const uint16_t *)tensor->data)[first + (int64_t)i]);
    return;
  case ONNXL_TYPE_FLOAT4E2M1:
    for (size_t i = 0; i < n; i++)
      ret_values[i] =
        onnxl_float_decode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, onnxl_packed_get(tensor->data, (size_t)first + i, 4));
    return;
  case ONNXL_TYPE_FLOAT8E4M3FN:
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
  case ONNXL_TYPE_FLOAT8E5M2:
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
  case ONNXL_TYPE_FLOAT8E8M0: {
    OnnxlFloatFormat format = float_format(tensor->elem_type);
    for (size_t i = 0; i < n; i++)
      ret_values[i] = onnxl_float_decode(format, ((const uint8_t *)tensor->data)[first + (int64_t)i]);
    return;
  }
  case ONNXL_TYPE_UINT4:
  case ONNXL_TYPE_INT4:
  case ONNXL_TYPE_UINT2:
  case ONNXL_TYPE_INT2:
    for (size_t i = 0; i < n; i++) {
      int64_t value;
      onnxl_tensor_read_int64(tensor, first + (int64_t)i, 1, &value);
      ret_values[i] = (double)value;
    }
    return;
  default:
    for (size_t i = 0; i < n; i++)
      ret_values[i] = NAN;
  }
}

int64_t
onnxl_tensor_int64(const OnnxlValue *tensor, int64_t i)
{
  int64_t value;
  onnxl_tensor_read_int64(tensor, i, 1, &value);
  return value;
}

double
onnxl_tensor_double(const OnnxlValue *tensor, int64_t i)
{
  double value;
  onnxl_tensor_read_double(tensor, i, 1, &value);
  return value;
}

/* A block of elements on their way from one type to another: as integers, or as doubles. */
typedef struct Block {
  bool is_float;
  bool is_unsigned; /* integers[] holds uint64 */
  int64_t integers[BLOCK];
  double doubles[BLOCK];
} Block;

static double
block_double(const Block *block, size_t i)
{
  if (block->is_float)
    return block->doubles[i];
  return block->is_unsigned ? (double)(uint64_t)block->integers[i] : (double)block->integers[i];
}

static void
store_packed(OnnxlValue *tensor, int64_t first, size_t n, const Block *block, unsigned bits)
{
  /* first is a multiple of BLOCK, so a block starts on a byte. */
  uint8_t codes[BLOCK];
  for (size_t i = 0; i < n; i++) {
    if (tensor->elem_type == ONNXL_TYPE_FLOAT4E2M1)
      codes[i] = (uint8_t)onnxl_float_encode(ONNXL_FLOAT_FORMAT_FLOAT4E2M1, block_double(block, i), true);
    else
      codes[i] = (uint8_t)(block->is_float ? truncate_double(block->doubles[i]) : block->integers[i]);
  }
  onnxl_pack(codes, n, bits, (uint8_t *)tensor->data + (size_t)first * bits / 8);
}

static void
store(OnnxlValue *tensor, int64_t first, size_t n, const Block *block, const OnnxlCastOptions *options)
{
  switch (tensor->elem_type) {
  case ONNXL_TYPE_BOOL:
    for (size_t i = 0; i < n; i++)
      ((uint8_t *)tensor->data)[first + (int64_t)i] =
        block->is_float ? block->doubles[i] != 0 : block->integers[i] != 0;
    return;
#define STORE(type, ctype)                                                                  \
  case ONNXL_TYPE_##type:                                                                   \
    for (size_t i = 0; i < n; i++)                                                          \
      ((ctype *)tensor->data)[first + (int64_t)i] =                                         \
        (ctype)(block->is_float ? truncate_double(block->doubles[i]) : block->integers[i]); \
    return;
    STORE(INT8, int8_t)
    STORE(UINT8, uint8_t) STORE(INT16, int16_t) STORE(UINT16, uint16_t) STORE(INT32, int32_t) STORE(UINT32, uint32_t)
      STORE(INT64, int64_t) STORE(UINT64, uint64_t)
#undef STORE
#define STORE(type, ctype)                                                                                     \
  case ONNXL_TYPE_##type:                                                                                      \
    for (size_t i = 0; i < n; i++)                                                                             \
      ((ctype *)tensor->data)[first + (int64_t)i] = block->is_float      ? (ctype)block->doubles[i]            \
                                                    : block->is_unsigned ? (ctype)(uint64_t)block->integers[i] \
                                                                         : (ctype)block->integers[i];          \
    return;
        STORE(FLOAT, float) STORE(DOUBLE, double)
#undef STORE
          case ONNXL_TYPE_FLOAT16 : case ONNXL_TYPE_BFLOAT16
        : for (size_t i = 0; i < n; i++)((uint16_t *)tensor->data)[first + (int64_t)i] =
            onnxl_float_encode(float_format(tensor->elem_type), block_double(block, i), false);
    return;
  case ONNXL_TYPE_FLOAT8E8M0: {
    OnnxlE8M0Rounding rounding = onnxl_str_is(options->round_mode, "down")      ? ONNXL_E8M0_DOWN
                                 : onnxl_str_is(options->round_mode, "nearest") ? ONNXL_E8M0_NEAREST
                                                                                : ONNXL_E8M0_UP;
    for (size_t i = 0; i < n; i++)
      ((uint8_t *)tensor->data)[first + (int64_t)i] =
        onnxl_float_encode_e8m0(block_double(block, i), rounding, options->saturate);
    return;
  }
  case ONNXL_TYPE_FLOAT8E4M3FN:
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
  case ONNXL_TYPE_FLOAT8E5M2:
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
    for (size_t i = 0; i < n; i++)
      ((uint8_t *)tensor->data)[first + (int64_t)i] =
        (uint8_t)onnxl_float_encode(float_format(tensor->elem_type), block_double(block, i), options->saturate);
    return;
  default:
    store_packed(tensor, first, n, block, onnxl_data_type_bits(tensor->elem_type));
  }
}

void
onnxl_tensor_write_double(OnnxlValue *tensor, int64_t first, size_t n, const double *values)
{
  const OnnxlCastOptions options = { true, { NULL, 0 } };
  Block block = { .is_float = true };
  for (size_t done = 0, step; done < n; done += step) {
    step = MIN(n - done, BLOCK);
    memcpy(block.doubles, values + done, step * sizeof(double));
    store(tensor, first + (int64_t)done, step, &block, &options);
  }
}

bool
onnxl_type_is_complex(int32_t elem_type)
{
  return elem_type == ONNXL_TYPE_COMPLEX64 || elem_type == ONNXL_TYPE_COMPLEX128;
}

int64_t
onnxl_tensor_n_parts(const OnnxlValue *tensor)
{
  return onnxl_type_is_complex(tensor->elem_type) ? 2 * tensor->count : tensor->count;
}

double
onnxl_tensor_part(const OnnxlValue *tensor, int64_t part)
{
  if (!onnxl_type_is_complex(tensor->elem_type))
    return onnxl_tensor_double(tensor, part);
  return tensor->elem_type == ONNXL_TYPE_COMPLEX64 ? (double)((const float *)tensor->data)[part]
                                                   : ((const double *)tensor->data)[part];
}

void
onnxl_tensor_set_part(OnnxlValue *tensor, int64_t part, double value)
{
  if (tensor->elem_type == ONNXL_TYPE_COMPLEX64)
    ((float *)tensor->data)[part] = (float)value;
  else if (tensor->elem_type == ONNXL_TYPE_COMPLEX128)
    ((double *)tensor->data)[part] = value;
  else
    onnxl_tensor_write_double(tensor, part, 1, &value);
}

static bool
parse_text(OnnxlStr text, double *ret_value)
{
  char *copy = g_strndup(text.data, text.size), *end;
  *ret_value = g_ascii_strtod(copy, &end);
  while (g_ascii_isspace(*end))
    end++;
  bool good = end != copy && *end == '\0' && strlen(copy) == text.size;
  g_free(copy);
  return good;
}

static bool
load_texts(const OnnxlValue *tensor, int64_t first, size_t n, int32_t target, Block *block, GError **error)
{
  const OnnxlStr *texts = (const OnnxlStr *)tensor->data + first;
  block->is_float = onnxl_type_is_float(target);
  block->is_unsigned = target == ONNXL_TYPE_UINT64;
  for (size_t i = 0; i < n; i++) {
    uint64_t natural;
    if (!block->is_float && onnxl_parse_int64(texts[i], &block->integers[i]) == ONNXL_NUMBER_OK)
      continue;
    if (!block->is_float && onnxl_parse_uint64(texts[i], &natural) == ONNXL_NUMBER_OK) {
      block->integers[i] = (int64_t)natural;
      continue;
    }
    double value;
    if (!parse_text(texts[i], &value))
      return onnxl_fail(error, ONNXL_ERROR_INVALID, "the text \"%.*s\" is not a number", (int)MIN(texts[i].size, 64),
                        texts[i].data);
    block->doubles[i] = value;
    block->integers[i] = truncate_double(value);
  }
  return true;
}

static bool
store_texts(OnnxlAllocator *allocator, const OnnxlValue *tensor, OnnxlValue *texts, GError **error)
{
  for (int64_t i = 0; i < tensor->count; i++) {
    char text[ONNXL_NUMBER_SIZE];
    size_t size;
    if (tensor->elem_type == ONNXL_TYPE_BOOL)
      size = (size_t)g_snprintf(text, sizeof text, "%s", onnxl_tensor_int64(tensor, i) ? "True" : "False");
    else if (tensor->elem_type == ONNXL_TYPE_UINT64)
      size = (size_t)g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, (uint64_t)onnxl_tensor_int64(tensor, i));
    else if (onnxl_type_is_integer(tensor->elem_type))
      size = (size_t)g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, onnxl_tensor_int64(tensor, i));
    else if (tensor->elem_type == ONNXL_TYPE_DOUBLE)
      size = onnxl_print_double(text, onnxl_tensor_double(tensor, i));
    else
      size = onnxl_print_float(text, (float)onnxl_tensor_double(tensor, i));
    if (!onnxl_allocator_text(allocator, onnxl_str_n(text, size), (OnnxlStr *)texts->data + i, error))
      return false;
  }
  return true;
}

static bool
is_real(int32_t elem_type)
{
  return onnxl_type_is_float(elem_type) || onnxl_type_is_integer(elem_type) || elem_type == ONNXL_TYPE_BOOL;
}

OnnxlValue *
onnxl_tensor_cast(OnnxlAllocator *allocator, const OnnxlValue *tensor, int32_t elem_type,
                  const OnnxlCastOptions *options, GError **error)
{
  bool from_text = tensor->elem_type == ONNXL_TYPE_STRING, to_text = elem_type == ONNXL_TYPE_STRING;
  if ((!from_text && !is_real(tensor->elem_type)) || (!to_text && !is_real(elem_type))) {
    const char *name = onnxl_data_type_name(elem_type);
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "a conversion from %s to %s is not supported",
               onnxl_data_type_name(tensor->elem_type), name ? name : "an unknown type");
    return NULL;
  }
  OnnxlValue *result =
    onnxl_value_new_tensor(allocator, elem_type, tensor->rank, tensor->dims, "a converted tensor", error);
  if (!result)
    return NULL;
  bool good = true;
  if (elem_type == tensor->elem_type)
    memcpy(result->data, tensor->data, tensor->bytes);
  else if (to_text)
    good = store_texts(allocator, tensor, result, error);
  else {
    Block block;
    block.is_float = onnxl_type_is_float(tensor->elem_type);
    block.is_unsigned = tensor->elem_type == ONNXL_TYPE_UINT64;
    for (int64_t first = 0; good && first < tensor->count; first += BLOCK) {
      size_t n = (size_t)MIN(tensor->count - first, BLOCK);
      if (from_text)
        good = load_texts(tensor, first, n, elem_type, &block, error);
      else if (block.is_float)
        onnxl_tensor_read_double(tensor, first, n, block.doubles);
      else
        onnxl_tensor_read_int64(tensor, first, n, block.integers);
      if (good)
        store(result, first, n, &block, options);
    }
  }
  if (!good) {
    onnxl_value_unref(result);
    return NULL;
  }
  return result;
}
