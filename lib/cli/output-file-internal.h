/* The steps of an output file, for outputs that are made of several (output-set.c). */
#ifndef ONNXL_CLI_OUTPUT_FILE_INTERNAL_H
#define ONNXL_CLI_OUTPUT_FILE_INTERNAL_H

#include "cli/output-file.h"

/* Flushes what is buffered, sets owner and mode and syncs, so that nothing is left to do but to name the file. */
bool onnxl_output_file_finish(OnnxlOutputFile *file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Gives a file that has no name yet a temporary one. */
bool onnxl_output_file_name(OnnxlOutputFile *file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Syncs the folder of path. */
bool onnxl_output_sync_folder(const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
