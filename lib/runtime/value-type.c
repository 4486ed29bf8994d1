#include "runtime/value-type.h"

static OnnxlShapeProto *
shape_of(const OnnxlValue *value, OnnxlArena *arena)
{
  OnnxlShapeProto *shape = ONNXL_NEW(arena, OnnxlShapeProto);
  if (!shape || (value->rank > 0 && !ONNXL_EXTEND(arena, &shape->dim, value->rank)))
    return NULL;
  for (uint32_t i = 0; i < value->rank; i++) {
    shape->dim.items[i].has_dim_value = true;
    shape->dim.items[i].dim_value = value->dims[i];
  }
  return shape;
}

static OnnxlTensorType *
tensor_type(const OnnxlValue *value, bool with_dims, OnnxlArena *arena)
{
  OnnxlTensorType *type = ONNXL_NEW(arena, OnnxlTensorType);
  if (!type)
    return NULL;
  type->has_elem_type = true;
  type->elem_type = value->elem_type;
  if (with_dims && !(type->shape = shape_of(value, arena)))
    return NULL;
  return type;
}

static OnnxlType *
type_of(const OnnxlValue *value, bool with_dims, OnnxlArena *arena)
{
  OnnxlType *type = ONNXL_NEW(arena, OnnxlType);
  const OnnxlValue *item = value->n_items > 0 ? value->items[0] : NULL;
  if (!type)
    return NULL;
  if (value->kind == ONNXL_KIND_TENSOR)
    type->tensor_type = tensor_type(value, with_dims, arena);
  else if (value->kind == ONNXL_KIND_MAP) {
    if ((type->map_type = ONNXL_NEW(arena, OnnxlMapType)))
      *type->map_type = (OnnxlMapType){ .has_key_type = true,
                                        .key_type = item->elem_type,
                                        .value_type = type_of(value->items[1], false, arena) };
  } else {
    OnnxlElementType *element = ONNXL_NEW(arena, OnnxlElementType);
    /* An empty one knows what it would hold, as far as tensors go. */
    const OnnxlValue empty = { .kind = ONNXL_KIND_TENSOR, .elem_type = value->elem_type };
    if (element)
      element->elem_type = type_of(item ? item : &empty, false, arena);
    *(value->kind == ONNXL_KIND_SEQUENCE ? &type->sequence_type : &type->optional_type) = element;
  }
  return type;
}

OnnxlType *
onnxl_value_type(const OnnxlValue *value, OnnxlArena *arena)
{
  OnnxlType *type = type_of(value, true, arena);
  return onnxl_arena_exhausted(arena) ? NULL : type;
}
