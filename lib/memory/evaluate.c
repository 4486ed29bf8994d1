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

bool
onnxl_memory_evaluate(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, int64_t *ret_totals,
                      int64_t *ret_peak, GError **error)
{
  *ret_peak = 0;
  for (uint32_t i = 0; i < memory->n_nodes; i++) {
    OnnxlExpr total = memory->nodes[i].total;
    OnnxlStr op = memory->inference->index->nodes[i].proto->op_type;
    g_autoptr(GError) failed = NULL;

    if (!total)
      return onnxl_fail(error, ONNXL_ERROR_UNSUPPORTED, "node %u (%.*s): its bytes are not known", i, ONNXL_ARG(op));
    Missing missing = { lookup, data, { NULL, 0 } };
    onnxl_expr_symbols(memory->inference->pool, total, find_missing, &missing);
    if (missing.name.data)
      return onnxl_fail(error, ONNXL_ERROR_USAGE, "node %u (%.*s): symbol '%.*s' has no value (--eval %.*s=…)", i,
                        ONNXL_ARG(op), ONNXL_ARG(missing.name), ONNXL_ARG(missing.name));
    if (!onnxl_expr_evaluate(total, lookup, data, &ret_totals[i], &failed))
      return onnxl_fail(error, ONNXL_ERROR_LIMIT, "node %u (%.*s): %s", i, ONNXL_ARG(op), failed->message);
    *ret_peak = MAX(*ret_peak, ret_totals[i]);
  }
  return true;
}
