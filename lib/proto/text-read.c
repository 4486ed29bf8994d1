/* The model of the textual syntax: its header, graph and functions. */
#include "proto/text.h"

#include "proto/text-internal.h"

/* The fields that the header of a model or function may set. */
typedef struct Header {
  const OnnxlMessageDescriptor *descriptor;
  void *message;
} Header;

/* In a function only some fields are keys; the others have their places in the text. */
static bool
is_key(const Header *header, const OnnxlFieldDescriptor *field)
{
  static const char *const function_keys[] = { "opset_import", "domain", "overload", "doc_string", "metadata_props" };

  if (header->descriptor == &onnxl_model_descriptor)
    return strcmp(field->name, "graph") != 0 && strcmp(field->name, "functions") != 0;
  for (size_t i = 0; i < G_N_ELEMENTS(function_keys); i++)
    if (strcmp(field->name, function_keys[i]) == 0)
      return true;
  return false;
}

static const char *
key_candidate(const void *data, size_t i)
{
  const Header *header = data;

  for (size_t field = 0; field < header->descriptor->n_fields; field++)
    if (is_key(header, &header->descriptor->fields[field]) && i-- == 0)
      return header->descriptor->fields[field].name;
  return NULL;
}

/* A literal of the wrong kind. */
static bool
report_value(OnnxlReader *r, const char *format, OnnxlStr key)
{
  switch (r->token.kind) {
  case ONNXL_TOKEN_IDENTIFIER:
  case ONNXL_TOKEN_STRING:
  case ONNXL_TOKEN_INT:
  case ONNXL_TOKEN_FLOAT: {
    char *message = g_strdup_printf("`%.*s` takes %s", ONNXL_ARG(key), format);
    onnxl_reader_report_at(r, ONNXL_DIAG_HEADER_VALUE, &r->token, "%s", message);
    g_free(message);
    return false;
  }
  default:
    return onnxl_reader_no_number(r, format);
  }
}

/* "domain": version */
static bool
read_opset(OnnxlReader *r, void *data)
{
  OnnxlOpset opset = { 0 };
  OnnxlToken start = r->token;
  OnnxlStr run;

  if (onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER)) {
    if (!onnxl_reader_glued(r, start.start, r->at, false, &run))
      run = start.text;
    while (run.size > 1 && run.data[run.size - 1] == ':')
      run.size--;
    return onnxl_reader_report(r, ONNXL_DIAG_HEADER_VALUE, run.data, run.data + run.size,
                               "a domain is a string: `\"%.*s\"`", ONNXL_ARG(run));
  }
  if (!onnxl_reader_string(r, "a string, the domain", &opset.domain))
    return false;
  if (start.kind == ONNXL_TOKEN_STRING && opset.domain.size == 0 && (start.notes & ONNXL_TEXT_NOTE_NO_DOMAIN))
    opset.domain.data = NULL;
  if (!onnxl_reader_expect(r, ':', "`:` between domain and version"))
    return false;
  if (!onnxl_reader_accept(r, '?')) {
    if (!onnxl_reader_at(r, ONNXL_TOKEN_INT))
      return report_value(r, "integers as versions", ONNXL_STR("opset_import"));
    if (!onnxl_reader_int64(r, &opset.version))
      return false;
    opset.has_version = true;
  }
  return onnxl_reader_block(r, &onnxl_opset_descriptor, &opset, NULL) && onnxl_reader_push(r, &opset, sizeof opset);
}

static bool
read_opsets(OnnxlReader *r, OnnxlOpsetList *opsets)
{
  size_t mark = r->scratch_used;
  OnnxlOpsetList added;

  if (!onnxl_reader_expect(r, '[', "`[` with pairs `\"domain\": version`"))
    return false;
  bool ok = onnxl_reader_list(r, ']', read_opset, NULL);
  ONNXL_READER_POP(r, mark, &added);
  if (added.count == 0)
    return ok;
  OnnxlOpset *to = ONNXL_EXTEND(r->arena, opsets, added.count);
  if (!to)
    return onnxl_reader_exhausted(r);
  memcpy(to, added.items, added.count * sizeof *to);
  return ok;
}

/* The value of a key: lists add up, of single values the last one counts. */
static bool
read_header_value(OnnxlReader *r, const OnnxlFieldDescriptor *field, const OnnxlToken *key, void *message)
{
  void *member = onnxl_field_member(field, message);
  bool set = onnxl_field_is_set(field, message);

  if (field->message == &onnxl_opset_descriptor)
    return read_opsets(r, member);
  if (field->message == &onnxl_pair_descriptor)
    return onnxl_reader_pairs(r, member);
  if (field->repeated && set)
    return onnxl_reader_report_at(r, ONNXL_DIAG_FIELD_TWICE, key, "`%s` is set twice", field->name);
  if (field->kind == ONNXL_FIELD_INT64 && !onnxl_reader_at(r, ONNXL_TOKEN_INT))
    return report_value(r, "an integer", key->text);
  if (field->kind == ONNXL_FIELD_STRING && !onnxl_reader_at(r, ONNXL_TOKEN_STRING))
    return report_value(r, "a string", key->text);
  if (set)
    onnxl_reader_report_at(r, ONNXL_DIAG_KEY_TWICE, key, "`%s` is given twice; the last one counts", field->name);
  return onnxl_reader_field(r, field, message);
}

static bool
read_header_key(OnnxlReader *r, void *data)
{
  Header *header = data;
  OnnxlToken key = r->token;

  if (onnxl_reader_at(r, ONNXL_TOKEN_INT))
    return onnxl_reader_unknown_field(r, header->descriptor);
  if (!onnxl_reader_at(r, ONNXL_TOKEN_IDENTIFIER))
    return onnxl_reader_expected(r, "a header key");
  const OnnxlFieldDescriptor *field = onnxl_field_by_name(header->descriptor, key.text);
  if (!field || !is_key(header, field)) {
    const char *similar = onnxl_text_similar(key.text, key_candidate, header);
    return onnxl_reader_report_at(r, ONNXL_DIAG_UNKNOWN_KEY, &key,
                                  similar ? "unknown header key `%.*s`; did you mean `%s`?"
                                          : "unknown header key `%.*s`",
                                  ONNXL_ARG(key.text), similar);
  }
  onnxl_reader_next(r);
  return onnxl_reader_expect(r, ':', "`:` after a header key") && read_header_value(r, field, &key, header->message);
}

/* Keys up to and with the `>`; the `<` is consumed. */
static bool
read_header(OnnxlReader *r, const OnnxlMessageDescriptor *descriptor, void *message)
{
  Header header = { descriptor, message };
  size_t mark = r->scratch_used;

  if (onnxl_reader_at(r, '>')) {
    onnxl_reader_report_at(r, ONNXL_DIAG_EMPTY_LIST, &r->token, "leave an empty header out");
    return onnxl_reader_next(r);
  }
  bool ok = onnxl_reader_list(r, '>', read_header_key, &header);
  ONNXL_READER_POP(r, mark, &((OnnxlMessage *)message)->unknown);
  return ok;
}

/* The graph, or `?` in its place when there is none. */
static bool
read_main_graph(OnnxlReader *r, OnnxlModelProto *model)
{
  bool absent = onnxl_reader_at(r, '?');
  uint8_t notes = r->token.notes;

  if (absent) {
    onnxl_reader_next(r);
    if (!onnxl_reader_at(r, '(') && !onnxl_reader_at(r, '='))
      return true;
  }
  model->graph = ONNXL_NEW(r->arena, OnnxlGraph);
  if (!model->graph)
    return onnxl_reader_exhausted(r);
  return absent ? onnxl_reader_graph_after_name(r, (OnnxlStr){ NULL, 0 }, notes, model->graph)
                : onnxl_reader_graph(r, model->graph);
}

static bool
at_closer(const OnnxlReader *r)
{
  return onnxl_reader_at(r, '}') || onnxl_reader_at(r, ')') || onnxl_reader_at(r, ']') || onnxl_reader_at(r, '>');
}

/* What follows the graph. */
static bool
read_functions(OnnxlReader *r, OnnxlModelProto *model)
{
  size_t mark = r->scratch_used;
  bool ok = true;

  while (ok && !onnxl_reader_at(r, ONNXL_TOKEN_END)) {
    OnnxlFunction function = { 0 };
    if (at_closer(r)) {
      onnxl_reader_report_at(r, ONNXL_DIAG_STRAY_CLOSE, &r->token, "nothing is open that `%c` could close",
                             r->token.kind);
      onnxl_reader_next(r);
      continue;
    }
    ok = (!onnxl_reader_accept(r, '<') || read_header(r, &onnxl_function_descriptor, &function)) &&
         onnxl_reader_function(r, &function) && onnxl_reader_push(r, &function, sizeof function);
  }
  ONNXL_READER_POP(r, mark, &model->functions);
  return ok;
}

static bool
read_model(OnnxlReader *r)
{
  OnnxlModelProto *model = &r->model->proto;

  onnxl_reader_next(r);
  return (!onnxl_reader_accept(r, '<') || read_header(r, &onnxl_model_descriptor, model)) &&
         read_main_graph(r, model) && read_functions(r, model);
}

/* However high the limit is set, the stack has an end; each level takes about a kilobyte of it, with a sanitizer
 * several. */
enum { DEEPEST = 1000 };

bool
onnxl_text_read(OnnxlStr text, uint32_t max_depth, OnnxlModel *model, OnnxlDiagSink *sink, GError **error)
{
  uint32_t errors = onnxl_diag_errors(sink);

  if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
    text = onnxl_str_n(text.data + 3, text.size - 3);
  OnnxlReader r = {
    .model = model,
    .arena = model->arena,
    .sink = sink,
    .max_depth = MIN(max_depth, DEEPEST),
    .text = text.data,
    .end = text.data + text.size,
    .at = text.data,
    .token = { .start = text.data, .end = text.data },
    .notes = ONNXL_TEXT_NOTE_NO_DOC,
    .line_start = text.data,
    .line = 1,
    .line_at = text.data,
  };
  onnxl_diag_sink_set_text(sink, text);
  bool ok = read_model(&r);
  onnxl_diag_sort(sink);
  /* The text may be gone when the sink is used again. */
  onnxl_diag_sink_set_text(sink, (OnnxlStr){ NULL, 0 });
  g_free(r.scratch);
  if (onnxl_arena_exhausted(model->arena))
    onnxl_reader_exhausted(&r);
  if (r.error) {
    g_clear_error(&r.io_error);
    g_propagate_error(error, r.error);
    return false;
  }
  if (r.io_error) {
    g_propagate_error(error, r.io_error);
    return false;
  }
  if (!ok || onnxl_diag_errors(sink) > errors)
    return onnxl_fail(error, ONNXL_ERROR_INVALID, "the text is not a valid model");
  return true;
}
