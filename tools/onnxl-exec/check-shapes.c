/* --check-shapes: the shape of every value, nested ones too, against what inference said before the run. */
#include "exec.h"
#include "runtime/sizes.h"
#include "runtime/tensor.h"
#include "runtime/value-print.h"
#include "shapes/infer.h"
#include "support/error.h"

/* What the symbols are in a graph that runs. Those of the main graph and of the graphs around hold inside as well;
 * those met first inside hold for one trip. */
typedef struct Level {
  uint64_t serial; /* as onnxl_event_scope_serial(), 0 for the main graph */
  OnnxlSizes *sizes;
} Level;

typedef struct ShapeCheck {
  Observer observer;
  OnnxlRun *run;
  OnnxlArena *arena;
  OnnxlInference *inference;
  GArray *levels;    /* Level, the main graph first */
  uint32_t n_levels; /* that are in use */
  uint32_t checked, differing;
} ShapeCheck;

/* Makes the levels those of the scope. Returns: their number. */
static uint32_t
enter(ShapeCheck *check, const OnnxlEventScope *scope)
{
  uint32_t depth = scope ? enter(check, onnxl_event_scope_outer(scope)) : 0;
  uint64_t serial = scope ? onnxl_event_scope_serial(scope) : 0;
  if (depth == check->levels->len) {
    Level level = { serial, onnxl_sizes_new() };
    g_array_append_val(check->levels, level);
  }
  Level *level = &g_array_index(check->levels, Level, depth);
  if (level->serial != serial)
    onnxl_sizes_reset(level->sizes);
  level->serial = serial;
  return depth + 1;
}

static bool
look_up(void *data, OnnxlStr name, int64_t *ret_size)
{
  const ShapeCheck *check = data;
  for (uint32_t i = check->n_levels; i-- > 0;)
    if (onnxl_sizes_lookup(g_array_index(check->levels, Level, i).sizes, name, ret_size))
      return true;
  return false;
}

/* A symbol that is met for the first time takes the size; everything else must have it already. */
static bool
check_size(ShapeCheck *check, OnnxlExpr inferred, int64_t size, bool *ret_same, GError **error)
{
  OnnxlStr name;
  int64_t expected;
  if (!inferred)
    return true;
  if (onnxl_expr_evaluate(inferred, look_up, check, &expected, NULL))
    *ret_same = *ret_same && expected == size;
  else if (onnxl_expr_is_symbol(inferred, &name) &&
           !onnxl_sizes_set(g_array_index(check->levels, Level, check->n_levels - 1).sizes, name, size))
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
  return true;
}

/* The small integers that inference counts with are part of what it says of shapes. */
static bool
check_contents(ShapeCheck *check, const OnnxlInfo *info, const OnnxlValue *value, bool *ret_same, GError **error)
{
  if (!info->has_contents || !(onnxl_type_is_integer(value->elem_type) || value->elem_type == ONNXL_TYPE_BOOL))
    return true;
  *ret_same = *ret_same && info->n_contents == value->count;
  for (uint32_t i = 0; *ret_same && i < info->n_contents; i++)
    if (!check_size(check, info->contents[i], onnxl_tensor_int64(value, i), ret_same, error))
      return false;
  return true;
}

static void
report(ShapeCheck *check, const OnnxlEvent *event, const OnnxlInfo *info, bool contents)
{
  OnnxlOutput text;
  g_autofree char *path = onnxl_event_node_path(event);
  g_autofree char *dims = onnxl_dims_text(event->value->dims, event->value->rank);
  OnnxlLocation where = { .path = path };
  onnxl_output_init(&text, -1);
  if (contents) {
    onnxl_value_print(&text, event->value);
    OnnxlStr met = onnxl_output_memory(&text);
    onnxl_diag(check->run->sink, ONNXL_DIAG_RUN, &where, "the value %.*s is %.*s, which is not what was inferred",
               ONNXL_ARG(event->name), ONNXL_ARG(met));
  } else {
    onnxl_info_print(&text, info, NULL);
    OnnxlStr inferred = onnxl_output_memory(&text);
    onnxl_diag(check->run->sink, ONNXL_DIAG_RUN, &where, "the value %.*s has the shape %s when %.*s was inferred",
               ONNXL_ARG(event->name), dims, ONNXL_ARG(inferred));
  }
  onnxl_output_clear(&text);
  check->differing++;
}

static bool
check_value(ShapeCheck *check, const OnnxlEvent *event, GError **error)
{
  const OnnxlInference *inference = onnxl_event_inference(event, check->inference);
  const OnnxlInfo *info = inference ? &inference->values[event->id] : NULL;
  const OnnxlValue *value = event->value;
  if (!info || info->kind != ONNXL_KIND_TENSOR || value->kind != ONNXL_KIND_TENSOR || !info->has_rank)
    return true;
  check->n_levels = enter(check, event->scope);
  bool same = info->rank == value->rank, same_contents = true;
  for (uint32_t i = 0; same && i < info->rank; i++)
    if (!check_size(check, info->dims[i], value->dims[i], &same, error))
      return false;
  check->checked++;
  if (same && !check_contents(check, info, value, &same_contents, error))
    return false;
  if (!same || !same_contents)
    report(check, event, info, same);
  return true;
}

static bool
shapes_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  /* What a body hands back was met before. */
  return event->action != ONNXL_EVENT_ADD || event->kind == ONNXL_EVENT_OUTPUT ||
         check_value((ShapeCheck *)observer, event, error);
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

  for (guint i = 0; i < check->levels->len; i++)
    onnxl_sizes_free(g_array_index(check->levels, Level, i).sizes);
  g_array_free(check->levels, TRUE);
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
  check->observer = (Observer){ .event = shapes_event, .finish = shapes_finish, .free = shapes_free, .nested = true };
  *ret_observer = &check->observer;
  check->run = run;
  check->levels = g_array_new(FALSE, FALSE, sizeof(Level));
  check->arena =
    onnxl_arena_new((size_t)onnxl_limits_metadata(&run->common.limits, model->file ? model->file->size : 0));
  check->inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, check->arena, run->sink, error);
  return check->inference != NULL;
}
