/* The memory of a model before it runs: for each node the bytes that are live when it starts and that it adds, as
 * expressions over the model's symbols, and the peak. It is also the plan that a run obeys, which then needs just that.
 *
 * Inputs and initializers are live from the start to the end, the output of a Constant node from its node to the end,
 * every other value from its node to its last use (a use inside a nested graph counts at the node that holds it); a
 * graph output to the end. Where the in-place plan lets an output take over the buffer of a dying input it costs
 * nothing.
 *
 * A nested graph or function body is profiled in the same way where its node stands: its peak is what the node needs
 * beside its outputs. What the body hands out counts 0 there, because it counts as the node's output, and so do the
 * arguments of a function, which are the caller's. */
#ifndef ONNXL_MEMORY_PROFILE_H
#define ONNXL_MEMORY_PROFILE_H

#include "shapes/infer.h"

typedef enum OnnxlInplace {
  ONNXL_INPLACE_SAFE,       /* where the operator's kernel may overwrite its input */
  ONNXL_INPLACE_STRUCTURAL, /* by sizes and lifetimes alone */
  ONNXL_INPLACE_OFF,
} OnnxlInplace;

typedef struct OnnxlMemoryOptions {
  OnnxlInplace inplace;
  bool free_inputs; /* inputs die after their last use */
  bool stored;      /* in-place pairs are those in the nodes' metadata; inplace is for the bodies of functions */
} OnnxlMemoryOptions;

/* What bytes are for, in the order in which they are printed. */
typedef enum OnnxlTag {
  ONNXL_TAG_NONE,
  ONNXL_TAG_AMBIGUOUS,
  ONNXL_TAG_AXES,
  ONNXL_TAG_SCRATCH, /* of nested graphs and function bodies while their node runs */
  ONNXL_TAG_SHAPE,
  ONNXL_TAG_WEIGHT,
  ONNXL_N_TAGS,
} __attribute__((packed)) OnnxlTag; /* a byte, since each value has one */

/* "" for ONNXL_TAG_NONE. */
const char *onnxl_tag_name(OnnxlTag tag);

/* Bytes by tag; an amount of 0 for tags without bytes, NULL where a size is not known. */
typedef struct OnnxlBucket {
  OnnxlExpr amounts[ONNXL_N_TAGS];
} OnnxlBucket;

typedef struct OnnxlNodeMemory {
  OnnxlExpr already_allocated; /* live when the node starts: inputs + initializers + intermediates */
  OnnxlExpr output_allocation; /* new with this node: outputs */
  OnnxlExpr total;
  const OnnxlBucket *inputs; /* nodes can share buckets */
  const OnnxlBucket *initializers;
  const OnnxlBucket *intermediates;
  const OnnxlBucket *outputs;
} OnnxlNodeMemory;

/* What a graph needs at its largest node. */
typedef struct OnnxlGraphPeak {
  OnnxlExpr bytes; /* NULL when not known */
  uint32_t node;   /* position in the graph; ONNXL_NONE when it depends on the symbols */
} OnnxlGraphPeak;

/* A dimension that is negative for some values of the symbols, with which the model then cannot run. */
typedef struct OnnxlDoubt {
  OnnxlExpr size;
  uint32_t node; /* whose output, or that of a function it calls, has it */
} OnnxlDoubt;

typedef struct OnnxlMemory OnnxlMemory;
struct OnnxlMemory {
  const OnnxlInference *inference;
  bool free_inputs;
  const OnnxlNodeMemory *nodes; /* by node id of the main graph */
  uint32_t n_nodes;
  OnnxlExpr peak;               /* the largest total; 0 for a graph without nodes; NULL when not known */
  uint32_t peak_node;           /* that has it; ONNXL_NONE when it depends on the symbols */
  const uint32_t *peak_nodes;   /* that can have it for some assignment: the first with each total, in order */
  uint32_t n_peak_nodes;        /* 0 when the peak is not known */
  const OnnxlGraphPeak *graphs; /* by graph id: of one trip through a nested graph, without what it captures */
  const OnnxlTag *tags;         /* by value id */
  const uint32_t *reuse;        /* by value id: the value whose buffer it takes over, or ONNXL_NONE */
  const uint32_t *last_use;     /* by value id: last node of the value's own graph that needs it; ONNXL_NONE = unused */
  const OnnxlExpr *bytes;       /* by value id: of the buffer that it lives in; NULL = unknown */
  const bool *handed;           /* by value id: counts 0 in its graph, because the node around it counts it */
  const OnnxlMemory *const *calls; /* by node id, see onnxl_memory_call(); NULL when no node calls a function */
  const OnnxlDoubt *doubts;        /* each size once, in the order of nodes */
  size_t n_doubts;
};

/* The body of the function that the node calls, for this call, or NULL. */
static inline const OnnxlMemory *
onnxl_memory_call(const OnnxlMemory *memory, uint32_t node)
{
  return memory->calls ? memory->calls[node] : NULL;
}

/* True for the output of a Constant node, which lives to the end of its graph. */
bool onnxl_memory_is_constant(const OnnxlIndexNode *node);

/* Profiles the main graph of an inference. Returns: in the arena; NULL with ONNXL_ERROR_LIMIT when a number of bytes
 * does not fit in 64 bits or the arena is exhausted, with ONNXL_ERROR_INVALID for an initializer of such a size and for
 * a stored plan that does not fit the model. */
const OnnxlMemory *onnxl_memory_new(const OnnxlInference *inference, const OnnxlMemoryOptions *options,
                                    OnnxlArena *arena, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Bytes of the initializers, those of nested graphs included, that lie in other files: they count as what they are, but
 * are mapped and need not be resident. NULL when that does not fit in 64 bits. */
OnnxlExpr onnxl_memory_external(const OnnxlInference *inference);

/* Bytes of what a run keeps for each element of a tensor of texts besides the text, over all values of the main graph.
 * They count in no amount here, as the reference counts no texts at all. NULL: some sizes are not known. */
OnnxlExpr onnxl_memory_text_slots(const OnnxlInference *inference);

/* An amount with upper bounds in place of the sizes that only a run shows, as far as they have some and lookup (may be
 * NULL) gives no value: the amount itself when it has no such size, NULL when no bound can be shown. */
OnnxlExpr onnxl_memory_upper(const OnnxlInference *inference, OnnxlExpr amount, OnnxlExprLookup lookup, void *data);

/* False with ONNXL_ERROR_USAGE when an assignment of the symbols makes a dimension negative. */
bool onnxl_memory_check_sizes(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Evaluates the totals of all nodes for one assignment of the symbols, upper bounds of them where a size that only a
 * run shows has no value. ret_totals: room for n_nodes numbers. ret_at_most: room for n_nodes, true for upper bounds;
 * may be NULL. ret_peak: the largest total, 0 without nodes. Errors: ONNXL_ERROR_USAGE for a symbol without a value and
 * for a dimension that would be negative, ONNXL_ERROR_UNSUPPORTED for a node whose bytes are not known,
 * ONNXL_ERROR_LIMIT when a number does not fit in 64 bits; they name the node. */
bool onnxl_memory_evaluate(const OnnxlMemory *memory, OnnxlExprLookup lookup, void *data, int64_t *ret_totals,
                           bool *ret_at_most, int64_t *ret_peak, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Tags of all values of the inference's index, by value id. Returns: in the arena, NULL when it is exhausted. */
OnnxlTag *onnxl_memory_tags(const OnnxlInference *inference, OnnxlArena *arena);

#endif
