/* Matrix products, Einsum, cumulative sums, determinants. */
#include "shapes/shape-linalg-internal.h"

#include "shapes/shape-rules.h"

/* numpy.matmul: rank-1 operands get a dim of 1 in front or behind, which is dropped again; dims before the last two
 * broadcast. */
void
onnxl_shape_matmul(OnnxlShapeNode *n, uint32_t left, uint32_t right)
{
  const OnnxlInfo *a = onnxl_shape_ranked(n, left), *b = onnxl_shape_ranked(n, right);
  if (!a || !b)
    return;
  if (a->rank == 0 || b->rank == 0) {
    onnxl_shape_error(n, "shapes %s and %s: a scalar cannot be multiplied as a matrix", onnxl_shape_text(n, a),
                      onnxl_shape_text(n, b));
    return;
  }
  OnnxlExpr a_inner = a->dims[a->rank - 1], b_inner = b->dims[b->rank == 1 ? 0 : b->rank - 2];
  if (!onnxl_shape_list_equal(n, a_inner, b_inner)) {
    onnxl_shape_error(n, "shapes %s and %s do not match", onnxl_shape_text(n, a), onnxl_shape_text(n, b));
    return;
  }
  OnnxlExpr batch[ONNXL_SHAPE_MAX_RANK];
  uint32_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;
  if (!onnxl_shape_broadcast(n, a->dims, a_batch, b->dims, b_batch, batch))
    return;
  uint32_t n_batch = MAX(a_batch, b_batch);
  OnnxlExpr *dims = onnxl_shape_output(n, 0, n_batch + (a->rank > 1) + (b->rank > 1));
  for (uint32_t i = 0; i < n_batch; i++)
    dims[i] = batch[i];
  if (a->rank > 1)
    dims[n_batch] = a->dims[a->rank - 2];
  if (b->rank > 1)
    dims[n_batch + (a->rank > 1)] = b->dims[b->rank - 1];
}

void
onnxl_shape_rule_matmul(OnnxlShapeNode *n)
{
  onnxl_shape_matmul(n, 0, 1);
}

void
onnxl_shape_rule_gemm(OnnxlShapeNode *n)
{
  const OnnxlInfo *a = onnxl_shape_of_rank(n, 0, 2), *b = n->failed ? NULL : onnxl_shape_of_rank(n, 1, 2);
  if (n->failed)
    return;
  bool trans_a = onnxl_shape_int(n, "transA") != 0, trans_b = onnxl_shape_int(n, "transB") != 0;
  OnnxlExpr *dims = onnxl_shape_output(n, 0, 2);
  if (a && b) {
    onnxl_shape_equal(n, a->dims[!trans_a], b->dims[trans_b], "inner sizes");
    if (n->failed)
      return;
  }
  dims[0] = a ? a->dims[trans_a] : NULL;
  dims[1] = b ? b->dims[!trans_b] : NULL;
  if (a && b)
    onnxl_shape_expect_within(n, 2, dims, 2);
}

void
onnxl_shape_rule_det(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  if (!input)
    return;
  if (input->rank < 2) {
    onnxl_shape_error(n, "shape %s has no matrices", onnxl_shape_text(n, input));
    return;
  }
  onnxl_shape_equal(n, input->dims[input->rank - 2], input->dims[input->rank - 1], "sides of the matrix");
  OnnxlExpr *dims = onnxl_shape_output(n, 0, input->rank - 2);
  for (uint32_t i = 0; i + 2 < input->rank; i++)
    dims[i] = input->dims[i];
}

/* CumSum and CumProd: the axis is an input. */
void
onnxl_shape_rule_cumulative(OnnxlShapeNode *n)
{
  const OnnxlInfo *input = onnxl_shape_ranked(n, 0);
  OnnxlExpr axis = onnxl_shape_scalar(n, 1);
  int64_t value;
  uint32_t unread;
  onnxl_shape_same(n, 0, input);
  if (onnxl_shape_expect_one(n, 1) && input && axis && onnxl_expr_is_int(axis, &value))
    onnxl_shape_axis(n, value, input->rank, &unread);
}

/* Trilu: matrices. */
void
onnxl_shape_rule_trilu(OnnxlShapeNode *n)
{
  onnxl_shape_same(n, 0, onnxl_shape_ranked(n, 0));
  if (onnxl_shape_of_ranks(n, 0, 2, UINT32_MAX))
    onnxl_shape_expect_one(n, 1);
}

/* --- Einsum ------------------------------------------------------------------------------------------------------- */

typedef struct Einsum {
  OnnxlShapeNode *n;
  OnnxlExpr letters[256]; /* size by letter */
  bool known[256];
  uint32_t counts[256]; /* occurrences in the inputs */
  OnnxlExpr ellipsis[ONNXL_SHAPE_MAX_RANK];
  uint32_t ellipsis_rank;
} Einsum;

static bool
is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static uint32_t
count_letters(OnnxlStr term)
{
  uint32_t count = 0;
  for (size_t i = 0; i < term.size; i++)
    count += is_letter(term.data[i]);
  return count;
}

/* One input: its dims get their letters; those under "..." broadcast. */
static bool
read_term(Einsum *e, OnnxlStr term, const OnnxlInfo *info)
{
  OnnxlShapeNode *n = e->n;
  uint32_t letters = count_letters(term), at = 0;
  bool has_ellipsis = memmem(term.data, term.size, "...", 3) != NULL;
  if (letters > info->rank || (!has_ellipsis && letters != info->rank)) {
    onnxl_shape_error(n, "term '%.*s' does not fit shape %s", ONNXL_ARG(term), onnxl_shape_text(n, info));
    return false;
  }
  for (size_t i = 0; i < term.size; i++) {
    unsigned char c = (unsigned char)term.data[i];
    if (is_letter((char)c)) {
      OnnxlExpr dim = info->dims[at++];
      e->counts[c]++;
      /* Sizes of 1 broadcast, as in numpy.einsum. */
      if (!e->known[c])
        e->letters[c] = dim;
      else if (!onnxl_shape_broadcast_dim(n->run, e->letters[c], dim, &e->letters[c])) {
        onnxl_shape_error(n, "sizes of '%c' do not match in shape %s", c, onnxl_shape_text(n, info));
        return false;
      }
      e->known[c] = true;
    } else if (c == '.') {
      uint32_t rank = info->rank - letters;
      OnnxlExpr both[ONNXL_SHAPE_MAX_RANK];
      if (!onnxl_shape_broadcast(n, e->ellipsis, e->ellipsis_rank, info->dims + at, rank, both))
        return false;
      e->ellipsis_rank = MAX(rank, e->ellipsis_rank);
      memcpy(e->ellipsis, both, e->ellipsis_rank * sizeof *both);
      at += rank;
      i += 2;
    }
  }
  return true;
}

/* Each letter of the output stands in an input, and once in the output. */
static bool
check_output(Einsum *e, OnnxlStr term)
{
  for (size_t i = 0; i < term.size; i++) {
    if (!is_letter(term.data[i]))
      continue;
    bool twice = memchr(term.data + i + 1, term.data[i], term.size - i - 1) != NULL;
    if (twice || e->counts[(unsigned char)term.data[i]] == 0) {
      onnxl_shape_error(e->n, twice ? "the output has '%c' twice" : "'%c' of the output is not in the inputs",
                        term.data[i]);
      return false;
    }
  }
  return true;
}

static void
write_term(Einsum *e, OnnxlStr term)
{
  uint32_t letters = count_letters(term), rank = letters, at = 0;
  bool has_ellipsis = memmem(term.data, term.size, "...", 3) != NULL;
  if (has_ellipsis)
    rank += e->ellipsis_rank;
  if (rank > ONNXL_SHAPE_MAX_RANK)
    return;
  OnnxlExpr *dims = onnxl_shape_output(e->n, 0, rank);
  for (size_t i = 0; i < term.size; i++) {
    unsigned char c = (unsigned char)term.data[i];
    if (is_letter((char)c)) {
      dims[at++] = e->letters[c];
    } else if (c == '.') {
      for (uint32_t k = 0; k < e->ellipsis_rank; k++)
        dims[at++] = e->ellipsis[k];
      i += 2;
    }
  }
}

/* Without "->" the output has the ellipsis, then the letters that occur once, in alphabetical order. */
static void
write_implicit(Einsum *e)
{
  char term[3 + 52];
  size_t size = 3;
  memcpy(term, "...", 3);
  for (unsigned c = 0; c < 256; c++)
    if (e->counts[c] == 1)
      term[size++] = (char)c;
  write_term(e, onnxl_str_n(term, size));
}

static bool
is_equation(OnnxlStr text)
{
  for (size_t i = 0; i < text.size; i++) {
    char c = text.data[i];
    bool dots = c == '.' && i + 2 < text.size && text.data[i + 1] == '.' && text.data[i + 2] == '.';
    bool arrow = c == '-' && i + 1 < text.size && text.data[i + 1] == '>';
    if (!is_letter(c) && c != ',' && c != ' ' && !dots && !arrow)
      return false;
    i += dots ? 2 : arrow ? 1 : 0;
  }
  return true;
}

void
onnxl_shape_rule_einsum(OnnxlShapeNode *n)
{
  OnnxlStr equation = onnxl_attr_string(n->schema, n->proto, "equation");
  if (!equation.data || !is_equation(equation)) {
    onnxl_shape_error(n, "'%.*s' is no equation", ONNXL_ARG(equation));
    return;
  }
  const char *arrow = memmem(equation.data, equation.size, "->", 2);
  size_t left = arrow ? (size_t)(arrow - equation.data) : equation.size;
  Einsum *e = ONNXL_NEW(n->arena, Einsum);
  if (!e)
    return;
  e->n = n;
  bool complete = true;
  size_t start = 0;
  uint32_t input = 0;
  for (size_t i = 0; i <= left; i++) {
    if (i < left && equation.data[i] != ',')
      continue;
    const OnnxlInfo *info = onnxl_shape_ranked(n, input);
    if (info && !read_term(e, onnxl_str_n(equation.data + start, i - start), info))
      return;
    complete = complete && info;
    input++;
    start = i + 1;
  }
  if (input != n->n_inputs) {
    onnxl_shape_error(n, "the equation has %u terms for %u inputs", input, n->n_inputs);
    return;
  }
  bool ellipsis = memmem(equation.data, equation.size, "...", 3) != NULL;
  if (!complete && (ellipsis || !arrow))
    return;
  OnnxlStr output = arrow ? onnxl_str_n(arrow + 2, equation.size - left - 2) : ONNXL_STR("");
  if (!arrow)
    write_implicit(e);
  else if (!complete || check_output(e, output))
    write_term(e, output);
}
