/* --plot: the time of each node as bars, and below it the bytes that were live, over the nodes of a run. */
#include "cli/svg.h"
#include "exec.h"
#include "node-runs.h"
#include "support/error.h"
#include "support/escape.h"

enum {
  TIME_TOP = 44,
  TIME_HEIGHT = 220,
  MEMORY_TOP = TIME_TOP + TIME_HEIGHT + 76,
  MEMORY_HEIGHT = 150,
  TIME_SHADE = 0,
  MEMORY_SHADE = 1,
  MARK_LINE = 0,
  TEXT_WIDTH = 72,
  TEXT_HEIGHT = 8,
  N_SLOWEST = 5, /* that are named */
};

typedef struct Plot {
  Observer observer;
  OnnxlOutputFile file;
  bool open, svg;
  NodeRuns runs;
  uint32_t n_columns;
  int64_t *times, *bytes; /* by column; several nodes share one where there are too many: their sum, and the most */
  int64_t longest, peak;
  uint32_t peak_node;
  uint32_t slowest[N_SLOWEST], n_slowest;
} Plot;

static bool
plot_event(Observer *observer, const OnnxlEvent *event, GError **error)
{
  (void)error;
  if (event->action == ONNXL_EVENT_RUN_NODE)
    node_runs_add(&((Plot *)observer)->runs, event);
  return true;
}

/* Puts a node into its place among the slowest. */
static void
rank(Plot *plot, uint32_t node)
{
  const NodeRun *nodes = plot->runs.nodes;
  uint32_t at = plot->n_slowest;

  while (at > 0 && nodes[plot->slowest[at - 1]].duration_ns < nodes[node].duration_ns)
    at--;
  if (at == N_SLOWEST)
    return;
  plot->n_slowest = MIN(plot->n_slowest + 1, (uint32_t)N_SLOWEST);
  memmove(&plot->slowest[at + 1], &plot->slowest[at], (plot->n_slowest - 1 - at) * sizeof *plot->slowest);
  plot->slowest[at] = node;
}

static void
fill_columns(Plot *plot)
{
  uint32_t n = plot->runs.n_nodes;

  plot->n_columns =
    MIN(n, (uint32_t)(plot->svg ? ONNXL_SVG_PLOT_WIDTH / 3 : TEXT_WIDTH)); /* bars of less than 3 pixels run together */
  plot->times = g_new0(int64_t, plot->n_columns);
  plot->bytes = g_new0(int64_t, plot->n_columns);
  for (uint32_t i = 0; i < n; i++) {
    const NodeRun *run = &plot->runs.nodes[i];
    uint32_t c = (uint32_t)((uint64_t)i * plot->n_columns / n);
    plot->times[c] += (int64_t)run->duration_ns;
    plot->bytes[c] = MAX(plot->bytes[c], (int64_t)run->live_bytes);
    plot->longest = MAX(plot->longest, plot->times[c]);
    if ((int64_t)run->live_bytes > plot->peak) {
      plot->peak = (int64_t)run->live_bytes;
      plot->peak_node = i;
    }
    rank(plot, i);
  }
}

/* "656 ms in 105 nodes, at most 10.7 MiB live at node 41 (MaxPool)". Returns: owned. */
static char *
summary(const Plot *plot)
{
  char time[ONNXL_SVG_AMOUNT_SIZE], bytes[ONNXL_SVG_AMOUNT_SIZE];
  OnnxlStr op = plot->runs.nodes[plot->peak_node].proto->op_type;

  onnxl_svg_format(time, ONNXL_SVG_NANOSECONDS, (double)node_runs_total(&plot->runs));
  onnxl_svg_format(bytes, ONNXL_SVG_BYTES, (double)plot->peak);
  return g_strdup_printf("%s in %u nodes, at most %s live at node %u (%.*s)", time, plot->runs.n_nodes, bytes,
                         plot->peak_node, ONNXL_ARG(op));
}

/* "node 41 (MaxPool n2): 227 ms, 34.7 %". Returns: owned. */
static char *
describe(const Plot *plot, uint32_t node)
{
  const NodeRun *run = &plot->runs.nodes[node];
  char time[ONNXL_SVG_AMOUNT_SIZE];

  onnxl_svg_format(time, ONNXL_SVG_NANOSECONDS, (double)run->duration_ns);
  return g_strdup_printf("node %u (%.*s%s%.*s): %s, %.1f %%", node, ONNXL_ARG(run->proto->op_type),
                         run->proto->name.size > 0 ? " " : "", ONNXL_ARG(run->proto->name), time,
                         100.0 * (double)run->duration_ns / (double)MAX(node_runs_total(&plot->runs), 1));
}

/* --- SVG --- */

static OnnxlSvgPlot
panel(Plot *plot, double top, double height, int64_t most, OnnxlSvgUnit unit)
{
  return (OnnxlSvgPlot){ .out = &plot->file.out,
                         .left = ONNXL_SVG_PLOT_LEFT,
                         .top = top,
                         .width = ONNXL_SVG_PLOT_WIDTH,
                         .height = height,
                         .n_columns = plot->n_columns,
                         .n_items = plot->runs.n_nodes,
                         .most = most,
                         .unit = unit };
}

static void
draw_times(Plot *plot)
{
  OnnxlSvgPlot p = panel(plot, TIME_TOP, TIME_HEIGHT, plot->longest, ONNXL_SVG_NANOSECONDS);
  OnnxlSvgLabels labels = { .count = 0 };

  onnxl_svg_axes(&p, plot->n_columns < plot->runs.n_nodes ? "time of nodes that stand next to each other"
                                                          : "time of each node");
  for (uint32_t c = 0; c < plot->n_columns; c++) {
    double left = onnxl_svg_x(&p, c), right = onnxl_svg_x(&p, c + 1);
    double top = onnxl_svg_y(&p, (double)plot->times[c]);
    double gap = MIN((right - left) / 5, 4);
    onnxl_svg_rect(p.out, left + gap / 2, top, right - left - gap, TIME_TOP + TIME_HEIGHT - top, TIME_SHADE);
  }
  for (uint32_t i = 0; i < plot->n_slowest; i++) {
    uint32_t column = onnxl_svg_column(&p, plot->slowest[i]);
    g_autofree char *text = g_strdup_printf("%u", i + 1);
    onnxl_svg_mark(&p, column, plot->times[column], MARK_LINE, &labels, onnxl_str(text));
  }
}

static void
draw_memory(const Plot *plot, const OnnxlSvgPlot *p)
{
  OnnxlSvgLabels labels = { .count = 0 };

  onnxl_svg_axes(p, "live bytes after each node");
  onnxl_svg_area(p, plot->bytes, MEMORY_SHADE);
  onnxl_svg_mark(p, onnxl_svg_column(p, plot->peak_node), plot->peak, MARK_LINE, &labels, ONNXL_STR("peak"));
}

/* Below the plots: one of the slowest nodes. Returns: owned. */
static char *
row_text(const Plot *plot, uint32_t i)
{
  g_autofree char *node = describe(plot, plot->slowest[i]);

  return g_strdup_printf("%u: %s", i + 1, node);
}

static double
rows_width(const Plot *plot)
{
  double width = 0;

  for (uint32_t i = 0; i < plot->n_slowest; i++) {
    g_autofree char *text = row_text(plot, i);
    width = MAX(width, onnxl_svg_text_width(onnxl_str(text)));
  }
  return width;
}

static void
write_svg(Plot *plot)
{
  OnnxlOutput *out = &plot->file.out;
  const OnnxlSvgPlot memory = panel(plot, MEMORY_TOP, MEMORY_HEIGHT, plot->peak, ONNXL_SVG_BYTES);
  double y = onnxl_svg_begin_plots(&memory, plot->n_slowest, rows_width(plot));
  g_autofree char *title = summary(plot);

  onnxl_svg_text(out, memory.left, 20, ONNXL_SVG_START, onnxl_str(title));
  draw_times(plot);
  draw_memory(plot, &memory);
  for (uint32_t i = 0; i < plot->n_slowest; i++, y += ONNXL_SVG_ROW) {
    g_autofree char *text = row_text(plot, i);
    onnxl_svg_text(out, memory.left, y, ONNXL_SVG_START, onnxl_str(text));
  }
  onnxl_svg_end(out);
}

/* --- text --- */

static void
write_chart(Plot *plot, const int64_t *amounts, int64_t most, OnnxlSvgUnit unit)
{
  OnnxlOutput *out = &plot->file.out;
  uint32_t width = MIN(TEXT_WIDTH / plot->n_columns, 6); /* of a column, with the gap behind it */

  for (int row = TEXT_HEIGHT; row > 0; row--) {
    double level = (double)most * row / TEXT_HEIGHT, step = (double)MAX(most, 1) / TEXT_HEIGHT;
    char line[TEXT_WIDTH + 1], label[ONNXL_SVG_AMOUNT_SIZE] = "";
    uint32_t end = 0;
    for (uint32_t x = 0; x < plot->n_columns * width; x++) {
      double above = ((double)amounts[x / width] - level) / step;
      bool gap = width > 1 && x % width == width - 1;
      line[x] = gap || above <= -0.5 ? ' ' : above >= 0 ? '#' : '.';
      end = line[x] == ' ' ? end : x + 1;
    }
    line[end] = '\0';
    if (row % 4 == 0)
      onnxl_svg_format(label, unit, level);
    /* By characters: the unit may be "µs". */
    onnxl_output_printf(out, "%*s%s |%s\n", (int)(12 - g_utf8_strlen(label, -1)), "", label, line);
  }
  onnxl_output_printf(out, "%12s +", "0");
  for (uint32_t x = 0; x < plot->n_columns * width; x++)
    onnxl_output_char(out, '-');
  onnxl_output_char(out, '\n');
}

static void
write_text(Plot *plot)
{
  OnnxlOutput *out = &plot->file.out;
  g_autofree char *title = summary(plot);

  onnxl_output_escaped(out, onnxl_str(title));
  onnxl_output_printf(out, "\n\n%14stime\n", "");
  write_chart(plot, plot->times, plot->longest, ONNXL_SVG_NANOSECONDS);
  onnxl_output_printf(out, "\n%14slive bytes\n", "");
  write_chart(plot, plot->bytes, plot->peak, ONNXL_SVG_BYTES);
  onnxl_output_printf(out, "%14snode 0 to %u\n\n", "", plot->runs.n_nodes - 1);
  for (uint32_t i = 0; i < plot->n_slowest; i++) {
    g_autofree char *node = describe(plot, plot->slowest[i]);
    onnxl_output_escaped(out, onnxl_str(node));
    onnxl_output_char(out, '\n');
  }
}

/* --- */

static bool
plot_finish(Observer *observer, bool completed, OnnxlOutput *out, GError **error)
{
  Plot *plot = (Plot *)observer;

  (void)out;
  if (!completed)
    return true;
  node_runs_finish(&plot->runs);
  fill_columns(plot);
  if (plot->svg)
    write_svg(plot);
  else
    write_text(plot);
  plot->open = false;
  return onnxl_output_file_commit(&plot->file, error);
}

static void
plot_free(Observer *observer)
{
  Plot *plot = (Plot *)observer;

  if (plot->open)
    onnxl_output_file_abort(&plot->file);
  node_runs_clear(&plot->runs);
  g_free(plot->times);
  g_free(plot->bytes);
  g_free(plot);
}

bool
plot_new(OnnxlRun *run, const Session *session, Observer **ret_observer, GError **error)
{
  uint32_t n_nodes = session->plan->main->index->graphs[0].n_nodes;

  (void)run;
  if (!exec_options.plot)
    return true;
  if (n_nodes == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plot: the model has no nodes");
  Plot *plot = g_new0(Plot, 1);
  plot->observer = (Observer){ plot_event, plot_finish, plot_free, .every_run = true };
  plot->observer.takes_stdout = strcmp(exec_options.plot, "-") == 0;
  plot->svg = g_str_has_suffix(exec_options.plot, ".svg");
  node_runs_init(&plot->runs, n_nodes);
  *ret_observer = &plot->observer;
  /* Before the run: a file that cannot be written should not cost one. */
  plot->open = onnxl_output_file_open(&plot->file, exec_options.plot, ONNXL_OUTPUT_NO_SYNC, error);
  return plot->open;
}
