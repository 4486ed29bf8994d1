/* What --with-shapes and --with-memory put behind the nodes of the listing. */
#ifndef ONNXL_DIS_COLUMNS_H
#define ONNXL_DIS_COLUMNS_H

#include "memory/profile.h"

typedef struct Columns {
  OnnxlInference *inference;
  const OnnxlMemory *memory;
  bool shapes;
} Columns;

/* Infers the model, and profiles its memory when asked. Returns false after findings or with an error. */
bool columns_open(Columns *columns, const OnnxlModel *model, bool shapes, bool memory, OnnxlDiagSink *sink,
                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
void columns_close(Columns *columns);

/* An OnnxlPrettySuffix: "  # float[N,4]; total 32*N+64" for a node of the main graph. */
void columns_write(void *data, const OnnxlFunction *function, size_t node, OnnxlOutput *out);

#endif
