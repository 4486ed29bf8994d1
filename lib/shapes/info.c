/* What is known of a value: made from declarations and stored tensors, joined, measured, printed. */
#include "shapes/shape-internal.h"

#include "proto/tensor.h"
#include "support/size.h"

/* Types nest (sequences of optionals of …); deeper ones are taken as unknown. */
#define MAX_TYPE_DEPTH 16

static void
from_tensor_type(OnnxlShapeRun *run, const OnnxlTensorType *type, OnnxlSymbolKind kind, OnnxlInfo *info)
{
  info->elem_type = type->elem_type > 0 && type->elem_type < ONNXL_N_TYPES ? type->elem_type : 0;
  if (!type->shape || type->shape->dim.count > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, type->shape->dim.count);
  if (!dims)
    return;
  info->has_rank = true;
  info->rank = (uint32_t)type->shape->dim.count;
  info->dims = dims;
  for (uint32_t i = 0; i < info->rank; i++)
    dims[i] = onnxl_shape_declared(run, &type->shape->dim.items[i], kind);
}

static const OnnxlInfo *from_type(OnnxlShapeRun *run, const OnnxlType *type, OnnxlSymbolKind kind, unsigned depth);

static void
fill_from_type(OnnxlShapeRun *run, const OnnxlType *type, OnnxlSymbolKind kind, unsigned depth, OnnxlInfo *info)
{
  *info = (OnnxlInfo){ 0 };
  if (type->tensor_type) {
    info->kind = ONNXL_KIND_TENSOR;
    from_tensor_type(run, type->tensor_type, kind, info);
  } else if (type->sparse_tensor_type) {
    info->kind = ONNXL_KIND_SPARSE_TENSOR;
    from_tensor_type(run, type->sparse_tensor_type, kind, info);
  } else if (type->sequence_type) {
    info->kind = ONNXL_KIND_SEQUENCE;
    info->element = from_type(run, type->sequence_type->elem_type, kind, depth + 1);
  } else if (type->optional_type) {
    info->kind = ONNXL_KIND_OPTIONAL;
    info->element = from_type(run, type->optional_type->elem_type, kind, depth + 1);
  } else if (type->map_type) {
    info->kind = ONNXL_KIND_MAP;
    info->elem_type = type->map_type->key_type;
    info->element = from_type(run, type->map_type->value_type, kind, depth + 1);
  } else if (type->opaque_type) {
    info->kind = ONNXL_KIND_OPAQUE;
  }
}

static const OnnxlInfo *
from_type(OnnxlShapeRun *run, const OnnxlType *type, OnnxlSymbolKind kind, unsigned depth)
{
  if (!type || depth > MAX_TYPE_DEPTH)
    return NULL;
  OnnxlInfo *info = ONNXL_NEW(run->arena, OnnxlInfo);
  if (info)
    fill_from_type(run, type, kind, depth, info);
  return info;
}

void
onnxl_info_from_type(OnnxlShapeRun *run, const OnnxlType *type, OnnxlSymbolKind kind, OnnxlInfo *ret_info)
{
  fill_from_type(run, type, kind, 0, ret_info);
}

static bool
is_integer(int32_t type)
{
  switch (type) {
  case ONNXL_TYPE_UINT8:
  case ONNXL_TYPE_INT8:
  case ONNXL_TYPE_UINT16:
  case ONNXL_TYPE_INT16:
  case ONNXL_TYPE_INT32:
  case ONNXL_TYPE_INT64:
  case ONNXL_TYPE_BOOL:
  case ONNXL_TYPE_UINT32:
  case ONNXL_TYPE_UINT64:
    return true;
  default:
    return false;
  }
}

static bool
is_real(int32_t type)
{
  return type == ONNXL_TYPE_FLOAT || type == ONNXL_TYPE_DOUBLE || type == ONNXL_TYPE_FLOAT16 ||
         type == ONNXL_TYPE_BFLOAT16;
}

/* External integers of 32 and 64 bits, which is what target shapes are made of. */
static bool
external_values(OnnxlShapeRun *run, const OnnxlTensor *tensor, uint32_t count, int64_t *dest)
{
  uint8_t bytes[8 * ONNXL_SHAPE_MAX_CONTENTS];
  bool wide = tensor->data_type == ONNXL_TYPE_INT64;
  if (!run->options.read_external || (!wide && tensor->data_type != ONNXL_TYPE_INT32) ||
      !run->options.read_external(run->options.read_external_data, tensor, bytes, (size_t)count * (wide ? 8 : 4)))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    int64_t value;
    int32_t narrow;
    if (wide) {
      memcpy(&value, bytes + 8 * (size_t)i, 8);
      dest[i] = GINT64_FROM_LE(value);
    } else {
      memcpy(&narrow, bytes + 4 * (size_t)i, 4);
      dest[i] = GINT32_FROM_LE(narrow);
    }
  }
  return true;
}

static void
set_contents(OnnxlShapeRun *run, const OnnxlTensor *tensor, uint32_t count, OnnxlInfo *info)
{
  int64_t values[ONNXL_SHAPE_MAX_CONTENTS];
  OnnxlTensorView view;
  GError *error = NULL;
  OnnxlDiagSink *ignored = onnxl_diag_sink_new(NULL); /* wrong tensors are found by those who use their values */
  bool ok = onnxl_tensor_view(tensor, NULL, ignored, &view, &error);
  g_clear_error(&error);
  onnxl_diag_sink_free(ignored);
  if (!ok || (view.storage == ONNXL_STORAGE_NONE && count > 0))
    return;
  bool external = view.storage == ONNXL_STORAGE_EXTERNAL;
  if (is_real(tensor->data_type)) {
    double *reals = external ? NULL : ONNXL_NEW_ARRAY(run->arena, double, count);
    if (!reals || !onnxl_tensor_doubles(&view, reals, count))
      return;
    info->reals = reals;
    info->n_contents = count;
    return;
  }
  if (external ? !external_values(run, tensor, count, values) : !onnxl_tensor_int64s(&view, values, count))
    return;
  OnnxlExpr *contents = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, count);
  if (!contents)
    return;
  for (uint32_t i = 0; i < count; i++) {
    bool wrapped = tensor->data_type == ONNXL_TYPE_UINT64 && values[i] < 0;
    int64_t value = tensor->data_type == ONNXL_TYPE_BOOL ? values[i] != 0 : values[i]; /* true may be any byte but 0 */
    contents[i] = wrapped ? NULL : onnxl_expr_int(run->pool, value);
  }
  info->has_contents = true;
  info->n_contents = count;
  info->contents = contents;
}

void
onnxl_info_from_tensor(OnnxlShapeRun *run, const OnnxlTensor *tensor, OnnxlInfo *ret_info)
{
  *ret_info = (OnnxlInfo){ .kind = ONNXL_KIND_TENSOR };
  if (tensor->data_type > 0 && tensor->data_type < ONNXL_N_TYPES)
    ret_info->elem_type = tensor->data_type;
  if (tensor->dims.count > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, tensor->dims.count);
  if (!dims)
    return;
  for (size_t i = 0; i < tensor->dims.count; i++)
    dims[i] = tensor->dims.items[i] < 0 ? NULL : onnxl_expr_int(run->pool, tensor->dims.items[i]);
  ret_info->has_rank = true;
  ret_info->rank = (uint32_t)tensor->dims.count;
  ret_info->dims = dims;
  int64_t count;
  if (onnxl_shape_count(tensor->dims.items, tensor->dims.count, &count) && count <= ONNXL_SHAPE_MAX_CONTENTS &&
      (is_integer(tensor->data_type) || is_real(tensor->data_type)))
    set_contents(run, tensor, (uint32_t)count, ret_info);
}

void
onnxl_info_from_sparse(OnnxlShapeRun *run, const OnnxlSparseTensor *sparse, OnnxlInfo *ret_info)
{
  OnnxlTensor dense = { .dims = sparse->dims };
  if (sparse->values)
    dense.data_type = sparse->values->data_type;
  onnxl_info_from_tensor(run, &dense, ret_info);
  /* It stands for a dense tensor wherever it is used; its values are not followed. */
  ret_info->has_contents = false;
  ret_info->n_contents = 0;
  ret_info->contents = NULL;
  ret_info->reals = NULL;
}

static const OnnxlInfo *
join_elements(OnnxlShapeRun *run, const OnnxlInfo *a, const OnnxlInfo *b)
{
  if (!a || !b)
    return NULL;
  OnnxlInfo *element = ONNXL_NEW(run->arena, OnnxlInfo);
  if (element)
    onnxl_info_join(run, a, b, element);
  return element;
}

/* An empty sequence says nothing about the elements of the other one. */
static void
join_sequences(OnnxlShapeRun *run, const OnnxlInfo *a, const OnnxlInfo *b, OnnxlInfo *info)
{
  bool a_empty = a->has_contents && a->n_contents == 0, b_empty = b->has_contents && b->n_contents == 0;
  info->element = a_empty ? b->element : b_empty ? a->element : join_elements(run, a->element, b->element);
  info->has_contents = a->has_contents && b->has_contents && a->n_contents == b->n_contents;
  info->n_contents = info->has_contents ? a->n_contents : 0;
}

void
onnxl_info_join(OnnxlShapeRun *run, const OnnxlInfo *a, const OnnxlInfo *b, OnnxlInfo *ret_info)
{
  OnnxlInfo info = { 0 };
  if (a->kind == b->kind) {
    info.kind = a->kind;
    if (a->elem_type == b->elem_type)
      info.elem_type = a->elem_type;
    if (a->kind == ONNXL_KIND_SEQUENCE)
      join_sequences(run, a, b, &info);
    else
      info.element = join_elements(run, a->element, b->element);
    if (a->has_rank && b->has_rank && a->rank == b->rank) {
      OnnxlExpr *dims = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, a->rank);
      info.has_rank = dims != NULL;
      info.rank = a->rank;
      info.dims = dims;
      for (uint32_t i = 0; dims && i < a->rank; i++)
        dims[i] = a->dims[i] == b->dims[i] ? a->dims[i] : NULL;
    }
    if (a->contents && b->contents && a->n_contents == b->n_contents) {
      OnnxlExpr *contents = ONNXL_NEW_ARRAY(run->arena, OnnxlExpr, a->n_contents);
      info.has_contents = contents != NULL;
      info.n_contents = a->n_contents;
      info.contents = contents;
      for (uint32_t i = 0; contents && i < a->n_contents; i++)
        contents[i] = a->contents[i] == b->contents[i] ? a->contents[i] : NULL;
    } else if (a->reals && b->reals && a->n_contents == b->n_contents &&
               memcmp(a->reals, b->reals, a->n_contents * sizeof *a->reals) == 0) {
      info.reals = a->reals;
      info.n_contents = a->n_contents;
    }
  }
  *ret_info = info;
}

bool
onnxl_info_equal(const OnnxlInfo *a, const OnnxlInfo *b)
{
  if (a->kind != b->kind || a->elem_type != b->elem_type || a->has_rank != b->has_rank ||
      a->has_contents != b->has_contents || !a->element != !b->element || !a->reals != !b->reals)
    return false;
  if (a->has_rank && (a->rank != b->rank || (a->rank > 0 && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) != 0)))
    return false;
  if ((a->has_contents || a->reals) && a->n_contents != b->n_contents)
    return false;
  if (a->contents && b->contents && a->n_contents > 0 &&
      memcmp(a->contents, b->contents, a->n_contents * sizeof *a->contents) != 0)
    return false;
  if (a->reals && a->n_contents > 0 && memcmp(a->reals, b->reals, a->n_contents * sizeof *a->reals) != 0)
    return false;
  return !a->element || onnxl_info_equal(a->element, b->element);
}

OnnxlExpr
onnxl_info_count(OnnxlExprPool *pool, const OnnxlInfo *info)
{
  if (!info->has_rank)
    return NULL;
  OnnxlExpr count = onnxl_expr_int(pool, 1), zero = onnxl_expr_int(pool, 0);
  for (uint32_t i = 0; i < info->rank; i++) {
    if (info->dims[i] == zero) /* decides, whatever the others are */
      return zero;
    count = i == 0 ? info->dims[i] : onnxl_expr_mul(pool, count, info->dims[i]);
  }
  return count;
}

OnnxlExpr
onnxl_info_bytes(OnnxlExprPool *pool, const OnnxlInfo *info)
{
  uint32_t bits = info->kind == ONNXL_KIND_TENSOR ? onnxl_data_type_bits(info->elem_type) : 0;
  if (bits == 0)
    return NULL;
  OnnxlExpr count = onnxl_info_count(pool, info);
  if (bits >= 8)
    return onnxl_expr_mul(pool, count, onnxl_expr_int(pool, bits / 8));
  return onnxl_expr_ceil_div(pool, count, onnxl_expr_int(pool, 8 / bits));
}

static void
print_tensor(OnnxlOutput *out, const OnnxlInfo *info, const OnnxlExpr *dims)
{
  const char *name = onnxl_data_type_name(info->elem_type);
  onnxl_output_text(out, name ? name : "?");
  if (!info->has_rank) {
    onnxl_output_text(out, "[]");
    return;
  }
  for (uint32_t i = 0; i < info->rank; i++) {
    onnxl_output_char(out, i == 0 ? '[' : ',');
    onnxl_expr_print(out, dims[i]);
  }
  if (info->rank > 0)
    onnxl_output_char(out, ']');
}

static void
print_element(OnnxlOutput *out, const OnnxlInfo *element)
{
  if (element)
    onnxl_info_print(out, element, NULL);
  else
    onnxl_output_char(out, '?');
  onnxl_output_char(out, ')');
}

void
onnxl_info_print(OnnxlOutput *out, const OnnxlInfo *info, const OnnxlExpr *dims)
{
  if (!dims)
    dims = info->dims;
  switch (info->kind) {
  case ONNXL_KIND_TENSOR:
    print_tensor(out, info, dims);
    return;
  case ONNXL_KIND_SPARSE_TENSOR:
    onnxl_output_text(out, "sparse_tensor(");
    print_tensor(out, info, dims);
    onnxl_output_char(out, ')');
    return;
  case ONNXL_KIND_SEQUENCE:
    onnxl_output_text(out, "seq(");
    print_element(out, info->element);
    return;
  case ONNXL_KIND_OPTIONAL:
    onnxl_output_text(out, "optional(");
    print_element(out, info->element);
    return;
  case ONNXL_KIND_MAP: {
    const char *key = onnxl_data_type_name(info->elem_type);
    onnxl_output_text(out, "map(");
    onnxl_output_text(out, key ? key : "?");
    onnxl_output_text(out, ", ");
    print_element(out, info->element);
    return;
  }
  case ONNXL_KIND_OPAQUE:
    onnxl_output_text(out, "opaque()");
    return;
  case ONNXL_KIND_UNKNOWN:
    onnxl_output_char(out, '?');
    return;
  }
}
