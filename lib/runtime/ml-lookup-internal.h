/* Lists of keys to search in: categories, vocabularies, the keys of maps. */
#ifndef ONNXL_RUNTIME_ML_LOOKUP_INTERNAL_H
#define ONNXL_RUNTIME_ML_LOOKUP_INTERNAL_H

#include "runtime/kernel.h"

/* A row of elements of one type, wherever it comes from: texts, signed integers or floating point. */
typedef struct OnnxlMlColumn {
  int32_t elem_type;
  int64_t count;
  const void *data;
} OnnxlMlColumn;

OnnxlMlColumn onnxl_ml_column(const OnnxlValue *tensor);
OnnxlMlColumn onnxl_ml_column_of_ints(OnnxlInt64List list);
OnnxlMlColumn onnxl_ml_column_of_floats(OnnxlFloatList list);
OnnxlMlColumn onnxl_ml_column_of_strings(OnnxlStrList list);

typedef struct OnnxlMlLookup {
  OnnxlMlColumn keys;
  int64_t *order; /* indices of keys, ascending by key; of equal keys the last one first */
} OnnxlMlLookup;

/* keys must outlive the lookup. NaNs are equal to each other. */
bool onnxl_ml_lookup_init(OnnxlKernelContext *context, OnnxlMlLookup *lookup, OnnxlMlColumn keys,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Index in keys of element i of items, whose type is of the same nature; -1 = it is not there. */
int64_t onnxl_ml_lookup_find(const OnnxlMlLookup *lookup, const OnnxlMlColumn *items, int64_t i);

/* The types are both texts, both integers or both floating point. */
bool onnxl_ml_comparable(int32_t a, int32_t b);

#endif
