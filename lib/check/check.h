/* Verifies models: everything that the ONNX standard asks for and that can be seen without inferring shapes or running.
 */
#ifndef ONNXL_CHECK_CHECK_H
#define ONNXL_CHECK_CHECK_H

#include "stream/external.h"

/* Holds the model to all rules and reports every breach to sink. files: opens the model's external data. budget: bytes
 * of working memory. Returns false with ONNXL_ERROR_INVALID after findings of severity error; ONNXL_ERROR_LIMIT when
 * the budget does not do. */
bool onnxl_check_model(OnnxlModel *model, OnnxlExternalFiles *files, size_t budget, OnnxlDiagSink *sink,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets ret_ids[id] for each finding that a rule may report. */
void onnxl_check_ids(bool ret_ids[ONNXL_N_DIAGS]);

#endif
