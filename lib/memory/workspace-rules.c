/* The scratch memory of each operator's kernel. */
#include "memory/workspace-internal.h"

/* What the runtime puts in front of each block of scratch memory. */
#define HEADER 64
/* Columns of the right factor that a matrix product packs at a time. */
#define PANEL_COLUMNS 8

typedef OnnxlExpr (*Rule)(const OnnxlCostNode *n);

/* --- what rules are made of --------------------------------------------------------------------------------------- */

/* Elements; 0 for an input that is omitted. */
static OnnxlExpr
count(const OnnxlCostNode *n, uint32_t i)
{
  const OnnxlInfo *info = input(n, i);

  return info ? onnxl_info_count(n->pool, info) : literal(n, 0);
}

/* Elements of inputs [from, to). */
static OnnxlExpr
counts(const OnnxlCostNode *n, uint32_t from, uint32_t to)
{
  OnnxlExpr sum = literal(n, 0);

  for (uint32_t i = from; i < MIN(to, n->node->n_inputs); i++)
    sum = add(n, sum, count(n, i));
  return sum;
}

/* Product of dims [from, to) of a tensor, counted from the end when negative; to 0 is the end. NULL: unknown. */
static OnnxlExpr
product(const OnnxlCostNode *n, const OnnxlInfo *info, int64_t from, int64_t to)
{
  OnnxlExpr result = literal(n, 1);

  if (!info || !info->has_rank)
    return NULL;
  from += from < 0 ? (int64_t)info->rank : 0;
  to += to <= 0 ? (int64_t)info->rank : 0;
  for (int64_t i = MAX(from, 0); i < MIN(to, (int64_t)info->rank); i++)
    result = mul(n, result, info->dims[i]);
  return result;
}

/* Sum of the dims of output 0. */
static OnnxlExpr
output_dims(const OnnxlCostNode *n)
{
  const OnnxlInfo *info = output(n, 0);
  OnnxlExpr sum = literal(n, 0);

  if (!info || !info->has_rank)
    return NULL;
  for (uint32_t i = 0; i < info->rank; i++)
    sum = add(n, sum, info->dims[i]);
  return sum;
}

/* blocks of scratch memory that hold bytes together. */
static OnnxlExpr
in_blocks(const OnnxlCostNode *n, int64_t blocks, OnnxlExpr bytes)
{
  return add(n, literal(n, blocks * HEADER), bytes);
}

/* Bytes of an element in matrix products, which take smaller floating point as float. */
static int64_t
wide(const OnnxlCostNode *n)
{
  const OnnxlInfo *info = input(n, 0);

  return info && info->elem_type > 0 && onnxl_data_type_bits(info->elem_type) <= 32 ? 4 : 8;
}

/* Packed columns of a product that sums over k. */
static OnnxlExpr
panel(const OnnxlCostNode *n, OnnxlExpr k)
{
  return times(n, wide(n) * PANEL_COLUMNS, k);
}

/* --- rules -------------------------------------------------------------------------------------------------------- */

/* Inputs but the first one as 64-bit integers or doubles: axes, sizes, scales, indices. */
static OnnxlExpr
parameters(const OnnxlCostNode *n)
{
  return in_blocks(n, MAX(n->node->n_inputs, 1), times(n, 8, counts(n, 1, UINT32_MAX)));
}

static OnnxlExpr
all_inputs(const OnnxlCostNode *n)
{
  return in_blocks(n, n->node->n_inputs, times(n, 8, counts(n, 0, UINT32_MAX)));
}

/* A pointer to each input. */
static OnnxlExpr
list_of_inputs(const OnnxlCostNode *n)
{
  return literal(n, HEADER + 8 * (int64_t)n->node->n_inputs);
}

static OnnxlExpr
split(const OnnxlCostNode *n)
{
  return add(n, parameters(n), literal(n, HEADER + 8 * (int64_t)n->node->n_outputs));
}

/* Where each place along each axis comes from. */
static OnnxlExpr
pad(const OnnxlCostNode *n)
{
  const OnnxlInfo *y = output(n, 0);

  return y ? in_blocks(n, y->rank, add(n, parameters(n), times(n, 8, output_dims(n)))) : NULL;
}

static OnnxlExpr
convolution(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, panel(n, product(n, input(n, 1), 1, 0)));
}

/* Weights (C, M/group, k…): the columns that a group's output is gathered from, and the panel of their product. */
static OnnxlExpr
transposed_convolution(const OnnxlCostNode *n)
{
  OnnxlExpr columns = mul(n, product(n, input(n, 1), 1, 0), product(n, input(n, 0), 2, 0));

  return in_blocks(n, 2, add(n, panel(n, dim(n, 1, 0)), times(n, wide(n), columns)));
}

static OnnxlExpr
deformed_convolution(const OnnxlCostNode *n)
{
  return all_inputs(n);
}

static OnnxlExpr
causal_convolution(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, times(n, 4, add(n, dim(n, 0, 2), dim(n, 1, 2))));
}

/* Factors without their zero points, then the product. */
static OnnxlExpr
integer_product(const OnnxlCostNode *n)
{
  OnnxlExpr k = add(n, product(n, input(n, 0), -1, 0), product(n, input(n, 1), 1, 0));

  if (n->node->n_inputs > 4) /* QLinear…: the right factor is input 3 */
    k = add(n, k, product(n, input(n, 3), 1, 0));
  return in_blocks(n, 4, add(n, all_inputs(n), times(n, 8 * PANEL_COLUMNS, k)));
}

static OnnxlExpr
matrix_product(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, panel(n, dim(n, 0, -1)));
}

static OnnxlExpr
gemm(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, panel(n, dim(n, 0, attribute(n, "transA") ? 0 : 1)));
}

/* Tables of the subscripts, of the equation and of each operand. */
static OnnxlExpr
einsum(const OnnxlCostNode *n)
{
  return literal(n, 3 * HEADER + 4096 + 2048 * (int64_t)n->node->n_inputs);
}

static OnnxlExpr
determinant(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, times(n, 8, mul(n, dim(n, 0, -1), dim(n, 0, -1))));
}

/* The scores of one head, a row of the bias, panels of two products. */
static OnnxlExpr
attention(const OnnxlCostNode *n)
{
  const OnnxlInfo *q = input(n, 0);
  bool packed = n->schema->domain[0] != '\0' && onnxl_str_is(onnxl_str(n->schema->domain), "com.microsoft");
  int64_t axis = q && q->has_rank && q->rank == 4 ? 2 : 1;
  OnnxlExpr rows = dim(n, 0, axis), keys = packed ? rows : dim(n, 1, axis);

  if (input(n, 4))
    keys = add(n, keys, dim(n, 4, packed ? 3 : 2));
  OnnxlExpr scores = add(n, times(n, wide(n), mul(n, rows, keys)), times(n, 8, keys));
  OnnxlExpr bytes = add(n, scores, panel(n, add(n, keys, dim(n, 0, -1))));
  if (packed) /* queries, keys and values before they are split */
    bytes = add(n, bytes, times(n, 4, mul(n, mul(n, dim(n, 0, 0), rows), dim(n, 1, -1))));
  return in_blocks(n, 6, bytes);
}

/* Inputs in double precision, whole scores (what a nested graph changes them to, and copies before and behind), the
 * output before it is converted. */
static OnnxlExpr
flex_attention(const OnnxlCostNode *n)
{
  OnnxlExpr scores = mul(n, product(n, input(n, 0), 0, 3), dim(n, 1, 2));
  OnnxlExpr elements = add(n, add(n, counts(n, 0, 3), product(n, output(n, 0), 0, 0)), times(n, 4, scores));

  return add(n, attention(n), times(n, 8, elements));
}

/* Inputs, states and output as float. */
static OnnxlExpr
linear_attention(const OnnxlCostNode *n)
{
  OnnxlExpr states = mul(n, dim(n, 1, 0), mul(n, dim(n, 1, -1), dim(n, 2, -1)));
  OnnxlExpr elements = add(n, counts(n, 0, 6), add(n, product(n, output(n, 0), 0, 0), times(n, 2, states)));

  return in_blocks(n, 4, times(n, 8, add(n, elements, add(n, dim(n, 0, -1), dim(n, 2, -1)))));
}

/* A row of the last axis. */
static OnnxlExpr
last_axis(const OnnxlCostNode *n)
{
  const OnnxlInfo *y = output(n, 0);

  return in_blocks(n, 2, times(n, 8, product(n, y, -1, 0)));
}

static OnnxlExpr
batch_normalization(const OnnxlCostNode *n)
{
  OnnxlExpr places = product(n, input(n, 0), 2, 0), rows = places;
  bool trains = n->schema->since >= 14 ? attribute(n, "training_mode") != 0 : n->node->n_outputs > 1;

  if (trains)
    rows = add(n, rows, mul(n, places, dim(n, 0, 0)));
  return in_blocks(n, 6, times(n, 8, add(n, counts(n, 1, 5), rows)));
}

/* Scale, shift and the places that share a mean. */
static OnnxlExpr
group_normalization(const OnnxlCostNode *n)
{
  bool instance = onnxl_str_is(onnxl_str(n->schema->name), "InstanceNormalization");

  return in_blocks(n, 3, times(n, 8, add(n, counts(n, 1, 3), product(n, input(n, 0), instance ? 2 : 1, 0))));
}

/* Scale and shift as doubles, spread over a row or, when they vary between rows, over all. */
static OnnxlExpr
row_normalization(const OnnxlCostNode *n)
{
  const OnnxlInfo *x = input(n, 0);
  int64_t axis = attribute(n, "axis");

  if (!x || !x->has_rank)
    return NULL;
  axis += axis < 0 ? (int64_t)x->rank : 0;
  OnnxlExpr row = product(n, x, axis, 0), sum = add(n, counts(n, 1, 3), row);
  for (uint32_t i = 1; i < 3; i++) {
    const OnnxlInfo *parameter = input(n, i);
    bool shared = parameter && parameter->has_rank && parameter->rank + axis <= x->rank;
    if (parameter)
      sum = add(n, sum, shared ? row : count(n, 0));
  }
  return in_blocks(n, 5, times(n, 8, sum));
}

static OnnxlExpr
whole_input_twice(const OnnxlCostNode *n)
{
  return in_blocks(n, 2, times(n, 16, count(n, 0)));
}

/* All in double precision: inputs, states, gates at all steps, results; what is moved where the batch is in front. */
static OnnxlExpr
recurrent(const OnnxlCostNode *n)
{
  int64_t layout = attribute(n, "layout") != 0;
  OnnxlExpr steps = mul(n, dim(n, 0, 0), dim(n, 0, 1)), batch = dim(n, 0, layout ? 0 : 1);
  OnnxlExpr hidden = mul(n, dim(n, 2, 0), dim(n, 2, 2)); /* of both directions */
  OnnxlExpr gates = mul(n, dim(n, 1, 0), dim(n, 1, 1));
  OnnxlExpr sum = add(n, counts(n, 0, UINT32_MAX), times(n, 6, mul(n, batch, hidden)));

  sum = add(n, sum, add(n, count(n, 0), batch));
  sum = add(n, sum, times(n, 2, mul(n, steps, hidden)));
  sum = add(n, sum, add(n, mul(n, steps, gates), add(n, gates, hidden)));
  sum = add(n, sum, times(n, PANEL_COLUMNS, add(n, dim(n, 0, 2), dim(n, 2, 2))));
  return in_blocks(n, 32, times(n, 8, sum));
}

/* A transform of any length needs three of a power of two up to four times as long. */
static OnnxlExpr
transform(const OnnxlCostNode *n, OnnxlExpr length)
{
  return add(n, literal(n, 20 * HEADER + 4096), times(n, 416, length));
}

static OnnxlExpr
fourier(const OnnxlCostNode *n)
{
  OnnxlExpr length = scalar(n, 1), axis = n->schema->since >= 20 ? scalar(n, 2) : literal(n, attribute(n, "axis"));
  const OnnxlInfo *y = output(n, 0);
  int64_t at;

  if (n->schema->since >= 20 && !input(n, 2))
    axis = literal(n, -2);
  if (!length) /* half of it may be left out */
    length = times(n, 2,
                   axis && onnxl_expr_is_int(axis, &at)
                     ? add(n, product(n, y, at, at + 1), product(n, input(n, 0), at, at + 1))
                     : output_dims(n));
  return in_blocks(n, 2, add(n, times(n, 8, count(n, 0)), transform(n, length)));
}

static OnnxlExpr
short_fourier(const OnnxlCostNode *n)
{
  OnnxlExpr length = input(n, 3) ? scalar(n, 3) : input(n, 2) ? count(n, 2) : dim(n, 0, 1);

  return in_blocks(n, 3, add(n, times(n, 8, add(n, count(n, 0), count(n, 2))), transform(n, length)));
}

static OnnxlExpr
mel_weights(const OnnxlCostNode *n)
{
  return in_blocks(n, 1, times(n, 8, add(n, product(n, output(n, 0), -1, 0), literal(n, 2))));
}

/* Nearest: where each place along each axis comes from. Else one axis after the other, the last one first, and the
 * weights of its places. */
static OnnxlExpr
resize(const OnnxlCostNode *n)
{
  const OnnxlInfo *x = input(n, 0), *y = output(n, 0);
  OnnxlStr mode = onnxl_attr_string(n->schema, n->proto, "mode");

  if (!x || !y || !x->has_rank || !y->has_rank || x->rank != y->rank)
    return NULL;
  OnnxlExpr sum = add(n, parameters(n), times(n, 8, output_dims(n)));
  if (onnxl_str_is(mode, "nearest"))
    return in_blocks(n, x->rank, sum);
  sum = add(n, sum, times(n, 16, count(n, 0)));
  for (int64_t i = 0; i < x->rank; i++) {
    OnnxlExpr before = i > 0 ? product(n, x, 0, i) : literal(n, 1), taps = literal(n, 6);
    if (x->dims[i] && x->dims[i] == y->dims[i])
      continue;
    if (n->schema->since >= 18 && attribute(n, "antialias"))
      taps = x->dims[i];
    sum = add(n, sum, times(n, 16, mul(n, before, product(n, y, i, 0))));
    sum = add(n, sum, mul(n, y->dims[i], add(n, literal(n, 17), times(n, 8, taps))));
  }
  return in_blocks(n, 1 + 5 * (int64_t)x->rank, sum);
}

/* Candidates and edges of the boxes, and all that can be chosen. */
static OnnxlExpr
non_max_suppression(const OnnxlCostNode *n)
{
  return in_blocks(n, 3, add(n, times(n, 64, dim(n, 0, 1)), times(n, 24, count(n, 1))));
}

static OnnxlExpr
top_k(const OnnxlCostNode *n)
{
  int64_t axis = attribute(n, "axis");

  return in_blocks(n, 1, times(n, 8, product(n, input(n, 0), axis, axis + 1)));
}

static OnnxlExpr
unique(const OnnxlCostNode *n)
{
  return in_blocks(n, 8, times(n, 64, count(n, 0)));
}

/* Texts that are kept, and those that are left out. */
static OnnxlExpr
texts(const OnnxlCostNode *n)
{
  int64_t elements = 0;

  for (size_t i = 0; i < n->proto->attribute.count; i++)
    elements += (int64_t)n->proto->attribute.items[i].strings.count;
  return in_blocks(n, 2, times(n, 16, add(n, count(n, 0), literal(n, elements))));
}

/* Tables over what the attributes list: trees, coefficients, keys, n-grams; rows of the input in double precision. */
static OnnxlExpr
listed(const OnnxlCostNode *n)
{
  int64_t elements = 0;

  for (size_t i = 0; i < n->proto->attribute.count; i++) {
    const OnnxlAttribute *a = &n->proto->attribute.items[i];
    elements += (int64_t)(a->floats.count + a->ints.count + a->strings.count);
    if (a->t) { /* an empty product is one element */
      int64_t product_of_dims = 1;
      for (size_t k = 0; k < a->t->dims.count; k++)
        if (__builtin_mul_overflow(product_of_dims, a->t->dims.items[k], &product_of_dims))
          return NULL;
      elements += product_of_dims;
    }
  }
  if (elements > INT64_MAX / 1024)
    return NULL;
  return in_blocks(
    n, 32, add(n, times(n, 128, add(n, literal(n, elements), literal(n, 8))), times(n, 16, counts(n, 0, UINT32_MAX))));
}

/* A pointer to each item of a sequence, and one more. */
static OnnxlExpr
items(const OnnxlCostNode *n)
{
  const OnnxlInfo *sequence = input(n, 0);

  if (!sequence || sequence->kind != ONNXL_KIND_SEQUENCE || !sequence->has_contents)
    return NULL;
  return literal(n, HEADER + 8 * ((int64_t)sequence->n_contents + 1));
}

static OnnxlExpr
split_to_sequence(const OnnxlCostNode *n)
{
  const OnnxlInfo *x = input(n, 0);
  int64_t axis = attribute(n, "axis");

  return x && x->has_rank ? in_blocks(n, 3, times(n, 8, add(n, count(n, 1), product(n, x, axis, axis + 1)))) : NULL;
}

/* A pointer to each output of the branch, or to each input and output of the body. */
static OnnxlExpr
branch(const OnnxlCostNode *n)
{
  return literal(n, HEADER + 8 * (int64_t)n->node->n_outputs);
}

/* Parts of the outputs, until they are stacked; of packed types each element is a byte meanwhile. */
static OnnxlExpr
stacked_outputs(const OnnxlCostNode *n)
{
  OnnxlExpr sum = literal(n, 0);

  for (uint32_t o = 0; o < n->node->n_outputs; o++) {
    const OnnxlInfo *info = output(n, o);
    uint32_t bits = info ? onnxl_data_type_bits(info->elem_type) : 0;
    if (!info || info->kind != ONNXL_KIND_TENSOR || info->elem_type == ONNXL_TYPE_STRING)
      continue;
    sum = add(n, sum, bits == 0 ? NULL : times(n, MAX(bits / 8, 2), onnxl_info_count(n->pool, info)));
  }
  return sum;
}

/* Beside the outputs a trip count and a condition. */
static OnnxlExpr
loop(const OnnxlCostNode *n)
{
  return add(n, literal(n, 16), stacked_outputs(n));
}

/* Also what a step or, of Scan-8, an entry of the batch takes of the inputs. */
static OnnxlExpr
scan(const OnnxlCostNode *n)
{
  OnnxlExpr sum = times(n, n->schema->since < 9 ? 2 : 1, stacked_outputs(n));

  for (uint32_t i = 0; i < n->node->n_inputs; i++) {
    const OnnxlInfo *info = input(n, i);
    if (info && info->elem_type != ONNXL_TYPE_STRING)
      sum = add(n, sum, onnxl_info_bytes(n->pool, info));
  }
  return sum;
}

static OnnxlExpr
sequence_map(const OnnxlCostNode *n)
{
  return literal(n, 2 * HEADER + 8 * ((int64_t)n->node->n_inputs + n->node->n_outputs));
}

static OnnxlExpr
unknown(const OnnxlCostNode *n G_GNUC_UNUSED)
{
  return NULL;
}

typedef struct Row {
  char name[28];
  Rule rule;
} Row;

/* Ordered by name. What is not listed takes no scratch memory. */
static const Row rows[] = {
  { "AffineGrid", all_inputs },
  { "ArrayFeatureExtractor", listed },
  { "Attention", attention },
  { "BatchNormalization", batch_normalization },
  { "Binarizer", listed },
  { "CastMap", listed },
  { "CategoryMapper", listed },
  { "CausalConvWithState", causal_convolution },
  { "CenterCropPad", parameters },
  { "Clip", parameters },
  { "Col2Im", parameters },
  { "Compress", parameters },
  { "Concat", list_of_inputs },
  { "ConcatFromSequence", items },
  { "ConstantOfShape", all_inputs },
  { "Conv", convolution },
  { "ConvInteger", integer_product },
  { "ConvTranspose", transposed_convolution },
  { "CumProd", parameters },
  { "CumSum", parameters },
  { "DFT", fourier },
  { "DeformConv", deformed_convolution },
  { "DequantizeLinear", parameters },
  { "Det", determinant },
  { "DictVectorizer", listed },
  { "Einsum", einsum },
  { "EmbedLayerNormalization", last_axis },
  { "Expand", parameters },
  { "FeatureVectorizer", listed },
  { "FlexAttention", flex_attention },
  { "GRU", recurrent },
  { "Gather", parameters },
  { "GatherElements", parameters },
  { "GatherND", parameters },
  { "Gemm", gemm },
  { "Gradient", unknown },
  { "GroupNormalization", group_normalization },
  { "If", branch },
  { "ImageDecoder", unknown },
  { "Imputer", listed },
  { "InstanceNormalization", group_normalization },
  { "LSTM", recurrent },
  { "LabelEncoder", listed },
  { "LayerNormalization", row_normalization },
  { "LinearAttention", linear_attention },
  { "LinearClassifier", listed },
  { "LinearRegressor", listed },
  { "Loop", loop },
  { "MatMul", matrix_product },
  { "MatMulInteger", integer_product },
  { "Max", list_of_inputs },
  { "MaxRoiPool", parameters },
  { "MaxUnpool", parameters },
  { "Mean", list_of_inputs },
  { "MeanVarianceNormalization", whole_input_twice },
  { "MelWeightMatrix", mel_weights },
  { "Min", list_of_inputs },
  { "Multinomial", whole_input_twice },
  { "NegativeLogLikelihoodLoss", all_inputs },
  { "NonMaxSuppression", non_max_suppression },
  { "Normalizer", listed },
  { "OneHot", parameters },
  { "OneHotEncoder", listed },
  { "Pad", pad },
  { "QLinearConv", integer_product },
  { "QLinearMatMul", integer_product },
  { "QuantizeLinear", parameters },
  { "RMSNormalization", row_normalization },
  { "RNN", recurrent },
  { "Range", all_inputs },
  { "ReduceL1", parameters },
  { "ReduceL2", parameters },
  { "ReduceLogSum", parameters },
  { "ReduceLogSumExp", parameters },
  { "ReduceMax", parameters },
  { "ReduceMean", parameters },
  { "ReduceMin", parameters },
  { "ReduceProd", parameters },
  { "ReduceSum", parameters },
  { "ReduceSumSquare", parameters },
  { "Reshape", parameters },
  { "Resize", resize },
  { "RoiAlign", parameters },
  { "STFT", short_fourier },
  { "SVMClassifier", listed },
  { "SVMRegressor", listed },
  { "Scaler", listed },
  { "Scan", scan },
  { "Scatter", parameters },
  { "ScatterElements", parameters },
  { "ScatterND", parameters },
  { "SequenceConstruct", list_of_inputs },
  { "SequenceErase", items },
  { "SequenceInsert", items },
  { "SequenceMap", sequence_map },
  { "SkipLayerNormalization", last_axis },
  { "Slice", parameters },
  { "SoftmaxCrossEntropyLoss", all_inputs },
  { "Split", split },
  { "SplitToSequence", split_to_sequence },
  { "Squeeze", parameters },
  { "StringNormalizer", texts },
  { "Sum", list_of_inputs },
  { "TensorScatter", parameters },
  { "TfIdfVectorizer", listed },
  { "Tile", parameters },
  { "TopK", top_k },
  { "TreeEnsemble", listed },
  { "TreeEnsembleClassifier", listed },
  { "TreeEnsembleRegressor", listed },
  { "Trilu", parameters },
  { "Unique", unique },
  { "Unsqueeze", parameters },
  { "Upsample", resize },
  { "ZipMap", listed },
};

static int
compare_row(const void *name, const void *row)
{
  return strcmp(name, ((const Row *)row)->name);
}

OnnxlExpr
onnxl_workspace_of_kernel(const OnnxlCostNode *n)
{
  const Row *row = bsearch(n->schema->name, rows, G_N_ELEMENTS(rows), sizeof *rows, compare_row);

  return row ? row->rule(n) : literal(n, 0);
}
