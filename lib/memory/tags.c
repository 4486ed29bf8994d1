/* What values are for: weights and activations, shapes, axes. Tags spread forwards from inputs and initializers and
 * backwards from those who consume shapes and axes, until nothing changes. A tag only ever moves up (none, weight,
 * shape or axes, ambiguous), so each value changes a few times at most and the whole is linear. */
#include "memory/profile.h"

/* What an operator says about the tags of its inputs and outputs. */
typedef enum Habit {
  SHAPE_OUTPUT = 1 << 0,
  CONSTANT = 1 << 1,
  CONCAT = 1 << 2,
  SHAPE_SECOND = 1 << 3, /* input 1 is a shape whatever it comes from */
  AXES_SECOND = 1 << 4,
  SLICE = 1 << 5,         /* inputs 1, 2 and 4 are shapes, 3 axes */
  BACK_TO_FIRST = 1 << 6, /* input 0 is what the output is */
  BACK_TO_BOTH = 1 << 7,  /* inputs 0 and 1 are weights when the output is */
  LOOKED_UP = 1 << 8,     /* nothing more is known */
} Habit;

/* By name. */
#define OP(name, habits)              \
  {                                   \
    { name, sizeof name - 1 }, habits \
  }
static const struct {
  OnnxlStr name;
  uint8_t habits;
} operators[] = {
  OP("Add", BACK_TO_BOTH),
  OP("Cast", BACK_TO_FIRST),
  OP("Concat", CONCAT),
  OP("Constant", CONSTANT),
  OP("Div", BACK_TO_BOTH),
  OP("Expand", SHAPE_SECOND),
  OP("Gather", BACK_TO_FIRST),
  OP("Identity", BACK_TO_FIRST),
  OP("Max", BACK_TO_BOTH),
  OP("Min", BACK_TO_BOTH),
  OP("Mod", BACK_TO_BOTH),
  OP("Mul", BACK_TO_BOTH),
  OP("Pow", BACK_TO_BOTH),
  OP("ReduceMax", AXES_SECOND),
  OP("ReduceMean", AXES_SECOND),
  OP("ReduceMin", AXES_SECOND),
  OP("ReduceSum", AXES_SECOND),
  OP("Reshape", SHAPE_SECOND | BACK_TO_FIRST),
  OP("Shape", SHAPE_OUTPUT),
  OP("Size", SHAPE_OUTPUT),
  OP("Slice", SLICE | BACK_TO_FIRST),
  OP("Squeeze", AXES_SECOND | BACK_TO_FIRST),
  OP("Sub", BACK_TO_BOTH),
  OP("Unsqueeze", AXES_SECOND | BACK_TO_FIRST),
};

typedef struct Spread {
  const OnnxlInference *inference;
  const OnnxlIndex *index;
  OnnxlTag *tags;
  uint16_t habits[ONNXL_N_OPS]; /* LOOKED_UP, or not yet asked for */
  GArray *next;                 /* nodes to look at in the next round */
  bool *queued;                 /* by node id: it will be looked at, in this round or the next */
  uint32_t current;             /* the node that is looked at: that it tagged its outputs is no news to it */
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
  g_array_append_val(s->next, node);
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
  if (v->producer != ONNXL_NONE && v->producer != s->current)
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

static uint16_t
look_up(OnnxlStr op)
{
  size_t low = 0, high = G_N_ELEMENTS(operators);

  while (low < high) {
    size_t middle = (low + high) / 2;
    int order = onnxl_str_compare(op, operators[middle].name);
    if (order == 0)
      return operators[middle].habits | LOOKED_UP;
    if (order > 0)
      low = middle + 1;
    else
      high = middle;
  }
  return LOOKED_UP;
}

/* Most nodes are of a few operators of the table, so that a name is looked up once. */
static uint16_t
habits_of(Spread *s, uint32_t id)
{
  const OnnxlOpSchema *schema = s->inference->schemas[id];

  if (!schema)
    return look_up(s->index->nodes[id].proto->op_type);
  if (!s->habits[schema->op])
    s->habits[schema->op] = look_up(onnxl_str(schema->name));
  return s->habits[schema->op];
}

/* Inputs that are shapes or axes whatever they come from. */
static void
hint_inputs(Spread *s, const OnnxlIndexNode *node, uint16_t habits)
{
  if (habits & SHAPE_SECOND) {
    set_tag(s, input(node, 1), ONNXL_TAG_SHAPE);
  } else if (habits & AXES_SECOND) {
    set_tag(s, input(node, 1), ONNXL_TAG_AXES);
  } else if (habits & SLICE) {
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
spread_node(Spread *s, uint32_t id)
{
  const OnnxlIndexNode *node = &s->index->nodes[id];
  uint16_t habits = habits_of(s, id);
  OnnxlTag tag;

  s->current = id;
  s->queued[id] = false;
  hint_inputs(s, node, habits);
  if (habits & SHAPE_OUTPUT)
    tag = ONNXL_TAG_SHAPE;
  else if (habits & CONSTANT)
    tag = node->n_outputs > 0 && tag_of(s, node->outputs[0]) != ONNXL_TAG_NONE ? tag_of(s, node->outputs[0])
                                                                               : ONNXL_TAG_WEIGHT;
  else if (habits & CONCAT)
    tag = concat_tag(s, node);
  else
    tag = tag_of(s, input(node, 0));
  for (uint32_t i = 0; i < node->n_outputs; i++)
    set_tag(s, node->outputs[i], tag);

  OnnxlTag out = node->n_outputs > 0 ? tag_of(s, node->outputs[0]) : ONNXL_TAG_NONE;
  if (habits & CONCAT && out != ONNXL_TAG_AMBIGUOUS) {
    for (uint32_t i = 0; i < node->n_inputs; i++)
      set_tag(s, node->inputs[i], out);
  } else if (habits & BACK_TO_FIRST) {
    set_tag(s, input(node, 0), out);
  } else if (habits & BACK_TO_BOTH && out == ONNXL_TAG_WEIGHT) {
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
    .queued = ONNXL_NEW_ARRAY(arena, bool, index->n_nodes),
  };

  if (onnxl_arena_exhausted(arena))
    return NULL;
  for (uint32_t i = 0; i < index->n_values; i++)
    if (index->values[i].kind != ONNXL_VALUE_NODE_OUTPUT)
      s.tags[i] = ONNXL_TAG_WEIGHT;
  /* The first round is all nodes, in their order. */
  s.next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  memset(s.queued, true, index->n_nodes);
  for (uint32_t i = 0; i < index->n_nodes; i++)
    spread_node(&s, i);
  GArray *round = g_array_new(FALSE, FALSE, sizeof(uint32_t));
  while (s.next->len > 0) {
    GArray *done = round;
    round = s.next;
    s.next = g_array_set_size(done, 0);
    for (guint i = 0; i < round->len; i++)
      spread_node(&s, g_array_index(round, uint32_t, i));
  }
  g_array_free(round, TRUE);
  g_array_free(s.next, TRUE);
  return s.tags;
}
