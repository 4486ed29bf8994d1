#include "columns.h"
#include "support/escape.h"

bool
columns_open(Columns *columns, const OnnxlModel *model, bool shapes, bool memory, OnnxlDiagSink *sink, GError **error)
{
  OnnxlInferOptions infer = { 0 };
  OnnxlMemoryOptions profile = { .inplace = ONNXL_INPLACE_SAFE };

  *columns = (Columns){ .inference = onnxl_infer(model, &infer, model->arena, sink, error), .shapes = shapes };
  if (!columns->inference)
    return false;
  if (memory)
    columns->memory = onnxl_memory_new(columns->inference, &profile, model->arena, error);
  return columns->memory || !memory;
}

void
columns_close(Columns *columns)
{
  onnxl_inference_free(columns->inference);
}

void
columns_write(void *data, const OnnxlFunction *function, size_t node, OnnxlOutput *out)
{
  const Columns *columns = data;
  const OnnxlInference *inference = columns->inference;
  const OnnxlIndexNode *entry = &inference->index->nodes[node]; /* the root's nodes come first */

  if (function)
    return;
  OnnxlOutput text;
  onnxl_output_init(&text, -1);
  onnxl_output_text(out, "  # ");
  for (uint32_t i = 0; i < entry->n_outputs && columns->shapes; i++) {
    uint32_t value = entry->outputs[i];
    if (i > 0)
      onnxl_output_text(&text, ", ");
    if (value == ONNXL_NONE)
      onnxl_output_char(&text, '-');
    else
      onnxl_info_print(&text, &inference->values[value], onnxl_inference_shown_dims(inference, value));
  }
  if (columns->memory) {
    onnxl_output_text(&text, columns->shapes ? "; total " : "total ");
    onnxl_expr_print(&text, columns->memory->nodes[node].total);
  }
  onnxl_output_escaped(out, onnxl_output_memory(&text));
  onnxl_output_clear(&text);
}
