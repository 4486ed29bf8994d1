/* RNN, GRU and LSTM: one walk over time, with a cell for each. Everything is computed in double. */
#include <math.h>

#include "runtime/loop.h"
#include "runtime/matmul-internal.h"
#include "runtime/tensor.h"

typedef enum Cell { CELL_RNN, CELL_GRU, CELL_LSTM } Cell;

static const int64_t cell_gates[] = { 1, 3, 4 };
static const uint32_t cell_activations[] = { 1, 2, 3 };

typedef struct Activation {
  enum {
    RELU,
    TANH,
    SIGMOID,
    AFFINE,
    LEAKY_RELU,
    THRESHOLDED_RELU,
    SCALED_TANH,
    HARD_SIGMOID,
    ELU,
    SOFTSIGN,
    SOFTPLUS
  } kind;
  double alpha, beta;
} Activation;

typedef struct Recurrence {
  Cell cell;
  int64_t length, batch, inputs, hidden, directions;
  bool batch_first; /* layout 1 */
  double clip;      /* 0 = none */
  bool input_forget, linear_before_reset;
  const double *x;         /* [length, batch, inputs] */
  const double *w, *r;     /* [directions, gates * hidden, inputs or hidden] */
  const double *bias;      /* [directions, 2 * gates * hidden] or NULL */
  const double *peepholes; /* [directions, 3 * hidden] or NULL */
  int64_t *lengths;        /* of each batch entry */
  double *h, *c;           /* state: [directions, batch, hidden] */
  double *y;               /* [length, directions, batch, hidden] */
  Activation activations[2][3];
} Recurrence;

static double
activate(const Activation *a, double x)
{
  switch (a->kind) {
  case RELU:
    return x > 0 ? x : 0;
  case TANH:
    return tanh(x);
  case SIGMOID:
    return 1 / (1 + exp(-x));
  case AFFINE:
    return a->alpha * x + a->beta;
  case LEAKY_RELU:
    return x >= 0 ? x : a->alpha * x;
  case THRESHOLDED_RELU:
    return x >= a->alpha ? x : 0;
  case SCALED_TANH:
    return a->alpha * tanh(a->beta * x);
  case HARD_SIGMOID:
    return CLAMP(a->alpha * x + a->beta, 0, 1);
  case ELU:
    return x >= 0 ? x : a->alpha * expm1(x);
  case SOFTSIGN:
    return x / (1 + fabs(x));
  default:
    return fmax(x, 0) + log1p(exp(-fabs(x)));
  }
}

static bool
read_activations(OnnxlKernelContext *context, Recurrence *p, GError **error)
{
  static const struct {
    const char *name;
    double alpha, beta;
    bool has_alpha, has_beta;
  } known[] = {
    { "relu", 0, 0, false, false },        { "tanh", 0, 0, false, false },
    { "sigmoid", 0, 0, false, false },     { "affine", 1, 0, true, true },
    { "leakyrelu", 0.01, 0, true, false }, { "thresholdedrelu", 1, 0, true, false },
    { "scaledtanh", 1, 1, true, true },    { "hardsigmoid", 0.2, 0.5, true, true },
    { "elu", 1, 0, true, false },          { "softsign", 0, 0, false, false },
    { "softplus", 0, 0, false, false },
  };
  static const char *const usual[][3] = { { "tanh" }, { "sigmoid", "tanh" }, { "sigmoid", "tanh", "tanh" } };
  OnnxlStrList names = onnxl_ctx_strings(context, "activations");
  OnnxlFloatList alphas = onnxl_ctx_floats(context, "activation_alpha");
  OnnxlFloatList betas = onnxl_ctx_floats(context, "activation_beta");
  uint32_t n = cell_activations[p->cell];
  size_t next_alpha = 0, next_beta = 0;
  if (names.count > 0 && names.count < n * (size_t)p->directions)
    return onnxl_ctx_invalid(context, error, "%zu activations are named when %u are needed", names.count,
                             n * (uint32_t)p->directions);
  for (uint32_t i = 0; i < n * p->directions; i++) {
    OnnxlStr name = names.count > 0 ? names.items[i] : onnxl_str(usual[p->cell][i % n]);
    Activation *a = &p->activations[i / n][i % n];
    size_t k = 0;
    while (k < G_N_ELEMENTS(known) &&
           (name.size != strlen(known[k].name) || g_ascii_strncasecmp(name.data, known[k].name, name.size) != 0))
      k++;
    if (k == G_N_ELEMENTS(known))
      return onnxl_ctx_invalid(context, error, "the activation %.*s is unknown", ONNXL_ARG(name));
    *a = (Activation){ .kind = k, .alpha = known[k].alpha, .beta = known[k].beta };
    if (known[k].has_alpha && next_alpha < alphas.count)
      a->alpha = alphas.items[next_alpha++];
    if (known[k].has_beta && next_beta < betas.count)
      a->beta = betas.items[next_beta++];
  }
  return true;
}

static double
clipped(const Recurrence *p, double x)
{
  return p->clip > 0 ? CLAMP(x, -p->clip, p->clip) : x;
}

static void
lstm_cell(const Recurrence *p, int64_t d, const double *gates, double *h, double *c)
{
  const Activation *f = p->activations[d];
  const double *peephole = p->peepholes ? p->peepholes + d * 3 * p->hidden : NULL;
  for (int64_t j = 0; j < p->hidden; j++) {
    double pi = gates[j], po = gates[p->hidden + j], pf = gates[2 * p->hidden + j], pc = gates[3 * p->hidden + j];
    if (peephole) {
      pi += peephole[j] * c[j];
      pf += peephole[2 * p->hidden + j] * c[j];
    }
    double i = activate(&f[0], clipped(p, pi));
    double forget = p->input_forget ? 1 - i : activate(&f[0], clipped(p, pf));
    c[j] = forget * c[j] + i * activate(&f[1], clipped(p, pc));
    if (peephole)
      po += peephole[p->hidden + j] * c[j];
    h[j] = activate(&f[0], clipped(p, po)) * activate(&f[2], c[j]);
  }
}

static bool
multiply(OnnxlKernelContext *context, int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c,
         bool accumulate, GError **error)
{
  OnnxlMatmul product = { .m = m,
                          .n = n,
                          .k = k,
                          .a = a,
                          .a_row = k,
                          .a_column = 1,
                          .b = b,
                          .b_row = 1,
                          .b_column = k,
                          .c = c,
                          .c_row = n,
                          .accumulate = accumulate };
  void *mark = onnxl_ctx_mark(context);
  bool good = onnxl_matmul_strided(context, ONNXL_TYPE_DOUBLE, &product, error);
  onnxl_ctx_rewind(context, mark);
  return good;
}

/* gates: x's part of the update, reset and hidden gates, with x's biases; recurrent: h's part of all three without
 * bias. */
static bool
gru_step(OnnxlKernelContext *context, const Recurrence *p, int64_t d, int64_t b, double *gates, const double *recurrent,
         double *h, double *reset_h, GError **error)
{
  int64_t n = p->hidden;
  const Activation *f = p->activations[d];
  const double *bias = p->bias ? p->bias + d * 6 * n + 3 * n : NULL;
  const double *r = p->r + (d * 3 + 2) * n * n;
  for (int64_t j = 0; j < n; j++) {
    gates[j] = activate(&f[0], clipped(p, gates[j] + recurrent[j] + (bias ? bias[j] : 0)));
    gates[n + j] = activate(&f[0], clipped(p, gates[n + j] + recurrent[n + j] + (bias ? bias[n + j] : 0)));
  }
  if (p->linear_before_reset)
    for (int64_t j = 0; j < n; j++)
      gates[2 * n + j] += gates[n + j] * (recurrent[2 * n + j] + (bias ? bias[2 * n + j] : 0));
  else {
    for (int64_t j = 0; j < n; j++) {
      reset_h[j] = gates[n + j] * h[j];
      gates[2 * n + j] += bias ? bias[2 * n + j] : 0;
    }
    if (!multiply(context, 1, n, n, reset_h, r, gates + 2 * n, true, error))
      return false;
  }
  for (int64_t j = 0; j < n; j++)
    h[j] = (1 - gates[j]) * activate(&f[1], clipped(p, gates[2 * n + j])) + gates[j] * h[j];
  return true;
}

/* All steps of one direction. */
static bool
walk(OnnxlKernelContext *context, const Recurrence *p, int64_t d, bool backwards, GError **error)
{
  int64_t n = p->hidden, width = cell_gates[p->cell] * n, rows = p->length * p->batch;
  const double *w = p->w + d * width * p->inputs, *r = p->r + d * width * n;
  const double *bias = p->bias ? p->bias + d * 2 * width : NULL;
  double *all = onnxl_ctx_scratch(context, (uint64_t)(rows * width), sizeof *all, error);
  double *recurrent = all ? onnxl_ctx_scratch(context, (uint64_t)width, sizeof *recurrent, error) : NULL;
  double *reset_h = recurrent ? onnxl_ctx_scratch(context, (uint64_t)n, sizeof *reset_h, error) : NULL;
  if (!reset_h || !multiply(context, rows, width, p->inputs, p->x, w, all, false, error))
    return false;
  for (int64_t i = 0; bias && i < rows * width; i++)
    all[i] += bias[i % width] + (p->cell == CELL_GRU ? 0 : bias[width + i % width]);
  for (int64_t b = 0; b < p->batch; b++) {
    double *h = p->h + (d * p->batch + b) * n, *c = p->c + (d * p->batch + b) * n;
    for (int64_t step = 0; step < p->lengths[b]; step++) {
      int64_t t = backwards ? p->lengths[b] - 1 - step : step;
      double *gates = all + (t * p->batch + b) * width;
      if (!multiply(context, 1, width, n, h, r, p->cell == CELL_GRU ? recurrent : gates, p->cell != CELL_GRU, error))
        return false;
      if (p->cell == CELL_LSTM)
        lstm_cell(p, d, gates, h, c);
      else if (p->cell == CELL_RNN)
        for (int64_t j = 0; j < n; j++)
          h[j] = activate(&p->activations[d][0], clipped(p, gates[j]));
      else if (!gru_step(context, p, d, b, gates, recurrent, h, reset_h, error))
        return false;
      memcpy(p->y + ((t * p->directions + d) * p->batch + b) * n, h, (size_t)n * sizeof *h);
    }
  }
  return true;
}

/* An optional input of exactly these dims, as doubles; zeros (or NULL) when it is omitted. */
static bool
read_input(OnnxlKernelContext *context, uint32_t i, uint32_t rank, const int64_t *dims, bool zeros, double **ret_values,
           GError **error)
{
  const OnnxlValue *value = onnxl_ctx_input(context, i);
  int64_t count = 1;
  *ret_values = NULL;
  if (value && (value->rank != rank || memcmp(value->dims, dims, rank * sizeof *dims) != 0)) {
    char *given = onnxl_dims_text(value->dims, value->rank), *wanted = onnxl_dims_text(dims, rank);
    onnxl_ctx_invalid(context, error, "input %u has the shape %s when %s is needed", i, given, wanted);
    g_free(given);
    g_free(wanted);
    return false;
  }
  if (value) {
    *ret_values = onnxl_ctx_doubles(context, value, error);
    return *ret_values != NULL;
  }
  if (!zeros)
    return true;
  for (uint32_t k = 0; k < rank; k++)
    count *= dims[k];
  *ret_values = onnxl_ctx_scratch(context, (uint64_t)count, sizeof **ret_values, error);
  if (*ret_values)
    memset(*ret_values, 0, (size_t)count * sizeof **ret_values);
  return *ret_values != NULL;
}

/* Swaps the first two axes of [a, b, c] in scratch. */
static double *
swapped(OnnxlKernelContext *context, const double *values, int64_t a, int64_t b, int64_t c, GError **error)
{
  double *result = onnxl_ctx_scratch(context, (uint64_t)(a * b * c), sizeof *result, error);
  if (result)
    onnxl_copy_strided(result, values, (int64_t[]){ b, a, c }, 3, (int64_t[]){ c, b * c, 1 }, sizeof *result);
  return result;
}

static bool
read_inputs(OnnxlKernelContext *context, Recurrence *p, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0), *w = onnxl_ctx_input(context, 1),
                   *lengths = onnxl_ctx_input(context, 4);
  int64_t gates = cell_gates[p->cell];
  if (x->rank != 3 || w->rank != 3)
    return onnxl_ctx_invalid(context, error, "X has rank %u and W rank %u when both need 3", x->rank, w->rank);
  p->length = x->dims[p->batch_first];
  p->batch = x->dims[!p->batch_first];
  p->inputs = x->dims[2];
  p->hidden = w->dims[1] / gates;
  if (onnxl_ctx_attr(context, "hidden_size") && onnxl_ctx_int(context, "hidden_size") != p->hidden)
    return onnxl_ctx_invalid(context, error, "hidden_size is %" G_GINT64_FORMAT " when W has %" G_GINT64_FORMAT,
                             onnxl_ctx_int(context, "hidden_size"), p->hidden);
  int64_t n = p->hidden, d = p->directions;
  int64_t state[] = { d, p->batch, n }, state_first[] = { p->batch, d, n };
  double *xs, *ws, *rs, *bias, *peepholes = NULL;
  if (!read_input(context, 0, 3, x->dims, false, &xs, error) ||
      !read_input(context, 1, 3, (int64_t[]){ d, gates * n, p->inputs }, false, &ws, error) ||
      !read_input(context, 2, 3, (int64_t[]){ d, gates * n, n }, false, &rs, error) ||
      !read_input(context, 3, 2, (int64_t[]){ d, 2 * gates * n }, false, &bias, error) ||
      !read_input(context, 5, 3, p->batch_first ? state_first : state, true, &p->h, error) ||
      !read_input(context, 6, 3, p->batch_first ? state_first : state, true, &p->c, error) ||
      (p->cell == CELL_LSTM && !read_input(context, 7, 2, (int64_t[]){ d, 3 * n }, false, &peepholes, error)))
    return false;
  if (p->batch_first) {
    xs = swapped(context, xs, p->batch, p->length, p->inputs, error);
    p->h = xs ? swapped(context, p->h, p->batch, d, n, error) : NULL;
    p->c = p->h ? swapped(context, p->c, p->batch, d, n, error) : NULL;
    if (!p->c)
      return false;
  }
  p->x = xs;
  p->w = ws;
  p->r = rs;
  p->bias = bias;
  p->peepholes = peepholes;
  p->lengths = onnxl_ctx_scratch(context, (uint64_t)p->batch, sizeof *p->lengths, error);
  if (!p->lengths)
    return false;
  if (lengths && lengths->count != p->batch)
    return onnxl_ctx_invalid(context, error, "%" G_GINT64_FORMAT " lengths are given for a batch of %" G_GINT64_FORMAT,
                             lengths->count, p->batch);
  for (int64_t b = 0; b < p->batch; b++) {
    p->lengths[b] = lengths ? onnxl_tensor_int64(lengths, b) : p->length;
    if (p->lengths[b] < 0 || p->lengths[b] > p->length)
      return onnxl_ctx_invalid(context, error, "a sequence has length %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                               p->lengths[b], p->length);
  }
  return true;
}

static bool
write_states(OnnxlKernelContext *context, const Recurrence *p, uint32_t i, const double *state, GError **error)
{
  int64_t d = p->directions, n = p->hidden;
  int64_t dims[] = { d, p->batch, n };
  if (p->batch_first) {
    state = swapped(context, state, d, p->batch, n, error);
    dims[0] = p->batch;
    dims[1] = d;
  }
  OnnxlValue *y = state ? onnxl_ctx_output(context, i, onnxl_ctx_input(context, 0)->elem_type, 3, dims, error) : NULL;
  if (y)
    onnxl_tensor_write_double(y, 0, (size_t)y->count, state);
  return y != NULL;
}

static bool
write_outputs(OnnxlKernelContext *context, const Recurrence *p, GError **error)
{
  int64_t d = p->directions, n = p->hidden;
  int64_t dims[] = { p->length, d, p->batch, n };
  const double *y = p->y;
  if (p->batch_first) { /* [length, directions, batch, hidden] to [batch, length, directions, hidden] */
    double *moved = onnxl_ctx_scratch(context, (uint64_t)(p->length * d * p->batch * n), sizeof *moved, error);
    if (!moved)
      return false;
    int64_t first[] = { p->batch, p->length, d, n };
    onnxl_copy_strided(moved, y, first, 4, (int64_t[]){ n, d * p->batch * n, p->batch * n, 1 }, sizeof *moved);
    memcpy(dims, first, sizeof dims);
    y = moved;
  }
  OnnxlValue *output = onnxl_ctx_output(context, 0, onnxl_ctx_input(context, 0)->elem_type, 4, dims, error);
  if (!output)
    return false;
  onnxl_tensor_write_double(output, 0, (size_t)output->count, y);
  return write_states(context, p, 1, p->h, error) && (p->cell != CELL_LSTM || write_states(context, p, 2, p->c, error));
}

static bool
recur(OnnxlKernelContext *context, Cell cell, GError **error)
{
  OnnxlStr direction = onnxl_ctx_string(context, "direction");
  bool both = onnxl_str_is(direction, "bidirectional"), reverse = onnxl_str_is(direction, "reverse");
  Recurrence p = { .cell = cell,
                   .directions = both ? 2 : 1,
                   .batch_first = onnxl_ctx_int(context, "layout") != 0,
                   .clip = onnxl_ctx_float(context, "clip"),
                   .input_forget = onnxl_ctx_int(context, "input_forget") != 0,
                   .linear_before_reset = onnxl_ctx_int(context, "linear_before_reset") != 0 };
  if (!both && !reverse && !onnxl_str_is(direction, "forward"))
    return onnxl_ctx_invalid(context, error, "the direction \"%.*s\" is unknown", ONNXL_ARG(direction));
  if (!read_activations(context, &p, error) || !read_inputs(context, &p, error))
    return false;
  uint64_t count = (uint64_t)(p.length * p.directions * p.batch * p.hidden);
  p.y = onnxl_ctx_scratch(context, count, sizeof *p.y, error);
  if (!p.y)
    return false;
  memset(p.y, 0, count * sizeof *p.y);
  for (int64_t d = 0; d < p.directions; d++)
    if (!walk(context, &p, d, reverse || d == 1, error))
      return false;
  return write_outputs(context, &p, error);
}

static bool
run_rnn(OnnxlKernelContext *context, GError **error)
{
  return recur(context, CELL_RNN, error);
}
ONNXL_KERNEL(rnn, COMPUTES);

static bool
run_gru(OnnxlKernelContext *context, GError **error)
{
  return recur(context, CELL_GRU, error);
}
ONNXL_KERNEL(gru, COMPUTES);

static bool
run_lstm(OnnxlKernelContext *context, GError **error)
{
  return recur(context, CELL_LSTM, error);
}
ONNXL_KERNEL(lstm, COMPUTES);
