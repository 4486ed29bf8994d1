/* Compares every field of every row with operators.jsonl, a dump of the schemas of all opsets, which is too large for
 * the repository: $ONNXL_SHARED/facts, by default ../shared/facts. Skipped (status 77) where that is missing. */
#include <jansson.h>

#include "ops/ops.h"

#include "unit.h"

enum { SKIPPED = 77 };

static FILE *facts;

static FILE *
open_facts(void)
{
  const char *shared = getenv("ONNXL_SHARED");
  g_autofree char *folder = g_path_get_dirname(__FILE__); /* relative to the build folder, where meson runs tests */
  g_autofree char *path = shared
                            ? g_build_filename(shared, "facts", "operators.jsonl", NULL)
                            : g_build_filename(folder, "..", "..", "..", "shared", "facts", "operators.jsonl", NULL);
  return fopen(path, "r");
}

static const char *
text_of(const json_t *object, const char *key)
{
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static int32_t
count_of(const json_t *row, const char *key)
{
  json_int_t value = json_integer_value(json_object_get(row, key));
  return value < 0 ? INT32_MAX : (int32_t)value;
}

static bool
params_equal(const OnnxlOpParam *params, uint8_t n, const json_t *expected)
{
  static const char *const options[] = { "", "optional", "variadic" };
  if (json_array_size(expected) != n)
    return false;
  for (uint8_t i = 0; i < n; i++) {
    const json_t *param = json_array_get(expected, i);
    if (strcmp(params[i].name, text_of(param, "name")) || strcmp(params[i].type, text_of(param, "type")) ||
        strcmp(options[params[i].option], text_of(param, "option")) ||
        params[i].heterogeneous != json_is_true(json_object_get(param, "heterogeneous")))
      return false;
  }
  return true;
}

static bool
default_equal(const char *text, const json_t *expected)
{
  if (!expected || !text[0])
    return !expected && !text[0];
  g_autofree char *list = g_strdup(text);
  json_t *value = json_loads(list, JSON_DECODE_ANY, NULL);
  bool equal = value && json_equal(value, expected);
  json_decref(value);
  return equal;
}

static bool
attributes_equal(const OnnxlOpSchema *schema, const json_t *expected)
{
  if (json_object_size(expected) != schema->n_attributes)
    return false;
  for (uint8_t i = 0; i < schema->n_attributes; i++) {
    const OnnxlOpAttribute *attribute = &schema->attributes[i];
    const json_t *facts_of = json_object_get(expected, attribute->name);
    g_autofree char *type = g_ascii_strdown(text_of(facts_of, "type"), -1);
    if (!facts_of || onnxl_attribute_type_from_name(onnxl_str(type)) != attribute->type ||
        attribute->required != json_is_true(json_object_get(facts_of, "required")) ||
        !default_equal(attribute->default_text, json_object_get(facts_of, "default")))
      return false;
  }
  return true;
}

static bool
in_others(const OnnxlOpConstraint *constraint, const char *text)
{
  for (const char *const *other = constraint->others; other && *other; other++)
    if (strcmp(*other, text) == 0)
      return true;
  return false;
}

/* Takes the type's bit out of the set it belongs to. False: it is not there. */
static bool
take_type(OnnxlOpConstraint *rest, const char *text)
{
  static const char *const prefixes[] = { "tensor(", "seq(tensor(", "optional(tensor(", "optional(seq(tensor(" };
  uint32_t *const sets[] = { &rest->tensor, &rest->sequence, &rest->optional_tensor, &rest->optional_sequence };
  for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
    if (g_str_has_prefix(text, prefixes[i])) {
      const char *name = text + strlen(prefixes[i]);
      uint32_t bit = 1u << onnxl_data_type_from_name(onnxl_str_n(name, strcspn(name, ")")));
      bool found = *sets[i] & bit;
      *sets[i] &= ~bit;
      return found;
    }
  return in_others(rest, text);
}

static bool
constraints_equal(const OnnxlOpSchema *schema, const json_t *expected)
{
  if (json_object_size(expected) != schema->n_constraints)
    return false;
  for (uint8_t i = 0; i < schema->n_constraints; i++) {
    OnnxlOpConstraint rest = schema->constraints[i];
    const json_t *types = json_object_get(expected, rest.name);
    size_t n_others = 0;
    for (size_t j = 0; j < json_array_size(types); j++) {
      const char *text = json_string_value(json_array_get(types, j));
      if (!text || !take_type(&rest, text))
        return false;
      n_others += in_others(&rest, text);
    }
    if (rest.tensor || rest.sequence || rest.optional_tensor || rest.optional_sequence ||
        n_others != (rest.others ? g_strv_length((char **)rest.others) : 0))
      return false;
  }
  return true;
}

static const char *
difference(const OnnxlOpSchema *schema, const json_t *row)
{
  if (schema->since != json_integer_value(json_object_get(row, "since")))
    return "since";
  if (schema->min_inputs != count_of(row, "min_in") || schema->max_inputs != count_of(row, "max_in") ||
      schema->min_outputs != count_of(row, "min_out") || schema->max_outputs != count_of(row, "max_out"))
    return "counts";
  if (schema->deprecated != json_is_true(json_object_get(row, "deprecated")))
    return "deprecated";
  if (schema->has_function_body != json_is_true(json_object_get(row, "function_body")))
    return "function_body";
  if (schema->nondeterministic != (strcmp(text_of(row, "determinism"), "NonDeterministic") == 0))
    return "determinism";
  if (!params_equal(schema->inputs, schema->n_inputs, json_object_get(row, "inputs")))
    return "inputs";
  if (!params_equal(schema->outputs, schema->n_outputs, json_object_get(row, "outputs")))
    return "outputs";
  if (!attributes_equal(schema, json_object_get(row, "attributes")))
    return "attributes";
  if (!constraints_equal(schema, json_object_get(row, "types")))
    return "types";
  return NULL;
}

static void
test_rows(void)
{
  uint32_t n_rows = 0;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, facts) > 0) {
    json_t *row = json_loads(line, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    const OnnxlOpSchema *schema = onnxl_op_find(onnxl_str(text_of(row, "domain")), onnxl_str(text_of(row, "name")),
                                                json_integer_value(json_object_get(row, "since")));
    const char *what = schema ? difference(schema, row) : "row missing";
    CU_ASSERT_PTR_NULL(what);
    if (what)
      printf("%s %s %d: %s\n", text_of(row, "domain"), text_of(row, "name"), count_of(row, "since"), what);
    json_decref(row);
    n_rows++;
  }
  free(line);

  uint32_t n_expected = 0; /* com.microsoft is no domain of the standard */
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++)
    n_expected += strcmp(onnxl_op_schema(op)->domain, "com.microsoft") != 0;
  CU_ASSERT_EQUAL(n_rows, n_expected);
}

int
main(void)
{
  static const CU_TestInfo tests[] = { { "rows", test_rows }, CU_TEST_INFO_NULL };
  facts = open_facts();
  if (!facts)
    return SKIPPED;
  int status = unit_run("ops-facts", tests);
  fclose(facts);
  return status;
}
