/* The checksum entry of external data: by onnx.proto the SHA-1 of the whole file, in hexadecimal. */
#ifndef ONNXL_STREAM_CHECKSUM_INTERNAL_H
#define ONNXL_STREAM_CHECKSUM_INTERNAL_H

#include "stream/external.h"

/* Digits of a checksum. */
#define ONNXL_CHECKSUM_SIZE 40

/* Reads the file, of size bytes. name: for messages. */
bool onnxl_file_checksum(int fd, uint64_t size, const char *name, char ret_digits[ONNXL_CHECKSUM_SIZE + 1],
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Checksums of files, each computed once. */
typedef struct OnnxlFileSums OnnxlFileSums;

OnnxlFileSums *onnxl_file_sums_new(void);
void onnxl_file_sums_free(OnnxlFileSums *sums);

/* Compares the checksum that a tensor names with that of its file. Returns false with ONNXL_ERROR_INVALID and a finding
 * when they differ. */
bool onnxl_file_sums_verify(OnnxlFileSums *sums, const OnnxlExternalFile *file, OnnxlStr checksum,
                            const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
