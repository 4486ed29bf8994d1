#include "difference.h"

#include <math.h>

#include "exec.h"
#include "runtime/tensor.h"

static OnnxlTolerance
tolerance_for(int32_t elem_type)
{
  OnnxlTolerance tolerance = onnxl_tolerance_of(elem_type);
  if (!isnan(exec_options.rtol))
    tolerance.rtol = exec_options.rtol;
  if (!isnan(exec_options.atol))
    tolerance.atol = exec_options.atol;
  return tolerance;
}

Difference *
difference_new(const OnnxlValue *got, const OnnxlValue *want)
{
  Difference *difference = g_new0(Difference, 1);
  difference->tolerance = tolerance_for(want->elem_type);
  onnxl_value_compare(got, want, &difference->tolerance, &difference->message);
  difference->has_numbers = onnxl_value_difference(got, want, &difference->tolerance, &difference->numbers);
  difference->rank = want->rank;
  difference->dims = g_memdup2(want->dims, want->rank * sizeof *want->dims);
  return difference;
}

void
difference_free(Difference *difference)
{
  if (!difference)
    return;
  g_free(difference->message);
  g_free(difference->dims);
  g_free(difference);
}

char *
difference_place(const Difference *difference, int64_t i)
{
  int64_t index[ONNXL_MAX_RANK] = { 0 };
  /* Two parts a complex element. */
  int64_t count = 1;
  for (uint32_t d = 0; d < difference->rank; d++)
    count *= difference->dims[d];
  int64_t rest = (uint64_t)count < difference->numbers.count ? i / 2 : i;
  for (uint32_t d = difference->rank; d-- > 0; rest /= difference->dims[d])
    index[d] = rest % difference->dims[d];
  return onnxl_dims_text(index, difference->rank);
}

char *
difference_extent(const Difference *difference)
{
  const OnnxlDifference *numbers = &difference->numbers;
  if (!difference->has_numbers)
    return NULL;
  GString *text = g_string_new(NULL);
  g_string_printf(text, "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " elements %s beyond rtol %g and atol %g",
                  numbers->beyond, numbers->count, numbers->beyond == 1 ? "is" : "are", difference->tolerance.rtol,
                  difference->tolerance.atol);
  if (numbers->absolute_at >= 0) {
    g_autofree char *absolute = difference_place(difference, numbers->absolute_at),
                    *relative = difference_place(difference, numbers->relative_at);
    g_string_append_printf(text, "; the largest absolute difference is %g at %s, the largest relative one %g at %s",
                           numbers->absolute, absolute, numbers->relative, relative);
  }
  return g_string_free(text, FALSE);
}

char *
difference_statistics(const OnnxlStatistics *statistics)
{
  GString *text = g_string_new(statistics->numbers == 0 ? "no number" : NULL);
  if (statistics->numbers > 0)
    g_string_printf(text, "min %g, max %g, mean %g", statistics->min, statistics->max, statistics->mean);
  if (statistics->nans > 0)
    g_string_append_printf(text, ", %" G_GUINT64_FORMAT " NaN", statistics->nans);
  if (statistics->infinities > 0)
    g_string_append_printf(text, ", %" G_GUINT64_FORMAT " infinite", statistics->infinities);
  return g_string_free(text, FALSE);
}

static void
json_statistics(OnnxlJson *json, const char *key, const OnnxlStatistics *statistics)
{
  onnxl_json_key(json, key);
  onnxl_json_begin_object(json);
  onnxl_json_key(json, "min");
  onnxl_json_double(json, statistics->min);
  onnxl_json_key(json, "max");
  onnxl_json_double(json, statistics->max);
  onnxl_json_key(json, "mean");
  onnxl_json_double(json, statistics->mean);
  onnxl_json_key(json, "nan");
  onnxl_json_uint64(json, statistics->nans);
  onnxl_json_key(json, "inf");
  onnxl_json_uint64(json, statistics->infinities);
  onnxl_json_end_object(json);
}

static void
json_largest(OnnxlJson *json, const Difference *difference, const char *key, double largest, const char *at_key,
             int64_t at)
{
  onnxl_json_key(json, key);
  onnxl_json_double(json, largest);
  onnxl_json_key(json, at_key);
  if (at < 0) {
    onnxl_json_null(json);
    return;
  }
  g_autofree char *place = difference_place(difference, at);
  onnxl_json_raw(json, onnxl_str(place));
}

void
difference_json_fields(OnnxlJson *json, const Difference *difference, const char *got, const char *want)
{
  const OnnxlDifference *numbers = &difference->numbers;
  onnxl_json_key(json, "equal");
  onnxl_json_bool(json, !difference->message);
  if (difference->message) {
    onnxl_json_key(json, "message");
    onnxl_json_text(json, difference->message);
  }
  if (!difference->has_numbers)
    return;
  onnxl_json_key(json, "rtol");
  onnxl_json_double(json, difference->tolerance.rtol);
  onnxl_json_key(json, "atol");
  onnxl_json_double(json, difference->tolerance.atol);
  onnxl_json_key(json, "elements");
  onnxl_json_uint64(json, numbers->count);
  onnxl_json_key(json, "beyond");
  onnxl_json_uint64(json, numbers->beyond);
  json_largest(json, difference, "max_absolute", numbers->absolute, "max_absolute_at", numbers->absolute_at);
  json_largest(json, difference, "max_relative", numbers->relative, "max_relative_at", numbers->relative_at);
  json_statistics(json, got, &numbers->got);
  json_statistics(json, want, &numbers->want);
}
