/* "Did you mean …?" */
#ifndef ONNXL_SUPPORT_NEAREST_H
#define ONNXL_SUPPORT_NEAREST_H

#include "support/str.h"

/* The candidate that text is most likely a misspelling of, the first of equally near ones; NULL when none is near. A
 * candidate may be NULL, it is skipped. */
const char *onnxl_nearest(OnnxlStr text, const char *const *candidates, size_t count);

#endif
