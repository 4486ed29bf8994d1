/* What is prepared once between model and runs: names resolved, kernels chosen, constants loaded, lifetimes known. A
 * plan is a data structure of its own, so that later passes (fusion, layouts, an arena) work on it and never on the
 * file. */
#ifndef ONNXL_RUNTIME_PLAN_H
#define ONNXL_RUNTIME_PLAN_H

#include "proto/index.h"
#include "runtime/kernel.h"
#include "stream/external.h"

typedef struct OnnxlBody OnnxlBody;

/* Which element types an input or output may have, from the operator's row. */
typedef struct OnnxlParamType {
  int16_t constraint; /* index in the schema's constraints, -1 = a fixed type, -2 = not checked */
  uint32_t tensor, sequence, optional_tensor, optional_sequence; /* as in OnnxlOpConstraint */
  bool others;
} OnnxlParamType;

/* A node, ready to run. */
typedef struct OnnxlStep {
  const OnnxlOpSchema *schema; /* NULL for a call of a function */
  const OnnxlKernel *kernel;
  const OnnxlBody *callee;
  const OnnxlParamType
    *types; /* of the schema's input params, then of its output params; shared by nodes of one operator */
  const uint32_t *release; /* values of the step's graph whose last use this is, outputs that nobody reads included */
  uint32_t n_release;
  OnnxlValue *cache; /* what the kernel keeps between runs, or NULL; filled in by the first run */
} OnnxlStep;

/* The main graph or a function body, nested graphs included. */
struct OnnxlBody {
  const OnnxlFunction *function; /* NULL for the main graph */
  const OnnxlIndex *index;
  OnnxlStep *steps;       /* by node id */
  OnnxlValue **constants; /* by value id: initializers, else NULL */
  OnnxlBody *next;        /* all bodies of the plan */
};

typedef struct OnnxlPlan {
  const OnnxlModel *model;
  OnnxlArena *arena;            /* metadata of the plan */
  OnnxlAllocator *allocator;    /* of constants and, later, of runs */
  OnnxlExternalFiles *external; /* files with payloads of constants, mapped */
  const OnnxlFunctionTable *functions;
  OnnxlBody *main;
  OnnxlBody *bodies;
} OnnxlPlan;

typedef struct OnnxlPlanOptions {
  uint64_t max_memory;     /* bytes of tensors */
  size_t max_metadata;     /* bytes of the plan's metadata */
  const char *data_folder; /* where external data lies; NULL = the model's folder */
  bool allow_symlinks;     /* follow links to external data */
} OnnxlPlanOptions;

/* Prepares model, which must outlive the plan. Everything that can be found wrong before running is: findings in sink
 * (ONNXL_ERROR_INVALID), an operator without kernel or version (ONNXL_ERROR_UNSUPPORTED, naming operator and node),
 * constants beyond the limit. Returns: owned; NULL with error. */
OnnxlPlan *onnxl_plan_new(const OnnxlModel *model, const OnnxlPlanOptions *options, OnnxlDiagSink *sink,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_plan_free(OnnxlPlan *plan);

#endif
