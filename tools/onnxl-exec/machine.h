/* What one thread of this machine can do at most, to hold the speed of nodes against. */
#ifndef ONNXL_EXEC_MACHINE_H
#define ONNXL_EXEC_MACHINE_H

#include "runtime/allocator.h"

typedef struct Machine {
  double gflops; /* 10^9 operations on floats a second, in multiply-adds without memory */
  double gbytes; /* 10^9 bytes read and written a second, beyond the caches; 0 = there was no memory to measure it */
} Machine;

/* Measures for some milliseconds. The memory for it is within the allocator's limit. */
Machine machine_measure(OnnxlAllocator *allocator);

#endif
