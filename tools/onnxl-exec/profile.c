/* --profile: what each node, or each operator, took, and how that compares with what the machine can do. */
#include <math.h>

#include "cli/table.h"
#include "exec.h"
#include "machine.h"
#include "memory/macs.h"
#include "node-runs.h"
#include "runtime/sizes.h"
#include "support/error.h"
#include "support/map.h"
#include "support/sort.h"

/* A node, or all nodes of an operator, whose figures are then summed up and whose bytes are the most of any. */
typedef struct Row {
  NodeRun run;
  const char *kernel; /* variant; "function" for a call */
  uint32_t n_nodes;
  double operations, bytes; /* computed and moved; NAN = not known */
} Row;

typedef struct Profile {
  Observer observer;
  const OnnxlRun *run;
  const OnnxlPlan *plan;
  NodeRuns runs;
  OnnxlArena *arena;
  OnnxlInference *inference; /* or NULL, when there are no costs */
  const OnnxlCosts *costs;
  OnnxlMap values;   /* value ids of the main graph by name */
  OnnxlSizes *sizes; /* of symbols, as the values of the run tell them */
} Profile;

static bool
bind_sizes(Profile *profile, const OnnxlEvent *event, GError **error)
{
  uint32_t v = profile->costs ? onnxl_map_get(&profile->values, event->name) : ONNXL_MAP_NONE;

  return v == ONNXL_MAP_NONE || onnxl_sizes_bind(profile->sizes, &profile->inference->values[v], event->value) ||
         onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory for symbols");
}

static bool
profile_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Profile *profile = (Profile *)observer;

  if (event->action == ONNXL_EVENT_ADD)
    return event->scope || bind_sizes(profile, event, error);
  if (event->action != ONNXL_EVENT_RUN_NODE)
    return true;
  node_runs_add(&profile->runs, event);
  return true;
}

/* --- figures of a node --- */

static double
evaluate(const Profile *profile, OnnxlExpr amount)
{
  int64_t value;
  return amount && onnxl_expr_evaluate(amount, onnxl_sizes_lookup, profile->sizes, &value, NULL) ? (double)value : NAN;
}

/* How each node of the plan is computed. Returns: owned; OnnxlNode -> OnnxlStep. */
static GHashTable *
find_steps(const OnnxlPlan *plan)
{
  GHashTable *steps = g_hash_table_new(NULL, NULL);

  for (const OnnxlBody *body = plan->bodies; body; body = body->next)
    for (uint32_t id = 0; id < body->index->n_nodes; id++)
      g_hash_table_insert(steps, (gpointer)body->index->nodes[id].proto, &body->steps[id]);
  return steps;
}

/* One a node that has run. Returns: owned. */
static Row *
make_rows(const Profile *profile, uint32_t *ret_n)
{
  Row *rows = g_new0(Row, profile->runs.n_all);
  GHashTable *steps = find_steps(profile->plan);

  *ret_n = profile->runs.n_all;
  for (uint32_t n = 0; n < *ret_n; n++) {
    const NodeRun *run = &profile->runs.nodes[n];
    const OnnxlStep *step = g_hash_table_lookup(steps, run->proto);
    const OnnxlCost *cost = profile->costs && n < profile->runs.n_nodes ? &profile->costs->nodes[n] : NULL;
    bool known = cost && !cost->at_most; /* bounds would make a node look faster than it is */
    rows[n] = (Row){ .run = *run,
                     .kernel = step->kernel ? step->kernel->variant : "function",
                     .n_nodes = 1,
                     .operations = known ? evaluate(profile, cost->flops) : NAN,
                     .bytes = known ? evaluate(profile, cost->read) + evaluate(profile, cost->written) : NAN };
  }
  g_hash_table_destroy(steps);
  return rows;
}

/* --- tables --- */

/* As run: what encloses others comes first. */
static int
by_start(const void *a, const void *b)
{
  const Row *x = a, *y = b;
  if (x->run.start_ns != y->run.start_ns)
    return x->run.start_ns < y->run.start_ns ? -1 : 1;
  int order = strcmp(x->run.graph, y->run.graph);
  return order != 0 ? order : (x->run.index > y->run.index) - (x->run.index < y->run.index);
}

static int
slower_first(const void *a, const void *b)
{
  const Row *x = a, *y = b;
  if (x->run.own_ns != y->run.own_ns)
    return x->run.own_ns < y->run.own_ns ? 1 : -1;
  return by_start(a, b);
}

static int
compare_operators(const Row *a, const Row *b)
{
  OnnxlStr domain_a = onnxl_domain_normal(a->run.proto->domain), domain_b = onnxl_domain_normal(b->run.proto->domain);
  int order = onnxl_str_compare(domain_a, domain_b);
  return order != 0 ? order : onnxl_str_compare(a->run.proto->op_type, b->run.proto->op_type);
}

static int
by_operator(const void *a, const void *b)
{
  const Row *x = a, *y = b;
  int order = compare_operators(x, y);
  return order != 0 ? order : by_start(a, b);
}

/* Makes the rows those of operators, slowest first. What ran inside a node counts for its own operator. Returns: their
 * number. */
static uint32_t
sum_up_operators(Row *rows, uint32_t n)
{
  uint32_t n_sums = 0;

  for (uint32_t i = 0; i < n; i++) {
    rows[i].run.duration_ns = rows[i].run.own_ns;
    rows[i].run.min_ns = rows[i].run.own_min_ns;
  }
  onnxl_sort(rows, n, sizeof *rows, by_operator);
  for (uint32_t i = 0; i < n; i++) {
    const Row row = rows[i];
    Row *last = n_sums > 0 ? &rows[n_sums - 1] : NULL;
    if (!last || compare_operators(last, &row) != 0) {
      rows[n_sums++] = row;
      continue;
    }
    last->n_nodes++;
    last->run.duration_ns += row.run.duration_ns;
    last->run.own_ns += row.run.own_ns;
    last->run.min_ns += row.run.min_ns;
    last->run.live_bytes = MAX(last->run.live_bytes, row.run.live_bytes);
    last->run.peak_bytes = MAX(last->run.peak_bytes, row.run.peak_bytes);
    last->run.workspace_bytes = MAX(last->run.workspace_bytes, row.run.workspace_bytes);
    last->operations += row.operations;
    last->bytes += row.bytes;
    if (strcmp(last->kernel, row.kernel) != 0)
      last->kernel = "several";
  }
  onnxl_sort(rows, n_sums, sizeof *rows, slower_first);
  return n_sums;
}

/* A cell with so many decimals, empty for what is not known. */
static void
add_number(OnnxlTable *table, double number, double decimals)
{
  if (isfinite(number))
    onnxl_table_double(table, round(number * decimals) / decimals);
  else
    onnxl_table_none(table);
}

static void
add_percent(OnnxlTable *table, double part, double whole)
{
  add_number(table, whole > 0 ? 100 * part / whole : NAN, 10);
}

#define MEMORY_COLUMNS                \
  { "live", true }, { "peak", true }, \
  {                                   \
    "workspace", true                 \
  }

static void
add_memory(OnnxlTable *table, const Row *row)
{
  onnxl_table_int64(table, (int64_t)row->run.live_bytes);
  onnxl_table_int64(table, (int64_t)row->run.peak_bytes);
  onnxl_table_int64(table, (int64_t)row->run.workspace_bytes);
}

#define SPEED_COLUMNS                                                                                              \
  { "min_ns", true }, { "sum_ns", true }, { "sum_percent", true }, { "gflops", true }, { "gflops_percent", true }, \
    { "gbytes", true }, { "gbytes_percent", true },                                                                \
  {                                                                                                                \
    "kernel", false                                                                                                \
  }

static void
add_speed(OnnxlTable *table, const Row *row, uint64_t sum_ns, uint64_t total_ns, const Machine *machine)
{
  double gflops = row->operations > 0 ? row->operations / (double)row->run.duration_ns : NAN;
  double gbytes = row->bytes / (double)row->run.duration_ns;

  onnxl_table_int64(table, (int64_t)row->run.min_ns);
  onnxl_table_int64(table, (int64_t)sum_ns);
  add_percent(table, (double)sum_ns, (double)total_ns);
  add_number(table, gflops, 1000);
  add_percent(table, gflops, machine->gflops);
  add_number(table, gbytes, 1000);
  add_percent(table, gbytes, machine->gbytes);
  onnxl_table_text(table, onnxl_str(row->kernel));
}

#define NESTED_COLUMNS                   \
  { "graph", false }, { "trips", true }, \
  {                                      \
    "own_ns", true                       \
  }

static void
add_nested(OnnxlTable *table, const Row *row)
{
  onnxl_table_text(table, onnxl_str(row->run.graph));
  onnxl_table_int64(table, (int64_t)row->run.trips);
  onnxl_table_int64(table, (int64_t)row->run.own_ns);
}

static void
print_rows(const Profile *profile, const Row *rows, uint32_t n, OnnxlOutput *out)
{
  static const OnnxlColumn node_columns[] = { { "node", true },        { "op", false }, { "name", false },
                                              { "duration_ns", true }, MEMORY_COLUMNS,  { "percent", true },
                                              SPEED_COLUMNS,           NESTED_COLUMNS };
  static const OnnxlColumn op_columns[] = { { "op", false },     { "nodes", true }, { "duration_ns", true },
                                            { "percent", true }, MEMORY_COLUMNS,    SPEED_COLUMNS };
  bool by_op = exec_options.profile_by == 1;
  bool nested = exec_options.nested && !by_op;
  OnnxlTable *table = by_op ? onnxl_table_new(op_columns, G_N_ELEMENTS(op_columns))
                            : onnxl_table_new(node_columns, G_N_ELEMENTS(node_columns) - (nested ? 0 : 3));
  Machine machine = machine_measure(profile->plan->allocator);
  uint64_t total_ns = 0, sum_ns = 0;

  for (uint32_t i = 0; i < n; i++)
    total_ns += rows[i].run.own_ns;
  for (uint32_t i = 0; i < n && (exec_options.top == 0 || i < exec_options.top); i++) {
    const Row *row = &rows[i];
    sum_ns += row->run.own_ns;
    if (by_op) {
      onnxl_table_text(table, row->run.proto->op_type);
      onnxl_table_int64(table, row->n_nodes);
      onnxl_table_int64(table, (int64_t)row->run.duration_ns);
      add_percent(table, (double)row->run.duration_ns, (double)total_ns);
      add_memory(table, row);
    } else {
      onnxl_table_int64(table, row->run.index);
      onnxl_table_text(table, row->run.proto->op_type);
      onnxl_table_text(table, row->run.proto->name.data ? row->run.proto->name : ONNXL_STR(""));
      onnxl_table_int64(table, (int64_t)row->run.duration_ns);
      add_memory(table, row);
      add_percent(table, (double)row->run.own_ns, (double)total_ns);
    }
    add_speed(table, row, sum_ns, total_ns, &machine);
    if (nested)
      add_nested(table, row);
  }
  onnxl_table_write(table, profile->run->common.format, out);
  onnxl_table_free(table);
  if (profile->run->common.format == ONNXL_FORMAT_TABLE)
    onnxl_output_printf(out, "one thread of this machine: %.1f GFLOP/s, %.1f GB/s\n", machine.gflops, machine.gbytes);
}

static bool
profile_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Profile *profile = (Profile *)observer;
  uint32_t n;

  (void)error;
  if (!completed)
    return true;
  node_runs_finish(&profile->runs);
  Row *rows = make_rows(profile, &n);
  if (exec_options.profile_by == 1)
    n = sum_up_operators(rows, n);
  else
    onnxl_sort(rows, n, sizeof *rows, exec_options.top > 0 ? slower_first : by_start);
  print_rows(profile, rows, n, out);
  g_free(rows);
  return true;
}

static void
profile_free(Observer *observer)
{
  Profile *profile = (Profile *)observer;

  node_runs_clear(&profile->runs);
  onnxl_sizes_free(profile->sizes);
  onnxl_inference_free(profile->inference);
  onnxl_arena_free(profile->arena);
  g_free(profile);
}

/* What the nodes compute and move. A model that cannot be inferred has a profile without it; what is wrong is the
 * business of onnxl-shapes. */
static void
prepare_costs(Profile *profile, const OnnxlModel *model)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);

  profile->inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, profile->arena, sink, NULL);
  onnxl_diag_sink_free(sink);
  profile->costs = profile->inference ? onnxl_costs_new(profile->inference, profile->arena, NULL) : NULL;
  if (!profile->costs)
    return;
  const OnnxlIndex *index = profile->inference->index;
  profile->values = onnxl_map_new(profile->arena, index->n_values);
  for (uint32_t v = 0; v < index->n_values; v++)
    if (index->values[v].graph == 0)
      onnxl_map_put(&profile->values, index->values[v].name, v, NULL);
}

bool
profile_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  const OnnxlModel *model = session->model;

  (void)error;
  if (!exec_options.profile)
    return true;
  Profile *profile = g_new0(Profile, 1);
  profile->observer = (Observer){
    .event = profile_event, .finish = profile_finish, .free = profile_free, .takes_stdout = true, .every_run = true
  };
  profile->observer.nested = exec_options.nested;
  *ret_observer = &profile->observer;
  profile->run = run;
  profile->plan = session->plan;
  node_runs_init(&profile->runs, session->plan->main->index->graphs[0].n_nodes);
  profile->sizes = onnxl_sizes_new();
  profile->arena =
    onnxl_arena_new((size_t)onnxl_limits_metadata(&run->common.limits, model->file ? model->file->size : 0));
  prepare_costs(profile, model);
  return true;
}
