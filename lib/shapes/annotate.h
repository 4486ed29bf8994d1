/* What inference found, written into the model; and changes of declared shapes before inference. */
#ifndef ONNXL_SHAPES_ANNOTATE_H
#define ONNXL_SHAPES_ANNOTATE_H

#include "shapes/infer.h"

/* Fills value_info and the types of outputs of the main graph and of nested graphs, and names for the dims of inputs
 * that have none, with what inference of model found. What is declared stays, unless a number contradicts it or says
 * more than a symbol. Errors: ONNXL_ERROR_LIMIT. */
bool onnxl_shapes_annotate(OnnxlModel *model, const OnnxlInference *inference,
                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The following change declarations (inputs, outputs and value_info of the main graph and of nested graphs). */

/* Gives the dims of graph inputs that have neither number nor name the name that inference would give them. */
bool onnxl_shapes_name_inputs(OnnxlModel *model, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Replaces the symbol name by value, also within expressions. Error ONNXL_ERROR_USAGE: no dim has that name. */
bool onnxl_shapes_bind(OnnxlModel *model, OnnxlStr name, int64_t value, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Fails with ONNXL_ERROR_USAGE unless a dim has that name by itself, in an expression, or by default. The message names
 * what it may be a misspelling of. */
bool onnxl_shapes_check_name(OnnxlModel *model, OnnxlStr name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Renames the symbol from into to, which may be one that exists: the two are then one. Error ONNXL_ERROR_USAGE as
 * above. */
bool onnxl_shapes_rename(OnnxlModel *model, OnnxlStr from, OnnxlStr to, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Sets the shape of a graph input. shape: dims separated by commas, each a number, a symbol, an expression or "?"; an
 * empty text is rank 0. Error ONNXL_ERROR_USAGE: no such input, not a tensor, or no such shape. */
bool onnxl_shapes_set(OnnxlModel *model, OnnxlStr input, OnnxlStr shape, GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
