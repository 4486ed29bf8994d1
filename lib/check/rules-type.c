/* Rules for types: that they are well formed, and that operators take them. */
#include "check/check-internal.h"

#include "ops/type-sets.h"

/* The ir_version that brought an element type. */
static int64_t
type_since(int32_t type)
{
  switch (type) {
  case ONNXL_TYPE_BFLOAT16:
    return 4;
  case ONNXL_TYPE_FLOAT8E4M3FN:
  case ONNXL_TYPE_FLOAT8E4M3FNUZ:
  case ONNXL_TYPE_FLOAT8E5M2:
  case ONNXL_TYPE_FLOAT8E5M2FNUZ:
    return 9;
  case ONNXL_TYPE_UINT4:
  case ONNXL_TYPE_INT4:
    return 10;
  case ONNXL_TYPE_FLOAT4E2M1:
    return 11;
  case ONNXL_TYPE_FLOAT8E8M0:
    return 12;
  case ONNXL_TYPE_UINT2:
  case ONNXL_TYPE_INT2:
    return 13;
  default:
    return 0;
  }
}

/* A part of a type, and how strictly to look at it. */
typedef struct TypeCheck {
  OnnxlCheck *check;
  const OnnxlCheckPlace *at;
  bool must_be_known; /* the type of a main graph's input or output */
} TypeCheck;

static void check_type(const TypeCheck *t, const OnnxlType *type, const char *what);

static void
check_elem(const TypeCheck *t, bool has_type, int32_t type, const char *what)
{
  const char *name = onnxl_data_type_name(type);

  if (!has_type || type == ONNXL_TYPE_UNDEFINED) {
    if (t->must_be_known)
      onnxl_check_report(t->check, t->at, ONNXL_DIAG_VALUE_TYPE, "%s has no element type", what);
  } else if (!name) {
    onnxl_check_report(t->check, t->at, ONNXL_DIAG_VALUE_TYPE, "%s has the unknown element type %d", what, type);
  } else {
    onnxl_check_since(t->check, t->at, type_since(type), ONNXL_DIAG_IR_FEATURE_DATA, name);
  }
}

static void
check_tensor_type(const TypeCheck *t, const OnnxlTensorType *type, const char *what)
{
  check_elem(t, type->has_elem_type, type->elem_type, what);
  for (size_t i = 0; type->shape && i < type->shape->dim.count; i++) {
    const OnnxlDimension *dim = &type->shape->dim.items[i];
    if (dim->has_dim_value && dim->dim_value < 0)
      onnxl_check_report(t->check, t->at, ONNXL_DIAG_DIM, "dimension %zu is %" G_GINT64_FORMAT ", which means unknown",
                         i, dim->dim_value);
    if (dim->dim_param.data && dim->dim_param.size == 0)
      onnxl_check_report(t->check, t->at, ONNXL_DIAG_DIM, "dimension %zu has an empty symbol", i);
  }
}

static void
check_map_type(const TypeCheck *t, const OnnxlMapType *type)
{
  const int32_t keys = T_INTS | T_STRING;

  if (type->key_type < 0 || type->key_type >= ONNXL_N_TYPES || !(keys >> type->key_type & 1))
    onnxl_check_report(t->check, t->at, ONNXL_DIAG_VALUE_TYPE,
                       "the keys of a map have element type %d when integers or strings are needed", type->key_type);
  check_type(t, type->value_type, "the value of a map");
}

static void
check_type(const TypeCheck *t, const OnnxlType *type, const char *what)
{
  if (!type)
    onnxl_check_report(t->check, t->at, ONNXL_DIAG_VALUE_TYPE, "%s has no type", what);
  else if (type->tensor_type)
    check_tensor_type(t, type->tensor_type, what);
  else if (type->sparse_tensor_type)
    check_tensor_type(t, type->sparse_tensor_type, what);
  else if (type->sequence_type)
    check_type(t, type->sequence_type->elem_type, "the element of a sequence");
  else if (type->optional_type)
    check_type(t, type->optional_type->elem_type, "the element of an optional");
  else if (type->map_type)
    check_map_type(t, type->map_type);
  else if (!type->opaque_type && t->must_be_known)
    onnxl_check_report(t->check, t->at, ONNXL_DIAG_VALUE_TYPE, "%s has an empty type", what);
}

/* Only the main graph must say what its inputs and outputs are. */
static void
value_type(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  bool is_main = at->kind != ONNXL_CHECK_VALUE_INFO && !check->body->is_training && !onnxl_check_is_nested(at->around);
  TypeCheck t = { check, at, is_main };

  if (at->info->type || is_main)
    check_type(&t, at->info->type, "the value");
}
ONNXL_RULE(value_type, ON(INPUT) | ON(OUTPUT) | ON(VALUE_INFO), NEEDS(ir_version), ONNXL_DIAG_VALUE_TYPE,
           ONNXL_DIAG_DIM, ONNXL_DIAG_IR_FEATURE_DATA);

static void
attribute_types(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  TypeCheck t = { check, at, true };

  if (at->attribute->tp)
    check_type(&t, at->attribute->tp, "the attribute");
  for (size_t i = 0; i < at->attribute->type_protos.count; i++)
    check_type(&t, &at->attribute->type_protos.items[i], "the attribute");
}
ONNXL_RULE(attribute_types, ON(ATTRIBUTE), NEEDS(ir_version), ONNXL_DIAG_VALUE_TYPE, ONNXL_DIAG_DIM,
           ONNXL_DIAG_IR_FEATURE_DATA);

static OnnxlCheckType
tensor_of(OnnxlCheckForm form, int32_t elem)
{
  return (OnnxlCheckType){ (uint8_t)form, elem > 0 && elem < ONNXL_N_TYPES ? (uint8_t)elem : 0 };
}

static OnnxlCheckType
declared(const OnnxlType *type)
{
  if (type->tensor_type)
    return tensor_of(ONNXL_FORM_TENSOR, type->tensor_type->elem_type);
  const OnnxlElementType *outer = type->sequence_type ? type->sequence_type : type->optional_type;
  if (outer && outer->elem_type) {
    const OnnxlType *inner = outer->elem_type;
    if (inner->tensor_type)
      return tensor_of(type->sequence_type ? ONNXL_FORM_SEQUENCE : ONNXL_FORM_OPTIONAL, inner->tensor_type->elem_type);
    if (type->optional_type && inner->sequence_type && inner->sequence_type->elem_type &&
        inner->sequence_type->elem_type->tensor_type)
      return tensor_of(ONNXL_FORM_OPTIONAL_SEQUENCE, inner->sequence_type->elem_type->tensor_type->elem_type);
  }
  bool known = outer || type->map_type || type->opaque_type || type->sparse_tensor_type;
  return (OnnxlCheckType){ known ? ONNXL_FORM_OTHER : ONNXL_FORM_UNKNOWN, 0 };
}

/* What is known of a value: its declaration, the initializer, or what its node's rule found. */
static OnnxlCheckType
type_of(const OnnxlCheck *check, uint32_t id)
{
  const OnnxlIndexValue *value = &check->body->index->values[id];

  if (value->initializer)
    return tensor_of(ONNXL_FORM_TENSOR, value->initializer->data_type);
  if (value->sparse) /* the same values as a dense one, stored in another way */
    return tensor_of(ONNXL_FORM_TENSOR, value->sparse->values ? value->sparse->values->data_type : 0);
  return value->info && value->info->type ? declared(value->info->type) : check->body->types[id];
}

/* An initializer that is an input, or has value_info, is of the declared type. */
static void
initializer_type(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlIndexGraph *graph = &check->body->index->graphs[at->index_graph];

  for (uint32_t i = 0; i < graph->n_initializers; i++) {
    uint32_t id = graph->initializers[i];
    const OnnxlIndexValue *value = id == ONNXL_NONE ? NULL : &check->body->index->values[id];
    if (!value || !value->initializer || !value->info || !value->info->type)
      continue;
    OnnxlCheckType type = declared(value->info->type), own = type_of(check, id);
    if (type.form == ONNXL_FORM_UNKNOWN || own.elem == 0 || type.elem == 0)
      continue;
    if (type.form != ONNXL_FORM_TENSOR || type.elem != own.elem)
      onnxl_check_report_part(
        check, at, value->name, ONNXL_DIAG_TYPE_MISMATCH, "initializer '%.*s' is %s and declared as %s%s",
        ONNXL_ARG(value->name), onnxl_data_type_name(own.elem),
        type.form == ONNXL_FORM_TENSOR ? "" : "something else of ", onnxl_data_type_name(type.elem));
  }
}
ONNXL_RULE(initializer_type, ON(GRAPH), NEEDS(resolved), ONNXL_DIAG_TYPE_MISMATCH);

static char *
type_text(OnnxlCheckType type)
{
  static const char *const forms[] = {
    [ONNXL_FORM_UNKNOWN] = "unknown",
    [ONNXL_FORM_TENSOR] = "tensor(%s)",
    [ONNXL_FORM_SEQUENCE] = "seq(tensor(%s))",
    [ONNXL_FORM_OPTIONAL] = "optional(tensor(%s))",
    [ONNXL_FORM_OPTIONAL_SEQUENCE] = "optional(seq(tensor(%s)))",
    [ONNXL_FORM_OTHER] = "another type",
  };
  const char *elem = type.elem ? onnxl_data_type_name(type.elem) : "?";
  const char *marker = strstr(forms[type.form], "%s");

  if (!marker)
    return g_strdup(forms[type.form]);
  return g_strdup_printf("%.*s%s%s", (int)(marker - forms[type.form]), forms[type.form], elem, marker + 2);
}

static const OnnxlOpConstraint *
find_constraint(const OnnxlOpSchema *schema, const char *name)
{
  for (uint8_t i = 0; i < schema->n_constraints; i++)
    if (strcmp(schema->constraints[i].name, name) == 0)
      return &schema->constraints[i];
  return NULL;
}

/* The type that a parameter's text writes out, "tensor(int64)". */
static OnnxlCheckType
written_type(const char *text)
{
  if (!g_str_has_prefix(text, "tensor(") || !g_str_has_suffix(text, ")"))
    return (OnnxlCheckType){ ONNXL_FORM_UNKNOWN, 0 };
  OnnxlStr name = onnxl_str_n(text + strlen("tensor("), strlen(text) - strlen("tensor()"));
  return tensor_of(ONNXL_FORM_TENSOR, onnxl_data_type_from_name(name));
}

static bool
allows(const OnnxlOpConstraint *constraint, OnnxlCheckType type)
{
  const uint32_t sets[] = {
    [ONNXL_FORM_TENSOR] = constraint->tensor,
    [ONNXL_FORM_SEQUENCE] = constraint->sequence,
    [ONNXL_FORM_OPTIONAL] = constraint->optional_tensor,
    [ONNXL_FORM_OPTIONAL_SEQUENCE] = constraint->optional_sequence,
  };

  if (type.form == ONNXL_FORM_OTHER)
    return constraint->others != NULL;
  return type.elem == 0 ? sets[type.form] != 0 : sets[type.form] >> type.elem & 1;
}

/* What the type variables of one node stand for. */
typedef struct Operands {
  OnnxlCheck *check;
  const OnnxlCheckPlace *at;
  OnnxlCheckType bound[UINT8_MAX]; /* by number of the constraint; OTHER after a finding */
} Operands;

static bool
takes(const OnnxlOpParam *param, const OnnxlOpConstraint *constraint, OnnxlCheckType type)
{
  if (constraint)
    return allows(constraint, type);
  OnnxlCheckType wanted = written_type(param->type);
  return wanted.form == ONNXL_FORM_UNKNOWN ||
         (type.form == wanted.form && (type.elem == 0 || type.elem == wanted.elem));
}

/* The first operand of a type variable says what it stands for, the others must agree. */
static void
bind_variable(Operands *o, OnnxlCheckType *bound, OnnxlStr name, OnnxlCheckType type, const OnnxlOpParam *param,
              const char *what)
{
  if (type.elem == 0 || type.form == ONNXL_FORM_OTHER)
    return;
  if (bound->form == ONNXL_FORM_UNKNOWN) {
    *bound = type;
  } else if (bound->form != type.form || bound->elem != type.elem) {
    g_autofree char *first = type_text(*bound), *text = type_text(type);
    onnxl_check_report(o->check, o->at, ONNXL_DIAG_TYPE_MISMATCH, "%s '%.*s' (%s) is %s when %s of %s is %s already",
                       what, ONNXL_ARG(name), param->name, text, param->type, o->at->schema->name, first);
  }
}

static void
check_operand(Operands *o, OnnxlStr name, OnnxlCheckType type, const OnnxlOpParam *param, const char *what)
{
  const OnnxlOpSchema *schema = o->at->schema;
  const OnnxlOpConstraint *constraint = find_constraint(schema, param->type);
  OnnxlCheckType *bound = constraint ? &o->bound[constraint - schema->constraints] : NULL;

  if (type.form == ONNXL_FORM_UNKNOWN || (bound && bound->form == ONNXL_FORM_OTHER))
    return;
  if (!takes(param, constraint, type)) {
    g_autofree char *text = type_text(type);
    onnxl_check_report(o->check, o->at, ONNXL_DIAG_OPERAND_TYPE, "%s '%.*s' (%s) is %s, which %s does not take there",
                       what, ONNXL_ARG(name), param->name, text, schema->name);
    if (bound)
      bound->form = ONNXL_FORM_OTHER; /* so that nothing is said of the variable's other operands */
  } else if (bound && !(param->option == ONNXL_PARAM_VARIADIC && param->heterogeneous)) {
    bind_variable(o, bound, name, type, param, what);
  }
}

static const OnnxlOpParam *
param_at(const OnnxlOpParam *params, uint8_t n_params, size_t i)
{
  return n_params == 0 ? NULL : &params[MIN(i, (size_t)n_params - 1)];
}

/* What an output is when nobody has declared it. */
static OnnxlCheckType
inferred(const Operands *o, const OnnxlOpParam *param)
{
  const OnnxlOpSchema *schema = o->at->schema;
  const OnnxlOpConstraint *constraint = find_constraint(schema, param->type);

  if (!constraint)
    return written_type(param->type);
  if (param->option == ONNXL_PARAM_VARIADIC && param->heterogeneous)
    return (OnnxlCheckType){ 0 };
  OnnxlCheckType bound = o->bound[constraint - schema->constraints];
  return bound.form == ONNXL_FORM_OTHER ? (OnnxlCheckType){ 0 } : bound;
}

static void
operand_types(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlOpSchema *schema = at->schema;
  const OnnxlIndexNode *node = &check->body->index->nodes[at->id];
  Operands o = { check, at };

  if (!schema)
    return;
  memset(o.bound, 0, schema->n_constraints * sizeof *o.bound);
  for (uint32_t i = 0; i < node->n_inputs; i++) {
    const OnnxlOpParam *param = param_at(schema->inputs, schema->n_inputs, i);
    if (param && node->inputs[i] != ONNXL_NONE)
      check_operand(&o, node->proto->input.items[i], type_of(check, node->inputs[i]), param, "input");
  }
  for (uint32_t i = 0; i < node->n_outputs; i++) {
    const OnnxlOpParam *param = param_at(schema->outputs, schema->n_outputs, i);
    if (!param || node->outputs[i] == ONNXL_NONE)
      continue;
    OnnxlCheckType type = type_of(check, node->outputs[i]);
    check_operand(&o, node->proto->output.items[i], type, param, "output");
    if (type.form == ONNXL_FORM_UNKNOWN)
      check->body->types[node->outputs[i]] = inferred(&o, param);
  }
}
ONNXL_RULE(operand_types, ON(NODE), NEEDS(resolved) | NEEDS(arity), ONNXL_DIAG_OPERAND_TYPE, ONNXL_DIAG_TYPE_MISMATCH);
