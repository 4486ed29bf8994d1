/* --plot: live bytes over the nodes. One assignment is stacked by tag; several are a curve each. Curves differ in dashes and
 * areas in lightness, so that the picture can be read without colours; every label has a line or row of its own. */
#include "report.h"
#include "support/error.h"

enum {
  LEFT = 90,
  TOP = 20,
  PLOT_WIDTH = 780,
  PLOT_HEIGHT = 320,
  ROW_HEIGHT = 20,
  MAX_COLUMNS = PLOT_WIDTH, /* more nodes share a column, which shows the largest */
  TEXT_WIDTH = 72,
  TEXT_HEIGHT = 16,
};

typedef struct Curve {
  char *name;
  int64_t *totals; /* by column */
  int64_t peak;
  uint32_t peak_node;
  int64_t *tags; /* of a single curve: by column and tag */
} Curve;

typedef struct Plot {
  const OnnxlMemory *memory;
  uint32_t n_columns;
  GArray *curves; /* Curve */
  int64_t top;
  bool stacked;
  GError *failed;
} Plot;

static uint32_t
column_of(const Plot *plot, uint32_t node)
{
  return (uint32_t)((uint64_t)node * plot->n_columns / plot->memory->n_nodes);
}

/* The bytes of one node by tag. */
static bool
evaluate_tags(const OnnxlNodeMemory *node, const OnnxlAssignment *assignment, int64_t *tags, GError **error)
{
  const OnnxlBucket *const buckets[] = { &node->inputs, &node->initializers, &node->intermediates, &node->outputs };

  for (int tag = 0; tag < ONNXL_N_TAGS; tag++) {
    tags[tag] = 0;
    for (size_t b = 0; b < G_N_ELEMENTS(buckets); b++) {
      int64_t bytes;
      if (!onnxl_expr_evaluate(buckets[b]->amounts[tag], onnxl_mem_lookup, (void *)assignment, &bytes, error))
        return false;
      tags[tag] += bytes; /* parts of a total that fits */
    }
  }
  return true;
}

static void
add_curve(void *data, const OnnxlAssignment *assignment, const int64_t *totals, int64_t peak)
{
  Plot *plot = data;
  GString *name = g_string_new(NULL);
  Curve curve = { .totals = g_new0(int64_t, plot->n_columns), .peak = peak };

  for (size_t i = 0; i < assignment->grid->count; i++)
    g_string_append_printf(name, "%s%.*s=%" G_GINT64_FORMAT, i > 0 ? ", " : "",
                           ONNXL_ARG(assignment->grid->items[i].name),
                           assignment->grid->items[i].values[assignment->choice[i]]);
  curve.name = g_string_free(name, FALSE);
  if (plot->stacked)
    curve.tags = g_new0(int64_t, (gsize)plot->n_columns * ONNXL_N_TAGS);
  curve.peak_node = ONNXL_NONE;
  for (uint32_t i = 0; i < plot->memory->n_nodes; i++) {
    uint32_t c = column_of(plot, i);
    if (totals[i] == peak && curve.peak_node == ONNXL_NONE)
      curve.peak_node = i;
    if (totals[i] < curve.totals[c])
      continue;
    curve.totals[c] = totals[i];
    if (plot->stacked && !plot->failed)
      evaluate_tags(&plot->memory->nodes[i], assignment, curve.tags + (gsize)c * ONNXL_N_TAGS, &plot->failed);
  }
  plot->top = MAX(plot->top, peak);
  g_array_append_val(plot->curves, curve);
}

static void
clear_curve(gpointer data)
{
  Curve *curve = data;

  g_free(curve->name);
  g_free(curve->totals);
  g_free(curve->tags);
}

/* "1.5 MiB"; exact below 1024. */
static void
format_bytes(char *text, size_t size, double bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  size_t unit = 0;

  for (; bytes >= 1024 && unit + 1 < G_N_ELEMENTS(units); unit++)
    bytes /= 1024;
  g_snprintf(text, size, "%.4g %s", bytes, units[unit]);
}

/* A power of two that gives at most six lines. */
static double
step_of(int64_t top)
{
  double step = 1;

  while (step * 6 < (double)top)
    step *= 2;
  return step;
}

static double
y_of(const Plot *plot, double bytes)
{
  return TOP + PLOT_HEIGHT - bytes / (double)MAX(plot->top, 1) * PLOT_HEIGHT;
}

static double
x_of(const Plot *plot, double column)
{
  return LEFT + column / plot->n_columns * PLOT_WIDTH;
}

static void
svg_escaped(OnnxlOutput *out, const char *text)
{
  for (; *text; text++)
    switch (*text) {
    case '<':
      onnxl_output_text(out, "&lt;");
      break;
    case '&':
      onnxl_output_text(out, "&amp;");
      break;
    default:
      onnxl_output_char(out, (unsigned char)*text < ' ' ? '?' : *text);
    }
}

static void
svg_axes(const Plot *plot, OnnxlOutput *out)
{
  double step = step_of(plot->top);
  uint32_t n = plot->memory->n_nodes, stride = 1;

  for (double bytes = 0; bytes <= (double)plot->top; bytes += step) {
    char text[32];
    format_bytes(text, sizeof text, bytes);
    onnxl_output_printf(out,
                        "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ccc\"/>\n"
                        "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                        LEFT, y_of(plot, bytes), LEFT + PLOT_WIDTH, y_of(plot, bytes), LEFT - 8, y_of(plot, bytes) + 4,
                        text);
  }
  while (stride * 12u < n)
    stride = stride < UINT32_MAX / 2 ? stride * 2 : UINT32_MAX / 12;
  for (uint32_t i = 0; i < n; i += stride)
    onnxl_output_printf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%u</text>\n",
                        x_of(plot, (i + 0.5) * plot->n_columns / n), TOP + PLOT_HEIGHT + 18, i);
  onnxl_output_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">node</text>\n", LEFT + PLOT_WIDTH / 2,
                      TOP + PLOT_HEIGHT + 36);
}

/* The outline of the sums up to a level, as steps from left to right. */
static void
svg_steps(const Plot *plot, const int64_t *values, size_t stride, OnnxlOutput *out)
{
  for (uint32_t c = 0; c < plot->n_columns; c++)
    onnxl_output_printf(out, "%.1f,%.1f %.1f,%.1f ", x_of(plot, c), y_of(plot, (double)values[c * stride]),
                        x_of(plot, c + 1), y_of(plot, (double)values[c * stride]));
}

static bool
has_tag(const Plot *plot, const Curve *curve, int tag)
{
  for (uint32_t c = 0; c < plot->n_columns; c++)
    if (curve->tags[(gsize)c * ONNXL_N_TAGS + (gsize)tag] > 0)
      return true;
  return false;
}

static const char *const shades[ONNXL_N_TAGS] = { "#f0e442", "#000000", "#cc79a7", "#d55e00", "#009e73", "#8cc8f0" };

static void
svg_areas(const Plot *plot, const Curve *curve, OnnxlOutput *out)
{
  g_autofree int64_t *sums = g_new(int64_t, plot->n_columns);

  /* From the top down, so that each area covers what lies under it. */
  for (int tag = ONNXL_N_TAGS - 1; tag >= 0; tag--) {
    if (!has_tag(plot, curve, tag))
      continue;
    for (uint32_t c = 0; c < plot->n_columns; c++) {
      const int64_t *tags = curve->tags + (gsize)c * ONNXL_N_TAGS;
      sums[c] = 0;
      for (int t = 0; t <= tag; t++)
        sums[c] += tags[t];
    }
    onnxl_output_printf(out, "<polygon fill=\"%s\" stroke=\"#000\" stroke-width=\"0.5\" points=\"%d,%d ", shades[tag],
                        LEFT, TOP + PLOT_HEIGHT);
    svg_steps(plot, sums, 1, out);
    onnxl_output_printf(out, "%d,%d\"/>\n", LEFT + PLOT_WIDTH, TOP + PLOT_HEIGHT);
  }
}

static int
svg_tag_legend(const Plot *plot, const Curve *curve, int y, OnnxlOutput *out)
{
  for (int tag = ONNXL_N_TAGS - 1; tag >= 0; tag--) {
    if (!has_tag(plot, curve, tag))
      continue;
    onnxl_output_printf(out,
                        "<rect x=\"%d\" y=\"%d\" width=\"40\" height=\"12\" fill=\"%s\" stroke=\"#000\" "
                        "stroke-width=\"0.5\"/>\n<text x=\"%d\" y=\"%d\">%s</text>\n",
                        LEFT, y - 10, shades[tag], LEFT + 50, y,
                        tag == ONNXL_TAG_NONE ? "untagged" : onnxl_tag_name((OnnxlTag)tag));
    y += ROW_HEIGHT;
  }
  return y;
}

static void
write_svg(const Plot *plot, OnnxlOutput *out)
{
  static const char *const colors[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00" };
  static const char *const dashes[] = { "none", "8,4", "2,3", "12,3,2,3", "4,2" };
  int y = TOP + PLOT_HEIGHT + 64;
  int rows = (int)plot->curves->len;

  for (int tag = 0; plot->stacked && tag < ONNXL_N_TAGS; tag++)
    rows += has_tag(plot, &g_array_index(plot->curves, Curve, 0), tag);

  onnxl_output_printf(out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                      LEFT + PLOT_WIDTH + 30, y + rows * ROW_HEIGHT);
  svg_axes(plot, out);
  for (guint i = 0; i < plot->curves->len; i++) {
    const Curve *curve = &g_array_index(plot->curves, Curve, i);
    const char *color = plot->stacked ? "#000000" : colors[i % G_N_ELEMENTS(colors)];
    /* Five dashes and six colours come together again after thirty curves only. */
    const char *dash = dashes[i % G_N_ELEMENTS(dashes)];
    char bytes[32];
    if (plot->stacked)
      svg_areas(plot, curve, out);
    onnxl_output_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"",
                        color, dash);
    svg_steps(plot, curve->totals, 1, out);
    format_bytes(bytes, sizeof bytes, (double)curve->peak);
    onnxl_output_printf(out,
                        "\"/>\n<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n"
                        "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\" "
                        "stroke-dasharray=\"%s\"/>\n<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n<text x=\"%d\" "
                        "y=\"%d\">",
                        x_of(plot, column_of(plot, curve->peak_node) + 0.5), y_of(plot, (double)curve->peak), color, LEFT,
                        y - 4, LEFT + 40, y - 4, color, dash, LEFT + 20, y - 4, color, LEFT + 50, y);
    svg_escaped(out, curve->name);
    OnnxlStr op = plot->memory->inference->index->nodes[curve->peak_node].proto->op_type;
    g_autofree char *name = g_strndup(op.data, op.size);
    onnxl_output_printf(out, "%speak %s (%" G_GINT64_FORMAT " bytes) at node %u (", *curve->name ? ": " : "", bytes,
                        curve->peak, curve->peak_node);
    svg_escaped(out, name);
    onnxl_output_text(out, ")</text>\n");
    y += ROW_HEIGHT;
    if (plot->stacked)
      y = svg_tag_legend(plot, curve, y, out);
  }
  onnxl_output_text(out, "</svg>\n");
}

static void
write_text(const Plot *plot, OnnxlOutput *out)
{
  for (guint i = 0; i < plot->curves->len; i++) {
    const Curve *curve = &g_array_index(plot->curves, Curve, i);
    char bytes[32], name[32];
    format_bytes(bytes, sizeof bytes, (double)curve->peak);
    onnxl_output_printf(out, "%s%s%speak %s at node %u\n", i > 0 ? "\n" : "", curve->name, *curve->name ? ": " : "", bytes,
                        curve->peak_node);
    for (int row = TEXT_HEIGHT; row > 0; row--) {
      double level = (double)curve->peak * row / TEXT_HEIGHT;
      char line[TEXT_WIDTH + 1];
      uint32_t n = plot->n_columns, end = 0;
      for (uint32_t c = 0; c < n; c++) {
        double above = ((double)curve->totals[c] - level) / (double)MAX(curve->peak, 1) * TEXT_HEIGHT;
        line[c] = above >= 0 ? '#' : above > -0.5 ? '.' : ' ';
        end = line[c] == ' ' ? end : c + 1;
      }
      line[end] = '\0';
      format_bytes(name, sizeof name, level);
      onnxl_output_printf(out, "%12s |%s\n", row % 4 == 0 ? name : "", line);
    }
    onnxl_output_printf(out, "%12s +", "0 B");
    for (uint32_t c = 0; c < plot->n_columns; c++)
      onnxl_output_char(out, '-');
    onnxl_output_printf(out, "\n%14snode 0 to %u\n", "", plot->memory->n_nodes - 1);
  }
}

bool
onnxl_mem_plot(const OnnxlMemory *memory, const OnnxlBindings *grid, bool svg, OnnxlOutput *out, GError **error)
{
  size_t assignments = 1;

  if (memory->n_nodes == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plot: the model has no nodes");
  for (size_t i = 0; i < grid->count; i++)
    assignments *= grid->items[i].n_values;
  Plot plot = {
    .memory = memory,
    .n_columns = MIN(memory->n_nodes, (uint32_t)(svg ? MAX_COLUMNS : TEXT_WIDTH)),
    .curves = g_array_new(FALSE, FALSE, sizeof(Curve)),
    .stacked = svg && assignments == 1,
  };
  g_array_set_clear_func(plot.curves, clear_curve);
  bool good = onnxl_mem_for_each(memory, grid, add_curve, &plot, error);
  if (good && plot.failed) {
    g_propagate_error(error, plot.failed);
    good = false;
  }
  if (good && svg)
    write_svg(&plot, out);
  else if (good)
    write_text(&plot, out);
  g_array_free(plot.curves, TRUE);
  return good;
}
