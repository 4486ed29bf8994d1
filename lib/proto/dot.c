#include "proto/dot.h"

#include "support/error.h"
#include "support/escape.h"
#include "support/map.h"

/* The value of a name in a scope: drawn nodes are numbered, so a value is the number of what makes it. */
typedef struct Scope {
  OnnxlMap producers;
  const struct Scope *outer;
} Scope;

typedef struct Drawing {
  OnnxlOutput *out;
  OnnxlArena *arena;
  uint32_t n_boxes;
  uint32_t n_clusters;
} Drawing;

/* Text in dot's quotes, where only the quote and the backslash are special. */
static void
quoted(OnnxlOutput *out, OnnxlStr text)
{
  for (size_t i = 0; i < text.size;) {
    uint32_t c;
    size_t size = onnxl_utf8_next(onnxl_str_n(text.data + i, text.size - i), &c);
    if (size == 1 && (c == '"' || c == '\\'))
      onnxl_output_char(out, '\\');
    if (size > 0 && !onnxl_is_unsafe_char(c))
      onnxl_output_write(out, text.data + i, size);
    else
      onnxl_output_text(out, "\xef\xbf\xbd");
    i += MAX(size, 1);
  }
}

static void
indent(const Drawing *d, uint32_t depth)
{
  onnxl_output_spaces(d->out, 2 * depth);
}

static void
define(Drawing *d, Scope *scope, OnnxlStr name, uint32_t box)
{
  if (name.size > 0)
    onnxl_map_put(&scope->producers, name, box, NULL);
}

/* Starts a box and returns its number; the caller writes the label and ends it. */
static uint32_t
begin_box(Drawing *d, uint32_t depth, const char *style)
{
  indent(d, depth);
  onnxl_output_printf(d->out, "n%u [%slabel=\"", d->n_boxes, style);
  return d->n_boxes++;
}

static void
end_box(Drawing *d)
{
  onnxl_output_text(d->out, "\"];\n");
}

/* An edge from what makes the value, in this scope or one around it; nothing for initializers and undefined names. */
static void
edge(Drawing *d, const Scope *scope, OnnxlStr name, uint32_t to, uint32_t depth)
{
  for (; scope && name.size > 0; scope = scope->outer) {
    uint32_t from = onnxl_map_get(&scope->producers, name);
    if (from == ONNXL_MAP_NONE)
      continue;
    indent(d, depth);
    onnxl_output_printf(d->out, "n%u -> n%u [label=\"", from, to);
    quoted(d->out, name);
    onnxl_output_text(d->out, "\"];\n");
    return;
  }
}

static void graph(Drawing *d, const OnnxlGraph *g, const Scope *outer, uint32_t depth);

/* A nested graph in a frame, named after its attribute. */
static void
cluster(Drawing *d, const OnnxlAttribute *attribute, const OnnxlGraph *g, const Scope *scope, uint32_t depth)
{
  indent(d, depth);
  onnxl_output_printf(d->out, "subgraph cluster%u {\n", d->n_clusters++);
  indent(d, depth + 1);
  onnxl_output_text(d->out, "label=\"");
  quoted(d->out, attribute->name);
  onnxl_output_text(d->out, "\";\n");
  graph(d, g, scope, depth + 1);
  indent(d, depth);
  onnxl_output_text(d->out, "}\n");
}

static void
node(Drawing *d, const OnnxlNode *n, Scope *scope, uint32_t depth)
{
  OnnxlStr domain = onnxl_domain_normal(n->domain);
  uint32_t box = begin_box(d, depth, "shape=box, ");

  if (domain.size > 0) {
    quoted(d->out, domain);
    onnxl_output_char(d->out, '.');
  }
  quoted(d->out, n->op_type);
  if (n->name.size > 0) {
    onnxl_output_text(d->out, "\\n");
    quoted(d->out, n->name);
  }
  end_box(d);
  for (size_t i = 0; i < n->input.count; i++)
    edge(d, scope, n->input.items[i], box, depth);
  for (size_t i = 0; i < n->attribute.count; i++) {
    const OnnxlAttribute *attribute = &n->attribute.items[i];
    if (attribute->g)
      cluster(d, attribute, attribute->g, scope, depth);
    for (size_t j = 0; j < attribute->graphs.count; j++)
      cluster(d, attribute, &attribute->graphs.items[j], scope, depth);
  }
  for (size_t i = 0; i < n->output.count; i++)
    define(d, scope, n->output.items[i], box);
}

static void
graph(Drawing *d, const OnnxlGraph *g, const Scope *outer, uint32_t depth)
{
  Scope scope = { onnxl_map_new(d->arena, g->node.count), outer };
  OnnxlMap constants = onnxl_map_new(d->arena, g->initializer.count);

  for (size_t i = 0; i < g->initializer.count; i++)
    onnxl_map_put(&constants, g->initializer.items[i].name, 0, NULL);
  for (size_t i = 0; i < g->input.count; i++) {
    OnnxlStr name = g->input.items[i].name;
    if (onnxl_map_get(&constants, name) != ONNXL_MAP_NONE)
      continue; /* an initializer that may be overridden */
    define(d, &scope, name, begin_box(d, depth, "shape=ellipse, "));
    quoted(d->out, name);
    end_box(d);
  }
  for (size_t i = 0; i < g->node.count; i++)
    node(d, &g->node.items[i], &scope, depth);
  for (size_t i = 0; i < g->output.count; i++) {
    uint32_t box = begin_box(d, depth, "shape=ellipse, style=bold, ");
    quoted(d->out, g->output.items[i].name);
    end_box(d);
    edge(d, &scope, g->output.items[i].name, box, depth);
  }
}

bool
onnxl_dot_write(OnnxlOutput *out, const OnnxlModel *model, GError **error)
{
  Drawing drawing = { .out = out, .arena = onnxl_arena_new(onnxl_arena_budget(model->arena)) };

  onnxl_output_text(out, "digraph \"");
  if (model->proto.graph)
    quoted(out, model->proto.graph->name);
  onnxl_output_text(out, "\" {\n");
  if (model->proto.graph)
    graph(&drawing, model->proto.graph, NULL, 1);
  onnxl_output_text(out, "}\n");
  bool ok = !onnxl_arena_exhausted(drawing.arena);
  onnxl_arena_free(drawing.arena);
  return ok || onnxl_fail(error, ONNXL_ERROR_LIMIT, "no memory is left for the drawing (see --max-metadata)");
}
