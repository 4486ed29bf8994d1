/* Rules for nodes: operators, counts, attributes, nested graphs. */
#include "check/check-internal.h"

/* The domains whose operators the standard defines. Others may have operators that nobody here knows. */
static bool
is_standard(OnnxlStr domain)
{
  return onnxl_op_newest(domain) > 0 && !onnxl_str_is(domain, "com.microsoft");
}

static bool
imports(const OnnxlOpsetList *list, OnnxlStr domain)
{
  for (size_t i = 0; i < list->count; i++)
    if (onnxl_str_equal(onnxl_domain_normal(list->items[i].domain), onnxl_domain_normal(domain)))
      return true;
  return false;
}

/* A domain that is not imported is reported at its first use. */
static void
node_domain(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlFunction *function = check->body->function;
  OnnxlStr domain = onnxl_domain_normal(at->node->domain);
  bool by_model = imports(&check->proto->opset_import, domain);

  if (function ? imports(&function->opset_import, domain) : by_model || at->version > 0)
    return;
  if (!onnxl_check_add(check, &check->body->domains, domain)) {
    check->failed = !by_model;
    return;
  }
  onnxl_check_report(check, at, by_model ? ONNXL_DIAG_OPSET_IMPORT_FUNCTION : ONNXL_DIAG_OPSET_IMPORT,
                     by_model ? "the function uses domain %.*s, which only the model imports"
                              : "no operator set of domain %.*s is imported",
                     ONNXL_ARG(onnxl_check_domain(domain)));
}
ONNXL_RULE(node_domain, ON(NODE), NO_NEEDS, ONNXL_DIAG_OPSET_IMPORT, ONNXL_DIAG_OPSET_IMPORT_FUNCTION);

/* Names the opset that brought the operator, if a later one did. */
static void
report_unknown(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlNode *node = at->node;
  const OnnxlOpSchema *later = onnxl_op_find(node->domain, node->op_type, INT32_MAX);

  while (later && later->op > 0 && strcmp(onnxl_op_schema(later->op - 1)->name, later->name) == 0)
    later = onnxl_op_schema(later->op - 1);
  if (later)
    onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_OPERATOR,
                       "%.*s came with opset %d of %.*s, the model imports %" G_GINT64_FORMAT, ONNXL_ARG(node->op_type),
                       later->since, ONNXL_ARG(onnxl_check_domain(node->domain)), at->version);
  else
    onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_OPERATOR,
                       "opset %" G_GINT64_FORMAT " of %.*s has no operator %.*s", at->version,
                       ONNXL_ARG(onnxl_check_domain(node->domain)), ONNXL_ARG(node->op_type));
}

static void
operator_known(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlNode *node = at->node;

  if (at->schema || at->callee)
    return;
  if (node->op_type.size == 0) {
    onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_OPERATOR, "the node has no op_type");
  } else if (is_standard(node->domain) && at->version <= onnxl_op_newest(node->domain)) {
    report_unknown(check, at);
  } else if (!check->functions) {
    check->failed = true; /* it may be one of the functions, which have findings of their own */
  } else {
    g_autofree char *key = g_strdup_printf("%.*s\n%.*s", ONNXL_ARG(node->domain), ONNXL_ARG(node->op_type));
    if (onnxl_map_get(&check->operators, onnxl_str(key)) == ONNXL_MAP_NONE &&
        onnxl_check_add(check, &check->operators, onnxl_arena_copy(check->arena, onnxl_str(key))))
      onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_OPERATOR_CUSTOM,
                         "%.*s of domain %.*s is not known, nor a function of the model", ONNXL_ARG(node->op_type),
                         ONNXL_ARG(onnxl_check_domain(node->domain)));
    check->failed = true; /* for the rules that need to know it */
  }
}
ONNXL_RULE(operator_known, ON(NODE), NEEDS(node_domain), ONNXL_DIAG_UNKNOWN_OPERATOR,
           ONNXL_DIAG_UNKNOWN_OPERATOR_CUSTOM);

/* An operator whose first version is marked was withdrawn in hindsight: models of its time have it, and tools run them.
 */
static void
operator_current(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlOpSchema *schema = at->schema;

  if (!schema || !schema->deprecated)
    return;
  bool is_first = schema->op == 0 || strcmp(onnxl_op_schema(schema->op - 1)->name, schema->name) != 0;
  if (is_first)
    onnxl_check_report(check, at, ONNXL_DIAG_DEPRECATED_OPERATOR_VERSION, "version %d of %s has been withdrawn",
                       schema->since, schema->name);
  else
    onnxl_check_report(check, at, ONNXL_DIAG_DEPRECATED_OPERATOR,
                       "%s is deprecated since opset %d, the model imports %" G_GINT64_FORMAT, schema->name,
                       schema->since, at->version);
}
ONNXL_RULE(operator_current, ON(NODE), NEEDS(operator_known), ONNXL_DIAG_DEPRECATED_OPERATOR,
           ONNXL_DIAG_DEPRECATED_OPERATOR_VERSION);

static void
check_count(OnnxlCheck *check, const OnnxlCheckPlace *at, size_t count, int64_t min, int64_t max, const char *what)
{
  const char *end = count == 1 ? "" : "s";

  if (count < (size_t)min)
    onnxl_check_report(check, at, ONNXL_DIAG_NODE_ARITY, "%zu %s%s when %.*s needs at least %" G_GINT64_FORMAT, count,
                       what, end, ONNXL_ARG(at->node->op_type), min);
  else if (count > (size_t)max)
    onnxl_check_report(check, at, ONNXL_DIAG_NODE_ARITY, "%zu %s%s when %.*s has at most %" G_GINT64_FORMAT, count,
                       what, end, ONNXL_ARG(at->node->op_type), max);
}

/* Only optional parameters may be left out by an empty name. */
static void
check_omitted(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlStrList *names, const OnnxlOpParam *params,
              uint8_t n_params, const char *what)
{
  for (size_t i = 0; i < names->count && i < n_params; i++)
    if (names->items[i].size == 0 && params[i].option == ONNXL_PARAM_SINGLE)
      onnxl_check_report(check, at, ONNXL_DIAG_NODE_ARITY, "%s %zu (%s) is left out, which %.*s needs", what, i,
                         params[i].name, ONNXL_ARG(at->node->op_type));
}

static void
arity(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlNode *node = at->node;
  const OnnxlOpSchema *schema = at->schema;

  if (at->callee) {
    check_count(check, at, node->input.count, 0, (int64_t)at->callee->input.count, "input");
    check_count(check, at, node->output.count, 0, (int64_t)at->callee->output.count, "output");
    return;
  }
  check_count(check, at, node->input.count, schema->min_inputs, schema->max_inputs, "input");
  check_count(check, at, node->output.count, schema->min_outputs, schema->max_outputs, "output");
  check_omitted(check, at, &node->input, schema->inputs, schema->n_inputs, "input");
  check_omitted(check, at, &node->output, schema->outputs, schema->n_outputs, "output");
}
ONNXL_RULE(arity, ON(NODE), NEEDS(operator_known), ONNXL_DIAG_NODE_ARITY);

static void
attributes_once(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlAttributeList *attributes = &at->node->attribute;

  if (attributes->count < 2)
    return;
  OnnxlMap seen = onnxl_map_new(check->body->arena, attributes->count);
  for (size_t i = 0; i < attributes->count; i++)
    if (!onnxl_check_add(check, &seen, attributes->items[i].name))
      onnxl_check_report(check, at, ONNXL_DIAG_ATTR_TWICE_MODEL, "the node has attribute '%.*s' twice",
                         ONNXL_ARG(attributes->items[i].name));
}
ONNXL_RULE(attributes_once, ON(NODE), NO_NEEDS, ONNXL_DIAG_ATTR_TWICE_MODEL);

static const OnnxlOpAttribute *
find_attribute(const OnnxlOpSchema *schema, OnnxlStr name)
{
  for (uint8_t i = 0; i < schema->n_attributes; i++)
    if (onnxl_str_is(name, schema->attributes[i].name))
      return &schema->attributes[i];
  return NULL;
}

static const char *
type_name(int32_t type)
{
  const char *name = onnxl_attribute_type_name(type);

  return name ? name : "of no type";
}

static void
check_operator_attributes(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlAttributeList *attributes = &at->node->attribute;
  const OnnxlOpSchema *schema = at->schema;

  for (size_t i = 0; i < attributes->count; i++) {
    const OnnxlAttribute *attribute = &attributes->items[i];
    const OnnxlOpAttribute *known = find_attribute(schema, attribute->name);
    int32_t type = attribute->has_type ? attribute->type : ONNXL_ATTRIBUTE_UNDEFINED;
    if (!known)
      onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_ATTRIBUTE, "%s has no attribute '%.*s'", schema->name,
                         ONNXL_ARG(attribute->name));
    else if (type != (int32_t)known->type && attribute->has_type)
      onnxl_check_report(check, at, ONNXL_DIAG_NODE_ATTRIBUTE, "attribute '%s' is %s when %s needs %s", known->name,
                         type_name(type), schema->name, type_name((int32_t)known->type));
  }
  for (uint8_t i = 0; i < schema->n_attributes; i++)
    if (schema->attributes[i].required && !onnxl_node_attribute(at->node, schema->attributes[i].name))
      onnxl_check_report(check, at, ONNXL_DIAG_NODE_ATTRIBUTE, "attribute '%s' is missing, which %s needs",
                         schema->attributes[i].name, schema->name);
}

/* An operator's attributes must be known, of its type, and there if it needs them. */
static void
node_attributes(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  if (at->schema) {
    check_operator_attributes(check, at);
    return;
  }
  for (size_t i = 0; i < at->node->attribute.count; i++)
    if (!onnxl_check_function_has(check, at->callee, at->node->attribute.items[i].name))
      onnxl_check_report(check, at, ONNXL_DIAG_UNKNOWN_ATTRIBUTE_FUNCTION, "function %.*s has no attribute '%.*s'",
                         ONNXL_ARG(at->callee->name), ONNXL_ARG(at->node->attribute.items[i].name));
}
ONNXL_RULE(node_attributes, ON(NODE), NEEDS(operator_known), ONNXL_DIAG_UNKNOWN_ATTRIBUTE,
           ONNXL_DIAG_UNKNOWN_ATTRIBUTE_FUNCTION, ONNXL_DIAG_NODE_ATTRIBUTE);

static void
check_subgraph(OnnxlCheck *check, const OnnxlCheckPlace *at, const OnnxlAttribute *attribute, size_t inputs,
               size_t min_outputs, size_t max_outputs)
{
  const OnnxlGraph *graph = attribute->g;

  if (graph->input.count != inputs)
    onnxl_check_report(check, at, ONNXL_DIAG_SUBGRAPH, "%.*s has %zu inputs when the node gives it %zu",
                       ONNXL_ARG(attribute->name), graph->input.count, inputs);
  if (graph->output.count < min_outputs || graph->output.count > max_outputs)
    onnxl_check_report(check, at, ONNXL_DIAG_SUBGRAPH, "%.*s has %zu outputs when the node needs %s%zu",
                       ONNXL_ARG(attribute->name), graph->output.count, max_outputs > min_outputs ? "at least " : "",
                       min_outputs);
}

/* What the operators that run graphs give them and take from them. Trailing outputs of the node may be left out. */
static void
subgraphs(OnnxlCheck *check, const OnnxlCheckPlace *at)
{
  const OnnxlNode *node = at->node;
  size_t inputs = node->input.count, outputs = node->output.count;

  if (!at->schema || at->schema->domain[0] != '\0')
    return;
  for (size_t i = 0; i < node->attribute.count; i++) {
    const OnnxlAttribute *attribute = &node->attribute.items[i];
    if (!attribute->g)
      continue;
    if (onnxl_str_is(node->op_type, "If")) {
      check_subgraph(check, at, attribute, 0, outputs, outputs);
    } else if (onnxl_str_is(node->op_type, "Loop")) {
      size_t carried = inputs > 2 ? inputs - 2 : 0;
      check_subgraph(check, at, attribute, carried + 2, 1 + MAX(carried, outputs), SIZE_MAX);
    } else if (onnxl_str_is(node->op_type, "Scan")) {
      size_t given = at->schema->since < 9 ? inputs - 1 : inputs; /* the first has lengths */
      int64_t scanned = onnxl_attr_int(at->schema, node, "num_scan_inputs");
      size_t states = scanned > 0 && (uint64_t)scanned <= given ? given - (size_t)scanned : 0;
      check_subgraph(check, at, attribute, given, MAX(states, outputs), SIZE_MAX);
    } else if (onnxl_str_is(node->op_type, "SequenceMap")) {
      check_subgraph(check, at, attribute, inputs, outputs, SIZE_MAX);
    }
  }
}
ONNXL_RULE(subgraphs, ON(NODE), NEEDS(arity) | NEEDS(node_attributes), ONNXL_DIAG_SUBGRAPH);
