/* Reports as an aligned table, CSV or JSON from one description of the columns. */
#ifndef ONNXL_CLI_TABLE_H
#define ONNXL_CLI_TABLE_H

#include "cli/main.h"
#include "support/output.h"

typedef struct OnnxlColumn {
  const char *title; /* heading, and key in JSON */
  bool right;        /* numbers stand to the right */
} OnnxlColumn;

typedef struct OnnxlTable OnnxlTable;

/* columns: borrowed. */
OnnxlTable *onnxl_table_new(const OnnxlColumn *columns, size_t n_columns);
void onnxl_table_free(OnnxlTable *table);

/* Adds the next cell, row by row, column by column; what is given is copied. A number or truth value is one in JSON
 * too. */
void onnxl_table_text(OnnxlTable *table, OnnxlStr text);
void onnxl_table_printf(OnnxlTable *table, const char *format, ...) G_GNUC_PRINTF(2, 3);
void onnxl_table_int64(OnnxlTable *table, int64_t value);
void onnxl_table_double(OnnxlTable *table, double value);
void onnxl_table_bool(OnnxlTable *table, bool value);
void onnxl_table_none(OnnxlTable *table); /* empty, null in JSON */

/* The next cell is as the one above it; there must be one. */
void onnxl_table_repeat(OnnxlTable *table);

/* The next cell in parts: what is written to the output until the other call is its text. */
OnnxlOutput *onnxl_table_begin(OnnxlTable *table);
void onnxl_table_end(OnnxlTable *table);

/* Writes the table. As table: a heading and columns two blanks apart, no trailing blanks; cells of more than 4,000
 * columns are cut, and a line below says how many. As CSV: RFC 4180 with LF. As
 * JSON: an array of objects, one a line. */
void onnxl_table_write(const OnnxlTable *table, OnnxlReportFormat format, OnnxlOutput *out);

/* Writes one field of CSV, in quotes where it needs them. */
void onnxl_csv_field(OnnxlOutput *out, OnnxlStr text);

#endif
