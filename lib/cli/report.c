#include "cli/report.h"

#include "support/escape.h"
#include "support/json.h"

/* Columns of a source line that are shown; a longer one is cut around the finding. */
enum { SHOWN = 100, TAB = 8 };

static const char *const severity_names[] = {
  [ONNXL_SEVERITY_NOTE] = "note", [ONNXL_SEVERITY_WARNING] = "warning", [ONNXL_SEVERITY_ERROR] = "error"
};
static const char *const severity_colors[] = {
  [ONNXL_SEVERITY_NOTE] = "\033[1;36m", [ONNXL_SEVERITY_WARNING] = "\033[1;35m", [ONNXL_SEVERITY_ERROR] = "\033[1;31m"
};

static void
color(OnnxlOutput *out, const OnnxlReportStyle *style, const char *sequence)
{
  if (style->color)
    onnxl_output_text(out, sequence);
}

static void
write_where(OnnxlOutput *out, const OnnxlLocation *where)
{
  if (where->file) {
    onnxl_output_escaped(out, onnxl_str(where->file));
    onnxl_output_char(out, ':');
  }
  if (where->line > 0)
    onnxl_output_printf(out, "%u:%u:", where->line, where->column);
  else if (where->path) {
    onnxl_output_escaped(out, onnxl_str(where->path));
    onnxl_output_char(out, ':');
  } else if (where->has_offset)
    onnxl_output_printf(out, "@0x%" G_GINT64_MODIFIER "x:", where->offset);
  if (where->file || where->line > 0 || where->path || where->has_offset)
    onnxl_output_char(out, ' ');
}

/* Columns that a character takes on a terminal: none when it combines with the one before, two when it is wide. */
static uint32_t
char_width(uint32_t c)
{
  return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

/* Writes the characters of a source line, or blanks as wide as they are. Returns the columns written. */
static uint32_t
write_source(OnnxlOutput *out, OnnxlStr text, uint32_t start, const char *mark)
{
  uint32_t at = start;
  while (text.size > 0) {
    uint32_t c = 0;
    size_t size = onnxl_utf8_next(text, &c);
    bool shown = size > 0 && !onnxl_is_unsafe_char(c);
    uint32_t width = c == '\t' ? TAB - at % TAB : shown ? char_width(c) : 1;
    if (mark || c == '\t')
      for (uint32_t i = 0; i < width; i++)
        onnxl_output_text(out, mark ? mark : " ");
    else if (shown)
      onnxl_output_write(out, text.data, size);
    else
      onnxl_output_char(out, '?');
    at += width;
    text.data += size > 0 ? size : 1;
    text.size -= size > 0 ? size : 1;
  }
  return at - start;
}

/* Moves a cut to the start of the character it falls into. */
static size_t
character_start(const char *text, size_t at)
{
  while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
    at--;
  return at;
}

static void
write_excerpt(OnnxlOutput *out, const OnnxlReportStyle *style, const OnnxlDiag *diag)
{
  size_t column = diag->location.column - diag->source_column;
  if (!diag->source || column > diag->source_size)
    return;
  size_t from = 0, to = diag->source_size;
  while (to > 0 && diag->source[to - 1] == '\r')
    to--;
  bool cut = diag->source_column > 1;
  if (column > SHOWN * 3 / 4) {
    from = character_start(diag->source, column - SHOWN / 2);
    cut = true;
  }
  if (to - MIN(from, to) > SHOWN)
    to = character_start(diag->source, from + SHOWN);
  column = MIN(column, to);
  size_t length = MIN((size_t)MAX(diag->location.length, 1u), to - column);
  uint32_t at = 0;
  if (cut)
    onnxl_output_text(out, "...");
  write_source(out, onnxl_str_n(diag->source + from, to - from), cut ? 3 : 0, NULL);
  onnxl_output_char(out, '\n');
  if (cut)
    onnxl_output_spaces(out, at = 3);
  at += write_source(out, onnxl_str_n(diag->source + from, column - from), at, " ");
  color(out, style, "\033[1;32m");
  onnxl_output_char(out, '^');
  if (length > 1) {
    /* The first character has its caret already. */
    uint32_t c;
    size_t first = onnxl_utf8_next(onnxl_str_n(diag->source + column, length), &c);
    first = MAX(first, (size_t)1);
    uint32_t width = first > 1 ? char_width(c) : 1;
    for (uint32_t i = 1; i < width; i++)
      onnxl_output_char(out, '~');
    write_source(out, onnxl_str_n(diag->source + column + first, length - first), at + MAX(width, 1u), "~");
  }
  color(out, style, "\033[0m");
  onnxl_output_char(out, '\n');
}

static void
write_text(OnnxlOutput *out, const OnnxlReportStyle *style, const OnnxlDiag *diag)
{
  color(out, style, "\033[1m");
  onnxl_output_printf(out, "%s: ", style->tool);
  write_where(out, &diag->location);
  color(out, style, severity_colors[diag->severity]);
  onnxl_output_text(out, severity_names[diag->severity]);
  onnxl_output_text(out, ": ");
  color(out, style, "\033[0m");
  onnxl_output_escaped(out, onnxl_str(diag->message));
  onnxl_output_printf(out, " [%s]\n", onnxl_diag_id_text(diag->id));
  write_excerpt(out, style, diag);
}

static void
write_member(OnnxlJson *json, const char *key, const char *text)
{
  onnxl_json_key(json, key);
  onnxl_json_text(json, text);
}

static void
write_json(OnnxlOutput *out, const OnnxlReportStyle *style, const OnnxlDiag *diag)
{
  const OnnxlLocation *where = &diag->location;
  OnnxlJson json;
  onnxl_json_init(&json, out, 0);
  onnxl_json_begin_object(&json);
  write_member(&json, "tool", style->tool);
  write_member(&json, "severity", severity_names[diag->severity]);
  write_member(&json, "id", onnxl_diag_id_text(diag->id));
  write_member(&json, "file", where->file);
  if (where->line > 0) {
    onnxl_json_key(&json, "line");
    onnxl_json_uint64(&json, where->line);
    onnxl_json_key(&json, "column");
    onnxl_json_uint64(&json, where->column);
    onnxl_json_key(&json, "length");
    onnxl_json_uint64(&json, MAX(where->length, 1u));
  }
  if (where->has_offset) {
    onnxl_json_key(&json, "offset");
    onnxl_json_uint64(&json, where->offset);
  }
  if (where->path)
    write_member(&json, "path", where->path);
  write_member(&json, "message", diag->message);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

void
onnxl_report_diags(OnnxlOutput *out, const OnnxlReportStyle *style, const OnnxlDiagSink *sink)
{
  bool hidden = false;
  for (size_t i = 0; i < onnxl_diag_count(sink); i++) {
    const OnnxlDiag *diag = onnxl_diag_get(sink, i);
    if (diag->severity != ONNXL_SEVERITY_NOTE)
      hidden = style->quiet && diag->severity == ONNXL_SEVERITY_WARNING;
    if (hidden)
      continue;
    if (style->json)
      write_json(out, style, diag);
    else
      write_text(out, style, diag);
  }
  uint32_t errors = onnxl_diag_errors(sink);
  if (style->max_errors > 0 && errors > style->max_errors && !style->json)
    onnxl_output_printf(out, "%s: %u more errors (--max-errors=0 shows all)\n", style->tool,
                        errors - style->max_errors);
}

void
onnxl_report_error(OnnxlOutput *out, const OnnxlReportStyle *style, const GError *error)
{
  if (style->json) {
    OnnxlJson json;
    onnxl_json_init(&json, out, 0);
    onnxl_json_begin_object(&json);
    write_member(&json, "tool", style->tool);
    write_member(&json, "severity", "error");
    write_member(&json, "id", NULL);
    write_member(&json, "message", error->message);
    onnxl_json_end_object(&json);
    onnxl_json_end(&json);
    return;
  }
  color(out, style, "\033[1;31m");
  onnxl_output_printf(out, "%s: ", style->tool);
  color(out, style, "\033[0m");
  onnxl_output_escaped(out, onnxl_str(error->message));
  onnxl_output_char(out, '\n');
}
