/* Temporary files and folders, for the outputs that are made of several (output-set.c, output-folder.c). */
#ifndef ONNXL_CLI_OUTPUT_FILE_INTERNAL_H
#define ONNXL_CLI_OUTPUT_FILE_INTERNAL_H

#include "cli/output-file.h"

/* Makes onnxl_output_file_remove_all() remove name too. Returns: a slot, or -1 when there is none left. */
int onnxl_temporary_remember(const char *name);
void onnxl_temporary_forget(int slot);

/* Removes a file, or a folder of files; async-signal-safe. */
void onnxl_temporary_remove(const char *name);

/* A name in the folder of path that nobody uses. Returns: owned. */
char *onnxl_temporary_name(const char *path);

/* Flushes what is buffered, sets the mode and syncs, so that nothing is left to do but to name the file. */
bool onnxl_output_file_finish(OnnxlOutputFile *file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gives a file that has no name yet a temporary one. */
bool onnxl_output_file_name(OnnxlOutputFile *file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Syncs the folder of path. */
bool onnxl_output_sync_folder(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
