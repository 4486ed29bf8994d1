#include "destination.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/save.h"
#include "support/error.h"
#include "support/file.h"

/* True for outputs that are written as they are. */
static bool
is_stream(const char *output)
{
  struct stat status;

  return onnxl_output_is_descriptor(output) || (stat(output, &status) == 0 && !S_ISREG(status.st_mode));
}

bool
destination_init(Destination *destination, const char *output, const char *source, GError **error)
{
  g_autofree char *folder = NULL;

  *destination = (Destination){ .source = source };
  if (output && strcmp(output, "-") != 0 && is_stream(output))
    destination->stream = output;
  else if (output && strcmp(output, "-") != 0)
    destination->model = output;
  folder = destination->model ? g_path_get_dirname(destination->model) : g_strdup(".");
  destination->folder = realpath(folder, NULL);
  return destination->folder || onnxl_error_errno(error, errno, "cannot write to the folder %s", folder);
}

void
destination_clear(Destination *destination)
{
  free(destination->folder);
}

char *
destination_data_path(const Destination *destination, const char *data, size_t shard, GError **error)
{
  g_autofree char *base = NULL;

  if (data && *data == '\0') {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "--data: the name is empty");
    return NULL;
  }
  if (data)
    base = g_strdup(data);
  else if (destination->model)
    base = g_strconcat(destination->model, ".data", NULL);
  if (!base) {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "--data FILE is needed: the model has external data and no name of its own");
    return NULL;
  }
  return shard == 0 ? g_steal_pointer(&base) : g_strdup_printf("%s.%zu", base, shard);
}

char *
destination_location(const Destination *destination, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(path), *name = g_path_get_basename(path);
  char *canonical = realpath(folder, NULL);

  if (!canonical) {
    onnxl_error_errno(error, errno, "cannot write to the folder %s", folder);
    return NULL;
  }
  g_autofree char *whole = g_build_filename(canonical, name, NULL);
  size_t length = strlen(destination->folder);
  free(canonical);
  if (destination->folder[length - 1] == '/')
    length--;
  if (strncmp(whole, destination->folder, length) != 0 || whole[length] != '/') {
    onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: the data file must be in or below the model's folder, %s",
               path, destination->folder);
    return NULL;
  }
  if (!onnxl_str_is_utf8(onnxl_str(whole + length))) {
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "cannot write %s: a location in a model must be UTF-8", path);
    return NULL;
  }
  return g_strdup(whole + length + 1);
}

static bool
is_data_file(const OnnxlModel *model, const char *path)
{
  for (guint i = 0; model->data_files && i < model->data_files->len; i++) {
    const OnnxlFile *file = g_ptr_array_index(model->data_files, i);
    if (file->path && onnxl_path_same_entry(path, file->path))
      return true;
  }
  return false;
}

/* True when whoever reads the source model, by the name given or by one that this leads to along symbolic links, finds
 * some of its weights through the entry path. A name that becomes the new model's does not count. */
static bool
is_needed(const Destination *destination, const char *path, const OnnxlModel *model, const OnnxlExternalFiles *files)
{
  g_autofree char *name = g_strdup(destination->source), *folder = NULL;

  if (!name)
    return onnxl_external_files_use(files, NULL, path);
  for (int i = 0; name && i <= ONNXL_MAX_LINKS; i++) {
    bool replaced = destination->model && path != destination->model && onnxl_path_same_entry(destination->model, name);
    if (!replaced && (onnxl_external_files_use(files, folder, path) || is_data_file(model, path)))
      return true;
    char *next = onnxl_path_follow(name);
    g_free(name);
    name = next;
    g_free(folder);
    folder = name ? g_path_get_dirname(name) : NULL;
  }
  return false;
}

static bool
is_file(const OnnxlFile *file, const struct stat *status)
{
  return file->stat.st_dev == status->st_dev && file->stat.st_ino == status->st_ino;
}

/* What is written in place must not be read at the same time. */
static bool
check_stream(const Destination *destination, const OnnxlModel *model, const OnnxlExternalFiles *files, GError **error)
{
  const char *path = destination->stream;
  struct stat status;

  if ((path ? stat(path, &status) : fstat(STDOUT_FILENO, &status)) < 0 || !S_ISREG(status.st_mode))
    return true;
  bool used = model->file && is_file(model->file, &status);
  for (guint i = 0; !used && model->data_files && i < model->data_files->len; i++)
    used = is_file(g_ptr_array_index(model->data_files, i), &status);
  for (size_t i = 0; !used && i < onnxl_external_files_count(files); i++) {
    const OnnxlExternalFile *file = onnxl_external_files_get(files, i);
    used = file->device == status.st_dev && file->inode == status.st_ino;
  }
  return !used || onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: it is a file that is read",
                             path ? path : "standard output");
}

bool
destination_check(const Destination *destination, const char *path, const OnnxlModel *model,
                  const OnnxlExternalFiles *files, GError **error)
{
  if (!path && !destination->model)
    return check_stream(destination, model, files, error);
  if (path && (destination->source ? onnxl_path_same_entry(path, destination->source) : onnxl_model_is_at(model, path)))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: it is the model that is read", path);
  if (is_needed(destination, path ? path : destination->model, model, files))
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "cannot write %s: the weights of the model that is read are in it; choose another %s",
                      path ? path : destination->model, path ? "--data FILE" : "output");
  return true;
}
