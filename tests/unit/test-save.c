#include "unit.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <pthread.h>
#include <unistd.h>

#include "proto/save.h"
#include "proto/schema.h"
#include "proto/wire.h"
#include "support/error.h"

enum { PAYLOAD = 300000 };

static char *folder, *source;

/* A model whose only initializer lies in source, behind 1000 other bytes. */
static OnnxlModel *
model_with_payload(void)
{
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);
  model->file = onnxl_file_open(source, 1 << 20, NULL);
  CU_ASSERT_PTR_NOT_NULL_FATAL(model->file);
  model->proto.graph = ONNXL_NEW(model->arena, OnnxlGraph);
  OnnxlTensor *tensor = ONNXL_APPEND(model->arena, &model->proto.graph->initializer);
  tensor->has_data_type = true;
  tensor->data_type = ONNXL_TYPE_UINT8;
  *ONNXL_APPEND(model->arena, &tensor->dims) = PAYLOAD;
  tensor->raw_data = onnxl_str_n(model->file->data + 1000, PAYLOAD);
  return model;
}

static void
set_up(void)
{
  static char bytes[1000 + PAYLOAD];
  folder = g_dir_make_tmp("save-XXXXXX", NULL);
  source = g_build_filename(folder, "source.onnx", NULL);
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (char)(i * 7 + i / 251);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(source, bytes, sizeof bytes, NULL));
}

static void
clean_up(void)
{
  g_unlink(source);
  g_rmdir(folder);
  g_free(source);
  g_free(folder);
}

/* The bytes that go to memory, where no kernel can help. */
static OnnxlStr
expected_bytes(const OnnxlModel *model, OnnxlOutput *out)
{
  onnxl_output_init(out, -1);
  CU_ASSERT_TRUE(onnxl_model_write(model, out, false, NULL));
  return onnxl_output_memory(out);
}

/* A payload goes from file to file, also to one that is opened for appending, which copy_file_range() refuses. */
static void
test_files(void)
{
  static const int flags[] = { O_WRONLY, O_WRONLY | O_APPEND };
  set_up();
  for (size_t i = 0; i < G_N_ELEMENTS(flags); i++) {
    g_autofree char *path = g_build_filename(folder, "target.onnx", NULL);
    g_autofree char *written = NULL;
    gsize size = 0;
    OnnxlModel *model = model_with_payload();
    OnnxlOutput memory, out;
    OnnxlStr expected = expected_bytes(model, &memory);
    int fd = open(path, flags[i] | O_CREAT | O_TRUNC, 0600);

    onnxl_output_init(&out, fd);
    CU_ASSERT_TRUE(onnxl_model_write(model, &out, false, NULL));
    CU_ASSERT_EQUAL(onnxl_output_position(&out), expected.size);
    CU_ASSERT_TRUE(onnxl_output_flush(&out, path, NULL));
    close(fd);
    CU_ASSERT_TRUE(g_file_get_contents(path, &written, &size, NULL));
    CU_ASSERT_TRUE(written && onnxl_str_equal(onnxl_str_n(written, size), expected));
    onnxl_output_clear(&out);
    onnxl_output_clear(&memory);
    onnxl_model_free(model);
    g_unlink(path);
  }
  clean_up();
}

/* A payload with holes of the input: they are holes of a new file too, and zeros where older bytes stand or where the
 * file is opened for appending. */
static void
test_holes(void)
{
  enum { N = 8 << 20, RUN = 1 << 20 };
  static const struct {
    int flags;
    bool sparse;
  } ways[] = { { O_WRONLY | O_TRUNC, true }, { O_WRONLY, false }, { O_WRONLY | O_TRUNC | O_APPEND, false } };
  set_up();
  g_autofree char *path = g_build_filename(folder, "target.onnx", NULL);
  g_autofree char *sparse = g_build_filename(folder, "sparse", NULL);
  g_autofree char *older = g_malloc(N + 100000);
  int fd = open(sparse, O_WRONLY | O_CREAT, 0600);

  /* Bytes in the second and the fifth MiB only. */
  CU_ASSERT_TRUE_FATAL(ftruncate(fd, N) == 0);
  memset(older, 'x', N + 100000);
  CU_ASSERT_TRUE(pwrite(fd, older, RUN, 1 * RUN) == RUN && pwrite(fd, older, RUN, 4 * RUN) == RUN);
  close(fd);
  for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
    g_autofree char *written = NULL;
    gsize size = 0;
    OnnxlOutput memory, out;
    struct stat info;
    OnnxlModel *model = onnxl_model_new(SIZE_MAX);

    model->file = onnxl_file_open(sparse, 1 << 20, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(model->file);
    model->proto.graph = ONNXL_NEW(model->arena, OnnxlGraph);
    ONNXL_APPEND(model->arena, &model->proto.graph->initializer)->raw_data = onnxl_str_n(model->file->data, N);
    OnnxlStr expected = expected_bytes(model, &memory);
    CU_ASSERT_TRUE(g_file_set_contents(path, older, N + 100000, NULL));
    fd = open(path, ways[i].flags);
    onnxl_output_init(&out, fd);
    CU_ASSERT_TRUE(onnxl_model_write(model, &out, false, NULL));
    CU_ASSERT_EQUAL(onnxl_output_position(&out), expected.size);
    CU_ASSERT_TRUE(onnxl_output_flush(&out, path, NULL));
    CU_ASSERT_TRUE(fstat(fd, &info) == 0);
    if (ways[i].sparse) {
      CU_ASSERT_TRUE(model->file->stat.st_blocks >= N / 512 || info.st_blocks < N / 2 / 512);
      CU_ASSERT_EQUAL((size_t)info.st_size, expected.size);
    }
    close(fd);
    CU_ASSERT_TRUE(g_file_get_contents(path, &written, &size, NULL));
    CU_ASSERT_TRUE(size >= expected.size && memcmp(written, expected.data, expected.size) == 0);
    onnxl_output_clear(&out);
    onnxl_output_clear(&memory);
    onnxl_model_free(model);
  }
  g_unlink(sparse);
  g_unlink(path);
  clean_up();
}

typedef struct Drain {
  int fd;
  GString *bytes;
} Drain;

static void *
drain(void *data)
{
  Drain *pipe_end = data;
  char buffer[5000];
  ssize_t n;
  while ((n = read(pipe_end->fd, buffer, sizeof buffer)) > 0)
    g_string_append_len(pipe_end->bytes, buffer, n);
  return NULL;
}

static void
test_pipe(void)
{
  int ends[2];
  pthread_t thread;
  set_up();
  CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
  OnnxlModel *model = model_with_payload();
  OnnxlOutput memory, out;
  OnnxlStr expected = expected_bytes(model, &memory);
  Drain reader = { ends[0], g_string_new(NULL) };
  CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, drain, &reader), 0);

  onnxl_output_init(&out, ends[1]);
  CU_ASSERT_TRUE(onnxl_model_write(model, &out, false, NULL));
  CU_ASSERT_TRUE(onnxl_output_flush(&out, "pipe", NULL));
  close(ends[1]);
  pthread_join(thread, NULL);
  CU_ASSERT_TRUE(onnxl_str_equal(onnxl_str_n(reader.bytes->str, reader.bytes->len), expected));
  close(ends[0]);
  g_string_free(reader.bytes, TRUE);
  onnxl_output_clear(&out);
  onnxl_output_clear(&memory);
  onnxl_model_free(model);
  clean_up();
}

static void
test_full_device(void)
{
  GError *error = NULL;
  OnnxlOutput out;
  set_up();
  OnnxlModel *model = model_with_payload();
  int fd = open("/dev/full", O_WRONLY);

  onnxl_output_init(&out, fd);
  bool ok = onnxl_model_write(model, &out, false, &error) && onnxl_output_flush(&out, "/dev/full", &error);
  CU_ASSERT_FALSE(ok);
  CU_ASSERT_TRUE(error && g_strrstr(error->message, "No space left") != NULL);
  g_clear_error(&error);
  close(fd);
  onnxl_output_clear(&out);
  onnxl_model_free(model);
  clean_up();
}

/* A file that most readers refuse is refused before a byte of it is looked at. */
static void
test_large(void)
{
  GError *error = NULL;
  OnnxlOutput out;
  OnnxlModel *model = onnxl_model_new(SIZE_MAX);

  model->proto.producer_name = onnxl_str_n("", (size_t)INT32_MAX + 1);
  onnxl_output_init(&out, -1);
  CU_ASSERT_FALSE(onnxl_model_write(model, &out, false, &error));
  CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_UNSUPPORTED));
  CU_ASSERT_TRUE(error && strstr(error->message, "--allow-large") && strstr(error->message, "external"));
  CU_ASSERT_EQUAL(onnxl_output_position(&out), 0);
  g_clear_error(&error);
  CU_ASSERT_TRUE(onnxl_model_check_size(model, true, NULL));
  onnxl_output_clear(&out);
  onnxl_model_free(model);
}

/* -S: large payloads stay where they are, unless the text replaces them. */
static void
test_text(void)
{
  set_up();
  g_autofree char *path = g_build_filename(folder, "m.onnxtxt", NULL);
  OnnxlModel *model = model_with_payload();
  OnnxlOutput out;

  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_model_save(model, &out, path, true, false, NULL));
  OnnxlStr text = onnxl_output_memory(&out);
  CU_ASSERT_PTR_NOT_NULL(
    strstr(text.data, "= [\"location\": \"source.onnx\", \"offset\": \"1000\", \"length\": \"300000\"]"));
  onnxl_output_clear(&out);
  onnxl_output_init(&out, -1);
  CU_ASSERT_TRUE(onnxl_model_save(model, &out, source, true, false, NULL));
  text = onnxl_output_memory(&out);
  CU_ASSERT_PTR_NULL(strstr(text.data, "location"));
  CU_ASSERT_TRUE(text.size > PAYLOAD);
  onnxl_output_clear(&out);
  onnxl_model_free(model);
  clean_up();
}

UNIT_MAIN("save", { "from file to file", test_files }, { "holes", test_holes }, { "from file to pipe", test_pipe },
          { "full device", test_full_device }, { "too large a file", test_large }, { "text", test_text })
