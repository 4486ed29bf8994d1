#include "runtime/sizes.h"

#include "support/map.h"

struct OnnxlSizes {
  OnnxlArena *arena;
  OnnxlMap places; /* of symbols in sizes */
  int64_t *sizes;
  size_t count, capacity;
};

OnnxlSizes *
onnxl_sizes_new(void)
{
  OnnxlSizes *sizes = g_new0(OnnxlSizes, 1);

  sizes->arena = onnxl_arena_new(SIZE_MAX);
  sizes->places = onnxl_map_new(sizes->arena, 0);
  return sizes;
}

void
onnxl_sizes_free(OnnxlSizes *sizes)
{
  if (!sizes)
    return;
  onnxl_arena_free(sizes->arena);
  g_free(sizes);
}

void
onnxl_sizes_reset(OnnxlSizes *sizes)
{
  onnxl_arena_free(sizes->arena);
  *sizes = (OnnxlSizes){ .arena = onnxl_arena_new(SIZE_MAX) };
  sizes->places = onnxl_map_new(sizes->arena, 0);
}

bool
onnxl_sizes_set(OnnxlSizes *sizes, OnnxlStr name, int64_t size)
{
  bool added;
  if (!ONNXL_GROW(sizes->arena, &sizes->sizes, sizes->count, &sizes->capacity) ||
      !onnxl_map_put(&sizes->places, name, (uint32_t)sizes->count, &added))
    return false;
  if (added)
    sizes->sizes[sizes->count++] = size;
  return true;
}

bool
onnxl_sizes_bind(OnnxlSizes *sizes, const OnnxlInfo *info, const OnnxlValue *value)
{
  if (info->kind != ONNXL_KIND_TENSOR || value->kind != ONNXL_KIND_TENSOR || !info->has_rank ||
      info->rank != value->rank)
    return true;
  for (uint32_t i = 0; i < info->rank; i++) {
    OnnxlStr name;
    if (info->dims[i] && onnxl_expr_is_symbol(info->dims[i], &name) && !onnxl_sizes_set(sizes, name, value->dims[i]))
      return false;
  }
  return true;
}

bool
onnxl_sizes_lookup(void *sizes, OnnxlStr name, int64_t *ret_size)
{
  const OnnxlSizes *known = sizes;
  uint32_t place = onnxl_map_get(&known->places, name);

  if (place == ONNXL_MAP_NONE)
    return false;
  *ret_size = known->sizes[place];
  return true;
}
