/* The bytes of one value: what a run counts for it. */
#ifndef ONNXL_MEMORY_BYTES_INTERNAL_H
#define ONNXL_MEMORY_BYTES_INTERNAL_H

#include "shapes/infer.h"

/* By value id, of the values before the one that is asked for. */
typedef struct OnnxlKnownBytes {
  const OnnxlExpr *bytes; /* NULL items: not known */
  const bool *handed;     /* bytes are 0, because the node around the graph counts them */
} OnnxlKnownBytes;

/* Returns NULL when it is not known:
 *   a tensor     its elements, packed below 8 bits; one that only changes the dims of another has the bytes of that one
 *   strings      the lengths of the texts that are stored: initializers, constants, and what moves or joins them
 *   a sequence   the bytes of its elements, where inference knows their number and shapes, or of what it is made of
 *   an optional  those of what it holds */
OnnxlExpr onnxl_bytes_of_value(const OnnxlInference *inference, uint32_t value, const OnnxlKnownBytes *known);

/* An upper bound for an output of a node whose bytes are not known: texts that are a part of others or that the
 * operator's attributes list, elements of a sequence, the larger branch of an If. NULL: there is none. */
OnnxlExpr onnxl_most_bytes_of_value(const OnnxlInference *inference, uint32_t value, const OnnxlKnownBytes *known);

#endif
