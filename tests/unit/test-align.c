#include "stream/align.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "model-text.h"
#include "stream/layout.h"
#include "support/error.h"

static char folder[] = "/tmp/onnxl-test-XXXXXX";
static char data[1000];

static void
test_set_up(void)
{
  char *name;
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (char)(i % 251);
  memcpy(data + 700, data + 100, 40);
  name = g_build_filename(folder, "w.bin", NULL);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(name, data, sizeof data, NULL));
  g_free(name);
}

/* In model order: 40, 16, 0, 40 and 40 external bytes, three of them equal, two by their place; then inline tensors of
 * 12 bytes each, one of them varints, and strings. */
static const char text[] = "g (float[1] x) => (float[1] y)\n"
                           "<float[10] a = [\"location\": \"w.bin\", \"offset\": \"100\", \"note\": \"kept\"],\n"
                           " float[4] b = [\"offset\": \"501\", \"location\": \"w.bin\", \"length\": \"16\"],\n"
                           " float[0] empty = [\"location\": \"w.bin\", \"offset\": \"3\", \"length\": \"0\"],\n"
                           " float[10] again = [\"location\": \"w.bin\", \"offset\": \"700\", \"length\": \"40\"],\n"
                           " float[10] same = [\"location\": \"w.bin\", \"offset\": \"100\", \"length\": \"40\"],\n"
                           " float[3] f = {1.0, 2.0, 3.0}, int32[3] i = {-1, 300, 0}, string[1] s = {\"text\"}>\n"
                           "{ y = Relu(x) }";

typedef struct Run {
  TextModel text;
  OnnxlExternalFiles *files;
  OnnxlAlignPlan *plan;
} Run;

static const OnnxlAlignOptions plain = {
  .alignment = 64, .threshold = UINT64_MAX, .inline_below = 0, .shard_size = UINT64_MAX
};

static Run
begin(const char *model, const OnnxlAlignOptions *options)
{
  Run run = { .text = text_model(model), .files = onnxl_external_files_new(folder, false) };
  run.plan = onnxl_align_plan_new(run.text.model, run.files, options, run.text.sink, &run.text.error);
  return run;
}

static void
end(Run *run)
{
  onnxl_align_plan_free(run->plan);
  text_model_clear(&run->text);
  onnxl_external_files_free(run->files);
}

static OnnxlTensor *
tensor(const Run *run, const char *name)
{
  OnnxlGraph *graph = run->text.model->proto.graph;
  for (size_t i = 0; i < graph->initializer.count; i++)
    if (onnxl_str_is(graph->initializer.items[i].name, name))
      return &graph->initializer.items[i];
  CU_FAIL_FATAL("no such tensor");
  return NULL;
}

static OnnxlStr
entry(const OnnxlTensor *t, const char *key)
{
  for (size_t i = 0; i < t->external_data.count; i++)
    if (onnxl_str_is(t->external_data.items[i].key, key))
      return t->external_data.items[i].value;
  return (OnnxlStr){ NULL, 0 };
}

static bool
is_at(const Run *run, const char *name, const char *location, const char *offset, const char *length)
{
  const OnnxlTensor *t = tensor(run, name);
  return onnxl_tensor_is_external(t) && onnxl_str_is(entry(t, "location"), location) &&
         onnxl_str_is(entry(t, "offset"), offset) && onnxl_str_is(entry(t, "length"), length);
}

enum { MAX_SHARDS = 8 };

/* Copies the data files and returns the bytes of one. */
static char *
copy(const Run *run, size_t shard, size_t *ret_size)
{
  OnnxlCopyOptions options = { 0 };
  OnnxlCopyStats stats;
  size_t n = onnxl_align_plan_shards(run->plan);
  int fds[MAX_SHARDS];
  const char *names[MAX_SHARDS];
  CU_ASSERT_TRUE_FATAL(n <= MAX_SHARDS);
  for (size_t i = 0; i < n; i++) {
    fds[i] = memfd_create("dst", MFD_CLOEXEC);
    names[i] = "dst";
  }
  CU_ASSERT_TRUE_FATAL(onnxl_align_copy(run->plan, fds, names, &options, &stats, NULL));
  *ret_size = (size_t)lseek(fds[shard], 0, SEEK_END);
  char *bytes = g_malloc(*ret_size);
  CU_ASSERT_EQUAL(pread(fds[shard], bytes, *ret_size, 0), (ssize_t)*ret_size);
  for (size_t i = 0; i < n; i++)
    close(fds[i]);
  return bytes;
}

static void
test_align(void)
{
  Run run = begin(text, &plain);
  size_t size;

  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL(onnxl_align_plan_shards(run.plan), 1);
  OnnxlAlignSummary summary = onnxl_align_plan_summary(run.plan);
  CU_ASSERT(summary.n_external == 5 && summary.n_moved_out == 0 && summary.n_moved_in == 0 && summary.n_shared == 0);
  CU_ASSERT(summary.bytes == 136 && summary.padding == 24 + 48 + 24);
  char *bytes = copy(&run, 0, &size);
  CU_ASSERT_EQUAL(size, 192 + 40);
  CU_ASSERT_EQUAL(memcmp(bytes, data + 100, 40), 0);
  CU_ASSERT_EQUAL(memcmp(bytes + 64, data + 501, 16), 0);
  CU_ASSERT_EQUAL(memcmp(bytes + 128, data + 700, 40), 0);
  for (size_t i = 40; i < 64; i++)
    CU_ASSERT_EQUAL(bytes[i], 0);
  g_free(bytes);
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst" }, NULL));
  CU_ASSERT_TRUE(is_at(&run, "a", "dst", "0", "40"));
  CU_ASSERT_TRUE(is_at(&run, "b", "dst", "64", "16"));
  CU_ASSERT_TRUE(is_at(&run, "empty", "dst", "0", "0"));
  CU_ASSERT_TRUE(is_at(&run, "again", "dst", "128", "40"));
  CU_ASSERT_TRUE(is_at(&run, "same", "dst", "192", "40"));
  /* Order and unknown keys stay, what was missing comes last. */
  const OnnxlTensor *a = tensor(&run, "a"), *b = tensor(&run, "b");
  CU_ASSERT_EQUAL_FATAL(a->external_data.count, 4);
  CU_ASSERT_TRUE(onnxl_str_is(a->external_data.items[2].key, "note") &&
                 onnxl_str_is(a->external_data.items[3].key, "length"));
  CU_ASSERT_TRUE(onnxl_str_is(b->external_data.items[0].key, "offset"));
  CU_ASSERT_FALSE(onnxl_tensor_is_external(tensor(&run, "f")));
  /* Another location, nothing else. */
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "other" }, NULL));
  CU_ASSERT_TRUE(is_at(&run, "same", "other", "192", "40"));
  CU_ASSERT_EQUAL(a->external_data.count, 4);
  end(&run);
}

static void
test_dedup(void)
{
  OnnxlAlignOptions options = plain;
  options.dedup = true;
  Run run = begin(text, &options);

  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).n_shared, 2);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).bytes, 56);
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst" }, NULL));
  CU_ASSERT_TRUE(is_at(&run, "a", "dst", "0", "40") && is_at(&run, "again", "dst", "0", "40") &&
                 is_at(&run, "same", "dst", "0", "40") && is_at(&run, "b", "dst", "64", "16"));
  end(&run);
}

static void
test_order_and_shards(void)
{
  OnnxlAlignOptions options = plain;
  size_t size;
  options.by_size = true;
  options.shard_size = 110; /* two tensors of 40 bytes fit */
  Run run = begin(text, &options);

  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL_FATAL(onnxl_align_plan_shards(run.plan), 2);
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst", "dst.1" }, NULL));
  CU_ASSERT_TRUE(is_at(&run, "a", "dst", "0", "40") && is_at(&run, "again", "dst", "64", "40") &&
                 is_at(&run, "same", "dst.1", "0", "40") && is_at(&run, "b", "dst.1", "64", "16"));
  char *bytes = copy(&run, 1, &size);
  CU_ASSERT_EQUAL(size, 80);
  CU_ASSERT_EQUAL(memcmp(bytes + 64, data + 501, 16), 0);
  g_free(bytes);
  end(&run);
  /* A tensor above the limit gets a file of its own. */
  options.shard_size = 10;
  run = begin(text, &options);
  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL(onnxl_align_plan_shards(run.plan), 4);
  end(&run);
}

static void
test_moves_out(void)
{
  OnnxlAlignOptions options = plain;
  size_t size;
  options.threshold = 12;
  Run run = begin(text, &options);

  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).n_moved_out, 2);
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst" }, NULL));
  CU_ASSERT_TRUE(is_at(&run, "f", "dst", "256", "12") && is_at(&run, "i", "dst", "320", "12"));
  CU_ASSERT_EQUAL(tensor(&run, "f")->float_data.bytes.size, 0);
  CU_ASSERT_EQUAL(tensor(&run, "i")->int32_data.bytes.size, 0);
  CU_ASSERT_EQUAL(tensor(&run, "s")->string_data.count, 1);
  char *bytes = copy(&run, 0, &size);
  CU_ASSERT_EQUAL_FATAL(size, 332);
  CU_ASSERT_EQUAL(memcmp(bytes + 256, (float[]){ 1, 2, 3 }, 12), 0);
  CU_ASSERT_EQUAL(memcmp(bytes + 320, (int32_t[]){ -1, 300, 0 }, 12), 0);
  g_free(bytes);
  end(&run);
  options.threshold = 13;
  run = begin(text, &options);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).n_moved_out, 0);
  end(&run);
}

static void
test_moves_in(void)
{
  OnnxlAlignOptions options = plain;
  options.inline_below = 40;
  Run run = begin(text, &options);

  CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).n_moved_in, 2);
  CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst" }, NULL));
  CU_ASSERT_TRUE(onnxl_str_equal(tensor(&run, "b")->raw_data, onnxl_str_n(data + 501, 16)));
  CU_ASSERT_FALSE(tensor(&run, "b")->has_data_location);
  CU_ASSERT_EQUAL(tensor(&run, "b")->external_data.count, 0);
  CU_ASSERT_TRUE(tensor(&run, "empty")->raw_data.data && tensor(&run, "empty")->raw_data.size == 0);
  CU_ASSERT_TRUE(is_at(&run, "again", "dst", "64", "40"));
  end(&run);
  options.inline_below = UINT64_MAX;
  run = begin(text, &options);
  CU_ASSERT_EQUAL(onnxl_align_plan_shards(run.plan), 0);
  CU_ASSERT_EQUAL(onnxl_align_plan_summary(run.plan).n_moved_in, 5);
  end(&run);
}

#define CHECKED(sum)                                                        \
  "g () => () <float[2] w = [\"location\": \"w.bin\", \"checksum\": \"" sum \
  "\"], float[2] v = [\"location\": \"w.bin\"]> { }"

static void
test_checksums(void)
{
  OnnxlAlignOptions options = plain;
  char *source = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (const guchar *)data, sizeof data);
  char *right = g_strdup_printf(CHECKED("%s"), source);

  for (int all = 0; all < 2; all++) {
    options.checksum = all;
    Run run = begin(right, &options);
    size_t size;
    CU_ASSERT_PTR_NOT_NULL_FATAL(run.plan);
    char *bytes = copy(&run, 0, &size);
    char *expected = g_compute_checksum_for_data(G_CHECKSUM_SHA1, (const guchar *)bytes, size);
    int fd = memfd_create("dst", MFD_CLOEXEC);
    CU_ASSERT_EQUAL(write(fd, bytes, size), (ssize_t)size);
    CU_ASSERT_TRUE(onnxl_align_rewrite(run.plan, (const char *const[]){ "dst" }, NULL));
    CU_ASSERT_TRUE(onnxl_align_checksums(run.plan, &fd, (const char *const[]){ "dst" }, NULL));
    CU_ASSERT_TRUE(onnxl_str_is(entry(tensor(&run, "w"), "checksum"), expected));
    CU_ASSERT_EQUAL(entry(tensor(&run, "v"), "checksum").data != NULL, all);
    close(fd);
    g_free(bytes);
    g_free(expected);
    end(&run);
  }
  Run run = begin(CHECKED("0123456789abcdef0123456789abcdef01234567"), &options);
  CU_ASSERT_PTR_NULL(run.plan);
  CHECK_FINDINGS(&run.text, ONNXL_DIAG_EXTERNAL_CHECKSUM);
  end(&run);
  g_free(source);
  g_free(right);
}

static void
test_refusals(void)
{
  OnnxlAlignOptions options = plain;
  /* All tensors are looked at, not only up to the first wrong one. */
  Run run = begin("g () => () <float[2] a = [\"location\": \"w.bin\", \"offset\": \"995\"],\n"
                  " float[2] b = [\"location\": \"w.bin\", \"length\": \"7\"]> { }",
                  &options);
  CU_ASSERT_PTR_NULL(run.plan);
  CU_ASSERT_TRUE(g_error_matches(run.text.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CHECK_FINDINGS(&run.text, ONNXL_DIAG_EXTERNAL_RANGE, ONNXL_DIAG_EXTERNAL);
  end(&run);
  /* Offsets beyond 63 bits. */
  options.alignment = UINT64_C(1) << 62;
  run = begin(text, &options);
  CU_ASSERT_PTR_NULL(run.plan);
  CU_ASSERT_TRUE(g_error_matches(run.text.error, ONNXL_ERROR, ONNXL_ERROR_LIMIT));
  end(&run);
}

static void
test_layout(void)
{
  static const char overlapping[] = "g () => () <float[4] a = [\"location\": \"w.bin\", \"offset\": \"64\"], float[4] "
                                    "b = [\"location\": \"w.bin\", \"offset\": \"64\"],\n"
                                    " float[4] c = [\"location\": \"w.bin\", \"offset\": \"72\"], float[0] d = "
                                    "[\"location\": \"w.bin\", \"offset\": \"1\"],\n"
                                    " float[1] e = [\"location\": \"w.bin\", \"offset\": \"128\", \"length\": \"5\"], "
                                    "float[1] f = [\"location\": \"no.bin\"]> { }";
  TextModel t = text_model(overlapping);
  OnnxlExternalFiles *files = onnxl_external_files_new(folder, false);
  OnnxlLayoutOptions options = { .alignment = 64 };
  OnnxlLayout layout;

  CU_ASSERT_FALSE(onnxl_layout_check(t.model, files, &options, t.sink, &layout, &t.error));
  CU_ASSERT_TRUE(g_error_matches(t.error, ONNXL_ERROR, ONNXL_ERROR_INVALID));
  CHECK_FINDINGS(&t, ONNXL_DIAG_EXTERNAL_ALIGNMENT, ONNXL_DIAG_EXTERNAL_LENGTH_CHECK, ONNXL_DIAG_EXTERNAL_FILE,
                 ONNXL_DIAG_EXTERNAL_OVERLAP);
  CU_ASSERT_EQUAL_FATAL(layout.n_files, 1);
  CU_ASSERT_EQUAL_FATAL(layout.n_tensors, 5);
  CU_ASSERT_EQUAL(layout.files[0].size, sizeof data);
  CU_ASSERT_EQUAL(layout.files[0].tensors, 5);
  CU_ASSERT_EQUAL(layout.files[0].used, 24 + 5);
  CU_ASSERT_EQUAL(layout.files[0].shared, 16 + 8);
  CU_ASSERT_EQUAL(layout.files[0].overlaps, 1);
  CU_ASSERT_TRUE(layout.tensors[1].aligned && !layout.tensors[2].aligned && layout.tensors[3].aligned);
  onnxl_external_files_free(files);
  text_model_clear(&t);
}

static void
test_tear_down(void)
{
  char *name = g_build_filename(folder, "w.bin", NULL);
  CU_ASSERT_EQUAL(g_unlink(name), 0);
  CU_ASSERT_EQUAL(g_rmdir(folder), 0);
  g_free(name);
}

UNIT_MAIN("align", { "set up", test_set_up }, { "align", test_align }, { "dedup", test_dedup },
          { "order and shards", test_order_and_shards }, { "moves out", test_moves_out }, { "moves in", test_moves_in },
          { "checksums", test_checksums }, { "refusals", test_refusals }, { "layout", test_layout },
          { "tear down", test_tear_down })
