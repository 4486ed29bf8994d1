#include "memory/convert-internal.h"

#include "ops/type-sets.h"

enum { SMALL_FLOATS = T_FLOAT16 | T_BFLOAT16 | T_FLOATS8 | T_FLOAT8E8M0 | T_FLOAT4E2M1 };

/* Ordered by name: operators whose kernels look at the element types themselves. */
static const char exact[][24] = {
  "Adagrad",
  "Adam",
  "ArrayFeatureExtractor",
  "Bernoulli",
  "Binarizer",
  "BitCast",
  "BlackmanWindow",
  "Cast",
  "CastLike",
  "CastMap",
  "CategoryMapper",
  "ConcatFromSequence",
  "Constant",
  "ConstantOfShape",
  "ConvInteger",
  "DFT",
  "DequantizeLinear",
  "DictVectorizer",
  "DynamicQuantizeLinear",
  "EyeLike",
  "FeatureVectorizer",
  "Flatten",
  "FlexAttention",
  "Gradient",
  "GridSample",
  "HammingWindow",
  "HannWindow",
  "Identity",
  "If",
  "ImageDecoder",
  "Imputer",
  "LabelEncoder",
  "LinearAttention",
  "LinearClassifier",
  "LinearRegressor",
  "Loop",
  "MatMulInteger",
  "MelWeightMatrix",
  "Momentum",
  "Multinomial",
  "NonMaxSuppression",
  "Normalizer",
  "OneHotEncoder",
  "Optional",
  "OptionalGetElement",
  "OptionalHasElement",
  "QLinearConv",
  "QLinearMatMul",
  "QuantizeLinear",
  "RandomNormal",
  "RandomNormalLike",
  "RandomUniform",
  "RandomUniformLike",
  "RegexFullMatch",
  "Reshape",
  "Resize",
  "STFT",
  "SVMClassifier",
  "SVMRegressor",
  "Scaler",
  "Scan",
  "SequenceAt",
  "SequenceConstruct",
  "SequenceEmpty",
  "SequenceErase",
  "SequenceInsert",
  "SequenceLength",
  "SequenceMap",
  "Shape",
  "Size",
  "SplitToSequence",
  "Squeeze",
  "StringConcat",
  "StringNormalizer",
  "StringSplit",
  "TfIdfVectorizer",
  "TreeEnsemble",
  "TreeEnsembleClassifier",
  "TreeEnsembleRegressor",
  "Unsqueeze",
  "Upsample",
  "ZipMap",
};

/* Those that only move elements, of whole bytes. */
static const char moving[][24] = {
  "CenterCropPad", "Compress", "Concat",    "DepthToSpace",    "Expand", "Gather",       "GatherElements",
  "GatherND",      "OneHot",   "Pad",       "ReverseSequence", "Slice",  "SpaceToDepth", "Split",
  "TensorScatter", "Tile",     "Transpose", "Trilu",           "Where",
};

static int
compare_name(const void *name, const void *row)
{
  return strcmp(name, row);
}

#define IS_IN(table, name) (bsearch(name, table, G_N_ELEMENTS(table), sizeof table[0], compare_name) != NULL)

uint32_t
onnxl_converted_bits(const OnnxlOpSchema *schema, int32_t elem_type)
{
  uint32_t bits = onnxl_data_type_bits(elem_type);

  if (bits == 0 || bits >= 32 || IS_IN(exact, schema->name))
    return bits;
  if ((1 << elem_type & SMALL_FLOATS) && !IS_IN(moving, schema->name))
    return 32;
  return MAX(bits, 8);
}

/* Bytes of the converted copy of a value, 0 when it is taken as it is. */
static OnnxlExpr
copy_bytes(const OnnxlCostNode *n, const OnnxlInfo *info)
{
  if (!info || info->kind != ONNXL_KIND_TENSOR)
    return literal(n, 0);
  uint32_t bits = onnxl_converted_bits(n->schema, info->elem_type);
  return bits == onnxl_data_type_bits(info->elem_type) ? literal(n, 0)
                                                       : times(n, bits / 8, onnxl_info_count(n->pool, info));
}

OnnxlExpr
onnxl_converted_bytes(const OnnxlCostNode *n)
{
  OnnxlExpr sum = literal(n, 0);

  for (uint32_t i = 0; i < n->node->n_inputs; i++)
    sum = add(n, sum, copy_bytes(n, input(n, i)));
  for (uint32_t o = 0; o < n->node->n_outputs; o++)
    sum = add(n, sum, copy_bytes(n, output(n, o)));
  return sum;
}
