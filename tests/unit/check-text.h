/* Verifying models that are written as text in the test. */
#ifndef ONNXL_TESTS_CHECK_TEXT_H
#define ONNXL_TESTS_CHECK_TEXT_H

#include "check/check.h"
#include "model-text.h"
#include "support/error.h"

/* Verifies t and drops what the text reader found. Returns what onnxl_check_model() does. */
static inline bool
check_model(TextModel *t)
{
  OnnxlExternalFiles *files = onnxl_external_files_new("/nonexistent", false);

  onnxl_diag_sink_free(t->sink);
  t->sink = onnxl_diag_sink_new("test");
  bool ok = onnxl_check_model(t->model, files, SIZE_MAX, t->sink, &t->error);
  onnxl_external_files_free(files);
  return ok;
}

/* One finding is expected, with message in its text and at path (NULL: any). */
static inline void
expect_finding(TextModel *t, OnnxlDiagId id, const char *message, const char *path)
{
  bool ok = check_model(t);
  const OnnxlDiag *diag = onnxl_diag_count(t->sink) > 0 ? onnxl_diag_get(t->sink, 0) : NULL;

  CU_ASSERT_EQUAL(ok, onnxl_diag_id_severity(id) != ONNXL_SEVERITY_ERROR);
  CU_ASSERT_EQUAL(g_error_matches(t->error, ONNXL_ERROR, ONNXL_ERROR_INVALID), !ok);
  CHECK_FINDINGS(t, id);
  if (diag && !strstr(diag->message, message)) {
    CU_FAIL("message");
    printf("\n'%s' is not in '%s'\n", message, diag->message);
  }
  if (diag && path && g_strcmp0(diag->location.path, path) != 0) {
    CU_FAIL("path");
    printf("\nthe path is '%s', not '%s'\n", diag->location.path, path);
  }
}

/* A row of a table: a model, the only thing that is wrong with it, part of the message, the path. */
typedef struct BadModel {
  const char *text;
  OnnxlDiagId id;
  const char *message;
  const char *path;
} BadModel;

static inline void
check_bad_models(const BadModel *rows, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    TextModel t = text_model(rows[i].text);
    expect_finding(&t, rows[i].id, rows[i].message, rows[i].path);
    if (onnxl_diag_count(t.sink) != 1) {
      printf("\n%s\n", rows[i].text);
      for (size_t j = 0; j < onnxl_diag_count(t.sink); j++)
        printf("  %s: %s\n", onnxl_diag_get(t.sink, j)->location.path, onnxl_diag_get(t.sink, j)->message);
    }
    text_model_clear(&t);
  }
}

/* Nothing is wrong. */
static inline void
check_good_model(const char *text)
{
  TextModel t = text_model(text);

  CU_ASSERT_TRUE(check_model(&t));
  CU_ASSERT_EQUAL(onnxl_diag_count(t.sink), 0);
  for (size_t j = 0; j < onnxl_diag_count(t.sink); j++)
    printf("\n%s\n  %s\n", text, onnxl_diag_get(t.sink, j)->message);
  text_model_clear(&t);
}

#endif
