#include "report.h"

#include "cli/table.h"
#include "solution.h"
#include "support/error.h"
#include "support/escape.h"
#include "support/json.h"

typedef struct Report {
  const OnnxlInference *inference; /* of the main graph */
  OnnxlArena *arena;               /* for paths */
  const OnnxlBindings *bindings;
  bool evaluate;
  bool nested;
  OnnxlShapesSolution *solution; /* NULL: nothing is evaluated */
} Report;

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static OnnxlExpr
evaluated(const Report *report, OnnxlExpr e)
{
  return e && report->solution ? onnxl_shapes_solution_evaluate(report->solution, e) : e;
}

static bool
check_names(const Report *report, GError **error)
{
  for (size_t i = 0; i < report->bindings->count; i++)
    if (!onnxl_inference_check_symbol(report->inference, report->bindings->items[i].name, error))
      return false;
  return true;
}

/* --- constraints -------------------------------------------------------------------------------------------------- */

static bool
holds(int64_t a, OnnxlRelation relation, int64_t b)
{
  switch (relation) {
  case ONNXL_REL_EQ:
    return a == b;
  case ONNXL_REL_NE:
    return a != b;
  case ONNXL_REL_LE:
    return a <= b;
  case ONNXL_REL_GE:
    return a >= b;
  case ONNXL_REL_LT:
    return a < b;
  case ONNXL_REL_GT:
    return a > b;
  }
  return false;
}

/* Writes the text of a constraint to out (memory). False: evaluation decided it, nothing is left to say. */
static bool
constraint_text(const Report *report, const OnnxlConstraint *c, OnnxlOutput *out, OnnxlDiagSink *sink)
{
  OnnxlExpr lhs = evaluated(report, c->lhs), rhs = evaluated(report, c->rhs);
  int64_t a, b;
  bool decided = lhs && rhs && onnxl_expr_is_int(lhs, &a) && onnxl_expr_is_int(rhs, &b);
  if (report->evaluate && (lhs == NULL || rhs == NULL || (decided && holds(a, c->relation, b))))
    return false;
  onnxl_output_clear(out);
  onnxl_output_init(out, -1);
  OnnxlConstraint left = { .lhs = lhs, .rhs = rhs, .relation = c->relation };
  onnxl_constraint_print(out, decided ? c : &left);
  if (!report->evaluate || !decided)
    return true;
  OnnxlStr text = onnxl_output_memory(out);
  onnxl_diag(sink, ONNXL_DIAG_SHAPE_MISMATCH, NULL,
             "%.*s does not hold for these values: %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT, ONNXL_ARG(text), a, b);
  return false;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* A value that is visited: of the main graph, or of a nested graph or body, whose path is then not NULL. */
typedef struct Place {
  const OnnxlInference *inference;
  const char *graph;
  uint32_t value;
} Place;

typedef void (*Visit)(void *data, const Report *report, const Place *place);

/* Inputs, initializers, then node outputs of one graph in graph order. */
static void
visit_graph(const Report *report, const OnnxlInference *inference, uint32_t graph, bool initializers, Visit visit,
            void *data)
{
  const OnnxlIndex *index = inference->index;
  const OnnxlIndexGraph *g = &index->graphs[graph];
  Place place = { .inference = inference };
  if (inference != report->inference || graph != 0)
    place.graph = onnxl_inference_graph_path(inference, graph, report->arena);
  for (uint32_t i = 0; i < g->n_inputs; i++) {
    place.value = g->inputs[i];
    if (initializers || (!index->values[place.value].initializer && !index->values[place.value].sparse))
      visit(data, report, &place);
  }
  for (uint32_t i = 0; initializers && i < g->n_initializers; i++) {
    place.value = g->initializers[i];
    if (!index->values[place.value].is_input)
      visit(data, report, &place);
  }
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const OnnxlIndexNode *node = &index->nodes[g->first_node + i];
    for (uint32_t k = 0; k < node->n_outputs; k++) {
      place.value = node->outputs[k];
      if (place.value != ONNXL_NONE)
        visit(data, report, &place);
    }
  }
}

/* The graphs of one inference, then the bodies of the functions that they call, each call by itself. Inference bounds
 * the nesting. */
static void
for_each_value(const Report *report, const OnnxlInference *inference, bool initializers, Visit visit, void *data)
{
  const OnnxlIndex *index = inference->index;
  for (uint32_t g = 0; g < (report->nested ? index->n_graphs : 1); g++)
    visit_graph(report, inference, g, initializers, visit, data);
  for (uint32_t n = 0; report->nested && n < index->n_nodes; n++)
    if (inference->calls[n])
      for_each_value(report, inference->calls[n], initializers, visit, data);
}

/* The dims to print, evaluated where that is asked for. Returns: owned, NULL for an unknown rank. */
static OnnxlExpr *
dims_of(const Report *report, const Place *place)
{
  const OnnxlInfo *info = &place->inference->values[place->value];
  if (!info->has_rank)
    return NULL;
  const OnnxlExpr *dims = report->evaluate ? info->dims : onnxl_inference_shown_dims(place->inference, place->value);
  OnnxlExpr *copy = g_new0(OnnxlExpr, info->rank + 1);
  for (uint32_t i = 0; i < info->rank; i++)
    copy[i] = evaluated(report, dims[i]);
  return copy;
}

static OnnxlStr
name_of(const Place *place)
{
  return place->inference->index->values[place->value].name;
}

typedef struct TextReport {
  OnnxlOutput *out;
  const char *graph; /* whose heading was printed last */
  OnnxlOutput shape;
} TextReport;

static void
print_text(void *data, const Report *report, const Place *place)
{
  TextReport *text = data;
  OnnxlOutput *out = text->out;
  OnnxlExpr *dims = dims_of(report, place);
  if (place->graph && place->graph != text->graph) {
    onnxl_output_escaped(out, onnxl_str(place->graph));
    onnxl_output_text(out, ":\n");
  }
  text->graph = place->graph;
  onnxl_output_text(out, place->graph ? "  " : "");
  onnxl_output_escaped(out, name_of(place));
  onnxl_output_text(out, ": ");
  text->shape.used = 0;
  onnxl_info_print(&text->shape, &place->inference->values[place->value], dims);
  onnxl_output_escaped(out, onnxl_output_memory(&text->shape));
  onnxl_output_char(out, '\n');
  g_free(dims);
}

static const char *
kind_name(OnnxlTypeKind kind)
{
  static const char *const names[] = {
    [ONNXL_KIND_TENSOR] = "tensor",     [ONNXL_KIND_SPARSE_TENSOR] = "sparse_tensor",
    [ONNXL_KIND_SEQUENCE] = "sequence", [ONNXL_KIND_OPTIONAL] = "optional",
    [ONNXL_KIND_MAP] = "map",           [ONNXL_KIND_OPAQUE] = "opaque",
  };
  return names[kind];
}

/* The element type of the tensors inside. */
static const char *
element_name(const OnnxlInfo *info)
{
  for (unsigned depth = 0; info->element && depth < 16; depth++)
    info = info->element;
  return onnxl_data_type_name(info->elem_type);
}

static void
print_json(void *data, const Report *report, const Place *place)
{
  OnnxlJson *json = data;
  const OnnxlInfo *info = &place->inference->values[place->value];
  const char *kind = kind_name(info->kind), *type = element_name(info);
  OnnxlExpr *dims = dims_of(report, place);
  int64_t number;
  onnxl_json_begin_object(json);
  onnxl_json_key(json, "name");
  onnxl_json_string(json, name_of(place));
  if (place->graph) {
    onnxl_json_key(json, "graph");
    onnxl_json_text(json, place->graph);
  }
  onnxl_json_key(json, "type");
  onnxl_json_text(json, kind);
  onnxl_json_key(json, "dtype");
  onnxl_json_text(json, type);
  onnxl_json_key(json, "shape");
  if (!dims)
    onnxl_json_null(json);
  else
    onnxl_json_begin_array(json);
  for (uint32_t i = 0; dims && i < info->rank; i++) {
    if (!dims[i])
      onnxl_json_null(json);
    else if (onnxl_expr_is_int(dims[i], &number))
      onnxl_json_int64(json, number);
    else
      onnxl_json_string(json, onnxl_expr_text(report->inference->pool, dims[i]));
  }
  if (dims)
    onnxl_json_end_array(json);
  onnxl_json_end_object(json);
  g_free(dims);
}

static void
print_row(void *data, const Report *report, const Place *place)
{
  OnnxlTable *table = data;
  const OnnxlInfo *info = &place->inference->values[place->value];
  const char *kind = kind_name(info->kind), *type = element_name(info);
  OnnxlExpr *dims = dims_of(report, place);
  OnnxlOutput text;
  onnxl_table_text(table, name_of(place));
  onnxl_table_text(table, onnxl_str(kind ? kind : ""));
  onnxl_table_text(table, onnxl_str(type ? type : ""));
  onnxl_output_init(&text, -1);
  for (uint32_t i = 0; dims && i < info->rank; i++) {
    onnxl_output_text(&text, i == 0 ? "" : ",");
    onnxl_expr_print(&text, dims[i]);
  }
  if (dims)
    onnxl_table_printf(table, "[%.*s]", ONNXL_ARG(onnxl_output_memory(&text)));
  else
    onnxl_table_none(table);
  onnxl_output_clear(&text);
  if (report->nested)
    onnxl_table_text(table, onnxl_str(place->graph ? place->graph : ""));
  g_free(dims);
}

bool
onnxl_shapes_report(const OnnxlInference *inference, const OnnxlShapesReport *options, OnnxlArena *arena,
                    OnnxlOutput *out, OnnxlDiagSink *sink, GError **error)
{
  static const OnnxlColumn columns[] = {
    { "name", false }, { "type", false }, { "dtype", false }, { "shape", false }, { "graph", false }
  };
  OnnxlReportFormat format = options->format;
  Report report = {
    .inference = inference,
    .arena = arena,
    .bindings = options->bindings,
    .evaluate = options->bindings->count > 0,
    .nested = options->nested,
  };
  OnnxlOutput text;
  if (!check_names(&report, error))
    return false;
  if (report.evaluate)
    report.solution = onnxl_shapes_solution_new(inference, options->bindings);
  onnxl_output_init(&text, -1);
  if (format == ONNXL_FORMAT_JSON) {
    OnnxlJson json;
    onnxl_json_init(&json, out, 2);
    onnxl_json_begin_object(&json);
    onnxl_json_key(&json, "values");
    onnxl_json_begin_array(&json);
    for_each_value(&report, inference, true, print_json, &json);
    onnxl_json_end_array(&json);
    onnxl_json_key(&json, "constraints");
    onnxl_json_begin_array(&json);
    for (size_t i = 0; i < inference->n_constraints; i++)
      if (constraint_text(&report, &inference->constraints[i], &text, sink))
        onnxl_json_string(&json, onnxl_output_memory(&text));
    onnxl_json_end_array(&json);
    onnxl_json_end_object(&json);
    onnxl_json_end(&json);
  } else if (format == ONNXL_FORMAT_CSV) {
    OnnxlTable *table = onnxl_table_new(columns, G_N_ELEMENTS(columns) - (report.nested ? 0 : 1));
    for_each_value(&report, inference, true, print_row, table);
    onnxl_table_write(table, format, out);
    onnxl_table_free(table);
  } else {
    TextReport lines = { .out = out };
    onnxl_output_init(&lines.shape, -1);
    for_each_value(&report, inference, false, print_text, &lines);
    onnxl_output_clear(&lines.shape);
    for (size_t i = 0; i < inference->n_constraints; i++)
      if (constraint_text(&report, &inference->constraints[i], &text, sink)) {
        onnxl_output_escaped(out, onnxl_output_memory(&text));
        onnxl_output_char(out, '\n');
      }
  }
  onnxl_output_clear(&text);
  onnxl_shapes_solution_free(report.solution);
  return true;
}
