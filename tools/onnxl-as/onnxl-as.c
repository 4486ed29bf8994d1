/* onnxl-as: assembles a model from text. */
#include "cli/main.h"
#include "cli/output-file.h"
#include "proto/index.h"
#include "proto/save.h"
#include "proto/text.h"
#include "support/error.h"

static bool check, portable;

static const OnnxlOption options[] = {
  ONNXL_FLAG(0, "check", &check,
             "refuse a model with undefined or doubly defined values, or functions that call themselves"),
  ONNXL_FLAG(0, "portable", &portable,
             "with -S: write only what ONNX's own parser reads, with a warning for each field that is left out"),
  ONNXL_OPTIONS_END
};

static const OnnxlOptionRule rules[] = { { "--portable", "-S", NULL }, { NULL, NULL, NULL } };

/* Resolves every name of the model; what is wrong is in the sink. */
static bool
check_names(const OnnxlModel *model, OnnxlDiagSink *sink, GError **error)
{
  bool ok = onnxl_index_new(model, NULL, model->arena, sink, error) != NULL;

  for (size_t i = 0; ok && i < model->proto.functions.count; i++)
    ok = onnxl_index_new(model, &model->proto.functions.items[i], model->arena, sink, error) != NULL;
  return ok && onnxl_function_table_new(model, model->arena, sink, error) != NULL;
}

static bool
save(const OnnxlRun *run, OnnxlOutput *out, const OnnxlModel *model, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  OnnxlTextOptions text = { .weights = ONNXL_WEIGHTS_INLINE, .lossy = run->sink };

  if (portable)
    return onnxl_text_write(out, model, &text, NULL, NULL, error);
  return onnxl_model_save(model, out, common->output, common->text, common->allow_large, error);
}

static bool
write_model(const OnnxlRun *run, OnnxlModel *model, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  int flags = (common->text ? 0 : ONNXL_OUTPUT_BINARY) | (common->force ? ONNXL_OUTPUT_FORCE : 0);
  OnnxlOutputFile file;

  if (!onnxl_model_check_output(model, common->data_dir, common->output, error) ||
      !onnxl_output_file_open(&file, common->output, flags, error))
    return false;
  bool ok = save(run, &file.out, model, error);
  if (ok && onnxl_diag_errors(run->sink) == 0) /* -Werror=lossy makes some */
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return ok;
}

static bool
run_as(OnnxlRun *run, GError **error)
{
  OnnxlModel *model = onnxl_model_load(run->input, &run->common.limits, run->sink, error);
  bool ok = model != NULL;

  onnxl_run_add_input(run, run->input);
  onnxl_run_add_files(run, model ? model->data_files : NULL);
  ok = ok && onnxl_run_check_output(run, "-MF", run->common.dependency_file, error) &&
       onnxl_model_check_output(model, run->common.data_dir, run->common.dependency_file, error);
  if (ok && check)
    ok = check_names(model, run->sink, error);
  /* Findings that -Werror made errors come without one of their own. */
  if (ok && onnxl_diag_errors(run->sink) == 0)
    ok = write_model(run, model, error);
  onnxl_model_free(model);
  return ok;
}

static const OnnxlTool tool = {
  .name = "onnxl-as",
  .usage = "[OPTION]... [-o OUT.onnx] [TEXT]",
  .summary = "Assembles a model from ONNX's textual syntax, as onnxl-dis writes it. A model that is binary or\n"
             "JSON is read as well, and written anew: the same model always gives the same bytes.",
  .examples = "  onnxl-as -o model.onnx model.onnxtxt\n"
              "      Assembles a text.\n"
              "  onnxl-dis model.onnx | sed 's/Relu/Sigmoid/' | onnxl-as -o changed.onnx\n"
              "      Changes a model in a pipe.\n"
              "  onnxl-as -S model.json\n"
              "      Shows a model in JSON as text.\n",
  .options = options,
  .rules = rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT | ONNXL_COMMON_WRITE,
  .max_operands = 1,
  .run = run_as,
};

ONNXL_MAIN(tool)
