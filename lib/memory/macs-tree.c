/* Ensembles of decision trees. A row takes a way through each tree: a comparison at every node, a sum for every weight
 * of the leaf; the data choose it, so the longest way of each tree counts. */
#include "memory/macs-internal.h"
#include "support/sort.h"

/* In place of a child: a leaf with one weight, that is no node. */
#define LEAF UINT32_MAX

typedef struct TreeNode {
  int64_t tree, id;    /* as the attributes have them */
  int64_t children[2]; /* ids in the same tree; then positions, or LEAF */
  bool is_leaf;        /* without children */
  int64_t length;      /* of the longest way from here */
  uint32_t n_parents;
} TreeNode;

typedef struct Trees {
  TreeNode *nodes;
  uint32_t n;
} Trees;

static const OnnxlAttribute *
find(const OnnxlCostNode *n, const char *name)
{
  for (size_t i = 0; i < n->proto->attribute.count; i++)
    if (onnxl_str_is(n->proto->attribute.items[i].name, name))
      return &n->proto->attribute.items[i];
  return NULL;
}

static OnnxlInt64List
ints(const OnnxlCostNode *n, const char *name)
{
  return onnxl_attr_ints(n->proto, name);
}

static int
by_key(const void *a, const void *b)
{
  const TreeNode *x = a, *y = b;

  if (x->tree != y->tree)
    return x->tree < y->tree ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* The position of a node, trees->n when there is none. */
static uint32_t
position(const Trees *trees, int64_t tree, int64_t id)
{
  const TreeNode key = { .tree = tree, .id = id };
  const TreeNode *node = bsearch(&key, trees->nodes, trees->n, sizeof key, by_key);

  return node ? (uint32_t)(node - trees->nodes) : trees->n;
}

/* TreeEnsembleClassifier and -Regressor: nodes in any order, named by tree and id; weights that name their leaf. */
static bool
read_named(const OnnxlCostNode *n, Trees *trees)
{
  bool classes = onnxl_str_is(onnxl_str(n->schema->name), "TreeEnsembleClassifier");
  OnnxlInt64List tree = ints(n, "nodes_treeids"), id = ints(n, "nodes_nodeids");
  OnnxlInt64List yes = ints(n, "nodes_truenodeids"), no = ints(n, "nodes_falsenodeids");
  OnnxlInt64List weight_tree = ints(n, classes ? "class_treeids" : "target_treeids");
  OnnxlInt64List weight_node = ints(n, classes ? "class_nodeids" : "target_nodeids");
  const OnnxlAttribute *modes = find(n, "nodes_modes");

  if (!modes || modes->strings.count != trees->n || tree.count != trees->n || id.count != trees->n ||
      yes.count != trees->n || no.count != trees->n || weight_tree.count != weight_node.count)
    return false;
  for (uint32_t i = 0; i < trees->n; i++)
    trees->nodes[i] = (TreeNode){
      .tree = tree.items[i],
      .id = id.items[i],
      .children = { yes.items[i], no.items[i] },
      .is_leaf = onnxl_str_is(modes->strings.items[i], "LEAF"),
    };
  onnxl_sort(trees->nodes, trees->n, sizeof *trees->nodes, by_key);
  for (uint32_t i = 0; i < trees->n; i++)
    for (int side = 0; side < 2 && !trees->nodes[i].is_leaf; side++)
      trees->nodes[i].children[side] = position(trees, trees->nodes[i].tree, trees->nodes[i].children[side]);
  for (size_t w = 0; w < weight_node.count; w++) {
    uint32_t leaf = position(trees, weight_tree.items[w], weight_node.items[w]);
    if (leaf == trees->n)
      return false;
    trees->nodes[leaf].length++;
  }
  return true;
}

/* TreeEnsemble: nodes and leaves by position. */
static bool
read_placed(const OnnxlCostNode *n, Trees *trees)
{
  OnnxlInt64List children[] = { ints(n, "nodes_truenodeids"), ints(n, "nodes_falsenodeids") };
  OnnxlInt64List leaves[] = { ints(n, "nodes_trueleafs"), ints(n, "nodes_falseleafs") };

  for (int side = 0; side < 2; side++)
    if (children[side].count != trees->n || leaves[side].count != trees->n)
      return false;
  for (uint32_t i = 0; i < trees->n; i++) {
    trees->nodes[i] = (TreeNode){ .id = i };
    for (int side = 0; side < 2; side++)
      trees->nodes[i].children[side] = leaves[side].items[i] ? LEAF : children[side].items[i];
  }
  return true;
}

/* Lengths of the ways, from the leaves up. Every node is in the list behind its parents, unless the nodes go round in a
 * circle. False: they do, or a child is missing. */
static bool
measure(Trees *trees, uint32_t *list)
{
  uint32_t count = 0;

  for (uint32_t i = 0; i < trees->n; i++)
    for (int side = 0; side < 2 && !trees->nodes[i].is_leaf; side++) {
      int64_t child = trees->nodes[i].children[side];
      if (child != LEAF && (child < 0 || child >= trees->n))
        return false;
      if (child != LEAF)
        trees->nodes[child].n_parents++;
    }
  for (uint32_t i = 0; i < trees->n; i++)
    if (trees->nodes[i].n_parents == 0)
      list[count++] = i;
  for (uint32_t at = 0; at < count; at++)
    for (int side = 0; side < 2 && !trees->nodes[list[at]].is_leaf; side++) {
      int64_t child = trees->nodes[list[at]].children[side];
      if (child != LEAF && --trees->nodes[child].n_parents == 0)
        list[count++] = (uint32_t)child;
    }
  if (count < trees->n)
    return false;
  while (count-- > 0) {
    TreeNode *node = &trees->nodes[list[count]];
    int64_t longest = 0;
    for (int side = 0; side < 2 && !node->is_leaf; side++)
      longest = MAX(longest, node->children[side] == LEAF ? 1 : trees->nodes[node->children[side]].length);
    node->length = node->is_leaf ? node->length : longest + 1;
  }
  return true;
}

/* The sum over the trees, each from its root; -1: the trees are none. */
static int64_t
longest_ways(const OnnxlCostNode *n, Trees *trees, uint32_t *list)
{
  bool placed = onnxl_str_is(onnxl_str(n->schema->name), "TreeEnsemble");
  OnnxlInt64List roots = ints(n, "tree_roots");
  int64_t sum = 0;

  if (!(placed ? read_placed(n, trees) : read_named(n, trees)) || !measure(trees, list))
    return -1;
  for (size_t i = 0; placed && i < roots.count; i++) {
    if (roots.items[i] < 0 || roots.items[i] >= trees->n)
      return -1;
    sum += trees->nodes[roots.items[i]].length;
  }
  /* A root comes first of its tree, all others behind their parents: it is the longest. */
  for (uint32_t i = 0; !placed && i < trees->n;) {
    int64_t tree = trees->nodes[i].tree, longest = 0;
    for (; i < trees->n && trees->nodes[i].tree == tree; i++)
      longest = MAX(longest, trees->nodes[i].length);
    sum += longest;
  }
  return sum;
}

OnnxlCounts
onnxl_count_trees(const OnnxlCostNode *n, int64_t of G_GNUC_UNUSED)
{
  size_t count = ints(n, "nodes_truenodeids").count;
  const OnnxlInfo *x = input(n, 0);
  OnnxlExpr rows = x && x->has_rank && x->rank == 1 ? literal(n, 1) : dim(n, 0, 0);
  Trees trees = { NULL, (uint32_t)count };
  int64_t steps = -1;

  if (count < LEAF) {
    g_autofree uint32_t *list = g_try_new(uint32_t, MAX(count, 1));
    trees.nodes = g_try_new0(TreeNode, MAX(count, 1));
    if (list && trees.nodes)
      steps = longest_ways(n, &trees, list);
    g_free(trees.nodes);
  }
  return (OnnxlCounts){ .macs = literal(n, 0), .flops = steps < 0 ? NULL : times(n, steps, rows), .at_most = true };
}
