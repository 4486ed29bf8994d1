/* --macs: what the nodes compute and move. */
#include "memory/macs.h"
#include "cli/table.h"
#include "report.h"
#include "support/error.h"
#include "support/json.h"
#include "support/sort.h"

enum { MACS, FLOPS, PARAMETERS, READ, WRITTEN, N_FIGURES };

static const char *const titles[N_FIGURES] = { "macs", "flops", "parameters", "read", "written" };

/* A row: a node, the nodes of an operator, or all. */
typedef struct Row {
  uint32_t node; /* ONNXL_NONE for several */
  OnnxlStr op;
  uint32_t n_nodes;
  OnnxlExpr figures[N_FIGURES];
  int64_t numbers[N_FIGURES]; /* of an assignment */
  bool at_most, flops_at_most;
} Row;

typedef struct Rows {
  OnnxlExprPool *pool;
  Row *items;
  uint32_t count;
  Row total;
  uint32_t n_unknown;
  bool by_op;
} Rows;

static Row
row_of(uint32_t node, OnnxlStr op, uint32_t n_nodes, const OnnxlCost *cost)
{
  return (Row){
    .node = node,
    .op = op,
    .n_nodes = n_nodes,
    .figures = { cost->macs, cost->flops, cost->parameters, cost->read, cost->written },
    .at_most = cost->at_most,
    .flops_at_most = cost->flops_at_most,
  };
}

static bool
fill_by_op(Rows *rows, const OnnxlInference *inference, const OnnxlCosts *costs, GError **error)
{
  const OnnxlIndexNode *nodes = inference->index->nodes;
  g_autofree uint32_t *ids = onnxl_mem_nodes_by_op(nodes, costs->n_nodes);

  for (uint32_t first = 0, last; first < costs->n_nodes; first = last) {
    OnnxlStr op = nodes[ids[first]].proto->op_type;
    OnnxlCost sum;
    uint32_t unknown;
    for (last = first + 1; last < costs->n_nodes && onnxl_str_equal(op, nodes[ids[last]].proto->op_type);)
      last++;
    if (!onnxl_costs_sum(costs, rows->pool, ids + first, last - first, &sum, &unknown, error))
      return false;
    rows->items[rows->count++] = row_of(ONNXL_NONE, op, last - first, &sum);
  }
  return true;
}

static bool
fill(Rows *rows, const OnnxlInference *inference, const OnnxlCosts *costs, bool by_op, GError **error)
{
  OnnxlCost sum;

  *rows = (Rows){ .pool = inference->pool, .items = g_new(Row, MAX(costs->n_nodes, 1)), .by_op = by_op };
  if (!onnxl_costs_sum(costs, rows->pool, NULL, costs->n_nodes, &sum, &rows->n_unknown, error))
    return false;
  rows->total = row_of(ONNXL_NONE, ONNXL_STR("total"), costs->n_nodes, &sum);
  if (by_op)
    return fill_by_op(rows, inference, costs, error);
  for (uint32_t i = 0; i < costs->n_nodes; i++)
    rows->items[rows->count++] = row_of(i, inference->index->nodes[i].proto->op_type, 1, &costs->nodes[i]);
  return true;
}

/* --- values of symbols -------------------------------------------------------------------------------------------- */

/* Replaces the figures by their values for an assignment. */
static bool
evaluate_row(const Rows *rows, Row *row, OnnxlAssignment *assignment, GError **error)
{
  for (size_t f = 0; f < N_FIGURES; f++) {
    int64_t value;
    g_autoptr(GError) failed = NULL;
    if (!row->figures[f])
      continue;
    if (!onnxl_expr_evaluate(row->figures[f], onnxl_mem_lookup, assignment, &value, &failed))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--macs --eval: %s of %.*s: %s", titles[f], ONNXL_ARG(row->op),
                        failed->message);
    row->figures[f] = onnxl_expr_int(rows->pool, value);
  }
  return true;
}

static int
by_work(const void *a, const void *b)
{
  const Row *x = a, *y = b;

  for (size_t f = 0; f < N_FIGURES; f++)
    if (x->numbers[f] != y->numbers[f])
      return x->numbers[f] > y->numbers[f] ? -1 : 1;
  return x->node != y->node ? (x->node < y->node ? -1 : 1) : onnxl_str_compare(x->op, y->op);
}

/* The rows with most MACs first, then by the other figures; what is not known counts as nothing. */
static bool
sort_rows(Rows *rows, GError **error)
{
  for (uint32_t i = 0; i < rows->count; i++)
    for (size_t f = 0; f < N_FIGURES; f++) {
      OnnxlExpr e = rows->items[i].figures[f];
      rows->items[i].numbers[f] = -1;
      if (e && !onnxl_expr_is_int(e, &rows->items[i].numbers[f]))
        return onnxl_fail(error, ONNXL_ERROR_USAGE,
                          "--top: the order depends on symbols (give them values: --dim NAME=N or --eval NAME=N)");
    }
  onnxl_sort(rows->items, rows->count, sizeof *rows->items, by_work);
  return true;
}

/* --- printing ----------------------------------------------------------------------------------------------------- */

typedef struct Print {
  const Rows *rows;
  const OnnxlAssignment *assignment; /* of the symbols that have columns */
  OnnxlTable *table;                 /* or */
  OnnxlJson *json;
} Print;

/* Operations for each byte that is moved: a number, or a quotient of two expressions. */
static OnnxlExpr
bytes_moved(const Rows *rows, const Row *row)
{
  return onnxl_expr_add(rows->pool, row->figures[READ], row->figures[WRITTEN]);
}

static bool
intensity(const Rows *rows, const Row *row, double *ret_number, char **ret_text)
{
  OnnxlExpr bytes = bytes_moved(rows, row);
  int64_t work, moved;

  *ret_text = NULL;
  if (!bytes || !row->figures[FLOPS])
    return false;
  bool counted = onnxl_expr_is_int(row->figures[FLOPS], &work);
  if (counted && work == 0) {
    *ret_number = 0;
    return true;
  }
  if (!counted || !onnxl_expr_is_int(bytes, &moved)) {
    *ret_text = g_strconcat("(", onnxl_expr_text(rows->pool, row->figures[FLOPS]).data, ")/(",
                            onnxl_expr_text(rows->pool, bytes).data, ")", NULL);
    return true;
  }
  if (moved == 0)
    return false;
  /* Three digits are what such a figure is worth, and the same ones everywhere. */
  *ret_number = (double)(int64_t)((double)work / (double)moved * 1000 + 0.5) / 1000;
  return true;
}

static void
table_row(const Print *print, const Row *row)
{
  OnnxlTable *table = print->table;
  OnnxlExprPool *pool = print->rows->pool;
  g_autofree char *text = NULL;
  double number;

  for (size_t i = 0; i < print->assignment->grid->count; i++)
    onnxl_table_int64(table, print->assignment->grid->items[i].values[print->assignment->choice[i]]);
  if (!print->rows->by_op && row->node == ONNXL_NONE)
    onnxl_table_none(table);
  else if (!print->rows->by_op)
    onnxl_table_int64(table, row->node);
  onnxl_table_text(table, row->op);
  if (print->rows->by_op)
    onnxl_table_int64(table, row->n_nodes);
  for (size_t f = 0; f < N_FIGURES; f++) {
    int64_t value;
    bool known = onnxl_expr_is_int(row->figures[f], &value);
    bool bound = (row->at_most && f != PARAMETERS) || (row->flops_at_most && f == FLOPS);
    bool at_most = bound && row->figures[f] && !(known && value == 0);
    if (known && !at_most) {
      onnxl_table_int64(table, value);
      continue;
    }
    OnnxlOutput *cell = onnxl_table_begin(table);
    onnxl_output_text(cell, at_most ? "<= " : "");
    onnxl_output_str(cell, onnxl_expr_text(pool, row->figures[f]));
    onnxl_table_end(table);
  }
  if (!intensity(print->rows, row, &number, &text))
    onnxl_table_none(table);
  else if (text)
    onnxl_table_text(table, onnxl_str(text));
  else
    onnxl_table_double(table, number);
}

static void
json_row(const Print *print, const Row *row)
{
  OnnxlJson *json = print->json;
  g_autofree char *text = NULL;
  double number;

  onnxl_json_begin_object(json);
  if (row->node != ONNXL_NONE) {
    onnxl_json_key(json, "index");
    onnxl_json_int64(json, row->node);
  }
  if (row != &print->rows->total) {
    onnxl_json_key(json, "op");
    onnxl_json_string(json, row->op);
  }
  if (row->node == ONNXL_NONE) {
    onnxl_json_key(json, "nodes");
    onnxl_json_int64(json, row->n_nodes);
  }
  for (size_t f = 0; f < N_FIGURES; f++) {
    onnxl_json_key(json, titles[f]);
    onnxl_mem_json_expr(json, print->rows->pool, row->figures[f]);
  }
  onnxl_json_key(json, "intensity");
  if (!intensity(print->rows, row, &number, &text))
    onnxl_json_null(json);
  else if (text)
    onnxl_json_string(json, onnxl_str(text));
  else
    onnxl_json_double(json, number);
  onnxl_json_key(json, "at_most");
  onnxl_json_bool(json, row->at_most || row->flops_at_most);
  onnxl_json_end_object(json);
}

static void
json_assignment(const Print *print, uint32_t n)
{
  OnnxlJson *json = print->json;
  const OnnxlAssignment *assignment = print->assignment;

  onnxl_json_begin_object(json);
  onnxl_json_key(json, "dims");
  onnxl_mem_json_dims(json, assignment);
  onnxl_json_key(json, print->rows->by_op ? "ops" : "nodes");
  onnxl_json_begin_array(json);
  for (uint32_t i = 0; i < n; i++)
    json_row(print, &print->rows->items[i]);
  onnxl_json_end_array(json);
  onnxl_json_key(json, "total");
  json_row(print, &print->rows->total);
  onnxl_json_key(json, "unknown");
  onnxl_json_int64(json, print->rows->n_unknown);
  onnxl_json_end_object(json);
}

/* The rows of one assignment, which may be empty: expressions then. */
static bool
print_assignment(const Print *print, uint32_t top, GError **error)
{
  Rows rows = *print->rows;
  Print printed = *print;
  OnnxlAssignment assignment = *print->assignment;

  rows.items = g_memdup2(print->rows->items, MAX(rows.count, 1) * sizeof(Row));
  printed.rows = &rows;
  bool done = true;
  for (uint32_t i = 0; done && assignment.grid->count > 0 && i < rows.count; i++)
    done = evaluate_row(&rows, &rows.items[i], &assignment, error);
  if (done && assignment.grid->count > 0)
    done = evaluate_row(&rows, &rows.total, &assignment, error);
  done = done && (top == 0 || sort_rows(&rows, error));
  uint32_t n = top > 0 ? MIN(top, rows.count) : rows.count;
  if (done && print->json) {
    json_assignment(&printed, n);
  } else if (done) {
    for (uint32_t i = 0; i < n; i++)
      table_row(&printed, &rows.items[i]);
    table_row(&printed, &rows.total);
  }
  g_free(rows.items);
  return done;
}

static OnnxlTable *
table_new(const Rows *rows, const OnnxlBindings *grid, OnnxlColumn **ret_columns)
{
  size_t n = 0;
  OnnxlColumn *columns = g_new(OnnxlColumn, grid->count + N_FIGURES + 3);

  for (size_t i = 0; i < grid->count; i++)
    columns[n++] = (OnnxlColumn){ g_strndup(grid->items[i].name.data, grid->items[i].name.size), true };
  if (!rows->by_op)
    columns[n++] = (OnnxlColumn){ "node", true };
  columns[n++] = (OnnxlColumn){ "op", false };
  if (rows->by_op)
    columns[n++] = (OnnxlColumn){ "nodes", true };
  for (size_t f = 0; f < N_FIGURES; f++)
    columns[n++] = (OnnxlColumn){ titles[f], true };
  columns[n++] = (OnnxlColumn){ "intensity", true };
  *ret_columns = columns;
  return onnxl_table_new(columns, n);
}

static bool
print_all(Print *print, const OnnxlBindings *grid, uint32_t top, GError **error)
{
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  OnnxlAssignment assignment = { grid, choice };

  print->assignment = &assignment;
  do
    if (!print_assignment(print, top, error))
      return false;
  while (onnxl_mem_next_assignment(&assignment));
  return true;
}

static bool
report_json(const Rows *rows, const OnnxlBindings *grid, uint32_t top, OnnxlOutput *out, GError **error)
{
  OnnxlJson json;
  Print print = { .rows = rows, .json = &json };

  onnxl_json_init(&json, out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "macs");
  onnxl_json_begin_array(&json);
  bool done = print_all(&print, grid, top, error);
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
  return done;
}

static bool
report_table(const Rows *rows, const OnnxlBindings *grid, uint32_t top, OnnxlReportFormat format, OnnxlOutput *out,
             GError **error)
{
  OnnxlColumn *columns;
  Print print = { .rows = rows, .table = table_new(rows, grid, &columns) };
  bool done = print_all(&print, grid, top, error);

  if (done)
    onnxl_table_write(print.table, format, out);
  if (done && format == ONNXL_FORMAT_TABLE && rows->n_unknown > 0)
    onnxl_output_printf(out, "the totals lack figures of nodes for which they are not known: %u\n", rows->n_unknown);
  onnxl_table_free(print.table);
  for (size_t i = 0; i < grid->count; i++)
    g_free((char *)columns[i].title);
  g_free(columns);
  return done;
}

bool
onnxl_mem_report_macs(const OnnxlInference *inference, const OnnxlBindings *grid, bool by_op, uint32_t top,
                      OnnxlReportFormat format, OnnxlOutput *out, GError **error)
{
  const OnnxlCosts *costs = onnxl_costs_new(inference, inference->model->arena, error);
  Rows rows = { .items = NULL };

  bool done = costs && fill(&rows, inference, costs, by_op, error);
  if (done && format == ONNXL_FORMAT_JSON)
    done = report_json(&rows, grid, top, out, error);
  else if (done)
    done = report_table(&rows, grid, top, format, out, error);
  g_free(rows.items);
  return done;
}
