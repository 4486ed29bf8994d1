/* Turns of runs that put several files into one folder. */
#ifndef ONNXL_CLI_FOLDER_LOCK_INTERNAL_H
#define ONNXL_CLI_FOLDER_LOCK_INTERNAL_H

#include <glib.h>
#include <stdbool.h>

#include "cli/output-set.h"

/* Locks the folder of path by flock(), waiting for up to a minute; waiting (or NULL) is called with data once after a
 * second. There is nothing to lock where folders cannot be, and where a descriptor that this process inherited holds
 * the lock: then whoever started it sees to it that it is alone. Returns: false with ONNXL_ERROR_IO; else *ret_lock is
 * to be closed, or -1. */
bool onnxl_folder_lock(const char *path, OnnxlWaiting *waiting, void *data, int *ret_lock,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
