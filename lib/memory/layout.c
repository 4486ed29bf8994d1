/* Families of sizes that are proportional to each other are laid out by numbers, with each symbol standing for some
 * value: what fits for one assignment fits for all. An offset is 0 or the end of another buffer, so it has an
 * expression, too. */
#include "memory/layout.h"

#include "memory/layout-internal.h"
#include "memory/peak-internal.h"
#include "support/error.h"
#include "support/sort.h"

/* Up to this many buffers a family is also laid out by size, which is quadratic and mostly better. With more than this
 * many live at one time they just follow each other. */
#define MAX_BY_SIZE 4096

/* Pairs of buffers that are looked at to find a better layout than the first, and layouts that are tried. */
#define MAX_STEPS 4000000
#define MAX_TRIES 500

/* A size is compared with this many families; real models have a handful. */
#define MAX_FAMILIES 64

typedef struct Item {
  OnnxlLayoutBuffer *buffer;
  int64_t weight;  /* bytes in numbers */
  int64_t offset;  /* in numbers */
  OnnxlExpr place; /* the same as an expression */
  uint32_t family;
} Item;

typedef struct Planner {
  const OnnxlMemory *memory;
  OnnxlExprPool *pool;
  OnnxlExpr zero;
  OnnxlExprLookup lookup;
  void *data;
  OnnxlLayoutBuffer *buffers;
  uint32_t n_buffers;
  uint32_t *places;
  uint32_t n_unknown;
} Planner;

bool
onnxl_layout_sample(void *data, OnnxlStr name, int64_t *ret_value)
{
  static const struct {
    uint32_t least, spread;
  } samples[ONNXL_N_SAMPLES] = { { 1009, 4096 }, { 61, 64 }, { 3, 4 }, { 1000003, 4096 }, { 1000000007, 4096 } };
  const unsigned *sample = data;
  uint32_t hash = 2166136261u;

  for (size_t i = 0; i < name.size; i++)
    hash = (hash ^ (uint8_t)name.data[i]) * 16777619u;
  *ret_value = samples[*sample].least + hash % samples[*sample].spread;
  return true;
}

static OnnxlExpr
size_of(const Planner *p, OnnxlExpr bytes)
{
  int64_t value;

  if (!bytes || !p->lookup || !onnxl_expr_evaluate(bytes, p->lookup, p->data, &value, NULL))
    return bytes;
  return onnxl_expr_int(p->pool, value);
}

static void
add_buffer(Planner *p, uint32_t value, uint32_t first, uint32_t last, OnnxlExpr bytes)
{
  OnnxlExpr size = size_of(p, bytes);

  if (!size) {
    p->n_unknown++;
    return;
  }
  if (value != ONNXL_NONE)
    p->places[value] = p->n_buffers;
  p->buffers[p->n_buffers++] = (OnnxlLayoutBuffer){ value, first, last, size, p->zero };
}

static void
collect(Planner *p)
{
  const OnnxlMemory *memory = p->memory;
  const OnnxlIndex *index = memory->inference->index;

  for (uint32_t id = 0; id < memory->n_nodes; id++) {
    const OnnxlIndexNode *node = &index->nodes[id];
    OnnxlExpr scratch = memory->nodes[id].outputs->amounts[ONNXL_TAG_SCRATCH];
    for (uint32_t o = 0; o < node->n_outputs; o++) {
      uint32_t v = node->outputs[o];
      if (v == ONNXL_NONE || onnxl_memory_is_constant(node))
        continue;
      uint32_t last = index->values[v].is_output          ? memory->n_nodes - 1
                      : memory->last_use[v] == ONNXL_NONE ? id
                                                          : memory->last_use[v];
      uint32_t from = memory->reuse[v];
      if (from == ONNXL_NONE) {
        add_buffer(p, v, id, last, memory->bytes[v]);
        continue;
      }
      /* The buffer of an input that died is not in the block, nor what is written over it. */
      p->places[v] = p->places[from];
      if (p->places[v] != ONNXL_NONE)
        p->buffers[p->places[v]].last = MAX(p->buffers[p->places[v]].last, last);
    }
    if (scratch != p->zero)
      add_buffer(p, ONNXL_NONE, id, id, scratch);
  }
}

/* True when a is to b as their weights are, for every assignment. */
static bool
proportional(const Planner *p, const Item *a, const Item *b)
{
  int64_t x = a->weight, y = b->weight;

  while (y != 0) {
    int64_t rest = x % y;
    x = y;
    y = rest;
  }
  OnnxlExpr left = onnxl_expr_mul(p->pool, a->buffer->bytes, onnxl_expr_int(p->pool, b->weight / x));
  OnnxlExpr right = onnxl_expr_mul(p->pool, b->buffer->bytes, onnxl_expr_int(p->pool, a->weight / x));
  return left && left == right;
}

/* Sorts the items into families. leaders: the first item of each. Returns how many. */
static uint32_t
find_families(const Planner *p, Item *items, uint32_t n, uint32_t *leaders)
{
  uint32_t n_families = 0;

  for (uint32_t i = 0; i < n; i++) {
    Item *item = &items[i];
    uint32_t f, first = n_families > MAX_FAMILIES ? n_families - MAX_FAMILIES : 0;
    /* Nothing takes no room in any of them. */
    for (f = first; item->weight > 0 && f < n_families && !proportional(p, item, &items[leaders[f]]); f++)
      ;
    if (f == n_families && item->weight > 0)
      leaders[n_families++] = i;
    item->family = item->weight > 0 ? f : UINT32_MAX;
  }
  return n_families;
}

/* A place, to remember. */
typedef struct Place {
  int64_t offset;
  OnnxlExpr place;
} Place;

static int
by_offset(const void *a, const void *b)
{
  const Item *x = *(Item *const *)a, *y = *(Item *const *)b;

  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Puts the item into the smallest gap between others, sorted by offset, that is large enough, else behind them. */
static void
place(const Planner *p, Item *item, Item *const *others, size_t n)
{
  int64_t end = 0, best = INT64_MAX;
  OnnxlExpr end_place = p->zero;

  item->offset = -1;
  for (size_t i = 0; i < n; i++) {
    int64_t gap = others[i]->offset - end, other_end = others[i]->offset + others[i]->weight;
    if (gap >= item->weight && gap < best) {
      best = gap;
      item->offset = end;
      item->place = end_place;
    }
    if (other_end > end) {
      end = other_end;
      end_place = onnxl_expr_add(p->pool, others[i]->place, others[i]->buffer->bytes);
    }
  }
  if (item->offset >= 0)
    return;
  item->offset = end;
  item->place = end_place;
}

static int64_t
height(Item *const *items, size_t n)
{
  int64_t end = 0;

  for (size_t i = 0; i < n; i++)
    end = MAX(end, items[i]->offset + items[i]->weight);
  return end;
}

/* In the order of nodes, among the buffers that are live then. */
static void
lay_out_by_time(const Planner *p, Item *const *items, size_t n, Item **live)
{
  size_t n_live = 0;

  for (size_t i = 0; i < n; i++) {
    Item *item = items[i];
    size_t kept = 0;
    for (size_t j = 0; j < n_live; j++)
      if (live[j]->buffer->last >= item->buffer->first)
        live[kept++] = live[j];
    n_live = kept;
    place(p, item, live, n_live);
    size_t at = n_live++;
    for (; at > 0 && by_offset(&live[at - 1], &item) > 0; at--)
      live[at] = live[at - 1];
    live[at] = item;
  }
}

static int
by_weight(const void *a, const void *b)
{
  const Item *x = *(Item *const *)a, *y = *(Item *const *)b;

  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

/* In the order given, among those placed already whose time overlaps. */
static void
lay_out_in_order(const Planner *p, Item *const *items, size_t n, Item **placed, Item **others)
{
  for (size_t i = 0; i < n; i++) {
    Item *item = items[i];
    size_t n_others = 0, at = i;
    for (size_t j = 0; j < i; j++)
      if (placed[j]->buffer->first <= item->buffer->last && item->buffer->first <= placed[j]->buffer->last)
        others[n_others++] = placed[j];
    place(p, item, others, n_others);
    for (; at > 0 && by_offset(&placed[at - 1], &item) > 0; at--)
      placed[at] = placed[at - 1];
    placed[at] = item;
  }
}

/* The most items and the largest sum of weights that are live at one node. */
static void
find_most_live(const Planner *p, Item *const *items, size_t n, size_t *ret_count, int64_t *ret_weight)
{
  g_autofree size_t *counts = g_new0(size_t, (size_t)p->memory->n_nodes + 1); /* of those that die with a node */
  g_autofree int64_t *weights = g_new0(int64_t, (size_t)p->memory->n_nodes + 1);
  size_t count = 0, id = 0;
  int64_t weight = 0;

  *ret_count = 0;
  *ret_weight = 0;
  for (size_t i = 0; i < n; i++) {
    for (; id < items[i]->buffer->first; id++) {
      count -= counts[id];
      weight -= weights[id];
    }
    counts[items[i]->buffer->last]++;
    weights[items[i]->buffer->last] += items[i]->weight;
    weight += items[i]->weight;
    *ret_count = MAX(*ret_count, ++count);
    *ret_weight = MAX(*ret_weight, weight);
  }
}

static void
keep(Place *kept, Item *const *items, size_t n)
{
  for (size_t i = 0; i < n; i++)
    kept[i] = (Place){ items[i]->offset, items[i]->place };
}

/* Moves the first of the items that reach up to the top to the front, where it gets a low place. False: it is there. */
static bool
promote_top(Item **order, size_t n, int64_t top)
{
  size_t at = 0;

  while (order[at]->offset + order[at]->weight < top)
    at++;
  Item *item = order[at];
  memmove(order + 1, order, at * sizeof *order);
  order[0] = item;
  return at > 0 && n > 1;
}

/* Large ones first; then, as long as that pays, what came to lie on top before the others. */
static void
search(const Planner *p, Item *const *items, size_t n, int64_t bound, Place *best, int64_t reached, Item **work)
{
  g_autofree Item **order = g_memdup2(items, n * sizeof *items);
  g_autofree Item **others = g_new(Item *, n);

  onnxl_sort(order, n, sizeof *order, by_weight);
  for (uint64_t tries = 0; reached > bound && tries <= MAX_STEPS / (n * n) && tries < MAX_TRIES; tries++) {
    lay_out_in_order(p, order, n, work, others);
    int64_t top = height(order, n);
    if (top < reached) {
      reached = top;
      keep(best, items, n);
    }
    if (!promote_top(order, n, top))
      return;
  }
}

/* Lays out one family. items: in the order of nodes. */
static void
lay_out(const Planner *p, Item **items, size_t n, Item **work)
{
  size_t most;
  int64_t bound;

  find_most_live(p, items, n, &most, &bound);
  if (most > MAX_BY_SIZE) {
    for (size_t i = 1; i < n; i++) {
      items[i]->offset = items[i - 1]->offset + items[i - 1]->weight;
      items[i]->place = onnxl_expr_add(p->pool, items[i - 1]->place, items[i - 1]->buffer->bytes);
    }
    return;
  }
  lay_out_by_time(p, items, n, work);
  if (n > MAX_BY_SIZE)
    return;
  g_autofree Place *best = g_new(Place, n);
  keep(best, items, n);
  search(p, items, n, bound, best, height(items, n), work);
  for (size_t i = 0; i < n; i++) {
    items[i]->offset = best[i].offset;
    items[i]->place = best[i].place;
  }
}

/* Returns the end of the family at base, as an expression. */
static OnnxlExpr
settle(const Planner *p, Item *const *items, size_t n, OnnxlExpr base)
{
  OnnxlExpr end = base;
  int64_t top = 0;

  for (size_t i = 0; i < n; i++) {
    OnnxlLayoutBuffer *buffer = items[i]->buffer;
    buffer->offset = onnxl_expr_add(p->pool, base, items[i]->place);
    if (items[i]->offset + items[i]->weight <= top)
      continue;
    top = items[i]->offset + items[i]->weight;
    end = onnxl_expr_add(p->pool, buffer->offset, buffer->bytes);
  }
  return end;
}

/* Bytes of a buffer with the first values of symbols for which they are in range. Only proportions to other buffers are
 * made of them, and those are proven, so that the values may differ from buffer to buffer. 1, which is nobody's
 * proportion, where there are no such values, or none that are more than 0: it is not said that it never takes room. */
static int64_t
weight_of(const Planner *p, OnnxlExpr bytes, int64_t most)
{
  int64_t weight;

  for (unsigned sample = 0; sample < ONNXL_N_SAMPLES && bytes != p->zero; sample++)
    if (onnxl_expr_evaluate(bytes, onnxl_layout_sample, &sample, &weight, NULL) && weight > 0 && weight <= most)
      return weight;
  return bytes == p->zero ? 0 : 1;
}

static bool
weigh(const Planner *p, Item *items, GError **error)
{
  int64_t most = INT64_MAX / MAX((int64_t)p->n_buffers, 1), number;

  for (uint32_t i = 0; i < p->n_buffers; i++) {
    OnnxlExpr bytes = p->buffers[i].bytes;
    if (onnxl_expr_is_int(bytes, &number) && (number < 0 || number > most))
      return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the buffers are too large to be laid out in 64 bits");
    items[i] = (Item){ .buffer = &p->buffers[i], .weight = weight_of(p, bytes, most), .place = p->zero };
  }
  return true;
}

/* The most that is live at one node. */
static OnnxlExpr
lower_bound(const Planner *p, OnnxlArena *arena, GError **error)
{
  OnnxlPeak peak = { .pool = p->pool, .arena = arena };
  OnnxlExpr live = p->zero;
  g_autofree uint32_t *next = g_new(uint32_t, MAX(p->n_buffers, 1));
  g_autofree uint32_t *dying = g_new(uint32_t, MAX(p->memory->n_nodes, 1)); /* lists of buffers by last node */
  uint32_t b = 0;

  for (uint32_t id = 0; id < p->memory->n_nodes; id++)
    dying[id] = ONNXL_NONE;
  for (uint32_t id = 0; id < p->memory->n_nodes; id++) {
    for (; b < p->n_buffers && p->buffers[b].first == id; b++) {
      live = onnxl_expr_add(p->pool, live, p->buffers[b].bytes);
      next[b] = dying[p->buffers[b].last];
      dying[p->buffers[b].last] = b;
    }
    if (!onnxl_peak_add(&peak, live, error))
      return NULL;
    for (uint32_t i = dying[id]; i != ONNXL_NONE; i = next[i])
      live = onnxl_expr_sub(p->pool, live, p->buffers[i].bytes);
  }
  return onnxl_peak_get(&peak);
}

static bool
lay_out_all(const Planner *p, OnnxlExpr *ret_size, GError **error)
{
  uint32_t n = p->n_buffers;
  g_autofree Item *items = g_new0(Item, MAX(n, 1));
  g_autofree uint32_t *leaders = g_new(uint32_t, MAX(n, 1));
  g_autofree Item **members = g_new(Item *, MAX(n, 1));
  g_autofree Item **work = g_new(Item *, MAX(n, 1));

  *ret_size = p->zero;
  if (!weigh(p, items, error))
    return false;
  uint32_t n_families = find_families(p, items, n, leaders);
  g_autofree size_t *starts = g_new0(size_t, (size_t)n_families + 2);
  for (uint32_t i = 0; i < n; i++)
    if (items[i].family != UINT32_MAX)
      starts[items[i].family + 2]++;
  for (uint32_t f = 2; f <= n_families; f++)
    starts[f] += starts[f - 1];
  for (uint32_t i = 0; i < n; i++)
    if (items[i].family != UINT32_MAX)
      members[starts[items[i].family + 1]++] = &items[i];
  for (uint32_t f = 0; f < n_families; f++) {
    size_t count = starts[f + 1] - starts[f];
    lay_out(p, members + starts[f], count, work);
    *ret_size = settle(p, members + starts[f], count, *ret_size);
  }
  return true;
}

const OnnxlLayout *
onnxl_layout_new(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, OnnxlArena *arena, GError **error)
{
  const OnnxlIndex *index = memory->inference->index;
  OnnxlExprPool *pool = memory->inference->pool;
  size_t room = memory->n_nodes;

  for (uint32_t id = 0; id < memory->n_nodes; id++)
    room += index->nodes[id].n_outputs;
  Planner p = {
    .memory = memory,
    .pool = pool,
    .zero = onnxl_expr_int(pool, 0),
    .lookup = lookup,
    .data = data,
    .buffers = ONNXL_NEW_ARRAY(arena, OnnxlLayoutBuffer, room),
    .places = ONNXL_NEW_ARRAY(arena, uint32_t, index->n_values),
  };
  OnnxlLayout *layout = ONNXL_NEW(arena, OnnxlLayout);
  if (onnxl_arena_exhausted(arena)) {
    onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
               onnxl_arena_budget(arena));
    return NULL;
  }
  for (uint32_t v = 0; v < index->n_values; v++)
    p.places[v] = ONNXL_NONE;
  collect(&p);
  OnnxlExpr size;
  GError *failed = NULL;
  OnnxlExpr bound = lower_bound(&p, arena, &failed);
  if (failed || !lay_out_all(&p, &size, &failed)) {
    g_propagate_error(error, failed);
    return NULL;
  }
  *layout = (OnnxlLayout){
    .buffers = p.buffers,
    .n_buffers = p.n_buffers,
    .places = p.places,
    .n_unknown = p.n_unknown,
    .size = size,
    .lower_bound = bound,
  };
  return layout;
}
