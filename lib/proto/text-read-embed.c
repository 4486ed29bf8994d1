/* References of "#: embed": payloads that lie in other files become slices of their mappings, so that no weight is
 * copied. */
#include "proto/text-internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/beneath.h"

/* Descriptors that stay open, for copies from file to file; the mappings of more files do without. */
enum { OPEN_FILES = 64 };

static void
free_file(gpointer file)
{
  onnxl_file_free(file);
}

static OnnxlFile *
open_file(const OnnxlReader *r, OnnxlStr location, GError **error)
{
  struct stat status;
  int fd = onnxl_beneath_open(r->model->folder, location, false, &status, error);

  if (fd < 0)
    return NULL;
  OnnxlFile *file = g_new0(OnnxlFile, 1);
  file->name = g_strndup(location.data, location.size);
  file->path = g_build_filename(r->model->folder, file->name, NULL);
  file->fd = fd;
  file->stat = status;
  file->size = (uint64_t)status.st_size;
  if (file->size == 0)
    return file;
  void *data = file->size <= PTRDIFF_MAX ? mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  if (data == MAP_FAILED) {
    onnxl_error_errno(error, file->size <= PTRDIFF_MAX ? errno : EFBIG, "cannot map %s", file->name);
    onnxl_file_free(file);
    return NULL;
  }
  file->data = data;
  return file;
}

/* The file at location, opened once. Returns: owned by the model; NULL when it cannot be read. */
static const OnnxlFile *
find_file(OnnxlReader *r, OnnxlStr location, const OnnxlToken *token)
{
  GPtrArray *files = r->model->data_files;
  GError *error = NULL;

  if (!files) {
    files = r->model->data_files = g_ptr_array_new_with_free_func(free_file);
    r->files = onnxl_map_new(r->arena, 0);
  }
  uint32_t index = onnxl_map_get(&r->files, location);
  if (index != ONNXL_MAP_NONE)
    return index < files->len ? g_ptr_array_index(files, index) : NULL;
  OnnxlFile *file = open_file(r, location, &error);
  /* A file that cannot be read is reported once. */
  if (!onnxl_map_put(&r->files, location, file ? files->len : ONNXL_MAP_NONE - 1, NULL))
    onnxl_reader_exhausted(r);
  if (!file) {
    onnxl_reader_report_at(r, ONNXL_DIAG_EMBED_FILE, token, "%s", error->message);
    if (r->io_error)
      g_error_free(error);
    else
      r->io_error = error;
    return NULL;
  }
  if (files->len >= OPEN_FILES) {
    close(file->fd);
    file->fd = -1;
  }
  g_ptr_array_add(files, file);
  return file;
}

static bool
read_number(OnnxlReader *r, const OnnxlToken *token, const OnnxlPair *entry, uint64_t *ret_value)
{
  if (onnxl_str_to_uint64(entry->value, INT64_MAX, ret_value))
    return true;
  return onnxl_reader_report_at(r, ONNXL_DIAG_EMBED_RANGE, token,
                                "`%.*s` of the reference is no plain number: \"%.*s\"", ONNXL_ARG(entry->key),
                                ONNXL_ARG(entry->value));
}

bool
onnxl_reader_embed(OnnxlReader *r, const OnnxlToken *token, const OnnxlPairList *entries, OnnxlStr *ret_bytes)
{
  OnnxlStr location = { NULL, 0 };
  uint64_t offset = 0, length = 0;
  bool has_location = false, has_length = false;

  /* As in external data the last of two equal keys counts, but locations are equal. */
  for (size_t i = 0; i < entries->count; i++) {
    const OnnxlPair *entry = &entries->items[i];
    if (onnxl_str_is(entry->key, "location")) {
      if (has_location && !onnxl_str_equal(location, entry->value))
        return onnxl_reader_report_at(r, ONNXL_DIAG_EMBED_RANGE, token,
                                      "the reference has two locations: \"%.*s\" and \"%.*s\"", ONNXL_ARG(location),
                                      ONNXL_ARG(entry->value));
      location = entry->value;
      has_location = true;
    } else if (onnxl_str_is(entry->key, "offset")) {
      if (!read_number(r, token, entry, &offset))
        return false;
    } else if (onnxl_str_is(entry->key, "length")) {
      if (!read_number(r, token, entry, &length))
        return false;
      has_length = true;
    }
  }
  const OnnxlFile *file = find_file(r, location, token);
  if (!file)
    return false;
  if (offset > file->size || (has_length && length > file->size - offset)) {
    onnxl_reader_report_at(r, ONNXL_DIAG_EMBED_RANGE, token,
                           "the reference ends at byte %" G_GUINT64_FORMAT " of %s, which has %" G_GUINT64_FORMAT
                           " bytes",
                           offset + length, file->name, file->size);
    if (!r->io_error)
      onnxl_fail(&r->io_error, ONNXL_ERROR_IO, "a reference goes beyond the end of %s", file->name);
    return false;
  }
  *ret_bytes = onnxl_str_n(file->data ? file->data + offset : "", (size_t)(has_length ? length : file->size - offset));
  return true;
}
