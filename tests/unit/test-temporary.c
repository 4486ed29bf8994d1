#include "cli/temporary-internal.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "unit.h"

enum { MANY = 2500 }; /* more than a block has slots */

static char folder[] = "/tmp/test-temporary-XXXXXX";
static int slots[MANY];

static char *
name_of(int i)
{
  return g_strdup_printf("%s/%d", folder, i);
}

/* How many of the files are there. */
static int
count(void)
{
  int n = 0;
  for (int i = 0; i < MANY; i++) {
    g_autofree char *name = name_of(i);
    n += g_file_test(name, G_FILE_TEST_EXISTS);
  }
  return n;
}

static void
remember(int i)
{
  g_autofree char *name = name_of(i);
  CU_ASSERT_TRUE_FATAL(g_file_set_contents(name, "", 0, NULL));
  slots[i] = onnxl_temporary_remember(name);
  CU_ASSERT_TRUE(slots[i] >= 0);
}

static void
test_names(void)
{
  g_autofree char *name = onnxl_temporary_name("/some/where/file"), *other = onnxl_temporary_name("/some/where/file");
  CU_ASSERT_TRUE(g_str_has_prefix(name, "/some/where/.onnxl-"));
  CU_ASSERT_STRING_NOT_EQUAL(name, other);
}

static void
test_many(void)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
  for (int i = 0; i < MANY; i++)
    remember(i);
  CU_ASSERT_EQUAL(count(), MANY);
  onnxl_temporary_remove_all();
  CU_ASSERT_EQUAL(count(), 0);
}

/* What was forgotten stays; its slots are used again. */
static void
test_forget(void)
{
  int least = MANY, most = 0;
  for (int i = 0; i < MANY; i++)
    onnxl_temporary_forget(slots[i]);
  for (int i = MANY; i-- > 0;)
    remember(i);
  for (int i = 0; i < MANY; i++) {
    least = MIN(least, slots[i]);
    most = MAX(most, slots[i]);
  }
  CU_ASSERT_EQUAL(most - least, MANY - 1);
  for (int i = 0; i < MANY; i += 2)
    onnxl_temporary_forget(slots[i]);
  onnxl_temporary_remove_all();
  CU_ASSERT_EQUAL(count(), MANY / 2);
  onnxl_temporary_forget(-1);
}

static void
test_clean_up(void)
{
  for (int i = 0; i < MANY; i++) {
    g_autofree char *name = name_of(i);
    g_unlink(name);
  }
  CU_ASSERT_EQUAL(rmdir(folder), 0);
}

UNIT_MAIN("temporary", { "names", test_names }, { "more than a block", test_many }, { "forgotten", test_forget },
          { "clean up: nothing is left", test_clean_up })
