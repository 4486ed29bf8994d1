/* How an operator's computation is written: a descriptor that states what it takes, and a function over a context that
 * gives it inputs, attributes, outputs and scratch memory. Kernels never see names, lifetimes or events. */
#ifndef ONNXL_RUNTIME_KERNEL_H
#define ONNXL_RUNTIME_KERNEL_H

#include "ops/ops.h"
#include "runtime/random.h"
#include "runtime/value.h"
#include "support/error.h"

typedef struct OnnxlKernelContext OnnxlKernelContext;

/* Which element types a kernel's own loops take. What they do not take is converted around the call. */
typedef enum OnnxlKernelTypes {
  ONNXL_KERNEL_EXACT,    /* looks at the types itself and takes all that the operator allows */
  ONNXL_KERNEL_MOVES,    /* only moves elements of whole bytes: 4- and 2-bit types arrive one a byte */
  ONNXL_KERNEL_COMPUTES, /* as MOVES, and floating point below 32 bits arrives as float; results are rounded once */
} OnnxlKernelTypes;

typedef struct OnnxlKernel {
  const char *name;
  bool (*run)(OnnxlKernelContext *context, GError **error);
  OnnxlKernelTypes types;
  const char *variant; /* how it computes, as reports name it: "naive" = loops as the compiler makes them */
} OnnxlKernel;

/* Defines the descriptor that a row's kernel column names: ONNXL_KERNEL(conv, COMPUTES) over "static bool run_conv(…)".
 */
#define ONNXL_KERNEL(id, kinds)               \
  extern const OnnxlKernel onnxl_kernel_##id; \
  const OnnxlKernel onnxl_kernel_##id = { #id, run_##id, ONNXL_KERNEL_##kinds, "naive" }

/* The kernel of a row, or NULL when it has none. */
const OnnxlKernel *onnxl_kernel_of(OnnxlOp op);

/* --- what a kernel may ask --- */

const OnnxlOpSchema *onnxl_ctx_schema(const OnnxlKernelContext *context);
const OnnxlNode *onnxl_ctx_node(const OnnxlKernelContext *context);
OnnxlAllocator *onnxl_ctx_allocator(const OnnxlKernelContext *context);

/* Input i, NULL when it is omitted. Required inputs are there (the plan checked it) and have a type that the operator
 * allows; shapes are not checked. */
OnnxlValue *onnxl_ctx_input(const OnnxlKernelContext *context, uint32_t i);
uint32_t onnxl_ctx_n_inputs(const OnnxlKernelContext *context);
uint32_t onnxl_ctx_n_outputs(const OnnxlKernelContext *context);
/* Output i has a name. Kernels may set others as well; they are dropped. */
bool onnxl_ctx_wants(const OnnxlKernelContext *context, uint32_t i);

/* Makes output i a tensor to be filled in. Returns: borrowed; NULL with error. */
OnnxlValue *onnxl_ctx_output(OnnxlKernelContext *context, uint32_t i, int32_t elem_type, size_t rank,
                             const int64_t *dims, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* With type and dims of like. */
OnnxlValue *onnxl_ctx_output_like(OnnxlKernelContext *context, uint32_t i, const OnnxlValue *like,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Makes output i this value; takes the caller's reference. */
void onnxl_ctx_set_output(OnnxlKernelContext *context, uint32_t i, OnnxlValue *value);
/* The value that output i was made, or NULL. */
OnnxlValue *onnxl_ctx_get_output(const OnnxlKernelContext *context, uint32_t i);

/* Scratch memory until the kernel returns, counted as workspace. NULL with ONNXL_ERROR_LIMIT. */
void *onnxl_ctx_scratch(OnnxlKernelContext *context, uint64_t count, size_t item_size,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Marks the scratch memory that is there, and frees what came after a mark: for loops that ask for some in each turn.
 */
void *onnxl_ctx_mark(const OnnxlKernelContext *context);
void onnxl_ctx_rewind(OnnxlKernelContext *context, void *mark);

/* The attribute with references to the function's call resolved, or NULL when it is absent. */
const OnnxlAttribute *onnxl_ctx_attr(const OnnxlKernelContext *context, const char *name);
/* Typed access; an absent attribute has the schema's default, without one 0, "" or an empty list. */
int64_t onnxl_ctx_int(const OnnxlKernelContext *context, const char *name);
float onnxl_ctx_float(const OnnxlKernelContext *context, const char *name);
OnnxlStr onnxl_ctx_string(const OnnxlKernelContext *context, const char *name);
OnnxlInt64List onnxl_ctx_ints(const OnnxlKernelContext *context, const char *name);
OnnxlFloatList onnxl_ctx_floats(const OnnxlKernelContext *context, const char *name);
OnnxlStrList onnxl_ctx_strings(const OnnxlKernelContext *context, const char *name);
/* The values of a tensor attribute. Returns: borrowed, alive until the kernel returns; NULL with error, or without
 * error when the attribute is absent. */
OnnxlValue *onnxl_ctx_tensor(OnnxlKernelContext *context, const char *name, GError **error);

/* The same for a tensor that an attribute holds. */
OnnxlValue *onnxl_ctx_attr_tensor(OnnxlKernelContext *context, const OnnxlTensor *tensor,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Fails with "NODE (Op): message". A kernel may ask for several things before it looks whether it got them: an error
 * that is set already stays. Returns false. */
bool onnxl_ctx_fail(const OnnxlKernelContext *context, GError **error, OnnxlErrorCode code, const char *format, ...)
  G_GNUC_PRINTF(4, 5);
#define onnxl_ctx_invalid(context, error, ...) onnxl_ctx_fail((context), (error), ONNXL_ERROR_INVALID, __VA_ARGS__)

/* Inputs that do not fit each other: the message goes on with ": data [2,3], indices [4]", every input that is a tensor
 * by its name in the schema. Returns false. */
bool onnxl_ctx_misfit(const OnnxlKernelContext *context, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Loads a library that the kernel needs, see runtime/library.h. */
bool onnxl_ctx_load(const OnnxlKernelContext *context, bool (*load)(GError **error),
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The element type is one this kernel has no loop for. Returns false. */
bool onnxl_ctx_unsupported_type(const OnnxlKernelContext *context, GError **error, int32_t elem_type);

/* Runs nested graph g (0 = the node's first, in attribute order) on inputs. ret_outputs: room for the graph's outputs,
 * each owned by the caller afterwards. */
uint32_t onnxl_ctx_subgraph(const OnnxlKernelContext *context, const char *attribute);
uint32_t onnxl_ctx_subgraph_n_inputs(const OnnxlKernelContext *context, uint32_t g);
uint32_t onnxl_ctx_subgraph_n_outputs(const OnnxlKernelContext *context, uint32_t g);
bool onnxl_ctx_run_subgraph(OnnxlKernelContext *context, uint32_t g, OnnxlValue *const *inputs, uint32_t n_inputs,
                            OnnxlValue **ret_outputs, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* What the outputs of graph g would be if it ran on inputs of these types (one an input, NULL = not known): what is
 * declared, and what inference finds with the values of the run around the graph. For loops over nothing. Returns: an
 * item an output, with the dims that are known, NULL = nothing is; all in arena, or NULL when that is exhausted. A body
 * of some thousand nodes takes far less than the budget. */
#define ONNXL_TYPES_BUDGET ((size_t)256 << 20)
const OnnxlType *const *onnxl_ctx_subgraph_types(const OnnxlKernelContext *context, uint32_t g,
                                                 OnnxlType *const *inputs, OnnxlArena *arena);

/* The stream that a random operator draws from. With an attribute seed it is a stream of its own, the same in every
 * run, which is made in *own; without it is the run's, whose key is the run's seed. */
OnnxlRandom *onnxl_ctx_random(OnnxlKernelContext *context, OnnxlRandom *own);

/* A place to keep a value with the node between runs (a constant), or NULL where that is not sound. */
OnnxlValue **onnxl_ctx_cache(OnnxlKernelContext *context);

/* Values cost memory beside their bytes: fails with ONNXL_ERROR_LIMIT when n of them would not fit. */
bool onnxl_ctx_check_items(const OnnxlKernelContext *context, uint64_t n, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* --- conversions shared by kernels --- */

/* Axis in [0, rank): negative ones count from the end. Fails naming attribute and rank. */
bool onnxl_ctx_axis(const OnnxlKernelContext *context, int64_t axis, uint32_t rank, int64_t *ret_axis,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* An integer tensor's values as int64, count of them. Returns: scratch; NULL with error. */
int64_t *onnxl_ctx_int64s(OnnxlKernelContext *context, const OnnxlValue *tensor,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* A real tensor's values as double. Returns: scratch; NULL with error. */
double *onnxl_ctx_doubles(OnnxlKernelContext *context, const OnnxlValue *tensor,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The one value of a tensor with one element. */
bool onnxl_ctx_scalar_int(const OnnxlKernelContext *context, const OnnxlValue *tensor, int64_t *ret_value,
                          GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool onnxl_ctx_scalar_double(const OnnxlKernelContext *context, const OnnxlValue *tensor, double *ret_value,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
