#include "memory/macs.h"

#include "memory/macs-internal.h"
#include "model-text.h"
#include "support/error.h"

/* MACs and operations of the first node. */
static void
check(const char *text, const char *macs, const char *flops)
{
  TextModel t = text_model(text);
  OnnxlInference *inference = onnxl_infer(t.model, &(OnnxlInferOptions){ 0 }, t.model->arena, t.sink, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(inference);
  const OnnxlCosts *costs = onnxl_costs_new(inference, t.model->arena, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(costs);
  const char *got[] = { onnxl_expr_text(inference->pool, costs->nodes[0].macs).data,
                        onnxl_expr_text(inference->pool, costs->nodes[0].flops).data };

  if (strcmp(got[0], macs) != 0 || strcmp(got[1], flops) != 0)
    printf("\n%s\n  %s, %s\nis not\n  %s, %s\n", text, got[0], got[1], macs, flops);
  CU_ASSERT_STRING_EQUAL(got[0], macs);
  CU_ASSERT_STRING_EQUAL(got[1], flops);
  onnxl_inference_free(inference);
  text_model_clear(&t);
}

#define HEAD "<ir_version: 8, opset_import: [\"\": 18, \"ai.onnx.ml\": 3, \"com.microsoft\": 1]> "
#define NEW "<ir_version: 11, opset_import: [\"\": 27]> "

static void
test_convolutions(void)
{
  check(HEAD "g (float[N,4,8,8] x, float[6,2,3,3] w, float[6] b) => (float[] y) { y = Conv <group = 2> (x, w, b) }",
        "3888*N", "7776*N");
  check(HEAD "g (float[N,4,8,8] x, float[4,3,2,2] w) => (float[] y) { y = ConvTranspose <strides = [2, 2]> (x, w) }",
        "3072*N", "6144*N");
  check(HEAD
        "g (uint8[N,1,3] x, float s, uint8 z, uint8[1,1,2] w, float t, uint8 v, float u, uint8 o) => (uint8[] y) { y = "
        "QLinearConv (x, s, z, w, t, v, u, o) }",
        "4*N", "8*N");
  /* Weights of unknown rank. */
  check(HEAD "g (float[N,4,8,8] x, float[] w) => (float[] y) { y = Conv (x, w) }", "?", "?");
}

static void
test_products(void)
{
  check(HEAD "g (float[B,M,K] a, float[K,N] b) => (float[] y) { y = MatMul (a, b) }", "B*K*M*N", "2*B*K*M*N");
  check(HEAD "g (float[K] a, float[K] b) => (float[] y) { y = MatMul (a, b) }", "K", "2*K");
  check(HEAD "g (float[K,M] a, float[K,N] b) => (float[] y) { y = Gemm <transA = 1> (a, b) }", "K*M*N", "2*K*M*N");
  check(HEAD "g (float[M,K] a, float[N,K] b) => (float[] y) { y = Gemm <transB = 1> (a, b) }", "K*M*N", "2*K*M*N");
  check(HEAD "g (int8[M,3] a, int8[3,2] b) => (int32[] y) { y = MatMulInteger (a, b) }", "6*M", "12*M");
}

static void
test_einsum(void)
{
  check(HEAD "g (float[B,I,K] a, float[B,K,J] b) => (float[] y) { y = Einsum <equation = \"bik,bkj->bij\"> (a, b) }",
        "B*I*J*K", "2*B*I*J*K");
  /* Without an arrow the letters that stand once are kept. */
  check(HEAD "g (float[I,K] a, float[K,J] b) => (float[] y) { y = Einsum <equation = \"ik, kj\"> (a, b) }", "I*J*K",
        "2*I*J*K");
  check(HEAD "g (float[B,I,K] a, float[K,J] b) => (float[] y) { y = Einsum <equation = \"...ik,kj->...ij\"> (a, b) }",
        "B*I*J*K", "2*B*I*J*K");
  /* Three operands are two products for each combination; one is only summed. */
  check(HEAD "g (float[I] a, float[I] b, float[I] c) => (float[] y) { y = Einsum <equation = \"i,i,i->\"> (a, b, c) }",
        "2*I", "4*I");
  check(HEAD "g (float[I,J] a) => (float[] y) { y = Einsum <equation = \"ij->j\"> (a) }", "0", "I*J");
  check(HEAD "g (float[I,J] a, float[1,J] b) => (float[] y) { y = Einsum <equation = \"ij,ij->j\"> (a, b) }", "I*J",
        "2*I*J");
}

static void
test_attention(void)
{
  check(NEW "g (float[B,2,L,4] q, float[B,2,S,4] k, float[B,2,S,6] v) => (float[] y) { y = Attention (q, k, v) }",
        "20*B*L*S", "50*B*L*S");
  check(NEW "g (float[B,L,8] q, float[B,S,8] k, float[B,S,8] v) => (float[] y) { y = Attention <q_num_heads = 2, "
            "kv_num_heads = 2> (q, k, v) }",
        "16*B*L*S", "42*B*L*S");
  /* Keys that are there already count. */
  check(NEW
        "g (float[1,2,1,4] q, float[1,2,1,4] k, float[1,2,1,4] v, float[1,2,P,4] pk, float[1,2,P,4] pv) => (float[] y, "
        "float[] a, float[] b) { y, a, b = Attention (q, k, v, , pk, pv) }",
        "16*P+16", "42*P+42");
  check(HEAD "g (float[B,L,8] x, float[8,24] w) => (float[] y) { y = com.microsoft.Attention <num_heads = 2> (x, w) }",
        "16*B*L*L+192*B*L", "384*B*L+42*B*L*L");
}

static void
test_recurrent(void)
{
  check(HEAD
        "g (float[T,B,3] x, float[1,20,3] w, float[1,20,5] r) => (float[] y) { y = LSTM <hidden_size = 5> (x, w, r) }",
        "160*B*T", "385*B*T");
  check(HEAD
        "g (float[T,B,3] x, float[2,15,3] w, float[2,15,5] r) => (float[] y) { y = GRU <hidden_size = 5, direction = "
        "\"bidirectional\"> (x, w, r) }",
        "240*B*T", "590*B*T");
  check(HEAD
        "g (float[B,T,3] x, float[1,5,3] w, float[1,5,5] r) => (float[] y) { y = RNN <hidden_size = 5, layout = 1> (x, "
        "w, r) }",
        "40*B*T", "90*B*T");
}

static void
test_others(void)
{
  check(HEAD "g (float[N,4] x) => (float[] y) { y = Sigmoid (x) }", "0", "4*N");
  check(HEAD "g (float[N] a, float[N] b, float[N] c) => (float[] y) { y = Sum (a, b, c) }", "0", "2*N");
  check(HEAD "g (float[N] a, float[N] b) => (float[] y) { y = Mean (a, b) }", "0", "2*N");
  check(HEAD "g (float[N,3] a) => (float[] y) { y = ReduceMax (a) }", "0", "3*N");
  check(HEAD "g (float[N,1,8,8] x) => (float[] y) { y = AveragePool <kernel_shape = [2, 3], strides = [2, 2]> (x) }",
        "0", "72*N");
  check(HEAD "g (float[N,1,8,8] x) => (float[] y) { y = GlobalAveragePool (x) }", "0", "64*N");
  check(HEAD "g (float[N,5] x) => (float[] y) { y = Transpose (x) }", "0", "0");
  check(HEAD "g (float[N,2,2] x) => (float[] y) { y = LRN <size = 5> (x) }", "0", "52*N");
  check(HEAD "g (float[N,3] x) => (float[] y) { y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0, 3.0]> (x) }",
        "3*N", "6*N");
  check(HEAD "g (float[N,3] x) => (float[] y) { y = other.domain.Relu (x) }", "?", "?");
  check(NEW
        "g (float[N,1,4,4] x) => (float[] y) <float[4] s = {1, 1, 2, 2}> { y = Resize <mode = \"linear\"> (x, , s) }",
        "0", "512*N");
}

/* As defined: each part of a number that comes out sums over the whole length. */
static void
test_transforms(void)
{
  /* 5 frequencies of 8 real numbers: 10 parts of 8 products. */
  check(HEAD "g (float[N,8,1] x) => (float[] y) { y = DFT <axis = 1, onesided = 1> (x) }", "80*N", "160*N");
  /* 8 complex numbers from 8: 16 parts of 16 products. */
  check(HEAD "g (float[N,8,2] x) => (float[] y) { y = DFT <axis = 1> (x) }", "256*N", "512*N");
  check(HEAD "g (float[N,6,2] x) => (float[] y) <int64 n = {8}> { y = DFT <axis = 1, inverse = 1> (x, n) }", "256*N",
        "512*N");
  /* 8 real numbers from 5 frequencies, which stand for 8. */
  check(NEW "g (float[N,5,2] x) => (float[] y) <int64 n = {8}> { y = DFT <onesided = 1, inverse = 1> (x, n) }", "128*N",
        "256*N");
  /* An axis that only the run shows. */
  check(NEW "g (float[N,8,2] x, int64 a) => (float[] y) { y = DFT (x, , a) }", "?", "?");
  /* 3 frames of 8, 5 frequencies each: 3*10 parts of 8 products, and 24 products with the window. */
  check(HEAD "g (float[N,16,1] x, float[8] w) => (float[] y) <int64 s = {4}> { y = STFT (x, s, w) }", "240*N", "504*N");
  check(HEAD
        "g (float[N,16,2] x) => (float[] y) <int64 s = {4}, int64 l = {8}> { y = STFT <onesided = 0> (x, s, , l) }",
        "768*N", "1536*N");
}

static void
test_regions(void)
{
  check(HEAD "g (float[1,3,8,8] x, float[R,4] r, int64[R] b) => (float[] y) { y = RoiAlign <output_height = 2, "
             "output_width = 4, sampling_ratio = 2> (x, r, b) }",
        "0", "864*R");
  /* A sample for each pixel: 4x2 of a bin. */
  check(HEAD "g (float[1,3,8,8] x, float[R,4] r, int64[R] b) => (float[] y) { y = RoiAlign <output_height = 2, "
             "output_width = 4> (x, r, b) }",
        "0", "1728*R");
  check(HEAD "g (float[1,3,8,8] x, float[R,5] r) => (float[] y) { y = MaxRoiPool <pooled_shape = [2, 4]> (x, r) }", "0",
        "360*R");
  /* 2*3 classes of B boxes: the scores, and at most 4 chosen ones for each. */
  check(HEAD
        "g (float[2,100,4] b, float[2,3,100] s) => (int64[] y) <int64 m = {4}> { y = NonMaxSuppression (b, s, m) }",
        "0", "46200");
  check(HEAD "g (float[2,B,4] b, float[2,3,B] s) => (int64[] y) { y = NonMaxSuppression (b, s) }", "0", "6*B");
  check(HEAD "g (float[2,B,4] b, float[2,3,B] s, int64 m) => (int64[] y) { y = NonMaxSuppression (b, s, m) }", "0",
        "114*B*B+6*B");
}

#define TREES                                                                                        \
  "nodes_treeids = [0,0,0,0,0,1], nodes_nodeids = [0,1,2,3,4,0], nodes_featureids = [0,0,1,0,0,0], " \
  "nodes_modes = [\"BRANCH_LEQ\",\"LEAF\",\"BRANCH_LEQ\",\"LEAF\",\"LEAF\",\"LEAF\"], "              \
  "nodes_values = [0.5,0.0,0.5,0.0,0.0,0.0], nodes_truenodeids = [1,0,3,0,0,0], nodes_falsenodeids = "

static void
test_trees(void)
{
  /* Two comparisons and two weights of the first tree, one weight of the second. */
  check(HEAD "g (float[N,2] x) => (float[] y) { y = ai.onnx.ml.TreeEnsembleRegressor <" TREES
             "[2,0,4,0,0,0], n_targets = 2, target_treeids = [0,0,0,0,1], target_nodeids = [1,3,4,4,0], target_ids = "
             "[0,0,0,1,0], target_weights = [1.0,2.0,3.0,4.0,5.0]> (x) }",
        "0", "5*N");
  /* Nodes that go round in a circle. */
  check(HEAD "g (float[N,2] x) => (float[] y) { y = ai.onnx.ml.TreeEnsembleRegressor <" TREES
             "[2,0,0,0,0,0], n_targets = 1, target_treeids = [0], target_nodeids = [1], target_ids = [0], "
             "target_weights = [1.0]> (x) }",
        "0", "?");
  /* Two trees that share their nodes but for the root: 2 comparisons and 1 weight, 1 and 1. */
  check(
    "<ir_version: 11, opset_import: [\"\": 21, \"ai.onnx.ml\": 5]> g (float[N,2] x) => (float[] y) { y = "
    "ai.onnx.ml.TreeEnsemble <n_targets = 1, tree_roots = [0, 1], nodes_featureids = [0, 1], nodes_modes = uint8[2] "
    "{0, 0}, nodes_splits = float[2] {0.5, 0.5}, nodes_truenodeids = [0, 1], nodes_trueleafs = [1, 1], "
    "nodes_falsenodeids = [1, 2], nodes_falseleafs = [0, 1], leaf_targetids = [0, 0, 0], leaf_weights = float[3] "
    "{1, 2, 3}> (x) }",
    "0", "5*N");
}

#define TRAINING "<ir_version: 8, opset_import: [\"\": 18, \"ai.onnx.preview.training\": 1]> "

static void
test_training(void)
{
  check(TRAINING
        "g (float r, int64 t, float[N] x, float[M,2] z, float[N] gx, float[M,2] gz, float[N] hx, float[M,2] hz)"
        " => (float[] nx, float[] nz, float[] kx, float[] kz) { nx, nz, kx, kz = "
        "ai.onnx.preview.training.Adagrad (r, t, x, z, gx, gz, hx, hz) }",
        "0", "18*M+9*N");
  check(TRAINING "g (float r, int64 t, float[N] x, float[N] g, float[N] v, float[N] h) => (float[] nx, float[] nv, "
                 "float[] nh) { nx, nv, nh = ai.onnx.preview.training.Adam (r, t, x, g, v, h) }",
        "0", "15*N");
  check(TRAINING "g (float r, int64 t, float[N] x, float[N] g, float[N] v) => (float[] nx, float[] nv) { nx, nv = "
                 "ai.onnx.preview.training.Momentum <alpha = 0.9, beta = 1.0, mode = \"nesterov\", norm_coefficient = "
                 "0.0> (r, t, x, g, v) }",
        "0", "9*N");
}

/* Nobody adds an operator without saying what it costs. */
static void
test_every_operator_has_a_row(void)
{
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    bool known = onnxl_cost_is_known(onnxl_op_schema(op));
    if (!known)
      printf("\nno row in macs-rules.c for %s\n", onnxl_op_schema(op)->name);
    CU_ASSERT_TRUE(known);
  }
}

/* Whose work nobody can tell from a model, and why. */
static const struct {
  const char *op, *reason;
} without_rule[] = {
  { "Gradient", "it is the work of other nodes, which the walk over the graph adds up" },
  { "ImageDecoder", "the bytes of a compressed file decide" },
};

static void
test_few_lack_a_rule(void)
{
  for (uint32_t op = 0; op < ONNXL_N_OPS; op++) {
    const OnnxlOpSchema *schema = onnxl_op_schema(op);
    bool listed = false;
    for (size_t i = 0; i < G_N_ELEMENTS(without_rule); i++)
      listed = listed || strcmp(without_rule[i].op, schema->name) == 0;
    if (onnxl_cost_has_rule(schema) == listed)
      printf("\n%s-%d %s\n", schema->name, schema->since, listed ? "has a rule, and is listed" : "has no rule");
    CU_ASSERT_EQUAL(onnxl_cost_has_rule(schema), !listed);
  }
}

/* Twice what the nodes compute whose derivative is taken, and once all that depends on what is given. */
static void
test_gradient(void)
{
  TextModel t = text_model(
    TRAINING "g (float[N,3] x, float[3,2] w, float[N,2] b) => (float[] y, float[] dx) { u = Neg (b) v = Exp (b) "
             "p = MatMul (x, w) q = Mul (v, v) y = Add (p, q) "
             "dx = ai.onnx.preview.training.Gradient <xs = [\"x\"], zs = [\"v\"], y = \"y\"> (x, v) }");
  OnnxlInference *inference = onnxl_infer(t.model, &(OnnxlInferOptions){ 0 }, t.model->arena, t.sink, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(inference);
  const OnnxlCosts *costs = onnxl_costs_new(inference, t.model->arena, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(costs);
  /* MatMul and Add three times: 3*6*N products and 3*2*N sums; Mul once: 2*N. */
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(inference->pool, costs->nodes[5].macs).data, "18*N");
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(inference->pool, costs->nodes[5].flops).data, "44*N");
  onnxl_inference_free(inference);
  text_model_clear(&t);
}

/* A repeated body multiplies the work, not the weights; a sum leaves out what is not known. */
static void
test_sum(void)
{
  TextModel t = text_model(
    HEAD "g (float[N,2] x, int64 m) => (float[] y, float[] z) <float[2,2] w = {1, 2, 3, 4}, bool yes = {1}> {"
         " y = Loop (m, yes, x) <body = b (int64 i, bool c, float[N,2] s) => (bool d, float[N,2] r) {"
         " d = Identity (c) r = MatMul (s, w) }>  z = MatMul (x, w) }");
  OnnxlInference *inference = onnxl_infer(t.model, &(OnnxlInferOptions){ 0 }, t.model->arena, t.sink, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(inference);
  const OnnxlCosts *costs = onnxl_costs_new(inference, t.model->arena, &t.error);
  CU_ASSERT_PTR_NOT_NULL_FATAL(costs);
  OnnxlCost sum;
  uint32_t unknown;

  CU_ASSERT_TRUE(onnxl_costs_sum(costs, inference->pool, NULL, 2, &sum, &unknown, &t.error));
  CU_ASSERT_EQUAL(unknown, 1);
  CU_ASSERT_PTR_NULL(costs->nodes[0].macs);
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(inference->pool, sum.macs).data, "4*N");
  CU_ASSERT_STRING_EQUAL(onnxl_expr_text(inference->pool, sum.parameters).data, "5");
  onnxl_inference_free(inference);
  text_model_clear(&t);
}

UNIT_MAIN("macs", { "convolutions", test_convolutions }, { "matrix products", test_products },
          { "Einsum", test_einsum }, { "attention", test_attention }, { "recurrent cells", test_recurrent },
          { "the rest", test_others }, { "Fourier transforms", test_transforms }, { "regions", test_regions },
          { "trees", test_trees }, { "training", test_training }, { "Gradient", test_gradient },
          { "few operators lack a rule", test_few_lack_a_rule },
          { "every operator has a row", test_every_operator_has_a_row }, { "sums", test_sum })
