/* Pictures as SVG: shapes and labels, and a plot with axes to draw areas and curves in. Shades differ in hatching and
 * curves in dashes, not in colour alone, so that a picture can be read in black and white and by people who see few
 * colours. */
#ifndef ONNXL_CLI_SVG_H
#define ONNXL_CLI_SVG_H

#include "support/output.h"

/* Shades and styles of lines are numbered; they come together again after so many. */
#define ONNXL_SVG_N_SHADES 8
#define ONNXL_SVG_N_LINES 30

/* Height of a line of text or row of a legend, in pixels, as all lengths here. */
#define ONNXL_SVG_ROW 20

typedef enum OnnxlSvgAnchor { ONNXL_SVG_START, ONNXL_SVG_MIDDLE, ONNXL_SVG_END } OnnxlSvgAnchor;

/* A picture starts with one and ends with the other. */
void onnxl_svg_begin(OnnxlOutput *out, double width, double height);
void onnxl_svg_end(OnnxlOutput *out);

/* y: of the base line. Any bytes are text: what XML cannot hold is written as '?'. */
void onnxl_svg_text(OnnxlOutput *out, double x, double y, OnnxlSvgAnchor anchor, OnnxlStr text);

/* The same on top of lines and hatching, with white around the letters. */
void onnxl_svg_label(OnnxlOutput *out, double x, double y, OnnxlSvgAnchor anchor, OnnxlStr text);

/* At least what the text takes, whatever font is used for it. */
double onnxl_svg_text_width(OnnxlStr text);

void onnxl_svg_rect(OnnxlOutput *out, double x, double y, double width, double height, unsigned shade);

/* A row of a legend: a sample of a shade or a line, then the text, so far to the right of x. y: of the base line of the
 * text. */
#define ONNXL_SVG_LEGEND_TEXT 50
void onnxl_svg_legend_shade(OnnxlOutput *out, double x, double y, unsigned shade, OnnxlStr text);
void onnxl_svg_legend_line(OnnxlOutput *out, double x, double y, unsigned line, OnnxlStr text);

typedef enum OnnxlSvgUnit {
  ONNXL_SVG_BYTES,
  ONNXL_SVG_NANOSECONDS,
} OnnxlSvgUnit;

/* "1.5 MiB", "20 ms": at most four digits; exact below 1024 bytes. */
#define ONNXL_SVG_AMOUNT_SIZE 32
void onnxl_svg_format(char text[ONNXL_SVG_AMOUNT_SIZE], OnnxlSvgUnit unit, double amount);

/* Columns from left to right, one for each item (node, buffer, …) or for several that stand next to each other; amounts
 * from the bottom up. Around it there must be room for labels: 90 to the left, 20 above and to the right, 40 below. */
typedef struct OnnxlSvgPlot {
  OnnxlOutput *out;
  double left, top, width, height;
  uint32_t n_columns; /* at least 1 */
  uint32_t n_items;   /* at least n_columns; the axis counts them from 0 */
  int64_t most;       /* the largest amount */
  OnnxlSvgUnit unit;
} OnnxlSvgPlot;

/* Where plots stand in a picture of their own: as wide as this, the first at this top. */
#define ONNXL_SVG_PLOT_LEFT 90
#define ONNXL_SVG_PLOT_TOP 20
#define ONNXL_SVG_PLOT_WIDTH 780

/* Begins a picture of plots one above the other, with room for rows of text below the lowest, which take no more than
 * row_width from the left edge of the plot on. Returns: the base line of the first row. */
double onnxl_svg_begin_plots(const OnnxlSvgPlot *lowest, unsigned rows, double row_width);

/* The column that an item falls into, and positions in the picture. column: also fractions of one, and n_columns
 * itself. */
uint32_t onnxl_svg_column(const OnnxlSvgPlot *plot, uint32_t item);
double onnxl_svg_x(const OnnxlSvgPlot *plot, double column);
double onnxl_svg_y(const OnnxlSvgPlot *plot, double amount);

/* Lines and labels of both axes. title: what the items are. To be drawn first. */
void onnxl_svg_axes(const OnnxlSvgPlot *plot, const char *title);

/* Steps at the amounts, n_columns of them: filled down to the ground, or their line alone. */
void onnxl_svg_area(const OnnxlSvgPlot *plot, const int64_t *amounts, unsigned shade);
void onnxl_svg_curve(const OnnxlSvgPlot *plot, const int64_t *amounts, unsigned line);

/* Where points and labels are, so that no label covers another or lies beside the wrong point. Starts zeroed. */
#define ONNXL_SVG_MAX_LABELS 64
typedef struct OnnxlSvgLabels {
  struct OnnxlSvgBox {
    double left, top, right, bottom;
  } taken[ONNXL_SVG_MAX_LABELS];
  unsigned count;
} OnnxlSvgLabels;

/* A point in the middle of a column, in the colour of a line, with a label beside it unless that would cover another or
 * be outside: what it says should be in the legend, too. To be drawn last. */
void onnxl_svg_mark(const OnnxlSvgPlot *plot, uint32_t column, int64_t amount, unsigned line, OnnxlSvgLabels *labels,
                    OnnxlStr text);

#endif
