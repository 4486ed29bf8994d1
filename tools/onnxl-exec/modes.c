/* What is done with the model, and which options have a meaning then: one that would be passed over silently is
 * refused. */
#include "exec.h"
#include "support/error.h"

enum { IN_BATCH = 1, IN_COMPARE = 2, IN_TEST = 4 };

/* The first option given that the mode does not obey; NULL: there is none. */
static const char *
refused_option(int mode)
{
  const struct {
    bool given;
    const char *name;
    int modes;
  } options[] = {
    { exec_options.inputs.count > 0, "--input", IN_BATCH | IN_COMPARE },
    { exec_options.dims.count > 0, "--dim", IN_BATCH | IN_COMPARE },
    { exec_options.random != NULL, "--random", IN_BATCH | IN_COMPARE },
    { exec_options.output_dir != NULL, "--output-dir", IN_BATCH },
    { exec_options.outputs.count > 0, "--output", 0 },
    { exec_options.dump.count > 0, "--dump", IN_BATCH },
    { exec_options.events != NULL, "--events", 0 },
    { exec_options.nested, "--nested", IN_COMPARE },
    { exec_options.watch.count > 0, "--watch", 0 },
    { exec_options.profile, "--profile", 0 },
    { exec_options.trace != NULL, "--trace", 0 },
    { exec_options.plot != NULL, "--plot", 0 },
    { exec_options.no_release, "--no-release", IN_BATCH | IN_COMPARE },
    { exec_options.plan, "--plan", IN_BATCH | IN_COMPARE },
    { exec_options.max_buffers > 0, "--max-buffers", IN_BATCH | IN_COMPARE },
    { exec_options.max_steps != ONNXL_MAX_STEPS, "--max-steps", IN_BATCH | IN_COMPARE },
    { exec_options.repeat > 0, "--repeat", 0 },
    { exec_options.warmup > 0, "--warmup", 0 },
    { exec_options.check_shapes, "--check-shapes", 0 },
    { exec_options.check_values, "--check-values", 0 },
    { exec_options.fail_on != 0, "--fail-on", 0 },
    { exec_options.record != NULL, "--record", 0 },
    { exec_options.expect.count > 0, "--expect", 0 },
    { exec_options.compare != NULL, "--compare", IN_COMPARE },
    { exec_options.batch != NULL, "--batch", IN_BATCH },
  };
  for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
    if (options[i].given && !(options[i].modes & mode))
      return options[i].name;
  return NULL;
}

static bool
check_mode(int mode, const char *name, GError **error)
{
  const char *refused = refused_option(mode);
  if (!refused)
    return true;
  return mode == IN_BATCH
           ? onnxl_fail(error, ONNXL_ERROR_USAGE, "%s is about one run and cannot be given with %s", refused, name)
           : onnxl_fail(error, ONNXL_ERROR_USAGE, "%s does nothing with %s, so they cannot be given together", refused,
                        name);
}

RunMode
mode_choose(GError **error)
{
  if (exec_options.test)
    return check_mode(IN_TEST, "--test", error) ? run_tests : NULL;
  if (exec_options.batch)
    return check_mode(IN_BATCH, "--batch", error) ? run_batch : NULL;
  if (exec_options.compare)
    return check_mode(IN_COMPARE, "--compare", error) ? run_compare : NULL;
  return run_model;
}
