/* Elements of tensors, one by one and converted. Kernels have typed loops of their own; this is for indices,
 * parameters, printing and comparing. */
#ifndef ONNXL_RUNTIME_TENSOR_H
#define ONNXL_RUNTIME_TENSOR_H

#include "runtime/value.h"

/* Element types by nature; complex and strings are none of these. */
bool onnxl_type_is_float(int32_t elem_type);   /* of any width */
bool onnxl_type_is_integer(int32_t elem_type); /* signed or not, of any width; bool is none */
bool onnxl_type_is_signed(int32_t elem_type);  /* signed integer */

/* Reads n elements from element first on. Integers and bool as int64 (uint64 reinterpreted), floating point truncated.
 */
void onnxl_tensor_read_int64(const OnnxlValue *tensor, int64_t first, size_t n, int64_t *ret_values);
/* Any real type as double. */
void onnxl_tensor_read_double(const OnnxlValue *tensor, int64_t first, size_t n, double *ret_values);

int64_t onnxl_tensor_int64(const OnnxlValue *tensor, int64_t i);
double onnxl_tensor_double(const OnnxlValue *tensor, int64_t i);

/* How onnxl_tensor_cast() treats what does not fit, as the attributes of Cast. */
typedef struct OnnxlCastOptions {
  bool saturate;       /* to float8 types: the largest finite value instead of infinity or NaN */
  OnnxlStr round_mode; /* to FLOAT8E8M0: "up", "down" or "nearest"; empty = up */
} OnnxlCastOptions;

/* tensor's values as elem_type, each rounded once. Returns: owned; NULL with ONNXL_ERROR_LIMIT, ONNXL_ERROR_UNSUPPORTED
 * (complex) or ONNXL_ERROR_INVALID (a text that is no number). */
OnnxlValue *onnxl_tensor_cast(OnnxlAllocator *allocator, const OnnxlValue *tensor, int32_t elem_type,
                              const OnnxlCastOptions *options, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Real and imaginary parts: complex types have two numbers an element, real ones one. Parts are counted over the whole
 * tensor. */
bool onnxl_type_is_complex(int32_t elem_type);
int64_t onnxl_tensor_n_parts(const OnnxlValue *tensor);
double onnxl_tensor_part(const OnnxlValue *tensor, int64_t part);
void onnxl_tensor_set_part(OnnxlValue *tensor, int64_t part, double value);

/* Writes n doubles as elements first … of a tensor of a real type (not packed ones). */
void onnxl_tensor_write_double(OnnxlValue *tensor, int64_t first, size_t n, const double *values);

#endif
