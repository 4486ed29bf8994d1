#include "runtime/test-case.h"

#include <jansson.h>

#include "runtime/executor.h"
#include "runtime/tensor-io.h"
#include "runtime/tensor.h"
#include "support/error.h"

static const char *const model_names[] = { "model.onnx", "model.onnxtxt" };

static char *
find_model(const char *folder)
{
  for (size_t i = 0; i < G_N_ELEMENTS(model_names); i++) {
    char *path = g_build_filename(folder, model_names[i], NULL);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
      return path;
    g_free(path);
  }
  return NULL;
}

bool
onnxl_test_is_case(const char *folder)
{
  char *path = find_model(folder);
  g_free(path);
  return path != NULL;
}

static void
read_tolerance(const char *folder, OnnxlTolerance *tolerance)
{
  static const char *const names[] = { "data.json", "tolerance.json" };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    char *path = g_build_filename(folder, names[i], NULL);
    json_t *root = json_load_file(path, 0, NULL), *rtol = json_object_get(root, "rtol");
    json_t *atol = json_object_get(root, "atol");
    if (json_is_number(rtol))
      tolerance->rtol = json_number_value(rtol);
    if (json_is_number(atol))
      tolerance->atol = json_number_value(atol);
    json_decref(root);
    g_free(path);
  }
}

/* The values of one data set. */
typedef struct DataSet {
  OnnxlValue **inputs;
  OnnxlValue **expected;
  OnnxlValue **outputs;
} DataSet;

static void
clear_values(OnnxlValue **values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    g_clear_pointer(&values[i], onnxl_value_unref);
}

static bool
load_set(const OnnxlExecutor *executor, OnnxlAllocator *allocator, const char *folder, DataSet *set, GError **error)
{
  uint32_t next = 0;
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(executor); i++) {
    const OnnxlIndexValue *place = onnxl_executor_input(executor, i);
    if (place->kind == ONNXL_VALUE_INITIALIZER)
      continue;
    char *name = g_strdup_printf("%s/input_%u.pb", folder, next++);
    /* An optional input at the end may have no file. */
    if (g_file_test(name, G_FILE_TEST_EXISTS))
      set->inputs[i] = onnxl_value_load(allocator, name, place->info ? place->info->type : NULL, error);
    else
      onnxl_fail(error, ONNXL_ERROR_IO, "%s does not exist", name);
    g_free(name);
    if (!set->inputs[i])
      return false;
  }
  for (uint32_t i = 0; i < onnxl_executor_n_outputs(executor); i++) {
    const OnnxlIndexValue *place = onnxl_executor_output(executor, i);
    char *name = g_strdup_printf("%s/output_%u.pb", folder, i);
    set->expected[i] = onnxl_value_load(allocator, name, place->info ? place->info->type : NULL, error);
    g_free(name);
    if (!set->expected[i])
      return false;
  }
  return true;
}

/* A node draws random numbers from a seed that its attribute fixes. */
static bool
has_own_seed(const OnnxlPlan *plan)
{
  for (const OnnxlBody *body = plan->bodies; body; body = body->next)
    for (uint32_t id = 0; id < body->index->n_nodes; id++) {
      const OnnxlOpSchema *schema = body->steps[id].schema;
      if (schema && schema->nondeterministic && onnxl_node_attribute(body->index->nodes[id].proto, "seed"))
        return true;
    }
  return false;
}

/* With another seed the results are others. */
static bool
is_random(OnnxlPlan *plan, const DataSet *set, uint32_t n_outputs)
{
  if (has_own_seed(plan))
    return true;
  OnnxlExecutor *executor = onnxl_executor_new(plan, &(OnnxlExecutorOptions){ .seed = 12345 });
  OnnxlValue **outputs = g_new0(OnnxlValue *, n_outputs);
  const OnnxlTolerance exact = { 0, 0 };
  bool random = false;
  if (onnxl_executor_run(executor, set->inputs, outputs, NULL))
    for (uint32_t i = 0; i < n_outputs && !random; i++) {
      char *message = NULL;
      random = !onnxl_value_compare(outputs[i], set->outputs[i], &exact, &message);
      g_free(message);
    }
  clear_values(outputs, n_outputs);
  g_free(outputs);
  onnxl_executor_free(executor);
  return random;
}

/* Each data set of a case says the same, once is enough. */
static void G_GNUC_PRINTF(2, 3)
add_note(GString *notes, const char *format, ...)
{
  va_list args;
  va_start(args, format);
  g_autofree char *text = g_strdup_vprintf(format, args);
  va_end(args);
  if (!strstr(notes->str, text))
    g_string_append_printf(notes, "%s%s", notes->len > 0 ? "; " : "", text);
}

/* The element type that the model declares for a tensor, or 0. */
static int32_t
declared_type(const OnnxlIndexValue *place)
{
  const OnnxlTensorType *type = place->info && place->info->type ? place->info->type->tensor_type : NULL;
  return type ? type->elem_type : 0;
}

/* What is recorded, in the element type that the model declares for the output, when the run gives that type and the
 * recording has floating point of another width: there are references that compute in double whatever the model says.
 * NULL: the recording has to be taken as it is. */
static OnnxlValue *
in_declared_type(OnnxlAllocator *allocator, const OnnxlIndexValue *place, const OnnxlValue *got,
                 const OnnxlValue *recorded)
{
  int32_t declared = declared_type(place);
  if (!onnxl_value_is_tensor(got, declared) || recorded->kind != ONNXL_KIND_TENSOR || recorded->elem_type == declared ||
      !onnxl_type_is_float(recorded->elem_type) || !onnxl_type_is_float(declared))
    return NULL;
  return onnxl_tensor_cast(allocator, recorded, declared, &(OnnxlCastOptions){ .saturate = true }, NULL);
}

/* notes: what a reader should know when it passes. */
static OnnxlTestResult
compare_set(OnnxlPlan *plan, const OnnxlExecutor *executor, DataSet *set, const OnnxlTolerance *tolerance,
            GString *notes, char **ret_message)
{
  uint32_t n = onnxl_executor_n_outputs(executor);
  for (uint32_t i = 0; i < n; i++) {
    const OnnxlIndexValue *place = onnxl_executor_output(executor, i);
    OnnxlValue *declared = in_declared_type(plan->allocator, place, set->outputs[i], set->expected[i]);
    if (declared) {
      add_note(notes, "output %u is recorded as %s where the model declares %s", i,
               onnxl_data_type_name(set->expected[i]->elem_type), onnxl_data_type_name(declared->elem_type));
      onnxl_value_unref(set->expected[i]);
      set->expected[i] = declared;
    }
    g_autofree char *difference = NULL, *other = NULL;
    if (onnxl_value_compare(set->outputs[i], set->expected[i], tolerance, &difference))
      continue;
    if (!onnxl_value_compare(set->outputs[i], set->expected[i], NULL, &other) || !is_random(plan, set, n)) {
      *ret_message = g_strdup_printf("output %.*s: %s", ONNXL_ARG(place->name), difference);
      return ONNXL_TEST_FAIL;
    }
    add_note(notes, "output %u is random, its type and shape are as recorded", i);
  }
  return ONNXL_TEST_PASS;
}

static OnnxlTestResult
run_set(OnnxlPlan *plan, OnnxlExecutor *executor, const char *folder, const OnnxlTolerance *tolerance, GString *notes,
        char **ret_message)
{
  uint32_t n_inputs = onnxl_executor_n_inputs(executor), n_outputs = onnxl_executor_n_outputs(executor);
  DataSet set = { g_new0(OnnxlValue *, n_inputs), g_new0(OnnxlValue *, n_outputs), g_new0(OnnxlValue *, n_outputs) };
  GError *failed = NULL;
  OnnxlTestResult result = ONNXL_TEST_FAIL;
  if (load_set(executor, plan->allocator, folder, &set, &failed) &&
      onnxl_executor_run(executor, set.inputs, set.outputs, &failed))
    result = compare_set(plan, executor, &set, tolerance, notes, ret_message);
  if (failed) {
    if (failed->code == ONNXL_ERROR_UNSUPPORTED)
      result = ONNXL_TEST_UNSUPPORTED;
    *ret_message = g_strdup(failed->message);
    g_error_free(failed);
  }
  clear_values(set.inputs, n_inputs);
  clear_values(set.expected, n_outputs);
  clear_values(set.outputs, n_outputs);
  g_free(set.inputs);
  g_free(set.expected);
  g_free(set.outputs);
  return result;
}

static OnnxlTestResult
run_model(OnnxlModel *model, const char *folder, const OnnxlTestOptions *options, OnnxlDiagSink *sink,
          char **ret_message, GError **error)
{
  OnnxlPlanOptions plan_options = { .max_memory = options->limits.max_memory,
                                    .max_metadata = (size_t)onnxl_limits_metadata(&options->limits, 0),
                                    .allow_symlinks = options->allow_symlinks };
  OnnxlPlan *plan = onnxl_plan_new(model, &plan_options, sink, error);
  if (!plan)
    return g_error_matches(*error, ONNXL_ERROR, ONNXL_ERROR_UNSUPPORTED) ? ONNXL_TEST_UNSUPPORTED : ONNXL_TEST_FAIL;
  OnnxlExecutor *executor = onnxl_executor_new(plan, &(OnnxlExecutorOptions){ .max_depth = options->limits.max_depth });
  OnnxlTolerance tolerance = options->tolerance;
  OnnxlTestResult result = ONNXL_TEST_PASS;
  read_tolerance(folder, &tolerance);
  GString *notes = g_string_new(NULL);
  uint32_t n = 0;
  for (; result == ONNXL_TEST_PASS; n++) {
    char *set = g_strdup_printf("%s/test_data_set_%u", folder, n);
    bool there = g_file_test(set, G_FILE_TEST_IS_DIR);
    if (there)
      result = run_set(plan, executor, set, &tolerance, notes, ret_message);
    g_free(set);
    if (!there)
      break;
  }
  if (n == 0) {
    *ret_message = g_strdup("there is no test_data_set_0");
    result = ONNXL_TEST_FAIL;
  }
  if (result == ONNXL_TEST_PASS && notes->len > 0)
    *ret_message = g_strdup(notes->str);
  g_string_free(notes, TRUE);
  onnxl_executor_free(executor);
  onnxl_plan_free(plan);
  return result;
}

OnnxlTestResult
onnxl_test_run(const char *folder, const OnnxlTestOptions *options, char **ret_message)
{
  OnnxlDiagSink *sink = onnxl_diag_sink_new(NULL);
  GError *error = NULL;
  OnnxlTestResult result = ONNXL_TEST_FAIL;
  char *path = find_model(folder);
  *ret_message = NULL;
  OnnxlModel *model = path ? onnxl_model_load(path, &options->limits, sink, &error) : NULL;
  if (model)
    result = run_model(model, folder, options, sink, ret_message, &error);
  else if (!path)
    *ret_message = g_strdup("there is no model.onnx");
  if (error && !*ret_message)
    *ret_message = g_strdup(onnxl_diag_count(sink) > 0 ? onnxl_diag_get(sink, 0)->message : error->message);
  g_clear_error(&error);
  onnxl_model_free(model);
  g_free(path);
  onnxl_diag_sink_free(sink);
  return result;
}
