/* The tracked allocator of a run: every byte sized by a tensor goes through it, is counted and limited. */
#ifndef ONNXL_RUNTIME_ALLOCATOR_H
#define ONNXL_RUNTIME_ALLOCATOR_H

#include <glib.h>

#include "support/arena.h"

/* A large buffer that nobody uses, kept for the next one. */
typedef struct OnnxlKeptBuffer {
  void *pages;
  uint64_t size; /* whole pages */
} OnnxlKeptBuffer;

/* Large buffers are pages of their own and are kept when they are put back, as long as used and kept ones are not more
 * than were used at one time: so the next run or layer finds pages that are there, and the process never holds more
 * than its peak. */
typedef struct OnnxlAllocator {
  uint64_t limit;           /* bytes that may be live at one time */
  uint64_t live;            /* bytes of tensors and workspace that are live */
  uint64_t peak;            /* the largest live so far */
  uint64_t workspace;       /* live bytes of kernels' scratch buffers, part of live */
  uint64_t workspace_peak;  /* the largest workspace since onnxl_allocator_reset_peaks() */
  uint64_t recent_peak;     /* the largest live since then */
  OnnxlKeptBuffer kept[16]; /* oldest first */
  uint32_t n_kept;
  uint64_t kept_bytes;
  uint64_t used_bytes; /* of large buffers */
  uint64_t used_peak;
  bool refused;        /* a request was above the limit */
  OnnxlArena *strings; /* holds the texts of string tensors until the allocator is freed, so that copies are free */
} OnnxlAllocator;

/* limit: bytes. Returns: owned; it must outlive every buffer and value made with it. */
OnnxlAllocator *onnxl_allocator_new(uint64_t limit);
void onnxl_allocator_free(OnnxlAllocator *allocator);

/* Gives the memory that nobody uses back to the system. */
void onnxl_allocator_trim(OnnxlAllocator *allocator);

/* size bytes aligned to ONNXL_BUFFER_ALIGNMENT, not cleared. what: names the buffer in the message. Returns: owned,
 * give it back with onnxl_allocator_put() and the same size; NULL with ONNXL_ERROR_LIMIT. */
void *onnxl_allocator_get(OnnxlAllocator *allocator, uint64_t size, const char *what,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_allocator_put(OnnxlAllocator *allocator, void *buffer, uint64_t size);

/* As get and put, counted as workspace. */
void *onnxl_allocator_get_workspace(OnnxlAllocator *allocator, uint64_t size, const char *what,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_allocator_put_workspace(OnnxlAllocator *allocator, void *buffer, uint64_t size);
void onnxl_allocator_reset_peaks(OnnxlAllocator *allocator);

/* A copy of text that lives as long as the allocator. Returns false with ONNXL_ERROR_LIMIT. */
bool onnxl_allocator_text(OnnxlAllocator *allocator, OnnxlStr text, OnnxlStr *ret_copy,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
