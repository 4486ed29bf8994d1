/* What a run needs, counted in one of two ways. Without a plan of memory: the values of the main graph, its inputs and
 * outputs being the caller's. With one (OnnxlExecutorOptions.memory): everything, buffers that outputs take over once,
 * and what the bodies of nodes need, so that the bytes at each node are what lib/memory said before. */
#ifndef ONNXL_RUNTIME_ACCOUNT_INTERNAL_H
#define ONNXL_RUNTIME_ACCOUNT_INTERNAL_H

#include "runtime/context-internal.h"

/* Starts the account of a run; the values that give symbols their sizes are the main graph's inputs. Before the frame
 * is filled. */
bool onnxl_account_start(OnnxlExecutor *executor, OnnxlValue *const *inputs, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_account_stop(OnnxlExecutor *executor);

/* A frame's part of the plan. */
bool onnxl_account_open(OnnxlExecutor *executor, OnnxlFrame *frame, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_account_close(OnnxlFrame *frame);

/* Value v of the frame came to life (an input or initializer of the main graph, the output of a node), or dies. Fails
 * when a buffer too many is in use. */
bool onnxl_account_add(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t v,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_account_remove(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t v);

/* Bytes that value v of the frame, which is alive, counts with. */
uint64_t onnxl_account_bytes(const OnnxlExecutor *executor, const OnnxlFrame *frame, uint32_t v);

/* The node's outputs were added. It counts with what its bodies needed until onnxl_account_node_ended(). Returns: bytes
 * of temporary buffers beside the workspace, of outputs that were to take over a buffer and could not. */
uint64_t onnxl_account_node_ran(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t node);
void onnxl_account_node_ended(OnnxlExecutor *executor);

/* Around a run of graph g that is not the main graph; its inputs are set. */
bool onnxl_account_enter(OnnxlExecutor *executor, OnnxlFrame *frame, uint32_t g, OnnxlAccount *ret_outer,
                         GError **error) G_GNUC_WARN_UNUSED_RESULT;
void onnxl_account_leave(OnnxlExecutor *executor, const OnnxlAccount *outer);

/* False for values that the plan keeps to the end of their graph although nobody reads them any more. */
bool onnxl_account_releases(const OnnxlFrame *frame, uint32_t v);

/* The position of the input whose buffer output 0 of the node may be written over, ONNXL_NONE without one: the plan
 * says so and the kernel can do it. */
uint32_t onnxl_account_overwritten(const OnnxlFrame *frame, uint32_t node);

#endif
