/* Random numbers that depend on a key and a counter only: number i of a stream can be had without the ones before it,
 * and is the same on every machine. The function is splitmix64's (Steele, Lea and Flood, "Fast splittable pseudorandom
 * number generators", 2014): a Weyl sequence over the counter and a mix of its bits. */
#ifndef ONNXL_RUNTIME_RANDOM_H
#define ONNXL_RUNTIME_RANDOM_H

#include <stdint.h>

/* A stream and the place in it. */
typedef struct OnnxlRandom {
  uint64_t key;
  uint64_t counter;
} OnnxlRandom;

/* The 64 random bits at a place of a stream. */
static inline uint64_t
onnxl_random_at(uint64_t key, uint64_t counter)
{
  uint64_t z = key + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline uint64_t
onnxl_random_next(OnnxlRandom *random)
{
  return onnxl_random_at(random->key, random->counter++);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double
onnxl_random_unit(OnnxlRandom *random)
{
  return (double)(onnxl_random_next(random) >> 11) * 0x1p-53;
}

#endif
