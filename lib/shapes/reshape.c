#include "shapes/reshape.h"

#include "shapes/shape-rules.h"

/* False: overflow. */
static bool
count_of(const int64_t *dims, size_t n, int64_t skip, int64_t *ret_count)
{
  *ret_count = 1;
  bool good = true, zero = false;
  for (size_t i = 0; i < n; i++) {
    zero = zero || dims[i] == 0;
    good = good && ((int64_t)i == skip || !__builtin_mul_overflow(*ret_count, dims[i], ret_count));
  }
  if (zero)
    *ret_count = 0;
  return good || zero;
}

bool
onnxl_reshape_dims(const int64_t *dims, size_t rank, const int64_t *target, size_t n, bool allow_zero,
                   int64_t *ret_dims)
{
  int64_t rest = -1, count, known;
  for (size_t i = 0; i < n; i++) {
    bool copies = target[i] == 0 && !allow_zero;
    if (target[i] < -1 || (copies && i >= rank) || (target[i] == -1 && rest >= 0))
      return false;
    if (target[i] == -1)
      rest = (int64_t)i;
    ret_dims[i] = copies ? dims[i] : target[i];
  }
  if (!count_of(dims, rank, -1, &count) || !count_of(ret_dims, n, rest, &known))
    return false;
  if (rest < 0)
    return known == count;
  /* Beside a 0 any size would do, so that none follows. */
  if (known == 0 || count % known != 0)
    return false;
  ret_dims[rest] = count / known;
  return true;
}

/* Of symbols. An entry of the target is a size, 0 (which copies the input's dim at its place, unless allowzero is set)
 * or -1 (what is left). A symbolic entry may be 0 in a run, and then copies too; see zero_entries(). */

typedef struct Target {
  const OnnxlInfo *input; /* NULL: rank unknown */
  const OnnxlExpr *entries;
  uint32_t rank;
  bool allow_zero;
  int32_t rest;    /* the place of -1, or -1 */
  OnnxlExpr *dims; /* the result */
  bool *entry;     /* by place: dims came from the entry, not copied */
} Target;

static OnnxlExpr
copied(const Target *t, uint32_t i)
{
  return t->input && i < t->input->rank ? t->input->dims[i] : NULL;
}

/* One entry, 0 and -1 apart. Negative in some runs: taken for a size, on the condition that it is one. */
static OnnxlExpr
entry_size(OnnxlShapeNode *n, OnnxlExpr e)
{
  if (!e || onnxl_shape_min(n, e) >= 0)
    return e;
  return onnxl_shape_assume(n, e, ONNXL_REL_GE, onnxl_shape_lit(n, 0)) ? e : NULL;
}

static bool
read_entries(OnnxlShapeNode *n, Target *t)
{
  for (uint32_t i = 0; i < t->rank; i++) {
    int64_t value;
    OnnxlExpr e = t->entries[i];
    if (!e || !onnxl_expr_is_int(e, &value)) {
      t->dims[i] = entry_size(n, e);
      t->entry[i] = true;
    } else if (value == 0 && !t->allow_zero) {
      if (t->input && i >= t->input->rank) {
        onnxl_shape_error(n, "entry %u of the shape is 0, but the input has rank %u only", i, t->input->rank);
        return false;
      }
      t->dims[i] = copied(t, i);
    } else if (value == -1) {
      if (t->rest >= 0) {
        onnxl_shape_error(n, "the shape has -1 twice");
        return false;
      }
      t->rest = (int32_t)i;
    } else if (value < -1) {
      onnxl_shape_error(n, "entry %u of the shape is %" G_GINT64_FORMAT, i, value);
      return false;
    } else {
      t->dims[i] = e;
      t->entry[i] = true;
    }
  }
  return true;
}

/* What a symbolic entry that is 0 in a run means: it copies the input's dim d there. That is the same when d is 0 as
 * well, or when such a run fails:
 *  - next to a -1 it is fine if d is 0 too, since nothing can be inferred then; otherwise it is ruled out by a
 * constraint;
 *  - where the element counts are equal as expressions, the run fails unless another entry is 0 as well; two such
 * entries are ruled out by a constraint. Else the size is e if e >= 1 and d otherwise: e + d * (1 - min(e, 1)). */
static void
zero_entries(OnnxlShapeNode *n, Target *t)
{
  if (t->allow_zero || !t->input)
    return;
  OnnxlExpr one = onnxl_shape_lit(n, 1);
  OnnxlExpr all = t->rest < 0 ? onnxl_shape_product(n, t->dims, 0, t->rank) : NULL;
  bool counts_equal = all && all == onnxl_info_count(n->pool, t->input);
  for (uint32_t i = 0; i < t->rank; i++) {
    OnnxlExpr e = t->dims[i], d = copied(t, i);
    if (!t->entry[i] || !e || e == d || onnxl_shape_min(n, e) >= 1)
      continue;
    if (i >= t->input->rank) /* a 0 there is an error */
      continue;
    if (t->rest >= 0) {
      if (!onnxl_shape_assume(n, e, ONNXL_REL_GE, one))
        t->dims[i] = NULL;
      continue;
    }
    if (counts_equal) {
      bool sound = true;
      for (uint32_t k = 0; k < t->rank && sound; k++)
        if (k != i && t->dims[k] && onnxl_shape_min(n, t->dims[k]) < 1)
          sound = onnxl_shape_assume(n, onnxl_expr_add(n->pool, e, t->dims[k]), ONNXL_REL_GE, one);
      if (sound)
        continue;
    }
    OnnxlExpr absent = onnxl_expr_sub(n->pool, one, onnxl_expr_min(n->pool, e, one));
    t->dims[i] = onnxl_expr_add(n->pool, e, onnxl_expr_mul(n->pool, d, absent));
  }
}

/* The count of the input over the product of the other entries; equal factors cancel first, so that unknown or very
 * large ones do no harm. A run in which they are 0 fails: nothing can be inferred. */
static void
infer_rest(OnnxlShapeNode *n, Target *t)
{
  OnnxlExpr upper = onnxl_shape_lit(n, 1), lower = upper;
  bool used[ONNXL_SHAPE_MAX_RANK] = { false };
  if (!t->input)
    return;
  for (uint32_t i = 0; i < t->rank; i++) {
    if ((int32_t)i == t->rest)
      continue;
    bool cancelled = false;
    for (uint32_t k = 0; k < t->input->rank && !cancelled; k++)
      if (!used[k] && t->dims[i] && t->dims[i] == t->input->dims[k])
        used[k] = cancelled = true;
    if (!cancelled)
      lower = onnxl_expr_mul(n->pool, lower, t->dims[i]);
  }
  for (uint32_t k = 0; k < t->input->rank; k++)
    if (!used[k])
      upper = onnxl_expr_mul(n->pool, upper, t->input->dims[k]);
  int64_t divisor, count;
  if (lower && onnxl_expr_is_int(lower, &divisor)) {
    if (divisor == 0)
      return;
    if (upper && onnxl_expr_is_int(upper, &count) && count % divisor != 0) {
      onnxl_shape_error(n, "%" G_GINT64_FORMAT " elements cannot be split over %" G_GINT64_FORMAT, count, divisor);
      return;
    }
  }
  t->dims[t->rest] = onnxl_expr_exact_div(n->pool, upper, lower);
}

static void
check_counts(OnnxlShapeNode *n, const Target *t)
{
  OnnxlExpr all = onnxl_shape_product(n, t->dims, 0, t->rank), count = onnxl_info_count(n->pool, t->input);
  if (!onnxl_shape_list_equal(n, count, all)) {
    OnnxlInfo info = { .has_rank = true, .rank = t->rank, .dims = t->dims };
    onnxl_shape_error(n, "shape %s cannot become %s", onnxl_shape_text(n, t->input), onnxl_shape_text(n, &info));
  }
}

static bool
are_numbers(OnnxlShapeNode *n, const Target *t, int64_t *ret_dims, int64_t *ret_target)
{
  for (uint32_t i = 0; i < t->rank; i++)
    if (!t->entries[i] || !onnxl_expr_is_int(t->entries[i], &ret_target[i]))
      return false;
  /* Without a count, dims whose product does not fit 64 bits: symbols cope with these. */
  OnnxlExpr count =
    t->input && onnxl_shape_literal_dims(t->input, ret_dims) ? onnxl_info_count(n->pool, t->input) : NULL;
  return count && onnxl_expr_is_int(count, NULL);
}

static void
reshape_numbers(OnnxlShapeNode *n, Target *t, const int64_t *dims, const int64_t *target)
{
  int64_t result[ONNXL_SHAPE_MAX_RANK];
  if (!onnxl_reshape_dims(dims, t->input->rank, target, t->rank, t->allow_zero, result)) {
    OnnxlInfo wanted = { .has_rank = true, .rank = t->rank, .dims = t->entries };
    onnxl_shape_error(n, "shape %s cannot become %s", onnxl_shape_text(n, t->input), onnxl_shape_text(n, &wanted));
    return;
  }
  for (uint32_t i = 0; i < t->rank; i++)
    t->dims[i] = onnxl_shape_lit(n, result[i]);
  onnxl_shape_move(n, 0, t->input, NULL, t->input->n_contents);
}

static void
reshape(OnnxlShapeNode *n, const OnnxlExpr *entries, uint32_t rank, bool allow_zero)
{
  if (rank > ONNXL_SHAPE_MAX_RANK)
    return;
  bool entry[ONNXL_SHAPE_MAX_RANK] = { false };
  Target t = {
    .input = onnxl_shape_ranked(n, 0),
    .entries = entries,
    .rank = rank,
    .allow_zero = allow_zero,
    .rest = -1,
    .dims = onnxl_shape_output(n, 0, rank),
    .entry = entry,
  };
  int64_t dims[ONNXL_SHAPE_MAX_RANK], target[ONNXL_SHAPE_MAX_RANK];
  if (are_numbers(n, &t, dims, target)) {
    reshape_numbers(n, &t, dims, target);
    return;
  }
  if (!read_entries(n, &t))
    return;
  zero_entries(n, &t);
  if (t.rest >= 0)
    infer_rest(n, &t);
  else if (t.input)
    check_counts(n, &t);
  if (t.input)
    onnxl_shape_move(n, 0, t.input, NULL, t.input->n_contents);
}

void
onnxl_shape_rule_reshape(OnnxlShapeNode *n)
{
  uint32_t count;
  if (n->schema->since < 5) {
    OnnxlInt64List list = onnxl_attr_ints(n->proto, "shape");
    OnnxlExpr *entries = ONNXL_NEW_ARRAY(n->arena, OnnxlExpr, list.count);
    for (size_t i = 0; entries && i < list.count; i++)
      entries[i] = onnxl_shape_lit(n, list.items[i]);
    if (entries && list.count <= ONNXL_SHAPE_MAX_RANK)
      reshape(n, entries, (uint32_t)list.count, false);
    return;
  }
  bool allow_zero = n->schema->since >= 14 && onnxl_shape_int(n, "allowzero") != 0;
  const OnnxlExpr *entries = onnxl_shape_values(n, 1, &count);
  if (entries) {
    reshape(n, entries, count, allow_zero);
    return;
  }
  int64_t rank = onnxl_shape_length(n, 1);
  if (rank >= 0 && rank <= ONNXL_SHAPE_MAX_RANK)
    onnxl_shape_output(n, 0, (uint32_t)rank);
}
