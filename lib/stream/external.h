/* Safe opening of external data: regular files beneath the model's folder only, whatever the location says. */
#ifndef ONNXL_STREAM_EXTERNAL_H
#define ONNXL_STREAM_EXTERNAL_H

#include "proto/tensor.h"
#include "support/limits.h"

/* The external files of one model, each opened once. */
typedef struct OnnxlExternalFiles OnnxlExternalFiles;

/* folder: where locations are looked up, copied. allow_symlinks: follow symbolic links, also out of the folder. */
OnnxlExternalFiles *onnxl_external_files_new(const char *folder, bool allow_symlinks);
void onnxl_external_files_free(OnnxlExternalFiles *files);

/* An open external file; lives as long as the OnnxlExternalFiles. */
typedef struct OnnxlExternalFile {
  const char *location; /* as in the model, NUL-terminated */
  int fd;               /* open for reading */
  uint64_t size;        /* bytes, when it was opened */
  uint64_t device, inode;
  uint32_t index; /* its number in the order of opening */
} OnnxlExternalFile;

/* Opens the file at location, or returns the one opened before. Refused: absolute paths, ".." out of
 * the folder, symbolic links (unless allowed), anything but a regular file; opening never blocks. Returns: borrowed;
 * NULL with ONNXL_ERROR_IO naming tensor and location. */
const OnnxlExternalFile *onnxl_external_open(OnnxlExternalFiles *files, OnnxlStr location, OnnxlStr tensor_name,
                                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where the values of an external tensor lie: its file, offset and length (of the entries, else what dims and type
 * need). The range is checked against the size of the file; a length that is larger than needed is a warning. Findings
 * and errors name the tensor. */
typedef struct OnnxlExternalRange {
  const OnnxlExternalFile *file;
  uint64_t offset;
  uint64_t length;   /* bytes */
  uint64_t needed;   /* bytes that dims and type need, at most length */
  OnnxlStr checksum; /* of the file, as the tensor says; data NULL: nothing */
} OnnxlExternalRange;

bool onnxl_external_range(OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink,
                          OnnxlExternalRange *ret_range, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Maps the file of a range read-only, once for all its ranges; *ret_bytes lives as long as files. A range of 0 bytes
 * gives an empty string. */
bool onnxl_external_map(OnnxlExternalFiles *files, const OnnxlExternalRange *range, OnnxlStr *ret_bytes,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Reads a range into dest. */
bool onnxl_external_read(const OnnxlExternalRange *range, void *dest, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Visits the files opened so far, in the order of opening (for dependency files). */
size_t onnxl_external_files_count(const OnnxlExternalFiles *files);
const OnnxlExternalFile *onnxl_external_files_get(const OnnxlExternalFiles *files, size_t i);

/* Its path: the location in the folder that is looked in. Returns: owned. */
char *onnxl_external_files_path(const OnnxlExternalFiles *files, size_t i);

/* True when the location of one of the files, looked up in folder (NULL: where they were opened), is reached through
 * the directory entry path, be it at its end or on the way there along symbolic links: whoever puts another file there
 * takes this one away from a model in folder. Another name (hard link) of the same file is another entry. */
bool onnxl_external_files_use(const OnnxlExternalFiles *files, const char *folder, const char *path);

#endif
