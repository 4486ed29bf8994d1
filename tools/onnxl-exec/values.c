/* --check-values and --fail-on: the range of every value, nested graphs included. */
#include <math.h>

#include "cli/table.h"
#include "exec.h"
#include "runtime/tensor.h"
#include "support/error.h"
#include "support/number.h"

/* What is known of the numbers of a value; of one in the body of a loop, over all trips. */
typedef struct Range {
  char *graph, *name; /* graph: "" for the main one */
  double min, max, sum;
  uint64_t count, nans, infinities, zeros, subnormals;
} Range;

typedef struct Values {
  Observer observer;
  const OnnxlRun *run;
  GPtrArray *ranges;   /* Range, in order of the first event */
  GHashTable *by_name; /* of nested values, "GRAPH NAME" to Range */
  bool stopped;
} Values;

/* As the words of --fail-on. */
enum { FAIL_ON_NAN = 1, FAIL_ON_INF = 2, FAIL_ON_BOTH = 3 };

static void
range_init(Range *range, const char *graph, OnnxlStr name)
{
  *range =
    (Range){ .graph = g_strdup(graph), .name = g_strndup(name.data, name.size), .min = INFINITY, .max = -INFINITY };
}

static void
range_clear(Range *range)
{
  g_free(range->graph);
  g_free(range->name);
}

static void
range_free(gpointer range)
{
  range_clear(range);
  g_free(range);
}

/* The smallest number of full precision; 0 for types without others. */
static double
smallest_normal(int32_t elem_type)
{
  switch (elem_type) {
  case ONNXL_TYPE_FLOAT:
  case ONNXL_TYPE_BFLOAT16:
    return 0x1p-126;
  case ONNXL_TYPE_DOUBLE:
    return 0x1p-1022;
  case ONNXL_TYPE_FLOAT16:
  case ONNXL_TYPE_FLOAT8E5M2:
    return 0x1p-14;
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
    return 0x1p-15;
  case ONNXL_TYPE_FLOAT8E4M3FN:
    return 0x1p-6;
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
    return 0x1p-7;
  case ONNXL_TYPE_FLOAT4E2M1:
    return 1;
  default:
    return 0;
  }
}

static void
range_add_numbers(Range *range, const double *numbers, size_t n, double normal)
{
  for (size_t i = 0; i < n; i++) {
    double x = numbers[i];
    range->nans += isnan(x) != 0;
    range->infinities += isinf(x) != 0;
    range->zeros += x == 0;
    range->subnormals += x != 0 && fabs(x) < normal;
    range->min = fmin(range->min, x);
    range->max = fmax(range->max, x);
    range->sum += x;
  }
  range->count += n;
}

/* Returns: false when the value holds no real numbers. */
static bool
range_add(Range *range, const OnnxlValue *value)
{
  enum { SOME = 1024 };
  double numbers[SOME];
  bool any = false;
  if (value->kind != ONNXL_KIND_TENSOR) {
    for (size_t i = 0; i < value->n_items; i++)
      any = range_add(range, value->items[i]) || any;
    return any;
  }
  int32_t type = value->elem_type;
  if (!onnxl_type_is_float(type) && !onnxl_type_is_integer(type) && type != ONNXL_TYPE_BOOL)
    return false;
  for (int64_t i = 0; i < value->count; i += SOME) {
    size_t n = (size_t)MIN(SOME, value->count - i);
    onnxl_tensor_read_double(value, i, n, numbers);
    range_add_numbers(range, numbers, n, smallest_normal(type));
  }
  return true;
}

static bool
range_has_numbers(const Range *range)
{
  return range->count > range->nans;
}

static double
range_mean(const Range *range)
{
  return range->count == 0 || isnan(range->sum) ? NAN : range->sum / (double)range->count; /* without a NaN's sign */
}

/* --- --check-values --- */

/* Every value of the main graph has a row; one of a nested graph or function has a row for all its trips. */
static void
collect(Values *values, const OnnxlEvent *event)
{
  const char *graph = onnxl_event_graph(event);
  g_autofree char *key = event->scope ? g_strdup_printf("%s %.*s", graph, ONNXL_ARG(event->name)) : NULL;
  Range *known = key ? g_hash_table_lookup(values->by_name, key) : NULL;
  if (known) {
    range_add(known, event->value);
    return;
  }
  Range *range = g_new(Range, 1);
  range_init(range, graph, event->name);
  if (!range_add(range, event->value)) {
    range_free(range);
    return;
  }
  g_ptr_array_add(values->ranges, range);
  if (key)
    g_hash_table_insert(values->by_name, g_steal_pointer(&key), range);
}

static void
print_ranges(const Values *values, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "name", false }, { "min", true },       { "max", true },
                                         { "mean", true },  { "nan", true },       { "inf", true },
                                         { "zero", true },  { "subnormal", true }, { "graph", false } };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < values->ranges->len; i++) {
    const Range *range = g_ptr_array_index(values->ranges, i);
    onnxl_table_text(table, onnxl_str(range->name));
    if (range_has_numbers(range)) {
      onnxl_table_double(table, range->min);
      onnxl_table_double(table, range->max);
    } else {
      onnxl_table_none(table);
      onnxl_table_none(table);
    }
    onnxl_table_double(table, range_mean(range));
    onnxl_table_int64(table, (int64_t)range->nans);
    onnxl_table_int64(table, (int64_t)range->infinities);
    onnxl_table_int64(table, (int64_t)range->zeros);
    onnxl_table_int64(table, (int64_t)range->subnormals);
    onnxl_table_text(table, onnxl_str(range->graph));
  }
  onnxl_table_write(table, values->run->common.format, out);
  onnxl_table_free(table);
}

/* --- --fail-on --- */

static void
append_number(GString *text, const char *what, double number)
{
  char digits[ONNXL_NUMBER_SIZE];
  g_string_append_printf(text, " %s ", what);
  g_string_append_len(text, digits, (gssize)onnxl_print_double(digits, number));
}

static void
append_input(GString *text, OnnxlStr name, const OnnxlValue *value, const OnnxlValue *output)
{
  Range range;
  g_autofree char *type = onnxl_value_describe(value);
  g_string_append_printf(text, "%.*s %s", ONNXL_ARG(name), type);
  if (value->kind == ONNXL_KIND_TENSOR && output->kind == ONNXL_KIND_TENSOR && value->count > 0 &&
      value->data == output->data) {
    g_string_append(text, " (written over)");
    return;
  }
  range_init(&range, "", name);
  if (range_add(&range, value)) {
    if (range_has_numbers(&range)) {
      append_number(text, "min", range.min);
      append_number(text, "max", range.max);
      append_number(text, "mean", range_mean(&range));
    }
    g_string_append_printf(text, " nan %" G_GUINT64_FORMAT " inf %" G_GUINT64_FORMAT, range.nans, range.infinities);
  }
  range_clear(&range);
}

/* The finding that ends the run: the value, the node that made it, what that was given. Returns: its text, owned. */
static char *
report(Values *values, const OnnxlEvent *event, const Range *range)
{
  bool nans = range->nans > 0 && exec_options.fail_on != FAIL_ON_INF;
  bool infinities = range->infinities > 0 && exec_options.fail_on != FAIL_ON_NAN;
  g_autofree char *path = onnxl_event_node_path(event);
  OnnxlLocation where = { .path = path };
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "the value %s has ", range->name);
  if (nans)
    g_string_append_printf(text, "%" G_GUINT64_FORMAT " NaN%s", range->nans, infinities ? " and " : "");
  if (infinities)
    g_string_append_printf(text, "%" G_GUINT64_FORMAT " infinit%s", range->infinities,
                           range->infinities == 1 ? "y" : "ies");
  if (event->node >= 0)
    g_string_append_printf(text, ", made by node %" G_GINT64_FORMAT " from", event->node);
  else
    g_string_append_printf(text, ", it is an %s", onnxl_event_kind_name(event->kind));
  for (uint32_t i = 0, n = 0; i < event->n_inputs; i++) {
    if (!event->inputs[i])
      continue;
    g_string_append(text, n++ > 0 ? ", " : " ");
    append_input(text, event->proto->input.items[i], event->inputs[i], event->value);
  }
  if (event->node >= 0 && event->n_inputs == 0)
    g_string_append(text, " nothing");
  onnxl_diag(values->run->sink, ONNXL_DIAG_RUN, &where, "%s", text->str);
  return g_string_free(text, FALSE);
}

static bool
check_value(Values *values, const OnnxlEvent *event, GError **error)
{
  Range range;
  range_init(&range, "", event->name);
  range_add(&range, event->value);
  bool bad = (range.nans > 0 && exec_options.fail_on != FAIL_ON_INF) ||
             (range.infinities > 0 && exec_options.fail_on != FAIL_ON_NAN);
  g_autofree char *text = bad ? report(values, event, &range) : NULL;
  range_clear(&range);
  values->stopped = bad;
  return !bad || onnxl_fail(error, ONNXL_ERROR_INVALID, "%s", text);
}

/* --- the observer --- */

static bool
values_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Values *values = (Values *)observer;

  /* What a body hands back was met before. */
  if (event->action != ONNXL_EVENT_ADD || event->kind == ONNXL_EVENT_OUTPUT)
    return true;
  if (exec_options.check_values)
    collect(values, event);
  return exec_options.fail_on == 0 || check_value(values, event, error);
}

static bool
values_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  const Values *values = (const Values *)observer;

  (void)error;
  if (exec_options.check_values && (completed || values->stopped))
    print_ranges(values, out);
  return true;
}

static void
values_free(Observer *observer)
{
  Values *values = (Values *)observer;

  g_ptr_array_free(values->ranges, TRUE);
  g_hash_table_destroy(values->by_name);
  g_free(values);
}

bool
values_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  (void)session;
  (void)error;
  if (!exec_options.check_values && !exec_options.fail_on)
    return true;
  Values *values = g_new0(Values, 1);
  values->observer = (Observer){ .event = values_event,
                                 .finish = values_finish,
                                 .free = values_free,
                                 .nested = true,
                                 .takes_stdout = exec_options.check_values };
  values->run = run;
  values->ranges = g_ptr_array_new_with_free_func(range_free);
  values->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  *ret_observer = &values->observer;
  return true;
}
