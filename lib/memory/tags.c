/* What values are for: weights and activations, shapes, axes. Tags spread forwards from inputs and initializers and
 * backwards from those who consume shapes and axes, until nothing changes. A tag only ever moves up (none, weight, shape
 * or axes, ambiguous), so each value changes a few times at most and the whole is linear. */
#include "memory/profile.h"

typedef struct Spread {
  const OnnxlInference *inference;
  const OnnxlIndex *index;
  OnnxlTag *tags;
  uint32_t *queue; /* nodes to look at, a ring of n_nodes */
  bool *queued;
  uint32_t first, count;
} Spread;

const char *
onnxl_tag_name(OnnxlTag tag)
{
  static const char *const names[ONNXL_N_TAGS] = { "", "ambiguous", "axes", "scratch", "shape", "weight" };

  return names[tag];
}

static void
enqueue(Spread *s, uint32_t node)
{
  if (s->queued[node])
    return;
  s->queued[node] = true;
  s->queue[(s->first + s->count++) % s->index->n_nodes] = node;
}

/* Gives a value a tag: shape and axes are stronger than weight; other clashes are ambiguous. */
static void
set_tag(Spread *s, uint32_t value, OnnxlTag tag)
{
  OnnxlTag old = value == ONNXL_NONE ? tag : s->tags[value];

  if (tag == ONNXL_TAG_NONE || old == tag || old == ONNXL_TAG_AMBIGUOUS)
    return;
  bool weak_new = tag == ONNXL_TAG_WEIGHT, weak_old = old == ONNXL_TAG_WEIGHT;
  if (old != ONNXL_TAG_NONE && weak_new)
    return;
  s->tags[value] = old == ONNXL_TAG_NONE || weak_old ? tag : ONNXL_TAG_AMBIGUOUS;

  const OnnxlIndexValue *v = &s->index->values[value];
  if (v->producer != ONNXL_NONE)
    enqueue(s, v->producer);
  for (uint32_t i = 0; i < v->n_uses; i++)
    enqueue(s, s->index->uses[v->first_use + i]);
}

static OnnxlTag
tag_of(const Spread *s, uint32_t value)
{
  return value == ONNXL_NONE ? ONNXL_TAG_NONE : s->tags[value];
}

static uint32_t
input(const OnnxlIndexNode *node, uint32_t i)
{
  return i < node->n_inputs ? node->inputs[i] : ONNXL_NONE;
}

static bool
is_one_of(OnnxlStr op, const char *const *names)
{
  for (; *names; names++)
    if (onnxl_str_is(op, *names))
      return true;
  return false;
}

/* Inputs that are shapes or axes whatever they come from. */
static void
hint_inputs(Spread *s, const OnnxlIndexNode *node, OnnxlStr op)
{
  static const char *const shape_second[] = { "Reshape", "Expand", NULL };
  static const char *const axes_second[] = { "Squeeze",    "Unsqueeze", "ReduceSum", "ReduceMean",
                                             "ReduceMax", "ReduceMin", NULL };

  if (is_one_of(op, shape_second)) {
    set_tag(s, input(node, 1), ONNXL_TAG_SHAPE);
  } else if (is_one_of(op, axes_second)) {
    set_tag(s, input(node, 1), ONNXL_TAG_AXES);
  } else if (onnxl_str_is(op, "Slice")) {
    set_tag(s, input(node, 1), ONNXL_TAG_SHAPE);
    set_tag(s, input(node, 2), ONNXL_TAG_SHAPE);
    set_tag(s, input(node, 3), ONNXL_TAG_AXES);
    set_tag(s, input(node, 4), ONNXL_TAG_SHAPE);
  }
}

/* Any weight makes a weight; equal tags stay; anything else is mixed. */
static OnnxlTag
concat_tag(const Spread *s, const OnnxlIndexNode *node)
{
  OnnxlTag tag = tag_of(s, input(node, 0));

  for (uint32_t i = 0; i < node->n_inputs; i++)
    if (tag_of(s, node->inputs[i]) == ONNXL_TAG_WEIGHT)
      return ONNXL_TAG_WEIGHT;
  for (uint32_t i = 0; i < node->n_inputs; i++)
    if (tag_of(s, node->inputs[i]) != tag)
      return ONNXL_TAG_AMBIGUOUS;
  return tag;
}

static void
spread_node(Spread *s, const OnnxlIndexNode *node)
{
  static const char *const backward[] = { "Identity", "Cast",   "Reshape", "Squeeze", "Unsqueeze",
                                          "Gather",   "Slice", NULL };
  static const char *const binary[] = { "Add", "Sub", "Mul", "Div", "Mod", "Pow", "Max", "Min", NULL };
  OnnxlStr op = node->proto->op_type;
  bool concat = onnxl_str_is(op, "Concat");
  OnnxlTag tag;

  hint_inputs(s, node, op);
  if (onnxl_str_is(op, "Shape") || onnxl_str_is(op, "Size"))
    tag = ONNXL_TAG_SHAPE;
  else if (onnxl_str_is(op, "Constant"))
    tag = node->n_outputs > 0 && tag_of(s, node->outputs[0]) != ONNXL_TAG_NONE ? tag_of(s, node->outputs[0])
                                                                               : ONNXL_TAG_WEIGHT;
  else if (concat)
    tag = concat_tag(s, node);
  else
    tag = tag_of(s, input(node, 0));
  for (uint32_t i = 0; i < node->n_outputs; i++)
    set_tag(s, node->outputs[i], tag);

  OnnxlTag out = node->n_outputs > 0 ? tag_of(s, node->outputs[0]) : ONNXL_TAG_NONE;
  if (concat && out != ONNXL_TAG_AMBIGUOUS) {
    for (uint32_t i = 0; i < node->n_inputs; i++)
      set_tag(s, node->inputs[i], out);
  } else if (is_one_of(op, backward)) {
    set_tag(s, input(node, 0), out);
  } else if (is_one_of(op, binary) && out == ONNXL_TAG_WEIGHT) {
    set_tag(s, input(node, 0), out);
    set_tag(s, input(node, 1), out);
  }
}

OnnxlTag *
onnxl_memory_tags(const OnnxlInference *inference, OnnxlArena *arena)
{
  const OnnxlIndex *index = inference->index;
  Spread s = {
    .inference = inference,
    .index = index,
    .tags = ONNXL_NEW_ARRAY(arena, OnnxlTag, index->n_values),
    .queue = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_nodes),
    .queued = ONNXL_NEW_ARRAY(arena, bool, index->n_nodes),
  };

  if (onnxl_arena_exhausted(arena))
    return NULL;
  for (uint32_t i = 0; i < index->n_values; i++)
    if (index->values[i].kind != ONNXL_VALUE_NODE_OUTPUT)
      s.tags[i] = ONNXL_TAG_WEIGHT;
  for (uint32_t i = 0; i < index->n_nodes; i++)
    enqueue(&s, i);
  while (s.count > 0) {
    uint32_t node = s.queue[s.first];
    s.first = (s.first + 1) % index->n_nodes;
    s.count--;
    s.queued[node] = false;
    spread_node(&s, &index->nodes[node]);
  }
  return s.tags;
}
