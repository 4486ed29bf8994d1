/* The target of Reshape as numbers. Shape inference and the kernel both use this, so they cannot disagree; what holds
 * of symbols is in reshape.c. */
#ifndef ONNXL_SHAPES_RESHAPE_H
#define ONNXL_SHAPES_RESHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The dims (n of them) that a tensor of dims becomes. An entry of target is a size; 0, which copies the dim at its
 * place unless allow_zero is set; or once -1, which is what is left. Returns false when the counts of elements differ,
 * nothing can be left beside a size of 0, or an entry means nothing. */
bool onnxl_reshape_dims(const int64_t *dims, size_t rank, const int64_t *target, size_t n, bool allow_zero,
                        int64_t *ret_dims) __attribute__((warn_unused_result));

#endif
