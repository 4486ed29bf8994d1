/* A hash map from names to small numbers. Keys are borrowed: they must outlive the map. Iteration order does not exist.
 */
#ifndef ONNXL_SUPPORT_MAP_H
#define ONNXL_SUPPORT_MAP_H

#include "support/arena.h"

typedef struct OnnxlMapSlot {
  OnnxlStr key;
  uint32_t hash;
  uint32_t value;
} OnnxlMapSlot;

typedef struct OnnxlMap {
  OnnxlMapSlot *slots;
  size_t capacity; /* a power of two, or 0 */
  size_t count;
  OnnxlArena *arena;
} OnnxlMap;

#define ONNXL_MAP_NONE UINT32_MAX

/* A map whose slots live in arena. expected: number of keys to make room for at once, 0 if not known. */
OnnxlMap onnxl_map_new(OnnxlArena *arena, size_t expected);

/* Returns the value of key, or ONNXL_MAP_NONE. */
uint32_t onnxl_map_get(const OnnxlMap *map, OnnxlStr key);

/* Sets key to value when it is not there yet. Returns the address of the stored value, which tells an old from a new
 * entry through ret_added (may be NULL); NULL when the arena is exhausted. The address holds until the next insertion.
 */
uint32_t *onnxl_map_put(OnnxlMap *map, OnnxlStr key, uint32_t value, bool *ret_added);

#endif
