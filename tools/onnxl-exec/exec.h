/* The parts of onnxl-exec that share the command line. */
#ifndef ONNXL_EXEC_H
#define ONNXL_EXEC_H

#include "cli/bindings.h"
#include "cli/main.h"
#include "cli/output-file.h"
#include "runtime/executor.h"

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
  bool profile;
  int profile_by; /* 0 node, 1 operator */
  uint32_t top;
  const char *trace;
  bool no_release, plan;
  uint32_t max_buffers, threads, repeat, warmup;
  bool check_shapes, check_values;
  int fail_on; /* 0 nothing, 1 NaN, 2 infinities */
  bool test;
  double rtol, atol;
  const char *compare;
} ExecOptions;

extern ExecOptions exec_options;

/* A model ready to run, with its inputs. */
typedef struct Session {
  OnnxlModel *model;
  OnnxlPlan *plan;
  OnnxlInference *inference; /* of the plan of memory that the run obeys, or NULL */
  OnnxlExecutor *executor;
  OnnxlValue **inputs;
  OnnxlValue **outputs;
  OnnxlEventFunction event; /* called for each event of the run that counts */
  void *event_data;
  bool listening;
  uint64_t *durations; /* nanoseconds of each counted run */
  uint32_t n_durations;
} Session;

bool session_open(Session *session, OnnxlRun *run, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool session_read_inputs(Session *session, OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Warm-up runs, then the counted ones; events come from the last. */
bool session_run(Session *session, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Hands failed on, and turns what is wrong with the input into a finding. Returns false. */
bool session_explain(const Session *session, OnnxlRun *run, GError *failed, GError **error);
void session_close(Session *session);

/* Values that events showed, by name, in order. */
typedef struct Dump {
  GPtrArray *names;  /* char * */
  GPtrArray *values; /* OnnxlValue * */
  bool all;
} Dump;

void dump_init(Dump *dump);
void dump_clear(Dump *dump);
void dump_event(Dump *dump, const OnnxlEvent *event);

/* Prints and writes outputs and dumped values. */
bool write_outputs(const OnnxlRun *run, const Session *session, const Dump *dump, OnnxlOutput *out,
                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The event log, --profile, --trace and --check-values: each collects from events and prints at the end. */
typedef struct Report Report;
Report *report_new(const OnnxlRun *run, GError **error);
void report_event(Report *report, const OnnxlEvent *event);
/* Standard output is taken by a report, so that the outputs are not printed. */
bool report_takes_stdout(const Report *report);
/* A value was found that --fail-on names. */
bool report_failed(const Report *report);
bool report_finish(Report *report, OnnxlOutput *out, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void report_free(Report *report);

/* --check-shapes: differences are findings. */
typedef struct ShapeCheck ShapeCheck;
ShapeCheck *shape_check_new(OnnxlRun *run, const OnnxlModel *model, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void shape_check_event(ShapeCheck *check, const OnnxlEvent *event);
void shape_check_finish(const ShapeCheck *check);
void shape_check_free(ShapeCheck *check);

/* --test and --compare. */
bool run_tests(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool run_compare(OnnxlRun *run, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
