/* Writing a whole model, in the binary format or as text. */
#ifndef ONNXL_PROTO_SAVE_H
#define ONNXL_PROTO_SAVE_H

#include "proto/model.h"
#include "support/output.h"

/* Refuses what onnxl_model_write() would refuse for its size, so that a caller may ask before it works. */
bool onnxl_model_check_size(const OnnxlModel *model, bool allow_large, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes the model in the binary format: the same model always gives the same bytes. Large slices of the files that the
 * model was read from are copied by the kernel. A model of more than ONNXL_WIRE_MAX_PORTABLE bytes is refused with
 * ONNXL_ERROR_UNSUPPORTED unless allow_large. Write errors stick in out, which the caller flushes. */
bool onnxl_model_write(const OnnxlModel *model, OnnxlOutput *out, bool allow_large,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes a payload of the model to out: by the kernel where it lies in a file and out is a descriptor. */
void onnxl_payload_write(OnnxlOutput *out, const OnnxlModel *model, OnnxlStr payload);

/* True when path names the file that the model was read from, so that writing it would replace what references
 * name. */
bool onnxl_model_is_at(const OnnxlModel *model, const char *path);

/* Fails with ONNXL_ERROR_USAGE when external data of the model lie in the file path, looked up in folder (NULL: the
 * model's), so that writing it would take weights away that the model goes on to refer to. path NULL: a stream. */
bool onnxl_model_check_output(OnnxlModel *model, const char *folder, const char *path,
                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Writes canonical text in which large payloads refer to the file that was read (text, as -S asks for), else calls
 * onnxl_model_write(). path: where out goes, which references are relative to; NULL = standard output. */
bool onnxl_model_save(const OnnxlModel *model, OnnxlOutput *out, const char *path, bool text, bool allow_large,
                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

#endif
