/* onnxl-dis: disassembles a model into text of several styles. */
#include "cli/main.h"
#include "cli/output-file.h"
#include "columns.h"
#include "ops/list.h"
#include "proto/dot.h"
#include "proto/json.h"
#include "proto/pretty.h"
#include "proto/save.h"
#include "proto/summary.h"
#include "proto/text.h"
#include "support/error.h"
#include "support/file.h"

/* Payloads in a file of their own start at multiples of this. */
enum { PAYLOAD_ALIGNMENT = 64 };

typedef enum Style { STYLE_ONNX, STYLE_PRETTY, STYLE_JSON, STYLE_DOT, STYLE_SUMMARY } Style;

static int style;
static const char *weights = "auto";
static bool elements, portable, with_attributes, with_shapes, with_memory, list_ops;

static const OnnxlOption options[] = {
  ONNXL_CHOICE(
    0, "style", "onnx|pretty|json|dot|summary", &style,
    "ONNX's textual syntax, which onnxl-as reads (default); a listing; JSON by protobuf's mapping; a drawing "
    "for Graphviz; the first look"),
  ONNXL_STRING(
    0, "weights", "auto|inline|elide|FILE", &weights,
    "large values: refer to the bytes of the file that is read (default), write them, leave them out, or move "
    "them into FILE next to the text"),
  ONNXL_FLAG(0, "elements", &elements, "write elements instead of bits for half, 8-, 4- and 2-bit types"),
  ONNXL_FLAG(0, "portable", &portable,
             "write only what ONNX's own parser reads, with a warning for each field that is left out"),
  ONNXL_FLAG(0, "with-attributes", &with_attributes, "with --style=pretty: the attributes of nodes"),
  ONNXL_FLAG(0, "with-shapes", &with_shapes, "with --style=pretty: the types of each node's outputs, as inferred"),
  ONNXL_FLAG(0, "with-memory", &with_memory, "with --style=pretty: the bytes that are live at each node"),
  ONNXL_FLAG(0, "list-ops", &list_ops, "print the table of known operators instead (see --format)"),
  ONNXL_OPTIONS_END
};

static const OnnxlOptionRule rules[] = {
  { "--style|--weights|--elements|--portable|--with-attributes|--with-shapes|--with-memory", NULL, "--list-ops" },
  { "--weights|--elements|--portable", "--style=onnx", NULL },
  { "--with-attributes|--with-shapes|--with-memory", "--style=pretty", NULL },
  { NULL, NULL, NULL },
};

/* Where --weights=FILE puts payloads. */
typedef struct Mover {
  OnnxlOutput *out;
  const OnnxlModel *model;
  bool moved;
} Mover;

static bool
move_payload(void *data, OnnxlStr payload, uint64_t *ret_offset, GError **error)
{
  static const char zeros[PAYLOAD_ALIGNMENT];
  Mover *mover = data;
  uint64_t excess = onnxl_output_position(mover->out) % PAYLOAD_ALIGNMENT;

  if (excess > 0)
    onnxl_output_write(mover->out, zeros, PAYLOAD_ALIGNMENT - excess);
  *ret_offset = onnxl_output_position(mover->out);
  mover->moved = true;
  onnxl_payload_write(mover->out, mover->model, payload);
  return mover->out->saved_errno == 0 || onnxl_output_flush(mover->out, weights, error);
}

/* The text, with payloads moved into a file in its folder, if there are any. */
static bool
write_with_file(OnnxlRun *run, OnnxlOutput *out, OnnxlModel *model, OnnxlTextOptions *text, GError **error)
{
  g_autofree char *path = g_build_filename(text->folder, weights, NULL);
  OnnxlOutputFile file;

  if (strchr(weights, '/') || *weights == '\0' || strcmp(weights, "-") == 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "--weights=%s: FILE must be a name without a folder, as it stands next to the text", weights);
  if (onnxl_model_is_at(model, path))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "cannot write %s: it is the model that is read", path);
  if (!onnxl_model_check_output(model, NULL, path, error) || !onnxl_run_claim_output(run, "--weights", path, error))
    return false;
  if (!onnxl_output_file_open(&file, path, ONNXL_OUTPUT_BINARY, error))
    return false;
  Mover mover = { &file.out, model, false };
  text->weights = ONNXL_WEIGHTS_FILE;
  text->data_name = weights;
  bool ok = onnxl_text_write(out, model, text, move_payload, &mover, error);
  if (ok && mover.moved)
    return onnxl_output_file_commit(&file, error);
  onnxl_output_file_abort(&file);
  return ok;
}

static bool
write_text(OnnxlRun *run, OnnxlOutput *out, OnnxlModel *model, GError **error)
{
  g_autofree char *folder = g_path_get_dirname(run->common.output ? run->common.output : "");
  OnnxlTextOptions text = { .weights = ONNXL_WEIGHTS_AUTO, .folder = folder, .elements = elements };

  if (portable && (elements || strcmp(weights, "elide") == 0))
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--portable has no form for --weights=elide and --elements");
  if (portable)
    text.lossy = run->sink;
  if (strcmp(weights, "inline") == 0 || (portable && strcmp(weights, "auto") == 0) ||
      onnxl_model_is_at(model, run->common.output))
    text.weights = ONNXL_WEIGHTS_INLINE;
  else if (strcmp(weights, "elide") == 0)
    text.weights = ONNXL_WEIGHTS_ELIDE;
  else if (strcmp(weights, "auto") != 0)
    return write_with_file(run, out, model, &text, error);
  return onnxl_text_write(out, model, &text, NULL, NULL, error);
}

static bool
write_listing(const OnnxlRun *run, OnnxlOutput *out, const OnnxlModel *model, GError **error)
{
  OnnxlPrettyOptions pretty = { .with_attributes = with_attributes };
  Columns columns = { 0 };
  bool ok = true;

  if (with_shapes || with_memory) {
    ok = columns_open(&columns, model, with_shapes, with_memory, run->sink, error);
    pretty.suffix = columns_write;
    pretty.suffix_data = &columns;
  }
  if (ok)
    onnxl_pretty_write(out, model, &pretty);
  columns_close(&columns);
  return ok;
}

static bool
write_style(OnnxlRun *run, OnnxlOutput *out, OnnxlModel *model, GError **error)
{
  switch ((Style)style) {
  case STYLE_PRETTY:
    return write_listing(run, out, model, error);
  case STYLE_JSON:
    return onnxl_model_to_json(out, model, run->sink, error);
  case STYLE_DOT:
    return onnxl_dot_write(out, model, error);
  case STYLE_SUMMARY:
    return onnxl_summary_write(out, model, error);
  default:
    return write_text(run, out, model, error);
  }
}

static bool
check_outputs(const OnnxlRun *run, OnnxlModel *model, GError **error)
{
  const OnnxlCommonOptions *common = &run->common;

  return onnxl_model_check_output(model, common->data_dir, common->output, error) &&
         onnxl_run_check_output(run, "-MF", common->dependency_file, error) &&
         onnxl_model_check_output(model, common->data_dir, common->dependency_file, error);
}

static bool
run_dis(OnnxlRun *run, GError **error)
{
  static const OnnxlOpsFormat formats[] = {
    [ONNXL_FORMAT_TABLE] = ONNXL_OPS_TABLE, [ONNXL_FORMAT_JSON] = ONNXL_OPS_JSON, [ONNXL_FORMAT_CSV] = ONNXL_OPS_CSV
  };
  OnnxlModel *model = NULL;
  OnnxlOutputFile file;
  bool ok = true;

  if (run->common.format != ONNXL_FORMAT_TABLE && !list_ops)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "--format is for --list-ops; a model in JSON is --style=json");
  if (list_ops && run->operands.count > 0)
    return onnxl_fail(error, ONNXL_ERROR_USAGE,
                      "--list-ops lists what is known and takes no model (--style=summary has the operators of one)");
  if (!list_ops) {
    model = onnxl_model_load(run->input, &run->common.limits, run->sink, error);
    onnxl_run_add_input(run, run->input);
    onnxl_run_add_files(run, model ? model->data_files : NULL);
    if (!model || onnxl_diag_errors(run->sink) > 0) {
      onnxl_model_free(model);
      return model != NULL;
    }
  }
  if ((model && !check_outputs(run, model, error)) || !onnxl_output_file_open(&file, run->common.output, 0, error)) {
    onnxl_model_free(model);
    return false;
  }
  if (list_ops)
    onnxl_ops_list(&file.out, formats[run->common.format]);
  else
    ok = write_style(run, &file.out, model, error);
  if (ok && onnxl_diag_errors(run->sink) == 0) /* -Werror=lossy makes some */
    ok = onnxl_output_file_commit(&file, error);
  else
    onnxl_output_file_abort(&file);
  onnxl_model_free(model);
  return ok;
}

static const OnnxlTool tool = {
  .name = "onnxl-dis",
  .usage = "[OPTION]... [-o OUT] [MODEL]",
  .summary = "Disassembles a model into text. Nothing is lost in the default style: onnxl-as makes a model of it\n"
             "that is equal field by field.",
  .examples = "  onnxl-dis model.onnx | less\n"
              "      Shows a model.\n"
              "  onnxl-dis --style=summary model.onnx\n"
              "      Shows what it takes, what is in it and how large it is.\n"
              "  onnxl-dis --weights=elide model.onnx > model.onnxtxt\n"
              "      Keeps the graph without large values, for a diff.\n"
              "  onnxl-dis --style=dot model.onnx | dot -Tsvg > model.svg\n"
              "      Draws it.\n",
  .options = options,
  .rules = rules,
  .common = ONNXL_COMMON_MODEL | ONNXL_COMMON_OUTPUT | ONNXL_COMMON_FORMAT,
  .max_operands = 1,
  .run = run_dis,
};

ONNXL_MAIN(tool)
