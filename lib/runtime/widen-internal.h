/* Around a kernel call: types are checked against the operator's row, and element types that the kernel's loops do not
 * take are converted on the way in and back on the way out. */
#ifndef ONNXL_RUNTIME_WIDEN_INTERNAL_H
#define ONNXL_RUNTIME_WIDEN_INTERNAL_H

#include "runtime/context-internal.h"

bool onnxl_run_kernel(OnnxlKernelContext *context, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
