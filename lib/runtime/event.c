#include "runtime/event.h"

#include "runtime/event-internal.h"
#include "runtime/value-print.h"
#include "support/escape.h"
#include "support/json.h"

/* A process has one executor, and a kernel runs on the thread that calls it. */
enum { EXECUTOR_ID = 1, N_THREADS = 1 };

static const char *const action_names[] = { "add", "replace", "remove", "run_node" };
static const char *const kind_names[] = { "input", "initializer", "intermediate", "output", "unknown" };

const char *
onnxl_event_action_name(OnnxlEventAction action)
{
  return action_names[action];
}

const char *
onnxl_event_kind_name(OnnxlEventKind kind)
{
  return kind_names[kind];
}

/* --- places --- */

bool
onnxl_event_scope_repeats(const OnnxlEventScope *scope)
{
  const OnnxlIndexGraph *graph = &scope->frame->body->index->graphs[scope->graph];
  if (graph->parent_node == ONNXL_NONE) /* a function body */
    return false;
  const OnnxlNode *node = scope->frame->body->index->nodes[graph->parent_node].proto;
  return !(onnxl_str_is(node->op_type, "If") && onnxl_domain_normal(node->domain).size == 0);
}

const OnnxlEventScope *
onnxl_event_scope_outer(const OnnxlEventScope *scope)
{
  return scope->outer;
}

uint64_t
onnxl_event_scope_serial(const OnnxlEventScope *scope)
{
  return scope->serial;
}

static const OnnxlInference *
inference_of(const OnnxlFrame *frame, const OnnxlInference *main)
{
  if (!frame->caller)
    return main;
  const OnnxlInference *caller = inference_of(frame->caller, main);
  return caller ? caller->calls[frame->caller_node] : NULL;
}

const OnnxlInference *
onnxl_event_inference(const OnnxlEvent *event, const OnnxlInference *main)
{
  return event->scope ? inference_of(event->scope->frame, main) : main;
}

void
onnxl_event_scope_clear(OnnxlEventScope *scope)
{
  g_clear_pointer(&scope->path, g_free);
  g_clear_pointer(&scope->place, g_free);
}

/* The scopes are the executor's, which lets an event's function see them as constant; texts are made for who asks. */
static OnnxlEventScope *
writable(const OnnxlEventScope *scope)
{
  return (OnnxlEventScope *)scope;
}

const char *
onnxl_event_graph(const OnnxlEvent *event)
{
  OnnxlEventScope *scope = writable(event->scope);
  if (!scope)
    return "";
  if (!scope->path)
    scope->path = onnxl_frame_graph_path(scope->frame, scope->graph);
  return scope->path;
}

static const char *
place_of(OnnxlEventScope *scope)
{
  if (!scope)
    return "";
  if (!scope->place) {
    /* The paths of a scope and of the one around it differ by the graph, or by the call and the function. */
    OnnxlEvent here = { .scope = scope }, around = { .scope = scope->outer };
    const char *own = onnxl_event_graph(&here) + strlen(onnxl_event_graph(&around));
    scope->place = onnxl_event_scope_repeats(scope)
                     ? g_strdup_printf("%s%s[%" G_GUINT64_FORMAT "]", place_of(scope->outer), own, scope->trip)
                     : g_strdup_printf("%s%s", place_of(scope->outer), own);
  }
  return scope->place;
}

const char *
onnxl_event_place(const OnnxlEvent *event)
{
  return place_of(writable(event->scope));
}

char *
onnxl_event_node_path(const OnnxlEvent *event)
{
  const char *place = onnxl_event_place(event);
  const OnnxlNode *node = event->proto;
  if (!node)
    return g_strdup(*place ? place : "/");
  return node->name.size > 0
           ? g_strdup_printf("%s/%.*s (%.*s)", place, ONNXL_ARG(node->name), ONNXL_ARG(node->op_type))
           : g_strdup_printf("%s/#%" G_GINT64_FORMAT " (%.*s)", place, event->node, ONNXL_ARG(node->op_type));
}

/* --- lines --- */

OnnxlStr
onnxl_event_domain(const OnnxlEvent *event)
{
  OnnxlStr domain = onnxl_domain_normal(event->proto->domain);
  return domain.size > 0 ? domain : ONNXL_STR("ai.onnx");
}

void
onnxl_event_print_summary(OnnxlOutput *out, const OnnxlEvent *event)
{
  onnxl_output_printf(out, "[%s/%s] ", action_names[event->action], kind_names[event->kind]);
  if (event->action == ONNXL_EVENT_RUN_NODE) {
    onnxl_output_escaped(out, onnxl_event_domain(event));
    onnxl_output_text(out, "::");
    onnxl_output_escaped(out, event->proto->op_type);
    onnxl_output_char(out, '(');
    for (size_t i = 0; i < event->proto->input.count; i++) {
      onnxl_output_text(out, i > 0 ? ", " : "");
      onnxl_output_escaped(out, event->proto->input.items[i]);
    }
    onnxl_output_char(out, ')');
  } else {
    onnxl_output_char(out, '\'');
    onnxl_output_escaped(out, event->name);
    onnxl_output_char(out, '\'');
  }
  if (event->node >= 0)
    onnxl_output_printf(out, " node#%" G_GINT64_FORMAT, event->node);
  if (event->action == ONNXL_EVENT_RUN_NODE)
    onnxl_output_printf(out, " took %" G_GUINT64_FORMAT "ns executor#%d/%d", event->duration_ns, EXECUTOR_ID,
                        N_THREADS);
  onnxl_output_printf(out, " mem=%" G_GUINT64_FORMAT "B peak=%" G_GUINT64_FORMAT "B", event->live_bytes,
                      event->peak_bytes);
  if (event->scope) {
    onnxl_output_text(out, " in ");
    onnxl_output_escaped(out, onnxl_str(onnxl_event_place(event)));
  }
  onnxl_output_char(out, '\n');
}

static void
print_trips(OnnxlJson *json, const OnnxlEventScope *scope)
{
  if (!scope)
    return;
  print_trips(json, scope->outer);
  if (onnxl_event_scope_repeats(scope))
    onnxl_json_uint64(json, scope->trip);
}

static void
print_scope(OnnxlJson *json, const OnnxlEvent *event)
{
  onnxl_json_key(json, "graph");
  onnxl_json_text(json, onnxl_event_graph(event));
  onnxl_json_key(json, "path");
  onnxl_json_text(json, onnxl_event_place(event));
  onnxl_json_key(json, "iteration");
  onnxl_json_begin_array(json);
  print_trips(json, event->scope);
  onnxl_json_end_array(json);
}

void
onnxl_event_print_json(OnnxlOutput *out, const OnnxlEvent *event)
{
  bool runs = event->action == ONNXL_EVENT_RUN_NODE;
  OnnxlJson json;
  onnxl_json_init(&json, out, 0);
  onnxl_json_begin_object(&json);
  onnxl_json_key(&json, "action");
  onnxl_json_text(&json, action_names[event->action]);
  onnxl_json_key(&json, "kind");
  onnxl_json_text(&json, kind_names[event->kind]);
  onnxl_json_key(&json, "name");
  onnxl_json_string(&json, event->name);
  onnxl_value_json_fields(&json, event->value, ONNXL_EVENT_VALUES);
  onnxl_json_key(&json, "node");
  if (event->node >= 0)
    onnxl_json_int64(&json, event->node);
  else
    onnxl_json_null(&json);
  onnxl_json_key(&json, "op");
  onnxl_json_string(&json, runs ? event->proto->op_type : ONNXL_STR(""));
  onnxl_json_key(&json, "domain");
  onnxl_json_string(&json, runs ? onnxl_event_domain(event) : ONNXL_STR(""));
  onnxl_json_key(&json, "duration_ns");
  onnxl_json_uint64(&json, event->duration_ns);
  onnxl_json_key(&json, "live_bytes");
  onnxl_json_uint64(&json, event->live_bytes);
  onnxl_json_key(&json, "peak_bytes");
  onnxl_json_uint64(&json, event->peak_bytes);
  onnxl_json_key(&json, "workspace_bytes");
  onnxl_json_uint64(&json, event->workspace_bytes);
  onnxl_json_key(&json, "timestamp_ns");
  onnxl_json_uint64(&json, event->timestamp_ns);
  if (event->value && event->value->kind == ONNXL_KIND_TENSOR) {
    onnxl_json_key(&json, "value_count");
    onnxl_json_int64(&json, event->value->count);
  }
  if (runs) {
    onnxl_json_key(&json, "inputs");
    onnxl_json_begin_array(&json);
    for (size_t i = 0; i < event->proto->input.count; i++)
      onnxl_json_string(&json, event->proto->input.items[i]);
    onnxl_json_end_array(&json);
    onnxl_json_key(&json, "executor");
    onnxl_json_int64(&json, EXECUTOR_ID);
    onnxl_json_key(&json, "threads");
    onnxl_json_int64(&json, N_THREADS);
  }
  if (event->scope)
    print_scope(&json, event);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}
