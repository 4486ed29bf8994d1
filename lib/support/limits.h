/* What a run may use. One struct is filled from the command line and handed down. */
#ifndef ONNXL_SUPPORT_LIMITS_H
#define ONNXL_SUPPORT_LIMITS_H

#include <glib.h>

#include "support/str.h"

typedef struct OnnxlLimits {
  uint64_t max_memory;   /* bytes of tensors at one time */
  uint64_t max_metadata; /* bytes of model metadata; 0 = onnxl_limits_metadata() decides by the input */
  uint32_t max_depth;    /* messages nested below ModelProto */
} OnnxlLimits;

/* The default budget for metadata: this many bytes, or this many times the input without payloads if that is more. */
#define ONNXL_METADATA_MIN ((uint64_t)256 << 20)
#define ONNXL_METADATA_FACTOR 16

/* max_memory from onnxl_limits_memory(), max_metadata 0, max_depth 200. */
OnnxlLimits onnxl_limits_default(void);

/* The smallest of RLIMIT_AS, the cgroup's memory.max and 75 % of MemAvailable, in bytes. */
uint64_t onnxl_limits_memory(void);

/* The budget for metadata: max_metadata if set, else max(256 MiB, 16 * bytes of input without payloads). */
uint64_t onnxl_limits_metadata(const OnnxlLimits *limits, uint64_t input_bytes);

/* Parses "4096", "4K", "4M", "4G" (powers of 1024, either case). False: not such a text, or above UINT64_MAX. */
bool onnxl_parse_size(const char *text, uint64_t *ret_size) G_GNUC_WARN_UNUSED_RESULT;

#endif
