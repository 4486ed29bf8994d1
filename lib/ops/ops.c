#include "ops/ops.h"

#include "ops/type-sets.h"

/* Columns of the schema. Only these are expanded here; the others are shown as text. */
#define ANY INT32_MAX
#define COUNTED(member, type, ...)                                                                                     \
  .member = (const type[]){ __VA_ARGS__ }, .n_##member = sizeof((const type[]){ __VA_ARGS__ }) / sizeof(type)

#define INPUTS(min, max, ...) .min_inputs = min, .max_inputs = max, COUNTED(inputs, OnnxlOpParam, __VA_ARGS__)
#define OUTPUTS(min, max, ...) .min_outputs = min, .max_outputs = max, COUNTED(outputs, OnnxlOpParam, __VA_ARGS__)
#define ONE(name, type) { #name, #type, ONNXL_PARAM_SINGLE, false }
#define OPT(name, type) { #name, #type, ONNXL_PARAM_OPTIONAL, false }
#define LIST(name, type) { #name, #type, ONNXL_PARAM_SINGLE, .is_list = true }
#define OPT_LIST(name, type) { #name, #type, ONNXL_PARAM_OPTIONAL, .is_list = true }
#define MANY(name, type) { #name, #type, ONNXL_PARAM_VARIADIC, false }
#define MIXED(name, type) { #name, #type, ONNXL_PARAM_VARIADIC, true }

#define ATTRIBUTES(...) COUNTED(attributes, OnnxlOpAttribute, __VA_ARGS__)
#define ATTR(name, type) { #name, "", ONNXL_ATTRIBUTE_##type, false }
#define REQUIRED(name, type) { #name, "", ONNXL_ATTRIBUTE_##type, true }
#define DEFAULT(name, type, ...) { #name, #__VA_ARGS__, ONNXL_ATTRIBUTE_##type, false } /* a list has commas */

#define CONSTRAINTS(...) COUNTED(constraints, OnnxlOpConstraint, __VA_ARGS__)
#define TYPE(name, set) { #name, .tensor = set }
#define TYPES(name, ...) { #name, __VA_ARGS__ }
#define TENSOR(set) .tensor = set
#define SEQUENCE(set) .sequence = set
#define OPTIONAL_TENSOR(set) .optional_tensor = set
#define OPTIONAL_SEQUENCE(set) .optional_sequence = set
#define OTHER(...) .others = (const char *const[]){ __VA_ARGS__, NULL }

#define FUNCTION_BODY .has_function_body = true
#define NONDETERMINISTIC .nondeterministic = true
#define DEPRECATED .deprecated = true

#define INPLACE_NONE 0
#define INPLACE_0 1
#define INPLACE_1 2
#define INPLACE_01 3
#define INPLACE_12 6
#define INPLACE_012 7
#define INPLACE_ALL UINT32_MAX

#define DOMAIN_ONNX ""
#define DOMAIN_ML "ai.onnx.ml"
#define DOMAIN_PREVIEW "ai.onnx.preview"
#define DOMAIN_TRAINING "ai.onnx.preview.training"
#define DOMAIN_MICROSOFT "com.microsoft"

static const OnnxlOpSchema schemas[ONNXL_N_OPS] = {
#define OP(id, op_name, version, rule, inputs, run, ...)                                                               \
  [ONNXL_OP_##id##_##op_name##_##version] = { .op = ONNXL_OP_##id##_##op_name##_##version,                             \
                                              .domain = DOMAIN_##id,                                     \
                                              .name = #op_name,                                                        \
                                              .since = version,                                                        \
                                              .inplace = INPLACE_##inputs,                                             \
                                              .shape_rule = #rule,                                                     \
                                              .kernel = #run,                                                          \
                                              __VA_ARGS__ },
#include "ops/all.def"
#undef OP
};

const OnnxlOpSchema *
onnxl_op_schema(OnnxlOp op)
{
  return &schemas[op];
}

/* Open addressing over (domain, name). The slots are filled at the first look-up, which takes some 20 µs; a table made when
 * the program is built would need a generator to keep in step with the rows. */
enum { N_SLOTS = 1024 };
static struct {
  uint16_t first; /* row of the oldest version */
  uint8_t n_rows; /* versions, which stand together; 0: an empty slot */
  uint8_t name_size;
} slots[N_SLOTS];

static uint32_t
first_slot(OnnxlStr domain, OnnxlStr name)
{
  return (uint32_t)(onnxl_str_hash(name) + domain.size) % N_SLOTS;
}

static void
fill_slots(void)
{
  for (uint32_t op = 0, n_rows; op < ONNXL_N_OPS; op += n_rows) {
    const OnnxlOpSchema *row = &schemas[op];
    for (n_rows = 1; op + n_rows < ONNXL_N_OPS; n_rows++)
      if (strcmp(row[n_rows].name, row->name) != 0 || strcmp(row[n_rows].domain, row->domain) != 0)
        break;
    uint32_t slot = first_slot(onnxl_str(row->domain), onnxl_str(row->name));
    while (slots[slot].n_rows)
      slot = (slot + 1) % N_SLOTS;
    slots[slot].first = (uint16_t)op;
    slots[slot].n_rows = (uint8_t)n_rows;
    slots[slot].name_size = (uint8_t)strlen(row->name);
  }
}

const OnnxlOpSchema *
onnxl_op_find(OnnxlStr domain, OnnxlStr op_type, int64_t opset)
{
  static gsize filled;
  if (g_once_init_enter(&filled)) {
    fill_slots();
    g_once_init_leave(&filled, 1);
  }

  domain = onnxl_domain_normal(domain);
  for (uint32_t slot = first_slot(domain, op_type); slots[slot].n_rows; slot = (slot + 1) % N_SLOTS) {
    const OnnxlOpSchema *rows = &schemas[slots[slot].first];
    if (op_type.size != slots[slot].name_size || memcmp(op_type.data, rows->name, op_type.size) != 0 ||
        !onnxl_str_is(domain, rows->domain))
      continue;
    for (uint32_t i = slots[slot].n_rows; i > 0; i--)
      if (rows[i - 1].since <= opset)
        return &rows[i - 1];
    return NULL;
  }
  return NULL;
}

int32_t
onnxl_op_newest(OnnxlStr domain)
{
  domain = onnxl_domain_normal(domain);
  int32_t newest = 0;
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++)
    if (onnxl_str_is(domain, schemas[op].domain))
      newest = MAX(newest, schemas[op].since);
  return newest;
}

/* The attribute as given, when it is a value of the wanted type (models from before IR version 2 store no type). */
static const OnnxlAttribute *
given_attribute(const OnnxlNode *node, const char *name, OnnxlAttributeType type)
{
  const OnnxlAttribute *attribute = onnxl_node_attribute(node, name);
  if (!attribute || attribute->ref_attr_name.size > 0 || (attribute->has_type && attribute->type != (int32_t)type))
    return NULL;
  return attribute;
}

static const char *
default_text(const OnnxlOpSchema *schema, const char *name, OnnxlAttributeType type)
{
  for (uint8_t i = 0; schema && i < schema->n_attributes; i++) {
    const OnnxlOpAttribute *attribute = &schema->attributes[i];
    if (strcmp(attribute->name, name) == 0)
      return attribute->type == type && attribute->default_text[0] ? attribute->default_text : NULL;
  }
  return NULL;
}

int64_t
onnxl_attr_int(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name)
{
  const OnnxlAttribute *attribute = given_attribute(node, name, ONNXL_ATTRIBUTE_INT);
  if (attribute)
    return attribute->i;
  const char *text = default_text(schema, name, ONNXL_ATTRIBUTE_INT);
  return text ? g_ascii_strtoll(text, NULL, 10) : 0;
}

float
onnxl_attr_float(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name)
{
  const OnnxlAttribute *attribute = given_attribute(node, name, ONNXL_ATTRIBUTE_FLOAT);
  if (attribute)
    return attribute->f;
  const char *text = default_text(schema, name, ONNXL_ATTRIBUTE_FLOAT);
  return text ? (float)g_ascii_strtod(text, NULL) : 0;
}

OnnxlStr
onnxl_attr_string(const OnnxlOpSchema *schema, const OnnxlNode *node, const char *name)
{
  const OnnxlAttribute *attribute = given_attribute(node, name, ONNXL_ATTRIBUTE_STRING);
  if (attribute)
    return attribute->s;
  /* Defaults are written with quotes and have no escapes. */
  OnnxlStr text = onnxl_str(default_text(schema, name, ONNXL_ATTRIBUTE_STRING));
  return text.size >= 2 ? onnxl_str_n(text.data + 1, text.size - 2) : onnxl_str(NULL);
}

OnnxlInt64List
onnxl_attr_ints(const OnnxlNode *node, const char *name)
{
  const OnnxlAttribute *attribute = given_attribute(node, name, ONNXL_ATTRIBUTE_INTS);
  return attribute ? attribute->ints : (OnnxlInt64List){ 0 };
}
