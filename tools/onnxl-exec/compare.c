/* --compare: two models on the same inputs, value by value, by name and place. */
#include "cli/table.h"
#include "difference.h"
#include "exec.h"

/* Rows of the table of what differs; the JSON report has everything. */
enum { MAX_ROWS = 20 };

/* A value that the first model computed. */
typedef struct Entry {
  char *key;   /* of by_key */
  char *place; /* the nested graph or function, with trips of loops; "" = the main graph */
  char *name, *type;
  OnnxlValue *value;      /* until it has been compared; NULL when several have its place and name, too */
  int64_t node;           /* -1 = none */
  char *op, *other_op;    /* of the nodes that made it; NULL = none */
  Difference *difference; /* NULL: the other model has no such value */
} Entry;

/* Both models' observers fill the same list: the first adds entries, in the order of execution, the other compares with
 * them. */
typedef struct Comparison {
  GPtrArray *entries;
  GHashTable *by_key; /* of entries that are not compared yet */
} Comparison;

typedef struct Side {
  Observer observer;
  Comparison *comparison;
  bool second;
} Side;

static void
entry_free(gpointer data)
{
  Entry *entry = data;
  g_free(entry->key);
  g_free(entry->place);
  g_free(entry->name);
  g_free(entry->type);
  g_free(entry->op);
  g_free(entry->other_op);
  onnxl_value_unref(entry->value);
  difference_free(entry->difference);
  g_free(entry);
}

static char *
key_of(const char *place, OnnxlStr name)
{
  return g_strdup_printf("%s %.*s", place, ONNXL_ARG(name));
}

static Entry *
find_entry(const Comparison *comparison, const char *place, OnnxlStr name)
{
  g_autofree char *key = key_of(place, name);
  return g_hash_table_lookup(comparison->by_key, key);
}

static Entry *
add_entry(Comparison *comparison, const char *place, OnnxlStr name, OnnxlValue *value)
{
  Entry *entry = g_new0(Entry, 1);
  entry->key = key_of(place, name);
  entry->place = g_strdup(place);
  entry->name = g_strndup(name.data, name.size);
  entry->type = onnxl_value_describe(value);
  entry->value = onnxl_value_ref(value);
  entry->node = -1;
  g_ptr_array_add(comparison->entries, entry);
  g_hash_table_insert(comparison->by_key, entry->key, entry);
  return entry;
}

/* The value is not needed any more, so that not all values of both models are in memory. */
static void
compare_entry(Comparison *comparison, Entry *entry, const OnnxlValue *other)
{
  entry->difference = difference_new(other, entry->value);
  g_hash_table_remove(comparison->by_key, entry->key);
  g_clear_pointer(&entry->value, onnxl_value_unref);
}

static bool
side_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  Side *side = (Side *)observer;
  if (event->action != ONNXL_EVENT_ADD || event->kind != ONNXL_EVENT_INTERMEDIATE)
    return true;
  const char *place = onnxl_event_place(event);
  g_autofree char *op = event->proto ? g_strndup(event->proto->op_type.data, event->proto->op_type.size) : NULL;
  Entry *entry = find_entry(side->comparison, place, event->name);
  if (side->second && entry && entry->value) {
    entry->other_op = g_steal_pointer(&op);
    compare_entry(side->comparison, entry, event->value);
  } else if (!side->second && entry) {
    /* Nodes of one name have bodies of one path. */
    g_clear_pointer(&entry->value, onnxl_value_unref);
  } else if (!side->second) {
    entry = add_entry(side->comparison, place, event->name, (OnnxlValue *)event->value);
    entry->node = event->node;
    entry->op = g_steal_pointer(&op);
  }
  return true;
}

static void
side_free(Observer *observer)
{
  g_free(observer);
}

static void
watch_side(Session *session, Comparison *comparison, bool second)
{
  Side *side = g_new0(Side, 1);
  side->observer = (Observer){ .event = side_event, .free = side_free, .nested = exec_options.nested };
  side->comparison = comparison;
  side->second = second;
  session_watch(session, &side->observer);
}

static bool
open_side(OnnxlRun *run, Session *session, const char *path, GError **error)
{
  GError *failed = NULL;
  return session_open(session, run, path, &failed) || session_explain(session, run, failed, error);
}

static bool
run_side(OnnxlRun *run, Session *session, GError **error)
{
  GError *failed = NULL;
  return (session_read_command_inputs(session, run, &failed) && session_run(session, &failed)) ||
         session_explain(session, run, failed, error);
}

/* Outputs whose names differ are compared by their places, and so are those that no node computes. */
static bool
compare_outputs(OnnxlRun *run, Comparison *comparison, const Session sessions[2])
{
  uint32_t n = onnxl_executor_n_outputs(sessions[0].executor), m = onnxl_executor_n_outputs(sessions[1].executor);
  if (n != m) {
    onnxl_diag(run->sink, ONNXL_DIAG_RUN, NULL, "the models have %u and %u outputs", n, m);
    return false;
  }
  for (uint32_t i = 0; i < n; i++) {
    OnnxlStr name = onnxl_executor_output(sessions[0].executor, i)->name;
    bool renamed = !onnxl_str_equal(name, onnxl_executor_output(sessions[1].executor, i)->name);
    Entry *entry = find_entry(comparison, "", name);
    if (!entry && (renamed || onnxl_executor_output(sessions[0].executor, i)->kind != ONNXL_VALUE_NODE_OUTPUT))
      entry = add_entry(comparison, "", name, sessions[0].outputs[i]);
    if (entry)
      compare_entry(comparison, entry, sessions[1].outputs[i]);
  }
  return true;
}

/* --- the report --- */

static void
print_first(const Entry *entry, OnnxlOutput *out)
{
  const Difference *difference = entry->difference;
  g_autofree char *extent = difference_extent(difference);
  onnxl_output_printf(out, "%s%s%s differs: %s\n", entry->name, *entry->place ? " in " : "", entry->place,
                      difference->message);
  if (entry->op)
    onnxl_output_printf(out, "  made by %s, node %" G_GINT64_FORMAT "%s%s\n", entry->op, entry->node,
                        entry->other_op && strcmp(entry->op, entry->other_op) != 0 ? "; in the other model by " : "",
                        entry->other_op && strcmp(entry->op, entry->other_op) != 0 ? entry->other_op : "");
  if (!extent)
    return;
  g_autofree char *got = difference_statistics(&difference->numbers.got),
                  *want = difference_statistics(&difference->numbers.want);
  onnxl_output_printf(out, "  %s\n  this model: %s\n  the other: %s\n", extent, want, got);
}

static void
print_table(const Comparison *comparison, OnnxlReportFormat format, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = { { "node", true },         { "op", false },          { "name", false },
                                         { "type", false },        { "beyond", true },       { "elements", true },
                                         { "max_absolute", true }, { "max_relative", true }, { "path", false } };
  /* Without --nested all paths are empty. */
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns) - !exec_options.nested);
  uint32_t rows = 0;
  for (guint i = 0; i < comparison->entries->len; i++) {
    const Entry *entry = g_ptr_array_index(comparison->entries, i);
    const Difference *difference = entry->difference;
    if (!difference || !difference->message || (format == ONNXL_FORMAT_TABLE && rows++ >= MAX_ROWS))
      continue;
    const OnnxlDifference *numbers = &difference->numbers;
    if (entry->op)
      onnxl_table_int64(table, entry->node);
    else
      onnxl_table_none(table);
    onnxl_table_text(table, onnxl_str(entry->op ? entry->op : ""));
    onnxl_table_text(table, onnxl_str(entry->name));
    onnxl_table_text(table, onnxl_str(entry->type));
    if (difference->has_numbers) {
      onnxl_table_int64(table, (int64_t)numbers->beyond);
      onnxl_table_int64(table, (int64_t)numbers->count);
      onnxl_table_printf(table, "%g", numbers->absolute);
      onnxl_table_printf(table, "%g", numbers->relative);
    } else
      for (int c = 0; c < 4; c++)
        onnxl_table_none(table);
    if (exec_options.nested)
      onnxl_table_text(table, onnxl_str(entry->place));
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
}

static void
print_json(const Comparison *comparison, uint32_t compared, uint32_t differing, const Entry *first, OnnxlOutput *out)
{
  OnnxlJson json;
  onnxl_json_init(&json, out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "compared");
  onnxl_json_uint64(&json, compared);
  onnxl_json_key(&json, "differing");
  onnxl_json_uint64(&json, differing);
  onnxl_json_key(&json, "first");
  onnxl_json_text(&json, first ? first->name : NULL);
  if (first && *first->place) {
    onnxl_json_key(&json, "first_path");
    onnxl_json_text(&json, first->place);
  }
  onnxl_json_key(&json, "values");
  onnxl_json_begin_array(&json);
  for (guint i = 0; i < comparison->entries->len; i++) {
    const Entry *entry = g_ptr_array_index(comparison->entries, i);
    if (!entry->difference)
      continue;
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "name");
    onnxl_json_text(&json, entry->name);
    if (*entry->place) {
      onnxl_json_key(&json, "path");
      onnxl_json_text(&json, entry->place);
    }
    onnxl_json_key(&json, "type");
    onnxl_json_text(&json, entry->type);
    onnxl_json_key(&json, "node");
    if (entry->op)
      onnxl_json_int64(&json, entry->node);
    else
      onnxl_json_null(&json);
    onnxl_json_key(&json, "op");
    onnxl_json_text(&json, entry->op ? entry->op : "");
    onnxl_json_key(&json, "other_op");
    onnxl_json_text(&json, entry->other_op ? entry->other_op : "");
    difference_json_fields(&json, entry->difference, "other", "this");
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

static void
print_report(OnnxlRun *run, const Comparison *comparison, OnnxlOutput *out)
{
  uint32_t compared = 0, differing = 0;
  const Entry *first = NULL;
  for (guint i = 0; i < comparison->entries->len; i++) {
    const Entry *entry = g_ptr_array_index(comparison->entries, i);
    bool differs = entry->difference && entry->difference->message;
    compared += entry->difference != NULL;
    differing += differs;
    first = first ? first : differs ? entry : NULL;
  }
  run->differs = differing > 0;
  if (run->common.format == ONNXL_FORMAT_JSON)
    print_json(comparison, compared, differing, first, out);
  else if (run->common.format == ONNXL_FORMAT_CSV)
    print_table(comparison, ONNXL_FORMAT_CSV, out);
  else if (!first)
    onnxl_output_printf(out, "%u values are equal within the tolerance\n", compared);
  else {
    print_first(first, out);
    print_table(comparison, ONNXL_FORMAT_TABLE, out);
    if (differing > MAX_ROWS)
      onnxl_output_printf(out, "… and %u more\n", differing - MAX_ROWS);
    onnxl_output_printf(out, "%u of %u values differ\n", differing, compared);
  }
}

bool
run_compare(OnnxlRun *run, GError **error)
{
  Session sessions[2] = { 0 };
  Comparison comparison = { g_ptr_array_new_with_free_func(entry_free), g_hash_table_new(g_str_hash, g_str_equal) };
  OnnxlOutput out;
  onnxl_output_init(&out, STDOUT_FILENO);
  for (int i = 0; i < 2; i++)
    watch_side(&sessions[i], &comparison, i == 1);
  bool good = open_side(run, &sessions[0], run->input, error) &&
              open_side(run, &sessions[1], exec_options.compare, error) && session_check_dims(sessions, 2, error) &&
              run_side(run, &sessions[0], error) && run_side(run, &sessions[1], error) &&
              compare_outputs(run, &comparison, sessions);
  if (good)
    print_report(run, &comparison, &out);
  good = onnxl_output_flush(&out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&out);
  g_hash_table_destroy(comparison.by_key);
  g_ptr_array_free(comparison.entries, TRUE);
  for (int i = 0; i < 2; i++)
    session_close(&sessions[i]);
  return good;
}
