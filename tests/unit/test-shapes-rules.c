/* The rules of the operators: a table of small models, and Slice, Reshape and Split against plain counting. */
#include "shapes-text.h"
#include "shapes/reshape.h"
#include "shapes/slice.h"

typedef struct Case {
  int opset;
  const char *graph; /* inputs, initializers and nodes; the value of interest is y */
  const char *expected;
} Case;

static const Case cases[] = {
  /* element by element */
  { 18, "(float[N,1] a, float[M] b) => (y) { y = Add (a, b) }", "float[N,M]" },
  { 18, "(float[N] a) => (y) <int64[1] z = {0}, int64[1] t = {3}> { b = Slice (a, z, t)  y = Add (a, b) }",
    "float[N]" },
  { 6, "(float[N,3] a, float[3] b) => (y) { y = Add <broadcast = 1, axis = 1> (a, b) }", "float[N,3]" },
  { 18, "(bool[N] c, float[N] a, float b) => (y) { y = Where (c, a, b) }", "float[N]" },
  { 18, "(float[N] a, float[1,N] b) => (y) { y = Less (a, b) }", "bool[1,N]" },
  { 18, "(float[N] a) => (y) { y = Cast <to = 7> (a) }", "int64[N]" },
  { 1, "(float[N] a) => (y) { y = Cast <to = \"FLOAT16\"> (a) }", "float16[N]" },
  /* values of shapes */
  { 18, "(float[N,C] x) => (y) <int64[1] two = {2}> { s = Shape (x)  d = Mul (s, two)  y = ConstantOfShape (d) }",
    "float[2*N,2*C]" },
  { 18,
    "(float[N,C] x) => (y) { n = Size (x)  r = Constant <value_ints = [1]> ()  d = Reshape (n, r)\n"
    "  y = ConstantOfShape <value = int32[1] {3}> (d) }",
    "int32[C*N]" },
  { 18,
    "(float[N] x) => (y) <int64[1] two = {2}> { s = Shape (x)  i = Cast <to = 6> (s)  t = Cast <to = 6> (two)\n"
    "  d = Div (i, t)  e = Cast <to = 7> (d)  y = ConstantOfShape (e) }",
    "float[N//2]" },
  { 18, "(float[A,B,C] x) => (y) <int64[2] i = {-1, 0}> { s = Shape (x)  t = Gather (s, i)  y = ConstantOfShape (t) }",
    "float[C,A]" },
  { 18, "(float[A,B,C] x) => (y) { s = Shape (x)  p = ReduceProd <keepdims = 1> (s)  y = ConstantOfShape (p) }",
    "float[A*B*C]" },
  { 18,
    "(float[A,B] x) => (y) { s = Shape (x)  a, b = Split <num_outputs = 2> (s)  t = Concat <axis = 0> (b, a)\n"
    "  y = ConstantOfShape (t) }",
    "float[B,A]" },
  { 18,
    "(float[A,B] x) => (y) <int64[1] f = {7}, bool[2] c = {1, 0}> { s = Shape (x)  t = Where (c, s, f)\n"
    "  y = ConstantOfShape (t) }",
    "float[A,7]" },
  /* shapes */
  { 18, "(float[N,C,H] x) => (y) { y = Transpose (x) }", "float[H,C,N]" },
  { 18, "(float[N,C,H] x) => (y) { y = Transpose <perm = [1, 0, 2]> (x) }", "float[C,N,H]" },
  { 11, "(float[N,1,1] x) => (y) { y = Squeeze <axes = [1, -1]> (x) }", "float[N]" },
  { 13, "(float[N,1] x) => (y) { y = Squeeze (x) }", "float[]" },
  { 13, "(float[2,1] x) => (y) { y = Squeeze (x) }", "float[2]" },
  { 13, "(float[1,3,4] x, int64[1] axes) => (y) { y = Squeeze (x, axes) }", "float[3,4]" },
  { 13, "(float[1,3,1] x, int64[1] axes) => (y) { y = Squeeze (x, axes) }", "float[squeeze_y_0,squeeze_y_1]" },
  { 13, "(float[N] x, int64[2] axes) => (y) { y = Unsqueeze (x, axes) }",
    "float[unsqueeze_y_0,unsqueeze_y_1,unsqueeze_y_2]" },
  { 18, "(float[N,3] x) => (y) <int64[3] r = {2, 1, 3}> { y = Expand (x, r) }", "float[2,N,3]" },
  { 18, "(float[N,3] x) => (y) <int64[2] r = {2, 5}> { y = Tile (x, r) }", "float[2*N,15]" },
  { 1, "(float[N,3] x) => (y) { y = Reshape <shape = [0, 3, 1]> (x) }", "float[N,3,1]" },
  { 14, "(float[0,3] x) => (y) <int64[2] r = {3, 0}> { y = Reshape <allowzero = 1> (x, r) }", "float[3,0]" },
  { 18, "(float[N,C,H,W] x) => (y) { y = Flatten <axis = 2> (x) }", "float[C*N,H*W]" },
  { 13, "(float[N,8,H,W] x) => (y) { y = DepthToSpace <blocksize = 2> (x) }", "float[N,2,2*H,2*W]" },
  /* parts */
  { 1, "(float[N,9] x) => (y) { y = Slice <axes = [1], starts = [2], ends = [-1]> (x) }", "float[N,6]" },
  { 18, "(float[N,3] x, int64[K,2] i) => (y) { y = GatherND (x, i) }", "float[K]" },
  { 18, "(float[N,3] x, int64[K,3] i) => (y) { y = GatherElements (x, i) }", "float[K,3]" },
  { 18, "(float[N,3] x, int64[K] i) => (y) { y = Gather <axis = 1> (x, i) }", "float[N,K]" },
  { 18, "(float[N,3] a, float[M,3] b) => (y) { y = Concat <axis = 0> (a, b) }", "float[M+N,3]" },
  { 2, "(float[N,6] x) => (z, y) { z, y = Split <axis = 1, split = [2, 4]> (x) }", "float[N,4]" },
  { 18, "(float[N,3] x) => (y) <int64[2] p = {1, 2}, int64[1] a = {0}> { y = Pad (x, p, , a) }", "float[N+3,3]" },
  { 18, "(float[N] x) => (y) <int64[1] k = {4}> { v, y = TopK (x, k) }", "int64[4]" },
  { 18, "(float[N] x) => (y) { u, i, y, c = Unique (x) }", "int64[N]" },
  { 18, "(int64[N] x, int64[1] depth) => (y) <float[2] v = {0.0, 1.0}> { y = OneHot (x, depth, v) }",
    "float[N,onehot_y_1]" },
  { 1, "(float[N,C] x) => (y) <float two = {2.0}, float axis = {0.0}> { y = Tile (x, two, axis) }", "float[2*N,C]" },
  { 18, "(int64[N] x) => (y) <float depth = {5.0}, float[2] v = {0.0, 1.0}> { y = OneHot (x, depth, v) }",
    "float[N,5]" },
  { 20, "(float[N,2,K] t, int64[L] s) => (y) { y = AffineGrid (t, s) }", "float[N,affinegrid_y_1,affinegrid_y_2,2]" },
  { 20, "(float[N,F,2] x) => (y) { y = DFT <inverse = 1, onesided = 1> (x) }", "float[N,2*F-2,1]" },
  { 18, "(float[N,3,H] x, float[3,2,K] w) => (y) { y = ConvTranspose <strides = [2]> (x, w) }", "float[N,2,2*H+K-2]" },
  /* layers */
  { 18, "(float[N,6,H,W] x, float[4,3,5,5] w) => (y) { y = Conv <group = 2, pads = [2,2,2,2]> (x, w) }",
    "float[N,4,H,W]" },
  { 18, "(float[N,3,H] x, float[4,3,3] w) => (y) { y = Conv <auto_pad = \"SAME_UPPER\", strides = [2]> (x, w) }",
    "float[N,4,(1+H)//2]" },
  { 18, "(float[N,3,H] x, float[3,2,4] w) => (y) { y = ConvTranspose <strides = [2], pads = [1,1]> (x, w) }",
    "float[N,2,2*H]" },
  { 18, "(float[N,C,H,W] x) => (y) { y = GlobalAveragePool (x) }", "float[N,C,1,1]" },
  { 18, "(float[N,C,H] x) => (z, y) { z, y = MaxPool <kernel_shape = [2], strides = [2]> (x) }", "int64[N,C,H//2]" },
  { 9, "(float[N,3,H] x, float[3] s) => (y) { z, y = BatchNormalization (x, s, s, s, s) }", "float[3]" },
  { 18, "(float[N,T,C] x, float[C] s) => (y) { z, y = LayerNormalization (x, s) }", "float[N,T,1]" },
  { 13, "(float[N,C] x, int64[N] t) => (y) { y = SoftmaxCrossEntropyLoss <reduction = \"none\"> (x, t) }", "float[N]" },
  { 14,
    "(float[B,T,4] x, float[2,12,4] w, float[2,12,3] r) => (y)\n"
    "{ y = LSTM <hidden_size = 3, direction = \"bidirectional\", layout = 1> (x, w, r) }",
    "float[B,T,2,3]" },
  { 18, "(float[M,K] a, float[N,K] b, float[N] c) => (y) { y = Gemm <transB = 1> (a, b, c) }", "float[M,N]" },
  { 18, "(float[B,1,M,K] a, float[C,K,N] b) => (y) { y = MatMul (a, b) }", "float[B,C,M,N]" },
  { 18, "(float[K] a, float[B,K,N] b) => (y) { y = MatMul (a, b) }", "float[B,N]" },
  { 18, "(float[B,I,J] a, float[J,K] b) => (y) { y = Einsum <equation = \"...ij, jk -> ...ki\"> (a, b) }",
    "float[B,K,I]" },
  { 18, "(float[I,J] a) => (y) { y = Einsum <equation = \"ji\"> (a) }", "float[J,I]" },
  { 18, "(float[I,I] a) => (y) { y = Einsum <equation = \"ii\"> (a) }", "float" },
  /* reductions */
  { 11, "(float[N,C] x) => (y) { y = ReduceMean <axes = [1]> (x) }", "float[N,1]" },
  { 18, "(float[N,C] x) => (y) { y = ReduceMean <noop_with_empty_axes = 1> (x) }", "float[N,C]" },
  { 18, "(float[N,C] x) => (y) <int64[0] a = {}> { y = ReduceMean <keepdims = 0> (x, a) }", "float" },
  { 18, "(float[N,C] x) => (y) { y = ArgMax <axis = 1, keepdims = 0> (x) }", "int64[N]" },
  /* made from attributes */
  { 18, "() => (y) { y = Constant <value_strings = [\"a\", \"b\"]> () }", "string[2]" },
  { 18, "(float[N,C] x) => (y) { y = EyeLike <dtype = 11> (x) }", "double[N,C]" },
  { 18, "() => (y) { y = RandomNormal <shape = [2, 3], dtype = 11> () }", "double[2,3]" },
  { 18, "() => (y) <float a = {1.0}, float b = {8.0}, float c = {2.0}> { y = Range (a, b, c) }", "float[4]" },
  { 18, "() => (y) <int64 a = {9}, int64 b = {0}, int64 c = {-2}> { y = Range (a, b, c) }", "int64[5]" },
  /* quantization */
  { 13, "(float[N] x, float s, int8 z) => (y) { y = QuantizeLinear (x, s, z) }", "int8[N]" },
  { 21, "(float[N] x, float s) => (y) { y = QuantizeLinear <output_dtype = 5> (x, s) }", "int16[N]" },
  { 13, "(uint8[N,4] a, int8[4,M] b) => (y) { y = MatMulInteger (a, b) }", "int32[N,M]" },
  { 18, "(float[N] x) => (y) { q, s, y = DynamicQuantizeLinear (x) }", "uint8" },
  /* images and signals */
  { 18, "(float[1,C,H,W] x) => (y) <int64[2] s = {7, 8}> { y = Resize <axes = [2, 3]> (x, , , s) }", "float[1,C,7,8]" },
  { 9, "(float[N,C,H,W] x) => (y) <float[4] s = {1.0, 1.0, 2.0, 0.5}> { y = Upsample (x, s) }", "float[N,C,2*H,W//2]" },
  { 16, "(float[N,C,H,W] x, float[N,P,Q,2] g) => (y) { y = GridSample (x, g) }", "float[N,C,P,Q]" },
  { 16,
    "(float[N,C,H,W] x, float[R,4] r, int64[R] b) => (y) { y = RoiAlign <output_height = 3, output_width = 2> (x, r, "
    "b) }",
    "float[R,C,3,2]" },
  { 17, "(float[N,L,1] x) => (y) { y = DFT <onesided = 1> (x) }", "float[N,L//2+1,2]" },
  { 17, "(float[B,L,1] x) => (y) <int64 s = {4}, int64 n = {16}> { y = STFT (x, s, , n) }", "float[B,L//4-3,9,2]" },
  /* sequences and optionals */
  { 18, "(float[N,2] a, float[M,2] b) => (y) { y = SequenceConstruct (a, b) }", "seq(float[?,2])" },
  { 18, "(float[N,2] a) => (y) { e = SequenceEmpty ()  y = SequenceInsert (e, a) }", "seq(float[N,2])" },
  { 18, "(float[N,2] a) => (y) { s = SequenceConstruct (a, a)  y = ConcatFromSequence <axis = 0> (s) }",
    "float[2*N,2]" },
  { 18, "(float[N,2] a) => (y) { o = Optional (a)  y = OptionalGetElement (o) }", "float[N,2]" },
  { 18, "(float[6,2] a) => (y) { y = SplitToSequence <keepdims = 0> (a) }", "seq(float[2])" },
  /* attention */
  { 23,
    "(float[B,T,12] q, float[B,S,6] k, float[B,S,8] v) => (y)\n"
    "{ y = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, v) }",
    "float[B,T,16]" },
  { 23,
    "(float[B,4,T,8] q, float[B,4,S,8] k, float[B,4,S,5] v, float[B,4,P,8] pk, float[B,4,P,5] pv) => (y)\n"
    "{ z, y = Attention (q, k, v, , pk, pv) }",
    "float[B,4,P+S,8]" },
};

/* An SVM's scores are those of classes, or of pairs of them when there are support vectors and no probabilities. */
static void
test_svm_scores(void)
{
  static const struct {
    const char *attributes, *expected;
  } svms[] = {
    { "classlabels_ints = [1, 2, 3, 4]", "float[N,4]" },
    { "classlabels_ints = [1, 2, 3, 4], vectors_per_class = [1, 1, 1, 1]", "float[N,6]" },
    { "classlabels_ints = [1, 2], vectors_per_class = [1, 1]", "float[N,2]" },
    { "classlabels_ints = [1, 2, 3, 4], vectors_per_class = [1, 1, 1, 1], prob_a = [1.0], prob_b = [1.0]",
      "float[N,4]" },
  };
  for (size_t i = 0; i < G_N_ELEMENTS(svms); i++) {
    char *text =
      g_strdup_printf("<ir_version: 10, opset_import: [\"\" : 18, \"ai.onnx.ml\" : 3]> g (float[N,C] x) => (l, y)\n"
                      "{ l, y = ai.onnx.ml.SVMClassifier <%s> (x) }",
                      svms[i].attributes);
    TextShapes t = text_shapes(text);
    check_shape(&t, "y", svms[i].expected);
    text_shapes_clear(&t);
    g_free(text);
  }
}

static void
test_table(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    char *text = g_strdup_printf("<ir_version: 10, opset_import: [\"\" : %d]> g %s", cases[i].opset, cases[i].graph);
    TextShapes t = text_shapes(text);
    if (!t.inference)
      fprintf(stderr, "%s: %s\n", text, onnxl_diag_count(t.text.sink) ? onnxl_diag_get(t.text.sink, 0)->message : "?");
    check_shape(&t, "y", cases[i].expected);
    CU_ASSERT_EQUAL(onnxl_diag_count(t.text.sink), 0);
    text_shapes_clear(&t);
    g_free(text);
  }
}

static const Case wrong[] = {
  { 18, "(float[2,3] a, float[4,3] b) => (y) { y = Add (a, b) }", "do not broadcast" },
  { 18, "(float[2,3] a, float[4,5] b) => (y) { y = Concat <axis = 0> (a, b) }", "3 and 5" },
  { 18, "(float[2,3] a) => (y) <int64[2] r = {4, -1}> { y = Reshape (a, r) }", "[2,3] cannot become [4,-1]" },
  { 18, "(float[2,3] a) => (y) <int64[2] r = {-1, -1}> { y = Reshape (a, r) }", "[2,3] cannot become [-1,-1]" },
  { 18, "(float[N,3] a) => (y) <int64[2] r = {-1, -1}> { y = Reshape (a, r) }", "twice" },
  { 18, "(float[N,3] a) => (y) <int64[2] r = {-1, 2}, int64[3] s = {0, 0, 0}> { y = Reshape (a, s) }", "entry 2" },
  { 18, "(float[2,3] a) => (y) { y = Transpose <perm = [0, 0]> (a) }", "twice" },
  { 18, "(float[2,3] a) => (y) { y = Softmax <axis = 1> (a)  z = ArgMax <axis = 5> (a) }", "out of range" },
  { 18, "(float[2,3,4] a, float[5,4,3] w) => (y) { y = Conv (a, w) }", "channels" },
  { 18, "(float[1,1,2] a) => (y) { y = MaxPool <kernel_shape = [4]> (a) }", "does not fit" },
  { 11, "(float[2,3] a) => (y) { y = Squeeze <axes = [0]> (a) }", "is not 1" },
  { 18, "(float[4] a) => (y, z) <int64[2] s = {3, 2}> { y, z = Split (a, s) }", "5 and 4" },
  /* element by element */
  { 6, "(float[2,3] a, float[3] b) => (y) { y = Add (a, b) }", "[3] where [2,3] is needed" },
  { 6, "(float[2,3] a, float[2] b) => (y) { y = Add <broadcast = 1> (a, b) }", "do not broadcast at axis 1" },
  { 18, "(float[2,1] a, float[2,3] s) => (y) { y = PRelu (a, s) }", "[2,3], which does not broadcast to [2,1]" },
  { 18, "(float[N] a, float[2] l) => (y) { y = Clip (a, l) }", "one element" },
  { 11, "(float[2,3] a) => (y) { y = Softmax <axis = 3> (a) }", "out of range" },
  { 26, "(float[2] a) => (y) { y = BitCast <to = 11> (a) }", "different sizes" },
  /* parts */
  { 18, "(float[2,3] a, int64[1,2] i, float[1,3] u) => (y) { y = ScatterElements (a, i, u) }", "[1,3] where [1,2]" },
  { 18, "(float[2,3] a, int64[K,1] i, float[K,2] u) => (y) { y = ScatterND (a, i, u) }", "[K,2] where [K,3]" },
  { 18, "(float[2,3] a, int64[2] l) => (y) { y = ReverseSequence (a, l) }", "input 1 has shape [2] where 3" },
  { 24, "(float[2,8,3] c, float[2,9,3] u) => (y) { y = TensorScatter (c, u) }", "do not fit" },
  { 18, "(float[2] a, int64[3,2] i) => (y) { y = GatherElements (a, i) }", "different ranks" },
  { 18, "(float[2,3] a) => (y) <int64[2] z = {0, 0}> { y = Slice (a, z, z, z) }", "sliced twice" },
  { 18, "(float[2] a) => (y) <int64[2] p = {-3, 0}> { y = Pad (a, p) }", "would have shape [-1]" },
  { 18, "(int64[N] i, float[3] v) => (y) <int64 d = {4}> { y = OneHot (i, d, v) }", "2 elements" },
  { 18, "(float[0] a) => (y) { y = ArgMax (a) }", "is empty" },
  { 18, "(float[2,3] a) => (y) <int64 two = {2}> { y = CumSum (a, two) }", "out of range" },
  { 18, "(float[3] a) => (y) { y = Trilu (a) }", "[3] where rank 2 or more" },
  { 18, "(float[3] a) => (y) { y = EyeLike (a) }", "[3] where rank 2" },
  { 18, "(float[N] a) => (y) { y = RandomNormal <shape = [2, -1]> () }", "[2,-1]" },
  /* layers */
  { 18, "(float[3] a) => (y) { y = GlobalMaxPool (a) }", "rank 2 or more" },
  { 18, "(float[1,2,5] x, float[4,2,3] w, float[3] b) => (y) { y = Conv (x, w, b) }", "[3] where 4 elements" },
  { 18, "(float[1,4,5] x, float[3,2,3] w) => (y) { y = Conv <group = 2> (x, w) }", "2 groups" },
  { 18, "(float[N,4,5] x, float[3] s) => (y) { y = InstanceNormalization (x, s, s) }", "[3] where [4]" },
  { 18, "(float[N,4,5] x, float[3] s) => (y) { y = GroupNormalization <num_groups = 3> (x, s, s) }", "3 groups" },
  { 18, "(float[N,4] x, float[3] s) => (y) { y = LayerNormalization (x, s) }", "does not broadcast to [N,4]" },
  { 18, "(float[N,4] x) => (y) { y = MeanVarianceNormalization (x) }", "axis 2 is out of range" },
  { 18, "(float[N] x) => (y) { y = LRN <size = 1> (x) }", "rank 2 or more" },
  { 18, "(float[N,5] x, int64[N,2] t) => (y) { y = NegativeLogLikelihoodLoss (x, t) }", "[N,2] where [N]" },
  { 18, "(float[T,B,4] x, float[1,8,4] w, float[1,8,2] r, float[1,8] b) => (y) { y = LSTM (x, w, r, b) }",
    "[1,8] where [1,16]" },
  { 18, "(float[1,4,9] x) => (y) <int64[2] i = {4, 4}, int64[2] b = {2, 3}> { y = Col2Im (x, i, b) }", "blocks of 6" },
  { 23, "(float[1,2,3,8] q, float[2,2,3,8] k) => (y) { y = Attention (q, k, k) }", "batches" },
  { 23, "(float[1,2,7] x, float[1,2,3] c) => (y) { y = RotaryEmbedding <num_heads = 1> (x, c, c) }", "in pairs" },
  { 21, "(float[2,3] x, float[2] s) => (y) { y = QuantizeLinear (x, s) }", "[2] where [3]" },
  { 18, "(uint8[2,3] a, uint8[3,4] b, uint8[3] z) => (y) { y = MatMulInteger (a, b, z) }", "[3] does not fit" },
  /* pictures and signals */
  { 18, "(float[1,2,4,4] x, float[1,3,3,3] g) => (y) { y = GridSample (x, g) }", "do not fit" },
  { 20, "(float[1,2,4] t) => (y) <int64[4] s = {1, 2, 4, 4}> { y = AffineGrid (t, s) }", "[1,2,4] where [1,2,3]" },
  { 18, "(float[1,2,4] b, float[1,1,3] s) => (y) { y = NonMaxSuppression (b, s) }", "[1,1,3] where" },
  { 18, "(float[1,2,4,4] x) => (y) <float[4] s = {1, 1, 2, -1}> { y = Resize (x, , s) }", "a scale is -1" },
  { 18, "(float[1,0,4] x) => (y) <int64[3] s = {1, 2, 4}> { y = Resize (x, , , s) }", "cannot get the sizes [1,2,4]" },
  { 18, "(float[N,8] x) => (y) { y = DFT (x) }", "no real or complex numbers" },
  { 18, "(float[1,8,1] x) => (y) <int64 s = {2}, int64 n = {9}> { y = STFT (x, s, , n) }", "longer than the signal" },
  /* control */
  { 18,
    "(bool[2] c) => (y) { y = If <then_branch = t () => (float[1] a) { a = Constant <value_floats = [1.0]> () },\n"
    "else_branch = e () => (float[1] b) { b = Constant <value_floats = [1.0]> () }> (c) }",
    "one element" },
};

static void
test_wrong(void)
{
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    char *text = g_strdup_printf("<ir_version: 10, opset_import: [\"\" : %d]> g %s", wrong[i].opset, wrong[i].graph);
    TextShapes t = text_shapes(text);
    if (t.inference)
      fprintf(stderr, "%s\n is taken\n", text);
    CU_ASSERT_PTR_NULL(t.inference);
    CU_ASSERT_EQUAL(onnxl_diag_count(t.text.sink), 1);
    const char *message = onnxl_diag_count(t.text.sink) > 0 ? onnxl_diag_get(t.text.sink, 0)->message : "";
    if (!strstr(message, wrong[i].expected))
      fprintf(stderr, "%s\n%s\nis not about: %s\n", text, message, wrong[i].expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, wrong[i].expected));
    text_shapes_clear(&t);
    g_free(text);
  }
}

/* Every operator, with no inputs, with too many of each kind, and without attributes: nothing is read that is not
 * there. */
static void
test_wrong_inputs(void)
{
  static const char *const inputs[] = { "",      "q, q, q, q", "o, o, o, o", "x, x, x, x, x, x",
                                        ", , x", "i, i, i, i", "z, z, z, z" };

  for (int op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema((OnnxlOp)op);
    for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++) {
      char *text = g_strdup_printf(
        "<ir_version: 10, opset_import: [\"\" : 18, \"%s\" : %d]> g (float[2,3] x, seq(float[N]) q0,\n"
        "optional(float[2]) o) => (y, w) <int64[3] i = {1, 2, 3}, float z0 = {1.0}>\n"
        "{ q = SequenceConstruct (x, x)  z = SequenceEmpty ()  y, , w = %s%s%s (%s) }",
        schema->domain, schema->since, schema->domain, *schema->domain ? "." : "", schema->name, inputs[i]);
      if (!*schema->domain) {
        g_free(text);
        text = g_strdup_printf(
          "<ir_version: 10, opset_import: [\"\" : %d]> g (float[2,3] x, seq(float[N]) q, optional(float[2]) o,\n"
          "seq(float[]) z) => (y, w) <int64[3] i = {1, 2, 3}> { y, , w = %s (%s) }",
          schema->since, schema->name, inputs[i]);
      }
      TextShapes t = text_shapes(text);
      CU_ASSERT_TRUE(t.inference != NULL || onnxl_diag_count(t.text.sink) > 0);
      text_shapes_clear(&t);
      g_free(text);
    }
  }
}

/* --- against counting --------------------------------------------------------------------------------------------- */

static OnnxlExpr
dim_of(const TextShapes *t, const char *name, uint32_t axis)
{
  CU_ASSERT_PTR_NOT_NULL_FATAL(t->inference);
  const OnnxlInfo *info = &t->inference->values[value_named(t->inference, name)];
  CU_ASSERT_TRUE_FATAL(info->has_rank && axis < info->rank);
  return info->dims[axis];
}

static int64_t
clamp(int64_t v, int64_t min, int64_t max)
{
  return v < min ? min : v > max ? max : v;
}

static int64_t
count_slice(int64_t d, int64_t s, int64_t e, int64_t step)
{
  int64_t count = 0;
  s += s < 0 ? d : 0;
  e += e < 0 ? d : 0;
  if (step > 0)
    for (s = clamp(s, 0, d), e = clamp(e, 0, d); s < e; s += step)
      count++;
  else if (d > 0)
    for (s = clamp(s, 0, d - 1), e = clamp(e, -1, d - 1); s > e; s += step)
      count++;
  return count;
}

static void
test_slice(void)
{
  static const int64_t ends[] = { INT64_MIN, -4, -2, -1, 0, 1, 3, INT64_MAX };
  static const int64_t steps[] = { -3, -1, 1, 2 };
  unsigned tried = 0;

  for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
    for (size_t k = 0; k < G_N_ELEMENTS(ends); k++)
      for (size_t j = 0; j < G_N_ELEMENTS(steps); j++) {
        char *text = g_strdup_printf(
          "<ir_version: 8, opset_import: [\"\" : 13]> g (float[A] x) => (float[] y) <int64[1] s = {%" G_GINT64_FORMAT
          "}, int64[1] e = {%" G_GINT64_FORMAT "}, int64[1] a = {0}, int64[1] p = {%" G_GINT64_FORMAT
          "}> { y = Slice (x, s, e, a, p) }",
          ends[i], ends[k], steps[j]);
        TextShapes t = text_shapes(text);
        OnnxlExpr y = dim_of(&t, "y", 0);
        CU_ASSERT_EQUAL(t.inference->n_constraints, 0);
        for (int64_t d = 0; d < 7; d++) {
          int64_t value, first, count, expected = count_slice(d, ends[i], ends[k], steps[j]);
          onnxl_slice_range(d, ends[i], ends[k], steps[j], &first, &count);
          CU_ASSERT_EQUAL(count, expected);
          CU_ASSERT_TRUE(count == 0 || (first >= 0 && first < d));
          CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(y, letter_value, &d, &value, NULL));
          if (value != expected)
            fprintf(stderr, "%s\n at %d: %d\n", text, (int)d, (int)value);
          CU_ASSERT_EQUAL(value, expected);
          tried++;
        }
        text_shapes_clear(&t);
        g_free(text);
      }
  CU_ASSERT_EQUAL(tried, 8 * 8 * 4 * 7);
}

/* Bounds that are computed from sizes: of either sign. */
static void
test_slice_symbolic(void)
{
  static const char text[] = "<ir_version: 8, opset_import: [\"\" : 13]> g (float[A] x, float[B] k) => (float[] y)\n"
                             "<int64[1] three = {3}, int64[1] zero = {0}> {\n"
                             "  n = Shape (k)  e = Sub (n, three)  y = Slice (x, zero, e)  z = Slice (x, e, n) }";
  TextShapes t = text_shapes(text);
  OnnxlExpr y = dim_of(&t, "y", 0), z = dim_of(&t, "z", 0);

  for (int64_t a = 0; a < 7; a++)
    for (int64_t b = 0; b < 9; b++) {
      int64_t value, values[] = { a, b };
      CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(y, letter_value, values, &value, NULL));
      CU_ASSERT_EQUAL(value, count_slice(a, 0, b - 3, 1));
      CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(z, letter_value, values, &value, NULL));
      CU_ASSERT_EQUAL(value, count_slice(a, b - 3, b, 1));
    }
  text_shapes_clear(&t);
}

/* What a Reshape gives at run time. False: it fails. */
static bool
run_reshape(const int64_t *dims, const int64_t *entries, int64_t *ret_dims)
{
  int64_t count = dims[0] * dims[1], known = 1;
  int rest = -1;
  for (int i = 0; i < 2; i++) {
    ret_dims[i] = entries[i] == 0 ? dims[i] : entries[i];
    if (entries[i] == -1)
      rest = i;
    else
      known *= ret_dims[i];
  }
  if (rest < 0)
    return known == count;
  if (known == 0 || count % known != 0)
    return false;
  ret_dims[rest] = count / known;
  return true;
}

/* Entries that are 0 in a run copy: the expressions must say so, or the constraints rule the run out. */
static void
test_reshape(void)
{
  static const char *const targets[] = { "p, q", "q, p", "p, r", "m, q", "q, m", "pq, m", "pq, one", "m, pq" };
  unsigned tried = 0, excluded = 0;

  for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
    char *text =
      g_strdup_printf("<ir_version: 8, opset_import: [\"\" : 13]> g (float[A,B] x, float[C] k) => (float[] y)\n"
                      "<int64[1] m = {-1}, int64[1] one = {1}, int64[1] i0 = {0}, int64[1] i1 = {1}> {\n"
                      "  s = Shape (x)  p = Gather (s, i0)  q = Gather (s, i1)  r = Shape (k)  pq = Mul (p, q)\n"
                      "  t = Concat <axis = 0> (%s)  y = Reshape (x, t) }",
                      targets[i]);
    TextShapes t = text_shapes(text);
    OnnxlExpr y[] = { dim_of(&t, "y", 0), dim_of(&t, "y", 1) };
    for (int code = 0; code < 64; code++) {
      int64_t values[] = { code % 4, code / 4 % 4, code / 16 }, entries[2], dims[2], found[2];
      char **names = g_strsplit(targets[i], ", ", 2);
      for (int e = 0; e < 2; e++)
        entries[e] = strcmp(names[e], "p") == 0     ? values[0]
                     : strcmp(names[e], "q") == 0   ? values[1]
                     : strcmp(names[e], "r") == 0   ? values[2]
                     : strcmp(names[e], "pq") == 0  ? values[0] * values[1]
                     : strcmp(names[e], "one") == 0 ? 1
                                                    : -1;
      g_strfreev(names);
      bool fits = run_reshape(values, entries, dims);
      CU_ASSERT_EQUAL(onnxl_reshape_dims(values, 2, entries, 2, false, found), fits);
      if (!fits)
        continue;
      CU_ASSERT(found[0] == dims[0] && found[1] == dims[1]);
      bool assumed = true, equal = true;
      for (size_t c = 0; c < t.inference->n_constraints; c++) {
        int64_t l, r;
        bool equality = t.inference->constraints[c].relation == ONNXL_REL_EQ;
        CU_ASSERT_TRUE_FATAL(equality || t.inference->constraints[c].relation == ONNXL_REL_GE);
        CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(t.inference->constraints[c].lhs, letter_value, values, &l, NULL));
        CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(t.inference->constraints[c].rhs, letter_value, values, &r, NULL));
        assumed = assumed && (equality || l >= r);
        equal = equal && (!equality || l == r);
      }
      CU_ASSERT_TRUE(equal || !assumed); /* what must be equal is, in each run that fits */
      tried++;
      excluded += !assumed;
      for (int e = 0; e < 2 && assumed; e++) {
        CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(y[e], letter_value, values, &found[e], NULL));
        CU_ASSERT_EQUAL(found[e], dims[e]);
      }
    }
    text_shapes_clear(&t);
    g_free(text);
  }
  CU_ASSERT_TRUE(tried > 100);
  CU_ASSERT_TRUE(excluded * 5 < tried);
}

static void
test_split(void)
{
  for (int parts = 2; parts < 6; parts++) {
    char *text = g_strdup_printf("<ir_version: 8, opset_import: [\"\" : 18]> g (float[A] x) => (a)\n"
                                 "{ a, b%s = Split <num_outputs = %d> (x) }",
                                 parts == 2   ? ""
                                 : parts == 3 ? ", c"
                                 : parts == 4 ? ", c, d"
                                              : ", c, d, e",
                                 parts);
    TextShapes t = text_shapes(text);
    for (int64_t d = 0; d < 12; d++) {
      int64_t chunk = (d + parts - 1) / parts, left = d;
      for (int i = 0; i < parts; i++) {
        char name[] = { (char)('a' + i), 0 };
        int64_t value, expected = MIN(chunk, left);
        CU_ASSERT_TRUE_FATAL(onnxl_expr_evaluate(dim_of(&t, name, 0), letter_value, &d, &value, NULL));
        CU_ASSERT_EQUAL(value, expected);
        left -= expected;
      }
    }
    text_shapes_clear(&t);
    g_free(text);
  }
}

UNIT_MAIN("shapes-rules", { "table", test_table }, { "svm scores", test_svm_scores }, { "wrong", test_wrong },
          { "wrong inputs", test_wrong_inputs }, { "slice", test_slice }, { "slice by sizes", test_slice_symbolic },
          { "reshape", test_reshape }, { "split", test_split })
