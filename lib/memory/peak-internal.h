/* The largest of many amounts, as one expression. */
#ifndef ONNXL_MEMORY_PEAK_INTERNAL_H
#define ONNXL_MEMORY_PEAK_INTERNAL_H

#include "expr/expr.h"

/* Amounts that can be the largest for some assignment: one that another is never below is dropped. */
typedef struct OnnxlPeak {
  OnnxlExprPool *pool;
  OnnxlArena *arena;
  OnnxlExpr *items;
  size_t count;
  size_t capacity;
  bool unknown;        /* an amount that is not known was among them */
  OnnxlExpr seen[256]; /* by hash: amounts that were added lately, which need not be compared again */
} OnnxlPeak;

/* Returns false with ONNXL_ERROR_LIMIT. */
bool onnxl_peak_add(OnnxlPeak *peak, OnnxlExpr amount, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* 0 when nothing was added, NULL when it is not known. */
OnnxlExpr onnxl_peak_get(const OnnxlPeak *peak);

#endif
