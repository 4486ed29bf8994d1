#include "ops/list.h"
#include "support/sort.h"

typedef bool (*HasColumn)(const OnnxlOpSchema *schema);

static bool
has_version(const OnnxlOpSchema *schema)
{
  return true;
}

static bool
has_shape_rule(const OnnxlOpSchema *schema)
{
  return strcmp(schema->shape_rule, "NONE") != 0;
}

static bool
has_inplace(const OnnxlOpSchema *schema)
{
  return schema->inplace != 0;
}

static bool
has_kernel(const OnnxlOpSchema *schema)
{
  return strcmp(schema->kernel, "NONE") != 0;
}

static const struct {
  const char *key;
  HasColumn has;
} columns[] = {
  { "versions", has_version },
  { "shape", has_shape_rule },
  { "inplace", has_inplace },
  { "kernel", has_kernel },
};

/* The versions of one operator stand together in the table. */
typedef struct Operator {
  const OnnxlOpSchema *rows;
  uint32_t n_rows;
} Operator;

static int
compare_operators(const void *a, const void *b)
{
  const OnnxlOpSchema *x = ((const Operator *)a)->rows;
  const OnnxlOpSchema *y = ((const Operator *)b)->rows;
  int order = strcmp(x->domain, y->domain);
  return order ? order : strcmp(x->name, y->name);
}

static uint32_t
collect_operators(Operator *operators)
{
  uint32_t n = 0;
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *row = onnxl_op_schema(op);
    if (n > 0 && strcmp(operators[n - 1].rows->name, row->name) == 0 &&
        strcmp(operators[n - 1].rows->domain, row->domain) == 0)
      operators[n - 1].n_rows++;
    else
      operators[n++] = (Operator){ row, 1 };
  }
  onnxl_sort(operators, n, sizeof *operators, compare_operators);
  return n;
}

static void
write_versions(OnnxlOutput *out, const Operator *operator, HasColumn has, const char *separator)
{
  const char *before = "";
  for (uint32_t i = 0; i < operator->n_rows; i++)
    if (has(&operator->rows[i])) {
      onnxl_output_text(out, before);
      onnxl_output_int64(out, operator->rows[i].since);
      before = separator;
    }
}

static void
write_column(OnnxlOutput *out, const Operator *operator, HasColumn has, const char *separator)
{
  uint32_t count = 0;
  for (uint32_t i = 0; i < operator->n_rows; i++)
    count += has(&operator->rows[i]);
  if (has != has_version && (count == 0 || count == operator->n_rows))
    onnxl_output_text(out, count ? "yes" : "no");
  else
    write_versions(out, operator, has, separator);
}

static const char *
domain_text(const Operator *operator)
{
  return operator->rows->domain[0] ? operator->rows->domain : "ai.onnx";
}

enum { N_CELLS = 2 + G_N_ELEMENTS(columns) };

/* The cells of a table row, or with operator NULL its heading; used with memory outputs, since columns are padded. */
static void
write_cell(OnnxlOutput *out, const Operator *operator, size_t cell)
{
  if (cell == 0)
    onnxl_output_text(out, operator ? domain_text(operator) : "domain");
  else if (cell == 1)
    onnxl_output_text(out, operator ? operator->rows->name : "name");
  else if (operator)
    write_column(out, operator, columns[cell - 2].has, ",");
  else
    onnxl_output_text(out, columns[cell - 2].key);
}

static void
write_table_row(OnnxlOutput *out, const Operator *operator, const size_t *widths)
{
  OnnxlOutput text;
  onnxl_output_init(&text, -1);
  for (size_t i = 0; i < N_CELLS; i++) {
    size_t start = text.used;
    write_cell(&text, operator, i);
    if (i + 1 < N_CELLS)
      onnxl_output_spaces(&text, (uint32_t)(widths[i] + 2 - (text.used - start)));
  }
  onnxl_output_char(&text, '\n');
  onnxl_output_str(out, onnxl_output_memory(&text));
  onnxl_output_clear(&text);
}

static void
write_table(OnnxlOutput *out, const Operator *operators, uint32_t n)
{
  size_t widths[N_CELLS] = { 0 };
  OnnxlOutput text;
  onnxl_output_init(&text, -1);
  for (size_t i = 0; i < N_CELLS; i++)
    for (uint32_t row = 0; row <= n; row++) {
      size_t start = text.used;
      write_cell(&text, row < n ? &operators[row] : NULL, i);
      widths[i] = MAX(widths[i], text.used - start);
    }
  onnxl_output_clear(&text);

  write_table_row(out, NULL, widths);
  for (uint32_t i = 0; i < n; i++)
    write_table_row(out, &operators[i], widths);
}

static void
write_csv_row(OnnxlOutput *out, const Operator *operator)
{
  onnxl_output_printf(out, "%s,%s", domain_text(operator), operator->rows->name);
  for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
    onnxl_output_char(out, ',');
    write_column(out, operator, columns[i].has, " ");
  }
  onnxl_output_char(out, '\n');
}

static void
write_json_row(OnnxlOutput *out, const Operator *operator)
{
  onnxl_output_printf(out, "{\"domain\":\"%s\",\"name\":\"%s\"", domain_text(operator), operator->rows->name);
  for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
    onnxl_output_printf(out, ",\"%s\":[", columns[i].key);
    write_versions(out, operator, columns[i].has, ",");
    onnxl_output_char(out, ']');
  }
  onnxl_output_char(out, '}');
}

void
onnxl_ops_list(OnnxlOutput *out, OnnxlOpsFormat format)
{
  Operator operators[ONNXL_N_OPS];
  uint32_t n = collect_operators(operators);
  switch (format) {
  case ONNXL_OPS_TABLE:
    write_table(out, operators, n);
    break;
  case ONNXL_OPS_CSV:
    onnxl_output_text(out, "domain,name,versions,shape,inplace,kernel\n");
    for (uint32_t i = 0; i < n; i++)
      write_csv_row(out, &operators[i]);
    break;
  case ONNXL_OPS_JSON:
    onnxl_output_text(out, "{\"operators\":[");
    for (uint32_t i = 0; i < n; i++) {
      onnxl_output_text(out, i == 0 ? "\n" : ",\n");
      write_json_row(out, &operators[i]);
    }
    onnxl_output_text(out, "\n]}\n");
    break;
  }
}
