/* Access to a node's inputs, attributes and outputs for the rules. */
#include <math.h>

#include "shapes/shape-internal.h"

const OnnxlInfo *
onnxl_shape_input(const OnnxlShapeNode *n, uint32_t i)
{
  return i < n->n_inputs ? n->inputs[i] : NULL;
}

const OnnxlInfo *
onnxl_shape_ranked(const OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  bool tensor = info && (info->kind == ONNXL_KIND_TENSOR || info->kind == ONNXL_KIND_SPARSE_TENSOR);
  return tensor && info->has_rank ? info : NULL;
}

const OnnxlExpr *
onnxl_shape_values(const OnnxlShapeNode *n, uint32_t i, uint32_t *ret_count)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  if (!info || !info->contents)
    return NULL;
  *ret_count = info->n_contents;
  return info->contents;
}

OnnxlExpr
onnxl_shape_scalar(const OnnxlShapeNode *n, uint32_t i)
{
  uint32_t count;
  const OnnxlExpr *values = onnxl_shape_values(n, i, &count);
  return values && count == 1 ? values[0] : NULL;
}

OnnxlExpr
onnxl_shape_number(const OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_input(n, i);
  if (info && info->reals && info->n_contents == 1 && fabs(info->reals[0]) < 1e15)
    return onnxl_shape_lit(n, (int64_t)info->reals[0]);
  return onnxl_shape_scalar(n, i);
}

const int64_t *
onnxl_shape_literals(OnnxlShapeNode *n, uint32_t i, uint32_t *ret_count)
{
  uint32_t count;
  const OnnxlExpr *values = onnxl_shape_values(n, i, &count);
  int64_t *literals = values ? ONNXL_NEW_ARRAY(n->arena, int64_t, count) : NULL;
  if (!literals)
    return NULL;
  for (uint32_t k = 0; k < count; k++)
    if (!values[k] || !onnxl_expr_is_int(values[k], &literals[k]))
      return NULL;
  *ret_count = count;
  return literals;
}

const int64_t *
onnxl_shape_ints(OnnxlShapeNode *n, const char *attribute, uint32_t i, uint32_t *ret_count, bool *ret_present)
{
  *ret_count = 0;
  if (attribute && onnxl_shape_has(n, attribute)) {
    OnnxlInt64List list = onnxl_attr_ints(n->proto, attribute);
    *ret_present = true;
    if (list.count > ONNXL_SHAPE_MAX_CONTENTS)
      return NULL;
    *ret_count = (uint32_t)list.count;
    static const int64_t none;
    return list.count > 0 ? list.items : &none;
  }
  *ret_present = onnxl_shape_input(n, i) != NULL;
  return *ret_present ? onnxl_shape_literals(n, i, ret_count) : NULL;
}

int64_t
onnxl_shape_length(const OnnxlShapeNode *n, uint32_t i)
{
  const OnnxlInfo *info = onnxl_shape_ranked(n, i);
  OnnxlExpr count = info ? onnxl_info_count(n->pool, info) : NULL;
  int64_t length;
  return count && onnxl_expr_is_int(count, &length) ? length : -1;
}

int64_t
onnxl_shape_int(const OnnxlShapeNode *n, const char *name)
{
  return onnxl_attr_int(n->schema, n->proto, name);
}

bool
onnxl_shape_has(const OnnxlShapeNode *n, const char *name)
{
  return onnxl_node_attribute(n->proto, name) != NULL;
}

bool
onnxl_shape_axis(OnnxlShapeNode *n, int64_t axis, uint32_t rank, uint32_t *ret_axis)
{
  int64_t normal = axis < 0 ? axis + rank : axis;
  if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
    onnxl_shape_error(n, "axis %" G_GINT64_FORMAT " is out of range for rank %u", axis, rank);
    return false;
  }
  *ret_axis = (uint32_t)normal;
  return true;
}

OnnxlExpr *
onnxl_shape_output(OnnxlShapeNode *n, uint32_t i, uint32_t rank)
{
  /* Rules fill what they get without asking; what nobody reads (no such output, no memory) goes here. */
  static _Thread_local OnnxlExpr unread[ONNXL_SHAPE_MAX_RANK + 1];
  OnnxlExpr *dims =
    i < n->n_outputs && rank <= ONNXL_SHAPE_MAX_RANK ? ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, rank) : NULL;
  if (!dims)
    return unread;
  n->outputs[i].kind = ONNXL_KIND_TENSOR;
  n->outputs[i].has_rank = true;
  n->outputs[i].rank = rank;
  n->outputs[i].dims = dims;
  return dims;
}

void
onnxl_shape_same(OnnxlShapeNode *n, uint32_t i, const OnnxlInfo *info)
{
  if (i >= n->n_outputs)
    return;
  n->outputs[i].kind = ONNXL_KIND_TENSOR;
  if (!info || !info->has_rank)
    return;
  n->outputs[i].has_rank = true;
  n->outputs[i].rank = info->rank;
  n->outputs[i].dims = info->dims;
}

void
onnxl_shape_set_type(OnnxlShapeNode *n, uint32_t i, int32_t elem_type)
{
  if (i < n->n_outputs) {
    n->outputs[i].kind = ONNXL_KIND_TENSOR;
    n->outputs[i].elem_type = elem_type > 0 && elem_type < ONNXL_N_TYPES ? elem_type : 0;
  }
}

OnnxlExpr *
onnxl_shape_contents(OnnxlShapeNode *n, uint32_t i, uint64_t count)
{
  if (i >= n->n_outputs || count > ONNXL_SHAPE_MAX_CONTENTS)
    return NULL;
  OnnxlExpr *contents = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, count);
  if (!contents)
    return NULL;
  n->outputs[i].has_contents = true;
  n->outputs[i].n_contents = (uint32_t)count;
  n->outputs[i].contents = contents;
  return contents;
}

OnnxlExpr
onnxl_shape_new_size(OnnxlShapeNode *n, uint32_t i, uint32_t axis)
{
  if (i >= n->n_outputs || n->node->outputs[i] == ONNXL_NONE)
    return NULL;
  return onnxl_shape_fresh(n->scope, n->node->outputs[i], axis, axis + 1, n->proto->op_type);
}

void
onnxl_shape_at_most(OnnxlShapeNode *n, uint32_t i, uint32_t axis, OnnxlExpr most)
{
  if (most && i < n->n_outputs && ONNXL_GROW(n->arena, &n->most, n->n_most, &n->most_capacity))
    n->most[n->n_most++] = (OnnxlShapeMost){ i, axis, most };
}

OnnxlExpr
onnxl_shape_lit(const OnnxlShapeNode *n, int64_t value)
{
  return onnxl_expr_int(n->pool, value);
}

OnnxlExpr
onnxl_shape_product(const OnnxlShapeNode *n, const OnnxlExpr *dims, uint32_t from, uint32_t to)
{
  OnnxlInfo part = { .has_rank = true, .rank = to - from, .dims = dims + from };
  return onnxl_info_count(n->pool, &part);
}

bool
onnxl_shape_is(OnnxlExpr e, int64_t value)
{
  int64_t v;
  return e && onnxl_expr_is_int(e, &v) && v == value;
}

int64_t
onnxl_shape_min(const OnnxlShapeNode *n, OnnxlExpr e)
{
  int64_t min = INT64_MIN, max;
  if (e)
    onnxl_expr_bounds(n->pool, e, &min, &max);
  return min;
}

int64_t
onnxl_shape_max(const OnnxlShapeNode *n, OnnxlExpr e)
{
  int64_t min, max = INT64_MAX;
  if (e)
    onnxl_expr_bounds(n->pool, e, &min, &max);
  return max;
}

static bool
differ(OnnxlExprOrder order)
{
  return order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_NOT_EQUAL;
}

/* Lists it, unless the node may never run in a run that succeeds. */
static bool
list_constraint(OnnxlShapeNode *n, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs)
{
  const OnnxlShapeScope *scope = n->scope;
  if (scope->conditional || scope->index->nodes[n->id].graph != 0)
    return false;
  onnxl_shape_add_constraint(n->run, lhs, relation, rhs);
  return true;
}

bool
onnxl_shape_list_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b)
{
  if (!a || !b || a == b)
    return true;
  OnnxlExprOrder order = onnxl_expr_compare(n->pool, a, b);
  if (differ(order))
    return false;
  if (order != ONNXL_EXPR_EQUAL)
    list_constraint(n, a, ONNXL_REL_EQ, b);
  return true;
}

OnnxlExpr
onnxl_shape_equal(OnnxlShapeNode *n, OnnxlExpr a, OnnxlExpr b, const char *what)
{
  if (!onnxl_shape_list_equal(n, a, b)) {
    OnnxlStr ta = onnxl_expr_text(n->pool, a), tb = onnxl_expr_text(n->pool, b);
    onnxl_shape_error(n, "%s do not match: %.*s and %.*s", what, ONNXL_ARG(ta), ONNXL_ARG(tb));
    return a;
  }
  return !a || (b && onnxl_expr_is_int(b, NULL)) ? b : a;
}

bool
onnxl_shape_assume(OnnxlShapeNode *n, OnnxlExpr lhs, OnnxlRelation relation, OnnxlExpr rhs)
{
  if (!lhs || !rhs)
    return false;
  OnnxlExprOrder order = lhs == rhs ? ONNXL_EXPR_EQUAL : onnxl_expr_compare(n->pool, lhs, rhs);
  bool greater = order == ONNXL_EXPR_GREATER || order == ONNXL_EXPR_GREATER_EQUAL || order == ONNXL_EXPR_EQUAL;
  bool less = order == ONNXL_EXPR_LESS || order == ONNXL_EXPR_LESS_EQUAL || order == ONNXL_EXPR_EQUAL;
  if ((relation == ONNXL_REL_GE && greater) || (relation == ONNXL_REL_LE && less) ||
      (relation == ONNXL_REL_EQ && order == ONNXL_EXPR_EQUAL))
    return true;
  if ((relation == ONNXL_REL_GE && order == ONNXL_EXPR_LESS) ||
      (relation == ONNXL_REL_LE && order == ONNXL_EXPR_GREATER) || (relation == ONNXL_REL_EQ && differ(order)))
    return false;
  return list_constraint(n, lhs, relation, rhs);
}

void
onnxl_shape_error(OnnxlShapeNode *n, const char *format, ...)
{
  char message[768];
  va_list args;
  va_start(args, format);
  g_vsnprintf(message, sizeof message, format, args);
  va_end(args);
  onnxl_shape_finding(n->scope, n->id, ONNXL_DIAG_SHAPE_MISMATCH, "%.*s: %s", ONNXL_ARG(n->proto->op_type), message);
  n->failed = true;
}

const char *
onnxl_shape_text(const OnnxlShapeNode *n, const OnnxlInfo *info)
{
  if (!info || !info->has_rank)
    return "[?]";
  OnnxlOutput out;
  onnxl_output_init(&out, -1);
  onnxl_output_char(&out, '[');
  for (uint32_t i = 0; i < info->rank; i++) {
    if (i > 0)
      onnxl_output_char(&out, ',');
    onnxl_expr_print(&out, info->dims[i]);
  }
  onnxl_output_char(&out, ']');
  OnnxlStr text = onnxl_arena_copy(n->arena, onnxl_output_memory(&out));
  onnxl_output_clear(&out);
  return text.data ? text.data : "[?]";
}
