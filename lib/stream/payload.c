#include "stream/payload-internal.h"

#include "proto/packed.h"
#include "support/error.h"

/* Bytes of a payload that are in memory at one time. */
enum { BLOCK = 64 << 10 };

/* The typed field that is filled; onnxl_tensor_view() has checked that it is the only one, and of the right kind. */
static OnnxlStr
typed_bytes(const OnnxlTensor *tensor, bool *ret_varints)
{
  const OnnxlPacked fixed[] = { tensor->float_data, tensor->double_data };
  const OnnxlPacked varints[] = { tensor->int32_data, tensor->int64_data, tensor->uint64_data };

  *ret_varints = false;
  for (size_t i = 0; i < G_N_ELEMENTS(fixed); i++)
    if (fixed[i].bytes.size > 0)
      return fixed[i].bytes;
  *ret_varints = true;
  for (size_t i = 0; i < G_N_ELEMENTS(varints); i++)
    if (varints[i].bytes.size > 0)
      return varints[i].bytes;
  return ONNXL_STR("");
}

OnnxlPayload
onnxl_payload_inline(const OnnxlModel *model, const OnnxlTensorView *view)
{
  OnnxlPayload payload = { .kind = ONNXL_PAYLOAD_MEMORY, .length = view->bytes, { .bytes = view->tensor->raw_data } };
  bool varints = false;
  uint64_t offset;

  if (view->storage == ONNXL_STORAGE_TYPED)
    payload.bytes = typed_bytes(view->tensor, &varints);
  if (varints) {
    uint32_t bits = onnxl_data_type_bits(view->data_type);
    payload.kind = ONNXL_PAYLOAD_VARINTS;
    payload.element = bits < 8 ? 1 : bits / 8;
    return payload;
  }
  const OnnxlFile *file = onnxl_model_file_of(model, payload.bytes, &offset);
  if (file) {
    payload.kind = ONNXL_PAYLOAD_FILE;
    payload.place = (OnnxlCopyPlace){ file->fd, offset, file->name };
  }
  return payload;
}

OnnxlPayload
onnxl_payload_external(const OnnxlExternalRange *range, uint64_t length)
{
  return (OnnxlPayload){ .kind = ONNXL_PAYLOAD_FILE,
                         .length = length,
                         { .place = { range->file->fd, range->offset, range->file->location } } };
}

OnnxlPayloadReader
onnxl_payload_reader(const OnnxlPayload *payload)
{
  return (OnnxlPayloadReader){
    .payload = payload,
    .at = payload->kind == ONNXL_PAYLOAD_VARINTS ? payload->bytes.data : NULL,
  };
}

/* Widens whole elements into buffer; at the end of a block one may be cut, its rest is kept. */
static bool
read_varints(OnnxlPayloadReader *reader, char *buffer, size_t size)
{
  const OnnxlPayload *payload = reader->payload;
  const char *end = payload->bytes.data + payload->bytes.size;

  for (size_t used = 0; used < size;) {
    if (reader->n_rest == 0) {
      uint64_t value;
      if (!onnxl_packed_varint(&reader->at, end, &value))
        return false;
      memcpy(reader->rest, &value, sizeof reader->rest);
      reader->n_rest = payload->element;
    }
    size_t n = MIN((size_t)reader->n_rest, size - used);
    memcpy(buffer + used, reader->rest + (payload->element - reader->n_rest), n);
    reader->n_rest -= (uint32_t)n;
    used += n;
  }
  return true;
}

ssize_t
onnxl_payload_read(OnnxlPayloadReader *reader, void *buffer, size_t size, GError **error)
{
  const OnnxlPayload *payload = reader->payload;
  size_t n = (size_t)MIN((uint64_t)MIN(size, (size_t)G_MAXSSIZE), payload->length - reader->done);

  switch (payload->kind) {
  case ONNXL_PAYLOAD_FILE: {
    OnnxlCopyPlace place = payload->place;
    place.offset += reader->done;
    if (!onnxl_copy_read(place, buffer, n, error))
      return -1;
    break;
  }
  case ONNXL_PAYLOAD_MEMORY:
    if (n > 0)
      memcpy(buffer, payload->bytes.data + reader->done, n);
    break;
  case ONNXL_PAYLOAD_VARINTS:
    if (!read_varints(reader, buffer, n)) {
      onnxl_fail(error, ONNXL_ERROR_IO, "a packed list of numbers changed while it was read");
      return -1;
    }
    break;
  }
  reader->done += n;
  return (ssize_t)n;
}

bool
onnxl_payload_copy(const OnnxlPayload *payload, OnnxlCopyPlace dest, OnnxlCopier *copier, GError **error)
{
  OnnxlPayloadReader reader = onnxl_payload_reader(payload);
  bool ok = true;
  ssize_t n;

  if (payload->kind == ONNXL_PAYLOAD_FILE)
    return onnxl_copy_range(copier, payload->place, dest, payload->length, error);
  if (payload->kind == ONNXL_PAYLOAD_MEMORY)
    return onnxl_copy_bytes(copier, payload->bytes.data, payload->length, dest, error);
  char *block = g_malloc(BLOCK);
  while (ok && (n = onnxl_payload_read(&reader, block, BLOCK, error)) != 0) {
    ok = n > 0 && onnxl_copy_bytes(copier, block, (size_t)n, dest, error);
    dest.offset += ok ? (uint64_t)n : 0;
  }
  g_free(block);
  return ok;
}

bool
onnxl_payload_hash(const OnnxlPayload *payload, uint64_t *ret_hash, GError **error)
{
  OnnxlPayloadReader reader = onnxl_payload_reader(payload);
  char *block = g_malloc(BLOCK);
  uint64_t hash = payload->length;
  ssize_t n;

  while ((n = onnxl_payload_read(&reader, block, BLOCK, error)) > 0)
    hash = (hash << 7 | hash >> 57) * UINT64_C(0x9e3779b97f4a7c15) ^ onnxl_str_hash(onnxl_str_n(block, (size_t)n));
  g_free(block);
  *ret_hash = hash;
  return n == 0;
}

bool
onnxl_payload_equal(const OnnxlPayload *a, const OnnxlPayload *b, bool *ret_equal, GError **error)
{
  OnnxlPayloadReader readers[2] = { onnxl_payload_reader(a), onnxl_payload_reader(b) };
  char *blocks = g_malloc(2 * BLOCK);
  ssize_t n[2];

  do {
    n[0] = onnxl_payload_read(&readers[0], blocks, BLOCK, error);
    n[1] = n[0] < 0 ? -1 : onnxl_payload_read(&readers[1], blocks + BLOCK, BLOCK, error);
    *ret_equal = n[0] == n[1] && (n[0] <= 0 || memcmp(blocks, blocks + BLOCK, (size_t)n[0]) == 0);
  } while (n[1] > 0 && *ret_equal);
  g_free(blocks);
  return n[0] >= 0 && n[1] >= 0;
}
