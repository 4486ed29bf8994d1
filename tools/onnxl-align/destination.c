#include "destination.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "support/error.h"

/* True for outputs that are written as they are, without a name of their own. */
static bool
is_stream(const char *output)
{
  struct stat status;

  return !output || strcmp(output, "-") == 0 || g_str_has_prefix(output, "/dev/") ||
         (stat(output, &status) == 0 && !S_ISREG(status.st_mode));
}

bool
destination_init(Destination *destination, const char *output, const char *source, GError **error)
{
  g_autofree char *folder = NULL;

  *destination = (Destination){ .model = is_stream(output) ? NULL : output, .source = source };
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

  if (data)
    base = g_strdup(data);
  else if (destination->model)
    base = g_strconcat(destination->model, ".data", NULL);
  if (!base || *base == '\0') {
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

bool
destination_check(const Destination *destination, const char *path, const OnnxlModel *model,
                  const OnnxlExternalFiles *files, GError **error)
{
  bool is_model = path == destination->model;
  bool replaces_source =
    destination->model && destination->source && onnxl_path_same_entry(destination->model, destination->source);

  if (!is_model && destination->source && onnxl_path_same_entry(path, destination->source))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: it is the model that is read", path);
  bool used = (is_model || !replaces_source) && onnxl_external_files_use(files, path);
  for (guint i = 0; !used && model->data_files && i < model->data_files->len; i++) {
    const OnnxlFile *file = g_ptr_array_index(model->data_files, i);
    used = (is_model || !replaces_source) && file->path && onnxl_path_same_entry(path, file->path);
  }
  if (used)
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "cannot write %s: the weights of the model that is read are in it; choose another %s", path,
                      is_model ? "output" : "--data FILE");
  return true;
}
