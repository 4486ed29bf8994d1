#include "cli/table.h"

#include <errno.h>
#include <stdarg.h>

#include "support/escape.h"
#include "support/json.h"
#include "support/number.h"

typedef enum CellKind { CELL_TEXT, CELL_NUMBER, CELL_SPECIAL, CELL_NONE, CELL_REPEAT } CellKind;

typedef struct Cell {
  OnnxlStr text;
  CellKind kind;
  bool plain; /* printable ASCII only, which is nearly all there ever is */
} Cell;

/* Tables are long, so cells take little more than their texts, which lie one behind the other. The titles are the first
 * row. */
struct OnnxlTable {
  const OnnxlColumn *columns;
  size_t n_columns;
  OnnxlOutput text;
  OnnxlOutput heads; /* of each cell: size, kind and plain in one number, 7 bits a byte, the lowest first */
  uint32_t *widths;  /* of each column, on the terminal */
  OnnxlOutput scratch;
  size_t column; /* of the next cell */
  size_t n_rows; /* that are complete */
  size_t begun;  /* offset of the cell that is being written in parts */
  bool repeats;  /* a cell repeats the one above it */
};

/* On the terminal. A model of some thousand symbols has expressions as long, and every row is as wide as the widest. */
static const char cut_mark[] = "...";
enum { MAX_WIDTH = 4000, KEPT_WIDTH = MAX_WIDTH - (sizeof cut_mark - 1) };

/* What stays of a cell that is cut. */
typedef struct Kept {
  size_t size;    /* bytes */
  uint32_t width; /* columns */
} Kept;

/* Returns the width of text without control characters, counted until it is above MAX_WIDTH. */
static uint32_t
measure(OnnxlStr text, Kept *ret_kept)
{
  uint32_t width = 0, c = 0;
  *ret_kept = (Kept){ 0, 0 };
  for (size_t at = 0; at < text.size && width <= MAX_WIDTH;) {
    OnnxlStr rest = onnxl_str_n(text.data + at, text.size - at);
    size_t plain = onnxl_str_plain(onnxl_str_n(rest.data, MIN(rest.size, (size_t)MAX_WIDTH + 1 - width)));
    if (plain > 0) {
      if (width < KEPT_WIDTH)
        plain = MIN(plain, (size_t)(KEPT_WIDTH - width));
      at += plain;
      width += (uint32_t)plain;
    } else {
      at += MAX(onnxl_utf8_next(rest, &c), (size_t)1);
      width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    if (width <= KEPT_WIDTH)
      *ret_kept = (Kept){ at, width };
  }
  return width;
}

/* Makes *text what the terminal shows, itself or in scratch, cut where it is too wide, which *n_cut counts. Returns its
 * width in columns. */
static uint32_t
show_text(OnnxlOutput *scratch, OnnxlStr *text, bool plain, size_t *n_cut)
{
  Kept kept = { KEPT_WIDTH, KEPT_WIDTH };
  if (plain && text->size <= MAX_WIDTH)
    return (uint32_t)text->size;
  scratch->used = 0;
  onnxl_output_escaped(scratch, plain ? onnxl_str_n(text->data, KEPT_WIDTH) : *text);
  *text = onnxl_output_memory(scratch);
  uint32_t width = plain ? MAX_WIDTH + 1 : measure(*text, &kept);
  if (width <= MAX_WIDTH)
    return width;
  (*n_cut)++;
  scratch->used = kept.size;
  onnxl_output_text(scratch, cut_mark);
  *text = onnxl_output_memory(scratch);
  return kept.width + (uint32_t)strlen(cut_mark);
}

static void
put_head(OnnxlTable *table, uint64_t size, CellKind kind, bool plain)
{
  uint64_t head = size << 4 | (uint64_t)plain << 3 | kind;
  for (; head > 127; head >>= 7)
    onnxl_output_char(&table->heads, (char)((head & 127) | 128));
  onnxl_output_char(&table->heads, (char)head);
  if (++table->column == table->n_columns) {
    table->column = 0;
    table->n_rows++;
  }
}

static void
end_cell(OnnxlTable *table, CellKind kind)
{
  if (table->text.saved_errno != 0) /* what was written is gone */
    return;
  OnnxlStr text = onnxl_str_n(table->text.buffer + table->begun, table->text.used - table->begun);
  bool plain = text.size <= UINT32_MAX && (kind != CELL_TEXT || onnxl_str_plain(text) == text.size);
  uint32_t *width = &table->widths[table->column];
  put_head(table, text.size, kind, plain);
  size_t n_cut = 0; /* counted when they are written */
  uint32_t shown = show_text(&table->scratch, &text, plain, &n_cut);
  *width = MAX(*width, shown);
}

OnnxlOutput *
onnxl_table_begin(OnnxlTable *table)
{
  table->begun = table->text.used;
  return &table->text;
}

void
onnxl_table_end(OnnxlTable *table)
{
  end_cell(table, CELL_TEXT);
}

void
onnxl_table_repeat(OnnxlTable *table)
{
  table->repeats = true;
  put_head(table, 0, CELL_REPEAT, true);
}

void
onnxl_table_text(OnnxlTable *table, OnnxlStr text)
{
  onnxl_output_str(onnxl_table_begin(table), text);
  onnxl_table_end(table);
}

void
onnxl_table_printf(OnnxlTable *table, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  char *text = g_strdup_vprintf(format, args);
  va_end(args);
  onnxl_table_text(table, onnxl_str(text));
  g_free(text);
}

void
onnxl_table_int64(OnnxlTable *table, int64_t value)
{
  onnxl_output_int64(onnxl_table_begin(table), value);
  end_cell(table, CELL_NUMBER);
}

void
onnxl_table_double(OnnxlTable *table, double value)
{
  onnxl_output_double(onnxl_table_begin(table), value);
  end_cell(table, value - value == 0 ? CELL_NUMBER : CELL_SPECIAL);
}

void
onnxl_table_bool(OnnxlTable *table, bool value)
{
  onnxl_output_text(onnxl_table_begin(table), value ? "true" : "false");
  end_cell(table, CELL_NUMBER);
}

void
onnxl_table_none(OnnxlTable *table)
{
  onnxl_table_begin(table);
  end_cell(table, CELL_NONE);
}

OnnxlTable *
onnxl_table_new(const OnnxlColumn *columns, size_t n_columns)
{
  OnnxlTable *table = g_new0(OnnxlTable, 1);
  table->columns = columns;
  table->n_columns = n_columns;
  table->widths = g_new0(uint32_t, n_columns);
  onnxl_output_init(&table->text, -1);
  onnxl_output_init(&table->heads, -1);
  onnxl_output_init(&table->scratch, -1);
  for (size_t c = 0; c < n_columns; c++)
    onnxl_table_text(table, onnxl_str(columns[c].title));
  return table;
}

void
onnxl_table_free(OnnxlTable *table)
{
  if (!table)
    return;
  g_free(table->widths);
  onnxl_output_clear(&table->text);
  onnxl_output_clear(&table->heads);
  onnxl_output_clear(&table->scratch);
  g_free(table);
}

/* Goes through the cells in their order. */
typedef struct Reader {
  const OnnxlTable *table;
  const char *head, *text;
  Cell *above; /* of each column, the last cell; NULL when none is repeated */
} Reader;

static void
reader_init(Reader *reader, const OnnxlTable *table)
{
  *reader = (Reader){ table, table->heads.buffer, table->text.buffer, NULL };
  if (table->repeats)
    reader->above = g_new(Cell, table->n_columns);
}

static void
reader_clear(Reader *reader)
{
  g_free(reader->above);
}

static Cell
next_cell(Reader *reader, size_t column)
{
  uint64_t head = 0;
  for (unsigned shift = 0;; shift += 7) {
    uint8_t byte = (uint8_t)*reader->head++;
    head |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      break;
  }
  Cell cell = { { reader->text, head >> 4 }, (CellKind)(head & 7), head >> 3 & 1 };
  if (cell.kind == CELL_REPEAT)
    return reader->above[column];
  reader->text += cell.text.size;
  if (reader->above)
    reader->above[column] = cell;
  return cell;
}

static void
write_aligned(const OnnxlTable *table, OnnxlOutput *out)
{
  OnnxlOutput scratch;
  Reader reader;
  size_t n_cut = 0;
  onnxl_output_init(&scratch, -1);
  reader_init(&reader, table);
  for (size_t row = 0; row < table->n_rows; row++) {
    uint32_t due = 0; /* blanks before the next text, if there is one */
    for (size_t c = 0; c < table->n_columns; c++) {
      Cell cell = next_cell(&reader, c);
      uint32_t width = show_text(&scratch, &cell.text, cell.plain, &n_cut);
      uint32_t fill = table->widths[c] - width, before = table->columns[c].right ? fill : 0;
      if (cell.text.size == 0) {
        due += fill + 2;
        continue;
      }
      onnxl_output_spaces(out, due + before);
      onnxl_output_str(out, cell.text);
      due = fill - before + 2;
    }
    onnxl_output_char(out, '\n');
  }
  if (n_cut > 0)
    onnxl_output_printf(out, "%zu cell%s wider than %d columns, cut where '%s' stands: --format=csv has all\n", n_cut,
                        n_cut == 1 ? " is" : "s are", MAX_WIDTH, cut_mark);
  reader_clear(&reader);
  onnxl_output_clear(&scratch);
}

void
onnxl_csv_field(OnnxlOutput *out, OnnxlStr text)
{
  bool quote = false;
  for (size_t i = 0; i < text.size && !quote; i++)
    quote = strchr(",\"\r\n", text.data[i]) != NULL;
  if (!quote) {
    onnxl_output_str(out, text);
    return;
  }
  onnxl_output_char(out, '"');
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] == '"')
      onnxl_output_char(out, '"');
    onnxl_output_char(out, text.data[i]);
  }
  onnxl_output_char(out, '"');
}

static void
write_csv(const OnnxlTable *table, OnnxlOutput *out)
{
  Reader reader;
  reader_init(&reader, table);
  for (size_t row = 0; row < table->n_rows; row++) {
    for (size_t c = 0; c < table->n_columns; c++) {
      if (c > 0)
        onnxl_output_char(out, ',');
      onnxl_csv_field(out, next_cell(&reader, c).text);
    }
    onnxl_output_char(out, '\n');
  }
  reader_clear(&reader);
}

static void
json_cell(OnnxlJson *json, const Cell *cell)
{
  if (cell->kind == CELL_NONE)
    onnxl_json_null(json);
  else if (cell->kind == CELL_NUMBER)
    onnxl_json_raw(json, cell->text);
  else if (cell->kind == CELL_SPECIAL && cell->text.data[cell->text.size - 1] == 'n')
    onnxl_json_text(json, "nan"); /* JSON reports do not show the sign of a NaN */
  else
    onnxl_json_bytes(json, cell->text);
}

static void
write_json(const OnnxlTable *table, OnnxlOutput *out)
{
  OnnxlJson json;
  Reader reader;
  reader_init(&reader, table);
  onnxl_json_init(&json, out, 1);
  onnxl_json_begin_array(&json);
  for (size_t row = 0; row < table->n_rows; row++) {
    if (row > 0)
      onnxl_json_begin_object(&json);
    for (size_t c = 0; c < table->n_columns; c++) {
      Cell cell = next_cell(&reader, c);
      if (row == 0) /* the titles, which are keys */
        continue;
      onnxl_json_key(&json, table->columns[c].title);
      json_cell(&json, &cell);
    }
    if (row > 0)
      onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_end(&json);
  reader_clear(&reader);
}

void
onnxl_table_write(const OnnxlTable *table, OnnxlReportFormat format, OnnxlOutput *out)
{
  if (table->text.saved_errno != 0 || table->heads.saved_errno != 0) {
    out->saved_errno = ENOMEM;
    return;
  }
  switch (format) {
  case ONNXL_FORMAT_TABLE:
    write_aligned(table, out);
    break;
  case ONNXL_FORMAT_CSV:
    write_csv(table, out);
    break;
  case ONNXL_FORMAT_JSON:
    write_json(table, out);
    break;
  }
}
