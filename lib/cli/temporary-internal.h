/* Names of temporary files and folders, which a signal that ends the process removes. */
#ifndef ONNXL_CLI_TEMPORARY_INTERNAL_H
#define ONNXL_CLI_TEMPORARY_INTERNAL_H

#include <glib.h>
#include <stdbool.h>

/* A name in the folder of path that nobody uses. Returns: owned. */
char *onnxl_temporary_name(const char *path);

/* Makes onnxl_temporary_remove_all() remove name too. By one thread at a time. Returns: a slot, or -1 when there is
 * none to be had. */
int onnxl_temporary_remember(const char *name);

/* slot: -1 does nothing. */
void onnxl_temporary_forget(int slot);

/* Removes a file, or a folder of files; async-signal-safe. */
void onnxl_temporary_remove(const char *name);

/* Removes all that this process remembers; async-signal-safe, for handlers. */
void onnxl_temporary_remove_all(void);

#endif
