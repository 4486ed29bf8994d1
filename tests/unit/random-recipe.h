/* What inputs and attributes of an operator have to do with each other, so that random nodes get to a result where
 * random shapes and values hardly ever fit. A recipe is a line of items, " ; " separates alternatives:
 *
 *   NAME[DIM,DIM]           the input has these dims; "..." stands for dims that are the same all over the node
 *   NAME[DIM]{A,B}          and these values, from the start again when they are too few
 *   NAME[DIM]{A..B}         and values from A to B - 1
 *   NAME.K[DIM]             the K-th value of a variadic input, which has as many as are listed
 *   NAME=A NAME=[A,B] NAME="WORD" NAME=["WORD","WORD"]      the attribute
 *   NAME=@T                 the number of the element type that constraint T has taken
 *   NAME=@T[DIM]{A,B}       a tensor of that type; of a type itself in place of T
 *
 * A, B, DIM: sums of products such as 2HE+1, where each letter is a small size of the node's own and # the number of
 * outputs. Items that the operator's version does not have are passed over; inputs and attributes without an item are
 * left to chance. */
#ifndef ONNXL_TESTS_RANDOM_RECIPE_H
#define ONNXL_TESTS_RANDOM_RECIPE_H

#include "random-model.h"

typedef struct RandomSizes {
  Random *random;
  int64_t letters[26]; /* 0 = not drawn yet */
  int64_t n_outputs;
} RandomSizes;

#define POOL "X[N,C,3] kernel_shape=[2] ; X[N,C,3,4] kernel_shape=[2,2] strides=[2,1] pads=[1,0,0,1]"
#define WINDOW "size[]{1..9} output_datatype=@T2"
#define RANDOM "shape=[2,N] dtype=@T"
#define RANDOM_LIKE "input[A,B] dtype=@T2"
#define SMALL_DIVISOR "A[A,B] B[B]{1..5}"
#define OPTIMIZED "inputs.0[A,B] inputs.1[A,B] inputs.2[A,B]"
#define STUMP                                                                    \
  "X[N,2] nodes_treeids=[0,0,0] nodes_nodeids=[0,1,2] nodes_featureids=[1,0,0] " \
  "nodes_modes=[\"BRANCH_LEQ\",\"LEAF\",\"LEAF\"] nodes_truenodeids=[1,0,0] nodes_falsenodeids=[2,0,0] "
#define CLASSES \
  STUMP "nodes_values=[1,0,0] class_treeids=[0,0] class_nodeids=[1,2] class_ids=[0,1] class_weights=[1,2] "
#define TARGETS STUMP "n_targets=2 target_treeids=[0,0] target_nodeids=[1,2] target_ids=[0,1] "
#define SVM "X[N,2] kernel_type=\"LINEAR\" kernel_params=[1,1,1] coefficients=[1,2] support_vectors=[1,2,3,4] "
#define LINEAR "X[N,2] coefficients=[1,2,3,4] intercepts=[0,1] "
#define CACHE "past_key[B,H,P,E] past_value[B,H,P,F] "

/* By the operator's name, of com.microsoft with the domain before it. */
static const struct {
  const char *op, *text;
} random_recipes[] = {
  { "Adagrad", "R[] T[]{1..9} " OPTIMIZED },
  { "Adam", "R[] T[]{1..9} " OPTIMIZED " inputs.3[A,B]" },
  { "AffineGrid", "theta[N,2,3] size[4]{N,C,H,W} ; theta[N,3,4] size[5]{N,C,D,H,W}" },
  { "ArrayFeatureExtractor", "X[A,B] Y[1,K]{0..B}" },
  { "Attention", "Q[B,H,S,E] K[B,H,T,E] V[B,H,T,F] attn_mask[S,T] ; "
                 "Q[B,H,S,E] K[B,H,T,E] V[B,H,T,F] attn_mask[S,P+T] " CACHE " ; "
                 "Q[B,S,2HE] K[B,T,HE] V[B,T,HF] q_num_heads=2H kv_num_heads=H ; "
                 "Q[B,H,S,E] K[B,H,T,E] V[B,H,T,F] attn_mask[S,T] nonpad_kv_seqlen[B]{1..T+1}" },
  { "AveragePool", POOL },
  { "BatchNormalization", "X[N,C,...] scale[C] B[C] mean[C] var[C] input_mean[C] input_var[C] is_test=1 "
                          "consumed_inputs=[0,0,0,1,1] ; "
                          "X[N,C,...] scale[C] B[C] input_mean[C] input_var[C] training_mode=1" },
  { "Bernoulli", "input[A,B]{0..2} dtype=@T2" },
  { "BitCast", "input[A,8] to=@T2" },
  { "BitShift", "X[A,B] Y[B]{0..5} direction=\"LEFT\" ; X[A,B] Y[B]{0..5} direction=\"RIGHT\"" },
  { "BlackmanWindow", WINDOW },
  { "Cast", "input[A,B]{0..3} to=@T2" },
  { "CastLike", "input[A,B]{0..3}" },
  { "CastMap", "cast_to=\"TO_FLOAT\" ; cast_to=\"TO_STRING\" ; cast_to=\"TO_INT64\"" },
  { "CategoryMapper", "X[A] cats_int64s=[1,2] cats_strings=[\"a\",\"b\"]" },
  { "CausalConvWithState", "input[B,C,S] weight[C,1,K+1] bias[C] past_state[B,C,K]" },
  { "CenterCropPad", "input_data[A,B] shape[2]{1..5} axes=[0,1]" },
  { "Col2Im", "input[N,4C,6] image_shape[2]{3,4} block_shape[2]{2,2}" },
  { "Compress", "input[A,B] condition[A] axis=0" },
  { "Concat", "inputs[A,B] axis=1" },
  { "ConcatFromSequence", "input_sequence[A,B] axis=0" },
  { "Constant", "value=@T[2]{1,2}" },
  { "ConstantOfShape", "input[2]{1..4} value=@T2[1]{1}" },
  { "Conv", "X[N,2C,H+2,W+2] W[2M,C,2,2] B[2M] group=2 ; X[N,C,L+2] W[M,C,2] B[M] pads=[1,1]" },
  { "ConvInteger", "x[N,C,H+2,W+2] w[M,C,2,2] x_zero_point[] w_zero_point[]" },
  { "ConvTranspose", "X[N,C,H,W] W[C,M,2,2] B[M] strides=[2,1] ; X[N,C,L] W[C,M,2] B[M]" },
  { "CumProd", "x[A,B] axis[]{-2..2}" },
  { "CumSum", "x[A,B] axis[]{-2..2}" },
  { "DFT", "input[B,S,1] dft_length[]{S+1} axis[]{1} ; input[B,S,2]" },
  { "DeformConv", "X[N,C,H+3,W+3] W[M,C,2,2] offset[N,8,H+2,W+2] B[M] mask[N,4,H+2,W+2]" },
  { "DepthToSpace", "input[N,4C,H,W] blocksize=2" },
  { "DequantizeLinear", "x[A,B] x_scale[] x_zero_point[] ; x[A,B] x_scale[B] x_zero_point[B] axis=1 output_dtype=@T3" },
  { "Det", "X[...,A,A]" },
  { "DictVectorizer", "string_vocabulary=[\"a\",\"b\"] ; int64_vocabulary=[1,2]" },
  { "Div", SMALL_DIVISOR " broadcast=1" },
  { "Einsum", "Inputs.0[A,B] Inputs.1[B,C] equation=\"ij,jk->ik\" ; Inputs.0[A,B,A] equation=\"iji->ij\"" },
  { "Expand", "input[A,1] shape[3]{C,A,B}" },
  { "EyeLike", "input[A,B] dtype=@T2 ; input[A,B]" },
  { "FeatureVectorizer", "X.0[N,2] X.1[N,C] inputdimensions=[2,C]" },
  { "FlexAttention", "Q[B,H,S,E] K[B,H,T,E] V[B,H,T,F]" },
  { "GRU", "X[S,N,I] W[1,3H,I] R[1,3H,H] B[1,6H] sequence_lens[N]{1..S+1} initial_h[1,N,H] hidden_size=H "
           "direction=\"reverse\" ; X[S,N,I] W[2,3H,I] R[2,3H,H] B[2,6H] direction=\"bidirectional\" hidden_size=H ; "
           "X[N,S,I] W[1,3H,I] R[1,3H,H] initial_h[N,1,H] hidden_size=H direction=\"forward\" layout=1" },
  { "Gather", "data[A,B] indices[M,K]{0..A}" },
  { "GatherElements", "data[A,B] indices[M,B]{0..A}" },
  { "GatherND", "data[A,A,C] indices[M,2]{0..A}" },
  { "Gemm", "A[M,K] B[K,N] C[N] broadcast=1 ; A[K,M] B[N,K] C[M,N] transA=1 transB=1" },
  { "GridSample", "X[N,C,H,W] grid[N,A,B,2] ; X[N,C,H,W] grid[N,A,B,2] mode=\"nearest\"" },
  { "GroupNormalization", "X[N,2C,...] scale[2] bias[2] num_groups=2 ; X[N,2C,...] scale[2C] bias[2C] num_groups=2" },
  { "HammingWindow", WINDOW },
  { "HannWindow", WINDOW },
  { "ImageDecoder", "encoded_stream[14]{80,54,32,49,32,49,32,50,53,53,10,1,2,3}" },
  { "Imputer", "X[N,2] imputed_value_floats=[1,2] ; X[N,2] imputed_value_int64s=[1,2]" },
  { "InstanceNormalization", "input[N,C,A,...] scale[C] B[C]" },
  { "LSTM", "X[S,N,I] W[1,4H,I] R[1,4H,H] B[1,8H] sequence_lens[N]{1..S+1} initial_h[1,N,H] initial_c[1,N,H] P[1,3H] "
            "hidden_size=H ; X[S,N,I] W[2,4H,I] R[2,4H,H] direction=\"bidirectional\" hidden_size=H ; "
            "X[N,S,I] W[1,4H,I] R[1,4H,H] initial_h[N,1,H] initial_c[N,1,H] hidden_size=H layout=1" },
  { "LabelEncoder", "X[A] classes_strings=[\"a\",\"b\"] keys_strings=[\"a\",\"b\"] values_int64s=[1,2] ; "
                    "X[A] keys_strings=[\"a\"] values_floats=[1] ; X[A] keys_strings=[\"a\"] values_strings=[\"x\"] ; "
                    "X[A] keys_int64s=[1] values_floats=[1] ; X[A] keys_int64s=[1] values_strings=[\"x\"] ; "
                    "X[A] keys_int64s=[1] values_int64s=[1] ; X[A] keys_floats=[1] values_int64s=[1] ; "
                    "X[A] keys_floats=[1] values_strings=[\"x\"] ; X[A] keys_floats=[1] values_floats=[1] ; "
                    "X[A] keys_tensor=@T1[2]{1,2} values_tensor=@T2[2]{3,4} default_tensor=@T2[1]{0}" },
  { "LayerNormalization", "X[A,B] Scale[B] B[B] stash_type=@U" },
  { "LinearAttention", "query[B,S,HE] key[B,S,HE] value[B,S,HF] past_state[B,H,E,F] decay[B,S,H] beta[B,S,H] "
                       "q_num_heads=H kv_num_heads=H" },
  { "LinearClassifier", LINEAR "classlabels_ints=[5,6] ; " LINEAR "classlabels_strings=[\"a\",\"b\"]" },
  { "LinearRegressor", LINEAR "targets=2" },
  { "LpPool", POOL },
  { "MatMul", "A[B,M,K] B[K,N]" },
  { "MatMulInteger", "A[M,K] B[K,N] a_zero_point[] b_zero_point[]" },
  { "MaxPool", POOL },
  { "MaxRoiPool", "X[N,C,H+2,W+2] rois[K,5]{0} pooled_shape=[2,1]" },
  { "MaxUnpool", "X[N,C,H,W] I[N,C,H,W]{0..2} kernel_shape=[2,2] strides=[2,2]" },
  { "MeanVarianceNormalization", "X[N,C,H,W]" },
  { "MelWeightMatrix", "num_mel_bins[]{1..4} dft_length[]{16} sample_rate[]{100} lower_edge_hertz[]{1..3} "
                       "upper_edge_hertz[]{20..40} output_datatype=@T3" },
  { "Mod", SMALL_DIVISOR " fmod=1 ; " SMALL_DIVISOR " fmod=0" },
  { "Momentum", "R[] T[]{1..9} " OPTIMIZED " mode=\"standard\" ; R[] T[]{1..9} " OPTIMIZED " mode=\"nesterov\"" },
  { "Multinomial", "input[N,C] sample_size=3 dtype=@T2" },
  { "NegativeLogLikelihoodLoss", "input[N,C,...] target[N,...]{0..C} weight[C]" },
  { "NonMaxSuppression", "boxes[N,K,4] scores[N,C,K] max_output_boxes_per_class[]{0..4} iou_threshold[]{0..2} "
                         "score_threshold[]{0}" },
  { "OneHot", "indices[A,B]{-3..3} depth[]{3} values[2]{0,1}" },
  { "OneHotEncoder", "X[N]{0..3} cats_int64s=[0,1,2] ; X[N]{0..3} cats_strings=[\"0\",\"1\",\"2\"]" },
  { "Pad", "data[A,B] pads[4]{0..3} constant_value[] pads=[1,0,0,1] paddings=[1,0,0,1] ; "
           "data[A,B] pads[2]{0..3} constant_value[] axes[1]{-1}" },
  { "QLinearConv", "x[N,C,H+1,W+1] x_scale[]{1} x_zero_point[] w[M,C,2,2] w_scale[]{1} w_zero_point[] y_scale[]{2} "
                   "y_zero_point[] B[M]" },
  { "QLinearMatMul", "a[A,K] a_scale[]{1} a_zero_point[] b[K,B] b_scale[]{1} b_zero_point[] y_scale[]{2} "
                     "y_zero_point[]" },
  { "QuantizeLinear", "x[A,B] y_scale[]{1} y_zero_point[]{0} ; x[A,B] y_scale[B]{1..3} y_zero_point[B] axis=1" },
  { "RMSNormalization", "X[A,B] scale[B]" },
  { "RNN", "X[S,N,I] W[1,H,I] R[1,H,H] B[1,2H] sequence_lens[N]{1..S+1} initial_h[1,N,H] hidden_size=H ; "
           "X[S,N,I] W[2,H,I] R[2,H,H] B[2,2H] direction=\"bidirectional\" hidden_size=H ; "
           "X[N,S,I] W[1,H,I] R[1,H,H] initial_h[N,1,H] hidden_size=H layout=1" },
  { "RandomNormal", RANDOM },
  { "RandomNormalLike", RANDOM_LIKE },
  { "RandomUniform", RANDOM },
  { "RandomUniformLike", RANDOM_LIKE },
  { "Range", "start[]{0..3} limit[]{3..9} delta[]{1..3}" },
  { "Reshape", "data[A,B] shape[2]{B,A} shape=[-1]" },
  { "Resize", "X[N,C,H,W] scales[4]{1,1,2,2} roi[0] ; X[N,C,H,W] roi[0] scales[0] sizes[4]{N,C,2H,W} ; "
              "X[N,C,H,W] scales[4]{1,1,2,1} roi[0] mode=\"linear\"" },
  { "ReverseSequence", "input[T,B,...] sequence_lens[B]{1..T+1} time_axis=0 batch_axis=1" },
  { "RoiAlign", "X[N,C,H,W] rois[K,4]{0..4} batch_indices[K]{0..N}" },
  { "RotaryEmbedding", "X[B,H,S,2E] cos_cache[B,S,E] sin_cache[B,S,E] ; "
                       "X[B,H,S,2E] cos_cache[P,E] sin_cache[P,E] position_ids[B,S]{0..P}" },
  { "Scan", "sequence_lens[N] initial_state_and_scan_inputs.0[N,A] initial_state_and_scan_inputs.1[N,S,A] "
            "num_scan_inputs=1 ; "
            "initial_state_and_scan_inputs.0[A] initial_state_and_scan_inputs.1[S,A] num_scan_inputs=1" },
  { "STFT", "signal[B,8,1] frame_step[]{2} window[4] ; signal[B,8,1] frame_step[]{2} frame_length[]{4}" },
  { "SVMClassifier", SVM "vectors_per_class=[1,1] rho=[0] classlabels_ints=[0,1] ; " SVM
                         "vectors_per_class=[1,1] rho=[0] classlabels_strings=[\"a\",\"b\"]" },
  { "SVMRegressor", SVM "n_supports=2 rho=[1]" },
  { "Scaler", "X[N,2] offset=[1,2] scale=[2,3]" },
  { "Scatter", "data[A,B] indices[A,B]{0..A} updates[A,B] axis=0" },
  { "ScatterElements", "data[A,B] indices[A,B]{0..A} updates[A,B] axis=0" },
  { "ScatterND", "data[A,A,C] indices[M,2]{0..A} updates[M,C]" },
  { "SequenceAt", "position[]{-1..1}" },
  { "SequenceEmpty", "dtype=@S" },
  { "SequenceErase", "position[]{-1..1}" },
  { "SequenceInsert", "position[]{0}" },
  { "Slice", "data[A+1,B] starts[1]{0} ends[1]{1..3} axes[1]{0} steps[1]{1} starts=[0] ends=[1] axes=[0]" },
  { "SoftmaxCrossEntropyLoss", "scores[N,C,...] labels[N,...]{0..C} weights[C]" },
  { "SpaceToDepth", "input[N,C,2H,2W] blocksize=2" },
  { "Split", "input[#,B] num_outputs=# axis=0" },
  { "SplitToSequence", "input[A,B] split[]{1} axis=0" },
  { "Squeeze", "data[1,A] axes=[0] axes[1]{0}" },
  { "TensorScatter", "past_cache[B,H,S+2,D] update[B,H,S,D] write_indices[B]{0..3}" },
  { "TfIdfVectorizer", "X[N,6]{1..5} max_gram_length=2 min_gram_length=1 max_skip_count=0 mode=\"TF\" "
                       "ngram_counts=[0,2] ngram_indexes=[0,1,2] pool_int64s=[1,2,2,3] ; "
                       "X[N,6]{1..5} max_gram_length=2 min_gram_length=1 max_skip_count=1 mode=\"IDF\" "
                       "ngram_counts=[0,2] ngram_indexes=[0,1,2] pool_strings=[\"1\",\"2\",\"2\",\"3\"]" },
  { "Tile", "input[A,B] repeats[2]{1..4} tiles[1]{2} axis[1]{1}" },
  { "TopK", "X[A,B+2] K[1]{0..4} k=2 axis=1" },
  { "TreeEnsemble", "X[N,2] n_targets=1 tree_roots=[0] nodes_featureids=[1] nodes_splits=@T[1]{1} "
                    "nodes_modes=@uint8[1]{0} nodes_truenodeids=[0] nodes_falsenodeids=[1] nodes_trueleafs=[1] "
                    "nodes_falseleafs=[1] leaf_targetids=[0,0] leaf_weights=@T[2]{3,4}" },
  { "TreeEnsembleClassifier", CLASSES "classlabels_int64s=[3,4] ; " CLASSES "classlabels_strings=[\"a\",\"b\"]" },
  { "TreeEnsembleRegressor", TARGETS "nodes_values=[1,0,0] target_weights=[5,6]" },
  { "Unsqueeze", "data[A,B] axes=[1] axes[1]{0..3}" },
  { "Upsample", "X[N,C,H,W] scales[4]{1,1,2,2} scales=[1,1,2,2] height_scale=2 width_scale=2" },
  { "ZipMap", "X[N,2] classlabels_int64s=[1,2] ; X[N,2] classlabels_strings=[\"a\",\"b\"]" },
  { "com.microsoft.Attention", "input[B,S,D] weights[D,3HE] bias[3HE] mask_index[B,S]{0..2} num_heads=H "
                               "do_rotary=0 past_present_share_buffer=0" },
  { "com.microsoft.EmbedLayerNormalization",
    "input_ids[B,S]{0..3} segment_ids[B,S]{0..2} word_embedding[3,H] position_embedding[S,H] segment_embedding[2,H] "
    "gamma[H] beta[H] mask[B,S]{0..2}" },
  { "com.microsoft.FastGelu", "X[A,H] bias[H]" },
  { "com.microsoft.SkipLayerNormalization", "input[B,S,H] skip[B,S,H] gamma[H] beta[H] bias[H]" },
};

#undef POOL
#undef WINDOW
#undef RANDOM
#undef RANDOM_LIKE
#undef SMALL_DIVISOR
#undef OPTIMIZED
#undef STUMP
#undef CLASSES
#undef TARGETS
#undef SVM
#undef LINEAR
#undef CACHE

/* One of the alternatives for an operator; empty when there is no recipe. */
static inline OnnxlStr
random_recipe(Random *r, const char *domain, const char *name)
{
  g_autofree char *full =
    strcmp(domain, "com.microsoft") == 0 ? g_strdup_printf("%s.%s", domain, name) : g_strdup(name);
  for (size_t i = 0; i < G_N_ELEMENTS(random_recipes); i++) {
    if (strcmp(random_recipes[i].op, full) != 0)
      continue;
    g_auto(GStrv) alternatives = g_strsplit(random_recipes[i].text, " ; ", -1);
    const char *chosen = alternatives[random_below(r, g_strv_length(alternatives))];
    return onnxl_arena_copy(r->arena, onnxl_str(chosen));
  }
  return ONNXL_STR("");
}

/* The item NAME followed by mark. *ret_text: from the mark to the item's end. */
static inline bool
recipe_find(OnnxlStr recipe, const char *name, char mark, OnnxlStr *ret_text)
{
  size_t length = strlen(name);
  for (size_t i = 0, end; i < recipe.size; i = end + 1) {
    for (end = i; end < recipe.size && recipe.data[end] != ' ';)
      end++;
    if (end - i <= length || memcmp(recipe.data + i, name, length) != 0 || recipe.data[i + length] != mark)
      continue;
    *ret_text = onnxl_str_n(recipe.data + i + length, end - i - length);
    return true;
  }
  return false;
}

static inline int64_t
recipe_size(RandomSizes *sizes, char letter)
{
  int64_t *size = &sizes->letters[letter - 'A'];
  if (*size == 0)
    *size = 1 + (int64_t)random_below(sizes->random, 3);
  return *size;
}

static inline void
recipe_advance(OnnxlStr *text)
{
  *text = onnxl_str_n(text->data + 1, text->size - 1);
}

static inline bool
recipe_skip(OnnxlStr *text, const char *what)
{
  size_t length = strlen(what);
  if (text->size < length || memcmp(text->data, what, length) != 0)
    return false;
  *text = onnxl_str_n(text->data + length, text->size - length);
  return true;
}

/* A sum of products at the start of text. */
static inline int64_t
recipe_number(RandomSizes *sizes, OnnxlStr *text)
{
  int64_t sum = 0;
  for (bool first = true;; first = false) {
    int64_t product = recipe_skip(text, "-") ? -1 : 1;
    if (!first && product > 0 && !recipe_skip(text, "+"))
      return sum;
    while (text->size > 0) {
      char c = text->data[0];
      if (g_ascii_isdigit(c)) {
        int64_t number = 0;
        for (; text->size > 0 && g_ascii_isdigit(text->data[0]); recipe_advance(text))
          number = 10 * number + text->data[0] - '0';
        product *= number;
        continue;
      }
      if (c != '#' && !g_ascii_isupper(c))
        break;
      product *= c == '#' ? sizes->n_outputs : recipe_size(sizes, c);
      recipe_advance(text);
    }
    sum += product;
  }
}

/* The word between quotation marks at the start of text. */
static inline OnnxlStr
recipe_word(OnnxlStr *text)
{
  OnnxlStr word = onnxl_str_n(text->data + 1, 0);
  for (recipe_advance(text); text->size > 0 && text->data[0] != '"'; recipe_advance(text))
    word.size++;
  recipe_skip(text, "\"");
  return word;
}

#endif
