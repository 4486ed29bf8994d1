/* A plan as metadata of the model that it is for:
 *
 *   of the main graph   onnxl.plan     what was asked for: "safe", "structural" or "none", then perhaps ";free-inputs"
 *   of a node           onnxl.inplace  "OUTPUT:INPUT;...": positions of an output and the input whose buffer it takes
 * over onnxl.release  names of the values that die with the node, ';' between them; '\' before a ';' or
 *                                      '\' that is part of a name
 *                       onnxl.tag      the tags of the outputs, ';' between them
 *                       onnxl.arena    "OFFSET:SIZE;...": the place of each output in the arena, expressions; empty for
 *                                      one without a place */
#ifndef ONNXL_MEMORY_STORED_H
#define ONNXL_MEMORY_STORED_H

#include "memory/layout.h"

/* True when the model carries a plan; then *ret_options is what it was made with, for onnxl_memory_new(). */
bool onnxl_memory_stored(const OnnxlModel *model, OnnxlMemoryOptions *ret_options);

/* Writes the plan into the model that it was made from, in place of what stands there. options: of the profile. Returns
 * false with ONNXL_ERROR_LIMIT. */
bool onnxl_memory_store(OnnxlModel *model, const OnnxlMemory *memory, const OnnxlMemoryOptions *options,
                        const OnnxlLayout *layout, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
