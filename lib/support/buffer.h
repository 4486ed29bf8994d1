/* The only allocation sized by a tensor's shape: checked, limited, aligned, and failing with an error, never aborting.
 */
#ifndef ONNXL_SUPPORT_BUFFER_H
#define ONNXL_SUPPORT_BUFFER_H

#include <glib.h>

#include "support/str.h"

#define ONNXL_BUFFER_ALIGNMENT 64

/* size bytes aligned to ONNXL_BUFFER_ALIGNMENT, contents undefined. limit: bytes allowed, else ONNXL_ERROR_LIMIT. what:
 * names the tensor in the message. size 0 gives a valid pointer. Returns: owned, free with onnxl_buffer_free(). */
void *onnxl_buffer_new(uint64_t size, uint64_t limit, const char *what, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_buffer_free(void *buffer);

/* size bytes, not 0, in pages of their own, which return to the system when they are unmapped: for large buffers that
 * come and go. old: pages of old_size bytes to make them of, which are taken whatever the outcome, or NULL; what they
 * held is lost. The caller has checked the limit. Returns: owned, for onnxl_buffer_unmap() with the same size; NULL
 * with ONNXL_ERROR_LIMIT. */
void *onnxl_buffer_map(void *old, uint64_t old_size, uint64_t size, const char *what,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_buffer_unmap(void *buffer, uint64_t size);

#endif
