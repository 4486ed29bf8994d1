#include "cli/progress.h"

#include <unistd.h>

enum { INTERVAL = 100 * 1000 };

void
onnxl_progress_init(OnnxlProgress *progress, const OnnxlRun *run, const char *what, uint64_t total)
{
  bool enabled = run->common.progress == ONNXL_WHEN_ALWAYS ||
                 (run->common.progress == ONNXL_WHEN_AUTO && !run->common.quiet && isatty(STDERR_FILENO));
  *progress = (OnnxlProgress){ .enabled = enabled,
                               .tool = run->tool->name,
                               .what = what,
                               .total = total,
                               .start = enabled ? g_get_monotonic_time() : 0 };
}

static void
show(const char *text, size_t size)
{
  /* A line that cannot be shown is no reason to stop the work. */
  ssize_t ignored = write(STDERR_FILENO, text, size);
  (void)ignored;
}

/* "12 nodes"; bytes in the largest unit that fits: "1.5 GiB". */
static void
print_amount(const OnnxlProgress *progress, double amount, char text[32])
{
  static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
  size_t unit = 0;
  if (strcmp(progress->what, units[0]) != 0) {
    g_snprintf(text, 32, "%.0f %s", amount, progress->what);
    return;
  }
  while (amount >= 1024 && unit + 1 < G_N_ELEMENTS(units)) {
    amount /= 1024;
    unit++;
  }
  g_snprintf(text, 32, unit > 0 ? "%.1f %s" : "%.0f %s", amount, units[unit]);
}

/* ", 1:05 left", with hours where there are some. */
static void
print_time(double seconds, char text[32])
{
  uint64_t left = (uint64_t)MIN(seconds + 1, 1e9);
  if (left >= 3600)
    g_snprintf(text, 32, ", %u:%02u:%02u left", (unsigned)(left / 3600), (unsigned)(left / 60 % 60),
               (unsigned)(left % 60));
  else
    g_snprintf(text, 32, ", %u:%02u left", (unsigned)(left / 60), (unsigned)(left % 60));
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
  char done_text[32], total_text[32], rate_text[32], left_text[32] = "", line[256];
  double elapsed = (double)(now - progress->start) / 1e6;
  double rate = elapsed > 0 ? (double)done / elapsed : 0;
  print_amount(progress, (double)done, done_text);
  print_amount(progress, (double)progress->total, total_text);
  print_amount(progress, rate, rate_text);
  if (progress->total > done && rate > 0)
    print_time((double)(progress->total - done) / rate, left_text);
  int size;
  if (progress->total > 0)
    size = g_snprintf(line, sizeof line, "\r%s: %s of %s (%d %%), %s/s%s\033[K", progress->tool, done_text, total_text,
                      (int)((double)MIN(done, progress->total) * 100 / (double)progress->total), rate_text, left_text);
  else
    size = g_snprintf(line, sizeof line, "\r%s: %s, %s/s\033[K", progress->tool, done_text, rate_text);
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
