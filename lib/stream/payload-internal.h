/* Where the bytes of a tensor come from: a range of a file, memory, or varints that have to be widened on the way. */
#ifndef ONNXL_STREAM_PAYLOAD_INTERNAL_H
#define ONNXL_STREAM_PAYLOAD_INTERNAL_H

#include "proto/tensor.h"
#include "stream/copy.h"
#include "stream/external.h"

typedef enum OnnxlPayloadKind { ONNXL_PAYLOAD_FILE, ONNXL_PAYLOAD_MEMORY, ONNXL_PAYLOAD_VARINTS } OnnxlPayloadKind;

typedef struct OnnxlPayload {
  OnnxlPayloadKind kind;
  uint32_t element; /* VARINTS: bytes of an element, 1 to 8 */
  uint64_t length;  /* bytes as in raw_data */
  union {
    OnnxlCopyPlace place; /* FILE */
    OnnxlStr bytes;       /* MEMORY, VARINTS */
  };
} OnnxlPayload;

/* Of a tensor whose values are in raw_data or a typed field (not strings). A slice of a mapped file of the model is a
 * range of that file. */
OnnxlPayload onnxl_payload_inline(const OnnxlModel *model, const OnnxlTensorView *view);

/* Of an external tensor: length bytes of the range. */
OnnxlPayload onnxl_payload_external(const OnnxlExternalRange *range, uint64_t length);

/* Reads a payload from its start to its end, in blocks of any size. */
typedef struct OnnxlPayloadReader {
  const OnnxlPayload *payload;
  uint64_t done;  /* bytes read so far */
  const char *at; /* VARINTS: the next one */
  char rest[8];   /* VARINTS: an element that a block cut in two */
  uint32_t n_rest;
} OnnxlPayloadReader;

OnnxlPayloadReader onnxl_payload_reader(const OnnxlPayload *payload);

/* Reads the next bytes, min(size, what is left). Returns their number, 0 at the end; -1 with error. */
ssize_t onnxl_payload_read(OnnxlPayloadReader *reader, void *buffer, size_t size, GError **error);

/* Copies the payload into a file. */
bool onnxl_payload_copy(const OnnxlPayload *payload, OnnxlCopyPlace dest, OnnxlCopier *copier, GError **error);

/* A 64-bit hash of the bytes. */
bool onnxl_payload_hash(const OnnxlPayload *payload, uint64_t *ret_hash, GError **error);

/* Compares two payloads of one length byte by byte. */
bool onnxl_payload_equal(const OnnxlPayload *a, const OnnxlPayload *b, bool *ret_equal, GError **error);

#endif
