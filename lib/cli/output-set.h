/* A main file and its companions, as a model and its data files, that appear together.
 *
 * Two files cannot be renamed at once. Still, at every moment, also after SIGKILL or a power failure, the main file is
 * absent, or the old one with its old companions, or the new one with its new companions. Where the main file and a
 * companion both exist already, that takes an intermediate step: the main file is first replaced by one that names the
 * new companion by an interim name ("NAME.new"), then the companion gets its own name besides, then the main file is
 * replaced by one with that name. What a run that was killed may leave behind is a file too many: NAME.new, or one
 * called .onnxl-DIGITS. (On file systems without hard links the step is missing, and the old main file is set aside
 * instead: killed at the wrong moment, there is none, and the old files are called .onnxl-DIGITS.)
 *
 * Existing files are replaced, never written to: other names of them keep the old bytes. When a run fails, they are put
 * back. Sets that go to one folder at the same time take turns (flock() on the folder): what is left is all of the last
 * one's. A lock that the process inherited is taken for its own. */
#ifndef ONNXL_CLI_OUTPUT_SET_H
#define ONNXL_CLI_OUTPUT_SET_H

#include "cli/output-file.h"

typedef struct OnnxlOutputSet OnnxlOutputSet;

/* path and flags: of the main file, as for onnxl_output_file_open(); a symbolic link is replaced. A main file that is
 * written in place, such as standard output, is written before its companions get their names. Returns: owned. */
OnnxlOutputSet *onnxl_output_set_new(const char *path, int flags, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Drops what is not committed. */
void onnxl_output_set_free(OnnxlOutputSet *set);

/* Adds a companion, a regular file. Returns: its descriptor, open for reading and writing, borrowed; -1 with error. */
int onnxl_output_set_add(OnnxlOutputSet *set, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Has waiting called once with data when a commit waits for another process that has locked folder. */
typedef void OnnxlWaiting(void *data, const char *folder);
void onnxl_output_set_on_wait(OnnxlOutputSet *set, OnnxlWaiting *waiting, void *data);

/* Writes the main file, in which the companions are at paths (in the order of adding; in their own folders, but perhaps
 * under interim names). It may be called twice. */
typedef bool (*OnnxlWriteMain)(void *data, const char *const *paths, OnnxlOutput *out, GError **error);

/* Syncs everything and puts all files in their places. */
bool onnxl_output_set_commit(OnnxlOutputSet *set, OnnxlWriteMain write_main, void *data,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
