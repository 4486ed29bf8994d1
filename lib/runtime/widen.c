#include "runtime/widen-internal.h"

#include "runtime/tensor.h"
#include "support/float-formats.h"

enum { MAX_CONSTRAINTS = 32 };

/* A plain value is taken where an optional one is allowed: it stands for one that is there. */
static bool
allows(const OnnxlParamType *type, const OnnxlValue *value)
{
  uint32_t bit = UINT32_C(1) << (value->elem_type & 31);
  switch (value->kind) {
  case ONNXL_KIND_TENSOR:
    return ((type->tensor | type->optional_tensor) & bit) != 0 || (type->tensor == 0 && type->others);
  case ONNXL_KIND_SEQUENCE:
    return ((type->sequence | type->optional_sequence) & bit) != 0 || type->others ||
           (type->sequence != 0 && value->elem_type == 0);
  case ONNXL_KIND_OPTIONAL:
    return ((type->optional_tensor | type->optional_sequence) & bit) != 0 || type->others ||
           ((type->optional_tensor | type->optional_sequence) != 0 && value->elem_type == 0);
  default:
    return type->others;
  }
}

static const OnnxlOpParam *
input_param(const OnnxlOpSchema *schema, uint32_t i, uint32_t *ret_index)
{
  if (schema->n_inputs == 0)
    return NULL;
  *ret_index = MIN(i, schema->n_inputs - 1u);
  return &schema->inputs[*ret_index];
}

/* Also finds the element type that each constraint has taken. */
static bool
check_types(const OnnxlKernelContext *context, int32_t bound[MAX_CONSTRAINTS], GError **error)
{
  const OnnxlOpSchema *schema = context->step->schema;
  for (uint32_t i = 0; i < context->n_inputs; i++) {
    const OnnxlValue *value = context->inputs[i];
    uint32_t p;
    const OnnxlOpParam *param = input_param(schema, i, &p);
    if (!value && param && (param->option == ONNXL_PARAM_SINGLE || param->option == ONNXL_PARAM_VARIADIC))
      return onnxl_ctx_invalid(context, error, "the input %s has no value", param->name);
    if (value && param && param->is_list && value->kind == ONNXL_KIND_TENSOR && value->rank != 1) {
      g_autofree char *text = onnxl_value_describe(value);
      return onnxl_ctx_invalid(context, error, "the input %s is %s when a list is needed", param->name, text);
    }
    if (!value || !param || context->step->types[p].constraint == -2)
      continue;
    const OnnxlParamType *type = &context->step->types[p];
    bool same = true;
    if (type->constraint >= 0 && type->constraint < MAX_CONSTRAINTS && value->elem_type != 0) {
      int32_t *taken = &bound[type->constraint];
      same = *taken == 0 || *taken == value->elem_type;
      *taken = *taken ? *taken : value->elem_type;
    }
    if (allows(type, value) && same)
      continue;
    char *text = onnxl_value_describe(value);
    if (same)
      onnxl_ctx_invalid(context, error, "the input %s is %s, which %s-%d does not take", param->name, text,
                        schema->name, schema->since);
    else
      onnxl_ctx_invalid(context, error, "the input %s is %s when another input of the same type is %s", param->name,
                        text, onnxl_data_type_name(bound[type->constraint]));
    g_free(text);
    return false;
  }
  return true;
}

/* The type that stands in for elem_type inside a kernel; the same type where it is taken as it is. */
static int32_t
wide_type(OnnxlKernelTypes types, int32_t elem_type)
{
  uint32_t bits = onnxl_data_type_bits(elem_type);
  if (types == ONNXL_KERNEL_EXACT || bits == 0)
    return elem_type;
  if (types == ONNXL_KERNEL_MOVES)
    return bits < 8 ? ONNXL_TYPE_UINT8 : elem_type;
  if (onnxl_type_is_float(elem_type) && bits < 32)
    return ONNXL_TYPE_FLOAT;
  if (bits < 8)
    return onnxl_type_is_signed(elem_type) ? ONNXL_TYPE_INT8 : ONNXL_TYPE_UINT8;
  return elem_type;
}

OnnxlValue *
onnxl_unpack_tensor(OnnxlAllocator *allocator, const OnnxlValue *tensor, GError **error)
{
  OnnxlValue *result =
    onnxl_value_new_tensor(allocator, ONNXL_TYPE_UINT8, tensor->rank, tensor->dims, "a converted tensor", error);
  if (result)
    onnxl_unpack(tensor->data, (size_t)tensor->count, onnxl_data_type_bits(tensor->elem_type), false, result->data);
  return result;
}

OnnxlValue *
onnxl_pack_tensor(OnnxlAllocator *allocator, const OnnxlValue *bytes, int32_t elem_type, GError **error)
{
  OnnxlValue *result =
    onnxl_value_new_tensor(allocator, elem_type, bytes->rank, bytes->dims, "a converted tensor", error);
  if (result)
    onnxl_pack(bytes->data, (size_t)bytes->count, onnxl_data_type_bits(elem_type), result->data);
  return result;
}

static OnnxlValue *
convert(const OnnxlKernelContext *context, const OnnxlValue *value, int32_t elem_type, GError **error)
{
  OnnxlAllocator *allocator = onnxl_ctx_allocator(context);
  if (context->step->kernel->types == ONNXL_KERNEL_COMPUTES) {
    const OnnxlCastOptions options = { .saturate = true };
    return onnxl_tensor_cast(allocator, value, elem_type, &options, error);
  }
  return onnxl_data_type_bits(value->elem_type) < 8 ? onnxl_unpack_tensor(allocator, value, error)
                                                    : onnxl_pack_tensor(allocator, value, elem_type, error);
}

static bool
narrow_outputs(OnnxlKernelContext *context, const int32_t bound[MAX_CONSTRAINTS], GError **error)
{
  const OnnxlOpSchema *schema = context->step->schema;
  OnnxlKernelTypes types = context->step->kernel->types;
  for (uint32_t i = 0; i < context->n_outputs && schema->n_outputs > 0; i++) {
    OnnxlValue *value = context->outputs[i];
    const OnnxlParamType *type = &context->step->types[schema->n_inputs + MIN(i, schema->n_outputs - 1u)];
    if (!value || value->kind != ONNXL_KIND_TENSOR || type->constraint < 0 || type->constraint >= MAX_CONSTRAINTS)
      continue;
    int32_t taken = bound[type->constraint];
    if (taken == 0 || wide_type(types, taken) == taken || value->elem_type != wide_type(types, taken))
      continue;
    OnnxlValue *narrow = convert(context, value, taken, error);
    if (!narrow)
      return false;
    onnxl_ctx_set_output(context, i, narrow);
  }
  return true;
}

bool
onnxl_run_kernel(OnnxlKernelContext *context, GError **error)
{
  const OnnxlKernel *kernel = context->step->kernel;
  int32_t bound[MAX_CONSTRAINTS] = { 0 };
  if (!check_types(context, bound, error))
    return false;
  bool converted = false;
  for (uint32_t i = 0; i < context->n_inputs; i++) {
    OnnxlValue *value = context->inputs[i];
    if (!value || value->kind != ONNXL_KIND_TENSOR)
      continue;
    int32_t wide = wide_type(kernel->types, value->elem_type);
    if (wide == value->elem_type)
      continue;
    OnnxlValue *copy = convert(context, value, wide, error);
    if (!copy)
      return false;
    onnxl_value_unref(value);
    context->inputs[i] = copy;
    converted = true;
  }
  return kernel->run(context, error) && (!converted || narrow_outputs(context, bound, error));
}
