/* What flows between nodes: tensors, sequences, optionals and maps, counted by reference. Values are
 * never changed once a kernel has handed them out, so several names may share one. */
#ifndef ONNXL_RUNTIME_VALUE_H
#define ONNXL_RUNTIME_VALUE_H

#include "proto/model.h"
#include "runtime/allocator.h"
#include "shapes/infer.h"

#define ONNXL_MAX_RANK 64

typedef struct OnnxlValue OnnxlValue;
struct OnnxlValue {
  uint32_t refs;
  OnnxlTypeKind kind; /* TENSOR, SEQUENCE, OPTIONAL or MAP */
  int32_t
    elem_type; /* OnnxlDataType of a tensor, of a sequence's or optional's tensors (0 = not known), of a map's keys */
  OnnxlTypeKind element_kind; /* of sequence and optional: what they hold, also when empty; UNKNOWN = not known */
  uint32_t rank;
  int64_t count;    /* elements of a tensor */
  uint64_t bytes;   /* of data: packed below 8 bits; of strings: the OnnxlStr items */
  void *data;       /* aligned for elem_type; never NULL for a tensor */
  bool owned;       /* data came from allocator and goes back to it */
  OnnxlValue *base; /* whose data this value shows under other dims, or NULL */
  OnnxlAllocator *allocator;
  OnnxlValue **items; /* sequence: its elements; optional: none or one; map: keys and values, two tensors of equal
                         length */
  size_t n_items;
  int64_t dims[]; /* rank of them, for tensors */
};

/* A tensor whose values the caller fills in. dims: rank values, checked (not negative, product and bytes without
 * overflow, within the limit). what: names it in messages. String tensors start as empty texts. Returns: owned; NULL
 * with ONNXL_ERROR_LIMIT or ONNXL_ERROR_INVALID. */
OnnxlValue *onnxl_value_new_tensor(OnnxlAllocator *allocator, int32_t elem_type, size_t rank, const int64_t *dims,
                                   const char *what, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A tensor over bytes that somebody else keeps alive longer than the value (a mapped file). The dims and bytes have
 * been checked. Returns: owned, never NULL. */
OnnxlValue *onnxl_value_new_borrowed(OnnxlAllocator *allocator, int32_t elem_type, size_t rank, const int64_t *dims,
                                     const void *data);

/* The same bytes under other dims of equal product and an element type of equal size. Returns: owned, keeps tensor
 * alive. */
OnnxlValue *onnxl_value_new_view(OnnxlValue *tensor, int32_t elem_type, size_t rank, const int64_t *dims);

/* Containers take a reference of their own on each item. */
OnnxlValue *onnxl_value_new_sequence(OnnxlAllocator *allocator, OnnxlTypeKind element_kind, int32_t elem_type,
                                     OnnxlValue *const *items, size_t n_items);
OnnxlValue *onnxl_value_new_optional(OnnxlAllocator *allocator, OnnxlTypeKind element_kind, int32_t elem_type,
                                     OnnxlValue *item);
OnnxlValue *onnxl_value_new_map(OnnxlAllocator *allocator, OnnxlValue *keys, OnnxlValue *values);

OnnxlValue *onnxl_value_ref(OnnxlValue *value);
/* value may be NULL. */
void onnxl_value_unref(OnnxlValue *value);

/* Bytes that the value stands for in accounts of memory: data of tensors; strings and containers count 0. */
uint64_t onnxl_value_bytes(const OnnxlValue *value);

/* Bytes of all that is in the value: texts by their lengths, containers by their items. */
uint64_t onnxl_value_content_bytes(const OnnxlValue *value);

static inline bool
onnxl_value_is_tensor(const OnnxlValue *value, int32_t elem_type)
{
  return value->kind == ONNXL_KIND_TENSOR && value->elem_type == elem_type;
}

/* "float[2,4]", "seq(float)", "map(int64)", for messages. Returns: owned. */
char *onnxl_value_describe(const OnnxlValue *value);

/* "[2,4]". Returns: owned. */
char *onnxl_dims_text(const int64_t *dims, size_t rank);

#endif
