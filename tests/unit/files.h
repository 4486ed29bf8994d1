/* What tests of output files look at: what a folder and a file hold. */
#ifndef ONNXL_TESTS_FILES_H
#define ONNXL_TESTS_FILES_H

#include <stdbool.h>
#include <string.h>

#include <glib.h>

/* A path in a folder, good until the next call but one. */
static inline const char *
file_in(const char *folder, const char *name)
{
  static char *paths[2];
  static int next;
  next = !next;
  g_free(paths[next]);
  return paths[next] = g_build_filename(folder, name, NULL);
}

/* Number of entries in the folder: a temporary file that stays behind is counted. */
static inline size_t
files_in(const char *folder)
{
  size_t n = 0;
  GDir *dir = g_dir_open(folder, 0, NULL);
  while (dir && g_dir_read_name(dir))
    n++;
  if (dir)
    g_dir_close(dir);
  return n;
}

/* True when the file is there and holds the text. */
static inline bool
file_holds(const char *path, const char *expected)
{
  g_autofree char *text = NULL;
  return g_file_get_contents(path, &text, NULL, NULL) && strcmp(text, expected) == 0;
}

#endif
