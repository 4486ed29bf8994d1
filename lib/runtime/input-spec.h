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
  bool no_stdin;            /* "@-" is refused: something else is read there */
  struct OnnxlNpz *archive; /* the .npz read last, since many inputs may come from one; NULL at first */
} OnnxlInputContext;

void onnxl_input_context_clear(OnnxlInputContext *context);

/* spec: "@FILE.npy", "@FILE.pb", "@FILE.npz:KEY" (KEY is the input's name when left out), "@-" (one of the first two on
 * standard input), "zeros", "ones", "arange", "random", or a literal such as 3, [[1, 2], [3, 4]], ["a", "b"]. place:
 * the input, whose declared type decides. *ret_file: the file that was read, owned, or NULL. Returns: owned; NULL with
 * error: ONNXL_ERROR_USAGE for a spec that says nothing. */
OnnxlValue *onnxl_input_read(OnnxlInputContext *context, const OnnxlIndexValue *place, const char *spec,
                             char **ret_file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The file that is read for what stands behind '@'. Returns: owned; NULL for standard input. */
char *onnxl_input_file(const char *path);

/* As onnxl_input_read() for what stands behind '@'. type: of the message in a .pb, NULL = a tensor. elem_type: what raw
 * bytes stand for in numpy's formats, or UNDEFINED. name: the value's, the key where none is given. */
OnnxlValue *onnxl_input_read_file(OnnxlInputContext *context, const OnnxlType *type, int32_t elem_type, OnnxlStr name,
                                  const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
