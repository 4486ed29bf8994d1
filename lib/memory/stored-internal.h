/* The notes that a plan leaves in the nodes' metadata. */
#ifndef ONNXL_MEMORY_STORED_INTERNAL_H
#define ONNXL_MEMORY_STORED_INTERNAL_H

#include "proto/model.h"

/* The value of onnxl.inplace, empty without one. */
OnnxlStr onnxl_stored_inplace(const OnnxlNode *node);

/* Takes the next "OUTPUT:INPUT" (positions) and the ';' behind it off *rest. False: there is something else. */
bool onnxl_stored_pair(OnnxlStr *rest, uint32_t *ret_output, uint32_t *ret_input);

#endif
