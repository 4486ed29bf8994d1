#include <stdlib.h>

#include "memory/reorder-internal.h"
#include "support/sort.h"

/* An order that grows. A node that frees nothing is late: it runs right before the first that needs what it makes,
 * which costs nothing. */
typedef struct Growing {
  const Schedule *schedule;
  uint32_t *order;
  uint32_t n;
  bool *done; /* by node id */
  bool *late;
  ScheduleRun run;
  uint32_t *left;
} Growing;

static uint32_t
producer_of(const Growing *g, uint32_t value)
{
  return g->schedule->values[value].producer;
}

static void
find_late(const Growing *g)
{
  for (uint32_t id = 0; id < g->schedule->n_nodes; id++) {
    const ScheduleNode *node = &g->schedule->nodes[id];
    g->late[id] = true;
    for (uint32_t i = 0; i < node->n_needs; i++) {
      uint32_t producer = producer_of(g, node->needs[i]);
      /* What it needs comes from nowhere or from a node that needs nothing, so that late nodes are at most two deep. */
      if (g->schedule->values[node->needs[i]].mortal ||
          (producer != ONNXL_NONE && g->schedule->nodes[producer].n_needs > 0))
        g->late[id] = false;
    }
  }
}

static void
growing_init(Growing *g, const Schedule *schedule, uint32_t *order)
{
  uint32_t n = MAX(schedule->n_nodes, 1);

  *g = (Growing){ .schedule = schedule, .order = order, .done = g_new0(bool, n), .late = g_new0(bool, n) };
  g->left = g_new(uint32_t, MAX(schedule->n_values, 1));
  schedule_start(&g->run, schedule, g->left);
  find_late(g);
}

/* Appends a node behind the late ones that it needs; the others have been appended. */
static void
append(Growing *g, uint32_t id)
{
  const ScheduleNode *node = &g->schedule->nodes[id];

  for (uint32_t i = 0; i < node->n_needs; i++) {
    uint32_t producer = producer_of(g, node->needs[i]);
    if (producer != ONNXL_NONE && !g->done[producer])
      append(g, producer);
  }
  g->done[id] = true;
  g->order[g->n++] = id;
  schedule_step(&g->run, id);
}

/* Late nodes that nobody needs are the last. */
static void
growing_end(Growing *g)
{
  for (uint32_t id = 0; id < g->schedule->n_nodes; id++)
    if (!g->done[id])
      append(g, id);
  g_free(g->done);
  g_free(g->late);
  g_free(g->left);
}

void
order_late(const Schedule *schedule, uint32_t *order)
{
  Growing g;

  growing_init(&g, schedule, order);
  for (uint32_t id = 0; id < schedule->n_nodes; id++)
    if (!g.late[id])
      append(&g, id);
  growing_end(&g);
}

/* --- greedy --- */

typedef struct Ready {
  int64_t change; /* of what is live, with the late nodes that it needs */
  uint32_t node;
} Ready;

typedef struct Greedy {
  Growing growing;
  GArray *heap;      /* Ready; entries can be outdated */
  int64_t *changes;  /* by node id: of its newest entry */
  uint32_t *waiting; /* by node id: needs that are to come from nodes that are not late */
} Greedy;

static bool
before(const Ready *a, const Ready *b)
{
  return a->change != b->change ? a->change < b->change : a->node < b->node;
}

static void
swap(Ready *a, Ready *b)
{
  Ready old = *a;

  *a = *b;
  *b = old;
}

static void
push(GArray *heap, Ready ready)
{
  g_array_append_val(heap, ready);
  Ready *items = (Ready *)heap->data;
  for (guint i = heap->len - 1; i > 0 && before(&items[i], &items[(i - 1) / 2]); i = (i - 1) / 2)
    swap(&items[i], &items[(i - 1) / 2]);
}

static Ready
pop(GArray *heap)
{
  Ready *items = (Ready *)heap->data, first = items[0];

  items[0] = items[heap->len - 1];
  g_array_set_size(heap, heap->len - 1);
  for (guint i = 0, child; (child = 2 * i + 1) < heap->len; i = child) {
    if (child + 1 < heap->len && before(&items[child + 1], &items[child]))
      child++;
    if (!before(&items[child], &items[i]))
      break;
    swap(&items[child], &items[i]);
  }
  return first;
}

/* Enters a node that can run, or enters it anew when the change that it brings is another than before. */
static void
enter(Greedy *greedy, uint32_t id, bool first)
{
  const Growing *g = &greedy->growing;
  const ScheduleNode *node = &g->schedule->nodes[id];
  int64_t change;

  schedule_look(&g->run, id, &change);
  for (uint32_t i = 0; i < node->n_needs; i++) {
    uint32_t producer = producer_of(g, node->needs[i]);
    if (producer != ONNXL_NONE && !g->done[producer])
      change += g->schedule->values[node->needs[i]].bytes;
  }
  if (!first && greedy->changes[id] == change)
    return;
  greedy->changes[id] = change;
  push(greedy->heap, (Ready){ change, id });
}

static void
refresh(Greedy *greedy, uint32_t id)
{
  if (!greedy->growing.late[id] && !greedy->growing.done[id] && greedy->waiting[id] == 0)
    enter(greedy, id, false);
}

/* After a node ran: who waits for it, and for whom it changed what running would bring. */
static void
look_around(Greedy *greedy, uint32_t id)
{
  const Growing *g = &greedy->growing;
  const ScheduleNode *node = &g->schedule->nodes[id];

  for (uint32_t i = 0; i < node->n_makes; i++) {
    const ScheduleValue *value = &g->schedule->values[node->makes[i]];
    for (uint32_t u = 0; u < value->n_users; u++) {
      uint32_t user = value->users[u];
      if (g->late[id])
        refresh(greedy, user);
      else if (!g->late[user] && --greedy->waiting[user] == 0)
        enter(greedy, user, true);
    }
  }
  for (uint32_t i = 0; i < node->n_needs; i++) {
    const ScheduleValue *value = &g->schedule->values[node->needs[i]];
    /* The last user will free it. */
    for (uint32_t u = 0; g->left[node->needs[i]] == 1 && u < value->n_users; u++)
      refresh(greedy, value->users[u]);
  }
}

void
order_greedy(const Schedule *schedule, uint32_t *order)
{
  Greedy greedy = { .heap = g_array_new(FALSE, FALSE, sizeof(Ready)) };
  Growing *g = &greedy.growing;

  growing_init(g, schedule, order);
  greedy.changes = g_new0(int64_t, MAX(schedule->n_nodes, 1));
  greedy.waiting = g_new0(uint32_t, MAX(schedule->n_nodes, 1));
  for (uint32_t id = 0; id < schedule->n_nodes; id++) {
    const ScheduleNode *node = &schedule->nodes[id];
    for (uint32_t i = 0; i < node->n_needs; i++) {
      uint32_t producer = producer_of(g, node->needs[i]);
      greedy.waiting[id] += producer != ONNXL_NONE && !g->late[producer];
    }
    if (!g->late[id] && greedy.waiting[id] == 0)
      enter(&greedy, id, true);
  }
  while (greedy.heap->len > 0) {
    Ready next = pop(greedy.heap);
    if (g->done[next.node] || greedy.changes[next.node] != next.change)
      continue;
    uint32_t from = g->n;
    append(g, next.node);
    for (; from < g->n; from++)
      look_around(&greedy, order[from]);
  }
  growing_end(g);
  g_array_free(greedy.heap, TRUE);
  g_free(greedy.changes);
  g_free(greedy.waiting);
}

/* --- branches --- */

typedef struct Branch {
  uint32_t node;
  int64_t beyond; /* what its branch needs at most beyond what it leaves */
} Branch;

typedef struct Branches {
  Branch *items; /* of all nodes: the nodes that they need, not late */
  size_t *first; /* by node id, and one more */
} Branches;

static int
by_beyond(const void *a, const void *b)
{
  const Branch *x = a, *y = b;

  if (x->beyond != y->beyond)
    return x->beyond > y->beyond ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* As if the graph were a tree, where this order is the best of those that finish a branch before the next. */
static void
find_branches(const Growing *g, Branches *branches)
{
  const Schedule *schedule = g->schedule;
  g_autofree int64_t *most = g_new0(int64_t, MAX(schedule->n_nodes, 1));
  g_autofree int64_t *rest = g_new0(int64_t, MAX(schedule->n_nodes, 1));
  size_t n = 0;

  for (uint32_t id = 0; id < schedule->n_nodes; id++) {
    const ScheduleNode *node = &schedule->nodes[id];
    int64_t kept = 0;
    branches->first[id] = n;
    for (uint32_t i = 0; i < node->n_needs; i++) {
      uint32_t producer = producer_of(g, node->needs[i]);
      if (producer != ONNXL_NONE && !g->late[producer])
        branches->items[n++] = (Branch){ producer, most[producer] - rest[producer] };
    }
    onnxl_sort(branches->items + branches->first[id], n - branches->first[id], sizeof(Branch), by_beyond);
    for (size_t i = branches->first[id]; i < n; i++) {
      uint32_t producer = branches->items[i].node;
      most[id] = MAX(most[id], kept + MIN(most[producer], INT64_MAX - kept));
      kept += MIN(rest[producer], INT64_MAX - kept);
    }
    for (uint32_t i = 0; i < node->n_makes; i++)
      rest[id] += schedule->values[node->makes[i]].bytes;
    most[id] = MAX(most[id], kept + MIN(rest[id] + node->scratch, INT64_MAX - kept));
  }
  branches->first[schedule->n_nodes] = n;
}

void
order_branches(const Schedule *schedule, uint32_t *order)
{
  Growing g;
  size_t n_needs = 0, depth;

  growing_init(&g, schedule, order);
  for (uint32_t id = 0; id < schedule->n_nodes; id++)
    n_needs += schedule->nodes[id].n_needs;
  Branches branches = { g_new(Branch, MAX(n_needs, 1)), g_new(size_t, (size_t)schedule->n_nodes + 1) };
  find_branches(&g, &branches);
  g_autofree uint32_t *stack = g_new(uint32_t, MAX(schedule->n_nodes, 1));
  g_autofree size_t *next = g_new(size_t, MAX(schedule->n_nodes, 1));
  g_autofree bool *entered = g_new0(bool, MAX(schedule->n_nodes, 1));
  for (uint32_t root = 0; root < schedule->n_nodes; root++) {
    bool needed = g.late[root];
    for (uint32_t i = 0; i < schedule->nodes[root].n_makes; i++)
      needed = needed || schedule->values[schedule->nodes[root].makes[i]].n_users > 0;
    if (needed)
      continue;
    stack[0] = root;
    next[root] = branches.first[root];
    entered[root] = true;
    for (depth = 1; depth > 0;) {
      uint32_t id = stack[depth - 1];
      if (next[id] == branches.first[id + 1]) {
        append(&g, id);
        depth--;
        continue;
      }
      uint32_t producer = branches.items[next[id]++].node;
      if (entered[producer])
        continue;
      entered[producer] = true;
      next[producer] = branches.first[producer];
      stack[depth++] = producer;
    }
  }
  g_free(branches.items);
  g_free(branches.first);
  growing_end(&g);
}
