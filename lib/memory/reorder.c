#include "memory/reorder.h"

#include "memory/layout-internal.h"
#include "memory/reorder-internal.h"
#include "support/error.h"

/* Without values of symbols the first of some that all sizes are in range with. */
static const Schedule *
find_schedule(const OnnxlMemory *memory, OnnxlInplace inplace, OnnxlExprLookup lookup, void *data, OnnxlArena *arena,
              GError **error)
{
  const Schedule *schedule = NULL;

  if (lookup)
    return schedule_new(memory, inplace, lookup, data, arena, error);
  for (unsigned sample = 0; !schedule && sample < ONNXL_N_SAMPLES; sample++) {
    g_clear_error(error);
    schedule = schedule_new(memory, inplace, onnxl_layout_sample, &sample, arena, error);
  }
  return schedule;
}

bool
onnxl_reorder_find(const OnnxlMemory *memory, const OnnxlMemoryOptions *options, OnnxlExprLookup lookup, void *data,
                   OnnxlArena *arena, const uint32_t **ret_order, GError **error)
{
  static const OrderStart starts[] = { order_late, order_greedy, order_branches };
  const Schedule *schedule = find_schedule(memory, options->inplace, lookup, data, arena, error);
  uint32_t n = memory->n_nodes;
  uint32_t *best = ONNXL_NEW_ARRAY(arena, uint32_t, n);

  *ret_order = NULL;
  if (!schedule)
    return false;
  if (!best)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT, "the analysis needs more than the limit of %zu bytes (--max-metadata)",
                      onnxl_arena_budget(arena));
  g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));
  g_autofree uint32_t *left = g_new(uint32_t, MAX(schedule->n_values, 1));
  for (uint32_t i = 0; i < n; i++)
    best[i] = i;
  int64_t given = schedule_peak(schedule, best, NULL, left), lowest = given;
  for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
    starts[i](schedule, order);
    int64_t peak = schedule_peak(schedule, order, NULL, left);
    if (peak >= lowest)
      continue;
    lowest = peak;
    memcpy(best, order, n * sizeof *best);
  }
  order_improve(schedule, best);
  if (schedule_peak(schedule, best, NULL, left) < given)
    *ret_order = best;
  return true;
}

bool
onnxl_reorder_apply(OnnxlModel *model, const uint32_t *order, GError **error)
{
  OnnxlNodeList *nodes = &model->proto.graph->node;
  OnnxlNode *items = ONNXL_NEW_ARRAY(model->arena, OnnxlNode, nodes->count);

  if (!items)
    return onnxl_fail(error, ONNXL_ERROR_LIMIT,
                      "the order needs more metadata than the %zu bytes that are allowed (--max-metadata)",
                      onnxl_arena_budget(model->arena));
  for (size_t i = 0; i < nodes->count; i++)
    items[i] = nodes->items[order[i]];
  nodes->items = items;
  return true;
}
