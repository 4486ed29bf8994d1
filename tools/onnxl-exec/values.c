/* --check-values and --fail-on: the range of every value. */
#include <math.h>

#include "cli/table.h"
#include "exec.h"
#include "runtime/tensor.h"
#include "support/error.h"

/* What --check-values knows of a value. */
typedef struct Range {
  char *name;
  double min, max, mean;
  uint64_t nans, infinities;
} Range;

typedef struct Values {
  Observer observer;
  const OnnxlRun *run;
  GArray *ranges; /* Range */
  char *failure;  /* the value that --fail-on found */
} Values;

static void
check_value(Values *values, const OnnxlEvent *event)
{
  const OnnxlValue *value = event->value;
  if (value->kind != ONNXL_KIND_TENSOR || value->elem_type == ONNXL_TYPE_STRING || values->failure)
    return;
  Range range = { .min = INFINITY, .max = -INFINITY };
  double sum = 0;
  for (int64_t i = 0; i < value->count; i++) {
    double x = onnxl_tensor_double(value, i);
    range.nans += isnan(x) != 0;
    range.infinities += isinf(x) != 0;
    range.min = fmin(range.min, x);
    range.max = fmax(range.max, x);
    sum += x;
  }
  range.mean = value->count == 0 || isnan(sum) ? NAN : sum / (double)value->count; /* without a NaN's sign */
  range.name = g_strndup(event->name.data, event->name.size);
  g_array_append_val(values->ranges, range);
  if ((exec_options.fail_on == 1 && range.nans > 0) || (exec_options.fail_on == 2 && range.infinities > 0))
    values->failure = g_strdup_printf("the value %s has %" G_GUINT64_FORMAT " %s, made by node %" G_GINT64_FORMAT,
                                      range.name, exec_options.fail_on == 1 ? range.nans : range.infinities,
                                      exec_options.fail_on == 1 ? "NaN" : "infinities", event->node);
}

static bool
values_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  (void)error;
  if (event->action == ONNXL_EVENT_ADD)
    check_value((Values *)observer, event);
  return true;
}

static void
print_ranges(const Values *values, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "name", false }, { "min", true }, { "max", true },
                                         { "mean", true },  { "nan", true }, { "inf", true } };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));
  for (guint i = 0; i < values->ranges->len; i++) {
    const Range *range = &g_array_index(values->ranges, Range, i);
    onnxl_table_text(table, onnxl_str(range->name));
    onnxl_table_double(table, range->min);
    onnxl_table_double(table, range->max);
    onnxl_table_double(table, range->mean);
    onnxl_table_int64(table, (int64_t)range->nans);
    onnxl_table_int64(table, (int64_t)range->infinities);
  }
  onnxl_table_write(table, values->run->common.format, out);
  onnxl_table_free(table);
}

static bool
values_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  const Values *values = (const Values *)observer;

  if (completed && exec_options.check_values)
    print_ranges(values, out);
  return !completed || !values->failure || onnxl_fail(error, ONNXL_ERROR_INVALID, "%s", values->failure);
}

static void
values_free(Observer *observer)
{
  Values *values = (Values *)observer;

  for (guint i = 0; i < values->ranges->len; i++)
    g_free(g_array_index(values->ranges, Range, i).name);
  g_array_free(values->ranges, TRUE);
  g_free(values->failure);
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
  values->observer = (Observer){
    .event = values_event, .finish = values_finish, .free = values_free, .takes_stdout = exec_options.check_values
  };
  values->run = run;
  values->ranges = g_array_new(FALSE, FALSE, sizeof(Range));
  *ret_observer = &values->observer;
  return true;
}
