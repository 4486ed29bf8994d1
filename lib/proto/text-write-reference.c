#include "proto/text-write-internal.h"

#include <sys/stat.h>

/* True for a file in the binary format: text has none of the bytes that the first fields of a model start with. */
static bool
is_binary(const OnnxlFile *file)
{
  const uint8_t *bytes = (const uint8_t *)file->data;

  for (uint64_t i = 0; i < MIN(file->size, 256); i++)
    if (bytes[i] < 9 || (bytes[i] >= 0x0e && bytes[i] < 0x20) || bytes[i] == 0x7f || bytes[i] >= 0xf8)
      return true;
  return false;
}

/* True when a component of path (from at on) is "..", or a symbolic link: such a place may lie anywhere. */
static bool
leaves_folder(const char *path, const char *at)
{
  while (*at) {
    const char *slash = strchr(at, '/');
    size_t size = slash ? (size_t)(slash - at) : strlen(at);
    g_autofree char *prefix = g_strndup(path, (size_t)(at - path) + size);
    struct stat info;
    if ((size == 2 && memcmp(at, "..", 2) == 0) || lstat(prefix, &info) != 0 || S_ISLNK(info.st_mode))
      return true;
    at += size + (slash != NULL);
  }
  return false;
}

/* The location without empty and "." components. Returns: owned. */
static char *
tidy(const char *location)
{
  GString *text = g_string_new(NULL);
  g_auto(GStrv) parts = g_strsplit(location, "/", -1);

  for (char **part = parts; *part; part++)
    if (**part && strcmp(*part, ".") != 0)
      g_string_append_printf(text, "%s%s", text->len > 0 ? "/" : "", *part);
  return g_string_free(text, FALSE);
}

char *
onnxl_text_reference_location(const OnnxlFile *file, const char *folder)
{
  struct stat wanted, info;

  if (!file || !file->path || file->spooled || !S_ISREG(file->stat.st_mode) || !is_binary(file) ||
      stat(folder && *folder ? folder : ".", &wanted) != 0)
    return NULL;
  /* Folders are compared by identity, from the file upwards, so it does not matter how either path is written. */
  g_autofree char *current = g_get_current_dir();
  g_autofree char *path =
    g_path_is_absolute(file->path) ? g_strdup(file->path) : g_build_filename(current, file->path, NULL);
  for (char *slash = strrchr(path, '/'); slash; slash = g_strrstr_len(path, slash - path, "/")) {
    g_autofree char *prefix = slash == path ? g_strdup("/") : g_strndup(path, (size_t)(slash - path));
    if (stat(prefix, &info) == 0 && info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino)
      return leaves_folder(path, slash + 1) ? NULL : tidy(slash + 1);
  }
  return NULL;
}
