/* The one way to open an input: a regular file is mapped, anything else (pipe, terminal) is spooled with a limit into
 * an unlinked temporary file and mapped from there. */
#ifndef ONNXL_SUPPORT_FILE_H
#define ONNXL_SUPPORT_FILE_H

#include <glib.h>
#include <sys/stat.h>

#include "support/str.h"

typedef struct OnnxlFile {
  char *name;       /* as given, or "<stdin>" */
  char *path;       /* NULL for standard input */
  int fd;           /* open for reading; of the spool file for a pipe */
  const char *data; /* mapped, read-only; NULL when size is 0 */
  uint64_t size;    /* bytes */
  bool spooled;     /* fd is a temporary file, not what the user named */
  struct stat stat; /* of fd when it was opened */
} OnnxlFile;

/* path NULL or "-" = standard input. Directories, devices and sockets are refused (a FIFO, a
 * terminal and /dev/null are read; standard input may also be a socket). max_spool: bytes
 * a pipe may deliver. Returns: owned, free with onnxl_file_free(); NULL with error. */
OnnxlFile *onnxl_file_open(const char *path, uint64_t max_spool, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_file_free(OnnxlFile *file);

/* True when the bytes lie in this file's mapping; then *ret_offset is their place in it. */
bool onnxl_file_locate(const OnnxlFile *file, OnnxlStr bytes, uint64_t *ret_offset);

/* True when both paths name the same entry of the same folder, whether there is such a file or not. Other names of one
 * file (hard links), and symbolic links to it, are other entries; two spellings of one name, where upper and lower case
 * are the same, are not. */
bool onnxl_path_same_entry(const char *a, const char *b);

/* True when both paths lead to one file that exists, through whatever links, symbolic or hard. */
bool onnxl_path_same_file(const char *a, const char *b);

/* Where the symbolic link at path leads to, one step. Returns: owned; NULL when it is no link. */
char *onnxl_path_follow(const char *path);

/* Links that are followed one after the other, as in the kernel. */
enum { ONNXL_MAX_LINKS = 40 };

#endif
