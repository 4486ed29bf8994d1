/* Runs a plan: values in, values out, and an event for everything that happens to a value. */
#ifndef ONNXL_RUNTIME_EXECUTOR_H
#define ONNXL_RUNTIME_EXECUTOR_H

#include <signal.h>

#include "memory/profile.h"
#include "runtime/event.h"
#include "runtime/plan.h"

/* A model of a kilobyte may call and loop for longer than anybody lives; this many steps take minutes. */
#define ONNXL_MAX_STEPS (UINT64_C(1) << 30)

typedef struct OnnxlExecutorOptions {
  bool keep;            /* do not release intermediates */
  uint32_t max_buffers; /* counted values alive at one time; 0 = any number */
  uint32_t max_depth;   /* nested function calls and graphs; 0 = 200 */
  uint64_t max_steps;   /* nodes, nested graphs and function bodies run, counted each time; 0 = ONNXL_MAX_STEPS */
  const volatile sig_atomic_t *interrupt; /* looked at before each step; not 0 ends the run; NULL = none */
  uint64_t seed;                          /* of random operators without a seed of their own */
  /* The plan of memory to obey, or NULL; of the plan's model, and it must outlive the executor. Buffers are then taken
   * over where it says so, and inputs, graph outputs and the bodies of nodes count, too. Not with keep. */
  const OnnxlMemory *memory;
} OnnxlExecutorOptions;

typedef struct OnnxlExecutor OnnxlExecutor;

/* plan must outlive the executor. Returns: owned. */
OnnxlExecutor *onnxl_executor_new(OnnxlPlan *plan, const OnnxlExecutorOptions *options);
void onnxl_executor_free(OnnxlExecutor *executor);

/* Has event called with data for each event of the runs that follow; nested: also for those of nested graphs and
 * function bodies. event NULL: nobody listens, which is so at first; a run then neither makes events nor looks at the
 * clock. */
void onnxl_executor_listen(OnnxlExecutor *executor, OnnxlEventFunction event, void *data, bool nested);

/* The inputs that a caller gives: those of the main graph, in order, initializers among them being optional. */
uint32_t onnxl_executor_n_inputs(const OnnxlExecutor *executor);
const OnnxlIndexValue *onnxl_executor_input(const OnnxlExecutor *executor, uint32_t i);
uint32_t onnxl_executor_n_outputs(const OnnxlExecutor *executor);
const OnnxlIndexValue *onnxl_executor_output(const OnnxlExecutor *executor, uint32_t i);

/* Runs once. inputs: one a main graph input; NULL is allowed where an initializer stands in. Types and shapes are
 * compared with what the graph declares. ret_outputs: room for the outputs; each is owned by the caller, and NULL where
 * a run that failed had not made it. Errors: ONNXL_ERROR_INVALID for data the model or an operator refuses,
 * ONNXL_ERROR_LIMIT, ONNXL_ERROR_UNSUPPORTED. */
bool onnxl_executor_run(OnnxlExecutor *executor, OnnxlValue *const *inputs, OnnxlValue **ret_outputs,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The path of the node at which the latest run failed; its error's message starts with it and ": ". NULL: it did not
 * fail at a node. Borrowed until the next run. */
const char *onnxl_executor_failed_path(const OnnxlExecutor *executor);

/* Bytes of the latest run, in the accounting of events. */
uint64_t onnxl_executor_peak(const OnnxlExecutor *executor);

#endif
