#include "cli/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/output-file.h"
#include "support/error.h"
#include "unit.h"

/* A tool that does what its operand says. */
static bool
run_by_operand(OnnxlRun *run, GError **error)
{
  OnnxlOutputFile file;
  const char *what = run->input ? run->input : "nothing";
  if (strcmp(what, "invalid") == 0) {
    onnxl_diag(run->sink, ONNXL_DIAG_NUMBER, NULL, "bad");
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "repeats the finding");
  }
  if (strcmp(what, "invalid-only") == 0)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "alone");
  if (strcmp(what, "findings") == 0) {
    onnxl_diag(run->sink, ONNXL_DIAG_NUMBER, NULL, "first");
    onnxl_run_flush_diags(run, "other");
    onnxl_diag(run->sink, ONNXL_DIAG_ELIDED, NULL, "second");
    return true;
  }
  if (strcmp(what, "warning") == 0)
    onnxl_diag(run->sink, ONNXL_DIAG_ELIDED, NULL, "careful");
  if (strcmp(what, "differs") == 0)
    run->differs = true;
  if (strcmp(what, "limit") == 0)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "too much");
  if (strcmp(what, "truncated") == 0) {
    /* A page beyond the end of its file. */
    int fd = memfd_create("x", 0);
    if (ftruncate(fd, 4096) < 0)
      return false;
    volatile char *data = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0) < 0)
      return false;
    return data[0] == 0;
  }
  onnxl_run_add_input(run, run->input);
  onnxl_run_add_input(run, NULL);
  onnxl_run_verbose(run, "depth %u", run->common.limits.max_depth);
  if (!onnxl_output_file_open(&file, run->common.output, 0, error))
    return false;
  onnxl_output_printf(&file.out, "%s\n", what);
  if (strcmp(what, "terminated") == 0)
    raise(SIGTERM);
  return onnxl_output_file_commit(&file, error);
}

static const OnnxlTool tool = {
  .name = "onnxl-test",
  .usage = "[OPTION]… [WHAT]",
  .summary = "Tests.",
  .examples = "  onnxl-test x\n    Prints x.\n",
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT,
  .max_operands = 1,
  .run = run_by_operand,
};

static char output[65536];

/* Runs the tool in a process of its own. Returns its status, 128 + a signal's number; output is what it printed. */
static int
run_line(const char *line)
{
  char *words = g_strconcat("onnxl-test ", line, NULL);
  g_strstrip(words);
  char **argv = g_strsplit(words, " ", -1);
  int fd = memfd_create("output", 0), status = 0;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
    unsetenv("NO_COLOR");
    _exit(onnxl_main(&tool, (int)g_strv_length(argv), argv));
  }
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    continue;
  ssize_t n = pread(fd, output, sizeof output - 1, 0);
  output[n > 0 ? n : 0] = '\0';
  close(fd);
  g_strfreev(argv);
  g_free(words);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void
expect(const char *line, int status, const char *text)
{
  int got = run_line(line);
  if (got != status || strcmp(output, text) != 0)
    printf("\n  %s: status %d, %s", line, got, output);
  CU_ASSERT_EQUAL(got, status);
  CU_ASSERT_STRING_EQUAL(output, text);
}

static void
test_status(void)
{
  expect("x", 0, "x\n");
  expect("", 0, "nothing\n");
  expect("-", 0, "nothing\n");
  expect("invalid", 1, "onnxl-test: invalid: error: bad [number]\n");
  expect("invalid-only", 1, "onnxl-test: alone\n");
  expect("findings", 1, "onnxl-test: findings: error: first [number]\nonnxl-test: other: warning: second [elided]\n");
  expect("-q findings", 1, "onnxl-test: findings: error: first [number]\n");
  expect("warning", 0, "warning\nonnxl-test: warning: warning: careful [elided]\n");
  expect("-Wno-elided warning", 0, "warning\n");
  expect("-Werror warning", 1, "warning\nonnxl-test: warning: error: careful [elided]\n");
  expect("differs", 1, "differs\n");
  expect("limit", 2, "onnxl-test: too much\n");
  expect("--color=always limit", 2, "\033[1;31monnxl-test: \033[0mtoo much\n");
  expect("-v --max-depth=7 x", 0, "onnxl-test: depth 7\nx\n");
  expect("-o /dev/full x", 2, "onnxl-test: cannot write /dev/full: No space left on device\n");
}

static void
test_usage(void)
{
  expect("--nope", 2, "onnxl-test: unknown option '--nope' (--help lists the options)\n");
  expect("a b", 2, "onnxl-test: unexpected argument 'b': onnxl-test takes at most 1 file\n");
  expect("--format=json x", 2, "onnxl-test: unknown option '--format' (--help lists the options)\n");
  expect("-Wnothing x", 2, "onnxl-test: -Wnothing: there is no such finding\n");
  expect("-MD x", 2, "onnxl-test: -MD needs -MF FILE when the output has no name\n");
  expect("-MD -MF - x", 2, "onnxl-test: -MF needs -MT TARGET when the output has no name\n");
}

static void
test_information(void)
{
  expect("--version", 0, "onnxl-test (onnxl) " ONNXL_VERSION "\n");
  CU_ASSERT_EQUAL(run_line("--help"), 0);
  CU_ASSERT_PTR_NOT_NULL(strstr(output, "Usage: onnxl-test [OPTION]… [WHAT]\n\nTests.\n"));
  CU_ASSERT_PTR_NOT_NULL(strstr(output, "  -o FILE "));
  CU_ASSERT_PTR_NOT_NULL(strstr(output, "Examples:\n  onnxl-test x\n"));
  CU_ASSERT_PTR_NULL(strstr(output, "--format"));
  CU_ASSERT_EQUAL(run_line("--print-options"), 0);
  CU_ASSERT_PTR_NOT_NULL(strstr(output, "\t--max-depth\tcount\tN\t"));
}

static void
test_dependencies(void)
{
  expect("-MD -MF - -MT a.o -MT b.o x", 0, "x\na.o b.o: x\n\nx:\n");
}

static void
test_signals(void)
{
  char folder[] = "/tmp/onnxl-test-XXXXXX";
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  char *line = g_strdup_printf("-o %s/out terminated", folder);
  CU_ASSERT_EQUAL(run_line(line), 128 + SIGTERM);
  CU_ASSERT_EQUAL(rmdir(folder), 0);
  g_free(line);
  expect("truncated", 2, "onnxl-test: a file was cut while it was being read\n");
}

UNIT_MAIN("main",
  { "exit status", test_status },
  { "usage", test_usage },
  { "help and version", test_information },
  { "dependency file", test_dependencies },
  { "signals", test_signals })
