/* Multidirectional broadcasting (ONNX, "Broadcasting in ONNX"): shapes are aligned at the right, missing dims count as
 * 1, and two dims fit when they are equal or one of them is 1. Everything that broadcasts uses these functions. */
#ifndef ONNXL_SHAPES_BROADCAST_H
#define ONNXL_SHAPES_BROADCAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of dims a and b together. Returns false when they do not fit. */
bool onnxl_broadcast_dim(int64_t a, int64_t b, int64_t *ret_dim);

/* Broadcasts dims (rank items, aligned at the right) into result (result_rank >= rank items, preset, to 1 at first).
 * Returns false when they do not fit. */
bool onnxl_broadcast_dims(int64_t *result, size_t result_rank, const int64_t *dims, size_t rank);

/* Strides in elements with which a dense row-major tensor of dims is read under a broadcast shape of result_rank dims:
 * 0 where its dim is 1 or missing. */
void onnxl_broadcast_strides(const int64_t *dims, size_t rank, int64_t *ret_strides, size_t result_rank);

#endif
