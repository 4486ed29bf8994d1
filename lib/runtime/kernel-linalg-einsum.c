/* Einsum: one nest of loops over all subscripts. */
#include "runtime/loop.h"
#include "runtime/tensor.h"
#include "runtime/types-internal.h"
#include "shapes/broadcast.h"

/* Subscripts: letters, then axes of the ellipsis. */
enum { LETTERS = 52, SUBSCRIPTS = LETTERS + ONNXL_MAX_RANK };

typedef struct Term {
  int subscripts[ONNXL_MAX_RANK]; /* of each axis */
  uint32_t rank;
  int64_t strides[SUBSCRIPTS]; /* 0 where the term does not have the subscript */
  const OnnxlValue *value;
} Term;

typedef struct Einsum {
  Term *terms;
  uint32_t n_terms;
  Term output;
  int64_t sizes[SUBSCRIPTS]; /* -1 = not used */
  uint32_t counts[LETTERS];  /* how often a letter occurs in the inputs */
  uint32_t ellipsis;         /* axes of the longest ellipsis */
} Einsum;

static int
letter_index(char c)
{
  if (g_ascii_islower(c))
    return c - 'a';
  return g_ascii_isupper(c) ? 26 + c - 'A' : -1;
}

/* For messages. */
static const char *
subscript_text(int subscript)
{
  static const char letters[LETTERS][2] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m",
                                            "n", "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z",
                                            "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M",
                                            "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X", "Y", "Z" };
  return subscript < LETTERS ? letters[subscript] : "...";
}

/* Reads one term up to end. rank: of its tensor, which tells how many axes an ellipsis has; the output's is the
 * longest. */
static bool
parse_term(OnnxlKernelContext *context, Einsum *einsum, OnnxlStr text, int64_t rank, Term *term, GError **error)
{
  int64_t letters = 0, dots = 0;
  for (size_t i = 0; i < text.size; i++) {
    letters += letter_index(text.data[i]) >= 0;
    dots += text.data[i] == '.';
  }
  int64_t hidden = dots == 0 ? 0 : rank >= 0 ? rank - letters : einsum->ellipsis;
  if ((dots != 0 && dots != 3) || hidden < 0 || letters + hidden > ONNXL_MAX_RANK ||
      (rank >= 0 && letters + hidden != rank))
    return onnxl_ctx_invalid(context, error, "the term \"%.*s\" does not fit a tensor of rank %" G_GINT64_FORMAT,
                             ONNXL_ARG(text), rank);
  term->rank = 0;
  for (size_t i = 0; i < text.size; i++) {
    int letter = letter_index(text.data[i]);
    if (letter >= 0)
      term->subscripts[term->rank++] = letter;
    else if (text.data[i] == '.') {
      if (i + 2 >= text.size || text.data[i + 1] != '.' || text.data[i + 2] != '.')
        return onnxl_ctx_invalid(context, error, "the term \"%.*s\" has a stray point", ONNXL_ARG(text));
      /* Aligned at the right, as in broadcasting; the axes count from the last. */
      for (int64_t k = hidden; k-- > 0;)
        term->subscripts[term->rank++] = LETTERS + (int)k;
      i += 2;
    } else if (text.data[i] != ' ')
      return onnxl_ctx_invalid(context, error, "the term \"%.*s\" has an unknown character", ONNXL_ARG(text));
  }
  return true;
}

static bool
bind_sizes(OnnxlKernelContext *context, Einsum *einsum, Term *term, GError **error)
{
  int64_t own[ONNXL_MAX_RANK];
  onnxl_strides(term->value->dims, term->value->rank, own);
  for (uint32_t i = 0; i < term->rank; i++) {
    int s = term->subscripts[i];
    int64_t size = term->value->dims[i], *known = &einsum->sizes[s];
    if (*known < 0)
      *known = size;
    else if (!onnxl_broadcast_dim(*known, size, known))
      return onnxl_ctx_invalid(context, error,
                               "the subscript \"%s\" has the sizes %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                               subscript_text(s), *known, size);
    term->strides[s] += size == 1 ? 0 : own[i]; /* a repeated subscript walks the diagonal */
    if (s < LETTERS)
      einsum->counts[s]++;
  }
  return true;
}

static bool
parse_equation(OnnxlKernelContext *context, Einsum *einsum, GError **error)
{
  OnnxlStr equation = onnxl_ctx_string(context, "equation");
  const char *at = equation.data, *end = at + equation.size;
  const char *arrow = memmem(at, equation.size, "->", 2), *inputs_end = arrow ? arrow : end;
  for (uint32_t t = 0; t < einsum->n_terms; t++) {
    const char *comma = memchr(at, ',', (size_t)(inputs_end - at)), *stop = comma ? comma : inputs_end;
    Term *term = &einsum->terms[t];
    if ((comma != NULL) != (t + 1 < einsum->n_terms))
      return onnxl_ctx_invalid(context, error, "the equation does not have %u terms", einsum->n_terms);
    term->value = onnxl_ctx_input(context, t);
    if (!parse_term(context, einsum, onnxl_str_n(at, (size_t)(stop - at)), term->value->rank, term, error) ||
        !bind_sizes(context, einsum, term, error))
      return false;
    uint32_t hidden = 0;
    for (uint32_t i = 0; i < term->rank; i++)
      hidden += term->subscripts[i] >= LETTERS;
    einsum->ellipsis = MAX(einsum->ellipsis, hidden);
    at = stop + 1;
  }
  if (arrow)
    return parse_term(context, einsum, onnxl_str_n(arrow + 2, (size_t)(end - arrow - 2)), -1, &einsum->output, error);
  /* Without an arrow: the ellipsis, then the letters that occur once, in order of the alphabet. */
  Term *output = &einsum->output;
  for (uint32_t k = einsum->ellipsis; k-- > 0;)
    output->subscripts[output->rank++] = LETTERS + (int)k;
  for (int pass = 0; pass < 2; pass++) /* 'A' comes before 'a' */
    for (int s = pass == 0 ? 26 : 0; s < (pass == 0 ? LETTERS : 26); s++)
      if (einsum->counts[s] == 1 && output->rank < ONNXL_MAX_RANK)
        output->subscripts[output->rank++] = s;
  return true;
}

#define MULTIPLY(type, T, U)                                                 \
  case ONNXL_TYPE_##type: {                                                  \
    U sum = 0;                                                               \
    for (bool more = true; more;) {                                          \
      U product = 1;                                                         \
      for (uint32_t t = 0; t < einsum->n_terms; t++)                         \
        product *= (U)((const T *)einsum->terms[t].value->data)[offsets[t]]; \
      sum += product;                                                        \
      more = step(einsum, summed, n_summed, index, offsets);                 \
    }                                                                        \
    ((T *)y->data)[to] = (T)sum;                                             \
    return true;                                                             \
  }

/* Advances the subscripts in list and every term's offset with them. False behind the last; then all are back at 0. */
static bool
step(const Einsum *einsum, const int *list, uint32_t n, int64_t *index, int64_t *offsets)
{
  for (uint32_t i = n; i-- > 0;) {
    int s = list[i];
    if (++index[s] < einsum->sizes[s]) {
      for (uint32_t t = 0; t < einsum->n_terms; t++)
        offsets[t] += einsum->terms[t].strides[s];
      return true;
    }
    for (uint32_t t = 0; t < einsum->n_terms; t++)
      offsets[t] -= einsum->terms[t].strides[s] * (einsum->sizes[s] - 1);
    index[s] = 0;
  }
  return false;
}

static bool
sum_products(const OnnxlKernelContext *context, const Einsum *einsum, const int *summed, uint32_t n_summed,
             int64_t *index, int64_t *offsets, OnnxlValue *y, int64_t to, GError **error)
{
  switch (y->elem_type) {
    ONNXL_REAL_TYPES(MULTIPLY)
  default:
    return onnxl_ctx_unsupported_type(context, error, y->elem_type);
  }
}

static bool
run_einsum(OnnxlKernelContext *context, GError **error)
{
  Einsum *einsum = onnxl_ctx_scratch(context, 1, sizeof *einsum, error);
  if (!einsum)
    return false;
  *einsum = (Einsum){ .n_terms = onnxl_ctx_n_inputs(context) };
  memset(einsum->sizes, -1, sizeof einsum->sizes);
  einsum->terms = onnxl_ctx_scratch(context, einsum->n_terms, sizeof *einsum->terms, error);
  int64_t *offsets = einsum->terms ? onnxl_ctx_scratch(context, einsum->n_terms, sizeof *offsets, error) : NULL;
  if (!offsets)
    return false;
  memset(einsum->terms, 0, einsum->n_terms * sizeof *einsum->terms);
  memset(offsets, 0, einsum->n_terms * sizeof *offsets);
  if (!parse_equation(context, einsum, error))
    return false;
  int64_t dims[ONNXL_MAX_RANK], index[SUBSCRIPTS] = { 0 }, to = 0;
  bool kept[SUBSCRIPTS] = { false }, empty = false;
  for (uint32_t i = 0; i < einsum->output.rank; i++) {
    int s = einsum->output.subscripts[i];
    if (einsum->sizes[s] < 0 || kept[s])
      return onnxl_ctx_invalid(context, error, "the output subscript \"%s\" is %s", subscript_text(s),
                               kept[s] ? "there twice" : "not in the inputs");
    kept[s] = true;
    dims[i] = einsum->sizes[s];
  }
  int summed[SUBSCRIPTS];
  uint32_t n_summed = 0;
  for (int s = 0; s < SUBSCRIPTS; s++)
    if (einsum->sizes[s] >= 0 && !kept[s]) {
      summed[n_summed++] = s;
      empty = empty || einsum->sizes[s] == 0;
    }
  OnnxlValue *y =
    onnxl_ctx_output(context, 0, onnxl_ctx_input(context, 0)->elem_type, einsum->output.rank, dims, error);
  if (!y || y->count == 0)
    return y != NULL;
  if (empty) { /* sums over nothing */
    memset(y->data, 0, y->bytes);
    return true;
  }
  do
    if (!sum_products(context, einsum, summed, n_summed, index, offsets, y, to++, error))
      return false;
  while (step(einsum, einsum->output.subscripts, einsum->output.rank, index, offsets));
  return true;
}
ONNXL_KERNEL(einsum, COMPUTES);
