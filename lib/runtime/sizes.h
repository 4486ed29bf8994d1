/* The sizes that the symbols of an inference have in a run, taken from the values that it meets. */
#ifndef ONNXL_RUNTIME_SIZES_H
#define ONNXL_RUNTIME_SIZES_H

#include "runtime/value.h"

typedef struct OnnxlSizes OnnxlSizes;

/* Returns: owned, without symbols. */
OnnxlSizes *onnxl_sizes_new(void);
void onnxl_sizes_free(OnnxlSizes *sizes);

/* Gives the symbols that are whole dims of info the sizes that value has there; one that has a size already keeps it.
 * The names are borrowed from info. Returns false when there is no memory. */
bool onnxl_sizes_bind(OnnxlSizes *sizes, const OnnxlInfo *info, const OnnxlValue *value) G_GNUC_WARN_UNUSED_RESULT;

/* Gives one symbol its size, unless it has one. name: borrowed. Returns false when there is no memory. */
bool onnxl_sizes_set(OnnxlSizes *sizes, OnnxlStr name, int64_t size) G_GNUC_WARN_UNUSED_RESULT;

/* Forgets all symbols. */
void onnxl_sizes_reset(OnnxlSizes *sizes);

/* An OnnxlExprLookup with an OnnxlSizes as data. */
bool onnxl_sizes_lookup(void *sizes, OnnxlStr name, int64_t *ret_size);

#endif
