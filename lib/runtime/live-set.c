#include "runtime/live-set-internal.h"

#include <stdlib.h>

#include "runtime/account-internal.h"
#include "support/error.h"

enum { MAX_SHOWN = 10 };

typedef struct LiveValue {
  const OnnxlFrame *frame;
  uint32_t id;
  uint64_t bytes;
} LiveValue;

static OnnxlStr
name_of(const LiveValue *value)
{
  return value->frame->body->index->values[value->id].name;
}

static int
larger_first(const void *a, const void *b)
{
  const LiveValue *x = a, *y = b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return onnxl_str_compare(name_of(x), name_of(y));
}

/* Bytes of the allocator that a value holds: not those of a mapped file, and of a buffer that values share once. */
static uint64_t
allocated_bytes(const OnnxlValue *value, GHashTable *seen)
{
  const OnnxlValue *owner = value->base ? value->base : value;
  if (!owner->owned || !g_hash_table_add(seen, (gpointer)owner))
    return 0;
  return onnxl_value_bytes(owner);
}

/* by_buffer: what counts for --max-buffers, else what the allocator holds. */
static GArray *
collect(const OnnxlExecutor *executor, const OnnxlFrame *frame, bool by_buffer)
{
  GArray *live = g_array_new(FALSE, FALSE, sizeof(LiveValue));
  GHashTable *seen = g_hash_table_new(NULL, NULL);
  for (; frame; frame = frame->caller)
    for (uint32_t v = 0; v < frame->body->index->n_values; v++) {
      if (!frame->values[v])
        continue;
      LiveValue value = { frame, v,
                          by_buffer ? onnxl_account_bytes(executor, frame, v)
                                    : allocated_bytes(frame->values[v], seen) };
      if (value.bytes > 0)
        g_array_append_val(live, value);
    }
  g_hash_table_destroy(seen);
  g_array_sort(live, larger_first);
  return live;
}

void
onnxl_live_set_explain(OnnxlExecutor *executor, const OnnxlFrame *frame, GError **error)
{
  bool by_buffer = executor->shortage == ONNXL_SHORTAGE_BUFFERS;
  if (executor->shortage == ONNXL_SHORTAGE_TOLD || (!by_buffer && !executor->plan->allocator->refused) || !error ||
      !g_error_matches(*error, ONNXL_ERROR, ONNXL_ERROR_LIMIT))
    return;
  executor->shortage = ONNXL_SHORTAGE_TOLD;
  GArray *live = collect(executor, frame, by_buffer);
  uint64_t total = 0;
  for (guint i = 0; i < live->len; i++)
    total += g_array_index(live, LiveValue, i).bytes;
  GString *message = g_string_new((*error)->message);
  g_string_append_printf(message, "; %u live value%s of %" G_GUINT64_FORMAT " bytes", live->len,
                         live->len == 1 ? "" : "s", total);
  for (guint i = 0; i < live->len && i < MAX_SHOWN; i++) {
    const LiveValue *value = &g_array_index(live, LiveValue, i);
    uint32_t graph = value->frame->body->index->values[value->id].graph;
    bool is_main = graph == 0 && !value->frame->caller;
    g_autofree char *path = is_main ? NULL : onnxl_frame_graph_path(value->frame, graph);
    g_string_append_printf(message, "%s%.*s %" G_GUINT64_FORMAT "%s%s", i == 0 ? ": " : ", ", ONNXL_ARG(name_of(value)),
                           value->bytes, path ? " in " : "", path ? path : "");
  }
  if (live->len > MAX_SHOWN)
    g_string_append_printf(message, " and %u more", live->len - MAX_SHOWN);
  g_array_free(live, TRUE);
  g_free((*error)->message);
  (*error)->message = g_string_free(message, FALSE);
}
