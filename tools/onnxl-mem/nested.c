/* --nested: the peaks of all graphs. */
#include "cli/table.h"
#include "report.h"
#include "support/error.h"

typedef struct Nested {
  OnnxlArena *arena;
  OnnxlTable *table;
  OnnxlReportFormat format;
} Nested;

/* A graph, then what is nested in its nodes; as deep as the analysis went, which has a limit. */
static void
put_graph(const Nested *nested, const OnnxlMemory *memory, uint32_t graph)
{
  const OnnxlInference *inference = memory->inference;
  const OnnxlIndexGraph *g = &inference->index->graphs[graph];
  const OnnxlGraphPeak *peak = &memory->graphs[graph];
  const OnnxlNode *node = peak->node == ONNXL_NONE ? NULL : inference->index->nodes[g->first_node + peak->node].proto;

  onnxl_table_text(nested->table, onnxl_str(onnxl_inference_graph_path(inference, graph, nested->arena)));
  onnxl_table_int64(nested->table, g->n_nodes);
  onnxl_mem_table_amount(nested->table, inference, peak->bytes, nested->format);
  if (node)
    onnxl_table_int64(nested->table, peak->node);
  else
    onnxl_table_none(nested->table);
  onnxl_table_text(nested->table, node ? node->op_type : ONNXL_STR(""));
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const OnnxlIndexNode *inner = &inference->index->nodes[g->first_node + i];
    for (uint32_t k = 0; k < inner->n_subgraphs; k++)
      put_graph(nested, memory, inner->first_subgraph + k);
    const OnnxlMemory *call = onnxl_memory_call(memory, g->first_node + i);
    if (call)
      put_graph(nested, call, 0);
  }
}

bool
onnxl_mem_report_nested(const OnnxlMemory *memory, OnnxlReportFormat format, OnnxlOutput *out, GError **error)
{
  static const OnnxlColumn columns[] = {
    { "graph", false }, { "nodes", true }, { "peak", false }, { "node", true }, { "op", false },
  };
  static const OnnxlColumn json_columns[] = {
    { "graph", false }, { "nodes", true }, { "peak", false }, { "bound", false }, { "node", true }, { "op", false },
  };
  OnnxlTable *table = format == ONNXL_FORMAT_JSON ? onnxl_table_new(json_columns, G_N_ELEMENTS(json_columns))
                                                  : onnxl_table_new(columns, G_N_ELEMENTS(columns));
  const Nested nested = { memory->inference->model->arena, table, format };

  put_graph(&nested, memory, 0);
  bool done = !onnxl_arena_exhausted(nested.arena);
  if (done)
    onnxl_table_write(nested.table, format, out);
  onnxl_table_free(nested.table);
  return done ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "the report needs more than the limit of %zu bytes (--max-metadata)",
                    onnxl_arena_budget(nested.arena));
}
