/* Rules for attributes by themselves; whether the operator has them is a rule for nodes. */
#include "check/check-internal.h"

static void
attribute_name(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (at->attribute->name.size == 0)
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE, "an attribute has no name");
}
ONNXL_RULE(attribute_name, ON(ATTRIBUTE), NO_NEEDS, ONNXL_DIAG_ATTRIBUTE_VALUE);

/* The value fields that are set, as a set of the types that they belong to. */
static uint32_t
fields_set(const OnnxlAttribute *a)
{
  return (uint32_t)a->has_f << ONNXL_ATTRIBUTE_FLOAT | (uint32_t)a->has_i << ONNXL_ATTRIBUTE_INT |
         (uint32_t)(a->s.data != NULL) << ONNXL_ATTRIBUTE_STRING | (uint32_t)(a->t != NULL) << ONNXL_ATTRIBUTE_TENSOR |
         (uint32_t)(a->g != NULL) << ONNXL_ATTRIBUTE_GRAPH |
         (uint32_t)(a->sparse_tensor != NULL) << ONNXL_ATTRIBUTE_SPARSE_TENSOR |
         (uint32_t)(a->tp != NULL) << ONNXL_ATTRIBUTE_TYPE_PROTO |
         (uint32_t)(a->floats.count > 0) << ONNXL_ATTRIBUTE_FLOATS |
         (uint32_t)(a->ints.count > 0) << ONNXL_ATTRIBUTE_INTS |
         (uint32_t)(a->strings.count > 0) << ONNXL_ATTRIBUTE_STRINGS |
         (uint32_t)(a->tensors.count > 0) << ONNXL_ATTRIBUTE_TENSORS |
         (uint32_t)(a->graphs.count > 0) << ONNXL_ATTRIBUTE_GRAPHS |
         (uint32_t)(a->sparse_tensors.count > 0) << ONNXL_ATTRIBUTE_SPARSE_TENSORS |
         (uint32_t)(a->type_protos.count > 0) << ONNXL_ATTRIBUTE_TYPE_PROTOS;
}

/* Types whose value may be absent: lists may be empty, and writers of proto3 leave out 0 and the empty string. */
static bool
may_be_absent(int32_t type)
{
  return type != ONNXL_ATTRIBUTE_TENSOR && type != ONNXL_ATTRIBUTE_GRAPH && type != ONNXL_ATTRIBUTE_SPARSE_TENSOR &&
         type != ONNXL_ATTRIBUTE_TYPE_PROTO;
}

static void
attribute_value(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlAttribute *attribute = at->attribute;
  int32_t type = attribute->has_type ? attribute->type : ONNXL_ATTRIBUTE_UNDEFINED;
  const char *name = type == ONNXL_ATTRIBUTE_UNDEFINED ? NULL : onnxl_attribute_type_name(type);
  uint32_t set = fields_set(attribute);

  if (!name && (attribute->has_type || onnxl_check_ir(check) >= 2))
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE,
                       attribute->has_type ? "attribute '%.*s' has the unknown type %d"
                                           : "attribute '%.*s' has no type",
                       ONNXL_ARG(attribute->name), type);
  else if (set & (set - 1))
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE, "attribute '%.*s' has values in two fields, %s and %s",
                       ONNXL_ARG(attribute->name), onnxl_attribute_type_name(__builtin_ctz(set)),
                       onnxl_attribute_type_name(__builtin_ctz(set & (set - 1))));
  else if (attribute->ref_attr_name.size > 0 && set)
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE, "attribute '%.*s' has both a value and a reference",
                       ONNXL_ARG(attribute->name));
  else if (name && set && set != 1u << type)
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE, "attribute '%.*s' is %s and has its value in %s",
                       ONNXL_ARG(attribute->name), name, onnxl_attribute_type_name(__builtin_ctz(set)));
  else if (!set && attribute->ref_attr_name.size == 0 && !may_be_absent(type))
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_VALUE, "attribute '%.*s' is %s and has no value",
                       ONNXL_ARG(attribute->name), name);
}
ONNXL_RULE(attribute_value, ON(ATTRIBUTE), NEEDS(ir_version), ONNXL_DIAG_ATTRIBUTE_VALUE);

/* References are for the bodies of functions, and name an attribute of theirs. */
static void
attribute_reference(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  OnnxlStr name = at->attribute->ref_attr_name;
  const OnnxlFunction *function = check->body->function;

  if (name.size == 0)
    return;
  if (!function) {
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_REFERENCE,
                       "attribute '%.*s' refers to '%.*s' outside of a function", ONNXL_ARG(at->attribute->name),
                       ONNXL_ARG(name));
    return;
  }
  if (!onnxl_check_function_has(check, function, name))
    onnxl_check_report(check, at, ONNXL_DIAG_ATTRIBUTE_REFERENCE,
                       "attribute '%.*s' refers to '%.*s', which function %.*s does not have",
                       ONNXL_ARG(at->attribute->name), ONNXL_ARG(name), ONNXL_ARG(function->name));
}
ONNXL_RULE(attribute_reference, ON(ATTRIBUTE), NO_NEEDS, ONNXL_DIAG_ATTRIBUTE_REFERENCE);
