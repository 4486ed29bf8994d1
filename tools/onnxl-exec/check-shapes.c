/* --check-shapes: the shape of every value against what inference said before the run. */
#include "exec.h"
#include "runtime/value.h"
#include "shapes/infer.h"
#include "support/map.h"

typedef struct ShapeCheck {
  Observer observer;
  OnnxlRun *run;
  OnnxlArena *arena;
  OnnxlInference *inference;
  OnnxlMap values;  /* value ids of the main graph by name */
  OnnxlMap symbols; /* places in sizes */
  int64_t *sizes;
  size_t n_sizes, capacity;
  uint32_t checked, differing;
} ShapeCheck;

static bool
symbol_size(void *data, OnnxlStr name, int64_t *ret_size)
{
  const ShapeCheck *check = data;
  uint32_t place = onnxl_map_get(&check->symbols, name);
  if (place == ONNXL_MAP_NONE)
    return false;
  *ret_size = check->sizes[place];
  return true;
}

/* The dims of inputs give the symbols their sizes. */
static void
bind_dims(ShapeCheck *check, const OnnxlInfo *info, const OnnxlValue *value)
{
  for (uint32_t i = 0; i < info->rank && info->rank == value->rank; i++) {
    OnnxlStr name;
    bool added;
    if (!info->dims[i] || !onnxl_expr_is_symbol(info->dims[i], &name) ||
        !ONNXL_GROW(check->arena, &check->sizes, check->n_sizes, &check->capacity) ||
        !onnxl_map_put(&check->symbols, name, (uint32_t)check->n_sizes, &added) || !added)
      continue;
    check->sizes[check->n_sizes++] = value->dims[i];
  }
}

static void
check_value(ShapeCheck *check, const OnnxlEvent *event)
{
  if (event->action != ONNXL_EVENT_ADD || event->value->kind != ONNXL_KIND_TENSOR)
    return;
  uint32_t v = onnxl_map_get(&check->values, event->name);
  const OnnxlInfo *info = v == ONNXL_MAP_NONE ? NULL : &check->inference->values[v];
  if (!info || info->kind != ONNXL_KIND_TENSOR || !info->has_rank)
    return;
  if (event->kind == ONNXL_EVENT_INPUT)
    bind_dims(check, info, event->value);
  bool same = info->rank == event->value->rank;
  for (uint32_t i = 0; same && i < info->rank; i++) {
    int64_t size;
    if (info->dims[i] && onnxl_expr_evaluate(info->dims[i], symbol_size, check, &size, NULL))
      same = size == event->value->dims[i];
  }
  check->checked++;
  if (same)
    return;
  OnnxlOutput text;
  g_autofree char *dims = onnxl_dims_text(event->value->dims, event->value->rank);
  onnxl_output_init(&text, -1);
  onnxl_info_print(&text, info, NULL);
  OnnxlStr inferred = onnxl_output_memory(&text);
  onnxl_diag(check->run->sink, ONNXL_DIAG_RUN, NULL, "the value %.*s has the shape %s when %.*s was inferred",
             ONNXL_ARG(event->name), dims, ONNXL_ARG(inferred));
  onnxl_output_clear(&text);
  check->differing++;
}

static bool
shapes_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  (void)error;
  check_value((ShapeCheck *)observer, event);
  return true;
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
  check->observer = (Observer){ shapes_event, shapes_finish, shapes_free, false };
  *ret_observer = &check->observer;
  check->run = run;
  check->arena =
    onnxl_arena_new((size_t)onnxl_limits_metadata(&run->common.limits, model->file ? model->file->size : 0));
  check->inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, check->arena, run->sink, error);
  if (!check->inference)
    return false;
  const OnnxlIndex *index = check->inference->index;
  check->values = onnxl_map_new(check->arena, index->n_values);
  check->symbols = onnxl_map_new(check->arena, 0);
  for (uint32_t v = 0; v < index->n_values; v++)
    if (index->values[v].graph == 0)
      onnxl_map_put(&check->values, index->values[v].name, v, NULL);
  return true;
}
