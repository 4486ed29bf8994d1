#ifndef ONNXL_ALIGN_CHECK_H
#define ONNXL_ALIGN_CHECK_H

#include "cli/main.h"
#include "stream/layout.h"

/* onnxl-align --check: looks at the external data of the model and prints the report. */
bool onnxl_align_check(OnnxlRun *run, OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlLayoutOptions *options,
                       GError **error);

#endif
