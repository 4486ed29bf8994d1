#include "cli/main.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/depfile.h"
#include "cli/output-file.h"
#include "cli/report.h"
#include "cli/temporary-internal.h"
#include "support/error.h"
#include "support/file.h"

enum { EXIT_DONE = 0, EXIT_WRONG_INPUT = 1, EXIT_CANNOT = 2 };
enum { MAX_TABLES = 8 };

/* The common options, filled from the command line: a process runs one tool once, and tables need static addresses. */
static OnnxlCommonOptions common;
static bool help, version, print_options;
static int diagnostics_format;

static const OnnxlOption output_options[] = {
  ONNXL_STRING('o', NULL, "FILE", &common.output,
               "write to FILE, which appears whole or not at all (default: standard output)"),
  ONNXL_FLAG('f', "force", &common.force, "write a binary even to a terminal"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption write_options[] = {
  ONNXL_FLAG('S', "text", &common.text, "write the model as text instead of binary"),
  ONNXL_FLAG(0, "allow-large", &common.allow_large,
             "write a single file over 2 GiB, which most protobuf readers refuse"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption model_options[] = {
  ONNXL_STRING(0, "data-dir", "DIR", &common.data_dir,
               "look external data up in DIR (default: the folder of the model)"),
  ONNXL_FLAG(0, "allow-symlinks", &common.allow_symlinks, "follow symbolic links when opening external data"),
  ONNXL_POSITIVE_SIZE(0, "max-memory", &common.limits.max_memory,
                      "bytes of tensors at one time (default: what the system has left)"),
  ONNXL_POSITIVE_SIZE(0, "max-metadata", &common.limits.max_metadata,
                      "bytes of model metadata (default: 256M, or 16 times the input without payloads)"),
  ONNXL_COUNT(0, "max-depth", "N", &common.limits.max_depth, "nesting of the model (default: 200)"),
  ONNXL_FLAG('M', "MD", &common.dependencies, "write a Makefile dependency file naming every file read"),
  ONNXL_STRING('M', "MF", "FILE", &common.dependency_file, "its name (default: the output's with .d); implies -MD"),
  ONNXL_VALUES('M', "MT", "TARGET", &common.dependency_targets, "the target in it (default: the output); implies -MD"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption format_options[] = {
  ONNXL_CHOICE(0, "format", "table|json|csv", &common.format, "shape of the report"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption progress_options[] = {
  ONNXL_CHOICE(0, "progress", "auto|always|never", &common.progress, "progress on standard error"),
  ONNXL_OPTIONS_END,
};
static const OnnxlOption finding_options[] = {
  ONNXL_CHOICE(0, "diagnostics", "text|json", &diagnostics_format, "findings as text, or as one JSON object a line"),
  ONNXL_VALUES('W', NULL, "[no-]ID", &common.warnings,
               "switch a warning on or off; -Werror[=ID] makes warnings errors"),
  ONNXL_COUNT(0, "max-errors", "N", &common.max_errors, "print at most N errors, 0 = all (default: 20)"),
  ONNXL_CHOICE(0, "color", "auto|always|never", &common.color, "colours (default: on a terminal without NO_COLOR)"),
  ONNXL_FLAG('q', "quiet", &common.quiet, "no warnings"),
  ONNXL_FLAG('v', "verbose", &common.verbose, "say what is done"),
  ONNXL_FLAG('h', "help", &help, "print this help"),
  ONNXL_FLAG(0, "version", &version, "print the version"),
  ONNXL_FLAG(0, "print-options", &print_options, "print this list for programs, such as a shell's completion"),
  ONNXL_OPTIONS_END,
};

static const struct {
  unsigned group; /* 0: every tool */
  const char *title;
  const OnnxlOption *table;
} groups[] = {
  { ONNXL_COMMON_OUTPUT, "Output", output_options },
  { ONNXL_COMMON_WRITE, "Model output", write_options },
  { ONNXL_COMMON_FORMAT, "Reports", format_options },
  { ONNXL_COMMON_MODEL, "Model input and limits", model_options },
  { ONNXL_COMMON_PROGRESS, "Progress", progress_options },
  { 0, "Findings and help", finding_options },
};

/* State of the run that signal handlers and the final checks need. */
static const char *tool_name = "onnxl";
static uint32_t earlier_errors; /* in sinks that were printed and dropped */
static bool earlier_failure;    /* an error that onnxl_run_failed() printed */

static OnnxlReportStyle
report_style(void)
{
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  bool can_color = isatty(STDERR_FILENO) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
  return (OnnxlReportStyle){
    .tool = tool_name,
    .json = diagnostics_format == 1,
    .color = common.color == ONNXL_WHEN_ALWAYS || (common.color == ONNXL_WHEN_AUTO && can_color),
    .quiet = common.quiet,
    .max_errors = common.max_errors,
  };
}

static void
print_error(const GError *error)
{
  OnnxlReportStyle style = report_style();
  OnnxlOutput out;
  onnxl_output_init(&out, STDERR_FILENO);
  onnxl_report_error(&out, &style, error);
  (void)!onnxl_output_flush(&out, "standard error", NULL);
  onnxl_output_clear(&out);
}

static void
print_diags(OnnxlDiagSink *sink)
{
  OnnxlReportStyle style = report_style();
  OnnxlOutput out;
  onnxl_output_init(&out, STDERR_FILENO);
  onnxl_diag_sort(sink);
  onnxl_report_diags(&out, &style, sink);
  (void)!onnxl_output_flush(&out, "standard error", NULL);
  onnxl_output_clear(&out);
}

/* A file opened as 0, 1 or 2 would be taken for a standard stream. What is missing is opened the wrong way round, so
 * that its use still fails. */
static void
open_missing_streams(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
      _exit(EXIT_CANNOT);
}

static void
die_of_signal(int number)
{
  onnxl_temporary_remove_all();
  signal(number, SIG_DFL);
  raise(number);
}

/* A mapped file became shorter while it was read. */
static void
die_of_truncation(int number)
{
  static const char message[] = ": a file was cut while it was being read\n";
  (void)number;
  onnxl_temporary_remove_all();
  (void)!write(STDERR_FILENO, tool_name, strlen(tool_name));
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  _exit(EXIT_CANNOT);
}

static void
install_handlers(void)
{
  static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
  struct sigaction action = { .sa_handler = die_of_signal };
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
    struct sigaction old;
    /* What the caller had ignored, as nohup does, stays so. */
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
      sigaction(ends[i], &action, NULL);
  }
  /* A file above the limit of its size is an error to be reported like any other. */
  signal(SIGXFSZ, SIG_IGN);
  action.sa_handler = die_of_truncation;
  sigaction(SIGBUS, &action, NULL);
}

static size_t
collect_tables(const OnnxlTool *tool, const OnnxlOption *tables[MAX_TABLES])
{
  size_t n = 0;
  if (tool->options)
    tables[n++] = tool->options;
  for (size_t i = 0; i < G_N_ELEMENTS(groups); i++)
    if (groups[i].group == 0 || (tool->common & groups[i].group))
      tables[n++] = groups[i].table;
  return n;
}

static void
write_help(const OnnxlTool *tool, OnnxlOutput *out)
{
  onnxl_output_printf(out, "Usage: %s %s\n\n%s\n", tool->name, tool->usage, tool->summary);
  if (tool->options) {
    onnxl_output_text(out, "\nOptions:\n");
    onnxl_options_help(tool->options, out);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
    if (groups[i].group != 0 && !(tool->common & groups[i].group))
      continue;
    onnxl_output_printf(out, "\n%s:\n", groups[i].title);
    onnxl_options_help(groups[i].table, out);
  }
  onnxl_output_text(out, "\nExit status: 0 done, 1 the input is wrong, 2 the job could not be done.\n");
  onnxl_output_printf(out, "\nExamples:\n%s", tool->examples);
}

static bool
print_information(const OnnxlTool *tool, GError **error)
{
  const OnnxlOption *tables[MAX_TABLES];
  OnnxlOutput out;
  onnxl_output_init(&out, STDOUT_FILENO);
  if (help) {
    write_help(tool, &out);
  } else if (version) {
    onnxl_output_printf(&out, "%s (onnxl) %s\n", tool->name, ONNXL_VERSION);
  } else {
    size_t n = collect_tables(tool, tables);
    for (size_t i = 0; i < n; i++)
      onnxl_options_list(tables[i], &out);
  }
  bool ok = onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  return ok;
}

static bool
configure_sink(OnnxlDiagSink *sink, GError **error)
{
  onnxl_diag_sink_set_max_errors(sink, common.max_errors);
  for (size_t i = 0; i < common.warnings.count; i++)
    if (!onnxl_diag_sink_configure(sink, common.warnings.items[i]))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "-W%s: there is no such finding", common.warnings.items[i]);
  return true;
}

/* Says where dependencies go, in run->common.dependency_file, which is owned then. */
static bool
choose_dependency_file(OnnxlRun *run, GError **error)
{
  bool named = common.output && strcmp(common.output, "-") != 0;
  const char *option = common.dependency_file ? "-MF" : common.dependency_targets.count > 0 ? "-MT" : "-MD";
  if (!onnxl_run_claim_output(run, "-o", common.output, error))
    return false;
  if (!common.dependencies)
    return true;
  if (!common.dependency_file && !named)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s needs -MF FILE when the output has no name", option);
  if (common.dependency_targets.count == 0 && !common.output)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s needs -MT TARGET when the output has no name", option);
  run->common.dependency_file =
    common.dependency_file ? g_strdup(common.dependency_file) : onnxl_depfile_name(common.output);
  return onnxl_run_check_output(run, "-MF", run->common.dependency_file, error) &&
         onnxl_run_claim_output(run, "-MF", run->common.dependency_file, error);
}

static bool
check_operands(const OnnxlTool *tool, const OnnxlRun *run, GError **error)
{
  if (run->operands.count > tool->max_operands)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "unexpected argument '%s': %s takes at most %" G_GSIZE_FORMAT " file%s",
                      run->operands.items[tool->max_operands], tool->name, tool->max_operands,
                      tool->max_operands == 1 ? "" : "s");
  return true;
}

static bool
write_dependencies(const OnnxlRun *run, GError **error)
{
  OnnxlOutputFile file;
  const char *name = run->common.dependency_file;
  OnnxlStringList output = { &common.output, 1 };
  /* By now it is known what else was read. */
  if (!onnxl_run_check_output(run, "-MF", name, error) ||
      !onnxl_output_file_open(&file, name, ONNXL_OUTPUT_NO_SYNC, error))
    return false;
  onnxl_depfile_write(&file.out, common.dependency_targets.count > 0 ? &common.dependency_targets : &output,
                      &run->inputs);
  return onnxl_output_file_commit(&file, error);
}

/* Some file systems report a failed write only when the file is closed. */
static bool
close_standard_output(GError **error)
{
  if (fflush(stdout) == 0 && !ferror(stdout) && close(STDOUT_FILENO) == 0)
    return true;
  return onnxl_error_errno(error, errno, "cannot write standard output");
}

static int
exit_status(const OnnxlRun *run, const GError *error)
{
  if (earlier_failure || (error && !g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID)))
    return EXIT_CANNOT;
  bool wrong = error || run->differs || earlier_errors > 0 || (run->sink && onnxl_diag_errors(run->sink) > 0);
  return wrong ? EXIT_WRONG_INPUT : EXIT_DONE;
}

static bool
run_tool(OnnxlRun *run, GError **error)
{
  bool ok = run->tool->run(run, error);
  /* A model that is wrong has no output either, and a stale dependency file would be worse than none. */
  if (ok && common.dependencies && !earlier_failure && earlier_errors == 0 && onnxl_diag_errors(run->sink) == 0)
    ok = write_dependencies(run, error);
  return ok;
}

static void
prepare(OnnxlRun *run)
{
  run->common = common;
  run->common.dependency_file = NULL;
  run->common.limits_memory = run->common.limits.max_memory > 0;
  if (!run->common.limits_memory)
    run->common.limits.max_memory = onnxl_limits_memory();
  const char *first = run->operands.count > 0 ? run->operands.items[0] : NULL;
  run->input = first && strcmp(first, "-") != 0 ? first : NULL;
  run->sink = onnxl_diag_sink_new(run->input ? run->input : "<stdin>");
}

static void
finish(OnnxlRun *run)
{
  onnxl_diag_sink_free(run->sink);
  g_free((char *)run->common.dependency_file);
  for (size_t i = 0; i < run->inputs.count; i++)
    g_free((char *)run->inputs.items[i]);
  onnxl_string_list_clear(&run->inputs);
  onnxl_string_list_clear(&run->outputs);
  onnxl_string_list_clear(&run->operands);
  onnxl_string_list_clear(&common.warnings);
  onnxl_string_list_clear(&common.dependency_targets);
}

int
onnxl_main(const OnnxlTool *tool, int argc, char **argv)
{
  OnnxlRun run = { .tool = tool };
  const OnnxlOption *tables[MAX_TABLES];
  GError *error = NULL, *close_error = NULL;
  tool_name = tool->name;
  open_missing_streams();
  setlocale(LC_CTYPE, "");
  install_handlers();
  common = (OnnxlCommonOptions){ .max_errors = 20, .limits = { .max_depth = 200 } };
  size_t n_tables = collect_tables(tool, tables);
  g_autoptr(GPtrArray) given = NULL;
  bool ok = onnxl_options_parse(tables, n_tables, argc, argv, &run.operands, &given, &error);
  /* Who says what the file is called, or what stands in it, wants one. */
  common.dependencies |= common.dependency_file || common.dependency_targets.count > 0;
  if (ok && (help || version || print_options)) {
    ok = print_information(tool, &error);
  } else if (ok) {
    common.json_diagnostics = diagnostics_format == 1;
    prepare(&run);
    ok = onnxl_options_check(tables, n_tables, given, tool->rules, &error) && check_operands(tool, &run, &error) &&
         choose_dependency_file(&run, &error) && configure_sink(run.sink, &error) && run_tool(&run, &error);
  }
  bool found = run.sink && (onnxl_diag_count(run.sink) > 0 || onnxl_diag_errors(run.sink) > 0);
  if (found)
    print_diags(run.sink);
  int status = exit_status(&run, error);
  /* Findings say what is wrong with an input; the error only repeats that there are some. */
  bool said = error && g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_INVALID) &&
              (earlier_errors > 0 || (run.sink && onnxl_diag_errors(run.sink) > 0));
  if (error && !said)
    print_error(error);
  if (!close_standard_output(&close_error)) {
    if (!error)
      print_error(close_error);
    g_clear_error(&close_error);
    status = EXIT_CANNOT;
  }
  g_clear_error(&error);
  finish(&run);
  return status;
}

void
onnxl_run_add_input(OnnxlRun *run, const char *path)
{
  if (path)
    onnxl_string_list_add(&run->inputs, g_strdup(path));
}

static bool
is_among(const char *path, const OnnxlStringList *files)
{
  for (size_t i = 0; i < files->count; i++)
    if (onnxl_path_same_file(path, files->items[i]))
      return true;
  return false;
}

bool
onnxl_run_check_output(const OnnxlRun *run, const char *option, const char *path, GError **error)
{
  struct stat status;
  if (!path || strcmp(path, "-") == 0 || stat(path, &status) < 0 || !S_ISREG(status.st_mode))
    return true;
  return !(is_among(path, &run->operands) || is_among(path, &run->inputs) ||
           onnxl_path_same_file(path, "/dev/stdin")) ||
         onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: the run reads this file", option, path);
}

bool
onnxl_run_claim_output(OnnxlRun *run, const char *option, const char *path, GError **error)
{
  struct stat status;
  if (!path || *path == '\0' || strcmp(path, "-") == 0 || onnxl_output_is_descriptor(path) ||
      (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
    return true;
  for (size_t i = 0; i < run->outputs.count; i++)
    if (onnxl_path_same_entry(path, run->outputs.items[i]))
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "%s %s: another output has this name", option, path);
  onnxl_string_list_add(&run->outputs, path);
  return true;
}

bool
onnxl_run_rereads_stdin(void)
{
  struct stat status;
  return fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode);
}

void
onnxl_run_add_files(OnnxlRun *run, const GPtrArray *files)
{
  for (guint i = 0; files && i < files->len; i++)
    onnxl_run_add_input(run, ((const OnnxlFile *)g_ptr_array_index(files, i))->path);
}

void
onnxl_run_flush_diags(OnnxlRun *run, const char *file)
{
  print_diags(run->sink);
  earlier_errors += onnxl_diag_errors(run->sink);
  onnxl_diag_sink_free(run->sink);
  run->sink = onnxl_diag_sink_new(file);
  /* The options were right the first time. */
  (void)!configure_sink(run->sink, NULL);
}

void
onnxl_run_failed(OnnxlRun *run, GError **error)
{
  print_error(*error);
  if (g_error_matches(*error, ONNXL_ERROR, ONNXL_ERROR_INVALID))
    run->differs = true;
  else
    earlier_failure = true;
  g_clear_error(error);
}

void
onnxl_run_verbose(const OnnxlRun *run, const char *format, ...)
{
  if (!run->common.verbose)
    return;
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  fprintf(stderr, "%s: %s\n", tool_name, text);
  g_free(text);
}
