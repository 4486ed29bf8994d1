/* The memory of a model before it runs, node by node. */
#include "cli/bindings.h"
#include "cli/main.h"
#include "memory/profile.h"
#include "report.h"

static OnnxlStringList evals;
static int inplace = ONNXL_INPLACE_SAFE;
static bool free_inputs;

static const OnnxlOption options[] = {
  ONNXL_VALUES(0, "eval", "NAME=VALUE[,VALUE]...", &evals,
             "print the totals for these values of a symbol; several names make a grid"),
  ONNXL_CHOICE(0, "inplace", "safe|structural|none", &inplace,
               "where an output may take over the buffer of an input that dies: where its kernel allows it, by sizes and "
               "lifetimes alone, or nowhere"),
  ONNXL_FLAG(0, "free-inputs", &free_inputs, "let graph inputs die after their last use"),
  ONNXL_OPTIONS_END,
};

static bool
report(OnnxlRun *run, const OnnxlMemory *memory, GError **error)
{
  OnnxlBindings grid;
  OnnxlOutput out;

  if (!onnxl_bindings_parse(&grid, "--eval", &evals, true, error))
    return false;
  onnxl_output_init(&out, 1);
  bool done = grid.count > 0 && run->common.format != ONNXL_FORMAT_JSON
                ? onnxl_mem_report_grid(memory, &grid, run->common.format, &out, error)
                : onnxl_mem_report(memory, &grid, run->common.format, &out, error);
  done = done && onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  onnxl_bindings_clear(&grid);
  return done;
}

static bool
run_mem(OnnxlRun *run, GError **error)
{
  OnnxlModel *model = onnxl_model_load(run->input, &run->common.limits, run->sink, error);
  OnnxlMemoryOptions memory_options = { .inplace = inplace, .free_inputs = free_inputs };

  if (!model)
    return false;
  onnxl_run_add_input(run, run->input);
  OnnxlInference *inference = onnxl_infer(model, &(OnnxlInferOptions){ 0 }, model->arena, run->sink, error);
  const OnnxlMemory *memory =
    inference ? onnxl_memory_new(inference, &memory_options, model->arena, error) : NULL;
  bool done = memory && report(run, memory, error);
  onnxl_inference_free(inference);
  onnxl_model_free(model);
  return done;
}

static const OnnxlTool tool = {
  .name = "onnxl-mem",
  .usage = "[OPTION]... [MODEL]",
  .summary = "Prints for each node of a model the bytes that are live when it starts, the bytes that it adds and their sum, "
             "as expressions over the model's symbolic dimensions, and the peak. Nothing is run, no weight is read.",
  .examples = "onnxl-mem model.onnx\n"
              "  the table of expressions and the peak\n"
              "onnxl-mem --eval N=1,8,32,128 model.onnx\n"
              "  what it comes to for four batch sizes\n"
              "onnxl-mem --inplace=none --format=json model.onnx | jq .peak.total\n"
              "  the peak when no buffer is reused in place\n",
  .options = options,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_FORMAT,
  .max_operands = 1,
  .run = run_mem,
};

ONNXL_MAIN(tool)
