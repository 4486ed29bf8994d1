/* The state behind a kernel's context; only the executor makes one. */
#ifndef ONNXL_RUNTIME_CONTEXT_INTERNAL_H
#define ONNXL_RUNTIME_CONTEXT_INTERNAL_H

#include "runtime/executor.h"
#include "runtime/kernel.h"
#include "runtime/plan.h"

/* One activation of a body: the values of all its graphs, and the call that supplies attributes to a function. */
typedef struct OnnxlFrame OnnxlFrame;
struct OnnxlFrame {
  const OnnxlBody *body;
  OnnxlValue **values;       /* by value id of the body's index, NULL = not alive */
  OnnxlFrame *caller;        /* NULL for the main graph */
  uint32_t caller_node;      /* id in the caller's index */
  const OnnxlMemory *memory; /* the plan of memory for the body, or NULL */
  uint64_t *buffers;         /* by value id: bytes that count for the value, with a plan of memory */
  const OnnxlNode *call;     /* the calling node */
};

/* A scratch buffer starts with this header, padded so that what follows keeps the alignment. */
#define ONNXL_BUFFER_HEADER 64
typedef struct Scratch {
  struct Scratch *next;
  uint64_t size;
} Scratch;

struct OnnxlKernelContext {
  OnnxlExecutor *executor;
  OnnxlFrame *frame;
  uint32_t node; /* id in the frame's index */
  OnnxlStep *step;
  OnnxlValue **inputs;
  OnnxlValue **outputs;
  uint32_t n_inputs;
  uint32_t n_outputs;
  Scratch *scratch;
  uint32_t trip_graph;  /* the nested graph that the kernel ran last, */
  uint64_t trips;       /* and how often in a row */
  uint32_t overwritten; /* the input whose buffer output 0 may take over, or ONNXL_NONE */
  OnnxlValue **kept;    /* attribute tensors that live until the kernel returns */
  uint32_t n_kept;
};

/* Bytes of one graph while it runs. */
typedef struct OnnxlAccount {
  uint64_t live, peak;
  uint64_t scratch;                /* what the bodies of the running node needed beside it */
  uint64_t outer_live, outer_peak; /* of the graphs around it */
} OnnxlAccount;

/* What ran out in a run, until the live set was told. */
typedef enum OnnxlShortage { ONNXL_SHORTAGE_NONE, ONNXL_SHORTAGE_BUFFERS, ONNXL_SHORTAGE_TOLD } OnnxlShortage;

struct OnnxlExecutor {
  OnnxlPlan *plan;
  OnnxlExecutorOptions options;
  OnnxlEventFunction event; /* NULL = nobody listens */
  void *event_data;
  uint64_t epoch_ns;      /* of CLOCK_MONOTONIC, for the events of a run */
  bool nested;            /* events of nested graphs and functions, too */
  uint64_t n_bodies;      /* nested graphs and function bodies run so far */
  OnnxlEventScope *scope; /* the innermost graph that runs; NULL = the main graph, or not nested */
  OnnxlFrame main;
  OnnxlAccount account; /* of the innermost graph that runs */
  struct OnnxlSizes
    *sizes; /* of the symbols in a plan of memory, which reserves what branches need; while a run lasts */
  uint32_t live_buffers;
  OnnxlShortage shortage;
  OnnxlRandom random;
  uint64_t steps;    /* of the run, as max_steps counts them */
  uint32_t depth;    /* graphs that are running, one inside the other */
  bool ended;        /* by the listener, an interrupt or the limit on steps, which say where: no node failed */
  char *failed_path; /* of the node that failed, or NULL */
};

/* The attribute seen from frame, references to the calls around it resolved; NULL = absent. */
const OnnxlAttribute *onnxl_frame_attribute(const OnnxlFrame *frame, const OnnxlNode *node, OnnxlStr wanted);

/* The path of a node or graph from the main graph on, through the calls around it: "/call (f)/f/if1/then_branch".
 * Returns: owned. */
char *onnxl_frame_node_path(const OnnxlFrame *frame, uint32_t node);
char *onnxl_frame_graph_path(const OnnxlFrame *frame, uint32_t g);

/* Puts the node's path before an error that has none yet: one of an allocation. */
void onnxl_ctx_name_failure(const OnnxlKernelContext *context, GError **error);

/* Runs graph g of the frame's body, its inputs being set in frame->values already. trip: how often the node ran it
 * before, in one execution. */
bool onnxl_executor_run_graph(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, uint64_t trip, GError **error);

/* Makes a value of a TensorProto: bytes that lie aligned in a mapped file are borrowed, others copied. files: for
 * external data, NULL = refused. Findings are folded into the error. */
OnnxlValue *onnxl_value_from_tensor(OnnxlAllocator *allocator, OnnxlExternalFiles *files, const OnnxlTensor *tensor,
                                    const char *what, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
