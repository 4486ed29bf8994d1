#include "stream/external.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream/external-internal.h"
#include "support/beneath.h"
#include "support/error.h"
#include "support/file.h"

enum { MANY_FILES = 256 };

/* What the public part does not need. */
typedef struct File {
  OnnxlExternalFile public;
  char *mapped; /* the whole file, or NULL while nobody asked for it */
} File;

struct OnnxlExternalFiles {
  char *folder;
  bool allow_symlinks;
  GPtrArray *files;        /* File, in the order of opening */
  GHashTable *by_location; /* borrowed from files */
  const File *latest;      /* asked for, or NULL: tensors of one file follow each other */
};

static void
free_file(gpointer data)
{
  File *file = data;

  if (file->mapped)
    munmap(file->mapped, (size_t)file->public.size);
  close(file->public.fd);
  g_free((char *)file->public.location);
  g_free(file);
}

OnnxlExternalFiles *
onnxl_external_files_new(const char *folder, bool allow_symlinks)
{
  OnnxlExternalFiles *files = g_new0(OnnxlExternalFiles, 1);

  files->folder = g_strdup(folder);
  files->allow_symlinks = allow_symlinks;
  files->files = g_ptr_array_new_with_free_func(free_file);
  files->by_location = g_hash_table_new(g_str_hash, g_str_equal);
  return files;
}

void
onnxl_external_files_free(OnnxlExternalFiles *files)
{
  if (!files)
    return;
  g_hash_table_destroy(files->by_location);
  g_ptr_array_free(files->files, TRUE);
  g_free(files->folder);
  g_free(files);
}

/* Models with a file for each tensor need more descriptors than a process has by default, but not more than it may ask
 * for. Where that fails, so will opening. */
static void
raise_descriptor_limit(void)
{
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
  }
}

const OnnxlExternalFile *
onnxl_external_open(OnnxlExternalFiles *files, OnnxlStr location, OnnxlStr tensor_name, GError **error)
{
  if (files->latest && onnxl_str_is(location, files->latest->public.location))
    return &files->latest->public;
  g_autofree char *path = g_strndup(location.data, location.size);
  File *file = g_hash_table_lookup(files->by_location, path);
  struct stat st;

  if (file && strlen(path) == location.size) {
    files->latest = file;
    return &file->public;
  }
  if (files->files->len == MANY_FILES)
    raise_descriptor_limit();
  int fd = onnxl_beneath_open(files->folder, location, files->allow_symlinks, &st, error);
  if (fd < 0) {
    g_prefix_error(error, "tensor '%.*s': external data: ", ONNXL_ARG(tensor_name));
    return NULL;
  }
  file = g_new(File, 1);
  *file = (File){ { g_steal_pointer(&path), fd, (uint64_t)st.st_size, st.st_dev, st.st_ino, files->files->len }, NULL };
  g_ptr_array_add(files->files, file);
  g_hash_table_insert(files->by_location, (char *)file->public.location, file);
  files->latest = file;
  return &file->public;
}

bool
onnxl_external_range_as(OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *path, OnnxlDiagId too_long,
                        OnnxlDiagSink *sink, OnnxlExternalRange *ret_range, GError **error)
{
  OnnxlLocation where = { .path = path };
  OnnxlTensorView view;

  if (!onnxl_tensor_view(tensor, path, sink, &view, error))
    return false;
  const OnnxlExternal external = view.external;
  const OnnxlExternalFile *file = onnxl_external_open(files, external.location, tensor->name, error);
  if (!file)
    return false;
  uint64_t length = external.has_length ? external.length : view.bytes;
  if (external.offset > file->size || length > file->size - external.offset) {
    onnxl_diag(sink, ONNXL_DIAG_EXTERNAL_RANGE, &where,
               "tensor '%.*s': offset %" G_GUINT64_FORMAT " + length %" G_GUINT64_FORMAT
               " is beyond the end of '%s', which has %" G_GUINT64_FORMAT " bytes",
               ONNXL_ARG(tensor->name), external.offset, length, file->location, file->size);
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "tensor '%.*s' is not valid", ONNXL_ARG(tensor->name));
  }
  if (length > view.bytes)
    onnxl_diag(sink, too_long, &where,
               "tensor '%.*s': length is %" G_GUINT64_FORMAT " when its dims and type need %" G_GUINT64_FORMAT " bytes",
               ONNXL_ARG(tensor->name), length, view.bytes);
  *ret_range = (OnnxlExternalRange){ file, external.offset, length, view.bytes, external.checksum };
  return true;
}

bool
onnxl_external_range(OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink,
                     OnnxlExternalRange *ret_range, GError **error)
{
  return onnxl_external_range_as(files, tensor, path, ONNXL_DIAG_EXTERNAL_LENGTH, sink, ret_range, error);
}

bool
onnxl_external_map(OnnxlExternalFiles *files, const OnnxlExternalRange *range, OnnxlStr *ret_bytes, GError **error)
{
  File *file = g_hash_table_lookup(files->by_location, range->file->location);

  if (range->length == 0) {
    *ret_bytes = ONNXL_STR("");
    return true;
  }
  if (!file->mapped) {
    void *address = mmap(NULL, (size_t)file->public.size, PROT_READ, MAP_PRIVATE, file->public.fd, 0);
    if (address == MAP_FAILED)
      return onnxl_error_errno(error, errno, "cannot map external data '%s'", file->public.location);
    file->mapped = address;
  }
  *ret_bytes = onnxl_str_n(file->mapped + range->offset, (size_t)range->length);
  return true;
}

bool
onnxl_external_read(const OnnxlExternalRange *range, void *dest, GError **error)
{
  uint64_t done = 0;

  while (done < range->length) {
    ssize_t n = pread(range->file->fd, (char *)dest + done, range->length - done, (off_t)(range->offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return onnxl_error_errno(error, errno, "cannot read external data '%s'", range->file->location);
    if (n == 0)
      return onnxl_fail(error, ONNXL_ERROR_IO, "external data '%s' end before offset %" G_GUINT64_FORMAT,
                        range->file->location, range->offset + range->length);
    done += (uint64_t)n;
  }
  return true;
}

size_t
onnxl_external_files_count(const OnnxlExternalFiles *files)
{
  return files->files->len;
}

const OnnxlExternalFile *
onnxl_external_files_get(const OnnxlExternalFiles *files, size_t i)
{
  const File *file = g_ptr_array_index(files->files, i);

  return &file->public;
}

char *
onnxl_external_files_path(const OnnxlExternalFiles *files, size_t i)
{
  const char *location = onnxl_external_files_get(files, i)->location;

  return strcmp(files->folder, ".") == 0 ? g_strdup(location) : g_build_filename(files->folder, location, NULL);
}

/* True when path leads through entry, following symbolic links from name to name. Links among the folders need no look:
 * they are not replaced by a file. */
static bool
leads_through(const char *path, const char *entry)
{
  g_autofree char *at = g_strdup(path);

  for (int i = 0; i <= ONNXL_MAX_LINKS; i++) {
    if (onnxl_path_same_entry(at, entry))
      return true;
    char *target = onnxl_path_follow(at);
    if (!target)
      return false;
    g_free(at);
    at = target;
  }
  return true;
}

bool
onnxl_external_files_use(const OnnxlExternalFiles *files, const char *folder, const char *path)
{
  for (guint i = 0; i < files->files->len; i++) {
    const File *file = g_ptr_array_index(files->files, i);
    g_autofree char *source = g_build_filename(folder ? folder : files->folder, file->public.location, NULL);
    if (leads_through(source, path))
      return true;
  }
  return false;
}
