/* --batch: many sets of inputs through one model, which is read and planned once; --shard: a part of them. */
#include <stdio.h>

#include "batch-list.h"
#include "cli/output-folder.h"
#include "cli/progress.h"
#include "exec.h"
#include "outputs.h"
#include "support/error.h"
#include "support/json.h"

/* Texts of string tensors are kept until their session is closed; beyond so many bytes a new one is opened. */
enum { MAX_TEXTS = 64 << 20 };

typedef struct Batch {
  OnnxlRun *run;
  BatchList list;
  uint64_t shard, n_shards; /* from 1 */
  Session session;
  OnnxlValue **common; /* inputs that the command line gives to all lines, or NULL */
  Dump *dump;
  GHashTable *keys; /* line of each key so far, of every shard */
  OnnxlOutput out;
  OnnxlProgress progress;
  uint64_t done, failed, skipped;
} Batch;

static bool
parse_shard(Batch *batch, GError **error)
{
  const char *text = exec_options.shard;
  char end;
  unsigned shard, n_shards;
  batch->shard = batch->n_shards = 1;
  if (!text)
    return true;
  if (sscanf(text, "%8u/%8u%c", &shard, &n_shards, &end) != 2 || shard < 1 || shard > n_shards)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--shard %s: I/N is needed, with I from 1 to N", text);
  batch->shard = shard;
  batch->n_shards = n_shards;
  return true;
}

/* --- a line --- */

static bool
open_session(Batch *batch, GError **error)
{
  Session *session = &batch->session;
  *session = (Session){ 0 };
  if (!session_open(session, batch->run, batch->run->input, error) || !session_check_dims(session, 1, error))
    return false;
  if (exec_options.dump.count > 0)
    session_watch(session, &(batch->dump = dump_new(false))->observer);
  session->context.no_stdin = strcmp(exec_options.batch, "-") == 0;
  if (!session_read_inputs(session, batch->run, exec_options.inputs.items, exec_options.inputs.count, error))
    return false;
  session->context.no_stdin = true;
  batch->common = session->inputs;
  session->inputs = g_new0(OnnxlValue *, onnxl_executor_n_inputs(session->executor));
  return true;
}

static void
close_session(Batch *batch)
{
  for (uint32_t i = 0; batch->common && i < onnxl_executor_n_inputs(batch->session.executor); i++)
    onnxl_value_unref(batch->common[i]);
  g_clear_pointer(&batch->common, g_free);
  session_close(&batch->session);
}

/* Opens the session anew when it has gathered too much text, unless the model cannot be read twice. */
static bool
renew_session(Batch *batch, GError **error)
{
  if (!batch->run->input || onnxl_arena_used(batch->session.plan->allocator->strings) < MAX_TEXTS)
    return true;
  close_session(batch);
  return open_session(batch, error);
}

static void
drop_values(Batch *batch)
{
  Session *session = &batch->session;
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(session->executor); i++)
    g_clear_pointer(&session->inputs[i], onnxl_value_unref);
  for (uint32_t i = 0; i < onnxl_executor_n_outputs(session->executor); i++)
    g_clear_pointer(&session->outputs[i], onnxl_value_unref);
  if (batch->dump)
    dump_clear(batch->dump);
}

static bool
compute(Batch *batch, const BatchEntry *entry, GError **error)
{
  Session *session = &batch->session;
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(session->executor); i++)
    session->inputs[i] = batch->common[i] ? onnxl_value_ref(batch->common[i]) : NULL;
  return session_read_inputs(session, batch->run, (const char *const *)entry->words + 1,
                             g_strv_length(entry->words) - 1, error) &&
         session_complete_inputs(session, error) && session_run_once(session, error) &&
         outputs_settle_dump(session, batch->dump, error);
}

/* A failure of the line, which is no failure of the batch. */
static void
report_line(Batch *batch, OnnxlDiagId id, const char *key, const char *message)
{
  OnnxlLocation where = { .file = batch->list.name, .line = batch->list.line, .column = 1 };
  onnxl_progress_end(&batch->progress);
  onnxl_diag(batch->run->sink, id, &where, "%s%s%s", key ? key : "", key ? ": " : "", message);
  onnxl_run_flush_diags(batch->run, batch->run->input ? batch->run->input : "<stdin>");
  batch->failed++;
}

static bool
write_folder(Batch *batch, const char *path, GError **error)
{
  OnnxlOutputFolder folder;
  if (!onnxl_output_folder_open(&folder, path, error))
    return false;
  if (outputs_write_folder(&batch->session, batch->dump, folder.temporary, ONNXL_OUTPUT_NO_SYNC, error))
    return onnxl_output_folder_commit(&folder, error);
  onnxl_output_folder_abort(&folder);
  return false;
}

static bool
write_line(Batch *batch, const char *key, const char *path, GError **error)
{
  if (path)
    return write_folder(batch, path, error);
  outputs_print_line(batch->run, &batch->session, batch->dump, key, &batch->out);
  return onnxl_output_flush(&batch->out, "standard output", error);
}

/* True when another line before has the key; then that is reported. */
static bool
is_known(Batch *batch, const char *key, bool mine)
{
  uint32_t before = GPOINTER_TO_UINT(g_hash_table_lookup(batch->keys, key));
  if (before == 0)
    g_hash_table_insert(batch->keys, g_strdup(key), GUINT_TO_POINTER(batch->list.line));
  else if (mine) {
    g_autofree char *message = g_strdup_printf("line %u has this key already", before);
    report_line(batch, ONNXL_DIAG_BATCH_LINE, key, message);
  }
  return before != 0;
}

/* False: the batch cannot go on. */
static bool
run_line(Batch *batch, const BatchEntry *entry, GError **error)
{
  bool mine = (batch->list.n_entries - 1) % batch->n_shards == batch->shard - 1;
  const char *key = entry->words ? entry->words[0] : NULL;
  if (mine && entry->fault)
    report_line(batch, ONNXL_DIAG_BATCH_LINE, NULL, entry->fault);
  if (!key || is_known(batch, key, mine) || !mine)
    return true;
  g_autofree char *path = exec_options.output_dir ? g_build_filename(exec_options.output_dir, key, NULL) : NULL;
  if (path && outputs_are_in(&batch->session, path)) {
    batch->skipped++;
    return true;
  }
  GError *failed = NULL;
  bool computed = compute(batch, entry, &failed), good = computed && write_line(batch, key, path, &failed);
  drop_values(batch);
  batch->done += good;
  /* A disk that is full is so for every line. */
  if (computed && !good && g_error_matches(failed, ONNXL_ERROR, ONNXL_ERROR_IO)) {
    g_propagate_error(error, failed);
    return false;
  }
  if (!good) {
    report_line(batch, ONNXL_DIAG_RUN, key, failed->message);
    g_error_free(failed);
  }
  return renew_session(batch, error);
}

/* --- all of them --- */

static bool
run_lines(Batch *batch, GError **error)
{
  bool good = true, more = true;
  while (good && more) {
    BatchEntry entry = { 0 };
    good = batch_list_next(&batch->list, &entry, &more, error) && (!more || run_line(batch, &entry, error));
    batch_entry_clear(&entry);
    onnxl_progress_update(&batch->progress, batch->list.line);
  }
  onnxl_progress_end(&batch->progress);
  return good;
}

static void
print_sums(Batch *batch)
{
  if (batch->run->common.format == ONNXL_FORMAT_JSON) {
    OnnxlJson json;
    onnxl_json_init(&json, &batch->out, 0);
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "done");
    onnxl_json_uint64(&json, batch->done);
    onnxl_json_key(&json, "failed");
    onnxl_json_uint64(&json, batch->failed);
    onnxl_json_key(&json, "skipped");
    onnxl_json_uint64(&json, batch->skipped);
    onnxl_json_end_object(&json);
    onnxl_json_end(&json);
  } else
    onnxl_output_printf(&batch->out,
                        "%" G_GUINT64_FORMAT " done, %" G_GUINT64_FORMAT " failed, %" G_GUINT64_FORMAT " skipped\n",
                        batch->done, batch->failed, batch->skipped);
}

bool
run_batch(OnnxlRun *run, GError **error)
{
  Batch batch = { .run = run };
  if (!parse_shard(&batch, error) || !batch_list_open(&batch.list, exec_options.batch, error))
    return false;
  onnxl_run_add_input(run, strcmp(exec_options.batch, "-") != 0 ? exec_options.batch : NULL);
  onnxl_output_init(&batch.out, STDOUT_FILENO);
  batch.keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  onnxl_progress_init(&batch.progress, run, "lines", batch_list_count(&batch.list));
  GError *failed = NULL;
  bool good = open_session(&batch, &failed) &&
              (!exec_options.output_dir || outputs_make_folder(exec_options.output_dir, &failed)) &&
              run_lines(&batch, &failed);
  if (failed)
    session_explain(&batch.session, run, failed, error);
  if (good)
    print_sums(&batch);
  good = onnxl_output_flush(&batch.out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&batch.out);
  close_session(&batch);
  g_hash_table_destroy(batch.keys);
  batch_list_close(&batch.list);
  return good;
}
