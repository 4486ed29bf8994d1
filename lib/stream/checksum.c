#include "stream/checksum-internal.h"

#include "stream/copy.h"
#include "support/error.h"

enum { BLOCK = 128 << 10 };

struct OnnxlFileSums {
  GHashTable *digits; /* of files, by address of the OnnxlExternalFile */
};

bool
onnxl_file_checksum(int fd, uint64_t size, const char *name, char ret_digits[ONNXL_CHECKSUM_SIZE + 1], GError **error)
{
  GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA1);
  guchar *block = g_malloc(BLOCK);
  bool ok = true;

  for (uint64_t done = 0; ok && done < size;) {
    size_t n = (size_t)MIN(size - done, (uint64_t)BLOCK);
    ok = onnxl_copy_read((OnnxlCopyPlace){ fd, done, name }, block, n, error);
    if (ok)
      g_checksum_update(sum, block, (gssize)n);
    done += n;
  }
  if (ok)
    g_strlcpy(ret_digits, g_checksum_get_string(sum), ONNXL_CHECKSUM_SIZE + 1);
  g_free(block);
  g_checksum_free(sum);
  return ok;
}

OnnxlFileSums *
onnxl_file_sums_new(void)
{
  OnnxlFileSums *sums = g_new(OnnxlFileSums, 1);

  sums->digits = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  return sums;
}

void
onnxl_file_sums_free(OnnxlFileSums *sums)
{
  if (!sums)
    return;
  g_hash_table_destroy(sums->digits);
  g_free(sums);
}

bool
onnxl_file_sums_verify(OnnxlFileSums *sums, const OnnxlExternalFile *file, OnnxlStr checksum, const OnnxlTensor *tensor,
                       const char *path, OnnxlDiagSink *sink, GError **error)
{
  OnnxlLocation where = { .path = path };
  const char *digits = g_hash_table_lookup(sums->digits, file);

  if (!digits) {
    char *computed = g_malloc(ONNXL_CHECKSUM_SIZE + 1);
    if (!onnxl_file_checksum(file->fd, file->size, file->location, computed, error)) {
      g_free(computed);
      return false;
    }
    g_hash_table_insert(sums->digits, (gpointer)file, computed);
    digits = computed;
  }
  if (checksum.size == ONNXL_CHECKSUM_SIZE && g_ascii_strncasecmp(checksum.data, digits, ONNXL_CHECKSUM_SIZE) == 0)
    return true;
  onnxl_diag(sink, ONNXL_DIAG_EXTERNAL_CHECKSUM, &where, "tensor '%.*s': checksum is %.*s when the SHA-1 of '%s' is %s",
             ONNXL_ARG(tensor->name), ONNXL_ARG(checksum), file->location, digits);
  return onnxl_fail(error, ONNXL_ERROR_INVALID, "tensor '%.*s' is not valid", ONNXL_ARG(tensor->name));
}
