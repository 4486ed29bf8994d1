/* onnxl-check: verifies models. */
#include <unistd.h>

#include "check/check.h"
#include "cli/main.h"
#include "proto/save.h"
#include "support/error.h"

enum { MAX_MODELS = 1 << 20 };

static bool list_checks;

static const OnnxlOption options[] = { ONNXL_FLAG(0, "list-checks", &list_checks,
                                                  "print the ids of all findings with their severity, and exit"),
                                       ONNXL_OPTIONS_END };

/* Sets [severity] for what the rows of the id that start at *id can be, and moves *id to the last of them. */
static void
severities_of(const bool *checked, OnnxlDiagId *id, bool ret_severities[3])
{
  const char *text = onnxl_diag_id_text(*id);

  memset(ret_severities, 0, 3 * sizeof *ret_severities);
  for (OnnxlDiagId i = *id; i < ONNXL_N_DIAGS && strcmp(onnxl_diag_id_text(i), text) == 0; i++) {
    ret_severities[onnxl_diag_id_severity(i)] |= checked[i];
    *id = i;
  }
}

/* One line an id, with the summary of its first row. */
static bool
print_checks(GError **error)
{
  static const char *const words[] = { "note", "warning", "error" };
  bool checked[ONNXL_N_DIAGS], severities[3];
  OnnxlOutput out;

  onnxl_check_ids(checked);
  onnxl_output_init(&out, STDOUT_FILENO);
  for (OnnxlDiagId id = 0; id < ONNXL_N_DIAGS; id++) {
    OnnxlDiagId first = id;
    if (!checked[id])
      continue;
    severities_of(checked, &id, severities);
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = ONNXL_SEVERITY_ERROR; i >= ONNXL_SEVERITY_NOTE; i--)
      if (severities[i])
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", " : "", words[i]);
    onnxl_output_printf(&out, "%-20s %-15s %s\n", onnxl_diag_id_text(first), text->str, onnxl_diag_id_summary(first));
  }
  bool ok = onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  return ok;
}

static void
add_inputs(OnnxlRun *run, const char *path, const OnnxlExternalFiles *files)
{
  onnxl_run_add_input(run, path);
  for (size_t i = 0; i < onnxl_external_files_count(files); i++) {
    g_autofree char *name = onnxl_external_files_path(files, i);
    onnxl_run_add_input(run, name);
  }
}

/* What is wrong with the model goes to the sink; false is for what kept us from looking. */
static bool
check_model(OnnxlRun *run, const char *path, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  GError *local = NULL;

  onnxl_diag_sink_set_optional(run->sink, true);
  OnnxlModel *model = onnxl_model_load(path, &common->limits, run->sink, &local);
  if (model) {
    const char *folder = common->data_dir ? common->data_dir : model->folder;
    OnnxlExternalFiles *files = onnxl_external_files_new(folder, common->allow_symlinks);
    onnxl_run_add_files(run, model->data_files);
    (void)!(onnxl_run_check_output(run, "-MF", common->dependency_file, &local) &&
            onnxl_model_check_output(model, folder, common->dependency_file, &local) &&
            onnxl_check_model(model, files, onnxl_arena_budget(model->arena), run->sink, &local));
    add_inputs(run, path, files);
    onnxl_external_files_free(files);
  }
  onnxl_model_free(model);
  if (g_error_matches(local, ONNXL_ERROR, ONNXL_ERROR_INVALID) && onnxl_diag_errors(run->sink) > 0)
    g_clear_error(&local);
  if (local)
    g_propagate_error(error, local);
  return !local;
}

static bool
check_operands(const OnnxlRun *run, GError **error)
{
  size_t n_stdin = 0;

  for (size_t i = 0; i < run->operands.count; i++)
    n_stdin += strcmp(run->operands.items[i], "-") == 0;
  return n_stdin < 2 || onnxl_run_rereads_stdin() ||
         onnxl_fail(error, ONNXL_ERROR_USAGE, "standard input can be read once when '-' is given %zu times", n_stdin);
}

/* A model that cannot be read does not keep the others from being verified. */
static bool
run_check(OnnxlRun *run, GError **error)
{
  size_t n = run->operands.count;

  if (list_checks && n > 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--list-checks takes no model");
  if (list_checks)
    return print_checks(error);
  if (!check_operands(run, error))
    return false;
  bool ok = check_model(run, run->input, error);
  for (size_t i = 1; i < n; i++) {
    const char *path = strcmp(run->operands.items[i], "-") == 0 ? NULL : run->operands.items[i];
    if (!ok)
      onnxl_run_failed(run, error);
    onnxl_run_flush_diags(run, path ? path : "<stdin>");
    ok = check_model(run, path, error);
  }
  return ok;
}

static const OnnxlTool tool = {
  .name = "onnxl-check",
  .usage = "[OPTION]... [MODEL]...",
  .summary = "Verifies models: names, versions, operators, attributes, types, values, external data, functions. Says\n"
             "nothing when all is well. Each kind of finding can be switched off, errors too.",
  .examples = "  onnxl-check model.onnx\n"
              "      Prints all that is wrong with a model.\n"
              "  onnxl-check -Werror -Wno-unused-initializer *.onnx\n"
              "      Verifies several models, warnings included except those about unused initializers.\n"
              "  onnxl-check -Wno-external-file model.onnx\n"
              "      Does not mind that weights are missing.\n"
              "  onnxl-check --list-checks\n"
              "      Lists what is looked at.\n",
  .options = options,
  .common = ONNXL_COMMON_MODEL,
  .max_operands = MAX_MODELS,
  .run = run_check,
};

ONNXL_MAIN(tool)
