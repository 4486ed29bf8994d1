/* Values whose bytes are not known before the run, and why. */
#ifndef ONNXL_MEMORY_UNKNOWN_H
#define ONNXL_MEMORY_UNKNOWN_H

#include "memory/profile.h"

typedef enum OnnxlUnknown {
  ONNXL_UNKNOWN_TYPE,     /* an operator without a rule for its shapes, or a declaration without a type */
  ONNXL_UNKNOWN_RANK,     /* a tensor of any rank */
  ONNXL_UNKNOWN_DIMS,     /* some dims are not known, not even by a symbol */
  ONNXL_UNKNOWN_TEXTS,    /* their lengths are those of a run */
  ONNXL_UNKNOWN_ELEMENTS, /* of a sequence or optional: number or shapes */
  ONNXL_UNKNOWN_ENTRIES,  /* of a map or sparse tensor: their number */
  ONNXL_N_UNKNOWN,
} OnnxlUnknown;

/* "texts". */
const char *onnxl_unknown_name(OnnxlUnknown reason);
/* "the lengths of its texts are those of a run". */
const char *onnxl_unknown_text(OnnxlUnknown reason);

typedef struct OnnxlUnknownValue {
  const OnnxlInference *inference; /* of the main graph, or of the body of a called function */
  uint32_t value;
  uint32_t main_node; /* node of the main graph that makes it, or inside which it lies; ONNXL_NONE for an input */
  OnnxlUnknown reason;
  OnnxlExpr bytes; /* the symbol that stands for them; NULL: what they are part of is unknown, too */
} OnnxlUnknownValue;

/* Calls found for each such value in the order of the index: those of the main graph, then those of its nested graphs,
 * then of the bodies of functions in the order of their calls. Linear in the analysis. */
typedef void (*OnnxlUnknownFunction)(void *data, const OnnxlUnknownValue *value);
void onnxl_memory_unknown(const OnnxlMemory *memory, OnnxlUnknownFunction found, void *data);

#endif
