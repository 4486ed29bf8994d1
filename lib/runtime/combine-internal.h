/* Elements that come to a place where there are some already. */
#ifndef ONNXL_RUNTIME_COMBINE_INTERNAL_H
#define ONNXL_RUNTIME_COMBINE_INTERNAL_H

#include "runtime/kernel.h"

typedef enum OnnxlCombine {
  ONNXL_COMBINE_NONE, /* they take the place */
  ONNXL_COMBINE_ADD,
  ONNXL_COMBINE_MUL,
  ONNXL_COMBINE_MAX,
  ONNXL_COMBINE_MIN,
} OnnxlCombine;

/* "add" and so on, for messages. */
const char *onnxl_combine_name(OnnxlCombine combine);

/* Fails when the elements of value cannot be combined that way: texts not at all, complex ones have no order. */
bool onnxl_combine_check(const OnnxlKernelContext *context, OnnxlCombine combine, const OnnxlValue *value,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Brings n elements of from, first … on, to those of to, at … on. Both have the same type, of whole bytes, which
 * onnxl_combine_check() has seen. Integers wrap; of bools ADD and MAX make OR, the others AND. */
void onnxl_combine(OnnxlCombine combine, OnnxlValue *to, int64_t at, const OnnxlValue *from, int64_t first, int64_t n);

#endif
