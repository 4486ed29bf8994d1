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

/* Ranges of values that are looked at before a peak counts as too irregular, and values of a range that are tried one
 * by one. */
enum { MAX_RANGES = 4000, FEW = 16 };

/* The largest budget that a bound of a peak can exceed. */
#define MOST (INT64_MAX - 2)

/* The grid with one more symbol. */
typedef struct Try {
  const OnnxlMemory *memory;
  const OnnxlBindings *grid;
  OnnxlStr symbol;
  int64_t value;
  bool used;     /* a size depends on the symbol */
  bool possible; /* the model can run with the value */
  int64_t limit;
  int64_t *totals;
  OnnxlExpr peak;
  OnnxlExpr range; /* instead of value: of a range, an expression */
  unsigned n_ranges;
} Try;

static bool
grid_value(const Try *try, OnnxlStr name, int64_t *ret_value)
{
  for (size_t i = 0; i < try->grid->count; i++)
    if (onnxl_str_equal(try->grid->items[i].name, name)) {
      *ret_value = try->grid->items[i].values[0];
      return true;
    }
  return false;
}

static bool
try_lookup(void *data, OnnxlStr name, int64_t *ret_value)
{
  Try *try = data;

  if (!onnxl_str_equal(name, try->symbol))
    return grid_value(try, name, ret_value);
  try->used = true;
  *ret_value = try->value;
  return true;
}

static OnnxlExpr
try_replace(void *data, OnnxlStr name)
{
  const Try *try = data;
  int64_t value;

  if (onnxl_str_equal(name, try->symbol))
    return try->range;
  return grid_value(try, name, &value) ? onnxl_expr_int(try->memory->inference->pool, value) : NULL;
}

/* The peak for a value; INT64_MAX when it does not fit in 64 bits, or when the model cannot run with the value. */
static bool
peak_at(Try *try, int64_t value, int64_t *ret_peak, GError **error)
{
  GError *failed = NULL;

  try->value = value;
  try->possible = onnxl_memory_check_sizes(try->memory, try_lookup, try, NULL);
  *ret_peak = INT64_MAX;
  if (!try->possible || onnxl_memory_evaluate(try->memory, try_lookup, try, try->totals, NULL, ret_peak, &failed))
    return true;
  if (!g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_LIMIT)) {
    g_propagate_error(error, failed);
    return false;
  }
  g_error_free(failed);
  *ret_peak = INT64_MAX;
  return true;
}

/* A symbol with these bounds. No model has one of this name, and each range has one of its own. */
static OnnxlExpr
range_symbol(const Try *try, const char *kind, int64_t min, int64_t max)
{
  OnnxlExprPool *pool = try->memory->inference->pool;
  char name[64];

  g_snprintf(name, sizeof name, "\1%s%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT, kind, min, max);
  OnnxlExpr symbol = onnxl_expr_symbol(pool, onnxl_str(name));
  onnxl_expr_set_bounds(pool, symbol, min, max);
  return symbol;
}

/* Bounds of an expression for all values from first to last: with the first value plus a symbol from 0 on, of which
 * more can be shown; with a symbol of the range itself where that does not fit in 64 bits. */
static void
bounds_of(Try *try, OnnxlExpr e, int64_t first, int64_t last, int64_t *ret_min, int64_t *ret_max)
{
  OnnxlExprPool *pool = try->memory->inference->pool;
  OnnxlExpr offset = range_symbol(try, "+", 0, last == INT64_MAX ? INT64_MAX : last - first);

  try->range = onnxl_expr_add(pool, offset, onnxl_expr_int(pool, first));
  OnnxlExpr result = onnxl_expr_substitute(pool, e, try_replace, try);
  if (!result) {
    try->range = range_symbol(try, "", first, last);
    result = onnxl_expr_substitute(pool, e, try_replace, try);
  }
  onnxl_expr_bounds(pool, result, ret_min, ret_max);
}

/* Bounds of the peak for all values from first to last (INT64_MAX: no end), which is beyond any limit where the model
 * cannot run. */
static void
bounds(Try *try, int64_t first, int64_t last, int64_t *ret_min, int64_t *ret_max)
{
  int64_t least, most;

  try->n_ranges++;
  bounds_of(try, try->peak, first, last, ret_min, ret_max);
  for (size_t i = 0; i < try->memory->n_doubts; i++) {
    bounds_of(try, try->memory->doubts[i].size, first, last, &least, &most);
    if (most < 0)
      *ret_min = INT64_MAX;
    if (least < 0)
      *ret_max = INT64_MAX;
  }
}

typedef enum Found { FOUND, NOT_FOUND, FAILED } Found;

/* The largest value from first to last that fits, also when the peak goes up and down between them. */
static Found
find_largest(Try *try, int64_t first, int64_t last, int64_t *ret_value, GError **error)
{
  int64_t least, most;

  if (last - first < FEW) {
    for (*ret_value = last; *ret_value >= first; --*ret_value) {
      if (!peak_at(try, *ret_value, &most, error))
        return FAILED;
      if (most <= try->limit)
        return FOUND;
    }
    return NOT_FOUND;
  }
  if (try->n_ranges >= MAX_RANGES) {
    onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "--solve %.*s: the peak goes up and down too often",
               ONNXL_ARG(try->symbol));
    return FAILED;
  }
  bounds(try, first, last, &least, &most);
  *ret_value = last;
  if (least > try->limit || most <= try->limit)
    return least > try->limit ? NOT_FOUND : FOUND;
  int64_t middle = first + (last - first) / 2;
  Found found = find_largest(try, middle + 1, last, ret_value, error);
  return found == NOT_FOUND ? find_largest(try, first, middle, ret_value, error) : found;
}

/* A value from which on nothing fits. */
static bool
find_end(Try *try, int64_t *ret_end, GError **error)
{
  int64_t least, most, peak, beyond = 0; /* from here on no peak was found that fits in 64 bits */

  for (*ret_end = 1;; *ret_end *= 2) {
    bool last = *ret_end > INT64_MAX / 2;
    if (!peak_at(try, *ret_end, &peak, error))
      return false;
    bounds(try, *ret_end, INT64_MAX, &least, &most);
    if (*ret_end == 1 && least == INT64_MAX) /* what makes it impossible is not the symbol's value */
      return onnxl_memory_check_sizes(try->memory, try_lookup, try, error);
    if (!try->used)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve %.*s: no size depends on that symbol",
                        ONNXL_ARG(try->symbol));
    if (least > try->limit)
      return true;
    if (most <= try->limit || (last && peak <= try->limit))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve %.*s: the peak fits for any value%s", ONNXL_ARG(try->symbol),
                        *ret_end > 1 ? " that is large enough" : "");
    beyond = peak < INT64_MAX || !try->possible ? 0 : beyond > 0 ? beyond : *ret_end;
    if (last && beyond > 0) {
      *ret_end = beyond;
      return true;
    }
    if (last)
      return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "--solve %.*s: it cannot be shown that no larger value fits",
                        ONNXL_ARG(try->symbol));
  }
}

bool
onnxl_mem_solve(const OnnxlMemory *memory, const OnnxlBindings *grid, const char *symbol, uint64_t budget,
                OnnxlReportFormat format, OnnxlOutput *out, bool *ret_fits, GError **error)
{
  const OnnxlColumn columns[] = { { symbol, true }, { "peak", true }, { "budget", true } };
  g_autofree int64_t *totals = g_new(int64_t, memory->n_nodes);
  Try try = {
    .memory = memory,
    .grid = grid,
    .symbol = onnxl_str(symbol),
    .limit = (int64_t)MIN(budget, (uint64_t)MOST),
    .totals = totals,
  };
  int64_t end, fits, peak;

  if (!onnxl_inference_check_symbol(memory->inference, try.symbol, error))
    return false;
  for (size_t i = 0; i < grid->count; i++) {
    if (grid->items[i].n_values > 1)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve needs one value of %.*s, not %zu",
                        ONNXL_ARG(grid->items[i].name), grid->items[i].n_values);
    if (onnxl_str_equal(grid->items[i].name, try.symbol))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--solve %s: --eval gives that symbol a value", symbol);
  }
  try.peak = onnxl_memory_upper(memory->inference, memory->peak, try_lookup, &try);
  try.used = false;
  if (!find_end(&try, &end, error))
    return false;
  Found found = end > 1 ? find_largest(&try, 1, end - 1, &fits, error) : NOT_FOUND;
  *ret_fits = found == FOUND;
  if (found != FOUND)
    return found == NOT_FOUND;
  if (!peak_at(&try, fits, &peak, error))
    return false;
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  onnxl_table_int64(table, fits);
  onnxl_table_int64(table, peak);
  onnxl_table_int64(table, (int64_t)MIN(budget, (uint64_t)INT64_MAX));
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  return true;
}
