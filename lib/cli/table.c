#include "cli/table.h"

#include <stdarg.h>

#include "support/escape.h"
#include "support/json.h"
#include "support/number.h"

typedef enum CellKind { CELL_TEXT, CELL_NUMBER, CELL_SPECIAL, CELL_NONE } CellKind;

typedef struct Cell {
  size_t offset; /* of the text in OnnxlTable.text */
  size_t size;
  uint32_t width; /* in columns of the terminal, unless it is not plain */
  uint8_t kind;   /* CellKind */
  bool plain;     /* printable ASCII only, which is nearly all there ever is */
} Cell;

struct OnnxlTable {
  const OnnxlColumn *columns;
  size_t n_columns;
  Cell *cells;
  size_t n_cells;
  size_t capacity;
  OnnxlOutput text;
  size_t begun; /* offset of the cell that is being written in parts */
};

OnnxlTable *
onnxl_table_new(const OnnxlColumn *columns, size_t n_columns)
{
  OnnxlTable *table = g_new0(OnnxlTable, 1);
  table->columns = columns;
  table->n_columns = n_columns;
  onnxl_output_init(&table->text, -1);
  return table;
}

void
onnxl_table_free(OnnxlTable *table)
{
  if (!table)
    return;
  g_free(table->cells);
  onnxl_output_clear(&table->text);
  g_free(table);
}

static Cell *
append(OnnxlTable *table)
{
  if (table->n_cells == table->capacity) {
    table->capacity = MAX(2 * table->capacity, (size_t)64);
    table->cells = g_renew(Cell, table->cells, table->capacity);
  }
  return &table->cells[table->n_cells++];
}

static void
end_cell(OnnxlTable *table, size_t offset, CellKind kind)
{
  size_t size = table->text.used - offset;
  bool plain =
    size <= UINT32_MAX && (size == 0 || onnxl_str_plain(onnxl_str_n(table->text.buffer + offset, size)) == size);
  *append(table) = (Cell){ offset, size, plain ? (uint32_t)size : 0, (uint8_t)kind, plain };
}

void
onnxl_table_repeat(OnnxlTable *table)
{
  Cell *cell = append(table);
  *cell = *(cell - table->n_columns);
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
  end_cell(table, table->begun, CELL_TEXT);
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
  size_t offset = table->text.used;
  onnxl_output_int64(&table->text, value);
  end_cell(table, offset, CELL_NUMBER);
}

void
onnxl_table_double(OnnxlTable *table, double value)
{
  size_t offset = table->text.used;
  onnxl_output_double(&table->text, value);
  end_cell(table, offset, value - value == 0 ? CELL_NUMBER : CELL_SPECIAL);
}

void
onnxl_table_bool(OnnxlTable *table, bool value)
{
  size_t offset = table->text.used;
  onnxl_output_text(&table->text, value ? "true" : "false");
  end_cell(table, offset, CELL_NUMBER);
}

void
onnxl_table_none(OnnxlTable *table)
{
  end_cell(table, table->text.used, CELL_NONE);
}

static size_t
n_rows(const OnnxlTable *table)
{
  return table->n_cells / table->n_columns;
}

static const Cell *
cell_at(const OnnxlTable *table, size_t row, size_t column)
{
  return &table->cells[row * table->n_columns + column];
}

static OnnxlStr
cell_text(const OnnxlTable *table, const Cell *cell)
{
  return onnxl_str_n(table->text.buffer ? table->text.buffer + cell->offset : "", cell->size);
}

/* Makes *text what the terminal shows, itself or in scratch. Returns its width in columns. */
static uint32_t
show_text(OnnxlOutput *scratch, OnnxlStr *text)
{
  uint32_t width = 0, c = 0;
  if (text->size <= UINT32_MAX && onnxl_str_plain(*text) == text->size)
    return (uint32_t)text->size;
  scratch->used = 0;
  onnxl_output_escaped(scratch, *text);
  OnnxlStr rest = *text = onnxl_output_memory(scratch);
  while (rest.size > 0) { /* escaped, so none is a control character */
    size_t size = onnxl_str_plain(rest);
    width += (uint32_t)size;
    if (size == 0) {
      size = MAX(onnxl_utf8_next(rest, &c), (size_t)1);
      width += g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
    }
    rest.data += size;
    rest.size -= size;
  }
  return width;
}

/* due: blanks that stand before the text, which are written only when there is one. Returns those before the next. */
static uint32_t
write_aligned_cell(OnnxlOutput *out, uint32_t due, bool right, uint32_t fill, OnnxlStr text)
{
  if (text.size == 0)
    return due + fill + 2;
  onnxl_output_spaces(out, due + (right ? fill : 0));
  onnxl_output_str(out, text);
  return right ? 2 : fill + 2;
}

static void
write_aligned(const OnnxlTable *table, OnnxlOutput *out)
{
  OnnxlOutput scratch;
  size_t rows = n_rows(table);
  g_autofree uint32_t *widths = g_new0(uint32_t, table->n_columns);
  onnxl_output_init(&scratch, -1);
  for (size_t c = 0; c < table->n_columns; c++) {
    OnnxlStr title = onnxl_str(table->columns[c].title);
    widths[c] = show_text(&scratch, &title);
  }
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < table->n_columns; c++) {
      const Cell *cell = cell_at(table, r, c);
      OnnxlStr text = cell_text(table, cell);
      widths[c] = MAX(widths[c], cell->plain ? cell->width : show_text(&scratch, &text));
    }
  for (size_t line = 0; line <= rows; line++) {
    uint32_t due = 0;
    for (size_t c = 0; c < table->n_columns; c++) {
      const Cell *cell = line == 0 ? NULL : cell_at(table, line - 1, c);
      OnnxlStr text = cell ? cell_text(table, cell) : onnxl_str(table->columns[c].title);
      uint32_t width = cell && cell->plain ? cell->width : show_text(&scratch, &text);
      due = write_aligned_cell(out, due, table->columns[c].right, widths[c] - width, text);
    }
    onnxl_output_char(out, '\n');
  }
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
  for (size_t line = 0; line <= n_rows(table); line++) {
    for (size_t c = 0; c < table->n_columns; c++) {
      if (c > 0)
        onnxl_output_char(out, ',');
      onnxl_csv_field(out,
                      line == 0 ? onnxl_str(table->columns[c].title) : cell_text(table, cell_at(table, line - 1, c)));
    }
    onnxl_output_char(out, '\n');
  }
}

static void
write_json(const OnnxlTable *table, OnnxlOutput *out)
{
  OnnxlJson json;
  onnxl_json_init(&json, out, 1);
  onnxl_json_begin_array(&json);
  for (size_t r = 0; r < n_rows(table); r++) {
    onnxl_json_begin_object(&json);
    for (size_t c = 0; c < table->n_columns; c++) {
      const Cell *cell = cell_at(table, r, c);
      onnxl_json_key(&json, table->columns[c].title);
      if (cell->kind == CELL_NONE)
        onnxl_json_null(&json);
      else if (cell->kind == CELL_NUMBER)
        onnxl_json_raw(&json, cell_text(table, cell));
      else if (cell->kind == CELL_SPECIAL && cell_text(table, cell).data[cell->size - 1] == 'n')
        onnxl_json_text(&json, "nan"); /* JSON reports do not show the sign of a NaN */
      else
        onnxl_json_bytes(&json, cell_text(table, cell));
    }
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_end(&json);
}

void
onnxl_table_write(const OnnxlTable *table, OnnxlReportFormat format, OnnxlOutput *out)
{
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
