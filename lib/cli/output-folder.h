/* A folder of files that appears whole or not at all: filled under another name beside its place, synced, renamed. */
#ifndef ONNXL_CLI_OUTPUT_FOLDER_H
#define ONNXL_CLI_OUTPUT_FOLDER_H

#include "cli/output-file.h"

typedef struct OnnxlOutputFolder {
  char *path;      /* where it goes, as given */
  char *temporary; /* where its files are written until then; files only, no folders */
  int slot;        /* among the names that a signal removes, or -1 */
} OnnxlOutputFolder;

/* Makes the temporary folder, named .onnxl-DIGITS as temporary files are; only SIGKILL leaves it behind. path: in a
 * folder that exists. When it fails there is nothing to abort. */
bool onnxl_output_folder_open(OnnxlOutputFolder *folder, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Syncs the files, which may have been written with ONNXL_OUTPUT_NO_SYNC, and puts the folder in its place. One that is
 * there already is replaced, unless it holds anything but files that the new one has too: then ONNXL_ERROR_USAGE.
 * folder is done with, whatever the result. */
bool onnxl_output_folder_commit(OnnxlOutputFolder *folder, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Drops what was written. Does nothing after a commit. */
void onnxl_output_folder_abort(OnnxlOutputFolder *folder);

#endif
