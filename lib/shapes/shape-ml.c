/* Domain ai.onnx.ml. Rows stand in dim 0; an input of rank 1 is one row in some runtimes and a column in others, so
 * that its row count is left open. */
#include "shapes/shape-rules.h"

static OnnxlExpr
rows(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  return input && input->rank >= 2 ? input->dims[0] : NULL;
}

static size_t
strings(const OnnxlShapeNode *n, const char *name)
{
  const OnnxlAttribute *a = onnxl_node_attribute(n->proto, name);
  return a ? a->strings.count : 0;
}

void
onnxl_shape_rule_ml_feature_extractor(OnnxlShapeNode *n)
{
  const OnnxlInfo *x = onnxl_shape_of_ranks(n, 0, 1, UINT32_MAX), *y = onnxl_shape_ranked(n, 1);
  if (!x)
    return;
  uint32_t rank = x->rank == 1 ? 2 : x->rank;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, rank);
  dims[0] = onnxl_shape_lit(n, 1);
  for (uint32_t i = 0; x->rank > 1 && i + 1 < rank; i++)
    dims[i] = x->dims[i];
  dims[rank - 1] = y ? onnxl_info_count(n->pool, y) : NULL;
}

void
onnxl_shape_rule_ml_feature_vectorizer(OnnxlShapeNode *n)
{
  OnnxlInt64List sizes = onnxl_attr_ints(n->proto, "inputdimensions");
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2), total = onnxl_shape_lit(n, 0);
  for (size_t i = 0; i < sizes.count; i++)
    total = onnxl_expr_add(n->pool, total, onnxl_shape_lit(n, sizes.items[i]));
  dims[0] = rows(n);
  dims[1] = sizes.count > 0 ? total : NULL;
}

/* The type of the values, by the attributes that hold them. */
void
onnxl_shape_rule_ml_label_encoder(OnnxlShapeNode *n)
{
  static const struct {
    const char *attribute;
    int32_t type;
  } kinds[] = { { "values_strings", ONNXL_TYPE_STRING },
                { "values_int64s", ONNXL_TYPE_INT64 },
                { "values_floats", ONNXL_TYPE_FLOAT } };
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  const OnnxlAttribute *tensor = onnxl_node_attribute(n->proto, "values_tensor");
  if (tensor && tensor->t)
    onnxl_shape_set_type(n, 0, tensor->t->data_type);
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (onnxl_shape_has(n, kinds[i].attribute))
      onnxl_shape_set_type(n, 0, kinds[i].type);
  if (n->schema->since < 2 && input) /* strings become integers, integers strings */
    onnxl_shape_set_type(n, 0, input->elem_type == ONNXL_TYPE_STRING ? ONNXL_TYPE_INT64 : ONNXL_TYPE_STRING);
}

void
onnxl_shape_rule_ml_normalizer(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  onnxl_shape_of_ranks(n, 0, 1, 2);
}

void
onnxl_shape_rule_ml_category_mapper(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  if (input && input->elem_type != 0)
    onnxl_shape_set_type(n, 0, input->elem_type == ONNXL_TYPE_STRING ? ONNXL_TYPE_INT64 : ONNXL_TYPE_STRING);
}

void
onnxl_shape_rule_ml_one_hot_encoder(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  size_t categories = onnxl_attr_ints(n->proto, "cats_int64s").count + strings(n, "cats_strings");
  if (!input || input->rank >= ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank + 1);
  for (uint32_t i = 0; i < input->rank; i++)
    dims[i] = input->dims[i];
  dims[input->rank] = onnxl_shape_lit(n, (int64_t)categories);
}

/* Labels [N] and scores [N, classes], or [N, pairs of classes]. */
static void
classifier(OnnxlShapeNode *n, const char *ints, const char *names, bool pairs)
{
  if (!onnxl_shape_of_ranks(n, 0, 1, 2) && n->failed)
    return;
  size_t n_ints = onnxl_attr_ints(n->proto, ints).count, n_names = strings(n, names), classes = n_ints + n_names;
  onnxl_shape_output(n, 0, 1)[0] = rows(n);
  onnxl_shape_set_type(n, 0, n_names > 0 ? ONNXL_TYPE_STRING : ONNXL_TYPE_INT64);
  OnnxlExpr *dims = onnxl_shape_output(n, 1, 2);
  dims[0] = rows(n);
  if (pairs && classes > 2)
    classes = classes <= INT32_MAX ? classes * (classes - 1) / 2 : 0;
  dims[1] = classes >= 2 ? onnxl_shape_lit(n, (int64_t)classes) : NULL;
}

void
onnxl_shape_rule_ml_linear_classifier(OnnxlShapeNode *n)
{
  classifier(n, "classlabels_ints", "classlabels_strings", false);
}

void
onnxl_shape_rule_ml_tree_classifier(OnnxlShapeNode *n)
{
  classifier(n, "classlabels_int64s", "classlabels_strings", false);
}

/* A score for each class; for each pair of classes when pairs vote and nothing makes probabilities of that. */
void
onnxl_shape_rule_ml_svm_classifier(OnnxlShapeNode *n)
{
  OnnxlInt64List per_class = onnxl_attr_ints(n->proto, "vectors_per_class");
  bool vectors = false;
  for (size_t i = 0; i < per_class.count; i++)
    vectors = vectors || per_class.items[i] != 0;
  const OnnxlAttribute *probabilities = onnxl_node_attribute(n->proto, "prob_a");
  bool votes = !probabilities || probabilities->floats.count == 0;
  classifier(n, "classlabels_ints", "classlabels_strings", vectors && votes);
}

static void
regressor(OnnxlShapeNode *n, OnnxlExpr targets)
{
  if (!onnxl_shape_of_ranks(n, 0, 1, 2) && n->failed)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  dims[0] = rows(n);
  dims[1] = targets;
}

void
onnxl_shape_rule_ml_linear_regressor(OnnxlShapeNode *n)
{
  regressor(n, onnxl_shape_lit(n, onnxl_shape_int(n, "targets")));
}

void
onnxl_shape_rule_ml_svm_regressor(OnnxlShapeNode *n)
{
  regressor(n, onnxl_shape_lit(n, 1));
}

void
onnxl_shape_rule_ml_tree_regressor(OnnxlShapeNode *n)
{
  regressor(n, onnxl_shape_has(n, "n_targets") ? onnxl_shape_lit(n, onnxl_shape_int(n, "n_targets")) : NULL);
}

void
onnxl_shape_rule_ml_dict_vectorizer(OnnxlShapeNode *n)
{
  size_t words = onnxl_attr_ints(n->proto, "int64_vocabulary").count + strings(n, "string_vocabulary");
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  dims[0] = onnxl_shape_lit(n, 1);
  dims[1] = onnxl_shape_lit(n, (int64_t)words);
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (input && input->kind == ONNXL_KIND_MAP && input->element)
    onnxl_shape_set_type(n, 0, input->element->elem_type);
}

void
onnxl_shape_rule_ml_cast_map(OnnxlShapeNode *n)
{
  OnnxlStr to = onnxl_attr_string(n->schema, n->proto, "cast_to");
  onnxl_shape_output(n, 0, 2)[0] = onnxl_shape_lit(n, 1);
  if (onnxl_str_is(onnxl_attr_string(n->schema, n->proto, "map_form"), "SPARSE") && n->n_outputs > 0)
    ((OnnxlExpr *)n->outputs[0].dims)[1] = onnxl_shape_lit(n, onnxl_shape_int(n, "max_map"));
  onnxl_shape_set_type(n, 0,
                       onnxl_str_is(to, "TO_STRING")  ? ONNXL_TYPE_STRING
                       : onnxl_str_is(to, "TO_INT64") ? ONNXL_TYPE_INT64
                                                      : ONNXL_TYPE_FLOAT);
}

/* seq(map(label, float)). */
void
onnxl_shape_rule_ml_zip_map(OnnxlShapeNode *n)
{
  OnnxlInfo *map = ONNXL_NEW(n->arena, OnnxlInfo), *value = ONNXL_NEW(n->arena, OnnxlInfo);
  if (!map || !value || n->n_outputs == 0)
    return;
  const OnnxlInfo *x = onnxl_shape_of_ranks(n, 0, 1, 2);
  OnnxlExpr keys = onnxl_shape_lit(
    n, (int64_t)MAX(strings(n, "classlabels_strings"), onnxl_attr_ints(n->proto, "classlabels_int64s").count));
  if (x)
    onnxl_shape_equal(n, x->dims[x->rank - 1], keys, "columns and class labels");
  if (n->failed)
    return;
  *value = (OnnxlInfo){ .kind = ONNXL_KIND_TENSOR, .elem_type = ONNXL_TYPE_FLOAT, .has_rank = true };
  *map = (OnnxlInfo){ .kind = ONNXL_KIND_MAP, .element = value };
  map->elem_type = strings(n, "classlabels_strings") > 0 ? ONNXL_TYPE_STRING : ONNXL_TYPE_INT64;
  n->outputs[0] = (OnnxlInfo){ .kind = ONNXL_KIND_SEQUENCE, .element = map };
}
