/* The scratch memory that kernels take beside the values, bounded before the run. It is no part of a profile's totals.
 */
#ifndef ONNXL_MEMORY_WORKSPACE_H
#define ONNXL_MEMORY_WORKSPACE_H

#include "memory/profile.h"

/* For each node of the main graph an upper bound of the bytes of scratch memory that its kernel holds at one time, in
 * this project's runtime: the panel of a matrix product, a row in double precision, tables of places. A node with
 * nested graphs, and a call of a function, needs what its largest node needs. Counted, too, are outputs that are to
 * take over a buffer that the kernel may find in use, and converted copies around it. NULL items: no bound is known. Returns: in the arena, by node id;
 * NULL with ONNXL_ERROR_LIMIT when it is exhausted. */
const OnnxlExpr *onnxl_workspaces_new(const OnnxlMemory *memory, OnnxlArena *arena,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
