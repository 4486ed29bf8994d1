/* --budget and --solve. */
#include "cli/table.h"
#include "report.h"
#include "support/error.h"

typedef struct Check {
  OnnxlRun *run;
  uint64_t budget;
  uint32_t n_nodes;
} Check;

static void
check_row(void *data, const OnnxlAssignment *assignment, const int64_t *totals, int64_t peak)
{
  const Check *check = data;
  GString *dims = g_string_new(NULL);

  for (size_t i = 0; i < assignment->grid->count; i++)
    g_string_append_printf(dims, "%s%.*s=%" G_GINT64_FORMAT, i > 0 ? ", " : " with ",
                           ONNXL_ARG(assignment->grid->items[i].name),
                           assignment->grid->items[i].values[assignment->choice[i]]);
  if ((uint64_t)peak > check->budget)
    onnxl_diag(check->run->sink, ONNXL_DIAG_BUDGET, NULL,
               "the peak%s is %s%" G_GINT64_FORMAT " bytes, %" G_GUINT64_FORMAT
               " more than the budget of %" G_GUINT64_FORMAT,
               dims->str, onnxl_mem_peak_at_most(assignment, totals, check->n_nodes, peak) ? "at most " : "", peak,
               (uint64_t)peak - check->budget, check->budget);
  g_string_free(dims, TRUE);
}

bool
onnxl_mem_check_budget(OnnxlRun *run, const OnnxlMemory *memory, const OnnxlBindings *grid, uint64_t budget,
                       GError **error)
{
  Check check = { run, budget, memory->n_nodes };

  return onnxl_mem_for_each(memory, grid, check_row, &check, error);
}

/* The grid with one more symbol. */
typedef struct Try {
  const OnnxlBindings *grid;
  OnnxlStr symbol;
  int64_t value;
  bool used;
} Try;

static bool
try_lookup(void *data, OnnxlStr name, int64_t *ret_value)
{
  Try *try = data;

  if (onnxl_str_equal(name, try->symbol)) {
    try->used = true;
    *ret_value = try->value;
    return true;
  }
  for (size_t i = 0; i < try->grid->count; i++)
    if (onnxl_str_equal(try->grid->items[i].name, name)) {
      *ret_value = try->grid->items[i].values[0];
      return true;
    }
  return false;
}

/* The peak for a value; INT64_MAX when it does not fit in 64 bits. */
static bool
peak_at(const OnnxlMemory *memory, Try *try, int64_t value, int64_t *totals, int64_t *ret_peak, GError **error)
{
  GError *failed = NULL;

  try->value = value;
  if (onnxl_memory_evaluate(memory, try_lookup, try, totals, NULL, ret_peak, &failed))
    return true;
  if (!g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_LIMIT)) {
    g_propagate_error(error, failed);
    return false;
  }
  g_error_free(failed);
  *ret_peak = INT64_MAX;
  return true;
}

bool
onnxl_mem_solve(const OnnxlMemory *memory, const OnnxlBindings *grid, const char *symbol, uint64_t budget,
                OnnxlReportFormat format, OnnxlOutput *out, bool *ret_fits, GError **error)
{
  const OnnxlColumn columns[] = { { symbol, true }, { "peak", true }, { "budget", true } };
  g_autofree int64_t *totals = g_new(int64_t, memory->n_nodes);
  int64_t limit = budget > INT64_MAX - 1 ? INT64_MAX - 1 : (int64_t)budget;
  int64_t fits = 0, too_large = 1, peak, best = 0;
  Try try = { grid, onnxl_str(symbol), 0, false };

  for (size_t i = 0; i < grid->count; i++)
    if (grid->items[i].n_values > 1)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve needs one value of %.*s, not %zu",
                        ONNXL_ARG(grid->items[i].name), grid->items[i].n_values);
  for (;; too_large *= 2) {
    if (!peak_at(memory, &try, too_large, totals, &peak, error))
      return false;
    if (!try.used)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve %s: no size depends on that symbol", symbol);
    if (peak > limit)
      break;
    fits = too_large;
    best = peak;
    if (too_large > INT64_MAX / 2)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve %s: the peak fits for any value", symbol);
  }
  while (too_large - fits > 1) {
    int64_t middle = fits + (too_large - fits) / 2;
    if (!peak_at(memory, &try, middle, totals, &peak, error))
      return false;
    if (peak > limit) {
      too_large = middle;
    } else {
      fits = middle;
      best = peak;
    }
  }
  *ret_fits = fits > 0;
  if (!*ret_fits)
    return true;
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  onnxl_table_int64(table, fits);
  onnxl_table_int64(table, best);
  onnxl_table_int64(table, limit);
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  return true;
}
