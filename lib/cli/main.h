/* The frame of every tool: options, limits, findings, exit status. A tool is a table and a function. */
#ifndef ONNXL_CLI_MAIN_H
#define ONNXL_CLI_MAIN_H

#include "cli/options.h"
#include "support/diag.h"
#include "support/limits.h"

typedef enum OnnxlReportFormat { ONNXL_FORMAT_TABLE, ONNXL_FORMAT_JSON, ONNXL_FORMAT_CSV } OnnxlReportFormat;
typedef enum OnnxlWhen { ONNXL_WHEN_AUTO, ONNXL_WHEN_ALWAYS, ONNXL_WHEN_NEVER } OnnxlWhen;

/* Groups of the common options that a tool takes, besides --help, --version, -q, -v and those about findings. */
typedef enum OnnxlCommonGroup {
  ONNXL_COMMON_MODEL = 1 << 0,    /* reads a model: --data-dir, --allow-symlinks, the limits, -MD, -MF, -MT */
  ONNXL_COMMON_OUTPUT = 1 << 1,   /* writes one file: -o, -f */
  ONNXL_COMMON_WRITE = 1 << 2,    /* writes a model: -S, --allow-large */
  ONNXL_COMMON_FORMAT = 1 << 3,   /* prints a report: --format */
  ONNXL_COMMON_PROGRESS = 1 << 4, /* may take long: --progress */
} OnnxlCommonGroup;

/* What the common options say. Strings are borrowed from argv. */
typedef struct OnnxlCommonOptions {
  const char *output; /* -o, or NULL for standard output */
  bool force;         /* -f */
  bool text;          /* -S */
  bool allow_large;
  const char *data_dir; /* NULL: the folder of the model */
  bool allow_symlinks;
  OnnxlLimits limits;
  bool limits_memory;          /* --max-memory was given */
  bool dependencies;           /* -MD, which -MF and -MT imply */
  const char *dependency_file; /* of -MF, or the name that -MD takes without it; NULL without both */
  OnnxlStringList dependency_targets;
  int format; /* OnnxlReportFormat */
  bool quiet;
  bool verbose;
  int color;    /* OnnxlWhen; findings are coloured by onnxl_main() */
  int progress; /* OnnxlWhen */
  bool json_diagnostics;
  uint32_t max_errors;
  OnnxlStringList warnings; /* after -W, applied to the sink by onnxl_main() */
} OnnxlCommonOptions;

typedef struct OnnxlTool OnnxlTool;

/* A run of a tool. */
typedef struct OnnxlRun {
  const OnnxlTool *tool;
  OnnxlCommonOptions common;
  const char *input;        /* the first operand; NULL for standard input, which may be written "-" */
  OnnxlStringList operands; /* all of them, as given */
  OnnxlDiagSink *sink;      /* for findings about the input; printed when the run ends, or by onnxl_run_flush_diags() */
  bool differs;             /* set by the tool: exit status 1 although there is no finding, as for a failed --check */
  OnnxlStringList inputs;   /* files that were read, for -MD */
  OnnxlStringList outputs;  /* see onnxl_run_claim_output() */
} OnnxlRun;

struct OnnxlTool {
  const char *name;
  const char *usage;          /* what follows the name in "Usage: …" */
  const char *summary;        /* what the tool does: sentences */
  const char *examples;       /* lines of worked examples: a command, then what it does, indented by two more blanks */
  const OnnxlOption *options; /* the tool's own, or NULL; they come before the common ones of the same name */
  const OnnxlOptionRule *rules; /* which options, common ones included, do nothing without others; or NULL */
  unsigned common;              /* OnnxlCommonGroup bits */
  size_t max_operands;
  /* Does the work. Returns false with error when the operation failed; findings alone do not need an error. */
  bool (*run)(OnnxlRun *run, GError **error);
};

/* Parses the command line, runs the tool, prints findings and error and returns the exit status: 0 done, 1 the input is
 * wrong (ONNXL_ERROR_INVALID, a finding of severity error, or run->differs), 2 the job could not be done. */
int onnxl_main(const OnnxlTool *tool, int argc, char **argv);

/* Defines main() for a tool. */
#define ONNXL_MAIN(tool)                    \
  int main(int argc, char **argv)           \
  {                                         \
    return onnxl_main(&(tool), argc, argv); \
  }

/* Notes a file that was read, for the dependency file; path is copied. NULL (standard input) is ignored. */
void onnxl_run_add_input(OnnxlRun *run, const char *path);

/* Notes files that a model refers to. files: of OnnxlFile, or NULL. */
void onnxl_run_add_files(OnnxlRun *run, const GPtrArray *files);

/* Fails with ONNXL_ERROR_USAGE when an output at path would take a file away that the run reads: an operand or one that
 * onnxl_run_add_input() noted, under whatever name. option: the one that names the output. NULL and "-" are standard
 * output; devices are no files. */
bool onnxl_run_check_output(const OnnxlRun *run, const char *option, const char *path,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Notes an output of the run besides those of -o and -MF, which are noted before it. Fails with ONNXL_ERROR_USAGE when
 * another one has the same name. option and path (borrowed) as above. */
bool onnxl_run_claim_output(OnnxlRun *run, const char *option, const char *path,
                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* True when standard input is a file, from whose start each reader reads. */
bool onnxl_run_rereads_stdin(void);

/* Prints the findings so far and starts a new sink for file (NULL: none), as a tool with several inputs does after
 * each. Findings that were printed still count for the exit status. */
void onnxl_run_flush_diags(OnnxlRun *run, const char *file);

/* Prints *error and clears it, for a tool with several inputs that goes on to the next one. The exit status will be the
 * one that returning it would have made. */
void onnxl_run_failed(OnnxlRun *run, GError **error);

/* One line "TOOL: …" on standard error with -v only. */
void onnxl_run_verbose(const OnnxlRun *run, const char *format, ...) G_GNUC_PRINTF(2, 3);

#endif
