#include "cli/depfile.h"

/* Blanks and '#' take a backslash, backslashes before them are doubled, and '$' is doubled. A line break cannot be
 * written at all; make would take the name apart. */
static void
write_name(OnnxlOutput *out, const char *name)
{
  for (const char *p = name; *p; p++) {
    if (*p == ' ' || *p == '\t' || *p == '#') {
      for (const char *before = p; before > name && before[-1] == '\\'; before--)
        onnxl_output_char(out, '\\');
      onnxl_output_char(out, '\\');
    } else if (*p == '$') {
      onnxl_output_char(out, '$');
    }
    onnxl_output_char(out, *p);
  }
}

void
onnxl_depfile_write(OnnxlOutput *out, const OnnxlStringList *targets, const OnnxlStringList *inputs)
{
  GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (size_t i = 0; i < targets->count; i++) {
    if (i > 0)
      onnxl_output_char(out, ' ');
    write_name(out, targets->items[i]);
  }
  onnxl_output_char(out, ':');
  OnnxlStringList unique = { NULL, 0 };
  for (size_t i = 0; i < inputs->count; i++)
    if (g_hash_table_add(seen, (void *)inputs->items[i]))
      onnxl_string_list_add(&unique, inputs->items[i]);
  for (size_t i = 0; i < unique.count; i++) {
    onnxl_output_text(out, i == 0 ? " " : " \\\n ");
    write_name(out, unique.items[i]);
  }
  onnxl_output_char(out, '\n');
  for (size_t i = 0; i < unique.count; i++) {
    onnxl_output_char(out, '\n');
    write_name(out, unique.items[i]);
    onnxl_output_text(out, ":\n");
  }
  onnxl_string_list_clear(&unique);
  g_hash_table_unref(seen);
}

char *
onnxl_depfile_name(const char *output)
{
  const char *slash = strrchr(output, '/');
  const char *base = slash ? slash + 1 : output;
  const char *dot = strrchr(base, '.');
  /* A leading dot is part of the name, not of an extension. */
  int stem = dot && dot > base ? (int)(dot - output) : (int)strlen(output);
  return g_strdup_printf("%.*s.d", stem, output);
}
