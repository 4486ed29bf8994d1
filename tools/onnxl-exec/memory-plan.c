/* The plan of memory of a session: the one that the run obeys, and what it says beforehand of --max-memory. */
#include "exec.h"
#include "memory/stored.h"
#include "runtime/sizes.h"
#include "support/error.h"

static const OnnxlMemory *
make_plan(Session *session, const OnnxlMemoryOptions *options, OnnxlDiagSink *sink, GError **error)
{
  OnnxlArena *arena = session->model->arena;

  session->inference = onnxl_infer(session->model, &(OnnxlInferOptions){ 0 }, arena, sink, error);
  return session->inference ? onnxl_memory_new(session->inference, options, arena, error) : NULL;
}

bool
memory_plan_open(Session *session, OnnxlRun *run, GError **error)
{
  OnnxlMemoryOptions options;
  bool stored = onnxl_memory_stored(session->model, &options);

  if (exec_options.plan && exec_options.no_release)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plan releases buffers, so --no-release cannot be given with it");
  if ((stored || exec_options.plan) && !exec_options.no_release) {
    options.stored = stored;
    session->obeys_memory = true;
    session->memory = make_plan(session, &options, run->sink, error);
    return session->memory != NULL;
  }
  if (run->common.limits_memory) {
    /* A model that cannot be inferred may well run; the limit is then held when something is allocated. */
    OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
    session->memory = make_plan(session, &(OnnxlMemoryOptions){ 0 }, sink, NULL);
    onnxl_diag_sink_free(sink);
  }
  return true;
}

/* Bytes of initializers and constants that lie in the file and are not copied. */
static int64_t
mapped_bytes(const Session *session, OnnxlSizes *sizes)
{
  const OnnxlMemory *memory = session->memory;
  const OnnxlIndex *index = memory->inference->index;
  const OnnxlIndexGraph *graph = &index->graphs[0];
  int64_t sum = 0, bytes;

  for (uint32_t i = 0; i < graph->n_initializers; i++) {
    const OnnxlValue *value = session->plan->main->constants[graph->initializers[i]];
    sum += value && !value->owned ? (int64_t)onnxl_value_bytes(value) : 0;
  }
  for (uint32_t n = 0; n < graph->n_nodes; n++)
    if (onnxl_memory_is_constant(&index->nodes[n]) && index->nodes[n].n_outputs > 0 &&
        onnxl_expr_evaluate(memory->bytes[index->nodes[n].outputs[0]], onnxl_sizes_lookup, sizes, &bytes, NULL))
      sum += bytes;
  return sum;
}

/* The most bytes that are live at one time, and the node at which they are. False: they are not known before the run.
 */
static bool
planned_peak(const Session *session, OnnxlSizes *sizes, int64_t *ret_peak, uint32_t *ret_node)
{
  const OnnxlMemory *memory = session->memory;

  *ret_peak = -1;
  for (uint32_t n = 0; n < memory->n_nodes; n++) {
    int64_t total, scratch = 0;
    OnnxlExpr bodies = memory->nodes[n].outputs->amounts[ONNXL_TAG_SCRATCH];
    if (!onnxl_expr_evaluate(memory->nodes[n].total, onnxl_sizes_lookup, sizes, &total, NULL) ||
        !onnxl_expr_evaluate(bodies, onnxl_sizes_lookup, sizes, &scratch, NULL))
      return false;
    /* Bodies hold weights of their own, and only one of the branches runs. */
    if (total - scratch > *ret_peak) {
      *ret_peak = total - scratch;
      *ret_node = n;
    }
  }
  return memory->n_nodes > 0;
}

bool
memory_plan_check(const Session *session, uint64_t limit, GError **error)
{
  int64_t peak;
  uint32_t node;
  bool good = true;

  if (!session->memory)
    return true;
  OnnxlSizes *sizes = onnxl_sizes_new();
  const OnnxlInference *inference = session->memory->inference;
  for (uint32_t i = 0; good && i < onnxl_executor_n_inputs(session->executor); i++)
    if (session->inputs[i])
      good = onnxl_sizes_bind(sizes, &inference->values[inference->index->graphs[0].inputs[i]], session->inputs[i]) ||
             onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  if (good && planned_peak(session, sizes, &peak, &node)) {
    peak -= mapped_bytes(session, sizes);
    if (peak > 0 && (uint64_t)peak > limit) {
      const char *path = onnxl_index_node_path(inference->index, node, session->model->arena);
      good =
        onnxl_fail(error, ONNXL_ERROR_LIMIT,
                   "%s: the run needs %" G_GINT64_FORMAT " bytes when %" G_GUINT64_FORMAT " are allowed (--max-memory)",
                   path ? path : "a node", peak, limit);
    }
  }
  onnxl_sizes_free(sizes);
  return good;
}
