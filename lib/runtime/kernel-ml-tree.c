/* Ensembles of decision trees: TreeEnsemble, and the older classifier and regressor, which describe nodes differently.
 * All are brought into one form first. */
#include <math.h>

#include "runtime/ml-internal.h"
#include "runtime/tensor.h"
#include "support/sort.h"

typedef enum TreeMode { TREE_LEQ, TREE_LT, TREE_GTE, TREE_GT, TREE_EQ, TREE_NEQ, TREE_MEMBER } TreeMode;

typedef enum TreeAggregate { TREE_AVERAGE, TREE_SUM, TREE_MIN, TREE_MAX } TreeAggregate;

/* A node or leaf: nodes count from 0, leaf k is -1 - k. */
typedef int64_t TreeRef;

typedef struct TreeNode {
  double split;
  int64_t feature;
  TreeRef next[2];                 /* where false and true lead */
  int64_t first_member, n_members; /* of TREE_MEMBER, in the ensemble's members */
  uint8_t mode;
  bool missing_is_true; /* a NaN counts as true */
} TreeNode;

typedef struct TreeVote {
  int64_t target;
  double weight;
} TreeVote;

typedef struct Ensemble {
  TreeNode *nodes;
  int64_t n_nodes;
  int64_t *leaves; /* leaf k has the votes leaves[k] … leaves[k + 1] - 1 */
  TreeVote *votes;
  int64_t n_votes;
  TreeRef *roots;
  int64_t n_roots;
  const double *members;
  TreeAggregate aggregate;
} Ensemble;

/* --- building, checked so that walking needs no checks --- */

/* A list of numbers that is a FLOATS attribute, or from version 3 on a TENSOR one of double. */
typedef struct Numbers {
  const float *floats;
  const double *doubles;
  size_t count;
} Numbers;

static double
number_at(const Numbers *numbers, size_t i)
{
  return numbers->doubles ? numbers->doubles[i] : numbers->floats[i];
}

static bool
get_numbers(OnnxlKernelContext *context, const char *name, const char *tensor_name, Numbers *ret_numbers,
            GError **error)
{
  GError *failed = NULL;
  OnnxlFloatList list = onnxl_ctx_floats(context, name);
  *ret_numbers = (Numbers){ list.items, NULL, list.count };
  OnnxlValue *tensor = onnxl_ctx_tensor(context, tensor_name, &failed);
  if (failed) {
    g_propagate_error(error, failed);
    return false;
  }
  if (!tensor)
    return true;
  if (list.count > 0)
    return onnxl_ctx_invalid(context, error, "only one of %s and %s may be given", name, tensor_name);
  if (!onnxl_type_is_float(tensor->elem_type))
    return onnxl_ctx_invalid(context, error, "%s must hold floating-point numbers", tensor_name);
  ret_numbers->doubles = onnxl_ctx_doubles(context, tensor, error);
  ret_numbers->count = (size_t)tensor->count;
  return ret_numbers->doubles != NULL;
}

static bool
check_count(const OnnxlKernelContext *context, const char *name, size_t count, size_t wanted, GError **error)
{
  if (count == wanted)
    return true;
  return onnxl_ctx_invalid(context, error, "%s has %zu values when %zu are expected", name, count, wanted);
}

/* Every walk must end in a leaf: looks for a cycle by depth-first search with a stack of its own. */
static bool
check_acyclic(OnnxlKernelContext *context, const Ensemble *ensemble, GError **error)
{
  enum { NEW, OPEN, DONE };
  uint8_t *state = onnxl_ctx_scratch(context, (uint64_t)ensemble->n_nodes, 1, error);
  int64_t *stack = onnxl_ctx_scratch(context, (uint64_t)ensemble->n_nodes, sizeof *stack, error);
  uint8_t *taken = onnxl_ctx_scratch(context, (uint64_t)ensemble->n_nodes, 1, error);
  if (!state || !stack || !taken)
    return false;
  memset(state, NEW, (size_t)ensemble->n_nodes);
  for (int64_t root = 0; root < ensemble->n_nodes; root++) {
    int64_t depth = 0;
    if (state[root] != NEW)
      continue;
    state[root] = OPEN;
    taken[root] = 0;
    stack[depth++] = root;
    while (depth > 0) {
      int64_t top = stack[depth - 1];
      if (taken[top] == 2) {
        state[top] = DONE;
        depth--;
        continue;
      }
      TreeRef next = ensemble->nodes[top].next[taken[top]++];
      if (next < 0 || state[next] == DONE)
        continue;
      if (state[next] == OPEN)
        return onnxl_ctx_invalid(context, error, "the trees' nodes form a cycle through node %" G_GINT64_FORMAT, next);
      state[next] = OPEN;
      taken[next] = 0;
      stack[depth++] = next;
    }
  }
  return true;
}

static bool
check_features(const OnnxlKernelContext *context, const Ensemble *ensemble, int64_t n_features, GError **error)
{
  for (int64_t i = 0; i < ensemble->n_nodes; i++) {
    int64_t feature = ensemble->nodes[i].feature;
    if (feature < 0 || feature >= n_features)
      return onnxl_ctx_invalid(context, error,
                               "node %" G_GINT64_FORMAT " asks for feature %" G_GINT64_FORMAT
                               " when the input has %" G_GINT64_FORMAT,
                               i, feature, n_features);
  }
  return true;
}

/* --- the form of versions 1 and 3: nodes and leaves in one list, found by tree and node id --- */

typedef struct NodeKey {
  int64_t tree;
  int64_t node;
  int64_t index;
} NodeKey;

static int
compare_keys(const void *a, const void *b)
{
  const NodeKey *x = a, *y = b;
  if (x->tree != y->tree)
    return x->tree < y->tree ? -1 : 1;
  return (x->node > y->node) - (x->node < y->node);
}

typedef struct KeyedNodes {
  OnnxlInt64List trees, ids, features, yes, no, missing;
  OnnxlStrList modes;
  Numbers values;
  NodeKey *keys; /* sorted */
  int64_t n;
  TreeRef *refs; /* what entry i of the lists is in the ensemble */
} KeyedNodes;

static bool
find_entry(const OnnxlKernelContext *context, const KeyedNodes *keyed, int64_t tree, int64_t node, int64_t *ret_index,
           GError **error)
{
  NodeKey wanted = { tree, node, 0 };
  const NodeKey *found = bsearch(&wanted, keyed->keys, (size_t)keyed->n, sizeof wanted, compare_keys);
  if (!found)
    return onnxl_ctx_invalid(context, error, "tree %" G_GINT64_FORMAT " has no node %" G_GINT64_FORMAT, tree, node);
  *ret_index = found->index;
  return true;
}

static bool
get_keyed_nodes(OnnxlKernelContext *context, KeyedNodes *keyed, GError **error)
{
  *keyed = (KeyedNodes){
    .trees = onnxl_ctx_ints(context, "nodes_treeids"),
    .ids = onnxl_ctx_ints(context, "nodes_nodeids"),
    .features = onnxl_ctx_ints(context, "nodes_featureids"),
    .yes = onnxl_ctx_ints(context, "nodes_truenodeids"),
    .no = onnxl_ctx_ints(context, "nodes_falsenodeids"),
    .missing = onnxl_ctx_ints(context, "nodes_missing_value_tracks_true"),
    .modes = onnxl_ctx_strings(context, "nodes_modes"),
  };
  size_t n = keyed->trees.count;
  keyed->n = (int64_t)n;
  if (!get_numbers(context, "nodes_values", "nodes_values_as_tensor", &keyed->values, error) ||
      !check_count(context, "nodes_nodeids", keyed->ids.count, n, error) ||
      !check_count(context, "nodes_featureids", keyed->features.count, n, error) ||
      !check_count(context, "nodes_truenodeids", keyed->yes.count, n, error) ||
      !check_count(context, "nodes_falsenodeids", keyed->no.count, n, error) ||
      !check_count(context, "nodes_modes", keyed->modes.count, n, error) ||
      !check_count(context, "nodes_values", keyed->values.count, n, error) ||
      (keyed->missing.count > 0 &&
       !check_count(context, "nodes_missing_value_tracks_true", keyed->missing.count, n, error)))
    return false;
  keyed->keys = onnxl_ctx_scratch(context, n, sizeof *keyed->keys, error);
  keyed->refs = onnxl_ctx_scratch(context, n, sizeof *keyed->refs, error);
  if (!keyed->keys || !keyed->refs)
    return false;
  for (size_t i = 0; i < n; i++)
    keyed->keys[i] = (NodeKey){ keyed->trees.items[i], keyed->ids.items[i], (int64_t)i };
  if (n > 0)
    onnxl_sort(keyed->keys, n, sizeof *keyed->keys, compare_keys);
  for (size_t i = 1; i < n; i++)
    if (compare_keys(&keyed->keys[i - 1], &keyed->keys[i]) == 0)
      return onnxl_ctx_invalid(context, error, "tree %" G_GINT64_FORMAT " has two nodes %" G_GINT64_FORMAT,
                               keyed->keys[i].tree, keyed->keys[i].node);
  return true;
}

static bool
mode_of(const OnnxlKernelContext *context, OnnxlStr text, uint8_t *ret_mode, GError **error)
{
  static const char names[][12] = {
    [TREE_LEQ] = "BRANCH_LEQ", [TREE_LT] = "BRANCH_LT", [TREE_GTE] = "BRANCH_GTE",
    [TREE_GT] = "BRANCH_GT",   [TREE_EQ] = "BRANCH_EQ", [TREE_NEQ] = "BRANCH_NEQ",
  };
  for (uint8_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (onnxl_str_is(text, names[i])) {
      *ret_mode = i;
      return true;
    }
  return onnxl_ctx_invalid(context, error, "the node mode \"%.*s\" is unknown", ONNXL_ARG(text));
}

static bool
fill_keyed_nodes(OnnxlKernelContext *context, KeyedNodes *keyed, Ensemble *ensemble, int64_t *ret_n_leaves,
                 GError **error)
{
  int64_t n_leaves = 0;
  for (int64_t i = 0; i < keyed->n; i++)
    keyed->refs[i] = onnxl_str_is(keyed->modes.items[i], "LEAF") ? -1 - n_leaves++ : ensemble->n_nodes++;
  ensemble->nodes = onnxl_ctx_scratch(context, (uint64_t)ensemble->n_nodes, sizeof *ensemble->nodes, error);
  if (!ensemble->nodes)
    return false;
  for (int64_t i = 0; i < keyed->n; i++) {
    int64_t yes, no, tree = keyed->trees.items[i];
    if (keyed->refs[i] < 0)
      continue;
    TreeNode *node = &ensemble->nodes[keyed->refs[i]];
    *node = (TreeNode){
      .split = number_at(&keyed->values, (size_t)i),
      .feature = keyed->features.items[i],
      .missing_is_true = keyed->missing.count > 0 && keyed->missing.items[i] != 0,
    };
    if (!mode_of(context, keyed->modes.items[i], &node->mode, error) ||
        !find_entry(context, keyed, tree, keyed->yes.items[i], &yes, error) ||
        !find_entry(context, keyed, tree, keyed->no.items[i], &no, error))
      return false;
    node->next[true] = keyed->refs[yes];
    node->next[false] = keyed->refs[no];
  }
  *ret_n_leaves = n_leaves;
  return true;
}

/* The root of a tree is its first node in the lists. */
static bool
find_keyed_roots(OnnxlKernelContext *context, const KeyedNodes *keyed, Ensemble *ensemble, GError **error)
{
  int64_t *firsts = onnxl_ctx_scratch(context, (uint64_t)keyed->n, sizeof *firsts, error);
  if (!firsts)
    return false;
  for (int64_t i = 0; i < keyed->n; i++) {
    const NodeKey *key = &keyed->keys[i];
    if (i == 0 || key->tree != key[-1].tree)
      firsts[ensemble->n_roots++] = key->index;
    else
      firsts[ensemble->n_roots - 1] = MIN(firsts[ensemble->n_roots - 1], key->index);
  }
  for (int64_t i = 0; i < ensemble->n_roots; i++)
    firsts[i] = keyed->refs[firsts[i]];
  ensemble->roots = firsts;
  return true;
}

/* Sorts the votes by leaf, keeping their order within one. Votes of inner nodes, which some converters wrote, count for
 * nothing. */
static bool
fill_votes(OnnxlKernelContext *context, const KeyedNodes *keyed, const char *prefix, int64_t n_leaves,
           int64_t n_targets, Ensemble *ensemble, GError **error)
{
  char names[5][40];
  static const char suffixes[5][20] = { "treeids", "nodeids", "ids", "weights", "weights_as_tensor" };
  for (int i = 0; i < 5; i++)
    g_snprintf(names[i], sizeof names[i], "%s_%s", prefix, suffixes[i]);
  OnnxlInt64List trees = onnxl_ctx_ints(context, names[0]), ids = onnxl_ctx_ints(context, names[1]);
  OnnxlInt64List targets = onnxl_ctx_ints(context, names[2]);
  Numbers weights;
  size_t n = trees.count;
  if (!get_numbers(context, names[3], names[4], &weights, error) ||
      !check_count(context, names[1], ids.count, n, error) ||
      !check_count(context, names[2], targets.count, n, error) ||
      !check_count(context, names[3], weights.count, n, error))
    return false;
  ensemble->leaves = onnxl_ctx_scratch(context, (uint64_t)n_leaves + 2, sizeof *ensemble->leaves, error);
  ensemble->votes = onnxl_ctx_scratch(context, n, sizeof *ensemble->votes, error);
  TreeRef *at = onnxl_ctx_scratch(context, n, sizeof *at, error);
  if (!ensemble->leaves || !ensemble->votes || !at)
    return false;
  /* Counting sort: first leaves[k + 2] counts, then leaves[k + 1] is where leaf k's next vote goes. */
  memset(ensemble->leaves, 0, ((size_t)n_leaves + 2) * sizeof *ensemble->leaves);
  for (size_t i = 0; i < n; i++) {
    int64_t entry;
    if (targets.items[i] < 0 || targets.items[i] >= n_targets)
      return onnxl_ctx_invalid(context, error, "%s has %" G_GINT64_FORMAT " when there are %" G_GINT64_FORMAT, names[2],
                               targets.items[i], n_targets);
    if (!find_entry(context, keyed, trees.items[i], ids.items[i], &entry, error))
      return false;
    at[i] = keyed->refs[entry];
    if (at[i] < 0)
      ensemble->leaves[-1 - at[i] + 2]++;
  }
  for (int64_t k = 0; k < n_leaves; k++)
    ensemble->leaves[k + 2] += ensemble->leaves[k + 1];
  for (size_t i = 0; i < n; i++)
    if (at[i] < 0)
      ensemble->votes[ensemble->leaves[-1 - at[i] + 1]++] = (TreeVote){ targets.items[i], number_at(&weights, i) };
  ensemble->n_votes = ensemble->leaves[n_leaves];
  return true;
}

/* prefix: of the attributes for votes, "class" or "target". */
static bool
build_keyed(OnnxlKernelContext *context, const char *prefix, int64_t n_targets, Ensemble *ensemble, GError **error)
{
  KeyedNodes keyed;
  int64_t n_leaves = 0;
  return get_keyed_nodes(context, &keyed, error) && fill_keyed_nodes(context, &keyed, ensemble, &n_leaves, error) &&
         find_keyed_roots(context, &keyed, ensemble, error) &&
         fill_votes(context, &keyed, prefix, n_leaves, n_targets, ensemble, error) &&
         check_acyclic(context, ensemble, error);
}

/* --- the form of version 5: nodes and leaves by index --- */

static bool
get_tensor(OnnxlKernelContext *context, const char *name, size_t wanted, bool optional, OnnxlValue **ret_tensor,
           GError **error)
{
  GError *failed = NULL;
  *ret_tensor = onnxl_ctx_tensor(context, name, &failed);
  if (failed) {
    g_propagate_error(error, failed);
    return false;
  }
  if (!*ret_tensor)
    return optional || onnxl_ctx_invalid(context, error, "the attribute %s is missing", name);
  if ((*ret_tensor)->elem_type == ONNXL_TYPE_STRING)
    return onnxl_ctx_invalid(context, error, "%s must hold numbers", name);
  return optional || check_count(context, name, (size_t)(*ret_tensor)->count, wanted, error);
}

/* The members of each membership node follow each other in the order of the nodes, each group with a NaN at its end. */
static bool
find_members(OnnxlKernelContext *context, Ensemble *ensemble, const OnnxlValue *values, GError **error)
{
  int64_t at = 0, count = values ? values->count : 0;
  if (values)
    ensemble->members = onnxl_ctx_doubles(context, values, error);
  if (values && !ensemble->members)
    return false;
  for (int64_t i = 0; i < ensemble->n_nodes; i++) {
    TreeNode *node = &ensemble->nodes[i];
    if (node->mode != TREE_MEMBER)
      continue;
    node->first_member = at;
    while (at < count && !isnan(ensemble->members[at]))
      at++;
    if (at == count)
      return onnxl_ctx_invalid(context, error, "membership_values ends before the members of node %" G_GINT64_FORMAT,
                               i);
    node->n_members = at++ - node->first_member;
  }
  return true;
}

static bool
follow_index(const OnnxlKernelContext *context, int64_t id, bool is_leaf, int64_t n_nodes, int64_t n_leaves,
             TreeRef *ret_ref, GError **error)
{
  int64_t limit = is_leaf ? n_leaves : n_nodes;
  if (id < 0 || id >= limit)
    return onnxl_ctx_invalid(context, error, "there is no %s %" G_GINT64_FORMAT, is_leaf ? "leaf" : "node", id);
  *ret_ref = is_leaf ? -1 - id : id;
  return true;
}

static bool
fill_indexed_leaves(OnnxlKernelContext *context, int64_t n_targets, Ensemble *ensemble, int64_t *ret_n, GError **error)
{
  OnnxlInt64List targets = onnxl_ctx_ints(context, "leaf_targetids");
  OnnxlValue *weights;
  size_t n = targets.count;
  if (!get_tensor(context, "leaf_weights", n, false, &weights, error))
    return false;
  ensemble->leaves = onnxl_ctx_scratch(context, (uint64_t)n + 1, sizeof *ensemble->leaves, error);
  ensemble->votes = onnxl_ctx_scratch(context, n, sizeof *ensemble->votes, error);
  if (!ensemble->leaves || !ensemble->votes)
    return false;
  ensemble->leaves[0] = 0;
  for (size_t i = 0; i < n; i++) {
    if (targets.items[i] < 0 || targets.items[i] >= n_targets)
      return onnxl_ctx_invalid(context, error,
                               "leaf_targetids has %" G_GINT64_FORMAT " when there are %" G_GINT64_FORMAT,
                               targets.items[i], n_targets);
    ensemble->votes[i] = (TreeVote){ targets.items[i], onnxl_tensor_double(weights, (int64_t)i) };
    ensemble->leaves[i + 1] = (int64_t)i + 1;
  }
  *ret_n = (int64_t)n;
  return true;
}

static bool
build_indexed(OnnxlKernelContext *context, int64_t n_targets, Ensemble *ensemble, GError **error)
{
  OnnxlInt64List features = onnxl_ctx_ints(context, "nodes_featureids"), roots = onnxl_ctx_ints(context, "tree_roots");
  OnnxlInt64List ids[2] = { onnxl_ctx_ints(context, "nodes_falsenodeids"),
                            onnxl_ctx_ints(context, "nodes_truenodeids") };
  OnnxlInt64List leafs[2] = { onnxl_ctx_ints(context, "nodes_falseleafs"), onnxl_ctx_ints(context, "nodes_trueleafs") };
  OnnxlInt64List missing = onnxl_ctx_ints(context, "nodes_missing_value_tracks_true");
  OnnxlValue *modes, *splits, *members;
  size_t n = features.count;
  int64_t n_leaves = 0;
  if (!check_count(context, "nodes_falsenodeids", ids[0].count, n, error) ||
      !check_count(context, "nodes_truenodeids", ids[1].count, n, error) ||
      !check_count(context, "nodes_falseleafs", leafs[0].count, n, error) ||
      !check_count(context, "nodes_trueleafs", leafs[1].count, n, error) ||
      (missing.count > 0 && !check_count(context, "nodes_missing_value_tracks_true", missing.count, n, error)) ||
      !get_tensor(context, "nodes_modes", n, false, &modes, error) ||
      !get_tensor(context, "nodes_splits", n, false, &splits, error) ||
      !get_tensor(context, "membership_values", 0, true, &members, error) ||
      !fill_indexed_leaves(context, n_targets, ensemble, &n_leaves, error))
    return false;
  ensemble->n_nodes = (int64_t)n;
  ensemble->nodes = onnxl_ctx_scratch(context, n, sizeof *ensemble->nodes, error);
  ensemble->n_roots = (int64_t)roots.count;
  ensemble->roots = onnxl_ctx_scratch(context, roots.count, sizeof *ensemble->roots, error);
  if (!ensemble->nodes || !ensemble->roots)
    return false;
  for (size_t i = 0; i < n; i++) {
    int64_t mode = onnxl_tensor_int64(modes, (int64_t)i);
    if (mode < TREE_LEQ || mode > TREE_MEMBER)
      return onnxl_ctx_invalid(context, error, "nodes_modes has the unknown mode %" G_GINT64_FORMAT, mode);
    ensemble->nodes[i] = (TreeNode){
      .split = onnxl_tensor_double(splits, (int64_t)i),
      .feature = features.items[i],
      .mode = (uint8_t)mode,
      .missing_is_true = missing.count > 0 && missing.items[i] != 0,
    };
    for (int side = 0; side < 2; side++)
      if (!follow_index(context, ids[side].items[i], leafs[side].items[i] != 0, ensemble->n_nodes, n_leaves,
                        &ensemble->nodes[i].next[side], error))
        return false;
  }
  for (size_t i = 0; i < roots.count; i++)
    if (!follow_index(context, roots.items[i], false, ensemble->n_nodes, n_leaves, &ensemble->roots[i], error))
      return false;
  return find_members(context, ensemble, members, error) && check_acyclic(context, ensemble, error);
}

/* --- walking --- */

static bool
is_true(const Ensemble *ensemble, const TreeNode *node, double value)
{
  if (isnan(value))
    return node->missing_is_true || node->mode == TREE_NEQ;
  switch ((TreeMode)node->mode) {
  case TREE_LEQ:
    return value <= node->split;
  case TREE_LT:
    return value < node->split;
  case TREE_GTE:
    return value >= node->split;
  case TREE_GT:
    return value > node->split;
  case TREE_EQ:
    return value == node->split;
  case TREE_NEQ:
    return value != node->split;
  case TREE_MEMBER:
    for (int64_t i = 0; i < node->n_members; i++)
      if (ensemble->members[node->first_member + i] == value)
        return true;
    return false;
  }
  return false;
}

/* Scores of one row: of each target the aggregate of the votes that its leaves give; 0 without a vote. */
static void
evaluate(const Ensemble *ensemble, const double *row, double *scores, bool *has_score, int64_t n_targets)
{
  memset(scores, 0, (size_t)n_targets * sizeof *scores);
  memset(has_score, 0, (size_t)n_targets * sizeof *has_score);
  for (int64_t t = 0; t < ensemble->n_roots; t++) {
    TreeRef at = ensemble->roots[t];
    while (at >= 0) {
      const TreeNode *node = &ensemble->nodes[at];
      at = node->next[is_true(ensemble, node, row[node->feature])];
    }
    for (int64_t v = ensemble->leaves[-1 - at]; v < ensemble->leaves[-at]; v++) {
      const TreeVote *vote = &ensemble->votes[v];
      double *score = &scores[vote->target];
      if (ensemble->aggregate == TREE_MIN && has_score[vote->target])
        *score = MIN(*score, vote->weight);
      else if (ensemble->aggregate == TREE_MAX && has_score[vote->target])
        *score = MAX(*score, vote->weight);
      else
        *score += vote->weight;
      has_score[vote->target] = true;
    }
  }
  for (int64_t i = 0; i < n_targets && ensemble->aggregate == TREE_AVERAGE; i++)
    scores[i] /= (double)ensemble->n_roots;
}

/* --- the operators --- */

/* Base values are for each target; one alone is for all, none are 0. */
static bool
get_base_values(OnnxlKernelContext *context, int64_t n_targets, Numbers *ret_base, GError **error)
{
  return get_numbers(context, "base_values", "base_values_as_tensor", ret_base, error) &&
         (ret_base->count <= 1 || check_count(context, "base_values", ret_base->count, (size_t)n_targets, error));
}

static double
base_value(const Numbers *base, int64_t target)
{
  return base->count == 0 ? 0 : number_at(base, base->count == 1 ? 0 : (size_t)target);
}

static bool
run_regression(OnnxlKernelContext *context, const Ensemble *ensemble, const Numbers *base, OnnxlMlTransform transform,
               int32_t elem_type, int64_t n_targets, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  int64_t n_rows, n_features;
  if (!onnxl_ml_rows(context, x, &n_rows, &n_features, error) || !check_features(context, ensemble, n_features, error))
    return false;
  const double *rows = onnxl_ctx_doubles(context, x, error);
  double *scores = onnxl_ctx_scratch(context, (uint64_t)n_targets, sizeof *scores, error);
  bool *has_score = onnxl_ctx_scratch(context, (uint64_t)n_targets, sizeof *has_score, error);
  OnnxlValue *y = onnxl_ctx_output(context, 0, elem_type, 2, (int64_t[]){ n_rows, n_targets }, error);
  if (!rows || !scores || !has_score || !y)
    return false;
  for (int64_t r = 0; r < n_rows; r++) {
    evaluate(ensemble, rows + r * n_features, scores, has_score, n_targets);
    for (int64_t i = 0; i < n_targets; i++)
      scores[i] += base_value(base, i);
    onnxl_ml_apply(transform, scores, n_targets);
    onnxl_tensor_write_double(y, r * n_targets, (size_t)n_targets, scores);
  }
  return true;
}

static bool
check_targets(const OnnxlKernelContext *context, int64_t *ret_n_targets, GError **error)
{
  *ret_n_targets = onnxl_ctx_attr(context, "n_targets") ? onnxl_ctx_int(context, "n_targets") : 1;
  if (*ret_n_targets > 0)
    return true;
  return onnxl_ctx_invalid(context, error, "n_targets is %" G_GINT64_FORMAT, *ret_n_targets);
}

static bool
run_ml_tree_ensemble(OnnxlKernelContext *context, GError **error)
{
  Ensemble ensemble = { 0 };
  int64_t n_targets, aggregate = onnxl_ctx_int(context, "aggregate_function");
  int64_t transform = onnxl_ctx_int(context, "post_transform");
  if (aggregate < TREE_AVERAGE || aggregate > TREE_MAX)
    return onnxl_ctx_invalid(context, error, "aggregate_function is %" G_GINT64_FORMAT, aggregate);
  if (transform < ONNXL_ML_NONE || transform > ONNXL_ML_PROBIT)
    return onnxl_ctx_invalid(context, error, "post_transform is %" G_GINT64_FORMAT, transform);
  ensemble.aggregate = (TreeAggregate)aggregate;
  return check_targets(context, &n_targets, error) && build_indexed(context, n_targets, &ensemble, error) &&
         run_regression(context, &ensemble, &(Numbers){ NULL, NULL, 0 }, (OnnxlMlTransform)transform,
                        onnxl_ctx_input(context, 0)->elem_type, n_targets, error);
}
ONNXL_KERNEL(ml_tree_ensemble, EXACT);

static bool
run_ml_tree_regressor(OnnxlKernelContext *context, GError **error)
{
  static const char names[][8] = {
    [TREE_AVERAGE] = "AVERAGE",
    [TREE_SUM] = "SUM",
    [TREE_MIN] = "MIN",
    [TREE_MAX] = "MAX",
  };
  OnnxlStr function = onnxl_ctx_string(context, "aggregate_function");
  Ensemble ensemble = { 0 };
  OnnxlMlTransform transform;
  Numbers base;
  int64_t n_targets;
  size_t aggregate = 0;
  while (aggregate < G_N_ELEMENTS(names) && !onnxl_str_is(function, names[aggregate]))
    aggregate++;
  if (aggregate == G_N_ELEMENTS(names))
    return onnxl_ctx_invalid(context, error, "the aggregate_function \"%.*s\" is unknown", ONNXL_ARG(function));
  ensemble.aggregate = (TreeAggregate)aggregate;
  return onnxl_ml_transform(context, &transform, error) && check_targets(context, &n_targets, error) &&
         build_keyed(context, "target", n_targets, &ensemble, error) &&
         get_base_values(context, n_targets, &base, error) &&
         run_regression(context, &ensemble, &base, transform, ONNXL_TYPE_FLOAT, n_targets, error);
}
ONNXL_KERNEL(ml_tree_regressor, EXACT);

/* Two classes of which only the first ever gets votes: by convention they are the score of the second. Without a
 * transform a score of no negative vote is a probability. */
static bool
is_binary(const Ensemble *ensemble, const OnnxlMlLabels *labels, bool *ret_all_positive)
{
  *ret_all_positive = true;
  for (int64_t v = 0; v < ensemble->n_votes; v++) {
    if (ensemble->votes[v].target != 0)
      return false;
    if (ensemble->votes[v].weight < 0)
      *ret_all_positive = false;
  }
  return labels->n == 2 && ensemble->n_votes > 0;
}

static int64_t
classify_binary(OnnxlMlTransform transform, const OnnxlMlLabels *labels, bool all_positive, double scores[2])
{
  double score = scores[0];
  if (transform != ONNXL_ML_NONE || !all_positive)
    return onnxl_ml_classify(transform, labels, 1, scores);
  scores[0] = 1 - score;
  scores[1] = score;
  return score > 0.5;
}

static bool
run_ml_tree_classifier(OnnxlKernelContext *context, GError **error)
{
  const OnnxlValue *x = onnxl_ctx_input(context, 0);
  Ensemble ensemble = { .aggregate = TREE_SUM };
  OnnxlMlTransform transform;
  OnnxlMlLabels labels;
  Numbers base;
  int64_t n_rows, n_features;
  bool all_positive;
  if (!onnxl_ml_transform(context, &transform, error) ||
      !onnxl_ml_labels(context, "classlabels_int64s", &labels, error) ||
      !build_keyed(context, "class", labels.n, &ensemble, error) || !get_base_values(context, labels.n, &base, error) ||
      !onnxl_ml_rows(context, x, &n_rows, &n_features, error) || !check_features(context, &ensemble, n_features, error))
    return false;
  bool binary = is_binary(&ensemble, &labels, &all_positive);
  const double *rows = onnxl_ctx_doubles(context, x, error);
  double *scores = onnxl_ctx_scratch(context, (uint64_t)MAX(labels.n, 2), sizeof *scores, error);
  bool *has_score = onnxl_ctx_scratch(context, (uint64_t)labels.n, sizeof *has_score, error);
  OnnxlValue *y = onnxl_ml_label_output(context, &labels, n_rows, error);
  OnnxlValue *z = y ? onnxl_ctx_output(context, 1, ONNXL_TYPE_FLOAT, 2, (int64_t[]){ n_rows, labels.n }, error) : NULL;
  if (!rows || !scores || !has_score || !z)
    return false;
  for (int64_t r = 0; r < n_rows; r++) {
    evaluate(&ensemble, rows + r * n_features, scores, has_score, labels.n);
    for (int64_t i = 0; i < labels.n; i++)
      scores[i] += base_value(&base, i);
    int64_t top = binary ? classify_binary(transform, &labels, all_positive, scores)
                         : onnxl_ml_classify(transform, &labels, labels.n, scores);
    onnxl_ml_set_label(&labels, y, r, top);
    onnxl_ml_store(z, r, scores, labels.n);
  }
  return true;
}
ONNXL_KERNEL(ml_tree_classifier, EXACT);
