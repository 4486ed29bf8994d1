/* The values of inputs, as the command line or a line of a batch gives them. */
#include "exec.h"
#include "support/error.h"
#include "support/nearest.h"

/* The input that "NAME=SPEC" means: the longest name that is followed by '='. ONNXL_NONE: no input has such a name. */
static uint32_t
find_input(const OnnxlExecutor *executor, const char *text, const char **ret_spec)
{
  uint32_t found = ONNXL_NONE;
  size_t longest = 0, size = strlen(text);
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(executor); i++) {
    OnnxlStr name = onnxl_executor_input(executor, i)->name;
    if (name.size >= longest && name.size < size && memcmp(name.data, text, name.size) == 0 && text[name.size] == '=') {
      found = i;
      longest = name.size;
      *ret_spec = text + name.size + 1;
    }
  }
  return found;
}

/* A value that was given may not contradict the size that --dim gives a symbol of its declaration. */
static bool
check_dims(const Session *session, const OnnxlIndexValue *place, const OnnxlValue *value, GError **error)
{
  const OnnxlType *type = place->info ? place->info->type : NULL;
  const OnnxlShapeProto *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;
  for (uint32_t i = 0; shape && i < shape->dim.count && i < value->rank; i++) {
    OnnxlStr name = shape->dim.items[i].dim_param;
    int64_t size;
    if (session->context.symbol(session->context.symbol_data, name, &size) && size != value->dims[i])
      return onnxl_fail(error, ONNXL_ERROR_USAGE,
                        "axis %u of the input %.*s has the size %" G_GINT64_FORMAT ", but --dim %.*s=%" G_GINT64_FORMAT
                        " is given",
                        i, ONNXL_ARG(place->name), value->dims[i], ONNXL_ARG(name), size);
  }
  return true;
}

/* Says which inputs there are, or the one that was meant. */
static bool
no_such_input(const OnnxlExecutor *executor, const char *text, GError **error)
{
  enum { MAX_NAMES = 20 };
  uint32_t n = onnxl_executor_n_inputs(executor);
  char *names[MAX_NAMES + 1] = { NULL };
  for (uint32_t i = 0; i < n && i < MAX_NAMES; i++)
    names[i] = g_strndup(onnxl_executor_input(executor, i)->name.data, onnxl_executor_input(executor, i)->name.size);
  const char *equals = strchr(text, '=');
  const char *nearest =
    equals ? onnxl_nearest(onnxl_str_n(text, (size_t)(equals - text)), (const char *const *)names, MIN(n, MAX_NAMES))
           : NULL;
  g_autofree char *all = g_strjoinv(", ", names);
  if (!equals)
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the input '%s': NAME=SPEC is needed", text);
  else if (nearest)
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %s: the model has no such input; did you mean '%s'?", text,
               nearest);
  else
    onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %s: the model has no such input; it has %s%s", text,
               n > 0 ? all : "none", n > MAX_NAMES ? ", …" : "");
  for (size_t i = 0; i < MAX_NAMES; i++)
    g_free(names[i]);
  return false;
}

static bool
read_input(Session *session, OnnxlRun *run, const char *text, GError **error)
{
  const char *spec;
  uint32_t input = find_input(session->executor, text, &spec);
  if (input == ONNXL_NONE)
    return no_such_input(session->executor, text, error);
  if (session->given[input])
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "the input %s: it has a value already", text);
  const OnnxlIndexValue *place = onnxl_executor_input(session->executor, input);
  char *file;
  OnnxlValue *value = onnxl_input_read(&session->context, place, spec, &file, error);
  onnxl_run_add_input(run, file);
  g_free(file);
  if (!value)
    return false;
  onnxl_value_unref(session->inputs[input]);
  session->inputs[input] = value;
  session->given[input] = true;
  return check_dims(session, place, value, error);
}

bool
session_read_inputs(Session *session, OnnxlRun *run, const char *const *texts, size_t n, GError **error)
{
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(session->executor); i++)
    session->given[i] = false;
  for (size_t i = 0; i < n; i++)
    if (!read_input(session, run, texts[i], error))
      return false;
  return true;
}

bool
session_complete_inputs(Session *session, GError **error)
{
  for (uint32_t i = 0; i < onnxl_executor_n_inputs(session->executor); i++) {
    const OnnxlIndexValue *place = onnxl_executor_input(session->executor, i);
    char *file;
    if (session->inputs[i] || place->kind == ONNXL_VALUE_INITIALIZER)
      continue;
    if (!exec_options.random)
      return onnxl_fail(error, ONNXL_ERROR_USAGE,
                        "the input %.*s has no value: give it as --input %.*s=…, or use --random",
                        ONNXL_ARG(place->name), ONNXL_ARG(place->name));
    if (!(session->inputs[i] = onnxl_input_read(&session->context, place, "random", &file, error)))
      return false;
  }
  return true;
}

bool
session_read_command_inputs(Session *session, OnnxlRun *run, GError **error)
{
  return session_read_inputs(session, run, exec_options.inputs.items, exec_options.inputs.count, error) &&
         session_complete_inputs(session, error);
}
