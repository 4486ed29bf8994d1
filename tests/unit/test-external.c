#include "stream/external.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "files.h"
#include "model-text.h"
#include "support/error.h"

static char folder[] = "/tmp/onnxl-test-XXXXXX";

static const char *
at(const char *name)
{
  return file_in(folder, name);
}

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  CU_ASSERT_EQUAL_FATAL(g_mkdir(at("model"), 0700), 0);
  CU_ASSERT_EQUAL_FATAL(g_mkdir(at("model/sub"), 0700), 0);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(at("outside"), "0123456789abcdef", 16, NULL));
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(at("model/w.bin"), "0123456789abcdef", 16, NULL));
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(at("model/sub/v.bin"), "fedcba9876543210", 16, NULL));
  CU_ASSERT_EQUAL_FATAL(symlink("sub/v.bin", at("model/inner")), 0);
  CU_ASSERT_EQUAL_FATAL(symlink("../outside", at("model/outer")), 0);
  CU_ASSERT_EQUAL_FATAL(symlink("outer", at("model/chain")), 0);
  CU_ASSERT_EQUAL_FATAL(symlink("sub", at("model/folder-link")), 0);
  CU_ASSERT_EQUAL_FATAL(mkfifo(at("model/pipe"), 0600), 0);
  CU_ASSERT_EQUAL_FATAL(link(at("model/w.bin"), at("model/hard")), 0);
}

static bool
opens(bool allow_symlinks, const char *location, size_t size)
{
  OnnxlExternalFiles *files = onnxl_external_files_new(at("model"), allow_symlinks);
  GError *error = NULL;
  const OnnxlExternalFile *file =
    onnxl_external_open(files, onnxl_str_n(location, size), ONNXL_STR("tensor_x"), &error);

  if (file) {
    CU_ASSERT_PTR_NULL(error);
    CU_ASSERT_EQUAL(file->size, 16);
    CU_ASSERT_PTR_EQUAL(onnxl_external_open(files, onnxl_str_n(location, size), ONNXL_STR("other"), NULL), file);
    CU_ASSERT_EQUAL(onnxl_external_files_count(files), 1);
  } else {
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
    CU_ASSERT_TRUE(error && strstr(error->message, "tensor_x"));
    g_clear_error(&error);
  }
  onnxl_external_files_free(files);
  return file != NULL;
}
#define OPENS(allow, literal) opens((allow), (literal), sizeof(literal) - 1)

static void
test_opening(void)
{
  static const char *const always[] = { "w.bin", "./w.bin", "sub/v.bin", "sub/../w.bin", "hard", "sub//v.bin" };
  static const char *const with_links[] = { "inner", "outer", "chain", "folder-link/v.bin" };
  static const char *const never[] = {
    "", ".", "..", "../outside", "sub/../../outside", "/etc/passwd", "missing", "sub", "pipe", "w.bin/", "w.bin/x",
  };

  for (int allow = 0; allow < 2; allow++) {
    for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
      CU_ASSERT_TRUE(opens(allow, always[i], strlen(always[i])));
    for (size_t i = 0; i < G_N_ELEMENTS(with_links); i++)
      CU_ASSERT_EQUAL(opens(allow, with_links[i], strlen(with_links[i])), allow);
    for (size_t i = 0; i < G_N_ELEMENTS(never); i++)
      CU_ASSERT_FALSE(opens(allow, never[i], strlen(never[i])));
    CU_ASSERT_FALSE(OPENS(allow, "w.bin\0.txt"));
  }
}

#define EXTERNAL(entries) "g () => () <float[2] w = [\"location\": \"w.bin\"" entries "]> { }"

/* Checks the range of the model's one tensor; finding: what must be reported, or -1. */
static void
check_range(const char *text, bool ok, int finding, uint64_t offset, uint64_t length)
{
  TextModel t = text_model(text);
  OnnxlExternalFiles *files = onnxl_external_files_new(at("model"), false);
  OnnxlExternalRange range;
  OnnxlStr bytes;
  char read[16];

  CU_ASSERT_EQUAL(
    onnxl_external_range(files, &t.model->proto.graph->initializer.items[0], "/w", t.sink, &range, &t.error), ok);
  CU_ASSERT_EQUAL(onnxl_diag_count(t.sink), finding >= 0);
  if (finding >= 0 && onnxl_diag_count(t.sink) > 0) {
    CU_ASSERT_EQUAL(onnxl_diag_get(t.sink, 0)->id, finding);
    CU_ASSERT_PTR_NOT_NULL(strstr(onnxl_diag_get(t.sink, 0)->message, "'w'"));
  }
  if (ok) {
    CU_ASSERT_EQUAL(range.offset, offset);
    CU_ASSERT_EQUAL(range.length, length);
    CU_ASSERT_EQUAL(range.needed, 8);
    CU_ASSERT_TRUE(onnxl_external_map(files, &range, &bytes, NULL));
    CU_ASSERT_TRUE(onnxl_str_equal(bytes, onnxl_str_n("0123456789abcdef" + offset, length)));
    CU_ASSERT_TRUE(onnxl_external_read(&range, read, NULL));
    CU_ASSERT_EQUAL(memcmp(read, "0123456789abcdef" + offset, length), 0);
  }
  onnxl_external_files_free(files);
  text_model_clear(&t);
}

static void
test_ranges(void)
{
  check_range(EXTERNAL(""), true, -1, 0, 8);
  check_range(EXTERNAL(", \"offset\": \"8\""), true, -1, 8, 8);
  check_range(EXTERNAL(", \"offset\": \"3\", \"length\": \"8\", \"other\": \"x\""), true, -1, 3, 8);
  check_range(EXTERNAL(", \"length\": \"12\""), true, ONNXL_DIAG_EXTERNAL_LENGTH, 0, 12);
  check_range(EXTERNAL(", \"offset\": \"9\""), false, ONNXL_DIAG_EXTERNAL_RANGE, 0, 0);
  check_range(EXTERNAL(", \"length\": \"17\""), false, ONNXL_DIAG_EXTERNAL_RANGE, 0, 0);
  check_range(EXTERNAL(", \"length\": \"7\""), false, ONNXL_DIAG_EXTERNAL, 0, 0);
  check_range(EXTERNAL(", \"offset\": \"9223372036854775807\""), false, ONNXL_DIAG_EXTERNAL_RANGE, 0, 0);
  check_range(EXTERNAL(", \"offset\": \"9223372036854775807\", \"length\": \"9223372036854775807\""), false,
              ONNXL_DIAG_EXTERNAL, 0, 0);
  check_range(EXTERNAL(", \"offset\": \"-1\""), false, ONNXL_DIAG_EXTERNAL, 0, 0);
  check_range(EXTERNAL(", \"offset\": \"0x1\""), false, ONNXL_DIAG_EXTERNAL, 0, 0);
  check_range(EXTERNAL(", \"offset\": \"0\", \"offset\": \"8\""), true, -1, 8, 8);
  check_range(EXTERNAL(", \"length\": \"12\", \"length\": \"8\""), true, -1, 0, 8);
}

/* Which entries must not be replaced while the model is needed. */
static void
test_use(void)
{
  static const struct {
    const char *location, *path;
    bool used;
  } cases[] = {
    { "w.bin", "model/w.bin", true },       { "w.bin", "model/sub/../w.bin", true },
    { "w.bin", "model/hard", false },       { "hard", "model/w.bin", false },
    { "w.bin", "model/new.bin", false },    { "inner", "model/inner", true },
    { "inner", "model/sub/v.bin", true },   { "inner", "model/folder-link/v.bin", true },
    { "chain", "model/outer", true },       { "chain", "outside", true },
    { "chain", "model/inner", false },      { "outer", "model/chain", false },
    { "w.bin", "missing/folder/x", false },
  };

  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    OnnxlExternalFiles *files = onnxl_external_files_new(at("model"), true);
    CU_ASSERT_PTR_NOT_NULL(onnxl_external_open(files, onnxl_str(cases[i].location), ONNXL_STR("w"), NULL));
    g_autofree char *path = onnxl_external_files_path(files, 0);
    CU_ASSERT_TRUE(g_str_has_suffix(path, cases[i].location) && g_file_test(path, G_FILE_TEST_EXISTS));
    CU_ASSERT_EQUAL(onnxl_external_files_use(files, NULL, at(cases[i].path)), cases[i].used);
    onnxl_external_files_free(files);
  }
}

static void
test_tear_down(void)
{
  static const char *const names[] = { "model/sub/v.bin",   "model/sub",  "model/w.bin", "model/inner",
                                       "model/outer",       "model/pipe", "model/hard",  "model/chain",
                                       "model/folder-link", "model",      "outside" };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    CU_ASSERT_EQUAL(g_remove(at(names[i])), 0);
  CU_ASSERT_EQUAL(g_rmdir(folder), 0);
}

UNIT_MAIN("external", { "set up", test_set_up }, { "opening", test_opening }, { "ranges", test_ranges },
          { "entries in use", test_use }, { "tear down", test_tear_down })
