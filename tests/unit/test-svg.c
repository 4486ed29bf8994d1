#include "cli/svg.h"

#include "unit.h"

static bool
writes_text(const char *text, size_t size, const char *expected)
{
  OnnxlOutput out;

  onnxl_output_init(&out, -1);
  onnxl_svg_text(&out, 1, 2.25, ONNXL_SVG_END, onnxl_str_n(text, size));
  bool same = onnxl_str_is(onnxl_output_memory(&out), expected);
  onnxl_output_clear(&out);
  return same;
}

/* Whatever a name holds, the picture is well-formed XML. */
static void
test_text(void)
{
  CU_ASSERT(
    writes_text("a<b>&\"é", 7 + 1, "<text x=\"1.0\" y=\"2.2\" text-anchor=\"end\">a&lt;b&gt;&amp;\"é</text>\n"));
  CU_ASSERT(writes_text("\0\x1f\xff\xef\xbf\xbe\xc3", 7,
                        "<text x=\"1.0\" y=\"2.2\" text-anchor=\"end\">"
                        "???"
                        "?"
                        "?"
                        "</text>\n"));
}

static void
check_format(OnnxlSvgUnit unit, double amount, const char *expected)
{
  char text[ONNXL_SVG_AMOUNT_SIZE];

  onnxl_svg_format(text, unit, amount);
  CU_ASSERT_STRING_EQUAL(text, expected);
}

static void
test_format(void)
{
  check_format(ONNXL_SVG_BYTES, 1023, "1023 B");
  check_format(ONNXL_SVG_BYTES, 1536, "1.5 KiB");
  check_format(ONNXL_SVG_BYTES, 9223372036854775807.0, "8 EiB");
  check_format(ONNXL_SVG_NANOSECONDS, 999, "999 ns");
  check_format(ONNXL_SVG_NANOSECONDS, 2.5e10, "25 s");
}

/* Amounts up to the largest of 64 bits, and many items, stay within the frame. */
static void
test_positions(void)
{
  const OnnxlSvgPlot plot = { NULL, 90, 20, 700, 300, 700, 4000000000, INT64_MAX, ONNXL_SVG_BYTES };

  CU_ASSERT_EQUAL(onnxl_svg_column(&plot, 0), 0);
  CU_ASSERT_EQUAL(onnxl_svg_column(&plot, 3999999999), 699);
  CU_ASSERT_EQUAL(onnxl_svg_x(&plot, 700), 790);
  CU_ASSERT_EQUAL(onnxl_svg_y(&plot, 0), 320);
  CU_ASSERT(onnxl_svg_y(&plot, (double)INT64_MAX) >= 20);
}

static unsigned
count(OnnxlStr text, const char *what)
{
  unsigned n = 0;

  for (const char *at = text.data; (at = strstr(at, what)); at++)
    n++;
  return n;
}

/* Labels that would cover another are left out; points are not. */
static void
test_labels(void)
{
  OnnxlOutput out;
  OnnxlSvgLabels labels = { .count = 0 };

  onnxl_output_init(&out, -1);
  const OnnxlSvgPlot plot = { &out, 90, 20, 700, 300, 10, 10, 1000, ONNXL_SVG_BYTES };
  for (unsigned i = 0; i < 100; i++)
    onnxl_svg_mark(&plot, 5, 500, i, &labels, ONNXL_STR("label"));
  OnnxlStr text = onnxl_output_memory(&out);
  CU_ASSERT_EQUAL(count(text, "<circle"), 100);
  CU_ASSERT(count(text, "<text") >= 1 && count(text, "<text") <= 6);
  for (unsigned i = 0; i < labels.count; i++)
    for (unsigned j = 0; j < i; j++) {
      const struct OnnxlSvgBox *a = &labels.taken[i], *b = &labels.taken[j];
      bool both_points = a->right - a->left == 20 && b->right - b->left == 20;
      CU_ASSERT(both_points || a->right <= b->left || b->right <= a->left || a->bottom <= b->top ||
                b->bottom <= a->top);
    }
  onnxl_output_clear(&out);
}

static void
test_axes(void)
{
  OnnxlOutput out;

  onnxl_output_init(&out, -1);
  onnxl_svg_begin(&out, 900, 400);
  const OnnxlSvgPlot plot = { &out, 90, 20, 700, 300, 700, UINT32_MAX, 7000000, ONNXL_SVG_NANOSECONDS };
  onnxl_svg_axes(&plot, "node");
  onnxl_svg_end(&out);
  OnnxlStr text = onnxl_output_memory(&out);
  CU_ASSERT_EQUAL(count(text, ">0 ns<"), 1);
  CU_ASSERT_EQUAL(count(text, ">2 ms<"), 1);
  CU_ASSERT_EQUAL(count(text, ">8 ms<"), 1);
  CU_ASSERT_EQUAL(count(text, ">4000000000<"), 1);
  CU_ASSERT(count(text, "<text") < 20);
  onnxl_output_clear(&out);
}

static void
test_frame(void)
{
  OnnxlOutput out;

  onnxl_output_init(&out, -1);
  const OnnxlSvgPlot plot = { &out, 90, 20, 780, 300, 1, 1, 1, ONNXL_SVG_BYTES };
  CU_ASSERT_EQUAL(onnxl_svg_begin_plots(&plot, 3, 800), 384);
  onnxl_svg_end(&out);
  CU_ASSERT_EQUAL(count(onnxl_output_memory(&out), "width=\"900\" height=\"444\""), 1);
  onnxl_svg_begin_plots(&plot, 0, 900);
  CU_ASSERT_EQUAL(count(onnxl_output_memory(&out), "width=\"1000\" height=\"384\""), 1);
  onnxl_output_clear(&out);
}

UNIT_MAIN("svg", { "text", test_text }, { "format", test_format }, { "positions", test_positions },
          { "labels", test_labels }, { "axes", test_axes }, { "frame", test_frame })
