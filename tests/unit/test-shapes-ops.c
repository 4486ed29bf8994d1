/* Every row of the operator table, with symbols in its inputs: a table of small models, each for some operators and the
 * versions for which it is written. A row that no model covers fails. */
#include "shapes-text.h"

typedef struct Row {
  const char *ops;   /* names between spaces */
  int first, last;   /* versions of the operators */
  const char *graph; /* $ stands for the operator; the value of interest is y */
  const char *expected;
} Row;

enum { NEWEST = 1000 };

static const Row onnx_rows[] = {
  /* element by element */
  { " Abs Acos Acosh Asin Asinh Atan Atanh BitCast Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish "
    "Hardmax "
    "Identity LRN LeakyRelu Log LogSoftmax LpNormalization Mish Neg Reciprocal Relu Round "
    "Selu "
    "Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Bernoulli EyeLike "
    "RandomNormalLike RandomUniformLike Dropout Trilu ",
    1, NEWEST, "(float[N,C] x) => (y) { y = $ <size = 3, to = 1> (x) }", "float[N,C]" },
  { " Clip ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "float[N,C]" },
  { " IsInf IsNaN ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "bool[N,C]" },
  { " Not ", 1, NEWEST, "(bool[N,C] x) => (y) { y = $ (x) }", "bool[N,C]" },
  { " BitwiseNot ", 1, NEWEST, "(int32[N,C] x) => (y) { y = $ (x) }", "int32[N,C]" },
  { " Cast ", 1, 1, "(float[N,C] x) => (y) { y = $ <to = \"INT64\"> (x) }", "int64[N,C]" },
  { " Cast ", 6, NEWEST, "(float[N,C] x) => (y) { y = $ <to = 7> (x) }", "int64[N,C]" },
  { " CastLike ", 1, NEWEST, "(float[N,C] x, int8[M] l) => (y) { y = $ (x, l) }", "int8[N,C]" },
  { " Add Sub Mul Div ", 1, 6, "(float[N,C,H] a, float[C] b) => (y) { y = $ <broadcast = 1, axis = 1> (a, b) }",
    "float[N,C,H]" },
  { " Pow ", 1, 1, "(float[N,C,H] a, float[C] b) => (y) { y = $ <broadcast = 1, axis = 1> (a, b) }", "float[N,C,H]" },
  { " Add Sub Mul Div Pow Mod ", 7, NEWEST, "(float[N,1] a, float[M] b) => (y) { y = $ <fmod = 1> (a, b) }",
    "float[N,M]" },
  { " PRelu ", 1, 6, "(float[N,C,H] x, float[C] slope) => (y) { y = $ (x, slope) }", "float[N,C,H]" },
  { " PRelu ", 7, NEWEST, "(float[N,C] x, float[C] slope) => (y) { y = $ (x, slope) }", "float[N,C]" },
  { " SwiGLU ", 1, NEWEST, "(float[N,C] a, float[N,C] b) => (y) { y = $ (a, b) }", "float[N,C]" },
  { " Max Min Mean Sum ", 1, 6, "(float[N,C] a, float[N,C] b) => (y) { y = $ (a, b) }", "float[N,C]" },
  { " Max Min Mean Sum ", 8, NEWEST, "(float[N,1] a, float[M] b, float c) => (y) { y = $ (a, b, c) }", "float[N,M]" },
  { " BitShift BitwiseAnd BitwiseOr BitwiseXor ", 1, NEWEST,
    "(uint8[N,1] a, uint8[M] b) => (y) { y = $ <direction = \"LEFT\"> (a, b) }", "uint8[N,M]" },
  { " And Or Xor ", 1, 1, "(bool[N,C] a, bool[N,C] b) => (y) { y = $ (a, b) }", "bool[N,C]" },
  { " And Or Xor ", 7, NEWEST, "(bool[N,1] a, bool[M] b) => (y) { y = $ (a, b) }", "bool[N,M]" },
  { " Equal ", 1, 1, "(int32[N,C] a, int32[N,C] b) => (y) { y = $ (a, b) }", "bool[N,C]" },
  { " Greater Less ", 1, 1, "(float[N,C] a, float[N,C] b) => (y) { y = $ (a, b) }", "bool[N,C]" },
  { " Equal Greater Less GreaterOrEqual LessOrEqual ", 7, NEWEST, "(int32[N,1] a, int32[M] b) => (y) { y = $ (a, b) }",
    "bool[N,M]" },
  { " Where ", 1, NEWEST, "(bool[N,1] c, float[M] a, float b) => (y) { y = $ (c, a, b) }", "float[N,M]" },
  { " CumSum CumProd ", 1, NEWEST, "(float[N,C] x, int64 axis) => (y) { y = $ (x, axis) }", "float[N,C]" },
  { " RegexFullMatch ", 1, NEWEST, "(string[N] x) => (y) { y = $ <pattern = \"a\"> (x) }", "bool[N]" },
  { " StringConcat ", 1, NEWEST, "(string[N,1] a, string[M] b) => (y) { y = $ (a, b) }", "string[N,M]" },
  /* made from attributes and sizes */
  { " Constant ", 1, NEWEST, "() => (y) { y = $ <value = float[2,3] {1, 2, 3, 4, 5, 6}> () }", "float[2,3]" },
  { " ConstantOfShape ", 1, NEWEST, "(float[N,C] x) => (y) { s = Shape (x)  y = $ (s) }", "float[N,C]" },
  { " RandomNormal RandomUniform ", 1, NEWEST, "() => (y) { y = $ <shape = [2, 3]> () }", "float[2,3]" },
  { " Multinomial ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ <sample_size = 5> (x) }", "int32[N,5]" },
  { " Range ", 1, NEWEST,
    "(float[N] x) => (y) <int64 z = {0}, int64 o = {1}> { s = Shape (x)  n = Squeeze (s)  y = $ (z, n, o) }",
    "int64[N]" },
  { " BlackmanWindow HammingWindow HannWindow ", 1, NEWEST, "(float[N] x) => (y) { s = Size (x)  y = $ (s) }",
    "float[N]" },
  { " MelWeightMatrix ", 1, NEWEST,
    "(float[N] x, float lo, float hi) => (y) <int64 b = {8}, int64 r = {100}> { s = Size (x)  y = $ (b, s, r, lo, hi) "
    "}",
    "float[N//2+1,8]" },
  /* linear algebra */
  { " Gemm ", 1, 6, "(float[M,K] a, float[K,N] b, float[N] c) => (y) { y = $ <broadcast = 1> (a, b, c) }",
    "float[M,N]" },
  { " Gemm ", 7, NEWEST, "(float[K,M] a, float[K,N] b, float[N] c) => (y) { y = $ <transA = 1> (a, b, c) }",
    "float[M,N]" },
  { " MatMul ", 1, NEWEST, "(float[B,M,K] a, float[K,N] b) => (y) { y = $ (a, b) }", "float[B,M,N]" },
  { " MatMulInteger ", 1, NEWEST, "(uint8[B,M,K] a, int8[K,N] b) => (y) { y = $ (a, b) }", "int32[B,M,N]" },
  { " QLinearMatMul ", 1, NEWEST,
    "(uint8[M,K] a, float s, uint8 z, uint8[K,N] b) => (y) { y = $ (a, s, z, b, s, z, s, z) }", "uint8[M,N]" },
  { " Einsum ", 1, NEWEST, "(float[B,I,J] a, float[B,J,K] b) => (y) { y = $ <equation = \"bij,bjk->bik\"> (a, b) }",
    "float[B,I,K]" },
  { " Det ", 1, NEWEST, "(float[B,3,3] x) => (y) { y = $ (x) }", "float[B]" },
  /* layers */
  { " AveragePool MaxPool LpPool ", 1, NEWEST,
    "(float[N,C,H,W] x) => (y) { y = $ <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x) }",
    "float[N,C,(1+H)//2,(1+W)//2]" },
  { " GlobalAveragePool GlobalMaxPool GlobalLpPool ", 1, NEWEST, "(float[N,C,H,W] x) => (y) { y = $ (x) }",
    "float[N,C,1,1]" },
  { " Conv ", 1, NEWEST, "(float[N,3,H,W] x, float[8,3,3,3] w) => (y) { y = $ <pads = [1, 1, 1, 1]> (x, w) }",
    "float[N,8,H,W]" },
  { " ConvInteger ", 1, NEWEST, "(uint8[N,3,H,W] x, uint8[8,3,3,3] w) => (y) { y = $ <pads = [1, 1, 1, 1]> (x, w) }",
    "int32[N,8,H,W]" },
  { " QLinearConv ", 1, NEWEST,
    "(uint8[N,3,H,W] x, float s, uint8 z, uint8[8,3,3,3] w) => (y)\n"
    "{ y = $ <pads = [1, 1, 1, 1]> (x, s, z, w, s, z, s, z) }",
    "uint8[N,8,H,W]" },
  { " ConvTranspose ", 1, NEWEST, "(float[N,3,H,W] x, float[3,8,2,2] w) => (y) { y = $ <strides = [2, 2]> (x, w) }",
    "float[N,8,2*H,2*W]" },
  { " CausalConvWithState ", 1, NEWEST, "(float[N,C,L] x, float[C,1,K] w) => (y) { y = $ (x, w) }", "float[N,C,L]" },
  { " DeformConv ", 1, NEWEST,
    "(float[N,3,H,W] x, float[8,3,3,3] w, float[N,18,H,W] o) => (y) { y = $ <pads = [1, 1, 1, 1]> (x, w, o) }",
    "float[N,8,H,W]" },
  { " Col2Im ", 1, NEWEST,
    "(float[N,12,L] x) => (y) <int64[2] image = {5, 6}, int64[2] block = {2, 2}> { y = $ (x, image, block) }",
    "float[N,3,5,6]" },
  { " BatchNormalization ", 1, NEWEST,
    "(float[N,C,H] x, float[C] s) => (y) { y = $ <is_test = 1, consumed_inputs = [0, 0, 0, 1, 1]> (x, s, s, s, s) }",
    "float[N,C,H]" },
  { " InstanceNormalization GroupNormalization ", 1, NEWEST,
    "(float[N,C,H] x, float[C] s) => (y) { y = $ <num_groups = 1> (x, s, s) }", "float[N,C,H]" },
  { " LayerNormalization RMSNormalization ", 1, NEWEST, "(float[N,T,C] x, float[C] s) => (y) { y = $ (x, s) }",
    "float[N,T,C]" },
  { " MaxUnpool ", 1, NEWEST,
    "(float[N,C,H,W] x, int64[N,C,H,W] i) => (y) { y = $ <kernel_shape = [2, 2], strides = [2, 2]> (x, i) }",
    "float[N,C,2*H,2*W]" },
  { " NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss ", 1, NEWEST,
    "(float[N,C,D] x, int64[N,D] t) => (y) { y = $ <reduction = \"none\"> (x, t) }", "float[N,D]" },
  { " GRU LSTM RNN ", 1, NEWEST,
    "(float[T,B,4] x, float[1,G,4] w, float[1,G,3] r) => (y) { y = $ <hidden_size = 3, output_sequence = 1> (x, w, r) "
    "}",
    "float[T,1,B,3]" },
  { " Attention ", 1, NEWEST, "(float[B,H,T,8] q, float[B,H,S,8] k, float[B,H,S,5] v) => (y) { y = $ (q, k, v) }",
    "float[B,H,T,5]" },
  { " LinearAttention ", 1, NEWEST,
    "(float[B,T,8] q, float[B,T,8] k, float[B,T,10] v) => (y)\n"
    "{ y = $ <q_num_heads = 2, kv_num_heads = 2, update_rule = \"linear\"> (q, k, v) }",
    "float[B,T,10]" },
  { " RotaryEmbedding ", 1, NEWEST, "(float[B,H,T,8] x, float[P,4] c, int64[B,T] i) => (y) { y = $ (x, c, c, i) }",
    "float[B,H,T,8]" },
  { " TensorScatter ", 1, NEWEST, "(float[B,S,D] x, float[B,T,D] u) => (y) { y = $ (x, u) }", "float[B,S,D]" },
  /* quantization */
  { " QuantizeLinear ", 1, NEWEST, "(float[N,C] x, float s, int8 z) => (y) { y = $ (x, s, z) }", "int8[N,C]" },
  { " DequantizeLinear ", 1, NEWEST, "(int8[N,C] x, float s, int8 z) => (y) { y = $ (x, s, z) }", "float[N,C]" },
  { " DynamicQuantizeLinear ", 1, NEWEST, "(float[N,C] x) => (y) { y, s, z = $ (x) }", "uint8[N,C]" },
  /* reductions */
  { " ArgMax ArgMin ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ <axis = 1> (x) }", "int64[N,1]" },
  { " ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare ", 1, 13,
    "(float[N,C] x) => (y) { y = $ <axes = [1]> (x) }", "float[N,1]" },
  { " ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare ", 18,
    NEWEST, "(float[N,C] x) => (y) <int64[1] a = {-1}> { y = $ <keepdims = 0> (x, a) }", "float[N]" },
  { " ReduceSum ", 1, 11, "(float[N,C] x) => (y) { y = $ <axes = [1]> (x) }", "float[N,1]" },
  { " ReduceSum ", 13, NEWEST, "(float[N,C] x) => (y) <int64[1] a = {-1}> { y = $ <keepdims = 0> (x, a) }",
    "float[N]" },
  /* shapes */
  { " Shape ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "int64[2]" },
  { " Size ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "int64" },
  { " Concat ", 1, NEWEST, "(float[N,C] a, float[M,C] b) => (y) { y = $ <axis = 0> (a, b) }", "float[M+N,C]" },
  { " DepthToSpace ", 1, NEWEST, "(float[N,8,H,W] x) => (y) { y = $ <blocksize = 2> (x) }", "float[N,2,2*H,2*W]" },
  { " SpaceToDepth ", 1, NEWEST, "(float[N,C,H,W] x) => (y) { y = $ <blocksize = 2> (x) }", "float[N,4*C,H/:2,W/:2]" },
  { " Expand ", 1, NEWEST, "(float[N,1] x, float[M] l) => (y) { s = Shape (l)  y = $ (x, s) }", "float[N,M]" },
  { " Flatten ", 1, NEWEST, "(float[N,C,H] x) => (y) { y = $ (x) }", "float[N,C*H]" },
  { " Reshape ", 1, 1, "(float[N,C,4] x) => (y) { y = $ <shape = [0, -1, 2]> (x) }", "float[N,2*C,2]" },
  { " Reshape ", 5, NEWEST, "(float[N,C,4] x) => (y) <int64[3] s = {0, -1, 2}> { y = $ (x, s) }", "float[N,2*C,2]" },
  { " Squeeze ", 1, 11, "(float[N,1,C] x) => (y) { y = $ <axes = [1]> (x) }", "float[N,C]" },
  { " Squeeze ", 13, NEWEST, "(float[N,1,C] x) => (y) <int64[1] a = {1}> { y = $ (x, a) }", "float[N,C]" },
  { " Unsqueeze ", 1, 11, "(float[N,C] x) => (y) { y = $ <axes = [1]> (x) }", "float[N,1,C]" },
  { " Unsqueeze ", 13, NEWEST, "(float[N,C] x) => (y) <int64[1] a = {1}> { y = $ (x, a) }", "float[N,1,C]" },
  { " Transpose ", 1, NEWEST, "(float[N,C,H] x) => (y) { y = $ <perm = [2, 0, 1]> (x) }", "float[H,N,C]" },
  { " Tile ", 1, 1, "(float[N,C] x) => (y) <float two = {2.0}, float axis = {1.0}> { y = $ (x, two, axis) }",
    "float[N,2*C]" },
  { " MeanVarianceNormalization ", 1, NEWEST, "(float[N,C,H,W] x) => (y) { y = $ (x) }", "float[N,C,H,W]" },
  { " Tile ", 6, NEWEST, "(float[N,C] x) => (y) <int64[2] r = {1, 2}> { y = $ (x, r) }", "float[N,2*C]" },
  /* parts */
  { " Slice ", 1, 1, "(float[N,9] x) => (y) { y = $ <axes = [1], starts = [2], ends = [-1]> (x) }", "float[N,6]" },
  { " Slice ", 10, NEWEST,
    "(float[N,9] x) => (y) <int64[1] s = {2}, int64[1] e = {-1}, int64[1] a = {1}> { y = $ (x, s, e, a) }",
    "float[N,6]" },
  { " Split ", 1, 11, "(float[N,6] x) => (y, z) { y, z = $ <axis = 1, split = [2, 4]> (x) }", "float[N,2]" },
  { " Split ", 13, NEWEST, "(float[N,6] x) => (y, z) <int64[2] s = {2, 4}> { y, z = $ <axis = 1> (x, s) }",
    "float[N,2]" },
  { " Pad ", 1, 1, "(float[N,C] x) => (y) { y = $ <paddings = [0, 1, 0, 2]> (x) }", "float[N,C+3]" },
  { " Pad ", 2, 2, "(float[N,C] x) => (y) { y = $ <pads = [0, 1, 0, 2]> (x) }", "float[N,C+3]" },
  { " Pad ", 11, NEWEST, "(float[N,C] x) => (y) <int64[4] p = {0, 1, 0, 2}> { y = $ (x, p) }", "float[N,C+3]" },
  { " CenterCropPad ", 1, NEWEST, "(float[N,C] x, float[M] l) => (y) { s = Shape (l)  y = $ <axes = [1]> (x, s) }",
    "float[N,M]" },
  { " Compress ", 1, NEWEST, "(float[N,C] x, bool[N] c) => (y) { y = $ <axis = 0> (x, c) }", "float[compress_y_0,C]" },
  { " Gather ", 1, NEWEST, "(float[N,C] x, int64[K,L] i) => (y) { y = $ <axis = 1> (x, i) }", "float[N,K,L]" },
  { " GatherElements ", 1, NEWEST, "(float[N,C] x, int64[K,C] i) => (y) { y = $ (x, i) }", "float[K,C]" },
  { " GatherND ", 1, NEWEST, "(float[N,C,H] x, int64[K,1] i) => (y) { y = $ (x, i) }", "float[K,C,H]" },
  { " Scatter ScatterElements ", 1, NEWEST, "(float[N,C] x, int64[K,C] i, float[K,C] u) => (y) { y = $ (x, i, u) }",
    "float[N,C]" },
  { " ScatterND ", 1, NEWEST, "(float[N,C] x, int64[K,1] i, float[K,C] u) => (y) { y = $ (x, i, u) }", "float[N,C]" },
  { " ReverseSequence ", 1, NEWEST, "(float[T,B] x, int64[B] l) => (y) { y = $ (x, l) }", "float[T,B]" },
  { " NonZero ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "int64[2,nonzero_y_1]" },
  { " OneHot ", 1, NEWEST, "(int64[N] x, float[2] v) => (y) <int64 d = {7}> { y = $ (x, d, v) }", "float[N,7]" },
  { " TopK ", 1, 1, "(float[N,9] x) => (y, i) { y, i = $ <k = 4> (x) }", "float[N,4]" },
  { " TopK ", 10, NEWEST, "(float[N,9] x) => (y, i) <int64[1] k = {4}> { y, i = $ (x, k) }", "float[N,4]" },
  { " Unique ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ <axis = 0> (x) }", "float[unique_y_0,C]" },
  /* images and signals */
  { " AffineGrid ", 1, NEWEST, "(float[N,2,3] t) => (y) <int64[4] s = {2, 3, 5, 6}> { y = $ (t, s) }",
    "float[2,5,6,2]" },
  { " GridSample ", 1, NEWEST, "(float[N,C,H,W] x, float[N,P,Q,2] g) => (y) { y = $ (x, g) }", "float[N,C,P,Q]" },
  { " ImageDecoder ", 1, NEWEST, "(uint8[N] x) => (y) { y = $ <pixel_format = \"RGB\"> (x) }",
    "uint8[imagedecoder_y_0,imagedecoder_y_1,3]" },
  { " MaxRoiPool ", 1, NEWEST, "(float[N,C,H,W] x, float[R,5] r) => (y) { y = $ <pooled_shape = [3, 2]> (x, r) }",
    "float[R,C,3,2]" },
  { " NonMaxSuppression ", 1, NEWEST, "(float[N,B,4] x, float[N,C,B] s) => (y) { y = $ (x, s) }",
    "int64[nonmaxsuppression_y_0,3]" },
  { " Resize ", 10, 10, "(float[N,C,H,W] x) => (y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = $ (x, s) }",
    "float[N,C,2*H,2*W]" },
  { " Resize ", 11, NEWEST,
    "(float[N,C,H,W] x, float[0] r) => (y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = $ (x, r, s) }",
    "float[N,C,2*H,2*W]" },
  { " RoiAlign ", 1, NEWEST,
    "(float[N,C,H,W] x, float[R,4] r, int64[R] b) => (y) { y = $ <output_height = 3, output_width = 2> (x, r, b) }",
    "float[R,C,3,2]" },
  { " Upsample ", 1, 1, "(float[N,C,H,W] x) => (y) { y = $ <height_scale = 2.0, width_scale = 2.0> (x) }",
    "float[N,C,2*H,2*W]" },
  { " Upsample ", 7, 7, "(float[N,C,H,W] x) => (y) { y = $ <scales = [1.0, 1.0, 2.0, 2.0]> (x) }",
    "float[N,C,2*H,2*W]" },
  { " Upsample ", 9, NEWEST, "(float[N,C,H,W] x) => (y) <float[4] s = {1.0, 1.0, 2.0, 2.0}> { y = $ (x, s) }",
    "float[N,C,2*H,2*W]" },
  { " DFT ", 1, NEWEST, "(float[N,L,1] x) => (y) { y = $ (x) }", "float[N,L,2]" },
  { " STFT ", 1, NEWEST, "(float[B,L,1] x) => (y) <int64 s = {4}, int64 n = {16}> { y = $ (x, s, , n) }",
    "float[B,L//4-3,9,2]" },
  /* text */
  { " StringNormalizer ", 1, NEWEST, "(string[N] x) => (y) { y = $ <stopwords = [\"a\"]> (x) }",
    "string[stringnormalizer_y_0]" },
  { " StringSplit ", 1, NEWEST, "(string[N] x) => (y) { y, n = $ (x) }", "string[N,stringsplit_y_1]" },
  { " TfIdfVectorizer ", 1, NEWEST,
    "(int64[N,L] x) => (y)\n"
    "{ y = $ <mode = \"TF\", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0],\n"
    "  ngram_indexes = [0, 1, 2], pool_int64s = [5, 6, 7]> (x) }",
    "float[N,3]" },
  /* control */
  { " If ", 1, NEWEST,
    "(bool c, float[N] x) => (y) { y = $ (c) <then_branch = t () => (a) { a = Neg (x) }, else_branch = e () => (b) { b "
    "= "
    "Abs (x) }> }",
    "float[N]" },
  { " Loop ", 1, NEWEST,
    "(int64 n, bool c, float[N] x) => (y, z)\n"
    "{ y, z = $ (n, c, x) <body = b (int64 i, bool ci, float[N] s) => (co, so, o)\n"
    "  { co = Identity (ci)  so = Neg (s)  o = Abs (s) }> }",
    "float[N]" },
  { " Scan ", 8, 8,
    "(float[B,T,C] x) => (y)\n"
    "{ y = $ <num_scan_inputs = 1, body = b (float[C] s) => (o) { o = Neg (s) }> (, x) }",
    "float[B,T,C]" },
  { " Scan ", 9, NEWEST,
    "(float[T,C] x) => (y) { y = $ <num_scan_inputs = 1, body = b (float[C] s) => (o) { o = Neg (s) }> (x) }",
    "float[T,C]" },
  /* sequences and optionals */
  { " ConcatFromSequence ", 1, NEWEST, "(float[N,C] x) => (y) { s = SequenceConstruct (x, x)  y = $ <axis = 1> (s) }",
    "float[N,2*C]" },
  { " Optional ", 1, NEWEST, "(float[N] x) => (y) { y = $ (x) }", "optional(float[N])" },
  { " OptionalGetElement ", 1, NEWEST, "(optional(float[N]) x) => (y) { y = $ (x) }", "float[N]" },
  { " OptionalHasElement ", 1, NEWEST, "(optional(float[N]) x) => (y) { y = $ (x) }", "bool" },
  { " SequenceAt ", 1, NEWEST, "(seq(float[N,C]) x, int64 i) => (y) { y = $ (x, i) }", "float[N,C]" },
  { " SequenceConstruct ", 1, NEWEST, "(float[N,C] a, float[M,C] b) => (y) { y = $ (a, b) }", "seq(float[?,C])" },
  { " SequenceEmpty ", 1, NEWEST, "() => (y) { y = $ <dtype = 7> () }", "seq(int64[])" },
  { " SequenceErase ", 1, NEWEST, "(float[N] a, int64 i) => (y) { s = SequenceConstruct (a, a)  y = $ (s, i) }",
    "seq(float[N])" },
  { " SequenceInsert ", 1, NEWEST, "(float[N] a) => (y) { s = SequenceConstruct (a, a)  y = $ (s, a) }",
    "seq(float[N])" },
  { " SequenceLength ", 1, NEWEST, "(seq(float[N]) x) => (y) { y = $ (x) }", "int64" },
  { " SequenceMap ", 1, NEWEST,
    "(float[N] a) => (y) { s = SequenceConstruct (a, a)  y = $ <body = b (float[N] e) => (o) { o = Neg (e) }> (s) }",
    "seq(float[N])" },
  { " SplitToSequence ", 1, NEWEST, "(float[6,C] x) => (y) { y = $ (x) }", "seq(float[1,C])" },
};

static const Row ml_rows[] = {
  { " Binarizer Imputer Normalizer Scaler ", 1, NEWEST,
    "(float[N,C] x) => (y) { y = $ <imputed_value_floats = [1.0], norm = \"L1\", offset = [0.0], scale = [1.0]> (x) }",
    "float[N,C]" },
  { " ArrayFeatureExtractor ", 1, NEWEST, "(float[N,C] x, int64[1,K] i) => (y) { y = $ (x, i) }", "float[N,K]" },
  { " CastMap ", 1, NEWEST, "(map(int64, float) x) => (y) { y = $ <map_form = \"SPARSE\", max_map = 5> (x) }",
    "float[1,5]" },
  { " CategoryMapper ", 1, NEWEST, "(string[N] x) => (y) { y = $ <cats_int64s = [1], cats_strings = [\"a\"]> (x) }",
    "int64[N]" },
  { " DictVectorizer ", 1, NEWEST, "(map(string, float) x) => (y) { y = $ <string_vocabulary = [\"a\", \"b\"]> (x) }",
    "float[1,2]" },
  { " FeatureVectorizer ", 1, NEWEST, "(float[N,2] a, float[N,3] b) => (y) { y = $ <inputdimensions = [2, 3]> (a, b) }",
    "float[N,5]" },
  { " LabelEncoder ", 1, 1, "(string[N] x) => (y) { y = $ <classes_strings = [\"a\"]> (x) }", "int64[N]" },
  { " LabelEncoder ", 2, NEWEST, "(string[N] x) => (y) { y = $ <keys_strings = [\"a\"], values_int64s = [1]> (x) }",
    "int64[N]" },
  { " LinearClassifier SVMClassifier ", 1, NEWEST,
    "(float[N,C] x) => (y) { l, y = $ <classlabels_ints = [1, 2, 3], coefficients = [1.0]> (x) }", "float[N,3]" },
  { " LinearRegressor ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ <targets = 2> (x) }", "float[N,2]" },
  { " SVMRegressor ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ (x) }", "float[N,1]" },
  { " OneHotEncoder ", 1, NEWEST, "(int64[N] x) => (y) { y = $ <cats_int64s = [1, 2, 3]> (x) }", "float[N,3]" },
  { " TreeEnsembleClassifier ", 1, NEWEST, "(float[N,C] x) => (y) { l, y = $ <classlabels_int64s = [1, 2, 3]> (x) }",
    "float[N,3]" },
  { " TreeEnsembleRegressor TreeEnsemble ", 1, NEWEST, "(float[N,C] x) => (y) { y = $ <n_targets = 2> (x) }",
    "float[N,2]" },
  { " ZipMap ", 1, NEWEST, "(float[N,2] x) => (y) { y = $ <classlabels_int64s = [1, 2]> (x) }",
    "seq(map(int64, float))" },
};

static const Row training_rows[] = {
  { " Adagrad Momentum ", 1, NEWEST,
    "(float r, int64 t, float[N] x, float[N] g, float[N] h) => (y) { y, k = $ (r, t, x, g, h) }", "float[N]" },
  { " Adam ", 1, NEWEST,
    "(float r, int64 t, float[N] x, float[N] g, float[N] v, float[N] h) => (y) { y, w, k = $ (r, t, x, g, v, h) }",
    "float[N]" },
  { " Gradient ", 1, NEWEST, "(float[N] x) => (y) { z = Mul (x, x)  y = $ <xs = [\"x\"], y = \"z\"> (x) }",
    "float[N]" },
  { " FlexAttention ", 1, NEWEST, "(float[B,H,T,8] q, float[B,H,S,8] k, float[B,H,S,5] v) => (y) { y = $ (q, k, v) }",
    "float[B,H,T,5]" },
};

static const Row microsoft_rows[] = {
  { " FastGelu ", 1, NEWEST, "(float[B,T,C] x) => (y) { y = $ (x) }", "float[B,T,C]" },
  { " SkipLayerNormalization ", 1, NEWEST, "(float[B,T,C] x, float[C] g) => (y) { y = $ (x, x, g) }", "float[B,T,C]" },
  { " EmbedLayerNormalization ", 1, NEWEST,
    "(int32[B,T] i, float[V,C] w, float[P,C] p, float[C] g) => (y) { y, m = $ (i, , w, p, , g, g) }", "float[B,T,C]" },
  { " Attention ", 1, NEWEST,
    "(float[B,T,8] x, float[8,24] w, float[24] b, int32[B,K] m, float[2,B,2,P,4] past) => (y)\n"
    "{ z, y = $ <num_heads = 2> (x, w, b, m, past) }",
    "float[2,B,2,P+T,4]" },
};

static const Row *
find(const Row *rows, size_t n, const OnnxlOpSchema *schema)
{
  char name[40];
  g_snprintf(name, sizeof name, " %s ", schema->name);
  for (size_t i = 0; i < n; i++)
    if (schema->since >= rows[i].first && schema->since <= rows[i].last && strstr(rows[i].ops, name))
      return &rows[i];
  return NULL;
}

static const Row *
row_of(const OnnxlOpSchema *schema)
{
  if (!*schema->domain)
    return find(onnx_rows, G_N_ELEMENTS(onnx_rows), schema);
  if (strcmp(schema->domain, "ai.onnx.ml") == 0)
    return find(ml_rows, G_N_ELEMENTS(ml_rows), schema);
  if (strcmp(schema->domain, "com.microsoft") == 0)
    return find(microsoft_rows, G_N_ELEMENTS(microsoft_rows), schema);
  return find(training_rows, G_N_ELEMENTS(training_rows), schema);
}

static char *
model_of(const OnnxlOpSchema *schema, const Row *row)
{
  bool standard = !*schema->domain;
  GString *text = g_string_new("<ir_version: 10, opset_import: [");
  if (standard)
    g_string_append_printf(text, "\"\" : %d", schema->since);
  else
    g_string_append_printf(text, "\"\" : 18, \"%s\" : %d", schema->domain, schema->since);
  g_string_append(text, "]> g ");
  for (const char *c = row->graph; *c; c++)
    if (*c == '$')
      g_string_append_printf(text, "%s%s%s", schema->domain, standard ? "" : ".", schema->name);
    else
      g_string_append_c(text, *c);
  return g_string_free(text, FALSE);
}

static void
test_rows(void)
{
  for (int op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema((OnnxlOp)op);
    const Row *row = row_of(schema);
    if (!row) {
      fprintf(stderr, "%s %s-%d: not covered\n", schema->domain, schema->name, schema->since);
      CU_FAIL("a row of the operator table is not covered");
      continue;
    }
    char *text = model_of(schema, row);
    TextShapes t = text_shapes_with(text, &(OnnxlInferOptions){ .strict = true });
    if (!t.inference || onnxl_diag_count(t.text.sink) > 0)
      fprintf(stderr, "%s-%d: %s\n%s\n", schema->name, schema->since,
              onnxl_diag_count(t.text.sink) ? onnxl_diag_get(t.text.sink, 0)->message : "?", text);
    CU_ASSERT_EQUAL(onnxl_diag_count(t.text.sink), 0);
    CU_ASSERT_PTR_NOT_NULL(t.inference);
    unsigned failures = CU_get_number_of_failures();
    if (t.inference)
      check_shape(&t, "y", row->expected);
    if (CU_get_number_of_failures() > failures)
      fprintf(stderr, "%s-%d: %s\n", schema->name, schema->since, text);
    text_shapes_clear(&t);
    g_free(text);
  }
}

UNIT_MAIN("shapes-ops", { "rows", test_rows })
