#ifndef ONNXL_SUPPORT_STR_INTERNAL_H
#define ONNXL_SUPPORT_STR_INTERNAL_H

#include "support/str.h"

/* As onnxl_str_hash(), keyed: without knowing seed nobody can choose texts that collide. */
uint64_t onnxl_str_hash_seeded(OnnxlStr a, uint64_t seed);

#endif
