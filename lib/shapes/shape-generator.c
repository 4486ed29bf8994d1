/* Tensors out of attributes and shapes: constants, ranges, random numbers. */
#include "shapes/shape-rules.h"
#include "shapes/sizes.h"

/* --- Constant ----------------------------------------------------------------------------------------------------- */

static void
integers(OnnxlShapeNode *n, const int64_t *values, size_t count, bool scalar)
{
  OnnxlExpr *dims = onnxl_shape_output(n, 0, scalar ? 0 : 1);
  if (!scalar)
    dims[0] = onnxl_shape_lit(n, (int64_t)count);
  onnxl_shape_set_type(n, 0, ONNXL_TYPE_INT64);
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, count);
  for (size_t i = 0; contents && i < count; i++)
    contents[i] = onnxl_shape_lit(n, values[i]);
}

static void
floats(OnnxlShapeNode *n, const float *values, size_t count, bool scalar)
{
  OnnxlExpr *dims = onnxl_shape_output(n, 0, scalar ? 0 : 1);
  if (!scalar)
    dims[0] = onnxl_shape_lit(n, (int64_t)count);
  onnxl_shape_set_type(n, 0, ONNXL_TYPE_FLOAT);
  double *reals = count <= ONNXL_SHAPE_MAX_CONTENTS ? ONNXL_NEW_ARRAY(n->arena, double, count) : NULL;
  for (size_t i = 0; reals && i < count; i++)
    reals[i] = (double)values[i];
  if (reals && n->n_outputs > 0) {
    n->outputs[0].reals = reals;
    n->outputs[0].n_contents = (uint32_t)count;
  }
}

void
onnxl_shape_rule_constant(OnnxlShapeNode *n)
{
  uint32_t n_given = 0;
  for (uint32_t i = 0; i < n->schema->n_attributes; i++)
    n_given += onnxl_node_attribute(n->proto, n->schema->attributes[i].name) != NULL;
  if (n_given != 1) {
    onnxl_shape_error(n, "%u attributes give a value when one must", n_given);
    return;
  }
  for (size_t i = 0; i < n->proto->attribute.count && n->n_outputs > 0; i++) {
    const OnnxlAttribute *a = &n->proto->attribute.items[i];
    if (onnxl_str_is(a->name, "value") && a->t) {
      onnxl_info_from_tensor(n->run, a->t, &n->outputs[0]);
    } else if (onnxl_str_is(a->name, "sparse_value") && a->sparse_tensor) {
      onnxl_info_from_sparse(n->run, a->sparse_tensor, &n->outputs[0]);
    } else if (onnxl_str_is(a->name, "value_int")) {
      integers(n, &a->i, 1, true);
    } else if (onnxl_str_is(a->name, "value_ints")) {
      integers(n, a->ints.items, a->ints.count, false);
    } else if (onnxl_str_is(a->name, "value_float")) {
      floats(n, &a->f, 1, true);
    } else if (onnxl_str_is(a->name, "value_floats")) {
      floats(n, a->floats.items, a->floats.count, false);
    } else if (onnxl_str_is(a->name, "value_string")) {
      onnxl_shape_output(n, 0, 0);
      onnxl_shape_set_type(n, 0, ONNXL_TYPE_STRING);
    } else if (onnxl_str_is(a->name, "value_strings")) {
      onnxl_shape_output(n, 0, 1)[0] = onnxl_shape_lit(n, (int64_t)a->strings.count);
      onnxl_shape_set_type(n, 0, ONNXL_TYPE_STRING);
    }
  }
}

/* --- by a shape --------------------------------------------------------------------------------------------------- */

/* Output 0 has the shape that input i holds. */
static void
shape_from(OnnxlShapeNode *n, uint32_t i)
{
  int64_t rank = onnxl_shape_length(n, i), value;
  if (rank < 0 || rank > ONNXL_SHAPE_MAX_RANK)
    return;
  uint32_t count;
  const OnnxlExpr *sizes = onnxl_shape_values(n, i, &count);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, (uint32_t)rank);
  for (int64_t k = 0; sizes && k < rank; k++) {
    if (sizes[k] && onnxl_expr_is_int(sizes[k], &value) && value < 0) {
      onnxl_shape_error(n, "dim %" G_GINT64_FORMAT " would be %" G_GINT64_FORMAT, k, value);
      return;
    }
    dims[k] = sizes[k];
  }
}

void
onnxl_shape_rule_constant_of_shape(OnnxlShapeNode *n)
{
  const OnnxlAttribute *value = onnxl_node_attribute(n->proto, "value");
  OnnxlInfo fill = { 0 };
  shape_from(n, 0);
  if (value && value->t)
    onnxl_info_from_tensor(n->run, value->t, &fill);
  if (fill.has_rank && onnxl_shape_never_equal(n, onnxl_info_count(n->pool, &fill), onnxl_shape_lit(n, 1))) {
    onnxl_shape_error(n, "value has shape %s where one element is needed", onnxl_shape_text(n, &fill));
    return;
  }
  onnxl_shape_set_type(n, 0, value && value->t ? fill.elem_type : ONNXL_TYPE_FLOAT);
  int64_t count = fill.has_contents && fill.n_contents == 1 ? onnxl_shape_small(n, 0) : -1;
  OnnxlExpr *contents = count >= 0 ? onnxl_shape_contents(n, 0, (uint64_t)count) : NULL;
  for (int64_t i = 0; contents && i < count; i++)
    contents[i] = fill.contents[0];
}

/* dtype: the attribute, else the type of input 0. */
static void
type_from(OnnxlShapeNode *n, const char *attribute)
{
  const OnnxlInfo *input = onnxl_shape_input(n, 0);
  if (onnxl_shape_has(n, attribute))
    onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, attribute));
  else if (input)
    onnxl_shape_set_type(n, 0, input->elem_type);
}

/* Shape and type of the input, unless dtype says otherwise: RandomNormalLike, RandomUniformLike, Bernoulli. */
void
onnxl_shape_rule_like(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  type_from(n, "dtype");
}

/* The same of a matrix. */
void
onnxl_shape_rule_eye_like(OnnxlShapeNode *n)
{
  onnxl_shape_rule_like(n);
  onnxl_shape_of_rank(n, 0, 2);
}

void
onnxl_shape_rule_random(OnnxlShapeNode *n)
{
  OnnxlInt64List shape = onnxl_attr_ints(n->proto, "shape");
  if (shape.count > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, (uint32_t)shape.count);
  for (size_t i = 0; i < shape.count; i++)
    dims[i] = onnxl_shape_lit(n, shape.items[i]);
  onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, "dtype"));
}

void
onnxl_shape_rule_multinomial(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_of_rank(n, 0, 2);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  dims[0] = input ? input->dims[0] : NULL;
  dims[1] = onnxl_shape_lit(n, onnxl_shape_int(n, "sample_size"));
  onnxl_shape_set_type(n, 0, (int32_t)onnxl_shape_int(n, "dtype"));
}

/* --- Range -------------------------------------------------------------------------------------------------------- */

static OnnxlExpr
real_range(OnnxlShapeNode *n)
{
  double v[3];
  int64_t length;
  for (uint32_t i = 0; i < 3; i++) {
    const OnnxlInfo *info = onnxl_shape_input(n, i);
    if (!info || !info->reals || info->n_contents != 1)
      return NULL;
    v[i] = info->reals[0];
  }
  return onnxl_real_range_length(v[0], v[1], v[2], &length) ? onnxl_shape_lit(n, length) : NULL;
}

void
onnxl_shape_rule_range(OnnxlShapeNode *n)
{
  OnnxlExpr start = onnxl_shape_scalar(n, 0), limit = onnxl_shape_scalar(n, 1), delta = onnxl_shape_scalar(n, 2);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 1);
  int64_t step, count, first, last;
  for (uint32_t i = 0; i < 3; i++)
    if (!onnxl_shape_expect_one(n, i))
      return;
  if (!start && !limit && !delta) {
    dims[0] = real_range(n);
    return;
  }
  if (!start || !limit || !delta || !onnxl_expr_is_int(delta, &step) || step == INT64_MIN)
    return;
  if (step == 0) {
    onnxl_shape_error(n, "delta is 0");
    return;
  }
  if (!onnxl_expr_is_int(start, &first) || !onnxl_expr_is_int(limit, &last))
    dims[0] = onnxl_range_length_expr(n->pool, start, limit, step);
  else if (onnxl_range_length(first, last, step, &count))
    dims[0] = onnxl_shape_lit(n, count);
  if (!dims[0] || !onnxl_expr_is_int(dims[0], &count) || count > ONNXL_SHAPE_MAX_CONTENTS)
    return;
  OnnxlExpr *contents = onnxl_shape_contents(n, 0, (uint64_t)count);
  for (int64_t i = 0; contents && i < count; i++)
    contents[i] = onnxl_expr_add(n->pool, start, onnxl_expr_mul(n->pool, onnxl_shape_lit(n, i), delta));
}
