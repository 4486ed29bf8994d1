/* --reorder: the model in an order with a lower peak, when one is found. */
#include "memory/reorder.h"

#include "cli/table.h"
#include "report.h"
#include "support/error.h"

/* Orders are looked for with up to this many assignments of the grid. */
#define MAX_TRIES 8

typedef struct Peaks {
  GArray *numbers; /* int64_t, one an assignment */
  OnnxlStr text;   /* without a grid */
  int64_t number;  /* what the text says, if it is a number */
  bool is_number;
} Peaks;

static void
add_peak(void *data, const OnnxlAssignment *assignment G_GNUC_UNUSED, const int64_t *totals G_GNUC_UNUSED, int64_t peak)
{
  g_array_append_val((GArray *)data, peak);
}

static bool
find_peaks(const OnnxlMemory *memory, const OnnxlBindings *grid, Peaks *ret, GError **error)
{
  *ret = (Peaks){ .numbers = g_array_new(FALSE, FALSE, sizeof(int64_t)) };
  if (grid->count > 0)
    return onnxl_mem_for_each(memory, grid, add_peak, ret->numbers, error);
  if (!memory->peak)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED,
                      "--reorder: the peak is not known, since the sizes of some values are not");
  ret->text = onnxl_expr_text(memory->inference->pool, memory->peak);
  ret->is_number = onnxl_expr_is_int(memory->peak, &ret->number);
  return true;
}

/* A symbol plus one: what holds for that from 0 on holds for the symbol from 1 on. Orders of models without any data,
 * where a few bytes of shapes decide, are not compared. */
static OnnxlExpr
plus_one(void *data, OnnxlStr name)
{
  OnnxlExprPool *pool = data;

  return onnxl_expr_add(pool, onnxl_expr_symbol(pool, name), onnxl_expr_int(pool, 1));
}

/* Never above, and somewhere below. The expressions come from different pools. */
static bool
is_better(const Peaks *found, const Peaks *given, const OnnxlMemory *memory)
{
  bool below = false;

  for (guint i = 0; i < given->numbers->len; i++) {
    int64_t a = g_array_index(found->numbers, int64_t, i), b = g_array_index(given->numbers, int64_t, i);
    if (a > b)
      return false;
    below = below || a < b;
  }
  if (given->numbers->len > 0)
    return below;
  OnnxlExprPool *pool = memory->inference->pool;
  OnnxlExpr before = onnxl_expr_parse(pool, given->text, 200, NULL);
  OnnxlExprOrder order = onnxl_expr_compare(pool, onnxl_expr_substitute(pool, memory->peak, plus_one, pool),
                                            onnxl_expr_substitute(pool, before, plus_one, pool));
  return order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_LESS_EQUAL;
}

/* Analyses the model in an order. *ret_better: it has a lower peak, and analysis is the new one; else all is as before.
 */
static bool
try_order(OnnxlMemAnalysis *analysis, const uint32_t *order, const OnnxlBindings *grid, const Peaks *given,
          Peaks *found, bool *ret_better, GError **error)
{
  OnnxlModel *model = analysis->model;
  OnnxlNodeList nodes = model->proto.graph->node;
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL); /* what there is to say was said about the order given */

  *ret_better = false;
  if (!onnxl_reorder_apply(model, order, error)) {
    onnxl_diag_sink_free(sink);
    return false;
  }
  OnnxlInference *inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, model->arena, sink, error);
  const OnnxlMemory *memory = inference ? onnxl_memory_new(inference, &analysis->options, model->arena, error) : NULL;
  bool done = memory && find_peaks(memory, grid, found, error);
  *ret_better = done && is_better(found, given, memory);
  if (*ret_better) {
    onnxl_inference_free(analysis->inference);
    analysis->inference = inference;
    analysis->memory = memory;
  } else {
    onnxl_inference_free(inference);
    model->proto.graph->node = nodes;
    if (found->numbers)
      g_array_free(found->numbers, TRUE);
    *found = (Peaks){ 0 };
  }
  onnxl_diag_sink_free(sink);
  return done;
}

/* Two rows an assignment. */
static void
report(const OnnxlBindings *grid, const Peaks *given, const Peaks *found, OnnxlReportFormat format, OnnxlOutput *out)
{
  const Peaks *const peaks[] = { given, found };
  g_autofree OnnxlColumn *columns = g_new0(OnnxlColumn, grid->count + 2);
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  OnnxlAssignment assignment = { grid, choice };

  for (size_t i = 0; i < grid->count; i++)
    columns[i] = (OnnxlColumn){ g_strndup(grid->items[i].name.data, grid->items[i].name.size), true };
  columns[grid->count] = (OnnxlColumn){ "order", false };
  columns[grid->count + 1] = (OnnxlColumn){ "peak", false };
  OnnxlTable *table = onnxl_table_new(columns, grid->count + 2);
  for (guint row = 0; row < MAX(given->numbers->len, 1); row++) {
    for (size_t k = 0; k < G_N_ELEMENTS(peaks); k++) {
      for (size_t i = 0; i < grid->count; i++)
        onnxl_table_int64(table, grid->items[i].values[choice[i]]);
      onnxl_table_text(table, k == 0 ? ONNXL_STR("given") : ONNXL_STR("found"));
      if (given->numbers->len > 0)
        onnxl_table_int64(table, g_array_index(peaks[k]->numbers, int64_t, row));
      else if (peaks[k]->is_number)
        onnxl_table_int64(table, peaks[k]->number);
      else
        onnxl_table_text(table, peaks[k]->text);
    }
    onnxl_mem_next_assignment(&assignment);
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  for (size_t i = 0; i < grid->count; i++)
    g_free((char *)columns[i].title);
}

bool
onnxl_mem_reorder(OnnxlMemAnalysis *analysis, const OnnxlBindings *grid, OnnxlReportFormat format, OnnxlOutput *out,
                  GError **error)
{
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  OnnxlAssignment assignment = { grid, choice };
  Peaks given, found = { 0 };
  bool better = false, done = find_peaks(analysis->memory, grid, &given, error);
  size_t tries = 0;

  do {
    const uint32_t *order = NULL;
    done = done && onnxl_reorder_find(analysis->memory, &analysis->options, grid->count > 0 ? onnxl_mem_lookup : NULL,
                                      &assignment, analysis->model->arena, &order, error);
    if (done && order)
      done = try_order(analysis, order, grid, &given, &found, &better, error);
  } while (done && !better && ++tries < MAX_TRIES && onnxl_mem_next_assignment(&assignment));
  if (done && out)
    report(grid, &given, better ? &found : &given, format, out);
  g_array_free(given.numbers, TRUE);
  if (found.numbers)
    g_array_free(found.numbers, TRUE);
  return done;
}
