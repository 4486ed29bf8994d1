/* numpy's .npz archives: ZIP files whose entries are .npy files. Part of builds with libzip only. */
#ifndef ONNXL_RUNTIME_NPZ_H
#define ONNXL_RUNTIME_NPZ_H

#include "runtime/value.h"

typedef struct OnnxlNpz OnnxlNpz;

/* Opens an archive and reads its directory; an inconsistent one (entries that overlap, that lie outside, two of one
 * name) is refused. max_spool: bytes that a pipe may deliver. Returns: owned; NULL with error. */
OnnxlNpz *onnxl_npz_open(const char *path, uint64_t max_spool, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_npz_free(OnnxlNpz *npz);

/* The path that the archive was opened with. */
const char *onnxl_npz_path(const OnnxlNpz *npz);

/* Reads the array key, the entry KEY.npy or KEY, stored or deflated. wanted: as for onnxl_npy_read(). Returns: owned;
 * NULL with error, ONNXL_ERROR_USAGE when there is no such array. */
OnnxlValue *onnxl_npz_read(const OnnxlNpz *npz, OnnxlAllocator *allocator, const char *key, int32_t wanted,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
