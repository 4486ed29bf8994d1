#include "report.h"

#include "cli/table.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/json.h"

/* That are named behind a peak. */
#define MAX_PEAK_NODES 8

bool
onnxl_mem_lookup(void *data, OnnxlStr name, int64_t *ret_value)
{
  const OnnxlAssignment *assignment = data;

  for (size_t i = 0; i < assignment->grid->count; i++)
    if (onnxl_str_equal(assignment->grid->items[i].name, name)) {
      *ret_value = assignment->grid->items[i].values[assignment->choice[i]];
      return true;
    }
  return false;
}

bool
onnxl_mem_next_assignment(OnnxlAssignment *assignment)
{
  for (size_t i = assignment->grid->count; i-- > 0;) {
    if (++assignment->choice[i] < assignment->grid->items[i].n_values)
      return true;
    assignment->choice[i] = 0;
  }
  return false;
}

bool
onnxl_mem_for_each(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlMemRow row, void *data, GError **error)
{
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  g_autofree int64_t *totals = g_new(int64_t, memory->n_nodes);
  g_autofree bool *at_most = g_new0(bool, memory->n_nodes);
  OnnxlAssignment assignment = { grid, choice, at_most };

  do {
    int64_t peak;
    if (!onnxl_memory_evaluate(memory, onnxl_mem_lookup, &assignment, totals, at_most, &peak, error))
      return false;
    row(data, &assignment, totals, peak);
  } while (onnxl_mem_next_assignment(&assignment));
  return true;
}

bool
onnxl_mem_check_sizes(const OnnxlMemory *memory, const OnnxlBindings *grid, GError **error)
{
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  OnnxlAssignment assignment = { grid, choice, NULL };

  do
    if (!onnxl_memory_check_sizes(memory, onnxl_mem_lookup, &assignment, error))
      return false;
  while (onnxl_mem_next_assignment(&assignment));
  return true;
}

bool
onnxl_mem_peak_at_most(const OnnxlAssignment *assignment, const int64_t *totals, uint32_t n_nodes, int64_t peak)
{
  bool any = false;

  for (uint32_t i = 0; i < n_nodes; i++) {
    if (totals[i] == peak && !assignment->at_most[i])
      return false;
    any = any || assignment->at_most[i];
  }
  return any;
}

/* above: of the row above, NULL in the first. */
static void
table_expr(OnnxlTable *table, OnnxlExprPool *pool, const OnnxlExpr *e, const OnnxlExpr *above)
{
  if (above && *above == *e)
    onnxl_table_repeat(table);
  else
    onnxl_table_text(table, onnxl_expr_text(pool, *e));
}

/* "<= 48*N" where an upper bound of a size that only a run shows is known. */
static void
table_upper(OnnxlTable *table, const OnnxlMemory *memory, const OnnxlExpr *e, const OnnxlExpr *above)
{
  OnnxlExpr upper = onnxl_memory_upper(memory->inference, *e, NULL, NULL);

  if (!upper || upper == *e)
    table_expr(table, memory->inference->pool, e, above);
  else
    onnxl_table_printf(table, "<= %s", onnxl_expr_text(memory->inference->pool, upper).data);
}

static void
table_number(OnnxlTable *table, OnnxlExprPool *pool, OnnxlExpr e, bool json)
{
  int64_t value;

  if (onnxl_expr_is_int(e, &value))
    onnxl_table_int64(table, value);
  else if (!e && json)
    onnxl_table_none(table);
  else
    onnxl_table_text(table, onnxl_expr_text(pool, e));
}

void
onnxl_mem_table_amount(OnnxlTable *table, const OnnxlInference *inference, OnnxlExpr e, OnnxlReportFormat format)
{
  OnnxlExpr upper = onnxl_memory_upper(inference, e, NULL, NULL);

  if (upper == e)
    upper = NULL;
  if (format == ONNXL_FORMAT_JSON) {
    table_number(table, inference->pool, e, true);
    table_number(table, inference->pool, upper, true);
  } else if (upper) {
    onnxl_table_printf(table, "<= %s", onnxl_expr_text(inference->pool, upper).data);
  } else {
    table_number(table, inference->pool, e, false);
  }
}

/* "shape=16, weight=32*N", or "-" for nothing. */
static void
table_bucket(OnnxlTable *table, OnnxlExprPool *pool, const OnnxlBucket *bucket, const OnnxlBucket *above)
{
  if (above == bucket) {
    onnxl_table_repeat(table);
    return;
  }
  OnnxlExpr zero = onnxl_expr_int(pool, 0);
  OnnxlOutput *text = onnxl_table_begin(table);
  bool any = false;

  for (OnnxlTag tag = 0; tag < ONNXL_N_TAGS; tag++) {
    OnnxlExpr e = bucket->amounts[tag];
    if (e == zero)
      continue;
    onnxl_output_text(text, any ? ", " : "");
    onnxl_output_text(text, tag == ONNXL_TAG_NONE ? "untagged" : onnxl_tag_name(tag));
    onnxl_output_char(text, '=');
    onnxl_output_str(text, onnxl_expr_text(pool, e));
    any = true;
  }
  onnxl_output_text(text, any ? "" : "-");
  onnxl_table_end(table);
}

/* " at node 2 (Transpose) or 6 (Shape)": those that can have the peak, some of them when they are many. */
static void
print_peak_nodes(const OnnxlMemory *memory, OnnxlOutput *out)
{
  const OnnxlIndexNode *nodes = memory->inference->index->nodes;
  uint32_t n = memory->n_peak_nodes, shown = n <= MAX_PEAK_NODES ? n : MAX_PEAK_NODES;

  for (uint32_t i = 0; i < shown; i++) {
    onnxl_output_printf(out, "%s%u (", i == 0 ? " at node " : i == n - 1 ? " or " : ", ", memory->peak_nodes[i]);
    onnxl_output_escaped(out, nodes[memory->peak_nodes[i]].proto->op_type);
    onnxl_output_char(out, ')');
  }
  if (shown < n)
    onnxl_output_printf(out, " or %u others", n - shown);
}

static void
report_table(const OnnxlMemory *memory, const uint32_t *rows, uint32_t n_rows, const OnnxlExpr *workspaces,
             OnnxlReportFormat format, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = {
    { "node", true },    { "op", false },           { "already_allocated", false }, { "output_allocation", false },
    { "inputs", false }, { "initializers", false }, { "intermediates", false },     { "outputs", false },
    { "total", false },  { "workspace", false },
  };
  OnnxlExprPool *pool = memory->inference->pool;
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns) - (workspaces ? 0 : 1));
  const OnnxlNodeMemory *above = NULL;

  for (uint32_t r = 0; r < n_rows; r++) {
    uint32_t i = rows ? rows[r] : r;
    const OnnxlNodeMemory *node = &memory->nodes[i];
    onnxl_table_int64(table, i);
    onnxl_table_text(table, memory->inference->index->nodes[i].proto->op_type);
    table_expr(table, pool, &node->already_allocated, above ? &above->already_allocated : NULL);
    table_expr(table, pool, &node->output_allocation, above ? &above->output_allocation : NULL);
    table_bucket(table, pool, node->inputs, above ? above->inputs : NULL);
    table_bucket(table, pool, node->initializers, above ? above->initializers : NULL);
    table_bucket(table, pool, node->intermediates, above ? above->intermediates : NULL);
    table_bucket(table, pool, node->outputs, above ? above->outputs : NULL);
    table_upper(table, memory, &node->total, above ? &above->total : NULL);
    if (workspaces) {
      OnnxlExpr workspace = onnxl_memory_upper(memory->inference, workspaces[i], NULL, NULL);
      table_expr(table, pool, &workspace, NULL);
    }
    above = node;
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
  if (format != ONNXL_FORMAT_TABLE)
    return;
  OnnxlExpr upper = onnxl_memory_upper(memory->inference, memory->peak, NULL, NULL);
  onnxl_output_text(out, upper && upper != memory->peak ? "peak: <= " : "peak: ");
  onnxl_output_escaped(out, onnxl_expr_text(pool, upper ? upper : memory->peak));
  print_peak_nodes(memory, out);
  onnxl_output_char(out, '\n');
  onnxl_mem_unknown_text(memory, out);
  OnnxlExpr external = onnxl_memory_external(memory->inference);
  if (external != onnxl_expr_int(pool, 0))
    onnxl_output_printf(out, "of the initializers %s bytes are mapped from other files\n",
                        onnxl_expr_text(pool, external).data);
  OnnxlExpr slots = onnxl_memory_text_slots(memory->inference);
  if (slots != onnxl_expr_int(pool, 0))
    onnxl_output_printf(out,
                        "texts count by their lengths; 16 bytes that a run keeps for each, %s in all, count nowhere\n",
                        onnxl_expr_text(pool, slots).data);
}

void
onnxl_mem_json_expr(OnnxlJson *json, OnnxlExprPool *pool, OnnxlExpr e)
{
  int64_t value;

  if (!e)
    onnxl_json_null(json);
  else if (onnxl_expr_is_int(e, &value))
    onnxl_json_int64(json, value);
  else
    onnxl_json_string(json, onnxl_expr_text(pool, e));
}

static void
json_bucket(OnnxlJson *json, OnnxlExprPool *pool, const char *key, const OnnxlBucket *bucket)
{
  onnxl_json_key(json, key);
  onnxl_json_begin_object(json);
  for (OnnxlTag tag = 0; tag < ONNXL_N_TAGS; tag++) {
    int64_t value;
    if (onnxl_expr_is_int(bucket->amounts[tag], &value) && value == 0)
      continue;
    onnxl_json_key(json, onnxl_tag_name(tag));
    onnxl_mem_json_expr(json, pool, bucket->amounts[tag]);
  }
  onnxl_json_end_object(json);
}

/* Beside an amount that only a run shows, an upper bound of it. */
static void
json_bound(OnnxlJson *json, const OnnxlMemory *memory, const char *key, OnnxlExpr e)
{
  OnnxlExpr upper = onnxl_memory_upper(memory->inference, e, NULL, NULL);

  if (!upper || upper == e)
    return;
  onnxl_json_key(json, key);
  onnxl_mem_json_expr(json, memory->inference->pool, upper);
}

static void
json_node(OnnxlJson *json, const OnnxlMemory *memory, const OnnxlExpr *workspaces, uint32_t i)
{
  OnnxlExprPool *pool = memory->inference->pool;
  const OnnxlNode *proto = memory->inference->index->nodes[i].proto;
  const OnnxlNodeMemory *node = &memory->nodes[i];

  onnxl_json_begin_object(json);
  onnxl_json_key(json, "index");
  onnxl_json_int64(json, i);
  onnxl_json_key(json, "name");
  onnxl_json_string(json, proto->name);
  onnxl_json_key(json, "op");
  onnxl_json_string(json, proto->op_type);
  onnxl_json_key(json, "already_allocated");
  onnxl_mem_json_expr(json, pool, node->already_allocated);
  onnxl_json_key(json, "output_allocation");
  onnxl_mem_json_expr(json, pool, node->output_allocation);
  json_bucket(json, pool, "inputs", node->inputs);
  json_bucket(json, pool, "initializers", node->initializers);
  json_bucket(json, pool, "intermediates", node->intermediates);
  json_bucket(json, pool, "outputs", node->outputs);
  onnxl_json_key(json, "total");
  onnxl_mem_json_expr(json, pool, node->total);
  json_bound(json, memory, "total_bound", node->total);
  if (workspaces) {
    onnxl_json_key(json, "workspace");
    onnxl_mem_json_expr(json, pool, onnxl_memory_upper(memory->inference, workspaces[i], NULL, NULL));
  }
  onnxl_json_end_object(json);
}

void
onnxl_mem_json_dims(OnnxlJson *json, const OnnxlAssignment *assignment)
{
  onnxl_json_begin_object(json);
  for (size_t i = 0; i < assignment->grid->count; i++) {
    onnxl_json_key_str(json, assignment->grid->items[i].name);
    onnxl_json_int64(json, assignment->grid->items[i].values[assignment->choice[i]]);
  }
  onnxl_json_end_object(json);
}

typedef struct JsonRows {
  OnnxlJson *json;
  const OnnxlMemory *memory;
  const OnnxlExpr *workspaces;
} JsonRows;

/* The bounds of the scratch memory for an assignment, null where there is none. */
static void
json_workspaces(const JsonRows *rows, const OnnxlAssignment *assignment)
{
  OnnxlAssignment values = *assignment;

  onnxl_json_key(rows->json, "workspaces");
  onnxl_json_begin_array(rows->json);
  for (uint32_t i = 0; i < rows->memory->n_nodes; i++) {
    int64_t value;
    OnnxlExpr bound = onnxl_memory_upper(rows->memory->inference, rows->workspaces[i], onnxl_mem_lookup, &values);
    if (bound && onnxl_expr_evaluate(bound, onnxl_mem_lookup, &values, &value, NULL))
      onnxl_json_int64(rows->json, value);
    else
      onnxl_json_null(rows->json);
  }
  onnxl_json_end_array(rows->json);
}

static void
json_row(void *data, const OnnxlAssignment *assignment, const int64_t *totals, int64_t peak)
{
  JsonRows *rows = data;
  OnnxlJson *json = rows->json;

  onnxl_json_begin_object(json);
  onnxl_json_key(json, "dims");
  onnxl_mem_json_dims(json, assignment);
  onnxl_json_key(json, "totals");
  onnxl_json_begin_array(json);
  for (uint32_t i = 0; i < rows->memory->n_nodes; i++)
    onnxl_json_int64(json, totals[i]);
  onnxl_json_end_array(json);
  onnxl_json_key(json, "peak");
  onnxl_json_int64(json, peak);
  onnxl_json_key(json, "peak_node");
  uint32_t node = 0;
  while (node < rows->memory->n_nodes && totals[node] < peak)
    node++;
  if (node < rows->memory->n_nodes)
    onnxl_json_int64(json, node);
  else
    onnxl_json_null(json);
  onnxl_json_key(json, "at_most");
  onnxl_json_begin_array(json);
  for (uint32_t i = 0; i < rows->memory->n_nodes; i++)
    if (assignment->at_most[i])
      onnxl_json_int64(json, i);
  onnxl_json_end_array(json);
  if (rows->workspaces)
    json_workspaces(rows, assignment);
  onnxl_json_end_object(json);
}

static bool
report_json(const OnnxlMemory *memory, const OnnxlBindings *grid, const uint32_t *rows, uint32_t n_rows,
            const OnnxlExpr *workspaces, OnnxlOutput *out, GError **error)
{
  OnnxlJson json;
  bool done = true;

  onnxl_json_init(&json, out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "nodes");
  onnxl_json_begin_array(&json);
  for (uint32_t r = 0; r < n_rows; r++)
    json_node(&json, memory, workspaces, rows ? rows[r] : r);
  onnxl_json_end_array(&json);
  onnxl_json_key(&json, "peak");
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "node");
  if (memory->peak_node == ONNXL_NONE)
    onnxl_json_null(&json);
  else
    onnxl_json_int64(&json, memory->peak_node);
  onnxl_json_key(&json, "total");
  onnxl_mem_json_expr(&json, memory->inference->pool, memory->peak);
  json_bound(&json, memory, "bound", memory->peak);
  onnxl_json_key(&json, "nodes");
  onnxl_json_begin_array(&json);
  for (uint32_t i = 0; i < memory->n_peak_nodes; i++)
    onnxl_json_int64(&json, memory->peak_nodes[i]);
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_key(&json, "unknown");
  onnxl_mem_unknown_json(memory, &json);
  onnxl_json_key(&json, "text_slots");
  onnxl_mem_json_expr(&json, memory->inference->pool, onnxl_memory_text_slots(memory->inference));
  onnxl_json_key(&json, "external");
  onnxl_mem_json_expr(&json, memory->inference->pool, onnxl_memory_external(memory->inference));
  onnxl_json_key(&json, "eval");
  onnxl_json_begin_array(&json);
  if (grid->count > 0) {
    JsonRows evaluated = { &json, memory, workspaces };
    done = onnxl_mem_for_each(memory, grid, json_row, &evaluated, error);
  }
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
  return done;
}

bool
onnxl_mem_report(const OnnxlMemory *memory, const OnnxlBindings *grid, const uint32_t *rows, uint32_t n_rows,
                 const OnnxlExpr *workspaces, OnnxlReportFormat format, OnnxlOutput *out, GError **error)
{
  if (!rows)
    n_rows = memory->n_nodes;
  if (format == ONNXL_FORMAT_JSON)
    return report_json(memory, grid, rows, n_rows, workspaces, out, error);
  report_table(memory, rows, n_rows, workspaces, format, out);
  return true;
}

typedef struct TableRows {
  OnnxlTable *table;
  uint32_t n_nodes;
} TableRows;

static void
table_amount(OnnxlTable *table, int64_t amount, bool at_most)
{
  if (at_most)
    onnxl_table_printf(table, "<= %" G_GINT64_FORMAT, amount);
  else
    onnxl_table_int64(table, amount);
}

static void
table_row(void *data, const OnnxlAssignment *assignment, const int64_t *totals, int64_t peak)
{
  TableRows *rows = data;

  for (size_t i = 0; i < assignment->grid->count; i++)
    onnxl_table_int64(rows->table, assignment->grid->items[i].values[assignment->choice[i]]);
  for (uint32_t i = 0; i < rows->n_nodes; i++)
    table_amount(rows->table, totals[i], assignment->at_most[i]);
  table_amount(rows->table, peak, onnxl_mem_peak_at_most(assignment, totals, rows->n_nodes, peak));
}

bool
onnxl_mem_report_grid(const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlReportFormat format, OnnxlOutput *out,
                      GError **error)
{
  size_t n = grid->count + memory->n_nodes + 1;
  g_autofree OnnxlColumn *columns = g_new(OnnxlColumn, n);
  OnnxlOutput titles;

  onnxl_output_init(&titles, -1);
  for (size_t i = 0; i < n; i++) {
    if (i < grid->count) {
      onnxl_output_str(&titles, grid->items[i].name);
    } else if (i < n - 1) {
      onnxl_output_text(&titles, "node ");
      onnxl_output_uint64(&titles, i - grid->count);
    } else {
      onnxl_output_text(&titles, "peak");
    }
    onnxl_output_char(&titles, '\0');
  }
  const char *title = titles.buffer;
  for (size_t i = 0; i < n; i++, title += strlen(title) + 1)
    columns[i] = (OnnxlColumn){ title, true };
  TableRows rows = { onnxl_table_new(columns, n), memory->n_nodes };
  bool done = onnxl_mem_for_each(memory, grid, table_row, &rows, error);
  if (done)
    onnxl_table_write(rows.table, format, out);
  onnxl_table_free(rows.table);
  onnxl_output_clear(&titles);
  return done;
}
