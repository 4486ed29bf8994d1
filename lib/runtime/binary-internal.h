/* Loops of two broadcast operands, shared by arithmetic and logic. */
#ifndef ONNXL_RUNTIME_BINARY_INTERNAL_H
#define ONNXL_RUNTIME_BINARY_INTERNAL_H

#include "runtime/loop.h"

/* n elements; sa, sb: strides of the inputs in elements, 0 where one is broadcast. */
typedef void (*OnnxlBinaryRow)(const void *a, int64_t sa, const void *b, int64_t sb, void *c, int64_t n);

/* A row: c[i] = f(a[i * sa], b[i * sb]). The common strides get loops of their own, which vectorize. */
#define ONNXL_BINARY_ROW(name, atype, ctype, expression)                                        \
  static void name(const void *pa, int64_t sa, const void *pb, int64_t sb, void *pc, int64_t n) \
  {                                                                                             \
    const atype *as = pa, *bs = pb;                                                             \
    ctype *cs = pc;                                                                             \
    if (sa == 1 && sb == 1)                                                                     \
      for (int64_t i = 0; i < n; i++) {                                                         \
        atype a = as[i], b = bs[i];                                                             \
        cs[i] = (ctype)(expression);                                                            \
      }                                                                                         \
    else if (sa == 1 && sb == 0) {                                                              \
      atype b = *bs;                                                                            \
      for (int64_t i = 0; i < n; i++) {                                                         \
        atype a = as[i];                                                                        \
        cs[i] = (ctype)(expression);                                                            \
      }                                                                                         \
    } else                                                                                      \
      for (int64_t i = 0; i < n; i++) {                                                         \
        atype a = as[i * sa], b = bs[i * sb];                                                   \
        cs[i] = (ctype)(expression);                                                            \
      }                                                                                         \
  }

/* What name_CASE is made of. */
#define ONNXL_BINARY_CASE(type, row) \
  case ONNXL_TYPE_##type:            \
    return row;

/* Declares name_row(), which picks the row of an element type. name_CASE(TYPE, T, U) is one case label and return. */
#define ONNXL_BINARY_TABLE(name, types)               \
  static OnnxlBinaryRow name##_row(int32_t elem_type) \
  {                                                   \
    switch (elem_type) {                              \
      types(name##_CASE) default : return NULL;       \
    }                                                 \
  }

/* Fills result, whose dims a and b are broadcast to. Always true, to end a condition. */
bool onnxl_binary_into(OnnxlValue *result, const OnnxlValue *a, const OnnxlValue *b, OnnxlBinaryRow row);

/* The second operand before opset 7: broadcasting was asked for, b was broadcast to a and never a to b, and b's axes
 * stood from "axis" on, or at the end. Returns: owned, b under dims of a's rank; NULL with error. */
OnnxlValue *onnxl_legacy_operand(OnnxlKernelContext *context, OnnxlValue *a, OnnxlValue *b,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A whole kernel of two inputs, with the broadcasting rules of the operator's version. row NULL: no loop for the type.
 */
bool onnxl_binary(OnnxlKernelContext *context, OnnxlBinaryRow row, int32_t result_type,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
