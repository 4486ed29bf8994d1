#include "runtime/event.h"

#include "runtime/value-print.h"
#include "support/json.h"

/* An event shows a glimpse of a tensor. */
enum { MAX_VALUES = 8 };

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

static OnnxlStr
domain_shown(const OnnxlNode *node)
{
  OnnxlStr domain = onnxl_domain_normal(node->domain);
  return domain.size > 0 ? domain : ONNXL_STR("ai.onnx");
}

void
onnxl_event_print_summary(OnnxlOutput *out, const OnnxlEvent *event)
{
  onnxl_output_printf(out, "[%s/%s] ", action_names[event->action], kind_names[event->kind]);
  if (event->action == ONNXL_EVENT_RUN_NODE) {
    onnxl_output_str(out, domain_shown(event->proto));
    onnxl_output_text(out, "::");
    onnxl_output_str(out, event->proto->op_type);
    onnxl_output_char(out, '(');
    for (size_t i = 0; i < event->proto->input.count; i++) {
      onnxl_output_text(out, i > 0 ? ", " : "");
      onnxl_output_str(out, event->proto->input.items[i]);
    }
    onnxl_output_char(out, ')');
  } else {
    onnxl_output_char(out, '\'');
    onnxl_output_str(out, event->name);
    onnxl_output_char(out, '\'');
  }
  if (event->node >= 0)
    onnxl_output_printf(out, " node#%" G_GINT64_FORMAT, event->node);
  if (event->action == ONNXL_EVENT_RUN_NODE)
    onnxl_output_printf(out, " took %" G_GUINT64_FORMAT "ns executor#1/1", event->duration_ns);
  onnxl_output_printf(out, " mem=%" G_GUINT64_FORMAT "B peak=%" G_GUINT64_FORMAT "B\n", event->live_bytes,
                      event->peak_bytes);
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
  onnxl_value_json_fields(&json, event->value, MAX_VALUES);
  onnxl_json_key(&json, "node");
  if (event->node >= 0)
    onnxl_json_int64(&json, event->node);
  else
    onnxl_json_null(&json);
  onnxl_json_key(&json, "op");
  onnxl_json_string(&json, runs ? event->proto->op_type : ONNXL_STR(""));
  onnxl_json_key(&json, "domain");
  onnxl_json_string(&json, runs ? domain_shown(event->proto) : ONNXL_STR(""));
  onnxl_json_key(&json, "duration_ns");
  onnxl_json_uint64(&json, event->duration_ns);
  onnxl_json_key(&json, "live_bytes");
  onnxl_json_uint64(&json, event->live_bytes);
  onnxl_json_key(&json, "peak_bytes");
  onnxl_json_uint64(&json, event->peak_bytes);
  onnxl_json_key(&json, "workspace_bytes");
  onnxl_json_uint64(&json, event->workspace_bytes);
  onnxl_json_end_object(&json);
  onnxl_json_end(&json);
}
