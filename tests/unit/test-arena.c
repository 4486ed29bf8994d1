#include "support/arena.h"

#include "unit.h"

static void
test_blocks_are_zeroed_and_aligned(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  for (size_t size = 0; size < 40000; size = size * 3 / 2 + 1) {
    char *block = onnxl_arena_alloc(arena, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(block);
    CU_ASSERT_EQUAL((uintptr_t)block % 16, 0);
    for (size_t i = 0; i < size; i++)
      if (block[i] != 0)
        CU_FAIL("block is not zeroed");
    memset(block, 0xff, size);
  }
  CU_ASSERT_FALSE(onnxl_arena_exhausted(arena));
  onnxl_arena_free(arena);
}

static void
test_budget(void)
{
  OnnxlArena *arena = onnxl_arena_new(1024);
  CU_ASSERT_PTR_NOT_NULL(onnxl_arena_alloc(arena, 1000));
  CU_ASSERT_EQUAL(onnxl_arena_used(arena), 1008);
  CU_ASSERT_PTR_NULL(onnxl_arena_alloc(arena, 17));
  CU_ASSERT_TRUE(onnxl_arena_exhausted(arena));
  CU_ASSERT_PTR_NOT_NULL(onnxl_arena_alloc(arena, 16));
  CU_ASSERT_TRUE(onnxl_arena_exhausted(arena));
  onnxl_arena_set_budget(arena, 4096);
  CU_ASSERT_EQUAL(onnxl_arena_budget(arena), 4096);
  CU_ASSERT_PTR_NOT_NULL(onnxl_arena_alloc(arena, 3000));
  onnxl_arena_set_budget(arena, 10);
  CU_ASSERT_PTR_NULL(onnxl_arena_alloc(arena, 1));
  onnxl_arena_free(arena);
}

static void
test_overflow(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  CU_ASSERT_PTR_NULL(onnxl_arena_array(arena, SIZE_MAX / 2, 3));
  CU_ASSERT_PTR_NULL(onnxl_arena_alloc(arena, SIZE_MAX));
  CU_ASSERT_TRUE(onnxl_arena_exhausted(arena));
  onnxl_arena_free(arena);
}

static void
test_strings(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlStr copy = onnxl_arena_copy(arena, onnxl_str_n("a\0b", 3));
  CU_ASSERT_TRUE(onnxl_str_equal(copy, onnxl_str_n("a\0b", 3)));
  CU_ASSERT_EQUAL(copy.data[3], '\0');
  CU_ASSERT_PTR_NULL(onnxl_arena_copy(arena, onnxl_str(NULL)).data);
  CU_ASSERT_PTR_NOT_NULL(onnxl_arena_copy(arena, ONNXL_STR("")).data);
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_arena_printf(arena, "%d-%s", 12, "x"), "12-x"));
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_arena_uint64(arena, 0), "0"));
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_arena_uint64(arena, 4096), "4096"));
  CU_ASSERT_TRUE(onnxl_str_is(onnxl_arena_uint64(arena, UINT64_MAX), "18446744073709551615"));
  OnnxlStr wide = onnxl_arena_printf(arena, "%1000d", 7);
  CU_ASSERT_EQUAL(wide.size, 1000);
  CU_ASSERT_EQUAL(wide.data[999], '7');
  onnxl_arena_free(arena);
}

static void
test_growing_array(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  uint32_t *items = NULL;
  size_t count = 0, capacity = 0;
  for (uint32_t i = 0; i < 100000; i++) {
    CU_ASSERT_TRUE_FATAL(ONNXL_GROW(arena, &items, count, &capacity));
    items[count++] = i;
    if (i % 1000 == 0)
      *(char *)onnxl_arena_alloc(arena, 1) = 1;
  }
  for (uint32_t i = 0; i < 100000; i++)
    if (items[i] != i)
      CU_FAIL("an element moved");
  onnxl_arena_free(arena);

  arena = onnxl_arena_new(100);
  items = NULL;
  count = capacity = 0;
  while (ONNXL_GROW(arena, &items, count, &capacity))
    items[count++] = 1;
  CU_ASSERT_TRUE(count > 0 && count * sizeof *items <= 100);
  CU_ASSERT_TRUE(onnxl_arena_exhausted(arena));
  onnxl_arena_free(arena);
}

UNIT_MAIN("arena",
  { "blocks are zeroed and aligned", test_blocks_are_zeroed_and_aligned },
  { "budget", test_budget },
  { "overflow", test_overflow },
  { "strings", test_strings },
  { "growing array", test_growing_array })
