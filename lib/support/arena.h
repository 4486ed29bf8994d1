/* One arena holds all metadata of a model and is freed at once. A budget bounds what hostile input can make us
 * allocate. */
#ifndef ONNXL_SUPPORT_ARENA_H
#define ONNXL_SUPPORT_ARENA_H

#include "support/str.h"

typedef struct OnnxlArena OnnxlArena;

/* budget: bytes handed out at most; SIZE_MAX for none. Returns: owned, never NULL. */
OnnxlArena *onnxl_arena_new(size_t budget);
void onnxl_arena_free(OnnxlArena *arena);

/* Raises or lowers the budget (it may be known only after the input was opened). */
void onnxl_arena_set_budget(OnnxlArena *arena, size_t budget);
size_t onnxl_arena_budget(const OnnxlArena *arena);

/* Bytes handed out so far. */
size_t onnxl_arena_used(const OnnxlArena *arena);

/* size bytes aligned to 16, zeroed. Returns NULL when the budget or the memory is exhausted, and from then on
 * onnxl_arena_exhausted() is true, so that a caller may look once at the end of a step. size 0 gives a valid pointer.
 */
void *onnxl_arena_alloc(OnnxlArena *arena, size_t size);
bool onnxl_arena_exhausted(const OnnxlArena *arena);

/* count * size bytes, multiplication checked. */
void *onnxl_arena_array(OnnxlArena *arena, size_t count, size_t size);

/* A NUL-terminated copy. NULL data stays NULL. */
OnnxlStr onnxl_arena_copy(OnnxlArena *arena, OnnxlStr text);

/* A decimal number in the arena; data NULL when exhausted. */
OnnxlStr onnxl_arena_uint64(OnnxlArena *arena, uint64_t value);

/* A formatted string in the arena; data NULL when exhausted. */
OnnxlStr onnxl_arena_printf(OnnxlArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ONNXL_NEW(arena, type) ((type *)onnxl_arena_alloc((arena), sizeof(type)))
#define ONNXL_NEW_ARRAY(arena, type, count) ((type *)onnxl_arena_array((arena), (count), sizeof(type)))

/* Makes room for one more element in a growing array that lives in an arena (capacity doubles; the old copy stays in
 * the arena). items: address of the typed pointer. Returns false when exhausted. */
#define ONNXL_GROW(arena, items, count, capacity) \
  onnxl_arena_grow((arena), (void **)(items), (count), (capacity), sizeof(**(items)))
bool onnxl_arena_grow(OnnxlArena *arena, void **items, size_t count, size_t *capacity, size_t item_size);

#endif
