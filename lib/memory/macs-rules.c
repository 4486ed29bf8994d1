/* MACs and operations of each operator. The counts are those of the definition of an operator, not of one kernel: a
 * padded border counts as if it were there, and a function such as Exp is one operation. */
#include "memory/macs-internal.h"

typedef OnnxlCounts Counts;

/* of: the weight of the row. */
typedef Counts (*Rule)(const OnnxlCostNode *n, int64_t of);

static OnnxlExpr
count(const OnnxlCostNode *n, const OnnxlInfo *info)
{
  return info ? onnxl_info_count(n->pool, info) : NULL;
}

static OnnxlExpr
count_in(const OnnxlCostNode *n, uint32_t i)
{
  return count(n, input(n, i));
}

static OnnxlExpr
count_out(const OnnxlCostNode *n)
{
  return count(n, output(n, 0));
}

static Counts
macs(const OnnxlCostNode *n, OnnxlExpr e)
{
  return (Counts){ .macs = e, .flops = literal(n, 0) };
}

static Counts
flops(const OnnxlCostNode *n, OnnxlExpr e)
{
  return (Counts){ .macs = literal(n, 0), .flops = e };
}

/* --- everything that is not a contraction ------------------------------------------------------------------------- */

static Counts
moves(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return flops(n, literal(n, 0));
}

static Counts
each_output(const OnnxlCostNode *n, int64_t of)
{
  return flops(n, times(n, of, count_out(n)));
}

static Counts
each_input(const OnnxlCostNode *n, int64_t of)
{
  return flops(n, times(n, of, count_in(n, 0)));
}

/* Sum, Max and their like combine all inputs, two at a time. */
static Counts
variadic(const OnnxlCostNode *n, int64_t of)
{
  return flops(n, times(n, MAX((int64_t)n->node->n_inputs - 1, 0) + of, count_out(n)));
}

/* One step for each element of each window. */
static Counts
windows(const OnnxlCostNode *n, int64_t of)
{
  OnnxlInt64List kernel = onnxl_attr_ints(n->proto, "kernel_shape");
  OnnxlExpr window = literal(n, of);

  for (size_t i = 0; i < kernel.count; i++)
    window = times(n, kernel.items[i], window);
  return flops(n, mul(n, count_out(n), window));
}

/* A sum of squares over size channels, then a power and a quotient. */
static Counts
local_response(const OnnxlCostNode *n, int64_t of)
{
  int64_t size = CLAMP(attribute(n, "size"), 0, INT32_MAX);

  return flops(n, times(n, 2 * size + of, count_out(n)));
}

/* A product and a sum for each of the neighbours along the axes behind batch and channel. */
static Counts
interpolation(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  const OnnxlInfo *x = input(n, 0);
  OnnxlStr mode = onnxl_attr_string(n->schema, n->proto, "mode");
  bool cubic = onnxl_str_is(mode, "cubic") || onnxl_str_is(mode, "bicubic");
  OnnxlExpr taps = literal(n, 2);

  if (onnxl_str_is(mode, "nearest"))
    return moves(n, 0);
  if (!x || !x->has_rank)
    return flops(n, NULL);
  for (uint32_t i = 2; i < x->rank; i++)
    taps = times(n, cubic ? 4 : 2, taps);
  return flops(n, mul(n, count_out(n), taps));
}

/* An elimination of n rows takes about n steps an element, over each matrix. */
static Counts
determinant(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return flops(n, mul(n, count_in(n, 0), dim(n, 0, -1)));
}

/* One step of an optimizer, of steps for each element of the tensors that it improves: inputs are the rate, the count
 * of updates, the tensors, their gradients and their states. */
static Counts
optimizer(const OnnxlCostNode *n, int64_t of)
{
  uint32_t n_states = onnxl_str_is(onnxl_str(n->schema->name), "Adam") ? 2 : 1;
  uint32_t n_tensors = n->node->n_inputs > 2 ? (n->node->n_inputs - 2) / (2 + n_states) : 0;
  OnnxlStr mode = onnxl_attr_string(n->schema, n->proto, "mode");
  OnnxlExpr elements = literal(n, 0);

  for (uint32_t i = 0; i < n_tensors; i++)
    elements = add(n, elements, count_in(n, 2 + i));
  return flops(n, times(n, of + (onnxl_str_is(mode, "nesterov") ? 2 : 0), elements));
}

/* What only the data tell. */
static Counts
unknown(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return flops(n, NULL);
}

/* --- contractions ------------------------------------------------------------------------------------------------- */

/* Product of the dims of the weights behind the one of their output (or, transposed, input) channels. */
static OnnxlExpr
window_of_weights(const OnnxlCostNode *n, uint32_t weights)
{
  const OnnxlInfo *w = input(n, weights);
  OnnxlExpr product = literal(n, 1);

  if (!w || !w->has_rank || w->rank == 0)
    return NULL;
  for (uint32_t i = 1; i < w->rank; i++)
    product = mul(n, product, w->dims[i]);
  return product;
}

/* Weights (M, C/group, k…) at input of: every output element sums over a window of one group's channels. */
static Counts
convolution(const OnnxlCostNode *n, int64_t of)
{
  return macs(n, mul(n, count_out(n), window_of_weights(n, (uint32_t)of)));
}

/* Weights (C, M/group, k…): every input element is spread over a window of one group's channels. */
static Counts
transposed_convolution(const OnnxlCostNode *n, int64_t of)
{
  return macs(n, mul(n, count_in(n, 0), window_of_weights(n, (uint32_t)of)));
}

/* Along the last axis of the left operand. */
static Counts
matrix_product(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return macs(n, mul(n, count_out(n), dim(n, 0, -1)));
}

static Counts
gemm(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return macs(n, mul(n, count_out(n), dim(n, 0, attribute(n, "transA") ? 0 : 1)));
}

/* Every output pixel is a product of the matrix theta (N, d, d + 1) with a point. */
static Counts
affine_grid(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return macs(n, mul(n, count_out(n), dim(n, 0, -1)));
}

typedef struct Einsum {
  OnnxlExpr sizes[128];  /* by letter, of what the terms have read */
  uint8_t times_in[128]; /* terms and places that a letter stands in, saturated */
  bool in_output[128];
} Einsum;

/* Sizes of the letters of a term. False: term and operand do not fit, or a size is not known. */
static bool
read_term(const OnnxlCostNode *n, OnnxlStr term, uint32_t operand, Einsum *e)
{
  const OnnxlInfo *info = input(n, operand);
  size_t letters = 0, seen = 0;
  bool dots = false;

  if (!info || !info->has_rank)
    return false;
  for (size_t i = 0; i < term.size; i++)
    letters += g_ascii_isalpha(term.data[i]);
  if (letters > info->rank)
    return false;
  for (size_t i = 0; i < term.size; i++) {
    uint8_t c = (uint8_t)term.data[i];
    dots = dots || c == '.';
    if (!g_ascii_isalpha((char)c))
      continue;
    size_t at = dots ? info->rank - letters + seen : seen;
    OnnxlExpr size = info->dims[at];
    int64_t one;
    /* A dim of 1 is stretched to that of another operand. */
    if (!e->sizes[c] || (onnxl_expr_is_int(e->sizes[c], &one) && one == 1))
      e->sizes[c] = size;
    e->times_in[c] += e->times_in[c] < UINT8_MAX;
    seen++;
    if (!size)
      return false;
  }
  return true;
}

/* Every output element is a sum over all letters that it lacks, of products of all operands: one MAC for each product
 * of two. A single operand is only summed. */
static Counts
einsum(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  OnnxlStr equation = onnxl_attr_string(n->schema, n->proto, "equation");
  OnnxlExpr product = count_out(n);
  Einsum e = { .in_output = { false } };
  size_t start = 0, end = equation.size;
  uint32_t operand = 0;
  bool arrow = false;

  for (size_t i = 0; i + 1 < equation.size && !arrow; i++)
    if (equation.data[i] == '-' && equation.data[i + 1] == '>') {
      arrow = true;
      end = i;
    }
  for (size_t i = arrow ? end + 2 : equation.size; i < equation.size; i++)
    if (g_ascii_isalpha(equation.data[i]))
      e.in_output[(uint8_t)equation.data[i]] = true;
  for (size_t i = 0; i <= end; i++) {
    if (i < end && equation.data[i] != ',')
      continue;
    if (!read_term(n, onnxl_str_n(equation.data + start, i - start), operand++, &e))
      return macs(n, NULL);
    start = i + 1;
  }
  for (size_t c = 0; c < G_N_ELEMENTS(e.sizes); c++)
    if (e.sizes[c] && !(arrow ? e.in_output[c] : e.times_in[c] == 1))
      product = mul(n, product, e.sizes[c]);
  return operand < 2 ? flops(n, product) : macs(n, times(n, operand - 1, product));
}

/* Queries with keys, then weights with values: both sum over as many steps as there are keys, a softmax between. */
static Counts
attend(const OnnxlCostNode *n, OnnxlExpr queries, OnnxlExpr outputs, OnnxlExpr keys, OnnxlExpr scores)
{
  OnnxlExpr both = onnxl_expr_add(n->pool, queries, outputs);

  return (Counts){ .macs = mul(n, both, keys), .flops = times(n, 5, scores) };
}

/* Domain com.microsoft: one input (B, L, D) and weights (D, 3*H) for queries, keys and values. */
static Counts
packed_attention(const OnnxlCostNode *n)
{
  OnnxlExpr length = dim(n, 0, 1), outputs = count_out(n);
  OnnxlExpr keys = length;
  OnnxlExpr heads = literal(n, CLAMP(attribute(n, "num_heads"), 0, INT32_MAX));

  if (input(n, 4)) /* (2, B, heads, past, size) */
    keys = onnxl_expr_add(n->pool, keys, dim(n, 4, 3));
  OnnxlExpr rows = mul(n, dim(n, 0, 0), length);
  Counts counts = attend(n, outputs, outputs, keys, mul(n, rows, mul(n, heads, keys)));
  counts.macs = onnxl_expr_add(n->pool, counts.macs, mul(n, count_in(n, 0), dim(n, 1, -1)));
  return counts;
}

/* Queries, keys and values as (B, heads, L, size), or packed as (B, L, heads*size). */
static Counts
attention(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  const OnnxlInfo *q = input(n, 0);

  if (n->schema->domain[0] != '\0' && onnxl_str_is(onnxl_str(n->schema->domain), "com.microsoft"))
    return packed_attention(n);
  if (!q || !q->has_rank || q->rank < 3)
    return macs(n, NULL);
  OnnxlExpr keys = dim(n, 1, q->rank == 3 ? 1 : 2);
  OnnxlExpr heads = q->rank == 3 ? literal(n, CLAMP(attribute(n, "q_num_heads"), 0, INT32_MAX)) : q->dims[1];
  if (input(n, 4))
    keys = onnxl_expr_add(n->pool, keys, dim(n, 4, 2));
  OnnxlExpr rows = mul(n, q->dims[0], mul(n, heads, dim(n, 0, q->rank == 3 ? 1 : 2)));
  return attend(n, count_in(n, 0), count_out(n), keys, mul(n, rows, keys));
}

/* Each step reads and updates a state of key size x value size a head: k with the state, k with v, q with the state. */
static Counts
linear_attention(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  int64_t heads = attribute(n, "kv_num_heads");

  if (heads <= 0)
    return macs(n, NULL);
  OnnxlExpr size = onnxl_expr_floor_div(n->pool, dim(n, 1, -1), literal(n, heads)); /* of a key */
  OnnxlExpr values = times(n, 2, count_in(n, 2));
  return macs(n, mul(n, size, onnxl_expr_add(n->pool, values, count_out(n))));
}

/* Weights W and R of each gate and direction meet every step of every sequence; then what the gates do, element by
 * element: of is how many steps that takes of the hidden size. */
static Counts
recurrent(const OnnxlCostNode *n, int64_t of)
{
  OnnxlExpr steps = mul(n, dim(n, 0, 0), dim(n, 0, 1));
  OnnxlExpr weights = onnxl_expr_add(n->pool, count_in(n, 1), count_in(n, 2));
  OnnxlExpr hidden = mul(n, dim(n, 2, 0), dim(n, 2, -1));

  return (Counts){ .macs = mul(n, steps, weights), .flops = times(n, of, mul(n, steps, hidden)) };
}

static OnnxlExpr
rows(const OnnxlCostNode *n)
{
  const OnnxlInfo *x = input(n, 0);

  return x && x->has_rank && x->rank == 1 ? literal(n, 1) : dim(n, 0, 0);
}

static int64_t
n_floats(const OnnxlCostNode *n, const char *name)
{
  for (size_t i = 0; i < n->proto->attribute.count; i++)
    if (onnxl_str_is(n->proto->attribute.items[i].name, name))
      return (int64_t)n->proto->attribute.items[i].floats.count;
  return 0;
}

/* Every row of the input meets every coefficient. */
static Counts
linear_model(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return macs(n, times(n, n_floats(n, "coefficients"), rows(n)));
}

/* Every row meets every support vector, and what comes out their coefficients. */
static Counts
support_vectors(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  return macs(n, times(n, n_floats(n, "support_vectors") + n_floats(n, "coefficients"), rows(n)));
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

typedef struct Row {
  char name[28];
  Rule rule;
  uint8_t weight;
  OnnxlCostReads reads;
} Row;

#define ALL ONNXL_READS_ALL
#define SOME ONNXL_READS_SELECTED
#define NOTHING ONNXL_READS_NOTHING

/* Ordered by name. Operators of one name in two domains share a row. */
static const Row rows_by_name[] = {
  { "Abs", each_output, 1, ALL },
  { "Acos", each_output, 1, ALL },
  { "Acosh", each_output, 1, ALL },
  { "Adagrad", optimizer, 9, ALL },
  { "Adam", optimizer, 15, ALL },
  { "Add", each_output, 1, ALL },
  { "AffineGrid", affine_grid, 0, ALL },
  { "And", each_output, 1, ALL },
  { "ArgMax", each_input, 1, ALL },
  { "ArgMin", each_input, 1, ALL },
  { "ArrayFeatureExtractor", moves, 0, SOME },
  { "Asin", each_output, 1, ALL },
  { "Asinh", each_output, 1, ALL },
  { "Atan", each_output, 1, ALL },
  { "Atanh", each_output, 1, ALL },
  { "Attention", attention, 0, ALL },
  { "AveragePool", windows, 1, ALL },
  { "BatchNormalization", each_input, 4, ALL },
  { "Bernoulli", each_output, 1, ALL },
  { "Binarizer", each_output, 1, ALL },
  { "BitCast", moves, 0, ALL },
  { "BitShift", each_output, 1, ALL },
  { "BitwiseAnd", each_output, 1, ALL },
  { "BitwiseNot", each_output, 1, ALL },
  { "BitwiseOr", each_output, 1, ALL },
  { "BitwiseXor", each_output, 1, ALL },
  { "BlackmanWindow", each_output, 1, ALL },
  { "Cast", moves, 0, ALL },
  { "CastLike", moves, 0, ALL },
  { "CastMap", moves, 0, ALL },
  { "CategoryMapper", moves, 0, ALL },
  { "CausalConvWithState", convolution, 1, ALL },
  { "Ceil", each_output, 1, ALL },
  { "Celu", each_output, 1, ALL },
  { "CenterCropPad", moves, 0, ALL },
  { "Clip", each_output, 1, ALL },
  { "Col2Im", each_input, 1, ALL },
  { "Compress", moves, 0, SOME },
  { "Concat", moves, 0, ALL },
  { "ConcatFromSequence", moves, 0, ALL },
  { "Constant", moves, 0, ALL },
  { "ConstantOfShape", moves, 0, ALL },
  { "Conv", convolution, 1, ALL },
  { "ConvInteger", convolution, 1, ALL },
  { "ConvTranspose", transposed_convolution, 1, ALL },
  { "Cos", each_output, 1, ALL },
  { "Cosh", each_output, 1, ALL },
  { "CumProd", each_input, 1, ALL },
  { "CumSum", each_input, 1, ALL },
  { "DFT", onnxl_count_dft, 0, ALL },
  { "DeformConv", convolution, 1, ALL },
  { "DepthToSpace", moves, 0, ALL },
  { "DequantizeLinear", each_output, 1, ALL },
  { "Det", determinant, 0, ALL },
  { "DictVectorizer", moves, 0, ALL },
  { "Div", each_output, 1, ALL },
  { "Dropout", moves, 0, ALL },
  { "DynamicQuantizeLinear", each_input, 3, ALL },
  { "Einsum", einsum, 0, ALL },
  { "Elu", each_output, 1, ALL },
  { "EmbedLayerNormalization", each_output, 10, SOME },
  { "Equal", each_output, 1, ALL },
  { "Erf", each_output, 1, ALL },
  { "Exp", each_output, 1, ALL },
  { "Expand", moves, 0, ALL },
  { "EyeLike", moves, 0, ALL },
  { "FastGelu", each_output, 1, ALL },
  { "FeatureVectorizer", moves, 0, ALL },
  { "Flatten", moves, 0, ALL },
  { "FlexAttention", attention, 0, ALL },
  { "Floor", each_output, 1, ALL },
  { "GRU", recurrent, 11, ALL },
  { "Gather", moves, 0, SOME },
  { "GatherElements", moves, 0, SOME },
  { "GatherND", moves, 0, SOME },
  { "Gelu", each_output, 1, ALL },
  { "Gemm", gemm, 0, ALL },
  { "GlobalAveragePool", each_input, 1, ALL },
  { "GlobalLpPool", each_input, 2, ALL },
  { "GlobalMaxPool", each_input, 1, ALL },
  { "Gradient", unknown, 0, ALL },
  { "Greater", each_output, 1, ALL },
  { "GreaterOrEqual", each_output, 1, ALL },
  { "GridSample", interpolation, 0, ALL },
  { "GroupNormalization", each_input, 8, ALL },
  { "HammingWindow", each_output, 1, ALL },
  { "HannWindow", each_output, 1, ALL },
  { "HardSigmoid", each_output, 1, ALL },
  { "HardSwish", each_output, 1, ALL },
  { "Hardmax", each_input, 1, ALL },
  { "Identity", moves, 0, ALL },
  { "If", moves, 0, ALL },
  { "ImageDecoder", unknown, 0, ALL },
  { "Imputer", moves, 0, ALL },
  { "InstanceNormalization", each_input, 8, ALL },
  { "IsInf", each_output, 1, ALL },
  { "IsNaN", each_output, 1, ALL },
  { "LRN", local_response, 3, ALL },
  { "LSTM", recurrent, 13, ALL },
  { "LabelEncoder", moves, 0, ALL },
  { "LayerNormalization", each_input, 8, ALL },
  { "LeakyRelu", each_output, 1, ALL },
  { "Less", each_output, 1, ALL },
  { "LessOrEqual", each_output, 1, ALL },
  { "LinearAttention", linear_attention, 0, ALL },
  { "LinearClassifier", linear_model, 0, ALL },
  { "LinearRegressor", linear_model, 0, ALL },
  { "Log", each_output, 1, ALL },
  { "LogSoftmax", each_input, 5, ALL },
  { "Loop", moves, 0, ALL },
  { "LpNormalization", each_input, 3, ALL },
  { "LpPool", windows, 2, ALL },
  { "MatMul", matrix_product, 0, ALL },
  { "MatMulInteger", matrix_product, 0, ALL },
  { "Max", variadic, 0, ALL },
  { "MaxPool", windows, 1, ALL },
  { "MaxRoiPool", onnxl_count_max_roi_pool, 0, ALL },
  { "MaxUnpool", moves, 0, ALL },
  { "Mean", variadic, 1, ALL },
  { "MeanVarianceNormalization", each_input, 7, ALL },
  { "MelWeightMatrix", each_output, 1, ALL },
  { "Min", variadic, 0, ALL },
  { "Mish", each_output, 1, ALL },
  { "Mod", each_output, 1, ALL },
  { "Momentum", optimizer, 7, ALL },
  { "Mul", each_output, 1, ALL },
  { "Multinomial", each_output, 1, ALL },
  { "Neg", each_output, 1, ALL },
  { "NegativeLogLikelihoodLoss", each_input, 2, ALL },
  { "NonMaxSuppression", onnxl_count_non_max_suppression, 0, ALL },
  { "NonZero", moves, 0, ALL },
  { "Normalizer", each_output, 3, ALL },
  { "Not", each_output, 1, ALL },
  { "OneHot", moves, 0, ALL },
  { "OneHotEncoder", moves, 0, ALL },
  { "Optional", moves, 0, ALL },
  { "OptionalGetElement", moves, 0, ALL },
  { "OptionalHasElement", moves, 0, NOTHING },
  { "Or", each_output, 1, ALL },
  { "PRelu", each_output, 1, ALL },
  { "Pad", moves, 0, ALL },
  { "Pow", each_output, 1, ALL },
  { "QLinearConv", convolution, 3, ALL },
  { "QLinearMatMul", matrix_product, 0, ALL },
  { "QuantizeLinear", each_output, 1, ALL },
  { "RMSNormalization", each_input, 4, ALL },
  { "RNN", recurrent, 2, ALL },
  { "RandomNormal", each_output, 1, ALL },
  { "RandomNormalLike", each_output, 1, ALL },
  { "RandomUniform", each_output, 1, ALL },
  { "RandomUniformLike", each_output, 1, ALL },
  { "Range", each_output, 1, ALL },
  { "Reciprocal", each_output, 1, ALL },
  { "ReduceL1", each_input, 1, ALL },
  { "ReduceL2", each_input, 2, ALL },
  { "ReduceLogSum", each_input, 1, ALL },
  { "ReduceLogSumExp", each_input, 2, ALL },
  { "ReduceMax", each_input, 1, ALL },
  { "ReduceMean", each_input, 1, ALL },
  { "ReduceMin", each_input, 1, ALL },
  { "ReduceProd", each_input, 1, ALL },
  { "ReduceSum", each_input, 1, ALL },
  { "ReduceSumSquare", each_input, 2, ALL },
  { "RegexFullMatch", moves, 0, ALL },
  { "Relu", each_output, 1, ALL },
  { "Reshape", moves, 0, ALL },
  { "Resize", interpolation, 0, ALL },
  { "ReverseSequence", moves, 0, ALL },
  { "RoiAlign", onnxl_count_roi_align, 0, ALL },
  { "RotaryEmbedding", each_output, 3, ALL },
  { "Round", each_output, 1, ALL },
  { "STFT", onnxl_count_stft, 0, ALL },
  { "SVMClassifier", support_vectors, 0, ALL },
  { "SVMRegressor", support_vectors, 0, ALL },
  { "Scaler", each_output, 2, ALL },
  { "Scan", moves, 0, ALL },
  { "Scatter", moves, 0, ALL },
  { "ScatterElements", moves, 0, ALL },
  { "ScatterND", moves, 0, ALL },
  { "Selu", each_output, 1, ALL },
  { "SequenceAt", moves, 0, ALL },
  { "SequenceConstruct", moves, 0, ALL },
  { "SequenceEmpty", moves, 0, ALL },
  { "SequenceErase", moves, 0, ALL },
  { "SequenceInsert", moves, 0, ALL },
  { "SequenceLength", moves, 0, NOTHING },
  { "SequenceMap", moves, 0, ALL },
  { "Shape", moves, 0, NOTHING },
  { "Shrink", each_output, 1, ALL },
  { "Sigmoid", each_output, 1, ALL },
  { "Sign", each_output, 1, ALL },
  { "Sin", each_output, 1, ALL },
  { "Sinh", each_output, 1, ALL },
  { "Size", moves, 0, NOTHING },
  { "SkipLayerNormalization", each_output, 10, ALL },
  { "Slice", moves, 0, SOME },
  { "Softmax", each_input, 5, ALL },
  { "SoftmaxCrossEntropyLoss", each_input, 7, ALL },
  { "Softplus", each_output, 1, ALL },
  { "Softsign", each_output, 1, ALL },
  { "SpaceToDepth", moves, 0, ALL },
  { "Split", moves, 0, ALL },
  { "SplitToSequence", moves, 0, ALL },
  { "Sqrt", each_output, 1, ALL },
  { "Squeeze", moves, 0, ALL },
  { "StringConcat", moves, 0, ALL },
  { "StringNormalizer", moves, 0, ALL },
  { "StringSplit", moves, 0, ALL },
  { "Sub", each_output, 1, ALL },
  { "Sum", variadic, 0, ALL },
  { "SwiGLU", each_output, 1, ALL },
  { "Swish", each_output, 1, ALL },
  { "Tan", each_output, 1, ALL },
  { "Tanh", each_output, 1, ALL },
  { "TensorScatter", moves, 0, ALL },
  { "TfIdfVectorizer", moves, 0, ALL },
  { "ThresholdedRelu", each_output, 1, ALL },
  { "Tile", moves, 0, ALL },
  { "TopK", moves, 0, ALL },
  { "Transpose", moves, 0, ALL },
  { "TreeEnsemble", onnxl_count_trees, 0, ALL },
  { "TreeEnsembleClassifier", onnxl_count_trees, 0, ALL },
  { "TreeEnsembleRegressor", onnxl_count_trees, 0, ALL },
  { "Trilu", moves, 0, ALL },
  { "Unique", moves, 0, ALL },
  { "Unsqueeze", moves, 0, ALL },
  { "Upsample", interpolation, 0, ALL },
  { "Where", moves, 0, ALL },
  { "Xor", each_output, 1, ALL },
  { "ZipMap", moves, 0, ALL },
};

static const Row *
find_row(const OnnxlOpSchema *schema)
{
  size_t low = 0, high = G_N_ELEMENTS(rows_by_name);

  while (schema && low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(schema->name, rows_by_name[middle].name);
    if (order == 0)
      return &rows_by_name[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

bool
onnxl_cost_is_known(const OnnxlOpSchema *schema)
{
  return find_row(schema) != NULL;
}

bool
onnxl_cost_has_rule(const OnnxlOpSchema *schema)
{
  const Row *row = find_row(schema);

  return row && row->rule != unknown;
}

void
onnxl_cost_of_node(const OnnxlCostNode *n, OnnxlCost *ret_cost, OnnxlCostReads *ret_reads)
{
  const Row *row = find_row(n->schema);
  Counts counts = row ? row->rule(n, row->weight) : (Counts){ .macs = NULL };

  ret_cost->macs = counts.macs;
  ret_cost->flops = onnxl_expr_add(n->pool, times(n, 2, counts.macs), counts.flops);
  ret_cost->flops_at_most = counts.at_most;
  *ret_reads = row ? row->reads : ONNXL_READS_ALL;
}
