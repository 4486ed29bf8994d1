/* A progress line on standard error. */
#ifndef ONNXL_CLI_PROGRESS_H
#define ONNXL_CLI_PROGRESS_H

#include "cli/main.h"

typedef struct OnnxlProgress {
  bool enabled;
  bool shown; /* a line stands on the terminal */
  const char *tool;
  const char *what;
  uint64_t total;
  int64_t start; /* monotonic microseconds */
  int64_t last;  /* of the last line */
} OnnxlProgress;

/* what: a word such as "bytes", borrowed; total 0: not known. Shown as --progress says, on a terminal by default. */
void onnxl_progress_init(OnnxlProgress *progress, const OnnxlRun *run, const char *what, uint64_t total);

/* Shows how far the work is, how fast, and the time that is left; call it as often as you like, it prints at most ten
 * times a second. */
void onnxl_progress_update(OnnxlProgress *progress, uint64_t done);

/* Removes the line. */
void onnxl_progress_end(OnnxlProgress *progress);

#endif
