/* onnxl-exec: runs a model. */
#include <math.h>

#include "exec.h"
#include "support/error.h"

ExecOptions exec_options = { .max_steps = ONNXL_MAX_STEPS, .rtol = NAN, .atol = NAN };

static const OnnxlOption options[] = {
  ONNXL_VALUES(
    0, "input", "NAME=SPEC", &exec_options.inputs,
    "value of an input: @FILE.npy, @FILE.npz:KEY, @FILE.pb, @- (standard input), a literal such as [[1,2],[3,4]], "
    "zeros, ones, arange or random"),
  ONNXL_VALUES(0, "dim", "NAME=N", &exec_options.dims, "size of a symbol, for inputs that are filled"),
  ONNXL_OPTIONAL(0, "random", "SEED", &exec_options.random, "fill inputs without a value with random numbers"),
  ONNXL_STRING(0, "output-dir", "DIR", &exec_options.output_dir,
               "write each output as NAME.npy into DIR, what is no tensor as NAME.pb"),
  ONNXL_VALUES(0, "output", "NAME=@FILE", &exec_options.outputs,
               "write one output, as .pb where FILE ends so, else as .npy; @- is standard output"),
  ONNXL_VALUES(0, "dump", "NAME|all", &exec_options.dump, "print or write an intermediate value as well"),
  ONNXL_OPTIONAL(0, "events", "FILE", &exec_options.events,
                 "the event log, a line an event; --format=json gives every field"),
  ONNXL_STRING(0, "event-kinds", "LIST", &exec_options.event_kinds,
               "only these events: names of actions or kinds, separated by commas"),
  ONNXL_FLAG(
    0, "nested", &exec_options.nested,
    "events, profile and comparison of nested graphs and function bodies as well, with path and trip of the loop"),
  ONNXL_VALUES(0, "watch", "NAME", &exec_options.watch,
               "print all elements of a value, of any graph, each time it is made"),
  ONNXL_FLAG(0, "profile", &exec_options.profile,
             "print duration, bytes and speed of each node, as median of --repeat"),
  ONNXL_CHOICE(0, "by", "node|op", &exec_options.profile_by, "sum up the profile by operator"),
  ONNXL_COUNT(0, "top", "N", &exec_options.top, "only the N slowest of the profile"),
  ONNXL_STRING(0, "trace", "FILE", &exec_options.trace, "write a trace that Chrome and Perfetto show"),
  ONNXL_STRING(
    0, "plot", "FILE", &exec_options.plot,
    "draw the time of each node and the live bytes, as SVG into FILE.svg, as text into another file or, with -, to "
    "standard output"),
  ONNXL_FLAG(0, "no-release", &exec_options.no_release, "keep intermediate values until the end"),
  ONNXL_FLAG(
    0, "plan", &exec_options.plan,
    "write outputs over dying inputs as onnxl-mem plans it, and count inputs, outputs and nested graphs as it does; "
    "so is a model that carries a plan run without this option"),
  ONNXL_COUNT(0, "max-buffers", "N", &exec_options.max_buffers, "fail when more than N buffers are live at one time"),
  ONNXL_COUNT(
    0, "max-steps", "N", &exec_options.max_steps,
    "fail when more than N nodes, nested graphs and function bodies would run, each time counted; 0 = any number "
    "(default 1073741824)"),
  ONNXL_COUNT(0, "threads", "N", &exec_options.threads, "threads that a kernel may use; every kernel runs on one"),
  ONNXL_COUNT(0, "repeat", "N", &exec_options.repeat, "run N times and print the shortest and the median time"),
  ONNXL_COUNT(0, "warmup", "N", &exec_options.warmup, "runs before those that count"),
  ONNXL_FLAG(0, "check-shapes", &exec_options.check_shapes, "compare every value's shape with the inferred one"),
  ONNXL_FLAG(
    0, "check-values", &exec_options.check_values,
    "print smallest, largest and mean value of everything computed, and how many are NaN, infinite, zero or subnormal"),
  ONNXL_CHOICE(0, "fail-on", "nothing|nan|inf|nan,inf", &exec_options.fail_on,
               "stop at the first value that has one, and exit with 1"),
  ONNXL_FLAG(0, "test", &exec_options.test, "run cases with known answers: folders of model.onnx and test_data_set_*"),
  ONNXL_NUMBER(0, "rtol", "R", &exec_options.rtol,
               "relative tolerance of --test, --compare and --expect (default 1e-3, more for short types)"),
  ONNXL_NUMBER(0, "atol", "A", &exec_options.atol,
               "absolute tolerance of --test, --compare and --expect (default 1e-7, more for short types)"),
  ONNXL_STRING(0, "compare", "OTHER", &exec_options.compare,
               "run another model on the same inputs, too, and report values that differ, the first in detail"),
  ONNXL_STRING(0, "record", "OUT", &exec_options.record, "write the model with the types and dims that the run met"),
  ONNXL_VALUES(0, "expect", "NAME=@FILE", &exec_options.expect, "compare a value of the run with a file"),
  ONNXL_STRING(0, "batch", "LIST", &exec_options.batch,
               "run once for each line of a file: a key, which names the results, and inputs as NAME=SPEC"),
  ONNXL_STRING(0, "shard", "I/N", &exec_options.shard, "of the lines of --batch take the I-th and every N-th after it"),
  ONNXL_OPTIONS_END
};

/* Makes the observers that options ask for. *ret_dump: the one of --dump, NULL for none. */
static bool
watch_session(OnnxlRun *run, Session *session, Dump **ret_dump, GError **error)
{
  static ObserverNew *const makers[] = { events_new, expect_new, check_shapes_new, profile_new, trace_new,
                                         plot_new,   watch_new,  values_new,       record_new };
  bool good = true;
  for (size_t i = 0; good && i < G_N_ELEMENTS(makers); i++) {
    Observer *observer = NULL;
    good = makers[i](run, session, &observer, error);
    if (observer)
      session_watch(session, observer);
  }
  *ret_dump = exec_options.dump.count > 0 ? dump_new(false) : NULL;
  if (*ret_dump)
    session_watch(session, &(*ret_dump)->observer);
  return good;
}

bool
run_model(OnnxlRun *run, GError **error)
{
  Session session = { 0 };
  Dump *dump;
  OnnxlOutput out;
  GError *failed = NULL;
  onnxl_output_init(&out, STDOUT_FILENO);
  bool good = session_open(&session, run, run->input, &failed) && session_check_dims(&session, 1, &failed) &&
              watch_session(run, &session, &dump, &failed) && session_read_command_inputs(&session, run, &failed) &&
              outputs_check(run, &session, &failed);
  if (good) {
    good = session_run(&session, &failed);
    /* What was made before a check stopped the run is not lost. */
    if (good || session.stopped)
      good =
        write_outputs(run, &session, dump, session_takes_stdout(&session) ? NULL : &out, good ? &failed : NULL) && good;
    good = session_finish(&session, good, &out, good ? &failed : NULL) && good;
  }
  if (failed)
    session_explain(&session, run, failed, error);
  good = onnxl_output_flush(&out, "standard output", good ? error : NULL) && good;
  onnxl_output_clear(&out);
  session_close(&session);
  return good;
}

static const OnnxlTool tool = {
  .name = "onnxl-exec",
  .usage = "[OPTION]... [MODEL]\n       onnxl-exec --test [OPTION]... FOLDER...",
  .summary = "Runs a model and prints its outputs.",
  .examples = "  onnxl-exec --input x=arange --dim N=8 model.onnx\n"
              "      Runs a model on 0, 1, 2 and so on.\n"
              "  onnxl-exec --input x=@x.npy --output-dir out model.onnx\n"
              "      Reads and writes arrays of numpy.\n"
              "  onnxl-exec --random --dim N=1 --profile model.onnx\n"
              "      Shows how long each node takes.\n"
              "  onnxl-exec --batch list.txt --shard 2/8 --output-dir out model.onnx\n"
              "      Runs an eighth of the lines of a file, such as: key1 x=@1.npy\n"
              "  onnxl-exec --test cases/*\n"
              "      Compares with known answers.\n",
  .options = options,
  .rules = exec_rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_WRITE | ONNXL_COMMON_FORMAT | ONNXL_COMMON_PROGRESS,
  .max_operands = SIZE_MAX,
  .run = run_mode,
};

int
main(int argc, char **argv)
{
  int status = onnxl_main(&tool, argc, argv);
  interrupt_pass_on();
  return status;
}
