#include "stream/copy.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "support/error.h"
#include "unit.h"

enum { SIZE = 3 << 20 };

static char folder[] = "/tmp/onnxl-test-XXXXXX";
static char *source_name, *dest_name;
static char *content;
static int source;

static void
test_set_up(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  source_name = g_build_filename(folder, "source", NULL);
  dest_name = g_build_filename(folder, "dest", NULL);
  content = g_malloc(SIZE);
  for (size_t i = 0; i < SIZE; i++)
    content[i] = (char)(i * 2654435761u >> 13);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(source_name, content, SIZE, NULL));
  source = open(source_name, O_RDONLY);
  CU_ASSERT_TRUE_FATAL(source >= 0);
}

/* A fresh destination of size bytes, all of it a hole. */
static int
fresh(off_t size)
{
  g_unlink(dest_name);
  int fd = open(dest_name, O_RDWR | O_CREAT | O_EXCL, 0600);
  CU_ASSERT_TRUE_FATAL(fd >= 0 && ftruncate(fd, size) == 0);
  return fd;
}

/* True when the bytes at offset of the destination are those of expected, and zero all around. */
static bool
holds(int fd, uint64_t offset, const char *expected, size_t size)
{
  struct stat st;
  CU_ASSERT_EQUAL_FATAL(fstat(fd, &st), 0);
  char *bytes = g_malloc((size_t)st.st_size);
  CU_ASSERT_EQUAL_FATAL(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
  bool same = memcmp(bytes + offset, expected, size) == 0;
  for (uint64_t i = 0; i < (uint64_t)st.st_size; i++)
    same = same && (bytes[i] == 0 || (i >= offset && i < offset + size));
  g_free(bytes);
  return same;
}

static void
test_methods(void)
{
  static const struct {
    uint64_t from, to, length, chunk;
  } cases[] = {
    { 0, 0, SIZE, 0 },
    { 0, 4096, 1 << 20, 0 },
    { 100, 8192, SIZE - 100, 0 },
    { 4097, 64, 70000, 999 },
    { 8192, 4096, 12345, 0 },
    { SIZE - 1, 0, 1, 0 },
    { 5, 5, 28, 7 },
    { 1, 0, 200, 1 },
    { 0, 12288, 4095, 4096 },
    { 4096, 0, 2 << 20, 1 << 30 },
  };

  for (OnnxlCopyMethod method = 0; method < ONNXL_N_COPY_METHODS; method++) {
    if (method == ONNXL_COPY_REFLINK) /* of file systems that can: tests/lit/onnxl-align/reflink.test */
      continue;
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
      OnnxlCopyOptions options = { .method = method, .chunk_size = cases[i].chunk, .write_back = i % 2 == 0 };
      OnnxlCopier *copier = onnxl_copier_new(&options);
      GError *error = NULL;
      int dest = fresh((off_t)(cases[i].to + cases[i].length + 10));
      CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, cases[i].from, "source" },
                                      (OnnxlCopyPlace){ dest, cases[i].to, "dest" }, cases[i].length, &error));
      CU_ASSERT_PTR_NULL(error);
      CU_ASSERT_TRUE(holds(dest, cases[i].to, content + cases[i].from, cases[i].length));
      OnnxlCopyStats stats = onnxl_copier_stats(copier);
      uint64_t total = stats.holes;
      for (OnnxlCopyMethod m = 0; m < ONNXL_N_COPY_METHODS; m++)
        total += stats.by_method[m];
      CU_ASSERT_EQUAL(total, cases[i].length);
      if (method != ONNXL_COPY_AUTO)
        CU_ASSERT_EQUAL(stats.by_method[method], cases[i].length);
      onnxl_copier_free(copier);
      close(dest);
    }
  }
}

/* Between local files a copy goes through the pipe, whether the pages of both line up or not. */
static void
test_choice(void)
{
  static const uint64_t from[] = { 0, 1, 4096, 65536 };

  for (size_t i = 0; i < G_N_ELEMENTS(from); i++) {
    OnnxlCopier *copier = onnxl_copier_new(&(OnnxlCopyOptions){ 0 });
    int dest = fresh(SIZE);

    CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, from[i], "s" }, (OnnxlCopyPlace){ dest, 0, "d" },
                                    50000, NULL));
    CU_ASSERT_EQUAL(onnxl_copier_stats(copier).by_method[ONNXL_COPY_SPLICE], 50000);
    onnxl_copier_free(copier);
    close(dest);
  }
}

/* The size of pieces changes after some megabytes, and again when the pace does. */
static void
test_pieces(void)
{
  enum { ROUNDS = 12 };
  OnnxlCopier *copier = onnxl_copier_new(&(OnnxlCopyOptions){ 0 });
  uint64_t size = SIZE - 4097;
  int dest = fresh(size * ROUNDS);
  char *copied = g_malloc(size);

  for (uint64_t i = 0; i < ROUNDS; i++)
    CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 97 * i, "s" },
                                    (OnnxlCopyPlace){ dest, size * i, "d" }, size, NULL));
  for (uint64_t i = 0; i < ROUNDS; i++) {
    CU_ASSERT_EQUAL_FATAL(pread(dest, copied, size, (off_t)(size * i)), (ssize_t)size);
    CU_ASSERT_EQUAL(memcmp(copied, content + 97 * i, size), 0);
  }
  g_free(copied);
  onnxl_copier_free(copier);
  close(dest);
}

/* What the next copies will fill is reserved by the first of them, where that is of use; holes are not. */
static void
test_reserve(void)
{
  struct statfs system;
  struct stat info;
  OnnxlCopier *copier = onnxl_copier_new(&(OnnxlCopyOptions){ 0 });
  int dest = fresh(2 * SIZE);
  bool reserves = fstatfs(dest, &system) == 0 && (system.f_type == EXT4_SUPER_MAGIC || system.f_type == TMPFS_MAGIC);

  onnxl_copier_expect(copier, SIZE);
  CU_ASSERT_TRUE(
    onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ dest, 0, "d" }, 5000, NULL));
  CU_ASSERT_TRUE(holds(dest, 0, content, 5000));
  CU_ASSERT_TRUE_FATAL(fstat(dest, &info) == 0);
  CU_ASSERT_EQUAL(info.st_blocks * 512 >= SIZE, reserves);
  CU_ASSERT_TRUE(info.st_blocks * 512 < 2 * SIZE);
  CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 5000, "s" }, (OnnxlCopyPlace){ dest, 5000, "d" },
                                  SIZE - 5000, NULL));
  CU_ASSERT_TRUE(holds(dest, 0, content, SIZE));
  onnxl_copier_free(copier);
  close(dest);
}

/* What was reserved while one source was copied is not reserved again for the next one. */
static void
test_reserve_once(void)
{
  struct stat info;
  OnnxlCopier *copier = onnxl_copier_new(&(OnnxlCopyOptions){ 0 });
  int dest = fresh(SIZE), other = open(source_name, O_RDONLY);

  onnxl_copier_expect(copier, SIZE);
  CU_ASSERT_TRUE(
    onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ dest, 0, "d" }, 5000, NULL));
  CU_ASSERT_TRUE_FATAL(ftruncate(dest, 5000) == 0 && ftruncate(dest, SIZE) == 0);
  CU_ASSERT_TRUE(
    onnxl_copy_range(copier, (OnnxlCopyPlace){ other, 5000, "s" }, (OnnxlCopyPlace){ dest, 5000, "d" }, 5000, NULL));
  CU_ASSERT_TRUE(holds(dest, 0, content, 10000));
  CU_ASSERT_TRUE(fstat(dest, &info) == 0 && info.st_blocks * 512 < 1 << 20);
  onnxl_copier_free(copier);
  close(other);
  close(dest);
}

static void
test_too_short(void)
{
  for (OnnxlCopyMethod method = 0; method < ONNXL_N_COPY_METHODS; method++) {
    if (method == ONNXL_COPY_REFLINK)
      continue;
    OnnxlCopyOptions options = { .method = method };
    OnnxlCopier *copier = onnxl_copier_new(&options);
    GError *error = NULL;
    int dest = fresh(SIZE);
    CU_ASSERT_FALSE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, SIZE - 1000, "source" },
                                     (OnnxlCopyPlace){ dest, 0, "dest" }, 1001, &error));
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    /* By which call that was found does not matter, but it is not taken for a success or for a broken device. */
    CU_ASSERT_TRUE(strstr(error->message, method <= ONNXL_COPY_AUTO || method == ONNXL_COPY_READ_WRITE
                                            ? "'source' ends before offset 3145729"
                                            : "cannot copy 'source' to 'dest' by ") != NULL);
    g_clear_error(&error);
    onnxl_copier_free(copier);
    close(dest);
  }
}

/* Data of a page each at the given offsets, between holes. */
static int
open_sparse(const off_t *offsets, size_t count, off_t size)
{
  char *name = g_build_filename(folder, "sparse", NULL);
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CU_ASSERT_TRUE_FATAL(fd >= 0 && ftruncate(fd, size) == 0);
  for (size_t i = 0; i < count; i++)
    CU_ASSERT_EQUAL_FATAL(pwrite(fd, content, 4096, offsets[i]), 4096);
  g_free(name);
  return fd;
}

static void
test_holes(void)
{
  static const off_t offsets[] = { 1 << 20, 5 << 20 };
  enum { SPARSE = 64 << 20 };
  int sparse = open_sparse(offsets, G_N_ELEMENTS(offsets), SPARSE);
  struct stat st;

  if (fstat(sparse, &st) != 0 || st.st_blocks * 512 >= SPARSE) {
    close(sparse); /* a file system without holes */
    return;
  }
  for (int shift = 0; shift < 2; shift++) {
    OnnxlCopyOptions options = { 0 };
    OnnxlCopier *copier = onnxl_copier_new(&options);
    int dest = fresh(SPARSE);
    char page[4096];
    CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ sparse, 100 * (uint64_t)shift, "s" },
                                    (OnnxlCopyPlace){ dest, 0, "d" }, SPARSE - 100 * (uint64_t)shift, NULL));
    CU_ASSERT_TRUE(onnxl_copier_stats(copier).holes > SPARSE - (1 << 20));
    CU_ASSERT_TRUE(fstat(dest, &st) == 0 && st.st_blocks * 512 < 1 << 20);
    for (size_t i = 0; i < G_N_ELEMENTS(offsets); i++) {
      CU_ASSERT_EQUAL(pread(dest, page, sizeof page, offsets[i] - 100 * shift), sizeof page);
      CU_ASSERT_EQUAL(memcmp(page, content, sizeof page), 0);
    }
    /* A range that is one hole, and one that goes beyond the end. */
    CU_ASSERT_TRUE(onnxl_copy_range(copier, (OnnxlCopyPlace){ sparse, SPARSE - 5000, "s" },
                                    (OnnxlCopyPlace){ dest, 0, "d" }, 5000, NULL));
    CU_ASSERT_FALSE(onnxl_copy_range(copier, (OnnxlCopyPlace){ sparse, SPARSE - 5000, "s" },
                                     (OnnxlCopyPlace){ dest, 0, "d" }, 5001, NULL));
    onnxl_copier_free(copier);
    close(dest);
  }
  /* Blocks behind the end do not hide them. */
  CU_ASSERT_TRUE(onnxl_copy_is_sparse(sparse));
  if (fallocate(sparse, FALLOC_FL_KEEP_SIZE, SPARSE, SPARSE) == 0)
    CU_ASSERT_TRUE(onnxl_copy_is_sparse(sparse));
  CU_ASSERT_FALSE(onnxl_copy_is_sparse(source));
  close(sparse);
}

static bool
stop_at_second(void *data, uint64_t bytes)
{
  uint64_t *seen = data;
  *seen += bytes;
  return *seen < 2000;
}

static void
test_cancel(void)
{
  for (OnnxlCopyMethod method = ONNXL_COPY_RANGE; method < ONNXL_N_COPY_METHODS; method++) {
    uint64_t seen = 0;
    OnnxlCopyOptions options = { .method = method, .chunk_size = 1000, .progress = stop_at_second, .data = &seen };
    OnnxlCopier *copier = onnxl_copier_new(&options);
    GError *error = NULL;
    int dest = fresh(SIZE);
    CU_ASSERT_FALSE(
      onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ dest, 0, "d" }, SIZE, &error));
    CU_ASSERT_TRUE(g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_IO));
    CU_ASSERT_EQUAL(seen, 2000);
    g_clear_error(&error);
    onnxl_copier_free(copier);
    close(dest);
  }
}

/* Between two file systems copy_file_range() is refused; without a descriptor left there is no pipe either. */
static void
test_falls_through(void)
{
  OnnxlCopyOptions options = { 0 };
  OnnxlCopier *copier = onnxl_copier_new(&options);
  struct rlimit before, none;
  int dest = memfd_create("dest", MFD_CLOEXEC);

  CU_ASSERT_TRUE_FATAL(dest >= 0 && ftruncate(dest, SIZE) == 0 && getrlimit(RLIMIT_NOFILE, &before) == 0);
  none = before;
  none.rlim_cur = (rlim_t)dest + 1;
  setrlimit(RLIMIT_NOFILE, &none);
  CU_ASSERT_TRUE(
    onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ dest, 0, "d" }, SIZE, NULL));
  setrlimit(RLIMIT_NOFILE, &before);
  CU_ASSERT_EQUAL(onnxl_copier_stats(copier).by_method[ONNXL_COPY_READ_WRITE], SIZE);
  CU_ASSERT_TRUE(holds(dest, 0, content, SIZE));
  close(dest);
  /* What was refused for one pair of files is tried again for the next, also when it has the same numbers. */
  int again = fresh(SIZE);
  CU_ASSERT_EQUAL(again, dest);
  CU_ASSERT_TRUE(
    onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ again, 0, "d" }, SIZE, NULL));
  CU_ASSERT_EQUAL(onnxl_copier_stats(copier).by_method[ONNXL_COPY_READ_WRITE], SIZE);
  onnxl_copier_free(copier);
  close(again);
}

static void
test_device_full(void)
{
  OnnxlCopyOptions options = { 0 };
  OnnxlCopier *copier = onnxl_copier_new(&options);
  GError *error = NULL;
  int full = open("/dev/full", O_WRONLY);

  CU_ASSERT_FALSE(onnxl_copy_bytes(copier, content, 100, (OnnxlCopyPlace){ full, 0, "/dev/full" }, &error));
  CU_ASSERT_TRUE(error && strstr(error->message, "cannot write '/dev/full': No space left"));
  g_clear_error(&error);
  CU_ASSERT_FALSE(onnxl_copy_range(copier, (OnnxlCopyPlace){ source, 0, "s" }, (OnnxlCopyPlace){ full, 0, "/dev/full" },
                                   100, &error));
  CU_ASSERT_TRUE(error && strstr(error->message, "No space left"));
  g_clear_error(&error);
  onnxl_copier_free(copier);
  close(full);
}

static void
test_tear_down(void)
{
  static const char *const names[] = { "source", "dest", "sparse" };

  close(source);
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    char *name = g_build_filename(folder, names[i], NULL);
    g_unlink(name);
    g_free(name);
  }
  CU_ASSERT_EQUAL(g_rmdir(folder), 0);
  g_free(source_name);
  g_free(dest_name);
  g_free(content);
}

UNIT_MAIN("copy", { "set up", test_set_up }, { "every method", test_methods }, { "choice of the method", test_choice },
          { "size of pieces", test_pieces }, { "reserving blocks", test_reserve },
          { "reserving once", test_reserve_once }, { "source too short", test_too_short },
          { "holes stay holes", test_holes }, { "cancelled", test_cancel }, { "falls through", test_falls_through },
          { "device full", test_device_full }, { "tear down", test_tear_down })
