#include "runtime/npz.h"

#include <zip.h>

#include "runtime/library.h"
#include "runtime/npy.h"
#include "support/error.h"
#include "support/file.h"
#include "support/nearest.h"

#define FUNCTIONS(F)                                                                                                \
  F(zip_discard)                                                                                                    \
  F(zip_error_fini) F(zip_error_init) F(zip_error_strerror) F(zip_fclose) F(zip_file_get_error) F(zip_fopen_index)  \
    F(zip_fread) F(zip_get_error) F(zip_get_name) F(zip_get_num_entries) F(zip_name_locate) F(zip_open_from_source) \
      F(zip_source_buffer_create) F(zip_source_free) F(zip_stat_index) F(zip_stat_init)
ONNXL_LIBRARY("zip", ONNXL_SONAME_ZIP, ".npz archives", FUNCTIONS)

/* Deflate makes at most 1032 bytes of one; who claims more lies. */
enum { MAX_RATIO = 1032 };

struct OnnxlNpz {
  OnnxlFile *file;
  zip_t *zip;
  char *path;
};

static bool
open_archive(OnnxlNpz *npz, GError **error)
{
  zip_error_t failed;
  lib.zip_error_init(&failed);
  zip_source_t *source = lib.zip_source_buffer_create(npz->file->data, npz->file->size, 0, &failed);
  if (source && !(npz->zip = lib.zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &failed)))
    lib.zip_source_free(source);
  if (!npz->zip)
    onnxl_fail(error, ONNXL_ERROR_INVALID, "%s is not an .npz archive: %s", npz->file->name,
               lib.zip_error_strerror(&failed));
  lib.zip_error_fini(&failed);
  return npz->zip != NULL;
}

OnnxlNpz *
onnxl_npz_open(const char *path, uint64_t max_spool, GError **error)
{
  if (!load_library(error))
    return NULL;
  OnnxlFile *file = onnxl_file_open(path, max_spool, error);
  if (!file)
    return NULL;
  OnnxlNpz *npz = g_new0(OnnxlNpz, 1);
  npz->file = file;
  npz->path = g_strdup(path);
  if (open_archive(npz, error))
    return npz;
  onnxl_npz_free(npz);
  return NULL;
}

void
onnxl_npz_free(OnnxlNpz *npz)
{
  if (!npz)
    return;
  if (npz->zip)
    lib.zip_discard(npz->zip);
  onnxl_file_free(npz->file);
  g_free(npz->path);
  g_free(npz);
}

const char *
onnxl_npz_path(const OnnxlNpz *npz)
{
  return npz->path;
}

/* The key of an entry: its name without ".npy". Returns: owned. */
static char *
entry_key(const OnnxlNpz *npz, zip_uint64_t entry)
{
  const char *name = lib.zip_get_name(npz->zip, entry, ZIP_FL_ENC_GUESS);
  size_t size = name ? strlen(name) : 0;
  return g_strndup(name, size > 4 && strcmp(name + size - 4, ".npy") == 0 ? size - 4 : size);
}

static bool
no_such_key(const OnnxlNpz *npz, const char *key, GError **error)
{
  enum { MAX_KEYS = 1000 };
  zip_int64_t n = CLAMP(lib.zip_get_num_entries(npz->zip, 0), 0, MAX_KEYS);
  GPtrArray *keys = g_ptr_array_new_with_free_func(g_free);
  for (zip_int64_t i = 0; i < n; i++)
    g_ptr_array_add(keys, entry_key(npz, (zip_uint64_t)i));
  const char *nearest = onnxl_nearest(onnxl_str(key), (const char *const *)keys->pdata, keys->len);
  const char *hint = nearest ? nearest : keys->len > 0 ? g_ptr_array_index(keys, 0) : NULL;
  if (hint)
    onnxl_fail(error, ONNXL_ERROR_USAGE, "%s holds no array '%s'; %s '%s'", npz->file->name, key,
               nearest ? "did you mean" : "the first of its arrays is", hint);
  else
    onnxl_fail(error, ONNXL_ERROR_USAGE, "%s holds no array '%s': it is empty", npz->file->name, key);
  g_ptr_array_free(keys, TRUE);
  return false;
}

/* What the directory says of an entry. */
static bool
check_entry(const OnnxlNpz *npz, zip_uint64_t entry, const char *key, zip_stat_t *status, GError **error)
{
  lib.zip_stat_init(status);
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (lib.zip_stat_index(npz->zip, entry, 0, status) < 0 || (status->valid & needed) != needed)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "%s: nothing is said of the size of '%s'", npz->file->name, key);
  if (status->encryption_method != ZIP_EM_NONE)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "%s: '%s' is encrypted", npz->file->name, key);
  if (status->comp_method != ZIP_CM_STORE && status->comp_method != ZIP_CM_DEFLATE)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED,
                      "%s: '%s' is compressed by the method %u, neither stored nor deflated", npz->file->name, key,
                      status->comp_method);
  if (status->comp_size > npz->file->size || status->size / MAX_RATIO > status->comp_size)
    return onnxl_fail(error, ONNXL_ERROR_INVALID,
                      "%s: '%s' cannot have %" G_GUINT64_FORMAT " bytes in %" G_GUINT64_FORMAT " compressed ones",
                      npz->file->name, key, (uint64_t)status->size, (uint64_t)status->comp_size);
  return true;
}

/* All bytes of an entry; libzip compares them with their checksum at the end. */
static bool
read_entry(const OnnxlNpz *npz, zip_uint64_t entry, const char *key, char *to, uint64_t size, GError **error)
{
  zip_file_t *file = lib.zip_fopen_index(npz->zip, entry, 0);
  if (!file)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "%s: '%s' cannot be read: %s", npz->file->name, key,
                      lib.zip_error_strerror(lib.zip_get_error(npz->zip)));
  uint64_t done = 0;
  zip_int64_t n = 1;
  char more;
  while (done < size && (n = lib.zip_fread(file, to + done, size - done)) > 0)
    done += (uint64_t)n;
  /* The end is where a wrong checksum shows. */
  bool good = n >= 0 && done == size && lib.zip_fread(file, &more, 1) == 0;
  if (!good)
    onnxl_fail(error, ONNXL_ERROR_INVALID, "%s: '%s' is damaged: %s", npz->file->name, key,
               lib.zip_error_strerror(lib.zip_file_get_error(file)));
  lib.zip_fclose(file);
  return good;
}

OnnxlValue *
onnxl_npz_read(const OnnxlNpz *npz, OnnxlAllocator *allocator, const char *key, int32_t wanted, GError **error)
{
  g_autofree char *file_name = g_strconcat(key, ".npy", NULL), *name = g_strdup_printf("%s:%s", npz->file->name, key);
  zip_int64_t entry = lib.zip_name_locate(npz->zip, file_name, 0);
  zip_stat_t status;
  if (entry < 0)
    entry = lib.zip_name_locate(npz->zip, key, 0);
  if (entry < 0) {
    no_such_key(npz, key, error);
    return NULL;
  }
  if (!check_entry(npz, (zip_uint64_t)entry, key, &status, error))
    return NULL;
  char *bytes = onnxl_allocator_get(allocator, status.size, name, error);
  OnnxlValue *value = NULL;
  if (bytes && read_entry(npz, (zip_uint64_t)entry, key, bytes, status.size, error))
    value = onnxl_npy_read(allocator, onnxl_str_n(bytes, status.size), wanted, name, error);
  if (bytes)
    onnxl_allocator_put(allocator, bytes, status.size);
  return value;
}
