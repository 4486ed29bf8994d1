/* What is done with the model, and which options have a meaning then: one that would be passed over silently is
 * refused. */
#include "exec.h"
#include "support/error.h"

const OnnxlOptionRule exec_rules[] = {
  { "--compare", NULL, "--test|--batch" },
  { "--batch", NULL, "--test" },
  { "--input|--dim|--random|--no-release|--plan|--max-buffers|--max-steps", NULL, "--test" },
  { "--data-dir|--format|-MD|-MF|-MT", NULL, "--test" },
  { "--output-dir|--dump", NULL, "--test|--compare" },
  { "--nested", NULL, "--test|--batch" },
  { "--output|--events|--watch|--profile|--trace|--plot|--repeat|--warmup", NULL, "--test|--compare|--batch" },
  { "--check-shapes|--check-values|--fail-on|--record|--expect", NULL, "--test|--compare|--batch" },
  { "--event-kinds", "--events", NULL },
  { "--nested", "--events|--profile|--compare", NULL },
  { "--by|--top", "--profile", NULL },
  { "--warmup", "--repeat|--profile|--trace|--plot|--events", NULL },
  { "--rtol|--atol", "--test|--compare|--expect", NULL },
  { "--shard", "--batch", NULL },
  { "-S|--allow-large", "--record", NULL },
  { "--format=csv", "--events|--profile|--check-values|--compare", NULL },
  { NULL, NULL, NULL },
};

/* NAME=SPEC or NAME=@FILE where standard input is meant. */
static bool
names_stdin(const OnnxlStringList *texts)
{
  for (size_t i = 0; i < texts->count; i++)
    if (g_str_has_suffix(texts->items[i], "=@-"))
      return true;
  return false;
}

static bool
check_stdin(const OnnxlRun *run, GError **error)
{
  const struct {
    const char *name;
    bool reads;
  } readers[] = {
    { "the model", !run->input },
    { "--batch", exec_options.batch && strcmp(exec_options.batch, "-") == 0 },
    { "--compare", exec_options.compare && strcmp(exec_options.compare, "-") == 0 },
    { "--input", names_stdin(&exec_options.inputs) },
    { "--expect", names_stdin(&exec_options.expect) },
  };
  const char *first = NULL;
  bool once = !onnxl_run_rereads_stdin() || readers[1].reads; /* a list is no model, wherever it starts */
  for (size_t i = 0; once && i < G_N_ELEMENTS(readers); i++) {
    if (readers[i].reads && first)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s and %s cannot both come from standard input", first,
                        readers[i].name);
    first = readers[i].reads ? readers[i].name : first;
  }
  return true;
}

bool
run_mode(OnnxlRun *run, GError **error)
{
  if (exec_options.test)
    return run_tests(run, error);
  if (run->operands.count > 1)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "one model is expected where %zu are given", run->operands.count);
  if (!check_stdin(run, error))
    return false;
  if (exec_options.batch)
    return run_batch(run, error);
  if (exec_options.compare)
    return run_compare(run, error);
  return run_model(run, error);
}
