/* Copying byte ranges from file to file at the speed of the kernel, without a byte of them in our memory where
 * possible. */
#ifndef ONNXL_STREAM_COPY_H
#define ONNXL_STREAM_COPY_H

#include <glib.h>

#include "support/str.h"

/* How bytes get from one file into the other. */
typedef enum OnnxlCopyMethod {
  ONNXL_COPY_AUTO,       /* the fastest that works between two files, tried anew for each pair */
  ONNXL_COPY_REFLINK,    /* FICLONERANGE: both files share the blocks, nothing is copied */
  ONNXL_COPY_RANGE,      /* copy_file_range() */
  ONNXL_COPY_SPLICE,     /* splice() through an enlarged pipe */
  ONNXL_COPY_READ_WRITE, /* pread() and pwrite() through a small buffer */
  ONNXL_N_COPY_METHODS,
} OnnxlCopyMethod;

/* "auto", "reflink", "copy_file_range", "splice", "read/write". */
const char *onnxl_copy_method_name(OnnxlCopyMethod method);

typedef struct OnnxlCopyOptions {
  /* Not AUTO: only this method, and ONNXL_ERROR_UNSUPPORTED when the system refuses it. What is less than a block at
   * the end of a range cannot be shared; with REFLINK it is copied. */
  OnnxlCopyMethod method;
  uint64_t chunk_size; /* bytes a system call copies at most (sharing apart); 0: a default */
  bool write_back;     /* the destination will be synced: start writing it to the device while copying */
  /* Called after each step with the bytes since the last call; returns false to cancel. May be NULL. */
  bool (*progress)(void *data, uint64_t bytes);
  void *data;
} OnnxlCopyOptions;

/* What has been done so far, in bytes. */
typedef struct OnnxlCopyStats {
  uint64_t by_method[ONNXL_N_COPY_METHODS]; /* [ONNXL_COPY_AUTO]: written from memory */
  uint64_t holes;                           /* of sparse sources, left as holes */
} OnnxlCopyStats;

/* A copier keeps what works between two files, a pipe and a buffer. */
typedef struct OnnxlCopier OnnxlCopier;

/* options: copied. Returns: owned. */
OnnxlCopier *onnxl_copier_new(const OnnxlCopyOptions *options);
void onnxl_copier_free(OnnxlCopier *copier);

OnnxlCopyStats onnxl_copier_stats(const OnnxlCopier *copier);

/* A place in an open file. The file position of fd is not used, but that of a source moves. */
typedef struct OnnxlCopyPlace {
  int fd;
  uint64_t offset;  /* bytes; offset plus the length to be copied is below 2^63 */
  const char *name; /* for messages, borrowed */
} OnnxlCopyPlace;

/* Whether a file has holes. */
bool onnxl_copy_is_sparse(int fd);

/* Bytes that the file system of a file allocates at once, as far as it says. */
uint64_t onnxl_copy_block_size(int fd);

/* Tells that the next copies, of ranges without holes, will fill the destination up to end, without leaving out a
 * block: the first of them may reserve all of it. */
void onnxl_copier_expect(OnnxlCopier *copier, uint64_t end);

/* Copies length bytes. The range of the destination must be fresh: a hole, or behind the end of its file. Where the
 * source has a hole, so has the destination then, which its owner gives its full size with ftruncate(). Returns false
 * with ONNXL_ERROR_IO: a call failed (whatever was written then is undefined), the source ends too early, or progress
 * cancelled. */
bool onnxl_copy_range(OnnxlCopier *copier, OnnxlCopyPlace source, OnnxlCopyPlace dest, uint64_t length,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes bytes that lie in memory. */
bool onnxl_copy_bytes(OnnxlCopier *copier, const void *bytes, size_t size, OnnxlCopyPlace dest,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads exactly size bytes of a file. */
bool onnxl_copy_read(OnnxlCopyPlace source, void *buffer, size_t size, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
