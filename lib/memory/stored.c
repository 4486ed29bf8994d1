#include "memory/stored.h"

#include "memory/stored-internal.h"
#include "support/error.h"
#include "support/number.h"

static OnnxlStr
find(const OnnxlPairList *pairs, const char *key)
{
  for (size_t i = 0; i < pairs->count; i++)
    if (onnxl_str_is(pairs->items[i].key, key))
      return pairs->items[i].value;
  return (OnnxlStr){ NULL, 0 };
}

OnnxlStr
onnxl_stored_inplace(const OnnxlNode *node)
{
  return find(&node->metadata_props, "onnxl.inplace");
}

/* The part of *rest up to separator, which is taken off with it. */
static OnnxlStr
take(OnnxlStr *rest, char separator)
{
  const char *end = memchr(rest->data, separator, rest->size);
  OnnxlStr part = onnxl_str_n(rest->data, end ? (size_t)(end - rest->data) : rest->size);
  size_t taken = part.size + (end ? 1 : 0);

  *rest = onnxl_str_n(rest->data + taken, rest->size - taken);
  return part;
}

bool
onnxl_stored_pair(OnnxlStr *rest, uint32_t *ret_output, uint32_t *ret_input)
{
  OnnxlStr input = take(rest, ';');
  uint64_t o, k;

  if (!memchr(input.data, ':', input.size))
    return false;
  OnnxlStr output = take(&input, ':');
  if (onnxl_parse_uint64(output, &o) != ONNXL_NUMBER_OK || onnxl_parse_uint64(input, &k) != ONNXL_NUMBER_OK ||
      o >= ONNXL_NONE || k >= ONNXL_NONE)
    return false;
  *ret_output = (uint32_t)o;
  *ret_input = (uint32_t)k;
  return true;
}

bool
onnxl_memory_stored(const OnnxlModel *model, OnnxlMemoryOptions *ret_options)
{
  const OnnxlGraph *graph = model->proto.graph;
  OnnxlStr asked = graph ? find(&graph->metadata_props, "onnxl.plan") : (OnnxlStr){ NULL, 0 };
  bool found = asked.size > 0;

  for (size_t i = 0; graph && !found && i < graph->node.count; i++) {
    const OnnxlPairList *pairs = &graph->node.items[i].metadata_props;
    found = find(pairs, "onnxl.inplace").data || find(pairs, "onnxl.release").data;
  }
  *ret_options = (OnnxlMemoryOptions){ .inplace = ONNXL_INPLACE_SAFE, .stored = true };
  while (asked.size > 0) {
    OnnxlStr word = take(&asked, ';');
    if (onnxl_str_is(word, "structural"))
      ret_options->inplace = ONNXL_INPLACE_STRUCTURAL;
    else if (onnxl_str_is(word, "none"))
      ret_options->inplace = ONNXL_INPLACE_OFF;
    else if (onnxl_str_is(word, "free-inputs"))
      ret_options->free_inputs = true;
  }
  return found;
}

/* --- writing --- */

/* Sets key to text, or removes it when text is empty. */
static bool
put(OnnxlArena *arena, OnnxlPairList *pairs, const char *key, const GString *text)
{
  size_t n = 0;
  OnnxlPair *items = ONNXL_NEW_ARRAY(arena, OnnxlPair, pairs->count + 1);

  if (!items)
    return false;
  for (size_t i = 0; i < pairs->count; i++)
    if (!onnxl_str_is(pairs->items[i].key, key))
      items[n++] = pairs->items[i];
  if (text->len > 0) {
    items[n] =
      (OnnxlPair){ .key = onnxl_str(key), .value = onnxl_arena_copy(arena, onnxl_str_n(text->str, text->len)) };
    if (!items[n++].value.data)
      return false;
  }
  pairs->items = items;
  pairs->count = n;
  return true;
}

static void
append_name(GString *text, OnnxlStr name)
{
  if (text->len > 0)
    g_string_append_c(text, ';');
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == ';' || name.data[i] == '\\')
      g_string_append_c(text, '\\');
    g_string_append_c(text, name.data[i]);
  }
}

static void
append_released(GString *text, const OnnxlMemory *memory, uint32_t id, uint32_t v)
{
  const OnnxlIndexValue *value = &memory->inference->index->values[v];
  bool mortal = value->kind == ONNXL_VALUE_NODE_OUTPUT
                  ? !onnxl_memory_is_constant(&memory->inference->index->nodes[value->producer])
                  : value->kind == ONNXL_VALUE_INPUT && memory->free_inputs && value->graph == 0;

  if (mortal && !value->is_output && memory->last_use[v] == id &&
      value->graph == memory->inference->index->nodes[id].graph)
    append_name(text, value->name);
}

/* True for the second and later places where the node has the value among its inputs and captures. */
static bool
seen_before(const OnnxlIndexNode *node, uint32_t at)
{
  uint32_t v = at < node->n_inputs ? node->inputs[at] : node->captures[at - node->n_inputs];

  for (uint32_t i = 0; i < at; i++)
    if ((i < node->n_inputs ? node->inputs[i] : node->captures[i - node->n_inputs]) == v)
      return true;
  return false;
}

/* Nodes with more inputs than this name what they release once for each place, to stay linear. */
#define MAX_COMPARED 256

static bool
store_node(OnnxlModel *model, const OnnxlMemory *memory, const OnnxlLayout *layout, uint32_t id, GString *texts[4])
{
  const OnnxlIndexNode *node = &memory->inference->index->nodes[id];
  OnnxlExprPool *pool = memory->inference->pool;
  bool any_tag = false, any_place = false;

  for (uint32_t i = 0; i < node->n_inputs + node->n_captures; i++) {
    uint32_t v = i < node->n_inputs ? node->inputs[i] : node->captures[i - node->n_inputs];
    if (v != ONNXL_NONE && (i > MAX_COMPARED || !seen_before(node, i)))
      append_released(texts[1], memory, id, v);
  }
  for (uint32_t o = 0; o < node->n_outputs; o++) {
    uint32_t v = node->outputs[o];
    uint32_t from = v == ONNXL_NONE ? ONNXL_NONE : memory->reuse[v];
    for (uint32_t k = 0; from != ONNXL_NONE && k < node->n_inputs; k++)
      if (node->inputs[k] == from) {
        g_string_append_printf(texts[0], "%s%u:%u", texts[0]->len > 0 ? ";" : "", o, k);
        break;
      }
    if (o > 0) {
      g_string_append_c(texts[2], ';');
      g_string_append_c(texts[3], ';');
    }
    if (v == ONNXL_NONE)
      continue;
    g_string_append(texts[2], onnxl_tag_name(memory->tags[v]));
    any_tag = any_tag || memory->tags[v] != ONNXL_TAG_NONE;
    if (layout->places[v] == ONNXL_NONE)
      continue;
    const OnnxlLayoutBuffer *buffer = &layout->buffers[layout->places[v]];
    g_string_append_printf(texts[3], "%s:", onnxl_expr_text(pool, buffer->offset).data);
    g_string_append(texts[3], onnxl_expr_text(pool, buffer->bytes).data);
    any_place = true;
  }
  g_string_truncate(texts[2], any_tag ? texts[2]->len : 0);
  g_string_truncate(texts[3], any_place ? texts[3]->len : 0);
  /* Inference and the model share these structs: what the index calls constant is this model's own. */
  OnnxlPairList *pairs = &((OnnxlNode *)node->proto)->metadata_props;
  static const char *const keys[] = { "onnxl.inplace", "onnxl.release", "onnxl.tag", "onnxl.arena" };
  for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
    if (!put(model->arena, pairs, keys[i], texts[i]))
      return false;
  return true;
}

bool
onnxl_memory_store(OnnxlModel *model, const OnnxlMemory *memory, const OnnxlMemoryOptions *options,
                   const OnnxlLayout *layout, GError **error)
{
  static const char *const names[] = { "safe", "structural", "none" };
  GString *texts[4];
  bool good = true;

  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    texts[i] = g_string_new(NULL);
  for (uint32_t id = 0; good && id < memory->inference->index->n_nodes; id++) {
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
      g_string_truncate(texts[i], 0);
    good = store_node(model, memory, layout, id, texts);
  }
  g_string_printf(texts[0], "%s%s", names[options->inplace], options->free_inputs ? ";free-inputs" : "");
  good = good && put(model->arena, &model->proto.graph->metadata_props, "onnxl.plan", texts[0]);
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
    g_string_free(texts[i], TRUE);
  return good || onnxl_fail(error, ONNXL_ERROR_LIMIT,
                            "the plan needs more metadata than the %zu bytes that are allowed (--max-metadata)",
                            onnxl_arena_budget(model->arena));
}
