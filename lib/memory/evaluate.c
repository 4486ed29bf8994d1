#include "memory/profile.h"

#include "support/error.h"

/* Says which symbol has no value, since that is what the user can mend. */
typedef struct Missing {
  OnnxlExprLookup lookup;
  void *data;
  OnnxlStr name;
} Missing;

static void
find_missing(void *data, OnnxlExpr symbol)
{
  Missing *missing = data;
  OnnxlStr name;
  int64_t value;

  if (!missing->name.data && onnxl_expr_is_symbol(symbol, &name) && !missing->lookup(missing->data, name, &value))
    missing->name = name;
}

/* Bounds of the symbols that have no value. */
typedef struct Bounds {
  const OnnxlInference *inference;
  OnnxlExprLookup lookup;
  void *data;
} Bounds;

static OnnxlExpr
most_of(void *data, OnnxlStr name)
{
  const Bounds *bounds = data;
  int64_t value;

  if (bounds->lookup && bounds->lookup(bounds->data, name, &value))
    return NULL;
  return onnxl_inference_most(bounds->inference, name);
}

OnnxlExpr
onnxl_memory_upper(const OnnxlInference *inference, OnnxlExpr amount, OnnxlExprLookup lookup, void *data)
{
  Bounds bounds = { inference, lookup, data };

  return onnxl_inference_has_most(inference) ? onnxl_expr_upper(inference->pool, amount, most_of, &bounds) : amount;
}

/* Evaluates the total of one node, or an upper bound. */
static bool
evaluate_node(const OnnxlMemory *memory, uint32_t id, OnnxlExprLookup lookup, void *data, int64_t *ret_total,
              bool *ret_at_most, GError **error)
{
  OnnxlExpr total = memory->nodes[id].total;
  OnnxlStr op = memory->inference->index->nodes[id].proto->op_type;
  g_autoptr(GError) failed = NULL;
  Missing missing = { lookup, data, { NULL, 0 } };

  if (!total)
    return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "node %u (%.*s): its bytes are not known", id, ONNXL_ARG(op));
  OnnxlExpr upper = onnxl_memory_upper(memory->inference, total, lookup, data);
  *ret_at_most = upper && upper != total;
  total = upper ? upper : total;
  if (onnxl_expr_evaluate(total, lookup, data, ret_total, &failed))
    return true;
  onnxl_expr_symbols(memory->inference->pool, total, find_missing, &missing);
  if (missing.name.data)
    return onnxl_fail(error, ONNXL_ERROR_USAGE, "node %u (%.*s): symbol '%.*s' has no value (--eval %.*s=…)", id,
                      ONNXL_ARG(op), ONNXL_ARG(missing.name), ONNXL_ARG(missing.name));
  return onnxl_fail(error, ONNXL_ERROR_LIMIT, "node %u (%.*s): %s", id, ONNXL_ARG(op), failed->message);
}

/* Totals that were met lately: those of a block of nodes mostly come again in the next one. */
typedef struct Known {
  OnnxlExpr total;
  int64_t bytes;
  bool at_most;
} Known;

bool
onnxl_memory_evaluate(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, int64_t *ret_totals,
                      bool *ret_at_most, int64_t *ret_peak, GError **error)
{
  Known known[256] = { 0 }; /* by hash */

  if (!onnxl_memory_check_sizes(memory, lookup, data, error))
    return false;
  *ret_peak = 0;
  for (uint32_t i = 0; i < memory->n_nodes; i++) {
    OnnxlExpr total = memory->nodes[i].total;
    Known *slot = &known[(uintptr_t)total * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    if (!total || slot->total != total) {
      if (!evaluate_node(memory, i, lookup, data, &slot->bytes, &slot->at_most, error))
        return false;
      slot->total = total;
    }
    ret_totals[i] = slot->bytes;
    if (ret_at_most)
      ret_at_most[i] = slot->at_most;
    *ret_peak = MAX(*ret_peak, ret_totals[i]);
  }
  return true;
}
