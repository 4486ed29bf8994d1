/* Opening a file that untrusted input names: only a regular file beneath a folder, whatever the path says. */
#ifndef ONNXL_SUPPORT_BENEATH_H
#define ONNXL_SUPPORT_BENEATH_H

#include <glib.h>
#include <sys/stat.h>

#include "support/str.h"

/* Opens path, looked up in folder, for reading. Refused: an empty or absolute path, NUL in it, ".." out of the folder,
 * symbolic links on the way (unless allow_symlinks, which may lead out), anything but a regular file. Never blocks.
 * Returns: a descriptor to close, with its status in *ret_stat; -1 with ONNXL_ERROR_IO that names the path. */
int onnxl_beneath_open(const char *folder, OnnxlStr path, bool allow_symlinks, struct stat *ret_stat, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

#endif
