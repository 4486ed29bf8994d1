#include "machine.h"

#include <time.h>

enum {
  CHAINS = 10,      /* multiply-adds under way at one time: more than latency times units of any processor */
  TURNS = 20000,    /* of all chains: well below a millisecond */
  FLOATS = 4 << 20, /* of each of the three arrays: 16 MiB */
  TRIES = 3,        /* the best one counts, since others use the machine, too */
};

static double
seconds(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Defines a function that does TURNS * CHAINS multiply-adds on vectors. Returns: their sum, so that nothing is left
 * out. target: for which processor it is compiled, or nothing. */
#define MULTIPLY_ADDS(name, bytes, target)                   \
  target static float name(void)                             \
  {                                                          \
    typedef float Lanes __attribute__((vector_size(bytes))); \
    Lanes sums[CHAINS], total = { 0 };                       \
    for (int c = 0; c < CHAINS; c++)                         \
      sums[c] = (Lanes){ (float)c };                         \
    for (int turn = 0; turn < TURNS; turn++) {               \
      _Pragma("GCC unroll 10")                               \
      for (int c = 0; c < CHAINS; c++)                       \
        sums[c] = sums[c] * 0.999f + 0.5f;                   \
    }                                                        \
    for (int c = 0; c < CHAINS; c++)                         \
      total += sums[c];                                      \
    return total[0];                                         \
  }

/* clang-format off */
MULTIPLY_ADDS(multiply_add_4, 16, )
#ifdef __x86_64__
MULTIPLY_ADDS(multiply_add_8, 32, __attribute__((target("avx2,fma"))))
MULTIPLY_ADDS(multiply_add_16, 64, __attribute__((target("avx512f"))))
#endif
/* clang-format on */

static double
measure_gflops(void)
{
  float (*run)(void) = multiply_add_4;
  int lanes = 4;
  volatile float result;
  double best = G_MAXDOUBLE;
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) {
    run = multiply_add_16;
    lanes = 16;
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    run = multiply_add_8;
    lanes = 8;
  }
#endif
  result = run(); /* brings wide units to their speed */
  for (int i = 0; i < TRIES; i++) {
    double start = seconds();
    result = run();
    best = MIN(best, seconds() - start);
  }
  (void)result;
  return 2.0 * TURNS * CHAINS * lanes / best / 1e9;
}

static double
measure_gbytes(OnnxlAllocator *allocator)
{
  uint64_t bytes = UINT64_C(3) * FLOATS * sizeof(float);
  float *a = onnxl_allocator_get_workspace(allocator, bytes, "the measurement of memory", NULL);
  if (!a)
    return 0;
  float *b = a + FLOATS, *c = b + FLOATS;
  double best = G_MAXDOUBLE;
  memset(a, 0, (size_t)bytes);
  for (int i = 0; i < TRIES; i++) {
    double start = seconds();
    for (size_t k = 0; k < FLOATS; k++)
      a[k] = b[k] + 3 * c[k];
    best = MIN(best, seconds() - start);
    b[i] = a[FLOATS - 1]; /* keeps the tries apart */
  }
  onnxl_allocator_put_workspace(allocator, a, bytes);
  return (double)bytes / best / 1e9;
}

Machine
machine_measure(OnnxlAllocator *allocator)
{
  return (Machine){ measure_gflops(), measure_gbytes(allocator) };
}
