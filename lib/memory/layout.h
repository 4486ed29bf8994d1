/* Where each buffer of a profile lies in one block of memory: offsets by best fit over the time that buffers are live.
 *
 * Buffers are what nodes of the main graph make: their outputs (one that takes over a buffer shares it), and the
 * scratch of bodies. Inputs, initializers and constants have memory of their own. Symbolic sizes can share space where
 * they are multiples of each other for every assignment; each such family has a part of the block to itself. */
#ifndef ONNXL_MEMORY_LAYOUT_H
#define ONNXL_MEMORY_LAYOUT_H

#include "memory/profile.h"

typedef struct OnnxlLayoutBuffer {
  uint32_t value;       /* the first that lives in it; ONNXL_NONE: scratch of node first */
  uint32_t first, last; /* nodes between which it is live, both included */
  OnnxlExpr bytes;
  OnnxlExpr offset; /* in bytes; not aligned beyond what the sizes bring */
} OnnxlLayoutBuffer;

typedef struct OnnxlLayout {
  const OnnxlLayoutBuffer *buffers; /* by first node */
  uint32_t n_buffers;
  const uint32_t *places; /* by value id: the buffer, or ONNXL_NONE */
  uint32_t n_unknown;     /* buffers without a place because their sizes are not known */
  OnnxlExpr size;         /* of the block */
  OnnxlExpr lower_bound;  /* the most bytes of buffers that are live at one node: no layout can be smaller */
} OnnxlLayout;

/* Lays out the buffers of a profile. lookup: values for symbols, or NULL; sizes whose symbols all have one are numbers.
 * Returns: in the arena; NULL with ONNXL_ERROR_LIMIT. */
const OnnxlLayout *onnxl_layout_new(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, OnnxlArena *arena,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
