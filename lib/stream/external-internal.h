#ifndef ONNXL_STREAM_EXTERNAL_INTERNAL_H
#define ONNXL_STREAM_EXTERNAL_INTERNAL_H

#include "stream/external.h"

/* onnxl_external_range() with the finding that a length which is too large makes. */
bool onnxl_external_range_as(OnnxlExternalFiles *files, const OnnxlTensor *tensor, const char *path,
                             OnnxlDiagId too_long, OnnxlDiagSink *sink, OnnxlExternalRange *ret_range,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
