/* The bound of the scratch memory of one node that has no body. */
#ifndef ONNXL_MEMORY_WORKSPACE_INTERNAL_H
#define ONNXL_MEMORY_WORKSPACE_INTERNAL_H

#include "memory/cost-internal.h"

/* What the operator's kernel takes, without conversions around it and nested graphs; the node has a schema. NULL: no
 * bound is known. */
OnnxlExpr onnxl_workspace_of_kernel(const OnnxlCostNode *n);

#endif
