#ifndef ONNXL_MEMORY_POSSIBLE_INTERNAL_H
#define ONNXL_MEMORY_POSSIBLE_INTERNAL_H

#include "memory/profile.h"

/* Fills in the doubts, which come after the calls. False: the arena is exhausted. */
bool onnxl_possible_find(OnnxlMemory *memory, OnnxlArena *arena);

#endif
