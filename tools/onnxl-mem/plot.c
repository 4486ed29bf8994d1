/* --plot: live bytes over the nodes. One assignment is stacked by tag; several are a curve each. */
#include "cli/svg.h"
#include "report.h"
#include "support/error.h"
#include "support/escape.h"

enum {
  PLOT_HEIGHT = 320,
  MAX_COLUMNS = ONNXL_SVG_PLOT_WIDTH, /* more nodes share a column, which shows the largest */
  TEXT_WIDTH = 72,
  TEXT_HEIGHT = 16,
  MAX_NAME = 200,                 /* bytes of a name in the legend */
  MAX_CURVES = ONNXL_SVG_N_LINES, /* that can be told apart */
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
  const OnnxlBucket *const buckets[] = { node->inputs, node->initializers, node->intermediates, node->outputs };

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

static bool
has_tag(const Plot *plot, const Curve *curve, int tag)
{
  for (uint32_t c = 0; c < plot->n_columns; c++)
    if (curve->tags[(gsize)c * ONNXL_N_TAGS + (gsize)tag] > 0)
      return true;
  return false;
}

unsigned
onnxl_mem_shade(OnnxlTag tag)
{
  static const unsigned shades[ONNXL_N_TAGS] = {
    [ONNXL_TAG_NONE] = 6,    [ONNXL_TAG_AMBIGUOUS] = 5, [ONNXL_TAG_AXES] = 4,
    [ONNXL_TAG_SCRATCH] = 3, [ONNXL_TAG_SHAPE] = 1,     [ONNXL_TAG_WEIGHT] = 0,
  };

  return shades[tag];
}

static void
svg_areas(const Plot *plot, const Curve *curve, const OnnxlSvgPlot *svg)
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
    onnxl_svg_area(svg, sums, onnxl_mem_shade((OnnxlTag)tag));
  }
}

/* Returns the base line of the next row of the legend. */
static double
svg_tag_legend(const Plot *plot, const Curve *curve, const OnnxlSvgPlot *svg, double y)
{
  for (int tag = ONNXL_N_TAGS - 1; tag >= 0; tag--) {
    if (!has_tag(plot, curve, tag))
      continue;
    const char *name = tag == ONNXL_TAG_NONE ? "untagged" : onnxl_tag_name((OnnxlTag)tag);
    onnxl_svg_legend_shade(svg->out, svg->left, y, onnxl_mem_shade((OnnxlTag)tag), onnxl_str(name));
    y += ONNXL_SVG_ROW;
  }
  return y;
}

static void
svg_mark(const Plot *plot, unsigned line, const OnnxlSvgPlot *svg, OnnxlSvgLabels *labels)
{
  const Curve *curve = &g_array_index(plot->curves, Curve, line);
  char peak[ONNXL_SVG_AMOUNT_SIZE];

  onnxl_svg_format(peak, ONNXL_SVG_BYTES, (double)curve->peak);
  g_autofree char *full = g_strdup_printf("%s: %s", curve->name, peak), *brief = g_strdup_printf("peak %s", peak);
  bool fits = *curve->name && onnxl_svg_text_width(onnxl_str(full)) <= svg->width / 2;
  onnxl_svg_mark(svg, onnxl_svg_column(svg, curve->peak_node), curve->peak, line, labels,
                 onnxl_str(fits ? full : brief));
}

/* The row of the curve in the legend. Returns: owned. */
static char *
legend_text(const Plot *plot, unsigned line)
{
  const Curve *curve = &g_array_index(plot->curves, Curve, line);
  OnnxlStr op = plot->memory->inference->index->nodes[curve->peak_node].proto->op_type;
  char peak[ONNXL_SVG_AMOUNT_SIZE];

  onnxl_svg_format(peak, ONNXL_SVG_BYTES, (double)curve->peak);
  return g_strdup_printf("%.*s%s%speak %s (%" G_GINT64_FORMAT " bytes) at node %u (%.*s)", MAX_NAME, curve->name,
                         strlen(curve->name) > MAX_NAME ? "…" : "", *curve->name ? ": " : "", peak, curve->peak,
                         curve->peak_node, (int)MIN(op.size, MAX_NAME), op.data);
}

static double
legend_width(const Plot *plot)
{
  double width = 0;

  for (unsigned i = 0; i < plot->curves->len; i++) {
    g_autofree char *text = legend_text(plot, i);
    width = MAX(width, ONNXL_SVG_LEGEND_TEXT + onnxl_svg_text_width(onnxl_str(text)));
  }
  return width;
}

static void
write_svg(const Plot *plot, OnnxlOutput *out)
{
  const OnnxlSvgPlot svg = {
    .out = out,
    .left = ONNXL_SVG_PLOT_LEFT,
    .top = ONNXL_SVG_PLOT_TOP,
    .width = ONNXL_SVG_PLOT_WIDTH,
    .height = PLOT_HEIGHT,
    .n_columns = plot->n_columns,
    .n_items = plot->memory->n_nodes,
    .most = plot->top,
    .unit = ONNXL_SVG_BYTES,
  };
  OnnxlSvgLabels labels = { .count = 0 };
  unsigned rows = plot->curves->len;

  for (int tag = 0; plot->stacked && tag < ONNXL_N_TAGS; tag++)
    rows += has_tag(plot, &g_array_index(plot->curves, Curve, 0), tag);
  double y = onnxl_svg_begin_plots(&svg, rows, legend_width(plot));
  onnxl_svg_axes(&svg, "node");
  for (unsigned i = 0; i < plot->curves->len; i++) {
    const Curve *curve = &g_array_index(plot->curves, Curve, i);
    if (plot->stacked)
      svg_areas(plot, curve, &svg);
    onnxl_svg_curve(&svg, curve->totals, i);
    g_autofree char *text = legend_text(plot, i);
    onnxl_svg_legend_line(out, svg.left, y, i, onnxl_str(text));
    y += ONNXL_SVG_ROW;
    if (plot->stacked)
      y = svg_tag_legend(plot, curve, &svg, y);
  }
  /* The last assignment is mostly the largest, whose label matters most. */
  for (unsigned i = plot->curves->len; i-- > 0;)
    svg_mark(plot, i, &svg, &labels);
  onnxl_svg_end(out);
}

static void
write_text(const Plot *plot, OnnxlOutput *out)
{
  for (guint i = 0; i < plot->curves->len; i++) {
    const Curve *curve = &g_array_index(plot->curves, Curve, i);
    char bytes[ONNXL_SVG_AMOUNT_SIZE], name[ONNXL_SVG_AMOUNT_SIZE];
    onnxl_svg_format(bytes, ONNXL_SVG_BYTES, (double)curve->peak);
    onnxl_output_text(out, i > 0 ? "\n" : "");
    onnxl_output_escaped(out, onnxl_str(curve->name));
    onnxl_output_printf(out, "%speak %s at node %u\n", *curve->name ? ": " : "", bytes, curve->peak_node);
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
      onnxl_svg_format(name, ONNXL_SVG_BYTES, level);
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
  for (size_t i = 0; i < grid->count; i++) {
    assignments *= grid->items[i].n_values;
    if (assignments > MAX_CURVES)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plot: more than %d assignments cannot be told apart", MAX_CURVES);
  }
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
