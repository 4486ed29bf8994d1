#include "cli/progress.h"

#include <unistd.h>

enum { INTERVAL = 100 * 1000 };

void
onnxl_progress_init(OnnxlProgress *progress, const OnnxlRun *run, const char *what, uint64_t total)
{
  bool enabled = run->common.progress == ONNXL_WHEN_ALWAYS ||
                 (run->common.progress == ONNXL_WHEN_AUTO && !run->common.quiet && isatty(STDERR_FILENO));
  *progress = (OnnxlProgress){ .enabled = enabled, .tool = run->tool->name, .what = what, .total = total };
}

static void
show(const char *text, size_t size)
{
  /* A line that cannot be shown is no reason to stop the work. */
  ssize_t ignored = write(STDERR_FILENO, text, size);
  (void)ignored;
}

void
onnxl_progress_update(OnnxlProgress *progress, uint64_t done)
{
  if (!progress->enabled)
    return;
  int64_t now = g_get_monotonic_time();
  bool complete = progress->total > 0 && done >= progress->total;
  if (progress->shown && now - progress->last < INTERVAL && !complete)
    return;
  char line[256];
  int size;
  if (progress->total > 0)
    size = g_snprintf(line, sizeof line, "\r%s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s (%d %%)\033[K",
                      progress->tool, done, progress->total, progress->what,
                      (int)((double)MIN(done, progress->total) * 100 / (double)progress->total));
  else
    size = g_snprintf(line, sizeof line, "\r%s: %" G_GUINT64_FORMAT " %s\033[K", progress->tool, done, progress->what);
  show(line, MIN((size_t)size, sizeof line - 1));
  progress->shown = true;
  progress->last = now;
}

void
onnxl_progress_end(OnnxlProgress *progress)
{
  if (progress->shown)
    show("\r\033[K", 4);
  progress->shown = false;
}
