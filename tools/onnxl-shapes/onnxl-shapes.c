/* onnxl-shapes: infers symbolic shapes, writes them into the model or prints them. */
#include "cli/bindings.h"
#include "cli/main.h"
#include "cli/output-file.h"
#include "explain.h"
#include "proto/save.h"
#include "report.h"
#include "shapes/annotate.h"
#include "stream/external.h"
#include "support/error.h"
#include "support/number.h"

static bool print, check, strict, nested;
static OnnxlStringList dims, shapes, renames, requirements, evals;
static const char *explain;

static const OnnxlOption options[] = {
  ONNXL_FLAG(0, "print", &print, "print one line a value and the constraints instead of writing a model"),
  ONNXL_VALUES(0, "dim", "NAME=N", &dims, "bind a symbol before inference"),
  ONNXL_VALUES(0, "set-shape", "INPUT=D,D,...", &shapes,
               "replace an input's shape: numbers, symbols or '?' for an unknown size"),
  ONNXL_VALUES(0, "rename-dim", "OLD=NEW", &renames, "rename a symbol"),
  ONNXL_VALUES(0, "eval", "NAME=N", &evals, "print the shapes with the symbols evaluated; implies --print"),
  ONNXL_VALUES(0, "require", "A>=B", &requirements,
               "take a relation for granted, such as N>=1; == != <= >= < > between expressions over the symbols"),
  ONNXL_STRING(
    0, "explain", "VALUE", &explain,
    "print where the shape of a value comes from, node by node back to the inputs, instead of writing a model"),
  ONNXL_FLAG(0, "nested", &nested, "print the values of nested graphs and of function bodies too; implies --print"),
  ONNXL_FLAG(0, "check", &check,
             "fail when a declared shape contradicts the inferred one; without -o, -S or --print nothing is written"),
  ONNXL_FLAG(0, "strict", &strict, "fail when an operator has no shape rule"),
  ONNXL_OPTIONS_END
};

static const OnnxlOptionRule rules[] = {
  { "--print|--nested|--eval|--format", NULL, "--explain" },
  { "--format", "--print|--nested|--eval", NULL },
  { "--allow-large", NULL, "--print|--nested|--eval|--explain" },
  { NULL, NULL, NULL },
};

static bool
edit_model(OnnxlModel *model, GError **error)
{
  OnnxlStr name;
  const char *value;
  int64_t number;
  for (size_t i = 0; i < shapes.count; i++) {
    if (!onnxl_binding_split(shapes.items[i], &name, &value))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--set-shape needs INPUT=SHAPE, not '%s'", shapes.items[i]);
    if (!onnxl_shapes_set(model, name, onnxl_str(value), error))
      return false;
  }
  if ((renames.count > 0 || dims.count > 0 || requirements.count > 0) && !onnxl_shapes_name_inputs(model, error))
    return false;
  for (size_t i = 0; i < renames.count; i++) {
    if (!onnxl_binding_split(renames.items[i], &name, &value) || !*value)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--rename-dim needs OLD=NEW, not '%s'", renames.items[i]);
    if (onnxl_parse_int64(onnxl_str(value), &number) != ONNXL_NUMBER_SYNTAX)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--rename-dim %s: a number is no name (--dim binds a symbol to one)",
                        renames.items[i]);
    if (!onnxl_shapes_rename(model, name, onnxl_str(value), error))
      return false;
  }
  OnnxlBindings bindings;
  if (!onnxl_bindings_parse(&bindings, "--dim", &dims, false, error))
    return false;
  bool ok = true;
  for (size_t i = 0; ok && i < bindings.count; i++)
    ok = onnxl_shapes_bind(model, bindings.items[i].name, bindings.items[i].values[0], error);
  onnxl_bindings_clear(&bindings);
  return ok;
}

/* A target shape may lie in another file; when that cannot be read, the values are unknown. */
static bool
read_external(void *data, const OnnxlTensor *tensor, void *dest, size_t size)
{
  OnnxlExternalRange range;
  OnnxlDiagSink *ignored = onnxl_diag_sink_new(NULL);
  bool ok = onnxl_external_range(data, tensor, NULL, ignored, &range, NULL) && range.needed == size &&
            onnxl_external_read(&range, dest, NULL);
  onnxl_diag_sink_free(ignored);
  return ok;
}

/* External files that were read are inputs like the model. */
static void
add_inputs(OnnxlRun *run, const OnnxlExternalFiles *files)
{
  for (size_t i = 0; i < onnxl_external_files_count(files); i++) {
    g_autofree char *path = onnxl_external_files_path(files, i);
    onnxl_run_add_input(run, path);
  }
}

static bool
write_model(const OnnxlRun *run, OnnxlModel *model, const OnnxlInference *inference, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  int flags = (common->text ? 0 : ONNXL_OUTPUT_BINARY) | (common->force ? ONNXL_OUTPUT_FORCE : 0);
  OnnxlOutputFile file;
  if (!onnxl_shapes_annotate(model, inference, error) || !onnxl_output_file_open(&file, common->output, flags, error))
    return false;
  if (onnxl_model_save(model, &file.out, common->output, common->text, common->allow_large, error))
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return false;
}

static bool
print_report(const OnnxlRun *run, const OnnxlInference *inference, OnnxlArena *arena, GError **error)
{
  OnnxlOutputFile file;
  OnnxlBindings bindings;
  if (!onnxl_bindings_parse(&bindings, "--eval", &evals, false, error))
    return false;
  for (size_t i = 0; i < bindings.count; i++)
    if (!onnxl_binding_check_free(bindings.items[i].name, "--eval", &dims, "--dim", error)) {
      onnxl_bindings_clear(&bindings);
      return false;
    }
  const OnnxlShapesReport report = { .format = run->common.format, .bindings = &bindings, .nested = nested };
  bool ok = onnxl_run_check_output(run, "-o", run->common.output, error) &&
            onnxl_output_file_open(&file, run->common.output, 0, error);
  if (ok) {
    if (explain)
      ok = onnxl_shapes_explain(inference, onnxl_str(explain), arena, &file.out, error);
    else
      ok = onnxl_shapes_report(inference, &report, arena, &file.out, run->sink, error);
    if (ok)
      ok = onnxl_output_file_commit(&file, error);
    else
      onnxl_output_file_abort(&file);
  }
  onnxl_bindings_clear(&bindings);
  return ok;
}

static bool
run_shapes(OnnxlRun *run, GError **error)
{
  bool reports = print || nested || explain || evals.count > 0;
  OnnxlModel *model = onnxl_model_load(run->input, &run->common.limits, run->sink, error);
  if (!model)
    return false;
  onnxl_run_add_input(run, run->input);
  onnxl_run_add_files(run, model->data_files);
  const char *folder = run->common.data_dir ? run->common.data_dir : model->folder;
  OnnxlExternalFiles *files = onnxl_external_files_new(folder, run->common.allow_symlinks);
  OnnxlInferOptions infer_options = {
    .strict = strict,
    .check = check,
    .read_external = read_external,
    .read_external_data = files,
    .requirements = requirements.items,
    .n_requirements = requirements.count,
  };
  bool ok = onnxl_model_check_output(model, run->common.data_dir, run->common.output, error) &&
            onnxl_run_check_output(run, "-MF", run->common.dependency_file, error) &&
            onnxl_model_check_output(model, run->common.data_dir, run->common.dependency_file, error) &&
            edit_model(model, error);
  OnnxlInference *inference = ok ? onnxl_infer(model, &infer_options, model->arena, run->sink, error) : NULL;
  ok = inference != NULL;
  add_inputs(run, files);
  bool silent = check && !run->common.output && !run->common.text;
  /* Findings that -Werror made errors come without an error of their own. */
  if (ok && onnxl_diag_errors(run->sink) == 0) {
    if (reports)
      ok = print_report(run, inference, model->arena, error);
    else if (!silent)
      ok = write_model(run, model, inference, error);
  }
  onnxl_inference_free(inference);
  onnxl_external_files_free(files);
  onnxl_model_free(model);
  return ok;
}

static const OnnxlTool tool = {
  .name = "onnxl-shapes",
  .usage = "[OPTION]... [-o OUT.onnx] [MODEL]",
  .summary =
    "Infers the shape of every value as expressions over the model's symbolic dimensions, and writes the model\n"
    "with value_info and outputs filled, or prints what it found. Operators without a rule give unknown\n"
    "shapes; what cannot fit is an error.",
  .examples = "  onnxl-shapes -o annotated.onnx model.onnx\n"
              "      Fills value_info and the types of the outputs.\n"
              "  onnxl-shapes --print model.onnx\n"
              "      Prints lines such as 'y: float[2*N,4]', then the constraints.\n"
              "  onnxl-shapes --eval batch=8 --eval seq=128 model.onnx\n"
              "      Prints the sizes for these values.\n"
              "  onnxl-shapes --explain logits model.onnx\n"
              "      Prints which nodes gave 'logits' its shape.\n"
              "  onnxl-shapes --set-shape image=1,3,H,W --dim H=224 -o fixed.onnx model.onnx\n"
              "      Changes what the model declares, then infers.\n",
  .options = options,
  .rules = rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT | ONNXL_COMMON_WRITE | ONNXL_COMMON_FORMAT,
  .max_operands = 1,
  .run = run_shapes,
};

ONNXL_MAIN(tool)
