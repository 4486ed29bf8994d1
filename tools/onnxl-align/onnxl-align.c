/* onnxl-align: lays the weights of a model anew. */
#include <stdio.h>

#include "check.h"
#include "cli/progress.h"
#include "destination.h"
#include "proto/save.h"
#include "stream/align.h"
#include "support/error.h"

static uint64_t alignment = 4096, threshold = UINT64_MAX, inline_below, shard_size = UINT64_MAX, chunk_size = 4 << 20;
static const char *data_file;
static bool check, checksum, dedup, no_fsync;
static int to, order, copy_method;

static const OnnxlOption options[] = {
  ONNXL_SIZE('a', "alignment", &alignment,
             "put every external tensor at a multiple of this, a power of two (default: 4096)"),
  ONNXL_STRING(0, "data", "FILE", &data_file, "the data file (default: the output with .data appended)"),
  ONNXL_SIZE(0, "threshold", &threshold, "move inline tensors of at least this size out (default: they stay)"),
  ONNXL_SIZE(0, "inline-below", &inline_below, "pull external tensors below this size in (default: they stay)"),
  ONNXL_CHOICE(0, "to", "as-is|external|inline", &to, "move all tensors out, or in (default: as-is)"),
  ONNXL_POSITIVE_SIZE(0, "shard-size", &shard_size,
                      "several data files of at most this size; a larger tensor has one to itself"),
  ONNXL_FLAG(0, "dedup", &dedup, "let tensors with equal bytes share one range"),
  ONNXL_CHOICE(0, "order", "model|size", &order, "order in the data file: that of the model, or largest first"),
  ONNXL_FLAG(0, "checksum", &checksum,
             "write the SHA-1 of its file to every external tensor, and verify those of the source"),
  ONNXL_FLAG(0, "check", &check, "write nothing: verify ranges, sizes and alignment, report overlaps and waste"),
  ONNXL_POSITIVE_SIZE(0, "chunk-size", &chunk_size, "bytes copied at a time (default: 4M)"),
  ONNXL_CHOICE(0, "copy", "auto|reflink|range|splice|rw", &copy_method,
               "how bytes are copied: by sharing blocks, copy_file_range, splice, or read and write (default: the "
               "fastest that works)"),
  ONNXL_FLAG(0, "no-fsync", &no_fsync, "do not wait until the files are on disk"),
  ONNXL_OPTIONS_END
};

static const OnnxlOptionRule rules[] = {
  { "--format", "--check", NULL },
  { "-o|-f|-S|--allow-large|--data|--no-fsync|--chunk-size|--copy", NULL, "--check" },
  { "--threshold|--inline-below|--to|--shard-size|--dedup|--order", NULL, "--check" },
  { "--threshold|--inline-below", NULL, "--to=external|--to=inline" },
  { NULL, NULL, NULL },
};

/* What copying and writing the model need to know of each other. */
typedef struct Job {
  OnnxlRun *run;
  OnnxlModel *model;
  OnnxlAlignPlan *plan;
  Destination destination;
  OnnxlOutputSet *outputs;
  GPtrArray *paths; /* of the data files */
  GArray *fds;      /* int */
  OnnxlProgress progress;
  uint64_t progressed;
  OnnxlCopyStats copied;
} Job;

/* Makes the model name data files at paths. */
static bool
rewrite(Job *job, const char *const *paths, GError **error)
{
  size_t n = onnxl_align_plan_shards(job->plan);
  GPtrArray *locations = g_ptr_array_new_with_free_func(g_free);
  bool ok = true;

  for (size_t i = 0; i < n && ok; i++) {
    char *location = destination_location(&job->destination, paths[i], error);
    g_ptr_array_add(locations, location);
    ok = location != NULL;
  }
  ok = ok && onnxl_align_rewrite(job->plan, (const char *const *)locations->pdata, error);
  g_ptr_array_free(locations, TRUE);
  return ok;
}

static bool
write_model(void *data, const char *const *paths, OnnxlOutput *out, GError **error)
{
  Job *job = data;
  const OnnxlCommonOptions *common = &job->run->common;

  return rewrite(job, paths, error) &&
         onnxl_model_save(job->model, out, common->output, common->text, common->allow_large, error);
}

static bool
show_progress(void *data, uint64_t bytes)
{
  Job *job = data;

  job->progressed += bytes;
  onnxl_progress_update(&job->progress, job->progressed);
  return true;
}

static void
tell_of_wait(void *data, const char *folder)
{
  Job *job = data;

  if (!job->run->common.quiet)
    fprintf(stderr, "%s: waiting for another process, which has locked the folder %s\n", job->run->tool->name, folder);
}

/* Whoever replaces a model and its data replaces the model first. So what was opened belongs together as long as the
 * name still leads to the model. */
static bool
check_unchanged(const OnnxlRun *run, const OnnxlModel *model, GError **error)
{
  if (!run->input || !model->file || model->file->spooled || onnxl_model_is_at(model, run->input))
    return true;
  return onnxl_fail(error, ONNXL_ERROR_IO, "%s was replaced while it was read", run->input);
}

/* All names are looked at, and all files opened, before the first byte is copied. */
static bool
open_outputs(Job *job, const OnnxlExternalFiles *files, GError **error)
{
  const OnnxlCommonOptions *common = &job->run->common;
  Destination *destination = &job->destination;
  int flags = (common->text ? 0 : ONNXL_OUTPUT_BINARY) | (common->force ? ONNXL_OUTPUT_FORCE : 0) |
              (no_fsync ? ONNXL_OUTPUT_NO_SYNC : 0);

  if (!destination_check(destination, NULL, job->model, files, error))
    return false;
  job->outputs = onnxl_output_set_new(common->output, flags, error);
  if (job->outputs)
    onnxl_output_set_on_wait(job->outputs, tell_of_wait, job);
  for (size_t i = 0; job->outputs && i < onnxl_align_plan_shards(job->plan); i++) {
    char *path = destination_data_path(destination, data_file, i, error);
    if (!path)
      return false;
    g_ptr_array_add(job->paths, path);
    if (!destination_check(destination, path, job->model, files, error) ||
        !onnxl_run_claim_output(job->run, "--data", path, error))
      return false;
    int fd = onnxl_output_set_add(job->outputs, path, error);
    if (fd < 0)
      return false;
    g_array_append_val(job->fds, fd);
  }
  return job->outputs != NULL;
}

/* A model that would be refused in the end is refused before the copying. */
static bool
check_size(const Job *job, GError **error)
{
  return job->run->common.text || onnxl_model_check_size(job->model, job->run->common.allow_large, error);
}

static void
report(const Job *job)
{
  const OnnxlCopyStats *stats = &job->copied;
  OnnxlAlignSummary summary = onnxl_align_plan_summary(job->plan);
  GString *methods = g_string_new(NULL);

  for (OnnxlCopyMethod method = ONNXL_COPY_REFLINK; method < ONNXL_N_COPY_METHODS; method++)
    if (stats->by_method[method] > 0)
      g_string_append_printf(methods, "%s%s", methods->len > 0 ? ", " : "", onnxl_copy_method_name(method));
  if (stats->by_method[ONNXL_COPY_AUTO] > 0)
    g_string_append_printf(methods, "%swrite", methods->len > 0 ? ", " : "");
  onnxl_run_verbose(job->run,
                    "%zu external tensors (%zu moved out, %zu moved in, %zu shared), %" G_GUINT64_FORMAT
                    " bytes copied, %" G_GUINT64_FORMAT " in holes, %" G_GUINT64_FORMAT " padding, method: %s",
                    summary.n_external, summary.n_moved_out, summary.n_moved_in, summary.n_shared,
                    summary.bytes - stats->holes, stats->holes, summary.padding,
                    methods->len > 0 ? methods->str : "none");
  g_string_free(methods, TRUE);
}

static bool
copy(Job *job, GError **error)
{
  const OnnxlCopyOptions copy_options = {
    .method = copy_method, .chunk_size = chunk_size, .write_back = !no_fsync, .progress = show_progress, .data = job
  };

  onnxl_progress_init(&job->progress, job->run, "bytes", onnxl_align_plan_summary(job->plan).bytes);
  bool ok = onnxl_align_copy(job->plan, (const int *)(void *)job->fds->data, (const char *const *)job->paths->pdata,
                             &copy_options, &job->copied, error);
  onnxl_progress_end(&job->progress);
  return ok;
}

static bool
align(OnnxlRun *run, OnnxlModel *model, OnnxlExternalFiles *files, GError **error)
{
  OnnxlAlignOptions align_options = {
    .alignment = alignment,
    .threshold = to == 1 ? 0 : threshold,
    .inline_below = to == 2 ? UINT64_MAX : inline_below,
    .shard_size = shard_size,
    .dedup = dedup,
    .by_size = order == 1,
    .checksum = checksum,
  };
  Job job = { .run = run, .model = model };
  bool ok = destination_init(&job.destination, run->common.output, run->input, error);

  job.paths = g_ptr_array_new_with_free_func(g_free);
  job.fds = g_array_new(FALSE, FALSE, sizeof(int));
  job.plan = ok ? onnxl_align_plan_new(model, files, &align_options, run->sink, error) : NULL;
  ok = job.plan && check_unchanged(run, model, error) && onnxl_diag_errors(run->sink) == 0 &&
       open_outputs(&job, files, error);
  const char *const *paths = (const char *const *)job.paths->pdata;
  ok = ok && rewrite(&job, paths, error) && check_size(&job, error) && copy(&job, error) &&
       onnxl_align_checksums(job.plan, (const int *)(void *)job.fds->data, paths, error) &&
       onnxl_output_set_commit(job.outputs, write_model, &job, error);
  if (ok)
    report(&job);
  /* Findings that -Werror made errors come without one of their own. */
  ok = ok || (job.plan && onnxl_diag_errors(run->sink) > 0);
  onnxl_output_set_free(job.outputs);
  onnxl_align_plan_free(job.plan);
  g_array_free(job.fds, TRUE);
  g_ptr_array_free(job.paths, TRUE);
  destination_clear(&job.destination);
  return ok;
}

static void
add_inputs(OnnxlRun *run, const OnnxlExternalFiles *files)
{
  for (size_t i = 0; i < onnxl_external_files_count(files); i++) {
    g_autofree char *path = onnxl_external_files_path(files, i);
    onnxl_run_add_input(run, path);
  }
}

static bool
run_align(OnnxlRun *run, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  OnnxlLayoutOptions layout = { alignment, checksum };

  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "-a: %" G_GUINT64_FORMAT " is no power of two", alignment);
  if (threshold < inline_below)
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "--threshold is %" G_GUINT64_FORMAT " and --inline-below %" G_GUINT64_FORMAT
                      ": tensors between them would change places",
                      threshold, inline_below);
  OnnxlModel *model = common->text ? onnxl_model_load(run->input, &common->limits, run->sink, error)
                                   : onnxl_model_load_weights(run->input, &common->limits, run->sink, error);
  if (!model)
    return false;
  onnxl_run_add_input(run, run->input);
  onnxl_run_add_files(run, model->data_files);
  const char *folder = common->data_dir ? common->data_dir : model->folder;
  OnnxlExternalFiles *files = onnxl_external_files_new(folder, common->allow_symlinks);
  bool ok = onnxl_run_check_output(run, "-MF", common->dependency_file, error) &&
            onnxl_model_check_output(model, common->data_dir, common->dependency_file, error);
  if (ok)
    ok = check ? onnxl_align_check(run, model, files, &layout, error) : align(run, model, files, error);
  add_inputs(run, files);
  onnxl_external_files_free(files);
  onnxl_model_free(model);
  return ok;
}

static const OnnxlTool tool = {
  .name = "onnxl-align",
  .usage = "[OPTION]... -o DST.onnx [SRC.onnx]\n       onnxl-align --check [OPTION]... [SRC.onnx]",
  .summary =
    "Writes a model anew with every external tensor at a multiple of the alignment, so that a runtime can map\n"
    "it as it lies; moves weights out of the model or back in. Bytes go from file to file inside the kernel.",
  .examples = "  onnxl-align -o aligned.onnx model.onnx\n"
              "      Aligns the weights to pages.\n"
              "  onnxl-align --to=external --dedup -o split.onnx model.onnx\n"
              "      Moves all weights out of a model, equal ones once.\n"
              "  onnxl-align --to=inline -o whole.onnx split.onnx\n"
              "      Moves them back in.\n"
              "  onnxl-align --check -a 64 model.onnx\n"
              "      Verifies where the weights lie.\n",
  .options = options,
  .rules = rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT | ONNXL_COMMON_WRITE | ONNXL_COMMON_FORMAT | ONNXL_COMMON_PROGRESS,
  .max_operands = 1,
  .run = run_align,
};

ONNXL_MAIN(tool)
