/* What if the nodes ran in another order? A search for one with a lower peak.
 *
 * Whether an order is better is up to the caller, who profiles the model in it: the search works with numbers for one
 * assignment of the symbols, takes sizes that are not known for 0, and looks at the main graph only. */
#ifndef ONNXL_MEMORY_REORDER_H
#define ONNXL_MEMORY_REORDER_H

#include "memory/profile.h"

/* options: of the profile. lookup: values for symbols, or NULL for some. *ret_order: by position the id of the node of
 * the main graph that runs there, n_nodes of them, in the arena; NULL when no better order was found. The least peak of
 * graphs with up to some dozens of nodes is mostly found, larger ones are searched around their peak, in time bound by
 * n log n. Returns false with ONNXL_ERROR_LIMIT. */
bool onnxl_reorder_find(const OnnxlMemory *memory, const OnnxlMemoryOptions *options, OnnxlExprLookup lookup,
                        void *data, OnnxlArena *arena, const uint32_t **ret_order,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Puts the nodes of the model's main graph into an order, a permutation of their ids. The model's index and what was
 * made with it are of no use then. Returns false with ONNXL_ERROR_LIMIT. */
bool onnxl_reorder_apply(OnnxlModel *model, const uint32_t *order, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
