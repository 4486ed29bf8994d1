#include "stream/external.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/error.h"

typedef struct Mapping {
  void *address;
  size_t size;
} Mapping;

struct OnnxlExternalFiles {
  char *folder;
  bool allow_symlinks;
  GPtrArray *files;     /* OnnxlExternalFile, in the order of opening */
  GHashTable *by_location; /* borrowed from files */
  GArray *mappings;
};

static void
free_file(gpointer data)
{
  OnnxlExternalFile *file = data;

  close(file->fd);
  g_free((char *)file->location);
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
  files->mappings = g_array_new(FALSE, FALSE, sizeof(Mapping));
  return files;
}

void
onnxl_external_files_free(OnnxlExternalFiles *files)
{
  if (!files)
    return;
  for (guint i = 0; i < files->mappings->len; i++)
    munmap(g_array_index(files->mappings, Mapping, i).address, g_array_index(files->mappings, Mapping, i).size);
  g_array_free(files->mappings, TRUE);
  g_hash_table_destroy(files->by_location);
  g_ptr_array_free(files->files, TRUE);
  g_free(files->folder);
  g_free(files);
}

/* True when the path leads out of the folder that it starts in, taken as text. */
static bool
leads_out(const char *path)
{
  size_t depth = 0;

  if (*path == '/')
    return true;
  while (*path) {
    size_t n = strcspn(path, "/");
    if (n == 2 && memcmp(path, "..", 2) == 0) {
      if (depth == 0)
        return true;
      depth--;
    } else if (n > 0 && !(n == 1 && *path == '.')) {
      depth++;
    }
    path += n + strspn(path + n, "/");
  }
  return false;
}

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK };

/* For kernels without openat2: one component after the other, none of them a link. ".." was judged by leads_out(), and
 * without links it goes where the text says. */
static int
open_component_wise(int folder, const char *path)
{
  g_auto(GStrv) parts = g_strsplit(path, "/", -1);
  int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);

  for (char **part = parts; *part && at >= 0; part++) {
    bool last = !part[1];
    if (!last && (**part == '\0' || strcmp(*part, ".") == 0))
      continue;
    int next = openat(at, *part, last ? OPEN_FLAGS | O_NOFOLLOW : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int saved_errno = errno;
    close(at);
    errno = saved_errno;
    at = next;
  }
  return at;
}

static int
open_beneath(int folder, const char *path, bool allow_symlinks)
{
  struct open_how how = {
    .flags = OPEN_FLAGS,
    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };

  if (allow_symlinks)
    return openat(folder, path, OPEN_FLAGS);
  int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
  /* EPERM: sandboxes that filter system calls answer so for those they do not know. */
  if (fd < 0 && (errno == ENOSYS || errno == EPERM))
    fd = open_component_wise(folder, path);
  return fd;
}

/* Opens and checks; a message that does not name the tensor yet goes to *ret_why. */
static int
open_checked(const OnnxlExternalFiles *files, const char *path, struct stat *st, char **ret_why)
{
  int folder, fd;

  if (leads_out(path)) {
    *ret_why = g_strdup("the path leads out of the model's folder");
    return -1;
  }
  folder = open(files->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    *ret_why = g_strdup_printf("cannot open folder '%s': %s", files->folder, g_strerror(errno));
    return -1;
  }
  fd = open_beneath(folder, path, files->allow_symlinks);
  int saved_errno = errno;
  close(folder);
  if (fd < 0) {
    if (saved_errno == ELOOP && !files->allow_symlinks)
      *ret_why = g_strdup("a symbolic link is on its path (allow with --allow-symlinks)");
    else
      *ret_why = g_strdup_printf("cannot open it: %s", g_strerror(saved_errno));
    return -1;
  }
  if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) {
    *ret_why = g_strdup("it is not a regular file");
    close(fd);
    return -1;
  }
  return fd;
}

const OnnxlExternalFile *
onnxl_external_open(OnnxlExternalFiles *files, OnnxlStr location, OnnxlStr tensor_name, GError **error)
{
  g_autofree char *path = g_strndup(location.data, location.size);
  g_autofree char *why = NULL;
  OnnxlExternalFile *file = g_hash_table_lookup(files->by_location, path);
  struct stat st;

  if (file)
    return file;
  int fd = open_checked(files, path, &st, &why);
  if (fd < 0) {
    onnxl_fail(error, ONNXL_ERROR_IO, "tensor '%.*s': external data '%s': %s", ONNXL_ARG(tensor_name), path, why);
    return NULL;
  }
  file = g_new(OnnxlExternalFile, 1);
  *file = (OnnxlExternalFile){ g_steal_pointer(&path), fd, (uint64_t)st.st_size, st.st_dev, st.st_ino };
  g_ptr_array_add(files->files, file);
  g_hash_table_insert(files->by_location, (char *)file->location, file);
  return file;
}

bool
onnxl_external_range(OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *path, OnnxlDiagSink *sink,
                     OnnxlExternalRange *ret_range, GError **error)
{
  OnnxlLocation where = { .path = path };
  OnnxlTensorView view;
  OnnxlExternal external;

  if (!onnxl_tensor_view(tensor, path, sink, &view, error) ||
      !onnxl_tensor_external(tensor, path, sink, &external, error))
    return false;
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
    onnxl_diag(sink, ONNXL_DIAG_EXTERNAL_LENGTH, &where,
               "tensor '%.*s': length is %" G_GUINT64_FORMAT " when its dims and type need %" G_GUINT64_FORMAT " bytes",
               ONNXL_ARG(tensor->name), length, view.bytes);
  *ret_range = (OnnxlExternalRange){ file, external.offset, length };
  return true;
}

bool
onnxl_external_map(OnnxlExternalFiles *files, const OnnxlExternalRange *range, OnnxlStr *ret_bytes, GError **error)
{
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t start = range->offset - range->offset % page;
  size_t size = (size_t)(range->offset - start + range->length);

  if (range->length == 0) {
    *ret_bytes = ONNXL_STR("");
    return true;
  }
  void *address = mmap(NULL, size, PROT_READ, MAP_PRIVATE, range->file->fd, (off_t)start);
  if (address == MAP_FAILED)
    return onnxl_error_errno(error, errno, "cannot map external data '%s'", range->file->location);
  Mapping mapping = { address, size };
  g_array_append_val(files->mappings, mapping);
  *ret_bytes = onnxl_str_n((char *)address + (range->offset - start), (size_t)range->length);
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
  return g_ptr_array_index(files->files, i);
}
