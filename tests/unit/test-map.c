#include "support/map.h"

#include "unit.h"

static void
test_put_and_get(void)
{
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlMap map = onnxl_map_new(arena, 0);
  bool added = false;
  CU_ASSERT_EQUAL(onnxl_map_get(&map, ONNXL_STR("x")), ONNXL_MAP_NONE);
  uint32_t *value = onnxl_map_put(&map, ONNXL_STR("x"), 7, &added);
  CU_ASSERT_TRUE(added);
  CU_ASSERT_EQUAL(*value, 7);
  value = onnxl_map_put(&map, ONNXL_STR("x"), 8, &added);
  CU_ASSERT_FALSE(added);
  CU_ASSERT_EQUAL(*value, 7);
  *value = 9;
  CU_ASSERT_EQUAL(onnxl_map_get(&map, ONNXL_STR("x")), 9);
  onnxl_map_put(&map, onnxl_str(NULL), 1, NULL);
  CU_ASSERT_EQUAL(onnxl_map_get(&map, ONNXL_STR("")), 1);
  onnxl_arena_free(arena);
}

static void
test_many_keys(size_t expected)
{
  enum { N = 50000 };
  OnnxlArena *arena = onnxl_arena_new(SIZE_MAX);
  OnnxlMap map = onnxl_map_new(arena, expected);
  size_t failures = 0;
  for (uint32_t i = 0; i < N; i++)
    if (!onnxl_map_put(&map, onnxl_arena_printf(arena, "/layer.%u/MatMul_output_0", i), i, NULL))
      failures++;
  CU_ASSERT_EQUAL(map.count, N);
  for (uint32_t i = 0; i < N; i++)
    failures += onnxl_map_get(&map, onnxl_arena_printf(arena, "/layer.%u/MatMul_output_0", i)) != i;
  failures += onnxl_map_get(&map, ONNXL_STR("/layer.50000/MatMul_output_0")) != ONNXL_MAP_NONE;
  CU_ASSERT_EQUAL(failures, 0);
  onnxl_arena_free(arena);
}

static void
test_growing(void)
{
  test_many_keys(0);
}

static void
test_presized(void)
{
  test_many_keys(50000);
}

static void
test_exhausted_arena(void)
{
  OnnxlArena *arena = onnxl_arena_new(1);
  OnnxlMap map = onnxl_map_new(arena, 1000);
  CU_ASSERT_PTR_NULL(onnxl_map_put(&map, ONNXL_STR("x"), 1, NULL));
  CU_ASSERT_EQUAL(onnxl_map_get(&map, ONNXL_STR("x")), ONNXL_MAP_NONE);
  onnxl_arena_free(arena);
}

UNIT_MAIN("map",
  { "put and get", test_put_and_get },
  { "many keys, growing", test_growing },
  { "many keys, room at once", test_presized },
  { "exhausted arena", test_exhausted_arena })
