/* --plan: where the buffers lie. */
#include "cli/table.h"
#include "report.h"
#include "support/escape.h"
#include "support/json.h"

OnnxlStr
onnxl_mem_buffer_name(const OnnxlMemory *memory, const OnnxlLayoutBuffer *buffer, char room[ONNXL_MEM_NAME_SIZE])
{
  if (buffer->value != ONNXL_NONE)
    return memory->inference->index->values[buffer->value].name;
  g_snprintf(room, ONNXL_MEM_NAME_SIZE, "scratch of node %u", buffer->first);
  return onnxl_str(room);
}

static void
report_json(const OnnxlMemory *memory, const OnnxlLayout *layout, OnnxlOutput *out)
{
  OnnxlExprPool *pool = memory->inference->pool;
  OnnxlJson json;

  onnxl_json_init(&json, out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "buffers");
  onnxl_json_begin_array(&json);
  for (uint32_t i = 0; i < layout->n_buffers; i++) {
    const OnnxlLayoutBuffer *buffer = &layout->buffers[i];
    char room[ONNXL_MEM_NAME_SIZE];
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "buffer");
    onnxl_json_string(&json, onnxl_mem_buffer_name(memory, buffer, room));
    onnxl_json_key(&json, "offset");
    onnxl_mem_json_expr(&json, pool, buffer->offset);
    onnxl_json_key(&json, "size");
    onnxl_mem_json_expr(&json, pool, buffer->bytes);
    onnxl_json_key(&json, "first");
    onnxl_json_int64(&json, buffer->first);
    onnxl_json_key(&json, "last");
    onnxl_json_int64(&json, buffer->last);
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_key(&json, "size");
  onnxl_mem_json_expr(&json, pool, layout->size);
  onnxl_json_key(&json, "lower_bound");
  onnxl_mem_json_expr(&json, pool, layout->lower_bound);
  onnxl_json_key(&json, "unknown");
  onnxl_json_int64(&json, layout->n_unknown);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

void
onnxl_mem_report_layout(const OnnxlMemory *memory, const OnnxlLayout *layout, OnnxlReportFormat format,
                        OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = {
    { "buffer", false }, { "offset", false }, { "size", false }, { "first", true }, { "last", true },
  };
  OnnxlExprPool *pool = memory->inference->pool;
  int64_t size, bound;

  if (format == ONNXL_FORMAT_JSON) {
    report_json(memory, layout, out);
    return;
  }
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  for (uint32_t i = 0; i < layout->n_buffers; i++) {
    const OnnxlLayoutBuffer *buffer = &layout->buffers[i];
    char room[ONNXL_MEM_NAME_SIZE];
    onnxl_table_text(table, onnxl_mem_buffer_name(memory, buffer, room));
    onnxl_table_text(table, onnxl_expr_text(pool, buffer->offset));
    onnxl_table_text(table, onnxl_expr_text(pool, buffer->bytes));
    onnxl_table_int64(table, buffer->first);
    onnxl_table_int64(table, buffer->last);
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  if (format != ONNXL_FORMAT_TABLE)
    return;
  onnxl_output_text(out, "size: ");
  onnxl_output_escaped(out, onnxl_expr_text(pool, layout->size));
  onnxl_output_text(out, ", lower bound: ");
  onnxl_output_escaped(out, onnxl_expr_text(pool, layout->lower_bound));
  if (onnxl_expr_is_int(layout->size, &size) && onnxl_expr_is_int(layout->lower_bound, &bound) && bound > 0)
    onnxl_output_printf(out, " (%.3f times)", (double)size / (double)bound);
  onnxl_output_char(out, '\n');
  if (layout->n_unknown > 0)
    onnxl_output_printf(out, "without a place, because their sizes are not known: %u\n", layout->n_unknown);
}
