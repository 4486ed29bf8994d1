/* --check-shapes: the shape of every value against what inference said before the run. */
#include "exec.h"
#include "runtime/sizes.h"
#include "shapes/infer.h"
#include "support/error.h"
#include "support/map.h"

typedef struct ShapeCheck {
  Observer observer;
  OnnxlRun *run;
  OnnxlArena *arena;
  OnnxlInference *inference;
  OnnxlMap values;   /* value ids of the main graph by name */
  OnnxlSizes *sizes; /* of the inputs' symbols */
  uint32_t checked, differing;
} ShapeCheck;

static bool
check_value(ShapeCheck *check, const OnnxlEvent *event, GError **error)
{
  if (event->action != ONNXL_EVENT_ADD || event->value->kind != ONNXL_KIND_TENSOR)
    return true;
  uint32_t v = onnxl_map_get(&check->values, event->name);
  const OnnxlInfo *info = v == ONNXL_MAP_NONE ? NULL : &check->inference->values[v];
  if (!info || info->kind != ONNXL_KIND_TENSOR || !info->has_rank)
    return true;
  if (event->kind == ONNXL_EVENT_INPUT && !onnxl_sizes_bind(check->sizes, info, event->value))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  bool same = info->rank == event->value->rank;
  for (uint32_t i = 0; same && i < info->rank; i++) {
    int64_t size;
    if (info->dims[i] && onnxl_expr_evaluate(info->dims[i], onnxl_sizes_lookup, check->sizes, &size, NULL))
      same = size == event->value->dims[i];
  }
  check->checked++;
  if (same)
    return true;
  OnnxlOutput text;
  g_autofree char *dims = onnxl_dims_text(event->value->dims, event->value->rank);
  onnxl_output_init(&text, -1);
  onnxl_info_print(&text, info, NULL);
  OnnxlStr inferred = onnxl_output_memory(&text);
  onnxl_diag(check->run->sink, ONNXL_DIAG_RUN, NULL, "the value %.*s has the shape %s when %.*s was inferred",
             ONNXL_ARG(event->name), dims, ONNXL_ARG(inferred));
  onnxl_output_clear(&text);
  check->differing++;
  return true;
}

static bool
shapes_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  return check_value((ShapeCheck *)observer, event, error);
}

static bool
shapes_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  const ShapeCheck *check = (const ShapeCheck *)observer;

  (void)out;
  (void)error;
  if (completed)
    onnxl_run_verbose(check->run, "%u shapes checked, %u differ", check->checked, check->differing);
  return true;
}

static void
shapes_free(Observer *observer)
{
  ShapeCheck *check = (ShapeCheck *)observer;

  onnxl_sizes_free(check->sizes);
  onnxl_inference_free(check->inference);
  onnxl_arena_free(check->arena);
  g_free(check);
}

bool
check_shapes_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  const OnnxlModel *model = session->model;

  if (!exec_options.check_shapes)
    return true;
  ShapeCheck *check = g_new0(ShapeCheck, 1);
  check->observer = (Observer){ .event = shapes_event, .finish = shapes_finish, .free = shapes_free };
  *ret_observer = &check->observer;
  check->run = run;
  check->arena =
    onnxl_arena_new((size_t)onnxl_limits_metadata(&run->common.limits, model->file ? model->file->size : 0));
  check->inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, check->arena, run->sink, error);
  if (!check->inference)
    return false;
  const OnnxlIndex *index = check->inference->index;
  check->values = onnxl_map_new(check->arena, index->n_values);
  check->sizes = onnxl_sizes_new();
  for (uint32_t v = 0; v < index->n_values; v++)
    if (index->values[v].graph == 0)
      onnxl_map_put(&check->values, index->values[v].name, v, NULL);
  return true;
}
