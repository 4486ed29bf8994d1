/* The memory of a model before it runs, node by node. */
#include "cli/bindings.h"
#include "cli/main.h"
#include "cli/output-file.h"
#include "memory/stored.h"
#include "memory/workspace.h"
#include "proto/save.h"
#include "report.h"
#include "shapes/annotate.h"
#include "support/error.h"

static OnnxlStringList evals, dims;
static int inplace = ONNXL_INPLACE_SAFE;
static int by = ONNXL_MEM_BY_NODE;
static bool free_inputs, plan, macs, nested, reorder, workspace;
static uint64_t budget = UINT64_MAX;
static const char *solve, *plot;
static uint32_t top;

static const OnnxlOption options[] = {
  ONNXL_VALUES(0, "eval", "NAME=VALUE[,VALUE]...", &evals,
               "print the totals for these values of a symbol; several names make a grid"),
  ONNXL_VALUES(0, "dim", "NAME=N", &dims, "bind a symbol before the analysis"),
  ONNXL_CHOICE(
    0, "inplace", "safe|structural|none", &inplace,
    "where an output may take over the buffer of an input that dies: where its kernel allows it, by sizes and "
    "lifetimes alone, or nowhere"),
  ONNXL_FLAG(0, "free-inputs", &free_inputs, "let graph inputs die after their last use"),
  ONNXL_FLAG(0, "reorder", &reorder,
             "look for an order of the nodes with a lower peak; -o and --plot are of the model in that order"),
  ONNXL_FLAG(0, "plan", &plan, "print where the buffers of the nodes lie in one block of memory"),
  ONNXL_FLAG(0, "macs", &macs,
             "print what nodes compute and move: multiply-accumulates, operations, parameters, bytes"),
  ONNXL_FLAG(0, "nested", &nested, "print the peaks of nested graphs and function bodies, too"),
  ONNXL_FLAG(0, "workspace", &workspace, "a column more: an upper bound of the scratch memory of the node's kernel"),
  ONNXL_SIZE(0, "budget", &budget, "fail with status 1 when the peak is larger"),
  ONNXL_STRING(0, "solve", "NAME", &solve, "print the largest value of a symbol whose peak fits the budget"),
  ONNXL_CHOICE(0, "by", "node|op|tag", &by, "sum up the bytes that nodes add, by operator or by tag"),
  ONNXL_COUNT(0, "top", "N", &top, "only the N largest rows, the largest first"),
  ONNXL_STRING(
    0, "plot", "FILE", &plot,
    "draw the live bytes over the nodes, or with --plan where the buffers lie, as SVG into FILE.svg, as text "
    "into another file or, with -, to standard output"),
  ONNXL_OPTIONS_END,
};

static const OnnxlOptionRule rules[] = {
  { "--solve", "--budget", NULL },
  { "-S|--allow-large", "-o", NULL },
  { NULL, NULL, NULL },
};

/* What is asked for twice, or cannot be had together. */
static bool
check_options(const OnnxlRun *run, GError **error)
{
  bool sums = by != ONNXL_MEM_BY_NODE && !macs;
  int reports = reorder + plan + (solve != NULL) + sums + macs + nested;

  if (reports > 1)
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "only one of --reorder, --plan, --solve, --by, --macs and --nested can be printed");
  if (plot && (solve || sums || macs || nested || top > 0))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plot draws live bytes, or with --plan the arena, and nothing else");
  if (macs && by == ONNXL_MEM_BY_TAG)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--macs has no tags: --by=op sums it up by operator");
  if (top > 0 && (reorder || plan || solve || nested || (evals.count > 0 && by == ONNXL_MEM_BY_NODE && !macs)))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--top is for the table of nodes, for --by and for --macs");
  if (evals.count > 0 && (sums || nested))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s takes values of symbols from --dim", nested ? "--nested" : "--by");
  if (workspace && (reports > 0 || (evals.count > 0 && run->common.format != ONNXL_FORMAT_JSON)))
    return onnxl_fail(
      error, ONNXL_ERROR_USAGE,
      "--workspace is a column of the table of nodes, with values of symbols from --dim, and a key in JSON");
  return true;
}

/* For --plan, whose expressions become numbers with one value of each symbol. */
static const OnnxlLayout *
lay_out(const OnnxlMemory *memory, const OnnxlBindings *grid, GError **error)
{
  OnnxlArena *arena = memory->inference->model->arena;
  g_autofree size_t *choice = g_new0(size_t, grid->count);
  OnnxlAssignment assignment = { grid, choice };

  for (size_t i = 0; i < grid->count; i++)
    if (grid->items[i].n_values > 1) {
      onnxl_fail(error, ONNXL_ERROR_USAGE, "--plan needs one value of %.*s, not %zu", ONNXL_ARG(grid->items[i].name),
                 grid->items[i].n_values);
      return NULL;
    }
  return onnxl_memory_check_sizes(memory, onnxl_mem_lookup, &assignment, error)
           ? onnxl_layout_new(memory, onnxl_mem_lookup, &assignment, arena, error)
           : NULL;
}

static bool
print_nodes(const OnnxlRun *run, const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlOutput *out, GError **error)
{
  g_autofree uint32_t *rows = NULL;
  const OnnxlExpr *workspaces = NULL;
  uint32_t n_rows = 0;

  if (grid->count > 0 && run->common.format != ONNXL_FORMAT_JSON)
    return onnxl_mem_report_grid(memory, grid, run->common.format, out, error);
  if (workspace && !(workspaces = onnxl_workspaces_new(memory, memory->inference->model->arena, error)))
    return false;
  return (top == 0 || onnxl_mem_top(memory, top, &rows, &n_rows, error)) &&
         onnxl_mem_report(memory, grid, rows, n_rows, workspaces, run->common.format, out, error);
}

static bool
print_report(OnnxlRun *run, const OnnxlMemory *memory, const OnnxlBindings *grid, OnnxlOutput *out, GError **error)
{
  bool fits = true;

  if (solve) {
    bool done = onnxl_mem_solve(memory, grid, solve, budget, run->common.format, out, &fits, error);
    if (done && !fits)
      onnxl_diag(run->sink, ONNXL_DIAG_BUDGET, NULL, "the peak is larger than the budget for any value of %s", solve);
    return done;
  }
  if (budget != UINT64_MAX && !onnxl_mem_check_budget(run, memory, grid, budget, error))
    return false;
  if (nested)
    return onnxl_mem_report_nested(memory, run->common.format, out, error);
  if (macs)
    return onnxl_mem_check_sizes(memory, grid, error) &&
           onnxl_mem_report_macs(memory->inference, grid, by == ONNXL_MEM_BY_OP, top, run->common.format, out, error);
  if (plan) {
    const OnnxlLayout *layout = lay_out(memory, grid, error);
    if (layout)
      onnxl_mem_report_layout(memory, layout, run->common.format, out);
    return layout != NULL;
  }
  if (by != ONNXL_MEM_BY_NODE)
    return onnxl_mem_report_by(memory, (OnnxlMemBy)by, top, run->common.format, out, error);
  return print_nodes(run, memory, grid, out, error);
}

static bool
write_plot(const OnnxlMemory *memory, const OnnxlBindings *grid, GError **error)
{
  bool svg = g_str_has_suffix(plot, ".svg");
  const OnnxlLayout *layout = plan ? lay_out(memory, grid, error) : NULL;
  OnnxlOutputFile file;

  if ((plan && !layout) || !onnxl_output_file_open(&file, plot, 0, error))
    return false;
  if (plan ? onnxl_mem_map(memory, layout, svg, &file.out, error) : onnxl_mem_plot(memory, grid, svg, &file.out, error))
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return false;
}

static bool
write_model(const OnnxlRun *run, const OnnxlMemAnalysis *analysis, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;
  OnnxlModel *model = analysis->model;
  int flags = (common->text ? 0 : ONNXL_OUTPUT_BINARY) | (common->force ? ONNXL_OUTPUT_FORCE : 0);
  const OnnxlLayout *layout = onnxl_layout_new(analysis->memory, NULL, NULL, model->arena, error);
  OnnxlOutputFile file;

  if (!layout || !onnxl_memory_store(model, analysis->memory, &analysis->options, layout, error) ||
      !onnxl_output_file_open(&file, common->output, flags, error))
    return false;
  if (onnxl_model_save(model, &file.out, common->output, common->text, common->allow_large, error))
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return false;
}

/* The report goes to standard output unless another result was asked for alone; a picture takes its place, but in a
 * file it leaves room for one in a format that was asked for. */
static bool
write_all(OnnxlRun *run, OnnxlMemAnalysis *analysis, GError **error)
{
  bool asked = reorder || plan || macs || nested || solve || by != ONNXL_MEM_BY_NODE || top > 0 || evals.count > 0 ||
               workspace || run->common.format != ONNXL_FORMAT_TABLE;
  OnnxlBindings grid;
  OnnxlOutput out;

  if ((solve && !onnxl_binding_check_free(onnxl_str(solve), "--solve", &dims, "--dim", error)) ||
      !onnxl_bindings_parse(&grid, "--eval", &evals, true, error))
    return false;
  for (size_t i = 0; i < grid.count; i++)
    if (!onnxl_binding_check_free(grid.items[i].name, "--eval", &dims, "--dim", error) ||
        !onnxl_inference_check_symbol(analysis->inference, grid.items[i].name, error)) {
      onnxl_bindings_clear(&grid);
      return false;
    }
  onnxl_output_init(&out, 1);
  bool printed =
    plot ? run->common.format != ONNXL_FORMAT_TABLE && strcmp(plot, "-") != 0 : asked || !run->common.output;
  bool done = !reorder || onnxl_mem_reorder(analysis, &grid, run->common.format, printed ? &out : NULL, error);
  if (done && printed && !reorder)
    done = print_report(run, analysis->memory, &grid, &out, error);
  else if (done && budget != UINT64_MAX)
    done = onnxl_mem_check_budget(run, analysis->memory, &grid, budget, error);
  done = done && onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  done = done && (!plot || write_plot(analysis->memory, &grid, error)) &&
         (!run->common.output || onnxl_diag_errors(run->sink) > 0 || write_model(run, analysis, error));
  onnxl_bindings_clear(&grid);
  return done;
}

static bool
bind_dims(OnnxlModel *model, GError **error)
{
  OnnxlBindings bindings;

  if (!onnxl_bindings_parse(&bindings, "--dim", &dims, false, error))
    return false;
  bool done = bindings.count == 0 || onnxl_shapes_name_inputs(model, error);
  for (size_t i = 0; done && i < bindings.count; i++)
    done = onnxl_shapes_bind(model, bindings.items[i].name, bindings.items[i].values[0], error);
  onnxl_bindings_clear(&bindings);
  return done;
}

/* The model may be replaced by itself with a plan; its weights and a picture are another matter. */
static bool
check_outputs(OnnxlRun *run, OnnxlModel *model, GError **error)
{
  const char *folder = run->common.data_dir;

  return onnxl_model_check_output(model, folder, run->common.output, error) &&
         onnxl_model_check_output(model, folder, plot, error) && onnxl_run_check_output(run, "--plot", plot, error) &&
         onnxl_run_claim_output(run, "--plot", plot, error) &&
         onnxl_model_check_output(model, folder, run->common.dependency_file, error) &&
         onnxl_run_check_output(run, "-MF", run->common.dependency_file, error);
}

static bool
run_mem(OnnxlRun *run, GError **error)
{
  if (!check_options(run, error))
    return false;
  OnnxlMemAnalysis a = { .options = { .inplace = (OnnxlInplace)inplace, .free_inputs = free_inputs } };

  a.model = onnxl_model_load(run->input, &run->common.limits, run->sink, error);
  if (!a.model)
    return false;
  onnxl_run_add_input(run, run->input);
  onnxl_run_add_files(run, a.model->data_files);
  a.inference = check_outputs(run, a.model, error) && bind_dims(a.model, error)
                  ? onnxl_infer(a.model, &(OnnxlInferOptions){ 0 }, a.model->arena, run->sink, error)
                  : NULL;
  a.memory = a.inference ? onnxl_memory_new(a.inference, &a.options, a.model->arena, error) : NULL;
  bool done = a.memory && write_all(run, &a, error);
  onnxl_inference_free(a.inference);
  onnxl_model_free(a.model);
  return done;
}

static const OnnxlTool tool = {
  .name = "onnxl-mem",
  .usage = "[OPTION]... [MODEL]",
  .summary = "Prints for each node of a model the bytes that are live when it starts, the bytes that it adds and\n"
             "their sum, as expressions over the model's symbolic dimensions, and the peak. Nothing is run, no weight\n"
             "is read.",
  .examples = "  onnxl-mem model.onnx\n"
              "      Prints the table of expressions and the peak.\n"
              "  onnxl-mem --eval N=1,8,32,128 model.onnx\n"
              "      Prints what it comes to for four batch sizes.\n"
              "  onnxl-mem --inplace=none --format=json model.onnx | jq .peak.total\n"
              "      Prints the peak when no buffer is reused in place.\n"
              "  onnxl-mem --budget 2G --solve N model.onnx\n"
              "      Prints the largest batch that fits into two gigabytes.\n"
              "  onnxl-mem --plan --dim N=8 model.onnx\n"
              "      Prints where the buffers lie, and how near that is to the least possible.\n"
              "  onnxl-mem --reorder -o lower.onnx model.onnx\n"
              "      Writes the same model with its nodes in an order that needs less memory.\n"
              "  onnxl-mem --macs --by=op --dim N=8 model.onnx\n"
              "      Prints the work, the weights and the traffic of each operator.\n"
              "  onnxl-mem -o planned.onnx model.onnx\n"
              "      Writes a model that onnxl-exec runs by this plan.\n",
  .options = options,
  .rules = rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT | ONNXL_COMMON_WRITE | ONNXL_COMMON_FORMAT,
  .max_operands = 1,
  .run = run_mem,
};

ONNXL_MAIN(tool)
