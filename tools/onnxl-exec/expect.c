/* --expect NAME=@FILE: values of the run, intermediate ones included, against files. */
#include "difference.h"
#include "exec.h"
#include "runtime/value-type.h"
#include "support/error.h"

typedef struct Expectation {
  char *name;
  const char *path;
  OnnxlValue *value; /* NULL until it is met */
} Expectation;

typedef struct Expect {
  Observer observer;
  OnnxlRun *run;
  OnnxlInputContext context;
  GArray *expectations;
  GHashTable *by_name; /* place in expectations, from 1 */
} Expect;

/* Values die with their session, after this observer; holding one is all that is done here. */
static bool
expect_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Expect *expect = (Expect *)observer;
  if (event->action != ONNXL_EVENT_ADD)
    return true;
  g_autofree char *name = g_strndup(event->name.data, event->name.size);
  guint place = GPOINTER_TO_UINT(g_hash_table_lookup(expect->by_name, name));
  if (place > 0) {
    Expectation *expectation = &g_array_index(expect->expectations, Expectation, place - 1);
    onnxl_value_unref(expectation->value);
    expectation->value = onnxl_value_ref((OnnxlValue *)event->value);
  }
  return true;
}

static OnnxlValue *
read_expected(Expect *expect, const Expectation *expectation, GError **error)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlValue *value =
    onnxl_input_read_file(&expect->context, onnxl_value_type(expectation->value, arena), expectation->value->elem_type,
                          onnxl_str(expectation->name), expectation->path, error);
  onnxl_arena_free(arena);
  return value;
}

static void
report(Expect *expect, const Expectation *expectation, const Difference *difference)
{
  g_autofree char *extent = difference_extent(difference);
  g_autofree char *got = extent ? difference_statistics(&difference->numbers.got) : NULL;
  g_autofree char *want = extent ? difference_statistics(&difference->numbers.want) : NULL;
  onnxl_diag(expect->run->sink, ONNXL_DIAG_EXPECT, NULL, "%s is not what %s says: %s%s%s%s%s%s%s", expectation->name,
             expectation->path, difference->message, extent ? "; " : "", extent ? extent : "",
             extent ? "; the value has " : "", extent ? got : "", extent ? ", the file " : "", extent ? want : "");
}

static bool
expect_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Expect *expect = (Expect *)observer;
  for (guint i = 0; completed && i < expect->expectations->len; i++) {
    const Expectation *expectation = &g_array_index(expect->expectations, Expectation, i);
    if (!expectation->value)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--expect %s: no such value was computed", expectation->name);
    OnnxlValue *wanted = read_expected(expect, expectation, error);
    if (!wanted)
      return false;
    Difference *difference = difference_new(expectation->value, wanted);
    if (difference->message)
      report(expect, expectation, difference);
    difference_free(difference);
    onnxl_value_unref(wanted);
  }
  return true;
}

static void
expect_free(Observer *observer)
{
  Expect *expect = (Expect *)observer;
  for (guint i = 0; i < expect->expectations->len; i++) {
    Expectation *expectation = &g_array_index(expect->expectations, Expectation, i);
    g_free(expectation->name);
    onnxl_value_unref(expectation->value);
  }
  g_array_free(expect->expectations, TRUE);
  g_hash_table_destroy(expect->by_name);
  onnxl_input_context_clear(&expect->context);
  g_free(expect);
}

static bool
add_expectation(Expect *expect, const char *text, GError **error)
{
  const char *split = strstr(text, "=@");
  if (!split || split == text)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--expect %s: NAME=@FILE is needed", text);
  g_autofree char *file = onnxl_input_file(split + 2);
  onnxl_run_add_input(expect->run, file);
  Expectation expectation = { .name = g_strndup(text, (gsize)(split - text)), .path = split + 2 };
  g_array_append_val(expect->expectations, expectation);
  if (g_hash_table_insert(expect->by_name, expectation.name, GUINT_TO_POINTER(expect->expectations->len)))
    return true;
  return onnxl_fail(error, ONNXL_ERROR_USAGE, "--expect %s: the value has a file already", text);
}

bool
expect_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  bool good = true;
  if (exec_options.expect.count == 0)
    return true;
  Expect *expect = g_new0(Expect, 1);
  expect->observer = (Observer){ .event = expect_event, .finish = expect_finish, .free = expect_free };
  expect->run = run;
  expect->context.allocator = session->plan->allocator;
  expect->expectations = g_array_new(FALSE, TRUE, sizeof(Expectation));
  expect->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  *ret_observer = &expect->observer;
  for (size_t i = 0; good && i < exec_options.expect.count; i++)
    good = add_expectation(expect, exec_options.expect.items[i], error);
  return good;
}
