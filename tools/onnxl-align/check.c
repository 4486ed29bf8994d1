#include "check.h"

#include <unistd.h>

#include "cli/table.h"
#include "support/error.h"
#include "support/json.h"

static void
put_number(OnnxlJson *json, const char *key, uint64_t value)
{
  onnxl_json_key(json, key);
  onnxl_json_uint64(json, value);
}

static void
write_json(const OnnxlLayout *layout, uint64_t alignment, bool ok, OnnxlOutput *out)
{
  OnnxlJson json;

  onnxl_json_init(&json, out, 2);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "ok");
  onnxl_json_bool(&json, ok);
  put_number(&json, "alignment", alignment);
  onnxl_json_key(&json, "files");
  onnxl_json_begin_array(&json);
  for (size_t i = 0; i < layout->n_files; i++) {
    const OnnxlLayoutFile *file = &layout->files[i];
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "location");
    onnxl_json_text(&json, file->location);
    put_number(&json, "bytes", file->size);
    put_number(&json, "tensors", file->tensors);
    put_number(&json, "used", file->used);
    put_number(&json, "waste", file->size - file->used);
    put_number(&json, "shared", file->shared);
    put_number(&json, "overlaps", file->overlaps);
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_key(&json, "tensors");
  onnxl_json_begin_array(&json);
  for (size_t i = 0; i < layout->n_tensors; i++) {
    const OnnxlLayoutTensor *tensor = &layout->tensors[i];
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "name");
    onnxl_json_string(&json, tensor->name);
    onnxl_json_key(&json, "location");
    onnxl_json_text(&json, layout->files[tensor->file].location);
    put_number(&json, "offset", tensor->offset);
    put_number(&json, "length", tensor->length);
    put_number(&json, "needed", tensor->needed);
    onnxl_json_key(&json, "aligned");
    onnxl_json_bool(&json, tensor->aligned);
    onnxl_json_end_object(&json);
  }
  onnxl_json_end_array(&json);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}

/* A line for each file. */
static void
write_table(const OnnxlLayout *layout, OnnxlReportFormat format, OnnxlOutput *out)
{
  static const OnnxlColumn columns[] = {
    { "location", false }, { "bytes", true },  { "tensors", true },  { "used", true },
    { "waste", true },     { "shared", true }, { "overlaps", true },
  };
  OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns));

  for (size_t i = 0; i < layout->n_files; i++) {
    const OnnxlLayoutFile *file = &layout->files[i];
    onnxl_table_text(table, onnxl_str(file->location));
    onnxl_table_int64(table, (int64_t)file->size);
    onnxl_table_int64(table, file->tensors);
    onnxl_table_int64(table, (int64_t)file->used);
    onnxl_table_int64(table, (int64_t)(file->size - file->used));
    onnxl_table_int64(table, (int64_t)file->shared);
    onnxl_table_int64(table, file->overlaps);
  }
  onnxl_table_write(table, format, out);
  onnxl_table_free(table);
}

bool
onnxl_align_check(OnnxlRun *run, OnnxlModel *model, OnnxlExternalFiles *files, const OnnxlLayoutOptions *options,
                  GError **error)
{
  OnnxlLayout layout;
  OnnxlOutput out;
  GError *local = NULL;
  bool ok = onnxl_layout_check(model, files, options, run->sink, &layout, &local);

  if (!ok && !g_error_matches(local, ONNXL_ERROR, ONNXL_ERROR_INVALID)) {
    g_propagate_error(error, local);
    return false;
  }
  g_clear_error(&local);
  onnxl_output_init(&out, STDOUT_FILENO);
  if (run->common.format == ONNXL_FORMAT_JSON)
    write_json(&layout, options->alignment, ok, &out);
  else if (!run->common.quiet)
    write_table(&layout, run->common.format, &out);
  /* The findings make the exit status. */
  bool written = onnxl_output_flush(&out, "standard output", error);
  onnxl_output_clear(&out);
  return written;
}
