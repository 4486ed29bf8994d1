/* What a user may write for an input's value: a file, a literal, or a way to fill it. */
#ifndef ONNXL_RUNTIME_INPUT_SPEC_H
#define ONNXL_RUNTIME_INPUT_SPEC_H

#include "proto/index.h"
#include "runtime/value.h"

/* The size of a symbol. Returns false when it has none. */
typedef bool (*OnnxlSymbolSize)(void *data, OnnxlStr name, int64_t *ret_size);

typedef struct OnnxlInputContext {
  OnnxlAllocator *allocator;
  OnnxlSymbolSize symbol; /* for zeros, ones, arange and random */
  void *symbol_data;
  uint64_t seed;
} OnnxlInputContext;

/* spec: "@FILE.npy", "@FILE.pb", "@-" (npy on standard input), "zeros", "ones", "arange", "random", or a literal such
 * as 3,
 * [[1, 2], [3, 4]], ["a", "b"]. place: the input, whose declared type decides. *ret_file: the file that was read,
 * borrowed from spec, or NULL. Returns: owned; NULL with error: ONNXL_ERROR_USAGE for a spec that says nothing. */
OnnxlValue *onnxl_input_read(const OnnxlInputContext *context, const OnnxlIndexValue *place, const char *spec,
                             const char **ret_file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
