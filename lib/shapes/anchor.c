/* Declared types against inferred ones. What is inferred wins, since it holds in every run. The declaration gives what
 * inference cannot know: names for sizes, and the shape where nothing is known of it, as of operators without a rule.
 */
#include "shapes/shape-internal.h"

static OnnxlDiagId
finding_id(const OnnxlShapeScope *scope)
{
  return scope->run->options.check ? ONNXL_DIAG_DECLARED_SHAPE_CHECK : ONNXL_DIAG_DECLARED_SHAPE;
}

static bool
never_equal(OnnxlShapeRun *run, OnnxlExpr a, OnnxlExpr b)
{
  switch (onnxl_expr_compare(run->pool, a, b)) {
  case ONNXL_EXPR_LESS:
  case ONNXL_EXPR_GREATER:
  case ONNXL_EXPR_NOT_EQUAL:
    return true;
  default:
    return false;
  }
}

static OnnxlShapeSymbol *
declared_symbol(OnnxlShapeRun *run, OnnxlExpr e)
{
  OnnxlStr name;
  if (!e || !onnxl_expr_is_symbol(e, &name))
    return NULL;
  uint32_t id = onnxl_map_get(&run->symbol_ids, name);
  return id != ONNXL_MAP_NONE && run->symbols[id].kind == ONNXL_SYMBOL_DECLARED ? &run->symbols[id] : NULL;
}

typedef struct Anchor {
  OnnxlShapeScope *scope;
  uint32_t value;
  bool outermost; /* symbols of nested graphs stand for something else each time the graph runs */
} Anchor;

static void
report_dim(const Anchor *anchor, uint32_t axis, OnnxlExpr inferred, OnnxlExpr declared)
{
  OnnxlShapeScope *scope = anchor->scope;
  const OnnxlIndexValue *value = &scope->index->values[anchor->value];
  OnnxlStr a = onnxl_expr_text(scope->run->pool, inferred), b = onnxl_expr_text(scope->run->pool, declared);
  onnxl_shape_finding(scope, value->producer, finding_id(scope), "dim %u of '%.*s' is %.*s, but it is declared as %.*s",
                      axis, ONNXL_ARG(value->name), ONNXL_ARG(a), ONNXL_ARG(b));
}

/* One dim; *dim may become known. Returns what to show. */
static OnnxlExpr
anchor_dim(const Anchor *anchor, uint32_t axis, OnnxlExpr *dim, OnnxlExpr declared)
{
  OnnxlShapeRun *run = anchor->scope->run;
  if (!declared || *dim == declared)
    return *dim;
  /* The symbols of a function are not those of the model. */
  if (anchor->scope->function && !(onnxl_expr_is_int(declared, NULL) && *dim && onnxl_expr_is_int(*dim, NULL)))
    return *dim;
  OnnxlShapeSymbol *symbol = declared_symbol(run, declared);
  OnnxlExpr meaning = symbol && symbol->meaning ? symbol->meaning : declared;
  if (*dim && meaning && never_equal(run, *dim, meaning)) {
    report_dim(anchor, axis, *dim, declared);
    return *dim;
  }
  if (!symbol || !anchor->outermost)
    return *dim;
  if (!symbol->meaning) {
    if (!*dim)
      *dim = symbol->expr;
    symbol->meaning = *dim;
    if (*dim == symbol->expr)
      return *dim;
    onnxl_shape_add_constraint(run, *dim, ONNXL_REL_EQ, symbol->expr);
  }
  /* A literal says more than a name. */
  return symbol->meaning == *dim && !onnxl_expr_is_int(*dim, NULL) ? symbol->expr : *dim;
}

static const char *
type_name(const OnnxlInfo *info)
{
  const char *name = onnxl_data_type_name(info->elem_type);
  return name ? name : "unknown";
}

static void
anchor_tensor(const Anchor *anchor, OnnxlInfo *info, const OnnxlInfo *declared)
{
  OnnxlShapeScope *scope = anchor->scope;
  const OnnxlIndexValue *value = &scope->index->values[anchor->value];
  if (info->elem_type == 0)
    info->elem_type = declared->elem_type;
  else if (declared->elem_type != 0 && declared->elem_type != info->elem_type)
    onnxl_shape_finding(scope, value->producer, finding_id(scope),
                        "'%.*s' has elements of type %s, but is declared as %s", ONNXL_ARG(value->name),
                        type_name(info), type_name(declared));
  if (!info->has_rank || !declared->has_rank)
    return;
  if (info->rank != declared->rank) {
    onnxl_shape_finding(scope, value->producer, finding_id(scope), "'%.*s' has rank %u, but is declared with rank %u",
                        ONNXL_ARG(value->name), info->rank, declared->rank);
    return;
  }
  OnnxlArena *arena = scope->run->arena;
  OnnxlExpr *dims = ONNXL_NEW_ARRAY(arena, OnnxlExpr, info->rank),
            *shown = ONNXL_NEW_ARRAY(arena, OnnxlExpr, info->rank);
  if (!dims || !shown)
    return;
  bool differs = false;
  for (uint32_t i = 0; i < info->rank; i++) {
    dims[i] = info->dims[i];
    shown[i] = anchor_dim(anchor, i, &dims[i], declared->dims[i]);
    differs = differs || shown[i] != dims[i];
  }
  info->dims = dims;
  scope->shown[anchor->value] = differs ? shown : NULL;
}

void
onnxl_shape_anchor(OnnxlShapeScope *scope, uint32_t value, OnnxlInfo *info)
{
  const OnnxlValueInfo *entry = scope->index->values[value].info;
  if (!entry->type)
    return;
  Anchor anchor = { scope, value, !scope->function && scope->index->values[value].graph == 0 };
  OnnxlInfo declared;
  onnxl_info_from_type(scope->run, entry->type, ONNXL_SYMBOL_DECLARED, &declared);
  if (declared.kind == ONNXL_KIND_UNKNOWN)
    return;
  bool empty = info->kind == ONNXL_KIND_UNKNOWN || (info->kind == ONNXL_KIND_TENSOR && !info->has_rank);
  if (empty && anchor.outermost) {
    int32_t elem_type = info->elem_type;
    *info = declared;
    if (declared.kind == ONNXL_KIND_TENSOR && elem_type != 0)
      info->elem_type = elem_type;
    for (uint32_t i = 0; declared.has_rank && i < declared.rank; i++) {
      OnnxlShapeSymbol *symbol = declared_symbol(scope->run, declared.dims[i]);
      if (symbol && !symbol->meaning)
        symbol->meaning = symbol->expr;
    }
    return;
  }
  if (info->kind == ONNXL_KIND_UNKNOWN) { /* the kind of a value is not a matter of sizes */
    *info = (OnnxlInfo){ .kind = declared.kind, .elem_type = declared.elem_type };
    return;
  }
  if (declared.kind != info->kind) {
    const OnnxlIndexValue *v = &scope->index->values[value];
    onnxl_shape_finding(scope, v->producer, finding_id(scope), "'%.*s' is declared as a value of another kind",
                        ONNXL_ARG(v->name));
    return;
  }
  if (declared.kind == ONNXL_KIND_TENSOR || declared.kind == ONNXL_KIND_SPARSE_TENSOR)
    anchor_tensor(&anchor, info, &declared);
}
