/* The parts of onnxl-exec that share the command line. */
#ifndef ONNXL_EXEC_H
#define ONNXL_EXEC_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "cli/output-file.h"
#include "observer.h"
#include "runtime/executor.h"
#include "runtime/input-spec.h"

/* What the options say. */
typedef struct ExecOptions {
  OnnxlStringList inputs; /* NAME=SPEC */
  OnnxlStringList dims;   /* NAME=VALUE */
  const char *random;     /* seed, or "" */
  const char *output_dir;
  OnnxlStringList outputs; /* NAME=@FILE */
  OnnxlStringList dump;    /* names, or "all" */
  const char *events;      /* file, "" for standard output, NULL for none */
  const char *event_kinds;
  bool nested;
  OnnxlStringList watch; /* names of values */
  bool profile;
  int profile_by; /* 0 node, 1 operator */
  uint32_t top;
  const char *trace, *plot;
  bool no_release, plan;
  uint32_t max_buffers, max_steps, threads, repeat, warmup;
  bool check_shapes, check_values;
  int fail_on; /* 0 nothing, 1 NaN, 2 infinities, 3 both */
  bool test;
  double rtol, atol;      /* NAN = not given */
  OnnxlStringList expect; /* NAME=@FILE */
  const char *record;     /* file of a model */
  const char *compare;
  const char *batch; /* file of lines, "-" for standard input */
  const char *shard; /* I/N */
} ExecOptions;

extern ExecOptions exec_options;

/* A model ready to run, with its inputs. */
typedef struct Session {
  OnnxlModel *model;
  OnnxlPlan *plan;
  OnnxlInference *inference; /* of the plan of memory, or NULL */
  const OnnxlMemory *memory; /* which --max-memory is held against, or NULL */
  bool obeys_memory;         /* the run does as it says */
  OnnxlExecutor *executor;
  OnnxlBindings dims; /* --dim */
  OnnxlInputContext context;
  OnnxlValue **inputs;
  bool *given; /* which of them session_read_inputs() has read */
  OnnxlValue **outputs;
  char *stopped;        /* why a check ended the run, owned; NULL: none did */
  GPtrArray *observers; /* Observer; owned, NULL = none */
  GPtrArray *listening; /* those of them that see the next run */
  uint64_t *durations;  /* nanoseconds of each counted run */
  uint32_t n_durations;
} Session;

bool session_open(Session *session, OnnxlRun *run, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Fails with ONNXL_ERROR_USAGE when a name of --dim is known to none of the n models, which are open. */
bool session_check_dims(const Session *sessions, size_t n, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Reads the n inputs that texts, each NAME=SPEC, give, in the place of those that are there. */
bool session_read_inputs(Session *session, OnnxlRun *run, const char *const *texts, size_t n,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Fills the inputs that have no value yet, as --random says; without it that is an error. */
bool session_complete_inputs(Session *session, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Both, for the inputs of the command line. */
bool session_read_command_inputs(Session *session, OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Lets an observer see the run; takes it over. */
void session_watch(Session *session, Observer *observer);
/* One run, which the observers see. The outputs of the run before are dropped. */
bool session_run_once(Session *session, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Warm-up runs, then the counted ones, which observers see. */
bool session_run(Session *session, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Lets every observer say what it saw; the first failure counts. */
bool session_finish(Session *session, bool completed, OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* An observer takes standard output, so that the outputs are not printed. */
bool session_takes_stdout(const Session *session);
/* Hands failed on, and turns what is wrong with the input into a finding. Returns false. */
bool session_explain(const Session *session, OnnxlRun *run, GError *failed, GError **error);
void session_close(Session *session);

/* An observer that keeps values, in order: those of --dump, or everything that nodes compute. */
typedef struct Dump {
  Observer observer;
  GPtrArray *names;  /* char * */
  GPtrArray *values; /* OnnxlValue * */
  bool all;
} Dump;

/* all: whatever --dump says. Returns: owned; session_watch() takes it over. */
Dump *dump_new(bool all);
/* Forgets the values. */
void dump_clear(Dump *dump);

/* Fails with ONNXL_ERROR_USAGE when an output of the command line would take away what is read, which is known by now.
 */
bool outputs_check(OnnxlRun *run, const Session *session, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Prints and writes outputs and dumped values (dump NULL: none). out NULL: prints nothing. */
bool write_outputs(const OnnxlRun *run, const Session *session, const Dump *dump, OnnxlOutput *out,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The signal that came while a run lasted and ends it at its next node; 0 = none. */
extern volatile sig_atomic_t interrupt_signal;
/* Around runs: SIGINT and SIGTERM are noted. */
void interrupt_catch(void);
void interrupt_release(void);
/* At the very end: dies of the signal that was noted, as who sent it expects. */
void interrupt_pass_on(void);

/* Makes the plan of memory that the model carries or that --plan or --max-memory ask for. */
bool memory_plan_open(Session *session, OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Fails with ONNXL_ERROR_LIMIT when the plan needs more than limit bytes at the sizes of the inputs, mapped weights and
 * the bodies of nodes left out. True when that is not known. */
bool memory_plan_check(const Session *session, uint64_t limit, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A run, --test, --compare or --batch. */
bool run_model(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool run_tests(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool run_compare(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool run_batch(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The one of them that the options ask for, which have passed exec_rules. */
bool run_mode(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
extern const OnnxlOptionRule exec_rules[];

#endif
