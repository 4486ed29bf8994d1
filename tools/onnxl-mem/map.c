/* --plan --plot: the arena as a map, buffers over the nodes that they live for and the bytes that they take. */

#include "cli/svg.h"
#include "report.h"
#include "support/error.h"
#include "support/sort.h"

enum {
  MAP_HEIGHT = 480,
  MAX_RECTS = 20000, /* the largest are drawn */
  LEAST_LABEL = 60,  /* pixels that are wide enough for a part of a name */
  MAX_LABEL = 200,   /* bytes of a name, of which no more would fit */
  TEXT_WIDTH = 72,
  TEXT_HEIGHT = 24,
};

typedef struct Rect {
  const OnnxlLayoutBuffer *buffer;
  int64_t offset, size;
} Rect;

typedef struct Map {
  const OnnxlMemory *memory;
  const OnnxlLayout *layout;
  Rect *rects;
  uint32_t n_rects;
  int64_t size, lower_bound;
} Map;

static double
area(const Rect *rect)
{
  return (double)rect->size * (rect->buffer->last - rect->buffer->first + 1);
}

static int
by_area(const void *a, const void *b)
{
  const Rect *x = a, *y = b;

  if (area(x) != area(y))
    return area(x) > area(y) ? -1 : 1;
  return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* False: an offset or a size depends on symbols. */
static bool
measure(Map *map, GError **error)
{
  bool known =
    onnxl_expr_is_int(map->layout->size, &map->size) && onnxl_expr_is_int(map->layout->lower_bound, &map->lower_bound);

  for (uint32_t i = 0; known && i < map->layout->n_buffers; i++) {
    Rect *rect = &map->rects[map->n_rects];
    *rect = (Rect){ .buffer = &map->layout->buffers[i] };
    known =
      onnxl_expr_is_int(rect->buffer->offset, &rect->offset) && onnxl_expr_is_int(rect->buffer->bytes, &rect->size);
    map->n_rects += rect->size > 0;
  }
  return known || onnxl_fail(error, ONNXL_ERROR_USAGE,
                             "--plot: the size of the arena, %s, depends on symbols (give them values: --dim NAME=N)",
                             onnxl_expr_text(map->memory->inference->pool, map->layout->size).data);
}

static OnnxlTag
tag_of(const Map *map, const Rect *rect)
{
  return rect->buffer->value == ONNXL_NONE ? ONNXL_TAG_SCRATCH : map->memory->tags[rect->buffer->value];
}

/* A name as far as there is room for it; its end tells more than its start. */
static char *
fit(OnnxlStr name, double width)
{
  size_t skipped = name.size > MAX_LABEL ? name.size - MAX_LABEL : 0;

  while (skipped < name.size && onnxl_svg_text_width(onnxl_str_n(name.data + skipped, name.size - skipped)) +
                                    (skipped > 0 ? onnxl_svg_text_width(ONNXL_STR("…")) : 0) >
                                  width)
    skipped++;
  while (skipped < name.size && ((unsigned char)name.data[skipped] & 0xc0) == 0x80)
    skipped++;
  return g_strdup_printf("%s%.*s", skipped > 0 ? "…" : "", (int)(name.size - skipped), name.data + skipped);
}

/* With the name inside, so that names never overlap. */
static void
svg_rect(const Map *map, const OnnxlSvgPlot *svg, const Rect *rect)
{
  double left = onnxl_svg_x(svg, rect->buffer->first), right = onnxl_svg_x(svg, (double)rect->buffer->last + 1);
  double top = onnxl_svg_y(svg, (double)(rect->offset + rect->size)), bottom = onnxl_svg_y(svg, (double)rect->offset);
  char room[ONNXL_MEM_NAME_SIZE];
  OnnxlStr name = onnxl_mem_buffer_name(map->memory, rect->buffer, room);

  onnxl_svg_rect(svg->out, left, top, right - left, bottom - top, onnxl_mem_shade(tag_of(map, rect)));
  if (bottom - top < 16 || right - left < MIN(onnxl_svg_text_width(name) + 8, (double)LEAST_LABEL))
    return;
  g_autofree char *label = fit(name, right - left - 8);
  onnxl_svg_label(svg->out, (left + right) / 2, (top + bottom) / 2 + 4, ONNXL_SVG_MIDDLE, onnxl_str(label));
}

static void
write_svg(const Map *map, OnnxlOutput *out)
{
  const OnnxlSvgPlot svg = {
    .out = out,
    .left = ONNXL_SVG_PLOT_LEFT,
    .top = ONNXL_SVG_PLOT_TOP,
    .width = ONNXL_SVG_PLOT_WIDTH,
    .height = MAP_HEIGHT,
    .n_columns = map->memory->n_nodes,
    .n_items = map->memory->n_nodes,
    .most = map->size,
    .unit = ONNXL_SVG_BYTES,
  };
  uint32_t drawn = MIN(map->n_rects, (uint32_t)MAX_RECTS);
  bool tags[ONNXL_N_TAGS] = { false };
  unsigned rows = 1 + (drawn < map->n_rects);
  char size[ONNXL_SVG_AMOUNT_SIZE], bound[ONNXL_SVG_AMOUNT_SIZE];

  onnxl_sort(map->rects, map->n_rects, sizeof *map->rects, by_area);
  for (uint32_t i = 0; i < drawn; i++)
    tags[tag_of(map, &map->rects[i])] = true;
  for (int tag = 0; tag < ONNXL_N_TAGS; tag++)
    rows += tags[tag];
  double y = onnxl_svg_begin_plots(&svg, rows, 0);
  onnxl_svg_axes(&svg, "node");
  for (uint32_t i = 0; i < drawn; i++)
    svg_rect(map, &svg, &map->rects[i]);
  onnxl_svg_format(size, ONNXL_SVG_BYTES, (double)map->size);
  onnxl_svg_format(bound, ONNXL_SVG_BYTES, (double)map->lower_bound);
  g_autofree char *text =
    g_strdup_printf("arena %s (%" G_GINT64_FORMAT " bytes), live at most %s (%" G_GINT64_FORMAT " bytes)", size,
                    map->size, bound, map->lower_bound);
  onnxl_svg_text(out, svg.left, y, ONNXL_SVG_START, onnxl_str(text));
  if (drawn < map->n_rects) {
    g_autofree char *more = g_strdup_printf("the %u largest of %u buffers", drawn, map->n_rects);
    onnxl_svg_text(out, svg.left, y += ONNXL_SVG_ROW, ONNXL_SVG_START, onnxl_str(more));
  }
  for (int tag = ONNXL_N_TAGS - 1; tag >= 0; tag--)
    if (tags[tag])
      onnxl_svg_legend_shade(out, svg.left, y += ONNXL_SVG_ROW, onnxl_mem_shade((OnnxlTag)tag),
                             onnxl_str(tag == ONNXL_TAG_NONE ? "untagged" : onnxl_tag_name((OnnxlTag)tag)));
  onnxl_svg_end(out);
}

/* A letter for each buffer, in the order of the table of --plan and again from a on after Z, where it covers the middle
 * of the character. */
static void
write_text(const Map *map, OnnxlOutput *out)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  uint32_t n = map->memory->n_nodes, width = MIN(n, (uint32_t)TEXT_WIDTH);
  char lines[TEXT_HEIGHT][TEXT_WIDTH], text[ONNXL_SVG_AMOUNT_SIZE];

  memset(lines, '.', sizeof lines);
  for (uint32_t i = 0; i < map->n_rects; i++) {
    const Rect *rect = &map->rects[i];
    char letter = letters[(size_t)(rect->buffer - map->layout->buffers) % (sizeof letters - 1)];
    for (uint32_t row = 0; row < TEXT_HEIGHT; row++) {
      double middle = (double)map->size * (row + 0.5) / TEXT_HEIGHT;
      bool covers = middle >= (double)rect->offset && middle < (double)rect->offset + (double)rect->size;
      for (uint32_t c = 0; covers && c < width; c++) {
        double node = (c + 0.5) * n / width;
        if (node >= rect->buffer->first && node < rect->buffer->last + 1.0)
          lines[row][c] = letter;
      }
    }
  }
  for (uint32_t row = TEXT_HEIGHT; row-- > 0;) {
    onnxl_svg_format(text, ONNXL_SVG_BYTES, (double)map->size * (row + 1) / TEXT_HEIGHT);
    onnxl_output_printf(out, "%12s |%.*s\n", (row + 1) % 4 == 0 ? text : "", (int)width, lines[row]);
  }
  onnxl_output_printf(out, "%12s +", "0 B");
  for (uint32_t c = 0; c < width; c++)
    onnxl_output_char(out, '-');
  onnxl_output_printf(out, "\n%14snode 0 to %u\n", "", n - 1);
}

bool
onnxl_mem_map(const OnnxlMemory *memory, const OnnxlLayout *layout, bool svg, OnnxlOutput *out, GError **error)
{
  Map map = { .memory = memory, .layout = layout };

  if (memory->n_nodes == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--plot: the model has no nodes");
  map.rects = g_new(Rect, (gsize)layout->n_buffers + 1);
  bool good = measure(&map, error);
  if (good && svg)
    write_svg(&map, out);
  else if (good)
    write_text(&map, out);
  g_free(map.rects);
  return good;
}
