/* Models for unit tests, written as text in the test. */
#ifndef ONNXL_TESTS_MODEL_TEXT_H
#define ONNXL_TESTS_MODEL_TEXT_H

#include "proto/text.h"
#include "unit.h"

typedef struct TextModel {
  OnnxlModel *model;
  OnnxlDiagSink *sink;
  GError *error;
} TextModel;

/* Reads a text that must be without errors. text must outlive the model. */
static inline TextModel
text_model(const char *text)
{
  TextModel t = { onnxl_model_new(SIZE_MAX), onnxl_diag_sink_new("test"), NULL };

  CU_ASSERT_TRUE_FATAL(onnxl_text_read(onnxl_str(text), 200, t.model, t.sink, &t.error));
  return t;
}

static inline void
text_model_clear(TextModel *t)
{
  onnxl_model_free(t->model);
  onnxl_diag_sink_free(t->sink);
  g_clear_error(&t->error);
}

/* Expects that the findings are just these ids, in order. */
static inline void
check_findings(const TextModel *t, const OnnxlDiagId *ids, size_t n)
{
  CU_ASSERT_EQUAL(onnxl_diag_count(t->sink), n);
  for (size_t i = 0; i < n && i < onnxl_diag_count(t->sink); i++)
    CU_ASSERT_EQUAL(onnxl_diag_get(t->sink, i)->id, ids[i]);
}
#define CHECK_FINDINGS(t, ...)                                                                                         \
  check_findings((t), (const OnnxlDiagId[]){ __VA_ARGS__ }, G_N_ELEMENTS(((const OnnxlDiagId[]){ __VA_ARGS__ })))

#endif
