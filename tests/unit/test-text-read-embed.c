#include "unit.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "dump-message.h"
#include "proto/text.h"
#include "support/error.h"

/* A folder with what references name, good and bad. */
static char *folder;

static void
write_file(const char *name, const void *bytes, size_t size)
{
  char *path = g_build_filename(folder, name, NULL);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(path, bytes, (gssize)size, NULL));
  g_free(path);
}

static char *
path_of(const char *name)
{
  return g_build_filename(folder, name, NULL);
}

static void
set_up(void)
{
  static const uint8_t bytes[] = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0xff, 0xfe, 0x7f, 0x80, 9, 8, 7, 6 };
  folder = g_dir_make_tmp("onnxl-embed-XXXXXX", NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
  char *sub = path_of("sub"), *link = path_of("link.bin"), *fifo = path_of("fifo"), *link_sub = path_of("link");
  write_file("w.bin", bytes, sizeof bytes);
  write_file("empty.bin", "", 0);
  g_mkdir(sub, 0700);
  write_file("sub/w.bin", bytes, sizeof bytes);
  CU_ASSERT_EQUAL(symlink("w.bin", link), 0);
  CU_ASSERT_EQUAL(symlink("sub", link_sub), 0);
  CU_ASSERT_EQUAL(mkfifo(fifo, 0600), 0);
  g_free(sub);
  g_free(link);
  g_free(fifo);
  g_free(link_sub);
}

static void
tear_down(void)
{
  static const char *const names[] = { "w.bin", "empty.bin", "link.bin", "fifo", "link", "sub/w.bin", "sub" };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    char *path = path_of(names[i]);
    g_remove(path);
    g_free(path);
  }
  g_rmdir(folder);
  g_free(folder);
}

typedef struct Read {
  char *text;
  OnnxlModel *model;
  OnnxlDiagSink *sink;
  GError *error;
  bool ok;
} Read;

/* Reads a graph with these entries. */
static Read
read_entries(const char *notes, const char *entries)
{
  Read read = { g_strdup_printf("#: %s\ng () => () <%s> { }", notes, entries), onnxl_model_new(1 << 20),
                onnxl_diag_sink_new(NULL), NULL, false };
  g_free(read.model->folder);
  read.model->folder = g_strdup(folder);
  read.ok = onnxl_text_read(onnxl_str(read.text), 200, read.model, read.sink, &read.error);
  return read;
}

static void
read_clear(Read *read)
{
  onnxl_model_free(read->model);
  onnxl_diag_sink_free(read->sink);
  g_clear_error(&read->error);
  g_free(read->text);
}

/* What is stored: the whole tensor but for its name. */
static void
test_values(void)
{
  static const struct {
    const char *notes, *entry, *tensor;
  } rows[] = {
    { "embed raw", "float[2] w = [\"location\": \"w.bin\", \"length\": \"8\"]",
      "{dims:[2] data_type:1 name:'w' raw_data:'\\x00\\x00\\x80?\\x00\\x00\\x00@'}" },
    { "embed", "float[2] w = [\"location\": \"w.bin\", \"length\": \"8\", \"checksum\": \"x\"]",
      "{dims:[2] data_type:1 float_data:[1 2] name:'w'}" },
    { "embed",
      "float[1] w = [\"offset\": \"0\", \"location\": \"./sub/../sub/w.bin\", \"length\": \"4\", "
      "\"offset\": \"4\"]",
      "{dims:[1] data_type:1 float_data:[2] name:'w'}" },
    { "embed", "float[1] w = [\"location\": \"sub//w.bin\", \"length\": \"4\", \"offset\": \"4\"]",
      "{dims:[1] data_type:1 float_data:[2] name:'w'}" },
    { "embed", "int8[2] w = [\"location\": \"w.bin\", \"length\": \"2\", \"offset\": \"8\"]",
      "{dims:[2] data_type:3 int32_data:[-1 -2] name:'w'}" },
    { "embed", "uint8[2] w = [\"location\": \"w.bin\", \"length\": \"2\", \"offset\": \"8\"]",
      "{dims:[2] data_type:2 int32_data:[255 254] name:'w'}" },
    { "embed", "int4[4] w = [\"location\": \"w.bin\", \"length\": \"2\", \"offset\": \"8\"]",
      "{dims:[4] data_type:22 int32_data:[255 254] name:'w'}" },
    { "embed", "float16[1] w = [\"location\": \"w.bin\", \"length\": \"2\", \"offset\": \"8\"]",
      "{dims:[1] data_type:10 int32_data:[65279] name:'w'}" },
    { "embed", "int64[1] w = [\"location\": \"w.bin\", \"offset\": \"8\"]",
      "{dims:[1] data_type:7 int64_data:[434324725968142079] name:'w'}" },
    { "embed", "uint32[1] w = [\"location\": \"w.bin\", \"offset\": \"12\"]",
      "{dims:[1] data_type:12 name:'w' uint64_data:[101124105]}" },
    { "embed raw", "float[0] w = [\"location\": \"empty.bin\"]", "{dims:[0] data_type:1 name:'w' raw_data:''}" },
    { "external", "float[2] w = [\"location\": \"no such file\"]",
      "{dims:[2] data_type:1 name:'w' external_data:[{key:'location' value:'no such file'}] data_location:1}" },
  };

  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    Read read = read_entries(rows[i].notes, rows[i].entry);
    GString *message = g_string_new(NULL);
    CU_ASSERT_TRUE(read.ok);
    CU_ASSERT_EQUAL(onnxl_diag_count(read.sink), 0);
    if (read.ok)
      dump_message(message, &onnxl_tensor_descriptor, &read.model->proto.graph->initializer.items[0]);
    CU_ASSERT_STRING_EQUAL(message->str, rows[i].tensor);
    if (strcmp(message->str, rows[i].tensor) != 0)
      fprintf(stderr, "%s\n  is     %s\n  wanted %s\n", rows[i].entry, message->str, rows[i].tensor);
    g_string_free(message, TRUE);
    read_clear(&read);
  }
}

/* The bytes are those of the mapped file, which is opened once. */
static void
test_slices(void)
{
  Read read = read_entries("embed raw", "float[1] a = [\"location\": \"w.bin\", \"length\": \"4\"], "
                                        "float[1] b = [\"location\": \"w.bin\", \"offset\": \"4\", \"length\": \"4\"]");
  uint64_t offset;

  CU_ASSERT_TRUE_FATAL(read.ok);
  CU_ASSERT_EQUAL_FATAL(read.model->data_files->len, 1);
  const OnnxlFile *file = g_ptr_array_index(read.model->data_files, 0);
  CU_ASSERT_STRING_EQUAL(file->name, "w.bin");
  CU_ASSERT_TRUE(onnxl_file_locate(file, read.model->proto.graph->initializer.items[1].raw_data, &offset));
  CU_ASSERT_EQUAL(offset, 4);
  read_clear(&read);
}

/* What cannot be read fails with an I/O error, after all findings; what is written wrong is only a finding. */
static void
test_refusals(void)
{
  static const struct {
    const char *entry;
    const char *id;
    OnnxlErrorCode code;
  } rows[] = {
    { "float[1] w = [\"location\": \"no such file\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"link.bin\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"link/w.bin\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"fifo\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"sub\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"/etc/passwd\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"sub/../../etc\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": !\"w.bin\\x00\"]", "embed-file", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"w.bin\", \"offset\": \"17\"]", "embed-range", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"w.bin\", \"offset\": \"14\", \"length\": \"4\"]", "embed-range", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"w.bin\", \"offset\": \"9223372036854775807\", \"length\": "
      "\"9223372036854775807\"]",
      "embed-range", ONNXL_ERROR_IO },
    { "float[1] w = [\"location\": \"w.bin\", \"offset\": \"-4\"]", "embed-range", ONNXL_ERROR_INVALID },
    { "float[1] w = [\"location\": \"w.bin\", \"length\": \"4 \"]", "embed-range", ONNXL_ERROR_INVALID },
    { "float[1] w = [\"location\": \"w.bin\", \"length\": \"5\"]", "embed-range", ONNXL_ERROR_INVALID },
    { "float[1] w = [\"location\": \"w.bin\", \"location\": \"sub\"]", "embed-range", ONNXL_ERROR_INVALID },
    { "float[1] w = [\"offset\": \"4\"]", "no-location", ONNXL_ERROR_INVALID },
    { "string[1] w = [\"location\": \"w.bin\"]", "unknown-type", ONNXL_ERROR_INVALID },
  };

  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
    /* A second mistake behind it is reported too. */
    char *entries = g_strconcat(rows[i].entry, ", w = {}", NULL);
    Read read = read_entries("embed", entries);
    bool right = !read.ok && g_error_matches(read.error, ONNXL_ERROR, rows[i].code) &&
                 onnxl_diag_errors(read.sink) == 2 &&
                 strcmp(onnxl_diag_id_text(onnxl_diag_get(read.sink, 0)->id), rows[i].id) == 0 &&
                 onnxl_diag_get(read.sink, 0)->location.line == 2 &&
                 onnxl_diag_get(read.sink, 1)->id == ONNXL_DIAG_INITIALIZER_TYPE;
    CU_ASSERT_TRUE(right);
    if (!right)
      fprintf(stderr, "%s: %s, %u findings, first %s\n", rows[i].entry, read.error ? read.error->message : "read",
              onnxl_diag_errors(read.sink),
              onnxl_diag_count(read.sink) > 0 ? onnxl_diag_get(read.sink, 0)->message : "");
    read_clear(&read);
    g_free(entries);
  }
}

static void
test_count(void)
{
  Read read = read_entries("embed raw", "float[3] w = [\"location\": \"w.bin\", \"length\": \"8\"]");
  CU_ASSERT_TRUE(read.ok);
  CU_ASSERT_EQUAL_FATAL(onnxl_diag_count(read.sink), 1);
  CU_ASSERT_EQUAL(onnxl_diag_get(read.sink, 0)->id, ONNXL_DIAG_TENSOR_COUNT);
  read_clear(&read);
}

UNIT_MAIN("text-read-embed", { "set up", set_up }, { "values", test_values }, { "slices", test_slices },
          { "refusals", test_refusals }, { "count", test_count }, { "tear down", tear_down })
