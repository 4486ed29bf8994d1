#include "cli/svg.h"

/* After Okabe and Ito, as far as they differ in lightness too. */
static const char *const shade_colors[ONNXL_SVG_N_SHADES] = {
  "#8cc8f0", "#009e73", "#f0e442", "#d55e00", "#e8b4d0", "#ffffff", "#b0b0b0", "#0072b2",
};

/* What lies on the colour, in a square of 8 by 8. */
static const char *const shade_hatches[ONNXL_SVG_N_SHADES] = {
  "",
  "<path d=\"M0,8L8,0\"/>",
  "<path d=\"M2,2h1M6,6h1\" stroke-width=\"1.6\"/>",
  "<path d=\"M0,0L8,8\"/>",
  "<path d=\"M0,4H8\"/>",
  "<path d=\"M0,8L8,0M0,0L8,8\"/>",
  "",
  "<path d=\"M4,0V8\" stroke=\"#fff\"/>",
};

static const char *const line_colors[] = { "#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00" };
static const char *const line_dashes[] = { "none", "8,4", "2,3", "12,3,2,3", "4,2" };

static const char *
line_color(unsigned line)
{
  return line_colors[line % G_N_ELEMENTS(line_colors)];
}

static const char *
line_dash(unsigned line)
{
  return line_dashes[line % G_N_ELEMENTS(line_dashes)];
}

void
onnxl_svg_begin(OnnxlOutput *out, double width, double height)
{
  onnxl_output_printf(out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                      "font-family=\"sans-serif\" font-size=\"12\">\n<defs>\n",
                      width, height);
  for (unsigned i = 0; i < ONNXL_SVG_N_SHADES; i++)
    onnxl_output_printf(out,
                        "<pattern id=\"shade%u\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
                        "stroke=\"#000\" stroke-width=\"0.8\"><rect width=\"8\" height=\"8\" fill=\"%s\" "
                        "stroke=\"none\"/>%s</pattern>\n",
                        i, shade_colors[i], shade_hatches[i]);
  onnxl_output_text(out, "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

double
onnxl_svg_begin_plots(const OnnxlSvgPlot *lowest, unsigned rows, double row_width)
{
  double first_row = lowest->top + lowest->height + 64;

  onnxl_svg_begin(lowest->out, lowest->left + MAX(lowest->width + 30, row_width + 10),
                  first_row + rows * ONNXL_SVG_ROW);
  return first_row;
}

void
onnxl_svg_end(OnnxlOutput *out)
{
  onnxl_output_text(out, "</svg>\n");
}

/* The next character, 0 for what XML does not allow, and how many bytes it takes. */
static gunichar
next_character(OnnxlStr text, size_t at, size_t *ret_size)
{
  gunichar c = g_utf8_get_char_validated(text.data + at, (gssize)(text.size - at));

  *ret_size = 1;
  if (c >= (gunichar)-2)
    return 0;
  *ret_size = (size_t)g_unichar_to_utf8(c, NULL);
  return c < ' ' || c == 0x7f || (c & 0xfffe) == 0xfffe ? 0 : c;
}

/* attributes: more of them, each after a blank. */
static void
write_text(OnnxlOutput *out, double x, double y, OnnxlSvgAnchor anchor, OnnxlStr text, const char *attributes)
{
  static const char *const anchors[] = { "", " text-anchor=\"middle\"", " text-anchor=\"end\"" };
  size_t size;

  onnxl_output_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s%s>", x, y, anchors[anchor], attributes);
  for (size_t i = 0; i < text.size; i += size) {
    gunichar c = next_character(text, i, &size);
    if (c == 0)
      onnxl_output_char(out, '?');
    else if (c == '<')
      onnxl_output_text(out, "&lt;");
    else if (c == '>') /* "]]>" may not stand in a text */
      onnxl_output_text(out, "&gt;");
    else if (c == '&')
      onnxl_output_text(out, "&amp;");
    else
      onnxl_output_write(out, text.data + i, size);
  }
  onnxl_output_text(out, "</text>\n");
}

void
onnxl_svg_text(OnnxlOutput *out, double x, double y, OnnxlSvgAnchor anchor, OnnxlStr text)
{
  write_text(out, x, y, anchor, text, "");
}

void
onnxl_svg_label(OnnxlOutput *out, double x, double y, OnnxlSvgAnchor anchor, OnnxlStr text)
{
  write_text(out, x, y, anchor, text, " stroke=\"#fff\" stroke-width=\"4\" paint-order=\"stroke\"");
}

double
onnxl_svg_text_width(OnnxlStr text)
{
  double width = 0;
  size_t size;

  for (size_t i = 0; i < text.size; i += size) {
    gunichar c = next_character(text, i, &size);
    width += c < 0x80 && !g_ascii_isupper((char)c) && c != 'm' && c != 'w' ? 7.5 : c < 0x80 ? 12 : 13;
  }
  return width;
}

void
onnxl_svg_rect(OnnxlOutput *out, double x, double y, double width, double height, unsigned shade)
{
  onnxl_output_printf(
    out,
    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"url(#shade%u)\" stroke=\"#000\" "
    "stroke-width=\"0.5\"/>\n",
    x, y, width, height, shade % ONNXL_SVG_N_SHADES);
}

void
onnxl_svg_legend_shade(OnnxlOutput *out, double x, double y, unsigned shade, OnnxlStr text)
{
  onnxl_svg_rect(out, x, y - 11, 40, 14, shade);
  onnxl_svg_text(out, x + ONNXL_SVG_LEGEND_TEXT, y, ONNXL_SVG_START, text);
}

static void
dot(OnnxlOutput *out, double x, double y, unsigned line)
{
  onnxl_output_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y, line_color(line));
}

void
onnxl_svg_legend_line(OnnxlOutput *out, double x, double y, unsigned line, OnnxlStr text)
{
  onnxl_output_printf(out, "<path d=\"M%.1f,%.1fh40\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n", x,
                      y - 4, line_color(line), line_dash(line));
  dot(out, x + 20, y - 4, line);
  onnxl_svg_text(out, x + ONNXL_SVG_LEGEND_TEXT, y, ONNXL_SVG_START, text);
}

void
onnxl_svg_format(char text[ONNXL_SVG_AMOUNT_SIZE], OnnxlSvgUnit unit, double amount)
{
  static const char *const bytes[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  static const char *const times[] = { "ns", "µs", "ms", "s" };
  const char *const *names = unit == ONNXL_SVG_BYTES ? bytes : times;
  size_t n = unit == ONNXL_SVG_BYTES ? G_N_ELEMENTS(bytes) : G_N_ELEMENTS(times), i = 0;
  double step = unit == ONNXL_SVG_BYTES ? 1024 : 1000;

  for (; amount >= step && i + 1 < n; i++)
    amount /= step;
  g_snprintf(text, ONNXL_SVG_AMOUNT_SIZE, "%.4g %s", amount, names[i]);
}

/* A round amount that most is at most six times of: a power of two for bytes, else 1, 2 or 5 times a power of ten. */
static double
step_of(const OnnxlSvgPlot *plot)
{
  static const double factors[] = { 2, 2.5, 2 };
  double step = 1;

  for (size_t i = 0; step * 6 < (double)plot->most; i++)
    step *= plot->unit == ONNXL_SVG_BYTES ? 2 : factors[i % G_N_ELEMENTS(factors)];
  return step;
}

/* The amount at the upper edge, which has a line. */
static double
upper_edge(const OnnxlSvgPlot *plot)
{
  double step = step_of(plot);
  int n = (int)((double)plot->most / step);

  return step * (n == 0 || n * step < (double)plot->most ? n + 1 : n);
}

uint32_t
onnxl_svg_column(const OnnxlSvgPlot *plot, uint32_t item)
{
  return (uint32_t)((uint64_t)item * plot->n_columns / plot->n_items);
}

double
onnxl_svg_x(const OnnxlSvgPlot *plot, double column)
{
  return plot->left + column / plot->n_columns * plot->width;
}

double
onnxl_svg_y(const OnnxlSvgPlot *plot, double amount)
{
  return plot->top + plot->height * (1 - amount / upper_edge(plot));
}

void
onnxl_svg_axes(const OnnxlSvgPlot *plot, const char *title)
{
  double step = step_of(plot), bottom = plot->top + plot->height;
  uint64_t stride = 1;
  char text[ONNXL_SVG_AMOUNT_SIZE];

  for (double amount = 0; amount <= upper_edge(plot); amount += step) {
    double y = onnxl_svg_y(plot, amount);
    onnxl_output_printf(plot->out, "<path d=\"M%.1f,%.1fh%.1f\" stroke=\"#ccc\"/>\n", plot->left, y, plot->width);
    onnxl_svg_format(text, plot->unit, amount);
    onnxl_svg_text(plot->out, plot->left - 8, y + 4, ONNXL_SVG_END, onnxl_str(text));
  }
  for (size_t i = 0; stride * 10 < plot->n_items; i++)
    stride = i % 3 == 1 ? stride * 5 / 2 : stride * 2;
  for (uint64_t i = 0; i < plot->n_items; i += stride) {
    g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, i);
    onnxl_svg_text(plot->out, onnxl_svg_x(plot, ((double)i + 0.5) * plot->n_columns / plot->n_items), bottom + 18,
                   ONNXL_SVG_MIDDLE, onnxl_str(text));
  }
  onnxl_svg_text(plot->out, plot->left + plot->width / 2, bottom + 36, ONNXL_SVG_MIDDLE, onnxl_str(title));
}

/* Equal neighbours are one step, which keeps pictures of long graphs small. */
static void
steps(const OnnxlSvgPlot *plot, const int64_t *amounts)
{
  for (uint32_t c = 0, end; c < plot->n_columns; c = end) {
    double y = onnxl_svg_y(plot, (double)amounts[c]);
    for (end = c + 1; end < plot->n_columns && amounts[end] == amounts[c]; end++)
      ;
    onnxl_output_printf(plot->out, "%s%.1f,%.1fH%.1f", c > 0 ? "L" : "", onnxl_svg_x(plot, c), y,
                        onnxl_svg_x(plot, end));
  }
}

void
onnxl_svg_area(const OnnxlSvgPlot *plot, const int64_t *amounts, unsigned shade)
{
  double bottom = plot->top + plot->height;

  onnxl_output_printf(plot->out, "<path fill=\"url(#shade%u)\" stroke=\"#000\" stroke-width=\"0.5\" d=\"M%.1f,%.1fL",
                      shade % ONNXL_SVG_N_SHADES, plot->left, bottom);
  steps(plot, amounts);
  onnxl_output_printf(plot->out, "V%.1fz\"/>\n", bottom);
}

void
onnxl_svg_curve(const OnnxlSvgPlot *plot, const int64_t *amounts, unsigned line)
{
  onnxl_output_printf(plot->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M",
                      line_color(line), line_dash(line));
  steps(plot, amounts);
  onnxl_output_text(plot->out, "\"/>\n");
}

static bool
is_free(const OnnxlSvgPlot *plot, const OnnxlSvgLabels *labels, const struct OnnxlSvgBox *box)
{
  if (box->left < plot->left || box->right > plot->left + plot->width || box->top < plot->top - 20 ||
      box->bottom > plot->top + plot->height)
    return false;
  for (unsigned i = 0; i < labels->count; i++) {
    const struct OnnxlSvgBox *other = &labels->taken[i];
    if (box->left < other->right && other->left < box->right && box->top < other->bottom && other->top < box->bottom)
      return false;
  }
  return true;
}

void
onnxl_svg_mark(const OnnxlSvgPlot *plot, uint32_t column, int64_t amount, unsigned line, OnnxlSvgLabels *labels,
               OnnxlStr text)
{
  /* Above, then beside, then below the point. */
  static const struct {
    OnnxlSvgAnchor anchor;
    double x, y;
  } places[] = { { ONNXL_SVG_MIDDLE, 0, -8 }, { ONNXL_SVG_START, 8, -8 }, { ONNXL_SVG_END, -8, -8 },
                 { ONNXL_SVG_START, 8, 16 },  { ONNXL_SVG_END, -8, 16 },  { ONNXL_SVG_MIDDLE, 0, 18 } };
  double x = onnxl_svg_x(plot, column + 0.5), y = onnxl_svg_y(plot, (double)amount), width = onnxl_svg_text_width(text);

  dot(plot->out, x, y, line);
  for (size_t i = 0; i < G_N_ELEMENTS(places) && labels->count + 2 <= ONNXL_SVG_MAX_LABELS; i++) {
    double at = x + places[i].x, base = y + places[i].y;
    double left = places[i].anchor == ONNXL_SVG_START ? at
                  : places[i].anchor == ONNXL_SVG_END ? at - width
                                                      : at - width / 2;
    const struct OnnxlSvgBox box = { left, base - 12, left + width, base + 4 };
    if (!is_free(plot, labels, &box))
      continue;
    labels->taken[labels->count++] = box;
    onnxl_svg_label(plot->out, at, base, places[i].anchor, text);
    break;
  }
  if (labels->count < ONNXL_SVG_MAX_LABELS)
    labels->taken[labels->count++] = (struct OnnxlSvgBox){ x - 10, y - 4, x + 10, y + 4 };
}
