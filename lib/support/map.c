#include "support/map.h"

#include <sys/auxv.h>

#include "support/str-internal.h"

/* The kernel gives each process 16 random bytes. They key the hash, since with a constant key a model could be made
 * whose names all collide. No map can be iterated, so the key never shows in a result. */
static uint64_t
process_seed(void)
{
  static uint64_t seed;
  if (seed == 0) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random)
      memcpy(&seed, random, sizeof seed);
    seed |= 1;
  }
  return seed;
}

/* 0 marks a free slot. */
static uint32_t
hash_key(OnnxlStr key)
{
  uint32_t hash = (uint32_t)(onnxl_str_hash_seeded(key, process_seed()) >> 32);
  return hash != 0 ? hash : 1;
}

/* Fills slots of a new capacity, a power of two, with the present entries. */
static bool
resize(OnnxlMap *map, size_t capacity)
{
  OnnxlMapSlot *slots = ONNXL_NEW_ARRAY(map->arena, OnnxlMapSlot, capacity);
  if (!slots)
    return false;
  for (size_t i = 0; i < map->capacity; i++) {
    if (map->slots[i].hash == 0)
      continue;
    size_t at = map->slots[i].hash & (capacity - 1);
    while (slots[at].hash != 0)
      at = (at + 1) & (capacity - 1);
    slots[at] = map->slots[i];
  }
  map->slots = slots;
  map->capacity = capacity;
  return true;
}

OnnxlMap
onnxl_map_new(OnnxlArena *arena, size_t expected)
{
  OnnxlMap map = { .arena = arena };
  size_t capacity = 8;
  /* At most 3/4 full. */
  while (capacity - capacity / 4 < expected && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  if (expected > 0)
    resize(&map, capacity); /* if this fails the arena says so, and the first insertion fails again */
  return map;
}

uint32_t
onnxl_map_get(const OnnxlMap *map, OnnxlStr key)
{
  if (map->count == 0)
    return ONNXL_MAP_NONE;
  uint32_t hash = hash_key(key);
  for (size_t at = hash & (map->capacity - 1); map->slots[at].hash != 0; at = (at + 1) & (map->capacity - 1))
    if (map->slots[at].hash == hash && onnxl_str_equal(map->slots[at].key, key))
      return map->slots[at].value;
  return ONNXL_MAP_NONE;
}

uint32_t *
onnxl_map_put(OnnxlMap *map, OnnxlStr key, uint32_t value, bool *ret_added)
{
  if (map->count >= map->capacity - map->capacity / 4 && !resize(map, map->capacity > 0 ? map->capacity * 2 : 8))
    return NULL;
  uint32_t hash = hash_key(key);
  size_t at = hash & (map->capacity - 1);
  for (; map->slots[at].hash != 0; at = (at + 1) & (map->capacity - 1)) {
    if (map->slots[at].hash == hash && onnxl_str_equal(map->slots[at].key, key)) {
      if (ret_added)
        *ret_added = false;
      return &map->slots[at].value;
    }
  }
  map->slots[at] = (OnnxlMapSlot){ key, hash, value };
  map->count++;
  if (ret_added)
    *ret_added = true;
  return &map->slots[at].value;
}
