/* What lies in memory when a run needs more than it may have. */
#ifndef ONNXL_RUNTIME_LIVE_SET_INTERNAL_H
#define ONNXL_RUNTIME_LIVE_SET_INTERNAL_H

#include "runtime/context-internal.h"

/* Appends the largest live values, of frame and of those around it, to *error if it says that buffers or bytes ran out.
 * Does so once a run. */
void onnxl_live_set_explain(OnnxlExecutor *executor, const OnnxlFrame *frame, GError **error);

#endif
