/* How a value differs from the one that it is compared with, for --compare and --expect. */
#ifndef ONNXL_EXEC_DIFFERENCE_H
#define ONNXL_EXEC_DIFFERENCE_H

#include "runtime/compare.h"
#include "support/json.h"

typedef struct Difference {
  char *message; /* the first difference; NULL: equal within the tolerance */
  OnnxlTolerance tolerance;
  bool has_numbers; /* numbers is filled in: two tensors of numbers of one shape */
  OnnxlDifference numbers;
  uint32_t rank; /* of the tensors */
  int64_t *dims;
} Difference;

/* The tolerance is that of --rtol and --atol, where they are missing that of the element type. Returns: owned. */
Difference *difference_new(const OnnxlValue *got, const OnnxlValue *want);
void difference_free(Difference *difference);

/* "[0,3]", the place of element i. Returns: owned. */
char *difference_place(const Difference *difference, int64_t i);

/* "1 of 2 elements are beyond rtol 0.001 and atol 1e-07; the largest absolute difference is 1 at [0], …". Returns:
 * owned; NULL without numbers. */
char *difference_extent(const Difference *difference);
/* "min 0, max 1, mean 0.5" and, where there are some, "2 NaN, 1 infinite". Returns: owned. */
char *difference_statistics(const OnnxlStatistics *statistics);

/* The keys of an open object. got, want: keys of the statistics. */
void difference_json_fields(OnnxlJson *json, const Difference *difference, const char *got, const char *want);

#endif
