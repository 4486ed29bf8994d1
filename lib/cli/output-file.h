/* An output that appears whole or not at all: written under another name in the same folder, synced, renamed. */
#ifndef ONNXL_CLI_OUTPUT_FILE_H
#define ONNXL_CLI_OUTPUT_FILE_H

#include <glib.h>
#include <sys/types.h>

#include "support/output.h"

typedef enum OnnxlOutputFlags {
  ONNXL_OUTPUT_BINARY = 1 << 0, /* not for a terminal, unless FORCE */
  ONNXL_OUTPUT_FORCE = 1 << 1,
  ONNXL_OUTPUT_NO_SYNC = 1 << 2, /* leave it to the system when the bytes reach the disk */
  ONNXL_OUTPUT_REPLACE_LINK = 1 << 3, /* put the file in the place of a symbolic link, not of what the link names */
} OnnxlOutputFlags;

typedef struct OnnxlOutputFile {
  OnnxlOutput out; /* buffered; flush it before writing to fd directly */
  int fd;          /* open for reading and writing when the target is a regular file, else for writing */
  char *name;      /* for messages: the path as given, or "standard output" */
  char *path;      /* where the file goes, symbolic links resolved; NULL when it is written in place */
  char *temporary; /* its name until then, or NULL while it has none */
  int flags;
  mode_t mode; /* of the file that is replaced, 0 when there is none */
  uid_t owner; /* of that file */
  gid_t group;
  int slot; /* among the files that a signal removes, or -1 */
} OnnxlOutputFile;

/* Opens path for writing; NULL or "-" is standard output. An existing device, FIFO or the like is written in place.
 * flags: OnnxlOutputFlags. When it fails there is nothing to abort. */
bool onnxl_output_file_open(OnnxlOutputFile *file, const char *path, int flags,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Flushes, syncs and puts the file in its place. file is done with, whatever the result; when it fails an existing file
 * is as it was. */
bool onnxl_output_file_commit(OnnxlOutputFile *file, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Drops what was written. Does nothing after a commit. */
void onnxl_output_file_abort(OnnxlOutputFile *file);

/* True for names of open descriptors, such as /dev/stdout and /proc/self/fd/3. They are no links that someone made, and
 * their folder is none to put files in. */
bool onnxl_output_is_descriptor(const char *path);

#endif
