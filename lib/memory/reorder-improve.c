/* A window of the order around its largest step is searched for an order whose steps are all below that, by depth first
 * over the sets of nodes that have run: what is live depends on the set only, so each is entered once. */
#include "memory/reorder-internal.h"

enum {
  WINDOW = 64,      /* bits of a set */
  MAX_SETS = 30000, /* that are entered for one window */
  N_SLOTS = 1 << 16,
  MAX_WORK = 10000000, /* nodes, and values at them, that are looked at in all */
};

typedef struct Window {
  ScheduleRun *run; /* at its start */
  uint32_t nodes[WINDOW];
  uint64_t needs[WINDOW]; /* which of the nodes must have run */
  uint32_t n;
  int64_t limit;  /* steps must be below */
  uint64_t *seen; /* 1 + sets that lead nowhere, or nowhere yet: open addressing */
  uint32_t n_seen;
  uint32_t found[WINDOW];
  uint64_t work;
} Window;

/* False: the set was seen before. */
static bool
add_seen(Window *w, uint64_t set)
{
  uint64_t slot = set * UINT64_C(0x9e3779b97f4a7c15) >> 48;

  for (; w->seen[slot] != 0; slot = (slot + 1) % N_SLOTS)
    if (w->seen[slot] == set + 1)
      return false;
  w->seen[slot] = set + 1;
  w->n_seen++;
  return true;
}

static bool search(Window *w, uint64_t done, uint32_t depth);

static bool
try(Window *w, uint64_t done, uint32_t depth, uint32_t i, int64_t change)
{
  schedule_step(w->run, w->nodes[i]);
  w->found[depth] = i;
  bool good = search(w, done | UINT64_C(1) << i, depth + 1);
  schedule_undo(w->run, w->nodes[i], change);
  return good;
}

/* True when the nodes that are not done can run below the limit; their order is in found, from depth on. */
static bool
search(Window *w, uint64_t done, uint32_t depth)
{
  struct {
    uint32_t node;
    int64_t change;
  } open[WINDOW];
  uint32_t n = 0;

  if (depth == w->n)
    return true;
  if (w->n_seen >= MAX_SETS || w->work > MAX_WORK || !add_seen(w, done))
    return false;
  w->work += w->n;
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t change;
    if (done >> i & 1 || (w->needs[i] & ~done))
      continue;
    w->work += w->run->schedule->nodes[w->nodes[i]].n_needs + w->run->schedule->nodes[w->nodes[i]].n_makes;
    if (schedule_look(w->run, w->nodes[i], &change) >= w->limit)
      continue;
    /* It makes room, so nothing is lost by running it now. */
    if (change <= 0)
      return try(w, done, depth, i, change);
    uint32_t at = n++;
    for (; at > 0 && open[at - 1].change > change; at--)
      open[at] = open[at - 1];
    open[at].node = i;
    open[at].change = change;
  }
  for (uint32_t i = 0; i < n; i++)
    if (try(w, done, depth, open[i].node, open[i].change))
      return true;
  return false;
}

static void
find_needs(Window *w)
{
  for (uint32_t i = 0; i < w->n; i++) {
    const ScheduleNode *node = &w->run->schedule->nodes[w->nodes[i]];
    w->needs[i] = 0;
    for (uint32_t k = 0; k < node->n_needs; k++)
      for (uint32_t j = 0; j < w->n; j++)
        if (w->run->schedule->values[node->needs[k]].producer == w->nodes[j])
          w->needs[i] |= UINT64_C(1) << j;
  }
}

/* Rearranges order[first] and the n nodes from there on as long as their largest step, at first limit, gets lower. */
static bool
improve_window(const Schedule *schedule, uint32_t *order, uint32_t first, uint32_t n, int64_t limit, uint32_t *left,
               uint64_t *work)
{
  ScheduleRun run;
  Window w = { .run = &run, .n = n, .limit = limit, .work = *work };
  bool improved = false;

  schedule_start(&run, schedule, left);
  for (uint32_t i = 0; i < first; i++)
    schedule_step(&run, order[i]);
  memcpy(w.nodes, order + first, n * sizeof *w.nodes);
  find_needs(&w);
  w.seen = g_new0(uint64_t, N_SLOTS);
  while (search(&w, 0, 0)) {
    int64_t changes[WINDOW];
    improved = true;
    w.limit = 0;
    for (uint32_t i = 0; i < n; i++) {
      order[first + i] = w.nodes[w.found[i]];
      schedule_look(&run, order[first + i], &changes[i]);
      w.limit = MAX(w.limit, schedule_step(&run, order[first + i]));
    }
    for (uint32_t i = n; i-- > 0;)
      schedule_undo(&run, order[first + i], changes[i]);
    memset(w.seen, 0, N_SLOTS * sizeof *w.seen);
    w.n_seen = 0;
  }
  g_free(w.seen);
  *work = w.work;
  return improved;
}

void
order_improve(const Schedule *schedule, uint32_t *order)
{
  uint32_t n = schedule->n_nodes, size = MIN(n, (uint32_t)WINDOW);
  /* How much of a window is before the largest step: what should have run later, or what should run earlier. */
  const uint32_t leads[] = { size / 2, size - 1, 0 };
  g_autofree int64_t *steps = g_new(int64_t, MAX(n, 1));
  g_autofree uint32_t *left = g_new(uint32_t, MAX(schedule->n_values, 1));
  bool improved = n > 1;

  for (uint64_t work = 0; improved && work < MAX_WORK;) {
    int64_t peak = schedule_peak(schedule, order, steps, left);
    uint32_t at = 0, tried = UINT32_MAX;
    while (steps[at] < peak)
      at++;
    improved = false;
    for (size_t i = 0; i < G_N_ELEMENTS(leads) && !improved; i++) {
      uint32_t first = MIN(at > leads[i] ? at - leads[i] : 0, n - size);
      if (first == tried)
        continue;
      tried = first;
      improved = improve_window(schedule, order, first, size, peak, left, &work);
      work += 2 * (uint64_t)n;
    }
  }
}
