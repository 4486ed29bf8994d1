/* Every row of the operator table runs with every type that its constraints allow: for each of them random nodes that
 * fit are tried until one gives a result in which the constraint has taken that type. ONNXL_TYPES_OP: only this
 * operator. */
#include "random-run.h"

enum { MAX_MEMORY = 16 << 20, MAX_TRIES = 400 };

typedef enum Outcome { NO_RESULT, RESULT, UNSUPPORTED } Outcome;

#define TYPE_BIT(type) (1u << ONNXL_TYPE_##type)
#define ALL_SHELLS (~0u)
#define ALL_TYPES (~0u)
#define CONTAINERS (1u << SHELL_SEQUENCE | 1u << SHELL_OPTIONAL | 1u << SHELL_OPTIONAL_SEQUENCE)
/* What sequences and optionals of Identity may hold. */
#define CONTAINED                                                                                                   \
  (TYPE_BIT(FLOAT) | TYPE_BIT(UINT8) | TYPE_BIT(INT8) | TYPE_BIT(UINT16) | TYPE_BIT(INT16) | TYPE_BIT(INT32) |      \
   TYPE_BIT(INT64) | TYPE_BIT(STRING) | TYPE_BIT(BOOL) | TYPE_BIT(FLOAT16) | TYPE_BIT(DOUBLE) | TYPE_BIT(UINT32) |  \
   TYPE_BIT(UINT64) | TYPE_BIT(COMPLEX64) | TYPE_BIT(COMPLEX128))

/* What is allowed and gives no result, or none in a model of one node. */
static const struct {
  const char *op;
  int32_t since; /* 0 = all versions */
  uint32_t shells, types;
  const char *why;
} exceptions[] = {
  { "Gradient", 0, ALL_SHELLS, ALL_TYPES, "it is about the nodes around it" },
  { "Col2Im", 0, ALL_SHELLS, TYPE_BIT(STRING), "texts have no sum" },
  { "If", 13, CONTAINERS, ALL_TYPES, "no operator of opset 13 hands on a sequence" },
  { "If", 0, CONTAINERS, ~CONTAINED, "no operator hands on a container of those, or makes one" },
};

static bool
is_exception(const OnnxlOpSchema *schema, const RandomType *type)
{
  for (size_t i = 0; i < G_N_ELEMENTS(exceptions); i++)
    if (strcmp(exceptions[i].op, schema->name) == 0 &&
        (exceptions[i].since == 0 || exceptions[i].since == schema->since) &&
        (exceptions[i].shells >> type->shell & 1) && (exceptions[i].types >> type->elem_type & 1))
      return true;
  return false;
}

/* The value is of the type. */
static bool
has_type(const OnnxlValue *value, const RandomType *type)
{
  static const OnnxlTypeKind kinds[] = { ONNXL_KIND_TENSOR, ONNXL_KIND_SEQUENCE, ONNXL_KIND_OPTIONAL,
                                         ONNXL_KIND_OPTIONAL };
  return value->kind == kinds[type->shell] && value->elem_type == type->elem_type;
}

static bool
took_type(const RandomNode *n, const RandomType *type, OnnxlValue *const *outputs)
{
  const OnnxlOpSchema *schema = n->schema;
  const char *name = schema->constraints[type->constraint].name;
  for (uint32_t i = 0; i < n->n_inputs; i++)
    if (n->inputs[i].given != GIVEN_NOTHING && n->inputs[i].elem_type == type->elem_type &&
        strcmp(schema->inputs[MIN(i, schema->n_inputs - 1u)].type, name) == 0)
      return true;
  for (uint32_t i = 0; i < RANDOM_MAX_NODE_OUTPUTS; i++)
    if (outputs[i] && strcmp(schema->outputs[MIN(i, schema->n_outputs - 1u)].type, name) == 0 &&
        has_type(outputs[i], type))
      return true;
  return false;
}

static Outcome
run_once(const OnnxlOpSchema *schema, const RandomType *type, uint64_t seed)
{
  RandomNode n;
  random_node(&n, schema, seed, type);
  OnnxlDiagSink *sink = onnxl_diag_sink_new("types");
  GError *error = NULL;
  OnnxlValue *inputs[RANDOM_MAX_NODE_INPUTS] = { NULL }, *outputs[RANDOM_MAX_NODE_OUTPUTS] = { NULL };
  uint32_t n_inputs = 0;
  OnnxlPlan *plan =
    onnxl_plan_new(n.model, &(OnnxlPlanOptions){ .max_memory = MAX_MEMORY, .max_metadata = 1 << 24 }, sink, &error);
  OnnxlExecutor *executor = plan ? onnxl_executor_new(plan, &(OnnxlExecutorOptions){ .seed = 1 }) : NULL;
  if (plan)
    n_inputs = make_inputs(&n, plan->allocator, inputs);
  Outcome outcome = NO_RESULT;
  if (plan && onnxl_executor_run(executor, inputs, outputs, &error))
    outcome = took_type(&n, type, outputs) ? RESULT : NO_RESULT;
  else if (g_error_matches(error, ONNXL_ERROR, ONNXL_ERROR_UNSUPPORTED)) {
    outcome = UNSUPPORTED;
    show_model(&n, seed);
    fprintf(stderr, "%s-%d: %s\n", schema->name, schema->since, error->message);
  } else if (getenv("ONNXL_TYPES_OP")) {
    fprintf(stderr, "%s\n", error->message);
  }
  g_clear_error(&error);
  for (uint32_t i = 0; i < RANDOM_MAX_NODE_OUTPUTS; i++)
    onnxl_value_unref(outputs[i]);
  for (uint32_t i = 0; i < n_inputs; i++)
    onnxl_value_unref(inputs[i]);
  if (plan)
    g_clear_pointer(&plan->main->steps[0].cache, onnxl_value_unref);
  onnxl_executor_free(executor);
  onnxl_plan_free(plan);
  onnxl_diag_sink_free(sink);
  random_node_clear(&n);
  return outcome;
}

/* Some rows have a constraint that nothing uses. */
static bool
is_used(const OnnxlOpSchema *schema, const char *constraint)
{
  bool used = false;
  for (uint32_t i = 0; i < schema->n_inputs; i++)
    used = used || strcmp(schema->inputs[i].type, constraint) == 0;
  for (uint32_t i = 0; i < schema->n_outputs; i++)
    used = used || strcmp(schema->outputs[i].type, constraint) == 0;
  return used;
}

/* *n_tried: types that were to run. Returns: how many did not. */
static uint32_t
try_types(const OnnxlOpSchema *schema, uint32_t c, RandomShell shell, uint32_t set, uint32_t *n_tried)
{
  static const char *const shells[] = { "tensor", "seq", "optional", "optional seq" };
  uint32_t failures = 0;
  for (int32_t elem_type = 1; elem_type < ONNXL_N_TYPES; elem_type++) {
    const RandomType type = { c, shell, elem_type };
    if ((set >> elem_type & 1) == 0 || is_exception(schema, &type))
      continue;
    Outcome outcome = NO_RESULT;
    for (uint64_t seed = 1; seed <= MAX_TRIES && outcome == NO_RESULT; seed++)
      outcome = run_once(schema, &type, seed);
    *n_tried += 1;
    failures += outcome != RESULT;
    if (outcome == NO_RESULT)
      fprintf(stderr, "%s-%d: no result with %s = %s of %s\n", schema->name, schema->since,
              schema->constraints[c].name, shells[shell], onnxl_data_type_name(elem_type));
  }
  return failures;
}

static void
test_types(void)
{
  g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR); /* an error set twice */
  const char *only = getenv("ONNXL_TYPES_OP");
  uint32_t n_tried = 0, failures = 0;
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema(op);
    if (only && strcmp(only, schema->name) != 0)
      continue;
    for (uint32_t c = 0; c < schema->n_constraints; c++) {
      const OnnxlOpConstraint *constraint = &schema->constraints[c];
      const uint32_t sets[] = { constraint->tensor, constraint->sequence, constraint->optional_tensor,
                                constraint->optional_sequence };
      for (uint32_t shell = 0; shell < G_N_ELEMENTS(sets) && is_used(schema, constraint->name); shell++)
        failures += try_types(schema, c, (RandomShell)shell, sets[shell], &n_tried);
    }
  }
  printf("%u of %u types of constraints gave a result\n", n_tried - failures, n_tried);
  CU_ASSERT_EQUAL(failures, 0);
  CU_ASSERT_TRUE(n_tried > 0);
}

UNIT_MAIN("kernel-types", { "types", test_types })
