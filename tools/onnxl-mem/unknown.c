/* Why the bytes of some values are not known before the run. */
#include "memory/unknown.h"

#include "report.h"
#include "support/escape.h"

/* Where values whose bytes are not known are written to. */
typedef struct Unknown {
  OnnxlArena *arena;
  OnnxlOutput *out; /* as text */
  OnnxlJson *json;
} Unknown;

/* The path of the graph that it lies in, "" for the main graph. */
static const char *
graph_of(const Unknown *unknown, const OnnxlUnknownValue *value)
{
  uint32_t graph = value->inference->index->values[value->value].graph;
  const char *path = onnxl_inference_graph_path(value->inference, graph, unknown->arena);

  return path && strcmp(path, "/") != 0 ? path : "";
}

static void
text_unknown(void *data, const OnnxlUnknownValue *value)
{
  const Unknown *unknown = data;
  const char *path = graph_of(unknown, value);
  OnnxlExpr upper = onnxl_memory_upper(value->inference, value->bytes, NULL, NULL);

  if (value->bytes)
    onnxl_output_escaped(unknown->out, onnxl_expr_text(value->inference->pool, value->bytes));
  else
    onnxl_output_char(unknown->out, '?');
  onnxl_output_text(unknown->out, ": the bytes of '");
  onnxl_output_escaped(unknown->out, value->inference->index->values[value->value].name);
  onnxl_output_text(unknown->out, path[0] ? "' in " : "'");
  onnxl_output_escaped(unknown->out, onnxl_str(path));
  if (upper && upper != value->bytes) {
    onnxl_output_text(unknown->out, ", at most ");
    onnxl_output_escaped(unknown->out, onnxl_expr_text(value->inference->pool, upper));
  }
  onnxl_output_text(unknown->out, ", ");
  onnxl_output_printf(unknown->out, "%s\n", onnxl_unknown_text(value->reason));
}

static void
json_unknown(void *data, const OnnxlUnknownValue *value)
{
  const Unknown *unknown = data;
  OnnxlJson *json = unknown->json;
  OnnxlExpr upper = onnxl_memory_upper(value->inference, value->bytes, NULL, NULL);

  onnxl_json_begin_object(json);
  onnxl_json_key(json, "value");
  onnxl_json_string(json, value->inference->index->values[value->value].name);
  onnxl_json_key(json, "graph");
  onnxl_json_string(json, onnxl_str(graph_of(unknown, value)));
  onnxl_json_key(json, "node");
  if (value->main_node == ONNXL_NONE)
    onnxl_json_null(json);
  else
    onnxl_json_int64(json, value->main_node);
  onnxl_json_key(json, "reason");
  onnxl_json_text(json, onnxl_unknown_name(value->reason));
  onnxl_json_key(json, "bytes");
  onnxl_mem_json_expr(json, value->inference->pool, value->bytes);
  onnxl_json_key(json, "bound");
  onnxl_mem_json_expr(json, value->inference->pool, upper == value->bytes ? NULL : upper);
  onnxl_json_end_object(json);
}

void
onnxl_mem_unknown_text(const OnnxlMemory *memory, OnnxlOutput *out)
{
  onnxl_memory_unknown(memory, text_unknown, &(Unknown){ .arena = memory->inference->model->arena, .out = out });
}

void
onnxl_mem_unknown_json(const OnnxlMemory *memory, OnnxlJson *json)
{
  onnxl_json_begin_array(json);
  onnxl_memory_unknown(memory, json_unknown, &(Unknown){ .arena = memory->inference->model->arena, .json = json });
  onnxl_json_end_array(json);
}
